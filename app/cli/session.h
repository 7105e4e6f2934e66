// From the words of the command line to the state of the user interface: window and pictures begin alike.
#pragma once

#include "app/cli/arguments.h"
#include "app/ui/state/app_state.h"

namespace tilewalk {

/// The lesson of that name; without a name flash-forward.
Result<const Lesson*> choose_lesson(const Word& name);

struct NamedWalk {
    const Lesson* lesson;
    Problem problem;
};
/// The problem that the words name, and the lesson: where they name none, the one that the problem's file was
/// saved in.
Result<NamedWalk> named_walk(const Arguments& arguments);

/// The interface with the examples, the lesson, the problem and its hooks, at the first step. Refuses what
/// the lesson cannot walk through.
Result<ui::AppState> make_state(const Lesson* lesson, Problem problem, ui::Settings settings);

/// Goes to a step counted from 1; a sentence if the walk does not have it.
std::optional<std::string> go_to_step(ui::AppState& state, const std::string& word);

/// The colours that --theme names, into `settings`; a sentence if there are none of that name.
std::optional<std::string> choose_theme(const Word& name, ui::Settings& settings);

/// The interface as the words ask for it: problem, lesson, theme, presenter.
Result<ui::AppState> make_session(const Arguments& arguments, ui::Settings settings);

}  // namespace tilewalk
