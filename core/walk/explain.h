// What a step means, in words and numbers. Window, command line, files and tests all ask this one function.
#pragma once

#include "core/walk/trace.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk {

/// One cell of a slot, in rows and columns of the whole matrix (S of tile (1, 0) starts at row Br, column 0).
struct CellRef {
    Slot slot = Slot::count;
    int row = 0, col = 0;
    bool operator==(const CellRef&) const = default;
};

/// A piece of a formula in one style. `plain()` gives the text without styles.
struct Span {
    enum class Face : std::uint8_t { text, symbol, number };
    enum class Script : std::int8_t { sub = -1, base = 0, super = 1 };
    std::string text;
    Role role = Role::none;  ///< the quantity whose hue it takes
    Face face = Face::text;
    Script script = Script::base;
    bool tilde = false;   ///< a tilde above the (single) letter
    bool strong = false;  ///< the result
};
using Line = std::vector<Span>;

/// A formula with its numbers, and what a reader who works out the shown ones arrives at.
struct NumberLine : Line {
    NumberLine() = default;
    NumberLine(Line line) : Line(std::move(line)) {}
    std::optional<double> comes_to;
};
/// The sign before its result, as that is shown: "=" where it holds to the last digit, else "≈".
const char* sign_before(const NumberLine& numbers, const std::string& shown);

/// UTF-8 text of a line: Q₀ with subscript digits, P̃ with a combining tilde.
std::string plain(const Line& line);

/// The same result reached another way, shown beside the step: "P = exp(S − m) / ℓ".
struct Aside {
    std::string label;  ///< "the same from m and ℓ"
    Line formula;
    NumberLine numbers;
    Line result;
};

struct Explanation {
    std::string title;   ///< "Row sum"
    std::string place;   ///< "tile (0, 1)" or "query block 0"
    Line formula;        ///< in symbols
    NumberLine numbers;  ///< the same with the stored values in place; empty when there is nothing to compute
    Line result;         ///< "ℓ = 1.639"; its last span is the shown number
    std::string why;     ///< one or two sentences
    int kind = 0;        ///< rows of a step whose `why` says different things have different kinds
    int code_line = -1;  ///< index into Lesson::code
    CellRef target;      ///< the cell that the numbers are about
    std::vector<CellRef> sources;  ///< the cells it came from, one step back
    int distance = 0;              ///< of a bias: how many positions lie between its query and its key
    std::vector<Aside> asides;     ///< mostly none
};

/// Explains step k of the trace for one written cell. Without a cell (or with one that this step did not
/// write) it takes the first cell that the step is about.
Explanation explain(const Trace& trace, int k, std::optional<CellRef> cell = {});

/// The cell of step k's tile in row `row` of the whole matrix and column `col` of the tile, both clamped to
/// what the step wrote. col < 0 leaves the choice to the step: the first masked cell of a mask, else column
/// 0.
CellRef cell_of_row(const Trace& trace, int k, int row, int col = -1);

/// The place of what step k is about, in its whole matrix; empty for a step that writes nothing.
Region step_region(const Trace& trace, int k);

/// What holds the cell after step k, in whichever tile of its slot it lies; nothing if no tile does.
Held holding(const Trace& trace, const CellRef& cell, int k);
/// The value of a cell in a tile that contains it.
double value_at(const Value& tile, const CellRef& cell);

/// Symbols for the timeline: "K V", "m̃", "÷ ℓ"; of a step as its lesson writes it.
Line step_symbol(Op op);
Line step_symbol(const Trace& trace, int k);
/// The slot as a symbol with the block index: Q₀, Kⱼ → K₁, P̃.
Line slot_symbol(Slot slot, int block = -1);
/// dS as that step has it: dS_cap while the slope of a softcap is not in it.
Line score_gradient(const Trace& trace, int step);
/// What step `step` put into the slot (−1: it was given), with the block or element below as the lesson's
/// formulas write it: Q₀, P̃, d′₃. A matrix in HBM gets one only if one tile of it is meant.
Line slot_symbol(const Trace& trace, Slot slot, int step, int tile = -1);
/// Rows and columns as people are told them.
struct Indices {
    std::vector<int> rows, cols;
};
/// Those of cells that step `made` put into the slot (−1: they were given). They are the rows and columns of
/// the cells, but where a tile on chip counts its rows from 0: the shards of a ring have those of the whole.
Indices indices(const Trace& trace, Slot slot, const Region& cells, int made);
/// "[0,2]", of one number for each row "[0]"; of several cells "[0,2…3]", where they do not follow each other
/// "[0…1 6…7]".
std::string index_text(const Trace& trace, Slot slot, const Region& cells, int made);
/// "S[0,2]", "ℓ[0]": the cell as it is called after step k.
std::string cell_text(const Trace& trace, const CellRef& cell, int k);
/// What is called so after step k; of several tiles the one that the step writes, then the one it reads, then
/// the latest. `row` and `col` are those that people are told.
std::optional<CellRef> cell_called(const Trace& trace, Slot slot, int row, int col, int k);
/// Slots of that name, or written with those letters; empty if there is none.
std::vector<Slot> slots_called(std::string_view name);
/// The most common way of a lesson to write its slots and its steps.
Line block_symbol(const Trace& trace, Slot slot, int step, int tile);
Line op_symbol(const Trace& trace, int k);

}  // namespace tilewalk
