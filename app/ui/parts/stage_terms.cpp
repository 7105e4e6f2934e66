// Which matrices stand on stage at a step, and the signs between them: one row for each form of an op.
#include "app/ui/parts/stage_terms.h"
#include "app/ui/parts/slot_view.h"

#include "core/lessons/shared/parts.h"
#include "core/problem/precision.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <iterator>

namespace tilewalk::ui {

namespace {

// One of the values that the step reads, by its place in that list.
struct Operand {
    int read;
    const char* before = "";
    const char* after = "";
    bool transposed = false;
    bool leaves = false;
};
// An op has several forms: with and without what it adds to.
struct Form {
    Op op;
    std::size_t reads;
    std::vector<Operand> operands;
    Slot first = Slot::count;  ///< read first, where that tells forms apart
};

const Form forms[] = {
    {Op::init, 1, {{0, "", ",  1,  0"}}},  // of a sink
    {Op::project, 2, {{0}, {1, "·"}}},
    {Op::scores, 2, {{0}, {1, "·", "", true}}},
    {Op::scale, 1, {{0, "scale ·"}}},
    {Op::softcap, 1, {{0, "cap · tanh(", "÷ cap)"}}},
    {Op::bias, 1, {{0, "", "− slope · distance"}}},
    {Op::mask, 1, {{0}}},
    {Op::tile_max, 1, {{0, "rowmax(", ")"}}},
    {Op::row_max, 2, {{0, "max(rowmax(", "),"}, {1, "", ")"}}},
    {Op::row_max, 1, {{0, "rowmax(", ")"}}},
    {Op::new_max, 2, {{0, "max("}, {1, ",", ")"}}},
    {Op::correction, 2, {{0, "exp("}, {1, "−", ")"}}},
    {Op::exponentials, 2, {{0, "exp("}, {1, "−", ")"}}},
    {Op::row_sum, 1, {{0, "rowsum(", ")"}}},
    {Op::row_sum, 3, {{0, "rowsum(", ")"}, {1, "+ exp("}, {2, "−", ")"}}, Slot::E},
    {Op::row_sum, 3, {{0}, {1, "⊙"}, {2, "+ rowsum(", ")"}}},
    {Op::divide, 2, {{0}, {1, "⊘"}}},
    {Op::divide, 3, {{0}, {1, "⊘"}, {2, ",   L: ln ℓ +"}}},
    {Op::output, 2, {{0}, {1, "·"}}},
    {Op::output, 4, {{0}, {1, "⊙"}, {2, "+"}, {3, "·"}}},
    {Op::output, 6, {{0, "("}, {1, "⊙"}, {2, "⊙"}, {3, "+"}, {4, "·", ")"}, {5, "⊘"}}},
    {Op::normalize, 2, {{0}, {1, "⊘"}}},
    {Op::normalize, 3, {{0}, {2, "⊘"}, {1, ",   L: ln ℓ +"}}},
    // Three results, each with a formula of its own: what they are made from.
    {Op::part, 2, {{0, "from"}, {1, "and"}}},
    {Op::part, 3, {{0, "from"}, {2, ","}, {1, "and"}}},
    {Op::store, 3, {{0, "", "→ HBM", false, true}, {1}, {2, "+ ln"}}},
    {Op::preprocess, 2, {{1, "rowsum("}, {0, "⊙", ")"}}},
    {Op::recompute, 2, {{0, "exp("}, {1, "−", ")"}}},
    {Op::dv, 2, {{0, "", "", true}, {1, "·"}}},
    {Op::dv, 3, {{2}, {0, "+", "", true}, {1, "·"}}},
    {Op::dp, 2, {{0}, {1, "·", "", true}}},
    {Op::row_dot, 2, {{0, "rowsum("}, {1, "⊙", ")"}}},
    {Op::ds, 3, {{0}, {1, "⊙ ("}, {2, "−", ")"}}},
    {Op::cap_gradient, 2, {{0}, {1, "⊙ (1 − (", "÷ cap)²)"}}},
    {Op::dq, 2, {{0}, {1, "·"}}},
    {Op::dq, 3, {{2}, {0, "+"}, {1, "·"}}},
    {Op::dk, 2, {{0, "", "", true}, {1, "·"}}},
    {Op::dk, 3, {{2}, {0, "+", "", true}, {1, "·"}}},
    {Op::loss, 2, {{0, "sum("}, {1, "⊙", ")"}}},
    {Op::weight_gradient, 2, {{0, "", "", true}, {1, "·"}}},
    {Op::update, 2, {{0}, {1, "− η"}}},
};

// Partial results, however many: max(m₀, m₁), exp((m₀, m₁) − m), w₀ ⊙ ℓ₀ + w₁ ⊙ ℓ₁.
std::vector<Operand> merged(Op op, int reads) {
    std::vector<Operand> out;
    if (op == Op::merge_max)
        for (int n = 0; n < reads; ++n) out.push_back({n, n == 0 ? "max(" : "", n + 1 < reads ? "," : ")"});
    // What all are measured from is read first, then the parts, the last one first.
    if (op == Op::merge_weights) {
        for (int n = reads - 1; n > 0; --n)
            out.push_back({n, n == reads - 1 ? "exp((" : "", n > 1 ? "," : ")"});
        out.push_back({0, "−", ")"});
    }
    if (op == Op::merge_sum || op == Op::merge_output)
        for (int n = 0; n < reads; ++n) out.push_back({n, n == 0 ? "" : n % 2 == 0 ? "+" : "⊙"});
    return out;
}

// What has come, and the share that is added to it, piece by piece: for the keys, then for the values.
std::vector<Operand> added(int reads) {
    const int pieces = std::max(1, reads / 4);
    std::vector<Operand> out;
    for (const int first : {0, 2 * pieces})
        for (int n = 0; n < pieces; ++n) {
            out.push_back({first + n});
            out.push_back({first + pieces + n, "+"});
        }
    return out;
}

// The factor of the scores belongs to the product, unless a step of its own multiplies by it.
std::vector<Operand> scaled(const Trace& trace, int k, std::vector<Operand> operands) {
    const Op op = trace.step(k).op;
    const bool product = op == Op::scores || op == Op::dq || op == Op::dk;
    const bool apart = op == Op::scores && k + 1 < trace.size() && trace.step(k + 1).op == Op::scale;
    if (!product || apart || trace.problem().softmax_scale() == 1) return operands;
    Operand& first = operands[operands.size() - 2];
    first.before = *first.before ? "+ scale ·" : "scale ·";
    return operands;
}

// Gradients that lie in HBM grow there; the tile on chip is what the step adds up.
bool is_shown(const Trace& trace, int k, const Access& a) {
    const Op op = trace.step(k).op;
    if (op == Op::store)  // what it makes: a part has its L already
        return a.slot == Slot::L ||
               (a.slot == Slot::L_parts && !value_in(trace, trace.reads(k), Slot::L_part));
    if (op == Op::store_state) return false;
    if (op == Op::softcap) return a.slot != Slot::S_cap;
    if (op == Op::dq && trace.writes(k).size() > 1) return a.slot == Slot::dQi;
    return op != Op::preprocess || a.slot == Slot::D || a.slot == Slot::Di;
}

// What the step reads, as its equation has it.
std::vector<Operand> operands_of(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    const auto reads = trace.reads(k);
    const auto form = std::ranges::find_if(forms, [&](const Form& f) {
        const bool first = f.first == Slot::count || (!reads.empty() && reads.front().slot == f.first);
        return f.op == op && f.reads == reads.size() && first;
    });
    if (form != std::end(forms)) return scaled(trace, k, form->operands);
    const int count = static_cast<int>(reads.size());
    if (is_merge(op)) return merged(op, count);
    if (op == Op::add_share) return added(count);
    std::vector<Operand> out;
    if (op == Op::preprocess)  // O in the pieces of a shard
        for (int n = 0; n < count; ++n)
            out.push_back(n == 0 ? Operand{count - 1, "rowsum("} : Operand{n - 1, "⊙", ")"});
    else if (op == Op::sink_gradient)  // −Σ exp(sink − L) D, block by block
        for (int n = 0; n < count; ++n)
            out.push_back({n,
                           n == 0       ? "−Σ exp("
                           : n == 1     ? "−"
                           : n % 2 == 1 ? "+ exp(sink −"
                                        : "·",
                           n % 2 == 1 ? ")" : ""});
    else if (is_store(op) ||
             trace.writes(k).empty())  // what goes; a load into a kernel of its own: what comes
        for (int n = 0; n < count; ++n) out.push_back({n});
    return out;
}

}  // namespace

std::vector<StageTerm> stage_terms(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    const auto reads = trace.reads(k), writes = trace.writes(k);
    std::vector<StageTerm> out;
    const bool ranks = trace.lesson().uses(chooses_ranks);
    const auto part_of = [&](const Access& a) {
        return is_of_parts(a.slot) || (ranks && info(a.slot).hbm) ? a.tile : -1;
    };
    const auto operand = [&](const Operand& o) {
        const Access& a = reads[static_cast<std::size_t>(o.read)];
        Held made = trace.live(a.slot, a.tile, k);
        const bool old = made && made.value != &trace.value(a.value);
        while (made && made.value != &trace.value(a.value)) made = trace.live(a.slot, a.tile, made.step - 1);
        out.push_back({.slot = a.slot,
                       .value = &trace.value(a.value),
                       .made = made.step,
                       .step = k,
                       .part = part_of(a),
                       .before = o.before,
                       .after = o.after,
                       .transposed = o.transposed,
                       .old = old,
                       .leaves = o.leaves});
    };
    std::ranges::for_each(operands_of(trace, k), operand);
    for (const Access& a : writes)
        if (is_shown(trace, k, a))
            out.push_back({.slot = a.slot,
                           .value = &trace.value(a.value),
                           .made = k,
                           .step = k,
                           .part = part_of(a),
                           .result = true});
    // In the order of the parts; O, which is made first, before its L.
    if (op == Op::merge_weights || op == Op::normalize)
        std::ranges::reverse(std::ranges::find_if(out, &StageTerm::result), out.end());
    // What a kernel loads beside what an earlier one has written.
    if (op == Op::load && !writes.empty())
        for (const Access& a : reads)
            if (trace.live(a.slot, a.tile, k).step < 0)
                out.push_back({.slot = a.slot, .value = &trace.value(a.value), .result = true});
    // Several tiles of one matrix that start alike are told by the first.
    for (std::size_t n = 1; n < out.size(); ++n)
        while (n < out.size() && op == Op::init && out[n].result &&
               std::ranges::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n),
                                   [&](const StageTerm& t) { return t.slot == out[n].slot; })) {
            std::ranges::find(out, out[n].slot, &StageTerm::slot)->of_many = true;
            out.erase(out.begin() + static_cast<std::ptrdiff_t>(n));
        }
    return out;
}

