#include "core/lessons/shared/faults.h"

#include "core/lessons/shared/explain_faults.h"
#include "core/problem/precision.h"
#include "core/walk/compare.h"
#include "core/walk/explain_view.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

// ---- What came of a fault, told by the first step that shows it

// m of the row that differs, as it was after that step or before its latest change.
double m_of(const Trace& trace, const Difference& d, bool before) {
    const Held now = trace.live(Slot::m, d.step);
    const Held held = before ? trace.live(Slot::m, now.step - 1) : now;
    return value_at(*held.value, {Slot::m, d.cell.row, 0});
}

std::string told_correction(const Walks& w) {
    const auto d = w.first(Op::row_sum);
    if (!d) return "No maximum rises after the first keys of its row, so leaving α out changes nothing here.";
    const auto [from, to] = format_apart(m_of(w.truth, *d, true), m_of(w.truth, *d, false));
    return "From " + w.step(*d) + " on row " + str(d->cell.row) +
           " keeps a sum that was never brought from " + from + " to " + to + ": " + w.instead(*d) + ".";
}

std::string told_no_max(const Walks& w) {
    const Format format = w.broken.problem().precision.softmax;
    const std::string short_limit = largest_exponent_text(Format::fp16),
                      limit = format == Format::fp16
                                  ? short_limit
                                  : largest_exponent_text(format) + " (in fp16: " + short_limit + ")";
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

std::string told_division(const Walks& w) {
    const bool at_the_end = w.truth.lesson().division == Division::at_the_end;
    const auto d = w.first(at_the_end ? Op::normalize : Op::output);
    if (!d) return "Every row has ℓ = 1 or no key, so there is nothing to divide here.";
    const double l = value_at(*w.broken.live(Slot::l, d->step).value, {Slot::l, d->cell.row, 0});
    return "From " + w.step(*d) + " on row " + str(d->cell.row) + " is not divided by ℓ = " + num_text(l) +
           ": " + w.instead(*d) + ".";
}

std::string told_mask(const Walks& w) {
    const Problem& p = w.broken.problem();
    if (!p.causal && !p.window) return "This problem has no mask, so there is no edge to get wrong.";
    const auto d = w.first(Op::mask);
    if (!d)
        return "The key behind each edge lies in a tile that is skipped, or there is none: nothing changes.";
    return "At " + w.step(*d) + " query " + str(d->cell.row) + " keeps its score with key " +
           str(d->cell.col) + ", which the mask should hide: " + w.instead(*d) + ".";
}

std::string told_stale(const Walks& w) {
    const auto d = w.first(Op::exponentials);
    if (!d) return "No maximum changes here, so the old one is as good as the new one.";
    const auto [old, now] = format_apart(m_of(w.broken, *d, true), m_of(w.broken, *d, false));
    return "At " + w.step(*d) + " the weights of row " + str(d->cell.row) +
           " are measured from the old maximum " + old + " instead of " + now + ": " + w.instead(*d) + ".";
}

std::string told_lse(const Walks& w) {
    const auto d = w.first(Op::recompute);
    if (!d) return "Every L is 0, so leaving it out changes nothing here.";
    return "From " + w.step(*d) + " on P is exp(S), which is not divided by anything: " + w.instead(*d) + ".";
}

// ---- The table

constexpr Fault table[] = {
    {.on = &Switches::no_lse,
     .forward = false,
     .backward = true,
     .name = "no_lse",
     .title = "Leave L out",
     .what = "P = exp(S) instead of exp(S − L)",
     .captions = {{{Op::recompute, "exp of the scores themselves, without L"}}},
     .told = told_lse},
    {.on = &Switches::no_max,
     .forward = true,
     .backward = false,
     .name = "no_max",
     .title = "Leave the maximum out",
     .what = "m stays 0: exp(S) instead of exp(S − m)",
     .captions = {{{Op::exponentials, "exp of the scores themselves: no weight is bounded"},
                   {Op::new_max, "the maximum is left out: m stays 0"}}},
     .told = told_no_max},
    {.on = &Switches::stale_max,
     .forward = true,
     .backward = false,
     .name = "stale_max",
     .title = "Use the old maximum",
     .what = "P̃ = exp(S − m_old), before this tile",
     .captions = {{{Op::exponentials, "measured from the maximum of before this tile"}}},
     .told = told_stale},
    {.on = &Switches::no_correction,
     .forward = true,
     .backward = false,
     .name = "no_correction",
     .title = "Leave the correction out",
     .what = "α = 1: old sums stay measured from the old maximum",
     .captions = {{{Op::correction, "the correction is left out: the old sums keep their base"}}},
     .told = told_correction},
    {.on = &Switches::no_division,
     .forward = true,
     .backward = false,
     .name = "no_division",
     .title = "Leave the division out",
     .what = "O is stored without ÷ ℓ",
     .captions = {{{Op::normalize, "O stays a sum: its weights do not sum to 1"}}},
     .told = told_division},
    {.on = &Switches::wrong_mask_edge,
     .forward = true,
     .backward = true,
     .name = "wrong_mask_edge",
     .title = "Mask edge off by one",
     .what = "each query sees one key too many",
     .captions = {},
     .told = told_mask},
};
// A switch of the problem that has no row here could be neither saved nor shown.
static_assert(std::size(table) == sizeof(Switches), "one row for each switch");

std::vector<Fault> those(bool Fault::*known) {
    std::vector<Fault> out;
    std::ranges::copy_if(table, std::back_inserter(out), [&](const Fault& fault) { return fault.*known; });
    return out;
}

}  // namespace

