#include "app/io/json_text.h"

#include "app/io/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace tilewalk {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// A tree takes more memory than its text: these limits keep hostile files from taking all of it. The values
// are those of four matrices of the largest size, and a few more.
constexpr std::size_t max_values = 4 * 4096 * 1024 + 10'000;
constexpr std::size_t max_depth = 32;
constexpr std::size_t max_keys = 100;

/// Line and column, from 1, of the character before `position`, where the parser gave up.
std::string place(std::string_view text, std::size_t position) {
    text = text.substr(0, std::min(position == 0 ? 0 : position - 1, text.size()));
    const auto line = 1 + std::count(text.begin(), text.end(), '\n');
    text.remove_prefix(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
    return "line " + str(line) + ", column " + str(1 + letters_in(text));
}

/// What the parser complains of, in our words; the first that fits.
constexpr struct {
    std::string_view said, means;
} complaints[] = {
    {"unexpected end of input", "the file ends here, but something in it is still open"},
    {"number overflow", "this number is too large"},
    {"ill-formed UTF-8", "these bytes are no text in UTF-8"},
    {"control character", "a text in quotes must not hold a line break, a tab or the like; write \\n or \\t"},
    {"missing closing quote", "a text in quotes does not end"},
    {"surrogate", "\\u names half of a surrogate pair"},
    {"parsing object key", "a key in quotes is expected here"},
    {"invalid string", "this text in quotes is not written as JSON has it"},
    {"invalid number", "this number is not written as JSON has it"},
    {"invalid literal", "this is no number, no text in quotes, and none of true, false and null"},
};

/// A file of another kind is told from one with a mistake in it.
std::string parser_reason(std::string_view text, std::size_t position, std::string_view said) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = text[first] == '{' || text[first] == '[';
    if (!json) return place(text, first + 1) + ": this is not JSON, expected a file that begins with {";
    const std::string at = place(text, position) + ": ";
    for (const auto& [word, means] : complaints)
        if (said.find(word) != std::string_view::npos) return at + std::string(means);
    return at + in_quotes(std::string(text.substr(std::min(position, text.size()) - 1, 1))) +
           " is not expected here";
}

/// Follows the parser without building anything: what it learns decides whether and how the tree is built.
struct Scan {
    std::string_view text;
    std::string error;
    std::string schema;                       ///< value of the outermost "schema"
    std::vector<std::set<std::string>> open;  ///< keys so far of every container around; none in arrays
    std::string last_key, outer_key;          ///< the latest key, and the latest of the outermost object
    std::size_t values = 0, bulk_values = 0;  ///< bulk: within the outermost "steps" and "result"

    bool count() {
        ++(outer_key == "steps" || outer_key == "result" ? bulk_values : values);
        return true;
    }
    bool fail(std::string sentence) {
        error = std::move(sentence);
        return false;
    }
    bool enter() {
        count();
        open.emplace_back();
        return open.size() <= max_depth || fail("the nesting is deeper than " + str(max_depth) + " levels");
    }
    bool leave() {
        open.pop_back();
        return true;
    }

    bool null() { return count(); }
    bool boolean(bool) { return count(); }
    bool number_integer(std::int64_t) { return count(); }
    bool number_unsigned(std::uint64_t) { return count(); }
    bool number_float(double, const std::string&) { return count(); }
    bool binary(Json::binary_t&) { return count(); }
    bool string(std::string& value) {
        if (open.size() == 1 && last_key == "schema") schema = value;
        return count();
    }
    bool start_object(std::size_t) { return enter(); }
    bool end_object() { return leave(); }
    bool start_array(std::size_t) { return enter(); }
    bool end_array() { return leave(); }
    bool key(std::string& name) {
        if (!open.back().insert(name).second) return fail("the key " + in_quotes(name) + " is there twice");
        if (open.back().size() > max_keys) return fail("an object has more than " + str(max_keys) + " keys");
        last_key = name;
        if (open.size() == 1) outer_key = name;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const Json::exception& problem) {
        return fail(parser_reason(text, position, problem.what()));
    }
};

Json build(std::string_view text, bool is_trace) {
    const auto keep = [is_trace](int depth, Json::parse_event_t event, Json& parsed) {
        return !is_trace || depth != 1 || event != Json::parse_event_t::key ||
               (parsed != "steps" && parsed != "result");
    };
    return Json::parse(text, keep);
}

std::string rows_in_lines(const OrderedJson& matrix) {
    std::string text;
    for (const OrderedJson& row : matrix) text += (text.empty() ? "\n    " : ",\n    ") + json_line(row);
    return "[" + text + "\n  ]";
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == text.npos) return Failure{"there is nothing in it"};
    try {
        Scan scan;
        scan.text = text;
        if (!Json::sax_parse(text, &scan)) return Failure{scan.error};
        const bool is_trace = scan.schema == "tilewalk-trace-1";
        if (scan.values + (is_trace ? 0 : scan.bulk_values) > max_values)
            return Failure{"the text has more than " + str(max_values) + " values"};
        return build(text, is_trace);
    } catch (const std::exception& problem) {
        return Failure{std::string("the JSON could not be read: ") + problem.what()};
    }
}

std::string json_string(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

OrderedJson json_of(double number) {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    return number;
}

OrderedJson& list_in(OrderedJson& object, const char* key) {
    OrderedJson& list = object[key];
    if (list.is_null()) list = OrderedJson::array();
    return list;
}

OrderedJson& object_in(OrderedJson& object, const char* key) {
    OrderedJson& inner = object[key];
    if (inner.is_null()) inner = OrderedJson::object();
    return inner;
}

OrderedJson json_of(const Matrix& matrix) {
    OrderedJson rows = OrderedJson::array();
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
        OrderedJson& row = rows.emplace_back(OrderedJson::array());
        for (Eigen::Index c = 0; c < matrix.cols(); ++c) row.push_back(json_of(matrix(r, c)));
    }
    return rows;
}

std::string json_line(const OrderedJson& tree, const JsonStyle& style) {
    if (tree.is_number_float()) return style.number(tree.get<double>());
    if (!tree.is_structured()) return tree.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    std::string text;
    for (auto item = tree.begin(); item != tree.end(); ++item) {
        if (item != tree.begin()) text += style.comma;
        if (tree.is_object()) text += json_string(item.key()) + style.colon;
        text += json_line(*item, style);
    }
    return tree.is_object() ? "{" + text + "}" : "[" + text + "]";
}

std::string json_lines(const OrderedJson& object) {
    std::string text;
    for (const auto& [key, value] : object.items()) {
        const bool matrix = value.is_array() && !value.empty() && value.front().is_array();
        text += (text.empty() ? "{\n  " : ",\n  ") + json_string(key) + ": " +
                (matrix ? rows_in_lines(value) : json_line(value));
    }
    return text + "\n}\n";
}

}  // namespace tilewalk
