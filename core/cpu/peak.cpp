// The most that this machine can do: multiply-adds on registers alone, without a single load.
#include "core/cpu/lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/peak.cpp"
#include <hwy/foreach_target.h>

#include "core/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {
namespace {

// Twelve chains, so that none waits for its own last result: two multipliers of four cycles need eight
constexpr int chains = 12;

// Returns the multiplications and additions that it did; `sink` is there so that the compiler must do them.
double multiply_adds(std::int64_t rounds, float* sink) {
    Vector sum[chains];
    const Vector factor = all(sink[0]), more = all(sink[1]);
#pragma GCC unroll 16
    for (int c = 0; c < chains; ++c) sum[c] = all(static_cast<float>(c));
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
        for (int c = 0; c < chains; ++c) sum[c] = hn::MulAdd(sum[c], factor, more);
    }
    Vector total = sum[0];
#pragma GCC unroll 16
    for (int c = 1; c < chains; ++c) total = hn::Add(total, sum[c]);
    float parts[lanes];
    store(total, parts);
    for (const float part : parts) sink[0] += part;
    return 2.0 * lanes * chains * static_cast<double>(rounds);
}

}  // namespace
}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/cpu/kernel.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

namespace tilewalk::cpu {

HWY_EXPORT(multiply_adds);

namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// FLOP/s of one run on all threads
double rate_of(ThreadPool& pool, std::int64_t rounds) {
    std::vector<double> operations(static_cast<std::size_t>(pool.threads()));
    const double begin = seconds_now();
    pool.run(pool.threads(), [&](std::int64_t task, int) {
        volatile float input[] = {0.999f, 1e-6f};
        float sink[] = {input[0], input[1]};
        operations[static_cast<std::size_t>(task)] = HWY_DYNAMIC_DISPATCH(multiply_adds)(rounds, sink);
        input[0] = sink[0];
    });
    const double seconds = seconds_now() - begin;
    return std::accumulate(operations.begin(), operations.end(), 0.0) / seconds;
}

}  // namespace

double multiply_add_peak(ThreadPool& pool, std::stop_token stop) {
    // A run of a millisecond: longer than waking the threads takes
    std::int64_t rounds = 1024;
    for (double begin = seconds_now(); seconds_now() - begin < 0.001 && !stop.stop_requested(); rounds *= 2)
        begin = seconds_now(), rate_of(pool, rounds);
    // The longer ones lose less to that, the shorter ones find a moment when nobody else is at work
    double best = 0;
    for (const double end = seconds_now() + 0.25; seconds_now() < end;)
        for (const std::int64_t longer : {1, 2, 4, 8}) {
            if (stop.stop_requested()) return 0;
            best = std::max(best, rate_of(pool, rounds * longer));
        }
    return best;
}

}  // namespace tilewalk::cpu
#endif
