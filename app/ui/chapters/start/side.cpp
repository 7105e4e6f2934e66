// The right column of the start page: the tour, what was left, what can be opened.
#include "app/ui/chapters/start/start.h"
#include "app/ui/kit/empty.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/open_field.h"
#include "app/ui/kit/page_frame.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr float pad = space::pad;

// The steps of the walk as boxes, those that are done filled; a bar where they would be too small.
void steps_strip(const Canvas& c, const AppState& state, const Rect& a) {
    const Theme& t = *c.theme;
    const int all = state.trace->size(), now = state.cursor.step;
    const int across = all <= 24 ? all : (all + 1) / 2, rows = all <= 24 ? 1 : 2;
    const float pitch = std::min(18.0f, a.w / px(across)), line = std::min(20.0f, a.h / px(rows));
    if (pitch < 7) return c.progress(a.x, a.y + 4, a.w, 8, px(now + 1) / px(all));
    const float w = pitch - 3, h = line - 6;
    for (int k = 0; k < all; ++k) {
        const float x = a.x + pitch * px(k % across), y = a.y + line * px(k / across);
        if (k == now) c.halo(x, y, w, h, 3);
        if (k <= now)
            c.rect(x, y, w, h, k == now ? t.t1 : t.raised, 3);
        else
            c.frame(x + .5f, y + .5f, w - 1, h - 1, t.line2, 1, 3);
    }
}

// Its stops as boxes, chapter by chapter, each of which is a door into the tour; below them the name of the
// one that the mouse or the focus is on.
void chapters_strip(const Canvas& c, AppState& state, StartPage& page, float x, float y, float w) {
    const auto stops = static_cast<int>(page.stops.size());
    std::vector<TourChapter> chapters = page.tour_chapters;
    if (chapters.empty()) chapters.push_back({page.stops.front(), 0});
    const float gap = chapters.size() > 1 ? 5.0f : 0.0f,
                pitch = std::min(15.0f, (w - gap * px(chapters.size() - 1)) / px(stops));
    const int now = std::min(stop_left(state).value_or(0), stops - 1);
    std::string words = (now > 0 ? "left at: " : "begins with: ") + page.stops[static_cast<std::size_t>(now)];
    for (std::size_t k = 0; k < chapters.size(); ++k) {
        const int first = chapters[k].first, end = k + 1 < chapters.size() ? chapters[k + 1].first : stops;
        const float left = x + pitch * px(first) + gap * px(k), wide = pitch * px(end - first);
        const Hot hot = start_spot(c, page, "##tour chapter " + str(k + 1), {left, y - 8, wide, 24});
        const bool lit = hot.hovered || hot.focused;
        if (lit)
            words = chapter_words({.name = chapters[k].name,
                                   .chapter = static_cast<int>(k) + 1,
                                   .chapters = static_cast<int>(chapters.size())});
        for (int n = first; n < end; ++n) {
            const float at = left + pitch * px(n - first);
            if (lit || n == now)
                c.rect(at, y, pitch - 2, 8, c.theme->t1, 2);
            else if (pitch < 9)  // a frame would have no inside
                c.rect(at, y, pitch - 2, 8, c.theme->line2, 1);
            else
                c.frame(at + .5f, y + .5f, pitch - 3, 7, c.theme->line2, 1, 2);
        }
        if (hot.clicked) begin_tour_at(state, first);
    }
    c.text_within(x, y + 28, w, words, size::small, c.theme->t3);
}

void tour_panel(const Canvas& c, AppState& state, const Rect& a) {
    StartPage& page = start_page(state);
    const Panel panel(c, "New here", a);
    const float x = a.x + pad, w = a.w - 2 * pad, button_h = a.h < 180 ? 36 : 44,
                y = a.bottom() - 16 - button_h;
    const std::optional<int> left = stop_left(state);
    const std::string left_label = left ? "Go on at stop " + str(*left + 1) : "";
    c.text(x, a.y + side_title,
           state.tour ? "On the tour"
           : left     ? "The tour"
                      : "New here?",
           22, 0, Face::semibold);
    std::string words = state.tour
                            ? "Stop " + str(state.tour->at + 1) + " of " + str(state.tour->stops()) + ": " +
                                  state.tour->stop().heading + "."
                            : str(page.stops.size()) +
                                  " stops lead through all of it, on numbers small enough to check by hand.";
    const int lines = std::clamp(static_cast<int>((y - a.y - 52) / 22), 1, 3);
    if (!state.tour && paragraph_height(w, words, size::lead, 0, Face::regular, 1.4f) > px(lines) * 22)
        words = str(page.stops.size()) + " stops, on numbers small enough to check by hand.";
    c.paragraph(x, a.y + 46, w, words, size::lead, c.theme->t2, lines, Face::regular, 1.4f);
    if (!page.stops.empty() && !state.tour && y - a.y > 150) chapters_strip(c, state, page, x, y - 56, w);
    const float stage_w = std::min(104.0f, w * .34f);
    if (key_button(c, page, "##start tour", {x, y, w - stage_w - 10, button_h},
                   state.tour ? "Leave the tour"
                   : left     ? left_label.c_str()
                              : "Start the tour",
                   "U", true, "A guided tour from stop to stop (U)"))
        toggle_tour(state);
    if (button(c, "##tour on stage", x + w - stage_w, y, stage_w, button_h, "On stage",
               {.size = size::lead, .tooltip = "The same tour in presenter mode"})) {
        state.presenter = true;
        if (!state.tour)
            toggle_tour(state);
        else
            state.page = page_of(state.tour->stop().page);
    }
}

