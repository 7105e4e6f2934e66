// What a problem file holds beyond Q, K, V: written and read back, and refused where it is damaged.
#include "app/io/problem_extras.h"
#include "app/io/problem_json.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/good.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>

using namespace tilewalk::test;

namespace {

Problem with_everything() {
    Problem p = worked_example();
    p.logits = {2.5, 0.0625, -1.5};
    p.tokens = {"The", "cat", "\"sat\"", "on"};
    p.options.row = 3, p.options.notation = Notation::delta_omega, p.options.normalised = false;
    p.options.order = BackwardOrder::query_outer, p.options.learning_rate = 0.25;
    p.switches.no_correction = p.switches.no_lse = true;
    p.precision.inputs = Format::bf16;
    p.precision.weights = Format::e4m3;
    p.savings = {.lazy = 0.75, .cubic = true};
    p.projection = Projection{Matrix::Identity(4, 4) * 0.3, p.Q, p.K, p.V};
    project(p);
    return p;
}

const SavedView somewhere{"flash-backward",         29, 1, true, "break", {{2, 7, 1}, {9, 40, 0}},
                          {"op == scores", "P > 0"}};

std::string error_of(const std::string& entries) {
    const std::string text =
        R"({"schema":"tilewalk-problem-1","q":[[1]],"k":[[1]],"v":[[1]],)" + entries + "}";
    return problem_from_json(text, "p.json").error;
}

}  // namespace

TEST_CASE("everything is read back as it was written") {
    const Problem p = with_everything();
    SavedView view;
    const Problem back = good(problem_from_json(problem_to_json(p, somewhere), "p.json", &view));
    CHECK(view == somewhere);
    CHECK(back.tokens == p.tokens);
    CHECK(back.logits == p.logits);
    CHECK(back.options == p.options);
    CHECK(back.switches == p.switches);
    CHECK(back.precision == p.precision);
    CHECK(back.savings == p.savings);
    REQUIRE(back.projection);
    CHECK(back.projection->X == p.projection->X);
    CHECK(back.projection->W_V == p.projection->W_V);
    CHECK(back.Q == p.Q);
    CHECK(back.V == p.V);
}

TEST_CASE("every fault and every format has its place in the file") {
    for (bool Switches::*fault : {&Switches::no_max, &Switches::no_correction, &Switches::no_division,
                                  &Switches::wrong_mask_edge, &Switches::stale_max, &Switches::no_lse}) {
        const Problem p = with(worked_example(), fault);
        CHECK(problem_from_json(problem_to_json(p), "p.json")->switches == p.switches);
    }
    for (Format Precision::*stage : {&Precision::inputs, &Precision::scores, &Precision::softmax,
                                     &Precision::weights, &Precision::accumulator, &Precision::output})
        for (const Format format : {Format::fp32, Format::tf32, Format::fp16, Format::bf16, Format::e4m3}) {
            Problem p = worked_example();
            p.precision.*stage = format;
            if (validate(p)) continue;  // scores need an ∞, which e4m3 has not
            CHECK(problem_from_json(problem_to_json(p), "p.json")->precision == p.precision);
        }
}

TEST_CASE("an older file has none of it, and a plain problem writes none of it") {
    SavedView view;
    const auto p = problem_from_json(R"({"q":[[1]],"k":[[1]],"v":[[1]]})", "p.json", &view);
    REQUIRE(p);
    CHECK(view == SavedView{});
    CHECK(p->options == Options{});
    CHECK_FALSE(p->broken());
    CHECK_FALSE(p->projection);
    const std::string text = problem_to_json(*p);
    for (const char* key : {"tokens", "options", "switches", "precision", "savings", "view", "softcap",
                            "alibi", "sink", "\"x\""})
        CHECK_MESSAGE(!contains(text, key), std::string(key));
}

