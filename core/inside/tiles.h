// Tiles and products of Hopper in a record: what a fetch writes, what a product reads of shared memory, and
// what it has summed up when it is waited for.
#pragma once

#include "core/inside/fragments.h"

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
    std::uint32_t bytes_read() const { return rows * row_bytes; }
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
    std::uint32_t sums = 0;  ///< which array of the lane's registers it adds to

    explicit TileProduct(std::span<const std::uint32_t> words);
    /// The 16-byte chunks of shared memory that the 16 rows of one warp read: of A, and of B.
    std::vector<std::uint32_t> chunks_of_A(int warp) const;
    std::vector<std::uint32_t> chunks_of_B() const;
};

/// The words of Op::wait_products, of all lanes: what the products have summed up, as the warp holds it, 16
/// rows of so many columns. Eight columns lie as C of mma.m16n8k16 does (fragments.h), four in each lane.
class TileSums {
public:
    static constexpr int first_sum = 3;  ///< among the words of a lane

    TileSums(const Event& event, std::span<const std::uint32_t> of_event)
        : words(of_event), of_lane(event.words) {}
    std::uint32_t groups() const { return words[1]; }  ///< waited for
    std::uint32_t sums() const { return words[2]; }    ///< as TileProduct::sums
    int registers() const { return of_lane - first_sum; }
    int columns() const { return 2 * registers(); }
    float at(int lane, int reg) const;
    float value(int row, int column) const;
    static Holder holder(int row, int column);
    static FragmentCell cell(int lane, int reg);

private:
    std::span<const std::uint32_t> words;
    int of_lane;
};

/// While a product is under way its sums are no numbers: each register holds a NaN that says which it is. It
/// goes through plain arithmetic as it is, so that a step that takes it tells what it was made of.
constexpr std::uint32_t held_back = 0x7FFE0000, held_back_bits = 0x7FFF0000;
constexpr std::uint32_t mark_of(const SumRegister& at) { return held_back | at.sums << 8 | at.reg; }
constexpr std::optional<SumRegister> marked(std::uint32_t word) {
    if ((word & held_back_bits) != held_back) return std::nullopt;
    return held_register(word);
}
/// The words of a lane that it takes from its registers as numbers of 32 bits.
std::span<const std::uint32_t> taken_numbers(Op op, std::span<const std::uint32_t> words);

/// Where the sums of a product stand among the words of a lane, which they end: of multiply_add, and of the
/// wait that brings those of products in the background; −1: the step gives none.
constexpr int first_sum(Op op) {
    constexpr int of_fragments = 10;
    return op == Op::multiply_add ? of_fragments : op == Op::wait_products ? TileSums::first_sum : -1;
}

}  // namespace tilewalk::inside
