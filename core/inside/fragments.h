// What lanes hold of the fragments of mma.m16n8k16, which multiplies C (16 × 8) += A (16 × 16) B (16 × 8)
// with 16-bit numbers in A and B (PTX ISA, "Matrix Fragments for mma.m16n8k16"). With g = lane / 4 and q =
// lane % 4, rows of A and C are g and g + 8; columns of A and rows of B are 2q, 2q + 1 and the same plus 8;
// columns of C are 2q and 2q + 1; the column of B is g.
#pragma once

#include "core/inside/record.h"

#include <array>

namespace tilewalk::inside {

enum class Part { A, B, C };
struct PartInfo {
    const char* name;
    int rows, columns;
    int registers;  ///< of a lane; of A and B each holds two numbers
};
const PartInfo& info(Part part);

/// Who holds a cell: the lane, its register, and of a register with two numbers which half.
struct Holder {
    int lane = 0, reg = 0, half = 0;
    bool operator==(const Holder&) const = default;
};
Holder holder(Part part, int row, int column);

struct FragmentCell {
    int row = 0, column = 0;
    bool operator==(const FragmentCell&) const = default;
};
/// What a lane holds: 8 cells of A, 4 of B, 4 of C, in the order of its registers.
std::vector<FragmentCell> cells_of_lane(Part part, int lane);

/// A 16-bit number of a register, as the kernel's type has it.
float number16(std::uint32_t word, int half, DType type);

/// The words of a product (Op::multiply_add) as matrices.
class Product {
public:
    Product(std::span<const std::uint32_t> of_event, DType of_type) : words(of_event), type(of_type) {}
    float a(int row, int k) const;
    float b(int k, int column) const;
    float before(int row, int column) const;
    float after(int row, int column) const;
    /// Registers of a lane: 4 of A, 2 of B.
    std::uint32_t word(Part part, int lane, int reg) const;

private:
    std::span<const std::uint32_t> words;
    DType type;
};

/// The cell of C that a lane holds in register 0 … 3.
inline FragmentCell cell_of_register(int lane, int reg) {
    return {lane / 4 + 8 * (reg / 2), lane % 4 * 2 + reg % 2};
}

/// ldmatrix: lanes 8m … 8m + 7 give the rows of the m-th 8 × 8 matrix; every lane gets two numbers of each of
/// the four, of row lane / 4, or with `transposed` of column lane / 4. This is whose row they are of, and
/// where in its 16 bytes the number lies.
struct MatrixSource {
    int lane = 0;  ///< that gave the address
    int byte = 0;  ///< in its row
};
MatrixSource source_of_register(int lane, int reg, int half, bool transposed);

}  // namespace tilewalk::inside
