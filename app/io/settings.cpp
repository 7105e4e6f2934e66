#include "app/io/settings.h"

#include "app/io/file.h"
#include "core/base/numbers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>

namespace tilewalk {
namespace {

using nlohmann::json;
using ui::Settings;

constexpr std::size_t largest_file = std::size_t{16} << 20;
constexpr const char* theme_names[] = {"dark", "light", "contrast"};
constexpr const char* palette_names[] = {"usual", "safe"};
constexpr const char* speaker_names[] = {"by_screens", "window", "panel"};
constexpr const char* gaps_wanted_names[] = {"growing", "one", "few", "row", "tile"};
constexpr const char* letter_names[] = {"l_O", "d_o", "delta_omega"};

// Each reader returns false, and leaves the default, where the type is wrong.
bool read(const json& entry, bool& value) {
    if (entry.is_boolean()) entry.get_to(value);
    return entry.is_boolean();
}

bool read(const json& entry, std::string& value) {
    if (entry.is_string()) entry.get_to(value);
    return entry.is_string();
}

// Through double, where every number fits, and into the range before it becomes a narrower type.
template <class T> bool read(const json& entry, T& value, double low, double high) {
    if (entry.is_number()) value = static_cast<T>(std::clamp(entry.get<double>(), low, high));
    return entry.is_number();
}

// One of several names; an empty one is as good as none.
template <class Choice, std::size_t count>
bool read(const json& entry, Choice& value, const char* const (&names)[count]) {
    const auto found = std::ranges::find_if(names, [&](const char* name) { return entry == name; });
    if (found != std::end(names)) value = static_cast<Choice>(found - std::begin(names));
    return found != std::end(names) || entry.empty();
}

json written(const auto& value) { return value; }
json written(const auto& value, double, double) { return value; }
json written(auto choice, const auto& names) { return names[static_cast<std::size_t>(choice)]; }

// Every setting with its key, and its range or its names.
template <class Any, class Visit> void visit_settings(Any& settings, Visit visit) {
    visit("theme", settings.theme, theme_names);
    visit("palette", settings.palette, palette_names);
    visit("letters", settings.letters, letter_names);
    visit("digits", settings.digits, fewest_digits, most_digits);
    visit("decimal_comma", settings.decimal_comma);
    visit("spotlight", settings.spotlight);
    visit("subtitles", settings.subtitles);
    visit("pseudocode", settings.pseudocode);
    visit("question_each", settings.question_each);
    visit("gaps", settings.gaps, gaps_wanted_names);
    visit("tour_offered", settings.tour_offered);
    visit("tour_stop", settings.tour_stop, 0, 200);
    visit("speaker", settings.speaker, speaker_names);
    visit("notes_size", settings.notes_size, 16, 34);
    visit("zoom", settings.zoom, 0.5, 3.0);
    visit("motion", settings.motion);
    visit("speed", settings.speed, 0.1, 60.0);
    visit("window_width", settings.window_width, 1024, 16384);
    visit("window_height", settings.window_height, 640, 16384);
    visit("start_page", settings.start_page);
    visit("example", settings.example);
    visit("problem_json", settings.problem_json);
    visit("page", settings.page);
    visit("lesson", settings.lesson);
    visit("step", settings.step, 1, 1e9);
    visit("row", settings.row, 0, 1e6);
    visit("open", settings.open);
}

LoadedSettings defaults(const std::string& path, const std::string& why) {
    return {.notice = "The settings in " + path + " are not used: " + why + "."};
}

}  // namespace

std::string settings_path() {
    const auto absolute = [](const char* name) {
        const char* text = std::getenv(name);
        return text && text[0] == '/' ? std::string(text) : std::string();
    };
    if (std::string folder = absolute("XDG_CONFIG_HOME"); !folder.empty())
        return folder + "/tilewalk/settings.json";
    if (std::string home = absolute("HOME"); !home.empty()) return home + "/.config/tilewalk/settings.json";
    return "";
}

LoadedSettings load_settings(const std::string& path) {
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) return {};
    const Result<std::string> text = read_file(path, largest_file);
    return text ? settings_from_text(*text, path) : defaults(path, text.error);
}

LoadedSettings settings_from_text(std::string_view text, const std::string& path) {
    const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object()) return defaults(path, "the file is not a JSON object");
    LoadedSettings loaded;
    std::string wrong;
    visit_settings(loaded.settings, [&](const char* key, auto& value, const auto&... limits) {
        const auto entry = parsed.find(key);
        if (entry != parsed.end() && wrong.empty() && !read(*entry, value, limits...)) wrong = key;
    });
    if (!wrong.empty()) return defaults(path, "\"" + wrong + "\" has a value of the wrong kind");
    loaded.found = true;
    return loaded;
}

bool leftovers_are_due(const std::string& folder, std::chrono::steady_clock::time_point now) {
    static std::map<std::string, std::chrono::steady_clock::time_point> looked_at;
    const auto [last, first] = looked_at.try_emplace(folder, now);
    if (!first && now - last->second < std::chrono::minutes(1)) return false;
    last->second = now;
    return true;
}

std::string settings_text(const Settings& settings) {
    json object;
    visit_settings(settings, [&](const char* key, const auto& value, const auto&... limits) {
        object[key] = written(value, limits...);
    });
    // Names that came from elsewhere may hold bytes that are not UTF-8.
    return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<void> save_settings(const std::string& path, const Settings& settings) {
    if (path.empty()) return {};
    // An error here shows again, with its reason, when the file is written.
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::filesystem::create_directories(folder, error);
    if (leftovers_are_due(folder.string(), std::chrono::steady_clock::now()))
        remove_leftovers(folder.string());
    return write_file_atomic(path, settings_text(settings));
}

}  // namespace tilewalk
