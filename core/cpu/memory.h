// Memory of the CPU kernels: every byte beyond inputs and outputs is taken here, and so it is counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>

namespace tilewalk::cpu {

/// Thrown while memory is being touched and somebody asks to stop: that alone takes seconds for gigabytes.
struct Stopped {};

/// Counts what is held now and the most that was ever held at once. Safe from several threads.
class CountedMemory {
public:
    explicit CountedMemory(std::stop_token stop = {}) : stopped(std::move(stop)) {}
    void* take(std::size_t bytes);  ///< 64-byte aligned, all zero and touched; throws std::bad_alloc, Stopped
    void give(void* memory, std::size_t bytes);
    std::int64_t held() const { return now.load(); }
    std::int64_t peak() const { return most.load(); }

private:
    std::stop_token stopped;
    std::atomic<std::int64_t> now{0}, most{0};
};

/// `size` floats from a CountedMemory, zero at first; given back at the end.
class Buffer {
public:
    Buffer() = default;
    Buffer(CountedMemory& memory, std::int64_t size);
    ~Buffer();
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    float* data() { return floats; }
    const float* data() const { return floats; }
    std::int64_t size() const { return count; }

private:
    void swap(Buffer& other) noexcept {
        std::swap(memory, other.memory);
        std::swap(floats, other.floats);
        std::swap(count, other.count);
    }
    CountedMemory* memory = nullptr;
    float* floats = nullptr;
    std::int64_t count = 0;
};

}  // namespace tilewalk::cpu
