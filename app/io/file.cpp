#include "app/io/file.h"

#include "app/io/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewalk {
namespace {

struct Descriptor {
    int fd = -1;
    explicit Descriptor(int opened) : fd(opened) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
};

std::string reason(int error) {
    switch (error) {
    case ENOENT: return "there is no such file or folder";
    case ENOTDIR: return "a part of the path is a file, not a folder";
    case EACCES: return "there is no permission";
    case EPERM: return "it is not permitted";
    case EISDIR: return "it is a folder, expected a file";
    case ENOSPC: return "the disk is full";
    case EFBIG: return "the file would be larger than allowed";
    case EROFS: return "the file system is read-only";
    case ENAMETOOLONG: return "the name is too long";
    default: return std::generic_category().message(error);
    }
}

Failure cannot(const char* what, const std::string& path, const std::string& why) {
    return failure_at(path.empty() ? "(no name)" : path, std::string("cannot ") + what + " the file: " + why);
}

/// A name with a NUL inside would reach the system cut short and mean another file.
bool usable_name(const std::string& path) { return !path.empty() && path.find('\0') == std::string::npos; }

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

int write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
}

/// Some file systems report a full disk only here.
int close_checked(Descriptor& file) {
    const int fd = std::exchange(file.fd, -1);
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
}

/// A link stays a link: its target is what gets replaced.
std::string resolved(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    const std::string target = real ? real : path;
    std::free(real);
    return target;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

/// A new, empty file beside the target. Its name does not grow with the target's, which may be at the limit.
int open_temporary(const std::string& folder, std::string& name) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
        name = folder + "/.tilewalk-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
        const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

int write_directly(const std::string& path, std::string_view bytes) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.fd < 0) return errno;
    const int error = write_all(file.fd, bytes);
    return error ? error : close_checked(file);
}

/// `mode` is that of the file that is replaced, 0 when there is none.
int write_and_rename(const std::string& target, std::string_view bytes, mode_t mode) {
    std::string temporary;
    Descriptor file(open_temporary(folder_of(target), temporary));
    if (file.fd < 0) return errno;
    int error = write_all(file.fd, bytes);
    if (!error && mode != 0 && ::fchmod(file.fd, mode) != 0) error = errno;
    const int closing = close_checked(file);
    if (!error) error = closing;
    if (!error && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error) ::unlink(temporary.c_str());
    return error;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
    if (!usable_name(path)) return cannot("read", path, "this is not a file name");
    // Opened without waiting, so that a pipe that nobody writes to reads as empty; then reading may wait.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.fd < 0) return cannot("read", path, reason(errno));
    struct stat status {};
    if (::fstat(file.fd, &status) == 0 && S_ISDIR(status.st_mode))
        return cannot("read", path, reason(EISDIR));
    ::fcntl(file.fd, F_SETFL, 0);

    std::string bytes;
    if (const int error = read_all(file.fd, limit, bytes)) return cannot("read", path, reason(error));
    if (bytes.size() <= limit) return bytes;
    const bool whole = limit >= (1u << 20);
    return cannot("read", path,
                  "it has more than " +
                      (whole ? std::to_string(limit >> 20) + " MiB" : std::to_string(limit) + " bytes"));
}

std::optional<std::string> write_file_atomic(const std::string& path, std::string_view bytes) {
    if (!usable_name(path)) return cannot("write", path, "this is not a file name").sentence;
    struct stat old {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    int error = 0;
    if (exists && S_ISDIR(old.st_mode))
        error = EISDIR;
    else if (exists && !S_ISREG(old.st_mode))
        error = write_directly(path, bytes);
    else if (exists && ::access(path.c_str(), W_OK) != 0)
        error = errno;
    else
        error = write_and_rename(exists ? resolved(path) : path, bytes, exists ? old.st_mode & 07777u : 0u);
    if (error == 0) return std::nullopt;
    return cannot("write", path, error == ENOENT ? "its folder does not exist" : reason(error)).sentence;
}

}  // namespace tilewalk
