// The view of two rungs side by side: a bar for each and each measure, and what the numbers say.
#include "app/ui/chapters/inside/ladder.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/presenter.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

using inside::Compared;
using inside::Totals;

// The chosen rung is ink, the other one a hatched grey: both carry their names.
void draw_bar(const Canvas& c, const Rect& a, double part, bool chosen) {
    const Theme& t = *c.theme;
    c.rect(a.x, a.y, a.w, a.h, t.well, radius::bar);
    const float w = part <= 0 ? 0 : std::max(2.0f, a.w * px(std::min(1.0, part)));
    c.rect(a.x, a.y, w, a.h, chosen ? t.t1 : t.line2, radius::bar);
}

struct Columns {
    float name, bars, bars_w, numbers, change;  ///< x of each; numbers and change end there
};
Columns columns_of(const Rect& a, float size) {
    const float name_w = text_width(Face::regular, size, "Accesses to shared memory") + size;
    const float number_w = text_width(Face::mono, size, "000 000 KiB"),
                change_w = text_width(Face::medium, size, "the same") + size;
    const float bars = a.x + name_w, numbers = a.right() - change_w;
    return {a.x, bars, std::max(20.0f, numbers - number_w - size - bars), numbers, a.right()};
}

void draw_measure(const Canvas& c, const Compared& one, const LadderPair& pair, const Columns& at, float y,
                  float h, float size) {
    const Theme& t = *c.theme;
    const bool known = one.before && one.after, same = known && *one.before == *one.after;
    const double most = std::max(one.before.value_or(0), one.after.value_or(0));
    const float pitch = std::min(h * .42f, size * 1.35f), top = y + h / 2 - pitch,
                bar = std::max(3.0f, pitch * .42f);
    c.text_within(at.name, y + h / 2, at.bars - at.name - size / 2, one.measure->name, size, t.t1);
    const std::pair<const Totals*, std::optional<double>> sides[] = {{&pair.after, one.after},
                                                                     {&pair.before, one.before}};
    for (int n = 0; n < 2; ++n) {
        const auto& [totals, number] = sides[n];
        const float middle = top + pitch * (px(n) + .5f);
        if (number)
            draw_bar(c, {at.bars, middle - bar / 2, at.bars_w, bar}, most > 0 ? *number / most : 0, n == 0);
        c.text(at.numbers, middle, measure_text(*one.measure, *totals), size, n == 0 ? t.t1 : t.t2,
               Face::mono, Align::right);
    }
    const std::string change = inside::change_text(one);
    c.text(at.change, y + h / 2, change, size, same ? t.t3 : t.t1, same ? Face::regular : Face::semibold,
           Align::right);
}

void draw_table(const Canvas& c, const LadderPair& pair, const Rect& a, const std::vector<Compared>& rows,
                float size) {
    const Theme& t = *c.theme;
    const Columns at = columns_of(a, size);
    const float head = size * 2, h = (a.h - head) / px(rows.size());
    float x = at.bars;
    for (const bool chosen : {true, false}) {
        const Totals& totals = chosen ? pair.after : pair.before;
        c.rect(x, a.y + head / 2 - size * .3f, size, size * .6f, chosen ? t.t1 : t.line2, radius::bar);
        x += size * 1.5f;
        x += c.text(x, a.y + head / 2, totals.kernel + ", " + name_of(totals.dtype), size,
                    chosen ? t.t1 : t.t2, chosen ? Face::semibold : Face::regular) +
             size * 1.5f;
    }
    c.text(at.change, a.y + head / 2, "ratio", size, t.t3, Align::right);
    float y = a.y + head;
    for (const Compared& one : rows) {
        draw_measure(c, one, pair, at, y, h, size);
        c.line({a.x, y + .5f}, {a.right(), y + .5f}, t.line);
        y += h;
    }
}

void draw_ladder_words(const Canvas& c, const LadderPair& pair, const Rect& a) {
    const Panel panel(c, "Words", a, "What it saved");
    const Theme& t = *c.theme;
    const inside::LadderWords words = ladder_words(pair.before, pair.after);
    float y = a.y + 52;
    const auto say = [&](const std::string& text, float size, ImU32 ink) {
        const int fit = static_cast<int>((a.bottom() - space::foot - y) / (size * 1.45f));
        if (text.empty() || fit < 1) return;
        y += c.paragraph(a.inner_x(), y, a.inner_w(), text, size, ink, fit) + 10;
    };
    say(pair.after.teaches + ".", size::body, t.t2);
    rule(c, a, y - 2);
    y += 8;
    say(words.saved, size::body, t.t1);
    say(words.costs, size::body, t.t1);
    say(words.same, size::small, t.t2);
    for (const std::string& text : words.beside) say(text, size::small, t.t2);
    say(std::string("Model time: the longest path of each block, all added up, over the rows of Q, in clocks "
                    "of ") +
            inside::costs_of(inside::ladder_capability).chip + "; measured nowhere.",
        size::small, t.t3);
}

