#include "core/lessons/shared/explain_logits.h"

#include "core/base/exactly.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/problem/logits.h"

#include <cmath>

namespace tilewalk {

namespace {

enum CapKind { at_zero = 0, nearly_linear = 1, bent = 2, saturated = 3 };

// How far out on tanh a capped score lies.
CapKind kind_of_cap(double cap, double capped) {
    const double part = std::abs(capped / cap);
    return part == 0 ? at_zero : part < 0.25 ? nearly_linear : part < 0.95 ? bent : saturated;
}

std::string positions(int n) { return count(n, "position"); }

}  // namespace

void explain_softcap(const View& v, const LogitWords& words) {
    const Expr score = v.number(words.scores), cap = num(*v.problem.logits.softcap);
    v.out.formula = join({sym(v.out.target.slot), "  ←  cap · tanh(", sym(words.scores), " ÷ cap)"});
    const auto [from, to] = format_apart(score.value, v.result());
    const std::string limit = num_text(std::copysign(cap.value, score.value));  // on its side of 0
    const std::string move =
        "The score of " + words.query + " and " + words.key + " goes from " + from + " to " + to;
    const CapKind kind = kind_of_cap(cap.value, v.result());
    v.out.kind = kind;
    v.out.why = kind == at_zero ? "A score of 0 stays 0: the softcap only bends what is far from it."
                : kind == nearly_linear
                    ? move + ": this far from " + limit + " tanh is nearly a straight line."
                : kind == bent ? move + ": the nearer to " + limit + ", the less a score still moves."
                               : move + ": no score passes " + limit +
                                     ", however far from 0 it was, and none needs to be cut off.";
    set_numbers(v, rounded(words.format, product({cap, hyperbolic_tangent(quotient(score, cap))})));
}

void explain_bias(const View& v, const LogitWords& words) {
    const Expr score = v.number(words.scores);
    const int apart = words.apart.value_or(distance(v.problem, v.row, v.col));
    const double slope = *v.problem.logits.alibi;
    v.out.distance = apart;
    v.out.formula = join({sym(Slot::S), "  ←  ", sym(words.scores), " − slope · distance"});
    v.out.kind = apart == 0 ? 0 : slope == 0 ? 2 : 1;
    v.out.why = apart == 0 ? capitalised(words.key) + " stands at the position of " + words.query +
                                 ": the distance is 0, and nothing is taken off."
                : slope == 0 ? "A slope of 0 takes nothing off, however far " + words.key + " is."
                             : capitalised(words.key) + " is " + positions(apart) + " from " + words.query +
                                   ", so its score loses " + num_text(slope * apart) +
                                   ": the farther a key, the less it counts.";
    set_numbers(v, rounded(words.format, difference(score, product({num(slope), num(apart)}))));
}

void explain_cap_gradient(const View& v, const LogitWords& words) {
    const Expr gradient = v.number(Slot::dS), score = v.number(words.scores),
               cap = num(*v.problem.logits.softcap), part = quotient(score, cap);
    const Line S = sym(words.scores);
    v.out.formula =
        join({sym(Slot::dS), "  ←  ", score_gradient(v.trace, v.k - 1), " ⊙ (1 − (", S, " ÷ cap)²)"});
    const double slope = 1 - std::pow(score.value / cap.value, 2);
    const CapKind kind = kind_of_cap(cap.value, score.value);
    v.out.kind = gradient.value == 0 ? 4 : kind;
    v.out.why = gradient.value == 0 ? "There was no gradient before the softcap, and there is none behind it."
                : kind == at_zero ? "At a score of 0 the softcap has slope 1: the gradient passes unchanged."
                : kind == saturated
                    ? slope == 0 ? "At the cap tanh is flat: nothing of this gradient passes."
                                 : "Near the cap tanh is flat: of this gradient only " + num_text(slope) +
                                       " times passes, and the score hardly learns."
                    : "The slope of the softcap at " + num_text(score.value) + " is " + num_text(slope) +
                          ": by so much a change of the score still comes through.";
    set_numbers(v, rounded(words.format, product({gradient, difference(num(1), product({part, part}))})));
}

void tell_sink_start(const View& v, const Line& m, const Line& l, const Line& O) {
    const bool no_max = v.problem.switches.no_max;
    const std::string sink = num_text(*v.problem.logits.sink);
    v.out.formula = no_max ? join({m, " ← 0,  ", l, " ← exp(", sym(Slot::sink), "),  ", O, " ← 0"})
                           : join({m, " ← ", sym(Slot::sink), ",  ", l, " ← 1,  ", O, " ← 0"});
    v.out.why = "The sink comes first: a logit of " + sink +
                " that every query sees, without a value. The sum starts "
                "at its weight, exp(0) = 1, the output at 0.";
    if (no_max)
        v.out.why = "Fault: this kernel keeps no maximum, m is 0 and stays 0. The sum starts at the sink's "
                    "weight, exp(" +
                    sink + "), the output at 0.";
    const Slot slot = v.out.target.slot;
    const bool from_sink = slot == Slot::l || slot == Slot::l_hbm || slot == Slot::l_part
                               ? no_max
                               : slot != Slot::Oi && slot != Slot::O && slot != Slot::O_part && !no_max;
    if (from_sink) v.source(Slot::sink, 0, 0);
}

void tell_sink_gradient(const View& v, Numbers terms, Format format) {
    constexpr int most_terms = 127;
    v.out.place = "all queries";
    v.out.result = join({sym(Slot::dsink), " = ", Line{strong_number(result_text(v))}});
    v.out.kind = v.result() > 0 ? 1 : v.result() < 0 ? 2 : 0;
    const std::string value = v.result() == 0  ? "would change nothing"
                              : v.result() > 0 ? "would raise the loss"
                                               : "would lower the loss";
    v.out.why = "The sink has no value, so its dP is 0 and its dS is −P D in every row. One number serves "
                "all queries: "
                "their sum says that a higher sink " +
                value + ".";
    if (static_cast<int>(terms.size()) <= most_terms)
        set_numbers(v, rounded(format, difference(num(0), sum(std::move(terms)))));
}

double sink_share(const View& v, double m, double l) { return exp_exactly(*v.problem.logits.sink - m) / l; }

}  // namespace tilewalk
