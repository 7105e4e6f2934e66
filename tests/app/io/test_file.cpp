#include "app/io/file.h"

#include "app/io/file_parts.h"
#include "tests/child.h"
#include "tests/contains.h"
#include "tests/folder.h"
#include "tests/skip.h"

#include <cerrno>
#include <chrono>
#include <new>
#include <ostream>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace tilewalk::test;

namespace {

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
    const Folder scratch;
    const std::string bytes("a\0b\r\n\xFF", 6);
    CHECK(write_file_atomic(scratch.file("x"), bytes));
    const auto back = read_file(scratch.file("x"));
    REQUIRE(back);
    CHECK(*back == bytes);
    CHECK(write_file_atomic(scratch.file("x"), ""));
    CHECK(read_file(scratch.file("x")).value == "");
    CHECK(scratch.count() == 1);
}

TEST_CASE("what cannot be read is told in a sentence") {
    const Folder scratch;
    REQUIRE(write_file_atomic(scratch.file("ten"), "0123456789"));
    CHECK(contains(read_file(scratch.file("none")).error, "no such file"));
    CHECK(contains(read_file(scratch.path.string()).error, "folder"));
    CHECK(contains(read_file(scratch.file("ten/below")).error, "not a folder"));
    CHECK(contains(read_file("").error, "not a file name"));
    CHECK(contains(read_file(std::string("/dev/null\0x", 11)).error, "not a file name"));
    CHECK(contains(read_file(scratch.file(std::string(300, 'x'))).error, "too long"));
    CHECK(read_file(scratch.file("ten"), 10));
    CHECK(contains(read_file(scratch.file("ten"), 9).error, "more than 9 bytes"));
    CHECK(contains(read_file("/dev/zero", 2 << 20).error, "more than 2 MiB"));
}

TEST_CASE("every reason of the system is told in words, and not as its name for it") {
    for (const int error : {ENOENT, ENOTDIR, EACCES, EPERM, EEXIST, EISDIR, ENOSPC, EFBIG, ELOOP, EROFS,
                            ENAMETOOLONG, not_all_taken, EIO}) {
        const std::string said = reason(error);
        CHECK_MESSAGE(said.size() > 8, said);
        CHECK_MESSAGE(said.find_first_of(".:") == std::string::npos, said);
    }
    CHECK(reason(EPERM) == "it is not permitted");
    CHECK(reason(EROFS) == "the file system is read-only");
    // What has no words of its own here has the system's.
    CHECK(reason(EIO) == std::generic_category().message(EIO));
    CHECK(reason(not_all_taken) == "it did not take all bytes");
}

TEST_CASE("a pipe that nobody writes to does not hang") {
    const Folder scratch;
    REQUIRE(::mkfifo(scratch.file("pipe").c_str(), 0600) == 0);
    CHECK(read_file(scratch.file("pipe")).value == "");
}

TEST_CASE("what cannot be written is told in a sentence and leaves nothing behind") {
    const Folder scratch;
    REQUIRE(write_file_atomic(scratch.file("old"), "old"));
    CHECK(contains(write_file_atomic(scratch.file("no/such/file"), "x").error, "folder does not exist"));
    CHECK(contains(write_file_atomic(scratch.file("old/file"), "x").error, "not a folder"));
    CHECK(contains(write_file_atomic(scratch.path.string(), "x").error, "it is a folder"));
    CHECK(contains(write_file_atomic("", "x").error, "not a file name"));
    CHECK(contains(write_file_atomic(scratch.file(std::string(300, 'x')), "x").error, "too long"));
    CHECK(scratch.count() == 1);
}

