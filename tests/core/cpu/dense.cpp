#include "tests/core/cpu/dense.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace tilewalk::test {

namespace {

using Size = std::size_t;

// One query row of one head; pointers are those of the row and of the key-value head.
template <typename T> struct Row {
    const Workload& w;
    std::int64_t i;
    const float *q, *k, *v, *dO;
    T *O, *L, *dQ, *dK, *dV;

    T dot(const float* a, const float* b) const {
        T sum = 0;
        for (std::int64_t c = 0; c < w.d; ++c) sum += static_cast<T>(a[c]) * static_cast<T>(b[c]);
        return sum;
    }

    void walk() const {
        const std::int64_t first = w.first_key(i), end = w.last_key(i) + 1, d = w.d;
        const T scale = 1 / std::sqrt(static_cast<T>(d));
        *L = -std::numeric_limits<T>::infinity();
        if (first >= end) return;  // sees no key: all stays 0

        // P = softmax(scale · q Kᵀ)
        std::vector<T> P(static_cast<Size>(end - first));
        T m = -std::numeric_limits<T>::infinity(), l = 0;
        for (std::int64_t j = first; j < end; ++j)
            m = std::max(m, P[static_cast<Size>(j - first)] = scale * dot(q, k + j * d));
        for (T& p : P) l += p = std::exp(p - m);
        for (T& p : P) p /= l;
        *L = m + std::log(l);

        // O = P V
        for (std::int64_t j = first; j < end; ++j)
            for (std::int64_t c = 0; c < d; ++c)
                O[c] += P[static_cast<Size>(j - first)] * static_cast<T>(v[j * d + c]);
        if (dO) gradients(P, first, end, scale);
    }

    void gradients(const std::vector<T>& P, std::int64_t first, std::int64_t end, T scale) const {
        T D = 0;
        for (std::int64_t c = 0; c < w.d; ++c) D += static_cast<T>(dO[c]) * O[c];
        for (std::int64_t j = first; j < end; ++j) {
            const T p = P[static_cast<Size>(j - first)], dS = scale * p * (dot(dO, v + j * w.d) - D);
            for (std::int64_t c = 0; c < w.d; ++c) {
                dV[j * w.d + c] += p * static_cast<T>(dO[c]);
                dQ[c] += dS * static_cast<T>(k[j * w.d + c]);
                dK[j * w.d + c] += dS * static_cast<T>(q[c]);
            }
        }
    }
};

}  // namespace

template <typename T> DenseTensors<T> dense_attention(const Workload& w, const Tensors& t) {
    DenseTensors<T> out;
    out.O.resize(t.Q.size()), out.dQ.resize(t.Q.size());
    out.dK.resize(t.K.size()), out.dV.resize(t.K.size());
    out.L.resize(static_cast<Size>(w.q_rows()));
    for (std::int64_t row = 0; row < w.q_rows(); ++row) {
        const std::int64_t head = row / w.N_q, batch = head / w.heads,
                           kv = batch * w.kv_heads + head % w.heads * w.kv_heads / w.heads;
        const std::int64_t q = row * w.d, k = kv * w.N_kv * w.d;
        Row<T>{w,
               row % w.N_q,
               t.Q.data() + q,
               t.K.data() + k,
               t.V.data() + k,
               t.dO.empty() ? nullptr : t.dO.data() + q,
               out.O.data() + q,
               out.L.data() + row,
               out.dQ.data() + q,
               out.dK.data() + k,
               out.dV.data() + k}
            .walk();
    }
    return out;
}
template DenseTensors<float> dense_attention(const Workload&, const Tensors&);
template DenseTensors<double> dense_attention(const Workload&, const Tensors&);

Errors& Errors::operator+=(const Errors& more) {
    error += more.error, of_standard += more.of_standard, largest += more.largest;
    broken += more.broken;
    return *this;
}

std::string Errors::outside_rule(double factor) const {
    if (!broken.empty()) return broken;
    constexpr double nothing = 1e-20;  // weights of 2⁻¹⁰⁰ may be 0, times anything that the tests contain
    const double limit = factor * of_standard + 2 * std::ldexp(1.0, -23) * largest + nothing;
    if (error <= limit) return {};
    std::ostringstream text;
    text << "error " << error << ", limit " << limit << ", standard " << of_standard << ", largest "
         << largest;
    return text.str();
}

Errors errors_of(const std::vector<float>& got, const std::vector<float>& standard,
                 const std::vector<double>& truth) {
    Errors e;
    for (Size k = 0; k < truth.size(); ++k) {
        const double x = truth[k], y = static_cast<double>(got[k]);
        if (std::isinf(x) && y == x) continue;
        if (!std::isfinite(x) || !std::isfinite(y)) {
            e.broken = "element " + std::to_string(k) + " is " + std::to_string(y);
            continue;
        }
        e.largest = std::max(e.largest, std::abs(x));
        e.error = std::max(e.error, std::abs(y - x));
        e.of_standard = std::max(e.of_standard, std::abs(static_cast<double>(standard[k]) - x));
    }
    return e;
}

}  // namespace tilewalk::test
