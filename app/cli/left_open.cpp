#include "app/cli/left_open.h"

#include "app/io/json_reading.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;
using ui::QuizAnswer;

Json json_of(const ui::CellEdit& edit) {
    return {{"slot", info(edit.cell.slot).name},
            {"row", edit.cell.row},
            {"col", edit.cell.col},
            {"widget", edit.widget},
            {"text", edit.text}};
}

Json json_of(const QuizAnswer& a) {
    return {{"problem", a.problem},
            {"lesson", a.lesson},
            {"question", a.question},
            {"expected", a.expected},
            {"given", a.given},
            {"step", a.step},
            {"outcome", static_cast<int>(a.outcome)}};
}

// A question that was decided is not asked again; on another page than the walk it comes with its step.
bool is_asked(const ui::AppState& state) {
    return ui::quiz_waits(state) && !state.quiz->inside && !state.quiz->decided();
}

Json json_of_questions(const ui::AppState& state) {
    const ui::Quiz& quiz = *state.quiz;
    Json out = {{"gaps", static_cast<int>(state.gaps)}, {"answers", Json::array()}};
    for (const QuizAnswer& answer : quiz.answers) out["answers"].push_back(json_of(answer));
    std::vector<int> asked;
    if (quiz.trace == state.trace) asked.assign(quiz.asked.begin(), quiz.asked.end());
    if (is_asked(state)) {
        std::erase(asked, quiz.next.step);
        Json typed = Json::array();
        for (const ui::GapEntry& entry : quiz.entries) typed.push_back(entry.text);
        out["open"] = {{"typed", typed}, {"chosen", quiz.chosen}, {"tries", quiz.tries}};
    }
    out["asked"] = asked;
    return out;
}

template <std::size_t room> void put(const std::string& text, char (&field)[room]) {
    text.copy(field, room - 1);
    field[std::min(text.size(), room - 1)] = 0;
}

QuizAnswer read_answer(Reading& in) {
    QuizAnswer answer;
    int outcome = 0;
    read(in, "problem", answer.problem), read(in, "lesson", answer.lesson);
    read(in, "question", answer.question), read(in, "expected", answer.expected);
    read(in, "given", answer.given), read(in, "step", answer.step), read(in, "outcome", outcome);
    answer.outcome = static_cast<QuizAnswer::Outcome>(
        std::clamp(outcome, 0, static_cast<int>(QuizAnswer::Outcome::skipped)));
    return answer;
}

// The same walk asks the same question before the same step.
void ask_again(ui::AppState& state, Reading& in) {
    const int next = state.cursor.step + 1;
    if (state.page != ui::Page::walk || next >= state.trace->size()) return;
    if (!ui::asks_before(state, at_step(*state.trace, next))) return;
    ui::Quiz& quiz = *state.quiz;
    std::vector<int> chosen;
    read(in, "chosen", chosen), read(in, "tries", quiz.tries);
    quiz.tries = std::clamp(quiz.tries, 0, 1);
    for (const int n : chosen) ui::choose_answer(quiz, n);
    std::size_t entry = 0;
    read_list(in, "typed", "texts", [&](const nlohmann::json& text, const std::string&) {
        if (entry < quiz.entries.size() && text.is_string())
            put(text.get<std::string>(), quiz.entries[entry++].text);
    });
}

void read_questions(ui::AppState& state, Reading& in) {
    ui::toggle_questions(state);
    state.notice.clear();
    int gaps = 0;
    std::vector<int> asked;
    read(in, "gaps", gaps), read(in, "asked", asked);
    state.gaps = static_cast<Gaps>(std::clamp(gaps, 0, gaps_count - 1));
    state.quiz->trace = state.trace;
    state.quiz->asked.insert(asked.begin(), asked.end());
    read_objects(in, "answers", "answers",
                 [&](Reading& answer) { state.quiz->answers.push_back(read_answer(answer)); });
    read_object(in, "open", [&](Reading& question) { ask_again(state, question); });
}

void read_edit(ui::AppState& state, Reading& in) {
    std::string slot, widget, text;
    CellRef cell;
    read(in, "slot", slot), read(in, "widget", widget), read(in, "text", text);
    read(in, "row", cell.row), read(in, "col", cell.col);
    for (int n = 0; n < static_cast<int>(Slot::count); ++n)
        if (slot == info(static_cast<Slot>(n)).name) cell.slot = static_cast<Slot>(n);
    if (!in.error.empty() || cell.row < 0 || cell.col < 0 || state.page != ui::Page::walk) return;
    ui::begin_edit(state, cell, widget);
    if (state.edit) put(text, state.edit->text);
}

}  // namespace

std::string left_open(const ui::AppState& state) {
    Json out = Json::object();
    if (state.tour && state.tour->own) out["tour"] = state.tour->at + 1, out["presenter"] = state.presenter;
    if (state.quiz) out["questions"] = json_of_questions(state);
    if (state.edit) out["edit"] = json_of(*state.edit);
    return out.empty() ? "" : json_line(out);
}

bool left_on_tour(const std::string& line) {
    const auto tree = parse_json(line);
    return tree && tree->is_object() && tree->value("tour", nlohmann::json()).is_number();
}

void open_what_was_left(ui::AppState& state, const std::string& line) {
    const auto tree = parse_json(line);
    if (!tree || !tree->is_object()) return;
    Reading in{*tree};
    if (left_on_tour(line) && !state.tour) {
        int stop = 1;
        read(in, "presenter", state.presenter), read(in, "tour", stop);
        state.settings.tour_stop = std::max(1, stop);
        ui::toggle_tour(state);
    }
    if (state.tour && state.tour->arriving) return;  // its walk is still being built
    read_object(in, "questions", [&](Reading& questions) { read_questions(state, questions); });
    read_object(in, "edit", [&](Reading& edit) { read_edit(state, edit); });
    state.step_age = ui::AppState{}.step_age;  // it stands there from the beginning; nothing moves
}

}  // namespace tilewalk
