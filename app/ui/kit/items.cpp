// The list of what a frame showed, and the plain things to click: areas, buttons, icons.
#include "app/ui/kit/items.h"

#include "app/ui/kit/focus.h"
#include "app/ui/kit/imgui_compat.h"

#include <algorithm>

namespace tilewalk::ui {

ItemRegistry* item_registry = nullptr;
std::vector<NamedPlace>* place_list = nullptr;

namespace {

/// The list starts anew with the first note of a frame.
ItemRegistry& registry_of_this_frame() {
    ItemRegistry& r = *item_registry;
    if (r.frame != ImGui::GetFrameCount()) r = {{}, {}, {}, ImGui::GetFrameCount()};
    return r;
}

bool holds(ImVec2 min, ImVec2 max, ImVec2 p) {
    return p.x >= min.x && p.x < max.x && p.y >= min.y && p.y < max.y;
}

/// The colour of the last surface drawn under a point.
ImU32 surface_at(const ItemRegistry& r, ImVec2 p) {
    for (auto fill = r.fills.rbegin(); fill != r.fills.rend(); ++fill)
        if (holds(fill->min, fill->max, p)) return fill->colour;
    return ImGui::GetColorU32(ImGuiCol_WindowBg);
}

/// What a person would call the item: "play" for "controls##play".
std::string_view name_of(std::string_view id) {
    const std::size_t hashes = id.find("##");
    if (hashes == id.npos) return id;
    return id.substr(std::min(id.find_first_not_of('#', hashes), id.size()));
}

ImU32 button_fill(const Theme& t, const ButtonLook& look, const Hot& hot) {
    const float lift = hot.held ? .14f : hot.hovered ? .08f : 0;
    if (look.primary) return mix(t.t1, t.panel, lift);
    if (look.quiet && !look.active && !hot.hovered && !hot.held) return 0;
    return mix(t.raised, t.t1, look.active && !look.quiet ? lift + .10f : lift);
}

struct Drawn {
    Hot hot;
    Canvas canvas;  ///< paler when the button is off
    ImU32 ink;
};

Drawn draw_button(const Canvas& c, const std::string& id, float x, float y, float w, float h,
                  const ButtonLook& look) {
    Hot hot = hot_area(c, id, x, y, w, h);
    if (look.tooltip && hot.hovered) tooltip(c, look.tooltip);
    if (!look.enabled) switch_off_stop(), hot = {.id = hot.id};
    const Canvas shown = look.enabled ? c : c.faded(.5f);
    if (const ImU32 fill = button_fill(*c.theme, look, hot)) shown.rect(x, y, w, h, fill, radius::control);
    if (look.active && !look.primary && !look.quiet)
        shown.frame(x + .5f, y + .5f, w - 1, h - 1, c.theme->line2, 1, radius::control);
    return {hot, shown, look.primary ? c.theme->inv : look.quiet && !look.active ? c.theme->t2 : c.theme->t1};
}

void open_part(const Canvas& c, std::string_view name, const Rect& a) {
    const ImVec2 min = c.device(a.x, a.y), max = c.device(a.x + a.w, a.y + a.h);
    begin_focus_region();
    // ImGui's own, not the draw list's: it also keeps the mouse from what is cut off.
    ImGui::PushClipRect(min, max, true);
    note_item(ItemKind::panel, min, max, name);
    if (item_registry) registry_of_this_frame().panels.emplace_back(name);
}

void close_part() {
    ImGui::PopClipRect();
    end_focus_region();
    if (item_registry && !item_registry->panels.empty()) item_registry->panels.pop_back();
}

}  // namespace

void note_item(ItemKind kind, ImVec2 min, ImVec2 max, std::string_view text, ImGuiID id, float font_px,
               ImU32 fg) {
    if (place_list && kind != ItemKind::text) place_list->push_back({kind, std::string(text), min, max});
    if (!item_registry) return;
    ItemRegistry& r = registry_of_this_frame();
    Item item;
    item.kind = kind;
    item.min = min, item.max = max;
    item.id = id;
    item.frame = r.frame;
    item.visible = ImGui::GetCurrentContext() && ImGui::IsRectVisible(min, max);
    if (!r.panels.empty()) item.panel = r.panels.back();
    item.text = text;
    item.font_px = font_px;
    item.bg = surface_at(r, {(min.x + max.x) / 2, (min.y + max.y) / 2});
    // Half-transparent letters are seen mixed with what lies below.
    const float alpha = alpha_of(fg);
    item.faint = fg != 0 && alpha < 1;
    item.fg = fg ? mix(item.bg | IM_COL32_A_MASK, fg | IM_COL32_A_MASK, alpha) : 0;
    r.items.push_back(std::move(item));
}

void note_part(const Canvas& c, const Rect& a, std::string_view name) {
    note_item(ItemKind::panel, c.device(a.x, a.y), c.device(a.right(), a.bottom()), name);
}

void note_fill(ImVec2 min, ImVec2 max, ImU32 colour) {
    if (!item_registry) return;
    ItemRegistry& r = registry_of_this_frame();
    const float alpha = alpha_of(colour);
    // Looking for what lies below takes a search; opaque fills need none.
    const ImU32 below = alpha < 1 ? surface_at(r, {(min.x + max.x) / 2, (min.y + max.y) / 2}) : colour;
    r.fills.push_back({min, max, mix(below, colour | IM_COL32_A_MASK, alpha)});
}

PanelPart::PanelPart(const Canvas& c, std::string_view name, const Rect& a) { open_part(c, name, a); }
PanelPart::~PanelPart() { close_part(); }

Panel::Panel(const Canvas& c, std::string_view name, const Rect& a, std::string_view title,
             std::string_view subtitle) {
    c.panel(a.x, a.y, a.w, a.h);
    open_part(c, name, a);
    // The title belongs to the panel that it names.
    if (!title.empty()) c.title(a.x, a.y, a.w, title, subtitle);
}
Panel::~Panel() { close_part(); }

Hot hot_area(const Canvas& c, const std::string& id, float x, float y, float w, float h, ItemKind kind) {
    const ImVec2 min = c.device(x, y), size = {std::max(1.0f, w * c.s), std::max(1.0f, h * c.s)};
    ImGui::SetCursorScreenPos(min);
    Hot hot;
    hot.clicked = ImGui::InvisibleButton(id.c_str(), size);
    hot.id = last_item();
    hot.hovered = ImGui::IsItemHovered();
    hot.held = ImGui::IsItemActive();
    hot.double_clicked = hot.hovered && ImGui::IsMouseDoubleClicked(0);
    hot.right_clicked = hot.hovered && ImGui::IsMouseClicked(1);
    if (kind != ItemKind::panel) {
        const FocusAnswer focus = focus_stop(hot.id, min, {min.x + size.x, min.y + size.y});
        hot.focused = focus.focused;
        hot.clicked = hot.clicked || focus.pressed;
    }
    if (item_registry || place_list)
        note_item(kind, min, {min.x + size.x, min.y + size.y}, name_of(id), hot.id);
    return hot;
}

bool button(const Canvas& c, const std::string& id, float x, float y, float w, float h,
            std::string_view label, const ButtonLook& look) {
    const Drawn drawn = draw_button(c, id, x, y, w, h, look);
    drawn.canvas.text_within(x + w / 2, y + h / 2, w - 12, label, look.size, drawn.ink, look.face,
                             Align::center);
    return drawn.hot.clicked;
}

float button_width(std::string_view label, float size) { return text_width(Face::medium, size, label) + 28; }

bool icon_button(const Canvas& c, const std::string& id, float x, float y, float w, float h, Icon icon,
                 const ButtonLook& look) {
    const Drawn drawn = draw_button(c, id, x, y, w, h, look);
    draw_icon(drawn.canvas, icon, x + w / 2, y + h / 2, drawn.ink);
    return drawn.hot.clicked;
}

}  // namespace tilewalk::ui
