#include "tests/app/cli/run.h"

#include "app/export/export_formats.h"
#include "app/export/parts.h"
#include "app/io/examples.h"
#include "app/ui/state/trace_look.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/table.h"
#include "tests/core/steps.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace tilewalk::test;
using nlohmann::json;

namespace {

std::shared_ptr<const Trace> walk(const Problem& problem) { return walk_of(default_lesson(), problem); }

std::string written(void (*write)(std::ostream&, const Trace&), const Trace& trace) {
    std::ostringstream out;
    write(out, trace);
    return out.str();
}
std::string trace_text(const Trace& trace) { return written(write_trace_text, trace); }
std::string trace_markdown(const Trace& trace) { return written(write_trace_markdown, trace); }

double number(const json& value) { return value == "-inf" ? -infinity : value.get<double>(); }

bool same(const json& rows, const Matrix& matrix) {
    for (int r = 0; r < matrix.rows(); ++r)
        for (int c = 0; c < matrix.cols(); ++c)
            if (number(rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]) != matrix(r, c))
                return false;
    return rows.size() == static_cast<std::size_t>(matrix.rows());
}

}  // namespace

TEST_CASE("a walk is that of one head, and says what all heads move") {
    Problem p = *find_example("worked-4x4");
    // Flash reads K and V for each block of queries.
    const std::int64_t one = find_lesson("flash-forward")->model(p).total(),
                       keys = 2LL * p.Tr() * p.N_kv() * p.d() * p.element_bytes, again = 4 * one,
                       once = again - 2 * keys;
    for (const bool loads_once : {false, true}) {
        const auto written = [&](const char* format) {
            return output_of({"trace", "--heads", "4", "--kv-heads", "2", "--head", "1", "--kv-loads",
                              loads_once ? "once" : "again", "--format", format});
        };
        const json heads = json::parse(written("json"))["heads"];
        CHECK((heads["walked"] == 1 && heads["heads"] == 4 && heads["kv_heads"] == 2));
        CHECK(heads["bytes_of_one"] == one);
        CHECK(heads["bytes_of_all"] == (loads_once ? once : again));
        CHECK((heads["kv_again"] == again && heads["kv_once"] == once));
        for (const char* format : {"text", "md"}) {
            const std::string text = written(format);
            CHECK(contains(text, "of head 1 alone"));
            CHECK(contains(text, "all 4 heads move " + format_size(loads_once ? once : again)));
        }
    }
    CHECK_FALSE(json::parse(output_of({"trace", "--format", "json"})).contains("heads"));
    CHECK_FALSE(contains(output_of({"trace"}), "heads"));
}

TEST_CASE("trace json: the worked example and its figures") {
    const json trace = json::parse(output_of({"trace", "--format", "json"}));
    CHECK(trace["schema"] == "tilewalk-trace-1");
    CHECK(trace["lesson"] == "flash-forward");
    REQUIRE(trace["steps"].size() == 40);
    CHECK(trace["problem"]["scale"] == 1);
    CHECK(trace["problem"]["window"].is_null());
    CHECK(trace["problem"]["do"][2][3] == 1);
    CHECK(trace["result"]["L"].size() == 4);

    const json& first = trace["steps"][0];
    CHECK(first["op"] == "load_q");
    CHECK(first["i"] == 0);
    CHECK(first["j"].is_null());
    CHECK(first["reads"][0]["slot"] == "Q");
    const json& sum = trace["steps"][16];
    CHECK(sum["step"] == 17);
    CHECK(sum["title"] == "Row sum");
    CHECK(sum["numbers"] == "0.3679 × 1.3679 + (1.0000 + 0.1353)");
    CHECK(sum["result"] == "ℓ[0] ≈ 1.639");
    CHECK(trace["steps"][1]["writes"][0]["values"][0][0] == "-inf");
}

