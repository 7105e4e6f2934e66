// A megabyte of nonsense, or of what is nearly right, is refused within a second; what is allowed is bounded.
#include "app/io/bench_json.h"
#include "app/io/examples.h"
#include "app/io/kernel_bundle.h"
#include "app/io/link.h"
#include "app/io/matrix_file.h"
#include "app/io/problem_json.h"
#include "app/io/settings.h"
#include "app/io/tour_file.h"
#include "app/ui/shell/lesson_view.h"
#include "core/walk/condition.h"
#include "tests/folder.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

constexpr std::size_t megabyte = 1'000'000;

/// The unit again and again between head and tail, a megabyte in all
std::string filled(std::string head, const std::string& unit, const std::string& tail = "") {
    std::string text = std::move(head);
    while (text.size() + unit.size() + tail.size() <= megabyte) text += unit;
    return text + tail;
}

struct Hostile {
    std::string name, bytes;
};
std::vector<Hostile> hostile_inputs() {
    std::vector<Hostile> all;
    for (const char* unit :
         {"[",    "{\"a\":", "(",      "!",        "!(",      "0",        "9",        "-",       "1e",
          "a",    "a ",      ",",      ";",        "\"",      "\\",       "\n",       " ",       "\t",
          "#",    "# ",      "## a\n", "- a: b\n", "*",       "`",        "{",        "%",       "%41",
          "&",    "=",       "a=b&",   "/",        "\xFF",    "\xC3\xA9", "\xCC\x83", "1,2,3\n", "1\n",
          "nan,", "m<1&&",   "m<1||",  "((m)",     "\"k\":1,"})
        all.push_back({"nothing but " + std::string(unit), filled("", unit)});
    all.push_back({"nothing but NUL", std::string(megabyte, '\0')});
    for (const std::string schema :
         {"tilewalk-problem-1", "tilewalk-bench-1", "tilewalk-kernel-1", "tilewalk-trace-1"}) {
        const std::string head = "{\"schema\": \"" + schema + "\", ";
        all.push_back({schema + ", a long title", filled(head + "\"title\": \"", "x", "\"}")});
        all.push_back({schema + ", a long unknown key", filled(head + "\"", "x", "\": 1}")});
        all.push_back({schema + ", nested", filled(head + "\"q\": ", "[")});
        all.push_back({schema + ", a long row", filled(head + "\"q\": [[", "1,", "1]]}")});
        all.push_back({schema + ", many rows", filled(head + "\"q\": [", "[1],", "[1]]}")});
        all.push_back({schema + ", a long number", filled(head + "\"scale\": ", "1", "}")});
        all.push_back({schema + ", many keys", filled(head, "\"x-\": 1, ", "\"x\": 1}")});
        all.push_back({schema + ", a long string as number", filled(head + "\"q\": \"", "\\u00e9", "\"}")});
    }
    all.push_back(
        {"npy, a header without end", filled(std::string("\x93NUMPY\x02\x00\xFF\xFF\x0F\x00", 12), " ")});
    all.push_back(
        {"npy, a key without end", filled(std::string("\x93NUMPY\x02\x00\x30\x42\x0F\x00", 12) + "{'", "x")});
    all.push_back({"npy, many dimensions",
                   filled(std::string("\x93NUMPY\x02\x00\x30\x42\x0F\x00", 12) + "{'shape': (", "1,")});
    all.push_back({"a link, a long name", filled("tilewalk:?example=", "x")});
    all.push_back({"a link, many keys", filled("tilewalk:?", "step=1&")});
    all.push_back({"a tour, a long title", filled("# ", "x")});
    all.push_back({"a tour, a long lesson", filled("# T\n\n## A\n\n- lesson: ", "x", "\n\ntext\n")});
    all.push_back({"a tour, many stops", filled("# T\n\n", "## A\n\ntext\n\n")});
    all.push_back({"a tour, a long text", filled("# T\n\n## A\n\n", "word ")});
    all.push_back({"a tour, many notes", filled("# T\n\n## A\n\ntext\n\n", "notes: a\n\n")});
    all.push_back({"a condition, a long name", filled("op == ", "x")});
    all.push_back({"a condition, a long number", filled("m < ", "9")});
    return all;
}

/// Takes bytes; the sentence that refuses them, or nothing.
struct Reader {
    const char* name;
    std::function<std::string(const std::string&)> refuses;
};
std::vector<Reader> readers(const Folder& scratch) {
    return {
        {"problem", [](const std::string& bytes) { return problem_from_json(bytes, "file.json").error; }},
        {"results", [](const std::string& bytes) { return bench_from_json(bytes, "file.json").error; }},
        {"a kernel's run",
         [](const std::string& bytes) { return bundle_from_json(bytes, "file.json").error; }},
        {"csv",
         [](const std::string& bytes) {
             return matrix_from_csv(bytes, csv_separator(bytes), "file.csv").error;
         }},
        {"npy", [](const std::string& bytes) { return matrix_from_npy(bytes, "file.npy").error; }},
        {"link", [](const std::string& bytes) { return place_of_link(bytes).error; }},
        {"tour",
         [](const std::string& bytes) { return parse_tour(bytes, "tour.md", ui::tour_names()).error; }},
        {"condition", [](const std::string& bytes) { return parse_condition(bytes).error; }},
        {"settings",
         [&scratch](const std::string& bytes) {
             return load_settings(scratch.file("settings.json", bytes)).notice;
         }},
    };
}

