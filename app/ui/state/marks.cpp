#include "app/ui/state/marks.h"

#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::ui {

namespace {

Marks& marks_of(AppState& state) {
    if (!state.marks) state.marks = std::make_shared<Marks>();
    return *state.marks;
}

// Which walk a bookmark belongs to: all that decides on its steps, which an edited element leaves alone.
std::string walk_key(const AppState& state) {
    const Problem& p = *state.problem;
    std::string title = p.title;
    if (const std::size_t at = title.rfind(" (changed)"); at != std::string::npos) title.resize(at);
    for (int n : {p.N(), p.N_kv(), p.d(), p.Br, p.Bc, static_cast<int>(p.causal), p.window.value_or(-1),
                  p.options.row, p.options.queries, static_cast<int>(p.options.order),
                  static_cast<int>(p.options.normalised), state.trace->size()})
        title += "/" + str(n);
    for (const std::vector<int>& list : {p.options.splits, p.options.page_table})
        for (const int n : list) title += "," + str(n);
    for (const int n : {p.options.prefix.value_or(-1), p.options.sequences, p.options.pages})
        title += "/" + str(n);
    title += "/" + str(static_cast<int>(p.options.merge)) + "/" + str(static_cast<int>(p.options.parts)) +
             "/" + str(p.options.workers) + "/" + str(p.options.ranks) + "/" +
             str(static_cast<int>(p.options.shards));
    return std::string(state.lesson->id) + "/" + title;
}

const Bookmarks* bookmarks_of(const AppState& state) {
    if (!state.marks) return nullptr;
    const auto found = state.marks->bookmarks.find(walk_key(state));
    return found == state.marks->bookmarks.end() ? nullptr : &found->second;
}

std::string step_text(int k) { return "Step " + str(k + 1); }

// "the maximum of row 1 rises from 2 to 13.44"; several rows: how many
std::string rise_words(const Trace& trace, int k) {
    if (!maximum_rises(trace, k)) return {};
    const Value &before = *trace.live(Slot::m, k - 1).value, &now = *trace.live(Slot::m, k).value;
    int rows = 0, first = -1;
    for (int r = 0; r < now.region.rows; ++r) {
        if (before.data(r, 0) == now.data(r, 0)) continue;
        if (rows++ == 0) first = r;
    }
    if (rows == 0) return {};
    const auto [from, to] = format_apart(before.data(first, 0), now.data(first, 0));
    std::string out =
        "the maximum of row " + str(now.region.row + first) + " rises from " + from + " to " + to;
    if (rows > 1) out += ", and that of " + str(rows - 1) + (rows == 2 ? " other row" : " other rows");
    return out;
}

bool lost(double v) { return std::isnan(v) || v == std::numeric_limits<double>::infinity(); }
bool holds_lost(const Trace& trace, const Access& a) {
    const Matrix& A = trace.value(a.value).data;
    return std::any_of(A.data(), A.data() + A.size(), lost);
}

// Made here, of numbers: nothing that the step read was NaN or ∞ already.
std::string lost_words(const Trace& trace, int k) {
    const auto is_lost = [&](const Access& a) { return holds_lost(trace, a); };
    const auto made = std::ranges::find_if(trace.writes(k), is_lost);
    if (made == trace.writes(k).end() || std::ranges::any_of(trace.reads(k), is_lost)) return {};
    const Value& value = trace.value(made->value);
    for (int r = 0; r < value.region.rows; ++r)
        for (int c = 0; c < value.region.cols; ++c)
            if (lost(value.data(r, c)))
                return cell_text(trace, {made->slot, value.region.row + r, value.region.col + c}, k) +
                       " becomes " + format_short(value.data(r, c));
    return {};
}

// The walks part here: the step wrote other numbers, although the latest writes that it read are true.
std::string difference_words(const AppState& state, int k) {
    if (!state.comparison || !state.comparison->mismatch.empty()) return {};
    const auto differs = [&](int n) { return state.comparison->largest[static_cast<std::size_t>(n)] > 0; };
    if (!differs(k)) return {};
    for (const Access& a : state.trace->reads(k))
        if (const Held held = state.trace->live(a.slot, a.tile, k - 1); held.step >= 0 && differs(held.step))
            return {};
    const auto far = largest_difference(*state.truth, *state.trace, k);
    return far ? cell_text(*state.trace, far->cell, k) + " is " + format_short(far->broken) + " instead of " +
                     format_short(far->truth)
               : std::string();
}

std::string breakpoint_words(const AppState& state, int k) {
    if (!stops_at(state, k)) return {};
    for (const Condition& b : state.marks->breakpoints)
        if (b.holds(*state.trace, k)) return "breakpoint " + b.text();
    return {};
}

// The row that the notice speaks of becomes the chosen one.
void choose_rising_row(AppState& state, int k) {
    if (rise_words(*state.trace, k).empty()) return;
    const Value &before = *state.trace->live(Slot::m, k - 1).value,
                &now = *state.trace->live(Slot::m, k).value;
    for (int r = 0; r < now.region.rows; ++r)
        if (before.data(r, 0) != now.data(r, 0)) return choose_cell(state, {Slot::m, now.region.row + r, 0});
}

void changed(Marks& marks) {
    marks.stops_of.reset();
    marks.chosen = std::clamp(marks.chosen, -1, static_cast<int>(marks.breakpoints.size()) - 1);
}

}  // namespace

