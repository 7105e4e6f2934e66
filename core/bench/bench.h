// Benchmarks: what to run, in which order, and running it. The command line and the window share this.
#pragma once

#include "core/base/background.h"
#include "core/engine/report.h"

#include <functional>
#include <memory>
#include <mutex>

namespace tilewalk {

struct BenchRequest {
    std::vector<std::string> kernels;  ///< empty: all of the engine
    Workload workload;  ///< sizes that all points share; N_q and N_kv are set from the next two
    std::vector<std::int64_t> lengths = {512, 1024, 2048, 4096, 8192};  ///< keys
    std::optional<std::int64_t> queries = {};                           ///< none: as many as keys
    std::int64_t memory_limit = 0;  ///< bytes that a kernel may use with its tensors; 0: what is free
    std::uint64_t seed = 1;
    int least_runs = 5, most_runs = 21;  ///< repetitions of each kernel …
    double seconds_per_kernel = 2;       ///< … as many as fit into this
    double long_run = 5;                 ///< seconds from which on three repetitions are enough
    int warm_up = 0;                     ///< rounds before those that count
};
/// Repetitions as a GPU needs them: its clock rises within a few, and each takes little.
void repeat_as_on_gpu(BenchRequest& request);
/// A sentence if it cannot be run: unknown kernels, sizes that do not fit together, nothing to do.
std::optional<std::string> refuse(const BenchRequest& request, const Engine& engine);

/// Those that are named; without names all that compute the direction, and for so many queries are made.
std::vector<const KernelInfo*> chosen_kernels(const BenchRequest& request, const Engine& engine);

/// Where a run stands.
struct BenchProgress {
    std::string doing;  ///< "flash, N = 2048: timing"
    int done = 0, points = 0;
    double part = 0;                          ///< of the whole work, 0 … 1
    std::optional<double> seconds_left = {};  ///< none before there is something to tell it from
};

/// Runs the points, the cheapest first; the kernels of one length take turns, so that whatever disturbs the
/// machine disturbs them all. `show` is called at every change with what there is so far.
BenchReport run_bench(const BenchRequest& request, Engine& engine,
                      const std::function<void(const BenchReport&, const BenchProgress&)>& show,
                      std::stop_token stop);

/// What a run has told so far; it may outlive whoever looks at it.
class BenchTold {
public:
    void tell(const BenchReport& report, const BenchProgress& progress);
    /// The run is over; `why`: a sentence if because of something unforeseen.
    void end(std::string why);

    BenchReport report() const { return look(&BenchTold::latest); }
    BenchProgress progress() const { return look(&BenchTold::at); }
    /// Changes with every call that would give something new.
    std::uint64_t version() const { return look(&BenchTold::changes); }
    std::string failure() const { return look(&BenchTold::broken); }
    bool ended() const { return look(&BenchTold::over); }

private:
    template <class T> T look(T BenchTold::*part) const {
        const std::lock_guard lock(mutex);
        return this->*part;
    }
    mutable std::mutex mutex;
    BenchReport latest;
    BenchProgress at;
    std::uint64_t changes = 0;
    std::string broken;
    bool over = false;
};

/// Begins a run in another place than a thread, as in a browser's worker, and returns what breaks it off
/// there.
using BenchElsewhere = std::function<std::function<void()>(const BenchRequest&, std::shared_ptr<BenchTold>)>;
/// From now on runs of the CPU's kernels begin there; null: in a thread again.
void run_benches_elsewhere(BenchElsewhere begin);

/// The same in the background, for the window.
class BackgroundBench {
public:
    BackgroundBench(BenchRequest request, std::unique_ptr<Engine> engine);
    BackgroundBench(const BackgroundBench&) = delete;
    BackgroundBench& operator=(const BackgroundBench&) = delete;
    ~BackgroundBench() { cancel(); }
    void cancel();
    bool cancelled() const { return break_off ? broken_off : run.cancelled(); }
    bool running() const { return break_off ? !told->ended() : !run.ready(); }
    /// A sentence if the run ended because of something unforeseen.
    std::string failure() const { return told->failure(); }
    BenchReport report() const { return told->report(); }
    BenchProgress progress() const { return told->progress(); }
    std::uint64_t version() const { return told->version(); }

private:
    std::shared_ptr<BenchTold> told = std::make_shared<BenchTold>();
    Background<void> run;
    std::function<void()> break_off;  ///< where it runs elsewhere
    bool broken_off = false;
};

}  // namespace tilewalk
