// Runs the command line inside the test, with streams in place of the terminal.
#pragma once

#include "app/cli/cli.h"
#include "app/ui/state/app_state.h"
#include "tests/folder.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tilewalk::test {

struct Ran {
    int code = 0;
    std::string out, err;
};

inline int no_window(ui::AppState&, const WindowOptions&) { return 3; }

inline Ran run(const std::vector<std::string>& words, const WindowRunner& window = no_window) {
    std::vector<std::string> all{"tilewalk"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::ostringstream out, err;
    const int code = run_cli(static_cast<int>(all.size()), argv.data(), out, err, window);
    return {code, out.str(), err.str()};
}

inline std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace tilewalk::test
