#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "app/io/link.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/state.h"
#include "tests/app/cli/run.h"
#include "tests/core/lessons/broken.h"

#include <doctest/doctest.h>
#include <utility>

using namespace tilewalk::test;

namespace {

// Somewhere in a walk, as a user may have come there.
ui::AppState anywhere(Random& random) {
    const std::size_t at = static_cast<std::size_t>(pick(random, 0, static_cast<int>(lessons().size()) - 1));
    const Lesson& lesson = lessons()[at];
    Problem p = examples()[static_cast<std::size_t>(pick(random, 0, 5))];
    if (pick(random, 0, 1)) {
        p.Br = pick(random, 1, 3);
        p.switches.no_correction = pick(random, 0, 1) == 1;
        mark_changed(p);
    }
    auto state = make_state(&lesson, std::move(p), ui::Settings{});
    REQUIRE_MESSAGE(state, state.error);
    ui::wait_for_walk(*state);
    ui::take_finished_trace(*state);
    ui::go_to(*state, at_step(*state->trace, pick(random, 0, state->trace->size() - 1)));
    state->row = pick(random, 0, 4);
    state->col = pick(random, -1, 3);
    state->presenter = pick(random, 0, 1) == 1;
    state->page = static_cast<ui::Page>(pick(random, 0, 3));
    const int panel = pick(random, 0, 2);
    ui::show_side(*state, panel == 1, panel == 2);
    ui::refresh_explanation(*state);
    return std::move(*state);
}

void check_same(const ui::AppState& a, const ui::AppState& b) {
    CHECK(a.lesson == b.lesson);
    CHECK(a.problem->name == b.problem->name);
    CHECK(problem_to_json(*a.problem) == problem_to_json(*b.problem));
    CHECK(a.cursor == b.cursor);
    CHECK(a.row <= b.row);  // what was chosen in a step that wrote more rows
    CHECK(a.col <= b.col);
    CHECK(a.explanation.target == b.explanation.target);
    CHECK(a.presenter == b.presenter);
    CHECK(a.page == b.page);
    CHECK(a.show_problem == b.show_problem);
    CHECK(a.show_break == b.show_break);
}

Result<ui::AppState> opened(const std::string& link) {
    Arguments a;
    a.link = link;
    return make_session_at_link(a, ui::Settings{});
}

}  // namespace

TEST_CASE("links: three hundred states are the same when their link is opened") {
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        const ui::AppState state = anywhere(random);
        const auto link = link_of(state);
        REQUIRE_MESSAGE(link, link.error);
        CAPTURE(*link);
        CHECK(link->size() <= 2000);
        const auto back = opened(*link);
        REQUIRE_MESSAGE(back, back.error);
        check_same(*back, state);
    }
}

TEST_CASE("links: the place inside a kernel's run") {
    auto state = make_state(&default_lesson(), *find_example("worked-4x4"), ui::Settings{});
    REQUIRE(state);
    state->page = ui::Page::inside;
    ui::InsideForm& f = state->inside;
    f.kernel = "f4-tensor-core", f.dtype = DType::f16, f.warp = 2, f.step = 50, f.lane = 7;
    const auto link = link_of(*state);
    REQUIRE_MESSAGE(link, link.error);
    const auto back = opened(*link);
    REQUIRE_MESSAGE(back, back.error);
    CHECK(back->page == ui::Page::inside);
    CHECK(back->inside.kernel == f.kernel);
    CHECK(back->inside.dtype == f.dtype);
    CHECK(std::tuple(back->inside.warp, back->inside.step, back->inside.lane) == std::tuple(2, 50, 7));
    // What the run does not have
    const auto refused = [&](int ui::InsideForm::*part, int n, const char* words) {
        const int before = std::exchange(f.*part, n);
        const auto other = link_of(*state);
        CHECK_MESSAGE((!other || contains(opened(*other).error, words)), words);
        CHECK(bool(other) == (part != &ui::InsideForm::lane));  // not even written
        f.*part = before;
    };
    refused(&ui::InsideForm::block, 9999999, "no block 9999999");
    refused(&ui::InsideForm::launch, 7, "launch 8");
    refused(&ui::InsideForm::warp, 99, "warp 99");
    refused(&ui::InsideForm::step, 999998, "instruction 999999");
    refused(&ui::InsideForm::lane, 99, "lane");
    f.kernel = "no-kernel";
    CHECK(contains(opened(*link_of(*state)).error, "no-kernel"));
}

