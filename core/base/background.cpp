#include "core/base/background.h"

#include <cstdio>
#include <iostream>

#include <unistd.h>

// There with AddressSanitizer only, which would look for leaks when static objects are destroyed.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak)) void __lsan_do_leak_check();
// There where coverage is measured, which is written down when a program ends as usual.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak)) void __gcov_dump();

namespace tilewalk {

void leave(int code) {
    std::cout.flush();
    std::fflush(stdout);
    if (__lsan_do_leak_check) __lsan_do_leak_check();
    if (__gcov_dump) __gcov_dump();
    ::_exit(code);
}

}  // namespace tilewalk
