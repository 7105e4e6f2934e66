#include "app/render/svg_picture.h"

#include "app/render/offscreen.h"
#include "app/ui/kit/vector_picture.h"
#include "core/base/words.h"

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

bool is_svg_path(std::string_view path) { return lower_case(path).ends_with(".svg"); }

std::string svg_of_frame(ui::AppState& state, int width, int height, const std::string& prefix) {
    std::optional<HeadlessContext> context;
    if (!ImGui::GetCurrentContext()) context.emplace();
    Recording recording;
    if (!settle_frame(state, width, height)) return {};
    ui::order_layers(recording.picture, *ImGui::GetDrawData());
    return ui::to_svg(recording.picture, width, height, prefix);
}

}  // namespace tilewalk
