#include "tests/app/ui/harness.h"

#include "app/cli/session.h"
#include "app/io/examples.h"
#include "app/io/text.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"
#include "app/ui/state/state.h"

#include <cfloat>
#include <chrono>
#include <doctest/doctest.h>
#include <imgui_internal.h>
#include <thread>

namespace tilewalk::test {

namespace {

bool is_named(const Item& item, std::string_view name, std::string_view panel) {
    if (!panel.empty() && item.panel != panel) return false;
    std::string_view text = item.text;
    if (item.kind == ItemKind::field && text.starts_with("##")) text.remove_prefix(2);
    return text == name;
}

std::string known_names(const ItemRegistry& list) {
    std::string names;
    for (const Item& item : list.items) names += "\n  " + item.panel + " / " + item.text;
    return names;
}

}  // namespace

Problem example(std::string_view name) {
    const Problem* found = find_example(name);
    REQUIRE_MESSAGE(found, std::string(name));
    return *found;
}

Problem random_with_tiles(int N, int d, int Br, int Bc, std::uint64_t seed) {
    Problem problem = good(random_problem(N, d, seed));
    problem.Br = Br, problem.Bc = Bc;
    return problem;
}

Program::Program(const Problem& problem, Screen size, bool presenter, ThemeId theme)
    : screen(size), state(good(make_state(&default_lesson(), problem, Settings{}))) {
    state.display_scale = size.scale;
    state.presenter = presenter;
    state.settings.theme = theme;
    for (int n = 0; n < 2; ++n) frame_unlisted();
    frame();
}

Program::~Program() { item_registry = nullptr; }

void Program::frame(int count, float seconds) {
    const auto w = static_cast<float>(screen.width), h = static_cast<float>(screen.height);
    for (int n = 0; n < count; ++n) {
        load_page_fonts(state, w, h);
        run_frame(screen.width, screen.height, seconds, [&] { ui::frame(state); });
    }
}

void Program::frame_unlisted() {
    item_registry = nullptr;
    frame();
    item_registry = &list;
}

void Program::settle() {
    for (int tries = 0; state.pending && tries < 1000; ++tries) {
        wait_for_walk(state);
        frame_unlisted();
    }
    frame();
}

void Program::wait(int frames) {
    for (int n = 0; n < frames; ++n) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        frame();
    }
}

void Program::show(const Problem& problem) {
    REQUIRE_MESSAGE(set_problem(state, problem, false), state.notice);
    settle();
}

void Program::show_lesson(std::string_view id) {
    const Lesson* lesson = find_lesson(id);
    REQUIRE_MESSAGE(lesson, std::string(id));
    set_lesson(state, *lesson);
    settle();
}

Image Program::picture() const {
    return picture_of_frame(screen.width, screen.height, theme(state.settings.theme).bg);
}

const Item* look_for(const ItemRegistry& list, std::string_view name, std::string_view panel) {
    for (const bool hot : {true, false})
        for (const Item& item : list.items)
            if ((item.kind != ItemKind::text) == hot && is_named(item, name, panel)) return &item;
    return nullptr;
}

Item Program::find(std::string_view name, std::string_view panel) const {
    const Item* item = look_for(name, panel);
    REQUIRE_MESSAGE(item, "nothing is called \"", std::string(name), "\"; there is", known_names(list));
    return *item;
}

bool Program::shows(std::string_view words) const {
    for (const Item& item : list.items)
        if (item.kind == ItemKind::text && item.text.find(words) != std::string::npos) return true;
    return false;
}

void Program::check_shows(std::initializer_list<std::string_view> all) const {
    for (const std::string_view words : all) CHECK_MESSAGE(shows(words), std::string(words));
}

void Program::mouse_to(float x, float y) {
    send_mouse_position(x, y);
    frame();
}
void Program::mouse_away() { mouse_to(-FLT_MAX, -FLT_MAX); }
void Program::mouse_down() {
    send_mouse_button(0, true);
    frame();
}
void Program::mouse_up() {
    send_mouse_button(0, false);
    frame();
}
void Program::drag(ImVec2 from, ImVec2 to) {
    mouse_to(from.x, from.y);
    mouse_down();
    mouse_to(to.x, to.y);
    mouse_up();
}
void Program::wheel(float steps) {
    send_mouse_wheel(0, steps);
    frame(2);
}

void Program::hover(std::string_view name, std::string_view panel) {
    mouse_to(find(name, panel));
    frame(2);
}

