#include "app/io/text.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <numeric>

namespace tilewalk {
namespace {

constexpr std::size_t longest_word = 64;  // beyond this nobody misspelt one of our names

// Letters to insert, delete, replace, or swap with their neighbour (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replaced, row[j - 1] + 1, last[j] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

// Numbers and single letters are near to everything: what was meant by them nobody can tell.
bool can_be_misspelt(std::string_view word) {
    const std::size_t letters = word.find_first_not_of('-');
    if (letters == std::string_view::npos || word.size() - letters < 2) return false;
    return word.find_first_not_of("0123456789.+-eExX") != std::string_view::npos;
}

// "h200", "4090", "fp16": another one is another thing rather than a slip.
bool is_model_number(std::string_view part) {
    std::size_t digits = 0;
    for (const char c : part) digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    return digits >= 2;
}

bool keeps_model_numbers(std::string_view word, std::string_view name) {
    return std::ranges::all_of(split(name, "-"), [&](const std::string& part) {
        return !is_model_number(part) || word.find(part) != std::string_view::npos;
    });
}

struct Nearness {
    std::size_t letters = 0;                            ///< that differ, twice
    std::ptrdiff_t rank = 0;                            ///< of two that are equally near
    auto operator<=>(const Nearness&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Who stopped typing, after three letters or a part (f5-), is nearer than who typed another letter; the
// shortest name is what is nearly there. A letter is left out more often than one too many is typed.
Nearness nearness(std::string_view word, std::string_view name) {
    const auto length = static_cast<std::ptrdiff_t>(name.size());
    if (word == name) return {0, length};
    // "h20" is no beginning of "h200": there is a card of that name.
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool begins = name.starts_with(word) && !(is_model_number(word) && is_digit(name[word.size()]));
    if (begins && (word.size() >= 3 || name[word.size()] == '-')) return {1, length};
    if (!keeps_model_numbers(word, name)) return {~std::size_t{0}, 0};
    return {2 * distance(word, name), -length};
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
    if (!can_be_misspelt(word) || word.size() > longest_word) return {};
    const std::string typed = lower(word);
    std::string best;
    Nearness least{2 * std::max<std::size_t>(1, word.size() / 3) + 1};
    for (const std::string& name : names) {
        if (!can_be_misspelt(name)) continue;
        const Nearness now = nearness(typed, lower(name));
        if (now < least) least = now, best = name;
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names,
                         const std::string& otherwise) {
    const std::string name = nearest(word, names);
    return name.empty() ? otherwise : "; did you mean " + name + "?";
}

}  // namespace tilewalk
