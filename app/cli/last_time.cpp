#include "app/cli/last_time.h"

#include "app/cli/commands.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/io/examples.h"
#include "app/io/problem_json.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <cstdio>

namespace tilewalk {
namespace {

// Nothing was asked for, so that the problem of the last time may come back.
bool is_bare(const Arguments& a) { return a.problem.empty() && !a.lesson && !a.step && !a.link && !a.source; }

// What the user left behind for a tour is what counts.
const ui::ProblemPtr& own_problem(const ui::AppState& state) {
    return state.tour ? state.tour->back.problem : state.problem;
}

Result<Problem> problem_of_last_time(const ui::Settings& settings) {
    if (!settings.example.empty()) {
        if (const Problem* example = find_example(settings.example)) return *example;
        return Failure{"The example of the last time, " + settings.example + ", is no longer there."};
    }
    return problem_from_json(settings.problem_json, "The problem of the last time");
}

// The problem that is shown may be an example that was changed; then the whole of it is kept.
void remember_problem(ui::AppState& state) {
    const ui::ProblemPtr problem = own_problem(state);
    if (!problem) return;
    const std::string text = problem_to_json(*problem);
    const Problem* example = find_example(problem->name);
    const bool unchanged = example && problem_to_json(*example) == text;
    state.settings.example = unchanged ? problem->name : "";
    state.settings.problem_json = unchanged ? "" : text;
}

// Where the program was left, for the next time.
void remember_place(ui::AppState& state) {
    const ui::WalkView& own = state.tour ? state.tour->back : state;
    const bool at_start = own.page == ui::Page::start;
    if (!own.trace || (at_start && !state.start.left)) return;
    const int page = at_start ? state.start.page : static_cast<int>(own.page);
    state.settings.page = ui::page_names[static_cast<std::size_t>(page)];
    state.settings.lesson = own.lesson->id;
    state.settings.step = own.cursor.step + 1;
    state.settings.row = own.row;
}

void reopen_last(ui::AppState& state) {
    const ui::Settings settings = state.settings;
    Result<Problem> last = problem_of_last_time(settings);
    if (last && ui::set_problem(state, std::move(*last), false)) {
        const bool known = find_lesson(settings.lesson) != nullptr;
        if (known)
            ui::restore_view(state, {.lesson = settings.lesson,
                                     .step = settings.step,
                                     .row = settings.row,
                                     .presenter = state.presenter});
        state.step_age = ui::AppState{}.step_age;  // it stands there from the beginning; nothing moves
        state.page = ui::page_of(settings.page);
    } else if (!last) {
        state.notice = last.error;
    }
    if (!state.notice.empty()) state.notice_age = 0;
}

// A first start has nothing to go on with.
void show_start_page(ui::AppState& state, bool first_start) {
    if (!first_start) ui::open_start(state);
    state.page = ui::Page::start;
}

}  // namespace

Result<ui::AppState> begin_window(const Arguments& a, const LoadedSettings& loaded, bool remembers) {
    Result<ui::AppState> state = make_session(a, loaded.settings);
    if (!state) return state;
    if (a.step)
        if (const auto went = go_to_step(*state, *a.step); !went) return Failure{went.error};
    if (remembers && is_bare(a)) {
        reopen_last(*state);
        if (loaded.settings.open && state->notice.empty())
            state->notice = "Tilewalk has not ended in order: this is the problem as it was kept then.",
            state->notice_age = 0;
    }
    const bool bare = remembers && is_bare(a) && !a.tour && !a.stop;
    if (bare && state->settings.start_page) show_start_page(*state, !loaded.found);
    if (!loaded.notice.empty()) {
        state->notice = loaded.notice;
        state->notice_age = 0;
    }
    if (const auto begun = begin_tour(*state, a); !begun) return Failure{begun.error};
    state->hooks.clock = remembers ? time_now : time_of_pictures;
    if (const auto opened = open_speaker(*state, a.speaker); !opened) return Failure{opened.error};
    if (remembers) offer_tour(*state);
    return state;
}

Result<void> keep_all(const std::string& path, const LoadedSettings& loaded, ui::AppState& state, bool open,
                      bool& moved) {
    remember_problem(state);
    remember_place(state);
    state.settings.open = open;
    if (!loaded.notice.empty() && !std::exchange(moved, true))
        std::rename(path.c_str(), (path + ".unread").c_str());
    return save_settings(path, state.settings);
}

}  // namespace tilewalk
