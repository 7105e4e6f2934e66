// A shared prefix: dense attention in which a query sees the prefix and its own sequence's keys alone; pages
// change no bit; bytes of both ways in closed form; what is refused.
#include "core/lessons/cascade/cascade.h"
#include "core/walk/explain.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

Problem sharing(int queries, int keys, int prefix, int sequences, int d = 4) {
    Problem p = *random_problem(std::max(queries, keys), d, 11);
    p.Q = Matrix(p.Q.topRows(queries)), p.dO.reset();
    keep_keys(p, keys);
    p.Br = 2, p.Bc = 3;
    p.options.prefix = prefix, p.options.sequences = sequences;
    return p;
}

std::int64_t bytes_of(const Trace& trace) {
    const Traffic& all = trace.step(trace.size() - 1).traffic;
    return all.hbm_read + all.hbm_write;
}

// Every value that the walk wrote on chip, in order.
std::vector<Matrix> written_on_chip(const Trace& trace) {
    std::vector<Matrix> out;
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k))
            if (!info(a.slot).hbm) out.push_back(trace.value(a.value).data);
    return out;
}

Problem without_mask(Problem p) {
    p.causal = false, p.window.reset();
    return p;
}

// Rows of K and V that were loaded.
std::int64_t keys_loaded(const Trace& trace) {
    std::int64_t keys = 0;
    for (const int k : steps_of(trace, Op::load_kv)) keys += trace.live(Slot::Kj, k).value->data.rows();
    return keys;
}

// By dealing the rows out, some query of the step's pass sees some key of its block.
bool some_query_sees(const Problem& p, const Trace& trace, int k,
                     const std::vector<std::pair<int, int>>& blocks) {
    const auto [first_query, queries] = queries_of_pass(p, trace.step(k).phase);
    const auto [first, keys] = blocks[static_cast<std::size_t>(trace.step(k).j)];
    for (int r = first_query; r < first_query + queries; ++r)
        for (int c = first; c < first + keys; ++c)
            if (sees_in_sequence(p, r, c)) return true;
    return false;
}

// O of every sequence that has keys is that of the sequence alone, with its prefix in front of its own keys.
void check_each_alone(const Problem& p) {
    const auto trace = cascade(p);
    const SharedPrefix all(p);
    for (const Sequence& s : all.sequences) {
        if (all.prefix + s.keys == 0) continue;
        Problem alone = p;
        alone.options = {};
        alone.Q = Matrix(p.Q.middleRows(s.first_query, s.queries));
        for (Matrix Problem::*A : {&Problem::K, &Problem::V}) {
            (alone.*A).resize(all.prefix + s.keys, p.d());
            (alone.*A) << (p.*A).topRows(all.prefix), (p.*A).middleRows(s.first_key, s.keys);
        }
        const Dense dense = dense_attention(alone);
        CHECK(far_off(trace->result(Slot::O).middleRows(s.first_query, s.queries), dense.O,
                      tolerance_O(dense)) == "");
    }
}

/// Holds the walk against dense attention, its costs and, every fifth time, its explanations; the rows that
/// see no key.
int blind_rows_of_right_walk(const Trace& trace, int n) {
    check_walk(trace);
    check_costs(trace);
    CHECK(check_results(trace) == 2);
    if (n % 5 == 0) CHECK(check_explanations(trace, 12) > 0);
    int blind = 0;
    for (int row = 0; row < trace.problem().N(); ++row) blind += std::isinf(trace.result(Slot::L)(row, 0));
    return blind;
}

}  // namespace

