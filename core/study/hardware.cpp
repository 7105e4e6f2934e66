#include "core/study/hardware.h"

namespace tilewalk {

namespace {

constexpr double kib = 1024, mib = 1024 * kib, giga = 1e9, tera = 1e12;

const char* const a100_sheet = "NVIDIA A100 Tensor Core GPU data sheet";
const char* const a100_paper = "NVIDIA A100 Tensor Core GPU Architecture white paper";
const char* const h100_sheet = "NVIDIA H100 Tensor Core GPU data sheet";
const char* const h100_paper = "NVIDIA H100 Tensor Core GPU Architecture white paper";
const char* const h200_sheet = "NVIDIA H200 Tensor Core GPU data sheet";
const char* const ada_paper = "NVIDIA Ada GPU Architecture white paper";
const char* const cuda_guide = "CUDA C++ Programming Guide, technical specifications per compute capability";
const char* const fa1_figure = "FlashAttention (arXiv:2205.14135), Figure 1";
const char* const fa1_text = "FlashAttention (arXiv:2205.14135), section 2.1";
const char* const fa3_table = "FlashAttention-3 (arXiv:2407.08608), Table 1";
// nvidia-smi's memory.total of these boards, as github.com/modal-labs/modal-client/pull/2797 (A100, H100),
// github.com/vllm-project/vllm/issues/7553 (RTX 4090) and many logs of an H200 print it.
const char* const driver = "the driver (nvidia-smi, memory.total)";
const char* const half_of_sparse = ": half of the figure with sparsity";

// GA100: 108 SMs of 192 KiB each, of which a kernel may use 164.
Hardware a100(const char* id, const char* name, const char* memory, double mebibytes, double bandwidth) {
    Hardware h;
    h.id = id, h.name = name, h.memory = memory;
    h.capacity = {mebibytes * mib, driver};
    h.bandwidth = {bandwidth * giga, a100_sheet};
    h.sms = {108, a100_paper};
    h.shared = {164 * kib, cuda_guide};
    h.sram = {192 * kib, a100_paper};
    h.registers = {256 * kib, a100_paper};
    h.on_chip = {19 * tera, fa1_text};
    h.fp32 = {19.5 * tera, a100_sheet};
    h.fp16 = {312 * tera, a100_sheet};
    return h;
}

// GH100 as it is sold on SXM modules: 132 SMs of 256 KiB each, of which a kernel may use 228.
Hardware hopper(const char* id, const char* name, const char* memory, double mebibytes, double bandwidth,
                const char* sheet) {
    Hardware h;
    h.id = id, h.name = name, h.memory = memory;
    h.capacity = {mebibytes * mib, driver};
    h.bandwidth = {bandwidth * tera, sheet};
    h.sms = {132, h100_paper};
    h.shared = {228 * kib, cuda_guide};
    h.sram = {256 * kib, h100_paper};
    h.registers = {256 * kib, h100_paper};
    h.fp32 = {67 * tera, sheet};
    h.fp16 = {1979 * tera / 2, std::string(sheet) + half_of_sparse};
    h.fp8 = {3958 * tera / 2, std::string(sheet) + half_of_sparse};
    return h;
}

Hardware rtx_4090() {
    Hardware h;
    h.id = "rtx-4090", h.name = "RTX 4090", h.memory = "GDDR6X";
    h.capacity = {24564 * mib, driver};
    h.bandwidth = {1008 * giga, ada_paper};
    h.sms = {128, ada_paper};
    h.shared = {100 * kib, cuda_guide};
    h.sram = {128 * kib, ada_paper};
    h.registers = {256 * kib, ada_paper};
    h.fp32 = {82.6 * tera, ada_paper};
    h.fp16 = {165.2 * tera, ada_paper};
    h.fp8 = {330.3 * tera, ada_paper};
    return h;
}

}  // namespace

double Hardware::peak(int element_bytes) const {
    if (element_bytes >= 4) return fp32.value;
    return element_bytes == 1 && fp8.given() ? fp8.value : fp16.value;
}

std::span<const Hardware> hardware_list() {
    static const Hardware list[] = {
        [] {
            Hardware h = a100("a100-40", "A100 40 GB", "HBM2", 40960, 1555);
            h.host = {12.8 * giga, fa1_figure};
            return h;
        }(),
        a100("a100-80", "A100 80 GB", "HBM2e", 81920, 2039),
        [] {
            Hardware h = hopper("h100", "H100 SXM", "HBM3", 81559, 3.35, h100_sheet);
            h.on_chip = {31 * tera, fa3_table};
            return h;
        }(),
        hopper("h200", "H200", "HBM3e", 143771, 4.8, h200_sheet),
        rtx_4090(),
    };
    return list;
}

std::string memory_name(const Hardware& h) { return h.memory.starts_with("HBM") ? "HBM" : h.memory; }

const char* format_name(int element_bytes) {
    return element_bytes >= 4 ? "fp32" : element_bytes == 1 ? "fp8" : "fp16";
}

}  // namespace tilewalk
