// What a block did is looked through whatever it did: a kernel of one's own may copy without waiting, store
// what nobody reads, multiply what nobody loaded. Everything that the pages ask is asked of each step of
// random blocks.
#include "core/inside/barriers.h"
#include "core/inside/bridge.h"
#include "core/inside/crossing.h"
#include "core/inside/meeting.h"
#include "core/inside/model_time.h"
#include "core/inside/phases.h"
#include "core/inside/reasons.h"
#include "core/inside/record_file.h"
#include "core/inside/shared_map.h"
#include "core/inside/sides.h"
#include "core/inside/sums.h"
#include "core/inside/uses.h"
#include "core/inside/words.h"
#include "tests/core/inside/made_run.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

namespace tilewalk::inside {
namespace {

using tilewalk::test::pick;
using tilewalk::test::Random;
using Words = std::vector<std::uint32_t>;

constexpr int lines = 12;

/// TILEWALK_BLOCKS asks for so many, and at least for those of an ordinary run.
std::uint64_t blocks() {
    constexpr std::uint64_t least = 400;
    const char* const wish = std::getenv("TILEWALK_BLOCKS");
    return wish ? std::max<std::uint64_t>(least, std::strtoull(wish, nullptr, 10)) : least;
}

/// One block of random steps; numbers are few, so that the same bits are met in many places.
class AnyBlock {
public:
    explicit AnyBlock(std::uint64_t seed) : random_(seed), warps_(pick(random_, 1, 3)), made(warps_, lines) {
        made.record.regions.clear();
        std::uint32_t begin = global_base;
        for (const char* name : {"Q", "K", "V", "L", "twin m", ""}) {
            const bool column = *name == 'L' || *name == 't', rows = *name != 0;
            const int row_bytes = !rows ? 0 : column ? 4 : 64;
            made.record.regions.push_back({name, begin, 1024, row_bytes, rows ? (column ? 4 : 2) : 0, -1});
            begin += 2048;
        }
        if (flip()) made.record.kernel = "f5-flash2", made.record.Br = made.record.Bc = 8;
        made.record.swizzles = flip(), made.record.dtype = flip() ? DType::bf16 : DType::f32;
        for (int n = pick(random_, 0, 60); n > 0; --n) step();
    }
    test::MadeRun& run() { return made; }
    int warps() const { return warps_; }
    bool flip() { return pick(random_, 0, 1) == 1; }
    int upto(int n) { return pick(random_, 0, n); }
    Random& random() { return random_; }

private:
    std::uint32_t number() {
        constexpr float numbers[] = {0, 1, -1, .5f, 2, 3.25f, -7, 1e30f};
        return std::bit_cast<std::uint32_t>(numbers[upto(7)]);
    }
    std::uint32_t shared(std::uint32_t step = 4) {
        return static_cast<std::uint32_t>(upto(1023)) / step * step;
    }
    std::uint32_t global() { return global_base + 2048u * static_cast<std::uint32_t>(upto(5)) + shared(); }
    std::uint32_t address() { return flip() ? shared() : global(); }
    std::uint32_t small() { return static_cast<std::uint32_t>(upto(2)); }

    /// Words of so many lanes, each drawn by itself.
    void add(Op op, int bytes, auto words, bool whole = false) {
        const int count = whole ? 32 : pick(random_, 1, 32), first = whole ? 0 : upto(32 - count);
        std::vector<Words> lanes;
        for (int n = 0; n < count; ++n) lanes.push_back(words(n));
        made.add(op, warp_, 1 + upto(lines - 1), bytes, lanes, first);
    }
    void whole(Op op, const Words& words = {}) { made.whole(op, warp_, 1 + upto(lines - 1), words); }