TEST_CASE("trace json: every stored fact of every example, exactly") {
    for (const Problem& problem : examples()) {
        CAPTURE(problem.name);
        const auto trace = walk(problem);
        const json parsed = json::parse(written(write_trace_json, *trace));
        REQUIRE(parsed["steps"].size() == static_cast<std::size_t>(trace->size()));
        CHECK(same(parsed["problem"]["q"], problem.Q));
        CHECK(same(parsed["result"]["O"], trace->result(Slot::O)));
        for (int k = 0; k < trace->size(); ++k) {
            const json& step = parsed["steps"][static_cast<std::size_t>(k)];
            CHECK(step["traffic"]["hbm_read"] == trace->step(k).traffic.hbm_read);
            CHECK(step["why"] == explain(*trace, k).why);
            const auto writes = trace->writes(k);
            REQUIRE(step["writes"].size() == writes.size());
            for (std::size_t n = 0; n < writes.size(); ++n) {
                const Value& value = trace->value(writes[n].value);
                CHECK(same(step["writes"][n]["values"], value.data));
                CHECK(step["writes"][n]["row"] == value.region.row);
                CHECK(step["writes"][n]["col"] == value.region.col);
            }
        }
    }
}

TEST_CASE("trace json: what was written can be loaded and gives the same walk") {
    const Folder folder;
    for (const std::vector<std::string>& source :
         {std::vector<std::string>{"--example", "worked-4x4"},
          {"--example", "window-12", "--element-bytes", "2"},
          {"--random", "7x3", "--seed", "5", "--br", "3", "--causal"},
          {"--random", "4x1"},
          {"--example", "ties", "--scale", "0.3"}}) {
        const std::string first = run(with({"trace", "--format", "json"}, source)).out;
        const std::string path = folder.file("walk.json", first);
        CHECK(run({"trace", "--format", "json", "--load", path}).out == first);
    }
}

TEST_CASE("trace text: the lines of the row sum") {
    check_contains(output_of({"trace"}), {
                                             "FlashAttention-2 · 4 × 4 worked example\n",
                                             "Step 17 of 40 · Row sum · tile (0, 1)\n",
                                             "  ℓ  ←  α ⊙ ℓ  +  rowsum(P̃)\n",
                                             "    row 0: 0.3679 × 1.3679 + (1.0000 + 0.1353) ≈ 1.639\n",
                                             "│ 1.368 → 1.639 │",
                                             "    S[0,2]: 1 × 1 + 0 × 0 + 1 × 1 + 0 × 0 = 2\n",
                                             "    bytes read: 2 × 4 × 4 = 32\n",
                                             "│ 7.204   8.204   9.204  10.204 │   │ 2.494 │\n",
                                             "This walk moved 400 B (320 B read, 80 B written)",
                                             "would move 512 B (320 B read, 192 B written)",
                                         });
}

TEST_CASE("trace text: whole steps, with what was before and after") {
    const std::string text = run({"trace"}).out;
    check_contains(text, {R"(
Step 14 of 40 · The maximum rises · tile (0, 1)
  m  ←  max(m_old, m̃)
    row 0: max(1, 2) = 2
    row 1: max(1, 2) = 2
  The maximum of query 0 rises from 1 to 2: all that it summed so far was measured from 1 and must
  be corrected.
    m̃           m old → new
    │ 2 │   →   │ 1 → 2 │
    │ 2 │       │ 1 → 2 │
  so far: 160 B read from HBM, 0 B written, 130 operations; on chip now: 192 B
)",
                          R"(
    α           O₀ old                           P̃                  V₁
    │ 0.368 │   │ 2.839  4.207  5.575  6.943 │   │ 1.000  0.135 │   │  9  10  11  12 │
    │ 0.368 │   │ 5.368  6.736  8.104  9.472 │   │ 0.135  1.000 │   │ 13  14  15  16 │

        O₀ new
    →   │ 11.80  13.44  15.08  16.72 │
        │ 16.19  17.83  19.47  21.11 │
)"});
}

