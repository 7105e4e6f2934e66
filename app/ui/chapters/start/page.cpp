#include "app/ui/chapters/start/page.h"

#include "app/ui/chapters/memory/memory.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/kit/focus.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/bench/bench.h"
#include "core/lessons/table.h"
#include "cuda/host/gpu.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::ui {

namespace {

// From the slowest at the longest length to the fastest.
std::vector<RecordedKernel> in_order(std::vector<RecordedKernel> kernels) {
    for (RecordedKernel& kernel : kernels) std::ranges::sort(kernel.times, {}, &RecordedKernel::At::N);
    std::ranges::sort(kernels, std::greater(),
                      [](const RecordedKernel& kernel) { return kernel.times.back().seconds; });
    return kernels;
}

// The forward shape that comes first, each kernel with its lengths.
std::vector<RecordedKernel> recorded_kernels(const std::vector<BenchReport>& reports) {
    std::vector<RecordedKernel> out;
    for (const BenchReport& report : reports)
        for (const BenchReport& one : by_shape(report)) {
            if (!out.empty()) return in_order(std::move(out));
            for (const tilewalk::Point& point : one.points) {
                if (point.workload.direction != Direction::forward || point.median <= 0) continue;
                auto kernel = std::ranges::find(out, point.kernel, &RecordedKernel::name);
                if (kernel == out.end()) kernel = out.insert(out.end(), {point.kernel, {}});
                kernel->times.push_back({point.workload.N_kv, point.median});
                kernel->memory = std::max(kernel->memory, point.workspace_bytes);
            }
        }
    return in_order(std::move(out));
}

// The first query whose old numbers shrink, and are not nothing.
int corrected_row(const Trace& trace, int k) {
    const Value& alpha = trace.value(trace.writes(k).front().value);
    for (int r = 0; r < alpha.region.rows; ++r)
        if (alpha.data(r, 0) > 0 && alpha.data(r, 0) < 1) return alpha.region.row + r;
    return alpha.region.row;
}

// On the example that its chapter shows.
std::shared_ptr<const Trace> walk_behind_door(const AppState& state, const char* lesson,
                                              const Problem& worked) {
    const Lesson* const shown = find_lesson(lesson);
    const auto chapter = std::ranges::find_if(chapters(), [&](const Chapter& one) {
        return std::ranges::find(one.lessons, shown) != one.lessons.end();
    });
    const Problem* own = find_example(state, chapter->example);
    return shown->build(own ? *own : worked);
}

void make_walks(const AppState& state, StartPage& page) {
    const Moment &correction = moments()[0], &broken = moments()[1];
    const Problem* found = find_example(state, correction.example);
    Problem problem = found ? *found : without_faults(*state.problem);
    page.forward = find_lesson(correction.lesson)->build(problem);
    page.step = step_of(broken, *page.forward);
    page.corrects = step_of(correction, *page.forward);
    page.row = corrected_row(*page.forward, page.corrects);
    page.backward = walk_behind_door(state, "flash-backward", problem);
    page.training = walk_behind_door(state, "training-step", problem);
    problem.switches.*broken.fault = true;
    page.broken = find_lesson(broken.lesson)->build(problem);
}

void run_kernel(StartPage& page) {
    gpu::TraceRequest request;
    request.kernel = CompareForm{}.kernel;
    request.dtype = CompareForm{}.dtype;
    request.problem = page.forward->problem();
    page.run =
        Background<Result<KernelComparison>>([request](std::stop_token stop) -> Result<KernelComparison> {
            auto trace = gpu::trace_kernel(gpu::Where::emulator, request, stop);
            if (!trace) return Failure{trace.error};
            return compare_kernel(std::make_shared<const KernelTrace>(std::move(*trace)));
        });
}

void take_run(StartPage& page) {
    auto compared = page.run.take();
    if (compared) page.compared = std::make_shared<const KernelComparison>(std::move(*compared));
}

std::shared_ptr<StartPage> make_page(const AppState& state) {
    auto page = std::make_shared<StartPage>();
    make_walks(state, *page);
    MemoryForm form;
    form.N = long_text;
    page->at_length = study(memory_input(form));
    if (state.hooks.recorded_results) page->kernels = recorded_kernels(state.hooks.recorded_results());
    if (state.hooks.read_tour)
        if (const Result<Tour> tour = state.hooks.read_tour("")) {
            for (const TourStop& stop : tour->script.stops) page->stops.push_back(stop.heading);
            page->tour_chapters = tour->script.chapters;
        }
    run_kernel(*page);
    return page;
}

// The nearest spot in this direction from where the focus is; from nowhere to the first.
void move_focus(const StartPage& page, Key key) {
    if (page.spots.empty()) return;
    const auto at = std::ranges::find(page.spots, focused_item(), &StartPage::Spot::id);
    if (at == page.spots.end()) return focus_on(page.spots.front().id);
    const float dx = px(key == Key::right) - px(key == Key::left),
                dy = px(key == Key::down) - px(key == Key::up);
    const StartPage::Spot* best = nullptr;
    float least = 1e9f;
    for (const StartPage::Spot& spot : page.spots) {
        const float x = spot.x + spot.w / 2 - at->x - at->w / 2, y = spot.y + spot.h / 2 - at->y - at->h / 2;
        const float along = x * dx + y * dy, across = std::abs(x * dy) + std::abs(y * dx);
        if (along < 8 || across > 2 * along + 40) continue;
        const float far = along + 2 * across;
        if (far < least) least = far, best = &spot;
    }
    if (best) focus_on(best->id);
}

}  // namespace

