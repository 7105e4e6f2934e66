// The start page: it has room at every size, every door leads where it says, its numbers are those of the
// walks, and what was left is found again.
#include "app/io/file.h"
#include "app/io/problem_json.h"
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/start.h"
#include "app/ui/kit/focus.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/tour.h"
#include "core/base/words.h"
#include "tests/app/ui/layout_check.h"
#include "tests/folder.h"

#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

// As the first start shows it, or `left` from a walk, with the kernel's numbers there.
void show_start(Program& program, bool left) {
    program.state.page = left ? Page::walk : Page::start;
    if (left) open_start(program.state);
    wait_for_start(program.state);
    program.frame_unlisted();
    program.frame(2);
}

std::string door(const Chapter& chapter) { return std::string("door ") + chapter.id; }

bool shows_chapter(const AppState& state, const Chapter& chapter) {
    return state.page == chapter.page && &current_chapter(state) == &chapter;
}

}  // namespace

TEST_CASE("the start page has room at every size, in every theme, on stage too; nothing is cut short") {
    std::vector<Screen> screens(std::begin(all_screens), std::end(all_screens));
    screens.push_back({3840, 2160});
    for (const Screen screen : screens)
        for (const ThemeId id : all_themes)
            for (const bool presenter : {false, true}) {
                Program program(example("worked-4x4"), screen, presenter, id);
                for (const bool left : {false, true}) {
                    if (left) program.go_to_step(16);
                    show_start(program, left);
                    check_frame(program, left ? "left" : "first start");
                    for (const std::string& text : shortened_texts(program))
                        FAIL_CHECK(program.where(), ": shortened: ", text);
                }
            }
}

TEST_CASE("on stage the moment about kernels has its bars at every size") {
    for (const Screen screen : all_screens) {
        Program program(example("worked-4x4"), screen, true);
        show_start(program, false);
        const Item moment = program.find("moment kernels");
        const auto named = [&](const Item& item) {
            return item.text == "flash" && item.min.x >= moment.min.x && item.max.x <= moment.max.x &&
                   item.min.y >= moment.min.y && item.max.y <= moment.max.y;
        };
        INFO(program.where());
        CHECK(std::ranges::any_of(program.items(), named));
        // A bar has its number with it where both have room.
        const auto has = [&](const Item& item) {
            return item.text.ends_with("iB") && item.min.x >= moment.min.x && item.max.x <= moment.max.x &&
                   item.min.y >= moment.min.y && item.max.y <= moment.max.y;
        };
        CHECK((screen.width < 1280 || std::ranges::count_if(program.items(), has) == 2));
        // And for which length it is.
        const auto length = [&](const Item& item) {
            return item.text.starts_with("N = ") && item.min.x >= moment.min.x &&
                   item.max.x <= moment.max.x && item.min.y >= moment.min.y && item.max.y <= moment.max.y;
        };
        CHECK((screen.width < 1280 || std::ranges::any_of(program.items(), length)));
    }
}

TEST_CASE("what was left is named whatever it was: another lesson, a long walk, a page") {
    for (const Screen screen : {Screen{1024, 640}, Screen{1600, 900}})
        for (const bool presenter : {false, true}) {
            Program program(random_with_tiles(24, 4, 4, 4), screen, presenter);
            program.go_to_step(30);
            show_start(program, true);
            check_frame(program, "a long walk");
            CHECK(program.shows("step 31"));
            program.state.page = Page::memory;
            show_start(program, false);
            program.state.page = Page::scale;
            open_start(program.state);
            program.frame(2);
            check_frame(program, "a page");
            for (const std::string& text : shortened_texts(program)) FAIL_CHECK("shortened: ", text);
            CHECK(program.shows("Continue with Scale"));
            program.press("u");
            program.press("h");
            program.frame(2);
            check_frame(program, "a tour is under way", {.contrast = false});
        }
}

TEST_CASE("every door leads where it says: by mouse, by its number, by Tab and Enter") {
    for (const bool presenter : {false, true})
        for (std::size_t n = 0; n < chapters().size(); ++n) {
            const Chapter& chapter = chapters()[n];
            CAPTURE(chapter.id);
            Program program(example("worked-4x4"), {1280, 720}, presenter);
            show_start(program, false);
            program.click(door(chapter));
            CHECK(shows_chapter(program.state, chapter));
            show_start(program, false);
            if (n < 9)
                program.press({static_cast<Key>(static_cast<int>(Key::one) + static_cast<int>(n))});
            else
                program.press("shift+0");
            CHECK(shows_chapter(program.state, chapter));
            show_start(program, false);
            program.tab_to(door(chapter));
            program.press(Key::enter);
            CHECK(shows_chapter(program.state, chapter));
        }
}

