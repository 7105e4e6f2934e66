#include "core/walk/compare.h"

#include "core/base/matrix.h"
#include "core/walk/explain_view.h"
#include "core/walk/lesson.h"
#include "core/walk/savings_told.h"

#include <algorithm>

namespace tilewalk {

namespace {

bool same_places(std::span<const Access> a, std::span<const Access> b) {
    return std::ranges::equal(
        a, b, [](const Access& x, const Access& y) { return x.slot == y.slot && x.tile == y.tile; });
}

std::string find_mismatch(const Trace& truth, const Trace& broken) {
    if (&truth.lesson() != &broken.lesson()) return "The two walks belong to different lessons.";
    if (truth.size() != broken.size())
        return "The two walks have " + str(truth.size()) + " and " + str(broken.size()) +
               " steps; they are not walks through the same tiles.";
    for (int k = 0; k < truth.size(); ++k) {
        const Step &a = truth.step(k), &b = broken.step(k);
        bool same =
            a.op == b.op && a.i == b.i && a.j == b.j && same_places(truth.writes(k), broken.writes(k));
        for (std::size_t n = 0; same && n < truth.writes(k).size(); ++n)
            same = truth.value(truth.writes(k)[n].value).region ==
                   broken.value(broken.writes(k)[n].value).region;
        if (!same) return "Step " + str(k + 1) + " of the two walks is not the same step.";
    }
    return {};
}

// Calls look(cell, true value, broken value) for every cell that step k wrote.
template <class Look> void each_cell(const Trace& truth, const Trace& broken, int k, Look look) {
    for (std::size_t n = 0; n < truth.writes(k).size(); ++n) {
        const Access& access = truth.writes(k)[n];
        const Value &a = truth.value(access.value), &b = broken.value(broken.writes(k)[n].value);
        for (int r = 0; r < a.region.rows; ++r)
            for (int c = 0; c < a.region.cols; ++c)
                look(CellRef{access.slot, a.region.row + r, a.region.col + c}, a.data(r, c), b.data(r, c));
    }
}

// The results that the reader of the lesson is after: O, or dQ, dK, dV.
void judge(Comparison& out, const Trace& truth, const Trace& broken) {
    double most = 0;
    const int first = truth.lesson().one_row ? truth.problem().options.row : 0;
    for (Slot slot : truth.lesson().results) {
        if (!info(slot).counts_elements) continue;
        const Matrix a = truth.result(slot), b = broken.result(slot);
        out.elements += static_cast<int>(a.size());
        for (int r = 0; r < a.rows(); ++r)
            for (int c = 0; c < a.cols(); ++c) {
                const double far = distance(a(r, c), b(r, c));
                if (!std::isfinite(b(r, c)) && std::isfinite(a(r, c))) ++out.not_finite;
                if (!std::isfinite(far) || far <= most) continue;
                most = far;
                out.worst = {truth.size() - 1, {slot, first + r, c}, a(r, c), b(r, c)};
            }
    }
}

std::string result_names(const Trace& trace) {
    std::string out;
    for (Slot slot : trace.lesson().results)
        if (info(slot).counts_elements) out += (out.empty() ? "" : ", ") + plain(slot_symbol(slot));
    return out;
}

std::string verdict_of(const Comparison& c, const Trace& truth) {
    const std::string names = result_names(truth);
    const bool several = names.find(',') != std::string::npos;
    std::string out;
    if (c.not_finite > 0)
        out = str(c.not_finite) + " of the " + counted(c.elements, "element") + " of " + names +
              (c.not_finite == 1 ? " is" : " are") + " NaN or ∞.";
    const double error = distance(c.worst.truth, c.worst.broken);
    if (c.worst.step >= 0 && error <= 1e-12 * std::abs(c.worst.truth)) {
        out += (out.empty() ? "" : " ") + names + (several ? " are" : " is") +
               " the same up to the last bits: off by at most " + num_text(error) + ".";
    } else if (c.worst.step >= 0) {
        const auto [broken, right] = format_apart(c.worst.broken, c.worst.truth);
        out += (out.empty() ? "" : " ") + names + (several ? " are" : " is") + " off by at most " +
               num_text(error) + ": " + cell_text(truth, c.worst.cell, c.worst.step) + " is " + broken +
               " instead of " + right + ".";
    }
    if (out.empty()) out = names + (several ? " are" : " is") + " the same to the last bit.";
    return out;
}

std::string told_rounding(const Walks& w) {
    for (int k = 0; k < w.truth.size(); ++k)
        if (w.comparison.largest[static_cast<std::size_t>(k)] > 0) {
            const Difference d = *largest_difference(w.truth, w.broken, k);
            return "Rounding first shows at " + w.step(d) + " (" + title(w.truth.step(k).op) +
                   "): " + w.instead(d) + ".";
        }
    return "Every number of this walk fits the chosen formats: nothing differs.";
}

std::string sentence_of(const Walks& w) {
    const Problem& p = w.broken.problem();
    std::string out;
    for (const Fault& fault : w.broken.lesson().faults())
        if (p.switches.*fault.on) out += (out.empty() ? "" : " ") + fault.told(w);
    if (const std::string saved = told_savings(w.truth, w.broken); !saved.empty())
        out += (out.empty() ? "" : " ") + saved;
    if (out.empty() && p.precision.any()) out = told_rounding(w);
    return out.empty() ? "Nothing is broken." : out;
}

}  // namespace

std::optional<Difference> Walks::first(Op op) const {
    for (int k = 0; k < truth.size(); ++k)
        if (truth.step(k).op == op && comparison.largest[static_cast<std::size_t>(k)] > 0)
            return largest_difference(truth, broken, k);
    return {};
}

std::string Walks::step(const Difference& d) const { return "step " + str(d.step + 1); }

std::string Walks::instead(const Difference& d) const {
    const auto [is, should] = format_apart(d.broken, d.truth);
    return cell_text(truth, d.cell, d.step) + " is " + is + " instead of " + should;
}

double distance(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
    return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : infinity;
}

bool Comparison::differs() const {
    return std::ranges::any_of(largest, [](double size) { return size > 0; });
}

std::optional<Difference> largest_difference(const Trace& truth, const Trace& broken, int k) {
    Difference out;
    double most = 0;
    each_cell(truth, broken, k, [&](const CellRef& cell, double a, double b) {
        const double far = distance(a, b);
        if (far <= most) return;
        most = far;
        out = {k, cell, a, b};
    });
    return most > 0 ? std::optional(out) : std::nullopt;
}

Comparison compare(const Trace& truth, const Trace& broken) {
    Comparison out;
    out.mismatch = find_mismatch(truth, broken);
    if (!out.mismatch.empty()) return out;
    for (int k = 0; k < truth.size(); ++k) {
        double most = 0;
        bool lost = false;
        each_cell(truth, broken, k, [&](const CellRef&, double a, double b) {
            most = std::max(most, distance(a, b));
            lost |= std::isfinite(a) && !std::isfinite(b);
        });
        out.largest.push_back(most);
        out.lost.push_back(lost);
    }
    judge(out, truth, broken);
    out.sentence = sentence_of({truth, broken, out});
    out.verdict = verdict_of(out, truth);
    return out;
}

std::string edit_sentence(const Trace& before, const Trace& after) {
    if (!find_mismatch(before, after).empty()) return {};
    int first = -1, count = 0;
    for (int k = 0; k < after.size(); ++k) {
        if (!largest_difference(before, after, k)) continue;
        if (first < 0) first = k;
        ++count;
    }
    if (count == 0) return "No step of this walk writes another number than before the edit.";
    return "From step " + str(first + 1) + " on " + str(count) + " of " + counted(after.size(), "step") +
           (count == 1 ? " writes" : " write") +
           " other numbers than before the edit; they are outlined (Esc takes the outlines off).";
}

int next_difference(const Comparison& c, int k) {
    for (std::size_t n = static_cast<std::size_t>(k) + 1; n < c.largest.size(); ++n)
        if (c.largest[n] > 0) return static_cast<int>(n);
    return -1;
}

int next_lost(const Comparison& c, int k) {
    for (std::size_t n = static_cast<std::size_t>(k) + 1; n < c.lost.size(); ++n)
        if (c.lost[n]) return static_cast<int>(n);
    return -1;
}

std::optional<double> true_value(const Trace& truth, const CellRef& cell, int k) {
    const Held held = holding(truth, cell, k);
    return held ? std::optional(value_at(*held.value, cell)) : std::nullopt;
}

}  // namespace tilewalk
