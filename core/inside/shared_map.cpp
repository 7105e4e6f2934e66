#include "core/inside/shared_map.h"

#include "core/inside/tiles.h"

#include <algorithm>
#include <functional>
#include <map>
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

std::vector<WordUse> uses_of_words(const BlockRecord& block, const Origins& origins) {
    std::vector<WordUse> out;
    const auto note = [&](std::uint32_t begin, std::uint32_t bytes, std::uint32_t n) {
        const std::size_t last = (begin + std::max(bytes, 1u) - 1) / word_bytes;
        if (last >= out.size()) out.resize(last + 1);
        for (std::size_t word = begin / word_bytes; word <= last; ++word) {
            out[word].matters |= 1u << static_cast<int>(origins.matter(n));
            if (origins.matter(n) == Matter::none && out[word].place == Place::none)
                out[word].place = block.events[n].place;
        }
    };
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        const bool writes =
            event.op == Op::copy_arrived || event.op == Op::store || event.op == Op::atomic_add;
        block.each_lane(event, [&](int, auto words) {
            if (event.op == Op::fetch_tile) note(words[0], TileFetch(words).box_bytes, n);
            if (writes && is_shared(words[0])) note(words[0], event.bytes, n);
        });
    }
    return out;
}

}  // namespace

SharedMap::SharedMap(const BlockRecord& block, const Steps& steps, const Origins& origins) {
    find_tiles(block, steps);
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
    std::vector<bool> written;
    for (const WordUse& word : words) written.push_back(word.matters != 0);
    find_rows(written);
}

// Rows are runs of words of one length that lie equally far from each other.
void SharedMap::find_rows(const std::vector<bool>& written) {
    for (SharedArea& area : all) {
        std::vector<std::uint32_t> begins, lengths;
        for (std::uint32_t word = area.begin / word_bytes; word < area.end / word_bytes; ++word) {
            if (!written[word]) continue;
            if (begins.empty() || word != begins.back() + lengths.back())
                begins.push_back(word), lengths.push_back(0);
            ++lengths.back();
        }
        if (begins.size() < 2 || std::ranges::adjacent_find(lengths, std::not_equal_to{}) != lengths.end())
            continue;
        const std::uint32_t apart = begins[1] - begins[0];
        bool even = true;
        for (std::size_t n = 1; n < begins.size(); ++n) even = even && begins[n] - begins[n - 1] == apart;
        if (even) area.row_bytes = apart * word_bytes;
    }
}

PlaceInArea place_in(const SharedArea& area, std::uint32_t address, int element_bytes) {
    const std::uint32_t at = address - area.begin, size = static_cast<std::uint32_t>(element_bytes);
    if (area.row_bytes == 0) return {static_cast<int>(at / size), -1};
    return {static_cast<int>(at / area.row_bytes), static_cast<int>(at % area.row_bytes / size)};
}

// A tile has come when somebody has waited for its phase of the barrier.
void SharedMap::find_tiles(const BlockRecord& block, const Steps& steps) {
    const auto each = [&](Op op, const auto& f) {
        for (int w = 0; w < steps.warps(); ++w)
            for (int k = 0; k < steps.count(w); ++k)
                if (block.events[steps.event(w, k)].op == op) f(steps.event(w, k), steps.slot(w, k));
    };
    each(Op::fetch_tile, [&](std::uint32_t n, int slot) { asked.push_back({n, slot, -1}); });
    std::map<std::uint32_t, std::vector<TileTimes*>> of_barrier;
    for (TileTimes& tile : asked)
        of_barrier[TileFetch(block.words_of(block.events[tile.event])).barrier].push_back(&tile);
    each(Op::wait_for, [&](std::uint32_t n, int slot) {
        const auto waited = block.words_of(block.events[n]);
        for (TileTimes* tile : of_barrier[waited[0]])
            if (TileFetch(block.words_of(block.events[tile->event])).phase < waited[1] &&
                (tile->arrived < 0 || slot < tile->arrived))
                tile->arrived = slot;
    });
    std::ranges::stable_sort(asked, {}, &TileTimes::issued);
}

const SharedArea* SharedMap::area_of(std::uint32_t address) const {
    const auto at = std::ranges::find_if(all, [&](const SharedArea& a) { return a.holds(address); });
    return at == all.end() ? nullptr : &*at;
}

void RowRange::take(int row) {
    first = first < 0 ? row : std::min(first, row);
    last = std::max(last, row);
}

int SharedContent::count(Piece state) const { return static_cast<int>(std::ranges::count(pieces, state)); }

namespace {

/// Fills the pieces of one area.
class ContentMaker {
public:
    ContentMaker(const Record& of_record, const BlockRecord& of_block, const Steps& of_steps,
                 const Origins& of_origins, const SharedMap& of_map, const SharedArea& of_area, int at_slot)
        : record(of_record), block(of_block), steps(of_steps), origins(of_origins), map(of_map),
          area(of_area), slot(at_slot) {
        tiles = std::ranges::any_of(map.tiles(), [&](const TileTimes& tile) {
            return area.holds(TileFetch(block.words_of(block.events[tile.event])).to);
        });
        out.pieces.resize(static_cast<std::size_t>(area.bytes() + chunk_bytes - 1) / chunk_bytes,
                          Piece::unused);
    }

