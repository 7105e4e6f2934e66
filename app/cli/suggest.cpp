#include "app/cli/suggest.h"

#include <algorithm>
#include <numeric>

namespace tilewalk {
namespace {

constexpr std::size_t longest_word = 64;  // beyond this nobody misspelt one of our names

// Letters to insert, delete or replace (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
    if (word.empty() || word.size() > longest_word) return {};
    std::string best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& name : names) {
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
