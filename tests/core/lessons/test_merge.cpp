// Merging partial results: the rule on numbers of every size against long double, within the bound that
// docs/merging.md derives; the lesson in every order and form; what is empty, masked or no number.
#include "core/lessons/merge/merge.h"
#include "core/lessons/merge/trees.h"
#include "core/lessons/softmax/softmax.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

using namespace tilewalk::test;

namespace {

constexpr long double unit = 0x1p-53L, least = 0x1p-1074L;

// A number of any size up to 10³⁰, with any sign.
double any_size(Random& random, bool positive) {
    const double size = std::pow(10.0, pick(random, -30000, 30000) / 1000.0);
    return positive || pick(random, 0, 1) ? size : -size;
}

PartialResult any_part(Random& random) {
    PartialResult out;
    out.O = {0};
    if (pick(random, 0, 7) == 0) return out;
    // Maxima close together and far apart
    const int kind = pick(random, 0, 3);
    out.m = kind == 0   ? pick(random, -3, 3)
            : kind == 1 ? pick(random, -70000, 70000) / 100.0
            : kind == 2 ? pick(random, -700, 700) / 7.0
                        : any_size(random, false);
    out.l = any_size(random, true);
    out.O = {any_size(random, false)};
    return out;
}

// Any two of those that are left, until one is.
struct Tree {
    std::vector<MergeNode> plan;
    std::vector<int> depth;  // of each part
};
Tree any_tree(Random& random, int parts) {
    Tree out;
    out.depth.resize(static_cast<std::size_t>(parts));
    std::vector<std::vector<int>> below(static_cast<std::size_t>(parts));
    std::vector<int> left(static_cast<std::size_t>(parts));
    std::iota(left.begin(), left.end(), 0);
    for (int n = 0; n < parts; ++n) below[static_cast<std::size_t>(n)] = {n};
    while (left.size() > 1) {
        const auto take = [&] {
            const auto at = left.begin() + pick(random, 0, static_cast<int>(left.size()) - 1);
            const int tile = *at;
            left.erase(at);
            return tile;
        };
        const int a = take(), b = take(), into = static_cast<int>(below.size());
        out.plan.push_back({{a, b}, into, 0, 0});
        std::vector<int> all = below[static_cast<std::size_t>(a)];
        const std::vector<int>& more = below[static_cast<std::size_t>(b)];
        all.insert(all.end(), more.begin(), more.end());
        for (const int part : all) ++out.depth[static_cast<std::size_t>(part)];
        below.push_back(std::move(all));
        left.push_back(into);
    }
    return out;
}

struct Sums {
    long double l = 0, O = 0, slack_l = 0, slack_O = 0;
};
// In one go and in long double; and how far any tree in double may be off (docs/merging.md).
Sums in_one_go(const std::vector<PartialResult>& parts, const std::vector<int>& depth) {
    long double m = minus_infinity;
    for (const PartialResult& part : parts) m = std::max<long double>(m, part.m);
    Sums out;
    if (m == minus_infinity) return out;
    for (std::size_t n = 0; n < parts.size(); ++n) {
        if (parts[n].m == minus_infinity) continue;
        const long double below = m - static_cast<long double>(parts[n].m), weight = std::exp(-below);
        const long double each =
            1.01L * (weight > 0 ? weight * (below + 4 * depth[n]) * unit : 0) + depth[n] * least;
        out.l += weight * parts[n].l, out.O += weight * parts[n].O[0];
        out.slack_l += each * parts[n].l, out.slack_O += each * std::abs(parts[n].O[0]);
    }
    const long double rounds = static_cast<long double>(parts.size()) * least;
    out.slack_l += rounds, out.slack_O += rounds;
    return out;
}

// Of normalised parts L is one number for m and ℓ, so an error of it is one of every weight. Up to 10⁹ it
// stays small: docs/merging.md.
PartialResult any_normalised_part(Random& random) {
    PartialResult out;
    out.O = {0};
    if (pick(random, 0, 7) == 0) return out;
    const int kind = pick(random, 0, 3);
    out.m = kind == 0   ? pick(random, -3, 3)
            : kind == 1 ? pick(random, -70000, 70000) / 100.0
            : kind == 2
                ? pick(random, -700, 700) / 7.0
                : std::copysign(std::pow(10.0, pick(random, 0, 9000) / 1000.0), pick(random, 0, 1) - .5);
    out.l = 1;
    out.O = {any_size(random, false)};
    return out;
}

struct Averages {
    long double L = minus_infinity, O = 0, slack_L = 0, slack_O = 0;
};
Averages averaged_in_one_go(const std::vector<PartialResult>& parts, const std::vector<int>& depth) {
    long double m = minus_infinity, sum = 0;
    for (const PartialResult& part : parts) m = std::max<long double>(m, part.m);
    Averages out;
    if (m == minus_infinity) return out;
    for (const PartialResult& part : parts) sum += std::exp(static_cast<long double>(part.m) - m);
    out.L = m + std::log(sum);
    const auto each = [&](const auto& add) {
        for (std::size_t n = 0; n < parts.size(); ++n) {
            if (parts[n].m == minus_infinity) continue;
            const long double below = out.L - static_cast<long double>(parts[n].m);
            add(parts[n], static_cast<long double>(depth[n]), below, std::exp(-below));
        }
    };
    each([&](const PartialResult& part, long double merges, long double, long double share) {
        const long double largest = std::max(std::abs(static_cast<long double>(part.m)), std::abs(out.L));
        if (share > 0) out.slack_L += 1.01L * share * merges * (4 + largest) * unit;
    });
    each([&](const PartialResult& part, long double merges, long double below, long double share) {
        const long double size = std::abs(static_cast<long double>(part.O[0]));
        out.O += share * static_cast<long double>(part.O[0]);
        const long double off = share > 0 ? share * ((below + 4 * merges) * unit + out.slack_L) : 0;
        out.slack_O += size * (1.01L * off + merges * least) + least;
    });
    return out;
}

}  // namespace

