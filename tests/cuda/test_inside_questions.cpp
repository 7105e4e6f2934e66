// Questions about a kernel's run, over every kernel of the ladder: their answers are counted again here, from
// the record; wrong ones have their cause.
#include "core/class/questions_inside.h"
#include "core/class/variants_inside.h"
#include "core/inside/faults.h"
#include "tests/contains.h"
#include "tests/cuda/inside_runs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace tilewalk {

namespace {

using inside::Event;
using inside::test::each_kernel;
using inside::test::WalkedLaunch;
using inside::test::WalkedRun;
using test::contains;
using Kind = Question::Kind;

struct Asked {
    Question question;
    const Event* event;
    std::span<const std::uint32_t> words;
    int warp, k;

    /// Word n of the lane, which takes part.
    std::uint32_t word(int lane, int n) const {
        const int before = std::popcount(event->lanes & ((1u << lane) - 1));
        return words[static_cast<std::size_t>(before * event->words + n)];
    }
};

InsideRun run_of(const WalkedRun& of, const WalkedLaunch& at) {
    return {of.record, at.block, at.steps, at.origins};
}

/// Of all warps' steps, each kind once for a line, and of every seventh step.
std::vector<Asked> asked_of(const WalkedRun& of, const WalkedLaunch& at) {
    std::vector<Asked> out;
    std::set<std::pair<std::uint32_t, Kind>> seen;
    at.each([&](int warp, int k, const Event& e) {
        for (Question& q : questions_inside(run_of(of, at), warp, k))
            if ((k % 7 == 0 && warp < 2) || seen.emplace(e.place, q.kind).second)
                out.push_back({std::move(q), &e, at.block.words_of(e), warp, k});
    });
    return out;
}

/// Row and column behind "C[".
std::pair<int, int> cell_of(const Question& q) {
    int row = 0, column = 0;
    REQUIRE(std::sscanf(q.text.c_str() + q.text.rfind("C["), "C[%d,%d]", &row, &column) == 2);
    return {row, column};
}

/// How often the worst of 32 banks is asked for different words by lanes 0 … 7, who want 16 bytes each.
int ways_of_first_eight(const Asked& a) {
    std::map<std::uint32_t, std::set<std::uint32_t>> words_of_bank;
    for (int lane = 0; lane < 8; ++lane)
        for (std::uint32_t n = 0; n < 4; ++n) {
            const std::uint32_t word = a.word(lane, 0) / 4 + n;
            words_of_bank[word % 32].insert(word);
        }
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    return static_cast<int>(most);
}

int sectors_touched(const Asked& a) {
    std::set<std::uint32_t> sectors;
    const int from = a.event->op == inside::Op::copy_issued ? 1 : 0;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(a.event->lanes >> lane & 1) || (a.event->op == inside::Op::copy_issued && a.word(lane, 2) == 0))
            continue;
        for (std::uint32_t n = 0; n < a.event->bytes; ++n) sectors.insert((a.word(lane, from) + n) / 32);
    }
    return static_cast<int>(sectors.size());
}

/// PTX ISA, C of mma.m16n8k16 and, eight columns beside each other, the registers of wgmma's D: row = groupID
/// or groupID + 8, columns 2 · threadID_in_group and the one beside it.
void check_holder(const Question& q) {
    const auto [row, column] = cell_of(q);
    const int lane = static_cast<int>(q.expected), group = lane / 4, in_group = lane % 4;
    CHECK((row == group || row == group + 8));
    CHECK((column % 8 == 2 * in_group || column % 8 == 2 * in_group + 1));
    // Each wrong one is what its cause says; those that come to the right lane are left out.
    const std::map<std::string, int> mistakes = {{"There are 32 lanes", 4 * row + column % 8 / 2},
                                                 {"A lane holds two columns", 4 * (row % 8) + column % 8},
                                                 {"After eight columns", 4 * (row % 8) + column / 2}};
    for (const WrongAnswer& wrong : q.wrong)
        for (const auto& [begin, value] : mistakes)
            if (wrong.cause.starts_with(begin)) CHECK(wrong.value == value);
}

/// The line that waits is the one behind which the copy has arrived.
void check_wait(const WalkedRun& of, const WalkedLaunch& at, const Asked& a) {
    const std::string& right = a.question.choices[static_cast<std::size_t>(a.question.right.at(0))];
    const auto line_of = [&](const Event& e) {
        return "line " + std::to_string(of.record.places[e.place].line) + ": ";
    };
    if (a.event->op == inside::Op::fetch_tile) {
        // Some warp waits at that line for the barrier that the tile reports to.
        CHECK(std::ranges::any_of(at.block.events, [&](const Event& e) {
            return e.op == inside::Op::wait_for && at.block.words_of(e)[0] == a.word(0, 5) &&
                   right == line_of(e) + "wait_for";
        }));
        return;
    }
    // The first step of the warp, behind this one, with which an arrival at this address comes.
    for (int k = a.k; k < at.steps.count(a.warp); ++k) {
        const bool here = std::ranges::any_of(at.steps.arrivals(a.warp, k), [&](std::uint32_t n) {
            const Event& e = at.block.events[n];
            return e.place == a.event->place && at.block.words_of(e)[0] == a.words[0];
        });
        if (!here) continue;
        CHECK(at.event(a.warp, k).op == inside::Op::wait_copies);
        CHECK(contains(right, line_of(at.event(a.warp, k))));
        return;
    }
    FAIL_CHECK("the copy never arrives");
}

