// The proof by splitting: two parts of a row, each with its own maximum, merge to the whole (induction over
// the tiles: what is merged so far is the left part, the next tile the right one).
#include "core/lessons/softmax/row.h"
#include "core/walk/explain_view.h"

#include <algorithm>

namespace tilewalk {

namespace {

struct Part {
    int first, last;
    const char* mark;  ///< "(1)"
    double m, sum, out;
    bool empty() const { return first == last; }
};

struct Proof {
    const Problem& p;
    int split, col;
    SoftmaxRow row{p, col};
    SoftmaxLetters letters = letters_of(p);
    int N = p.N_kv();
    Part left = part(0, split, "(1)"), right = part(split, N, "(2)"), whole = part(0, N, "");

    static SoftmaxLetters letters_of(Problem p) {
        p.options.normalised = false;  // the parts are merged before the division
        return softmax_letters(p, SoftmaxForm::one_pass);
    }
    Part part(int first, int last, const char* mark) const {
        const double m = row.maximum(first, last);
        return {first, last, mark, m, row.sum(first, last, m), row.output(first, last, m, 1)};
    }

    static Line marked(Line symbol, const Part& part) {
        if (*part.mark)
            symbol.push_back({part.mark, symbol.front().role, Span::Face::text, Span::Script::super});
        return symbol;
    }
    Line m(const Part& part) const { return marked(softmax_max(""), part); }
    Line sum(const Part& part) const { return marked(softmax_sum(letters, ""), part); }
    Line out(const Part& part) const { return marked(softmax_out(letters, ""), part); }
    // "j < 2" or "j ≥ 2"
    std::string range_of(const Part& part) const {
        return part.first == 0 && part.last == N && !*part.mark ? std::string("j")
               : &part == &left                                 ? "j < " + str(split)
                                                                : "j ≥ " + str(split);
    }
    Line weights(const Part& part, const Part& base) const {
        return join({"Σ " + range_of(part) + "  exp(", softmax_score("j"), " − ", m(base), ")"});
    }
    Line factor(const Part& part) const { return join({"exp(", m(part), " − ", m(whole), ") "}); }
    Expr factor_numbers(const Part& part) const { return row.exp_of(part.m, whole.m, Role::m); }
    double factor_value(const Part& part) const { return SoftmaxRow::weight(part.m, whole.m); }

    Argument part_line(const Part& part) const {
        const bool is_left = &part == &left;
        const Expr numbers = row.weights(part.first, part.last, part.m);
        std::string why;
        if (part.empty())
            why = is_left
                      ? "Cut before the first element, the left part is empty: the start values of the loop."
                      : "Cut behind the last element, the right part is empty: nothing is left to read.";
        else if (part.m == minus_infinity)
            why = "The mask hides every key of this part: no maximum, and nothing to sum.";
        else
            why = std::string(is_left ? "The left part" : "The right part") +
                  " knows its own maximum only, " + num_text(part.m) + ".";
        return argument_line(is_left ? "The left part" : "The right part",
                             join({sum(part), "  =  ", weights(part, part)}), sum(part), &numbers, part.sum,
                             part.sum, why);
    }
    Argument maximum_line() const {
        const Expr numbers = maximum({num(left.m, Role::m), num(right.m, Role::m)});
        return argument_line("One maximum for both",
                             join({m(whole), "  =  max(", m(left), ", ", m(right), ")"}), m(whole), &numbers,
                             whole.m, std::max(left.m, right.m),
                             "The largest of all is the larger of the two largest, wherever the row is cut.");
    }
    Argument rebased_line(const Part& part) const {
        const bool is_left = &part == &left;
        const Expr numbers = product({factor_numbers(part), num(part.sum, Role::l)});
        const std::string side = is_left ? "left" : "right";
        const double rebased = row.sum(part.first, part.last, whole.m);
        return argument_line(
            "The " + side + " part, from the common maximum",
            join({weights(part, whole), "  =  ", factor(part), sum(part)}), text("the " + side + " weights"),
            &numbers, rebased, factor_value(part) * part.sum,
            part.m == whole.m ? "This part holds the maximum of both, so its weights are right as they are."
                              : "exp(x − m) is exp(x − " + plain(m(part)) +
                                    ") times one factor that is the same for "
                                    "every element: it can be taken out of the sum.");
    }
    Argument sum_line() const {
        const Expr numbers = tilewalk::sum({product({factor_numbers(left), num(left.sum, Role::l)}),
                                            product({factor_numbers(right), num(right.sum, Role::l)})});
        return argument_line(
            "The sum of the whole row",
            join({sum(whole), "  =  ", factor(left), sum(left), " + ", factor(right), sum(right)}),
            sum(whole), &numbers, whole.sum, factor_value(left) * left.sum + factor_value(right) * right.sum,
            "The same as the sum over all " + count(N, "element") +
                " at once. What is merged so far is the left part, the next tile the right one: that "
                "is the induction.");
    }
    Argument out_line() const {
        const Expr numbers = tilewalk::sum({product({factor_numbers(left), num(left.out, Role::O)}),
                                            product({factor_numbers(right), num(right.out, Role::O)})});
        return argument_line(
            "The output likewise",
            join({out(whole), "  =  ", factor(left), out(left), " + ", factor(right), out(right)}),
            component(out(whole), p, col), &numbers, whole.out,
            factor_value(left) * left.out + factor_value(right) * right.out,
            "Each value is multiplied by the weight that also stands in the sum, so the same two factors "
            "serve both.");
    }
    Argument division_line() const {
        const double o = row.output(0, N, whole.m, whole.sum);
        const Expr numbers = quotient(num(whole.out, Role::O), num(whole.sum, Role::l));
        const bool none = whole.sum == 0;
        return argument_line(
            "One division at the end",
            join({softmax_final(letters, ""), "  =  ", out(whole), " ÷ ", sum(whole)}),
            component(softmax_final(letters, ""), p, col), none ? nullptr : &numbers, o,
            none ? 0 : whole.out / whole.sum,
            none ? "The row sees no key: there is nothing to divide, and its output is 0."
                 : "The output of attention, whatever the cut: move it and only the way changes.");
    }
};

}  // namespace

std::vector<Argument> softmax_proof(const Problem& p, int split, int col) {
    const Proof proof{p, std::clamp(split, 0, p.N_kv()), std::clamp(col, 0, p.d() - 1)};
    return {proof.part_line(proof.left),
            proof.part_line(proof.right),
            proof.maximum_line(),
            proof.rebased_line(proof.left),
            proof.rebased_line(proof.right),
            proof.sum_line(),
            proof.out_line(),
            proof.division_line()};
}

}  // namespace tilewalk
