// Texts that something drawn later lies on.
#pragma once

#include "tests/app/ui/harness.h"

#include <vector>

namespace tilewalk::test {

struct CoveredTexts {
    std::vector<const Item*> texts;  ///< that lose more than a quarter of their letters to an opaque shape
    int looked_at = 0;               ///< texts whose letters were found among what was drawn
};
/// Of the last frame: under a bar, a bed.
CoveredTexts covered_texts(const Program& program);

}  // namespace tilewalk::test
