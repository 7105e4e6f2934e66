#include "app/ui/quiz.h"

namespace tilewalk::ui {

void quiz_card(const Canvas&, AppState&, float, float) {}

}  // namespace tilewalk::ui
