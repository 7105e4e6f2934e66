#include "core/inside/source.h"

#include <algorithm>
#include <cctype>

namespace tilewalk::inside {

namespace {

std::string_view without_indent(std::string_view line) {
    const std::size_t at = line.find_first_not_of(' ');
    return at == line.npos ? std::string_view() : line.substr(at);
}

std::size_t indent_of(std::string_view line) { return line.size() - without_indent(line).size(); }

bool is_comment(std::string_view line) { return without_indent(line).starts_with("//"); }

/// The words of lines first … last, from 1, without the slashes.
std::string comment_text(const SourceText& source, int first, int last) {
    std::string text;
    for (int n = first; n <= last; ++n) {
        std::string_view words = without_indent(source.line(n));
        while (words.starts_with('/')) words.remove_prefix(1);
        words = without_indent(words);
        while (words.ends_with(' ')) words.remove_suffix(1);
        if (words.empty()) break;
        // A shape at the end of the line belongs to no sentence.
        if (const std::size_t shape = words.find("    "); shape != words.npos) words = words.substr(0, shape);
        text += (text.empty() ? "" : " ") + std::string(words);
    }
    return text;
}

bool begins_function(std::string_view line) {
    const std::string_view words = without_indent(line);
    return words.find("DEVICE") != words.npos || words.find("KERNEL") != words.npos;
}

/// The line that begins the function around this one; 0: none.
int function_begin(const SourceText& source, int line) {
    for (int n = line; n >= 1; --n)
        if (!is_comment(source.line(n)) && begins_function(source.line(n))) return n;
    return 0;
}

}  // namespace

std::string_view SourceText::line(int n) const {
    return n >= 1 && n <= count() ? lines[static_cast<std::size_t>(n - 1)] : std::string_view();
}

SourceText source_text(std::string file, std::string_view text) {
    SourceText source{std::move(file), {}};
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        source.lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return source;
}

std::string idea_of(const SourceText& source) {
    int last = 0;
    while (is_comment(source.line(last + 1))) ++last;
    int first = 1;  // behind "f5-flash2: …" there is a paragraph of its own
    for (int n = 1; n < last; ++n)
        if (without_indent(source.line(n)) == "//") {
            first = n + 1;
            break;
        }
    return comment_text(source, first, last);
}

std::string comment_on(const SourceText& source, int line) {
    const int begin = function_begin(source, line);
    const std::size_t depth = indent_of(source.line(line));
    for (int n = line - 1; n >= std::max(1, begin - 8); --n) {
        const std::string_view words = source.line(n);
        // A comment further in belongs to another block.
        if (!is_comment(words) || (n > begin && indent_of(words) > depth)) continue;
        int first = n;
        while (first > 1 && is_comment(source.line(first - 1))) --first;
        if (n < begin && first == 1) return {};  // that of the file
        return comment_text(source, first, n);
    }
    return {};
}

std::string remark_on(const SourceText& source, int line) {
    const std::string_view words = source.line(line);
    const std::size_t behind = words.find("  // ");
    return behind == words.npos || is_comment(words) ? comment_on(source, line)
                                                     : std::string(words.substr(behind + 5));
}

std::string function_of(const SourceText& source, int line) {
    const int begin = function_begin(source, line);
    if (begin == 0) return {};
    const std::string_view words = source.line(begin);
    for (std::size_t paren = words.find('('); paren != words.npos; paren = words.find('(', paren + 1)) {
        std::size_t from = paren;
        const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        while (from > 0 && in_name(words[from - 1])) --from;
        const std::string_view name = words.substr(from, paren - from);
        if (!name.empty() && name != "THREADS") return std::string(name);
    }
    return {};
}

}  // namespace tilewalk::inside
