#include "app/cli/output.h"

#include "app/io/file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace tilewalk {
namespace {

namespace fs = std::filesystem;

// A new, empty file beside the target; empty if there can be none.
std::string temporary_beside(const fs::path& target) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
        const std::string stem =
            ".tilewalk-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part";
        const std::string name = (target.parent_path() / stem).string();
        if (std::FILE* file = std::fopen(name.c_str(), "wx")) {
            std::fclose(file);
            return name;
        }
        if (errno != EEXIST) break;
    }
    return {};
}

std::string cannot(const std::string& path, int error) {
    const std::string reason = error == 0        ? "it did not take all bytes"
                               : error == ENOENT ? "its folder does not exist"
                                                 : std::generic_category().message(error);
    return path + ": cannot write the file: " + reason + ".";
}

// Nothing that can be renamed over: a device, a pipe, a folder, a file without permission.
bool is_special(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return fs::exists(status) && (!fs::is_regular_file(status) || ::access(path.c_str(), W_OK) != 0);
}

int stream_into(const std::string& name, const Writer& write) {
    errno = 0;
    std::ofstream file(name, std::ios::binary | std::ios::trunc);
    write(file);
    file.close();
    return file ? 0 : errno != 0 ? errno : EIO;
}

}  // namespace

std::optional<std::string> write_to_file(const std::string& path, const Writer& write) {
    if (path.empty() || path.find('\0') != std::string::npos || is_special(path)) {
        std::ostringstream text;
        write(text);
        return write_file_atomic(path, text.view());
    }
    std::error_code ignored;
    // A link stays a link: what it points to is replaced.
    const bool exists = fs::exists(path, ignored);
    const fs::path target = exists ? fs::canonical(path, ignored) : fs::path(path);
    const std::string temporary = temporary_beside(target);
    if (temporary.empty()) return cannot(path, errno);

    int error = stream_into(temporary, write);
    if (exists) fs::permissions(temporary, fs::status(target, ignored).permissions(), ignored);
    if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error == 0) return std::nullopt;
    std::remove(temporary.c_str());
    return cannot(path, error);
}

std::optional<std::string> write_to_stream(std::ostream& out, const Writer& write) {
    errno = 0;
    write(out);
    out.flush();
    if (out) return std::nullopt;
    const std::string reason = errno != 0 ? ": " + std::generic_category().message(errno) : "";
    return "The standard output could not be written" + reason + ".";
}

}  // namespace tilewalk
