// What common mistakes make of the numbers of a question.
#include "core/class/questions_parts.h"
#include "core/problem/logits.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::quiz {

namespace {

// The operands by their place in the formula, and what their lesson calls them.
struct Mistakes {
    const Asked& a;
    CellRef cell;  // that is asked about
    const std::vector<Operand>& all;
    std::vector<Mistake> out = {};

    const Operand& at(std::size_t n) const { return all.at(n); }
    Expr number(const Operand& operand, double v) const { return num(v, info(operand.slot).role); }
    Expr one(std::size_t n) const { return number(at(n), at(n).values.at(0)); }
    Expr now(std::size_t n) const { return number(at(n), at(n).now.at(0)); }
    Numbers numbers(std::size_t n) const {
        Numbers each;
        for (const double v : at(n).values) each.push_back(number(at(n), v));
        return each;
    }
    // Where a mask leaves one of them shorter there is nothing to say.
    Expr products(std::size_t n) const {
        const Numbers left = numbers(n), right = numbers(n + 1);
        return left.size() == right.size() ? dot(left, right) : num(std::nan(""));
    }
    std::string name(std::size_t n) const { return letter(a.trace, at(n).slot); }
    void add(Expr how, std::string cause) { out.push_back({std::move(how), std::move(cause)}); }

