#include "core/inside/damage.h"

#include "core/base/numbers.h"

#include <bit>
#include <cmath>

namespace tilewalk::inside {

namespace {

void note(Damage& damage, const WrongCell& cell) {
    ++damage.wrong;
    if (!damage.first) damage.first = cell;
    const bool is_nan = std::isnan(cell.broken);
    damage.nans += is_nan;
    const auto off = [](const WrongCell& c) { return std::abs(c.broken - c.sound); };
    const bool better =
        !damage.worst || (!is_nan && (std::isnan(damage.worst->broken) || off(cell) > off(*damage.worst)));
    if (better) damage.worst = cell;
}

}  // namespace

Damage damage_of(const Record& sound, const Record& broken) {
    Damage damage;
    for (std::size_t o = 0; o < std::min(sound.outputs.size(), broken.outputs.size()); ++o) {
        const Output &right = sound.outputs[o], &now = broken.outputs[o];
        const std::size_t size = std::min(right.values.size(), now.values.size());
        damage.cells += static_cast<std::int64_t>(size);
        for (std::size_t n = 0; n < size; ++n) {
            const float a = right.values[n], b = now.values[n];
            if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b)) continue;
            const int at = static_cast<int>(n);
            note(damage, {right.name, at / right.columns, at % right.columns, a, b});
        }
    }
    return damage;
}

std::string damage_text(const Damage& damage) {
    const std::string all = format_count(damage.cells);
    if (damage.wrong == 0) return "all " + all + " numbers are right";
    return format_count(damage.wrong) + " of " + all + " numbers are wrong" +
           (damage.nans > 0 ? ", " + format_count(damage.nans) + " of them NaN" : "");
}

BankTotals bank_totals(const Record& record) {
    BankTotals all;
    for (const Launch& launch : record.launches)
        for (const Counts& c : launch.counts)
            all.turns += c.shared_turns, all.least += c.shared_least,
                all.ways = std::max(all.ways, c.worst_ways);
    return all;
}

}  // namespace tilewalk::inside
