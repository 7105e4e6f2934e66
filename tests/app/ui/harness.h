// The program without a window: tests move its mouse, press its keys and read what a frame showed.
#pragma once

#include "app/render/offscreen.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/app_state.h"
#include "core/lessons/table.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"
#include "tests/good.h"
#include "tests/skip.h"

#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::test {

using namespace ui;  // for the tests that say `using namespace tilewalk::test`

/// Device px, and the display's own scale.
struct Screen {
    int width = 1600, height = 900;
    float scale = 1;
};
inline constexpr ThemeId all_themes[] = {ThemeId::dark, ThemeId::light, ThemeId::contrast};
/// From the smallest that is supported to a projector's.
inline constexpr Screen all_screens[] = {{1024, 640}, {1280, 720}, {1600, 900}, {1920, 1080}};
/// With a display of twice as many pixels.
inline constexpr Screen screens_and_fine[] = {
    {1024, 640}, {1280, 720}, {1600, 900}, {1920, 1080}, {1920, 1080, 2}};

inline ImVec2 middle(const Item& item) {
    return {(item.min.x + item.max.x) / 2, (item.min.y + item.max.y) / 2};
}

/// One of the problems that the program brings along; fails the test if there is none of that name.
Problem example(std::string_view name);
/// A random problem with these tile sizes.
Problem random_with_tiles(int N, int d, int Br, int Bc, std::uint64_t seed = 7);

/// Of what a frame showed, something to click, or else a text, of that name; in that panel if one is named.
/// Null if there is none.
const Item* look_for(const ItemRegistry& list, std::string_view name, std::string_view panel = {});

/// The program, as the command line starts it. One at a time: ImGui has one current context.
struct Program {
    HeadlessContext context;
    ui::ItemRegistry list;
    Screen screen;
    ui::AppState state;

    explicit Program(const Problem& problem = example("worked-4x4"), Screen size = {}, bool presenter = false,
                     ThemeId theme = ThemeId::dark);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// Draws frames; fonts follow scale and mode, as they do in the window.
    void frame(int count = 1, float seconds = 1.0f / 60);
    /// The same without the list of what they showed, which takes long where a heat map has thousands of
    /// cells.
    void frame_unlisted();
    Image picture() const;
    /// Takes over a new problem, or another lesson, and draws until its walk is built.
    void show(const Problem& problem);
    void show_lesson(std::string_view id);
    /// Draws until a walk that is built in the background is there.
    void settle();
    /// Draws frames with time between them, for work beside the thread that draws.
    void wait(int frames = 1);

    /// What the last frame showed.
    const std::vector<ui::Item>& items() const { return list.items; }
    const Item* look_for(std::string_view name, std::string_view panel = {}) const {
        return test::look_for(list, name, panel);
    }
    /// The same; fails the test with the names that there are.
    ui::Item find(std::string_view name, std::string_view panel = {}) const;
    /// Some noted text contains these words.
    bool shows(std::string_view words) const;
    /// Fails for each of the words that no noted text contains.
    void check_shows(std::initializer_list<std::string_view> all) const;

    void mouse_to(float x, float y);  ///< device px
    void mouse_to(const ui::Item& item) { mouse_to(middle(item).x, middle(item).y); }
    void mouse_away();
    void mouse_down();
    void mouse_up();
    /// Pressed and released where the mouse is moved to, or pressed there and released at the other place.
    void click_at(float x, float y) { drag({x, y}, {x, y}); }
    void drag(ImVec2 from, ImVec2 to);
    void wheel(float steps);
    /// Moves there first. Fails if something else lies on top.
    void click(std::string_view name, std::string_view panel = {});
    void double_click(std::string_view name, std::string_view panel = {});
    void hover(std::string_view name, std::string_view panel = {});

    /// A key as the window would report it: a text field that has the caret keeps what belongs to it.
    void press(ui::KeyPress press);
    void press(ui::Key key) { press(ui::KeyPress{key}); }
    /// Keys one after the other by their names: "right shift+tab".
    void press(std::string_view keys);
    /// Characters as an input method would deliver them, with the key presses that go along.
    void type(std::string_view text);
    /// Types it, and Enter.
    void enter(std::string_view text);
    /// Replaces what stands in the field that has the caret.
    void retype(std::string_view text);
    /// What the keyboard's focus lies on; nothing if it lies nowhere.
    std::string focused() const;
    /// Tab until it lies on something of that name; fails the test if it never does.
    void tab_to(std::string_view name);
    /// Keys, or else buttons, by their names: after each of them the walk stands at that step.
    void check_steps(std::initializer_list<std::pair<std::string_view, int>> steps);
    /// Types over a cell that can be edited.
    void edit_cell(std::string_view cell, std::string_view panel, std::string_view text);

    int step() const { return state.cursor.step; }
    /// For messages: "1280×720 presenter, dark, flash-forward, ties, step 5".
    std::string where() const;
    /// Step k (from 0), seen as a whole, in frames at rest.
    void go_to_step(int k, int frames = 1);
};

/// A canvas on one of ImGui's lists.
Canvas canvas_on(ImDrawList* list, ThemeId id = ThemeId::dark, float scale = 1);

/// As if it had been typed into the field.
template <std::size_t N> void fill_in(char (&field)[N], const std::string& text) {
    std::snprintf(field, N, "%s", text.c_str());
}

/// On a page without a walk these keys, with and without Ctrl, do nothing.
void check_no_walk(Program& page, std::string_view keys);
/// Theme, help and presenter mode are switched as everywhere.
void check_common_keys(Program& page);

}  // namespace tilewalk::test