TEST_CASE("Tab goes from door to door as they are numbered, and so are they listed") {
    for (const bool presenter : {false, true}) {
        Program program(example("worked-4x4"), {1280, 720}, presenter);
        show_start(program, false);
        std::vector<std::string> listed, wanted;
        for (const Chapter& chapter : chapters()) wanted.push_back(door(chapter));
        for (const Item& item : program.items())
            if (item.kind == ItemKind::button && item.text.starts_with("door ")) listed.push_back(item.text);
        CHECK(listed == wanted);
        program.press("right");
        CHECK(program.focused() == wanted.front());
        for (std::size_t n = 1; n < wanted.size(); ++n) {
            program.press("tab");
            CHECK(program.focused() == wanted[n]);
        }
    }
}

TEST_CASE("every chapter of the tour is a door of the start page, and its name is told there") {
    Program program(example("worked-4x4"), {1600, 900});
    show_start(program, false);
    const std::vector<TourChapter> chapters = start_page(program.state).tour_chapters;
    REQUIRE(chapters.size() > 5);
    for (std::size_t n = 0; n < chapters.size(); ++n) {
        show_start(program, false);
        const std::string id = "tour chapter " + std::to_string(n + 1);
        program.hover(id);
        program.frame(2);
        CHECK(program.shows("Chapter " + std::to_string(n + 1) + " of " + std::to_string(chapters.size()) +
                            " · " + chapters[n].name));
        program.click(id);
        REQUIRE(program.state.tour);
        CHECK(program.state.tour->at == chapters[n].first);
        leave_tour(program.state);
    }
}

TEST_CASE("every moment is pressed on the start page") {
    for (const bool presenter : {false, true})
        for (const Moment& moment : moments()) {
            CAPTURE(moment.title);
            Program program(example("worked-4x4"), {1280, 720}, presenter);
            show_start(program, false);
            program.click(moment.id);
            CHECK(program.state.page == moment.page);
            CHECK(program.state.presenter == presenter);
            if (moment.op != Op::count) CHECK(program.state.trace->step(program.step()).op == moment.op);
        }
}

TEST_CASE("arrow keys go from door to door and reach them all") {
    for (const bool presenter : {false, true}) {
        Program program(example("worked-4x4"), {1280, 720}, presenter);
        show_start(program, false);
        const int step = program.step();
        std::set<std::string> seen;
        const auto press = [&](const char* key, std::size_t times) {
            while (times-- > 0) {
                program.press(key);
                seen.insert(program.focused());
            }
        };
        for (int row = 0; row < 4; ++row) {
            press("right", chapters().size());
            press("left", chapters().size());
            press("down", 1);
        }
        press("up", 4);
        for (const Chapter& chapter : chapters())
            CHECK_MESSAGE(seen.count(door(chapter)), std::string(chapter.id));
        CHECK(program.step() == step);
        CHECK(program.state.page == Page::start);
    }
}

TEST_CASE("the numbers are those of the walk and the models") {
    Program program;
    show_start(program, false);
    const StartPage& page = *program.state.starting;
    const auto in = [&](const Trace& trace, Slot slot, int k) {
        const Value& value = *trace.live(slot, k).value;
        return value.data(page.row - value.region.row, 0);
    };
    const auto at = [&](Slot slot, int k) { return in(*page.forward, slot, k); };
    CHECK(page.forward->step(page.step).op == Op::row_sum);
    CHECK(at(Slot::alpha, page.step) == doctest::Approx(std::exp(-1.0)));
    CHECK(in(*page.broken, Slot::l, page.step) > at(Slot::l, page.step));
    for (const double number : {at(Slot::l, page.step), at(Slot::l, page.step - 1),
                                at(Slot::alpha, page.step), in(*page.broken, Slot::l, page.step)})
        CHECK_MESSAGE(program.shows(format_number(number)), number);
    for (const Algorithm algorithm : {Algorithm::standard, Algorithm::flash2})
        CHECK(program.shows(format_size(page.at_length.of(algorithm).traffic.total())));
    const Traffic all = page.forward->step(page.forward->size() - 1).traffic;
    CHECK(all.hbm_write % 40 == 0);
    CHECK(program.shows("40 B"));
    REQUIRE(page.compared);
    const OutputVerdict& verdict = page.compared->nearest();
    CHECK(program.shows("off by " + three_digits(verdict.error)));
    CHECK(verdict.worst.exact != verdict.worst.kernel);
    CHECK(program.shows(digits_of(verdict.worst.exact, verdict.worst.kernel).text));
    REQUIRE_FALSE(page.kernels.empty());
    // Times that stand below each other have one unit.
    std::vector<double> times;
    for (const RecordedKernel& kernel : page.kernels) times.push_back(kernel.times.back().seconds);
    for (const double time : times) CHECK(program.shows(time_text(time, unit_of_times(times))));
}

