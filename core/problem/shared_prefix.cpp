#include "core/problem/shared_prefix.h"

#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace tilewalk {

namespace {

constexpr int usual_sequences = 2, most_sequences = 64;

// `all` divided among so many; the share of the n-th begins at `first`.
struct Share {
    int first, count;
};
Share share_of(int all, int among, int nth) {
    const int each = all / among, larger = all % among;
    return {nth * each + std::min(nth, larger), each + (nth < larger ? 1 : 0)};
}

using Sentence = std::optional<std::string>;

Sentence check_sizes(const Options& options, int queries, int keys) {
    const int prefix = options.prefix.value_or(0), sequences = options.sequences;
    if (prefix < 0) return "The prefix has " + str(prefix) + " keys; it must have 0 or more.";
    if (prefix > keys)
        return "The prefix has " + counted(prefix, "key") + ", but K has " + str(keys) + " in all.";
    if (sequences < 0 || sequences > most_sequences)
        return "There are " + str(sequences) + " sequences; expected 1 to " + str(most_sequences) + ".";
    if (sequences > queries)
        return "There are " + str(sequences) + " sequences, but only " +
               (queries == 1 ? "1 query" : str(queries) + " queries") +
               "; each of them asks with at least one.";
    if (options.pages < 0)
        return "A page holds " + str(options.pages) + " keys; it must hold 1 or more, or 0 for no pages.";
    return {};
}

// Every page has a place of its own among as many places.
Sentence check_table(const std::vector<int>& table, int pages) {
    const int named = static_cast<int>(table.size());
    if (named != pages)
        return "The page table names " + counted(named, "place") + ", but the keys fill " +
               counted(pages, "page") + ".";
    for (int page = 0; page < pages; ++page) {
        const int place = table[static_cast<std::size_t>(page)];
        if (place < 0 || place >= pages)
            return "The page table puts page " + str(page) + " at place " + str(place) +
                   ", which is outside: the places are 0 to " + str(pages - 1) + ".";
        const auto before = std::find(table.begin(), table.begin() + page, place);
        if (before != table.begin() + page)
            return "The page table puts pages " + str(before - table.begin()) + " and " + str(page) +
                   " at the same place, " + str(place) + ".";
    }
    return {};
}

}  // namespace

SharedPrefix::SharedPrefix(const Problem& p)
    : columns_(p.d()), causal_(p.causal), edge_too_far_(p.switches.wrong_mask_edge), window_(p.window) {
    const Options& options = p.options;
    prefix = options.prefix.value_or(p.N_kv() / 2);
    const int among = options.sequences > 0 ? options.sequences : std::min(usual_sequences, p.N());
    const int most = options.pages > 0 ? options.pages : p.Bc;
    const auto cut = [&](int first, int count) {
        const Range range{static_cast<int>(blocks.size()), ceil_div(count, most)};
        for (int at = 0; at < count; at += std::min(most, count - at))
            blocks.push_back({first + at, std::min(most, count - at)});
        ranges_.push_back(range);
    };
    cut(0, prefix);
    for (int n = 0; n < among; ++n) {
        const Share queries = share_of(p.N(), among, n), keys = share_of(p.N_kv() - prefix, among, n);
        sequences.push_back({queries.first, queries.count, prefix + keys.first, keys.count});
        cut(prefix + keys.first, keys.count);
    }
    const int all = static_cast<int>(blocks.size());
    if (options.pages > 0) {
        places = options.page_table.empty() ? scattered(all) : options.page_table;
        return;
    }
    for (int n = 0; n < all; ++n) places.push_back(n);
}

int SharedPrefix::block_at(int place) const {
    return static_cast<int>(std::ranges::find(places, place) - places.begin());
}

int SharedPrefix::sequence_of_query(int row) const {
    const auto behind =
        std::ranges::find_if(sequences, [&](const Sequence& s) { return s.first_query > row; });
    return static_cast<int>(behind - sequences.begin()) - 1;
}

int SharedPrefix::sequence_of_key(int key) const {
    const auto own = std::ranges::find_if(
        sequences, [&](const Sequence& s) { return key >= s.first_key && key < s.first_key + s.keys; });
    return own == sequences.end() ? -1 : static_cast<int>(own - sequences.begin());
}

bool SharedPrefix::sees(int row, int key) const {
    return key < prefix || sequence_of_key(key) == sequence_of_query(row);
}

int SharedPrefix::position_of_query(int row) const {
    const Sequence& own = of(sequence_of_query(row));
    return prefix + own.keys - own.queries + row - own.first_query;
}

int SharedPrefix::position_of_key(int key) const {
    return key < prefix ? key : prefix + key - of(sequence_of_key(key)).first_key;
}

int SharedPrefix::distance(int row, int key) const {
    return std::abs(position_of_query(row) - position_of_key(key));
}

KeyRange SharedPrefix::positions_seen(int row) const {
    const std::int64_t own = position_of_query(row);
    constexpr std::int64_t everything = std::numeric_limits<int>::max();
    const std::int64_t first = window_ ? own - *window_ : -everything,
                       last = causal_   ? own
                              : window_ ? std::min(own + *window_, everything)
                                        : everything;
    return {static_cast<int>(std::max(first, -everything)), static_cast<int>(last)};
}

bool SharedPrefix::visible(int row, int key) const {
    const KeyRange seen = positions_seen(row);
    const int at = position_of_key(key);
    return sees(row, key) && seen.first <= at && at <= seen.last;
}

bool SharedPrefix::passes_mask(int row, int key) const {
    if (visible(row, key)) return true;
    const bool has_edge = causal_ || window_;
    return has_edge && edge_too_far_ && sees(row, key) &&
           position_of_key(key) == std::int64_t{positions_seen(row).last} + 1;
}

TileCover SharedPrefix::cover(int number, const Region& queries) const {
    const KeyBlock& keys = block(number);
    const int first = position_of_key(keys.first), last = first + keys.keys - 1;
    bool any = false, every = true;
    for (int row = queries.row; row < queries.row + queries.rows; ++row) {
        const KeyRange seen = positions_seen(row);
        any |= std::max(seen.first, first) <= std::min(seen.last, last);
        every &= seen.first <= first && last <= seen.last;
    }
    return every ? TileCover::full : any ? TileCover::partial : TileCover::none;
}

Region SharedPrefix::queries_of(int sequence) const {
    if (sequence >= 0) return {of(sequence).first_query, 0, of(sequence).queries, columns_};
    return {0, 0, sequences.back().first_query + sequences.back().queries, columns_};
}

std::vector<int> scattered(int pages) {
    std::vector<int> out;
    const int odd = pages / 2;
    for (int n = 0; n < pages; ++n) out.push_back(n % 2 == 1 ? n / 2 : odd + n / 2);
    return out;
}

// Declared in core/problem/problem.cpp.
std::optional<std::string> check_shared_prefix(const Problem& p) {
    if (auto s = check_sizes(p.options, p.N(), p.N_kv())) return s;
    if (p.options.page_table.empty()) return {};
    if (p.options.pages == 0)
        return "There is a page table, but the keys lie in no pages; say how many keys a page holds.";
    return check_table(p.options.page_table, static_cast<int>(SharedPrefix(p).blocks.size()));
}

}  // namespace tilewalk
