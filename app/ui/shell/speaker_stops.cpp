// The places to go of the speaker's view, and the picker among them.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/shell/panels.h"
#include "app/ui/shell/speaker.h"
#include "app/ui/shell/speaker_parts.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void go_to_place(AppState& state, const SpeakerPlace& place) {
    state.speaker->picking = false;
    state.player.playing = false;
    if (state.tour) return go_to_stop(state, place.number - 1);
    if (state.page == Page::walk) return go_to(state, at_step(*state.trace, place.number - 1));
    open_chapter(state, chapters()[static_cast<std::size_t>(place.number - 1)]);
}

const SpeakerPlace& place_at(const PlaceList& places, const std::vector<int>& shown, int n) {
    return places.entries[static_cast<std::size_t>(shown[static_cast<std::size_t>(n)])];
}

// Those that fit what was typed: the beginning of the number, or some of the words.
std::vector<int> fitting(const PlaceList& places, const std::string& typed) {
    std::vector<int> out;
    const std::string wanted = lower_case(typed);
    for (std::size_t n = 0; n < places.entries.size(); ++n) {
        const SpeakerPlace& one = places.entries[n];
        const bool fits =
            str(one.number).starts_with(wanted) ||
            lower_case(one.words + " " + one.more + " " + one.chapter).find(wanted) != std::string::npos;
        if (fits) out.push_back(static_cast<int>(n));
    }
    return out;
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

// What the list shows from top to bottom: places, as indices of those that fit, and above the first of each
// chapter of a tour its name.
constexpr int chapter_name = -1;
std::vector<int> list_rows(const PlaceList& places, const std::vector<int>& shown) {
    std::vector<int> rows;
    int chapter = 0;
    for (int n = 0; n < static_cast<int>(shown.size()); ++n) {
        const int own = place_at(places, shown, n).chapter_number;
        if (own != chapter) rows.push_back(chapter_name);
        chapter = own;
        rows.push_back(n);
    }
    return rows;
}

void chapter_row(const Canvas& c, const SpeakerPlace& first, const Rect& row) {
    const float y = row.middle() + 3, x = row.x + 10;
    const float w =
        c.text_within(x, y, row.w - 40, first.chapter_words, size::body, c.theme->t2, Face::semibold);
    c.line({x + w + 12, y + .5f}, {row.right() - 8, y + .5f}, c.theme->line);
}

void picker_field(const Canvas& c, Speaker& speaker, const Rect& a, const char* hint) {
    if (speaker.frames++ > 0 && type_into(speaker.typed)) speaker.chosen = 0;
    draw_search(c, "place to go", a.x + 10, a.y + 6, a.w - 20, 34, speaker.typed, hint);
}

}  // namespace

void open_picker(AppState& state) {
    Speaker& speaker = *state.speaker;
    speaker.picking = true;
    speaker.frames = 0;
    speaker.typed.clear();
    speaker.chosen = std::max(0, places_to_go(state).here);
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
        constexpr const char* words = "Go to";
        const float key = key_cap_width("Shift G"), w = button_width(words);
        c.key_cap(a.right() - 12 - w - 8 - key, a.y + 23, "Shift G");
        if (button(c, "##pick a place", a.right() - 12 - w, a.y + 8, w, 30, words, {.quiet = true}))
            open_picker(state);
    }
    const std::vector<int> shown = fitting(places, speaker.picking ? speaker.typed : "");
    const int count = static_cast<int>(shown.size()),
              fit = std::max(1, static_cast<int>((a.h - speaker_size::stops_head - 6) / speaker_size::row_h));
    if (count == 0)
        c.text(a.x + 16, a.y + speaker_size::stops_head + speaker_size::row_h / 2, "None has that.", 16,
               c.theme->t2);
    speaker.chosen = std::clamp(speaker.chosen, 0, std::max(0, count - 1));
    const std::vector<int> rows = list_rows(places, shown);
    // One line before where the talk is, the others show what is still to come.
    const int now = speaker.picking ? speaker.chosen : places.here, all = static_cast<int>(rows.size());
    const auto at = static_cast<int>(std::ranges::find(rows, now) - rows.begin());
    const int first = std::clamp(speaker.picking ? at - fit / 2 : at - 1, 0, std::max(0, all - fit));
    const float right = all > fit ? 22.0f : 10.0f;
    for (int n = first; n < std::min(all, first + fit); ++n) {
        const int place = rows[static_cast<std::size_t>(n)];
        const Rect row{a.x + 10, a.y + speaker_size::stops_head + speaker_size::row_h * px(n - first),
                       a.w - 10 - right, speaker_size::row_h};
        if (place != chapter_name)
            place_row(c, state, places, shown[static_cast<std::size_t>(place)], row,
                      speaker.picking && place == speaker.chosen);
        else
            chapter_row(c, place_at(places, shown, rows[static_cast<std::size_t>(n + 1)]), row);
    }
    if (all > fit)
        scroll_bar(c, {a.x, a.y + speaker_size::stops_head, a.w - 4, speaker_size::row_h * px(fit)},
                   px(first), px(fit), px(all));
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
        if (speaker.chosen <= last) go_to_place(state, place_at(places, shown, speaker.chosen));
        return true;
    default: return answer_search_key(speaker.typed, press);
    }
}

}  // namespace tilewalk::ui
