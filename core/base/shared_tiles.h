// Tiles in shared memory as Hopper's copies and tensor cores find their way in them (PTX ISA, "Tensor
// Swizzling Modes" and "Matrix Descriptor" of wgmma). Rows of 128 bytes, which are eight chunks of 16.
#pragma once

#include <cstdint>

namespace tilewalk {

constexpr int tile_row_bytes = 128;

/// Where a byte really lies: the chunks of a row change places, by XOR with the row modulo 8. Addresses count
/// from a multiple of 1024.
constexpr std::uint32_t swizzled(std::uint32_t address) { return address ^ (address >> 7 & 7) << 4; }

/// What the 64 bits of a descriptor say, in bytes.
struct TileDescriptor {
    std::uint32_t address = 0;  ///< before the swizzle
    std::uint32_t leading = 0;  ///< from 64 columns to the next 64, where rows are summed over
    std::uint32_t stride = 0;   ///< from eight rows to the next eight
    bool swizzles = false;      ///< in the way above; other ways are not used here

    constexpr explicit TileDescriptor(std::uint64_t bits)
        : address(field(bits, 0)), leading(field(bits, 16)), stride(field(bits, 32)),
          swizzles(bits >> 62 == 1) {}

    /// Of an operand whose columns are summed over: where element (row, k) lies.
    constexpr std::uint32_t along_columns(std::uint32_t row, std::uint32_t k) const {
        return swizzled(address + row / 8 * stride + row % 8 * tile_row_bytes + 2 * k);
    }
    /// Of one whose rows are: where element (k, column) lies.
    constexpr std::uint32_t along_rows(std::uint32_t k, std::uint32_t column) const {
        return swizzled(address + column / 64 * leading + k / 8 * stride + k % 8 * tile_row_bytes +
                        2 * (column % 64));
    }

private:
    /// 14 bits, in units of 16 bytes.
    static constexpr std::uint32_t field(std::uint64_t bits, int at) {
        return static_cast<std::uint32_t>(bits >> at & 0x3FFF) << 4;
    }
};

}  // namespace tilewalk