bool stops_at(const AppState& state, int step) {
    if (!state.marks || state.marks->breakpoints.empty() || step < 0 || step >= state.trace->size())
        return false;
    const Marks& marks = *state.marks;
    if (marks.stops_of != state.trace) {
        marks.stops.assign(static_cast<std::size_t>(state.trace->size()), false);
        for (int k = 0; k < state.trace->size(); ++k)
            marks.stops[static_cast<std::size_t>(k)] = std::ranges::any_of(
                marks.breakpoints, [&](const Condition& b) { return b.holds(*state.trace, k); });
        marks.stops_of = state.trace;
    }
    return marks.stops[static_cast<std::size_t>(step)];
}

int first_stop(const AppState& state, int from, int to) {
    if (to < from) from = to - 1;  // back at the beginning of a loop
    for (int k = from + 1; k <= to; ++k)
        if (stops_at(state, k)) return k;
    return -1;
}

StepMarks marks_of_step(const AppState& state, int step) {
    StepMarks out;
    if (!state.marks) return out;
    out.breakpoint = stops_at(state, step);
    if (const Bookmarks* all = bookmarks_of(state))
        for (int n = most_bookmarks; n > 0; --n)
            if (const auto& one = (*all)[static_cast<std::size_t>(n - 1)]; one && one->step == step)
                out.bookmark = n;
    return out;
}

std::string noteworthy(const AppState& state, int step) {
    std::string out;
    for (const std::string& words : {breakpoint_words(state, step), lost_words(*state.trace, step),
                                     difference_words(state, step), rise_words(*state.trace, step)})
        if (!words.empty()) out += (out.empty() ? "" : "; ") + words;
    return out.empty() ? out : step_text(step) + ": " + out + ".";
}

void next_noteworthy(AppState& state, int direction) {
    for (int k = state.cursor.step + direction; k >= 0 && k < state.trace->size(); k += direction) {
        std::string words = noteworthy(state, k);
        if (words.empty()) continue;
        go_to(state, at_step(*state.trace, k));
        choose_rising_row(state, k);
        return notify(state, std::move(words));
    }
    notify(state, direction > 0 ? "Nothing noteworthy happens after this step."
                                : "Nothing noteworthy happens before this step.");
}

