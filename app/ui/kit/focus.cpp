#include "app/ui/kit/focus.h"

#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/items.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::ui {

struct Stop {
    ImGuiID id = 0, window = 0;
    int region = 0;
    ImVec2 min, max;
    bool field = false, arrows = false, up_and_down = false;
    float middle() const { return (min.y + max.y) / 2; }
    float height() const { return std::abs(max.y - min.y); }
};

/// What a frame showed; the keys of the next one act on it.
struct Shown {
    int frame = -1;
    std::vector<Stop> stops;
    ImGuiID only = 0;  // the window that keeps the focus
    bool popup = false;
    int regions = 0;
    std::vector<int> open_regions;
};

struct Focus {
    ImGuiContext* owner = nullptr;
    Shown now;
    ImGuiID id = 0, before_popup = 0;
    bool visible = false, entered = false, close_popup = false;
    ImGuiID pressed = 0;
    Arrow arrow;
    int answered_in = -1;           // the frame that presses, arrows and such are for
    ImVec2 keyed_at{-1e9f, -1e9f};  // where the mouse was when a key was pressed
    ImGuiID slider = 0;             // that arrow keys moved last, and where to
    float led_to = 0;
};

namespace {

// As ImGui's current context: the state itself belongs to whoever draws.
std::shared_ptr<Focus> in_use = std::make_shared<Focus>();

// Contexts come and go in tests and for pictures; each starts without a focus.
Focus& current() {
    Focus& focus = *in_use;
    if (focus.owner != ImGui::GetCurrentContext() || ImGui::GetFrameCount() < focus.now.frame) {
        focus = {};
        focus.owner = ImGui::GetCurrentContext();
    }
    return focus;
}

Shown& shown_now() {
    Focus& f = current();
    if (f.now.frame == ImGui::GetFrameCount()) return f.now;
    f.now = {};
    f.now.frame = ImGui::GetFrameCount();
    if (ImGui::IsMouseClicked(0)) f.visible = false;
    return f.now;
}

bool answering(const Focus& f) { return f.answered_in == ImGui::GetFrameCount(); }

// Row by row from left to right; what overlaps the upper half of a row's first stop lies in that row.
void sort_rows(std::vector<Stop>::iterator begin, std::vector<Stop>::iterator end) {
    std::stable_sort(begin, end, [](const Stop& a, const Stop& b) { return a.middle() < b.middle(); });
    while (begin != end) {
        const float first = begin->middle(), half = begin->height() / 2;
        auto row = std::next(begin);  // whatever its height
        while (row != end && row->middle() - first <= std::min(half, row->height() / 2)) ++row;
        std::stable_sort(begin, row, [](const Stop& a, const Stop& b) { return a.min.x < b.min.x; });
        begin = row;
    }
}

// The stops of the window that keeps the focus, or all, in reading order: panel by panel, as they are drawn.
std::vector<Stop> in_order(const Shown& shown) {
    std::vector<Stop> out;
    for (const Stop& stop : shown.stops)
        if (shown.only == 0 || stop.window == shown.only) out.push_back(stop);
    std::ranges::stable_sort(out, [](const Stop& a, const Stop& b) { return a.region < b.region; });
    for (auto begin = out.begin(); begin != out.end();) {
        const auto end =
            std::find_if(begin, out.end(), [&](const Stop& s) { return s.region != begin->region; });
        sort_rows(begin, end);
        begin = end;
    }
    return out;
}

void go_to_stop(Focus& f, const Stop& stop) {
    f.id = stop.id;
    f.visible = true;
    release_active_item();  // a field that had the caret
    f.entered = stop.field;
}

void move_by(Focus& f, int by) {
    const std::vector<Stop> stops = in_order(f.now);
    if (stops.empty()) return;
    const int count = static_cast<int>(stops.size());
    const auto found = std::ranges::find_if(stops, [&](const Stop& s) { return s.id == f.id; });
    const int at = found != stops.end() ? static_cast<int>(found - stops.begin()) : by > 0 ? -1 : count;
    go_to_stop(f, stops[static_cast<std::size_t>((at + by + count) % count)]);
}

const Stop* focused_stop(const Focus& f) {
    for (const Stop& stop : f.now.stops)
        if (stop.id == f.id && (f.now.only == 0 || stop.window == f.now.only)) return &stop;
    return nullptr;
}

bool answer_arrow(Focus& f, const Stop* stop, const KeyPress& press) {
    const Arrow arrow{(press.key == Key::right) - (press.key == Key::left),
                      (press.key == Key::down) - (press.key == Key::up)};
    if (!arrow || press.ctrl || press.alt || press.shift) return false;
    if (stop && stop->arrows && (arrow.x != 0 || stop->up_and_down)) {
        f.arrow = arrow;
        return true;
    }
    if (!f.now.popup || arrow.y == 0) return false;
    move_by(f, arrow.y);
    return true;
}

bool answer_escape(Focus& f) {
    const bool was_visible = std::exchange(f.visible, false);
    if (!f.now.popup) return was_visible && f.now.only == 0;  // a card closes by itself
    f.close_popup = true;
    f.id = f.before_popup;
    f.visible = was_visible;
    return true;
}

}  // namespace

