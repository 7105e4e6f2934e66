#include "app/ui/parts/zoom_layout.h"

#include "app/ui/parts/bed.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage_words.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tilewalk::ui {

namespace zooming {

namespace {

// A drawing without strips of colour below the rows may be lower, rather than not there.
constexpr float least_row = 38, least_lens_h = 184, low_lens_h = 160;

// Letters of the longest number of the line.
int letters(const AppState& state, const Strip& s, int digits) {
    const Region cells = s.line.cells, all = s.value->region;
    // Of hundreds the widest of the whole matrix is known.
    constexpr int many = 128;
    if (s.line.length() > many) return state.look[s.slot].letters_with(digits);
    int most = 1;
    for (int r = 0; r < std::max(cells.rows, s.rows); ++r)
        for (int c = 0; c < cells.cols; ++c) {
            const double v = s.value->data(cells.row - all.row + r, cells.col - all.col + c);
            std::string text = state.look[s.slot].digits.text(v, digits);
            if (digits == number_style().digits && formula_is_short(state) && !s.result)
                text = number_in_formula(state, s.slot, v, text);
            most = std::max(most, letter_count(text));
        }
    return most;
}

// The cells of a factor have no scale in them: the sum of their products is multiplied by it, so it stands
// where the line goes on to the result.
constexpr std::string_view scale_sign = "scale ·";

const char* sign_without_scale(const char* before) {
    return !std::string_view(before).ends_with(scale_sign) ? before : *before == '+' ? "+" : "";
}

// Single numbers go with the matrix behind them, if one is left, else with the one before.
std::vector<Band> bands_of(const Zoom& z) {
    std::vector<Band> out(1);
    const bool scaled = std::ranges::any_of(
        z.strips, [](const Strip& s) { return std::string_view(s.before).ends_with(scale_sign); });
    const auto matrix_later = [&](int n, bool result) {
        for (int m = n; m < z.size(); ++m)
            if (z.at(m).result == result && !z.at(m).single()) return true;
        return false;
    };
    const auto replaced_next = [&](int n) {  // the first result takes the place of this old value
        for (int m = n + 1; m < z.size(); ++m)
            if (z.at(m).result) return replaces(z.at(m), z.at(n)) && !matrix_later(n + 1, false);
        return false;
    };
    for (int n = 0; n < z.size(); ++n) {
        const Strip& s = z.at(n);
        const bool opens = s.result && (n == 0 || !z.at(n - 1).result);
        const bool full = out.back().strip >= 0;
        if (full && (!s.single() || matrix_later(n, s.result))) out.emplace_back();
        Band& band = out.back();
        if (opens && scaled) band.head.push_back({"× scale"});
        if (const char* const sign = opens ? "→" : sign_without_scale(s.before); *sign)
            band.head.push_back({sign});
        band.head.push_back({"", n});
        if (*s.after) band.head.push_back({s.after});
        if (s.single()) continue;
        (replaced_next(n) ? band.old : band.strip) = n;
    }
    return out;
}

// Where a sum or a maximum is taken over the whole line, the largest of it is shown.
int decisive(const Zoom& z, int length) {
    double most = minus_infinity;
    int at = 0;
    for (int n = 0; n < length; ++n) {
        double product = 1;
        int factors = 0;
        for (const Strip& s : z.strips)
            if (!s.single() && s.line.chosen < 0 && !s.result && s.line.length() == length)
                product *= weight_at(s, n), ++factors;
        if (factors > 1) product = std::abs(product);
        if (product > most) most = product, at = n;
    }
    return at;
}

}  // namespace

bool formula_is_short(const AppState& state) {
    // Asked for each number of a line: of hundreds of terms only the first are looked at.
    constexpr int most_numbers = 6;
    int numbers = 0;
    return std::ranges::none_of(state.explanation.numbers, [&](const Span& span) {
        return span.face == Span::Face::number && ++numbers > most_numbers;
    });
}

bool is_moved(Op op) { return info(op).kind != OpKind::compute; }

float cell_w(int letters) { return px(letters) * size::mono * size::far_number + 14; }

Zoom zoom_of(const AppState& state) {
    Zoom z;
    const bool moved = is_moved(op_now(state));
    for (const StageTerm& term :
         zoom_order(stage_terms(*state.trace, state.cursor.step, state.explanation))) {
        Strip s;
        static_cast<StageTerm&>(s) = term;
        s.line = term_line(term, state.explanation);
        if (moved && s.line.chosen >= 0) s.line.chosen = 0;
        const TermWords words = term_words(state, {.slot = s.slot, .value = s.value, .made = s.made});
        if (!s.single()) s.words = s.line.column ? words.rows : words.columns;
        z.strips.push_back(s);
    }
    z.bands = bands_of(z);
    return z;
}

double weight_at(const Strip& s, int n) {
    const Region at = s.line.part(n, 1);
    const double v = s.value->data(at.row - s.value->region.row, at.col - s.value->region.col);
    return std::isnan(v) ? 0 : v;
}

void choose_across(const AppState& state, Zoom& z, float w) {
    int longest = 1;
    for (const Strip& s : z.strips) longest = std::max(longest, s.line.length());
    for (const int wanted : {most_across, most_across - 2, 1})
        for (int digits : digit_choices()) {
            float widest = 1;
            for (Strip& s : z.strips) {
                // A single number has room for what it is in the formula.
                s.digits = s.single() ? number_style().digits : digits;
                s.cw = cell_w(letters(state, s, s.digits));
                if (!s.single()) widest = std::max(widest, s.cw);
            }
            z.across = std::clamp(static_cast<int>(w / widest), 1, most_across);
            if (z.across < std::min(wanted, longest)) continue;
            if (z.across == most_across - 1) --z.across;  // lines of even length
            return;
        }
}

void choose_parts(Zoom& z) {
    for (Band& band : z.bands)
        for (int n : {band.strip, band.old}) {
            if (n < 0) continue;
            Strip& s = z.at(n);
            const int length = s.line.length();
            s.count = std::min(length, z.across);
            const int focus = s.line.chosen >= 0 ? s.line.chosen : decisive(z, length);
            s.first = std::clamp(focus / s.count * s.count, 0, length - s.count);
        }
}

float band_h(const Zoom& z, const Band& band) {
    float h = head_h;
    if (band.old >= 0) h += old_h;
    if (band.strip >= 0) {
        const Strip& s = z.at(band.strip);
        h += px(s.rows) * z.row;
        if (z.locators && s.line.length() > z.across) h += locator_h;
        if (z.words && !s.words.empty()) h += word_h;
    }
    return h;
}

float total_h(const Zoom& z) {
    float h = 0;
    for (const Band& band : z.bands) h += band_h(z, band) + band_gap;
    return h - band_gap;
}

bool choose_rows(Zoom& z, float h, bool lens) {
    struct Choice {
        bool lens, locators, words;
        float least;
    };
    const Choice choices[] = {{true, true, true, least_row},   {true, false, true, least_row},
                              {false, true, true, 34},         {true, true, false, least_row},
                              {false, true, false, least_row}, {false, false, false, 34}};
    for (const Choice& choice : choices) {
        if (choice.lens && !lens) continue;
        const float drawing = choice.locators ? least_lens_h : low_lens_h,
                    room = h - (choice.lens ? drawing + band_gap : 0);
        z.locators = choice.locators, z.words = choice.words;
        for (z.row = highest_row; z.row >= choice.least; z.row -= 2)
            if (total_h(z) <= room) {
                z.lens = choice.lens ? h - total_h(z) - band_gap : 0;
                return true;
            }
    }
    // What is written, if all has no room.
    while (z.bands.size() > 1) {
        z.bands.erase(z.bands.begin());
        z.row = 34;
        if (total_h(z) > h) continue;
        z.bands.front().head.insert(z.bands.front().head.begin(), {"…"});
        return true;
    }
    return false;
}

}  // namespace zooming

