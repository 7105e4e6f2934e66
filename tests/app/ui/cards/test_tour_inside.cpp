// Stops on the page Inside: the tour leads to their instruction, says true things of it, and gives back what
// was there.
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/io/tour_file.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/state/tour.h"
#include "core/inside/accesses.h"
#include "core/inside/uses.h"
#include "tests/app/ui/layout_check.h"
#include "tests/good.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;
using tilewalk::inside::Part;

namespace {

struct OnTour : Program {
    OnTour() {
        Tour tour;
        tour.script = good(load_tour(default_tour, tour_names()));
        start_tour(state, std::move(tour));
    }
    /// To the stop of this heading.
    InsidePlace go_to_heading(const std::string& heading) {
        const auto& stops = state.tour->script.stops;
        const auto found = std::ranges::find(stops, heading, &TourStop::heading);
        REQUIRE_MESSAGE(found != stops.end(), heading);
        settle_at_stop(state, static_cast<int>(found - stops.begin()));
        frame(2);
        return place_inside(state);
    }
};

}  // namespace

TEST_CASE("tour inside: every stop comes to its instruction, and what it says is so") {
    OnTour page;
    InsidePlace at = page.go_to_heading("Lanes, a warp, a block");
    REQUIRE(at);
    CHECK(at.event->op == inside::Op::exp2);
    CHECK(at.launch->launch->threads == 128);
    CHECK(at.walk->problem == "128 × 64");
    CHECK(at.launch->launch->x == 1);  // one block computes all 128 queries

    // "none goes on before all four have come", "Q and the first keys, of which each has fetched a part"
    at = page.go_to_heading("A barrier");
    CHECK(at.event->op == inside::Op::sync_block);
    page.check_shows({"All 4 warps come", "of Q that warps 0–3 wrote before it", "of K that warps 0–3"});

    at = page.go_to_heading("A product in one instruction");
    CHECK(at.event->op == inside::Op::multiply_add);
    CHECK(inside::cells_of_lane(Part::C, at.lane).front() == inside::FragmentCell{0, 0});

    at = page.go_to_heading("Who owns what");
    CHECK(at.event->op == inside::Op::multiply_add);
    CHECK(at.warp == 0);
    CHECK(at.lane == 13);
    CHECK(inside::cells_of_lane(Part::A, 13).size() == 8);
    CHECK(inside::cells_of_lane(Part::B, 13).size() == 4);
    const auto cells = inside::cells_of_lane(Part::C, 13);
    CHECK(cells == std::vector<inside::FragmentCell>{{3, 2}, {3, 3}, {11, 2}, {11, 3}});

    // "of the lower half, row 3 + 8 = 11"
    CHECK(cell_inside(page.state) == inside::FragmentCell{3, 3});

    // "While Q Kᵀ was computed, V … was on its way … committed before the first product"
    at = page.go_to_heading("The copy that runs ahead");
    CHECK(at.event->op == inside::Op::wait_copies);
    const int slot = at.steps().slot(at.warp, at.k);
    const int product = at.steps().find(at.block(), {.op = inside::Op::multiply_add, .warp = at.warp});
    CHECK(at.origins().matter_of_part(at.warp, product, Part::B) == inside::Matter::K);
    const auto& record = at.record();
    CHECK(std::ranges::any_of(at.steps().flights(), [&](const inside::Flight& flight) {
        return flight.region >= 0 && record.regions[static_cast<std::size_t>(flight.region)].name == "V" &&
               flight.committed > 0 && flight.committed < at.steps().slot(at.warp, product) &&
               flight.arrived == slot;
    }));

    // "a barrier follows before V is read, of which every warp has fetched a part"
    page.press(Key::right);
    at = place_inside(page.state);
    CHECK(at.event->op == inside::Op::sync_block);
    page.check_shows({"of V that warps 0–3 wrote before it"});

    at = page.go_to_heading("Banks and the swizzle");
    // "row 48 + 5, chunk 1: place 1 XOR 5 = 4, banks 16 to 19", "where lane 13 finds its row", "4 turns"
    REQUIRE(at.event->op == inside::Op::load_matrices);
    CHECK(at.lane == 13);
    CHECK(page.shows("row 5 of matrix 1"));
    CHECK((1 ^ 5) == 4);
    const inside::Access access = inside::accesses_of(*at.event, at.words).front();
    CHECK(inside::bank_turns(access.addresses, access.lanes, 16).ways == 1);
    CHECK(inside::bank_turns(access.addresses, access.lanes, 16).turns == 4);
    const auto straight = at.origins().straight_rows(at.n, access.addresses);
    REQUIRE_FALSE(straight.empty());
    CHECK(inside::bank_turns(straight, access.lanes, 16).ways == 8);
    CHECK(inside::bank_turns(straight, access.lanes, 16).turns == 32);
    CHECK(access.addresses[13] % 128 == 4 * 16);
    CHECK(straight[13] % 128 == 1 * 16);

    // Two pieces of C become one fragment of A, which is multiplied with V.
    at = page.go_to_heading("P stays in registers");
    CHECK(at.event->op == inside::Op::pack);
    CHECK(shows_packing(at));
    CHECK(page.shows("one fragment of A"));
    const inside::Uses uses = uses_of(at.block(), at.steps(), at.origins(), at.warp, at.k, at.lane);
    REQUIRE_FALSE(uses.steps.empty());
    const int taken = at.origins().step_number(uses.steps.front().event);
    CHECK(at.origins().matter_of_part(at.warp, taken, Part::A) == inside::Matter::P);
    CHECK(at.origins().matter_of_part(at.warp, taken, Part::B) == inside::Matter::V);
    for (const inside::Event& event : at.block().events)
        if (event.op == inside::Op::store) CHECK_FALSE(inside::is_shared(at.block().words_of(event)[0]));
}

