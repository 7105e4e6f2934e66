#include "core/lessons/shared/explain_faults.h"

#include "core/base/exactly.h"
#include "core/lessons/shared/parts.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

// The innermost place where NaN or ∞ begins; null if it came in with a number.
const Expr* birthplace(const Expr& e) {
    if (e.kind == K::number) return nullptr;
    const double value = evaluate(e);
    if (std::isfinite(value)) return nullptr;
    bool came_in = false;
    for (const Expr& part : e.parts) {
        if (const Expr* place = birthplace(part)) return place;
        const double v = evaluate(part);
        came_in |= std::isnan(value) ? std::isnan(v) : std::isinf(v);
    }
    return came_in ? nullptr : &e;
}

std::string birth_text(const Expr& e) {
    if (std::isnan(evaluate(e))) return operands(e) + " has no value";
    if (e.kind == K::quotient) return "a division by 0 gives ∞";
    const Format format = e.kind == K::rounded ? e.format : Format::fp64;
    const std::string what = e.kind == K::exponential ? "exp(" + num_text(evaluate(e.parts[0])) + ")"
                             : e.kind == K::rounded   ? num_text(std::abs(evaluate(e.parts[0])))
                                                      : "the sum";
    return what + " is more than " + largest_text(format);
}

bool alarming(Slot slot, double value) {
    if (std::isnan(value) || value > 0) return !std::isfinite(value);
    // −∞ is what a masked score and an empty row have there
    for (Slot empty : {Slot::S, Slot::S_hbm, Slot::S_cap, Slot::x, Slot::m, Slot::m_tile, Slot::m_hbm,
                       Slot::m_part, Slot::L, Slot::Li, Slot::L_part, Slot::L_parts})
        if (slot == empty) return false;
    return std::isinf(value);
}

// "m[0]"; of a part as its formulas call it: "O_A[2]"
std::string called(const View& v, const CellRef& cell) {
    for (const auto accesses : {v.trace.writes(v.k), v.trace.reads(v.k)})
        for (const Access& a : accesses) {
            const Region& at = v.trace.value(a.value).region;
            if (a.slot != cell.slot || !is_of_parts(a.slot) || !at.contains(cell.row, cell.col)) continue;
            return plain(slot_symbol(v.trace, a.slot, v.k, a.tile)) +
                   part_index(v.trace, cell, at, holding(v.trace, cell, v.k).step);
        }
    return cell_text(v.trace, cell, v.k);
}

// "m[0] is ∞ since step 5"; empty for what no step before this one wrote or loaded.
std::string since_text(const View& v, const CellRef& source) {
    const Held held = holding(v.trace, source, v.k - 1);
    if (!held) return {};
    const std::string since = held.step < 0 ? " in HBM" : " since step " + str(held.step + 1);
    return called(v, source) + " is " + num_text(value_at(*held.value, source)) + since;
}

double source_value(const View& v, const CellRef& source) {
    const Held held = holding(v.trace, source, v.k - 1);
    return held ? value_at(*held.value, source) : 0;
}

std::string nan_source(const View& v) {
    for (const CellRef& source : v.out.sources)
        if (std::isnan(source_value(v, source))) return since_text(v, source);
    return {};
}

std::string infinite_source(const View& v) {
    for (const CellRef& source : v.out.sources) {
        const double value = source_value(v, source);
        if (alarming(source.slot, value) && !std::isnan(value)) return since_text(v, source);
    }
    return {};
}

// Sources that a sum of products takes side by side stand one matrix after the other: P̃[0,2], P̃[0,3], then
// V[2,0], V[3,0].
std::vector<std::vector<CellRef>> sources_by_matrix(const View& v) {
    std::vector<std::vector<CellRef>> out;
    for (const CellRef& source : v.out.sources) {
        if (out.empty() || out.back().back().slot != source.slot) out.emplace_back();
        out.back().push_back(source);
    }
    return out;
}

// The infinite one of the two cells whose product this is; empty where no pair has just these values.
std::string infinite_factor(const View& v, const Expr& product) {
    if (product.parts.size() != 2) return {};
    const double left = evaluate(product.parts[0]), right = evaluate(product.parts[1]);
    const auto matrices = sources_by_matrix(v);
    for (std::size_t n = 1; n < matrices.size(); ++n) {
        const auto &lefts = matrices[n - 1], &rights = matrices[n];
        if (lefts.size() != rights.size()) continue;
        for (std::size_t k = 0; k < lefts.size(); ++k)
            if (source_value(v, lefts[k]) == left && source_value(v, rights[k]) == right)
                return since_text(v, std::isinf(left) ? lefts[k] : rights[k]);
    }
    return {};
}

// How the cell became NaN or ∞, from the numbers that came in.
std::string accident(const View& v, const Expr& e) {
    const bool nan = std::isnan(v.result());
    const std::string cell = called(v, v.out.target), value = num_text(v.result());
    const std::string nan_before = nan ? nan_source(v) : std::string();
    const Expr* place = nan_before.empty() ? birthplace(e) : nullptr;
    const std::string begins = place ? birth_text(*place) : std::string();
    const bool no_product = place && place->kind == K::product && std::isnan(evaluate(*place));
    const std::string came_in = nan && !place ? nan_before
                                : no_product  ? infinite_factor(v, *place)
                                              : infinite_source(v);
    if (!begins.empty())
        return capitalised(begins) + ", so " + cell + " is " + value +
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

std::string largest_exponent_text(Format format) { return format_number(log_exactly(info(format).largest)); }

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

bool has_fault(const View& v) {
    return std::ranges::any_of(v.trace.lesson().faults(),
                               [&](const Fault& fault) { return v.problem.switches.*fault.on; });
}

Numbers operands(const View& v, Numbers numbers) {
    const Format cast = operand_format(v.problem.precision);
    for (Expr& number : numbers) number = rounded(cast, std::move(number));
    return numbers;
}

}  // namespace tilewalk
