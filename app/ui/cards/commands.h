// What the palette of commands finds: everything that the program's own tables name. A row that is added to
// one of them is found by itself.
#pragma once

#include "app/ui/kit/key.h"
#include "app/ui/state/app_state.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

struct Command {
    std::string title;  ///< "Online softmax"
    const char* kind;   ///< "Chapter"
    std::string keys;   ///< "2"; mostly empty
    std::string words;  ///< more to find it by
    std::function<void(AppState&)> run;
    std::function<void(AppState&)> other = {};  ///< of two keys the second: "previous step"
};

/// All of them, in the order in which they are offered.
std::vector<Command> commands(AppState& state);
/// Those that the words fit, best first: by the title's first letters, by those of a word, by a part of one,
/// by kind and other words, by letters in their order. All of them if nothing is asked.
std::vector<Command> find_commands(std::vector<Command> all, std::string_view text);

}  // namespace tilewalk::ui
