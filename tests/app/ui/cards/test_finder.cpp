// The palette of commands: every row of the program's tables is found by its own title, and does what it says
// without harm.
#include "app/ui/cards/cards.h"
#include "app/ui/cards/commands.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/shell/frame.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/words.h"
#include "core/class/glossary.h"
#include "core/problem/precision.h"
#include "tests/app/ui/layout_check.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

// Among those of the same title and kind, or before all others.
void check_found(AppState& state, std::string title, const std::string& kind) {
    const std::vector<Command> found = find_commands(commands(state), title);
    const auto same = [&](const Command& one) { return lower_case(one.title) == lower_case(title); };
    const auto at =
        std::ranges::find_if(found, [&](const Command& one) { return same(one) && kind == one.kind; });
    CHECK_MESSAGE(at != found.end(), kind, " ", title);
    CHECK_MESSAGE(std::all_of(found.begin(), at, same), kind, " ", title, " comes after another");
}

std::vector<std::string> titles(Program& program, const char* text) {
    std::vector<std::string> out;
    for (const Command& command : find_commands(commands(program.state), text)) out.push_back(command.title);
    return out;
}

}  // namespace

TEST_CASE("every title of the palette says by itself what it does") {
    Program program;
    for (const Command& command : commands(program.state)) {
        if (std::string_view(command.kind) == "Tour stop") continue;  // it is found as the tour calls it
        const std::string title = lower_case(command.title);
        for (const char* pointer : {"the same", "there:", "it ", "its ", "press it"})
            CHECK_MESSAGE(!title.starts_with(pointer), command.title);
    }
}

TEST_CASE("every row of every table is found by its own title, before what only contains it") {
    Program program;
    AppState& state = program.state;
    for (const Shortcut& s : shortcuts())
        if (std::string_view(s.group) != "Moments") check_found(state, s.action, "Key");
    for (const Moment& moment : moments()) check_found(state, moment.title, "Moment");
    for (const Chapter& chapter : chapters()) check_found(state, chapter.title, "Chapter");
    for (const Lesson& lesson : lessons()) {
        check_found(state, lesson.title, "Lesson");
        for (const Fault& fault : lesson.faults()) check_found(state, fault.title, "Fault");
    }
    for (const Problem& p : state.examples) check_found(state, p.title, "Example");
    for (const GlossaryCard& card : glossary()) check_found(state, card.term, "Term");
    for (const SettingName& setting : setting_names()) check_found(state, setting.name, "Setting");
    REQUIRE(start_page(state).stops.size() > 10);
    for (const std::string& stop : start_page(state).stops) check_found(state, stop, "Tour stop");
    int n = 0;
    REQUIRE(start_page(state).tour_chapters.size() > 5);
    for (const TourChapter& chapter : start_page(state).tour_chapters) {
        const std::string title = "Tour: chapter " + str(++n) + ", " + chapter.name;
        check_found(state, title, "Tour");
        find_commands(commands(state), title).front().run(state);
        REQUIRE(state.tour);
        CHECK(state.tour->at == chapter.first);
    }
    for (const Card* card : cards) {
        const auto its = [&](const Shortcut& s) { return std::string_view(s.action) == card->action; };
        CHECK(std::ranges::any_of(shortcuts(), its));
    }
}

TEST_CASE("while a tour of a file runs, the palette lists its chapters and stops, and leads to them") {
    Program program;
    AppState& state = program.state;
    Tour tour;
    for (const char* heading : {"Alpha", "Beta", "Gamma"}) {
        TourStop stop;
        stop.heading = heading, stop.problem = state.problem, stop.lesson = state.lesson;
        tour.script.stops.push_back(stop);
    }
    tour.script.chapters = {{"First part", 0}, {"Second part", 2}};
    start_tour(state, std::move(tour));
    std::vector<std::string> chapters, stops;
    for (const Command& command : commands(state)) {
        const std::string_view kind = command.kind;
        if (kind == "Tour stop") stops.push_back(command.title);
        if (kind == "Tour") chapters.push_back(command.title);
    }
    REQUIRE(stops == std::vector<std::string>{"Alpha", "Beta", "Gamma"});
    REQUIRE(chapters ==
            std::vector<std::string>{"Tour: chapter 1, First part", "Tour: chapter 2, Second part"});
    for (const auto& [title, at] :
         {std::pair{"Gamma", 2}, {"Beta", 1}, {"Tour: chapter 2, Second part", 2}}) {
        find_commands(commands(state), title).front().run(state);
        REQUIRE(state.tour);
        CHECK(state.tour->at == at);
        CHECK(state.tour->stops() == 3);
    }
    leave_tour(state);
    CHECK(find_commands(commands(state), "Tour: chapter 1").front().title ==
          "Tour: chapter 1, " + start_page(state).tour_chapters.front().name);
}

TEST_CASE("whatever it runs leaves the program in order, from the window and from the stage") {
    for (const bool presenter : {false, true}) {
        Program program(example("worked-4x4"), {1280, 720}, presenter);
        program.go_to_step(12);
        const AppState before = program.state;
        const auto draw = [&] { run_frame(1280, 720, 1.0f / 60, [&] { frame(program.state); }); };
        const std::vector<Command> all = commands(program.state);
        CHECK(all.size() > 150);
        for (const Command& command : all)
            for (const auto& action : {command.run, command.other}) {
                if (!action) continue;
                INFO(command.kind, ": ", command.title);
                program.state = before;
                clear_focus();
                action(program.state);
                item_registry = nullptr;
                draw();
                wait_for_walk(program.state);
                draw();
                AppState& s = program.state;
                REQUIRE((s.trace && s.lesson && s.problem));
                CHECK(s.cursor.step < s.trace->size());
                CHECK_FALSE(s.quit);
                CHECK((!s.finder || lower_case(command.title) == finder_card.action));
                CHECK_FALSE(contains(s.notice, "nan"));
            }
    }
}

