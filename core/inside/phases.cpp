#include "core/inside/phases.h"

#include "core/base/words.h"
#include "core/inside/sums.h"

namespace tilewalk::inside {

namespace {

constexpr std::size_t group_warps = 4;  // that multiply together

Phase phase_of_load(Matter matter) {
    if (matter == Matter::Q || matter == Matter::K) return Phase::scores;
    return matter == Matter::V ? Phase::output : Phase::none;
}

// Which rows of K or V a step takes from shared memory.
int tile_of(const Record& record, const BlockRecord& block, const Origins& origins, std::uint32_t n) {
    const Event& event = block.events[n];
    const auto words = block.words_of(event);
    std::optional<Element> element;
    if (event.op == Op::multiply_async) {
        element = fetched_element(record, block, TileProduct(words).chunks_of_B().front(), n);
    } else if (info(event.op).reads && is_shared(words[0])) {
        const auto from = origins.global_source(words[0], n);
        if (from) element = element_of(record, *from);
    }
    if (!element || record.Bc == 0) return -1;
    const std::string& name = record.regions[static_cast<std::size_t>(element->region)].name;
    return name == "K" || name == "V" ? element->row / record.Bc : -1;
}

}  // namespace

Phase phase_of(const BlockRecord& block, const Origins& origins, std::uint32_t n, bool known) {
    const Event& event = block.events[n];
    const Matter matter = origins.matter(n);
    switch (event.op) {
    case Op::load:
    case Op::load_matrices:
    case Op::load_transposed:
        return known && is_shared(block.words_of(event)[0]) ? phase_of_load(matter) : Phase::none;
    case Op::multiply_add:
    case Op::multiply_async:
        return matter == Matter::S ? Phase::scores : matter == Matter::O ? Phase::output : Phase::none;
    case Op::exp2:
    case Op::exp: return known ? Phase::softmax : Phase::exponentials;
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
        const int slot = steps.slot(warp, k);
        const bool begins = out.empty() || out.back().phase != phase;
        if (begins) out.push_back({phase, slot, slot, -1});
        out.back().last = slot;
        // Looking for a fetch goes back through the record: once for a stretch.
        if (begins || (out.back().tile < 0 && block.events[n].op != Op::multiply_async))
            out.back().tile = tile_of(record, block, origins, n);
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