    void scores();
    void softcap();
    void bias();
    void cap_gradient();
    void largest();
    void new_maximum();
    void correction();
    void weight();
    void other_maximum(const Expr& score, double now);
    void row_sum();
    void output();
    void tiled_output();
    void output_divided_in_every_tile();
    void one_row_output();
    void divide();
    void log_sum();
    void part_output();
    void part_weight();
    void weighted_parts();
    void log_sum_of_parts();
    void score_gradient();
    void gradient();
    std::optional<Expr> row_for_column(std::size_t turned) const;
    void update();
    void rows_for_columns();
};

void Mistakes::scores() {
    const Expr sum = all.size() == 2 ? products(0) : one(0);
    if (plain(a.e.formula).find("scale") == std::string::npos)
        return add(quotient(sum, num(std::sqrt(a.problem.d()))),
                   "No scale belongs to this step: the sum is not divided by √d.");
    add(sum, "The scale is missing: the sum of the products is multiplied by it.");
    if (a.problem.scale.kind == Scale::Kind::sqrt)
        add(quotient(sum, num(a.problem.d())), "The scale is 1/√d, not 1/d.");
}

void Mistakes::softcap() {
    const Expr score = one(0), cap = num(*a.problem.logits.softcap);
    add(score, "The softcap is missing: this is the score as it came.");
    add(num(std::clamp(score.value, -cap.value, cap.value)),
        "A softcap cuts nothing off: tanh bends every score, those below the cap as well.");
    add(product({cap, hyperbolic_tangent(score)}), "The score is divided by the cap before tanh.");
    add(hyperbolic_tangent(quotient(score, cap)), "The product with the cap is missing.");
}

void Mistakes::bias() {
    const Expr score = one(0), slope = num(*a.problem.logits.alibi),
               apart = num(explain(a.trace, a.k, cell).distance);
    add(sum({score, product({slope, apart})}),
        "The sign is turned round: a distance is taken off the score.");
    add(difference(score, slope), "The distance is missing: the slope is taken off once for each position.");
    add(score, "The bias is missing: the score loses the slope for each position of distance.");
}

void Mistakes::cap_gradient() {
    const Expr gradient = one(0), part = quotient(one(1), num(*a.problem.logits.softcap));
    add(gradient, "The slope of the softcap is missing: this is the gradient of the capped score.");
    add(product({gradient, difference(num(1), part)}), "The square is missing: the slope is 1 − (S ÷ cap)².");
    add(product({gradient, part, part}), "This is the part that is taken off; the slope is 1 minus it.");
}

void Mistakes::largest() {
    const auto [least, most] = std::ranges::minmax_element(at(0).values);
    add(num(*least),
        -*least <= std::abs(*most) ? "This is the smallest of them; a maximum is the largest."
        : *most < 0
            ? "The sign counts: of negative numbers the largest is the one nearest to 0."
            : "The sign counts: a negative number is smaller than any positive one, whatever its size.");
}

void Mistakes::new_maximum() {
    if (at(0).values[0] > at(1).values[0])
        add(one(1), "This is " + name(1) +
                        " alone: the row has seen a larger score before, and a maximum never falls.");
    else
        add(one(0), "This is the maximum of before: " + name(1) + " is larger, so the maximum rises.");
}

void Mistakes::correction() {
    add(exponential(difference(now(0), one(0))),
        "The sign is turned round: it is the old maximum minus the new one, so α is never above 1.");
    add(difference(one(0), now(0)), "This is the exponent; α is exp of it.");
    add(num(1), "α is 1 only where the maximum stays; here it rises.");
}

// Measured from the maximum that was there before this tile or element, or from that of the tile alone.
void Mistakes::other_maximum(const Expr& score, double now) {
    for (int k = a.k - 1; k >= 0; --k) {
        const Step& step = a.trace.step(k);
        if (step.op != Op::new_max || step.i != a.step.i || step.j != a.step.j || step.phase != a.step.phase)
            continue;
        const Access &before = a.trace.reads(k)[0], &tile = a.trace.reads(k)[1];
        if (!a.trace.value(before.value).region.contains(cell.row, 0)) return;
        const double old = value_at(a.trace.value(before.value), {Slot::m, cell.row, 0});
        const auto weight = [&](double from) {
            return exponential(difference(score, num(from, info(Slot::m).role)));
        };
        if (old != now)
            return add(weight(old),
                       "This is measured from the old maximum; it has risen, and every weight is measured "
                       "from the new one.");
        if (tile.slot == Slot::m_tile)
            add(weight(value_at(a.trace.value(tile.value), {Slot::m_tile, cell.row, 0})),
                "This is measured from the maximum of the tile alone; the row has seen a larger score "
                "before.");
        return;
    }
}

void Mistakes::weight() {
    const Expr score = one(0);
    if (all.size() == 1) {
        add(score, "This is the exponent; the weight is exp of it.");
        add(exponential(num(-score.value, score.role)),
            "The sign is turned round: the score itself is the exponent.");
        return;
    }
    add(exponential(score), name(1) + " is missing: it is subtracted from the score before exp.");
    add(exponential(difference(one(1), score)),
        "The sign is turned round: it is the score minus " + name(1) + ".");
    add(difference(score, one(1)), "This is the exponent; the weight is exp of it.");
    if (a.step.op == Op::exponentials) other_maximum(score, one(1).value);
}

void Mistakes::row_sum() {
    if (all.size() == 2)
        add(one(1), "The sum so far, " + name(0) + ", is missing: this is the new weight alone.");
    if (a.step.op == Op::row_sum && at(0).slot == Slot::E && all.size() > 1)
        add(sum(numbers(0)), "The sink is missing: its weight counts in the sum as that of a key.");
    if (all.size() != 3 || at(0).slot == Slot::E) return;
    const Expr alpha = one(0), old = one(1), added = sum(numbers(2));
    add(sum({old, added}), "α is missing: the old " + name(1) +
                               " was measured from the old maximum and is multiplied by α first.");
    add(added, "The old sum is missing: α times the old " + name(1) + " is added to the new weights.");
    add(product({alpha, sum({old, added})}),
        "α multiplies only the old sum; the new weights are measured from the new maximum already.");
}

constexpr const char* alpha_missing =
    "α is missing: the old output was measured from the old maximum and is multiplied by α first.";
constexpr const char* output_missing =
    "The old output is missing: it is corrected and kept, and the new part is added.";
constexpr const char* alpha_for_all =
    "α multiplies only the old output; the new weights are measured from the new maximum already.";

// α, O, P̃, V
void Mistakes::tiled_output() {
    const Expr alpha = one(0), old = one(1), added = products(2);
    add(sum({old, added}), alpha_missing);
    add(added, output_missing);
    add(product({alpha, sum({old, added})}), alpha_for_all);
    const Held l = holding(a.trace, {Slot::l, cell.row, 0}, a.k);
    if (!l.value) return;
    const double divisor = value_at(*l.value, {Slot::l, cell.row, 0});
    add(quotient(sum({product({alpha, old}), added}), num(divisor, Role::l)),
        "This is divided by ℓ too early: the division comes once, after the last tile.");
}

// α, ℓ, O, P̃, V: as the first version does
void Mistakes::output_divided_in_every_tile() {
    const Expr alpha = one(0), l = now(1), added = products(3), old = product({one(1), one(2)}),
               corrected = product({alpha, one(1), one(2)});
    add(quotient(sum({old, added}), l), alpha_missing);
    add(quotient(added, l), output_missing);
    add(quotient(product({alpha, sum({old, added})}), l), alpha_for_all);
    add(sum({corrected, added}), "The division by the new ℓ is missing.");
    add(quotient(sum({product({alpha, one(2)}), added}), l),
        "The old output was divided by the old ℓ: it is multiplied by it before the new part is added.");
}

// o′, V and then a weight that is finished; or α, and what it is divided by.
void Mistakes::one_row_output() {
    const Expr old = one(0), v = one(1);
    if (all.size() == 3)
        add(product({one(2), v}), "The output so far is missing: the new part is added to it.");
    if (all.size() == 4) {
        add(sum({old, product({one(3), v})}), "α is missing: the output so far is multiplied by it first.");
        add(product({one(3), v}), "The output so far is missing: it is corrected and kept.");
    }
    if (all.size() != 5) return;
    const Expr added = product({quotient(one(4), now(3)), v});
    add(sum({product({old, quotient(one(3), now(3))}), added}),
        "α is missing: the output so far is multiplied by it as well.");
    add(added, "The output so far is missing: it is corrected and kept.");
    add(sum({product({old, one(2)}), added}),
        "The output so far is divided by the old sum: it is multiplied by the old sum and divided by the new "
        "one.");
}

void Mistakes::output() {
    if (all.size() < 3) return;
    if (a.trace.lesson().chapter == ChapterId::softmax) return one_row_output();
    all.size() == 5 ? output_divided_in_every_tile() : tiled_output();
}

void Mistakes::divide() {
    if (a.step.op == Op::normalize || a.trace.lesson().chapter != ChapterId::softmax) {
        add(one(0), "This is the number before the division by " + name(1) + ".");
        add(product({one(0), one(1)}), "It is divided by " + name(1) + ", not multiplied.");
        return;
    }
    const bool safe = all.size() == 3;
    const std::size_t sum = safe ? 2 : 1;
    add(exponential(safe ? difference(one(0), one(1)) : one(0)),
        "The division by " + name(sum) + " is missing.");
    add(quotient(one(0), one(sum)), "exp is missing: the weight is divided, not the score.");
    if (safe)
        add(quotient(exponential(one(0)), one(sum)), "The maximum is missing: it is subtracted before exp.");
}

void Mistakes::log_sum() {
    const Expr m = one(0), l = one(1), log = logarithm(l);
    add(sum({m, l}), "The logarithm is missing: it is the logarithm of ℓ that is added.");
    add(log, "The maximum is missing: it is added to the logarithm of ℓ.");
    add(difference(m, log), "The logarithm of ℓ is added, not subtracted.");
    for (const int base : {10, 2})
        add(sum({m, quotient(log, logarithm(num(base)))}),
            "The natural logarithm is meant, not that to the base " + str(base) + ".");
}

// The scores of a part and a column of its values.
void Mistakes::part_output() {
    if (all.size() != 2 || at(0).values.size() != at(1).values.size()) return;
    const Expr most = num(*std::ranges::max_element(at(0).values), Role::m);
    Numbers weights, not_measured;
    for (const Expr& score : numbers(0)) {
        weights.push_back(exponential(difference(score, most)));
        not_measured.push_back(exponential(score));
    }
    const Expr total = dot(weights, numbers(1)), average = quotient(total, sum(weights));
    if (a.problem.options.parts == PartForm::normalised)
        return add(total, "The division is missing: this part keeps the average of its values.");
    add(average, "This is divided too early: here the division comes once, after all parts are merged.");
    add(dot(not_measured, numbers(1)), "The maximum of the part is missing: it is subtracted before exp.");
}

// What a part is measured from, and the common maximum: of a partial merge in one slot.
void Mistakes::part_weight() {
    const Operand& to = all.back();
    const Expr from = one(0), common = number(to, to.values.back());
    add(exponential(difference(common, from)),
        "The sign is turned round: it is the part's own one minus the common one, so no weight is above 1.");
    add(difference(from, common), "This is the exponent; the weight is exp of it.");
}

void Mistakes::weighted_parts() {
    if (all.size() != 2) return;
    const bool shares = !a.trace.live(Slot::m_part, 0, a.k);
    add(sum(numbers(1)), shares
                             ? "The weights are missing: each part counts by its share in all exponentials."
                             : "The weights are missing: each part is measured from a maximum of its own.");
    add(quotient(products(0), sum(numbers(0))),
        "It is not divided by the weights: that waits until the end.");
}

void Mistakes::log_sum_of_parts() {
    add(sum(numbers(0)), "L is a logarithm: the exponentials of the parts add up, not their logarithms.");
    add(num(*std::ranges::max_element(at(0).values)),
        "This is the largest alone; the exponentials of the others add to it.");
}

void Mistakes::score_gradient() {
    const Expr P = one(0), dP = one(1), D = one(2);
    add(product({P, sum({dP, D})}),
        "The sign of D: it is subtracted, because what one weight gains the others lose.");
    add(product({P, dP}), "D is missing: it is subtracted from dP before the product with P.");
    add(difference(dP, D), "The product with P is missing.");
}

// dQ, dK, dV: what is there already, and a sum of products.
void Mistakes::gradient() {
    const bool grows = all.size() == 3;
    const std::size_t first = grows ? 1 : 0;
    const double scale = a.step.op == Op::dv ? 1 : a.problem.softmax_scale();
    const auto scaled = [&](Expr sum) {
        return scale == 1 ? std::move(sum) : product({num(scale), std::move(sum)});
    };
    const auto with_old = [&](Expr part) { return grows ? sum({one(0), std::move(part)}) : std::move(part); };
    const Expr added = products(first);
    add(with_old(added), "The scale is missing: it stands in the gradient as it stands in the scores.");
    if (grows) add(scaled(added), "What the tiles before have given is missing: the gradient grows.");
    if (const auto row = row_for_column(first))
        add(with_old(scaled(*row)),
            name(first) + " is not transposed: its column belongs to this key, not its row.");
}

// Of Pᵀ dO with a row of P in place of its column, where there are as many of them.
std::optional<Expr> Mistakes::row_for_column(std::size_t turned) const {
    if (a.step.op == Op::dq) return {};
    const Numbers other = numbers(turned + 1);
    for (const Access& access : a.trace.reads(a.k)) {
        const Value& tile = a.trace.value(access.value);
        const bool square = tile.region.rows == tile.region.cols && tile.data.cols() == std::ssize(other);
        if (access.slot != at(turned).slot || !square) continue;
        Numbers row;
        for (const double v : tile.data.row(cell.row - tile.region.col)) row.push_back(number(at(turned), v));
        return dot(row, other);
    }
    return {};
}

void Mistakes::update() {
    const Expr rate = num(a.problem.options.learning_rate);
    add(sum({one(0), product({rate, one(1)})}),
        "The sign is turned round: a step goes against the gradient.");
    add(difference(one(0), one(1)), "The learning rate η is missing.");
    add(one(0), "This is the number before the update.");
}

// The number on the other side of the diagonal of the tile.
void Mistakes::rows_for_columns() {
    const Region tile = step_region(a.trace, a.k);
    const CellRef other{cell.slot, tile.row + cell.col - tile.col, tile.col + cell.row - tile.row};
    if (other == cell || !tile.contains(other.row, other.col)) return;
    for (const Access& access : a.trace.writes(a.k))
        if (access.slot == cell.slot)
            add(num(value_at(a.trace.value(access.value), other)),
                "Rows and columns are exchanged: this is " + letter(a.trace, cell.slot) +
                    index_text(a.trace, other.slot, {other.row, other.col, 1, 1}, a.k) + ".");
}

}  // namespace

