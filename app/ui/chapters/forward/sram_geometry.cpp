#include "app/ui/chapters/forward/sram_geometry.h"

#include "app/ui/parts/slot_view.h"
#include "core/problem/shared_prefix.h"

#include <algorithm>
#include <vector>

namespace tilewalk::ui {

namespace {

constexpr float letter = size::mono;

// Groups of the band
enum { query, scores, output, column };

// Which groups show numbers; or of them only what this step reads or makes, and the rest is narrow.
struct Claim {
    std::array<bool, 4> groups;
    bool of_step = false;
};

// One way to fill the row: who shows numbers, how large, with how many digits.
struct Attempt {
    Claim claim{};
    float size = 0;
    int digits = 0, output_digits = 0;  // O, four numbers wide and more, may have fewer than the weights
    float gaps = 1;

    int of(const BandColumn& c) const { return c.group == output ? output_digits : digits; }
};

float number_width(const AppState& state, const BandColumn& c, const Attempt& a) {
    const int letters = std::max(2, state.look[c.slot].letters_with(a.of(c)));
    return std::max(28.0f, px(letters) * letter * a.size + (a.size > size::small ? 7.0f : 6.0f)) +
           (c.group == column && a.size > size::small ? 4 : 0);
}

float fill_width(const BandColumn& c, const Claim& claim) {
    const float part = claim.of_step ? .6f : 1;
    if (c.group == column) return 22 * part;
    return std::clamp((c.group == scores ? 40.0f : 32.0f) / px(c.cols), 1.2f, 14.0f) * part;
}

bool shows_numbers(const AppState& state, const BandColumn& c, const Claim& claim) {
    return c.cols <= 16 && claim.groups[static_cast<std::size_t>(c.group)] &&
           (!claim.of_step || touched_now(state, c.slot));
}

// Best first. O has the first claim, except where a step is about Q; where what a step makes has no room
// beside the others, they leave it theirs.
std::vector<Claim> claims(Op op) {
    std::vector<Claim> out{{{true, true, true, true}}};
    if (op == Op::output || op == Op::normalize) out.push_back({{true, true, true, true}, true});
    if (op == Op::load_q)
        out.insert(out.end(), {{{true, true, false, true}}, {{true, false, false, true}}});
    else if (op == Op::scores)
        out.push_back({{true, true, false, true}});
    else
        out.push_back({{false, true, true, true}});
    out.push_back({{false, true, false, true}});
    // Where S and P have no room beside the columns, the step has it that is about them.
    if (op != Op::output && op != Op::normalize) out.push_back({{true, true, true, true}, true});
    out.insert(out.end(), {{{false, false, false, true}}, {{false, false, false, false}}});
    return out;
}

// How numbers may be, best first: smaller before narrower gaps, both before fewer digits; O loses some first,
// where the step is not about it.
std::vector<Attempt> attempts(Op op) {
    const std::vector<NumberSize> sizes = number_sizes();
    const bool makes_output = op == Op::output || op == Op::normalize;
    std::vector<Attempt> out;
    for (int digits = sizes.front().digits; digits >= sizes.back().digits; --digits)
        for (const int of_output : {digits, digits - 1})
            for (const float gaps : {1.0f, .75f, .62f})
                for (const NumberSize& s : sizes)
                    if (s.digits == digits && of_output >= fewest_digits &&
                        !(makes_output && of_output < digits))
                        out.push_back(
                            {.size = s.size, .digits = digits, .output_digits = of_output, .gaps = gaps});
    return out;
}

// Tries less and less until the row fits, then matrices without numbers, those first that are shown with
// numbers elsewhere.
Attempt fit(const AppState& state, std::span<BandColumn> columns, float room, bool rows_too_low) {
    Attempt a{};
    const std::vector<Attempt> all = attempts(op_now(state));
    for (const Claim& claim : claims(op_now(state)))
        for (const Attempt& attempt : all) {
            a = attempt, a.claim = claim;
            if (rows_too_low && claim.groups[column]) continue;
            for (BandColumn& c : columns) {
                c.gap = c.wish * a.gaps * (claim.of_step ? .85f : 1);
                c.numbers = shows_numbers(state, c, claim);
                c.w = c.numbers ? number_width(state, c, a) : fill_width(c, claim);
            }
            if (band_width(columns) <= room) return a;
        }
    return a;
}

// What is left over goes to frames that touch, then to the cells, at last to the gaps.
void stretch(std::span<BandColumn> columns, float room, bool large) {
    constexpr float apart = 10;  // two frames, each beyond its cells, with a line's width between them
    float close = 0;
    for (const BandColumn& c : columns) close += std::max(0.0f, apart - c.gap);
    if (const float rest = room - band_width(columns); rest > 0 && close > 0)
        for (BandColumn& c : columns) c.gap += std::max(0.0f, apart - c.gap) * std::min(1.0f, rest / close);
    float cells = 0, gaps = 0;
    for (const BandColumn& c : columns) cells += c.w * px(c.cols), gaps += c.gap;
    const float factor = std::clamp((room - gaps) / cells, 0.3f, large ? 1.5f : 1.3f);
    for (BandColumn& c : columns)
        if (c.numbers) c.w = std::min(c.w * factor, std::max(c.w, large ? 66.0f : 56.0f));
    float fills = 0;
    for (const BandColumn& c : columns) fills += c.numbers ? 0 : px(c.cols);
    const float more = fills > 0 ? std::max(0.0f, room - band_width(columns)) / fills : 0;
    for (BandColumn& c : columns)
        if (!c.numbers) c.w = std::max(c.w, std::min(c.w + more, c.group == column ? 26.0f : 20.0f));
    const float spare = room - band_width(columns);
    if (spare > 0)
        for (BandColumn& c : columns) c.gap += std::min(spare / px(columns.size()), 14.0f);
}

// Rows and keys of the largest tile; where sequences share a prefix, of the pass at hand.
struct TileSize {
    int rows, keys;
};
TileSize largest_tile(const AppState& state) {
    const Problem& p = *state.problem;
    if (!state.lesson->uses(chooses_sequences)) return {std::min(p.Br, p.N()), std::min(p.Bc, p.N_kv())};
    const SharedPrefix all(p);
    const int sequence = step_now(state).phase - 1;
    TileSize out{sequence < 0 ? p.N() : all.of(sequence).queries, 1};
    for (const KeyBlock& block : all.blocks) out.keys = std::max(out.keys, block.keys);
    return out;
}

struct Heights {
    float lens_h, band_y, band_ch, top, k_ch, v_ch, labels, out_line;
};

Heights heights(const Problem& p, const TileSize& tile, const Rect& panel) {
    Heights h{};
    const bool large = panel.h > from::large_sram;
    h.lens_h = panel.h >= from::large_sram  ? 216
               : panel.h >= from::high_sram ? 184
               : panel.h >= from::sram      ? 128
                                            : 96;
    h.top = panel.h >= from::sram ? 78 : 70;
    const float below = panel.h >= from::sram ? 44 : 34, label_h = 40, least_lens = 96, row = 20;
    const auto bottom = [&] { return panel.h - space::foot - h.lens_h - 22 - below; };
    const auto too_low = [&] { return (bottom() - h.top - label_h) * .46f < row * px(tile.rows); };
    // A lower lens, before many rows lose their numbers.
    if (too_low()) h.lens_h = least_lens;
    h.out_line = panel.h - space::foot - h.lens_h - 22;
    const float band_bottom = bottom(), room = band_bottom - h.top - label_h;
    h.band_ch = std::min(large ? 64.0f : 54.0f, room * .46f / px(tile.rows));
    // K takes what the band leaves; the band may grow if K does not need all of it.
    const auto rest = [&] { return room - h.band_ch * px(tile.rows); };
    h.k_ch = std::min(large ? 44.0f : 36.0f, rest() / px(p.d()));
    h.v_ch = std::min(large ? 48.0f : 42.0f, rest() / px(tile.keys));
    h.band_y = band_bottom - h.band_ch * px(tile.rows);
    h.labels = h.band_y - 22;
    return h;
}

}  // namespace

float band_width(std::span<const BandColumn> columns) {
    float w = 0;
    for (const BandColumn& c : columns) w += c.gap + c.w * px(c.cols);
    return w;
}

void place_band(Beds& beds, std::span<const BandColumn> columns, Point at, float ch, int rows) {
    for (const BandColumn& c : columns) {
        beds[c.slot] = {at.x + c.gap, at.y, c.w, ch, rows, c.cols, c.numbers};
        at.x = beds[c.slot].right();
    }
}

SramGeometry sram_geometry(const AppState& state, const Rect& panel, bool tight) {
    const Problem& p = *state.problem;
    const TileSize tile = largest_tile(state);
    const float squeeze = panel.w < 560 ? .58f : tight ? .72f : 1;
    BandColumn columns[] = {{Slot::Qi, p.d(), query, 0},
                            {Slot::S, tile.keys, scores, 26 * squeeze},
                            {Slot::m_tile, 1, column, 26 * squeeze},
                            {Slot::m, 1, column, 24 * squeeze},
                            {Slot::alpha, 1, column, 24 * squeeze},
                            {Slot::P, tile.keys, scores, 20 * squeeze},
                            {Slot::l, 1, column, 30 * squeeze},
                            {Slot::Oi, p.d(), output, 24 * squeeze}};
    const Heights h = heights(p, tile, panel);
    const float left = panel.x + 46, room = panel.w - 46 - 20;
    const Attempt a = fit(state, columns, room, h.band_ch < 20);
    stretch(columns, room, panel.w > from::wide_sram);

    SramGeometry out;
    out.digits = a.digits, out.output_digits = a.output_digits;
    // In wide panels numbers grow, if they stay clear of their cells' outlines.
    const bool roomy = std::ranges::all_of(columns, [&](const BandColumn& c) {
        return !c.numbers || px(state.look[c.slot].letters_with(a.of(c))) * letter * 17 + 8 <= c.w;
    });
    out.size = panel.w > from::wide_sram && a.size == 15 && roomy ? 17 : a.size;
    out.v_line = panel.y + (panel.h >= from::sram ? 56 : 46);
    out.labels = panel.y + h.labels;
    out.out_line = panel.y + h.out_line;
    out.lens = {panel.inner_x(), panel.bottom() - space::foot - h.lens_h, panel.inner_w(), h.lens_h};
    place_band(out, columns, {left, panel.y + h.band_y}, h.band_ch, tile.rows);
    const float above = panel.y + h.band_y - 42;  // Kᵀ and V stand here
    out[Slot::Kj] = standing(out[Slot::S], above, h.k_ch, p.d());
    out[Slot::Vj] = standing(out[Slot::Oi], above, h.v_ch, tile.keys);
    return out;
}

}  // namespace tilewalk::ui
