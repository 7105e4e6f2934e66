// What fences and commits stand between, and how registers change hands, on runs that a test writes down.
#include "core/base/register_file.h"
#include "core/inside/sides.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::inside;
using tilewalk::inside::test::MadeRun;

namespace {

std::string text_of(const std::vector<Told>& all) {
    std::string text;
    for (const Told& told : all)
        text += (text.empty() ? "" : ", ") + std::to_string(told.times) + " " + info(told.op).name;
    return text;
}

}  // namespace

TEST_CASE("sides: a fence stands between what writes registers and the products that take them") {
    MadeRun run(1, 3);
    run.whole(Op::pack, 0, 1, {0, 0, 0});  // before the wait: of the products before
    run.whole(Op::wait_products, 0, 1, {0, 1, 0});
    for (int n = 0; n < 4; ++n) run.whole(Op::exp2, 0, 1, {0, 0});
    for (int n = 0; n < 2; ++n) run.whole(Op::pack, 0, 2, {0, 0, 0});
    run.whole(Op::fence_products, 0, 2);
    for (int n = 0; n < 3; ++n) run.whole(Op::multiply_async, 0, 3, std::vector<std::uint32_t>(12));
    run.whole(Op::commit_products, 0, 3, {0});
    run.whole(Op::multiply_async, 0, 3, std::vector<std::uint32_t>(12));
    run.whole(Op::wait_products, 0, 3, {0, 1, 0});
    const Steps steps(run.record, run.launch(), run.block());
    const auto fence = sides_at(run.block(), steps, 0, 8);
    REQUIRE(fence);
    CHECK(text_of(fence->before) == "1 wait_products, 4 exp2_of, 2 pack");
    CHECK(text_of(fence->behind) == "3 multiply_async");
    const auto commit = sides_at(run.block(), steps, 0, 12);
    REQUIRE(commit);
    CHECK(text_of(commit->before) == "3 multiply_async");
    CHECK(text_of(commit->behind) == "1 wait_products");
    CHECK_FALSE(sides_at(run.block(), steps, 0, 2));
}

TEST_CASE("sides: behind a commit stands the wait for its own group, whichever wait comes next") {
    MadeRun run(1, 3);
    const auto commit = [&](std::uint32_t group) {
        run.whole(Op::multiply_async, 0, 1, std::vector<std::uint32_t>(12));
        run.whole(Op::commit_products, 0, 1, {group});
    };
    commit(0), commit(1);
    run.whole(Op::wait_products, 0, 2, {1, 1, 0});  // group 1 may run on
    commit(2);
    run.whole(Op::wait_products, 0, 2, {1, 2, 0});  // and here group 2, which nobody waits for any more
    const Steps steps(run.record, run.launch(), run.block());
    const auto behind = [&](int k) { return text_of(sides_at(run.block(), steps, 0, k)->behind); };
    CHECK(behind(1) == "1 wait_products");
    CHECK(behind(3) == "1 wait_products");
    CHECK(behind(6) == "");
}

TEST_CASE(
    "sides: barriers that are made are shown to all warps, and a barrier of the warp orders its memory") {
    MadeRun run(2, 3);
    run.add(Op::init_barrier, 0, 1, 0, {{0, 1}});
    run.add(Op::init_barrier, 0, 1, 0, {{8, 1}});
    run.add(Op::publish_barriers, 0, 1, 0, {{}});
    run.add(Op::expect_bytes, 0, 2, 0, {{0, 0, 8}});
    run.add(Op::fetch_tile, 0, 2, 0, {{64, 0, 0, 0, 0, 0, 0, 8}});
    run.whole(Op::wait_for, 1, 3, {0, 1});
    run.add(Op::store, 1, 3, 4, {{64, 0}});
    run.whole(Op::sync_warp, 1, 3);
    run.add(Op::load, 1, 3, 4, {{64, 0}});
    const Steps steps(run.record, run.launch(), run.block());
    const auto shown = sides_at(run.block(), steps, 0, 2);
    REQUIRE(shown);
    CHECK(text_of(shown->before) == "2 init_barrier");
    CHECK(text_of(shown->behind) == "1 expect_bytes, 1 fetch_tile, 1 wait_for");
    const auto meets = sides_at(run.block(), steps, 1, 2);
    REQUIRE(meets);
    CHECK(text_of(meets->before) == "1 store");
    CHECK(text_of(meets->behind) == "1 load");
}

TEST_CASE("registers: 384 threads begin with 168 each; who gives back and who takes, as far as the step") {
    CHECK(registers_at_begin(384) == 168);
    CHECK(registers_at_begin(128) == most_registers - 8);
    MadeRun run(12, 2);
    for (int w = 0; w < 4; ++w) run.whole(Op::shrink_registers, w, 1, {24});
    for (int w = 4; w < 12; ++w) run.whole(Op::exp2, w, 1, {0, 0});
    for (int w = 4; w < 12; ++w) run.whole(Op::grow_registers, w, 2, {240});
    const Steps steps(run.record, run.launch(), run.block());
    const auto gives = registers_at(run.launch(), run.block(), steps, 0, 0);
    REQUIRE(gives);
    CHECK(gives->before[0] == 168);
    CHECK(gives->now[3] == 24);
    CHECK(gives->now[4] == 168);
    const auto takes = registers_at(run.launch(), run.block(), steps, 4, 1);
    REQUIRE(takes);
    CHECK(takes->before[0] == 24);
    CHECK(takes->before[4] == 168);
    CHECK(takes->now[11] == 240);
    CHECK(takes->all_now() == (4 * 24 + 8 * 240) * 32);
    CHECK_FALSE(registers_at(run.launch(), run.block(), steps, 4, 0));
}
