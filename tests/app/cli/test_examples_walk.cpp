// Every example that the program brings along walks to the output of dense attention, computed here in plain
// loops.
#include "app/io/examples.h"
#include "core/lessons/table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tilewalk;

namespace {

bool sees(const Problem& p, int query, int key) {
    const int own = query + p.N_kv() - p.N();
    const bool late = p.causal && key > own;
    const bool far = p.window && (key < own - *p.window || (!p.causal && key > own + *p.window));
    return !late && !far;
}

std::vector<long double> dense_row(const Problem& p, int query) {
    std::vector<long double> out(static_cast<std::size_t>(p.d()), 0.0L), scores;
    long double most = -INFINITY, sum = 0;
    for (int key = 0; key < p.N_kv(); ++key) {
        long double s = 0;
        for (int c = 0; c < p.d(); ++c) s += static_cast<long double>(p.Q(query, c)) * p.K(key, c);
        scores.push_back(sees(p, query, key) ? s * p.softmax_scale() : -INFINITY);
        most = std::max(most, scores.back());
    }
    for (int key = 0; key < p.N_kv() && std::isfinite(most); ++key) {
        const long double weight = std::exp(scores[static_cast<std::size_t>(key)] - most);
        sum += weight;
        for (int c = 0; c < p.d(); ++c) out[static_cast<std::size_t>(c)] += weight * p.V(key, c);
    }
    for (long double& v : out) v = sum > 0 ? v / sum : 0;
    return out;
}

}  // namespace

TEST_CASE("every example walks to the output of dense attention") {
    REQUIRE(examples().size() == 11);
    for (const Problem& p : examples()) {
        const auto trace = build_trace(default_lesson(), p);
        REQUIRE_MESSAGE(trace, p.name);
        const Matrix O = (*trace)->result(Slot::O);
        for (int r = 0; r < p.N(); ++r) {
            const std::vector<long double> wanted = dense_row(p, r);
            for (int c = 0; c < p.d(); ++c) {
                const double w = static_cast<double>(wanted[static_cast<std::size_t>(c)]);
                CHECK_MESSAGE(std::abs(O(r, c) - w) <= 1e-12 * std::max(1.0, std::abs(w)), p.name, " O[", r,
                              ",", c, "]");
            }
        }
    }
}
