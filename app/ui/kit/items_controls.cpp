// Controls that hold a value: segmented, slider, checkbox, switch, list, stepper, text field; tooltips.
#include "app/ui/kit/focus.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/vector_picture.h"

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tilewalk::ui {
namespace {

constexpr float segment_padding = 12;

float segment_width(std::string_view label, float size) {
    return std::ceil(text_width(Face::medium, size, label) + 2 * segment_padding);
}

/// Value to place on the rail, 0 … 1, and back.
float rail_place(float value, float lo, float hi, bool logarithmic) {
    const float place = logarithmic ? std::log(value / lo) / std::log(hi / lo) : (value - lo) / (hi - lo);
    return place > 0 ? std::min(place, 1.0f) : 0.0f;
}
float rail_value(float place, float lo, float hi, bool logarithmic) {
    place = std::clamp(place, 0.0f, 1.0f);
    return logarithmic ? lo * std::pow(hi / lo, place) : lo + (hi - lo) * place;
}

/// A small control with its label to the right, clickable as one. True when clicked.
Hot labelled(const Canvas& c, const char* id, float x, float y, float box_w, std::string_view label,
             bool enabled) {
    const float w = box_w + 8 + text_width(Face::regular, size::body, label);
    Hot hot = hot_area(c, id, x, y - 14, w, 28);
    if (!enabled) switch_off_stop(), hot = {.id = hot.id};
    (enabled ? c : c.faded(.5f)).text(x + box_w + 8, y, label, size::body, c.theme->t1);
    return hot;
}

void draw_tick(const Canvas& c, float x, float y) {
    const Point tick[] = {{x - 4.5f, y + .5f}, {x - 1.5f, y + 3.5f}, {x + 4.5f, y - 3.5f}};
    c.polyline(tick, c.theme->inv, 2);
}

/// ImGui shows what stands before "##" beside the box.
std::string hidden(const char* id) { return std::string("##") + id; }

/// ImGui's own text box without its frame, centred in the height h; the caller draws what is around it.
bool bare_input(const Canvas& c, const char* id, float x, float y, float w, float h, char* text,
                std::size_t capacity, const FieldLook& look) {
    ImFont* face = font(look.face, look.size);
    const float pad = std::max(0.0f, (h * c.s - line_height(face)) / 2);
    push_font(face);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {10 * c.s, pad});
    for (ImGuiCol slot :
         {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_NavHighlight})
        ImGui::PushStyleColor(slot, ImU32{0});
    ImGui::PushStyleColor(ImGuiCol_Text, c.theme->t1);
    ImGui::PushStyleColor(ImGuiCol_TextDisabled, c.theme->t3);
    ImGui::SetCursorScreenPos(c.device(x, y));
    ImGui::SetNextItemWidth(w * c.s);
    if (look.focus_now) ImGui::SetKeyboardFocusHere();
    const bool result = ImGui::InputTextWithHint(hidden(id).c_str(), look.hint, text, capacity, look.flags);
    ImGui::PopStyleColor(6);
    ImGui::PopStyleVar();
    ImGui::PopFont();
    return result;
}

/// What ImGui shows of the text, from its beginning; without caret and selection.
void record_field(const Canvas& c, float x, float y, float w, float h, std::string_view text,
                  const FieldLook& look) {
    const bool empty = text.empty();
    const float em = baked_em(look.face, look.size);
    ImFont* face = font(look.face, look.size);
    const ImVec2 corner = c.device(x, y);
    const float top = corner.y + std::max(0.0f, (h * c.s - line_height(face)) / 2);
    VectorRun run = {{std::floor(corner.x + 10 * c.s), std::floor(top) + ascent(face)},
                     0,
                     "",
                     look.face,
                     em * c.s,
                     empty ? c.theme->t3 : c.theme->t1};
    run.text = empty ? look.hint : std::string(text);
    run.width = text_width(look.face, em, run.text) * c.s;
    if (run.text.empty()) return;
    record(*c.dl, {.kind = VectorShape::Kind::text,
                   .runs = {run},
                   .clip_min = corner,
                   .clip_max = c.device(x + w, y + h)});
}

void draw_field_frame(const Canvas& c, float x, float y, float w, float h, bool active, bool invalid) {
    c.rect(x, y, w, h, c.theme->well, radius::control);
    const ImU32 edge = invalid ? c.theme->danger : active ? c.theme->focus : c.theme->line2;
    c.frame(x + .5f, y + .5f, w - 1, h - 1, edge, active || invalid ? 2.0f : 1.0f, radius::control);
}

bool read_int(const char* text, int& value) {
    while (*text == ' ') ++text;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    return error == std::errc() && end != text;
}

}  // namespace

