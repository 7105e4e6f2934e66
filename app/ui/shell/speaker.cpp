#include "app/ui/shell/speaker.h"

#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/focus.h"
#include "app/ui/shell/frame.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/class/spoken.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::ui {

namespace {

// ---- Places to go

void go_to_place(AppState& state, const SpeakerPlace& place) {
    state.speaker->picking = false;
    state.player.playing = false;
    if (state.tour) return go_to_stop(state, place.number - 1);
    if (state.page == Page::walk) return go_to(state, at_step(*state.trace, place.number - 1));
    open_chapter(state, chapters()[static_cast<std::size_t>(place.number - 1)]);
}

// Those that fit what was typed: the beginning of the number, or some of the words.
std::vector<int> fitting(const PlaceList& places, const std::string& typed) {
    std::vector<int> out;
    const std::string wanted = lower_case(typed);
    for (std::size_t n = 0; n < places.entries.size(); ++n) {
        const SpeakerPlace& one = places.entries[n];
        const bool fits = str(one.number).starts_with(wanted) ||
                          lower_case(one.words + " " + one.more).find(wanted) != std::string::npos;
        if (fits) out.push_back(static_cast<int>(n));
    }
    return out;
}

void open_picker(AppState& state) {
    Speaker& speaker = *state.speaker;
    speaker.picking = true;
    speaker.frames = 0;
    speaker.typed.clear();
    speaker.chosen = std::max(0, places_to_go(state).here);
}

// ---- Where what stands. All lengths in px of 1280 × 720 or more; the panel is one column.

constexpr float speaker_gap = 12, panel_w = 400, least_window_w = 800;
constexpr float picture_w = 1280, picture_h = 720;  // of the page that is shown beforehand
constexpr float row_h = 30, stops_head = 46;

struct SpeakerLayout {
    bool narrow = false, pictured = true;
    float title, sentence;  ///< text sizes
    Rect head = {}, now = {}, notes = {}, next = {}, picture = {}, stops = {};
};

SpeakerLayout wide_layout(float W, float H, bool tour) {
    constexpr float gap = speaker_gap, head_h = 72, least_stops = stops_head + 4 * row_h + 10;
    SpeakerLayout out{.narrow = false, .title = 24, .sentence = 20};
    out.head = {0, 0, W, head_h};
    const float top = head_h + gap, room = H - top - gap;
    // The picture is as large as leaves room for a few stops below it.
    const float frame_w = 2 * space::pad, frame_h = 48 + space::pad;
    const float most_h = room - gap - least_stops - frame_h;
    const float w = std::min(W * .535f - frame_w, most_h * picture_w / picture_h),
                h = w * picture_h / picture_w;
    const float right_w = w + frame_w, right = W - gap - right_w, left_w = right - 2 * gap;
    out.next = {right, top, right_w, h + frame_h};
    out.picture = {right + space::pad, top + 48, w, h};
    out.stops = {right, out.next.bottom() + gap, right_w, H - gap - out.next.bottom() - gap};
    out.now = {gap, top, left_w, tour ? 178.0f : 150.0f};
    out.notes = {gap, out.now.bottom() + gap, left_w, H - gap - out.now.bottom() - gap};
    return out;
}

// Beside the page, which says the step itself. Long notes take the room of the picture.
SpeakerLayout narrow_layout(float W, float H, bool long_notes) {
    constexpr float gap = 8, head_h = 60, title_h = 42, pad = 12;
    SpeakerLayout out{.narrow = true, .title = 20, .sentence = 18};
    const float w = W - gap, picture_height = (w - 2 * pad) * picture_h / picture_w,
                next_h = title_h + (long_notes ? 0 : picture_height + pad),
                stops_h = std::max(stops_head + 3 * row_h + 8, std::floor(H * .2f));
    out.head = {0, 0, W, head_h};
    out.stops = {0, H - gap - stops_h, w, stops_h};
    out.next = {0, out.stops.y - gap - next_h, w, next_h};
    out.picture = {pad, out.next.y + title_h, w - 2 * pad, picture_height};
    out.pictured = !long_notes;
    out.notes = {0, head_h, w, out.next.y - gap - head_h};
    return out;
}

SpeakerLayout speaker_layout(const AppState& state, float W, float H, bool long_notes = false) {
    return W < least_window_w ? narrow_layout(W, H, long_notes) : wide_layout(W, H, state.tour != nullptr);
}

// ---- The parts

void speaker_fact(const Canvas& c, float& x, const SpeakerLayout& l, const char* label,
                  const std::string& value, bool strong = false, ImU32 label_colour = 0) {
    const float size = l.narrow ? 24.0f : 30.0f;
    c.text(x, l.head.y + (l.narrow ? 14 : 17), label, size::small, label_colour ? label_colour : c.theme->t2,
           Face::medium);
    const float w = c.text(x, l.head.y + (l.narrow ? 38 : 46), value, size,
                           strong ? c.theme->t1 : c.theme->t2, Face::mono_bold);
    x += std::max(w, text_width(Face::medium, size::small, label)) + (l.narrow ? 22 : 40);
}

std::string two_digits(int n) { return (n < 10 ? "0" : "") + str(n); }

std::string count_of(int n, int all) { return str(n) + "/" + str(all); }

void head_buttons(const Canvas& c, AppState& state, const SpeakerLayout& l) {
    const bool runs = state.speaker->since.has_value();
    const float side = l.narrow ? 30.0f : 36.0f, gap = 4, count = l.narrow ? 2.0f : 6.0f;
    IconRow icon{c, l.head.right() - 12 - count * (side + gap) + gap, l.head.middle() - side / 2, side, gap};
    if (icon("##talk", runs ? Icon::pause : Icon::play, {.tooltip = "The time of the talk (Shift R)"}))
        pause_talk(state);
    if (!l.narrow) {
        if (icon("##talk from zero", Icon::first, {.tooltip = "From zero (Ctrl Shift R)"}))
            restart_talk(state);
        if (icon("##smaller notes", Icon::minus, {.tooltip = "Smaller notes (Alt −)"}))
            resize_notes(state, -1);
        if (icon("##larger notes", Icon::plus, {.tooltip = "Larger notes (Alt +)"})) resize_notes(state, 1);
        if (icon("##move speaker", Icon::screen, {.tooltip = "Window or panel (Ctrl Shift P)"}))
            move_speaker(state);
    }
    if (icon("##close speaker", Icon::close, {.tooltip = "Close; the talk goes on (Shift P)"}))
        toggle_speaker(state);
}

void speaker_head(const Canvas& c, AppState& state, const SpeakerLayout& l) {
    const PanelPart part(c, "Speaker head", l.head);
    float x = l.narrow ? 4.0f : 28.0f;
    const bool runs = state.speaker->since.has_value();
    speaker_fact(c, x, l, runs ? "Talk" : "Talk, stopped", talk_time(talk_seconds(state)), true,
                 runs ? 0 : c.theme->danger);
    if (state.hooks.clock) {
        const ClockTime now = clock_now(state);
        speaker_fact(c, x, l, "Clock", str(now.hour) + ":" + two_digits(now.minute));
    }
    if (!l.narrow) {
        if (state.tour) speaker_fact(c, x, l, "Stop", count_of(state.tour->at + 1, state.tour->stops()));
        if (state.page == Page::walk)
            speaker_fact(c, x, l, "Step", count_of(state.cursor.step + 1, state.trace->size()));
    }
    head_buttons(c, state, l);
}

// What the audience sees, in words.
struct NowWords {
    std::string title, place, sentence;
};
NowWords words_of_now(const AppState& state) {
    NowWords out;
    if (state.page == Page::walk) {
        const Explanation& e = state.explanation;
        out = {e.title, e.place, spoken(*state.trace, state.cursor.step, e)};
    } else {
        const bool start = state.page == Page::start;
        out = {start ? "Start page" : current_chapter(state).title, "",
               start ? "" : current_chapter(state).tooltip};
    }
    if (!state.tour) return out;
    out.place = out.title + (out.place.empty() ? "" : " · " + out.place);
    out.title = state.tour->stop().heading;
    return out;
}

void speaker_now(const Canvas& c, AppState& state, const SpeakerLayout& l) {
    const Rect& a = l.now;
    if (l.narrow) return;
    const Panel panel(c, "Speaker now", a);
    constexpr float pad = space::pad;
    const NowWords words = words_of_now(state);
    float right = a.right() - pad, y = a.y + 28;
    if (state.blank)
        right -= 12 + c.pill(right, y, "screen is blank", size::body, c.theme->danger,
                             ink_on(*c.theme, c.theme->danger), Align::right);
    else if (state.page == Page::walk)
        if (const float w = broken_pill(c, state, right, y, size::body)) right -= w + 12;
    const float x = a.x + pad, label = c.text(x, y + 2, "Now", 16, c.theme->t2, Face::semibold) + 12,
                w = label +
                    c.text_within(x + label, y, right - x - label, words.title, l.title, 0, Face::semibold);
    if (state.tour) {
        y += 30;
        c.text_within(x, y, a.right() - pad - x, words.place, 16, c.theme->t2);
    } else if (const float at = x + w + 14; right - at > 60) {
        c.text_within(at, y + 2, right - at, words.place, 16, c.theme->t2);
    }
    c.paragraph(x, y + 22, a.w - 2 * pad, words.sentence, l.sentence, c.theme->t1, l.narrow ? 4 : 3,
                Face::regular, 1.35f);
}

// The largest size, up to the chosen one, at which all of it has room.
float notes_size(const Canvas& c, const Line& notes, float w, float h, int wished) {
    for (auto size = notes_sizes.rbegin(); size != notes_sizes.rend(); ++size)
        if (*size <= wished && rich_paragraph_height(c, w, notes, px(*size), 0, 1.4f) <= h) return px(*size);
    return px(notes_sizes.front());
}

struct NotesText {
    const char* title;
    Line text;
    bool formula = false;  ///< of the step, below the text
};
NotesText text_of_notes(AppState& state, bool beside_page) {
    const Line& notes = speaker_notes(state);
    if (!notes.empty()) return {"Notes", notes};
    if (state.page != Page::walk)
        return {"Notes", state.tour ? Line{} : pieces("The stops of a tour have notes; U begins one.")};
    const Explanation& e = state.explanation;
    // Now and then the sentence to say is why the step is there.
    if (!beside_page && spoken(*state.trace, state.cursor.step, e) == e.why) return {"The formula", {}, true};
    return {"Why this step is there", pieces(e.why), !beside_page};
}

constexpr float notes_top = 44, notes_foot = 10;

// As much of it as has room.
void formula_below(const Canvas& c, const Explanation& e, const Rect& a) {
    constexpr float size = 20, line = size * 1.6f;
    float y = a.y;
    for (const Line& part : {e.formula, e.numbers, e.result}) {
        const int lines = static_cast<int>((a.bottom() - y) / line);
        if (part.empty() || lines < 1) continue;
        y += c.rich_paragraph(a.x, y, a.w, part, size, lines, c.theme->t1) + 4;
    }
}

void speaker_notes_view(const Canvas& c, AppState& state, const SpeakerLayout& l) {
    const Rect& a = l.notes;
    const auto [title, text, formula] = text_of_notes(state, l.narrow);
    const bool none = state.tour && speaker_notes(state).empty();
    const Panel panel(c, "Speaker notes", a, title, none ? "no notes for this stop" : "");
    const float w = a.inner_w(), top = a.y + notes_top, bottom = a.bottom() - notes_foot;
    const float size = notes_size(c, text, w, bottom - top, state.settings.notes_size);
    float y = top;
    const int lines = std::max(1, static_cast<int>((bottom - top) / (size * 1.4f)));
    if (!text.empty()) y += c.rich_paragraph(a.inner_x(), y, w, text, size, lines, c.theme->t1, 1.4f) + 14;
    if (formula) formula_below(c, state.explanation, {a.inner_x(), y, w, bottom - y});
}

bool has_no_room(const Canvas& c, AppState& state, const Rect& notes) {
    const float least = px(notes_sizes.front()), h = notes.h - notes_top - notes_foot;
    return rich_paragraph_height(c, notes.inner_w(), text_of_notes(state, true).text, least, 0, 1.4f) > h;
}

// The page itself, smaller. Nothing on it can be pressed, and no list has what it shows.
void picture_of_ahead(const Canvas& c, AppState& shown, const Rect& a) {
    ItemRegistry* const items = std::exchange(item_registry, nullptr);
    auto* const places = std::exchange(place_list, nullptr);
    use_focus(shown.focus);
    ImGui::PushID("ahead");
    ImGui::BeginDisabled();
    ImGui::PushClipRect(c.device(a.x, a.y), c.device(a.right(), a.bottom()), true);
    {
        const Enlarged small(c, {a.x, a.y}, a.w / picture_w);
        Canvas large = small.c;
        large.min_text = size::far;
        const PageView* page = page_view(shown.page);
        // Beside a tour's card pages show what its stop points at.
        const float h = shown.tour ? from::presenter_page - 1 : picture_h;
        if (page)
            page->presenter(large, shown, picture_w, h);
        else
            presenter_view(large, shown, picture_w, picture_h);
    }
    ImGui::PopClipRect();
    ImGui::EndDisabled();
    ImGui::PopID();
    item_registry = items;
    place_list = places;
}

void speaker_next(const Canvas& c, AppState& state, const SpeakerLayout& l, std::shared_ptr<Focus>& focus) {
    const Rect& a = l.next;
    const Panel panel(c, "Speaker next", a);
    const float pad = l.picture.x - a.x, y = a.y + (l.narrow ? 21 : 24);
    const Ahead& ahead = what_comes(state);
    const float w = c.text(a.x + pad, y, "Next", 16, c.theme->t2, Face::semibold);
    const char* const last = state.tour ? "This is the last stop." : "This is the last step.";
    const char* const none = state.page == Page::walk || state.tour ? last : "This page has no next step.";
    c.text_within(a.x + pad + w + 12, y, a.w - 2 * pad - w - 12, ahead.words.empty() ? none : ahead.words,
                  l.narrow ? 14 : 20, c.theme->t1, Face::semibold);
    const Rect& p = l.picture;
    if (!l.pictured) return;
    if (ahead.shown && !ahead.arriving) {
        c.rect(p.x, p.y, p.w, p.h, presenter_page(*c.theme));
        picture_of_ahead(c, *ahead.shown, p);
        use_focus(focus);
        c.frame(p.x - .5f, p.y - .5f, p.w + 1, p.h + 1, c.theme->line2);
    } else {
        c.well(p.x, p.y, p.w, p.h, radius::card);
        if (!ahead.words.empty() && !ahead.arriving)
            c.text(p.x + p.w / 2, p.middle(), "This page is drawn when it is reached.", 16, c.theme->t2,
                   Align::center);
    }
}

void place_row(const Canvas& c, AppState& state, const PlaceList& places, int n, const Rect& row,
               bool chosen) {
    const SpeakerPlace one = places.entries[static_cast<std::size_t>(n)];
    const Hot hot = hot_area(c, "##place " + str(one.number), row.x, row.y, row.w, row.h);
    const bool here = n == places.here;
    if (here || hot.hovered)
        c.rect(row.x, row.y, row.w, row.h, here ? c.theme->raised : c.theme->well, radius::card);
    if (here) c.rect(row.x, row.y + 3, 4, row.h - 6, c.theme->t1, 2);
    if (chosen) c.frame(row.x + 1, row.y + 1, row.w - 2, row.h - 2, c.theme->focus, 1.6f, radius::card);
    const Face face = here ? Face::semibold : Face::regular;
    c.text(row.x + 44, row.middle(), str(one.number), 16, here ? c.theme->t1 : c.theme->t2, Face::mono,
           Align::right);
    const float x = row.x + 56, room = row.w - 56 - 28;
    const float w =
        c.text_within(x, row.middle(), room, one.words, 16, here ? c.theme->t1 : c.theme->t2, face) + 16;
    if (room - w > 160) c.text_within(x + w, row.middle(), room - w, one.more, size::body, c.theme->t2);
    if (one.notes) c.disc(row.right() - 14, row.middle(), 3.5f, c.theme->t2);
    if (hot.clicked) go_to_place(state, one);
}

void picker_field(const Canvas& c, Speaker& speaker, const Rect& a, const char* hint) {
    if (speaker.frames++ > 0 && type_into(speaker.typed)) speaker.chosen = 0;
    draw_search(c, "place to go", a.x + 10, a.y + 6, a.w - 20, 34, speaker.typed, hint);
}

void speaker_stops(const Canvas& c, AppState& state, const SpeakerLayout& l) {
    Speaker& speaker = *state.speaker;
    const Rect& a = l.stops;
    const Panel panel(c, "Speaker stops", a);
    const PlaceList& places = places_to_go(state);
    if (speaker.picking) {
        picker_field(c, speaker, a, places.hint);
    } else {
        c.text(a.x + 16, a.y + 23, places.title, size::lead, 0, Face::semibold);
        constexpr const char* words = "Choose";
        const float key = key_cap_width("Shift G"), w = button_width(words);
        c.key_cap(a.right() - 12 - w - 8 - key, a.y + 23, "Shift G");
        if (button(c, "##pick a place", a.right() - 12 - w, a.y + 8, w, 30, words, {.quiet = true}))
            open_picker(state);
    }
    const std::vector<int> shown = fitting(places, speaker.picking ? speaker.typed : "");
    const int count = static_cast<int>(shown.size()),
              fit = std::max(1, static_cast<int>((a.h - stops_head - 6) / row_h));
    if (count == 0) c.text(a.x + 16, a.y + stops_head + row_h / 2, "None has that.", 16, c.theme->t2);
    speaker.chosen = std::clamp(speaker.chosen, 0, std::max(0, count - 1));
    // One line before where the talk is, the others show what is still to come.
    const int from = speaker.picking ? speaker.chosen - fit / 2 : places.here - 1;
    const int first = std::clamp(from, 0, std::max(0, count - fit));
    const float right = count > fit ? 22.0f : 10.0f;
    for (int n = first; n < std::min(count, first + fit); ++n)
        place_row(c, state, places, shown[static_cast<std::size_t>(n)],
                  {a.x + 10, a.y + stops_head + row_h * px(n - first), a.w - 10 - right, row_h},
                  speaker.picking && n == speaker.chosen);
    if (count > fit)
        scroll_bar(c, {a.x, a.y + stops_head, a.w - 4, row_h * px(fit)}, px(first), px(fit), px(count));
}

void speaker_view(const Canvas& c, AppState& state, float W, float H, std::shared_ptr<Focus>& focus) {
    SpeakerLayout l = speaker_layout(state, W, H);
    if (l.narrow && has_no_room(c, state, l.notes)) l = speaker_layout(state, W, H, true);
    speaker_head(c, state, l);
    speaker_now(c, state, l);
    speaker_notes_view(c, state, l);
    speaker_next(c, state, l, focus);
    speaker_stops(c, state, l);
}

// ---- Type

// Beside those of the normal view: titles, numbers, notes up to the chosen size, and the page in small.
std::vector<FontSize> sizes_of_view(const AppState& state, float W, float H) {
    const SpeakerLayout l = speaker_layout(state, W, H);
    std::vector<FontSize> out = font_sizes(true, l.picture.w / picture_w);
    for (const float em : {16.0f, l.title, 20.0f}) out.push_back({Face::semibold, em});
    out.push_back({Face::regular, l.sentence});
    out.push_back({Face::mono_bold, l.narrow ? 24.0f : 30.0f});
    for (const int size : notes_sizes)
        if (size <= state.settings.notes_size)
            for (const Face face :
                 {Face::regular, Face::semibold, Face::semibold_italic, Face::mono, Face::mono_bold})
                out.push_back({face, px(size)});
    return out;
}

// Larger than 1280 × 720 it grows as a whole: it is read from the lectern.
float speaker_scale(float display_scale, float width, float height) {
    return std::max(display_scale, std::min(width / 1280, height / 720));
}

float panel_scale(const AppState& state, float width, float height) {
    const float least = std::min(state.display_scale, width / 1024);
    return std::max(least, std::min(width / 1280, height / 720));
}

}  // namespace

