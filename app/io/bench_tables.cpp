// Results for people: Markdown, and the cells of its tables.
#include "app/io/bench_json.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

namespace tilewalk {
namespace {

std::string row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& text : cells) line += " " + replaced(without_controls(text), "|", "\\|") + " |";
    return line + "\n";
}

std::string error_text(const Point& p) {
    return p.error_limit > 0 ? format_number(p.max_error / p.error_limit, 2) + " of the limit" : "";
}

std::string machine_lines(const BenchReport& report) {
    const Machine& m = report.machine;
    std::string text = "- Machine: " + m.cpu + ", " + counted(m.cores, "core") + ", " +
                       counted(m.threads, "thread") + " used, " + m.instructions + ", " +
                       format_size(m.memory_total) + ", " + m.system + "\n";
    if (!m.gpu.empty()) text += "- GPU: " + m.gpu + ", driver " + m.driver + "\n";
    if (report.peak > 0)
        text += "- Multiply-add peak in the same run: " + format_number(report.peak / 1e9, 4) + " GFLOP/s\n";
    if (!m.product_library.empty()) text += "- Products of standard attention: " + m.product_library + "\n";
    if (!report.torch.empty()) text += "- Timed beside them: PyTorch " + report.torch + "\n";
    const Build& b = report.build;
    text += "- Build: " + b.version + ", commit " + b.commit + ", " + b.compiler + ", " + b.flags + "\n";
    text += "- Measured: " + report.date + " UTC\n";
    if (!report.source.empty()) text += "- Recorded in: " + report.source + "\n";
    if (!report.command.empty()) text += "- Repeat with: `" + report.command + "`\n";
    return text;
}

std::string section(const BenchReport& report) {
    std::string text = "## " +
                       std::string(report.source.empty() ? "This run" : "Recorded: " + report.source) +
                       "\n\n" + machine_lines(report);
    if (!report.complete) text += "\nThe run was ended before all points were measured.\n";
    for (const BenchReport& shape : by_shape(report)) {
        text += "\n### " + describe(shape.points.front().workload) + "\n\n" + finding(shape) + "\n\n";
        text += row(point_columns(shape, "p20 to p80", "error"));
        std::vector<std::string> sides(point_columns(shape, "", "").size(), "---:");
        sides[1] = sides.back() = "---";
        text += row(sides);
        for (const Point& point : shape.points)
            text += row(point_cells(shape, point, " to ", error_text(point)));
        if (const std::string note = beyond_the_limit(shape); !note.empty()) text += "\n" + note + "\n";
    }
    return text;
}

}  // namespace

// What limits decoding is the rate of reading; else it is that of multiply-adds.
std::vector<std::string> point_columns(const BenchReport& shape, const std::string& spread,
                                       const std::string& error) {
    const bool read = has_reading(shape);
    std::vector<std::string> columns{
        "N", "kernel", "median", spread, read ? "GB/s" : "GFLOP/s", read ? "of reading" : "of peak"};
    if (has_torch(shape)) columns.emplace_back("PyTorch takes");
    columns.insert(columns.end(), {"workspace", "model", error});
    return columns;
}

// Nobody counts what PyTorch takes.
static std::string size_text(const Point& p, std::int64_t bytes) {
    return is_torch(p) && bytes == 0 ? "" : format_size(bytes);
}

std::vector<std::string> point_cells(const BenchReport& shape, const Point& p, const std::string& between,
                                     const std::string& error) {
    std::vector<std::string> cells{format_count(p.workload.N_kv), p.kernel};
    if (p.state != Point::State::measured) {
        cells.emplace_back(name_of(p.state));
        cells.resize(point_columns(shape, between, error).size() - 2);
        cells.insert(cells.end(), {size_text(p, p.model_bytes), p.reason});
        return cells;
    }
    const bool read = has_reading(shape);
    const double share = share_of_limit(shape, p);
    cells.insert(cells.end(), {format_time(p.median), format_time(p.p20) + between + format_time(p.p80),
                               format_number((read ? p.kv_rate() : p.flop_rate()) / 1e9, 3),
                               share > 0 ? share_text(share) : ""});
    const double torch = times_of_torch(shape, p);
    if (has_torch(shape)) cells.push_back(torch > 0 ? format_fixed(torch, 2) + "×" : "");
    cells.insert(cells.end(), {size_text(p, p.workspace_bytes), size_text(p, p.model_bytes), error});
    return cells;
}

std::string bench_to_markdown(std::span<const BenchReport> reports) {
    const PlainNumbers as_in_every_file;
    std::string text = "# Attention at scale\n";
    for (const BenchReport& report : reports) text += "\n" + section(report);
    return text;
}

}  // namespace tilewalk
