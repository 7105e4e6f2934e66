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

using Row = std::deque<std::function<void()>>;

Row& waiting() {
    static Row all;
    return all;
}

Row& put_aside() {
    static Row all;
    return all;
}

}  // namespace

void run_beside(std::function<void()> work) {
    if (in_browser)
        waiting().push_back(std::move(work));
    else
        std::thread(std::move(work)).detach();
}

void give_up_beside(std::shared_ptr<const void> last) noexcept {
    if (!last) return;
    try {
        run_beside([last = std::move(last)]() mutable { last.reset(); });
    } catch (...) {  // no thread: it was given up here
    }
}

bool do_one_beside() {
    if (waiting().empty()) return false;
    std::function<void()> work = std::move(waiting().front());
    waiting().pop_front();
    try {
        work();
    } catch (const NotYet&) {
        put_aside().push_back(std::move(work));
    }
    return true;
}

void wake_beside() {
    for (std::function<void()>& work : std::exchange(put_aside(), {})) waiting().push_back(std::move(work));
}

bool waits_beside() { return !waiting().empty() || !put_aside().empty(); }

void leave(int code) {
    if constexpr (!in_browser) std::cout.flush();
    std::fflush(stdout);
    if (__lsan_do_leak_check) __lsan_do_leak_check();
    if (__gcov_dump) __gcov_dump();
    ::_exit(code);
}

}  // namespace tilewalk
