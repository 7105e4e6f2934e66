#include "app/ui/chapters/backward/backward.h"

#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr float letter = size::mono;

// The slots that are drawn in one place need the room of the widest.
int letters(const AppState& state, Slot slot, int digits) {
    const auto of = [&](Slot s) { return state.look[s].letters_with(digits); };
    if (slot == Slot::S) return std::max({2, of(Slot::S), of(Slot::Prob), of(Slot::Kj)});
    if (slot == Slot::dP) return std::max({2, of(Slot::dP), of(Slot::Vj)});
    return std::max(2, of(slot));
}

float number_width(const AppState& state, const BandColumn& c, float size, int digits) {
    return std::max(28.0f, px(letters(state, c.slot, digits)) * letter * size + 7);
}

float fill_width(const BandColumn& c) {
    return c.cols == 1 ? 20 : std::clamp(44.0f / px(c.cols), 1.2f, 14.0f);
}

// What the step at hand makes, in the place of that slot.
bool made_now(const AppState& state, Slot slot) {
    const bool scores =
        slot == Slot::S && (written_now(state, Slot::Prob) || written_now(state, Slot::S_cap));
    return scores || written_now(state, slot);
}

bool used_now(const AppState& state, Slot slot) { return made_now(state, slot) || touched_now(state, slot); }

// Groups lose their numbers from 0 on: fewer digits and smaller numbers first; then Q and dO, which HBM shows
// too, lose their numbers, then L; in a small panel the step at hand has the numbers that it works with, with
// L and D where they have room, or only those that it makes.
NumberSize fit(const AppState& state, std::span<BandColumn> columns, float room, float row_height) {
    constexpr int used_and_rows = 3, used_alone = 4, made_alone = 5, no_numbers = 6;
    const auto claims = [&](const BandColumn& c, int claim) {
        switch (claim) {
        case used_and_rows: return c.cols == 1 || used_now(state, c.slot);
        case used_alone: return used_now(state, c.slot);
        case made_alone: return made_now(state, c.slot);
        default: return c.group >= claim;
        }
    };
    const std::vector<NumberSize> sizes = number_sizes();
    for (int claim = row_height < 18 ? no_numbers : 0; claim <= no_numbers; ++claim)
        for (float squeeze : {1.0f, .7f, .5f})
            for (const NumberSize& f : sizes) {
                for (BandColumn& c : columns) {
                    c.gap = c.wish * squeeze;
                    c.numbers = c.cols <= 16 && claims(c, claim);
                    c.w = c.numbers ? number_width(state, c, f.size, f.digits) : fill_width(c);
                }
                if (band_width(columns) <= room) return f;
            }
    return {13, fewest_digits};
}

// A frame round the cell beside it does not reach the number.
constexpr float clear_of_frames = 8;

// What is left over widens the cells up to what the eye likes, then the gaps.
void stretch(std::span<BandColumn> columns, float room, bool large) {
    float numbered = 0, strips = 0;
    for (const BandColumn& c : columns) (c.numbers ? numbered : strips) += c.numbers ? c.w * px(c.cols) : 1;
    const float factor = numbered > 0 ? 1 + std::max(0.0f, room - band_width(columns)) / numbered : 1;
    for (BandColumn& c : columns)
        if (c.numbers) c.w = std::min(c.w * factor, std::max(c.w + clear_of_frames, large ? 66.0f : 56.0f));
    // Matrices without numbers share half of the rest, up to twice their width.
    const float each = strips > 0 ? std::max(0.0f, room - band_width(columns)) / 2 / strips : 0;
    for (BandColumn& c : columns)
        if (!c.numbers) c.w = std::min(c.w * 2, c.w + each / px(c.cols));
    const float more = std::max(0.0f, room - band_width(columns)) / px(columns.size() - 1);
    for (std::size_t n = 1; n < columns.size(); ++n) columns[n].gap += std::min(more, 40.0f);
}

struct Heights {
    float lens_h, k_ch, band_ch, below_ch, band_y, below_y;
};

// Lens, gradients and band take what they need from below; K and V stand above the band.
Heights heights(const Problem& p, const Rect& panel) {
    const int Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv()), under = std::max(Br, Bc);
    const bool high = panel.h >= from::high_sram, large = panel.h > from::large_sram;
    Heights h{};
    h.lens_h = large ? 196.0f : high ? 152.0f : panel.h >= from::sram ? 112.0f : 100.0f;
    const float top = high ? 72.0f : 68.0f, labels = high ? 40.0f : 34.0f, curve = high ? 50.0f : 42.0f,
                out = high ? 44.0f : 34.0f;  // below: the label of the gradients, and the line of what leaves
    const float room = panel.h - space::foot - h.lens_h - top - labels - curve - out;
    const float band = (large ? 60.0f : 50.0f) * px(Br), k = (large ? 38.0f : 30.0f) * px(p.d()),
                below = (large ? 40.0f : 32.0f) * px(under);
    // The band has the first claim; it never takes more than two fifths of what is there.
    const float band_h = std::min(band, std::max(room * .4f, room - k - below));
    const float rest = room - band_h, part = std::min(1.0f, rest / (k + below));
    h.band_ch = band_h / px(Br);
    h.k_ch = k * part / px(p.d());
    h.below_ch = below * part / px(under);
    // K and V, which HBM shows as well, are strips before the gradients lose their numbers.
    constexpr float read = 18, strip = 6;
    const float read_h = read * px(under);
    if (h.below_ch < read && rest - read_h >= strip * px(p.d())) {
        h.below_ch = read;
        h.k_ch = (rest - read_h) / px(p.d());
    }
    h.below_y = panel.h - space::foot - h.lens_h - out - h.below_ch * px(under);
    h.band_y = h.below_y - curve - band_h;
    return h;
}

