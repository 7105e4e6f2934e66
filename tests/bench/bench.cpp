// tilewalk_bench [--only inside|walk|program] [PROGRAM]: how long an edit, a seek, a frame, a start, a
// picture and the record of a kernel take, beside what they may take. PROGRAM is the tilewalk to start;
// without it the one in the build folder. Results are checked before they are timed. Ends with 1 if a row is
// over its limit, which says something on a machine that does nothing else.
#include "app/io/examples.h"
#include "app/render/offscreen.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"
#include "app/ui/shell/speaker.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"
#include "tests/bench/inside.h"
#include "tests/bench/program.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

using namespace tilewalk;
using namespace tilewalk::bench;

namespace {

constexpr int width = 1600, height = 900;

Problem large_problem() {
    Problem problem = *random_problem(64, 64, 1);
    problem.Br = problem.Bc = 8;
    return problem;
}

void take_over(ui::AppState& state) {
    while (state.pending) {
        wait_for_walk(state);
        ui::take_finished_trace(state);
    }
}

ui::AppState state_of(const Problem& problem) {
    ui::AppState state;
    state.lesson = &default_lesson();
    state.examples = examples();
    ui::set_problem(state, problem, false);
    return state;
}

// A walk that is wrong may be as fast as it likes.
void check_result(const ui::AppState& state) {
    const Matrix wanted = find_lesson("attention")->build(*state.problem)->result(Slot::O);
    const double error = (state.trace->result(Slot::O) - wanted).cwiseAbs().maxCoeff();
    if (!(error < 1e-10))
        throw std::runtime_error("O differs from standard attention by " + std::to_string(error));
}

Row rebuild_after_edit() {
    ui::AppState state = state_of(large_problem());
    double value = 0;
    const auto edit = [&](int) {
        ui::set_element(state, {Slot::Q, 3, 5}, value += .25);
        take_over(state);
    };
    edit(0);
    check_result(state);
    return {"rebuild after an edit, 64 × 64 in 8 × 8 tiles", 5e-3, measure(1, 41, edit), {}};
}

// Every step, each from the one farthest away.
Row seek(const char* what, const Problem& problem) {
    ui::AppState state = state_of(problem);
    const int n = state.trace->size();
    const auto go = [&](int k) {
        ui::go_to(state, at_step(*state.trace, k < n / 2 ? n - 1 : 0));
        const double seconds = seconds_of([&] { ui::go_to(state, at_step(*state.trace, k)); });
        if (state.cursor.step != k) throw std::runtime_error("a seek went astray");
        return seconds;
    };
    std::vector<double> typical;
    double worst = 0;
    for (int k = 0; k < n; ++k) {
        std::vector<double> times;
        for (int repetition = 0; repetition < 9; ++repetition) times.push_back(go(k));
        typical.push_back(median(times));
        worst = std::max(worst, typical.back());
    }
    return {what, 1e-4, {median(typical), worst, n, 9}, {}};
}

// NewFrame to Render, without a picture, for a choice of steps.
Row frames(const char* what, const Problem& problem, double limit, bool presenter, bool moving = false) {
    const HeadlessContext context;
    ui::AppState state = state_of(problem);
    state.presenter = presenter;
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    ui::load_fonts(ui::ui_scale(state, w, h), presenter);
    const auto draw = [&] { run_frame(width, height, 1.0f / 60, [&] { ui::frame(state); }); };
    const int n = state.trace->size(), cases = std::min(n, 60);
    const Measured measured = measure(cases, 9, [&](int c) {
        ui::go_to(state, at_step(*state.trace, c * (n - 1) / std::max(1, cases - 1)));
        if (moving) state.moves_for = 2, state.step_age = .9f;  // in the midst of it
        draw();
    });
    if (ImGui::GetDrawData()->TotalVtxCount < 1000) throw std::runtime_error("a frame drew nothing");
    return {what, limit, measured, {}};
}

// Standard attention on stage: each element of its output is a sum over all keys.
Row long_sums(const char* what, int keys, double limit) {
    const HeadlessContext context;
    ui::AppState state = state_of(*random_problem(keys, 16, 7));
    if (!ui::show_walk(state, *find_lesson("attention"), state.problem))
        throw std::runtime_error("there is no such walk");
    ui::wait_for_walk(state);
    ui::take_finished_trace(state);
    state.presenter = true;
    ui::load_fonts(ui::ui_scale(state, width, height), true);
    const int n = state.trace->size();
    const Measured measured = measure(n, 5, [&](int k) {
        ui::go_to(state, at_step(*state.trace, k));
        run_frame(width, height, 1.0f / 60, [&] { ui::frame(state); });
    });
    return {what, limit, measured, {}};
}

// The speaker's window beside it, with the picture of the next step.
Row speaker_frames(const char* what, const Problem& problem, double limit) {
    const HeadlessContext context;
    ui::AppState state = state_of(problem);
    ui::toggle_speaker(state);
    ui::load_speaker_fonts(state, 1, static_cast<float>(width), static_cast<float>(height));
    const int n = state.trace->size(), cases = std::min(n, 60);
    const Measured measured = measure(cases, 9, [&](int c) {
        ui::go_to(state, at_step(*state.trace, c * (n - 1) / std::max(1, cases - 1)));
        run_frame(width, height, 1.0f / 60, [&] { ui::speaker_frame(state); });
    });
    if (ImGui::GetDrawData()->TotalVtxCount < 1000) throw std::runtime_error("a frame drew nothing");
    return {what, limit, measured, {}};
}

// Where the time of one picture goes.
std::vector<Row> parts_of_a_picture() {
    const HeadlessContext context;
    ui::AppState state = state_of(*find_example("worked-4x4"));
    ui::go_to(state, at_step(*state.trace, 16));
    float scale = 1;
    const Measured fonts = measure(1, 5, [&](int) { ui::load_fonts(scale = scale > 1 ? 1 : 1.01f, false); });
    ui::load_fonts(1, false);
    run_frame(width, height, 1.0f / 60, [&] { ui::frame(state); });
    Image image;
    const Measured raster = measure(
        1, 9, [&](int) { image = picture_of_frame(width, height, ui::theme(state.settings.theme).bg); });
    const Measured png = measure(1, 9, [&](int) { encode_png(image); });
    return {{"  of it: fonts", 0, fonts, {}},
            {"  of it: rasteriser", 0, raster, {}},
            {"  of it: PNG", 0, png, {}}};
}

std::vector<Row> rows_of_walks() {
    const Problem worked = *find_example("worked-4x4"), large = large_problem();
    std::vector<Row> rows = {rebuild_after_edit(),
                             seek("seek, worked example", worked),
                             seek("seek, 64 × 64", large),
                             frames("frame, worked example", worked, 1e-3, false),
                             frames("frame, worked example, presenter", worked, 1e-3, true),
                             frames("frame, 64 × 64", large, 4e-3, false),
                             frames("frame, 64 × 64, presenter", large, 4e-3, true),
                             frames("frame, worked example, in motion", worked, 4e-3, true, true),
                             frames("frame, 64 × 64, in motion", large, 4e-3, true, true),
                             long_sums("frame, attention to 128 keys, presenter", 128, 8e-3),
                             long_sums("frame, attention to 256 keys, presenter", 256, 8e-3),
                             speaker_frames("frame of the speaker's window, worked example", worked, 4e-3),
                             speaker_frames("frame of the speaker's window, 64 × 64", large, 4e-3)};
    for (Row& row : parts_of_a_picture()) rows.push_back(std::move(row));
    return rows;
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> words(argv + 1, argv + argc);
    std::string only;
    if (words.size() >= 2 && words[0] == "--only")
        only = words[1], words.erase(words.begin(), words.begin() + 2);
    const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
    const std::string program = words.empty() ? (here.parent_path() / "tilewalk").string() : words[0];
    const auto wanted = [&](const char* part) { return only.empty() || only == part; };
    std::vector<Row> rows;
    const auto add = [&](const std::vector<Row>& more) { rows.insert(rows.end(), more.begin(), more.end()); };
    if (wanted("walk")) add(rows_of_walks());
    if (wanted("inside")) add(rows_inside());
    if (wanted("program")) {
        if (!std::filesystem::exists(program)) throw std::runtime_error("there is no program " + program);
        add({first_frame(program), render_one_step(program), second_of_film(program)});
    }
    if (rows.empty()) throw std::runtime_error("--only is " + only + ", expected inside, walk or program");
    print_table(rows);
    return std::ranges::any_of(rows, &Row::over) ? 1 : 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "tilewalk_bench: %s\n", error.what());
    return 1;
}
