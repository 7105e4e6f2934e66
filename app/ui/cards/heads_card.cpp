// All heads on one map: which query heads share which K and V, what each attends to, and what loading K and V
// again or once costs. The walk below is that of the shown head.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/lessons/dense/dense.h"
#include "core/lessons/ring/ranks.h"
#include "core/lessons/shared/heads_ledger.h"
#include "core/problem/heads.h"
#include "core/problem/mask.h"
#include "core/walk/formula.h"

#include <algorithm>
#include <functional>
#include <set>

namespace tilewalk::ui {

namespace {

constexpr int most_shown = 16;                // heads that a stepper reaches
constexpr std::int64_t most_cells = 1 << 18;  // of all thumbnails

struct Sizes {
    float text, small, title, row;
    bool big;
};
Sizes sizes_for(const AppState& state) {
    return state.presenter ? Sizes{size::far, size::far, 36, 44, true}
                           : Sizes{size::lead, size::small, 22, 30, false};
}

template <class Change> void change_heads(AppState& state, Change change) {
    Problem changed = latest_problem(state);
    change(changed);
    mark_changed(changed);
    set_problem(state, std::move(changed));
}

// The shown head is another one: the same problem, seen elsewhere.
void go_to_head(AppState& state, int h) {
    Problem other = latest_problem(state);
    if (!other.heads || h < 0 || h >= query_heads(other) || h == shown_head(other)) return;
    show_head(other, h);
    set_problem(state, std::move(other));
}

// As many key heads, or the next number that divides the query heads.
int dividing(int H, int wanted, int by) {
    for (int g = wanted; g >= 1 && g <= H; g += by)
        if (H % g == 0) return g;
    return by > 0 ? H : 1;
}

void set_heads(AppState& state, int H, int H_kv) {
    change_heads(state, [=](Problem& p) { give_heads(p, H, dividing(H, std::min(H, H_kv), -1)); });
}

void change_key_heads(AppState& state, int by) {
    const int H = query_heads(*state.problem), now = key_heads(*state.problem);
    const int next = dividing(H, now + by, by);
    if (next != now) set_heads(state, H, next);
}

// A walk of a whole group has K and V there once, and no choice.
bool walks_group(const AppState& state) { return state.trace->walked().packed > 1; }
bool loads_once(const AppState& state) {
    return walks_group(state) || (state.problem->heads && state.problem->heads->once);
}

void toggle_once(AppState& state) {
    if (walks_group(state)) return;
    change_heads(state, [](Problem& p) {
        if (p.heads) p.heads->once = !p.heads->once;
    });
}

// P of every head, worked out once for a problem; none where that would be too much.
const std::vector<Matrix>& weights(AppState& state) {
    HeadsCard& card = state.heads;
    if (card.problem == state.problem) return card.P;
    card.problem = state.problem;
    card.P.clear();
    const Problem& p = *state.problem;
    const int H = query_heads(p);
    if (std::int64_t{H} * p.N() * p.N_kv() > most_cells) return card.P;
    for (int h = 0; h < H; ++h) {
        Problem alone = without_faults(head_alone(p, h));
        if (refuse(attention, alone)) return card.P.clear(), card.P;
        card.P.push_back(attention.build(alone)->result(Slot::P_hbm));
    }
    return card.P;
}

// ---- Thumbnails

void thumbnail(const Canvas& c, const Rect& a, const Matrix& A, Role role, bool dim) {
    const double most = A.size() > 0 ? std::max(1e-300, A.cwiseAbs().maxCoeff()) : 1;
    const float cw = a.w / px(A.cols()), ch = a.h / px(A.rows());
    c.rect(a.x - 2, a.y - 2, a.w + 4, a.h + 4, c.theme->well, 3);
    for (Eigen::Index r = 0; r < A.rows(); ++r)
        for (Eigen::Index k = 0; k < A.cols(); ++k) {
            const float gap = std::min(cw, ch) > 5 ? 1.0f : 0.0f;
            const double part = A(r, k) / most;
            if (role == Role::S && part == 0) continue;  // masked
            const ImU32 fill = part < 0 ? signed_ramp(*c.theme, role, static_cast<float>(part), dim)
                                        : ramp(*c.theme, role, static_cast<float>(part), dim);
            c.rect(a.x + px(k) * cw, a.y + px(r) * ch, cw - gap, ch - gap, fill);
        }
}

// Positions that lie behind each other: first and how many.
std::vector<std::pair<int, int>> runs_of(const std::vector<int>& positions) {
    std::vector<std::pair<int, int>> out;
    for (const int at : positions)
        if (!out.empty() && out.back().first + out.back().second == at)
            ++out.back().second;
        else
            out.emplace_back(at, 1);
    return out;
}

// The queries and keys that the walk has loaded.
void current_tile(const Canvas& c, const AppState& state, const Rect& a) {
    const Problem& p = *state.problem;
    const Step& step = state.trace->step(state.cursor.step);
    if (step.i < 0 || step.j < 0) return;
    const LoadedTile tile = loaded_tile(*state.trace, state.cursor.step);
    const float cw = a.w / px(p.N_kv()), ch = a.h / px(p.N());
    for (const auto& [row, rows] : runs_of(tile.queries))
        for (const auto& [key, keys] : runs_of(tile.keys))
            c.frame(a.x + px(key) * cw, a.y + px(row) * ch, px(keys) * cw, px(rows) * ch, c.theme->focus, 2,
                    2);
}

void query_head(const Canvas& c, AppState& state, const Sizes& s, int h, const Rect& a) {
    const std::vector<Matrix>& P = weights(state);
    const bool shown = h == shown_head(*state.problem);
    const Hot hot = hot_area(c, "##head " + str(h), a.x, a.y, a.w, a.h);
    if (hot.clicked) go_to_head(state, h);
    if (shown) c.rect(a.x, a.y, a.w, a.h, c.theme->raised, 6);
    const float label = s.small + 8, side = std::min(a.w - 12, a.h - label - 8);
    const Rect map{a.x + (a.w - side) / 2, a.y + 6 + (a.h - label - 8 - side) / 2, side, side};
    if (static_cast<std::size_t>(h) < P.size())
        thumbnail(c, map, P[static_cast<std::size_t>(h)], Role::S, false);
    else
        c.rect(map.x, map.y, map.w, map.h, c.theme->well, 3);
    if (shown) current_tile(c, state, map);
    const ImU32 edge = shown ? c.theme->focus : hot.hovered ? c.theme->t2 : c.theme->line;
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, edge, shown ? 2.0f : 1.0f, 6);
    c.text_within(a.x + a.w / 2, a.bottom() - label / 2, a.w - 6, (s.big || a.w < 60 ? "" : "head ") + str(h),
                  s.small, shown ? c.theme->t1 : c.theme->t2, shown ? Face::semibold : Face::regular,
                  Align::center);
}

// K and V of a key head, each below its symbol.
void key_value(const Canvas& c, const AppState& state, const Sizes& s, int g, bool mine, const Rect& a) {
    const Problem& p = *state.problem;
    const std::size_t at = static_cast<std::size_t>(g);
    const std::pair<Slot, const Matrix*> both[] = {{Slot::K, mine || !p.heads ? &p.K : &p.heads->K[at]},
                                                   {Slot::V, mine || !p.heads ? &p.V : &p.heads->V[at]}};
    const float head = s.small + (s.big ? 20.0f : 16.0f), w = (a.w - 12) / 2;
    float x = a.x;
    for (const auto& [slot, A] : both) {
        c.rich(x, a.y + head / 2 - 4, slot_symbol(slot, g), s.big ? size::far : size::symbol);
        thumbnail(c, {x, a.y + head, w, a.h - head}, *A, info(slot).role, !mine);
        x += w + 12;
    }
}

// One key head, and arrows to the query heads that it serves.
void group(const Canvas& c, AppState& state, const Sizes& s, int g, const Rect& a) {
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const int size = heads_of_group(p);
    const bool mine = key_head(p, shown_head(p)) == g;
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, mine ? t.line2 : t.line, 1, 8);
    const float kv = s.big ? 150.0f : 112.0f, rail = a.y + 14, top = rail + 14;
    key_value(c, state, s, g, mine, {a.x + 14, a.y + 8, kv - 28, a.h - 18});
    const float x = a.x + kv + 8, room = a.right() - x - 10, each = room / px(size);
    const ImU32 colour = mine ? t.t2 : t.line2;
    const float last = x + (px(size) - .5f) * each - 3;
    c.line({a.x + kv - 8, rail}, {last, rail}, colour, 1.4f);
    for (int n = 0; n < size; ++n) {
        const float mid = x + (px(n) + .5f) * each - 3;
        c.line({mid, rail}, {mid, top - 5}, colour, 1.4f);
        c.head({mid, top - 1}, {0, 1}, colour, 6);
        query_head(c, state, s, g * size + n, {x + px(n) * each, top, each - 6, a.bottom() - 10 - top});
    }
}

