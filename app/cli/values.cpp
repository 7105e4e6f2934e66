#include "app/cli/values.h"

#include "app/io/text.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {
namespace {

Failure wrong(const std::string& option, const std::string& text, const std::string& expected) {
    return {option + " is " + in_quotes(text) + ", expected " + expected + "."};
}

}  // namespace

Result<std::int64_t> whole_number(const std::string& option, const std::string& text, std::int64_t low,
                                  std::int64_t high) {
    const auto value = number_in<std::int64_t>(text);
    if (value && *value >= low && *value <= high) return *value;
    return wrong(option, text, "a whole number from " + str(low) + " to " + str(high));
}

Result<std::vector<std::int64_t>> whole_numbers(const std::string& option, const std::string& text,
                                                std::int64_t low, std::int64_t high, std::size_t most) {
    std::vector<std::int64_t> numbers;
    const std::vector<std::string> parts = split(text, ",");
    if (std::ranges::count(parts, "") > 0) return wrong(option, text, "numbers with a comma between them");
    for (const std::string& part : parts) {
        const auto number = whole_number(option, part, low, high);
        if (!number) return Failure{number.error};
        numbers.push_back(*number);
    }
    if (numbers.size() > most)
        return Failure{option + " lists " + str(numbers.size()) + " numbers, expected at most " + str(most) +
                       "."};
    return numbers;
}

Result<std::int64_t> byte_count(const std::string& option, const std::string& text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    const double number = number_in<double>(text.substr(0, end)).value_or(0);
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
    if (number * factor >= 1 && number * factor < 9e15) return static_cast<std::int64_t>(number * factor);
    return wrong(option, text, "bytes, as in 8000000000, 500M or 8GiB");
}

Result<double> finite_number(const std::string& option, const std::string& text, const char* expected) {
    const auto value = number_in<double>(text);
    if (value && std::isfinite(*value)) return *value;
    return wrong(option, text, expected);
}

Result<Size> size_pair(const std::string& option, const std::string& text, const char* expected) {
    const std::size_t x = std::min(text.find_first_of("xX"), text.size() - 1);
    const auto width = number_in<int>(text.substr(0, x)), height = number_in<int>(text.substr(x + 1));
    if (width && height && *width >= 1 && *height >= 1) return Size{*width, *height};
    return wrong(option, text, expected);
}

Result<std::vector<int>> step_list(const std::string& option, const std::optional<std::string>& text,
                                   int count, int most) {
    std::vector<int> steps;
    for (const std::string& part : split(text.value_or("1-" + str(count)), ",")) {
        const std::size_t dash = part.find('-');
        const auto first = number_in<int>(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : number_in<int>(part.substr(dash + 1));
        if (!first || !last || *first < 1 || *last < *first || *last > count)
            return Failure{option + " is " + in_quotes(*text) + ", expected steps from 1 to " + str(count) +
                           ", as in 11-20 or 1,5,11-20."};
        for (int k = *first; k <= *last; ++k) steps.push_back(k - 1);
        if (steps.size() > static_cast<std::size_t>(most)) break;
    }
    return steps;
}

Result<int> choice(const std::string& option, const std::string& text,
                   const std::vector<std::string>& choices) {
    const auto found = std::ranges::find(choices, text);
    if (found != choices.end()) return static_cast<int>(found - choices.begin());
    return Failure{option + " is " + in_quotes(text) + ", expected " + listed(choices) +
                   did_you_mean(text, choices, ".")};
}

}  // namespace tilewalk
