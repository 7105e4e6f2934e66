#include "core/bench/verify.h"

#include "core/base/float16.h"
#include "core/bench/compared.h"
#include "core/bench/reference.h"
#include "core/engine/heads.h"

#include <limits>
#include <random>
#include <set>

namespace tilewalk {

namespace {

using namespace of_tensor;

KernelVerdict stopped() { return {false, 0, 0, "Stopped before it was verified."}; }

// The orders of adding that standard attention is tried with, by where its sums over d begin.
std::set<std::int64_t> turns(const Workload& w) { return {0, w.d / 4, w.d / 2, 3 * w.d / 4}; }

// A whole tensor of `width` columns, `N` rows for each head.
void look_at_all(Compared& tensor, const std::vector<float>& x, const std::vector<double>& exact,
                 std::int64_t N, std::int64_t width) {
    for (std::size_t k = 0; k < exact.size(); ++k) {
        const std::int64_t at = static_cast<std::int64_t>(k), row = at / width;
        const float found = k < x.size() ? x[k] : std::numeric_limits<float>::quiet_NaN();
        tensor.look(found, exact[k], row / N, row % N, at % width);
    }
}
void look_at_standard(Compared& tensor, const std::vector<float>& x, const std::vector<double>& exact) {
    for (std::size_t k = 0; k < exact.size(); ++k) tensor.look_at_standard(x[k], exact[k]);
}

// What is run, with the sizes that `like` shall keep.
struct Small {
    std::int64_t batch, N_q, N_kv;
    float spread;
};
// Of tiny problems there are many: the largest error of a few elements alone would be chance.
constexpr Small smalls[] = {{32, 1, 1, 1},    {8, 1, 77, 1},   {2, 65, 33, 1},
                            {1, 300, 517, 1}, {2, 33, 129, 1}, {2, 97, 97, 4}};

Workload small_workload(const Workload& like, const Small& size, const KernelInfo& kernel) {
    Workload w = like;
    const std::int64_t group = std::min<std::int64_t>(like.heads / like.kv_heads, 4);
    // Rows of one or two elements are few chances for the largest error, which would then be luck.
    w.batch = size.batch * (like.d < 3 ? 16 : 1), w.N_q = size.N_q, w.N_kv = size.N_kv;
    if (kernel.most_queries > 0) w.N_q = std::min(w.N_q, kernel.most_queries);
    w.kv_heads = std::min<std::int64_t>(like.kv_heads, 2), w.heads = w.kv_heads * group;
    if (like.window) w.window = std::min<std::int64_t>(*like.window, 20);
    return w;
}

// `count` of the rows 0 … N − 1, the first and the last among them, in order.
std::vector<std::int64_t> sampled(std::int64_t N, std::int64_t count, std::mt19937_64& random) {
    std::set<std::int64_t> rows{0, N - 1};
    while (static_cast<std::int64_t>(rows.size()) < std::min(N, count))
        rows.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(N)));
    return {rows.begin(), rows.end()};
}

// One row, and the same of standard attention
template <class Vector>
void look_at_row(Compared& tensor, const std::vector<float>& x, const Vector& exact, std::int64_t N,
                 std::int64_t head, std::int64_t row) {
    const float* const begin = x.data() + (head * N + row) * exact.size();
    for (Eigen::Index c = 0; c < exact.size(); ++c) tensor.look(begin[c], exact[c], head, row, c);
}
template <class Floats, class Vector>
void look_at_standard_row(Compared& tensor, const Floats& x, const Vector& exact) {
    for (Eigen::Index c = 0; c < exact.size(); ++c) tensor.look_at_standard(x[c], exact[c]);
}

