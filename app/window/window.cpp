#include "app/window/window.h"

#include "app/io/end_request.h"
#include "app/io/exit.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/imgui_compat_gl.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/frame.h"
#include "app/window/drawing.h"
#include "app/window/frame_times.h"
#include "app/window/speaker_window.h"
#include "core/base/spare_memory.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

namespace tilewalk {
namespace {

constexpr int min_width = 1024, min_height = 640;  // logical pixels
constexpr double longest_nap = 0.2;  // a frame must not stand for more time than this while playing

int refuse(const std::string& why) {
    std::fprintf(stderr,
                 "tilewalk: no window can be opened (%s); use 'tilewalk render' or 'tilewalk trace'.\n",
                 why.c_str());
    return static_cast<int>(Exit::no_device);
}

// Everything that must be handed back, in reverse order of its creation.
struct Session {
    bool glfw = false;
    GLFWwindow* window = nullptr;

    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        if (ImGui::GetCurrentContext()) {
            end_drawing();
            ImGui::DestroyContext();
        }
        if (window) glfwDestroyWindow(window);
        if (glfw) glfwTerminate();
    }
};

// The size of the last time, but no larger than the screen of today.
void fit_window(GLFWwindow* window, const ui::Settings& settings, float scale) {
    int x = 0, y = 0, width = 0, height = 0;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
    const auto fitted = [scale](int wished, int available) {
        const int size = static_cast<int>(std::lround(static_cast<float>(wished) * scale));
        return available > 0 ? std::min(size, available) : size;
    };
    glfwSetWindowSize(window, fitted(settings.window_width, width), fitted(settings.window_height, height));
    glfwSetWindowSizeLimits(window, fitted(min_width, width), fitted(min_height, height), GLFW_DONT_CARE,
                            GLFW_DONT_CARE);
}

GLFWwindow* create_window(const ui::Settings& settings) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // shown once it has its size and a picture
    return glfwCreateWindow(settings.window_width, settings.window_height, "Tilewalk", nullptr, nullptr);
}

// The reason why not, or nothing.
std::string open_session(Session& session, Events& events, const ui::Settings& settings) {
    session.glfw = glfwInit() == GLFW_TRUE;
    if (!session.glfw) return glfw_reason();
    session.window = create_window(settings);
    if (!session.window) return glfw_reason();
    events.context = ImGui::CreateContext();
    if (std::string missing = begin_drawing(session.window); !missing.empty()) return missing;
    glfwSwapInterval(1);
    watch_events(session.window, events);
    fit_window(session.window, settings, display_scale(session.window));
    return "";
}

// Fonts and style belong between frames. `waits`: these letters are right from the first frame on, as in a
// picture; else others stand in until they are baked.
void prepare_look(GLFWwindow* window, Events& events, const ui::AppState& state, ui::GlLetters& letters,
                  bool waits) {
    int width = 0, height = 0;
    glfwGetWindowSize(window, &width, &height);
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    bool changed = false;
    if (waits) {
        changed = ui::load_page_fonts(state, w, h);
        if (changed) letters.upload();
    } else {
        changed = ui::load_page_letters(state, w, h, ui::letters_seconds, &letters) != ui::Typefaces::ready;
    }
    if (changed) events.frames_wanted = std::max(events.frames_wanted, 2);
    ui::apply_style(state.settings.theme, ui::font_scale());
}

// What stands in the window is kept a moment after it changed: a slider changes it with every frame.
class Keeper {
public:
    Keeper(const WindowOptions& options, const ui::AppState& state)
        : keep(options.keep), problem(state.problem), lesson(state.lesson) {}

    void look(ui::AppState& state) {
        if (!keep) return;
        if (state.problem != problem || state.lesson != lesson) {
            problem = state.problem, lesson = state.lesson;
            due = glfwGetTime() + rest;
        }
        if (glfwGetTime() < due) return;
        due = never;
        keep(state);
    }
    double seconds_left() const { return std::max(0.0, due - glfwGetTime()); }

private:
    static constexpr double rest = 0.5, never = std::numeric_limits<double>::infinity();
    std::function<void(ui::AppState&)> keep;
    ui::ProblemPtr problem;
    const Lesson* lesson;
    double due = never;
};

// Once after something was drawn, when nobody waits for it: no event came for a while, and nothing is
// computed beside, which would wait for the heap.
class Spare {
public:
    void drawn() { wanted = true; }
    void nap(double seconds, const Events& events) {
        const std::clock_t before = std::clock();
        glfwWaitEventsTimeout(seconds);
        const double worked = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
        const double now = glfwGetTime();
        if (!wanted || events.frames_wanted > 0 || worked > seconds / 4 || now < next) return;
        give_back_spare_memory();
        wanted = false, next = now + rest;
    }

private:
    static constexpr double rest = 5;
    bool wanted = false;
    double next = 0;
};

