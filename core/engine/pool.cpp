#include "core/engine/pool.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <sched.h>
#include <utility>

namespace tilewalk::cpu {

int usable_cores() {
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

namespace {

// Decoding has two rounds in a tenth of a millisecond, and being woken takes half as long. So who waits looks
// for a while before it sleeps; others who want the core get it.
template <class Done> void look_a_while(const Done& done) {
    using namespace std::chrono;
    for (const auto end = steady_clock::now() + 100us; !done() && steady_clock::now() < end;)
        std::this_thread::yield();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
    for (int thread = 1; thread < threads; ++thread)
        workers.emplace_back([this, thread](const std::stop_token& quit) { serve(quit, thread); });
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(mutex);
        for (std::jthread& worker : workers) worker.request_stop();
    }
    begun.notify_all();
}

void ThreadPool::work(int thread) {
    try {
        for (std::int64_t index; !stopped.stop_requested() && (index = next++) < count;)
            (*task)(index, thread);
    } catch (...) {
        next = count;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
    }
}

void ThreadPool::serve(const std::stop_token& quit, int thread) {
    std::uint64_t done = 0;
    std::unique_lock lock(mutex);
    while (true) {
        begun.wait(lock, [&] { return round != done || quit.stop_requested(); });
        if (round == done) return;
        done = round;
        lock.unlock();
        work(thread);
        lock.lock();
        if (--busy == 0) ended.notify_one();
        lock.unlock();
        look_a_while([&] { return round != done || quit.stop_requested(); });
        lock.lock();
    }
}

void ThreadPool::run(std::int64_t tasks, const std::function<void(std::int64_t, int)>& each,
                     std::stop_token stop) {
    {
        const std::lock_guard lock(mutex);
        task = &each, count = tasks, stopped = std::move(stop), failure = nullptr;
        next = 0;
        busy = static_cast<int>(workers.size());
        ++round;
    }
    begun.notify_all();
    work(0);
    look_a_while([&] { return busy == 0; });
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return busy == 0; });
    stopped = {};
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
}

}  // namespace tilewalk::cpu
