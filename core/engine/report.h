// What a benchmark measured, on which machine, by which build: the contents of a results file.
#pragma once

#include "core/base/result.h"
#include "core/engine/engine.h"

namespace tilewalk {

struct Machine {
    std::string cpu;                                      ///< "AMD EPYC", as the system names it
    int cores = 0;                                        ///< that the process may use
    int threads = 0;                                      ///< that the CPU kernels used
    std::string instructions;                             ///< "AVX-512"
    std::string product_library;                          ///< under standard attention: "OpenBLAS 0.3.21"
    std::int64_t memory_total = 0, memory_available = 0;  ///< bytes, when the run began
    std::string system;                                   ///< "Debian GNU/Linux 12 (bookworm)"
    std::string gpu, driver;                              ///< empty where there is none

    /// The same but for what changes from run to run.
    bool same_as(const Machine& other) const;
};
struct Build {
    std::string version, commit, compiler, flags;
    bool operator==(const Build&) const = default;
};

/// What a ring of several ranks adds to how it did: `tilewalk bench --distributed`.
struct RingFigures {
    int ranks = 1;
    std::string shards;  ///< "zigzag"
    std::int64_t bytes_between = 0,
                 model_bytes_between = 0;  ///< one run, over all ranks; counted, closed form
    double one_rank = 0;  ///< seconds that the ranks compute when they do so one after the other
    struct OfRank {
        double computing = 0, waiting = 0;               ///< seconds of a run
        std::int64_t memory_bytes = 0, model_bytes = 0;  ///< all that it holds: counted, closed form
        std::int64_t scores = 0;                         ///< that the mask leaves it, over all heads
        bool operator==(const OfRank&) const = default;
    };
    std::vector<OfRank> of_rank{};

    std::int64_t most_memory() const;
    double longest_wait() const;
    /// The scores of the rank that has most, over the mean: 1 is balanced.
    double imbalance() const;
    bool operator==(const RingFigures&) const = default;
};

/// How one kernel did on one workload.
struct Point {
    enum class State {
        measured,   ///< verified, then timed
        failed,     ///< wrong beyond the rule; not timed
        skipped,    ///< does not take the workload
        no_memory,  ///< would not fit; not run
        cancelled   ///< stopped before it was done
    };
    std::string device, kernel;
    Workload workload;
    State state = State::cancelled;
    std::string reason;  ///< why it has no time, as a sentence; empty when measured

    bool verified = false;
    double max_error = 0, error_limit = 0;  ///< against fp64, the larger in relation to its limit

    std::vector<double> seconds;  ///< of each repetition, in the order they ran
    double median = 0, p20 = 0, p80 = 0;
    double first = 0;  ///< seconds of preparing and the first run: memory touched, caches cold
    double peak = 0;   ///< FLOP/s that Engine::measure_peak found just before or after; 0: not known
    std::int64_t workspace_bytes = 0;  ///< counted by the kernel's allocator
    std::int64_t model_bytes = 0;      ///< by its closed form; also where it was not run
    std::int64_t peak_rss_bytes = 0;   ///< of the whole process while it ran; 0 if the system does not tell
    std::optional<RingFigures> ring = {};

    /// 0 of what computes nothing.
    double flop_rate() const { return median > 0 && kernel != reading_kv ? flops(workload) / median : 0; }
    /// K and V once, in the time that it took: bytes/s.
    double kv_rate() const { return median > 0 ? static_cast<double>(kv_bytes(workload)) / median : 0; }
    /// 0 … 1, or more where the machine was slower when it was measured; 0 if either was not measured.
    double of_peak() const { return peak > 0 ? flop_rate() / peak : 0; }
};
const char* name_of(Point::State state);

struct BenchReport {
    Machine machine;
    Build build;
    std::string date;               ///< UTC, "2026-11-21 22:10"
    std::string command;            ///< that repeats it
    std::string torch;              ///< version of PyTorch, where that was timed as well: "2.15.0"
    std::string source;             ///< the file that it was read from; empty: measured by this process
    double peak = 0;                ///< FLOP/s: the highest of its points
    std::int64_t memory_limit = 0;  ///< bytes that a kernel might use with its tensors
    std::vector<Point> points;
    bool complete = false;  ///< false: cancelled, or still running
};

/// A workload without its length: N_kv is 0, and N_q where there are as many queries as keys.
Workload shape_of(Workload workload);
/// Runs of one build on one machine as one report, which names the first one's date and every command. A
/// sentence if they are of several machines or builds, or measured the same twice.
Result<BenchReport> join_reports(const std::vector<BenchReport>& reports);
/// One report for each shape: points that differ in kernel and length only, in the order in which they come.
std::vector<BenchReport> by_shape(const BenchReport& report);
/// Median and percentiles (nearest rank) of point.seconds, into it.
void summarise(Point& point);
/// The point of a kernel at this workload, whatever became of it, or null.
const Point* find_point(const BenchReport& report, const std::string& kernel, const Workload& workload);
/// The part of the rate at which K and V can be read that the point reaches, 0 … 1: the time of the yardstick
/// over its own. 0 if either was not measured.
double of_reading(const BenchReport& report, const Point& point);
/// Whether the report has that yardstick.
bool has_reading(const BenchReport& report);

}  // namespace tilewalk
