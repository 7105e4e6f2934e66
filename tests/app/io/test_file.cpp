#include "app/io/file.h"

#include "tests/app/io/scratch.h"

#include <doctest/doctest.h>

#include <csignal>
#include <new>
#include <ostream>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

TEST_CASE("a link that leads nowhere yet is filled through it; one that leads in a circle is refused") {
    const Scratch scratch;
    std::filesystem::create_directory(scratch.path("folder"));
    std::filesystem::create_symlink("folder/target", scratch.path("second"));
    std::filesystem::create_symlink(scratch.path("second"), scratch.path("first"));
    CHECK(!write_file_atomic(scratch.path("first"), "new"));
    CHECK(std::filesystem::is_symlink(scratch.path("first")));
    CHECK(std::filesystem::is_symlink(scratch.path("second")));
    CHECK(read_file(scratch.path("folder/target")).value == "new");

    std::filesystem::create_symlink("round", scratch.path("round"));
    CHECK(mentions(*write_file_atomic(scratch.path("round"), "x"), "links lead in a circle"));
    CHECK(std::filesystem::is_symlink(scratch.path("round")));
    CHECK(scratch.files() == 4);
}

TEST_CASE("a writer that fails half way leaves the old file alone") {
    const Scratch scratch;
    REQUIRE(!write_file_atomic(scratch.path("old"), "precious"));
    const Writer failing = [](std::ostream& out) {
        out << "half";
        out.setstate(std::ios::badbit);
    };
    CHECK(mentions(*write_file_atomic(scratch.path("old"), failing), "did not take all bytes"));
    CHECK(write_file_atomic(scratch.path("new"), failing));
    const Writer throwing = [](std::ostream&) { throw std::bad_alloc(); };
    CHECK_THROWS_AS(static_cast<void>(write_file_atomic(scratch.path("old"), throwing)), std::bad_alloc);
    CHECK(read_file(scratch.path("old")).value == "precious");
    CHECK(scratch.files() == 1);
}

TEST_CASE("staged files appear together or not at all") {
    const Scratch scratch;
    const Writer write = [](std::ostream& out) { out << "new"; };
    REQUIRE(!write_file_atomic(scratch.path("a"), "old"));
    {
        StagedFiles files;
        CHECK(!files.add(scratch.path("a"), write));
        CHECK(!files.add(scratch.path("b"), write));
        CHECK(files.add(scratch.folder.string(), write));
    }
    CHECK(read_file(scratch.path("a")).value == "old");
    CHECK(scratch.files() == 1);

    StagedFiles files;
    CHECK(!files.add(scratch.path("a"), write));
    CHECK(!files.add(scratch.path("b"), write));
    CHECK(read_file(scratch.path("a")).value == "old");
    CHECK(!files.put_in_place());
    CHECK(read_file(scratch.path("a")).value == "new");
    CHECK(read_file(scratch.path("b")).value == "new");
    CHECK(scratch.files() == 2);
}

TEST_CASE("a folder that was made goes again unless it is kept") {
    const Scratch scratch;
    const std::string path = scratch.path("folder");
    {
        auto made = make_folder(path);
        REQUIRE(made);
        CHECK(made.value->has_value());
        CHECK(std::filesystem::is_directory(path));
    }
    CHECK(scratch.files() == 0);
    (*make_folder(path))->keep();
    CHECK(std::filesystem::is_directory(path));
    CHECK(!make_folder(path).value->has_value());
    REQUIRE(!write_file_atomic(scratch.path("file"), ""));
    CHECK(mentions(make_folder(scratch.path("file")).error, "there is a file of that name"));
    CHECK(mentions(make_folder(scratch.path("file/x")).error, "not a folder"));
    CHECK(mentions(make_folder(scratch.path("no/such")).error, "does not exist"));
}

TEST_CASE("a signal that ends the program takes what is temporary along") {
    const Scratch scratch;
    REQUIRE(!write_file_atomic(scratch.path("kept"), "kept"));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (const int own : {SIGINT, SIGTERM, SIGHUP}) std::signal(own, SIG_DFL);
            remove_temporaries_on_signals();
            const auto folder = make_folder(scratch.path("folder"));
            StagedFiles files;
            const Writer write = [](std::ostream& out) { out << "half"; };
            files.add(scratch.path("kept"), write);
            files.add(scratch.path("folder/one"), write);
            if (scratch.files() == 3) ::raise(signal);
            ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == signal);
        CHECK(scratch.files() == 1);
        CHECK(read_file(scratch.path("kept")).value == "kept");
    }
}

TEST_CASE("a signal that is ignored stays ignored") {
    std::signal(SIGHUP, SIG_IGN);
    remove_temporaries_on_signals();
    const bool ignored = std::signal(SIGHUP, SIG_DFL) == SIG_IGN;
    CHECK(ignored);
}

TEST_CASE("a name at the limit of the file system can be written") {
    const Scratch scratch;
    CHECK(!write_file_atomic(scratch.path(std::string(255, 'n')), "x"));
    CHECK(scratch.files() == 1);
}
