// What the two rungs do, counted beside the thread that draws, and the keys that choose them.
#include "app/ui/chapters/inside/ladder.h"

#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

const gpu::TraceableKernel* kernel_named(const AppState& state, const std::string& name) {
    const auto& all = state.kernel_walk->kernels;
    const auto found = std::ranges::find(all, name, &gpu::TraceableKernel::name);
    return found == all.end() ? nullptr : &*found;
}

DType type_of(const AppState& state, const gpu::TraceableKernel& kernel) {
    const bool has = std::ranges::find(kernel.types, state.inside.dtype) != kernel.types.end();
    return has || kernel.types.empty() ? state.inside.dtype : kernel.types.front();
}

std::string ladder_key(const AppState& state) {
    const InsideForm& f = state.inside;
    return str(reinterpret_cast<std::uintptr_t>(&recorded_problem(state))) + " " + f.kernel + " " +
           ladder_against(state) + " " + name_of(f.dtype);
}

void start_ladder(AppState& state, LadderRun& run) {
    const gpu::TraceableKernel* const after = kernel_named(state, state.inside.kernel);
    const gpu::TraceableKernel* const before = kernel_named(state, ladder_against(state));
    run.shown.reset(), run.failure.clear();
    if (!after || !before)
        return void(run.failure = "There is no other rung to set beside " + state.inside.kernel + ".");
    gpu::RecordRequest request;
    request.problem = recorded_problem(state);
    request.timed = &inside::costs_of(inside::ladder_capability);
    struct Side {
        std::string name;
        DType type;
    };
    const Side sides[] = {{before->name, type_of(state, *before)}, {after->name, type_of(state, *after)}};
    run.result = Background<Result<LadderPair>>(
        [request, first = sides[0], second = sides[1]](std::stop_token stop) mutable -> Result<LadderPair> {
            request.stop = stop;
            LadderPair pair;
            for (const auto& [side, to] : {std::pair(first, &pair.before), {second, &pair.after}}) {
                request.kernel = side.name, request.dtype = side.type;
                const auto record = gpu::record_kernel(request);
                if (!record) return Failure{record.error};
                *to = totals_of(*record, *request.timed);
            }
            return pair;
        });
}

void take_ladder(LadderRun& run) {
    auto result = run.result.take();
    run.result = {};
    if (result)
        run.shown = std::move(*result);
    else
        run.failure = result.error;
}

/// The rung `by` further on the ladder, but for one.
std::string rung_by(const AppState& state, const std::string& from, int by, const std::string& without) {
    std::vector<std::string> names;
    for (const gpu::TraceableKernel* kernel : rungs_beside(state))
        if (kernel->name != without) names.push_back(kernel->name);
    const auto at = std::ranges::find(names, from) - names.begin();
    const auto last = std::ssize(names) - 1;
    return last < 0 ? from : names[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + by, 0, last))];
}

}  // namespace

std::vector<const gpu::TraceableKernel*> rungs_beside(const AppState& state) {
    std::vector<const gpu::TraceableKernel*> out;
    const gpu::TraceableKernel* const chosen = inside_kernel(state);
    for (const gpu::TraceableKernel& kernel : state.kernel_walk->kernels)
        if (chosen && kernel.direction == chosen->direction) out.push_back(&kernel);
    return out;
}

std::string ladder_against(const AppState& state) {
    const auto rungs = rungs_beside(state);
    const auto has = [&](const std::string& name) {
        return std::ranges::any_of(rungs, [&](const auto* kernel) { return kernel->name == name; });
    };
    const InsideForm& f = state.inside;
    if (f.against != f.kernel && has(f.against)) return f.against;
    // f6 is a branch of the ladder: FlashAttention-3 changes FlashAttention-2.
    if (f.kernel == "f7-hopper" && has("f5-flash2")) return "f5-flash2";
    for (std::size_t n = 0; n < rungs.size(); ++n)
        if (rungs[n]->name == f.kernel)
            return n > 0 ? rungs[n - 1]->name : rungs.size() > 1 ? rungs[1]->name : "";
    return "";
}

void refresh_ladder(AppState& state) {
    InsidePage& page = inside_page(state);
    if (!state.inside.ladder) return;
    if (!page.ladder) page.ladder = std::make_shared<LadderRun>();
    LadderRun& run = *page.ladder;
    if (run.result.ready()) take_ladder(run);
    if (run.asked == ladder_key(state) || state.pending) return;
    run.asked = ladder_key(state);
    start_ladder(state, run);
}

void wait_for_ladder(AppState& state) {
    refresh_ladder(state);
    if (ladder_under_way(state)) take_ladder(*inside_page(state).ladder);
}

bool ladder_under_way(const AppState& state) {
    return state.kernel_walk && state.kernel_walk->ladder && state.kernel_walk->ladder->result.begun();
}

bool answer_ladder_key(AppState& state, const KeyPress& press) {
    if (!state.inside.ladder || press.ctrl || press.alt) return false;
    const int by = press.key == Key::up || press.key == Key::left || press.key == Key::page_up ? -1 : 1;
    const std::string against = ladder_against(state);
    switch (press.key) {
    case Key::left:
    case Key::right:
    case Key::page_up:
    case Key::page_down: {
        state.inside.against = against;
        choose_inside_kernel(state, rung_by(state, state.inside.kernel, by, against));
        return true;
    }
    case Key::up:
    case Key::down: return state.inside.against = rung_by(state, against, by, state.inside.kernel), true;
    case Key::escape: return state.inside.ladder = false, true;
    default: return is_direction(press.key) || press.key == Key::space || press.key == Key::enter;
    }
}

}  // namespace tilewalk::ui
