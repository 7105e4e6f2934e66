#include "core/study/memory_study.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// ---- Shares, one function per algorithm. nd, md: bytes of one N × d and one N_kv × d matrix.

std::vector<Share> standard_shares(const Shape& s) {
    const std::int64_t nd = s.N * s.d * s.element_bytes, md = s.N_kv * s.d * s.element_bytes,
                       nn = s.N * s.N_kv * s.element_bytes;
    return {{"Q", Role::Q, nd, 0},  {"K", Role::K, md, 0}, {"S", Role::S, nn, nn},
            {"P", Role::S, nn, nn}, {"V", Role::V, md, 0}, {"O", Role::O, 0, nd}};
}

std::vector<Share> flash1_shares(const Shape& s) {
    const std::int64_t nd = s.N * s.d * s.element_bytes, md = s.N_kv * s.d * s.element_bytes;
    const std::int64_t state = 2 * 4 * s.N, blocks = s.Tc();  // m and ℓ
    return {{"K", Role::K, md, 0},
            {"V", Role::V, md, 0},
            {"Q", Role::Q, blocks * nd, 0},
            {"O", Role::O, blocks * nd, blocks * nd},
            // Once more at the start: O = 0, m = −∞, ℓ = 0
            {"zeros", Role::O, 0, nd},
            {"m, ℓ", Role::l, blocks * state, (blocks + 1) * state}};
}

std::vector<Share> flash2_shares(const Shape& s) {
    const std::int64_t nd = s.N * s.d * s.element_bytes, md = s.N_kv * s.d * s.element_bytes;
    return {{"Q", Role::Q, nd, 0},
            {"K", Role::K, s.Tr() * md, 0},
            {"V", Role::V, s.Tr() * md, 0},
            {"O", Role::O, 0, nd},
            {"L", info(Slot::L).role, 0, 4 * s.N}};
}

// floor(√n), exactly: the floating-point root may be off by one.
std::int64_t whole_root(std::int64_t n) {
    auto root = static_cast<std::int64_t>(std::sqrt(real(n)));
    while (root > 0 && root > n / root) --root;
    while (root + 1 <= n / (root + 1)) ++root;
    return root;
}

std::vector<ScoreRow> score_rows(const StudyInput& in) {
    std::vector<std::int64_t> lengths = in.lengths;
    if (lengths.empty()) {
        for (std::int64_t N = 512; N <= 131072; N *= 2) lengths.push_back(N);
        lengths.push_back(in.N);
        std::ranges::sort(lengths);
        lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    }
    const double all = real(in.heads) * real(in.batch);
    const std::int64_t most =
        largest_N_standard(in.hardware.capacity.value, in.element_bytes, in.heads, in.batch);
    std::vector<ScoreRow> rows;
    for (std::int64_t N : lengths) {
        const double S = real(N) * real(N) * in.element_bytes;
        rows.push_back({N, S, 2 * S * all, 4 * real(N) * all, N <= most});
    }
    return rows;
}

Tile tile_of(const StudyInput& in) {
    if (in.rule == TileRule::paper) return paper_tile(in.hardware.shared.value, in.d, in.element_bytes);
    if (in.rule == TileRule::square) return square_tile(in.hardware.shared.value, in.d, in.element_bytes);
    return in.tile;
}

// Bytes of FlashAttention-2 with tiles of this height.
std::int64_t with_height(Shape s, std::int64_t Br) {
    s.Br = Br;
    return forward_traffic(Algorithm::flash2, s).total();
}

}  // namespace

const char* algorithm_name(Algorithm a) {
    return a == Algorithm::standard ? "Standard"
           : a == Algorithm::flash1 ? "FlashAttention-1"
                                    : "FlashAttention-2";
}
const char* algorithm_id(Algorithm a) {
    return a == Algorithm::standard ? "standard" : a == Algorithm::flash1 ? "flash-1" : "flash-2";
}

