#include "cuda/record/recording.h"

#include "core/base/numbers.h"
#include "core/inside/accesses.h"
#include "core/inside/tiles.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tilewalk::gpu {

namespace {

using inside::Event;
using inside::Op;

constexpr std::size_t piece_alignment = 256;
constexpr std::int64_t most_pieces = 48;

/// "cuda/kernels/bands.h" of the path that the compiler was called with.
std::string short_path(const std::string& path) {
    const std::size_t at = path.rfind("/cuda/");
    return at == path.npos ? path : path.substr(at + 1);
}

std::uint32_t mask_of(std::size_t lane) { return 1u << lane; }

/// From the begin of the block's shared memory, of any address.
std::int64_t shared_offset(const void* p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) -
                                     reinterpret_cast<std::uintptr_t>(emulator::block->shared()));
}

/// Of a barrier that counts: an arrival, or bytes.
bool ends_phase(Op op) { return inside::arrives(op) || op == Op::fetch_tile; }

std::int64_t event_bytes(std::size_t words) {
    return static_cast<std::int64_t>(sizeof(Event) + words * sizeof(std::uint32_t));
}
std::int64_t bytes_of(const inside::BlockRecord& block) {
    return static_cast<std::int64_t>(block.events.size() * sizeof(Event)) +
           static_cast<std::int64_t>(block.words.size() * sizeof(std::uint32_t));
}

}  // namespace

// ---- Memory

Arena::Arena(std::int64_t most_bytes)
    : room(most_bytes + (most_pieces + 1) * gap),
      memory(static_cast<unsigned char*>(
          std::aligned_alloc(piece_alignment, static_cast<std::size_t>(room) + piece_alignment))),
      size(memory ? most_bytes : 0) {}

Arena::~Arena() { std::free(memory); }

// In the record's addresses, too, something that nobody has lies behind each one.
void* Arena::take(std::int64_t bytes) {
    const auto step = static_cast<std::int64_t>(piece_alignment);
    const std::int64_t needed = (bytes + step - 1) / step * step + step;
    const std::int64_t begin = next + static_cast<std::int64_t>(pieces.size() + 1) * gap;
    if (needed > size - next || begin + needed + gap > room) return nullptr;
    pieces.push_back({begin, bytes, inside::global_base + static_cast<std::uint32_t>(next)});
    next += needed;
    ++taken;
    return memory + begin;
}

void Arena::give_back() {
    if (--taken == 0) next = 0, pieces.clear();
}

const Arena::Piece* Arena::near(const void* p) const {
    const std::int64_t at = offset(p);
    const Piece* best = nullptr;
    std::int64_t least = gap;
    for (const Piece& piece : pieces) {
        const std::int64_t away = at < piece.begin                  ? piece.begin - at
                                  : at >= piece.begin + piece.bytes ? at - piece.begin - piece.bytes + 1
                                                                    : 0;
        if (away < least) best = &piece, least = away;
    }
    return best;
}

bool Arena::holds(const void* p, int bytes) const {
    const Piece* const piece = near(p);
    return piece && offset(p) >= piece->begin && offset(p) + bytes <= piece->begin + piece->bytes;
}

std::uint32_t Arena::address(const void* p) const {
    const Piece* const piece = near(p);
    return piece ? static_cast<std::uint32_t>(piece->address + offset(p) - piece->begin)
                 : inside::global_base;  // of what is not read: the source of a copy of zeros
}

// ---- What a thread does

Recording::Lane& Recording::self() { return lanes[static_cast<std::size_t>(emulator::block->self().index)]; }

std::uint32_t Recording::address(const void* p) const {
    const auto in_shared = arena.near(p) ? -1 : shared_offset(p);
    return in_shared < 0 ? arena.address(p) : static_cast<std::uint32_t>(in_shared);
}

std::uint32_t Recording::place(const char* file, int line, int column) {
    const auto [at, is_new] =
        sites.try_emplace({file, line, column}, static_cast<std::uint32_t>(result.places.size()));
    if (is_new) result.places.push_back({short_path(file), line, column});
    return at->second;
}

std::uint32_t Recording::place(const At& at) {
    return place(at.file_name(), static_cast<int>(at.line()), static_cast<int>(at.column()));
}

void Recording::settle() { settle(self()); }

