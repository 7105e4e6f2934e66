#include "core/class/spoken.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

namespace tilewalk {

namespace {

// The first sentence; a point between digits ends none.
std::string first_sentence(const std::string& text) {
    const std::size_t end = text.find(". ");
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

int letters(const std::string& text) {
    return static_cast<int>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string spoken(const Trace& trace, int k, const Explanation& e) {
    // A broken walk is told in the explanation's own words; for a maximum that lags alone a lesson has some
    // to say.
    const Problem& p = trace.problem();
    const bool lags = saved_in(trace).lazy && !p.savings.cubic && !p.precision.any() && !p.switches.any();
    const bool own_words = (breaks(trace.lesson(), p) && !lags) || e.result.empty();
    std::string out = own_words ? "" : trace.lesson().say(trace, k, e);
    if (out.empty()) out = first_sentence(e.why);
    if (letters(out) > spoken_letters) out = e.title + ": " + plain(e.result) + ".";
    return out;
}

namespace {

constexpr std::string_view opening[] = {"exp(", "(", "“"},
                           closing[] = {".", ",", ":", ";", "?", "!", ")", "”"};
constexpr std::string_view counted[] = {"row",   "key",  "query",  "querie", "column",   "block", "tile",
                                        "step",  "rank", "head",   "part",   "sequence", "page",  "split",
                                        "round", "byte", "worker", "bit",    "position", "time",  "element"};
constexpr std::string_view between_counts[] = {"and", "or", "to", "×", "of", "–"};
constexpr std::pair<std::string_view, Role> names[] = {
    {"maximum", Role::m}, {"score", Role::S}, {"scores", Role::S}, {"weight", Role::S},
    {"weights", Role::S}, {"sum", Role::l},   {"output", Role::O}, {"share", Role::S}};

// "the maximum goes from 1 to 2": they leave a number with what was named before them.
constexpr std::string_view binding[] = {"=",    "≈",     "is",    "from",   "to", "at", "becomes",
                                        "goes", "rises", "stays", "starts", "→",  "and"};

// A word between its punctuation.
struct Token {
    std::string_view before, core, after;
};
Token token_of(std::string_view word) {
    std::string_view core = word;
    const auto strip = [&](const auto& marks, bool front) {
        for (bool found = true; std::exchange(found, false);)
            for (const std::string_view mark : marks)
                if (front ? core.starts_with(mark) : core.ends_with(mark)) {
                    front ? core.remove_prefix(mark.size()) : core.remove_suffix(mark.size());
                    found = true;
                }
    };
    strip(opening, true);
    strip(closing, false);
    const auto at = static_cast<std::size_t>(core.data() - word.data());
    return {word.substr(0, at), core, word.substr(at + core.size())};
}

bool is_number(std::string_view core) {
    if (core.starts_with("−")) core.remove_prefix(std::string_view("−").size());
    if (core == "∞") return true;
    const std::size_t end = core.find_first_not_of("0123456789.,");
    return !core.empty() && end != 0 && (end == core.npos || core.substr(end).starts_with("×"));
}

bool is_counted(std::string_view core) {
    if (core.ends_with('s')) core.remove_suffix(1);
    return std::ranges::find(counted, core) != std::end(counted);
}

// What the formula calls its quantities, the longest names first.
struct Letter {
    std::string text;
    Role role;
};
std::vector<Letter> letters_of(const Explanation& e) {
    std::vector<Letter> out;
    for (const Line& line : {e.formula, e.result})
        for (const Span& span : line)
            if (span.role != Role::none && span.face == Span::Face::symbol &&
                span.script == Span::Script::base)
                out.push_back({plain({span}), span.role});
    std::ranges::stable_sort(out, std::greater{}, [](const Letter& one) { return one.text.size(); });
    return out;
}

// What the formula has this number for.
std::set<Role> roles_of(double value, const Explanation& e) {
    std::set<Role> out;
    const auto add = [&](const Span& span, Role role) {
        if (role != Role::none && span.face == Span::Face::number && read_shown(span.text).value == value)
            out.insert(role);
    };
    for (const Span& span : e.numbers) add(span, span.role);
    if (!e.result.empty() && e.target.slot != Slot::count) add(e.result.back(), info(e.target.slot).role);
    return out;
}

// Goes through the sentence word by word and remembers what was named last.
class Reader {
public:
    explicit Reader(const Explanation& e) : e_(e), letters_(letters_of(e)) {}

    void read(const Token& word, std::string_view next) {
        if (is_number(word.core))
            put(word.core, counts_ || is_counted(token_of(next).core) ? Role::none : role_of(word.core));
        else
            put_word(word.core);
        const bool goes_on =
            is_number(word.core) || std::ranges::find(between_counts, word.core) != std::end(between_counts);
        counts_ = is_counted(word.core) || (counts_ && goes_on && word.after != ":");
    }
    void put(std::string_view text, Role role = Role::none) {
        if (text.empty()) return;
        if (line_.empty() || line_.back().role != role) line_.push_back({.text = "", .role = role});
        line_.back().text += text;
    }
    Line line() { return std::move(line_); }

private:
    // A number has the hue of what the sentence has just named, not of whatever is as large.
    Role role_of(std::string_view number) const {
        const std::set<Role> roles = roles_of(read_shown(std::string(number)).value, e_);
        if (bound_ != Role::none && roles.contains(bound_)) return bound_;
        const bool whole = number.find_first_of(".,×") == number.npos;
        return !whole && roles.size() == 1 ? *roles.begin() : Role::none;
    }
    // "ℓ[0]": the letter alone.
    void put_word(std::string_view core) {
        const auto letter = std::ranges::find_if(letters_, [&](const Letter& one) {
            const std::string_view rest = core.substr(std::min(core.size(), one.text.size()));
            const bool ends = rest.empty() || static_cast<unsigned char>(rest[0]) >= 0x80 || rest[0] == '[';
            return core.starts_with(one.text) && ends;
        });
        if (letter != letters_.end()) {
            const std::size_t end = std::min(core.find('['), core.size());
            named_ = letter->role;
            put(core.substr(0, end), letter->role);
            put(core.substr(end));
            bound_ = named_;
            return;
        }
        const auto name = std::ranges::find(names, core, &std::pair<std::string_view, Role>::first);
        if (name != std::end(names))
            named_ = name->second, bound_ = named_;
        else if (std::ranges::find(binding, core) == std::end(binding))
            bound_ = Role::none;
        put(core);
    }

    const Explanation& e_;
    std::vector<Letter> letters_;
    Role named_ = Role::none;
    Role bound_ = Role::none;  ///< of the number that comes next: it was named, and only binding words since
    bool counts_ = false;      ///< numbers of rows, keys, tiles
    Line line_;
};

}  // namespace

Line in_roles(const std::string& sentence, const Explanation& e) {
    std::vector<std::string_view> words;
    const std::string_view all = sentence;
    for (std::size_t at = 0; at <= all.size();) {
        const std::size_t end = std::min(all.find(' ', at), all.size());
        words.push_back(all.substr(at, end - at));
        at = end + 1;
    }
    Reader reader(e);
    for (std::size_t n = 0; n < words.size(); ++n) {
        const Token word = token_of(words[n]);
        if (n > 0) reader.put(" ");
        reader.put(word.before);
        reader.read(word, n + 1 < words.size() ? words[n + 1] : "");
        reader.put(word.after);
    }
    return reader.line();
}

namespace {

constexpr std::string_view index_mark = "\xEE\x80\x80";  // stands for "_" while the sentence is read

// As a number of the formula writes it: with the decimals of its cell, where these leave three digits.
std::string as_in_cells(const std::string& shown, const Question& q) {
    const auto [value, unit] = read_shown(shown);
    std::string out = shown;
    for (const Question& asked : q.numbers())
        for (const Span& span : asked.explanation.numbers) {
            if (span.face != Span::Face::number) continue;
            const bool bracketed = span.text.starts_with('(');
            const std::string cell = bracketed ? span.text.substr(1, span.text.size() - 2) : span.text;
            if (cell == shown) return shown;
            const auto [rounded, step] = read_shown(cell);
            const bool same =
                unit < step ? std::abs(value - rounded) <= .5001 * step && std::abs(rounded) >= 99.5 * step
                            : value == rounded || (unit < .1 && std::abs(value - rounded) <= .5001 * unit);
            if (same) out = cell;
        }
    return out;
}

// What stands behind "= ", "(", "; " or "| " up to what parts it from the next.
std::string with_digits_of_cells(const Question& q) {
    const std::string_view all = q.text, space = "\u00A0";
    std::string out;
    for (std::size_t at = 0; at < all.size();) {
        const std::string_view before = all.substr(0, at);
        const bool begins = before.ends_with("=" + std::string(space)) || before.ends_with("=\u00A0(") ||
                            before.ends_with("; ") || before.ends_with("|\u00A0") ||
                            before.ends_with(";\u00A0") || before.ends_with("| ");
        std::size_t end = at;
        while (begins && end < all.size()) {
            const bool point = (all[end] == '.' || all[end] == ',') && end + 1 < all.size() &&
                               all[end + 1] >= '0' && all[end + 1] <= '9';
            if (all.substr(end).starts_with("−") && !all.substr(end).starts_with("−∞"))
                end += std::string_view("−").size();
            else if ((all[end] >= '0' && all[end] <= '9') || point)
                ++end;
            else
                break;
        }
        if (end > at)
            out += as_in_cells(std::string(all.substr(at, end - at)), q), at = end;
        else
            out += all[at++];
    }
    return out;
}

}  // namespace

Line question_line(const Question& q) {
    std::string text = with_digits_of_cells(q);
    for (std::size_t at = 0; (at = text.find('_', at)) != std::string::npos; at += index_mark.size())
        text.replace(at, 1, index_mark);
    Line out;
    for (const Span& span : in_roles(text, q.is_choice() ? Explanation{} : q.numbers().front().explanation)) {
        std::size_t from = 0;
        for (std::size_t at = 0; (at = span.text.find(index_mark, from)) != std::string::npos;) {
            const std::size_t index = at + index_mark.size(),
                              end =
                                  std::min(span.text.find_first_of("[ ,.;:?)\xC2", index), span.text.size());
            out.push_back(span), out.back().text = span.text.substr(from, at - from);
            // "W_Q_old" has both in one index.
            out.push_back(span),
                out.back().text = replaced(span.text.substr(index, end - index), index_mark, " ");
            out.back().script = Span::Script::sub;
            from = end;
        }
        if (from < span.text.size()) out.push_back(span), out.back().text = span.text.substr(from);
    }
    return out;
}

}  // namespace tilewalk