TEST_CASE(
    "tour inside: on stage all lanes of a block are drawn, a row for each warp, and the numbers of four") {
    OnTour page;
    page.state.presenter = true;
    page.go_to_heading("Lanes, a warp, a block");
    page.check_shows({"warp 0", "warp 1", "warp 2", "warp 3", "lane 12", "lane 15"});
    CHECK_FALSE(page.shows("warp 4"));
    CHECK(page.look_for("28"));  // the first of the last four lanes
}

TEST_CASE("tour inside: on stage colours and marks of the warps are explained below them") {
    OnTour page;
    page.state.presenter = true;
    page.go_to_heading("The copy that runs ahead");
    page.check_shows({"copy issued", "committed", "arrived", "barrier", "S, P", "V"});
    CHECK(page.look_for("V", "Presenter"));
}

TEST_CASE("tour inside: on stage every copy has its name, a barrier no addresses") {
    OnTour page;
    page.state.presenter = true;
    page.go_to_heading("The copy that runs ahead");
    // Bytes stand beside all names or beside none, wherever a name has room.
    page.check_shows({"Q0 16 KiB", "K0 8 KiB", "V0 8 KiB", "K1 8 KiB", "V1 8 KiB"});
    page.go_to_heading("A barrier");
    CHECK_FALSE(page.shows("0x"));
}

TEST_CASE("tour inside: a barrier too few is shown where its accesses cross; the other stops are sound") {
    OnTour page;
    const InsidePlace at = page.go_to_heading("A barrier too few");
    REQUIRE(at);
    CHECK(page.state.inside.fault == page.state.tour->stop().kernel_break);
    const auto broken = page.state.kernel_walk->broken;
    REQUIRE(broken);
    REQUIRE(broken->crossing);
    CHECK(broken->fault.kind == inside::FaultKind::barrier);
    CHECK(broken->damage.wrong > 0);
    CHECK_FALSE(at.launch->launch->races.empty());
    // A warp fetches keys to where another one still reads.
    const inside::CrossingSide &read = broken->crossing->first, &write = broken->crossing->second;
    CHECK(read.op == inside::Op::load_matrices);
    CHECK((write.writes && write.warp != read.warp));
    CHECK(broken->crossing->crossed);
    CHECK(at_stop(page.state));
    CHECK(page.shows("Two accesses cross"));
    page.go_to_heading("Banks and the swizzle");
    CHECK(page.state.inside.fault.empty());
    CHECK_FALSE(page.state.kernel_walk->broken);
    page.go_to_heading("A barrier too few");
    CHECK(page.state.kernel_walk->broken);
    leave_tour(page.state);
    CHECK(page.state.inside.fault.empty());
}

