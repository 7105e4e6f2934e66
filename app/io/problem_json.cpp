#include "app/io/problem_json.h"

#include "app/io/file.h"
#include "app/io/json_reading.h"
#include "app/io/matrix_file.h"
#include "app/io/problem_extras.h"
#include "app/io/text.h"
#include "core/problem/logits.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace tilewalk {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* problem_schema = "tilewalk-problem-1";
constexpr const char* trace_schema = "tilewalk-trace-1";

void read_scale(Reading& reading, Scale& scale) {
    const Json* value = reading.find("scale");
    if (!value) return;
    // A recorded walk holds the scale as a number; a factor of 1 is none, and is explained as none.
    if (value->is_number() && *value == 1.0)
        scale = Scale{};
    else if (value->is_number())
        scale = {Scale::Kind::number, value->get<double>()};
    else if (*value == "sqrt")
        scale.kind = Scale::Kind::sqrt;
    else if (*value != "none")
        reading.expected("scale", *value, "\"none\", \"sqrt\" or a number");
}

void read_logits(Reading& reading, Logits& logits) {
    for (const LogitChange& change : logit_changes()) {
        const Json* value = reading.find(change.name);
        if (!value || value->is_null()) continue;
        if (!value->is_number()) return reading.expected(change.name, *value, "null or a number");
        logits.*change.value = value->get<double>();
    }
}

/// Sizes are redundant; where a file states them they must tell the truth.
void check_stated(Reading& reading, const char* key, int actual, const char* what) {
    int stated = actual;
    read(reading, key, stated);
    if (stated != actual)
        reading.fail(std::string(key) + " is " + str(stated) + ", but " + what + " " + str(actual));
}

void read_options(Reading& reading, Problem& problem) {
    read(reading, "title", problem.title);
    if (reading.find("seed")) {
        std::int64_t seed = 0;
        read(reading, "seed", seed);
        problem.seed = static_cast<std::uint64_t>(seed);
    }
    read(reading, "watch", problem.watch);
    read(reading, "br", problem.Br);
    read(reading, "bc", problem.Bc);
    read(reading, "causal", problem.causal);
    read(reading, "window", problem.window);
    read_scale(reading, problem.scale);
    read_logits(reading, problem.logits);
    read(reading, "element_bytes", problem.element_bytes);
}

// What stands twice must be the same twice.
void check_shown(Reading& reading, const Problem& p) {
    const Heads& heads = *p.heads;
    const auto H = heads.Q.size(), G = heads.K.size(), shown = static_cast<std::size_t>(heads.shown);
    if (heads.shown < 0 || shown >= H || G == 0 || H % G != 0) return;  // refused in words of its own
    const std::size_t group = shown * G / H;
    const auto differ = [](const Matrix& a, const Matrix& b) {
        return a.rows() == b.rows() && a.cols() == b.cols() && a != b;
    };
    const auto check = [&](bool wrong, const std::string& inner, const char* outer) {
        if (wrong)
            reading.fail("heads." + inner + " and " + outer + " differ; " + outer +
                         " is that of the shown head, so both must be the same.");
    };
    const std::string query = "queries[" + str(heads.shown) + "].",
                      key = "keys[" + std::to_string(group) + "].";
    check(differ(heads.Q[shown], p.Q), query + "q", "q");
    check(differ(heads.K[group], p.K), key + "k", "k");
    check(differ(heads.V[group], p.V), key + "v", "v");
    check(p.dO && shown < heads.dO.size() && differ(heads.dO[shown], *p.dO), query + "do", "do");
}

Result<Problem> read_problem(const Json& object, SavedView& view) {
    if (!object.is_object()) return Failure{"the problem is " + described(object) + ", expected an object"};
    Reading reading{object};
    Problem problem;
    std::vector<std::string> known{
        "schema", "name",   "title",  "seed",  "watch",         "n",       "n_kv",     "d",         "br",
        "bc",     "causal", "window", "scale", "element_bytes", "q",       "k",        "v",         "do",
        "x",      "w_q",    "w_k",    "w_v",   "tokens",        "options", "switches", "precision", "savings",
        "view",   "heads"};
    std::ranges::copy(names_of(logit_changes(), &LogitChange::name), std::back_inserter(known));
    check_keys(reading, known);
    read_options(reading, problem);
    read_projection(reading, problem);
    if (!problem.projection) {
        require_matrix(reading, "q", problem.Q);
        require_matrix(reading, "k", problem.K);
        require_matrix(reading, "v", problem.V);
    }
    read_extras(reading, problem);
    read_view(reading, view);
    if (reading.find("do")) read(reading, "do", problem.dO.emplace());
    if (problem.heads) check_shown(reading, problem);
    check_stated(reading, "n", problem.N(), "the number of rows of q is");
    check_stated(reading, "n_kv", problem.N_kv(), "the number of rows of k is");
    check_stated(reading, "d", problem.d(), "the number of columns of q is");
    if (!reading.error.empty()) return Failure{reading.error};
    if (auto refused = validate(problem)) return Failure{*refused};
    return problem;
}