TEST_CASE("links: a fault of a kernel's run") {
    auto state = make_state(&default_lesson(), *find_example("worked-4x4"), ui::Settings{});
    REQUIRE(state);
    state->page = ui::Page::inside;
    state->inside.fault = "swap-b", state->inside.warp = 1, state->inside.step = 50;
    const auto back = opened(*link_of(*state));
    REQUIRE_MESSAGE(back, back.error);
    CHECK(back->inside.fault == "swap-b");
    CHECK(std::tuple(back->inside.warp, back->inside.step) == std::tuple(1, 50));
    state->inside.fault = "f5_flash2.cu:1";
    CHECK(contains(opened(*link_of(*state)).error, "f5_flash2.cu:1"));
}

TEST_CASE("links: render draws the place that a link leads to") {
    const Folder folder;
    const OwnSettings settings;
    auto state = make_state(&default_lesson(), *find_example("worked-4x4"), ui::Settings{});
    REQUIRE(state);
    ui::go_to(*state, at_step(*state->trace, 16));
    const std::string link = *link_of(*state);
    output_of({"render", "--link", link, "--size", "1024x640", "-o", folder.file("a.png")});
    output_of({"render", "--example", "worked-4x4", "--step", "17", "--size", "1024x640", "-o",
               folder.file("b.png")});
    output_of({"render", "--step", "16", "--size", "1024x640", "-o", folder.file("c.png")});
    CHECK(*read_file(folder.file("a.png")) == *read_file(folder.file("b.png")));
    CHECK(*read_file(folder.file("a.png")) != *read_file(folder.file("c.png")));
    int step = -1;
    run({"--link", link, "--frames", "1"}, looking([&](ui::AppState& shown) { step = shown.cursor.step; }));
    CHECK(step == 16);
}

TEST_CASE("links: the command prints what leads to the place that its words name") {
    const std::string line =
        output_of({"link", "--example", "causal-8", "--lesson", "flash-backward", "--br", "2", "--break",
                   "no_lse", "--step", "7", "--at", "1.2", "--presenter"});
    REQUIRE(line.ends_with("\n"));
    const auto state = opened(line);
    REQUIRE_MESSAGE(state, state.error);
    CHECK(std::string(state->lesson->id) == "flash-backward");
    CHECK(state->problem->Br == 2);
    CHECK(state->problem->switches.no_lse);
    CHECK(state->cursor.step == 6);
    CHECK(state->row == 1);
    CHECK(state->col == 2);
    CHECK(state->presenter);
    CHECK(output_of({"link", "--link", line.substr(0, line.size() - 1)}) == line);
    CHECK(contains(output_of({"link", "--lesson", "memory"}), "page=memory"));
    // Of the tile behind: the screen counts on
    CHECK(opened(output_of({"link", "--step", "37", "--at", "3"}))->row == 1);
    check_refused({{{"link", "--step", "37", "--at", "1"}, "of what this step writes, ℓ[2…3]."},
                   {{"link", "--step", "1", "--at", "0.4"}, "expected ROW or ROW.COLUMN"},
                   {{"link", "--step", "41"}, "--step is \"41\", expected a whole number from 1 to 40"},
                   {{"link", "--at", "x"}, "--at is \"x\", expected ROW or ROW.COLUMN"},
                   {{"link", "--step", "17", "--at", "2"}, "of what this step writes, ℓ[0…1]."},
                   {{"link", "--step", "17", "--at", "0.1"}, "of what this step writes, ℓ[0…1]."},
                   {{"link", "--at", "0."}, "of what this step writes"},
                   {{"link", "-o", "-"}, "leave -o out"}});
}

