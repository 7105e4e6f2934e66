// Every allocation of what a user does fails once: it ends with a sentence or the whole result, and nothing
// is leaked.
#include "app/cli/session.h"
#include "app/export/export_formats.h"
#include "app/io/examples.h"
#include "app/io/problem_json.h"
#include "app/io/temporary.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"
#include "core/problem/heads.h"
#include "core/walk/explain.h"
#include "tests/child.h"
#include "tests/command_line.h"
#include "tests/faults/failing.h"
#include "tests/folder.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <new>
#include <sstream>

#include <fcntl.h>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

/// The result as text; "" stands for a failure that was told in order.
using Deed = std::function<std::string()>;

// All of them with TILEWALK_FAULTS=all, else the first ones and a part of the others
bool is_tried(long n, long all, long tried) {
    static const char* const wanted = std::getenv("TILEWALK_FAULTS");
    const bool in_full = wanted && std::string_view(wanted) == "all";
    if (in_full || all <= tried || n <= tried / 3) return true;
    return n % std::max(1L, all * 3 / (2 * tried)) == 0;
}

struct Tally {
    long allocations = 0, tried = 0, refused = 0, whole = 0;
};
std::ostream& operator<<(std::ostream& out, const Tally& t) {
    return out << t.allocations << " allocations, " << t.tried << " failed one by one: " << t.refused
               << " times a failure was told, " << t.whole << " times the result was whole";
}

/// What one failing allocation leads to; blocks that are still there afterwards are told.
struct Ending {
    bool failed = false, refused = false, as_ever = false;
    long leaked = 0;
};
Ending end_of(const Deed& deed, long n, const std::string& expected) {
    Ending ending;
    const long before = blocks().live;
    {
        const FailingAllocation failing(n);
        try {
            const std::string result = deed();
            ending.refused = result.empty();
            ending.as_ever = result == expected;
        } catch (const std::bad_alloc&) {
            ending.refused = true;
        }
        ending.failed = failing.failed();
    }
    ending.leaked = blocks().live - before;
    return ending;
}

/// Where the allocation fails. The JSON library allocates in a destructor, where nobody can catch what fails:
/// the program says so and ends in order (app/io/temporary.h), which can be looked at in a process of its own
/// only. It also loses what it was about to add when a list or an object
/// cannot grow: eight blocks at most, over every allocation of the worked example's walk as JSON.
enum class Where { here, in_child };
constexpr long leaks_of_json = 8;

Ending end_in_child(const Deed& deed, long n, const std::string& expected) {
    const int status = status_of([&] {
        std::signal(SIGABRT, SIG_DFL);
        ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
        end_in_order_without_memory();
        const Ending ending = end_of(deed, n, expected);
        ::_exit(ending.leaked > leaks_of_json ? 13 : ending.refused ? 10 : ending.as_ever ? 11 : 12);
    });
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
    Ending ending;
    ending.refused = code == 10 || code == 2;
    ending.as_ever = code == 11;
    ending.leaked = code == 13;
    return ending;
}

Tally fail_each(const char* what, const Deed& deed, long tried = 120, Where where = Where::here) {
    INFO(std::string(what));
    deed();
    const std::string expected = deed();  // what is made once is there now
    REQUIRE_FALSE(expected.empty());
    Tally tally;
    const long before = blocks().asked;
    deed();
    tally.allocations = blocks().asked - before;
    CHECK(tally.allocations > 0);
    for (long n = 1; n <= tally.allocations; ++n) {
        if (!is_tried(n, tally.allocations, tried)) continue;
        const auto run = where == Where::here ? end_of : end_in_child;
        Ending ending = run(deed, n, expected);
        // What is kept from the first failure on is no leak.
        if (ending.leaked != 0) ending = run(deed, n, expected);
        CHECK_MESSAGE(ending.leaked == 0, "allocation ", n, " of ", tally.allocations);
        CHECK_MESSAGE((ending.refused || ending.as_ever), "half a result, allocation ", n, " of ",
                      tally.allocations);
        ++tally.tried;
        ++(ending.refused ? tally.refused : tally.whole);
    }
    CHECK(tally.refused > 0);
    return tally;
}

/// What is written into a stream that keeps it; a stream that failed is told, as the files' streams are.
template <class Write> std::string text_of(const Write& write) {
    std::ostringstream out;
    write(out);
    return out ? out.str() : std::string();
}

void tell(const char* what, const Tally& tally) {
    if (std::getenv("TILEWALK_FAULTS")) std::cout << what << ": " << tally << "\n";
}

}  // namespace

TEST_CASE("allocations fail while a lesson's walk is built") {
    const Problem& problem = *find_example("worked-4x4");
    int built = 0;
    for (const Lesson& lesson : lessons()) {
        if (!build_trace(lesson, problem)) continue;
        ++built;
        const std::string id(lesson.id);
        tell(id.c_str(), fail_each(
                             id.c_str(),
                             [&] {
                                 const auto trace = build_trace(lesson, problem);
                                 return trace ? std::to_string((*trace)->size()) : std::string();
                             },
                             1000));
    }
    CHECK(built > 10);
}

TEST_CASE("allocations fail while steps are explained") {
    const auto trace = default_lesson()(*find_example("worked-4x4"));
    tell("explained", fail_each("explain", [&] {
             std::string all;
             for (int k = 0; k < trace->size(); k += 4) all += explain(*trace, k).title;
             return all;
         }));
}

