#include "core/inside/origin.h"

#include "core/base/shared_tiles.h"
#include "core/inside/accesses.h"
#include "core/inside/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>

namespace tilewalk::inside {

namespace {

constexpr std::uint32_t nothing = 0xFFFFFFFF, word_bytes = 4, bank_count = 32;
constexpr int looks_back = 512, nearby = 64;  ///< steps

std::size_t place_in(std::integral auto n) { return static_cast<std::size_t>(n); }

bool fills_registers(Op op) { return op == Op::load_matrices || op == Op::load_transposed || op == Op::pack; }
int registers_of(Op op) { return op == Op::pack ? 1 : 4; }
/// Where they stand among the words of a lane.
int first_register(Op op) { return op == Op::pack ? 2 : 1; }

}  // namespace

const char* symbol_of(Matter matter) {
    static constexpr const char* table[] = {"",   "Q", "K", "V", "O", "dO", "dQ", "dK",
                                            "dV", "S", "P", "L", "D", "dP", "dS", ""};
    static_assert(std::size(table) == static_cast<std::size_t>(Matter::other) + 1);
    return table[static_cast<std::size_t>(matter)];
}

namespace {

/// Two factors of device memory, and what is summed up of them; one of them, and what was computed as the
/// other.
struct OfInputs {
    Matter a, b, sum;
};
constexpr OfInputs of_inputs[] = {{Matter::Q, Matter::K, Matter::S}, {Matter::V, Matter::dO, Matter::dP}};
struct OfComputed {
    Matter input, computed, sum;
};
constexpr OfComputed of_computed[] = {{Matter::V, Matter::P, Matter::O},
                                      {Matter::dO, Matter::P, Matter::dV},
                                      {Matter::Q, Matter::dS, Matter::dK},
                                      {Matter::K, Matter::dS, Matter::dQ}};

bool is_computed(Matter m) { return m == Matter::none || m == Matter::P || m == Matter::dS; }

}  // namespace

Matter sum_of(Matter a, Matter b) {
    for (const OfInputs& of : of_inputs)
        if ((of.a == a && of.b == b) || (of.a == b && of.b == a)) return of.sum;
    for (const OfComputed& of : of_computed)
        if ((is_computed(a) && b == of.input) || (is_computed(b) && a == of.input)) return of.sum;
    return a == Matter::none && b == Matter::none ? Matter::none : Matter::other;
}

Matter factor_of(Matter product) {
    const auto at = std::ranges::find(of_computed, product, &OfComputed::sum);
    return at == std::end(of_computed) ? Matter::none : at->computed;
}

int tile_of_row(const Record& record, Matter matter, int row) {
    const bool keys = matter == Matter::K || matter == Matter::V;
    const int rows = keys ? record.Bc : record.Br;
    return rows > 0 && row >= 0 ? row / rows : -1;
}

int tile_of_box(const Record& record, const TileFetch& box) {
    const auto first = box.from == 0 ? std::nullopt : element_of(record, box.from);
    return first ? first->row / static_cast<int>(box.box_bytes / tile_row_bytes) : -1;
}

std::optional<Element> element_of(const Record& record, std::uint32_t address) {
    for (std::size_t n = 0; n < record.regions.size(); ++n) {
        const Region& r = record.regions[n];
        if (!r.holds(address) || r.row_bytes == 0) continue;
        const auto at = static_cast<int>(address - r.begin);
        return Element{static_cast<int>(n), at / r.row_bytes, at % r.row_bytes / r.element_bytes};
    }
    return std::nullopt;
}

Matter matter_of(const Record& record, std::uint32_t address) {
    for (const Region& r : record.regions) {
        if (!r.holds(address)) continue;
        for (Matter m = Matter::Q; m < Matter::other; m = static_cast<Matter>(static_cast<int>(m) + 1))
            if (r.name == symbol_of(m)) return m;
        return Matter::other;
    }
    return Matter::none;
}

Origins::Origins(const Record& of_record, const BlockRecord& of_block, const Steps& of_steps)
    : record(of_record), block(of_block), steps(of_steps), ladder(record.Bc > 0),
      backward(std::ranges::find(record.regions, "dO", &Region::name) != record.regions.end()),
      slots(of_block.events.size(), -1), issue_of(of_block.events.size(), nothing),
      step_of(of_block.events.size(), nothing), product_of(of_block.events.size(), nothing),
      matters(of_block.events.size()) {
    note_slots();
    note_writes();
    follow_copies();
    name_weights();
    name_stores();
    name_accesses();
    name_packings();
    name_products();
    name_factors_of_tiles();
}

void Origins::note_slots() {
    for (int w = 0; w < steps.warps(); ++w)
        for (int k = 0; k < steps.count(w); ++k) {
            step_of[steps.event(w, k)] = static_cast<std::uint32_t>(k);
            slots[steps.event(w, k)] = steps.slot(w, k);
            for (const std::uint32_t n : steps.arrivals(w, k)) slots[n] = steps.slot(w, k);
        }
}

// All writes of each word, in the order of the record: counted first, then put in place.
void Origins::note_writes() {
    const auto each = [this](const auto& take) {
        for (std::uint32_t n = 0; n < block.events.size(); ++n) {
            const Event& event = block.events[n];
            if (event.op != Op::copy_arrived && event.op != Op::store && event.op != Op::atomic_add) continue;
            block.each_lane(event, [&](int lane, auto words) {
                const std::uint32_t address = words[0];
                if (!is_shared(address)) return;
                const std::uint32_t last =
                    (address + std::max<std::uint32_t>(event.bytes, 1) - 1) / word_bytes;
                for (std::uint32_t word = address / word_bytes; word <= last; ++word)
                    take(word, n, static_cast<std::uint32_t>(lane));
            });
        }
    };
    std::vector<std::uint32_t> counts;
    each([&](std::uint32_t word, std::uint32_t, std::uint32_t) {
        if (word >= counts.size()) counts.resize(word + 1);
        ++counts[word];
    });
    first_write.assign(counts.size() + 1, 0);
    for (std::size_t w = 0; w < counts.size(); ++w) first_write[w + 1] = first_write[w] + counts[w];
    writes.resize(first_write.back());
    std::vector<std::uint32_t> next(first_write.begin(), first_write.end() - 1);
    each([&](std::uint32_t word, std::uint32_t n, std::uint32_t lane) { writes[next[word]++] = {n, lane}; });
}

std::optional<SharedWrite> Origins::writer(std::uint32_t address, std::uint32_t before) const {
    const std::size_t word = address / word_bytes;
    if (word + 1 >= first_write.size()) return std::nullopt;
    const auto begin = writes.begin() + first_write[word], end = writes.begin() + first_write[word + 1];
    auto at =
        std::lower_bound(begin, end, before, [](const Write& w, std::uint32_t n) { return w.event < n; });
    // Two stores of two bytes each share a word.
    for (; at != begin; --at) {
        const Write& write = *(at - 1);
        const Event& event = block.events[write.event];
        const auto lane = static_cast<int>(write.lane);
        const std::uint32_t to = block.words_of(event, lane)[0];
        if (address >= to && address < to + event.bytes) return SharedWrite{write.event, lane};
    }
    return std::nullopt;
}

Origins::WordAt Origins::word_at(std::uint32_t address, const Moment& at) const {
    const std::size_t word = address / word_bytes;
    if (word + 1 >= first_write.size()) return {};
    const auto begin = writes.begin() + first_write[word], end = writes.begin() + first_write[word + 1];
    WordAt out;
    out.ever = begin != end;
    // Warps that nothing orders write in this run's order, not in that of their slots: only between these two
    // have some events happened by this slot and others not.
    const auto [slot, sure, open] = at;
    const auto first = std::ranges::lower_bound(begin, end, sure, {}, &Write::event),
               last = std::ranges::lower_bound(first, end, open, {}, &Write::event);
    for (auto next = last; next != begin && !out.there; --next)
        if (const Write& write = *(next - 1); next <= first || slots[write.event] <= slot)
            out.there = SharedWrite{write.event, static_cast<int>(write.lane)};
    // Behind them copies to one word come in the order in which they were issued.
    for (auto write = first; write != end && !out.on_its_way; ++write) {
        const std::uint32_t issue = issue_of[write->event];
        if (slots[write->event] > slot && issue != nothing && slots[issue] <= slot)
            out.on_its_way = SharedWrite{issue, static_cast<int>(write->lane)};
        if (write >= last) break;
    }
    return out;
}

// The first event that any warp has behind the slot, and the last of these first ones.
Origins::Moment Origins::moment(int slot) const {
    const auto end = static_cast<std::uint32_t>(block.events.size());
    std::uint32_t sure = end, open = 0;
    for (int w = 0; w < steps.warps(); ++w) {
        if (steps.count(w) == 0) continue;
        int next = steps.at_slot(w, slot);
        if (steps.slot(w, next) <= slot) ++next;
        const std::uint32_t n = next < steps.count(w) ? steps.event(w, next) : end;
        sure = std::min(sure, n), open = std::max(open, n);
    }
    return {slot, sure, open};
}

// A copy arrives where it was sent to, group by group.
void Origins::follow_copies() {
    using Target = std::array<std::uint32_t, 3>;  // warp, group, address
    std::map<Target, std::uint32_t> sent;
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        if (event.op != Op::copy_issued && event.op != Op::copy_arrived) continue;
        if (event.op == Op::copy_issued) {
            block.each_lane(event, [&](int, auto words) { sent[{event.warp, words[3], words[0]}] = n; });
            continue;
        }
        const auto words = block.words_of(event);
        const auto at = sent.find({event.warp, words[1], words[0]});
        if (at != sent.end()) issue_of[n] = at->second;
    }
}

