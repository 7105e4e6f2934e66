#include "app/window/frame_times.h"

#include "app/settings/pages.h"
#include "app/ui/state/app_state.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tilewalk {
namespace {

constexpr std::array<const char*, FrameTimes::parts> names = {"frame", "speaker", "fonts", "keep"};

}  // namespace

FrameTimes::FrameTimes(bool wanted) : wanted_(wanted) {
    if (wanted) scheduled_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

FrameTimes::~FrameTimes() {
    if (scheduled_ >= 0) ::close(scheduled_);
}

FrameTimes::Moment FrameTimes::now() const {
    const std::chrono::duration<double> clock = std::chrono::steady_clock::now().time_since_epoch();
    Moment out{clock.count()};
    char text[96] = {};
    unsigned long long ran = 0, waited = 0;
    if (scheduled_ >= 0 && ::pread(scheduled_, text, sizeof text - 1, 0) > 0)
        std::sscanf(text, "%llu %llu", &ran, &waited);
    out.waited = static_cast<double>(waited) * 1e-9;
    // What the file says of a thread that is running is as old as the last tick of the kernel.
    timespec worked{};
    if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &worked) == 0)
        out.ran = static_cast<double>(worked.tv_sec) + static_cast<double>(worked.tv_nsec) * 1e-9;
#ifdef RUSAGE_THREAD
    rusage usage{};
    if (::getrusage(RUSAGE_THREAD, &usage) == 0) out.gave_up = usage.ru_nvcsw;
#endif
    return out;
}

// On a busy machine the clock measures the neighbours. Waiting for the disk or another thread is the
// program's own; what Linux counts as waiting for a processor is not, nor, of a thread that has not given one
// up, the time in which it neither ran nor waited: the machine itself is a virtual one that did not run.
double FrameTimes::own_time(const Moment& began, const Moment& ended) const {
    const double passed = ended.passed - began.passed;
#ifdef RUSAGE_THREAD
    if (ended.ran > began.ran && ended.gave_up == began.gave_up)
        return std::min(passed, ended.ran - began.ran);
#endif
    return passed - (ended.waited - began.waited);
}

std::string FrameTimes::place(const ui::AppState& state) {
    std::string text = state.page == ui::Page::walk && state.lesson
                           ? std::string(state.lesson->id) + " step " + std::to_string(state.cursor.step + 1)
                           : std::string(ui::page_names[static_cast<std::size_t>(state.page)]);
    if (state.presenter) text += " on stage";
    return text;
}

void FrameTimes::add(Part part, const Moment& began, const std::string& where, const ui::AppState& state) {
    const Moment ended = now();
    const double passed = ended.passed - began.passed, own = own_time(began, ended);
    frames_ += part == frame;
    longest_[part] = std::max(longest_[part], own);
    if (own <= limit) return;
    ++long_;
    std::fprintf(stderr, "long %s at %.3f s: %.1f ms (%.1f by the clock), from %s to %s\n", names[part],
                 began.passed, own * 1e3, passed * 1e3, where.c_str(), place(state).c_str());
}

void FrameTimes::report() const {
    if (!wanted_) return;
    std::fprintf(stderr, "%d frames; longest in ms:", frames_);
    for (int part = 0; part < parts; ++part)
        std::fprintf(stderr, " %s %.1f", names[static_cast<std::size_t>(part)],
                     longest_[static_cast<std::size_t>(part)] * 1e3);
    std::fprintf(stderr, "; %d over %.0f ms\n", long_, limit * 1e3);
}

}  // namespace tilewalk
