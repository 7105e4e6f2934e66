// f0-cublas: standard attention as a library computes it: a product, a softmax, a product.
//
// What changed since f0-materialise: the two products are the vendor's, as fast as the device can multiply,
// and S and P have the type of the inputs. This is what flash attention has to beat. What should limit it: S
// and P still go to HBM and come back: 4 · N_q · N_kv elements read or written for each head, if the softmax
// finds in the caches what it reads a second time. Where it should fall short: a mask saves it nothing, the
// library multiplies what the softmax then throws away.
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/standard_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

template <class T> void run_with(const Arguments& a, DType type, Stream& stream) {
    T* const S = static_cast<T*>(a.workspace);
    T* const P = S + a.q_rows() * width_of(a);
    scores_of(a, type, S, stream);
    launch(stream, rows_of_scores(a), softmax_rows<T>, a, S, P, width_of(a));
    weighted_rows(a, type, P, a.V, a.O, stream);
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    return first_of({refuse_old_bf16(type, chip), refuse_many_heads(a)});
}

std::int64_t workspace(const Arguments& a, DType type) {
    return 2 * a.q_rows() * width_of(a) * (type == DType::f32 ? 4 : 2);
}

void run(const Arguments& a, DType type, Stream& stream) {
    if (type == DType::f32) run_with<float>(a, type, stream);
    with_half(type, [&](auto of) { run_with<typename decltype(of)::Type>(a, type, stream); });
}

}  // namespace

const Rung& f0_cublas() {
    static const Rung rung{
        "f0-cublas",
        "Standard attention with the vendor's products",
        "what flash attention is measured against: fast products, N × N matrices between them",
        "cuda/kernels/f0_cublas.cu",
        Direction::forward,
        true,
        false,
        refuse,
        workspace,
        no_tile,
        run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND
