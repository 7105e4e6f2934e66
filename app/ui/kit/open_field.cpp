#include "app/ui/kit/open_field.h"

namespace tilewalk::ui {

bool open_field(const Canvas& c, float x, float y, float w, char* path, std::size_t size,
                const OpenField& look) {
    if (look.choose && *look.choose) {
        const float all = w + open_gap + open_button_w;
        if (button(c, look.button, x, y - space::bar / 2, all, space::bar, "Choose a file…",
                   {.enabled = look.enabled, .tooltip = look.tooltip}))
            (*look.choose)();
        return false;
    }
    FieldLook field{.hint = look.hint, .size = size::body, .flags = ImGuiInputTextFlags_AutoSelectAll};
    field.focus_now = look.focus_now;
    const float top = y - space::bar / 2;
    const FieldResult typed = text_field(c, look.field, x, top, w, space::bar, path, size, field);
    const bool pressed = button(c, look.button, x + w + open_gap, top, open_button_w, space::bar, "Open",
                                {.enabled = look.enabled && path[0] != 0, .tooltip = look.tooltip});
    return look.enabled && path[0] != 0 && (pressed || typed.entered);
}

std::string with_json_ending(std::string path) {
    if (path.find('.', path.find_last_of('/') + 1) == std::string::npos) path += ".json";
    return path;
}

}  // namespace tilewalk::ui
