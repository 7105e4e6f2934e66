#include "tests/cuda/kernel_cases.h"

#include "core/base/float16.h"
#include "core/compare/kernel_compare.h"
#include "cuda/host/arguments_of.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace tilewalk {

namespace {

using gpu::Arguments;
using gpu::Rung;
using gpu::Tensor;

std::size_t width_of(DType type) { return type == DType::f32 ? 4 : 2; }

// Memory of exactly so many elements, all bits set: NaN in every format.
class Memory {
public:
    Memory(std::int64_t count, DType of)
        : size(static_cast<std::size_t>(count)), type(of),
          bytes(new unsigned char[size * width_of(of) + 16]) {
        std::memset(bytes.get(), 0xFF, size * width_of(of) + 16);
    }
    unsigned char* begin() const {
        const auto at = reinterpret_cast<std::uintptr_t>(bytes.get());
        return bytes.get() + (16 - at % 16) % 16;
    }
    void set(std::int64_t at, float x) {
        unsigned char* const to = begin() + static_cast<std::size_t>(at) * width_of(type);
        if (type == DType::f32) std::memcpy(to, &x, 4);
        const std::uint16_t bits = type == DType::f16
                                       ? gpu::emulator::from_float<gpu::emulator::f16>(x).bits
                                       : gpu::emulator::from_float<gpu::emulator::bf16>(x).bits;
        if (type != DType::f32) std::memcpy(to, &bits, 2);
    }
    float get(std::int64_t at) const {
        const unsigned char* const from = begin() + static_cast<std::size_t>(at) * width_of(type);
        float x;
        std::uint16_t bits;
        if (type == DType::f32) return std::memcpy(&x, from, 4), x;
        std::memcpy(&bits, from, 2);
        return type == DType::f16 ? to_float(gpu::emulator::f16{bits}) : to_float(gpu::emulator::bf16{bits});
    }
    /// Where a kernel finds it: here, or in the copy that a device has.
    void* place(std::int64_t at) const {
        auto* const first = on_device ? static_cast<unsigned char*>(on_device) : begin();
        return first + static_cast<std::size_t>(at) * width_of(type);
    }
    std::int64_t length() const { return static_cast<std::int64_t>(size * width_of(type)); }
    void* on_device = nullptr;
    bool untouched(std::int64_t at) const {
        const unsigned char* const from = begin() + static_cast<std::size_t>(at) * width_of(type);
        return std::all_of(from, from + width_of(type), [](unsigned char byte) { return byte == 0xFF; });
    }
    const std::size_t size;

private:
    DType type;
    std::unique_ptr<unsigned char[]> bytes;
};

// One tensor in a layout, or a part of one that others share.
struct Placed {
    std::shared_ptr<Memory> memory;
    std::int64_t first = 0, batch = 0, head = 0, row = 0;
    std::int64_t heads = 0, N = 0, d = 0, batches = 0;

    std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t r) const {
        return first + b * batch + h * head + r * row;
    }
    Tensor tensor() const { return {memory->place(first), batch, head, row}; }
    template <class F> void each(F&& f) const {
        std::int64_t n = 0;
        for (std::int64_t b = 0; b < batches; ++b)
            for (std::int64_t h = 0; h < heads; ++h)
                for (std::int64_t r = 0; r < N; ++r)
                    for (std::int64_t c = 0; c < d; ++c) f(at(b, h, r) + c, static_cast<std::size_t>(n++));
    }
    void put(const std::vector<float>& x) const {
        each([&](std::int64_t to, std::size_t n) { memory->set(to, x[n]); });
    }
    std::vector<float> get() const {
        std::vector<float> x(static_cast<std::size_t>(batches * heads * N * d));
        each([&](std::int64_t from, std::size_t n) { x[n] = memory->get(from); });
        return x;
    }
    // The elements between the rows are as they were.
    bool gaps_untouched() const {
        std::vector<bool> used(memory->size);
        each([&](std::int64_t at, std::size_t) { used[static_cast<std::size_t>(at)] = true; });
        for (std::size_t n = 0; n < used.size(); ++n)
            if (!used[n] && !memory->untouched(static_cast<std::int64_t>(n))) return false;
        return true;
    }
};

