// What common mistakes make of the numbers of a question.
#include "core/class/questions_parts.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk::quiz {

namespace {

double total(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double dot(const Operand& a, const Operand& b) {
    return a.values.size() == b.values.size()
               ? std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0.0)
               : std::nan("");
}

// The operands by their place in the formula, and what their lesson calls them.
struct Mistakes {
    const Asked& a;
    int row;  // of the cell that is asked about
    const std::vector<Operand>& all;
    std::vector<WrongAnswer> out = {};

    const Operand& at(std::size_t n) const { return all.at(n); }
    double one(std::size_t n) const { return at(n).one(); }
    std::string name(std::size_t n) const { return letter(a.trace, at(n).slot); }
    double root() const { return std::sqrt(a.problem.d()); }
    void add(double value, std::string cause) { out.push_back({value, std::move(cause)}); }

    void scores();
    void largest();
    void new_maximum();
    void correction();
    void weight();
    void old_maximum(double score, double now);
    void row_sum();
    void output();
    void tiled_output();
    void one_row_output();
    void divide();
    void log_sum();
    void score_gradient();
    void gradient();
    void update();
};

void Mistakes::scores() {
    const double sum = all.size() == 2 ? dot(at(0), at(1)) : one(0);
    if (plain(a.e.formula).find("scale") == std::string::npos) {
        add(sum / root(), "No scale belongs to this step: the sum is not divided by √d.");
        return;
    }
    add(sum, "The scale is missing: the sum of the products is multiplied by it.");
    if (a.problem.scale.kind == Scale::Kind::sqrt) add(sum / a.problem.d(), "The scale is 1/√d, not 1/d.");
}

void Mistakes::largest() {
    const auto [least, most] = std::ranges::minmax_element(at(0).values);
    add(*least,
        -*least > std::abs(*most)
            ? "The sign counts: a negative number is smaller than any positive one, whatever its size."
            : "This is the smallest of them; a maximum is the largest.");
}

void Mistakes::new_maximum() {
    if (one(0) > one(1))
        add(one(1), "This is " + name(1) +
                        " alone: the row has seen a larger score before, and a maximum "
                        "never falls.");
    else
        add(one(0), "This is the maximum of before: " + name(1) + " is larger, so the maximum rises.");
}

void Mistakes::correction() {
    const double old = one(0), now = at(0).now.at(0);
    add(std::exp(now - old), "The sign is turned round: it is the old maximum minus the new one, so α is "
                             "never above 1.");
    add(old - now, "This is the exponent; α is exp of it.");
    add(1, "α is 1 only where the maximum stays; here it rises.");
}

// Measured from the maximum that was there before this tile or element.
void Mistakes::old_maximum(double score, double now) {
    for (int k = a.k - 1; k >= 0; --k) {
        const Step& step = a.trace.step(k);
        if (step.op != Op::new_max || step.i != a.step.i || step.j != a.step.j || step.phase != a.step.phase)
            continue;
        const Value& before = a.trace.value(a.trace.reads(k)[0].value);
        if (!before.region.contains(row, 0)) return;
        const double old = value_at(before, {Slot::m, row, 0});
        if (old != now)
            add(std::exp(score - old),
                "This is measured from the old maximum; it has risen, and every weight "
                "is measured from the new one.");
        return;
    }
}

void Mistakes::weight() {
    const double score = one(0);
    if (all.size() == 1) {
        add(score, "This is the exponent; the weight is exp of it.");
        add(std::exp(-score), "The sign is turned round: the score itself is the exponent.");
        return;
    }
    const double from = one(1);
    add(std::exp(score), name(1) + " is missing: it is subtracted from the score before exp.");
    add(std::exp(from - score), "The sign is turned round: it is the score minus " + name(1) + ".");
    add(score - from, "This is the exponent; the weight is exp of it.");
    if (a.step.op == Op::exponentials) old_maximum(score, from);
}

void Mistakes::row_sum() {
    if (all.size() == 2)
        add(one(1), "The sum so far, " + name(0) + ", is missing: this is the new weight alone.");
    if (all.size() != 3) return;
    const double alpha = one(0), old = one(1), added = total(at(2).values);
    add(old + added, "α is missing: the old " + name(1) +
                         " was measured from the old maximum and is "
                         "multiplied by α first.");
    add(added, "The old sum is missing: α times the old " + name(1) + " is added to the new weights.");
    add(alpha * (old + added), "α multiplies only the old sum; the new weights are measured from the new "
                               "maximum already.");
}

void Mistakes::tiled_output() {
    const bool divides = all.size() == 5;  // in every tile, as the first version does
    const double alpha = one(0), l = divides ? one(1) : 1, old = one(divides ? 2 : 1),
                 added = dot(at(divides ? 3 : 2), at(divides ? 4 : 3)), now = divides ? at(1).now.at(0) : 1;
    add((l * old + added) / now, "α is missing: the old output was measured from the old maximum and is "
                                 "multiplied by α first.");
    add(added / now, "The old output is missing: it is corrected and kept, and the new part is added.");
    add((alpha * (l * old + added)) / now,
        "α multiplies only the old output; the new weights are measured from the new maximum already.");
    if (divides) {
        add(alpha * l * old + added, "The division by the new ℓ is missing.");
        add((alpha * old + added) / now, "The old output was divided by the old ℓ: it is multiplied by it "
                                         "before the new part is added.");
        return;
    }
    const Held held = holding(a.trace, {Slot::l, row, 0}, a.k);
    if (!held.value) return;
    const double sum = value_at(*held.value, {Slot::l, row, 0});
    add((alpha * old + added) / sum,
        "This is divided by ℓ too early: the division comes once, after the last "
        "tile.");
}

// o′, V and then a weight that is finished; or α, and what it is divided by.
void Mistakes::one_row_output() {
    const double old = one(0), v = one(1);
    if (all.size() == 3) add(one(2) * v, "The output so far is missing: the new part is added to it.");
    if (all.size() == 4) {
        add(old + one(3) * v, "α is missing: the output so far is multiplied by it first.");
        add(one(3) * v, "The output so far is missing: it is corrected and kept.");
    }
    if (all.size() != 5) return;
    const double sum = one(3), now = at(3).now.at(0), p = one(4);
    add(old * sum / now + p / now * v, "α is missing: the output so far is multiplied by it as well.");
    add(p / now * v, "The output so far is missing: it is corrected and kept.");
    add(old * one(2) + p / now * v,
        "The output so far is divided by the old sum: it is multiplied by the old "
        "sum and divided by the new one.");
}

void Mistakes::output() {
    if (all.size() < 3) return;
    a.trace.lesson().one_row ? one_row_output() : tiled_output();
}

void Mistakes::divide() {
    if (a.step.op == Op::normalize || !a.trace.lesson().one_row) {
        add(one(0), "This is the number before the division by " + name(1) + ".");
        add(one(0) * one(1), "It is divided by " + name(1) + ", not multiplied.");
        return;
    }
    const bool safe = all.size() == 3;
    const double weight = std::exp(one(0) - (safe ? one(1) : 0)), sum = one(safe ? 2 : 1);
    add(weight, "The division by " + name(safe ? 2 : 1) + " is missing.");
    add(one(0) / sum, "exp is missing: the weight is divided, not the score.");
    if (safe) add(std::exp(one(0)) / sum, "The maximum is missing: it is subtracted before exp.");
}

void Mistakes::log_sum() {
    const double m = one(0), l = one(1);
    add(m + l, "The logarithm is missing: it is the logarithm of ℓ that is added.");
    add(std::log(l), "The maximum is missing: it is added to the logarithm of ℓ.");
    add(m - std::log(l), "The logarithm of ℓ is added, not subtracted.");
    add(m + std::log10(l), "The natural logarithm is meant, not that to the base 10.");
    add(m + std::log2(l), "The natural logarithm is meant, not that to the base 2.");
}

void Mistakes::score_gradient() {
    const double P = one(0), dP = one(1), D = one(2);
    add(P * (dP + D), "The sign of D: it is subtracted, because what one weight gains the others lose.");
    add(P * dP, "D is missing: it is subtracted from dP before the product with P.");
    add(dP - D, "The product with P is missing.");
}

// dQ, dK, dV: what is there already, and a sum of products.
void Mistakes::gradient() {
    const bool grows = all.size() == 3;
    const double added = dot(at(grows ? 1 : 0), at(grows ? 2 : 1)), old = grows ? one(0) : 0;
    const bool scaled = a.step.op != Op::dv;
    const double factor = scaled ? a.problem.softmax_scale() : 1;
    if (scaled)
        add(old + added, "The scale is missing: it stands in the gradient as it stands in the scores.");
    if (grows) add(factor * added, "What the tiles before have given is missing: the gradient grows.");
}

void Mistakes::update() {
    const double rate = a.problem.options.learning_rate;
    add(one(0) + rate * one(1), "The sign is turned round: a step goes against the gradient.");
    add(one(0) - one(1), "The learning rate η is missing.");
    add(one(0), "This is the number before the update.");
}

}  // namespace

