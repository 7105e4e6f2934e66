#include "app/ui/state/quiz.h"

#include "app/ui/state/state.h"
#include "core/base/words.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tilewalk::ui {

namespace {

// Now and then: about every third step, the same ones in the same walk.
bool is_turn(const AppState& state, int step) {
    return state.settings.question_each || mixed(17, static_cast<std::uint64_t>(step)) % 3 == 0;
}

void close(Quiz& quiz) {
    quiz.open = quiz.saving = false;
    quiz.inside.reset();
    quiz.verdict.reset();
}

void open(AppState& state, Question question) {
    Quiz& quiz = *state.quiz;
    quiz.question = std::move(question);
    quiz.entries.assign(quiz.question.numbers().size(), {});
    quiz.entry = 0;
    quiz.focus = true;
    quiz.chosen.clear();
    quiz.mark = quiz.tries = 0;
    quiz.verdict.reset();
    quiz.revealed = quiz.saving = false;
    quiz.open = true;
}

void open_in_walk(AppState& state, Question question, Cursor next) {
    Quiz& quiz = *state.quiz;
    quiz.at = state.cursor;
    quiz.next = next;
    quiz.resume = state.player.playing;
    open(state, std::move(question));
    state.moves_for = 0;  // what the question is about stands still
    if (quiz.entries.empty()) return;
    // What is framed is of the row that it asks about.
    const Region region = step_region(*state.trace, quiz.question.step);
    const CellRef target = quiz.question.numbers().front().explanation.target;
    if (region.contains(target.row, target.col)) choose_row(state, target.row - region.row);
}

std::string chosen_names(const Quiz& quiz) {
    std::vector<std::string> names;
    for (int n : quiz.chosen) names.push_back(quiz.question.choices[static_cast<std::size_t>(n)]);
    return joined(names);
}

void note_answer(AppState& state, QuizAnswer::Outcome outcome) {
    Quiz& quiz = *state.quiz;
    const Problem& p = *state.problem;
    const std::string lesson = quiz.inside ? "inside " + state.inside.kernel : state.lesson->id;
    quiz.answers.push_back({p.name.empty() ? p.title : p.name, lesson, quiz.question.text,
                            answer_text(quiz.question), quiz.given, quiz.question.step + 1, outcome});
}

// Answered, and not to be tried again. Whoever is right at once gets more gaps, whoever is wrong fewer.
void note_verdict(AppState& state) {
    const Quiz& quiz = *state.quiz;
    using Outcome = QuizAnswer::Outcome;
    const Outcome outcome = !quiz.was_right() ? Outcome::wrong
                            : quiz.tries == 1 ? Outcome::right
                                              : Outcome::right_second_time;
    note_answer(state, outcome);
    if (quiz.entries.empty() || quiz.question.exact) return;
    const int by = outcome == Outcome::right ? 1 : outcome == Outcome::wrong ? -1 : 0;
    state.gaps = static_cast<Gaps>(std::clamp(static_cast<int>(state.gaps) + by, 0, gaps_count - 1));
}

Gaps gaps_wanted(const AppState& state) {
    const GapsWanted wanted = state.settings.gaps;
    return wanted == GapsWanted::growing ? state.gaps : static_cast<Gaps>(static_cast<int>(wanted) - 1);
}

// What a class can read from afar, and what leaves room for the stage.
bool suits_stage(const Question& q) {
    constexpr int longest = 240;
    return q.gaps.empty() || (letter_count(q.text) <= longest && std::ssize(q.gaps) <= 2 * q.across);
}

std::optional<Question> question_for(const AppState& state, int step) {
    std::optional<Question> question;
    for (int gaps = static_cast<int>(gaps_wanted(state)); gaps >= 0; --gaps) {
        question = question_before(*state.trace, step, 0, static_cast<Gaps>(gaps));
        if (!question || !state.presenter || suits_stage(*question)) break;
    }
    return question;
}

void clear_entry(GapEntry& entry) {
    entry.text[0] = 0;
    entry.verdict.reset();
}

std::vector<std::string> typed_numbers(const Quiz& quiz) {
    std::vector<std::string> out;
    for (const GapEntry& entry : quiz.entries) out.emplace_back(entry.text);
    return out;
}

// To the first of the gaps that `wanted` takes, if there is one.
template <class Wanted> bool go_to_gap(Quiz& quiz, Wanted wanted) {
    const auto found = std::ranges::find_if(quiz.entries, wanted);
    if (found == quiz.entries.end()) return false;
    quiz.entry = static_cast<std::size_t>(found - quiz.entries.begin());
    return quiz.focus = true;
}

void check_numbers(Quiz& quiz) {
    const std::vector<std::string> typed = typed_numbers(quiz);
    const std::vector<Verdict> each = check_each(quiz.question, typed);
    quiz.given = joined(typed, "; ");
    quiz.verdict = together(quiz.question, each);
    const auto unreadable = std::ranges::find(each, Verdict::Kind::unreadable, &Verdict::kind);
    if (unreadable != each.end()) {
        quiz.entry = static_cast<std::size_t>(unreadable - each.begin());
        return;
    }
    for (std::size_t n = 0; n < each.size(); ++n) quiz.entries[n].verdict = each[n];
}

}  // namespace

