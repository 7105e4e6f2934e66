#include "app/ui/state/matrix_menu.h"

#include "app/ui/state/state.h"

#include <algorithm>
#include <limits>

namespace tilewalk::ui {

Matrix slot_matrix(const Trace& trace, Slot slot, int k) {
    std::vector<const Value*> tiles;
    Region all{std::numeric_limits<int>::max(), std::numeric_limits<int>::max(), 0, 0};
    // Where the tiles lie is known from the last step on; what they hold, from this one.
    for (int tile = 0; tile < trace.tiles(slot); ++tile) {
        const Held last = trace.live(slot, tile, trace.size());
        if (!last) continue;
        const Region& at = last.value->region;
        all.row = std::min(all.row, at.row), all.col = std::min(all.col, at.col);
        all.rows = std::max(all.rows, at.row + at.rows), all.cols = std::max(all.cols, at.col + at.cols);
        if (const Held now = trace.live(slot, tile, k)) tiles.push_back(now.value);
    }
    if (tiles.empty()) return {};
    if (trace.tiles(slot) == 1) return tiles.front()->data;
    Matrix A =
        Matrix::Constant(all.rows - all.row, all.cols - all.col, std::numeric_limits<double>::quiet_NaN());
    for (const Value* tile : tiles)
        A.block(tile->region.row - all.row, tile->region.col - all.col, tile->region.rows,
                tile->region.cols) = tile->data;
    return A;
}

void open_matrix_menu(AppState& state, Slot slot, int tile, bool at_mouse) {
    if (slot == Slot::count || !state.trace->live(slot, tile, state.cursor.step))
        return notify(state, "There is no matrix to copy here yet.");
    state.matrix_menu = std::make_shared<MatrixMenu>();
    state.matrix_menu->slot = slot;
    state.matrix_menu->tile = tile;
    state.matrix_menu->at_mouse = at_mouse;
}

void open_matrix_menu(AppState& state, Slot slot, const Value& value) {
    for (int tile = 0; tile < state.trace->tiles(slot); ++tile)
        if (state.trace->live(slot, tile, state.cursor.step).value == &value)
            return open_matrix_menu(state, slot, tile, true);
}

}  // namespace tilewalk::ui
