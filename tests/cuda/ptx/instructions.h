// What the machine can do: a row for each opcode as PTX writes it, with its operands and a function that does
// it for the lanes of a warp.
#pragma once

#include "tests/cuda/ptx/program.h"

#include <string>
#include <unordered_map>

namespace tilewalk::ptx {

struct InstructionInfo {
    /// A letter for each operand, in the order of the text, vectors taken apart: p predicate, h 16 bits, w
    /// 32, q 64, a an address, t the target of a branch, 0 the number 0. The decoder holds the registers of a
    /// program against them.
    std::string operands;
    Handler run = nullptr;
    Flow flow = Flow::next;
};
using InstructionTable = std::unordered_map<std::string, InstructionInfo>;

/// All of them.
const InstructionTable& instruction_table();

// Its groups, a file each
void add_integers(InstructionTable& table);
void add_floats(InstructionTable& table);
void add_logic(InstructionTable& table);
void add_conversions(InstructionTable& table);
void add_memory(InstructionTable& table);
void add_copies(InstructionTable& table);
void add_matrices(InstructionTable& table);
void add_control(InstructionTable& table);

}  // namespace tilewalk::ptx
