// tilewalk manual: the help of all commands as a page for man, and as what shells complete.
#include "app/cli/commands.h"
#include "app/cli/values.h"
#include "app/io/examples.h"
#include "app/io/text.h"
#include "core/base/version.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"
#include "cuda/host/gpu.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tilewalk {
namespace {

bool same(const ToldOption& a, const ToldOption& b) { return a.names == b.names && a.help == b.help; }
bool knows(const ToldCommand& command, const ToldOption& option) {
    return std::ranges::any_of(command.options, [&](const ToldOption& own) { return same(own, option); });
}

// ---- The page

// A line of text in roff: no backslash acts, no hyphen is a dash, no first letter a request.
std::string roff(const std::string& text) {
    const std::string plain = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    return (plain.starts_with(".") || plain.starts_with("'") ? "\\&" : "") + plain;
}

std::string roff_option(const ToldOption& option) {
    const std::string type = option.type.empty() ? "" : " \\fI" + roff(option.type) + "\\fR";
    return ".TP\n\\fB" + replaced(roff(option.names), ",", "\\fR, \\fB") + "\\fR" + type + "\n" +
           (option.help.empty() ? "\\&" : roff(option.help)) + "\n";
}

// The window's options below their headings
std::string roff_options(const ToldCommand& command) {
    std::string text, heading;
    for (const ToldOption& option : command.options) {
        if (option.heading != heading) text += ".SS \"" + roff(heading = option.heading) + "\"\n";
        text += roff_option(option);
    }
    return text;
}

// Those that the window has, too, are told there.
std::string roff_command(const ToldCommand& command, const ToldCommand& window) {
    std::string text = ".SS \"" + roff(command.name) + "\"\n" + roff(command.help) + ".\n";
    std::vector<std::string> shared;
    for (const ToldOption& option : command.options)
        if (!knows(window, option))
            text += roff_option(option);
        else if (option.names.find("help") == std::string::npos)
            shared.push_back("\\fB" + roff(option.names) + "\\fR");
    if (!shared.empty()) text += ".PP\nAs above: " + joined(shared) + ".\n";
    if (!command.footer.empty()) text += ".PP\n";
    for (const std::string& line : split(command.footer, "\n"))
        if (!line.empty()) text += roff(line) + "\n";
    return text;
}

std::string manual_page(const std::vector<ToldCommand>& commands) {
    const ToldCommand& window = commands.front();
    std::string text =
        ".TH TILEWALK 1 \"\" \"Tilewalk " + std::string(version) +
        "\" \"User Commands\"\n.SH NAME\ntilewalk \\- walk through FlashAttention, tile by "
        "tile\n.SH SYNOPSIS\n.B tilewalk\n[\\fIOPTION\\fR ... | \\fIFILE\\fR]\n.br\n.B tilewalk\n"
        "\\fICOMMAND\\fR [\\fIOPTION\\fR ...]\n.SH DESCRIPTION\n"
        "Attention and FlashAttention step by step, with every number computed: the online "
        "softmax, the tiles, the backward pass, the kernels and what they cost.\n";
    for (const std::string& line : split(window.footer, "\n")) text += roff(line) + "\n";
    text += ".SH OPTIONS\n" + roff_options(window) + ".SH COMMANDS\n";
    for (std::size_t n = 1; n < commands.size(); ++n) text += roff_command(commands[n], window);
    return text + ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/tilewalk/settings.json\n"
                  "Settings and the problem of the last time; $HOME/.config in place of an unset variable.\n";
}

// ---- What is completed

struct Completed {
    std::vector<std::string> words;
    bool files = false;
};

// "none|sqrt|NUMBER|NxD|l_O": none, sqrt and l_O are typed as they stand; capitals without _ and a single
// letter stand for something else.
bool is_literal(const std::string& word) {
    if (word.find('_') != std::string::npos &&
        std::ranges::any_of(word, [](unsigned char c) { return std::islower(c); }))
        return true;
    const auto plain = [](unsigned char c) {
        return std::islower(c) || std::isdigit(c) || c == '_' || c == '-';
    };
    return std::ranges::all_of(word, plain) && !(word.size() == 1 && std::islower(word[0]));
}

std::vector<std::string> kernel_names() {
    return names_of(gpu::traceable_kernels(), &gpu::TraceableKernel::name);
}

Completed completed(const ToldCommand& command, const ToldOption& option) {
    const auto is = [&](const char* name) { return option.names.ends_with(name); };
    if (is("--example")) return {names_of(examples(), &Problem::name)};
    if (is("--lesson")) {
        Completed named{names_of(lessons(), &Lesson::id)};
        if (command.name == "questions") named.words.push_back("inside");
        return named;
    }
    if (is("--kernel") || is("--against")) return {kernel_names()};
    if (is("--break") && command.name != "inside") return {names_of(all_faults(), &Fault::name)};
    Completed values;
    for (const std::string& word : split(option.type, "|")) {
        if (word == "FILE" || word == "FOLDER" || word == "FILE,...")
            values.files = true;
        else if (!word.empty() && is_literal(word))
            values.words.push_back(word);
    }
    return values;
}

std::vector<std::string> names_in(const ToldOption& option) { return split(option.names, ","); }

std::string bash_command(const ToldCommand& command) {
    std::string text = "    '" + command.name + "')\n        case $prev in\n";
    std::vector<std::string> all;
    for (const ToldOption& option : command.options) {
        const std::vector<std::string> names = names_in(option);
        all.insert(all.end(), names.begin(), names.end());
        if (option.type.empty()) continue;
        const Completed values = completed(command, option);
        text += "            " + joined(names, "|") + ") words='" + joined(values.words, " ") + "'" +
                (values.files ? " files=1" : "") + " ;;\n";
    }
    return text + "            *) words='" + joined(all, " ") + "' ;;\n        esac ;;\n";
}

std::string bash_completion(const std::vector<ToldCommand>& commands) {
    std::vector<std::string> names = names_of(commands, &ToldCommand::name);
    names.erase(names.begin());
    std::string text =
        "# bash completion of tilewalk, made by 'tilewalk manual --format bash'\n"
        "_tilewalk() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
        "    local words= files=\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case $word in " +
        joined(names, "|") + ") command=$word; break ;; esac\n    done\n    case $command in\n";
    for (const ToldCommand& command : commands) text += bash_command(command);
    return text +
           "    esac\n"
           "    if [ -z \"$command\" ] && [ \"$COMP_CWORD\" -eq 1 ]; then files=1 words=\"" +
           joined(names, " ") +
           " $words\"; fi\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "    if [ -n \"$files\" ]; then\n"
           "        compopt -o filenames 2>/dev/null\n"
           "        while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -f -- \"$cur\")\n"
           "    fi\n"
           "}\n"
           "complete -F _tilewalk tilewalk\n";
}

// Within '…[here]:here:(and here)'
std::string zsh_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out;
}

std::string zsh_options(const ToldCommand& command) {
    std::string text;
    for (const ToldOption& option : command.options)
        for (const std::string& name : names_in(option)) {
            text += " \\\n            '" + name + "[" + zsh_text(option.help) + "]";
            if (!option.type.empty()) {
                const Completed values = completed(command, option);
                text += ":" + zsh_text(option.type) + ":";
                if (values.files)
                    text += "_files";
                else if (!values.words.empty())
                    text += "(" + joined(values.words, " ") + ")";
                else
                    text += " ";
            }
            text += "'";
        }
    return text;
}

std::string zsh_completion(const std::vector<ToldCommand>& commands) {
    std::string text = "#compdef tilewalk\n# Made by 'tilewalk manual --format zsh'\n"
                       "_tilewalk() {\n    local -a commands=(";
    std::vector<std::string> names;
    for (std::size_t n = 1; n < commands.size(); ++n) {
        names.push_back(commands[n].name);
        text += "\n        '" + commands[n].name + ":" + zsh_text(commands[n].help) + "'";
    }
    text += ")\n    local at command=\n    for (( at = 2; at < CURRENT; ++at )); do\n"
            "        case $words[at] in\n            (" +
            joined(names, "|") +
            ") command=$words[at]; break ;;\n        esac\n    done\n"
            "    if [[ -n $command ]]; then\n        words=(tilewalk \"${(@)words[at+1,-1]}\")\n"
            "        (( CURRENT -= at - 1 ))\n"
            "    elif (( CURRENT == 2 )); then\n        _describe command commands\n        _files -g "
            "'*.(json|md)'\n    fi\n"
            "    case $command in\n";
    for (const ToldCommand& command : commands)
        text += "        ('" + command.name + "') _arguments" + zsh_options(command) + " ;;\n";
    return text + "    esac\n}\n_tilewalk \"$@\"\n";
}

}  // namespace

Outcome run_manual(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("man"), {"man", "bash", "zsh"});
    if (!format) return bad_input(format.error);
    const auto write =
        std::array{manual_page, bash_completion, zsh_completion}[static_cast<std::size_t>(*format)];
    return put(a.output, out, write(told_commands()));
}

}  // namespace tilewalk
