// The words and numbers of the ops that make S and m of a tile: load to new_max.
#include "core/lessons/forward/explain.h"
#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/explain_loads.h"
#include "core/problem/mask.h"
#include "core/problem/savings.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

void explain_load_q(const View& v) {
    const Region q = v.written(Slot::Qi).region;
    const std::string who = range(q.row, q.rows, "Query", "Queries");
    const std::string size = size_words(q, v.problem.element_bytes) + ".";
    tell_query_load(
        v, key_blocks_seen(v.problem, v.step.i) == 0
               ? who + (q.rows == 1 ? " comes" : " come") +
                     " on chip, but the mask hides every key block: " + size
               : who + (q.rows == 1 ? " comes on chip once and stays" : " come on chip once and stay") +
                     " there while the key blocks stream past: " + size);
}

void explain_init(const View& v) {
    const bool no_max = v.problem.switches.no_max;
    v.out.formula = join({sym(Slot::m), no_max ? " ← 0,  " : " ← −∞,  ", sym(Slot::l), " ← 0,  ",
                          sym(Slot::Oi, v.step.i), " ← 0"});
    if (v.problem.logits.sink) return tell_sink_start(v, sym(Slot::m), sym(Slot::l), sym(Slot::Oi, v.step.i));
    const std::string before = str(v.step.i - 1);
    v.out.why = no_max ? "Fault: this kernel keeps no maximum, m is 0 and stays 0. Sum and output start at 0."
                : v.step.i == 0
                    ? "Nothing has been seen yet: the running maximum is −∞, the running sum and the output "
                      "are 0."
                    : "Query block " + str(v.step.i) + " starts anew: m, ℓ and O of block " + before +
                          " are of no use to it. What block " + before + " gave is done and in HBM.";
}

void explain_load_kv(const View& v) {
    const int i = v.step.i, j = v.step.j;
    bool again = false;
    for (int earlier = 0; earlier < i; ++earlier)
        again |= tile_cover(v.problem, earlier, j) != TileCover::none;
    const std::string block = "Key block " + str(j);
    const std::string once =
        v.problem.Tr() == 1
            ? "Only one key block is on chip at a time; with one query block each is read once."
        : i == 0 && j == 0
            ? "Only one key block is on chip at a time; every query block that needs it reads it again."
        : !again ? block + " takes the place of the one before, which this query block needs no more."
                 : block + " comes from HBM once more, now for query block " + str(i) +
                       ": the price for keeping O on chip.";
    tell_key_load(v, once + " K and V");
}

void explain_scores(const View& v) {
    const Region tile = v.written(Slot::S).region;
    explain_score(v, "How well does " + v.query() + " match " + v.key() + "? The " + str(tile.rows) +
                         "\u00A0×\u00A0" + str(tile.cols) + " tile of scores exists only in SRAM.");
}

void explain_mask(const View& v) {
    const int own = v.row + v.problem.N_kv() - v.problem.N();  // the key at this query's own position
    const bool masked = !passes_mask(v.problem, v.row, v.col);
    v.out.formula = join({sym(Slot::S), "  ←  −∞  where masked"});
    const std::string pair = v.key() + " for " + v.query();
    v.out.kind = masked;
    if (!masked && !visible(v.problem, v.row, v.col)) v.out.kind = faulty;
    if (v.out.kind == faulty)
        v.out.why = "Fault: the edge of the mask lies one key too far right, so " + v.query() +
                    " keeps its score with " + v.key() + ", which it should not see.";
    else if (!masked)
        v.out.why = "The mask leaves " + pair + " as it is.";
    else if (v.col > own && v.problem.causal)
        v.out.why = "The causal mask hides " + pair + ": it lies in the future" +
                    (own < 0 ? "." : " (the last visible key is " + str(own) + ").");
    else
        v.out.why = "The window hides " + pair + ": it is more than " + str(*v.problem.window) +
                    (*v.problem.window == 1 ? " position" : " positions") + " away.";
    if (own < 0 && masked && v.problem.causal && !sees_some_key(v.problem, v.row))
        v.out.why = v.first_query() + " comes before every key, so the mask hides all of them.";
    v.source(Slot::S, v.row, v.col);
}

