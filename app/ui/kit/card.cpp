#include "app/ui/kit/card.h"

#include "app/ui/kit/focus.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::ui {

namespace {

bool keep_focus = false;  // the card that opens next lies over a dimmed page: Tab stays in it

float overlap(const Rect& a, const Rect& b) {
    const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x),
                h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
    return w > 0 && h > 0 ? w * h : 0;
}

}  // namespace

Rect place_card(float w, float h, float W, float H, const Rect& keep_free) {
    constexpr float margin = 16, header = 52;
    const float left = margin, middle = (W - w) / 2, right = W - margin - w;
    const float top = header + margin, centre = (H - h) / 2, bottom = H - margin - h;
    const Rect places[] = {{right, bottom, w, h}, {left, bottom, w, h},   {right, top, w, h},
                           {left, top, w, h},     {middle, bottom, w, h}, {middle, top, w, h},
                           {right, centre, w, h}, {left, centre, w, h}};
    Rect best = places[0];
    float least = std::numeric_limits<float>::infinity();
    for (const Rect& place : places) {
        const float hidden = overlap(place, keep_free);
        if (hidden >= least) continue;
        least = hidden;
        best = place;
    }
    return best;
}

Rect centred_card(const Canvas& c, float w, float h, float W, float H) {
    c.rect(0, 0, W, H, with_alpha(c.theme->bg, .6f));
    keep_focus = true;
    return {(W - w) / 2, (H - h) / 2, w, h};
}

bool begin_card(const Canvas& c, const char* name, const Rect& a) {
    // Whole pixels, all of the card: ImGui cuts off the rest, and with it a border.
    const ImVec2 from = c.device(a.x, a.y), to = c.device(a.right(), a.bottom());
    const ImVec2 first{std::floor(from.x), std::floor(from.y)};
    ImGui::SetNextWindowPos(first);
    ImGui::SetNextWindowSize({std::ceil(to.x) - first.x, std::ceil(to.y) - first.y});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    const bool open = ImGui::Begin(name, nullptr,
                                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                                       ImGuiWindowFlags_NoBackground);
    ImGui::PopStyleVar(2);
    if (keep_focus) keep_focus_here();
    keep_focus = false;
    return open;
}

void end_card() { ImGui::End(); }

}  // namespace tilewalk::ui
