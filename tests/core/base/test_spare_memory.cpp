#include "core/base/spare_memory.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

using tilewalk::give_back_spare_memory;

namespace {

// Of this process, in MiB, as the system counts.
[[maybe_unused]] double resident() {
    long pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return static_cast<double>(pages) * 4096 / (1 << 20);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool own_heap = true;
#elif defined(__has_feature)
constexpr bool own_heap = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool own_heap = false;
#endif

}  // namespace

TEST_CASE("pages that lie free between those in use go back to the system") {
    // Blocks below the size from which glibc asks the system for each of them, and after every one a small
    // one that stays.
    constexpr std::size_t block = 64 << 10, count = 1600, MiB = block * count >> 20;
    std::vector<std::unique_ptr<char[]>> large, small;
    for (std::size_t n = 0; n < count; ++n) {
        large.push_back(std::make_unique<char[]>(block));
        small.push_back(std::make_unique<char[]>(64));
    }
    large.clear();
    [[maybe_unused]] const double before = resident();
    give_back_spare_memory();
#ifdef __GLIBC__
    if (!own_heap) CHECK(before - resident() > .8 * static_cast<double>(MiB));
#endif
    for (const auto& kept : small) CHECK(kept[63] == 0);
}
