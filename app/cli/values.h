// Values of options: from what was typed to numbers and choices, or a sentence that names the option.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

/// A whole number in low … high.
Result<std::int64_t> whole_number(const std::string& option, const std::string& text, std::int64_t low,
                                  std::int64_t high);
/// "512,1024" as numbers, each in low … high, at most `most` of them.
Result<std::vector<std::int64_t>> whole_numbers(const std::string& option, const std::string& text,
                                                std::int64_t low, std::int64_t high, std::size_t most);
/// Bytes: "8000000000", "500M", "8GiB"; K, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024.
Result<std::int64_t> byte_count(const std::string& option, const std::string& text);
/// A finite number.
Result<double> finite_number(const std::string& option, const std::string& text, const char* expected);
/// "1600x900": two whole numbers, each from 1 to 10⁹.
struct Size {
    int width = 0, height = 0;
};
Result<Size> size_pair(const std::string& option, const std::string& text, const char* expected);
/// "11-20" or "1,5,11-20" as steps from 0, of a walk of so many; all of them without a word. Beyond `most` of
/// them nothing more is read.
Result<std::vector<int>> step_list(const std::string& option, const std::optional<std::string>& text,
                                   int count, int most);
/// The index of `text` in `choices`.
Result<int> choice(const std::string& option, const std::string& text,
                   const std::vector<std::string>& choices);

/// Takes what words say into their targets, which stay as they are without a word. The first mistake stays,
/// and nothing is read after it.
struct WordReader {
    using Word = std::optional<std::string>;
    std::string error{};

    template <class T, class Read> void take(const Word& word, T& target, const Read& read) {
        if (!word || !error.empty()) return;
        const auto value = read(*word);
        if (value)
            target = static_cast<T>(*value);
        else
            error = value.error;
    }
    /// A whole number in low … high.
    template <class T>
    void count(const char* option, const Word& word, std::int64_t low, std::int64_t high, T& target) {
        take(word, target, [&](const std::string& text) { return whole_number(option, text, low, high); });
    }
    /// One of the choices, by its place.
    template <class T>
    void choose(const char* option, const Word& word, const std::vector<std::string>& choices, T& target) {
        take(word, target, [&](const std::string& text) { return choice(option, text, choices); });
    }
    /// A mistake of another kind.
    void refuse(bool wrong, const std::string& sentence) {
        if (wrong && error.empty()) error = sentence;
    }
};

}  // namespace tilewalk
