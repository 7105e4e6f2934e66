// The page Kernel and CPU: it shows what the comparison holds, its keys and buttons work, its layout holds.
#include "app/io/kernel_bundle.h"
#include "app/ui/chapters/compare/compare.h"
#include "core/base/numbers.h"
#include "tests/app/ui/layout_check.h"
#include "tests/folder.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;
using Quantity = KernelFault::Quantity;

namespace {

Problem two_by_some_tiles() {
    Problem p = causal(*random_problem(200, 32, 5));
    p.scale.kind = Scale::Kind::sqrt;
    return p;
}

struct OnPage : Program {
    explicit OnPage(Screen size = {}, const Problem& problem = two_by_some_tiles()) : Program(problem, size) {
        state.hooks.is_bundle = is_bundle_file;
        state.hooks.load_bundle = load_bundle_file;
        state.hooks.save_bundle = save_bundle_file;
        settle();
        state.page = Page::compare;
        run();
    }
    void run() {
        wait_for_comparison(state);
        frame(2);
    }
    void run_with(const KernelFault& fault) {
        inject(state, fault);
        run();
    }
    void run_kernel(const std::string& name) {
        choose_kernel(state, name);
        run();
    }
    const KernelComparison& shown() { return *compare_page(state).shown; }
};

// The page in the ways that it can look.
void for_each_look(OnPage& page, const std::function<void(const std::string&)>& look) {
    look("healthy");
    for (const std::string& map : map_names(page.state)) {
        page.state.compare.map = map;
        page.state.compare.measure = (page.state.compare.measure + 1) % 3;
        look(map);
    }
    page.run_with({Quantity::P, 1, 1, 3, -1, 1e-2});
    look("faulty");
    page.press(Key::d);
    look("located");
    page.run_with({Quantity::alpha, 1, 1, 37, -1, 1e-3});
    page.press(Key::d);
    look("thousands of units");
    choose_tile(page.state, 0, 1);
    look("skipped tile");
    page.run_kernel("b2-tensor-core");
    look("backward");
    compare_page(page.state).shown.reset();
    look("empty");
}

}  // namespace

TEST_CASE("compare page: it shows the numbers of the comparison") {
    OnPage page;
    const OutputVerdict& O = page.shown().nearest();
    CHECK(O.slot == Slot::O);
    page.check_shows(
        {"Within the rule", format_fixed(O.ratio(), 2), "emulator", "limit 2 × ", ", 2 roundings"});
    const Place at = place_of(page.state);
    const ThreeWays l = tile_values(page.shown(), Quantity::l, at.i, at.j);
    const int row = at.row - at.i * page.shown().kernel->problem.Br;
    page.check_shows({digits_of(l.cpu(row, 0), l.kernel(row, 0)).text, "query " + std::to_string(at.row),
                      "Rounding explains every difference from the CPU's walk", "Worst cell"});
}

TEST_CASE("compare page: the legend has the colour of cells without a difference") {
    OnPage page;
    for (const bool presenter : {false, true}) {
        page.state.presenter = presenter;
        page.frame(2);
        const Item same = page.find("no difference");
        CHECK(std::ranges::any_of(page.items(), [&](const Item& item) {
            return item.kind == ItemKind::text && item.text == "0" && item.min.y >= same.max.y &&
                   std::abs(middle(item).x - middle(same).x) < 2;
        }));
    }
}

TEST_CASE("compare page: the ring marks the cell that the map shows as the furthest, with how far it is") {
    // All as the CPU has it: the map tells how far it is from fp64, as the verdict does.
    OnPage same({1280, 720}, example("worked-4x4"));
    same.run_kernel("f4-tensor-core");
    const auto exact = map_of(same.state);
    REQUIRE(exact);
    CHECK(exact->from_exact);
    CHECK(exact->most == doctest::Approx(same.shown().nearest().error));
    CHECK(exact->worst.row == same.shown().nearest().worst.row);
    same.check_shows({" is from", "fp64", "Worst cell", "all as the CPU has it", three_digits(exact->most)});
    // A kernel that is off: how far it is from the CPU's walk.
    same.run_with({Quantity::P, 0, 0, 1, -1, 2});
    const auto off = map_of(same.state);
    REQUIRE(off);
    CHECK_FALSE(off->from_exact);
    CHECK(off->far(off->worst.row, off->worst.column) == off->far.maxCoeff());
    same.check_shows({"the CPU's", "Furthest", three_digits(off->most)});
}

TEST_CASE("compare page: a right output is shown by how far it is from fp64, with the rule's limit") {
    OnPage page;
    const OutputVerdict& verdict = page.shown().nearest();
    auto map = map_of(page.state);
    REQUIRE(map);
    // Nearly all of it is as the CPU has it; the picture is of what the rule is about, and of every cell.
    CHECK(map->unlike < map->compared / 25);
    CHECK(map->from_exact);
    CHECK(map->limit == verdict.limit());
    CHECK((map->far.array() > 0).count() > map->compared / 2);
    for (const bool presenter : {false, true}) {
        page.state.presenter = presenter;
        page.frame(2);
        CHECK(page.shows(three_digits(verdict.error)));
        // One number has one text: the limit is not rounded again anywhere.
        if (verdict.limit() >= 1e-3 && three_digits(verdict.limit()) != limit_text(verdict))
            for (const Item& item : page.items())
                CHECK_MESSAGE(!item.text.ends_with(three_digits(verdict.limit())), item.text);
        // Beside the colours, not only on the gauge of the verdict.
        const std::string limit = "limit " + limit_text(verdict);
        const Item colours = page.find("no difference");
        CHECK(std::ranges::any_of(page.items(), [&](const Item& item) {
            return item.text == limit && item.min.y > colours.max.y && item.min.x > colours.max.x;
        }));
    }
    page.state.presenter = false;
    // In its own units only: no limit is told for parts of a number.
    page.press(Key::l);
    CHECK(map_of(page.state)->limit == 0);
    page.press("l l");
    // From the CPU's, when that is asked for: the few that differ, and how many.
    page.frame(2);
    page.click("compare from/the CPU's");
    map = map_of(page.state);
    CHECK_FALSE(map->from_exact);
    CHECK((map->far.array() > 0).count() == map->unlike);
    page.frame(2);
    CHECK(page.shows(unlike_words(*map)));
}

TEST_CASE("compare page: where no cell differs the map says so") {
    OnPage page({1280, 720}, example("worked-4x4"));
    page.run_kernel("f4-tensor-core");
    CHECK_FALSE(page.shows("No cell differs"));
    page.state.compare.from = 1;
    page.frame(2);
    CHECK(map_of(page.state)->unlike == 0);
    CHECK(page.shows("No cell differs: "));
}

TEST_CASE("compare page: colours tell differences of one size apart, and a fault from rounding") {
    // As rounding makes them: the colour is the difference as a part of the largest.
    const DifferenceScale even = scale_of({0, 1e-7, 2e-7, 3e-7, 4e-7});
    CHECK_FALSE(even.logarithmic);
    CHECK(even.place(0) == 0);
    CHECK(even.place(1e-7) == doctest::Approx(.25));
    CHECK(even.place(4e-7) == 1);
    // One is ten thousand times as large: the others are not all alike because of it.
    const DifferenceScale apart = scale_of({0, 1e-7, 2e-7, 4e-7, 8e-7, 1e-3});
    CHECK(apart.logarithmic);
    CHECK(apart.place(0) == 0);
    CHECK(apart.place(1e-7) > 0);
    CHECK(apart.place(8e-7) > apart.place(2e-7) + .1f);
    CHECK(apart.place(8e-7) < .5f);
    CHECK(apart.place(infinity) == 1);
    CHECK(scale_of({0, 0}).place(0) == 0);
    // On the page: what is drawn is not of one colour.
    OnPage page({1280, 720}, *random_problem(200, 32, 1));
    page.run_kernel("f4-tensor-core");
    const auto map = map_of(page.state);
    REQUIRE(map);
    int bright = 0, dark = 0;
    for (Eigen::Index n = 0; n < map->far.size(); ++n) {
        const float place = map->scale.place(map->far.data()[n]);
        bright += place > .25f, dark += place < .25f;
    }
    CHECK(bright > map->far.size() / 10);
    CHECK(dark > map->far.size() / 4);
}

