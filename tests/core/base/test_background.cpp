#include "core/base/background.h"

#include "tests/child.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <doctest/doctest.h>

using namespace tilewalk;

namespace {

// What a test and its work share: the work may outlive the test.
struct Gate {
    std::atomic<bool> open = false;
    void wait() const { open.wait(false); }
    void unlock() {
        open = true;
        open.notify_all();
    }
};

void wait_for_stop(const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
}

}  // namespace

TEST_CASE("background: work is ready when it has ended, and its result is taken once") {
    const auto gate = std::make_shared<Gate>();
    Background<std::string> work([gate](std::stop_token) {
        gate->wait();
        return std::string("done");
    });
    CHECK(work.begun());
    CHECK_FALSE(work.ready());
    gate->unlock();
    work.wait();
    CHECK(work.ready());
    CHECK(work.take() == "done");
    CHECK_FALSE(work.begun());
    CHECK_FALSE(work.ready());
    CHECK_FALSE(Background<int>().begun());
}

TEST_CASE("background: what the work throws is thrown where the result is taken") {
    Background<int> work([](std::stop_token) -> int { throw std::runtime_error("the driver is gone"); });
    CHECK_THROWS_WITH_AS(work.take(), "the driver is gone", std::runtime_error);
}

TEST_CASE("background: work that is cancelled, replaced or given up is asked to stop") {
    const auto stopped = std::make_shared<std::atomic<int>>(0);
    const auto until_stopped = [stopped](std::stop_token stop) {
        wait_for_stop(stop);
        ++*stopped;
    };
    {
        Background<void> work(until_stopped);
        CHECK_FALSE(work.cancelled());
        work.cancel();
        CHECK(work.cancelled());
        work.take();
        CHECK(*stopped == 1);
        work = Background<void>(until_stopped);
        CHECK_FALSE(work.cancelled());
        work = Background<void>(until_stopped);
    }
    while (*stopped < 3) std::this_thread::yield();
}

TEST_CASE("background: nobody waits for work that does not stop") {
    const auto gate = std::make_shared<Gate>();
    {
        const Background<void> work([gate](std::stop_token) { gate->wait(); });
    }
    CHECK_FALSE(gate->open);
    gate->unlock();
}

TEST_CASE("background: a program leaves with its exit code while work hangs, and destroys nothing under it") {
    struct Loud {
        ~Loud() { ::_exit(98); }
    };
    const int status = test::status_of([] {
        static const Loud never_destroyed;
        const Background<void> hangs([](std::stop_token) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        });
        leave(7);
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("background: what is large is taken apart elsewhere, and nothing is no work") {
    struct Large {
        std::shared_ptr<std::atomic<bool>> gone;
        std::thread::id* by;
        Large(std::shared_ptr<std::atomic<bool>> when, std::thread::id* who)
            : gone(std::move(when)), by(who) {}
        ~Large() {
            *by = std::this_thread::get_id();
            *gone = true;
            gone->notify_all();
        }
    };
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    static std::thread::id by;  // outlives the thread that writes it
    give_up_beside(std::make_shared<Large>(gone, &by));
    gone->wait(false);
    CHECK((by != std::this_thread::get_id()));
    give_up_beside(nullptr);
    CHECK_FALSE(waits_beside());  // there are threads: nothing stands in a row
    CHECK_FALSE(do_one_beside());
    wake_beside();
    CHECK_FALSE(waits_beside());
}
