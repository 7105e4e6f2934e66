// Reading a JSON object key by key: the first error stays, and the sentence says which key it is about.
#pragma once

#include "app/io/json_text.h"
#include "app/io/text.h"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewalk {

/// For sentences: what stands where something else was expected.
std::string described(const nlohmann::json& value);

/// An object under reading. The first error stays; after it the functions below do nothing.
struct Reading {
    const nlohmann::json& object;
    std::string error{};
    std::string path{};  ///< before the keys of an object within an object: "options."

    void fail(std::string sentence);
    void expected(const std::string& where, const nlohmann::json& value, const char* what);
    /// The value of a key, or nothing when it is absent or an error is already known.
    const nlohmann::json* find(const char* key) const;
    /// The same; fails if it is not of this kind, which `what` names.
    const nlohmann::json* find(const char* key, bool (nlohmann::json::*is_kind)() const, const char* what);
};

/// What a key holds, into the target; an absent key leaves the target as it is.
void read(Reading& reading, const char* key, std::string& text);
void read(Reading& reading, const char* key, bool& flag);
/// Whole numbers may be written as 2 or as 2.0; their meaning is checked with the whole problem.
void read(Reading& reading, const char* key, int& count);
/// null leaves it empty.
void read(Reading& reading, const char* key, std::optional<int>& count);
/// Whole and not negative, as bytes are; null leaves the target as it is.
void read(Reading& reading, const char* key, std::int64_t& count);
void read(Reading& reading, const char* key, double& number);
void read(Reading& reading, const char* key, std::vector<int>& counts);
void read(Reading& reading, const char* key, Matrix& matrix);
void require_matrix(Reading& reading, const char* key, Matrix& matrix);

/// One of several words; `index` is its place.
using Words = std::vector<const char*>;
void read_word(Reading& reading, const char* key, const Words& words, int& index);
template <class Choice> void read(Reading& reading, const char* key, Choice& choice, const Words& words) {
    int index = static_cast<int>(choice);
    read_word(reading, key, words, index);
    choice = static_cast<Choice>(index);
}

/// The items of an array in turn, each with its place: "tokens[2]". `what`: what the array holds.
void read_list(Reading& reading, const char* key, const char* what,
               const std::function<void(const nlohmann::json& item, const std::string& where)>& each);
/// An object under a key, or each of an array of objects; what goes wrong in it goes on to the outer one.
using ReadObject = std::function<void(Reading&)>;
void read_object(Reading& outer, const char* key, const ReadObject& read_inner);
void read_objects(Reading& outer, const char* key, const char* what, const ReadObject& read_inner);

/// Fails for a missing key; `what` was expected under it.
void require(Reading& reading, const char* key, const char* what);
/// Fails for a key that is none of these; remarks ("x-…", "comment…") may stand anywhere. "x" is no remark.
void check_keys(Reading& reading, const std::vector<std::string>& known);

/// What an object of a file holds, for writing and for reading it: every key, and the field behind it.
template <class Part> struct Field {
    const char* key;
    std::variant<std::string Part::*, int Part::*, std::int64_t Part::*> place;
};
template <class Part> using Fields = std::vector<Field<Part>>;

/// Fails for a key that is none of the fields'.
template <class Part> void read_fields(Reading& reading, const Fields<Part>& fields, Part& part) {
    check_keys(reading, names_of(fields, &Field<Part>::key));
    for (const auto& [key, place] : fields)
        std::visit([&, key = key](auto at) { read(reading, key, part.*at); }, place);
}
template <class Json, class Part> Json json_of_fields(const Fields<Part>& fields, const Part& part) {
    Json json = Json::object();
    for (const auto& [key, place] : fields)
        std::visit([&, key = key](auto at) { json[key] = part.*at; }, place);
    return json;
}

/// The tree of a file that is an object and names this schema.
Result<nlohmann::json> parse_document(std::string_view text, const char* schema);

}  // namespace tilewalk
