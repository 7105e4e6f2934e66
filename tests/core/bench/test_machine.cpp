#include "core/bench/machine.h"

#include "core/engine/pool.h"
#include "tests/folder.h"
#include "tests/skip.h"

#include <cstring>
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tilewalk;

namespace {

// A folder that stands for /, gone afterwards.
struct Root : test::Folder {
    std::int64_t available() const { return available_memory(path.string()); }
};

// Each number as "9": "gcc 12.2.0" is "gcc 9.9.9".
std::string shape(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit) out += c;
        if (digit && (out.empty() || out.back() != '9')) out += '9';
    }
    return out;
}

}  // namespace

TEST_CASE("the model of the CPU comes from the first line that names one") {
    CHECK(cpu_model("processor\t: 0\nmodel name\t: Fine CPU 9\nmodel name : other\n") == "Fine CPU 9");
    CHECK(cpu_model("") == "unknown");
    CHECK(cpu_model("model name\t:   \n") == "unknown");
}

TEST_CASE("available memory is what the system leaves, or less where a control group leaves less") {
    const Root root;
    CHECK(root.available() == 0);  // the system does not tell
    root.file("proc/meminfo", "MemTotal:       2000 kB\nMemFree: 1 kB\nMemAvailable:   1000 kB\n");
    CHECK(root.available() == 1000 * 1024);

    // Version 2: no limit; then a limit in a group around this one; cached files that nobody uses count as
    // free.
    root.file("proc/self/cgroup", "0::/a/b\n");
    root.file("sys/fs/cgroup/a/b/memory.max", "max\n");
    root.file("sys/fs/cgroup/a/b/memory.current", "300000\n");
    CHECK(root.available() == 1000 * 1024);
    root.file("sys/fs/cgroup/a/memory.max", "800000\n");
    root.file("sys/fs/cgroup/a/memory.current", "500000\n");
    CHECK(root.available() == 300000);
    root.file("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 100000\n");
    CHECK(root.available() == 400000);
    root.file("sys/fs/cgroup/memory.max", "250000\n");
    root.file("sys/fs/cgroup/memory.current", "600000\n");
    CHECK(root.available() == 0);
}

TEST_CASE("available memory knows the first version of control groups as well") {
    const Root root;
    root.file("proc/meminfo", "MemAvailable:   1000 kB\n");
    root.file("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n");
    root.file("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "700000\n");
    root.file("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "200000\n");
    CHECK(root.available() == 500000);
}

TEST_CASE("this machine has a CPU, cores and memory; this build a compiler and a version") {
    const Machine machine = this_machine();
    CHECK_FALSE(machine.cpu.empty());
    CHECK(machine.cores == cpu::usable_cores());
    CHECK(machine.cores >= 1);
    CHECK(machine.memory_total > 0);
    CHECK(machine.memory_available <= machine.memory_total);
    const Build build = this_build();
    CHECK(shape(build.version) == "9.9.9");
    CHECK((shape(build.compiler) == "gcc 9.9.9" || shape(build.compiler) == "clang 9.9.9"));
    const bool hash = build.commit.size() >= 7 &&
                      build.commit.find_first_not_of("0123456789abcdef") >= build.commit.find('+');
    CHECK((build.commit == "unknown" || hash));
    CHECK(shape(utc_now()) == "9-9-9 9:9");
    CHECK(utc_now().size() == 16);
}

TEST_CASE("the peak of resident memory sees what was touched and forgets it when reset") {
    reset_peak_rss();
    const std::int64_t before = peak_rss();
    if (before == 0) return test::skip("the system does not tell");
    // Straight from the system: the sanitizers keep for a while what is given back to them.
    constexpr std::size_t size = std::size_t{200} << 20;
    void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    std::memset(pages, 1, size);
    ::munmap(pages, size);
    CHECK(peak_rss() >= before + (std::int64_t{150} << 20));
    reset_peak_rss();
    CHECK(peak_rss() < before + (std::int64_t{100} << 20));
}
