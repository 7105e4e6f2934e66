// What the fuzzer kept (./fuzz.sh), fed once more: nothing breaks a promise.
#include "tests/fuzz/targets.h"

#include <doctest/doctest.h>

using namespace tilewalk::fuzz;

TEST_SUITE("a stranger's bytes") {
    TEST_CASE("every input that was kept holds what its target promises") {
        for (const Target& target : targets()) {
            const std::string file =
                std::string(TILEWALK_SOURCE_DIR "/tests/fuzz/corpus/") + target.name + ".txt";
            const std::vector<std::string> inputs = inputs_of(file);
            CHECK_MESSAGE(!inputs.empty(), file);
            for (const std::string& bytes : inputs)
                CHECK_NOTHROW_MESSAGE(target.take(bytes), target.name, ": ", bytes);
        }
    }

    TEST_CASE("a line of the corpus says every byte") {
        const std::vector<std::string> inputs = inputs_of(TILEWALK_SOURCE_DIR "/tests/fuzz/corpus/npy.txt");
        REQUIRE(!inputs.empty());
        CHECK(inputs[0].starts_with("\x93NUMPY\x01"));
    }
}
