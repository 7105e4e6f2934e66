#include "core/lessons/shared/faults.h"

#include "core/lessons/shared/explain_faults.h"
#include "core/lessons/shared/parts.h"
#include "core/problem/precision.h"
#include "core/walk/compare.h"
#include "core/walk/explain_view.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewalk {

namespace {

// ---- What came of a fault, told by the first step that shows it

// What the step wrote there, and where in it the cell lies; null: it wrote something else.
struct Written {
    const Access* access = nullptr;
    int row = 0;  ///< of the value
};
Written written_at(const Trace& trace, const Difference& d) {
    for (const Access& a : trace.writes(d.step)) {
        const Region& at = trace.value(a.value).region;
        if (a.slot == d.cell.slot && at.contains(d.cell.row, d.cell.col)) return {&a, d.cell.row - at.row};
    }
    return {};
}

// The row of a slot with one number for each row that stands beside the cell, as step k left it.
double beside(const Trace& trace, Slot slot, const Difference& d, int k) {
    return trace.live(slot, k).value->data(written_at(trace, d).row, 0);
}

// m of the row that differs, as it was after that step or before its latest change.
double m_of(const Trace& trace, const Difference& d, bool before) {
    return beside(trace, Slot::m, d, before ? trace.live(Slot::m, d.step).step - 1 : d.step);
}

// "row 2", on a ring with its rank
std::string row_of(const Walks& w, const Difference& d) {
    if (w.truth.lesson().uses(chooses_ranks)) {
        const Indices at = indices(w.truth, d.cell.slot, {d.cell.row, d.cell.col, 1, 1}, d.step);
        return "row " + str(at.rows.front()) + ", of rank " + str(w.truth.step(d.step).when.worker) + ",";
    }
    const int row = is_of_parts(d.cell.slot) ? written_at(w.truth, d).row : d.cell.row;
    return "row " + str(row);
}

// "w_B is 1 instead of 0.368": a cell as its lesson calls it.
std::string called_instead(const Walks& w, const Difference& d) {
    const Written at = written_at(w.truth, d);
    const Line symbol = slot_symbol(w.truth, d.cell.slot, d.step, at.access->tile);
    const std::string index = part_index(w.truth, d.cell, w.truth.value(at.access->value).region, d.step);
    const auto [is, should] = format_apart(d.broken, d.truth);
    return plain(symbol) + index + " is " + is + " instead of " + should;
}

// The cell that is furthest off in the first step that differs, of one of these kinds.
std::optional<Difference> first_of(const Walks& w, std::initializer_list<Op> ops) {
    std::optional<Difference> first;
    for (const Op op : ops)
        if (const auto d = w.first(op); d && (!first || d->step < first->step)) first = d;
    return first;
}

std::string told_correction(const Walks& w) {
    const auto d = w.first(Op::row_sum);
    if (!d) return "No maximum rises after the first keys of its row, so leaving α out changes nothing here.";
    const auto [from, to] = format_apart(m_of(w.truth, *d, true), m_of(w.truth, *d, false));
    return "From " + w.step(*d) + " on " + row_of(w, *d) + " keeps a sum that was never brought from " +
           from + " to " + to + ": " + w.instead(*d) + ".";
}

// Parts that are found in one step: the weights stand nowhere.
std::string told_parts_without_max(const Walks& w, const std::string& limit) {
    const auto d = w.first(Op::part);
    if (!d) return "Every maximum is 0, so leaving it out changes nothing here.";
    for (int k = 0; k < w.truth.size(); ++k)
        if (w.comparison.lost[static_cast<std::size_t>(k)])
            return "At step " + str(k + 1) + " an exponential overflows: scores may not exceed " + limit +
                   ": " + called_instead(w, *largest_difference(w.truth, w.broken, k)) + ".";
    return "From " + w.step(*d) + " on every part is measured from 0: " + called_instead(w, *d) +
           ". The missing factor cancels in the division by ℓ; exp overflows only when a score exceeds " +
           limit + ".";
}

std::string told_no_max(const Walks& w) {
    const Format format = w.broken.problem().precision.softmax;
    const std::string short_limit = largest_exponent_text(Format::fp16),
                      limit = format == Format::fp16
                                  ? short_limit
                                  : largest_exponent_text(format) + " (in fp16: " + short_limit + ")";
    if (w.truth.lesson().picture == Picture::merge || w.truth.lesson().uses(chooses_ranks))
        return told_parts_without_max(w, limit);
    const auto d = w.first(Op::exponentials);
    if (!d) return "Every maximum is 0, so leaving it out changes nothing here.";
    for (int k = 0; k < w.truth.size(); ++k) {
        const bool lost =
            w.comparison.lost[static_cast<std::size_t>(k)] && w.truth.step(k).op == Op::exponentials;
        if (!lost) continue;
        const Difference far = *largest_difference(w.truth, w.broken, k);
        const CellRef score{Slot::S, far.cell.row, far.cell.col};
        return "At step " + str(k + 1) + " exp(" +
               num_text(value_at(*holding(w.broken, score, k).value, score)) + ") overflows " + name(format) +
               ", which ends at a score of " + limit + ": " + w.instead(far) + ".";
    }
    return "From " + w.step(*d) + " on the weights are exp(S): " + w.instead(*d) +
           ". The missing factor cancels in the division by ℓ; " + name(format) +
           " overflows only when a score exceeds " + limit + ".";
}

// Of a part that is found in one step its ℓ stands nowhere.
std::string told_parts_undivided(const Walks& w) {
    const auto d = w.first(Op::part);
    if (!d) return "Every part has ℓ = 1 or no key, so there is nothing to divide here.";
    return "From " + w.step(*d) +
           " on the outputs of the parts are not divided by their ℓ: " + called_instead(w, *d) + ".";
}

std::string told_division(const Walks& w) {
    const Lesson& lesson = w.truth.lesson();
    const bool in_parts =
        lesson.picture == Picture::merge && w.truth.problem().options.parts == PartForm::normalised;
    if (in_parts) return told_parts_undivided(w);
    const auto d = w.first(lesson.division == Division::at_the_end ? Op::normalize : Op::output);
    if (!d) return "Every row has ℓ = 1 or no key, so there is nothing to divide here.";
    return "From " + w.step(*d) + " on " + row_of(w, *d) +
           " is not divided by ℓ = " + num_text(beside(w.broken, Slot::l, *d, d->step)) + ": " +
           w.instead(*d) + ".";
}

std::string told_mask(const Walks& w) {
    const Problem& p = w.broken.problem();
    if (!p.causal && !p.window) return "This problem has no mask, so there is no edge to get wrong.";
    const auto d = w.first(Op::mask);
    if (!d)
        return "The key behind each edge lies in a tile that is skipped, or there is none: nothing changes.";
    const std::string at = "At " + w.step(*d);
    // On a ring rows are those of shards: the step itself says which query and key they are.
    if (w.truth.lesson().uses(chooses_ranks)) {
        const Explanation told = explain(w.broken, d->step, d->cell);
        return at + " " + told.place + " has a score too many. " + told.why;
    }
    return at + " query " + str(d->cell.row) + " keeps its score with key " + str(d->cell.col) +
           ", which the mask should hide: " + w.instead(*d) + ".";
}

std::string told_stale(const Walks& w) {
    const auto d = w.first(Op::exponentials);
    if (!d) return "No maximum changes here, so the old one is as good as the new one.";
    const auto [old, now] = format_apart(m_of(w.broken, *d, true), m_of(w.broken, *d, false));
    return "At " + w.step(*d) + " the weights of " + row_of(w, *d) + " are measured from the old maximum " +
           old + " instead of " + now + ": " + w.instead(*d) + ".";
}

std::string told_lse(const Walks& w) {
    const auto d = w.first(Op::recompute);
    if (!d) return "Every L is 0, so leaving it out changes nothing here.";
    return "From " + w.step(*d) + " on P is exp(S), which is not divided by anything: " + w.instead(*d) + ".";
}

std::string told_weights(const Walks& w) {
    const auto d = w.first(Op::merge_weights);
    if (!d) return "Every part weighs 1 anyway, or there is none to merge: nothing changes here.";
    return "From " + w.step(*d) +
           " on parts are added as they are, each measured from a base of its own: " + called_instead(w, *d) +
           ".";
}

std::string told_log_sum(const Walks& w) {
    const auto d = first_of(w, {Op::part, Op::normalize, Op::store});
    if (!d) return "Every ℓ is 1, so ln ℓ is 0 and leaving it out changes nothing here.";
    const bool merged_again = w.first(Op::merge_weights).has_value();
    return "From " + w.step(*d) + " on L is the maximum alone: " + called_instead(w, *d) + ". " +
           (merged_again ? "What else a part has summed has no weight in the merge."
                         : "O does not need it; whoever merges this row again, or goes back through it, "
                           "does.");
}

std::string told_share(const Walks& w) {
    const auto d = w.first(Op::add_share);
    if (!d)
        return "No rank has a share to add to a sum that visits it, so leaving it out changes nothing here.";
    return "From " + w.step(*d) +
           " on sums go on as they came, without what the rank itself has found: " + called_instead(w, *d) +
           ".";
}

// ---- The table

constexpr unsigned with_tiles = tiled_forward | parts_by_tiles, any_merge = parts_of_a_row | parts_by_tiles;

constexpr Fault table[] = {
    {.on = &Switches::no_lse,
     .known_to = tiled_backward | ring_back,
     .name = "no_lse",
     .title = "Leave L out",
     .what = "P = exp(S) instead of exp(S − L)",
     .captions = {{{Op::recompute, "exp of the scores themselves, without L"}}},
     .told = told_lse},
    {.on = &Switches::no_max,
     .known_to = with_tiles | parts_of_a_row | ring_forward,
     .name = "no_max",
     .title = "Leave the maximum out",
     .what = "m stays 0: exp(S) instead of exp(S − m)",
     .captions = {{{Op::exponentials, "exp of the scores themselves: no weight is bounded"},
                   {Op::new_max, "the maximum is left out: m stays 0"}}},
     .told = told_no_max},
    {.on = &Switches::stale_max,
     .known_to = with_tiles,
     .name = "stale_max",
     .title = "Use the old maximum",
     .what = "P̃ = exp(S − m_old), before this tile",
     .captions = {{{Op::exponentials, "measured from the maximum of before this tile"}}},
     .told = told_stale},
    {.on = &Switches::no_correction,
     .known_to = with_tiles,
     .name = "no_correction",
     .title = "Leave the correction out",
     .what = "α = 1: old sums stay measured from the old maximum",
     .captions = {{{Op::correction, "the correction is left out: the old sums keep their base"}}},
     .told = told_correction},
    {.on = &Switches::no_division,
     .known_to = with_tiles | parts_of_a_row | ring_forward,
     .name = "no_division",
     .title = "Leave the division out",
     .what = "O is stored without ÷ ℓ",
     .captions = {{{Op::normalize, "O stays a sum: its weights do not sum to 1"}}},
     .told = told_division},
    {.on = &Switches::wrong_mask_edge,
     .known_to = with_tiles | tiled_backward | ring_forward | ring_back,
     .name = "wrong_mask_edge",
     .title = "Mask edge off by one",
     .what = "each query sees one key too many",
     .captions = {},
     .told = told_mask},
    {.on = &Switches::no_weights,
     .known_to = any_merge | ring_forward,
     .name = "no_weights",
     .title = "Merge without weights",
     .what = "w = 1: parts are added as they are",
     .captions = {{{Op::merge_weights, "every part weighs 1, whatever it was measured from"}}},
     .told = told_weights},
    {.on = &Switches::no_log_sum,
     .known_to = any_merge,
     .name = "no_log_sum",
     .title = "Leave ln ℓ out of L",
     .what = "L = m: a part does not say how much it has summed",
     .captions = {},
     .told = told_log_sum},
    {.on = &Switches::no_share,
     .known_to = ring_back,
     .name = "no_share",
     .title = "Leave the own share out",
     .what = "dK, dV go on as they came, without ΔK, ΔV",
     .captions = {{{Op::add_share, "the share is left out: the sum goes on as it came"}}},
     .told = told_share},
};
// A switch of the problem that has no row here could be neither saved nor shown.
static_assert(std::size(table) == sizeof(Switches), "one row for each switch");

std::vector<Fault> known_to(FaultyKernels kernels) {
    std::vector<Fault> out;
    std::ranges::copy_if(table, std::back_inserter(out),
                         [&](const Fault& fault) { return (fault.known_to & kernels) != 0; });
    return out;
}

}  // namespace

