// Plots as pictures of their own.
#pragma once

#include "app/render/raster.h"

namespace tilewalk::ui {
struct ChartScene;
struct Theme;
}  // namespace tilewalk::ui

namespace tilewalk {

/// The plots as they stand on the screen, at the scale that the fonts are loaded for; what lies between them
/// is the theme's background. May be called while a frame is being drawn: the picture has a context of its
/// own, which shares the fonts. Without fonts (no context yet) it loads them at scale 2.
Image picture_of_plots(const ui::ChartScene& scene, const ui::Theme& theme);

}  // namespace tilewalk
