// flash on one thread, on every instruction set of this machine: GFLOP/s and the part of that instruction
// set's peak. Times are CPU time of the thread, and the peak is taken anew beside every shape, so that the
// parts hold on a machine that has other work as well.
//   tilewalk_kernels [N] [heads]
// Or tensors of 16 bits beside float32: the same kernel on the same numbers in f32, f16 and bf16, run after
// run in turns, and how many times as fast as in f32 it is, with the aim. With one thread times are CPU time
// of it.
//   tilewalk_kernels --half [threads]
#include "core/cpu/kernel.h"
#include "core/cpu/lanes.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

using namespace tilewalk;
using namespace tilewalk::cpu;

namespace {

double cpu_seconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The middle of enough runs, in seconds
template <typename Run> double middle_of_runs(const Run& run) {
    std::vector<double> seconds;
    double sum = 0;
    while (seconds.size() < 5 || (sum < 1 && seconds.size() < 200)) {
        const double begin = cpu_seconds();
        run();
        seconds.push_back(cpu_seconds() - begin);
        sum += seconds.back();
    }
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                     seconds.end());
    return seconds[seconds.size() / 2];
}

void measure(const Workload& w) {
    ThreadPool pool(1);
    CountedMemory memory;
    Tensors t = make_inputs(w, 1);
    t.O = t.dQ = t.Q, t.dK = t.dV = t.K, t.L.resize(static_cast<std::size_t>(w.q_rows()));
    const Views views = {t.Q.data(), t.K.data(),  t.V.data(),  t.dO.data(), t.O.data(),
                         t.L.data(), t.dQ.data(), t.dK.data(), t.dV.data()};
    const auto kernel = flash().make(w, pool, memory);
    kernel->forward(views, {});
    std::printf("%-10s %6d %4d%s", instruction_set().c_str(), static_cast<int>(w.N_q), static_cast<int>(w.d),
                w.causal ? "  causal" : "        ");
    for (const Direction direction : {Direction::forward, Direction::backward}) {
        Workload counted = w;
        counted.direction = direction;
        const double peak = multiply_add_peak(pool, {});
        const double rate =
            flops(counted) / middle_of_runs([&] {
                direction == Direction::forward ? kernel->forward(views, {}) : kernel->backward(views, {});
            });
        std::printf("   %s %6.1f of %6.1f GFLOP/s = %.3f", name_of(direction), rate * 1e-9, peak * 1e-9,
                    rate / peak);
        std::fflush(stdout);
    }
    std::printf("\n");
}

// ---- 16 bits beside float32

constexpr std::array types = {DType::f32, DType::f16, DType::bf16};

struct Shape {
    const Rung& rung;
    Workload w;
    double aim;  ///< times as fast as in float32
};

std::vector<Shape> shapes() {
    std::vector<Shape> all;
    for (const Direction direction : {Direction::forward, Direction::backward})
        for (const std::int64_t d : {64, 128})
            for (const std::int64_t N : {512, 1024, 4096})
                for (const bool causal : {false, true}) {
                    Workload w{
                        .direction = direction, .heads = 2, .kv_heads = 2, .N_q = N, .N_kv = N, .d = d};
                    w.causal = causal;
                    if (N == 4096 || !causal) all.push_back({flash(), w, .95});
                }
    struct Decoding {
        std::int64_t heads, kv_heads, d, queries, keys;
    };
    // Where K and V lie in the caches, or many rows share them, memory is not the limit
    for (const auto& [heads, kv_heads, d, queries, keys] : {Decoding{8, 8, 64, 1, 1024},
                                                            {8, 8, 64, 1, 65536},
                                                            {8, 8, 128, 1, 65536},
                                                            {32, 8, 128, 1, 65536},
                                                            {8, 2, 64, 1, 262144},
                                                            {8, 2, 64, 4, 65536},
                                                            {8, 8, 64, 16, 65536}}) {
        const Workload w{.heads = heads, .kv_heads = kv_heads, .N_q = queries, .N_kv = keys, .d = d};
        const bool memory = keys > 1024 && heads / kv_heads * queries <= 4;
        all.push_back({read_kv(), w, memory ? 1.15 : 0});
        all.push_back({split_kv(), w, memory ? 1.15 : .95});
    }
    return all;
}

