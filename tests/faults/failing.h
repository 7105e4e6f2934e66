// Allocations and calls of the system that fail when a test wants them to. Only of the program whose tests
// lie here: its own operator new, and the linker's --wrap for the rest (tests/CMakeLists.txt).
#pragma once

#include <string>

namespace tilewalk::test {

/// Blocks that were allocated since and have not been given back; `asked`: how many were asked for.
struct Blocks {
    long live = 0, asked = 0;
};
Blocks blocks();

/// While it lives, the n-th allocation from its making on fails, once (n = 0: none). `failed`: it came to
/// that.
class FailingAllocation {
public:
    explicit FailingAllocation(long n);
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;
    bool failed() const;
};

enum class Call { open, read, write, close, rename, fchmod, mkdir, count };
const char* name_of(Call call);

/// While it lives, the n-th such call fails, once, with this error; a write that fails with `short_write`
/// takes one byte and says so.
class FailingCall {
public:
    static constexpr int short_write = -1;
    FailingCall(Call call, long n, int error);
    ~FailingCall();
    FailingCall(const FailingCall&) = delete;
    FailingCall& operator=(const FailingCall&) = delete;
    bool failed() const;
};

}  // namespace tilewalk::test
