// Every lesson keeps the contract (contract.h), with every switch and number format that it knows. A new
// lesson is held to it without a line here.
#include "core/class/questions.h"
#include "core/lessons/dense/steps.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/heads.h"
#include "core/problem/precision.h"
#include "tests/core/lessons/broken.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

// How often a lesson was walked through, and how often two conditions that do not always apply were held.
struct Checked {
    int walks = 0;
    int results = 0;  ///< were compared with dense attention
    int peaks = 0;    ///< the peak on chip had to be just what is reserved
};

// What was checked of each lesson.
struct Counts {
    std::map<std::string, Checked> of;
    int walks() const {
        int sum = 0;
        for (const auto& [lesson, n] : of) sum += n.walks;
        return sum;
    }
    // Fails for a lesson that was checked less often.
    void check(const Checked& least) {
        for (const Lesson& lesson : lessons()) {
            const Checked& n = of[lesson.id];
            CHECK_MESSAGE(n.walks >= least.walks, std::string(lesson.id));
            CHECK_MESSAGE(n.results >= least.results, std::string(lesson.id));
            CHECK_MESSAGE(n.peaks >= least.peaks, std::string(lesson.id));
        }
    }
};

void check_everything(const Lesson& lesson, const Problem& drawn, bool explanations = true,
                      Counts* counts = nullptr) {
    const Problem p = as_taken(lesson, drawn);
    REQUIRE_MESSAGE(!refuse(lesson, p), *refuse(lesson, p));
    const auto trace = lesson.build(p);
    REQUIRE(&trace->lesson() == &lesson);
    check_walk(*trace);
    const bool peak = check_costs(*trace);
    // Of heads that are walked through together test_training.cpp holds the results.
    const bool one_head = trace->walked().packed == 1;
    const bool results = one_head && !breaks(lesson, p) && check_results(*trace) > 0;
    if (explanations) CHECK(check_explanations(*trace) > 0);
    if (!counts) return;
    Checked& n = counts->of[lesson.id];
    ++n.walks, n.results += results, n.peaks += peak;
}

// A problem with everything that a lesson may look at.
Problem drawn(Random& random, int largest) {
    Problem p;
    do {
        p = any_problem(random, largest);
        if (pick(random, 0, 2) > 0) p.dO = random_problem(p.N(), p.d(), random())->dO;
        if (pick(random, 0, 2) == 0) p.logits = any_logits(random);
        choose_rows(random, p);
        p.options.notation = static_cast<Notation>(pick(random, 0, 2));
        p.options.normalised = pick(random, 0, 1) == 0;
        p.options.order = static_cast<BackwardOrder>(pick(random, 0, 1));
        p.options.learning_rate = choose(random, {0.1, 0.01, 1, -0.5, 0});
        p.options.merge = static_cast<MergeOrder>(pick(random, 0, 2));
        p.options.parts = static_cast<PartForm>(pick(random, 0, 1));
        p.options.workers = pick(random, 1, 4);
        p.options.ranks = pick(random, 0, 3);
        p.options.shards = static_cast<ShardKind>(pick(random, 0, 2));
        choose_sequences(random, p);
        p.options.splits.clear();
        for (int left = pick(random, 0, 1) * p.N_kv(); left > 0; left -= p.options.splits.back())
            p.options.splits.push_back(pick(random, 0, left));
        if (pick(random, 0, 2) == 0)
            for (int n = 0; n < std::max(p.N(), p.N_kv()); ++n) p.tokens.push_back("w" + std::to_string(n));
    } while (validate(p) || validate_gradients(p) || validate_update(p));
    return p;
}

}  // namespace

TEST_CASE("worked example and its masks") {
    for (const Lesson& lesson : lessons()) {
        INFO(std::string(lesson.id));
        for (int mask = 0; mask < 3; ++mask) {
            Problem p = worked_example();
            p.causal = mask > 0;
            if (mask == 2) p.window = 1;
            check_everything(lesson, p);
        }
    }
}

void check_random(std::uint64_t seed, int problems) {
    Random random(seed);
    for (int n = 0; n < problems; ++n) {
        const Problem p = drawn(random, 6);
        for (const Lesson& lesson : lessons()) check_everything(lesson, p);
    }
}

TEST_CASE("random problems") { check_random(20, 80); }
TEST_CASE("other random problems") { check_random(23, 80); }

