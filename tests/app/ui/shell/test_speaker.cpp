// The speaker's view: what it tells, its keys and its time, and that all of it has room, as a window and as a
// panel.
#include "app/cli/session.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"
#include "app/ui/shell/speaker.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/class/spoken.h"
#include "tests/app/ui/layout_check.h"
#include "tests/part.h"

#include <cmath>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

constexpr const char* parts[] = {"Speaker head", "Speaker now", "Speaker notes", "Speaker next",
                                 "Speaker stops"};

// The program with the view open, and a clock that the test sets.
struct Lectern {
    Program program;
    double now = 1000;

    explicit Lectern(SpeakerShown shown, Screen screen = {1280, 720}, ThemeId theme = ThemeId::dark)
        : program(example("worked-4x4"), screen, false, theme) {
        state().settings.speaker = shown;
        state().hooks.clock = [this] { return ClockTime{10, 15, now}; };
        press("shift+p");
    }
    AppState& state() { return program.state; }
    Speaker& speaker() { return *program.state.speaker; }

    // The window of the view, where it has one; else the page with the panel.
    void draw() { settle_frame(state(), program.screen.width, program.screen.height); }
    void press(std::string_view keys) {
        for (const std::string& name : words_of(std::string(keys))) {
            const auto press = press_named(name);
            REQUIRE(press);
            press_key(state(), *press, [this] { draw(); });
        }
    }
    void go_to_step(int k) {
        go_to(state(), at_step(*state().trace, k));
        draw();
    }
    void go_to_stop_of_tour(int n) {
        settle_at_stop(state(), n);
        draw();
    }
    bool in(std::string_view words, std::string_view panel) const {
        for (const Item& item : program.items())
            if (item.panel == panel && item.text.find(words) != std::string::npos) return true;
        return false;
    }
};

// Nothing of the view is cut, covered or pale; letters have 13 px at least.
void check_view(Lectern& lectern, const std::string& what) {
    const Program& p = lectern.program;
    const float W = static_cast<float>(p.screen.width), H = static_cast<float>(p.screen.height);
    const float unit = std::min(1.0f, W / 1024);
    for (const char* part : parts)
        CHECK_MESSAGE((p.look_for(part) || (part == parts[1] && speaker_in_panel(lectern.program.state))),
                      part);
    for (const Finding& f : broken_rules(p)) {
        const bool of_view = std::string_view(f.where).starts_with("Speaker");
        if (of_view && f.rule != std::string("is too small"))
            FAIL_CHECK(p.where(), ", ", what, ": ", f.where, ": ", f.rule, " '", f.text, "' ", f.amount);
    }
    for (const Item& item : p.items()) {
        const bool text = item.kind == ItemKind::text && item.panel.starts_with("Speaker");
        if (text && item.font_px * font_scale() < 13 * unit - .1f)
            FAIL_CHECK(what, ": too small: ", item.text, " ", item.font_px * font_scale());
        if (item.panel == "Speaker notes" && item.text.ends_with("…"))
            FAIL_CHECK(p.where(), ", ", what, ": shortened: ", item.text);
        if (text) CHECK_MESSAGE((item.max.x <= W + 1 && item.max.y <= H + 1), item.text);
    }
}

}  // namespace

TEST_CASE("Shift P opens the speaker's view beside the stage, which goes on as before, and closes it") {
    Lectern lectern(SpeakerShown::by_screens);
    const Program& p = lectern.program;
    CHECK(lectern.state().presenter);
    CHECK(speaker_in_panel(lectern.state()));
    CHECK(p.look_for("Speaker notes"));
    const Item stage = p.find("Presenter"), notes = p.find("Speaker notes");
    CHECK(stage.max.x <= notes.min.x);
    lectern.press("right right");
    CHECK(p.step() == 2);
    CHECK(lectern.in(lectern.state().explanation.why.substr(0, 5), "Speaker notes"));
    lectern.press("shift+p");
    CHECK_FALSE(p.look_for("Speaker notes"));
    CHECK(p.find("Presenter").max.x == doctest::Approx(p.screen.width));
    CHECK(lectern.state().presenter);
}

