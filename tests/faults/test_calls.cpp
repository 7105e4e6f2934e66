// Every call of the system that writing and reading files makes fails once: a sentence, the old file whole,
// no rest.
#include "app/io/examples.h"
#include "app/io/problem_json.h"
#include "app/io/settings.h"
#include "tests/command_line.h"
#include "tests/faults/failing.h"
#include "tests/folder.h"
#include "tests/part.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

struct Fault {
    Call call;
    int error;
    bool passes = false;  ///< the work goes on all the same
};
constexpr Fault faults_of_writing[] = {
    {Call::open, EACCES},   {Call::open, ENOSPC},       {Call::open, EROFS},
    {Call::open, EMFILE},   {Call::write, ENOSPC},      {Call::write, EIO},
    {Call::write, EDQUOT},  {Call::write, EINTR, true}, {Call::write, FailingCall::short_write, true},
    {Call::close, EIO},     {Call::close, ENOSPC},      {Call::close, EINTR, true},
    {Call::rename, EACCES}, {Call::rename, EXDEV},      {Call::rename, EROFS},
    {Call::rename, ENOSPC}, {Call::fchmod, EPERM},
};

/// Writes `path`; the sentence of what went wrong, "" when it is done.
using Write = std::function<std::string(const std::string& path)>;

/// What it says, "" if it says nothing and ends with 0.
std::string said_by(std::vector<std::string> words) {
    Ran ran = run(std::move(words));
    if (ran.err.ends_with('\n')) ran.err.pop_back();
    if (ran.code == 0) return ran.err.empty() ? "" : "a sentence and exit code 0: " + ran.err;
    return ran.err.empty() ? "no sentence\n" : ran.err;
}

/// Each call fails in turn until none is left to fail; how many did.
int fail_each_call(const Fault& fault, const std::string& name, const Write& write,
                   const std::string& whole) {
    for (int n = 1; n < 1000; ++n) {
        const Folder scratch;
        const std::string path = scratch.file(name, "old");
        std::string sentence;
        bool failed = false;
        {
            const FailingCall failing(fault.call, n, fault.error);
            sentence = write(path);
            failed = failing.failed();
        }
        INFO(name, ": ", name_of(fault.call), " ", n, " with error ", fault.error, ": ", sentence);
        CHECK(sentence.find('\n') == std::string::npos);
        CHECK(scratch.count() == 1);
        CHECK(contents(path) == (sentence.empty() ? whole : "old"));
        if (!failed) {
            CHECK(sentence.empty());
            return n - 1;
        }
        CHECK(sentence.empty() == fault.passes);
    }
    return 1000;
}

}  // namespace

TEST_CASE("calls of the system fail while files are written") {
    const Problem& problem = *find_example("worked-4x4");
    const std::pair<const char*, Write> writers[] = {
        {"problem.json", [&](const std::string& path) { return save_problem_file(path, problem).error; }},
        {"settings.json", [&](const std::string& path) { return save_settings(path, ui::Settings{}).error; }},
        {"walk.json",
         [&](const std::string& path) {
             return said_by({"trace", "--format", "json", "-o", path});
         }},
        {"walk.md",
         [&](const std::string& path) {
             return said_by({"export", "-o", path});
         }},
        {"walk.html",
         [&](const std::string& path) {
             return said_by({"export", "-o", path});
         }},
        {"walk.pdf",
         [&](const std::string& path) {
             return said_by({"export", "--steps", "3", "-o", path});
         }},
        {"step.png",
         [&](const std::string& path) {
             return said_by({"render", "--size", "1024x640", "-o", path});
         }},
    };
    Part part("TILEWALK_FAULTS", 4);
    for (const auto& [name, write] : writers) {
        // A problem and settings are written in no time; a walk, pages and pictures are made anew each time.
        const bool fast = name == std::string("problem.json") || name == std::string("settings.json");
        const Folder scratch;
        const std::string path = scratch.file(name);
        REQUIRE_MESSAGE(write(path).empty(), name, ": ", write(path));
        const std::string whole = contents(path);
        REQUIRE(whole.size() > 100);
        for (const Fault& fault : faults_of_writing)
            if (fast || part.takes())
                CHECK_MESSAGE(fail_each_call(fault, name, write, whole) >= 1, name, ": no ",
                              name_of(fault.call));
    }
}

TEST_CASE("calls of the system fail while a file is read: a sentence, or it is read all the same") {
    const Folder scratch;
    const std::string path = scratch.file("problem.json", problem_to_json(*find_example("worked-4x4")));
    constexpr Fault faults[] = {{Call::open, EACCES},    {Call::open, ENOENT}, {Call::open, EMFILE},
                                {Call::read, EIO},       {Call::read, EISDIR}, {Call::read, EINTR, true},
                                {Call::close, EIO, true}};
    for (const Fault& fault : faults)
        for (int n = 1; n <= 2; ++n) {
            const FailingCall failing(fault.call, n, fault.error);
            const Result<Problem> read = load_problem_file(path);
            INFO(name_of(fault.call), " ", n, ": ", read.error);
            CHECK(bool(read) == (fault.passes || !failing.failed()));
            CHECK(read.error.empty() == bool(read));
            if (n == 1) CHECK(failing.failed());
        }
}

TEST_CASE("damaged, unreadable or vanished settings never end the start") {
    const Folder scratch;
    const std::string path = scratch.file("settings.json");
    REQUIRE(save_settings(path, ui::Settings{}));
    for (const Call call : {Call::open, Call::read}) {
        const FailingCall failing(call, 1, EIO);
        const LoadedSettings loaded = load_settings(path);
        CHECK(failing.failed());
        CHECK_FALSE(loaded.found);
        CHECK_FALSE(loaded.notice.empty());
    }
}
