#include "app/io/problem_json.h"

#include "app/io/file.h"
#include "app/io/json_text.h"
#include "app/io/matrix_file.h"
#include "app/io/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewalk {
namespace {

using Json = nlohmann::json;

constexpr const char* problem_schema = "tilewalk-problem-1";
constexpr const char* trace_schema = "tilewalk-trace-1";

/// For sentences: what stands where something else was expected.
std::string described(const Json& value) {
    switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case Json::value_t::string: return "the string " + in_quotes(value.get_ref<const std::string&>());
    case Json::value_t::array: return "an array";
    case Json::value_t::object: return "an object";
    default: return value.dump();
    }
}

/// An object under reading. The first error stays; after it the read_ functions do nothing.
struct Reading {
    const Json& object;
    std::string error = "";

    void fail(std::string sentence) {
        if (error.empty()) error = std::move(sentence);
    }
    void expected(const std::string& path, const Json& value, const char* what) {
        fail(path + " is " + described(value) + ", expected " + what);
    }
    /// The value of a key, or nothing when it is absent or an error is already known.
    const Json* find(const char* key) const {
        const auto found = object.find(key);
        return error.empty() && found != object.end() ? &*found : nullptr;
    }
};

void read_text(Reading& reading, const char* key, std::string& text) {
    const Json* value = reading.find(key);
    if (!value) return;
    if (!value->is_string()) return reading.expected(key, *value, "a string");
    // Shown in one line, in windows and terminals.
    text = without_controls(value->get_ref<const std::string&>());
}

void read_flag(Reading& reading, const char* key, bool& flag) {
    const Json* value = reading.find(key);
    if (!value) return;
    if (!value->is_boolean()) return reading.expected(key, *value, "true or false");
    flag = value->get<bool>();
}

/// Whole numbers may be written as 2 or as 2.0; their meaning is checked with the whole problem.
void read_count(Reading& reading, const char* key, int& count) {
    const Json* value = reading.find(key);
    if (!value) return;
    const double number = value->is_number() ? value->get<double>() : 0.5;
    if (std::abs(number) > 1e9 || number != std::trunc(number))
        return reading.expected(key, *value, "a whole number up to 1000000000");
    count = static_cast<int>(number);
}

void read_window(Reading& reading, std::optional<int>& window) {
    const Json* value = reading.find("window");
    if (!value || value->is_null()) return;
    if (!value->is_number()) return reading.expected("window", *value, "null or a whole number");
    int width = 0;
    read_count(reading, "window", width);
    window = width;
}

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

void read_row(Reading& reading, const std::string& path, const Json& row, Matrix& matrix, Eigen::Index r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
        const Json& value = row[static_cast<std::size_t>(c)];
        if (!value.is_number())
            return reading.expected(path + "[" + std::to_string(c) + "]", value, "a number");
        matrix(r, c) = value.get<double>();
    }
}

void read_matrix(Reading& reading, const char* key, Matrix& matrix) {
    const Json* rows = reading.find(key);
    if (!rows) return;
    if (!rows->is_array()) return reading.expected(key, *rows, "an array of rows");
    const std::size_t cols = rows->empty() || !rows->front().is_array() ? 0 : rows->front().size();
    for (std::size_t r = 0; r < rows->size(); ++r) {
        const Json& row = (*rows)[r];
        const std::string path = std::string(key) + "[" + std::to_string(r) + "]";
        if (!row.is_array()) return reading.expected(path, row, "an array of numbers");
        if (row.size() != cols)
            return reading.fail(path + " has " + counted(static_cast<long long>(row.size()), "number") +
                                ", " + key + "[0] has " + std::to_string(cols));
    }
    const auto refused =
        check_matrix_size(static_cast<long long>(rows->size()), static_cast<long long>(cols));
    if (refused) return reading.fail(std::string(key) + ": " + *refused);

    matrix.resize(static_cast<Eigen::Index>(rows->size()), static_cast<Eigen::Index>(cols));
    for (std::size_t r = 0; r < rows->size(); ++r)
        read_row(reading, std::string(key) + "[" + std::to_string(r) + "]", (*rows)[r], matrix,
                 static_cast<Eigen::Index>(r));
}