void choose_rung(const Canvas& c, AppState& state, const char* id, const Rect& a, bool chosen) {
    const std::string now = chosen ? state.inside.kernel : ladder_against(state);
    const ButtonLook look{.tooltip = chosen ? "The rung that is looked at (← →)"
                                            : "The rung it stands beside (↑ ↓)"};
    if (const Dropdown list{c, id, a, now, look})
        for (const gpu::TraceableKernel* kernel : rungs_beside(state)) {
            if (kernel->name == (chosen ? ladder_against(state) : state.inside.kernel)) continue;
            if (!dropdown_item(c, kernel->name, kernel->name, kernel->name == now, "")) continue;
            if (chosen) {
                state.inside.against = ladder_against(state);
                choose_inside_kernel(state, kernel->name);
            } else {
                state.inside.against = kernel->name;
            }
        }
}

// Which two, and the way back to the walk.
void draw_ladder_head(const Canvas& c, AppState& state, const Rect& a) {
    const float y = a.y + space::control_top, w = std::min(190.0f, (a.inner_w() - 220) / 2);
    float x = a.inner_x();
    choose_rung(c, state, "##rung", {x, y, w, space::control}, true);
    x += w + 10;
    x += c.text(x, y + space::control / 2, "against", size::body, c.theme->t2) + 10;
    choose_rung(c, state, "##against", {x, y, w, space::control}, false);
    const float back = 92;
    if (button(c, "##walk through", a.inner_right() - back, y, back, space::control, "Walk",
               {.tooltip = "Back to the walk through the rung (R)"}))
        state.inside.ladder = false;
}

const LadderPair* shown_pair(const AppState& state) {
    const LadderRun* const run = state.kernel_walk->ladder.get();
    return run && run->shown ? &*run->shown : nullptr;
}

std::string waiting_text(const AppState& state) {
    const LadderRun* const run = state.kernel_walk->ladder.get();
    return run && !run->failure.empty() ? run->failure
                                        : "Both kernels run on the CPU, and what they do is counted.";
}

/// Those that changed most, in the order of the table.
std::vector<Compared> telling(const LadderPair& pair, std::size_t most) {
    std::vector<Compared> all = compare(pair.before, pair.after);
    const auto weight = [](const Compared& one) {
        if (!one.before || !one.after) return -1.0;
        if (*one.before == *one.after) return *one.after > 0 ? 0.0 : -.5;
        return one.change && *one.change > 0 ? std::fabs(std::log(*one.change)) : 100.0;
    };
    std::vector<double> weights;
    for (const Compared& one : all) weights.push_back(weight(one));
    std::ranges::sort(weights, std::greater());
    const double least = weights[std::min(most, weights.size()) - 1];
    std::erase_if(all, [&](const Compared& one) { return weight(one) < least; });
    all.resize(std::min(all.size(), most));
    return all;
}

}  // namespace

void inside_ladder(const Canvas& c, AppState& state, const Rect& a) {
    constexpr float margin = space::margin;
    const float words = std::clamp(std::floor(a.w * .3f), 310.0f, 520.0f);
    const Rect table{margin, a.y + margin, a.w - words - 3 * margin, a.h - 2 * margin};
    const Rect beside{table.right() + margin, table.y, words, table.h};
    const LadderPair* const pair = shown_pair(state);
    {
        const Panel panel(c, "Ladder", table);
        draw_ladder_head(c, state, table);
        const Rect body{table.inner_x(), table.y + 54, table.inner_w(), table.h - 54 - space::foot};
        if (pair)
            draw_table(c, *pair, body, compare(pair->before, pair->after),
                       a.w > 1500 ? size::body : size::small);
        else
            c.paragraph(body.x, body.y + 12, std::min(body.w, 520.0f), waiting_text(state), size::lead,
                        c.theme->t2);
    }
    if (pair)
        draw_ladder_words(c, *pair, beside);
    else
        const Panel panel(c, "Words", beside, "What it saved");
}

void inside_ladder_presenter(const Canvas& canvas, AppState& state, float W, float H) {
    const LadderPair* const pair = shown_pair(state);
    const std::string title = state.inside.kernel + " against " + ladder_against(state);
    PresenterPage page(canvas, state, W, H, title.c_str(), 420);
    page.back = "Rung before (←)", page.forward = "Rung behind (→)";
    page.move = [&](int by) { answer_ladder_key(state, {by < 0 ? Key::left : Key::right}); };
    const Canvas& c = page.c;
    const float left = space::far_side, w = W - 2 * left, top = 92;
    if (!pair) return void(c.paragraph(left, 140, w, waiting_text(state), size::far_sign, c.theme->t1));
    const Rect body{left, top, w, H - top - 24};
    note_part(c, body, "Ladder");
    constexpr std::size_t most = 6;
    // What is not counted stands below the table, of both
    const std::vector<std::string> beside = ladder_words(pair->before, pair->after).beside;
    Rect table = body;
    for (const std::string& text : beside) table.h -= paragraph_height(body.w, text, size::far) + 8;
    draw_table(c, *pair, table, telling(*pair, most), size::far);
    float y = table.bottom() + 8;
    for (const std::string& text : beside)
        y += c.paragraph(body.x, y, body.w, text, size::far, c.theme->t2) + 8;
}

}  // namespace tilewalk::ui
