#include "app/ui/inspection.h"
#include "app/ui/items.h"
#include "app/ui/widgets/matrix.h"

namespace tilewalk::ui {

void inspect_view(const Canvas& c, AppState& state, const Rect& a, bool) {
    begin_panel(c, "Inspection", a.x, a.y, a.w, a.h);
    c.text_within(a.x + 16, a.y + 28, a.w - 32, cell_name(state.inspection->cell), 22, 0, Face::semibold);
    end_panel(c);
}

}  // namespace tilewalk::ui
