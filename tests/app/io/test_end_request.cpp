#include "app/io/end_request.h"

#include "app/io/file.h"
#include "tests/child.h"
#include "tests/folder.h"

#include <doctest/doctest.h>

using namespace tilewalk;

namespace {

// Of a program that meets signals as the window does, and by the way removes what is temporary.
template <class Program> int status_of(const Program& program) {
    return test::status_of([&] {
        remove_temporaries_on_signals();
        program();
    });
}

// Before anything of this program could ask: tests run in any order.
const bool asked_at_first = asked_to_end();

}  // namespace

TEST_CASE("a program that nobody has asked to end goes on") { CHECK_FALSE(asked_at_first); }

TEST_CASE("the first signal asks to end; granted, the program ends by it") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const test::Folder scratch;
        const int status = status_of([&] {
            const EndRequest request;
            if (asked_to_end()) return;
            ::raise(signal);
            if (!asked_to_end()) return;
            write_file_atomic(scratch.file("saved"), "whole");
            request.grant();
        });
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == signal);
        CHECK(read_file(scratch.file("saved")).value == "whole");
    }
}

TEST_CASE("the second signal ends the program at once and takes what is temporary along") {
    const test::Folder scratch;
    const int status = status_of([&] {
        const EndRequest request;
        StagedFiles files;
        files.add(scratch.file("half"), [](std::ostream& out) { out << "half"; });
        ::raise(SIGTERM);
        if (asked_to_end() && scratch.count() == 1) ::raise(SIGINT);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
    CHECK(scratch.count() == 0);
}

TEST_CASE("a signal that is ignored asks for nothing; afterwards all is as before") {
    const int status = status_of([] {
        std::signal(SIGHUP, SIG_IGN);
        {
            const EndRequest request;
            ::raise(SIGHUP);
            request.grant();
            if (asked_to_end()) ::_exit(1);
            ::raise(SIGINT);
        }
        if (asked_to_end()) ::_exit(2);
        ::raise(SIGHUP);
    });
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
