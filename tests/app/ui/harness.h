// The program without a window: tests move its mouse, press its keys and read what a frame showed.
#pragma once

#include "app/render/offscreen.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/app_state.h"
#include "core/lessons/table.h"
#include "tests/skip.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::test {

/// Device px, and the display's own scale.
struct Screen {
    int width = 1600, height = 900;
    float scale = 1;
};

/// One of the problems that the program brings along; fails the test if there is none of that name.
Problem example(std::string_view name);
/// A random problem with these tile sizes.
Problem random_with_tiles(int N, int d, int Br, int Bc, std::uint64_t seed = 7);

/// The program, as the command line starts it. One at a time: ImGui has one current context.
struct Program {
    HeadlessContext context;
    ui::ItemRegistry list;
    Screen screen;
    ui::AppState state;

    explicit Program(const Problem& problem = example("worked-4x4"), Screen size = {});
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// Draws frames; fonts follow scale and mode, as they do in the window.
    void frame(int count = 1, float seconds = 1.0f / 60);
    /// The same without the list of what they showed, which takes long where a heat map has thousands of
    /// cells.
    void frame_unlisted();
    Image picture() const;
    /// Takes over a new problem and draws until its walk is built.
    void show(const Problem& problem);
    /// Draws until a walk that is built in the background is there.
    void settle();

    /// What the last frame showed.
    const std::vector<ui::Item>& items() const { return list.items; }
    /// Something to click, or else a text, of that name; in that panel if one is named. Null if there is
    /// none.
    const ui::Item* look_for(std::string_view name, std::string_view panel = {}) const;
    /// The same; fails the test with the names that there are.
    ui::Item find(std::string_view name, std::string_view panel = {}) const;
    /// Some noted text contains these words.
    bool shows(std::string_view words) const;

    void mouse_to(float x, float y);  ///< device px
    void mouse_away();
    void mouse_down();
    void mouse_up();
    void wheel(float steps);
    /// Moves there first. Fails if something else lies on top.
    void click(std::string_view name, std::string_view panel = {});
    void double_click(std::string_view name, std::string_view panel = {});
    void hover(std::string_view name, std::string_view panel = {});

    /// A key as the window would report it: a text field that has the caret keeps what belongs to it.
    void press(ui::KeyPress press);
    void press(ui::Key key) { press(ui::KeyPress{key}); }
    /// Characters as an input method would deliver them, with the key presses that go along.
    void type(std::string_view text);
    /// Empties the field that has the caret.
    void clear_field();

    int step() const { return state.cursor.step; }
    /// Step k (from 0), seen as a whole, in a frame at rest.
    void go_to_step(int k);
};

}  // namespace tilewalk::test
