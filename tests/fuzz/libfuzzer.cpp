// One program for several targets (TILEWALK_FUZZED gives them): TILEWALK_FUZZ names the one to be fed. With
// --targets it lists them, with
// --dictionary NAME it prints its words, for fuzz.sh.
#include "tests/fuzz/targets.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilewalk::fuzz;

namespace {

const Target* named(const char* name) {
    for (const Target& target : TILEWALK_FUZZED())
        if (name && !std::strcmp(target.name, name)) return &target;
    return nullptr;
}
const Target* chosen = nullptr;

void print_words(const Target& target) {
    for (const std::string_view word : target.words) {
        std::putchar('"');
        for (const char c : word)
            std::printf("\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
        std::puts("\"");
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
    if (*count > 1 && !std::strcmp((*words)[1], "--targets")) {
        for (const Target& target : TILEWALK_FUZZED())
            std::printf("%s\t%zu\t%s\t%s\n", target.name, target.longest, *target.files ? target.files : "-",
                        target.what);
        std::exit(0);
    }
    if (*count > 2 && !std::strcmp((*words)[1], "--dictionary")) {
        if (const Target* const target = named((*words)[2])) print_words(*target);
        std::exit(0);
    }
    chosen = named(std::getenv("TILEWALK_FUZZ"));
    if (chosen) return 0;
    std::fputs("TILEWALK_FUZZ names none of the targets; --targets lists them\n", stderr);
    std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    chosen->take({reinterpret_cast<const char*>(data), size});
    return 0;
}
