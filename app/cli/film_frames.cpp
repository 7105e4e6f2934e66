#include "app/cli/film_frames.h"

#include "app/cli/session.h"
#include "app/render/offscreen.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/words.h"
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

// Moves for so long, and is shown for as long as so many words take to be read.
Scene scene_at(int at, float wanted, int words, const FilmLook& look) {
    double seconds = static_cast<double>(wanted) + rest_seconds;
    if (words > 0) seconds = std::max(seconds, words / words_per_second + rest_seconds / 2);
    if (look.seconds_per_step) seconds = *look.seconds_per_step;
    Scene scene{.at = at, .motion = std::min(wanted, static_cast<float>(seconds) * most_of_a_scene)};
    scene.moving = wanted > 0 ? frames_in(static_cast<double>(scene.motion), look.fps) : 0;
    scene.resting = std::max(1, frames_in(seconds, look.fps) - scene.moving);
    return scene;
}

// The stop that the tour stands at, whose walk is there. What has just been seen to happen stands still.
Scene scene_of_stop(const ui::AppState& state, const TourStop* before, const FilmLook& look) {
    const TourStop& stop = state.tour->stop();
    const bool again = before && before->lesson == stop.lesson && before->problem == stop.problem &&
                       before->page == stop.page && before->step == stop.step;
    const bool moves = state.page == ui::Page::walk && !again;
    int words = words_in(stop.heading);
    for (const Line& paragraph : filled_text(stop, *state.trace)) words += words_in(plain(paragraph));
    const float motion = moves ? ui::motion_of(*state.trace, stop.step) : 0;
    Scene scene = scene_at(state.tour->at, motion, words, look);
    scene.title = str(state.tour->at + 1) + " · " + stop.heading;
    // Players have one list: a chapter's name stands before its first stop.
    const auto chapter = chapter_place(state.tour->script, state.tour->at);
    if (chapter && chapter->stop == 1) scene.title = chapter_words(*chapter) + ": " + scene.title;
    return scene;
}

// In front of what means something in a file of ffmpeg's.
std::string for_ffmpeg(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view("=;#\\\n").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

Scene scene_of(const Trace& trace, int k, const FilmLook& look) {
    int words = 0;
    if (look.settings.subtitles) {
        const CellRef cell = cell_of_row(trace, k, step_region(trace, k).row);
        words = words_in(spoken(trace, k, explain(trace, k, cell)));
    }
    return scene_at(k, ui::motion_of(trace, k), words, look);
}

FilmFrames::FilmFrames(ui::AppState state, const FilmLook& look, int first, int last)
    : state_(std::move(state)), look_(look) {
    state_.presenter = state_.to_take_along = true;
    const PlainNumbers as_in_every_file;
    const TourStop* before = nullptr;
    for (int n = first; n <= last; ++n) {
        if (!state_.tour) {
            scenes_.push_back(scene_of(*state_.trace, n, look_));
            continue;
        }
        settle_at_stop(state_, n);
        scenes_.push_back(scene_of_stop(state_, before, look_));
        before = &state_.tour->stop();
    }
}

void FilmFrames::go_to(const Scene& scene) {
    if (state_.tour)
        settle_at_stop(state_, scene.at);
    else
        ui::go_to(state_, at_step(*state_.trace, scene.at));
    state_.presenter = true;  // whatever the stop says
}

std::string FilmFrames::chapters() const {
    if (!state_.tour) return {};
    std::string out = ";FFMETADATA1\n";
    int from = 0;
    for (const Scene& scene : scenes_) {
        const int to = from + scene.moving + scene.resting;
        out += "[CHAPTER]\nTIMEBASE=1/" + str(look_.fps) + "\nSTART=" + str(from) + "\nEND=" + str(to) +
               "\ntitle=" + for_ffmpeg(scene.title) + "\n";
        from = to;
    }
    return out;
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
        go_to(scene);
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
        go_to(scene);
        if (auto taken = take(render_frame(state_, look_.size.width, look_.size.height)); !taken)
            return taken;
    }
    return {};
}

}  // namespace tilewalk
