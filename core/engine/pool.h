// Threads that stay alive between calls and share tasks through one counter: whoever is free takes the next.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace tilewalk::cpu {

/// Cores that this process may use; at least 1.
int usable_cores();

class ThreadPool {
public:
    /// `threads` in all, the caller of run() among them; at least 1.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    int threads() const { return static_cast<int>(workers.size()) + 1; }

    /// Calls task(index, thread) for each index 0 … count − 1 in this order, each once, on all threads, and
    /// waits for the last. Tasks not begun when `stop` is asked for are left out. The first exception of a
    /// task is thrown here. One call at a time.
    void run(std::int64_t count, const std::function<void(std::int64_t index, int thread)>& task,
             std::stop_token stop = {});

private:
    void work(int thread);
    void serve(const std::stop_token& quit, int thread);

    // One round: what to do, and how far it is.
    const std::function<void(std::int64_t, int)>* task = nullptr;
    std::int64_t count = 0;
    std::stop_token stopped;
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;

    std::mutex mutex;
    std::condition_variable begun, ended;
    std::atomic<std::uint64_t> round{0};
    std::atomic<int> busy{0};           ///< workers still in this round
    std::vector<std::jthread> workers;  ///< last, so that they end first
};

}  // namespace tilewalk::cpu
