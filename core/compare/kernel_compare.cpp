#include "core/compare/kernel_compare.h"

#include "core/base/numbers.h"
#include "core/compare/kernel_compare_parts.h"
#include "core/lessons/backward/backward.h"
#include "core/lessons/forward/forward.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

using Quantity = KernelFault::Quantity;

// The walk of the kernel's tiles in fp64 on rounded inputs.
Problem exact_problem(const KernelTrace& trace) {
    Problem p = rounded_problem(trace);
    p.precision = {.inputs = format_of(trace.dtype)};
    return p;
}

std::optional<std::string> refuse_inputs(const KernelTrace& trace) {
    const Format format = format_of(trace.dtype);
    const Problem& p = trace.problem;
    const std::pair<const char*, Matrix> inputs[] = {
        {"Q", p.Q}, {"K", p.K}, {"V", p.V}, {"dO", p.dO ? *p.dO : Matrix()}};
    for (const auto& [name, A] : inputs)
        if (A.size() > 0 && !round_to(format, A).allFinite())
            return std::string(name) + " holds " + format_number(A.cwiseAbs().maxCoeff()) + ", more than " +
                   tilewalk::name(format) + " can (" + format_number(info(format).largest) + ").";
    return {};
}

std::optional<std::string> refuse_size(const KernelTrace& trace) {
    const Problem p = rounded_problem(trace);
    const std::int64_t bytes = (trace.backward ? flash_backward : flash_forward).estimate(p);
    if (bytes <= step_budget_bytes) return {};
    return "The CPU's walk of N = " + std::to_string(p.N()) + ", d = " + std::to_string(p.d()) +
           " would take " + format_size(bytes) + "; " + format_size(step_budget_bytes) +
           " are allowed: choose a smaller problem.";
}

// A first tile's α multiplies 0, whatever it is: there is nothing to compare.
void drop_first_corrections(const KernelComparison& c, int i, int j, ThreeWays& alpha) {
    const int before = step_of(*c.cpu, Quantity::m, i, j);
    const Held m = before > 0 ? c.cpu->live(Slot::m, before - 1) : Held{};
    for (int r = 0; m && r < alpha.kernel.rows() && r < m.value->data.rows(); ++r)
        if (m.value->data(r, 0) == -infinity && std::isfinite(alpha.kernel(r, 0)))
            alpha.kernel(r, 0) = alpha.cpu(r, 0);
}

TileComparison compare_tile(const KernelComparison& c, const KernelTile& tile) {
    TileComparison out{tile.i, tile.j, tile.visited, true, {}};
    out.in_the_walk = step_of(*c.cpu, Quantity::S, tile.i, tile.j) >= 0;
    if (!out.visited || !out.in_the_walk) return out;
    std::size_t n = 0;
    for (Quantity quantity : kernel_quantities()) {
        ThreeWays values = tile_values(c, quantity, tile.i, tile.j);
        if (quantity == Quantity::alpha) drop_first_corrections(c, tile.i, tile.j, values);
        out.of[n++] = distance_of(values, format_of(*c.kernel, quantity));
    }
    return out;
}

// The value of a slot that the step holds after it, as part of the tile's walk
Matrix held(const Trace& walk, Slot slot, int step) {
    const Held value = step < 0 ? Held{} : walk.live(slot, step);
    return value ? value.value->data : Matrix();
}

}  // namespace

Format format_of(DType type) {
    return type == DType::f32 ? Format::fp32 : type == DType::f16 ? Format::fp16 : Format::bf16;
}

Precision kernel_precision(DType type) {
    const Format narrow = format_of(type);
    return {narrow, Format::fp32, Format::fp32, narrow, Format::fp32, narrow};
}

Problem rounded_problem(const KernelTrace& trace) {
    Problem p = without_faults(trace.problem);
    p.precision = kernel_precision(trace.dtype);
    p.options.order = BackwardOrder::key_outer;
    return p;
}

double ulp_distance(Format format, double a, double b) {
    const double far = distance(a, b);
    if (far == 0 || !std::isfinite(far)) return far;
    const double larger = std::max(std::abs(a), std::abs(b));
    const FormatInfo& f = info(format);
    return far / std::ldexp(1.0, std::max(std::ilogb(larger), f.least_exponent) - f.fraction_bits);
}

Matrix as_matrix(const std::vector<float>& values, int rows, int columns) {
    using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    if (values.empty()) return {};
    return Eigen::Map<const Floats>(values.data(), rows, columns).cast<double>();
}

KernelDistance distance_of(const ThreeWays& values, Format format) {
    KernelDistance out;
    if (values.kernel.size() == 0 || values.cpu.size() != values.kernel.size()) return out;
    out.recorded = true;
    out.worst = out.worst_ulp = values.cell(0, 0);
    for (int r = 0; r < values.kernel.rows(); ++r)
        for (int c = 0; c < values.kernel.cols(); ++c) {
            const double far = distance(values.kernel(r, c), values.cpu(r, c));
            if (far > out.largest) out.largest = far, out.worst = values.cell(r, c);
            if (far == 0) continue;
            const double ulp = ulp_distance(format, values.kernel(r, c), values.cpu(r, c));
            if (ulp > out.ulp) out.ulp = ulp, out.worst_ulp = values.cell(r, c);
        }
    return out;
}

