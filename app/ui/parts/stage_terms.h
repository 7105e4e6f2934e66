// What stands on the stage of presenter mode: the matrices of a step in the order of its formula, and where
// they come from.
#pragma once

#include "app/ui/parts/matrix.h"
#include "core/walk/formula.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

/// One matrix of the equation.
struct StageTerm {
    Slot slot;
    const Value* value;       ///< as it was read, or as it was written
    int made = -1;            ///< the step that wrote it; −1: given
    int step = -1;            ///< at which it stands on stage
    int part = -1;            ///< of partial results and of shards, which have letters of their own: the tile
    const char* before = "";  ///< what stands at its left: "⊙", "exp("
    const char* after = "";   ///< a bracket that closes behind it
    bool transposed = false;
    bool result = false;
    bool old = false;      ///< the slot holds something else after this step
    bool leaves = false;   ///< what is read goes to HBM as it is
    bool of_many = false;  ///< other tiles of the matrix that start alike are not shown
};
/// What step k reads, as its formula has it, then what it writes. A load has what arrives, a store what goes.
std::vector<StageTerm> stage_terms(const Trace& trace, int k);
/// Of what a rank does alike to keys and values, or to several pieces of its shard, that which the formula is
/// about.
std::vector<StageTerm> stage_terms(const Trace& trace, int k, const Explanation& explanation);

/// It is what the result takes the place of: dQ grows in HBM and is added up on chip, two slots of one
/// quantity.
bool replaces(const StageTerm& result, const StageTerm& old);

/// One number that a step makes as a sum of products: what was there, shrunk, and a row or column of one
/// matrix times one of another.
struct CellSum {
    struct Factor {
        Slot slot;
        bool column;
        int line;  ///< which row or column, from 0
        std::vector<double> values;
    };
    Factor a, b;
    bool grows = false;  ///< something was there
    double before = 0, shrinks = 1, scale = 1, divisor = 1, total = 0;
    Slot slot = Slot::count;  ///< of the result
    Numbers shrinking = {};   ///< what shrinks it, number by number

    std::vector<double> terms() const;
    double products() const;  ///< without the scale
    /// They come to the total, as they do not in a walk that rounds.
    bool adds_up() const;
};
/// With all products as one number: "0.321 × (−3.544) + (−0.770)". Empty where it would say no more than the
/// total.
NumberLine brief_numbers(const Trace& trace, const CellSum& sum);
/// "1.000 × 7.3987 + 1.0906": the sum of the weights so far, and the new ones as one number; empty at another
/// step.
NumberLine brief_row_sum(const Trace& trace, int k, int row);
/// Of the cell in that row and column of the slot (or of the first result), as the stage's terms of step k
/// say; nothing where they are no such sum.
std::optional<CellSum> cell_sum(const Trace& trace, int k, int row, int col, Slot slot = Slot::count);

/// Its letter with the block, with "old" and ᵀ where they belong.
Line stage_symbol(const Trace& trace, const StageTerm& term);

/// Where a block lies on the strip of HBM.
struct StripPlace {
    Slot slot;
    int tile;
    Rect area;
};

/// What stands between two terms, its middle at that height. Both return its width.
float sign_width(std::string_view sign);
float draw_sign(const Canvas& canvas, float x, float middle, std::string_view sign);

/// How a chapter draws what lies on its stage, and from where it comes.
struct StageView {
    MatrixLook (*look)(const AppState&, Slot);
    void (*lens)(const Canvas&, AppState&, const Rect&);
    bool map = true;  ///< false: another map stands beside the stage
    std::vector<StripPlace> strip = {};
    float floor = 1e9f;       ///< what is stored goes no lower on its way
    float words_from = 1e9f;  ///< where words of rows may begin; set by the stage
};

/// The row (or column) of a term that the chosen cell is made from or lies in.
struct TermLine {
    Region cells;         ///< in the whole matrix
    int chosen = -1;      ///< the place along the line that alone counts; −1: all of it does
    bool column = false;  ///< it stands, and is drawn lying
    int length() const { return column ? cells.rows : cells.cols; }
    /// That many cells of it, from there.
    Region part(int first, int count) const;
};
TermLine term_line(const StageTerm& term, const Explanation& explanation);
/// The terms in the order in which they stand below each other: what the result replaces stands before it.
std::vector<StageTerm> zoom_order(std::vector<StageTerm> terms);

}  // namespace tilewalk::ui
