#include "app/render/view_picture.h"

#include "app/render/png.h"
#include "app/render/svg_picture.h"
#include "app/ui/state/app_state.h"

#include <utility>

namespace tilewalk {

DrawingApart::DrawingApart()
    : items_(std::exchange(ui::item_registry, nullptr)), places_(std::exchange(ui::place_list, nullptr)),
      vectors_(std::exchange(ui::vector_picture, nullptr)) {}

DrawingApart::~DrawingApart() {
    ui::item_registry = items_;
    ui::place_list = places_;
    ui::vector_picture = vectors_;
}

std::string picture_of_view(const ui::AppState& state, int width, int height, bool vectors) {
    ui::AppState shown = state;
    shown.saving.reset();
    shown.pending.reset();  // its result belongs to the window
    shown.show_menu = false;
    shown.notice.clear();
    shown.keys.clear();
    shown.hover.reset();
    shown.mouse_age = ui::AppState{}.mouse_age;
    const DrawingApart apart;
    return vectors ? svg_of_frame(shown, width, height) : encode_png(render_frame(shown, width, height));
}

}  // namespace tilewalk
