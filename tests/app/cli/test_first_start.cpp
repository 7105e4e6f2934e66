// What the program begins with: the start page, with what was left the last time; or, where the settings say
// so, the place itself.
#include "app/io/problem_json.h"
#include "app/io/settings.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"
#include "tests/app/cli/run.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

/// A user's home, for as long as a test takes.
struct Home {
    Folder folder;
    std::string before = std::getenv("XDG_CONFIG_HOME") ? std::getenv("XDG_CONFIG_HOME") : "";
    Home() { ::setenv("XDG_CONFIG_HOME", folder.path.c_str(), 1); }
    ~Home() {
        before.empty() ? ::unsetenv("XDG_CONFIG_HOME") : ::setenv("XDG_CONFIG_HOME", before.c_str(), 1);
    }
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;
};

void start(const std::vector<std::string>& words, const std::function<void(ui::AppState&)>& look) {
    const Ran ran = run(words, looking(look));
    CHECK_MESSAGE(ran.code == 0, ran.err);
}

}  // namespace

TEST_CASE("the first start shows the start page, with nothing to go on with") {
    const Home home;
    start({}, [](ui::AppState& s) {
        CHECK(s.page == ui::Page::start);
        CHECK_FALSE(s.start.left);
    });
}

TEST_CASE("a later start leads back to the lesson, the step and the row") {
    const Home home;
    start({}, [](ui::AppState& s) {
        s.page = ui::Page::walk;
        ui::set_lesson(s, *find_lesson("flash-backward"));
        ui::go_to(s, at_step(*s.trace, 6));
        s.row = 1;
    });
    start({}, [](ui::AppState& s) {
        CHECK(s.page == ui::Page::start);
        CHECK(s.start.left);
        CHECK(std::string(s.lesson->id) == "flash-backward");
        CHECK(s.cursor.step == 6);
        CHECK(s.row == 1);
        ui::continue_from_start(s);
        CHECK(s.page == ui::Page::walk);
        s.page = ui::Page::memory;
        s.settings.start_page = false;
    });
    start({}, [](ui::AppState& s) {
        CHECK(s.page == ui::Page::memory);
        CHECK(s.cursor.step == 6);
    });
}

TEST_CASE("what was left is kept by a start that only looked at the start page") {
    const Home home;
    start({}, [](ui::AppState& s) {
        s.page = ui::Page::walk;
        ui::go_to(s, at_step(*s.trace, 16));
    });
    start({}, [](ui::AppState&) {});
    start({}, [](ui::AppState& s) { CHECK(s.cursor.step == 16); });
}

TEST_CASE("who asks for something gets it, and not the start page") {
    const Home home;
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--example", "causal-8"},
                                                  {"--step", "3"},
                                                  {"--lesson", "memory"},
                                                  {"--tour", "flash-attention"}})
        start(words, [&](ui::AppState& s) { CHECK_MESSAGE(s.page != ui::Page::start, words.front()); });
    start({"--lesson", "start"}, [](ui::AppState& s) { CHECK(s.page == ui::Page::start); });
}

TEST_CASE("what was kept while the window was open is back after the program was killed, and said so once") {
    const Home home;
    std::string kept;
    const WindowRunner killed = [&](ui::AppState& s, const WindowOptions& options) {
        s.page = ui::Page::walk;
        Problem problem = *s.problem;
        problem.Q(0, 0) = 17;
        CHECK(ui::set_problem(s, problem));
        REQUIRE(options.keep);
        options.keep(s);
        kept = problem_to_json(*s.problem);
        problem.Q(0, 0) = 18;  // not kept any more
        ui::set_problem(s, problem);
        return 3;
    };
    CHECK(run({}, killed).code == 3);
    start({}, [&](ui::AppState& s) {
        CHECK(problem_to_json(*s.problem) == kept);
        CHECK(contains(s.notice, "not ended in order"));
    });
    start({}, [&](ui::AppState& s) {
        CHECK(problem_to_json(*s.problem) == kept);
        CHECK(s.notice.empty());
    });
}

TEST_CASE("pictures keep nothing") {
    const Home home;
    run({"--frames", "3"}, [](ui::AppState&, const WindowOptions& options) {
        CHECK_FALSE(options.keep);
        return 0;
    });
    CHECK(home.folder.count() == 0);
}
