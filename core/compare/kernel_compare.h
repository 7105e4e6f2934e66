// A kernel's own record beside the CPU's: three walks in the kernel's tile order, how far they are apart,
// whether that is within the rule, and the first number that rounding does not explain.
//
//   exact   in fp64, on the inputs as rounded to the kernel's type
//   cpu     the same steps, rounded where the kernel rounds
//   kernel  what it wrote down
#pragma once

#include "core/compare/kernel_trace.h"
#include "core/problem/precision.h"
#include "core/walk/explain.h"

#include <array>
#include <memory>

namespace tilewalk {

Format format_of(DType type);
/// Where a kernel of this type rounds: inputs, P̃ as it is multiplied and outputs to the type, all else to
/// fp32.
Precision kernel_precision(DType type);
/// The problem as the CPU walks through it beside the kernel.
Problem rounded_problem(const KernelTrace& trace);

/// |a − b| in units of the last place of the larger; 0 for equal ones (−∞ and −∞), ∞ where one of them is
/// not finite.
double ulp_distance(Format format, double a, double b);

/// One cell, three ways. Rows and columns count from the top left of the tile, or of the whole output.
struct KernelCell {
    int row = 0, column = 0;
    double exact = 0, cpu = 0, kernel = 0;
};

/// A quantity of a tile, or an output: how far the kernel is from the CPU's rounded walk.
struct KernelDistance {
    bool recorded = false;  ///< otherwise nothing below
    double largest = 0;     ///< |kernel − cpu|, ∞ for what is not finite on one side only
    double ulp = 0;         ///< in units of the last place, the largest
    KernelCell worst;       ///< where the difference is largest
    KernelCell worst_ulp;   ///< where the distance in ULP is
};

struct TileComparison {
    int i = 0, j = 0;
    bool visited = false;              ///< by the kernel
    bool in_the_walk = true;           ///< the mask leaves something of it
    std::array<KernelDistance, 6> of;  ///< in the order of kernel_quantities()
    const KernelDistance& operator[](KernelFault::Quantity quantity) const;
    double statistics_ulp() const;  ///< largest of m, ℓ and α
};

/// An output held against the rule: error ≤ factor · standard + floor.
struct OutputVerdict {
    Slot slot = Slot::O;
    double error = 0;      ///< max |x_kernel − x₆₄|
    double standard = 0;   ///< the same of standard attention in the kernel's type
    double factor = 2;     ///< 3 for gradients
    double floor = 0;      ///< two roundings of the largest element (L beside 16 bits: eight times
                           ///< that), and where P comes from L what two of L come to
    KernelCell worst;      ///< where the error is largest
    KernelDistance apart;  ///< from the CPU's rounded walk

    double limit() const { return factor * standard + floor; }
    bool passed() const { return error <= limit(); }
    double part() const;   ///< of the limit, for finding the one nearest to it
    double ratio() const;  ///< error ÷ standard; 0 if both are 0
};

/// The first number that the rounding of its own step does not explain, in the order of the walk.
struct KernelFinding {
    enum class Kind { none, value, extra_tile, missing_tile, output, log_sum };
    Kind kind = Kind::none;
    KernelFault::Quantity quantity = KernelFault::Quantity::none;
    int i = 0, j = 0;
    int row = 0, column = 0;  ///< within the tile; of O and L: of the whole
    double expected = 0;      ///< what the step gives from the numbers that the kernel had before it
    double found = 0;
    int step = -1;  ///< of the CPU's walk, from 0
    explicit operator bool() const { return kind != Kind::none; }
};

struct KernelComparison {
    std::shared_ptr<const KernelTrace> kernel;
    std::shared_ptr<const Trace> exact, cpu;  ///< flash-forward, or flash-backward for backward kernels
    std::vector<TileComparison> tiles;        ///< as the kernel's
    std::vector<OutputVerdict> outputs;       ///< O and L, or dQ, dK, dV
    KernelFinding finding;

    bool passed() const;
    bool within_rounding() const { return !finding; }
    /// The output nearest to its limit; L only where nothing else is beyond and it is.
    const OutputVerdict& nearest() const;
    const TileComparison* tile(int i, int j) const;
};

/// Refused with a sentence: what does not fit together, inputs that the type cannot hold, walks beyond the
/// step budget.
Result<KernelComparison> compare_kernel(std::shared_ptr<const KernelTrace> trace);

/// All cells of a quantity of a tile, three ways; `kernel` is empty where it was not recorded, and all are
/// where the walk skips the tile, or goes on where the kernel begins anew (all but S, after the first split).
struct ThreeWays {
    Matrix exact, cpu, kernel;
    KernelCell cell(int row, int column) const;
};
ThreeWays tile_values(const KernelComparison& comparison, KernelFault::Quantity quantity, int i, int j);
/// The same of an output, whole: O, L (one column), dQ, dK, dV.
ThreeWays output_values(const KernelComparison& comparison, Slot slot);
Format format_of(const KernelTrace& trace, KernelFault::Quantity quantity);
Format format_of(const KernelTrace& trace, Slot output);

/// The step of the walk that computes a quantity of tile (i, j) (the mask's, where it cuts S); −1 if there is
/// none.
int step_of(const Trace& walk, KernelFault::Quantity quantity, int i, int j);
/// The cell of that step that a cell of the tile is.
CellRef cell_of(const KernelTrace& trace, KernelFault::Quantity quantity, int i, int j, int row, int column);

// ---- In words

/// 0.0213, 1.77×10⁻⁷: three digits.
std::string three_digits(double x);
/// The limit with as many decimals as what is added up to it: "0.02805" for 2 · 0.00996 + 0.00813.
std::string limit_text(const OutputVerdict& output);
/// "max |O − O₆₄| = 7.80×10⁻⁴ ≤ 2 · 6.93×10⁻⁴ + 1.20×10⁻⁷ = 0.00139"
std::string formula_text(const OutputVerdict& output);
/// "first beyond rounding: P of tile (0, 1), row 3, column 5: 0.8123 against 0.8115", or "all within
/// rounding".
std::string finding_text(const KernelComparison& comparison);
/// Why an injected fault cannot be seen, or "" if there is none or it was found.
std::string fault_text(const KernelComparison& comparison);
/// "P of tile (0, 1), row 3, column 5 × 1.001"
std::string describe(const KernelFault& fault);
/// "f5-flash2, bf16, N = 4, d = 4 (filled up to 32 with zeros), tiles of 128 × 128, causal"
std::string describe(const KernelTrace& trace);

}  // namespace tilewalk