void toggle_breakpoint(AppState& state) {
    Marks& marks = marks_of(state);
    const Op op = state.trace->step(state.cursor.step).op;
    const std::size_t had = marks.breakpoints.size();
    const std::string text = std::string("op == ") + name(op);
    std::erase_if(marks.breakpoints, [&](const Condition& b) { return b.text() == text; });
    const bool set = marks.breakpoints.size() == had;
    if (set) marks.breakpoints.push_back(*parse_condition(text));
    changed(marks);
    const std::string what = title(op) + std::string(" (") + text + ")";
    notify(state,
           set ? "Playing stops at every step " + what + "." : "Playing no longer stops at " + what + ".");
}

bool add_condition(AppState& state, std::string_view text) {
    Marks& marks = marks_of(state);
    Result<Condition> parsed = parse_condition(text);
    marks.error = parsed.error;
    if (!parsed) return false;
    marks.breakpoints.push_back(std::move(*parsed));
    marks.text[0] = 0;
    changed(marks);
    int steps = 0;
    for (int k = 0; k < state.trace->size(); ++k) steps += marks.breakpoints.back().holds(*state.trace, k);
    notify(state, steps == 0 ? "No step of this walk meets " + std::string(text) + "."
                             : "Playing stops at " + counted(steps, "step") + ".");
    return true;
}

void remove_breakpoint(AppState& state, int n) {
    Marks& marks = marks_of(state);
    if (n < 0 || n >= static_cast<int>(marks.breakpoints.size())) return;
    marks.breakpoints.erase(marks.breakpoints.begin() + n);
    changed(marks);
}

void set_bookmark(AppState& state, int n) {
    const int k = state.cursor.step;
    marks_of(state).bookmarks[walk_key(state)][static_cast<std::size_t>(n - 1)] = Bookmark{k, state.row};
    notify(state, "Bookmark " + str(n) + " is at step " + str(k + 1) + ", " + state.explanation.title + ".");
}

void go_to_bookmark(AppState& state, int n) {
    const Bookmarks* all = bookmarks_of(state);
    const auto mark = all ? (*all)[static_cast<std::size_t>(n - 1)] : std::nullopt;
    if (!mark)
        return notify(state,
                      "There is no bookmark " + str(n) + " in this walk; Ctrl Shift " + str(n) + " sets it.");
    state.player.playing = false;
    go_to(state, at_step(*state.trace, mark->step));
    restore_row(state, mark->row);
}

void save_marks(const AppState& state, SavedView& view) {
    if (!state.marks) return;
    for (const Condition& b : state.marks->breakpoints) view.breakpoints.push_back(b.text());
    const Bookmarks* all = bookmarks_of(state);
    for (int n = 1; all && n <= most_bookmarks; ++n)
        if (const auto& mark = (*all)[static_cast<std::size_t>(n - 1)])
            view.bookmarks.push_back({n, mark->step + 1, mark->row});
}

void restore_marks(AppState& state, const SavedView& view) {
    if (view.bookmarks.empty() && view.breakpoints.empty()) return;
    Marks& marks = marks_of(state);
    marks.breakpoints.clear();
    for (const std::string& text : view.breakpoints)
        if (auto condition = parse_condition(text)) marks.breakpoints.push_back(std::move(*condition));
    changed(marks);
    Bookmarks& all = marks.bookmarks[walk_key(state)] = {};
    for (const auto& [number, step, row] : view.bookmarks)
        all[static_cast<std::size_t>(number - 1)] = Bookmark{step - 1, row};
}

void toggle_before(AppState& state) {
    Marks& marks = marks_of(state);
    marks.before_step = shows_before(state) ? -1 : state.cursor.step;
}

void toggle_marks_card(AppState& state) {
    Marks& marks = marks_of(state);
    marks.card = marks.focus = !marks.card;
}

bool answer_marks_key(AppState& state, const KeyPress& press) {
    if (state.page != Page::walk) return false;
    const int n = digit_of(press.key);
    if (press.key == Key::f9)
        toggle_breakpoint(state);
    else if (n > 0 && press.ctrl)
        press.shift ? set_bookmark(state, n) : go_to_bookmark(state, n);
    else
        return false;
    return true;
}

}  // namespace tilewalk::ui