constexpr Slot below_slots[] = {Slot::dVj, Slot::dKj, Slot::dQi};

float below_need(const AppState& state, Slot slot, int digits) {
    return std::max(28.0f, px(state.look[slot].letters_with(digits)) * letter * size::small + 6);
}

// How wide a cell of each is, and with how many digits; 0 without numbers. Where not all have room for
// theirs, the one that the step adds to has.
struct BelowWidths {
    std::array<float, 3> cell{};
    std::array<bool, 3> numbers{};
    int digits = 0;
};
BelowWidths below_widths(const AppState& state, float room, float row) {
    const float d = px(state.problem->d()), most = (room - 2 * 20) / 3 / d;
    BelowWidths out;
    const bool can = d <= 16 && row >= 17;
    for (int digits : digit_choices()) {
        float need = 0;
        for (Slot slot : below_slots) need = std::max(need, below_need(state, slot, digits));
        if (can && need <= most && !out.digits) out.digits = digits;
    }
    out.numbers.fill(out.digits > 0);
    out.cell.fill(std::min(most, out.digits ? 62.0f : std::max(160.0f / d, 1.0f)));
    const auto* const made =
        std::ranges::find_if(below_slots, [&](Slot slot) { return written_now(state, slot); });
    if (!can || out.digits || made == std::end(below_slots)) return out;
    const float need = below_need(state, *made, fewest_digits), strip = (room - 2 * 14 - need * d) / 2 / d;
    if (strip < 12) return out;
    const auto n = static_cast<std::size_t>(made - std::begin(below_slots));
    out.digits = fewest_digits;
    out.cell.fill(strip);
    out.cell[n] = need, out.numbers[n] = true;
    return out;
}

// dV, dK and dQ side by side, as wide as their numbers.
void place_below(const AppState& state, BackwardGeometry& g, const Heights& h, const Rect& panel, float left,
                 float room) {
    const Problem& p = *state.problem;
    const BelowWidths widths = below_widths(state, room, h.below_ch);
    g.below_digits = widths.digits;
    float taken = 0;
    for (const float cell : widths.cell) taken += cell * px(p.d());
    const float gap = (room - taken) / 2;
    float x = left;
    for (std::size_t n = 0; n < std::size(below_slots); ++n) {
        const Slot slot = below_slots[n];
        const int rows = slot == Slot::dQi ? std::min(p.Br, p.N()) : std::min(p.Bc, p.N_kv());
        g[slot] = {x, panel.y + h.below_y, widths.cell[n], h.below_ch, rows, p.d(), widths.numbers[n]};
        x += widths.cell[n] * px(p.d()) + gap;
    }
}

}  // namespace

BackwardGeometry backward_geometry(const AppState& state, const Rect& panel) {
    const Problem& p = *state.problem;
    const int Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    BandColumn columns[] = {{Slot::Qi, p.d(), 0, 0},   {Slot::S, Bc, 2, 24},  {Slot::Li, 1, 1, 22},
                            {Slot::dOi, p.d(), 0, 26}, {Slot::dP, Bc, 2, 24}, {Slot::Di, 1, 2, 22},
                            {Slot::dS, Bc, 2, 30}};
    const Heights h = heights(p, panel);
    const float left = panel.x + 46, room = panel.w - 46 - 20;
    const NumberSize f = fit(state, columns, room, h.band_ch);
    stretch(columns, room, panel.w > from::wide_sram);

    BackwardGeometry g;
    g.digits = f.digits;
    const bool roomy = std::ranges::all_of(columns, [&](const BandColumn& c) {
        return !c.numbers || px(letters(state, c.slot, f.digits)) * letter * 17 + 8 <= c.w;
    });
    g.size = panel.w > from::wide_sram && f.size == 15 && roomy ? 17 : f.size;
    g.labels = panel.y + h.band_y - 21;
    g.below = panel.y + h.below_y - 18;
    g.out_line = panel.bottom() - space::foot - h.lens_h - (panel.h >= from::high_sram ? 22.0f : 17.0f);
    g.lens = {panel.inner_x(), panel.bottom() - space::foot - h.lens_h, panel.inner_w(), h.lens_h};
    place_band(g, columns, {left, panel.y + h.band_y}, h.band_ch, Br);
    g[Slot::Prob] = g[Slot::S_cap] = g[Slot::S];
    const float above = panel.y + h.band_y - 40;  // Kᵀ and Vᵀ stand here
    g[Slot::Kj] = standing(g[Slot::S], above, h.k_ch, p.d());
    g[Slot::Vj] = standing(g[Slot::dP], above, h.k_ch, p.d());
    g.v_line = std::max(panel.y + 48, g[Slot::Vj].y - 22);
    place_below(state, g, h, panel, left, room);
    return g;
}

}  // namespace tilewalk::ui
