#include "core/inside/bridge.h"

#include "core/base/words.h"
#include "core/inside/fragments.h"
#include "core/inside/tiles.h"
#include "core/problem/problem.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace tilewalk::inside {

namespace {

using LanePart = std::span<const std::uint32_t>;

std::size_t index_of(std::integral auto n) { return static_cast<std::size_t>(n); }

float as_float(std::uint32_t word) { return std::bit_cast<float>(word); }
std::uint32_t as_bits(float x) { return std::bit_cast<std::uint32_t>(x); }

/// What kind of step can give a quantity. What is of no such kind is plain arithmetic.
enum class Gives { product, maximum, exponential, sum };
Gives given_by(Quantity quantity) {
    switch (quantity) {
    case Quantity::m: return Gives::maximum;
    case Quantity::alpha:
    case Quantity::P: return Gives::exponential;
    case Quantity::l: return Gives::sum;
    default: return Gives::product;
    }
}

/// Behind a shuffle a lane has the larger of what it gave and what it got, or their sum.
std::uint32_t shuffled(Gives gives, LanePart words) {
    const float given = as_float(words[0]), got = as_float(words[2]);
    return as_bits(gives == Gives::maximum ? std::fmax(given, got) : given + got);
}

}  // namespace

std::string twin_region(Quantity quantity) { return std::string("twin ") + info(quantity).name; }

std::string number_text(const Number& n) {
    const bool one = n.quantity == Quantity::m || n.quantity == Quantity::alpha || n.quantity == Quantity::l;
    return std::string(info(n.quantity).name) + " of row " + str(n.row) +
           (one ? "" : ", column " + str(n.column));
}

// ---- One launch of both

class Bridge::Maker {
public:
    Maker(Bridge& to, const Record& of_kernel, const Record& of_twin, const Problem& of_problem, int number)
        : bridge(to), kernel(of_kernel), twin(of_twin), problem(of_problem), launch(number),
          plain_block(kernel.launches[index_of(number)].blocks.front()),
          twin_block(twin.launches[index_of(number)].blocks.front()),
          plain(kernel, kernel.launches[index_of(number)], plain_block),
          traced(twin, twin.launches[index_of(number)], twin_block) {}

    /// A sentence if a warp's steps are others than the twin's.
    std::string run() {
        for (int w = 0; w < plain.warps(); ++w) {
            if (!align(w))
                return kernel.kernel + ": the steps of warp " + str(w) + " of its twin are not its own.";
            follow(w);
        }
        return "";
    }

private:
    struct Position {
        int step, word;
        auto operator<=>(const Position&) const = default;  // NOLINT(modernize-use-nullptr)
    };
    struct Store {  ///< of the twin: a number that it writes down
        int step, lane;
        std::uint32_t address, bits;
        const Region* region;
    };
    using Found = std::unordered_map<std::uint32_t, std::vector<Position>>;  ///< by bits

    const Event& event(int w, int t) const { return twin_block.events[traced.event(w, t)]; }
    bool same(const Event& a, const Event& b) const;
    bool align(int w);
    void follow(int w);
    const Region* region_of(const Event& e) const;
    void note_results(int w, int t, std::array<std::array<Found, 4>, 32>& results) const;
    std::optional<Position> before(const Found& found, std::uint32_t bits, Position limit) const;
    std::optional<Number> number_at(const Region& region, std::uint32_t address) const;
    void take(int w, const Store& store, const std::array<Found, 4>& results);
    int last_step(int w, const Store& store) const;
    bool is_stored(int w, const Store& store, HeldAt& held) const;
    int last_summand(int w, int lane, int k) const;
    std::uint32_t sharers(int w, Position at, int lane, Gives gives) const;
    Position& limit_of(const Store& store, std::uint32_t row);

    Bridge& bridge;
    const Record &kernel, &twin;
    const Problem& problem;
    int launch;
    const BlockRecord &plain_block, &twin_block;
    Steps plain, traced;
    std::vector<int> step_of;  ///< by step of the twin: the kernel's; −1: the twin's alone
    std::map<std::pair<const Region*, std::uint32_t>, Position> limits;  ///< of one lane
};

