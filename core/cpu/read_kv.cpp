// read-kv: no attention, but what all of decoding must do at the least: every byte of K and V is read once,
// by the same threads, from the same memory. All elements, as they are stored, are combined by exclusive or,
// so that none can be left out; no kernel that reads them all is faster, and split-kv is measured by it.
#include "core/cpu/lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/read_kv.cpp"
#include <hwy/foreach_target.h>

#include "core/cpu/lanes-inl.h"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {
namespace {

// Several loads on their way at any time
constexpr int chains = 8;

// Of words of four bytes, each one element or two, and what is left of one at the end
std::uint32_t bits_of(const char* from, std::int64_t bytes) {
    const hn::RebindToUnsigned<Floats> words;
    hn::Vec<hn::RebindToUnsigned<Floats>> bits[chains];
#pragma GCC unroll 8
    for (int c = 0; c < chains; ++c) bits[c] = hn::Zero(words);
    std::int64_t at = 0;
    for (; at + 4 * chains * lanes <= bytes; at += 4 * chains * lanes)
#pragma GCC unroll 8
        for (int c = 0; c < chains; ++c) {
            const auto* const next = reinterpret_cast<const std::uint32_t*>(from + at) + c * lanes;
            bits[c] = hn::Xor(bits[c], hn::LoadU(words, next));
        }
#pragma GCC unroll 8
    for (int c = 1; c < chains; ++c) bits[0] = hn::Xor(bits[0], bits[c]);
    std::uint32_t each[lanes], all_bits = 0;
    hn::StoreU(bits[0], words, each);
    for (const std::uint32_t one : each) all_bits ^= one;
    for (; at < bytes; at += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, from + at, static_cast<std::size_t>(std::min<std::int64_t>(4, bytes - at)));
        all_bits ^= word;
    }
    return all_bits;
}

}  // namespace
}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/cpu/kernel.h"
#include "core/engine/heads.h"

namespace tilewalk::cpu {

HWY_EXPORT(bits_of);

namespace {

constexpr std::int64_t piece = 1 << 20;  // bytes of a task: as much as split_kv() reads in one

class ReadKv final : public Kernel {
public:
    ReadKv(const Workload& workload, ThreadPool& threads, CountedMemory&)
        : bytes(workload.kv_rows() * workload.d * bytes_of(workload.dtype)),
          halves(workload.dtype != DType::f32), pool(threads) {}

    void forward(const Views& t, std::stop_token stop) override {
        bits = 0;
        const std::int64_t pieces = ceil_div(bytes, piece);
        const auto read = [&](std::int64_t task, int) {
            const std::int64_t first = task % pieces * piece;
            bits ^= HWY_DYNAMIC_DISPATCH(bits_of)((task < pieces ? t.K : t.V).as<char>() + first,
                                                  std::min(piece, bytes - first));
        };
        pool.run(2 * pieces, read, stop);
        const std::uint32_t of_elements = halves ? (bits ^ bits >> 16) & 0xffff : bits & 0xffffff;
        t.L[0] = static_cast<float>(of_elements);
    }
    void backward(const Views&, std::stop_token) override {}  // the engine refuses it

private:
    const std::int64_t bytes;  // of K, and of V
    const bool halves;         // two elements in a word
    ThreadPool& pool;
    std::atomic<std::uint32_t> bits{0};
};

}  // namespace

const Rung& read_kv() {
    static const Rung rung{{.name = reading_kv,
                            .title = "Read K and V once",
                            .teaches = "No attention: the least that decoding must do, by the same threads",
                            .file = "core/cpu/read_kv.cpp",
                            .materialises = false,
                            .direction = Direction::forward,
                            .P_from_L = false,
                            .most_queries = 16,
                            .yardstick = true},
                           [](const Workload&, int) { return std::int64_t{0}; },
                           make_kernel<ReadKv>};
    return rung;
}

}  // namespace tilewalk::cpu
#endif