void use_focus(std::shared_ptr<Focus>& focus) {
    if (!focus) focus = std::make_shared<Focus>();
    in_use = focus;
}

void note_key() { current().keyed_at = ImGui::GetIO().MousePos; }

bool rests_since_key() { return rests_at(current().keyed_at); }

bool answer_focus_key(const KeyPress& press) {
    Focus& f = current();
    f.answered_in = ImGui::GetFrameCount();
    f.pressed = 0, f.arrow = {}, f.entered = false, f.close_popup = false;
    if (press.key == Key::tab && !press.ctrl && !press.alt) {
        move_by(f, press.shift ? -1 : 1);
        return f.visible;
    }
    if (press.key == Key::escape) return answer_escape(f);
    if (!f.visible) return false;
    const Stop* stop = focused_stop(f);
    if (stop && (press.key == Key::enter || press.key == Key::space) && !press.ctrl && !press.alt) {
        f.pressed = stop->id;
        f.entered = stop->field;
        return true;
    }
    return answer_arrow(f, stop, press);
}

FocusAnswer focus_stop(ImGuiID id, ImVec2 min, ImVec2 max, bool field) {
    Shown& now = shown_now();
    Focus& f = current();
    if (ImGui::IsRectVisible(min, max))
        now.stops.push_back({id, current_window(), now.open_regions.empty() ? 0 : now.open_regions.back(),
                             min, max, field, false, false});
    if (id == active_item() && f.id != id) f.id = id;  // Tab goes on from what the mouse has pressed
    const bool mine = f.id == id && f.visible;
    return {mine, answering(f) && f.pressed == id, mine && answering(f) && f.entered};
}

void drop_focus_stop() {
    if (std::vector<Stop>& stops = shown_now().stops; !stops.empty()) stops.pop_back();
}

void switch_off_stop() {
    drop_focus_stop();
    if (item_registry && !item_registry->items.empty()) item_registry->items.back().faint = true;
}

Arrow focus_arrow(ImGuiID id, bool both) {
    std::vector<Stop>& stops = shown_now().stops;
    if (stops.empty() || stops.back().id != id) return {};
    stops.back().arrows = true;
    stops.back().up_and_down = both;
    Focus& f = current();
    // Taken once: within a group the focus moves on to a stop that is still to be drawn.
    return answering(f) && f.visible && f.id == id ? std::exchange(f.arrow, {}) : Arrow{};
}

float stepped_place(ImGuiID id, float place, int by) {
    Focus& f = current();
    const float from = f.slider == id && std::abs(f.led_to - place) < .15f ? f.led_to : place;
    f.slider = id;
    return f.led_to = std::clamp(from + .05f * px(by), 0.0f, 1.0f);
}

void focus_on(ImGuiID id) {
    current().id = id;
    current().visible = true;
}

void begin_focus_region() { shown_now().open_regions.push_back(++shown_now().regions); }
void end_focus_region() {
    if (std::vector<int>& open = shown_now().open_regions; !open.empty()) open.pop_back();
}

void keep_focus_here(bool popup) {
    Shown& now = shown_now();
    Focus& f = current();
    now.only = current_window();
    now.popup = popup;
    const bool inside = std::ranges::any_of(now.stops, [&](const Stop& s) { return s.id == f.id; });
    if (popup && inside) f.before_popup = f.id;
}

bool focus_closes_popup() { return answering(current()) && current().close_popup; }

ImGuiID focused_item() { return current().visible && focused_stop(current()) ? current().id : 0; }

void focus_next_row(int by) {
    Focus& f = current();
    const Stop* from = f.visible ? focused_stop(f) : nullptr;
    if (!from) return move_by(f, by);
    // The nearest stop that lies wholly above or below
    const Stop start = *from;
    std::vector<Stop> stops = in_order(f.now);
    const Stop* best = nullptr;
    const auto far = [&](const Stop& s) {
        return std::abs(s.middle() - start.middle()) * 4 + std::abs(s.min.x - start.min.x);
    };
    for (const Stop& stop : stops) {
        const bool beyond = by > 0 ? stop.min.y >= start.max.y - 1 : stop.max.y <= start.min.y + 1;
        if (beyond && (!best || far(stop) < far(*best))) best = &stop;
    }
    if (best) go_to_stop(f, *best);
}

void clear_focus() {
    if (!ImGui::GetCurrentContext()) return;  // a session that is made before its window has no focus
    current().visible = false;
    current().id = 0;
}

void draw_focus_ring(const Canvas& main) {
    const Focus& f = current();
    const Stop* stop = f.visible ? focused_stop(f) : nullptr;
    if (!stop) return;
    Canvas c = main;
    c.dl = ImGui::GetForegroundDrawList();
    const float x = (stop->min.x - c.x0) / c.s, y = (stop->min.y - c.y0) / c.s,
                w = (stop->max.x - stop->min.x) / c.s, h = (stop->max.y - stop->min.y) / c.s;
    // Between the ring and what it is round lies a line of the page, so that it shows on a bright fill, too.
    c.frame(x - 1, y - 1, w + 2, h + 2, c.theme->bg, 2, 9);
    c.frame(x - 3, y - 3, w + 6, h + 6, c.theme->focus, 2, 11);
}

}  // namespace tilewalk::ui
