// The hardware that tests ask for by name.
#pragma once

#include "core/study/hardware.h"

#include <algorithm>
#include <string_view>

namespace tilewalk::test {

/// The one of this id, which there is.
inline const Hardware& hardware(std::string_view id) {
    return *std::ranges::find(hardware_list(), id, &Hardware::id);
}

}  // namespace tilewalk::test