std::vector<StageTerm> stage_terms(const Trace& trace, int k, const Explanation& e) {
    std::vector<StageTerm> out = stage_terms(trace, k);
    if (!trace.lesson().uses(chooses_ranks)) return out;
    const Op op = trace.step(k).op;
    const Role role = e.target.slot == Slot::count ? Role::none : info(e.target.slot).role;
    const bool pairs = op == Op::add_share, keys = role == Role::K || role == Role::V;
    if (pairs && keys) std::erase_if(out, [&](const StageTerm& t) { return info(t.slot).role != role; });
    const auto has = [&](const StageTerm& t, const CellRef& cell) {
        return cell.slot == t.slot && t.value->region.contains(cell.row, cell.col);
    };
    const auto named = [&](const StageTerm& t) {
        return has(t, e.target) ||
               std::ranges::any_of(e.sources, [&](const CellRef& cell) { return has(t, cell); });
    };
    std::erase_if(out, [&, all = out](const StageTerm& t) {
        const auto same = [&](const StageTerm& other) {
            return other.slot == t.slot && other.result == t.result;
        };
        const auto first = std::ranges::find_if(all, same);
        if (std::ranges::count_if(all, same) < 2 || !info(t.slot).hbm || named(t)) return false;
        return std::ranges::any_of(all, [&](const StageTerm& o) { return same(o) && named(o); }) ||
               first->value != t.value;
    });
    return out;
}

