// From the words of the command line to a problem, a lesson and the state of the user interface: window and
// pictures begin alike.
#pragma once

#include "app/cli/arguments.h"
#include "app/ui/state/app_state.h"
#include "core/class/tour.h"

namespace tilewalk {

struct WordReader;

/// Reads, makes or looks up the problem and applies the changes to it, after which an example is no longer
/// called one. Without a source: worked-4x4.
/// What one option says wrongly is refused here; whether the whole fits together, `validate` says.
Result<Problem> make_problem(const ProblemWords& words, SavedView* view = nullptr);
/// The words that choose something within a lesson: row, letters, order, faults, formats.
void read_lesson_choices(WordReader& read, const ProblemWords& words, Problem& problem);
/// The sentence that refuses choices, faults and formats which the lesson would pass over in silence.
std::optional<std::string> refuse_choices(const Lesson& lesson, const ProblemWords& words);

/// The lesson of that name; without a name flash-forward.
Result<const Lesson*> choose_lesson(const Word& name);

struct NamedWalk {
    const Lesson* lesson;
    Problem problem;
};
/// The problem that the words name or a link leads to, and the lesson: where they name none, the one that the
/// problem's file was saved in.
Result<NamedWalk> named_walk(const Arguments& arguments);

/// The interface with the examples, the lesson, the problem and its hooks, at the first step. Refuses what
/// the lesson cannot walk through.
Result<ui::AppState> make_state(const Lesson* lesson, Problem problem, ui::Settings settings);
/// The interface as the words ask for it: problem, lesson, theme, presenter.
Result<ui::AppState> make_session(const Arguments& arguments, ui::Settings settings);

/// Where --link leads: the problem and the lesson alone; refused if it is a page without a walk.
Result<NamedWalk> walk_of_link(const Arguments& arguments);
/// What --link has recorded: a run of the page Inside, or the problem of a walk with the kernel that the page
/// begins with.
struct LinkedRun {
    std::string kernel;
    DType type;
    Problem problem;
    int block = 0;
    std::string without;   ///< the name of a fault; empty: sound
    bool of_page = false;  ///< the link is one of the page Inside, else of a walk
};
Result<LinkedRun> run_of_link(const Arguments& arguments);
/// The interface where --link leads.
Result<ui::AppState> make_session_at_link(const Arguments& arguments, ui::Settings settings);

/// Opens the speaker's view where --speaker says; nothing to do without. After the tour has begun.
Result<void> open_speaker(ui::AppState& state, const Word& where);

/// Goes to a step counted from 1; a sentence if the walk does not have it.
Result<void> go_to_step(ui::AppState& state, const std::string& word);
/// The cell of what step k writes that --at names as the screen does, "1" or "1.2": in a ring a row of a
/// shard by its position in the whole.
struct CellWithin {
    int row = 0, col = -1;  ///< within what the step writes; col −1: none was named
};
Result<CellWithin> cell_at(const Trace& trace, int k, const std::string& word);
/// The colours that --theme names, into `settings`.
void read_theme(WordReader& read, const Word& name, ui::Settings& settings);

/// The sentence that refuses a problem, lesson or step beside a tour.
std::optional<std::string> refuse_beside_tour(const Arguments& arguments);
/// The interface at the first stop of a tour, with nothing behind it.
Result<ui::AppState> state_in_tour(TourScript script, ui::Settings settings);
/// Begins the tour that the words name, at its stop; a sentence if that cannot be. Nothing to do without.
Result<void> begin_tour(ui::AppState& state, const Arguments& arguments);
/// Waits for what the page asks of the machine: for pictures.
void wait_for_page(ui::AppState& state);
/// Goes to stop n, from 0, and waits for its page.
void settle_at_stop(ui::AppState& state, int n);
/// Says once that there is a tour.
void offer_tour(ui::AppState& state);

}  // namespace tilewalk