std::vector<Mistake> mistakes_with(const Asked& asked, const CellRef& cell,
                                   const std::vector<Operand>& operands) {
    if (operands.empty()) return {};
    Mistakes mistakes{asked, cell, operands};
    switch (asked.step.op) {
    case Op::scores: mistakes.scores(), mistakes.rows_for_columns(); break;
    case Op::scale: mistakes.scores(); break;
    case Op::softcap: mistakes.softcap(); break;
    case Op::bias: mistakes.bias(); break;
    case Op::cap_gradient: mistakes.cap_gradient(); break;
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
    case Op::merge_max:
        if (operands[0].values.size() > 1) mistakes.largest();
        break;
    case Op::part:
        if (!form_of_part(asked.trace, asked.k, cell.slot).empty()) mistakes.part_output();
        break;
    case Op::merge_weights: mistakes.part_weight(); break;
    case Op::merge_sum:
    case Op::merge_output: mistakes.weighted_parts(); break;
    case Op::merge_lse: mistakes.log_sum_of_parts(); break;
    case Op::dp: mistakes.rows_for_columns(); break;
    case Op::ds: mistakes.score_gradient(); break;
    case Op::dv:
    case Op::dk:
    case Op::dq: mistakes.gradient(); break;
    case Op::update: mistakes.update(); break;
    default: break;
    }
    return mistakes.out;
}

// "0.368 × 1.368 + 1.135 ≈ 1.639"
static std::string working(const Expr& how, double value) {
    const NumberLine numbers = write(how, value);
    const std::string shown = format_short(value);
    return plain(numbers) + " " + sign_before(numbers, shown) + " " + shown;
}

void add_wrong(Question& q, const std::vector<Mistake>& all) {
    const auto near = [&](double value) {
        Question other = q;
        other.expected = value;
        return tolerance(other) + q.noise;
    };
    for (const auto& [how, cause] : all) {
        const double value = evaluate(how);
        const auto apart = [&](double other) { return std::abs(value - other) > near(value) + near(other); };
        const bool told_apart =
            std::ranges::all_of(q.wrong, [&](const WrongAnswer& before) { return apart(before.value); });
        if (!std::isfinite(value) || !apart(q.expected) || !told_apart) continue;
        const bool worked_out = how.kind != Expr::Kind::number;
        q.wrong.push_back({value, cause, worked_out ? working(how, value) : ""});
    }
}

}  // namespace tilewalk::quiz
