#include "app/ui/shell/speaker_parts.h"

#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/focus.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/speaker.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/class/spoken.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::ui {

namespace {

constexpr float speaker_gap = 12, least_window_w = 800, words_of_next_h = 118;

SpeakerLayout wide_layout(float W, float H, const AudiencePage& page, bool tour) {
    constexpr float gap = speaker_gap, head_h = 72,
                    least_stops = speaker_size::stops_head + 4 * speaker_size::row_h + 10;
    SpeakerLayout out{.page = page, .narrow = false, .title = 24, .sentence = 20};
    out.head = {0, 0, W, head_h};
    const float top = head_h + gap, room = H - top - gap;
    // The picture is as large as leaves room for a few stops below it.
    const float frame_w = 2 * space::pad, frame_h = 48 + space::pad;
    const float most_h = room - gap - least_stops - frame_h;
    const float w = std::min(W * .535f - frame_w, most_h * page.w / page.h), h = w * page.h / page.w;
    const float right_w = w + frame_w, right = W - gap - right_w, left_w = right - 2 * gap;
    out.next = {right, top, right_w, h + frame_h};
    out.picture = {right + space::pad, top + 48, w, h};
    out.stops = {right, out.next.bottom() + gap, right_w, H - gap - out.next.bottom() - gap};
    out.now = {gap, top, left_w, tour ? 178.0f : 150.0f};
    out.notes = {gap, out.now.bottom() + gap, left_w, H - gap - out.now.bottom() - gap};
    return out;
}

// Beside the page, which says the step itself. Long notes take the room of the picture.
SpeakerLayout narrow_layout(float W, float H, const AudiencePage& page, bool long_notes) {
    constexpr float gap = 8, head_h = 60, title_h = 42, pad = 12;
    SpeakerLayout out{.page = page, .narrow = true, .title = 20, .sentence = 18};
    // A picture would be a stamp here: the next step is told in words, as far as notes leave them room.
    const float w = W - gap, next_h = title_h + (long_notes ? 0 : words_of_next_h + pad),
                stops_h =
                    std::max(speaker_size::stops_head + 3 * speaker_size::row_h + 8, std::floor(H * .2f));
    out.head = {0, 0, W, head_h};
    out.stops = {0, H - gap - stops_h, w, stops_h};
    out.next = {0, out.stops.y - gap - next_h, w, next_h};
    out.picture = {pad, out.next.y + title_h, w - 2 * pad, words_of_next_h};
    out.pictured = !long_notes;
    out.notes = {0, head_h, w, out.next.y - gap - head_h};
    return out;
}

}  // namespace

SpeakerLayout speaker_layout(const AppState& state, float W, float H, const AudiencePage& page,
                             bool long_notes) {
    return W < least_window_w ? narrow_layout(W, H, page, long_notes)
                              : wide_layout(W, H, page, state.tour != nullptr);
}

namespace {

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

}  // namespace

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
    // How much of it is behind; where there is one column, of what is talked through.
    if (state.tour) speaker_fact(c, x, l, "Stop", count_of(state.tour->at + 1, state.tour->stops()));
    if (state.page == Page::walk && !(l.narrow && state.tour))
        speaker_fact(c, x, l, "Step", count_of(state.cursor.step + 1, state.trace->size()));
    head_buttons(c, state, l);
}

namespace {

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

}  // namespace

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

namespace {

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
    bool words = false;    ///< of the stop, below the text: the stage has two lines of them
};
NotesText text_of_notes(AppState& state, bool beside_page) {
    const Line& notes = speaker_notes(state);
    if (!notes.empty()) return {"Notes", notes, false, true};
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
    for (const Line& part : {e.formula, Line(e.numbers), e.result}) {
        const int lines = static_cast<int>((a.bottom() - y) / line);
        if (part.empty() || lines < 1) continue;
        y += c.rich_paragraph(a.x, y, a.w, part, size, lines, c.theme->t1) + 4;
    }
}

// All words of the stop, where they have room as a whole.
void words_below(const Canvas& c, std::span<const Line> text, const Rect& a) {
    for (const float size : {18.0f, 16.0f, 14.0f}) {
        float h = 0;
        for (const Line& paragraph : text) h += rich_paragraph_height(c, a.w, paragraph, size, 0, 1.4f) + 6;
        if (h + 8 > a.h) continue;
        c.line({a.x, a.y + .5f}, {a.x + a.w, a.y + .5f}, c.theme->line);
        float y = a.y + 10;
        for (const Line& paragraph : text)
            y += c.rich_paragraph(a.x, y, a.w, paragraph, size, 0, c.theme->t2, 1.4f) + 6;
        return;
    }
}

}  // namespace

