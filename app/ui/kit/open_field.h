// A field for the name of a file and the button that opens it: the same on every page.
#pragma once

#include "app/ui/kit/items.h"

#include <functional>
#include <string>

namespace tilewalk::ui {

struct OpenField {
    const char *field, *button;  ///< ids
    const char* hint;
    const char* tooltip;
    bool enabled = true;
    bool focus_now = false;
    const std::function<void()>* choose =
        nullptr;  ///< lists files in place of a name that is typed, if it can
};
constexpr float open_button_w = 60, open_gap = 6;
/// `y`: its middle; `w`: of the field alone. True when a name was typed and is to be opened.
bool open_field(const Canvas& canvas, float x, float y, float w, char* path, std::size_t size,
                const OpenField& look);
/// What a name without an ending means.
std::string with_json_ending(std::string path);

}  // namespace tilewalk::ui
