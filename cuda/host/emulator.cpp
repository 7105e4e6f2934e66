#include "cuda/host/emulator.h"

#include "cuda/emulator/stream.h"
#include "cuda/kernels/ladder.h"

#include <chrono>
#include <cstdlib>

namespace tilewalk::gpu {

namespace {

class Emulator : public Device {
public:
    Emulator(const emulator::Options& options, const Chip& pretended) {
        chip = stream.chip = pretended;
        stream.options = options;
    }
    const std::vector<const Rung*>& ladder() const override { return on_emulator::ladder(); }

    // Exactly as much as was asked for: AddressSanitizer sees what reaches beyond.
    void* allocate(std::int64_t bytes) override {
        return failure().empty() ? std::aligned_alloc(alignment, round_up(bytes)) : nullptr;
    }
    void release(void* memory) noexcept override { std::free(memory); }
    std::int64_t free_bytes() override { return std::int64_t(1) << 32; }
    void upload(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
    void download(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        std::memset(memory, byte, static_cast<std::size_t>(bytes));
    }
    double run(const Rung& rung, const Arguments& arguments, DType type) override {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point begin = Clock::now();
        rung.launch(arguments, type, stream);
        return std::chrono::duration<double>(Clock::now() - begin).count();
    }
    void prepare(const Rung& rung, const Arguments& arguments, DType type) override {
        if (rung.prepare) rung.prepare(arguments, type, stream);
    }
    void flush_caches() override {}
    std::string failure() const override { return stream.failure; }

private:
    static constexpr std::size_t alignment = 256;
    static std::size_t round_up(std::int64_t bytes) {
        return (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
    }
    static void copy(void* to, const void* from, std::int64_t bytes) {
        if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    EmulatedStream stream;
};

}  // namespace

std::unique_ptr<Device> open_emulator(const emulator::Options& options, const Chip& chip) {
    return std::make_unique<Emulator>(options, chip);
}

const Rung& emulated_intrinsics() { return on_emulator::intrinsics(); }

}  // namespace tilewalk::gpu