TEST_CASE("a disk that fills up leaves the old file and no rest") {
    const Folder scratch;
    REQUIRE(write_file_atomic(scratch.file("old"), "old"));
    {
        const SmallDisk disk(100'000);
        CHECK(
            contains(write_file_atomic(scratch.file("old"), std::string(200'000, 'x')).error, "larger than"));
        CHECK_FALSE(write_file_atomic(scratch.file("new"), std::string(200'000, 'x')));
    }
    CHECK(read_file(scratch.file("old")).value == "old");
    CHECK(scratch.count() == 1);
    CHECK(contains(write_file_atomic("/dev/full", "x").error, "disk is full"));
}

TEST_CASE("links, permissions and devices stay what they are") {
    const Folder scratch;
    REQUIRE(write_file_atomic(scratch.file("target"), "old"));
    ::chmod(scratch.file("target").c_str(), 0640);
    std::filesystem::create_symlink(scratch.file("target"), scratch.file("link"));
    CHECK(write_file_atomic(scratch.file("link"), "new"));
    CHECK(std::filesystem::is_symlink(scratch.file("link")));
    CHECK(read_file(scratch.file("target")).value == "new");
    struct stat status {};
    REQUIRE(::stat(scratch.file("target").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);

    CHECK(write_file_atomic("/dev/null", "gone"));
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

// Root may open everything: nobody else's rights, until the end of a test
struct AsNobody {
    const bool root = ::geteuid() == 0;
    const bool good = !root || ::setresuid(65534, 65534, 0) == 0;
    ~AsNobody() {
        if (root && ::setresuid(0, 0, 0) != 0) std::abort();
    }
};

TEST_CASE("a file or folder that is closed to us is respected") {
    const AsNobody nobody;
    if (!nobody.good) return test::skip("root cannot become anybody else here");
    const Folder scratch;
    REQUIRE(write_file_atomic(scratch.file("closed"), "old"));
    ::chmod(scratch.file("closed").c_str(), 0000);
    CHECK(contains(read_file(scratch.file("closed")).error, "permission"));
    CHECK(contains(write_file_atomic(scratch.file("closed"), "new").error, "permission"));
    ::chmod(scratch.path.c_str(), 0500);
    CHECK(contains(write_file_atomic(scratch.file("new"), "new").error, "permission"));
    ::chmod(scratch.path.c_str(), 0700);
}

TEST_CASE("a link that leads nowhere yet is filled through it; one that leads in a circle is refused") {
    const Folder scratch;
    std::filesystem::create_directory(scratch.file("folder"));
    std::filesystem::create_symlink("folder/target", scratch.file("second"));
    std::filesystem::create_symlink(scratch.file("second"), scratch.file("first"));
    CHECK(write_file_atomic(scratch.file("first"), "new"));
    CHECK(std::filesystem::is_symlink(scratch.file("first")));
    CHECK(std::filesystem::is_symlink(scratch.file("second")));
    CHECK(read_file(scratch.file("folder/target")).value == "new");

    std::filesystem::create_symlink("round", scratch.file("round"));
    CHECK(contains(write_file_atomic(scratch.file("round"), "x").error, "links lead in a circle"));
    CHECK(std::filesystem::is_symlink(scratch.file("round")));
    CHECK(scratch.count() == 4);
}

TEST_CASE("a writer that fails half way leaves the old file alone") {
    const Folder scratch;
    REQUIRE(write_file_atomic(scratch.file("old"), "precious"));
    const Writer failing = [](std::ostream& out) {
        out << "half";
        out.setstate(std::ios::badbit);
    };
    CHECK(contains(write_file_atomic(scratch.file("old"), failing).error, "did not take all bytes"));
    CHECK_FALSE(write_file_atomic(scratch.file("new"), failing));
    const Writer throwing = [](std::ostream&) { throw std::bad_alloc(); };
    CHECK_THROWS_AS(static_cast<void>(write_file_atomic(scratch.file("old"), throwing)), std::bad_alloc);
    CHECK(read_file(scratch.file("old")).value == "precious");
    CHECK(scratch.count() == 1);
}

TEST_CASE("staged files appear together or not at all") {
    const Folder scratch;
    const Writer write = [](std::ostream& out) { out << "new"; };
    REQUIRE(write_file_atomic(scratch.file("a"), "old"));
    {
        StagedFiles files;
        CHECK(files.add(scratch.file("a"), write));
        CHECK(files.add(scratch.file("b"), write));
        CHECK_FALSE(files.add(scratch.path.string(), write));
    }
    CHECK(read_file(scratch.file("a")).value == "old");
    CHECK(scratch.count() == 1);

    StagedFiles files;
    CHECK(files.add(scratch.file("a"), write));
    CHECK(files.add(scratch.file("b"), write));
    CHECK(read_file(scratch.file("a")).value == "old");
    CHECK(files.put_in_place());
    CHECK(read_file(scratch.file("a")).value == "new");
    CHECK(read_file(scratch.file("b")).value == "new");
    CHECK(scratch.count() == 2);
}

TEST_CASE("a folder that was made goes again unless it is kept") {
    const Folder scratch;
    const std::string path = scratch.file("folder");
    {
        auto made = make_folder(path);
        REQUIRE(made);
        CHECK(made.value->has_value());
        CHECK(std::filesystem::is_directory(path));
    }
    CHECK(scratch.count() == 0);
    (*make_folder(path))->keep();
    CHECK(std::filesystem::is_directory(path));
    CHECK(!make_folder(path).value->has_value());
    REQUIRE(write_file_atomic(scratch.file("file"), ""));
    CHECK(contains(make_folder(scratch.file("file")).error, "there is a file of that name"));
    CHECK(contains(make_folder(scratch.file("file/x")).error, "not a folder"));
    CHECK(contains(make_folder(scratch.file("no/such")).error, "does not exist"));
}

TEST_CASE("a signal that ends the program takes what is temporary along") {
    const Folder scratch;
    REQUIRE(write_file_atomic(scratch.file("kept"), "kept"));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const int status = status_of([&] {
            remove_temporaries_on_signals();
            const auto folder = make_folder(scratch.file("folder"));
            StagedFiles files;
            const Writer write = [](std::ostream& out) { out << "half"; };
            files.add(scratch.file("kept"), write);
            files.add(scratch.file("folder/one"), write);
            if (scratch.count() == 3) ::raise(signal);
        });
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == signal);
        CHECK(scratch.count() == 1);
        CHECK(read_file(scratch.file("kept")).value == "kept");
    }
}

TEST_CASE("a second signal while files are removed, to another thread, leaves none of them") {
    const Folder scratch;
    const int status = status_of([&] {
        remove_temporaries_on_signals();
        StagedFiles files;
        for (int n = 0; n < 3000; ++n) files.add(scratch.file(std::to_string(n)), [](std::ostream&) {});
        const std::jthread sends([] {
            for (int n = 0; n < 20; ++n) {
                ::kill(::getpid(), SIGINT);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        for (;;) ::pause();
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
    CHECK(scratch.count() == 0);
}

TEST_CASE("an allocation that fails where nobody can catch it takes what is temporary along and is told") {
    const Folder scratch;
    const std::string said = scratch.file("said");
    const auto end_by = [&](auto thrown) {
        return status_of([&] {
            end_in_order_without_memory();
            const int to = ::open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            ::dup2(to, STDERR_FILENO);
            StagedFiles files;
            files.add(scratch.file("one"), [](std::ostream& out) { out << "half"; });
            [&]() noexcept { throw thrown; }();
        });
    };
    const int status = end_by(std::bad_alloc());
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(read_file(said).value == "tilewalk: There is not enough memory for this; the program ends.\n");
    CHECK(scratch.count() == 1);
    // Anything else is a mistake of the program, and ends it as such.
    const int other = end_by(7);
    CHECK(WIFSIGNALED(other));
    CHECK(WTERMSIG(other) == SIGABRT);
    CHECK(scratch.count() == 1);
}

TEST_CASE("a signal that is ignored stays ignored") {
    std::signal(SIGHUP, SIG_IGN);
    remove_temporaries_on_signals();
    const bool ignored = std::signal(SIGHUP, SIG_DFL) == SIG_IGN;
    CHECK(ignored);
}

TEST_CASE("a name at the limit of the file system can be written") {
    const Folder scratch;
    CHECK(write_file_atomic(scratch.file(std::string(255, 'n')), "x"));
    CHECK(scratch.count() == 1);
}
