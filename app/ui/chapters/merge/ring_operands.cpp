// What a step reads and makes, where it is not about the tiles of a round; and what a message has brought.
#include "app/ui/chapters/merge/ring_chip.h"

#include "app/ui/chapters/merge/merge.h"
#include "app/ui/parts/matrix.h"

#include <algorithm>
#include <numeric>

namespace tilewalk::ui {

namespace {

constexpr float between_operands = 22;

// The matrices of a line, each slot once: of a shard in several pieces one is shown.
struct Operands {
    const RingNow& now;
    std::vector<Access> list{};

    bool has(Slot slot) const { return std::ranges::count(list, slot, &Access::slot) > 0; }
    void add(std::span<const Access> accesses) {
        for (const Access& access : accesses)
            if (!has(access.slot)) list.push_back(access);
    }
    const Region& region(const Access& access) const { return now.trace.value(access.value).region; }
    int columns() const {
        return std::accumulate(list.begin(), list.end(), 0,
                               [&](int sum, const Access& access) { return sum + region(access).cols; });
    }
    float room(float w) const { return w - between_operands * px(list.size() - 1) - 6; }

    // Where there is not room for all columns, each has as many as the others, and what a narrow one leaves.
    std::vector<int> shares(float w) const {
        std::vector<int> out(list.size(), 1);
        int left = static_cast<int>(room(w) / 2) - static_cast<int>(list.size());
        for (bool given = true; given && left > 0;) {
            given = false;
            for (std::size_t n = 0; n < list.size() && left > 0; ++n)
                if (out[n] < region(list[n]).cols) ++out[n], --left, given = true;
        }
        return out;
    }
};

// The cell of an operand that the formula is about, or one that it uses.
CellRef cell_in(const Explanation& e, Slot slot, const Region& at) {
    const auto there = [&](const CellRef& cell) {
        return cell.slot == slot && at.contains(cell.row, cell.col);
    };
    const auto source = std::ranges::find_if(e.sources, there);
    if (!there(e.target) && source != e.sources.end()) return *source;
    return {slot, std::clamp(e.target.row, at.row, at.row + at.rows - 1),
            std::clamp(e.target.col, at.col, at.col + at.cols - 1)};
}

void draw_line(OnChip& chip, const Rect& a, const Operands& line) {
    const float head = 28;
    int longest = 1;
    for (const Access& access : line.list) longest = std::max(longest, line.region(access).rows);
    const std::vector<int> shares = line.shares(a.w);
    const int columns = std::accumulate(shares.begin(), shares.end(), 0),
              most = std::max(1, static_cast<int>((a.h - head) / chip.least_h()));
    const float cw = std::clamp(line.room(a.w) / px(columns), 2.0f, 64.0f),
                ch = std::clamp((a.h - head) / px(std::min(longest, most)), 2.0f, 46.0f);
    float x = a.x;
    for (std::size_t n = 0; n < line.list.size(); ++n) {
        const Access& access = line.list[n];
        const Region& at = line.region(access);
        const CellRef meant = cell_in(chip.state.explanation, access.slot, at);
        const ShownPart rows(at.rows, meant.row - at.row, most), cols(at.cols, meant.col - at.col, shares[n]);
        const bool hbm = info(access.slot).hbm;
        const float w = cw * px(shares[n]);
        chip.label(slot_symbol(chip.now.trace, access.slot, chip.now.k, hbm ? access.tile : -1),
                   std::vector<std::string>(hbm ? 1 : 0, "in HBM"), x, a.y + 8, w + between_operands - 4);
        chip.draw(access.slot, access.tile, -1, rows, cols, x, a.y + head, cw, ch, "operand",
                  digits_in(chip.state, access.slot, cw - 7, size::small));
        x += w + between_operands;
    }
}

}  // namespace

void OnChip::operands(const Rect& a) {
    const Op op = now.step().op;
    const bool pairs = op == Op::store || op == Op::add_share || op == Op::load_kv;
    Operands all{now}, made{now}, above{now}, below{now};
    if (!is_load(op)) all.add(now.trace.reads(now.k));
    all.add(now.trace.writes(now.k));
    made.add(now.trace.writes(now.k));
    const bool fits = all.columns() <= static_cast<int>(all.room(a.w) / 2);
    for (const Access& access : all.list) {
        const bool low = pairs ? info(access.slot).role == Role::V : !fits && made.has(access.slot);
        (low ? below : above).list.push_back(access);
    }
    const float gap = 14, half = (a.h - gap) / 2;
    if (below.list.empty() || above.list.empty()) return draw_line(*this, a, all);
    if (half < 28 + least_h())
        return draw_line(*this, a, !pairs ? all : below.has(state.explanation.target.slot) ? below : above);
    draw_line(*this, {a.x, a.y, a.w, half}, above);
    draw_line(*this, {a.x, a.y + half + gap, a.w, half}, below);
}

// How many columns fit: all of them with fewer digits, or some of them with all digits
static int columns_in(const AppState& state, float w, int all, std::initializer_list<Slot> slots) {
    const auto least = [&](int digits) {
        int letters = 1;
        for (const Slot slot : slots) letters = std::max(letters, state.look[slot].letters_with(digits));
        return px(letters) * size::mono * size::small + 10;
    };
    return w / least(2) >= px(all) ? all : static_cast<int>(w / least(4));
}

void OnChip::arriving(const Rect& a) {
    const auto writes = now.trace.writes(now.k);
    const Slot above = writes.front().slot, below = writes.back().slot;
    const int from = now.step().j, tile = now.ring.keys_of(from).first_tile;
    const ring::Run& piece = now.ring.keys_of(from).pieces.front();
    const int all = static_cast<int>(piece.count),
              chosen = state.explanation.target.row - static_cast<int>(piece.first),
              columns = on_stage ? columns_in(state, a.w, d(), {above, below}) : static_cast<int>(a.w / 2);
    const float head = 29, between = 40;
    const ShownPart components(d(), chosen_component(), columns),
        rows(all, chosen, static_cast<int>((a.h - head - between) / 2 / least_h()));
    const float cw = std::min(58.0f, a.w / px(components.count)),
                ch = std::min(46.0f, (a.h - head - between) / px(2 * rows.count));
    const float y_V = a.y + head + ch * px(rows.count) + between;
    // Inputs have few digits; sums have as many as there is room for.
    const int digits = above == Slot::K_in ? 0
                                           : std::min(digits_in(state, above, cw - 7, size::small),
                                                      digits_in(state, below, cw - 7, size::small));
    std::vector<std::string> which = columns_text(components, above == Slot::dK ? "comes home" : "arrives");
    if (rows.count < all) which = {"rows " + shown_of(now.ring.keys_of(from).positions, rows)};
    label(slot_symbol(above, from), which, a.x, a.y + 8, a.w);
    label(slot_symbol(below, from), rows.count < all ? std::vector<std::string>{} : which, a.x, y_V - 21,
          a.w);
    draw(above, tile, now.k, rows, components, a.x, a.y + head, cw, ch, "hbm", digits);
    draw(below, tile, now.k, rows, components, a.x, y_V, cw, ch, "hbm", digits);
}

}  // namespace tilewalk::ui