static Problem without_sink(Problem p) {
    p.logits.sink.reset();
    return p;
}

TEST_CASE("a hundred thousand random trees of merges stay within the derived bound of long double") {
    Random random(41);
    int wide = 0, far = 0;
    for (int n = 0; n < 100000; ++n) {
        const int count = pick(random, 1, 64);
        std::vector<PartialResult> parts;
        for (int k = 0; k < count; ++k) parts.push_back(any_part(random));
        const Tree tree = any_tree(random, count);
        const PartialResult got = merged_by(parts, tree.plan).back();
        const Sums sums = in_one_go(parts, tree.depth);
        const bool right = std::abs(static_cast<long double>(got.l) - sums.l) <= sums.slack_l &&
                           std::abs(static_cast<long double>(got.O[0]) - sums.O) <= sums.slack_O;
        if (!right) {
            FAIL_CHECK("tree ", n, " of ", count, " parts: ", got.l, " and ", got.O[0]);
            break;
        }
        wide += count > 32;
        far += std::abs(static_cast<long double>(got.l) - sums.l) > sums.slack_l / 10;
    }
    CHECK(wide > 10000);
    CHECK(far > 500);  // the bound is no wall in the fog: many trees come within a tenth of it
}

TEST_CASE("a hundred thousand random trees of normalised parts stay within theirs") {
    Random random(43);
    int wide = 0, far_L = 0, far_O = 0;
    for (int n = 0; n < 100000; ++n) {
        const int count = pick(random, 1, 64);
        std::vector<PartialResult> parts;
        for (int k = 0; k < count; ++k) parts.push_back(any_normalised_part(random));
        const Tree tree = any_tree(random, count);
        const PartialResult got = merged_by(parts, tree.plan, Format::fp64, PartForm::normalised).back();
        const Averages all = averaged_in_one_go(parts, tree.depth);
        if (all.L == minus_infinity) {
            CHECK(got.m == minus_infinity);
            CHECK(got.O[0] == 0);
            continue;
        }
        const long double off_L = std::abs(static_cast<long double>(got.m) - all.L),
                          off_O = std::abs(static_cast<long double>(got.O[0]) - all.O);
        if (off_L > all.slack_L || off_O > all.slack_O) {
            FAIL_CHECK("tree ", n, " of ", count, " parts: ", got.m, " and ", got.O[0]);
            break;
        }
        wide += count > 32, far_L += off_L > all.slack_L / 100, far_O += off_O > all.slack_O / 1000;
    }
    CHECK(wide > 10000);
    CHECK(far_L > 1000);
    CHECK(far_O > 1000);
}