bool load_speaker_fonts(const AppState& state, float display_scale, float width, float height) {
    const float scale = speaker_scale(display_scale, width, height);
    return load_fonts(scale, false, sizes_of_view(state, width / scale, height / scale));
}

void speaker_frame(AppState& state) {
    Speaker& speaker = *state.speaker;
    use_focus(speaker.focus);
    for (const KeyPress& press : std::exchange(speaker.keys, {})) {
        const bool own =
            answer_picker_key(state, press) || answer_focus_key(press) || answer_speaker_key(state, press);
        if (!own) state.keys.push_back(press);
    }
    const Canvas c = begin_page(state, "Tilewalk speaker");
    const float W = ImGui::GetIO().DisplaySize.x / c.s, H = ImGui::GetIO().DisplaySize.y / c.s;
    c.rect(0, 0, W, H, c.theme->bg);
    speaker_view(c, state, W, H, speaker.focus);
    draw_focus_ring(c);
    ImGui::End();
}

float page_width(const AppState& state, float width, float height) {
    if (!speaker_in_panel(state)) return width;
    return std::floor(width - std::min(panel_w * panel_scale(state, width, height), width * .36f));
}

std::vector<FontSize> panel_fonts(const AppState& state, float scale, float width, float height) {
    std::vector<FontSize> out;
    if (!speaker_in_panel(state)) return out;
    const float s = panel_scale(state, width, height), panel = width - page_width(state, width, height);
    out = font_sizes(false, 1);
    for (const FontSize& size : sizes_of_view(state, panel / s, height / s)) out.push_back(size);
    for (FontSize& size : out) size.em *= s / scale;
    return out;
}

