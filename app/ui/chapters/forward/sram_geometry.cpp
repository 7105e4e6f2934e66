#include "app/ui/chapters/forward/sram_geometry.h"

#include "app/ui/parts/slot_view.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tilewalk::ui {

namespace {

constexpr float letter = size::mono;

enum class Group { query, scores, column, output };

struct Column {
    Slot slot;
    Group group;
    int cols;
    float gap;  // before it
    float w = 0;
    bool numbers = false;
};

// One way to fill the row: which groups show numbers, how large, with how many digits.
struct Attempt {
    bool query, scores, output, columns;
    float size;
    int digits;
};

float number_width(const AppState& state, const Column& column, const Attempt& a) {
    const int letters = std::max(2, state.look[column.slot].letters_with(a.digits));
    return std::max(28.0f, px(letters) * letter * a.size + 7) +
           (column.group == Group::column && a.size > 13 ? 4 : 0);
}

float fill_width(const Column& column) {
    if (column.group == Group::column) return 22;
    return std::clamp((column.group == Group::scores ? 40.0f : 32.0f) / px(column.cols), 1.2f, 14.0f);
}

bool shows_numbers(const Column& column, const Attempt& a) {
    if (column.cols > 16) return false;
    switch (column.group) {
    case Group::query: return a.query;
    case Group::scores: return a.scores;
    case Group::output: return a.output;
    case Group::column: return a.columns;
    }
    return false;
}

float total_width(std::span<const Column> columns) {
    float w = 0;
    for (const Column& c : columns) w += c.gap + c.w * px(c.cols);
    return w;
}

// Tries less and less until the row fits: fewer digits and smaller numbers first, then matrices without
// numbers, those first that are shown with numbers elsewhere.
// Which groups show numbers, in the order of preference. O has the first claim, except where a step is about
// Q.
std::vector<std::array<bool, 4>> claims(Op op) {
    std::vector<std::array<bool, 4>> out{{true, true, true, true}};
    if (op == Op::load_q)
        out.insert(out.end(), {{true, true, false, true}, {true, false, false, true}});
    else if (op == Op::scores)
        out.push_back({true, true, false, true});
    else
        out.push_back({false, true, true, true});
    out.insert(out.end(),
               {{false, true, false, true}, {false, false, false, true}, {false, false, false, false}});
    return out;
}

Attempt fit(const AppState& state, std::span<Column> columns, float room, bool rows_too_low) {
    const std::vector<NumberSize> sizes = number_sizes();
    std::vector<float> gaps;
    for (const Column& c : columns) gaps.push_back(c.gap);
    Attempt a{};
    for (const auto& g : claims(op_now(state)))
        for (float squeeze : {1.0f, .75f})  // narrower gaps before a matrix loses its numbers
            for (const NumberSize& s : sizes) {
                a = {g[0], g[1], g[2], g[3], s.size, s.digits};
                if (rows_too_low && g[3]) continue;
                for (std::size_t n = 0; n < columns.size(); ++n) {
                    Column& c = columns[n];
                    c.gap = gaps[n] * squeeze;
                    c.numbers = shows_numbers(c, a);
                    c.w = c.numbers ? number_width(state, c, a) : fill_width(c);
                }
                if (total_width(columns) <= room) return a;
            }
    return a;
}

// What is left over goes to the cells first, then to the gaps.
void stretch(std::span<Column> columns, float room, bool large) {
    float cells = 0, gaps = 0;
    for (const Column& c : columns) cells += c.w * px(c.cols), gaps += c.gap;
    const float factor = std::clamp((room - gaps) / cells, 0.3f, large ? 1.5f : 1.3f);
    for (Column& c : columns)
        if (c.numbers) c.w = std::min(c.w * factor, std::max(c.w, large ? 66.0f : 56.0f));
    float fills = 0;
    for (const Column& c : columns) fills += c.numbers ? 0 : px(c.cols);
    const float more = fills > 0 ? std::max(0.0f, room - total_width(columns)) / fills : 0;
    for (Column& c : columns)
        if (!c.numbers) c.w = std::max(c.w, std::min(c.w + more, c.group == Group::column ? 26.0f : 20.0f));
    const float spare = room - total_width(columns);
    if (spare > 0)
        for (Column& c : columns) c.gap += std::min(spare / px(columns.size()), 14.0f);
}

struct Heights {
    float lens_h, band_y, band_ch, top, k_ch, v_ch, labels, out_line;
};

Heights heights(const Problem& p, const Rect& panel) {
    Heights h{};
    const int Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    const bool large = panel.h > from::large_sram;
    h.lens_h = panel.h >= from::large_sram  ? 216
               : panel.h >= from::high_sram ? 184
               : panel.h >= from::sram      ? 128
                                            : 96;
    const float lens_y = panel.h - space::foot - h.lens_h;
    h.out_line = lens_y - 22;
    const float band_bottom = h.out_line - (panel.h >= from::sram ? 44 : 34);
    h.top = panel.h >= from::sram ? 78 : 70;
    const float label_h = 40, room = band_bottom - h.top - label_h;
    h.band_ch = std::min(large ? 64.0f : 54.0f, room * .46f / px(Br));
    // K takes what the band leaves; the band may grow if K does not need all of it.
    const auto rest = [&] { return room - h.band_ch * px(Br); };
    h.k_ch = std::min(large ? 44.0f : 36.0f, rest() / px(p.d()));
    h.v_ch = std::min(large ? 48.0f : 42.0f, rest() / px(Bc));
    h.band_y = band_bottom - h.band_ch * px(Br);
    h.labels = h.band_y - 22;
    return h;
}

}  // namespace

