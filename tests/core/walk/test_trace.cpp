#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/table.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <map>
#include <set>
#include <utility>

using namespace tilewalk::test;

namespace {

using Place = std::pair<Slot, int>;             // slot and tile
using LiveMap = std::map<Place, const Value*>;  // what every place holds

LiveMap live_map(const Trace& trace, int k) {
    LiveMap out;
    for (int s = 0; s < slot_count; ++s)
        for (int t = 0; t < trace.tiles(static_cast<Slot>(s)); ++t)
            if (const Held held = trace.live(static_cast<Slot>(s), t, k))
                out[{static_cast<Slot>(s), t}] = held.value;
    return out;
}

// Every live map of the trace, made by an own replay: the inputs, then one step's writes after the other.
std::vector<LiveMap> replay(const Trace& trace) {
    std::vector<LiveMap> maps{live_map(trace, -1)};
    for (int k = 0; k < trace.size(); ++k) {
        maps.push_back(maps.back());
        for (const Access& a : trace.writes(k)) maps.back()[{a.slot, a.tile}] = &trace.value(a.value);
    }
    return maps;
}

std::int64_t bytes_on_chip(const Problem& p, const LiveMap& map) {
    std::int64_t total = 0;
    for (const auto& [place, value] : map) {
        const Slot s = place.first;
        if (s == Slot::Q || s == Slot::K || s == Slot::V || s == Slot::O || s == Slot::L) continue;
        const bool element = s == Slot::Qi || s == Slot::Kj || s == Slot::Vj;
        // The accumulator of O is kept in fp32 whatever O's own type is.
        total += value->data.rows() * value->data.cols() * (element ? p.element_bytes : 4);
    }
    return total;
}

// Bytes that step k moves, by counting the elements of its tile.
Traffic moved(const Problem& p, const Step& s) {
    const std::int64_t d = p.d(), e = p.element_bytes, rows = rows_of(p, s.i);
    Traffic t;
    if (s.op == Op::load_q) t.hbm_read = rows * d * e;
    if (s.op == Op::load_kv) t.hbm_read = 2 * keys_of(p, s.j) * d * e;
    if (s.op == Op::store) t.hbm_write = rows * d * e + rows * 4;
    return t;
}

std::vector<Problem> many_problems(std::uint64_t seed, int count) {
    Random random(seed);
    std::vector<Problem> out;
    for (int n = 0; n < count; ++n) out.push_back(any_problem(random));
    return out;
}

}  // namespace

