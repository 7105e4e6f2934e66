// The cards that lie over the page. One table: drawn forward, asked for keys backward, read by the tests.
// What a card does with keys, how it looks and its row of the table stand in its own file.
#pragma once

#include "app/settings/settings.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/key.h"
#include "app/ui/kit/layout.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tilewalk {
struct TourPlace;
}  // namespace tilewalk

namespace tilewalk::ui {

struct AppState;

struct Card {
    const char* name;        ///< of its panel and window
    const char* keys_shown;  ///< "Shift F9"
    const char* action;      ///< what they do, for the list of keys
    KeyPress shortcut;
    bool of_walk = false;       ///< pages without a walk have another use for its shortcut
    bool before_focus = false;  ///< what has the focus gets only those keys that the card leaves
    bool modal = false;         ///< a dialog: no key that it leaves goes to the page
    bool (*is_open)(const AppState&);
    /// What the shortcut does; for some cards it closes them, too.
    void (*open)(AppState&);
    /// Asked while the card is open. True if the key belonged to it.
    bool (*answer_key)(AppState&, const KeyPress&);
    void (*draw)(const Canvas&, AppState&, float W, float H);
};

extern const Card tour_card, quiz_card, marks_card, settings_card, glossary_card, help_card, save_card,
    matrix_menu_card, menu_card, goto_card, finder_card, fault_card, problem_card, heads_card;
/// From the lowest to the topmost.
inline constexpr const Card* cards[] = {
    &tour_card,        &quiz_card,    &marks_card, &settings_card, &glossary_card, &help_card, &save_card,
    &matrix_menu_card, &problem_card, &heads_card, &fault_card,    &menu_card,     &goto_card, &finder_card};

void draw_cards(const Canvas& canvas, AppState& state, float W, float H);
/// Asks the open cards, what lies on top first. `before_focus`: those that come before what has the focus, or
/// the others. True if the key belonged to one.
bool answer_card_key(AppState& state, const KeyPress& press, bool before_focus);
/// Closes those that cover the page; the tour, questions and breakpoints lie beside it.
void close_covering_cards(AppState& state);
bool dialog_is_open(const AppState& state);
/// True if the key is the shortcut of a card.
bool open_card(AppState& state, const KeyPress& press);

// ---- Where presenter mode has the cards that take the place of parts of its page; empty: closed

Rect question_band(const Canvas& canvas, const AppState& state, float W, float H);
Rect tour_band(const Canvas& canvas, const AppState& state, float W, float H);

/// A row of the settings; `on`: a switch.
struct SettingName {
    const char *name, *note;
    bool Settings::*on;
};
std::vector<SettingName> setting_names();

/// Opens it at a term; without one at what the current step is about.
void open_glossary(AppState& state, std::string_view term = {});
void open_save_card(AppState& state);

/// Where this frame shows what a stop points at, in logical px; nothing if it does not.
std::optional<Rect> tour_place(const Canvas& canvas, const TourPlace& place);

// ---- All keys, as the list of keys shows them; a test holds them against what keys do (shortcuts.cpp)

std::span<const Shortcut> shortcuts();

}  // namespace tilewalk::ui
