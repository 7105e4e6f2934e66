// Arithmetic with stored values, written out for people: "0.368 × 1.368 + (1.000 + 0.135)".
//
// One number is one text on a page: a formula has it as the matrix that holds it. These are rounded, so the
// shown arithmetic may miss the shown result in its last digits; then "≈" stands between them (sign_before).
// Only where it would miss by more, as when large numbers cancel, `write` takes more decimals.
#pragma once

#include "core/problem/precision.h"
#include "core/walk/explain.h"

#include <vector>

namespace tilewalk {

struct Expr {
    enum class Kind : std::uint8_t {
        number,
        sum,
        product,
        difference,
        quotient,
        maximum,
        exponential,
        logarithm,
        tangent,  ///< the hyperbolic one
        rounded   ///< to `format`: "fp16(0.368 × 1.368)"
    };
    Kind kind = Kind::number;
    double value = 0;        ///< kind == number
    Role role = Role::none;  ///< hue of the number
    std::vector<Expr> parts;
    Format format = Format::fp64;          ///< kind == rounded
    const MatrixDigits* digits = nullptr;  ///< kind == number: those of the slot that holds it
};

/// Parts of a formula.
using Numbers = std::vector<Expr>;

inline Expr num(double value, Role role = Role::none) { return {Expr::Kind::number, value, role, {}}; }
/// As the trace shows the numbers of this slot.
inline Expr num(const Trace& trace, Slot slot, double value) {
    return {Expr::Kind::number, value, info(slot).role, {}, Format::fp64, &trace.digits(slot)};
}
/// A single part stands for itself.
inline Expr sum(Numbers parts) {
    if (parts.size() == 1) return parts[0];
    return {Expr::Kind::sum, 0, Role::none, std::move(parts)};
}
inline Expr product(Numbers parts) { return {Expr::Kind::product, 0, Role::none, std::move(parts)}; }
inline Expr maximum(Numbers parts) { return {Expr::Kind::maximum, 0, Role::none, std::move(parts)}; }
inline Expr difference(Expr a, Expr b) {
    return {Expr::Kind::difference, 0, Role::none, {std::move(a), std::move(b)}};
}
inline Expr quotient(Expr a, Expr b) {
    return {Expr::Kind::quotient, 0, Role::none, {std::move(a), std::move(b)}};
}
inline Expr exponential(Expr a) { return {Expr::Kind::exponential, 0, Role::none, {std::move(a)}}; }
inline Expr logarithm(Expr a) { return {Expr::Kind::logarithm, 0, Role::none, {std::move(a)}}; }
inline Expr hyperbolic_tangent(Expr a) { return {Expr::Kind::tangent, 0, Role::none, {std::move(a)}}; }

/// Σ aᵢ bᵢ, behind `first` if there is one.
Expr dot(const Numbers& a, const Numbers& b, std::optional<Expr> first = {});
/// Nothing to write in fp64, in which everything is computed.
inline Expr rounded(Format format, Expr a) {
    if (format == Format::fp64) return a;
    return {Expr::Kind::rounded, 0, Role::none, {std::move(a)}, format};
}

/// Of an operation with a sign: " + ", " × ", " − ", " ÷ ", and what it makes of two numbers.
const char* sign_of(Expr::Kind kind);
double combined(Expr::Kind kind, double left, double right);
/// What it comes to with the stored values. The maximum passes over NaN, as the hardware's does.
double evaluate(const Expr& expr);
/// The formula with its numbers; `result` is the value that it is shown to give (by format_short).
NumberLine write(const Expr& expr, double result);

/// While it lives, formulas are not written in this thread: who asks an explanation for its sources alone has
/// no use for them, and they take most of its time.
class FormulasLeftOut {
public:
    FormulasLeftOut();
    ~FormulasLeftOut();
    FormulasLeftOut(const FormulasLeftOut&) = delete;
    FormulasLeftOut& operator=(const FormulasLeftOut&) = delete;
};

/// "ℓ = 1.639" becomes "ℓ ≈ 1.639" where that is not what the shown numbers come to.
void set_sign(const NumberLine& numbers, Line& result);

/// Pieces of symbolic formulas.
Span word(std::string text);
Span symbol(Slot slot);

}  // namespace tilewalk
