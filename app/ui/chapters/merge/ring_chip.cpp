// What the rank at hand has on chip, or in HBM.
#include "app/ui/chapters/merge/ring_chip.h"

#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/chapters/merge/merge.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/state.h"
#include "core/base/words.h"

#include <algorithm>
#include <numeric>

namespace tilewalk::ui {

ShownPart::ShownPart(int all, int chosen, int most) : first(0), count(std::clamp(most, 1, all)) {
    first = std::clamp(chosen - count / 2, 0, all - count);
}

std::string part_of(const std::vector<int>& positions, const ShownPart& shown) {
    const auto from = positions.begin() + shown.first;
    return positions_text({from, from + shown.count});
}

std::string shown_of(const std::vector<int>& positions, const ShownPart& shown) {
    const std::string all = positions_text(positions);
    return shown.count == std::ssize(positions) ? all : part_of(positions, shown) + " of " + all;
}

namespace {

bool is_of_keys(Slot slot) {
    return slot < Slot::count && (info(slot).role == Role::K || info(slot).role == Role::V);
}
bool is_of_scores(Slot slot) { return slot < Slot::count && info(slot).role == Role::S; }

std::string words_of_step(const RingNow& now) {
    const int shard = now.step().j;
    if (now.of_sink(now.k)) return "the gradient of the sink, a sum over all ranks";
    if (now.step().op == Op::exchange_gradients || now.step().op == Op::add_share)
        return "gradients of rank " + str(shard) + (shard == now.rank ? " come home" : " on their way");
    if (now.over()) return "all rounds are over";
    const int owner = now.ring.owner(now.rank, now.round);
    return "round " + str(now.round) + ": " +
           (owner == now.rank ? "its own keys" : "keys of rank " + str(owner));
}

}  // namespace

int OnChip::owner() const {
    const int j = now.step().j;
    if (now.backward && j >= 0 && now.step().op != Op::exchange) return j;
    return now.ring.owner(now.rank, std::min(now.round, now.ring.ranks - 1));
}

int OnChip::chosen_query() const {
    const CellRef cell = state.explanation.target;
    if (is_of_keys(cell.slot) || cell.slot == Slot::count) return 0;
    if (info(cell.slot).hbm) {
        const std::vector<int>& all = now.ring.queries_of(now.rank).positions;
        const auto at = std::ranges::find(all, cell.row);
        return at == all.end() ? 0 : static_cast<int>(at - all.begin());
    }
    const Held held = holding(now.trace, cell, now.k);
    return held ? cell.row - held.value->region.row : 0;
}

int OnChip::chosen_key() const {
    const CellRef cell = state.explanation.target;
    if (!is_of_keys(cell.slot)) return is_of_scores(cell.slot) ? cell.col : 0;
    if (!info(cell.slot).hbm) return cell.row;
    const std::vector<int>& all = now.ring.keys_of(owner()).positions;
    const auto at = std::ranges::find(all, cell.row % now.trace.problem().N_kv());
    return at == all.end() ? 0 : static_cast<int>(at - all.begin());
}

int OnChip::chosen_component() const {
    const CellRef cell = state.explanation.target;
    return is_of_scores(cell.slot) || cell.slot == Slot::count || one_column(cell.slot) ? 0 : cell.col;
}

std::vector<std::string> OnChip::columns_text(const ShownPart& shown, const std::string& all) const {
    if (shown.count == d()) return {all};
    std::vector<int> columns(static_cast<std::size_t>(d()));
    std::iota(columns.begin(), columns.end(), 0);
    return {"columns " + shown_of(columns, shown), shown_of(columns, shown)};
}

void OnChip::draw(Slot slot, int tile, int since, const ShownPart& rows, const ShownPart& cols, float x,
                  float y, float cw, float ch, const std::string& widget, int digits) {
    const Trace& trace = now.trace;
    Held held = trace.live(slot, tile, now.k);
    if (held && held.step < since) held = {};
    MatrixLook look;
    look.slot = slot, look.value = held.value, look.region = {tile, 0, rows.count, cols.count};
    if (held && (rows.count < held.value->region.rows || cols.count < held.value->region.cols))
        look.window = Region{held.value->region.row + rows.first, held.value->region.col + cols.first,
                             rows.count, cols.count};
    look.x = x, look.y = y, look.cw = cw, look.ch = ch;
    look.size = cw >= 56 && ch >= 26 ? size::lead : size::small;
    look.least_digits = 2, look.boxes = true, look.numbers = ch >= (on_stage ? least_h() : 16);
    if (digits > 0) look.size = size::small, look.digits = digits, look.measured = true;
    const auto touched = [&](std::span<const Access> accesses) {
        return std::ranges::any_of(accesses,
                                   [&](const Access& a) { return a.slot == slot && a.tile == tile; });
    };
    const bool read = touched(trace.reads(now.k)), written = held && held.step == now.k;
    look.state = !held     ? CellState::pending
                 : written ? CellState::written
                 : read    ? CellState::read
                           : CellState::idle;
    if (written) look.fade = transition(state);
    if (written && step_units(trace, now.k) > 1 && tile == trace.writes(now.k).back().tile)
        look.rows_done = state.cursor.done;
    look.dim = !read && !written;
    look.only_changed = trace.step(now.k).op == Op::mask;
    matrix(c, state, look, widget.c_str());
}

void OnChip::label(const Line& symbol, const std::vector<std::string>& words, float x, float y,
                   float room) const {
    const float w = c.rich(x, y, symbol, size::symbol);
    const auto fits = [&](const std::string& text) {
        return text_width(Face::regular, size::small, text) <= room - w - 8;
    };
    const auto text = std::ranges::find_if(words, fits);
    if (text != words.end()) c.text(x + w + 6, y, *text, size::small, c.theme->t3);
}

void chip_panel(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    const Op op = op_now(state);
    const bool in_hbm = op == Op::exchange_gradients || op == Op::add_share, sink = now.of_sink(now.k);
    const Panel panel(c, "SRAM", a, (in_hbm ? "HBM of rank " : "SRAM of rank ") + str(now.rank),
                      words_of_step(now));
    sink_in_title(c, state, a);
    OnChip chip{c, state, now};
    const Rect inner{a.inner_x(), a.y + 42, a.inner_w(), a.h - 42 - 16};
    if (op == Op::add_share || sink) return chip.operands(inner);
    if (op == Op::exchange_gradients) return chip.arriving(inner);
    const float left = inner.w * (now.backward ? .52f : .44f);
    const float taken = chip.products({inner.x, inner.y, left, inner.h});
    const float x = inner.x + std::max(taken + 26, std::min(left, taken + 60));
    const Rect rest{x, inner.y, inner.right() - x, inner.h};
    now.backward ? chip.gradients(rest) : chip.found(rest);
}

void draw_arriving(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    OnChip{c, state, now, true}.arriving(a);
}

}  // namespace tilewalk::ui
