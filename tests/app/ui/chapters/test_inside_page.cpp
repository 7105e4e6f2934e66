// The page Inside: it shows what the record holds, its keys and buttons move the walk, its layout holds.
#include "app/ui/cards/cards.h"
#include "app/ui/cards/commands.h"
#include "app/ui/chapters/inside/bridge.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/state/chapters.h"
#include "core/base/numbers.h"
#include "core/inside/tiles.h"
#include "core/inside/words.h"
#include "tests/app/ui/layout_check.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdio>
#include <set>

using namespace tilewalk::test;

namespace {

struct InsideProgram : Program {
    explicit InsideProgram(Screen size = {}, const std::string& kernel = "f5-flash2")
        : Program(example("worked-4x4"), size) {
        state.page = Page::inside;
        record(kernel);
    }
    void record(const std::string& kernel) {
        inside_page(state);
        choose_inside_kernel(state, kernel);
        wait_for_inside(state);
        frame(2);
    }
    InsidePlace at() const { return place_inside(state); }
    /// To the next step of this kind.
    void go_to(inside::Op op) {
        for (int k = at().k + 1; k < at().steps().count(at().warp); ++k)
            if (at().block().events[at().steps().event(at().warp, k)].op == op) {
                go_inside(state, at().warp, k);
                return frame(2);
            }
        FAIL("no such step: ", inside::info(op).name);
    }
};

const inside::Op all_looks[] = {inside::Op::copy_issued,   inside::Op::wait_copies,  inside::Op::sync_block,
                                inside::Op::load_matrices, inside::Op::multiply_add, inside::Op::shuffle,
                                inside::Op::exp2,          inside::Op::pack,         inside::Op::store};

// The steps of each kind, with the other panel where there is room for one.
void for_each_step(InsideProgram& page, const std::function<void(const std::string&)>& look) {
    for (const inside::Op op : all_looks) {
        if (op != inside::Op::copy_issued) page.go_to(op);
        look(inside::info(op).name);
        page.press(Key::m);
        look(std::string(inside::info(op).name) + ", other panel");
    }
}

}  // namespace

TEST_CASE("inside page: the chapter has its number, and its run comes by itself") {
    Program program(example("worked-4x4"));
    program.press(Key::eight);
    CHECK(program.state.page == Page::inside);
    for (int n = 0; n < 600 && !place_inside(program.state); ++n) program.wait();
    REQUIRE(place_inside(program.state));
    program.check_shows({"f5-flash2", "Begin a copy", "Q[0, 8]", "Random 128 × 64", "of 669"});
}

TEST_CASE("inside page: a step that is asked for while the kernel runs is shown when it has run") {
    for (const auto& [typed, shown] : {std::pair("99", 98), {"9999", -1}}) {
        Program program(example("worked-4x4"));
        program.press(Key::eight);
        program.frame();
        // Without a frame between them, in which the run could end.
        REQUIRE_FALSE(place_inside(program.state));
        goto_card.open(program.state);
        std::snprintf(program.state.goto_text, sizeof program.state.goto_text, "%s", typed);
        CHECK(goto_card.answer_key(program.state, {Key::enter}));
        CHECK_FALSE(program.state.show_goto);
        CHECK(program.state.notice.find("The kernel still runs; step 99") == 0);
        for (int n = 0; n < 600 && !place_inside(program.state); ++n) program.wait();
        const InsidePlace at = place_inside(program.state);
        REQUIRE(at);
        CHECK(at.k == (shown < 0 ? at.steps().count(at.warp) - 1 : shown));  // of fewer steps the last
    }
    // What a walk does not have is told with its limit, and may be corrected.
    InsideProgram page;
    page.press("g 9 9 9 9 enter");
    page.frame();
    CHECK(page.state.show_goto);
    CHECK(page.state.notice == "There is no step \"9999\"; warp 0 has steps 1 to " +
                                   str(page.at().steps().count(page.at().warp)) + ".");
}

