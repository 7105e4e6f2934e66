// The words and numbers of the softmax lessons: loads, maximum, correction and weight.
#include "core/lessons/softmax/parts.h"

#include "core/base/exactly.h"

#include <cmath>

namespace tilewalk {

Kind RowView::kind() const {
    const Held m = v.trace.live(Slot::m, v.k);
    // After the pass that takes it, the maximum stands still.
    if (v.trace.step(m.step).j != v.step.j || v.trace.step(m.step).phase != pass)
        return m.value->data(0, 0) == minus_infinity ? sees_no_key : stays;
    return kind_of(v.trace.live(Slot::m, m.step - 1).value->data(0, 0), m.value->data(0, 0));
}

std::string RowView::max_text() const {
    const double m = v.trace.live(Slot::m, v.k).value->data(0, 0);
    return m < 0 ? "(" + num_text(m) + ")" : num_text(m);
}

void RowView::result(Line symbol, double value) const {
    v.out.result = equals(std::move(symbol), text_alone(v.trace.digits(v.out.target.slot), value));
}

namespace {

// Why element x is read in this pass.
std::string reading(const RowView& r) {
    const std::string x = plain(softmax_score(r.now)), V = plain(softmax_value(r.now)),
                      sum = plain(softmax_sum(r.letters, r.end)), m = plain(softmax_max(r.end));
    if (r.passes == 1)
        return "The only reading of " + x + " and " + V +
               ": maximum, sum and output take what they need while the pair is on chip.";
    // The first element tells what a pass is for, the others how the readings add up.
    const int reading = r.pass * r.N + r.n;
    const std::string nth = "Reading " + str(reading) + " of the row's " + str(r.passes * r.N) + ": " + x;
    if (r.n > 1 && r.pass == 0)
        return nth + (r.dense()  ? " adds its exponential and is forgotten."
                      : r.safe() ? " is compared with the maximum so far and forgotten."
                                 : " serves maximum and sum, and is forgotten.");
    if (r.n > 1 && r.pass + 1 < r.passes)
        return nth + " once more, for the sum; of the first pass only " + m + " was kept.";
    if (r.n > 1)
        return nth + " once more, for its weight was not kept; " + V + " comes with it, for the first time.";
    if (r.pass == 0 && r.dense())
        return "First of two readings of " + x + ": its exponential goes into the sum.";
    if (r.pass == 0 && r.safe())
        return "First of three readings of " + x + ": this pass keeps the largest score and nothing else.";
    if (r.pass == 0) return "First of two readings of " + x + ": it serves the maximum and the sum at once.";
    if (r.passes == 3 && r.pass == 1)
        return "Second reading of " + x + ": a weight needs " + m + ", which was not known before.";
    return (r.passes == 3 ? "Third" : "Second") + (" reading of " + x) +
           ": its weight was not kept, and the output needs it divided by " + sum + ". " + V +
           " comes with it.";
}

}  // namespace

void explain_row_load(const RowView& r) {
    const View& v = r.v;
    const bool with_value = v.trace.writes(v.k).size() > 1;
    const int e = v.problem.element_bytes, d = v.problem.d();
    const Line element = text("element " + r.now + " of "), x = softmax_score("");
    v.out.formula = with_value ? join({softmax_score(r.now), ", ", softmax_value(r.now), "  ←  ", element, x,
                                       " and of ", softmax_value("")})
                               : join({softmax_score(r.now), "  ←  ", element, x});
    const Expr score = product({num(1), num(e)});
    set_bytes(v, with_value ? sum({score, product({num(d), num(e)})}) : score, "bytes read");
    v.out.kind = r.masked();
    v.out.why = r.masked() ? "The mask hides element " + r.now + " from " + r.query + ", so " +
                                 plain(softmax_score(r.now)) +
                                 " = −∞. It is read like the others and will weigh nothing."
                           : reading(r);
    if (v.out.target.slot == Slot::Vj)
        v.source(Slot::V, v.row, v.col);
    else
        v.source(Slot::x, v.row, v.col);
}

void explain_row_init(const RowView& r) {
    const View& v = r.v;
    v.out.place = "pass " + str(r.pass + 1) + " of " + str(r.passes);
    for (const Access& a : v.trace.writes(v.k)) {
        const Line symbol = a.slot == Slot::m   ? softmax_max("")
                            : a.slot == Slot::l ? softmax_sum(r.letters, "")
                                                : softmax_out(r.letters, "");
        const Line start = join({symbol, a.slot == Slot::m ? " = −∞" : " = 0"});
        v.out.formula = v.out.formula.empty() ? start : join({v.out.formula, ",   ", start});
        if (a.slot == v.out.target.slot) r.result(symbol, v.result());
    }
    if (r.dense())
        v.out.why = r.pass == 0
                        ? "The softmax of the textbooks: only a sum is kept, and it is empty. No maximum is "
                          "taken."
                        : "The sum of the whole row is known now, so the output can begin.";
    else if (r.pass == 0)
        v.out.why =
            r.passes == 3 ? "Before the first element the maximum is −∞: any score is larger."
            : r.passes == 2
                ? "No element has been seen: the maximum is −∞, so any score is larger, and the sum is empty."
                : "No element has been seen: the maximum is −∞, sum and output are empty. These three "
                  "are all that the pass carries along.";
    else if (r.pass == 1 && r.passes == 3)
        v.out.why = "The maximum of the whole row is known now, so the sum can begin.";
    else
        v.out.why = "Maximum and sum of the whole row are known now, so the output can begin.";
}

void explain_row_max(const RowView& r) {
    const View& v = r.v;
    const Expr before = r.number(Slot::m), score = r.number(Slot::S);
    const double old = before.value, x = score.value, now = v.result();
    v.out.formula =
        join({softmax_max(r.now), "  =  max(", softmax_max(r.before), ", ", softmax_score(r.now), ")"});
    v.out.numbers = write(maximum({before, score}), now);
    r.result(softmax_max(r.now), now);
    const auto [from, to] = format_apart(old, x);
    const std::string name = plain(softmax_score(r.now));
    const OfKinds words{
        .sees_no_key =
            "The mask has hidden every key up to here from " + r.query + ": there is no maximum yet.",
        .starts = name + " = " + to + " is the first score that " + r.query + " sees.",
        .rises = name + " = " + to + " is larger than the maximum so far, " + from +
                 (r.passes == 3 ? ". Nothing has been summed yet, so there is nothing to correct."
                                : ": all that was summed up to here was measured from " + from + "."),
        .stays = x == minus_infinity
                     ? "A masked score is −∞ and never becomes the maximum; it stays " + from + "."
                 : x == old ? name + " ties with the maximum: it stays " + from + "."
                            : name + " = " + to + " is below the maximum: it stays " + from + ".",
    };
    const Kind kind = kind_of(old, now);
    if (kind == rises) v.out.title = "The maximum rises";
    if (kind == stays) v.out.title = "The maximum stays";
    v.out.kind = kind;
    v.out.why = words[kind];
}

void explain_row_correction(const RowView& r) {
    const View& v = r.v;
    const Expr before = r.number(Slot::m);
    const double old = before.value, now = r.stored(Slot::m, 1);
    const double base = now == minus_infinity ? 0 : now;
    v.out.formula =
        join({softmax_alpha(r.now), "  =  exp(", softmax_max(r.before), " − ", softmax_max(r.now), ")"});
    v.out.numbers =
        write(exponential(difference(before, now == base ? num(v.trace, Slot::m, base) : num(base, Role::m))),
              v.result());
    r.result(softmax_alpha(r.now), v.result());
    const auto [from, to] = format_apart(old, now);
    const OfKinds words{
        .sees_no_key = "No key seen yet: −∞ − (−∞) would be NaN, so 0 stands in for the maximum.",
        .starts = "Nothing has been summed yet: exp(−∞) = 0 multiplies the empty start away.",
        .rises = "Every earlier exponential was measured from " + from + " and is too large by the same " +
                 "factor, now that the maximum is " + to + "; one multiplication repairs the whole past.",
        .stays = "The maximum did not change, so a factor of 1 leaves the past as it is.",
    };
    const Kind kind = kind_of(old, now);
    v.out.kind = kind;
    v.out.why = words[kind];
}

void explain_row_weight(const RowView& r) {
    if (r.dense()) return explain_dense_weight(r);
    const View& v = r.v;
    const Expr score = r.number(Slot::S), most = r.number(Slot::m);
    const double x = score.value, m = most.value;
    const std::string max_index = r.passes == 3 ? r.end : r.now;
    v.out.title = "Exponential";
    v.out.formula =
        join({softmax_weight(r.now), "  =  exp(", softmax_score(r.now), " − ", softmax_max(max_index), ")"});
    v.out.numbers =
        write(exponential(difference(score, m == minus_infinity ? num(0, Role::m) : most)), v.result());
    r.result(softmax_weight(r.now), v.result());
    const bool overflows = std::isinf(exp_exactly(x));
    v.out.kind = x == minus_infinity ? 1 : overflows ? 2 : x == m ? 3 : 0;
    if (x == minus_infinity)
        v.out.why =
            "A masked score weighs exp(−∞) = 0: element " + r.now + " does not count for " + r.query + ".";
    else if (overflows)
        v.out.why = "exp(" + num_text(x) +
                    ") alone would overflow; measured from the maximum no exponent is above 0.";
    else if (r.passes == 3)
        v.out.why = x == m
                        ? "This score is the maximum of the row: it weighs exp(0) = 1, and none weighs more."
                        : "This score lies " + num_text(m - x) +
                              " below the maximum of the whole row, so the weight is final.";
    else if (x == m)
        v.out.why = "The score is the maximum itself, so it weighs exp(0) = 1, the most a weight can be.";
    else
        v.out.why =
            std::string("Measured from the maximum so far, which keeps the exponent below 0; ") +
            (r.n < r.N ? "should the maximum rise later, α shrinks this weight with all the others."
                       : "this is the last element, so no maximum rises any more and the weight stays.");
}

void explain_softmax(const View& v) {
    const RowView r{v};
    if (r.n > 0) v.out.place = "element " + r.now;
    switch (v.step.op) {
    case Op::load_x: return explain_row_load(r);
    case Op::init: return explain_row_init(r);
    case Op::new_max: return explain_row_max(r);
    case Op::correction: return explain_row_correction(r);
    case Op::exponentials: return explain_row_weight(r);
    case Op::row_sum: return explain_row_total(r);
    case Op::divide: return explain_row_share(r);
    case Op::output: return explain_row_output(r);
    case Op::normalize: return explain_row_normalize(r);
    case Op::store: return explain_row_store(r);
    default: return;
    }
}

}  // namespace tilewalk
