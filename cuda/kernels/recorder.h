// How a traced kernel writes down what it holds. An untraced kernel has none of it: RECORD(…) is nothing
// there.
#pragma once

#include "cuda/device/device.h"
#include "cuda/launch/arguments.h"

// Inside a kernel with a template parameter `traced`. TILEWALK_WITHOUT_TRACE removes the text as well, to
// prove that untraced kernels compile to the same code.
#if defined(TILEWALK_WITHOUT_TRACE)
#define RECORD(...)
#else
#define RECORD(...)                                                                                          \
    if constexpr (traced) {                                                                                  \
        __VA_ARGS__;                                                                                         \
    }
#endif

namespace tilewalk::gpu::BACKEND {

/// Records tile (i, j) of a head. Rows and columns count within the tile. What is passed by reference may be
/// changed: that is how a fault is injected. Of m, α and ℓ every lane that shares a row has the same number:
/// each changes its own, and the one that `stores` writes it down, or their stores would race.
class Recorder {
public:
    using Quantity = TraceWindow::Quantity;

    DEVICE Recorder(const TraceWindow& window, int head, int i, int j) : w(window) {
        const int h = head - w.first_head, ti = i - w.first_i, tj = j - w.first_j;
        wanted = h >= 0 && h < w.heads && ti >= 0 && ti < w.tiles_i && tj >= 0 && tj < w.tiles_j;
        slot = (std::int64_t(h) * w.tiles_i + ti) * w.tiles_j + tj;
        faulty = w.fault != Quantity::none && head == w.fault_head && i == w.fault_i && j == w.fault_j;
    }

    DEVICE void S(int row, int column, float& x) { cell(Quantity::S, w.S, w.Bc, row, column, x); }
    DEVICE void P(int row, int column, float& x) { cell(Quantity::P, w.P, w.Bc, row, column, x); }
    DEVICE void O(int row, int column, float& x) { cell(Quantity::O, w.O, w.d, row, column, x); }
    DEVICE void m(int row, float& x, bool stores) { cell(Quantity::m, stores ? w.m : nullptr, 1, row, 0, x); }
    DEVICE void alpha(int row, float& x, bool stores) {
        cell(Quantity::alpha, stores ? w.alpha : nullptr, 1, row, 0, x);
    }
    /// ℓ is the sum of parts that several lanes hold: each disturbs its part, then one records the sum.
    DEVICE void disturb_l(int row, float& part) { disturb(Quantity::l, row, 0, part); }
    DEVICE void l(int row, float sum, bool stores) {
        if (wanted && stores && w.l) w.l[slot * w.Br + row] = sum;
    }

private:
    DEVICE void cell(Quantity quantity, float* array, int width, int row, int column, float& x) {
        disturb(quantity, row, column, x);
        if (wanted && array) array[(slot * w.Br + row) * width + column] = x;
    }
    DEVICE void disturb(Quantity quantity, int row, int column, float& x) {
        if (faulty && w.fault == quantity && w.fault_row == row &&
            (w.fault_column < 0 || w.fault_column == column))
            x *= 1 + w.fault_amount;
    }

    const TraceWindow& w;
    std::int64_t slot;
    bool wanted, faulty;
};

}  // namespace tilewalk::gpu::BACKEND