Bed standing(const Bed& on, float bottom, float ch, int rows) {
    return {on.x, bottom - ch * px(rows), on.cw, ch, rows, on.cols, on.numbers && ch >= 16};
}

float far_cell(int letters) { return px(std::max(2, letters)) * size::mono * size::far_number + 12; }

void lay(MatrixLook& look, const Bed& bed) {
    look.x = bed.x, look.y = bed.y, look.cw = bed.cw, look.ch = bed.ch;
    look.numbers = bed.numbers;
    const auto [rows, cols] = look.transposed ? std::pair{bed.cols, bed.rows} : std::pair{bed.rows, bed.cols};
    if (!look.value) look.region = {0, 0, rows, cols};
}

SramGeometry sram_geometry(const AppState& state, const Rect& panel, bool tight) {
    const Problem& p = *state.problem;
    const int Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    const float squeeze = panel.w < 560 ? .58f : tight ? .72f : 1;
    Column columns[] = {{Slot::Qi, Group::query, p.d(), 0},
                        {Slot::S, Group::scores, Bc, 26 * squeeze},
                        {Slot::m_tile, Group::column, 1, 26 * squeeze},
                        {Slot::m, Group::column, 1, 24 * squeeze},
                        {Slot::alpha, Group::column, 1, 24 * squeeze},
                        {Slot::P, Group::scores, Bc, 20 * squeeze},
                        {Slot::l, Group::column, 1, 30 * squeeze},
                        {Slot::Oi, Group::output, p.d(), 24 * squeeze}};
    const Heights h = heights(p, panel);
    const float left = panel.x + 46, room = panel.w - 46 - 20;
    const Attempt a = fit(state, columns, room, h.band_ch < 20);
    stretch(columns, room, panel.w > from::wide_sram);

    SramGeometry out;
    out.digits = a.digits;
    out.size = panel.w > from::wide_sram && a.size == 15 ? 17 : a.size;
    out.v_line = panel.y + (panel.h >= from::sram ? 56 : 46);
    out.labels = panel.y + h.labels;
    out.out_line = panel.y + h.out_line;
    out.lens = {panel.inner_x(), panel.bottom() - space::foot - h.lens_h, panel.inner_w(), h.lens_h};
    float x = left;
    for (const Column& c : columns) {
        x += c.gap;
        out[c.slot] = {x, panel.y + h.band_y, c.w, h.band_ch, Br, c.cols, c.numbers};
        x = out[c.slot].right();
    }
    const float above = panel.y + h.band_y - 42;  // Kᵀ and V stand here
    out[Slot::Kj] = standing(out[Slot::S], above, h.k_ch, p.d());
    out[Slot::Vj] = standing(out[Slot::Oi], above, h.v_ch, Bc);
    return out;
}

}  // namespace tilewalk::ui