TEST_CASE("of several heads one is walked through, or those that share K and V") {
    Random random(24);
    int packed = 0;
    for (int n = 0; n < 25; ++n) {
        Problem p = drawn(random, 4);
        const int H_kv = pick(random, 1, 2), size = pick(random, 1, 3);
        give_heads(p, H_kv * size, H_kv);
        show_head(p, pick(random, 0, H_kv * size - 1));
        for (const Lesson& lesson : lessons()) {
            if (refuse(lesson, as_taken(lesson, p))) continue;
            check_everything(lesson, p);
            packed += size > 1 && lesson.uses(packs_heads);
        }
    }
    CHECK(packed > 10);
}

namespace {

// All that a problem can have: each of several heads, faults, formats and savings is in some of them.
Problem anything(std::uint64_t seed) {
    Random random(seed);
    Problem p = drawn(random, pick(random, 0, 9) == 0 ? 12 : 6);
    if (pick(random, 0, 3) == 0) p = random_faults(random, p);
    if (pick(random, 0, 3) == 0) p = random_precision(random, p);
    if (pick(random, 0, 5) == 0) p.savings.lazy = choose(random, {0, 0.5, 1, 8, 100});
    if (pick(random, 0, 5) == 0) p.savings.cubic = true;
    if (pick(random, 0, 3) > 0) return p;
    const int H_kv = pick(random, 1, 2), size = pick(random, 1, 3);
    give_heads(p, H_kv * size, H_kv);
    show_head(p, pick(random, 0, H_kv * size - 1));
    return p;
}

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
    const char* const given = std::getenv(variable);
    return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

}  // namespace

// TILEWALK_PROBLEMS=10000 asks for so many, TILEWALK_SEED for those from that one on. Every problem has a
// seed of its own, which a message names; it comes back with TILEWALK_PROBLEMS=1.
TEST_CASE("anything that is valid, as much of it as is asked for") {
    const std::uint64_t first = number_in("TILEWALK_SEED", 1), count = number_in("TILEWALK_PROBLEMS", 20);
    const bool told = std::getenv("TILEWALK_PROBLEMS");
    std::uint64_t refused = 0;
    Counts counts;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        INFO("seed ", seed);
        const Problem p = anything(seed);
        for (const Lesson& lesson : lessons())
            if (refuse(lesson, as_taken(lesson, p)))
                ++refused;
            else
                check_everything(lesson, p, true, &counts);
        if (told && (seed - first + 1) % 100 == 0)
            std::cout << "seeds " << first << " to " << seed << ", " << refused << " walks refused"
                      << std::endl;
    }
    if (count < 20) return;
    // Some formats, masks and updates may be refused, but of all walks few.
    CHECK(counts.walks() >= 0.9 * static_cast<double>(count * lessons().size()));
    const int least = static_cast<int>(count / 2);
    counts.check({.walks = least, .results = least / 4, .peaks = least / 4});
}

// What the first ten thousand found: maxima that are told apart by more digits than are shown, numbers below
// the normal ones in products and in ln, the gradient of a sink in fp16, a score that the format of m
// overflows; of the last one the reader of formulas was wrong.
TEST_CASE("problems that something wrong was said of once") {
    for (const std::uint64_t seed :
         {253, 2690, 3280, 4063, 4160, 4227, 4881, 5249, 6594, 7158, 7565, 8697, 9322, 9864, 11224}) {
        INFO("seed ", seed);
        const Problem p = anything(seed);
        for (const Lesson& lesson : lessons())
            if (!refuse(lesson, as_taken(lesson, p))) check_everything(lesson, p);
    }
}

TEST_CASE("rows, letters, forms and orders") {
    for (const Lesson& lesson : lessons())
        for (int form = 0; form < 12; ++form) {
            Problem p = tutorial_backward();
            p.options = {};
            p.options.row = form % 4;
            p.options.notation = static_cast<Notation>(form % 3);
            p.options.normalised = form % 2 == 0;
            p.options.order = static_cast<BackwardOrder>(form / 2 % 2);
            p.causal = form > 5;
            check_everything(lesson, p);
        }
}

// Every lesson that does not refuse it walks through it, for its first and its last row, in both orders and
// forms.
void check_hard(Problem p, Counts& counts) {
    for (const bool last : {false, true}) {
        choose_row(p.options, last ? p.N() - 1 : 0, p.N());
        p.options.normalised = last;
        p.options.order = static_cast<BackwardOrder>(last);
        for (const Lesson& lesson : lessons())
            if (!refuse(lesson, as_taken(lesson, p))) check_everything(lesson, p, true, &counts);
    }
}

