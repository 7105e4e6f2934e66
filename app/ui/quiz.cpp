#include "app/ui/quiz.h"

namespace tilewalk::ui {

void toggle_questions(AppState& state) {
    if (state.quiz)
        state.quiz.reset();
    else
        state.quiz = std::make_shared<Quiz>();
}

bool asks_before(AppState&, Cursor) { return false; }
bool answer_quiz_key(AppState&, const KeyPress&) { return false; }

}  // namespace tilewalk::ui