void Recording::settle(Lane& lane) {
    if (!lane.stored) return;
    const Step& step = lane.steps.back();
    std::memcpy(&lane.words[step.at + 1], lane.stored, step.bytes);
    lane.stored = nullptr;
}

std::uint32_t Recording::sums(const float* first) {
    std::vector<const float*>& known = self().sums;
    const auto at = std::ranges::find(known, first);
    const auto number = static_cast<std::uint32_t>(at - known.begin());
    if (at == known.end()) known.push_back(first);
    return number;
}

void Recording::note(Op op, std::uint32_t place, int bytes, std::span<const std::uint32_t> words) {
    settle();
    if (++steps > limits.steps)
        stop("The kernel was stopped after " + std::to_string(limits.steps) + " steps of its threads.");
    constexpr std::int64_t asks_every = 1 << 12;
    if (steps % asks_every == 0 && limits.stop.stop_requested()) stop("Cancelled.");
    Lane& lane = self();
    constexpr std::size_t most_alone = 4'000'000;
    if (untested() && lane.steps.size() >= most_alone)
        stop(inside::place_text(result, place) + ": thread " + std::to_string(emulator::block->self().index) +
             " of block " + std::to_string(emulator::block->x) +
             " does not come to an end or a barrier; it was stopped after " + std::to_string(most_alone) +
             " steps.");
    lane.steps.push_back({place, static_cast<std::uint32_t>(lane.words.size()), op,
                          static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(words.size())});
    lane.words.insert(lane.words.end(), words.begin(), words.end());
    lane.last = place;
    lane.arrivals += ends_phase(op);
    if (!inside::info(op).meets) return;
    ++lane.meetings;
    lay_side_by_side(emulator::block->self().index / 32);
}

// ---- What a thread must not do

void Recording::stop(const std::string& sentence) {
    if (limits.stopped) limits.stopped(sentence);
    emulator::block->fail(sentence);
}

bool Recording::is_given(const void* p, int bytes) const {
    if (arena.holds(p, bytes)) return true;
    const std::int64_t at = shared_offset(p);
    return at >= 0 && at + bytes <= result.launches.back().shared_bytes;
}

// In elements of the buffer that it misses; far away from all there is nothing to say.
std::string Recording::where_outside(const void* p, int bytes) const {
    const auto at_index = [](const char* what, std::int64_t index, const std::string& of, std::int64_t extent,
                             const std::string& unit) {
        return std::string("at ") + what + " " + std::to_string(index) + " of " + of + ", which has " +
               std::to_string(extent) + unit;
    };
    if (const Arena::Piece* const piece = arena.near(p)) {
        // Of several that begin there the last is the whole piece.
        const auto region = std::ranges::find(result.regions.rbegin(), result.regions.rend(), piece->address,
                                              &inside::Region::begin);
        const bool named = region != result.regions.rend();
        const std::int64_t size = named && region->element_bytes > 0 ? region->element_bytes : bytes,
                           away = arena.offset(p) - piece->begin;
        return at_index("index", away >= 0 ? away / size : -((size - 1 - away) / size),
                        named ? region->name : "memory without a name", piece->bytes / size,
                        " of " + std::to_string(size) + (size == 1 ? " byte" : " bytes"));
    }
    const std::int64_t in_shared = shared_offset(p), shared_bytes = result.launches.back().shared_bytes;
    if (std::abs(in_shared) < Arena::gap)
        return at_index("byte", in_shared, "shared memory", shared_bytes, " bytes");
    return "at an address that is none of its memory";
}

void Recording::expect_given(std::uint32_t place, const void* p, int bytes, bool stores) {
    if (!emulator::block || is_given(p, bytes)) return;
    const int thread = emulator::block->self().index;
    const std::string at = inside::place_text(result, place);
    stop((at.starts_with(kernel + ":") ? "" : kernel + ": ") + at + ": warp " + std::to_string(thread / 32) +
         ", lane " + std::to_string(thread % 32) + " of block " + std::to_string(emulator::block->x) +
         (stores ? " writes " : " reads ") + std::to_string(bytes) + " bytes " + where_outside(p, bytes) +
         ".");
}

