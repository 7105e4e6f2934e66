// What the documents list is what there is: commands and options, lessons and their steps, keys of links,
// names in files, rungs, paths; and what they say to type is understood.
#include "app/cli/arguments.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "app/io/link_parts.h"
#include "app/io/text.h"
#include "app/ui/chapters/start/moments.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"
#include "core/study/memory_study.h"
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"
#include "tests/good.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

const std::filesystem::path root = TILEWALK_SOURCE_DIR;

std::string document(const std::string& name) { return good(read_file((root / "docs" / name).string())); }

std::vector<std::filesystem::path> documents() {
    std::vector<std::filesystem::path> out{root / "README.md"};
    for (const auto& entry : std::filesystem::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") out.push_back(entry.path());
    std::ranges::sort(out);
    return out;
}

std::vector<std::string> lines_of(const std::string& text) { return split(text, "\n"); }

/// Everything that matches, once.
std::set<std::string> all_in(const std::string& text, const char* expression) {
    const std::regex wanted(expression);
    std::set<std::string> out;
    for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
        out.insert(at->str(1));
    return out;
}

void check_names(const std::string& text, const std::vector<std::string>& names) {
    for (const std::string& name : names) CHECK_MESSAGE(contains(text, "`" + name + "`"), name);
}

/// The words of a line as a shell takes them; none if it does more than call one program with them.
std::vector<std::string> shell_words(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool any = false;
    char quote = 0;
    const auto end_word = [&] {
        if (any) words.push_back(word);
        word.clear(), any = false;
    };
    for (std::size_t n = 0; n < line.size(); ++n) {
        const char c = line[n];
        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? char{0} : c, any = true;
        } else if (!quote && (c == ' ' || c == '\t')) {
            end_word();
        } else if (!quote && !any && (c == '#' || c == '|' || c == '>' || c == '&')) {
            break;
        } else if (!quote && c == '$') {
            return {};
        } else {
            word += c, any = true;
        }
    }
    end_word();
    return words;
}

/// The commands that a document shows in its blocks, without the program's name; what stands for words to
/// choose is left out ("[PROBLEM]", "NAME", "…").
std::vector<std::vector<std::string>> shown_commands(const std::string& text) {
    std::vector<std::vector<std::string>> out;
    bool block = false;
    for (const std::string& line : lines_of(text)) {
        if (line.starts_with("```")) block = !block;
        const std::vector<std::string> words = block ? shell_words(line) : std::vector<std::string>{};
        if (words.empty() || line.find('[') != line.npos || contains(line, "…") || contains(line, "FILE"))
            continue;
        for (const char* name : {"tilewalk", "./run.sh", "build/tilewalk"})
            if (words.front() == name) out.emplace_back(words.begin() + 1, words.end());
    }
    return out;
}

std::set<std::string> visible_options() {
    std::set<std::string> out;
    for (const ToldCommand& command : told_commands())
        for (const ToldOption& option : command.options)
            for (const std::string& name : split(option.names, ","))
                if (name.starts_with("--")) out.insert(name);
    return out;
}

}  // namespace

TEST_CASE("documents: docs/command-line.md has every command and option, and no other") {
    const std::string text = document("command-line.md");
    for (const ToldCommand& command : told_commands())
        CHECK_MESSAGE(contains(text, "\ntilewalk " + command.name), command.name);
    const std::set<std::string> told = all_in(text, "(--[a-z][a-z0-9-]*)"), known = visible_options();
    for (const std::string& option : known) CHECK_MESSAGE(told.contains(option), option);
    for (const std::string& option : told) CHECK_MESSAGE(known.contains(option), option);
    for (const Fault& fault : all_faults()) check_names(text, {fault.name});
    check_names(text, names_of(formats(), [](Format format) { return name(format); }));
    check_names(text, names_of(hardware_list(), &Hardware::id));
}

TEST_CASE("documents: the commands that they show are understood") {
    int shown = 0;
    for (const auto& path : documents())
        for (const auto& words : shown_commands(good(read_file(path.string())))) {
            std::vector<const char*> argv{"tilewalk"};
            for (const std::string& word : words) argv.push_back(word.c_str());
            const auto read = parse_arguments(static_cast<int>(argv.size()), argv.data());
            CAPTURE(path.filename().string());
            CHECK_MESSAGE(read, read.error);
            ++shown;
        }
    CHECK(shown > 90);
}

TEST_CASE("documents: docs/lessons.md has every lesson, with its steps") {
    const std::string text = document("lessons.md");
    for (const Lesson& lesson : lessons()) {
        const auto trace = good(build_trace(lesson, *find_example("worked-4x4")));
        const std::string row = "| `" + std::string(lesson.id) + "` | " + str(trace->size()) + " |";
        CHECK_MESSAGE(contains(text, row), row);
    }
}

// One that stands in its own file alone is nowhere to be seen.
TEST_CASE("documents: every lesson of core/lessons is in the table of lessons") {
    std::size_t written = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / "core/lessons"))
        if (file.path().extension() == ".cpp")
            written += split(good(read_file(file.path().string())), "constinit const Lesson ").size() - 1;
    CHECK(written == lessons().size());
}

TEST_CASE("documents: docs/links.md has every key of a link") {
    check_names(document("links.md"), names_of(linked::keys(), &linked::Key::name));
}

TEST_CASE("documents: docs/trace-format.md has every operation and slot, fault and format") {
    const std::string text = document("trace-format.md");
    for (int n = 0; n < op_count; ++n) check_names(text, {info(static_cast<Op>(n)).name});
    for (int n = 0; n < slot_count; ++n) check_names(text, {info(static_cast<Slot>(n)).name});
    check_names(text, names_of(all_faults(), &Fault::name));
    check_names(text, names_of(formats(), [](Format format) { return name(format); }));
}

TEST_CASE("documents: docs/kernels.md has every rung") {
    const std::string text = document("kernels.md");
    for (const auto& kernel : gpu::traceable_kernels())
        CHECK_MESSAGE(contains(text, kernel.name), kernel.name);
}

TEST_CASE("documents: docs/start-page.md has every moment, with its key") {
    const std::string text = document("start-page.md");
    for (const ui::Moment& moment : ui::moments()) {
        const std::string row = "\n| " + std::string(moment.keys) + " | ";
        CHECK_MESSAGE(contains(text, row), row);
    }
}

TEST_CASE("documents: the paths that they name are there") {
    int named = 0;
    for (const auto& path : documents()) {
        CAPTURE(path.filename().string());
        const std::string text = good(read_file(path.string()));
        for (const std::string& one :
             all_in(text, "`((?:app|core|cuda|docs|tests|assets|cmake)/[a-z0-9_./-]+)`")) {
            const std::string file = (root / one).string();
            const bool there = std::ranges::any_of(
                std::vector<std::string>{"", ".cpp", ".h", ".cu"},
                [&](const std::string& end) { return std::filesystem::exists(file + end); });
            CHECK_MESSAGE(there, one);
            ++named;
        }
        for (const std::string& one : all_in(text, "\\]\\(([A-Za-z0-9_./-]+)(?:#[^)]*)?\\)"))
            CHECK_MESSAGE(std::filesystem::exists(path.parent_path() / one), one);
    }
    CHECK(named > 150);
}