Region TermLine::part(int first, int count) const {
    return column ? Region{cells.row + first, cells.col, count, 1}
                  : Region{cells.row, cells.col + first, 1, count};
}

TermLine term_line(const StageTerm& term, const Explanation& e) {
    const Region all = term.value->region;
    const auto inside = [&](int at, int first, int count) {
        return std::clamp(at, first, first + count - 1);
    };
    const int row = inside(e.target.row, all.row, all.rows), col = inside(e.target.col, all.col, all.cols);
    const TermLine own{{row, all.col, 1, all.cols}, col - all.col, false};
    if (term.result) return own;
    Region box{0, 0, 0, 0};
    for (const CellRef& s : e.sources) {
        if (s.slot != term.slot || !all.contains(s.row, s.col)) continue;
        if (box.rows == 0) box = {s.row, s.col, 1, 1};
        const int top = std::min(box.row, s.row), left = std::min(box.col, s.col);
        const int bottom = std::max(box.row + box.rows, s.row + 1),
                  right = std::max(box.col + box.cols, s.col + 1);
        box = {top, left, bottom - top, right - left};
    }
    if (box.rows == 0) return own;
    if (box.rows > 1 && box.cols == 1) return {{all.row, box.col, all.rows, 1}, -1, true};
    const bool one = box.rows * box.cols == 1;
    return {{box.row, all.col, 1, all.cols}, one ? box.col - all.col : -1, false};
}

std::vector<StageTerm> zoom_order(std::vector<StageTerm> terms) {
    const auto result = std::ranges::find_if(terms, &StageTerm::result);
    if (result == terms.end()) return terms;
    const auto wide = [](const StageTerm& t) { return t.value->region.cols > 1; };
    const auto old = std::find_if(terms.begin(), result,
                                  [&](const StageTerm& t) { return wide(t) && replaces(*result, t); });
    if (old == result || old + 1 == result || *(old + 1)->before != '+') return terms;
    const std::string_view sign = (old + 1)->before;
    // a ⊙ O + P V is P V + a ⊙ O: what it adds goes first.
    auto behind = old + 1;
    for (auto t = old + 1; t != result; ++t)
        if (wide(*t)) behind = t + 1;
    StageTerm &head = terms.front(), &first = *(old + 1), &last = *(behind - 1);
    std::swap(head.before, first.before);
    // Its factor goes with it.
    if (sign == "+ scale ·") first.before = "scale ·", head.before = "+";
    std::swap(old->after, last.after);
    std::rotate(terms.begin(), old + 1, behind);
    return terms;
}

}  // namespace tilewalk::ui
