// The value of a Result that must be there.
#pragma once

#include "core/base/result.h"

#include <doctest/doctest.h>

namespace tilewalk::test {

/// Fails the test with the sentence that stands in its place.
template <class T> T good(Result<T> result) {
    REQUIRE_MESSAGE(result, result.error);
    return std::move(*result);
}

}  // namespace tilewalk::test