TEST_CASE("the view says the step, why it is there, and shows the next one as it will be") {
    Part part("TILEWALK_LAYOUT", 2);
    Lectern lectern(SpeakerShown::window);
    AppState& state = lectern.state();
    for (const Lesson& lesson : lessons()) {
        lectern.program.show_lesson(lesson.id);
        for (int k = 0; k < state.trace->size(); k += 5) {
            if (!part.takes()) continue;
            lectern.go_to_step(k);
            INFO(lectern.program.where());
            const std::string sentence = spoken(*state.trace, k, state.explanation);
            CHECK(lectern.in(sentence.substr(0, sentence.find(' ')), "Speaker now"));
            const Ahead& ahead = what_comes(state);
            if (k + 1 == state.trace->size()) {
                CHECK_FALSE(ahead.shown);
                CHECK(lectern.in("This is the last step.", "Speaker next"));
                continue;
            }
            REQUIRE(ahead.shown);
            const Explanation next = ahead.shown->explanation;
            lectern.press("right");
            CHECK(ahead.from.cursor == state.cursor);  // looked up anew
            CHECK(state.cursor.step == k + 1);
            CHECK(next.title == state.explanation.title);
            CHECK(plain(next.result) == plain(state.explanation.result));
        }
    }
}

TEST_CASE("the picture of the next step is the page itself") {
    Lectern lectern(SpeakerShown::window);
    lectern.go_to_step(15);
    const auto runs_of = [](AppState& shown) {
        std::multiset<std::string> out;
        for (const VectorShape& shape : vectors_of_frame(shown, 1280, 720).shapes)
            for (const VectorRun& run : shape.runs) out.insert(run.text);
        return out;
    };
    std::multiset<std::string> view = runs_of(lectern.state());
    AppState next = *what_comes(lectern.state()).shown;
    const std::multiset<std::string> page = runs_of(next);
    CHECK(page.size() > 60);
    // Narrow cells of the strip shorten what they hold by the width of letters, which small ones round.
    int missing = 0;
    for (const std::string& run : page) {
        const auto found = view.find(run);
        if (run.size() > 2) CHECK_MESSAGE(found != view.end(), run);
        missing += found == view.end();
        if (found != view.end()) view.erase(found);
    }
    CHECK(missing <= 5);
}

TEST_CASE("beside the stage the next step is told in words, and the list says where the talk is") {
    Lectern lectern(SpeakerShown::panel);
    lectern.go_to_step(16);
    const PlaceList& places = places_to_go(lectern.state());
    CHECK(places.entries.at(static_cast<std::size_t>(places.here)).number == 17);
    CHECK(lectern.in("Row sum", "Speaker stops"));
    // The steps round it are in sight, and the next one is told: its formula and its sentence.
    for (const char* number : {"16", "17", "18"}) CHECK(lectern.in(number, "Speaker stops"));
    const Ahead& ahead = what_comes(lectern.state());
    REQUIRE(ahead.shown);
    const std::string sentence = spoken(*ahead.shown->trace, 17, ahead.shown->explanation);
    CHECK(lectern.in(sentence.substr(0, 12), "Speaker next"));
    CHECK(lectern.in("O", "Speaker next"));
    // A step that is listed for itself is gone when the talk goes on.
    lectern.press("right");
    CHECK(places_to_go(lectern.state()).entries.at(static_cast<std::size_t>(places.here)).number == 18);
    lectern.press("home");
    const auto& now = places_to_go(lectern.state()).entries;
    CHECK(std::ranges::none_of(now, [](const SpeakerPlace& one) { return one.number == 18; }));
}

