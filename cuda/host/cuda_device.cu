// A GPU as a device, over the CUDA runtime. No call is left unlooked at: the first error becomes a sentence.
#include "cuda/device/device.h"
#include "cuda/device/not_tried.h"
#include "cuda/host/open_cuda.h"
#include "cuda/host/probe.h"
#include "cuda/kernels/ladder.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <mutex>
#include <random>

namespace tilewalk::gpu {

namespace {

/// After some errors (an address that is not there, a kernel that hangs) the process cannot use the GPU any
/// more. That outlives the device that saw it.
class Lost {
public:
    void set(const std::string& why) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (sentence.empty()) sentence = why;
    }
    std::string get() {
        const std::lock_guard<std::mutex> lock(mutex);
        return sentence;
    }

private:
    std::mutex mutex;
    std::string sentence;
};
Lost& lost() {
    static Lost one;
    return one;
}

std::string described(cudaError_t error, const std::string& doing) {
    if (error == cudaErrorLaunchTimeout)
        return doing +
               " took longer than the driver lets a GPU work that also drives a display. Smaller sizes or a "
               "faster kernel end in time.";
    if (error == cudaErrorMemoryAllocation) return doing + " failed: the memory of the GPU is full.";
    if (error == cudaErrorNoKernelImageForDevice)
        return doing + " failed: this program has no code for this GPU (TILEWALK_CUDA_ARCHITECTURES).";
    return doing + " failed on the GPU: " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ").";
}

/// Reads all of it. The sum is written only if it is a number that no memory of zeros gives.
__global__ void read_through(const uint4* memory, std::size_t count, unsigned* never) {
    unsigned sum = 0;
    for (std::size_t n = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; n < count;
         n += std::size_t(gridDim.x) * blockDim.x)
        sum |= memory[n].x | memory[n].w;
    if (sum != 0) *never = sum;
}

/// A range of time that profilers show under a name.
struct Range {
    explicit Range(const char* name) { nvtxRangePushA(name); }
    ~Range() { nvtxRangePop(); }
};

class CudaDevice : public Device {
public:
    ~CudaDevice() override {
        on_cuda::release_cublas(stream);
        for (cudaEvent_t event : {begin, end})
            if (event) cudaEventDestroy(event);
        for (void* memory : {flushed, stream.product_memory})
            if (memory) cudaFree(memory);
        if (stream.handle) cudaStreamDestroy(stream.handle);
    }

    /// The reason if it cannot be used.
    std::string open() {
        cudaDeviceProp properties;
        expect(cudaSetDevice(0), "Choosing the device");
        expect(cudaGetDeviceProperties(&properties, 0), "Asking for its properties");
        if (!failed.empty()) return failed;
        chip.capability = 10 * properties.major + properties.minor;
        chip.shared_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
        chip.multiprocessors = properties.multiProcessorCount;
        stream.chip = chip;
        failed = refuse_code(chip.capability, {TILEWALK_LEAST_CAPABILITY, TILEWALK_LEAST_FROM_AMPERE});
        if (!failed.empty()) return failed;
        // More than the L2 holds, so that nothing of the run before is left in it.
        flush_bytes = std::max<std::size_t>(2 * static_cast<std::size_t>(properties.l2CacheSize), 64 << 20);
        expect(cudaStreamCreateWithFlags(&stream.handle, cudaStreamNonBlocking), "Making a stream");
        expect(cudaEventCreate(&begin), "Making an event");
        expect(cudaEventCreate(&end), "Making an event");
        expect(cudaMalloc(&flushed, flush_bytes), "Taking memory to flush the L2 with");
        if (failed.empty())
            expect(cudaMemset(flushed, 0, flush_bytes), "Clearing memory to flush the L2 with");
        // cuBLAS would take it at its first product, behind the back of what plans memory.
        stream.product_bytes = product_bytes;
        expect(cudaMalloc(&stream.product_memory, product_bytes), "Taking memory for cuBLAS to work in");
        return failed;
    }

    const std::vector<const Rung*>& ladder() const override { return on_cuda::ladder(); }

    void* allocate(std::int64_t bytes) override {
        void* memory = nullptr;
        if (!failed.empty()) return nullptr;
        const cudaError_t error = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();  // no failure, just no memory: nobody shall find it later
            return nullptr;
        }
        expect(error, "Taking memory");
        return memory;
    }
    void release(void* memory) noexcept override { cudaFree(memory); }
    std::int64_t free_bytes() override {
        std::size_t free = 0, total = 0;
        if (failed.empty()) expect(cudaMemGetInfo(&free, &total), "Asking for the free memory");
        return static_cast<std::int64_t>(free);
    }
    void upload(void* to, const void* from, std::int64_t bytes) override {
        copy(to, from, bytes, cudaMemcpyHostToDevice, "Copying to the device");
    }
    void download(void* to, const void* from, std::int64_t bytes) override {
        copy(to, from, bytes, cudaMemcpyDeviceToHost, "Copying from the device");
    }
    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        if (!failed.empty()) return;
        expect(cudaMemsetAsync(memory, byte, static_cast<std::size_t>(bytes), stream.handle),
               "Filling memory");
        wait("Filling memory");
    }
    double run(const Rung& rung, const Arguments& arguments, DType type) override {
        const Range range(rung.name);
        if (refuses(rung, arguments, type)) return 0;
        return timed(std::string("Running ") + rung.name, [&] { rung.launch(arguments, type, stream); });
    }
    void prepare(const Rung& rung, const Arguments& arguments, DType type) override {
        if (rung.prepare && !refuses(rung, arguments, type))
            timed(std::string("Preparing ") + rung.name, [&] { rung.prepare(arguments, type, stream); });
    }
    /// By reading: what is written there would be dirty, and go to HBM in the time of the next run.
    void flush_caches() override {
        if (!failed.empty()) return;
        const std::size_t count = flush_bytes / sizeof(uint4);
        read_through<<<4 * chip.multiprocessors, 256, 0, stream.handle>>>(
            static_cast<const uint4*>(flushed), count, static_cast<unsigned*>(flushed));
        expect(cudaGetLastError(), "Flushing the L2");
    }
    double product_rate(DType type) override;
    std::string failure() const override { return failed.empty() ? lost().get() : failed; }
    bool lacks_library() const override { return stream.error == no_cublas; }
    bool recover() override {
        if (!lost().get().empty()) return false;
        failed.clear();
        stream.error = cudaSuccess;
        stream.where.clear();
        return true;
    }

