#include "app/cli/ffmpeg.h"

#include "app/io/text.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewalk {
namespace {

// The colours of television, for H.264 and VP9; players know nothing else for sure. They need even sizes.
const std::vector<const char*> television = {"-vf",
                                             "scale=out_color_matrix=bt709:out_range=tv",
                                             "-pix_fmt",
                                             "yuv420p",
                                             "-colorspace",
                                             "bt709",
                                             "-color_primaries",
                                             "bt709",
                                             "-color_trc",
                                             "bt709"};

const FilmFormat formats[] = {
    {".mp4",
     true,
     false,
     {"-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"}},
    {".webm",
     true,
     false,
     {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1", "-crf", "24", "-b:v",
      "0", "-f", "webm"}},
    {".gif", false, true, {"-lavfi", "[0:v][1:v]paletteuse=dither=none:diff_mode=rectangle", "-f", "gif"}}};

std::vector<std::string> frames_in(const FilmLook& look) {
    const std::string size = str(look.size.width) + "x" + str(look.size.height);
    return {"-hide_banner", "-loglevel",   "error", "-y",         "-f",          "rawvideo", "-pix_fmt",
            "rgba",         "-video_size", size,    "-framerate", str(look.fps), "-i",       "pipe:0"};
}

// What it reads and writes lies behind these numbers in the child.
constexpr int output_fd = 3, second_fd = 4;
constexpr const char *output_path = "/dev/fd/3", *second_path = "/dev/fd/4";

std::string all_of(std::FILE* file) {
    std::string text;
    std::array<char, 1 << 16> part;
    std::rewind(file);
    while (const std::size_t n = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), n);
    return text;
}

Failure not_started(int error) {
    return Failure{std::string("ffmpeg cannot be started: ") + std::strerror(error) + "."};
}

}  // namespace

const FilmFormat* film_format(const std::string& ending) {
    for (const FilmFormat& format : formats)
        if (ending == format.ending) return &format;
    return nullptr;
}

std::vector<std::string> film_arguments(const FilmLook& look, const FilmFormat& format, bool chapters) {
    std::vector<std::string> all = frames_in(look);
    if (format.own_palette) all.insert(all.end(), {"-i", second_path});
    if (chapters) all.insert(all.end(), {"-f", "ffmetadata", "-i", second_path, "-map_chapters", "1"});
    // Nothing is said of when and where; titles of chapters are metadata, too.
    all.insert(all.end(), {"-an", "-map_metadata", chapters ? "1" : "-1"});
    if (format.even) all.insert(all.end(), television.begin(), television.end());
    all.insert(all.end(), format.arguments.begin(), format.arguments.end());
    all.insert(all.end(), {"-fflags", "+bitexact", "-flags:v", "+bitexact", output_path});
    return all;
}

std::vector<std::string> palette_arguments(const FilmLook& look) {
    std::vector<std::string> all = frames_in(look);
    all.insert(all.end(), {"-vf", "palettegen=reserve_transparent=0", "-frames:v", "1", "-c:v", "png", "-f",
                           "image2pipe", output_path});
    return all;
}

Result<Ffmpeg> Ffmpeg::start(const std::string& program, const std::vector<std::string>& arguments,
                             const std::string& second_input) {
    Ffmpeg out;
    out.out_.reset(std::tmpfile());
    out.said_.reset(std::tmpfile());
    out.second_.reset(std::tmpfile());
    int ends[2];
    if (!out.out_ || !out.said_ || !out.second_ || ::pipe2(ends, O_CLOEXEC) != 0) return not_started(errno);
    std::fwrite(second_input.data(), 1, second_input.size(), out.second_.get());
    std::fflush(out.second_.get());

    std::vector<char*> words{const_cast<char*>("ffmpeg")};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);

    // Copies beyond the numbers that the child will have, so that none of them is overwritten.
    const auto beyond = [](int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 10); };
    const std::array files{std::pair{beyond(ends[0]), STDIN_FILENO},
                           std::pair{beyond(::fileno(out.said_.get())), STDERR_FILENO},
                           std::pair{beyond(::fileno(out.out_.get())), output_fd},
                           std::pair{beyond(::fileno(out.second_.get())), second_fd}};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    for (const auto& [from, to] : files) ::posix_spawn_file_actions_adddup2(&actions, from, to);
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    // A group of its own: Ctrl-C is for us, and what we leave unread ends it. It meets a closed pipe as
    // usual.
    sigset_t usual;
    ::sigemptyset(&usual);
    ::sigaddset(&usual, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    const int error =
        ::posix_spawn(&out.child_, program.c_str(), &actions, &attributes, words.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    for (const auto& [from, to] : files) ::close(from);
    ::close(ends[0]);
    out.in_ = ends[1];
    if (error == 0) return out;
    out.child_ = -1;
    return not_started(error);
}

Ffmpeg::Ffmpeg(Ffmpeg&& other) noexcept
    : child_(std::exchange(other.child_, -1)), in_(std::exchange(other.in_, -1)), out_(std::move(other.out_)),
      said_(std::move(other.said_)), second_(std::move(other.second_)) {}

Ffmpeg::~Ffmpeg() {
    if (child_ >= 0) ::kill(child_, SIGKILL);
    wait();
}

int Ffmpeg::wait() {
    if (in_ >= 0) ::close(std::exchange(in_, -1));
    if (child_ < 0) return 0;
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
}

// The last line that it said.
Failure Ffmpeg::failed() const {
    std::string said;
    for (const std::string& line : split(all_of(said_.get()), "\n"))
        if (!line.empty()) said = line;
    while (!said.empty() && (said.back() == '.' || said.back() == '\r')) said.pop_back();
    return Failure{"ffmpeg could not make the film" + (said.empty() ? "" : ": " + said) + "."};
}

Result<void> Ffmpeg::write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(in_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            wait();
            return failed();
        }
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return {};
}

Result<std::string> Ffmpeg::finish() {
    const int status = wait();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed();
    return all_of(out_.get());
}

}  // namespace tilewalk
