#include "core/distributed/ring.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

namespace tilewalk::ring {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Two buffers for keys that come and go: with two ranks the second is never needed, with one none
int buffers_for_keys(int ranks) { return std::min(2, ranks - 1); }
int buffers_for_gradients(int ranks) { return ranks > 1 ? 3 : 1; }

}  // namespace

std::optional<std::string> refuse(const Problem& problem, int ranks) {
    const Workload& w = problem.workload;
    if (auto sentence = tilewalk::refuse(w)) return sentence;
    if (w.window) return "A ring takes no window; leave out --window.";
    if (w.N_q != w.N_kv) return "A ring needs as many queries as keys.";
    return refuse(problem.shards, w.N_q, ranks);
}

std::int64_t bytes_between(const Problem& problem, int ranks, int element_bytes) {
    if (ranks == 1) return 0;
    const Workload& w = problem.workload;
    const std::int64_t numbers = 2 * w.kv_rows() * w.d, R = ranks, e = element_bytes,
                       gradient = sizeof(float);
    return numbers * (w.direction == Direction::forward ? (R - 1) * e : (R - 1) * e + R * gradient);
}

std::int64_t bytes_of_rank(const Problem& problem, int ranks, int rank, int threads) {
    const Workload& w = problem.workload;
    const bool backward = w.direction == Direction::backward;
    const std::int64_t n = rows_of(problem.shards, w.N_q, ranks, rank),
                       most = largest_shard(problem.shards, w.N_q, ranks);
    const std::int64_t heads = w.batch * w.heads, pair = 2 * w.batch * w.kv_heads * w.d;
    std::int64_t floats =
        2 * heads * n * w.d + 3 * heads * n + pair * n + buffers_for_keys(ranks) * pair * most;
    if (backward) floats += 2 * heads * n * w.d + heads * n + buffers_for_gradients(ranks) * pair * most;
    return floats * static_cast<std::int64_t>(sizeof(float)) + ShardAttention::model_bytes(w, n, threads);
}

Rank::Rank(const Problem& what, Transport& with, cpu::ThreadPool& pool, cpu::CountedMemory& memory)
    : problem(what), transport(with), ranks(with.ranks()), rank(with.rank()),
      kv_heads(what.workload.batch * what.workload.kv_heads),
      own_rows(rows_of(what.shards, what.workload.N_q, ranks, rank)),
      runs(runs_of(what.shards, what.workload.N_q, ranks, rank)),
      attention(what.workload, runs, pool, memory) {
    const Workload& w = what.workload;
    const std::int64_t rows = w.batch * w.heads * own_rows,
                       most = 2 * kv_floats(largest_shard(what.shards, w.N_q, ranks));
    for (cpu::Buffer& tensor : queries) tensor = cpu::Buffer(memory, rows * w.d);
    for (cpu::Buffer& row : row_sums) row = cpu::Buffer(memory, rows);
    own_keys = cpu::Buffer(memory, 2 * kv_floats(own_rows));
    for (int k = 0; k < buffers_for_keys(ranks); ++k)
        travelling[static_cast<std::size_t>(k)] = cpu::Buffer(memory, most);
    if (w.direction == Direction::forward) return;
    for (cpu::Buffer& tensor : gradients_of_queries) tensor = cpu::Buffer(memory, rows * w.d);
    D = cpu::Buffer(memory, rows);
    for (int k = 0; k < buffers_for_gradients(ranks); ++k)
        gradients[static_cast<std::size_t>(k)] = cpu::Buffer(memory, most);
}

Cost Rank::run(Pace pace) {
    return problem.workload.direction == Direction::forward ? forward(pace) : backward(pace);
}

KeyShard Rank::shard(int owner, const cpu::Buffer& keys) const {
    const std::int64_t N = problem.workload.N_kv, rows = rows_of(problem.shards, N, ranks, owner);
    return {keys.data(), keys.data() + kv_floats(rows), runs_of(problem.shards, N, ranks, owner), rows};
}

QueryShard Rank::views() {
    return {queries[0].data(),  gradients_of_queries[0].data(),
            queries[1].data(),  row_sums[0].data(),
            row_sums[1].data(), row_sums[2].data(),
            D.data(),           gradients_of_queries[1].data()};
}

// ---- Messages

void Rank::hand_on(Cost& cost, Tag tag, const cpu::Buffer& from, std::int64_t rows, int number) {
    std::int64_t floats = 2 * kv_floats(rows);
    if (accident && accident->rank == rank && accident->round == number &&
        accident->kind == Accident::Kind::cut)
        floats /= 2;
    transport.send((rank + 1) % ranks, tag, bytes_of(from.data(), floats));
    cost.sent += floats * static_cast<std::int64_t>(sizeof(float));
}