const KernelDistance& TileComparison::operator[](Quantity quantity) const {
    const auto all = kernel_quantities();
    return of[static_cast<std::size_t>(std::find(all.begin(), all.end(), quantity) - all.begin())];
}

double TileComparison::statistics_ulp() const {
    return std::max({(*this)[Quantity::m].ulp, (*this)[Quantity::l].ulp, (*this)[Quantity::alpha].ulp});
}

bool KernelComparison::passed() const {
    return std::all_of(outputs.begin(), outputs.end(), [](const OutputVerdict& v) { return v.passed(); });
}

const OutputVerdict& KernelComparison::nearest() const {
    return *std::max_element(outputs.begin(), outputs.end(), [](const auto& a, const auto& b) {
        const auto rank = [](const OutputVerdict& v) {
            return std::pair(!v.passed(), v.slot == Slot::L ? -1 : v.part());
        };
        return rank(a) < rank(b);
    });
}

const TileComparison* KernelComparison::tile(int i, int j) const {
    const KernelTile* found = find_tile(*kernel, i, j);
    return found ? &tiles[static_cast<std::size_t>(found - kernel->tiles.data())] : nullptr;
}

KernelCell ThreeWays::cell(int row, int column) const {
    return {row, column, exact(row, column), cpu(row, column), kernel(row, column)};
}

Format format_of(const KernelTrace& trace, Quantity quantity) {
    return quantity == Quantity::P ? format_of(trace.dtype) : Format::fp32;
}

Format format_of(const KernelTrace& trace, Slot output) {
    return output == Slot::L ? Format::fp32 : format_of(trace.dtype);
}

int step_of(const Trace& walk, Quantity quantity, int i, int j) {
    const Op wanted = info(quantity).op;
    int found = -1;
    for (int k = 0; k < walk.size(); ++k) {
        const Step& step = walk.step(k);
        if (step.i != i || step.j != j) continue;
        const bool cuts = quantity == Quantity::S && step.op == Op::mask;
        if (step.op == wanted || cuts) found = k;
    }
    return found;
}

CellRef cell_of(const KernelTrace& trace, Quantity quantity, int i, int j, int row, int column) {
    const Slot slot = info(quantity).slot;
    const bool by_key = quantity == Quantity::S || quantity == Quantity::P;
    const int width = quantity_width(trace, quantity, j);
    return {slot, i * trace.problem.Br + row,
            (by_key ? j * trace.problem.Bc : 0) + std::clamp(column, 0, width - 1)};
}

ThreeWays tile_values(const KernelComparison& c, Quantity quantity, int i, int j) {
    if (quantity != Quantity::S && in_later_split(*c.kernel, j)) return {};
    const int step = step_of(*c.cpu, quantity, i, j);
    const Slot slot = info(quantity).slot;
    ThreeWays out{held(*c.exact, slot, step), held(*c.cpu, slot, step), {}};
    if (quantity == Quantity::P) out.cpu = round_to(format_of(c.kernel->dtype), out.cpu);
    const KernelTile* tile = find_tile(*c.kernel, i, j);
    if (tile && tile->visited)
        out.kernel = as_matrix(values_of(*tile, quantity), tile_rows(c.kernel->problem, i),
                               quantity_width(*c.kernel, quantity, j));
    return out;
}

ThreeWays output_values(const KernelComparison& c, Slot slot) {
    const KernelTrace& k = *c.kernel;
    ThreeWays out{c.exact->result(slot), c.cpu->result(slot), {}};
    if (slot == Slot::dQ)
        out.cpu = round_to(format_of(k.dtype), out.cpu);  // its sums stay in fp32 in the walk
    const std::pair<Slot, const std::vector<float>*> kernel[] = {
        {Slot::O, &k.O}, {Slot::L, &k.L}, {Slot::dQ, &k.dQ}, {Slot::dK, &k.dK}, {Slot::dV, &k.dV}};
    for (const auto& [of, values] : kernel)
        if (of == slot)
            out.kernel =
                as_matrix(*values, static_cast<int>(out.exact.rows()), static_cast<int>(out.exact.cols()));
    return out;
}

Result<KernelComparison> compare_kernel(std::shared_ptr<const KernelTrace> trace) {
    if (auto s = refuse(*trace)) return Failure{*s};
    if (auto s = refuse_inputs(*trace)) return Failure{*s};
    if (auto s = refuse_size(*trace)) return Failure{*s};
    KernelComparison c;
    c.kernel = std::move(trace);
    const Lesson& walk = c.kernel->backward ? flash_backward : flash_forward;
    c.exact = walk(exact_problem(*c.kernel));
    c.cpu = walk(rounded_problem(*c.kernel));
    for (const KernelTile& tile : c.kernel->tiles) c.tiles.push_back(compare_tile(c, tile));
    c.outputs = judge_outputs(c);
    c.finding = locate(c);
    return c;
}

}  // namespace tilewalk
