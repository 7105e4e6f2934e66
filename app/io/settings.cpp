#include "app/io/settings.h"

#include "app/io/file.h"
#include "core/base/numbers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace tilewalk {
namespace {

using nlohmann::json;
using ui::Settings;

constexpr std::size_t largest_file = std::size_t{16} << 20;
constexpr const char* theme_names[] = {"dark", "light", "contrast"};
constexpr const char* palette_names[] = {"usual", "safe"};
constexpr const char* letter_names[] = {"l_O", "d_o", "delta_omega"};

// Each reader leaves the default where the entry is missing and returns false where its type is wrong.
bool read(const json& object, const char* key, bool& value) {
    const auto entry = object.find(key);
    if (entry == object.end()) return true;
    if (!entry->is_boolean()) return false;
    value = entry->get<bool>();
    return true;
}

bool read(const json& object, const char* key, std::string& value) {
    const auto entry = object.find(key);
    if (entry == object.end()) return true;
    if (!entry->is_string()) return false;
    value = entry->get<std::string>();
    return true;
}

// Through double, where every number fits, and into the range before it becomes a narrower type.
template <class T> bool read(const json& object, const char* key, T& value, double low, double high) {
    const auto entry = object.find(key);
    if (entry == object.end()) return true;
    if (!entry->is_number()) return false;
    value = static_cast<T>(std::clamp(entry->get<double>(), low, high));
    return true;
}

// One of several names; an empty one is as good as none.
template <class Choice, std::size_t count>
bool read(const json& object, const char* key, Choice& value, const char* const (&names)[count]) {
    std::string name;
    if (!read(object, key, name)) return false;
    if (name.empty()) return true;
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) return false;
    value = static_cast<Choice>(found - std::begin(names));
    return true;
}

/// The key whose value cannot be used, or nothing.
const char* read_all(const json& object, Settings& settings) {
    if (!read(object, "theme", settings.theme, theme_names)) return "theme";
    if (!read(object, "palette", settings.palette, palette_names)) return "palette";
    if (!read(object, "letters", settings.letters, letter_names)) return "letters";
    if (!read(object, "digits", settings.digits, fewest_digits, most_digits)) return "digits";
    if (!read(object, "decimal_comma", settings.decimal_comma)) return "decimal_comma";
    if (!read(object, "spotlight", settings.spotlight)) return "spotlight";
    if (!read(object, "subtitles", settings.subtitles)) return "subtitles";
    if (!read(object, "question_each", settings.question_each)) return "question_each";
    if (!read(object, "tour_offered", settings.tour_offered)) return "tour_offered";
    if (!read(object, "zoom", settings.zoom, 0.5, 3.0)) return "zoom";
    if (!read(object, "motion", settings.motion)) return "motion";
    if (!read(object, "speed", settings.speed, 0.1, 60.0)) return "speed";
    if (!read(object, "window_width", settings.window_width, 1024, 16384)) return "window_width";
    if (!read(object, "window_height", settings.window_height, 640, 16384)) return "window_height";
    if (!read(object, "example", settings.example)) return "example";
    if (!read(object, "problem_json", settings.problem_json)) return "problem_json";
    return nullptr;
}

LoadedSettings defaults(const std::string& path, const std::string& why) {
    return {Settings{}, "The settings in " + path + " are not used: " + why + "."};
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
    if (!text) return defaults(path, text.error);

    const json parsed = json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object()) return defaults(path, "the file is not a JSON object");
    LoadedSettings loaded;
    if (const char* key = read_all(parsed, loaded.settings))
        return defaults(path, std::string("\"") + key + "\" has a value of the wrong kind");
    return loaded;
}

std::optional<std::string> save_settings(const std::string& path, const Settings& settings) {
    if (path.empty()) return std::nullopt;
    // An error here shows again, with its reason, when the file is written.
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);

    const json object = {{"theme", theme_names[static_cast<int>(settings.theme)]},
                         {"palette", palette_names[static_cast<int>(settings.palette)]},
                         {"letters", letter_names[static_cast<int>(settings.letters)]},
                         {"digits", settings.digits},
                         {"decimal_comma", settings.decimal_comma},
                         {"spotlight", settings.spotlight},
                         {"subtitles", settings.subtitles},
                         {"question_each", settings.question_each},
                         {"tour_offered", settings.tour_offered},
                         {"zoom", settings.zoom},
                         {"motion", settings.motion},
                         {"speed", settings.speed},
                         {"window_width", settings.window_width},
                         {"window_height", settings.window_height},
                         {"example", settings.example},
                         {"problem_json", settings.problem_json}};
    // Names that came from elsewhere may hold bytes that are not UTF-8.
    return write_file_atomic(path, object.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace tilewalk
