// b2-tensor-core: the backward pass with tensor cores (FlashAttention-2, algorithm 2).
//
// What changed since b1: the five products of a tile (S, dV, dP, dK, dQ) go through mma.sync with float sums;
// a block of keys stays while blocks of queries pass by, the next ones copied in the background where two
// buffers fit: 128 keys and 128 queries at d = 64, 64 queries at d = 128 (with_key_blocks in key_blocks.h).
// dQ is summed in the order in which it lies in registers, a line of memory for each instruction of a warp
// (SumOrder). What should limit it: Pᵀ and dSᵀ on their way through shared memory, and dQ: every key block
// adds to every row of it, so that its sums go to HBM with atomic additions, N / Bc times. Where it should
// fall short: the additions come in any order, and no two runs give the same last bit of dQ: b3.
#include "cuda/kernels/key_blocks.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<64, 128>(a.d, [&](auto d) {
        shared = with_key_blocks<d>(chip, [](auto size) { return decltype(size)::shared_bytes; });
    });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_d<64, 128>(a.d),
                     refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

std::int64_t workspace(const Arguments& a, DType) { return BackwardSums::bytes(a, true); }

Tile tile(const Arguments& a, DType, const Chip& chip) {
    Tile t;
    with_d<64, 128>(a.d, [&](auto d) {
        t = with_key_blocks<d>(chip, [](auto size) { return Tile{size.Br, size.Bc}; });
    });
    return t;
}

template <class T, class Size> void run_in(const Arguments& a, Stream& stream) {
    launch(stream, rows_grid(a), row_dots<T, true>, a);
    const Grid grid{blocks_of(a.N_kv, Size::Bc), a.kv_heads, a.batch, 32 * Size::warps, Size::shared_bytes};
    launch(stream, grid, key_block_gradients<T, Size, true>, a);
    launch(stream, rows_grid(a), finish_dQ<T, SumOrder::fragments>, a);
}

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<64, 128>(a.d, [&](auto d) {
            with_key_blocks<d>(stream.chip, [&](auto size) { run_in<T, decltype(size)>(a, stream); });
        });
    });
}

}  // namespace

const Rung& b2_tensor_core() {
    static const Rung rung{"b2-tensor-core",
                           "Backward with tensor cores",
                           "Five products for each tile by mma.sync; dQ summed in HBM with atomic additions",
                           "cuda/kernels/b2_tensor_core.cu",
                           Direction::backward,
                           false,
                           false,
                           refuse,
                           workspace,
                           tile,
                           run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND
