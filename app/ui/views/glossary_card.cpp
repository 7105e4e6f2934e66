#include "app/ui/views/glossary_card.h"

namespace tilewalk::ui {

void open_glossary(AppState& state, std::string_view) { state.glossary = std::make_shared<Glossary>(); }

bool answer_glossary_key(AppState& state, const KeyPress& press) {
    if (!state.glossary || press.key != Key::escape) return false;
    state.glossary.reset();
    return true;
}

void glossary_card(const Canvas&, AppState&, float, float) {}

}  // namespace tilewalk::ui
