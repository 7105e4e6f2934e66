// Every name of cuda/device/device.h once, on data that the caller gives: what a GPU does here, and what the
// emulator's model of it does, must be the same. No rung of the ladder; a test runs it on both.
//
// One warp. Q holds 1024 elements of 16 bits, K 128 floats; the workspace takes intrinsics_results words: for
// each check four words of each lane, and is given as zeros.
#include "cuda/kernels/intrinsics.h"

#include "cuda/kernels/ladder.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

DEVICE std::uint32_t bits_of_float(float x) {
    union {
        float number;
        std::uint32_t bits;
    } word;
    word.number = x;
    return word.bits;
}

/// Where this lane puts what a check gave.
struct Results {
    std::uint32_t* words;
    DEVICE std::uint32_t* of(int check) const { return words + (check * 32 + lane()) * 4; }
    DEVICE void put(int check, const std::uint32_t (&r)[4]) const {
        for (int n = 0; n < 4; ++n) of(check)[n] = r[n];
    }
    DEVICE void put(int check, float a, float b, float c, float d) const {
        const std::uint32_t r[4] = {bits_of_float(a), bits_of_float(b), bits_of_float(c), bits_of_float(d)};
        put(check, r);
    }
};

/// The 16 × 32 elements of Q in shared memory, rows of 64 bytes.
template <class T> DEVICE void check_fragments(const Results& results, const T* Q, const float* K) {
    unsigned char* const shared = shared_memory<unsigned char>();
    for (int n = lane(); n < 64; n += 32) copy_async(shared + 16 * n, Q + 8 * n, true);
    commit_copies();
    wait_copies<0>();
    sync_block();

    std::uint32_t a[4], b[4];
    const void* const row = shared + lane() % 16 * 64 + lane() / 16 * 16;
    load_matrices(a, row);
    results.put(check_load_matrices, a);
    load_transposed(b, static_cast<const unsigned char*>(row) + 32);
    results.put(check_load_transposed, b);

    float c[4] = {K[lane()], K[lane() + 32], K[lane() + 64], K[lane() + 96]};
    multiply_add<T>(c, a, b[0], b[2]);
    results.put(check_multiply_add, c[0], c[1], c[2], c[3]);
}

/// Copies that reach beyond the matrix are zeros; a group that was not waited for may be under way.
template <class T> DEVICE void check_copies(const Results& results, const T* Q) {
    unsigned char* const shared = shared_memory<unsigned char>();
    sync_block();
    copy_async(shared + 16 * lane(), Q + 8 * lane(), lane() % 3 != 0);
    commit_copies();
    copy_async(shared + 512 + 16 * lane(), Q + 8 * (31 - lane()), true);
    commit_copies();
    wait_copies<1>();
    sync_block();
    std::uint32_t r[4];
    const int other = (lane() + 5) % 32;
    for (int n = 0; n < 4; ++n) r[n] = reinterpret_cast<const std::uint32_t*>(shared + 16 * other)[n];
    results.put(check_first_copies, r);
    wait_copies<0>();
    sync_block();
    for (int n = 0; n < 4; ++n) r[n] = reinterpret_cast<const std::uint32_t*>(shared + 512 + 16 * other)[n];
    results.put(check_second_copies, r);
}

template <class T> KERNEL void THREADS(32) every_intrinsic(const Arguments a) {
    const Results results{static_cast<std::uint32_t*>(a.workspace)};
    const T* const Q = static_cast<const T*>(a.Q.data);
    const float* const K = static_cast<const float*>(a.K.data);
    check_fragments(results, Q, K);
    check_copies(results, Q);

    const float x = K[lane()], y = K[lane() + 32];
    results.put(check_shuffles, shuffle_xor(x, 1), shuffle_xor(x, 2), shuffle_xor(x, 16),
                shuffle(x, lane() * 7 % 32));
    results.put(check_warp, sum_of_warp(x), max_of_warp(x), sum_of_warp(y), max_of_warp(y));
    results.put(check_exp2, exp2_of(x), exp2_of(10 * x), exp2_of(-INFINITY), exp2_of(-200 + x));
    results.put(check_exp_log, exp_of(x), exp_of(-INFINITY), log_of(x * x + 1), log_of(0));
    const std::uint32_t packed[4] = {pack<T>(x, y), pack<T>(1e6f * x, 1e-7f * y), pack<T>(INFINITY, -x),
                                     pack<T>(0, 3e-8f * x)};
    results.put(check_pack, packed);
    results.put(check_rounding, to_float(from_float<T>(x)), to_float(from_float<T>(x + y)),
                to_float(from_float<T>(100 * x)), to_float(Q[lane()]));
    const Float4 four = load4(K + 4 * lane());
    results.put(check_load4, four.w, four.x, four.y, four.z);
    // Whole numbers: their sum does not depend on the order
    atomic_add(reinterpret_cast<float*>(results.of(check_atomic_add) - 4 * lane()),
               static_cast<float>(lane()));
    sync_warp();
}

std::string refuse(const Arguments&, DType type, const Chip& chip) {
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip)});
}

std::int64_t workspace(const Arguments&, DType) { return 4 * intrinsics_results; }
Tile tile(const Arguments&, DType, const Chip&) { return {}; }

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        launch(stream, Grid{1, 1, 1, 32, 1024}, every_intrinsic<typename decltype(of)::Type>, a);
    });
}

}  // namespace

const Rung& intrinsics() {
    static const Rung rung{"intrinsics",
                           "Every instruction once",
                           "for a test of the emulator against a GPU",
                           "cuda/kernels/intrinsics.cu",
                           Direction::forward,
                           false,
                           false,
                           refuse,
                           workspace,
                           tile,
                           run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND
