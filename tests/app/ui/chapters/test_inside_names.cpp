// The page Inside names what the record tells: phases and tiles of every kernel, the state of a barrier that
// counts, the element of a race, and the race of a kernel of the user's own.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "tests/app/ui/layout_check.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

#include <bit>
#include <set>

using namespace tilewalk::test;
using tilewalk::inside::Matter;
using StepOp = tilewalk::inside::Op;
using tilewalk::inside::Phase;

namespace {

struct NamesProgram : Program {
    explicit NamesProgram(const std::string& kernel, Screen size = {1600, 900})
        : Program(example("worked-4x4"), size) {
        state.page = Page::inside;
        inside_page(state);
        choose_inside_kernel(state, kernel);
        settle_record();
    }
    void settle_record() {
        wait_for_inside(state);
        frame(2);
        REQUIRE(at());
    }
    InsidePlace at() const { return place_inside(state); }
    /// The n-th step of this kind of a warp.
    void go_to(int warp, StepOp op, int n = 1) {
        const int k = at().steps().find(at().block(), {.op = op, .n = n, .warp = warp});
        REQUIRE(k >= 0);
        go_inside(state, warp, k);
        frame(2);
    }
    std::set<Phase> phases(int warp) const {
        std::set<Phase> out;
        for (const auto& stretch : at().launch->phases[static_cast<std::size_t>(warp)])
            out.insert(stretch.phase);
        return out;
    }
};

}  // namespace

TEST_CASE("inside names: f2 has its softmax, whose name is drawn at the smallest page") {
    NamesProgram page("f2-tiled-fp32", {1280, 720});
    CHECK(page.phases(0) == std::set{Phase::scores, Phase::softmax, Phase::output});
    for (const auto& stretch : page.at().launch->phases[0])
        if (stretch.phase == Phase::softmax) CHECK(stretch.last - stretch.first > 60);  // S is read twice
    CHECK(page.shows("m α P̃ ℓ"));
}

TEST_CASE("inside names: f7 and b4 say what a warp computes at the smallest page, too") {
    for (const auto& [kernel, words] : {std::pair("f7-hopper", "O += P̃ V"), {"b4-hopper", "dV += P"}}) {
        NamesProgram page(kernel, {1280, 720});
        page.go_to(4, StepOp::multiply_async, 10);
        CAPTURE(kernel);
        CHECK(page.shows(words));
        check_new_frame(page);
    }
}

TEST_CASE("inside names: a fence says what it stands between, and registers who has how many") {
    for (const bool presenter : {false, true}) {
        NamesProgram page("f7-hopper", {1280, 720});
        page.state.presenter = presenter;
        page.go_to(4, StepOp::fence_products, 2);
        page.check_shows({"Written before it", "Read behind it", "4 products in the background"});
        check_new_frame(page);
        page.go_to(4, StepOp::grow_registers);
        page.check_shows({"168 → 240", "warps 0–3", "in all"});
        check_new_frame(page);
        page.go_to(0, StepOp::shrink_registers);
        page.check_shows({"168 → 24"});
        page.go_to(0, StepOp::publish_barriers);
        page.check_shows({"9 barriers made", "Used behind it"});
        check_new_frame(page);
    }
}

TEST_CASE("inside names: without the guard every phase of the last tile is named, and its copies are one") {
    Program page(*random_problem(100, 64, 1), {1600, 900});
    page.state.page = Page::inside;
    inside_page(page.state);
    page.state.inside.own = true;
    page.state.inside.fault = "guard";
    wait_for_inside(page.state);
    page.frame(2);
    REQUIRE(place_inside(page.state).record().fault);
    for (const auto& flight : place_inside(page.state).steps().flights()) CHECK(flight.region >= 0);
    const auto& phases = place_inside(page.state).launch->phases[0];
    CHECK(std::ranges::count(phases, Phase::scores, &inside::PhaseStretch::phase) == 2);
}

