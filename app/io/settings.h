// What the program remembers from one start to the next, as a JSON file.
#pragma once

#include "app/settings/settings.h"
#include "core/base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace tilewalk {

/// $XDG_CONFIG_HOME/tilewalk/settings.json, else ~/.config/tilewalk/settings.json; empty if there is no home.
std::string settings_path();

struct LoadedSettings {
    ui::Settings settings{};
    bool found = false;  ///< there was a file that could be used
    std::string notice;  ///< one sentence if the file was there and could not be used, else empty
};

/// Reads the file. A file that is missing gives the defaults; one that is damaged or holds a value of the
/// wrong type gives the defaults and a notice. Numbers are brought into their ranges. An empty path: the
/// defaults.
LoadedSettings load_settings(const std::string& path);
/// What the text of such a file says; a notice names the path.
LoadedSettings settings_from_text(std::string_view text, const std::string& path);

/// True if this folder was not looked through in the minute before `now`: it may be large, and a save waits
/// for it. Then it counts as looked through.
bool leftovers_are_due(const std::string& folder, std::chrono::steady_clock::time_point now);

/// Writes the file, and its folder if need be. Returns the sentence of what went wrong. An empty path does
/// nothing.
Result<void> save_settings(const std::string& path, const ui::Settings& settings);
std::string settings_text(const ui::Settings& settings);

}  // namespace tilewalk