// A kernel with its tensors, stored as its workload says
struct Stored {
    Stored(const Shape& shape, DType type, const Tensors& in, ThreadPool& threads)
        : w(shape.w), L(static_cast<std::size_t>(w.q_rows())) {
        w.dtype = type;
        const std::vector<float> none;
        const bool backward = w.direction == Direction::backward;
        const std::vector<float>&dQ = backward ? in.Q : none, &dK = backward ? in.K : none;
        views = {store(in.Q), store(in.K), store(in.V), store(in.dO), store(in.Q),
                 L.data(),    store(dQ),   store(dK),   store(dK)};
        kernel = shape.rung.make(w, threads, memory);
        kernel->forward(views, {});
    }
    WritableElements store(const std::vector<float>& tensor) {
        const auto count = static_cast<std::int64_t>(tensor.size());
        tensors.emplace_back(tensor.size() * static_cast<std::size_t>(bytes_of(w.dtype)));
        const WritableElements to{tensors.back().data(), w.dtype};
        from_floats(tensor.data(), count, to);
        return to;
    }
    void run() {
        w.direction == Direction::forward ? kernel->forward(views, {}) : kernel->backward(views, {});
    }

    Workload w;
    std::vector<std::vector<char>> tensors;
    std::vector<float> L;
    Views views;
    CountedMemory memory;
    std::unique_ptr<Kernel> kernel;
};

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void compare(const Shape& shape, ThreadPool& threads) {
    const auto now = threads.threads() == 1 ? cpu_seconds : wall_seconds;
    Workload round = shape.w;
    round.dtype = DType::bf16;
    const Tensors in = make_inputs(round, 1);
    std::vector<std::unique_ptr<Stored>> stored;
    for (const DType type : types) stored.push_back(std::make_unique<Stored>(shape, type, in, threads));
    std::array<std::vector<double>, types.size()> seconds;
    double sum = 0;
    for (std::size_t turn = 0; turn < 7 || (sum < 3 && turn < 201); ++turn)
        for (std::size_t k = 0; k < types.size(); ++k) {
            const std::size_t which = (turn + k) % types.size();
            const double begin = now();
            stored[which]->run();
            seconds[which].push_back(now() - begin);
            sum += seconds[which].back();
        }
    const auto middle = [&](std::size_t which) {
        std::sort(seconds[which].begin(), seconds[which].end());
        return seconds[which][seconds[which].size() / 2];
    };
    const double f32 = middle(0), f16 = middle(1), bf16 = middle(2);
    const Workload& w = shape.w;
    std::printf("%-9s %-8s %2d/%-2d %4d %6d %7d%s %10.3f %10.3f %10.3f   %6.2f %6.2f",
                shape.rung.info.name.c_str(), name_of(w.direction), int(w.heads), int(w.kv_heads), int(w.d),
                int(w.N_q), int(w.N_kv), w.causal ? " causal" : "       ", 1e3 * f32, 1e3 * f16, 1e3 * bf16,
                f32 / f16, f32 / bf16);
    if (shape.aim > 0)
        std::printf("   %4.2f%s", shape.aim, std::min(f32 / f16, f32 / bf16) < shape.aim ? "  missed" : "");
    std::printf("\n");
    std::fflush(stdout);
}

int compare_types(int threads) {
    ThreadPool pool(threads);
    std::printf("%s, %d %s\n", instruction_set().c_str(), threads,
                threads == 1 ? "thread, CPU time" : "threads");
    std::printf("%-9s %-8s %5s %4s %6s %7s        %10s %10s %10s   %6s %6s   aim\n", "kernel", "", "heads",
                "d", "N_q", "N_kv", "f32, ms", "f16, ms", "bf16, ms", "/ f16", "/ bf16");
    for (const Shape& shape : shapes()) compare(shape, pool);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "--half") == 0)
        return compare_types(count > 2 ? std::max(1, std::atoi(arguments[2])) : 1);
    Workload w;
    w.direction = Direction::backward;
    w.N_q = w.N_kv = count > 1 ? std::atoll(arguments[1]) : 2048;
    w.heads = w.kv_heads = count > 2 ? std::atoll(arguments[2]) : 2;
    for (const std::string& name : instruction_sets()) {
        use_instruction_set(name);
        for (const std::int64_t d : {64, 128})
            for (const bool causal : {false, true}) {
                w.d = d, w.causal = causal;
                if (const auto reason = refuse(w)) return std::fprintf(stderr, "%s\n", reason->c_str()), 1;
                measure(w);
            }
    }
}
