#include "core/lessons/shared/explain_faults.h"

#include <cmath>

namespace tilewalk {

namespace {

using K = Expr::Kind;

std::string in_brackets(double value) {
    const std::string text = num_text(value);
    return value < 0 ? "(" + text + ")" : text;
}

// "∞ − ∞": the operands of a node that made NaN of them.
std::string operands(const Expr& e) {
    double left = evaluate(e.parts[0]);
    for (std::size_t n = 1; n < e.parts.size(); ++n) {
        const double right = evaluate(e.parts[n]);
        const double next = combined(e.kind, left, right);
        if (std::isnan(next)) return num_text(left) + sign_of(e.kind) + in_brackets(right);
        left = next;
    }
    return {};
}

// The innermost place where NaN or ∞ begins, in words; empty if it came in with a number.
std::string birth(const Expr& e) {
    if (e.kind == K::number) return {};
    const double value = evaluate(e);
    if (std::isfinite(value)) return {};
    bool came_in = false;
    for (const Expr& part : e.parts) {
        if (std::string text = birth(part); !text.empty()) return text;
        const double v = evaluate(part);
        came_in |= std::isnan(value) ? std::isnan(v) : std::isinf(v);
    }
    if (came_in) return {};
    if (std::isnan(value)) return operands(e) + " has no value";
    if (e.kind == K::quotient) return "a division by 0 gives ∞";
    const Format format = e.kind == K::rounded ? e.format : Format::fp64;
    const std::string what = e.kind == K::exponential ? "exp(" + num_text(evaluate(e.parts[0])) + ")"
                             : e.kind == K::rounded   ? num_text(std::abs(evaluate(e.parts[0])))
                                                      : "the sum";
    return what + " is more than " + largest_text(format);
}

bool alarming(Slot slot, double value) {
    if (std::isnan(value) || value > 0) return !std::isfinite(value);
    for (Slot empty : {Slot::S, Slot::m, Slot::m_tile, Slot::L, Slot::Li, Slot::m_hbm})
        if (slot == empty) return false;  // −∞ is what an empty row has there
    return std::isinf(value);
}

// "m[0] is ∞ since step 5": a source that is out of order already.
std::string bad_source(const View& v, bool nan) {
    for (const CellRef& source : v.out.sources) {
        const Held held = holding(v.trace, source, v.k - 1);
        if (!held) continue;
        const double value = value_at(*held.value, source);
        if (nan ? !std::isnan(value) : !alarming(source.slot, value) || std::isnan(value)) continue;
        const std::string since = held.step < 0 ? " in HBM" : " since step " + str(held.step + 1);
        return cell_text(source) + " is " + num_text(value) + since;
    }
    return {};
}

// How the cell became NaN or ∞, from the numbers that came in.
std::string accident(const View& v, const Expr& e) {
    const bool nan = std::isnan(v.result());
    const std::string begins = birth(e), cell = cell_text(v.out.target), value = num_text(v.result());
    const std::string came_in = bad_source(v, nan && begins.empty());
    if (!begins.empty())
        return (begins.starts_with("exp(") ? begins : capitalised(begins)) + ", so " + cell + " is " + value +
               (came_in.empty() ? "." : ": " + came_in + ".");
    if (came_in.empty()) return {};
    // A copy, or a sum that goes on: nothing is explained by itself.
    if (came_in.starts_with(cell + " is " + value)) return came_in + " and stays " + value + ".";
    return came_in +
           (nan ? "; whatever is computed with NaN becomes NaN." : ", and so " + cell + " is " + value + ".");
}

void tell_rounding(const View& v, Format format, double before, double after) {
    if (before == after || !std::isfinite(before)) return;
    const auto [from, to] = format_apart(before, after);
    std::string sentence = "Rounded to " + std::string(name(format)) + ", " + from + " becomes " + to;
    if (after == 0) sentence += " (the smallest number is " + num_text(smallest(format)) + ")";
    add_sentence(v, sentence + ".");
    v.out.kind |= rounded_row;
}

}  // namespace

std::string largest_exponent_text(Format format) { return format_number(std::log(info(format).largest)); }

std::string largest_text(Format format) {
    return "the largest number of " + std::string(name(format)) + ", " + num_text(info(format).largest);
}

void add_sentence(const View& v, const std::string& sentence) { v.out.why += " " + sentence; }

void set_numbers(const View& v, const Expr& e) {
    v.out.numbers = write(e, v.result());
    const bool overflowed = v.step.op == Op::scores && std::isinf(v.result());
    if (alarming(v.out.target.slot, v.result()) || overflowed) {
        const std::string sentence = accident(v, e);
        if (!sentence.empty()) v.out.why = sentence;
        v.out.kind |= accident_row;
    } else if (e.kind == K::rounded) {
        tell_rounding(v, e.format, evaluate(e.parts[0]), v.result());
    }
}

void tell_copy_rounding(const View& v, Format format, double before) {
    tell_rounding(v, format, before, v.at(v.written(v.out.target.slot), v.row, v.col));
}

void tell_input_rounding(const View& v, const Matrix& given) {
    tell_copy_rounding(v, v.problem.precision.inputs, given(v.row, v.col));
}

void tell_operand(const View& v, const char* what) {
    const Format cast = operand_format(v.problem.precision);
    if (cast != Format::fp64) add_sentence(v, std::string(what) + " the product in " + name(cast) + ".");
}

Numbers operands(const View& v, Numbers numbers) {
    const Format cast = operand_format(v.problem.precision);
    for (Expr& number : numbers) number = rounded(cast, std::move(number));
    return numbers;
}

}  // namespace tilewalk
