// What was typed, as a number, and whether it is the answer.
#include "core/base/words.h"
#include "core/class/questions_parts.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace tilewalk {

namespace quiz {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Superscript digits behind ×10 become an exponent: 9.1×10⁻⁴ is 9.1*10^-4.
std::string plain_powers(std::string text) {
    static constexpr std::array<std::string_view, 10> raised = {"⁰", "¹", "²", "³", "⁴",
                                                                "⁵", "⁶", "⁷", "⁸", "⁹"};
    text = replaced(std::move(text), "⁻", "^-");
    for (std::size_t n = 0; n < raised.size(); ++n) text = replaced(std::move(text), raised[n], "^" + str(n));
    // Only the first of several raised characters begins the exponent.
    for (std::size_t at = text.find('^'); at != std::string::npos; at = text.find('^', at + 1))
        for (std::size_t n = at + 1; n < text.size() && (std::isdigit(static_cast<unsigned char>(text[n])) ||
                                                         text[n] == '-' || text[n] == '^');)
            text[n] == '^' ? void(text.erase(n, 1)) : void(++n);
    return text;
}

// One spelling for what can be typed in several: signs, spaces, ∞.
std::string normal(std::string_view typed) {
    std::string text(typed);
    constexpr Pair spellings[] = {{"−", "-"}, {"–", "-"},   {"×", "*"},     {"·", "*"},     {"÷", "/"},
                                  {":", "/"}, {"∞", "inf"}, {"\u2009", ""}, {"\u202F", ""}, {"\u00A0", ""},
                                  {" ", ""},  {"\t", ""},   {"_", ""},      {"'", ""},      {"’", ""}};
    for (const auto& [from, to] : spellings) text = replaced(std::move(text), from, to);
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* word : {"infinity", "infty"}) text = replaced(std::move(text), word, "inf");
    text = plain_powers(std::move(text));
    return text.starts_with("=") ? text.substr(1) : text;
}

// B, kB, KiB …; 0 if the text ends in none.
double unit_of(std::string& text) {
    constexpr std::pair<std::string_view, double> units[] = {
        {"bytes", 1}, {"byte", 1}, {"kib", 1024}, {"mib", 1048576}, {"gib", 1073741824.0},
        {"kb", 1e3},  {"mb", 1e6}, {"gb", 1e9},   {"b", 1}};
    for (const auto& [name, factor] : units)
        if (text.ends_with(name)) {
            text.resize(text.size() - name.size());
            return factor;
        }
    return 0;
}

// 13,44 is 13.44; in a count 1,024 is 1024.
std::string with_points(std::string text, bool count) {
    if (text.find(',') == std::string::npos) return text;
    const auto thousands = [&](std::size_t at) {
        std::size_t digits = 0;
        while (at + 1 + digits < text.size() &&
               std::isdigit(static_cast<unsigned char>(text[at + 1 + digits])))
            ++digits;
        return digits == 3;
    };
    for (std::size_t at; (at = text.find(',')) != std::string::npos;)
        count&& thousands(at) ? void(text.erase(at, 1)) : void(text[at] = '.');
    return text;
}

// A small calculator: + − * / ^, brackets, exp, ln, sqrt, tanh, e.
class Calculator {
public:
    explicit Calculator(std::string_view text) : rest_(text) {}
    std::optional<double> value() {
        const double out = sum();
        return ok_ && rest_.empty() ? std::optional(out) : std::nullopt;
    }

private:
    static constexpr int most_depth = 50;

