#include "core/walk/telling_row.h"

#include "core/walk/explain.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewalk {

namespace {

// Where the row maxima of tile (i, j) are joined with those so far; −1: nowhere.
int joining_step(const Trace& trace, int i, int j) {
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (step.op == Op::new_max && step.i == i && step.j == j) return k;
    }
    return -1;
}

// The row that rises most, as far as it came from a finite maximum.
std::optional<int> steepest_row(const Trace& trace, int k) {
    if (k < 0) return {};
    const Value *before = nullptr, *now = nullptr;
    for (const Access& a : trace.reads(k))
        if (a.slot == Slot::m) before = &trace.value(a.value);
    for (const Access& a : trace.writes(k))
        if (a.slot == Slot::m) now = &trace.value(a.value);
    if (!before || !now || before->region != now->region) return {};
    double most = 0;
    std::optional<int> found;
    for (int r = 0; r < now->region.rows; ++r) {
        const double rise = now->data(r, 0) - before->data(r, 0);
        if (std::isfinite(rise) && rise > most) most = rise, found = r;
    }
    return found;
}

// Beside the largest number of the tile it can be seen: not 10⁻⁵ among tenths.
bool counts(double v, double largest) { return std::isfinite(v) && v != 0 && std::abs(v) >= largest / 10; }

template <class Numbers> double largest_of(const Numbers& numbers) {
    double out = 0;
    for (const double v : numbers.reshaped())
        if (std::isfinite(v)) out = std::max(out, std::abs(v));
    return out;
}

int first_row_with_numbers(const Value& value) {
    const double largest = largest_of(value.data);
    for (int r = 0; r < value.region.rows; ++r)
        for (int c = 0; c < value.region.cols; ++c)
            if (counts(value.data(r, c), largest)) return r;
    return 0;
}

}  // namespace

int telling_row(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    if (info(step.op).kind != OpKind::compute || trace.writes(k).empty()) return 0;
    const Region region = step_region(trace, k);
    if (region.rows <= many_rows) return 0;
    if (step.i >= 0 && step.j >= 0)
        for (const int j : {step.j, step.j + 1})
            if (const auto row = steepest_row(trace, joining_step(trace, step.i, j)))
                if (*row < region.rows) return *row;
    // What is left of a lane when its tiles are done: the row of the last of them.
    if (step.i >= 0 && step.j < 0)
        for (int j = trace.problem().Tc() - 1; j > 0; --j)
            if (const auto row = steepest_row(trace, joining_step(trace, step.i, j)))
                if (*row < region.rows) return *row;
    for (const Access& a : trace.writes(k))
        if (trace.value(a.value).region == region) return first_row_with_numbers(trace.value(a.value));
    return 0;
}

int telling_col(const Trace& trace, int k, int row) {
    const Step& step = trace.step(k);
    const Region region = step_region(trace, k);
    if (info(step.op).kind != OpKind::compute || step.op == Op::mask) return -1;
    if (region.rows <= many_rows && region.rows * region.cols <= many_cells) return -1;
    for (const Access& a : trace.writes(k)) {
        const Value& value = trace.value(a.value);
        if (value.region != region || row < 0 || row >= region.rows) continue;
        const double largest = largest_of(value.data.row(row));
        for (int c = 0; c < region.cols; ++c)
            if (counts(value.data(row, c), largest)) return c;
    }
    return -1;
}

}  // namespace tilewalk