TEST_CASE("trace text: every operand of a merge is there, under the names of its formula") {
    const std::vector<std::string> pairs = {"trace", "--lesson", "merge", "--splits",
                                            "4",     "--merge",  "pairs"};
    for (const char* format : {"text", "md"}) {
        const std::string text = output_of(with(pairs, {"--format", format}));
        check_contains(text, {"m_AB: max(1, 0) = 1\n", "m_A     m_B         m_AB\n",
                              "w_A     ℓ_A     w_B         ℓ_B         ℓ_AB\n", "S (1 × 4)"});
        CHECK_FALSE(contains(text, "x (1 × 4)"));
        CHECK_FALSE(contains(text, "row 4: max"));
        CHECK_FALSE(contains(text, "same weights;"));
    }
    CHECK(contains(output_of({"trace", "--lesson", "merge", "--splits", "3,1"}), "m_A     m_B         m\n"));
    CHECK(contains(output_of({"trace", "--lesson", "split-kv"}), "    L_B: 2 + ln(1.135) ≈ 2.127\n"));
    CHECK(contains(output_of({"trace", "--lesson", "flash-backward", "--sink", "1"}),
                   "L₀ in HBM   D₀ in HBM   L₁ in HBM   D₁ in HBM       dsink in HBM\n"));
}

TEST_CASE("trace text: whoever moves fewer bytes is named") {
    CHECK(contains(run({"trace"}).out, "that saved 112 B"));
    const std::string small_tiles = run({"trace", "--random", "64x64", "--br", "8", "--bc", "8"}).out;
    CHECK(contains(small_tiles, "standard attention moves fewer bytes"));
    Problem p = *random_problem(64, 64, 1);
    p.Br = 8;
    while (flash_forward_model(p).total() >= standard_forward_model(p).total()) ++p.Br;
    CHECK(contains(small_tiles, "With Br = " + std::to_string(p.Br) + " query rows"));

    // K and V read two more times (24 B) and L (12 B) weigh as much as S and P, written and read (36 B).
    const Ran even = run({"trace", "--random", "3x2", "--br", "1", "--element-bytes", "1"});
    check_contains(even.out, {"Both move equally many bytes",
                              "This walk moved 60 B (42 B read, 18 B written)", "would move 60 B ("});

    // With one key of one byte there is next to nothing to store, and L tips the balance.
    Problem tiny = *random_problem(4, 1, 1);
    tiny.K.conservativeResize(1, 1);
    tiny.V.conservativeResize(1, 1);
    tiny.element_bytes = 1;
    tiny.Br = 1;
    const auto trace = walk(tiny);
    CHECK(contains(comparison(*trace).back(),
                   "No other number of query rows or of key rows per tile changes that."));

    // Where the key block is the outer loop, its rows decide.
    Problem rows = *random_problem(8, 8, 1);
    rows.Br = 1;
    const auto keys_outside = build_trace(*find_lesson("flash-forward-v1"), rows);
    CHECK(contains(comparison(**keys_outside).back(), "With Bc = 8 key rows per tile the walk moves fewer."));
}

TEST_CASE("trace text: of several heads it says what all of them move") {
    const auto last = [](std::vector<std::string> more) {
        std::vector<std::string> words{"trace", "--heads", "4"};
        words.insert(words.end(), more.begin(), more.end());
        const std::string out = output_of(words);
        return out.substr(out.rfind("These are"));
    };
    // 400 B a head, of which K and V for both query blocks are 256 B.
    const std::string all = format_size(4 * 400), once = format_size(4 * 400 - 2 * 256);
    CHECK(last({"--kv-heads", "2"}) ==
          "These are the bytes of head 0 alone; all 4 heads move " + all +
              ", each loading K and V of its group\nagain (once for a group: " + once + ").\n");
    CHECK(last({}) == "These are the bytes of head 0 alone; all 4 heads move " + all +
                          ", each with K and V of its own.\n");
    // Of a ring each of two ranks reads half of Q and all of K and V (64 B each), and writes O and L; the
    // shards of K and V go to one other rank.
    const int ring = 64 + 2 * 128 + 64 + 16;
    CHECK(last({"--lesson", "ring", "--kv-heads", "2"}) ==
          "These are the bytes of head 0 alone; all 4 heads move " + format_size(4 * ring) +
              ", each loading K and V of its group\nagain (once for a group: " +
              format_size(4 * ring - 2 * 256) +
              "). Between ranks K and V of 2 key heads go round: 256 B, 128 B of\nthem this head's; with K "
              "and V "
              "of its own for every head 512 B.\n");
    CHECK(contains(last({"--lesson", "ring"}), "512 B"));
    const json sent = json::parse(output_of(
        {"trace", "--lesson", "ring", "--heads", "4", "--kv-heads", "2", "--format", "json"}))["heads"];
    CHECK((sent["sent_of_one"] == 128 && sent["sent_of_all"] == 256 && sent["sent_without_groups"] == 512));
    CHECK((sent["kv_again"] == 4 * ring && sent["kv_once"] == 4 * ring - 2 * 256));
    // A training step walks the group, which has K and V on chip once, whatever the others would do.
    const json heads =
        json::parse(output_of({"trace", "--lesson", "training-step", "--heads", "4", "--kv-heads", "2",
                               "--head", "3", "--format", "json"}))["heads"];
    CHECK(heads["bytes_of_all"] == 2 * heads["bytes_of_one"].get<int>());
    CHECK(last({"--lesson", "training-step", "--kv-heads", "2", "--head", "3"}) ==
          "These are the bytes of heads 2 to 3, which share K and V; all 4 heads move " +
              format_size(heads["bytes_of_all"]) +
              ", K and V of a\ngroup crossing HBM once (again for each of its heads: " +
              format_size(heads["kv_again"]) + ").\n");
    CHECK_FALSE(contains(output_of({"trace"}), "heads move"));
}

