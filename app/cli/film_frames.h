// The frames of a film: the steps of a walk or the stops of a tour in presenter mode, each first as it
// happens, then at rest.
#pragma once

#include "app/cli/values.h"
#include "app/render/raster.h"
#include "app/ui/state/app_state.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

struct FilmLook {
    Size size{1920, 1080};
    int fps = 30;
    std::optional<double> seconds_per_step;
    ui::Settings settings;
};

/// A step or a stop of the film, in frames.
struct Scene {
    int at = 0;  ///< the step, or the stop
    int moving = 0, resting = 0;
    float motion = 0;     ///< seconds
    std::string title{};  ///< of a chapter; empty: it is none
};
/// How long step k is shown: as long as it moves and its sentence takes to be read.
Scene scene_of(const Trace& trace, int k, const FilmLook& look);

class FilmFrames {
public:
    /// Of its steps `first` to `last`; while a tour runs, of its stops.
    FilmFrames(ui::AppState state, const FilmLook& look, int first, int last);

    const FilmLook& look() const { return look_; }
    int frames() const;
    double seconds() const { return static_cast<double>(frames()) / look_.fps; }

    /// Every frame in order; one that stays is drawn once and taken so many times.
    Result<void> draw(const std::function<Result<void>(const Image&, int times)>& take);
    /// Where the stops of a tour begin, as ffmpeg reads it; empty without a tour.
    std::string chapters() const;
    /// The end of every scene: all colours that the film has.
    Result<void> draw_ends(const std::function<Result<void>(const Image&)>& take);

private:
    void go_to(const Scene& scene);

    ui::AppState state_;
    FilmLook look_;
    std::vector<Scene> scenes_;
};

}  // namespace tilewalk
