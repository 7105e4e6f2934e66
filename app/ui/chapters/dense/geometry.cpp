// Lays out a page of dense matrices: columns as wide as their numbers, rows as high as the panel allows.
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <map>

namespace tilewalk::ui {

namespace {

constexpr float letter = size::mono;
constexpr float names_h = 17;
constexpr float least_ch = 15;  // of a cell with a number
constexpr int most_sharp = 16;  // beyond, a matrix is a heat map

// One way to show a group: which matrices have numbers, how large, with how many digits.
enum class NumbersOfCells { all, wanted, written, none };
struct Attempt {
    NumbersOfCells numbers;
    float size;
    int digits;  // of what this step works on: as many as its formula has, where there is room
    int others;
    float pad;
};

struct Column {
    std::vector<DenseEntry> entries;  // the first lies in the row of queries, the others on its columns
    int cols = 1;
    float w = 0;
    bool numbers = false, touched = false;

    int digits(const Attempt& a) const { return touched ? a.digits : a.others; }
};

Slot one_of(const DenseEntry& e) { return e.chip == Slot::count ? e.hbm : e.chip; }

// As drawn.
Region shape_of(const Problem& p, const DenseEntry& e) {
    const Region shape = dense_shape(p, one_of(e));
    return e.transposed ? Region{0, 0, shape.cols, shape.rows} : shape;
}

bool touched(const AppState& state, const DenseEntry& e) {
    return touched_now(state, e.chip) || touched_now(state, e.hbm);
}

bool written(const AppState& state, const DenseEntry& e) {
    return written_now(state, e.chip) || written_now(state, e.hbm);
}

std::vector<Column> columns(const AppState& state, const DenseGroup& group) {
    const Problem& p = state.trace->walked();
    std::vector<Column> out;
    std::map<int, std::size_t> at;
    for (std::size_t n = 0; n < group.size(); ++n)
        if (group[n].level == 0) {
            at[static_cast<int>(n)] = out.size();
            out.push_back({{group[n]}, shape_of(p, group[n]).cols});
        }
    for (const DenseEntry& e : group)
        if (e.level != 0) out[at.at(e.on)].entries.push_back(e);
    for (Column& c : out)
        c.touched = std::ranges::any_of(c.entries, [&](const DenseEntry& e) { return touched(state, e); });
    return out;
}

// Letters of the longest number in any matrix of the column.
int letters(const AppState& state, const Column& column, int digits) {
    int most = 2;
    for (const DenseEntry& e : column.entries)
        for (Slot slot : {e.chip, e.hbm})
            if (slot != Slot::count) most = std::max(most, state.look[slot].letters_with(digits));
    return most;
}

float number_width(const AppState& state, const Column& column, const Attempt& a) {
    const float text = px(letters(state, column, column.digits(a))) * letter * a.size;
    return std::max(22.0f, text + a.pad) + (column.cols == 1 ? 4.0f : 0.0f);
}

bool shows_numbers(const AppState& state, const Column& column, const Attempt& a) {
    if (a.numbers == NumbersOfCells::none || column.cols > most_sharp) return false;
    if (a.numbers == NumbersOfCells::all) return true;
    if (a.numbers == NumbersOfCells::wanted) return column.touched;
    return std::ranges::any_of(column.entries, [&](const DenseEntry& e) { return written(state, e); });
}

float collapsed(const Column& column) {
    return column.cols == 1 ? 14 : std::clamp(56.0f / px(column.cols), 1.5f, 14.0f);
}

float total(std::span<const Column> list, float gap) {
    float w = gap * px(list.size() - 1);
    for (const Column& c : list) w += c.w * px(c.cols);
    return w;
}

// Smaller numbers first, then fewer digits, last of what this step works on; then numbers there alone.
std::vector<Attempt> attempts() {
    std::vector<Attempt> out;
    const int full = number_style().digits;
    const auto pad = [&](const NumberSize& s) {
        return s.size > 14 ? 8.0f : s.size > 13 || s.digits < full ? 6.0f : 5.0f;
    };
    for (NumbersOfCells numbers :
         {NumbersOfCells::all, NumbersOfCells::wanted, NumbersOfCells::written, NumbersOfCells::none})
        for (const NumberSize& s : number_sizes()) {
            out.push_back({numbers, s.size, s.digits, s.digits, pad(s)});
            for (int others = full - 1; numbers == NumbersOfCells::all && s.size <= 13 && s.digits == full &&
                                        others >= fewest_digits;
                 --others)
                out.push_back({numbers, s.size, s.digits, others, pad(s)});
        }
    return out;
}

Attempt fit(const AppState& state, std::span<Column> list, float room, float& gap, bool too_low) {
    Attempt last{};
    for (const Attempt& a : attempts())
        for (float wish : {26.0f, 16.0f}) {
            last = a;
            gap = wish;
            if (too_low && a.numbers != NumbersOfCells::none) continue;
            for (Column& c : list) {
                c.numbers = shows_numbers(state, c, a);
                c.w = c.numbers ? number_width(state, c, a) : collapsed(c);
            }
            if (total(list, gap) <= room) return a;
        }
    return last;
}

// What is left over goes to the numbers, then to colours, then to the gaps.
void stretch(std::span<Column> list, float room, float& gap, const Attempt& a) {
    const auto widen = [&](bool numbers, float most_factor, float most_w) {
        float cells = 0;
        for (const Column& c : list) cells += c.numbers == numbers ? c.w * px(c.cols) : 0;
        const float spare = room - total(list, gap);
        if (cells <= 0 || spare <= 0) return;
        const float factor = std::min(most_factor, 1 + spare / cells);
        for (Column& c : list)
            if (c.numbers == numbers) c.w = std::max(c.w, std::min(c.w * factor, std::max(most_w, c.w + 8)));
    };
    widen(true, 1.5f, a.size > 14 ? 62.0f : 54.0f);
    widen(false, a.numbers == NumbersOfCells::none ? 8.0f : 1.6f, 22.0f);
    // Nothing fits: shrink the colours.
    if (const float over = total(list, gap); over > room) {
        const float gaps = gap * px(list.size() - 1);
        for (Column& c : list) c.w *= std::max(.1f, (room - gaps) / (over - gaps));
    }
    if (list.size() > 1) gap += std::clamp((room - total(list, gap)) / px(list.size() - 1), 0.0f, 26.0f);
}

// The matrices of a group that stand side by side, from the top.
struct Level {
    int level, rows;
    bool wanted;   // this step works on one of them
    bool names;    // key names stand below them
    float ch = 0;  // height of a cell
};

// Room for the symbols above a level, and below it; a low panel has less.
struct Spacing {
    float label = 24, gap = 10;
    float height(const Level& l) const { return label + l.ch * px(l.rows) + gap + (l.names ? names_h : 0); }
};

bool shows_pairs(const Problem& p, const DenseEntry& e) {
    return e.level == 0 && info(one_of(e)).role == Role::S && dense_shape(p, one_of(e)).cols == p.N_kv();
}

std::vector<Level> levels(const AppState& state, const DenseGroup& group) {
    std::map<int, Level, std::greater<>> found;
    for (const DenseEntry& e : group) {
        Level& l = found.try_emplace(e.level, Level{e.level, 0, false, false}).first->second;
        l.rows = std::max(l.rows, shape_of(state.trace->walked(), e).rows);
        l.wanted |= touched(state, e);
        l.names |= shows_pairs(state.trace->walked(), e);
    }
    std::vector<Level> out;
    for (const auto& [level, l] : found) out.push_back(l);
    return out;
}

// All rows are equally high. Where that is too low for numbers, what this step does not use shrinks.
void set_heights(std::vector<std::vector<Level>>& groups, const Spacing& space, float room, float most) {
    float rows = 0, wanted = 0, fixed = 0;
    for (const auto& group : groups)
        for (const Level& l : group) {
            rows += px(l.rows), fixed += space.height(l);
            if (l.wanted) wanted += px(l.rows);
        }
    const float left = std::max(room - fixed, 12.0f), equal = std::min(most, left / rows);
    const bool shrink = equal < least_ch && wanted > 0 && wanted < rows;
    const float low = std::min(equal, std::max(2.0f, equal * .5f)),
                high = shrink ? std::min(most, (left - low * (rows - wanted)) / wanted) : equal;
    for (auto& group : groups)
        for (Level& l : group) l.ch = l.wanted || !shrink ? high : low;
}

// Places the matrices of one level. `y` is the top of its labels.
void place_level(const AppState& state, DenseLayout& out, std::span<const Column> list, const Level& level,
                 const Rect& area, float y, float gap, const Spacing& space, const Attempt& a) {
    float x = area.x;
    for (std::size_t n = 0; n < list.size(); ++n) {
        const Column& column = list[n];
        const float w = column.w * px(column.cols), next = x + w + gap;
        for (const DenseEntry& e : column.entries) {
            if (e.level != level.level) continue;
            const int rows = shape_of(state.trace->walked(), e).rows;
            // Above, matrices stand on the row of queries; elsewhere they hang from their label.
            const float top = y + space.label + (level.level > 0 ? level.ch * px(level.rows - rows) : 0);
            const bool numbers = column.numbers && level.ch >= least_ch;
            const Bed bed{x, top, column.w, level.ch, rows, column.cols, numbers};
            const bool last = n + 1 == list.size();
            out.places.push_back({e, dense_slot(state, e), bed, top - .72f * space.label,
                                  last ? area.right() + 12 : next - 9, n == 0});
            out.places.back().digits = column.digits(a);
        }
        x = next;
    }
}

}  // namespace

DenseLayout dense_layout(const AppState& state, const DensePage& page, const Rect& area) {
    std::vector<std::vector<Level>> all;
    for (const DenseGroup& group : page) all.push_back(levels(state, group));
    const Spacing space = area.h < 330 ? Spacing{20, 6} : Spacing{};
    set_heights(all, space, area.h, area.w > 1250 ? 54.0f : 46.0f);
    DenseLayout out;
    float y = area.y;
    for (std::size_t n = 0; n < page.size(); ++n) {
        std::vector<Column> list = columns(state, page[n]);
        float gap = 0, highest = 0;
        for (const Level& l : all[n]) highest = std::max(highest, l.ch);
        const Attempt a = fit(state, list, area.w, gap, highest < least_ch);
        stretch(list, area.w, gap, a);
        out.size = std::min(out.size, highest < 20 ? std::min(a.size, 13.0f) : a.size);
        for (const Level& level : all[n]) {
            place_level(state, out, list, level, area, y, gap, space, a);
            y += space.height(level);
        }
    }
    out.bottom = y - space.gap;
    return out;
}

}  // namespace tilewalk::ui
