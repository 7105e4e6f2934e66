#include "app/ui/chapters/inside/page.h"

#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "core/class/questions_inside.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tilewalk::ui {

namespace {

using inside::Matter;
using inside::Stride;

// As large as the smallest tiles of the kernels.
constexpr int inside_least_tile = 64;

}  // namespace

static std::vector<inside::SourceText> texts_of_kernels() {
    std::vector<inside::SourceText> all;
    for (const EmbeddedFile& file : gpu::kernel_sources())
        all.push_back(inside::source_text(std::string("cuda/kernels/") + file.name, file.text));
    return all;
}

InsideWalk::InsideWalk(inside::Record of_run, std::string of_problem, int of_block, std::string text,
                       const std::map<int, inside::HeldBack>& held)
    : record(std::move(of_run)), problem(std::move(of_problem)), block(of_block), own_text(std::move(text)),
      own_source(inside::source_text(record.kernel, own_text)) {
    auto texts = texts_of_kernels();
    if (!own_text.empty()) texts.push_back(own_source);
    for (const inside::Launch& launch : record.launches) {
        if (launch.blocks.empty() || launch.blocks.front().events.empty()) continue;
        // The origins look into the steps beside them: both are made in their place.
        struct Made : Launch {
            Made(const inside::Record& r, const inside::Launch& l, const inside::BlockRecord& b,
                 std::optional<inside::HeldBack> turned, bool known,
                 const std::vector<inside::SourceText>& texts)
                : Launch{&l,
                         &b,
                         inside::Steps(r, l, b, turned),
                         inside::Origins(r, b, steps),
                         inside::SharedMap(b, steps, origins),
                         inside::Barriers(r, b, steps, origins),
                         inside::LineTimes(r, b, steps),
                         {},
                         inside::roles_of(b, steps.warps()),
                         inside::Calls(r, b, steps, origins, texts)} {
                for (int w = 0; w < steps.warps(); ++w)
                    phases.push_back(inside::phases_of(r, b, steps, origins, w, known));
            }
        };
        const auto turned = held.find(static_cast<int>(launches.size()));
        launches.push_back(std::make_unique<const Made>(
            record, launch, launch.blocks.front(),
            turned == held.end() ? std::nullopt : std::optional(turned->second), own_text.empty(), texts));
    }
}

int InsideWalk::launch_at(int n) const {
    if (n >= 0) return std::min(n, std::max(0, static_cast<int>(launches.size()) - 1));
    const auto steps = [](const std::unique_ptr<const Launch>& one) { return one->launch->steps(); };
    return static_cast<int>(std::ranges::max_element(launches, {}, steps) - launches.begin());
}

InsidePage& inside_page(AppState& state) {
    if (!state.kernel_walk) {
        state.kernel_walk = std::make_shared<InsidePage>();
        InsidePage& page = *state.kernel_walk;
        page.kernels = gpu::traceable_kernels();
        page.sources = texts_of_kernels();
        for (const RecordedSize& size : inside_sizes())
            if (auto random = random_problem(size.N, size.d, 1))
                page.sized.push_back(std::make_shared<const Problem>(std::move(*random)));
    }
    return *state.kernel_walk;
}

std::span<const RecordedSize> inside_sizes() {
    static constexpr RecordedSize table[] = {{128, 64, "128x64", "two tiles of 64 keys"},
                                             {256, 64, "256x64", "tiles of 128 keys"},
                                             {256, 128, "256x128", "the longest rows"}};
    static_assert(table[1].N <= gpu::most_recorded_N && table[2].d <= gpu::most_recorded_d);
    return table;
}

int inside_size(const AppState& state) {
    if (!state.kernel_walk || state.kernel_walk->brought) return -1;
    const InsideForm& f = state.inside;
    if (f.size >= 0) return std::min(f.size, static_cast<int>(state.kernel_walk->sized.size()) - 1);
    const bool one_tile =
        state.problem->N() <= inside_least_tile && state.problem->N_kv() <= inside_least_tile;
    return one_tile && !f.own && !state.kernel_walk->sized.empty() ? 0 : -1;
}

void choose_inside_size(AppState& state, int size) {
    inside_page(state).brought.reset();
    state.inside.size = size, state.inside.own = size < 0;
}

const Problem& recorded_problem(const AppState& state) {
    if (state.kernel_walk && state.kernel_walk->brought) return *state.kernel_walk->brought;
    const int size = inside_size(state);
    return size >= 0 ? *state.kernel_walk->sized[static_cast<std::size_t>(size)] : *state.problem;
}

const gpu::TraceableKernel* inside_kernel(const AppState& state) {
    if (!state.kernel_walk || !state.inside.source.empty()) return nullptr;
    const auto& all = state.kernel_walk->kernels;
    const auto found = std::ranges::find(all, state.inside.kernel, &gpu::TraceableKernel::name);
    return found == all.end() ? nullptr : &*found;
}

