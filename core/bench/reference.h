// Attention row by row, as plainly as it can be written, in double or in float. In double it is the oracle
// that the kernels are held against; in float it is the standard attention that they may not be much worse
// than. Where the workload is of 16 bits, float stands for sums alone, as in tensor cores: S, P, O, dP, dS
// and the gradients are rounded to the type, as standard attention stores them.
#pragma once

#include "core/engine/engine.h"
#include "core/engine/pool.h"

#include <Eigen/Core>

namespace tilewalk {

template <class T> using ReferenceMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T> using ReferenceVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// The matrices of one query head and of the key head that it reads, in the format T. dO is empty forward.
template <class T> struct ReferenceHead {
    ReferenceHead(const Workload& workload, const Tensors& inputs, std::int64_t head);

    const Workload& w;
    T scale;
    ReferenceMatrix<T> Q, K, V, dO;   ///< N_q × d, N_kv × d, N_kv × d, N_q × d
    bool P_from_L = false;            ///< the gradients take P = exp(S − L), with L rounded to T
    bool adds_keys_in_order = false;  ///< O = P V one key after the other, as a library does it for a row
};

/// What query row i gives. P and dS hold the keys that it sees alone, from `first` on.
template <class T> struct ReferenceRow {
    std::int64_t first = 0;
    ReferenceVector<T> P, O;
    T L = 0, L_of_stored = 0;   ///< of scores in float, and of those that are stored in the type
    ReferenceVector<T> dS, dQ;  ///< empty forward
    T D = 0;
};
/// Sums over d begin at element `turn` and go round: another order, another rounding.
template <class T>
ReferenceRow<T> reference_row(const ReferenceHead<T>& head, std::int64_t i, std::int64_t turn = 0);

/// L and D of all query rows of a head in double, many rows at a time; unfinished when stopped.
struct ReferenceSums {
    ReferenceVector<double> L, D;  ///< N_q
};
ReferenceSums reference_sums(const ReferenceHead<double>& head, cpu::ThreadPool& pool, std::stop_token stop);

/// Rows j of dK and of dV, the part that comes from this query head, from its L and D, not yet rounded to 16
/// bits; `turn` as above.
template <class T> struct ReferenceKeyRow { ReferenceVector<T> dK, dV; };
template <class T>
ReferenceKeyRow<T> reference_key_row(const ReferenceHead<T>& head, const ReferenceSums& sums, std::int64_t j,
                                     std::int64_t turn = 0);

/// x as standard attention stores it: in float rounded to the type, in double untouched.
template <class T> void store_as(DType type, ReferenceVector<T>& x);

/// All outputs of a small workload, in the layout of Tensors; `turn` as above.
template <class T> struct ReferenceOutputs { std::vector<T> O, L, dQ, dK, dV, L_of_stored; };
template <class T>
ReferenceOutputs<T> reference_outputs(const Workload& workload, const Tensors& inputs, std::int64_t turn = 0,
                                      bool P_from_L = false);

}  // namespace tilewalk
