#include "core/bench/machine.h"

#include "core/base/words.h"
#include "core/bench/build_facts.h"
#include "core/engine/pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>

namespace tilewalk {

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::string text_of(const std::string& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::optional<std::int64_t> number_of(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

// The rest of the line that begins with `key`, as /proc writes "MemAvailable:   1024 kB".
std::optional<std::string> after(const std::string& text, const std::string& key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(key)) return line.substr(key.size());
    return std::nullopt;
}

std::optional<std::int64_t> kilobytes(const std::string& text, const std::string& key) {
    const auto line = after(text, key);
    const auto number = line ? number_of(*line) : std::nullopt;
    if (number) return *number * 1024;
    return std::nullopt;
}

// The names of the same three files in the two versions of control groups.
struct GroupFiles {
    std::string limit, usage, reclaimable;
};
const GroupFiles version_2{"memory.max", "memory.current", "inactive_file "};
const GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};

// What one group leaves; files in the page cache that nobody uses count as free, as in MemAvailable.
std::int64_t left_in(const std::string& folder, const GroupFiles& files) {
    const auto limit = number_of(text_of(folder + "/" + files.limit));  // none: "max"
    const auto usage = number_of(text_of(folder + "/" + files.usage));
    if (!limit || !usage) return no_limit;
    const auto cached = after(text_of(folder + "/memory.stat"), files.reclaimable);
    const std::int64_t reclaimable = cached ? number_of(*cached).value_or(0) : 0;
    return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - reclaimable));
}

// The least that the group at `path` below `mount` and the groups around it leave.
std::int64_t left_in_all(const std::string& mount, std::string path, const GroupFiles& files) {
    std::int64_t left = left_in(mount, files);
    while (path.size() > 1) {
        left = std::min(left, left_in(mount + path, files));
        path.resize(path.rfind('/'));
    }
    return left;
}

// /proc/self/cgroup has a line "0::/path" for version 2, "9:memory:/path" for version 1.
std::int64_t left_in_groups(const std::string& root) {
    std::int64_t left = no_limit;
    std::istringstream lines(text_of(root + "/proc/self/cgroup"));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1),
                          path = line.substr(second + 1);
        if (controllers.empty())
            left = std::min(left, left_in_all(root + "/sys/fs/cgroup", path, version_2));
        else if (controllers.find("memory") != std::string::npos)
            left = std::min(left, left_in_all(root + "/sys/fs/cgroup/memory", path, version_1));
    }
    return left;
}

std::string system_name() {
    std::string name = after(text_of("/etc/os-release"), "PRETTY_NAME=").value_or("unknown");
    std::erase(name, '"');
    return name;
}

std::string compiler() {
#if defined(__clang__)
    return "clang " + str(__clang_major__) + "." + str(__clang_minor__) + "." + str(__clang_patchlevel__);
#elif defined(__GNUC__)
    return "gcc " + str(__GNUC__) + "." + str(__GNUC_MINOR__) + "." + str(__GNUC_PATCHLEVEL__);
#else
    return "unknown";
#endif
}

std::atomic<bool> peak_was_reset = false;  // ranks may be threads

}  // namespace

std::string cpu_model(const std::string& cpuinfo) {
    std::istringstream lines(cpuinfo);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(':');
        if (!line.starts_with("model name") || colon == std::string::npos) continue;
        const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
        if (begin != std::string::npos) return line.substr(begin);
    }
    return "unknown";
}

Machine this_machine() {
    Machine machine;
    machine.cpu = cpu_model(text_of("/proc/cpuinfo"));
    machine.cores = cpu::usable_cores();
    machine.memory_total = kilobytes(text_of("/proc/meminfo"), "MemTotal:").value_or(0);
    machine.memory_available = available_memory();
    machine.system = system_name();
    return machine;
}

Build this_build() { return {build_facts.version, build_facts.commit, compiler(), build_facts.flags}; }

std::int64_t available_memory(const std::string& root) {
    const auto system = kilobytes(text_of(root + "/proc/meminfo"), "MemAvailable:");
    const std::int64_t left = std::min(system.value_or(no_limit), left_in_groups(root));
    return left == no_limit ? 0 : left;
}

std::int64_t peak_rss() {
    return peak_was_reset ? kilobytes(text_of("/proc/self/status"), "VmHWM:").value_or(0) : 0;
}

void reset_peak_rss() {
    std::ofstream file("/proc/self/clear_refs");
    file << "5" << std::flush;  // the peak becomes what is resident now
    peak_was_reset = file.good();
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &utc);
    return text.data();
}

}  // namespace tilewalk
