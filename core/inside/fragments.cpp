#include "core/inside/fragments.h"

#include "core/base/float16.h"

#include <bit>

namespace tilewalk::inside {

namespace {

constexpr int words_of_lane = 14, first_b = 4, first_before = 6, first_after = 10;

float float_at(std::span<const std::uint32_t> words, int lane, int word) {
    return std::bit_cast<float>(words[static_cast<std::size_t>(lane * words_of_lane + word)]);
}

}  // namespace

const PartInfo& info(Part part) {
    static constexpr PartInfo table[] = {{"A", 16, 16, 4}, {"B", 16, 8, 2}, {"C", 16, 8, 4}};
    return table[static_cast<std::size_t>(part)];
}

Holder holder(Part part, int row, int column) {
    switch (part) {
    case Part::A: return {row % 8 * 4 + column % 8 / 2, row / 8 + column / 8 * 2, column % 2};
    case Part::B: return {column * 4 + row % 8 / 2, row / 8, row % 2};
    default: return {row % 8 * 4 + column / 2, row / 8 * 2 + column % 2, 0};
    }
}

std::vector<FragmentCell> cells_of_lane(Part part, int lane) {
    const int g = lane / 4, q = lane % 4;
    std::vector<FragmentCell> cells;
    for (int reg = 0; reg < info(part).registers; ++reg) {
        if (part == Part::C) {
            cells.push_back(cell_of_register(lane, reg));
            continue;
        }
        for (int half = 0; half < 2; ++half) {
            if (part == Part::A)
                cells.push_back({g + reg % 2 * 8, 2 * q + half + reg / 2 * 8});
            else
                cells.push_back({2 * q + half + reg * 8, g});
        }
    }
    return cells;
}

float number16(std::uint32_t word, int half, DType type) {
    using namespace gpu::emulator;
    const auto bits = static_cast<std::uint16_t>(word >> (16 * half));
    return type == DType::f16 ? to_float(f16{bits}) : to_float(bf16{bits});
}

float Product::a(int row, int k) const {
    const Holder h = holder(Part::A, row, k);
    return number16(word(Part::A, h.lane, h.reg), h.half, type);
}

float Product::b(int k, int column) const {
    const Holder h = holder(Part::B, k, column);
    return number16(word(Part::B, h.lane, h.reg), h.half, type);
}

float Product::before(int row, int column) const {
    const Holder h = holder(Part::C, row, column);
    return float_at(words, h.lane, first_before + h.reg);
}

float Product::after(int row, int column) const {
    const Holder h = holder(Part::C, row, column);
    return float_at(words, h.lane, first_after + h.reg);
}

std::uint32_t Product::word(Part part, int lane, int reg) const {
    const int first = part == Part::A ? 0 : part == Part::B ? first_b : first_before;
    return words[static_cast<std::size_t>(lane * words_of_lane + first + reg)];
}

MatrixSource source_of_register(int lane, int reg, int half, bool transposed) {
    const int row = lane / 4, column = lane % 4 * 2 + half;
    return transposed ? MatrixSource{8 * reg + column, 2 * row} : MatrixSource{8 * reg + row, 2 * column};
}

}  // namespace tilewalk::inside