    SharedContent run() {
        // Rows of a few of them: they lie one behind the other.
        constexpr std::size_t samples = 64;
        const std::size_t apart = std::max<std::size_t>(1, out.pieces.size() / samples);
        for (std::size_t n = 0; n < out.pieces.size(); ++n)
            take_piece(n, n % apart == 0 || n + 1 == out.pieces.size());
        // A tile that is filled in part ends between two of them
        for (std::size_t n = last_named + 1, end = std::min(last_named + apart, out.pieces.size()); n < end;
             ++n)
            take_piece(n, true);
        std::set<std::uint32_t> known;  // of each place the tile that was asked for last
        for (auto tile = map.tiles().rbegin(); tile != map.tiles().rend(); ++tile)
            if (tile->issued <= slot) take_tile(*tile, known);
        return std::move(out);
    }

private:
    void name_row(const SharedWrite& write, std::uint32_t address, RowRange& rows) {
        const auto from = origins.source_of(write, address);
        const auto element = from ? element_of(record, *from) : std::nullopt;
        if (!element) return;
        rows.take(element->row);
        last_named = (address - area.begin) / chunk_bytes;
    }

    void take_piece(std::size_t n, bool names) {
        const std::uint32_t begin = area.begin + static_cast<std::uint32_t>(n) * chunk_bytes;
        int used = 0, there = 0;
        bool comes = false;
        const std::uint32_t end = std::min(begin + chunk_bytes, area.end);
        for (std::uint32_t at = begin; at < end; at += word_bytes) {
            const Origins::WordAt word = origins.word_at(at, now);
            used += word.ever || tiles;
            // Of numbers of which each is a row the last one counts as well.
            const bool named = names && (at == begin || at + word_bytes == end);
            if (word.there) {
                ++there, out.any = true, out.matter = origins.matter(word.there->event);
                if (named) name_row(*word.there, at, out.rows);
            }
            if (word.on_its_way) {
                comes = true, out.coming = origins.matter(word.on_its_way->event);
                note_issue(slot_of(word.on_its_way->event));
                if (named) name_row(*word.on_its_way, at, out.rows_coming);
                if (block.events[word.on_its_way->event].bytes == chunk_bytes) break;
                continue;
            }
            // Written as a whole, it is there as a whole.
            if (word.there && at == begin && block.events[word.there->event].bytes == chunk_bytes) break;
        }
        out.pieces[n] = comes           ? Piece::on_its_way
                        : used == 0     ? Piece::unused
                        : there == 0    ? Piece::empty
                        : there == used ? Piece::there
                                        : Piece::partly;
    }

    void take_tile(const TileTimes& times, std::set<std::uint32_t>& known) {
        const TileFetch tile(block.words_of(block.events[times.event]));
        if (!area.holds(tile.to) || !known.insert(tile.to).second) return;
        const bool arrived = times.arrived >= 0 && times.arrived <= slot;
        const std::size_t first = (tile.to - area.begin) / chunk_bytes,
                          end = std::min(out.pieces.size(), first + tile.box_bytes / chunk_bytes);
        std::fill(out.pieces.begin() + static_cast<std::ptrdiff_t>(first),
                  out.pieces.begin() + static_cast<std::ptrdiff_t>(end),
                  arrived ? Piece::there : Piece::on_its_way);
        (arrived ? out.matter : out.coming) = origins.matter(times.event);
        if (arrived) out.any = true;
        if (!arrived) note_issue(times.issued);
        const auto element = tile.from != 0 ? element_of(record, tile.from) : std::nullopt;
        RowRange& rows = arrived ? out.rows : out.rows_coming;
        if (!element) return;
        rows.take(element->row), rows.take(element->row + static_cast<int>(tile.rows) - 1);
    }

    void note_issue(int at) { out.issued = out.issued < 0 ? at : std::min(out.issued, at); }
    int slot_of(std::uint32_t event) const {
        return steps.slot(block.events[event].warp, origins.step_number(event));
    }

    const Record& record;
    const BlockRecord& block;
    const Steps& steps;
    const Origins& origins;
    const SharedMap& map;
    const SharedArea& area;
    int slot;
    Origins::Moment now = origins.moment(slot);
    bool tiles = false;          ///< the area is one of Hopper's tiles
    std::size_t last_named = 0;  ///< the last piece whose row is known
    SharedContent out;
};

}  // namespace

SharedContent content_of(const Record& record, const BlockRecord& block, const Steps& steps,
                         const Origins& origins, const SharedMap& map, const SharedArea& area, int slot) {
    return ContentMaker(record, block, steps, origins, map, area, slot).run();
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
    if (event.bytes != chunk_bytes || !event.has(lane)) return std::nullopt;
    if (!copies && event.op != Op::load_matrices && event.op != Op::load_transposed) return std::nullopt;
    const auto words = block.words_of(event, lane);
    const auto from = copies ? (words[2] != 0 ? std::optional(words[1]) : std::nullopt)
                             : origins.global_source(words[0], n);
    const auto element = from ? element_of(record, *from) : std::nullopt;
    if (!element) return std::nullopt;
    const Region& region = record.regions[static_cast<std::size_t>(element->region)];
    if (region.row_bytes < static_cast<int>(chunk_bytes)) return std::nullopt;  // a chunk is several rows
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
