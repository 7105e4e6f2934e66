#include "app/ui/chapters/memory/memory.h"

#include "app/ui/state/state.h"

#include <algorithm>
#include <imgui.h>
#include <limits>
#include <optional>

namespace tilewalk::ui {

namespace {

constexpr float trip_seconds = 1.1f, fill_seconds = 0.16f;

std::optional<double> read(const char* field) {
    const std::string_view text = field;
    const auto value = number_in<double>(text.substr(0, text.find_last_not_of(' ') + 1));
    return value && *value > 0 && *value < 1e12 ? value : std::nullopt;
}

void take(Figure& figure, const char* field, double unit) {
    const auto value = read(field);
    if (value) figure = {*value * unit, "your own number"};
}

Hardware own_hardware(const MemoryForm& form) {
    Hardware h = hardware_list().front();
    h.id = "own", h.name = "Your GPU", h.memory = "HBM";
    h.on_chip = h.host = {};
    h.sram = h.shared;
    take(h.capacity, form.own.capacity, 1024.0 * 1024 * 1024);
    take(h.bandwidth, form.own.bandwidth, 1e9);
    take(h.sms, form.own.sms, 1);
    take(h.shared, form.own.shared, 1024);
    h.sram = h.shared;
    // One rate, of the format that is chosen.
    Figure& peak = form.element_bytes == 4 ? h.fp32 : form.element_bytes == 1 ? h.fp8 : h.fp16;
    take(peak, form.own.peak, 1e12);
    return h;
}

}  // namespace

bool readable(const char* field) { return read(field).has_value(); }

Hardware chosen_hardware(const MemoryForm& form) {
    const auto list = hardware_list();
    const auto n = static_cast<std::size_t>(std::max(form.hardware, 0));
    return n < list.size() ? list[n] : own_hardware(form);
}

StudyInput memory_input(const MemoryForm& form) {
    StudyInput in;
    in.hardware = chosen_hardware(form);
    in.N = form.N, in.d = form.d, in.heads = form.heads, in.batch = form.batch;
    in.element_bytes = form.element_bytes;
    in.tile = {form.Br, form.Bc};
    in.rule = form.rule;
    return in;
}

void step_N(MemoryForm& form, int by) {
    std::int64_t power = 1;
    while (power * 2 <= form.N) power *= 2;
    if (by > 0) power *= 2;
    if (by < 0 && power == form.N) power /= 2;
    form.N = std::clamp<std::int64_t>(power, std::min<std::int64_t>(form.N, 512), largest_N);
}

void step_trip(MemoryForm& form, int by) {
    form.playing = false;
    const int to = std::clamp(form.trips + by, 0, 3);
    if (to > form.trips) form.trip_age = 0;
    form.trips = to;
}

void play_trips(MemoryForm& form) {
    form.playing = !form.playing;
    if (!form.playing) return;
    if (form.trips == 3) form.trips = 0;
    form.trip_age = 0;
}

std::vector<Shortcut> memory_keys() {
    const char* const g = "Memory";
    return {{g, "←  →", "round trip; presenter mode: length", {{Key::left}, {Key::right}}},
            {g, "↑  ↓", "length: longer, shorter", {{Key::up}, {Key::down}}},
            {g, "Space", "play the round trips", {{Key::space}}}};
}

bool answer_memory_key(AppState& state, const KeyPress& press) {
    MemoryForm& form = state.memory;
    if (press.ctrl && press.key == Key::c) {
        ImGui::SetClipboardText(verdict(study(memory_input(form))).c_str());
        notify(state, "Copied what the numbers come to.");
        return true;
    }
    if (press.ctrl && prints_one_of(press.key, "zy")) return true;  // edits belong to a walk
    const int by = press.key == Key::right || press.key == Key::page_down ? 1 : -1;
    switch (press.key) {
    case Key::left:
    case Key::right:
    case Key::page_up:
    case Key::page_down: state.presenter ? step_N(form, by) : step_trip(form, by); return true;
    case Key::up: step_N(form, 1); return true;
    case Key::down: step_N(form, -1); return true;
    case Key::home: form.N = 512; return true;
    case Key::end: form.N = 131072; return true;
    case Key::space: play_trips(form); return true;
    default: return prints_one_of(press.key, "gicmbx");  // which belong to a walk
    }
}

void pass_memory_time(AppState& state, float seconds) {
    MemoryForm& form = state.memory;
    form.trip_age += seconds;
    if (!form.playing || form.trip_age < trip_seconds) return;
    form.playing = ++form.trips < 3;
    form.trip_age = 0;
}

double memory_idle_seconds(const AppState& state) {
    const MemoryForm& form = state.memory;
    if (state.settings.motion && form.trip_age < fill_seconds + 0.05f) return 0;
    if (form.playing) return std::max(0.0, static_cast<double>(trip_seconds - form.trip_age));
    return std::numeric_limits<double>::infinity();
}

float trip_progress(const AppState& state) {
    if (state.still || !state.settings.motion) return 1;
    const float t = std::clamp(state.memory.trip_age / fill_seconds, 0.0f, 1.0f);
    return 1 - (1 - t) * (1 - t) * (1 - t);
}

}  // namespace tilewalk::ui
