// The runs of the page, its keys and its clock.
#include "app/ui/chapters/inside/bridge.h"
#include "app/ui/chapters/inside/ladder.h"
#include "app/ui/kit/focus.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>

namespace tilewalk::ui {

namespace {

using inside::Stride;

constexpr double inside_frame_while_running = 0.1;

std::string sound_request_key(const AppState& state) {
    const InsideForm& f = state.inside;
    const std::string own = f.source.empty() ? "" : " " + f.source + " " + str(f.compiled);
    return str(reinterpret_cast<std::uintptr_t>(&recorded_problem(state))) + " " + f.kernel + own + " " +
           name_of(f.dtype) + " " + str(f.block);
}

std::string inside_request_key(const AppState& state) {
    return sound_request_key(state) + " " + state.inside.fault;
}

void take_record(AppState& state, Result<MadeWalks> result) {
    InsidePage& page = inside_page(state);
    page.run.reset();
    page.failure = result.error;
    if (!result) {
        page.shown.reset(), page.sound.reset(), page.broken.reset();
        return notify(state, page.failure);
    }
    InsideForm& f = state.inside;
    page.shown = result->shown, page.sound = result->sound, page.broken = result->broken;
    page.sound_of = sound_request_key(state);
    if (!result->refused.empty()) {
        f.fault.clear();
        page.done = inside_request_key(state);
        notify(state, result->refused);
    }
    f.playing = false;
    f.launch = page.shown->launches.empty() ? 0 : page.shown->launch_at(f.launch);
    if (std::exchange(f.to_fault, false) && page.broken) return go_to_inside_fault(state);
    go_inside(state, f.warp, f.step);
}

}  // namespace

static Result<std::shared_ptr<const InsideWalk>>
make_own_walk(const gpu::RecordRequest& request, const decltype(Hooks::record_source)& record_source,
              const std::string& name) {
    if (!record_source) return Failure{"Kernels of your own cannot be compiled here."};
    std::string text;
    auto record = record_source(request, text);
    if (!record) return Failure{record.error};
    auto walk = std::make_shared<const InsideWalk>(std::move(*record), size_of_recorded(request.problem),
                                                   request.blocks.front(), std::move(text));
    if (walk->launches.empty())
        return Failure{"There is no block " + str(request.blocks.front()) + " of a kernel of " + name +
                       " to walk through."};
    return walk;
}

void start_record(AppState& state) {
    InsidePage& page = inside_page(state);
    page.done = page.asked = inside_request_key(state);
    const bool known = page.sound && page.sound_of == sound_request_key(state);
    if (known && state.inside.fault.empty()) {
        page.run.reset();
        return take_record(state,
                           MadeWalks{page.sound, page.sound,
                                     state.inside.source.empty() ? nullptr : own_race(*page.sound), ""});
    }
    page.run = std::make_unique<InsideRun>();
    page.run->blocks_done = std::make_shared<std::atomic<int>>(0);
    page.run->started = std::chrono::steady_clock::now();
    gpu::RecordRequest request;
    request.kernel = state.inside.kernel, request.dtype = state.inside.dtype;
    request.problem = recorded_problem(state);
    request.blocks = {state.inside.block};
    request.blocks_done = page.run->blocks_done;
    const bool own = !state.inside.source.empty();
    if (own) request.kernel = state.inside.source, *page.run->blocks_done = -1;
    page.run->result = Background<Result<MadeWalks>>(
        [request, own, sound = known ? page.sound : nullptr, fault = state.inside.fault,
         record_source = state.hooks.record_source,
         name = inside_kernel_name(state)](std::stop_token stop) mutable -> Result<MadeWalks> {
            request.stop = stop;
            if (own && !sound) {
                auto made = make_own_walk(request, record_source, name);
                if (!made) return Failure{made.error};
                sound = std::move(*made);
            }
            if (own)
                return MadeWalks{sound, sound, own_race(*sound),
                                 fault.empty() ? "" : "Only kernels of the ladder can be broken."};
            return make_walks(request, sound, fault);
        });
}

void cancel_record(AppState& state) {
    InsidePage& page = inside_page(state);
    if (!page.run) return;
    page.run.reset();
    // A kernel of the user's own gives way to the one that is shown.
    if (!state.inside.source.empty() && page.shown && page.shown->own_text.empty()) {
        choose_inside_kernel(state, page.shown->record.kernel);
        state.inside.dtype = page.shown->record.dtype, state.inside.block = page.shown->block;
    }
    // What was left out stays in the form only if it is shown.
    if (page.shown)
        state.inside.fault = page.broken && !page.broken->own ? inside::name_of(page.broken->fault) : "";
    page.done = inside_request_key(state);
    notify(state, page.shown ? "Cancelled; what is shown is what was there before." : "Cancelled.");
}

// Where a tour leads, once its record is there.
static void go_where_wanted(AppState& state) {
    InsidePage& page = inside_page(state);
    InsideForm& f = state.inside;
    if (!f.wanted || page.run || page.asked != page.done || !page.shown) return;
    const inside::StepQuery query = *f.wanted;
    f.wanted.reset();
    f.warp = query.warp, f.lane = query.lane, f.cell = query.cell;
    // What is broken tells where to look, unless a step is named.
    if (page.broken && query == inside::StepQuery{}) {
        go_to_inside_fault(state);
    } else {
        const std::string run = "The run of " + inside_kernel_name(state);
        if (query.launch > static_cast<int>(page.shown->launches.size()))
            return notify(state, run + " has no launch " + str(query.launch) + ".");
        f.launch = page.shown->launch_at(query.launch - 1);
        const InsidePlace at = place_inside(state);
        const int k = at.launch ? at.steps().find(at.block(), query) : -1;
        if (k < 0) return notify(state, run + " has no such instruction.");
        go_inside(state, query.warp, k);
    }
    f.wanted_step = f.step, f.wanted_launch = f.launch;
}

static void play_inside(AppState& state, float seconds) {
    InsideForm& f = state.inside;
    if (!f.playing) return;
    f.elapsed += seconds;
    const auto step = static_cast<float>(1 / state.settings.speed);
    for (; f.elapsed >= step && f.playing; f.elapsed -= step) {
        const InsidePlace at = place_inside(state);
        if (!at || at.k + 1 >= at.steps().count(at.warp))
            f.playing = false;
        else
            go_inside_by(state, inside_stride(state), 1);
    }
}

void refresh_inside(AppState& state, float seconds) {
    InsidePage& page = inside_page(state);
    // The list that it was chosen from is closed now: its keys are the page's again.
    if (std::exchange(page.chosen, false)) clear_focus();
    if (page.run && page.run->result.ready()) take_record(state, page.run->result.take());
    const bool by_user = !state.tour && !state.inside.wanted;
    if (by_user && page.beside && page.beside != state.problem)  // another one was opened
        state.inside.own = true, page.brought.reset();
    if (state.tour && state.inside.wanted) page.brought.reset();
    page.beside = state.problem;
    page.asked = inside_request_key(state);
    if (page.asked != page.done && !state.pending && !asks_to_run(state)) start_record(state);
    refresh_bridge(state);
    refresh_ladder(state);
    go_where_wanted(state);
    play_inside(state, seconds);
}

void wait_for_inside(AppState& state) {
    InsidePage& page = inside_page(state);
    // The bridge may lead to another block, which runs then.
    for (int rounds = 0; rounds < 3; ++rounds) {
        refresh_inside(state, 0);
        if (page.run) take_record(state, page.run->result.take());
        wait_for_bridge(state);
    }
    wait_for_ladder(state);
    go_where_wanted(state);
}

// ---- Keys and clock

namespace {

bool escape_inside(AppState& state) {
    if (asks_to_run(state)) return agree_to_run(state, false), true;
    if (state.inside.playing) return state.inside.playing = false, true;
    if (!state.kernel_walk || !state.kernel_walk->run) return false;
    cancel_record(state);
    return true;
}

Stride stride_of(const AppState& state, const KeyPress& press) {
    return press.shift  ? Stride::line
           : press.ctrl ? Stride::barrier
           : press.alt  ? Stride::tile
                        : inside_stride(state);
}

// To the next access that races, round and round.
void next_race(AppState& state) {
    const InsidePlace at = place_inside(state);
    if (!at) return;
    if (at.launch->launch->races.empty()) return notify(state, "No two accesses of this launch race.");
    std::map<std::uint32_t, std::uint32_t> lanes_of;  // by event
    for (const inside::Race& race : at.launch->launch->races)
        for (const inside::RaceAccess& side : {race.first, race.second})
            if (side.block == at.walk->block && at.origins().step_number(side.event) >= 0)
                lanes_of[side.event] |= side.lanes;
    if (lanes_of.empty()) return notify(state, "No access of this block races.");
    const auto next = lanes_of.upper_bound(at.n);
    const auto& [event, lanes] = next == lanes_of.end() ? *lanes_of.begin() : *next;
    choose_lane(state, std::countr_zero(lanes));
    go_inside(state, at.block().events[event].warp, at.origins().step_number(event));
}

bool answer_inside_direction(AppState& state, const KeyPress& press) {
    const InsidePlace at = place_inside(state);
    state.inside.playing = false;
    if (!at) return true;
    switch (press.key) {
    case Key::left:
    case Key::page_up: go_inside_by(state, stride_of(state, press), -1); break;
    case Key::right:
    case Key::page_down: go_inside_by(state, stride_of(state, press), 1); break;
    case Key::up: press.shift ? choose_lane(state, at.lane - 1) : choose_warp(state, at.warp - 1); break;
    case Key::down: press.shift ? choose_lane(state, at.lane + 1) : choose_warp(state, at.warp + 1); break;
    case Key::home: go_inside(state, at.warp, 0); break;
    default: go_inside(state, at.warp, at.steps().count(at.warp) - 1); break;
    }
    return true;
}

}  // namespace

std::vector<Shortcut> inside_keys() {
    const char* const g = "Inside";
    const auto with = [](Key key, bool shift, bool ctrl, bool alt) {
        return KeyPress{key, shift, ctrl, alt};
    };
    return {{g, "←  →", "previous, next instruction of the warp", {{Key::left}, {Key::right}}},
            {g,
             "Shift ←  →",
             "previous, next line of the source",
             {with(Key::left, true, false, false), with(Key::right, true, false, false)}},
            {g,
             "Ctrl ←  →",
             "previous, next barrier",
             {with(Key::left, false, true, false), with(Key::right, false, true, false)}},
            {g,
             "Alt ←  →",
             "previous, next tile",
             {with(Key::left, false, false, true), with(Key::right, false, false, true)}},
            {g, "↑  ↓", "previous, next warp", {{Key::up}, {Key::down}}},
            {g,
             "Shift ↑  ↓",
             "previous, next lane",
             {with(Key::up, true, false, false), with(Key::down, true, false, false)}},
            {g, "Home  End", "first, last instruction", {{Key::home}, {Key::end}}},
            {g, "Space", "play, pause", {{Key::space}}},
            {g, "C", "next cell of the lane", {{Key::c}}},
            {g, "M", "registers or memory", {{Key::m}}},
            {g, "L", "banks as they are, or without a swizzle", {{Key::l}}},
            {g, "D", "next access that races", {{Key::d}}},
            {g, "X", "break it, or put it back", {{Key::x}}},
            {g, "F", "what the fault does, or the step", {{Key::f}}},
            {g, "S", "the next size of the problem", {{Key::s}}},
            {g, "G", "go to an instruction, by its number", {{Key::g}}},
            {g, "R", "two rungs, or your own kernel anew", {{Key::r}}}};
}

bool answer_inside_key(AppState& state, const KeyPress& press) {
    if (answer_ladder_key(state, press)) return true;
    if (is_direction(press.key)) return answer_inside_direction(state, press);
    if (press.ctrl || press.alt) return false;
    InsideForm& f = state.inside;
    if (asks_to_run(state) && press.key == Key::enter) return agree_to_run(state, true), true;
    switch (press.key) {
    case Key::r:
        if (f.source.empty())
            f.ladder = !f.ladder;
        else
            open_kernel_source(state, std::string(f.source), true);
        return true;
    case Key::space:
    case Key::enter: return toggle_inside_play(state), true;
    case Key::escape: return escape_inside(state);
    case Key::c: return f.cell = (f.cell + 1) % sums_of_lane(place_inside(state)), true;
    case Key::m: return f.memory = !inside_shows_memory(state), f.memory_of = f.step, true;
    case Key::l: return state.kernel_walk->straight = !state.kernel_walk->straight, true;
    case Key::d: return next_race(state), true;
    case Key::g: return state.show_goto = true, state.goto_text[0] = 0, true;
    case Key::x: return break_or_repair_inside(state), true;
    case Key::f: return f.step_told = !f.step_told, true;
    case Key::s: {
        const int next = inside_size(state) + 1;
        return choose_inside_size(state, next < std::ssize(inside_sizes()) ? next : -1), true;
    }
    default: return prints_one_of(press.key, "ibe");  // which belong to a walk
    }
}

double inside_idle_seconds(const AppState& state) {
    if (!state.kernel_walk || state.kernel_walk->run || bridge_under_way(state) || ladder_under_way(state))
        return inside_frame_while_running;
    if (!state.inside.playing) return std::numeric_limits<double>::infinity();
    return std::max(0.0, 1 / state.settings.speed - state.inside.elapsed);
}

}  // namespace tilewalk::ui
