#include "app/cli/hooks.h"

#include "app/io/bench_json.h"
#include "app/io/file.h"
#include "app/io/link.h"
#include "app/io/matrix_file.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"
#include "app/render/offscreen.h"
#include "app/ui/kit/chart.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <utility>

namespace tilewalk {
namespace {

// ---- Files that are dropped on the window

constexpr std::pair<std::string_view, Slot> matrix_names[] = {
    {"q", Slot::Q},    {"query", Slot::Q}, {"queries", Slot::Q}, {"k", Slot::K},      {"key", Slot::K},
    {"keys", Slot::K}, {"v", Slot::V},     {"value", Slot::V},   {"values", Slot::V}, {"do", Slot::dO}};

// "my_keys.npy" holds keys: the words of the name are looked at from the end. Slot::count when none tells.
Slot slot_of_name(const std::string& path) {
    std::string stem = lower_case(std::filesystem::path(path).stem().string());
    while (!stem.empty()) {
        const std::size_t word = stem.find_last_of("_-. ") + 1;
        for (const auto& [name, slot] : matrix_names)
            if (stem.substr(word) == name) return slot;
        stem.resize(word == 0 ? 0 : word - 1);
    }
    return Slot::count;
}

Matrix& matrix_of(Problem& p, Slot slot) {
    if (slot == Slot::dO) return p.dO ? *p.dO : p.dO.emplace();
    p.projection.reset();  // the new matrix is not the product of X and a weight any more
    return slot == Slot::K ? p.K : slot == Slot::V ? p.V : p.Q;
}

bool is_json(const std::string& path) { return lower_case(path).ends_with(".json"); }

// Pasted where a file is named, as it is or behind the address of a page.
Result<Problem> problem_of_link(std::string_view link, SavedView* view) {
    const auto place = place_of_link(link);
    if (!place) return Failure{place.error};
    if (place->page != "walk")
        return Failure{"This link leads to the page " + place->page + "; tilewalk --link '…' opens it."};
    if (view)
        *view = {.lesson = place->lesson,
                 .step = place->step,
                 .row = place->row,
                 .presenter = place->presenter,
                 .panel = place->panel};
    return place->problem;
}

// "q.csv k.csv v.csv" where one name has room; a name with spaces in it is one if there is such a file.
std::vector<std::string> named_in(const std::string& text) {
    std::error_code error;
    if (std::filesystem::exists(text, error)) return {text};
    std::vector<std::string> out;
    std::string name;
    for (const char c : text + " ") {
        if (c != ' ' && c != ',') {
            name += c;
        } else if (!name.empty()) {
            if (!std::filesystem::exists(name, error)) return {text};
            out.push_back(std::exchange(name, {}));
        }
    }
    return out.empty() ? std::vector{text} : out;
}

// A matrix of another size than those that it comes to
std::optional<Failure> does_not_fit(const Problem& p, const std::string& what, const std::string& otherwise) {
    if (p.Q.cols() == p.K.cols() && p.K.rows() == p.V.rows()) return std::nullopt;
    const auto size = [](const char* name, const Matrix& m) {
        return std::string(name) + " " + str(m.rows()) + " × " + str(m.cols());
    };
    return Failure{"With " + what + ", " + size("Q is", p.Q) + ", " + size("K", p.K) + " and " +
                   size("V", p.V) + "; " + otherwise};
}

// What belonged to other numbers goes.
void settle(Problem& problem, std::string title) {
    const bool dO_fits =
        problem.dO && problem.dO->rows() == problem.Q.rows() && problem.dO->cols() == problem.Q.cols();
    if (!dO_fits) problem.dO.reset();
    if (static_cast<int>(problem.tokens.size()) != std::max(problem.N(), problem.N_kv()))
        problem.tokens.clear();
    choose_row(problem.options, problem.options.row, problem.N());
    problem.name.clear();
    problem.seed.reset();
    problem.title = std::move(title);
    problem.watch.clear();
}

Failure not_named(const std::string& path) {
    return failure_at(path, "the name does not say which matrix this is, expected q, k, v or do in it");
}

}  // namespace

Result<Problem> load_dropped_files(const std::vector<std::string>& given, const Problem& current, Slot target,
                                   SavedView* view) {
    if (given.empty()) return Failure{"No file was named."};
    if (const std::size_t link = given[0].find("tilewalk:"); given.size() == 1 && link != std::string::npos)
        return problem_of_link(std::string_view(given[0]).substr(link), view);
    const std::vector<std::string> paths = given.size() == 1 ? named_in(given[0]) : given;
    if (paths.size() == 1 && is_json(paths[0])) return load_problem_file(paths[0], view);

    Problem problem = current;
    for (const std::string& path : paths) {
        if (is_json(path))
            return failure_at(path, "a problem file holds all matrices, expected it to come alone");
        Slot slot = slot_of_name(path);
        if (slot == Slot::count && paths.size() == 1) slot = target;
        if (!is_matrix_path(path) && !std::filesystem::is_directory(path))
            return failure_at(
                path,
                "expected a problem or walk (.json), a matrix (.csv, .tsv, .npy), a tour (.md) or a link");
        if (slot == Slot::count) return not_named(path);
        Result<Matrix> matrix = load_matrix(path);
        if (!matrix) return Failure{matrix.error};
        matrix_of(problem, slot) = std::move(*matrix);
    }
    if (paths.size() < 3)
        if (const auto wrong =
                does_not_fit(problem, paths.front() + (paths.size() > 1 ? " and what came with it" : ""),
                             "name or drop Q, K and V together, as q.csv k.csv v.csv."))
            return *wrong;
    settle(problem, "From " + without_controls(std::filesystem::path(paths.front()).filename().string()));
    return problem;
}

Result<Problem> take_table(const std::string& table, const Problem& current, Slot target) {
    const bool tabs = table.find('\t') != table.npos, marks = table.find_first_of(",;") != table.npos;
    std::string text = table;
    // A row of numbers with spaces between them
    if (!tabs && !marks)
        for (std::size_t n = 0; n < text.size(); ++n)
            if (text[n] == ' ') text[n] = n > 0 && text[n - 1] != '\t' && text[n - 1] != '\n' ? '\t' : ' ';
    Result<Matrix> matrix =
        matrix_from_csv(text, tabs || !marks ? '\t' : csv_separator(text), "The clipboard");
    if (!matrix) return Failure{matrix.error};
    Problem problem = current;
    matrix_of(problem, target) = std::move(*matrix);
    if (auto wrong = does_not_fit(problem, "the table of the clipboard",
                                  "load Q, K and V together, as q.csv k.csv v.csv."))
        return *wrong;
    settle(problem, "From the clipboard");
    return problem;
}

// ---- Time

ui::ClockTime time_now() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now().time_since_epoch();
    return {local.tm_hour, local.tm_min, seconds.count()};
}