// Copies of pieces of memory on a device whose memory is its own.
class Copies {
public:
    explicit Copies(gpu::Device& of) : device(of) {}
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;
    ~Copies() {
        for (const auto& piece : pieces) {
            device.release(piece->on_device);
            piece->on_device = nullptr;
        }
    }
    void upload(const std::shared_ptr<Memory>& piece) {
        if (piece->on_device || piece->length() == 0) return;
        piece->on_device = device.allocate(piece->length());
        if (!piece->on_device) throw NoMemory("the memory of the GPU does not hold it");
        pieces.push_back(piece);
        device.upload(piece->on_device, piece->begin(), piece->length());
    }
    void download() {
        for (const auto& piece : pieces) device.download(piece->begin(), piece->on_device, piece->length());
    }

private:
    gpu::Device& device;
    std::vector<std::shared_ptr<Memory>> pieces;
};

// `gap`: chunks of eight elements between the rows of a padded tensor; another one for each tensor.
Placed place(Layout layout, const Workload& w, std::int64_t heads, std::int64_t N, std::int64_t gap) {
    Placed p{nullptr, 0, 0, 0, 0, heads, N, w.d, w.batch};
    if (layout == Layout::bshd || layout == Layout::packed) {
        p.head = w.d, p.row = heads * w.d, p.batch = N * p.row;
    } else {
        p.row = w.d + (layout == Layout::padded ? 8 * gap : 0);
        p.head = (N + (layout == Layout::padded ? 3 : 0)) * p.row;
        p.batch = heads * p.head;
    }
    p.memory = std::make_shared<Memory>(w.batch * p.batch, w.dtype);
    return p;
}

// Q, K, V; packed where they have the same shape
std::array<Placed, 3> place_inputs(Layout layout, const Workload& w) {
    std::array<Placed, 3> all{place(layout, w, w.heads, w.N_q, 1), place(layout, w, w.kv_heads, w.N_kv, 2),
                              place(layout, w, w.kv_heads, w.N_kv, 3)};
    if (layout != Layout::packed || w.heads != w.kv_heads || w.N_q != w.N_kv) return all;
    const auto memory = std::make_shared<Memory>(3 * w.batch * w.N_q * w.heads * w.d, w.dtype);
    for (std::size_t n = 0; n < 3; ++n) {
        Placed& p = all[n];
        p.memory = memory, p.first = static_cast<std::int64_t>(n) * w.heads * w.d;
        p.row *= 3, p.batch *= 3;
    }
    return all;
}

Arguments sizes_of(const Workload& w) { return gpu::arguments_of(w, {}); }

const char* name_of(Layout layout) {
    constexpr const char* names[] = {"bhsd", "bshd", "packed", "padded"};
    return names[static_cast<int>(layout)];
}
const char* name_of(Inputs inputs) {
    constexpr const char* names[] = {"normal",    "overflow", "outliers", "equal rows",
                                     "one logit", "large",    "denormals"};
    return names[static_cast<int>(inputs)];
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const KernelCase& c) {
    return out << c.kernel << ", " << describe(c.w) << ", N = " << c.w.N_q << ", " << c.w.N_kv << ", "
               << name_of(c.layout) << ", " << name_of(c.inputs) << ", copies "
               << (c.copies == gpu::emulator::Options::Copies::late ? "late" : "early") << ", seed "
               << c.seed;
}

Tensors inputs_of(const KernelCase& c) {
    Workload w = c.w;
    w.dtype = DType::f32;
    Tensors in = make_inputs(w, c.seed);
    std::mt19937_64 random(c.seed);
    std::normal_distribution<float> normal;
    const auto scale = [](std::vector<float>& x, float factor) {
        for (float& value : x) value *= factor;
    };
    switch (c.inputs) {
    case Inputs::normal: break;
    case Inputs::overflow: scale(in.Q, 5), scale(in.K, 3), scale(in.V, 3); break;
    case Inputs::outliers:
        for (auto* x : {&in.Q, &in.K, &in.V})
            for (float& value : *x)
                if (random() % 1000 == 0) value += 10 * normal(random);
        break;
    case Inputs::equal_rows:
        for (auto* x : {&in.Q, &in.K})
            for (std::size_t n = static_cast<std::size_t>(w.d); n < x->size(); ++n)
                (*x)[n] = (*x)[n % static_cast<std::size_t>(w.d)];
        break;
    case Inputs::one_logit: {
        std::fill(in.Q.begin(), in.Q.end(), 1.0f);
        const auto key = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(w.N_kv));
        for (std::int64_t n = 0; n < w.d; ++n) in.K[static_cast<std::size_t>(key * w.d + n)] = 40;
        break;
    }
    case Inputs::large: scale(in.Q, 100), scale(in.K, 100); break;
    case Inputs::denormals:
        for (auto* x : {&in.Q, &in.K, &in.V}) scale(*x, c.w.dtype == DType::f16 ? 1e-6f : 1e-39f);
        break;
    }
    for (auto* x : {&in.Q, &in.K, &in.V, &in.dO})
        for (float& value : *x) value = static_cast<float>(round_to(format_of(c.w.dtype), value));
    return in;
}

