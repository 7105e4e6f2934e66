#include "core/bench/bench.h"

#include "core/base/numbers.h"
#include "core/bench/machine.h"
#include "core/bench/verify.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <set>

namespace tilewalk {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* no_memory_left = "The system had no memory left for it.";

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool lists(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The shortest first: they are the cheapest.
std::vector<Workload> workloads(const BenchRequest& request) {
    const std::set<std::int64_t> ascending(request.lengths.begin(), request.lengths.end());
    std::vector<Workload> all;
    for (std::int64_t N : ascending) {
        all.push_back(request.workload);
        all.back().N_q = request.queries.value_or(N), all.back().N_kv = N;
    }
    return all;
}

// Of a tensor in this machine's memory: beside numbers of 16 bits their values in float32, from which they
// were made and by which they are verified.
std::int64_t host_bytes(std::int64_t elements, DType type) {
    return elements * (type == DType::f32 ? 4 : 4 + bytes_of(type));
}
// What a kernel holds of its own: its outputs and its workspace.
std::int64_t output_bytes(const Workload& w) {
    const std::int64_t q = host_bytes(w.q_rows() * w.d, w.dtype), kv = host_bytes(w.kv_rows() * w.d, w.dtype);
    return q + 4 * w.q_rows() + (w.direction == Direction::backward ? q + 2 * kv : 0);
}
// What all share
std::int64_t input_bytes(const Workload& w) {
    const std::int64_t q = host_bytes(w.q_rows() * w.d, w.dtype), kv = host_bytes(w.kv_rows() * w.d, w.dtype);
    return q + 2 * kv + (w.direction == Direction::backward ? q : 0);
}

// ---- Time that is still to come

// A kernel whose speed is not known yet is taken for this fast, FLOP/s.
constexpr double first_guess = 3e10;
// Preparing and verifying a kernel cost about as much as this many of its runs.
constexpr double runs_before_timing = 4;

struct Forecast {
    const BenchRequest& request;
    std::map<std::string, double> rate = {};  // FLOP/s of each kernel, where it was measured last

    double one_run(const std::string& kernel, const Workload& w) const {
        const auto known = rate.find(kernel);
        return flops(w) / (known == rate.end() ? first_guess : known->second);
    }
    int runs(double one) const {
        const int least = one > request.long_run ? std::min(3, request.least_runs) : request.least_runs;
        const double fitting = request.seconds_per_kernel / std::max(one, 1e-9);
        return static_cast<int>(std::clamp(fitting, double(least), double(request.most_runs)));
    }
    double whole(const std::string& kernel, const Workload& w) const {
        const double one = one_run(kernel, w);
        return one * (runs_before_timing + runs(one));
    }
};

// ---- The run

// One kernel on one workload, on its way from planned to measured.
struct Candidate {
    const KernelInfo* kernel = nullptr;
    Point point;
    std::unique_ptr<Prepared> prepared = nullptr;
    int runs = 0;  // that it shall have

    // On a device with memory of its own each has its inputs as well.
    std::int64_t own_bytes(bool own_inputs) const {
        return point.model_bytes + (own_inputs ? tensor_bytes(point.workload) : output_bytes(point.workload));
    }
};

class Runner {
public:
    using Show = std::function<void(const BenchReport&, const BenchProgress&)>;
    Runner(const BenchRequest& what, Engine& on, const Show& shown, std::stop_token stopped)
        : request(what), engine(on), show(shown), stop(std::move(stopped)), forecast{what} {}

    BenchReport run() {
        begin();
        try {
            for (const Workload& w : workloads(request))
                if (!stop.stop_requested()) try_length(w);
        } catch (const EngineFailed& failure) {
            give_up(Point::State::cancelled, failure.what());
            throw;
        }
        report.complete = !stop.stop_requested();
        tell(report.complete ? "Done" : "Cancelled");
        return std::move(report);
    }

private:
    void begin() {
        report.machine = this_machine();
        engine.describe(report.machine);
        report.build = this_build();
        report.date = utc_now();
        // A tenth stays for what verification holds, and for others.
        own_memory = engine.memory_free();
        if (const auto why_not = engine.why_not()) throw EngineFailed(*why_not);  // it could not say
        const std::int64_t free = own_memory.value_or(report.machine.memory_available);
        report.memory_limit = request.memory_limit > 0 ? request.memory_limit : free / 10 * 9;
        for (const Workload& w : workloads(request))
            for (const KernelInfo* kernel : chosen_kernels(request, engine))
                ahead.emplace_back(kernel->name, w);
        progress.points = static_cast<int>(ahead.size());
        tell("Measuring what this machine can reach");
    }

    void try_length(const Workload& w) {
        try {
            run_length(w);
        } catch (const NoMemory& none) {
            give_up(Point::State::no_memory, none.what(), &w);
        } catch (const std::bad_alloc&) {
            give_up(Point::State::no_memory, no_memory_left, &w);
        }
    }

    // What was not done yet, at one length or at all, becomes points with the reason.
    void give_up(Point::State state, const std::string& reason, const Workload* at = nullptr) {
        for (const auto& [kernel, workload] : std::vector(ahead))
            if (!at || workload == *at) {
                const KernelInfo* const info = find_kernel(kernel);
                Candidate c{.kernel = info, .point = new_point(*info, workload)};
                finish(c, state, reason);
            }
    }

    void run_length(const Workload& w) {
        // Again for each length: whatever slows the machine for a while should slow the measure as well.
        peak = engine.measure_peak(w.dtype, stop);
        report.peak = std::max(report.peak, peak);
        std::vector<Candidate> candidates = plan(w);
        if (candidates.empty()) return;
        tell("Inputs of N = " + format_count(w.N_kv));
        const Tensors inputs = make_inputs(w, request.seed, 1, stop);
        if (stop.stop_requested()) return;
        // As many at once as fit: those take turns.
        for (std::size_t from = 0; from < candidates.size() && !stop.stop_requested();) {
            const bool own = own_memory.has_value();
            std::int64_t held = own ? 0 : input_bytes(w);
            std::vector<Candidate> together;
            do {
                held += candidates[from].own_bytes(own);
                together.push_back(std::move(candidates[from++]));
            } while (from < candidates.size() &&
                     held + candidates[from].own_bytes(own) <= report.memory_limit);
            run_together(std::move(together), inputs);
        }
    }

    // The clock of this machine and other work on it may have been others before than they were meanwhile. A
    // device that fails here is noticed at the next length; what it has measured is measured.
    void measure_peak_again() {
        try {
            peak = std::max(peak, engine.measure_peak(request.workload.dtype, stop));
        } catch (const EngineFailed&) {
        }
        report.peak = std::max(report.peak, peak);
    }

    // Those that can be run, the smallest first, so that the highest resident size is each one's own; what
    // cannot becomes a point at once.
    std::vector<Candidate> plan(const Workload& w) {
        std::vector<Candidate> candidates;
        const std::int64_t tensors = own_memory ? tensor_bytes(w) : input_bytes(w) + output_bytes(w);
        for (const KernelInfo* kernel : chosen_kernels(request, engine)) {
            Candidate c{.kernel = kernel, .point = new_point(*kernel, w)};
            if (const auto reason = engine.why_not(*kernel, w))
                finish(c, Point::State::skipped, *reason);
            else if (const std::int64_t needed = tensors + c.point.model_bytes; needed > report.memory_limit)
                finish(c, Point::State::no_memory, too_large(c, needed));
            else if (small_sizes_pass(c))
                candidates.push_back(std::move(c));
        }
        std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
            return a.point.model_bytes < b.point.model_bytes;
        });
        return candidates;
    }