// Where the groups have room: side by side where they are too many for one column, and of very many those
// about the shown head.
struct GroupGrid {
    int first, count, across;
    float w, h;
    int down() const { return (count + across - 1) / across; }
};

GroupGrid group_grid(const Problem& p, const Sizes& s, float w, float most) {
    const int groups = key_heads(p), size = heads_of_group(p);
    const float kv = s.big ? 168.0f : 130.0f, least_w = kv + px(size) * (s.big ? 50.0f : 36.0f),
                least_h = s.big ? 126.0f : 92.0f;
    const int most_down = std::max(1, static_cast<int>((most + 8) / least_h)),
              most_across = std::max(1, static_cast<int>((w + 8) / least_w));
    GroupGrid out{};
    out.count = std::min(groups, most_down * most_across);
    out.across = (out.count + most_down - 1) / most_down;
    out.first = std::clamp(key_head(p, shown_head(p)) - out.count / 2, 0, groups - out.count);
    out.w = (w + 8) / px(out.across) - 8;
    const float wide = (out.w - kv) / px(size) + s.small + 44;
    out.h = std::min({(most + 8) / px(out.down()), wide, s.big ? 300.0f : 220.0f});
    return out;
}

// Returns where it ends.
float head_map(const Canvas& c, AppState& state, const Sizes& s, const Rect& a, float most) {
    const Problem& p = *state.problem;
    GroupGrid grid = group_grid(p, s, a.w, most);
    const bool all = grid.count == key_heads(p);
    const float note = all ? 0 : s.row;
    if (!all) grid = group_grid(p, s, a.w, most - note);
    for (int n = 0; n < grid.count; ++n)
        group(c, state, s, grid.first + n,
              {a.x + px(n % grid.across) * (grid.w + 8), a.y + px(n / grid.across) * grid.h, grid.w,
               grid.h - 8});
    const float end = a.y + px(grid.down()) * grid.h;
    if (!all)
        c.text_within(a.x, end + note / 2 - 4, a.w,
                      "Key heads " + str(grid.first) + " to " + str(grid.first + grid.count - 1) + " of " +
                          str(key_heads(p)) + "; ← → go on",
                      s.small, c.theme->t3);
    return end + note;
}

