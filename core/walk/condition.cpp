#include "core/walk/condition.h"

#include "core/base/words.h"
#include "core/walk/explain.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tilewalk {

/// A node answers for step k of a trace.
struct ConditionNode {
    std::function<bool(const Trace&, int)> holds;
};

namespace {

using NodePtr = std::shared_ptr<const ConditionNode>;
using Test = std::function<bool(double)>;

NodePtr node(std::function<bool(const Trace&, int)> holds) {
    return std::make_shared<const ConditionNode>(ConditionNode{std::move(holds)});
}

bool any_written(const Trace& trace, int k, const std::vector<Slot>& slots, const Test& test) {
    return std::ranges::any_of(trace.writes(k), [&](const Access& a) {
        const Matrix& A = trace.value(a.value).data;
        return std::ranges::count(slots, a.slot) > 0 && std::any_of(A.data(), A.data() + A.size(), test);
    });
}

// ---- Words

struct Token {
    enum class Kind { number, name, sign, unknown, end };
    Kind kind = Kind::end;
    std::string_view text;
    double number = 0;
    int column = 1;
};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Letters of the screen: of ASCII, Greek, ℓ, and what stands above or behind one (m̃, d′); 0 for other text.
std::size_t letter_length(std::string_view rest) {
    if (letter(rest[0])) return 1;
    for (const char* special : {"ℓ", "′"})
        if (rest.starts_with(special)) return std::string_view(special).size();
    const auto lead = static_cast<unsigned char>(rest[0]);
    const bool greek_or_above = lead >= 0xCC && lead <= 0xCF;  // U+0300 … U+03FF
    return greek_or_above && rest.size() > 1 && continues(rest[1]) ? 2 : 0;
}

// Characters up to a byte, for columns as people count them.
int characters(std::string_view text) {
    return static_cast<int>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::size_t name_length(std::string_view rest) {
    std::size_t n = 0;
    while (n < rest.size()) {
        const std::size_t more = digit(rest[n]) ? 1 : letter_length(rest.substr(n));
        if (more == 0) break;
        n += more;
    }
    return n;
}

std::size_t sign_length(std::string_view rest) {
    for (const char* two : {"<=", ">=", "==", "!=", "&&", "||"})
        if (rest.starts_with(two)) return 2;
    return std::string_view("<>!()").find(rest[0]) == std::string_view::npos ? 0 : 1;
}

// One character of UTF-8 that no condition contains.
std::size_t character_length(std::string_view rest) {
    std::size_t n = 1;
    while (n < rest.size() && continues(rest[n])) ++n;
    return n;
}

// One character of UTF-8, the whole of it, that prints
bool is_character(std::string_view text) {
    const auto byte = [text](std::size_t n) {
        return n < text.size() ? static_cast<unsigned char>(text[n]) : 0;
    };
    const int lead = byte(0), second = byte(1);
    if (lead < 0x80) return text.size() == 1 && lead >= 0x20 && lead < 0x7F;
    if (lead < 0xE0) return text.size() == 2 && (lead > 0xC2 || (lead == 0xC2 && second >= 0xA0));
    // Neither longer than need be, nor half of a pair, nor above U+10FFFF
    if (lead < 0xF0)
        return text.size() == 3 && (lead > 0xE0 || second >= 0xA0) && (lead != 0xED || second < 0xA0);
    return text.size() == 4 && lead < 0xF5 && (lead > 0xF0 || second >= 0x90) &&
           (lead < 0xF4 || second < 0x90);
}

// A token as a sentence quotes it; an unknown one is a number out of range, a single character, or a byte
// that is none.
std::string quoted(const Token& token) {
    const bool shown =
        token.kind != Token::Kind::unknown || digit(token.text.back()) || is_character(token.text);
    return "'" + (shown ? std::string(token.text) : "?") + "'";
}

Token next_token(std::string_view text, std::size_t& at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    Token token;
    token.column = characters(text.substr(0, at)) + 1;
    const std::string_view rest = text.substr(at);
    std::size_t length = 0;
    if (rest.empty()) return token;
    if (letter_length(rest) > 0) {
        token.kind = Token::Kind::name;
        length = name_length(rest);
    } else if (digit(rest[0]) || rest[0] == '-' || rest[0] == '.') {
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), token.number);
        token.kind = error == std::errc() ? Token::Kind::number : Token::Kind::unknown;
        length = static_cast<std::size_t>(end - rest.data());
    } else if (length = sign_length(rest); length > 0) {
        token.kind = Token::Kind::sign;
    }
    if (length == 0) {
        token.kind = Token::Kind::unknown;
        length = character_length(rest);
    }
    token.text = rest.substr(0, length);
    at += length;
    return token;
}

