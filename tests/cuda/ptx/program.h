// PTX as the machine holds it: a module is read from its text, and each kernel decoded when it is first
// launched.
//
// Written from NVIDIA's manual "Parallel Thread Execution ISA", version 9.0; "PTX 9.7.14" in a comment is its
// section.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::ptx {

/// What the machine does not know, or what a kernel must not do.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the text says that the machine does not know: nothing that a kernel does. No other Error begins so.
struct NotUnderstood : Error {
    NotUnderstood(int line, const std::string& what)
        : Error("Not understood: line " + std::to_string(line) + " of the PTX, " + what) {}
};

class Warp;
struct Instruction;
using Handler = void (*)(Warp& warp, const Instruction& instruction);

/// How an instruction goes on.
enum class Flow : std::uint8_t {
    next,
    branch,
    exit,
    trap,
    barrier,  ///< waits for the warps of the block
    warp,     ///< needs all lanes of the warp at once (.sync.aligned)
    members   ///< needs the lanes of its mask at once (.sync); the mask is the last operand
};

enum class Space : std::uint8_t { parameters, global, shared, local };

/// Registers are rows of a file: 32 lanes side by side, of 16, 32 or 64 bits; a predicate is a mask of lanes.
/// A row is named by the place where it begins, in words of 32 bits. Constants and special registers are
/// rows, too.
using Row = std::uint32_t;

struct Instruction {
    Handler run = nullptr;
    Flow flow = Flow::next;
    bool guarded = false, negated = false;
    bool wide = true;       ///< its address has 64 bits
    std::uint8_t mask = 0;  ///< which operand is the mask of Flow::members: the last
    Row guard = 0;
    std::array<Row, 14> at{};  ///< as in the text, vectors taken apart; an address is the row of its base
    std::array<std::int64_t, 2> offset{};  ///< of its addresses
    std::uint32_t target = 0;              ///< of a branch
    int line = 0;                          ///< of the PTX, from 1 on
};

enum class Special : std::uint8_t {
    tid_x,
    ntid_x,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid
};

struct Kernel {
    struct Constant {
        Row row;
        int bits;
        std::uint64_t value;
    };
    struct SpecialRow {
        Row row;
        Special which;
    };
    std::string name;  ///< as the module has it
    std::vector<Instruction> code;
    std::vector<Constant> constants;
    std::vector<SpecialRow> specials;
    std::vector<int> parameter_bytes, parameter_offsets;
    std::uint32_t file_words = 0;
    int local_bytes = 0, shared_bytes = 0;  ///< of each thread; of the block, beside those of the launch
    int most_threads = 0;                   ///< .maxntid; 0: not said
    const std::vector<std::string_view>* lines = nullptr;

    std::string_view text(int line) const { return (*lines)[static_cast<std::size_t>(line - 1)]; }
};

/// Where the state spaces begin. None at 0, and no two alike: what mixes them up is out of bounds.
constexpr std::uint64_t parameters_begin = 0x1000, shared_begin = 0x400, local_begin = 0x8000000;

/// The text of one file.
class Module {
public:
    explicit Module(std::string text);
    Module(const Module&) = delete;
    /// Names of kernels as plain_name() gives them.
    std::vector<std::string> names() const;
    bool has(const std::string& plain) const { return entries.count(plain) > 0; }
    const Kernel& kernel(const std::string& plain);

private:
    struct Entry {
        std::string name;
        std::size_t parameters, body;  ///< where they begin, after ( and {
    };
    void read_entries();

    std::string text;
    std::vector<std::string_view> lines;
    std::vector<std::string> shared_arrays;  ///< .extern .shared: all begin where the launch's bytes begin
    std::map<std::string, Entry> entries;
    std::map<std::string, Kernel> kernels;
};

/// A mangled name without what nvcc makes of a file's path and options for names that only this file knows.
std::string plain_name(const std::string& mangled);

}  // namespace tilewalk::ptx
