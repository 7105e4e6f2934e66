#include "app/ui/state/speaker.h"

#include "app/ui/state/chapters.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tilewalk::ui {

namespace {

// The state as it is, at rest and in presenter mode, without what only this moment has.
AppState at_rest(const AppState& now) {
    AppState out = now;
    out.focus.reset();
    out.speaker.reset();
    out.tour.reset();
    out.quiz.reset();
    out.marks.reset();
    out.inspection.reset();
    out.pending.reset();
    out.edit.reset();
    out.hover.reset();
    out.hover_sources.clear();
    out.keys.clear();
    out.dropped.clear();
    out.notice.clear();
    out.player.playing = out.blank = false;
    out.presenter = out.still = true;
    out.mouse_age = AppState{}.mouse_age;
    return out;
}

// Pages that measure and compare begin to when they are shown.
bool can_be_shown_beforehand(Page page) { return page == Page::walk || page == Page::memory; }

void look_at_next_stop(Ahead& ahead, const AppState& now) {
    const int next = now.tour->at + 1;
    if (next >= now.tour->stops()) return;
    const TourStop& stop = now.tour->script.stops[static_cast<std::size_t>(next)];
    ahead.words = "Stop " + str(next + 1) + ": " + stop.heading;
    if (!can_be_shown_beforehand(page_of(stop.page))) return;
    ahead.shown = std::make_unique<AppState>(at_rest(now));
    ahead.shown->tour = std::make_shared<Tour>(*now.tour);
    go_to_stop(*ahead.shown, next);
    ahead.arriving = true;
}

void look_at_next_step(Ahead& ahead, const AppState& now) {
    const Cursor next = forward(*now.trace, now.cursor, Level::step);
    if (now.page != Page::walk || next == now.cursor) return;
    ahead.shown = std::make_unique<AppState>(at_rest(now));
    go_to(*ahead.shown, next);
    ahead.words = "Step " + str(next.step + 1) + ": " + ahead.shown->explanation.title;
}

// The walk of a stop may still be on its way.
void arrive_ahead(Ahead& ahead) {
    AppState& shown = *ahead.shown;
    take_finished_trace(shown);
    if (shown.pending) return;
    settle_tour(shown);
    // A page shows what its stop points at; on the stage the card would take room.
    if (shown.page == Page::walk) shown.tour.reset();
    shown.presenter = true;
    ahead.arriving = false;
}

Ahead::From place_of(const AppState& state) {
    return {state.trace, state.tour, state.tour ? state.tour->at : -1, state.cursor, state.page};
}

// ---- Places to go

void list_stops(PlaceList& out, const Tour& tour) {
    out.title = "Stops", out.hint = "Stop, or words";
    for (const TourStop& stop : tour.script.stops) {
        const int n = static_cast<int>(out.entries.size());
        const auto chapter = chapter_place(tour.script, n);
        out.entries.push_back({.number = n + 1,
                               .words = stop.heading,
                               .notes = !stop.notes.empty(),
                               .chapter = chapter ? chapter->name : "",
                               .chapter_number = chapter ? chapter->chapter : 0,
                               .chapter_words = chapter ? chapter_words(*chapter) : ""});
    }
}

// Those where something happens, and where a lane begins.
void list_steps(PlaceList& out, const AppState& state) {
    out.title = "Steps", out.hint = "Step, or words";
    const Trace& trace = *state.trace;
    for (int k = 0; k < trace.size(); ++k) {
        const std::string why = noteworthy(state, k);
        const bool begins = k == 0 || trace.step(k).phase != trace.step(k - 1).phase;
        if (why.empty() && !begins && k + 1 < trace.size()) continue;
        const Explanation e = explain(trace, k);
        out.entries.push_back({k + 1, e.title + (e.place.empty() ? "" : " · " + e.place),
                               why.empty() ? "" : why.substr(why.find(": ") + 2)});
    }
}

void list_chapters(PlaceList& out) {
    out.title = "Chapters", out.hint = "Chapter, or words";
    for (const Chapter& chapter : chapters())
        out.entries.push_back({static_cast<int>(out.entries.size()) + 1, chapter.title});
}

// The step at hand and those round it stand there, noteworthy or not: what comes next is among them.
void list_now(PlaceList& places, const AppState& state) {
    std::erase_if(places.entries, [](const SpeakerPlace& one) { return one.near; });
    constexpr int before = 1, after = 2;
    const int k = state.cursor.step, last = state.trace->size() - 1;
    for (int n = std::max(0, k - before); n <= std::min(last, k + after); ++n) {
        const auto at = std::ranges::lower_bound(places.entries, n + 1, {}, &SpeakerPlace::number);
        if (at != places.entries.end() && at->number == n + 1) continue;
        const Explanation e = n == k ? state.explanation : explain(*state.trace, n);
        places.entries.insert(at,
                              {n + 1, e.title + (e.place.empty() ? "" : " · " + e.place), "", false, true});
    }
}

int place_now(const AppState& state, const PlaceList& places) {
    if (state.tour) return state.tour->at;
    if (state.page != Page::walk) return static_cast<int>(&current_chapter(state) - chapters().data());
    const auto behind =
        std::ranges::upper_bound(places.entries, state.cursor.step + 1, {}, &SpeakerPlace::number);
    return static_cast<int>(behind - places.entries.begin()) - 1;
}

}  // namespace

Speaker& speaker_of(AppState& state) {
    if (!state.speaker) state.speaker = std::make_shared<Speaker>();
    return *state.speaker;
}

