#include "app/io/problem_extras.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"

#include <nlohmann/json.hpp>

namespace tilewalk {
namespace {

using Json = nlohmann::json;

/// A quoted JSON string; bytes that are no UTF-8 become U+FFFD.
std::string json_string(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string scale_text(const Scale& scale) {
    if (scale.kind == Scale::Kind::none) return "\"none\"";
    if (scale.kind == Scale::Kind::sqrt) return "\"sqrt\"";
    return shortest(scale.number);
}

std::string matrix_text(const Matrix& matrix) {
    std::string text = "[\n";
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
        text += "    [";
        for (Eigen::Index c = 0; c < matrix.cols(); ++c)
            text += (c == 0 ? "" : ", ") + shortest(matrix(r, c));
        text += r + 1 < matrix.rows() ? "],\n" : "]\n";
    }
    return text + "  ]";
}

std::string entry(const char* key, const std::string& value) {
    return std::string("  \"") + key + "\": " + value;
}

}  // namespace

std::string problem_to_json(const Problem& problem, const SavedView& view) {
    std::string text = "{\n" + entry("schema", "\"tilewalk-problem-1\"") + ",\n";
    if (!problem.title.empty()) text += entry("title", json_string(problem.title)) + ",\n";
    if (!problem.watch.empty()) text += entry("watch", json_string(problem.watch)) + ",\n";
    text += entry("br", std::to_string(problem.Br)) + ",\n";
    text += entry("bc", std::to_string(problem.Bc)) + ",\n";
    text += entry("causal", problem.causal ? "true" : "false") + ",\n";
    text += entry("window", problem.window ? std::to_string(*problem.window) : "null") + ",\n";
    text += entry("scale", scale_text(problem.scale)) + ",\n";
    text += entry("element_bytes", std::to_string(problem.element_bytes)) + ",\n";
    text += extras_to_json(problem) + view_to_json(view);
    text += entry("q", matrix_text(problem.Q)) + ",\n";
    text += entry("k", matrix_text(problem.K)) + ",\n";
    text += entry("v", matrix_text(problem.V));
    if (problem.dO) text += ",\n" + entry("do", matrix_text(*problem.dO));
    return text + "\n}\n";
}

}  // namespace tilewalk