void Program::click(std::string_view name, std::string_view panel) {
    const Item item = find(name, panel);
    REQUIRE_MESSAGE(item.visible, "clipped: ", item.text);
    mouse_to(item);
    frame();
    const ImGuiID hovered = ImGui::GetHoveredID();
    const bool covered = item.id != 0 && hovered != item.id;
    REQUIRE_MESSAGE(!covered, "something lies over ", item.text);
    frame(1, 0.5f);  // two clicks of a test are not a double click
    mouse_down();
    mouse_up();
    frame(2);
}

void Program::double_click(std::string_view name, std::string_view panel) {
    click(name, panel);
    frame(1, 0.5f);
    for (int n = 0; n < 2; ++n) mouse_down(), mouse_up();
    frame(3);
}

void Program::press(KeyPress press) {
    press_key(state, press, [this] { frame(); });
}

void Program::type(std::string_view text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view before = rest;
        next_code_point(rest);
        const std::string_view character = before.substr(0, before.size() - rest.size());
        const bool typing = ImGui::GetIO().WantTextInput;
        const auto key = key_printing(character[0]);
        if (key && !typing) state.keys.push_back({*key});
        send_text(character);
        frame();
    }
    frame();
}

void Program::enter(std::string_view text) {
    type(text);
    press(Key::enter);
    frame(2);
}

void Program::press(std::string_view keys) {
    for (const std::string& name : words_of(std::string(keys))) {
        const auto key = press_named(name);
        REQUIRE_MESSAGE(key, "there is no key ", name);
        press(*key);
    }
}

void Program::retype(std::string_view text) {
    press("ctrl+a backspace");
    type(text);
}

std::string Program::focused() const {
    for (const Item& item : items())
        if (item.id == focused_item() && item.id != 0)
            return item.text.starts_with("##") ? item.text.substr(2) : item.text;
    return "";
}

void Program::tab_to(std::string_view name) {
    clear_focus();
    for (int n = 0; n < 400; ++n) {
        press(Key::tab);
        if (focused() == name) return;
    }
    FAIL("Tab never reaches ", std::string(name));
}

void Program::check_steps(std::initializer_list<std::pair<std::string_view, int>> steps) {
    for (const auto& [name, wanted] : steps) {
        press_named(words_of(std::string(name)).front()) ? press(name) : click(name);
        CHECK_MESSAGE(step() == wanted, std::string(name));
    }
}

std::string Program::where() const {
    const std::string size = std::to_string(screen.width) + "×" + std::to_string(screen.height) +
                             (screen.scale > 1 ? " at scale 2" : "") + (state.presenter ? " presenter" : "");
    const std::string page = "page " + std::to_string(static_cast<int>(state.page)),
                      walk = std::string(state.lesson->id) + ", " + state.problem->name + " (" +
                             test::describe(*state.problem) + "), step " + std::to_string(step() + 1);
    return size + ", " + theme(state.settings.theme).name + ", " + (state.page == Page::walk ? walk : page);
}

void Program::edit_cell(std::string_view cell, std::string_view panel, std::string_view text) {
    double_click(cell, panel);
    REQUIRE(state.edit);
    retype(text);
    press(Key::enter);
}

void Program::go_to_step(int k, int frames) {
    ui::go_to(state, at_step(*state.trace, k));
    state.step_age = AppState{}.step_age;
    for (int n = 1; n < frames; ++n) frame_unlisted();
    frame();
}

Canvas canvas_on(ImDrawList* list, ThemeId id, float scale) {
    Canvas canvas;
    canvas.dl = list;
    canvas.theme = &theme(id);
    canvas.s = scale;
    return canvas;
}

void check_no_walk(Program& page, std::string_view keys) {
    const int step = page.step();
    for (const std::string& key : words_of(std::string(keys))) {
        page.press(key);
        page.press("ctrl+" + key);
    }
    CHECK(page.step() == step);
    CHECK_FALSE((page.state.show_goto || page.state.show_problem || page.state.show_break));
}

void check_common_keys(Program& page) {
    const Page before = page.state.page;
    page.press(Key::t);
    CHECK(page.state.settings.theme == ThemeId::light);
    page.press(Key::question);
    CHECK(page.state.show_help);
    page.press(Key::escape);
    CHECK_FALSE(page.state.show_help);
    page.press(Key::p);
    CHECK(page.state.presenter);
    page.press(Key::escape);
    CHECK_FALSE(page.state.presenter);
    CHECK(page.state.page == before);
}

}  // namespace tilewalk::test
