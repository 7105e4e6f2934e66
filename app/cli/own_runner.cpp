// The process that a user's own kernel runs in.
#include "app/cli/own_kernel.h"
#include "app/io/file.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"
#include "core/inside/record_file.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tilewalk {
namespace {

// It ends with who has started it, after so many seconds, and leaves nothing behind.
void limit_myself(int seconds) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto limit = [](auto what, rlim_t most, rlim_t more = 0) {
        const rlimit both{most, most + more};
        ::setrlimit(what, &both);
    };
    limit(RLIMIT_CPU, static_cast<rlim_t>(seconds),
          2);  // the signal says why; two seconds later it is SIGKILL
    limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__)
    constexpr rlim_t most_memory = rlim_t(6) << 30;
    limit(RLIMIT_AS, most_memory);
#endif
}

// Whoever has started it reads there how many blocks are done.
std::shared_ptr<std::atomic<int>> counter_in(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* const shared =
        ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (shared == MAP_FAILED) return nullptr;
    static_assert(std::atomic<int>::is_always_lock_free && sizeof(std::atomic<int>) == sizeof(int));
    return {std::shared_ptr<void>(), new (shared) std::atomic<int>(0)};
}

[[noreturn]] void fail(const std::string& folder, const std::string& sentence) {
    static_cast<void>(write_file_atomic(folder + "/failure.txt", sentence));
    ::_exit(1);
}

[[noreturn]] void record_in(const std::string& folder, char** words) {
    const auto problem = load_problem_file(folder + "/problem.json");
    if (!problem) fail(folder, problem.error);
    gpu::RecordRequest request;
    request.kernel = words[0];
    request.dtype = static_cast<DType>(std::atoi(words[1]));
    request.blocks = {std::atoi(words[2])};
    request.problem = *problem;
    if (const std::string path = folder + "/" + own_kernel_dump; std::filesystem::exists(path)) {
        const auto dump = read_file(path);
        if (!dump) fail(folder, dump.error);
        request.reported = inside::reported_by_gcc(*dump);
    }
    request.blocks_done = counter_in(folder + "/" + own_kernel_progress);
    try {
        const auto record = gpu::record_own_kernel(folder + "/own.so", request,
                                                   [&](const std::string& why) { fail(folder, why); });
        if (!record) fail(folder, record.error);
        const auto done = write_file_atomic(folder + "/record",
                                            [&](std::ostream& out) { inside::write_record(out, *record); });
        ::_exit(done ? 0 : 1);
    } catch (const std::bad_alloc&) {
        fail(folder, request.kernel + " was stopped: it or its record took more memory than 6 GiB.");
    } catch (const std::exception& thrown) {
        fail(folder, request.kernel + " was stopped: its code threw \"" + thrown.what() + "\".");
    }
}

}  // namespace

void run_as_own_kernel(int argc, char** argv) {
    if (argc != 7 || std::string_view(argv[1]) != "run-own-kernel") return;
    limit_myself(std::atoi(argv[6]));
    record_in(argv[2], argv + 3);
}

}  // namespace tilewalk