TEST_CASE("links: a fault that the lesson does not know is told, and refused where a walk is written") {
    Problem p = *find_example("worked-4x4");
    p.switches.no_max = true;
    const auto link = link_to({.problem = p, .lesson = "attention"});
    REQUIRE(link);
    const auto state = opened(*link);
    REQUIRE_MESSAGE(state, state.error);
    const std::string told =
        "The link has the fault no_max, which the lesson attention does not know; it knows none.";
    CHECK(state->notice == told);
    check_refused({{{"trace", "--link", *link}, told.c_str()}});
    const Folder folder;
    const Ran drawn = run({"render", "--link", *link, "--size", "1024x640", "-o", folder.file("a.png")});
    CHECK(drawn.code == 0);
    CHECK(drawn.err == "tilewalk: " + told + "\n");
    p.switches = {}, p.precision.inputs = Format::bf16;
    CHECK(opened(*link_to({.problem = p, .lesson = "attention"}))->notice ==
          "The link has number formats, but the lesson attention computes in fp64 alone.");
    p.precision = {}, p.switches.no_max = true;
    CHECK(opened(*link_to({.problem = p, .lesson = "flash-forward"}))->notice.empty());
}

TEST_CASE("links: one of more letters than a link may have says how many that are") {
    const std::string long_one = "tilewalk:example=worked-4x4&tokens=" + std::string(2100, 'a') + "&sum=0000";
    const auto state = opened(long_one);
    CHECK(state.error == "The link has " + str(long_one.size()) + " letters, expected at most 2000.");
    check_refused({{{"trace", "--link", long_one}, "expected at most 2000"}});
}

TEST_CASE("links: a problem that is too large for one is refused") {
    const Folder folder;
    std::string numbers;
    for (int row = 0; row < 40; ++row)
        for (int col = 0; col < 8; ++col)
            numbers += std::to_string(.1234567 * row + col) + (col < 7 ? "," : "\n");
    const std::string file = folder.file("m.csv", numbers);
    check_refused({{{"link", "--q", file, "--k", file, "--v", file},
                    "This problem is too large for a link of 2000 letters; save it as a file"}});
}

TEST_CASE("links: whatever names a walk takes one") {
    const Folder folder;
    const std::string line = output_of(
                          {"link", "--example", "causal-8", "--lesson", "attention", "--step", "3"}),
                      link = line.substr(0, line.size() - 1);
    CHECK(output_of({"trace", "--link", link}) ==
          output_of({"trace", "--example", "causal-8", "--lesson", "attention"}));
    CHECK(output_of({"export", "--format", "md", "--link", link}) ==
          output_of({"export", "--format", "md", "--example", "causal-8", "--lesson", "attention"}));
    const std::string page = output_of({"link", "--lesson", "memory"});
    check_refused({{{"trace", "--link", page.substr(0, page.size() - 1)},
                    "The link leads to the page memory, which is no walk."},
                   {{"export", "-o", "/nowhere/a.pdf", "--tour", "flash-attention", "--link", link},
                    "A tour has its own problems"}});
}

TEST_CASE("links: mistakes are told in a sentence") {
    auto state = make_state(&default_lesson(), *find_example("worked-4x4"), ui::Settings{});
    REQUIRE(state);
    const std::string link = *link_of(*state);
    const LinkedPlace beyond{.problem = *find_example("worked-4x4"), .step = 99},
        below{.problem = *find_example("worked-4x4"), .step = 17, .row = 9, .col = 9};
    check_refused(
        {{{"--link", "x"}, "A link begins with"},
         {{"--link", ""}, "--link needs a value"},
         {{"--link", link.substr(0, link.size() - 3)}, "cut off"},
         {{"--link", link + "0"}, "cut off"},
         {{"--link", *link_to(beyond)}, "leads to step 99, but this walk has 40"},
         {{"trace", "--link", *link_to(beyond)}, "leads to step 99, but this walk has 40"},
         {{"--link", *link_to(below)}, "leads to 9.9 of what step 17 writes, 2 × 1, counted from 0"},
         {{"export", "--format", "md", "--link", *link_to(below)}, "leads to 9.9 of what step 17 writes"},
         {{"--link", link, "--step", "3"}, "leave out options for these"},
         {{"--link", link, "--example", "worked-4x4"}, "leave out options for these"},
         {{"--link", link, "--tour", "flash-attention"}, "leave out options for these"},
         {{"--link", link, "--link", link}, "more than once"},
         {{"questions", "--link", link},
          "'tilewalk questions' has no option \"--link\"; it belongs to the window, 'trace', "
          "'render', 'export', 'film', 'link' and 'inside'."},
         {{"trace", "--link", link, "--br", "2"}, "leave out options for these"},
         {{"link", "--link", link, "--at", "0"}, "leave out options for these"},
         {{"trace", "--link", link + "0"}, "cut off"},
         {{"render", "--link", "tilewalk:%", "-o", "/nowhere/a.png"}, "cut off"}});
    CHECK(run({"--link", "tilewalk:" + std::string(8'000'000, '%')}).code == 2);
}

