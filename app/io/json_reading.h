// Reading a JSON object key by key: the first error stays, and the sentence says which key it is about.
#pragma once

#include "app/io/json_text.h"
#include "core/base/matrix.h"

#include <string>

namespace tilewalk {

/// For sentences: what stands where something else was expected.
std::string described(const nlohmann::json& value);

/// An object under reading. The first error stays; after it the read_ functions do nothing.
struct Reading {
    const nlohmann::json& object;
    std::string error = "";
    std::string path = "";  ///< before the keys of an object within an object: "options."

    void fail(std::string sentence);
    void expected(const std::string& where, const nlohmann::json& value, const char* what);
    /// The value of a key, or nothing when it is absent or an error is already known.
    const nlohmann::json* find(const char* key) const;
};

void read_text(Reading& reading, const char* key, std::string& text);
void read_flag(Reading& reading, const char* key, bool& flag);
/// Whole numbers may be written as 2 or as 2.0; their meaning is checked with the whole problem.
void read_count(Reading& reading, const char* key, int& count);
void read_number(Reading& reading, const char* key, double& number);
/// One of several words; `index` is its place.
void read_choice(Reading& reading, const char* key, std::initializer_list<const char*> words, int& index);
void read_matrix(Reading& reading, const char* key, Matrix& matrix);
void require_matrix(Reading& reading, const char* key, Matrix& matrix);

/// Fails for a key that is none of these; remarks ("x-…", "comment…") may stand anywhere. "x" is no remark.
void check_keys(Reading& reading, std::initializer_list<const char*> known);

}  // namespace tilewalk
