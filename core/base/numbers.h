// How numbers are written for people: one set of rules for the window, the text trace and the explanations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace tilewalk {

/// How numbers are shown to people where the caller does not say: a choice of the user, the same everywhere.
/// Files never follow it.
struct alignas(8) NumberStyle {
    int digits = 4;      ///< significant digits, 3 … 6
    bool comma = false;  ///< decimal comma
    bool operator==(const NumberStyle&) const = default;
};
constexpr int fewest_digits = 3, most_digits = 6;
void set_number_style(NumberStyle style);
NumberStyle number_style();
/// While it lives, numbers are written as in files, whatever the user chose.
struct PlainNumbers {
    NumberStyle before = number_style();
    PlainNumbers() { set_number_style({}); }
    ~PlainNumbers() { set_number_style(before); }
    PlainNumbers(const PlainNumbers&) = delete;
    PlainNumbers& operator=(const PlainNumbers&) = delete;
};
/// What stands between numbers: ", ", or "; " beside decimal commas.
const char* list_separator();
/// Decimals of a number with so many digits before its point, and after the point of a × 10ⁿ.
int decimals_of(int digits, int whole);
int power_decimals(int digits);

/// Integers without a point; otherwise `digits` significant digits (0: as many as the style says), counted
/// from the first digit before the point, so that 4 are at most 3 decimals; below 0.001 or from 10⁶ on three
/// digits (more from 5 on) × 10ⁿ. Minus is U+2212, never −0; "NaN", "∞", "−∞".
std::string format_number(double value, int digits = 0);
/// One number as the matrix that holds it has it, but without zeros at its end: one decimal less than the
/// digits, 11.804 beside 2.839, and no more than show it exactly: 0.5, −1.25.
std::string format_short(double value, int digits = 0);
/// What a text of these functions says: its value, and the worth of one unit in its last digit (0: NaN, ∞).
struct ShownNumber {
    double value = 0, unit = 0;
};
ShownNumber read_shown(const std::string& text);
/// As format_number, but with the given decimals (and at least that many mantissa digits after the point).
std::string format_fixed(double value, int decimals);
/// How the numbers of a matrix are shown: all with the same decimals, as many as show every number exactly
/// where two, or one less than the digits, are enough for that; else one less than the digits. Powers of ten
/// stand only in a matrix all of whose numbers are tiny, or that has one from 10⁶ on.
struct MatrixDigits {
    static constexpr int never_exact = 7;
    int exact = 0;       ///< decimals that show all numbers exactly
    double largest = 0;  ///< of the finite ones, without its sign
    void take(double value);
    void take(std::span<const double> values);
    void join(const MatrixDigits& other);
    int decimals(int digits = 0) const;
    /// Its numbers are written without powers of ten.
    bool plain() const { return largest >= 0.1 && largest < 1e6; }
    std::string text(double value, int digits = 0) const;
};
/// Two numbers with as many digits as it takes to tell them apart: {"1.2341", "1.2342"}.
std::pair<std::string, std::string> format_apart(double a, double b);
/// Full precision: the shortest text that reads back as the same double.
std::string format_full(double value);
/// "160 B", "4 GiB", "1.50 KiB": bytes that are held or move, with decimals where they are not whole.
std::string format_size(std::int64_t bytes);
/// The same for bytes beyond 64 bits.
std::string format_large_size(double bytes);
/// "1.23 ms": three digits with the unit that suits them, ns to s.
std::string format_time(double seconds);
/// 131 072 with thin spaces from 10 000 on.
std::string format_count(std::int64_t n);

}  // namespace tilewalk
