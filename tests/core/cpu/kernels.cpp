#include "tests/core/cpu/kernels.h"

#include "tests/core/cpu/dense.h"

#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <thread>

namespace tilewalk::test {

namespace {

using namespace tilewalk::cpu;

struct Run {
    Tensors t;
    std::int64_t bytes = 0, held_afterwards = 0;
};

Views views_of(Tensors& t, const Tensors& in, const Workload& w) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto rows = static_cast<std::size_t>(w.q_rows());
    t.O.assign(in.Q.size(), nan), t.L.assign(rows, nan);
    if (w.direction == Direction::backward) {
        t.dQ.assign(in.Q.size(), nan), t.dK.assign(in.K.size(), nan), t.dV.assign(in.K.size(), nan);
    }
    return {in.Q.data(), in.K.data(), in.V.data(), in.dO.data(), t.O.data(),
            t.L.data(),  t.dQ.data(), t.dK.data(), t.dV.data()};
}

// Twice over the same memory: what the first run left there must not matter.
Run run(const Rung& rung, const Workload& w, const Tensors& in, int threads) {
    ThreadPool pool(threads);
    CountedMemory memory;
    Run r;
    {
        const auto kernel = rung.make(w, pool, memory);
        for (int repeat = 0; repeat < 2; ++repeat) {
            const Views views = views_of(r.t, in, w);
            kernel->forward(views, {});
            if (w.direction == Direction::backward) kernel->backward(views, {});
        }
        r.bytes = memory.peak();
    }
    r.held_afterwards = memory.held();
    return r;
}

void check_tensor(const char* name, const std::vector<float>& got, const std::vector<float>& standard,
                  const std::vector<double>& truth, double factor) {
    CAPTURE(name);
    CHECK(errors_of(got, standard, truth).outside_rule(factor) == "");
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
bool same_bits(const Tensors& a, const Tensors& b) {
    return same_bits(a.O, b.O) && same_bits(a.L, b.L) && same_bits(a.dQ, b.dQ) && same_bits(a.dK, b.dK) &&
           same_bits(a.dV, b.dV);
}

}  // namespace

Workload random_workload(std::mt19937& random, Direction direction) {
    const auto up_to = [&](unsigned most) { return static_cast<std::int64_t>(1 + random() % most); };
    Workload w;
    w.direction = direction;
    w.batch = up_to(2), w.kv_heads = up_to(3), w.heads = w.kv_heads * up_to(3);
    const bool longer = random() % 6 == 0;
    w.N_q = up_to(longer ? 350 : 60), w.N_kv = up_to(longer ? 350 : 60);
    w.d = 3 + up_to(40);
    w.causal = random() % 2 == 0;
    if (random() % 3 == 0) w.window = up_to(40) - 1;
    return w;
}

void check_kernel(const Rung& rung, const Workload& w, std::uint64_t seed, int threads, float spread) {
    CAPTURE(w.batch);
    CAPTURE(w.heads);
    CAPTURE(w.kv_heads);
    CAPTURE(w.N_q);
    CAPTURE(w.N_kv);
    CAPTURE(w.d);
    CAPTURE(w.causal);
    CAPTURE(w.window.value_or(-1));
    CAPTURE(seed);
    CAPTURE(threads);
    const Tensors in = make_inputs(w, seed, spread);
    const auto truth = dense_attention<double>(w, in);
    const auto standard = dense_attention<float>(w, in);
    const Run r = run(rung, w, in, threads);
    check_tensor("O", r.t.O, standard.O, truth.O, 2);
    check_tensor("L", r.t.L, standard.L, truth.L, 2);
    CHECK(r.bytes == rung.workspace(w, threads));
    CHECK(r.held_afterwards == 0);
    if (w.direction == Direction::forward) return;
    check_tensor("dQ", r.t.dQ, standard.dQ, truth.dQ, 3);
    check_tensor("dK", r.t.dK, standard.dK, truth.dK, 3);
    check_tensor("dV", r.t.dV, standard.dV, truth.dV, 3);
}

void check_repetition(const Rung& rung, const Workload& w) {
    const Tensors in = make_inputs(w, 5);
    const Run first = run(rung, w, in, 1);
    for (int threads = 1; threads <= 8; ++threads) {
        CAPTURE(threads);
        for (int repeat = 0; repeat < 3; ++repeat) CHECK(same_bits(run(rung, w, in, threads).t, first.t));
    }
}

void check_stopping(const Rung& rung) {
    Workload w{.direction = Direction::backward, .heads = 4, .kv_heads = 2, .N_q = 700, .N_kv = 700, .d = 32};
    const Tensors in = make_inputs(w, 6);
    ThreadPool pool(3);
    CountedMemory memory;
    const auto kernel = rung.make(w, pool, memory);
    Tensors out;
    const Views views = views_of(out, in, w);
    std::stop_source before;
    before.request_stop();
    kernel->forward(views, before.get_token());
    for (float x : out.L) CHECK(std::isnan(x));  // it has not begun

    kernel->forward(views, {});
    for (int after = 0; after < 5; ++after) {
        std::stop_source amid;
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(300 * after));
            amid.request_stop();
        });
        kernel->backward(views, amid.get_token());
        other.join();
    }
    kernel->backward(views, {});
    CHECK(same_bits(out, run(rung, w, in, 3).t));
}

}  // namespace tilewalk::test
