#include "core/inside/ladder.h"

#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk::inside {

namespace {

using Amount = std::optional<double>;

void add_counts(Totals& t, const Counts& c, int warps) {
    const bool stores = c.op == Op::store || c.op == Op::atomic_add;
    (stores ? t.stored : t.loaded) += c.global_bytes;
    t.sectors += c.sectors;
    if (c.shared_bytes > 0) t.shared += c.warps;
    t.turns += c.shared_turns, t.least += c.shared_least;
    if (c.op == Op::sync_block) t.barriers += c.warps / std::max(1, warps);
    if (c.op == Op::exp2 || c.op == Op::exp) t.exps += c.lanes;
    if (c.op == Op::shuffle) t.shuffles += c.warps;
    t.products += c.products;
    t.by_itself |= c.op == Op::fetch_tile || c.op == Op::multiply_async;
}

int rows_of(const Record& record) {
    std::int64_t rows = 0;
    for (const Region& r : record.regions)
        if (r.name == "Q" && r.row_bytes > 0) rows += r.bytes / r.row_bytes;
    return static_cast<int>(rows);
}

Amount whole(std::int64_t n) { return static_cast<double>(n); }

// What the library's products ask of memory is not known, and so no sum in which they have part.
template <std::int64_t Totals::*counted> Amount counted_of(const Totals& t) {
    return t.library > 0 ? Amount() : whole(t.*counted);
}
// Nor what the units that go to shared memory by themselves ask of its banks.
template <std::int64_t Totals::*counted> Amount of_banks(const Totals& t) {
    return t.by_itself ? Amount() : counted_of<counted>(t);
}
Amount conflicts(const Totals& t) {
    return t.library > 0 || t.by_itself ? Amount() : whole(t.turns - t.least);
}
Amount exponentials(const Totals& t) { return whole(t.exps); }
Amount launches(const Totals& t) { return whole(t.launches + t.library); }
Amount clocks_of_row(const Totals& t) { return t.clocks_of_row; }

// Without tensor cores products are plain arithmetic, which is not written down.
Amount products(const Totals& t) { return t.products > 0 ? whole(t.products) : Amount(); }
Amount products_of_tile(const Totals& t) {
    return t.products > 0 && t.tiles > 0 ? Amount(double(t.products) / t.tiles) : Amount();
}

/// "38 %", "0.5 %", "99.9 %": never 0 or 100 for what is some of it, but not all.
std::string percent(double part) {
    return format_short(std::clamp(std::round(part * 1000) / 10, .1, 99.9), 3) + " %";
}

/// "2.5 ×"
std::string times(double ratio) { return format_short(ratio, 3) + " ×"; }

std::string pair_text(const Compared& c, const Totals& before, const Totals& after) {
    return measure_text(*c.measure, after) + " against " + measure_text(*c.measure, before);
}

std::string saved_part(const Compared& c, const Totals& before, const Totals& after) {
    const std::string part = *c.after == 0 ? "all" : percent(1 - *c.after / *c.before);
    return part + " of the " + c.measure->noun + " (" + pair_text(c, before, after) + ")";
}

std::string cost_part(const Compared& c, const Totals& before, const Totals& after) {
    const std::string noun = c.measure->noun;
    if (*c.before == 0)
        return noun + ", of which " + before.kernel + " has none (" + measure_text(*c.measure, after) + ")";
    return times(*c.after / *c.before) + " the " + noun + " (" + pair_text(c, before, after) + ")";
}

std::vector<std::string> beside_words(const Totals& before, const Totals& after) {
    std::vector<std::string> out;
    const auto bytes = [](const Totals& t) { return t.dtype == DType::f32 ? 4 : 2; };
    if (bytes(before) != bytes(after))
        out.push_back("A number takes " + counted(bytes(after), "byte") + " in " + after.kernel + " and " +
                      str(bytes(before)) + " in " + before.kernel +
                      ": that alone makes the bytes of HBM differ by " +
                      times(double(bytes(before)) / double(bytes(after))) + ".");
    for (const Totals* t : {&before, &after}) {
        if (t->clocks_of_row && t->timed_blocks < t->blocks)
            out.push_back("The model's time of " + t->kernel + " is of " + str(t->timed_blocks) + " of its " +
                          counted(t->blocks, "block") + ", which stand for the others of their launch.");
        if (t->library > 0)
            out.push_back(
                t->kernel +
                " multiplies by the vendor's library, of which nothing is counted: only its exponentials and "
                "launches can be compared.");
        else if (t->by_itself)
            out.push_back("TMA and wgmma of " + t->kernel +
                          " go to shared memory by themselves: of that nothing is counted, and its other "
                          "barriers, for parts of a block, are not among these.");
        else if (t->products == 0)
            out.push_back("The products of " + t->kernel +
                          " are plain arithmetic: neither counted nor in its model time.");
    }
    return out;
}

}  // namespace