TEST_CASE(
    "where L is so large that ln ℓ is lost in it, normalised parts are no longer averaged, and sums are") {
    for (const double large : {1e3, 1e17}) {
        const PartialResult a{large, 1, {6}}, b{large, 1, {10}};
        CHECK(merged(std::vector{a, b}).output(0) == 8);
        const PartialResult both = merged(std::vector{a, b}, Format::fp64, PartForm::normalised);
        CHECK(both.output(0) == doctest::Approx(large < 1e4 ? 8 : 16));  // both weights 1 in place of ½
    }
}

TEST_CASE("both forms of a part come to the same in every order, as the walk does") {
    const Problem worked = worked_example();
    const Matrix S = softmax_scores(worked);
    std::vector<PartialResult> sums, divided;
    for (int j = 0; j < 4; ++j) {
        sums.push_back(part_of(S, worked.V, {j, 1}));
        divided.push_back(normalised(sums.back()));
    }
    for (const MergeOrder order : {MergeOrder::chain, MergeOrder::pairs, MergeOrder::at_once}) {
        const auto plan = merge_plan(4, order);
        const PartialResult one = merged_by(sums, plan).back(),
                            other = merged_by(divided, plan, Format::fp64, PartForm::normalised).back();
        Problem p = worked;
        p.options.splits = {1, 1, 1, 1}, p.options.merge = order, p.options.parts = PartForm::normalised;
        const auto trace = merge_lesson(p);
        CHECK(other.m == doctest::Approx(one.log_sum()).epsilon(1e-15));
        CHECK(other.m == doctest::Approx(trace->result(Slot::L)(0, 0)).epsilon(1e-15));
        for (std::size_t c = 0; c < 4; ++c) {
            CHECK(other.O[c] == doctest::Approx(one.output(c)).epsilon(1e-15));
            CHECK(other.O[c] ==
                  doctest::Approx(trace->result(Slot::O)(0, static_cast<Eigen::Index>(c))).epsilon(1e-15));
        }
    }
    const PartialResult none = normalised({minus_infinity, 0, {0}});
    CHECK((none.m == minus_infinity && none.l == 0 && none.O[0] == 0));
    const double nan = std::nan("");
    CHECK(std::isnan(
        merged(std::vector{divided[0], PartialResult{nan, nan, {nan}}}, Format::fp64, PartForm::normalised)
            .O[0]));
}

TEST_CASE("an empty part changes nothing, wherever it is merged; NaN in one part is not lost") {
    const PartialResult a{1, 1.368, {2.839}}, empty{minus_infinity, 0, {0}};
    for (const auto& pair : {std::vector{a, empty}, std::vector{empty, a}, std::vector{empty, a, empty}}) {
        const PartialResult out = merged(pair);
        CHECK(out.m == a.m);
        CHECK(out.l == a.l);
        CHECK(out.O == a.O);
    }
    const PartialResult none = merged(std::vector{empty, empty});
    CHECK(none.m == minus_infinity);
    CHECK(none.l == 0);
    CHECK(none.output(0) == 0);
    CHECK(none.log_sum() == minus_infinity);

    const double nan = std::nan("");
    const PartialResult lost = merged(std::vector{a, PartialResult{nan, nan, {nan}}});
    CHECK(lost.m == 1);  // the maximum passes over NaN, as the hardware's does; the sums do not
    CHECK(std::isnan(lost.l));
    CHECK(std::isnan(lost.O[0]));
}

TEST_CASE("plans take in every part once, and end with the whole") {
    for (const MergeOrder order : {MergeOrder::chain, MergeOrder::pairs, MergeOrder::at_once})
        for (int parts = 1; parts <= 64; ++parts) {
            const auto plan = merge_plan(parts, order);
            std::vector<int> used;
            for (const MergeNode& node : plan) {
                used.insert(used.end(), node.parts.begin(), node.parts.end());
                CHECK(node.first <= node.last);
            }
            std::ranges::sort(used);
            std::vector<int> expected(used.size());
            std::iota(expected.begin(), expected.end(), 0);
            CHECK(used == expected);  // every tile once, and of the last none
            CHECK(plan.back().first == 0);
            CHECK(plan.back().last == parts - 1);
            CHECK(plan.back().into == static_cast<int>(used.size()));
            if (order == MergeOrder::chain) CHECK(std::ssize(plan) == std::max(1, parts - 1));
        }
}