TEST_CASE("inside page: keys go by instruction, line, barrier and tile, to other warps and lanes") {
    InsideProgram page;
    const auto step = [&](std::string_view keys) {
        page.press(keys);
        return page.at().k;
    };
    CHECK(step("right right") == 2);
    CHECK(step("left") == 1);
    const int line = step("shift+right");
    CHECK(page.at().steps().line(0, line) != page.at().steps().line(0, line - 1));
    CHECK(step("ctrl+right") > 10);
    CHECK(page.at().event->op == inside::Op::sync_block);
    CHECK(step("home") == 0);
    CHECK(step("alt+right alt+right") > 100);
    CHECK(page.at().steps().tile(0, page.at().k) == 1);
    const int slot = page.at().steps().slot(0, page.at().k);
    page.press("down down");
    CHECK(page.at().warp == 2);
    CHECK(page.at().steps().slot(2, page.at().k) <= slot);
    page.press("shift+down");
    CHECK(page.at().lane == 14);
    CHECK(step("end") == page.at().steps().count(2) - 1);
    page.press("home space");
    page.wait(200);
    CHECK(page.at().k > 0);
}

TEST_CASE("inside page: a product shows its sum, its owners, and where its numbers come from") {
    InsideProgram page({1600, 900});
    page.go_to(inside::Op::multiply_add);
    const InsidePlace at = page.at();
    const inside::Product p(at.words, at.record().dtype);
    const auto cell = inside::cell_of_register(13, 0);
    page.check_shows({format_short(p.after(cell.row, cell.column)), "mma.m16n8k16", "part 1 of 4 of this sum",
                      "no scale in it", "16 × 8 scores gain 16 terms each", "Where the first Q comes from",
                      "cp.async"});
    // Another cell of the lane, another lane
    page.press(Key::c);
    CHECK(page.shows(format_short(p.after(3, 3))));
    page.click("fragment C");
    CHECK(page.at().lane != 13);
    // One stop of the way leads to its step
    const int product = page.at().k;
    for (const Item& item : page.items())
        if (item.kind == ItemKind::button && item.text.starts_with("way A")) {
            page.mouse_to(item);
            page.mouse_down();
            page.mouse_up();
            break;
        }
    CHECK(page.at().k < product);
    CHECK(page.at().event->op == inside::Op::load_matrices);
}

TEST_CASE("inside page: banks, sectors and barriers say what the record says") {
    InsideProgram page({1600, 900});
    page.check_shows({"16 sectors", "512 B, all asked for", "4 turns", "no bank is asked twice at once"});
    page.go_to(inside::Op::wait_copies);
    page.check_shows({"Copies of the block", "16 KiB", "arrived", "not begun"});
    page.go_to(inside::Op::sync_block);
    page.check_shows({"Barrier", "Warps meet", "warp 3", "All 4 warps come after 15 steps",
                      "What it protects", "16 KiB of Q that warps 0–3 wrote before it are"});
    page.record("f0-materialise");
    CHECK(page.shows("launch 1"));
}

TEST_CASE("inside page: what has not come to shared memory is empty, what is under way says since when") {
    InsideProgram page({1600, 900});
    page.check_shows({"Q on its way", "K nothing yet", "V nothing yet"});
    page.go_to(inside::Op::wait_copies);
    page.press("right right");  // behind the barrier the first copy of V
    REQUIRE(page.at().event->op == inside::Op::copy_issued);
    const int issued = page.at().k;
    page.check_shows({"Q[0…127]", "K[0…63]", "V on its way"});
    page.go_to(inside::Op::copies_committed);
    page.check_shows({"on its way, issued at step " + str(issued + 1), "rows 0…127"});
}

TEST_CASE("inside page: all lanes of a copy are there, by the parts in which they go") {
    InsideProgram page({1280, 720});
    page.check_shows({"0…7", "lane 13", "16…23", "24…31", "part 2 of 4"});
}