void require_matrix(Reading& reading, const char* key, Matrix& matrix) {
    if (!reading.object.contains(key))
        reading.fail(std::string("the key \"") + key + "\" is missing, expected an array of rows");
    read_matrix(reading, key, matrix);
}

/// Sizes are redundant; where a file states them they must tell the truth.
void check_stated(Reading& reading, const char* key, int actual, const char* what) {
    int stated = actual;
    read_count(reading, key, stated);
    if (stated != actual)
        reading.fail(std::string(key) + " is " + std::to_string(stated) + ", but " + what + " " +
                     std::to_string(actual));
}

bool is_remark(const std::string& key) { return key.starts_with("x-") || key.starts_with("comment"); }

void check_keys(Reading& reading) {
    constexpr std::array known = {"schema", "name",   "title", "watch",         "n", "n_kv", "d", "br", "bc",
                                  "causal", "window", "scale", "element_bytes", "q", "k",    "v", "do"};
    for (const auto& [key, value] : reading.object.items())
        if (!is_remark(key) && std::find(known.begin(), known.end(), key) == known.end())
            return reading.fail("the key " + in_quotes(key) + " is unknown");
}

void read_options(Reading& reading, Problem& problem) {
    read_text(reading, "title", problem.title);
    read_text(reading, "watch", problem.watch);
    read_count(reading, "br", problem.Br);
    read_count(reading, "bc", problem.Bc);
    read_flag(reading, "causal", problem.causal);
    read_window(reading, problem.window);
    read_scale(reading, problem.scale);
    read_count(reading, "element_bytes", problem.element_bytes);
}

Result<Problem> read_problem(const Json& object) {
    if (!object.is_object()) return Failure{"the problem is " + described(object) + ", expected an object"};
    Reading reading{object};
    Problem problem;
    check_keys(reading);
    read_options(reading, problem);
    require_matrix(reading, "q", problem.Q);
    require_matrix(reading, "k", problem.K);
    require_matrix(reading, "v", problem.V);
    if (reading.find("do")) read_matrix(reading, "do", problem.dO.emplace());
    check_stated(reading, "n", problem.N(), "the number of rows of q is");
    check_stated(reading, "n_kv", problem.N_kv(), "the number of rows of k is");
    check_stated(reading, "d", problem.d(), "the number of columns of q is");
    if (!reading.error.empty()) return Failure{reading.error};
    if (auto refused = validate(problem)) return Failure{*refused};
    return problem;
}

/// The outermost object: a problem, or a trace with a problem inside.
Result<Problem> read_document(const Json& document) {
    if (!document.is_object())
        return Failure{"the file holds " + described(document) + ", expected an object with q, k and v"};
    Reading reading{document};
    std::string schema = problem_schema;
    read_text(reading, "schema", schema);
    if (!reading.error.empty()) return Failure{reading.error};
    if (schema == problem_schema) return read_problem(document);
    if (schema != trace_schema)
        return Failure{"schema is " + in_quotes(schema) + ", expected \"" + problem_schema + "\" or \"" +
                       trace_schema + "\""};
    if (!document.contains("problem")) return Failure{"the trace has no key \"problem\""};
    return read_problem(document["problem"]);
}

}  // namespace

Result<Problem> problem_from_json(std::string_view text, const std::string& where) {
    const Result<Json> document = parse_json(text);
    if (!document) return failure_at(where, document.error);
    Result<Problem> problem = read_document(*document);
    if (!problem) return failure_at(where, problem.error);
    return problem;
}

Result<Problem> load_problem_file(const std::string& path) {
    const Result<std::string> text = read_file(path);
    if (!text) return Failure{text.error};
    return problem_from_json(*text, path);
}

std::optional<std::string> save_problem_file(const std::string& path, const Problem& problem) {
    if (auto refused = validate(problem)) return failure_at(path, "not saved: " + *refused).sentence;
    const std::string text = problem_to_json(problem);
    if (text.size() > max_file_bytes)
        return failure_at(path, "not saved: it would have more than 256 MiB").sentence;
    return write_file_atomic(path, text);
}

}  // namespace tilewalk
