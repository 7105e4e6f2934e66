// The keyboard.
#include "app/ui/cards/cards.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/kit/focus.h"
#include "app/ui/shell/bridge.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/shell/panels.h"
#include "app/ui/shell/speaker.h"
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/inspection.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/state.h"
#include "core/base/platform.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <utility>

namespace tilewalk::ui {

namespace {

Level level_of(const KeyPress& press) {
    return press.alt ? Level::micro : press.shift ? Level::tile : press.ctrl ? Level::block : Level::step;
}

// Escape where no card is open closes what there is, one thing at a time.
void close_topmost(AppState& state) {
    if (state.edit)
        state.edit.reset();
    else if (state.presenter)
        state.presenter = false;
    else if (state.show_problem || state.show_break)
        show_side(state, false, false);
    else if (state.before_edit)
        clear_edit_marks(state);
    else
        state.notice.clear();
}

// Up and down choose the row of the formula, with Shift its column.
void choose_by_key(AppState& state, const KeyPress& press) {
    const Region region = step_region(*state.trace, state.cursor.step);
    const int by = press.key == Key::up ? -1 : 1;
    if (press.shift) {
        const CellRef now = state.explanation.target;
        const int col = now.slot == Slot::count ? 0 : now.col - region.col;
        state.col = std::clamp(col + by, 0, std::max(0, region.cols - 1));
    } else {
        choose_row(state, std::min(state.row, region.rows - 1) + by);
    }
}

void answer_walk_key(AppState& state, const KeyPress& press) {
    state.player.playing = false;
    switch (press.key) {
    case Key::left:
    case Key::page_up: return step_backward(state, level_of(press));
    case Key::right:
    case Key::page_down: return step_forward(state, level_of(press));
    case Key::home: return go_to(state, first(*state.trace));
    case Key::end: return go_to(state, last(*state.trace));
    case Key::up:
    case Key::down: choose_by_key(state, press); break;
    default: break;
    }
    refresh_explanation(state);
}

void copy(AppState& state) {
    ImGui::SetClipboardText(text_to_copy(state).c_str());
    notify(state, state.hover ? "Copied the value of the cell." : "Copied the explanation.");
}

// Whatever is shown: a walk or a page.
void copy_link(AppState& state) {
    if (!state.hooks.link) return notify(state, "Links cannot be made here.");
    const auto link = state.hooks.link(state);
    if (link) ImGui::SetClipboardText(link->c_str());
    const char* const done =
        in_browser ? "Copied the address of this place; it opens there in any browser that has this page."
                   : "Copied a link to this place; tilewalk --link '…' opens it.";
    notify(state, link ? done : link.error);
}

void answer_ctrl_key(AppState& state, const KeyPress& press) {
    switch (press.key) {
    case Key::plus: return zoom(state, 1.1f);
    case Key::minus: return zoom(state, 1 / 1.1f);
    case Key::zero: return zoom(state, 0);
    case Key::z: return press.shift ? redo(state) : undo(state);
    case Key::y: return redo(state);
    case Key::c: return copy(state);
    case Key::tab: return next_lesson(state, press.shift ? -1 : 1);
    default: return;
    }
}

// The n-th tab at the top; nothing where there is none.
void open_chapter_number(AppState& state, int n) {
    if (n >= 1 && n <= static_cast<int>(chapters().size()))
        open_chapter(state, chapters()[static_cast<std::size_t>(n - 1)]);
}

// On stage Shift breaks by number, in place of chapters.
void break_by_number(AppState& state, const KeyPress& press) {
    for (const StageFault& fault : stage_faults(*state.lesson))
        if (fault.key == press.key) return choose_fault(state, fault);
    notify(state, "Shift X lists what can be broken in this lesson.");
}

// Presenter mode has no panels: what they offer lies over the stage.
void show_problem(AppState& state) {
    state.presenter ? problem_card.open(state) : show_side(state, !state.show_problem, false);
}

void show_faults(AppState& state) {
    state.presenter ? break_or_repair(state) : show_side(state, false, !state.show_break);
}

// On stage the first difference follows the last.
void find_difference(AppState& state) {
    const bool round = state.presenter && state.comparison &&
                       next_difference(*state.comparison, state.cursor.step) < 0 &&
                       state.comparison->differs();
    round ? go_to_difference(state, next_difference(*state.comparison, -1)) : next_difference(state);
}

void answer_plain_key(AppState& state, const KeyPress& press) {
    switch (press.key) {
    case Key::space: return toggle_play(state);
    case Key::escape: return close_topmost(state);
    case Key::f1: return help_card.open(state);
    case Key::f2:
        if (state.page == Page::walk && !state.edit) edit_chosen(state);
        return;
    case Key::colon: return finder_card.open(state);
    case Key::zero:
        if (press.shift) return open_chapter_number(state, 10);
        return open_start(state);
    case Key::h: return open_start(state);
    case Key::p:
    case Key::f5:
    case Key::f11:
        state.presenter = !state.presenter;
        if (state.page == Page::walk) state.lists.faults = false;  // the desk has them in its panel
        state.mouse_age = 1e9f;  // its buttons and boxes wait for the mouse to move
        return;
    case Key::t: return next_theme(state);
    case Key::i: return show_problem(state);
    case Key::x: return show_faults(state);
    case Key::b: return toggle_before(state);
    case Key::d: return press.shift ? next_lost(state) : find_difference(state);
    case Key::n: return next_noteworthy(state, press.shift ? -1 : 1);
    case Key::period: state.blank = state.presenter && !press.shift; return;
    case Key::c: state.settings.pseudocode = !state.settings.pseudocode; return;
    case Key::e: return step_argument(state, press.shift ? -1 : 1);
    case Key::s: return move_cut(state, press.shift ? -1 : 1);
    case Key::m: return next_max_change(state);
    case Key::a: state.settings.motion = !state.settings.motion; return;
    default:
        if (state.presenter && press.shift && state.page == Page::walk && digit_of(press.key))
            return break_by_number(state, press);
        return open_chapter_number(state, digit_of(press.key));
    }
}

// While a list is open the keys belong to it.
void answer_menu_key(AppState& state, Key key) {
    const int last = static_cast<int>(state.examples.size()) - 1;
    if (key == Key::up) state.menu_at = std::max(0, state.menu_at - 1);
    if (key == Key::down) state.menu_at = std::min(last, state.menu_at + 1);
    if (key == Key::home) state.menu_at = 0;
    if (key == Key::end) state.menu_at = last;
    if (key == Key::enter || key == Key::escape) state.menu_key = key;
}

bool answer_page_key(AppState& state, const KeyPress& press) {
    if (const PageView* page = page_view(state.page)) return page->answer_key(state, press);
    return answer_marks_key(state, press) || answer_inspection_key(state, press) ||
           answer_timeline_key(state, press);
}

// A moment led from another page to this one, and nothing was done here since that could be undone first.
bool leads_back(const AppState& state) {
    if (state.page == Page::walk || state.page == Page::start || state.pending || state.departures.empty())
        return false;
    const Departure& last = state.departures.back();
    return last.to == state.problem && last.from.page != state.page &&
           (state.page != Page::compare || state.compare.undo.empty());
}

// Cards first, what lies on top before what lies below; then the page.
void answer(AppState& state, const KeyPress& press) {
    if (speaker_in_panel(state) && answer_picker_key(state, press)) return;
    const bool taken = answer_card_key(state, press, true) || answer_focus_key(press) ||
                       answer_card_key(state, press, false) || dialog_is_open(state) ||
                       answer_speaker_key(state, press) || open_card(state, press);
    if (taken) return;
    if (press.key == Key::w && !press.ctrl) return inspect(state, chosen_cell(state));
    if (press.key == Key::l && press.ctrl) return copy_link(state);
    // Not while a number is being typed: it would be lost.
    if (press.key == Key::o && press.ctrl && !state.edit) return ask_for_file(state);
    if (press.key == Key::v && !press.ctrl && !press.alt) return cross_bridge(state);
    if (press.key == Key::v && press.ctrl && state.page == Page::walk) {
        const char* const table = ImGui::GetClipboardText();
        return paste_table(state, table ? table : "");
    }
    if (press.key == Key::z && press.ctrl && !press.shift && leads_back(state)) return undo(state);
    if (answer_page_key(state, press)) return;
    if (is_direction(press.key)) return answer_walk_key(state, press);
    press.ctrl ? answer_ctrl_key(state, press) : answer_plain_key(state, press);
}

}  // namespace

void answer_keys(AppState& state) {
    const std::vector<KeyPress> keys = std::move(state.keys);
    state.keys.clear();
    if (!keys.empty()) note_key();
    for (const KeyPress& press : keys) {
        if (press.key != Key::escape) end_notice(state);  // which may be what it is pressed for
        if (const Moment* moment = moment_of(press)) {
            if (state.menu_open) state.menu_key = Key::escape;
            close_covering_cards(state);
            go_to_moment(state, *moment);
            continue;
        }
        if (std::exchange(state.blank, false)) continue;
        state.menu_open ? answer_menu_key(state, press.key) : answer(state, press);
    }
}

}  // namespace tilewalk::ui