// Why a row has no score above −∞ in this tile.
std::string no_score_sentence(const View& v, const Value& S) {
    bool nan = false, passes = false;
    for (int c = S.region.col; c < S.region.col + S.region.cols; ++c) {
        nan |= std::isnan(v.at(S, v.row, c));
        passes |= passes_mask(v.problem, v.row, c);
    }
    const std::string query = v.query();
    if (nan)
        return "The scores of " + query + " in this tile are NaN; the maximum passes over NaN and is −∞.";
    if (passes) return "The scores of " + query + " in this tile overflowed to −∞; so is its maximum.";
    return "The mask hides every key of this tile from " + query + "; its maximum is −∞.";
}

// The row has another tile before it.
bool more_tiles(const View& v) {
    for (int k = v.k + 1; k < v.trace.size(); ++k)
        if (v.trace.step(k).op == Op::tile_max && step_region(v.trace, k).contains(v.row, 0)) return true;
    return false;
}

// Which key gives the row its maximum in this tile; ties name them all, up to three.
std::string best_key_sentence(const View& v, const Value& S, double best) {
    const std::string query = v.query();
    if (best == minus_infinity) return no_score_sentence(v, S);
    if (S.region.cols == 1) return "The tile has one key, so its score is the maximum of " + query + ".";
    std::vector<int> keys;
    for (int c = 0; c < S.region.cols; ++c)
        if (v.at(S, v.row, S.region.col + c) == best) keys.push_back(S.region.col + c);
    if (keys.size() == 1) {
        const double so_far = v.at(*v.trace.live(Slot::m, v.k).value, v.row, 0);
        const bool first = so_far == minus_infinity;
        return "In this tile " + query + " scores highest with key " + str(keys[0]) + ". " +
               (first && !more_tiles(v) ? "There is no other tile to wait for."
                : first                 ? "Keys of later tiles are not known yet."
                : best > so_far         ? "That is more than its maximum so far, " + num_text(so_far) + "."
                                : "Its maximum so far, " + num_text(so_far) + ", is as good or better.");
    }
    if (keys.size() > 3)
        return str(static_cast<int>(keys.size())) + " keys tie for the highest score of " + query +
               " in this tile.";
    std::vector<std::string> names;
    for (int key : keys) names.push_back(str(key));
    return "Keys " + listed(names, "and") + " tie for the highest score of " + query + " in this tile.";
}

void explain_tile_max(const View& v) {
    const Precision& format = v.problem.precision;
    Numbers scores = v.numbers_in_row(Slot::S, v.row);
    double best = minus_infinity;
    for (const Expr& score : scores) best = std::fmax(best, score.value);
    const bool all_nan = std::ranges::all_of(scores, [](const Expr& e) { return std::isnan(e.value); });
    if (all_nan) scores.push_back(num(minus_infinity));  // where the hardware's max begins
    v.out.formula = join({sym(Slot::m_tile), "  ←  rowmax(", sym(Slot::S), ")"});
    v.out.why = best_key_sentence(v, v.read(Slot::S), best);
    // A maximum is one of the scores: it is rounded only where the stage is coarser than they are.
    const Format stage = contains(format.softmax, format.scores) ? Format::fp64 : format.softmax;
    set_numbers(v, rounded(stage, maximum(std::move(scores))));
    if (v.problem.switches.no_max) add_sentence(v, "This kernel does not use it.");
}

// The maximum is left out: m stays what it was, 0.
void explain_no_max(const View& v, double tile) {
    v.out.formula = join({sym(Slot::m), "  ←  0"});
    v.out.kind = faulty;
    v.out.why = "Fault: m stays 0, although " + v.query() + " has a maximum of " + num_text(tile) +
                " in this tile. Nothing keeps its weights at or below 1.";
    if (tile == minus_infinity)
        v.out.why = "Fault: m stays 0; " + v.query() + " has no score above −∞ in this tile.";
}

// m stays, although the tile has a larger score.
void explain_kept_max(const View& v, const Expr& old, double tile) {
    const auto [kept, best] = format_apart(old.value, tile);
    v.out.formula = join({sym(Slot::m), "  ←  ", m_old()});
    v.out.kind = stays;
    v.out.why = "The best score of " + v.query() + " rises from " + kept + " to " + best + ", by " +
                num_text(rise(old.value, tile)) +
                " powers of two. That is not more than τ = " + format_full(*saved_in(v.trace).lazy) +
                ", so m stays " + kept + ": neither ℓ nor O is rescaled, and weights may exceed 1.";
    set_numbers(v, old);
}

