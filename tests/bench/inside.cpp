#include "tests/bench/inside.h"

#include "app/io/examples.h"
#include "app/render/offscreen.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <stdexcept>

namespace tilewalk::bench {

namespace {

constexpr int width = 1920, height = 1080;

// Both blocks of f5 at N = 256, whose tiles are 128 × 64 with d = 128.
std::vector<Row> rows_of_recording() {
    gpu::RecordRequest request;
    request.problem = *random_problem(256, 128, 1), request.blocks = {0, 1};
    std::int64_t bytes = 0;
    const Measured measured = measure(1, 3, [&](int) {
        const auto record = gpu::record_kernel(request);
        if (!record) throw std::runtime_error(record.error);
        if (record->Br != 128 || record->Bc != 64 || record->races() > 0)
            throw std::runtime_error("not the record that was asked for");
        bytes = record->bytes();
    });
    const auto size = static_cast<double>(bytes);
    return {{"record of f5, N = 256, tiles of 128 × 64", 2, measured, {}},
            {"  its size", 64 << 20, {size, size, 1, 1}, {}, true}};
}

// A million events: those of one block again and again.
void show_a_million(ui::AppState& state) {
    ui::wait_for_inside(state);
    inside::Record record = ui::inside_page(state).shown->record;
    auto& events = record.launches.front().blocks.front().events;
    const auto once = events;
    while (events.size() < 1'000'000) events.insert(events.end(), once.begin(), once.end());
    ui::inside_page(state).shown = std::make_shared<const ui::InsideWalk>(std::move(record), "many", 0);
    ui::wait_for_inside(state);
}

std::vector<Row> rows_of_the_page() {
    const HeadlessContext context;
    ui::AppState state;
    state.lesson = &default_lesson();
    state.examples = examples();
    ui::set_problem(state, *find_example("worked-4x4"), false);
    state.page = ui::Page::inside;
    show_a_million(state);
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    ui::load_fonts(ui::ui_scale(state, w, h), false);
    constexpr int places = 12, times = 9;
    const auto go = [&](int n) {
        const int last = ui::place_inside(state).steps().count(n % 4) - 1;
        ui::go_inside(state, n % 4, last / places * n);
        ui::go_inside_by(state, inside::Stride::tile, 1);
    };
    const auto draw = [&](int n) {
        go(n);
        run_frame(width, height, 1.0f / 60, [&] { ui::frame(state); });
    };
    draw(0);
    if (ImGui::GetDrawData()->TotalVtxCount < 1000) throw std::runtime_error("a frame drew nothing");
    if (ui::place_inside(state).steps().slots() < 200'000) throw std::runtime_error("not a million events");
    return {{"frame, Inside, a million events, 1920 × 1080", 4e-3, measure(places, times, draw), {}},
            {"seek, Inside, a million events", 1e-3, measure(places, times, go), {}}};
}

}  // namespace

std::vector<Row> rows_inside() {
    std::vector<Row> rows = rows_of_recording();
    for (Row& row : rows_of_the_page()) rows.push_back(std::move(row));
    return rows;
}

}  // namespace tilewalk::bench
