// The derivation of the recurrences, element by element.
#include "core/lessons/softmax/row.h"
#include "core/walk/explain_view.h"

#include <algorithm>

namespace tilewalk {

namespace {

using Index = const std::string&;

// What the surrogates stand for is written d and o in every notation: d′ (or δ, or ℓ) is the surrogate of d.
struct Letters {
    SoftmaxLetters safe{"d", "o", false, "o"}, online;
};
Letters letters_of(Problem p) {
    p.options.normalised = true;
    return {.online = softmax_letters(p, SoftmaxForm::one_pass)};
}

// "Σ j ≤ 3  exp(xⱼ − m₄)"
Line weights_up_to(Index n, Index m) {
    return join({"Σ j ≤ " + n + "  exp(", softmax_score("j"), " − ", softmax_max(m), ")"});
}

struct Derivation {
    const Problem& p;
    int n, col;
    SoftmaxRow row{p, col};
    Letters letters = letters_of(p);
    int N = p.N_kv();
    // Indices of the elements; before the first there is none.
    std::string now = str(n - 1), before = n > 1 ? str(n - 2) : "", end = str(N - 1);
    double m_now = row.maximum(0, n), m_before = row.maximum(0, n - 1), m_end = row.maximum(0, N);
    double d_end = row.sum(0, N, m_end);  // d_N

