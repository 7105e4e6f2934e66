// Tours: what a file may say, where it says it wrong, and that no damaged file does worse than be refused.
#include "app/io/bench_json.h"
#include "app/io/embedded.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "app/io/problem_json.h"
#include "app/io/tour_file.h"
#include "core/base/numbers.h"
#include "core/distributed/shards.h"
#include "core/lessons/cascade/cascade.h"
#include "core/lessons/ring/ring.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/softmax/softmax.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"
#include "core/study/memory_study.h"
#include "tests/contains.h"
#include "tests/core/steps.h"
#include "tests/folder.h"
#include "tests/good.h"

#include <cmath>
#include <map>
#include <random>

using namespace tilewalk::test;

namespace {

const TourNames names{{"memory", "scale", "compare", "inside"},
                      {{"flash-forward", {"SRAM", "HBM", "Explanation", "Timeline"}},
                       {"attention", {"Matrices", "Explanation", "Timeline"}},
                       {"memory", {"Scores", "Roofline"}}},
                      {"play"},
                      {{"f5-flash2", {DType::bf16, DType::f16}}, {"f2-tiled-fp32", {DType::f32}}}};

const std::string head = "# T\n\n## A\n- problem: worked-4x4\n";  // four lines

Result<TourScript> parsed(const std::string& text) { return parse_tour(text, "my.md", names); }

std::string refusal(const std::string& text) {
    const auto tour = parsed(text);
    REQUIRE_MESSAGE(!tour, text);
    return tour.error;
}

TourStop only_stop(const std::string& settings, const std::string& text = "x") {
    return good(parsed(head + settings + "\n" + text + "\n")).stops.front();
}

std::string shown_text(const TourStop& stop) {
    std::string out;
    for (const Line& line : filled_text(stop, *walk_of(*stop.lesson, *stop.problem)))
        out += (out.empty() ? "" : "\n") + plain(line);
    return out;
}

}  // namespace