TEST_CASE("trace text: prose stays within its width and large tiles are cut short") {
    const auto trace = walk(*random_problem(64, 64, 1));
    std::istringstream lines(trace_text(*trace));
    int widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, ui::letter_count(line));
    CHECK(widest <= 118);
    check_contains(trace_text(*trace), {"… 60 more\n", " + … (5", " more) … + "});
}

TEST_CASE("trace text: long sums say how many terms they leave out") {
    Problem problem = *random_problem(1, 40, 1);
    problem.Q.setConstant(1.25);
    problem.K.setConstant(2);
    problem.K(0, 39) = 3;
    problem.scale = {};
    const std::string text = trace_text(*walk(problem));
    const std::string terms = repeated("1.25 × 2 + ", 6);
    CHECK(contains(text, "    row 0: " + terms + "… (33 more) … + 1.25 × 3 = 101.25\n"));
}

TEST_CASE("trace text: numbers begin in the same column") {
    const std::string text = run({"trace", "--random", "12x2", "--br", "4"}).out;
    check_contains(text,
                   {"\n    row 8:  max(", "\n    row 9:  max(", "\n    row 10: max(", "\n    row 0: max("});
}

TEST_CASE("trace text and markdown: why, once for each thing that happens to a row") {
    Problem problem;
    problem.Q = Matrix{{-1}, {1}, {3}};
    problem.K = Matrix{{1}, {2}};
    problem.V = Matrix{{1}, {1}};
    problem.Br = 3;
    problem.Bc = 1;
    const auto trace = walk(problem);
    for (const std::string& text : {trace_text(*trace), trace_markdown(*trace)}) {
        const std::size_t from = text.find("New maximum", text.find("tile (0, 1)"));
        REQUIRE(from != std::string::npos);
        const std::string step = text.substr(from, text.find("Correction", from) - from);
        const std::size_t stays = step.find("The maximum of query 0 stays −1"),
                          rises = step.find("query 1 rises from 1 to 2");
        CHECK(rises != std::string::npos);
        CHECK(stays < rises);
        CHECK(!contains(step, "rises from 3 to 6"));
    }
    const auto tied = walk(*find_example("ties"));
    for (int k = 0; k < tied->size(); ++k) CHECK(why_sentences(*tied, k).front() == explain(*tied, k).why);
}

TEST_CASE("trace markdown: headings and closed fences") {
    for (const Problem& problem : examples()) {
        const std::string text = trace_markdown(*walk(problem));
        std::istringstream lines(text);
        int fences = 0, steps = 0;
        for (std::string line; std::getline(lines, line);) {
            fences += line.starts_with("```");
            steps += line.starts_with("### Step ");
        }
        CHECK(fences % 2 == 0);
        CHECK(steps == walk(problem)->size());
    }
    CHECK(contains(trace_markdown(*walk(*find_example("worked-4x4"))),
                   "### Step 17 of 40: Row sum, tile (0, 1)\n"));
}

