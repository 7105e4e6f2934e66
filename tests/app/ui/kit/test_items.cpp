#include "app/render/offscreen.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/items.h"
#include "tests/app/ui/harness.h"

#include <doctest/doctest.h>

#include <cstring>
#include <utility>

using namespace tilewalk;
using namespace tilewalk::ui;

namespace {

/// One window that fills the display, driven frame by frame with a made-up mouse.
struct Desk {
    HeadlessContext context;
    ItemRegistry list;
    std::function<void(const Canvas&)> draw;

    explicit Desk(std::function<void(const Canvas&)> content) : draw(std::move(content)) {
        load_fonts(1, false);
        item_registry = &list;
        step(2);
    }
    ~Desk() { item_registry = nullptr; }

    void step(int frames = 1, float seconds = 1.0f / 60) {
        for (int k = 0; k < frames; ++k) run_frame(800, 600, seconds, [&] { window(); });
    }
    void window() {
        apply_style(ThemeId::dark, 1);
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({800, 600});
        ImGui::Begin("desk", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
        draw(test::canvas_on(ImGui::GetWindowDrawList()));
        ImGui::End();
    }
    const Item* find(const std::string& text) const { return test::look_for(list, text); }
    void move(float x, float y) {
        send_mouse_position(x, y);
        step();
    }
    void press(bool down) {
        send_mouse_button(0, down);
        step();
    }
    void click(const std::string& text) {
        const Item* item = find(text);
        REQUIRE_MESSAGE(item, text);
        move(test::middle(*item).x, test::middle(*item).y);
        press(true);
        press(false);
        step();
    }
    void type(const std::string& text) {
        send_text(text);
        step(2);
    }
    void key(ImGuiKey k) {
        send_key(k, true);
        step();
        send_key(k, false);
        step();
    }
};

}  // namespace

TEST_CASE("a button answers to a click, a disabled one does not") {
    int clicks = 0, refused = 0;
    Desk desk([&](const Canvas& c) {
        clicks += button(c, "go", 20, 20, 100, 40, "Go");
        ButtonLook off;
        off.enabled = false;
        refused += icon_button(c, "last", 140, 20, 40, 40, Icon::last, off);
    });
    desk.click("go");
    desk.click("last");
    CHECK(clicks == 1);
    CHECK(refused == 0);
}

TEST_CASE("what a frame showed is listed, and only that frame") {
    bool with_text = true;
    Desk desk([&](const Canvas& c) {
        {
            const Panel panel(c, "left", {10, 10, 300, 200}, "Title", "subtitle");
            if (with_text) c.text(30, 100, "inside", 13, c.theme->t3);
            button(c, "row##pick", 30, 140, 90, 32, "Pick");
        }
        c.text(500, 500, "outside", 15);
    });
    const Item* inside = desk.find("inside");
    REQUIRE(inside);
    CHECK(inside->panel == "left");
    CHECK(inside->font_px == 13);
    CHECK(inside->fg == theme(ThemeId::dark).t3);
    CHECK(inside->bg == theme(ThemeId::dark).panel);
    CHECK(desk.find("Title")->panel == "left");
    CHECK(desk.find("outside")->panel == "");
    CHECK(desk.find("outside")->bg == theme(ThemeId::dark).bg);
    REQUIRE(desk.find("pick"));
    CHECK(desk.find("pick")->id != 0);
    CHECK(desk.find("Pick")->bg == theme(ThemeId::dark).raised);
    with_text = false;
    desk.step();
    CHECK(desk.find("inside") == nullptr);
}

TEST_CASE("what lies outside its panel is neither visible nor clickable") {
    int clicks = 0;
    Desk desk([&](const Canvas& c) {
        const Panel panel(c, "small", {10, 10, 100, 100});
        clicks += button(c, "far", 200, 20, 80, 40, "Far");
    });
    REQUIRE(desk.find("far"));
    CHECK_FALSE(desk.find("far")->visible);
    desk.click("far");
    CHECK(clicks == 0);
}

TEST_CASE("a segmented control changes to the part that was clicked") {
    int current = 0, changes = 0;
    Desk desk([&](const Canvas& c) {
        changes += segmented(c, "unit", 20, 20, {"Step", "Tile", "Block"}, current);
    });
    desk.click("unit/Block");
    CHECK(current == 2);
    desk.click("unit/Block");
    CHECK(changes == 1);
}

TEST_CASE("a slider follows the mouse and keeps its limits") {
    float value = 1;
    Desk desk([&](const Canvas& c) { slider(c, "speed", 100, 50, 200, value, .5f, 8, true); });
    desk.move(105, 50);
    desk.press(true);
    desk.move(200, 50);
    CHECK(value == doctest::Approx(2));  // the middle of .5 … 8 on a logarithmic rail
    desk.move(900, 50);
    CHECK(value == doctest::Approx(8));
    desk.move(-50, 50);
    CHECK(value == doctest::Approx(.5f));
    desk.press(false);
    desk.move(200, 50);
    CHECK(value == doctest::Approx(.5f));
}

TEST_CASE("checkbox and switch turn with each click") {
    bool causal = false, motion = true, locked = false;
    Desk desk([&](const Canvas& c) {
        checkbox(c, "causal", 20, 40, "Causal mask", causal);
        toggle(c, "motion", 20, 80, "Motion", motion);
        checkbox(c, "locked", 20, 120, "Locked", locked, false);
    });
    desk.click("causal");
    desk.click("motion");
    desk.click("locked");
    CHECK(causal);
    CHECK_FALSE(motion);
    CHECK_FALSE(locked);
    desk.click("causal");
    CHECK_FALSE(causal);
}

TEST_CASE("a drop-down list opens, is chosen from, and closes") {
    std::string chosen;
    Desk desk([&](const Canvas& c) {
        if (const Dropdown list{c, "example", {20, 20, 200, 32}, "4 × 4"})
            for (const char* name : {"one", "two"})
                if (dropdown_item(c, name, name, false, "note")) chosen = name;
    });
    CHECK(desk.find("two") == nullptr);
    desk.click("example");
    desk.step(2);
    REQUIRE(desk.find("two"));
    desk.click("two");
    CHECK(chosen == "two");
    desk.step();
    CHECK(desk.find("two") == nullptr);
}

TEST_CASE("a stepper counts within its limits and takes typed numbers") {
    int value = 2;
    Desk desk([&](const Canvas& c) { stepper(c, "br", 20, 20, 160, value, 1, 4); });
    desk.click("br/more");
    CHECK(value == 3);
    desk.click("br/less");
    desk.click("br/less");
    desk.click("br/less");
    CHECK(value == 1);
    desk.click("br/value");
    desk.type("37");
    desk.key(ImGuiKey_Enter);
    CHECK(value == 4);
}

TEST_CASE("a text field takes what is typed and says when Enter was pressed") {
    char text[32] = "";
    bool entered = false, changed = false;
    Desk desk([&](const Canvas& c) {
        const FieldResult result = text_field(c, "name", 20, 20, 200, 36, text, sizeof text);
        entered |= result.entered;
        changed |= result.changed;
    });
    desk.click("name");
    desk.type("abcé");
    CHECK(std::string(text) == "abcé");
    CHECK(changed);
    CHECK_FALSE(entered);
    desk.key(ImGuiKey_Enter);
    CHECK(entered);
}

// ImGui kept what could be undone of a text that the field no longer had, and wrote outside of it.
TEST_CASE("a text field that has got another text meanwhile undoes nothing of the old one") {
    char text[32] = "flash-forward-step-11.png";
    Desk desk([&](const Canvas& c) {
        text_field(c, "name", 20, 20, 300, 36, text, sizeof text);
        button(c, "go", 20, 80, 100, 40, "Go", {});
    });
    const auto undo = [&](ImGuiKey key) {
        send_ctrl(true);
        desk.key(key);
        send_ctrl(false);
        desk.step();
    };
    desk.click("name");
    desk.key(ImGuiKey_End);
    for (int n = 0; n < 8; ++n) desk.key(ImGuiKey_Backspace);
    desk.type("ab");
    desk.click("go");
    CHECK(std::string(text) == "flash-forward-steab");
    std::strcpy(text, "a");
    desk.step();
    desk.click("name");
    for (int n = 0; n < 12; ++n) undo(ImGuiKey_Z);
    CHECK(std::string(text) == "a");
    desk.key(ImGuiKey_End);
    desk.type("b");
    CHECK(std::string(text) == "ab");
    // What was typed since is undone.
    undo(ImGuiKey_Z);
    CHECK(std::string(text) == "a");
    // Of a text that it still has, all.
    desk.type("cd");
    desk.click("go"), desk.click("name");
    undo(ImGuiKey_Z), undo(ImGuiKey_Z);
    CHECK(std::string(text) == "a");
}

TEST_CASE("a text field: all of it is selected by Ctrl A, and replaced by what is typed") {
    char text[32] = "";
    Desk desk([&](const Canvas& c) { text_field(c, "name", 20, 20, 300, 36, text, sizeof text); });
    desk.click("name");
    desk.type("bad");
    send_ctrl(true);
    desk.key(ImGuiKey_A);
    send_ctrl(false);
    desk.step();
    desk.type("semi");
    CHECK(std::string(text) == "semi");
}

// The window draws only when something happens: without these frames what is typed next would be shortcuts.
TEST_CASE("frames are wanted until a field that is to have the caret has it, and no longer") {
    char text[32] = "1.5";
    bool wanted = false;
    Desk desk([&](const Canvas& c) {
        FieldLook look;
        look.focus_now = std::exchange(wanted, false);
        text_field(c, "name", 20, 20, 300, 36, text, sizeof text, look);
    });
    CHECK_FALSE(caret_moves());
    wanted = true;
    desk.step();
    int frames = 0;
    while (caret_moves() && frames < 10) desk.step(), ++frames;
    CHECK(frames >= 2);
    CHECK(frames <= 4);
    CHECK(ImGui::GetIO().WantTextInput);
    desk.step(3);
    CHECK_FALSE(caret_moves());
    desk.key(ImGuiKey_Escape);
    while (caret_moves() && frames < 20) desk.step(), ++frames;
    CHECK_FALSE(ImGui::GetIO().WantTextInput);
}

TEST_CASE("a tooltip appears once the mouse has rested") {
    Desk desk([&](const Canvas& c) {
        ButtonLook look;
        look.tooltip = "Explains the button";
        button(c, "go", 20, 20, 100, 40, "Go", look);
    });
    desk.move(50, 40);
    CHECK(desk.find("Explains the button") == nullptr);
    desk.step(40);
    CHECK(desk.find("Explains the button") != nullptr);
    // Who clicks has read it: it is not to cover what the click has done.
    desk.click("go");
    desk.step(40);
    CHECK(desk.find("Explains the button") == nullptr);
    desk.move(80, 45);
    desk.step(40);
    CHECK(desk.find("Explains the button") != nullptr);
}

TEST_CASE("a tooltip goes with a key until the mouse moves again") {
    Desk desk([&](const Canvas& c) {
        ButtonLook look;
        look.tooltip = "Explains the button";
        button(c, "go", 20, 20, 100, 40, "Go", look);
    });
    desk.move(50, 40);
    desk.step(40);
    REQUIRE(desk.find("Explains the button") != nullptr);
    note_key();
    desk.step(40);
    CHECK(desk.find("Explains the button") == nullptr);
    desk.move(60, 40);
    desk.step(40);
    CHECK(desk.find("Explains the button") != nullptr);
}

TEST_CASE("without a list nothing is noted") {
    Desk desk([](const Canvas& c) { c.text(20, 20, "words", 15); });
    item_registry = nullptr;
    const auto before = desk.list.frame;
    desk.step(3);
    CHECK(desk.list.frame == before);
}