void speaker_panel(const Canvas& page, AppState& state) {
    if (!speaker_in_panel(state)) return;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float s = panel_scale(state, size.x, size.y), x = page_width(state, size.x, size.y);
    page.rect(x / page.s, 0, (size.x - x) / page.s, size.y / page.s, page.theme->bg);
    const Enlarged own(page, {x / page.s, 0}, s / page.s);
    speaker_view(own.c, state, (size.x - x) / s, size.y / s, state.focus);
}

bool answer_picker_key(AppState& state, const KeyPress& press) {
    Speaker& speaker = *state.speaker;
    if (!speaker.picking || press.ctrl || press.alt) return false;
    const PlaceList& places = places_to_go(state);
    const std::vector<int> shown = fitting(places, speaker.typed);
    const int last = static_cast<int>(shown.size()) - 1;
    switch (press.key) {
    case Key::up: speaker.chosen = std::max(0, speaker.chosen - 1); return true;
    case Key::down: speaker.chosen = std::min(std::max(0, last), speaker.chosen + 1); return true;
    case Key::escape: speaker.picking = false; return true;
    case Key::enter:
        if (speaker.chosen <= last)
            go_to_place(
                state,
                places.entries[static_cast<std::size_t>(shown[static_cast<std::size_t>(speaker.chosen)])]);
        return true;
    default: return answer_search_key(speaker.typed, press);
    }
}

bool answer_speaker_key(AppState& state, const KeyPress& press) {
    if (press.key == Key::p && press.shift && !press.alt) {
        press.ctrl ? move_speaker(state) : toggle_speaker(state);
        return true;
    }
    if (!speaker_in_window(state) && !speaker_in_panel(state)) return false;
    const bool shift = press.shift && !press.ctrl && !press.alt;
    const bool alt = press.alt && !press.ctrl;
    if (press.key == Key::g && shift) return open_picker(state), true;
    if (press.key == Key::r && shift) return pause_talk(state), true;
    if (press.key == Key::r && press.shift && press.ctrl) return restart_talk(state), true;
    if (press.key == Key::p && alt) return swap_screens(state), true;
    if (press.key == Key::plus && alt) return resize_notes(state, 1), true;
    if (press.key == Key::minus && alt) return resize_notes(state, -1), true;
    return false;
}

}  // namespace tilewalk::ui