namespace {

// Weights are cast to the format of the product; the result is that of the cast.
Format cast_of(const Trace& trace, Slot slot) {
    const bool weights = slot == Slot::P || slot == Slot::Prob || slot == Slot::dS;
    return weights ? operand_format(trace.problem().precision) : Format::fp64;
}

CellSum::Factor factor(const Trace& trace, const StageTerm& term, bool column, int line) {
    const Matrix& A = term.value->data;
    CellSum::Factor out{term.slot, column, line, {}};
    for (Eigen::Index n = 0; n < (column ? A.rows() : A.cols()); ++n)
        out.values.push_back(round_to(cast_of(trace, term.slot), column ? A(n, line) : A(line, n)));
    return out;
}

}  // namespace

std::vector<double> CellSum::terms() const {
    std::vector<double> out;
    for (std::size_t n = 0; n < a.values.size(); ++n) out.push_back(scale * a.values[n] * b.values[n]);
    return out;
}

double CellSum::products() const {
    double out = 0;
    for (std::size_t n = 0; n < a.values.size(); ++n) out += a.values[n] * b.values[n];
    return out;
}

bool CellSum::adds_up() const {
    const double comes_to = (before * shrinks + scale * products()) / divisor;
    return std::abs(comes_to - total) <= 1e-9 * std::max(1.0, std::abs(total));
}

