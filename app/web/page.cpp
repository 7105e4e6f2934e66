#include "app/web/page.h"

#include "app/cli/hooks.h"
#include "app/cli/last_time.h"
#include "app/cli/left_open.h"
#include "app/cli/session.h"
#include "app/export/export_formats.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"
#include "app/ui/state/state.h"
#include "app/web/browser.h"
#include "app/web/kernels.h"
#include "app/web/keys.h"
#include "core/base/background.h"
#include "core/walk/explain.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tilewalk::web {
namespace {

// Less room than the program is laid out for: it is drawn smaller, not cut.
constexpr float least_width = 1024, least_height = 640;
constexpr double rest = 0.5;  // seconds from a change until it is kept
constexpr float longest_frame = 0.25f;
constexpr double longest_nap = 0.2;  // as in the window: what counts seconds must not miss any of them

Page* page_of_imgui() { return static_cast<Page*>(ImGui::GetIO().UserData); }

}  // namespace

Page* Page::open(const Opening& opening) {
    const std::string file = settings_path();
    LoadedSettings loaded = load_settings(file);
    if (!loaded.found) {
        if (opening.theme == "light") loaded.settings.theme = ui::ThemeId::light;
        loaded.settings.motion = opening.motion;
    }
    Arguments words;
    if (!opening.link.empty() && !left_on_tour(opening.left)) words.link = opening.link;
    words.presenter = opening.presenter;
    Result<ui::AppState> begun = begin_window(words, loaded, true);
    std::string wrong;
    if (!begun) {
        wrong = begun.error;
        begun = begin_window({}, loaded, true);
    }
    if (!begun) return nullptr;
    if (wrong.empty()) open_what_was_left(*begun, opening.left);
    Page* const page = new Page(std::move(*begun), loaded);
    page->settings_file = file;
    if (!wrong.empty()) page->state.notice = wrong, page->state.notice_age = 0;
    page->state.screens = 1;
    page->state.hooks.choose_file = choose_file;
    page->kept_problem = page->state.problem, page->kept_lesson = page->state.lesson;
    page->begin_imgui();
    page->in_words = !opening.drawn;
    if (opening.drawn) page->context_restored();
    return page;
}

void Page::begin_imgui() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.MouseDoubleClickTime = .5f;  // what systems allow, and browsers with them
    io.UserData = this;
    io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
    io.SetClipboardTextFn = [](void*, const char* text) { copy_text(text); };
    io.GetClipboardTextFn = [](void*) { return page_of_imgui()->clipboard().c_str(); };
    for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
}

void Page::resized(int w, int h, float device_px) {
    width = w, height = h;
    const float smaller = std::min({1.0f, static_cast<float>(w) / device_px / least_width,
                                    static_cast<float>(h) / device_px / least_height});
    state.display_scale = std::clamp(device_px * smaller, 0.25f, 4.0f);
    wake();
}

void Page::pointer(float x, float y, int buttons, double seconds) {
    // What only moves makes what moved before it needless.
    const std::size_t n = pointed.size();
    if (n >= 2 && pointed[n - 1].buttons == buttons && pointed[n - 2].buttons == buttons) pointed.pop_back();
    pointed.push_back({x, y, buttons, seconds});
    wake();
}

// ImGui looks at the buttons once a frame: one that goes down and up in between, as with a finger, has two
// frames. Their time is that of the events, so that two clicks are a double click however long a frame takes.
double Page::point(double seconds) {
    ImGuiIO& io = ImGui::GetIO();
    double at = seconds;
    for (bool same = true; same && !pointed.empty(); pointed.pop_front()) {
        const Pointed& now = pointed.front();
        io.MousePos = {now.x, now.y};
        same = now.buttons == buttons_down;
        if (!same) at = std::min(seconds, now.seconds);
        buttons_down = now.buttons;
        // Bits of the browser: left, right, middle
        for (int k = 0; k < 3; ++k) io.MouseDown[k] = (buttons_down >> k & 1) != 0;
    }
    if (!pointed.empty()) wake();
    return at;
}

