// Holds what a frame showed against the rules of the layout.
#pragma once

#include "tests/app/ui/harness.h"

#include <functional>
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
    std::string_view panel = {};  ///< what lies there alone
};
/// The rules that the last frame broke.
std::vector<Finding> broken_rules(const Program& program, LayoutRules rules = {});
/// Fails for each of them, and says where the program stands, and what else was looked at.
void check_frame(const Program& program, const std::string& what = {}, LayoutRules rules = {});
/// The same once what was changed is laid out anew.
void check_new_frame(Program& program, const std::string& what = {}, LayoutRules rules = {});
/// Nothing breaks a rule, and nothing of that card is shortened.
void check_card(const Program& program, std::string_view card, const std::string& what = {});
/// Calls look(program) at every size, in every theme, with and without presenter mode.
void in_every_look(const std::function<void(Program&)>& look);
/// TILEWALK_LAYOUT=all: every step of every example, which takes long.
bool looks_at_everything();
/// Calls look() at these steps of every lesson that can walk through the problem.
void in_every_lesson(Program& program, const Problem& problem,
                     const std::function<std::vector<int>(const Trace&)>& steps,
                     const std::function<void()>& look);
void at_every_step(Program& program, const Problem& problem, const std::function<void()>& look);
/// Texts that were cut with "…".
std::vector<std::string> shortened_texts(const Program& program);

}  // namespace tilewalk::test
