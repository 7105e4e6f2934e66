// Colours: the tokens of the three themes, the hue of each quantity, value ramps, and contrast arithmetic.
#pragma once

#include "app/settings/settings.h"
#include "core/walk/trace.h"

#include <array>
#include <imgui.h>

namespace tilewalk::ui {

/// All colours are opaque ImU32 (ImGui byte order).
struct Theme {
    const char* name = "";
    ImU32 bg, panel, well, raised;        ///< surfaces: window, panels, beds and cards, buttons
    ImU32 line, line2;                    ///< borders; stronger borders, axes and rails
    ImU32 t1, t2, t3;                     ///< main, secondary and quiet text
    ImU32 focus, inv, danger;             ///< "this step"; text on a t1 fill; failed and NaN
    std::array<ImU32, role_count> roles;  ///< by Role; Role::none is t2
    float lo, hi, hi_pale;  ///< ends of the value ramp; hi_pale for m and ℓ, whose hues are pale
    float text_contrast;    ///< every text keeps at least this ratio to what lies below it
    bool light = false;
};

const Theme& theme(ThemeId id, Palette palette = Palette::usual);

ImU32 hue(const Theme& theme, Role role);
/// The page of presenter mode: hues are legible on it (in the light theme they are not on `bg`).
inline ImU32 presenter_page(const Theme& theme) { return theme.light ? theme.panel : theme.bg; }
/// Straight mix of the channels, t = 0 gives a, t = 1 gives b.
ImU32 mix(ImU32 a, ImU32 b, float t);
/// The same colour with alpha 0 … 1.
ImU32 with_alpha(ImU32 colour, float alpha);
/// 0 … 1
inline float alpha_of(ImU32 colour) {
    return static_cast<float>((colour >> IM_COL32_A_SHIFT) & 255u) / 255.0f;
}
/// WCAG 2 contrast ratio, 1 … 21. Alpha is ignored.
float contrast(ImU32 a, ImU32 b);
/// Text colour for a surface: the better of t1 and inv; with `quiet`, t2 where it is still legible.
ImU32 ink_on(const Theme& theme, ImU32 surface, bool quiet = false);

/// Fill of a cell, t = (v − min)/(max − min) clamped to 0 … 1 (NaN is taken as 0). `dim`: not in this step.
ImU32 ramp(const Theme& theme, Role role, float t, bool dim = false);
/// Fill of a cell with a sign, t in −1 … 1: positive goes to the hue, negative to steel.
ImU32 signed_ramp(const Theme& theme, Role role, float t, bool dim = false);
/// Heat map for large matrices and errors, t in 0 … 1.
ImU32 cividis(float t);

/// Sets the ImGui style: colours of the theme, sizes multiplied by `scale`.
void apply_style(ThemeId id, float scale);

}  // namespace tilewalk::ui