TEST_CASE(
    "the picture on stage is that of the desk: what moves between its parts, and a picture for each moment") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    show_start(program, false);
    const StartPage& page = *program.state.starting;
    const auto in = [&](const Trace& trace, Slot slot, int k) {
        const Value& value = *trace.live(slot, k).value;
        return value.data(page.row - value.region.row, 0);
    };
    const auto at = [&](Slot slot, int k) { return in(*page.forward, slot, k); };
    program.check_shows({"32 B", "64 B", "40 B", "for i", "for j"});
    for (const double number :
         {at(Slot::l, page.step - 1), at(Slot::alpha, page.step), in(*page.broken, Slot::l, page.step)})
        CHECK_MESSAGE(program.shows(format_number(number)), number);
    const Shape& shape = page.at_length.shape;
    CHECK(program.shows(format_size(shape.N * shape.N_kv * shape.element_bytes)));
    REQUIRE_FALSE(page.kernels.empty());
    // A size stands there with its name or not at all.
    for (const RecordedKernel* kernel : {&page.kernels.front(), &page.kernels.back()})
        CHECK(program.shows(kernel->name));
    for (const Moment& moment : moments()) program.check_shows({moment.brief, moment.keys});
}

TEST_CASE(
    "on stage the other doors have pictures with the numbers of the walks, beside a tour their names alone") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    show_start(program, false);
    const StartPage& page = *program.state.starting;
    const auto within = [&](const char* chapter, const std::string& text) {
        const Item door = program.find(std::string("door ") + chapter);
        const bool there = std::ranges::any_of(program.items(), [&](const Item& item) {
            return item.kind == ItemKind::text && item.text == text && item.min.x >= door.min.x &&
                   item.max.x <= door.max.x && item.min.y >= door.min.y && item.max.y <= door.max.y;
        });
        CHECK_MESSAGE(there, (std::string(chapter) + ": " + text));
    };
    for (const char* letters : {"dQ", "dK", "dV"}) within("chapter backward", letters);
    const Trace& training = *page.training;
    double first = 0, last = 0;
    for (int k = 0, n = 0; k < training.size(); ++k)
        if (training.step(k).op == Op::loss)
            (n++ == 0 ? first : last) = training.live(Slot::loss, k).value->data(0, 0);
    within("chapter training", format_number(first));
    within("chapter training", format_number(last));
    // What flash saves of both, from the numbers that the desk's doors have.
    const auto moved = [&](Algorithm algorithm) {
        return static_cast<double>(page.at_length.of(algorithm).traffic.total());
    };
    within("chapter memory", "÷ " + format_short(moved(Algorithm::standard) / moved(Algorithm::flash2), 2));
    REQUIRE(page.kernels.size() > 1);
    within("chapter scale", "÷ " + format_short(page.kernels.front().times.back().seconds /
                                                    page.kernels.back().times.back().seconds,
                                                2));
    within("chapter inside", "lane 13");
    within("chapter compare", "≈");
}

TEST_CASE("0, H and the mark at the top lead to it; Enter and Escape back to the step that was left") {
    for (const char* there : {"0", "h"})
        for (const char* back : {"enter", "escape"}) {
            Program program;
            program.go_to_step(16);
            program.press(there);
            CHECK(program.state.page == Page::start);
            CHECK(program.shows("Continue at step 17"));
            program.press(back);
            CHECK(program.state.page == Page::walk);
            CHECK(program.step() == 16);
        }
    Program program;
    program.go_to_step(16);
    program.click("start");
    CHECK(program.state.page == Page::start);
    program.click("from step 1");
    CHECK(program.state.page == Page::walk);
    CHECK(program.step() == 0);
}

TEST_CASE("a first start says that nothing was left; Enter begins the tour") {
    Program program;
    show_start(program, false);
    CHECK(program.shows("Nothing yet"));
    program.press(Key::escape);
    CHECK(program.state.page == Page::start);
    program.press(Key::enter);
    CHECK(program.state.tour);
    CHECK(program.state.page != Page::start);
    program.press(Key::escape);
    CHECK(program.state.page == Page::start);
    program.click("first walk");
    CHECK(program.state.page == Page::walk);
}

TEST_CASE("on stage the door to training says which number is the loss, and which the one after a step") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    show_start(program, false);
    program.check_shows({"loss ", "18.25", "→ ", "11.35"});
}