TEST_CASE("inside page: ldmatrix tells who names a row and who gets it") {
    InsideProgram page({1600, 900});
    page.go_to(inside::Op::load_matrices);
    page.check_shows({"Rows to registers", "row 5 of matrix 1", "row 5 → lanes 20–23", "matrix 3"});
    page.press("shift+down");
    page.check_shows({"row 6 of matrix 1", "row 6 → lanes 24–27"});
    page.go_to(inside::Op::load_transposed);
    page.check_shows({"row 6 → lanes 3, 7, …, 31"});
    page.state.presenter = true;
    page.frame(2);
    CHECK(page.shows("Lane 14 names row 6 of matrix 1; its numbers go to lanes 3, 7, …, 31."));
}

TEST_CASE("inside page: beside a product stands the load that filled its registers, and its matrices") {
    InsideProgram page({1600, 900});
    std::set<std::string> told;
    for (int n = 0; n < 12; ++n) {
        page.go_to(inside::Op::multiply_add);
        const InsidePlace at = page.at();
        const inside::FragmentCell cell = cell_inside(page.state);
        const ShownAccess shown = shown_access(at, cell);
        REQUIRE(shown.event);
        REQUIRE(shown.part == inside::Part::B);
        // What the eight lanes of a matrix named are bit for bit the register of the product.
        const auto loaded = at.block().words_of(*shown.event);
        const inside::Product product(at.words, at.record().dtype);
        std::vector<int> matrices;
        for (int matrix = 0; matrix < 4; ++matrix)
            if (shown.fed >> (8 * matrix) & 1) matrices.push_back(matrix);
        REQUIRE(matrices.size() == 2);
        for (std::size_t reg = 0; reg < 2; ++reg)
            for (int lane = 0; lane < 32; ++lane)
                CHECK(loaded[static_cast<std::size_t>(lane * shown.event->words + 1 + matrices[reg])] ==
                      product.word(inside::Part::B, lane, static_cast<int>(reg)));
        CHECK(at.origins().trace(at.warp, at.k, inside::Part::B, 0, cell.column).front().lane == shown.lane);
        const std::string words = "for B: matrices " + str(matrices[0]) + " and " + str(matrices[1]) + ", ";
        CHECK(page.shows(words));
        told.insert(words);
    }
    CHECK(told.size() == 2);
}

TEST_CASE("inside page: α is named where a lane makes it, in every lane of the row") {
    InsideProgram page({1600, 900});
    wait_for_bridge(page.state);
    page.frame(2);
    page.go_to(inside::Op::exp2);
    for (int n = 0; n < 3; ++n) {  // lanes 13 to 15
        page.check_shows({"α of row 3", "of each lane: α of its row", "α = exp((m before − m) · scale)"});
        page.press("shift+down");
    }
    CHECK(page.shows("α of row 4"));
    page.press("right");
    CHECK_FALSE(page.shows("of each lane: α"));
    page.press("left left");
    REQUIRE(page.at().event->op == inside::Op::shuffle);
    CHECK(page.shows("m of row 4"));
}

