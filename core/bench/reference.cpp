#include "core/bench/reference.h"

#include "core/engine/heads.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace tilewalk {

namespace {

template <class T> using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
ReferenceMatrix<T> rows_of(const std::vector<float>& tensor, std::int64_t head, std::int64_t N,
                           std::int64_t d) {
    using Floats = Eigen::Map<const RowMajor<float>>;
    return Floats(tensor.data() + head * N * d, N, d).template cast<T>();
}

// A x, its terms added one after the other from term `turn` on, all rows at once: the rounding that a product
// of matrices has. Eigen's own product with a vector adds in groups, and is in float more exact than that.
template <class T>
ReferenceVector<T> multiply(const Eigen::Ref<const ReferenceMatrix<T>>& A, const ReferenceVector<T>& x,
                            std::int64_t turn) {
    ReferenceVector<T> sum = ReferenceVector<T>::Zero(A.rows());
    for (Eigen::Index k = turn; k < A.cols(); ++k) sum += x[k] * A.col(k);
    for (Eigen::Index k = 0; k < turn; ++k) sum += x[k] * A.col(k);
    return sum;
}

// In float the exponential that standard attention uses, Eigen's vectorised one (two roundings); in double
// std::exp.
ReferenceVector<float> exp_of(const ReferenceVector<float>& x) { return x.array().exp(); }
ReferenceVector<double> exp_of(const ReferenceVector<double>& x) {
    return x.unaryExpr([](double value) { return std::exp(value); });
}

template <class T> void store(DType type, T* begin, T* end) {
    if constexpr (std::is_same_v<T, float>)
        if (type != DType::f32)
            std::transform(begin, end, begin, [type](float x) { return rounded(x, type); });
}

// P of a row, as stored; ℓ of what was rounded last, before P is.
template <class T> ReferenceVector<T> softmax(const ReferenceVector<T>& S, T m, T& l) {
    ReferenceVector<T> P = exp_of(ReferenceVector<T>(S.array() - m));
    l = P.sum();
    if (P.size() > 0) P /= l;
    return P;
}

}  // namespace

template <class T> void store_as(DType type, std::vector<T>& x) {
    store(type, x.data(), x.data() + x.size());
}
template <class T> void store_as(DType type, ReferenceVector<T>& x) {
    store(type, x.data(), x.data() + x.size());
}

template <class T>
ReferenceHead<T>::ReferenceHead(const Workload& workload, const Tensors& in, std::int64_t head)
    : w(workload), scale(1 / std::sqrt(static_cast<T>(w.d))), Q(rows_of<T>(in.Q, head, w.N_q, w.d)),
      K(rows_of<T>(in.K, cpu::kv_head_of(w, head), w.N_kv, w.d)),
      V(rows_of<T>(in.V, cpu::kv_head_of(w, head), w.N_kv, w.d)) {
    if (w.direction == Direction::backward) dO = rows_of<T>(in.dO, head, w.N_q, w.d);
}

template <class T>
ReferenceRow<T> reference_row(const ReferenceHead<T>& h, std::int64_t i, std::int64_t turn) {
    ReferenceRow<T> row;
    row.first = h.w.first_key(i);
    const std::int64_t count = std::max<std::int64_t>(0, h.w.last_key(i) + 1 - row.first);
    const auto K = h.K.middleRows(std::min(row.first, h.w.N_kv - count), count);
    const auto V = h.V.middleRows(std::min(row.first, h.w.N_kv - count), count);

    // S = scale · K q,  P = exp(S − m) / ℓ,  O = Vᵀ P,  L = m + ln ℓ
    const DType type = h.w.dtype;
    ReferenceVector<T> S = h.scale * multiply<T>(K, h.Q.row(i), turn);
    T m = count > 0 ? S.maxCoeff() : 0, l = 0;
    row.P = softmax(S, m, l);
    row.L = row.L_of_stored = count > 0 ? m + std::log(l) : -std::numeric_limits<T>::infinity();
    if (std::is_same_v<T, float> && type != DType::f32 && count > 0) {
        store_as(type, S);
        m = S.maxCoeff();
        row.P = softmax(S, m, l);
        row.L_of_stored = m + std::log(l);
        store_as(type, row.P);
    }
    if (h.adds_keys_in_order)
        row.O = multiply<T>(V.transpose(), row.P, std::min(turn, count));
    else
        row.O = V.transpose() * row.P;
    store_as(type, row.O);
    if (h.dO.size() == 0) return row;

    // D = dO · O,  dS = P ⊙ (V dO − D),  dQ = scale · Kᵀ dS
    if (h.P_from_L) row.P = exp_of(ReferenceVector<T>(S.array() - row.L));
    const ReferenceVector<T> dO = h.dO.row(i).transpose();
    row.D = dO.dot(row.O);
    ReferenceVector<T> dP = multiply<T>(V, dO, turn);
    store_as(type, dP);
    row.dS = row.P.array() * (dP.array() - row.D);
    store_as(type, row.dS);
    row.dQ = h.scale * (K.transpose() * row.dS);
    store_as(type, row.dQ);
    return row;
}

