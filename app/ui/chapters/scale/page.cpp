#include "app/ui/chapters/scale/page.h"

#include "app/ui/chapters/scale/scale.h"
#include "app/ui/state/state.h"
#include "core/bench/findings.h"
#include "core/bench/machine.h"
#include "core/cpu/kernel.h"
#include "cuda/host/gpu.h"

#include <algorithm>
#include <set>

namespace tilewalk::ui {

namespace {

Background<ScaleDevices> ask_for_devices(const std::function<std::unique_ptr<Engine>(int)>& make_engine) {
    return Background<ScaleDevices>([make_engine](std::stop_token) {
        ScaleDevices found;
        found.machine = this_machine();
        if (const auto engine = make_engine(0)) engine->describe(found.machine);
        const gpu::Probe probe = gpu::probe();
        if (probe.devices.empty())
            found.why_no_gpu = probe.why_none;
        else
            found.gpu = probe.devices.front().name;
        return found;
    });
}

// A report has its points in the order in which they were run; here the ladder comes first.
void sort_by_ladder(ScalePage& page, BenchReport& report) {
    if (!page.engine) page.engine = page.make_engine(page.engine_threads = 0);
    if (page.ladder.empty()) {
        for (const KernelInfo& one : page.engine->kernels()) page.ladder.push_back(one.name);
        for (const gpu::TraceableKernel& one : gpu::traceable_kernels()) page.ladder.push_back(one.name);
    }
    const auto place = [&](const Record& point) {
        const auto rung = std::ranges::find(page.ladder, point.kernel);
        return std::pair{point.workload.N_kv, rung - page.ladder.begin()};
    };
    std::ranges::stable_sort(report.points,
                             [&](const Record& a, const Record& b) { return place(a) < place(b); });
}

// A report whose points have several shapes becomes several.
std::vector<ShownReport> shown_by_shape(ScalePage& page, BenchReport report) {
    sort_by_ladder(page, report);
    std::vector<ShownReport> out;
    for (BenchReport& one : by_shape(report)) out.emplace_back().report = std::move(one);
    return out;
}

// Points that were measured earlier stay where the new run has none, or none yet.
void keep_older_points(BenchReport& fresh, const BenchReport& old) {
    if (!fresh.machine.same_as(old.machine)) return;
    for (const Record& point : old.points) {
        const auto same = std::ranges::find_if(fresh.points, [&](const Record& one) {
            return one.kernel == point.kernel && one.workload == point.workload;
        });
        if (same == fresh.points.end())
            fresh.points.push_back(point);
        else if (same->state == Record::State::cancelled)
            *same = point;
    }
}

// One recorded report among those that are drawn together needs no letter.
void name_reports(ScalePage& page) {
    for (ShownReport& one : page.reports) {
        char letter = 'A';
        int recorded = 0;
        for (const ShownReport& other : page.reports) {
            if (&other == &one) letter = static_cast<char>(std::min('A' + recorded, int{'Z'}));
            recorded += other.recorded && comparable(one, other);
        }
        one.tag = !one.recorded ? "" : recorded == 1 ? "recorded" : std::string(1, letter);
    }
    ++page.changes;
}

// A file that travels with the program, opened once more
bool same_results(const ShownReport& a, const ShownReport& b) {
    const auto same_point = [](const Record& x, const Record& y) {
        return x.kernel == y.kernel && x.workload == y.workload && x.seconds == y.seconds;
    };
    return a.recorded && b.recorded && file_name(a.report.source) == file_name(b.report.source) &&
           a.report.date == b.report.date && std::ranges::equal(a.report.points, b.report.points, same_point);
}

// Direction, mask, type, d and queries (0: as many as keys): what makes times comparable. Heads and batch are
// named where they stand.
std::string shape_key(bool backward, bool causal, DType type, std::int64_t d, std::int64_t queries) {
    return std::string(backward ? "backward " : "forward ") + (causal ? "causal " : "") + name_of(type) +
           " " + str(d) + " " + str(queries);
}
std::string asked_for(const ScaleForm& form) {
    return shape_key(form.backward, form.causal, form.type(), form.d, form.decode ? form.queries : 0);
}
bool is_asked_for(const ScaleForm& form, const ShownReport& one) {
    const Workload shape = shape_of(one.shape());
    return shape_key(shape.direction == Direction::backward, shape.causal, shape.dtype, shape.d, shape.N_q) ==
           asked_for(form);
}

void select_reports(AppState& state) {
    ScalePage& page = scale_page(state);
    page.reports.clear();
    for (const ShownReport& one : page.kept)
        if (is_asked_for(state.scale, one)) page.reports.push_back(one);
    page.reports_for = asked_for(state.scale);
    name_reports(page);
}

void keep_recorded(ScalePage& page, const std::vector<BenchReport>& reports) {
    for (const BenchReport& report : reports)
        for (ShownReport& one : shown_by_shape(page, report)) {
            one.recorded = true;
            std::erase_if(page.kept, [&](const ShownReport& kept) { return same_results(kept, one); });
            page.kept.push_back(std::move(one));
        }
}

}  // namespace

bool comparable(const ShownReport& a, const ShownReport& b) {
    const Workload one = a.shape(), other = b.shape();
    return one.heads == other.heads && one.kv_heads == other.kv_heads && one.batch == other.batch &&
           has_ring(&a) == has_ring(&b);
}

std::string ShownReport::name() const {
    if (!recorded) return "this run";
    return tag.size() == 1 ? "recorded " + tag : tag;
}

std::vector<std::int64_t> ShownReport::lengths() const {
    std::set<std::int64_t> all;
    for (const Record& point : report.points) all.insert(point.workload.N_kv);
    return {all.begin(), all.end()};
}

std::vector<std::string> ShownReport::kernels() const {
    std::vector<std::string> all;
    for (const Record& point : report.points)
        if (std::ranges::find(all, point.kernel) == all.end()) all.push_back(point.kernel);
    return all;
}

const Record* ShownReport::find(const std::string& kernel, std::int64_t N) const {
    for (const Record& point : report.points)
        if (point.kernel == kernel && point.workload.N_kv == N) return &point;
    return nullptr;
}

Workload ShownReport::shape() const {
    return report.points.empty() ? Workload{} : report.points.front().workload;
}

ScalePage::ScalePage()
    : make_engine(cpu::make_engine), make_gpu_engine([] { return gpu::make_engine(gpu::Where::cuda); }) {}

ScalePage& scale_page(AppState& state) {
    if (!state.bench) {
        state.bench = std::make_shared<ScalePage>();
        if (state.hooks.recorded_results) keep_recorded(*state.bench, state.hooks.recorded_results());
    }
    ScalePage& page = *state.bench;
    if (!page.devices && !page.asked.begun()) page.asked = ask_for_devices(page.make_engine);
    return page;
}

const Engine& scale_engine(AppState& state) {
    ScalePage& page = scale_page(state);
    if (state.scale.gpu) {
        if (!page.gpu_engine) page.gpu_engine = page.make_gpu_engine();
        return *page.gpu_engine;
    }
    if (!page.engine || page.engine_threads != state.scale.threads) {
        page.engine = page.make_engine(state.scale.threads);
        page.engine_threads = state.scale.threads;
    }
    return *page.engine;
}

const ScaleTypes& scale_types(AppState& state) {
    const Engine* const engine = &scale_engine(state);
    ScalePage::TypesOf& known = scale_page(state).types;
    const int threads =
        state.scale.gpu ? 0 : state.scale.threads;  // another engine may lie at the same address
    if (known.engine != engine || known.threads != threads) known = {engine, threads, types_of(*engine)};
    return known.types;
}

void wait_for_devices(AppState& state) {
    ScalePage& page = scale_page(state);
    if (!page.devices && page.asked.ready_within(patience)) page.devices = page.asked.take();
}

void start_bench(AppState& state) {
    ScalePage& page = scale_page(state);
    if (page.running) return;
    const BenchRequest request = bench_request(state.scale);
    if (request.lengths.empty())
        return notify(state, "\"" + std::string(state.scale.lengths) +
                                 "\" is no list of lengths; type numbers such as 512, 1024, 2048.");
    if (auto sentence = refuse(request, scale_engine(state))) return notify(state, *sentence);
    page.bench.reset();  // it has ended
    auto engine = state.scale.gpu ? page.make_gpu_engine() : page.make_engine(state.scale.threads);
    if (const auto reason = engine->why_not()) return notify(state, "There is no GPU to run on: " + *reason);
    page.bench = std::make_unique<BackgroundBench>(request, std::move(engine));
    page.seen = 0;
    page.running = true;
    page.cancelling = false;
    page.progress = {};
    state.scale.report = 0;
}

void cancel_bench(AppState& state) {
    ScalePage& page = scale_page(state);
    if (!page.running || !page.bench) return;
    page.bench->cancel();
    page.cancelling = true;
}

void show_report(AppState& state, const BenchReport& report) {
    ScalePage& page = scale_page(state);
    std::vector<ShownReport> fresh = shown_by_shape(page, report);
    for (ShownReport& one : fresh) {
        const auto old = std::ranges::find_if(page.kept, [&](const ShownReport& kept) {
            return !kept.recorded && shape_of(kept.shape()) == shape_of(one.shape());
        });
        if (old == page.kept.end()) continue;
        keep_older_points(one.report, old->report);
        sort_by_ladder(page, one.report);
        page.kept.erase(old);
    }
    page.kept.insert(page.kept.begin(), fresh.begin(), fresh.end());
    select_reports(state);
}

void add_reports(AppState& state, const std::vector<BenchReport>& reports) {
    ScalePage& page = scale_page(state);
    keep_recorded(page, reports);
    const std::string source = reports.empty() ? "" : reports.front().source;
    std::vector<ShownReport> added;
    for (const ShownReport& one : page.kept)
        if (one.recorded && one.report.source == source) added.push_back(one);
    const auto asked = [&](const ShownReport& one) { return is_asked_for(state.scale, one); };
    if (!added.empty() && std::ranges::none_of(added, asked)) {
        const Workload shape = shape_of(added.front().shape());
        state.scale.decode = shape.N_q > 0;
        if (shape.N_q > 0) state.scale.queries = static_cast<int>(shape.N_q);
        state.scale.backward = shape.direction == Direction::backward;
        state.scale.causal = shape.causal;
        state.scale.type() = shape.dtype;
        state.scale.d = static_cast<int>(shape.d);
    }
    select_reports(state);
    const auto first = std::ranges::find_if(
        page.reports, [&](const ShownReport& one) { return one.recorded && one.report.source == source; });
    if (first != page.reports.end()) state.scale.report = static_cast<int>(first - page.reports.begin());
}

void close_report(AppState& state, std::size_t n) {
    ScalePage& page = scale_page(state);
    if (n >= page.reports.size()) return;
    std::size_t seen = 0;
    std::erase_if(page.kept,
                  [&](const ShownReport& one) { return is_asked_for(state.scale, one) && seen++ == n; });
    if (state.scale.report > static_cast<int>(n)) --state.scale.report;
    select_reports(state);
}

void refresh_scale(AppState& state) {
    ScalePage& page = scale_page(state);
    if (page.asked.ready()) page.devices = page.asked.take();
    if (page.bench && page.running) {
        const bool running = page.bench->running();  // before the report, so that its end is not missed
        if (const std::uint64_t version = page.bench->version(); version != page.seen) {
            page.seen = version;
            page.progress = page.bench->progress();
            show_report(state, page.bench->report());
        }
        if (!running && !page.bench->failure().empty()) notify(state, page.bench->failure());
        page.running = running;
        page.cancelling = running && page.bench->cancelled();
    }
    if (page.reports_for != asked_for(state.scale)) {
        select_reports(state);
        state.scale.report = 0, state.scale.card = false;
    }
    const int last = static_cast<int>(page.reports.size()) - 1;
    state.scale.report = std::clamp(state.scale.report, 0, std::max(0, last));
}

// ---- What is chosen

const ShownReport* chosen_report(const AppState& state) {
    if (!state.bench || state.bench->reports.empty()) return nullptr;
    const auto n = static_cast<std::size_t>(std::max(0, state.scale.report));
    return &state.bench->reports[std::min(n, state.bench->reports.size() - 1)];
}

// Unless the user says otherwise the longest that both standard attention and another kernel ran.
std::int64_t chosen_length(const AppState& state) {
    const ShownReport* shown = chosen_report(state);
    const std::vector<std::int64_t> all = shown ? shown->lengths() : chosen_lengths(state.scale);
    if (all.empty()) return 0;
    if (state.scale.N > 0)
        return *std::ranges::min_element(all, [&](std::int64_t a, std::int64_t b) {
            return std::abs(a - state.scale.N) < std::abs(b - state.scale.N);
        });
    std::int64_t longest = 0;
    for (std::int64_t N : all) {
        const Record* standard = shown ? shown->find(standard_in(shown->report), N) : nullptr;
        if (standard && standard->state == Record::State::measured) longest = N;
    }
    return longest > 0 ? longest : all.back();
}

const Record* record_of(const ScalePage& page, int number, const ShownReport** report) {
    for (const ShownReport& shown : page.reports) {
        const int count = static_cast<int>(shown.report.points.size());
        if (report) *report = &shown;
        if (number < count)
            return number < 0 ? nullptr : &shown.report.points[static_cast<std::size_t>(number)];
        number -= count;
    }
    return nullptr;
}

int number_of(const ScalePage& page, const Record& record) {
    int before = 0;
    for (const ShownReport& shown : page.reports) {
        const auto& points = shown.report.points;
        if (!points.empty() && &record >= points.data() && &record < points.data() + points.size())
            return before + static_cast<int>(&record - points.data());
        before += static_cast<int>(points.size());
    }
    return -1;
}

}  // namespace tilewalk::ui
