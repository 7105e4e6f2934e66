// A folder of the program's own for what other programs need or make for a while.
#pragma once

#include "app/io/temporary.h"
#include "core/base/result.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// Files and folders that go when it goes, those made last first.
class PrivateFolder {
public:
    /// `whose` is for the sentence of a failure: "the kernel".
    static Result<PrivateFolder> make(const std::string& whose);
    PrivateFolder(PrivateFolder&&) = default;
    ~PrivateFolder();  ///< with what a program leaves there that was stopped

    /// The path of a file that somebody else makes.
    std::string expect(const std::string& name);
    /// The folders before the last part of the name are made, too.
    Result<void> write(const std::string& name, std::string_view text);
    const std::string& path() const { return root_; }

private:
    PrivateFolder() = default;
    std::string root_;
    std::set<std::string> folders_;
    std::vector<Temporary> made_;
};

}  // namespace tilewalk
