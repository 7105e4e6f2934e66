// Registers of a multiprocessor, and how many of them a thread of a block has when it begins.
#pragma once

#include <algorithm>

namespace tilewalk {

constexpr int register_file = 1 << 16, least_registers = 24, most_registers = 256;
/// Of as many as there are for each, a multiple of eight.
constexpr int registers_at_begin(int threads) {
    constexpr int together = 8;
    return std::min(register_file / threads / together * together, most_registers - together);
}

}  // namespace tilewalk
