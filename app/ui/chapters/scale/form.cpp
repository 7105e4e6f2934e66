#include "app/ui/chapters/scale/scale.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <imgui.h>
#include <limits>
#include <set>

namespace tilewalk::ui {

namespace {

constexpr std::int64_t longest = std::int64_t{1} << 20;
constexpr double frame_while_running = 0.1;

// Whole numbers between commas or spaces; nothing if there is anything else.
std::set<std::int64_t> read_lengths(const char* text) {
    std::set<std::int64_t> out;
    for (const std::string& word : words_of(replaced(text, ",", " "))) {
        const auto N = number_in<std::int64_t>(word);
        if (!N || *N < 1 || *N > longest) return {};
        out.insert(*N);
    }
    return out;
}

// The neighbour of one of them; from outside of them the first or the last.
template <class T> T neighbour(const std::vector<T>& all, const T& one, int by) {
    const auto at = std::ranges::find(all, one);
    const auto now = at == all.end() ? (by > 0 ? -1 : std::ssize(all)) : at - all.begin();
    return all[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(now + by, 0, std::ssize(all) - 1))];
}

void choose_by_key(AppState& state, Key key) {
    const ShownReport* shown = chosen_report(state);
    if (!shown) return;
    if (key == Key::left || key == Key::right)
        state.scale.N = neighbour(shown->lengths(), chosen_length(state), key == Key::left ? -1 : 1);
    if (key == Key::up || key == Key::down)
        state.scale.kernel = neighbour(shown->kernels(), state.scale.kernel, key == Key::up ? -1 : 1);
    if (state.scale.kernel.empty()) state.scale.kernel = shown->kernels().back();
    state.scale.card = true;
}

// Escape closes what lies on top, then ends a run. False: there is nothing of the page's to close.
bool close_topmost(AppState& state) {
    if (std::exchange(state.scale.card, false)) return true;
    if (!state.bench || !state.bench->running) return false;
    cancel_bench(state);
    return true;
}

bool answer_arrow(AppState& state, Key key) {
    const bool sideways =
        key == Key::left || key == Key::right || key == Key::page_up || key == Key::page_down;
    if (state.presenter && sideways)
        state.scale.slide =
            slide_beside(state.scale.slide, key == Key::right || key == Key::page_down ? 1 : -1);
    else if (key == Key::page_up || key == Key::page_down)
        choose_by_key(state, key == Key::page_up ? Key::left : Key::right);
    else
        choose_by_key(state, key);
    return true;
}

}  // namespace

std::vector<std::int64_t> chosen_lengths(const ScaleForm& form) {
    const auto n = static_cast<std::size_t>(std::max(0, form.preset));
    if (n >= length_presets.size()) {
        const std::set<std::int64_t> own = read_lengths(form.lengths);
        return {own.begin(), own.end()};
    }
    std::vector<std::int64_t> out;
    const std::int64_t last = length_presets[n].last;
    for (std::int64_t N = 512; N <= (form.decode ? last : std::min(last, longest_square)); N *= 2)
        out.push_back(N);
    return out;
}

int kv_heads_of(const ScaleForm& form) {
    int n = form.kv_heads == 0 ? form.heads : std::min(form.kv_heads, form.heads);
    while (form.heads % n != 0) --n;
    return n;
}

ScaleTypes types_of(const Engine& engine) {
    ScaleTypes types;
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
        std::optional<std::string> why_not = "there is no kernel";
        for (const KernelInfo& kernel : engine.kernels()) {
            Workload w{.direction = kernel.direction.value_or(Direction::forward), .dtype = type};
            if (kernel.most_queries > 0) w.N_q = kernel.most_queries;
            if (!(why_not = engine.why_not(kernel, w))) break;
        }
        if (!why_not)
            types.taken.push_back(type);
        else
            types.why_no_more = *why_not;
    }
    return types;
}

BenchRequest bench_request(const ScaleForm& form) {
    BenchRequest request;
    if (form.gpu) repeat_as_on_gpu(request);
    request.workload.dtype = form.type();
    request.workload.direction = form.backward ? Direction::backward : Direction::forward;
    if (form.decode) request.queries = form.queries;
    request.workload.d = form.d;
    request.workload.heads = form.heads, request.workload.kv_heads = kv_heads_of(form);
    request.workload.causal = form.causal;
    request.lengths = chosen_lengths(form);
    return request;
}

std::vector<Shortcut> scale_keys() {
    const char* const g = "At scale";
    return {{g, "←  →", "one kernel less, one more", {{Key::left}, {Key::right}}},
            {g, "↑  ↓", "length that is shown", {{Key::up}, {Key::down}}},
            {g, "Space  Enter", "measure; Esc ends it", {{Key::space}, {Key::enter}, {Key::escape}}},
            {g, "L", "axes: logarithmic, linear", {{Key::l}}}};
}

bool answer_scale_key(AppState& state, const KeyPress& press) {
    if (press.ctrl && press.key == Key::c) {
        ImGui::SetClipboardText(scale_as_text(state).c_str());
        notify(state, "Copied the table and what it shows.");
        return true;
    }
    if (press.ctrl && prints_one_of(press.key, "zy")) return true;  // edits belong to a walk
    if (press.ctrl && prints_one_of(press.key, "+-0")) return false;
    switch (press.key) {
    case Key::left:
    case Key::right:
    case Key::up:
    case Key::down:
    case Key::page_up:
    case Key::page_down: return answer_arrow(state, press.key);
    case Key::home: state.scale.N = 1; return true;
    case Key::end: state.scale.N = longest; return true;
    case Key::space:
    case Key::enter: start_bench(state); return true;
    case Key::escape: return close_topmost(state);
    case Key::l: {
        auto& linear = state.scale.linear[static_cast<std::size_t>(state.scale.measure)];
        state.scale.linear_memory = linear = !linear;
        return true;
    }
    default: return prints_one_of(press.key, "gicmbxdes");  // which belong to a walk
    }
}

double scale_idle_seconds(const AppState& state) {
    const bool waits = state.bench && (state.bench->running || !state.bench->devices);
    return waits ? frame_while_running : std::numeric_limits<double>::infinity();
}

}  // namespace tilewalk::ui