void Page::wheel(float dx, float dy) {
    ImGuiIO& io = ImGui::GetIO();
    io.MouseWheelH += dx;
    io.MouseWheel += dy;
    wake();
}

// As in the window: ImGui looks at the keys once a frame and would miss one that went down and up in between.
bool Page::key(const std::string& printed, const std::string& code, bool down, int modifiers, bool again) {
    wake();
    ImGuiIO& io = ImGui::GetIO();
    io.KeyShift = (modifiers & with_shift) != 0;
    io.KeyCtrl = (modifiers & with_ctrl) != 0;
    io.KeyAlt = (modifiers & with_alt) != 0;
    const KeyEvent event{printed, code, modifiers, again};
    const int edits = editing_key(event);
    bool taken = false;
    if (down) {
        if (auto press = key_press(event, io.WantTextInput)) {
            state.keys.push_back(*press);
            taken = true;
        }
        if (edits >= 0) io.KeysDown[edits] = true, pressed.push_back(edits);
        return taken || (io.WantTextInput && !belongs_to_browser(event));
    }
    if (edits >= 0) {
        if (std::ranges::find(pressed, edits) != pressed.end())
            releases.push_back(edits);
        else
            io.KeysDown[edits] = false;
    }
    return false;
}

void Page::text(const std::string& utf8) {
    wake();
    ImGuiIO& io = ImGui::GetIO();
    if (!io.WantTextInput) {
        // Where these lie, and with which modifiers, only the layout knows.
        if (utf8 == "?") state.keys.push_back({ui::Key::question});
        if (utf8 == ":") state.keys.push_back({ui::Key::colon});
    }
    io.AddInputCharactersUTF8(utf8.c_str());
}

void Page::pasted(const std::string& utf8) {
    pasted_text = utf8;
    // Outside of a field it is a table for a matrix.
    if (ImGui::GetIO().WantTextInput)
        paste_due = true;
    else
        state.keys.push_back({ui::Key::v, false, true});
    wake();
}

// The browser tells of a paste by itself; the field is told of it as of a key, which has a frame of its own:
// of several keys the field answers one, and Ctrl may have been let go by then, or never pressed (a menu).
void Page::begin_paste() {
    ImGuiIO& io = ImGui::GetIO();
    std::ranges::copy(io.KeysDown, held.begin());
    std::ranges::fill(io.KeysDown, false);
    held_modifiers = {io.KeyCtrl, io.KeyShift, io.KeyAlt};
    io.KeyCtrl = io.KeysDown[ImGuiKey_V] = true;
    io.KeyShift = io.KeyAlt = false;
}

void Page::end_paste() {
    ImGuiIO& io = ImGui::GetIO();
    std::ranges::copy(held, io.KeysDown);
    io.KeyCtrl = held_modifiers[0], io.KeyShift = held_modifiers[1], io.KeyAlt = held_modifiers[2];
    wake();
}

void Page::dropped(const std::string& path) {
    state.dropped.push_back(path);
    wake();
}

void Page::follow(const std::string& link) {
    Arguments words;
    words.link = link;
    LoadedSettings kept;
    kept.settings = state.settings, kept.found = true;
    Result<ui::AppState> there = begin_window(words, kept, true);
    if (!there)
        ui::notify(state, there.error);
    else {
        there->display_scale = state.display_scale;
        there->screens = state.screens;
        state = std::move(*there);
    }
    wake();
}

void Page::context_lost() {
    // What ImGui has on the card is gone with it; its own memory of it must go, too.
    if (drawing) ImGui_ImplOpenGL3_Shutdown();
    drawing = false;
    letters.forget();
    ui::restart_letters();
}

void Page::context_restored() {
    drawing = ImGui_ImplOpenGL3_Init("#version 300 es");
    fonts_uploaded = false;
    wake();
}

void Page::keep(bool open) {
    (void)keep_all(settings_file, loaded, state, open, moved);
    store_settings();
}

