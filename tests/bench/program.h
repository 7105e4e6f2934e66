// Runs the program itself and takes its times.
#pragma once

#include "tests/bench/timing.h"

namespace tilewalk::bench {

/// From the start of the process to the first picture in a window, as the program reports it. On the display
/// that is set, else on a virtual one.
Row first_frame(const std::string& program);
/// One picture of one step on disk, from start to exit.
Row render_one_step(const std::string& program);
/// What a second of film takes, 1920 × 1080 at 30 pictures a second, with ffmpeg's part of it.
Row second_of_film(const std::string& program);

}  // namespace tilewalk::bench
