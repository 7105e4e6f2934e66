// tilewalk link, and links: what the interface shows as one line of text, and back.
#include "app/io/link.h"
#include "app/cli/commands.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/text.h"
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/scale/page.h"
#include "app/ui/state/state.h"
#include "core/base/platform.h"
#include "core/base/words.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"

#include <algorithm>

namespace tilewalk {

// The row stays chosen while the walk goes through steps that write fewer; a link names what is shown.
static int shown_of(int chosen, int count) { return std::min(chosen, std::max(1, count) - 1); }

static void note_inside(LinkedPlace& place, const ui::AppState& state) {
    const ui::InsideForm& f = state.inside;
    place.kernel = f.kernel, place.type = name_of(f.dtype), place.own = f.own;
    place.block = f.block, place.launch = std::max(0, f.launch) + 1;
    place.warp = f.warp, place.instruction = f.step + 1, place.lane = f.lane;
    place.without = f.fault;
    if (f.size >= 0) place.size = ui::inside_sizes()[static_cast<std::size_t>(f.size)].name;
}

// Of a run with a fault such a link leads to where the fault shows.
static bool names_no_step(const LinkedPlace& place) {
    return !place.without.empty() && place.warp == 0 && place.instruction == 1;
}

// The run is made now, so that a block, a launch, a warp or an instruction that it does not have is said
// here; one that takes long goes on in the window, which says it then.
static Result<void> check_inside(ui::AppState& state, const LinkedPlace& place) {
    ui::refresh_inside(state, 0);
    const auto& run = state.kernel_walk->run;
    if (run && !run->result.ready_within(patience)) return {};
    ui::wait_for_inside(state);
    if (!state.kernel_walk->failure.empty())
        return Failure{"The link does not work: " + state.kernel_walk->failure};
    if (names_no_step(place)) return {};
    const ui::InsideForm& f = state.inside;
    const auto missing = [](const char* what, int n) {
        return Failure{std::string("The link leads to ") + what + " " + str(n) +
                       ", which this run does not have."};
    };
    if (place.launch > 0 && f.launch != place.launch - 1) return missing("launch", place.launch);
    if (f.warp != place.warp) return missing("warp", place.warp);
    if (f.step != place.instruction - 1) return missing("instruction", place.instruction);
    return {};
}

static Result<void> go_inside(ui::AppState& state, const LinkedPlace& place) {
    ui::inside_page(state);
    ui::choose_inside_kernel(state, place.kernel);
    const gpu::TraceableKernel* kernel = ui::inside_kernel(state);
    if (!kernel)
        return Failure{"The link leads to a kernel " + in_quotes(place.kernel) +
                       "; 'tilewalk kernels' lists them."};
    ui::InsideForm& f = state.inside;
    for (const DType type : kernel->types)
        if (name_of(type) == place.type) f.dtype = type;
    if (!place.size.empty()) {
        const auto sizes = ui::inside_sizes();
        const auto size = std::ranges::find(sizes, place.size, &ui::RecordedSize::name);
        if (size == sizes.end()) {
            std::vector<std::string> names;
            for (const ui::RecordedSize& one : sizes) names.emplace_back(one.name);
            const std::string last = names.back();
            names.pop_back();
            return Failure{"The link leads to a problem of the size " + in_quotes(place.size) + "; " +
                           joined(names) + " and " + last + " are there."};
        }
        f.size = static_cast<int>(size - sizes.begin());
    }
    f.own = place.own, f.block = place.block, f.launch = place.launch - 1;
    f.warp = place.warp, f.step = place.instruction - 1, f.lane = place.lane;
    f.fault = place.without;
    f.to_fault = names_no_step(place);
    if (auto there = check_inside(state, place); !there || place.without.empty()) return there;
    if (const auto& run = state.kernel_walk->run; in_browser && run && !run->result.ready()) return {};
    // What there is to leave out is known when the kernel has run.
    ui::wait_for_inside(state);
    if (f.fault.empty()) return Failure{"The link leads to a fault: " + state.notice};
    return {};
}

Result<std::string> link_of(const ui::AppState& state) {
    if (state.page == ui::Page::inside && !state.inside.source.empty())
        return Failure{
            "A link cannot carry a kernel of your own; send its file along, to be opened with --source."};
    const SavedView view = ui::view_of(state);
    const Region region = step_region(*state.trace, state.cursor.step);
    LinkedPlace place{.problem = ui::latest_problem(state),
                      .lesson = view.lesson,
                      .step = view.step,
                      .row = shown_of(view.row, region.rows),
                      .col = shown_of(state.col, region.cols),
                      .page = ui::page_names[static_cast<std::size_t>(state.page)],
                      .panel = view.panel,
                      .presenter = view.presenter};
    if (state.page == ui::Page::inside) note_inside(place, state);
    return link_to(place);
}

static Result<LinkedPlace> read_link(const Arguments& a) {
    if (!a.problem.empty() || a.lesson || a.step || a.at || a.tour || a.stop)
        return Failure{"--link names problem, lesson and step itself; leave out options for these."};
    return place_of_link(*a.link);
}

// A lesson passes over faults and formats that it does not know: then the link says more than is seen. Empty:
// it knows all.
static std::string told_unknown(const LinkedPlace& place) {
    const Lesson& lesson = *find_lesson(place.lesson);
    const auto known = names_of(lesson.faults(), &Fault::name);
    for (const Fault& fault : all_faults())
        if (place.problem.switches.*fault.on && std::ranges::count(known, fault.name) == 0)
            return "The link has the fault " + std::string(fault.name) + ", which the lesson " +
                   place.lesson + " does not know; " +
                   (known.empty() ? "it knows none." : "it knows " + listed(known, "and") + ".");
    if (known.empty() && place.problem.precision.any())
        return "The link has number formats, but the lesson " + place.lesson + " computes in fp64 alone.";
    return {};
}

static Result<void> check_place(const LinkedPlace& place, const Trace& trace) {
    if (place.step > trace.size())
        return Failure{"The link leads to step " + str(place.step) + ", but this walk has " +
                       str(trace.size()) + "."};
    const Region region = step_region(trace, place.step - 1);
    if (place.row < std::max(1, region.rows) && place.col < std::max(1, region.cols)) return {};
    return Failure{"The link leads to " + str(place.row) + (place.col < 0 ? "" : "." + str(place.col)) +
                   " of what step " + str(place.step) + " writes, " + str(region.rows) + " × " +
                   str(region.cols) + ", counted from 0."};
}

Result<NamedWalk> walk_of_link(const Arguments& a) {
    auto place = read_link(a);
    if (!place) return Failure{place.error};
    if (place->page != "walk")
        return Failure{"The link leads to the page " + place->page + ", which is no walk."};
    const auto trace = build_trace(*find_lesson(place->lesson), place->problem);
    if (!trace) return Failure{trace.error};
    if (const auto there = check_place(*place, **trace); !there) return Failure{there.error};
    if (std::string unknown = told_unknown(*place); !unknown.empty()) return Failure{std::move(unknown)};
    return NamedWalk{find_lesson(place->lesson), std::move(place->problem)};
}

Result<LinkedRun> run_of_link(const Arguments& a) {
    const auto place = read_link(a);
    if (!place) return Failure{place.error};
    if (place->page != ui::page_names[static_cast<std::size_t>(ui::Page::inside)]) {
        auto walk = walk_of_link(a);
        if (!walk) return Failure{walk.error};
        const gpu::RecordRequest usual;
        return LinkedRun{usual.kernel, usual.dtype, std::move(walk->problem), 0, "", false};
    }
    auto state = make_session_at_link(a, ui::Settings{});
    if (!state) return Failure{state.error};
    const ui::InsideForm& f = state->inside;
    return LinkedRun{f.kernel, f.dtype, ui::recorded_problem(*state), f.block, f.fault, true};
}

Result<ui::AppState> make_session_at_link(const Arguments& a, ui::Settings settings) {
    auto place = read_link(a);
    if (!place) return Failure{place.error};
    auto state = make_state(find_lesson(place->lesson), std::move(place->problem), std::move(settings));
    if (!state) return state;
    ui::wait_for_walk(*state);
    ui::take_finished_trace(*state);
    if (const auto there = check_place(*place, *state->trace); !there) return Failure{there.error};
    ui::restore_view(*state, {.lesson = place->lesson,
                              .step = place->step,
                              .row = place->row,
                              .presenter = place->presenter || a.presenter,
                              .panel = place->panel});
    state->col = place->col;
    ui::refresh_explanation(*state);
    state->step_age = ui::AppState{}.step_age;  // it stands there from the beginning; nothing moves
    state->page = ui::page_of(place->page);
    if (const std::string unknown = told_unknown(*place); !unknown.empty()) ui::notify(*state, unknown);
    if (state->page == ui::Page::inside)
        if (const auto there = go_inside(*state, *place); !there) return Failure{there.error};
    return state;
}

static Result<void> choose_cell_at(ui::AppState& state, const std::string& word) {
    const auto cell = cell_at(*state.trace, state.cursor.step, word);
    if (!cell) return Failure{cell.error};
    state.col = cell->col;
    ui::choose_row(state, cell->row);
    return {};
}

static Result<void> choose_page(ui::AppState& state, const std::string& name) {
    if (std::ranges::find(ui::page_names, name) == ui::page_names.end())
        return Failure{"--page is " + in_quotes(name) + ", expected " +
                       listed({ui::page_names.begin(), ui::page_names.end()}) + "."};
    state.page = ui::page_of(name);
    if (state.page == ui::Page::inside) ui::inside_page(state);
    return {};
}

static bool any_of(const InsideWords& words) {
    return words.size || words.block || words.launch || words.warp || words.instruction || words.lane ||
           words.without;
}

// What the options of the page Inside change in the place that it shows by itself.
static Result<LinkedPlace> read_inside_place(const Arguments& a, const ui::AppState& state) {
    LinkedPlace place;
    note_inside(place, state);
    const auto kernel = find_kernel(a.compare.kernel.value_or(place.kernel));
    if (!kernel) return Failure{kernel.error};
    const auto type = find_type(*kernel, a.compare.dtype);
    if (!type) return Failure{type.error};
    place.kernel = kernel->name, place.type = name_of(*type);
    const InsideWords& words = a.inside;
    place.size = words.size.value_or(place.size), place.without = words.without.value_or(place.without);
    // Another run has its own main launch: the page opens it.
    if (a.compare.kernel || words.size) place.launch = 0;
    constexpr int most = 1'000'000'000;
    WordReader read;
    read.count("--block", words.block, 0, most, place.block);
    read.count("--launch", words.launch, 1, most, place.launch);
    read.count("--warp", words.warp, 0, most, place.warp);
    read.count("--instruction", words.instruction, 1, most, place.instruction);
    read.count("--lane", words.lane, 0, 31, place.lane);
    if (!read.error.empty()) return Failure{read.error};
    return place;
}

// The run is waited for: what it does not have gets into no link.
static Result<void> choose_inside_place(ui::AppState& state, const Arguments& a) {
    if (!any_of(a.inside) && !a.compare.kernel && !a.compare.dtype) return {};
    if (state.page != ui::Page::inside)
        return Failure{"--kernel, --dtype, --size, --block, --launch, --warp, --instruction, --lane and "
                       "--without are of the page Inside; say --page inside."};
    const auto place = read_inside_place(a, state);
    if (!place) return Failure{place.error};
    if (auto there = go_inside(state, *place); !there) return there;
    ui::wait_for_inside(state);
    return check_inside(state, *place);
}

Outcome run_link(const Arguments& a, std::ostream& out) {
    Result<ui::AppState> state = make_session(a, ui::Settings{});
    if (!state) return bad_input(state.error);
    if (a.step)
        if (const auto went = go_to_step(*state, *a.step); !went) return bad_input(went.error);
    if (a.at)
        if (const auto chosen = choose_cell_at(*state, *a.at); !chosen) return bad_input(chosen.error);
    if (a.page)
        if (const auto chosen = choose_page(*state, *a.page); !chosen) return bad_input(chosen.error);
    if (const auto chosen = choose_inside_place(*state, a); !chosen) return bad_input(chosen.error);
    const auto link = link_of(*state);
    if (!link) return bad_input(link.error);
    return put(a.output, out, *link + "\n");
}

}  // namespace tilewalk
