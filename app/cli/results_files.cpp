#include "app/cli/results_files.h"

#include "app/io/bench_json.h"
#include "app/io/file.h"
#include "app/render/plot_picture.h"
#include "app/render/png.h"
#include "app/ui/kit/chart.h"

#include <algorithm>

namespace tilewalk {

Result<std::vector<BenchReport>> load_results(const std::vector<std::string>& paths) {
    std::vector<BenchReport> reports;
    for (const std::string& path : paths) {
        auto report = load_bench_file(path);
        if (!report) return Failure{report.error};
        reports.push_back(std::move(*report));
    }
    return reports;
}

std::optional<std::string> save_results(const std::string& path, const std::vector<BenchReport>& reports,
                                        const std::string& kind) {
    if (kind == "csv") return write_file_atomic(path, bench_to_csv(reports));
    if (kind == "report") return write_file_atomic(path, bench_to_markdown(reports));
    std::vector<BenchReport> own = reports;
    std::erase_if(own, [](const BenchReport& report) { return !report.source.empty(); });
    const auto joined = join_reports(own.empty() ? reports : own);
    if (!joined) return joined.error;
    return write_file_atomic(path, bench_to_json(*joined));
}

std::optional<std::string> save_plot(const std::string& path, const ui::ChartScene& scene,
                                     const ui::Theme& theme, const std::string& kind) {
    if (kind == "svg") return write_file_atomic(path, ui::to_svg(scene, theme));
    return write_file_atomic(path, encode_png(picture_of_plots(scene, theme)));
}

}  // namespace tilewalk
