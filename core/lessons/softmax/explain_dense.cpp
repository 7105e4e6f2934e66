// The words and numbers of the textbook softmax where it differs from the safe one: nothing is subtracted
// before exp, so a large score overflows.
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/softmax/parts.h"

#include <cmath>

namespace tilewalk {

namespace {

enum Row { plain_row = 0, masked_row = 1, overflowed = 2, lost = 3, underflowed = 4, no_key = 5 };

bool sees_a_key(const RowView& r) { return sees_some_key(r.v.problem, r.v.row); }

}  // namespace

void explain_dense_weight(const RowView& r) {
    const View& v = r.v;
    const Expr score = r.number(Slot::S);
    const double x = score.value, weight = v.result();
    v.out.title = "Exponential";
    v.out.formula = join({softmax_weight(r.now), "  =  exp(", softmax_score(r.now), ")"});
    v.out.numbers = write(exponential(score), weight);
    r.result(softmax_weight(r.now), weight);
    const std::string p = plain(softmax_weight(r.now));
    v.out.kind = x == minus_infinity  ? masked_row
                 : std::isinf(weight) ? overflowed
                 : weight == 0        ? underflowed
                                      : plain_row;
    if (x == minus_infinity)
        v.out.why =
            "A masked score weighs exp(−∞) = 0: element " + r.now + " does not count for " + r.query + ".";
    else if (std::isinf(weight))
        v.out.why = "exp(" + num_text(x) + ") is more than " + largest_text(Format::fp64) + ", so " + p +
                    " is ∞. The safe softmax subtracts the maximum first, and no exponent is above 0.";
    else if (weight == 0)
        v.out.why = "exp(" + num_text(x) + ") is too small for a double: " + p +
                    " is 0, although no mask hides the key. Measured from the maximum it would be a number.";
    else
        v.out.why = "The score itself is the exponent: nothing is subtracted, so no maximum has to be known. "
                    "It serves until the sum overflows: one score above " +
                    largest_exponent_text(Format::fp64) + " is enough, or several close below it.";
}

void explain_dense_total(const RowView& r) {
    const View& v = r.v;
    const double weight = r.stored(Slot::P), old = r.stored(Slot::l), now = v.result();
    v.out.kind = std::isinf(now) ? overflowed : r.masked() ? masked_row : plain_row;
    const std::string d = plain(softmax_sum(r.letters, r.now));
    if (std::isinf(weight))
        v.out.why = "The weight is ∞, and so is every sum that it enters.";
    else if (std::isinf(old))
        v.out.why = "The sum was ∞ before; what is added to ∞ is lost.";
    else if (std::isinf(now))
        v.out.why = "The weights are numbers, but together they are more than " + largest_text(Format::fp64) +
                    ": " + d + " is ∞.";
    else if (r.masked())
        v.out.why = "A masked key weighs nothing: the sum stays as it is.";
    else
        v.out.why = "No weight is measured from anything, so the sum just grows.";
}

void explain_dense_share(const RowView& r) {
    const View& v = r.v;
    const Expr score = r.number(Slot::S), sum = r.number(Slot::l);
    const double total = sum.value, share = v.result();
    v.out.title = "Share";
    v.out.formula = join(
        {softmax_share(r.now), "  =  exp(", softmax_score(r.now), ") ÷ ", softmax_sum(r.letters, r.end)});
    if (sees_a_key(r)) v.out.numbers = write(quotient(exponential(score), sum), share);
    r.result(softmax_share(r.now), share);
    const std::string a = plain(softmax_share(r.now));
    v.out.kind = !sees_a_key(r)      ? no_key
                 : std::isnan(share) ? lost
                 : std::isinf(total) ? overflowed
                                     : static_cast<int>(r.masked());
    switch (v.out.kind) {
    case no_key:
        v.out.why = "The mask hides every key from " + r.query +
                    ": the sum is 0, there is nothing to divide, and all weights are 0.";
        break;
    case lost:
        v.out.why =
            (total == 0 ? "Every weight of the row was too small for a double, and 0 ÷ 0 has no value: "
                        : "∞ ÷ ∞ has no value: ") +
            a + " is NaN. With the maximum subtracted it would be a number between 0 and 1.";
        break;
    case overflowed:
        v.out.why = "The sum overflowed to ∞, and whatever is a number divided by ∞ is 0.";
        break;
    case masked_row:
        v.out.why = "The mask hides element " + r.now + ": its share of the softmax is 0.";
        break;
    default:
        v.out.why = "The sum is that of the whole row, so this is the finished softmax weight of element " +
                    r.now + "; the " + str(r.N) + " of them together make 1.";
    }
}

std::string dense_output_words(const RowView& r) {
    const View& v = r.v;
    if (!sees_a_key(r)) return "The mask hides every key from " + r.query + ": its output stays 0.";
    if (std::isnan(r.stored(Slot::Prob)))
        return "The share is NaN, and whatever is computed with NaN becomes NaN: the output is lost.";
    if (std::isnan(v.result())) return "The output is NaN since an earlier element, and stays NaN.";
    if (r.masked()) return plain(softmax_value(r.now)) + " belongs to a masked key and does not enter.";
    if (r.stored(Slot::Prob) == 0) return "A share of 0 adds nothing.";
    return "The weights are final, so the values are simply added up, each by its share.";
}

std::string dense_store_words(const RowView& r) {
    if (!sees_a_key(r))
        return "The mask hides every key from " + r.query + ": a row of zeros leaves the chip.";
    if (std::isnan(r.v.result()))
        return "A row of NaN leaves the chip: one score that exp could not hold has spoilt all of it. "
               "The safe softmax finds the maximum first.";
    if (std::isinf(r.v.trace.live(Slot::l, r.v.k).value->data(0, 0)))
        return "The sum was ∞, so every share was 0: a row of zeros leaves the chip, and it is wrong. The "
               "safe "
               "softmax finds the maximum first.";
    return "The finished row leaves the chip. Every score was read twice, and no maximum was needed.";
}

}  // namespace tilewalk