bool Bridge::Maker::same(const Event& a, const Event& b) const {
    const Place &p = kernel.places[a.place], &q = twin.places[b.place];
    if (a.op != b.op || a.lanes != b.lanes || p.line != q.line || p.column != q.column || p.file != q.file)
        return false;
    // A twin has rounded P̃ before it packs it.
    return a.op == Op::pack || std::ranges::equal(plain_block.words_of(a), twin_block.words_of(b));
}

bool Bridge::Maker::align(int w) {
    step_of.assign(index_of(traced.count(w)), -1);
    int k = 0;
    for (int t = 0; t < traced.count(w); ++t)
        if (k < plain.count(w) && same(plain_block.events[plain.event(w, k)], event(w, t)))
            step_of[index_of(t)] = k++;
    return k == plain.count(w);
}

const Region* Bridge::Maker::region_of(const Event& e) const {
    if (e.op != Op::store) return nullptr;
    const std::uint32_t address = twin_block.words_of(e)[0];
    for (const Region& r : twin.regions)
        if (r.holds(address)) return r.name.starts_with("twin ") ? &r : nullptr;
    return nullptr;
}

void Bridge::Maker::note_results(int w, int t, std::array<std::array<Found, 4>, 32>& results) const {
    const Event& e = event(w, t);
    const auto note = [&](int lane, Gives gives, std::uint32_t bits, int word) {
        results[index_of(lane)][static_cast<std::size_t>(gives)][bits].push_back({t, word});
    };
    twin_block.each_lane(e, [&](int lane, LanePart words) {
        if (const int first = first_sum(e.op); first >= 0)
            for (int word = first; word < e.words; ++word)
                note(lane, Gives::product, words[index_of(word)], word);
        if (e.op == Op::exp2 || e.op == Op::exp) note(lane, Gives::exponential, words[1], 1);
        if (e.op == Op::shuffle)
            for (const Gives gives : {Gives::maximum, Gives::sum})
                note(lane, gives, shuffled(gives, words), 0);
    });
}

// A warp's numbers that the twin wrote down, each lane's from the last to the first: two alike have been made
// in the order in which they are written.
void Bridge::Maker::follow(int w) {
    std::array<std::array<Found, 4>, 32> results;
    std::array<std::vector<Store>, 32> stores;
    for (int t = 0; t < traced.count(w); ++t) {
        const Event& e = event(w, t);
        const Region* const region = region_of(e);
        if (!region) {
            note_results(w, t, results);
            continue;
        }
        twin_block.each_lane(e, [&](int lane, LanePart words) {
            stores[index_of(lane)].push_back({t, lane, words[0], words[1], region});
        });
    }
    for (std::size_t lane = 0; lane < 32; ++lane) {
        limits.clear();
        for (auto store = stores[lane].rbegin(); store != stores[lane].rend(); ++store)
            take(w, *store, results[lane]);
    }
}

std::optional<Bridge::Maker::Position> Bridge::Maker::before(const Found& found, std::uint32_t bits,
                                                             Position limit) const {
    const auto all = found.find(bits);
    if (all == found.end()) return std::nullopt;
    const auto behind = std::ranges::lower_bound(all->second, limit);
    if (behind == all->second.begin()) return std::nullopt;
    return *(behind - 1);
}

std::optional<Number> Bridge::Maker::number_at(const Region& region, std::uint32_t address) const {
    const std::uint32_t at = address - region.begin;
    const int row = static_cast<int>(at) / region.row_bytes,
              column = static_cast<int>(at) % region.row_bytes / region.element_bytes;
    const int tile = row / kernel.Br, tiles_j = (problem.N_kv() + kernel.Bc - 1) / kernel.Bc;
    const auto quantity = find_quantity(std::string_view(region.name).substr(5));
    Number n{*quantity, tile / tiles_j * kernel.Br + row % kernel.Br, column, tile % tiles_j};
    const bool of_keys = n.quantity == Quantity::S || n.quantity == Quantity::P;
    if (of_keys) n.column += n.tile * kernel.Bc;
    const int columns = of_keys ? problem.N_kv() : n.quantity == Quantity::O ? problem.d() : 1;
    return n.row < problem.N() && n.column < columns ? std::optional(n) : std::nullopt;
}

