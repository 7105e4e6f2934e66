// The kernels as a program of their own, for a worker of the page: what records, which is the emulator as
// well. It has no exceptions, because Asyncify does not know them: whatever goes wrong ends the run, and the
// worker begins anew with the next.
#include "cuda/browser/messages.h"
#include "cuda/emulator/fiber_asyncify.h"
#include "cuda/host/emulator.h"
#include "cuda/host/open_cuda.h"
#include "cuda/host/recorder.h"
#include "cuda/host/where_it_ran.h"
#include "cuda/record/recording.h"

#include <cstdlib>
#include <exception>

extern "C" {

// Given by the worker (page.js); the first does not come back.
[[clang::import_module("page"), clang::import_name("answer"), noreturn]] void page_answer(const char* bytes,
                                                                                          std::size_t count);

void tilewalk_record_access(const void* site, const void* p);
/// The sanitizer's call at each access.
void __ubsan_handle_type_mismatch_v1(const void* site, const void* p) { tilewalk_record_access(site, p); }

// What is thrown nobody catches: it is the sentence of why the run has ended.
void* __cxa_allocate_exception(std::size_t bytes) noexcept { return std::malloc(bytes); }
void __cxa_free_exception(void* thrown) noexcept { std::free(thrown); }
[[noreturn]] void __cxa_throw(void* thrown, void*, void (*)(void*)) {
    tilewalk::gpu::emulator::end_run(static_cast<const std::exception*>(thrown)->what());
}

[[gnu::used, gnu::visibility("default")]] void* tilewalk_room(std::size_t bytes) {
    return std::malloc(bytes);
}
/// Answers by page_answer.
[[gnu::used, gnu::visibility("default")]] void tilewalk_run(const char* message, std::size_t bytes) {
    const std::string answer = tilewalk::gpu::answer_to({message, bytes});
    page_answer(answer.data(), answer.size());
}

}  // extern "C"

namespace tilewalk::gpu {

namespace emulator {

void end_run(const std::string& sentence) {
    const std::string answer = refusal(sentence, TraceFailed::device);
    page_answer(answer.data(), answer.size());
}

}  // namespace emulator

// What records is the emulator, too, as long as nothing is recorded.
std::unique_ptr<Device> open_emulator(const emulator::Options&, const Chip& chip) {
    return open_recorder({}, chip);
}

std::unique_ptr<Device> open_cuda(std::string& why_not) {
    why_not = "a browser has none for CUDA";
    return nullptr;
}

// The page knows it.
KernelRun where_it_ran(Where) { return {}; }
const char* name_of(Where where) { return where == Where::cuda ? "cuda" : "emulator"; }

}  // namespace tilewalk::gpu
