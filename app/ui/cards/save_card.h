// Saves what is on the screen as a picture, or the whole walk as a hand-out.
#pragma once

#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

enum class SaveFormat { png, svg, html, markdown, latex };

struct SaveCard {
    enum Size { as_on_screen, full_hd, ultra_hd };
    char path[512] = "";
    int format = static_cast<int>(SaveFormat::svg);
    int size = as_on_screen;
    std::string asked;    ///< the file that is there already and may be replaced
    std::string message;  ///< why nothing was written
};

void open_save_card(AppState& state);

}  // namespace tilewalk::ui
