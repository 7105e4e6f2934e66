#include "app/cli/session.h"

#include "app/cli/hand_out.h"
#include "app/cli/hooks.h"
#include "app/cli/own_kernel.h"
#include "app/cli/slides.h"
#include "app/io/bench_json.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "app/io/kernel_bundle.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"
#include "app/render/offscreen.h"
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/scale/page.h"
#include "app/ui/state/speaker.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <cstdio>

namespace tilewalk {
namespace {

// Not a lesson with a walk, but shown in its place.
std::optional<ui::Page> find_page(const Word& name) {
    const ui::Page page = ui::page_of(name.value_or(""));
    return page == ui::Page::walk ? std::nullopt : std::optional(page);
}

// The command that writes the numbers of a page.
const char* as_text(ui::Page page) {
    return page == ui::Page::memory    ? "model"
           : page == ui::Page::scale   ? "bench"
           : page == ui::Page::compare ? "compare"
           : page == ui::Page::inside  ? "inside"
                                       : "trace";
}

// A file of results opens the page that shows them.
bool loads_results(const ProblemWords& words, std::optional<ui::Page> page) {
    if (!words.load) return false;
    if (page) return page == ui::Page::scale;
    const auto text = read_file(*words.load);
    return text && is_bench_json(*text);
}

// What the words say, with a problem in place of files of results.
Result<ui::AppState> make_session_with(Arguments arguments, ui::Settings settings) {
    const std::vector<std::string> paths = split(*arguments.problem.load, ",");
    const auto reports = load_results(paths);
    if (!reports) return Failure{reports.error};
    arguments.problem.load.reset();
    arguments.lesson = "scale";
    auto state = make_session(arguments, std::move(settings));
    if (state) ui::add_reports(*state, *reports);
    return state;
}

// A recorded run of a kernel opens its page, with its problem.
Result<ui::AppState> make_session_with_bundle(Arguments arguments, ui::Settings settings) {
    const std::string path = *arguments.problem.load;
    auto trace = load_bundle_file(path);
    if (!trace) return Failure{trace.error};
    arguments.problem.load.reset();
    if (!arguments.problem.empty() || arguments.step || arguments.lesson.value_or("compare") != "compare")
        return Failure{short_path(path) +
                       ": this is a recorded run of a kernel; leave out the other options of "
                       "problem, lesson and step."};
    auto state = make_state(&default_lesson(), trace->problem, std::move(settings));
    if (!state) return state;
    state->presenter |= arguments.presenter;
    ui::show_bundle(*state, std::move(*trace), path);
    if (!state->comparing->shown) return Failure{state->notice};
    return state;
}

}  // namespace

Result<const Lesson*> choose_lesson(const Word& name) {
    if (!name) return &default_lesson();
    if (const Lesson* lesson = find_lesson(*name)) return lesson;
    const auto page = find_page(name);
    if (page == ui::Page::start)
        return Failure{"The page start is no walk: a lesson is wanted; 'tilewalk lessons' lists them."};
    if (page)
        return Failure{"The page " + *name + " is no walk; 'tilewalk " + as_text(*page) +
                       "' writes its numbers."};
    return Failure{"There is no lesson " + in_quotes(*name) +
                   did_you_mean(*name, names_of(lessons(), &Lesson::id), "; 'tilewalk lessons' lists them.")};
}

Result<NamedWalk> named_walk(const Arguments& a) {
    if (a.link) return walk_of_link(a);
    if (const auto lesson = choose_lesson(a.lesson); !lesson) return Failure{lesson.error};
    SavedView saved;
    auto problem = make_problem(a.problem, &saved);
    if (!problem) return Failure{problem.error};
    const auto lesson = choose_lesson(a.lesson || saved.lesson.empty() ? a.lesson : saved.lesson);
    if (!lesson) return Failure{lesson.error};
    if (auto sentence = refuse_choices(**lesson, a.problem)) return Failure{*sentence};
    return NamedWalk{*lesson, std::move(*problem)};
}

Result<ui::AppState> make_state(const Lesson* lesson, Problem problem, ui::Settings settings) {
    if (auto sentence = refuse(*lesson, problem)) return Failure{*sentence};
    ui::AppState state;
    state.lesson = lesson;
    state.examples = examples();
    state.settings = std::move(settings);
    state.player.steps_per_second = state.settings.speed;
    state.hooks.load_files = load_dropped_files;
    state.hooks.take_table = take_table;
    state.hooks.save_problem = save_problem_file;
    state.hooks.load_results = load_results;
    state.hooks.recorded_results = recorded_results;
    state.hooks.save_results = save_results;
    state.hooks.save_plot = save_plot;
    state.hooks.begin_picture = begin_picture;
    state.hooks.is_bundle = is_bundle_file;
    state.hooks.load_bundle = load_bundle_file;
    state.hooks.save_bundle = save_bundle_file;
    state.hooks.begin_hand_out = begin_hand_out;
    state.hooks.begin_slides = slides_of_view;
    state.hooks.save_quiz = [](const std::string& path, const std::string& csv) {
        return write_file_atomic(path, csv);
    };
    state.hooks.read_tour = read_tour;
    state.hooks.link = link_of;
    state.hooks.record_source = [](const gpu::RecordRequest& request, std::string& text) {
        const auto read = read_file(request.kernel);
        if (read) text = *read;
        return record_own_source(request);
    };
    if (!ui::set_problem(state, std::move(problem), false)) return Failure{state.notice};
    return state;
}

Result<void> go_to_step(ui::AppState& state, const std::string& word) {
    const auto step = whole_number("--step", word, 1, state.trace->size());
    if (!step) return Failure{step.error};
    ui::go_to(state, at_step(*state.trace, static_cast<int>(*step) - 1));
    state.step_age = ui::AppState{}.step_age;  // it stands there from the beginning; nothing moves
    return {};
}

Result<CellWithin> cell_at(const Trace& trace, int k, const std::string& word) {
    if (trace.writes(k).empty()) return Failure{"--at names a cell, but this step writes none."};
    const Region region = step_region(trace, k);
    const Slot slot = cell_of_row(trace, k, region.row).slot;
    const Indices told = indices(trace, slot, region, k);
    const std::vector<std::string> parts = split(word, ".");
    const auto place_in = [](const std::vector<int>& all, const std::string& number) {
        const auto n = number_in<int>(number);
        const auto at = n ? std::ranges::find(all, *n) : all.end();
        return at == all.end() ? -1 : static_cast<int>(at - all.begin());
    };
    const CellWithin cell{place_in(told.rows, parts[0]),
                          parts.size() > 1 ? place_in(told.cols, parts[1]) : -1};
    if (parts.size() <= 2 && cell.row >= 0 && (parts.size() == 1 || cell.col >= 0)) return cell;
    return Failure{"--at is " + in_quotes(word) + ", expected ROW or ROW.COLUMN of what this step writes, " +
                   plain(slot_symbol(slot)) + index_text(trace, slot, region, k) + "."};
}

Result<void> open_speaker(ui::AppState& state, const Word& where) {
    WordReader read;
    read.choose("--speaker", where, {"auto", "window", "panel"}, state.settings.speaker);
    if (!read.error.empty()) return Failure{read.error};
    if (where) ui::toggle_speaker(state);
    return {};
}

void read_theme(WordReader& read, const Word& name, ui::Settings& settings) {
    read.choose("--theme", name, {"dark", "light", "contrast"}, settings.theme);
}

Result<ui::AppState> make_session(const Arguments& arguments, ui::Settings settings) {
    WordReader read;
    read_theme(read, arguments.theme, settings);
    read.choose("--palette", arguments.palette, {"usual", "safe"}, settings.palette);
    if (!read.error.empty()) return Failure{read.error};
    if (arguments.source && (arguments.link || arguments.tour || arguments.step ||
                             arguments.lesson.value_or("inside") != "inside"))
        return Failure{"--source opens the page Inside; leave out lesson, step, link and tour."};
    if (arguments.source)
        if (const auto text = read_own_source(*arguments.source); !text) return Failure{text.error};
    if (arguments.link) return make_session_at_link(arguments, std::move(settings));
    const auto page = arguments.source ? std::optional(ui::Page::inside) : find_page(arguments.lesson);
    if (loads_results(arguments.problem, page)) return make_session_with(arguments, std::move(settings));
    if (arguments.problem.load && is_bundle_file(*arguments.problem.load))
        return make_session_with_bundle(arguments, std::move(settings));
    if (page && arguments.step)
        return Failure{"The page " + *arguments.lesson + " has no steps; leave out --step."};
    const auto lesson = choose_lesson(page ? Word() : arguments.lesson);
    if (!lesson) return Failure{lesson.error};
    SavedView view;
    Result<Problem> problem = make_problem(arguments.problem, &view);
    if (!problem) return Failure{problem.error};
    const Lesson* const saved = view.lesson.empty() ? nullptr : find_lesson(view.lesson);
    const Lesson& first = saved && !arguments.lesson ? *saved : **lesson;
    if (auto sentence = refuse_choices(first, arguments.problem)) return Failure{*sentence};
    Result<ui::AppState> state = make_state(*lesson, std::move(*problem), std::move(settings));
    if (!state) return state;
    // A file may say where its walk stood; what the command line says comes first.
    if (arguments.lesson) view = {};
    ui::restore_view(*state, view);
    state->step_age = ui::AppState{}.step_age;
    state->presenter |= arguments.presenter;
    if (page) state->page = *page;
    if (page == ui::Page::compare) ui::compare_page(*state).own = !arguments.problem.empty();
    if (page == ui::Page::inside) state->inside.own = !arguments.problem.empty();
    if (arguments.source) {
        std::fprintf(stderr, "tilewalk: %s\n", own_code_warning(*arguments.source).c_str());
        ui::open_kernel_source(*state, *arguments.source, true);
    }
    return state;
}

}  // namespace tilewalk
