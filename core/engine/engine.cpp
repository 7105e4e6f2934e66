#include "core/engine/engine.h"

#include "core/base/float16.h"
#include "core/base/words.h"

#include <algorithm>
#include <random>

namespace tilewalk {

const char* name_of(Direction direction) { return direction == Direction::forward ? "forward" : "backward"; }
const char* name_of(DType type) { return type == DType::f32 ? "f32" : type == DType::f16 ? "f16" : "bf16"; }
std::int64_t bytes_of(DType type) { return type == DType::f32 ? 4 : 2; }
float rounded(float x, DType type) {
    using namespace gpu::emulator;
    if (type == DType::f16) return to_float(from_float<f16>(x));
    if (type == DType::bf16) return to_float(from_float<bf16>(x));
    return x;
}

// The mask is aligned bottom-right: query i stands at position i + N_kv − N_q among the keys.
std::int64_t Workload::first_key(std::int64_t i) const {
    return window ? std::max<std::int64_t>(0, i + N_kv - N_q - *window) : 0;
}
std::int64_t Workload::last_key(std::int64_t i) const {
    const std::int64_t at = i + N_kv - N_q;
    if (causal) return std::min(N_kv - 1, at);
    return window ? std::min(N_kv - 1, at + *window) : N_kv - 1;
}

std::string queries_text(const Workload& w) { return str(w.N_q) + (w.N_q == 1 ? " query" : " queries"); }

std::string describe(const Workload& w) {
    std::string text = std::string(name_of(w.direction)) + ", " + name_of(w.dtype) + ", batch " +
                       str(w.batch) + ", " + str(w.heads) + (w.heads == 1 ? " head" : " heads");
    if (w.kv_heads != w.heads) text += " (" + str(w.kv_heads) + " of K and V)";
    text += ", d = " + str(w.d);
    if (w.causal) text += ", causal";
    if (w.window) text += ", window " + str(*w.window);
    if (w.N_q != w.N_kv) text += ", " + queries_text(w);
    return text;
}

namespace {

constexpr std::int64_t largest_elements = std::int64_t{1} << 40, largest_scores = std::int64_t{1} << 52;

struct Size {
    const char* name;
    std::int64_t value, most;
};

// Σ over the queries i of i + shift, cut to 0 … N_kv.
std::int64_t sum_of_cut(const Workload& w, std::int64_t shift) {
    const std::int64_t from = std::clamp<std::int64_t>(-shift, 0, w.N_q),
                       to = std::clamp<std::int64_t>(w.N_kv - shift, from, w.N_q);
    const std::int64_t rising = (to - from) * (from + to - 1) / 2 + (to - from) * shift;
    return rising + (w.N_q - to) * w.N_kv;
}

}  // namespace

std::optional<std::string> refuse(const Workload& w) {
    const Size sizes[] = {{"batch", w.batch, 1 << 16},
                          {"heads", w.heads, 1 << 16},
                          {"kv-heads", w.kv_heads, 1 << 16},
                          {"the number of queries", w.N_q, 1 << 24},
                          {"the number of keys", w.N_kv, 1 << 24},
                          {"head-dim", w.d, 1024}};
    for (const Size& size : sizes)
        if (size.value < 1 || size.value > size.most)
            return std::string(size.name) + " is " + str(size.value) + ", expected 1 to " + str(size.most) +
                   ".";
    if (w.heads % w.kv_heads != 0)
        return "kv-heads is " + str(w.kv_heads) + ", expected a divisor of heads (" + str(w.heads) + ").";
    if (w.window && *w.window < 0) return "window is " + str(*w.window) + ", expected 0 or more.";
    if (w.q_rows() > largest_elements / w.d || w.kv_rows() > largest_elements / w.d)
        return "Q, K, V of this size have more than 2⁴⁰ elements.";
    if (w.q_rows() > largest_scores / w.N_kv) return "S and P of this size have more than 2⁵² elements each.";
    return std::nullopt;
}

std::int64_t visible_scores(const Workload& w) {
    // Row i sees the keys from g(i) to before f(i), both the position of the query moved and cut to 0 … N_kv.
    const std::int64_t position = w.N_kv - w.N_q;
    std::int64_t one_head = w.N_q * w.N_kv;
    if (w.causal || w.window) one_head = sum_of_cut(w, w.causal ? position + 1 : position + 1 + *w.window);
    if (w.window) one_head -= sum_of_cut(w, position - *w.window);
    return w.batch * w.heads * one_head;
}

double flops(const Workload& w) {
    const double each = w.direction == Direction::forward ? 4 : 10;
    return each * static_cast<double>(w.d) * static_cast<double>(visible_scores(w));
}

std::int64_t tensor_bytes(const Workload& w) {
    const std::int64_t element = bytes_of(w.dtype);
    const std::int64_t q = w.q_rows() * w.d * element, kv = w.kv_rows() * w.d * element;
    const std::int64_t forward = 2 * q + 2 * kv + 4 * w.q_rows();  // Q, O; K, V; L
    return w.direction == Direction::forward ? forward : forward + 2 * q + 2 * kv;
}

std::int64_t kv_bytes(const Workload& w) { return 2 * w.kv_rows() * w.d * bytes_of(w.dtype); }

Tensors make_inputs(const Workload& w, std::uint64_t seed, float spread, std::stop_token stop) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& tensor, std::int64_t rows, float factor) {
        tensor.resize(static_cast<std::size_t>(rows * w.d));
        for (std::size_t n = 0; n < tensor.size(); ++n) {
            if (n % (1 << 16) == 0 && stop.stop_requested()) return;
            tensor[n] = rounded(factor * normal(engine), w.dtype);
        }
    };
    Tensors t;
    fill(t.Q, w.q_rows(), spread);
    fill(t.K, w.kv_rows(), spread);
    fill(t.V, w.kv_rows(), 1);
    if (w.direction == Direction::backward) fill(t.dO, w.q_rows(), 1);
    return t;
}

}  // namespace tilewalk
