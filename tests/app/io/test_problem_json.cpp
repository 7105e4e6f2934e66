#include "app/io/problem_json.h"

#include "tests/contains.h"
#include "tests/folder.h"
#include "tests/good.h"

#include <random>

using namespace tilewalk::test;

namespace {

const std::string matrices = R"("q": [[1, 2]], "k": [[3, 4], [5, 6]], "v": [[7, 8], [9, 10]])";

Result<Problem> parse(const std::string& text) { return problem_from_json(text, "p.json"); }
/// A small problem with more entries before its matrices.
Result<Problem> parse_with(const std::string& entries) {
    return parse("{" + entries + ", " + matrices + "}");
}

bool same(const Problem& a, const Problem& b) {
    return a.title == b.title && a.watch == b.watch && a.Q == b.Q && a.K == b.K && a.V == b.V &&
           a.dO.has_value() == b.dO.has_value() && (!a.dO || *a.dO == *b.dO) && a.Br == b.Br &&
           a.Bc == b.Bc && a.causal == b.causal && a.window == b.window && a.scale == b.scale &&
           a.element_bytes == b.element_bytes;
}

}  // namespace

TEST_CASE("json: three matrices are enough, the rest has defaults") {
    const Problem problem = good(parse("{" + matrices + "}"));
    CHECK(problem.Q == Matrix{{1, 2}});
    CHECK(problem.K == Matrix{{3, 4}, {5, 6}});
    CHECK(problem.V == Matrix{{7, 8}, {9, 10}});
    CHECK(!problem.dO);
    CHECK(same(problem, [&] {
        Problem plain;
        plain.Q = problem.Q, plain.K = problem.K, plain.V = problem.V;
        return plain;
    }()));
}

TEST_CASE("json: every entry arrives") {
    const Problem problem = good(parse_with(
        R"("schema": "tilewalk-problem-1", "title": "T", "watch": "α", "br": 3, "bc": 1.0, "causal": true,
           "window": 2, "scale": 0.25, "element_bytes": 2, "do": [[0.5, -1e-3]], "x-note": {"a": [1]},
           "comment": null, "comment 2": "b", "name": "n", "n": 1, "n_kv": 2, "d": 2)"));
    CHECK(problem.name == "");
    CHECK(problem.title == "T");
    CHECK(problem.watch == "α");
    CHECK(problem.Br == 3);
    CHECK(problem.Bc == 1);
    CHECK(problem.causal);
    CHECK(problem.window == 2);
    CHECK(problem.scale == Scale{Scale::Kind::number, 0.25});
    CHECK(problem.element_bytes == 2);
    CHECK(problem.dO == Matrix{{0.5, -1e-3}});
    CHECK(good(parse_with(R"("scale": "sqrt")")).scale.kind == Scale::Kind::sqrt);
    CHECK(good(parse_with(R"("scale": "none", "window": null)")).scale.kind == Scale::Kind::none);
    CHECK(same(good(parse("\xEF\xBB\xBF{" + matrices + "}")), good(parse("{" + matrices + "}"))));
}

TEST_CASE("json: a recorded trace gives its problem") {
    const std::string inner =
        R"({"n": 1, "n_kv": 2, "d": 2, "br": 2, "bc": 2, "causal": false, "window": null,
        "scale": 1, )" +
        matrices + "}";
    const Problem problem =
        good(parse(R"({"schema": "tilewalk-trace-1", "problem": )" + inner +
                   R"(, "lesson": "flash-forward", "steps": [{"step": 1}], "result": {}})"));
    CHECK(problem.softmax_scale() == 1.0);
    CHECK(problem.Q == Matrix{{1, 2}});
    CHECK(parse(R"({"schema": "tilewalk-trace-1", "steps": []})").error ==
          "p.json: the trace has no key \"problem\".");
    CHECK(parse(R"({"schema": "tilewalk-trace-1", "problem": 3})").error ==
          "p.json: the problem is 3, expected an object.");
    CHECK(parse_with(R"("n": 2)").error == "p.json: n is 2, but the number of rows of q is 1.");
    CHECK(parse_with(R"("n_kv": 1)").error == "p.json: n_kv is 1, but the number of rows of k is 2.");
    CHECK(parse_with(R"("d": 5)").error == "p.json: d is 5, but the number of columns of q is 2.");
}