// What a lane stored was loaded a few steps before: the same bits. L, one number for each row, may be scaled
// on its way: then the line that stores it has just loaded it.
std::optional<std::uint32_t> Origins::loaded_from(std::uint32_t n, int lane) const {
    const Event& store = block.events[n];
    const std::uint32_t stored = block.words_of(store, lane)[1];
    if (step_of[n] > 0) {
        const Event& before = event_of(store.warp, static_cast<int>(step_of[n]) - 1);
        const Place &a = record.places[before.place], &b = record.places[store.place];
        if (before.op == Op::load && before.has(lane) && a.line == b.line && a.file == b.file)
            if (const std::uint32_t from = block.words_of(before, lane)[0];
                !is_shared(from) && matter_of(record, from) == Matter::L)
                return from;
    }
    // Loads that follow each other are stored in their order. One that was stored already is another one's:
    // so the zeros behind the edge are no element that is 0.
    std::vector<std::uint32_t> alike;  // the last first
    std::size_t stored_already = 0;
    const auto own = [&]() -> std::optional<std::uint32_t> {
        if (stored_already < alike.size()) return alike[alike.size() - 1 - stored_already];
        stored_already -= alike.size();
        alike.clear();
        return std::nullopt;
    };
    for (int k = static_cast<int>(step_of[n]) - 1, tried = 0; k >= 0 && tried < nearby; --k, ++tried) {
        const Event& event = event_of(store.warp, k);
        if (!event.has(lane)) continue;
        const auto words = block.words_of(event, lane);
        // What it has just computed may have the bits of what it loaded before by chance.
        const bool computes = event.op == Op::exp2 || event.op == Op::exp;
        if (computes && words[1] == stored) return own();
        if (event.op == Op::store && is_shared(words[0])) {
            if (const auto from = own()) return from;
            stored_already += event.bytes == store.bytes && words[1] == stored;
        }
        if (event.op == Op::load && !is_shared(words[0]) && event.bytes == store.bytes && words[1] == stored)
            alike.push_back(words[0]);
    }
    return own();
}

