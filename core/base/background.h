// Work beside the thread that draws, and the way to leave a program that may have some.
#pragma once

#include "core/base/platform.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <utility>

namespace tilewalk {

/// Does the work in a thread of its own, where there are threads. In a browser there are none: it waits for
/// do_one_beside(), between two frames.
void run_beside(std::function<void()> work);
/// Gives this up in a thread of its own: to take something large apart can take longer than a frame.
void give_up_beside(std::shared_ptr<const void> last) noexcept;
/// Does the oldest work that waits, if some does; false: none waits.
bool do_one_beside();

// In a browser some of it is done elsewhere, in a worker of the page, whose answer comes between two frames.
/// Thrown by work that needs an answer which is not there yet. It is put aside, and done once more from its
/// beginning when there are others: so it must give the same answers the same way each time.
struct NotYet {};
/// An answer has come: what was put aside is tried again.
void wake_beside();
/// Some work waits, for its turn or for an answer.
bool waits_beside();

/// The result of work in a thread of its own. Who no longer wants it asks the work to stop and goes on at
/// once: a driver that hangs must keep neither a page nor the program from closing. The thread ends by
/// itself, later or never; so the work may use only what it owns or what is never destroyed, and `main` must
/// end with leave().
template <class T> class Background {
public:
    Background() = default;
    explicit Background(std::function<T(std::stop_token)> work) {
        std::packaged_task<T()> task(
            [work = std::move(work), token = stop.get_token()] { return work(token); });
        result = task.get_future();
        run_beside([shared = std::make_shared<std::packaged_task<T()>>(std::move(task))] { (*shared)(); });
    }
    Background(Background&&) noexcept = default;
    Background& operator=(Background&& other) noexcept {
        stop.request_stop();
        stop = std::move(other.stop);
        result = std::move(other.result);
        return *this;
    }
    ~Background() { stop.request_stop(); }

    void cancel() { stop.request_stop(); }
    bool cancelled() const { return stop.stop_requested(); }
    /// It was begun, and its result has not been taken.
    bool begun() const { return result.valid(); }
    bool ready() const { return ready_within(std::chrono::seconds(0)); }
    /// In a browser nothing becomes ready while one waits.
    bool ready_within(std::chrono::seconds most) const {
        const std::chrono::seconds until = in_browser ? std::chrono::seconds(0) : most;
        return begun() && result.wait_for(until) == std::future_status::ready;
    }
    void wait() const {
        while (!ready() && do_one_beside()) {
        }
        result.wait();
    }
    /// Waits for the result; throws what the work has thrown.
    T take() {
        wait();
        return result.get();
    }

private:
    std::stop_source stop;
    std::future<T> result;
};

/// How long a picture waits for a driver; one that works answers sooner.
constexpr std::chrono::seconds patience{5};

/// Ends the program here and now, with everything that was written flushed. No static object is destroyed and
/// no library unloaded, so that nothing is taken from under threads that still run. What has to be closed or
/// saved is closed and saved before.
[[noreturn]] void leave(int code);

}  // namespace tilewalk
