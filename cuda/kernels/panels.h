// Matrices in shared memory as TMA lays them down and wgmma takes them from there: panels of 64 columns, of
// which a row is 128 bytes. Its 16-byte chunks are swizzled by both units (shared_tiles.h), by the kernel
// never.
#pragma once

#include "cuda/device/device.h"
#include "cuda/kernels/fragments.h"

namespace tilewalk::gpu::BACKEND {

/// rows × d elements of 16 bits. `base` is a multiple of 1024: there the swizzle begins anew.
template <int rows, int d> struct Panels {
    static_assert(d % 64 == 0 && rows % 8 == 0);
    static constexpr int row_bytes = 128, eight_rows = 8 * row_bytes, panel_bytes = rows * row_bytes;
    static constexpr int bytes = d / 64 * panel_bytes;
    unsigned char* base;

    /// Fetches rows first … of one head; zeros beyond its last. The barrier hears of `bytes`.
    DEVICE void fetch(const TensorMap& map, MBarrier* barrier, int first, int head, int batch) const {
        UNROLL
        for (int p = 0; p < d / 64; ++p)
            fetch_tile(base + p * panel_bytes, map, barrier, 64 * p, first, head, batch);
    }

    /// The k-th 16 columns of the rows from `row` on, as wgmma takes a factor whose columns are summed over.
    DEVICE std::uint64_t along_columns(int row, int k) const {
        return described(base + k / 4 * panel_bytes + row * row_bytes + k % 4 * 32, 16);
    }
    /// The k-th 16 rows of all columns, whose rows are summed over.
    DEVICE std::uint64_t along_rows(int k) const { return described(base + 16 * k * row_bytes, panel_bytes); }

private:
    /// The descriptor (PTX ISA, "Matrix Descriptor"): where it begins, the bytes from 64 columns to the next
    /// 64 and from eight rows to the next eight, all in units of 16, and the swizzle of 128 bytes.
    DEVICE static std::uint64_t described(const unsigned char* begin, int next_columns) {
        const auto units = [](std::uint32_t bytes_of) { return std::uint64_t(bytes_of >> 4 & 0x3FFF); };
        return units(shared_address(begin)) | units(static_cast<std::uint32_t>(next_columns)) << 16 |
               units(eight_rows) << 32 | std::uint64_t(1) << 62;
    }
};

}  // namespace tilewalk::gpu::BACKEND
