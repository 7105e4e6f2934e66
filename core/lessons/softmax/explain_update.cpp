// The words and numbers of the softmax lessons: running sum, shares, running output and the end.
#include "core/lessons/softmax/parts.h"
#include "core/lessons/softmax/row.h"

namespace tilewalk {

namespace {

// "exp(1 − 2)" of the maximum's rise in words: from 1 to 2
struct Rise {
    std::string from, to;
};
Rise rise_of(const RowView& r) {
    const Held m = r.v.trace.live(Slot::m, r.v.k);
    const auto [from, to] =
        format_apart(r.v.trace.live(Slot::m, m.step - 1).value->data(0, 0), m.value->data(0, 0));
    return {from, to};
}

void online_total_words(const RowView& r) {
    const View& v = r.v;
    const std::string last =
        r.n == r.N ? " All elements are in it now: it is the denominator of the softmax." : "";
    const Kind kind = r.kind();
    v.out.kind = kind;
    if (kind == sees_no_key) {
        v.out.why = "No key seen yet: the sum stays empty.";
    } else if (kind == starts) {
        v.out.why = "The first key that counts starts the sum; its own score is the maximum, so it adds 1.";
    } else if (kind == rises) {
        const auto [from, to] = rise_of(r);
        v.out.why = "α brings the old sum from maximum " + from + " to maximum " + to +
                    ", then the new weight, measured from " + to + " as well, is added.";
    } else if (r.masked()) {
        v.out.kind = 4;
        v.out.why = "The maximum did not move and a masked key weighs nothing: the sum stays as it is.";
    } else {
        v.out.why = "The maximum did not move, so the old sum counts in full and the new weight is added.";
    }
    if (kind != sees_no_key) v.out.why += last;
}

// "3 of 4 terms are in, …": how far a sum is that needs no correction.
std::string counted(const RowView& r, const std::string& how) {
    return str(r.n) + " of " + str(r.N) + (r.n == 1 ? " terms is" : " terms are") + how +
           (r.n == r.N ? ": this is the denominator, and nothing of it had to be mended."
                       : ": the sum just grows.");
}

std::string percent(double part) { return format_number(100 * part, 2) + "\u00A0%"; }

// A finished weight, and how much of the row is given away with it.
std::string share_words(const RowView& r, double share) {
    const double m = r.stored(Slot::m), sum = r.stored(Slot::l);
    const SoftmaxRow row(r.v.problem, 0);
    const std::string element = "Element " + r.now + " gets " + percent(share) + " of the attention";
    if (r.n == 1) return element + ": maximum and sum are those of the whole row, so this is final.";
    if (r.n == r.N) return element + "; with it the " + str(r.N) + " weights make 1.";
    return element + "; " + percent(row.sum(0, r.n, m) / sum) + " are given away so far.";
}

// The values that a finished weight brings in.
std::string value_words(const RowView& r) {
    const std::string V = plain(softmax_value(r.now));
    if (r.n == 1) return "The weights are final, so the values are simply added up, each by its share.";
    if (r.n == r.N)
        return V + " completes the mean: all shares together are 1, and nothing is left to divide.";
    return V + " joins by its share; what is there already stays as it is.";
}

// o = o + a V with finished weights
void plain_output(const RowView& r, const Expr& old, const Expr& value) {
    const View& v = r.v;
    v.out.formula = join({softmax_out(r.letters, r.now), "  =  ", softmax_out(r.letters, r.before), " + ",
                          softmax_share(r.now), " ", softmax_value(r.now)});
    v.out.numbers = write(sum({old, product({r.number(Slot::Prob), value})}), v.result());
    const double total = v.trace.live(Slot::l, v.k).value->data(0, 0);
    v.out.kind = total == 0 ? 2 : r.masked();
    v.out.why = total == 0   ? "The mask hides every key from " + r.query + ": its output stays 0."
                : r.masked() ? plain(softmax_value(r.now)) + " belongs to a masked key and does not enter."
                             : value_words(r);
    if (r.dense()) v.out.why = dense_output_words(r);
}

// O = α O + p V: the division waits
void late_output(const RowView& r, const Expr& old, const Expr& value) {
    const View& v = r.v;
    v.out.formula =
        join({softmax_out(r.letters, r.now), "  =  ", softmax_alpha(r.now), " ",
              softmax_out(r.letters, r.before), " + ", softmax_weight(r.now), " ", softmax_value(r.now)});
    const Expr rebased = product({r.number(Slot::alpha), old});
    v.out.numbers = write(sum({rebased, product({r.number(Slot::P), value})}), v.result());
    const Kind kind = r.kind();
    v.out.kind = kind;
    if (kind == sees_no_key)
        v.out.why = "No key seen yet: the output stays 0.";
    else if (kind == starts)
        v.out.why = "The first key that counts starts the output; it weighs 1.";
    else if (kind == rises) {
        const auto [from, to] = rise_of(r);
        v.out.why =
            "The output holds the same exponentials as the sum, so the same α brings it from maximum " +
            from + " to maximum " + to + ". The division waits until the end.";
    } else
        v.out.why =
            "The maximum did not move: the old output counts in full. The division waits until the end.";
}

// o′ = o′ (d′_old / d′) α + (p / d′) V: an average at every element
void average_output(const RowView& r, const Expr& old, const Expr& value) {
    const View& v = r.v;
    const Expr alpha = r.number(Slot::alpha), before = r.number(Slot::l), weight = r.number(Slot::P),
               now = num(v.trace, Slot::l, r.stored(Slot::l, 1));
    const Line sum_now = softmax_sum(r.letters, r.now);
    v.out.formula =
        join({softmax_out(r.letters, r.now), "  =  ", softmax_out(r.letters, r.before), " (",
              softmax_sum(r.letters, r.before), "\u00A0÷\u00A0", sum_now, ") ", softmax_alpha(r.now),
              "  +  (", softmax_weight(r.now), "\u00A0÷\u00A0", sum_now, ") ", softmax_value(r.now)});
    if (now.value != 0)
        v.out.numbers = write(
            sum({product({old, quotient(before, now), alpha}), product({quotient(weight, now), value})}),
            v.result());
    const Kind kind = r.kind();
    const std::string out = plain(softmax_out(r.letters, r.before)), V_now = plain(softmax_value(r.now));
    v.out.kind = kind;
    if (kind == sees_no_key)
        v.out.why = "No key seen yet: the sum is 0, so nothing is divided and the output stays 0.";
    else if (kind == starts)
        v.out.why = "So far only this key counts: the average is " + V_now + " itself.";
    else if (weight.value == 0) {
        v.out.kind = 4;
        v.out.why = V_now + " weighs nothing, so the average stays what it was.";
    } else
        v.out.why = out + " is the average of the values before. In the new average they keep a share of " +
                    num_text(before.value / now.value * alpha.value) + ", and " + V_now + " gets the rest, " +
                    num_text(weight.value / now.value) + ".";
}

}  // namespace

void explain_row_total(const RowView& r) {
    const View& v = r.v;
    v.out.title = "Running sum";
    r.result(softmax_sum(r.letters, r.now), v.result());
    if (r.safe() || r.dense()) {
        v.out.formula = join({softmax_sum(r.letters, r.now), "  =  ", softmax_sum(r.letters, r.before), " + ",
                              softmax_weight(r.now)});
        v.out.numbers = write(sum({r.number(Slot::l), r.number(Slot::P)}), v.result());
        v.out.kind = r.masked();
        v.out.why = r.masked()  ? "A masked key weighs nothing: the sum stays as it is."
                    : r.dense() ? ""
                                : counted(r, " in, all measured from one maximum, " + r.max_text());
        if (r.dense()) explain_dense_total(r);
        return;
    }
    const Expr rebased = product({r.number(Slot::alpha), r.number(Slot::l)});
    v.out.formula = join({softmax_sum(r.letters, r.now), "  =  ", softmax_alpha(r.now), " ",
                          softmax_sum(r.letters, r.before), " + ", softmax_weight(r.now)});
    v.out.numbers = write(sum({rebased, r.number(Slot::P)}), v.result());
    online_total_words(r);
}

void explain_row_share(const RowView& r) {
    if (r.dense()) return explain_dense_share(r);
    const View& v = r.v;
    const Expr score = r.number(Slot::S), m = r.number(Slot::m), sum = r.number(Slot::l);
    const double total = sum.value;
    v.out.title = "Share";
    v.out.formula = join({softmax_share(r.now), "  =  exp(", softmax_score(r.now), " − ", softmax_max(r.end),
                          ") ÷ ", softmax_sum(r.letters, r.end)});
    if (total != 0) v.out.numbers = write(quotient(exponential(difference(score, m)), sum), v.result());
    r.result(softmax_share(r.now), v.result());
    v.out.kind = total == 0 ? 2 : r.masked();
    v.out.why = total == 0 ? "The mask hides every key from " + r.query +
                                 ": the sum is 0, there is nothing to divide, and all weights are 0."
                : r.masked() ? "The mask hides element " + r.now + ": its share of the softmax is 0."
                             : share_words(r, v.result());
}

void explain_row_output(const RowView& r) {
    const View& v = r.v;
    v.out.title = "Running output";
    r.result(component(softmax_out(r.letters, r.now), v.problem, v.col), v.result());
    const Expr old = v.number(Slot::Oi), value = v.number(Slot::Vj, v.step.j, v.col);
    if (r.passes > 1) return plain_output(r, old, value);
    if (r.late()) return late_output(r, old, value);
    average_output(r, old, value);
}

void explain_row_normalize(const RowView& r) {
    const View& v = r.v;
    const Expr old = v.number(Slot::Oi), sum = v.number(Slot::l);
    const double total = sum.value;
    v.out.place = "row " + str(v.row);
    v.out.formula = join({softmax_final(r.letters, r.end), "  =  ", softmax_out(r.letters, r.end), " ÷ ",
                          softmax_sum(r.letters, r.end)});
    if (total != 0) v.out.numbers = write(quotient(old, sum), v.result());
    r.result(component(softmax_final(r.letters, r.end), v.problem, v.col), v.result());
    v.out.kind = total == 0;
    v.out.why = total == 0 ? "The mask hides every key from " + r.query +
                                 ": the sum is 0, nothing is divided, and the output is defined as 0."
                           : "The only division of the row. The " + str(r.N) +
                                 " weights add up to the sum; divided by it they make 1.";
}

void explain_row_store(const RowView& r) {
    const View& v = r.v;
    v.out.place = "row " + str(v.row);
    v.out.formula = join({"row " + str(v.row) + " of ", slot_symbol(Slot::O), "  ←  ",
                          r.late() ? softmax_final(r.letters, r.end) : softmax_out(r.letters, r.end)});
    v.source(Slot::Oi, v.row, v.col);
    const std::string readings = r.passes == 1 ? "once" : r.passes == 2 ? "twice" : "three times";
    const bool no_key = v.trace.live(Slot::l, v.k).value->data(0, 0) == 0;
    v.out.kind = no_key;
    v.out.why = no_key ? "The mask hides every key from " + r.query + ": a row of zeros leaves the chip."
                       : "The finished row leaves the chip. Every score was read " + readings + ".";
    if (r.dense()) v.out.why = dense_store_words(r);
}

}  // namespace tilewalk