void speaker_notes_view(const Canvas& c, AppState& state, const SpeakerLayout& l) {
    const Rect& a = l.notes;
    const auto [title, text, formula, words] = text_of_notes(state, l.narrow);
    const bool none = state.tour && speaker_notes(state).empty();
    const Panel panel(c, "Speaker notes", a, title, none ? "no notes for this stop" : "");
    const float w = a.inner_w(), top = a.y + notes_top, bottom = a.bottom() - notes_foot;
    const float size = notes_size(c, text, w, bottom - top, state.settings.notes_size);
    float y = top;
    const int lines = std::max(1, static_cast<int>((bottom - top) / (size * 1.4f)));
    if (!text.empty()) y += c.rich_paragraph(a.inner_x(), y, w, text, size, lines, c.theme->t1, 1.4f) + 14;
    if (formula) formula_below(c, state.explanation, {a.inner_x(), y, w, bottom - y});
    if (words) words_below(c, state.tour->text, {a.inner_x(), y, w, bottom - y});
}

bool notes_need_room(const Canvas& c, AppState& state, const Rect& notes) {
    const float least = px(notes_sizes.front()), h = notes.h - notes_top - notes_foot;
    return rich_paragraph_height(c, notes.inner_w(), text_of_notes(state, true).text, least, 0, 1.4f) > h;
}

namespace {

// The page itself, smaller. Nothing on it can be pressed, and no list has what it shows.
void picture_of_ahead(const Canvas& c, AppState& shown, const Rect& a, const AudiencePage& size) {
    ItemRegistry* const items = std::exchange(item_registry, nullptr);
    auto* const places = std::exchange(place_list, nullptr);
    use_focus(shown.focus);
    ImGui::PushID("ahead");
    ImGui::BeginDisabled();
    ImGui::PushClipRect(c.device(a.x, a.y), c.device(a.right(), a.bottom()), true);
    {
        const Enlarged small(c, {a.x, a.y}, a.w / size.w);
        const float growth = set_page_growth(type_growth());
        Canvas large = small.c;
        large.min_text = size::far;
        const PageView* page = page_view(shown.page);
        // Beside a tour's card pages show what its stop points at.
        const float h = shown.tour ? std::min(size.h, from::presenter_page - 1) : size.h;
        if (page)
            page->presenter(large, shown, size.w, h);
        else
            presenter_view(large, shown, size.w, size.h);
        set_page_growth(growth);
    }
    ImGui::PopClipRect();
    ImGui::EndDisabled();
    ImGui::PopID();
    item_registry = items;
    place_list = places;
}

// The formula of the next step, and the sentence to say; of a page its own.
void words_of_next(const Canvas& c, const Ahead& ahead, const Rect& a) {
    if (!ahead.shown || ahead.arriving) return;
    const AppState& shown = *ahead.shown;
    if (shown.page != Page::walk) {
        c.paragraph(a.x, a.y, a.w, current_chapter(shown).tooltip, 16, c.theme->t2, 3, Face::regular, 1.35f);
        return;
    }
    const Explanation& e = shown.explanation;
    const float formula = c.rich_paragraph(a.x, a.y, a.w, e.formula, 18, 2, c.theme->t1, 1.45f) + 6;
    const int lines = static_cast<int>((a.h - formula) / (16 * 1.35f));
    if (lines > 0)
        c.paragraph(a.x, a.y + formula, a.w, spoken(*shown.trace, shown.cursor.step, e), 16, c.theme->t2,
                    lines, Face::regular, 1.35f);
}

}  // namespace

void speaker_next(const Canvas& c, AppState& state, const SpeakerLayout& l, std::shared_ptr<Focus>& focus) {
    const Rect& a = l.next;
    const Panel panel(c, "Speaker next", a);
    const float pad = 12, y = a.y + (l.narrow ? 21 : 24);
    const Ahead& ahead = what_comes(state);
    const float w = c.text(a.x + pad, y, "Next", 16, c.theme->t2, Face::semibold);
    const char* const last = state.tour ? "This is the last stop." : "This is the last step.";
    const char* const none = state.page == Page::walk || state.tour ? last : "This page has no next step.";
    c.text_within(a.x + pad + w + 12, y, a.w - 2 * pad - w - 12, ahead.words.empty() ? none : ahead.words,
                  l.narrow ? 14 : 20, c.theme->t1, Face::semibold);
    const Rect& p = l.picture;
    if (!l.pictured) return;
    if (l.narrow) return words_of_next(c, ahead, p);
    if (ahead.shown && !ahead.arriving) {
        c.rect(p.x, p.y, p.w, p.h, presenter_page(*c.theme));
        picture_of_ahead(c, *ahead.shown, p, l.page);
        use_focus(focus);
        c.frame(p.x - .5f, p.y - .5f, p.w + 1, p.h + 1, c.theme->line2);
    } else {
        c.well(p.x, p.y, p.w, p.h, radius::card);
        if (!ahead.words.empty() && !ahead.arriving)
            c.text(p.x + p.w / 2, p.middle(), "This page is drawn when it is reached.", 16, c.theme->t2,
                   Align::center);
    }
}

}  // namespace tilewalk::ui