TEST_CASE("json: mistakes in content are named by path") {
    struct Case {
        const char* entries;
        const char* sentence;
    };
    for (const Case& bad : {
             Case{R"("schema": "tilewalk-problem-2")", "schema is \"tilewalk-problem-2\", expected"},
             {R"("schema": 1)", "schema is 1, expected a string"},
             {R"("colour": 1)", "the key \"colour\" is unknown"},
             {R"("Br": 2)", "the key \"Br\" is unknown"},
             {R"("": 2)", "the key \"\" is unknown"},
             {R"("steps": [])", "the key \"steps\" is unknown"},
             {R"("br": 2, "br": 2)", "the key \"br\" is there twice"},
             {R"("x-a": {"b": 1, "b": 2})", "the key \"b\" is there twice"},
             {R"("title": 5)", "title is 5, expected a string"},
             {R"("watch": ["a"])", "watch is an array, expected a string"},
             {R"("br": "2")", "br is the string \"2\", expected a whole number"},
             {R"("br": 2.5)", "br is 2.5, expected a whole number"},
             {R"("br": 1e30)", "br is 1e+30, expected a whole number"},
             {R"("br": 18446744073709551615)", "expected a whole number"},
             {R"("br": null)", "br is null, expected a whole number"},
             {R"("br": 0)", "Br is 0"},
             {R"("bc": -1)", "Bc is -1"},
             {R"("causal": 1)", "causal is 1, expected true or false"},
             {R"("window": "3")", "window is the string \"3\", expected null or a whole number"},
             {R"("window": 1.5)", "window is 1.5, expected a whole number"},
             {R"("window": -1)", "window is -1"},
             {R"("scale": "root")", "scale is the string \"root\", expected"},
             {R"("scale": true)", "scale is true, expected"},
             {R"("element_bytes": 3)", "3 bytes"},
             {R"("do": 1)", "do is 1, expected an array of rows"},
             {R"("do": null)", "do is null, expected an array of rows"},
             {R"("do": [])", "do: the matrix has 0 rows"},
             {R"("do": [[]])", "do: the matrix has 1 row and 0 columns"},
             {R"("do": [1, 2])", "do[0] is 1, expected an array of numbers"},
             {R"("do": [[1, "2"]])", "do[0][1] is the string \"2\", expected a number"},
             {R"("do": [[1, 2], [3]])", "do[1] has 1 number, do[0] has 2"},
             {R"("do": [[1, 2], {}])", "do[1] is an object, expected an array of numbers"},
             {R"("do": [[1, [2]]])", "do[0][1] is an array, expected a number"},
             {R"("do": [[1, 2, 3]])", "dO is 1 × 3"},
         }) {
        const std::string error = parse_with(bad.entries).error;
        CAPTURE(bad.entries);
        CAPTURE(error);
        CHECK(error.starts_with("p.json: "));
        CHECK(contains(error, bad.sentence));
    }
    CHECK(parse(R"({"q": [[1]], "k": [[1]]})").error ==
          "p.json: the key \"v\" is missing, expected an array of rows.");
    CHECK(contains(parse(R"({"q": [[1]], "k": [[1, 2]], "v": [[1, 2]]})").error, "columns"));
    CHECK(contains(parse(R"({"q": [[1e200]], "k": [[1e200]], "v": [[1]]})").error, "overflow"));
}

TEST_CASE("json: a file of a matrix is told from a problem file by its name") {
    const Folder scratch;
    for (const char* name : {"q.csv", "Q.NPY", "q.tsv"}) {
        const std::string path = scratch.file(name, "1,2\n");
        CHECK(load_problem_file(path).error ==
              path +
                  ": this is a file of one matrix, expected a problem file (.json); matrices are given with "
                  "--q, --k and --v.");
    }
}

