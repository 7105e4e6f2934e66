// A matrix on screen: cells with numbers, or a heat map where they would not be legible.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/canvas_cell.h"
#include "app/ui/state/app_state.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

enum class Link;

/// How the numbers of one matrix are written: with the same decimals; that of which the formula at hand has
/// more, with these; without the zeros at the end of what fewer decimals show exactly.
enum class NumberForm { even, as_formula, trimmed };

/// What to draw of one tile. Positions in logical px; the bed reaches 4 px beyond the cells.
struct MatrixLook {
    Slot slot = Slot::Q;
    const Value* value = nullptr;    ///< null: nothing there yet, `region` drawn as pending cells
    const Value* before = nullptr;   ///< what the slot held before this step, to be shown struck through
    const Value* truth = nullptr;    ///< the same tile in the true walk, where there is another one
    Slot before_slot = Slot::count;  ///< where that was another quantity: it has other decimals
    Region region;                   ///< used when `value` is null
    std::optional<Region> window;    ///< draws only this part, with digits for it alone
    bool transposed = false;         ///< K is drawn as Kᵀ
    float x = 0, y = 0, cw = 50, ch = 54;
    CellState state = CellState::idle;
    int rows_done =
        std::numeric_limits<int>::max();  ///< written rows so far; the others keep what was before
    int cells_done = std::numeric_limits<int>::max();  ///< the same, counted in cells row by row
    bool dim = false;                                  ///< not part of this step
    bool bed = true;
    bool numbers = true;
    int digits = 4;         ///< at most (4: as many as the user wants); fewer where the cells are narrow
    int least_digits = 3;   ///< fewer than these, and no numbers are shown
    bool measured = false;  ///< whoever chose the digits has seen that they fit
    NumberForm form = NumberForm::even;
    bool show_before = false;   ///< `before` is shown although this step did not write the matrix
    bool only_changed = false;  ///< mark only the cells whose value changed (mask)
    bool past = false;          ///< what the slot held before: its cells are those of another place
    bool boxes = false;         ///< frame the cell that the formula is about, and the cells that it uses
    bool by_root = false;       ///< shades of a heat map, which it enlarges a part of
    float size = size::lead;
    float fade = 1;
};

/// Draws it, notes its cells for tests, answers to hovering, clicking and (for Q, K, V) double-clicking.
/// `widget` names the view, so that one cell may be shown in several places.
void matrix(const Canvas& canvas, AppState& state, MatrixLook look, const char* widget);

/// The numbers that the open question asks for, each with a question mark until it is shown; round the one
/// that is being typed lies a frame.
void mark_asked(const Canvas& canvas, const AppState& state, const MatrixLook& look);
/// Of a cell of a heat map. Most numbers of a large matrix are small beside its largest one: the root of
/// their place on the ramp tells them apart.
ImU32 heat_colour(const Theme& theme, Slot slot, const SlotLook& range, double value, bool dim = false);
/// A number of a matrix as its cell has it.
std::string cell_number(const MatrixDigits& all, double value, int digits, NumberForm form);

/// Decimals that the formula of the step has of a matrix that it reads; 0: none, or all that there are.
int formula_decimals(const AppState& state, Slot slot);
/// A number of such a matrix with these decimals, where `text` has fewer: all its cells have the same.
std::string number_in_formula(const AppState& state, Slot slot, double value, const std::string& text);
/// The numbers that the formula of a step has and its result, to be asked for many; it must not outlive that.
class FormulaNumbers {
public:
    explicit FormulaNumbers(const Explanation& explanation);
    /// A number as the formula has it where that has more decimals than `shown`, 1.000 rather than 1; else
    /// `shown`. No role: whatever it stands for there.
    std::string text(std::optional<Role> role, double value, const std::string& shown) const;

private:
    struct One {
        std::string_view text;
        Role role;
        int decimals;
    };
    std::vector<One> all_;
};
/// The same of one number.
std::string formula_text(const Explanation& explanation, Role role, double value, const std::string& text);

/// The mark of a cell that differs from the true walk: a filled corner at the top left, where no other state
/// has one. `on_danger`: the cell itself has that colour.
void wrong_mark(const Canvas& canvas, float x, float y, float w, float h, bool on_danger = false);
/// ✕ on a plate: what a fault has made, whatever its colour looks like. y is the middle.
void fault_mark(const Canvas& canvas, float x, float y, float side);
/// That of a cell that differs from before the latest edit: a dotted outline inside.
void edit_mark(const Canvas& canvas, float x, float y, float w, float h);

/// The mark round cells: double for the inspected one, dashed for sources, corners only for what it feeds.
void draw_link_mark(const Canvas& canvas, Link link, Role role, float x, float y, float w, float h);

}  // namespace tilewalk::ui