TEST_SUITE("trace") {
    TEST_CASE("which slots have a tilde, and which are kept in fp32 whatever the matrices' type is") {
        std::set<std::string> tildes;
        for (int n = 0; n < slot_count; ++n) {
            const Slot slot = static_cast<Slot>(n);
            if (info(slot).tilde) tildes.insert(info(slot).name);
            INFO(info(slot).name);
            if (one_column(slot) || slot == Slot::sink || slot == Slot::dsink || slot == Slot::loss)
                CHECK_FALSE(info(slot).counts_elements);
        }
        CHECK(tildes == std::set<std::string>{"m_tile", "P", "E"});
        CHECK_FALSE(info(Slot::loss).hbm);
    }
    TEST_CASE("the inputs are there before the first step, cut into tiles, and nothing else is") {
        for (const Problem& p : many_problems(4, 60)) {
            const auto trace = flash_forward(p);
            CHECK(trace->tiles(Slot::Q) == p.Tr());
            CHECK(trace->tiles(Slot::K) == p.Tc());
            CHECK(trace->tiles(Slot::V) == p.Tc());
            CHECK(static_cast<int>(live_map(*trace, -1).size()) == p.Tr() + 2 * p.Tc());
            CHECK(trace->result(Slot::Q) == p.Q);
            CHECK(trace->result(Slot::K) == p.K);
            CHECK(trace->result(Slot::V) == p.V);
        }
    }
    TEST_CASE("a place that does not exist holds nothing") {
        const auto trace = flash_forward(worked_example());
        CHECK_FALSE(trace->live(Slot::Q, 2, 5));
        CHECK_FALSE(trace->live(Slot::Q, -1, 5));
        CHECK_FALSE(trace->live(Slot::S, 1, 39));
        CHECK_FALSE(trace->live(Slot::S, 2));
        CHECK_FALSE(trace->live(Slot::O, 0, 18));
        CHECK(trace->live(Slot::O, 0, 19).step == 19);
        CHECK(trace->live(Slot::K, 0, -1).step == -1);
    }
    TEST_CASE("reads are values that were live before the step") {
        for (const Problem& p : many_problems(5, 60)) {
            const auto trace = flash_forward(p);
            const auto maps = replay(*trace);
            for (int k = 0; k < trace->size(); ++k) {
                const auto& before = maps[static_cast<std::size_t>(k)];
                bool first_m = trace->step(k).op == Op::correction;
                for (const Access& a : trace->reads(k)) {
                    const Value* read = &trace->value(a.value);
                    // The correction looks at m from before the step that raised it, then at m.
                    const LiveMap& then = first_m ? maps[static_cast<std::size_t>(k) - 1] : before;
                    REQUIRE(then.count({a.slot, a.tile}) == 1);
                    CHECK_MESSAGE(then.at({a.slot, a.tile}) == read, describe(p), ", step ", k);
                    first_m = false;
                }
            }
        }
    }
    TEST_CASE("each op reads and writes the slots that the algorithm names") {
        const std::map<Op, std::pair<std::vector<Slot>, std::vector<Slot>>> expected{
            {Op::load_q, {{Slot::Q}, {Slot::Qi}}},
            {Op::init, {{}, {Slot::m, Slot::l, Slot::Oi}}},
            {Op::load_kv, {{Slot::K, Slot::V}, {Slot::Kj, Slot::Vj}}},
            {Op::scores, {{Slot::Qi, Slot::Kj}, {Slot::S}}},
            {Op::mask, {{Slot::S}, {Slot::S}}},
            {Op::tile_max, {{Slot::S}, {Slot::m_tile}}},
            {Op::new_max, {{Slot::m, Slot::m_tile}, {Slot::m}}},
            {Op::correction, {{Slot::m, Slot::m}, {Slot::alpha}}},
            {Op::exponentials, {{Slot::S, Slot::m}, {Slot::P}}},
            {Op::row_sum, {{Slot::alpha, Slot::l, Slot::P}, {Slot::l}}},
            {Op::output, {{Slot::alpha, Slot::Oi, Slot::P, Slot::Vj}, {Slot::Oi}}},
            {Op::normalize, {{Slot::Oi, Slot::l}, {Slot::Oi}}},
            {Op::store, {{Slot::Oi, Slot::m, Slot::l}, {Slot::O, Slot::L}}},
            {Op::skip, {{}, {}}}};
        const auto slots = [](std::span<const Access> accesses) {
            std::vector<Slot> out;
            for (const Access& a : accesses) out.push_back(a.slot);
            return out;
        };
        for (const Problem& p : many_problems(6, 60)) {
            const auto trace = flash_forward(p);
            for (int k = 0; k < trace->size(); ++k) {
                CHECK(slots(trace->reads(k)) == expected.at(trace->step(k).op).first);
                CHECK(slots(trace->writes(k)) == expected.at(trace->step(k).op).second);
            }
        }
    }
    TEST_CASE("every value lies where its tile lies") {
        for (const Problem& p : many_problems(7, 60)) {
            const auto trace = flash_forward(p);
            every_write(*trace, [&](Slot slot, const Value& value, int k) {
                const Step& s = trace->step(k);
                const bool key_rows = slot == Slot::Kj || slot == Slot::Vj;
                const bool pairs = slot == Slot::S || slot == Slot::P;
                const bool wide = slot == Slot::Qi || slot == Slot::Oi || slot == Slot::O || key_rows;
                const Region expected{key_rows ? s.j * p.Bc : s.i * p.Br, pairs ? s.j * p.Bc : 0,
                                      key_rows ? keys_of(p, s.j) : rows_of(p, s.i),
                                      pairs  ? keys_of(p, s.j)
                                      : wide ? p.d()
                                             : 1};
                CHECK_MESSAGE(value.region == expected, where(*trace, k, {slot, 0, 0}));
            });
        }
    }
    TEST_CASE("the estimate is not a wild guess: at most four times the real size") {
        for (int tile : {4, 8, 16}) {
            Problem p = *random_problem(64, 32, 1);
            p.Br = p.Bc = tile;
            const std::int64_t real = static_cast<std::int64_t>(flash_forward(p)->bytes());
            CHECK_MESSAGE(flash_forward.estimate(p) <= 4 * real, "tile ", tile, ", real ", real);
        }
    }
}