TEST_CASE("allocations fail while a walk is written") {
    const auto trace = default_lesson()(*find_example("worked-4x4"));
    const std::vector<int> steps = {0, 5, 9};
    tell("text",
         fail_each(
             "text", [&] { return text_of([&](std::ostream& out) { write_trace_text(out, *trace); }); }, 40));
    tell("json",
         fail_each(
             "json", [&] { return text_of([&](std::ostream& out) { write_trace_json(out, *trace); }); }, 40,
             Where::in_child));
    // Of one query and one key, every allocation: lists and objects of every kind are in it, one of each.
    const auto small = default_lesson()(*random_problem(1, 1, 1));
    tell("json of 1 × 1",
         fail_each(
             "json of 1 × 1",
             [&] { return text_of([&](std::ostream& out) { write_trace_json(out, *small); }); }, 10'000,
             Where::in_child));
    tell("md",
         fail_each(
             "md",
             [&] { return text_of([&](std::ostream& out) { markdown_notes.write(out, *trace, steps); }); },
             800));
    tell("tex",
         fail_each(
             "tex",
             [&] { return text_of([&](std::ostream& out) { tex_article.write(out, *trace, steps); }); },
             800));
}

namespace {

// Every key that a file of a problem may have.
Problem with_everything() {
    Problem p = *random_problem(2, 2, 1);
    p.dO = Matrix::Ones(2, 2);
    p.tokens = {"a", "b"};
    p.logits = {2, 0.5, 1};
    p.options.workers = 2, p.options.splits = {1, 1};
    p.switches.no_max = p.switches.no_correction = true;
    p.precision.scores = p.precision.output = Format::fp16;
    p.savings.lazy = 8, p.savings.cubic = true;
    give_heads(p, 2, 1);
    return p;
}

}  // namespace

TEST_CASE("allocations fail while a problem is read and saved") {
    for (const Problem& problem : {*find_example("worked-4x4"), with_everything()}) {
        const std::string saved = problem_to_json(problem);
        tell("read and saved", fail_each(
                                   "problem",
                                   [&] {
                                       const Result<Problem> read = problem_from_json(saved, "file.json");
                                       return read ? problem_to_json(*read) : std::string();
                                   },
                                   2000, Where::in_child));
    }
}

namespace {

// What the test itself does to files takes no memory that could fail.
void put(const std::string& path, std::string_view bytes) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    static_cast<void>(::write(fd, bytes.data(), bytes.size()) + ::close(fd));
}
bool holds(const std::string& path, std::string_view bytes) {
    static char buffer[1 << 16];
    const int fd = ::open(path.c_str(), O_RDONLY);
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    ::close(fd);
    return count >= 0 && std::string_view(buffer, static_cast<std::size_t>(count)) == bytes;
}

}  // namespace

TEST_CASE("allocations fail while a file is written: it is the old one or the new one") {
    const Folder scratch;
    const Problem& problem = *find_example("worked-4x4");
    const std::string path = scratch.file("problem.json"), whole = problem_to_json(problem);
    tell("file",
         fail_each(
             "file",
             [&] {
                 put(path, "old");
                 bool saved = false;
                 try {
                     saved = bool(save_problem_file(path, problem));
                 } catch (const std::bad_alloc&) {
                 }
                 return std::string(holds(path, saved ? whole : "old") ? (saved ? "saved" : "") : "half");
             },
             300, Where::in_child));
    CHECK(scratch.count() == 1);
}

TEST_CASE("allocations fail in a command: it ends with a sentence and its exit code") {
    const auto said_by = [](std::vector<std::string> words) {
        const Ran ran = run(std::move(words));
        if (ran.code != 0) return ran.err.empty() ? std::string("no sentence") : std::string();
        return ran.written ? "0 " + ran.out : std::string();
    };
    tell("model", fail_each(
                      "model",
                      [&] {
                          return said_by({"model", "--seqlen", "1024"});
                      },
                      100, Where::in_child));
    tell("link", fail_each(
                     "link",
                     [&] {
                         return said_by({"link", "--step", "5"});
                     },
                     100, Where::in_child));
    tell("trace", fail_each(
                      "trace",
                      [&] {
                          return said_by({"trace", "--lesson", "softmax-1pass"});
                      },
                      40, Where::in_child));
}

TEST_CASE("allocations fail in an edit: the walk is that of the problem, old or new, and can be edited and "
          "undone") {
    auto made = make_state(&default_lesson(), *find_example("worked-4x4"), ui::Settings{});
    REQUIRE(made);
    const ui::AppState& sound = *made;
    const auto in_order = [](const ui::AppState& state) {
        return state.problem && state.trace && state.trace->problem().Q == state.problem->Q &&
               state.cursor.step >= 0 && state.cursor.step < state.trace->size() && !state.pending;
    };
    double other = 10;
    tell("edit", fail_each(
                     "edit",
                     [&] {
                         ui::AppState state = sound;
                         const CellRef cell{Slot::Q, 0, 1};
                         bool failed = false;
                         try {
                             ui::set_element(state, cell, other);
                         } catch (const std::bad_alloc&) {
                             failed = true;
                         }
                         if (!in_order(state)) return std::string("neither the old walk nor the new one");
                         if (!failed) return std::string("edited");
                         // Again, now that there is memory, and back
                         ui::set_element(state, cell, other + 1);
                         if (!in_order(state) || state.problem->Q(0, 1) != other + 1)
                             return std::string("it cannot be edited");
                         ui::undo(state);
                         ui::undo(state);
                         return in_order(state) && state.problem->Q(0, 1) == sound.problem->Q(0, 1)
                                    ? std::string()
                                    : std::string("not undone");
                     },
                     300));
}
