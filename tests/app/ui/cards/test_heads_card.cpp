// The map of heads: which is shown, how many share K and V, and what it says of the bytes.
#include "app/ui/state/state.h"
#include "core/lessons/shared/heads_ledger.h"
#include "core/problem/heads.h"
#include "tests/app/ui/harness.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Problem grouped(int H, int H_kv) {
    Problem p = example("worked-4x4");
    give_heads(p, H, H_kv);
    return p;
}

void press(Program& program, Key key, bool shift = false) {
    program.state.keys.push_back({key, shift});
    program.frame(2);
}

bool shows(const Program& program, const std::string& text) {
    return std::ranges::any_of(program.items(), [&](const Item& item) {
        return item.kind == ItemKind::text && item.text.find(text) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("Shift H opens the map, Escape closes it") {
    Program program(grouped(4, 2));
    press(program, Key::h, true);
    CHECK(program.state.heads.open);
    CHECK(shows(program, "grouped-query"));
    press(program, Key::escape);
    CHECK_FALSE(program.state.heads.open);
}

TEST_CASE("arrows show another head, and the walk is that head's") {
    Program program(grouped(4, 2));
    const Matrix first = program.state.problem->Q;
    program.state.heads.open = true;
    press(program, Key::right);
    CHECK(shown_head(*program.state.problem) == 1);
    CHECK(program.state.problem->Q != first);
    CHECK(program.state.trace->problem().Q == program.state.problem->Q);
    press(program, Key::left);
    press(program, Key::left);  // there is none before the first
    CHECK(shown_head(*program.state.problem) == 0);
    CHECK(program.state.problem->Q == first);
}

TEST_CASE("key heads stay divisors of query heads") {
    Program program(grouped(4, 2));
    program.state.heads.open = true;
    const auto counts = [&] {
        return std::pair(query_heads(*program.state.problem), key_heads(*program.state.problem));
    };
    press(program, Key::up);
    CHECK(counts() == std::pair(4, 4));
    CHECK(shows(program, "multi-head"));
    press(program, Key::down);
    press(program, Key::down);
    CHECK(counts() == std::pair(4, 1));
    CHECK(shows(program, "multi-query"));
    press(program, Key::up);
    press(program, Key::plus);  // 5 heads share 1: 2 does not divide them
    CHECK(counts() == std::pair(5, 1));
    for (int n = 0; n < 4; ++n) press(program, Key::minus);
    CHECK(counts() == std::pair(1, 1));
    CHECK_FALSE(program.state.problem->heads);
}

TEST_CASE("the map says what K and V cost, loaded again or once") {
    Program program(grouped(4, 2));
    program.state.heads.open = true;
    program.frame(2);
    const HeadsLedger l = heads_ledger(*program.state.trace);
    CHECK(shows(program, format_size(l.again)));
    CHECK(shows(program, format_size(l.once)));
    CHECK(shows(program, format_size(key_value_cache(*program.state.problem, 1))));
    press(program, Key::o);
    CHECK(program.state.problem->heads->once);
    press(program, Key::o);
    CHECK_FALSE(program.state.problem->heads->once);
}

TEST_CASE("a training step walks a whole group, which has K and V once, and no choice") {
    Program program(grouped(4, 2));
    program.show_lesson("training-step");
    program.state.heads.open = true;
    program.frame(2);
    CHECK(shows(program, "meet K and V"));
    CHECK_FALSE(shows(program, "O again or once"));
    press(program, Key::o);
    CHECK_FALSE(program.state.problem->heads->once);
    const HeadsLedger l = heads_ledger(*program.state.trace);
    CHECK(l.all() == 2 * l.one);
}

TEST_CASE("of a ring the map has the shards that are loaded, and what goes between ranks") {
    Problem p = grouped(4, 2);
    p.options.ranks = 4;
    Program program(p);
    program.show_lesson("ring");
    program.go_to_step(2, 1);
    program.state.heads.open = true;
    program.frame(2);
    // Four ranks read all of K and V once, 512 B; with Q, O and L 656 B of a head.
    CHECK(shows(program, format_size(4 * 656 - 2 * 512)));
    CHECK(shows(program, "2 key heads go round"));
    CHECK(shows(program, "key 3"));
    CHECK(shows(program, "2 × 32 B"));
}
