// Questions before a step is shown. The walk is held back until one is answered or skipped, else unchanged.
#pragma once

#include "app/ui/state/app_state.h"
#include "core/class/questions.h"

#include <set>
#include <string>
#include <vector>

namespace tilewalk::ui {

/// A question that was answered or skipped, for the file of results.
struct QuizAnswer {
    std::string problem, lesson, question, expected, given;
    int step = 0;  ///< from 1
    enum class Outcome { right, right_second_time, wrong, skipped } outcome = Outcome::wrong;
};

/// A number that is asked for: what was typed, and what came of it.
struct GapEntry {
    char text[64] = "";
    std::optional<Verdict> verdict = {};
    bool shown = false;  ///< presenter mode: the right number stands there
    bool is_right() const { return verdict && verdict->kind == Verdict::Kind::right; }
};

/// Where a question about the next step of a kernel's run was asked (the page Inside).
struct AskedInside {
    int warp = 0, step = 0, next = 0;
};

struct Quiz {
    std::optional<AskedInside> inside;  ///< the open question is about that
    bool open = false;                  ///< a question waits for its answer
    Question question;
    std::shared_ptr<const Trace> trace;  ///< the walk that it is about
    Cursor at, next;                     ///< where the walk stands, and where it goes on to
    bool resume = false;                 ///< it was playing

    std::vector<GapEntry> entries;  ///< one for each number that is asked for
    std::size_t entry = 0;          ///< the one that is being typed
    bool focus = false;             ///< put the caret into its field in the next frame
    bool enter = false;             ///< Enter was pressed in a field of this frame
    std::vector<int> chosen;
    int mark = 0;  ///< the choice that the arrow keys stand at

    std::optional<Verdict> verdict;  ///< once it was checked; for what is no number only a sentence
    std::string given;               ///< what was typed or chosen then
    int tries = 0;
    bool revealed = false;  ///< presenter mode: the whole answer is shown

    std::vector<QuizAnswer> answers;
    std::set<int> asked;  ///< steps of this walk; none is asked twice
    /// Lines of a kernel, by their place in its record; of none the same is asked twice.
    std::set<std::pair<std::uint32_t, Question::Kind>> asked_inside;
    const void* record = nullptr;  ///< the walk that these are of
    struct Coming {
        std::shared_ptr<const Trace> trace;  ///< where it was looked for: in this walk, after this step
        int from = -1;
        std::optional<int> step;
    } coming;
    bool saving = false;  ///< the field for the name of the file is shown
    char path[512] = "";

    GapEntry& current() { return entries[entry]; }
    bool decided() const { return verdict && verdict->kind != Verdict::Kind::unreadable; }
    bool was_right() const { return verdict && verdict->kind == Verdict::Kind::right; }
    /// One more try, where guessing again would not be the answer.
    bool may_retry() const {
        return decided() && !was_right() && tries < 2 &&
               (!question.is_choice() || question.choices.size() > 2);
    }
};

/// Questions on or off.
void toggle_questions(AppState& state);
/// True if there is a question before the walk goes on to `next`: the step is held back, playing pauses.
bool asks_before(AppState& state, Cursor next);
/// The same on the page Inside, for the first of these questions that is new at this line of the record.
bool asks_inside(AppState& state, const void* record, std::uint32_t place, std::vector<Question> all,
                 const AskedInside& at);
/// Questions are on: the step, from 0, before which the next one is asked; nothing if there is none left.
std::optional<int> next_question(const AppState& state);
/// The same for people: "the next one comes before step 18".
std::string next_question_text(const AppState& state);
/// A question is open, and still about the step that comes next.
bool quiz_waits(const AppState& state);
/// The question is which step comes next or which tiles are skipped, and there is still something to guess:
/// nothing on the screen may tell.
bool hides_what_comes(const AppState& state);
/// The question is which lane holds a cell, and there is still something to guess: the picture of the owners
/// may not tell.
bool hides_lanes(const AppState& state);

// What the card's buttons do.
void choose_answer(Quiz& quiz, int n);
void check_answer(AppState& state);
/// Enter in a field: to the next one that is empty; behind the last all are checked.
void enter_answer(AppState& state);
/// Presenter mode: checks what was typed into a gap, or shows its number, and goes on to the next.
void reveal_answer(AppState& state);
/// A character that was typed without a caret; Backspace is '\b'. False if there is no room for it.
bool type_answer(Quiz& quiz, char typed);
void retry_answer(Quiz& quiz);
void skip_question(AppState& state);
void go_on_after_question(AppState& state);
void save_answers(AppState& state);

/// "7 of 9": right answers of those given. Empty before the first.
std::string quiz_score(const Quiz& quiz);
/// A line of headings, one for each question. What a spreadsheet would take for a formula has an apostrophe.
std::string answers_to_csv(const Quiz& quiz);

}  // namespace tilewalk::ui