TEST_CASE("logits that exp alone could not bear, small and uneven numbers") {
    Counts counts;
    for (const double factor : {30.0, 1000.0, 1e5, 1e9, 1e-3, 1e-5, 1e-12, 1e-160}) {
        Problem p = *random_problem(4, 3, 5);
        p.Q *= factor;
        if (factor < 1) p.V.col(0) *= factor, p.V.col(1) /= factor;
        check_hard(p, counts);
    }
    counts.check({.walks = 14});  // an update of the weights may be refused
}

TEST_CASE("terms that cancel") {
    Problem p = worked_example();
    p.Q << 1000.123, -1000.123, 3.0001, 1, 0.1, 0.2, -0.3, 0, 1e5, 1e-5, -1e5, 1, 1.0 / 3, 1, -1, 2;
    p.K << 1, 1, 1, -3, 1, 1, 1, 0, 1, 1, 1, 1, 3, -1, 0, 0.001;
    p.V << 1, -1, 0.1, 0, -1, 1, 0.2, 0, 1, -1, -0.3, 0, -1, 1, 0, -0.0;
    Counts counts;
    check_hard(p, counts);
    counts.check({.walks = 2});
}

TEST_CASE("queries that see nothing") {
    Problem p = causal(*random_problem(6, 3, 1));
    keep_keys(p, 3);
    Counts counts;
    check_hard(p, counts);
    p.causal = false, p.window = 0;
    check_hard(p, counts);
    p.causal = true, p.window = 1, p.Br = 6, p.Bc = 3;
    check_hard(p, counts);
    counts.check({.walks = 6, .results = 6});
}

TEST_CASE("huge sizes are estimated without overflow") {
    Problem p;
    p.Q = p.K = p.V = Matrix::Zero(4096, 1024);
    p.Br = p.Bc = 1;
    for (const Lesson& lesson : lessons()) {
        CHECK_MESSAGE(lesson.estimate(p) > 0, std::string(lesson.id));
        if (lesson.one_row) continue;
        CHECK_MESSAGE(lesson.estimate(p) > step_budget_bytes, std::string(lesson.id));
        CHECK_MESSAGE(refuse(lesson, p), std::string(lesson.id));
    }
    CHECK(dense_bytes(1e40) > step_budget_bytes);
}

TEST_CASE("a larger problem, without its explanations") {
    for (const Lesson& lesson : lessons())
        CHECK_MESSAGE(check_costs(*lesson.build(*random_problem(128, 16, 1))), std::string(lesson.id));
}

TEST_CASE("many random problems, without their explanations") {
    Random random(21);
    int blind = 0, large = 0, one_tile = 0;
    Counts counts;
    for (int n = 0; n < 500; ++n) {
        const Problem p = drawn(random, n % 10 == 0 ? 20 : 9);
        for (const Lesson& lesson : lessons()) check_everything(lesson, p, false, &counts);
        for (const long double L : dense_attention(p).L) blind += std::isinf(L), large += L > 710;
        one_tile += p.Tr() == 1 && p.Tc() == 1;
    }
    // The draw reached what is hard: rows that see nothing, logits beyond exp's range, a single tile.
    CHECK(blind > 20);
    CHECK(large > 20);
    CHECK(one_tile > 20);
    counts.check({.walks = 500, .results = 300, .peaks = 300});
}

TEST_CASE("with every switch and number format") {
    Random random(22);
    for (const Lesson& lesson : lessons()) {
        INFO(std::string(lesson.id));
        for (const Fault& fault : lesson.faults())
            for (int n = 0; n < 8; ++n) {
                Problem p = drawn(random, 5);
                if (n < 2) p = worked_example(), p.causal = n == 1;
                p.switches.*fault.on = true;
                if (n > 5)
                    p.switches.*lesson.faults()[static_cast<std::size_t>(n) % lesson.faults().size()].on =
                        true;
                check_everything(lesson, p);
            }
        if (lesson.faults().empty()) continue;
        int walked = 0;
        for (const Format format : formats())
            for (int n = 0; n < 5; ++n) {
                Problem p = n == 0 ? worked_example() : drawn(random, 4);
                p.precision = {format, format, format, format, format, format};
                if (n % 2 == 1)
                    p.precision.scores = p.precision.softmax = p.precision.accumulator = Format::fp32;
                if (refuse(lesson, p)) continue;  // scores without ∞ cannot be masked
                ++walked;
                check_everything(lesson, p);
            }
        CHECK(walked > 20);
    }
}

