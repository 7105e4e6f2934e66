#include "app/io/file.h"

#include "app/io/file_parts.h"
#include "app/io/text.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewalk {

Descriptor::~Descriptor() {
    if (fd >= 0) ::close(fd);
}

std::string reason(int error) {
    switch (error) {
    case not_all_taken: return "it did not take all bytes";
    case ENOENT: return "there is no such file or folder";
    case ENOTDIR: return "a part of the path is a file, not a folder";
    case EACCES: return "there is no permission";
    case EPERM: return "it is not permitted";
    case EEXIST: return "there is a file of that name";
    case EISDIR: return "it is a folder, expected a file";
    case ENOSPC: return "the disk is full";
    case EFBIG: return "the file would be larger than allowed";
    case ELOOP: return "its links lead in a circle";
    case EROFS: return "the file system is read-only";
    case ENAMETOOLONG: return "the name is too long";
    default: return std::generic_category().message(error);
    }
}

Failure cannot(const char* what, const std::string& path, const std::string& why) {
    return failure_at(path.empty() ? "(no name)" : path, std::string("cannot ") + what + ": " + why);
}

bool usable_name(const std::string& path) { return !path.empty() && path.find('\0') == std::string::npos; }

bool is_folder(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

namespace {

constexpr const char* read_it = "read the file";

/// Reads on until the end or one byte beyond the limit, which is enough to know that it is too much.
int read_all(int fd, std::size_t limit, std::string& bytes) {
    char buffer[1 << 16];
    while (bytes.size() <= limit) {
        const ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n == 0) return 0;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        bytes.append(buffer, static_cast<std::size_t>(n));
    }
    return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
    if (!usable_name(path)) return cannot(read_it, path, "this is not a file name");
    // Opened without waiting, so that a pipe that nobody writes to reads as empty; then reading may wait.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.fd < 0) return cannot(read_it, path, reason(errno));
    struct stat status {};
    if (::fstat(file.fd, &status) == 0 && S_ISDIR(status.st_mode))
        return cannot(read_it, path, reason(EISDIR));
    ::fcntl(file.fd, F_SETFL, 0);

    std::string bytes;
    if (const int error = read_all(file.fd, limit, bytes)) return cannot(read_it, path, reason(error));
    if (bytes.size() <= limit) return bytes;
    const bool whole = limit >= (1u << 20);
    return cannot(read_it, path,
                  "it has more than " + (whole ? str(limit >> 20) + " MiB" : str(limit) + " bytes"));
}

}  // namespace tilewalk
