// Results and plots in files: opened, written, by the hooks that the program provides.
#include "app/ui/chapters/scale/page.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <string_view>

namespace tilewalk::ui {

namespace {

struct Kind {
    std::string_view name, ending;
};
constexpr std::array<Kind, 5> kinds = {
    {{"csv", ".csv"}, {"json", ".json"}, {"report", ".md"}, {"svg", ".svg"}, {"png", ".png"}}};

bool draws(const std::string& kind) { return kind == "svg" || kind == "png"; }

// The name that was typed, with the ending of the kind in place of another's.
std::string path_for(std::string path, std::string_view ending) {
    for (const Kind& kind : kinds)
        if (path.ends_with(kind.ending)) {
            path.resize(path.size() - kind.ending.size());
            break;
        }
    return path.append(ending);
}

std::string_view ending_of(const std::string& name) {
    const auto kind = std::ranges::find_if(kinds, [&](const Kind& one) { return one.name == name; });
    return kind == kinds.end() ? "" : kind->ending;
}

std::vector<BenchReport> all_reports(const ScalePage& page) {
    std::vector<BenchReport> all;
    for (const ShownReport& shown : page.kept) all.push_back(shown.report);
    return all;
}

}  // namespace

void load_results(AppState& state, const std::vector<std::string>& paths) {
    if (!state.hooks.load_results) return notify(state, "Results cannot be opened here.");
    Result<std::vector<BenchReport>> reports = state.hooks.load_results(paths);
    if (!reports) return notify(state, reports.error);
    add_reports(state, *reports);
    state.scale.card = false;
    notify(state, "Opened " + paths.front() + (paths.size() > 1 ? " and more." : "."));
}

const char* why_no_export(const AppState& state, const std::string& kind) {
    if (draws(kind) ? !state.hooks.save_plot : !state.hooks.save_results)
        return "Files cannot be written here";
    if (!state.bench || state.bench->reports.empty()) return "There is nothing to write before a run";
    if (draws(kind) && state.bench->time.scene.panels.empty()) return "The plots have not been drawn yet";
    return nullptr;
}

void export_results(AppState& state, const std::string& kind) {
    if (const char* why = why_no_export(state, kind)) return notify(state, std::string(why) + ".");
    if (state.scale.path[0] == 0)
        return notify(state, "Type a file name to write to, for example results.json.");
    const std::string path = path_for(state.scale.path, ending_of(kind));
    const ScalePage& page = scale_page(state);
    const auto saved = draws(kind)
                           ? state.hooks.save_plot(path, together({&page.time.scene, &page.memory.scene}),
                                                   theme(state.settings.theme), kind)
                           : state.hooks.save_results(path, all_reports(page), kind);
    notify_saved(state, path, saved);
}

}  // namespace tilewalk::ui