// The title of a step is that of all its rows.
bool all_rows_are(const View& v, Kind kind) {
    const Matrix &old = v.read(Slot::m).data, &now = v.written(Slot::m).data;
    for (Eigen::Index r = 0; r < now.rows(); ++r)
        if (kind_of(old(r, 0), now(r, 0)) != kind) return false;
    return true;
}

void explain_new_max(const View& v) {
    const Expr old = v.number(Slot::m), tile = v.number(Slot::m_tile);
    if (v.problem.switches.no_max) return explain_no_max(v, tile.value);
    const Savings& saved = saved_in(v.trace);
    if (saved.lazy && tile.value > old.value && v.result() == old.value)
        return explain_kept_max(v, old, tile.value);
    v.out.formula = join({sym(Slot::m), "  ←  max(", m_old(), ", ", sym(Slot::m_tile), ")"});
    const auto [from, to] = format_apart(old.value, v.result());
    const std::string query = v.query();
    const Kind kind = kind_of(old.value, v.result());
    if (kind == rises && all_rows_are(v, kind)) v.out.title = "The maximum rises";
    if (kind == stays && all_rows_are(v, kind)) v.out.title = "The maximum stays";
    const OfKinds words{
        .sees_no_key = sees_some_key(v.problem, v.row, last_key(v))
                           ? "Every score of " + query + " so far is −∞ or NaN: its maximum stays −∞."
                           : v.first_query() + " has not seen a single key yet, so its maximum stays −∞.",
        .starts = "These are the first scores that " + query + " sees: its maximum starts at " + to + ".",
        .rises = "The maximum of " + query + " rises from " + from + " to " + to +
                 ": all that it summed so far was measured from " + from + " and must be corrected.",
        .stays = "The maximum of " + query + " stays " + to + ": what it summed so far needs no correction.",
    };
    v.out.kind = kind;
    v.out.why = words[kind];
    if (saved.lazy && kind == rises)
        add_sentence(v, "That is a rise by " + num_text(rise(old.value, v.result())) +
                            " powers of two, more than τ = " + format_full(*saved.lazy) + ".");
    set_numbers(v, maximum({old, tile}));
}

}  // namespace

void explain_score(const View& v, const std::string& why) {
    const Numbers Q = v.numbers_in_row(Slot::Qi, v.row), K = v.numbers_in_row(Slot::Kj, v.col);
    const double scale = v.problem.softmax_scale();
    const bool scaled = scale != 1.0;
    v.out.formula = join({sym(Slot::S), "  ←  ", scaled ? text("scale · ") : Line{}, sym(Slot::Qi, v.step.i),
                          " ", transposed(sym(Slot::Kj, v.step.j))});
    v.out.why = why;
    set_numbers(v,
                rounded(v.problem.precision.scores, scaled ? product({num(scale), dot(Q, K)}) : dot(Q, K)));
}

LogitWords tile_words(const View& v) { return {v.query(), v.key(), Slot::S, v.problem.precision.scores}; }

void explain_forward(const View& v) {
    switch (v.step.op) {
    case Op::load_q: return explain_load_q(v);
    case Op::init: return explain_init(v);
    case Op::load_kv: return explain_load_kv(v);
    case Op::scores: return explain_scores(v);
    case Op::softcap: return explain_softcap(v, tile_words(v));
    case Op::bias: return explain_bias(v, tile_words(v));
    case Op::mask: return explain_mask(v);
    case Op::tile_max: return explain_tile_max(v);
    case Op::new_max: return explain_new_max(v);
    case Op::correction: return explain_correction(v);
    case Op::exponentials: return explain_exponentials(v);
    case Op::row_sum: return explain_row_sum(v);
    case Op::output: return explain_output(v);
    case Op::normalize: return explain_normalize(v);
    case Op::store: return explain_store(v);
    case Op::skip: return explain_skip(v);
    default: return;
    }
}

}  // namespace tilewalk
