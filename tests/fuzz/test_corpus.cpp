// What the fuzzer kept (./fuzz.sh), fed once more: nothing breaks a promise.
#include "tests/folder.h"
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
        const tilewalk::test::Folder folder;
        const std::string file = folder.file("some.txt", "a\\n\\\\n\\x93\\x00b\n\nlast\n");
        const std::vector<std::string> inputs = inputs_of(file);
        REQUIRE(inputs.size() == 3);
        CHECK(inputs[0] == std::string("a\n\\n\x93\0b", 7));
        CHECK(inputs[1].empty());
        CHECK(inputs[2] == "last");
        CHECK(inputs_of(folder.file("none.txt", "")).empty());
    }
}