// ---- Key heads against key blocks: what one load serves

void block_cell(const Canvas& c, const AppState& state, int g, const KeyLoad& load, const Rect& a) {
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const int size = heads_of_group(p), shown = shown_head(p);
    const bool now =
        key_head(p, shown) == g && loaded_tile(*state.trace, state.cursor.step).keys == load.keys;
    const bool again = size > 1 && !loads_once(state);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, now ? t.focus : t.line, now ? 2.0f : 1.0f, 6);
    const std::string text = (again ? str(size) + " × " : "") + format_size(load.bytes);
    const float x = a.x + 8 + c.rich(a.x + 8, a.y + 13, {symbol(Slot::K), symbol(Slot::V)}, size::body) + 6;
    c.text_within(x, a.y + 13, a.right() - x - 6, text, size::small, now ? t.t1 : t.t3, Face::mono);
    const float w = std::min(24.0f, (a.w - 12) / px(size));
    for (int n = 0; n < size && a.h > 44; ++n) {
        const int h = g * size + n;
        const bool white = now && h == shown;
        const Rect chip{a.x + 6 + px(n) * w, a.y + 24, w - 3, a.h - 30};
        c.rect(chip.x, chip.y, chip.w, chip.h, white ? t.t1 : t.raised, 4);
        if (w >= 14)
            c.text(chip.x + chip.w / 2, chip.y + chip.h / 2, str(h), size::small, white ? t.inv : t.t2,
                   Face::mono, Align::center);
    }
}

