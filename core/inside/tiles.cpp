#include "core/inside/tiles.h"

#include "core/base/shared_tiles.h"
#include "core/inside/accesses.h"

#include <bit>

namespace tilewalk::inside {

namespace {

constexpr std::uint32_t depth = 16, chunk_columns = 8;  // of a product; of 16 bytes

}  // namespace

std::span<const std::uint32_t> taken_numbers(Op op, std::span<const std::uint32_t> words) {
    switch (op) {
    case Op::exp2:
    case Op::exp:
    case Op::log:
    case Op::from_float:
    case Op::shuffle: return words.first(1);
    case Op::pack: return words.first(2);
    case Op::store: return words.subspan(1);
    default: return {};
    }
}

TileFetch::TileFetch(std::span<const std::uint32_t> w)
    : to(w[0]), from(w[1]), rows(w[2]), row_bytes(w[3]), stride(w[4]), barrier(w[5]), phase(w[6]),
      box_bytes(w[7]) {}

std::int64_t TileFetch::sectors() const {
    std::int64_t all = 0;
    for (std::uint32_t r = 0; r < rows && row_bytes > 0; ++r) {
        const std::uint32_t begin = from + r * stride;
        all += (begin + row_bytes - 1) / sector_bytes - begin / sector_bytes + 1;
    }
    return all;
}

std::uint32_t TileFetch::source(std::uint32_t address) const {
    const std::uint32_t at = swizzled(address) - to;  // the swizzle undoes itself
    const std::uint32_t row = at / tile_row_bytes, byte = at % tile_row_bytes;
    return row < rows && byte < row_bytes ? from + row * stride + byte : 0;
}

TileProduct::TileProduct(std::span<const std::uint32_t> w)
    : A(w[0] | std::uint64_t(w[1]) << 32), B(w[2] | std::uint64_t(w[3]) << 32),
      columns(static_cast<int>(w[4])), adds(w[5] != 0), A_in_registers(A == 0), group(w[6]), sums(w[7]) {}

std::vector<std::uint32_t> TileProduct::chunks_of_A(int warp) const {
    std::vector<std::uint32_t> chunks;
    const TileDescriptor of(A);
    const auto first = static_cast<std::uint32_t>(warp % 4) * 16;
    for (std::uint32_t row = 0; !A_in_registers && row < 16; ++row)
        for (std::uint32_t k = 0; k < depth; k += chunk_columns)
            chunks.push_back(of.along_columns(first + row, k));
    return chunks;
}

std::vector<std::uint32_t> TileProduct::chunks_of_B() const {
    std::vector<std::uint32_t> chunks;
    const TileDescriptor of(B);
    const auto all = static_cast<std::uint32_t>(columns);
    if (A_in_registers) {
        for (std::uint32_t k = 0; k < depth; ++k)
            for (std::uint32_t n = 0; n < all; n += chunk_columns) chunks.push_back(of.along_rows(k, n));
        return chunks;
    }
    for (std::uint32_t n = 0; n < all; ++n)
        for (std::uint32_t k = 0; k < depth; k += chunk_columns) chunks.push_back(of.along_columns(n, k));
    return chunks;
}

float TileSums::at(int lane, int reg) const {
    return std::bit_cast<float>(words[static_cast<std::size_t>(lane * of_lane + first_sum + reg)]);
}

float TileSums::value(int row, int column) const {
    const Holder h = holder(row, column);
    return at(h.lane, h.reg);
}

Holder TileSums::holder(int row, int column) {
    Holder h = inside::holder(Part::C, row, column % 8);
    h.reg += column / 8 * info(Part::C).registers;
    return h;
}

FragmentCell TileSums::cell(int lane, int reg) {
    const int eighth = reg / info(Part::C).registers;
    FragmentCell cell = cell_of_register(lane, reg % info(Part::C).registers);
    cell.column += 8 * eighth;
    return cell;
}

}  // namespace tilewalk::inside