void continue_panel(const Canvas& c, AppState& state, const Rect& a) {
    StartPage& page = start_page(state);
    const Theme& t = *c.theme;
    const Panel panel(c, "Continue", a);
    const float x = a.x + pad, w = a.w - 2 * pad, button_h = a.h < 200 ? 36 : 44,
                y = a.bottom() - 16 - button_h;
    c.text(x, a.y + side_title, "Continue", 22, 0, Face::semibold);
    if (!state.start.left) {
        const EmptyAnswer answer =
            empty_state(c, a,
                        {.words = "Nothing yet: your last step will be here.",
                         .first = {"##first walk", "The worked example, step 1",
                                   "The tiled forward pass of the 4 × 4 worked example", false}});
        const Rect& b = answer.button;
        page.spots.push_back({last_item(), b.x, b.y, b.w, b.h});
        if (answer.first) state.page = Page::walk;
        return;
    }
    c.text_within(x, a.y + 58, w, state.problem->title, size::lead, 0, Face::semibold);
    std::string place = left_place(state);
    if (paragraph_height(w, place, size::body, 0, Face::regular, 1.4f) > 2.5f * 1.4f * size::body)
        place = place.substr(0, place.find(':'));
    c.paragraph(x, a.y + 71, w, place, size::body, t.t2, 2, Face::regular, 1.4f);
    const bool one_line = text_width(Face::regular, size::body, place) < w;
    const bool walk = static_cast<Page>(state.start.page) == Page::walk;
    if (walk && one_line && y - a.y > 138)
        steps_strip(c, state, {x, a.y + 104, w, std::min(40.0f, y - a.y - 112)});
    const CellRef& target = state.explanation.target;
    const std::string row = str(
        indices(*state.trace, target.slot, {target.row, target.col, 1, 1}, state.cursor.step).rows.front());
    if (walk && one_line && y - a.y > 190)
        c.text_within(x, a.y + 166, w,
                      "row " + row + " chosen, " +
                          (state.undo.empty()
                               ? "nothing edited"
                               : str(state.undo.size()) + (state.undo.size() == 1 ? " change" : " changes") +
                                     " to undo"),
                      size::small, t.t3);
    const std::string label = continue_label(state);
    const float first_w = 80, label_w = text_width(Face::semibold, size::lead, label) + 38;
    const bool again = walk && state.cursor.step > 0 && label_w + first_w < w;
    const float reserved = again ? first_w + 10 : 0;
    if (key_button(c, page, "##continue", {x, y, w - reserved, button_h}, label.c_str(), "Enter", true,
                   "Back to where you were (Enter)"))
        continue_from_start(state);
    if (again && button(c, "##from step 1", x + w - first_w, y, first_w, button_h, "Step 1",
                        {.size = size::lead, .tooltip = "The same walk from its beginning"})) {
        go_to(state, first(*state.trace));
        continue_from_start(state);
    }
}

// One line to open something: its name, a note, a key or an angle.
bool open_row(const Canvas& c, StartPage& page, const std::string& id, const Rect& a, const std::string& name,
              const std::string& note, const char* key, bool rule) {
    const Theme& t = *c.theme;
    const Hot hot = start_spot(c, page, id, {a.x - 8, a.y, a.w + 16, a.h});
    if (rule) c.line({a.x, a.y + .5f}, {a.right(), a.y + .5f}, t.line);
    if (hot.hovered || hot.focused) c.rect(a.x - 8, a.y + 2, a.w + 16, a.h - 4, t.raised, radius::card);
    const float key_w = key[0] ? key_cap_width(key) : 8, end = a.right() - key_w - 14;
    const float w = c.text_within(a.x, a.middle(), end - a.x, name, size::lead, 0, Face::medium);
    if (!note.empty() && a.x + w + 14 + text_width(Face::regular, size::small, note) < end)
        c.text(end, a.middle(), note, size::small, hot.hovered ? t.t2 : t.t3, Align::right);
    if (key[0])
        c.key_cap(a.right() - key_w, a.middle(), key);
    else
        c.polyline(std::array{Point{a.right() - 8, a.middle() - 5}, Point{a.right() - 3, a.middle()},
                              Point{a.right() - 8, a.middle() + 5}},
                   t.t3, 1.8f);
    return hot.clicked;
}

std::string sizes(const Problem& p) {
    const std::string size =
        p.N() == p.N_kv() ? str(p.N()) + " × " + str(p.d())
                          : str(p.N()) + (p.N() == 1 ? " query, " : " queries, ") + counted(p.N_kv(), "key");
    return size + (p.causal ? ", causal" : "");
}

