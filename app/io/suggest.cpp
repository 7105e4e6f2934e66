#include "app/io/text.h"

#include <algorithm>
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

// Numbers and single letters are near to everything: what was meant by them nobody can tell.
bool can_be_misspelt(std::string_view word) {
    const std::size_t letters = word.find_first_not_of('-');
    if (letters == std::string_view::npos || word.size() - letters < 2) return false;
    return word.find_first_not_of("0123456789.+-eExX") != std::string_view::npos;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
    if (!can_be_misspelt(word) || word.size() > longest_word) return {};
    std::string best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& name : names) {
        if (!can_be_misspelt(name)) continue;
        const bool begins = word.size() >= 3 && name.starts_with(word);
        const std::size_t d = begins ? 1 : distance(word, name);
        if (d < least) {
            least = d;
            best = name;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names,
                         const std::string& otherwise) {
    const std::string name = nearest(word, names);
    return name.empty() ? otherwise : "; did you mean " + name + "?";
}

}  // namespace tilewalk