std::vector<Share> forward_shares(Algorithm a, const Shape& s) {
    return a == Algorithm::standard ? standard_shares(s)
           : a == Algorithm::flash1 ? flash1_shares(s)
                                    : flash2_shares(s);
}

TrafficModel forward_traffic(Algorithm a, const Shape& s) {
    TrafficModel model;
    for (const Share& share : forward_shares(a, s)) {
        model.hbm_read += share.read;
        model.hbm_write += share.write;
    }
    if (a != Algorithm::standard) model.sram_peak = tile_need(s).total();
    return model;
}

std::array<Trip, 3> standard_trips(const Shape& s) {
    const std::int64_t nd = s.N * s.d * s.element_bytes, md = s.N_kv * s.d * s.element_bytes,
                       nn = s.N * s.N_kv * s.element_bytes;
    return {{{"Q, K", "S", nd + md, nn}, {"S", "P", nn, nn}, {"P, V", "O", nn + md, nd}}};
}

std::int64_t matmul_flops(const Shape& s) { return 4 * s.N * s.N_kv * s.d; }
std::int64_t softmax_flops(const Shape& s) { return 5 * s.N * s.N_kv; }

Bound bound(double bytes, double flops, const Hardware& h, int element_bytes) {
    const double peak = h.peak(element_bytes), bandwidth = h.bandwidth.value;
    Bound b{bytes, flops};
    if (bandwidth > 0) b.memory_s = bytes / bandwidth;
    if (peak > 0) b.compute_s = flops / peak;
    if (bytes > 0) b.intensity = flops / bytes;
    b.attainable = std::min(peak, bandwidth * b.intensity);
    return b;
}

double ridge(const Hardware& h, int element_bytes) {
    return h.bandwidth.value > 0 ? h.peak(element_bytes) / h.bandwidth.value : 0;
}

Growth growth(const Shape& s, double sram_bytes) {
    const double N = real(s.N), M = sram_bytes / s.element_bytes, d = real(s.d);
    Growth g;
    g.M = M;
    g.standard = N * d + N * real(s.N_kv);
    g.flash = M > 0 ? N * real(s.N_kv) * d * d / M : 0;
    g.stated = d <= M && M <= N * d;
    return g;
}

Tile paper_tile(double sram_bytes, std::int64_t d, int element_bytes) {
    const double M = std::floor(sram_bytes / element_bytes);
    const auto Bc = static_cast<std::int64_t>(std::max(1.0, std::ceil(M / (4 * real(d)))));
    return {std::min(Bc, d), Bc};
}

Tile square_tile(double sram_bytes, std::int64_t d, int element_bytes) {
    const auto fits = [&](std::int64_t B) {
        return real(tile_need({B, B, d, B, B, element_bytes}).total()) <= sram_bytes;
    };
    std::int64_t lo = 1, hi = 1 << 20;  // the largest that fits lies in lo … hi − 1
    while (hi - lo > 1) (fits((lo + hi) / 2) ? lo : hi) = (lo + hi) / 2;
    return {lo, lo};
}

// The buffers of the lesson flash-forward.                 Q (Br × d), K, V (Bc × d), S, P (Br × Bc), O (Br ×
// d)
TileNeed tile_need(const Shape& s) {
    const std::int64_t Br = std::min(s.Br, s.N), Bc = std::min(s.Bc, s.N_kv);
    TileNeed need;
    need.operands = (Br + 2 * Bc) * s.d * s.element_bytes;
    need.sums = 4 * (2 * Br * Bc + Br * s.d + 4 * Br);  // S, P; O; m, ℓ, m̃, α
    return need;
}

TileFit tile_fit(const Shape& s, const Hardware& h) {
    const TileNeed need = tile_need(s);
    if (real(need.total()) <= h.shared.value) return TileFit::shared;
    const bool apart = real(need.operands) <= h.shared.value && real(need.sums) <= h.registers.value;
    return apart ? TileFit::registers : TileFit::none;
}