ui::ClockTime time_of_pictures() { return {10, 15, 0}; }

// ---- Results

Result<std::vector<BenchReport>> load_results(const std::vector<std::string>& paths) {
    std::vector<BenchReport> reports;
    for (const std::string& path : paths) {
        auto report = load_bench_file(path);
        if (!report) return Failure{report.error};
        reports.push_back(std::move(*report));
    }
    return reports;
}

Result<void> save_results(const std::string& path, const std::vector<BenchReport>& reports,
                          const std::string& kind) {
    if (kind == "csv") return write_file_atomic(path, bench_to_csv(reports));
    if (kind == "report") return write_file_atomic(path, bench_to_markdown(reports));
    std::vector<BenchReport> own = reports;
    std::erase_if(own, [](const BenchReport& report) { return !report.source.empty(); });
    const auto joined = join_reports(own.empty() ? reports : own);
    if (!joined) return Failure{joined.error};
    return write_file_atomic(path, bench_to_json(*joined));
}

// On a page of their own, without what lies between them on the screen.
static std::string svg_of_plots(const ui::ChartScene& scene, const ui::Theme& theme) {
    const DrawingApart apart;
    const ui::Rect all = ui::bounds(scene);
    const int width = static_cast<int>(std::lround(all.w)), height = static_cast<int>(std::lround(all.h));
    const auto draw = [&](const ui::Canvas& page) {
        const ui::Canvas canvas = page.moved(-all.x, -all.y);
        for (const ui::Rect& panel : scene.panels) canvas.panel(panel.x, panel.y, panel.w, panel.h);
        ui::paint(canvas, scene);
    };
    return ui::to_svg(vectors_of(width, height, 1, false, theme, draw), width, height);
}

Result<void> save_plot(const std::string& path, const ui::ChartScene& scene, const ui::Theme& theme,
                       const std::string& kind) {
    if (kind == "svg") return write_file_atomic(path, svg_of_plots(scene, theme));
    return write_file_atomic(path, encode_png(picture_of_plots(scene, theme)));
}

}  // namespace tilewalk
