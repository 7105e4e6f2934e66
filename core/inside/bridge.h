// Which lane holds a number of the lesson flash-forward, and behind which step: m, α, ℓ, S, P̃ and the running
// O of a row. The traced twin of a kernel writes these down where it has them (RECORD in cuda/kernels), so a
// record of the twin says which lane that was, and with which bits. The twin is the kernel with these stores
// between its steps: without them its steps are the kernel's. The step that made the number is the lane's
// last one before the store that gave just these bits. So no line of the source is known here.
//
// What lies in device memory (elements of Q, K, V, O, L) is found by its address.
#pragma once

#include "core/base/result.h"
#include "core/compare/kernel_trace.h"
#include "core/inside/steps.h"

#include <limits>
#include <map>
#include <optional>

namespace tilewalk::inside {

using Quantity = KernelFault::Quantity;

/// The name of the memory that a twin writes a quantity to: "twin alpha".
std::string twin_region(Quantity quantity);

/// A number of flash-forward that a kernel has as well. Rows are queries of the whole problem, columns keys
/// (S, P̃) or columns of V (O); m, α and ℓ have column 0. `tile`: the kernel's block of keys behind which m,
/// α, ℓ and O are meant.
struct Number {
    Quantity quantity = Quantity::none;
    int row = 0, column = 0, tile = 0;
    auto operator<=>(const Number&) const = default;  // NOLINT(modernize-use-nullptr)
};
/// "alpha of row 3", "S of row 3, column 5"
std::string number_text(const Number& number);

/// Of a tile that is fetched by itself no number is written down.
constexpr float unknown_value = std::numeric_limits<float>::quiet_NaN();

/// Where a kernel holds it.
struct HeldAt {
    enum class How : std::uint8_t {
        given,   ///< the step gives it: a product, an exponential, a shuffle
        stored,  ///< made by plain arithmetic; the step stores it to shared memory
        behind,  ///< made by plain arithmetic, which is not written down, behind this step and before the
                 ///< next
        parts,   ///< the same, and several lanes have a part of the sum each: `lanes`
        loaded,  ///< an element of device memory: the step reads it from there, …
        written  ///< … or writes it there
    };
    How how = How::behind;
    int launch = 0, warp = 0, step = 0, lane = 0;  ///< launch: of Record::launches
    int word = -1;            ///< of the lane's words of that step; −1: none of them is the number
    std::uint32_t lanes = 0;  ///< that share it: the same number, or a part each
    float value = 0;          ///< as the lane has it: m and S without the scale
};

/// The numbers that one block of a kernel holds, and back.
class Bridge {
public:
    /// Records of the kernel and of its twin on one problem, with the same block kept; a sentence if their
    /// steps do not fit. Rows and keys beyond the problem (N, N_kv, d) are left out.
    static Result<Bridge> make(const Record& kernel, const Record& twin, const Problem& problem);

    /// Nothing: this block does not compute it.
    std::optional<HeldAt> find(const Number& number) const;
    /// The block of the launch that computes it; −1: none does (the mask removes its tile).
    int block_of(const Number& number) const;

    /// A number, and where it is held.
    struct Entry {
        Number number;
        HeldAt held;
    };
    /// The numbers of this lane that the step gives, and those made behind it; the first of them is that of
    /// `word`, if there is one of it.
    /// m, α and ℓ of a row are those of all lanes that share them, though the twin writes them down in one.
    std::vector<Entry> at(int launch, int warp, int step, int lane, int word = -1) const;
    /// The next of this lane's numbers from this step on, or else its last one; nothing: it has none.
    std::optional<Entry> next(int launch, int warp, int step, int lane) const;
    const std::vector<Entry>& all() const { return entries; }
    int Br() const { return tile_rows; }
    int Bc() const { return tile_columns; }

private:
    class Maker;
    void sort();

    std::vector<Entry> entries;  ///< by launch, warp, lane and step
    std::vector<Entry> shared;   ///< m, α and ℓ in the other lanes that share them, in the same order
    std::map<Number, std::size_t> by_number;
    std::map<Number, int> blocks;  ///< of m alone, by row and tile
    int tile_rows = 0, tile_columns = 0;
};

/// The first step of a block that reads or writes this element of a named matrix in device memory, where its
/// bits are those of an access.
std::optional<HeldAt> find_element(const Record& record, const BlockRecord& block, const Steps& steps,
                                   const std::string& region, int row, int column, bool writes);

/// The block that writes this element last; −1: none does.
int block_of_element(const Record& record, const std::string& region, int row, int column);

}  // namespace tilewalk::inside
