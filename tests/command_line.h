// The command line inside a test, with streams in place of the terminal.
#pragma once

#include "app/cli/cli.h"

#include <sstream>
#include <string>
#include <vector>

namespace tilewalk::test {

struct Ran {
    int code = 0;
    std::string out, err;
    bool written = true;  ///< stdout took all of it
};

inline int no_window(ui::AppState&, const WindowOptions&) { return 3; }

/// `words` without the program's name.
inline Ran run(std::vector<std::string> words, const WindowRunner& window = no_window) {
    words.insert(words.begin(), "tilewalk");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::ostringstream out, err;
    const int code = run_cli(static_cast<int>(words.size()), argv.data(), window, out, err);
    return {code, out.str(), err.str(), static_cast<bool>(out)};
}

}  // namespace tilewalk::test
