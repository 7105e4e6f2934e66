// The manual page and what shells complete say what the help says.
#include "tests/app/cli/run.h"

#include "app/cli/arguments.h"
#include "app/io/examples.h"
#include "app/io/text.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

/// What bash proposes for the words typed so far, the last of which is being typed.
std::vector<std::string> proposed(const std::string& script, const std::vector<std::string>& typed) {
    std::string words;
    for (const std::string& word : typed) words += " '" + word + "'";
    const std::string command = "bash -c 'source \"" + script +
                                "\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); " +
                                "_tilewalk; printf \"%s\\n\" \"${COMPREPLY[@]}\"' bash" + words;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    REQUIRE(pipe);
    std::string text;
    std::array<char, 4096> piece{};
    while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe.get()))
        text.append(piece.data(), n);
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
}

}  // namespace

TEST_CASE("manual: the page names every command and every option of it") {
    const std::string page = output_of({"manual"});
    CHECK(page.starts_with(".TH TILEWALK 1"));
    const auto roff = [](std::string text) {
        for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2)
            text.insert(at, 1, '\\');
        return text;
    };
    for (const ToldCommand& command : told_commands()) {
        CAPTURE(command.name);
        const bool window = command.name.empty();
        const std::size_t from = page.find(window ? "\n.SH OPTIONS\n" : "\n.SS \"" + command.name + "\"\n");
        REQUIRE(from != std::string::npos);
        const std::string part =
            page.substr(from, page.find(window ? "\n.SH COMMANDS\n" : "\n.SS \"", from + 1) - from);
        for (const ToldOption& option : command.options)
            if (window || option.names.find("help") == std::string::npos)
                CHECK_MESSAGE(contains(part, roff(option.names.substr(option.names.find("--")))),
                              option.names);
        for (const std::string& line : split(command.footer, "\n")) CHECK(contains(page, roff(line)));
    }
    for (const char* hidden : {"accident", "screenshot"}) CHECK_FALSE(contains(page, hidden));
}

TEST_CASE("manual: bash completes commands, options and their values") {
    const Folder folder;
    const std::string script = folder.file("tilewalk.bash");
    output_of({"manual", "--format", "bash", "-o", script});
    CHECK(has(proposed(script, {"tilewalk", "tr"}), "trace"));
    CHECK(proposed(script, {"tilewalk", "trace", "--format", ""}) ==
          std::vector<std::string>{"text", "json", "md"});
    CHECK(proposed(script, {"tilewalk", "export", "--theme", "li"}) == std::vector<std::string>{"light"});
    CHECK(has(proposed(script, {"tilewalk", "--pre"}), "--presenter"));
    CHECK_FALSE(has(proposed(script, {"tilewalk", "model", "--"}), "--presenter"));
    CHECK(proposed(script, {"tilewalk", "trace", "--notation", ""}) ==
          std::vector<std::string>{"l_O", "d_o", "delta_omega"});
    for (const ToldCommand& command : told_commands()) {
        const auto all = proposed(script, {"tilewalk", command.name.empty() ? "--theme" : command.name,
                                           command.name.empty() ? "dark" : "--format", "--"});
        if (command.name.empty())
            for (const ToldOption& option : command.options)
                CHECK_MESSAGE(has(all, option.names.substr(option.names.find("--"))), option.names);
    }
    const auto named = proposed(script, {"tilewalk", "trace", "--example", ""});
    CHECK(named.size() == examples().size());
    CHECK(proposed(script, {"tilewalk", "--lesson", ""}).size() == lessons().size());
    for (const std::string& word : proposed(script, {"tilewalk", "trace", "--scale", ""}))
        CHECK((word == "none" || word == "sqrt"));
}

TEST_CASE("manual: what zsh completes names every command, and its quotes end") {
    const std::string script = output_of({"manual", "--format", "zsh"});
    CHECK(script.starts_with("#compdef tilewalk\n"));
    for (const ToldCommand& command : told_commands()) {
        const std::size_t from = script.find("('" + command.name + "') _arguments");
        REQUIRE(from != std::string::npos);
        const std::string part = script.substr(from, script.find(";;", from) - from);
        for (const ToldOption& option : command.options)
            CHECK_MESSAGE(contains(part, option.names.substr(option.names.find("--")) + "["), option.names);
    }
    const Folder folder;
    CHECK(std::system(
              ("! command -v zsh >/dev/null || zsh -n " + folder.file("_tilewalk", script)).c_str()) == 0);
}

TEST_CASE("manual: another form is refused") {
    check_refused({{{"manual", "--format", "fish"}, "man, bash or zsh"}});
}