    const KernelInfo* find_kernel(const std::string& name) const {
        for (const KernelInfo& kernel : engine.kernels())
            if (kernel.name == name) return &kernel;
        return nullptr;
    }

    Point new_point(const KernelInfo& kernel, const Workload& w) const {
        Point point;
        point.device = engine.device(), point.kernel = kernel.name, point.workload = w, point.peak = peak;
        if (!engine.why_not(kernel, w)) point.model_bytes = engine.model_bytes(kernel, w);
        return point;
    }

    std::string too_large(const Candidate& c, std::int64_t needed) const {
        const std::string own = c.kernel->materialises
                                    ? ", " + format_size(c.point.model_bytes) + " of it for N × N matrices"
                                    : "";
        return "Needs " + format_size(needed) + own + "; " + format_size(report.memory_limit) +
               " may be used.";
    }

    // Once for each kernel. If they do not pass, the point has been finished.
    bool small_sizes_pass(Candidate& c) {
        try {
            const KernelVerdict& verdict = small_verdict(*c.kernel);
            c.point.max_error = verdict.error, c.point.error_limit = verdict.limit;
            if (verdict.passed) return true;
            finish(c, stop.stop_requested() ? Point::State::cancelled : Point::State::failed,
                   verdict.sentence);
        } catch (const KernelFailed& failure) {
            finish(c, Point::State::skipped, failure.what());
        }
        return false;
    }
    const KernelVerdict& small_verdict(const KernelInfo& kernel) {
        const auto known = verdicts.find(kernel.name);
        if (known != verdicts.end()) return known->second;
        tell(kernel.name + ": checking small sizes");
        return verdicts[kernel.name] = verify_small(engine, kernel, request.workload, stop);
    }

