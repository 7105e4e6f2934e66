#include "core/inside/shared_map.h"

#include "core/inside/tiles.h"

#include <algorithm>
#include <bit>
#include <set>

namespace tilewalk::inside {

namespace {

constexpr std::uint32_t word_bytes = 4, row_of_banks = 128;
constexpr std::uint32_t largest_gap = 64;  ///< bytes that nobody writes within an area: the end of a row

/// What is written to a word of shared memory, all along.
struct WordUse {
    std::uint32_t matters = 0;
    std::uint32_t place = Place::none;
};

std::size_t rank_of(std::uint32_t lanes, int lane) {
    return static_cast<std::size_t>(std::popcount(lanes & ((1u << lane) - 1)));
}

std::vector<WordUse> uses_of_words(const BlockRecord& block, const Origins& origins) {
    std::vector<WordUse> out;
    const auto note = [&](std::uint32_t begin, std::uint32_t bytes, std::uint32_t n) {
        const std::size_t last = (begin + std::max(bytes, 1u) - 1) / word_bytes;
        if (last >= out.size()) out.resize(last + 1);
        for (std::size_t word = begin / word_bytes; word <= last; ++word) {
            out[word].matters |= 1u << static_cast<int>(origins.matter(n));
            if (origins.matter(n) == Matter::none) out[word].place = block.events[n].place;
        }
    };
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        const auto words = block.words_of(event);
        if (event.op == Op::fetch_tile) note(words[0], TileFetch(words).box_bytes, n);
        if (event.op != Op::copy_arrived && event.op != Op::store && event.op != Op::atomic_add) continue;
        for (std::size_t at = 0; at < words.size(); at += event.words)
            if (is_shared(words[at])) note(words[at], event.bytes, n);
    }
    return out;
}

}  // namespace

SharedMap::SharedMap(const BlockRecord& block, const Origins& origins) {
    const std::vector<WordUse> words = uses_of_words(block, origins);
    for (std::uint32_t n = 0; n < words.size(); ++n) {
        if (words[n].matters == 0) continue;
        const std::uint32_t begin = n * word_bytes, end = begin + word_bytes;
        SharedArea* const last = all.empty() ? nullptr : &all.back();
        // What warps have computed is told apart by where they store it.
        const bool goes_on =
            last && last->matters == words[n].matters && begin - last->end <= largest_gap &&
            (last->place == words[n].place || (last->place != Place::none && last->matters != 1));
        if (goes_on)
            last->end = end;
        else
            all.push_back({begin, end, words[n].matters, words[n].place});
    }
}

const SharedArea* SharedMap::area_of(std::uint32_t address) const {
    const auto at = std::ranges::find_if(all, [&](const SharedArea& a) { return a.holds(address); });
    return at == all.end() ? nullptr : &*at;
}

SharedContent content_of(const Record& record, const BlockRecord& block, const Origins& origins,
                         const SharedArea& area, std::uint32_t before) {
    SharedContent out;
    const auto take = [&](Matter matter, const std::optional<std::uint32_t>& from) {
        out.any = true, out.matter = matter;
        const auto element = from ? element_of(record, *from) : std::nullopt;
        if (!element) return;
        out.first_row = out.first_row < 0 ? element->row : std::min(out.first_row, element->row);
        out.last_row = std::max(out.last_row, element->row);
    };
    // A few places of it: rows lie one behind the other.
    constexpr std::uint32_t samples = 64;
    const std::uint32_t words = static_cast<std::uint32_t>(area.bytes()) / word_bytes;
    for (std::uint32_t n = 0; n < std::min(samples, words); ++n) {
        const std::uint32_t word = words <= samples ? n : n * (words - 1) / (samples - 1);
        const std::uint32_t address = area.begin + word * word_bytes;
        if (const auto write = origins.writer(address, before))
            take(origins.matter(write->event), origins.global_source(address, before));
    }
    if (out.any) return out;
    // Tiles of Hopper: of each place in the area the last that was asked for
    std::set<std::uint32_t> known;
    for (std::uint32_t n = std::min<std::uint32_t>(before, static_cast<std::uint32_t>(block.events.size()));
         n-- > 0;) {
        const Event& event = block.events[n];
        if (event.op != Op::fetch_tile) continue;
        const TileFetch tile(block.words_of(event));
        if (!area.holds(tile.to) || !known.insert(tile.to).second) continue;
        const auto element = tile.from != 0 ? element_of(record, tile.from) : std::nullopt;
        out.any = true, out.matter = origins.matter(n);
        if (!element) continue;
        out.first_row = out.first_row < 0 ? element->row : std::min(out.first_row, element->row);
        out.last_row = std::max(out.last_row, element->row + static_cast<int>(tile.rows) - 1);
    }
    return out;
}

namespace {

/// Row and chunk of what a lane moves, and its address in shared memory.
struct MovedChunk {
    Matter matter = Matter::none;
    int row = 0, chunk = 0, chunks = 0;
    std::uint32_t to = 0;
};
std::optional<MovedChunk> chunk_of(const Record& record, const BlockRecord& block, const Origins& origins,
                                   std::uint32_t n, int lane) {
    const Event& event = block.events[n];
    const bool copies = event.op == Op::copy_issued;
    if (event.bytes != chunk_bytes || !(event.lanes >> lane & 1)) return std::nullopt;
    if (!copies && event.op != Op::load_matrices && event.op != Op::load_transposed) return std::nullopt;
    const auto words = block.words_of(event).subspan(rank_of(event.lanes, lane) * event.words);
    const auto from = copies ? (words[2] != 0 ? std::optional(words[1]) : std::nullopt)
                             : origins.global_source(words[0], n);
    const auto element = from ? element_of(record, *from) : std::nullopt;
    if (!element) return std::nullopt;
    const Region& region = record.regions[static_cast<std::size_t>(element->region)];
    const int per_chunk = static_cast<int>(chunk_bytes) / region.element_bytes;
    return MovedChunk{matter_of(record, *from), element->row, element->column / per_chunk,
                      region.row_bytes / static_cast<int>(chunk_bytes), words[0]};
}

int flip_of(int row, bool halved) { return halved ? row / 2 % 4 : row % 8; }

}  // namespace

std::optional<Swizzle> swizzle_of(const Record& record, const BlockRecord& block, const Origins& origins,
                                  const SharedMap& map, std::uint32_t event, int lane) {
    if (!record.swizzles) return std::nullopt;
    const auto own = chunk_of(record, block, origins, event, lane);
    const SharedArea* const area = own ? map.area_of(own->to) : nullptr;
    if (!area) return std::nullopt;
    const auto place_of = [&](const MovedChunk& m) {
        return static_cast<int>((m.to - area->begin) / chunk_bytes) % m.chunks;
    };
    for (const bool halved : {false, true}) {
        bool holds = true;
        for (int l = 0; l < 32 && holds; ++l)
            if (const auto m = chunk_of(record, block, origins, event, l))
                holds = place_of(*m) == (m->chunk ^ flip_of(m->row, halved));
        if (!holds) continue;
        return Swizzle{own->matter,
                       own->row,
                       own->chunk,
                       flip_of(own->row, halved),
                       place_of(*own),
                       halved,
                       static_cast<int>(own->to % row_of_banks / word_bytes)};
    }
    return std::nullopt;
}

}  // namespace tilewalk::inside
