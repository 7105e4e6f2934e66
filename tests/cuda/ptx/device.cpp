#include "tests/cuda/ptx/device.h"

#include "core/engine/engine.h"
#include "cuda/device/stream_cuda.h"
#include "cuda/host/gpu.h"
#include "cuda/host/open_cuda.h"
#include "cuda/host/probe.h"
#include "cuda/launch/product.h"
#include "tests/cuda/ptx/halves.h"
#include "tests/cuda/ptx/launches.h"
#include "tests/cuda/ptx/modules.h"

#include <algorithm>
#include <cstring>

namespace tilewalk::gpu::on_cuda {

const std::vector<const Rung*>& ladder();
const Rung& intrinsics();
void multiply_matrices(Stream& stream, const Product& product);
void release_cublas(CudaStream& stream);

}  // namespace tilewalk::gpu::on_cuda

namespace tilewalk::ptx {

namespace {

Machine* machine_now = nullptr;
std::string failure_now;
std::int64_t executed_before = 0;

class PtxDevice : public gpu::Device {
public:
    PtxDevice() {
        chip = chip_of(setup().capability);
        stream.chip = chip;
        machine.schedule = setup().schedule, machine.fault = setup().fault;
        machine.plain_arithmetic = setup().plain_arithmetic;
    }
    ~PtxDevice() override { executed_before += machine.executed; }

    const std::vector<const gpu::Rung*>& ladder() const override {
        static const std::vector<const gpu::Rung*> here = [] {
            // Not those for other chips alone: their instructions are not this machine's.
            std::vector<const gpu::Rung*> list = gpu::on_cuda::ladder();
            std::erase_if(list, [](const gpu::Rung* rung) { return !gpu::is_taken_by(80, rung->name); });
            return list;
        }();
        return here;
    }
    void* allocate(std::int64_t bytes) override {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device, no object of the host
        return reinterpret_cast<void*>(machine.memory.allocate(static_cast<std::uint64_t>(bytes)));
    }
    void release(void* memory) noexcept override {
        machine.memory.release(reinterpret_cast<std::uintptr_t>(memory));
    }
    std::int64_t free_bytes() override { return std::int64_t(1) << 32; }
    void upload(void* to, const void* from, std::int64_t bytes) override {
        if (bytes > 0) std::memcpy(at(to, bytes), from, static_cast<std::size_t>(bytes));
    }
    void download(void* to, const void* from, std::int64_t bytes) override {
        if (bytes > 0) std::memcpy(to, at(from, bytes), static_cast<std::size_t>(bytes));
    }
    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        if (bytes > 0) std::memset(at(memory, bytes), byte, static_cast<std::size_t>(bytes));
    }
    double run(const gpu::Rung& rung, const gpu::Arguments& arguments, DType type) override {
        const auto launch = [&] { rung.launch(arguments, type, stream); };
        return here(launch), 0;
    }
    void prepare(const gpu::Rung& rung, const gpu::Arguments& arguments, DType type) override {
        const auto launch = [&] { rung.prepare(arguments, type, stream); };
        if (rung.prepare) here(launch);
    }
    void flush_caches() override {}
    std::string failure() const override { return failed; }

private:
    unsigned char* at(const void* address, std::int64_t bytes) {
        return machine.memory.at(address, static_cast<std::uint64_t>(bytes));
    }
    template <class F> void here(const F& launch) {
        machine_now = &machine;
        failure_now.clear();
        launch();
        machine_now = nullptr;
        if (stream.error != cudaSuccess && failed.empty())
            failed = failure_now.empty() ? "A launch was refused: error " + std::to_string(stream.error) + "."
                                         : failure_now;
    }