    void run_together(std::vector<Candidate> together, const Tensors& inputs) {
        for (Candidate& c : together)
            if (!stop.stop_requested()) prepare(c, inputs);
        std::vector<Candidate*> ready;
        for (Candidate& c : together)
            if (c.prepared) ready.push_back(&c);
        time_in_turns(ready);
        std::erase_if(ready, [](const Candidate* c) { return !c->prepared; });  // lost on the way
        for (Candidate* c : ready)
            c->point.workspace_bytes = c->prepared->workspace_bytes(), c->prepared.reset();
        if (!ready.empty()) measure_peak_again();
        for (Candidate* c : ready) {
            summarise(c->point);
            c->point.peak = peak;
            // A median of a few runs is none of the machine's; better none than that.
            const bool all = static_cast<int>(c->point.seconds.size()) == c->runs;
            if (all) forecast.rate[c->kernel->name] = flops(c->point.workload) / c->point.median;
            finish(*c, all ? Point::State::measured : Point::State::cancelled, all ? "" : "Cancelled.");
        }
    }

    // Memory, the first run, and whether it is right.
    void prepare(Candidate& c, const Tensors& inputs) {
        const std::string at = c.kernel->name + ", N = " + format_count(c.point.workload.N_kv);
        tell(at + ": first run");
        reset_peak_rss();
        const Clock::time_point begin = Clock::now();
        std::optional<double> once;
        try {
            c.prepared = engine.prepare(*c.kernel, c.point.workload, inputs, stop);
            if (c.prepared) once = c.prepared->run(stop);
            c.point.first = seconds_since(begin);
            // What is verified is a run like those that are timed: on outputs that were written before.
            if (once) once = c.prepared->run(stop);
        } catch (const NoMemory& none) {
            return lose(c, Point::State::no_memory, none.what());
        } catch (const std::bad_alloc&) {
            return lose(c, Point::State::no_memory, no_memory_left);
        } catch (const KernelFailed& failure) {
            return lose(c, Point::State::skipped, failure.what());
        }
        if (!once) return lose(c, Point::State::cancelled, "Cancelled.");
        c.point.peak_rss_bytes = peak_rss();
        c.runs = forecast.runs(*once);
        tell(at + ": verifying");
        judge(c, verify_rows(*c.prepared, c.point.workload, inputs, request.seed, stop, *c.kernel));
    }

    void judge(Candidate& c, const KernelVerdict& rows) {
        const KernelVerdict& small = verdicts[c.kernel->name];
        const bool worse = rows.error * small.limit > small.error * rows.limit;
        c.point.max_error = worse ? rows.error : small.error;
        c.point.error_limit = worse ? rows.limit : small.limit;
        c.point.verified = rows.passed;
        if (rows.passed) return;
        const bool stopped = stop.stop_requested();
        lose(c, stopped ? Point::State::cancelled : Point::State::failed,
             stopped ? "Cancelled." : rows.sentence);
    }
    void lose(Candidate& c, Point::State state, std::string reason) {
        c.prepared.reset();
        finish(c, state, std::move(reason));
    }

    // Seconds; none where it was stopped, or failed: then this kernel is lost, and the others go on.
    std::optional<double> run_once(Candidate& c) {
        if (!c.prepared || stop.stop_requested()) return std::nullopt;
        try {
            return c.prepared->run(stop);
        } catch (const KernelFailed& failure) {
            lose(c, Point::State::skipped, failure.what());
            return std::nullopt;
        }
    }