// Rows of O, L and dQ of one head
void look_at_queries(AllCompared& all, const Tensors& out, const Workload& w, const Tensors& inputs,
                     std::int64_t head, const std::vector<std::int64_t>& rows, const KernelInfo& kernel,
                     const std::stop_token& stop) {
    const bool backward = w.direction == Direction::backward;
    const ReferenceHead<double> exact_head(w, inputs, head);
    ReferenceHead<float> standard_head(w, inputs, head);
    standard_head.P_from_L = kernel.P_from_L;
    standard_head.adds_keys_in_order = kernel.materialises;
    for (std::int64_t i : rows) {
        if (stop.stop_requested()) return;
        const auto exact = reference_row(exact_head, i);
        look_at_row(all[O], out.O, exact.O, w.N_q, head, i);
        all[L].look(out.L[static_cast<std::size_t>(head * w.N_q + i)], exact.L, head, i, 0);
        if (backward) look_at_row(all[dQ], out.dQ, exact.dQ, w.N_q, head, i);
        for (std::int64_t turn : turns(w)) {
            const auto standard = reference_row(standard_head, i, turn);
            look_at_standard_row(all[O], standard.O, exact.O);
            all[L].look_at_standard(kernel.materialises ? standard.L_of_stored : standard.L, exact.L);
            if (backward) look_at_standard_row(all[dQ], standard.dQ, exact.dQ);
        }
    }
}

// The query heads that read one key head. The standard gets L and D of the reference, rounded to float32,
// which makes it only more exact.
template <class T> struct Group {
    std::vector<ReferenceHead<T>> heads;

    /// Rows j of dK and dV, summed over the heads.
    ReferenceKeyRow<T> key_row(const std::vector<ReferenceSums>& sums, std::int64_t j,
                               std::int64_t turn = 0) const {
        ReferenceKeyRow<T> sum;
        for (std::size_t g = 0; g < heads.size(); ++g) {
            const ReferenceKeyRow<T> row = reference_key_row(heads[g], sums[g], j, turn);
            if (g == 0) sum = row;
            if (g > 0) sum.dK += row.dK, sum.dV += row.dV;
        }
        store_as(heads.front().w.dtype, sum.dK);
        store_as(heads.front().w.dtype, sum.dV);
        return sum;
    }
};

// Rows of dK and dV of one key head
void look_at_keys(AllCompared& all, const Tensors& out, const Workload& w, const Tensors& inputs,
                  std::int64_t kv_head, const std::vector<std::int64_t>& rows, cpu::ThreadPool& pool,
                  const std::stop_token& stop) {
    Group<double> exact_group;
    Group<float> standard_group;
    std::vector<ReferenceSums> sums;
    const std::int64_t first = cpu::first_head_of(w, kv_head), group = w.heads / w.kv_heads;
    for (std::int64_t head = first; head < first + group && !stop.stop_requested(); ++head) {
        exact_group.heads.emplace_back(w, inputs, head);
        standard_group.heads.emplace_back(w, inputs, head);
        sums.push_back(reference_sums(exact_group.heads.back(), pool, stop));
    }
    std::vector<AllCompared> parts(rows.size(), nothing_compared(w.dtype));
    const auto look = [&](std::int64_t task, int) {
        AllCompared& part = parts[static_cast<std::size_t>(task)];
        const std::int64_t j = rows[static_cast<std::size_t>(task)];
        const auto exact = exact_group.key_row(sums, j);
        look_at_row(part[dK], out.dK, exact.dK, w.N_kv, kv_head, j);
        look_at_row(part[dV], out.dV, exact.dV, w.N_kv, kv_head, j);
        for (std::int64_t turn : turns(w)) {
            if (stop.stop_requested()) return;
            const auto standard = standard_group.key_row(sums, j, turn);
            look_at_standard_row(part[dK], standard.dK, exact.dK);
            look_at_standard_row(part[dV], standard.dV, exact.dV);
        }
    };
    pool.run(static_cast<std::int64_t>(rows.size()), look, stop);
    for (const AllCompared& part : parts) merge(all, part);
}

// Of a yardstick: whether it read every word of K and V once.
KernelVerdict verify_reading(const Tensors& out, const Workload& w, const Tensors& inputs) {
    using namespace gpu::emulator;
    std::uint32_t bits = 0;
    for (const std::vector<float>* tensor : {&inputs.K, &inputs.V})
        for (const float x : *tensor)
            bits ^= w.dtype == DType::f32   ? bits_of(x)
                    : w.dtype == DType::f16 ? from_float<f16>(x).bits
                                            : from_float<bf16>(x).bits;
    const double off = error_of(out.L.front(), bits & 0xffffff);
    KernelVerdict verdict{off == 0, off, 1, ""};
    if (off != 0) verdict.sentence = "Not every word of K and V was read once.";
    return verdict;
}

}  // namespace