Bridge::Maker::Position& Bridge::Maker::limit_of(const Store& store, std::uint32_t row) {
    return limits.try_emplace({store.region, row}, Position{store.step, 0}).first->second;
}

// The lane's last step of the kernel before it wrote the number down; −1: there is none.
int Bridge::Maker::last_step(int w, const Store& store) const {
    for (int t = store.step - 1; t >= 0; --t)
        if (step_of[index_of(t)] >= 0 && event(w, t).has(store.lane)) return step_of[index_of(t)];
    return -1;
}

// Of the exponentials that the lane has just added up the last one that adds something: those of keys that
// the row does not see are 0. Itself, where all are.
int Bridge::Maker::last_summand(int w, int lane, int last) const {
    const auto& events = plain_block.events;
    if (last < 0) return last;
    const Event& end = events[plain.event(w, last)];
    if (end.op != Op::exp2 && end.op != Op::exp) return last;
    for (int k = last; k >= 0; --k) {
        const Event& e = events[plain.event(w, k)];
        if (e.place != end.place || e.op != end.op) break;
        if (e.has(lane) && as_float(plain_block.words_of(e, lane)[1]) != 0) return k;
    }
    return last;
}

// Plain arithmetic, and then a store to shared memory, before the lane writes the next number down.
bool Bridge::Maker::is_stored(int w, const Store& store, HeldAt& held) const {
    for (int t = store.step + 1; t < traced.count(w); ++t) {
        const Event& e = event(w, t);
        if (!e.has(store.lane)) continue;
        const LanePart words = twin_block.words_of(e, store.lane);
        if (e.op != Op::store || region_of(e) || !is_shared(words[0]) || words[1] != store.bits) return false;
        held.how = HeldAt::How::stored, held.step = step_of[index_of(t)], held.word = 1;
        return held.step >= 0;
    }
    return false;
}

// The lanes whose numbers came together in shuffles, the last of which is this one.
std::uint32_t Bridge::Maker::sharers(int w, Position at, int lane, Gives gives) const {
    std::uint32_t lanes = 1u << lane;
    for (int t = at.step; t >= 0 && event(w, t).op == Op::shuffle; --t) {
        const Event& e = event(w, t);
        if (t < at.step && event(w, t + 1).has(lane) && e.has(lane) &&
            shuffled(gives, twin_block.words_of(e, lane)) != twin_block.words_of(event(w, t + 1), lane)[0])
            break;
        std::uint32_t more = lanes;
        for (int l = 0; l < 32; ++l)
            if (lanes >> l & 1 && e.has(l)) more |= 1u << twin_block.words_of(e, l)[1];
        lanes = more;
    }
    return lanes;
}

void Bridge::Maker::take(int w, const Store& store, const std::array<Found, 4>& results) {
    const auto number = number_at(*store.region, store.address);
    HeldAt held{HeldAt::How::behind, launch, w, last_step(w, store), store.lane, -1, 1u << store.lane,
                as_float(store.bits)};
    const Gives gives = given_by(find_quantity(std::string_view(store.region->name).substr(5)).value());
    // A twin rounds P̃ before it writes it down: what it rounded is the exponential.
    std::uint32_t bits = store.bits;
    if (gives == Gives::exponential)
        for (int t = store.step - 1; t >= 0; --t) {
            const Event& e = event(w, t);
            if (!e.has(store.lane)) continue;
            const LanePart words = twin_block.words_of(e, store.lane);
            if (e.op == Op::from_float && step_of[index_of(t)] < 0 &&
                as_bits(number16(words[1], 0, twin.dtype)) == bits)
                bits = words[0];
            break;
        }
    const auto row =
        (store.address - store.region->begin) / static_cast<std::uint32_t>(store.region->row_bytes);
    Position& limit = limit_of(store, row);
    limit = std::min(limit, Position{store.step, 0});
    if (const auto at = before(results[static_cast<std::size_t>(gives)], bits, limit)) {
        limit = *at;
        const bool shuffles = gives == Gives::maximum || gives == Gives::sum;
        if (shuffles) held.lanes = sharers(w, *at, store.lane, gives);
        if (const int k = step_of[index_of(at->step)]; k >= 0)
            held.how = HeldAt::How::given, held.step = k, held.word = shuffles ? -1 : at->word;
        else if (shuffles)
            held.how = HeldAt::How::parts, held.step = last_summand(w, store.lane, held.step);
    } else {
        is_stored(w, store, held);
    }
    if (number && held.step >= 0) bridge.entries.push_back({*number, held});
}

