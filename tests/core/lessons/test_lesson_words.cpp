// Names and short words that pages ask a lesson for, over every lesson: symbols of steps, results, faults,
// titles.
#include "core/base/numbers.h"
#include "core/class/spoken.h"
#include "core/inside/damage.h"
#include "core/lessons/merge/split_kv.h"
#include "core/problem/savings.h"
#include "core/study/memory_study.h"
#include "core/walk/playback.h"
#include "tests/contains.h"
#include "tests/core/lessons/broken.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

using namespace tilewalk::test;

TEST_CASE("lesson words: every step has a symbol, of one step the same, in the role of what it computes") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(std::string(lesson.id));
        const auto walk = walk_of(lesson, worked_example());
        std::map<Op, std::set<std::string>> symbols;
        for (int k = 0; k < walk->size(); ++k) {
            const Line symbol = step_symbol(*walk, k);
            CAPTURE(k);
            REQUIRE(!symbol.empty());
            std::string shown;
            for (const Span& span : symbol) {
                CHECK(!span.text.empty());
                CHECK_FALSE(contains(span.text, "_"));
                shown += span.text;
            }
            symbols[walk->step(k).op].insert(shown);
            // What a step computes is written by it: one of its letters has that role.
            const auto writes = walk->writes(k);
            const bool computes = info(walk->step(k).op).kind == OpKind::compute && !writes.empty();
            std::set<Role> roles;
            for (const Span& span : symbol)
                if (span.role != Role::none) roles.insert(span.role);
            // "÷ ℓ" names what is divided by.
            if (!computes || roles.empty() || walk->step(k).op == Op::normalize) continue;
            CHECK(std::ranges::any_of(writes,
                                      [&](const Access& a) { return roles.contains(info(a.slot).role); }));
        }
        for (const auto& [op, texts] : symbols) CHECK(texts.size() <= 8);  // of many matrices, or of one
    }
    // What the reference says: the first lesson's kernels hand S and P to each other.
    const auto attention = walk_of("attention", worked_example());
    std::string all;
    for (int k = 0; k < attention->size(); ++k) all += plain(step_symbol(*attention, k)) + " ";
    CHECK(all == "Q K S S S m P̃ ℓ P P P V O O ");
}

TEST_CASE("lesson words: a lesson's results are written by its walk") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(std::string(lesson.id));
        const auto walk = walk_of(lesson, worked_example());
        const std::vector<Slot> results = results_of(*walk);
        CHECK(!results.empty());
        std::set<Slot> written;
        every_write(*walk, [&](Slot slot, const Value&, int) { written.insert(slot); });
        for (const Slot slot : results) CHECK_MESSAGE(written.contains(slot), info(slot).name);
        CHECK(std::set<Slot>(results.begin(), results.end()).size() == results.size());
    }
}

TEST_CASE("lesson words: a fault's caption stands at the steps that it changes, and nowhere without it") {
    for (const Broken& one : breakable()) {
        CAPTURE(std::string(one.lesson.id));
        for (const Fault& fault : one.lesson.faults()) {
            Problem p = one.of(worked_example());
            for (const FaultCaption& caption : fault.captions) {
                CHECK(fault_caption(p, caption.op) == nullptr);
                Problem broken = p;
                broken.switches.*fault.on = true;
                REQUIRE(fault_caption(broken, caption.op) != nullptr);
                CHECK(std::string(fault_caption(broken, caption.op)) == caption.words);
                CHECK(fault_caption(broken, Op::load_kv) == nullptr);
            }
        }
    }
}

TEST_CASE("lesson words: which lessons read an option, and how many queries are decoded") {
    CHECK(lessons_with(chooses_workers) == "split-kv");
    CHECK(lessons_with(chooses_ranks) == "ring, ring-backward");
    CHECK(contains(lessons_with(chooses_row), ", "));
    Problem p = worked_example();
    CHECK(queries_in_words(p) == "one query");
    p.options.queries = 3;
    CHECK(queries_in_words(p) == "3 queries");
}

TEST_CASE("lesson words: savings, algorithms and damage are named with their numbers") {
    Savings savings;
    CHECK(savings_title(savings).empty());
    savings.cubic = true;
    CHECK(savings_title(savings) == "cubic exp2");
    savings.lazy = 5.5;
    CHECK(savings_title(savings) == "lazy rescaling, τ = 5.5, cubic exp2");
    CHECK(brief_savings_title(savings) == "lazy τ = 5.5, cubic");
    savings.cubic = false;
    CHECK(savings_title(savings) == "lazy rescaling, τ = 5.5");

    std::set<std::string> names, ids;
    for (const Algorithm a : algorithms) names.insert(algorithm_name(a)), ids.insert(algorithm_id(a));
    CHECK(names == std::set<std::string>{"Standard", "FlashAttention-1", "FlashAttention-2"});
    CHECK(ids == std::set<std::string>{"standard", "flash-1", "flash-2"});

    inside::Damage damage;
    damage.cells = 8192;
    CHECK(inside::damage_text(damage) == "all 8192 numbers are right");
    damage.wrong = 12;
    CHECK(inside::damage_text(damage) == "12 of 8192 numbers are wrong");
    damage.nans = 3;
    CHECK(inside::damage_text(damage) == "12 of 8192 numbers are wrong, 3 of them NaN");
}