TEST_CASE("trace markdown: a title cannot break the page") {
    Problem problem = *find_example("worked-4x4");
    problem.title = "# <b>x</b>\n```";
    const auto trace = walk(problem);
    const std::string heading = trace_markdown(*trace).substr(0, trace_markdown(*trace).find('\n'));
    CHECK(heading == "# FlashAttention-2 · \\# \\<b\\>x\\</b\\> \\`\\`\\`");
}

TEST_CASE("layout: numbers share decimals, long matrices are cut, blocks wrap") {
    Matrix A(2, 2);
    A << 1, -0.5, 10, 0.25;
    CHECK(matrix_block("A", A) == Block{"A", "│  1.000  −0.500 │", "│ 10.000   0.250 │"});
    Matrix before(1, 1), after(1, 1);
    before << -infinity;
    after << 2;
    CHECK(change_block("m", before, after) == Block{"m", "│ −∞ → 2 │"});
    const Block cut = matrix_block("B", Matrix::Zero(20, 9));
    CHECK(cut.size() == 10);
    CHECK(cut[1] == "│ 0  0  0  0  0  0  0  …  0 │");
    CHECK(cut[8] == "│ …  …  …  …  …  …  …  …  … │");
    const Matrix places =
        Matrix::NullaryExpr(20, 30, [](auto r, auto c) { return static_cast<double>(100 * (r + 1) + c); });
    const Block ends = matrix_block("B", places);
    REQUIRE(ends.size() == 10);
    CHECK(ends[1] == "│  100   101   102   103   104   105   106  …   129 │");
    CHECK(ends[7] == "│  700   701   702   703   704   705   706  …   729 │");
    CHECK(ends[9] == "│ 2000  2001  2002  2003  2004  2005  2006  …  2029 │");
    CHECK(matrix_block("C", Matrix::Zero(8, 8)).size() == 9);
    CHECK(side_by_side({{"a", "b"}, {"c"}}, 20) == Block{"a   c", "b"});
    CHECK(side_by_side({{"aaaa"}, {"bbbb"}}, 8) == Block{"aaaa", "", "bbbb"});
    CHECK(wrap("one two three", 7) == Block{"one two", "three"});
    CHECK(pad_left("P̃", 3) == "  P̃");
}

TEST_CASE("a broken walk says so in its head and in its result, a sound one does not") {
    Problem problem = *find_example("worked-4x4");
    problem.watch = "how the maximum rises";
    const std::string sound = trace_text(*walk(problem));
    CHECK(contains(sound, "Watch: how the maximum rises"));
    for (const char* none : {"broken on purpose", "rounded:", "is off by"})
        CHECK_FALSE(contains(sound, none));
    Problem broken = problem;
    broken.switches.no_correction = true;
    const std::string text = trace_text(*walk(broken));
    CHECK_FALSE(contains(text, "Watch:"));  // it is told of a walk that is right
    check_contains(text, {"broken on purpose: Leave the correction out", "ℓ[0] is 2.503 instead of",
                          "O is off by at most 2.058: O[1,2] is 9.824 instead of 11.882."});
    check_contains(trace_markdown(*walk(broken)), {"broken on purpose", "is off by at most"});
    // A lesson that does not know the fault walks as it should, and with a saving beside a fault each is
    // named once.
    CHECK_FALSE(contains(trace_text(*walk_of("attention", broken)), "broken on purpose"));
    CHECK(trace_text(*walk_of("attention", broken)) == trace_text(*walk_of("attention", problem)));
    broken.savings.lazy = 8;
    CHECK(contains(trace_text(*walk(broken)), "on purpose: Leave the correction out"));
    CHECK_FALSE(contains(trace_text(*walk(broken)), "correction out, lazy"));
    Problem rounded = problem;
    rounded.precision.inputs = Format::bf16;
    CHECK(contains(trace_text(*walk(rounded)), "; rounded: "));
}