TEST_CASE("keys of a walk leave the walk below alone") {
    Program program;
    program.go_to_step(3);
    program.press("h");
    program.press("space c e s m b x d n home end pageup pagedown ctrl+z ctrl+c");
    CHECK(program.state.page == Page::start);
    CHECK(program.step() == 3);
    CHECK_FALSE(
        (program.state.player.playing || program.state.show_break || program.state.settings.pseudocode));
}

TEST_CASE("a file is opened by its name or dropped, and its walk is shown; what cannot be read stays here") {
    const Folder folder;
    const std::string path = folder.file("own.json", problem_to_json(random_with_tiles(6, 4, 2, 2)));
    Program program;
    show_start(program, false);
    program.press("ctrl+o");
    program.frame(2);
    program.enter(path);
    program.settle();
    CHECK(program.state.page == Page::walk);
    CHECK(program.state.problem->N() == 6);
    program.press("h");
    program.state.dropped = {folder.file("broken.json", "{")};
    program.frame(2);
    CHECK(program.state.page == Page::start);
    CHECK_FALSE(program.state.notice.empty());
    program.state.dropped = {path};
    program.frame(2);
    CHECK(program.state.page == Page::walk);
}

TEST_CASE("examples, own numbers and all examples are opened from it") {
    Program program(example("worked-4x4"), {1600, 900});
    show_start(program, false);
    program.click("own numbers");
    CHECK((program.state.page == Page::walk && program.state.show_problem));
    show_start(program, false);
    int opened = 0;
    for (const Problem& p : program.state.examples) {
        if (!program.look_for("example " + p.name)) continue;
        program.click("example " + p.name);
        CHECK(program.state.page == Page::walk);
        CHECK(program.state.problem->name == p.name);
        show_start(program, false);
        ++opened;
    }
    CHECK(opened >= 2);
    program.click("all examples");
    REQUIRE(program.state.finder);
    CHECK(program.shows(program.state.examples.back().title));
}

TEST_CASE("Ctrl O asks for a file's name from wherever one is: what is typed then goes into the field") {
    const Page pages[] = {Page::start, Page::walk, Page::memory, Page::scale, Page::inside, Page::compare};
    for (const Page page : pages)
        for (const bool presenter : {false, true}) {
            Program program(example("worked-4x4"), {1280, 720}, presenter);
            program.state.page = page;
            program.frame(2);
            program.press(KeyPress{Key::o, false, true});
            program.frame(3);
            // Two pages have a field of their own, for their own files.
            const bool own = page == Page::scale || page == Page::compare;
            CHECK(program.state.page == (own ? page : Page::start));
            CHECK_FALSE(program.state.presenter);
            const auto& field = page == Page::scale     ? program.state.scale.path
                                : page == Page::compare ? program.state.compare.path
                                                        : program.state.form.path;
            program.press(KeyPress{Key::a, false, true});
            program.type("my.csv");
            program.frame(2);
            CHECK_MESSAGE(std::string(field) == "my.csv", static_cast<int>(page));
        }
}

TEST_CASE("Ctrl O from the tour and from the settings: nothing lies over the field") {
    for (const auto& [tour, stage] : {std::pair(false, false), {true, false}, {true, true}}) {
        Program program(example("worked-4x4"), stage ? Screen{1280, 720} : Screen{1024, 640}, stage);
        if (tour) open_tour(program.state, "");
        program.frame(2);
        if (!tour) program.press(Key::o);
        program.frame(2);
        program.press(KeyPress{Key::o, false, true});
        program.frame(3);
        CHECK(program.state.page == Page::start);
        CHECK_FALSE(program.state.tour);
        CHECK_FALSE(program.state.presenter);
        CHECK_FALSE(program.state.ask_path);  // the field has taken it
        CHECK_FALSE(program.state.show_settings);
        check_frame(program, "asked for a file");
        program.type("my.csv");
        program.frame(2);
        CHECK(std::string(program.state.form.path) == "my.csv");
    }
}

TEST_CASE("where files are chosen from a list Ctrl O and the button ask for it, and no name is typed") {
    Program program(example("worked-4x4"), {1280, 720});
    int asked = 0;
    program.state.hooks.choose_file = [&] { ++asked; };
    for (const Page page : {Page::walk, Page::start, Page::scale, Page::compare}) {
        program.state.page = page;
        program.frame(3);
        const int before = asked;
        program.press(KeyPress{Key::o, false, true});
        program.frame(2);
        CHECK(asked == before + 1);
        CHECK(program.state.page == page);
        if (page == Page::walk) continue;
        CHECK(program.shows("Choose a file…"));
        program.click(page == Page::start ? "open file" : page == Page::scale ? "scale-open" : "bundle open");
        CHECK(asked == before + 2);
    }
}
