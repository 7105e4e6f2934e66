#include "app/ui/views/save_card.h"

namespace tilewalk::ui {

void open_save_card(AppState& state) { state.saving = std::make_shared<SaveCard>(); }

bool answer_save_key(AppState& state, const KeyPress& press) {
    if (!state.saving || press.key != Key::escape) return false;
    state.saving.reset();
    return true;
}

void save_card(const Canvas&, AppState&, float, float) {}

}  // namespace tilewalk::ui
