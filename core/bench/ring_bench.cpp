#include "core/bench/ring_bench.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/bench/machine.h"
#include "core/bench/ring_verify.h"
#include "core/cpu/kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace tilewalk {

namespace {

using ring::Rank;
using ring::Transport;

constexpr double slowest_rate = 2e9;  // FLOP/s

std::vector<ring::Problem> problems_of(const RingRequest& request) {
    std::vector<ring::Problem> all;
    for (const std::int64_t N : request.bench.lengths) {
        all.push_back({request.bench.workload, request.shards});
        all.back().workload.N_q = all.back().workload.N_kv = N;
    }
    return all;
}

// All that must be the same on all ranks, in words
std::string words_of(const RingRequest& request) {
    const BenchRequest& bench = request.bench;
    std::string text = describe(bench.workload) + ", N = ";
    for (std::size_t n = 0; n < bench.lengths.size(); ++n)
        text += (n > 0 ? ", " : "") + str(bench.lengths[n]);
    text += std::string(", ") + name_of(request.shards) + " shards, seed " + str(bench.seed);
    const Build build = this_build();
    return text + ", version " + build.version + ", commit " + build.commit;
}

// Numbers of all ranks on rank 0, elsewhere nothing
template <class T> std::vector<std::vector<T>> gathered(Transport& transport, const std::vector<T>& mine) {
    std::string bytes(mine.size() * sizeof(T), '\0');
    if (!mine.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
    std::vector<std::vector<T>> all;
    for (const std::string& text : gather(transport, bytes)) {
        std::vector<T>& numbers = all.emplace_back(text.size() / sizeof(T));
        if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
    }
    return all;
}

int threads_of(const RingRequest& request, const Transport& transport) {
    if (request.threads > 0) return request.threads;
    return std::max(1, cpu::usable_cores() / transport.ranks_on_host());
}

class RingRunner {
public:
    RingRunner(const RingRequest& what, Transport& with, const std::function<void(const std::string&)>& shown)
        : request(what), transport(with), show(shown), pool(threads_of(what, with)) {}

    BenchReport run() {
        describe_machine();
        for (const ring::Problem& problem : problems_of(request)) run_problem(problem);
        report.complete = true;
        return std::move(report);
    }

private:
    bool leads() const { return transport.rank() == 0; }
    void tell(const ring::Problem& problem, const std::string& what) {
        if (leads())
            show(ring_name(transport.ranks(), problem.shards) +
                 ", N = " + format_count(problem.workload.N_q) + ": " + what);
    }
    /// Rank 0 decides, all follow.
    template <class Decide> std::string decided(const Decide& decide) {
        return from_rank_0(transport, leads() ? decide() : std::string());
    }

    void describe_machine() {
        report.machine = this_machine();
        report.machine.instructions = cpu::instruction_set();
        report.machine.threads = pool.threads();  // of each rank
        report.build = this_build();
        report.date = utc_now();
        report.memory_limit = request.bench.memory_limit > 0 ? request.bench.memory_limit
                                                             : report.machine.memory_available / 10 * 9;
        // All ranks at once, as they will compute
        meet(transport);
        const double peak = cpu::multiply_add_peak(pool, {});
        for (const auto& rank : gathered<double>(transport, {peak})) report.peak += rank[0];
    }

    void run_problem(const ring::Problem& problem) {
        Point point = new_point(problem);
        // Who is slow is not dead: the whole work at a rate that every core reaches comes on top
        transport.patience =
            std::chrono::duration<double>(request.patience + flops(problem.workload) / slowest_rate);
        if (const std::string reason = too_large(problem, point); !reason.empty())
            return finish(std::move(point), Point::State::no_memory, reason);
        tell(problem, "inputs");
        reset_peak_rss();
        cpu::CountedMemory memory;
        Rank rank(problem, transport, pool, memory);
        rank.accident = request.accident;
        fill(rank, problem, request.bench.seed);

        tell(problem, "first run");
        meet(transport);
        const auto begin = std::chrono::steady_clock::now();
        if (problem.workload.direction == Direction::backward) rank.forward();
        rank.run();
        meet(transport);
        point.first = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        // What is verified is a run like those that are timed: on outputs that were written before.
        const ring::Cost once = rank.run();
        tell(problem, "verifying");
        if (const std::string reason = wrong(rank, problem, point); !reason.empty())
            return finish(std::move(point), Point::State::failed, reason);
        time(rank, problem, point, once.seconds);
        count(problem, point, memory.peak());
        finish(std::move(point), Point::State::measured, "");
    }

    Point new_point(const ring::Problem& problem) const {
        Point point;
        point.device = "cpu", point.kernel = ring_name(transport.ranks(), problem.shards);
        point.workload = problem.workload, point.peak = report.peak;
        RingFigures ring;
        ring.ranks = transport.ranks(), ring.shards = name_of(problem.shards);
        ring.model_bytes_between = bytes_between(problem, ring.ranks);
        point.ring = std::move(ring);
        return point;
    }

    // The closed form of what this host would hold, against what it has
    std::string too_large(const ring::Problem& problem, Point& point) {
        const std::int64_t own = bytes_of_rank(problem, transport.ranks(), transport.rank(), pool.threads());
        const std::int64_t here = own * transport.ranks_on_host();
        const auto all = gathered<std::int64_t>(
            transport, {own, here, report.memory_limit, own - tensors_of_rank(problem)});
        return decided([&] {
            std::string reason;
            for (std::size_t r = 0; r < all.size(); ++r) {
                point.model_bytes = std::max(point.model_bytes, all[r][3]);
                if (all[r][1] > all[r][2] && reason.empty())
                    reason = "The host of rank " + str(r) + " would hold " + format_size(all[r][1]) + "; " +
                             format_size(all[r][2]) + " may be used.";
            }
            return reason;
        });
    }

    // Empty when all ranks are right
    std::string wrong(Rank& rank, const ring::Problem& problem, Point& point) {
        const KernelVerdict mine = verify_rank(rank, problem, request.bench.seed, transport, pool);
        const auto errors = gathered<double>(transport, {mine.error, mine.limit});
        const auto sentences = gather(transport, mine.passed ? "" : mine.sentence);
        return decided([&] {
            std::string reason;
            for (std::size_t r = 0; r < errors.size(); ++r) {
                if (r == 0 || errors[r][0] * point.error_limit > point.max_error * errors[r][1])
                    point.max_error = errors[r][0], point.error_limit = errors[r][1];
                if (reason.empty() && !sentences[r].empty()) reason = "Rank " + str(r) + ": " + sentences[r];
            }
            point.verified = reason.empty();
            return reason;
        });
    }

    // A run takes as long as its slowest rank. What a rank costs is that of the run in the middle.
    void time(Rank& rank, const ring::Problem& problem, Point& point, double once) {
        const BenchRequest& bench = request.bench;
        const std::string runs = decided([&] {
            const int least = once > bench.long_run ? std::min(3, bench.least_runs) : bench.least_runs;
            return str(static_cast<int>(std::clamp(bench.seconds_per_kernel / std::max(once, 1e-9),
                                                   double(least), double(bench.most_runs))));
        });
        std::vector<std::pair<double, std::vector<std::vector<double>>>> costs;
        for (int run = 0; run < std::stoi(runs); ++run) {
            tell(problem, "run " + str(run + 1) + " of " + runs);
            meet(transport);
            const ring::Cost cost = rank.run();
            const auto all = gathered<double>(
                transport, {cost.seconds, cost.computing, cost.waiting, static_cast<double>(cost.sent)});
            if (!leads()) continue;
            double slowest = 0;
            for (const auto& one : all) slowest = std::max(slowest, one[0]);
            point.seconds.push_back(slowest);
            costs.emplace_back(slowest, all);
        }
        const double one_rank = alone(rank, problem);
        if (!leads()) return;
        summarise(point);
        std::ranges::sort(costs, {}, &decltype(costs)::value_type::first);
        for (const auto& one : costs[(costs.size() - 1) / 2].second) {
            point.ring->of_rank.push_back({one[1], one[2]});
            point.ring->bytes_between += static_cast<std::int64_t>(one[3]);
        }
        point.ring->one_rank = one_rank;
    }

    // What all ranks compute, one after the other: the middle of three rounds, on rank 0
    double alone(Rank& rank, const ring::Problem& problem) {
        tell(problem, "ranks one after the other");
        std::array<double, 3> sums = {};
        for (double& sum : sums)
            for (const auto& one : gathered<double>(transport, {rank.run(Rank::Pace::in_turn).computing}))
                sum += one[0];
        std::ranges::sort(sums);
        return sums[1];
    }

    void count(const ring::Problem& problem, Point& point, std::int64_t memory) {
        const Workload& w = problem.workload;
        std::int64_t scores = 0;
        for (int round = 0; round < transport.ranks(); ++round)
            scores += w.batch * w.heads *
                      scores_of(problem.shards, w.N_q, transport.ranks(), transport.rank(), round, w.causal);
        const auto all = gathered<std::int64_t>(
            transport, {memory, bytes_of_rank(problem, transport.ranks(), transport.rank(), pool.threads()),
                        scores, memory - tensors_of_rank(problem), peak_rss()});
        for (std::size_t r = 0; r < all.size(); ++r) {
            RingFigures::OfRank& one = point.ring->of_rank[r];
            one.memory_bytes = all[r][0], one.model_bytes = all[r][1], one.scores = all[r][2];
            point.workspace_bytes = std::max(point.workspace_bytes, all[r][3]);
            point.peak_rss_bytes = std::max(point.peak_rss_bytes, all[r][4]);
        }
    }
    // Inputs and outputs of this rank's shard
    std::int64_t tensors_of_rank(const ring::Problem& problem) const {
        Workload w = problem.workload;
        w.N_q = w.N_kv = rows_of(problem.shards, w.N_q, transport.ranks(), transport.rank());
        return tensor_bytes(w);
    }

    void finish(Point point, Point::State state, std::string reason) {
        if (!leads()) return;
        point.state = state, point.reason = std::move(reason);
        if (state != Point::State::measured)
            point.seconds.clear(), summarise(point), point.ring->of_rank.clear();
        report.points.push_back(std::move(point));
    }

    const RingRequest& request;
    Transport& transport;
    const std::function<void(const std::string&)>& show;
    cpu::ThreadPool pool;
    BenchReport report;
};

}  // namespace

std::string ring_name(int ranks, ring::Shards shards) { return "ring-" + str(ranks) + "-" + name_of(shards); }

std::optional<std::string> refuse(const RingRequest& request, int ranks) {
    if (request.bench.lengths.empty()) return "There is no sequence length to run.";
    if (const DType type = request.bench.workload.dtype; type != DType::f32)
        return std::string("A ring computes in f32, not in ") + name_of(type) + ".";
    for (const ring::Problem& problem : problems_of(request))
        if (auto sentence = refuse(problem, ranks)) return sentence;
    return std::nullopt;
}

std::optional<std::string> disagreement(const Result<RingRequest>& request, Transport& transport) {
    const auto refused = request ? refuse(*request, transport.ranks()) : request.error;
    const auto all = gather(transport, refused ? "!" + *refused : words_of(*request));
    std::string sentence;
    for (std::size_t r = 0; r < all.size() && sentence.empty(); ++r) {
        if (all[r].starts_with('!'))
            sentence = all[r].substr(1);
        else if (all[r] != all[0])
            sentence = "Rank " + str(r) + " has another problem than rank 0: " + all[r] + "; rank 0 has " +
                       all[0] + ".";
    }
    sentence = from_rank_0(transport, sentence);
    return sentence.empty() ? std::nullopt : std::optional(sentence);
}

BenchReport run_ring_bench(const RingRequest& request, Transport& transport,
                           const std::function<void(const std::string&)>& show) {
    return RingRunner(request, transport, show).run();
}

}  // namespace tilewalk
