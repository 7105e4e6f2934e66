// Results for others: CSV for spreadsheets, Markdown for people.
#include "app/io/bench_json.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/bench/findings.h"

#include <algorithm>

namespace tilewalk {
namespace {

// ---- CSV

std::vector<std::string> csv_fields(const BenchReport& report, const Point& p) {
    const Workload& w = p.workload;
    const bool measured = p.state == Point::State::measured;
    const auto timed = [&](double value) { return measured ? shortest(value) : ""; };
    return {report.source.empty() ? "this run" : report.source,
            report.date,
            report.build.commit,
            report.machine.cpu,
            std::to_string(report.machine.threads),
            p.device,
            p.kernel,
            name_of(w.direction),
            name_of(w.dtype),
            std::to_string(w.batch),
            std::to_string(w.heads),
            std::to_string(w.kv_heads),
            std::to_string(w.N_q),
            std::to_string(w.d),
            w.causal ? "true" : "false",
            w.window ? std::to_string(*w.window) : "",
            name_of(p.state),
            p.verified ? "true" : "false",
            p.error_limit > 0 ? shortest(p.max_error) : "",
            p.error_limit > 0 ? shortest(p.error_limit) : "",
            timed(p.median),
            timed(p.p20),
            timed(p.p80),
            timed(p.first),
            std::to_string(p.seconds.size()),
            timed(p.flop_rate() / 1e12),
            measured && p.peak > 0 ? shortest(p.of_peak()) : "",
            measured ? std::to_string(p.workspace_bytes) : "",
            std::to_string(p.model_bytes),
            p.peak_rss_bytes > 0 ? std::to_string(p.peak_rss_bytes) : "",
            p.reason};
}

// ---- Markdown

std::string cell(const std::string& text) {
    std::string safe = without_controls(text);
    for (std::size_t at = 0; (at = safe.find('|', at)) != std::string::npos; at += 2) safe.insert(at, "\\");
    return safe;
}

std::string row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& text : cells) line += " " + cell(text) + " |";
    return line + "\n";
}

std::string percent(double part) { return format_fixed(100 * part, 0) + " %"; }

std::vector<std::string> cells(const Point& p) {
    std::vector<std::string> out{format_count(p.workload.N_q), p.kernel};
    if (p.state != Point::State::measured) {
        out.push_back(name_of(p.state));
        for (int n = 0; n < 4; ++n) out.emplace_back();
        out.push_back(format_size(p.model_bytes));
        out.push_back(p.reason);
        return out;
    }
    out.push_back(format_time(p.median));
    out.push_back(format_time(p.p20) + " to " + format_time(p.p80));
    out.push_back(format_number(p.flop_rate() / 1e9, 3));
    out.push_back(p.peak > 0 ? percent(p.of_peak()) : "");
    out.push_back(format_size(p.workspace_bytes));
    out.push_back(format_size(p.model_bytes));
    out.push_back(p.error_limit > 0 ? format_number(p.max_error / p.error_limit, 2) + " of the limit" : "");
    return out;
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
        text +=
            row({"N", "kernel", "median", "p20 to p80", "GFLOP/s", "of peak", "workspace", "model", "error"});
        text += row({"---:", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---"});
        for (const Point& point : shape.points) text += row(cells(point));
    }
    return text;
}

}  // namespace

std::string bench_to_csv(std::span<const BenchReport> reports) {
    std::string text = csv_line({"source",   "date",     "commit",          "cpu",         "threads",
                                 "device",   "kernel",   "direction",       "dtype",       "batch",
                                 "heads",    "kv_heads", "seqlen",          "head_dim",    "causal",
                                 "window",   "state",    "verified",        "max_error",   "error_limit",
                                 "median_s", "p20_s",    "p80_s",           "first_s",     "runs",
                                 "tflops",   "of_peak",  "workspace_bytes", "model_bytes", "peak_rss_bytes",
                                 "skipped"});
    for (const BenchReport& report : reports)
        for (const Point& point : report.points) text += csv_line(csv_fields(report, point));
    return text;
}

std::string bench_to_markdown(std::span<const BenchReport> reports) {
    const PlainNumbers as_in_every_file;
    std::string text = "# Attention at scale\n";
    for (const BenchReport& report : reports) text += "\n" + section(report);
    return text;
}

}  // namespace tilewalk
