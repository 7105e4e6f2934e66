#include "core/base/background.h"

#include "core/base/platform.h"

#include <cstdio>
#include <deque>
#include <iostream>
#include <thread>

#include <unistd.h>

// There with AddressSanitizer only, which would look for leaks when static objects are destroyed.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak)) void __lsan_do_leak_check();
// There where coverage is measured, which is written down when a program ends as usual.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak)) void __gcov_dump();

namespace tilewalk {

namespace {

std::deque<std::function<void()>>& waiting() {
    static std::deque<std::function<void()>> all;
    return all;
}

}  // namespace

void run_beside(std::function<void()> work) {
    if (in_browser)
        waiting().push_back(std::move(work));
    else
        std::thread(std::move(work)).detach();
}

bool do_one_beside() {
    if (waiting().empty()) return false;
    const std::function<void()> work = std::move(waiting().front());
    waiting().pop_front();
    work();
    return true;
}

void leave(int code) {
    std::cout.flush();
    std::fflush(stdout);
    if (__lsan_do_leak_check) __lsan_do_leak_check();
    if (__gcov_dump) __gcov_dump();
    ::_exit(code);
}

}  // namespace tilewalk
