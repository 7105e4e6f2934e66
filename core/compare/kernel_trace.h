// What a kernel wrote down about itself while it ran, tile by tile, in the words of the lessons' trace.
#pragma once

#include "core/base/dtype.h"
#include "core/problem/problem.h"
#include "core/walk/trace.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// One tile as the kernel held it after the tile: query block i, key block j. Rows beyond N and columns
/// beyond N_kv are cut away; S and m are scaled as in the lessons (S = scale · Q Kᵀ).
struct KernelTile {
    int i = 0, j = 0;
    bool visited = false;            ///< false: the mask removed it whole, and nothing below was written
    std::vector<float> m, l, alpha;  ///< Br each
    std::vector<float> S, P;  ///< Br × Bc, row-major; P as fed to the product with V; empty: not recorded
    std::vector<float> O;     ///< Br × d, not yet divided by ℓ; empty: not recorded
};

/// A number that a kernel was told to make wrong: x became x · (1 + amount).
struct KernelFault {
    enum class Quantity { none, S, m, alpha, P, l, O };
    Quantity quantity = Quantity::none;
    int i = 0, j = 0;
    int row = 0;      ///< within the tile
    int column = -1;  ///< within the tile; −1: the whole row
    double amount = 1e-3;
    bool operator==(const KernelFault&) const = default;
};

/// Where and when it ran.
struct KernelRun {
    std::string device;       ///< "emulator", "cuda"
    std::string device_name;  ///< "NVIDIA H200"; of the emulator the CPU's name
    std::string driver;       ///< empty for the emulator
    std::string date;         ///< UTC, "2026-11-21 22:10"
    std::string version, commit;
    std::string command;  ///< that repeats it; may be empty
};

/// One head of one kernel's run.
struct KernelTrace {
    std::string kernel, title;  ///< "f5-flash2", its title
    KernelRun run;
    DType dtype = DType::f32;
    /// What was asked for: Q, K, V (dO) as given, in double; Br, Bc are the kernel's own. The kernel had them
    /// rounded to dtype, and padded with zeros to the d that it takes.
    Problem problem;
    int kernel_d = 0;  ///< the head dimension that it ran with
    bool backward = false;
    bool P_from_L = false;  ///< backward: P = exp(S − L), from the float32 L alone
    KernelFault fault;
    std::vector<KernelTile> tiles;  ///< i-major, all Tr · Tc; empty for kernels without tiles or twin
    int split_blocks = 0;  ///< key blocks of a split, in which m, ℓ and O begin anew; 0: one walk over all
    std::vector<float> O, L;        ///< N × d, N
    std::vector<float> dQ, dK, dV;  ///< backward: N × d, N_kv × d, N_kv × d
};

/// A quantity of a tile as the lesson flash-forward knows it: where it holds it, and the step that computes
/// it.
struct KernelQuantityInfo {
    const char* name;   ///< on the command line and in files: "alpha"
    const char* title;  ///< "correction"
    Slot slot;
    Op op;
};
const KernelQuantityInfo& info(KernelFault::Quantity quantity);
/// S, m, alpha, P, l, O: in the order of the steps.
std::span<const KernelFault::Quantity> kernel_quantities();
std::optional<KernelFault::Quantity> find_quantity(std::string_view name);
const std::vector<float>& values_of(const KernelTile& tile, KernelFault::Quantity quantity);

int tile_rows(const Problem& problem, int i);     ///< Br, fewer in a ragged tail
int tile_columns(const Problem& problem, int j);  ///< Bc, fewer in a ragged tail
/// Numbers in a row of the quantity: 1 (m, ℓ, α), those of a tile of S and P, or d.
int quantity_width(const KernelTrace& trace, KernelFault::Quantity quantity, int j);
/// Whether block j lies in a split after the first: m, ℓ, α, P̃ and O are not those of one walk over all keys.
bool in_later_split(const KernelTrace& trace, int j);
/// Null for kernels without tiles, and beyond the last.
const KernelTile* find_tile(const KernelTrace& trace, int i, int j);

/// A sentence if the parts do not fit together: read from files, they may say anything.
std::optional<std::string> refuse(const KernelTrace& trace);

}  // namespace tilewalk
