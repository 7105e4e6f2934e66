// The emulator's models of the GPU's instructions: against their definitions here, and, where there is a GPU,
// against the instructions themselves.
#include "core/base/float16.h"
#include "cuda/host/emulator.h"
#include "cuda/host/open_cuda.h"
#include "cuda/kernels/intrinsics.h"
#include "tests/skip.h"

#include <Eigen/Core>
#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace tilewalk;
using gpu::emulator::bf16;
using gpu::emulator::f16;
using gpu::emulator::float_of;

namespace {

struct Inputs {
    std::vector<std::uint16_t> Q = std::vector<std::uint16_t>(1024);
    std::vector<float> K = std::vector<float>(128);
};

template <class T> Inputs random_inputs(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    Inputs in;
    for (auto& x : in.Q) x = gpu::emulator::from_float<T>(normal(random)).bits;
    for (auto& x : in.K) x = normal(random);
    return in;
}

using Words = std::vector<std::uint32_t>;

Words run(gpu::Device& device, const gpu::Rung& rung, const Inputs& in, DType type) {
    gpu::Arguments a;
    const auto put = [&](const void* from, std::size_t bytes) {
        void* const to = device.allocate(static_cast<std::int64_t>(bytes));
        device.upload(to, from, static_cast<std::int64_t>(bytes));
        return to;
    };
    Words results(gpu::intrinsics_results);
    a.Q.data = put(in.Q.data(), 2 * in.Q.size());
    a.K.data = put(in.K.data(), 4 * in.K.size());
    a.workspace = put(results.data(), 4 * results.size());
    device.run(rung, a, type);
    device.download(results.data(), a.workspace, 4 * gpu::intrinsics_results);
    for (void* memory : {a.Q.data, a.K.data, a.workspace}) device.release(memory);
    REQUIRE(device.failure() == "");
    return results;
}

std::uint32_t word(const Words& results, int check, int lane, int n) {
    return results[static_cast<std::size_t>((check * 32 + lane) * 4 + n)];
}
float number(const Words& results, int check, int lane, int n) {
    return float_of(word(results, check, lane, n));
}

// The 16 × 16 elements at a column of the 16 × 32 that the fragments come from
template <class T> Eigen::Matrix<float, 16, 16> block(const Inputs& in, int column) {
    Eigen::Matrix<float, 16, 16> A;
    for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 16; ++c)
            A(r, c) = to_float(T{in.Q[static_cast<std::size_t>(r * 32 + column + c)]});
    return A;
}

template <class T> void check_products(const Words& results, const Inputs& in) {
    // B is the transpose of nothing: row k of it is row k of the block at column 16, its first 8 columns
    const Eigen::Matrix<float, 16, 16> A = block<T>(in, 0), B = block<T>(in, 16);
    for (int lane = 0; lane < 32; ++lane)
        for (int n = 0; n < 4; ++n) {
            const int row = lane / 4 + 8 * (n / 2), column = lane % 4 * 2 + n % 2;
            double sum = in.K[static_cast<std::size_t>(lane + 32 * n)];
            // b[0] holds rows 0 … 7 of B's columns 0 … 7, b[2] those of its columns 8 … 15
            for (int k = 0; k < 8; ++k) {
                sum += double(A(row, k)) * B(k, column);
                sum += double(A(row, k + 8)) * B(k, column + 8);
            }
            CHECK(number(results, gpu::check_multiply_add, lane, n) == doctest::Approx(sum).epsilon(1e-4));
        }
}

// What comes to a lane from shared memory: four of its words of each
void check_loads(const Words& results, const Inputs& in, int lane) {
    const auto element = [&](int row, int column) {
        return std::uint32_t(in.Q[static_cast<std::size_t>(row * 32 + column)]);
    };
    const auto pair = [&](int at) {
        return in.Q[static_cast<std::size_t>(at)] | std::uint32_t(in.Q[static_cast<std::size_t>(at + 1)])
                                                        << 16;
    };
    const int g = lane / 4, q = lane % 4;
    for (int n = 0; n < 4; ++n) {
        const int row = 8 * (n % 2), column = 8 * (n / 2);
        CHECK(word(results, gpu::check_load_matrices, lane, n) ==
              (element(row + g, column + 2 * q) | element(row + g, column + 2 * q + 1) << 16));
        CHECK(word(results, gpu::check_load_transposed, lane, n) ==
              (element(row + 2 * q, 16 + column + g) | element(row + 2 * q + 1, 16 + column + g) << 16));
        const int other = (lane + 5) % 32, from = 8 * other + 2 * n, back = 8 * (31 - other) + 2 * n;
        CHECK(word(results, gpu::check_first_copies, lane, n) == (other % 3 != 0 ? pair(from) : 0));
        CHECK(word(results, gpu::check_second_copies, lane, n) == pair(back));
    }
}

