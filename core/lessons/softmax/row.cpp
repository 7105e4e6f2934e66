#include "core/lessons/softmax/row.h"

#include "core/base/exactly.h"
#include "core/walk/explain_view.h"

#include <algorithm>

namespace tilewalk {

namespace {

constexpr int most_terms = 5, terms_after_a_head = 3;

// Terms before this one are added up in one number.
int head_end(int first, int last) { return last - first > most_terms ? last - terms_after_a_head : first; }

}  // namespace

SoftmaxRow::SoftmaxRow(const Problem& p, int col) : x(softmax_scores(p)), v(p.V.col(col)) {}

double SoftmaxRow::maximum(int first, int last) const {
    double m = minus_infinity;
    for (int j = first; j < last; ++j) m = std::max(m, x(0, j));
    return m;
}

double SoftmaxRow::weight(double from, double to) {
    return from == minus_infinity ? 0 : exp_exactly(from - to);
}

double SoftmaxRow::sum(int first, int last, double m) const {
    double total = 0;
    for (int j = first; j < last; ++j) total += weight_of(j, m);
    return total;
}

double SoftmaxRow::output(int first, int last, double m, double d) const {
    double total = 0;
    for (int j = first; j < last; ++j) total += weight_of(j, m) * value(j);
    return d == 0 ? 0 : total / d;
}

// Nothing seen: 0 stands in for m = −∞, as in the lessons.
Expr SoftmaxRow::exp_of(double from, double to, Role role) const {
    return exponential(difference(num(from, role), num(to == minus_infinity ? 0 : to, Role::m)));
}

Expr SoftmaxRow::weights(int first, int last, double m) const {
    Numbers terms;
    const int head = head_end(first, last);
    if (head > first) terms.push_back(num(sum(first, head, m), Role::l));
    for (int j = head; j < last; ++j) terms.push_back(exp_of(x(0, j), m, Role::S));
    return terms.empty() ? num(0, Role::l) : tilewalk::sum(std::move(terms));
}

Expr SoftmaxRow::values(int first, int last, double m, double d) const {
    Numbers terms;
    const int head = head_end(first, last);
    if (head > first) terms.push_back(num(output(first, head, m, d), Role::O));
    for (int j = head; j < last; ++j)
        terms.push_back(
            product({quotient(exp_of(x(0, j), m, Role::S), num(d, Role::l)), num(value(j), Role::V)}));
    return terms.empty() ? num(0, Role::O) : tilewalk::sum(std::move(terms));
}

Argument argument_line(std::string title, Line formula, Line symbol, const Expr* numbers, double value,
                       double other, std::string why) {
    Argument out{std::move(title), std::move(formula), {}, {}, std::move(why), value, other};
    if (numbers) out.numbers = write(*numbers, value);
    out.result = equals(std::move(symbol), value);
    set_sign(out.numbers, out.result);
    return out;
}

Line component(Line symbol, const Problem& p, int col) {
    if (p.d() > 1) symbol.push_back(word("[" + str(col) + "]"));
    return symbol;
}

}  // namespace tilewalk