void blocks(const Canvas& c, const AppState& state, const Rect& a) {
    const std::vector<KeyLoad> loads = key_loads(*state.trace);
    const int groups = key_heads(*state.problem);
    const float left = 112, each = (a.w - left) / px(loads.size()),
                row = std::min(62.0f, (a.h - 22) / px(groups));
    if (loads.empty() || each < 84 || row < 26) return;
    c.text(a.x, a.y + 8, "A pass over keys", size::small, c.theme->t3);
    for (std::size_t n = 0; n < loads.size(); ++n)
        c.text_within(a.x + left + (px(n) + .5f) * each - 3, a.y + 8, each - 6,
                      (loads[n].keys.size() == 1 ? "key " : "keys ") + positions_text(loads[n].keys),
                      size::small, c.theme->t3, Face::regular, Align::center);
    for (int g = 0; g < groups; ++g) {
        const float y = a.y + 22 + px(g) * row;
        c.text(a.x, y + row / 2 - 3, "key head " + str(g), size::body, c.theme->t2);
        for (std::size_t n = 0; n < loads.size(); ++n)
            block_cell(c, state, g, loads[n], {a.x + left + px(n) * each, y, each - 6, row - 6});
    }
}

// ---- The ledger

float bar_line(const Canvas& c, const Sizes& s, const Rect& a, float y, const std::string& name,
               std::int64_t bytes, std::int64_t most, bool chosen, ImU32 colour, ImU32 second = 0) {
    const Theme& t = *c.theme;
    const std::string text = format_size(bytes);
    const float room = a.w - text_width(chosen ? Face::mono_bold : Face::mono, s.text, text) - 12;
    c.text_within(a.x, y, room, name, s.text, chosen ? t.t1 : t.t2, chosen ? Face::semibold : Face::regular);
    c.text(a.right(), y, text, s.text, chosen ? t.t1 : t.t2, chosen ? Face::mono_bold : Face::mono,
           Align::right);
    const float top = y + s.text * .75f;
    const double part = most > 0 ? static_cast<double>(bytes) / static_cast<double>(most) : 0;
    c.rect(a.x, top, a.w, 7, t.well, 3);
    // Of two quantities each has one half.
    const float w = std::max(2.0f, a.w * static_cast<float>(part));
    const auto fill = [&](ImU32 hue_of) { return chosen ? hue_of : mix(t.well, hue_of, .45f); };
    c.rect(a.x, top, w, 7, fill(second ? second : colour), 3);
    if (second) c.rect(a.x, top, w / 2, 7, fill(colour), 3);
    return s.row + s.text * .55f;
}

