// What the files that make and check questions share.
#pragma once

#include "core/class/questions.h"
#include "core/walk/explain_view.h"
#include "core/walk/formula.h"

#include <string>
#include <vector>

namespace tilewalk::quiz {

/// "Row sum, tile (0, 1)"
inline std::string step_words(const Trace& trace, int k, const Explanation& e) {
    return step_title(trace, k, e) + (e.place == e.title ? "" : ", " + e.place);
}

/// The step before which a question is asked.
struct Asked {
    const Trace& trace;
    int k;
    std::uint64_t seed;
    Gaps gaps;
    Explanation e;  ///< of step k, for its default cell
    const Problem& problem = trace.walked();
    const Step& step = trace.step(k);
    Traffic before = k > 0 ? trace.step(k - 1).traffic : Traffic{};

    /// A number below n, the same for the same step, seed and purpose.
    int any(int n, std::uint64_t purpose) const {
        return static_cast<int>(mixed(mixed(seed, static_cast<std::uint64_t>(k)), purpose) %
                                static_cast<std::uint64_t>(n));
    }
    /// "Next: Row sum, tile (0, 1)."
    std::string next() const { return "Next: " + step_words(trace, k, e) + "."; }
    Question question(Question::Kind kind, std::string text) const {
        Question q;
        q.kind = kind;
        q.step = k;
        q.text = std::move(text);
        q.explanation = e;
        return q;
    }
};

/// It asks for numbers that the step computes, one or several; not for bytes or FLOPs.
inline bool about_cells(const Question& q) {
    return q.kind == Question::Kind::value || q.kind == Question::Kind::gaps;
}
/// What else is to be known of the output of a part: "not divided by the sum of its weights".
std::string form_of_part(const Trace& trace, int k, Slot slot);
/// All that it asks for is 0 or 1.
bool easily_guessed(const Question& q);

/// A number of a question or of its answer: four significant digits, so that what is worked out from it is
/// right to three.
std::string shown(double v);
/// Symbol of a slot in the letters of the lesson: "m̃", "d′".
std::string letter(const Trace& trace, Slot slot);
/// What these tiles take in HBM by the rule of their slots.
std::int64_t bytes_in_hbm(const Asked& a, std::span<const Access> accesses);

/// How far off an answer may be: numbers read off the screen have four digits, and what is worked out from
/// them three.
double forgiven(double expected);
/// How far off the result of this arithmetic may be where each number is known as the question shows it;
/// nothing if the arithmetic cannot be read. `given`: the numbers of the question, as they are stored.
std::optional<double> error_of_shown(const Line& numbers, const std::vector<double>& given);

/// Numbers of one slot that a cell is worked out from, in the order of its formula. `now`: where the step
/// needs the slot before and after its update.
struct Operand {
    Slot slot;
    std::vector<double> values, now;
};
/// A common mistake: what is worked out, and the sentence that names it.
struct Mistake {
    Expr how;
    std::string cause;
};
/// What common mistakes make of the operands of a cell.
std::vector<Mistake> mistakes_with(const Asked& a, const CellRef& cell, const std::vector<Operand>& operands);
/// Gives the question those of them that nobody can mistake for the right answer or for each other.
void add_wrong(Question& question, const std::vector<Mistake>& all);

// Each appends what suits the step.
void ask_value(const Asked& a, std::vector<Question>& out);
void ask_bytes(const Asked& a, std::vector<Question>& out);
void ask_flops(const Asked& a, std::vector<Question>& out);
void ask_choices(const Asked& a, std::vector<Question>& out);

/// What was typed as a number: its value and the worth of half a unit in its last digit.
struct Typed {
    double value = 0, half_unit = 0;
};
/// Nothing if it is no number. `count`: a comma before three digits parts thousands, and a whole number is
/// meant as it stands; `bytes`: a unit may follow.
std::optional<Typed> read_typed(std::string_view text, bool count, bool bytes);

}  // namespace tilewalk::quiz
