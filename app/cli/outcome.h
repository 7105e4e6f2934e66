// How a command ends.
#pragma once

#include <optional>
#include <string>

namespace tilewalk {

/// interrupted: by Ctrl-C, after what there was has been written.
enum class Exit { done = 0, failed = 1, bad_input = 2, no_device = 3, not_written = 4, interrupted = 130 };

/// `sentence` goes to stderr when there is one.
struct Outcome {
    Exit exit = Exit::done;
    std::string sentence;
};

inline Outcome bad_input(std::string sentence) { return {Exit::bad_input, std::move(sentence)}; }
/// For writers that return a sentence, which may be empty, when they failed.
inline Outcome written(std::optional<std::string> failure) {
    return failure ? Outcome{Exit::not_written, std::move(*failure)} : Outcome{};
}

}  // namespace tilewalk
