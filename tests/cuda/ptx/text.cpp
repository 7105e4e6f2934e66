#include "tests/cuda/ptx/text.h"

#include "tests/cuda/ptx/program.h"

#include <algorithm>
#include <cctype>

namespace tilewalk::ptx {

namespace {

bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

}  // namespace

void blank_comments(std::string& text) {
    const auto blank = [&text](std::size_t from, std::size_t to) {
        for (std::size_t n = from; n < std::min(to, text.size()); ++n)
            if (text[n] != '\n') text[n] = ' ';
    };
    for (std::size_t n = 0; n + 1 < text.size(); ++n) {
        if (text[n] != '/') continue;
        if (text[n + 1] == '/') blank(n, text.find('\n', n));
        if (text[n + 1] == '*') blank(n, text.find("*/", n) + 2);
    }
}

int Reader::line() {
    for (; counted < now; ++counted) ends += all[counted] == '\n';
    return 1 + ends;
}

void Reader::skip_space() {
    while (now < all.size() && std::isspace(static_cast<unsigned char>(all[now]))) ++now;
}

bool Reader::take(char c) {
    skip_space();
    if (now >= all.size() || all[now] != c) return false;
    ++now;
    return true;
}

std::string Reader::word(std::string_view beside_letters) {
    skip_space();
    const std::size_t from = now;
    while (now < all.size() &&
           (is_letter(all[now]) || beside_letters.find(all[now]) != std::string_view::npos))
        ++now;
    return std::string(all.substr(from, now - from));
}

// 12, -12, 0x1F, 0f3F800000 (PTX 4.5: the bits of a float)
Operand Reader::number(bool negative) {
    Operand operand;
    operand.kind = Operand::Kind::number;
    const std::string digits = word("");
    const bool is_float = digits.size() == 10 && (digits[1] == 'f' || digits[1] == 'F') && digits[0] == '0';
    std::size_t used = 0;
    try {
        operand.number = is_float ? std::stoull(digits.substr(2), &used, 16) : std::stoull(digits, &used, 0);
    } catch (const std::logic_error&) {
        throw NotUnderstood(line(), "not a number: " + digits);
    }
    if (used + (is_float ? 2 : 0) != digits.size() && digits.back() != 'U')
        throw NotUnderstood(line(), "not a number: " + digits);
    if (negative) operand.number = 0 - operand.number;
    return operand;
}

Operand Reader::operand() {
    Operand operand;
    if (take('{')) {
        operand.kind = Operand::Kind::vector;
        do operand.parts.push_back(this->operand());
        while (take(','));
        if (!take('}')) throw NotUnderstood(line(), "a vector without its end");
        return operand;
    }
    if (take('[')) {
        operand.kind = Operand::Kind::address;
        operand.name = word(".");
        if (take('+')) {
            const bool negative = take('-');
            operand.number = number(negative).number;
        }
        if (!take(']')) throw NotUnderstood(line(), "an address without its end");
        return operand;
    }
    skip_space();
    if (take('-')) return number(true);
    if (std::isdigit(static_cast<unsigned char>(all[now]))) return number(false);
    operand.name = word(".");
    if (operand.name.empty()) throw NotUnderstood(line(), "no operand: " + std::string(all.substr(now, 20)));
    return operand;
}

Statement Reader::next() {
    Statement statement;
    skip_space();
    if (now >= all.size()) throw NotUnderstood(line(), "a kernel has no end");
    statement.line = line();
    if (take('{')) return statement.kind = Statement::Kind::open, statement;
    if (take('}')) return statement.kind = Statement::Kind::close, statement;
    if (take('@')) {
        if (take('!')) statement.guard = "!";
        statement.guard += word("");
    }
    statement.word = word(".:");
    if (statement.word.empty()) throw NotUnderstood(statement.line, std::string(all.substr(now, 20)));
    if (statement.word.back() == ':') {
        statement.word.pop_back();
        return statement.kind = Statement::Kind::label, statement;
    }
    if (statement.word[0] == '.') {
        statement.kind = Statement::Kind::directive;
        // The places of the source end with their line, not with a semicolon
        const bool of_line = statement.word == ".loc" || statement.word == ".file";
        const std::size_t end = all.find(of_line ? '\n' : ';', now);
        statement.rest = std::string(all.substr(now, end - now));
        now = end + 1;
        return statement;
    }
    while (!take(';')) {
        statement.operands.push_back(operand());
        // d|p of shfl: two operands
        if (!take(',')) take('|');
    }
    return statement;
}

}  // namespace tilewalk::ptx
