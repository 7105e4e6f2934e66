// Pictures of the program without a window.
#pragma once

#include "app/render/raster.h"

#include <functional>

namespace tilewalk::ui {
struct AppState;
}

namespace tilewalk {

/// An ImGui context without window, display or settings file; made current while it lives.
class HeadlessContext {
public:
    /// With fonts of its own, or with those of another context.
    explicit HeadlessContext(struct ImFontAtlas* shared_fonts = nullptr);
    ~HeadlessContext();
    HeadlessContext(const HeadlessContext&) = delete;
    HeadlessContext& operator=(const HeadlessContext&) = delete;

private:
    struct ImGuiContext* own_ = nullptr;
    struct ImGuiContext* previous_ = nullptr;
};

/// Runs one frame of `draw` at width × height device px in the current context. Fonts must be loaded.
void run_frame(int width, int height, float seconds, const std::function<void()>& draw);
/// The picture of the frame that ran last.
Image picture_of_frame(int width, int height, ImU32 background);

/// The program at its current state, drawn until the layout has settled, without motion. Uses the current
/// ImGui context, or one of its own if there is none; a caller that draws many pictures keeps a
/// HeadlessContext, so that the fonts are built once. Width and height in device px, at least 64 and at most
/// 16384 (otherwise an empty image).
Image render_frame(ui::AppState& state, int width, int height);
/// The drawing alone, in the current ImGui context; false if the size is beyond the limits.
bool settle_frame(ui::AppState& state, int width, int height);

}  // namespace tilewalk
