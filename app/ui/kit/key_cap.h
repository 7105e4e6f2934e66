// A key as it lies on the keyboard: one look, with text of any size.
#pragma once

#include "app/ui/kit/canvas.h"

namespace tilewalk::ui {

float key_cap_width(std::string_view key, float text);
float key_cap_height(float text);
/// Its middle at that height. Returns its width.
float draw_key_cap(const Canvas& canvas, float x, float y, std::string_view key, float text);

/// Keys that stand for one thing, two spaces between them: a cap each.
float key_caps_width(std::string_view keys, float text);
void draw_key_caps(const Canvas& canvas, float x, float y, std::string_view keys, float text);

}  // namespace tilewalk::ui
