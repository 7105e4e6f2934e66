#include "app/io/json_reading.h"

#include "app/io/matrix_file.h"
#include "app/io/text.h"
#include "core/base/words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tilewalk {

using Json = nlohmann::json;

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

void Reading::fail(std::string sentence) {
    if (error.empty()) error = std::move(sentence);
}

void Reading::expected(const std::string& where, const Json& value, const char* what) {
    fail(path + where + " is " + described(value) + ", expected " + what);
}

const Json* Reading::find(const char* key) const {
    const auto found = object.find(key);
    return error.empty() && found != object.end() ? &*found : nullptr;
}

const Json* Reading::find(const char* key, bool (Json::*is_kind)() const, const char* what) {
    const Json* value = find(key);
    if (!value || (value->*is_kind)()) return value;
    expected(key, *value, what);
    return nullptr;
}

void read(Reading& reading, const char* key, std::string& text) {
    // Shown in one line, in windows and terminals.
    if (const Json* value = reading.find(key, &Json::is_string, "a string"))
        text = without_controls(value->get_ref<const std::string&>());
}

void read(Reading& reading, const char* key, bool& flag) {
    if (const Json* value = reading.find(key, &Json::is_boolean, "true or false")) value->get_to(flag);
}

void read(Reading& reading, const char* key, int& count) {
    const Json* value = reading.find(key);
    if (!value) return;
    const double number = value->is_number() ? value->get<double>() : 0.5;
    if (std::abs(number) > 1e9 || number != std::trunc(number))
        return reading.expected(key, *value, "a whole number up to 1000000000");
    count = static_cast<int>(number);
}

void read(Reading& reading, const char* key, std::optional<int>& count) {
    const Json* value = reading.find(key);
    if (!value || value->is_null()) return;
    if (!value->is_number()) return reading.expected(key, *value, "null or a whole number");
    int number = 0;
    read(reading, key, number);
    count = number;
}

void read(Reading& reading, const char* key, std::int64_t& count) {
    const Json* value = reading.find(key);
    if (!value || value->is_null()) return;
    double number = static_cast<double>(count);
    read(reading, key, number);
    if (number < 0 || number > 9e15 || number != std::trunc(number))
        return reading.fail(reading.path + key + " is " + exact_text(number) + ", expected a whole number");
    count = static_cast<std::int64_t>(number);
}

void read(Reading& reading, const char* key, double& number) {
    if (const Json* value = reading.find(key, &Json::is_number, "a number")) value->get_to(number);
}

void read_word(Reading& reading, const char* key, const Words& words, int& index) {
    const Json* value = reading.find(key);
    if (!value) return;
    const auto found = std::ranges::find_if(words, [&](const char* word) { return *value == word; });
    if (found == words.end()) {
        const auto quoted = names_of(words, [](const char* word) { return json_string(word); });
        return reading.expected(key, *value, listed(quoted).c_str());
    }
    index = static_cast<int>(found - words.begin());
}

namespace {

void read_row(Reading& reading, const std::string& path, const Json& row, Matrix& matrix, Eigen::Index r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
        const Json& value = row[static_cast<std::size_t>(c)];
        if (!value.is_number()) return reading.expected(path + "[" + str(c) + "]", value, "a number");
        matrix(r, c) = value.get<double>();
    }
}

void read_inside(Reading& outer, const Json& value, const std::string& where, const ReadObject& read_inner) {
    if (!value.is_object()) return outer.expected(where, value, "an object");
    Reading inner{value, "", outer.path + where + "."};
    read_inner(inner);
    if (!inner.error.empty()) outer.fail(inner.error);
}

}  // namespace

void read(Reading& reading, const char* key, Matrix& matrix) {
    const Json* rows = reading.find(key, &Json::is_array, "an array of rows");
    if (!rows) return;
    const std::size_t cols = rows->empty() || !rows->front().is_array() ? 0 : rows->front().size();
    for (std::size_t r = 0; r < rows->size(); ++r) {
        const Json& row = (*rows)[r];
        const std::string path = std::string(key) + "[" + str(r) + "]";
        if (!row.is_array()) return reading.expected(path, row, "an array of numbers");
        if (row.size() != cols)
            return reading.fail(path + " has " + counted(row.size(), "number") + ", " + key + "[0] has " +
                                str(cols));
    }
    const auto refused =
        check_matrix_size(static_cast<long long>(rows->size()), static_cast<long long>(cols));
    if (refused) return reading.fail(std::string(key) + ": " + *refused);

    matrix.resize(static_cast<Eigen::Index>(rows->size()), static_cast<Eigen::Index>(cols));
    for (std::size_t r = 0; r < rows->size(); ++r)
        read_row(reading, std::string(key) + "[" + str(r) + "]", (*rows)[r], matrix,
                 static_cast<Eigen::Index>(r));
}

void require_matrix(Reading& reading, const char* key, Matrix& matrix) {
    require(reading, key, "an array of rows");
    read(reading, key, matrix);
}

void read(Reading& reading, const char* key, std::vector<int>& counts) {
    std::vector<int> out;
    read_list(reading, key, "an array of whole numbers", [&](const Json& item, const std::string& where) {
        if (!item.is_number_integer() || std::abs(item.get<double>()) > 1e9)
            return reading.expected(where, item, "a whole number up to 1000000000");
        out.push_back(item.get<int>());
    });
    if (reading.find(key)) counts = std::move(out);
}

void read_list(Reading& reading, const char* key, const char* what,
               const std::function<void(const Json& item, const std::string& where)>& each) {
    const Json* list = reading.find(key, &Json::is_array, what);
    for (std::size_t n = 0; list && n < list->size() && reading.error.empty(); ++n)
        each((*list)[n], std::string(key) + "[" + str(n) + "]");
}

void read_object(Reading& outer, const char* key, const ReadObject& read_inner) {
    if (const Json* value = outer.find(key)) read_inside(outer, *value, key, read_inner);
}

void read_objects(Reading& outer, const char* key, const char* what, const ReadObject& read_inner) {
    read_list(outer, key, what, [&](const Json& item, const std::string& where) {
        read_inside(outer, item, where, read_inner);
    });
}

void require(Reading& reading, const char* key, const char* what) {
    if (!reading.object.contains(key))
        reading.fail(std::string("the key \"") + key + "\" is missing, expected " + what);
}

void check_keys(Reading& reading, const std::vector<std::string>& known) {
    for (const auto& [key, value] : reading.object.items()) {
        const bool remark = key.starts_with("x-") || key.starts_with("comment");
        if (!remark && std::ranges::find(known, key) == known.end())
            return reading.fail("the key " + in_quotes(reading.path + key) + " is unknown");
    }
}

Result<Json> parse_document(std::string_view text, const char* schema) {
    auto json = parse_json(text);
    if (!json) return json;
    if (!json->is_object()) return Failure{"it is " + described(*json) + ", expected an object"};
    Reading reading{*json};
    std::string named;
    read(reading, "schema", named);
    if (named == schema) return json;
    return Failure{"the schema is " + in_quotes(named) + ", expected \"" + schema + "\""};
}

}  // namespace tilewalk
