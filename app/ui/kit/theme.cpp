#include "app/ui/kit/theme.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {
namespace {

/// 0xRRGGBB as it is written in the design to ImGui's byte order.
constexpr ImU32 rgb(unsigned hex) {
    return IM_COL32((hex >> 16) & 255u, (hex >> 8) & 255u, hex & 255u, 255u);
}

constexpr Theme dark_theme() {
    return {.name = "dark",
            .bg = rgb(0x0E1217),
            .panel = rgb(0x161B22),
            .well = rgb(0x11161C),
            .raised = rgb(0x222A34),
            .line = rgb(0x2B343F),
            .line2 = rgb(0x46525F),
            .t1 = rgb(0xEEF2F6),
            .t2 = rgb(0xB4BFCB),
            .t3 = rgb(0x8F9BA8),
            .focus = rgb(0xFFFFFF),
            .inv = rgb(0x0E1217),
            .danger = rgb(0xFF30F0),
            .roles = {rgb(0xB4BFCB), rgb(0x5DA1DC), rgb(0xFE9301), rgb(0x26D983), rgb(0xCE83A2),
                      rgb(0xF8F172), rgb(0xD6FAD9), rgb(0xF36447), rgb(0x8D7CFF), rgb(0x42ECF5)},
            .lo = .05f,
            .hi = .46f,
            .hi_pale = .38f,
            .text_contrast = 4.5f,
            .light = false};
}

constexpr Theme light_theme() {
    return {.name = "light",
            .bg = rgb(0xE9EDF2),
            .panel = rgb(0xFFFFFF),
            .well = rgb(0xF8FAFC),
            .raised = rgb(0xE3E8EE),
            .line = rgb(0xD0D7DF),
            .line2 = rgb(0x9AA6B2),
            .t1 = rgb(0x141A21),
            .t2 = rgb(0x3F4B57),
            .t3 = rgb(0x5A6673),
            .focus = rgb(0x0B0F14),
            .inv = rgb(0xFFFFFF),
            .danger = rgb(0xC00070),
            .roles = {rgb(0x3F4B57), rgb(0x0F6CC4), rgb(0x803400), rgb(0x027A48), rgb(0x84549C),
                      rgb(0x7A7600), rgb(0x0B1440), rgb(0xB82230), rgb(0x4023F5), rgb(0x005966)},
            .lo = .04f,
            .hi = .36f,
            .hi_pale = .36f,
            .text_contrast = 4.5f,
            .light = true};
}

/// Near-black surfaces, brighter hues, visible borders; fills stay dark so that numbers keep 7 : 1.
constexpr Theme contrast_theme() {
    return {.name = "contrast",
            .bg = rgb(0x000000),
            .panel = rgb(0x090B0E),
            .well = rgb(0x000000),
            .raised = rgb(0x1D232B),
            .line = rgb(0x77838F),
            .line2 = rgb(0xAAB6C2),
            .t1 = rgb(0xFFFFFF),
            .t2 = rgb(0xE2E9F0),
            .t3 = rgb(0xC5CFD9),
            .focus = rgb(0xFFFFFF),
            .inv = rgb(0x000000),
            .danger = rgb(0xFF7AFE),
            .roles = {rgb(0xE2E9F0), rgb(0x74B6F2), rgb(0xFFA02B), rgb(0x35E893), rgb(0xE79CBC),
                      rgb(0xFFF678), rgb(0xDDFCE0), rgb(0xFF8468), rgb(0xAA9DFF), rgb(0x4DE8F0)},
            .lo = .05f,
            .hi = .40f,
            .hi_pale = .32f,
            .text_contrast = 7.0f,
            .light = false};
}

constexpr Theme themes[] = {dark_theme(), light_theme(), contrast_theme()};

constexpr Theme with_roles(Theme theme, std::array<ImU32, role_count - 1> roles) {
    for (std::size_t n = 0; n < roles.size(); ++n) theme.roles[n + 1] = roles[n];
    return theme;
}

/// Hues that stay further apart where a kind of cone is missing.
constexpr Theme safe_themes[] = {
    with_roles(dark_theme(), {rgb(0x79A3CB), rgb(0xFE9607), rgb(0x26DB8E), rgb(0xAC748A), rgb(0xFEFD5C),
                              rgb(0xD8FEE3), rgb(0xEC4743), rgb(0x866EFB), rgb(0xF0D3FA)}),
    with_roles(light_theme(), {rgb(0x0070DF), rgb(0x762B00), rgb(0x096749), rgb(0x784579), rgb(0x797500),
                               rgb(0x072048), rgb(0xC44567), rgb(0x1000EE), rgb(0x2C0D0A)}),
    with_roles(contrast_theme(), {rgb(0xB2CDFF), rgb(0xFBC100), rgb(0x41C799), rgb(0xBB8DAE), rgb(0xFFF6AB),
                                  rgb(0xF0FFEE), rgb(0xF1775B), rgb(0x9E8CFF), rgb(0xFF6D60)})};

float channel(ImU32 colour, int shift) { return static_cast<float>((colour >> shift) & 255u); }

float luminance(ImU32 colour) {
    auto linear = [&](int shift) {
        const float u = channel(colour, shift) / 255.0f;
        return u <= 0.04045f ? u / 12.92f : std::pow((u + 0.055f) / 1.055f, 2.4f);
    };
    return 0.2126f * linear(IM_COL32_R_SHIFT) + 0.7152f * linear(IM_COL32_G_SHIFT) +
           0.0722f * linear(IM_COL32_B_SHIFT);
}

float unit(float t) { return t > 0 ? std::min(t, 1.0f) : 0.0f; }  // NaN becomes 0

float top_of_ramp(const Theme& theme, Role role, bool dim) {
    const bool pale = role == Role::m || role == Role::l || role == Role::D || role == Role::none;
    const float hi = pale ? theme.hi_pale : theme.hi;
    return dim ? .45f * hi : hi;
}

void set_sizes(ImGuiStyle& style) {
    style.WindowRounding = style.ChildRounding = 10;
    style.FrameRounding = style.PopupRounding = style.TabRounding = 8;
    style.GrabRounding = 7;
    style.ScrollbarRounding = 6;
    style.WindowBorderSize = style.ChildBorderSize = style.PopupBorderSize = 1;
    style.FrameBorderSize = 0;
    style.WindowPadding = {16, 12};
    style.FramePadding = {12, 9};
    style.ItemSpacing = {8, 8};
    style.ItemInnerSpacing = {8, 6};
    style.CellPadding = {8, 6};
    style.ScrollbarSize = 10;
    style.GrabMinSize = 14;
    style.DisabledAlpha = .5f;
    style.AntiAliasedLines = style.AntiAliasedFill = true;
    style.CircleTessellationMaxError = .2f;
}

void set_colours(ImGuiStyle& style, const Theme& t) {
    auto set = [&](ImGuiCol slot, ImU32 colour) {
        style.Colors[slot] = ImGui::ColorConvertU32ToFloat4(colour);
    };
    const ImU32 hovered = mix(t.raised, t.t1, .08f), pressed = mix(t.raised, t.t1, .14f);
    set(ImGuiCol_WindowBg, t.bg);
    set(ImGuiCol_ChildBg, t.panel);
    set(ImGuiCol_PopupBg, t.raised);
    set(ImGuiCol_MenuBarBg, t.panel);
    set(ImGuiCol_Border, t.line);
    set(ImGuiCol_Text, t.t1);
    set(ImGuiCol_TextDisabled, t.t3);
    for (ImGuiCol slot : {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header, ImGuiCol_Tab})
        set(slot, t.raised);
    for (ImGuiCol slot : {ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered})
        set(slot, hovered);
    for (ImGuiCol slot : {ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive})
        set(slot, pressed);
    for (ImGuiCol slot : {ImGuiCol_CheckMark, ImGuiCol_SliderGrab, ImGuiCol_PlotHistogram}) set(slot, t.t1);
    set(ImGuiCol_SliderGrabActive, t.focus);
    set(ImGuiCol_Separator, t.line);
    set(ImGuiCol_ScrollbarBg, t.panel);
    set(ImGuiCol_ScrollbarGrab, t.line2);
    set(ImGuiCol_ScrollbarGrabHovered, t.t3);
    set(ImGuiCol_ScrollbarGrabActive, t.t2);
    set(ImGuiCol_NavHighlight, t.focus);
    set(ImGuiCol_TextSelectedBg, with_alpha(t.t1, .25f));
    set(ImGuiCol_ModalWindowDimBg, with_alpha(t.bg, .60f));
}

}  // namespace

