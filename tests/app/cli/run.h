// Runs the command line inside the test, with streams in place of the terminal.
#pragma once

#include "app/cli/cli.h"
#include "app/ui/state/app_state.h"

#include <cstdlib>
#include <filesystem>
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

/// A folder that is gone when the test ends.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "tilewalk-test-XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(const std::string& name) const { return (path / name).string(); }
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(path / name, std::ios::binary) << text;
        return file(name);
    }
    std::size_t count() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()));
    }
};

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
