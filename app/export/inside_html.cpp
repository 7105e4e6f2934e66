#include "app/export/inside_html.h"

#include "app/export/page_parts.h"
#include "app/ui/kit/theme.h"
#include "core/base/numbers.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "core/engine/engine.h"
#include "core/inside/model_time.h"
#include "cuda/host/gpu.h"

#include <algorithm>
#include <ostream>
#include <set>

namespace tilewalk {
namespace {

using inside::Counts;
using inside::Launch;
using inside::Race;
using inside::Record;
using page::escaped;

/// What a line of the source did, all its operations together.
struct LineCounts {
    std::int64_t warps = 0, turns = 0, least = 0, sectors = 0, needed = 0;
    int ways = 0;
    std::set<std::string> ops;
    bool races = false, left_out = false;

    void add(const Counts& c) {
        warps += c.warps, turns += c.shared_turns, least += c.shared_least;
        sectors += c.sectors, needed += c.sectors_least;
        ways = std::max(ways, c.worst_ways);
        ops.insert(inside::info(c.op).name);
        left_out |= c.op == inside::Op::left_out;
    }
};
using FileCounts = std::map<std::string, std::map<int, LineCounts>>;

FileCounts by_file(const Record& record, const Launch& launch) {
    FileCounts all;
    const auto at = [&](std::uint32_t place) -> LineCounts& {
        return all[record.places[place].file][record.places[place].line];
    };
    for (const Counts& c : launch.counts) at(c.place).add(c);
    for (const Race& race : launch.races) at(race.first.place).races = at(race.second.place).races = true;
    return all;
}

/// "1-cuda-kernels-bands.h-76"
std::string line_id(int launch, const std::string& file, int line) {
    std::string id = str(launch) + "-" + file + "-" + str(line);
    for (char& c : id)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '-';
    return id;
}

std::string place_link(const Record& record, int launch, std::uint32_t place) {
    const inside::Place& p = record.places[place];
    return "<a href=\"#" + line_id(launch, p.file, p.line) + "\">" + escaped(p.file + ":" + str(p.line)) +
           "</a>";
}

void put_races(std::ostream& out, const Record& record) {
    if (record.races() == 0) out << "<p class=\"none\">" << no_race_text(record) << "</p>\n";
    int n = 0;
    for (const Launch& launch : record.launches) {
        ++n;
        for (const Race& race : launch.races) {
            out << "<section class=\"race\"><b>Race</b> at "
                << escaped(inside::address_text(record, race.address)) << "<br>";
            for (const inside::RaceAccess& a : {race.first, race.second})
                out << "<code>" << inside::info(a.op).name << "</code> at " << place_link(record, n, a.place)
                    << ", block " << a.block << ", warp " << a.warp << ", " << inside::lanes_text(a.lanes)
                    << "<br>";
            out << "Nothing orders them; " << format_count(race.times) << " accesses race so.</section>\n";
        }
    }
}

void put_broken(std::ostream& out, const BrokenWords& words) {
    out << "<section class=\"broken\"><b>Broken</b>: " << escaped(words.fault)
        << "<br>Order: " << escaped(words.order) << "<br><strong>" << escaped(words.numbers) << "</strong>";
    for (const std::string& cell : words.cells) out << "<br><code>" << escaped(cell) << "</code>";
    if (!words.banks.empty()) out << "<br>" << escaped(words.banks);
    out << "</section>\n";
}

void put_totals(std::ostream& out, const Record& record, const Launch& launch) {
    LineCounts all;
    std::int64_t products = 0, barriers = 0;
    for (const Counts& c : launch.counts) {
        all.add(c);
        products += c.products;
        if (c.op == inside::Op::sync_block) barriers += c.warps;
    }
    const auto total = [&](const char* name, const std::string& value) {
        out << "<div><dt>" << name << "</dt><dd>" << value << "</dd></div>\n";
    };
    out << "<dl class=\"totals\">\n";
    total("steps of warps", format_count(all.warps));
    total("products of fragments", format_count(products));
    total("warps at barriers", format_count(barriers));
    total("turns of the banks", format_count(all.turns));
    total("of them by conflicts", format_count(all.turns - all.least));
    total("sectors of HBM", format_count(all.sectors));
    total("of them not needed", format_count(all.sectors - all.needed));
    const auto chips = gpu::chips_for(record);
    for (const inside::BlockRecord& block : launch.blocks)
        for (const inside::Costs* costs : chips)
            total((std::string("clocks, model, ") + costs->chip).c_str(),
                  format_count(inside::model_time(block, launch.warps(), *costs).end));
    out << "</dl>\n";
}

std::string count_or_nothing(std::int64_t n) { return n == 0 ? "" : format_count(n); }

void put_line(std::ostream& out, int launch, const std::string& file, int line, std::string_view text,
              const LineCounts* counts, std::int64_t most) {
    const LineCounts none;
    const LineCounts& c = counts ? *counts : none;
    std::string kind = counts ? "" : "idle";
    if (c.ways > 1) kind += " ways";
    if (c.races) kind += " races";
    if (c.left_out) kind += " left-out";
    out << "<tr id=\"" << line_id(launch, file, line) << "\" class=\"" << kind << "\"><td>" << line
        << "</td><td>" << count_or_nothing(c.warps) << "</td><td>" << count_or_nothing(c.turns)
        << "</td><td class=\"ways\">" << count_or_nothing(c.ways) << "</td><td>"
        << count_or_nothing(c.sectors) << "</td><td>" << count_or_nothing(c.needed)
        << "</td><td class=\"text\"";
    if (counts && most > 0) out << " style=\"--share:" << 100 * c.warps / most << "%\"";
    if (counts) out << " title=\"" << joined({c.ops.begin(), c.ops.end()}, ", ") << "\"";
    out << ">" << escaped(std::string(text)) << "</td></tr>\n";
}

void put_file(std::ostream& out, int launch, const std::string& file, const std::map<int, LineCounts>& lines,
              const inside::SourceText* source) {
    std::int64_t most = 0;
    for (const auto& [line, c] : lines) most = std::max(most, c.warps);
    out << "<h3>" << escaped(file) << "</h3>\n<div class=\"wide\"><table>\n<tr><th scope=\"col\">line</th>"
        << "<th scope=\"col\">warps</th><th scope=\"col\">turns</th><th scope=\"col\">ways</th>"
        << "<th scope=\"col\">sectors</th><th scope=\"col\">needed</th>"
        << "<th scope=\"col\" class=\"text\">source</th></tr>\n";
    const auto counts_of = [&](int line) {
        const auto found = lines.find(line);
        return found == lines.end() ? nullptr : &found->second;
    };
    if (source)
        for (int n = 1; n <= source->count(); ++n)
            put_line(out, launch, file, n, source->line(n), counts_of(n), most);
    else
        for (const auto& [line, c] : lines)
            put_line(out, launch, file, line, joined({c.ops.begin(), c.ops.end()}, ", "), &c, most);
    out << "</table></div>\n";
}

void put_launches(std::ostream& out, const Record& record, std::span<const inside::SourceText> sources) {
    int n = 0;
    for (const Launch& launch : record.launches) {
        out << "<h2>Launch " << ++n;
        if (!launch.name.empty()) {
            out << ": " << escaped(launch.name)
                << " by the vendor's library, which is not looked into</h2>\n";
            continue;
        }
        out << ": " << launch.x << " × " << launch.y << " × " << launch.z << " blocks of " << launch.threads
            << " threads, " << format_size(launch.shared_bytes) << " of shared memory each</h2>\n";
        put_totals(out, record, launch);
        for (const auto& [file, lines] : by_file(record, launch)) {
            const auto source = std::ranges::find(sources, file, &inside::SourceText::file);
            put_file(out, n, file, lines, source == sources.end() ? nullptr : &*source);
        }
    }
}

}  // namespace

void write_inside_html(std::ostream& out, const Record& record, const std::string& problem,
                       std::span<const inside::SourceText> sources, const BrokenWords* broken) {
    const page::Parts style{{"light", [&] { out << page::theme_colours(ui::theme(ui::ThemeId::light)); }},
                            {"dark", [&] { out << page::theme_colours(ui::theme(ui::ThemeId::dark)); }}};
    page::fill_in(out, page::asset("inside.html"),
                  {{"version", [&] { out << version; }},
                   {"kernel", [&] { out << escaped(record.kernel); }},
                   {"title", [&] { out << escaped(record.title); }},
                   {"facts", [&] { out << escaped(problem) << ", " << name_of(record.dtype); }},
                   {"style", [&] { page::fill_in(out, page::asset("inside.css"), style); }},
                   {"broken",
                    [&] {
                        if (broken) put_broken(out, *broken);
                    }},
                   {"races", [&] { put_races(out, record); }},
                   {"launches", [&] { put_launches(out, record, sources); }}});
}

}  // namespace tilewalk
