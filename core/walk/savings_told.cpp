#include "core/walk/savings_told.h"

#include "core/base/matrix.h"
#include "core/problem/precision.h"
#include "core/problem/savings.h"
#include "core/walk/compare.h"
#include "core/walk/explain_view.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

// What step k read of this slot, the nth time.
const Value& read_at(const Trace& trace, int k, Slot slot, int nth = 0) {
    for (const Access& a : trace.reads(k))
        if (a.slot == slot && nth-- == 0) return trace.value(a.value);
    std::abort();  // every step of this kind reads it
}

void count_rises(SavingsCount& out, const Trace& trace, int k) {
    const Matrix &old = read_at(trace, k, Slot::m).data, &now = trace.value(trace.writes(k)[0].value).data;
    for (Eigen::Index r = 0; r < now.rows(); ++r) out.rises += kind_of(old(r, 0), now(r, 0)) == rises;
}

void count_weights(SavingsCount& out, const Trace& trace, int k) {
    const Value& P = trace.value(trace.writes(k)[0].value);
    const Matrix &S = read_at(trace, k, Slot::S).data, &m = read_at(trace, k, Slot::m).data;
    const FormatInfo& cast = info(operand_format(trace.problem().precision));
    const bool cubic = saved_in(trace).cubic;
    for (int r = 0; r < P.region.rows; ++r)
        for (int c = 0; c < P.region.cols; ++c) {
            const double weight = P.data(r, c), exponent = S(r, c) - m(r, 0);
            if (!std::isfinite(weight) || !std::isfinite(exponent)) continue;
            out.most_weight = std::max(out.most_weight, weight);
            const Exp2Parts parts = cubic_exp(exponent);
            if (cubic && parts.value > 0)
                out.cubic_error =
                    std::max(out.cubic_error, std::abs(parts.polynomial / std::exp2(parts.part) - 1));
            if (!cast.saturates || weight <= cast.largest) continue;
            ++out.saturated;
            if (const double lost = 1 - cast.largest / weight; lost > out.lost) {
                out.lost = lost;
                out.worst_saturated = {Slot::P, P.region.row + r, P.region.col + c};
            }
        }
}

std::string told_lazy(const SavingsCount& truth, const SavingsCount& saving, double threshold) {
    if (truth.rises == 0)
        return "No maximum rises after the first keys of its row: nothing to be lazy about.";
    return "Of " + counted(truth.rises, "rescaling") + " of a row " +
           (saving.rises == 0 ? "none" : str(saving.rises)) + (saving.rises > 1 ? " are" : " is") +
           " done; weights reach " + num_text(saving.most_weight) +
           ", and may up to 2^τ = " + num_text(std::exp2(threshold)) + ".";
}

std::string told_saturation(const Trace& saving, const SavingsCount& count) {
    const Format format = operand_format(saving.problem().precision);
    if (count.saturated == 0) return "";
    return " " + counted(count.saturated, "weight") + (count.saturated == 1 ? " saturates" : " saturate") +
           " at " + num_text(info(format).largest) + " in " + name(format) + ": the product misses " +
           num_text(100 * count.lost) + " % of " +
           cell_text(saving, count.worst_saturated, saving.size() - 1) + ", which ℓ has whole.";
}

// "lazy rescaling alone 0.1, the cubic alone 6.2×10⁻⁵": one walk more for each that is on.
std::string told_each(const Trace& truth, const Trace& saving) {
    const Problem& all = saving.problem();
    std::vector<std::string> out;
    const auto alone = [&](const char* name, auto keep) {
        Problem p = without_faults(all);
        keep(p);
        out.push_back(std::string(name) + " " + num_text(output_error(truth, *truth.lesson().build(p))));
    };
    if (all.savings.lazy) alone("lazy rescaling", [&](Problem& p) { p.savings.lazy = all.savings.lazy; });
    if (all.savings.cubic) alone("the cubic", [&](Problem& p) { p.savings.cubic = true; });
    if (all.precision.any()) alone("the formats", [&](Problem& p) { p.precision = all.precision; });
    if (out.size() < 2) return "";
    return " Alone, against fp64, O is off by: " + joined(out, ", ") + "; together " +
           num_text(output_error(truth, saving)) + ".";
}

}  // namespace

SavingsCount count_savings(const Trace& trace) {
    SavingsCount out;
    for (int k = 0; k < trace.size(); ++k) {
        if (trace.step(k).op == Op::new_max) count_rises(out, trace, k);
        if (trace.step(k).op == Op::exponentials) count_weights(out, trace, k);
    }
    return out;
}

double output_error(const Trace& truth, const Trace& walk) {
    const Matrix a = truth.result(Slot::O), b = walk.result(Slot::O);
    double most = 0;
    for (Eigen::Index n = 0; n < a.size(); ++n) most = std::max(most, distance(a.data()[n], b.data()[n]));
    return most;
}

std::string told_savings(const Trace& truth, const Trace& saving) {
    const Savings& saved = saved_in(saving);
    if (!saved.any()) return "";
    const SavingsCount count = count_savings(saving);
    std::string out;
    if (saved.lazy) out = told_lazy(count_savings(truth), count, *saved.lazy);
    if (saved.cubic)
        out += (out.empty() ? "" : " ") + std::string("The cubic misses a weight by at most ") +
               num_text(100 * count.cubic_error) + " % of it.";
    return out + told_saturation(saving, count) + told_each(truth, saving);
}

}  // namespace tilewalk