std::int64_t largest_N_standard(double capacity, int element_bytes, std::int64_t heads, std::int64_t batch) {
    // 2 e H B N² ≤ capacity, in whole numbers: N² ≤ ⌊capacity / (2 e H B)⌋
    const std::int64_t per_score = 2 * static_cast<std::int64_t>(element_bytes) * heads * batch;
    const double most = std::min(std::max(capacity, 0.0), 9e18);
    return whole_root(static_cast<std::int64_t>(most) / per_score);
}

std::int64_t largest_N_flash(double capacity, std::int64_t d, int element_bytes, std::int64_t heads,
                             std::int64_t batch) {
    const std::int64_t per_token = (4 * d * element_bytes + 4) * heads * batch;  // Q, K, V, O; L
    const double most = std::min(std::max(capacity, 0.0), 9e18);
    return static_cast<std::int64_t>(most) / per_token;
}

std::vector<TileRow> tile_rows(const Shape& s) {
    std::vector<std::int64_t> heights = {std::min(s.Br, s.N)};
    for (std::int64_t Br = 2; Br <= 512 && Br <= s.N; Br *= 2) heights.push_back(Br);
    std::ranges::sort(heights);
    heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
    const double standard = real(forward_traffic(Algorithm::standard, s).total());
    std::vector<TileRow> rows;
    for (const std::int64_t Br : heights) {
        const std::int64_t bytes = with_height(s, Br);
        rows.push_back({Br, bytes, standard / real(bytes)});
    }
    return rows;
}

std::string saving_text(double saving) {
    return format_fixed(saving, saving < .0995 ? 3 : saving < .995 ? 2 : 1);
}

std::int64_t least_height_that_pays(const Shape& s) {
    const std::int64_t standard = forward_traffic(Algorithm::standard, s).total();
    std::int64_t lo = 0, hi = s.N + 1;  // the least lies in lo + 1 … hi
    while (hi - lo > 1) {
        const std::int64_t middle = (lo + hi) / 2;
        (with_height(s, middle) <= standard ? hi : lo) = middle;
    }
    return hi;
}

Study study(const StudyInput& in) {
    const Tile tile = tile_of(in);
    const double shared = in.hardware.shared.value, heads = real(in.heads) * real(in.batch);
    Study out;
    out.input = in;
    out.shape = {in.N, in.N, in.d, tile.Br, tile.Bc, in.element_bytes};
    out.rows = score_rows(in);
    const double capacity = in.hardware.capacity.value;
    out.first_N_too_large = largest_N_standard(capacity, in.element_bytes, in.heads, in.batch) + 1;
    out.first_N_too_large_flash = largest_N_flash(capacity, in.d, in.element_bytes, in.heads, in.batch) + 1;
    const double flops = real(matmul_flops(out.shape)) * heads;
    for (Algorithm a : algorithms) {
        const TrafficModel traffic = forward_traffic(a, out.shape);
        const Bound all = bound(real(traffic.total()) * heads, flops, in.hardware, in.element_bytes);
        out.by_algorithm[static_cast<std::size_t>(a)] = {a, forward_shares(a, out.shape), traffic, all};
    }
    const std::int64_t once =
        (2 * in.N * in.d + 2 * in.N * in.d) * in.element_bytes + 4 * in.N;  // Q, O; K, V; L
    out.once = bound(real(once) * heads, flops, in.hardware, in.element_bytes);
    out.trips = standard_trips(out.shape);
    out.need = tile_need(out.shape);
    out.fit = tile_fit(out.shape, in.hardware);
    out.growth = growth(out.shape, shared);
    out.paper = paper_tile(shared, in.d, in.element_bytes);
    out.square = square_tile(shared, in.d, in.element_bytes);
    return out;
}

double Study::saving(Algorithm a) const {
    const std::int64_t mine = of(a).traffic.total();
    return mine > 0 ? real(of(Algorithm::standard).traffic.total()) / real(mine) : 0;
}

}  // namespace tilewalk
