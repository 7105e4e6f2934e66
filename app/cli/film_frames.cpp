#include "app/cli/film_frames.h"

#include "app/render/offscreen.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/class/spoken.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk {
namespace {

constexpr double words_per_second = 3;
constexpr double rest_seconds = 1;      // at least, after the motion
constexpr float most_of_a_scene = .7f;  // moves, where the scene is given its length

int words_in(const std::string& text) { return 1 + static_cast<int>(std::ranges::count(text, ' ')); }

int frames_in(double seconds, int fps) { return std::max(1, static_cast<int>(std::lround(seconds * fps))); }

}  // namespace

Scene scene_of(const Trace& trace, int k, const FilmLook& look) {
    const float wanted = ui::motion_of(trace.step(k).op);
    double seconds = static_cast<double>(wanted) + rest_seconds;
    if (look.settings.subtitles) {
        const CellRef cell = cell_of_row(trace, k, step_region(trace, k).row);
        const int words = words_in(spoken(trace, k, explain(trace, k, cell)));
        seconds = std::max(seconds, words / words_per_second + rest_seconds / 2);
    }
    if (look.seconds_per_step) seconds = *look.seconds_per_step;
    Scene scene{.step = k, .motion = std::min(wanted, static_cast<float>(seconds) * most_of_a_scene)};
    scene.moving = frames_in(static_cast<double>(scene.motion), look.fps);
    scene.resting = std::max(1, frames_in(seconds, look.fps) - scene.moving);
    return scene;
}

FilmFrames::FilmFrames(ui::AppState state, const FilmLook& look, int first, int last)
    : state_(std::move(state)), look_(look) {
    state_.presenter = true;
    for (int k = first; k <= last; ++k) scenes_.push_back(scene_of(*state_.trace, k, look_));
}

int FilmFrames::frames() const {
    return std::accumulate(scenes_.begin(), scenes_.end(), 0,
                           [](int sum, const Scene& s) { return sum + s.moving + s.resting; });
}

Result<void> FilmFrames::draw(const std::function<Result<void>(const Image&, int times)>& take) {
    const PlainNumbers as_in_every_file;
    const HeadlessContext context;
    const auto [width, height] = look_.size;
    for (const Scene& scene : scenes_) {
        ui::go_to(state_, at_step(*state_.trace, scene.step));
        // At rest first, so that the layout has settled before anything moves.
        const Image end = render_frame(state_, width, height);
        state_.moves_for = scene.motion;
        for (int n = 0; n < scene.moving; ++n) {
            const float seconds = static_cast<float>(n) / static_cast<float>(look_.fps);
            if (auto taken = take(moving_frame(state_, seconds, width, height), 1); !taken) return taken;
        }
        if (auto taken = take(end, scene.resting); !taken) return taken;
    }
    return {};
}

Result<void> FilmFrames::draw_ends(const std::function<Result<void>(const Image&)>& take) {
    const PlainNumbers as_in_every_file;
    const HeadlessContext context;
    for (const Scene& scene : scenes_) {
        ui::go_to(state_, at_step(*state_.trace, scene.step));
        if (auto taken = take(render_frame(state_, look_.size.width, look_.size.height)); !taken)
            return taken;
    }
    return {};
}

}  // namespace tilewalk