    void step() {
        warp_ = upto(warps_ - 1);
        const auto op = static_cast<Op>(upto(static_cast<int>(Op::count) - 1));
        const std::uint32_t begin = address(), stride = flip() ? 4 : 64;
        switch (op) {
        case Op::load:
        case Op::store:
            return add(op, flip() ? 4 : 2, [&](int n) {
                return Words{begin + static_cast<std::uint32_t>(n) * stride, number()};
            });
        case Op::atomic_add: return add(op, 4, [&](int) { return Words{address(), number(), number()}; });
        case Op::load_matrices:
        case Op::load_transposed:
            return add(
                op, 16,
                [&](int) {
                    return Words{shared(16), number(), number(), number(), number()};
                },
                true);
        case Op::multiply_add:
            return add(
                op, 0,
                [&](int) {
                    Words words(14);
                    for (auto& word : words) word = number();
                    return words;
                },
                true);
        case Op::copy_issued: {
            const std::uint32_t to = shared(16), from = global();
            return add(op, 16, [&](int n) {
                const auto by = static_cast<std::uint32_t>(n) * 16;
                return Words{to + by, from + by, static_cast<std::uint32_t>(n % 5 != 4), group_};
            });
        }
        case Op::copies_committed: return whole(op, {group_++});
        case Op::wait_copies: return wait_for_copies();
        case Op::sync_block:
            for (warp_ = 0; warp_ < warps_; ++warp_) made.whole(op, warp_, 1);
            return;
        case Op::shuffle:
            return add(
                op, 0,
                [&](int n) {
                    return Words{number(), static_cast<std::uint32_t>(n ^ 1), number()};
                },
                true);
        case Op::exp2:
        case Op::exp:
        case Op::log:
        case Op::from_float: return add(op, 0, [&](int) { return Words{number(), number()}; });
        case Op::pack:
            return add(
                op, 0,
                [&](int) {
                    return Words{number(), number(), number()};
                },
                flip());
        case Op::fetch_tile: {
            const std::uint32_t rows = 1 + small();
            asked_.push_back(
                {warp_, Words{shared(128), flip() ? global() : 0, rows, 64, 64, 8 * small(), small(), 256}});
            return void(made.add(op, warp_, 1 + upto(lines - 1), 0, {asked_.back().second}));
        }
        case Op::tile_arrived: {
            if (asked_.empty()) return;
            const auto [warp, words] =
                asked_[static_cast<std::size_t>(upto(static_cast<int>(asked_.size()) - 1))];
            return void(made.add(op, warp, 1, 0, {{words[0], words[5], words[6]}}));
        }
        case Op::init_barrier: return void(made.add(op, warp_, 2, 0, {{8 * small(), 1 + small()}}));
        case Op::arrive_at:
        case Op::wait_for: return void(made.add(op, warp_, 3, 0, {{8 * small(), small()}}));
        case Op::expect_bytes: return void(made.add(op, warp_, 3, 0, {{8 * small(), small(), 256}}));
        case Op::arrive_named:
        case Op::sync_named: {  // as many as go on: nobody waits for ever
            const Words words{1 + small(), static_cast<std::uint32_t>(32 * warps_)};
            for (warp_ = 0; warp_ < warps_; ++warp_)
                made.whole(warp_ + 1 < warps_ ? op : Op::sync_named, warp_, 4, words);
            return;
        }
        case Op::shrink_registers:
        case Op::grow_registers: return whole(op, {24u + 8 * small()});
        case Op::multiply_async: {
            const Words product{
                shared(16) >> 4, flip() ? 0u : 1u << 30, shared(16) >> 4, 1u << 30, 16, small() % 2, group_,
                small()};
            return add(
                op, 0,
                [&](int) {
                    Words words = product;
                    for (int n = 0; n < 4; ++n) words.push_back(number());
                    return words;
                },
                true);
        }
        case Op::commit_products: return whole(op, {group_++});
        case Op::wait_products: {
            const std::uint32_t left = small(), sums = small();
            return add(
                op, 0,
                [&](int) {
                    Words words{left, group_, sums};
                    for (int n = 0; n < 8; ++n) words.push_back(number());
                    return words;
                },
                true);
        }
        case Op::copy_arrived:  // with its wait
        case Op::count: return;
        case Op::sync_warp:
        case Op::publish_barriers:
        case Op::fence_products:
        case Op::left_out: return whole(op);
        }
    }
    // Of what this warp has begun, all or a part comes.
    void wait_for_copies() {
        whole(Op::wait_copies, {small(), group_});
        const std::vector<Event> events = made.block().events;
        for (const Event& issue : events) {
            if (issue.op != Op::copy_issued || issue.warp != warp_ || flip()) continue;
            if (made.block().words_of(issue)[3] >= group_) continue;  // not committed yet
            std::vector<Words> lanes;
            made.block().each_lane(issue, [&](int, auto words) {
                lanes.push_back({words[0], words[3], number(), number(), number(), number()});
            });
            made.add(Op::copy_arrived, warp_, static_cast<int>(issue.place) + 1, 16, lanes,
                     std::countr_zero(issue.lanes));
        }
    }

