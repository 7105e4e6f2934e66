// The whole interface as a state machine: two bytes an event, a frame after each, and what must hold then.
#include "tests/fuzz/targets.h"

#include "app/cli/session.h"
#include "app/io/examples.h"
#include "app/io/problem_json.h"
#include "app/render/offscreen.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/key.h"
#include "app/ui/shell/frame.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <imgui.h>

namespace tilewalk::fuzz {

namespace {

using namespace ui;

constexpr int width = 1024, height = 640;

class Session {
public:
    Session() : state(*make_state(&default_lesson(), *find_example("worked-4x4"), Settings{})) { frame(); }

    void event(unsigned char kind, unsigned char value) {
        switch (kind % 8) {
        case 5:
            send_mouse_position(static_cast<float>(kind / 8 * 33), static_cast<float>(value * 2.5));
            break;
        case 6: click(); break;
        case 7:
            value % 2 ? send_text(std::string(1, static_cast<char>(' ' + value % 95)))
                      : send_mouse_wheel(0, value % 4 < 2 ? 1.0f : -1.0f);
            break;
        default:
            press_key(state,
                      {static_cast<Key>(value % (static_cast<int>(Key::z) + 1)), kind % 8 == 1, kind % 8 == 2,
                       false},
                      [this] { frame(); });
        }
        frame();
        check();
    }

private:
    void frame() {
        load_page_fonts(state, width, height);
        run_frame(width, height, 1.0f / 60, [this] { ui::frame(state); });
    }
    void click() {
        send_mouse_button(0, true);
        frame();
        send_mouse_button(0, false);
    }

    void check() {
        expect(state.trace != nullptr && state.problem != nullptr && state.lesson != nullptr,
               "there is a walk");
        const int steps = state.trace->size();
        expect(state.cursor.step >= 0 && state.cursor.step < steps, "the step is one of the walk's");
        expect(state.settings.digits >= 3 && state.settings.digits <= 6, "there are so many digits");
        if (state.pending || state.problem.get() == seen.get()) return;
        // A problem that the interface made is one that can be saved and read, and undone
        seen = state.problem;
        const std::string saved = problem_to_json(*seen);
        const Result<Problem> read = problem_from_json(saved, "saved.json");
        expect(bool(read), "what stands in the window can be saved and read");
        expect(problem_to_json(*read) == saved, "what was saved is what stood there");
        if (state.undo.empty()) return;
        undo(state);
        redo(state);
        wait_for_walk(state);
        expect(problem_to_json(*state.problem) == saved, "redo gives back what undo took");
        seen = state.problem;
    }

    HeadlessContext context;
    AppState state;
    ProblemPtr seen;
};

}  // namespace

void take_events(std::string_view bytes) {
    Session session;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2)
        session.event(static_cast<unsigned char>(bytes[at]), static_cast<unsigned char>(bytes[at + 1]));
}

}  // namespace tilewalk::fuzz
