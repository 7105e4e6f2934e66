// Two kernels on the same problem, side by side: what each asked of memory and of the units that the record
// counts, and what the idea of the one saves over the other, in words made of these numbers.
#pragma once

#include "core/inside/model_time.h"

#include <optional>

namespace tilewalk::inside {

/// Of all launches and all blocks of a record, but for the model of time.
struct Totals {
    std::string kernel, title, teaches;
    DType dtype = DType::f32;
    int launches = 0;  ///< that are walked through …
    int library = 0;   ///< … and products of the vendor's library, of which nothing is counted
    int Br = 0, Bc = 0, tiles = 0;
    std::int64_t loaded = 0, stored = 0;  ///< bytes that lanes asked of HBM
    std::int64_t sectors = 0;             ///< that loads and stores touched
    std::int64_t shared = 0;              ///< accesses of warps to shared memory
    std::int64_t turns = 0, least = 0;    ///< of the banks, and without conflicts
    std::int64_t barriers = 0;            ///< of blocks
    std::int64_t exps = 0;                ///< of lanes
    std::int64_t shuffles = 0;            ///< of warps
    std::int64_t products = 0;            ///< mma.m16n8k16 of warps, or as much by wgmma
    bool by_itself = false;  ///< TMA and wgmma go to shared memory by themselves, of which nothing is counted
    /// The longest path of each block, all added up, over the rows of Q: clocks. Nothing where the library
    /// has part in it, or where no block was timed or kept.
    std::optional<double> clocks_of_row{};
    int blocks = 0, timed_blocks = 0;  ///< fewer are timed: those stand for the others of their launch
};
constexpr int ladder_capability = 80;  ///< whose costs the model has: A100
Totals totals_of(const Record& record, const Costs& costs);
/// The model's time of its blocks: of all where the record has them by these costs, else of those it kept.
std::vector<std::int64_t> clocks_of_blocks(const Launch& launch, const Costs& costs);

/// A line of the table.
struct Measure {
    const char *id, *name;
    const char* noun;  ///< as a sentence has it: "bytes loaded from HBM"
    std::optional<double> (*of)(const Totals& totals);
    bool bytes;  ///< it shrinks with the type alone
};
std::span<const Measure> measures();
/// "4 096", "16.0 KiB", "—" where nothing is known.
std::string measure_text(const Measure& measure, const Totals& totals);

/// A measure of both. `change`: of the later over the earlier, less than 1 is saved; nothing where one of
/// them is not known or 0.
struct Compared {
    const Measure* measure;
    std::optional<double> before, after, change;
    bool less() const { return before && after && *after < *before; }
    bool more() const { return before && after && *after > *before; }
};
/// "41 %", "2.5 ×"; empty where nothing can be said.
std::string change_text(const Compared& compared);
std::vector<Compared> compare(const Totals& before, const Totals& after);

/// What the idea saved, what it costs, what is the same, and what cannot be said: a sentence each.
struct LadderWords {
    std::string saved, costs, same;
    std::vector<std::string> beside;  ///< the type, plain arithmetic, the library
};
LadderWords ladder_words(const Totals& before, const Totals& after);

}  // namespace tilewalk::inside