// A number in brackets at the end of a task, after "Before step K", is a result of step K. Returns how many.
static int expect_answer(const std::string& line, const ui::AppState& state) {
    const auto at = line.find("Before step "), bracket = line.rfind('(');
    if (at == std::string::npos || bracket == std::string::npos || !line.ends_with(")")) return 0;
    const int step = std::stoi(line.substr(at + 12)) - 1;
    const std::string answer = line.substr(bracket + 1, line.size() - bracket - 2);
    const std::string result = plain(explain(*state.trace, step).result);
    CHECK_MESSAGE(result.find(answer) != std::string::npos, result);
    return 1;
}

// The lecturer has nothing but the line: what it names has to be what stands there.
TEST_CASE("links: every one of docs/teaching.md leads to the step that its line names") {
    const auto text = read_file(TILEWALK_SOURCE_DIR "/docs/teaching.md");
    REQUIRE_MESSAGE(text, text.error);
    int places = 0, answers = 0;
    for (const std::string& line : split(*text, "\n"))
        for (const std::string& link : split(line, "`")) {
            if (!link.starts_with("tilewalk:") || link.find("sum=") == std::string::npos) continue;
            CAPTURE(line);
            const auto state = opened(link);
            REQUIRE_MESSAGE(state, state.error);
            if (!line.starts_with("|")) answers += expect_answer(line, *state);
            if (!line.starts_with("|") || state->page != ui::Page::walk) continue;
            const std::string place =
                ", step " + str(state->cursor.step + 1) + ", " + state->explanation.title;
            CHECK_MESSAGE(line.find(place) != std::string::npos, place);
            ++places;
        }
    CHECK(places >= 16);
    CHECK(answers >= 1);
}

TEST_CASE("links: the cell that the command is told is the one that the screen calls so, in every lesson") {
    int cells = 0, of_shards = 0;
    for (const Lesson& lesson : lessons()) {
        CAPTURE(lesson.id);
        for (const int shards : {0, 1, 2}) {
            Problem p = *find_example("causal-8");
            p.options.shards = static_cast<ShardKind>(shards);
            if (refuse(lesson, p) || (shards > 0 && !lesson.uses(chooses_ranks))) continue;
            const auto trace = build_trace(lesson, p);
            REQUIRE_MESSAGE(trace, trace.error);
            for (int k = 0; k < (*trace)->size(); ++k) {
                const Region region = step_region(**trace, k);
                if ((*trace)->writes(k).empty() || region.rows == 0) continue;
                for (int row = 0; row < region.rows; ++row) {
                    const CellRef cell = cell_of_row(**trace, k, region.row + row);
                    const std::string called = cell_text(**trace, cell, k);
                    const std::string index = called.substr(called.find('[') + 1),
                                      told = index.substr(0, index.find_first_of(",]"));
                    const auto found = cell_at(**trace, k, told);
                    CAPTURE(called);
                    REQUIRE_MESSAGE(found, found.error);
                    CHECK(found->row == row);
                    ++cells, of_shards += told != str(region.row + row);
                }
            }
        }
    }
    CHECK(cells > 1000);
    CHECK(of_shards > 10);
}