// ---- Segmented

float segmented_width(const std::vector<std::string>& labels, float size) {
    float width = 6;
    for (const std::string& label : labels) width += segment_width(label, size);
    return width;
}

bool segmented(const Canvas& c, const char* id, float x, float y, const std::vector<std::string>& labels,
               int& current, float size) {
    const float h = std::max(32.0f, baked_em(Face::medium, size) + 18);
    c.well(x, y, segmented_width(labels, size), h, radius::control);
    int wanted = current;
    float left = x + 3;
    for (int k = 0; k < static_cast<int>(labels.size()); ++k) {
        const std::string& label = labels[static_cast<std::size_t>(k)];
        const float w = segment_width(label, size);
        const Hot hot = hot_area(c, std::string(id) + "/" + label, left, y, w, h);
        const bool on = k == current;
        if (on || hot.held || hot.hovered)
            c.rect(left, y + 3, w, h - 6, on ? c.theme->raised : mix(c.theme->well, c.theme->raised, .6f), 6);
        const ImU32 ink = on || hot.hovered ? c.theme->t1 : c.theme->t2;
        c.text(left + w / 2, y + h / 2, label, size, ink, Face::medium, Align::center);
        const int by = focus_arrow(hot.id).x;
        if (by != 0 && k + by >= 0 && k + by < static_cast<int>(labels.size())) {
            wanted = k + by;
            focus_on(
                ImGui::GetID((std::string(id) + "/" + labels[static_cast<std::size_t>(wanted)]).c_str()));
        }
        if (hot.clicked && !on) wanted = k;
        left += w;
    }
    return std::exchange(current, wanted) != wanted;
}

// ---- Slider, checkbox, switch

bool slider(const Canvas& c, const char* id, float x, float y, float w, float& value, float lo, float hi,
            bool logarithmic) {
    logarithmic = logarithmic && lo > 0;
    const Hot hot = hot_area(c, id, x - 8, y - 14, w + 16, 28, ItemKind::field);
    bool changed = false;
    if (hot.held && w > 0 && hi > lo) {
        const float wanted = rail_value((c.mouse().x - x) / w, lo, hi, logarithmic);
        changed = wanted != value;
        value = wanted;
    }
    if (const int by = focus_arrow(hot.id).x; by != 0 && hi > lo) {
        const float wanted = rail_value(stepped_place(hot.id, rail_place(value, lo, hi, logarithmic), by), lo,
                                        hi, logarithmic);
        changed = changed || wanted != value;
        value = wanted;
    }
    const float place = hi > lo ? rail_place(value, lo, hi, logarithmic) : 0;
    const ImU32 colour = hot.held ? c.theme->focus : c.theme->t1;
    c.rect(x, y - 1.5f, w, 3, c.theme->line2, 1.5f);
    c.rect(x, y - 1.5f, w * place, 3, colour, 1.5f);
    if (hot.hovered || hot.held) c.disc(x + w * place, y, 11, with_alpha(c.theme->t1, .17f));
    c.disc(x + w * place, y, 7, colour);
    return changed;
}

bool checkbox(const Canvas& c, const char* id, float x, float y, std::string_view label, bool& on,
              bool enabled) {
    const Hot hot = labelled(c, id, x, y, 18, label, enabled);
    const Canvas shown = enabled ? c : c.faded(.5f);
    if (hot.clicked) on = !on;
    if (on) shown.rect(x, y - 9, 18, 18, c.theme->t1, 5);
    if (!on) shown.frame(x + 1, y - 8, 16, 16, hot.hovered ? c.theme->t2 : c.theme->t3, 1.5f, 5);
    if (on) draw_tick(shown, x + 9, y);
    return hot.clicked;
}

