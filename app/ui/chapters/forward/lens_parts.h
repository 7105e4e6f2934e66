// Small drawings to scale, out of which the lens is made.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

struct AppState;

struct Part {
    double value;
    Role role;
};

/// Beside the title, where it has room as a whole.
void lens_caption(const Canvas& canvas, float x, float y, float room, std::string_view words);

/// Terms laid end to end; above them, where there is one, the old value and how it shrinks by α.
struct Stack {
    Slot symbol = Slot::l;
    bool has_old = false;
    double old = 0, alpha = 1;
    double divisor = 0;  ///< shown as "÷ ℓ" instead of "× α" when not 0
    std::vector<Part> parts{};
    double total = 0;
};
/// Smallest and largest value that a drawing has to hold; 0 always lies between. Rows that stand side by side
/// are drawn to one scale.
struct Extent {
    double lo = 0, hi = 0;
};
Extent extent(const Stack& stack);
Extent join(Extent a, Extent b);
void stack(const Canvas& canvas, const Rect& pane, const Stack& stack, Extent scale);

/// One score as a dot product: the two rows above each other, their products, and the sum.
struct Dot {
    std::string q_name, k_name;
    std::vector<double> q{}, k{};
    double scale = 1, total = 0;
    Role q_role = Role::Q, k_role = Role::K, product_role = Role::S;
};
void dot(const Canvas& canvas, const Rect& pane, const Dot& dot);

struct Bar {
    std::string label;
    double value;
    Role role;
};
/// Upright bars from zero; with `mark` a line at the largest.
Extent extent(const std::vector<Bar>& bars);
void bars(const Canvas& canvas, const Rect& pane, const std::vector<Bar>& bars, bool mark, Extent scale);

struct CurvePoint {
    double x;  ///< ≤ 0, may be −∞
    std::string label;
    Role role;
    double y = std::exp(x);  ///< what is stored: a broken walk has rounded it, or left exp out
    bool left_out = false;
};
/// exp(x) left of zero, with points on it.
void curve(const Canvas& canvas, const Rect& pane, const std::vector<CurvePoint>& points);

/// In place of a drawing: the numbers are NaN or ∞.
void no_scale(const Canvas& canvas, const Rect& pane);

struct ByteBar {
    std::string label;
    std::int64_t bytes;
    bool strong;
};
void byte_bars(const Canvas& canvas, const Rect& pane, const std::vector<ByteBar>& bars);
/// The bytes of the current step, so far and of the whole run, beside those of standard attention where that
/// is given.
void traffic_bars(const Canvas& canvas, const AppState& state, const Rect& pane,
                  std::optional<std::int64_t> standard = {});

}  // namespace tilewalk::ui