// The exponential of the same lane, a few steps before, whose result it stores.
std::optional<std::uint32_t> Origins::exponential_of(std::uint32_t n, int lane) const {
    const Event& store = block.events[n];
    const std::uint32_t stored = block.words_of(store, lane)[1];
    for (int k = static_cast<int>(step_of[n]) - 1, tried = 0; k >= 0 && tried < nearby; --k, ++tried) {
        const Event& event = event_of(store.warp, k);
        if ((event.op != Op::exp2 && event.op != Op::exp) || !event.has(lane)) continue;
        if (block.words_of(event, lane)[1] == stored) return steps.event(store.warp, k);
    }
    return std::nullopt;
}

// Weights that go through shared memory. Where they are written over what the lane has read there before its
// exponential, that were the scores.
void Origins::name_weights() {
    for (std::uint32_t n = 0; ladder && n < block.events.size(); ++n) {
        const Event& store = block.events[n];
        if (store.op != Op::store || store.lanes == 0) continue;
        const int lane = std::countr_zero(store.lanes);
        const std::uint32_t address = block.words_of(store, lane)[0];
        const auto exponential = is_shared(address) ? exponential_of(n, lane) : std::nullopt;
        if (!exponential) continue;
        bool was_read = false;
        const int from = static_cast<int>(step_of[*exponential]);
        for (int k = from - 1; k >= std::max(0, from - nearby) && !was_read; --k) {
            const Event& event = event_of(store.warp, k);
            was_read = event.op == Op::load && event.has(lane) && block.words_of(event, lane)[0] == address;
        }
        if (was_read || backward) matters[n] = Matter::P;
        block.each_lane(store, [&](int, auto words) {
            const auto before = was_read ? writer(words[0], n) : std::nullopt;
            if (before && block.events[before->event].op == Op::store &&
                matters[before->event] == Matter::none)
                matters[before->event] = Matter::S;
        });
    }
}