TEST_CASE("lesson words: a maximum rises where m differs from what it was, row by row") {
    Random random(11);
    int rises = 0, stays = 0;
    for (int round = 0; round < 12; ++round) {
        const auto built = build_trace(*find_lesson("flash-forward"), any_problem(random));
        if (!built) continue;
        const Trace& walk = **built;
        for (int k = 1; k < walk.size(); ++k) {
            if (walk.step(k).op != Op::new_max) {
                CHECK_FALSE(maximum_rises(walk, k));
                continue;
            }
            const Held now = walk.live(Slot::m, k), before = walk.live(Slot::m, k - 1);
            REQUIRE(now);
            bool rose = false;
            for (int r = 0; r < now.value->region.rows; ++r)
                rose = rose || (before && now.value->data(r, 0) > before.value->data(r, 0));
            CHECK_MESSAGE(maximum_rises(walk, k) == rose, where(walk, k));
            ++(rose ? rises : stays);
        }
    }
    CHECK(rises > 10);
    CHECK(stays > 10);
}

TEST_CASE("lesson words: what a step computes ends its result, as the walk has it") {
    Random random(3);
    std::map<std::string, int> told;
    for (const Lesson& lesson : lessons())
        for (const Problem& problem : {worked_example(), causal(any_problem(random)), any_problem(random)}) {
            const auto built = build_trace(lesson, problem);
            if (!built) continue;
            for (int k = 0; k < (**built).size(); ++k) {
                const Step& step = (**built).step(k);
                if (info(step.op).kind != OpKind::compute || step.writes == 0) continue;
                const Explanation e = explain(**built, k);
                if (e.target.slot == Slot::count) continue;
                CAPTURE(where(**built, k, e.target));
                REQUIRE(!e.result.empty());
                const auto [shown, unit] = read_shown(e.result.back().text);
                const double value = value_at(*holding(**built, e.target, k).value, e.target);
                if (std::isfinite(value))
                    CHECK(std::abs(shown - value) <= .5001 * unit + 1e-12 * std::abs(value));
                else
                    CHECK((shown == value || (std::isnan(shown) && std::isnan(value))));
                ++told[lesson.id];
            }
        }
    CHECK(told.size() == lessons().size());
    for (const auto& one : told) CHECK_MESSAGE(one.second >= 5, one.first);
}

TEST_CASE("lesson words: a maximum that is kept although a larger score has come says so, and only then") {
    Random random(5);
    std::map<std::string, int> told;
    const struct {
        Op op;
        const char* words;
    } kept[] = {{Op::new_max, "but not by more than τ: m stays"},
                {Op::correction, "m was kept, and α is 1"},
                {Op::exponentials, "measured from an m that lags behind"}};
    for (int round = 0; round < 20; ++round) {
        Problem p = any_problem(random);
        p.savings.lazy = round % 2 ? 8.0 : .5;
        const auto built = build_trace(*find_lesson("flash-forward"), p);
        if (!built) continue;
        const Trace& walk = **built;
        for (int k = 0; k < walk.size(); ++k)
            for (const auto& [op, words] : kept) {
                if (walk.step(k).op != op) continue;
                const Region region = step_region(walk, k);
                for (int r = 0; r < region.rows; ++r) {
                    const Explanation e = explain(walk, k, cell_of_row(walk, k, region.row + r));
                    const CellRef m{Slot::m, e.target.row, 0}, best{Slot::m_tile, e.target.row, 0};
                    const double now = value_at(*walk.live(Slot::m, k).value, m),
                                 tile = value_at(*walk.live(Slot::m_tile, k).value, best);
                    const std::string said = spoken(walk, k, e);
                    CHECK_MESSAGE(contains(said, words) == (tile > now), said);
                    // A weight may be above 1, and m need not be the largest score so far.
                    for (const char* never : {"no weight is above 1", "the maximum stays", "its maximum"})
                        CHECK_FALSE_MESSAGE(contains(said, never), said);
                    told[words] += tile > now;
                }
            }
    }
    for (const auto& one : kept) CHECK_MESSAGE(told[one.words] > 5, one.words);
}