void check_question(const WalkedRun& of, const WalkedLaunch& at, const Asked& a) {
    const Question& q = a.question;
    CAPTURE(q.text);
    CHECK(check(q, q.is_choice() ? std::to_string(q.right.at(0) + 1) : answer_text(q)).kind ==
          Verdict::Kind::right);
    CHECK(q.explanation.why.size() > 20);
    if (q.kind == Kind::bank_ways) CHECK(q.expected == ways_of_first_eight(a));
    if (q.kind == Kind::sectors) CHECK(q.expected == sectors_touched(a));
    if (q.kind == Kind::lane_of_cell) check_holder(q);
    if (q.kind == Kind::waits_for_copy) check_wait(of, at, a);
    for (const WrongAnswer& wrong : q.wrong) {
        CHECK(wrong.value != q.expected);
        CHECK(check(q, std::to_string(static_cast<int>(wrong.value))).cause == wrong.cause);
    }
    for (int n = 0; n < static_cast<int>(q.choices.size()); ++n)
        if (n != q.right.at(0))
            CHECK(check(q, std::vector{n}).cause == q.causes[static_cast<std::size_t>(n)]);
    CHECK((q.is_choice() ? q.choices.size() >= 3 : !q.wrong.empty()));
    // What is shown between two tries is not yet the answer.
    if (q.is_choice()) return;
    CHECK(plain(q.explanation.numbers) != answer_text(q));
    const std::string formula = plain(q.explanation.formula), told = "= " + answer_text(q);
    // "lane = 4 · (row mod 8) …" says no answer, though the lane may be 4.
    for (std::size_t from = 0; (from = formula.find(told, from)) != std::string::npos; ++from)
        CHECK(contains(formula.substr(from + told.size(), 4), " ·"));
}

}  // namespace