TEST_CASE("parts of the keys are read as they were written") {
    Problem p = worked_example();
    p.options.splits = {3, 0, 1};
    p.options.merge = MergeOrder::pairs, p.options.parts = PartForm::normalised, p.options.workers = 7;
    p.options.row = 1, p.options.queries = 3;
    CHECK(good(problem_from_json(problem_to_json(p), "p.json")).options == p.options);
}

TEST_CASE("a prefix, sequences and pages are read as they were written") {
    Problem p = worked_example();
    CHECK(good(problem_from_json(problem_to_json(p), "p.json")).options == Options{});
    p.options.prefix = 0, p.options.sequences = 2, p.options.pages = 2, p.options.page_table = {1, 0};
    CHECK(good(problem_from_json(problem_to_json(p), "p.json")).options == p.options);
    p.options = {}, p.options.prefix = 2;
    CHECK(good(problem_from_json(problem_to_json(p), "p.json")).options == p.options);
    p.options = {}, p.options.sequences = 3;
    CHECK(good(problem_from_json(problem_to_json(p), "p.json")).options == p.options);
}

TEST_CASE("what stands among the heads and beside them is the same") {
    const std::string top = R"({"q":[[1]],"k":[[2]],"v":[[3]],"do":[[4]],"heads":{"shown":1,)";
    const auto error = [&](const std::string& queries, const std::string& keys) {
        return problem_from_json(top + "\"queries\":" + queries + ",\"keys\":" + keys + "}}", "p.json").error;
    };
    const std::string queries = R"([{"q":[[9]],"do":[[9]]},{"q":[[1]],"do":[[4]]}])",
                      keys = R"([{"k":[[2]],"v":[[3]]}])";
    CHECK(error(queries, keys) == "");
    CHECK(contains(error(R"([{"q":[[1]],"do":[[4]]},{"q":[[9]],"do":[[4]]}])", keys),
                   "heads.queries[1].q and q differ"));
    CHECK(contains(error(R"([{"q":[[1]],"do":[[4]]},{"q":[[1]],"do":[[9]]}])", keys),
                   "heads.queries[1].do and do differ"));
    CHECK(contains(error(queries, R"([{"k":[[9]],"v":[[3]]}])"), "heads.keys[0].k and k differ"));
    CHECK(contains(error(queries, R"([{"k":[[2]],"v":[[9]]}])"), "heads.keys[0].v and v differ"));
}

TEST_CASE("a key that nobody knows is refused in every object of a file, by its whole name") {
    const std::string file = R"({"q":[[1]],"k":[[2]],"v":[[3]],
        "heads":{"queries":[{"q":[[1]]}],"keys":[{"k":[[2]],"v":[[3]]}],"shown":0},
        "options":{"row":0},"precision":{"scores":"fp32"},"savings":{"lazy":8},
        "view":{"lesson":"flash-forward","bookmarks":[{"number":1,"step":1,"row":0}]}})";
    SavedView view;
    CHECK(problem_from_json(file, "p.json", &view).error == "");
    for (const char* where : {"", "heads.", "heads.queries[0].", "heads.keys[0].", "options.", "precision.",
                              "savings.", "view.", "view.bookmarks[0]."}) {
        // Behind the opening brace of the object that this is the path of
        std::size_t at = 0;
        std::string path = where;
        for (std::size_t end; (end = path.find('.')) != std::string::npos; path.erase(0, end + 1))
            at = file.find('"' + path.substr(0, std::min(end, path.find('['))) + "\":", at);
        std::string strange = file;
        strange.insert(file.find('{', at) + 1, R"("odd":1,)");
        const std::string error = problem_from_json(strange, "p.json", &view).error;
        CHECK_MESSAGE(contains(error, "the key \"" + std::string(where) + "odd\" is unknown"), error);
    }
}