TEST_CASE("inside page: x of an exponential is worked out with the scale, from numbers of the record") {
    const struct {
        const char *kernel, *formula;
        inside::Op op;
    } cases[] = {{"f5-flash2", "(S − m) · scale · log₂ e", inside::Op::exp2},
                 {"f5-flash2", "(m before − m) · scale · log₂ e", inside::Op::exp2},
                 {"f2-tiled-fp32", "(S − m) · scale", inside::Op::exp},
                 {"b2-tensor-core", "S · scale · log₂ e − L · log₂ e", inside::Op::exp2},
                 {"b3-deterministic", "S · scale · log₂ e − L · log₂ e", inside::Op::exp2},
                 {"b4-hopper", "S · scale · log₂ e − L · log₂ e", inside::Op::exp2}};
    for (const auto& [kernel, formula, op] : cases) {
        CAPTURE(kernel);
        CAPTURE(formula);
        InsideProgram page({1920, 1080}, kernel);
        if (kernel[0] == 'f') wait_for_bridge(page.state);
        if (std::string(kernel) == "b4-hopper") choose_warp(page.state, 4);  // the first that computes
        page.frame(2);
        const std::string wanted = ", x = ", of = contains(formula, "before") ? "α of" : "P";
        std::string told;
        const auto of_record = [&] {
            return std::bit_cast<float>(page.at().block().words_of(*page.at().event, page.at().lane)[0]);
        };
        // An exponent that is not 0, which any sum of nothing comes to
        bool found = false;
        for (int k = 0; k < page.at().steps().count(page.at().warp) && !found; ++k) {
            const InsidePlace at = page.at();
            if (at.block().events[at.steps().event(at.warp, k)].op != op) continue;
            go_inside(page.state, at.warp, k);
            told = exponent_sentence(page.state, page.at());
            found = contains(told, wanted) && contains(told, ": " + of) && !contains(told, "∞") &&
                    of_record() != 0;
        }
        page.frame(2);
        REQUIRE_MESSAGE(found, told);
        CHECK(page.shows("x = " + std::string(formula)));
        // What is printed comes to x, as the record has it.
        std::string sum = told.substr(told.find(wanted) + wanted.size());
        for (const auto& [from, to] : {std::pair{"−", "-"}, {"×", "*"}, {"≈", "="}})
            sum = replaced(sum, from, to);
        double a = 0, b = 0, scale = 0, factor = 1, x = 0;
        const bool difference =
            std::sscanf(sum.c_str(), "(%lf - %lf) * %lf * %lf = %lf", &a, &b, &scale, &factor, &x) == 5 ||
            std::sscanf(sum.c_str(), "(%lf - %lf) * %lf = %lf", &a, &b, &scale, &x) == 4;
        double comes = (a - b) * scale * factor;
        if (!difference) {
            double of_L = 1;
            const bool both =
                std::sscanf(sum.c_str(), "%lf * %lf * %lf - %lf * %lf = %lf", &a, &scale, &factor, &b, &of_L,
                            &x) == 6 ||
                std::sscanf(sum.c_str(), "%lf * %lf * %lf - %lf = %lf", &a, &scale, &factor, &b, &x) == 5;
            REQUIRE_MESSAGE(both, sum);
            comes = a * scale * factor - b * of_L;
        }
        CHECK(scale == doctest::Approx(0.125));  // 1 / √64
        CHECK(comes == test::near(of_record(), .01));
        CHECK(x == test::near(of_record(), .01));
    }
}

TEST_CASE("inside page: O that is packed is told as O, and where it is stored") {
    InsideProgram page({1600, 900});
    wait_for_bridge(page.state);
    page.go_to(inside::Op::store);
    page.press("left");
    REQUIRE(page.at().event->op == inside::Op::pack);
    page.check_shows({"of a row of O, divided by ℓ", "O of row 3, column 2", "st, lane 13"});
    CHECK_FALSE(page.shows("weights"));
}

TEST_CASE("inside page: factors of plain arithmetic are of one pass of the loop, and counts are by kind") {
    InsideProgram page({1600, 900}, "f2-tiled-fp32");
    page.check_shows({"ld", "st"});
    // The last read of q, the first of k of the next column, and the first q of that one
    const auto line = [&] { return page.at().place().line; };
    page.press("ctrl+right ctrl+right right");
    const int k_line = line();
    while (line() == k_line) page.press("right");
    CHECK_FALSE(page.shows("not read yet"));
    while (line() != k_line) page.press("right");
    CHECK(page.shows("not read yet"));
    while (line() == k_line) page.press("right");
    CHECK_FALSE(page.shows("not read yet"));
}

