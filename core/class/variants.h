// The same question with other numbers: of one lesson at one step, on random problems of one shape.
#pragma once

#include "core/class/questions.h"
#include "core/walk/lesson.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

constexpr int most_variants = 1000;

struct VariantsWanted {
    const Lesson* lesson = nullptr;
    Problem shape;            ///< sizes, tiles, mask, scale; its numbers do not matter
    std::optional<int> step;  ///< from 0; none: a selection over the walk
    int variants = 30;
    std::uint64_t seed = 1;
    Gaps gaps = Gaps::one;  ///< how many numbers a question asks for at once
};

struct Variant {
    Problem problem;
    Question question;
};

/// One question. What does not depend on the numbers (bytes, FLOPs, skipped tiles …) has a single variant,
/// the same for everybody.
struct AskedOfAll {
    int step = 0,
        steps = 0;  ///< of the walk, from 0; and how many there are, 0: its variants have steps of their own
    std::string title;  ///< "Row sum, tile (0, 1), ℓ[0]"
    std::vector<Variant> variants;
    bool same_for_all() const { return variants.size() == 1; }
};

/// A problem of this shape with numbers that are multiples of 0.1 in [−1.5, 1.5], the same for a seed on
/// every machine.
Problem with_other_numbers(const Problem& shape, std::uint64_t seed);

/// Refused with a sentence: faults and rounding, shapes too large for paper, a step without a question, and
/// more variants than there are.
Result<std::vector<AskedOfAll>> make_variants(const VariantsWanted& wanted);

}  // namespace tilewalk