void Recording::stop_at_member(std::uint32_t place) {
    stop(
        inside::place_text(result, place) +
        ": the kernel reaches memory through a member of a struct, "
        "and whether it reads or writes there cannot be seen. Keep what threads share in arrays of numbers.");
}

const void* Recording::reported_at(const void* p, std::uint32_t place, const char* file, int line, int column,
                                   bool stores) {
    if (limits.reported.empty()) return p;
    const auto [at, is_new] = behind.try_emplace(std::uint64_t(place) << 1 | stores, std::nullopt);
    if (is_new) {
        const auto known = limits.reported.find(inside::reported_site(file, line, column, stores));
        if (known != limits.reported.end()) at->second = known->second;
    }
    if (!at->second)
        stop(inside::place_text(result, place) +
             ": of this access the compiler tells only where its row of an array begins. Reach numbers "
             "through "
             "one index, as in s[row * width + column]; where it is a constant of a template, put it into a "
             "variable first.");
    return static_cast<const unsigned char*>(p) + at->second.value_or(0);
}

void Recording::note_access(bool stores, std::uint32_t place, const void* p, int bytes) {
    std::uint32_t words[5] = {address(p)};
    if (!stores) std::memcpy(words + 1, p, static_cast<std::size_t>(bytes));
    note(stores ? Op::store : Op::load, place, bytes,
         std::span(words, 1 + static_cast<std::size_t>((bytes + 3) / 4)));
    if (stores) self().stored = p;
}

void Recording::issue(std::uint32_t place, void* to, const void* from, bool inside) {
    expect_given(place, to, 16, true);
    if (inside) expect_given(place, from, 16, false);
    Lane& lane = self();
    const std::uint32_t words[] = {address(to), address(from), inside, lane.committed};
    note(Op::copy_issued, place, 16, words);
    lane.open.push_back({place, to});
}

void Recording::commit(std::uint32_t place) {
    Lane& lane = self();
    const std::uint32_t words[] = {lane.committed++};
    note(Op::copies_committed, place, 0, words);
    lane.groups.push_back(std::move(lane.open));
    lane.open.clear();
}

void Recording::wait(std::uint32_t place, int groups) {
    Lane& lane = self();
    const std::uint32_t done = lane.committed - std::min(lane.committed, static_cast<std::uint32_t>(groups));
    const std::uint32_t words[] = {static_cast<std::uint32_t>(groups), done};
    note(Op::wait_copies, place, 0, words);
    for (; lane.arrived < done; ++lane.arrived, lane.groups.pop_front())
        for (const Copy& copy : lane.groups.front()) {
            std::uint32_t arrived[6] = {address(copy.to), lane.arrived};
            std::memcpy(arrived + 2, copy.to, 16);
            note(Op::copy_arrived, copy.place, 16, arrived);
        }
}

bool Recording::leaves_out(std::uint32_t place) {
    if (!limits.fault || limits.fault->line == 0) return false;
    const inside::Place& at = result.places[place];
    if (at.line != limits.fault->line || at.file != limits.fault->file) return false;
    note(Op::left_out, place, 0, {});
    return true;
}

void Recording::end_thread() {
    settle();
    self().ended = true;
    lay_side_by_side(emulator::block->self().index / 32);
}

// ---- From lanes to warps

std::span<Recording::Lane> Recording::lanes_of(int warp) {
    const std::size_t first = static_cast<std::size_t>(warp) * 32;
    return std::span(lanes).subspan(first, std::min<std::size_t>(32, lanes.size() - first));
}

void Recording::catch_up(std::uint32_t barrier, std::uint32_t phases) {
    const auto tells = [&](const Lane& lane) {
        for (std::size_t n = lane.next; lane.arrivals > 0 && n < lane.steps.size(); ++n) {
            const Step& step = lane.steps[n];
            if (!ends_phase(step.op)) continue;
            const auto words = std::span(lane.words).subspan(step.at, step.words);
            const bool fetches = step.op == Op::fetch_tile;
            const std::uint32_t of = fetches ? inside::TileFetch(words).barrier : words[0],
                                phase = fetches ? inside::TileFetch(words).phase : words[1];
            if (of == barrier && phase < phases) return true;
        }
        return false;
    };
    const int own = emulator::block->self().index / 32, warps = (static_cast<int>(lanes.size()) + 31) / 32;
    for (int warp = 0; warp < warps; ++warp) {
        const std::span<Lane> all = lanes_of(warp);
        while (warp != own && std::ranges::any_of(all, tells)) {
            for (Lane& lane : all) settle(lane);
            const Step* const step = next_step(all);
            if (!step) break;
            emit(warp, all, lanes_at(all, *step));
        }
    }
}

// Who asked for it may have gone on, or ended: it is a step of its lane all the same.
void Recording::tile_arrived(const emulator::Flight& flight) {
    Lane& lane = lanes[static_cast<std::size_t>(flight.thread)];
    settle(lane);
    const std::uint32_t words[] = {address(flight.to), address(flight.barrier),
                                   emulator::block->hopper.completed(flight.barrier)};
    const auto place = lane.fetches.find(flight.to);
    if (place == lane.fetches.end()) return;
    lane.steps.push_back(
        {place->second, static_cast<std::uint32_t>(lane.words.size()), Op::tile_arrived, 0, 3});
    lane.words.insert(lane.words.end(), std::begin(words), std::end(words));
    if (lane.ended) lay_side_by_side(flight.thread / 32);
}

void Recording::lay_side_by_side(int warp) {
    const std::span<Lane> all = lanes_of(warp);
    const auto has_come = [](const Lane& lane) { return lane.ended || lane.meetings > 0; };
    const auto is_done = [](const Lane& lane) { return lane.ended && !lane.step(); };
    while (std::all_of(all.begin(), all.end(), has_come) && !std::all_of(all.begin(), all.end(), is_done))
        until_meeting(warp, all);
    for (Lane& lane : all)
        if (!lane.step()) lane.steps.clear(), lane.words.clear(), lane.next = 0;
}

void Recording::until_meeting(int warp, std::span<Lane> all) {
    while (const Step* const step = next_step(all)) emit(warp, all, lanes_at(all, *step));
    std::uint32_t meets = 0;
    for (std::size_t l = 0; l < all.size(); ++l)
        if (all[l].step()) meets |= mask_of(l), --all[l].meetings;
    if (meets != 0) emit(warp, all, meets);
}

std::uint32_t Recording::lanes_at(std::span<const Lane> all, const Step& step) {
    std::uint32_t lanes = 0;
    for (std::size_t l = 0; l < all.size(); ++l)
        if (const Step* const other = all[l].step(); other && other->same_as(step)) lanes |= mask_of(l);
    return lanes;
}

// Of the steps that lanes are at, one that no other lane comes to later: where lanes part, those that have
// more to do go first. Null when all are at their meeting.
const Recording::Step* Recording::next_step(std::span<const Lane> all) {
    const auto comes_later = [](const Lane& lane, const Step& wanted) {
        for (std::size_t n = lane.next; n < lane.steps.size() && !inside::info(lane.steps[n].op).meets; ++n)
            if (lane.steps[n].same_as(wanted)) return true;
        return false;
    };
    const Step* first = nullptr;
    const Step* tried = nullptr;
    for (const Lane& lane : all) {
        const Step* const step = lane.step();
        if (!step || inside::info(step->op).meets || (tried && step->same_as(*tried))) continue;
        if (!first) first = step;
        tried = step;
        if (std::none_of(all.begin(), all.end(), [&](const Lane& other) {
                return other.step() && !other.step()->same_as(*step) && comes_later(other, *step);
            }))
            return step;
    }
    return first;
}

void Recording::emit(int warp, std::span<Lane> all, std::uint32_t mask) {
    const Lane& any = all[static_cast<std::size_t>(std::countr_zero(mask))];
    const Step step = *any.step();
    gathered.clear();
    for (std::size_t l = 0; l < all.size(); ++l) {
        if (!(mask & mask_of(l))) continue;
        const auto begin = all[l].words.begin() + static_cast<std::ptrdiff_t>(all[l].step()->at);
        gathered.insert(gathered.end(), begin, begin + step.words);
        all[l].arrivals -= ends_phase(step.op);
        ++all[l].next;
    }
    const Event event{step.place, mask, 0, step.op, static_cast<std::uint8_t>(warp), step.bytes, step.words};
    races->take(event, gathered);
    count(event);
    if (kept) keep(event);
}