bool toggle(const Canvas& c, const char* id, float x, float y, std::string_view label, bool& on,
            bool enabled) {
    Hot hot = labelled(c, id, x, y, 34, label, enabled);
    const Canvas shown = enabled ? c : c.faded(.5f);
    const int by = enabled ? focus_arrow(hot.id).x : 0;
    hot.clicked = hot.clicked || (by > 0 && !on) || (by < 0 && on);
    if (hot.clicked) on = !on;
    const ImU32 off_fill = hot.hovered ? c.theme->t3 : c.theme->line2;
    shown.rect(x, y - 10, 34, 20, on ? c.theme->t1 : off_fill, 10);
    shown.disc(x + (on ? 24 : 10), y, 7, on ? c.theme->inv : c.theme->panel);
    return hot.clicked;
}

// ---- Drop-down list

Dropdown::Dropdown(const Canvas& c, const std::string& id, const Rect& area, std::string_view label,
                   const ButtonLook& look) {
    const auto& [x, y, w, h] = area;
    const std::string popup = id + "##list";
    if (button(c, id, x, y, w, h, "", look)) ImGui::OpenPopup(popup.c_str());
    const Canvas shown = look.enabled ? c : c.faded(.5f);
    shown.text_within(x + 12, y + h / 2, w - 40, label, look.size, c.theme->t1, look.face);
    const float tx = x + w - 17, ty = y + h / 2;
    shown.polygon({{tx - 5, ty - 3}, {tx + 5, ty - 3}, {tx, ty + 3}}, c.theme->t2);

    // Down below, or up from a button that stands low in the window.
    const bool up = c.device(x, y).y > ImGui::GetIO().DisplaySize.y * .7f;
    ImGui::SetNextWindowPos(c.device(x, up ? y - 4 : y + h + 4), ImGuiCond_Always, {0, up ? 1.0f : 0.0f});
    ImGui::SetNextWindowSizeConstraints({w * c.s, 0}, {FLT_MAX, ImGui::GetIO().DisplaySize.y * .7f});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {6 * c.s, 6 * c.s});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::PushStyleColor(ImGuiCol_Border, c.theme->line2);
    open = ImGui::BeginPopup(popup.c_str());
    if (open) keep_focus_here(true);
    if (open && focus_closes_popup()) ImGui::CloseCurrentPopup();
    if (open) record_popup();
    if (open && item_registry) {
        const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
        note_fill(at, {at.x + size.x, at.y + size.y}, c.theme->raised);
    }
    if (!open) ImGui::PopStyleColor(), ImGui::PopStyleVar(2);
}

Dropdown::~Dropdown() {
    if (!open) return;
    ImGui::EndPopup();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
}

bool dropdown_item(const Canvas& opener, const std::string& id, std::string_view label, bool selected,
                   std::string_view note, bool enabled, bool marked) {
    const Canvas c = opener.in_window();
    const ImVec2 cursor = ImGui::GetCursorScreenPos();
    const float x = (cursor.x - c.x0) / c.s, y = (cursor.y - c.y0) / c.s;
    const float label_w = text_width(Face::medium, size::body, label);
    const float note_w = note.empty() ? 0 : text_width(Face::regular, size::small, note) + 16;
    const float h = std::max(34.0f, baked_em(Face::medium, size::body) + 18);
    const float room = ImGui::GetContentRegionAvail().x / c.s, w = std::max(room, 34 + label_w + note_w + 12);
    Hot hot = hot_area(c, id, x, y, w, h);
    if (!enabled) switch_off_stop(), hot = {.id = hot.id};
    if (hot.hovered || hot.focused || marked) c.rect(x, y, w, h, mix(c.theme->raised, c.theme->t1, .10f), 6);
    if (selected) c.disc(x + 16, y + h / 2, 3.5f, c.theme->t1);
    const Canvas shown = enabled ? c : c.faded(.5f);
    shown.text(x + 30, y + h / 2, label, size::body, c.theme->t1, Face::medium);
    if (!note.empty()) shown.text(x + w - 12, y + h / 2, note, size::small, c.theme->t2, Align::right);
    if (hot.clicked) ImGui::CloseCurrentPopup();
    return hot.clicked;
}

