// The settings: size, colours, numbers, letters, motion.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/focus.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

/// One row: its name at the left, what changes it at the right.
struct Row {
    const char* name;
    const char* note;  ///< what it does, in the normal view
    void (*control)(const Canvas&, AppState&, float x, float y, float size);
    bool Settings::*on = nullptr;  ///< a switch, in place of `control`
};

// A choice among the values of an enumeration or a range that begins at `first`.
template <class Value>
bool choice(const Canvas& c, const char* id, float x, float y, float size,
            const std::vector<std::string>& labels, Value& value, int first = 0) {
    int current = static_cast<int>(value) - first;
    if (!segmented(c, id, x, y - (size > 20 ? 23.0f : 16.0f), labels, current, size)) return false;
    value = static_cast<Value>(current + first);
    return true;
}

void theme_row(const Canvas& c, AppState& s, float x, float y, float size) {
    choice(c, "##set theme", x, y, size, {"Dark", "Light", "High contrast"}, s.settings.theme);
}

// The hues beside it: letters as formulas show them.
void palette_row(const Canvas& c, AppState& s, float x, float y, float size) {
    choice(c, "##set palette", x, y, size, {"Usual", "Colour-blind safe"}, s.settings.palette);
    float at = x + segmented_width({"Usual", "Colour-blind safe"}, size) + 20;
    for (const Slot slot : {Slot::Q, Slot::K, Slot::V, Slot::S, Slot::m, Slot::l, Slot::alpha, Slot::O})
        at += c.rich(at, y, slot_symbol(slot), size > 20 ? 28 : 18) + size * .8f;
}

void size_row(const Canvas& c, AppState& s, float x, float y, float size) {
    int percent = static_cast<int>(std::lround(100 * s.settings.zoom));
    const float w = size > 20 ? 240.0f : 150.0f;
    if (stepper(c, "##set size", x, y - (size > 20 ? 22.0f : 16.0f), w, percent, 50, 300)) {
        // One press of − or + is a tenth, a typed number is taken as it is.
        const int before = static_cast<int>(std::lround(100 * s.settings.zoom)), by = percent - before;
        s.settings.zoom = px(std::abs(by) == 1 ? std::clamp(before + 10 * by, 50, 300) : percent) / 100;
    }
    c.text(x + w + 10, y, "%", size, c.theme->t2);
}

void digits_row(const Canvas& c, AppState& s, float x, float y, float size) {
    choice(c, "##set digits", x, y, size, {"3", "4", "5", "6"}, s.settings.digits, fewest_digits);
}

void mark_row(const Canvas& c, AppState& s, float x, float y, float size) {
    const char* const labels[] = {"1.5", "1,5"};
    choice(c, "##set decimal mark", x, y, size, {labels[0], labels[1]}, s.settings.decimal_comma);
    const float at = x + segmented_width({labels[0], labels[1]}, size) + 20;
    // Thousands are set apart by a thin space in either case.
    c.text(at, y, format_number(std::sqrt(2.0)) + "     " + format_count(131072), size, c.theme->t2,
           Face::mono);
}

void letters_row(const Canvas& c, AppState& s, float x, float y, float size) {
    if (!choice(c, "##set letters", x, y, size, {"m  ℓ  O", "m  d′  o′", "m  δ  ω"}, s.settings.letters))
        return;
    Problem problem = latest_problem(s);
    problem.options.notation = static_cast<Notation>(s.settings.letters);
    set_problem(s, std::move(problem), false);
}

void speed_row(const Canvas& c, AppState& s, float x, float y, float size) {
    auto speed = px(s.settings.speed);
    const float w = size > 20 ? 300.0f : 170.0f;
    if (slider(c, "##set speed", x + 8, y, w, speed, .1f, 60, true))
        s.settings.speed = static_cast<double>(speed);
    c.text(x + w + 28, y,
           format_number(s.settings.speed, 2) + (s.settings.speed == 1 ? " step/s" : " steps/s"), size,
           c.theme->t2);
}