void Rank::take(Tag tag, cpu::Buffer& to, std::int64_t rows) {
    transport.receive((rank + ranks - 1) % ranks, tag, bytes_of(to.data(), 2 * kv_floats(rows)));
}

// Another thread computes; this one moves the messages on, which MPI does only while it is asked to.
void Rank::compute_while_messages_travel(Cost& cost, const std::function<void(std::stop_token)>& compute) {
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::exception_ptr failure;
    const Clock::time_point begin = Clock::now();
    std::jthread computing([&](std::stop_token stop) {
        try {
            compute(stop);
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        cost.computing += seconds_since(begin);
        done = true;
        ended.notify_one();
    });
    for (std::unique_lock lock(mutex); !done;) {
        lock.unlock();
        const auto nap = std::chrono::microseconds(transport.all_through() ? 2000 : 50);
        lock.lock();
        ended.wait_for(lock, nap, [&] { return done; });
    }
    computing.join();
    if (failure) std::rethrow_exception(failure);
    const Clock::time_point computed = Clock::now();
    wait(transport);
    cost.waiting += seconds_since(computed);
}

void Rank::round(Cost& cost, Pace pace, int number, const std::function<void(std::stop_token)>& compute) {
    if (accident && accident->rank == rank && accident->round == number) {
        if (accident->kind == Accident::Kind::die) std::raise(SIGKILL);
        if (accident->kind == Accident::Kind::stop) std::raise(SIGSTOP);  // the whole process, MPI with it
        while (accident->kind == Accident::Kind::stall) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    if (pace == Pace::together) return compute_while_messages_travel(cost, compute);
    for (int turn = 0; turn < ranks; ++turn) {
        if (turn == rank) compute_while_messages_travel(cost, compute);
        meet(transport);
    }
}

// ---- The two directions

Cost Rank::forward(Pace pace) {
    Cost cost;
    const Clock::time_point begin = Clock::now();
    const QueryShard q = views();
    attention.begin(q);
    for (int t = 0; t < ranks; ++t) {
        const int owner = owner_of(ranks, rank, t), next = owner_of(ranks, rank, t + 1);
        const cpu::Buffer& keys = t == 0 ? own_keys : travelling[static_cast<std::size_t>(t - 1) % 2];
        const KeyShard here = shard(owner, keys);
        if (t + 1 < ranks) {
            take(Tag::keys, travelling[static_cast<std::size_t>(t) % 2],
                 rows_of(problem.shards, problem.workload.N_kv, ranks, next));
            hand_on(cost, Tag::keys, keys, here.rows, t);
        }
        round(cost, pace, t, [&](std::stop_token stop) { attention.merge(q, here, stop); });
    }
    attention.finish(q);
    cost.seconds = seconds_since(begin);
    return cost;
}

// dK and dV of a shard arrive while their next part is computed, and go on with it.
Cost Rank::backward(Pace pace) {
    Cost cost;
    const Clock::time_point begin = Clock::now();
    const QueryShard q = views();
    cpu::Buffer& arriving = gradients[2];
    attention.begin_backward(q);
    for (int t = 0; t < ranks; ++t) {
        const int owner = owner_of(ranks, rank, t), next = owner_of(ranks, rank, t + 1);
        const cpu::Buffer& keys = t == 0 ? own_keys : travelling[static_cast<std::size_t>(t - 1) % 2];
        cpu::Buffer& computed = gradients[static_cast<std::size_t>(t) % 2];
        const KeyShard here = shard(owner, keys);
        if (t > 0) take(Tag::gradients, arriving, here.rows);
        if (t + 1 < ranks) {
            take(Tag::keys, travelling[static_cast<std::size_t>(t) % 2],
                 rows_of(problem.shards, problem.workload.N_kv, ranks, next));
            hand_on(cost, Tag::keys, keys, here.rows, t);
        }
        float *const dK = computed.data(), *const dV = dK + kv_floats(here.rows);
        round(cost, pace, t, [&](std::stop_token stop) { attention.gradients(q, here, dK, dV, stop); });
        if (t > 0)
            for (std::int64_t k = 0; k < 2 * kv_floats(here.rows); ++k) dK[k] += arriving.data()[k];
        if (ranks > 1) hand_on(cost, Tag::gradients, computed, here.rows, t);
    }
    home = ranks > 1 ? &arriving : &gradients[0];
    if (ranks > 1) {
        take(Tag::gradients, arriving, own_rows);
        const Clock::time_point computed = Clock::now();
        wait(transport);
        cost.waiting += seconds_since(computed);
    }
    cost.seconds = seconds_since(begin);
    return cost;
}

}  // namespace tilewalk::ring
