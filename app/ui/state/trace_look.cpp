#include "app/ui/state/trace_look.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::ui {

namespace {

// Numbers are only drawn in matrices up to this many cells; larger ones are heat maps without text.
constexpr Eigen::Index most_numbered_cells = 256;

// Letters of format_short(v, digits), counted without writing it: this runs over every value of the trace.
int number_letters(double v, int digits) {
    const double size = std::abs(v);
    const int sign = v < 0;
    const bool integer = v == std::floor(v) && size < 1e6;
    if (!integer && (!(size >= 1e-3) || size >= 1e6)) return letter_count(format_number(v, digits));
    const int whole = size < 10 ? 1 : size < 100 ? 2 : size < 1e3 ? 3 : size < 1e4 ? 4 : size < 1e5 ? 5 : 6;
    int decimals = integer ? 0 : decimals_of(digits, whole);
    double unit = 10;
    for (int fewer = 1; fewer < decimals && fewer <= std::max(2, digits - 2); ++fewer, unit *= 10)
        if (std::abs(v * unit - std::round(v * unit)) < 1e-9) decimals = fewer;
    return sign + whole + (decimals > 0 ? 1 + decimals : 0);
}

void widen(SlotLook& look, const Matrix& A) {
    for (Eigen::Index n = 0; n < A.size(); ++n) {
        const double v = A.data()[n];
        if (!std::isfinite(v)) continue;
        look.lo = std::min(look.lo, v);
        look.hi = std::max(look.hi, v);
    }
}

void measure(SlotLook& look, const Matrix& A) {
    if (A.size() > most_numbered_cells) return;
    for (Eigen::Index n = 0; n < A.size(); ++n)
        for (int digits = 6; digits >= 2; --digits) {
            int& letters = look.letters[static_cast<std::size_t>(6 - digits)];
            letters = std::max(letters, number_letters(A.data()[n], digits));
        }
}

}  // namespace

float SlotLook::place(double value) const {
    if (!std::isfinite(value)) return 0;
    if (with_sign()) return static_cast<float>(value / std::max(hi, -lo));
    return hi > 0 ? static_cast<float>(value / hi) : 0;
}

TraceLook look_of(const Trace& trace) {
    TraceLook out;
    auto take = [&](Slot slot, const Value& value) {
        widen(out.slots[static_cast<std::size_t>(slot)], value.data);
        measure(out.slots[static_cast<std::size_t>(slot)], value.data);
    };
    for (int s = 0; s < slot_count; ++s)  // what lies in HBM from the start
        for (int tile = 0; tile < trace.tiles(static_cast<Slot>(s)); ++tile)
            if (const Held held = trace.live(static_cast<Slot>(s), tile, -1))
                take(static_cast<Slot>(s), *held.value);
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) take(a.slot, trace.value(a.value));
    // A tile on chip has the colours of the matrix that it came from.
    auto share = [&](Slot a, Slot b) {
        SlotLook &x = out.slots[static_cast<std::size_t>(a)], &y = out.slots[static_cast<std::size_t>(b)];
        x.lo = y.lo = std::min(x.lo, y.lo);
        x.hi = y.hi = std::max(x.hi, y.hi);
    };
    constexpr std::pair<Slot, Slot> same[] = {
        {Slot::Q, Slot::Qi},      {Slot::K, Slot::Kj},      {Slot::V, Slot::Vj},    {Slot::m, Slot::m_tile},
        {Slot::m, Slot::m_hbm},   {Slot::l, Slot::l_hbm},   {Slot::S, Slot::S_hbm}, {Slot::Prob, Slot::P_hbm},
        {Slot::dP, Slot::dP_hbm}, {Slot::dS, Slot::dS_hbm}, {Slot::dO, Slot::dOi},  {Slot::L, Slot::Li},
        {Slot::D, Slot::Di},      {Slot::dQ, Slot::dQi},    {Slot::dK, Slot::dKj},  {Slot::dV, Slot::dVj}};
    for (const auto& [whole, tile] : same) share(whole, tile);
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