    bool take(std::string_view what) {
        if (!rest_.starts_with(what)) return false;
        rest_.remove_prefix(what.size());
        return true;
    }
    double fail() {
        ok_ = false;
        rest_ = {};
        return 0;
    }
    double number() {
        std::size_t n = 0, points = 0;
        while (n < rest_.size() && (std::isdigit(static_cast<unsigned char>(rest_[n])) || rest_[n] == '.'))
            points += rest_[n++] == '.';
        if (n == points || points > 1 || n > 40) return fail();
        std::size_t exponent = n;
        if (n < rest_.size() && rest_[n] == 'e') {
            exponent = n + 1;
            if (exponent < rest_.size() && (rest_[exponent] == '-' || rest_[exponent] == '+')) ++exponent;
            const std::size_t first = exponent;
            while (exponent < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[exponent])))
                ++exponent;
            if (exponent == first) exponent = n;  // a product with e is not meant
        }
        const std::string digits(rest_.substr(0, exponent));
        rest_.remove_prefix(exponent);
        return std::strtod(digits.c_str(), nullptr);
    }
    double bracket() {
        if (++depth_ > most_depth) return fail();
        const double out = sum();
        --depth_;
        return take(")") ? out : fail();
    }
    double atom() {
        if (take("exp(")) return std::exp(bracket());
        if (take("ln(") || take("log(")) return std::log(bracket());
        if (take("sqrt(")) return std::sqrt(bracket());
        if (take("tanh(")) return std::tanh(bracket());
        if (take("(")) return bracket();
        if (take("inf")) return std::numeric_limits<double>::infinity();
        if (take("e")) return std::exp(1.0);
        return number();
    }
    // −2² is −4, 10^−3 is a thousandth.
    double factor() {
        if (++depth_ > most_depth) return fail();
        double out = 0;
        if (take("-"))
            out = -factor();
        else if (take("+"))
            out = factor();
        else {
            out = atom();
            if (take("^")) out = std::pow(out, factor());
        }
        --depth_;
        return out;
    }
    double product() {
        double out = factor();
        for (;;) {
            if (take("*"))
                out *= factor();
            else if (take("/"))
                out /= factor();
            else
                return out;
        }
    }
    double sum() {
        double out = product();
        for (;;) {
            if (take("+"))
                out += product();
            else if (take("-"))
                out -= product();
            else
                return out;
        }
    }

    std::string_view rest_;
    bool ok_ = true;
    int depth_ = 0;
};

// Half a unit of the last digit of "13.44", "1.5e-3" or "9.1*10^-4"; 0 of what was worked out. From 1000 on
// a whole number may end in zeros that stand for digits left out.
double half_unit_of(std::string text, bool count) {
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
    double power = 1;
    if (const std::size_t ten = text.find("*10^"); ten != std::string::npos) {
        power = std::pow(10, std::strtod(text.c_str() + ten + 4, nullptr));
        text.resize(ten);
    } else if (const std::size_t e = text.find('e'); e != std::string::npos) {
        power = std::pow(10, std::strtod(text.c_str() + e + 1, nullptr));
        text.resize(e);
    }
    if (text.empty() || text.find_first_not_of("0123456789.") != std::string::npos) return 0;
    const std::size_t point = text.find('.');
    if (point != std::string::npos)
        return 0.5 * power * std::pow(10, -static_cast<int>(text.size() - point - 1));
    int zeros = 0;
    while (!count && text.size() - static_cast<std::size_t>(zeros) > 3 &&
           text[text.size() - 1 - static_cast<std::size_t>(zeros)] == '0')
        ++zeros;
    return 0.5 * power * std::pow(10, zeros);
}

// Half a unit of the last of four digits; 0 if they are all that the number has.
double digits_left_out(double v) {
    if (!std::isfinite(v) || v == 0 || read_typed(shown(v), false, false)->value == v) return 0;
    return 0.5 * std::pow(10, std::floor(std::log10(std::abs(v))) - 3);
}

}  // namespace

std::optional<Typed> read_typed(std::string_view typed, bool count, bool bytes) {
    std::string text = normal(typed);
    const double unit = bytes ? unit_of(text) : 0;
    text = with_points(std::move(text), count && unit <= 1);
    const std::optional<double> value = Calculator(text).value();
    if (!value || std::isnan(*value)) return {};
    const double factor = unit > 0 ? unit : 1;
    // A count is meant as it stands, even 1.3e2; with a larger unit it is rounded.
    const bool exact = count && factor == 1;
    return Typed{*value * factor, exact ? 0 : half_unit_of(text, count) * factor};
}

