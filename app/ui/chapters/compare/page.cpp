#include "app/ui/chapters/compare/page.h"

#include "app/ui/state/state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>
#include <limits>

namespace tilewalk::ui {

namespace {

using Quantity = KernelFault::Quantity;

// Scores and products of a problem that the emulator runs within a blink, padded as kernels pad it.
constexpr double most_at_once = 8e6;

// As large as the smallest tiles of the kernels.
constexpr int least_tile = 64;

std::string request_key(const AppState& state) {
    const CompareForm& f = state.compare;
    return str(reinterpret_cast<std::uintptr_t>(&compared_problem(state))) + " " + f.kernel + " " +
           name_of(f.dtype) + " " + gpu::name_of(chosen_device(state)) + " " + describe(f.fault);
}

gpu::TraceRequest request_of(const AppState& state) {
    gpu::TraceRequest request;
    request.kernel = state.compare.kernel;
    request.dtype = state.compare.dtype;
    request.problem = compared_problem(state);
    request.fault = state.compare.fault;
    return request;
}

void take_result(AppState& state, Result<KernelComparison> result) {
    ComparePage& page = compare_page(state);
    page.run.reset();
    page.failure = result.error;
    if (!result) return notify(state, page.failure);
    page.shown = std::make_shared<const KernelComparison>(std::move(*result));
    page.source.clear();
    const std::vector<std::string> names = map_names(state);
    if (std::ranges::find(names, state.compare.map) == names.end()) state.compare.map = names.front();
}

bool same_walk(const Problem& a, const Problem& b) {
    if (a.N() != b.N() || a.N_kv() != b.N_kv() || a.d() != b.d()) return false;
    return a.Q == b.Q && a.K == b.K && a.V == b.V && a.Br == b.Br && a.Bc == b.Bc && a.causal == b.causal &&
           a.window == b.window && a.scale == b.scale && a.logits == b.logits;
}

// The whole tiles that a kernel computes for the problem
double padded_work(const Problem& p) {
    const auto padded = [](int n) { return std::ceil(n / 128.0) * 128; };
    return padded(p.N()) * padded(p.N_kv()) * std::max(32, p.d());
}

}  // namespace

ComparePage& compare_page(AppState& state) {
    if (!state.comparing) {
        state.comparing = std::make_shared<ComparePage>();
        state.comparing->kernels = gpu::traceable_kernels();
        if (auto several = random_problem(200, 32, 1))
            state.comparing->several = std::make_shared<const Problem>(std::move(*several));
        state.comparing->asking = Background<gpu::Probe>([](std::stop_token) { return gpu::probe(); });
    }
    return *state.comparing;
}

bool offers_several_tiles(const AppState& state) {
    return state.comparing && state.comparing->several && state.problem->N() <= least_tile &&
           state.problem->N_kv() <= least_tile;
}

const Problem& compared_problem(const AppState& state) {
    return offers_several_tiles(state) && !state.comparing->own ? *state.comparing->several : *state.problem;
}

const gpu::TraceableKernel* chosen_kernel(const AppState& state) {
    if (!state.comparing) return nullptr;
    for (const gpu::TraceableKernel& kernel : state.comparing->kernels)
        if (kernel.name == state.compare.kernel) return &kernel;
    return nullptr;
}

std::string why_no_cuda(const AppState& state) {
    const bool known = state.comparing && state.comparing->probe;
    return known && state.comparing->probe->devices.empty() ? state.comparing->probe->why_none : "";
}

gpu::Where chosen_device(const AppState& state) {
    const bool there = state.comparing && state.comparing->probe && !state.comparing->probe->devices.empty();
    return there && state.compare.device != 0 ? gpu::Where::cuda : gpu::Where::emulator;
}

void choose_kernel(AppState& state, const std::string& name) {
    state.compare.kernel = name;
    const gpu::TraceableKernel* kernel = chosen_kernel(state);
    if (!kernel || kernel->types.empty()) return;
    const auto& types = kernel->types;
    if (std::ranges::find(types, state.compare.dtype) == types.end()) state.compare.dtype = types.front();
    if (!kernel->tiles) state.compare.fault = {};  // there is no tile to inject it into
}

// It takes a moment only: run without being asked to.
static bool runs_at_once(const AppState& state) {
    return chosen_device(state) == gpu::Where::cuda || padded_work(compared_problem(state)) <= most_at_once;
}

void start_comparison(AppState& state) {
    ComparePage& page = compare_page(state);
    if (page.run) return;
    page.run = std::make_unique<CompareRun>();
    page.run->stage = std::make_shared<std::atomic<int>>(0);
    page.run->started = std::chrono::steady_clock::now();
    page.done = request_key(state);
    const auto work = [stage = page.run->stage, where = chosen_device(state),
                       request = request_of(state)](std::stop_token stop) -> Result<KernelComparison> {
        auto trace = gpu::trace_kernel(where, request, stop);
        if (!trace) return Failure{trace.error};
        *stage = 1;
        return compare_kernel(std::make_shared<const KernelTrace>(std::move(*trace)));
    };
    page.run->result = Background<Result<KernelComparison>>(work);
}

void cancel_comparison(AppState& state) {
    ComparePage& page = compare_page(state);
    if (!page.run) return;
    page.run.reset();
    notify(state, "Cancelled; what is shown is what was there before.");
}

void show_bundle(AppState& state, KernelTrace trace, const std::string& source) {
    auto comparison = compare_kernel(std::make_shared<const KernelTrace>(std::move(trace)));
    if (!comparison) return notify(state, comparison.error);
    ComparePage& page = compare_page(state);
    page.run.reset();
    page.shown = std::make_shared<const KernelComparison>(std::move(*comparison));
    page.source = source, page.failure.clear();
    page.own = true;
    const KernelTrace& k = *page.shown->kernel;
    CompareForm form;
    form.device = state.compare.device;
    form.kernel = k.kernel, form.dtype = k.dtype, form.fault = k.fault;
    if (form.fault.quantity != Quantity::none) form.fault_amount = form.fault.amount;
    form.map = k.backward ? "dQ" : "O";
    std::copy(std::begin(state.compare.path), std::end(state.compare.path), form.path);
    state.compare = form;
    state.page = Page::compare;
    // A run here would be of the same problem.
    if (!same_walk(*state.problem, k.problem)) set_problem(state, k.problem);
    page.settling = true;
}

void refresh_compare(AppState& state) {
    ComparePage& page = compare_page(state);
    if (page.asking.ready()) page.probe = page.asking.take();
    if (page.run && page.run->result.ready()) take_result(state, page.run->result.take());
    page.own |= page.beside && page.beside != state.problem;  // another one was opened
    page.beside = state.problem;
    page.asked = request_key(state);
    const bool waits = page.run || !page.probe || state.pending;
    if (page.settling && !waits) page.done = page.asked, page.settling = false;
    if (!waits && page.asked != page.done && runs_at_once(state)) start_comparison(state);
}

void wait_for_comparison(AppState& state) {
    ComparePage& page = compare_page(state);
    if (!page.probe && page.asking.ready_within(patience)) page.probe = page.asking.take();
    refresh_compare(state);
    if (!page.run && !page.settling && page.asked != page.done) start_comparison(state);
    if (page.run) take_result(state, page.run->result.take());
}

void inject(AppState& state, const KernelFault& fault) {
    if (state.compare.fault == fault) return;
    state.compare.undo.push_back(state.compare.fault);
    state.compare.fault = fault;
}

void undo_fault(AppState& state) {
    if (state.compare.undo.empty()) return notify(state, "There is no earlier fault to go back to.");
    state.compare.fault = state.compare.undo.back();
    state.compare.undo.pop_back();
}

bool is_bundle(const AppState& state, const std::vector<std::string>& paths) {
    return paths.size() == 1 && state.hooks.is_bundle && state.hooks.is_bundle(paths.front());
}

void open_bundle(AppState& state, const std::string& path) {
    if (!state.hooks.load_bundle) return notify(state, "Files cannot be opened here.");
    Result<KernelTrace> trace = state.hooks.load_bundle(path);
    if (!trace) return notify(state, trace.error);
    show_bundle(state, std::move(*trace), path);
    if (compare_page(state).source == path) notify(state, "Opened " + path + ".");
}

void save_bundle(AppState& state) {
    const ComparePage& page = compare_page(state);
    if (!state.hooks.save_bundle) return notify(state, "Files cannot be saved here.");
    if (!page.shown) return notify(state, "There is nothing to save before a run.");
    std::string path = state.compare.path;
    if (path.empty()) return notify(state, "Type a file name to save to, for example comparison.json.");
    if (!path.ends_with(".json")) path += ".json";
    const auto saved = state.hooks.save_bundle(path, *page.shown->kernel);
    notify_saved(state, path, saved);
}

static std::string compare_as_text(const AppState& state) {
    if (!state.comparing || !state.comparing->shown) return "";
    const KernelComparison& c = *state.comparing->shown;
    const KernelRun& run = c.kernel->run;
    std::string text = describe(*c.kernel) + "\n" + run.device + ", " + run.device_name;
    for (const std::string* fact : {&run.driver, &run.date, &run.commit})
        if (!fact->empty()) text += ", " + *fact;
    text += "\n";
    if (c.kernel->fault.quantity != Quantity::none) text += "injected: " + describe(c.kernel->fault) + "\n";
    for (const OutputVerdict& v : c.outputs)
        text += std::string(v.passed() ? "within the rule: " : "beyond the rule: ") + formula_text(v) + "\n";
    text += finding_text(c) + "\n";
    if (const std::string fault = fault_text(c); !fault.empty()) text += fault + "\n";
    return text;
}

void copy_verdict(AppState& state) {
    ImGui::SetClipboardText(compare_as_text(state).c_str());
    notify(state, "Copied the verdict.");
}

// ---- Keys and clock

namespace {

constexpr double frame_while_running = 0.1;

// Escape ends a run. False: there is nothing of the page's to close.
bool close_topmost(AppState& state) {
    if (!state.comparing || !state.comparing->run) return false;
    cancel_comparison(state);
    return true;
}

// Along a row of tiles, and on to the next one that was computed
void step_tile(AppState& state, int by) {
    const Place at = place_of(state);
    choose_tile(state, at.i, at.j + by);
}

void go_to_shown_cell(AppState& state) {
    const auto map = map_of(state);
    if (!map || map->far.size() == 0) return;
    const MapCell at = shown_cell(state, *map);
    go_to_cell(state, *map, at.row, at.column);
}

void choose_problem(AppState& state) {
    if (!offers_several_tiles(state))
        return notify(state, "The walk's problem has several tiles of its own.");
    state.comparing->own = !state.comparing->own;
}

bool answer_ctrl_key(AppState& state, Key key) {
    if (key == Key::z) return undo_fault(state), true;
    if (key == Key::y) return true;  // edits belong to a walk
    if (key != Key::c) return false;
    return copy_verdict(state), true;
}

}  // namespace

std::vector<Shortcut> compare_keys() {
    const char* const g = "Kernel and CPU";
    return {{g, "←  →", "previous, next tile", {{Key::left}, {Key::right}}},
            {g, "↑  ↓", "previous, next query row", {{Key::up}, {Key::down}}},
            {g, "Space  Enter", "run; Esc ends it", {{Key::space}, {Key::enter}, {Key::escape}}},
            {g, "L", "measure: |Δ|, ULP, relative", {{Key::l}}},
            {g, "S", "several tiles, or the walk's small problem", {{Key::s}}},
            {g, "D  G", "where a fault begins; its step", {{Key::d}, {Key::g}}}};
}

bool answer_compare_key(AppState& state, const KeyPress& press) {
    if (press.ctrl) return answer_ctrl_key(state, press.key);
    const Place at = place_of(state);
    switch (press.key) {
    case Key::left:
    case Key::page_up: return step_tile(state, -1), true;
    case Key::right:
    case Key::page_down: return step_tile(state, 1), true;
    case Key::up: return choose_query(state, at.row - 1), true;
    case Key::down: return choose_query(state, at.row + 1), true;
    case Key::home: return choose_query(state, 0), true;
    case Key::end: return choose_query(state, std::numeric_limits<int>::max()), true;
    case Key::space:
    case Key::enter: return start_comparison(state), true;
    case Key::escape: return close_topmost(state);
    case Key::l: return state.compare.measure = (state.compare.measure + 1) % 3, true;
    case Key::s: return choose_problem(state), true;
    case Key::d: return show_finding(state), true;
    case Key::g: return go_to_shown_cell(state), true;
    default: return prints_one_of(press.key, "icmbxe");  // which belong to a walk
    }
}

double compare_idle_seconds(const AppState& state) {
    const bool waits = !state.comparing || state.comparing->run || !state.comparing->probe;
    return waits ? frame_while_running : std::numeric_limits<double>::infinity();
}

}  // namespace tilewalk::ui
