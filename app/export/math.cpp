#include "app/export/parts.h"

#include "core/base/matrix_text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>

namespace tilewalk {
namespace {

// A letter as it is shown, and in LaTeX.
using Letter = std::pair<std::string_view, std::string_view>;

// The letters that explanations use, in math mode.
constexpr Letter letters[] = {
    {"ℓ", "\\ell"},       {"α", "\\alpha"},      {"δ", "\\delta"}, {"ω", "\\omega"},  {"η", "\\eta"},
    {"Σ", "\\Sigma"},     {"Δ", "\\Delta"},      {"√", "\\surd"},  {"∞", "\\infty"},  {"−", "-"},
    {"×", "\\times"},     {"÷", "\\div"},        {"·", "\\cdot"},  {"⊙", "\\odot"},   {"⊘", "\\oslash"},
    {"←", "\\leftarrow"}, {"→", "\\rightarrow"}, {"≤", "\\le"},    {"≥", "\\ge"},     {"≠", "\\ne"},
    {"≈", "\\approx"},    {"‖", "\\Vert"},       {"…", "\\dots"},  {"ᵀ", "^{\\top}"}, {"′", "'"},
    {"₀", "_{0}"},        {"₁", "_{1}"},         {"₂", "_{2}"},    {"₃", "_{3}"},     {"₄", "_{4}"},
    {"₅", "_{5}"},        {"₆", "_{6}"},         {"₇", "_{7}"},    {"₈", "_{8}"},     {"₉", "_{9}"},
    {"ᵢ", "_{i}"},        {"ⱼ", "_{j}"},         {"²", "^{2}"},    {"³", "^{3}"},     {"⌈", "\\lceil"},
    {"⌉", "\\rceil"},     {"₊", "_{+}"},         {"₋", "_{-}"},    {"∈", "\\in"},     {"∂", "\\partial"}};

// Marks of prose, as text.
constexpr Letter marks[] = {{"\\", "\\textbackslash{}"},
                            {"{", "\\{"},
                            {"}", "\\}"},
                            {"$", "\\$"},
                            {"&", "\\&"},
                            {"#", "\\#"},
                            {"%", "\\%"},
                            {"_", "\\_"},
                            {"^", "\\^{}"},
                            {"~", "\\~{}"},
                            {"<", "\\ensuremath{<}"},
                            {">", "\\ensuremath{>}"},
                            {"|", "\\ensuremath{|}"},
                            {"\"", "''"},
                            {"“", "``"},
                            {"”", "''"},
                            {"‘", "`"},
                            {"’", "'"},
                            {"–", "--"},
                            {"—", "---"},
                            {"\u00A0", "~"},
                            {"\u2009", "\\,"}};

template <class Table> std::string_view found(const Table& table, std::string_view letter) {
    const auto at = std::ranges::find(table, letter, [](const auto& entry) { return entry.first; });
    return at == std::end(table) ? std::string_view{} : at->second;
}

// The next character of UTF-8; a lone byte where it is broken.
std::string_view next_letter(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t n = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return text.substr(0, n);
}

std::uint32_t code_point(std::string_view letter) {
    if (letter.size() == 1) return static_cast<unsigned char>(letter[0]);
    std::uint32_t code = static_cast<unsigned char>(letter[0]) & (0xFFu >> (letter.size() + 1));
    for (std::size_t n = 1; n < letter.size(); ++n)
        code = code << 6 | (static_cast<unsigned char>(letter[n]) & 0x3Fu);
    return code;
}

bool is_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// ---- Math

// "rows 0–1 of", "exp", "fp16": a run of words, with what stands inside it.
std::string_view word_run(std::string_view text) {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view letter = next_letter(text.substr(at));
        const bool inside = letter == "–" || letter == "…" || letter == " " ||
                            std::isdigit(static_cast<unsigned char>(letter[0]));
        if (!is_word(letter[0]) && !inside) break;
        if (letter == " " && text.substr(at, 2) == "  ") break;
        at += letter.size();
        end = at;
    }
    // "scale · Q": the space behind a single word is no part of it; "tile (0, 1)" and "rows 0–1 of K": it is.
    const std::string_view run = text.substr(0, end), after = text.substr(end);
    const bool one_word = run.find(' ') + 1 == run.size();
    const bool joined = !after.empty() && (after[0] == '(' || is_word(after[0]));
    return one_word && !joined ? run.substr(0, end - 1) : run;
}

// Gradients and the like: "dO" is one symbol.
bool is_gradient(std::string_view run) {
    return run.size() == 2 && run[0] == 'd' && run[1] >= 'A' && run[1] <= 'Z';
}

// `apart`: a space stands before it that math mode would swallow.
std::string words(std::string_view run, bool apart) {
    if (run == "exp" || run == "max") return "\\" + std::string(run);
    if (run == "ln" || run == "ln ") return "\\ln ";
    const std::string text =
        replaced(replaced((apart ? " " : "") + std::string(run), "–", "-"), "…", "\\ldots{}");
    return (text.find(' ') == std::string::npos ? "\\mathrm{" : "\\text{") + text + "}";
}

// Builds math mode from plain text and spans; scripts of one base are put together.
class Math {
public:
    void text(std::string_view piece) {
        flush();
        while (!piece.empty()) piece.remove_prefix(put(piece));
    }
    void raw(std::string_view piece) {
        flush();
        out_ += piece;
    }
    void base(const Span& span) {
        constexpr std::string_view prime = "′";
        std::string_view letter = span.text;
        const bool primed = letter.ends_with(prime);
        if (primed) letter.remove_suffix(prime.size());
        if (span.tilde) raw("\\tilde ");
        text(letter);
        if (primed) super_ = "\\prime";
    }
    void script(const Span& span) {
        std::string& into = span.script == Span::Script::sub ? sub_ : super_;
        const bool word = span.text.size() > 1 && is_word(span.text[0]) && is_word(span.text[1]);
        into += (into.empty() ? "" : ",") + (span.text == "T" ? "\\top"
                                             : word           ? "\\mathrm{" + span.text + "}"
                                                              : span.text);
    }
    std::string take() {
        flush();
        while (out_.ends_with(' ')) out_.pop_back();
        return std::move(out_);
    }

private:
    void flush() {
        if (sub_.empty() && super_.empty()) return;
        while (out_.ends_with(' ')) out_.pop_back();
        if (!sub_.empty()) out_ += "_{" + sub_ + "}";
        if (!super_.empty()) out_ += "^{" + super_ + "}";
        sub_.clear(), super_.clear();
    }
    // One piece of the text; how many bytes it took.
    std::size_t put(std::string_view text) {
        if (text[0] == ' ') return space(text);
        if (is_word(text[0])) {
            const std::string_view run = word_run(text);
            out_ += is_gradient(run)  ? "\\mathrm{d}" + std::string(run.substr(1))
                    : run.size() == 1 ? std::string(run)
                                      : words(run, after_word_or_bracket());
            return run.size();
        }
        const std::string_view letter = next_letter(text);
        const std::string_view command = found(letters, letter);
        if (!command.empty())
            out_ += std::string(command) + (command[0] == '\\' ? " " : "");
        else if (letter.size() == 1)
            out_ += letter;
        return letter.size();
    }
    // A space follows what is no command: "(0, 1) is masked".
    bool after_word_or_bracket() const {
        if (out_.size() < 2 || !out_.ends_with(' ')) return false;
        std::size_t at = out_.size() - 1;
        while (at > 0 && is_word(out_[at - 1])) --at;
        const char before = out_[out_.size() - 2];
        const bool command = at > 0 && out_[at - 1] == '\\';
        return before == ')' || (!command && std::isalnum(static_cast<unsigned char>(before)));
    }
    // Several spaces part what stands beside each other, unless a relation does.
    std::size_t space(std::string_view text) {
        const std::size_t n = std::min(text.find_first_not_of(' '), text.size());
        const bool after_relation =
            out_.ends_with("=") || out_.ends_with("\\leftarrow ") || out_.ends_with("+");
        const bool parts =
            n > 1 && (out_.ends_with(",") || (n < text.size() && is_word(text[n]) && !after_relation));
        out_ += parts ? " \\quad " : out_.ends_with(' ') ? "" : " ";
        return n;
    }
    std::string out_, sub_, super_;
};

// ---- Text

// Accented letters that every encoding of LaTeX's fonts can set.
bool is_plain_accent(std::uint32_t code) {
    return code >= 0xC0 && code <= 0xFF && code != 0xD0 && code != 0xD7 && code != 0xDE && code != 0xF0 &&
           code != 0xF7 && code != 0xFE;
}

std::string other(std::string_view letter) {
    char code[16];
    std::snprintf(code, sizeof code, "%04X", static_cast<unsigned>(code_point(letter)));
    return std::string("\\tilewalkother{") + code + "}{" + std::string(letter) + "}";
}

std::string text_letter(std::string_view letter) {
    if (const auto mark = found(marks, letter); !mark.empty()) return std::string(mark);
    if (letter.size() == 1) return static_cast<unsigned char>(letter[0]) < 0x20 ? " " : std::string(letter);
    const std::string exponents = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻";
    if (const std::size_t at = exponents.find(letter); at != std::string::npos)
        return "\\ensuremath{^{" + latex_number(std::string(letter)) + "}}";
    if (const auto command = found(letters, letter); !command.empty())
        return "\\ensuremath{" + std::string(command) + "}";
    return is_plain_accent(code_point(letter)) ? std::string(letter) : other(letter);
}

}  // namespace

std::string latex_math(const Line& line) {
    Math math;
    for (const Span& span : line) {
        if (span.script != Span::Script::base)
            math.script(span);
        else if (span.face == Span::Face::number)
            math.raw(latex_number(span.text));
        else if (span.face == Span::Face::symbol)
            math.base(span);
        else
            math.text(span.text);
    }
    return math.take();
}

std::string latex_text(const std::string& text) {
    std::string out;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view letter = next_letter(rest);
        rest.remove_prefix(letter.size());
        if (rest.starts_with("\u0303")) {
            rest.remove_prefix(2);
            out += "\\ensuremath{\\tilde " + std::string(letter) + "}";
        } else
            out += text_letter(letter);
    }
    return out;
}

}  // namespace tilewalk
