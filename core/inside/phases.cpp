#include "core/inside/phases.h"

#include "core/base/words.h"
#include "core/inside/sums.h"

namespace tilewalk::inside {

namespace {

constexpr std::size_t group_warps = 4;  // that multiply together

// By plain arithmetic, which no record has: what is read from shared memory says what is computed of it. In
// the backward pass each matrix is a factor of several products, but L and D are of one.
Phase phase_of_load(Matter matter, bool backward) {
    if (backward) return matter == Matter::L ? Phase::weights : matter == Matter::D ? Phase::dS : Phase::none;
    switch (matter) {
    case Matter::Q:
    case Matter::K: return Phase::scores;
    case Matter::S: return Phase::softmax;
    case Matter::P:
    case Matter::V: return Phase::output;
    default: return Phase::none;
    }
}

/// A tile of a matrix.
struct PassingTile {
    Matter matter = Matter::none;
    int number = -1;
};

// Which tile a step takes from shared memory: of what stays in a block nobody asks. Products in the
// background take what passes by as B.
PassingTile tile_of(const Record& record, const BlockRecord& block, const Origins& origins, std::uint32_t n) {
    const Event& event = block.events[n];
    const auto words = block.words_of(event);
    if (event.op == Op::multiply_async) {
        const auto box = fetch_to(block, TileProduct(words).chunks_of_B().front(), n);
        return box ? PassingTile{matter_of(record, box->from), tile_of_box(record, *box)} : PassingTile{};
    }
    if (!info(event.op).reads || !is_shared(words[0])) return {};
    const auto from = origins.global_source(words[0], n);
    const auto element = from ? element_of(record, *from) : std::nullopt;
    if (!element) return {};
    const Matter matter = matter_of(record, *from);
    const bool keys = matter == Matter::K || matter == Matter::V,
               queries = matter == Matter::Q || matter == Matter::dO;
    const bool passes = origins.is_backward() ? queries : keys;
    return passes ? PassingTile{matter, tile_of_row(record, matter, element->row)} : PassingTile{};
}

Phase phase_of_sum(Matter sum) {
    switch (sum) {
    case Matter::S: return Phase::scores;
    case Matter::O: return Phase::output;
    case Matter::dP: return Phase::dP;
    case Matter::dV: return Phase::dV;
    case Matter::dK: return Phase::dK;
    case Matter::dQ: return Phase::dQ;
    default: return Phase::none;
    }
}

// Of the softmax; in the backward pass weights are only computed again.
Phase phase_of_weights(const Origins& origins, bool known) {
    if (!known) return Phase::exponentials;
    return origins.is_backward() ? Phase::weights : Phase::softmax;
}

}  // namespace

Phase phase_of(const BlockRecord& block, const Origins& origins, std::uint32_t n, bool known) {
    const Event& event = block.events[n];
    const Matter matter = origins.matter(n);
    const auto words = block.words_of(event);
    const bool in_shared = !words.empty() && is_shared(words[0]);  // where the words begin with an address
    switch (event.op) {
    case Op::load:
    case Op::load_matrices:
    case Op::load_transposed:
        return known && in_shared ? phase_of_load(matter, origins.is_backward()) : Phase::none;
    case Op::store:
        if (known && in_shared && matter == Matter::S) return Phase::scores;
        return known && in_shared && matter == Matter::P ? phase_of_weights(origins, known) : Phase::none;
    case Op::multiply_add:
    case Op::multiply_async: return phase_of_sum(matter);
    case Op::exp2:
    case Op::exp: return phase_of_weights(origins, known);
    case Op::pack:
        // Of the forward pass weights are packed between the products that take them.
        if (!known || !origins.is_backward()) return Phase::none;
        return matter == Matter::dS ? Phase::dS : matter == Matter::P ? Phase::weights : Phase::none;
    default: return Phase::none;
    }
}

std::vector<PhaseStretch> phases_of(const Record& record, const BlockRecord& block, const Steps& steps,
                                    const Origins& origins, int warp, bool known) {
    std::vector<PhaseStretch> out;
    for (int k = 0; k < steps.count(warp); ++k) {
        const std::uint32_t n = steps.event(warp, k);
        const Phase phase = phase_of(block, origins, n, known);
        if (phase == Phase::none) continue;
        // What is read for dS while dV is multiplied in the background does not end that.
        if (phase == Phase::dS && block.events[n].op == Op::load && !out.empty() &&
            out.back().phase == Phase::dV)
            continue;
        const int slot = steps.slot(warp, k);
        const bool begins = out.empty() || out.back().phase != phase;
        if (begins) out.push_back({phase, slot, slot});
        out.back().last = slot;
        // Looking for a fetch goes back through the record: once for a stretch.
        if (!begins && (out.back().tile >= 0 || block.events[n].op == Op::multiply_async)) continue;
        const PassingTile tile = tile_of(record, block, origins, n);
        out.back().tile = tile.number, out.back().passes = tile.matter;
    }
    return out;
}

std::vector<WarpRole> roles_of(const BlockRecord& block, int warps) {
    using Kind = WarpRole::Kind;
    std::vector<Kind> groups((static_cast<std::size_t>(warps) + group_warps - 1) / group_warps, Kind::none);
    bool any = false;
    for (const Event& event : block.events) {
        Kind& group = groups[event.warp / group_warps];
        if (event.op == Op::fetch_tile) group = Kind::producer, any = true;
        if (event.op == Op::multiply_async && group == Kind::none) group = Kind::consumer;
    }
    std::vector<WarpRole> out(static_cast<std::size_t>(warps));
    int consumers = 0;
    for (std::size_t w = 0; any && w < out.size(); ++w) {
        const Kind kind = groups[w / group_warps];
        consumers += kind == Kind::consumer && w % group_warps == 0;
        out[w] = {kind, kind == Kind::consumer ? consumers : 0};
    }
    return out;
}

std::string role_text(const WarpRole& role) {
    switch (role.kind) {
    case WarpRole::Kind::producer: return "producer";
    case WarpRole::Kind::consumer: return "consumer " + str(role.number);
    default: return "";
    }
}

}  // namespace tilewalk::inside
