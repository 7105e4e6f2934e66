// The comparison for the terminal.
#include "app/cli/commands.h"
#include "app/export/text_layout.h"
#include "core/base/numbers.h"
#include "core/compare/kernel_compare.h"

#include <algorithm>
#include <set>

namespace tilewalk {
namespace {

using Quantity = KernelFault::Quantity;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t most_tiles = 24;

std::string tile_name(int i, int j) { return "(" + str(i) + ", " + str(j) + ")"; }

std::string where_it_ran(const KernelTrace& k, const std::string& why) {
    std::string text = k.run.device == "cuda" ? k.run.device_name : "emulator on " + k.run.device_name;
    if (!k.run.driver.empty()) text += ", driver " + k.run.driver;
    if (!k.run.date.empty()) text += ", " + k.run.date + " UTC";
    if (!k.run.commit.empty()) text += ", commit " + k.run.commit;
    return text + (why.empty() ? "" : " (" + why + ")");
}

std::string head(const KernelComparison& c, const std::string& why) {
    const KernelTrace& k = *c.kernel;
    Rows rows{{"kernel", describe(k)}, {"", k.title}};
    if (k.run.device != "cuda") rows[1][1] += "; its source, run by the CPU";
    if (!k.problem.title.empty()) rows.push_back({"problem", k.problem.title});
    rows.push_back({"ran on", where_it_ran(k, why)});
    if (k.fault.quantity != Quantity::none) rows.push_back({"injected", describe(k.fault)});
    return lines_of(table(rows));
}

std::string ratio_text(const OutputVerdict& v) {
    if (v.standard == 0 && v.error > 0) return "standard attention is exact here";
    return three_digits(v.ratio()) + " times standard attention's error";
}

std::string verdicts(const KernelComparison& c) {
    Rows rows;
    for (const OutputVerdict& v : c.outputs)
        rows.push_back({info(v.slot).name, v.passed() ? "within the rule" : "BEYOND THE RULE",
                        formula_text(v), ratio_text(v)});
    return "\n" + lines_of(table(rows));
}

std::string ulp_text(const KernelDistance& d) { return d.recorded ? format_number(d.ulp, 3) : "–"; }

std::vector<std::string> tile_row(const TileComparison& tile) {
    std::vector<std::string> row{tile_name(tile.i, tile.j)};
    if (!tile.visited) {
        row.insert(row.end(), {"", "", "", "", "", "", "skipped"});
        return row;
    }
    for (Quantity q : {Quantity::m, Quantity::l, Quantity::alpha, Quantity::S, Quantity::P, Quantity::O})
        row.push_back(ulp_text(tile[q]));
    const KernelDistance& O = tile[Quantity::O];
    row.push_back(O.recorded ? three_digits(O.largest) : "–");
    return row;
}

// All tiles, or those that differ most and the one of the finding.
std::set<std::size_t> shown_tiles(const KernelComparison& c) {
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < c.tiles.size(); ++n)
        if (c.tiles.size() <= most_tiles || c.tiles[n].visited) order.push_back(n);
    const auto first = [&](std::size_t n) {
        return c.finding && c.tiles[n].i == c.finding.i && c.tiles[n].j == c.finding.j;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (first(a) != first(b)) return first(a);
        return c.tiles[a].statistics_ulp() > c.tiles[b].statistics_ulp();
    });
    if (order.size() > most_tiles) order.resize(most_tiles);
    return {order.begin(), order.end()};
}

std::string tiles_text(const KernelComparison& c) {
    if (c.tiles.empty()) return "";
    Rows rows{{"tile", "m", "l", "alpha", "S", "P", "O", "max |ΔO|"}};
    const auto shown = shown_tiles(c);
    for (std::size_t n : shown) rows.push_back(tile_row(c.tiles[n]));
    // A number near 0 is what is left of large terms: of such small units rounding takes many.
    std::string text =
        "\nLargest difference from the CPU's walk of each tile, in units of the last place of the cell "
        "(many where terms cancel)\n" +
        number_table(rows, {0});
    if (shown.size() < c.tiles.size())
        text += "  " + str(c.tiles.size() - shown.size()) +
                " more tiles differ no more in m, l and alpha, or are skipped; --format json has them all\n";
    return text;
}

std::string worst_cell(const KernelComparison& c) {
    const OutputVerdict& v = c.nearest();
    const KernelCell& cell = v.worst;
    const auto [kernel, exact] = format_apart(cell.kernel, cell.exact);
    std::string place = std::string(info(v.slot).name) + "[" + str(cell.row);
    if (v.slot != Slot::L) place += ", " + str(cell.column);
    return "\nworst cell     " + place + "] = " + kernel + ", fp64 " + exact + ", CPU rounded " +
           format_apart(cell.cpu, cell.exact).first + "\n";
}

}  // namespace

std::string compare_text(const KernelComparison& c, const std::string& why) {
    std::string text = head(c, why) + verdicts(c) + tiles_text(c) + worst_cell(c);
    text += "tile by tile   " + finding_text(c) + "\n";
    if (const std::string fault = fault_text(c); !fault.empty()) text += "               " + fault + "\n";
    return text;
}

}  // namespace tilewalk