TEST_SUITE("inside") {
    TEST_CASE("questions: of every kernel every kind is asked, and the answers are those of the record") {
        std::map<std::string, std::set<Kind>> kinds;
        each_kernel([&](const WalkedRun& of) {
            CAPTURE(of.record.kernel);
            for (const auto& at : of.launches)
                for (const Asked& a : asked_of(of, *at)) {
                    kinds[of.record.kernel].insert(a.question.kind);
                    check_question(of, *at, a);
                }
        });
        const std::set all{Kind::lane_of_cell, Kind::bank_ways, Kind::sectors, Kind::waits_for_copy};
        CHECK(kinds["f5-flash2"] == all);
        CHECK(kinds["f4b-copies-ahead"] == all);
        CHECK(kinds["f7-hopper"].contains(Kind::lane_of_cell));
        CHECK(kinds["f7-hopper"].contains(Kind::waits_for_copy));
        CHECK(kinds["f2-tiled-fp32"].contains(Kind::sectors));
    }

    // Row and column of S as the whole matrix has them: the scores of those words are the product's sums.
    TEST_CASE(
        "questions: on paper a cell of S is named by its query and key, and its lane holds that score") {
        for (const char* kernel : {"f4-tensor-core", "f5-flash2"}) {
            CAPTURE(kernel);
            const WalkedRun of(kernel, DType::f16, *random_problem(80, 64, 1));
            const WalkedLaunch& at = *of.launches.front();
            const Matrix S = of.problem.Q * of.problem.K.transpose();
            int named = 0;
            at.each([&](int warp, int k, const Event& e) {
                if (e.op != inside::Op::multiply_add || at.origins.chain(warp, k).last != k) return;
                for (const Question& q : questions_inside_alone(run_of(of, at), warp, k)) {
                    const std::size_t begin = q.text.find("Which lane holds S[");
                    if (begin == std::string::npos) continue;
                    int row = 0, column = 0;
                    REQUIRE(std::sscanf(q.text.c_str() + begin, "Which lane holds S[%d,%d]", &row, &column) ==
                            2);
                    const std::size_t told = q.text.find("These are S of the queries ");
                    REQUIRE(told != std::string::npos);
                    int q0 = 0, q1 = 0, k0 = 0, k1 = 0;
                    REQUIRE(std::sscanf(q.text.c_str() + told,
                                        "These are S of the queries %d…%d and the keys %d…%d.", &q0, &q1, &k0,
                                        &k1) == 4);
                    CHECK((q1 - q0 == 15 && k1 - k0 == 7));
                    CHECK((row >= q0 && row <= q1 && column >= k0 && column <= k1));
                    if (row >= S.rows() || column >= S.cols()) continue;
                    const auto words = at.block.words_of(e, static_cast<int>(q.expected));
                    const auto has = [&](std::uint32_t word) {
                        return std::fabs(std::bit_cast<float>(word) - S(row, column)) <
                               0.02 * (1 + std::fabs(S(row, column)));
                    };
                    CHECK(std::ranges::any_of(words.last(4), has));
                    ++named;
                }
            });
            CHECK(named > 10);
        }
    }

    TEST_CASE("questions: a course has one of each kind, and each student another one") {
        const WalkedRun of("f5-flash2", DType::bf16, *random_problem(128, 64, 1));
        const std::vector<InsideRun> runs{run_of(of, *of.launches.front())};
        const auto all = make_inside_variants(runs, 12, 7), again = make_inside_variants(runs, 12, 7),
                   other = make_inside_variants(runs, 12, 8);
        REQUIRE(all.size() >= 4);
        std::set<std::string> titles;
        bool differs = false;
        for (std::size_t n = 0; n < all.size(); ++n) {
            CAPTURE(all[n].title);
            titles.insert(all[n].title);
            CHECK((all[n].variants.size() == 12 || all[n].same_for_all()));
            std::set<std::string> texts;
            std::vector<std::string> answers;
            for (std::size_t v = 0; v < all[n].variants.size(); ++v) {
                const Question& q = all[n].variants[v].question;
                CHECK(q.text == again[n].variants[v].question.text);
                differs = differs || q.text != other[n].variants[v].question.text;
                texts.insert(q.text), answers.push_back(answer_text(q));
                CHECK(check(q, q.is_choice() ? std::to_string(q.right.at(0) + 1) : answer_text(q)).kind ==
                      Verdict::Kind::right);
            }
            // Neighbours have the same answer only where there is no other one left.
            const std::set<std::string> different(answers.begin(), answers.end());
            for (std::size_t v = 1; v < different.size(); ++v)
                CHECK(std::ranges::find(answers.begin(), answers.begin() + std::ptrdiff_t(v), answers[v]) ==
                      answers.begin() + std::ptrdiff_t(v));
        }
        CHECK(titles.size() == all.size());
        CHECK(titles.contains("Which line stands between two accesses"));
        CHECK(differs);
    }

    // Without that barrier the record has a race between just these two lines.
    TEST_CASE("questions: the barrier between two accesses is one without which these two race") {
        for (const auto& [the_kernel, type] : {std::pair("f2-tiled-fp32", DType::f32),
                                               {"f4-tensor-core", DType::bf16},
                                               {"f5-flash2", DType::bf16}}) {
            const std::string kernel = the_kernel;
            CAPTURE(kernel);
            const Problem problem = *random_problem(160, 64, 1);
            const WalkedRun of(kernel, type, problem);
            const auto all = questions_between(run_of(of, *of.launches.front()));
            CHECK(!all.empty());
            for (const Question& q : all) {
                CAPTURE(q.text);
                REQUIRE(q.right.size() == 1);
                const std::string& right = q.choices[static_cast<std::size_t>(q.right[0])];
                REQUIRE(right.ends_with(": sync_block"));
                for (std::size_t n = 0; n < q.choices.size(); ++n)
                    CHECK(q.causes[n].empty() == (static_cast<int>(n) == q.right[0]));
                CHECK((contains(q.text, "The second may write only when") !=
                       contains(q.text, "The second has to find what")));
                // Both places as the text names them: "store at f2_tiled_fp32.cu:43"
                std::vector<std::string> places;
                for (std::size_t at = 0; (at = q.text.find(" at ", at)) != std::string::npos; at += 4)
                    places.push_back(
                        q.text.substr(at + 4, q.text.find_first_of(",. ", q.text.find(':', at)) - at - 4));
                REQUIRE(places.size() == 2);
                const auto fault = inside::fault_named(of.record, right.substr(0, right.find(": ")));
                REQUIRE_MESSAGE(fault, fault.error);
                const auto broken = gpu::record_kernel(
                    {.kernel = kernel, .dtype = type, .problem = problem, .blocks = {0}, .fault = *fault});
                REQUIRE_MESSAGE(broken, broken.error);
                const auto place = [&](const inside::RaceAccess& access) {
                    const std::string text = inside::place_text(*broken, access.place);
                    return text.substr(text.find_last_of('/') + 1);
                };
                bool races = false;
                for (const inside::Launch& launch : broken->launches)
                    for (const inside::Race& race : launch.races) {
                        const std::string a = place(race.first), b = place(race.second);
                        races =
                            races || (a == places[0] && b == places[1]) || (a == places[1] && b == places[0]);
                    }
                CHECK(races);
            }
        }
    }
}

}  // namespace tilewalk
