#include "core/base/remembered.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using tilewalk::Remembered, tilewalk::WhichOne;

TEST_CASE("what is remembered is made once for a key, anew for another one, and not taken along by a copy") {
    int made = 0;
    const auto make = [&] { return std::string(static_cast<std::size_t>(++made), 'x'); };
    Remembered<int, std::string> kept;
    CHECK(kept.of(7, make) == "x");
    CHECK(kept.of(7, make) == "x");
    CHECK(made == 1);
    CHECK(kept.of(8, make) == "xx");
    CHECK(kept.of(7, make) == "xxx");
    Remembered<int, std::string> copy = kept;
    CHECK(copy.of(7, make) == "xxxx");
    CHECK(kept.of(7, make) == "xxx");
    kept = copy;
    CHECK(kept.of(7, make) == "xxxxx");
}

TEST_CASE("a key that says which object it was does not keep it, and takes none that comes later for it") {
    int made = 0;
    Remembered<WhichOne<const int>, int> kept;
    const auto of = [&](const std::shared_ptr<const int>& one) {
        return kept.of(one, [&] { return ++made; });
    };
    std::shared_ptr<const int> one(new int(1));
    const std::weak_ptr<const int> watched = one;
    CHECK(of(one) == 1);
    CHECK(of(one) == 1);
    one.reset();
    CHECK(watched.expired());
    // Some of them lie where it lay.
    for (int n = 2; n < 50; ++n) CHECK(of(std::shared_ptr<const int>(new int(n))) == n);
}