TEST_CASE(
    "lesson words: what is to be watched is told of the pass that it is written of, and of no broken one") {
    Problem problem = worked_example();
    problem.watch = "how the maximum rises";
    for (const Lesson& lesson : lessons())
        if (const auto walk = build_trace(lesson, problem))
            CHECK_MESSAGE((*walk)->tells_what_to_watch() == (std::string(lesson.id) == "flash-forward"),
                          lesson.id);
    problem.switches.no_correction = true;
    CHECK_FALSE((*build_trace(*find_lesson("flash-forward"), problem))->tells_what_to_watch());
    problem.switches = {}, problem.watch.clear();
    CHECK_FALSE((*build_trace(*find_lesson("flash-forward"), problem))->tells_what_to_watch());
}

// Every line of every lesson's pseudocode.
template <class Use> static void every_code(const Use& use) {
    Problem causal = worked_example(), plain = worked_example();
    causal.causal = true;
    for (const Problem& problem : {plain, causal})
        for (const Lesson& lesson : lessons()) {
            const auto code = lesson.code(problem);
            use(lesson, std::vector<CodeLine>(code.begin(), code.end()));
        }
}

TEST_CASE("lesson words: pseudocode goes in by one behind a line that opens something, and nowhere else") {
    every_code([](const Lesson& lesson, const std::vector<CodeLine>& code) {
        int before = 0;
        std::string opener = "for the first line";
        for (const CodeLine& line : code) {
            INFO(lesson.id, ": ", line.text);
            CHECK(line.indent <= before + 1);
            // What opens a loop, a kernel or a pass does nothing itself.
            if (line.indent > before)
                for (const char* does : {"←", "load", "store"})
                    CHECK_FALSE_MESSAGE(contains(opener, does), opener);
            before = line.indent, opener = line.text;
        }
        CHECK(code.front().indent == 0);
    });
}

TEST_CASE("lesson words: a line of pseudocode without its remark still says all that it does") {
    CHECK(without_remark("dQ ← dQ + dS K  in HBM") == "dQ ← dQ + dS K");
    CHECK(without_remark("load Q   (its queries)") == "load Q");
    for (const char* whole : {"S  ← Q Kᵀ", "m ← −∞,  ℓ ← 0", "for t in 0 … R−1:  j = (i − t) mod R"})
        CHECK(without_remark(whole) == whole);
    const auto arrows = [](std::string_view line) {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = line.find("←", at)) != line.npos; ++at) ++count;
        return count;
    };
    int shorter = 0;
    every_code([&](const Lesson&, const std::vector<CodeLine>& code) {
        for (const CodeLine& line : code) {
            CHECK_MESSAGE(arrows(without_remark(line.text)) == arrows(line.text), line.text);
            shorter += without_remark(line.text) != line.text;
        }
    });
    CHECK(shorter > 10);
}

TEST_CASE("lesson words: a key lies as far below the maximum as the walk has it") {
    int told = 0;
    for (const Problem& problem : {worked_example(), *random_problem(6, 3, 5)}) {
        const auto walk = *build_trace(*find_lesson("flash-forward"), problem);
        for (int k = 0; k < walk->size(); ++k) {
            if (walk->step(k).op != Op::exponentials) continue;
            const Value& S = *walk->live(Slot::S, k).value;
            const Value& m = *walk->live(Slot::m, k).value;
            const Region at = S.region;
            for (int r = 0; r < at.rows; ++r)
                for (int c = 0; c < at.cols; ++c) {
                    const std::string why = explain(*walk, k, CellRef{Slot::P, at.row + r, at.col + c}).why;
                    const std::size_t from = why.find(" lies "), to = why.find(" below the maximum");
                    if (from == why.npos || to == why.npos) continue;
                    const ShownNumber said = read_shown(why.substr(from + 6, to - from - 6));
                    CHECK_MESSAGE(std::abs(said.value - (m.data(r, 0) - S.data(r, c))) <= .5001 * said.unit,
                                  why);
                    ++told;
                }
        }
    }
    CHECK(told > 10);
}

TEST_CASE("lesson words: on a ring a score as large as the largest so far leaves the maximum where it is") {
    Problem problem = *random_problem(4, 2, 1);
    problem.Q.setOnes(), problem.K.setOnes();
    problem.options.ranks = 2;
    const auto walk = *build_trace(*find_lesson("ring"), problem);
    int ties = 0;
    for (int k = 0; k < walk->size(); ++k) {
        if (walk->step(k).op != Op::merge_max) continue;
        const std::string why = explain(*walk, k).why;
        CHECK_MESSAGE(contains(why, "score no higher than"), why);
        ++ties;
    }
    CHECK(ties > 0);
}