TEST_CASE("json: mistakes of syntax are named by line and column") {
    struct Case {
        std::string text;
        const char* words;
    };
    const Case cases[] = {
        {"", "nothing in it"},
        {"   \n", "nothing in it"},
        {"{\n  \"q\": [[1,\n  2x]]}", "line 3, column 4"},
        {"{\"q\": [[NaN]]}", "line 1, column 9"},
        {"{\"q\": [[-Infinity]]}", "line 1, column 10"},
        {"{\"q\": [[1e999]]}", "line 1, column 13: this number is too large"},
        {"{\"q\": [[01]]}", "line 1, column 10"},
        {"{\"q\": [[+1]]}", "line 1, column 9"},
        {"{\"q\": [[.5]]}", "line 1, column 9"},
        {"{\"q\": [[1,]]}", "line 1, column 11"},
        {"{\"q\": [[1]],}", "line 1, column 13"},
        {"{q: 1}", "line 1, column 2: a key"},
        {"{'q': 1}", "line 1, column 2"},
        {"{\"q\": 1} x", "line 1, column 10"},
        {"{\"q\": 1}{", "line 1, column 9"},
        {"{\"α\": x}", "line 1, column 7"},
        {"{\"q", "line 1"},
        {"{\"q\": \"\x80\"}", "UTF-8"},
        {"{\"q\": \"\\ud800\"}", "surrogate"},
        {"{\"q\": \"\n\"}", "must not hold a line break, a tab"},
        {"{\"q\": [", "the file ends here, but something in it is still open"},
        {"{\"q\": [[1,]]}", "column 11: \"]\" is not expected here"},
        {"{\"q\": [tru]}", "this is no number, no text in quotes, and none of true"},
        {"{\"q\": \"abc}", "a text in quotes does not end"},
        {"{\"q\": \"\\x\"}", "this text in quotes is not written as JSON has it"},
        {"{q: 1}", "a key in quotes is expected here"},
        {"{\"q\": 1.}", "this number is not written as JSON has it"},
        {"1,2\n3,4\n", "line 1, column 1: this is not JSON, expected a file that begins with {"},
        {"\x89PNG\r\n", "this is not JSON"},
        {"// comment\n{}", "line 1, column 1"},
        {std::string("{\"q\": \0 1}", 10), "line 1, column 7"},
        {std::string("\xFF\xFE{\0", 4), "line 1, column 1"},
        {"1", "holds 1, expected an object"},
        {"[]", "holds an array"},
        {"null", "holds null"},
        {"\"q\"", "holds the string"},
        {"{}", "the key \"q\" is missing"},
        {std::string(1'000'000, '['), "nesting is deeper than 32"},
        {"{\"x-a\":" + std::string(40, '[') + std::string(40, ']') + "}", "nesting is deeper than 32"},
        {repeated("{\"x-a\":", 200'000), "nesting is deeper"},
        {[] {
             std::string text = "{\"x-0\": 0";
             for (int k = 1; k < 5000; ++k) text += ", \"x-" + std::to_string(k) + "\": 0";
             return text + "}";
         }(),
         "more than 100 keys"},
    };
    for (const Case& bad : cases) {
        const std::string error = parse(bad.text).error, shown = bad.text.substr(0, 60);
        CAPTURE(shown);
        CAPTURE(error);
        CHECK(error.starts_with("p.json: "));
        CHECK(contains(error, bad.words));
    }
}

TEST_CASE("json: sizes beyond the limits are refused") {
    const std::string rows = "[1]" + repeated(",[1]", 4096), cols = "1" + repeated(",1", 1024);
    CHECK(contains(parse("{\"q\": [[1]], \"k\": [" + rows + "], \"v\": [[1]]}").error,
                   "k: the matrix has 4097 rows"));
    CHECK(parse("{\"x-a\": [0" + repeated(",0", 17'000'000) + "]}").error ==
          "p.json: the text has more than 16787216 values.");
    CHECK(contains(parse("{\"q\": [[" + cols + "]], \"k\": [[1]], \"v\": [[1]]}").error, "1025 columns"));
}

TEST_CASE("json: random bytes and every prefix never do worse than a sentence") {
    std::mt19937_64 generator(11);
    const std::string whole = "{\"scale\": \"sqrt\", \"window\": 3, " + matrices + "}";
    for (std::size_t n = 0; n < whole.size(); ++n) CHECK(!parse(whole.substr(0, n)).error.empty());
    for (int trial = 0; trial < 5'000; ++trial) {
        std::string broken = whole;
        for (int k = 0; k < 2; ++k) broken[generator() % broken.size()] = static_cast<char>(generator());
        const Result<Problem> problem = parse(broken);
        CHECK(bool(problem) == problem.error.empty());
    }
}

TEST_CASE("json: what is written reads back exactly") {
    std::mt19937_64 generator(13);
    for (int trial = 0; trial < 40; ++trial) {
        const auto below = [&](int n) { return static_cast<int>(generator() % static_cast<unsigned>(n)); };
        const auto matrix = [&](int rows, int cols) {
            return Matrix::NullaryExpr(
                       rows, cols, [&] { return std::ldexp(below(2'000'001) - 1'000'000, below(60) - 50); })
                .eval();
        };
        Problem problem;
        const int N = 1 + below(6), N_kv = 1 + below(6), d = 1 + below(6);
        problem.Q = matrix(N, d), problem.K = matrix(N_kv, d), problem.V = matrix(N_kv, d);
        if (below(2)) problem.dO = matrix(N, d);
        problem.title = std::string("t\"\\/b α", static_cast<std::size_t>(below(6)));
        problem.watch = below(2) ? "w" : "";
        problem.Br = 1 + below(9), problem.Bc = 1 + below(9);
        problem.causal = below(2) == 1;
        if (below(2)) problem.window = below(5);
        problem.scale = {static_cast<Scale::Kind>(below(3)), 1.0};
        if (problem.scale.kind == Scale::Kind::number)
            problem.scale.number = std::ldexp(129 + below(900), -7);
        problem.element_bytes = 1 << below(4);
        CHECK(same(good(parse(problem_to_json(problem))), problem));
    }
    Problem zero = good(parse("{" + matrices + "}"));
    zero.Q(0, 0) = -0.0;
    CHECK(std::signbit(good(parse(problem_to_json(zero))).Q(0, 0)));
    zero.title = "bad \xFF utf";
    CHECK(good(parse(problem_to_json(zero))).title == "bad \uFFFD utf");
}

TEST_CASE("json: title and watch are one line without control characters") {
    const Problem problem = good(parse_with(R"("title": "a\nb\u001b[31m\u0085", "watch": "x\t\u202ey")"));
    CHECK(problem.title == "a b [31m ");
    CHECK(problem.watch == "x  y");
}

TEST_CASE("json: a scale of 1 is no scale, in problems and in traces") {
    for (const char* one : {"1", "1.0", "1e0"})
        CHECK(good(parse_with(std::string("\"scale\": ") + one)).scale == Scale{});
    CHECK(good(parse_with(R"("scale": 1.0000000000000002)")).scale.kind == Scale::Kind::number);
}

TEST_CASE("json: files are loaded and saved, and refused problems leave no file") {
    const test::Folder scratch;
    const std::string path = scratch.file("p.json");
    Problem problem = good(parse("{" + matrices + "}"));
    CHECK(save_problem_file(path, problem));
    CHECK(same(good(load_problem_file(path)), problem));
    CHECK(contains(load_problem_file(scratch.file("none")).error, "no such file"));
    problem.K(0, 0) = INFINITY;
    CHECK(contains(save_problem_file(scratch.file("other"), problem).error, "K[0,0]"));
    CHECK_FALSE(save_problem_file(path, problem));
    CHECK(load_problem_file(path));
    CHECK(scratch.count() == 1);
    CHECK(load_problem_file(scratch.file("p.json", "{]")).error.starts_with(path + ": line 1, column 2: "));
}