std::span<const Fault> all_faults() { return table; }

const Fault* find_fault(std::string_view name) {
    const auto found = std::ranges::find_if(table, [&](const Fault& fault) { return name == fault.name; });
    return found == std::end(table) ? nullptr : found;
}

std::span<const Fault> forward_faults() {
    static const std::vector<Fault> faults = known_to(tiled_forward);
    return faults;
}

std::span<const Fault> backward_faults() {
    static const std::vector<Fault> faults = known_to(tiled_backward);
    return faults;
}

std::span<const Fault> merge_faults() {
    static const std::vector<Fault> faults = known_to(parts_of_a_row);
    return faults;
}

std::span<const Fault> split_faults() {
    static const std::vector<Fault> faults = known_to(parts_by_tiles);
    return faults;
}

std::span<const Fault> ring_faults() {
    static const std::vector<Fault> faults = known_to(ring_forward);
    return faults;
}

std::span<const Fault> ring_backward_faults() {
    static const std::vector<Fault> faults = known_to(ring_back);
    return faults;
}

const char* fault_caption(const Problem& problem, Op op) {
    for (const Fault& fault : table)
        for (const FaultCaption& caption : fault.captions)
            if (problem.switches.*fault.on && caption.op == op) return caption.words;
    return nullptr;
}

