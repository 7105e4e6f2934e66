#include "app/ui/kit/card.h"

#include "app/ui/kit/focus.h"
#include "app/ui/kit/imgui_compat.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

float overlap(const Rect& a, const Rect& b) {
    const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x),
                h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
    return w > 0 && h > 0 ? w * h : 0;
}

}  // namespace

std::array<Rect, 8> card_places(float w, float h, float W, float H) {
    constexpr float margin = 16, header = 52;
    const float left = margin, middle = (W - w) / 2, right = W - margin - w;
    const float top = header + margin, centre = (H - h) / 2, bottom = H - margin - h;
    return {{{right, bottom, w, h},
             {left, bottom, w, h},
             {right, top, w, h},
             {left, top, w, h},
             {middle, bottom, w, h},
             {middle, top, w, h},
             {right, centre, w, h},
             {left, centre, w, h}}};
}

float hidden_by(const Rect& card, std::span<const Rect> keep_free) {
    float hidden = 0;
    for (const Rect& place : keep_free) hidden += overlap(card, place);
    return hidden;
}

bool clicked_beside() {
    return ImGui::IsMouseClicked(0) && !ImGui::IsWindowAppearing() &&
           !ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
}

void stack_cards(std::span<const char* const> names) {
    for (std::size_t n = 1; n < names.size(); ++n)
        if (lies_above(names[n - 1], names[n])) bring_to_front(names[n]);
}

void show_card(const Canvas& c, const char* name, const Rect& a,
               const std::function<void(const Canvas&)>& draw, Below below) {
    // Whole pixels, all of the card: ImGui cuts off the rest, and with it a border.
    const ImVec2 from = c.device(a.x, a.y), to = c.device(a.right(), a.bottom());
    const ImVec2 first{std::floor(from.x), std::floor(from.y)};
    if (below == Below::dimmed) {
        const ImVec2 screen = ImGui::GetIO().DisplaySize;
        c.rect(0, 0, screen.x / c.s, screen.y / c.s, with_alpha(c.theme->bg, .6f));
    }
    ImGui::SetNextWindowPos(first);
    ImGui::SetNextWindowSize({std::ceil(to.x) - first.x, std::ceil(to.y) - first.y});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    const bool open = ImGui::Begin(name, nullptr,
                                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                                       ImGuiWindowFlags_NoBackground);
    ImGui::PopStyleVar(2);
    if (below == Below::dimmed) keep_focus_here();
    if (open) {
        const Canvas inside = c.in_window();
        const Panel panel(inside, name, a);
        draw(inside);
    }
    ImGui::End();
}

}  // namespace tilewalk::ui
