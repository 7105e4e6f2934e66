#include "core/inside/calls.h"

#include "core/base/words.h"
#include "core/inside/call_sites.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace tilewalk::inside {

namespace {

std::string short_file(const std::string& file) { return file.substr(file.find_last_of('/') + 1); }

/// From the kernel down to the function that a step stands in.
using Way = std::vector<const CallSite*>;

/// "K" is named by K and by Kj, "P" by Pt.
bool names(const CallSite& site, std::string_view symbol) {
    const auto is_it = [&](const std::string& word) {
        if (word == symbol) return true;
        return word.size() == symbol.size() + 1 && word.starts_with(symbol) &&
               std::string_view("ijt").find(word.back()) != std::string_view::npos;
    };
    return !symbol.empty() && std::ranges::any_of(site.names, is_it);
}

/// What RECORD says in the text is run.
bool is_twin(const Record& record) {
    return std::ranges::any_of(record.regions, [](const Region& r) { return r.name.starts_with("twin "); });
}

using Cost = std::int64_t;

using Cost = std::int64_t;
constexpr int deepest = 8;  ///< calls in calls

// What speaks against a way. To go back costs less the deeper it is: a helper's loop runs more often than the
// kernel's. Of those that go back as often the one whose calls last longer, and then the one whose lines lie
// nearer to each other.
constexpr Cost leaves = 100, goes_back = 10'000, at_kernel = 6'561, other_matrix = 3 * goes_back,
               unnamed = 3 * goes_back * at_kernel, other_kernel = 1000 * unnamed;
constexpr Cost back_at(std::size_t depth) {
    Cost cost = goes_back * at_kernel;  // 3⁸
    for (std::size_t n = 0; n < depth && n < deepest; ++n) cost /= 3;
    return cost;
}

/// The ways to each place of the record, and what it costs to go on from one to the other.
class Text {
public:
    Text(const Record& record, const std::vector<const SourceText*>& sources)
        : sites(sources, is_twin(record)) {
        for (const Place& place : record.places) places.push_back(at(place));
    }
    const std::vector<Way>& ways(std::uint32_t place) const { return places[place].ways; }
    std::vector<Call> calls(std::uint32_t place, const std::vector<int>& among) const;

    Cost cost(std::uint32_t from_place, const Way& from, std::uint32_t to_place, const Way& to) const {
        const auto root = [&](std::uint32_t place, const Way& way) {
            return way.empty() ? places[place].function : way.front()->caller;
        };
        if (root(from_place, from) != root(to_place, to)) return other_kernel;
        std::size_t n = 0;
        while (n < from.size() && n < to.size() && from[n] == to[n]) ++n;
        const int before = n < from.size() ? from[n]->statement : places[from_place].statement,
                  behind = n < to.size() ? to[n]->statement : places[to_place].statement;
        if (before == behind) {
            // Without a loop the same line can only be there again in another call.
            const bool again = n == from.size() && n == to.size() && !places[to_place].function->loops;
            return again && n > 0 ? back_at(n - 1) : 0;
        }
        const int levels = deepest - std::min(deepest - 1, static_cast<int>(n));
        return (behind < before ? back_at(n) : 0) + leaves * levels + std::min(std::abs(behind - before), 90);
    }

private:
    struct At {
        const Function* function = nullptr;
        int statement = 0;
        std::vector<Way> ways;
    };
    At at(const Place& place) const;
    void add_ways(std::vector<Way>& out, const Function& function, Way below) const;

