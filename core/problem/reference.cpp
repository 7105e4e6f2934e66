#include "core/problem/reference.h"

#include "core/problem/mask.h"

#include <cmath>

namespace tilewalk {

Reference reference_attention(const Problem& p) {
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

}  // namespace tilewalk
