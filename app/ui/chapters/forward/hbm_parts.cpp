#include "app/ui/chapters/forward/hbm_parts.h"

#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage_motion.h"
#include "app/ui/state/quiz.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <array>

namespace tilewalk::ui {

namespace {

enum class TileState { done, current, pending };

TileState order(const Thumb& t, int block) {
    if (block < t.current) return TileState::done;
    return block == t.current && !t.skipped ? TileState::current : TileState::pending;
}

// What this step does with one block of the matrix.
struct Touch {
    bool read = false, written = false;
};
Touch touch(const AppState& state, Slot slot, int block) {
    const auto is = [&](const Access& a) { return a.slot == slot && a.tile == block; };
    const int k = state.cursor.step;
    return {std::ranges::any_of(state.trace->reads(k), is), std::ranges::any_of(state.trace->writes(k), is)};
}

// The block has been stored and will be stored again.
bool grows(const AppState& state, Slot slot, int block) {
    const Held now = state.trace->live(slot, block, state.cursor.step),
               end = state.trace->live(slot, block, state.trace->size());
    return now && now.step != end.step;
}

void outline(const Canvas& c, const Thumb& t, int block, TileState tile, Touch now) {
    const Theme& th = *c.theme;
    const ImU32 colour = hue(th, info(t.slot).role);
    const int row = block * t.block, rows = std::min(t.block, t.rows - row);
    const float y = t.y + px(row) * t.ch, h = px(rows) * t.ch, w = px(t.cols) * t.cw;
    if (now.written)
        c.frame(t.x - 2, y - .5f, w + 4, h + 1, th.focus, 2.6f, 5);
    else if (now.read || tile == TileState::current)
        c.frame(t.x - 2, y - .5f, w + 4, h + 1, now.read ? colour : mix(th.panel, colour, .62f), 2.2f, 5);
    else if (tile == TileState::done)
        c.frame(t.x - 1, y + .5f, w + 2, h - 1, th.line2, 1.2f, radius::cell);
    else
        c.to_come(t.x - 1, y, w + 2, h);
}

// A matrix of hundreds of rows as at most 64 × 64 samples.
void sampled(const Canvas& c, const AppState& state, const Thumb& t) {
    const int row_step = ceil_div(t.rows, 64), col_step = ceil_div(t.cols, 64);
    const SlotLook& range = state.look[t.slot];
    c.rect(t.x, t.y, px(t.cols) * t.cw, px(t.rows) * t.ch, c.theme->well, radius::bar);
    for (int r = 0; r < t.rows; r += row_step) {
        const Held held = state.trace->live(t.slot, r / t.block, state.cursor.step);
        for (int q = 0; held && q < t.cols; q += col_step) {
            const double value = held.value->data(r - held.value->region.row, q);
            const float w = t.cw * px(std::min(col_step, t.cols - q)),
                        h = t.ch * px(std::min(row_step, t.rows - r));
            c.rect(t.x + px(q) * t.cw, t.y + px(r) * t.ch, w, h, heat_colour(*c.theme, t.slot, range, value));
        }
    }
}

void draw_block(const Canvas& c, AppState& state, const Thumb& t, int block) {
    const int row = block * t.block, rows = std::min(t.block, t.rows - row);
    const Held held = state.trace->live(t.slot, block, state.cursor.step);
    const float y = t.y + px(row) * t.ch, w = px(t.cols) * t.cw, h = px(rows) * t.ch;
    if (touch(state, t.slot, block).written) c.faded(transition(state)).halo(t.x, y, w, h);
    if (!held) return c.rect(t.x, y, w, h, c.theme->well, radius::bar);
    MatrixLook look;
    look.slot = t.slot;
    look.value = held.value;
    look.x = t.x, look.y = y, look.cw = t.cw, look.ch = t.ch;
    look.dim = order(t, block) != TileState::current;
    look.bed = false;
    look.size = size::small;
    look.digits = t.cols == 1 ? number_style().digits : t.digits;
    look.least_digits = 2;
    look.numbers = t.ch >= least_numbered;
    matrix(c, state, look, ("hbm" + str(block)).c_str());
    if (!t.input && grows(state, t.slot, block) && h > 4)
        c.hatch(t.x + 1, y + 1, w - 2, h - 2, with_alpha(c.theme->t3, .55f), 7);
}

}  // namespace

bool still_growing(const AppState& state, Slot slot) {
    for (int block = 0; block < state.trace->tiles(slot); ++block)
        if (grows(state, slot, block)) return true;
    return false;
}

void draw_growing(const Canvas& c, const Rect& a, float bottom) {
    c.text_within(a.inner_x(), bottom + 15, a.inner_w(),
                  a.w < 250 ? "hatched: still growing" : "hatched: partial sums, still growing", size::small,
                  c.theme->t3);
}

void thumb(const Canvas& c, AppState& state, const Thumb& t) {
    const int blocks = ceil_div(t.rows, t.block);
    c.rich(t.x - 2, t.y - 18, slot_symbol(t.slot), size::formula);
    if (t.rows > 128)
        sampled(c, state, t);
    else
        for (int b = 0; b < blocks; ++b) draw_block(c, state, t, b);
    // Outlines of single blocks would be noise when they are thinner than a few pixels.
    const bool outlines = px(std::min(t.block, t.rows)) * t.ch >= 7;
    const auto state_of = [&](int b) {
        if (t.input) return order(t, b);
        return state.trace->live(t.slot, b, state.cursor.step) ? TileState::done : TileState::pending;
    };
    for (bool on_top : {false, true})
        for (int b = 0; b < blocks; ++b) {
            const Touch now = touch(state, t.slot, b);
            const bool stands_out = now.read || now.written || state_of(b) == TileState::current;
            if (stands_out == on_top && (outlines || stands_out)) outline(c, t, b, state_of(b), now);
        }
}

void sink_in_title(const Canvas& c, AppState& state, const Rect& a) {
    if (!state.trace->walked().logits.sink) return;
    constexpr float w = 42, h = 22, gap = 8, between = 10, title_w = 48;
    std::vector<Slot> shown = {Slot::sink};
    if (state.trace->tiles(Slot::dsink) > 0) shown.insert(shown.begin(), Slot::dsink);
    const auto width = [&](Slot slot) {
        return rich_width(c, slot_symbol(slot), size::formula) + gap + w + between;
    };
    // Without room for both it is the one that the step makes.
    if (shown.size() > 1 && width(Slot::sink) + width(Slot::dsink) > a.inner_w() - title_w)
        shown.erase(shown.begin() + (written_now(state, Slot::dsink) ? 1 : 0));
    float right = a.inner_right() - 2;
    for (const Slot slot : shown) {
        MatrixLook look = slot_look(state, slot, nullptr, false);
        look.x = right - w, look.y = a.y + 11, look.cw = w, look.ch = h;
        look.region = {0, 0, 1, 1};
        look.size = size::small, look.least_digits = 2;
        matrix(c, state, look, "hbm sink");
        c.rich(right - w - gap, a.y + 11 + h / 2, slot_symbol(slot), size::formula, Align::right);
        right -= width(slot);
    }
}

const char* hbm_subtitle(const AppState& state, const Rect& a) {
    return a.w > 200 && !state.trace->walked().logits.sink ? "slow, big" : "";
}

namespace {

// Where tile (i, j) lies in a ghost of at most that size. Cells are squares, but for a few queries of many
// keys, or a few keys, which would be a line.
struct GhostGrid {
    const Problem& p;
    float x, y, cw, ch;
    GhostGrid(const Problem& of, const Rect& a) : p(of), x(a.x), y(a.y) {
        constexpr float most = 30, thin = 3;
        const float cell = std::min({a.w / px(p.N_kv()), a.h / px(p.N()), most});
        const auto length = [&](int cells, float room) {
            return cell * px(cells) * thin < room ? std::min(room / thin / px(cells), most) : cell;
        };
        cw = length(p.N_kv(), a.w), ch = length(p.N(), a.h);
    }
    Rect tile(const Step& s) const {
        const int row = s.i * p.Br, col = s.j * p.Bc;
        return {x + px(col) * cw, y + px(row) * ch, px(std::min(p.Bc, p.N_kv() - col)) * cw,
                px(std::min(p.Br, p.N() - row)) * ch};
    }
    float least_tile() const {
        return std::min(cw * px(std::min(p.Bc, p.N_kv())), ch * px(std::min(p.Br, p.N())));
    }
    // Hatches and dashes of a few pixels would be noise, in the tail of a ragged problem, too: there surfaces
    // tell.
    bool coarse() const {
        const auto tail = [](int all, int block) { return px(all % block ? all % block : block); };
        return std::min({least_tile(), tail(p.N_kv(), p.Bc) * cw, tail(p.N(), p.Br) * ch}) < 28;
    }
    // Many short diagonals beside each other are a smear: there a surface tells what is masked.
    bool masked_by_surface() const { return least_tile() < 10; }
};

void current_tile(const Canvas& c, const GhostGrid& grid, const Step& now, bool there) {
    const ImU32 colour = hue(*c.theme, Role::S);
    const Rect t = grid.tile(now);
    const int rows = std::min(grid.p.Br, grid.p.N() - now.i * grid.p.Br),
              cols = std::min(grid.p.Bc, grid.p.N_kv() - now.j * grid.p.Bc);
    const bool cells = std::min(grid.cw, grid.ch) >= 8;
    for (int r = 0; there && cells && r < rows; ++r)
        for (int q = 0; q < cols; ++q)
            c.rect(t.x + px(q) * grid.cw + 1, t.y + px(r) * grid.ch + 1, grid.cw - 2, grid.ch - 2,
                   mix(c.theme->panel, colour, .5f), radius::bar);
    if (there && !cells) c.rect(t.x, t.y, t.w, t.h, mix(c.theme->panel, colour, .7f), 2);
    c.frame(t.x - 1, t.y - 1, t.w + 2, t.h + 2, colour, 2.4f, std::min(5.0f, t.w / 5));
}

ImU32 masked_surface(const Theme& t) { return mix(t.panel, t.t3, .3f); }
ImU32 used_surface(const Theme& t, bool coarse) {
    return mix(t.panel, hue(t, Role::S), coarse ? .34f : .14f);
}

int legend_rows(const Problem& p) { return p.causal || p.window ? 4 : 3; }

void ghost_legend(const Canvas& c, const AppState& state, float x, float y, float w, const GhostGrid& grid) {
    const Theme& th = *c.theme;
    const ImU32 colour = hue(th, Role::S);
    using Labels = std::array<const char*, 4>;
    constexpr Labels words{"used", "in SRAM now", "not reached", "masked"},
        fewer{"used", "in SRAM", "to come", "masked"};
    const bool all_fit = std::ranges::all_of(
        words, [&](const char* word) { return text_width(Face::regular, size::small, word) <= w - 21; });
    const Labels& labels = all_fit ? words : fewer;
    for (int n = 0; n < legend_rows(*state.problem); ++n) {
        const float Y = y + px(n) * 21;
        if (n == 0 && grid.coarse()) {
            c.rect(x, Y - 7, 14, 14, used_surface(th, true), radius::bar);
        } else if (n == 0) {
            c.rect(x, Y - 7, 14, 14, used_surface(th, false), radius::bar);
            c.hatch(x + 1, Y - 6, 12, 12, mix(th.panel, colour, .4f), 5);
            c.frame(x, Y - 7, 14, 14, th.line2, 1.2f, radius::bar);
        } else if (n == 1) {
            c.rect(x, Y - 7, 14, 14, mix(th.panel, colour, .5f), radius::bar);
            c.frame(x, Y - 7, 14, 14, colour, 2.2f, radius::bar);
        } else if (n == 2) {
            c.to_come(x, Y - 7, 14, 14);
        } else if (grid.masked_by_surface()) {
            c.rect(x, Y - 7, 14, 14, masked_surface(th), radius::bar);
        } else {
            c.frame(x, Y - 7, 14, 14, th.line2, 1, radius::bar);
            c.line({x + 1, Y + 6}, {x + 13, Y - 6}, th.t3);
        }
        c.text_within(x + 21, Y, w - 21, labels[static_cast<std::size_t>(n)], size::small, th.t2);
    }
}

}  // namespace

void ghost(const Canvas& c, const Trace& trace, int k, float x, float y, float w, float h, bool hide_skips) {
    const Problem& p = trace.problem();
    const Theme& th = *c.theme;
    const ImU32 colour = hue(th, Role::S);
    const GhostGrid grid(p, {x, y, w, h});
    const float tile_w = px(std::min(p.Bc, p.N_kv())) * grid.cw;
    const bool dense = tile_w < 6, coarse = grid.coarse();
    const Step* now = k >= 0 && trace.step(k).i >= 0 && trace.step(k).j >= 0 ? &trace.step(k) : nullptr;
    bool there = false;  // S of the current tile has been computed
    for (int s = 0; s < trace.size(); ++s) {
        const Step& step = trace.step(s);
        if (step.op != Op::scores && step.op != Op::skip) continue;
        const auto [X, Y, tw, tall] = grid.tile(step);
        const bool current = now && step.i == now->i && step.j == now->j;
        if (step.op == Op::skip && (s <= k || !hide_skips)) {
            if (!coarse || current)
                c.frame(X + 1, Y + 1, tw - 2, tall - 2, current ? th.focus : th.line, current ? 2 : 1,
                        radius::bar);
            if (grid.masked_by_surface())
                c.rect(X, Y, tw, tall, masked_surface(th));
            else
                c.line({X + 2, Y + tall - 2}, {X + tw - 2, Y + 2}, th.t3);
        } else if (current) {
            there = s <= k;  // drawn last, on top
        } else if (s < k) {
            c.rect(X + 1, Y + 1, tw - 2, tall - 2, used_surface(th, coarse), radius::bar);
            if (!coarse) c.hatch(X + 1, Y + 1, tw - 2, tall - 2, mix(th.panel, colour, .4f), 7);
            if (!coarse) c.frame(X + 1, Y + 1, tw - 2, tall - 2, th.line2, 1, radius::bar);
        } else if (coarse && !dense) {
            c.frame(X + 1, Y + 1, tw - 2, tall - 2, th.line2, 1, 2);
        } else if (!dense) {
            c.to_come(X + 1, Y + 1, tw - 2, tall - 2);
        }
    }
    if (dense) c.frame(x, y, grid.cw * px(p.N_kv()), grid.ch * px(p.N()), th.line2, 1, radius::bar);
    if (now && now->op != Op::skip) current_tile(c, grid, *now, there);
}

void ghost_section(const Canvas& c, const AppState& state, const Rect& a, float y, const Line& title,
                   const char* words) {
    rule(c, a, y);
    note_part(c, {a.x, y, a.w, a.bottom() - y}, "Map");
    c.rich(a.inner_x(), y + 26, title, size::lead, Align::left, c.theme->t1);
    const float top = y + 46, room = a.bottom() - space::foot - top;
    const bool caption = room > 165, legend = a.inner_w() >= 190;  // a narrow panel has no room for its words
    const float side =
        std::min({room - (caption ? 48.0f : 0.0f), a.inner_w() * (legend ? .48f : .7f), 124.0f});
    ghost(c, *state.trace, state.cursor.step, a.inner_x(), top, side, side, hides_what_comes(state));
    const float lx = a.inner_x() + side + 16;
    const Problem& p = state.trace->problem();
    if (legend && side >= 20 * px(legend_rows(p)))
        ghost_legend(c, state, lx, top + 9, a.right() - 12 - lx, GhostGrid(p, {0, 0, side, side}));
    if (caption) c.paragraph(a.inner_x(), top + side + 12, a.inner_w(), words, size::small, c.theme->t3, 2);
}

void strip_head(const Canvas& c, const Rect& a) {
    const float w = c.text(a.x + space::far_pad, a.y + 32, "HBM", size::far, 0, Face::semibold);
    c.text(a.x + 32 + w, a.y + 32, "slow", size::far, c.theme->t3);
}

namespace {

bool lies_by_keys(Slot slot) {
    return slot == Slot::K || slot == Slot::V || slot == Slot::dK || slot == Slot::dV;
}

}  // namespace

void add_strip_places(std::vector<StripPlace>& places, const AppState& state, Slot slot, const Rect& a) {
    const Problem& p = *state.problem;
    const int rows = lies_by_keys(slot) ? p.N_kv() : p.N(), block = lies_by_keys(slot) ? p.Bc : p.Br;
    const float ch = a.h / px(rows);
    const int k = state.cursor.step;
    for (const auto& accesses : {state.trace->reads(k), state.trace->writes(k)})
        for (const Access& access : accesses) {
            if (access.slot != slot) continue;
            const int row = access.tile * block;
            places.push_back(
                {slot, access.tile, {a.x, a.y + px(row) * ch, a.w, px(std::min(block, rows - row)) * ch}});
        }
}

namespace {

// A step so far has had to do with the block; before, nothing of it is on chip.
bool was_touched(const AppState& state, Slot slot, int block) {
    const auto is = [&](const Access& a) { return a.slot == slot && a.tile == block; };
    for (int k = 0; k <= state.cursor.step; ++k)
        if (std::ranges::any_of(state.trace->reads(k), is) || std::ranges::any_of(state.trace->writes(k), is))
            return true;
    return false;
}

// What is on its way there counts when it has arrived.
Held held_in_hbm(const AppState& state, Slot slot, int block) {
    return state.trace->live(slot, block, on_its_way(state) ? state.cursor.step - 1 : state.cursor.step);
}

// Something else than the zeros from which it starts.
bool has_numbers(const AppState& state, Slot slot, int block) {
    const Held held = held_in_hbm(state, slot, block);
    return held && (held.value->data.array() != 0).any();
}

}  // namespace

void strip_name(const Canvas& c, const AppState& state, Slot slot, Point at, float size) {
    const ImU32 colour = hue(*c.theme, info(slot).role), panel = c.theme->panel;
    const float light = readable_light(light_on(state, slot), colour, panel, panel);
    c.faded(light).rich(at.x, at.y, slot_symbol(slot), size);
}

void strip_blocks(const Canvas& page, const AppState& state, Slot slot, const Rect& a, bool partial_sums) {
    const Canvas c = page.faded(light_on(state, slot));
    const Theme& t = *c.theme;
    const Problem& p = *state.problem;
    const bool by_key = lies_by_keys(slot);
    const int rows = by_key ? p.N_kv() : p.N(), block = by_key ? p.Bc : p.Br;
    // A tile that is passed over has nothing loaded: no key block is the current one.
    const int key_block = op_now(state) == Op::skip ? -1 : step_now(state).j;
    const int current = by_key ? key_block : step_now(state).i;
    const ImU32 colour = hue(t, info(slot).role);
    const float ch = a.h / px(rows);
    const bool reached = current >= 0 && was_touched(state, slot, current);
    for (int row = 0, b = 0; row < rows; row += block, ++b) {
        const float y = a.y + px(row) * ch, h = px(std::min(block, rows - row)) * ch;
        const bool there = static_cast<bool>(held_in_hbm(state, slot, b));
        const bool now = b == current && reached, zeros = partial_sums && !has_numbers(state, slot, b);
        c.rect(a.x + 1, y + 1, a.w - 2, std::max(h - 2, 1.0f),
               !there ? t.well : mix(t.panel, colour, now && !zeros ? .5f : .14f), radius::cell);
        if (partial_sums && grows(state, slot, b) && !zeros && h > 6)
            c.hatch(a.x + 2, y + 2, a.w - 4, h - 4, mix(t.panel, t.t3, .6f), 7);
        if (!there && h > 6) c.frame(a.x + 1, y + 1, a.w - 2, h - 2, t.line, 1, radius::cell);
        if (now && there)
            c.frame(a.x - 2, y - 1, a.w + 4, h + 2, mix(t.panel, colour, .75f), 2.5f, radius::card);
    }
}

Rect strip_foot(const Canvas& c, const Rect& a, float y, const Line& names, float words_x) {
    if (a.bottom() < y + 130) return {};
    rule(c, a, y, space::far_pad);
    c.rich(a.x + space::far_pad, y + 28, names, size::far_text);
    c.text(words_x, y + 74, "never", size::far, c.theme->t2);
    c.text(words_x, y + 106, "here", size::far, c.theme->t2);
    const float side = std::min(92.0f, a.bottom() - 16 - y - 54);
    return {a.x + space::far_pad, y + 54, side, side};
}

}  // namespace tilewalk::ui
