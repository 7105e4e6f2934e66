// Small drawings to scale, out of which the lens is made. `phase` (app/ui/state/motion.h): how far the step
// has come that they draw.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/parts/areas.h"
#include "app/ui/parts/stage_terms.h"
#include "app/ui/state/app_state.h"
#include "core/base/beside_matrix.h"
#include "core/base/remembered.h"

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tilewalk::ui {

struct Part {
    double value;
    Role role;
    bool old = false;  ///< was there before the step, and is called so where there is room
};

/// Terms laid end to end; above them, where there is one, the old value and how it shrinks by α.
struct Stack {
    Slot symbol = Slot::l;
    bool has_old = false;
    double old = 0, alpha = 1;
    Role shrinks_by = Role::alpha;         ///< in the hue of what it is multiplied by
    double divisor = 0;                    ///< shown as "÷ ℓ" instead of "× α" when not 0
    const Explanation* formula = nullptr;  ///< its numbers have the digits that they have there
    std::vector<Part> parts{};
    double total = 0;
    Line added{};  ///< what the new parts are, where they are more than their numbers say: "P̃ V"
    mutable int decimals = -1;  ///< that its parts are written with, once it is known; below 0: not yet
};
/// Smallest and largest value that a drawing has to hold, and 0. Rows side by side have one scale.
struct Extent {
    double lo = 0, hi = 0;
};
Extent extent(const Stack& stack);
Extent join(Extent a, Extent b);
/// Of a row of both, counted from 0 in each, before and after a division: one bar alone would be as long as
/// there is room, whatever it says.
Extent extent_of_rows(const Value& before, const Value& after, int row);
void stack(const Canvas& canvas, const Rect& pane, const Stack& stack, Extent scale, float phase = 1);

/// One score as a dot product: the two rows above each other, their products, and the sum.
struct Dot {
    Line q_name{}, k_name{};
    std::vector<double> q{}, k{};
    double scale = 1, total = 0;
    Role q_role = Role::Q, k_role = Role::K, product_role = Role::S;
    /// As the matrices have their numbers; none: those of these rows alone.
    const MatrixDigits *q_digits = nullptr, *k_digits = nullptr, *total_digits = nullptr;
    const Explanation* formula = nullptr;  ///< its numbers have the digits that they have there
    Line name{};                           ///< of the sum: "S"
};
/// As wide as it would be with all digits.
float width_of(const Dot& dot);
void dot(const Canvas& canvas, const Rect& pane, const Dot& dot, float phase = 1);
/// The products come to just the sum, as they are printed where they have room.
bool sum_holds(const Dot& dot);

struct Bar {
    std::string label;
    double value;
    Role role;
    std::optional<double> before{};        ///< how far it went before the step: a dashed line
    bool waits = false;                    ///< still to come: its place is kept
    const MatrixDigits* digits = nullptr;  ///< of the matrix that has the value
    std::string text() const { return digits ? text_alone(*digits, value) : format_short(value); }
};
/// Upright bars from zero; with `mark` a line at the largest.
Extent extent(const std::vector<Bar>& bars);
void bars(const Canvas& canvas, const Rect& pane, const std::vector<Bar>& bars, bool mark, Extent scale,
          float phase = 1);

struct CurvePoint {
    double x;  ///< ≤ 0, may be −∞
    std::string label;
    Role role;
    double y = std::exp(x);  ///< what is stored: a broken walk has rounded it, or left exp out
    bool left_out = false;
    bool chosen = false;                   ///< the one that the formula is about
    const MatrixDigits* digits = nullptr;  ///< of the matrix that has y
    std::string text() const { return digits ? text_alone(*digits, y) : format_short(y); }
};
/// exp(x) left of zero, with points on it.
void curve(const Canvas& canvas, const Rect& pane, const std::vector<CurvePoint>& points, float phase = 1);

/// A maximum that rises from `before` to `now`: every weight exp(x − max) drops from one curve to the other,
/// by α.
struct Correction {
    double before, now, alpha;
    std::vector<double> scores{};          ///< seen before: each of them an arrow
    const MatrixDigits* digits = nullptr;  ///< of α
    std::string alpha_text() const { return digits ? text_alone(*digits, alpha) : format_short(alpha); }
};
/// False, and nothing drawn, where there is no maximum yet.
bool correction_curves(const Canvas& canvas, const Rect& pane, const Correction& correction, float phase = 1);

/// In place of a drawing: the numbers are NaN or ∞.
void no_scale(const Canvas& canvas, const Rect& pane);

/// On stage, where the lens has no title: what boxes of width P and height dP − D are as wide and as high as.
/// Returns the room below it; of a pane lower than `least` all of it.
Rect below_axes_of_areas(const Canvas& canvas, const Rect& pane, float least = 90);
/// The bytes of this step, so far and of the whole run, beside those of standard attention.
void traffic_bars(const Canvas& canvas, const AppState& state, const Rect& pane);

// ---- Why any split of a row gives the same (split_proof.cpp)

/// A tour points at the proof, and the row at hand has one: it is through, its maximum rose, and its keys
/// have room beside each other.
bool proves_split(const AppState& state);

// ---- One query row over all key tiles (evolution.cpp)

/// The lesson streams key tiles past query rows.
bool has_evolution(const Lesson& lesson);
/// m, ℓ and one component of O of the chosen query row after each key tile, from the trace. A dashed line in
/// the hue of α marks a tile where what was there before is rescaled.
void evolution_view(const Canvas& canvas, const AppState& state, const Rect& area);

// ---- The lenses of the tiled lessons (lens_rows.cpp)

/// The stored values around one row (and column) of the whole matrix that the current step is about.
struct Around {
    Around(const AppState& state, int row, int col);
    const AppState& state;
    int row, col;
    int k = state.cursor.step;
    const Trace& trace = *state.trace;

    Op op() const { return trace.step(k).op; }
    const Value& read(Slot slot, int nth = 0) const;
    const Value& written() const { return trace.value(trace.writes(k).front().value); }
    double now(Slot slot) const { return at(*trace.live(slot, k).value, row, col); }
    static double at(const Value& v, int r, int c) { return v.data(r - v.region.row, c - v.region.col); }
    /// "k2": of row n of the step's queries ("q") or keys. Rows of a shard count from 0.
    std::string name(const char* letter, int n) const;
    /// How what the step reads or writes is written; null: it is neither.
    const MatrixDigits* digits(const Value& value) const;
};
/// The same of step k.
const MatrixDigits* digits_of(const Trace& trace, int k, const Value& value);
/// "k2", or its word. A number that is set below a letter says which block, or whose shard, it is.
std::string index_label(const Problem& problem, const char* letter, int n);
/// Row r of A against row c of B, term by term.
Dot dot_of(const Value& A, int r, const Value& B, int c);
Dot dot_of(const CellSum& sum);
/// One bar alone measures nothing: a sum of which one product is left, factor by factor; else nothing.
std::optional<Dot> single_product(const Around& around, const CellSum& sum);
/// S, dP or D of the row and column.
Dot product_dot(const Around& around);
/// What was there and all products, divided where the sum is.
Stack stack_of(const CellSum& sum);
/// O ÷ ℓ
Stack division_stack(const Problem& problem, double old, double l, double total);
/// What the lens has computed of the step at hand, for the one or two rows that are drawn.
struct LensKept {
    using OfRow = std::tuple<WhichOne<const Trace>, int, int>;  ///< step, row
    std::array<Remembered<OfRow, std::vector<Area>>, 2> areas;
};
/// The score gradient of the row: each key from the step of its own tile.
void draw_areas(const Canvas& canvas, const Rect& pane, const Around& around);
/// The row of a tile, key by key; its scores on the curve, measured from `base`.
std::vector<Bar> row_bars(const Around& around, const Value& tile);
/// What softcap, bias or mask have left of the scores of the row.
std::vector<Bar> changed_bars(const Around& around);
std::vector<CurvePoint> row_points(const Around& around, const Value& S, const Value& P, double base);
/// Exponents above 0 and weights above 1, as a broken walk or rounding makes them.
bool off_the_curve(const std::vector<CurvePoint>& points);

/// The rows that are drawn: both of a tile of two side by side where there is room, else the chosen one.
struct LensRows {
    std::vector<Around> rows = {};
    bool two = false;
};
LensRows lens_rows(const AppState& state, const Rect& area, float least_h);
/// `letter`: of what the rows belong to; "": they have no names.
void draw_lens_rows(const Canvas& canvas, const LensRows& rows, const Rect& inner, const char* letter,
                    const std::function<void(const Around&, const Rect&)>& draw);

/// What the step sets to its start value, and what that means.
void draw_start_values(const Canvas& canvas, const AppState& state, const Rect& pane);

bool about_bytes(Op op);
const char* bytes_caption(Op op);
/// The title and, where it has room as a whole, the caption. Returns what they leave of the area.
Rect lens_title(const Canvas& canvas, const Rect& area, std::string_view caption,
                std::string_view title = "This step, to scale", float reserved = 0);

}  // namespace tilewalk::ui
