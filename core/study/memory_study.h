// What attention costs at sizes that nobody walks through: closed forms over N, d, tiles and element size,
// without matrices and without a mask. Held against memory_model.h, and so against the traces, by test.
#pragma once

#include "core/lessons/shared/memory_model.h"
#include "core/study/hardware.h"
#include "core/walk/trace.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

/// One head of attention: Q and O are N × d, K and V are N_kv × d, tiles are Br × Bc. Counts stay within 64
/// bits up to `largest_N` and `largest_d`.
struct Shape {
    std::int64_t N = 16384, N_kv = 16384, d = 64;
    std::int64_t Br = 128, Bc = 128;
    int element_bytes = 2;

    std::int64_t Tr() const { return (N + Br - 1) / Br; }
    std::int64_t Tc() const { return (N_kv + Bc - 1) / Bc; }
};
constexpr std::int64_t largest_N = 1 << 24, largest_d = 1024, largest_heads = 1 << 16,
                       largest_batch = 1 << 16;

enum class Algorithm : std::uint8_t { standard, flash1, flash2 };
inline constexpr std::array algorithms = {Algorithm::standard, Algorithm::flash1, Algorithm::flash2};
const char* algorithm_name(Algorithm algorithm);  ///< "Standard", "FlashAttention-1", "FlashAttention-2"
const char* algorithm_id(Algorithm algorithm);    ///< "standard", "flash-1", "flash-2"

// ---- Bytes through HBM

/// What one quantity adds to the traffic of one head, in bytes.
struct Share {
    const char* name;  ///< "Q", "S", "m ℓ"
    Role role;
    std::int64_t read = 0, write = 0;
    std::int64_t total() const { return read + write; }
};
/// Forward pass of one head. standard: three kernels, S and P written and read back. flash1: FlashAttention
/// (arXiv:2205.14135), Algorithm 1; key blocks outside, Q, O, m, ℓ re-read and O, m, ℓ re-written for each.
/// flash2: FlashAttention-2 (arXiv:2307.08691), Algorithm 1; query blocks outside, K and V re-read.
std::vector<Share> forward_shares(Algorithm algorithm, const Shape& shape);
/// Sums of the shares.
TrafficModel forward_traffic(Algorithm algorithm, const Shape& shape);

/// One of standard attention's three kernels: what it fetches and what it leaves in HBM.
struct Trip {
    const char *reads, *writes;  ///< "Q, K", "S"
    std::int64_t read, write;    ///< bytes
};
std::array<Trip, 3> standard_trips(const Shape& shape);

// ---- Arithmetic and time

/// 4 · N · N_kv · d: the two matrix products, a multiplication and an addition per term.
std::int64_t matmul_flops(const Shape& shape);
/// 5 · N · N_kv: per score one maximum, subtraction, exponential, addition and division. These run outside
/// the tensor cores and are in no bound below.
std::int64_t softmax_flops(const Shape& shape);

/// The roofline: nothing runs faster than the bytes that it does fetch from HBM, or its matrix products,
/// allow.
struct Bound {
    double bytes = 0, flops = 0;
    double memory_s = 0, compute_s = 0;  ///< bytes / bandwidth, flops / peak
    double intensity = 0;                ///< FLOP per byte of HBM traffic
    double attainable = 0;               ///< FLOP/s: min(peak, bandwidth · intensity)
    double seconds() const { return memory_s > compute_s ? memory_s : compute_s; }
    bool memory_bound() const { return memory_s > compute_s; }
};
Bound bound(double bytes, double flops, const Hardware& hardware, int element_bytes);
/// FLOP per byte at which a GPU is busy with both.
double ridge(const Hardware& hardware, int element_bytes);

/// HBM accesses in elements up to a constant: Θ(N d + N²) and Θ(N² d² / M), M in elements
/// (arXiv:2205.14135, Theorem 2; stated there for d ≤ M ≤ N d).
struct Growth {
    double standard = 0, flash = 0, M = 0;
    bool stated = false;  ///< d ≤ M ≤ N d
};
Growth growth(const Shape& shape, double sram_bytes);

// ---- Tiles

