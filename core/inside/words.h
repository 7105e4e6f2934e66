// What a step of a warp is called, and what it does, in words with its own numbers.
#pragma once

#include "core/inside/accesses.h"
#include "core/inside/origin.h"

namespace tilewalk::inside {

struct StepWords {
    std::string title;        ///< "Multiply fragments"
    std::string instruction;  ///< "mma.m16n8k16", as machines call it
    std::string note;         ///< "lanes 0–31; 4 turns of the banks, no conflict"
    std::string why;          ///< one or two sentences
};
/// `about`: what the step is about (Origins::matter), where that changes the words.
StepWords words_of_step(const Record& record, const BlockRecord& block, const Event& event,
                        Matter about = Matter::none);

/// "20–23", "2, 6, …, 30" where lanes lie as far from each other.
std::string spaced_lanes(std::uint32_t lanes);

/// What is counted of a line: "ld" for a narrow column, and "512 loads".
const char* mnemonic(Op op);
std::string times_text(int times, Op op);

/// Where lanes ask a bank for the same word: "all lanes read the same word: it is handed to all". Empty: each
/// asks for its own.
std::string broadcast_text(const Access& access, int bytes);

/// How far a kernel of the user's own is: "my.cu runs: 3 blocks done, 12 s"; −1 blocks: it is compiled.
std::string own_run_words(const std::string& name, int blocks_done, int seconds);

/// "Q[19, 48]"; of one number for each row "L[19]". Brackets count rows and columns, subscripts tiles.
std::string element_text(const Record& record, const Element& element);
/// "Q[0…63]": these rows.
std::string rows_text(const std::string& name, int first, int last);
/// "shared 0x9c0", "Q[19, 48]"; empty: no address.
std::string short_address(const Record& record, std::uint32_t address);

/// What the words of a lane mean: {"x", "1.25"}, {"address", "0x1230"}. Empty: it does not take part.
struct LaneWord {
    std::string name, value;
};
/// `about`: what the step is about (Origins::matter): of L and D numbers of 4 bytes, whatever type K has.
std::vector<LaneWord> lane_words(const Record& record, const BlockRecord& block, const Event& event, int lane,
                                 Matter about = Matter::none);

}  // namespace tilewalk::inside
