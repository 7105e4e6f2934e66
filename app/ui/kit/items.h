// Things that answer to the mouse, drawn in the look of the program, and the list of what a frame showed,
// which tests read. Lengths in logical px of the canvas.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

#include <imgui.h>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

// ---- What a frame showed

enum class ItemKind { button, text, cell, panel, field };

struct Item {
    ItemKind kind = ItemKind::text;
    ImVec2 min, max;  ///< device px
    ImGuiID id = 0;
    int frame = 0;
    bool faint = false;    ///< half-transparent: switched off, or fading in
    bool visible = true;   ///< at least partly inside the clip rectangle
    std::string panel;     ///< the innermost panel that it was drawn in
    std::string text;      ///< what it says; for buttons and fields their name
    float font_px = 0;     ///< em size in logical px
    ImU32 fg = 0, bg = 0;  ///< bg: the surface found below it
};

/// Everything noted since the frame began. Emptied by the first note of a new frame.
struct ItemRegistry {
    struct Fill {
        ImVec2 min, max;
        ImU32 colour;
    };
    std::vector<Item> items;
    std::vector<Fill> fills;
    std::vector<std::string> panels;  ///< that are open
    int frame = -1;
};

/// Set by tests only; null costs one comparison per item.
extern ItemRegistry* item_registry;

/// Where the panels, controls and cells of a frame lie, for what points at them: filled while the list is
/// set, and null otherwise, which costs one comparison per item.
struct NamedPlace {
    ItemKind kind;
    std::string name;
    ImVec2 min, max;  ///< device px
};
extern std::vector<NamedPlace>* place_list;

void note_item(ItemKind kind, ImVec2 min, ImVec2 max, std::string_view text, ImGuiID id = 0,
               float font_px = 0, ImU32 fg = 0);
/// A part of a page that is no panel of its own, under the name that a tour calls it by.
void note_part(const Canvas& canvas, const Rect& area, std::string_view name);
void note_fill(ImVec2 min, ImVec2 max, ImU32 colour);

/// A part of a panel: while it lives, what is drawn is clipped to it and stands under its name in the list.
struct PanelPart {
    PanelPart(const Canvas& canvas, std::string_view name, const Rect& area);
    ~PanelPart();
    PanelPart(const PanelPart&) = delete;
    PanelPart& operator=(const PanelPart&) = delete;
};
/// A panel: the same, and its surface is drawn. Panels may lie in each other.
struct Panel {
    Panel(const Canvas& canvas, std::string_view name, const Rect& area, std::string_view title = {},
          std::string_view subtitle = {});
    ~Panel();
    Panel(const Panel&) = delete;
    Panel& operator=(const Panel&) = delete;
};
/// A hairline across a panel.
inline void rule(const Canvas& canvas, const Rect& panel, float y, float inset = space::pad) {
    canvas.line({panel.x + inset, y + .5f}, {panel.right() - inset, y + .5f}, canvas.theme->line);
}

// ---- Things to click

struct Hot {
    bool hovered = false;
    bool held = false;
    bool clicked = false;
    bool double_clicked = false;
    bool right_clicked = false;
    bool focused = false;  ///< by the keyboard, and to be shown
    ImGuiID id = 0;
};
/// An invisible button, noted under its id (the part after "##" or "###" included).
Hot hot_area(const Canvas& canvas, const std::string& id, float x, float y, float w, float h,
             ItemKind kind = ItemKind::button);

struct ButtonLook {
    bool primary = false;  ///< filled with t1
    bool active = false;   ///< switched on
    bool enabled = true;
    bool quiet = false;  ///< no fill until the mouse is over it
    float size = size::body;
    Face face = Face::medium;
    const char* tooltip = nullptr;
};
/// True when clicked. The id names it in the list.
bool button(const Canvas& canvas, const std::string& id, float x, float y, float w, float h,
            std::string_view label, const ButtonLook& look = {});

