#include "core/inside/uses.h"

#include "core/inside/accesses.h"

#include <algorithm>

namespace tilewalk::inside {

namespace {

constexpr int ahead = 512;                        ///< steps of the warp that registers are followed for
constexpr std::uint32_t events_ahead = 1u << 15;  ///< of the block that memory is followed for

using Part32 = std::span<const std::uint32_t>;

/// Bytes of shared memory that a lane's step wrote.
struct Written {
    std::uint32_t begin = 0, end = 0;
    bool overlaps(std::uint32_t from, std::uint32_t bytes) const {
        return from < end && from + bytes > begin;
    }
};

class Follower {
public:
    Follower(const BlockRecord& of_block, const Steps& of_steps, const Origins& of_origins,
             std::size_t at_most)
        : block(of_block), steps(of_steps), origins(of_origins), most(at_most) {}

    Uses run(int warp, int k, int lane) {
        const std::uint32_t n = steps.event(warp, k);
        const Event& event = block.events[n];
        const Part32 words = block.words_of(event, lane);
        if (!event.has(lane)) return {};
        switch (event.op) {
        case Op::copy_issued: follow_copy(n, words, lane); break;
        case Op::store:
            if (is_shared(words[0])) follow_memory(n + 1, {words[0], words[0] + event.bytes}, n);
            break;
        case Op::pack: follow_stored(n, lane); [[fallthrough]];
        case Op::load_matrices:
        case Op::load_transposed: follow_registers(warp, k, lane); break;
        case Op::exp2:
        case Op::exp: follow_exponential(warp, k, lane, words[1]); break;
        case Op::multiply_add: follow_sum(warp, k, lane); break;
        default: break;
        }
        return std::move(uses);
    }

private:
    void note(std::uint32_t n, int lane, std::uint32_t address) {
        ++uses.all;
        if (uses.steps.size() < most) uses.steps.push_back({n, lane, address});
    }

    // Its numbers are there from the arrival on.
    void follow_copy(std::uint32_t n, Part32 sent, int lane) {
        const Event& issue = block.events[n];
        const std::uint32_t end =
            std::min<std::uint32_t>(static_cast<std::uint32_t>(block.events.size()), n + events_ahead);
        for (std::uint32_t m = n + 1; m < end; ++m) {
            const Event& e = block.events[m];
            if (e.op != Op::copy_arrived || e.warp != issue.warp || !e.has(lane)) continue;
            const Part32 words = block.words_of(e, lane);
            if (words[0] != sent[0] || words[1] != sent[3]) continue;
            return follow_memory(m + 1, {sent[0], sent[0] + e.bytes}, m);
        }
    }

    // Reads of these bytes, until somebody writes there.
    void follow_memory(std::uint32_t from, Written bytes, std::uint32_t writer) {
        const std::uint32_t end =
            std::min<std::uint32_t>(static_cast<std::uint32_t>(block.events.size()), from + events_ahead);
        for (std::uint32_t n = from; n < end; ++n) {
            const Event& e = block.events[n];
            const bool writes = e.op == Op::store || e.op == Op::copy_arrived || e.op == Op::atomic_add;
            if (!writes && !info(e.op).reads) continue;
            for (int lane = 0; lane < 32; ++lane) {
                if (!e.has(lane)) continue;
                const std::uint32_t address = block.words_of(e, lane)[0];
                if (!is_shared(address) || !bytes.overlaps(address, e.bytes)) continue;
                if (writes && n != writer) return;
                note(n, lane, std::max(address, bytes.begin));
            }
        }
    }

    void follow_registers(int warp, int k, int lane) {
        for (int later = k + 1; later < std::min(steps.count(warp), k + ahead); ++later) {
            if (block.events[steps.event(warp, later)].op != Op::multiply_add) continue;
            const auto fills = [&](Part part) {
                for (int reg = 0; reg < info(part).registers; ++reg)
                    if (origins.filled(warp, later, part, reg).step == k) return true;
                return false;
            };
            if (fills(Part::A) || fills(Part::B)) note(steps.event(warp, later), lane, 0);
        }
    }

    // A word that is packed to be stored
    void follow_stored(std::uint32_t pack, int lane) {
        if (const auto store = stored_behind(block, pack, lane))
            note(*store, lane, block.words_of(block.events[*store], lane)[0]);
    }

    void follow_exponential(int warp, int k, int lane, std::uint32_t bits) {
        for (int later = k + 1; later < std::min(steps.count(warp), k + ahead); ++later) {
            const Event& e = block.events[steps.event(warp, later)];
            if (e.op != Op::pack || !e.has(lane)) continue;
            const Part32 words = block.words_of(e, lane);
            if (words[0] == bits || words[1] == bits) return note(steps.event(warp, later), lane, 0);
        }
    }

    void follow_sum(int warp, int k, int lane) {
        if (const int later = origins.continued_by(warp, k); later >= 0)
            note(steps.event(warp, later), lane, 0);
    }

    const BlockRecord& block;
    const Steps& steps;
    const Origins& origins;
    std::size_t most;
    Uses uses;
};

}  // namespace

Uses uses_of(const BlockRecord& block, const Steps& steps, const Origins& origins, int warp, int k, int lane,
             std::size_t most) {
    return Follower(block, steps, origins, most).run(warp, k, lane);
}

}  // namespace tilewalk::inside