// ---- The whole

Result<Bridge> Bridge::make(const Record& kernel, const Record& twin, const Problem& problem) {
    Bridge bridge;
    bridge.tile_rows = kernel.Br, bridge.tile_columns = kernel.Bc;
    if (kernel.Br == 0) return Failure{kernel.kernel + " has no tiles that it writes down."};
    if (kernel.launches.size() != twin.launches.size())
        return Failure{kernel.kernel + ": its twin has other launches."};
    const auto named = std::ranges::find(twin.regions, twin_region(Quantity::m), &Region::name);
    for (std::size_t n = 0; n < kernel.launches.size(); ++n) {
        const Launch& launch = kernel.launches[n];
        if (launch.blocks.empty() || twin.launches[n].blocks.empty()) continue;
        const std::string wrong = Maker(bridge, kernel, twin, problem, static_cast<int>(n)).run();
        if (!wrong.empty()) return Failure{wrong};
        if (named == twin.regions.end()) continue;
        const int tiles_j = (problem.N_kv() + kernel.Bc - 1) / kernel.Bc;
        for (int row = 0; row < problem.N(); ++row)
            for (int j = 0; j < tiles_j; ++j) {
                const int at = (row / kernel.Br * tiles_j + j) * kernel.Br + row % kernel.Br;
                const int block =
                    twin.writer(twin.launches[n], named->begin + static_cast<std::uint32_t>(4 * at));
                if (block >= 0) bridge.blocks[{Quantity::m, row, 0, j}] = block;
            }
    }
    bridge.sort();
    return bridge;
}

// α is that of the lanes that share m; all three are then found in each of these lanes.
void Bridge::sort() {
    const auto order = [](const Entry& e) {
        return std::tuple(e.held.launch, e.held.warp, e.held.lane, e.held.step, e.held.word, e.number);
    };
    std::ranges::sort(entries, {}, order);
    for (std::size_t n = 0; n < entries.size(); ++n) by_number[entries[n].number] = n;
    for (Entry& e : entries) {
        const Quantity q = e.number.quantity;
        if (q == Quantity::alpha)
            if (const auto m = find({Quantity::m, e.number.row, 0, e.number.tile})) e.held.lanes = m->lanes;
        if (q != Quantity::m && q != Quantity::alpha && q != Quantity::l) continue;
        for (int lane = 0; lane < 32; ++lane)
            if (lane != e.held.lane && e.held.lanes >> lane & 1) {
                shared.push_back(e);
                shared.back().held.lane = lane;
            }
    }
    std::ranges::sort(shared, {}, order);
}

std::optional<HeldAt> Bridge::find(const Number& number) const {
    const auto at = by_number.find(number);
    return at == by_number.end() ? std::nullopt : std::optional(entries[at->second].held);
}

int Bridge::block_of(const Number& number) const {
    const auto at = blocks.find({Quantity::m, number.row, 0, number.tile});
    return at == blocks.end() ? -1 : at->second;
}

std::vector<Bridge::Entry> Bridge::at(int launch, int warp, int step, int lane, int word) const {
    const auto key = [](const Entry& e) {
        return std::tuple(e.held.launch, e.held.warp, e.held.lane, e.held.step);
    };
    // Pairs of iterators: of a range of its own that is found in a range clang 14 can make nothing.
    const std::tuple wanted(launch, warp, lane, step);
    std::vector<Entry> out;
    for (const auto* all : {&entries, &shared})
        out.insert(out.end(), std::ranges::lower_bound(*all, wanted, {}, key),
                   std::ranges::upper_bound(*all, wanted, {}, key));
    std::stable_partition(out.begin(), out.end(),
                          [word](const Entry& e) { return word >= 0 && e.held.word == word; });
    return out;
}

