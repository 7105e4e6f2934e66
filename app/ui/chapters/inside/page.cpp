#include "app/ui/chapters/inside/page.h"

#include "app/ui/state/state.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::ui {

namespace {

using inside::Matter;
using inside::Stride;

// As large as the smallest tiles of the kernels.
constexpr int inside_least_tile = 64;
constexpr double inside_frame_while_running = 0.1;

std::string inside_request_key(const AppState& state) {
    const InsideForm& f = state.inside;
    return str(reinterpret_cast<std::uintptr_t>(&recorded_problem(state))) + " " + f.kernel + " " +
           name_of(f.dtype) + " " + str(f.block);
}

std::string size_of_recorded(const Problem& p) {
    return (p.N() == p.N_kv() ? str(p.N()) : str(p.N()) + ", " + str(p.N_kv())) + " × " + str(p.d());
}

void take_record(AppState& state, Result<std::shared_ptr<const InsideWalk>> result) {
    InsidePage& page = inside_page(state);
    page.run.reset();
    page.failure = result.error;
    if (!result) {
        page.shown.reset();
        return notify(state, page.failure);
    }
    page.shown = std::move(*result);
    InsideForm& f = state.inside;
    f.playing = false;
    f.launch = std::clamp(f.launch, 0, std::max(0, static_cast<int>(page.shown->launches.size()) - 1));
    go_inside(state, f.warp, f.step);
}

}  // namespace

InsideWalk::InsideWalk(inside::Record of_run, std::string of_problem, int of_block)
    : record(std::move(of_run)), problem(std::move(of_problem)), block(of_block) {
    for (const inside::Launch& launch : record.launches) {
        if (launch.blocks.empty() || launch.blocks.front().events.empty()) continue;
        // The origins look into the steps beside them: both are made in their place.
        struct Made : Launch {
            Made(const inside::Record& r, const inside::Launch& l, const inside::BlockRecord& b)
                : Launch{&l, &b, inside::Steps(r, l, b), inside::Origins(r, b, steps)} {}
        };
        launches.push_back(std::make_unique<const Made>(record, launch, launch.blocks.front()));
    }
}

InsidePage& inside_page(AppState& state) {
    if (!state.kernel_walk) {
        state.kernel_walk = std::make_shared<InsidePage>();
        InsidePage& page = *state.kernel_walk;
        page.kernels = gpu::traceable_kernels();
        for (const EmbeddedFile& file : gpu::kernel_sources())
            page.sources.push_back(inside::source_text(std::string("cuda/kernels/") + file.name, file.text));
        if (auto several = random_problem(128, 64, 1))
            page.several = std::make_shared<const Problem>(std::move(*several));
    }
    return *state.kernel_walk;
}

bool inside_offers_several(const AppState& state) {
    return state.kernel_walk && state.kernel_walk->several && state.problem->N() <= inside_least_tile &&
           state.problem->N_kv() <= inside_least_tile;
}

const Problem& recorded_problem(const AppState& state) {
    return inside_offers_several(state) && !state.inside.own ? *state.kernel_walk->several : *state.problem;
}

const gpu::TraceableKernel* inside_kernel(const AppState& state) {
    if (!state.kernel_walk) return nullptr;
    const auto& all = state.kernel_walk->kernels;
    const auto found = std::ranges::find(all, state.inside.kernel, &gpu::TraceableKernel::name);
    return found == all.end() ? nullptr : &*found;
}

void choose_inside_kernel(AppState& state, const std::string& name) {
    state.inside.kernel = name;
    state.inside.launch = state.inside.step = state.inside.block = 0;
    const gpu::TraceableKernel* kernel = inside_kernel(state);
    if (!kernel || kernel->types.empty()) return;
    if (std::ranges::find(kernel->types, state.inside.dtype) == kernel->types.end())
        state.inside.dtype = kernel->types.front();
}

void start_record(AppState& state) {
    InsidePage& page = inside_page(state);
    page.done = page.asked = inside_request_key(state);
    page.run = std::make_unique<InsideRun>();
    page.run->blocks_done = std::make_shared<std::atomic<int>>(0);
    page.run->started = std::chrono::steady_clock::now();
    gpu::RecordRequest request;
    request.kernel = state.inside.kernel, request.dtype = state.inside.dtype;
    request.problem = recorded_problem(state);
    request.blocks = {state.inside.block};
    request.blocks_done = page.run->blocks_done;
    using Made = Result<std::shared_ptr<const InsideWalk>>;
    page.run->result = Background<Made>([request](std::stop_token stop) mutable -> Made {
        request.stop = stop;
        auto record = gpu::record_kernel(request);
        if (!record) return Failure{record.error};
        auto walk = std::make_shared<const InsideWalk>(std::move(*record), size_of_recorded(request.problem),
                                                       request.blocks.front());
        if (walk->launches.empty())
            return Failure{"There is no block " + str(request.blocks.front()) + " of a kernel of " +
                           request.kernel + " to walk through."};
        return walk;
    });
}

void cancel_record(AppState& state) {
    InsidePage& page = inside_page(state);
    if (!page.run) return;
    page.run.reset();
    notify(state, "Cancelled; what is shown is what was there before.");
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
    if (page.run && page.run->result.ready()) take_record(state, page.run->result.take());
    if (page.beside && page.beside != state.problem) state.inside.own = true;  // another one was opened
    page.beside = state.problem;
    page.asked = inside_request_key(state);
    if (page.asked != page.done && !state.pending) start_record(state);
    play_inside(state, seconds);
}