bool is_closing(GLFWwindow* window) { return glfwWindowShouldClose(window) || asked_to_end(); }

// Sleeps until something happens, unless something moves. A text field's cursor blinks. A signal does not end
// the sleep, so that it is looked for now and then. Returns true if time passed in which nothing was to be
// shown.
bool wait_for_work(GLFWwindow* window, const Events& events, const ui::AppState& state, double at_most,
                   Spare& spare) {
    const double idle = std::min(ui::idle_seconds(state), at_most);
    if (events.frames_wanted > 0 || idle <= 0) {
        glfwPollEvents();
        return false;
    }
    if (std::isfinite(idle) || ImGui::GetIO().WantTextInput)
        spare.nap(std::min(idle, longest_nap), events);
    else
        do spare.nap(longest_nap, events);
        while (events.frames_wanted == 0 && !is_closing(window));
    return !std::isfinite(idle);
}

void report_first_frame(const WindowOptions& options) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - options.started;
    std::fprintf(stderr, "first frame after %.3f s\n", taken.count());
}

// Kept in logical pixels, so that it means the same on another display.
void remember_size(GLFWwindow* window, ui::AppState& state) {
    if (glfwGetWindowMonitor(window)) return;
    if (glfwGetWindowAttrib(window, GLFW_MAXIMIZED) || glfwGetWindowAttrib(window, GLFW_ICONIFIED)) return;
    int width = 0, height = 0;
    glfwGetWindowSize(window, &width, &height);
    state.settings.window_width =
        static_cast<int>(std::lround(static_cast<float>(width) / state.display_scale));
    state.settings.window_height =
        static_cast<int>(std::lround(static_cast<float>(height) / state.display_scale));
}

// Where swapping does not wait for the display (software rendering) 60 pictures a second are enough.
void pace(double frame_began, const ui::AppState& state) {
    const double spent = glfwGetTime() - frame_began;
    if (spent < 0.004 && ui::animating(state)) glfwWaitEventsTimeout(1.0 / 60 - spent);
}

// "x.png" gives "x-speaker.png".
std::string beside(const std::string& path) {
    const std::filesystem::path of = path;
    return (of.parent_path() / (of.stem().string() + "-speaker" + of.extension().string())).string();
}

int run_loop(GLFWwindow* window, Events& events, ui::AppState& state, const WindowOptions& options) {
    const int last = options.frames > 0 ? options.frames : options.screenshot.empty() ? 0 : 5;
    ui::GlLetters letters;
    FrameTimes times(options.timing);
    SpeakerWindow speaker(window, events, times);
    Keeper keeper(options, state);
    Spare spare;
    for (int frame = 1; !is_closing(window) && !state.quit; ++frame) {
        release_keys(window, events);
        if (last > 0) events.frames_wanted = 1;
        const bool slept = wait_for_work(window, events, state, keeper.seconds_left(), spare);
        const double began = glfwGetTime();
        if (events.scale_changed) state.display_scale = display_scale(window);
        events.scale_changed = false;
        const bool pictures = frame == last && !options.screenshot.empty();
        speaker.follow(state);
        // First, so that keys pressed there move both windows in the same frame.
        if (const int failed = speaker.draw(state, slept, pictures ? beside(options.screenshot) : ""))
            return failed;
        if (glfwGetWindowAttrib(window, GLFW_ICONIFIED)) {
            events.frames_wanted = 0;
            glfwWaitEventsTimeout(longest_nap);
            continue;
        }

        times.measure(FrameTimes::fonts, state,
                      [&] { prepare_look(window, events, state, letters, frame == 1 || last > 0); });
        begin_frame(slept);
        times.measure(FrameTimes::frame, state, [&] { ui::frame(state); });
        draw_frame(window, ui::theme(state.settings.theme).bg);
        spare.drawn();
        // Without them what is typed next would be shortcuts.
        events.frames_wanted = std::max(ui::caret_moves() ? 1 : 0, events.frames_wanted - 1);
        times.measure(FrameTimes::keep, state, [&] { keeper.look(state); });

        if (pictures)
            if (const int failed = save_screenshot(window, options.screenshot)) return failed;
        glfwSwapBuffers(window);
        if (frame == 1) glfwShowWindow(window);
        if (frame == 1 && options.timing) report_first_frame(options);
        if (frame == last) break;
        pace(began, state);
    }
    times.report();
    remember_size(window, state);
    return 0;
}

}  // namespace

int run_window(ui::AppState& state, const WindowOptions& options) {
    Events events;
    events.state = &state;
    events.keys = &state.keys;
    events.frames_wanted = 3;
    Session session;
    const std::string problem = open_session(session, events, state.settings);
    if (!problem.empty()) return refuse(problem);
    return run_loop(session.window, events, state, options);
}

}  // namespace tilewalk
