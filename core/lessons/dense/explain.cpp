#include "core/lessons/dense/explain_parts.h"

#include "core/lessons/dense/steps.h"
#include "core/lessons/shared/explain_logits.h"
#include "core/problem/mask.h"
#include "core/walk/lesson.h"

#include <algorithm>

namespace tilewalk {

namespace dense {

int keys_seen(const View& v) {
    const KeyRange keys = visible_keys(v.problem, v.row);
    return keys.last - keys.first + 1;
}

bool reads(const View& v, Slot slot) {
    return std::ranges::any_of(v.trace.reads(v.k), [&](const Access& a) { return a.slot == slot; });
}

Slot read_one_of(const View& v, Slot first, Slot second) { return reads(v, first) ? first : second; }

Line result_line(const View& v, Slot slot, double value) {
    return join({slot == Slot::dS ? score_gradient(v.trace, v.k) : sym(slot), index_text(v) + " = ",
                 Line{strong_number(text_alone(v.trace.digits(slot), value))}});
}

void set_sum(const View& v, const Expr& sum, double scale) {
    if (static_cast<int>(sum.parts.size()) > most_terms) return;
    v.out.numbers = write(scale == 1.0 ? sum : product({num(scale), sum}), v.result());
}

namespace {

// `at` is the position in the sentence that the words label.
std::string name_of(const View& v, const std::string& word, const char* other, int n, int at) {
    if (word.empty()) return other + str(n);
    const bool twice = std::ranges::count(v.problem.tokens, word) > 1;
    return "“" + word + "”" + (twice ? " (" + str(at) + ")" : "");
}

}  // namespace

std::string query_name(const View& v, int r) {
    const int rows = v.problem.rows_of_head(), at = r % rows;
    return name_of(v, v.problem.query_token(r), "query ", at, at + std::max(0, v.problem.N_kv() - rows)) +
           of_head(v.problem, r);
}

std::string key_name(const View& v, int c) {
    return name_of(v, v.problem.key_token(c), "key ", c,
                   c + std::max(0, v.problem.rows_of_head() - v.problem.N_kv()));
}

std::string percent(double part) {
    const double p = 100 * part;
    if (p == 0 || p == 100) return p == 0 ? "0\u00A0%" : "100\u00A0%";
    if (p < .1) return "less than 0.1\u00A0%";
    if (p > 99.9) return "more than 99.9\u00A0%";
    return format_fixed(p, p < 9.95 || p >= 99.5 ? 1 : 0) + "\u00A0%";
}

std::vector<int> largest(const Numbers& terms) {
    std::vector<int> out;
    double most = minus_infinity;
    for (std::size_t n = 0; n < terms.size(); ++n) {
        const double value = evaluate(terms[n]);
        if (value > most) most = value, out.clear();
        if (value == most) out.push_back(static_cast<int>(n));
    }
    return out;
}

std::string names(const View& v, const std::vector<int>& which, std::string (*name)(const View&, int)) {
    if (which.size() == 1) return name(v, which[0]);
    // Words, and queries of several heads, cannot be told by a number alone.
    const bool words = !v.problem.tokens.empty() || (name == query_name && v.problem.packed > 1);
    const std::string first = name(v, which[0]);
    const std::string plural = first.starts_with("query") ? "queries"
                               : first.starts_with("key") ? "keys"
                                                          : "tokens";
    if (which.size() > 3) return str(static_cast<int>(which.size())) + " " + plural;
    std::vector<std::string> list;
    for (int n : which) list.push_back(words ? name(v, n) : str(n));
    return (words ? "" : plural + " ") + listed(list, "and");
}

}  // namespace dense

static LogitWords logit_words(const View& v) {
    return {dense::query_name(v, v.row), dense::key_name(v, v.col),
            dense::read_one_of(v, Slot::S, Slot::S_hbm)};
}

void explain_dense(const View& v) {
    v.out.place = v.trace.lesson().lane(v.problem, v.step.phase);
    if (v.step.writes > 0) v.out.result = dense::result_line(v, v.out.target.slot, v.result());
    switch (v.step.op) {
    case Op::load: return dense::load(v);
    case Op::store: return dense::store(v);
    case Op::scores: return dense::scores(v);
    case Op::scale: return dense::scale(v);
    case Op::softcap: return explain_softcap(v, logit_words(v));
    case Op::bias: return explain_bias(v, logit_words(v));
    case Op::mask: return dense::mask(v);
    case Op::row_max: return dense::row_max(v);
    case Op::exponentials: return dense::exponentials(v);
    case Op::row_sum: return dense::row_sum(v);
    case Op::divide: return dense::divide(v);
    case Op::output: return dense::output(v);
    case Op::dv: return dense::dv(v);
    case Op::dp: return dense::dp(v);
    case Op::row_dot: return dense::row_dot(v);
    case Op::sink_gradient: return dense::sink_gradient(v);
    case Op::ds: return dense::ds(v);
    case Op::cap_gradient: return explain_cap_gradient(v, logit_words(v));
    case Op::dq: return dense::dq(v);
    case Op::dk: return dense::dk(v);
    case Op::project: return dense::project(v);
    case Op::loss: return dense::loss(v);
    case Op::weight_gradient: return dense::weight_gradient(v);
    case Op::update: return dense::update(v);
    default: return;
    }
}

}  // namespace tilewalk
