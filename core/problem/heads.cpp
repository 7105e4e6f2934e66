#include "core/problem/heads.h"

#include "core/base/words.h"

#include <algorithm>

namespace tilewalk {

namespace {

std::size_t at(int n) { return static_cast<std::size_t>(n); }

Matrix turned_columns(const Matrix& A, int by) {
    Matrix out(A.rows(), A.cols());
    for (Eigen::Index c = 0; c < A.cols(); ++c) out.col(c) = A.col((c + by) % A.cols());
    return out;
}

Matrix turned_rows(const Matrix& A, int by) {
    Matrix out(A.rows(), A.cols());
    for (Eigen::Index r = 0; r < A.rows(); ++r) out.row(r) = A.row((r + by) % A.rows());
    return out;
}

// What the shown head holds now goes to its place among the heads.
void keep_shown(Problem& p) {
    Heads& heads = *p.heads;
    const std::size_t h = at(heads.shown), g = at(key_head(p, heads.shown));
    heads.Q[h] = p.Q, heads.K[g] = p.K, heads.V[g] = p.V;
    if (p.dO && h < heads.dO.size()) heads.dO[h] = *p.dO;
}

std::optional<std::string> check_head_shapes(const Problem& p, const std::vector<Matrix>& all,
                                             const Matrix& like, const char* name) {
    for (std::size_t n = 0; n < all.size(); ++n)
        if (all[n].rows() != like.rows() || all[n].cols() != like.cols() || !all[n].allFinite())
            return std::string(name) + " of head " + str(static_cast<int>(n)) +
                   " must be a matrix of finite numbers with " + counted(like.rows(), "row") + " and " +
                   counted(p.d(), "column") + ", as that of the shown head.";
    return {};
}

}  // namespace

int query_heads(const Problem& p) { return p.heads ? static_cast<int>(p.heads->Q.size()) : 1; }
int key_heads(const Problem& p) { return p.heads ? static_cast<int>(p.heads->K.size()) : 1; }
int heads_of_group(const Problem& p) { return query_heads(p) / key_heads(p); }
int shown_head(const Problem& p) { return p.heads ? p.heads->shown : 0; }
int key_head(const Problem& p, int h) { return h / heads_of_group(p); }

int head_of_row(const Problem& p, int r) {
    return p.packed > 1 ? key_head(p, shown_head(p)) * p.packed + r / p.rows_of_head() : shown_head(p);
}

std::string of_head(const Problem& p, int r) {
    return p.packed > 1 ? " of head " + str(head_of_row(p, r)) : "";
}

std::optional<Problem> packed_group(const Problem& p) {
    const int size = heads_of_group(p), first = key_head(p, shown_head(p)) * size;
    if (size == 1 || p.packed > 1) return {};
    Problem out = p;
    keep_shown(out);
    const auto below_each_other = [&](const std::vector<Matrix>& all) {
        Matrix A(size * p.N(), p.d());
        for (int n = 0; n < size; ++n) A.middleRows(n * p.N(), p.N()) = all[at(first + n)];
        return A;
    };
    out.Q = below_each_other(out.heads->Q);
    if (p.dO) out.dO = below_each_other(out.heads->dO);
    out.packed = size;
    return out;
}

Problem head_alone(const Problem& p, int h) {
    Problem out = p;
    if (p.heads) show_head(out, h);
    out.heads.reset();
    return out;
}

void show_head(Problem& p, int h) {
    if (!p.heads) return;
    keep_shown(p);
    Heads& heads = *p.heads;
    heads.shown = std::clamp(h, 0, query_heads(p) - 1);
    const std::size_t q = at(heads.shown), g = at(key_head(p, heads.shown));
    p.Q = heads.Q[q], p.K = heads.K[g], p.V = heads.V[g];
    if (q < heads.dO.size()) p.dO = heads.dO[q];
}

void give_heads(Problem& p, int H, int H_kv) {
    show_head(p, 0);
    const bool once = p.heads && p.heads->once;
    p.heads.reset();
    if (H == 1 && H_kv == 1) return;
    Heads& heads = p.heads.emplace();
    heads.once = once;
    for (int h = 0; h < H; ++h) {
        heads.Q.push_back(turned_columns(p.Q, h));
        if (p.dO) heads.dO.push_back(turned_columns(*p.dO, h));
    }
    for (int g = 0; g < H_kv; ++g) {
        heads.K.push_back(turned_rows(p.K, g));
        heads.V.push_back(turned_columns(p.V, g));
    }
}

std::optional<std::string> check_heads(const Problem& p) {
    if (!p.heads) return {};
    const Heads& heads = *p.heads;
    const int H = static_cast<int>(heads.Q.size()), H_kv = static_cast<int>(heads.K.size());
    if (H < 1 || H_kv < 1 || H > most_heads)
        return (H == 1 ? "There is " : "There are ") + counted(H, "query head") + " and " +
               counted(H_kv, "key head") + "; there may be 1 to " + str(most_heads) +
               " query heads, and each needs a key head.";
    if (H % H_kv != 0)
        return str(H) + " query heads cannot share " + str(H_kv) +
               " key heads evenly; the number of query heads must be a multiple of that of key heads.";
    if (heads.V.size() != heads.K.size())
        return "There are K of " + counted(H_kv, "head") + " and V of " + str(heads.V.size()) +
               "; each key head has both.";
    if (heads.dO.size() != (p.dO ? heads.Q.size() : 0))
        return "There are dO of " + counted(heads.dO.size(), "head") + "; expected one for each of the " +
               str(H) + " query heads, or none.";
    if (heads.shown < 0 || heads.shown >= H)
        return "The shown head is " + str(heads.shown) + "; " +
               (H == 1 ? "there is head 0 alone." : "there are the heads 0 to " + str(H - 1) + ".");
    if (p.projection) return "With an input X there is one head; leave out X and the weights, or the heads.";
    if (auto s = check_head_shapes(p, heads.Q, p.Q, "Q")) return s;
    if (auto s = check_head_shapes(p, heads.K, p.K, "K")) return s;
    if (auto s = check_head_shapes(p, heads.V, p.V, "V")) return s;
    return p.dO ? check_head_shapes(p, heads.dO, *p.dO, "dO") : std::nullopt;
}

}  // namespace tilewalk