TEST_CASE("inside page: without the swizzle the banks of a fragment's rows meet eight times") {
    {
        InsideProgram page({1600, 900});
        page.go_to(inside::Op::load_matrices);
        page.check_shows({"If rows lay straight", "32 turns", "8 ways of conflict", "As the kernel has it",
                          "4 turns", "no conflict"});
    }
    InsideProgram narrow({1024, 640});  // one of both
    narrow.go_to(inside::Op::load_matrices);
    narrow.check_shows({"4 turns"});
    CHECK_FALSE(narrow.shows("32 turns"));
    narrow.press(Key::l);
    narrow.frame(2);
    narrow.check_shows({"32 turns"});
    check_new_frame(narrow);
}

TEST_CASE(
    "inside page: the sums of Hopper's products stand there with their lanes, before and behind the wait") {
    InsideProgram page({1600, 900}, "f7-hopper");
    go_inside(page.state, 5, 0);
    page.go_to(inside::Op::multiply_async);
    const int wait = step_of_sums(page.at());
    REQUIRE(wait > page.at().k);
    page.check_shows({"16 × 64, there in", "Waited for", "The tensor cores read A and B"});
    go_inside(page.state, 5, wait);
    page.frame(2);
    page.check_shows(
        {"16 × 64, as the warp holds it from here on", "whose lane", "4 products of 16 terms each"});
    const auto before = page.state.inside.cell;
    page.press(Key::c);
    CHECK(page.state.inside.cell == before + 1);
    for (int n = 0; n < 31; ++n) page.press(Key::c);
    CHECK(page.state.inside.cell == before);  // round all 32 of the lane
    check_new_frame(page);
}

TEST_CASE(
    "inside page: a tile that TMA brings shows its box, its sectors, its chunks and its barrier, whoever "
    "asked for it") {
    for (const Screen& screen : all_screens) {
        InsideProgram page(screen, "f7-hopper");
        page.go_to(inside::Op::fetch_tile);
        REQUIRE(page.at().lane == 13);
        REQUIRE_FALSE(page.at().event->has(13));
        const inside::TileFetch tile(page.at().words);
        const std::string sectors = str(static_cast<int>(tile.sectors())) + " sectors";
        char barrier[16];
        std::snprintf(barrier, sizeof barrier, "0x%x", tile.barrier);
        page.check_shows({"A tile that comes by itself", "One elected lane", format_size(tile.bytes_read()),
                          "in HBM, 128 × 64", "columns 0…63", "c XOR (r mod 8)", "lane 13 has no part in it",
                          barrier});
        CHECK_FALSE(page.shows("asks for no address"));
        check_new_frame(page, "a tile");
        page.press(Key::m);
        page.frame(2);
        page.check_shows({sectors});
        check_new_frame(page, "a tile, other panel");
        page.state.presenter = true;
        page.frame(2);
        page.check_shows({"One elected lane, lane 0, asks for all " + sectors});
        check_new_frame(page, "a tile, on stage");
    }
}

TEST_CASE(
    "inside page: no bar of a copy lies over another one, whatever kernel and moment, and none is lost") {
    for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels())
        for (const Screen& screen : {Screen{1280, 720}, Screen{1920, 1080}})
            for (const bool presenter : {false, true}) {
                InsideProgram page(screen, kernel.name);
                page.state.presenter = presenter;
                CAPTURE(kernel.name);
                CAPTURE(screen.width);
                CAPTURE(presenter);
                const int copies = static_cast<int>(page.at().steps().flights().size());
                if (copies == 0) continue;
                const int last = page.at().steps().count(page.at().warp) - 1;
                for (int n = 0; n <= 8; ++n) {
                    go_inside(page.state, page.at().warp, last * n / 8);
                    page.frame(1);
                    std::vector<Item> bars;
                    for (const Item& item : page.items())
                        if (item.text.starts_with("Copy ")) bars.push_back(item);
                    CHECK(!bars.empty());
                    for (const Item& a : bars)
                        for (const Item& b : bars) {
                            const bool over = a.min.x < b.max.x - .5f && b.min.x < a.max.x - .5f &&
                                              a.min.y < b.max.y - .5f && b.min.y < a.max.y - .5f;
                            CHECK((!over || a.text == b.text));
                        }
                }
            }
}