std::vector<double> scores_of(const Workload& w, const Tensors& in, std::int64_t head, std::int64_t i,
                              int before, int after) {
    const float* const q = &in.Q[static_cast<std::size_t>((head * w.N_q + i) * w.d)];
    const float* const k = &in.K[static_cast<std::size_t>(head / (w.heads / w.kv_heads) * w.N_kv * w.d)];
    std::vector<double> S(static_cast<std::size_t>(w.N_kv), -std::numeric_limits<double>::infinity());
    const std::int64_t own = i + w.N_kv - w.N_q;
    for (std::int64_t key = std::max<std::int64_t>(0, own - before); key < w.N_kv && key <= own + after;
         ++key)
        S[static_cast<std::size_t>(key)] = std::inner_product(q, q + w.d, k + key * w.d, 0.0);
    return S;
}

const Rung& rung_called(const gpu::Device& device, const std::string& name) {
    if (const Rung* rung = gpu::find_rung(device, name)) return *rung;
    throw std::runtime_error("no kernel " + name);
}

Tensors run_case(const KernelCase& c, const Tensors& in, std::string& wrong, const gpu::Chip& chip,
                 const Adjust& adjust) {
    gpu::emulator::Options options;
    options.copies = c.copies;
    options.seed = c.seed;
    return run_case_on(*gpu::open_emulator(options, chip), false, c, in, wrong, adjust);
}

Tensors run_case_on(gpu::Device& device, bool far, const KernelCase& c, const Tensors& in, std::string& wrong,
                    const Adjust& adjust) {
    const Rung& rung = rung_called(device, c.kernel);
    const bool backward = rung.direction == Direction::backward;
    const Workload& w = c.w;

    const auto [Q, K, V] = place_inputs(c.layout, w);
    Q.put(in.Q), K.put(in.K), V.put(in.V);
    const Placed O = place(c.layout, w, w.heads, w.N_q, 4);
    const Placed dO = place(c.layout, w, backward ? w.heads : 0, w.N_q, 5);
    const Placed dQ = place(c.layout, w, backward ? w.heads : 0, w.N_q, 6);
    const Placed dK = place(c.layout, w, backward ? w.kv_heads : 0, w.N_kv, 7),
                 dV = place(c.layout, w, dK.heads, w.N_kv, 8);
    if (backward) dO.put(in.dO);
    const auto L = std::make_shared<Memory>(w.q_rows(), DType::f32);
    Copies copies(device);
    if (far) {
        for (const Placed* tensor : {&Q, &K, &V, &O, &dO, &dQ, &dK, &dV}) copies.upload(tensor->memory);
        copies.upload(L);
    }

    Arguments a = sizes_of(w);
    a.Q = Q.tensor(), a.K = K.tensor(), a.V = V.tensor(), a.O = O.tensor();
    a.L = static_cast<float*>(L->place(0));
    if (backward) {
        a.dO = dO.tensor(), a.dQ = dQ.tensor(), a.dK = dK.tensor(), a.dV = dV.tensor();
        device.run(*gpu::forward_rung(device, a, w.dtype), a, w.dtype);
    }
    if (adjust) adjust(a, rung);
    // The workspace is exactly as large as the rung says.
    const std::int64_t workspace = rung.workspace(a, w.dtype);
    void* const memory = device.allocate(std::max<std::int64_t>(workspace, 1));
    if (!memory && device.failure().empty()) throw NoMemory("the memory of the GPU does not hold it");
    device.fill(memory, 0xFF, workspace);
    a.workspace = memory;
    device.prepare(rung, a, w.dtype);
    device.run(rung, a, w.dtype);
    device.release(memory);
    copies.download();

    wrong = device.failure();
    if (wrong.empty())
        for (const Placed* output : {&O, &dQ, &dK, &dV})
            if (!output->gaps_untouched()) wrong = "It wrote between the rows of an output.";
    Tensors out;
    out.O = O.get(), out.dQ = dQ.get(), out.dK = dK.get(), out.dV = dV.get();
    for (std::int64_t row = 0; row < w.q_rows(); ++row) out.L.push_back(L->get(row));
    return out;
}

