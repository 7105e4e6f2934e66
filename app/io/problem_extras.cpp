#include "app/io/problem_extras.h"

#include "app/io/text.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/precision.h"
#include "core/walk/condition.h"

#include <array>
#include <limits>

namespace tilewalk {
namespace {

using Json = nlohmann::json;

struct StageKey {
    const char* name;
    Format Precision::*format;
};
constexpr std::array<StageKey, 6> stage_keys = {{{"inputs", &Precision::inputs},
                                                 {"scores", &Precision::scores},
                                                 {"softmax", &Precision::softmax},
                                                 {"weights", &Precision::weights},
                                                 {"accumulator", &Precision::accumulator},
                                                 {"output", &Precision::output}}};

// The object of a key, to be read in turn; nothing if it is absent.
const Json* object_of(Reading& reading, const char* key) {
    const Json* value = reading.find(key);
    if (value && !value->is_object()) reading.expected(key, *value, "an object");
    return value && value->is_object() ? value : nullptr;
}

void read_tokens(Reading& reading, std::vector<std::string>& tokens) {
    const Json* list = reading.find("tokens");
    if (!list) return;
    if (!list->is_array()) return reading.expected("tokens", *list, "an array of strings");
    for (std::size_t n = 0; n < list->size(); ++n) {
        const Json& word = (*list)[n];
        if (!word.is_string()) return reading.expected("tokens[" + std::to_string(n) + "]", word, "a string");
        tokens.push_back(without_controls(word.get_ref<const std::string&>()));
    }
}

void read_options(Reading& outer, Options& options) {
    const Json* object = object_of(outer, "options");
    if (!object) return;
    Reading reading{*object, "", "options."};
    check_keys(reading, {"row", "notation", "normalised", "order", "learning_rate"});
    int notation = static_cast<int>(options.notation), order = static_cast<int>(options.order);
    read_count(reading, "row", options.row);
    read_choice(reading, "notation", {"l_O", "d_o", "delta_omega"}, notation);
    read_flag(reading, "normalised", options.normalised);
    read_choice(reading, "order", {"key_outer", "query_outer"}, order);
    read_number(reading, "learning_rate", options.learning_rate);
    options.notation = static_cast<Notation>(notation);
    options.order = static_cast<BackwardOrder>(order);
    if (!reading.error.empty()) outer.fail(reading.error);
}

void read_switches(Reading& reading, Switches& switches) {
    const Json* list = reading.find("switches");
    if (!list) return;
    if (!list->is_array()) return reading.expected("switches", *list, "an array of names");
    for (std::size_t n = 0; n < list->size(); ++n) {
        const Json& word = (*list)[n];
        const Fault* fault = word.is_string() ? find_fault(word.get_ref<const std::string&>()) : nullptr;
        if (!fault)
            return reading.expected("switches[" + std::to_string(n) + "]", word,
                                    "the name of a switch, for example \"no_correction\"");
        switches.*fault->on = true;
    }
}

void read_precision(Reading& outer, Precision& precision) {
    const Json* object = object_of(outer, "precision");
    if (!object) return;
    Reading reading{*object, "", "precision."};
    check_keys(reading, {"inputs", "scores", "softmax", "weights", "accumulator", "output"});
    for (const StageKey& stage : stage_keys) {
        const Json* value = reading.find(stage.name);
        if (!value) continue;
        const auto format =
            value->is_string() ? find_format(value->get_ref<const std::string&>()) : std::nullopt;
        if (format)
            precision.*stage.format = *format;
        else
            reading.expected(stage.name, *value, "fp64, fp32, tf32, fp16, bf16 or e4m3");
    }
    if (!reading.error.empty()) outer.fail(reading.error);
}

std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string matrix_entry(const char* key, const Matrix& A) {
    std::string text = std::string("  \"") + key + "\": [\n";
    for (Eigen::Index r = 0; r < A.rows(); ++r) {
        text += "    [";
        for (Eigen::Index c = 0; c < A.cols(); ++c) text += (c == 0 ? "" : ", ") + shortest(A(r, c));
        text += r + 1 < A.rows() ? "],\n" : "]\n";
    }
    return text + "  ],\n";
}

std::string options_entry(const Options& options) {
    static constexpr const char* notations[] = {"l_O", "d_o", "delta_omega"};
    static constexpr const char* orders[] = {"key_outer", "query_outer"};
    return "  \"options\": {\"row\": " + std::to_string(options.row) + ", \"notation\": \"" +
           notations[static_cast<int>(options.notation)] +
           "\", \"normalised\": " + (options.normalised ? "true" : "false") + ", \"order\": \"" +
           orders[static_cast<int>(options.order)] +
           "\", \"learning_rate\": " + shortest(options.learning_rate) + "},\n";
}

}  // namespace

void read_projection(Reading& reading, Problem& problem) {
    const bool any = reading.find("x") || reading.find("w_q") || reading.find("w_k") || reading.find("w_v");
    if (!any) return;
    Projection& w = problem.projection.emplace();
    require_matrix(reading, "x", w.X);
    require_matrix(reading, "w_q", w.W_Q);
    require_matrix(reading, "w_k", w.W_K);
    require_matrix(reading, "w_v", w.W_V);
    if (!reading.error.empty()) return;
    for (const auto& [name, W] : {std::pair("w_q", &w.W_Q), {"w_k", &w.W_K}, {"w_v", &w.W_V}})
        if (W->rows() != w.X.cols())
            return reading.fail(std::string(name) + " has " + std::to_string(W->rows()) +
                                " rows, but x has " + std::to_string(w.X.cols()) + " columns");
    project(problem);
    // A recorded walk holds the products, too; they must be these.
    for (const auto& [name, A] : {std::pair("q", &problem.Q), {"k", &problem.K}, {"v", &problem.V}}) {
        Matrix stated = *A;
        read_matrix(reading, name, stated);
        const double size = std::max(1.0, A->size() > 0 ? A->cwiseAbs().maxCoeff() : 0.0);
        if (stated.rows() != A->rows() || stated.cols() != A->cols() ||
            !((stated - *A).cwiseAbs().maxCoeff() <= 1e-9 * size))
            return reading.fail(std::string(name) + " is not x times w_" + name + "; leave " + name + " out");
    }
}

void read_extras(Reading& reading, Problem& problem) {
    read_tokens(reading, problem.tokens);
    read_options(reading, problem.options);
    read_switches(reading, problem.switches);
    read_precision(reading, problem.precision);
}

namespace {

// A whole number in these limits.
void read_within(Reading& reading, const char* key, int& number, int least, int most) {
    if (!reading.find(key)) return reading.fail(reading.path + key + " is missing");
    read_count(reading, key, number);
    if (reading.error.empty() && (number < least || number > most))
        reading.fail(reading.path + key + " is " + std::to_string(number) + ", expected " +
                     std::to_string(least) + " to " + std::to_string(most));
}

void read_bookmarks(Reading& outer, std::vector<SavedView::Bookmark>& bookmarks) {
    const Json* list = outer.find("bookmarks");
    if (!list) return;
    if (!list->is_array()) return outer.expected("bookmarks", *list, "an array of objects");
    for (std::size_t n = 0; n < list->size() && outer.error.empty(); ++n) {
        const std::string path = "bookmarks[" + std::to_string(n) + "]";
        if (!(*list)[n].is_object()) return outer.expected(path, (*list)[n], "an object");
        Reading reading{(*list)[n], "", outer.path + path + "."};
        check_keys(reading, {"number", "step", "row"});
        SavedView::Bookmark& mark = bookmarks.emplace_back();
        read_within(reading, "number", mark.number, 1, 9);
        read_within(reading, "step", mark.step, 1, std::numeric_limits<int>::max());
        read_within(reading, "row", mark.row, 0, std::numeric_limits<int>::max());
        if (!reading.error.empty()) outer.fail(reading.error);
    }
}

void read_breakpoints(Reading& reading, std::vector<std::string>& breakpoints) {
    const Json* list = reading.find("breakpoints");
    if (!list) return;
    if (!list->is_array()) return reading.expected("breakpoints", *list, "an array of conditions");
    for (std::size_t n = 0; n < list->size(); ++n) {
        const Json& text = (*list)[n];
        const std::string where = "breakpoints[" + std::to_string(n) + "]";
        if (!text.is_string()) return reading.expected(where, text, "a condition, for example \"alpha < 1\"");
        breakpoints.push_back(text.get<std::string>());
        if (const auto condition = parse_condition(breakpoints.back()); !condition)
            return reading.fail(reading.path + where + ", " + condition.error);
    }
}

}  // namespace

void read_view(Reading& outer, SavedView& view) {
    const Json* object = object_of(outer, "view");
    if (!object) return;
    Reading reading{*object, "", "view."};
    check_keys(reading, {"lesson", "step", "row", "presenter", "panel", "bookmarks", "breakpoints"});
    int panel = 0;
    read_text(reading, "lesson", view.lesson);
    read_count(reading, "step", view.step);
    read_count(reading, "row", view.row);
    read_flag(reading, "presenter", view.presenter);
    read_choice(reading, "panel", {"explanation", "problem", "break"}, panel);
    static constexpr const char* panels[] = {"explanation", "problem", "break"};
    if (reading.find("panel")) view.panel = panels[panel];
    read_bookmarks(reading, view.bookmarks);
    read_breakpoints(reading, view.breakpoints);
    if (!reading.error.empty()) outer.fail(reading.error);
}

std::string extras_to_json(const Problem& p) {
    std::string text;
    if (!p.tokens.empty()) {
        text += "  \"tokens\": [";
        for (std::size_t n = 0; n < p.tokens.size(); ++n) text += (n == 0 ? "" : ", ") + quoted(p.tokens[n]);
        text += "],\n";
    }
    if (p.options != Options{}) text += options_entry(p.options);
    std::string names;
    for (const Fault& fault : all_faults())
        if (p.switches.*fault.on) names += ", " + quoted(fault.name);
    if (!names.empty()) text += "  \"switches\": [" + names.substr(2) + "],\n";
    std::string formats;
    for (const StageKey& stage : stage_keys)
        if (p.precision.*stage.format != Format::fp64)
            formats += std::string(", \"") + stage.name + "\": \"" + name(p.precision.*stage.format) + "\"";
    if (!formats.empty()) text += "  \"precision\": {" + formats.substr(2) + "},\n";
    if (p.projection) {
        text += matrix_entry("x", p.projection->X) + matrix_entry("w_q", p.projection->W_Q);
        text += matrix_entry("w_k", p.projection->W_K) + matrix_entry("w_v", p.projection->W_V);
    }
    return text;
}

std::string view_to_json(const SavedView& view) {
    if (view == SavedView{}) return "";
    std::string text = "  \"view\": {\"lesson\": " + quoted(view.lesson) +
                       ", \"step\": " + std::to_string(view.step) + ", \"row\": " + std::to_string(view.row) +
                       ", \"presenter\": " + (view.presenter ? "true" : "false");
    if (!view.panel.empty()) text += ", \"panel\": " + quoted(view.panel);
    std::string marks, stops;
    for (const auto& [number, step, row] : view.bookmarks)
        marks += ", {\"number\": " + std::to_string(number) + ", \"step\": " + std::to_string(step) +
                 ", \"row\": " + std::to_string(row) + "}";
    for (const std::string& condition : view.breakpoints) stops += ", " + quoted(condition);
    if (!marks.empty()) text += ", \"bookmarks\": [" + marks.substr(2) + "]";
    if (!stops.empty()) text += ", \"breakpoints\": [" + stops.substr(2) + "]";
    return text + "},\n";
}

}  // namespace tilewalk
