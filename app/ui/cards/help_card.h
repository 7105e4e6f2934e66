// All keys, by what they are for; what is typed leaves those that it fits.
#pragma once

#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// True if the key belonged to the list of keys.
bool answer_help_key(AppState& state, const KeyPress& press);

}  // namespace tilewalk::ui
