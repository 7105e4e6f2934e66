// Small pieces of text that the readers and writers of files share.
#pragma once

#include "core/base/result.h"
#include "core/base/words.h"

#include <functional>

namespace tilewalk {

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

/// Without spaces and tabs around it, and without the CR of a line's end.
std::string_view trimmed(std::string_view text);
/// Without the byte order mark that some editors begin a file with.
std::string_view without_bom(std::string_view text);
/// The parts of "a,b,c"; of an empty text one that is empty.
std::vector<std::string> split(std::string_view text, std::string_view between);
/// The name of each item: names_of(examples(), &Problem::name).
template <class Items, class Name> std::vector<std::string> names_of(const Items& items, Name name) {
    std::vector<std::string> names;
    for (const auto& item : items) names.emplace_back(std::invoke(name, item));
    return names;
}
/// Characters of UTF-8.
int letters_in(std::string_view text);

/// The name that begins with `word`, or that differs from it in the fewest letters, large or small; empty if
/// none is near. Another model number, b200 for h200, is no slip.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

/// "; did you mean x?", or `otherwise` when no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names,
                         const std::string& otherwise);

/// The sentence of a failure: "data/q.csv: line 3 has 5 values, line 1 has 4." A long path is shortened.
Failure failure_at(const std::string& where, const std::string& what);

}  // namespace tilewalk