std::optional<std::string> refused(const KernelCase& c, const gpu::Chip& chip) {
    const auto device = gpu::open_emulator({}, chip);
    const std::string reason = rung_called(*device, c.kernel).refuse(sizes_of(c.w), c.w.dtype, chip);
    if (reason.empty()) return {};
    return reason;
}

KernelVerdict verify_case(const KernelCase& c, const gpu::Chip& chip) {
    gpu::emulator::Options options;
    options.copies = c.copies;
    options.seed = c.seed;
    return verify_case_on(*gpu::open_emulator(options, chip), false, c);
}

KernelVerdict verify_case_on(gpu::Device& device, bool far, const KernelCase& c) {
    const Tensors in = inputs_of(c);
    std::string wrong;
    const Tensors out = run_case_on(device, far, c, in, wrong);
    if (!wrong.empty()) return {false, 0, 0, wrong};
    const Rung& rung = rung_called(device, c.kernel);
    KernelInfo kernel;
    kernel.materialises = rung.materialises;
    kernel.P_from_L = rung.direction == Direction::backward && !rung.materialises;
    return verify_outputs(out, c.w, in, kernel);
}

std::vector<std::pair<std::int64_t, std::int64_t>> shapes(std::int64_t most_scores) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all{
        {1, 1},     {64, 128},    {128, 192},   {256, 256},   {239, 1},    {799, 3},
        {1, 239},   {3, 799},     {113, 203},   {108, 256},   {127, 513},  {384, 256},
        {640, 128}, {1023, 1024}, {1024, 1023}, {4096, 4096}, {4224, 4224}};
    std::erase_if(all, [most_scores](const auto& shape) { return shape.first * shape.second > most_scores; });
    return all;
}

std::vector<std::pair<std::string, DType>> kernels_and_types(const gpu::Chip& chip) {
    std::vector<std::pair<std::string, DType>> all;
    const auto device = gpu::open_emulator({}, chip);
    Workload w;
    for (const Rung* rung : device->ladder())
        for (DType type : {DType::f32, DType::f16, DType::bf16})
            if (rung->refuse(sizes_of(w), type, device->chip).empty()) all.emplace_back(rung->name, type);
    return all;
}

std::vector<KernelCase> case_matrix(const std::string& kernel, DType type, std::int64_t most_scores,
                                    int draws) {
    std::mt19937_64 random(std::hash<std::string>{}(kernel) + static_cast<std::uint64_t>(type));
    const auto one_of = [&](const auto& choices) { return choices[random() % choices.size()]; };
    const auto device = gpu::open_emulator();
    const Rung& rung = rung_called(*device, kernel);
    std::vector<std::int64_t> dims;
    for (std::int64_t d : {32, 64, 64, 96, 128, 128, 256}) {
        Workload w;
        w.d = d;
        if (rung.refuse(sizes_of(w), type, device->chip).empty()) dims.push_back(d);
    }
    constexpr std::array<std::pair<int, int>, 3> heads{{{6, 6}, {6, 2}, {6, 1}}};
    constexpr std::array<Layout, 4> layouts{Layout::bhsd, Layout::bshd, Layout::packed, Layout::padded};
    std::vector<KernelCase> cases;
    for (const auto& [N_q, N_kv] : shapes(most_scores))
        for (int draw = 0; draw < draws; ++draw)
            for (bool causal : {false, true}) {
                KernelCase c{kernel, {}, one_of(layouts)};
                c.w.direction = rung.direction, c.w.dtype = type;
                c.w.N_q = N_q, c.w.N_kv = N_kv, c.w.d = one_of(dims), c.w.causal = causal;
                std::tie(c.w.heads, c.w.kv_heads) = one_of(heads);
                c.w.batch = random() % 3 == 0 ? 3 : 1;
                // Large ones with few heads: each one costs as much as all small ones together.
                if (N_q * N_kv > 20000) c.w.batch = 1, c.w.kv_heads = 1, c.w.heads = random() % 2 ? 2 : 1;
                if (random() % 3 == 0)
                    c.w.window = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(N_kv + 1));
                c.copies = (draw + causal) % 2 ? gpu::emulator::Options::Copies::early
                                               : gpu::emulator::Options::Copies::late;
                c.seed = random() % 1000;
                cases.push_back(c);
            }
    return cases;
}

}  // namespace tilewalk
