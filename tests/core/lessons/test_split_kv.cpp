// Split keys: the same result as in one go, bytes and ticks in closed form, side by side on workers, and how
// many splits FlashAttention's rule chooses.
#include "core/lessons/forward/forward.h"
#include "core/lessons/merge/split_kv.h"
#include "core/problem/heads.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Problem decode(int keys, int Bc, int workers) {
    Problem p = *random_problem(keys, 4, 3);
    p.Br = 1, p.Bc = Bc;
    p.options.workers = workers;
    return p;
}

}  // namespace

TEST_CASE(
    "split keys, any split, any number of workers: the results of dense attention, costs in closed form") {
    Random random(51);
    int walked = 0, several = 0;
    for (int n = 0; n < 500; ++n) {
        Problem p;
        do {
            p = any_problem(random, 9);
            choose_rows(random, p);
            if (n % 3 == 0) p.logits = any_logits(random);
            p.options.workers = pick(random, 1, 5);
        } while (validate(p));
        for (int left = p.N_kv(); left > 0 && n % 2 == 0;) {
            const int keys = pick(random, 0, left);
            p.options.splits.push_back(keys);
            left -= keys;
        }
        if (refuse(split_kv, p)) continue;
        ++walked;
        const auto trace = split_kv(p);
        check_walk(*trace);
        check_costs(*trace);
        CHECK(check_results(*trace) == 2);
        if (n % 5 == 0) CHECK(check_explanations(*trace) > 0);
        CHECK(trace->result(Slot::O).rows() == p.options.queries);
        several += p.options.queries > 1;
    }
    CHECK(walked > 400);
    CHECK(several > 100);
}

TEST_CASE("workers run side by side: no two steps of one at the same time, the second kernel after all of "
          "the first") {
    for (const int workers : {1, 2, 3, 4, 8}) {
        Problem p = decode(24, 2, workers);
        p.options.splits = {8, 2, 6, 8};
        const auto trace = split_kv(p);
        CHECK(trace->workers() == std::min(workers, 4));
        std::vector<int> free(8);
        int through = 0;
        for (int k = 0; k < trace->size(); ++k) {
            const When& when = trace->step(k).when;
            REQUIRE(when);
            CHECK(when.start >= free[static_cast<std::size_t>(when.worker)]);
            CHECK(when.end == when.start + 1);
            free[static_cast<std::size_t>(when.worker)] = when.end;
            const bool combines = split_of(*trace, k) < 0;
            if (!combines) through = std::max(through, when.end);
            if (combines) CHECK(when.start > through);
        }
        CHECK(trace->ticks() == free[0]);
        CHECK(flash_forward(p)->workers() == 0);
    }
}

TEST_CASE("every worker has an SRAM of its own: its second one begins as empty as the first") {
    Problem p = decode(16, 2, 4);
    p.options.splits = {4, 4, 4, 4};
    const auto trace = split_kv(p);
    const int of_one = (trace->size() - 5) / 4;
    for (int k = of_one; k < 4 * of_one; ++k)
        CHECK(trace->step(k).traffic.sram_live == trace->step(k % of_one).traffic.sram_live);
    CHECK_FALSE(trace->live(Slot::P, of_one));
    CHECK_FALSE(trace->live(Slot::Kj, of_one + 1));
}

// docs/merging.md: 8 steps for a key block and 4 beside them; the combining kernel has 5 and begins a tick
// later.
static int flash_ticks(int key_blocks) { return 4 + 8 * key_blocks; }

static int split_ticks(int key_blocks, int splits, int workers) {
    return ceil_div(splits, workers) * flash_ticks(ceil_div(key_blocks, splits)) + 1 + 5;
}

TEST_CASE("ticks in closed form, where splits are even and no mask hides a block") {
    for (const int blocks : {1, 2, 3, 7, 16})
        for (const int workers : {1, 2, 4})
            for (int splits = 1; splits <= blocks; ++splits) {
                Problem p = decode(2 * blocks, 2, workers);
                const int each = ceil_div(blocks, splits);
                for (int left = blocks; left > 0; left -= each)
                    p.options.splits.push_back(2 * std::min(left, each));
                if (std::ssize(p.options.splits) != splits || blocks % splits != 0) continue;
                CHECK(split_kv(p)->ticks() == split_ticks(blocks, splits, workers));
            }
    // One query and one head: flash-forward takes as long as one worker takes for all blocks.
    const Problem whole = decode(32, 2, 4);
    CHECK(flash_forward(whole)->size() == whole.N() * flash_ticks(16));
    CHECK(flash_ticks(16) == 132);
    CHECK(split_ticks(16, 4, 4) == 42);
}

TEST_CASE("what a split divides by is said of its own keys, and of the sink in the first split alone") {
    Problem p = decode(16, 2, 4);
    p.logits.sink = 1;
    p.options.splits = {0, 8, 8};
    const auto trace = split_kv(p);
    const auto ends = steps_of(*trace, Op::normalize);
    REQUIRE(ends.size() == 3);
    for (const int k : ends) CHECK(explain(*trace, k).asides.empty());
    CHECK(contains(explain(*trace, ends[0]).why, "no key: all of ℓ is the weight of the sink"));
    CHECK(contains(explain(*trace, ends[1]).why, "of this split alone"));
    p.options.splits = {8, 8};
    const auto with_keys = split_kv(p);
    CHECK(contains(explain(*with_keys, steps_of(*with_keys, Op::normalize)[0]).why,
                   "the sink has its weight beside"));
    CHECK(contains(explain(*with_keys, steps_of(*with_keys, Op::normalize)[1]).why, "of this split alone"));
}

