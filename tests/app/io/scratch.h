// A folder that lives as long as one test.
#pragma once

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace tilewalk::test {

struct Scratch {
    std::filesystem::path folder;

    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "tilewalk-test-XXXXXX").string();
        folder = ::mkdtemp(name.data());
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }

    std::string path(const std::string& name) const { return (folder / name).string(); }
    /// Number of files in the folder, hidden ones too.
    int files() const {
        int n = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) n += !entry.path().empty();
        return n;
    }
};

}  // namespace tilewalk::test