StartPage& start_page(AppState& state) {
    if (!state.starting) state.starting = make_page(state);
    return *state.starting;
}

void wait_for_start(AppState& state) {
    StartPage& page = start_page(state);
    if (page.run.begun()) take_run(page);
}

void open_start(AppState& state) {
    if (state.page == Page::start) return;
    state.start = {true, static_cast<int>(state.page)};
    state.player.playing = false;
    state.edit.reset();
    state.page = Page::start;
}

void begin_tour_at(AppState& state, int n) {
    if (!state.tour) toggle_tour(state);
    if (state.tour) go_to_stop(state, n);
}

void continue_from_start(AppState& state) {
    if (state.start.left)
        state.page = static_cast<Page>(state.start.page);
    else
        toggle_tour(state);
}

void ask_for_file(AppState& state) {
    if (state.hooks.choose_file) return state.hooks.choose_file();
    // The stage has no field for it, and a tour's card may lie over the one of the desk.
    if (state.tour) toggle_tour(state);  // it was begun on stage, maybe
    state.presenter = false;
    if (state.page != Page::scale && state.page != Page::compare) open_start(state);
    state.ask_path = true;
}

void open_own_numbers(AppState& state) {
    state.presenter = false;
    state.page = Page::walk;
    show_side(state, true, false);
}

void open_files_from_start(AppState& state, const std::vector<std::string>& paths) {
    const ProblemPtr before = state.problem;
    load_files(state, paths);
    if (state.problem != before || state.pending) state.page = Page::walk;
}

void open_example(AppState& state, int index) {
    state.page = Page::walk;
    choose_example(state, index);
}

bool answer_start_key(AppState& state, const KeyPress& press) {
    // What belongs to a walk.
    if (press.ctrl) return prints_one_of(press.key, "zyc");
    switch (press.key) {
    case Key::left:
    case Key::right:
    case Key::up:
    case Key::down: return move_focus(start_page(state), press.key), true;
    case Key::enter: return continue_from_start(state), true;
    case Key::escape:
        if (state.presenter || !state.start.left || !state.notice.empty()) return false;
        return continue_from_start(state), true;
    case Key::i: return open_own_numbers(state), true;
    case Key::space: return true;
    default: return is_direction(press.key) || prints_one_of(press.key, "cmbxesdn");
    }
}

void pass_start_time(AppState& state, float) {
    StartPage& page = start_page(state);
    if (page.run.ready()) take_run(page);
}

double start_idle_seconds(const AppState& state) {
    const bool waits = !state.starting || state.starting->run.begun();
    return waits ? 0.1 : std::numeric_limits<double>::infinity();
}

std::vector<Shortcut> start_keys() {
    const char* const g = "Start page";
    return {{g, "←  →  ↑  ↓", "to another door", {{Key::left}, {Key::right}, {Key::up}, {Key::down}}},
            {g, "Enter", "open that door; none: continue", {{Key::enter}}}};
}

}  // namespace tilewalk::ui
