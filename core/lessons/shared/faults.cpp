#include "core/lessons/shared/faults.h"

#include "core/problem/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk {

namespace {

constexpr Fault forward[] = {
    {&Switches::no_max, "no_max", "Leave the maximum out", "m stays 0: exp(S) instead of exp(S − m)"},
    {&Switches::stale_max, "stale_max", "Use the old maximum", "P̃ = exp(S − m_old), before this tile"},
    {&Switches::no_correction, "no_correction", "Leave the correction out",
     "α = 1: old sums are not re-based"},
    {&Switches::no_division, "no_division", "Leave the division out", "O is stored without ÷ ℓ"},
    {&Switches::wrong_mask_edge, "wrong_mask_edge", "Mask edge off by one",
     "each query sees one key too many"},
};
constexpr Fault backward[] = {
    {&Switches::no_lse, "no_lse", "Leave L out", "P = exp(S) instead of exp(S − L)"},
    {&Switches::wrong_mask_edge, "wrong_mask_edge", "Mask edge off by one",
     "each query sees one key too many"},
};

// The key just right of the last one that query r may see; −1 where the mask has no edge on that side.
std::int64_t beyond_edge(const Problem& p, int r) {
    const std::int64_t diagonal = std::int64_t{r} + p.N_kv() - p.N();
    if (p.causal) return diagonal + 1;
    return p.window ? diagonal + *p.window + 1 : -1;
}

}  // namespace

std::span<const Fault> forward_faults() { return forward; }
std::span<const Fault> backward_faults() { return backward; }

bool passes_mask(const Problem& p, int r, int c) {
    return visible(p, r, c) || (p.switches.wrong_mask_edge && c == beyond_edge(p, r));
}

bool sees_some_key(const Problem& p, int r, int last) {
    const KeyRange keys = visible_keys(p, r);
    if (keys.first <= std::min(keys.last, last)) return true;
    const std::int64_t extra = beyond_edge(p, r);
    if (!p.switches.wrong_mask_edge || extra < 0 || extra > last) return false;
    return tile_cover(p, r / p.Br, static_cast<int>(extra) / p.Bc) == TileCover::partial;
}

Matrix row_maximum(const Matrix& S) {
    if (!S.hasNaN()) return S.rowwise().maxCoeff();
    Matrix out = Matrix::Constant(S.rows(), 1, -std::numeric_limits<double>::infinity());
    for (Eigen::Index r = 0; r < S.rows(); ++r)
        for (Eigen::Index c = 0; c < S.cols(); ++c) out(r, 0) = std::fmax(out(r, 0), S(r, c));
    return out;
}

Matrix divide_rows(const Matrix& A, const Matrix& divisor) {
    const Matrix inverse = divisor.cwiseInverse();
    const double infinity = std::numeric_limits<double>::infinity();
    if ((inverse.array() < infinity).all()) return inverse.col(0).asDiagonal() * A;
    return A.array().colwise() / divisor.col(0).array();
}

Format operand_format(const Precision& precision) {
    return contains(precision.weights, precision.softmax) ? Format::fp64 : precision.weights;
}

void give_rounded_inputs(Recorder& rec, const Problem& p) {
    const Format format = p.precision.inputs;
    rec.give(Slot::Q, round_to(format, p.Q), p.Br);
    rec.give(Slot::K, round_to(format, p.K), p.Bc);
    rec.give(Slot::V, round_to(format, p.V), p.Bc);
}

}  // namespace tilewalk
