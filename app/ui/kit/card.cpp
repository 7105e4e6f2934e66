#include "app/ui/kit/card.h"

#include "app/ui/kit/focus.h"
#include "app/ui/kit/imgui_compat.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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

static std::string shield_of(const char* card) { return std::string("##below ") + card; }

void stack_cards(std::span<const char* const> names) {
    std::vector<std::string> order;
    for (const char* name : names) {
        if (const std::string shield = shield_of(name); is_shown(shield.c_str())) order.push_back(shield);
        order.emplace_back(name);
    }
    for (std::size_t n = 1; n < order.size(); ++n)
        if (lies_above(order[n - 1].c_str(), order[n].c_str())) bring_to_front(order[n].c_str());
}

// A window over all of the page, just below the card: nothing there is pointed at, or scrolled.
static void hold_off_pointer(const char* card) {
    const std::string name = shield_of(card);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin(name.c_str(), nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground |
                     ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::End();
}

void show_card(const Canvas& c, const char* name, const Rect& a,
               const std::function<void(const Canvas&)>& draw, Below below) {
    // Whole pixels, all of the card: ImGui cuts off the rest, and with it a border.
    const ImVec2 from = c.device(a.x, a.y), to = c.device(a.right(), a.bottom());
    const ImVec2 first{std::floor(from.x), std::floor(from.y)};
    if (below == Below::dimmed) {
        const ImVec2 screen = ImGui::GetIO().DisplaySize;
        c.rect(0, 0, screen.x / c.s, screen.y / c.s, with_alpha(c.theme->bg, .6f));
        hold_off_pointer(name);
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