enum class Icon {
    first,
    back,
    play,
    pause,
    forward,
    last,
    plus,
    minus,
    theme,
    screen,
    close,
    open,
    save,
    undo,
    redo,
    help,
    menu
};
bool icon_button(const Canvas& canvas, const std::string& id, float x, float y, float w, float h, Icon icon,
                 const ButtonLook& look = {});
/// Icon buttons of one size from left to right.
struct IconRow {
    const Canvas& c;
    float x, y, side, gap;
    /// The next one; true when clicked.
    bool operator()(const char* id, Icon icon, const ButtonLook& look) {
        const bool clicked = icon_button(c, id, x, y, side, side, icon, look);
        x += side + gap;
        return clicked;
    }
};
/// The cross at the top right of a card. True when clicked.
inline bool close_button(const Canvas& canvas, const char* id, const Rect& card) {
    return icon_button(canvas, id, card.right() - 48, card.y + 16, 32, 32, Icon::close,
                       {.tooltip = "Close (Esc)"});
}
/// The icon alone, centred at (x, y), in a square of about 16.
void draw_icon(const Canvas& canvas, Icon icon, float x, float y, ImU32 colour);
/// Width of a button with this label and the usual padding.
float button_width(std::string_view label, float size = size::body);

/// One of several. Height 32. True if `current` changed. Width: segmented_width.
bool segmented(const Canvas& canvas, const char* id, float x, float y, const std::vector<std::string>& labels,
               int& current, float size = size::body);
float segmented_width(const std::vector<std::string>& labels, float size = size::body);

/// Thin rail with a round grab; y is its middle. True while the value changes. `logarithmic` needs lo > 0.
bool slider(const Canvas& canvas, const char* id, float x, float y, float w, float& value, float lo, float hi,
            bool logarithmic = false);
/// A box with a tick and a label; y is the middle. True when it changed.
bool checkbox(const Canvas& canvas, const char* id, float x, float y, std::string_view label, bool& on,
              bool enabled = true);
/// The same as a switch.
bool toggle(const Canvas& canvas, const char* id, float x, float y, std::string_view label, bool& on,
            bool enabled = true);

/// A button with a small triangle that opens a list. While this is open call dropdown_item() for each entry.
struct Dropdown {
    Dropdown(const Canvas& canvas, const std::string& id, const Rect& area, std::string_view label,
             const ButtonLook& look = {});
    ~Dropdown();
    Dropdown(const Dropdown&) = delete;
    Dropdown& operator=(const Dropdown&) = delete;
    explicit operator bool() const { return open; }

private:
    bool open = false;
};
/// `marked`: where the arrow keys stand in the list.
bool dropdown_item(const Canvas& canvas, const std::string& id, std::string_view label, bool selected = false,
                   std::string_view note = {}, bool enabled = true, bool marked = false);

/// − value +, 32 high; the value can be typed (only typed where there is no room for the buttons). True if it
/// changed; it stays within lo … hi.
bool stepper(const Canvas& canvas, const char* id, float x, float y, float w, int& value, int lo, int hi,
             bool enabled = true);

struct FieldResult {
    bool changed = false;  ///< the text differs from the last frame
    bool entered = false;  ///< Enter was pressed
    bool active = false;   ///< the caret is in it
    bool left = false;     ///< it was active and no longer is
};
struct FieldLook {
    const char* hint = "";
    bool focus_now = false;  ///< take the caret in this frame
    bool invalid = false;    ///< danger outline
    Face face = Face::regular;
    float size = size::lead;
    int flags = 0;  ///< ImGuiInputTextFlags
};
FieldResult text_field(const Canvas& canvas, const char* id, float x, float y, float w, float h, char* text,
                       std::size_t capacity, const FieldLook& look = {});

/// At the right edge of a list: `fit` of its `count` lines show, from `first` on.
void scroll_bar(const Canvas& canvas, const Rect& list, float first, float fit, float count);

/// A small window beside the mouse, once it has rested for a moment.
void tooltip(const Canvas& canvas, std::string_view text, bool at_once = false);

}  // namespace tilewalk::ui
