// What tests of the command line share beside running it.
#pragma once

#include "app/ui/state/app_state.h"
#include "tests/command_line.h"
#include "tests/contains.h"
#include "tests/folder.h"

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace tilewalk::test {

/// A window that looks at the state and is closed again.
WindowRunner looking(const std::function<void(ui::AppState&)>& look);
/// What it says; fails unless it ends with 0 and without a word on stderr.
std::string output_of(const std::vector<std::string>& words);

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more);

/// The settings of whoever runs the tests are not touched.
struct OwnSettings {
    Folder folder;
    Variable home{"XDG_CONFIG_HOME", folder.path.string()};
};

struct Refused {
    std::vector<std::string> words;
    const char* part;  ///< what the sentence must say
};
/// Each of them, behind the words `before`, ends with exit code 2, one sentence and nothing on stdout.
void check_refused(const std::vector<Refused>& cases, const std::vector<std::string>& before = {});

}  // namespace tilewalk::test