private:
    void expect(cudaError_t error, const std::string& doing) {
        if (error == cudaSuccess || !failed.empty()) return;
        failed = described(error, doing);
        cudaGetLastError();
        // What stays after the device has been waited for stays until the program ends.
        if (cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess) return;
        failed += " The program has to be started again to use the GPU.";
        lost().set(failed);
    }
    /// Whoever asks for it: a kernel that needs a later compute capability would trap, or read beside a row.
    bool refuses(const Rung& rung, const Arguments& arguments, DType type) {
        const std::string reason = rung.refuse(arguments, type, chip);
        if (failed.empty() && !reason.empty())
            failed = std::string(rung.name) + " does not run on this GPU: " + reason + ".";
        return !failed.empty();
    }
    void wait(const std::string& doing) { expect(cudaStreamSynchronize(stream.handle), doing); }
    void copy(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind, const char* doing) {
        if (!failed.empty() || bytes == 0) return;
        expect(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream.handle), doing);
        wait(doing);
    }
    /// Seconds between two events around what launch() queues; 0 after a failure.
    template <class Launch> double timed(const std::string& doing, const Launch& launch) {
        if (!failed.empty()) return 0;
        expect(cudaEventRecord(begin, stream.handle), doing);
        launch();
        if (was_not_tried(stream) && failed.empty())
            failed = doing + " was not tried: " + stream.where + ".";
        else if (stream.error != cudaSuccess)
            expect(stream.error, stream.where.empty() ? doing : doing + " (" + stream.where + ")");
        expect(cudaEventRecord(end, stream.handle), doing);
        expect(cudaEventSynchronize(end), doing);
        float milliseconds = 0;
        if (failed.empty()) expect(cudaEventElapsedTime(&milliseconds, begin, end), doing);
        return failed.empty() ? milliseconds * 1e-3 : 0;
    }
    bool fill_with_chance(void* memory, std::int64_t bytes, DType type);

    /// What NVIDIA recommends for Hopper, the most of all.
    static constexpr std::size_t product_bytes = 32 << 20;

    CudaStream stream;
    cudaEvent_t begin = nullptr, end = nullptr;
    void* flushed = nullptr;
    std::size_t flush_bytes = 0;
    std::string failed;
};

// A block of random numbers, again and again: zeros would let the clock rise.
bool CudaDevice::fill_with_chance(void* memory, std::int64_t bytes, DType type) {
    constexpr std::int64_t block = 4 << 20;
    std::vector<std::uint32_t> words(block / 4);
    std::mt19937 random(1);
    for (std::uint32_t& word : words)  // 16-bit: two numbers from ±1 to ±2; f32: one
        word = type == DType::f32    ? (random() & 0x807FFFFFu) | 0x3F800000u
               : type == DType::bf16 ? (random() & 0x807F807Fu) | 0x3F803F80u
                                     : (random() & 0x83FF83FFu) | 0x3C003C00u;
    for (std::int64_t at = 0; at < bytes; at += block)
        upload(static_cast<char*>(memory) + at, words.data(), std::min(block, bytes - at));
    return failed.empty();
}

double CudaDevice::product_rate(DType type) {
    constexpr int n = 8192, warm_ups = 5, runs = 11;
    const Range range("a large product");
    const std::int64_t bytes = std::int64_t(n) * n * (type == DType::f32 ? 4 : 2);
    void* const memory = allocate(3 * bytes);
    if (!memory) return 0;
    Product p{type, type, n, n, n};
    p.A = {memory, n, 0, false};
    p.B = {static_cast<char*>(memory) + bytes, n, 0, false};
    p.C = static_cast<char*>(memory) + 2 * bytes;
    p.C_row = n;
    std::vector<double> seconds;
    fill_with_chance(memory, 2 * bytes, type);
    for (int run = 0; run < warm_ups + runs && failed.empty(); ++run) {
        const double once = timed("A large product", [&] { on_cuda::multiply_matrices(stream, p); });
        if (run >= warm_ups) seconds.push_back(once);
    }
    release(memory);
    if (!failed.empty()) return 0;  // the library may not be there
    std::sort(seconds.begin(), seconds.end());
    return 2.0 * n * n * n / seconds[runs / 2];
}

}  // namespace

std::unique_ptr<Device> open_cuda(std::string& why_not) {
    const Probe found = probe();
    auto device = std::make_unique<CudaDevice>();
    why_not = lost().get();
    if (why_not.empty()) why_not = found.why_none;
    if (why_not.empty()) why_not = device->open();
    if (why_not.empty()) return device;
    if (why_not.back() == '.') why_not.pop_back();  // a phrase
    return nullptr;
}

const std::vector<const Rung*>& cuda_ladder() { return on_cuda::ladder(); }
const Rung* cuda_intrinsics() { return &on_cuda::intrinsics(); }

}  // namespace tilewalk::gpu
