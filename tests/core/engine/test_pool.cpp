#include "core/cpu/memory.h"
#include "core/engine/pool.h"
#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>
#include <stdexcept>

using namespace tilewalk::cpu;
using namespace tilewalk::test;

TEST_CASE("the pool runs every task once, by every number of threads, again and again") {
    for (int threads = 1; threads <= 8; ++threads) {
        ThreadPool pool(threads);
        CHECK(pool.threads() == threads);
        for (int round = 0; round < 200; ++round) {
            const int count = round % 7 == 0 ? 0 : round;
            std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
            pool.run(count, [&](std::int64_t index, int thread) {
                CHECK(thread >= 0);
                CHECK(thread < threads);
                ++calls[static_cast<std::size_t>(index)];
            });
            for (const auto& called : calls) CHECK(called == 1);
        }
    }
}

TEST_CASE("the pool leaves out what has not begun when it is stopped") {
    ThreadPool pool(4);
    std::stop_source stop;
    std::atomic<int> ran = 0;
    pool.run(
        100000,
        [&](std::int64_t, int) {
            if (++ran == 10) stop.request_stop();
        },
        stop.get_token());
    CHECK(ran >= 10);
    CHECK(ran < 100000);
    pool.run(5, [&](std::int64_t, int) { ran = -1; });
    CHECK(ran == -1);
}

TEST_CASE("an exception of a task arrives at the caller, and the pool goes on working") {
    ThreadPool pool(3);
    CHECK_THROWS_AS(pool.run(50,
                             [](std::int64_t index, int) {
                                 if (index == 20) throw std::runtime_error("no");
                             }),
                    std::runtime_error);
    std::atomic<int> ran = 0;
    pool.run(50, [&](std::int64_t, int) { ++ran; });
    CHECK(ran == 50);
}

TEST_CASE("memory is counted: what is held, and the most that was") {
    CountedMemory memory;
    {
        Buffer a(memory, 1000);
        CHECK(memory.held() == 4000);
        CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
        for (int i = 0; i < 1000; ++i) CHECK(a.data()[i] == 0);
        {
            const Buffer b(memory, 500);
            CHECK(memory.held() == 6000);
        }
        Buffer c = std::move(a);
        CHECK(memory.held() == 4000);
        CHECK(c.size() == 1000);
    }
    CHECK(memory.held() == 0);
    CHECK(memory.peak() == 6000);
}

TEST_CASE("taking memory ends when it is stopped, and nothing stays held") {
    CountedMemory memory(stopped());
    CHECK_THROWS_AS(Buffer(memory, 1 << 20), Stopped);
    CHECK(memory.held() == 0);
}
