#include "core/inside/reasons.h"

#include "core/base/words.h"

#include <algorithm>
#include <bit>

namespace tilewalk::inside {

namespace {

constexpr int looks_on = 4;  ///< steps

/// What plain arithmetic makes of what is read from shared memory, or what is put there.
struct SharedReason {
    Op op;
    Matter matter;
    const char* forward;
    const char* backward;  ///< null: the same
};
constexpr SharedReason shared_reasons[] = {
    {Op::load, Matter::Q, "Q's numbers of the lane's rows, a column of the tile: one factor of its scores.",
     "Q's numbers: a factor of the scores, and of dK."},
    {Op::load, Matter::K, "K's numbers of the lane's keys, a column of the tile: one factor of its scores.",
     "K's numbers: a factor of the scores, and of dQ."},
    {Op::load, Matter::V, "V's numbers of a key, for the lane's columns: they are weighed and added to O.",
     "V's numbers: a factor of dP."},
    {Op::load, Matter::dO, "dO's numbers: a factor of dP, and of dV.", nullptr},
    {Op::load, Matter::P, "The weight of a key, for the lane's rows: V is multiplied by it and added to O.",
     "Weights: dO is multiplied by them and added to dV."},
    {Op::load, Matter::L,
     "L of the lane's queries: P = exp(S · scale − L) needs no maximum and no sum any more.", nullptr},
    {Op::load, Matter::D, "D of the lane's queries: dS = P ⊙ (dP − D).", nullptr},
    {Op::store, Matter::S,
     "Scores go to shared memory: the lanes that take the maximum of a row are others than those that have "
     "summed them up.",
     nullptr},
    {Op::store, Matter::P,
     "The weight is written over the score that it was made of: O is summed up from there.",
     "Weights go to shared memory, where other warps read them as a factor of dV."},
    {Op::store, Matter::dS, "dS goes to shared memory, where other warps read it as a factor of dK and dQ.",
     nullptr},
};

const Event& event_at(const BlockRecord& block, const Steps& steps, int warp, int k) {
    return block.events[steps.event(warp, k)];
}

// Of a score that is read: whether its weight is written over it. An exponential alone does not say so:
// behind the last score of a maximum comes that of α.
bool becomes_weight(const BlockRecord& block, const Steps& steps, int warp, int k) {
    const std::uint32_t address = block.words_of(event_at(block, steps, warp, k))[0];
    for (int later = k + 1; later <= std::min(k + looks_on, steps.count(warp) - 1); ++later) {
        const Event& event = event_at(block, steps, warp, later);
        if (event.op == Op::store && event.lanes != 0) return block.words_of(event)[0] == address;
        if (event.op == Op::load) return false;
    }
    return false;
}

// What a step loads from device memory and stores to shared memory behind it.
bool is_brought(const BlockRecord& block, const Steps& steps, const Origins& origins, int warp, int k) {
    const Matter matter = origins.matter(steps.event(warp, k));
    for (int later = k + 1; later <= std::min(k + looks_on, steps.count(warp) - 1); ++later) {
        const Event& event = event_at(block, steps, warp, later);
        if (event.op == Op::store)
            return is_shared(block.words_of(event)[0]) && origins.matter(steps.event(warp, later)) == matter;
    }
    return false;
}

std::string reason_of_device(const BlockRecord& block, const Steps& steps, const Origins& origins, int warp,
                             int k) {
    const std::uint32_t n = steps.event(warp, k);
    const std::string name = symbol_of(origins.matter(n));
    if (name.empty()) return {};
    if (block.events[n].op == Op::store)
        return name +
               " leaves for HBM: each lane writes its own numbers, and neighbours fill a sector together.";
    if (is_brought(block, steps, origins, warp, k))
        return "Part of " + name +
               "'s tile on its way through registers: the store behind it brings it to shared "
               "memory, where all warps of the block read it.";
    return {};
}

std::string reason_of_access(const BlockRecord& block, const Steps& steps, const Origins& origins, int warp,
                             int k) {
    const std::uint32_t n = steps.event(warp, k);
    const Event& event = block.events[n];
    if (event.lanes == 0) return {};
    if (!is_shared(block.words_of(event)[0])) return reason_of_device(block, steps, origins, warp, k);
    const Matter matter = origins.matter(n);
    if (event.op == Op::load && matter == Matter::S)
        return becomes_weight(block, steps, warp, k)
                   ? "A score of the lane's row, for its weight: exp((S − m) · scale) is next."
                   : "A score of the lane's row, for the maximum m: all of the row are looked at before the "
                     "first exponential.";
    const bool inputs = matter == Matter::Q || matter == Matter::K || matter == Matter::V ||
                        matter == Matter::dO || matter == Matter::L || matter == Matter::D;
    if (event.op == Op::store && inputs)
        return std::string(symbol_of(matter)) +
               "'s tile comes to shared memory: fetched once, it is read by all warps of the block.";
    for (const SharedReason& of : shared_reasons)
        if (of.op == event.op && of.matter == matter)
            return origins.is_backward() && of.backward ? of.backward : of.forward;
    return {};
}

/// What lanes make of two numbers, one given and one got: the next shuffle gives it.
const char* made_of_both(const BlockRecord& block, const Steps& steps, int warp, int k) {
    const auto is_shuffle = [&](int n) {
        return n >= 0 && n < steps.count(warp) && event_at(block, steps, warp, n).op == Op::shuffle;
    };
    const int first = is_shuffle(k + 1) ? k : k - 1;
    if (!is_shuffle(first) || !is_shuffle(first + 1)) return "the larger of both numbers, or their sum,";
    const Event &here = event_at(block, steps, warp, first), &next = event_at(block, steps, warp, first + 1);
    bool larger = here.lanes == next.lanes, sum = larger;
    block.each_lane(here, [&](int lane, auto words) {
        if (!next.has(lane)) return;
        const float given = std::bit_cast<float>(words[0]), got = std::bit_cast<float>(words[2]),
                    gives = std::bit_cast<float>(block.words_of(next, lane)[0]);
        larger = larger && gives == std::max(given, got), sum = sum && gives == given + got;
    });
    return larger == sum ? "the larger of both numbers, or their sum,"
           : larger      ? "the larger of both numbers"
                         : "the sum of both numbers";
}

// Which lanes give each other a register: by one bit of their numbers, or all from some.
std::string reason_of_shuffle(const BlockRecord& block, const Steps& steps, int warp, int k) {
    const Event& event = event_at(block, steps, warp, k);
    std::uint32_t apart = 0;
    bool same = true, any = false;
    int first = 0, asked = 0;
    block.each_lane(event, [&](int lane, auto words) {
        const std::uint32_t here = static_cast<std::uint32_t>(lane) ^ words[1];
        if (!any) apart = here, any = true, first = lane, asked = static_cast<int>(words[1]);
        same = same && here == apart;
    });
    if (same && std::has_single_bit(apart))
        return "Lanes whose numbers differ by " + str(apart) + " give each other a register, as " +
               str(first) + " and " + str(asked) + ", without any memory. Each then has " +
               made_of_both(block, steps, warp, k) + " of a row that they share.";
    return "Each lane takes a register of another one, as " + str(first) + " that of " + str(asked) +
           ": a number of a row that they share, without any memory.";
}

std::string reason_of_exponential(const Origins& origins, Op op) {
    const bool backward = origins.is_backward();
    const std::string x = backward ? "S · scale − L" : "(S − m) · scale";
    // As one word: a formula is not broken.
    const std::string power = " The hardware knows powers of two only: " +
                              replaced("x = " + (backward ? "(" + x + ")" : x) + " · log₂ e.", " ", "\u00a0");
    return (backward ? "P = exp(" + x + "): the weight once more, from its score and L alone."
                     : "P̃ = exp(" + x + "): the weight of a score, not yet divided by ℓ.") +
           (op == Op::exp2 ? power : "");
}

}  // namespace

std::string reason_of_step(const Record& record, const BlockRecord& block, const Steps& steps,
                           const Origins& origins, int warp, int k, bool known) {
    const Event& event = event_at(block, steps, warp, k);
    switch (event.op) {
    case Op::load:
    case Op::store: return known && record.Bc > 0 ? reason_of_access(block, steps, origins, warp, k) : "";
    case Op::exp:
    case Op::exp2: return known && record.Bc > 0 ? reason_of_exponential(origins, event.op) : "";
    case Op::shuffle: return event.lanes == 0 ? "" : reason_of_shuffle(block, steps, warp, k);
    case Op::wait_products: {
        const std::string name = symbol_of(origins.matter(steps.event(warp, k)));
        return name.empty()
                   ? ""
                   : name + " is there: this warp has 16 of the group's 64 rows of it in its registers, and "
                            "may look at them from here on. What the products have read is free.";
    }
    default: return {};
    }
}

}  // namespace tilewalk::inside
