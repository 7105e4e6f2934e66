#include "app/render/svg_picture.h"

#include "app/render/offscreen.h"
#include "app/ui/vector_picture.h"

#include <algorithm>
#include <cctype>
#include <imgui.h>
#include <optional>
#include <utility>

namespace tilewalk {

namespace {

// Records while it lives.
struct Recording {
    ui::VectorPicture picture;
    ui::VectorPicture* before = std::exchange(ui::vector_picture, &picture);
    Recording() = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() { ui::vector_picture = before; }
};

}  // namespace

bool is_svg_path(std::string_view path) {
    constexpr std::string_view ending = ".svg";
    if (path.size() < ending.size()) return false;
    return std::ranges::equal(path.substr(path.size() - ending.size()), ending,
                              [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

std::string svg_of_frame(ui::AppState& state, int width, int height, const std::string& prefix) {
    std::optional<HeadlessContext> context;
    if (!ImGui::GetCurrentContext()) context.emplace();
    Recording recording;
    if (!settle_frame(state, width, height)) return {};
    ui::order_layers(recording.picture, *ImGui::GetDrawData());
    return ui::to_svg(recording.picture, width, height, prefix);
}

}  // namespace tilewalk