void ledger(const Canvas& c, AppState& state, const Sizes& s, const Rect& a) {
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const HeadsLedger l = heads_ledger(*state.trace);
    const int H = query_heads(p), H_kv = key_heads(p);
    const bool once = l.shared, group = walks_group(state);
    float y = a.y + s.text / 2;
    c.text_within(a.x, y, a.w, "HBM, the whole walk", s.text, t.t1, Face::semibold);
    y += s.row;
    y += bar_line(c, s, a, y, group ? "this group" : "this head", l.one, l.again, H == 1, t.t2);
    if (H == 1) {
        c.paragraph(a.x, y + s.row * .4f, a.w,
                    "There is one head. Add query heads (+): those that share a key head read K and V once.",
                    s.text, t.t2, 6);
        return;
    }
    y += bar_line(c, s, a, y, str(H) + (s.big ? " heads, again" : " heads, K and V again"), l.again, l.again,
                  !once, t.t2);
    y += bar_line(c, s, a, y, str(H) + (s.big ? " heads, once" : " heads, once a group"), l.once, l.again,
                  once, t.t2);
    if (l.sent_ungrouped > 0 && !(s.big && H_kv == H)) {
        y += s.row * .2f;
        c.text_within(a.x, y, a.w, "Between ranks", s.text, t.t1, Face::semibold);
        y += s.row;
        y += bar_line(c, s, a, y, str(H_kv) + (H_kv == 1 ? " key head goes round" : " key heads go round"),
                      l.sent, l.sent_ungrouped, true, hue(t, Role::K), hue(t, Role::V));
    }
    y += s.row * .4f;
    c.text_within(a.x, y, a.w, s.big ? "KV cache" : "KV cache, " + format_count(p.N_kv()) + " tokens", s.text,
                  t.t1, Face::semibold);
    y += s.row;
    const std::int64_t most = key_value_cache(p, H);
    for (const int heads : std::set<int, std::greater<>>{H, H_kv, 1})
        y += bar_line(c, s, a, y, str(heads) + (heads == 1 ? " key head" : " key heads"),
                      key_value_cache(p, heads), most, heads == H_kv, hue(t, Role::K), hue(t, Role::V));
    if (s.big || y + 90 > a.bottom()) return;
    const int h = shown_head(p);
    c.line({a.x, y + .5f}, {a.right(), y + .5f}, t.line);
    const std::string which = "Head " + str(h) + " reads K and V of ⌊" + str(h) + " ÷ (" + str(H) + " ÷ " +
                              str(H_kv) + ")⌋ = " + str(key_head(p, h)) + ".";
    y += 14 + c.paragraph(a.x, y + 14, a.w, which, s.text, t.t1, 2);
    if (l.sums > 0)
        c.paragraph(
            a.x, y + 8, a.w,
            group  ? std::string("This walk is that of the group: its heads meet K and V on chip together, "
                                  "and dK and dV are sums over all of them.")
            : once ? std::string("dK and dV of a group are added up before they are stored.")
                   : "dK and dV: every query head writes its own; adding them up moves " +
                         format_size(l.sums) + ".",
            s.small, t.t3, 3);
}

// ---- The card

const char* kind_of_heads(int H, int H_kv) {
    return H == 1      ? "one query head, with K and V of its own"
           : H_kv == H ? "multi-head: every query head has K and V of its own"
           : H_kv == 1 ? "multi-query: all query heads share one K and V"
                       : "grouped-query: neighbouring query heads share K and V";
}