const Theme& theme(ThemeId id, Palette palette) {
    const int index = static_cast<int>(id), known = index >= 0 && index < 3 ? index : 0;
    return palette == Palette::safe ? safe_themes[known] : themes[known];
}

ImU32 hue(const Theme& theme, Role role) {
    const auto index = static_cast<std::size_t>(role);
    return theme.roles[index < theme.roles.size() ? index : 0];
}

ImU32 mix(ImU32 a, ImU32 b, float t) {
    auto blend = [&](int shift) {
        const float from = channel(a, shift), to = channel(b, shift);
        return static_cast<ImU32>(std::lround(from + (to - from) * unit(t))) << shift;
    };
    return blend(IM_COL32_R_SHIFT) | blend(IM_COL32_G_SHIFT) | blend(IM_COL32_B_SHIFT) |
           blend(IM_COL32_A_SHIFT);
}

ImU32 with_alpha(ImU32 colour, float alpha) {
    return (colour & ~IM_COL32_A_MASK) | static_cast<ImU32>(std::lround(255 * unit(alpha)))
                                             << IM_COL32_A_SHIFT;
}

float contrast(ImU32 a, ImU32 b) {
    const auto [dark, bright] = std::minmax({luminance(a), luminance(b)});
    return (bright + .05f) / (dark + .05f);
}

