// Questions before a step is shown.
#pragma once

#include "app/ui/app_state.h"
#include "app/ui/canvas.h"

namespace tilewalk::ui {

struct Quiz {
    bool open = false;  ///< a question waits for its answer
};

/// Questions on or off.
void toggle_questions(AppState& state);
/// True if there is a question to be answered before the walk goes on to `next`: the step is held back.
bool asks_before(AppState& state, Cursor next);
/// True if the key belonged to a question.
bool answer_quiz_key(AppState& state, const KeyPress& press);
void quiz_card(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui
