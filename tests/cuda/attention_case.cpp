#include "tests/cuda/attention_case.h"

#include "core/base/float16.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace tilewalk::test {

namespace {

namespace emu = gpu::emulator;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int row_gap = 8, head_gap = 24;  ///< elements of NaN after a row, after a head

int size_of(DType type) { return type == DType::f32 ? 4 : 2; }

std::uint32_t bits_as(DType type, double x) {
    const auto f = static_cast<float>(x);
    if (type == DType::f16) return emu::from_float<emu::f16>(f).bits;
    if (type == DType::bf16) return emu::from_float<emu::bf16>(f).bits;
    return emu::bits_of(f);
}
double value_of(DType type, std::uint32_t bits) {
    if (type == DType::f16) return emu::to_float(emu::f16{static_cast<std::uint16_t>(bits)});
    if (type == DType::bf16) return emu::to_float(emu::bf16{static_cast<std::uint16_t>(bits)});
    return emu::float_of(bits);
}

Numbers random_numbers(DType type, std::int64_t count, double factor, std::mt19937& random) {
    std::normal_distribution<double> normal;
    Numbers numbers(static_cast<std::size_t>(count));
    for (double& x : numbers) x = rounded_to(type, factor * normal(random));
    return numbers;
}

std::string number(int n) { return n == gpu::Arguments::unlimited ? "all" : std::to_string(n); }

}  // namespace

double rounded_to(DType type, double x) { return value_of(type, bits_as(type, x)); }

std::string text(const Shape& s) {
    const char* const types[] = {"f32", "f16", "bf16"};
    return std::string(types[static_cast<int>(s.type)]) + ", batch " + std::to_string(s.batch) + ", heads " +
           std::to_string(s.heads) + "/" + std::to_string(s.kv_heads) + ", " + std::to_string(s.N_q) + " × " +
           std::to_string(s.N_kv) + ", d " + std::to_string(s.d) + ", before " + number(s.before) +
           ", after " + number(s.after);
}

AttentionCase::AttentionCase(gpu::Device& on, const Shape& with, unsigned seed) : device(on), shape(with) {
    std::mt19937 random(seed);
    const std::int64_t q_size = std::int64_t(shape.batch) * shape.heads * shape.N_q * shape.d;
    const std::int64_t kv_size = std::int64_t(shape.batch) * shape.kv_heads * shape.N_kv * shape.d;
    Q = random_numbers(shape.type, q_size, shape.large, random);
    K = random_numbers(shape.type, kv_size, 1, random);
    V = random_numbers(shape.type, kv_size, 1, random);

    gpu::Arguments& a = arguments;
    a.batch = shape.batch, a.heads = shape.heads, a.kv_heads = shape.kv_heads;
    a.N_q = shape.N_q, a.N_kv = shape.N_kv, a.d = shape.d;
    a.before = shape.before, a.after = shape.after;
    a.scale = shape.scale != 0 ? shape.scale : 1 / std::sqrt(static_cast<float>(shape.d));
    a.Q = upload(Q, shape.heads, shape.N_q);
    a.K = upload(K, shape.kv_heads, shape.N_kv);
    a.V = upload(V, shape.kv_heads, shape.N_kv);
    a.O = upload({}, shape.heads, shape.N_q);
    a.L = static_cast<float*>(device.allocate(4 * a.q_rows()));
    taken.push_back(a.L);
}

AttentionCase::~AttentionCase() {
    for (void* const memory : taken) device.release(memory);
}

std::int64_t AttentionCase::bytes_of(const gpu::Tensor& t, int heads, int rows) const {
    return size_of(shape.type) *
           ((shape.batch - 1) * t.batch + (heads - 1) * t.head + (rows - 1) * t.row + shape.d);
}

gpu::Tensor AttentionCase::upload(const Numbers& numbers, int heads, int rows) {
    gpu::Tensor t;
    t.row = (shape.d + 7) / 8 * 8 + row_gap;
    t.head = rows * t.row + head_gap;
    t.batch = heads * t.head + head_gap;
    const std::int64_t bytes = bytes_of(t, heads, rows);
    taken.push_back(t.data = device.allocate(bytes));
    std::vector<unsigned char> memory(static_cast<std::size_t>(bytes), 0xFF);  // NaN
    const int size = size_of(shape.type);
    for (std::size_t n = 0; n < numbers.size(); ++n) {
        const auto line = static_cast<std::int64_t>(n) / shape.d, c = static_cast<std::int64_t>(n) % shape.d;
        const std::int64_t at =
            line / rows / heads * t.batch + line / rows % heads * t.head + line % rows * t.row + c;
        const std::uint32_t bits = bits_as(shape.type, numbers[n]);
        std::memcpy(&memory[static_cast<std::size_t>(at * size)], &bits, static_cast<std::size_t>(size));
    }
    device.upload(t.data, memory.data(), bytes);
    return t;
}

Numbers AttentionCase::download(const gpu::Tensor& t, int heads, int rows) {
    const std::int64_t bytes = bytes_of(t, heads, rows);
    std::vector<unsigned char> memory(static_cast<std::size_t>(bytes));
    device.download(memory.data(), t.data, bytes);
    Numbers numbers;
    const int size = size_of(shape.type);
    for (std::int64_t b = 0; b < shape.batch; ++b)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t i = 0; i < rows; ++i)
                for (std::int64_t c = 0; c < shape.d; ++c) {
                    const std::int64_t at = b * t.batch + h * t.head + i * t.row + c;
                    std::uint32_t bits = 0;
                    std::memcpy(&bits, &memory[static_cast<std::size_t>(at * size)],
                                static_cast<std::size_t>(size));
                    numbers.push_back(value_of(shape.type, bits));
                }
    return numbers;
}

Outputs AttentionCase::run(const gpu::Rung& rung) {
    gpu::Arguments a = arguments;
    device.fill(a.O.data, 0xFF, bytes_of(a.O, shape.heads, shape.N_q));
    device.fill(a.L, 0xFF, 4 * a.q_rows());
    const std::int64_t workspace = rung.workspace(a, shape.type);
    if (workspace > 0) {
        a.workspace = device.allocate(workspace);
        device.fill(a.workspace, 0xFF, workspace);
    }
    device.run(rung, a, shape.type);
    device.release(a.workspace);

    Outputs outputs{download(a.O, shape.heads, shape.N_q), {}};
    std::vector<float> L(static_cast<std::size_t>(a.q_rows()));
    device.download(L.data(), a.L, 4 * a.q_rows());
    outputs.L.assign(L.begin(), L.end());
    return outputs;
}

Numbers AttentionCase::scores(int head, int i) const {
    const int batch = head / shape.heads, kv = head % shape.heads / (shape.heads / shape.kv_heads);
    const double* const q = &Q[(static_cast<std::size_t>(head) * shape.N_q + i) * shape.d];
    const double* const k = &K[static_cast<std::size_t>(batch * shape.kv_heads + kv) * shape.N_kv * shape.d];
    Numbers S(static_cast<std::size_t>(shape.N_kv), -infinity);
    const std::int64_t center = i + shape.N_kv - shape.N_q;
    for (std::int64_t key = 0; key < shape.N_kv; ++key) {
        if (key < center - shape.before || key > center + shape.after) continue;
        double dot = 0;
        for (int c = 0; c < shape.d; ++c) dot += q[c] * k[key * shape.d + c];
        S[static_cast<std::size_t>(key)] = dot;
    }
    return S;
}

Outputs AttentionCase::reference(bool rounded) const {
    const auto as_held = [&](double x) { return rounded ? rounded_to(shape.type, x) : x; };
    Outputs out;
    for (int head = 0; head < shape.batch * shape.heads; ++head) {
        const int batch = head / shape.heads, kv = head % shape.heads / (shape.heads / shape.kv_heads);
        const double* const v =
            &V[static_cast<std::size_t>(batch * shape.kv_heads + kv) * shape.N_kv * shape.d];
        for (int i = 0; i < shape.N_q; ++i) {
            Numbers S = scores(head, i);
            double m = -infinity, l = 0;
            for (double& s : S) m = std::max(m, s = as_held(s * arguments.scale));
            for (double& s : S) l += s = s == -infinity ? 0 : std::exp(s - m);
            out.L.push_back(l == 0 ? -infinity : m + std::log(l));
            for (int c = 0; c < shape.d; ++c) {
                double sum = 0;
                for (std::size_t key = 0; key < S.size(); ++key)
                    if (S[key] != 0) sum += as_held(S[key] / l) * v[key * shape.d + c];
                out.O.push_back(as_held(sum));
            }
        }
    }
    return out;
}

double distance(const Numbers& a, const Numbers& b) {
    if (a.size() != b.size()) return infinity;
    double largest = 0;
    for (std::size_t n = 0; n < a.size(); ++n) {
        if (a[n] == b[n]) continue;  // also −∞
        const double difference = std::abs(a[n] - b[n]);
        if (!(difference < infinity)) return infinity;
        largest = std::max(largest, difference);
    }
    return largest;
}

const gpu::Rung& rung_of(const gpu::Device& device, const std::string& name) {
    for (const gpu::Rung* const rung : device.ladder())
        if (rung->name == name) return *rung;
    FAIL("no such rung: " << name);
    return *device.ladder().front();
}

}  // namespace tilewalk::test
