// Pictures of the program as vectors: what render_frame shows, with text as text.
#pragma once

#include <string>
#include <string_view>

namespace tilewalk::ui {
struct AppState;
}

namespace tilewalk {

/// The name ends in ".svg", in whatever case.
bool is_svg_path(std::string_view path);

/// The program at its current state as an SVG file, laid out for width × height device px like render_frame
/// (64 to 16384; otherwise empty). `prefix` begins every id, for pages that hold several pictures.
std::string svg_of_frame(ui::AppState& state, int width, int height, const std::string& prefix = {});

}  // namespace tilewalk
