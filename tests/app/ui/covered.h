// Texts that something drawn later lies on.
#pragma once

#include "tests/app/ui/harness.h"

#include <vector>

namespace tilewalk::test {

/// Of the last frame those that lose more than a quarter of their letters to an opaque shape: a bar, a bed.
std::vector<const Item*> covered_texts(const Program& program);

}  // namespace tilewalk::test