TEST_CASE("partial results cost what the ledger says") {
    Problem p = decode(16, 2, 4);
    p.options.splits = {4, 4, 4, 4};
    const TrafficModel split = split_kv.model(p), flash = flash_of_these_queries(p);
    // The query three times more, and O and L of four splits written and read.
    CHECK(split.hbm_read - flash.hbm_read == 3 * 4 * 4 + 4 * (4 + 1) * 4);
    CHECK(split.hbm_write - flash.hbm_write == 4 * (4 + 1) * 4);
}

TEST_CASE("partial results grow with the queries, K and V do not: nor do the steps") {
    for (const int queries : {1, 2, 5, 8}) {
        Problem p = decode(16, 2, 4);
        p.options.splits = {4, 4, 4, 4};
        const int ticks = split_kv(p)->ticks();
        p.options.queries = queries;
        const TrafficModel split = split_kv.model(p), flash = flash_of_these_queries(p);
        CHECK(split.hbm_read - flash.hbm_read == queries * (3 * 4 * 4 + 4 * (4 + 1) * 4));
        CHECK(split.hbm_write - flash.hbm_write == queries * 4 * (4 + 1) * 4);
        CHECK(flash.hbm_read == 2 * 16 * 4 * 4 + queries * 4 * 4);
        CHECK(split_kv(p)->ticks() == ticks);
    }
}

TEST_CASE("queries decoded together are each what they are alone, but for the mask of their tile") {
    Random random(57);
    for (int n = 0; n < 60; ++n) {
        Problem p;
        do {
            p = any_problem(random, 8);
            choose_rows(random, p);
        } while (validate(p));
        const auto together = split_kv(p);
        for (int q = 0; q < p.options.queries; ++q) {
            Problem one = p;
            one.options.row = p.options.row + q, one.options.queries = 1;
            CHECK(together->result(Slot::O).row(q).isApprox(split_kv(one)->result(Slot::O).row(0), 1e-13));
        }
    }
}

TEST_CASE("queries that Q does not have are refused with a sentence") {
    Problem p = decode(6, 2, 4);
    p.options.row = 4, p.options.queries = 3;
    CHECK(contains(refuse(split_kv, p).value_or(""), "From row 4 on Q has 2 rows; 3 queries cannot"));
    p.options.queries = 9;
    CHECK(contains(refuse(split_kv, p).value_or(""), "9 queries to decode together; expected 1 to 8"));
    p.options.queries = 0;
    CHECK(contains(refuse(split_kv, p).value_or(""), "0 queries to decode together"));
    choose_row(p.options, 9, 6);
    CHECK(p.options.row == 5);
    CHECK(p.options.queries == 1);
    CHECK_FALSE(refuse(split_kv, p));
}

TEST_CASE("heads are tiles of work: where they keep the workers busy, the rule makes one split") {
    Problem p = *random_problem(16, 4, 1);
    p.Bc = 2, p.options.workers = 4;
    CHECK(split_blocks(p).size() == 4);
    give_heads(p, 8, 2);
    CHECK(tiles_of_work(p) == 8);
    CHECK(split_blocks(p).size() == 1);
    p.heads->once = true;  // a group is one tile, so of two groups each may be split
    CHECK(tiles_of_work(p) == 2);
    CHECK(split_blocks(p).size() == static_cast<std::size_t>(num_splits(2, 4, 8)));
    p.options.splits = {8, 8};
    CHECK(split_blocks(p).size() == 2);
}

TEST_CASE("the number of splits by FlashAttention's rule") {
    CHECK(num_splits(108, 108, 64) == 1);  // the rows of work fill the workers
    CHECK(num_splits(87, 108, 64) == 1);   // nearly
    CHECK(num_splits(1, 4, 2) == 2);       // no more than there are blocks
    CHECK(num_splits(1, 4, 16) == 4);
    CHECK(num_splits(1, 108, 1) == 1);
    CHECK(wave_efficiency(3, 4) == .75);
    CHECK(wave_efficiency(5, 4) == .625);
    // 8 heads of one query on 108 SMs, 128 blocks of keys: 13 splits fill 104 of 108 in one wave.
    const int chosen = num_splits(8, 108, 128);
    CHECK(wave_efficiency(8 * chosen, 108) >= .85 * wave_efficiency(8 * 13, 108));
    // 11 would fill 88, less than 85 % of that; 12 fill 96.
    CHECK(chosen == 12);
    // Splits that would leave the last one empty are never chosen.
    for (int blocks = 1; blocks < 80; ++blocks) {
        const int n = num_splits(1, 128, blocks);
        CHECK((n - 1) * ceil_div(blocks, n) < blocks);
    }
}
