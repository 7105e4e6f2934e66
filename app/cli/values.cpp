#include "app/cli/values.h"

#include "app/io/suggest.h"
#include "app/io/text.h"
#include "core/base/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewalk {
namespace {

Failure wrong(const std::string& option, const std::string& text, const std::string& expected) {
    return {option + " is " + in_quotes(text) + ", expected " + expected + "."};
}

// The whole text as a number; a plus sign is not part of what from_chars takes.
template <class T> bool parse(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<std::int64_t> whole_number(const std::string& option, const std::string& text, std::int64_t low,
                                  std::int64_t high) {
    std::int64_t value = 0;
    if (parse(text, value) && value >= low && value <= high) return value;
    return wrong(option, text, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        parts.push_back(text.substr(from, comma - from));
        from = comma + 1;
    }
    return parts;
}

Result<std::vector<std::int64_t>> whole_numbers(const std::string& option, const std::string& text,
                                                std::int64_t low, std::int64_t high, std::size_t most) {
    std::vector<std::int64_t> numbers;
    for (const std::string& part : split_at_commas(text)) {
        const auto number = whole_number(option, part, low, high);
        if (!number) return Failure{number.error};
        numbers.push_back(*number);
    }
    if (numbers.size() > most)
        return Failure{option + " lists " + std::to_string(numbers.size()) + " numbers, expected at most " +
                       std::to_string(most) + "."};
    return numbers;
}

Result<std::int64_t> byte_count(const std::string& option, const std::string& text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    double number = 0;
    std::string unit = text.substr(end);
    if (unit.ends_with('B')) unit.pop_back();
    constexpr std::string_view letters = "KMGT";
    double factor = 1;
    if (!unit.empty()) {
        const std::size_t power = letters.find(unit[0]);
        const bool binary = unit.size() == 2 && unit[1] == 'i';
        factor = power == letters.npos || (unit.size() > 1 && !binary)
                     ? 0
                     : std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
    }
    const bool good = parse(std::string_view(text).substr(0, end), number) && number * factor >= 1 &&
                      number * factor < 9e15;
    if (good) return static_cast<std::int64_t>(number * factor);
    return wrong(option, text, "bytes, as in 8000000000, 500M or 8GiB");
}

Result<double> finite_number(const std::string& option, const std::string& text, const char* expected) {
    double value = 0;
    if (parse(text, value) && std::isfinite(value)) return value;
    return wrong(option, text, expected);
}

Result<Size> size_pair(const std::string& option, const std::string& text, const char* expected) {
    const std::size_t x = text.find_first_of("xX");
    Size size;
    const bool good = x != std::string::npos && parse(std::string_view(text).substr(0, x), size.width) &&
                      parse(std::string_view(text).substr(x + 1), size.height) && size.width >= 1 &&
                      size.height >= 1;
    if (good) return size;
    return wrong(option, text, expected);
}

Result<int> choice(const std::string& option, const std::string& text,
                   const std::vector<std::string>& choices) {
    const auto found = std::find(choices.begin(), choices.end(), text);
    if (found != choices.end()) return static_cast<int>(found - choices.begin());
    return Failure{option + " is " + in_quotes(text) + ", expected " + listed(choices) +
                   did_you_mean(text, choices, ".")};
}

}  // namespace tilewalk
