// How a command ends, and where its results go.
#pragma once

#include "app/io/file.h"

#include <iosfwd>
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
inline Outcome written(const Result<void>& result) {
    return result ? Outcome{} : Outcome{Exit::not_written, result.error};
}

/// Writes the whole of it into the file, or else to `out`. There the sentence of a failure is empty when the
/// reader went away (tilewalk trace | head): that is no news to anybody.
Outcome put(const std::optional<std::string>& file, std::ostream& out, const Writer& write);
Outcome put(const std::optional<std::string>& file, std::ostream& out, const std::string& text);

}  // namespace tilewalk