// ---- Stepper and text field

bool stepper(const Canvas& c, const char* id, float x, float y, float w, int& value, int lo, int hi,
             bool enabled) {
    const float h = std::max(32.0f, baked_em(Face::mono, size::lead) + 16), side = h;
    const int before = value;
    const std::string name = id;
    const bool buttons = w >= 2 * side + 52;  // otherwise the number needs all the room
    ButtonLook less, more;
    less.enabled = enabled && value > lo;
    more.enabled = enabled && value < hi;
    if (buttons && icon_button(c, name + "/less", x, y, side, h, Icon::minus, less)) --value;
    if (buttons && icon_button(c, name + "/more", x + w - side, y, side, h, Icon::plus, more)) ++value;

    char digits[16];
    std::snprintf(digits, sizeof digits, "%d", value);
    FieldLook look;
    look.face = Face::mono;
    look.flags = ImGuiInputTextFlags_CharsDecimal | ImGuiInputTextFlags_AutoSelectAll |
                 ImGuiInputTextFlags_EnterReturnsTrue | (enabled ? 0 : ImGuiInputTextFlags_ReadOnly);
    const float inset = buttons ? side + 4 : 0;
    const FieldResult typed =
        text_field(c, (name + "/value").c_str(), x + inset, y, w - 2 * inset, h, digits, sizeof digits, look);
    int wanted = value;
    if ((typed.entered || typed.left) && read_int(digits, wanted)) value = wanted;
    if (value != before) value = std::clamp(value, lo, std::max(lo, hi));
    return value != before;
}

FieldResult text_field(const Canvas& c, const char* id, float x, float y, float w, float h, char* text,
                       std::size_t capacity, const FieldLook& look) {
    FieldResult result;
    const std::string before = text;
    const ImGuiID item = ImGui::GetID(hidden(id).c_str());
    const bool active = item == active_item(), writable = (look.flags & ImGuiInputTextFlags_ReadOnly) == 0;
    FieldLook shown = look;
    if (writable) shown.focus_now |= focus_stop(item, c.device(x, y), c.device(x + w, y + h), true).entered;
    draw_field_frame(c, x, y, w, h, active, look.invalid);
    forget_edits_of_other_text(item, text);
    const bool returned = bare_input(c, id, x, y, w, h, text, capacity, shown);
    if (vector_picture) record_field(c, x, y, w, h, text, look);
    result.active = ImGui::IsItemActive();
    result.left = ImGui::IsItemDeactivated();
    result.changed = before != text;
    result.entered =
        (look.flags & ImGuiInputTextFlags_EnterReturnsTrue) ? returned : result.left && enter_pressed();
    if (item_registry) {
        note_item(ItemKind::field, c.device(x, y), c.device(x + w, y + h), id, last_item());
        item_registry->items.back().faint = !writable;
    }
    return result;
}

// ---- Scroll bar and tooltip

void scroll_bar(const Canvas& c, const Rect& a, float first, float fit, float count) {
    c.rect(a.right() - 5, a.y + a.h * first / count, 4, a.h * fit / count, c.theme->line2, 2);
}

void tooltip(const Canvas& c, std::string_view text, bool at_once) {
    if (text.empty() || rests_since_key() || (!at_once && hover_seconds() < .35f)) return;
    constexpr float widest = 340;
    const float em = baked_em(Face::regular, size::body), room = widest * std::max(1.0f, em / 14);
    const float width = std::min(room, text_width(Face::regular, em, text) + 1);
    const float height = paragraph_height(width, text, em);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {10 * c.s, 7 * c.s});
    ImGui::PushStyleColor(ImGuiCol_Border, c.theme->line2);
    ImGui::BeginTooltip();
    Canvas inside = c.in_window();
    inside.opacity = 1;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    inside.x0 = at.x, inside.y0 = at.y;
    ImGui::Dummy({width * c.s, height * c.s});
    record_popup();
    note_fill(at, {at.x + width * c.s, at.y + height * c.s}, c.theme->raised);
    inside.paragraph(0, 0, width, text, em, c.theme->t1);
    ImGui::EndTooltip();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
}

}  // namespace tilewalk::ui
