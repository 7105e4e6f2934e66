// The comparison in words.
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/compare/kernel_compare.h"

#include <cmath>

namespace tilewalk {

namespace {

using Quantity = KernelFault::Quantity;
using Kind = KernelFinding::Kind;

std::string symbol(Quantity quantity) {
    return quantity == Quantity::O ? "O" : info(info(quantity).slot).symbol;
}

bool has_columns(Quantity quantity) {
    return quantity == Quantity::S || quantity == Quantity::P || quantity == Quantity::O;
}

std::string place(Quantity quantity, int i, int j, int row, int column) {
    std::string text = symbol(quantity) + " of " + tile_text(i, j) + ", row " + str(row);
    if (has_columns(quantity)) text += column < 0 ? ", every column" : ", column " + str(column);
    return text;
}

// The number that the injected fault multiplied, as the CPU's walk has it; none where nothing was computed.
std::optional<double> number_hit(const KernelComparison& c) {
    const KernelFault& fault = c.kernel->fault;
    const ThreeWays values = tile_values(c, fault.quantity, fault.i, fault.j);
    if (fault.row >= values.cpu.rows() || fault.column >= values.cpu.cols()) return {};
    return fault.column >= 0 ? values.cpu(fault.row, fault.column)
                             : values.cpu.row(fault.row).cwiseAbs().maxCoeff();
}

bool first_of_its_row(const KernelComparison& c, const KernelFault& fault) {
    const int step = step_of(*c.cpu, Quantity::m, fault.i, fault.j);
    const Held m = step > 0 ? c.cpu->live(Slot::m, step - 1) : Held{};
    return m && fault.row < m.value->data.rows() && std::isinf(m.value->data(fault.row, 0));
}

}  // namespace

std::string describe(const KernelFault& fault) {
    if (fault.quantity == Quantity::none) return "none";
    char factor[40];
    std::snprintf(factor, sizeof factor, "%.10g", 1 + fault.amount);
    return place(fault.quantity, fault.i, fault.j, fault.row, fault.column) + " × " + factor;
}

std::string describe(const KernelTrace& k) {
    const Problem& p = k.problem;
    std::string text = k.kernel + ", " + name(format_of(k.dtype)) + ", N = " + str(p.N());
    if (p.N_kv() != p.N()) text += ", N_kv = " + str(p.N_kv());
    text += ", d = " + str(p.d());
    if (k.kernel_d > p.d()) text += " (filled up to " + str(k.kernel_d) + " with zeros)";
    if (!k.tiles.empty()) text += ", tiles of " + str(p.Br) + " × " + str(p.Bc);
    if (k.split_blocks > 0) text += ", splits of " + counted(k.split_blocks, "key block");
    if (p.causal) text += ", causal";
    if (p.window) text += ", window " + str(*p.window);
    return text;
}

std::string three_digits(double x) {
    const double size = std::abs(x);
    if (!std::isfinite(x) || size < 1e-3 || size >= 100) return format_number(x, 3);
    return format_fixed(x, 2 - static_cast<int>(std::floor(std::log10(size))));
}

// With as many decimals as what is added up to the limit.
static std::string in_digits_of_parts(const OutputVerdict& v, double x) {
    std::size_t decimals = 0;
    for (const double part : {v.standard, v.floor}) {
        if (!std::isfinite(part) || part < 1e-3 || v.limit() >= 100) return three_digits(x);
        const std::string text = three_digits(part);
        decimals = std::max(decimals, text.size() - text.find('.') - 1);
    }
    return format_fixed(x, static_cast<int>(decimals));
}

std::string limit_text(const OutputVerdict& v) { return in_digits_of_parts(v, v.limit()); }

std::string formula_text(const OutputVerdict& v) {
    const std::string x = info(v.slot).symbol;
    // As printed, which may miss the limit in its last digit
    const auto rounded = [](double value) {
        if (value == 0 || !std::isfinite(value)) return value;
        const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
        return std::round(value / unit) * unit;
    };
    const std::string limit = limit_text(v),
                      printed = in_digits_of_parts(v, v.factor * rounded(v.standard) + rounded(v.floor));
    return "max |" + x + " − " + x + "₆₄| = " + three_digits(v.error) + (v.passed() ? " ≤ " : " > ") +
           format_number(v.factor) + " · " + three_digits(v.standard) + " + " + three_digits(v.floor) +
           (printed == limit ? " = " : " ≈ ") + limit;
}

std::string finding_text(const KernelComparison& c) {
    const KernelFinding& f = c.finding;
    const auto [found, expected] = format_apart(f.found, f.expected);
    const std::string numbers = ": " + found + " against " + expected;
    switch (f.kind) {
    case Kind::none: return c.kernel->tiles.empty() ? "no tiles were recorded" : "all within rounding";
    case Kind::value:
        return "first beyond rounding: " + place(f.quantity, f.i, f.j, f.row, f.column) + numbers +
               (f.quantity == Quantity::O ? ", not yet divided" : "");
    case Kind::extra_tile: return tile_text(f.i, f.j) + " was computed, though the mask removes it whole";
    case Kind::missing_tile: return tile_text(f.i, f.j) + " was left out, though the mask leaves some of it";
    case Kind::output:
        return "first beyond rounding: O after the last tile, row " + str(f.row) + ", column " +
               str(f.column) + numbers;
    case Kind::log_sum: return "first beyond rounding: L after the last tile, row " + str(f.row) + numbers;
    }
    return "";
}

std::string fault_text(const KernelComparison& c) {
    const KernelFault& fault = c.kernel->fault;
    if (fault.quantity == Quantity::none || c.finding) return "";
    const std::string begin = "the injected fault (" + describe(fault) + ") has no effect: ";
    if (fault.quantity == Quantity::alpha && first_of_its_row(c, fault))
        return begin + "the first α of a row multiplies 0";
    const auto hit = number_hit(c);
    if (!hit) return begin + "nothing is computed there";
    if (*hit == 0 || std::isinf(*hit)) return begin + "it multiplies " + format_number(*hit);
    return begin + "rounding moves " + format_number(*hit) + " as far";
}

}  // namespace tilewalk
