#include "core/inside/call_sites.h"

#include <algorithm>

namespace tilewalk::inside {

namespace {

/// The line without what stands behind "//".
std::string_view code_of_line(std::string_view line) { return line.substr(0, line.find("//")); }

constexpr int longest_statement = 40;  ///< lines

/// Code from a place in a line up to the end of the statement, or as far as one may be long.
std::string code_from(const SourceText& source, int line, std::size_t at) {
    std::string text(code_of_line(source.line(line)).substr(at));
    for (int n = line + 1; n < line + longest_statement && n <= source.count(); ++n)
        text += " " + std::string(code_of_line(source.line(n)));
    return text;
}

/// Behind the template arguments that begin here, if any do.
std::size_t behind_arguments_of_template(std::string_view text, std::size_t at) {
    if (at >= text.size() || text[at] != '<') return at;
    int depth = 0;
    for (; at < text.size(); ++at) {
        depth += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
        if (depth == 0) return at + 1;
    }
    return at;
}

/// Where the name of the function is called in a line: its name, perhaps template arguments, a parenthesis.
std::optional<std::size_t> find_call(std::string_view line, const std::string& name) {
    for (std::size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
        if (at > 0 && in_name(line[at - 1])) continue;
        const std::size_t next = behind_arguments_of_template(line, at + name.size());
        if (next < line.size() && line[next] == '(') return at;
    }
    return std::nullopt;
}

/// What stands in the parentheses that open first: from behind "(" to before ")".
std::string in_parentheses(const std::string& text) {
    const std::size_t open = text.find('(');
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        if (depth == 0) return text.substr(open + 1, at - open - 1);
    }
    return {};
}

/// A template's "<" stands right behind a name, a comparison's does not.
int count_arguments(const std::string& text) {
    int depth = 0, commas = 0;
    bool any = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool opens = c == '<' && at > 0 && in_name(text[at - 1]);
        const bool closes = c == '>' && at > 0 && text[at - 1] != '-' && text[at - 1] != ' ';
        if (c == '(' || c == '[' || c == '{' || opens) ++depth;
        if (c == ')' || c == ']' || c == '}' || closes) --depth;
        commas += c == ',' && depth == 0;
        any = any || c != ' ';
    }
    return any ? commas + 1 : 0;
}

std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && in_name(text[end])) ++end;
        if (end > at) out.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

/// The line that begins the function around this one, and whether it is a kernel; 0: none does.
std::pair<int, bool> beginning(const SourceText& source, int line) {
    for (int n = line; n >= 1; --n) {
        const std::string_view code = code_of_line(source.line(n));
        if (code.find("KERNEL ") != code.npos) return {n, true};
        if (code.find("DEVICE ") != code.npos) return {n, false};
    }
    return {0, false};
}

}  // namespace

CallSites::CallSites(std::vector<const SourceText*> sources, bool recorded) : texts(std::move(sources)) {
    find_functions();
    find_calls(recorded);
}

void CallSites::find_functions() {
    for (const SourceText* source : texts)
        for (int n = 1; n <= source->count(); ++n) {
            const auto [begin, kernel] = beginning(*source, n);
            if (begin != n) {
                const std::string_view code = code_of_line(source->line(n));
                if (begin > 0 && !functions.empty() && functions.back().begin == begin)
                    functions.back().loops |=
                        code.find("for (") != code.npos || code.find("while (") != code.npos;
                continue;
            }
            const std::string name = function_of(*source, n);
            if (name.empty()) continue;
            const std::string head = code_from(*source, n, 0);
            const auto at = find_call(head, name);
            const std::string parameters = at ? in_parentheses(head.substr(*at)) : "";
            const int all = count_arguments(parameters);
            const auto defaults = static_cast<int>(std::ranges::count(parameters, '='));
            functions.push_back({source, name, n, kernel, false, all, all - defaults});
        }
}

// What takes another number of arguments is another function of that name, or a parameter.
void CallSites::find_calls(bool recorded) {
    for (const Function& callee : functions) {
        if (callee.kernel) continue;
        for (const SourceText* source : texts)
            for (int n = 1; n <= source->count(); ++n) {
                const auto at = find_call(code_of_line(source->line(n)), callee.name);
                const Function* const caller = at ? function_at(*source, n) : nullptr;
                if (!caller || caller->begin == n || caller == &callee) continue;
                const std::string_view statement = source->line(statement_of(*source, n));
                if (!recorded && statement.find("RECORD(") != statement.npos) continue;
                const std::string arguments = in_parentheses(code_from(*source, n, *at));
                const int count = count_arguments(arguments);
                if (count < callee.needed || count > callee.parameters) continue;
                sites.push_back({caller, &callee, n, statement_of(*source, n), names_in(arguments)});
            }
    }
}

const Function* CallSites::function_at(const SourceText& source, int line) const {
    const int begin = beginning(source, line).first;
    for (const Function& f : functions)
        if (f.source == &source && f.begin == begin) return &f;
    return nullptr;
}

std::vector<const CallSite*> CallSites::of(const Function& callee) const {
    std::vector<const CallSite*> out;
    for (const CallSite& site : sites)
        if (site.callee == &callee) out.push_back(&site);
    return out;
}

// The last line above, or this one, in which no parenthesis is open when it begins.
int CallSites::statement_of(const SourceText& source, int line) {
    const int first = std::max(1, line - longest_statement);
    const int begin = std::max(first, beginning(source, line).first);
    int statement = begin, depth = 0;
    for (int n = begin; n <= line; ++n) {
        if (depth <= 0) statement = n, depth = 0;
        for (const char c : code_of_line(source.line(n))) depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    return statement;
}

}  // namespace tilewalk::inside
