// A step while it happens: what moves, from where to where, and that its end is the picture of the step.
#include "app/ui/shell/frame.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

constexpr float passes = 1.0f / 60;  // while a frame is drawn
constexpr Screen projector{1280, 720};

// Step k at that phase of its motion.
void show_at(Program& program, int k, float phase) {
    AppState& state = program.state;
    ui::go_to(state, at_step(*state.trace, k));
    state.moves_for = motion_of(state.trace->step(k).op);
    state.step_age = phase * state.moves_for - passes;
    program.frame(1, passes);
}

const Item* part_of(const Program& program, std::string_view name) {
    const auto found = std::ranges::find_if(
        program.items(), [&](const Item& item) { return item.kind == ItemKind::panel && item.text == name; });
    return found == program.items().end() ? nullptr : &*found;
}

float width_of(const Program& program, std::string_view name) {
    const Item* item = part_of(program, name);
    return item ? item->max.x - item->min.x : 0;
}

}  // namespace

TEST_CASE("motion: the end of every step is the picture of it, byte for byte") {
    HeadlessContext context;
    for (const char* name : {"flash-forward", "flash-backward", "flash-forward-v1", "attention"}) {
        Program program(example("worked-4x4"), projector, true);
        program.show_lesson(name);
        AppState& state = program.state;
        for (int k = 0; k < state.trace->size(); k += in_full ? 1 : 5) {
            ui::go_to(state, at_step(*state.trace, k));
            const Image still = render_frame(state, 1280, 720);
            state.moves_for = motion_of(state.trace->step(k).op);
            const Image begun = moving_frame(state, 0, 1280, 720);
            const Image moved = moving_frame(state, state.moves_for + .2f, 1280, 720);
            INFO(std::string(name), " step ", k + 1);
            CHECK(moved == still);
            CHECK(moving_frame(state, 0, 1280, 720) == begun);
            CHECK(render_frame(state, 1280, 720) == still);
        }
    }
}

TEST_CASE("motion: the old sum shrinks to α of itself, then one weight after the other is appended") {
    Program program(example("worked-4x4"), projector, true);
    constexpr int k = 16;  // ℓ of tile (0, 1)
    const Trace& trace = *program.state.trace;
    REQUIRE(trace.step(k).op == Op::row_sum);
    const double alpha = trace.live(Slot::alpha, k).value->data(0, 0);
    show_at(program, k, 0);
    const float whole = width_of(program, "shrinking bar");
    REQUIRE(whole > 100);
    float before = whole, last = whole, terms[3] = {};
    for (float phase = .02f; phase < .72f; phase += .02f) {
        show_at(program, k, phase);
        CAPTURE(phase);
        const float bar = width_of(program, "shrinking bar");
        CHECK(bar <= before);
        before = bar;
        if (bar > 0) last = bar;
        for (int n = 0; n < 3; ++n) {
            const float w = width_of(program, "term " + std::to_string(n));
            CHECK(w >= terms[n]);
            if (bar > 0) CHECK(w == 0);  // nothing is added to the old value
            if (n == 2 && w > 0) CHECK(terms[1] == doctest::Approx(width_of(program, "term 1")));
            terms[n] = w;
        }
    }
    // What is left of it, and the terms, to scale: α ℓ, then both weights.
    CHECK(last / whole < 1.05 * alpha);
    CHECK(terms[0] / whole == doctest::Approx(alpha).epsilon(.02));
    CHECK(terms[1] / whole == doctest::Approx(1 / 1.3678794).epsilon(.02));
    CHECK(terms[2] / whole == doctest::Approx(std::exp(-2.0) / 1.3678794).epsilon(.05));
    const auto tells_sum = [&] {
        return std::ranges::any_of(program.items(), [](const Item& item) {
            return item.kind == ItemKind::text && item.panel == "Lens" && item.text.ends_with("≈ 1.639");
        });
    };
    show_at(program, k, .6f);
    CHECK_FALSE(tells_sum());
    show_at(program, k, .8f);
    CHECK(tells_sum());
}