double forgiven(double expected) {
    const double size = std::abs(expected);
    return expected == std::round(expected) && size >= 10 ? 0.05 : 0.005 * size;
}

std::optional<double> error_of_shown(const Line& numbers, const std::vector<double>& given) {
    std::vector<std::string> pieces;
    for (const Span& span : numbers) pieces.push_back(span.text);
    const auto result = [&] {
        std::string text;
        for (const std::string& piece : pieces) text += piece;
        const std::optional<Typed> typed = read_typed(text, false, false);
        return typed ? typed->value : std::nan("");
    };
    const double as_written = result();
    if (std::isnan(as_written)) return {};
    double error = 0;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
        if (numbers[n].face != Span::Face::number) continue;
        const double written = read_typed(pieces[n], false, false).value_or(Typed{}).value;
        if (!std::isfinite(written)) continue;
        // The formula may show a number with fewer digits than the question gives.
        const auto far = [&](double v) { return std::abs(v - written); };
        const double stored = *std::ranges::min_element(given, {}, far);
        const double off = digits_left_out(stored);
        if (off == 0) continue;
        const std::string kept = std::exchange(pieces[n], "(" + format_full(written + off) + ")");
        error += std::abs(result() - as_written);
        pieces[n] = kept;
    }
    return error;
}

}  // namespace quiz

namespace {

// Half a unit in the second digit: what no answer may be further off, however few digits it has.
double second_digit(double value) {
    return value == 0 ? 0 : 0.5 * std::pow(10, std::floor(std::log10(std::abs(value))) - 1);
}

bool is_answer(const Question& q, const quiz::Typed& typed) {
    if (!std::isfinite(q.expected) || !std::isfinite(typed.value)) return typed.value == q.expected;
    const double off = std::abs(typed.value - q.expected);
    const double digits = std::min(typed.half_unit, second_digit(q.expected)) * (1 + 1e-9);
    if (q.exact) return off <= digits + 1e-9;
    return off <= std::max({digits, quiz::forgiven(q.expected), q.noise});
}

// The common mistake that gives this number, the nearest of several; null if there is none.
const WrongAnswer* mistake_in(const Question& q, const quiz::Typed& typed) {
    const WrongAnswer* nearest = nullptr;
    const auto far = [&](const WrongAnswer& wrong) { return std::abs(wrong.value - typed.value); };
    for (const WrongAnswer& wrong : q.wrong) {
        Question other;
        other.expected = wrong.value;
        other.noise = q.noise;
        other.exact = q.exact;
        if (is_answer(other, typed) && (!nearest || far(wrong) < far(*nearest))) nearest = &wrong;
    }
    return nearest;
}

std::string choice_names(const Question& q, const std::vector<int>& which) {
    std::vector<std::string> names;
    for (int n : which) names.push_back(q.choices[static_cast<std::size_t>(n)]);
    return listed(names, "and");
}

Verdict unreadable(std::string sentence) { return {Verdict::Kind::unreadable, std::move(sentence)}; }

// "1.6; 2" between semicolons
std::vector<std::string> parts_of(std::string_view typed) {
    std::vector<std::string> out;
    for (std::size_t from = 0, to = 0; to != std::string_view::npos; from = to + 1) {
        to = typed.find(';', from);
        out.emplace_back(typed.substr(from, to == std::string_view::npos ? to : to - from));
    }
    return out;
}

Verdict check_choices(const Question& q, std::string_view typed) {
    std::vector<int> chosen;
    for (const char c : typed) {
        if (c == ' ' || c == ',' || c == ';') continue;
        const int n = c - '1';
        if (n < 0 || n >= static_cast<int>(q.choices.size()))
            return unreadable("Choose by the numbers 1 to " + str(q.choices.size()) + ".");
        chosen.push_back(n);
    }
    return check(q, std::move(chosen));
}

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

}  // namespace

