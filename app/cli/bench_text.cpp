// Results as a table for the terminal.
#include "app/cli/commands.h"
#include "app/export/text_layout.h"
#include "app/io/bench_json.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

namespace tilewalk {
namespace {

std::string machine_line(const BenchReport& report) {
    const Machine& m = report.machine;
    const std::string of_cpu = counted(m.threads, "thread") + " of " + counted(m.cores, "core") + ", " +
                               m.instructions + ", " + format_size(m.memory_total);
    std::string text = m.gpu.empty() ? m.cpu + ", " + of_cpu : m.gpu + ", driver " + m.driver + "; " + m.cpu;
    if (report.peak > 0)
        text += (m.gpu.empty() ? "; multiply-add peak " : "; a large product of matrices ") +
                format_number(report.peak / 1e9, 4) + " GFLOP/s";
    return text + "\n";
}

std::string build_line(const BenchReport& report) {
    return "commit " + report.build.commit + ", " + report.build.compiler + ", " + report.date + " UTC" +
           (report.machine.product_library.empty()
                ? ""
                : "; standard multiplies with " + report.machine.product_library) +
           "\n";
}

std::string error_text(const Point& p) {
    return format_number(p.max_error, 2) + " = " + format_fixed(p.max_error / p.error_limit, 2) +
           " of the limit";
}

}  // namespace

std::string bench_text(const BenchReport& report) {
    std::string text = machine_line(report) + build_line(report);
    if (!report.source.empty()) text += "recorded in " + report.source + "\n";
    for (const BenchReport& shape : by_shape(report)) {
        std::vector<std::vector<std::string>> rows{{"N", "kernel", "median", "p20 … p80", "GFLOP/s",
                                                    "of peak", "workspace", "model", "largest error"}};
        for (const Point& point : shape.points) rows.push_back(point_cells(point, " … ", error_text(point)));
        text += "\n" + describe(shape.points.front().workload) + "\n" + number_table(rows, {1}) +
                finding(shape) + "\n";
    }
    if (!report.complete) text += "\nThe run was ended before all points were measured.\n";
    return text;
}

}  // namespace tilewalk
