// Another program, run to its end or until it has had its time.
#pragma once

#include "core/base/result.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace tilewalk {

/// Where a program lies that can be called by its name alone.
std::optional<std::string> find_program(const std::string& name);

/// The program that is running, to be started once more. Tests name another.
std::string& this_program();

struct ChildRun {
    std::vector<std::string> words;  ///< the program's path, and what it is called with
    std::string said;                ///< file that takes what it says, on both streams
    std::string folder;              ///< for what it makes for a while
    double seconds;                  ///< of the wall; then it is ended
    std::stop_token stop{};
    std::function<void()> meanwhile{};  ///< called many times a second
};
struct ChildEnd {
    bool in_time = true;  ///< false: it was ended after its seconds, or because it should stop
    int status = 0;       ///< as waitpid gives it

    bool well() const;
};
/// It and all that it starts are a process group of their own, which is gone afterwards. A sentence if it
/// cannot be started. It speaks English.
Result<ChildEnd> run_child(const ChildRun& run);

}  // namespace tilewalk