bool is_kernel_source(const std::vector<std::string>& paths) {
    return paths.size() == 1 && (paths[0].ends_with(".cu") || paths[0].ends_with(".CU"));
}

void open_kernel_source(AppState& state, const std::string& path, bool agreed) {
    state.page = Page::inside;
    InsideForm& f = state.inside;
    f.source = path, f.agreed = agreed, ++f.compiled;
    f.dtype = DType::f32;
    f.fault.clear();
    f.launch = -1, f.step = f.block = 0;
    f.step_told = false, f.to_fault = true;
}

void agree_to_run(AppState& state, bool yes) {
    state.inside.agreed = yes;
    if (!yes) choose_inside_kernel(state, state.inside.kernel);
}

bool asks_to_run(const AppState& state) { return !state.inside.source.empty() && !state.inside.agreed; }

bool awaits_own_kernel(const AppState& state) {
    return asks_to_run(state) ||
           (!state.inside.source.empty() && state.kernel_walk && state.kernel_walk->run);
}

std::string inside_kernel_name(const AppState& state) {
    const InsideForm& f = state.inside;
    return f.source.empty() ? f.kernel : f.source.substr(f.source.find_last_of('/') + 1);
}

void choose_inside_kernel(AppState& state, const std::string& name) {
    state.inside.kernel = name;
    state.inside.source.clear();
    state.inside.launch = -1, state.inside.step = state.inside.block = 0;
    state.inside.fault.clear();
    inside_page(state).chosen = true;
    const gpu::TraceableKernel* kernel = inside_kernel(state);
    if (!kernel || kernel->types.empty()) return;
    if (std::ranges::find(kernel->types, state.inside.dtype) == kernel->types.end())
        state.inside.dtype = kernel->types.front();
}

// The walk through a kernel of the user's own.
InsidePlace place_inside(const AppState& state) {
    if (!state.kernel_walk || !state.kernel_walk->shown) return {};
    const InsidePage& page = *state.kernel_walk;
    InsidePlace at = place_in(*page.shown, state.inside);
    if (page.bridge_of == page.shown) at.bridge = page.bridge.get();
    return at;
}

InsidePlace place_in(const InsideWalk& walk, const InsideForm& f) {
    InsidePlace at;
    at.walk = &walk;
    if (at.walk->launches.empty()) return at;
    at.launch = at.walk->launches[static_cast<std::size_t>(walk.launch_at(f.launch))].get();
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

// Questions are on: one about the step that comes next holds it back.
static bool asks_before(AppState& state, const InsidePlace& at, int next) {
    if (!state.quiz || next != at.k + 1) return false;
    const inside::Event& event = at.block().events[at.steps().event(at.warp, next)];
    return asks_inside(state, at.launch, event.place,
                       questions_inside({at.record(), at.block(), at.steps(), at.origins()}, at.warp, next),
                       {at.warp, at.k, next});
}

void go_inside_by(AppState& state, Stride stride, int by) {
    const InsidePlace at = place_inside(state);
    if (!at) return;
    const int to = at.steps().go(at.warp, at.k, stride, by);
    if (stride == Stride::instruction && asks_before(state, at, to)) return;
    go_inside(state, at.warp, to);
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

void go_to_word(AppState& state, int warp, int step, int lane, int word) {
    choose_lane(state, lane);
    go_inside(state, warp, step);
    const InsidePlace at = place_inside(state);
    const int first = at ? inside::first_sum(at.event->op) : -1;
    if (first >= 0 && word >= first) state.inside.cell = word - first;
}

int step_of_sums(const InsidePlace& at) {
    return at ? inside::brings_sums(at.block(), at.steps(), at.warp, at.k) : -1;
}

int sums_of_lane(const InsidePlace& at) {
    const int k = step_of_sums(at);
    if (k < 0) return inside::info(inside::Part::C).registers;
    const inside::Event& event = at.block().events[at.steps().event(at.warp, k)];
    return inside::TileSums(event, at.block().words_of(event)).registers();
}

void toggle_inside_play(AppState& state) {
    const InsidePlace at = place_inside(state);
    if (!at) return;
    if (!state.inside.playing && at.k + 1 == at.steps().count(at.warp)) go_inside(state, at.warp, 0);
    state.inside.playing = !state.inside.playing, state.inside.elapsed = 0;
}

const inside::SourceText* source_of(const AppState& state, const std::string& file) {
    if (const auto& shown = state.kernel_walk->shown;
        shown && shown->own_source.count() > 0 && shown->own_source.file == file)
        return &shown->own_source;
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
    case Matter::P:
    case Matter::dP:
    case Matter::dS: return Role::S;
    case Matter::O:
    case Matter::dO: return Role::O;
    case Matter::L: return info(Slot::L).role;
    case Matter::D: return Role::D;
    default: return Role::none;
    }
}

}  // namespace tilewalk::ui
