#include "app/ui/chapters/inside/ways.h"

#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/inside/words.h"

#include <algorithm>

namespace tilewalk::ui {

// What is the same for all lanes
static void look_up_step(InsideWays& ways, const InsidePlace& at) {
    ways.called = at.launch->calls.of(at.warp, at.k);
    ways.meeting = meeting_at(at.block(), at.steps(), at.origins(), at.warp, at.k);
    ways.barrier = at.launch->barriers.at(at.block(), at.steps(), at.warp, at.k);
    ways.sides = sides_at(at.block(), at.steps(), at.warp, at.k);
    ways.registers = registers_at(*at.launch->launch, at.block(), at.steps(), at.warp, at.k);
    ways.chain = {};
    if (at.event->op == inside::Op::multiply_add) ways.chain = at.origins().chain(at.warp, at.k);
    ways.sums_step = step_of_sums(at), ways.sums = {};
    if (ways.sums_step >= 0)
        ways.sums = named_sums(at.record(), at.block(), at.steps(), at.origins(), at.warp, ways.sums_step);
    ways.contents.clear();
    for (const inside::SharedArea& area : at.launch->shared.areas())
        ways.contents.push_back(content_of(at.record(), at.block(), at.steps(), at.origins(),
                                           at.launch->shared, area, at.steps().slot(at.warp, at.k)));
}

static InsideWays& ways_of_walk(AppState& state) {
    InsidePage& page = inside_page(state);
    if (!page.ways || page.ways->of != page.shown) page.ways = std::make_shared<InsideWays>(page.shown);
    return *page.ways;
}

const std::optional<LessonNumber>& lesson_number_kept(AppState& state, const InsidePlace& at) {
    return ways_of_walk(state).lesson.of({at.launch, at.n, at.lane, state.inside.cell, at.bridge},
                                         [&] { return lesson_number(state); });
}

const InsideWays& inside_ways(AppState& state, const InsidePlace& at) {
    InsideWays& ways = ways_of_walk(state);
    const bool same_step = ways.launch == at.launch && ways.event == at.n && ways.lane >= 0;
    if (same_step && ways.lane == at.lane) return ways;
    if (!same_step) look_up_step(ways, at);
    ways.launch = at.launch, ways.event = at.n, ways.lane = at.lane;
    const ShownAccess access = shown_access(at, cell_inside(state));
    ways.swizzle.reset();
    if (access.event)
        ways.swizzle =
            swizzle_of(at.record(), at.block(), at.origins(), at.launch->shared,
                       static_cast<std::uint32_t>(access.event - at.block().events.data()), at.lane);
    ways.uses = uses_of(at.block(), at.steps(), at.origins(), at.warp, at.k, at.lane);
    ways.score = score_behind(at.block(), at.steps(), at.origins(), at.warp, at.k, at.lane,
                              static_cast<float>(recorded_problem(state).softmax_scale()));
    return ways;
}

std::string called_from(const InsidePlace& at, std::uint32_t event) {
    const int k = at.origins().step_number(event);
    if (k < 0) return "";
    const auto& way = at.launch->calls.of(at.block().events[event].warp, k);
    if (way.empty() || way.back().lines.size() != 1) return "";
    const std::string& file = way.back().file;
    return file.substr(file.find_last_of('/') + 1) + ":" + str(way.back().lines.front());
}

namespace {

constexpr float use_row = 20;

std::string use_text(const InsidePlace& at, const inside::OriginStep& use) {
    const inside::Event& event = at.block().events[use.event];
    const std::string lane = "lane " + str(use.lane);
    return inside::words_of_step(at.record(), at.block(), event).instruction +
           (event.warp == at.warp ? ", " + lane : ", warp " + str(int(event.warp)) + " " + lane);
}

std::string use_distance(const InsidePlace& at, const inside::OriginStep& use) {
    const inside::Event& event = at.block().events[use.event];
    const int slots =
        at.steps().slot(event.warp, at.origins().step_number(use.event)) - at.steps().slot(at.warp, at.k);
    return "in " + counted(std::max(0, slots), "slot");
}

}  // namespace

float inside_called(const Canvas& c, AppState& state, float x, float y, float w, const InsidePlace& at) {
    std::string text = inside::calls_text(inside_ways(state, at).called);
    if (text.empty()) return 0;
    // Of a long way the first call and the kernel's
    const std::size_t first = text.find(", "), last = text.rfind(", ");
    if (first < last && text_width(Face::regular, size::small, text) > w)
        text = text.substr(0, first) + ", …" + text.substr(last);
    c.text_within(x, y, w, text, size::small, c.theme->t3);
    return 17;
}

float inside_uses(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const inside::Uses& uses = inside_ways(state, at).uses;
    if (uses.steps.empty() || a.h < 24 + use_row) return 0;
    const Theme& t = *c.theme;
    float y = a.y;
    const int more = uses.all - static_cast<int>(uses.steps.size());
    c.text(a.x, y + 8, "Where it goes", size::body, t.t2, Face::semibold);
    if (more > 0) c.text(a.right(), y + 8, "and " + str(more) + " more", size::small, t.t3, Align::right);
    y += 22;
    for (const inside::OriginStep& use : uses.steps) {
        if (y + use_row > a.bottom()) break;
        const inside::Event& event = at.block().events[use.event];
        const Rect box{a.x - 6, y - 1, a.w + 12, use_row};
        const Hot hot =
            hot_area(c, "##use " + str(use.event) + " " + str(use.lane), box.x, box.y, box.w, box.h);
        if (hot.hovered) c.rect(box.x, box.y, box.w, box.h, t.raised, radius::cell);
        const std::string far = use_distance(at, use);
        const float w = text_width(Face::regular, size::small, far);
        c.text_within(a.x, y + 9, a.w - w - 12, use_text(at, use), size::small, t.t2);
        c.text(a.right(), y + 9, far, size::small, t.t3, Align::right);
        if (hot.clicked)
            choose_lane(state, use.lane), go_inside(state, event.warp, at.origins().step_number(use.event));
        y += use_row;
    }
    return y - a.y + 8;
}

}  // namespace tilewalk::ui
