// What is said of a broken step: the sentence below the panes, and the difference in numbers.
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/class/spoken.h"
#include "core/walk/compare.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// With more decimals the smaller it is; nothing below a thousandth.
std::string percent_text(double part) {
    const double percent = 100 * std::abs(part);
    const int decimals = percent >= 10 ? 0 : percent >= 1 ? 1 : percent >= .1 ? 2 : 3;
    return percent < 1e-3 ? "" : format_fixed(percent, decimals) + " %";
}

std::string size_words(double truth, double broken) {
    if (truth == 0 || broken == 0 || !std::isfinite(truth) || !std::isfinite(broken)) return "";
    if (truth * broken < 0) return ", with the wrong sign";
    const double t = std::abs(truth), b = std::abs(broken), factor = std::max(t, b) / std::min(t, b);
    const char* way = truth < 0 ? (b > t ? " too far below 0" : " too close to 0")
                      : b > t   ? " too large"
                                : " too small";
    if (factor >= 1.5) return ", " + format_short(b / t) + " times what it should be";
    const std::string percent = percent_text((b - t) / t);
    return percent.empty() ? "" : ", " + percent + way;
}

// As a sentence has it: "ℓ[0]", of a part "w_B"
std::string name_in_words(const BrokenStep& s) {
    const Line title = part_title(s);
    return title.empty() ? cell_text(*s.truth.trace, s.cell, s.step) : plain(title);
}

// Its m may be another one, and all that is measured from it: nothing of this is wrong.
bool saves(const Trace& trace) { return only_rounded(trace.problem()) && saved_in(trace).any(); }

// "ℓ[0] is 2.503 instead of 1.639, 1.527 times what it should be"
std::string counted(const BrokenStep& s, bool rounded) {
    const double truth = s.truth.value, value = s.broken.value;
    const NineDigits nine = nine_digits(truth, value);
    const bool nine_tell = std::isfinite(value) && (rounded || same_number(truth, value));
    const auto [is, should] = nine_tell ? std::pair(nine.broken, nine.truth) : format_apart(value, truth);
    if (is == should) return name_in_words(s) + " is the same to nine digits";
    return name_in_words(s) + " is " + is + " instead of " + should +
           (saves(*s.broken.trace) ? "" : size_words(truth, value));
}

// Where it comes from.
std::string because(const BrokenStep& s, bool rounded) {
    const auto& cause = s.cause;
    if (!cause) return rounded ? ": it is rounded here." : ".";
    const std::string name = cell_text(*s.truth.trace, cause->cell, cause->step);
    const std::string since =
        cause->step < 0 ? " from the start." : " since step\u00A0" + str(cause->step + 1) + ".";
    if (rounded) return ": " + name + " is rounded" + since;
    const auto [broken, truth] = format_apart(cause->broken, cause->truth);
    if (same_number(cause->truth, cause->broken)) return ".";
    if (cause->cell == s.cell) return ", because it was " + broken + " and not " + truth + " before.";
    return ", because " + name + " is " + broken + " and not " + truth + since;
}

// A wrong number on the way may cancel before the end.
std::string no_harm(const BrokenStep& s, bool rounded) {
    if (rounded || s.wrong_rows.empty() || s.wrong_count() > 0) return "";
    return " " + std::string(info(s.end.slot).symbol) + " comes out right all the same.";
}

// What a walk without a maximum shows: a factor of both sums of a quotient, which is not in the quotient.
std::string cancels(const BrokenStep& s, const std::string& own) {
    const std::string both =
        "umerator and ℓ are both " + format_short(s.cancels) + " times as large: it cancels";
    if (s.broken.trace->step(s.step).op == Op::normalize)
        return "N" + both + ", and " + name_in_words(s) + " is the same.";
    std::string says = own;
    if (const std::string_view fault = "Fault: "; says.starts_with(fault))
        says = capitalised(says.substr(fault.size()));
    const auto [is, should] = format_apart(s.broken.value, s.truth.value);
    const std::string numbers =
        is == should ? "" : name_in_words(s) + " is " + is + " instead of " + should + ". ";
    const std::string all = (says.empty() ? "" : says + " ") + numbers + "In the end n" + both + ".";
    return letter_count(all) <= spoken_letters ? all : numbers + "In the end n" + both + ".";
}

std::string sentence_before_others(const std::string& text) {
    const std::size_t end = text.find(". ");
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

std::string told_where(const AppState& state) {
    const Comparison& found = *state.comparison;
    const int first = next_difference(found, -1), next = next_difference(found, state.cursor.step);
    const auto step = [&](int k) { return "step " + str(k + 1) + ", " + title(state.trace->step(k).op); };
    if (first < 0) return found.sentence;
    if (state.cursor.step < first)
        return "The same so far. The first difference: " + step(first) + " (key D).";
    if (next >= 0) return "This step is the same. The next difference: " + step(next) + " (key D).";
    return "This step is the same, and none that follows differs. The first: " + step(first) + " (key D).";
}

}  // namespace

