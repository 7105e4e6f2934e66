#include "core/cpu/by_conversion.h"

#include "core/engine/heads.h"

namespace tilewalk::cpu {

namespace {

class ByConversion final : public Kernel {
public:
    ByConversion(const Workload& workload, ThreadPool& threads, CountedMemory& memory,
                 std::unique_ptr<FloatKernel> of_floats)
        : converts(workload.dtype != DType::f32), pool(threads), kernel(std::move(of_floats)) {
        if (!converts) return;
        const std::int64_t q = workload.q_rows() * workload.d, kv = workload.kv_rows() * workload.d;
        for (Buffer* const tensor : {&Q, &O}) *tensor = Buffer(memory, q);
        for (Buffer* const tensor : {&K, &V}) *tensor = Buffer(memory, kv);
        if (workload.direction == Direction::forward) return;
        for (Buffer* const tensor : {&dO, &dQ}) *tensor = Buffer(memory, q);
        for (Buffer* const tensor : {&dK, &dV}) *tensor = Buffer(memory, kv);
    }

    void forward(const Views& views, std::stop_token stop) override {
        if (converts) {
            read(views.Q, Q, stop);
            read(views.K, K, stop);
            read(views.V, V, stop);
        }
        kernel->forward(floats(views), stop);
        if (converts) write(O, views.O, stop);
    }

    // All is read again: what backward gets is its own
    void backward(const Views& views, std::stop_token stop) override {
        if (converts) {
            read(views.Q, Q, stop);
            read(views.K, K, stop);
            read(views.V, V, stop);
            read(views.O, O, stop);
            read(views.dO, dO, stop);
        }
        kernel->backward(floats(views), stop);
        if (!converts) return;
        write(dQ, views.dQ, stop);
        write(dK, views.dK, stop);
        write(dV, views.dV, stop);
    }

private:
    FloatViews floats(const Views& t) {
        if (converts)
            return {Q.data(), K.data(), V.data(), dO.data(), O.data(), t.L, dQ.data(), dK.data(), dV.data()};
        return {t.Q.as<float>(),  t.K.as<float>(),  t.V.as<float>(), t.dO.as<float>(), t.O.as<float>(), t.L,
                t.dQ.as<float>(), t.dK.as<float>(), t.dV.as<float>()};
    }

    // use(from, count) for pieces of so many elements, on all threads
    template <class Use> void in_pieces(std::int64_t elements, std::stop_token stop, const Use& use) {
        constexpr std::int64_t some = 1 << 16;
        const auto piece = [&](std::int64_t task, int) {
            const std::int64_t from = task * some;
            use(from, std::min(some, elements - from));
        };
        pool.run(ceil_div(elements, some), piece, std::move(stop));
    }
    void read(Elements from, Buffer& to, std::stop_token stop) {
        in_pieces(to.size(), std::move(stop),
                  [&](std::int64_t at, std::int64_t count) { to_floats(from + at, count, to.data() + at); });
    }
    void write(const Buffer& from, WritableElements to, std::stop_token stop) {
        in_pieces(from.size(), std::move(stop), [&](std::int64_t at, std::int64_t count) {
            from_floats(from.data() + at, count, to + at);
        });
    }

    const bool converts;
    ThreadPool& pool;
    std::unique_ptr<FloatKernel> kernel;
    Buffer Q, K, V, O, dO, dQ, dK, dV;
};

}  // namespace

std::unique_ptr<Kernel> by_conversion(const Workload& w, ThreadPool& pool, CountedMemory& memory,
                                      std::unique_ptr<FloatKernel> kernel) {
    return std::make_unique<ByConversion>(w, pool, memory, std::move(kernel));
}

std::int64_t conversion_bytes(const Workload& w) {
    if (w.dtype == DType::f32) return 0;
    const std::int64_t forward = 8 * (w.q_rows() + w.kv_rows()) * w.d;  // Q and O; K and V
    return w.direction == Direction::forward ? forward : 2 * forward;
}

}  // namespace tilewalk::cpu
