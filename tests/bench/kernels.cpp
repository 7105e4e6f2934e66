// flash on one thread, on every instruction set of this machine: GFLOP/s and the part of that instruction
// set's peak. Times are CPU time of the thread, and the peak is taken anew beside every shape, so that the
// parts hold on a machine that has other work as well.
//   tilewalk_kernels [N] [heads]
#include "core/cpu/kernel.h"
#include "core/cpu/lanes.h"

#include <cstdio>
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

}  // namespace

int main(int count, char** arguments) {
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
