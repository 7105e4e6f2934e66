// Presenter mode of the dense lessons.
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/parts/stage.h"

namespace tilewalk::ui {

void dense_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& body) {
    stage(c, state, body, {dense_look, dense_lens});
}

}  // namespace tilewalk::ui