void Recording::count(const Event& event) {
    const auto [at, is_new] = count_of.try_emplace(
        std::uint64_t(event.place) << 8 | static_cast<std::uint64_t>(event.op), counts.size());
    if (is_new) counts.push_back({event.place, event.op});
    inside::Counts& c = counts[at->second];
    ++c.warps;
    c.lanes += std::popcount(event.lanes);
    if (event.op == Op::multiply_add) ++c.products;
    if (event.op == Op::multiply_async) c.products += inside::TileProduct(gathered).columns / 8;
    if (event.op == Op::fetch_tile) {
        const inside::TileFetch tile(gathered);
        c.global_bytes += std::int64_t(tile.rows) * tile.row_bytes;
        c.sectors += tile.sectors(), c.sectors_least += tile.sectors();
        c.shared_bytes += tile.box_bytes;
    }
    for (const inside::Access& access : inside::accesses_of(event, gathered)) {
        const int lanes_here = std::popcount(access.lanes);
        if (access.shared) {
            const inside::BankTurns turns = inside::bank_turns(access.addresses, access.lanes, event.bytes);
            c.shared_bytes += lanes_here * event.bytes;
            c.shared_turns += turns.turns, c.shared_least += turns.least;
            c.worst_ways = std::max(c.worst_ways, turns.ways);
        } else {
            const inside::Sectors s = inside::sectors(access.addresses, event.bytes);
            c.global_bytes += lanes_here * event.bytes;
            c.sectors += s.touched, c.sectors_least += s.least();
        }
    }
}

void Recording::keep(const Event& event) {
    kept_bytes += event_bytes(gathered.size());
    if (kept_bytes > limits.bytes) {
        stop("The events of " +
             (limits.blocks.size() > 1 ? "these " + std::to_string(limits.blocks.size()) + " blocks"
                                       : std::string("one block")) +
             " take more than " + format_size(limits.bytes) + ", and no more are kept; the last one was at " +
             inside::place_text(result, event.place) +
             ". If it is in a loop, the loop may never end; if it does, " +
             (limits.blocks.size() > 1 ? "ask for fewer blocks, or " : "") +
             "give the kernel a smaller problem, or each block less of it.");
        return;
    }
    kept->events.push_back(event);
    kept->events.back().at = static_cast<std::uint32_t>(kept->words.size());
    kept->words.insert(kept->words.end(), gathered.begin(), gathered.end());
}

// ---- Launches

std::string Recording::run(const Grid& grid, const std::function<void()>& body) {
    inside::Launch& launch = result.launches.emplace_back();
    launch.x = grid.x, launch.y = grid.y, launch.z = grid.z;
    launch.threads = grid.threads, launch.shared_bytes = grid.shared_bytes;
    races = std::make_unique<inside::RaceDetector>(grid.shared_bytes, arena.used());
    counts.clear(), count_of.clear();

    emulator::Options how;
    how.stall_warps = limits.schedule.stalls, how.seed = limits.schedule.seed, how.skew = skew;
    using inside::FaultKind;
    how.forgives = has(FaultKind::barrier) || has(FaultKind::wait);
    how.copies = limits.schedule.early ? emulator::Options::Copies::early : emulator::Options::Copies::late;
    emulator::Block block(grid.threads, grid.shared_bytes, how);
    std::string wrong;
    for (int b = 0; b < grid.x * grid.y * grid.z && wrong.empty(); ++b) {
        const int x = b % grid.x, y = b / grid.x % grid.y, z = b / grid.x / grid.y;
        lanes.assign(static_cast<std::size_t>(grid.threads), Lane{});
        races->begin_block(b, launch.warps());
        const bool wanted = std::ranges::find(limits.blocks, b) != limits.blocks.end();
        inside::BlockRecord events{x, y, z, {}, {}};
        kept = wanted || limits.timed ? &events : nullptr;
        block.hopper.on_arrival = [this](const emulator::Flight& flight) { tile_arrived(flight); };
        wrong = block.run(x, y, z, [&] {
            body();
            end_thread();
        });
        if (kept) keep_block(launch, std::move(events), wanted);
        kept = nullptr;
        if (limits.blocks_done) ++*limits.blocks_done;
    }
    launch.counts = std::move(counts);
    launch.races = races->races();
    note_writers(launch);
    if (wrong.starts_with("Deadlock")) wrong += where_warps_wait();
    if (wrong.starts_with("Deadlock") && limits.fault)
        wrong = "Without that the kernel does not come to its end, and a GPU would hang, too. " + wrong;
    return wrong;
}

