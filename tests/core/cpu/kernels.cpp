#include "tests/core/cpu/kernels.h"

#include "core/base/float16.h"
#include "core/bench/verify.h"
#include "core/cpu/lanes.h"

#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <thread>

namespace tilewalk::test {

namespace {

using namespace tilewalk::cpu;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Each tensor of 16 bits with its values
std::vector<std::pair<std::vector<std::uint16_t>*, std::vector<float>*>> inputs_of(Setup& s) {
    return {{&s.halves.Q, &s.t.Q}, {&s.halves.K, &s.t.K}, {&s.halves.V, &s.t.V}, {&s.halves.dO, &s.t.dO}};
}
std::vector<std::pair<std::vector<std::uint16_t>*, std::vector<float>*>> outputs_of(Setup& s) {
    return {{&s.halves.O, &s.t.O}, {&s.halves.dQ, &s.t.dQ}, {&s.halves.dK, &s.t.dK}, {&s.halves.dV, &s.t.dV}};
}

// By core/base/float16.h, not by what the kernels convert with
std::uint16_t half_of(float x, DType type) {
    using namespace gpu::emulator;
    return type == DType::f16 ? from_float<f16>(x).bits : from_float<bf16>(x).bits;
}
float value_of(std::uint16_t bits, DType type) {
    using namespace gpu::emulator;
    return type == DType::f16 ? to_float(f16{bits}) : to_float(bf16{bits});
}

// Twice over the same memory: what the first run left there must not matter.
void run_twice(Setup& s) {
    s.run();
    s.forget();
    s.run();
}

}  // namespace

Setup::Setup(const Rung& rung, const Workload& like, const Tensors& inputs, int threads)
    : w(like), t(inputs), pool(threads), kernel(rung.make(w, pool, memory)) {
    if (w.dtype != DType::f32)
        for (const auto& [half, values] : inputs_of(*this))
            for (const float x : *values) half->push_back(half_of(x, w.dtype));
    forget();
}

void Setup::forget() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    t.O.assign(t.Q.size(), nan), t.L.assign(static_cast<std::size_t>(w.q_rows()), nan);
    if (w.direction == Direction::backward)
        t.dQ.assign(t.Q.size(), nan), t.dK.assign(t.K.size(), nan), t.dV.assign(t.V.size(), nan);
    if (w.dtype != DType::f32)
        for (const auto& [half, values] : outputs_of(*this)) half->assign(values->size(), 0x7FFF);
}

Views Setup::views() {
    if (w.dtype != DType::f32)
        return {{halves.Q.data(), w.dtype},  {halves.K.data(), w.dtype},  {halves.V.data(), w.dtype},
                {halves.dO.data(), w.dtype}, {halves.O.data(), w.dtype},  t.L.data(),
                {halves.dQ.data(), w.dtype}, {halves.dK.data(), w.dtype}, {halves.dV.data(), w.dtype}};
    return {t.Q.data(), t.K.data(),  t.V.data(),  t.dO.data(), t.O.data(),
            t.L.data(), t.dQ.data(), t.dK.data(), t.dV.data()};
}

void Setup::run(std::stop_token stop) {
    kernel->forward(views(), stop);
    if (w.direction == Direction::backward) kernel->backward(views(), stop);
    if (w.dtype != DType::f32)
        for (const auto& [half, values] : outputs_of(*this))
            for (std::size_t k = 0; k < half->size(); ++k) (*values)[k] = value_of((*half)[k], w.dtype);
}

bool same_outputs(const Tensors& a, const Tensors& b) {
    return same_bits(a.O, b.O) && same_bits(a.L, b.L) && same_bits(a.dQ, b.dQ) && same_bits(a.dK, b.dK) &&
           same_bits(a.dV, b.dV);
}