std::vector<WrongAnswer> wrong_answers(const Asked& asked, int row, const std::vector<Operand>& operands) {
    if (operands.empty()) return {};
    Mistakes mistakes{asked, row, operands};
    switch (asked.step.op) {
    case Op::scores:
    case Op::scale: mistakes.scores(); break;
    case Op::row_max:
    case Op::tile_max: mistakes.largest(); break;
    case Op::new_max: mistakes.new_maximum(); break;
    case Op::correction: mistakes.correction(); break;
    case Op::exponentials:
    case Op::recompute: mistakes.weight(); break;
    case Op::row_sum: mistakes.row_sum(); break;
    case Op::output: mistakes.output(); break;
    case Op::divide:
    case Op::normalize: mistakes.divide(); break;
    case Op::store: mistakes.log_sum(); break;
    case Op::ds: mistakes.score_gradient(); break;
    case Op::dv:
    case Op::dk:
    case Op::dq: mistakes.gradient(); break;
    case Op::update: mistakes.update(); break;
    default: break;
    }
    return mistakes.out;
}

void add_wrong(Question& q, const std::vector<WrongAnswer>& all) {
    const auto near = [&](double value) {
        Question other = q;
        other.expected = value;
        return tolerance(other) + q.noise;
    };
    for (const WrongAnswer& wrong : all) {
        const auto apart = [&](double other) {
            return std::abs(wrong.value - other) > near(wrong.value) + near(other);
        };
        const bool told_apart =
            std::ranges::all_of(q.wrong, [&](const WrongAnswer& before) { return apart(before.value); });
        if (std::isfinite(wrong.value) && apart(q.expected) && told_apart) q.wrong.push_back(wrong);
    }
}

}  // namespace tilewalk::quiz