double tolerance(const Question& q) {
    if (q.is_choice() || q.exact || !std::isfinite(q.expected)) return 0;
    // What three digits leave out, and what the four digits of the text do (worth_asking).
    const double third = second_digit(q.expected) / 10, forgiven = quiz::forgiven(q.expected);
    return q.expected == 0 ? 0.0005 : std::max(forgiven, third + forgiven / 2) * (1 + 1e-9);
}

std::string answer_text(const Question& q) {
    if (q.is_choice()) return choice_names(q, q.right);
    if (q.kind == Question::Kind::gaps) {
        std::vector<std::string> all;
        for (const Question& gap : q.gaps) all.push_back(answer_text(gap));
        return joined(all, "; ");
    }
    return q.bytes   ? str(static_cast<std::int64_t>(q.expected)) + " B"
           : q.exact ? str(static_cast<std::int64_t>(q.expected))
                     : quiz::shown(q.expected);
}

Verdict check(const Question& q, std::vector<int> chosen) {
    if (chosen.empty()) return unreadable("Choose an answer first.");
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (chosen == q.right) return {Verdict::Kind::right, "Right: " + answer_text(q) + "."};
    const auto only = static_cast<std::size_t>(chosen.front());
    return {Verdict::Kind::wrong, "You chose " + choice_names(q, chosen) + "; it is " + answer_text(q) + ".",
            chosen.size() == 1 && only < q.causes.size() ? q.causes[only] : ""};
}

Verdict check(const Question& q, std::string_view typed) {
    if (q.is_choice()) return check_choices(q, typed);
    if (q.kind == Question::Kind::gaps) return together(q, check_each(q, parts_of(typed)));
    const std::string text = trimmed(typed);
    if (text.empty()) return unreadable("Type a number first.");
    const auto number = quiz::read_typed(text, q.exact, q.bytes);
    if (!number)
        return unreadable("\"" + text + "\" is no number; expected one such as " +
                          (q.bytes ? "64, 64 B or 1.5 KiB." : "13.44, 1/3, exp(−2) or −∞."));
    const std::string result = q.target + " = " + answer_text(q) + ".";
    if (is_answer(q, *number)) return {Verdict::Kind::right, "Right: " + result};
    Verdict out{Verdict::Kind::wrong, "You typed " + text + "; " + result};
    if (const WrongAnswer* mistake = mistake_in(q, *number))
        out.cause = mistake->cause, out.working = mistake->working;
    return out;
}

std::vector<Verdict> check_each(const Question& q, const std::vector<std::string>& typed) {
    std::vector<Verdict> out;
    for (std::size_t n = 0; n < q.numbers().size(); ++n) {
        const std::string text = n < typed.size() ? typed[n] : "";
        out.push_back(check(q.numbers()[n], text));
        if (out.back().kind != Verdict::Kind::wrong || !out.back().cause.empty()) continue;
        for (const Question& other : q.numbers())
            if (check(other, text).kind == Verdict::Kind::right)
                out.back().cause = "This is " + other.target + ", another of the numbers that are asked for.";
    }
    return out;
}

Verdict together(const Question& q, const std::vector<Verdict>& each) {
    if (each.size() == 1) return each[0];
    for (std::size_t n = 0; n < each.size(); ++n)
        if (each[n].kind == Verdict::Kind::unreadable)
            return unreadable(q.gaps[n].target + ": " + each[n].sentence);
    const auto right = std::ranges::count(each, Verdict::Kind::right, &Verdict::kind);
    const std::string all = str(each.size());
    if (right == std::ssize(each)) return {Verdict::Kind::right, "All " + all + " are right."};
    return {Verdict::Kind::wrong,
            (right == 0 ? "None" : str(right)) + " of " + all + (right == 1 ? " is" : " are") + " right."};
}

}  // namespace tilewalk
