// tilewalk without a command
#include "app/cli/commands.h"
#include "app/cli/last_time.h"
#include "app/cli/values.h"
#include "app/io/end_request.h"

namespace tilewalk {

Outcome run_window_command(const Arguments& a, WindowOptions options, const WindowRunner& open_window) {
    WordReader read;
    read.count("--frames", a.frames, 1, 1000000, options.frames);
    if (!read.error.empty()) return bad_input(read.error);
    options.screenshot = a.screenshot.value_or("");
    options.timing = a.timing;
    const bool remembers = !a.frames && !a.screenshot;

    const std::string path = remembers ? settings_path() : "";
    const LoadedSettings loaded = load_settings(path);
    const EndRequest request;
    Result<ui::AppState> state = begin_window(a, loaded, remembers);
    if (!state) return bad_input(state.error);
    bool moved = false;
    if (remembers)
        options.keep = [&](ui::AppState& shown) { (void)keep_all(path, loaded, shown, true, moved); };
    const int code = open_window(*state, options);
    if (code != 0) return {static_cast<Exit>(code), ""};
    const auto saved = keep_all(path, loaded, *state, false, moved);
    if (saved) request.grant();
    // A window that was used as it should be has not failed because its settings cannot be kept.
    return {Exit::done, saved.error};
}

}  // namespace tilewalk
