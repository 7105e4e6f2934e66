// The study as tables for the terminal.
#include "app/cli/commands.h"
#include "app/export/text_layout.h"
#include "core/base/numbers.h"
#include "core/study/kv_cache.h"

namespace tilewalk {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string size(double bytes) { return format_large_size(bytes); }
std::string rate(double per_second, const char* unit) {
    return format_number(per_second / 1e12, 4) + " T" + unit + "/s";
}

std::string heading(const Study& s) {
    const StudyInput& in = s.input;
    const Hardware& h = in.hardware;
    std::string text = h.name + ": " + size(h.capacity.value) + " " + h.memory + ", " +
                       rate(h.bandwidth.value, "B") + ", " + format_name(in.element_bytes) + " at " +
                       rate(h.peak(in.element_bytes), "FLOP");
    if (!h.has_own_peak(in.element_bytes)) text += " (no fp8 units: the rate of fp16)";
    return text + "\n" + counted(in.heads, "head") + ", batch " + str(in.batch) + ", d = " + str(in.d) +
           ", tiles of " + str(s.shape.Br) + " × " + str(s.shape.Bc) +
           "\nN: words, the rows of Q, K and V; d: numbers in a row; a tile has Br rows of Q × Bc of K and V"
           "\nKiB, MiB, GiB, TiB count 1024; TB/s and TFLOP/s count 10¹².\n";
}

std::string score_table(const std::vector<Study>& studies) {
    Rows rows{{"N", "S, one head", "S + P, all heads", "in their place: L", ""}};
    for (const Study& s : studies) {
        const ScoreRow& row = s.rows.front();
        rows.push_back({format_count(row.N), size(row.one_head), size(row.all), size(row.flash),
                        row.fits ? "fits" : "does not fit"});
    }
    const Study& s = studies.front();
    return "\nWhat the N × N matrices would need\n" + number_table(rows) +
           "  First N whose S and P do not fit: " + format_count(s.first_N_too_large) +
           ". Flash keeps Q, K, V, O and L: first N " + format_count(s.first_N_too_large_flash) + ".\n";
}

// Query heads may share key heads; the cache of a decoder shrinks with their number.
std::string cache_table(const std::vector<Study>& studies) {
    const std::vector<std::int64_t> heads = key_head_choices(studies.front().input.heads);
    Rows rows{{"N"}};
    for (const std::int64_t H_kv : heads)
        rows.front().push_back(str(H_kv) + (H_kv == 1 ? " key head" : " key heads"));
    for (const Study& s : studies) {
        std::vector<std::string>& row = rows.emplace_back(1, format_count(s.shape.N));
        for (const std::int64_t H_kv : heads) row.push_back(size(kv_cache(s.input, s.shape.N, H_kv)));
    }
    return "\nKV cache of a decoder: K and V of all tokens\n" + number_table(rows);
}

std::string traffic_table(const std::vector<Study>& studies) {
    Rows rows{{"N", "standard", "FlashAttention-1", "FlashAttention-2", "standard / FlashAttention-2"}};
    for (const Study& s : studies) {
        std::vector<std::string> row{format_count(s.shape.N)};
        for (Algorithm a : algorithms) row.push_back(size(static_cast<double>(s.of(a).traffic.total())));
        row.push_back(format_number(s.saving(Algorithm::flash2), 3));
        rows.push_back(row);
    }
    return "\nHBM traffic of one head, forward\n" + number_table(rows);
}

std::string time_table(const std::vector<Study>& studies) {
    Rows rows{{"N", "matrix FLOPs", "standard", "FlashAttention-1", "FlashAttention-2", "FLOP/B",
               "FlashAttention-2 waits for", "each matrix once"}};
    for (const Study& s : studies) {
        const Bound& flash = s.of(Algorithm::flash2).bound;
        std::vector<std::string> row{format_count(s.shape.N), format_number(flash.flops, 3)};
        for (Algorithm a : algorithms) row.push_back(format_time(s.of(a).bound.seconds()));
        row.push_back(format_number(s.of(Algorithm::standard).bound.intensity, 3) + " / " +
                      format_number(flash.intensity, 3));
        row.push_back(flash.memory_bound() ? "memory" : "arithmetic");
        row.push_back(format_time(s.once.seconds()));
        rows.push_back(row);
    }
    const Study& s = studies.front();
    return "\nTimes of all heads if every fetch came from HBM: the larger of bytes / bandwidth and FLOPs / "
           "peak\n" +
           number_table(rows) +
           "  An L2 cache serves most of what FlashAttention fetches again: it may be faster than that, but "
           "not than with each\n"
           "  matrix moved once.\n"
           "  FLOP/B: standard / FlashAttention-2; both limits meet at " +
           format_number(ridge(s.input.hardware, s.input.element_bytes), 4) + ".\n";
}

std::string trip_table(const Study& s) {
    Rows rows{{"kernel", "bytes read", "bytes written", ""}};
    int number = 1;
    for (const Trip& trip : s.trips)
        rows.push_back({str(number++), size(static_cast<double>(trip.read)),
                        size(static_cast<double>(trip.write)),
                        std::string("read ") + trip.reads + ", write " + trip.writes});
    return "\nStandard attention's trips at N = " + format_count(s.shape.N) + ", one head\n" +
           number_table(rows);
}

std::string tile_lines(const Study& s) {
    const auto tile = [](const Tile& t) { return str(t.Br) + " × " + str(t.Bc); };
    const char* const where = s.fit == TileFit::shared      ? "in shared memory"
                              : s.fit == TileFit::registers ? "with S, P and O in registers"
                                                            : "not on one SM";
    const Growth& g = s.growth;
    return "\nTiles, with M = " + size(s.input.hardware.shared.value) + " of shared memory per SM\n" + "  " +
           str(s.shape.Br) + " × " + str(s.shape.Bc) + " takes " + size(static_cast<double>(s.need.total())) +
           ": " + where + "\n  largest square tile in M: " + tile(s.square) +
           "; FlashAttention's rule Bc = ⌈M/4d⌉, Br = min(Bc, d): " + tile(s.paper) +
           "\n  at N = " + format_count(s.shape.N) + ": N d + N² = " + format_number(g.standard, 3) +
           " elements, N² d² / M = " + format_number(g.flash, 3) + " (constants left out)\n";
}

}  // namespace

std::string model_text(const std::vector<Study>& studies) {
    const Study& last = studies.back();
    const std::string verdict_at = "At N = " + format_count(last.shape.N) + ": " + verdict(last);
    return heading(last) + score_table(studies) + cache_table(studies) + traffic_table(studies) +
           time_table(studies) + trip_table(last) + tile_lines(last) + "\n" + lines_of(wrap(verdict_at, 96));
}

}  // namespace tilewalk