std::optional<std::uint32_t> Origins::global_source(std::uint32_t address, std::uint32_t before) const {
    const auto write = writer(address, before);
    return write ? source_of(*write, address) : std::nullopt;
}

std::optional<std::uint32_t> Origins::source_of(const SharedWrite& write, std::uint32_t address) const {
    const Event& event = block.events[write.event];
    // Of two copies of one group to one place either may stand for both; not all lanes begin both.
    if (!event.has(write.lane)) return std::nullopt;
    const std::uint32_t offset = address - block.words_of(event, write.lane)[0];
    if (event.op == Op::store) {
        const auto from = loaded_from(write.event, write.lane);
        return from ? std::optional(*from + offset) : std::nullopt;
    }
    const std::uint32_t issue = event.op == Op::copy_issued ? write.event : issue_of[write.event];
    if (issue == nothing || !block.events[issue].has(write.lane)) return std::nullopt;
    const auto copy = block.words_of(block.events[issue], write.lane);
    return copy[2] != 0 ? std::optional(copy[1] + offset) : std::nullopt;
}

std::vector<std::uint32_t> Origins::straight_rows(std::uint32_t event,
                                                  std::span<const std::uint32_t> addresses) const {
    const bool stores = info(block.events[event].op).writes;
    std::vector<std::uint32_t> straight;
    for (std::size_t n = 0; n < addresses.size(); ++n) {
        std::optional<std::uint32_t> from;
        if (stores && block.events[event].op == Op::copy_issued)
            from = block.words_of(block.events[event])[n * block.events[event].words + 1];
        else if (!stores)
            from = global_source(addresses[n], event);
        if (!from || region_at(*from) < 0 ||
            region_at(*from) != region_at(straight.empty() ? *from : straight[0]))
            return {};
        straight.push_back(*from);
    }
    // The first of them stays in its bank: rows begin at multiples of all banks, or would.
    if (straight.empty()) return {};
    const Region& region = record.regions[place_in(region_at(straight.front()))];
    if (region.row_bytes == 0) return {};
    bool same = true;
    for (std::size_t n = 0; n < straight.size(); ++n) {
        straight[n] -= region.begin;
        same = same && straight[n] % (bank_count * word_bytes) == addresses[n] % (bank_count * word_bytes);
    }
    return same ? std::vector<std::uint32_t>() : straight;
}

