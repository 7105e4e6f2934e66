#include "app/ui/cards/cards.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/app_state.h"
#include "core/class/glossary.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

using Found = std::vector<const GlossaryCard*>;

// Sizes of the normal view and of presenter mode.
struct Sizes {
    float text, small, term, symbol, row, list_w, symbol_w;
    bool big;
};
Sizes sizes_for(const AppState& state) {
    if (state.presenter) return {size::far, size::far, 34, 44, 50, 440, 92, true};
    return {size::lead, size::small, 22, 20, 32, 304, 60, false};
}

int index_in(const Found& found, const Glossary& g) {
    for (std::size_t n = 0; n < found.size(); ++n)
        if (found[n]->id == g.card) return static_cast<int>(n);
    return -1;
}

void choose(Glossary& g, const GlossaryCard& card) {
    g.card = card.id;
    g.to_card = true;
}

// What was typed leaves fewer cards; the best of them is shown.
void filter(Glossary& g) {
    const Found found = search_glossary(g.search);
    if (!found.empty()) choose(g, *found.front());
    g.scroll = 0;
}

void move_choice(Glossary& g, int by) {
    const Found found = search_glossary(g.search);
    if (found.empty()) return;
    const int last = static_cast<int>(found.size()) - 1;
    choose(g, *found[static_cast<std::size_t>(std::clamp(index_in(found, g) + by, 0, last))]);
}

void draw_row(const Canvas& c, Glossary& g, const Sizes& s, const GlossaryCard& card, const Rect& a) {
    const Theme& t = *c.theme;
    const bool chosen = g.card == card.id;
    const Hot hot = hot_area(c, std::string("##card ") + card.id, a.x, a.y, a.w, a.h);
    if (hot.clicked) choose(g, card);
    if (chosen || hot.hovered) c.rect(a.x, a.y + 1, a.w, a.h - 2, t.well, 6);
    if (chosen) c.frame(a.x + .5f, a.y + 1.5f, a.w - 1, a.h - 3, t.line2, 1, 6);
    if (chosen) c.rect(a.x, a.y + 6, 3, a.h - 12, t.t1, 1.5f);
    const Line symbol = symbol_of(card);
    if (!symbol.empty())
        c.rich(a.x + 12 + s.symbol_w / 2 - 6, a.y + a.h / 2, symbol, s.big ? 28 : 16, Align::center);
    c.text_within(a.x + 12 + s.symbol_w, a.y + a.h / 2, a.w - s.symbol_w - 20, card.term,
                  s.big ? size::far : size::body, chosen ? t.t1 : t.t2,
                  chosen ? Face::medium : Face::regular);
}

// As many rows as fit whole; the wheel and the choice move them.
void draw_list(const Canvas& c, Glossary& g, const Sizes& s, const Rect& a) {
    const Found found = search_glossary(g.search);
    const int fit = std::max(1, static_cast<int>(a.h / s.row)), count = static_cast<int>(found.size());
    const float most = s.row * px(std::max(0, count - fit));
    if (a.contains(c.mouse())) g.scroll -= ImGui::GetIO().MouseWheel * 3 * s.row;
    if (const int at = index_in(found, g); std::exchange(g.to_card, false) && at >= 0)
        g.scroll = std::clamp(g.scroll, s.row * px(at - fit + 1), s.row * px(at));
    g.scroll = std::clamp(g.scroll, 0.0f, most);
    const int first = static_cast<int>(std::lround(g.scroll / s.row));
    for (int n = first; n < std::min(count, first + fit); ++n)
        draw_row(c, g, s, *found[static_cast<std::size_t>(n)],
                 {a.x, a.y + s.row * px(n - first), a.w - 10, s.row});
    if (most > 0) scroll_bar(c, {a.x, a.y, a.w, s.row * px(fit)}, px(first), px(fit), px(count));
}

// "m_old" with its index below.
Line with_indices(std::string_view text) {
    Line out;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    for (std::size_t at = text.find('_'); at != text.npos; at = text.find('_')) {
        std::size_t end = at + 1;
        while (end < text.size() && is_letter(text[end])) ++end;
        out.push_back(word(std::string(text.substr(0, at))));
        out.push_back(sub(std::string(text.substr(at + 1, end - at - 1))));
        text.remove_prefix(end);
    }
    out.push_back(word(std::string(text)));
    return out;
}

// "Defined in", then where.
float draw_source(const Canvas& c, const Sizes& s, const GlossaryCard& card, float x, float y, float w) {
    const Theme& t = *c.theme;
    c.line({x, y}, {x + w, y}, t.line);
    y += s.big ? 24 : 18;
    c.text(x, y, "Defined in", s.small, t.t3);
    y += s.big ? 18 : 12;
    const float size = s.big ? size::far : size::body;
    y += c.paragraph(x, y, w, card.from.source, size, t.t1, 2, s.big ? Face::regular : Face::medium, 1.35f);
    y += c.rich_paragraph(x, y, w, with_indices(card.from.place), size, 3, t.t2, 1.35f);
    return y;
}