// ---- Names

// The softmax lessons have letters of their own, in three notations.
std::vector<Slot> softmax_slots(std::string_view letters) {
    static constexpr std::pair<const char*, Slot> table[] = {
        {"d", Slot::l},        {"d′", Slot::l},       {"δ", Slot::l},   {"o", Slot::Oi},
        {"o′", Slot::Oi},      {"o\u0303", Slot::Oi}, {"ω", Slot::Oi},  {"ω\u0303", Slot::Oi},
        {"O\u0303", Slot::Oi}, {"p", Slot::P},        {"a", Slot::Prob}};
    for (const auto& [text, slot] : table)
        if (letters == text) return {slot};
    return {};
}

// The slots of that name in files, which may be two: P before and after the division. Else those that the
// screen writes so.
std::vector<Slot> find_slots(std::string_view name) {
    std::vector<Slot> out;
    for (int s = 0; s < slot_count; ++s)
        if (name == info(static_cast<Slot>(s)).name) out.push_back(static_cast<Slot>(s));
    if (out.empty()) out = slots_called(name);
    return out.empty() ? softmax_slots(name) : out;
}
std::optional<Op> find_op(std::string_view wanted) {
    for (int n = 0; n < static_cast<int>(Op::count); ++n)
        if (wanted == name(static_cast<Op>(n))) return static_cast<Op>(n);
    return {};
}

// ---- Sentences

bool compare(std::string_view sign, double a, double b) {
    if (sign == "<") return a < b;
    if (sign == "<=") return a <= b;
    if (sign == ">") return a > b;
    if (sign == ">=") return a >= b;
    return sign == "==" ? a == b : a != b;
}

using Number = std::function<double(const Trace&, int)>;

/// What stands on one side of a comparison: a number of the step, a slot, or the op.
struct Operand {
    Token token;
    Number number;
    std::vector<Slot> slots;
    bool op = false;
};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) { step(); }

    NodePtr whole() {
        NodePtr out = any();
        if (out && now_.kind != Token::Kind::end) return expected("&&, || or the end");
        return out;
    }
    const std::string& error() const { return error_; }