void Page::prepare_look() {
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    if (in_words || !fonts_uploaded) {
        if (ui::load_page_fonts(state, w, h) || !fonts_uploaded) {
            if (!in_words) letters.upload();
            fonts_uploaded = true;
            frames_wanted = std::max(frames_wanted, 2);
        }
    } else if (ui::load_page_letters(state, w, h, ui::letters_seconds, &letters) != ui::Typefaces::ready) {
        frames_wanted = std::max(frames_wanted, 2);
    }
    if (in_words) {
        // A frame is laid out with them all the same.
        unsigned char* pixels = nullptr;
        ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, nullptr, nullptr);
    }
    ui::apply_style(state.settings.theme, ui::font_scale());
}

void Page::release_keys() {
    if (!releases.empty()) wake();
    for (const int key : std::exchange(releases, {})) ImGui::GetIO().KeysDown[key] = false;
    pressed.clear();
}

// What stands in the page is kept a moment after it changed.
void Page::look_for_changes() {
    const Explanation& of = state.explanation;
    std::string told = of.title + '\n' + of.place + '\n' + plain(of.result) + '\n' + of.why;
    // The address names the page and the card as well, and the bar below has the colours.
    for (const int also : {static_cast<int>(state.page), int{state.show_problem}, int{state.show_break},
                           int{state.presenter}, static_cast<int>(state.settings.theme)})
        told += ' ' + str(also);
    if (told != told_last || times_told == 0) {
        told_last = std::move(told);
        ++times_told;
    }
    if (state.problem != kept_problem || state.lesson != kept_lesson) {
        kept_problem = state.problem, kept_lesson = state.lesson;
        keep_due = last_frame + rest;
    }
    if (keep_due >= 0 && last_frame >= keep_due) {
        keep_due = -1;
        keep(true);
    }
}

void Page::draw() {
    const ImVec4 back = ImGui::ColorConvertU32ToFloat4(ui::theme(state.settings.theme).bg);
    glViewport(0, 0, width, height);
    glClearColor(back.x, back.y, back.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

double Page::frame(double seconds) {
    if (!(drawing || in_words) || width <= 0 || height <= 0) return -1;
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    const double now = point(seconds);
    io.DeltaTime = slept ? 1.0f / 60 : std::clamp(static_cast<float>(now - last_frame), 1e-4f, longest_frame);
    last_frame = now;
    prepare_look();
    const bool pasting = std::exchange(paste_due, false);
    if (pasting) begin_paste();
    if (drawing) ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    ui::frame(state);
    ImGui::Render();
    if (drawing) draw();
    state.quit = false;  // a page is closed by its browser
    show_cursor(ImGui::GetMouseCursor(), io.WantTextInput);
    pasting ? end_paste() : release_keys();
    look_for_changes();

    frames_wanted =
        std::max(ui::caret_moves() ? 1 : 0, frames_wanted - 1);  // or typed letters would be shortcuts
    // A frame that says so stands there before the work begins that nothing here can do beside it.
    if (frames_wanted == 0 && do_one_beside()) wake();
    look_after_kernels();
    double next = frames_wanted > 0 ? 0 : ui::idle_seconds(state);
    slept = !std::isfinite(next);
    if (io.WantTextInput) next = std::min(next, longest_nap);  // the caret blinks
    if (keep_due >= 0) next = std::min(next, keep_due - last_frame);
    return std::isfinite(next) ? std::clamp(next, 0.0, longest_nap) : -1;
}

std::string Page::words() const {
    const Explanation& of = state.explanation;
    return of.title + (of.place.empty() ? "" : ", " + of.place) + "\n" + plain(of.formula) + "\n" +
           plain(of.result) + "\n" + of.why;
}

std::string Page::link() const {
    const Result<std::string> line = link_of(state);
    return line ? *line : "";
}

std::string Page::title() const {
    return std::string(state.lesson ? state.lesson->title : "") + " – Tilewalk";
}

std::string Page::left() const { return left_open(state); }

std::string trace_of(const std::string& link) {
    Arguments words;
    words.link = link;
    const auto walk = named_walk(words);
    if (!walk) return walk.error;
    const auto trace = build_trace(*walk->lesson, walk->problem);
    if (!trace) return trace.error;
    std::ostringstream out;
    write_trace_json(out, **trace);
    return out.str();
}

}  // namespace tilewalk::web