// Buttons of the related cards, in rows; those that do not fit are left out.
void draw_related(const Canvas& c, Glossary& g, const Sizes& s, const GlossaryCard& card, const Rect& a) {
    const float h = s.big ? 48.0f : 30.0f, size = s.big ? size::far : size::body;
    float x = a.x, y = a.y;
    for (const char* id : card.related) {
        const GlossaryCard* other = find_card(id);
        const float w = std::min(a.w, button_width(other->term, size));
        if (x > a.x && x + w > a.right()) x = a.x, y += h + 6;
        if (y + h > a.bottom()) return;
        if (!button(c, std::string("##related ") + id, x, y, w, h, other->term, {.size = size})) {
            x += w + 8;
            continue;
        }
        g.search.clear();
        return choose(g, *other);
    }
}

void draw_card(const Canvas& c, Glossary& g, const Sizes& s, const Rect& a) {
    const GlossaryCard* found = find_card(g.card);
    if (!found) return;
    const GlossaryCard& card = *found;
    const Theme& t = *c.theme;
    float y = a.y + s.symbol / 2 + 4, x = a.x;
    if (const Line symbol = symbol_of(card); !symbol.empty())
        x += c.rich(x, y, symbol, s.symbol) + (s.big ? 24 : 16);
    c.text_within(x, y, a.right() - x - 44, card.term, s.term, 0, Face::semibold);
    y += s.symbol / 2 + (s.big ? 18 : 16);
    if (card.shape[0]) {
        const float label = c.text(a.x, y + s.text / 2, "Shape ", s.text, t.t3);
        c.text_within(a.x + label, y + s.text / 2, a.w - label, card.shape, s.text, t.t2, Face::mono);
        y += s.text * 1.9f;
    }
    y += c.rich_paragraph(a.x, y, a.w, with_indices(card.text), s.big ? size::far : size::formula, 0, t.t1,
                          s.big ? 1.3f : 1.5f);
    y = draw_source(c, s, card, a.x, y + (s.big ? 12 : 18), a.w) + (s.big ? 10 : 22);
    draw_related(c, g, s, card, {a.x, y, a.w, a.bottom() - y});
}

bool answer_key(AppState& state, const KeyPress& press) {
    Glossary& g = *state.glossary;
    const std::string before = g.search;
    switch (press.key) {
    case Key::escape: state.glossary.reset(); return true;
    case Key::up: move_choice(g, -1); return true;
    case Key::down: move_choice(g, 1); return true;
    case Key::page_up: move_choice(g, -10); return true;
    case Key::page_down: move_choice(g, 10); return true;
    case Key::home: move_choice(g, -1000); return true;
    case Key::end: move_choice(g, 1000); return true;
    case Key::enter:  // found: show what stands around it
        g.search.clear();
        g.to_card = true;
        return true;
    case Key::left:
    case Key::right:
    case Key::space: return true;  // not for the walk below
    default: break;
    }
    const bool mine = answer_search_key(g.search, press);
    if (g.search != before) filter(g);
    return mine;
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const std::shared_ptr<Glossary> open = state.glossary;  // it may be closed while it is drawn
    Glossary& g = *open;
    const Sizes s = sizes_for(state);
    if (++g.frames > 2 && type_into(g.search)) filter(g);
    const float w = std::min(W - 2 * space::window, s.big ? 1248.0f : 940.0f),
                h = std::min(H - 2 * space::window, s.big ? 688.0f : 600.0f);
    const Rect a = centred(w, h, W, H);
    const auto inside = [&](const Canvas& c) {
        const float field = s.big ? 56.0f : 38.0f, top = a.y + 16 + field + 10;
        draw_search(c, "find term", a.x + 16, a.y + 16, s.list_w, field, g.search, "Type to find a term");
        draw_list(c, g, s, {a.x + 16, top, s.list_w, a.bottom() - 14 - top});
        c.line({a.x + 28 + s.list_w, a.y + 16}, {a.x + 28 + s.list_w, a.bottom() - 16}, c.theme->line);
        const float x = a.x + 28 + s.list_w + 24;
        if (search_glossary(g.search).empty())
            c.text(x, a.y + 36, "No card has that.", s.text, c.theme->t2);
        else
            draw_card(c, g, s, {x, a.y + 16, a.right() - 24 - x, a.h - 32});
        if (close_button(c, "##close glossary", a)) state.glossary.reset();
    };
    show_card(main, "Glossary", a, inside, Below::dimmed);
}

}  // namespace

const Card glossary_card{.name = "Glossary",
                         .keys_shown = "K",
                         .action = "symbols and terms",
                         .shortcut = {Key::k},
                         .modal = true,
                         .is_open = [](const AppState& s) { return s.glossary != nullptr; },
                         .open = [](AppState& s) { open_glossary(s); },
                         .answer_key = answer_key,
                         .draw = draw};

void open_glossary(AppState& state, std::string_view term) {
    state.glossary = std::make_shared<Glossary>();
    const Found found = term.empty() ? Found{} : search_glossary(term);
    const GlossaryCard* card = !found.empty() ? found.front()
                               : state.page == Page::walk && state.trace
                                   ? card_of_step(*state.trace, state.cursor.step)
                               : state.page == Page::inside ? find_card(card_of_step(state))
                               : state.page == Page::memory ? find_card("hbm-traffic")
                               : state.page == Page::scale  ? find_card("flops")
                                                            : find_card("rounding-error");
    choose(*state.glossary, *card);
}

}  // namespace tilewalk::ui