TEST_SUITE("tour files") {
    TEST_CASE("a stop says problem, lesson, step, cell, place and text") {
        const TourStop stop = only_stop("- lesson: flash-forward\n- step: new_max i=0 j=1\n- cell: m[1]\n"
                                        "- highlight: cell S[0,2] in SRAM\n- side: break\n- presenter: yes\n",
                                        "One {m[0]}\nline.\n\n*Two* \\* words.");
        CHECK(stop.heading == "A");
        CHECK(stop.line == 3);
        CHECK(stop.problem->name == "worked-4x4");
        CHECK(std::string(stop.lesson->id) == "flash-forward");
        CHECK(stop.step == 13);
        CHECK(stop.cell == CellRef{Slot::m, 1, 0});
        CHECK(stop.place.kind == TourPlace::Kind::cell);
        CHECK(stop.place.cell == CellRef{Slot::S, 0, 2});
        CHECK(stop.place.within == "SRAM");
        CHECK(stop.side == "break");
        CHECK(stop.presenter == true);
        REQUIRE(stop.text.size() == 2);
        CHECK(stop.text[1][0].strong);
        CHECK(shown_text(stop) == "One 2 line.\nTwo * words.");
    }

    TEST_CASE("formulas stand alone, letters hang below, and the softmax lessons get their letters") {
        const TourStop stop = only_stop("- lesson: flash-forward", "So\n> m_old = {N}\n> b\nand on_ly.");
        REQUIRE(stop.text.size() == 4);
        CHECK(is_formula(stop.text[1]));
        CHECK(is_formula(stop.text[2]));
        CHECK_FALSE(is_formula(stop.text[3]));
        REQUIRE(stop.text[1].size() == 5);
        CHECK(stop.text[1][2].text == "old");
        CHECK(stop.text[1][2].script == Span::Script::sub);
        CHECK(stop.text[1][2].strong);
        const auto stops = good(parsed(head + "- notation: l_O\n- division: end\n\nx\n## B\n\nx\n")).stops;
        for (const TourStop& one : stops) {
            CHECK(one.problem->options.notation == Notation::l_O);
            CHECK_FALSE(one.problem->options.normalised);
        }
        CHECK(refusal(head + "- notation: lO\n\nx\n") ==
              "my.md, line 5: there is no notation \"lO\"; did you mean l_O?");
        CHECK(refusal(head + "- division: all\n\nx\n") == "my.md, line 5: division is each or end.");
    }

    TEST_CASE("numbers of the page about memory") {
        const TourStop stop =
            only_stop("- lesson: memory", "{S at N=16384} {S and P at N=16384} {L at N=16384} "
                                          "{saving at Br=2} {saving at Br=128} {heads}");
        // 16384² × 2 bytes; × 2 × 16 heads; 16384 × 4 bytes × 16 heads
        CHECK(shown_text(stop) == "512\u00A0MiB 16\u00A0GiB 1\u00A0MiB 0.063 4.0 16");
        // 2 × 16 heads × 16384 × 64 × 2 bytes
        CHECK(shown_text(only_stop("- lesson: memory", "{KV at key heads=16} {KV at key heads=1}")) ==
              "64\u00A0MiB 4\u00A0MiB");
        for (const char* words : {"saving at Br=0", "KV at key heads=0", "KV at key heads=3"})
            CHECK(contains(refusal(head + "\n{" + words + "}\n"), "neither a cell nor a known number"));
    }

    TEST_CASE("what the tour states beside its placeholders holds") {
        const Problem worked = *find_example("worked-4x4");
        Problem broken = worked;
        broken.switches.no_correction = true;
        const auto right = walk_of("flash-forward", worked), wrong = walk_of("flash-forward", broken);
        const auto in = [](const Trace& trace, Slot slot, int k, int row) {
            return value_at(*holding(trace, {slot, row, 0}, k).value, {slot, row, 0});
        };
        // "(Step {step})", "from 1 to 2 in row 0, and in row 1", "exp(1) = 2.718 times too large"
        const int sum = test::find_step(*right, Op::row_sum, 0, 1),
                  max = test::find_step(*right, Op::new_max, 0, 1);
        CHECK(sum == 16);
        for (const int row : {0, 1}) CHECK(in(*right, Slot::m, max - 1, row) == 1);
        CHECK(in(*right, Slot::m, max, 0) == 2);
        CHECK(in(*right, Slot::m, max, 1) == 2);
        CHECK(format_number(1 / in(*right, Slot::alpha, sum, 0)) == "2.718");
        // "of the old O, 2.839, and the new tile's P̃ V make 11.804"
        CHECK(format_number(in(*right, Slot::Oi, sum, 0)) == "2.839");
        CHECK(format_fixed(in(*right, Slot::Oi, sum + 1, 0), 3) == "11.804");
        // "0.368 · 2.839 + 10.759 ≈ 11.804"
        CHECK(format_fixed(in(*right, Slot::Oi, sum + 1, 0) -
                               in(*right, Slot::alpha, sum, 0) * in(*right, Slot::Oi, sum, 0),
                           3) == "10.759");
        // "Key 2 brings … ≈ 4.27, key 3 … ≈ 0.91" of D[0]
        const auto back = walk_of("backward", *find_example("gradients-4x4"));
        const auto brought = [&](int key) {
            const int end = back->size() - 1;
            const auto at = [&](const std::string& name) {
                const CellRef cell = *find_cell(*back, *read_cell(name + "[0," + str(key) + "]"), end);
                return value_at(*holding(*back, cell, end).value, cell);
            };
            return format_fixed(at("P") * at("dP"), 2);
        };
        CHECK(brought(2) == "4.27");
        CHECK(brought(3) == "0.91");
        // "Wrong first: ℓ", then O; rows 2 and 3 come out right
        for (int k = 0; k < right->size(); ++k)
            for (const Slot slot : {Slot::l, Slot::Oi}) {
                const Held held = holding(*right, {slot, 0, 0}, k);
                if (k >= sum || !held) continue;
                CHECK(in(*right, slot, k, 0) == in(*wrong, slot, k, 0));
            }
        CHECK(in(*right, Slot::l, sum, 0) != in(*wrong, Slot::l, sum, 0));
        CHECK(in(*right, Slot::Oi, sum + 1, 0) != in(*wrong, Slot::Oi, sum + 1, 0));
        const int last = right->size() - 1;
        for (const int row : {0, 1}) CHECK(in(*right, Slot::O, last, row) != in(*wrong, Slot::O, last, row));
        for (const int row : {2, 3}) CHECK(in(*right, Slot::O, last, row) == in(*wrong, Slot::O, last, row));
        // "Both are equal at Br = d ÷ 2 = 32", "standard ÷ flash ≈ 2 Br ÷ d"
        StudyInput page;
        CHECK(page.d / 2 == 32);
        CHECK(least_height_that_pays(study(page).shape) == page.d / 2);
        for (const TileRow& row : tile_rows(study(page).shape))
            CHECK(row.saving == doctest::Approx(2.0 * static_cast<double>(row.Br) / 64).epsilon(.05));
        // "For each block of the outer loop … 3 N d … 2 N d numbers", of all that either moves nearly all
        Problem at_length = good(random_problem(256, static_cast<int>(page.d), 1));
        at_length.Br = at_length.Bc = 4, at_length.element_bytes = 2;
        const auto of_blocks = [&](const TrafficModel& model, int per_row) {
            const double blocks = 64.0 * per_row * 256 * static_cast<double>(page.d) * 2;
            return static_cast<double>(model.hbm_read + model.hbm_write) / blocks;
        };
        CHECK(of_blocks(flash_forward_v1_model(at_length), 3) == doctest::Approx(1).epsilon(.07));
        CHECK(of_blocks(flash_forward_model(at_length), 2) == doctest::Approx(1).epsilon(.02));
        // Notes: "4 Bc ÷ 3 d", and above Bc = ¾ d version 1 moves fewer
        for (const int Bc : {16, 32, 48, 64, 128}) {
            StudyInput other = page;
            other.tile.Bc = Bc;
            CHECK(study(other).saving(Algorithm::flash1) ==
                  doctest::Approx(4.0 * Bc / (3 * 64)).epsilon(.05));
        }
        // "twice the N of the one above, and four times the bytes"
        const auto rows = study(page).rows;
        for (std::size_t n = 1; n < rows.size(); ++n) CHECK(rows[n].all == 4 * rows[n - 1].all);
        // "each number takes 4 bytes", "S and P … half of it", "more than standard attention here"
        const auto moved = [&](const char* lesson) {
            const Traffic all = walk_of(lesson, worked)->step(walk_of(lesson, worked)->size() - 1).traffic;
            return all.hbm_read + all.hbm_write;
        };
        CHECK(worked.element_bytes == 4);
        CHECK(moved("attention") == 2 * 4 * worked.N() * worked.N_kv() * worked.element_bytes);
        CHECK(moved("flash-forward-v1") > moved("attention"));
        CHECK(moved("flash-forward") < moved("attention"));
        // Notes: "7 N² … 4 N d · (N ÷ Bc)", for 4-byte numbers; so both are equal at Bc = 4 d ÷ 7
        const auto bytes = [](const TrafficModel& model) {
            return static_cast<double>(model.hbm_read + model.hbm_write);
        };
        Problem large = good(random_problem(4096, 64, 1));
        large.Br = large.Bc = 128, large.element_bytes = 4;
        CHECK(bytes(backward_model(large)) == doctest::Approx(7.0 * 4096 * 4096 * 4).epsilon(.05));
        CHECK(bytes(flash_backward_model(large)) == doctest::Approx(4.0 * 4096 * 64 * 32 * 4).epsilon(.06));
        // Notes: "here d = 4 and Bc = 2, just below"
        CHECK(7 * worked.Bc < 4 * worked.d());
        CHECK(7 * (worked.Bc + 1) > 4 * worked.d());
        // Notes: "with d = 64 and Bc = 128 … 3.5 times fewer numbers, in fp16 2.3 times fewer bytes, as dQ …
        // keeps 4"
        CHECK(7.0 * large.Bc / (4 * 64) == 3.5);
        large.element_bytes = 2;
        CHECK(bytes(backward_model(large)) / bytes(flash_backward_model(large)) ==
              doctest::Approx(2.3).epsilon(.02));
        // "S and P, N × N, of all 8 heads in 4-byte numbers": what the page shows beside it
        int as_large = 0;
        for (const BenchReport& report : recorded_results())
            for (const Point& point : report.points)
                as_large += point.kernel == "standard" && point.workload.direction == Direction::forward &&
                            point.workload.heads == 8 && point.workload.N_kv == 8192 &&
                            point.workspace_bytes == 2LL * 8 * 8192 * 8192 * 4;
        CHECK(as_large > 0);
        // "Flash: a few tiles for each thread, whatever N is"
        int alike = 0;
        for (const BenchReport& report : recorded_results())
            for (const Point& point : report.points)
                for (const Point& other : report.points) {
                    const auto counts = [](const Point& p) {
                        return p.kernel == "flash" && p.workload.direction == Direction::forward &&
                               p.workload.N_q == p.workload.N_kv && p.workload.N_kv >= 1024 &&
                               p.workspace_bytes > 0;
                    };
                    if (!counts(point) || !counts(other)) continue;
                    if (!(shape_of(point.workload) == shape_of(other.workload))) continue;
                    if (point.workload.N_kv == other.workload.N_kv) continue;
                    CHECK(point.workspace_bytes == other.workspace_bytes);
                    ++alike;
                }
        CHECK(alike > 0);
        // "4 each", of 16 heads 4 key heads; "all with one"
        CHECK(page.heads / 4 == 4);
        // "In the 4 × 4 example this is 1, but standard attention reads K and V besides"
        const std::int64_t matrix = std::int64_t{4} * worked.d() * worked.element_bytes,
                           square = std::int64_t{4} * worked.N() * worked.N_kv() * worked.element_bytes;
        CHECK(worked.N() == 4);
        CHECK(worked.Tr() * 2 * matrix == square);
        CHECK(moved("attention") == square + 4 * matrix);
        CHECK(moved("flash-forward") == worked.Tr() * 2 * matrix + 2 * matrix + worked.N() * 4);
        // "The rule says 1"; notes: "4 Bc ÷ 3 d … 0.67; the meters say … 0.70 times"
        CHECK(2 * worked.Br == worked.d());
        CHECK(format_fixed(4.0 * worked.Bc / (3 * worked.d()), 2) == "0.67");
        CHECK(format_fixed(static_cast<double>(moved("attention")) /
                               static_cast<double>(moved("flash-forward-v1")),
                           2) == "0.70");
        // "S[0,0] rises from 1 to 1.1 … P[0,0] from 0.225 to {P[0,0]} … P[0,2] from 0.610 to {P[0,2]}", and
        // "0.1 · (0.225 − 0.225 · 0.225) ≈ 0.017 … 0.1 · 0.225 · 0.610 ≈ 0.014: nearly what happened"
        const Problem graded = *find_example("gradients-4x4");
        Matrix nudged = softmax_scores(graded).row(0);
        nudged(0, 0) += 0.1;
        const auto weight = [](const Matrix& row, int key) {
            const auto all = row.cast<double>().array().exp();
            return all(key) / all.sum();
        };
        const Matrix untouched = softmax_scores(graded).row(0);
        CHECK(untouched(0, 0) == 1);
        CHECK(untouched.maxCoeff() == 2);
        CHECK(nudged.maxCoeff() == 2);
        CHECK(format_number(std::exp(1.0 - 2)) == "0.368");
        CHECK(format_number((untouched.cast<double>().array() - 2).exp().sum()) == "1.639");
        CHECK(format_number(weight(untouched, 0)) == "0.225");
        CHECK(format_number(weight(untouched, 2)) == "0.610");
        CHECK(format_number(std::exp(0.1) * weight(untouched, 0)) == "0.248");
        const double P0 = weight(untouched, 0), P2 = weight(untouched, 2);
        CHECK(format_fixed(.1 * (P0 - P0 * P0), 3) == "0.017");
        CHECK(format_fixed(.1 * (.225 - .225 * .225), 3) == "0.017");
        CHECK(format_fixed(.1 * P0 * P2, 3) == "0.014");
        CHECK(format_fixed(.1 * .225 * .610, 3) == "0.014");
        CHECK(std::abs(weight(nudged, 0) - P0 - .1 * (P0 - P0 * P0)) < .001);
        CHECK(std::abs(weight(nudged, 2) - P2 + .1 * P0 * P2) < .001);
        // "Q was changed so that only S[0,0] rises"
        Problem set = graded;
        set.Q(0, 0) = 1.1, set.Q(0, 2) = .9;
        CHECK((softmax_scores(set).row(0).isApprox(nudged)));
        const Matrix P = test::after(*walk_of("attention", set), Slot::Prob, Op::divide),
                     before = test::after(*walk_of("attention", graded), Slot::Prob, Op::divide);
        CHECK((P.bottomRows(3) == before.bottomRows(3)));
        for (const int key : {0, 1, 2, 3}) CHECK(P(0, key) == doctest::Approx(weight(nudged, key)));
        // "by h = 0.1 … ℓ · (1 + h P_j)", and both rules of the stop after it, but for terms with h²
        const double l0 = (untouched.cast<double>().array() - 2).exp().sum(), h = .1;
        CHECK(std::abs((nudged.cast<double>().array() - 2).exp().sum() - l0 * (1 + h * P0)) <
              l0 * P0 * h * h);
        CHECK(std::abs(P0 * (1 + h) / (1 + h * P0) - (P0 + h * (P0 - P0 * P0))) < h * h);
        CHECK(std::abs(P2 / (1 + h * P0) - (P2 - h * P0 * P2)) < h * h);
        // "in row 0 dP − D is −6.2, −2.2, 1.8, 5.8"
        const auto dP = (graded.V * (*graded.dO).row(0).transpose()).eval();
        double D = 0;
        for (const int key : {0, 1, 2, 3}) D += weight(untouched, key) * dP(key);
        for (const int key : {0, 1, 2, 3})
            CHECK(format_fixed(std::abs(dP(key) - D), 1) ==
                  std::vector<std::string>{"6.2", "2.2", "1.8", "5.8"}.at(static_cast<std::size_t>(key)));
        CHECK((dP(1) < D && dP(2) > D));
        // "0.1 · 7 = 0.7": row 2 of V times row 0 of dO
        CHECK((*graded.dO).row(0).dot(graded.V.row(2)) == 7);
        // "one message: 2 · (N ÷ R) · d numbers, here … 32 B; all: … 384 B"; backward "384 B + 512 B = 896 B"
        Problem round = worked;
        round.options.ranks = 4;
        const auto sent_in = [&](const char* lesson) {
            const auto walk = walk_of(lesson, round);
            return walk->step(walk->size() - 1).traffic.sent;
        };
        const std::int64_t ranks = ring_ranks(round), message = 2 * (worked.N() / ranks) * worked.d() * 4;
        CHECK(ranks == 4);
        CHECK(message == 32);
        CHECK(sent_in("ring") == ranks * (ranks - 1) * message);
        CHECK(sent_in("ring") == 384);
        CHECK(sent_in("ring-backward") == ranks * (ranks - 1) * message + ranks * ranks * message);
        CHECK(sent_in("ring-backward") == 384 + 512);
        // "Rank 0 meets the shards in the order 0, 3, 2, 1"
        for (int t = 0; t < 4; ++t)
            CHECK(ring::owner_of(4, 0, t) == std::vector{0, 3, 2, 1}.at(static_cast<std::size_t>(t)));
        // "0 and 7, 1 and 6, 2 and 5, 3 and 4 … 9 scores in place of 15 … 12 … 40 % idle"
        const auto held = [](ring::Shards shards, int rank) {
            std::vector<std::int64_t> positions;
            for (const ring::Run& run : ring::runs_of(shards, 8, 4, rank))
                for (std::int64_t n = 0; n < run.count; ++n) positions.push_back(run.position(n));
            return positions;
        };
        using Rows = std::vector<std::int64_t>;
        for (int rank = 0; rank < 4; ++rank) CHECK(held(ring::Shards::zigzag, rank) == Rows{rank, 7 - rank});
        CHECK(held(ring::Shards::contiguous, 0) == Rows{0, 1});
        CHECK(held(ring::Shards::contiguous, 3) == Rows{6, 7});
        CHECK(held(ring::Shards::striped, 0) == Rows{0, 4});
        // Whose keys come late is waited for: as long as the longest of every round, where that is the same
        // rank; counted here pair by pair.
        const auto longest = [&](ring::Shards shards) {
            int all_rounds = 0;
            for (int t = 0; t < 4; ++t) {
                int most = 0;
                for (int rank = 0; rank < 4; ++rank) {
                    int pairs = 0;
                    for (const auto query : held(shards, rank))
                        for (const auto key : held(shards, (rank - t + 4) % 4)) pairs += key <= query;
                    most = std::max(most, pairs);
                }
                all_rounds += most;
            }
            return all_rounds;
        };
        CHECK(longest(ring::Shards::zigzag) == 9);
        CHECK(longest(ring::Shards::contiguous) == 15);
        CHECK(longest(ring::Shards::striped) == 12);
        // 40 % idle: of what four ranks could do meanwhile, six tenths are the scores of the triangle
        CHECK(10 * (8 * 9 / 2) == 6 * 4 * longest(ring::Shards::contiguous));
        CHECK(find_example("causal-8")->N() == 8);
        // "its keys in two splits"
        int splits = 0;
        const auto split = walk_of("split-kv", worked);
        for (int k = 0; k < split->size(); ++k)
            for (const Access& a : split->writes(k)) splits += a.slot == Slot::L_parts;
        CHECK(splits == 2);
        // "two keys shared by two sequences … sharing pays only from a prefix of 8 keys on"
        const SharedPrefix sharing(worked);
        CHECK(sharing.prefix == 2);
        CHECK(sharing.count() == 2);
        CHECK(prefix_that_pays(worked) == 8);
        // "key 2 belongs to the first, key 3 to the second. Query 2, of the second"
        CHECK(sharing.sequence_of_query(2) == 1);
        CHECK(sharing.of(0).first_key == 2);
        CHECK(sharing.of(1).first_key == 3);
        CHECK(sharing.of(0).keys + sharing.of(1).keys == 2);
        // "each sequence alone 336 B", "flash for one query 164 B"
        CHECK(bytes(find_lesson("cascade")->rival.model(worked)) == 336);
        CHECK(bytes(find_lesson("split-kv")->rival.model(worked)) == 164);
        // "{moved in cascade} in all, each alone 2.19 KiB"
        Problem prompted = good(random_problem(16, 4, 1));
        prompted.options.prefix = 12, prompted.options.sequences = 4;
        CHECK(format_size(bytes(find_lesson("cascade")->rival.model(prompted))) == "2.19 KiB");
        // Notes: "one query moves 756 B here"
        Problem decoded = good(random_problem(16, 4, 1));
        decoded.options.row = 12, decoded.options.splits = {4, 4, 4, 4};
        CHECK(bytes(find_lesson("split-kv")->model(decoded)) == 756);
        // "η = 0.1", "(crossed: not on chip)": 128 is the highest that fits
        CHECK(graded.options.learning_rate == .1);
        for (const TileRow& row : tile_rows(study(page).shape)) {
            Shape tile = study(page).shape;
            tile.Br = row.Br;
            CHECK((tile_fit(tile, page.hardware) != TileFit::none) == (row.Br <= 128));
        }
        // "In real numbers both trees agree … in bf16 the trees differ"
        const auto by = [&](MergeOrder order, Format format) {
            Problem p = worked;
            p.options.row = 1, p.options.splits = {1, 1, 1, 1}, p.options.merge = order;
            p.precision.softmax = p.precision.accumulator = format;
            return walk_of("merge", p)->result(Slot::O)(0, 0);
        };
        CHECK(by(MergeOrder::chain, Format::fp64) ==
              doctest::Approx(by(MergeOrder::pairs, Format::fp64)).epsilon(1e-14));
        // "in bf16 … one tree ends at 9.875, the other at 9.9375"
        CHECK(by(MergeOrder::chain, Format::bf16) == 9.875);
        CHECK(by(MergeOrder::pairs, Format::bf16) == 9.9375);
        // "its share is exp(0 − 2) ÷ ℓ = 0.076 … O[0,0] is less than in stop 7", "ℓ ≈ 0.135 + 1.639"
        Problem with_sink = worked;
        with_sink.logits.sink = 0;
        const auto sunk = walk_of("flash-forward", with_sink);
        const int end = test::find_step(*right, Op::normalize, 0);
        CHECK(in(*sunk, Slot::m, end, 0) == 2);
        CHECK(format_number(std::exp(0.0 - 2)) == "0.135");
        CHECK(format_number(in(*sunk, Slot::l, end, 0) - std::exp(0.0 - 2)) == "1.639");
        CHECK(format_number(std::exp(0.0 - 2) / in(*sunk, Slot::l, end, 0)) == "0.076");
        CHECK(in(*sunk, Slot::Oi, end, 0) < in(*right, Slot::Oi, end, 0));
        // Notes: "twelve, eight, four", as often as the passes read x
        const auto reads = [&](const char* lesson) {
            int count = 0;
            const auto trace = walk_of(lesson, worked);
            for (int k = 0; k < trace->size(); ++k)
                for (const Access& a : trace->writes(k)) count += a.slot == Slot::S;
            return count;
        };
        CHECK(reads("softmax-3pass") == 12);
        CHECK(reads("softmax-2pass") == 8);
        CHECK(reads("softmax-1pass") == 4);
        // Notes: "64 KiB for each head in place of 512 MiB"; "from 12 on: exp(12) is above 65504"
        CHECK(4 * page.N == 64 * 1024);
        CHECK(page.N * page.N * 2 == std::int64_t{512} << 20);
        CHECK(std::exp(12) > info(Format::fp16).largest);
        CHECK(info(Format::fp16).largest == 65504);
    }

    TEST_CASE("stops of the tour that others name are there, and come in the order of their walk") {
        TourNames any{{"memory", "scale", "compare", "inside"}, {}, {}, names.kernels};
        for (const Lesson& lesson : lessons())
            any.panels[lesson.id] = {"Explanation", "Timeline", "Meters", "HBM", "SRAM", "Textbook",
                                     "Matrices",    "Lens",     "Beside", "Map", "Proof"};
        for (const char* id : {"softmax-dense", "softmax-1pass", "softmax-2pass", "softmax-3pass"})
            any.panels[id] = {"One pass", "Two passes", "Three passes", "Textbook"};
        any.panels["merge"] = {"Parts", "Lens", "Trees", "Same result?"};
        any.panels["split-kv"] = {"HBM", "Workers", "Lens"};
        any.panels["cascade"] = {"Prefix", "Lens"};
        any.panels["ring"] = any.panels["ring-backward"] = {"Ring", "SRAM", "Balance"};
        any.panels["memory"] = {"Hierarchy", "Scores", "Traffic", "Tile height", "Roofline", "KV cache"};
        any.panels["scale"] = {"Time", "Memory"};
        any.panels["compare"] = {"Verdict"};
        any.panels["inside"] = {"Warps", "Registers", "Memory", "Crossing", "Fault"};
        const TourScript tour = good(load_tour(default_tour, any));
        const auto shown = [&](const TourStop& stop) {
            std::string out = stop.heading;
            for (const Line& line : filled_text(stop, *walk_of(*stop.lesson, *stop.problem)))
                out += "\n" + plain(line);
            return out;
        };
        // "what stop 15 had"
        constexpr const char* what_stop = "what stop ";
        const std::map<int, std::string> others = {{7, "The output, a mean of values"}};
        int named = 0;
        for (const TourStop& stop : tour.stops) {
            if (stop.heading.starts_with("Step ")) {
                CHECK(std::atoi(stop.heading.c_str() + 5) == stop.step + 1);
                ++named;
            }
            const std::string text = shown(stop);
            const std::size_t at = text.find("stop ");
            const int number = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 5);
            if (number == 0) continue;  // or "the next stop"
            ++named;
            const TourStop& there = tour.stops.at(static_cast<std::size_t>(number) - 1);
            if (!contains(text, what_stop)) {
                REQUIRE(others.contains(number));
                CHECK(there.heading == others.at(number));
                continue;
            }
            // FlashAttention-1 divides in each tile what is not yet divided there.
            const auto walk = walk_of(*there.lesson, *there.problem),
                       own = walk_of(*stop.lesson, *stop.problem);
            const CellRef O{Slot::Oi, 0, 0}, l{Slot::l, 0, 0};
            CHECK(value_at(*holding(*own, O, stop.step).value, O) ==
                  doctest::Approx(value_at(*holding(*walk, O, there.step).value, O) /
                                  value_at(*holding(*own, l, stop.step).value, l)));
        }
        CHECK(named == 5);
        // Nobody is led back in a walk that goes on.
        for (std::size_t n = 1; n < tour.stops.size(); ++n) {
            const TourStop &before = tour.stops[n - 1], &stop = tour.stops[n];
            const bool goes_on = stop.page.empty() && before.page.empty() && stop.lesson == before.lesson &&
                                 stop.problem->name == before.problem->name &&
                                 stop.problem->switches == before.problem->switches;
            CHECK_MESSAGE((!goes_on || stop.step >= before.step), stop.heading);
        }
    }

    TEST_CASE("random numbers instead of an example") {
        const auto tour = good(parsed("# T\n## A\n- problem: random 80x64\n\n{N} × {d}\n"));
        CHECK(shown_text(tour.stops[0]) == "80 × 64");
        CHECK(tour.stops[0].problem->Q == good(random_problem(80, 64, 1)).Q);
        for (const char* size : {"80", "x", "80x", "x64", "8.5x2", "80x64 seed=3"})
            CHECK(refusal("# T\n## A\n- problem: random " + std::string(size) + "\n\nx\n") ==
                  "my.md, line 3: expected a size such as 80x64 in place of \"" + std::string(size) + "\".");
        CHECK(contains(refusal("# T\n## A\n- problem: random 0x64\n\nx\n"), "N is 0"));
    }

    TEST_CASE("notes are for the lecturer, with numbers of their stop, and hold for it alone") {
        const auto stops =
            good(parsed(head + "- notes: m is *{m[0]}*,\n  and it\n\tstays.\n- step: row_sum i=0 j=1\n\nx\n"
                               "## B\n\n  indented text\n"))
                .stops;
        REQUIRE(stops.size() == 2);
        const auto notes = [](const TourStop& stop) {
            return plain(filled_notes(stop, *walk_of(*stop.lesson, *stop.problem)));
        };
        CHECK(notes(stops[0]) == "m is 2, and it stays.");
        CHECK(shown_text(stops[0]) == "x");
        CHECK(notes(stops[1]).empty());
        CHECK(shown_text(stops[1]) == "indented text");
    }

    TEST_CASE("numbers come from the walk at the stop's step") {
        const std::string at = "- step: row_sum i=0 j=1\n";
        CHECK(shown_text(only_stop(at, "{l[0]}")) == "1.639");
        CHECK(shown_text(only_stop(at, "{ℓ[0] before}")) == "1.368");
        CHECK(shown_text(only_stop(at, "{alpha[0]} {α[0]}")) == "0.368 0.368");
        CHECK(shown_text(only_stop(at, "{step} of {steps}")) == "17 of 40");
        CHECK(shown_text(only_stop(at, "{N} {N_kv} {d} {Br} {Bc} {tiles} {skipped}")) == "4 4 4 2 2 4 0");
        CHECK(shown_text(only_stop(at, "{read}, {written}, {moved}")) == "160\u00A0B, 0\u00A0B, 160\u00A0B");
        // O is on chip and in HBM; the step says which is meant.
        CHECK(shown_text(only_stop("- step: output i=0 j=1\n", "{O[0,0]}")) == "11.804");
        CHECK(shown_text(only_stop("- fault: no_correction\n- step: normalize i=0\n",
                                   "{O[0,0]} {O[0,0] true}")) == "5.433 7.204");
        CHECK(shown_text(only_stop("- step: last\n", "{O[0,0]}")) == "7.204");
        CHECK(shown_text(only_stop("- lesson: training-step\n- step: loss n=2\n", "{loss[0] before}")) ==
              "65.119");
    }

    TEST_CASE("numbers follow the chosen style") {
        const TourStop stop = only_stop("- step: row_sum i=0 j=1\n", "{l[0]}");
        set_number_style({3, true});
        const std::string shown = shown_text(stop);
        set_number_style({});
        CHECK(shown == "1,64");
    }

    TEST_CASE("what is left out is inherited") {
        const auto stops =
            good(parsed(head + "- step: 14\n- cell: m[0]\n- highlight: timeline\n- fault: no_max\n\nx\n"
                               "## B\n\ny\n## C\n- fault: none\n\nz\n## D\n- lesson: memory\n\nz\n"))
                .stops;
        REQUIRE(stops.size() == 4);
        CHECK(stops[0].problem->switches.no_max);
        CHECK(stops[1].step == 13);
        CHECK(stops[1].problem == stops[0].problem);
        CHECK_FALSE(stops[1].cell);
        CHECK(stops[1].place.kind == TourPlace::Kind::none);
        CHECK_FALSE(stops[2].problem->switches.no_max);
        CHECK(stops[2].step == 0);
        CHECK(stops[3].page == "memory");
        CHECK(stops[3].problem == stops[2].problem);
    }

    TEST_CASE("a stop may change its problem, and the stops after it have the change") {
        const auto stops = good(parsed(head + "- with: sink=1 causal=yes br=1\n\nx\n## B\n\nx\n"
                                              "## C\n- problem: worked-4x4\n- with: splits=1,3\n\nx\n"
                                              "## D\n- with: heads=4x2\n\nx\n"))
                               .stops;
        CHECK(stops[0].problem->logits.sink == 1);
        CHECK(stops[0].problem->causal);
        CHECK(stops[0].problem->Br == 1);
        CHECK(stops[0].problem->name.empty());
        CHECK(stops[1].problem == stops[0].problem);
        CHECK_FALSE(stops[2].problem->logits.sink);
        CHECK(stops[2].problem->name == "worked-4x4");
        CHECK(stops[2].problem->options.splits == std::vector<int>{1, 3});
        CHECK(stops[3].problem->options.splits == std::vector<int>{1, 3});
        REQUIRE(stops[3].problem->heads);
        CHECK(stops[3].problem->heads->K.size() == 2);
        const auto wrong = [](const std::string& with) {
            return refusal(head + "- with: " + with + "\n\nx\n");
        };
        CHECK(wrong("sink=x") == "my.md, line 5: sink is \"x\", expected a number or none.");
        CHECK(contains(wrong("sunk=1"), "my.md, line 5: there is no change \"sunk\"; did you mean sink?"));
        CHECK(contains(wrong("lesson=merge"), "there is no change \"lesson\""));
        for (const char* heads : {"heads", "heads=4", "heads=4x3", "heads=0x1", "heads=x"})
            CHECK(contains(wrong(heads), "such as heads=4x2"));
        CHECK(contains(wrong("splits=9"), "my.md, line 5: "));
        CHECK(contains(wrong("br=0"), "my.md, line 5: "));
    }

    TEST_CASE("a fault of a kernel holds for one stop") {
        const auto stops =
            good(parsed(head +
                        "- lesson: compare\n- kernel_fault: O i=1 j=2 row=7 column=3 amount=0.05\n\nx\n"
                        "## B\n\nx\n"))
                .stops;
        CHECK(stops[0].kernel_fault == KernelFault{KernelFault::Quantity::O, 1, 2, 7, 3, .05});
        CHECK(stops[1].kernel_fault == KernelFault{});
    }

    TEST_CASE("a kernel is inherited, an instruction holds for one stop") {
        const auto stops =
            good(parsed(head +
                        "- lesson: inside\n- kernel: f5-flash2 f16\n- instruction: "
                        "multiply_add n=9 warp=1 lane=3 "
                        "cell=2\n\nx\n## B\n- instruction: 120 warp=3\n\nx\n## C\n- "
                        "kernel: f2-tiled-fp32\n- kernel_break: swizzle\n- launch: 2\n\nx\n## D\n\nx\n"))
                .stops;
        CHECK(stops[0].page == "inside");
        CHECK(stops[0].kernel == "f5-flash2");
        CHECK(stops[0].dtype == DType::f16);
        CHECK(stops[0].instruction == inside::StepQuery{inside::Op::multiply_add, 9, 1, 3, 2});
        CHECK(stops[1].kernel == "f5-flash2");
        CHECK(stops[1].instruction == inside::StepQuery{std::nullopt, 120, 3, 13, 0});
        const auto last =
            good(parsed(head + "- lesson: inside\n- instruction: pack warp=31 lane=31 cell=3\n\nx\n")).stops;
        CHECK(last[0].instruction == inside::StepQuery{inside::Op::pack, 1, 31, 31, 3});
        CHECK(stops[2].dtype == DType::f32);
        CHECK(stops[2].instruction == [] {
            inside::StepQuery q;
            q.launch = 2;
            return q;
        }());
        CHECK(stops[3].instruction == inside::StepQuery{});
        CHECK(stops[2].kernel_break == "swizzle");
        CHECK(stops[1].kernel_break.empty());
    }

    TEST_CASE("a problem file lies beside the tour") {
        const Folder scratch;
        scratch.file("p.json", problem_to_json(*find_example("ties")));
        const std::string tour = scratch.file("t.md", "# T\n## A\n- problem: p.json\n\nx\n");
        CHECK(good(load_tour_file(tour, names)).stops[0].problem->Q == find_example("ties")->Q);
        const std::string error =
            load_tour_file(scratch.file("t.md", "# T\n## A\n- problem: q.json\n\nx\n"), names).error;
        CHECK(error.starts_with(tour + ", line 3: "));
        CHECK(contains(error, "q.json"));
    }

    TEST_CASE("the name of a tour that is nearly right is told") {
        CHECK(contains(load_tour("flash-atention", names).error, "did you mean flash-attention?"));
        CHECK(load_tour("no/such/tour.md", names).error ==
              "no/such/tour.md: there is no such file, and no such tour; the program's own is "
              "flash-attention.");
    }

    TEST_CASE("what a stop points at by one word alone, or with a panel around it") {
        CHECK(only_stop("- highlight: timeline\n").place.name == "Timeline");
        CHECK(only_stop("- highlight: formula\n").place.name == "Explanation");
        CHECK(only_stop("- highlight: button play\n").place.kind == TourPlace::Kind::button);
        const TourStop within = only_stop("- step: 20\n- highlight: cell Q[0,0] in HBM\n");
        CHECK(within.place.within == "HBM");
        CHECK(within.place.kind == TourPlace::Kind::cell);
    }

    TEST_CASE("what a stop points at beside its place, each with a ring of its own") {
        const TourStop stop =
            only_stop("- step: 20\n- highlight: matrix m and cell l[0] and panel HBM in HBM\n");
        CHECK(stop.place.cell.slot == Slot::m);
        REQUIRE(stop.also.size() == 2);
        CHECK(stop.also[0].cell.slot == Slot::l);
        CHECK(stop.also[1].within == "HBM");
        CHECK(only_stop("- highlight: timeline\n").also.empty());
    }

    TEST_CASE("a tour that cannot be loaded says why, in a sentence with its name") {
        const Folder scratch;
        CHECK(contains(load_tour_file(scratch.file("none.md"), names).error, "there is no such file"));
        REQUIRE(write_file_atomic(scratch.file("my.md"), head + "\nx\n"));
        CHECK(good(load_tour(scratch.file("my.md"), names)).stops.size() == 1);
        REQUIRE(write_file_atomic(scratch.file("long.md"), std::string(2 << 20, 'x')));
        CHECK(contains(load_tour(scratch.file("long.md"), names).error, "it has more than 1 MiB"));
    }

    TEST_CASE("more stops than are taken are told with both numbers") {
        std::string text = "# T\n## A\n- problem: ties\n\nx\n";
        for (int stop = 1; stop < 200; ++stop) text += "## A\n\nx\n";
        CHECK(good(parsed(text)).stops.size() == 200);
        CHECK(refusal(text + "## A\n\nx\n") == "my.md: the tour has 201 stops, at most 200 are taken.");
    }

    TEST_CASE("every mistake is located") {
        struct Wrong {
            std::string text, sentence;
        };
        const std::string end = "\nx\n";
        const Wrong all[] = {
            {"", "my.md: there is no title, expected a line \"# My tour\"."},
            {"# T\n", "my.md: the tour has no stop, expected \"## \" and a heading."},
            {"\n## A\n", "my.md, line 2: expected the title first, as in \"# My tour\"."},
            {"# T\n# U\n",
             "my.md, line 2: the chapter \"U\" has no stop, expected \"## \" and a heading below it."},
            {"# T\n# U\n# V\n## A\n",
             "my.md, line 2: the chapter \"U\" has no stop, expected \"## \" and a heading below it."},
            {head + "\nx\n\n# U\n",
             "my.md, line 8: stops stand before the first chapter, expected one above the first stop, in "
             "line 3."},
            {"# T\n# U\n## A\n- problem: ties\n\nx\n# U\n## B\n\nx\n",
             "my.md, line 7: there is a chapter \"U\" already."},
            {"# T\n# U\n- problem: ties\n## A\n\nx\n",
             "my.md, line 3: a setting belongs to a stop, expected \"## \" and a heading above it."},
            {"# T\n# " + std::string(25, 'x') + "\n## A\n- problem: ties\n\nx\n",
             "my.md, line 2: the chapter's name has 25 letters; the card holds 24."},
            {"# T\n#U\n", "my.md, line 2: expected \"# title\", \"# chapter\" or \"## heading of a stop\"."},
            {"# T\n## A\nx\n- step: 3\n",
             "my.md, line 4: a setting stands before the text of its stop, not after it."},
            {"# T\n## A\n\nx\n",
             "my.md, line 2: the first stop names no problem; \"- problem: worked-4x4\"."},
            {"# T\n## A\n- problem: worked-4x5\n" + end,
             "my.md, line 3: there is no example \"worked-4x5\"; did you mean worked-4x4?"},
            {head, "my.md, line 3: the stop has no text."},
            {head + "- lesson: flash-foward\n" + end,
             "my.md, line 5: there is no lesson \"flash-foward\"; did you mean flash-forward?"},
            {head + "- lessn: x\n" + end,
             "my.md, line 5: there is no setting \"lessn\"; did you mean lesson?"},
            {head + "- step\n" + end, "my.md, line 5: expected \"- key: value\"."},
            {head + "- step:\n" + end, "my.md, line 5: step has no value."},
            {head + "- step: 1\n- step: 2\n" + end, "my.md, line 6: step stands there twice."},
            {head + "- step: 41\n" + end,
             "my.md, line 5: there is no step \"41\"; the walk has steps 1 to 40."},
            {head + "- step: 0\n" + end,
             "my.md, line 5: there is no step \"0\"; the walk has steps 1 to 40."},
            {head + "- step: new_mx\n" + end,
             "my.md, line 5: there is no step \"new_mx\"; did you mean new_max?"},
            {head + "- step: new_max i=2\n" + end, "my.md, line 5: the walk has no step \"new_max i=2\"."},
            {head + "- step: new_max k=2\n" + end,
             "my.md, line 5: expected i=0, j=0 or n=1 in place of \"k=2\"."},
            {head + "- step: 3\n- cell: S[0,0]\n" + end,
             "my.md, line 6: there is no cell \"S[0,0]\" at step 3."},
            {head + "- cell: S0\n" + end,
             "my.md, line 5: expected a cell such as m[0] or S[0,2] in place of \"S0\"."},
            {head + "- highlight: panel SRM\n" + end,
             "my.md, line 5: there is no panel \"SRM\"; did you mean SRAM?"},
            {head + "- highlight: panel Roofline\n" + end,
             "my.md, line 5: there is no panel \"Roofline\"; there are SRAM, HBM, Explanation, Timeline."},
            {head + "- lesson: memory\n- highlight: panel SRAM\n" + end,
             "my.md, line 6: there is no panel \"SRAM\"; there are Scores, Roofline."},
            {head + "- highlight: button ply\n" + end,
             "my.md, line 5: there is no button \"ply\"; did you mean play?"},
            {head + "- highlight: matrix Z\n" + end, "my.md, line 5: there is no matrix \"Z\"."},
            {head + "- highlight: timeline and matrix Z\n" + end, "my.md, line 5: there is no matrix \"Z\"."},
            {head + "- highlight: matrix S\n" + end, "my.md, line 5: there is no matrix \"S\" at step 1."},
            {head + "- highlight: ring\n" + end, "my.md, line 5: expected panel, button, cell, matrix, "
                                                 "timeline or formula in place of \"ring\"."},
            {head + "- fault: no_mx\n" + end,
             "my.md, line 5: the lesson flash-forward knows no fault \"no_mx\"; did you mean no_max?"},
            {head + "- presenter: on\n" + end, "my.md, line 5: presenter is yes or no."},
            {head + "- side: brek\n" + end, "my.md, line 5: there is no side \"brek\"; did you mean break?"},
            {head + "- kernel: f5-flash2\n" + end,
             "my.md, line 5: a kernel belongs to a stop of the page inside."},
            {head + "- lesson: inside\n- kernel: f5-flash\n" + end,
             "my.md, line 6: there is no kernel \"f5-flash\"; did you mean f5-flash2?"},
            {head + "- lesson: inside\n- kernel: f5-flash2 f32\n" + end,
             "my.md, line 6: the kernel f5-flash2 takes bf16, f16, not \"f32\"."},
            {head + "- lesson: inside\n- instruction: multipy_add\n" + end,
             "my.md, line 6: there is no instruction \"multipy_add\"; did you mean multiply_add?"},
            {head + "- lesson: inside\n- instruction: pack lane=32\n" + end,
             "my.md, line 6: expected n=1, warp=0, lane=13 or cell=0 in place of \"lane=32\"."},
            {head + "- launch: 2\n" + end, "my.md, line 5: a launch belongs to a stop of the page inside."},
            {head + "- lesson: inside\n- launch: main\n" + end,
             "my.md, line 6: expected a launch from 1 in place of \"main\"."},
            {head + "- lesson: inside\n- launch: 0\n" + end,
             "my.md, line 6: expected a launch from 1 in place of \"0\"."},
            {head + "- lesson: inside\n- launch: 1000\n" + end,
             "my.md, line 6: expected a launch from 1 in place of \"1000\"."},
            {head + "- instruction: pack\n" + end,
             "my.md, line 5: an instruction belongs to a stop of the page inside."},
            {head + "- lesson: inside\n- instruction: 0\n" + end,
             "my.md, line 6: instructions are counted from 1."},
            {head + "- lesson: inside\n- instruction: pack warp=x\n" + end,
             "my.md, line 6: expected n=1, warp=0, lane=13 or cell=0 in place of \"warp=x\"."},
            {head + "- lesson: inside\n- instruction: pack warp=32\n" + end,
             "my.md, line 6: expected n=1, warp=0, lane=13 or cell=0 in place of \"warp=32\"."},
            {head + "- lesson: inside\n- instruction: pack cell=4\n" + end,
             "my.md, line 6: expected n=1, warp=0, lane=13 or cell=0 in place of \"cell=4\"."},
            {head + "- lesson: inside\n- instruction: pack warp=-1\n" + end,
             "my.md, line 6: expected n=1, warp=0, lane=13 or cell=0 in place of \"warp=-1\"."},
            {head + "- lesson: inside\n- instruction: pack wrap=1\n" + end,
             "my.md, line 6: expected n=1, warp=0, lane=13 or cell=0 in place of \"wrap=1\"."},
            {head + "- lesson: inside\n- kernel: f5-flash2 f16 f16\n" + end,
             "my.md, line 6: the kernel f5-flash2 takes bf16, f16, not \"f16 f16\"."},
            {head + "- kernel_break: swizzle\n" + end,
             "my.md, line 5: a kernel_break belongs to a stop of the page inside."},
            {head + "- with: heads=4\n" + end,
             "my.md, line 5: expected query heads x key heads, such as heads=4x2, in place of \"4\"."},
            {head + "- with: heads=0x1\n" + end,
             "my.md, line 5: expected query heads x key heads, such as heads=4x2, in place of \"0x1\"."},
            {head + "- with: heads=4x0\n" + end,
             "my.md, line 5: expected query heads x key heads, such as heads=4x2, in place of \"4x0\"."},
            {head + "- with: heads=4x3\n" + end,
             "my.md, line 5: expected query heads x key heads, such as heads=4x2, in place of \"4x3\"."},
            {head + "- with: heads=1000x1\n" + end,
             "my.md, line 5: expected query heads x key heads, such as heads=4x2, in place of \"1000x1\"."},
            {head + "- with: sink=x\n" + end, "my.md, line 5: sink is \"x\", expected a number or none."},
            {head + "- step: 3 i=0\n" + end,
             "my.md, line 5: there is no step \"3 i=0\"; the walk has steps 1 to 40."},
            {head + "- step: new_max i=-1\n" + end,
             "my.md, line 5: expected i=0, j=0 or n=1 in place of \"i=-1\"."},
            {head + "- highlight: panel\n" + end,
             "my.md, line 5: there is no panel \"\"; there are SRAM, HBM, Explanation, Timeline."},
            {head + "- highlight: cell S[0,0] in SRM\n" + end,
             "my.md, line 5: there is no panel \"SRM\"; did you mean SRAM?"},
            {head + "- lesson: compare\n- kernel_fault: O row=-1\n" + end,
             "my.md, line 6: expected i=0, j=0, row=0, column=0 or amount=0.05 in place of \"row=-1\"."},
            {head + "- kernel_fault: O\n" + end,
             "my.md, line 5: a kernel_fault belongs to a stop of the page compare."},
            {head + "- lesson: compare\n- kernel_fault: Q i=0\n" + end,
             "my.md, line 6: what can be made wrong in a kernel is S, m, alpha, P, l or O, not \"Q\"."},
            {head + "- lesson: compare\n- kernel_fault: O k=0\n" + end,
             "my.md, line 6: expected i=0, j=0, row=0, column=0 or amount=0.05 in place of \"k=0\"."},
            {head + "- lesson: compare\n- kernel_fault: O row=x\n" + end,
             "my.md, line 6: expected i=0, j=0, row=0, column=0 or amount=0.05 in place of \"row=x\"."},
            {head + "- lesson: compare\n- kernel_fault: O amount=0\n" + end,
             "my.md, line 6: expected an amount such as 0.05 in place of \"0\"."},
            {head + "- notes: m is {m[0]}\n" + end, "my.md, line 5: there is no m[0] at step 1."},
            {head + "- step: 3\n- notes: a\n  *b\n" + end,
             "my.md, line 6: a * has no second * in its paragraph; \\* is the character itself."},
            {head + "- notes:\n  x\n" + end, "my.md, line 5: notes has no value."},
            {head + "- notes: " + std::string(601, 'x') + "\n" + end,
             "my.md, line 5: the notes have 601 letters; the page of notes holds 600."},
            {head + "\nfine\n\nm is {m[0]}\nx\n", "my.md, line 8: there is no m[0] at step 1."},
            {head + "\n{frog}\n", "my.md, line 6: {frog} is neither a cell nor a known number."},
            {head + "\n{moved in a}\n", "my.md, line 6: there is no lesson \"a\"."},
            {head + "\n{step\n", "my.md, line 6: a { has no } in its paragraph."},
            {head + "\na } b\n", "my.md, line 6: a } has no { before it."},
            {head + "\na *b\n",
             "my.md, line 6: a * has no second * in its paragraph; \\* is the character itself."},
            {head + "\n\x07\n", "my.md, line 6: a control character stands in it."},
            {head + "\n\xE4\n", "my.md, line 6: it is not in UTF-8."},
            {head + "\n" + std::string(441, 'x'),
             "my.md, line 3: the text has 441 letters; the card holds 440."},
            {"# T\n## " + std::string(37, 'x') + "\n- problem: ties\n\nx",
             "my.md, line 2: the heading has 37 letters; the card holds 36."},
        };
        for (const Wrong& wrong : all) {
            CAPTURE(wrong.text);
            CHECK(refusal(wrong.text) == wrong.sentence);
        }
    }

    TEST_CASE("chapters head the stops below them") {
        const std::string stop = "\n- problem: ties\n\nx\n";
        const TourScript tour = good(parsed("# T\n\n# One\n\nFor readers,\n- also this.\n\n## A" + stop +
                                            "## B" + stop + "\n# Two\n## C" + stop));
        REQUIRE(tour.chapters.size() == 2);
        CHECK(tour.stops[0].text.size() == 1);
        CHECK(chapter_place(tour, 0) == ChapterPlace{"One", 1, 2, 1, 2});
        CHECK(chapter_place(tour, 1) == ChapterPlace{"One", 1, 2, 2, 2});
        CHECK(chapter_place(tour, 2) == ChapterPlace{"Two", 2, 2, 1, 1});
        CHECK(chapter_words(*chapter_place(tour, 1)) == "Chapter 1 of 2 · One");
        CHECK(chapter_words_in_short(*chapter_place(tour, 1)) == "Ch. 1 · One");
        CHECK(stop_of_next_chapter(tour, 0, 1) == 2);
        CHECK(stop_of_next_chapter(tour, 2, 1) == 2);
        CHECK(stop_of_next_chapter(tour, 2, -1) == 0);
        CHECK(stop_of_next_chapter(tour, 1, -1) == 0);
        CHECK(stop_of_next_chapter(tour, 0, -1) == 0);
        const TourScript plain = good(parsed("# T\n## A" + stop));
        CHECK(plain.chapters.empty());
        CHECK_FALSE(chapter_place(plain, 0));
        CHECK(stop_of_next_chapter(plain, 0, 1) == 0);
        CHECK(stop_of_next_chapter(plain, 0, -1) == 0);
    }

    TEST_CASE("however many stops the chapters have, they follow each other without a gap") {
        std::mt19937 random(7);
        for (int n = 0; n < 200; ++n) {
            TourScript tour;
            std::vector<int> sizes(1 + random() % 8);
            for (int& size : sizes) {
                size = 1 + static_cast<int>(random() % 6);
                tour.chapters.push_back(
                    {str(static_cast<int>(tour.chapters.size())), static_cast<int>(tour.stops.size())});
                tour.stops.resize(tour.stops.size() + static_cast<std::size_t>(size));
            }
            int at = 0;
            for (int chapter = 1; chapter <= static_cast<int>(sizes.size()); ++chapter)
                for (int stop = 1; stop <= sizes[static_cast<std::size_t>(chapter) - 1]; ++stop, ++at) {
                    const auto place = chapter_place(tour, at);
                    REQUIRE(place);
                    CHECK(place->chapter == chapter);
                    CHECK(place->stop == stop);
                    CHECK(place->stops == sizes[static_cast<std::size_t>(chapter) - 1]);
                    const int begin = at - stop + 1, next = begin + place->stops;
                    CHECK(stop_of_next_chapter(tour, at, 1) == (chapter == place->chapters ? at : next));
                    CHECK(stop_of_next_chapter(tour, at, -1) ==
                          (stop > 1       ? begin
                           : chapter == 1 ? at
                                          : begin - sizes[static_cast<std::size_t>(chapter) - 2]));
                }
        }
    }

    TEST_CASE("line ends of Windows and a byte order mark are no mistakes") {
        CHECK(parsed("\xEF\xBB\xBF# T\r\n\r\n## A\r\n- problem: ties\r\n\r\nx\r\n"));
    }

    TEST_CASE("the example of the documentation is a tour") {
        const std::string text = contents(TILEWALK_SOURCE_DIR "/docs/tour-format.md"),
                          fence = "```markdown\n";
        const std::size_t from = text.find(fence) + fence.size();
        const TourScript tour = good(parsed(text.substr(from, text.find("```", from) - from)));
        CHECK(tour.stops.size() == 2);
        CHECK(contains(shown_text(tour.stops[1]), "m[0] goes from 1 to 2"));
    }

    TEST_CASE("damaged files are refused in a sentence with their name, or are still tours") {
        const std::string whole = "# T\n# I\n" + head.substr(4) +
                                  "- lesson: flash-forward\n- step: new_max i=0 j=1\n- cell: m[1]\n"
                                  "- highlight: cell S[0,2] in SRAM\n\nOne {m[0]} *two*.\n"
                                  "# C\n## B\n- problem: causal-8\n- step: skip\n\n{skipped} of {tiles}\n";
        REQUIRE(parsed(whole));
        std::mt19937 random(5);
        const std::string bits = "#-: {}[]*\\\n=,ij09m\xC3\xFF";
        int refused = 0;
        for (int n = 0; n < 400; ++n) {
            std::string text = whole;
            for (unsigned k = 0, times = 1 + random() % 3; k < times; ++k) {
                const std::size_t at = random() % text.size();
                if (random() % 3 == 0)
                    text.erase(at, 1 + random() % 6);
                else
                    text.insert(at, 1, bits[random() % bits.size()]);
            }
            const auto tour = parsed(text);
            if (tour) continue;
            ++refused;
            CHECK(tour.error.starts_with("my.md"));
            CHECK((tour.error.ends_with('.') || tour.error.ends_with('?')));
        }
        CHECK(refused > 100);
    }
}
