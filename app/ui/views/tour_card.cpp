#include "app/ui/tour.h"

namespace tilewalk::ui {

void tour_card(const Canvas&, AppState&, float, float) {}

}  // namespace tilewalk::ui