private:
    static constexpr int deepest = 64;  // more parentheses than anyone types

    void step() { now_ = next_token(text_, at_); }
    bool is(std::string_view sign) const { return now_.kind == Token::Kind::sign && now_.text == sign; }
    bool take(std::string_view sign) {
        if (!is(sign)) return false;
        step();
        return true;
    }
    NodePtr fail(int column, const std::string& what) {
        if (error_.empty()) error_ = "column " + str(column) + ": " + what;
        return nullptr;
    }
    NodePtr expected(const std::string& what) {
        const std::string found = now_.kind == Token::Kind::end ? "the end" : quoted(now_);
        return fail(now_.column, "expected " + what + ", found " + found);
    }

    NodePtr any() { return chain(&Parser::all, "||", true); }
    NodePtr all() { return chain(&Parser::one, "&&", false); }
    // Parts with that sign between them; the first part that answers `decides` is the answer of all.
    NodePtr chain(NodePtr (Parser::*part)(), std::string_view sign, bool decides) {
        NodePtr left = (this->*part)();
        while (left && take(sign)) {
            const NodePtr right = (this->*part)();
            if (!right) return nullptr;
            left = node([left, right, decides](const Trace& t, int k) {
                return left->holds(t, k) == decides ? decides : right->holds(t, k);
            });
        }
        return left;
    }
    NodePtr one() {
        if (depth_ >= deepest) return fail(now_.column, "too many parentheses inside each other");
        ++depth_;
        NodePtr out = is("!") ? negation() : is("(") ? parentheses() : special() ? predicate() : comparison();
        --depth_;
        return out;
    }
    NodePtr negation() {
        step();
        const NodePtr inner = one();
        return inner ? node([inner](const Trace& t, int k) { return !inner->holds(t, k); }) : nullptr;
    }
    NodePtr parentheses() {
        step();
        NodePtr inner = any();
        return !inner || take(")") ? inner : expected("&&, || or ')'");
    }

    // isnan(slot), isinf(slot)
    bool special() const {
        return now_.kind == Token::Kind::name && (now_.text == "isnan" || now_.text == "isinf");
    }
    NodePtr predicate() {
        const bool nan = now_.text == "isnan";
        step();
        if (!take("(")) return expected("'('");
        const std::vector<Slot> slots =
            now_.kind == Token::Kind::name ? find_slots(now_.text) : std::vector<Slot>();
        if (slots.empty()) return expected("the name of a slot");
        step();
        if (!take(")")) return expected("')'");
        const Test test =
            nan ? Test([](double v) { return std::isnan(v); }) : Test([](double v) { return std::isinf(v); });
        return node([slots, test](const Trace& t, int k) { return any_written(t, k, slots, test); });
    }

    NodePtr comparison() {
        const std::optional<Operand> left = operand();
        if (!left) return nullptr;
        static constexpr std::string_view signs[] = {"<", "<=", ">", ">=", "==", "!="};
        if (now_.text == "=") return fail(now_.column, "'=' compares nothing; did you mean ==?");
        if (now_.kind != Token::Kind::sign || std::ranges::count(signs, now_.text) == 0)
            return expected("one of < <= > >= == !=");
        const Token sign = now_;
        step();
        if (left->op) return op_comparison(sign);
        const std::optional<Operand> right = operand();
        return right ? of_values(*left, sign.text, *right) : nullptr;
    }
    NodePtr op_comparison(const Token& sign) {
        if (sign.text != "==" && sign.text != "!=")
            return fail(sign.column, "op is compared with == or != only");
        if (now_.kind != Token::Kind::name) return expected("the name of an op, such as scores");
        const std::optional<Op> op = find_op(now_.text);
        if (!op) return unknown("there is no op");
        step();
        const bool same = sign.text == "==";
        return node([op, same](const Trace& t, int k) { return (t.step(k).op == *op) == same; });
    }
    NodePtr of_values(const Operand& a, std::string_view sign, const Operand& b) {
        if (b.op) return fail(b.token.column, "op stands on the left: op == scores");
        if (!a.slots.empty() && !b.slots.empty())
            return fail(b.token.column, "a slot is compared with a number, not with another slot");
        const std::string s(sign);
        if (!a.slots.empty())
            return node([slots = a.slots, s, number = b.number](const Trace& t, int k) {
                return any_written(t, k, slots, [&](double v) { return compare(s, v, number(t, k)); });
            });
        if (!b.slots.empty())
            return node([slots = b.slots, s, number = a.number](const Trace& t, int k) {
                return any_written(t, k, slots, [&](double v) { return compare(s, number(t, k), v); });
            });
        return node(
            [a = a.number, s, b = b.number](const Trace& t, int k) { return compare(s, a(t, k), b(t, k)); });
    }

    std::optional<Operand> operand() {
        Operand out{now_, {}, {}, false};
        const double value = now_.number;
        if (now_.kind == Token::Kind::number) {
            out.number = [value](const Trace&, int) { return value; };
        } else if (now_.kind != Token::Kind::name) {
            expected("a number or a name");
            return {};
        } else if (!named(out)) {
            unknown("there is no slot or value");
            return {};
        }
        step();
        return out;
    }
    bool named(Operand& out) const {
        const std::string_view name = now_.text;
        if (name == "i") out.number = [](const Trace& t, int k) { return t.step(k).i; };
        if (name == "j") out.number = [](const Trace& t, int k) { return t.step(k).j; };
        if (name == "step") out.number = [](const Trace&, int k) { return k + 1; };
        if (name == "inf") out.number = [](const Trace&, int) { return infinity; };
        out.op = name == "op";
        if (!out.number && !out.op) out.slots = find_slots(name);
        return out.number || out.op || !out.slots.empty();
    }
    NodePtr unknown(const char* what) { return fail(now_.column, std::string(what) + " " + quoted(now_)); }

    std::string_view text_;
    std::size_t at_ = 0;
    Token now_;
    std::string error_;
    int depth_ = 0;
};

}  // namespace

bool Condition::holds(const Trace& trace, int k) const { return root_->holds(trace, k); }

Result<Condition> parse_condition(std::string_view text) {
    if (text.size() > most_condition_bytes)
        return Failure{"it has more than " + str(most_condition_bytes) + " bytes"};
    Parser parser(text);
    const NodePtr root = parser.whole();
    if (!root) return Failure{parser.error()};
    Condition out;
    out.text_ = std::string(text);
    out.root_ = root;
    return out;
}

}  // namespace tilewalk
