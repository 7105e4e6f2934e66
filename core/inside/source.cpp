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
    if (behind != words.npos && !is_comment(words)) return std::string(words.substr(behind + 5));
    int last = line - 1;
    while (last >= 1 && !is_comment(source.line(last))) {
        const std::string_view above = without_indent(source.line(last));
        // A statement that begins a block, or an empty line, ends the paragraph.
        if (above.empty() || above.ends_with('{') || indent_of(source.line(last)) < indent_of(words))
            return {};
        --last;
    }
    int first = last;
    while (first > 1 && is_comment(source.line(first - 1))) --first;
    if (last < 1 || first == 1) return {};
    return comment_text(source, first, last);
}

std::string comment_on_function(const SourceText& source, int line) {
    int last = function_begin(source, line) - 1;
    while (last >= 1 && without_indent(source.line(last)).starts_with("template")) --last;
    if (last < 1 || !is_comment(source.line(last))) return {};
    int first = last;
    while (first > 1 && is_comment(source.line(first - 1))) --first;
    return first == 1 ? std::string() : comment_text(source, first, last);
}

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

namespace {

/// The name that an index may follow and that ends at `end`: "k" of "k[n]".
std::string name_before(std::string_view text, std::size_t end) {
    while (end > 0 && text[end - 1] == ' ') --end;
    if (end > 0 && text[end - 1] == ']') {
        const std::size_t open = text.rfind('[', end - 1);
        if (open == text.npos) return {};
        end = open;
        while (end > 0 && text[end - 1] == ']') {
            const std::size_t before = text.rfind('[', end - 1);
            if (before == text.npos) return {};
            end = before;
        }
    }
    std::size_t from = end;
    while (from > 0 && in_name(text[from - 1])) --from;
    return std::string(text.substr(from, end - from));
}

std::string name_behind(std::string_view text, std::size_t from) {
    while (from < text.size() && text[from] == ' ') ++from;
    std::size_t end = from;
    while (end < text.size() && in_name(text[end])) ++end;
    return std::string(text.substr(from, end - from));
}

/// Of "float q = Q[…]" or "k[n] = K[…]" the name: q, k.
std::string name_read(std::string_view line) {
    const std::size_t equals = line.rfind(" = ");
    if (equals == line.npos || line.find('[', equals) == line.npos) return {};
    return name_before(line, equals);
}

constexpr int product_reach = 16;  ///< lines

/// The line of the function at or above `line` that reads this name from memory; 0: none.
int line_that_reads(const SourceText& source, int line, const std::string& name) {
    const int begin = function_begin(source, line);
    for (int n = line; n > std::max(begin, line - product_reach); --n)
        if (!is_comment(source.line(n)) && name_read(source.line(n)) == name) return n;
    return 0;
}

}  // namespace

std::optional<PlainProduct> plain_product(const SourceText& source, int line) {
    const std::string own = name_read(source.line(line));
    const int begin = function_begin(source, line);
    for (int n = line; n <= std::min(source.count(), line + product_reach); ++n) {
        const std::string_view text = source.line(n);
        if (n > line && function_begin(source, n) != begin) return std::nullopt;
        const std::size_t adds = text.find(" += ");
        const std::size_t times = adds == text.npos ? adds : text.find(" * ", adds);
        if (is_comment(text) || times == text.npos) continue;
        const PlainProduct out{n, name_before(text, times), name_behind(text, times + 3), 0, 0};
        if (out.left.empty() || out.right.empty()) continue;
        if (n != line && out.left != own && out.right != own) continue;
        PlainProduct found = out;
        found.left_line = line_that_reads(source, n, out.left);
        found.right_line = line_that_reads(source, n, out.right);
        return found;
    }
    return std::nullopt;
}

namespace {

/// The function's head up to its body, as one line without comments.
std::string head_of_function(const SourceText& source, int begin) {
    constexpr int longest = 8;  // lines
    std::string head;
    for (int n = begin; n < begin + longest; ++n) {
        const std::string_view text = source.line(n).substr(0, source.line(n).find("//"));
        const std::size_t end = text.find_first_of("{;");
        head += std::string(text.substr(0, end)) + " ";
        if (end != text.npos) break;
    }
    return head;
}

}  // namespace

// Macros and attributes stand before the name with parentheses of their own, initialisers behind it.
std::string function_of(const SourceText& source, int line) {
    const int begin = function_begin(source, line);
    if (begin == 0) return {};
    const std::string head = head_of_function(source, begin);
    std::string name;
    int depth = 0;
    for (std::size_t at = 0; at < head.size(); ++at) {
        const bool scope = at > 0 && (head[at + 1] == ':' || head[at - 1] == ':');
        if (depth == 0 && head[at] == ':' && !scope) break;
        if (head[at] == ')') --depth;
        if (head[at] != '(' || depth++ > 0) continue;
        if (const std::string word = name_before(head, at); !word.empty() && word != "noexcept") name = word;
    }
    return name;
}

}  // namespace tilewalk::inside