TEST_CASE(
    "inside names: copies of the backward pass have the numbers of their tiles, and no product is else") {
    NamesProgram page("b4-hopper");
    for (int launch = 1; launch <= 2; ++launch) {
        page.state.inside.launch = launch;
        page.frame(2);
        CAPTURE(launch);
        std::set<std::pair<Matter, int>> tiles;
        for (const inside::Flight& f : page.at().steps().flights())
            tiles.insert({inside::matter_of(page.at().record(), f.from), f.tile});
        using Tiles = std::set<std::pair<Matter, int>>;
        CHECK(tiles == (launch == 1 ? Tiles{{Matter::K, 0},
                                            {Matter::V, 0},
                                            {Matter::Q, 0},
                                            {Matter::Q, 1},
                                            {Matter::dO, 0},
                                            {Matter::dO, 1}}
                                    : Tiles{{Matter::Q, 0},
                                            {Matter::dO, 0},
                                            {Matter::K, 0},
                                            {Matter::K, 1},
                                            {Matter::V, 0},
                                            {Matter::V, 1}}));
        std::set<Matter> sums, packed;
        const auto& events = page.at().block().events;
        for (std::uint32_t n = 0; n < events.size(); ++n) {
            if (events[n].op == StepOp::multiply_async) sums.insert(page.at().origins().matter(n));
            if (events[n].op == StepOp::pack) packed.insert(page.at().origins().matter(n));
        }
        CHECK(sums == (launch == 1 ? std::set{Matter::S, Matter::dP, Matter::dV, Matter::dK}
                                   : std::set{Matter::S, Matter::dP, Matter::dQ}));
        CHECK(packed.count(Matter::dS) == 1);
        CHECK(packed.count(Matter::none) == 0);
        CHECK(page.phases(4) ==
              (launch == 1
                   ? std::set{Phase::scores, Phase::weights, Phase::dP, Phase::dS, Phase::dV, Phase::dK}
                   : std::set{Phase::scores, Phase::weights, Phase::dP, Phase::dS, Phase::dQ}));
    }
    // L and D that come to shared memory with them are named as what they are.
    page.state.inside.launch = 1;
    std::set<Matter> stored;
    for (std::uint32_t n = 0; n < page.at().block().events.size(); ++n) {
        const inside::Event& event = page.at().block().events[n];
        if (event.op == StepOp::store && inside::is_shared(page.at().block().words_of(event)[0]))
            stored.insert(page.at().origins().matter(n));
    }
    CHECK(stored == std::set{Matter::L, Matter::D});
    page.go_to(0, StepOp::store);
    page.check_shows({"L[" + str(page.at().lane) + "]"});
}

TEST_CASE("inside names: a step at a barrier of Hopper shows its phase, arrivals, bytes and who waits") {
    NamesProgram page("f7-hopper");
    page.go_to(4, StepOp::wait_for, 2);
    page.check_shows({"A barrier that counts", "phase 0, parity 0", "arrivals", "bytes", "1 of 1", "over",
                      "waits", "Goes on when tile 0 of K has come"});
    page.go_to(0, StepOp::expect_bytes, 2);
    page.check_shows({"not asked for", "Announces", "tile 0 of K"});
    page.go_to(4, StepOp::arrive_at);
    page.check_shows({"of 8", "This warp is done with tile 0 of K"});
    page.go_to(4, StepOp::sync_named);
    page.check_shows({"whose turn it is"});
    // Lines that wait for different things are described differently.
    std::set<std::string> said;
    for (int n = 1; n <= 2; ++n) page.go_to(4, StepOp::wait_for, n), said.insert(step_words(page.at()).why);
    page.go_to(4, StepOp::wait_products), said.insert(step_words(page.at()).why);
    CHECK(said.size() == 3);
    page.state.presenter = true;
    page.go_to(4, StepOp::wait_for, 2);
    page.check_shows({"arrivals", "bytes", "phase 0, parity 0"});
}

