#include "core/class/glossary.h"

namespace tilewalk {

namespace {

constexpr const char* roofline_paper =
    "Williams, Waterman and Patterson 2009, Communications of the ACM 52 (4)";
constexpr const char* cuda_guide = "NVIDIA, CUDA C++ Programming Guide";

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<GlossaryCard> memory_cards() {
    return {
        {.id = "hbm",
         .term = "HBM",
         .text = "High-bandwidth memory: the GPU's large memory, beside the chip. Everything that outlives a "
                 "kernel lies there; reaching it is what attention mostly waits for.",
         .from = {source::flash1, "§2.1, GPU Memory Hierarchy"},
         .words = "global memory dram load store",
         .related = {"sram", "hbm-traffic", "bandwidth"}},
        {.id = "sram",
         .term = "SRAM",
         .letter = letter("M"),
         .text = "The small fast memory on the chip, one for each multiprocessor: shared memory and "
                 "registers. M is how much of it a tile may use.",
         .from = {source::flash1, "§2.1, GPU Memory Hierarchy"},
         .words = "shared memory on-chip registers",
         .related = {"hbm", "block-columns", "multiprocessor"}},
        {.id = "hbm-traffic",
         .term = "HBM traffic",
         .text = "Bytes read from and written to HBM. Standard attention moves Θ(N d + N²) elements, "
                 "FlashAttention Θ(N² d² / M).",
         .from = {source::flash1, "§3.2, Theorem 2"},
         .words = "bytes reads writes IO complexity",
         .related = {"hbm", "loop-order", "arithmetic-intensity"}},
        {.id = "bandwidth",
         .text = "Bytes per second that a memory delivers. Time is at least traffic ÷ bandwidth.",
         .from = {source::flash1, "§2.1 and figure 1"},
         .words = "GB/s TB/s",
         .related = {"hbm-traffic", "roofline"}},
        {.id = "flops",
         .term = "FLOPs",
         .text = "Floating-point operations. The two products of the forward pass take 4 N² d of them, the "
                 "five of the backward pass 10 N² d; FLOP/s is the rate.",
         .from = {source::flash2, "§4.1 (how they are counted)"},
         .words = "flop/s GFLOP TFLOP operations",
         .related = {"arithmetic-intensity", "roofline", "peak"}},
        {.id = "arithmetic-intensity",
         .text = "FLOPs per byte of traffic. Where it is low the memory sets the pace, where it is high the "
                 "arithmetic does.",
         .from = {source::flash1, "§2.1, Performance Characteristics"},
         .words = "operational intensity FLOP/B memory-bound compute-bound",
         .related = {"roofline", "hbm-traffic", "flops"}},
        {.id = "roofline",
         .text = "The highest rate that a machine allows at an arithmetic intensity: the smaller of peak and "
                 "intensity × bandwidth. They meet where both are busy (the ridge).",
         .from = {roofline_paper, "section The Roofline Model and figure 1"},
         .words = "ridge bound",
         .related = {"arithmetic-intensity", "peak", "bandwidth"}},
        {.id = "peak",
         .text = "The largest rate in FLOP/s that the arithmetic units reach when nothing makes them wait.",
         .from = {roofline_paper, "section The Roofline Model"},
         .words = "percent of peak FMA",
         .related = {"roofline", "flops", "tensor-core"}},
        {.id = "kernel-fusion",
         .term = "kernel",
         .text =
             "One program run on the whole GPU. Standard attention is three or more of them, with S and P "
             "in HBM between; the forward pass of FlashAttention is a single one.",
         .from = {source::flash1, "§2.1, Kernel fusion"},
         .words = "fusion launch round trip",
         .related = {"hbm-traffic", "thread-block"}},
        {.id = "multiprocessor",
         .text = "SM: the part of a GPU that holds thread blocks, with its own shared memory and registers. "
                 "A GPU has dozens of them.",
         .from = {cuda_guide, "chapter Hardware Implementation"},
         .words = "SM streaming multiprocessor SMs",
         .related = {"thread-block", "sram", "warp"}},
        {.id = "thread-block",
         .text = "Threads that run on the same multiprocessor and share its SRAM; several warps. In "
                 "FlashAttention-2 each takes one query block of one head.",
         .from = {source::flash2, "§3.2, Parallelism"},
         .words = "block CTA grid occupancy",
         .related = {"warp", "multiprocessor", "query-blocks"}},
        {.id = "warp",
         .text =
             "32 threads that execute together. FlashAttention-2 gives each its own query rows (split-Q), "
             "so that warps need not exchange partial results (split-K).",
         .from = {source::flash2, "§3.3, Work Partitioning Between Warps"},
         .words = "split lanes split-K split-Q",
         .related = {"thread-block", "tensor-core", "barrier"}},
        {.id = "barrier",
         .text = "Where threads wait for each other: none goes on before all have come. What was written "
                 "to shared memory before it is seen by all behind it; without it two accesses race.",
         .from = {cuda_guide, "section Synchronization Functions, __syncthreads()"},
         .words = "syncthreads bar.sync mbarrier race synchronisation wait",
         .related = {"warp", "thread-block", "copy-in-background"}},
        {.id = "copy-in-background",
         .text = "A copy from HBM to shared memory that passes no register: the warp issues it and goes "
                 "on. It may write at any time from then until it was waited for.",
         .from = {"NVIDIA, PTX ISA", "section Data Movement: Asynchronous copy, cp.async"},
         .words = "cp.async asynchronous TMA issued arrived prefetch in flight",
         .related = {"copy-group", "barrier", "hbm", "sram"}},
        {.id = "copy-group",
         .term = "group of copies",
         .text = "The copies that a lane has issued since it committed last: they are waited for as one, "
                 "oldest group first. So the next tile can be on its way while this one is used.",
         .from = {"NVIDIA, PTX ISA", "cp.async.commit_group and cp.async.wait_group"},
         .words = "cp.async commit wait committed double buffer",
         .related = {"copy-in-background", "barrier"}},
        {.id = "tensor-core",
         .text = "The unit that multiplies small matrices in one instruction, many times faster than single "
                 "multiplications. Its operands have few bits, its sums are fp32.",
         .from = {source::flash2, "§2.1 and §3.1 (why other FLOPs cost more)"},
         .words = "mma wgmma matmul",
         .related = {"fp16", "bf16", "warp", "peak"}},
    };
}

std::vector<GlossaryCard> format_cards() {
    const char* const ieee = "IEEE 754-2019";
    return {
        {.id = "fp64",
         .text = "64 bits, 53 of them significant: about 16 decimal digits. The walk is computed in it.",
         .from = {ieee, "§3.6, table 3.5, binary64"},
         .words = "double",
         .related = {"fp32", "ulp"}},
        {.id = "fp32",
         .text = "32 bits, 24 of them significant: about 7 decimal digits. Sums and statistics of the GPU "
                 "kernels are kept in it.",
         .from = {ieee, "§3.6, table 3.5, binary32"},
         .words = "float single",
         .related = {"fp64", "tf32", "ulp"}},
        {.id = "tf32",
         .text = "The range of fp32 with 11 significant bits: what a tensor core makes of fp32 operands.",
         .from = {"NVIDIA 2020, A100 Tensor Core GPU Architecture",
                  "section on third-generation Tensor Cores"},
         .words = "TensorFloat",
         .related = {"fp32", "tensor-core"}},
        {.id = "fp16",
         .text = "16 bits, 11 of them significant, and nothing above 65 504: exact enough for scores, easily "
                 "too small for what grows.",
         .from = {ieee, "§3.6, table 3.5, binary16"},
         .words = "half",
         .related = {"bf16", "tensor-core", "ulp"}},
        {.id = "bf16",
         .text = "16 bits with the range of fp32, but only 8 significant bits: hardly ever overflows, rounds "
                 "more coarsely than fp16.",
         .from = {"Kalamkar et al. 2019, arXiv:1905.12322", "§1 and table 1"},
         .words = "bfloat16",
         .related = {"fp16", "fp32", "ulp"}},
        {.id = "e4m3",
         .text = "An 8-bit format: 4 bits of exponent, 3 of fraction, up to 448. It has no ∞, so it cannot "
                 "hold masked scores.",
         .from = {"Micikevicius et al. 2022, arXiv:2209.05433", "§3, table 1"},
         .words = "fp8",
         .related = {"fp16", "bf16"}},
        {.id = "ulp",
         .term = "ULP",
         .text = "Unit in the last place: the distance to the next number of the format. A correct rounding "
                 "is off by at most half of it.",
         .from = {"Goldberg 1991, ACM Computing Surveys 23 (1)", "section Relative Error and Ulps"},
         .words = "rounding error unit last place",
         .related = {"rounding-error", "fp16", "bf16", "fp32"}},
        {.id = "rounding-error",
         .term = "error against fp64",
         .text =
             "How far a kernel is from the same attention in fp64. It passes if its error is at most twice "
             "that of standard attention in the kernel's own format (of gradients three times) plus two "
             "roundings of the largest element.",
         .from = {source::flash1,
                  "the rule is that of the paper's code, tests/test_flash_attn.py; the paper has none"},
         .words = "limit tolerance verify max error difference",
         .related = {"ulp", "fp64"}},
    };
}

}  // namespace tilewalk