TEST_CASE("compare page: it names the problem that it compares, the axes of the map, and where it ran") {
    OnPage page({1600, 900}, example("worked-4x4"));
    REQUIRE(page.shown().kernel->problem.N() == 200);
    const std::string title = compared_problem(page.state).title;
    page.check_shows({title.substr(0, title.find(',')), "query", "column", "128", "emulated"});
    CHECK_FALSE(page.shows(page.state.problem->title));
    page.press(Key::s);
    page.run();
    page.check_shows({page.state.problem->title});
    page.state.compare.map = "S tile";
    page.frame(2);
    page.check_shows({"query", "key"});
    page.state.presenter = true;
    page.frame(2);
    page.check_shows({"Kernel and CPU", ", emulated", "query", "key", "4 × 4"});
    page.check_shows({"f5-flash2 is FlashAttention-2; its source runs on an emulator", ", 2 roundings"});
}

TEST_CASE("compare page: small problems run by themselves, large ones wait for the button") {
    Program program(example("worked-4x4"));
    program.state.page = Page::compare;
    for (int n = 0; n < 600 && !(program.state.comparing && program.state.comparing->shown); ++n)
        program.wait();
    REQUIRE(program.state.comparing->shown);
    CHECK(program.state.comparing->shown->tiles.size() > 1);

    Problem large = *random_problem(900, 64, 1);
    large.Br = large.Bc = 64;
    Program waits(large);
    waits.settle();
    waits.state.page = Page::compare;
    waits.wait(30);
    CHECK_FALSE(waits.state.comparing->shown);
    CHECK_FALSE(waits.state.comparing->run);
    CHECK(waits.shows("Nothing compared yet"));
    start_comparison(waits.state);
    REQUIRE(waits.state.comparing->run);
    cancel_comparison(waits.state);
    CHECK_FALSE(waits.state.comparing->run);
    CHECK_FALSE(waits.state.comparing->shown);
    waits.click("compare run");
    CHECK((waits.state.comparing->run || waits.state.comparing->shown));
}

TEST_CASE("compare page: where one tile holds the problem, one of several tiles stands in for it") {
    OnPage page({1280, 720}, example("worked-4x4"));
    const auto rows = [&] { return page.shown().kernel->problem.N(); };
    CHECK(rows() == compare_page(page.state).several->N());
    double most = 0;
    for (const TileComparison& tile : page.shown().tiles) most = std::max(most, tile.statistics_ulp());
    CHECK(most > 0);
    // The walk's own is a key away, and another one that is opened is the one that is meant.
    page.press(Key::s);
    page.run();
    CHECK(rows() == 4);
    page.press(Key::s);
    page.run();
    CHECK(rows() > 4);
    page.show(example("causal-8"));
    page.run();
    CHECK(rows() == 8);
    // A problem of several tiles is always itself.
    OnPage large;
    large.press(Key::s);
    CHECK(contains(large.state.notice, "several tiles of its own"));
    CHECK(&compared_problem(large.state) == large.state.problem.get());
}

TEST_CASE(
    "compare page: the gauge marks once and twice the standard's error, in their order before the limit") {
    for (const bool presenter : {false, true}) {
        OnPage page({1280, 720});
        page.state.presenter = presenter;
        page.frame(2);
        const OutputVerdict& v = page.shown().nearest();
        const auto at = [&](const std::string& text, const std::string& shorter) {
            for (const Item& item : page.items())
                if (item.kind == ItemKind::text &&
                    (item.text.starts_with(text) || item.text.starts_with(shorter)))
                    return middle(item).x;
            FAIL("no " << text);
            return 0.0f;
        };
        const std::string words = limit_text(v);
        const float once = at("standard", "1 ×"), twice = at("2 ×", "2 ×"),
                    limit = at("limit " + words, words);
        CHECK(once < twice);
        CHECK(twice < limit);
    }
}

TEST_CASE("compare page: a fault is injected, located in one click, and taken back") {
    OnPage page;
    page.run_with({Quantity::l, 1, 1, 3, -1, 1e-3});
    CHECK(page.shows("First beyond rounding: ℓ of tile (1, 1), row 3"));
    page.click("begins");
    const Place at = place_of(page.state);
    CHECK(at.i == 1);
    CHECK(at.j == 1);
    CHECK(at.row == page.shown().kernel->problem.Br + 3);
    CHECK(page.state.compare.map == "l tile");
    page.press("ctrl+z");
    page.run();
    CHECK(page.state.compare.fault.quantity == Quantity::none);
    CHECK_FALSE(page.shown().finding);
    page.press("ctrl+z");
    CHECK(contains(page.state.notice, "no earlier fault"));
}