TEST_CASE("inside names: on stage each role of f7 and b4 has one lane, its name and what it computes") {
    for (const char* kernel : {"f7-hopper", "b4-hopper"}) {
        NamesProgram page(kernel, {1280, 720});
        page.state.presenter = true;
        page.frame(2);
        CAPTURE(kernel);
        page.check_shows({"producer", "consumer 1", "consumer 2"});
        // Below the lanes; the legend has its letters in other words.
        const char* const computed = std::string(kernel) == "f7-hopper" ? "O += P̃ V1" : "dV";
        CHECK(std::ranges::count(page.items(), computed, &Item::text) > 0);
        check_new_frame(page);
        // A click on a lane leads to the warp that stands for its role; another warp of it takes the lane.
        page.go_to(10, StepOp::wait_for);
        const Item *const chosen = page.look_for("warp 10"), *const first = page.look_for("warp 4");
        REQUIRE(chosen);
        REQUIRE(first);
        CHECK_FALSE(page.look_for("warp 8"));
        CHECK(chosen->max.y - chosen->min.y > 20);
        page.click("warp 4");
        page.frame(2);
        CHECK(page.state.inside.warp == 4);
        CHECK(page.look_for("warp 8"));
        // On the desk each warp has its own.
        page.state.presenter = false;
        page.frame(2);
        for (int warp = 0; warp < page.at().steps().warps(); ++warp)
            CHECK_MESSAGE(page.look_for("warp " + str(warp)), warp);
    }
}

TEST_CASE("inside names: barriers have their place at every size") {
    for (const Screen& screen : all_screens)
        for (const bool presenter : {false, true}) {
            NamesProgram page("f7-hopper", screen);
            page.state.presenter = presenter;
            for (const auto& [warp, op] : {std::pair{0, StepOp::init_barrier},
                                           {0, StepOp::expect_bytes},
                                           {0, StepOp::wait_for},
                                           {4, StepOp::wait_for},
                                           {8, StepOp::arrive_at},
                                           {8, StepOp::sync_named},
                                           {4, StepOp::arrive_named}}) {
                page.go_to(warp, op);
                check_new_frame(page, inside::info(op).name);
            }
        }
}

TEST_CASE(
    "inside names: of f7 each copy that is on its way has a row of its own, and hovering says what it is") {
    NamesProgram page("f7-hopper", {1280, 720});
    choose_inside_size(page.state, 1);  // 256 × 64
    page.settle_record();
    const Item* const bars = page.look_for("flights");
    REQUIRE(bars);
    CHECK(page.at().steps().flights_at_once() >= 4);
    // Along the first row each bar says what it is: so many different tiles come by there.
    std::set<std::string> said;
    const ImVec2 min = bars->min, max = bars->max;
    for (int n = 0; n < 60; ++n) {
        page.mouse_to(min.x + (max.x - min.x) * (px(n) + .5f) / 60, min.y + 6);
        page.frame(2);
        for (const Item& item : page.items())
            if (item.text.starts_with("Tile ")) said.insert(item.text.substr(0, item.text.find(':')));
    }
    CHECK(said.size() >= 2);
}

TEST_CASE("inside names: a race in shared memory names the element of the tile, its lane and its warp") {
    NamesProgram page("f2-tiled-fp32");
    std::string name;
    for (const InsideFault& f : inside_faults(page.state))
        if (f.words.find("S is there") != std::string::npos) name = f.name;
    REQUIRE_FALSE(name.empty());
    choose_inside_fault(page.state, name);
    page.frame();
    page.settle_record();
    REQUIRE(page.state.kernel_walk->broken);
    const auto& crossing = page.state.kernel_walk->broken->crossing;
    REQUIRE(crossing);
    page.check_shows(
        {"Two accesses cross", "warp " + str(crossing->first.warp) + ", lane " + str(crossing->first.lane)});
    CHECK((page.shows("] of the tile =") || page.shows("S[") || page.shows("K[")));
}

