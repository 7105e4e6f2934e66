// A device that runs kernels on the emulator and can be made short of memory, faulty or wrong.
#pragma once

#include "cuda/host/emulator.h"

#include <functional>
#include <map>

namespace tilewalk::test {

class StubDevice : public gpu::Device {
public:
    std::int64_t free = std::int64_t{1} << 40;
    int allocations_left = 1 << 30;      ///< then there is no memory any more
    std::map<void*, std::int64_t> live;  ///< what was taken and not given back
    std::int64_t most = 0;               ///< bytes at once
    std::vector<std::string> runs;       ///< names of rungs
    std::string fails;                   ///< the sentence of the next run, which does nothing
    bool recovers = false;               ///< from that
    bool idle = false;                   ///< runs write nothing
    std::function<void(const gpu::Arguments&)> after_run;

    const std::vector<const gpu::Rung*>& ladder() const override { return emulator->ladder(); }
    void* allocate(std::int64_t bytes) override;
    void release(void* memory) noexcept override;
    std::int64_t free_bytes() override { return free; }
    void upload(void* to, const void* from, std::int64_t bytes) override {
        emulator->upload(to, from, bytes);
    }
    void download(void* to, const void* from, std::int64_t bytes) override {
        emulator->download(to, from, bytes);
    }
    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        emulator->fill(memory, byte, bytes);
    }
    double run(const gpu::Rung& rung, const gpu::Arguments& arguments, DType type) override;
    void prepare(const gpu::Rung& rung, const gpu::Arguments& arguments, DType type) override {
        emulator->prepare(rung, arguments, type);
    }
    void flush_caches() override { runs.push_back("flush"); }
    std::string failure() const override { return failed.empty() ? emulator->failure() : failed; }
    bool recover() override;

private:
    std::unique_ptr<gpu::Device> emulator = gpu::open_emulator();
    std::string failed;
};

}  // namespace tilewalk::test