template <class T> void check_definitions(const Words& results, const Inputs& in) {
    const auto bits = [](float x) { return std::uint32_t(gpu::emulator::from_float<T>(x).bits); };
    float sum = 0, most = -INFINITY;
    for (int l = 0; l < 32; ++l)
        sum += in.K[static_cast<std::size_t>(l)], most = std::max(most, in.K[static_cast<std::size_t>(l)]);
    for (int lane = 0; lane < 32; ++lane) {
        check_loads(results, in, lane);
        const auto K = [&](int at) { return in.K[static_cast<std::size_t>(at)]; };
        constexpr std::array<int, 3> masks{1, 2, 16};
        for (int n = 0; n < 3; ++n)
            CHECK(number(results, gpu::check_shuffles, lane, n) ==
                  K(lane ^ masks[static_cast<std::size_t>(n)]));
        CHECK(number(results, gpu::check_shuffles, lane, 3) == K(lane * 7 % 32));
        CHECK(number(results, gpu::check_warp, lane, 0) == doctest::Approx(sum).epsilon(1e-5));
        CHECK(number(results, gpu::check_warp, lane, 1) == most);
        CHECK(number(results, gpu::check_exp2, lane, 0) ==
              doctest::Approx(std::exp2(double(K(lane)))).epsilon(1e-6));
        CHECK(number(results, gpu::check_exp2, lane, 2) == 0);
        CHECK(number(results, gpu::check_exp_log, lane, 0) ==
              doctest::Approx(std::exp(double(K(lane)))).epsilon(1e-6));
        CHECK(number(results, gpu::check_exp_log, lane, 1) == 0);
        CHECK(number(results, gpu::check_exp_log, lane, 3) == -INFINITY);
        CHECK(word(results, gpu::check_pack, lane, 0) == (bits(K(lane)) | bits(K(lane + 32)) << 16));
        CHECK(word(results, gpu::check_pack, lane, 1) ==
              (bits(1e6f * K(lane)) | bits(1e-7f * K(lane + 32)) << 16));
        CHECK(number(results, gpu::check_load4, lane, 0) == K(4 * lane + 3));
    }
    CHECK(number(results, gpu::check_atomic_add, 0, 0) == 31 * 32 / 2);
}

template <class T> void check_definitions_on_emulator(DType type) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Inputs in = random_inputs<T>(seed);
        const Words model = run(*gpu::open_emulator(), gpu::emulated_intrinsics(), in, type);
        check_definitions<T>(model, in);
        check_products<T>(model, in);
    }
}

// What a GPU may do otherwise: the order and width of sums, the last bits of exp and log
bool approximate(int check) {
    return check == gpu::check_multiply_add || check == gpu::check_warp || check == gpu::check_exp2 ||
           check == gpu::check_exp_log;
}

/// Bits first: −∞ agrees with −∞, and no difference of the two is a number.
bool agree(std::uint32_t real, std::uint32_t model, int check) {
    if (real == model) return true;
    return approximate(check) && float_of(real) == doctest::Approx(float_of(model)).epsilon(2e-5);
}

void compare(const Words& real, const Words& model) {
    for (int check = 0; check < gpu::check_count; ++check)
        for (int lane = 0; lane < 32; ++lane)
            for (int n = 0; n < 4; ++n) {
                CAPTURE(check);
                CAPTURE(lane);
                CAPTURE(n);
                CHECK(agree(word(real, check, lane, n), word(model, check, lane, n), check));
            }
}

template <class T> void compare_with_gpu(DType type) {
    const auto emulator = gpu::open_emulator();
    std::string why_not;
    const auto cuda = gpu::open_cuda(why_not);
    if (cuda) why_not = gpu::cuda_intrinsics()->refuse({}, type, cuda->chip);
    if (!why_not.empty()) return test::skip(why_not);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Inputs in = random_inputs<T>(seed);
        compare(run(*cuda, *gpu::cuda_intrinsics(), in, type),
                run(*emulator, gpu::emulated_intrinsics(), in, type));
    }
}

}  // namespace

TEST_SUITE("intrinsics") {
    TEST_CASE("the emulator's models are what the definitions say") {
        check_definitions_on_emulator<f16>(DType::f16);
        check_definitions_on_emulator<bf16>(DType::bf16);
    }
    TEST_CASE("what is compared with a GPU agrees with itself, and with nothing else") {
        const Inputs in = random_inputs<f16>(1);
        Words model = run(*gpu::open_emulator(), gpu::emulated_intrinsics(), in, DType::f16);
        compare(model, model);  // log(0) = −∞ among it
        for (const std::uint32_t other : {0u, gpu::emulator::bits_of(NAN), gpu::emulator::bits_of(INFINITY)})
            CHECK_FALSE(agree(other, gpu::emulator::bits_of(-INFINITY), gpu::check_exp_log));
        CHECK_FALSE(agree(gpu::emulator::bits_of(1), gpu::emulator::bits_of(1.0001f), gpu::check_exp2));
        CHECK_FALSE(agree(gpu::emulator::bits_of(1), gpu::emulator::bits_of(1.00001f), gpu::check_pack));
    }
    TEST_CASE("f16: a GPU does what the emulator's models do") { compare_with_gpu<f16>(DType::f16); }
    TEST_CASE("bf16: a GPU does what the emulator's models do") { compare_with_gpu<bf16>(DType::bf16); }
}
