#include "cuda/record/recording.h"

#include "core/inside/accesses.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tilewalk::gpu {

namespace {

using inside::Event;
using inside::Op;

constexpr std::size_t piece_alignment = 256;

/// "cuda/kernels/bands.h" of the path that the compiler was called with.
std::string short_path(const std::string& path) {
    const std::size_t at = path.rfind("/cuda/");
    return at == path.npos ? path : path.substr(at + 1);
}

std::uint32_t mask_of(std::size_t lane) { return 1u << lane; }

}  // namespace

// ---- Memory

Arena::Arena(std::int64_t most_bytes)
    : memory(static_cast<unsigned char*>(
          std::aligned_alloc(piece_alignment, static_cast<std::size_t>(most_bytes) + piece_alignment))),
      size(memory ? most_bytes : 0) {}

Arena::~Arena() { std::free(memory); }

// A piece that nobody has lies behind each one.
void* Arena::take(std::int64_t bytes) {
    const auto step = static_cast<std::int64_t>(piece_alignment);
    const std::int64_t needed = (bytes + step - 1) / step * step + step;
    if (needed > size - next) return nullptr;
    void* const piece = memory + next;
    next += needed;
    ++pieces;
    return piece;
}

void Arena::give_back() {
    if (--pieces == 0) next = 0;
}

std::uint32_t Arena::address(const void* p) const {
    return inside::global_base +
           static_cast<std::uint32_t>(static_cast<const unsigned char*>(p) - memory - skew);
}

// ---- What a thread does

Recording::Lane& Recording::self() { return lanes[static_cast<std::size_t>(emulator::block->self().index)]; }

bool Recording::is_memory(const void* p) const {
    if (!emulator::block) return false;  // the host
    const auto* const shared = emulator::block->shared();
    return arena.holds(p) || (p >= shared && p < shared + result.launches.back().shared_bytes);
}

std::uint32_t Recording::address(const void* p) const {
    if (arena.holds(p)) return arena.address(p);
    return static_cast<std::uint32_t>(static_cast<const unsigned char*>(p) - emulator::block->shared());
}

std::uint32_t Recording::place(const char* file, int line, int column) {
    const auto [at, is_new] =
        sites.try_emplace({file, line, column}, static_cast<std::uint32_t>(result.places.size()));
    if (is_new) result.places.push_back({short_path(file), line, column});
    return at->second;
}

std::uint32_t Recording::place(const std::source_location& at) {
    return place(at.file_name(), static_cast<int>(at.line()), static_cast<int>(at.column()));
}

void Recording::settle() {
    Lane& lane = self();
    if (!lane.stored) return;
    const Step& step = lane.steps.back();
    std::memcpy(&lane.words[step.at + 1], lane.stored, step.bytes);
    lane.stored = nullptr;
}

void Recording::note(Op op, std::uint32_t place, int bytes, std::span<const std::uint32_t> words) {
    settle();
    if (++steps > limits.steps)
        emulator::block->fail("The kernel was stopped after " + std::to_string(limits.steps) +
                              " steps of its threads.");
    constexpr std::int64_t asks_every = 1 << 12;
    if (steps % asks_every == 0 && limits.stop.stop_requested()) emulator::block->fail("Cancelled.");
    Lane& lane = self();
    lane.steps.push_back({place, static_cast<std::uint32_t>(lane.words.size()), op,
                          static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(words.size())});
    lane.words.insert(lane.words.end(), words.begin(), words.end());
    if (!inside::info(op).meets) return;
    ++lane.meetings;
    lay_side_by_side(emulator::block->self().index / 32);
}

void Recording::note_access(bool stores, std::uint32_t place, const void* p, int bytes) {
    std::uint32_t words[5] = {address(p)};
    if (!stores) std::memcpy(words + 1, p, static_cast<std::size_t>(bytes));
    note(stores ? Op::store : Op::load, place, bytes,
         std::span(words, 1 + static_cast<std::size_t>((bytes + 3) / 4)));
    if (stores) self().stored = p;
}

void Recording::issue(std::uint32_t place, void* to, const void* from, bool inside) {
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

void Recording::end_thread() {
    settle();
    self().ended = true;
    lay_side_by_side(emulator::block->self().index / 32);
}

// ---- From lanes to warps

void Recording::lay_side_by_side(int warp) {
    const std::size_t first = static_cast<std::size_t>(warp) * 32;
    const std::span<Lane> all =
        std::span(lanes).subspan(first, std::min<std::size_t>(32, lanes.size() - first));
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
    kept_bytes += static_cast<std::int64_t>(sizeof event + gathered.size() * sizeof gathered[0]);
    if (kept_bytes > limits.bytes) {
        emulator::block->fail("The events of these blocks take more than " +
                              std::to_string(limits.bytes >> 20) + " MiB; ask for fewer blocks.");
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
    how.stall_warps = false, how.seed = limits.seed, how.skew = skew;
    emulator::Block block(grid.threads, grid.shared_bytes, how);
    std::string wrong;
    for (int b = 0; b < grid.x * grid.y * grid.z && wrong.empty(); ++b) {
        const int x = b % grid.x, y = b / grid.x % grid.y, z = b / grid.x / grid.y;
        lanes.assign(static_cast<std::size_t>(grid.threads), Lane{});
        races->begin_block(b, launch.warps());
        const bool wanted = std::ranges::find(limits.blocks, b) != limits.blocks.end();
        kept = wanted ? &launch.blocks.emplace_back(inside::BlockRecord{x, y, z, {}, {}}) : nullptr;
        wrong = block.run(x, y, z, [&] {
            body();
            end_thread();
        });
        if (limits.blocks_done) ++*limits.blocks_done;
    }
    launch.counts = std::move(counts);
    launch.races = races->races();
    return wrong;
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
constexpr unsigned char kind_store = 1, kind_load = 0, kind_member = 3;

}  // namespace

extern "C" void tilewalk_record_access(const AccessSite* site, const void* p) {
    using namespace tilewalk::gpu;
    if (!recording || !recording->is_memory(p)) return;
    if (site->kind != kind_load && site->kind != kind_store && site->kind != kind_member) return;
    const std::uint32_t place =
        recording->place(site->file, static_cast<int>(site->line), static_cast<int>(site->column));
    recording->note_access(site->kind == kind_store, place, p, 1 << site->log2_bytes);
}
