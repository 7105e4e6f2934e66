// What a fault does to the numbers that a kernel writes.
#pragma once

#include "core/inside/record.h"

#include <optional>

namespace tilewalk::inside {

struct WrongCell {
    std::string output;  ///< "O", "dK"
    int row = 0, column = 0;
    float sound = 0, broken = 0;
};

struct Damage {
    std::int64_t cells = 0, wrong = 0, nans = 0;  ///< of all outputs; nans: where the sound run has none
    std::optional<WrongCell> first;               ///< in the order of the outputs and their rows
    std::optional<WrongCell> worst;  ///< the largest difference that is a number; without one the first NaN
    bool finite() const { return wrong > nans; }
};
/// Bit for bit. Both are runs of one kernel on one problem.
Damage damage_of(const Record& sound, const Record& broken);
/// "12 of 8192 numbers are wrong, 3 of them NaN"
std::string damage_text(const Damage& damage);

/// Turns of the banks over all launches, and without conflicts; the worst ways of conflict.
struct BankTotals {
    std::int64_t turns = 0, least = 0;
    int ways = 0;
};
BankTotals bank_totals(const Record& record);

}  // namespace tilewalk::inside