ReferenceSums reference_sums(const ReferenceHead<double>& h, cpu::ThreadPool& pool, std::stop_token stop) {
    const Workload& w = h.w;
    ReferenceSums sums{ReferenceVector<double>(w.N_q), ReferenceVector<double>(w.N_q)};
    // Some 50 ms each at the most, so that a stop is answered soon.
    const cpu::RowBlocks blocks{1, w.N_q, std::clamp<std::int64_t>((1 << 26) / (w.N_kv * w.d), 16, 128)};
    const auto walk = [&](std::int64_t task, int) {
        const auto [head, first, count] = blocks[task];
        RowMajor<double> P = h.scale * (h.Q.middleRows(first, count) * h.K.transpose());
        for (std::int64_t r = 0; r < count; ++r) {
            const std::int64_t begin = w.first_key(first + r), end = w.last_key(first + r) + 1;
            if (end <= begin) {
                P.row(r).setZero();
                sums.L[first + r] = -std::numeric_limits<double>::infinity();
                continue;
            }
            P.row(r).head(begin).setZero();
            P.row(r).tail(w.N_kv - end).setZero();
            auto seen = P.row(r).segment(begin, end - begin);
            const double m = seen.maxCoeff();
            seen = seen.unaryExpr([m](double S) { return std::exp(S - m); });
            const double l = seen.sum();
            seen /= l;
            sums.L[first + r] = m + std::log(l);
        }
        const ReferenceMatrix<double> O = P * h.V;
        sums.D.segment(first, count) = h.dO.middleRows(first, count).cwiseProduct(O).rowwise().sum();
    };
    pool.run(blocks.count(), walk, stop);
    return sums;
}

template <class T>
ReferenceKeyRow<T> reference_key_row(const ReferenceHead<T>& h, const ReferenceSums& sums, std::int64_t j,
                                     std::int64_t turn) {
    // Column j of P = exp(scale · Q Kᵀ − L) and of dS = P ⊙ (dO Vᵀ − D)
    const DType type = h.w.dtype;
    ReferenceVector<T> P = h.scale * multiply<T>(h.Q, h.K.row(j), turn);
    store_as(type, P);
    for (std::int64_t i = 0; i < h.w.N_q; ++i) {
        const bool seen = j >= h.w.first_key(i) && j <= h.w.last_key(i);
        P[i] = seen ? std::exp(P[i] - static_cast<T>(sums.L[i])) : 0;
    }
    store_as(type, P);
    ReferenceVector<T> dP = multiply<T>(h.dO, h.V.row(j), turn);
    store_as(type, dP);
    ReferenceVector<T> dS = P.array() * (dP.array() - sums.D.cast<T>().array());
    store_as(type, dS);
    return {h.scale * (h.Q.transpose() * dS), h.dO.transpose() * P};
}

template <class T>
ReferenceOutputs<T> reference_outputs(const Workload& w, const Tensors& inputs, std::int64_t turn,
                                      bool P_from_L) {
    using Rows = Eigen::Map<RowMajor<T>>;
    const bool backward = w.direction == Direction::backward;
    const auto zeros = [](std::int64_t size) { return std::vector<T>(static_cast<std::size_t>(size), T(0)); };
    ReferenceOutputs<T> out{zeros(w.q_rows() * w.d), zeros(w.q_rows()), {}, {}, {}, zeros(w.q_rows())};
    if (backward) {
        out.dQ = zeros(w.q_rows() * w.d);
        out.dK = out.dV = zeros(w.kv_rows() * w.d);
    }
    Rows O(out.O.data(), w.q_rows(), w.d), dQ(out.dQ.data(), backward ? w.q_rows() : 0, w.d),
        dK(out.dK.data(), backward ? w.kv_rows() : 0, w.d), dV(out.dV.data(), dK.rows(), w.d);
    for (std::int64_t head = 0; head < w.batch * w.heads; ++head) {
        ReferenceHead<T> h(w, inputs, head);
        h.P_from_L = P_from_L;
        for (std::int64_t i = 0; i < w.N_q; ++i) {
            const ReferenceRow<T> row = reference_row(h, i, turn);
            const std::int64_t at = head * w.N_q + i;
            O.row(at) = row.O.transpose();
            out.L[static_cast<std::size_t>(at)] = row.L;
            out.L_of_stored[static_cast<std::size_t>(at)] = row.L_of_stored;
            if (!backward || row.P.size() == 0) continue;
            dQ.row(at) = row.dQ.transpose();
            const std::int64_t first = cpu::kv_head_of(w, head) * w.N_kv + row.first;
            dV.middleRows(first, row.P.size()) += row.P * h.dO.row(i);
            dK.middleRows(first, row.P.size()) += h.scale * row.dS * h.Q.row(i);
        }
    }
    store_as(w.dtype, out.dK);
    store_as(w.dtype, out.dV);
    return out;
}

template void store_as(DType, ReferenceVector<float>&);
template void store_as(DType, ReferenceVector<double>&);
template struct ReferenceHead<float>;
template struct ReferenceHead<double>;
template ReferenceRow<float> reference_row(const ReferenceHead<float>&, std::int64_t, std::int64_t);
template ReferenceRow<double> reference_row(const ReferenceHead<double>&, std::int64_t, std::int64_t);
template ReferenceKeyRow<float> reference_key_row(const ReferenceHead<float>&, const ReferenceSums&,
                                                  std::int64_t, std::int64_t);
template ReferenceKeyRow<double> reference_key_row(const ReferenceHead<double>&, const ReferenceSums&,
                                                   std::int64_t, std::int64_t);
template ReferenceOutputs<float> reference_outputs<float>(const Workload&, const Tensors&, std::int64_t,
                                                          bool);
template ReferenceOutputs<double> reference_outputs<double>(const Workload&, const Tensors&, std::int64_t,
                                                            bool);

}  // namespace tilewalk