TEST_CASE("motion: tiles go from their places in HBM to their beds, beside each other") {
    Program program(example("worked-4x4"), projector, true);
    const auto place = [&](int k, float phase, const char* name) {
        show_at(program, k, phase);
        const Item* item = part_of(program, name);
        REQUIRE_MESSAGE(item, std::string(name), " at ", phase);
        return Rect{item->min.x, item->min.y, item->max.x - item->min.x, item->max.y - item->min.y};
    };
    constexpr int load = 10, store = 19;
    REQUIRE(program.state.trace->step(load).op == Op::load_kv);
    REQUIRE(program.state.trace->step(store).op == Op::store);
    Rect before = place(load, 0, "flying K");
    CHECK(before.x < 228);  // on the strip
    for (float phase = .05f; phase < .72f; phase += .05f) {
        const Rect K = place(load, phase, "flying K"), V = place(load, phase, "flying V");
        CHECK(K.x >= before.x);
        CHECK(K.right() < V.x);
        before = K;
    }
    const Item* first = program.look_for("K[2,0]");
    REQUIRE(first);
    CHECK(std::abs(before.x - first->min.x) < 30);

    // Results go back below all numbers.
    float left = 1e9f;
    for (float phase = .2f; phase < .72f; phase += .05f) {
        const Rect O = place(store, phase, "flying O"), L = place(store, phase, "flying L");
        CHECK(O.x + O.w / 2 <= left + .5f);
        CHECK(O.right() < L.x);
        for (const Item& item : program.items()) {
            if (item.kind != ItemKind::cell || item.min.x < 260) continue;
            const bool over =
                O.x < item.max.x && O.right() > item.min.x && O.y < item.max.y && O.bottom() > item.min.y;
            CHECK_MESSAGE(!over, item.text, " at ", phase);
        }
        left = O.x + O.w / 2;
    }
    CHECK(left < 228);
    show_at(program, store, .8f);
    CHECK_FALSE(part_of(program, "flying O"));
}

TEST_CASE("motion: a gradient that grows in HBM goes back there when it is computed") {
    Program program(example("worked-4x4"), projector, true);
    program.show_lesson("flash-backward");
    const Trace& trace = *program.state.trace;
    int k = 0;
    while (trace.step(k).op != Op::dq) ++k;
    REQUIRE(sends(trace, k));
    CHECK(motion_of(trace, k) > motion_of(Op::dq));
    CHECK_FALSE(sends(trace, k - 1));
    CHECK(motion_of(trace, k - 1) == motion_of(trace.step(k - 1).op));
    show_at(program, k, .6f);
    CHECK_FALSE(part_of(program, "flying dQ"));
    CHECK(phase(program.state) < 1);
    float left = 1e9f;
    for (float at = .78f; at < .98f; at += .04f) {
        show_at(program, k, at);
        CAPTURE(at);
        CHECK(phase(program.state) == 1);
        const Item* item = part_of(program, "flying dQ");
        REQUIRE(item);
        CHECK((item->min.x + item->max.x) / 2 <= left + .5f);
        left = (item->min.x + item->max.x) / 2;
    }
    CHECK(left < 300);  // near its place on the strip
    show_at(program, k, 1.05f);
    CHECK_FALSE(part_of(program, "flying dQ"));
    // Dense lessons write to HBM with every step, and say nothing of a chip that it would come from.
    program.show_lesson("backward");
    for (int n = 0; n < program.state.trace->size(); ++n) CHECK_FALSE(sends(*program.state.trace, n));
}

TEST_CASE(
    "motion: → moves the step, whoever hurries finds it there; not back, not by far, not when switched off") {
    Program program(example("worked-4x4"), projector, true);
    AppState& state = program.state;
    program.go_to_step(15);
    program.press("right");
    CHECK(state.moves_for == motion_of(Op::row_sum));
    CHECK(phase(state) < .1f);
    CHECK(animating(state));
    program.press("right");
    CHECK(program.step() == 17);
    CHECK(phase(state) == 1);
    program.wait(60);
    state.step_age = 5;
    CHECK_FALSE(animating(state));
    program.press("left");
    CHECK(phase(state) == 1);
    state.step_age = 5;
    program.press("end");
    CHECK(phase(state) == 1);
    program.go_to_step(15);
    program.press("a right");
    CHECK(program.step() == 16);
    CHECK(phase(state) == 1);
    program.press("a");
    program.go_to_step(15);
    program.press("right");
    CHECK(phase(state) < 1);
    const Image still = render_frame(state, 1280, 720);  // a picture does not wait for it
    state.step_age = 5;
    CHECK(render_frame(state, 1280, 720) == still);
}

TEST_CASE("motion: while playing a step has moved before the next one comes") {
    Program program(example("worked-4x4"), projector, true);
    AppState& state = program.state;
    for (const double speed : {.5, 1.0, 2.0}) {
        state.settings.speed = speed;
        program.go_to_step(10);
        program.press("space");
        while (program.step() == 10) program.frame(1, .05f);
        CHECK(state.moves_for > 0);
        CHECK(state.moves_for <= .81f / static_cast<float>(speed));
        state.player.playing = false;
    }
    state.settings.speed = 4;
    program.go_to_step(10);
    program.press("space");
    while (program.step() == 10) program.frame(1, .05f);
    CHECK(state.moves_for == 0);
}
