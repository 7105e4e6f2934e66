#include "tests/app/ui/reports.h"

namespace tilewalk::test {

namespace {

Workload workload_of(const MadeUp& wish, std::int64_t N) {
    Workload w;
    w.direction = wish.direction;
    w.dtype = wish.dtype;
    w.N_q = w.N_kv = N;
    w.d = wish.d;
    w.heads = w.kv_heads = wish.heads;
    w.causal = wish.causal;
    return w;
}

Point point_with(const MadeUp& wish, std::size_t rung, std::int64_t N) {
    Point p;
    p.device = "cpu";
    p.kernel = wish.kernels[rung];
    p.workload = workload_of(wish, N);
    p.model_bytes = rung == 0 ? 8 * wish.heads * N * N : 600000 + 40 * N;
    if (p.model_bytes > wish.memory) {
        p.state = Point::State::no_memory;
        p.reason = "Needs more than there is.";
        return p;
    }
    p.state = Point::State::measured;
    p.verified = true;
    p.error_limit = 2e-6, p.max_error = p.error_limit * (.4 + .1 * static_cast<double>(rung));
    const double rate = 5e10 * wish.speed * (1 + .5 * static_cast<double>(rung)),
                 seconds = flops(p.workload) / rate;
    for (int run = -3; run <= 3; ++run) p.seconds.push_back(seconds * (1 + .02 * run));
    summarise(p);
    p.first = 1.4 * seconds;
    p.workspace_bytes = p.model_bytes + 64;
    p.peak_rss_bytes = p.model_bytes + (300 << 20);
    return p;
}

}  // namespace

BenchReport made_up_report(const MadeUp& wish) {
    BenchReport report;
    report.machine.cpu = "Test CPU 9000";
    report.machine.cores = report.machine.threads = 2;
    report.machine.instructions = "AVX-512";
    report.machine.product_library = "OpenBLAS 0.3.21";
    report.machine.memory_total = 2 * wish.memory;
    report.machine.memory_available = wish.memory;
    report.build = {"0.1.0", "1a2b3c4", "GCC 12.2.0", "-O3"};
    report.date = "2026-11-21 22:10";
    report.source = wish.source;
    report.peak = 1.2e11 * wish.speed;
    report.memory_limit = report.machine.memory_available;
    for (std::int64_t N : wish.lengths)
        for (std::size_t rung = 0; rung < wish.kernels.size(); ++rung)
            report.points.push_back(point_with(wish, rung, N));
    for (Point& point : report.points) point.peak = report.peak;
    report.complete = true;
    return report;
}

}  // namespace tilewalk::test
