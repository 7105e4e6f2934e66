#include "app/ui/cards/cards.h"
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/page.h"

namespace tilewalk::ui {

namespace {

constexpr KeyPress shift(Key key) { return {key, true}; }
constexpr KeyPress ctrl(Key key) { return {key, false, true}; }
constexpr KeyPress alt(Key key) { return {key, false, false, true}; }
constexpr KeyPress ctrl_shift(Key key) { return {key, true, true}; }

Shortcut of(const char* group, const Card& card) {
    return {group, card.keys_shown, card.action, {card.shortcut}};
}

// 1 … 9 with the same modifiers.
std::vector<KeyPress> digits(bool with_shift, bool with_ctrl) {
    std::vector<KeyPress> out;
    for (int n = 0; n < 9; ++n)
        out.push_back({static_cast<Key>(static_cast<int>(Key::one) + n), with_shift, with_ctrl});
    return out;
}

std::vector<Shortcut> walk_keys() {
    const char* const g = "Walk";
    return {{g, "→  ←", "next, previous step", {{Key::right}, {Key::left}}},
            {g, "PgDn  PgUp", "next, previous step; in a tour: stop", {{Key::page_down}, {Key::page_up}}},
            {g,
             "Shift →  ←",
             "next, previous tile",
             {shift(Key::right), shift(Key::left), shift(Key::page_down), shift(Key::page_up)}},
            {g,
             "Ctrl →  ←",
             "next, previous query block",
             {ctrl(Key::right), ctrl(Key::left), ctrl(Key::page_down), ctrl(Key::page_up)}},
            {g,
             "Alt →  ←",
             "row by row",
             {alt(Key::right), alt(Key::left), alt(Key::page_down), alt(Key::page_up)}},
            {g, "Home  End", "first, last step", {{Key::home}, {Key::end}}},
            {g, "Space", "play, pause", {{Key::space}}},
            of(g, goto_card),
            {g, "N  Shift N", "next, previous noteworthy step", {{Key::n}, shift(Key::n)}},
            {g, "M", "next rise of a maximum", {{Key::m}}},
            {g, "J", "loop: its first step, its last, off", {{Key::j}}},
            {g,
             "+  −",
             "timeline: closer, further",
             {{Key::plus}, {Key::minus}, shift(Key::plus), shift(Key::minus)}},
            {g, "F9", "stop here while playing, on and off", {{Key::f9}}},
            of(g, marks_card),
            {g, "Ctrl 1 … 9", "go to bookmark", digits(false, true)},
            {g, "Ctrl Shift 1 … 9", "set bookmark", digits(true, true)}};
}

std::vector<Shortcut> number_keys() {
    const char* const g = "Numbers";
    return {{g, "↑  ↓", "row of the formula", {{Key::up}, {Key::down}}},
            {g, "Shift ↑  ↓", "column of the formula", {shift(Key::up), shift(Key::down)}},
            {g, "W  Enter", "where does this number come from", {{Key::w}, {Key::enter}}},
            {g, "Backspace", "where from: one number back", {{Key::backspace}}},
            {g, "B", "before and after the step", {{Key::b}}},
            {g, "C", "formula or pseudocode", {{Key::c}}},
            {g, "E  Shift E", "softmax: next, previous line of the derivation", {{Key::e}, shift(Key::e)}},
            {g, "S  Shift S", "softmax: cut of the proof to and fro", {{Key::s}, shift(Key::s)}},
            {g, "D  Shift D", "next difference, next NaN of a broken walk", {{Key::d}, shift(Key::d)}},
            {g, "Ctrl C  Ctrl V", "copy cell or explanation; paste a table", {ctrl(Key::c), ctrl(Key::v)}},
            {g, "F2", "edit the cell that is pointed at or chosen", {{Key::f2}}},
            of(g, matrix_menu_card),
            {g, "Ctrl Z  Ctrl Y", "undo, redo an edit", {ctrl(Key::z), ctrl(Key::y), ctrl_shift(Key::z)}}};
}

std::vector<Shortcut> program_keys() {
    const char* const g = "Program";
    return {{g, "0  H", "start page", {{Key::zero}, {Key::h}}},
            {g, "1 … 9", "chapter of that number", digits(false, false)},
            {g, "Shift 0", "chapter 10", {shift(Key::zero)}},
            {g, finder_card.keys_shown, finder_card.action, {finder_card.shortcut, {Key::colon}}},
            {g, "Ctrl Tab", "next lesson; with Shift the previous", {ctrl(Key::tab), ctrl_shift(Key::tab)}},
            {g, "I", "problem: inputs, tiles, mask", {{Key::i}}},
            of(g, problem_card),
            of(g, heads_card),
            {g, "X", "break it: faults, formats; on stage: repair", {{Key::x}}},
            of(g, fault_card),
            {g, "Shift 1 … 9", "presenter mode: that fault, on and off", digits(true, false)},
            of(g, tour_card),
            {g, "Shift U", "tour on stage: all words of a stop", {shift(Key::u)}},
            {g,
             "Shift PgDn",
             "in a tour: next chapter; PgUp: previous",
             {shift(Key::page_down), shift(Key::page_up)}},
            of(g, quiz_card),
            of(g, glossary_card),
            of(g, settings_card),
            {g, help_card.keys_shown, help_card.action, {help_card.shortcut, {Key::f1}}},
            of(g, menu_card),
            of(g, save_card),
            {g, "Ctrl O", "open a file by its name", {ctrl(Key::o)}},
            {g, "Ctrl L", "copy a link to this place, to share it", {ctrl(Key::l)}},
            {g, "V", "to the kernel's lane, and back", {{Key::v}}},
            {g, "Tab  Shift Tab", "to the next, previous button or field", {{Key::tab}, shift(Key::tab)}},
            {g, "Enter  Space", "press what is focused; arrows change it", {{Key::enter}, {Key::space}}},
            {g, "Esc", "close what lies on top; back to the walk", {{Key::escape}}}};
}

std::vector<Shortcut> view_keys() {
    const char* const g = "View";
    return {
        {g, "P  F5  F11", "presenter mode", {{Key::p}, {Key::f5}, {Key::f11}}},
        {g, ".", "presenter mode: blank screen", {{Key::period}}},
        {g, "Shift P", "speaker: notes, next step, time", {shift(Key::p)}},
        {g, "Ctrl Shift P", "speaker: window or panel", {ctrl_shift(Key::p)}},
        {g, "Alt P", "speaker: swap the two screens", {alt(Key::p)}},
        {g, "Shift G", "speaker: choose a stop", {shift(Key::g)}},
        {g, "Shift R", "speaker: stop the time, go on", {shift(Key::r)}},
        {g, "Ctrl Shift R", "speaker: time from zero", {ctrl_shift(Key::r)}},
        {g, "Alt +  Alt −", "speaker: size of the notes", {alt(Key::plus), alt(Key::minus)}},
        {g, "T", "theme: dark, light, contrast", {{Key::t}}},
        {g, "A", "motion on, off", {{Key::a}}},
        {g, "Ctrl +  Ctrl −", "larger, smaller", {ctrl(Key::plus), ctrl(Key::minus), ctrl_shift(Key::plus)}},
        {g, "Ctrl 0", "normal size", {ctrl(Key::zero)}}};
}

std::vector<Shortcut> all_keys() {
    std::vector<Shortcut> out = walk_keys();
    for (const auto& more : {number_keys(), program_keys(), moment_keys(), view_keys(), memory_keys(),
                             scale_keys(), inside_keys(), compare_keys(), start_keys()})
        out.insert(out.end(), more.begin(), more.end());
    return out;
}

}  // namespace

std::span<const Shortcut> shortcuts() {
    static const std::vector<Shortcut> table = all_keys();
    return table;
}

}  // namespace tilewalk::ui