/// How Br and Bc come about. square: the largest square tile whose buffers all fit into shared memory.
/// paper: Bc = ⌈M / 4d⌉, Br = min(Bc, d), M in elements (arXiv:2205.14135, Algorithm 1, line 1).
enum class TileRule : std::uint8_t { given, square, paper };
struct Tile {
    std::int64_t Br = 1, Bc = 1;
};
Tile paper_tile(double sram_bytes, std::int64_t d, int element_bytes);
/// At least 1 × 1, also where not even that fits.
Tile square_tile(double sram_bytes, std::int64_t d, int element_bytes);

/// Bytes that a tile keeps on chip: operands Q, K, V, and in fp32 S, P, O, m, ℓ, m̃, α, as the walk
/// keeps them.
struct TileNeed {
    std::int64_t operands = 0, sums = 0;
    std::int64_t total() const { return operands + sums; }
};
TileNeed tile_need(const Shape& shape);
/// shared: all of it in shared memory. registers: with S, P and O in registers, as FlashAttention-2's kernels
/// keep them. none: not on one SM.
enum class TileFit : std::uint8_t { shared, registers, none };
TileFit tile_fit(const Shape& shape, const Hardware& hardware);

// ---- Memory

/// Largest N whose S and P (heads · batch pairs of N × N matrices) fit into `capacity` bytes, exactly.
std::int64_t largest_N_standard(double capacity, int element_bytes, std::int64_t heads, std::int64_t batch);
/// The same for what the flash forward pass keeps: Q, K, V, O and L.
std::int64_t largest_N_flash(double capacity, std::int64_t d, int element_bytes, std::int64_t heads,
                             std::int64_t batch);

/// One row of the N² table.
struct ScoreRow {
    std::int64_t N = 0;
    double one_head = 0;  ///< S of one head, bytes
    double all = 0;       ///< S and P of all heads
    double flash = 0;     ///< L of all heads
    bool fits = false;    ///< `all` into the capacity
};

// ---- All of it

struct StudyInput {
    Hardware hardware = hardware_list().front();
    std::int64_t N = 16384, d = 64, heads = 16, batch = 1;
    int element_bytes = 2;
    TileRule rule = TileRule::given;
    Tile tile{128, 128};                ///< for TileRule::given
    std::vector<std::int64_t> lengths;  ///< rows of the table; empty: 512 … 131 072 in powers of two, and N
};
/// Nothing, or one sentence that names what is out of range.
std::optional<std::string> refuse(const StudyInput& input);

/// What FlashAttention-2 moves with tiles of this height, at one N and d.
struct TileRow {
    std::int64_t Br = 0, bytes = 0;
    double saving = 0;  ///< bytes of standard attention over its bytes
};
/// Heights in powers of two from 2 to 512 (none above N), and the one that is set.
std::vector<TileRow> tile_rows(const Shape& shape);
/// "0.063", "4.0": standard attention's bytes over another's.
std::string saving_text(double saving);
/// The least height from which FlashAttention-2 moves no more than standard attention; N + 1 if none does.
std::int64_t least_height_that_pays(const Shape& shape);

struct AlgorithmStudy {
    Algorithm algorithm;
    std::vector<Share> shares;  ///< one head
    TrafficModel traffic;       ///< one head
    Bound bound;                ///< all heads, every fetch from HBM
};
struct Study {
    StudyInput input;
    Shape shape;  ///< one head, with the tile that the rule gives
    std::vector<ScoreRow> rows;
    std::int64_t first_N_too_large = 0;        ///< S and P no longer fit
    std::int64_t first_N_too_large_flash = 0;  ///< Q, K, V, O and L no longer fit
    std::array<AlgorithmStudy, 3> by_algorithm;
    /// All heads, with Q, K, V, O and L moved once: no pass is faster. A cache between HBM and the SMs, which
    /// serves what FlashAttention fetches again, brings it nearer to this.
    Bound once;
    std::array<Trip, 3> trips;
    TileNeed need;
    TileFit fit = TileFit::none;
    Growth growth;
    Tile paper, square;

    const AlgorithmStudy& of(Algorithm a) const { return by_algorithm[static_cast<std::size_t>(a)]; }
    /// Bytes of standard attention over bytes of `a`: below 1 where standard moves fewer.
    double saving(Algorithm a) const;
};
/// For an input that `refuse` accepts.
Study study(const StudyInput& input);

/// One or two sentences: what the numbers of this study come to, whichever way they fall.
std::string verdict(const Study& study);
/// Its part about the traffic: who moves fewer bytes, and what each waits for, without a cache and with one.
std::string traffic_verdict(const Study& study);

}  // namespace tilewalk