TEST_CASE("a tour brings its notes, its stops, and the next stop") {
    for (const SpeakerShown shown : {SpeakerShown::window, SpeakerShown::panel}) {
        Lectern lectern(shown);
        lectern.press("u");
        AppState& state = lectern.state();
        REQUIRE(state.tour);
        int with_notes = 0;
        for (int n = 0; n + 1 < state.tour->stops(); n += 3) {
            lectern.go_to_stop_of_tour(n);
            state.presenter = true;
            lectern.draw();
            const TourStop& stop = state.tour->stop();
            INFO("stop ", n + 1);
            CHECK((speaker_in_panel(state) || lectern.in(stop.heading.substr(0, 12), "Speaker now")));
            CHECK(lectern.in("Notes", "Speaker notes") == !stop.notes.empty());
            with_notes += !stop.notes.empty();
            const TourStop& next = state.tour->script.stops[static_cast<std::size_t>(n + 1)];
            const Ahead& ahead = what_comes(state);
            CHECK(ahead.words == "Stop " + std::to_string(n + 2) + ": " + next.heading);
            if (ahead.shown && next.page.empty()) {
                CHECK_FALSE(ahead.arriving);
                CHECK(ahead.shown->lesson == next.lesson);
                CHECK(ahead.shown->cursor.step == next.step);
            }
            CHECK(state.tour->at == n);
        }
        CHECK(with_notes > 5);
    }
}

TEST_CASE("the list of stops is parted by chapters, whose names are found as well") {
    for (const SpeakerShown shown : {SpeakerShown::window, SpeakerShown::panel}) {
        Lectern lectern(shown);
        AppState& state = lectern.state();
        lectern.press("u shift+g");
        REQUIRE(state.tour);
        const std::vector<TourChapter> chapters = state.tour->script.chapters;
        const std::string all = str(static_cast<int>(chapters.size()));
        CHECK(lectern.in("Chapter 1 of " + all + " · " + chapters.front().name, "Speaker stops"));
        for (const char* key : {"r", "i", "n", "g"}) lectern.press(key);
        std::size_t ring = 0;
        while (chapters[ring].name != "A ring of machines") ++ring;
        CHECK(lectern.in("Chapter " + str(static_cast<int>(ring) + 1) + " of " + all + " · " +
                             chapters[ring].name,
                         "Speaker stops"));
        CHECK_FALSE(lectern.in(" · " + chapters.front().name, "Speaker stops"));
        lectern.press("escape");
        // Every stop comes into sight below the name of its chapter where that is its first.
        for (const TourChapter& chapter : chapters) {
            lectern.go_to_stop_of_tour(chapter.first);
            state.presenter = true;
            lectern.draw();
            CHECK(lectern.in(" · " + chapter.name, "Speaker stops"));
            CHECK(lectern.in(state.tour->stop().heading.substr(0, 10), "Speaker stops"));
        }
    }
}

TEST_CASE("the time of the talk: from the first opening, stopped, from zero; closing does not stop it") {
    CHECK(talk_time(7) == "0:07");
    CHECK(talk_time(247.9) == "4:07");
    CHECK(talk_time(3847) == "1:04:07");
    Lectern lectern(SpeakerShown::window);
    AppState& state = lectern.state();
    CHECK(talk_seconds(state) == 0);
    lectern.now += 61.25;
    lectern.draw();
    CHECK(lectern.in("1:01", "Speaker head"));
    CHECK(lectern.in("10:15", "Speaker head"));
    CHECK(speaker_idle_seconds(state) == doctest::Approx(.75));
    CHECK(idle_seconds(state) <= .75 + 1e-9);
    lectern.press("shift+r");
    lectern.now += 100;
    lectern.draw();
    CHECK(lectern.in("1:01", "Speaker head"));
    CHECK(lectern.in("stopped", "Speaker head"));
    lectern.press("shift+r");
    lectern.now += 10;
    lectern.press("shift+p");
    CHECK(std::isinf(speaker_idle_seconds(state)));
    lectern.now += 10;
    lectern.press("shift+p");
    CHECK(talk_seconds(state) == doctest::Approx(81.25));
    lectern.press("ctrl+shift+r");
    CHECK(talk_seconds(state) == 0);
}