void questions_row(const Canvas& c, AppState& s, float x, float y, float size) {
    const std::string each = "every step";
    toggle(c, "##set questions", x, y, each, s.settings.question_each);
    choice(c, "##set gaps", x + text_width(Face::regular, size, each) + 76, y, size,
           {"Growing", "1", "2–3", "Row", "Tile"}, s.settings.gaps);
}

constexpr Row rows[] = {
    {"Theme", "", theme_row},
    {"Colours", "", palette_row},
    {"Size", "Ctrl + and Ctrl − do the same", size_row},
    {"Motion", "tiles slide, sums grow", nullptr, &Settings::motion},
    {"Speed", "while playing", speed_row},
    {"Digits", "significant, where there is room", digits_row},
    {"Decimal mark", "", mark_row},
    {"Letters", "of the softmax lessons", letters_row},
    {"Spotlight", "presenter mode dims what the step leaves alone", nullptr, &Settings::spotlight},
    {"Subtitles", "presenter mode says the step in a sentence", nullptr, &Settings::subtitles},
    {"Questions", "numbers asked at once", questions_row},
    {"Start page", "the program begins with it", nullptr, &Settings::start_page}};

void draw_rows(const Canvas& c, AppState& state, const Rect& a, float row, bool big) {
    const float size = big ? size::far : size::body, control = a.x + (big ? 250.0f : 150.0f);
    float y = a.y + row / 2;
    for (const Row& one : rows) {
        c.text(a.x, y, one.name, size, 0, Face::medium);
        if (one.on) {
            bool& on = state.settings.*one.on;
            toggle(c, ("##set " + lower_case(one.name)).c_str(), control, y, on ? "on" : "off", on);
        } else {
            one.control(c, state, control, y, size);
        }
        if (!big) c.text(a.right(), y, one.note, size::small, c.theme->t3, Align::right);
        y += row;
    }
}

bool answer_key(AppState& state, const KeyPress& press) {
    switch (press.key) {
    case Key::escape: state.show_settings = false; return true;
    case Key::o: state.show_settings = false; return !press.ctrl;  // Ctrl O opens a file
    case Key::up: return focus_next_row(-1), true;
    case Key::down: return focus_next_row(1), true;
    case Key::enter:
    case Key::space: return true;
    default: return is_direction(press.key);  // not for the walk below
    }
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const bool big = state.presenter;
    const float head = big ? 64.0f : 62.0f, foot = big ? 64.0f : 60.0f, count = px(std::size(rows));
    const float w = std::min(W - 2 * space::window, big ? 1180.0f : 760.0f),
                row = std::min(big ? 49.0f : 42.0f, (H - 2 * space::window - head - foot) / count);
    const Rect a = centred(w, head + row * count + foot, W, H);
    const auto inside = [&](const Canvas& c) {
        c.text(a.x + 24, a.y + 34, "Settings", big ? 34 : 22, 0, Face::semibold);
        if (close_button(c, "##close settings", a)) state.show_settings = false;
        draw_rows(c, state, {a.x + 24, a.y + head, a.w - 48, 0}, row, big);
        const float h = big ? 48.0f : 34.0f, size = big ? size::far : size::body, y = a.bottom() - h - 12;
        ButtonLook look{.size = size};
        const float reset_w = button_width("Reset all", size), done_w = button_width("Done", size);
        if (button(c, "##reset settings", a.x + 24, y, reset_w, h, "Reset all", look)) reset_settings(state);
        look.primary = true;
        if (button(c, "##done settings", a.right() - 24 - done_w, y, done_w, h, "Done", look))
            state.show_settings = false;
    };
    show_card(main, "Settings", a, inside, Below::dimmed);
}

}  // namespace

std::vector<SettingName> setting_names() {
    std::vector<SettingName> out;
    for (const Row& row : rows) out.push_back({row.name, row.note, row.on});
    return out;
}

const Card settings_card{.name = "Settings",
                         .keys_shown = "O",
                         .action = "settings",
                         .shortcut = {Key::o},
                         .modal = true,
                         .is_open = [](const AppState& s) { return s.show_settings; },
                         .open = [](AppState& s) { s.show_settings = true; },
                         .answer_key = answer_key,
                         .draw = draw};

}  // namespace tilewalk::ui