void open_panel(const Canvas& c, AppState& state, const Rect& a) {
    StartPage& page = start_page(state);
    const Panel panel(c, "Open", a);
    const float x = a.x + pad, w = a.w - 2 * pad;
    c.text(x, a.y + side_title, "Open", 22, 0, Face::semibold);
    const float key_w = key_cap_width("Ctrl O");
    c.key_cap(a.right() - pad - key_w, a.y + 28, "Ctrl O");
    const OpenField open{"##start path",
                         "##open file",
                         w > 260 ? "A file; or drop it here" : "A file's name",
                         "Problem or walk .json; Q, K, V as .csv, .tsv, .npy",
                         true,
                         std::exchange(state.ask_path, false),
                         &state.hooks.choose_file};
    if (open_field(c, x, a.y + 68, w - open_button_w - open_gap, state.form.path, sizeof state.form.path,
                   open))
        return void(state.dropped = {state.form.path});  // whatever may be dropped may be named
    const float room = a.bottom() - 10 - a.y - 94;
    const int fit = std::max(2, static_cast<int>(room / 33));
    const float row = std::min(40.0f, room / px(fit));
    float y = a.y + 94;
    if (open_row(c, page, "##own numbers", {x, y, w, row}, "Your own numbers", "", "I", false))
        return open_own_numbers(state);
    const int shown = std::min(static_cast<int>(state.examples.size()), fit - 2);
    // Those that differ most: spread over the list, which begins with the worked example.
    for (int n = 0; n < shown; ++n) {
        y += row;
        const int at = n * static_cast<int>(state.examples.size()) / std::max(1, shown);
        const Problem& p = state.examples[static_cast<std::size_t>(at)];
        if (open_row(c, page, "##example " + p.name, {x, y, w, row}, p.title, sizes(p), "", true))
            return open_example(state, at);
    }
    y += row;
    if (open_row(c, page, "##all examples", {x, y, w, row}, "All " + str(state.examples.size()) + " examples",
                 "", "Ctrl K", true)) {
        state.finder = std::make_shared<Finder>();
        state.finder->text = "example";
    }
}

}  // namespace

bool key_button(const Canvas& c, StartPage& page, const std::string& id, const Rect& a, const char* label,
                const char* key, bool primary, const char* tooltip) {
    const Theme& t = *c.theme;
    const bool big = c.min_text > 20;
    const bool pressed = button(c, id, a.x, a.y, a.w, a.h, "", {.primary = primary, .tooltip = tooltip});
    page.spots.push_back({last_item(), a.x, a.y, a.w, a.h});
    const float size = big ? size::far : size::lead, small = big ? size::far : size::small;
    const float key_w = key[0] ? text_width(Face::medium, small, key) + 14 : 0, edge = big ? 18 : 14;
    const ImU32 ink = primary ? t.inv : t.t1, quiet = primary ? mix(t.inv, t.t1, .25f) : t.t2;
    const float label_w = text_width(Face::semibold, size, label), room = a.w - 2 * edge;
    c.text_within(a.x + edge, a.middle(), room, label, size, ink, Face::semibold);
    if (key_w == 0 || label_w + key_w + 10 > room) return pressed;
    const float h = big ? 40 : 23, x = a.right() - edge + 2 - key_w;
    c.frame(x + .5f, a.middle() - h / 2 + .5f, key_w - 1, h - 1, quiet, 1, 5);
    c.text(x + key_w / 2, a.middle(), key, small, quiet, Face::medium, Align::center);
    return pressed;
}

std::string left_place(const AppState& state) {
    const auto page = static_cast<Page>(state.start.page);
    if (page != Page::walk) {
        for (const Chapter& chapter : chapters())
            if (chapter.page == page) return std::string(chapter.title) + ": " + chapter.tooltip;
        return "";
    }
    return std::string(state.lesson->title) + ", step " + str(state.cursor.step + 1) + " of " +
           str(state.trace->size()) + ": " + state.explanation.title;
}

std::string continue_label(const AppState& state) {
    if (!state.start.left) return "Nothing yet";
    const auto page = static_cast<Page>(state.start.page);
    if (page == Page::walk) return "Continue at step " + str(state.cursor.step + 1);
    for (const Chapter& chapter : chapters())
        if (chapter.page == page) return "Continue with " + std::string(chapter.brief);
    return "Continue";
}

void start_side(const Canvas& c, AppState& state, const Rect& a) {
    constexpr float gap = space::margin;
    const float tour_h = std::clamp(a.h * .282f, 136.0f, 250.0f),
                left_h = state.start.left ? std::clamp(a.h * .315f, 170.0f, 270.0f)
                                          : std::clamp(a.h * .25f, 170.0f, 210.0f);
    tour_panel(c, state, {a.x, a.y, a.w, tour_h});
    continue_panel(c, state, {a.x, a.y + tour_h + gap, a.w, left_h});
    const float top = a.y + tour_h + left_h + 2 * gap;
    open_panel(c, state, {a.x, top, a.w, a.bottom() - top});
}

}  // namespace tilewalk::ui
