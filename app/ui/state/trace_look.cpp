#include "app/ui/state/trace_look.h"

#include "core/base/words.h"
#include "core/lessons/shared/parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::ui {

namespace {

// Numbers are only drawn in matrices up to this many cells; larger ones are heat maps without text.
constexpr Eigen::Index most_numbered_cells = 256;

void widen(SlotLook& look, const Matrix& A) {
    for (Eigen::Index n = 0; n < A.size(); ++n) {
        const double v = A.data()[n];
        if (!std::isfinite(v)) continue;
        look.lo = std::min(look.lo, v);
        look.hi = std::max(look.hi, v);
    }
}

void measure(SlotLook& look, const Matrix& A) {
    for (Eigen::Index n = 0; n < A.size(); ++n) {
        const double v = A.data()[n], size = std::abs(v);
        if (!std::isfinite(v)) look.words = std::max(look.words, letter_count(format_number(v)));
        if (!std::isfinite(v)) continue;
        if (size > 0 && (look.least == 0 || size < look.least)) look.least = size;
        int whole = 1;
        for (double unit = 9.5; size >= unit && whole < 6; unit = 10 * unit + 4.5) ++whole;
        look.whole = std::max(look.whole, whole + (v < 0));
    }
}

}  // namespace

int SlotLook::letters_with(int shown) const {
    const int decimals = digits.decimals(shown);
    int letters = std::max(whole + (decimals > 0 ? 1 + decimals : 0), words);
    // Powers of ten, with the sign that there is
    const auto power = [&](double v) { return letter_count(digits.text(lo < 0 ? -v : v, shown)); };
    if (digits.largest < .1 && least > 0 && least < 1e-3) letters = std::max(letters, power(least));
    if (digits.largest >= 1e6) letters = std::max({letters, power(digits.largest), power(least)});
    return letters;
}

float SlotLook::place(double value) const {
    if (!std::isfinite(value)) return 0;
    if (with_sign()) return static_cast<float>(value / std::max(hi, -lo));
    return hi > 0 ? static_cast<float>(value / hi) : 0;
}

TraceLook look_of(const Trace& trace) {
    TraceLook out;
    auto take = [&](Slot slot, const Value& value) {
        widen(out.slots[static_cast<std::size_t>(slot)], value.data);
        // Of parts of several rows one row is shown.
        if (value.data.size() <= most_numbered_cells || is_of_parts(slot))
            measure(out.slots[static_cast<std::size_t>(slot)], value.data);
    };
    for (int s = 0; s < slot_count; ++s)  // what lies in HBM from the start
        for (int tile = 0; tile < trace.tiles(static_cast<Slot>(s)); ++tile)
            if (const Held held = trace.live(static_cast<Slot>(s), tile, -1))
                take(static_cast<Slot>(s), *held.value);
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) take(a.slot, trace.value(a.value));
    for (int s = 0; s < slot_count; ++s)
        out.slots[static_cast<std::size_t>(s)].digits = trace.digits(static_cast<Slot>(s));
    // A tile on chip has the colours of the matrix that it came from.
    auto share = [&](Slot a, Slot b) {
        SlotLook &x = out.slots[static_cast<std::size_t>(a)], &y = out.slots[static_cast<std::size_t>(b)];
        x.lo = y.lo = std::min(x.lo, y.lo);
        x.hi = y.hi = std::max(x.hi, y.hi);
    };
    for (const auto& [whole, tile] : matrices_and_tiles()) share(whole, tile);
    out.grid = timeline_grid(trace);
    return out;
}

std::vector<int> digit_choices(int least) {
    std::vector<int> out;
    for (int digits = number_style().digits; digits >= least; --digits) out.push_back(digits);
    return out;
}

std::vector<NumberSize> number_sizes() {
    const int full = number_style().digits;
    std::vector<NumberSize> out{{15, full}, {14, full}, {13, full}};
    for (int digits = full - 1; digits >= fewest_digits; --digits) out.push_back({13, digits});
    return out;
}

int letter_count(const std::string& text) {
    int letters = 0;
    for (std::size_t n = 0; n < text.size(); ++n) {
        if (!continues_character(text[n])) ++letters;
        if (text.compare(n, 2, "\u0303") == 0) --letters;
    }
    return letters;
}

}  // namespace tilewalk::ui