/// The outermost object: a problem, or a trace with a problem inside.
Result<Problem> read_document(const Json& document, SavedView& view) {
    if (!document.is_object())
        return Failure{"the file holds " + described(document) + ", expected an object with q, k and v"};
    Reading reading{document};
    std::string schema = problem_schema;
    read(reading, "schema", schema);
    if (!reading.error.empty()) return Failure{reading.error};
    if (schema == problem_schema) return read_problem(document, view);
    if (schema != trace_schema)
        return Failure{"schema is " + in_quotes(schema) + ", expected \"" + problem_schema + "\" or \"" +
                       trace_schema + "\""};
    if (!document.contains("problem")) return Failure{"the trace has no key \"problem\""};
    // The walk that was recorded is the one to come back to.
    read(reading, "lesson", view.lesson);
    if (!reading.error.empty()) return Failure{reading.error};
    return read_problem(document["problem"], view);
}

OrderedJson json_of(const Scale& scale) {
    if (scale.kind == Scale::Kind::none) return "none";
    if (scale.kind == Scale::Kind::sqrt) return "sqrt";
    return scale.number;
}

}  // namespace

// A member more of Problem does not compile until it is named here: then it is to be written below and in
// json_of_extras, and read in read_options or read_extras; tests/app/io/test_every_member.cpp finds out. The
// name of an example and the packing of heads stand in no file.
[[maybe_unused]] static void name_all_members(const Problem& problem) {
    [[maybe_unused]] const auto& [name, title, watch, seed, Q, K, V, dO, Br, Bc, causal, window, scale,
                                  logits, heads, packed, tokens, projection, options, switches, precision,
                                  savings, element_bytes] = problem;
}

std::string problem_to_json(const Problem& problem, const SavedView& view) {
    OrderedJson json{{"schema", problem_schema}};
    if (!problem.title.empty()) json["title"] = problem.title;
    if (problem.seed) json["seed"] = *problem.seed;
    if (!problem.watch.empty()) json["watch"] = problem.watch;
    json["br"] = problem.Br, json["bc"] = problem.Bc;
    json["causal"] = problem.causal;
    json["window"] = problem.window ? OrderedJson(*problem.window) : OrderedJson();
    json["scale"] = json_of(problem.scale);
    json["element_bytes"] = problem.element_bytes;
    json.update(json_of_extras(problem));
    if (view != SavedView{}) json["view"] = json_of(view);
    json["q"] = json_of(problem.Q), json["k"] = json_of(problem.K), json["v"] = json_of(problem.V);
    if (problem.dO) json["do"] = json_of(*problem.dO);
    return json_lines(json);
}

Result<Problem> problem_from_json(std::string_view text, const std::string& where, SavedView* view) {
    const Result<Json> document = parse_json(text);
    if (!document) return failure_at(where, document.error);
    SavedView unused;
    Result<Problem> problem = read_document(*document, view ? *view : unused);
    if (!problem) return failure_at(where, problem.error);
    return problem;
}

Result<Problem> load_problem_file(const std::string& path, SavedView* view) {
    if (is_matrix_path(path))
        return failure_at(path, "this is a file of one matrix, expected a problem file (.json); matrices are "
                                "given with --q, --k and --v");
    const Result<std::string> text = read_file(path);
    if (!text) return Failure{text.error};
    return problem_from_json(*text, path, view);
}

Result<void> save_problem_file(const std::string& path, const Problem& problem, const SavedView& view) {
    if (auto refused = validate(problem)) return failure_at(path, "not saved: " + *refused);
    const std::string text = problem_to_json(problem, view);
    if (text.size() > max_file_bytes) return failure_at(path, "not saved: it would have more than 256 MiB");
    return write_file_atomic(path, text);
}

}  // namespace tilewalk