std::span<const Fault> all_faults() { return table; }

const Fault* find_fault(std::string_view name) {
    const auto found = std::ranges::find_if(table, [&](const Fault& fault) { return name == fault.name; });
    return found == std::end(table) ? nullptr : found;
}

std::span<const Fault> forward_faults() {
    static const std::vector<Fault> faults = those(&Fault::forward);
    return faults;
}

std::span<const Fault> backward_faults() {
    static const std::vector<Fault> faults = those(&Fault::backward);
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
constexpr unsigned logit_bits = 3;

static unsigned logits_of(const Problem& p) {
    return (p.logits.softcap ? has_softcap : 0u) | (p.logits.alibi ? has_bias : 0u) |
           (p.logits.sink ? has_sink : 0u);
}

static unsigned needed_by(Op op) {
    if (op == Op::sink_gradient) return has_sink;
    return op == Op::softcap || op == Op::cap_gradient ? has_softcap : op == Op::bias ? has_bias : 0u;
}

FaultCode::FaultCode(std::span<const CodeLine> lines, std::span<const Fault> faults,
                     std::initializer_list<FaultLine> replaced, std::initializer_list<SinkLine> with_sink)
    : faults_(faults) {
    for (unsigned bits = 0; bits < 1u << (faults.size() + logit_bits); ++bits) {
        std::vector<CodeLine>& code = codes_.emplace_back(lines.begin(), lines.end());
        const unsigned logits = bits >> faults.size();
        std::erase_if(
            code, [&](const CodeLine& line) { return (logits & needed_by(line.op)) != needed_by(line.op); });
        const auto put_sink = [&](bool Switches::*fault) {
            for (const SinkLine& with : with_sink)
                for (CodeLine& line : code)
                    if ((logits & has_sink) != 0 && with.fault == fault && with.op == line.op)
                        line.text = with.text;
        };
        put_sink(nullptr);
        for (std::size_t n = 0; n < faults.size(); ++n)
            for (const FaultLine& with : replaced)
                for (CodeLine& line : code)
                    if ((bits >> n & 1) != 0 && with.fault == faults[n].on && with.op == line.op)
                        line.text = with.text;
        for (std::size_t n = 0; n < faults.size(); ++n)
            if ((bits >> n & 1) != 0) put_sink(faults[n].on);
    }
}

std::span<const CodeLine> FaultCode::of(const Problem& p) const {
    unsigned bits = 0;
    for (std::size_t n = 0; n < faults_.size(); ++n)
        bits |= static_cast<unsigned>(p.switches.*faults_[n].on) << n;
    return codes_[bits | logits_of(p) << faults_.size()];
}

}  // namespace tilewalk