std::vector<std::int64_t> clocks_of_blocks(const Launch& launch, const Costs& costs) {
    if (!launch.clocks.empty()) return launch.clocks;
    std::vector<std::int64_t> clocks;
    for (const BlockRecord& block : launch.blocks)
        clocks.push_back(model_time(block, launch.warps(), costs).end);
    return clocks;
}

Totals totals_of(const Record& record, const Costs& costs) {
    Totals t;
    t.kernel = record.kernel, t.title = record.title, t.teaches = record.teaches, t.dtype = record.dtype;
    t.Br = record.Br, t.Bc = record.Bc, t.tiles = record.tiles;
    double clocks = 0;
    bool known = true;
    for (const Launch& launch : record.launches) {
        if (!launch.name.empty()) {
            ++t.library;
            known = false;
            continue;
        }
        ++t.launches;
        for (const Counts& c : launch.counts) add_counts(t, c, launch.warps());
        const std::vector<std::int64_t> timed = clocks_of_blocks(launch, costs);
        const int blocks = launch.x * launch.y * launch.z, count = static_cast<int>(timed.size());
        t.blocks += blocks, t.timed_blocks += count;
        if (count == 0)
            known = false;
        else
            clocks += double(std::accumulate(timed.begin(), timed.end(), std::int64_t())) * blocks / count;
    }
    const int rows = rows_of(record);
    if (known && rows > 0) t.clocks_of_row = clocks / rows;
    return t;
}

std::span<const Measure> measures() {
    static constexpr Measure table[] = {
        {"loaded", "Loaded from HBM", "bytes loaded from HBM", counted_of<&Totals::loaded>, true},
        {"stored", "Stored to HBM", "bytes stored to HBM", counted_of<&Totals::stored>, true},
        {"sectors", "Sectors of HBM", "sectors of HBM", counted_of<&Totals::sectors>, false},
        {"shared", "Accesses to shared memory", "accesses to shared memory", of_banks<&Totals::shared>,
         false},
        {"turns", "Turns of the banks", "turns of the banks", of_banks<&Totals::turns>, false},
        {"conflicts", "Turns lost to conflicts", "turns lost to conflicts", conflicts, false},
        {"barriers", "Barriers", "barriers", counted_of<&Totals::barriers>, false},
        {"shuffles", "Shuffles of warps", "shuffles", counted_of<&Totals::shuffles>, false},
        {"exps", "Exponentials", "exponentials", exponentials, false},
        {"products", "Products of fragments", "products of fragments", products, false},
        {"products_per_tile", "Products of a tile", "products of a tile", products_of_tile, false},
        {"launches", "Launches", "launches", launches, false},
        {"clocks_of_row", "Model time of a row", "clocks of the model", clocks_of_row, false},
    };
    return table;
}

std::string measure_text(const Measure& measure, const Totals& totals) {
    const Amount n = measure.of(totals);
    if (!n) return "—";
    if (measure.bytes) return format_size(static_cast<std::int64_t>(*n));
    return *n == std::floor(*n) ? format_count(static_cast<std::int64_t>(*n)) : format_short(*n);
}

std::string change_text(const Compared& c) {
    if (!c.change) return "";
    if (*c.change == 1) return "the same";
    return *c.change > 1 ? times(*c.change) : *c.change == 0 ? "none" : percent(*c.change);
}

std::vector<Compared> compare(const Totals& before, const Totals& after) {
    std::vector<Compared> out;
    for (const Measure& m : measures()) {
        Compared c{&m, m.of(before), m.of(after), {}};
        if (c.before && c.after && *c.before > 0) c.change = *c.after / *c.before;
        out.push_back(c);
    }
    return out;
}

// The products of a tile follow from the tile's size: they are no saving.
LadderWords ladder_words(const Totals& before, const Totals& after) {
    LadderWords words;
    std::vector<std::string> saved, costs, same;
    for (const Compared& c : compare(before, after)) {
        if (std::string(c.measure->id) == "products_per_tile") continue;
        if (c.less())
            saved.push_back(saved_part(c, before, after));
        else if (c.more())
            costs.push_back(cost_part(c, before, after));
        else if (c.before && c.after && *c.after > 0)
            same.push_back(std::string(c.measure->noun) + " (" + measure_text(*c.measure, after) + ")");
    }
    words.saved = saved.empty()
                      ? after.kernel + " saves nothing over " + before.kernel +
                            " that is counted here, on this problem."
                      : after.kernel + " saves " + listed(saved, "and") + " over " + before.kernel + ".";
    if (!costs.empty()) words.costs = "It takes " + listed(costs, "and") + ".";
    if (!same.empty()) words.same = "Both have as many " + listed(same, "and") + ".";
    words.beside = beside_words(before, after);
    return words;
}

}  // namespace tilewalk::inside