int Origins::region_at(std::uint32_t address) const {
    for (std::size_t n = 0; n < record.regions.size(); ++n)
        if (record.regions[n].holds(address)) return static_cast<int>(n);
    return -1;
}

Matter Origins::matter_of_address(std::uint32_t address, std::uint32_t before) const {
    if (!is_shared(address)) return matter_of(record, address);
    const auto write = writer(address, before);
    return write ? matters[write->event] : Matter::none;
}

// What is stored in shared memory is what was loaded for it. Behind the last row of a matrix the same line
// stores zeros: they belong to the rows that lie below them, of which the first is always there. A buffer may
// hold one matrix after another, with barriers between: so only what is stored between the same two counts.
void Origins::name_stores() {
    using Spot = std::pair<std::ptrdiff_t, std::uint32_t>;  // how many barriers were before, and the address
    const std::vector<int>& barriers = steps.barriers();
    const auto spot_of = [&](std::uint32_t n) {
        return Spot{std::ranges::upper_bound(barriers, slots[n]) - barriers.begin(),
                    block.words_of(block.events[n])[0]};
    };
    std::map<Spot, Matter> brought;
    std::set<std::uint32_t> lines;
    std::vector<std::uint32_t> zeros;
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        if (event.op != Op::store || event.lanes == 0 || !is_shared(block.words_of(event)[0])) continue;
        if (const auto from = loaded_from(n, std::countr_zero(event.lanes))) {
            matters[n] = brought[spot_of(n)] = matter_of(record, *from);
            lines.insert(event.place);
        } else if (ladder && matters[n] == Matter::none) {
            bool zero = true;
            block.each_lane(event, [&](int, auto words) {
                zero = zero && std::ranges::count(words.subspan(1), 0u) == std::ssize(words) - 1;
            });
            if (zero) zeros.push_back(n);
        }
    }
    for (const std::uint32_t n : zeros) {
        const Spot spot = spot_of(n);
        const auto above = brought.upper_bound(spot);
        if (above == brought.begin() || !lines.contains(block.events[n].place)) continue;
        const auto& [below, matter] = *std::prev(above);
        if (below.first == spot.first) matters[n] = matter;
    }
}

void Origins::name_accesses() {
    std::map<std::uint32_t, std::uint32_t> fetched;  // where a tile lies, and the event that fetched it
    std::map<std::pair<int, std::uint32_t>, Matter> summed;  // by warp, and by which of its sums
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        const auto words = block.words_of(event);
        switch (event.op) {
        case Op::copy_issued: matters[n] = matter_of(record, words[1]); break;
        case Op::copy_arrived:
            if (issue_of[n] != nothing) matters[n] = matters[issue_of[n]];
            break;
        case Op::store:
            if (!is_shared(words[0])) matters[n] = matter_of_address(words[0], n);
            break;
        case Op::load:
        case Op::atomic_add:
        case Op::load_matrices:
        case Op::load_transposed: matters[n] = matter_of_address(words[0], n); break;
        case Op::exp2:
        case Op::exp: matters[n] = Matter::P; break;
        case Op::fetch_tile:
            matters[n] = matter_of(record, words[1]);
            fetched[words[0]] = n;
            break;
        case Op::tile_arrived:
            if (const auto at = fetched.find(words[0]); at != fetched.end()) matters[n] = matters[at->second];
            break;
        case Op::multiply_async:
            matters[n] = matter_of_tiles(TileProduct(words), fetched);
            summed[{event.warp, TileProduct(words).sums}] = matters[n];
            break;
        case Op::wait_products: matters[n] = summed[{event.warp, TileSums(event, words).sums()}]; break;
        default: break;
        }
    }
}

