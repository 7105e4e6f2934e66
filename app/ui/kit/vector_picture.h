// What a frame drew, as shapes and texts instead of triangles: the source of pictures that are true vectors.
#pragma once

#include "app/ui/kit/fonts.h"

#include <imgui.h>
#include <string>
#include <vector>

namespace tilewalk::ui {

struct Canvas;

/// Letters in one style, in device px. A tilde over a letter is the combining character behind it.
struct VectorRun {
    ImVec2 at;  ///< the left end of the baseline
    float width = 0;
    std::string text;
    Face face = Face::regular;
    float em = 0;
    ImU32 colour = 0;
};

/// One logical shape in device px, already tinted, with what cuts it.
struct VectorShape {
    enum class Kind { rect, frame, polygon, polyline, lines, disc, ring, bezier, text };
    Kind kind = Kind::rect;
    /// rect and frame: two corners (of a frame: the middle of its stroke); lines: pairs of ends; disc and
    /// ring: the centre; bezier: four control points.
    std::vector<ImVec2> points = {};
    ImU32 colour = 0;
    float width = 0;   ///< of a stroke
    float radius = 0;  ///< of corners, disc and ring
    bool closed = false;
    float dash_on = 0, dash_off = 0;   ///< on = 0: drawn through
    std::vector<VectorRun> runs = {};  ///< one text; indices and exponents are runs of their own
    float anchor = 0;                  ///< 0, ½, 1: which part of the text keeps its place

    ImVec2 clip_min = {}, clip_max = {};
    const ImDrawList* layer = nullptr;
};

/// Everything drawn since the frame began. Emptied by the first shape of a new frame.
struct VectorPicture {
    std::vector<VectorShape> shapes;
    int frame = -1;
};

/// Set while a picture is made; null costs one comparison per shape.
extern VectorPicture* vector_picture;

/// Adds a shape that goes into this draw list, unless nothing of it can be seen.
void record(const ImDrawList& layer, VectorShape shape);
/// Background and border of ImGui's current window (a popup, a tooltip), which ImGui draws by itself.
void record_popup();

/// Puts the shapes in the order in which ImGui's draw lists lie over each other, once the frame is drawn, and
/// drops those of windows that are not shown.
void order_layers(VectorPicture& picture, const ImDrawData& drawn);

/// A whole SVG file of this size in px. `prefix` begins every id, for pages that hold several pictures.
std::string to_svg(const VectorPicture& picture, int width, int height, const std::string& prefix = {});

}  // namespace tilewalk::ui
