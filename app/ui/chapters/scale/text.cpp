#include "app/ui/chapters/scale/scale.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/bench/findings.h"
#include "core/cpu/kernel.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

std::string shape_text(const Workload& w) {
    std::string text = std::string(name_of(w.direction)) + ", " + name_of(w.dtype) + ", d = " + str(w.d) +
                       ", " + counted(w.heads, "head");
    if (w.kv_heads != w.heads) text += " (" + str(w.kv_heads) + " of K and V)";
    if (w.batch > 1) text += ", batch " + str(w.batch);
    if (w.causal) text += ", causal";
    if (w.window) text += ", window " + str(*w.window);
    return w.N_q == w.N_kv ? text : text + ", " + queries_text(w);
}

std::string file_name(const std::string& path) {
    const std::size_t slash = path.find_last_of("/\\");
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string machine_text(const BenchReport& report) {
    const Machine& machine = report.machine;
    if (!report.points.empty() && report.points.front().device == "cuda") return machine.gpu;
    if (machine.cpu.empty() || machine.threads == 0) return machine.cpu;
    return machine.cpu + ", " + counted(machine.threads, "thread");
}

std::string kernel_words(const std::string& kernel) {
    for (const cpu::Rung* rung : {&cpu::standard(), &cpu::flash_eigen(), &cpu::flash()})
        if (rung->info.name == kernel)
            return lower_case(rung->info.title.substr(0, rung->info.title.find(':')));
    return kernel;
}

std::string origin_text(const ShownReport& shown) {
    if (!shown.recorded) return "this run";
    const BenchReport& r = shown.report;
    std::string text = shown.name() + ": " + file_name(r.source);
    for (const std::string& part :
         {machine_text(r), r.date, r.build.commit.empty() ? std::string() : "commit " + r.build.commit})
        if (!part.empty()) text += ", " + part;
    return text;
}

// That of the shortest one, unless the longest would have more than four digits.
TimeUnit unit_of_times(const std::vector<double>& seconds) {
    static constexpr TimeUnit units[] = {{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}};
    if (seconds.empty()) return units[2];
    const auto [least, most] = std::ranges::minmax(seconds);
    constexpr double rounds_up = .9995, most_digits = 9999.5;
    std::size_t n = std::size(units) - 1;
    while (n > 0 && least < rounds_up * units[n].seconds) --n;
    while (n + 1 < std::size(units) && most >= most_digits * units[n].seconds) ++n;
    return units[n];
}

std::string time_text(double seconds, const TimeUnit& unit) {
    const double value = seconds / unit.seconds;
    // Digits are counted from the one before the point.
    const int digits = value < .1 ? 4 : 3;
    return (value < 999.5 ? format_number(value, digits) : format_count(std::llround(value))) + " " +
           unit.name;
}

TimeUnit unit_at(const ShownReport& shown, std::int64_t N) {
    std::vector<double> times;
    for (const std::string& kernel : shown.kernels())
        if (const Record* r = shown.find(kernel, N); r && r->state == Record::State::measured)
            times.push_back(r->median);
    return unit_of_times(times);
}

std::string cell_text(const Record* record, const TimeUnit& unit) {
    if (!record) return "";
    switch (record->state) {
    case Record::State::measured: return time_text(record->median, unit);
    case Record::State::failed: return "failed";
    case Record::State::skipped: return "–";
    case Record::State::no_memory: return "no memory";
    case Record::State::cancelled: return "cancelled";
    }
    return "";
}

double largest_error(const ShownReport& shown, const std::string& kernel) {
    double largest = 0;
    for (const Record& point : shown.report.points)
        if (point.kernel == kernel && point.error_limit > 0)
            largest = std::max(largest, point.max_error / point.error_limit);
    return largest;
}

double times_as_fast(const ShownReport& shown, const std::string& kernel, std::int64_t N) {
    const Record *one = shown.find(kernel, N), *standard = shown.find(standard_in(shown.report), N);
    return one && standard && one->median > 0 && standard->median > 0 ? standard->median / one->median : 0;
}

std::string scale_as_text(AppState& state) {
    const ShownReport* shown = chosen_report(state);
    if (!shown) return finding({}) + "\n";
    std::string text = finding(shown->report) + "\n" + origin_text(*shown) + "; " +
                       shape_text(shown->shape()) + "; median of the runs\nkernel";
    for (std::int64_t N : shown->lengths()) text += "\t" + str(N);
    text += "\tlargest error, of the rule\n";
    for (const std::string& kernel : shown->kernels()) {
        text += kernel;
        for (std::int64_t N : shown->lengths())
            text += "\t" + cell_text(shown->find(kernel, N), unit_at(*shown, N));
        text += "\t" + format_number(largest_error(*shown, kernel), 2) + "\n";
    }
    return text;
}

bool shows_decoding(const AppState& state) {
    const ShownReport* const shown = chosen_report(state);
    return shown ? shape_of(shown->shape()).N_q > 0 : state.scale.decode;
}

KernelLook kernel_look(const Theme& t, const AppState& state, const std::string& kernel) {
    if (kernel == "standard" || kernel == "f0-cublas" || kernel == "b0-materialise")
        return {t.t3, Marker::square};
    if (const auto look = ring_look(t, kernel)) return *look;
    // What keeps N × N matrices is grey, and the last two rungs of the ladder are white, in no quantity's
    // hue: these have marks of their own. Rungs before them are paler; kernels for few queries and those that
    // only files know come behind the others.
    std::vector<std::string> names;
    const Engine* const engine = !state.bench      ? nullptr
                                 : state.scale.gpu ? state.bench->gpu_engine.get()
                                                   : state.bench->engine.get();
    if (engine)
        for (const KernelInfo& one : engine->kernels())
            if (one.name != "standard" && one.most_queries == 0) names.insert(names.begin(), one.name);
    if (state.bench)
        for (const ShownReport& shown : state.bench->reports)
            for (const std::string& name : shown.kernels())
                if (name != "standard" && std::ranges::find(names, name) == names.end())
                    names.push_back(name);
    constexpr std::pair<float, Marker> looks[] = {
        {1.0f, Marker::disc}, {1.0f, Marker::triangle}, {.62f, Marker::ring}, {.72f, Marker::diamond},
        {.55f, Marker::disc}, {.76f, Marker::triangle}, {.42f, Marker::ring}, {.67f, Marker::triangle}};
    const auto n = static_cast<std::size_t>(std::ranges::find(names, kernel) - names.begin());
    const auto& [shade, marker] = looks[n % std::size(looks)];
    if (shade == 1) return {t.t1, marker};
    return {cividis(t.light ? .62f - .62f * shade : shade), marker};
}

}  // namespace tilewalk::ui