TEST_CASE("the worked example in two parts") {
    Problem p = worked_example();
    p.options.row = 0;
    const auto trace = merge_lesson(p);
    const auto last = [&](Slot slot) { return trace->live(slot, trace->size()).value->data; };
    CHECK(last(Slot::m)(0, 0) == 2);
    CHECK(last(Slot::l)(0, 0) == doctest::Approx(1.638550));
    CHECK(trace->live(Slot::w_part, 0, trace->size()).value->data(0, 0) == doctest::Approx(std::exp(-1)));
    CHECK(trace->live(Slot::w_part, 1, trace->size()).value->data(0, 0) == 1);
    CHECK(trace->result(Slot::O)(0, 0) == doctest::Approx(7.204).epsilon(1e-4));
    CHECK(contains(explain(*trace, 4).why, "any order"));
}

TEST_CASE("any split, any order, both forms") {
    Random random(42);
    int empty = 0, sink_alone = 0;
    for (int n = 0; n < 500; ++n) {
        Problem p;
        do {
            p = any_problem(random, 7);
            p.options.row = pick(random, 0, p.N() - 1);
            if (n % 2 == 0) p.logits = any_logits(random);
        } while (validate(p));
        int left = p.N_kv();
        while (left > 0) {
            const int keys = pick(random, 0, left);
            p.options.splits.push_back(keys);
            left -= keys;
            empty += keys == 0;
        }
        p.options.merge = static_cast<MergeOrder>(pick(random, 0, 2));
        p.options.parts = static_cast<PartForm>(pick(random, 0, 1));
        if (std::ssize(p.options.splits) > 64 || refuse(merge_lesson, p)) continue;
        const auto trace = merge_lesson(p);
        check_walk(*trace);
        check_costs(*trace);
        CHECK(check_results(*trace) == 2);
        if (n % 3 == 0) CHECK(check_explanations(*trace) > 0);
        sink_alone += p.logits.sink && p.options.splits.front() == 0;
    }
    CHECK(empty > 50);
    CHECK(sink_alone > 10);
}

TEST_CASE("a sink counts once, with the first part: alone there, it is a part that gives nothing") {
    Problem p = worked_example();
    p.logits.sink = 1.5, p.options.splits = {0, 2, 2};
    for (const PartForm form : {PartForm::sums, PartForm::normalised}) {
        p.options.parts = form;
        const auto trace = merge_lesson(p);
        CHECK(check_results(*trace) == 2);
        const Explanation alone = explain(*trace, 0);
        CHECK(alone.title == "Sink alone");
        CHECK(contains(alone.why, "no keys"));
        CHECK(contains(alone.why, "1.5"));
        const Slot kept = form == PartForm::sums ? Slot::m_part : Slot::L_part;
        CHECK(trace->live(kept, 0, 0).value->data(0, 0) == 1.5);
        CHECK(merge_lesson.model(p).hbm_read == 4 + merge_lesson.model(without_sink(p)).hbm_read);
    }
    p.options.splits = {4}, p.options.parts = PartForm::sums;
    const auto together = merge_lesson(p);
    const Explanation sum = explain(*together, 0, CellRef{Slot::l_part, 0, 0});
    CHECK(contains(plain(sum.formula), "exp(sink − m"));
    CHECK(contains(sum.why, "that of the sink"));
    // The trees of the page count it, too.
    const PartialResult whole = part_of(softmax_scores(p), p.V, {0, 4}, Format::fp64, 1.5);
    CHECK(whole.output(0) == doctest::Approx(together->result(Slot::O)(0, 0)).epsilon(1e-14));
    CHECK(whole.log_sum() == doctest::Approx(together->result(Slot::L)(0, 0)).epsilon(1e-14));
}