// What a problem must have for a line to be there.
enum LogitBits : unsigned { has_softcap = 1, has_bias = 2, has_sink = 4 };

static unsigned logits_of(const Problem& p) {
    return (p.logits.softcap ? has_softcap : 0u) | (p.logits.alibi ? has_bias : 0u) |
           (p.logits.sink ? has_sink : 0u);
}

static unsigned needed_by(Op op) {
    if (op == Op::sink_gradient) return has_sink;
    return op == Op::softcap || op == Op::cap_gradient ? has_softcap : op == Op::bias ? has_bias : 0u;
}

std::vector<FaultLine> with_tile_faults(std::initializer_list<FaultLine> own) {
    std::vector<FaultLine> out = {
        {&Switches::no_max, Op::new_max, "m_old ← m,  m ← 0"},
        {&Switches::wrong_mask_edge, Op::mask, "S  ← −∞ where masked, edge + 1"},
        {&Switches::no_correction, Op::correction, "α  ← 1"},
        {&Switches::stale_max, Op::exponentials, "P̃  ← exp(S − m_old)"},
    };
    out.insert(out.end(), own);
    return out;
}

FaultCode::FaultCode(std::span<const CodeLine> lines, std::vector<FaultLine> replaced,
                     std::initializer_list<SinkLine> with_sink,
                     std::initializer_list<SavingLine> with_savings)
    : lines_(lines.begin(), lines.end()), replaced_(std::move(replaced)), with_sink_(with_sink),
      with_savings_(with_savings) {}

