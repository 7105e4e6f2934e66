#include "core/problem/reference.h"

#include "core/lessons/shared/memory_model.h"

#include <cmath>
#include <limits>

namespace tilewalk {

Reference reference_attention(const Problem& p) {
    const double minus_infinity = -std::numeric_limits<double>::infinity();
    Reference ref;
    ref.S = p.softmax_scale() * p.Q * p.K.transpose();
    ref.P = Matrix::Zero(p.N(), p.N_kv());
    ref.L = Matrix::Constant(p.N(), 1, minus_infinity);
    for (int r = 0; r < p.N(); ++r) {
        for (int c = 0; c < p.N_kv(); ++c)
            if (!visible(p, r, c)) ref.S(r, c) = minus_infinity;
        const double m = ref.S.row(r).maxCoeff();
        if (m == minus_infinity) continue;  // this query sees no key
        for (int c = 0; c < p.N_kv(); ++c) ref.P(r, c) = std::exp(ref.S(r, c) - m);
        const double l = ref.P.row(r).sum();
        ref.P.row(r) /= l;
        ref.L(r, 0) = m + std::log(l);
    }
    ref.O = ref.P * p.V;
    return ref;
}

bool visible(const Problem& p, int r, int c) {
    const std::int64_t diagonal =
        std::int64_t{r} + p.N_kv() - p.N();  // the key that stands at this query's own position
    if (p.causal && c > diagonal) return false;
    if (p.window && c < diagonal - *p.window) return false;
    if (p.window && !p.causal && c > diagonal + *p.window) return false;
    return true;
}

}  // namespace tilewalk