TEST_CASE("one part that is no number takes the whole row with it, whatever the others found") {
    Problem p = worked_example();
    p.scale = {Scale::Kind::number, 400};
    p.switches.no_max = true;
    p.options.parts = PartForm::normalised, p.options.splits = {2, 2};
    const auto trace = merge_lesson(p);
    const auto part = [&](int tile) {
        return trace->live(Slot::O_part, tile, trace->size()).value->data(0, 0);
    };
    CHECK(part(0) == 1);
    CHECK(std::isnan(part(1)));
    CHECK(std::isnan(trace->result(Slot::O)(0, 0)));
    CHECK(contains(explain(*trace, 4).why, "NaN"));
}

TEST_CASE("splits that do not fit are refused with a sentence") {
    Problem p = worked_example();
    const auto refused = [&](std::vector<int> splits, const char* words) {
        p.options.splits = std::move(splits);
        const auto sentence = validate(p);
        REQUIRE(sentence);
        CHECK_MESSAGE(contains(*sentence, words), *sentence);
    };
    refused({3, 2}, "have 5 keys together, but K has 4");
    refused({5, -1}, "has -1 keys");
    refused(std::vector<int>(65, 0), "65 parts");
    p.options.splits = {0, 4, 0};
    CHECK_FALSE(validate(p));
    p.options.workers = 0;
    CHECK(validate(p));
    CHECK_FALSE(even_parts(4, 5));
    CHECK(*even_parts(7, 3) == std::vector{3, 2, 2});
}

TEST_CASE("in a rounded format two orders differ, and by how many numbers of the format") {
    CHECK(steps_apart(1, 1 + 0x1p-7, Format::bf16) == 1);
    CHECK(steps_apart(-2, -2, Format::fp32) == 0);
    Problem p = worked_example();
    choose_row(p.options, 1, p.N());
    const Matrix S = softmax_scores(p);
    const auto whole = [&](MergeOrder order, Format format) {
        std::vector<PartialResult> keys;
        for (int j = 0; j < 4; ++j) keys.push_back(part_of(S, p.V, {j, 1}, format));
        return merged_by(keys, merge_plan(4, order), format).back();
    };
    const PartialResult chain = whole(MergeOrder::chain, Format::fp64),
                        pairs = whole(MergeOrder::pairs, Format::fp64);
    CHECK(chain.l == doctest::Approx(pairs.l).epsilon(1e-15));
    CHECK(whole(MergeOrder::chain, Format::bf16).l != whole(MergeOrder::pairs, Format::bf16).l);
}

TEST_CASE("the trees of the page have every digit of the walk, in every format, order and form") {
    int apart = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed)
        for (const Format format : {Format::fp32, Format::fp16, Format::bf16})
            for (const PartForm form : {PartForm::sums, PartForm::normalised}) {
                Problem p = *random_problem(8, 3, seed);
                p.options.splits = seed % 2 == 1 ? std::vector<int>(8, 1) : std::vector{3, 0, 2, 1, 2};
                p.options.parts = form, p.precision.softmax = p.precision.accumulator = format;
                if (seed % 3 == 0) p.logits.sink = 0.25;
                std::vector<PartialResult> parts;
                for (const KeyPart& part : merge_parts(p))
                    parts.push_back(
                        part_of(softmax_scores(p), p.V, part, format,
                                parts.empty() && p.logits.sink ? *p.logits.sink : minus_infinity));
                if (form == PartForm::normalised)
                    for (PartialResult& part : parts) part = normalised(part, format);
                std::vector<Matrix> O;
                for (const MergeOrder order : {MergeOrder::chain, MergeOrder::pairs, MergeOrder::at_once}) {
                    p.options.merge = order;
                    const auto trace = merge_lesson(p);
                    const PartialResult tree =
                        merged_by(parts, merge_plan(static_cast<int>(parts.size()), order), format, form)
                            .back();
                    for (int c = 0; c < 3; ++c)
                        CHECK(round_to(format, tree.output(static_cast<std::size_t>(c))) ==
                              trace->result(Slot::O)(0, c));
                    CHECK((form == PartForm::sums ? round_to(format, tree.log_sum()) : tree.m) ==
                          trace->result(Slot::L)(0, 0));
                    O.push_back(trace->result(Slot::O));
                }
                apart += format == Format::bf16 && O[0] != O[1];
            }
    CHECK(apart > 10);
}
