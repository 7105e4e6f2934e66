// Results as a table for the terminal.
#include "app/cli/commands.h"
#include "app/export/text_layout.h"
#include "app/io/bench_json.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"
#include "core/distributed/ring_model.h"

#include <algorithm>

namespace tilewalk {
namespace {

std::string machine_line(const BenchReport& report) {
    const Machine& m = report.machine;
    const std::string of_cpu = counted(m.threads, "thread") + " of " + counted(m.cores, "core") + ", " +
                               m.instructions + ", " + format_size(m.memory_total);
    std::string text = m.gpu.empty() ? m.cpu + ", " + of_cpu : m.gpu + ", driver " + m.driver + "; " + m.cpu;
    if (report.peak > 0)
        text += (m.gpu.empty() ? "; multiply-add peak " : "; a large product of matrices ") +
                format_number(report.peak / 1e9, 4) +
                " GFLOP/s at best; \"of peak\" is of that measured beside each length";
    return text + "\n";
}

std::string build_line(const BenchReport& report) {
    return "commit " + report.build.commit + ", " + report.build.compiler + ", " + report.date + " UTC" +
           (report.machine.product_library.empty()
                ? ""
                : "; standard multiplies with " + report.machine.product_library) +
           (report.torch.empty() ? "" : "; PyTorch " + report.torch) + "\n";
}

std::string error_text(const Point& p) {
    const int digits = p.max_error < 1e-3 ? 2 : 5;  // those of 16 bits need no power of ten, but decimals
    return format_number(p.max_error, digits) + " = " + format_fixed(p.max_error / p.error_limit, 2) +
           " of the limit";
}

// What the schedule alone would take (core/distributed/ring_model.h), at the rate that a rank reached when it
// computed alone and with messages that take no time
std::string scheduled(const Point& p) {
    if (p.ring->one_rank <= 0) return "no time that was measured";
    const ring::Problem problem{
        p.workload, static_cast<ring::Shards>(std::ranges::find(ring::names_of_shards(), p.ring->shards) -
                                              ring::names_of_shards().begin())};
    const ring::Rates rates{flops(p.workload) / p.ring->one_rank, 1e18};
    return format_time(simulate(problem, p.ring->ranks, rates, 4).seconds);
}

// What went between the ranks, and how each of them spent a run
std::string ring_lines(const Point& p) {
    const RingFigures& ring = *p.ring;
    const std::string bytes = ring.bytes_between == ring.model_bytes_between
                                  ? " between ranks, as the closed form says"
                                  : " between ranks; closed form " + format_size(ring.model_bytes_between);
    std::string text =
        "\n" + p.kernel + ", N = " + format_count(p.workload.N_q) + ": " + format_size(ring.bytes_between) +
        bytes + "; one rank alone computes " + format_time(ring.one_rank) + ", the ring is " +
        format_fixed(ring.one_rank / p.median, 2) +
        " × as fast;\nwith a core for every rank and no time for messages the schedule takes " +
        scheduled(p) + "\n";
    std::vector<std::vector<std::string>> rows{
        {"rank", "computes", "waits for messages", "holds", "closed form", "scores", "of the mean"}};
    std::int64_t scores = 0;
    for (const RingFigures::OfRank& one : ring.of_rank) scores += one.scores;
    for (std::size_t r = 0; r < ring.of_rank.size(); ++r) {
        const RingFigures::OfRank& one = ring.of_rank[r];
        rows.push_back({str(r), format_time(one.computing), format_time(one.waiting),
                        format_size(one.memory_bytes), format_size(one.model_bytes), format_count(one.scores),
                        format_fixed(double(one.scores) * ring.ranks / double(scores), 2)});
    }
    return text + number_table(rows);
}

}  // namespace

static std::string columns_in_words(const BenchReport& report) {
    const bool some = std::ranges::any_of(
        report.points, [](const Point& point) { return point.state == Point::State::measured; });
    if (!some) return {};
    std::string text = "\nmedian, p20 … p80: of the timed runs; of peak, of reading: of the rate that the "
                       "first lines give;\n"
                       "workspace: what a kernel takes besides its inputs and outputs, model: the same from "
                       "a closed form;\n";
    if (has_torch(report)) text += "PyTorch takes: so many times as long as the kernel;\n";
    return text + "largest error: from fp64, as a part of what the rule allows.\n";
}

std::string bench_text(const BenchReport& report) {
    std::string text = machine_line(report) + build_line(report);
    if (!report.source.empty()) text += "recorded in " + report.source + "\n";
    for (const BenchReport& shape : by_shape(report)) {
        std::vector<std::vector<std::string>> rows{point_columns(shape, "p20 … p80", "largest error")};
        for (const Point& point : shape.points)
            rows.push_back(point_cells(shape, point, " … ", error_text(point)));
        text += "\n" + describe(shape.points.front().workload) + "\n" + number_table(rows, {1}) +
                finding(shape) + "\n";
        if (const std::string note = beyond_the_limit(shape); !note.empty()) text += note + "\n";
        for (const Point& point : shape.points)
            if (point.ring && point.state == Point::State::measured) text += ring_lines(point);
    }
    text += columns_in_words(report);
    if (!report.complete) text += "\nThe run was ended before all points were measured.\n";
    return text;
}

}  // namespace tilewalk