KernelVerdict verify_outputs(const Tensors& out, const Workload& w, const Tensors& inputs,
                             const KernelInfo& kernel) {
    if (kernel.yardstick) return verify_reading(out, w, inputs);
    const auto exact = reference_outputs<double>(w, inputs);
    AllCompared all = nothing_compared(w.dtype);
    look_at_all(all[O], out.O, exact.O, w.N_q, w.d);
    look_at_all(all[L], out.L, exact.L, w.N_q, 1);
    look_at_all(all[dQ], out.dQ, exact.dQ, w.N_q, w.d);
    look_at_all(all[dK], out.dK, exact.dK, w.N_kv, w.d);
    look_at_all(all[dV], out.dV, exact.dV, w.N_kv, w.d);
    for (std::int64_t turn : turns(w)) {
        const auto standard = reference_outputs<float>(w, inputs, turn, kernel.P_from_L);
        look_at_standard(all[O], standard.O, exact.O);
        look_at_standard(all[L], kernel.materialises ? standard.L_of_stored : standard.L, exact.L);
        look_at_standard(all[dQ], standard.dQ, exact.dQ);
        look_at_standard(all[dK], standard.dK, exact.dK);
        look_at_standard(all[dV], standard.dV, exact.dV);
    }
    return verdict_of(all, w);
}

KernelVerdict verify_small(Engine& engine, const KernelInfo& kernel, const Workload& like,
                           std::stop_token stop) {
    KernelVerdict worst{true, 0, 0, ""};
    std::uint64_t seed = 1;
    for (const Small& size : smalls) {
        const Workload w = small_workload(like, size, kernel);
        if (engine.why_not(kernel, w)) continue;
        const Tensors inputs = make_inputs(w, seed++, size.spread);
        const auto prepared = engine.prepare(kernel, w, inputs, stop);
        if (!prepared || !prepared->run(stop)) return stopped();
        KernelVerdict verdict = verify_outputs(prepared->outputs(), w, inputs, kernel);
        if (!verdict.passed) return verdict;
        if (worst.limit == 0 || verdict.error / verdict.limit > worst.error / worst.limit) worst = verdict;
    }
    return worst;
}

KernelVerdict verify_rows(Prepared& prepared, const Workload& w, const Tensors& inputs, std::uint64_t seed,
                          std::stop_token stop, const KernelInfo& kernel) {
    constexpr std::int64_t query_samples = 32, key_samples = 16;
    const Tensors& out = prepared.outputs();
    if (kernel.yardstick) return verify_reading(out, w, inputs);
    const std::int64_t heads = w.batch * w.heads;
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::int64_t>> rows;
    for (std::int64_t head = 0; head < heads; ++head) rows.push_back(sampled(w.N_q, query_samples, random));

    cpu::ThreadPool pool(cpu::usable_cores());
    std::vector<AllCompared> parts(static_cast<std::size_t>(heads), nothing_compared(w.dtype));
    const auto look_at_head = [&](std::int64_t head, int) {
        const auto h = static_cast<std::size_t>(head);
        look_at_queries(parts[h], out, w, inputs, head, rows[h], kernel, stop);
    };
    pool.run(heads, look_at_head, stop);

    if (w.direction == Direction::backward) {
        const auto kv_heads = static_cast<std::uint64_t>(w.batch * w.kv_heads);
        const auto kv_head = static_cast<std::int64_t>(random() % kv_heads);
        look_at_keys(parts[0], out, w, inputs, kv_head, sampled(w.N_kv, key_samples, random), pool, stop);
    }
    if (stop.stop_requested()) return stopped();
    AllCompared all = nothing_compared(w.dtype);
    for (const AllCompared& part : parts) merge(all, part);
    return verdict_of(all, w);
}

}  // namespace tilewalk