    Machine machine;
    gpu::CudaStream stream;
    std::string failed;
};

// An element of an operand, in double
double element(DType type, const unsigned char* from) {
    if (type == DType::f32) {
        float x;
        return std::memcpy(&x, from, 4), x;
    }
    std::uint16_t bits;
    std::memcpy(&bits, from, 2);
    return widened(type == DType::f16 ? Half::f16 : Half::bf16, bits);
}
void put(DType type, unsigned char* to, float x) {
    const std::uint16_t bits = narrowed(type == DType::f16 ? Half::f16 : Half::bf16, x);
    if (type == DType::f32)
        std::memcpy(to, &x, 4);
    else
        std::memcpy(to, &bits, 2);
}

}  // namespace

gpu::Chip chip_of(int capability) {
    gpu::Chip chip;
    chip.capability = capability;
    chip.shared_per_block = shared_of_block(capability);
    return chip;
}

Setup& setup() {
    static Setup one;
    return one;
}
std::int64_t executed() { return executed_before; }
Machine* current_machine() { return machine_now; }
const Kernel& find_kernel(const std::string& mangled) {
    return modules_of(setup().folder, setup().capability).kernel(plain_name(mangled));
}
int shared_of_block() { return shared_of_block(setup().capability); }
int refusal(const char*) { return cudaSuccess; }
void* driver_function(const char*) { return nullptr; }
int note_failure(const std::string& sentence) {
    failure_now = sentence;
    return cudaErrorLaunchFailure;
}

}  // namespace tilewalk::ptx

namespace tilewalk::gpu {

Probe probe() {
    Probe found;
    found.why_none = "the machine of tests/cuda/ptx stands in for it";
    return found;
}
std::unique_ptr<Device> open_cuda(std::string&) { return std::make_unique<ptx::PtxDevice>(); }
const std::vector<const Rung*>& cuda_ladder() { return on_cuda::ladder(); }
const Rung* cuda_intrinsics() { return &on_cuda::intrinsics(); }

// What cuBLAS is asked for, in the plainest way: sums in double, rounded once.
void on_cuda::multiply_matrices(Stream&, const Product& p) {
    ptx::GlobalMemory& memory = ptx::current_machine()->memory;
    const auto at = [&](const void* data, DType type, std::int64_t first, int elements) {
        const std::int64_t width = bytes_of(type);
        return memory.at(static_cast<const unsigned char*>(data) + first * width,
                         static_cast<std::uint64_t>(elements * width));
    };
    // rows × columns of one matrix of an operand, as it is multiplied
    const auto matrix_of = [&](const Operand& x, int number, int rows, int columns) {
        std::vector<double> all(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
        const int stored_rows = x.transposed ? columns : rows, stored_columns = x.transposed ? rows : columns;
        for (int r = 0; r < stored_rows; ++r) {
            const unsigned char* const from = at(x.data, p.type, number * x.next + r * x.row, stored_columns);
            for (int c = 0; c < stored_columns; ++c)
                all[static_cast<std::size_t>(x.transposed ? c * columns + r : r * columns + c)] =
                    ptx::element(p.type, from + c * bytes_of(p.type));
        }
        return all;
    };
    for (int number = 0; number < p.count; ++number) {
        const std::vector<double> A = matrix_of(p.A, number, p.m, p.k), B = matrix_of(p.B, number, p.k, p.n);
        std::vector<double> sums(static_cast<std::size_t>(p.n));
        for (int m = 0; m < p.m; ++m) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (int k = 0; k < p.k; ++k)
                for (int n = 0; n < p.n; ++n)
                    sums[static_cast<std::size_t>(n)] +=
                        A[static_cast<std::size_t>(m * p.k + k)] * B[static_cast<std::size_t>(k * p.n + n)];
            unsigned char* const row = at(p.C, p.result_type, number * p.C_next + m * p.C_row, p.n);
            for (int n = 0; n < p.n; ++n) {
                unsigned char* const to = row + n * bytes_of(p.result_type);
                const double old = p.beta == 0 ? 0 : p.beta * ptx::element(p.result_type, to);
                ptx::put(p.result_type, to,
                         static_cast<float>(p.alpha * sums[static_cast<std::size_t>(n)] + old));
            }
        }
    }
}
void on_cuda::release_cublas(CudaStream&) {}

}  // namespace tilewalk::gpu
