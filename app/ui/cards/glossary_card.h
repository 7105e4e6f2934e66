// The glossary: what every symbol and term means, and where it is defined.
#pragma once

#include "app/ui/state/app_state.h"

#include <string>
#include <string_view>

namespace tilewalk::ui {

struct Glossary {
    std::string search;
    std::string card;     ///< id of the chosen card
    int frames = 0;       ///< that it has been shown; the key that opened it is not typed into it
    float scroll = 0;     ///< of the list, in logical px
    bool to_card = true;  ///< the list moves so that the chosen card is in sight
};

/// Opens it at a term; without one at what the current step is about.
void open_glossary(AppState& state, std::string_view term = {});

}  // namespace tilewalk::ui
