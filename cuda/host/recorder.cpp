#include "cuda/host/recorder.h"

#include "cuda/host/recorded_rungs.h"
#include "cuda/record/recording.h"

#include <cstring>
#include <type_traits>

namespace tilewalk::gpu {

namespace {

constexpr std::int64_t arena_bytes = std::int64_t(in_browser ? 96 : 256) << 20;

class Recorder : public RecordingDevice {
public:
    Recorder(const RecordOptions& options, const Chip& pretended)
        : arena(arena_bytes),
          now({options.blocks, options.most_bytes, options.most_steps, options.schedule, options.stop,
               options.blocks_done, options.stopped, options.fault, options.timed, options.reported},
              arena) {
        chip = stream.chip = pretended;
        stream.options.skew = skew;
    }
    const std::vector<const Rung*>& ladder() const override { return recorded_rungs(); }

    void* allocate(std::int64_t bytes) override { return failure().empty() ? arena.take(bytes) : nullptr; }
    void release(void* memory) noexcept override {
        if (memory) arena.give_back();
    }
    std::int64_t free_bytes() override { return arena.free(); }
    void upload(void* to, const void* from, std::int64_t bytes) override {
        if (bytes > 0) std::memcpy(as_kernels_see(to), from, static_cast<std::size_t>(bytes));
    }
    void download(void* to, const void* from, std::int64_t bytes) override {
        if (bytes > 0) std::memcpy(to, as_kernels_see(from), static_cast<std::size_t>(bytes));
    }
    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        if (bytes > 0) std::memset(as_kernels_see(memory), byte, static_cast<std::size_t>(bytes));
    }
    double run(const Rung& rung, const Arguments& arguments, DType type) override {
        now.begin_kernel(rung.name);
        recording = begun ? &now : nullptr;
        rung.launch(as_kernels_see(arguments), type, stream);
        recording = nullptr;
        return 0;
    }
    void prepare(const Rung& rung, const Arguments& arguments, DType type) override {
        if (rung.prepare) rung.prepare(as_kernels_see(arguments), type, stream);
    }
    void flush_caches() override {}
    std::string failure() const override { return stream.failure; }

    void begin() override { begun = true; }
    void name(const char* region, const void* begin, std::int64_t bytes, std::int64_t row_bytes,
              std::int64_t element_bytes, int head) override {
        if (bytes > 0)
            now.record().regions.push_back({region, arena.address(as_kernels_see(begin)), bytes,
                                            static_cast<int>(row_bytes), static_cast<int>(element_bytes),
                                            head});
    }
    const inside::Record& record() const override { return now.record(); }

private:
    template <class T> static T* as_kernels_see(T* p) {
        using Byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
        return p ? reinterpret_cast<T*>(reinterpret_cast<Byte*>(p) + skew) : nullptr;
    }
    static Arguments as_kernels_see(Arguments a) {
        for (Tensor* t : {&a.Q, &a.K, &a.V, &a.O, &a.dO, &a.dQ, &a.dK, &a.dV})
            t->data = as_kernels_see(t->data);
        TraceWindow& w = a.trace;
        for (float** p : {&a.L, &w.m, &w.l, &w.alpha, &w.S, &w.P, &w.O}) *p = as_kernels_see(*p);
        a.workspace = as_kernels_see(a.workspace);
        return a;
    }
    RecordingStream stream;
    Arena arena;
    Recording now;
    bool begun = false;
};

}  // namespace

std::unique_ptr<RecordingDevice> open_recorder(const RecordOptions& options, const Chip& chip) {
    return std::make_unique<Recorder>(options, chip);
}

}  // namespace tilewalk::gpu
