// The sentences of the study: what cannot be studied, and what the numbers come to.
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/study/memory_study.h"

#include <cmath>

namespace tilewalk {

namespace {

struct Bounded {
    const char* name;
    std::int64_t value, most;
};

std::optional<std::string> outside(const Bounded& b) {
    if (b.value >= 1 && b.value <= b.most) return std::nullopt;
    return std::string(b.name) + " is " + str(b.value) + ", expected 1 to " + str(b.most) + ".";
}

std::optional<std::string> not_positive(const char* name, const Figure& figure) {
    if (std::isfinite(figure.value) && figure.value > 0) return std::nullopt;
    return std::string("The hardware's ") + name + " is " + format_full(figure.value) +
           ", expected a positive number.";
}

std::string heads_of(const StudyInput& in) {
    const std::int64_t all = in.heads * in.batch;
    return all == 1 ? "one head" : format_count(all) + " heads";
}

// S and P against the capacity
std::string memory_sentence(const Study& s) {
    const StudyInput& in = s.input;
    const double need = 2.0 * static_cast<double>(in.N) * static_cast<double>(in.N) * in.element_bytes *
                        static_cast<double>(in.heads) * static_cast<double>(in.batch);
    const bool fits = in.N < s.first_N_too_large;
    return "S and P of " + heads_of(in) + " would take " + format_large_size(need) +
           (fits ? ", which fits into " : ", more than ") + format_large_size(in.hardware.capacity.value) +
           " (" + in.hardware.name + "); the first N that does not fit is " +
           format_count(s.first_N_too_large) + ".";
}

std::string fewer(const Study& s) {
    const double ratio = s.saving(Algorithm::flash2);
    if (ratio >= 1.005)
        return "FlashAttention-2 moves " + format_number(ratio, ratio < 1.095 ? 3 : 2) +
               "× fewer bytes than standard";
    if (ratio > 0.995) return "FlashAttention-2 moves about as many bytes as standard";
    return "Standard attention moves fewer bytes here: with " + format_count(s.shape.Br) +
           " rows per block, FlashAttention-2 reads K and V " + format_count(s.shape.Tr()) + " times";
}

std::string flash1_remark(const Study& s) {
    if (s.saving(Algorithm::flash1) >= 1 || s.saving(Algorithm::flash2) <= 1) return "";
    const std::string blocks =
        s.shape.Tc() == 1 ? "the only key block" : "each of " + format_count(s.shape.Tc()) + " key blocks";
    return ", FlashAttention-1 more: it fetches and stores O for " + blocks;
}

std::string limits(const Study& s) {
    const bool standard = s.of(Algorithm::standard).bound.memory_bound(),
               flash = s.of(Algorithm::flash2).bound.memory_bound();
    // What FlashAttention fetches again is mostly in the L2 cache; S and P of standard attention are too
    // large for it.
    const char* const cached = s.once.memory_bound() ? "" : ", with a cache standard alone";
    if (standard && flash) return std::string("; both wait for memory") + cached + ".";
    if (standard) return "; standard waits for memory, FlashAttention-2 is limited by arithmetic.";
    if (flash)
        return "; without a cache FlashAttention-2 waits for memory, standard is limited by arithmetic.";
    return "; both are limited by arithmetic.";
}

}  // namespace

std::optional<std::string> refuse(const StudyInput& in) {
    for (const Bounded& b : {Bounded{"N", in.N, largest_N}, Bounded{"d", in.d, largest_d},
                             Bounded{"The number of heads", in.heads, largest_heads},
                             Bounded{"The batch", in.batch, largest_batch},
                             Bounded{"Br", in.tile.Br, largest_N}, Bounded{"Bc", in.tile.Bc, largest_N}})
        if (auto sentence = outside(b)) return sentence;
    for (std::int64_t N : in.lengths)
        if (auto sentence = outside({"N", N, largest_N})) return sentence;
    if (in.element_bytes != 1 && in.element_bytes != 2 && in.element_bytes != 4)
        return "An element has " + str(in.element_bytes) + " bytes, expected 4 (fp32), 2 (fp16) or 1 (fp8).";
    const Hardware& h = in.hardware;
    if (auto sentence = not_positive("capacity", h.capacity)) return sentence;
    if (auto sentence = not_positive("bandwidth", h.bandwidth)) return sentence;
    if (auto sentence = not_positive("shared memory per SM", h.shared)) return sentence;
    const Figure peak{h.peak(in.element_bytes), ""};
    return not_positive("peak", peak);
}

std::string traffic_verdict(const Study& s) { return fewer(s) + flash1_remark(s) + limits(s); }

std::string verdict(const Study& s) { return memory_sentence(s) + " " + traffic_verdict(s); }

}  // namespace tilewalk
