#include "app/ui/views/settings_card.h"

namespace tilewalk::ui {

bool answer_settings_key(AppState& state, const KeyPress& press) {
    if (!state.show_settings || press.key != Key::escape) return false;
    state.show_settings = false;
    return true;
}

void settings_card(const Canvas&, AppState&, float, float) {}

}  // namespace tilewalk::ui