AllErrors errors_of(const Setup& s, const DenseTensors<float>& standard, const DenseTensors<double>& truth) {
    AllErrors errors = {errors_of(s.t.O, standard.O, truth.O), errors_of(s.t.L, standard.L, truth.L)};
    if (s.w.direction == Direction::backward)
        errors.insert(errors.end(),
                      {errors_of(s.t.dQ, standard.dQ, truth.dQ), errors_of(s.t.dK, standard.dK, truth.dK),
                       errors_of(s.t.dV, standard.dV, truth.dV)});
    return errors;
}

void check(const AllErrors& errors) {
    static const char* const names[] = {"O", "L", "dQ", "dK", "dV"};
    for (std::size_t k = 0; k < errors.size(); ++k) {
        INFO(names[k]);
        CHECK(errors[k].outside_rule(k < 2 ? 2 : 3) == "");
    }
}

void on_every_instruction_set(const std::function<void()>& check) {
    for (const std::string& name : instruction_sets()) {
        INFO(name);
        use_instruction_set(name);
        REQUIRE(instruction_set() == name);
        check();
        use_instruction_set("");
    }
}

std::stop_token stopped() {
    std::stop_source stop;
    stop.request_stop();
    return stop.get_token();
}

std::string named(const Workload& w) {
    return describe(w) + ", N " + std::to_string(w.N_q) + " × " + std::to_string(w.N_kv);
}

Workload random_workload(std::mt19937& random, Direction direction) {
    const auto up_to = [&](unsigned most) { return static_cast<std::int64_t>(1 + random() % most); };
    Workload w;
    w.direction = direction;
    w.batch = up_to(2), w.kv_heads = up_to(3), w.heads = w.kv_heads * up_to(3);
    const bool longer = random() % 6 == 0;
    w.N_q = up_to(longer ? 350 : 60), w.N_kv = up_to(longer ? 350 : 60);
    w.d = 3 + up_to(random() % 4 == 0 ? 140 : 40);
    w.causal = random() % 2 == 0;
    if (random() % 3 == 0) w.window = up_to(40) - 1;
    return w;
}

void check_kernel(const Rung& rung, const Workload& w, std::uint64_t seed, int threads, float spread) {
    INFO(named(w));
    CAPTURE(seed);
    CAPTURE(threads);
    const Tensors in = make_inputs(w, seed, spread);
    Setup s(rung, w, in, threads);
    run_twice(s);
    if (w.dtype == DType::f32) {
        check(errors_of(s, dense_attention<float>(w, in), dense_attention<double>(w, in)));
    } else {
        const KernelVerdict verdict = verify_outputs(s.t, w, in, rung.info);
        CHECK_MESSAGE(verdict.passed, verdict.sentence);
    }
    CHECK(s.memory.peak() == rung.workspace(w, threads));
    s.kernel.reset();
    CHECK(s.memory.held() == 0);
}

void check_repetition(const Rung& rung, const Workload& w) {
    INFO(named(w));
    const Tensors in = make_inputs(w, 5);
    Setup first(rung, w, in, 1);
    first.run();
    for (int threads = 1; threads <= 8; ++threads) {
        CAPTURE(threads);
        Setup many(rung, w, in, threads);
        for (int repeat = 0; repeat < 3; ++repeat) {
            many.forget();
            many.run();
            CHECK(same_outputs(many.t, first.t));
        }
    }
}

void check_stopping(const Rung& rung) {
    const Workload w{
        .direction = Direction::backward, .heads = 4, .kv_heads = 2, .N_q = 700, .N_kv = 700, .d = 32};
    const Tensors in = make_inputs(w, 6);
    Setup undisturbed(rung, w, in, 3), s(rung, w, in, 3);
    undisturbed.run();
    s.kernel->forward(s.views(), stopped());
    for (float x : s.t.L) CHECK(std::isnan(x));  // it has not begun

    for (int wait = 0; wait < 20; ++wait) {
        std::stop_source amid;
        const std::jthread other([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(300 * wait));
            amid.request_stop();
        });
        s.run(amid.get_token());
    }
    s.run();
    CHECK(same_outputs(s.t, undisturbed.t));
}

}  // namespace tilewalk::test
