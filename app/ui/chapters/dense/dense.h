// The lessons of dense matrices: attention, backward, training step. One panel shows all matrices of a page;
// what stands where is declared in pages.cpp, and one engine lays it out.
#pragma once

#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/app_state.h"

#include <string>
#include <vector>

namespace tilewalk::ui {

void dense_main(const Canvas& canvas, AppState& state, const Layout& layout);
void dense_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

/// One matrix of a page. A quantity that lies on chip at one time and in HBM at another has two slots.
struct DenseEntry {
    Slot chip = Slot::count, hbm = Slot::count;
    const char* words = "";  ///< beside the symbol, where there is room
    int level = 0;           ///< 0: in the row of queries; above it 1, 2; below it −1
    int on = -1;             ///< level ≠ 0: the entry whose columns it shares
    bool transposed = false;
};
/// Entries that share rows, with what stands above and below their columns.
using DenseGroup = std::vector<DenseEntry>;
/// Groups from top to bottom.
using DensePage = std::vector<DenseGroup>;

/// The page of the current step: a training step has one for each lane.
DensePage dense_page(const AppState& state);
/// Title and subtitle of the panel.
struct DenseTitle {
    const char *title, *words;
};
DenseTitle dense_title(const AppState& state);

/// Which of the two slots shows the quantity now.
Slot dense_slot(const AppState& state, const DenseEntry& entry);
/// Rows and columns of a slot's matrix, not transposed.
Region dense_shape(const Problem& problem, Slot slot);
/// What a query is called beside a matrix or a bar: its word, or its number; of several heads with its head.
std::string query_label(const Problem& problem, int query, const char* before_number);
/// As slot_look of the tiled lessons, for a slot that is never used up.
MatrixLook dense_look(const AppState& state, Slot slot);

/// Where the matrices of a page lie. Nothing moves while walking through a page whose numbers all fit.
struct DensePlace {
    DenseEntry entry;
    Slot slot = Slot::count;
    Bed bed;
    float label_y = 0;   ///< of the symbol
    float right = 0;     ///< the words beside the symbol end before this
    bool first = false;  ///< the leftmost of its rows: row names stand before it
    int digits = 4;
};
struct DenseLayout {
    std::vector<DensePlace> places;
    float size = 15;   ///< of the numbers
    float bottom = 0;  ///< of all matrices
};
DenseLayout dense_layout(const AppState& state, const DensePage& page, const Rect& area);

/// The current step drawn to scale.
void dense_lens(const Canvas& canvas, AppState& state, const Rect& area);

}  // namespace tilewalk::ui