// What is packed and stored in device memory is what is stored.
void Origins::name_packings() {
    for (std::uint32_t n = 0; n < block.events.size(); ++n) {
        const Event& event = block.events[n];
        if (event.op != Op::pack || event.lanes == 0) continue;
        const int lane = std::countr_zero(event.lanes);
        const auto store = stored_behind(block, n, lane);
        if (store && !is_shared(block.words_of(block.events[*store], lane)[0])) matters[n] = matters[*store];
    }
}

// S where A is a tile as well; of P̃ in registers O.
Matter Origins::matter_of_tiles(const TileProduct& product,
                                const std::map<std::uint32_t, std::uint32_t>& fetched) const {
    const auto matter_at = [&](std::uint64_t descriptor) {
        const std::uint32_t address = TileDescriptor(descriptor).address;
        auto at = fetched.upper_bound(address);
        if (at == fetched.begin()) return Matter::none;
        const Event& fetch = block.events[(--at)->second];
        return TileFetch(block.words_of(fetch)).holds(address) ? matters[at->second] : Matter::none;
    };
    const Matter B = matter_at(product.B);
    if (B == Matter::none) return Matter::none;
    const Matter A = product.A_in_registers ? Matter::none : matter_at(product.A);
    if (A == Matter::none && !product.A_in_registers) return Matter::other;
    const Matter sum = sum_of(A, B);
    return ladder || factor_of(sum) != Matter::dS ? sum : Matter::other;
}

// What a product in the background takes from registers was packed before, by the same bits of all lanes that
// are looked at.
void Origins::name_factors_of_tiles() {
    constexpr int registers = 4, first_of_A = 8, packed = 2;
    for (int w = 0; w < steps.warps(); ++w) {
        std::unordered_map<std::uint32_t, std::uint32_t> last;  // by the bits of the first lane
        for (int k = 0; k < steps.count(w); ++k) {
            const std::uint32_t n = steps.event(w, k);
            const Event& event = block.events[n];
            const auto words = block.words_of(event);
            if (event.op == Op::pack && event.lanes == whole_warp) last[words[packed]] = n;
            if (event.op != Op::multiply_async || !TileProduct(words).A_in_registers) continue;
            const Matter factor = factor_of(matters[n]);
            for (int r = 0; r < registers && factor != Matter::none; ++r)
                if (const auto at = last.find(words[place_in(first_of_A + r)]); at != last.end())
                    matters[at->second] = factor;
        }
    }
}

// ---- Registers

/// What has filled registers of a warp so far, by the first lane's bits.
class Origins::Finder {
public:
    Finder(const Origins& of_block, int of_warp) : all(of_block), warp(of_warp) {}

    void note(int k) {
        const Event& event = all.event_of(warp, k);
        if (!fills_registers(event.op) || event.lanes != whole_warp) return;
        const auto words = all.block.words_of(event);
        for (int r = 0; r < registers_of(event.op); ++r)
            last[words[place_in(first_register(event.op) + r)]] = {k, r};
    }
    Filled find(int k, Part part, int reg) const {
        const Product product(all.block.words_of(all.event_of(warp, k)), all.record.dtype);
        const auto at = last.find(product.word(part, 0, reg));
        if (at == last.end()) return {};
        if (holds(at->second, product, part, reg)) return at->second;
        for (int before = k - 1; before >= std::max(0, k - looks_back); --before) {
            const Event& event = all.event_of(warp, before);
            if (!fills_registers(event.op) || event.lanes != whole_warp) continue;
            for (int r = 0; r < registers_of(event.op); ++r)
                if (holds({before, r}, product, part, reg)) return {before, r};
        }
        return {};
    }
    /// All 32 lanes have the same bits there.
    bool holds(Filled where, const Product& product, Part part, int reg) const {
        const Event& event = all.event_of(warp, where.step);
        if (where.reg >= registers_of(event.op)) return false;
        for (int lane = 0; lane < 32; ++lane)
            if (all.block.words_of(event, lane)[place_in(first_register(event.op) + where.reg)] !=
                product.word(part, lane, reg))
                return false;
        return true;
    }

private:
    const Origins& all;
    int warp;
    std::unordered_map<std::uint32_t, Filled> last;
};

