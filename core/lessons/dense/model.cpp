#include "core/lessons/dense/model.h"

namespace tilewalk {

namespace {

// Sizes in elements; the element size comes in at the end.
struct Sizes {
    std::int64_t queries, keys, pairs;  // N × d, N_kv × d, N × N_kv
    std::int64_t x, x_kv;               // inputs of queries and of keys
    std::int64_t w, w_kv;               // weights of queries and of keys
};

Sizes sizes(const Problem& p) {
    const std::int64_t N = p.N(), M = p.N_kv(), d = p.d();
    // Without a projection each position has an input of its own, so the identity has as many columns as
    // rows.
    const std::int64_t model = p.projection ? p.projection->X.cols() : N,
                       model_kv = p.projection ? p.projection->X.cols() : M;
    return {N * d, M * d, N * M, N * model, M * model_kv, model * d, model_kv * d};
}

TrafficModel add(const TrafficModel& a, const TrafficModel& b) {
    return {a.hbm_read + b.hbm_read, a.hbm_write + b.hbm_write, 0};
}

TrafficModel in_bytes(const Problem& p, std::int64_t read, std::int64_t written) {
    return {read * p.element_bytes, written * p.element_bytes, 0};
}

// Q = X W_Q, K = X W_K, V = X W_V; attention; the loss from dO and O
TrafficModel forward_pass(const Problem& p, const Sizes& s) {
    const TrafficModel project = in_bytes(p, s.x + s.w + 2 * (s.x_kv + s.w_kv), s.queries + 2 * s.keys);
    return add(add(project, standard_forward_model(p)), in_bytes(p, 2 * s.queries, 0));
}

}  // namespace

TrafficModel backward_model(const Problem& p) {
    const Sizes s = sizes(p);
    const std::int64_t dV = s.pairs + s.queries, dP = s.queries + s.keys, dS = 2 * s.pairs,
                       dQ = s.pairs + s.keys, dK = s.pairs + s.queries;
    return in_bytes(p, dV + dP + dS + dQ + dK, s.keys + s.pairs + s.pairs + s.queries + s.keys);
}

TrafficModel training_step_model(const Problem& p) {
    const Sizes s = sizes(p);
    const std::int64_t w = s.w + 2 * s.w_kv;
    const TrafficModel gradients = in_bytes(p, s.x + s.queries + 2 * (s.x_kv + s.keys), w),
                       update = in_bytes(p, 2 * w, w), pass = forward_pass(p, s);
    return add(add(add(pass, backward_model(p)), add(gradients, update)), pass);
}

}  // namespace tilewalk
