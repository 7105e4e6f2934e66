// Small pieces of text that the readers and writers of files share.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace tilewalk {

/// The number in the fewest characters that read back as the same double: "0.1", "-0.0", "1e+300"; not
/// finite: "nan", "inf", "-inf".
std::string shortest(double value);

/// Foreign text inside a sentence: in quotes, at most 24 characters, control characters and broken UTF-8 as
/// '?'.
std::string in_quotes(std::string_view text);

/// The text with `stand_in` for every character that would act on the place where it is shown rather than be
/// seen there: control characters, line breaks among them, and marks that change the direction of writing.
std::string without_controls(std::string_view text, char stand_in = ' ');

/// Every byte belongs to a character of UTF-8.
bool is_utf8(std::string_view text);

/// At most about 200 bytes of a path: of a longer one the beginning and the end, with … between them.
std::string short_path(const std::string& path);

/// "1 row", "2 rows".
std::string counted(long long n, const char* noun);

/// The sentence of a failure: "data/q.csv: line 3 has 5 values, line 1 has 4." A long path is shortened.
Failure failure_at(const std::string& where, const std::string& what);

}  // namespace tilewalk