TEST_CASE("links: the options of the page Inside lead where its own link leads") {
    const std::vector<std::string> words{
        "link",          "--page", "inside", "--kernel", "f2-tiled-fp32", "--size", "256x64",
        "--instruction", "30",     "--warp", "1",        "--lane",        "7"};
    const std::string line = output_of(words);
    for (const char* part :
         {"kernel=f2-tiled-fp32", "type=f32", "size=256x64", "instruction=30", "warp=1", "lane=7"})
        CHECK_MESSAGE(contains(line, part), part);
    const auto state = opened(line);
    REQUIRE_MESSAGE(state, state.error);
    CHECK(*link_of(*state) + "\n" == line);
    const ui::InsideForm& f = state->inside;
    CHECK(std::tuple(f.kernel, f.dtype, f.warp, f.step, f.lane) ==
          std::tuple("f2-tiled-fp32", DType::f32, 1, 29, 7));
    CHECK(contains(output_of({"link", "--page", "inside", "--kernel", "b1-recompute-fp32", "--launch", "2"}),
                   "launch=2"));
    // Without it the launch is the one that the page opens: the one with most to do.
    CHECK(contains(output_of({"link", "--page", "inside", "--kernel", "b2-tensor-core"}), "launch=2"));
    CHECK(contains(output_of({"link", "--page", "inside", "--kernel", "b2-tensor-core", "--launch", "1"}),
                   "kernel=b2-tensor-core"));
    CHECK(contains(output_of({"link", "--page", "inside", "--dtype", "f16", "--without", "swap-b"}),
                   "without=swap-b"));
    // Without a step of its own a link with a fault leads to the race.
    const auto race =
        opened(output_of({"link", "--page", "inside", "--size", "128x64", "--without", "f5_flash2.cu:78"}));
    REQUIRE_MESSAGE(race, race.error);
    CHECK(race->inside.step > 0);
    check_refused({{{"--kernel", "f5-flash2"}, "are of the page Inside; say --page inside"},
                   {{"--warp", "1"}, "are of the page Inside"},
                   {{"--page", "inside", "--kernel", "f9"}, "There is no CUDA kernel"},
                   {{"--page", "inside", "--dtype", "f32"}, "f5-flash2 takes"},
                   {{"--page", "inside", "--size", "99x9"}, "a problem of the size \"99x9\""},
                   {{"--page", "inside", "--warp", "99"}, "warp 99, which this run does not have"},
                   {{"--page", "inside", "--launch", "7"}, "launch 7, which this run does not have"},
                   {{"--page", "inside", "--instruction", "99999999"}, "which this run does not have"},
                   {{"--page", "inside", "--block", "999"}, "no block 999"},
                   {{"--page", "inside", "--lane", "32"}, "--lane"},
                   {{"--page", "inside", "--instruction", "0"}, "--instruction"},
                   {{"--page", "inside", "--without", "nothing"}, "nothing"}},
                  {"link"});
}

TEST_CASE("render: a key waits for the record that the one before it asked for") {
    const Folder folder;
    const OwnSettings settings;
    const std::string there =
        output_of({"link", "--page", "inside", "--size", "256x64", "--instruction", "3"});
    output_of({"render", "--keys", "8 s right right", "--size", "1024x640", "-o", folder.file("keys.png")});
    output_of({"render", "--link", there.substr(0, there.size() - 1), "--size", "1024x640", "-o",
               folder.file("link.png")});
    CHECK(*read_file(folder.file("keys.png")) == *read_file(folder.file("link.png")));
}

TEST_CASE("links: of a page") {
    for (const std::string_view name : ui::page_names) {
        const auto link = run({"link", "--page", std::string(name)});
        REQUIRE(link.code == 0);
        const auto state = opened(link.out.substr(0, link.out.size() - 1));
        REQUIRE_MESSAGE(state, state.error);
        CHECK(state->page == ui::page_of(name));
    }
    const Ran refused = run({"link", "--page", "walks"});
    CHECK(refused.code == 2);
    CHECK(refused.err.find("expected walk, memory, scale, compare, start or inside") != std::string::npos);
}