    Random random_;
    int warps_, warp_ = 0;
    std::uint32_t group_ = 0;
    std::vector<std::pair<int, Words>> asked_;
    test::MadeRun made;
};

void check_sentence(const std::string& text) {
    CAPTURE(text);
    if (!text.empty()) CHECK((text.ends_with('.') || text.ends_with(':')));
}

/// All that is asked of one lane of a step.
void look_at_lane(const Record& record, const BlockRecord& block, const Steps& steps, const Origins& origins,
                  const SharedMap& map, int warp, int k, int lane) {
    const std::uint32_t n = steps.event(warp, k);
    const Event& event = block.events[n];
    for (const LaneWord& word : lane_words(record, block, event, lane, origins.matter(n)))
        CHECK(!word.name.empty());
    const Uses uses = uses_of(block, steps, origins, warp, k, lane);
    CHECK(uses.all >= std::ssize(uses.steps));
    for (const OriginStep& use : uses.steps) CHECK(use.event > n);
    if (const auto swizzle = swizzle_of(record, block, origins, map, n, lane))
        CHECK(swizzle->place == (swizzle->chunk ^ swizzle->flip));
}

void look_at_product(const BlockRecord& block, const Steps& steps, const Origins& origins, int warp, int k) {
    for (const Part part : {Part::A, Part::B}) {
        const PartInfo& of = info(part);
        for (int row = 0; row < of.rows; row += 3)
            for (int column = 0; column < of.columns; column += 5) {
                std::uint32_t last = steps.event(warp, k);
                for (const OriginStep& way : origins.trace(warp, k, part, row, column)) {
                    CHECK(way.event < block.events.size());
                    CHECK(way.event <= last);
                    last = way.event;
                }
            }
        static_cast<void>(origins.region_of_part(warp, k, part));
        static_cast<void>(origins.matter_of_part(warp, k, part));
    }
    const Origins::Chain chain = origins.chain(warp, k);
    CHECK(chain.part <= chain.parts);
}

/// What the pages ask of a block.
void look_at(const Record& record, std::map<Op, int>& seen) {
    const Launch& launch = record.launches[0];
    const BlockRecord& block = launch.blocks[0];
    const Steps steps(record, launch, block);
    const Origins origins(record, block, steps);
    const SharedMap map(block, steps, origins);
    const Barriers barriers(record, block, steps, origins);
    const bool known = record.Br > 0;
    std::size_t all = 0;
    for (int warp = 0; warp < steps.warps(); ++warp) {
        all += static_cast<std::size_t>(steps.count(warp));
        for (int k = 0; k < steps.count(warp); ++k) {
            const std::uint32_t n = steps.event(warp, k);
            const Event& event = block.events[n];
            CAPTURE(info(event.op).name);
            CAPTURE(n);
            ++seen[event.op];
            const StepWords words = words_of_step(record, block, event, origins.matter(n));
            CHECK(!words.title.empty());
            check_sentence(words.why);
            check_sentence(reason_of_step(record, block, steps, origins, warp, k, known));
            static_cast<void>(phase_of(block, origins, n, known));
            static_cast<void>(sides_at(block, steps, warp, k));
            static_cast<void>(registers_at(launch, block, steps, warp, k));
            if (const auto state = barriers.at(block, steps, warp, k))
                check_sentence(barrier_sentence(*state, event.op));
            if (const auto meeting = meeting_at(block, steps, origins, warp, k))
                for (const Protected& one : meeting->orders) CHECK(one.bytes > 0);
            if (event.op == Op::multiply_add) look_at_product(block, steps, origins, warp, k);
            if (event.op == Op::wait_products)
                static_cast<void>(named_sums(record, block, steps, origins, warp, k));
            for (const int lane : {0, 5, 13, 31})
                look_at_lane(record, block, steps, origins, map, warp, k, lane);
        }
        for (const PhaseStretch& stretch : phases_of(record, block, steps, origins, warp, known))
            CHECK(stretch.first <= stretch.last);
    }
    CHECK(all <= block.events.size());
    for (const SharedArea& area : map.areas())
        for (const int slot : {0, steps.slots() / 2, steps.slots()}) {
            const SharedContent content = content_of(record, block, steps, origins, map, area, slot);
            CHECK(std::ssize(content.pieces) * chunk_bytes >= area.bytes());
            CHECK(content.rows.first <= content.rows.last);
        }
    const ModelTime time = model_time(block, launch.warps(), all_costs()[0]);
    CHECK(time.events.size() == block.events.size());
    for (const Span& span : time.events) {
        CHECK(span.begin <= span.end);
        CHECK(span.end <= time.end);
    }
    CHECK(roles_of(block, launch.warps()).size() == static_cast<std::size_t>(launch.warps()));
}

}  // namespace

TEST_CASE("any block: every page can be asked of it, and it comes back from its file") {
    std::map<Op, int> seen;
    for (std::uint64_t seed = 1; seed <= blocks(); ++seed) {
        CAPTURE(seed);
        AnyBlock any(seed);
        const Record& record = any.run().record;
        look_at(record, seen);
        const std::string bytes = record_bytes(record);
        const Result<Record> back = read_record(bytes);
        REQUIRE(back);
        CHECK(record_bytes(*back) == bytes);
    }
    for (int n = 0; n < static_cast<int>(Op::count); ++n) {
        const auto op = static_cast<Op>(n);
        if (op != Op::copy_arrived && op != Op::tile_arrived) CHECK_MESSAGE(seen[op] > 10, info(op).name);
    }
}

TEST_CASE("any block: a race of a run with something left out is told, whichever two accesses race") {
    int told = 0, crossed = 0;
    for (std::uint64_t seed = 1; seed <= 2 * blocks(); ++seed) {
        CAPTURE(seed);
        AnyBlock any(seed);
        const Record sound = any.run().record;
        test::MadeRun& run = any.run();
        const std::vector<Event> events = run.block().events;
        std::vector<std::uint32_t> accesses;
        for (std::uint32_t n = 0; n < events.size(); ++n)
            if (!accesses_of(events[n], run.block().words_of(events[n])).empty()) accesses.push_back(n);
        if (accesses.size() < 2) continue;
        // A step is left out, and some numbers are others.
        const auto out = static_cast<std::size_t>(any.upto(static_cast<int>(events.size()) - 1));
        if (info(events[out].op).reads || info(events[out].op).writes) continue;
        run.block().events[out].op = Op::left_out;
        for (int n = any.upto(20); n > 0; --n)
            run.block()
                .words[static_cast<std::size_t>(any.upto(static_cast<int>(run.block().words.size()) - 1))] ^=
                0x00400000;
        for (int n = 1 + any.upto(3); n > 0; --n) {
            const auto drawn = [&] {
                return accesses[static_cast<std::size_t>(any.upto(static_cast<int>(accesses.size()) - 1))];
            };
            const std::uint32_t first = drawn(), second = drawn();
            if (first == second) continue;
            run.race(first, second,
                     accesses_of(events[first], run.block().words_of(events[first]))[0].addresses[0]);
        }
        const Steps broken_steps(run.record, run.launch(), run.block()),
            sound_steps(sound, sound.launches[0], sound.launches[0].blocks[0]);
        const auto crossing =
            crossing_of({run.record, run.launch(), run.block(), broken_steps},
                        {sound, sound.launches[0], sound.launches[0].blocks[0], sound_steps});
        if (!crossing) continue;
        ++told, crossed += crossing->crossed;
        for (const CrossingSide* side : {&crossing->first, &crossing->second}) {
            REQUIRE(side->event < events.size());
            CHECK(side->op == run.block().events[side->event].op);
            CHECK(!content_text(run.record, side->content).empty());
            if (const auto with = happened_with(run.block(), broken_steps, run.record.schedule, *side))
                CHECK(*with < events.size());
        }
        if (const auto held = turned_in_slots(run.block(), broken_steps, run.record.schedule, *crossing))
            CHECK(held->first != held->second);
    }
    CHECK(told > 100);
    CHECK(crossed > 5);
}

TEST_CASE("any block: a twin's numbers lead to steps of the kernel and back, or a sentence says that it is "
          "no twin") {
    int entries = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 2 * blocks(); ++seed) {
        CAPTURE(seed);
        AnyBlock any(seed);
        Record twin = any.run().record;
        twin.Br = twin.Bc = 8;
        for (Region& region : twin.regions)  // of each quantity in turn
            if (region.name == "twin m" && seed % 2)
                region.name = twin_region(seed % 4 == 1 ? Quantity::l : Quantity::alpha);
        // The kernel has all steps but those that write down.
        Record kernel = twin;
        BlockRecord& block = kernel.launches[0].blocks[0];
        std::erase_if(block.events, [&](const Event& e) {
            return e.op == Op::store && std::ranges::any_of(twin.regions, [&](const Region& region) {
                       return region.name.starts_with("twin ") && region.holds(block.words_of(e)[0]);
                   });
        });
        const Problem problem = *random_problem(64, 16, seed);
        if (any.flip() && !block.events.empty()) {
            Event& other =
                block.events[static_cast<std::size_t>(any.upto(static_cast<int>(block.events.size()) - 1))];
            other.place = (other.place + 1) % lines;
        }
        const Result<Bridge> bridge = Bridge::make(kernel, twin, problem);
        if (!bridge) {
            CHECK(bridge.error.ends_with("of its twin are not its own."));
            ++refused;
            continue;
        }
        const Steps steps(kernel, kernel.launches[0], block);
        for (const Bridge::Entry& entry : bridge->all()) {
            ++entries;
            const HeldAt& held = entry.held;
            REQUIRE(held.warp < steps.warps());
            CHECK(held.step < steps.count(held.warp));
            CHECK(held.lane < 32);
            CHECK(bridge->find(entry.number));
            CHECK(!bridge->at(0, held.warp, held.step, held.lane, held.word).empty());
            CHECK(bridge->next(0, held.warp, 0, held.lane));
            CHECK(number_text(entry.number).find(" of row ") != std::string::npos);
        }
    }
    CHECK(entries > 100);
    CHECK(refused > 100);
    AnyBlock any(1);
    Record none = any.run().record, more = none;
    none.Br = 0;
    CHECK(Bridge::make(none, none, *random_problem(8, 4, 1)).error ==
          none.kernel + " has no tiles that it writes down.");
    none.Br = none.Bc = 8, more.launches.emplace_back();
    CHECK(Bridge::make(none, more, *random_problem(8, 4, 1)).error ==
          none.kernel + ": its twin has other launches.");
}

}  // namespace tilewalk::inside
