#include "core/problem/logits.h"

#include "core/base/exactly.h"
#include "core/base/numbers.h"
#include "core/base/words.h"

#include <cmath>
#include <cstdlib>

namespace tilewalk {

namespace {

constexpr LogitChange changes[] = {
    {&Logits::softcap, "softcap", "Softcap", "a softcap", "S becomes cap · tanh(S ÷ cap)", 2},
    {&Logits::alibi, "alibi", "ALiBi slope", "an ALiBi slope", "S loses slope · distance", 0.5},
    {&Logits::sink, "sink", "Sink", "a sink", "one more logit for every query, without a value", 1},
};
// A member without a row here could be neither saved nor shown.
static_assert(std::size(changes) * sizeof(std::optional<double>) == sizeof(Logits));

constexpr double too_large = 1e300;

}  // namespace

std::span<const LogitChange> logit_changes() { return changes; }

double capped(const Problem& p, double score) {
    const auto& cap = p.logits.softcap;
    return cap ? *cap * tanh_exactly(score / *cap) : score;
}

Matrix capped(const Problem& p, const Matrix& S) {
    return S.unaryExpr([&](double score) { return capped(p, score); });
}

Matrix cap_slope(const Problem& p, const Matrix& S) {
    const double cap = p.logits.softcap.value_or(infinity);
    return S.unaryExpr([=](double score) { return 1 - (score / cap) * (score / cap); });
}

int distance(const Problem& p, int r, int c) {
    const int rows = p.rows_of_head();
    return std::abs(r % rows + p.N_kv() - rows - c);
}

Matrix biased(const Problem& p, const Matrix& S, int row, int col) {
    const double slope = p.logits.alibi.value_or(0);
    Matrix out = S;
    for (int r = 0; r < S.rows(); ++r)
        for (int c = 0; c < S.cols(); ++c) out(r, c) -= slope * distance(p, row + r, col + c);
    return out;
}

double score_before_mask(const Problem& p, int r, int c) {
    const double score = capped(p, p.softmax_scale() * p.Q.row(r).dot(p.K.row(c)));
    return p.logits.alibi ? score - *p.logits.alibi * distance(p, r, c) : score;
}

std::optional<std::string> kernels_lack(const Problem& p) {
    std::vector<std::string> names;
    for (const LogitChange& change : changes)
        if (p.logits.*change.value) names.emplace_back(change.phrase);
    if (names.empty()) return {};
    return "The problem has " + listed(names, "and") +
           ", which the kernels of this program do not have; leave that out to run one on it.";
}

std::optional<std::string> check_logits(const Problem& p) {
    const auto& [softcap, alibi, sink] = p.logits;
    if (softcap && !(*softcap > 0 && *softcap < infinity))
        return "The softcap is " + format_short(*softcap) +
               "; it must be a finite number above 0, or be left out.";
    if (alibi && !(*alibi >= 0 && *alibi < infinity))
        return "The ALiBi slope is " + format_short(*alibi) +
               "; it must be a finite number of 0 or more: a distance is taken off the score.";
    if (alibi && !(*alibi * (p.N() + p.N_kv()) < too_large))
        return "The ALiBi slope is " + format_short(*alibi) + "; times the " +
               std::to_string(p.N() + p.N_kv()) + " queries and keys it must stay below 10³⁰⁰.";
    if (sink && !(std::abs(*sink) < too_large))
        return "The sink is " + format_short(*sink) + "; it must be a number between −10³⁰⁰ and 10³⁰⁰.";
    return {};
}

}  // namespace tilewalk
