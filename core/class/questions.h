// Questions about the step that comes next, made from the trace itself: a number to predict, or a choice.
// What the answer rests on is visible before the step; the answer explains itself with the words of the step.
#pragma once

#include "core/walk/explain.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// What somebody answers who made a common mistake.
struct WrongAnswer {
    double value = 0;
    std::string cause;    ///< one sentence: what was left out or mistaken
    std::string working;  ///< "1.368 + (1.000 + 0.135) = 2.503"; empty where nothing is worked out
    bool operator==(const WrongAnswer&) const = default;
};

/// How many numbers of what a step computes are asked for at once: two or three beside each other, a whole
/// row (of what has one column: the column), a whole tile. One fewer where there are not so many.
enum class Gaps : std::uint8_t { one, few, row, tile };
constexpr int gaps_count = 4;
inline constexpr const char* gaps_names[gaps_count] = {"one", "few", "row", "tile"};
constexpr std::size_t most_gaps = 8;

struct Question {
    enum class Kind : std::uint8_t {
        value,  ///< one number of what the step computes: m, α, ℓ, an element of S, P, O, dQ …
        gaps,   ///< several of them
        bytes_read,
        bytes_written,
        total_read,  ///< since the first step
        flops,
        skipped_tiles,
        maximum_rises,
        read_from_hbm,
        next_op,
        // Of a kernel's run (questions_inside.h)
        lane_of_cell,
        bank_ways,
        sectors,
        waits_for_copy,
        orders  ///< which barrier stands between a write and who reads it
    };
    Kind kind = Kind::value;
    int step = 0;      ///< the step that it asks about, from 0
    std::string text;  ///< one or two sentences

    // A number
    double expected = 0;
    double noise = 0;                ///< what rounding in double may leave of it
    bool exact = false;              ///< a count: no digit of it may be missing
    bool bytes = false;              ///< may be typed with a unit
    std::string target;              ///< "ℓ[0]", "Bytes read"
    std::vector<WrongAnswer> wrong;  ///< likely ones, told apart from the right one and from each other

    // Several numbers
    std::vector<Question> gaps;  ///< each a question about one of them, in the order of the cells
    int across = 1;              ///< how many of them lie beside each other

    // A choice: any of them may be right, one of them, or several
    std::vector<std::string> choices;
    std::vector<int> right;           ///< from 0, ascending; empty: the answer is a number
    bool several = false;             ///< the text asks for all that apply
    std::vector<std::string> causes;  ///< why somebody would choose each; may be empty

    Explanation explanation;  ///< formula, numbers and words of the answer

    bool is_choice() const { return !choices.empty(); }
    /// What takes an answer of its own: its gaps, else itself.
    std::span<const Question> parts() const { return gaps.empty() ? std::span(this, 1) : std::span(gaps); }
    /// Those of them that are numbers.
    std::span<const Question> numbers() const { return is_choice() ? std::span<const Question>() : parts(); }
};

/// "1.639", "64 B", "tile (0, 1)": the right answer for people.
std::string answer_text(const Question& question);
namespace quiz {
/// The title of a step in its lesson, without what it tells of the result ("The maximum rises").
std::string step_title(const Trace& trace, int k, const Explanation& explanation);
}  // namespace quiz

/// How far an answer on paper may be off: worked out from the numbers in the text and written with three
/// significant digits, it is nearer than this. 0: a count.
double tolerance(const Question& question);

/// One question of each kind that suits step `step`, the same for the same seed; none for what cannot be
/// worked out from the screen of step − 1. A walk that is broken on purpose is asked about its order and its
/// bytes and FLOPs, never about its numbers.
/// `gaps`: for how many numbers at once it asks, where the step has as many and the text is not too long.
std::vector<Question> questions_before(const Trace& trace, int step, std::uint64_t seed = 0,
                                       Gaps gaps = Gaps::one);
/// One of them.
std::optional<Question> question_before(const Trace& trace, int step, std::uint64_t seed = 0,
                                        Gaps gaps = Gaps::one);
/// A number that depends on both in no visible way, for choices that come out the same every time.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t n);

struct Verdict {
    enum class Kind : std::uint8_t { right, wrong, unreadable };
    Kind kind = Kind::unreadable;
    std::string sentence;
    std::string cause = {}, working = {};  ///< of a wrong number that a common mistake gives
};
/// A number is right if it is within the digits that were typed, at least two of them, or as near as numbers
/// read off the screen come. 13.4, 13,44, −0.5, −∞, 1e-3, 1/3, exp(−2), 64 B and 1.5 KiB are read. Choices
/// are typed by their numbers, from 1: "2", "1 3"; several numbers with semicolons between them.
Verdict check(const Question& question, std::string_view typed);
/// Each of several numbers; what is missing was left empty.
std::vector<Verdict> check_each(const Question& question, const std::vector<std::string>& typed);
/// What is to be said of all of them.
Verdict together(const Question& question, const std::vector<Verdict>& each);
/// Choices from 0, in any order.
Verdict check(const Question& question, std::vector<int> chosen);

}  // namespace tilewalk