void toggle_speaker(AppState& state) {
    Speaker& speaker = speaker_of(state);
    speaker.open = !speaker.open;
    speaker.picking = speaker.no_window = speaker.swapped = false;
    if (!speaker.open) return;
    state.presenter = true;
    state.mouse_age = AppState{}.mouse_age;
    if (talk_seconds(state) == 0) pause_talk(state);
}

bool speaker_in_window(const AppState& state) {
    if (!state.speaker || !state.speaker->open || state.speaker->no_window) return false;
    const SpeakerShown wanted = state.settings.speaker;
    return wanted == SpeakerShown::window || (wanted == SpeakerShown::by_screens && state.screens > 1);
}

bool speaker_in_panel(const AppState& state) {
    return state.speaker && state.speaker->open && state.presenter && !speaker_in_window(state);
}

void move_speaker(AppState& state) {
    const bool window = speaker_in_window(state);
    state.settings.speaker = window ? SpeakerShown::panel : SpeakerShown::window;
    speaker_of(state).no_window = false;
    notify(state, window ? "The speaker's view is a panel beside the page."
                         : "The speaker's view is a window of its own.");
}

void swap_screens(AppState& state) {
    if (!speaker_in_window(state) || state.screens < 2)
        return notify(state, "There is one screen; two can be swapped.");
    state.speaker->swapped = !state.speaker->swapped;
}

ScreenChoice choose_screens(int current, int count, bool swapped) {
    const int other = count > 1 ? (current + 1) % count : current;
    return swapped ? ScreenChoice{other, current} : ScreenChoice{current, other};
}

void resize_notes(AppState& state, int by) {
    int& size = state.settings.notes_size;
    const auto larger = std::ranges::upper_bound(notes_sizes, size),
               smaller = std::ranges::lower_bound(notes_sizes, size);
    if (by > 0 && larger != notes_sizes.end()) size = *larger;
    if (by < 0 && smaller != notes_sizes.begin()) size = *std::prev(smaller);
}

// ---- The time of the talk

ClockTime clock_now(const AppState& state) { return state.hooks.clock ? state.hooks.clock() : ClockTime{}; }

double talk_seconds(const AppState& state) {
    if (!state.speaker) return 0;
    const Speaker& speaker = *state.speaker;
    return speaker.before + (speaker.since ? clock_now(state).seconds - *speaker.since : 0);
}

void pause_talk(AppState& state) {
    Speaker& speaker = speaker_of(state);
    const double now = clock_now(state).seconds;
    if (!speaker.since) {
        speaker.since = now;
        return;
    }
    speaker.before += now - *speaker.since;
    speaker.since.reset();
}

void restart_talk(AppState& state) {
    Speaker& speaker = speaker_of(state);
    speaker.before = 0;
    if (speaker.since) speaker.since = clock_now(state).seconds;
}

std::string talk_time(double seconds) {
    const long long all = static_cast<long long>(std::max(0.0, seconds));
    const long long h = all / 3600, m = all / 60 % 60, s = all % 60;
    char text[32];
    if (h > 0)
        std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", h, m, s);
    else
        std::snprintf(text, sizeof text, "%lld:%02lld", m, s);
    return text;
}

double speaker_idle_seconds(const AppState& state) {
    if (!speaker_in_window(state) && !speaker_in_panel(state)) return std::numeric_limits<double>::infinity();
    if (state.speaker->ahead.arriving) return 0.05;
    if (!state.hooks.clock) return std::numeric_limits<double>::infinity();
    const double talk = talk_seconds(state);
    return std::max(0.02, 1 - (talk - std::floor(talk)));
}

// ---- What it tells

Ahead& what_comes(AppState& state) {
    Ahead& ahead = speaker_of(state).ahead;
    Ahead::From from = place_of(state);
    if (ahead.from != from) {
        ahead = {};
        ahead.from = std::move(from);
        if (!state.pending)
            state.tour&& at_stop(state) ? look_at_next_stop(ahead, state) : look_at_next_step(ahead, state);
    }
    if (ahead.arriving) arrive_ahead(ahead);
    if (ahead.shown && !ahead.arriving) {
        ahead.shown->settings = state.settings;
        refresh_explanation(*ahead.shown);  // numbers may be written in another way by now
    }
    return ahead;
}

const PlaceList& places_to_go(AppState& state) {
    PlaceList& places = speaker_of(state).places;
    const std::size_t breakpoints = state.marks ? state.marks->breakpoints.size() : 0;
    const bool known = places.trace == state.trace && places.comparison == state.comparison &&
                       places.tour == state.tour && places.page == state.page &&
                       places.breakpoints == breakpoints;
    if (!known) {
        places = {.trace = state.trace,
                  .comparison = state.comparison,
                  .tour = state.tour,
                  .page = state.page,
                  .breakpoints = breakpoints};
        if (state.tour)
            list_stops(places, *state.tour);
        else if (state.page == Page::walk)
            list_steps(places, state);
        else
            list_chapters(places);
    }
    if (!state.tour && state.page == Page::walk) list_now(places, state);
    places.here = place_now(state, places);
    return places;
}

const Line& speaker_notes(AppState& state) {
    FilledNotes& notes = speaker_of(state).notes;
    static const Line none;
    if (!state.tour) return none;
    const TourStop& stop = state.tour->stop();
    const bool known =
        notes.tour == state.tour && notes.stop == state.tour->at && notes.style == number_style();
    if (known) return notes.text;
    // Its numbers are those of its own walk.
    if (state.pending || state.lesson != stop.lesson || state.problem != stop.problem) return none;
    notes = {state.tour, state.tour->at, number_style(), filled_notes(stop, *state.trace)};
    return notes.text;
}

}  // namespace tilewalk::ui
