// What a step of the kernel is in the lesson, in the panel of the step: where the bridge has led, or the way
// back over it.
#include "app/ui/chapters/inside/bridge.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr float crossing_line = 20;

bool arrived_here(const InsideArrival& arrival, const AppState& state, const InsidePlace& at) {
    const inside::HeldAt& held = arrival.held;
    return held.launch == state.inside.launch && held.warp == at.warp && held.step == at.k &&
           held.lane == at.lane;
}

std::string numbers_text(const InsideArrival& arrival) {
    const inside::KernelNumber& n = arrival.number;
    const char* const from = arrival.from.from == Page::compare ? " on Kernel and CPU, " : " in the lesson, ";
    return format_number(n.value) + from + there_text(n, arrival.held, "here");
}

std::string distance_text(const LessonNumber& number, const InsidePlace& at) {
    if (!number.entry) return "this step";
    const int steps = number.entry->held.step - at.k;
    if (steps == 0) return number.entry->held.how == inside::HeldAt::How::given ? "this step" : "behind it";
    return steps > 0 ? "in " + counted(steps, "step") : counted(-steps, "step") + " ago";
}

}  // namespace

float inside_arrival(const Canvas& c, const AppState& state, const Rect& a, const InsidePlace& at) {
    const auto& arrival = state.kernel_walk->arrived;
    if (!arrival || !arrived_here(*arrival, state, at) || a.h < 3 * crossing_line) return 0;
    const Theme& t = *c.theme;
    float y = a.y;
    c.text_within(a.x, y + 9, a.w, arrival->symbol, size::body, t.t1, Face::semibold);
    y += 24;
    const auto say = [&](const std::string& text, ImU32 ink) {
        const int fit = static_cast<int>((a.bottom() - y) / (size::small * 1.45f));
        if (!text.empty() && fit > 0)
            y += c.paragraph(a.x, y, a.w, text, size::small, ink, std::min(fit, 3)) + 3;
    };
    say(numbers_text(*arrival), t.t1);
    say(capitalised(held_text(arrival->held)) + ".", t.t2);
    say(arrival->other, t.t2);
    return y - a.y + 8;
}

ArrivalWords arrival_words(const AppState& state, const InsidePlace& at) {
    const auto& arrival = state.kernel_walk->arrived;
    if (!arrival || !arrived_here(*arrival, state, at)) return {};
    std::string sentence = capitalised(arrival->symbol) + ": " + numbers_text(*arrival) + ". " +
                           capitalised(held_text(arrival->held)) + ".";
    if (!arrival->other.empty()) sentence += " " + arrival->other;
    return {arrival->symbol, sentence};
}

float inside_crossing(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    constexpr float h = 46;
    if (a.h < h) return 0;
    const auto& number = lesson_number_kept(state, at);
    if (!number) return 0;
    const Theme& t = *c.theme;
    const bool later = number->entry && number->entry->held.step > at.k,
               before = number->entry && number->entry->held.step < at.k;
    c.text(a.x, a.y + 8,
           later    ? "Next in the lesson"
           : before ? "Last in the lesson"
                    : "In the lesson",
           size::body, t.t2, Face::semibold);
    const Rect box{a.x - 6, a.y + 21, a.w + 12, 22};
    if (button(c, "##lesson step", box.x, box.y, box.w, box.h, "",
               {.quiet = true, .tooltip = "To the step of the lesson that this is (V)"}))
        state.keys.push_back({Key::v});
    const std::string far = distance_text(*number, at);
    const float w = text_width(Face::regular, size::small, far);
    c.text_within(a.x, a.y + 32, a.w - w - 12, number->symbol, size::small, t.t1);
    c.text(a.right(), a.y + 32, far, size::small, t.t3, Align::right);
    return h + 4;
}

}  // namespace tilewalk::ui
