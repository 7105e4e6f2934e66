// Tiles and products of Hopper in a record: what a fetch writes, what a product reads of shared memory.
#pragma once

#include "core/inside/record.h"

namespace tilewalk::inside {

/// The words of Op::fetch_tile. Rows of the box that lie outside of the matrix are zeros and read nothing.
struct TileFetch {
    std::uint32_t to = 0, from = 0;  ///< from: the first element, 0 if no row lies inside
    std::uint32_t rows = 0;          ///< of the matrix
    std::uint32_t row_bytes = 0, stride = 0;
    std::uint32_t barrier = 0, phase = 0;
    std::uint32_t box_bytes = 0;  ///< that it writes

    explicit TileFetch(std::span<const std::uint32_t> words);
    /// Of HBM, that its rows touch.
    std::int64_t sectors() const;
    bool holds(std::uint32_t address) const { return address >= to && address - to < box_bytes; }
    /// Which byte of device memory comes to this address of shared memory; 0: a zero does.
    std::uint32_t source(std::uint32_t address) const;
};

/// The words of Op::multiply_async, of any lane: descriptors are the same for all.
struct TileProduct {
    std::uint64_t A = 0, B = 0;
    int columns = 0;
    bool adds = false, A_in_registers = false;
    std::uint32_t group = 0;

    explicit TileProduct(std::span<const std::uint32_t> words);
    /// The 16-byte chunks of shared memory that the 16 rows of one warp read: of A, and of B.
    std::vector<std::uint32_t> chunks_of_A(int warp) const;
    std::vector<std::uint32_t> chunks_of_B() const;
};

}  // namespace tilewalk::inside
