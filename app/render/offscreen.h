// Pictures of the program without a window.
#pragma once

#include "app/render/raster.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/key.h"
#include "app/ui/kit/vector_picture.h"

#include <functional>
#include <string>
#include <string_view>

namespace tilewalk::ui {
struct AppState;
struct Canvas;
struct ChartScene;
}  // namespace tilewalk::ui

namespace tilewalk {

/// An ImGui context without window, display or settings file; made current while it lives.
class HeadlessContext {
public:
    /// With fonts of its own, or with those of another context.
    explicit HeadlessContext(struct ImFontAtlas* shared_fonts = nullptr);
    ~HeadlessContext();
    HeadlessContext(const HeadlessContext&) = delete;
    HeadlessContext& operator=(const HeadlessContext&) = delete;

    void enter();
    void leave();

private:
    struct ImGuiContext* own_ = nullptr;
    struct ImGuiContext* previous_ = nullptr;
};

/// Runs one frame of `draw` at width × height device px in the current context. Fonts must be loaded.
void run_frame(int width, int height, float seconds, const std::function<void()>& draw);
/// The picture of the frame that ran last.
Image picture_of_frame(int width, int height, ImU32 background);
/// Some rows of it, into an image that has its size.
void draw_rows_of_frame(Image& image, ImU32 background, int first, int end);

/// The program at its current state, drawn until the layout has settled, without motion: its page, or the
/// speaker's view where that has a window of its own. Uses the current
/// ImGui context, or one of its own if there is none; a caller that draws many pictures keeps a
/// HeadlessContext, so that the fonts are built once. Width and height in device px, at least 64 and at most
/// 16384 (otherwise an empty image).
Image render_frame(ui::AppState& state, int width, int height);
/// The drawing alone, in the current ImGui context; false if the size is beyond the limits. Windows of ImGui
/// know their content's size one frame late, popups two: that many passes settle it.
constexpr int settling_passes = 3;
bool settle_frame(ui::AppState& state, int width, int height, int passes = settling_passes);

/// The same a bit in each call, so that a window's frames are drawn in between: letters, then pass by pass.
class Settling {
public:
    /// True: the last pass is left, which makes the picture.
    bool bit(ui::AppState& state, int width, int height);

private:
    int passes_ = 0;
};

/// The program so many seconds after the walk came to its step, whose motion takes `AppState::moves_for`. It
/// must have been drawn at this size before, in the same context.
Image moving_frame(ui::AppState& state, float seconds, int width, int height);

/// Presses and releases a key in the current ImGui context, as the window would report it: a text field that
/// has the caret keeps what belongs to it. `frame` draws one.
void press_key(ui::AppState& state, const ui::KeyPress& press, const std::function<void()>& frame);

// ---- Files

/// The name ends in ".svg", in whatever case.
bool is_svg_path(std::string_view path);

/// The program at its current state as shapes, laid out for width × height device px like render_frame (64 to
/// 16384; otherwise none).
ui::VectorPicture vectors_of_frame(ui::AppState& state, int width, int height, int passes = settling_passes);
/// The same as an SVG file; empty beyond the limits. `prefix` begins every id, for pages that hold several
/// pictures.
std::string svg_of_frame(ui::AppState& state, int width, int height, const std::string& prefix = {},
                         int passes = settling_passes);
/// The shapes of anything else, on a canvas of width × height device px in the current ImGui context.
ui::VectorPicture vectors_of(int width, int height, float scale, bool presenter, const ui::Theme& theme,
                             const std::function<void(const ui::Canvas&)>& draw);

/// A context and fonts of its own; what is drawn in it appears in no list. The frame under way goes on.
class DrawingApart {
public:
    DrawingApart();
    ~DrawingApart();
    DrawingApart(const DrawingApart&) = delete;
    DrawingApart& operator=(const DrawingApart&) = delete;

    /// In between everything is as it was outside.
    void pause();
    void resume();

private:
    void swap();

    ui::FontsAside fonts_;
    HeadlessContext context_;
    ui::ItemRegistry* items_;
    decltype(ui::place_list) places_;
    ui::VectorPicture* vectors_;
    bool paused_ = false;
};

/// What the state shows, without notices and the card that asks for a picture of it.
ui::AppState view_alone(const ui::AppState& state);

/// The plots as they stand on the screen, at the scale that the fonts are loaded for; what lies between them
/// is the theme's background. May be called while a frame is being drawn: the picture has a context of its
/// own, which shares the fonts. Without fonts (no context yet) it loads them at scale 2.
Image picture_of_plots(const ui::ChartScene& scene, const ui::Theme& theme);

}  // namespace tilewalk