TEST_CASE("the sizes that lists and traces tell of a problem are those that its file would need") {
    Problem p = good(random_problem(8, 3, 1));
    p.Q = p.Q.topRows(6).eval();
    p.Br = 2, p.Bc = 4, p.causal = true, p.window = 5, p.scale = {Scale::Kind::sqrt};
    const nlohmann::ordered_json sizes = json_of_sizes(p);
    CHECK(sizes.dump() == R"({"n":6,"n_kv":8,"d":3,"br":2,"bc":4,"causal":true,"window":5,"scale":)" +
                              nlohmann::json(1 / std::sqrt(3.0)).dump() + "}");
    p.window.reset(), p.scale = {};
    CHECK(json_of_sizes(p)["window"].is_null());
    CHECK(json_of_sizes(p)["scale"] == 1);
}

TEST_CASE("a random problem keeps its seed") {
    const std::string text = problem_to_json(good(random_problem(3, 2, 37)));
    CHECK(good(problem_from_json(text, "p.json")).seed == 37);
    CHECK_FALSE(problem_from_json(problem_to_json(worked_example()), "p.json")->seed);
}

TEST_CASE("Q, K and V may be left out where X and the weights are there, and must agree with them") {
    const std::string weights = R"("x":[[2]],"w_q":[[3]],"w_k":[[4]],"w_v":[[5]])";
    const Problem p = good(problem_from_json("{" + weights + "}", "p.json"));
    CHECK(p.Q(0, 0) == 6);
    CHECK(p.K(0, 0) == 8);
    CHECK(p.V(0, 0) == 10);
    CHECK(problem_from_json("{" + weights + R"(,"q":[[6]]})", "p.json"));
    CHECK(contains(problem_from_json("{" + weights + R"(,"q":[[7]]})", "p.json").error,
                   "q is not x times w_q"));
    CHECK(contains(problem_from_json(R"({"x":[[2]],"w_q":[[3]],"w_k":[[4]]})", "p.json").error, "w_v"));
    CHECK(contains(problem_from_json(R"({"x":[[2,1]],"w_q":[[3]],"w_k":[[4]],"w_v":[[5]]})", "p.json").error,
                   "w_q has 1 rows, but x has 2 columns"));
    CHECK(
        contains(problem_from_json(R"({"x":[[2]],"w_q":[[3]],"w_k":[[4],[1]],"w_v":[[5]]})", "p.json").error,
                 "w_k has 2 rows, but x has 1 column"));
    // Any of them alone asks for the others.
    for (const char* one : {"w_q", "w_k", "w_v"})
        CHECK(contains(problem_from_json("{\"" + std::string(one) + "\":[[3]]}", "p.json").error,
                       "the key \"x\" is missing"));
    CHECK(contains(problem_from_json("{" + weights + R"(,"k":[[8],[8]]})", "p.json").error,
                   "k is not x times w_k; leave k out"));
    CHECK(contains(problem_from_json("{" + weights + R"(,"v":[[10,1]]})", "p.json").error,
                   "v is not x times w_v; leave v out"));
}