TEST_SUITE("shared prefix") {

    TEST_CASE("any prefix, sequences and pages: dense attention of the prefix and the own keys, to 1e-12") {
        Random random(71);
        int without_prefix = 0, all_prefix = 0, without_own = 0, paged = 0, blind = 0;
        for (int n = 0; n < 500; ++n) {
            Problem p;
            do {
                p = any_problem(random, 13);
                p.window.reset();
                choose_sequences(random, p);
            } while (refuse(cascade, p));
            const auto trace = cascade(p);
            check_walk(*trace);
            check_costs(*trace);
            CHECK(check_results(*trace) == 2);
            if (n % 4 == 0) CHECK(check_explanations(*trace, 12) > 0);

            const SharedPrefix all(p);
            without_prefix += all.prefix == 0, all_prefix += all.prefix == p.N_kv(),
                paged += p.options.pages > 0;
            for (const Sequence& s : all.sequences) {
                without_own += s.keys == 0;
                blind += s.keys == 0 && all.prefix == 0;
            }
        }
        // The draw reached the edges.
        CHECK(without_prefix > 20);
        CHECK(all_prefix > 20);
        CHECK(without_own > 50);
        CHECK(paged > 100);
        CHECK(blind > 5);
    }

    TEST_CASE("softcap, ALiBi, a sink and a causal mask in each sequence: dense attention to 1e-12") {
        for (const int drawn : {0, 1, 2, 3}) {
            Random random(74 + static_cast<std::uint64_t>(drawn));
            int blind = 0;
            for (int n = 0; n < 500; ++n) {
                Problem p;
                do {
                    p = any_problem(random, 13);
                    p.window.reset(), p.causal = drawn == 3;
                    choose_sequences(random, p);
                    if (drawn == 0) p.logits.softcap = choose(random, {0.5, 1, 2, 5, 30});
                    if (drawn == 1) p.logits.alibi = choose(random, {0, 0.0625, 0.5, 1, 3});
                    if (drawn == 2) p.logits.sink = choose(random, {0, 1, -2.5, 0.3, 6});
                    if (drawn == 3 && n % 2 == 0) p.logits = any_logits(random);
                } while (refuse(cascade, p));
                const auto trace = cascade(p);
                blind += blind_rows_of_right_walk(*trace, n);
            }
            if (drawn == 3) CHECK(blind > 20);  // more queries than keys
        }
    }

    TEST_CASE("a window in each sequence: dense attention to 1e-12, and what no query sees is not read") {
        Random random(79);
        int blind = 0, skipped = 0, walks_that_skip = 0;
        for (int n = 0; n < 500; ++n) {
            Problem p;
            do {
                p = any_problem(random, 13);
                p.window = pick(random, 0, 4);
                choose_sequences(random, p);
                if (n % 3 == 0) p.logits = any_logits(random);
            } while (refuse(cascade, p));
            const auto trace = cascade(p);
            blind += blind_rows_of_right_walk(*trace, n);

            // A block is left out where the reference shows none of its keys to any query of the pass.
            const auto left_out = steps_of(*trace, Op::skip);
            const auto blocks = blocks_of_sequences(p);
            for (const int k : steps_of(*trace, Op::load_kv)) CHECK(some_query_sees(p, *trace, k, blocks));
            for (const int k : left_out) CHECK_FALSE(some_query_sees(p, *trace, k, blocks));
            skipped += static_cast<int>(left_out.size()), walks_that_skip += !left_out.empty();
        }
        CHECK(blind > 20);
        CHECK(skipped > 200);
        CHECK(walks_that_skip > 100);
    }

    TEST_CASE("a window in a sequence is that of the sequence alone") {
        for (const int window : {0, 1, 3, 20})
            for (const bool causal : {false, true})
                for (const int prefix : {0, 2, 5, 12}) {
                    Problem p = sharing(6, 12, prefix, 3);
                    p.causal = causal, p.window = window;
                    check_each_alone(p);
                }
    }

    TEST_CASE("behind a narrow window the prefix is not read again: sharing saves nothing then") {
        Problem p = sharing(4, 24, 12, 2);
        p.causal = true;
        const std::int64_t saved = saved_by_sharing(p);
        CHECK(saved == 12 * 2 * 4 * 4);
        p.window = 1;  // two queries at the end of six own keys: the prefix lies beyond it
        const auto trace = cascade(p);
        CHECK(saved_by_sharing(p) == 0);
        CHECK(keys_loaded(*trace) == 2 * 3);
        CHECK(prefix_that_pays(p) == 0);
        const Explanation told = explain(*trace, steps_of(*trace, Op::skip).front());
        check_contains(told.why, {"keys 0–2", "queries 0–3", "whatever the sequence", "nothing is loaded"});
        p.window = 100;
        CHECK(saved_by_sharing(p) == saved);
    }

    TEST_CASE("a causal mask in a sequence is that of the sequence alone") {
        for (const int prefix : {0, 2, 5, 12})
            for (const int queries : {3, 6, 12}) {
                Problem p = sharing(queries, 12, prefix, 3);
                p.causal = true, p.logits.alibi = 0.5;
                check_each_alone(p);
            }
    }

    TEST_CASE("who sees which key is what dealing the rows out says; every key lies in one block") {
        Random random(72);
        for (int n = 0; n < 200; ++n) {
            Problem p = any_problem(random, 12);
            choose_sequences(random, p);
            const SharedPrefix all(p);
            for (int r = 0; r < p.N(); ++r)
                for (int c = 0; c < p.N_kv(); ++c) {
                    CHECK(all.visible(r, c) == sees_in_sequence(p, r, c));
                    CHECK(all.sees(r, c) == sees_in_sequence(without_mask(p), r, c));
                    if (all.sees(r, c)) CHECK(all.distance(r, c) == std::llabs(ahead_in_sequence(p, r, c)));
                }
            const auto blocks = blocks_of_sequences(p);
            REQUIRE(blocks.size() == all.blocks.size());
            for (std::size_t j = 0; j < blocks.size(); ++j) {
                CHECK(all.blocks[j].first == blocks[j].first);
                CHECK(all.blocks[j].keys == blocks[j].second);
                CHECK(all.block_at(all.places[j]) == static_cast<int>(j));
            }
        }
    }

    TEST_CASE("the same as each sequence alone with its whole keys") {
        for (const int prefix : {0, 1, 5, 7, 12}) {
            check_each_alone(sharing(6, 12, prefix, 3));
        }
    }

    TEST_CASE("pages change addresses and not one bit: the walk with blocks of the same size") {
        Random random(73);
        for (const int page : {1, 2, 3, 5}) {
            Problem plain = sharing(6, 11, 4, 3);
            plain.Bc = page;
            Problem paged = plain;
            paged.Bc = 7, paged.options.pages = page;
            const auto first = cascade(plain);
            for (int n = 0; n < 4; ++n) {
                paged.options.page_table.clear();
                const int pages = static_cast<int>(blocks_of_sequences(paged).size());
                for (int at = 0; n > 0 && at < pages; ++at)
                    paged.options.page_table.insert(paged.options.page_table.begin() + pick(random, 0, at),
                                                    at);
                REQUIRE_FALSE(refuse(cascade, paged));
                const auto trace = cascade(paged);
                CHECK(trace->size() == first->size());
                CHECK(written_on_chip(*trace) == written_on_chip(*first));
                CHECK(trace->result(Slot::O) == first->result(Slot::O));
                CHECK(trace->result(Slot::L) == first->result(Slot::L));
                CHECK(trace->given(Slot::K) == paged.K);
                CHECK(bytes_of(*trace) == bytes_of(*first));
                // Each load reads the place that the table names.
                const SharedPrefix all(paged);
                for (const int k : steps_of(*trace, Op::load_kv))
                    for (const Access& a : trace->reads(k))
                        if (a.slot == Slot::K || a.slot == Slot::V)
                            CHECK(a.tile == all.place(trace->step(k).j));
            }
        }
    }

    TEST_CASE("without a table odd pages come first: no two neighbours behind each other") {
        CHECK(scattered(0).empty());
        CHECK(scattered(1) == std::vector{0});
        CHECK(scattered(3) == std::vector{1, 0, 2});
        CHECK(scattered(6) == std::vector{3, 0, 4, 1, 5, 2});
        for (int pages = 1; pages < 40; ++pages) {
            const std::vector<int> places = scattered(pages);
            CHECK(std::set(places.begin(), places.end()).size() == static_cast<std::size_t>(pages));
            for (int n = 1; n < pages && pages > 2; ++n)
                CHECK(places[static_cast<std::size_t>(n)] != places[static_cast<std::size_t>(n) - 1] + 1);
        }
    }

    TEST_CASE("bytes: counted is the closed form, of both ways; sharing saves what it says and costs what it "
              "says") {
        for (const int queries : {1, 4, 7})
            for (const int keys : {1, 9, 20})
                for (int prefix = 0; prefix <= keys; prefix += 3)
                    for (int sequences = 1; sequences <= std::min(queries, 4); ++sequences)
                        for (const int e : {2, 4}) {
                            Problem p = sharing(queries, keys, prefix, sequences);
                            p.element_bytes = e;
                            const auto trace = cascade(p);
                            CHECK(bytes_of(*trace) == cascade.model(p).total());
                            CHECK(keys_loaded(*trace) == keys);
                            // The plain way: one walk for each sequence over the prefix and its own keys.
                            std::int64_t plain = 0, read_again = 0;
                            for (int s = 0; s < sequences; ++s) {
                                Problem alone = p;
                                alone.options = {};
                                const Sequence own = SharedPrefix(p).of(s);
                                alone.Q = Matrix(p.Q.topRows(own.queries));
                                if (prefix + own.keys == 0) {
                                    plain += own.queries * (2 * 4 * e + 4);
                                    continue;
                                }
                                alone.Br = own.queries;
                                keep_keys(alone, prefix + own.keys);
                                const auto one = walk_of("flash-forward", alone);
                                plain += bytes_of(*one), read_again += s > 0 ? prefix * 2 * 4 * e : 0;
                            }
                            CHECK(each_sequence_alone(p).total() == plain);
                            CHECK(saved_by_sharing(p) == read_again);
                            CHECK(plain - bytes_of(*trace) == saved_by_sharing(p) - price_of_sharing(p));
                        }
    }

    TEST_CASE("from so long a prefix on sharing pays, and not before") {
        for (const int sequences : {2, 3, 4})
            for (const int queries : {4, 8}) {
                Problem p = sharing(queries, 60, 0, sequences);
                const auto pays = prefix_that_pays(p);
                REQUIRE(pays > 0);
                for (int prefix = 0; prefix <= 40; ++prefix) {
                    p.options.prefix = prefix;
                    CHECK((cascade.model(p).total() < each_sequence_alone(p).total()) == (prefix >= pays));
                }
            }
        CHECK(prefix_that_pays(sharing(4, 9, 3, 1)) == 0);
    }

    TEST_CASE("the worked example: two sequences behind two keys") {
        const Problem p = worked_example();
        const auto trace = cascade(p);
        const SharedPrefix all(p);
        CHECK(all.prefix == 2);
        CHECK(all.count() == 2);
        CHECK(keys_loaded(*trace) == 4);
        CHECK(bytes_of(*trace) == 496);
        CHECK(each_sequence_alone(p).total() == 336);
        CHECK(prefix_that_pays(p) == 8);
        const auto at = [&](Op op, int nth) { return steps_of(*trace, op)[static_cast<std::size_t>(nth)]; };
        const Explanation merged = explain(*trace, at(Op::merge_output, 1));
        CHECK(plain(merged.formula) == "O  ←  w_shared O_shared  +  w_own O_own");
        CHECK(merged.place == "sequence 1, merge");
        const Explanation loaded = explain(*trace, at(Op::load_kv, 0));
        CHECK(loaded.place == "prefix, block 0");
        check_contains(loaded.why, {"read once for both sequences", "2 times in all"});
        Problem paged = p;
        paged.options.pages = 2;
        check_contains(explain(*cascade(paged), at(Op::load_kv, 1)).why, {"Page 1 lies at place 0"});
    }

    TEST_CASE("what does not fit is refused with a sentence") {
        const auto refused = [](auto change) {
            Problem p = sharing(4, 9, 4, 2);
            p.options.pages = 2;
            REQUIRE_FALSE(refuse(cascade, p));
            change(p);
            const auto sentence = refuse(cascade, p);
            REQUIRE(sentence);
            return *sentence;
        };
        using P = Problem&;
        check_contains(refused([](P p) { p.options.prefix = 10; }), {"prefix has 10 keys, but K has 9"});
        check_contains(refused([](P p) { p.options.prefix = -1; }), {"must have 0 or more"});
        check_contains(refused([](P p) { p.options.sequences = 5; }), {"5 sequences, but only 4 queries"});
        check_contains(refused([](P p) { p.options.sequences = -2; }), {"-2 sequences; expected 1 to 64"});
        check_contains(refused([](P p) { p.options.pages = -1; }), {"A page holds -1 keys"});
        // Two pages of the prefix, then three and two keys: two pages and one
        check_contains(refused([](P p) { p.options.page_table = {0, 1, 2}; }), {"names 3 places", "5 pages"});
        check_contains(refused([](P p) {
                           p.options.page_table = {0, 1, 5, 3, 4};
                       }),
                       {"page 2 at place 5", "outside", "0 to 4"});
        check_contains(refused([](P p) { p.options.page_table = {0, 1, -1, 3, 4}; }), {"outside"});
        check_contains(refused([](P p) {
                           p.options.page_table = {0, 3, 2, 3, 4};
                       }),
                       {"pages 1 and 3 at the same place, 3"});
        check_contains(refused([](P p) { p.options.pages = 0, p.options.page_table = {0}; }), {"no pages"});
    }
}

TEST_CASE("cascade: a row that its pass has shown no key yet says so at each of its steps") {
    Random random(12);
    std::map<Op, int> told;
    for (int round = 0; round < 60; ++round) {
        Problem p = any_problem(random);
        choose_sequences(random, p);
        p.causal = true, p.window = 1;
        const auto built = build_trace(*find_lesson("cascade"), p);
        if (!built) continue;
        const Trace& walk = **built;
        for (int k = 0; k < walk.size(); ++k) {
            const Op op = walk.step(k).op;
            if (op != Op::new_max && op != Op::correction && op != Op::row_sum && op != Op::output) continue;
            const Region region = step_region(walk, k);
            for (int r = 0; r < region.rows; ++r) {
                const Explanation e = explain(walk, k, cell_of_row(walk, k, region.row + r));
                const bool blind =
                    value_at(*walk.live(Slot::m, k).value, {Slot::m, e.target.row, 0}) == minus_infinity;
                CAPTURE(where(walk, k, e.target));
                CHECK_MESSAGE(contains(e.why, "has shown so far: ") == blind, e.why);
                told[op] += blind;
            }
        }
    }
    for (const Op op : {Op::new_max, Op::correction, Op::row_sum, Op::output}) CHECK(told[op] > 5);
}
