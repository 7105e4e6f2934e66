// Pictures of a few steps, pixel by pixel. TILEWALK_GOLDEN=renew draws them anew; see tests/golden/README.md.
#include "app/io/file.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/start/page.h"
#include "core/problem/heads.h"
#include "tests/app/ui/harness.h"
#include "tests/app/ui/png_reader.h"
#include "tests/folder.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace tilewalk::test;

namespace {

// What a change of compiler or processor may cost; a single other digit costs more.
constexpr double most_mean_difference = 0.02, most_other_pixels = 0.00003;
constexpr int visible_difference = 8;

const std::string folder = std::string(TILEWALK_SOURCE_DIR) + "/tests/golden/";

struct Golden {
    std::string name;
    const char* problem;
    int step;  ///< from 1; 0: the middle of the walk
    ThemeId theme;
    bool presenter;
    bool start = false;  ///< the start page in place of the step
    std::string_view lesson = "flash-forward";
    int heads = 1, key_heads = 1;
    int inside = -1;    ///< that step of a kernel's run in place of the lesson's
    bool race = false;  ///< without the last of its barriers, where that shows
};

// Some steps, and the stage of every lesson there is.
std::vector<Golden> goldens() {
    std::vector<Golden> out = {
        {"sum-dark", "worked-4x4", 17, ThemeId::dark, false},
        {"sum-light", "worked-4x4", 17, ThemeId::light, false},
        {"output-presenter", "worked-4x4", 18, ThemeId::dark, true},
        {"mask-contrast", "causal-8", 5, ThemeId::contrast, false},
        {"start-presenter", "worked-4x4", 1, ThemeId::dark, true, true},
        {"heads-training-step", "gradients-4x4", 14, ThemeId::dark, false, false, "training-step", 4, 2},
        {"inside-dark", "worked-4x4", 1, ThemeId::dark, false, false, "flash-forward", 1, 1, 101},
        {"inside-light", "worked-4x4", 1, ThemeId::light, false, false, "flash-forward", 1, 1, 12},
        {"inside-presenter", "worked-4x4", 1, ThemeId::dark, true, false, "flash-forward", 1, 1, 101},
        {"inside-race-presenter", "worked-4x4", 1, ThemeId::dark, true, false, "flash-forward", 1, 1, 0,
         true}};
    for (const Lesson& lesson : lessons())
        out.push_back(
            {"stage-" + std::string(lesson.id), "gradients-4x4", 0, ThemeId::dark, true, false, lesson.id});
    return out;
}

// FNV-1a, to tell one edition of a font from another.
std::string hash_of(const std::string& bytes) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

nlohmann::json fonts_of_this_machine() {
    nlohmann::json hashes;
    const std::string root = "/usr/share/fonts/";
    for (const char* file : {"opentype/inter/Inter-Regular.otf", "opentype/inter/Inter-Medium.otf",
                             "opentype/inter/Inter-SemiBold.otf", "opentype/inter/Inter-Italic.otf",
                             "opentype/inter/Inter-SemiBoldItalic.otf", "truetype/dejavu/DejaVuSans.ttf",
                             "truetype/dejavu/DejaVuSansMono.ttf", "truetype/dejavu/DejaVuSansMono-Bold.ttf"})
        hashes[std::filesystem::path(file).filename().string()] = hash_of(contents(root + file));
    return hashes;
}

bool renewing() {
    const char* wish = std::getenv("TILEWALK_GOLDEN");
    return wish && std::string(wish) == "renew";
}

Image draw(const Golden& golden) {
    Problem problem = example(golden.problem);
    give_heads(problem, golden.heads, golden.key_heads);
    Program program(problem, {1280, 720}, golden.presenter, golden.theme);
    if (golden.lesson != program.state.lesson->id) program.show_lesson(golden.lesson);
    program.go_to_step(golden.step > 0 ? golden.step - 1 : program.state.trace->size() / 2);
    if (golden.inside >= 0) {
        program.state.page = Page::inside;
        wait_for_inside(program.state);
        go_inside(program.state, 0, golden.inside);
        if (golden.race) {
            std::string name;
            for (const InsideFault& f : inside_faults(program.state))
                if (f.fault.kind == inside::FaultKind::barrier) name = f.name;
            choose_inside_fault(program.state, name);
            wait_for_inside(program.state);
        }
    }
    if (golden.start) program.state.page = Page::start, wait_for_start(program.state);
    program.frame(2);
    return program.picture();
}

struct Difference {
    double mean = 0;          ///< over all colour values, of 255
    double other_pixels = 0;  ///< share of pixels that visibly differ
};
Difference compare(const Image& a, const Image& b) {
    REQUIRE(a.width == b.width);
    REQUIRE(a.height == b.height);
    double sum = 0, other = 0;
    for (std::size_t at = 0; at + 3 < a.rgba.size(); at += 4) {
        int most = 0;
        for (std::size_t channel = 0; channel < 3; ++channel) {
            const int d = std::abs(a.rgba[at + channel] - b.rgba[at + channel]);
            sum += d;
            most = std::max(most, d);
        }
        other += most > visible_difference;
    }
    const double pixels = static_cast<double>(a.rgba.size()) / 4;
    return {sum / pixels / 3, other / pixels};
}

void check(const Golden& golden) {
    const Image now = draw(golden);
    const Difference d = compare(now, good(decode_png(contents(folder + golden.name + ".png"))));
    if (d.mean <= most_mean_difference && d.other_pixels <= most_other_pixels) return;
    const std::string path =
        (std::filesystem::temp_directory_path() / ("tilewalk-golden-" + golden.name + ".png")).string();
    write_file_atomic(path, encode_png(now));
    FAIL_CHECK(golden.name, " looks different: mean difference ", d.mean, ", other pixels ", d.other_pixels,
               "; what was drawn is in ", path);
}

}  // namespace

TEST_CASE("a few steps look as they did") {
    const nlohmann::json fonts = fonts_of_this_machine();
    if (renewing()) {
        for (const Golden& golden : goldens())
            REQUIRE(write_file_atomic(folder + golden.name + ".png", encode_png(draw(golden))));
        REQUIRE(write_file_atomic(folder + "fonts.json", fonts.dump(2) + "\n"));
        return skip("the pictures in tests/golden are new");
    }
    if (nlohmann::json::parse(contents(folder + "fonts.json"), nullptr, false) != fonts) {
        return skip("the pictures in tests/golden were drawn with other editions of the fonts");
    }
    for (const Golden& golden : goldens()) check(golden);
}

TEST_CASE("the comparison of pictures sees a single other digit") {
    Program program(example("worked-4x4"), {1280, 720});
    const Image before = program.picture();
    CHECK(compare(before, before).mean == 0);
    Problem other = example("worked-4x4");
    other.V(3, 3) += 1;
    program.show(other);
    CHECK(compare(before, program.picture()).other_pixels > most_other_pixels);
}
