#include "app/cli/child.h"

#include "app/io/text.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewalk {
namespace {

// Words and environment as the system takes them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
}

std::vector<std::string> environment_of(const ChildRun& run) {
    std::vector<std::string> out{"LC_ALL=C", "TMPDIR=" + run.folder};
    for (char** entry = environ; *entry; ++entry)
        if (const std::string_view known = *entry;
            !known.starts_with("LC_ALL=") && !known.starts_with("TMPDIR="))
            out.emplace_back(known);
    return out;
}

int spawn(const ChildRun& run, pid_t& child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, run.said.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    sigset_t usual;
    ::sigemptyset(&usual);
    ::sigaddset(&usual, SIGPIPE);
    ::sigaddset(&usual, SIGXFSZ);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    const std::vector<std::string> environment = environment_of(run);
    const int error = ::posix_spawn(&child, run.words.front().c_str(), &actions, &attributes,
                                    pointers(run.words).data(), pointers(environment).data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    for (const std::string& folder : split(path ? path : "", ":")) {
        if (folder.empty()) continue;
        const std::string full = folder + "/" + name;
        if (::access(full.c_str(), X_OK) == 0) return full;
    }
    return std::nullopt;
}

std::string& this_program() {
    static std::string program = "/proc/self/exe";
    return program;
}

bool ChildEnd::well() const { return in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0; }

Result<ChildEnd> run_child(const ChildRun& run) {
    pid_t child = -1;
    if (const int error = spawn(run, child); error != 0)
        return Failure{run.words.front() + " cannot be started: " + std::strerror(error) + "."};
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(run.seconds);
    constexpr auto pause = std::chrono::milliseconds(5);
    ChildEnd out;
    pid_t ended = 0;
    while (ended == 0 || (ended < 0 && errno == EINTR)) {
        ended = ::waitpid(child, &out.status, out.in_time ? WNOHANG : 0);
        if (ended != 0) continue;
        if (Clock::now() > end || run.stop.stop_requested()) {
            out.in_time = false;
            ::kill(-child, SIGKILL);
        } else {
            if (run.meanwhile) run.meanwhile();
            std::this_thread::sleep_for(pause);
        }
    }
    ::kill(-child, SIGKILL);  // what it has started and left behind
    return out;
}

}  // namespace tilewalk
