#include "core/inside/calls.h"

#include "core/base/words.h"
#include "core/inside/call_sites.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

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

/// The ways of one warp: of each step those that no other one is better than.
class Walk {
public:
    Walk(const Text& of_text, const BlockRecord& of_block, const Steps& of_steps, const Origins& of_origins,
         int of_warp)
        : text(of_text), block(of_block), steps(of_steps), origins(of_origins), warp(of_warp) {
        for (int k = 0; k < steps.count(warp); ++k) {
            const std::uint32_t event = steps.event(warp, k), place = block.events[event].place;
            all.push_back({place, origins.matter(event), text.ways(place), {}, {}});
        }
    }
    std::uint32_t place(int k) const { return all[static_cast<std::size_t>(k)].place; }
    std::vector<std::vector<int>> best();

private:
    struct Step {
        std::uint32_t place;
        Matter matter;
        const std::vector<Way>& ways;
        std::vector<Cost> until, from;  ///< of each way: the least up to here, and from here on
    };
    Cost own_cost(const Step& step, std::size_t way) const;
    Cost cost(const Step& before, std::size_t way, const Step& behind, std::size_t next) const;

    const Text& text;
    const BlockRecord& block;
    const Steps& steps;
    const Origins& origins;
    const int warp;
    std::vector<Step> all;
};

Cost Walk::own_cost(const Step& step, std::size_t way) const {
    // A call that is on all ways says nothing.
    const auto names_it = [&](const Way& w) {
        return std::ranges::any_of(w, [&](const CallSite* site) {
            return names(*site, symbol_of(step.matter)) &&
                   !std::ranges::all_of(
                       step.ways, [&](const Way& other) { return std::ranges::count(other, site) > 0; });
        });
    };
    if (step.ways.size() < 2 || names_it(step.ways[way])) return 0;
    return std::ranges::any_of(step.ways, names_it) ? unnamed : 0;
}

// One call deals with one matrix: where a line goes on with another one, it was rather called again.
Cost Walk::cost(const Step& before, std::size_t way, const Step& behind, std::size_t next) const {
    const Cost turned =
        before.place == behind.place && way == next && before.matter != behind.matter ? other_matrix : 0;
    return turned + text.cost(before.place, before.ways[way], behind.place, behind.ways[next]);
}

std::vector<std::vector<int>> Walk::best() {
    // A step of which nothing is known stands between others as if it were not there.
    std::vector<Step*> known;
    for (Step& step : all)
        if (!step.ways.empty()) known.push_back(&step);
    const auto least = [](std::vector<Cost>& of, std::size_t way, Cost cost) {
        of[way] = std::min(of[way], cost);
    };
    constexpr Cost most = std::numeric_limits<Cost>::max() / 2;
    for (std::size_t n = 0; n < known.size(); ++n) {
        Step& here = *known[n];
        here.until.assign(here.ways.size(), n == 0 ? 0 : most);
        for (std::size_t way = 0; way < here.ways.size(); ++way) {
            for (std::size_t b = 0; n > 0 && b < known[n - 1]->ways.size(); ++b)
                least(here.until, way, known[n - 1]->until[b] + cost(*known[n - 1], b, here, way));
            here.until[way] += own_cost(here, way);
        }
    }
    for (std::size_t n = known.size(); n-- > 0;) {
        Step& here = *known[n];
        here.from.assign(here.ways.size(), n + 1 == known.size() ? 0 : most);
        for (std::size_t way = 0; way < here.ways.size() && n + 1 < known.size(); ++way)
            for (std::size_t b = 0; b < known[n + 1]->ways.size(); ++b)
                least(here.from, way,
                      known[n + 1]->from[b] + own_cost(*known[n + 1], b) + cost(here, way, *known[n + 1], b));
    }
    std::vector<std::vector<int>> out;
    for (const Step& step : all) {
        auto& best_ways = out.emplace_back();
        Cost lowest = most;
        for (std::size_t way = 0; way < step.ways.size(); ++way) {
            const Cost sum = step.until[way] + step.from[way];
            if (sum < lowest) best_ways.clear(), lowest = sum;
            if (sum == lowest) best_ways.push_back(static_cast<int>(way));
        }
    }
    return out;
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
    std::map<std::pair<std::uint32_t, std::vector<int>>, std::uint16_t> known;
    for (int warp = 0; warp < steps.warps(); ++warp) {
        Walk walk(text, block, steps, origins, warp);
        auto& out = of_warp.emplace_back();
        const auto best = walk.best();
        for (int k = 0; k < steps.count(warp); ++k) {
            const auto& among = best[static_cast<std::size_t>(k)];
            const auto [at, is_new] =
                known.try_emplace({walk.place(k), among}, static_cast<std::uint16_t>(ways.size()));
            if (is_new) ways.push_back(text.calls(walk.place(k), among));
            out.push_back(at->second);
        }
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
