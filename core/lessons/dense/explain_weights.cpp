// The words and numbers of the attention weights and of what they do to the values, told with the tokens.
#include "core/lessons/dense/explain_parts.h"
#include "core/problem/mask.h"

#include <algorithm>

namespace tilewalk::dense {

namespace {

std::vector<double> row_of(const View& v, const Value& A) {
    std::vector<double> out;
    for (int c = 0; c < A.region.cols; ++c) out.push_back(v.at(A, v.row, c));
    return out;
}

int keys_seen(const View& v) {
    int seen = 0;
    for (int c = 0; c < v.problem.N_kv(); ++c) seen += visible(v.problem, v.row, c);
    return seen;
}

// "itself" where query and key are one token
std::string key_or_itself(const View& v, int c) {
    return v.problem.N() == v.problem.N_kv() && c == v.row ? "itself" : key_name(v, c);
}

// How this weight compares with the others of its row.
std::string rank(const View& v, const std::vector<double>& row) {
    const std::vector<int> best = largest(row);
    const bool among = std::ranges::find(best, v.col) != best.end();
    const int seen = keys_seen(v);
    if (seen == 1) return ", the only key that it sees.";
    if (among && static_cast<int>(best.size()) == seen)
        return ", and the same to every other key that it sees.";
    if (among && best.size() == 1) return ", more than to any other key.";
    if (among) return ", its largest weight, given to " + str(static_cast<int>(best.size())) + " keys alike.";
    return "; most goes to " + (best.size() == 1 ? key_or_itself(v, best[0]) : names(v, best, key_name)) +
           " (" + percent(row[static_cast<std::size_t>(best[0])]) + (best.size() > 1 ? " each)." : ").");
}

}  // namespace

void divide(const View& v) {
    const double weight = v.at(v.read(Slot::E), v.row, v.col), l = v.at(v.read(Slot::l), v.row, 0);
    v.out.formula = join({sym(Slot::Prob), text("  ←  "), sym(Slot::E), text(" ⊘ "), sym(Slot::l)});
    if (l != 0) v.out.numbers = write(quotient(num(weight, Role::S), num(l, Role::l)), v.result());
    set_result(v);
    const std::string q = capital(query_name(v, v.row));
    const bool hidden = !visible(v.problem, v.row, v.col);
    v.out.kind = l == 0 ? 1 : hidden ? 2 : 0;
    if (l == 0)
        v.out.why = q + " sees no key: there is nothing to divide, and its weights are defined as 0.";
    else if (hidden)
        v.out.why = q + " must not look at " + key_or_itself(v, v.col) + ": weight 0.";
    else
        v.out.why = q + " attends " + percent(v.result()) + " to " + key_or_itself(v, v.col) +
                    rank(v, row_of(v, v.written(v.out.target.slot)));
    v.source(Slot::E, v.row, v.col);
    v.source(Slot::l, v.row, 0);
}

void output(const View& v) {
    const Slot from = read_one_of(v, Slot::Prob, Slot::P_hbm);
    const Value &P = v.read(from), &V = v.read(Slot::V);
    std::vector<Expr> terms;
    for (int c = 0; c < P.region.cols; ++c)
        terms.push_back(product({num(v.at(P, v.row, c), Role::S), num(v.at(V, c, v.col), Role::V)}));
    v.out.formula = join({sym(Slot::O), text("  ←  "), sym(Slot::Prob), text(" "), sym(Slot::V)});
    set_sum(v, std::move(terms));
    set_result(v);
    const std::vector<double> row = row_of(v, P);
    const std::vector<int> best = largest(row);
    const double most = row[static_cast<std::size_t>(best[0])];
    const std::string q = query_name(v, v.row);
    const int seen = keys_seen(v);
    v.out.kind = seen == 0 ? 3 : static_cast<int>(best.size()) == seen ? 2 : best.size() > 1;
    if (seen == 0)
        v.out.why = capital(q) + " sees no key: its output is 0.";
    else if (seen == 1)
        v.out.why =
            capital(q) + " sees one key, " + key_or_itself(v, best[0]) + ", and takes over its value.";
    else if (v.out.kind == 2)
        v.out.why = "All " + str(seen) + " visible keys weigh the same: the output of " + q +
                    " is the plain mean of their values.";
    else
        v.out.why = "The output of " + q + " is a mean of the values, pulled most towards " +
                    (best.size() == 1 ? key_or_itself(v, best[0]) : names(v, best, key_name)) + " (" +
                    percent(most) + (best.size() > 1 ? " each)." : ").");
    v.source_row(from, P, v.row);
    v.source_column(Slot::V, V, v.col);
}

}  // namespace tilewalk::dense