TEST_CASE(
    "tour inside: going on is told from the stop, Backspace leads back, leaving gives back what was there") {
    Program page;
    page.press(Key::eight);
    wait_for_inside(page.state);
    choose_inside_kernel(page.state, "f3-warp-rows");
    wait_for_inside(page.state);
    go_inside(page.state, 2, 40);
    page.state.inside.lane = 7;
    Tour tour;
    tour.script = good(load_tour(default_tour, tour_names()));
    const auto& stops = tour.script.stops;
    const int n =
        static_cast<int>(std::ranges::find(stops, "Who owns what", &TourStop::heading) - stops.begin());
    start_tour(page.state, std::move(tour));
    settle_at_stop(page.state, n);
    page.frame(2);
    CHECK(page.state.inside.kernel == "f5-flash2");
    CHECK(at_stop(page.state));
    const int step = page.state.inside.step;
    page.press(Key::right);
    CHECK(page.state.inside.step == step + 1);
    CHECK_FALSE(at_stop(page.state));
    CHECK(page.shows("Back to the stop"));
    page.press(Key::backspace);
    wait_for_inside(page.state);
    page.frame(2);
    CHECK(page.state.inside.step == step);
    leave_tour(page.state);
    page.state.page = Page::inside;
    wait_for_inside(page.state);
    CHECK(page.state.inside.kernel == "f3-warp-rows");
    CHECK(page.state.inside.warp == 2);
    CHECK(page.state.inside.step == 40);
    CHECK(page.state.inside.lane == 7);
    CHECK_FALSE(page.state.inside.own);
}

TEST_CASE("tour inside: a stop names a launch; without one a kernel opens on what does its main work") {
    const auto at_stop_with = [](const std::string& settings) {
        Program page;
        Tour tour;
        tour.script =
            good(parse_tour("# T\n## A\n- problem: worked-4x4\n- lesson: inside\n" + settings + "\n\nx\n",
                            "test.md", tour_names()));
        start_tour(page.state, std::move(tour));
        settle_at_stop(page.state, 0);
        page.frame(2);
        const InsidePlace at = place_inside(page.state);
        REQUIRE(at);
        return std::tuple(page.state.inside.launch, at_stop(page.state), page.state.notice);
    };
    using Found = std::tuple<int, bool, std::string>;
    const std::string b2 = "- kernel: b2-tensor-core\n", b4 = "- kernel: b4-hopper\n";
    CHECK(at_stop_with(b2) == Found{1, true, ""});
    CHECK(std::get<0>(at_stop_with(b4)) > 0);
    CHECK(std::get<0>(at_stop_with(b2 + "- launch: 1\n")) == 0);
    CHECK(std::get<0>(at_stop_with(b2 + "- launch: 3\n- instruction: 2 warp=1\n")) == 2);
    CHECK(contains(std::get<2>(at_stop_with(b2 + "- launch: 9\n")), "has no launch 9"));
    // The page itself, without a tour
    for (const char* kernel : {"b2-tensor-core", "b4-hopper"}) {
        Program page;
        page.press(Key::eight);
        wait_for_inside(page.state);
        choose_inside_kernel(page.state, kernel);
        wait_for_inside(page.state);
        const InsidePlace at = place_inside(page.state);
        REQUIRE(at);
        CHECK(at.launch_number() > 0);
        for (const auto& other : at.walk->launches)
            CHECK(other->launch->steps() <= at.launch->launch->steps());
    }
}