void wait_for_inside(AppState& state) {
    InsidePage& page = inside_page(state);
    refresh_inside(state, 0);
    if (page.run) take_record(state, page.run->result.take());
}

InsidePlace place_inside(const AppState& state) {
    InsidePlace at;
    if (!state.kernel_walk || !state.kernel_walk->shown) return at;
    at.walk = state.kernel_walk->shown.get();
    const InsideForm& f = state.inside;
    if (at.walk->launches.empty()) return at;
    const auto last = static_cast<int>(at.walk->launches.size()) - 1;
    at.launch = at.walk->launches[static_cast<std::size_t>(std::clamp(f.launch, 0, last))].get();
    at.warp = std::clamp(f.warp, 0, std::max(0, at.steps().warps() - 1));
    if (at.steps().count(at.warp) == 0) return at;
    at.k = std::clamp(f.step, 0, at.steps().count(at.warp) - 1);
    at.lane = f.lane;
    at.n = at.steps().event(at.warp, at.k);
    at.event = &at.block().events[at.n];
    at.words = at.block().words_of(*at.event);
    return at;
}

Stride inside_stride(const AppState& state) { return static_cast<Stride>(state.inside.stride); }

void go_inside(AppState& state, int warp, int k) {
    state.inside.warp = warp, state.inside.step = k;
    const InsidePlace at = place_inside(state);
    state.inside.warp = at.warp, state.inside.step = at.k;
}

void go_inside_by(AppState& state, Stride stride, int by) {
    const InsidePlace at = place_inside(state);
    if (at) go_inside(state, at.warp, at.steps().go(at.warp, at.k, stride, by));
}

void choose_warp(AppState& state, int warp) {
    const InsidePlace at = place_inside(state);
    if (!at || warp < 0 || warp >= at.steps().warps()) return;
    go_inside(state, warp, at.steps().at_slot(warp, at.steps().slot(at.warp, at.k)));
}

void choose_lane(AppState& state, int lane) {
    state.inside.lane = (lane + 32) % 32;
    state.inside.cell = 0;
}

void toggle_inside_play(AppState& state) {
    const InsidePlace at = place_inside(state);
    if (!at) return;
    if (!state.inside.playing && at.k + 1 == at.steps().count(at.warp)) go_inside(state, at.warp, 0);
    state.inside.playing = !state.inside.playing, state.inside.elapsed = 0;
}

const inside::SourceText* source_of(const AppState& state, const std::string& file) {
    const auto& all = state.kernel_walk->sources;
    const auto found = std::ranges::find(all, file, &inside::SourceText::file);
    return found == all.end() ? nullptr : &*found;
}

Role role_of(Matter matter) {
    switch (matter) {
    case Matter::Q:
    case Matter::dQ: return Role::Q;
    case Matter::K:
    case Matter::dK: return Role::K;
    case Matter::V:
    case Matter::dV: return Role::V;
    case Matter::S:
    case Matter::P: return Role::S;
    case Matter::O:
    case Matter::dO: return Role::O;
    case Matter::L: return Role::l;
    default: return Role::none;
    }
}

// ---- Keys and clock

namespace {

bool escape_inside(AppState& state) {
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
    const auto races_here = [&](const inside::Event& e) {
        return std::ranges::any_of(at.launch->launch->races, [&](const inside::Race& race) {
            return (race.first.place == e.place && race.first.op == e.op) ||
                   (race.second.place == e.place && race.second.op == e.op);
        });
    };
    const int count = at.steps().count(at.warp);
    for (int by = 1; by <= count; ++by) {
        const int k = (at.k + by) % count;
        if (races_here(at.block().events[at.steps().event(at.warp, k)])) return go_inside(state, at.warp, k);
    }
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
            {g, "S", "several tiles, or the walk's small problem", {{Key::s}}}};
}

bool answer_inside_key(AppState& state, const KeyPress& press) {
    if (is_direction(press.key)) return answer_inside_direction(state, press);
    if (press.ctrl || press.alt) return false;
    InsideForm& f = state.inside;
    switch (press.key) {
    case Key::space:
    case Key::enter: return toggle_inside_play(state), true;
    case Key::escape: return escape_inside(state);
    case Key::c: return f.cell = (f.cell + 1) % 4, true;
    case Key::m: return f.memory = !inside_shows_memory(state), f.memory_of = f.step, true;
    case Key::l: return state.kernel_walk->straight = !state.kernel_walk->straight, true;
    case Key::d: return next_race(state), true;
    case Key::s:
        if (inside_offers_several(state))
            f.own = !f.own;
        else
            notify(state, "The walk's problem has several tiles of its own.");
        return true;
    default: return prints_one_of(press.key, "ibxe");  // which belong to a walk
    }
}

double inside_idle_seconds(const AppState& state) {
    if (!state.kernel_walk || state.kernel_walk->run) return inside_frame_while_running;
    if (!state.inside.playing) return std::numeric_limits<double>::infinity();
    return std::max(0.0, 1 / state.settings.speed - state.inside.elapsed);
}

}  // namespace tilewalk::ui
