// What is said of a kernel's steps, over every kernel of the ladder: each sentence is held against the
// numbers of the step that it is about.
#include "core/base/numbers.h"
#include "core/inside/exponent.h"
#include "core/inside/phases.h"
#include "core/inside/reasons.h"
#include "core/inside/uses.h"
#include "core/inside/words.h"
#include "tests/contains.h"
#include "tests/cuda/inside_runs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace tilewalk::inside {

using tilewalk::test::contains;

namespace {

using test::each_kernel;
using test::WalkedLaunch;
using test::WalkedRun;

float number(std::uint32_t word) { return std::bit_cast<float>(word); }

/// A sentence that can stand on a page.
void check_sentence(const std::string& text) {
    CAPTURE(text);
    CHECK(text.ends_with('.'));
    for (const char* never : {"  ", "..", " .", " ,", "nan", "−0 "}) CHECK_FALSE(contains(text, never));
    CHECK(std::ranges::count(text, '(') == std::ranges::count(text, ')'));
}

// ---- Reasons

/// The number behind a word of a sentence: "differ by 16 give" has 16 behind "differ by ".
int number_behind(const std::string& text, const std::string& words) {
    const std::size_t at = text.find(words);
    REQUIRE(at != std::string::npos);
    return std::stoi(text.substr(at + words.size()));
}

/// Who gives whom a register, and what is made of both: counted again.
struct Exchanges {
    int larger = 0, sums = 0, others = 0;

    void take(const WalkedLaunch& run, const Event& event, const std::string& reason) {
        std::map<int, int> asked;
        run.block.each_lane(event, [&](int lane, auto words) { asked[lane] = static_cast<int>(words[1]); });
        const int first = asked.begin()->first;
        if (!reason.starts_with("Lanes whose numbers differ by ")) {
            CHECK(number_behind(reason, "as ") == first);
            CHECK(number_behind(reason, " that of ") == asked[first]);
            ++others;
            return;
        }
        const int apart = number_behind(reason, "differ by ");
        for (const auto& [lane, from] : asked) CHECK((lane ^ from) == apart);
        CHECK(number_behind(reason, ", as ") == first);
        larger += contains(reason, "the larger of both numbers of a row");
        sums += contains(reason, "the sum of both numbers of a row");
    }
};

/// What a sentence says of a matrix in shared memory: the number that lanes read there is that of the
/// problem.
void check_shared_factor(const WalkedRun& of, const WalkedLaunch& run, std::uint32_t n,
                         const std::string& reason) {
    const Event& event = run.block.events[n];
    const bool Q = reason.starts_with("Q's numbers"), K = reason.starts_with("K's numbers"),
               V = reason.starts_with("V's numbers");
    if (event.op != Op::load || event.bytes != 4 || !(Q || K || V)) return;
    const Matrix& matrix = Q ? of.problem.Q : K ? of.problem.K : of.problem.V;
    run.block.each_lane(event, [&](int, auto words) {
        const auto from = run.origins.global_source(words[0], n);
        if (!from) return;  // zeros behind the edge
        const auto element = element_of(of.record, *from);
        REQUIRE(element);
        CHECK(of.record.regions[std::size_t(element->region)].name == (Q ? "Q" : K ? "K" : "V"));
        if (element->row < matrix.rows())
            CHECK(number(words[1]) == static_cast<float>(matrix(element->row, element->column)));
    });
}

}  // namespace