TEST_CASE("inside page: what colours and marks mean, and which warps are which, is there at every size") {
    for (const Screen& screen : all_screens)
        for (const char* kernel : {"f5-flash2", "f7-hopper", "f0-materialise"}) {
            InsideProgram page(screen, kernel);
            CAPTURE(kernel);
            CAPTURE(screen.width);
            if (!page.shows("copy issued")) {
                page.click("legend");
                page.frame(2);
            }
            page.check_shows({"copy issued", "committed", "arrived", "barrier", "S, P", "else"});
            for (const Item& item : page.items())
                if (item.text.starts_with("legend")) {
                    CHECK(item.min.y >= 0);
                    CHECK(item.max.x <= static_cast<float>(screen.width));
                }
            if (std::string(kernel) == "f7-hopper") {
                page.check_shows({"producer", "consumer 1", "consumer 2"});
                page.press(Key::escape);
                page.frame(2);
                page.hover("warp 9");
                page.wait(60);
                page.check_shows({"Warp 9, consumer 2: "});
            }
        }
}

// How many events it looks at; tilewalk_bench takes the time.
TEST_CASE("inside page: a seek looks at a few events, a frame at a few for each of its columns") {
    InsideProgram page({1920, 1080});
    const inside::Record once = page.at().record();
    struct Visited {
        std::int64_t frame = 0, seek = 0;
    };
    const auto visited = [&](std::size_t most) {
        inside::Record record = once;
        auto& events = record.launches.front().blocks.front().events;
        const auto first = events;
        while (events.size() < most) events.insert(events.end(), first.begin(), first.end());
        inside_page(page.state).shown = std::make_shared<const InsideWalk>(std::move(record), "many", 0);
        wait_for_inside(page.state);  // nothing runs beside it
        Visited worst;
        for (int n = 0; n < 12; ++n) {
            const int last = page.at().steps().count(n % 4) - 1;
            const std::int64_t before = inside::events_visited;
            go_inside(page.state, n % 4, last / 12 * n);
            go_inside_by(page.state, inside::Stride::tile, 1);
            const std::int64_t sought = inside::events_visited;
            page.frame_unlisted();
            worst.seek = std::max(worst.seek, sought - before);
            worst.frame = std::max(worst.frame, inside::events_visited - sought);
        }
        return worst;
    };
    const Visited few = visited(100'000), many = visited(1'000'000);
    MESSAGE("a frame: " << few.frame << ", " << many.frame << " events; a seek: " << few.seek << ", "
                        << many.seek);
    CHECK(page.at().steps().slots() > 200'000);
    CHECK(many.seek <= 32);
    // For each column and each of four warps a search among the events that lie there, 130 of a million
    CHECK(many.frame <= 1920 * 4 * 12);
    CHECK(many.frame <= 2 * few.frame);
    // Who goes on along the slots finds the steps that a search through all of them finds.
    const inside::Steps& steps = page.at().steps();
    for (int slot = 0, k = 0; slot < steps.slots(); slot += 37) {
        k = steps.at_slot(1, slot, k);
        if (k != steps.at_slot(1, slot)) FAIL("slot ", slot);
    }
}

TEST_CASE("inside page: every kernel is found by its name, and the page's keys work at once") {
    Program program(example("worked-4x4"), {1280, 720});
    program.frame();
    for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels()) {
        const auto found = find_commands(commands(program.state), kernel.name);
        REQUIRE_FALSE(found.empty());
        CHECK(found.front().title == kernel.name);
    }
    const auto found = find_commands(commands(program.state), "f3");
    REQUIRE_FALSE(found.empty());
    found.front().run(program.state);
    CHECK(program.state.page == Page::inside);
    CHECK(program.state.inside.kernel == "f3-warp-rows");
    const auto settle = [&] {
        wait_for_inside(program.state);
        program.frame(2);
        REQUIRE(place_inside(program.state));
    };
    settle();
    CHECK(place_inside(program.state).record().kernel == "f3-warp-rows");
    // To an instruction of the warp by its number, as G goes to a step everywhere
    program.press(Key::g);
    program.frame(2);
    CHECK(program.shows("Go to step"));
    check_new_frame(program);
    program.press("4 1 enter");
    program.frame(2);
    CHECK(place_inside(program.state).k == 40);
    CHECK_FALSE(program.state.show_goto);
    program.press(Key::g);
    program.frame(2);
    program.press("9 9 9 9 9 9 enter");
    program.frame(2);
    CHECK(contains(program.state.notice, "warp 0 has steps 1 to"));
    program.press(Key::escape);
    program.frame(2);
    // From the list, by keys
    program.click("inside kernel");
    program.frame(2);
    program.click("f4-tensor-core");
    program.frame(2);
    CHECK(program.state.inside.kernel == "f4-tensor-core");
    settle();
    program.press(Key::right);
    program.frame();
    CHECK(place_inside(program.state).k == 1);
    program.press(Key::space);
    CHECK(program.state.inside.playing);
}

TEST_CASE(
    "inside page: larger problems are chosen by S and by the list, up to the largest that is recorded") {
    InsideProgram page({1600, 900});
    const auto shows = [&](int N, int d, int Bc) {
        wait_for_inside(page.state);
        page.frame(2);
        REQUIRE(page.at());
        CHECK(recorded_problem(page.state).N() == N);
        CHECK(recorded_problem(page.state).d() == d);
        CHECK(page.at().record().Bc == Bc);
    };
    shows(128, 64, 64);
    page.press(Key::s);
    shows(256, 64, 128);  // the tile of 128 keys
    page.press(Key::s);
    shows(256, 128, 64);
    page.press(Key::s);
    shows(4, 4, 64);
    page.click("inside size");
    page.frame(2);
    page.click("256x64");
    page.frame(2);
    shows(256, 64, 128);
}

TEST_CASE("inside page: bad input gets a sentence, and a run can be cancelled") {
    Program program(*random_problem(300, 64, 1));
    program.settle();
    program.state.page = Page::inside;
    program.frame(2);
    wait_for_inside(program.state);
    program.frame(2);
    program.check_shows({"N = 300, d = 64 is too large to be recorded"});
    Program small(example("worked-4x4"));
    small.state.page = Page::inside;
    small.frame();
    REQUIRE(inside_page(small.state).run);
    small.press(Key::escape);
    CHECK_FALSE(inside_page(small.state).run);
    CHECK(small.shows("Cancelled"));
}

TEST_CASE("inside page: texts have their place at every size, at every kind of step") {
    for (const Screen& screen : all_screens)
        for (const bool presenter : {false, true}) {
            InsideProgram page(screen);
            page.state.presenter = presenter;
            for_each_step(page, [&](const std::string& what) { check_new_frame(page, what); });
        }
}

TEST_CASE("inside page: text is legible in every theme") {
    for (const ThemeId id : all_themes) {
        InsideProgram page({1280, 720});
        page.state.settings.theme = id;
        for_each_step(page, [&](const std::string& what) { check_new_frame(page, what); });
    }
}

TEST_CASE("inside page: every kernel has its place at every kind of step that it has") {
    for (const auto& kernel : gpu::traceable_kernels()) {
        CAPTURE(kernel.name);
        InsideProgram page({1280, 720}, kernel.name);
        REQUIRE_MESSAGE(page.at(), inside_page(page.state).failure);
        for (int n = 0; n < 6; ++n) {
            go_inside(page.state, 0, n * page.at().steps().count(0) / 6);
            check_new_frame(page, kernel.name);
        }
    }
}
