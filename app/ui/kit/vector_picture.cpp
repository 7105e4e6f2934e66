#include "app/ui/kit/vector_picture.h"

#include <algorithm>
#include <map>

namespace tilewalk::ui {

VectorPicture* vector_picture = nullptr;

namespace {

struct Box {
    ImVec2 min, max;
};

Box bounds(const VectorShape& shape) {
    Box box = {{1e9f, 1e9f}, {-1e9f, -1e9f}};
    const auto add = [&](ImVec2 p) {
        box.min = {std::min(box.min.x, p.x), std::min(box.min.y, p.y)};
        box.max = {std::max(box.max.x, p.x), std::max(box.max.y, p.y)};
    };
    for (const ImVec2 p : shape.points) add(p);
    for (const VectorRun& run : shape.runs) {
        add({run.at.x, run.at.y - run.em});
        add({run.at.x + run.width, run.at.y + run.em * .3f});
    }
    const bool round = shape.kind == VectorShape::Kind::disc || shape.kind == VectorShape::Kind::ring;
    const float reach = shape.width / 2 + (round ? shape.radius : 0);
    return {{box.min.x - reach, box.min.y - reach}, {box.max.x + reach, box.max.y + reach}};
}

bool transparent(ImU32 colour) { return ((colour >> IM_COL32_A_SHIFT) & 255u) == 0; }

bool nothing_to_see(const VectorShape& shape) {
    if (shape.kind == VectorShape::Kind::text)
        return std::ranges::all_of(shape.runs, [](const VectorRun& run) { return transparent(run.colour); });
    return transparent(shape.colour);
}

// A clip that cuts nothing, or only at the edge of the picture, is none; a sharp rectangle is cut now.
void settle_clip(VectorShape& shape, const Box& box) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize, min = shape.clip_min, max = shape.clip_max;
    const bool inside = (min.x <= 0 || box.min.x >= min.x) && (min.y <= 0 || box.min.y >= min.y) &&
                        (max.x >= screen.x || box.max.x <= max.x) &&
                        (max.y >= screen.y || box.max.y <= max.y);
    const bool sharp = shape.kind == VectorShape::Kind::rect && shape.radius <= 0;
    if (sharp && !inside)
        shape.points = {{std::max(box.min.x, shape.clip_min.x), std::max(box.min.y, shape.clip_min.y)},
                        {std::min(box.max.x, shape.clip_max.x), std::min(box.max.y, shape.clip_max.y)}};
    if (inside || sharp) shape.clip_min = shape.clip_max = {0, 0};
}

}  // namespace

void record(const ImDrawList& layer, VectorShape shape) {
    if (!vector_picture || nothing_to_see(shape)) return;
    VectorPicture& picture = *vector_picture;
    if (picture.frame != ImGui::GetFrameCount()) picture = {{}, ImGui::GetFrameCount()};
    shape.layer = &layer;
    if (shape.clip_max.x <= shape.clip_min.x)
        shape.clip_min = layer.GetClipRectMin(), shape.clip_max = layer.GetClipRectMax();
    const Box box = bounds(shape);
    const bool outside = box.max.x <= shape.clip_min.x || box.max.y <= shape.clip_min.y ||
                         box.min.x >= shape.clip_max.x || box.min.y >= shape.clip_max.y;
    if (outside) return;
    settle_clip(shape, box);
    picture.shapes.push_back(std::move(shape));
}

void record_popup() {
    if (!vector_picture) return;
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize(),
                 screen = ImGui::GetIO().DisplaySize;
    const ImVec2 end = {at.x + size.x, at.y + size.y};
    const ImGuiStyle& style = ImGui::GetStyle();
    const ImDrawList& layer = *ImGui::GetWindowDrawList();
    record(layer, {.kind = VectorShape::Kind::rect,
                   .points = {at, end},
                   .colour = ImGui::GetColorU32(ImGuiCol_PopupBg),
                   .radius = style.PopupRounding,
                   .clip_max = screen});
    record(layer, {.kind = VectorShape::Kind::frame,
                   .points = {{at.x + .5f, at.y + .5f}, {end.x - .5f, end.y - .5f}},
                   .colour = ImGui::GetColorU32(ImGuiCol_Border),
                   .width = style.PopupBorderSize,
                   .radius = style.PopupRounding,
                   .clip_max = screen});
}

void order_layers(VectorPicture& picture, const ImDrawData& drawn) {
    std::map<const ImDrawList*, int> place;
    for (int k = 0; k < drawn.CmdListsCount; ++k) place[drawn.CmdLists[k]] = k;
    std::erase_if(picture.shapes, [&](const VectorShape& shape) { return !place.contains(shape.layer); });
    std::ranges::stable_sort(picture.shapes, {},
                             [&](const VectorShape& shape) { return place.at(shape.layer); });
}

}  // namespace tilewalk::ui
