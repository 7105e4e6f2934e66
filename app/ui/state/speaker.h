// The speaker's view, which the lecturer has and the audience does not: notes, what comes next, the time of
// the talk, and a picker of places to go. A window of its own, or a panel beside presenter mode.
#pragma once

#include "app/ui/state/app_state.h"
#include "core/base/numbers.h"

namespace tilewalk::ui {

struct Tour;

/// What comes next, as the audience will see it.
struct Ahead {
    std::string words;                ///< "Step 18: Row sum", "Stop 6: …"; empty: nothing comes
    std::unique_ptr<AppState> shown;  ///< null: it cannot be shown beforehand
    bool arriving = false;            ///< its walk is being built

    /// Where it was looked from; it holds as long as nothing of this changes.
    struct From {
        std::shared_ptr<const Trace> trace;
        std::shared_ptr<Tour> tour;
        int stop = -1;
        Cursor cursor;
        Page page = Page::walk;
        bool operator==(const From&) const = default;
    } from;
};

/// A line of the picker.
struct SpeakerPlace {
    int number;                    ///< as it is shown, from 1: of the stop, the step, the chapter
    std::string words, more = {};  ///< what it is, and why it is in the list
    bool notes = false;            ///< the stop has some
    bool near = false;             ///< a step that is listed only because the talk is there
    std::string chapter = {};      ///< of the tour that the stop is in, by its name, …
    int chapter_number = 0;        ///< … which one it is, from 1, …
    std::string chapter_words{};   ///< … and what stands above its first stop
};
/// The stops of the tour; without one the steps where something happens, or the chapters.
struct PlaceList {
    const char *title = "", *hint = "";
    std::vector<SpeakerPlace> entries = {};
    int here = -1;

    // What it was made for
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const Comparison> comparison;
    std::shared_ptr<Tour> tour;
    Page page = Page::walk;
    std::size_t breakpoints = 0;
};

/// The notes of a stop, filled with its numbers.
struct FilledNotes {
    std::shared_ptr<Tour> tour;
    int stop = -1;
    NumberStyle style;
    Line text;
};

struct Speaker {
    bool open = false;
    bool no_window = false;  ///< a second one could not be opened
    bool swapped = false;    ///< the two windows have changed their screens

    // The time of the talk
    double before = 0;            ///< seconds until it was stopped last
    std::optional<double> since;  ///< what the clock said when it went on; nothing while it is stopped

    // The picker
    bool picking = false;
    int frames = 0;  ///< that it has been open; the key that opened it is not typed into it
    std::string typed;
    int chosen = 0;  ///< of those that fit what was typed

    Ahead ahead;
    FilledNotes notes;
    PlaceList places;
    std::vector<KeyPress> keys;    ///< of its own window, in this frame
    std::shared_ptr<Focus> focus;  ///< of its own window
};

/// Made when first asked for.
Speaker& speaker_of(AppState& state);
/// Opens it, in presenter mode, or closes it. The time of the talk begins when it first opens.
void toggle_speaker(AppState& state);
/// It is open and has a window of its own, or stands beside the page.
bool speaker_in_window(const AppState& state);
bool speaker_in_panel(const AppState& state);
/// From the window into the panel and back; remembered.
void move_speaker(AppState& state);
/// The audience's window and the speaker's change screens.
void swap_screens(AppState& state);
/// On which screens, of `count`, the two windows lie: the audience's on the one where it was, `current`,
/// unless they are swapped.
struct ScreenChoice {
    int audience = 0, speaker = 0;
    bool operator==(const ScreenChoice&) const = default;
};
ScreenChoice choose_screens(int current, int count, bool swapped);
/// To the next larger (+1) or smaller (−1) size of the notes.
void resize_notes(AppState& state, int by);
inline constexpr std::array notes_sizes = {16, 18, 20, 24, 28, 34};

// ---- The time of the talk

ClockTime clock_now(const AppState& state);
double talk_seconds(const AppState& state);
void pause_talk(AppState& state);
void restart_talk(AppState& state);
/// "4:07", "1:04:07"
std::string talk_time(double seconds);
/// Until the view shows another time; infinite while it is closed.
double speaker_idle_seconds(const AppState& state);

// ---- What it tells

/// Looked up anew where the walk has moved.
Ahead& what_comes(AppState& state);
const PlaceList& places_to_go(AppState& state);
/// The notes of the stop that is shown, with its numbers; empty if there are none.
const Line& speaker_notes(AppState& state);

}  // namespace tilewalk::ui