NumberLine brief_numbers(const Trace& trace, const CellSum& s) {
    const bool was_there = s.grows && s.before != 0;
    if (!s.adds_up() || (!was_there && s.scale == 1 && s.divisor == 1)) return {};
    const Expr products = num(trace, s.slot, s.products());
    Numbers terms;
    if (was_there) {
        Numbers old = s.shrinking;
        old.push_back(num(trace, s.slot, s.before));
        terms.push_back(old.size() > 1 ? product(old) : old.front());
    }
    terms.push_back(s.scale == 1 ? products : product({num(s.scale), products}));
    const Expr all = sum(terms);
    return write(s.divisor == 1 ? all : quotient(all, num(trace, Slot::l, s.divisor)), s.total);
}

NumberLine brief_row_sum(const Trace& trace, int k, int row) {
    const std::vector<StageTerm> all = stage_terms(trace, k);
    if (trace.step(k).op != Op::row_sum || all.size() != 4 || all[1].slot != Slot::l) return {};
    const int r = row - all[3].value->region.row;
    const double alpha = all[0].value->data(r, 0), old = all[1].value->data(r, 0),
                 weights = all[2].value->data.row(r).sum(), total = all[3].value->data(r, 0);
    const bool adds_up = std::abs(alpha * old + weights - total) <= 1e-9 * std::max(1.0, std::abs(total));
    if (!adds_up || old == 0) return {};
    const Expr shrunk = product({num(trace, all[0].slot, alpha), num(trace, Slot::l, old)});
    return write(sum({shrunk, num(trace, all[2].slot, weights)}), total);
}

std::optional<CellSum> cell_sum(const Trace& trace, int k, int row, int col, Slot slot) {
    const std::vector<StageTerm> all = stage_terms(trace, k);
    const auto begins = [](const StageTerm& t, std::string_view sign) {
        return std::string_view(t.before).starts_with(sign);
    };
    const auto result = std::ranges::find_if(all, [&](const StageTerm& t) {
        return t.result && (slot == Slot::count || t.slot == slot) && t.value->region.contains(row, col);
    });
    // A · B, or rowsum(A ⊙ B)
    const auto pair = std::ranges::adjacent_find(all, [&](const StageTerm& a, const StageTerm& b) {
        return begins(b, "·") || (begins(a, "rowsum(") && begins(b, "⊙"));
    });
    if (result == all.end() || pair == all.end()) return {};
    const StageTerm &A = pair[0], &B = pair[1];
    const bool by_rows = begins(B, "⊙");
    const int r = row - result->value->region.row, c = col - result->value->region.col;
    CellSum out{.a = factor(trace, A, A.transposed, r),
                .b = factor(trace, B, !by_rows && !B.transposed, by_rows ? r : c)};
    if (out.a.values.size() != out.b.values.size()) return {};
    out.slot = result->slot, out.total = result->value->data(r, c);
    if (std::string_view(A.before).ends_with("scale ·")) out.scale = trace.problem().softmax_scale();
    double factor = 1;  // of what follows
    Numbers factors;
    for (const StageTerm& t : all)
        if (replaces(*result, t))
            out.grows = true, out.before = t.value->data(r, c), out.shrinks = factor, out.shrinking = factors;
        else if (begins(t, "⊘"))
            out.divisor = t.value->data(r, 0);
        else if (&t < &A && t.value->region.cols == 1)
            factor *= t.value->data(r, 0), factors.push_back(num(trace, t.slot, t.value->data(r, 0)));
    return out;
}

bool replaces(const StageTerm& result, const StageTerm& old) {
    return result.result && old.old && info(old.slot).role == info(result.slot).role &&
           old.value->region == result.value->region;
}

Line stage_symbol(const Trace& trace, const StageTerm& t) {
    if (t.of_many) return pieces(block_symbol(trace, t.slot, t.step, 0), " …");
    // Parts have other letters from merge to merge.
    Line symbol = slot_symbol(trace, t.slot, t.part < 0 ? t.made : t.step, t.part);
    // What grows in HBM, block by block, has its block before it grows, too.
    if (t.old && t.part < 0 && info(t.slot).hbm && info(t.slot).role == Role::Q)
        symbol = block_symbol(trace, t.slot, t.step, trace.step(t.step).i);
    if (t.transposed) symbol = ui::transposed(std::move(symbol));
    const bool indexed = !symbol.empty() && symbol.back().script == Span::Script::sub;
    if (!t.old || t.slot == Slot::dS) return symbol;
    Span old = sub(indexed ? " old" : "old", info(t.slot).role);
    old.face = Span::Face::text;  // a word, as in the formula
    return pieces(symbol, old);
}

}  // namespace tilewalk::ui