/// Seconds of the processor: others may use it as well.
double seconds_of(const std::function<void()>& work) {
    const std::clock_t began = std::clock();
    work();
    return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

bool tells() { return std::getenv("TILEWALK_LIMITS") != nullptr; }

}  // namespace

TEST_CASE("no megabyte takes more than a second to be refused, and its sentence is short") {
    const Folder scratch;
    const std::vector<Hostile> inputs = hostile_inputs();
    for (const Reader& reader : readers(scratch)) {
        double longest = 0;
        std::string which;
        std::size_t refused = 0, letters = 0;
        for (const Hostile& input : inputs) {
            REQUIRE(input.bytes.size() <= megabyte);
            std::string sentence;
            const double seconds = seconds_of([&] { sentence = reader.refuses(input.bytes); });
            INFO(reader.name, ", ", input.name, ": ", seconds, " s");
            CHECK(seconds < (in_full ? 1.0 : 20.0));
            CHECK(sentence.size() < 2000);
            refused += !sentence.empty();
            letters = std::max(letters, sentence.size());
            if (seconds > longest) longest = seconds, which = input.name;
        }
        CHECK_MESSAGE(refused > inputs.size() / 2, reader.name);
        if (tells())
            std::cout << reader.name << ": " << refused << " of " << inputs.size()
                      << " refused, the longest took " << longest << " s (" << which
                      << "), the longest sentence has " << letters << " bytes\n";
    }
}

TEST_CASE("a name of a million letters is refused or read and saved in a second") {
    Problem problem = *find_example("worked-4x4");
    problem.name.clear();
    problem.title = std::string(megabyte, 'x');
    Result<Problem> read{Failure{}};
    const double seconds =
        seconds_of([&] { read = problem_from_json(problem_to_json(problem), "file.json"); });
    CHECK(seconds < (in_full ? 1.0 : 20.0));
    if (read) CHECK(read->title == problem.title);
    if (!read) CHECK(read.error.size() < 2000);
    if (tells())
        std::cout << "a title of 10^6 letters: " << (read ? "read" : read.error) << ", " << seconds << " s\n";

    problem.title.clear();
    problem.tokens.assign(4, std::string(megabyte / 4, 'y'));
    const double tokens =
        seconds_of([&] { read = problem_from_json(problem_to_json(problem), "file.json"); });
    CHECK(tokens < (in_full ? 1.0 : 20.0));
    if (tells())
        std::cout << "four tokens of 250,000 letters: " << (read ? "read" : read.error.substr(0, 200)) << ", "
                  << tokens << " s\n";
}

TEST_CASE("the extremes of numbers are read exactly or refused with a sentence") {
    const std::pair<const char*, bool> numbers[] = {{"0", true},
                                                    {"-0.0", true},
                                                    {"5e-324", true},
                                                    {"2.2250738585072014e-308", true},
                                                    {"1e-400", true},
                                                    {"1e149", true},
                                                    {"1e300", false},
                                                    {"1.7976931348623157e308", false},
                                                    {"1e309", false},
                                                    {"-1e309", false},
                                                    {"9007199254740993", true},
                                                    {"18446744073709551616", true},
                                                    {"1e99999", false},
                                                    {"NaN", false},
                                                    {"Infinity", false},
                                                    {"0x10", false},
                                                    {"01", false},
                                                    {"+1", false},
                                                    {".5", false},
                                                    {"1.", false}};
    for (const auto& [number, is_read] : numbers) {
        const std::string text = std::string("{\"schema\": \"tilewalk-problem-1\", \"q\": [[") + number +
                                 "]], \"k\": [[1]], \"v\": [[1]], \"br\": 1, \"bc\": 1}";
        const Result<Problem> read = problem_from_json(text, "file.json");
        INFO(number, ": ", read.error);
        const bool usable = read && !validate(*read);
        CHECK(usable == is_read);
        if (usable) CHECK(read->Q(0, 0) == std::strtod(number, nullptr));
        if (!read) CHECK_FALSE(read.error.empty());
    }
    for (const char* whole : {"2147483648", "-2147483649", "1e10", "0.5", "-1", "99999999999999999999"}) {
        const std::string text =
            std::string("{\"schema\": \"tilewalk-problem-1\", \"q\": [[1]], \"k\": [[1]], ") +
            "\"v\": [[1]], \"br\": " + whole + ", \"bc\": 1}";
        const Result<Problem> read = problem_from_json(text, "file.json");
        const auto refused = read ? validate(*read) : std::optional<std::string>(read.error);
        CHECK_MESSAGE(refused, whole);
        if (refused) CHECK_FALSE(refused->empty());
    }
}
