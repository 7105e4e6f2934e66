#include "tests/faults/failing.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// The linker's names for what it puts ours in place of
extern "C" {
void* __real_malloc(std::size_t);
void* __real_calloc(std::size_t, std::size_t);
void* __real_realloc(void*, std::size_t);
void __real_free(void*);
int __real_open(const char*, int, ...);
ssize_t __real_read(int, void*, std::size_t);
ssize_t __real_write(int, const void*, std::size_t);
int __real_close(int);
int __real_rename(const char*, const char*);
int __real_fchmod(int, mode_t);
int __real_mkdir(const char*, mode_t);
}

namespace tilewalk::test {

namespace {

constinit std::atomic<long> live{0}, asked{0}, failing{0};
constinit std::atomic<bool> hit{false};

// A debugger stops here, and sees whose allocation it is.
[[gnu::noinline]] void allocation_fails() {
    hit = true;
    asm volatile("" ::: "memory");
}

bool refused() {
    if (++asked != failing) return false;
    allocation_fails();
    return true;
}
void* counted(void* block) {
    if (block) ++live;
    return block;
}
void given_back(const void* block) {
    if (block) --live;
}

constinit std::atomic<Call> failing_call{Call::count};
constinit std::atomic<long> calls{0}, failing_n{0};
constinit std::atomic<int> error_of_call{0};
constinit std::atomic<bool> call_hit{false};

bool fails(Call call) {
    if (call != failing_call || ++calls != failing_n) return false;
    call_hit = true;
    errno = error_of_call;
    return true;
}

}  // namespace

Blocks blocks() { return {live, asked}; }

FailingAllocation::FailingAllocation(long n) {
    hit = false;
    failing = n > 0 ? asked + n : 0;
}
FailingAllocation::~FailingAllocation() { failing = 0; }
bool FailingAllocation::failed() const { return hit; }

const char* name_of(Call call) {
    constexpr const char* names[] = {"open", "read", "write", "close", "rename", "fchmod", "mkdir"};
    return names[static_cast<int>(call)];
}

FailingCall::FailingCall(Call call, long n, int error) {
    call_hit = false;
    calls = 0, failing_n = n, error_of_call = error;
    failing_call = call;
}
FailingCall::~FailingCall() { failing_call = Call::count; }
bool FailingCall::failed() const { return call_hit; }

}  // namespace tilewalk::test

using namespace tilewalk::test;

extern "C" {

void* __wrap_malloc(std::size_t bytes) { return refused() ? nullptr : counted(__real_malloc(bytes)); }
void* __wrap_calloc(std::size_t n, std::size_t bytes) {
    return refused() ? nullptr : counted(__real_calloc(n, bytes));
}
void* __wrap_realloc(void* block, std::size_t bytes) {
    if (refused()) return nullptr;
    void* const moved = __real_realloc(block, bytes);
    return block ? moved : counted(moved);
}
void __wrap_free(void* block) {
    given_back(block);
    __real_free(block);
}

int __wrap_open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(Call::open) ? -1 : __real_open(path, flags, mode);
}
ssize_t __wrap_read(int fd, void* bytes, std::size_t count) {
    return fails(Call::read) ? -1 : __real_read(fd, bytes, count);
}
ssize_t __wrap_write(int fd, const void* bytes, std::size_t count) {
    if (!fails(Call::write)) return __real_write(fd, bytes, count);
    return errno == FailingCall::short_write ? __real_write(fd, bytes, 1) : -1;
}
// What could not be closed in order is closed all the same.
int __wrap_close(int fd) {
    const bool failed = fails(Call::close);
    const int error = errno, result = __real_close(fd);
    if (failed) errno = error;
    return failed ? -1 : result;
}
int __wrap_rename(const char* from, const char* to) {
    return fails(Call::rename) ? -1 : __real_rename(from, to);
}
int __wrap_fchmod(int fd, mode_t mode) { return fails(Call::fchmod) ? -1 : __real_fchmod(fd, mode); }
int __wrap_mkdir(const char* path, mode_t mode) { return fails(Call::mkdir) ? -1 : __real_mkdir(path, mode); }
}

// new[] and what does not throw end in these.
void* operator new(std::size_t bytes) {
    void* const block = refused() ? nullptr : counted(__real_malloc(bytes ? bytes : 1));
    return block ? block : throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    const auto to = static_cast<std::size_t>(alignment);
    void* const block = refused() ? nullptr : counted(std::aligned_alloc(to, (bytes + to) / to * to));
    return block ? block : throw std::bad_alloc();
}
void operator delete(void* block) noexcept { __wrap_free(block); }
void operator delete(void* block, std::size_t) noexcept { __wrap_free(block); }
void operator delete(void* block, std::align_val_t) noexcept { __wrap_free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { __wrap_free(block); }