void toggle_questions(AppState& state) {
    if (state.quiz) {
        state.quiz.reset();
        return notify(state, "Questions are off.");
    }
    state.quiz = std::make_shared<Quiz>();
    notify(state, "Questions are on; " + next_question_text(state) + ".");
}

std::optional<int> next_question(const AppState& state) {
    Quiz& quiz = *state.quiz;
    Quiz::Coming& coming = quiz.coming;
    if (coming.trace == state.trace && coming.from == state.cursor.step) return coming.step;
    coming = {state.trace, state.cursor.step, {}};
    for (int k = coming.from + 1; k < state.trace->size() && !coming.step; ++k) {
        const bool was_asked = quiz.trace == state.trace && quiz.asked.count(k);
        if (is_turn(state, k) && !was_asked && question_for(state, k)) coming.step = k;
    }
    return coming.step;
}

std::string next_question_text(const AppState& state) {
    if (state.page == Page::inside) return "they come before instructions of the warp (→)";
    const std::optional<int> step = next_question(state);
    return step ? "the next one comes before step " + str(*step + 1) : "no more of them in this walk";
}

bool quiz_waits(const AppState& state) {
    if (state.quiz && state.quiz->inside)
        return state.quiz->open && state.page == Page::inside &&
               state.inside.warp == state.quiz->inside->warp && state.inside.step == state.quiz->inside->step;
    return state.quiz && state.quiz->open && state.page == Page::walk && state.quiz->trace == state.trace &&
           state.quiz->at == state.cursor;
}

static bool is_guessed(const Quiz& quiz) { return !quiz.revealed && (!quiz.decided() || quiz.may_retry()); }

bool hides_what_comes(const AppState& state) {
    if (!quiz_waits(state)) return false;
    const Quiz& quiz = *state.quiz;
    using Kind = Question::Kind;
    const bool about_it = quiz.question.kind == Kind::next_op || quiz.question.kind == Kind::skipped_tiles;
    return about_it && is_guessed(quiz);
}

bool hides_lanes(const AppState& state) {
    return quiz_waits(state) && state.quiz->question.kind == Question::Kind::lane_of_cell &&
           is_guessed(*state.quiz);
}

bool asks_before(AppState& state, Cursor next) {
    if (!state.quiz || state.page != Page::walk) return false;
    Quiz& quiz = *state.quiz;
    if (quiz_waits(state)) return true;
    close(quiz);
    if (quiz.trace != state.trace) quiz.asked.clear();
    quiz.trace = state.trace;
    // A leap over several steps shows too little of what comes before the last.
    const bool one_step = next.step == state.cursor.step + 1;
    if (!one_step || !is_turn(state, next.step) || quiz.asked.count(next.step)) return false;
    std::optional<Question> question = question_for(state, next.step);
    if (!question) return false;
    quiz.asked.insert(next.step);
    open_in_walk(state, std::move(*question), next);
    return true;
}

bool asks_inside(AppState& state, const void* record, std::uint32_t place, std::vector<Question> all,
                 const AskedInside& at) {
    if (!state.quiz) return false;
    Quiz& quiz = *state.quiz;
    if (quiz_waits(state)) return true;
    close(quiz);
    if (std::exchange(quiz.record, record) != record) quiz.asked_inside.clear();
    const auto fresh = std::ranges::find_if(
        all, [&](const Question& q) { return quiz.asked_inside.emplace(place, q.kind).second; });
    if (fresh == all.end()) return false;
    quiz.resume = std::exchange(state.inside.playing, false);
    open(state, std::move(*fresh));
    quiz.inside = at;
    return true;
}

void choose_answer(Quiz& quiz, int n) {
    if (n < 0 || n >= static_cast<int>(quiz.question.choices.size()) || quiz.decided()) return;
    quiz.mark = n;
    quiz.verdict.reset();
    const auto at = std::ranges::find(quiz.chosen, n);
    if (!quiz.question.several)
        quiz.chosen = {n};
    else if (at != quiz.chosen.end())
        quiz.chosen.erase(at);
    else
        quiz.chosen.insert(std::ranges::lower_bound(quiz.chosen, n), n);
}

