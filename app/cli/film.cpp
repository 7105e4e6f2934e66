// tilewalk film
#include "app/cli/child.h"
#include "app/cli/commands.h"
#include "app/cli/ffmpeg.h"
#include "app/cli/hooks.h"
#include "app/cli/progress_line.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/text.h"
#include "core/walk/playback.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>

namespace tilewalk {
namespace {

namespace fs = std::filesystem;

constexpr Size smallest{640, 360}, largest{3840, 2160};
constexpr const char* expected_size = "WxH from 640x360 to 3840x2160";
constexpr double longest = 30 * 60;  // seconds

// ---- Words

// What -o asks for: a kind of film, or null for a folder of frames.
Result<const FilmFormat*> format_of(const std::string& path) {
    const std::string ending = lower_case(fs::path(path).extension().string());
    if (const FilmFormat* format = film_format(ending)) return format;
    if (ending.empty() || fs::is_directory(path)) return nullptr;
    return Failure{"-o is " + in_quotes(path) +
                   ", expected a name that ends in .mp4, .webm or .gif, or a folder for the frames."};
}

Result<FilmLook> read_look(const Arguments& a, const FilmFormat* format) {
    FilmLook look;
    WordReader read;
    read_theme(read, a.theme, look.settings);
    read.choose("--palette", a.palette, {"usual", "safe"}, look.settings.palette);
    read.count("--fps", a.fps, 1, 60, look.fps);
    read.take(a.seconds_per_step, look.seconds_per_step, [](const std::string& text) -> Result<double> {
        constexpr const char* expected = "a number from 1 to 60";
        auto seconds = finite_number("--seconds-per-step", text, expected);
        if (!seconds || (*seconds >= 1 && *seconds <= 60)) return seconds;
        return Failure{"--seconds-per-step is " + in_quotes(text) + ", expected " + expected + "."};
    });
    read.take(a.size, look.size,
              [](const std::string& text) { return size_pair("--size", text, expected_size); });
    const auto [w, h] = look.size;
    read.refuse(w < smallest.width || h < smallest.height || w > largest.width || h > largest.height,
                "--size is " + in_quotes(a.size.value_or("")) + ", expected " + expected_size + ".");
    read.refuse(format && format->even && (w % 2 != 0 || h % 2 != 0),
                "--size is " + in_quotes(a.size.value_or("")) + ", expected even numbers for " +
                    std::string(format ? format->ending : "") + ".");
    if (!read.error.empty()) return Failure{read.error};
    look.settings.subtitles = !a.no_subtitles;
    return look;
}

Result<StepRange> read_range(const Arguments& a, int count) {
    StepRange range{1, count};
    WordReader read;
    read.count("--from", a.from, 1, count, range.first);
    read.count("--to", a.to, 1, count, range.last);
    read.refuse(range.first > range.last,
                "--from is " + str(range.first) + ", which comes after --to " + str(range.last) + ".");
    if (!read.error.empty()) return Failure{read.error};
    return StepRange{range.first - 1, range.last - 1};
}

std::string minutes(double seconds) { return counted(static_cast<int>(std::lround(seconds / 60)), "minute"); }

// The walk or the tour that is filmed.
Result<ui::AppState> state_to_film(const Arguments& a, const FilmLook& look) {
    if (a.tour) {
        if (auto sentence = refuse_beside_tour(a)) return Failure{*sentence};
        if (a.no_subtitles)
            return Failure{"The card of a stop is what the film of a tour tells; leave out --no-subtitles."};
        auto tour = read_tour(*a.tour);
        if (!tour) return Failure{tour.error};
        return state_in_tour(std::move(tour->script), look.settings);
    }
    const auto walk = named_walk(a);
    if (!walk) return Failure{walk.error};
    return make_state(walk->lesson, walk->problem, look.settings);
}

// ---- Into a folder

std::string frame_name(int n) {
    const std::string number = str(n);
    return "frame-" + std::string(5 - std::min<std::size_t>(5, number.size()), '0') + number + ".png";
}

// Frames of a longer film that was there before would be joined to this one.
void remove_frames_from(const std::string& folder, int n) {
    std::error_code none;
    while (fs::remove(fs::path(folder) / frame_name(n), none)) ++n;
}

Result<void> write_folder(FilmFrames& film, const std::string& folder) {
    auto made = make_folder(folder);
    if (!made) return Failure{made.error};
    StagedFiles files;
    const ProgressLine progress;
    int n = 0;
    auto drawn = film.draw([&](const Image& image, int times) -> Result<void> {
        const std::string png = encode_png(image);
        for (int shown = 0; shown < times; ++shown) {
            const std::string path = (fs::path(folder) / frame_name(++n)).string();
            if (auto added = files.add(path, [&](std::ostream& out) { out << png; }); !added) return added;
        }
        progress.show(str(n) + " of " + counted(film.frames(), "frame"));
        return {};
    });
    if (!drawn) return drawn;
    if (auto placed = files.put_in_place(); !placed) return placed;
    remove_frames_from(folder, n + 1);
    if (*made) (*made)->keep();
    return {};
}

Outcome folder_of_frames(FilmFrames& film, const std::string& folder, const std::string& target,
                         const std::string& why) {
    if (const auto done = write_folder(film, folder); !done) return written(done);
    const std::string pictures = (fs::path(folder) / "frame-%05d.png").string();
    return {Exit::done, why + counted(film.frames(), "frame") + " lie in the folder " + folder +
                            "; ffmpeg makes a film of them: ffmpeg -framerate " + str(film.look().fps) +
                            " -i " + pictures + " -pix_fmt yuv420p " + target};
}

// ---- Into a film

// A name that cannot be written is found out before the film is drawn.
Result<void> try_to_write(const std::string& path) {
    StagedFiles files;
    return files.add(path, [](std::ostream&) {});
}

Result<std::string> encode(FilmFrames& film, const std::string& program, const FilmFormat& format) {
    std::string second = format.own_palette ? "" : film.chapters();
    const bool chapters = !second.empty();
    if (format.own_palette) {
        auto colours = Ffmpeg::start(program, palette_arguments(film.look()), "");
        if (!colours) return Failure{colours.error};
        const auto seen = film.draw_ends([&](const Image& image) { return colours->write(image.rgba); });
        auto made = seen ? colours->finish() : Result<std::string>(Failure{seen.error});
        if (!made) return made;
        second = std::move(*made);
    }
    auto encoder = Ffmpeg::start(program, film_arguments(film.look(), format, chapters), second);
    if (!encoder) return Failure{encoder.error};
    const ProgressLine progress;
    int n = 0;
    auto drawn = film.draw([&](const Image& image, int times) -> Result<void> {
        for (int shown = 0; shown < times; ++shown)
            if (auto taken = encoder->write(image.rgba); !taken) return taken;
        n += times;
        progress.show(str(n) + " of " + counted(film.frames(), "frame"));
        return {};
    });
    if (!drawn) return Failure{drawn.error};
    return encoder->finish();
}

Outcome write_film(FilmFrames& film, const std::string& path, const FilmFormat& format) {
    const auto program = find_program("ffmpeg");
    if (!program) {
        const std::string folder = fs::path(path).replace_extension().string();
        return folder_of_frames(film, folder, path, "There is no ffmpeg here to make the film: its ");
    }
    if (const auto tried = try_to_write(path); !tried) return written(tried);
    const auto bytes = encode(film, *program, format);
    if (!bytes) return {Exit::not_written, bytes.error};
    return written(write_file_atomic(path, *bytes));
}

}  // namespace

Outcome run_film(const Arguments& a, std::ostream&) {
    if (!a.output)
        return bad_input("'tilewalk film' needs -o with the film to write, or a folder for its frames.");
    const auto format = format_of(*a.output);
    if (!format) return bad_input(format.error);
    const auto look = read_look(a, *format);
    if (!look) return bad_input(look.error);
    Result<ui::AppState> state = state_to_film(a, *look);
    if (!state) return bad_input(state.error);
    const auto range = read_range(a, state->tour ? state->tour->stops() : state->trace->size());
    if (!range) return bad_input(range.error);
    FilmFrames film(std::move(*state), *look, range->first, range->last);
    if (film.seconds() > longest)
        return bad_input("The film would last " + minutes(film.seconds()) + ", expected at most " +
                         minutes(longest) + "; choose " + (a.tour ? "stops" : "steps") +
                         " with --from and --to.");
    if (*format) return write_film(film, *a.output, **format);
    return folder_of_frames(film, *a.output, "film.mp4", "The ");
}

}  // namespace tilewalk