TEST_SUITE("inside") {
    TEST_CASE("words: every reason of every kernel's steps is a sentence, and its numbers are the step's") {
        std::map<std::string, Exchanges> exchanges;
        std::map<std::string, std::set<std::string>> said;
        each_kernel([&](const WalkedRun& of) {
            CAPTURE(of.record.kernel);
            for (const auto& run : of.launches)
                run->each([&](int warp, int k, const Event& event) {
                    const auto reason_of = [&](bool known) {
                        return reason_of_step(of.record, run->block, run->steps, run->origins, warp, k,
                                              known);
                    };
                    const std::string reason = reason_of(true);
                    if (reason.empty()) return;
                    if (said[of.record.kernel].insert(reason).second) check_sentence(reason);
                    if (event.op == Op::shuffle) exchanges[of.record.kernel].take(*run, event, reason);
                    check_shared_factor(of, *run, run->steps.event(warp, k), reason);
                    if (event.op == Op::exp || event.op == Op::exp2) {
                        CHECK(contains(reason, "the weight once more") == of.is_backward());
                        CHECK(contains(reason, "powers of two") == (event.op == Op::exp2));
                    }
                    // Of somebody's own kernel nothing is claimed that only the ladder's kernels do.
                    const std::string foreign = reason_of(false);
                    const bool own_idea = event.op == Op::load || event.op == Op::store ||
                                          event.op == Op::exp || event.op == Op::exp2;
                    CHECK(foreign == (own_idea ? "" : reason));
                });
        });
        // A row of a fragment lies in four lanes: two exchanges for its maximum, two for its sum.
        for (const char* kernel : {"f3-warp-rows", "f4-tensor-core", "f5-flash2"}) {
            CAPTURE(std::string(kernel));
            CHECK(exchanges[kernel].larger > 0);
            CHECK(exchanges[kernel].sums > 0);
        }
        const auto says = [&](const char* kernel, const char* part) {
            return std::ranges::any_of(said[kernel],
                                       [&](const std::string& text) { return contains(text, part); });
        };
        CHECK(says("f2-tiled-fp32", "A score of the lane's row, for the maximum m"));
        CHECK(says("f2-tiled-fp32", "A score of the lane's row, for its weight"));
        CHECK(says("f2-tiled-fp32", "The weight is written over the score"));
        CHECK(says("f4-tensor-core", "K's tile comes to shared memory"));
        CHECK(says("f5-flash2", "O leaves for HBM"));
        CHECK(says("f7-hopper", "S is there: this warp has 16 of the group's 64 rows"));
        CHECK_FALSE(says("f5-flash2", "once more"));
    }

    TEST_CASE("words: a maximum is taken before the weights of a tile, and the sum behind the last of them") {
        for (const char* kernel : {"f3-warp-rows", "f4-tensor-core", "f5-flash2"}) {
            CAPTURE(std::string(kernel));
            const WalkedRun of(kernel, kernel[1] == '3' ? DType::f32 : DType::bf16,
                               *random_problem(80, 64, 1));
            const WalkedLaunch& run = *of.launches.front();
            std::vector<int> last_weight(std::size_t(run.steps.warps()), -1);
            run.each([&](int warp, int k, const Event& event) {
                if (event.op == Op::exp || event.op == Op::exp2) last_weight[std::size_t(warp)] = k;
            });
            int maxima = 0, sums = 0;
            run.each([&](int warp, int k, const Event& event) {
                if (event.op != Op::shuffle) return;
                const std::string reason =
                    reason_of_step(of.record, run.block, run.steps, run.origins, warp, k, true);
                if (reason.starts_with("Each lane takes")) return;  // P̃ is handed round
                const bool before = k < last_weight[std::size_t(warp)];
                CAPTURE(reason);
                if (contains(reason, "the larger of both numbers, or their sum,"))
                    return;  // of rows of zeros
                CHECK(contains(reason, before ? "the larger of both numbers of a row"
                                              : "the sum of both numbers of a row"));
                ++(before ? maxima : sums);
            });
            CHECK(maxima > sums);  // one in each tile
            CHECK(sums > 0);
        }
    }

    TEST_CASE(
        "words: f2 reads a score for the maximum, then once more for its weight, which is written over it") {
        const WalkedRun of("f2-tiled-fp32", DType::f32, *random_problem(80, 64, 1));
        const WalkedLaunch& run = *of.launches.front();
        struct Touched {
            int warp, k;
            Op op;
            std::string reason;
        };
        std::map<std::uint32_t, std::vector<Touched>> of_address;  // of the first lane
        run.each([&](int warp, int k, const Event& event) {
            if ((event.op != Op::load && event.op != Op::store) || event.lanes == 0) return;
            const std::uint32_t address = run.block.words_of(event)[0];
            if (is_shared(address))
                of_address[address].push_back(
                    {warp, k, event.op,
                     reason_of_step(of.record, run.block, run.steps, run.origins, warp, k, true)});
        });
        int maxima = 0, weights = 0;
        for (const auto& [address, touched] : of_address) {
            const std::vector<Touched>& all = touched;
            for (std::size_t n = 0; n + 1 < all.size(); ++n) {
                // In a warp's own order: the next touch of that score
                const auto next = std::find_if(all.begin() + std::ptrdiff_t(n) + 1, all.end(),
                                               [&](const Touched& t) { return t.warp == all[n].warp; });
                if (next == all.end() || all[n].op != Op::load) continue;
                const bool weight = contains(all[n].reason, "for its weight"),
                           maximum = contains(all[n].reason, "for the maximum");
                if (weight) CHECK(next->op == Op::store);
                if (maximum) CHECK(next->op == Op::load);
                weights += weight, maxima += maximum;
            }
        }
        CHECK(maxima > 20);
        CHECK(weights > 20);
    }

    // Rows 16 to 63 of the second tile of keys are zeros, of K as many as of V.
    TEST_CASE("words: the zeros behind the last row belong to their matrix, though a buffer holds two") {
        for (const char* kernel : {"f2-tiled-fp32", "f4-tensor-core"}) {
            CAPTURE(std::string(kernel));
            const WalkedRun of(kernel, kernel[1] == '2' ? DType::f32 : DType::bf16,
                               *random_problem(80, 64, 1));
            const WalkedLaunch& run = *of.launches.front();
            std::map<Matter, int> zeros;
            std::map<std::uint32_t, std::set<Matter>> read_at;
            run.each([&](int warp, int k, const Event& event) {
                if (event.lanes == 0 || (event.op != Op::store && !info(event.op).reads)) return;
                const std::uint32_t n = run.steps.event(warp, k);
                const auto words = run.block.words_of(event);
                if (!is_shared(words[0])) return;
                const Matter matter = run.origins.matter(n);
                const bool input = matter == Matter::Q || matter == Matter::K || matter == Matter::V;
                if (event.op == Op::store && input && !run.origins.global_source(words[0], n + 1))
                    ++zeros[matter];
                if (event.op == Op::load && input) read_at[event.place].insert(matter);
            });
            CHECK(zeros[Matter::K] > 0);
            CHECK(zeros[Matter::K] == zeros[Matter::V]);
            CHECK(zeros[Matter::Q] == 0);  // the first block of queries is whole
            // A place of the source reads one matrix, whatever it finds there.
            for (const auto& [place, matters] : read_at) CHECK(matters.size() == 1);
        }
    }

    TEST_CASE("words: titles, notes and the words of a lane are those of its numbers") {
        each_kernel([&](const WalkedRun& of) {
            CAPTURE(of.record.kernel);
            std::set<std::pair<std::uint32_t, Op>> seen;
            for (const auto& run : of.launches)
                run->each([&](int warp, int k, const Event& event) {
                    const Matter about = run->origins.matter(run->steps.event(warp, k));
                    if (!seen.emplace(event.place, event.op).second && k % 23 != 0) return;
                    CAPTURE(info(event.op).name);
                    const StepWords words = words_of_step(of.record, run->block, event, about);
                    check_sentence(words.why);
                    CHECK(words.note.starts_with(lanes_text(event.lanes)));
                    CHECK(!words.instruction.empty());
                    CHECK(!std::string(mnemonic(event.op)).empty());
                    CHECK(times_text(1, event.op).starts_with("1 "));
                    CHECK(times_text(2, event.op) != "2" + times_text(1, event.op).substr(1));
                    for (int lane = 0; lane < 32; ++lane) {
                        const auto here = lane_words(of.record, run->block, event, lane, about);
                        if (!event.has(lane)) CHECK(here.empty());
                        for (const LaneWord& word : here) {
                            CHECK(!word.name.empty());
                            CHECK(!word.value.empty());
                        }
                        if (!event.has(lane)) continue;
                        const auto w = run->block.words_of(event, lane);
                        const auto shows = [&](const char* name, std::uint32_t value) {
                            const auto at = std::ranges::find(here, name, &LaneWord::name);
                            REQUIRE(at != here.end());
                            CHECK(at->value == format_number(number(value)));
                        };
                        if (event.op == Op::exp2) shows("x", w[0]), shows("2^x", w[1]);
                        if (event.op == Op::exp) shows("x", w[0]), shows("exp x", w[1]);
                        if (event.op == Op::log) shows("x", w[0]), shows("ln x", w[1]);
                        if (event.op == Op::shuffle) shows("gives", w[0]), shows("gets", w[2]);
                        if (event.op == Op::pack) shows("low", w[0]), shows("high", w[1]);
                        if (event.op == Op::atomic_add) shows("added", w[1]), shows("sum", w[2]);
                        const bool plain = event.op == Op::load || event.op == Op::store;
                        if (plain && event.bytes == 4 && of.record.dtype == DType::f32) shows("value", w[1]);
                    }
                });
        });
    }

    // ---- What a weight of the backward pass was made of

    TEST_CASE("words: the score and L behind a weight of the backward pass are those of one row") {
        for (const auto& [the_kernel, type] : {std::pair("b2-tensor-core", DType::bf16),
                                               {"b3-deterministic", DType::f16},
                                               {"b4-hopper", DType::bf16}}) {
            const auto& kernel = the_kernel;
            CAPTURE(kernel);
            const WalkedRun of(kernel, type, *random_problem(80, 64, 1));
            const auto scale = static_cast<float>(of.problem.softmax_scale());
            const Matrix S = of.problem.Q * of.problem.K.transpose();
            Eigen::VectorXd L(S.rows());
            for (int row = 0; row < S.rows(); ++row)
                L(row) = std::log((S.row(row) * of.problem.softmax_scale()).array().exp().sum());
            const double off = type == DType::bf16 ? 0.05 : 0.01;  // Q and K have 8 bits, or 11
            int of_rows = 0;
            for (const auto& run : of.launches)
                run->each([&](int warp, int k, const Event& event) {
                    if (event.op != Op::exp2 || k % 5 != 0) return;
                    for (const int lane : {0, 13, 31}) {
                        const auto behind =
                            score_behind(run->block, run->steps, run->origins, warp, k, lane, scale);
                        if (!behind) continue;
                        const double own_L = behind->has_factor ? behind->L / 1.4426950408889634 : behind->L;
                        CHECK(behind->S_step < k);
                        CHECK(behind->L_step < k);
                        const auto near = [&](double a, double b) {
                            return std::fabs(a - b) < off * (1 + std::fabs(b));
                        };
                        bool one_row = false;
                        for (int row = 0; row < S.rows() && !one_row; ++row)
                            one_row =
                                near(own_L, L(row)) &&
                                std::ranges::any_of(std::vector<double>(S.row(row).begin(), S.row(row).end()),
                                                    [&](double s) { return near(behind->S, s); });
                        // Behind the edge there are zeros, and L of no row
                        CHECK((one_row || behind->S == 0));
                        of_rows += one_row && behind->S != 0;
                    }
                });
            CHECK(of_rows > 20);
        }
    }

    // ---- Phases

    TEST_CASE("words: phases go over a warp's steps in order, and name the tiles one after the other") {
        std::map<std::string, std::set<Phase>> phases;
        each_kernel([&](const WalkedRun& of) {
            CAPTURE(of.record.kernel);
            for (const auto& run : of.launches)
                for (int warp = 0; warp < run->steps.warps(); ++warp) {
                    const auto all = phases_of(of.record, run->block, run->steps, run->origins, warp, true);
                    std::map<std::pair<Phase, Matter>, int> last_tile;
                    for (std::size_t n = 0; n < all.size(); ++n) {
                        const PhaseStretch& s = all[n];
                        phases[of.record.kernel].insert(s.phase);
                        CHECK(s.first <= s.last);
                        CHECK(s.last < run->steps.slots() + 1);
                        if (n > 0) CHECK(all[n - 1].last < s.first);
                        if (n > 0) CHECK(all[n - 1].phase != s.phase);
                        CHECK((of.is_backward() || s.phase <= Phase::output));
                        if (s.tile < 0 || run->origins.is_backward()) continue;
                        const auto [at, first] = last_tile.try_emplace({s.phase, s.passes}, s.tile);
                        if (!first) CHECK(s.tile >= at->second);
                        at->second = s.tile;
                    }
                    // The last tile of keys is reached.
                    const int tiles = of.record.Bc > 0 ? (of.problem.N_kv() - 1) / of.record.Bc + 1 : 0;
                    for (const auto& [what, last] : last_tile)
                        if (what.second == Matter::K || what.second == Matter::V) CHECK(last == tiles - 1);
                    // Without knowing the kernel there are products and exponentials, and no more.
                    for (const PhaseStretch& s :
                         phases_of(of.record, run->block, run->steps, run->origins, warp, false))
                        CHECK((s.phase != Phase::softmax && s.phase != Phase::weights));
                }
        });
        for (const char* kernel : {"f2-tiled-fp32", "f4-tensor-core", "f5-flash2", "f7-hopper"}) {
            CAPTURE(std::string(kernel));
            CHECK((phases[kernel] == std::set{Phase::scores, Phase::softmax, Phase::output}));
        }
        CHECK(phases["b4-hopper"].contains(Phase::dK));
        CHECK(phases["b4-hopper"].contains(Phase::dQ));
    }

    TEST_CASE(
        "uses: what a step of a lane brought is used by steps behind it that hold its place or its bits") {
        std::map<Op, int> used;
        each_kernel([&](const WalkedRun& run) {
            CAPTURE(run.record.kernel);
            for (const auto& one : run.launches) {
                const auto& events = one->block.events;
                int round = 0;
                one->each([&](int warp, int k, const Event& event) {
                    if (++round % 7) return;  // some of them, of every kind
                    const int lane = std::countr_zero(event.lanes | 1u << 31);
                    const Uses uses = uses_of(one->block, one->steps, one->origins, warp, k, lane, 1000);
                    CHECK(uses.all == std::ssize(uses.steps));
                    if (!event.has(lane)) {
                        CHECK(uses.all == 0);
                        return;
                    }
                    const auto words = one->block.words_of(event, lane);
                    for (const OriginStep& use : uses.steps) {
                        CHECK(use.event > one->steps.event(warp, k));
                        const Event& later = events[use.event];
                        CAPTURE(info(event.op).name);
                        CAPTURE(info(later.op).name);
                        const bool exponential = event.op == Op::exp2 || event.op == Op::exp;
                        if (exponential) {
                            const auto packed = one->block.words_of(later, lane);
                            CHECK(later.op == Op::pack);
                            CHECK((packed[0] == words[1] || packed[1] == words[1]));
                        } else if (event.op == Op::copy_issued || event.op == Op::store) {
                            CHECK(info(later.op).reads);
                            CHECK(use.address >= words[0]);
                            CHECK(use.address < words[0] + event.bytes);
                        } else {
                            CHECK((later.op == Op::multiply_add || later.op == Op::store));
                        }
                        ++used[event.op];
                    }
                });
            }
        });
        for (const Op op : {Op::copy_issued, Op::store, Op::pack, Op::load_matrices, Op::load_transposed,
                            Op::exp2, Op::multiply_add})
            CHECK_MESSAGE(used[op] > 0, info(op).name);
    }

    TEST_CASE("words: of Hopper's kernels one group of warps asks for tiles and the others multiply") {
        each_kernel([&](const WalkedRun& of) {
            CAPTURE(of.record.kernel);
            for (const auto& run : of.launches) {
                const auto roles = roles_of(run->block, run->steps.warps());
                REQUIRE(int(roles.size()) == run->steps.warps());
                std::set<int> fetching, multiplying;
                run->each([&](int warp, int, const Event& event) {
                    if (event.op == Op::fetch_tile) fetching.insert(warp / 4);
                    if (event.op == Op::multiply_async) multiplying.insert(warp / 4);
                });
                for (int warp = 0; warp < run->steps.warps(); ++warp) {
                    const std::string text = role_text(roles[std::size_t(warp)]);
                    if (fetching.contains(warp / 4))
                        CHECK(text == "producer");
                    else if (!fetching.empty() && multiplying.contains(warp / 4))
                        CHECK(text.starts_with("consumer "));
                    else
                        CHECK(text.empty());
                }
            }
        });
    }
}

}  // namespace tilewalk::inside