namespace {

/// A kernel of one's own that stores to shared memory in `stores` lines of its text, and reads the first.
inside::Record own_record(const std::vector<int>& lines, std::string text, std::string& of_kernel) {
    inside::test::MadeRun run(2, 6);
    run.record.kernel = "mine.cu";
    for (inside::Place& place : run.record.places) place.file = run.record.kernel;
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    std::uint32_t first = 0;
    for (const int line : lines) {
        const std::uint32_t at = static_cast<std::uint32_t>(line) * 64;
        const auto store = run.add(StepOp::store, 0, line, 4, {{at, bits(2)}}, 3);
        if (line == lines.front()) first = store;
    }
    const std::uint32_t at = static_cast<std::uint32_t>(lines.front()) * 64;
    const auto load = run.add(StepOp::load, 1, 6, 4, {{at, bits(2)}}, 7);
    run.race(first, load, at);
    of_kernel = std::move(text);
    return std::move(run.record);
}

}  // namespace

TEST_CASE("inside names: elements of a kernel's own array are counted; of two arrays none is") {
    const auto shown = [](const std::vector<int>& lines, const std::string& text) {
        Program page(example("worked-4x4"), {1600, 900});
        page.state.hooks.record_source = [=](const gpu::RecordRequest&,
                                             std::string& of_kernel) -> Result<inside::Record> {
            return own_record(lines, text, of_kernel);
        };
        open_kernel_source(page.state, "mine.cu", true);
        page.frame();
        wait_for_inside(page.state);
        page.frame(2);
        REQUIRE(page.state.kernel_walk->broken);
        REQUIRE(page.state.kernel_walk->broken->crossing);
        return page.shows("sums[16] = 2");
    };
    // Byte 64 is the 16th number of 4 bytes of what line 1 stores under this name.
    CHECK(shown({1}, "sums[t] = 2;\n\n\n\n\nx = sums[u];\n"));
    CHECK_FALSE(shown({1, 3}, "sums[t] = 2;\n\nrows[t] = 2;\n\n\nx = sums[u];\n"));
}

TEST_CASE("inside names: the race of a kernel of one's own is drawn as those of the ladder") {
    Program page(example("worked-4x4"), {1600, 900});
    page.state.hooks.record_source = [](const gpu::RecordRequest&,
                                        std::string& text) -> Result<inside::Record> {
        inside::test::MadeRun run(2, 3);
        const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
        const auto store = run.add(StepOp::store, 0, 1, 4, {{64, bits(2)}}, 3);
        const auto load = run.add(StepOp::load, 1, 2, 4, {{64, bits(2)}}, 7);
        run.race(store, load, 64);
        text = "x[0] = 2;\\ny = x[0];\\n\\n";
        return std::move(run.record);
    };
    open_kernel_source(page.state, "mine.cu", true);
    page.frame();
    wait_for_inside(page.state);
    page.frame(2);
    REQUIRE(place_inside(page.state));
    const auto& told = page.state.kernel_walk->broken;
    REQUIRE(told);
    CHECK(told->own);
    REQUIRE(told->crossing);
    page.check_shows({"Two accesses cross", "Race", "as the kernel is", "This run", "As well possible",
                      "nothing orders them", "warp 0, lane 3", "warp 1, lane 7", "All that races"});
    CHECK_FALSE(page.shows("Put it back"));
    // The walk stands at one of both, and F goes to the steps and back.
    CHECK(place_inside(page.state).n == 1);
    page.press(Key::f);
    page.frame(2);
    CHECK_FALSE(page.shows("Two accesses cross"));
    check_new_frame(page);
    page.press(Key::f);
    page.state.presenter = true;
    page.frame(2);
    page.check_shows({"Race", "nothing orders them"});
    check_new_frame(page);
}

TEST_CASE("inside names: each tile of f5 has its scores, its softmax and its O, once each") {
    NamesProgram page("f5-flash2");
    std::vector<Phase> all;
    for (const auto& stretch : page.at().launch->phases[0]) all.push_back(stretch.phase);
    CHECK(all == std::vector{Phase::scores, Phase::softmax, Phase::output, Phase::scores, Phase::softmax,
                             Phase::output});
}