    Line safe_sum(Index i) const { return softmax_sum(letters.safe, i); }
    Line safe_out(Index i) const { return softmax_out(letters.safe, i); }
    Line sum(Index i) const { return softmax_sum(letters.online, i); }
    Line out(Index i) const { return softmax_out(letters.online, i); }
    Argument safe_sum_line() const {
        const double d = row.sum(0, n, m_end);
        const Expr numbers = row.weights(0, n, m_end);
        return argument_line(
            "The sum waits for the maximum", join({safe_sum(now), "  =  ", weights_up_to(now, end)}),
            safe_sum(now), &numbers, d, d,
            n == N ? "All elements have been read, so " + plain(softmax_max(end)) +
                         " is known. During the pass it was not."
                   : plain(softmax_max(end)) + " is known only after the last element, " +
                         count(N - n, "element") + " from here, and " + plain(safe_sum(now)) +
                         " is the sum that is measured from it: "
                         "in this form maximum and sum cannot share a pass.");
    }
    Argument surrogate_sum_line() const {
        const double d = row.sum(0, n, m_now);
        const Expr numbers = row.weights(0, n, m_now);
        return argument_line(
            "A stand-in that does not wait", join({sum(now), "  =  ", weights_up_to(now, now)}), sum(now),
            &numbers, d, d,
            m_now == minus_infinity && n < N
                ? "The mask has hidden every key up to here: there is no maximum yet and nothing to sum."
            : n == N ? "At the last element both maxima are the same, so " + plain(sum(end)) + " = " +
                           plain(safe_sum(end)) + ": the stand-in may take its place."
                     : "Measured from the maximum so far, " + num_text(m_now) +
                           ", it needs no element that has not been read. Only its last value has to be " +
                           plain(safe_sum(end)) + ".");
    }
    Argument sum_recurrence_line() const {
        const double d_before = row.sum(0, n - 1, m_before);
        const double alpha = SoftmaxRow::weight(m_before, m_now), p_now = row.weight_of(n - 1, m_now);
        const Expr numbers =
            tilewalk::sum({product({num(d_before, Role::l), row.exp_of(m_before, m_now, Role::m)}),
                           row.exp_of(row.x(0, n - 1), m_now, Role::S)});
        return argument_line(
            "Its recurrence",
            join({sum(now), "  =  ", sum(before), " exp(", softmax_max(before), " − ", softmax_max(now),
                  ") + exp(", softmax_score(now), " − ", softmax_max(now), ")"}),
            sum(now), &numbers, row.sum(0, n, m_now), d_before * alpha + p_now,
            n == 1 ? plain(sum(before)) + " is empty, so the first weight stands alone."
                   : "Every term of " + plain(sum(before)) + " holds the same factor exp(−" +
                         plain(softmax_max(before)) + "), so one multiplication mends them all: " +
                         plain(sum(now)) + " follows from " + plain(sum(before)) + " alone.");
    }
    Argument safe_out_line() const {
        const double o = row.output(0, n, m_end, d_end);
        const Expr numbers = row.values(0, n, m_end, d_end);
        return argument_line(
            "The output waits for both",
            join({safe_out(now), "  =  Σ j ≤ " + now + "  (exp(", softmax_score("j"), " − ", softmax_max(end),
                  ") ÷ ", safe_sum(end), ") ", softmax_value("j")}),
            component(safe_out(now), p, col), d_end == 0 ? nullptr : &numbers, o, o,
            d_end == 0 ? "The row sees no key: all weights are 0 and so is the output."
                       : "With " + plain(softmax_max(end)) + " = " + num_text(m_end) + " and " +
                             plain(safe_sum(end)) + " = " + num_text(d_end) +
                             " it is a plain sum, but both belong to the whole row: it takes a second "
                             "pass.");
    }
    Argument surrogate_out_line() const {
        const double d = row.sum(0, n, m_now), o = row.output(0, n, m_now, d);
        const Expr numbers = row.values(0, n, m_now, d);
        return argument_line(
            "The same trick once more",
            join({out(now), "  =  Σ j ≤ " + now + "  (exp(", softmax_score("j"), " − ", softmax_max(now),
                  ") ÷ ", sum(now), ") ", softmax_value("j")}),
            component(out(now), p, col), d == 0 ? nullptr : &numbers, o, o,
            d == 0   ? "No key has been seen yet: there is nothing to average."
            : n == N ? "At the last element maximum and sum are those of the row, so " + plain(out(end)) +
                           " = " + plain(safe_out(end)) + ", the output of attention."
                     : "The average of the first " + str(n) +
                           " values, as if the row ended here. Again only its last value has to be right: " +
                           plain(out(end)) + " = " + plain(safe_out(end)) + ".");
    }
    Argument out_recurrence_line() const {
        const double d_before = row.sum(0, n - 1, m_before), d = row.sum(0, n, m_now);
        const double o_before = row.output(0, n - 1, m_before, d_before);
        const double alpha = SoftmaxRow::weight(m_before, m_now), p_now = row.weight_of(n - 1, m_now);
        const double divisor = d == 0 ? 1 : d;
        const Expr numbers =
            tilewalk::sum({product({num(o_before, Role::O), quotient(num(d_before, Role::l), num(d, Role::l)),
                                    row.exp_of(m_before, m_now, Role::m)}),
                           product({quotient(row.exp_of(row.x(0, n - 1), m_now, Role::S), num(d, Role::l)),
                                    num(row.value(n - 1), Role::V)})});
        return argument_line(
            "The recurrence of the output",
            join({out(now), "  =  ", out(before), " (", sum(before), " ÷ ", sum(now), ") exp(",
                  softmax_max(before), " − ", softmax_max(now), ")  +  (exp(", softmax_score(now), " − ",
                  softmax_max(now), ") ÷ ", sum(now), ") ", softmax_value(now)}),
            component(out(now), p, col), d == 0 ? nullptr : &numbers, row.output(0, n, m_now, d),
            o_before * (d_before / divisor) * alpha + p_now / divisor * row.value(n - 1),
            d == 0 ? "No key has been seen yet: output and sum stay 0."
                   : "It takes only what is on chip at element " + now + ": the two maxima, the two sums, " +
                         plain(softmax_score(now)) + " and " + plain(softmax_value(now)) +
                         ". So all loops fuse into one.");
    }
};

}  // namespace

std::vector<Argument> softmax_derivation(const Problem& p, int n, int col) {
    const Derivation d{p, std::clamp(n, 1, p.N_kv()), std::clamp(col, 0, p.d() - 1)};
    return {d.safe_sum_line(), d.surrogate_sum_line(), d.sum_recurrence_line(),
            d.safe_out_line(), d.surrogate_out_line(), d.out_recurrence_line()};
}

}  // namespace tilewalk