TEST_SUITE("traffic") {
    TEST_CASE("grows by exactly what each step moves") {
        for (const Problem& p : many_problems(9, 200)) {
            const auto trace = flash_forward(p);
            Traffic total;
            for (int k = 0; k < trace->size(); ++k) {
                const Traffic step = moved(p, trace->step(k)), &shown = trace->step(k).traffic;
                total.hbm_read += step.hbm_read;
                total.hbm_write += step.hbm_write;
                CHECK_MESSAGE(shown.hbm_read == total.hbm_read, describe(p), ", step ", k);
                CHECK_MESSAGE(shown.hbm_write == total.hbm_write, describe(p), ", step ", k);
                CHECK(shown.flops >= total.flops);
                total.flops = shown.flops;
            }
        }
    }
    TEST_CASE("the trace, the closed form and a count of the needed tiles agree") {
        for (const Problem& p : many_problems(10, 300)) {
            const auto trace = flash_forward(p);
            const Traffic& end = trace->step(trace->size() - 1).traffic;
            const TrafficModel model = flash_forward_model(p);
            const std::int64_t N = p.N(), d = p.d(), e = p.element_bytes;
            std::int64_t read = N * d * e;
            for (int i = 0; i < p.Tr(); ++i)
                for (int j = 0; j < p.Tc(); ++j)
                    if (tile_is_needed(p, i, j)) read += 2 * keys_of(p, j) * d * e;
            CHECK_MESSAGE(end.hbm_read == read, describe(p));
            CHECK_MESSAGE(model.hbm_read == read, describe(p));
            CHECK(end.hbm_write == N * d * e + 4 * N);
            CHECK(model.hbm_write == N * d * e + 4 * N);
            CHECK_MESSAGE(flash_forward_steps(p) == trace->size(), describe(p));
        }
    }
    TEST_CASE("bytes on chip are those of the live tiles") {
        for (const Problem& p : many_problems(11, 300)) {
            const auto trace = flash_forward(p);
            const auto maps = replay(*trace);
            for (int k = 0; k < trace->size(); ++k)
                CHECK_MESSAGE(trace->step(k).traffic.sram_live ==
                                  bytes_on_chip(p, maps[static_cast<std::size_t>(k) + 1]),
                              describe(p), ", step ", k);
        }
    }
}

TEST_SUITE("lessons") {
    TEST_CASE("the forward lesson is found by its name, nothing else is") {
        REQUIRE(find_lesson("flash-forward"));
        CHECK(find_lesson("flash-forward")->code(Problem{}).size() == flash_forward.code(Problem{}).size());
        for (const char* id : {"", "flash", "flash-forward ", "Flash-Forward"}) CHECK_FALSE(find_lesson(id));
        for (const Lesson& lesson : lessons()) CHECK(find_lesson(lesson.id) == &lesson);
    }
    TEST_CASE("a problem that does not fit is refused before any memory is taken") {
        Problem p = *random_problem(4096, 64, 1);
        p.Br = p.Bc = 16;
        const auto sentence = refuse(*find_lesson("flash-forward"), p);
        REQUIRE(sentence);
        check_contains(*sentence, {"N = 4096", "N_kv = 4096", "d = 64", "16 × 16", "GiB", "256 MiB"});
        const auto built = build_trace(*find_lesson("flash-forward"), p);
        CHECK_FALSE(built);
        CHECK(built.error == *sentence);
        p.Br = p.Bc = 1;
        CHECK(refuse(*find_lesson("flash-forward"), p));
    }
    TEST_CASE("a problem that is wrong is refused with the sentence of validate") {
        Problem p = worked_example();
        p.Br = 0;
        const auto built = build_trace(*find_lesson("flash-forward"), p);
        CHECK_FALSE(built);
        CHECK(built.error == *validate(p));
    }
}

TEST_CASE("by the clock a step of another worker is over, or runs at the same time; of the same worker it is "
          "neither") {
    const When early{0, 2, 5}, later{1, 5, 7}, meanwhile{1, 4, 6};
    CHECK(early.over_before(later));
    CHECK_FALSE(later.over_before(early));
    CHECK_FALSE(early.over_before(meanwhile));
    CHECK_FALSE(early.over_before({0, 9, 10}));  // it was told before
    CHECK_FALSE(When{}.over_before(later));      // without a clock
    CHECK_FALSE(early.over_before({}));
    // Workers that do the same work at once: what one has done at the other's step is what that has done.
    const auto walk = walk_of("split-kv", worked_example());
    int over = 0;
    for (int k = 0; k < walk->size(); ++k)
        for (int other = 0; other < walk->size(); ++other) {
            const When &a = walk->step(other).when, &b = walk->step(k).when;
            if (a.worker == b.worker) continue;
            CHECK(a.over_before(b) == (a.end <= b.start));
            over += a.over_before(b);
        }
    CHECK(over > 20);
}