void Origins::name_products() {
    for (int w = 0; w < steps.warps(); ++w) {
        Finder finder(*this, w);
        for (int k = 0; k < steps.count(w); ++k) {
            const std::uint32_t n = steps.event(w, k);
            const Event& event = block.events[n];
            finder.note(k);
            if (event.op != Op::multiply_add || event.lanes != whole_warp) continue;
            product_of[n] = static_cast<std::uint32_t>(fills.size());
            Fills& fill = fills.emplace_back();
            const Product product(block.words_of(event), record.dtype);
            // Numbers may be alike; a load that has filled one register has filled those beside it.
            const auto find = [&](Part part, int reg, const Filled& first) {
                const Filled beside{first.step, first.reg + reg};
                return reg > 0 && first.step >= 0 && finder.holds(beside, product, part, reg)
                           ? beside
                           : finder.find(k, part, reg);
            };
            for (int r = 0; r < 4; ++r) fill.a[place_in(r)] = find(Part::A, r, fill.a[0]);
            for (int r = 0; r < 2; ++r) fill.b[place_in(r)] = find(Part::B, r, fill.b[0]);
            for (const Filled& f : fill.a)
                if (f.step >= 0 && event_of(w, f.step).op == Op::pack)
                    matters[steps.event(w, f.step)] = Matter::P;
            matters[n] = matter_of_part(w, k, Part::C);
            if (ladder) name_factor(w, k, factor_of(matters[n]));
        }
    }
}

// A factor that was computed: the packing that is its register, or the load of what was packed and stored.
void Origins::name_factor(int warp, int k, Matter factor) {
    const Fills& fill = fills[product_of[steps.event(warp, k)]];
    const auto name = [&](std::uint32_t n) {
        if (matters[n] == Matter::none || matters[n] == Matter::P) matters[n] = factor;
    };
    for (const Filled& f : {fill.a[0], fill.a[1], fill.a[2], fill.a[3], fill.b[0], fill.b[1]}) {
        if (f.step < 0 || factor == Matter::none) continue;
        const std::uint32_t n = steps.event(warp, f.step);
        if (!is_computed(matters[n])) continue;
        name(n);
        if (block.events[n].op == Op::pack) continue;
        block.each_lane(block.events[n], [&](int, auto words) {
            const auto write = writer(words[0], n);
            if (!write || block.events[write->event].op != Op::store) return;
            name(write->event);
            const auto before = static_cast<int>(step_of[write->event]) - 1;
            const int by = block.events[write->event].warp;
            if (before >= 0 && event_of(by, before).op == Op::pack) name(steps.event(by, before));
        });
    }
}

Origins::Filled Origins::filled(int warp, int k, Part part, int reg) const {
    const std::uint32_t at = product_of[steps.event(warp, k)];
    if (at == nothing || part == Part::C) return {};
    return part == Part::A ? fills[at].a[place_in(reg)] : fills[at].b[place_in(reg)];
}

Matter Origins::matter_of_part(int warp, int k, Part part) const {
    if (part != Part::C) {
        const Filled from = filled(warp, k, part, 0);
        return from.step < 0 ? Matter::none : matters[steps.event(warp, from.step)];
    }
    const Matter a = matter_of_part(warp, k, Part::A), b = matter_of_part(warp, k, Part::B);
    // Of a kernel that is not known only weights make sums of V to O.
    const Matter sum = sum_of(a, b);
    const bool sure = ladder || factor_of(sum) == Matter::none || a == Matter::P;
    return sure ? sum : Matter::other;
}

// What the later one adds to is what the earlier one has summed, bit for bit.
bool Origins::goes_on(int warp, int before, int k) const {
    const Event& event = event_of(warp, before);
    if (event.op != Op::multiply_add || event.lanes != whole_warp) return false;
    const Product then(block.words_of(event), record.dtype),
        now(block.words_of(event_of(warp, k)), record.dtype);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column)
            if (std::bit_cast<std::uint32_t>(then.after(row, column)) !=
                std::bit_cast<std::uint32_t>(now.before(row, column)))
                return false;
    return true;
}

