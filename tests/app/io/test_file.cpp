#include "app/io/file.h"

#include "tests/app/io/scratch.h"

#include <doctest/doctest.h>

#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilewalk;
using tilewalk::test::Scratch;

namespace {

bool mentions(const std::string& sentence, const char* words) {
    return sentence.find(words) != std::string::npos;
}

/// Files of this process may grow to `bytes` only, as if the disk were full from there on.
struct SmallDisk {
    rlimit before{};
    explicit SmallDisk(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small{bytes, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallDisk() { ::setrlimit(RLIMIT_FSIZE, &before); }
};

}  // namespace

TEST_CASE("a file comes back byte for byte, and nothing else is in its folder") {
    const Scratch scratch;
    const std::string bytes("a\0b\r\n\xFF", 6);
    CHECK(!write_file_atomic(scratch.path("x"), bytes));
    const auto back = read_file(scratch.path("x"));
    REQUIRE(back);
    CHECK(*back == bytes);
    CHECK(!write_file_atomic(scratch.path("x"), ""));
    CHECK(read_file(scratch.path("x")).value == "");
    CHECK(scratch.files() == 1);
}

TEST_CASE("what cannot be read is told in a sentence") {
    const Scratch scratch;
    REQUIRE(!write_file_atomic(scratch.path("ten"), "0123456789"));
    CHECK(mentions(read_file(scratch.path("none")).error, "no such file"));
    CHECK(mentions(read_file(scratch.folder.string()).error, "folder"));
    CHECK(mentions(read_file(scratch.path("ten/below")).error, "not a folder"));
    CHECK(mentions(read_file("").error, "not a file name"));
    CHECK(mentions(read_file(std::string("/dev/null\0x", 11)).error, "not a file name"));
    CHECK(mentions(read_file(scratch.path(std::string(300, 'x'))).error, "too long"));
    CHECK(read_file(scratch.path("ten"), 10));
    CHECK(mentions(read_file(scratch.path("ten"), 9).error, "more than 9 bytes"));
    CHECK(mentions(read_file("/dev/zero", 2 << 20).error, "more than 2 MiB"));
}

TEST_CASE("a pipe that nobody writes to does not hang") {
    const Scratch scratch;
    REQUIRE(::mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
    CHECK(read_file(scratch.path("pipe")).value == "");
}

TEST_CASE("what cannot be written is told in a sentence and leaves nothing behind") {
    const Scratch scratch;
    REQUIRE(!write_file_atomic(scratch.path("old"), "old"));
    CHECK(mentions(*write_file_atomic(scratch.path("no/such/file"), "x"), "folder does not exist"));
    CHECK(mentions(*write_file_atomic(scratch.path("old/file"), "x"), "not a folder"));
    CHECK(mentions(*write_file_atomic(scratch.folder.string(), "x"), "it is a folder"));
    CHECK(mentions(*write_file_atomic("", "x"), "not a file name"));
    CHECK(mentions(*write_file_atomic(scratch.path(std::string(300, 'x')), "x"), "too long"));
    CHECK(scratch.files() == 1);
}

TEST_CASE("a disk that fills up leaves the old file and no rest") {
    const Scratch scratch;
    REQUIRE(!write_file_atomic(scratch.path("old"), "old"));
    {
        const SmallDisk disk(100'000);
        CHECK(mentions(*write_file_atomic(scratch.path("old"), std::string(200'000, 'x')), "larger than"));
        CHECK(write_file_atomic(scratch.path("new"), std::string(200'000, 'x')));
    }
    CHECK(read_file(scratch.path("old")).value == "old");
    CHECK(scratch.files() == 1);
    CHECK(mentions(*write_file_atomic("/dev/full", "x"), "disk is full"));
}

TEST_CASE("links, permissions and devices stay what they are") {
    const Scratch scratch;
    REQUIRE(!write_file_atomic(scratch.path("target"), "old"));
    ::chmod(scratch.path("target").c_str(), 0640);
    std::filesystem::create_symlink(scratch.path("target"), scratch.path("link"));
    CHECK(!write_file_atomic(scratch.path("link"), "new"));
    CHECK(std::filesystem::is_symlink(scratch.path("link")));
    CHECK(read_file(scratch.path("target")).value == "new");
    struct stat status {};
    REQUIRE(::stat(scratch.path("target").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);

    CHECK(!write_file_atomic("/dev/null", "gone"));
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a file or folder that is closed to us is respected" * doctest::skip(::geteuid() == 0)) {
    const Scratch scratch;
    REQUIRE(!write_file_atomic(scratch.path("closed"), "old"));
    ::chmod(scratch.path("closed").c_str(), 0000);
    CHECK(mentions(read_file(scratch.path("closed")).error, "permission"));
    CHECK(mentions(*write_file_atomic(scratch.path("closed"), "new"), "permission"));
    ::chmod(scratch.folder.c_str(), 0500);
    CHECK(mentions(*write_file_atomic(scratch.path("new"), "new"), "permission"));
    ::chmod(scratch.folder.c_str(), 0700);
}

TEST_CASE("a name at the limit of the file system can be written") {
    const Scratch scratch;
    CHECK(!write_file_atomic(scratch.path(std::string(255, 'n')), "x"));
    CHECK(scratch.files() == 1);
}