void controls(const Canvas& c, AppState& state, const Sizes& s, float x, float y, float right) {
    const int H = query_heads(*state.problem), H_kv = key_heads(*state.problem);
    const float w = s.big ? 190.0f : 120.0f;
    int heads = H;
    x += c.text(x, y + 16, "Query heads", s.text, c.theme->t2) + 10;
    if (stepper(c, "##heads", x, y, w, heads, 1, most_shown)) set_heads(state, heads, H_kv);
    x += w + 24;
    x += c.text(x, y + 16, "Key heads", s.text, c.theme->t2) + 10;
    int keys = H_kv;
    if (stepper(c, "##key heads", x, y, w, keys, 1, H)) change_key_heads(state, keys > H_kv ? 1 : -1);
    x += w + 24;
    const std::vector<std::string> labels{"K, V again", "once"};
    if (H == H_kv || walks_group(state) || x + segmented_width(labels, s.small) > right) return;
    int once = loads_once(state) ? 1 : 0;
    if (segmented(c, "##kv loads", x, y, labels, once, s.small)) toggle_once(state);
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const Sizes s = sizes_for(state);
    const Rect area = centred(std::min(W - 2 * space::window, 1240.0f),
                              std::min(H - 2 * space::window, s.big ? 700.0f : 720.0f), W, H);
    const auto inside = [&](const Canvas& c) {
        const Theme& t = *c.theme;
        const int heads = query_heads(*state.problem), keys = key_heads(*state.problem);
        const float x = area.x + 20, right = area.right() - 20;
        const float name = c.text(x, area.y + s.title, "Heads", s.title, 0, Face::semibold);
        c.text_within(x + name + 16, area.y + s.title, right - x - name - 70, kind_of_heads(heads, keys),
                      s.text, t.t3);
        if (icon_button(c, "##close heads", area.right() - 48, area.y + 10, 34, 34, Icon::close,
                        {.tooltip = "Close (Esc)"}))
            state.heads.open = false;
        const float top = area.y + s.title * 2 + 4;
        controls(c, state, s, x, top, right);
        const float body = top + (s.big ? 62.0f : 50.0f), side = s.big ? 400.0f : 340.0f;
        const float foot = area.bottom() - (s.big ? 16.0f : 42.0f), w = right - x - side - 24;
        // The map leaves room for the table of key blocks, where there is some.
        const float table = s.big || keys > 4 ? 0.0f : 22 + 62 * px(std::min(keys, 3));
        const float below = head_map(c, state, s, {x, body, w, foot - body}, foot - body - table);
        if (!s.big && keys <= 4) blocks(c, state, {x, below + 6, w, foot - below - 6});
        ledger(c, state, s, {right - side, body, side, area.bottom() - body - 42});
        if (!s.big)
            c.text_within(x, area.bottom() - 22, right - x,
                          walks_group(state)
                              ? "← → shown head   ↑ ↓ key heads   + − query heads   Esc"
                              : "← → shown head   ↑ ↓ key heads   + − query heads   O again or once   Esc",
                          s.small, t.t3);
        if (clicked_beside()) state.heads.open = false;
    };
    show_card(main, "Heads", area, inside, Below::dimmed);
}

bool answer_key(AppState& state, const KeyPress& press) {
    if (press.ctrl || press.alt) return false;
    const Problem& p = *state.problem;
    const int h = shown_head(p), H = query_heads(p);
    switch (press.key) {
    case Key::escape:
    case Key::h: state.heads.open = false; return true;
    case Key::left: go_to_head(state, h - 1); return true;
    case Key::right: go_to_head(state, h + 1); return true;
    case Key::up: change_key_heads(state, 1); return true;
    case Key::down: change_key_heads(state, -1); return true;
    case Key::plus:
        if (H < most_shown) set_heads(state, H + 1, key_heads(p));
        return true;
    case Key::minus:
        if (H > 1) set_heads(state, H - 1, key_heads(p));
        return true;
    case Key::o: toggle_once(state); return true;
    default: return false;
    }
}

}  // namespace

const Card heads_card{.name = "Heads",
                      .keys_shown = "Shift H",
                      .action = "heads, and which share K and V",
                      .shortcut = {Key::h, true},
                      .of_walk = true,
                      .before_focus = true,
                      .is_open = [](const AppState& s) { return s.heads.open && s.page == Page::walk; },
                      .open = [](AppState& s) { s.heads.open = !s.heads.open; },
                      .answer_key = answer_key,
                      .draw = draw};

}  // namespace tilewalk::ui