int Origins::summed_by(int warp, int k) const {
    for (int before = k - 1; before >= std::max(0, k - looks_back); --before)
        if (goes_on(warp, before, k)) return before;
    return -1;
}

int Origins::continued_by(int warp, int k) const {
    for (int later = k + 1; later < std::min(steps.count(warp), k + looks_back); ++later) {
        const Event& event = event_of(warp, later);
        if (event.op == Op::multiply_add && event.lanes == whole_warp && goes_on(warp, k, later))
            return later;
    }
    return -1;
}

Origins::Chain Origins::chain(int warp, int k) const {
    const Product own(block.words_of(event_of(warp, k)), record.dtype);
    bool any = false;
    for (int row = 0; row < 16 && !any; ++row)
        for (int column = 0; column < 8 && !any; ++column) any = own.after(row, column) != 0;
    if (!any) return {};
    constexpr int most = 64;
    Chain out{1, 1, k};
    for (int n = 0, at = summed_by(warp, k); at >= 0 && n < most; at = summed_by(warp, at), ++n)
        ++out.part, ++out.parts;
    for (int n = 0, at = continued_by(warp, k); at >= 0 && n < most; at = continued_by(warp, at), ++n)
        ++out.parts, out.last = at;
    return out;
}

// A weight was packed; the exponential of the same lane that has given these bits is where it comes from.
std::vector<OriginStep> Origins::with_exponential(int warp, int pack, int lane, int half) const {
    std::vector<OriginStep> way{{steps.event(warp, pack), lane, 0}};
    const Event& packed = event_of(warp, pack);
    const std::uint32_t word = block.words_of(packed, lane)[place_in(half)];
    for (int k = pack - 1; k >= std::max(0, pack - looks_back); --k) {
        const Event& event = event_of(warp, k);
        if ((event.op != Op::exp2 && event.op != Op::exp) || !event.has(lane)) continue;
        if (block.words_of(event, lane)[1] != word) continue;
        way.push_back({steps.event(warp, k), lane, 0});
        break;
    }
    return way;
}

std::optional<Element> Origins::region_of_part(int warp, int k, Part part) const {
    const auto element = [&](int row, int column) -> std::optional<Element> {
        const auto way = trace(warp, k, part, row, column);
        if (way.empty() || is_shared(way.back().address)) return std::nullopt;
        return element_of(record, way.back().address);
    };
    const PartInfo& of = info(part);
    const auto first = element(0, 0), last = element(of.rows - 1, of.columns - 1);
    if (!first || !last || first->region != last->region) return std::nullopt;
    const int down = last->row - first->row, right = last->column - first->column;
    const bool straight = down == of.rows - 1 && right == of.columns - 1;
    const bool turned = down == of.columns - 1 && right == of.rows - 1;
    return straight || turned ? first : std::nullopt;
}

std::vector<OriginStep> Origins::trace(int warp, int k, Part part, int row, int column) const {
    std::vector<OriginStep> way;
    const Holder at = holder(part, row, column);
    const Filled from = filled(warp, k, part, at.reg);
    if (from.step < 0) return way;
    const std::uint32_t n = steps.event(warp, from.step);
    const Event& event = block.events[n];
    if (event.op == Op::pack) return with_exponential(warp, from.step, at.lane, at.half);
    const MatrixSource source =
        source_of_register(at.lane, from.reg, at.half, event.op == Op::load_transposed);
    const std::uint32_t row_address = block.words_of(event, source.lane)[0];
    const std::uint32_t address = row_address + static_cast<std::uint32_t>(source.byte);
    way.push_back({n, source.lane, address});
    const auto write = writer(address, n);
    if (!write) return way;
    way.push_back({write->event, write->lane, address});
    const auto outside = global_source(address, n);
    if (!outside) return way;
    const std::uint32_t issue = issue_of[write->event];
    way.push_back({issue == nothing ? write->event : issue, write->lane, *outside});
    return way;
}

}  // namespace tilewalk::inside
