// Whole files in and out. Failures are sentences; a file that is written is there whole or not at all.
#pragma once

#include "app/io/temporary.h"
#include "core/base/result.h"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

constexpr std::size_t max_file_bytes = std::size_t{256} << 20;

/// All bytes of the file. Refused with a sentence: missing, a folder, not readable, more than `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit = max_file_bytes);

/// Writes a file's content into the stream; may stop early when the stream has failed.
using Writer = std::function<void(std::ostream&)>;

/// Writes through a temporary file in the same folder and renames it, so that nobody sees half a file. A link
/// stays a link: what it leads to is written. Devices and pipes are written directly. Returns the sentence of
/// what went wrong; then the old file, if any, is as it was and nothing new is left behind.
Result<void> write_file_atomic(const std::string& path, const Writer& write);
Result<void> write_file_atomic(const std::string& path, std::string_view bytes);

/// Removes the temporary files of write_file_atomic that a process left in this folder when it was killed
/// while it wrote.
void remove_leftovers(const std::string& folder);

/// Several files that appear together: each is written under a temporary name, and all are renamed at the
/// end.
class StagedFiles {
public:
    /// Writes one file under a temporary name (a device or pipe: at once). Returns the sentence of what went
    /// wrong.
    Result<void> add(const std::string& path, const Writer& write);
    /// Renames all of them. Returns the sentence of what went wrong; files before the one it names are in
    /// place.
    Result<void> put_in_place();

private:
    struct Staged {
        std::string path;    ///< as it was given, for sentences
        std::string target;  ///< where its links lead
        std::string name;    ///< until it is renamed
        Temporary temporary;
    };
    Result<void> stage(const std::string& path, std::string target, unsigned mode, const Writer& write);

    std::vector<Staged> files_;
};

/// Makes a folder, to be kept once what belongs into it is there; nothing if there is one already. Its parent
/// must be there.
Result<std::optional<Temporary>> make_folder(const std::string& path);

}  // namespace tilewalk
