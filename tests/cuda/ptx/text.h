// The text of PTX as statements: what stands between semicolons, its operands told apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::ptx {

struct Operand {
    enum class Kind { name, number, address, vector };
    Kind kind = Kind::name;
    std::string name;            ///< register, symbol or label; of an address its base
    std::uint64_t number = 0;    ///< bits; of an address the offset
    std::vector<Operand> parts;  ///< of a vector
};

struct Statement {
    enum class Kind { instruction, directive, label, open, close };
    Kind kind = Kind::instruction;
    int line = 0;
    std::string word;   ///< opcode, or directive with its dot, or label
    std::string guard;  ///< "%p1", "!%p1" or empty
    std::vector<Operand> operands;
    std::string rest;  ///< of a directive: what follows its word
};

/// Walks over a text without comments.
class Reader {
public:
    Reader(std::string_view text, std::size_t at) : all(text), now(at) {}
    /// The next statement of a kernel's body.
    Statement next();
    std::size_t position() const { return now; }
    int line();

private:
    void skip_space();
    std::string word(std::string_view beside_letters);
    Operand operand();
    Operand number(bool negative);
    bool take(char c);

    std::string_view all;
    std::size_t now, counted = 0;  ///< line ends before `counted` are in `ends`
    int ends = 0;
};

/// Comments become spaces, so that lines and places stay.
void blank_comments(std::string& text);

}  // namespace tilewalk::ptx
