// What needs the interface or the command line, and all targets together.
#include "tests/fuzz/targets.h"

#include "app/io/text.h"
#include "app/io/tour_file.h"
#include "app/ui/shell/lesson_view.h"
#include "tests/command_line.h"

#include <algorithm>

namespace tilewalk::fuzz {

namespace {

void take_tour(std::string_view bytes) { taken(parse_tour(bytes, "tour.md", ui::tour_names())); }

// One word on a line, behind one of the commands that only read and print. Words that would write a file, or
// ask for more than a moment's work, are left out.
void take_command_line(std::string_view bytes) {
    static const std::vector<std::string> commands = {"trace",     "link",    "model",
                                                      "questions", "lessons", "examples"};
    std::vector<std::string> words;
    for (const std::string& word : split(bytes.substr(0, 400), "\n")) {
        const bool long_number = word.find_first_of("0123456789") != std::string::npos && word.size() > 24;
        if (word.find('/') != std::string::npos || word.starts_with("-o") || word.starts_with("--o") ||
            word.find('\0') != std::string::npos || long_number)
            continue;
        words.push_back(word);
    }
    if (words.empty() || std::find(commands.begin(), commands.end(), words[0]) == commands.end()) return;
    const test::Ran ran = test::run(words);
    expect(ran.code == 0 || ran.code == 2, "a command ends with 0 or 2");
    expect(ran.code == 0 || !ran.err.empty(), "a refusal has a sentence");
    expect(ran.code == 0 || ran.out.empty(), "what is refused prints nothing");
    expect(is_utf8(ran.err), "a sentence is UTF-8");
}

}  // namespace

std::span<const Target> program_targets() {
    static const std::vector<Target> all = {
        {"tour",
         "a tour as Markdown",
         take_tour,
         "assets/tour/*.md",
         4000,
         {"# ", "## ", "- example: ", "- lesson: ", "- step: ", "- cell: ", "- ring: ", "notes:", "- page: ",
          "{", "}", "- question: ", "- presenter: ", "`", "**"}},
        {"command-line",
         "words behind commands that print",
         take_command_line,
         "",
         400,
         {"trace", "link", "model", "questions", "--lesson", "--example", "--random", "--break",
          "--precision", "--step", "--format", "json", "--causal", "--heads", "--splits", "--link", "--seed",
          "--help"}},
        {"interface", "keys and mouse on the whole window", take_events, "", 120, {}},
    };
    return all;
}

std::vector<Target> targets() {
    std::vector<Target> all(reader_targets().begin(), reader_targets().end());
    all.insert(all.end(), program_targets().begin(), program_targets().end());
    return all;
}

}  // namespace tilewalk::fuzz
