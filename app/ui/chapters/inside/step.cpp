// The step in words and numbers: what it does, the formula of the chosen cell, what the lane holds, where a
// number comes from, and what races.
#include "app/ui/chapters/inside/bridge.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/page_frame.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>
#include <bit>

namespace tilewalk::ui {

namespace {

using inside::FragmentCell;
using inside::Matter;
using inside::Op;
using inside::Part;
using inside::Product;

/// A pen that goes down the panel.
struct Column {
    const Canvas& c;
    Rect a;
    float y;
    float room() const { return a.bottom() - space::foot - y; }
    void words(const std::string& text, float size, ImU32 colour, int most = 0) {
        const int fit = static_cast<int>(room() / (size * 1.45f));
        if (fit < 1) return;
        y += c.paragraph(a.inner_x(), y, a.inner_w(), text, size, colour,
                         most > 0 ? std::min(most, fit) : fit);
    }
    void head(const std::string& text) {
        if (room() < 44) return;
        c.text(a.inner_x(), y + 8, text, size::body, c.theme->t2, Face::semibold);
        y += 22;
    }
};

/// Symbols of a product as they stand in its formula.
struct ProductNames {
    Line A, B, C;  ///< with their indices: Q_{3,k}, K_{26,k}, S_{3,26}
    Role a, b, c;
};
// Where the place in the matrices is not known, rows and columns are those of the fragments.
ProductNames names_of_product(const InsidePlace& at, const FragmentCell& cell) {
    const NamedProduct named = named_product(at);
    const FragmentCell index = index_inside(at, cell);
    const std::string row = str(index.row), column = str(index.column);
    const auto letter = [](Matter m, const char* otherwise) {
        return *inside::symbol_of(m) ? matter_line(m, otherwise) : pieces(symbol(otherwise, role_of(m)));
    };
    const Role a = role_of(named.A), b = role_of(named.B), c = role_of(named.C);
    return {pieces(letter(named.A, "A"), sub(row + ", k", a)),
            pieces(letter(named.B, "B"), sub(named.by_rows() ? column + ", k" : "k, " + column, b)),
            pieces(letter(named.C, "C"), sub(named.turned() ? column + ", " + row : row + ", " + column, c)),
            a,
            b,
            c};
}

// "part 2 of 4 of this sum: k = 16 … 31; no scale is in it yet"
std::string part_of_sum(AppState& state, const InsidePlace& at) {
    const NamedProduct named = named_product(at);
    const auto& chain = inside_ways(state, at).chain;
    std::string text;
    if (chain.parts > 1) text = "part " + str(chain.part) + " of " + str(chain.parts) + " of this sum";
    if (named.k >= 0)
        text += (text.empty() ? "" : ": ") + std::string(named.C == Matter::O ? "keys " : "k = ") +
                range_text(named.k, named.k + 15);
    if (named.C == Matter::S) text += std::string(text.empty() ? "" : "; ") + "no scale in it";
    if (!named.known()) text += std::string(text.empty() ? "" : "; ") + "indices of the fragment";
    return text;
}

// "−4.332 + −1.12 · −0.15 + … = −9.434": the first terms and the last.
void draw_formula(Column& col, AppState& state, const InsidePlace& at) {
    const Canvas& c = col.c;
    const Theme& t = *c.theme;
    const Product p(at.words, at.record().dtype);
    const FragmentCell cell = cell_inside(state);
    const ProductNames names = names_of_product(at, cell);
    const bool several = col.room() > 320;
    const std::string part = part_of_sum(state, at);
    const float x = col.a.inner_x() + 10, w = col.a.inner_w() - 20;
    const float foot = part.empty() ? 0.0f : paragraph_height(w, part, size::small, 2) + 1;
    const float h = (several ? 148.0f : 104.0f) + foot;
    if (col.room() < h) return;
    c.well(col.a.inner_x(), col.y, col.a.inner_w(), h, radius::panel);
    const Line sum = pieces(word("Σ "), names.A, word(" "), names.B);
    Line symbolic = pieces(names.C, word(" ← "), names.C, word(" + "), sum);
    if (rich_width(c, symbolic, 13) > w) symbolic = pieces(names.C, word(" += "), sum);
    c.rich(x, col.y + 22, symbolic, fitting_size(c, symbolic, w, {16, 15, 14, 13}));
    c.line({x, col.y + 42.5f}, {x + w, col.y + 42.5f}, t.line);
    const auto term = [&](int k) {
        return pieces(word(" + "), number(format_short(p.a(cell.row, k)), names.a), word(" · "),
                      number(format_short(p.b(k, cell.column)), names.b));
    };
    float y = col.y + 58;
    const Line before =
        pieces(number(format_short(p.before(cell.row, cell.column)), names.c), word(" before"));
    const auto write = [&](const Line& line) { c.rich(x, y, line, fitting_size(c, line, w, {13, 12, 11})); };
    // Of two terms that have no room beside each other the first is enough.
    const Line both = pieces(term(0), term(1));
    write(several ? before : pieces(before, term(0), word(" + …")));
    if (several) y += 20, write(rich_width(c, both, 12) <= w ? both : term(0));
    if (several) y += 20, write(pieces(word(" + …"), term(15)));
    const Line result =
        pieces(names.C, word(" = "), number(format_short(p.after(cell.row, cell.column)), names.c, true));
    c.rich(x, col.y + h - 18 - foot, result, fitting_size(c, result, w, {18, 16, 14}));
    if (!part.empty()) c.paragraph(x, col.y + h - foot - 5, w, part, size::small, t.t2, 2);
    col.y += h + 10;
}

// What the product adds to, in one sentence of its own numbers.
std::string product_sentence(const InsidePlace& at) {
    const NamedProduct named = named_product(at);
    const std::string terms = named.k < 0 ? "16 terms" : range_text(named.k, named.k + 15);
    if (named.C == Matter::S)
        return "16 × 8 scores gain 16 terms each" +
               (named.k < 0 ? std::string() : ", of columns " + terms + " of Q and K") + ".";
    if (named.C == Matter::O)
        return "16 × 8 cells of O gain what " + (named.k < 0 ? std::string("16 keys") : "keys " + terms) +
               " weigh, times their V.";
    return "16 × 8 sums gain 16 terms each.";
}

void draw_held(Column& col, const AppState& state) {
    if (col.room() < 92) return;
    const Theme& t = *col.c.theme;
    const int lane = state.inside.lane;
    col.head("Lane " + str(lane) + " holds");
    for (const Part part : {Part::A, Part::B, Part::C}) {
        const auto cells = inside::cells_of_lane(part, lane);
        std::vector<int> rows, columns;
        for (const FragmentCell& cell : cells) rows.push_back(cell.row), columns.push_back(cell.column);
        const auto listed_once = [](std::vector<int> all) {
            std::ranges::sort(all);
            all.erase(std::unique(all.begin(), all.end()), all.end());
            std::vector<std::string> out;
            for (const int n : all) out.push_back(str(n));
            return joined(out, " ");
        };
        col.c.text(col.a.inner_x(), col.y + 8, inside::info(part).name, size::small, t.t1, Face::semibold);
        col.c.text_within(col.a.inner_x() + 20, col.y + 8, col.a.inner_w() - 20,
                          "rows " + listed_once(rows) + " · columns " + listed_once(columns), size::small,
                          t.t2);
        col.y += 19;
    }
    col.y += 8;
}

// m, α and ℓ of the lane's row, where this step makes them.
void draw_row_numbers(Column& col, const InsidePlace& at) {
    using inside::Quantity;
    if (!at.bridge) return;
    for (const auto& entry : at.bridge->at(at.launch_number(), at.warp, at.k, at.lane)) {
        const Quantity q = entry.number.quantity;
        if ((q != Quantity::m && q != Quantity::alpha && q != Quantity::l) || col.room() < 22) continue;
        const bool parts = entry.held.how == inside::HeldAt::How::parts;
        const std::string name = symbol_text(info(q).slot, entry.number.row, 0) +
                                 (parts ? ", parts in " + inside::lanes_text(entry.held.lanes) : "");
        const std::string value = format_number(entry.held.value);
        const float w = text_width(Face::mono_bold, size::small, value);
        col.c.text_within(col.a.inner_x(), col.y + 8, col.a.inner_w() - w - 12, name, size::small,
                          col.c.theme->t1, Face::semibold);
        col.c.text(col.a.inner_right(), col.y + 8, value, size::small, col.c.theme->t1, Face::mono_bold,
                   Align::right);
        col.y += 19;
    }
}

// Of a step that the chosen lane has no part in, another lane speaks.
void draw_lane_words(Column& col, const AppState& state, const InsidePlace& at) {
    const bool own = at.event->has(at.lane);
    const int lane = own || at.event->lanes == 0 ? at.lane : elected_lane(*at.event);
    const auto words =
        inside::lane_words(at.record(), at.block(), *at.event, lane, at.origins().matter(at.n));
    if (words.empty() || col.room() < 70) return;
    const Theme& t = *col.c.theme;
    if (at.event->op == Op::fetch_tile) col.words(fetch_sentence(at), size::small, t.t1), col.y += 8;
    col.head("Lane " + str(lane) + (own ? "" : "; lane " + str(at.lane) + " has no part in it"));
    auto all = words;
    const bool stores = at.event->op == Op::store;
    if (const auto own_words = at.block().words_of(*at.event, lane);
        stores || inside::info(at.event->op).reads)
        if (const std::string element =
                name_in_shared(state, at, at.n + stores, own_words[0], std::min<int>(at.event->bytes, 4));
            !element.empty())
            all.insert(all.begin(), {stores ? "puts" : "reads", element});
    for (const auto& one : all) {
        if (col.room() < 22) break;
        const float w = col.c.text(col.a.inner_x(), col.y + 8, one.name, size::small, t.t3);
        const float room = col.a.inner_w() - w - 12;
        const Face face = text_width(Face::mono, size::small, one.value) <= room ? Face::mono : Face::regular;
        col.c.text_within(col.a.inner_right(), col.y + 8, room, one.value, size::small, t.t1, face,
                          Align::right);
        col.y += 19;
    }
    draw_row_numbers(col, at);
    col.y += 8;
}

// Of a barrier: who waits, and what it is there for, one sentence each.
void draw_meeting_words(Column& col, AppState& state, const InsidePlace& at) {
    const auto& meeting = inside_ways(state, at).meeting;
    if (!meeting) return;
    const Theme& t = *col.c.theme;
    col.head("Who waits");
    col.words(meeting_sentence(*meeting), size::small, t.t1), col.y += 8;
    col.head("What it protects");
    if (meeting->orders.empty()) {
        col.words("Nothing in this run.", size::small, t.t1), col.y += 8;
        return;
    }
    std::size_t told = 0;
    for (const inside::Protected& one : meeting->orders) {
        if (told++ == 3 || col.room() < 40) break;
        col.words(capitalised(protected_sentence(state, at, one)), size::small, t.t1), col.y += 4;
    }
    if (const std::size_t more = meeting->orders.size() - std::min(told, meeting->orders.size());
        more > 0 && col.room() > 20)
        col.words("And " + counted(more, "pair") + " of places more.", size::small, t.t3);
    col.y += 4;
}

// The way of A's and B's number back to HBM; each stop leads to its step.
void draw_way(Column& col, AppState& state, const InsidePlace& at, Part part, int row, int column) {
    const Theme& t = *col.c.theme;
    for (const inside::OriginStep& stop : at.origins().trace(at.warp, at.k, part, row, column)) {
        if (col.room() < 24) return;
        const inside::Event& event = at.block().events[stop.event];
        const int k = at.origins().step_number(stop.event);
        std::string text = inside::words_of_step(at.record(), at.block(), event).instruction;
        text += event.warp == at.warp ? ", lane " + str(stop.lane)
                                      : ", warp " + str(int(event.warp)) + " lane " + str(stop.lane);
        const bool has_address = event.op != Op::pack && event.op != Op::exp2 && event.op != Op::exp;
        const std::string where = has_address ? inside::short_address(at.record(), stop.address) : "";
        const Rect box{col.a.inner_x() - 6, col.y - 1, col.a.inner_w() + 12, 20};
        const Hot hot = hot_area(col.c, "##way " + std::string(inside::info(part).name) + str(stop.event),
                                 box.x, box.y, box.w, box.h);
        if (hot.hovered) col.c.rect(box.x, box.y, box.w, box.h, t.raised, radius::cell);
        const float w = std::min(text_width(Face::regular, size::small, text), col.a.inner_w() * .5f);
        col.c.text_within(col.a.inner_x(), col.y + 9, w + 1, text, size::small, t.t2);
        col.c.text_within(col.a.inner_right(), col.y + 9, col.a.inner_w() - w - 12, where, size::small, t.t1,
                          Align::right);
        if (hot.clicked && k >= 0) choose_lane(state, stop.lane), go_inside(state, event.warp, k);
        if (hot.hovered) tooltip(col.c, where + "; click: this step");
        col.y += 20;
    }
}

// Behind the exponential of a weight: its score, as the kernel's twin names it.
void draw_score_behind(Column& col, AppState& state, const InsidePlace& at, int row) {
    const auto way = at.origins().trace(at.warp, at.k, Part::A, row, 0);
    if (!at.bridge || way.size() < 2 || col.room() < 24) return;
    const int step = at.origins().step_number(way.back().event);
    for (const auto& entry : at.bridge->at(at.launch_number(), at.warp, step, way.back().lane, 1)) {
        if (entry.number.quantity != inside::Quantity::P) continue;
        const inside::Number& n = entry.number;
        const auto held = at.bridge->find({inside::Quantity::S, n.row, n.column, n.tile});
        if (!held || held->launch != at.launch_number()) return;
        const Rect box{col.a.inner_x() - 6, col.y - 1, col.a.inner_w() + 12, 20};
        const Hot hot = hot_area(col.c, "##score behind", box.x, box.y, box.w, box.h);
        if (hot.hovered) col.c.rect(box.x, box.y, box.w, box.h, col.c.theme->raised, radius::cell);
        const std::string where = "S[" + str(n.row) + list_separator() + str(n.column) + "]";
        const inside::Event& event = at.block().events[at.steps().event(held->warp, held->step)];
        const std::string how =
            inside::words_of_step(at.record(), at.block(), event).instruction + ", lane " + str(held->lane);
        const float w = text_width(Face::regular, size::small, where);
        col.c.text_within(col.a.inner_x(), col.y + 9, col.a.inner_w() - w - 12, how, size::small,
                          col.c.theme->t2);
        col.c.text(col.a.inner_right(), col.y + 9, where, size::small, col.c.theme->t1, Align::right);
        if (hot.clicked) go_to_word(state, held->warp, held->step, held->lane, held->word);
        col.y += 20;
        return;
    }
}

void draw_ways(Column& col, AppState& state, const InsidePlace& at) {
    const FragmentCell cell = cell_inside(state);
    for (const Part part : {Part::A, Part::B}) {
        if (col.room() < 66) return;
        const Matter matter = at.origins().matter_of_part(at.warp, at.k, part);
        const std::string name = inside::symbol_of(matter);
        col.head("Where the first " + (name.empty() ? std::string(inside::info(part).name) : name) +
                 " comes from");
        part == Part::A ? draw_way(col, state, at, part, cell.row, 0)
                        : draw_way(col, state, at, part, 0, cell.column);
        if (part == Part::A && matter == Matter::P) draw_score_behind(col, state, at, cell.row);
        col.y += 6;
    }
}

// Without where it was called from where that has no room: a click leads there.
std::string side_text(const InsidePlace& at, const inside::RaceAccess& a, float room) {
    const std::string place = inside::place_text(at.record(), a.place);
    const std::string from = a.block == at.walk->block ? called_from(at, a.event) : "";
    const std::string what = std::string(inside::info(a.op).name) + " " +
                             place.substr(place.find_last_of('/') + 1),
                      who = ", warp " + str(a.warp) + ", " + inside::lanes_text(a.lanes);
    const std::string all = what + (from.empty() ? "" : " from " + from) + who;
    return text_width(Face::regular, size::small, all) <= room ? all : what + who;
}

// To the step of the race's access: its warp's next one at that place.
void go_to_access(AppState& state, const InsidePlace& at, const inside::RaceAccess& a) {
    const inside::Place& place = at.record().places[a.place];
    if (a.block != state.inside.block) return;
    const int k = at.steps().next_in_line(a.warp, a.warp == at.warp ? at.k : -1, place.file, place.line);
    if (k >= 0) choose_lane(state, std::countr_zero(a.lanes)), go_inside(state, a.warp, k);
}

void draw_races(Column& col, AppState& state, const InsidePlace& at) {
    const Theme& t = *col.c.theme;
    const auto& races = at.launch->launch->races;
    if (races.empty()) return;
    col.head("Races");
    for (std::size_t n = 0; n < races.size() && col.room() > 64; ++n) {
        col.c.text_within(col.a.inner_x(), col.y + 8, col.a.inner_w(),
                          inside::address_text(at.record(), races[n].address), size::small, t.danger,
                          Face::semibold);
        col.y += 20;
        for (const inside::RaceAccess* side : {&races[n].first, &races[n].second}) {
            const std::string id = "##race " + str(n) + (side == &races[n].first ? " first" : " second");
            if (button(col.c, id, col.a.inner_x() - 6, col.y, col.a.inner_w() + 12, 22, "",
                       {.quiet = true, .tooltip = "To this access"}))
                go_to_access(state, at, *side);
            col.c.text_within(col.a.inner_x(), col.y + 11, col.a.inner_w(),
                              side_text(at, *side, col.a.inner_w()), size::small, t.t1);
            col.y += 23;
        }
        col.y += 4;
    }
}

}  // namespace

void inside_step(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Step", a);
    const InsidePlace at = place_inside(state);
    if (!at) return;
    const Theme& t = *c.theme;
    const inside::StepWords words = step_words(at);
    const float taken = state.kernel_walk->broken ? 78.0f : 0.0f;
    float title = a.w > 300 ? 22 : 18;
    for (const float size : {16.0f, 14.0f})
        if (text_width(Face::semibold, title, words.title) > a.inner_w() - taken) title = size;
    c.text_within(a.inner_x(), a.y + side_title, a.inner_w() - taken, words.title, title, t.t1,
                  Face::semibold);
    if (taken > 0 && button(c, "##tell fault", a.inner_right() - 68, a.y + 11, 68, 28, "Fault",
                            {.quiet = true, .size = size::small, .tooltip = "What the fault does (F)"}))
        state.inside.step_told = false;
    c.text_within(a.inner_x(), a.y + 50, a.inner_w(), words.instruction, size::small, t.t2, Face::mono);
    Column col{c, a, a.y + 66};
    const auto rest = [&] { return Rect{a.inner_x(), col.y, a.inner_w(), col.room()}; };
    draw_races(col, state, at);
    col.y += inside_arrival(c, state, rest(), at);
    const bool product = at.event->op == Op::multiply_add;
    if (product) {
        col.words(product_sentence(at) + " " + words.why, size::small, t.t1, 4), col.y += 8;
        draw_formula(col, state, at);
        draw_ways(col, state, at);
        col.y += inside_crossing(c, state, rest(), at);
        col.y += inside_uses(c, state, rest(), at);
        return draw_held(col, state);
    }
    col.words(words.why, size::body, t.t1), col.y += 4;
    col.words(capitalised(words.note), size::small, t.t2, 3), col.y += 8;
    col.y += inside_sums(c, state, rest(), at);
    draw_meeting_words(col, state, at);
    draw_lane_words(col, state, at);
    col.y += inside_swizzle(c, state, rest(), at);
    col.y += inside_operands(c, state, rest(), at);
    col.y += inside_exponent(c, state, rest(), at);
    col.y += inside_uses(c, state, rest(), at);
    col.y += inside_crossing(c, state, rest(), at);
}

}  // namespace tilewalk::ui
