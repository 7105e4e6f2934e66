#include "app/io/file.h"
#include "app/io/file_parts.h"
#include "core/base/words.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <streambuf>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewalk {
namespace {

int write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
}

/// Lets a stream write to a descriptor and keeps the reason of the first failure, which streams lose.
class DescriptorBuffer : public std::streambuf {
public:
    explicit DescriptorBuffer(int fd) : fd_(fd) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
    int error = 0;

protected:
    int sync() override {
        if (!error) error = write_all(fd_, {pbase(), static_cast<std::size_t>(pptr() - pbase())});
        setp(bytes_.data(), bytes_.data() + bytes_.size());
        return error ? -1 : 0;
    }
    int_type overflow(int_type c) override {
        if (sync() != 0) return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
        return traits_type::not_eof(c);
    }

private:
    int fd_;
    std::array<char, 1 << 16> bytes_;
};

/// Some file systems report a full disk only here.
int close_checked(Descriptor& file) {
    const int fd = std::exchange(file.fd, -1);
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
}

/// Everything that `write` has to say, to the open file, which is closed.
int stream_into(Descriptor& file, const Writer& write) {
    DescriptorBuffer buffer(file.fd);
    std::ostream stream(&buffer);
    write(stream);
    stream.flush();
    const int closing = close_checked(file);
    if (buffer.error) return buffer.error;
    return stream ? closing : not_all_taken;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

/// Where a path leads when it is a link, whether or not there is something: a link stays a link.
int follow_links(std::string& path) {
    for (int links = 0; links < 40; ++links) {
        char buffer[PATH_MAX];
        const ssize_t n = ::readlink(path.c_str(), buffer, sizeof buffer);
        if (n < 0) return 0;  // not a link; whatever else is wrong shows when the file is opened
        const std::string to(buffer, static_cast<std::size_t>(n));
        path = to.starts_with('/') ? to : folder_of(path) + "/" + to;
    }
    return ELOOP;
}

int write_directly(const std::string& path, const Writer& write) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file.fd < 0 ? errno : stream_into(file, write);
}

// Some folders take no files at all, as /proc.
Failure not_written(const std::string& path, int error) {
    if (error != ENOENT) return cannot("write the file", path, reason(error));
    return cannot("write the file", path,
                  is_folder(folder_of(path)) ? "its folder takes no files" : "its folder does not exist");
}

}  // namespace

void remove_leftovers(const std::string& folder) {
    constexpr std::string_view begins = ".tilewalk-", ends = ".tmp";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(begins) || !name.ends_with(ends)) continue;
        const auto writer =
            number_in<pid_t>(name.substr(begins.size(), name.find('-', begins.size()) - begins.size()));
        if (writer && *writer > 0 && ::kill(*writer, 0) != 0 && errno == ESRCH)
            ::unlink(entry.path().c_str());
    }
}

Result<void> StagedFiles::add(const std::string& path, const Writer& write) {
    if (!usable_name(path)) return cannot("write the file", path, "this is not a file name");
    std::string target = path;
    if (const int error = follow_links(target)) return not_written(path, error);
    struct stat old {};
    if (::stat(target.c_str(), &old) != 0)
        return errno == ENOENT ? stage(path, target, 0, write) : Result<void>(not_written(path, errno));
    if (S_ISDIR(old.st_mode)) return not_written(path, EISDIR);
    if (::access(target.c_str(), W_OK) != 0) return not_written(path, errno);
    if (S_ISREG(old.st_mode)) return stage(path, target, old.st_mode & 07777u, write);
    if (const int error = write_directly(target, write)) return not_written(path, error);
    return {};
}

/// `mode` is that of the file that will be replaced, 0 when there is none.
Result<void> StagedFiles::stage(const std::string& path, std::string target, unsigned mode,
                                const Writer& write) {
    // The name does not grow with the target's, which may be at the limit.
    const std::string stem = folder_of(target) + "/.tilewalk-" + str(::getpid()) + "-";
    for (int attempt = 0; attempt < 1000; ++attempt) {
        const std::string name = stem + str(files_.size()) + "-" + str(attempt) + ".tmp";
        Temporary temporary(name);
        Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file.fd < 0) {
            const int error = errno;
            temporary.keep();  // what has that name, if anything, is not ours
            if (error == EEXIST) continue;
            return not_written(path, error);
        }
        int error = mode != 0 && ::fchmod(file.fd, mode) != 0 ? errno : 0;
        if (!error) error = stream_into(file, write);
        if (error) return not_written(path, error);
        files_.push_back({path, std::move(target), name, std::move(temporary)});
        return {};
    }
    return not_written(path, EEXIST);
}

Result<void> StagedFiles::put_in_place() {
    for (Staged& file : files_) {
        if (::rename(file.name.c_str(), file.target.c_str()) != 0) return not_written(file.path, errno);
        file.temporary.keep();
    }
    files_.clear();
    return {};
}

Result<void> write_file_atomic(const std::string& path, const Writer& write) {
    StagedFiles files;
    if (auto added = files.add(path, write); !added) return added;
    return files.put_in_place();
}

Result<void> write_file_atomic(const std::string& path, std::string_view bytes) {
    const auto write = [bytes](std::ostream& out) {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    };
    return write_file_atomic(path, Writer(write));
}

Result<std::optional<Temporary>> make_folder(const std::string& path) {
    if (!usable_name(path)) return cannot("make the folder", path, "this is not a folder name");
    struct stat old {};
    if (::stat(path.c_str(), &old) == 0 && S_ISDIR(old.st_mode)) return std::optional<Temporary>{};
    if (::mkdir(path.c_str(), 0777) != 0)
        return cannot("make the folder", path,
                      errno != ENOENT              ? reason(errno)
                      : is_folder(folder_of(path)) ? "the folder around it takes none"
                                                   : "the folder around it does not exist");
    return std::optional<Temporary>{std::in_place, path};
}

}  // namespace tilewalk
