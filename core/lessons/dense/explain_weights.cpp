// The words and numbers of the attention weights and of what they do to the values, told with the tokens.
#include "core/lessons/dense/explain_parts.h"
#include "core/problem/mask.h"

#include <algorithm>

namespace tilewalk::dense {

namespace {

// "itself" where query and key are one token
std::string key_or_itself(const View& v, int c) {
    const int rows = v.problem.rows_of_head();
    return rows == v.problem.N_kv() && c == v.row % rows ? "itself" : key_name(v, c);
}

// How this weight compares with the others of its row.
std::string rank(const View& v) {
    const Value& P = v.written(v.out.target.slot);
    Numbers row;
    for (int c = 0; c < P.region.cols; ++c) row.push_back(num(v.at(P, v.row, c)));
    const std::vector<int> best = largest(row);
    const bool among = std::ranges::find(best, v.col) != best.end();
    const int seen = keys_seen(v);
    if (seen == 1) return ", the only key that it sees.";
    if (among && static_cast<int>(best.size()) == seen)
        return ", and the same to every other key that it sees.";
    if (among && best.size() == 1) return ", more than to any other key.";
    if (among) return ", its largest weight, given to " + str(static_cast<int>(best.size())) + " keys alike.";
    return "; the largest share goes to " +
           (best.size() == 1 ? key_or_itself(v, best[0]) : names(v, best, key_name)) + " (" +
           percent(v.at(P, v.row, best[0])) + (best.size() > 1 ? " each)." : ").");
}

}  // namespace

// L of a row, beside its weights: for the gradient of a sink
static void keep_log_sum(const View& v) {
    v.out.formula = join({sym(Slot::L), "  ←  ", sym(Slot::m), " + ln ", sym(Slot::l)});
    v.out.why =
        "Where there is a sink L is kept, too: exp(sink − L) is the sink's weight in the row, also where it "
        "is too small to be found in what the keys leave of 1.";
    v.out.result = result_line(v, Slot::L, v.result());
    const Expr m = v.number(Slot::m, v.row, 0), l = v.number(Slot::l, v.row, 0);
    v.out.numbers = write(sum({m, logarithm(l)}), v.result());
}

void divide(const View& v) {
    if (v.out.target.slot == Slot::L) return keep_log_sum(v);
    const Expr weight = v.number(Slot::E), total = v.number(Slot::l);
    const double l = total.value;
    v.out.formula = join({sym(Slot::Prob), "  ←  ", sym(Slot::E), " ⊘ ", sym(Slot::l)});
    if (l != 0) v.out.numbers = write(quotient(weight, total), v.result());
    const std::string q = capitalised(query_name(v, v.row));
    const bool hidden = !visible(v.problem, v.row, v.col);
    v.out.kind = l == 0 ? 1 : hidden ? 2 : 0;
    if (l == 0)
        v.out.why = q + " sees no key: there is nothing to divide, and its weights are defined as 0.";
    else if (hidden)
        v.out.why = q + " must not look at " + key_or_itself(v, v.col) + ": weight 0.";
    else
        v.out.why = q + " attends " + percent(v.result()) + " to " + key_or_itself(v, v.col) + rank(v);
}

void output(const View& v) {
    const Numbers P = v.numbers_in_row(read_one_of(v, Slot::Prob, Slot::P_hbm), v.row),
                  V = v.numbers_in_column(Slot::V, v.col);
    v.out.formula = join({sym(Slot::O), "  ←  ", sym(Slot::Prob), " ", sym(Slot::V)});
    set_sum(v, dot(P, V));
    const std::vector<int> best = largest(P);
    const double most = P[static_cast<std::size_t>(best[0])].value;
    const std::string q = query_name(v, v.row);
    const int seen = keys_seen(v);
    v.out.kind = seen == 0 ? 3 : static_cast<int>(best.size()) == seen ? 2 : best.size() > 1;
    if (seen == 0)
        v.out.why = capitalised(q) + " sees no key: its output is 0.";
    else if (v.problem.logits.sink)
        v.out.why = "The weights of " + q +
                    " leave a share to the sink, which has no value: the output is pulled towards " +
                    (best.size() == 1 ? key_or_itself(v, best[0]) : names(v, best, key_name)) + " most, by " +
                    percent(most) + ".";
    else if (seen == 1)
        v.out.why =
            capitalised(q) + " sees one key, " + key_or_itself(v, best[0]) + ", and takes over its value.";
    else if (v.out.kind == 2)
        v.out.why = "All " + str(seen) + " visible keys weigh the same: the output of " + q +
                    " is the plain mean of their values.";
    else
        v.out.why = "The output of " + q + " is a mean of the values, pulled most towards " +
                    (best.size() == 1 ? key_or_itself(v, best[0]) : names(v, best, key_name)) + " (" +
                    percent(most) + (best.size() > 1 ? " each)." : ").");
}

}  // namespace tilewalk::dense
