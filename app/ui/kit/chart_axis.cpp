// Ends, round numbers and their texts.
#include "app/ui/kit/chart.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

bool has_place(const ChartAxis& axis, double value) {
    return std::isfinite(value) && (!axis.logarithmic || value > 0);
}
bool has_ends(const ChartAxis& axis) {
    return has_place(axis, axis.lo) && has_place(axis, axis.hi) && axis.lo < axis.hi;
}
bool binary(const ChartAxis& axis) { return axis.unit == Unit::length || axis.unit == Unit::bytes; }

// Every n-th so that at most `most` are left.
std::vector<double> thinned(const std::vector<double>& all, int most) {
    const std::size_t step =
        (all.size() + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
    std::vector<double> out;
    for (std::size_t n = 0; n < all.size(); n += std::max<std::size_t>(step, 1)) out.push_back(all[n]);
    return out;
}

std::vector<double> powers(double lo, double hi, double base) {
    std::vector<double> out;
    const int first = static_cast<int>(std::ceil(std::log(lo) / std::log(base) - 1e-9)),
              last = static_cast<int>(std::floor(std::log(hi) / std::log(base) + 1e-9));
    for (int k = first; k <= last; ++k) out.push_back(std::pow(base, k));
    return out;
}

// 1, 2, 5 in each power of ten.
std::vector<double> ones_twos_fives(double lo, double hi) {
    std::vector<double> out;
    for (double power : powers(lo / 10, hi, 10))
        for (double factor : {1.0, 2.0, 5.0})
            if (factor * power >= lo * (1 - 1e-9) && factor * power <= hi * (1 + 1e-9))
                out.push_back(factor * power);
    return out;
}

std::vector<double> logarithmic_ticks(const ChartAxis& axis, int most) {
    if (binary(axis)) return thinned(powers(axis.lo, axis.hi, 2), most);
    const std::vector<double> tens = powers(axis.lo, axis.hi, 10), fine = ones_twos_fives(axis.lo, axis.hi);
    return tens.size() >= 3 || static_cast<int>(fine.size()) > most ? thinned(tens, most) : fine;
}

// 1, 2 or 5 times a power of ten; of bytes a power of two.
double round_step(const ChartAxis& axis, double least) {
    if (axis.unit == Unit::bytes) return std::exp2(std::ceil(std::log2(least)));
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (double factor : {1.0, 2.0, 5.0})
        if (least <= factor * power * (1 + 1e-9)) return factor * power;
    return 10 * power;
}

}  // namespace

float place_on(const ChartAxis& axis, double value) {
    if (!has_ends(axis) || !has_place(axis, value)) return 0;
    const double part = axis.logarithmic ? std::log(value / axis.lo) / std::log(axis.hi / axis.lo)
                                         : (value - axis.lo) / (axis.hi - axis.lo);
    return px(std::clamp(part, 0.0, 1.0));
}

std::vector<double> ticks_of(const ChartAxis& axis, int most) {
    if (!has_ends(axis) || most < 1) return {};
    if (axis.logarithmic) return logarithmic_ticks(axis, most);
    const double step = round_step(axis, (axis.hi - axis.lo) / most);
    std::vector<double> out;
    for (double k = std::ceil(axis.lo / step - 1e-9); k * step <= axis.hi * (1 + 1e-12); ++k)
        out.push_back(k * step);
    return thinned(out, most);
}

std::string tick_text(const ChartAxis& axis, double value) {
    switch (axis.unit) {
    case Unit::length: return format_count(std::llround(value));
    case Unit::seconds: return value == 0 ? "0" : format_time(value);
    case Unit::bytes: return value == 0 ? "0" : format_large_size(value);
    case Unit::percent: return format_number(value, 3) + " %";
    case Unit::number: return format_number(value, value >= 1e5 ? 1 : 2);
    }
    return {};
}

ChartAxis fitted(ChartAxis axis, const std::vector<double>& values) {
    if (has_ends(axis)) return axis;
    double lo = 0, hi = 0;
    bool any = false;
    for (double value : values) {
        if (!has_place(axis, value)) continue;
        lo = any ? std::min(lo, value) : value;
        hi = any ? std::max(hi, value) : value;
        any = true;
    }
    if (axis.logarithmic) {
        if (!any) lo = 1, hi = 10;
        // A twentieth of the way more at each end, at least a third of a factor of two.
        const double margin = std::max(std::pow(hi / lo, .05), std::cbrt(2.0));
        axis.lo = lo / margin, axis.hi = hi * margin;
        return axis;
    }
    // From zero, or the bars of a plot would lie.
    axis.lo = std::min(lo, 0.0);
    axis.hi = hi > 0 ? hi * 1.1 : axis.lo + 1;
    return axis;
}

}  // namespace tilewalk::ui