std::optional<Bridge::Entry> Bridge::next(int launch, int warp, int step, int lane) const {
    const auto lane_of = [](const Entry& e) { return std::tuple(e.held.launch, e.held.warp, e.held.lane); };
    const std::tuple wanted(launch, warp, lane);
    std::optional<Entry> behind, last;
    for (const auto* all : {&entries, &shared}) {
        const auto first = std::ranges::lower_bound(*all, wanted, {}, lane_of),
                   end = std::ranges::upper_bound(*all, wanted, {}, lane_of);
        if (first == end) continue;
        const auto at =
            std::ranges::lower_bound(first, end, step, {}, [](const Entry& e) { return e.held.step; });
        if (at != end && (!behind || at->held.step < behind->held.step)) behind = *at;
        if (!last || (end - 1)->held.step > last->held.step) last = *(end - 1);
    }
    return behind ? behind : last;
}

// ---- Elements of device memory

namespace {

/// What a copy has brought to this place.
std::optional<std::uint32_t> arrived_word(const BlockRecord& block, const Event& issue, LanePart sent,
                                          std::uint32_t offset) {
    for (const Event& e : block.events) {
        if (e.op != Op::copy_arrived || e.warp != issue.warp) continue;
        for (int lane = 0; lane < 32; ++lane)
            if (const LanePart came = block.words_of(e, lane);
                !came.empty() && came[0] == sent[0] && came[1] == sent[3])
                return came[2 + offset / 4];
    }
    return std::nullopt;
}

bool fetches(const TileFetch& tile, std::uint32_t address) {
    if (tile.from == 0 || address < tile.from || tile.stride == 0) return false;
    const std::uint32_t at = address - tile.from;
    return at / tile.stride < tile.rows && at % tile.stride < tile.row_bytes;
}

}  // namespace

int block_of_element(const Record& record, const std::string& region, int row, int column) {
    const auto named = std::ranges::find(record.regions, region, &Region::name);
    if (named == record.regions.end()) return -1;
    const std::uint32_t address =
        named->begin + static_cast<std::uint32_t>(row * named->row_bytes + column * named->element_bytes);
    int block = -1;
    for (const Launch& launch : record.launches)
        if (const int last = record.writer(launch, address); last >= 0) block = last;
    return block;
}

std::optional<HeldAt> find_element(const Record& record, const BlockRecord& block, const Steps& steps,
                                   const std::string& region, int row, int column, bool writes) {
    const auto named = std::ranges::find(record.regions, region, &Region::name);
    if (named == record.regions.end()) return std::nullopt;
    const std::uint32_t address =
        named->begin + static_cast<std::uint32_t>(row * named->row_bytes + column * named->element_bytes);
    for (int w = 0; w < steps.warps(); ++w)
        for (int k = 0; k < steps.count(w); ++k) {
            const Event& e = block.events[steps.event(w, k)];
            const bool copies = e.op == Op::copy_issued, stores = e.op == Op::store;
            if (!writes && e.op == Op::fetch_tile && fetches(TileFetch(block.words_of(e)), address)) {
                const int lane = std::countr_zero(e.lanes);
                return HeldAt{HeldAt::How::loaded, 0, w, k, lane, -1, e.lanes, unknown_value};
            }
            if (writes ? !stores : !copies && e.op != Op::load) continue;
            for (int lane = 0; lane < 32; ++lane) {
                if (!e.has(lane)) continue;
                const LanePart words = block.words_of(e, lane);
                const std::uint32_t from = words[copies ? 1 : 0];
                if (is_shared(from) || address < from || address >= from + e.bytes ||
                    (copies && words[2] == 0))
                    continue;
                const std::uint32_t offset = address - from;
                const auto word =
                    copies ? arrived_word(block, e, words, offset) : std::optional(words[1 + offset / 4]);
                if (!word) continue;
                const float value = named->element_bytes == 2
                                        ? number16(*word, static_cast<int>(offset % 4 / 2), record.dtype)
                                        : as_float(*word);
                return HeldAt{writes ? HeldAt::How::written : HeldAt::How::loaded,
                              0,
                              w,
                              k,
                              lane,
                              -1,
                              1u << lane,
                              value};
            }
        }
    return std::nullopt;
}

}  // namespace tilewalk::inside
