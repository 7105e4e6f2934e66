// Holds what a frame showed against the rules of the layout.
#pragma once

#include "tests/app/ui/harness.h"

#include <set>
#include <string>

namespace tilewalk::test {

/// One broken rule: "Timeline: '12.5' reaches 8 px beyond its panel". Numbers that depend on the step are
/// left out, so that one mistake is one sentence.
struct Finding {
    std::string rule;   ///< "leaves its panel", "overlaps", …
    std::string where;  ///< the panel
    std::string text;   ///< what was written there
    float amount = 0;   ///< px, ratio: how bad it is
};

struct LayoutRules {
    bool geometry = true, contrast = true;
};
/// The rules that the last frame broke.
std::vector<Finding> broken_rules(const Program& program, LayoutRules rules = {});
/// The same as lines of text; empty: none.
std::string findings(const Program& program);
/// Fails for each of them, and says what was looked at.
void check_frame(const Program& program, const std::string& what);
/// Texts that were cut with "…".
std::vector<std::string> shortened_texts(const Program& program);

}  // namespace tilewalk::test
