// tilewalk render
#include "app/cli/commands.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/text.h"
#include "app/render/offscreen.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <sstream>

namespace tilewalk {
namespace {

constexpr Size default_size{1600, 900}, smallest{1024, 640}, largest{7680, 4320};
constexpr const char* expected_size = "WxH from 1024x640 to 7680x4320";

struct Picture {
    Size size = default_size;
    double ratio = 1;  ///< pixels per unit of layout
    bool vectors = false;
};

std::string text(Size size) { return str(size.width) + "x" + str(size.height); }

Result<Picture> read_picture(const Arguments& a) {
    Picture picture;
    if (a.pixel_ratio) {
        const auto ratio = finite_number("--pixel-ratio", *a.pixel_ratio, "a number from 1 to 4");
        if (!ratio || *ratio < 1 || *ratio > 4)
            return Failure{"--pixel-ratio is " + in_quotes(*a.pixel_ratio) +
                           ", expected a number from 1 to 4."};
        picture.ratio = *ratio;
        picture.size = {static_cast<int>(default_size.width * *ratio),
                        static_cast<int>(default_size.height * *ratio)};
    }
    if (a.size) {
        const auto size = size_pair("--size", *a.size, expected_size);
        if (!size) return Failure{size.error};
        picture.size = *size;
    }
    // The layout needs its room, however many pixels each of its units has.
    const Size least{static_cast<int>(std::ceil(smallest.width * picture.ratio)),
                     static_cast<int>(std::ceil(smallest.height * picture.ratio))};
    if (picture.size.width < least.width || picture.size.height < least.height ||
        picture.size.width > largest.width || picture.size.height > largest.height)
        return Failure{"--size is " + text(picture.size) + ", expected WxH from " + text(least) + " to " +
                       text(largest) + (picture.ratio == 1 ? "." : " with this --pixel-ratio.")};
    return picture;
}

bool is_folder(const Arguments& a) { return a.step == "all" || a.stop == "all"; }

using Keys = std::vector<ui::KeyPress>;

Result<Keys> read_keys(const Arguments& a) {
    Keys keys;
    if (a.keys && is_folder(a)) return Failure{"--keys goes with one picture; leave out 'all'."};
    std::istringstream words(a.keys.value_or(""));
    for (std::string word; words >> word;) {
        const auto press = ui::press_named(word);
        if (!press)
            return Failure{"--keys has " + in_quotes(word) +
                           ", expected keys with spaces between them: q, right, shift+n, ctrl+tab, f9, …"};
        keys.push_back(*press);
    }
    return keys;
}

// The user who presses them waits for what is computed, as long as it takes.
void press_keys(ui::AppState& state, const Keys& keys, Size size) {
    const auto draw = [&] {
        ui::wait_for_walk(state);
        ui::take_finished_trace(state);
        wait_for_page(state);
        settle_frame(state, size.width, size.height);
    };
    if (!keys.empty()) draw();
    for (const ui::KeyPress& press : keys) press_key(state, press, draw);
    state.notice.clear();  // it passes; what it said of a key would hide what the key did
}

Writer picture_writer(ui::AppState& state, const Picture& picture) {
    return [&state, &picture](std::ostream& out) {
        const auto [width, height] = picture.size;
        if (picture.vectors)
            out << svg_of_frame(state, width, height);
        else
            out << encode_png(render_frame(state, width, height));
    };
}

// What --format says, or else the ending of the file.
Result<bool> wants_vectors(const Arguments& a) {
    const bool svg = is_svg_path(*a.output);
    const std::string ending = lower_case(std::filesystem::path(*a.output).extension().string());
    if (!a.format && !is_folder(a) && !svg && !ending.empty() && ending != ".png")
        return Failure{"-o is " + in_quotes(*a.output) +
                       ", expected a name that ends in .png or .svg; or say --format."};
    const auto format = choice("--format", a.format.value_or(svg ? "svg" : "png"), {"png", "svg"});
    if (!format) return Failure{format.error};
    return *format == 1;
}

// The steps of a walk, or the stops of a tour.
struct Series {
    const char* name;
    int count;
    std::function<void(int n)> go;  ///< to the n-th, from 1
};

// "step-007.png", with as many digits as the last step needs.
std::string file_name(const Series& series, int n, const Picture& picture) {
    const std::string number = str(n);
    const std::size_t digits = std::max<std::size_t>(3, str(series.count).size());
    return series.name + std::string("-") + std::string(digits - number.size(), '0') + number +
           (picture.vectors ? ".svg" : ".png");
}

// All pictures take their places at the end, when none can fail any more.
Outcome draw_all(ui::AppState& state, const Picture& picture, const std::string& folder,
                 const Series& series) {
    const std::string ending = lower_case(std::filesystem::path(folder).extension().string());
    if ((ending == ".png" || ending == ".svg") && !std::filesystem::exists(folder))
        return bad_input("-o is " + in_quotes(folder) + ", expected the name of a folder: each " +
                         series.name + " is a picture of its own.");
    Result<std::optional<Temporary>> made = make_folder(folder);
    if (!made) return written(Failure{made.error});
    const HeadlessContext context;  // one for all, so that the fonts are built once
    StagedFiles files;
    for (int n = 1; n <= series.count; ++n) {
        series.go(n);
        const std::string path = (std::filesystem::path(folder) / file_name(series, n, picture)).string();
        if (const auto added = files.add(path, picture_writer(state, picture)); !added) return written(added);
    }
    const auto placed = files.put_in_place();
    if (placed && *made) (*made)->keep();
    return written(placed);
}

Outcome draw_steps(ui::AppState& state, const Picture& picture, const std::string& folder) {
    const auto go = [&state](int n) { go_to_step(state, str(n)); };
    return draw_all(state, picture, folder, {"step", state.trace->size(), go});
}

Outcome draw_stops(ui::AppState& state, const Picture& picture, const std::string& folder) {
    const auto go = [&state](int n) { settle_at_stop(state, n - 1); };
    return draw_all(state, picture, folder, {"stop", state.tour->stops(), go});
}

}  // namespace

Outcome run_render(const Arguments& a, std::ostream&) {
    if (!a.output) return bad_input("'tilewalk render' needs -o with the file or folder to write.");
    const auto vectors = wants_vectors(a);
    if (!vectors) return bad_input(vectors.error);
    auto picture = read_picture(a);
    if (!picture) return bad_input(picture.error);
    picture->vectors = *vectors;
    const auto keys = read_keys(a);
    if (!keys) return bad_input(keys.error);
    Result<ui::AppState> state = make_session(a, ui::Settings{});
    if (!state) return bad_input(state.error);
    const std::string told =
        a.link ? state->notice : "";  // what the link asks for and the lesson passes over
    state->display_scale = static_cast<float>(picture->ratio);
    if (const auto begun = begin_tour(*state, a); !begun) return bad_input(begun.error);
    state->hooks.clock = time_of_pictures;
    if (const auto opened = open_speaker(*state, a.speaker); !opened) return bad_input(opened.error);
    if (state->tour && a.stop == "all") return draw_stops(*state, *picture, *a.output);
    if (state->tour) settle_at_stop(*state, state->tour->at);
    wait_for_page(*state);
    if (a.step == "all") return draw_steps(*state, *picture, *a.output);
    if (a.step)
        if (const auto went = go_to_step(*state, *a.step); !went) return bad_input(went.error);
    const HeadlessContext context;  // what the keys opened stays open in it
    press_keys(*state, *keys, picture->size);
    wait_for_page(*state);
    Outcome outcome = written(write_file_atomic(*a.output, picture_writer(*state, *picture)));
    if (outcome.exit == Exit::done) outcome.sentence = told;
    return outcome;
}

}  // namespace tilewalk