TEST_CASE("what a command promises comes: a lesson, an example, a fault and its repair, a term, a stop, a "
          "setting") {
    Program program;
    const auto run = [&](const char* text) {
        program.press("ctrl+k");
        program.frame(3);
        program.enter(text);
        program.settle();
        program.frame(2);
        CHECK_FALSE(program.state.finder);
    };
    run("six words");
    CHECK(program.state.problem->name == "six-words");
    run("training step");
    CHECK(program.state.page == Page::walk);
    run("leave the correction out");
    CHECK(program.state.problem->switches.no_correction);
    CHECK(broken_walk(program.state));
    run("leave the correction out");
    CHECK_FALSE(program.state.problem->broken());
    const bool subtitles = program.state.settings.subtitles;
    run("subtitles");
    CHECK(program.state.settings.subtitles != subtitles);
    run("memory");
    CHECK(program.state.page == Page::memory);
    run("presenter mode");
    CHECK(program.state.presenter);
    run("ridge");
    REQUIRE(program.state.glossary);
    program.press(Key::escape);
    run("alpha corrects");
    CHECK(program.state.trace->step(program.step()).op == Op::correction);
}

TEST_CASE("number formats are found and set, and what has a Greek letter by the letter's name") {
    Program program;
    const auto finds = [&](const char* text, const char* title) {
        const std::vector<std::string> found = titles(program, text);
        return std::ranges::find(found, title) != found.end();
    };
    CHECK(titles(program, "fp16").front() == "fp16");  // as it is written everywhere
    CHECK(titles(program, "bf16").front() == "bf16");
    CHECK(finds("fp16", "Number formats: fp16 kernel"));
    for (const Preset& preset : presets()) {
        const std::vector<Command> found = find_commands(commands(program.state), preset.name);
        const auto command =
            std::ranges::find(found, std::string("Number formats: ") + preset.name, &Command::title);
        REQUIRE(command != found.end());
        command->run(program.state);
        CHECK(latest_problem(program.state).precision == preset.precision);
    }
    CHECK(finds("alpha", "Leave the correction out"));
    CHECK(finds("alpha", "α corrects"));
    int stops = 0;
    for (const std::string& stop : start_page(program.state).stops) {
        if (!contains(stop, "α")) continue;
        ++stops;
        CHECK_MESSAGE(finds("alpha", stop.c_str()), stop);
    }
    CHECK(stops > 0);
}

TEST_CASE(
    "the beginning of the title comes first, then of a word, then a part, then letters in their order") {
    Program program;
    CHECK(titles(program, "memo").front() == "Memory");
    CHECK(titles(program, "presenter").front().starts_with("Presenter mode"));
    const std::vector<std::string> soft = titles(program, "soft");
    const auto place = [&](const char* title) {
        return std::ranges::find(soft, std::string(title)) - soft.begin();
    };
    CHECK(place("Online softmax") < static_cast<std::ptrdiff_t>(soft.size()));
    CHECK(soft.front() == "Online softmax");  // the chapter, then what begins with it
    CHECK(lower_case(soft[1]).starts_with("soft"));
    CHECK_FALSE(titles(program, "flshfrwrd").empty());
    CHECK(titles(program, "flshfrwrd").front() == "Flash forward");  // the chapter
    CHECK(titles(program, "zzzz").empty());
    CHECK(titles(program, "").size() == commands(program.state).size());
}

TEST_CASE("typing, arrows, Enter, Shift Enter, the mouse and Escape") {
    Program program;
    program.press("ctrl+k");
    program.frame(3);
    REQUIRE(program.state.finder);
    program.type("next, previous step");
    CHECK(program.shows("Shift Enter"));
    program.press(Key::enter);
    program.frame();
    CHECK(program.step() == 1);
    program.press("ctrl+k");
    program.frame(3);
    program.type("next, previous step");
    program.press("shift+enter");
    program.frame();
    CHECK(program.step() == 0);
    program.press("ctrl+k");
    program.frame(3);
    program.press("down down");
    CHECK(program.state.finder->at == 2);
    program.press("end");
    CHECK(program.state.finder->at == static_cast<int>(commands(program.state).size()) - 1);
    program.press("down home up");
    CHECK(program.state.finder->at == 0);
    CHECK(program.step() == 0);
    program.type("zzzz");
    CHECK(program.shows("Nothing is called that"));
    program.press(Key::enter);
    CHECK(program.state.finder);
    program.press("escape");
    CHECK_FALSE(program.state.finder);
    program.state.keys.push_back({Key::colon});
    send_text(":");
    program.frame(3);
    REQUIRE(program.state.finder);
    CHECK(program.state.finder->text.empty());
    program.type("at scale");
    program.click("command 0");
    CHECK(program.state.page == Page::scale);
    program.press("ctrl+k ctrl+k");
    CHECK_FALSE(program.state.finder);
}

TEST_CASE("the palette has room at every size") {
    in_every_look([](Program& program) {
        program.press("ctrl+k");
        program.frame(3);
        check_card(program, "Commands", "all");
        for (const char* text : {"softmax", "zzzz"}) {
            program.state.finder->text = text;
            program.frame(2);
            check_card(program, "Commands", text);
        }
    });
}