TEST_CASE("compare page: go to step opens the walk at the kernel's number") {
    OnPage page;
    page.run_with({Quantity::P, 1, 1, 3, 1, 1e-2});
    const int Br = page.shown().kernel->problem.Br;
    page.press("d g");
    page.settle();
    page.frame(3);
    CHECK(page.state.page == Page::walk);
    CHECK(page.state.lesson->id == std::string("flash-forward"));
    const Step& step = page.state.trace->step(page.state.cursor.step);
    CHECK(step.op == Op::exponentials);
    CHECK(step.i == 1);
    CHECK(step.j == 1);
    CHECK(page.state.row == 3);
    CHECK(page.state.col == 1);
    CHECK(page.state.problem->Br == Br);
}

TEST_CASE("compare page: keys move tile, row and measure") {
    OnPage page;
    const Place at = place_of(page.state);
    REQUIRE(at.j == 0);  // of two tiles
    page.press(Key::right);
    CHECK(place_of(page.state).j == 1);
    page.press(Key::left);
    CHECK(place_of(page.state).j == 0);
    for (const auto& [key, row] : {std::pair{"home", 0}, {"down", 1}, {"up", 0}, {"end", 199}}) {
        page.press(key);
        CHECK_MESSAGE(place_of(page.state).row == row, key);
    }
    page.press(Key::l);
    CHECK(page.state.compare.measure == 1);
    page.press("ctrl+c");
    CHECK(contains(std::string(ImGui::GetClipboardText()), "within the rule: max |O"));
}

TEST_CASE("compare page: a saved run opens again, also when it is dropped") {
    const Folder folder;
    const std::string path = folder.file("run.json");
    {
        OnPage page;
        page.run_with({Quantity::m, 1, 1, 0, -1, 1e-2});
        fill_in(page.state.compare.path, path);
        page.click("bundle save");
        CHECK(page.state.notice == "Saved " + path + ".");
    }
    Program other(example("worked-4x4"));
    other.state.hooks.is_bundle = is_bundle_file;
    other.state.hooks.load_bundle = load_bundle_file;
    other.state.dropped = {path};
    other.frame(3);
    CHECK(other.state.page == Page::compare);
    REQUIRE(other.state.comparing->shown);
    CHECK(other.state.comparing->shown->finding.quantity == Quantity::m);
    other.settle();
    other.wait(20);
    CHECK(other.state.comparing->source == path);  // it was not run again
    CHECK(other.shows("recorded"));
}

TEST_CASE("compare page: texts have their place at every size, in every look") {
    for (const Screen& screen : all_screens) {
        OnPage page(screen);
        for_each_look(page, [&](const std::string& what) { check_new_frame(page, what); });
    }
}

TEST_CASE("compare page: text is legible in every theme") {
    OnPage page({1280, 720});
    page.run_with({Quantity::P, 1, 1, 3, -1, 1e-2});
    for (ThemeId id : all_themes) {
        page.state.settings.theme = id;
        check_new_frame(page);
    }
}

TEST_CASE("compare page: the presenter's page keeps every text in its place, and none is small") {
    for (const Screen& screen : {Screen{1280, 720}, Screen{1920, 1080}}) {
        OnPage page(screen);
        page.state.presenter = true;
        check_new_frame(page);
        page.run_with({Quantity::P, 1, 1, 3, -1, 1e-2});
        check_new_frame(page, "faulty");
    }
}

TEST_CASE("compare page: units of the last place and differing digits as text") {
    CHECK(ulp_text(0) == "0");
    CHECK(ulp_text(1.5) == "1.5");
    CHECK(ulp_text(999) == "999");
    CHECK(ulp_text(8312) == "8e3");
    CHECK(ulp_text(99600) == "1e5");
    CHECK(ulp_count(8312) == "8312");
    CHECK(ulp_count(312) == "312");
    CHECK(ulp_count(3e7) == "3e7");
    CHECK(ulp_text(infinity) == "∞");
    CHECK(digits_of(7.1593008, 7.15929937).text == "7.15930080");  // as many digits as beside it
    CHECK(digits_of(1, 1).text == "1");
    CHECK(digits_of(7.10374165f, 7.10374212f).text == "7.10374165");
    CHECK(digits_of(7.10374165f, 7.10374212f).same == std::string("7.10374").size());
    CHECK(digits_of(-1, -1).same == std::string("−1").size());
}