TEST_CASE("the picker goes to a stop by its number, by words, by arrows and by mouse; a noteworthy step "
          "without a tour") {
    for (const SpeakerShown shown : {SpeakerShown::window, SpeakerShown::panel}) {
        Lectern lectern(shown);
        AppState& state = lectern.state();
        lectern.press("u shift+g 1 2 enter");
        REQUIRE(state.tour);
        CHECK(state.tour->at == 11);
        CHECK_FALSE(lectern.speaker().picking);
        lectern.press("shift+g down down up enter");
        CHECK(state.tour->at == 12);
        lectern.press("shift+g escape");
        CHECK(state.tour);
        CHECK(state.tour->at == 12);
        lectern.press("shift+g z z z enter");
        CHECK(lectern.in("None has that.", "Speaker stops"));
        CHECK(state.tour->at == 12);
        lectern.press("backspace backspace backspace 3 enter");
        CHECK(state.tour->at == 2);
        lectern.press("escape");
        REQUIRE_FALSE(state.tour);
        state.presenter = true;
        lectern.press("shift+g 1 4 enter");
        CHECK(lectern.program.step() == 13);
    }
}

TEST_CASE("keys of the speaker's window move the page; its own do not reach it") {
    Lectern lectern(SpeakerShown::window);
    AppState& state = lectern.state();
    REQUIRE(speaker_in_window(state));
    CHECK_FALSE(lectern.program.look_for("Presenter"));
    lectern.press("right right pagedown");
    CHECK(lectern.program.step() == 3);
    const float zoom = state.timeline.zoom;
    const int size = state.settings.notes_size;
    lectern.press("alt+plus");
    CHECK(state.settings.notes_size > size);
    lectern.press("alt+minus alt+minus");
    CHECK(state.settings.notes_size < size);
    CHECK(state.timeline.zoom == zoom);
    CHECK(lectern.program.step() == 3);
    lectern.press("ctrl+shift+p");
    CHECK(speaker_in_panel(state));
    lectern.press("ctrl+shift+p");
    CHECK(speaker_in_window(state));
}

TEST_CASE("with two screens it has a window, and the two can change places") {
    AppState state = Program().state;
    toggle_speaker(state);
    CHECK(speaker_in_panel(state));
    state.screens = 2;
    CHECK(speaker_in_window(state));
    swap_screens(state);
    CHECK(state.speaker->swapped);
    state.settings.speaker = SpeakerShown::panel;
    CHECK(speaker_in_panel(state));
    CHECK(choose_screens(1, 2, false) == ScreenChoice{1, 0});
    CHECK(choose_screens(1, 2, true) == ScreenChoice{0, 1});
    CHECK(choose_screens(0, 1, false) == ScreenChoice{0, 0});
    CHECK(choose_screens(2, 3, false) == ScreenChoice{2, 0});
}

TEST_CASE("the view has room at every size, for every stop of the tour and steps of every lesson") {
    Part of_steps("TILEWALK_LAYOUT", 4), of_stops("TILEWALK_LAYOUT", 4);
    for (const SpeakerShown shown : {SpeakerShown::window, SpeakerShown::panel})
        for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1920, 1080}})
            for (const ThemeId theme : {ThemeId::dark, ThemeId::light}) {
                Lectern lectern(shown, screen, theme);
                AppState& state = lectern.state();
                for (const Lesson& lesson : lessons()) {
                    lectern.program.show_lesson(lesson.id);
                    state.presenter = true;
                    for (int k = 0; k < state.trace->size(); k += 7) {
                        if (!of_steps.takes()) continue;
                        lectern.go_to_step(k);
                        check_view(lectern, "step");
                    }
                }
                lectern.press("u");
                for (int n = 0; n < state.tour->stops(); n += 2) {
                    if (!of_stops.takes()) continue;
                    lectern.go_to_stop_of_tour(n);
                    state.presenter = true;
                    lectern.now += 3600;
                    lectern.draw();
                    check_view(lectern, "stop " + std::to_string(n + 1));
                }
                lectern.press("shift+g");
                check_view(lectern, "picker");
            }
}