void check_answer(AppState& state) {
    Quiz& quiz = *state.quiz;
    if (quiz.decided()) return;
    if (quiz.question.is_choice()) {
        quiz.given = chosen_names(quiz);
        quiz.verdict = check(quiz.question, quiz.chosen);
    } else {
        check_numbers(quiz);
    }
    quiz.focus = true;
    if (!quiz.decided()) return;
    ++quiz.tries;
    if (!quiz.may_retry()) note_verdict(state);
}

void enter_answer(AppState& state) {
    if (!go_to_gap(*state.quiz, [](const GapEntry& entry) { return entry.text[0] == 0; }))
        check_answer(state);
}

void retry_answer(Quiz& quiz) {
    quiz.verdict.reset();
    for (GapEntry& entry : quiz.entries)
        if (!entry.is_right()) clear_entry(entry);
    go_to_gap(quiz, [](const GapEntry& entry) { return !entry.verdict; });
    quiz.chosen.clear();
    quiz.focus = true;
}

void reveal_answer(AppState& state) {
    Quiz& quiz = *state.quiz;
    if (quiz.question.is_choice()) {
        quiz.revealed = true;
        return;
    }
    GapEntry& entry = quiz.current();
    if (entry.text[0] && !entry.verdict) {
        const Verdict verdict = check_each(quiz.question, typed_numbers(quiz))[quiz.entry];
        if (verdict.kind == Verdict::Kind::unreadable) return clear_entry(entry);
        entry.verdict = verdict;
        if (!entry.is_right()) return;
    }
    entry.shown = true;
    quiz.revealed = !go_to_gap(quiz, [](const GapEntry& other) { return !other.shown; });
}

bool type_answer(Quiz& quiz, char typed) {
    GapEntry& entry = quiz.current();
    if (entry.verdict && !entry.is_right()) clear_entry(entry);
    const std::size_t length = std::strlen(entry.text);
    if (typed == '\b') return length > 0 ? entry.text[length - 1] = 0, true : false;
    if (length + 2 > sizeof entry.text) return false;
    entry.text[length] = typed;
    entry.text[length + 1] = 0;
    return true;
}

void go_on_after_question(AppState& state) {
    Quiz& quiz = *state.quiz;
    if (!state.presenter && quiz.may_retry()) note_verdict(state);
    const Cursor next = quiz.next;
    const std::optional<AskedInside> inside = quiz.inside;
    (inside ? state.inside.playing : state.player.playing) = quiz.resume;
    close(quiz);
    if (inside) return void(state.inside.step = inside->next);
    go_to(state, next);
}

void skip_question(AppState& state) {
    state.quiz->given.clear();
    if (!state.presenter) note_answer(state, QuizAnswer::Outcome::skipped);
    state.quiz->verdict.reset();
    go_on_after_question(state);
}

std::string quiz_score(const Quiz& quiz) {
    int right = 0, given = 0;
    for (const QuizAnswer& answer : quiz.answers) {
        if (answer.outcome == QuizAnswer::Outcome::skipped) continue;
        ++given;
        right += answer.outcome != QuizAnswer::Outcome::wrong;
    }
    return given == 0 ? "" : str(right) + " of " + str(given);
}

namespace {

// A spreadsheet takes what begins with one of these for a formula, unless it is a number.
bool looks_like_formula(const std::string& text) {
    if (text.empty() || std::strchr("=+-@\t\r", text[0]) == nullptr) return false;
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    return *end != 0;
}

// What a spreadsheet shall show as it was typed.
std::string csv_field(std::string text) {
    text = replaced(std::move(text), "\u00A0", " ");  // which belongs to the card, not into a table
    if (looks_like_formula(text)) text.insert(0, "'");
    return text;
}

// By Outcome.
constexpr const char* outcomes[] = {"right", "right at the second try", "wrong", "skipped"};

}  // namespace

std::string answers_to_csv(const Quiz& quiz) {
    std::string out = "number,problem,lesson,step,question,expected,answer,verdict\n";
    int n = 0;
    for (const QuizAnswer& a : quiz.answers)
        out +=
            csv_line({str(++n), csv_field(a.problem), csv_field(a.lesson), str(a.step), csv_field(a.question),
                      csv_field(a.expected), csv_field(a.given), outcomes[static_cast<int>(a.outcome)]});
    return out;
}

void save_answers(AppState& state) {
    const Quiz& quiz = *state.quiz;
    if (!state.hooks.save_quiz) return notify(state, "Files cannot be saved here.");
    std::string path = quiz.path;
    if (path.empty()) return notify(state, "Type a file name to save to, for example answers.csv.");
    if (!path.ends_with(".csv")) path += ".csv";
    const auto saved = state.hooks.save_quiz(path, answers_to_csv(quiz));
    notify_saved(state, path, saved);
    if (saved) state.quiz->saving = false;
}

}  // namespace tilewalk::ui