TEST_CASE("damaged parts get one sentence that names the place") {
    const struct {
        const char *entries, *part;
    } cases[] = {
        {R"("tokens": "a")", "tokens is the string"},
        {R"("tokens": [1])", "tokens[0] is 1"},
        {R"("tokens": ["a","b"])", "2 token labels"},
        {R"("softcap": "a")", "softcap is the string"},
        {R"("softcap": 0)", "The softcap is 0; it must be"},
        {R"("softcap": -2)", "The softcap is"},
        {R"("sink": {})", "sink is an object"},
        {R"("alibi": [1])", "alibi is an array"},
        {R"("alibi": -0.5)", "The ALiBi slope is"},
        {R"("options": 3)", "options is 3, expected an object"},
        {R"("switches": [1])", "switches[0] is 1, expected the name of a switch"},
        {R"("precision": {"scores": 16})", "scores is 16, expected fp64, fp32"},
        {R"("precision": {"scores": "fp17"})", "scores is the string \"fp17\", expected fp64, fp32"},
        {R"("options": {"splits": [1e10]})", "options.splits[0] is 10000000000"},
        {R"("seed": -1)", "seed is -1"},
        {R"("options": {"row": 0.5})", "options.row is 0.5"},
        {R"("options": {"row": 1})", "The row is 1"},
        {R"("options": {"rows": 1})", "options.rows"},
        {R"("options": {"notation": "x"})", "options.notation"},
        {R"("options": {"order": 1})", "options.order is 1"},
        {R"("options": {"normalised": 1})", "options.normalised is 1"},
        {R"("options": {"learning_rate": "a"})", "options.learning_rate"},
        {R"("options": {"learning_rate": 1e300})", "The learning rate is"},
        {R"("options": {"splits": 2})", "options.splits is 2"},
        {R"("options": {"splits": [0.5]})", "options.splits[0] is 0.5"},
        {R"("options": {"splits": [2, -1]})", "has -1 keys"},
        {R"("options": {"splits": [2]})", "have 2 keys together, but K has 1"},
        {R"("options": {"merge": "tree"})", "options.merge"},
        {R"("options": {"parts": "sum"})", "options.parts"},
        {R"("options": {"workers": 0})", "There are 0 workers"},
        {R"("options": {"prefix": "all"})",
         "options.prefix is the string \"all\", expected null or a whole number"},
        {R"("options": {"prefix": 2})", "The prefix has 2 keys, but K has 1 in all"},
        {R"("options": {"sequences": 2})", "There are 2 sequences, but only 1 query"},
        {R"("options": {"pages": -1})", "A page holds -1 keys"},
        {R"("options": {"pages": 1, "page_table": [1]})", "puts page 0 at place 1, which is outside"},
        {R"("options": {"page_table": [0]})", "the keys lie in no pages"},
        {R"("switches": {})", "switches is an object"},
        {R"("switches": ["no_maximum"])", "switches[0]"},
        {R"("savings": [])", "savings is an array"},
        {R"("savings": {"lazy": "much"})", "savings.lazy"},
        {R"("savings": {"exp2": "quadratic"})", "savings.exp2"},
        {R"("savings": {"lazy": -1})", "threshold of lazy rescaling"},
        {R"("precision": [])", "precision is an array"},
        {R"("precision": {"inputs": "fp12"})", "precision.inputs"},
        {R"("precision": {"input": "fp16"})", "precision.input"},
        {R"("view": [])", "view is an array"},
        {R"("view": {"step": "x"})", "view.step"},
        {R"("view": {"panel": "none"})", "view.panel"},
        {R"("view": {"lesson": 3})", "view.lesson"},
        {R"("view": {"bookmarks": {}})", "view.bookmarks is an object"},
        {R"("view": {"bookmarks": [3]})", "view.bookmarks[0] is 3"},
        {R"("view": {"bookmarks": [{"step": 1, "row": 0}]})", "view.bookmarks[0].number is missing"},
        {R"("view": {"bookmarks": [{"number": 10, "step": 1, "row": 0}]})", "number is 10, expected 1 to 9"},
        {R"("view": {"bookmarks": [{"number": 1, "step": 0, "row": 0}]})", "view.bookmarks[0].step is 0"},
        {R"("view": {"bookmarks": [{"number": 1, "step": 1, "row": -1}]})", "view.bookmarks[0].row is -1"},
        {R"("view": {"breakpoints": "alpha"})", "view.breakpoints is the string"},
        {R"("view": {"breakpoints": ["alpha < 1", "alpha <"]})", "view.breakpoints[1], column 8"},
    };
    for (const auto& c : cases) {
        const std::string error = error_of(c.entries);
        CHECK_MESSAGE(contains(error, c.part), std::string(c.entries), " gives: ", error);
        CHECK(error.starts_with("p.json: "));
    }
}