    CallSites sites;
    std::vector<At> places;
};

Text::At Text::at(const Place& place) const {
    At out;
    const auto& all = sites.sources();
    const auto source = std::ranges::find(all, place.file, [](const SourceText* s) { return s->file; });
    if (source == all.end()) return out;
    out.function = sites.function_at(**source, place.line);
    out.statement = CallSites::statement_of(**source, place.line);
    if (out.function) add_ways(out.ways, *out.function, {});
    return out;
}

void Text::add_ways(std::vector<Way>& out, const Function& function, Way below) const {
    constexpr std::size_t most = 64;
    if (below.size() > deepest || out.size() >= most) return;
    if (function.kernel) return out.push_back(std::move(below));
    for (const CallSite* site : sites.of(function)) {
        Way way{site};
        way.insert(way.end(), below.begin(), below.end());
        add_ways(out, *site->caller, std::move(way));
    }
}

// From the step up: as long as all of the ways stand in one function, the lines that they have there.
std::vector<Call> Text::calls(std::uint32_t place, const std::vector<int>& among) const {
    std::vector<Call> out;
    for (std::size_t up = 1; !among.empty(); ++up) {
        const Function* caller = nullptr;
        std::set<int> lines;
        for (const int n : among) {
            const Way& way = places[place].ways[static_cast<std::size_t>(n)];
            if (way.size() < up) return out;
            const CallSite* const site = way[way.size() - up];
            if (caller && caller != site->caller) return out;
            caller = site->caller;
            lines.insert(site->line);
        }
        out.push_back({caller->source->file, caller->name, {lines.begin(), lines.end()}});
    }
    return out;
}

/// Steps at one place that are about one matrix, and what speaks against each of their ways.
struct Kind {
    std::uint32_t place;
    Matter matter;
    const std::vector<Way>* ways;
    std::vector<Cost> own;
};

Cost own_cost(const std::vector<Way>& ways, std::size_t way, Matter matter) {
    // A call that is on all ways says nothing.
    const auto names_it = [&](const Way& w) {
        return std::ranges::any_of(w, [&](const CallSite* site) {
            return names(*site, symbol_of(matter)) && !std::ranges::all_of(ways, [&](const Way& other) {
                       return std::ranges::count(other, site) > 0;
                   });
        });
    };
    if (ways.size() < 2 || names_it(ways[way])) return 0;
    return std::ranges::any_of(ways, names_it) ? unnamed : 0;
}

/// The kinds of steps that there are, and what it costs to go on from one to the other: of so many steps few
/// differ.
class Kinds {
public:
    explicit Kinds(const Text& of) : text(of) {}
    std::uint32_t number(std::uint32_t place, Matter matter) {
        const auto [at, is_new] =
            numbers.try_emplace({place, matter}, static_cast<std::uint32_t>(all.size()));
        if (is_new) {
            const std::vector<Way>& ways = text.ways(place);
            Kind& kind = all.emplace_back(Kind{place, matter, &ways, {}});
            for (std::size_t way = 0; way < ways.size(); ++way)
                kind.own.push_back(own_cost(ways, way, matter));
        }
        return at->second;
    }
    const Kind& operator[](std::uint32_t n) const { return all[n]; }
    /// Of each way of the first to each of the second.
    const std::vector<Cost>& between(std::uint32_t first, std::uint32_t second);

private:
    const Text& text;
    std::deque<Kind> all;
    std::map<std::pair<std::uint32_t, Matter>, std::uint32_t> numbers;
    std::unordered_map<std::uint64_t, std::vector<Cost>> costs;
};

// One call deals with one matrix: where a line goes on with another one, it was rather called again.
const std::vector<Cost>& Kinds::between(std::uint32_t first, std::uint32_t second) {
    const auto [at, is_new] = costs.try_emplace(std::uint64_t(first) << 32 | second);
    if (!is_new) return at->second;
    const Kind &a = all[first], &b = all[second];
    for (std::size_t from = 0; from < a.ways->size(); ++from)
        for (std::size_t to = 0; to < b.ways->size(); ++to) {
            const bool turned = a.place == b.place && from == to && a.matter != b.matter;
            at->second.push_back((turned ? other_matrix : 0) +
                                 text.cost(a.place, (*a.ways)[from], b.place, (*b.ways)[to]));
        }
    return at->second;
}

/// Of each of these steps, whose kinds are given, the ways that no other one is better than: f(n, ways).
template <class F> void best_ways(Kinds& kinds, const std::vector<std::uint32_t>& steps, F&& f) {
    constexpr Cost most = std::numeric_limits<Cost>::max() / 2;
    std::vector<std::size_t> begin{0};
    for (const std::uint32_t step : steps) begin.push_back(begin.back() + kinds[step].ways->size());
    const auto count = [&](std::size_t n) { return begin[n + 1] - begin[n]; };
    // Of each way the least up to here, with its own, and from here on, without
    std::vector<Cost> until(begin.back(), most), from(begin.back(), most);
    for (std::size_t n = 0; n < steps.size(); ++n)
        for (std::size_t way = 0; way < count(n); ++way) {
            Cost& least = until[begin[n] + way];
            if (n == 0) least = 0;
            for (std::size_t b = 0; n > 0 && b < count(n - 1); ++b)
                least = std::min(least, until[begin[n - 1] + b] +
                                            kinds.between(steps[n - 1], steps[n])[b * count(n) + way]);
            least += kinds[steps[n]].own[way];
        }
    std::vector<int> ways;
    for (std::size_t n = steps.size(); n-- > 0;) {
        Cost lowest = most;
        for (std::size_t way = 0; way < count(n); ++way) {
            Cost& least = from[begin[n] + way];
            if (n + 1 == steps.size()) least = 0;
            for (std::size_t b = 0; n + 1 < steps.size() && b < count(n + 1); ++b)
                least = std::min(least, from[begin[n + 1] + b] + kinds[steps[n + 1]].own[b] +
                                            kinds.between(steps[n], steps[n + 1])[way * count(n + 1) + b]);
            const Cost sum = until[begin[n] + way] + least;
            if (sum < lowest) ways.clear(), lowest = sum;
            if (sum == lowest) ways.push_back(static_cast<int>(way));
        }
        f(n, ways);
    }
}

}  // namespace

Calls::Calls(const Record& record, const BlockRecord& block, const Steps& steps, const Origins& origins,
             const std::vector<SourceText>& sources) {
    std::set<std::string> files;
    for (const Place& place : record.places) files.insert(place.file);
    std::vector<const SourceText*> told;
    for (const SourceText& source : sources)
        if (files.contains(source.file)) told.push_back(&source);
    const Text text(record, told);
    Kinds kinds(text);
    std::map<std::pair<std::uint32_t, std::vector<int>>, std::uint16_t> known;
    ways.emplace_back();  // of a step of which nothing is known
    for (int warp = 0; warp < steps.warps(); ++warp) {
        auto& out = of_warp.emplace_back(static_cast<std::size_t>(steps.count(warp)), std::uint16_t{0});
        // A step of which nothing is known stands between others as if it were not there.
        std::vector<std::uint32_t> sequence, numbers;
        for (int k = 0; k < steps.count(warp); ++k) {
            const std::uint32_t event = steps.event(warp, k);
            const std::uint32_t kind = kinds.number(block.events[event].place, origins.matter(event));
            if (!kinds[kind].ways->empty())
                sequence.push_back(kind), numbers.push_back(static_cast<std::uint32_t>(k));
        }
        best_ways(kinds, sequence, [&](std::size_t n, const std::vector<int>& among) {
            const std::uint32_t place = kinds[sequence[n]].place;
            const auto [at, is_new] =
                known.try_emplace({place, among}, static_cast<std::uint16_t>(ways.size()));
            if (is_new) ways.push_back(text.calls(place, among));
            out[numbers[n]] = at->second;
        });
    }
}

std::string calls_text(const std::vector<Call>& calls) {
    std::string text;
    for (const Call& call : calls) {
        std::vector<std::string> lines;
        for (const int line : call.lines) lines.push_back(str(line));
        text += (text.empty() ? "called at " : ", ") + short_file(call.file) + ":" + listed(lines);
    }
    return text;
}

}  // namespace tilewalk::inside
