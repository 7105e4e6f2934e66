// A broken walk on the stage of presenter mode: one cell as the true walk has it and as the broken one, what
// comes of it in the result, and the keys that break and repair. What it looks like:
// app/ui/parts/stage_broken.h. The keys: stage_faults.cpp; the sentences: broken_words.cpp.
#pragma once

#include "app/ui/kit/key.h"
#include "app/ui/state/app_state.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewalk::ui {

// ---- Breaking and repairing

/// What can be broken in a lesson, or rounded, or saved: its faults by number, then the kernels' formats and
/// savings by letter.
struct StageFault {
    Key key;
    const char* title;      ///< "Leave the correction out", "bf16 kernel"
    const char* what = "";  ///< what the kernel computes instead
    Switches switches = {};
    Precision precision = {};
    Savings savings = {};
    bool rounds() const { return switches == Switches{}; }
};
std::vector<StageFault> stage_faults(const Lesson& lesson);
/// The problem has this fault and no other.
bool is_on(const Problem& problem, const StageFault& fault);
/// This fault alone, or, if it is on, none.
void choose_fault(AppState& state, const StageFault& fault);
/// X: repairs; where nothing is broken, opens the list, and there breaks again what was broken last.
void break_or_repair(AppState& state);
/// What X in the open list breaks again: "Leave the correction out"; empty: nothing yet.
std::string broken_last(const AppState& state);

/// "Leave the correction out", "bf16 kernel": what is wrong with the problem that is shown.
std::string fault_title(const Lesson& lesson, const Problem& problem);
/// "Fault: correction left out", "Rounded: bf16 kernel": what is named wherever the walk is shown.
std::string named_fault(const AppState& state);
/// Only number formats differ, or what is saved: the walk is not broken.
bool only_rounded(const Problem& problem);
/// What the walk does in place of the true one: "Broken", "Rounded", "Saving".
const char* kind_of_walk(const AppState& state);

// ---- The two walks beside each other

/// A stretch of a bar: what was there before the step, what the step adds.
struct BarPart {
    Line label;  ///< "old ℓ × 0.368"
    double value = 0;
    Role role = Role::none;
};

/// One of the two walks at the step.
struct StageSide {
    const Trace* trace = nullptr;
    Explanation told;  ///< of the cell
    double value = 0;
    std::vector<BarPart> parts;  ///< of one sign, adding up to the value; else only that
    Line cause;                  ///< what came in that differs, "α = 0.368", or else the formula
    Matrix results;              ///< the matrix that the lesson is after
    double end = 0;              ///< one of its elements
    Line quotient;               ///< "11.80 ÷ 1.639", where the lesson divides at the end
};

/// Something that both steps read and that already differs.
struct BrokenCause {
    CellRef cell;
    double truth, broken;
    int step;  ///< that wrote it; −1: given
};

struct BrokenStep {
    int step = 0;
    CellRef cell;  ///< the chosen one if it differs, else the one that is furthest off
    bool chosen = true;
    std::optional<BrokenCause> cause;
    CellRef end;        ///< the element of the result that it leads to
    int first_row = 0;  ///< of the result: a lesson of one row has that row, or those from there on, alone
    StageSide truth, broken;
    std::vector<bool> wrong_rows;  ///< of the result
    int wrong_count() const;
    /// The element that the step leads to, before it is what it will be.
    bool on_its_way() const;
    /// Another number on the way to the same result.
    bool harmless() const;
    /// How many times as large ℓ, and what it divides, are in the walk that comes to the same; else 1.
    double cancels = 1;
};
/// What its lesson calls the cell of a part, "w_B"; empty where the cell is of no part.
Line part_title(const BrokenStep& step);
/// Nothing where the step writes the same numbers in both walks.
std::optional<BrokenStep> broken_step(const AppState& state);
/// The same for the frame that is drawn: worked out when step, cell or walk change.
const std::optional<BrokenStep>& shown_broken_step(AppState& state);

/// What the fault does here, with numbers; where the step is the same, where it first shows.
std::string broken_sentence(const AppState& state, const std::optional<BrokenStep>& step);
/// "−1.771 (−25 %)"; "the same" up to the last bits; words where there is no number.
std::string difference_text(double truth, double broken, bool percent = true);
/// The same in words, where one number stands for two moments: "1.771 too low (25 %)", of a rounded one
/// "lower".
std::string difference_words(double truth, double broken, bool rounded, bool percent = true);
/// Two numbers off by no more than the last bits.
bool same_number(double truth, double broken);
/// Both with nine significant digits and the same decimals, and how many bytes they have in common.
struct NineDigits {
    std::string truth, broken;
    std::size_t same = 0;
};
NineDigits nine_digits(double truth, double broken);

}  // namespace tilewalk::ui
