// The kernels as other programs call them: cuda/torch, with memory and a stream of the caller's.
#include "core/bench/verify.h"
#include "cuda/torch/tilewalk_kernels.h"
#include "tests/contains.h"
#include "tests/cuda/stubs/gpu.h"
#include "tests/cuda/stubs/workflow.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cmath>
#include <map>

using namespace tilewalk;
using test::contains;

namespace {

constexpr std::int32_t f32 = 0, f16 = 1, bf16 = 2;

int number_of(const std::string& name) {
    for (std::int32_t n = 0; n < tilewalk_kernel_count(); ++n)
        if (tilewalk_kernel_name(n) == name) return n;
    return -1;
}

/// Tensors of f32 on the device, as a caller has them.
struct Call {
    explicit Call(const Workload& workload) : w(workload), in(make_inputs(w, 5)) {
        a.batch = static_cast<std::int32_t>(w.batch), a.d = static_cast<std::int32_t>(w.d);
        a.heads = static_cast<std::int32_t>(w.heads), a.kv_heads = static_cast<std::int32_t>(w.kv_heads);
        a.N_q = static_cast<std::int32_t>(w.N_q), a.N_kv = static_cast<std::int32_t>(w.N_kv);
        a.scale = 1 / std::sqrt(static_cast<float>(w.d));
        a.before = 1 << 30, a.after = w.causal ? 0 : 1 << 30;
        a.Q = put(in.Q, w.heads, w.N_q), a.K = put(in.K, w.kv_heads, w.N_kv);
        a.V = put(in.V, w.kv_heads, w.N_kv), a.dO = put(in.dO, w.heads, w.N_q);
        a.O = put(in.Q, w.heads, w.N_q), a.dQ = put(in.Q, w.heads, w.N_q);
        a.dK = put(in.K, w.kv_heads, w.N_kv), a.dV = put(in.K, w.kv_heads, w.N_kv);
        a.L = static_cast<float*>(take(4 * w.q_rows()));
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() {
        for (void* memory : pieces) cudaFree(memory);
    }
    void* take(std::int64_t bytes) {
        void* memory = nullptr;
        CHECK(cudaMalloc(&memory, static_cast<std::size_t>(bytes)) == cudaSuccess);
        return pieces.emplace_back(memory);
    }
    tilewalk_tensor put(const std::vector<float>& x, std::int64_t heads, std::int64_t N) {
        void* const to = take(static_cast<std::int64_t>(4 * std::max<std::size_t>(x.size(), 1)));
        cudaMemcpyAsync(to, x.data(), 4 * x.size(), cudaMemcpyHostToDevice, nullptr);
        return {to, heads * N * w.d, N * w.d, w.d};
    }
    std::vector<float> get(const void* from, std::int64_t size) const {
        std::vector<float> x(static_cast<std::size_t>(size));
        cudaMemcpyAsync(x.data(), from, 4 * x.size(), cudaMemcpyDeviceToHost, nullptr);
        return x;
    }
    /// Empty, or the reason.
    std::string launch(const std::string& name, std::int32_t type = f32) {
        const std::int32_t kernel = number_of(name);
        a.workspace = take(std::max<std::int64_t>(tilewalk_workspace_bytes(kernel, &a, type), 16));
        char reason[200] = "";
        if (tilewalk_prepare(kernel, &a, type, nullptr, reason, sizeof reason)) return reason;
        if (tilewalk_launch(kernel, &a, type, nullptr, reason, sizeof reason)) return reason;
        return "";
    }
    Tensors outputs() const {
        const std::int64_t q = w.q_rows() * w.d, kv = w.kv_rows() * w.d;
        Tensors out;
        out.O = get(a.O.data, q), out.L = get(a.L, w.q_rows());
        out.dQ = get(a.dQ.data, q), out.dK = get(a.dK.data, kv), out.dV = get(a.dV.data, kv);
        return out;
    }

    Workload w;
    Tensors in;
    tilewalk_arguments a{};
    std::vector<void*> pieces;
};

}  // namespace

TEST_SUITE("stubs/c abi") {
    TEST_CASE("every kernel of f32 gives what it should, forward and backward") {
        stubs::behave("");
        for (std::int32_t n = 0; n < tilewalk_kernel_count(); ++n) {
            const std::string name = tilewalk_kernel_name(n);
            const bool backward = tilewalk_kernel_is_backward(n) != 0;
            CAPTURE(name);
            Call call(test::small(backward ? "b" : "f", DType::f32));
            char reason[200] = "";
            if (tilewalk_refuse(n, &call.a, f32, reason, sizeof reason)) {
                CHECK(contains(reason, "f32"));
                continue;
            }
            if (backward) CHECK(call.launch("f3-warp-rows") == "");
            CHECK(call.launch(name) == "");
            KernelInfo kernel;
            kernel.materialises = contains(name, "materialise") || contains(name, "cublas");
            kernel.P_from_L = backward && !kernel.materialises;
            const KernelVerdict verdict = verify_outputs(call.outputs(), call.w, call.in, kernel);
            CHECK_MESSAGE(verdict.passed, verdict.sentence);
        }
        CHECK(stubs::live().pieces == 0);
    }

    TEST_CASE("what goes wrong is a reason, cut to the room that there is, and the next call runs") {
        stubs::behave("");
        Call call(test::small("f", DType::f32));
        CHECK(call.launch("f5-flash2") == "f32 (tensor cores multiply f16 and bf16 here)");
        stubs::behave("cudaLaunchKernel@1=cudaErrorUnknown");
        CHECK(call.launch("f3-warp-rows") == "unknown error");
        CHECK(call.launch("f3-warp-rows") == "");
        char little[8] = "";
        CHECK(tilewalk_refuse(number_of("f5-flash2"), &call.a, f32, little, sizeof little) == 1);
        CHECK(std::string(little) == "f32 (te");
        stubs::behave("capability=75");
        char reason[200] = "";
        CHECK(tilewalk_launch(number_of("f4-tensor-core"), &call.a, bf16, nullptr, reason, sizeof reason) ==
              1);
        CHECK(std::string(reason) == "bf16 below compute capability 8.0 (f16 works)");
        CHECK(tilewalk_refuse(number_of("f4-tensor-core"), &call.a, f16, reason, sizeof reason) == 0);
        stubs::behave("");
    }
}