ImU32 ink_on(const Theme& theme, ImU32 surface, bool quiet) {
    const ImU32 full = contrast(theme.t1, surface) >= contrast(theme.inv, surface) ? theme.t1 : theme.inv;
    // As quiet as can be read: beside each other, numbers on darker and lighter cells look alike.
    for (float t = 0; quiet && t < 1; t += .125f)
        if (const ImU32 ink = mix(theme.t2, full, t); contrast(ink, surface) >= theme.text_contrast + .1f)
            return ink;
    return full;
}

ImU32 ramp(const Theme& theme, Role role, float t, bool dim) {
    const float hi = top_of_ramp(theme, role, dim);
    return mix(theme.panel, hue(theme, role), theme.lo + (hi - theme.lo) * unit(t));
}

ImU32 signed_ramp(const Theme& theme, Role role, float t, bool dim) {
    if (!(t < 0)) return ramp(theme, role, t, dim);
    // Steel is lighter than most hues, so it stops a little earlier.
    const float hi = .85f * (dim ? .45f : 1.0f) * theme.hi;
    return mix(theme.panel, theme.t3, theme.lo + (hi - theme.lo) * unit(-t));
}

ImU32 cividis(float t) {
    static constexpr ImU32 stops[] = {rgb(0x00204D), rgb(0x00306F), rgb(0x2A406C), rgb(0x48526B),
                                      rgb(0x5E626E), rgb(0x727374), rgb(0x878479), rgb(0x9E9677),
                                      rgb(0xB6A971), rgb(0xD0BE67), rgb(0xEAD357), rgb(0xFFEA46)};
    const float place = unit(t) * 11.0f;
    const int below = std::min(static_cast<int>(place), 10);
    return mix(stops[below], stops[below + 1], place - static_cast<float>(below));
}

void apply_style(ThemeId id, float scale) {
    ImGuiStyle fresh;
    ImGui::StyleColorsDark(&fresh);
    set_sizes(fresh);
    set_colours(fresh, theme(id));
    fresh.ScaleAllSizes(scale);
    ImGui::GetStyle() = fresh;
}

}  // namespace tilewalk::ui