std::vector<CodeLine> FaultCode::lines_for(const Problem& p) const {
    std::vector<CodeLine> code = lines_;
    const unsigned logits = logits_of(p);
    std::erase_if(code,
                  [&](const CodeLine& line) { return (logits & needed_by(line.op)) != needed_by(line.op); });
    const auto replace = [&](const auto& with) {
        for (CodeLine& line : code)
            if (with.op == line.op && with.phase == line.phase) line.text = with.text;
    };
    const auto on = [&](bool Switches::*fault) { return fault && p.switches.*fault; };
    const bool sink = (logits & has_sink) != 0;
    for (const SinkLine& with : with_sink_)
        if (sink && !with.fault) replace(with);
    for (const SavingLine& with : with_savings_)
        if (with.saved(p.savings)) replace(SinkLine{.op = with.op, .text = with.text});
    for (const FaultLine& with : replaced_)
        if (on(with.fault)) replace(with);
    for (const SinkLine& with : with_sink_)
        if (sink && on(with.fault)) replace(with);
    return code;
}

std::span<const CodeLine> FaultCode::of(const Problem& p) const {
    unsigned key = logits_of(p);
    for (const Fault& fault : table) key = key << 1 | static_cast<unsigned>(p.switches.*fault.on);
    key = key << 2 | (p.savings.lazy ? 2u : 0u) | (p.savings.cubic ? 1u : 0u);
    const std::lock_guard lock(making_);
    const auto found = made_.find(key);
    return found != made_.end() ? found->second : made_.emplace(key, lines_for(p)).first->second;
}

}  // namespace tilewalk