TEST_CASE("what a lesson is made of is there, and is its own") {
    std::set<std::string> ids, titles;
    for (const Lesson& lesson : lessons()) {
        INFO(std::string(lesson.id));
        CHECK(ids.insert(lesson.id).second);
        CHECK(titles.insert(lesson.title).second);
        CHECK(std::string(lesson.summary).ends_with("."));
        // Within one walk two ops never bear the same title.
        Problem p = tutorial_backward();
        p.logits = {2, 0.5, 1};
        const auto trace = lesson.build(as_taken(lesson, p));
        std::map<std::string, Op> op_of;
        for (int k = 0; k < trace->size(); ++k) {
            const Op op = trace->step(k).op;
            const std::string title = explain(*trace, k).title;
            CHECK_MESSAGE(op_of.try_emplace(title, op).first->second == op, title);
        }
    }
}

TEST_CASE("every lesson can be asked about: each op that computes has a question for its number") {
    for (const Lesson& lesson : lessons()) {
        INFO(std::string(lesson.id));
        std::map<Op, bool> asked;
        for (const bool causal : {false, true}) {
            Problem p = tutorial_backward();
            p.causal = causal;
            if (causal) p.logits = {2, 0.5, 1};
            // The identity as an input picks numbers that stand there already: nothing to ask about.
            if (std::ranges::count(lesson.inputs, Slot::X) > 0) {
                const Problem drawn = *random_problem(4, 4, 5);
                p.projection = Projection{drawn.Q, drawn.K, drawn.V, drawn.Q.transpose()};
                project(p);
            }
            const auto trace = lesson.build(as_taken(lesson, p));
            for (int k = 1; k < trace->size(); ++k) {
                const Explanation e = explain(*trace, k);
                bool& found = asked[trace->step(k).op];
                // Copies are asked for their bytes, and the loss and the gradient of a sink are sums too long
                // for a head.
                const Op op = trace->step(k).op;
                found = found || e.numbers.empty() || is_load(op) || is_store(op) || op == Op::loss ||
                        op == Op::sink_gradient;
                for (const Question& q : questions_before(*trace, k))
                    found = found || q.kind == Question::Kind::value;
            }
        }
        for (const auto& op : asked) CHECK_MESSAGE(op.second, std::string(name(op.first)));
    }
}

TEST_CASE("a fault changes the code where the kernel does something else, and there alone") {
    for (const Lesson& lesson : lessons())
        for (const Fault& fault : lesson.faults()) {
            INFO(std::string(lesson.id));
            INFO(std::string(fault.name));
            std::set<int> changed, told, other_formula;
            for (const int variant : {0, 1, 2, 3}) {
                Problem p = tutorial_backward();
                p.causal = variant % 2 == 1;
                if (variant > 1) p.options.workers = 1, p.options.prefix = 4;  // both key blocks in one pass
                const auto sound = lesson.code(p);
                const auto truth = lesson.build(p);
                p.switches.*fault.on = true;
                const auto code = lesson.code(p);
                for (std::size_t n = 0; n < code.size(); ++n)
                    if (std::string(code[n].text) != sound[n].text) changed.insert(static_cast<int>(n));
                const auto trace = lesson.build(p);
                const auto every_cell = [&](int k, const auto& look) {
                    for (const Access& a : trace->writes(k)) {
                        const Region at = trace->value(a.value).region;
                        for (int n = 0; n < at.rows * at.cols; ++n)
                            look(CellRef{a.slot, at.row + n / at.cols, at.col + n % at.cols});
                    }
                };
                for (int k = 0; k < trace->size(); ++k)
                    every_cell(k, [&](const CellRef& cell) {
                        const Explanation e = explain(*trace, k, cell);
                        if (e.why.find("Fault") != std::string::npos) told.insert(e.code_line);
                        if (plain(e.formula) != plain(explain(*truth, k, e.target).formula))
                            other_formula.insert(e.code_line);
                    });
            }
            CHECK_FALSE(changed.empty());
            for (const int line : changed) CHECK_MESSAGE(told.contains(line), "line ", line + 1);
            for (const int line : other_formula) CHECK_MESSAGE(changed.contains(line), "line ", line + 1);
        }
}