    // Each round begins with another kernel; who needs fewer runs has them spread over all rounds.
    void time_in_turns(const std::vector<Candidate*>& ready) {
        for (int round = 0; round < request.warm_up; ++round)
            for (Candidate* c : ready) run_once(*c);
        int rounds = 0;
        for (const Candidate* c : ready) rounds = std::max(rounds, c->runs);
        for (int round = 0; round < rounds; ++round)
            for (std::size_t k = 0; k < ready.size(); ++k) {
                Candidate& c = *ready[(k + static_cast<std::size_t>(round)) % ready.size()];
                const int due = (round + 1) * c.runs / rounds;
                if (due == round * c.runs / rounds || stop.stop_requested() || !c.prepared) continue;
                tell(c.kernel->name + ", N = " + format_count(c.point.workload.N_kv) + ": run " +
                     std::to_string(due) + " of " + std::to_string(c.runs));
                if (const auto seconds = run_once(c)) c.point.seconds.push_back(*seconds);
            }
    }

    void finish(Candidate& c, Point::State state, std::string reason) {
        c.point.state = state, c.point.reason = std::move(reason);
        if (state != Point::State::measured) c.point.seconds.clear(), summarise(c.point);
        std::erase(ahead, std::pair{c.kernel->name, c.point.workload});
        report.points.push_back(std::move(c.point));
        ++progress.done;
        tell(progress.doing);
    }

    void tell(std::string doing) {
        double left = 0;
        for (const auto& [kernel, workload] : ahead) left += forecast.whole(kernel, workload);
        const double passed = seconds_since(begun);
        progress.doing = std::move(doing);
        progress.part = std::max(progress.part, ahead.empty() ? 1 : passed / (passed + left));
        if (!forecast.rate.empty()) progress.seconds_left = left;
        show(report, progress);
    }

    const BenchRequest& request;
    Engine& engine;
    const Show& show;
    std::stop_token stop;
    double peak = 0;                         // FLOP/s, of this length
    std::optional<std::int64_t> own_memory;  // free bytes of the device, if it has its own
    BenchReport report;
    BenchProgress progress;
    Forecast forecast;
    std::map<std::string, KernelVerdict> verdicts;  // at small sizes, of each kernel
    std::vector<std::pair<std::string, Workload>> ahead;
    Clock::time_point begun = Clock::now();
};

// Kernels for few queries are no part of a ladder for many.
bool is_meant(const BenchRequest& request, const KernelInfo& kernel) {
    if (!request.kernels.empty()) return lists(request.kernels, kernel.name);
    if (kernel.direction.value_or(request.workload.direction) != request.workload.direction) return false;
    return kernel.most_queries == 0 ||
           request.queries.value_or(kernel.most_queries + 1) <= kernel.most_queries;
}

}  // namespace

std::vector<const KernelInfo*> chosen_kernels(const BenchRequest& request, const Engine& engine) {
    std::vector<const KernelInfo*> chosen;
    for (const KernelInfo& kernel : engine.kernels())
        if (is_meant(request, kernel)) chosen.push_back(&kernel);
    return chosen;
}

void repeat_as_on_gpu(BenchRequest& request) {
    request.warm_up = 5;
    request.least_runs = 30, request.most_runs = 101;
    request.long_run = .5;
}

std::optional<std::string> refuse(const BenchRequest& request, const Engine& engine) {
    std::vector<std::string> known;
    for (const KernelInfo& kernel : engine.kernels()) known.push_back(kernel.name);
    for (const std::string& name : request.kernels)
        if (!lists(known, name)) {
            std::string all;
            for (const std::string& kernel : known) all += (all.empty() ? "" : ", ") + kernel;
            return "There is no kernel \"" + name + "\" for " + engine.device() + ", expected some of " +
                   all + ".";
        }
    if (request.lengths.empty()) return "There is no sequence length to run.";
    for (const Workload& w : workloads(request))
        if (auto sentence = refuse(w)) return sentence;
    return std::nullopt;
}

BenchReport run_bench(const BenchRequest& request, Engine& engine, const Runner::Show& show,
                      std::stop_token stop) {
    return Runner(request, engine, show, std::move(stop)).run();
}

}  // namespace tilewalk
