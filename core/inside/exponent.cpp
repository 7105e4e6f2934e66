#include "core/inside/exponent.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tilewalk::inside {

namespace {

constexpr float log2_e = 1.4426950408889634f;  // as the kernels have it
constexpr int looks_back = 1024;               ///< steps of the warp
constexpr std::size_t most_read = 4;

struct ReadL {
    int step;
    float value;
    bool has_factor;
};

// The nearest first: what the lane has read of L.
std::vector<ReadL> read_before(const BlockRecord& block, const Steps& steps, const Origins& origins, int warp,
                               int k, int lane) {
    std::vector<ReadL> out;
    for (int n = k - 1; n >= std::max(0, k - looks_back) && out.size() < most_read; --n) {
        const std::uint32_t at = steps.event(warp, n);
        const Event& event = block.events[at];
        if (event.op != Op::load || event.bytes != 4 || !event.has(lane) || origins.matter(at) != Matter::L)
            continue;
        const auto words = block.words_of(event, lane);
        out.push_back({n, std::bit_cast<float>(words[1]), is_shared(words[0])});
    }
    return out;
}

// As the compiler may have made it: with one rounding, or with two.
bool gives(float S, float factor, float L, std::uint32_t x) {
    const float product = S * factor;
    return std::bit_cast<std::uint32_t>(std::fma(S, factor, -L)) == x ||
           std::bit_cast<std::uint32_t>(product - L) == x;
}

}  // namespace

std::optional<ScoreBehind> score_behind(const BlockRecord& block, const Steps& steps, const Origins& origins,
                                        int warp, int k, int lane, float scale) {
    const Event& exponential = block.events[steps.event(warp, k)];
    if (exponential.op != Op::exp2 || !exponential.has(lane) || !origins.is_backward()) return std::nullopt;
    const std::uint32_t x = block.words_of(exponential, lane)[0];
    const std::vector<ReadL> read = read_before(block, steps, origins, warp, k, lane);
    for (int n = k - 1; n >= std::max(0, k - looks_back) && !read.empty(); --n) {
        const std::uint32_t at = steps.event(warp, n);
        const Event& event = block.events[at];
        const int first = first_sum(event.op);
        if (first < 0 || !event.has(lane) || origins.matter(at) != Matter::S) continue;
        const auto words = block.words_of(event, lane);
        for (std::size_t word = static_cast<std::size_t>(first); word < words.size(); ++word) {
            const float S = std::bit_cast<float>(words[word]);
            for (const ReadL& L : read)
                if (gives(S, scale * log2_e, L.has_factor ? L.value : L.value * log2_e, x))
                    return ScoreBehind{n, static_cast<int>(word), S, L.step, L.value, L.has_factor};
        }
    }
    return std::nullopt;
}

}  // namespace tilewalk::inside