NineDigits nine_digits(double truth, double broken) {
    NineDigits out;
    const double largest = std::max(std::abs(truth), std::abs(broken));
    const bool plain = std::isfinite(largest) && largest >= 1e-3 && largest < 1e6;
    const int whole = plain ? static_cast<int>(std::floor(std::log10(largest))) : 0;
    out.truth = format_fixed(truth, 8 - whole), out.broken = format_fixed(broken, 8 - whole);
    const auto parts = std::ranges::mismatch(out.truth, out.broken);
    out.same = static_cast<std::size_t>(parts.in1 - out.truth.begin());
    while (out.same > 0 && out.same < out.truth.size() && (out.truth[out.same] & 0xC0) == 0x80) --out.same;
    return out;
}

std::string difference_text(double truth, double broken, bool percent) {
    if (same_number(truth, broken)) return "the same";
    if (!std::isfinite(broken) || !std::isfinite(truth))
        return std::isnan(broken) ? "no number" : "infinitely far";
    const double far = broken - truth;
    // Where both numbers are seen, the difference is that of what is seen.
    const auto was = read_shown(format_short(truth)), is = read_shown(format_short(broken));
    const bool seen = std::abs(far) >= 20 * std::max(was.unit, is.unit);
    const double unit = std::min({was.unit, is.unit, 1.0});
    const int decimals = static_cast<int>(std::lround(-std::log10(unit)));
    const std::string number = seen ? format_fixed(is.value - was.value, decimals) : format_short(far);
    std::string out = (far > 0 ? "+" : "") + number;
    if (!percent || truth == 0) return out;
    constexpr double many = 5;
    if (const double factor = broken / truth; factor >= many)
        return out + (factor < 1e4 ? " (× " + format_short(factor) + ")" : "");
    const std::string part = percent_text(far / truth);
    return part.empty() ? out : out + " (" + (far > 0 ? "+" : "−") + part + ")";
}

std::string difference_words(double truth, double broken, bool rounded, bool percent) {
    std::string text = difference_text(truth, broken, percent);
    if (same_number(truth, broken) || !std::isfinite(truth) || !std::isfinite(broken)) return text;
    const std::size_t end = std::min(text.find(" ("), text.size());
    const auto unsigned_text = [](std::string number) {
        for (const std::string sign : {"+", "−"})
            if (const std::size_t at = number.find(sign); at < 3) number.erase(at, sign.size());
        return number;
    };
    const char* const way =
        rounded ? (broken > truth ? " higher" : " lower") : (broken > truth ? " too high" : " too low");
    const std::string part = text.substr(end);
    return unsigned_text(text.substr(0, end)) + way +
           (part.empty() ? "" : " " + unsigned_text(part.substr(1)));
}

std::string broken_sentence(const AppState& state, const std::optional<BrokenStep>& step) {
    if (!step) return state.comparison->mismatch.empty() ? told_where(state) : state.comparison->mismatch;
    const std::string& why = step->broken.told.why;
    const bool rounded = only_rounded(*state.problem) && !saves(*step->broken.trace);
    const bool lost = !std::isfinite(step->broken.value) && std::isfinite(step->truth.value) &&
                      (why.find("NaN") != std::string::npos || why.find("∞") != std::string::npos);
    const bool told = why.starts_with("Fault") || why.starts_with("A fault") || lost;
    const std::string own = told ? sentence_before_others(why) : "", numbers = counted(*step, rounded);
    const bool divides = step->broken.trace->step(step->step).op == Op::normalize;
    if (step->cancels != 1 && (told || divides) && !only_rounded(*state.problem)) return cancels(*step, own);
    if (own.empty() || letter_count(own) > spoken_letters)
        return numbers + because(*step, rounded) + no_harm(*step, rounded);
    // That nothing comes of it is the point.
    if (const std::string harm = no_harm(*step, rounded); !harm.empty()) {
        const std::string all = own + " " + numbers + "." + harm;
        return letter_count(all) <= spoken_letters ? all : own + harm;
    }
    if (lost) return own + " " + name_in_words(*step) + " should be " + format_short(step->truth.value) + ".";
    const bool room =
        own.find(" times ") == std::string::npos && letter_count(own + numbers) + 2 <= spoken_letters;
    return room ? own + " " + numbers + "." : own;
}

}  // namespace tilewalk::ui