// A block that is only timed is forgotten, and so the launch may be of any length.
void Recording::keep_block(inside::Launch& launch, inside::BlockRecord block, bool wanted) {
    if (limits.timed) launch.clocks.push_back(inside::model_time(block, launch.warps(), *limits.timed).end);
    if (wanted)
        launch.blocks.push_back(std::move(block));
    else
        kept_bytes -= bytes_of(block);
}

// " Last seen: warp 1 at my.cu:3.", of the first warps that have not ended
std::string Recording::where_warps_wait() const {
    constexpr std::size_t most = 4;
    std::string text;
    std::size_t told = 0;
    for (std::size_t n = 0; n < lanes.size() && told < most; n += 32) {
        const auto warp = std::span(lanes).subspan(n, std::min<std::size_t>(32, lanes.size() - n));
        const auto waits = std::ranges::find_if(
            warp, [](const Lane& lane) { return !lane.ended && lane.last != inside::Place::none; });
        if (waits == warp.end()) continue;
        text += (told++ == 0 ? " Last seen: warp " : ", warp ") + std::to_string(n / 32) + " at " +
                inside::place_text(result, waits->last);
    }
    return text.empty() ? "" : text + ".";
}

void Recording::note_writers(inside::Launch& launch) const {
    constexpr std::uint32_t word = 4;
    for (const inside::Region& region : result.regions) {
        auto& blocks = launch.writers.emplace_back();
        bool any = false;
        for (std::uint32_t at = 0; region.row_bytes > 0 && at < region.bytes; at += word) {
            blocks.push_back(races->writer(region.begin + at));
            any = any || blocks.back() >= 0;
        }
        if (!any) blocks = {};
    }
}

void Recording::note_product(int m, int n, int k, int count) {
    const auto str = [](int x) { return std::to_string(x); };
    result.launches.emplace_back().name = str(count) + (count == 1 ? " product " : " products ") + str(m) +
                                          " × " + str(k) + " by " + str(k) + " × " + str(n);
}

void RecordingStream::run(const Grid& grid, const std::function<void()>& body) {
    if (!recording) return EmulatedStream::run(grid.x, grid.y, grid.z, grid.threads, grid.shared_bytes, body);
    if (!failure.empty()) return;
    ++launches;
    const std::string refused = refuse_launch(grid, chip);
    failure = refused.empty() ? recording->run(grid, body) : "A launch was refused: " + refused + ".";
}

}  // namespace tilewalk::gpu

// ---- What the compiler calls at an access of a kernel's source

namespace {

/// As gcc and clang lay it out (struct TypeMismatchData of the sanitizer's runtime).
struct AccessSite {
    const char* file;
    std::uint32_t line, column;
    const void* type;
    unsigned char log2_bytes, kind;
};
constexpr unsigned char kind_store = 1, kind_load = 0, kind_member = 3, kind_call = 4;

/// In a browser: of a number of 16 bits, its operator= (core/base/float16.h).
bool assigns_half(const AccessSite& site) {
    constexpr unsigned char log2_half = 1;
    return tilewalk::in_browser && site.kind == kind_call && site.log2_bytes == log2_half;
}

}  // namespace

extern "C" void tilewalk_record_access(const AccessSite* site, const void* p) {
    using namespace tilewalk::gpu;
    if (!recording) return;
    const bool stores = site->kind == kind_store || assigns_half(*site);
    if (site->kind != kind_load && !stores && site->kind != kind_member) return;
    if (!tilewalk::gpu::emulator::block) return;  // the host
    const int bytes = 1 << site->log2_bytes;
    const std::uint32_t place =
        recording->place(site->file, static_cast<int>(site->line), static_cast<int>(site->column));
    // The compiler does not say whether it reads or writes; taken for either, a race would be missed or made
    // up.
    if (site->kind == kind_member) recording->stop_at_member(place);
    p = recording->reported_at(p, place, site->file, static_cast<int>(site->line),
                               static_cast<int>(site->column), stores);
    recording->expect_given(place, p, bytes, stores);
    recording->note_access(stores, place, p, bytes);
}
