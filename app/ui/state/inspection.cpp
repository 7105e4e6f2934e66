#include "app/ui/state/inspection.h"

#include "app/ui/kit/focus.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/state/inputs.h"
#include "app/ui/state/state.h"
#include "core/base/words.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr int most_fed = 200;      // patches that are listed
constexpr int most_behind = 8000;  // places looked at for the given cells behind one

void add_entries(Inspection& in, Link link, const std::vector<Patch>& patches, int& group) {
    for (const Patch& patch : patches) {
        in.entries.push_back({link, patch});
        if (in.open == group++)
            for (int r = 0; r < patch.cells.rows; ++r)
                for (int c = 0; c < patch.cells.cols; ++c) {
                    const Region one{patch.cells.row + r, patch.cells.col + c, 1, 1};
                    in.entries.push_back({link, {patch.slot, patch.step, one}, true});
                }
    }
}

void list_entries(Inspection& in) {
    in.entries.clear();
    int group = 0;
    add_entries(in, Link::source, in.from, group);
    add_entries(in, Link::fed, in.feeds, group);
    add_entries(in, Link::input, in.ends, group);
    in.chosen = std::clamp(in.chosen, 0, std::max(0, static_cast<int>(in.entries.size()) - 1));
    in.keep_in_sight = true;
}

// What is known of the last place of the way.
void look_up(Inspection& in) {
    const Trace& trace = *in.trace;
    in.told = in.at().step >= 0 ? explain(trace, in.at().step, in.at().cell) : Explanation{};
    in.from = patches(sources(trace, in.at()));
    in.feeds = in.readers->fed_by(in.at(), most_fed);
    in.ends.clear();
    const auto behind = in.at().step >= 0 ? inputs_of(trace, in.at(), most_behind) : std::vector<Place>();
    if (behind) in.ends = patches(*behind);
    in.too_many_ends = !behind;
    if (in.ends == in.from) in.ends.clear();  // one step from the inputs: said already
    in.open = -1;
    in.chosen = in.first_line = 0;
    list_entries(in);
}

int group_of(const Inspection& in, int entry) {
    int group = -1;
    for (int n = 0; n <= entry; ++n) group += !in.entries[static_cast<std::size_t>(n)].inner;
    return group;
}

bool written_now(const AppState& state, const CellRef& cell) {
    const Held held = holding(*state.trace, cell, state.cursor.step);
    return held && held.step == state.cursor.step;
}

bool hidden(const AppState& state) { return !state.presenter && (state.show_problem || state.show_break); }

void choose_entry(Inspection& in, int by) {
    const int last = static_cast<int>(in.entries.size()) - 1;
    in.chosen = std::clamp(in.chosen + by, 0, std::max(0, last));
    in.keep_in_sight = true;
}

}  // namespace

void inspect(AppState& state, CellRef cell) {
    if (cell.slot == Slot::count)
        return notify(state, "This step writes nothing: click a cell to inspect it.");
    const auto place = place_of(*state.trace, cell, state.cursor.step);
    if (!place) return;
    show_side(state, false, false);
    auto made = std::make_shared<Inspection>();
    made->trace = state.trace;
    made->path = {*place};
    const bool same_walk = state.inspection && state.inspection->trace == state.trace;
    made->readers = same_walk ? state.inspection->readers : std::make_shared<const Readers>(state.trace);
    look_up(*made);
    state.inspection = std::move(made);
}

bool inspecting(const AppState& state) { return state.inspection && state.page == Page::walk; }

Inspection* inspection_of(AppState& state) {
    Inspection* in = state.inspection.get();
    if (!in || in->trace == state.trace) return in;
    const bool there = &in->trace->lesson() == &state.trace->lesson() &&
                       std::ranges::all_of(in->path, [&](const Place& place) {
                           return place.step < state.trace->size() && tile_with(*state.trace, place);
                       });
    if (!there) {
        state.inspection.reset();
        return nullptr;
    }
    in->trace = state.trace;  // the same walk with other numbers
    in->readers = std::make_shared<const Readers>(state.trace);
    look_up(*in);
    return in;
}

void click_cell(AppState& state, CellRef cell) {
    const bool again = state.explanation.target == cell;
    if (!inspecting(state) || hidden(state)) choose_cell(state, cell);
    // A formula that can only be about another slot of the step leaves nothing for the first click to choose.
    const bool chosen = !again && state.explanation.target == cell && written_now(state, cell);
    if (hidden(state) || (!inspecting(state) && chosen)) return;
    const auto place = place_of(*state.trace, cell, state.cursor.step);
    if (!place) return;
    const Inspection* in = inspection_of(state);
    if (in && in->at() == *place) return;
    const auto before = in ? std::make_shared<Inspection>(*in) : nullptr;
    const auto near = [&](const Patch& p) {
        return p.slot == cell.slot && p.step == place->step && p.cells.contains(cell.row, cell.col);
    };
    if (in && (std::ranges::any_of(in->from, near) || std::ranges::any_of(in->feeds, near)))
        follow(state, *place);
    else
        inspect(state, cell);
    if (before) before->before_click.reset();
    state.inspection->before_click = before;
}

void take_back_click(AppState& state) {
    if (state.inspection && !hidden(state)) state.inspection = state.inspection->before_click;
}

void edit_chosen(AppState& state) {
    if (focused_item() != 0 && focused_item() == state.key_cell.matrix) {
        state.key_cell.wanted = true;  // its matrix knows which one that is
    } else if (state.hover && input_of(state.hover->slot)) {
        begin_edit(state, *state.hover, state.hover_widget);
    } else if (inspecting(state) && input_of(state.inspection->at().cell.slot)) {
        begin_edit(state, state.inspection->at().cell, "");
    } else {
        notify(state, "F2 edits a number that is given: point at a cell of an input, or click it, first.");
    }
}

void paste_table(AppState& state, const std::string& table) {
    if (!state.hooks.take_table) return notify(state, "A table cannot be pasted here.");
    if (table.find_first_not_of(" \t\r\n") == table.npos)
        return notify(state, "Ctrl V pastes a table of numbers into a matrix; the clipboard holds no text.");
    std::optional<Slot> target;
    if (state.hover) target = input_of(state.hover->slot);
    if (!target && inspecting(state)) target = input_of(state.inspection->at().cell.slot);
    const Slot into = target.value_or(state.form.matrix);
    auto problem = state.hooks.take_table(table, *state.problem, into);
    if (!problem) return notify(state, problem.error);
    const std::string name = plain(slot_symbol(into));
    if (set_problem(state, std::move(*problem)))
        notify(state, name + " is the table of the clipboard now; Ctrl Z takes it back.");
}

void end_unseen_edit(AppState& state) {
    if (!state.edit || !state.edit->widget.empty()) return;
    const std::string name = cell_name(state.edit->cell);
    state.edit.reset();
    notify(state, name + " is not among the cells that this page shows.");
}

void follow(AppState& state, Place place) {
    Inspection* in = inspection_of(state);
    if (!in || !tile_with(*in->trace, place)) return;
    if (in->path.size() > 1 && in->path[in->path.size() - 2] == place)
        in->path.pop_back();
    else
        in->path.push_back(place);
    look_up(*in);
}

void go_back_to(AppState& state, int n) {
    Inspection* in = inspection_of(state);
    if (!in || n < 0 || n + 1 >= static_cast<int>(in->path.size())) return;
    in->path.resize(static_cast<std::size_t>(n) + 1);
    look_up(*in);
}

void use_entry(AppState& state, int entry) {
    Inspection* in = inspection_of(state);
    if (!in || entry < 0 || entry >= static_cast<int>(in->entries.size())) return;
    const LinkEntry chosen = in->entries[static_cast<std::size_t>(entry)];
    const Region& cells = chosen.patch.cells;
    if (cells.rows * cells.cols == 1)
        return follow(state, {{chosen.patch.slot, cells.row, cells.col}, chosen.patch.step});
    const int group = group_of(*in, entry), before = in->open;
    in->open = before == group ? -1 : group;
    list_entries(*in);
    // The lines above it may have closed: the choice stays on the group.
    for (int n = 0; n < static_cast<int>(in->entries.size()); ++n)
        if (!in->entries[static_cast<std::size_t>(n)].inner && group_of(*in, n) == group) in->chosen = n;
}

void go_to_origin(AppState& state) {
    const Inspection* in = inspection_of(state);
    if (!in || in->at().step < 0) return;
    go_to(state, at_step(*state.trace, in->at().step));
    choose_cell(state, in->at().cell);
}

std::string place_name(const Trace& trace, const Place& place) {
    return patch_name(trace, {place.cell.slot, place.step, {place.cell.row, place.cell.col, 1, 1}});
}

std::string crumb_name(const Inspection& in, int n) {
    const Place& place = in.path[static_cast<std::size_t>(n)];
    const auto same = [&](const Place& p) {
        return p.cell == place.cell && p.step != place.step &&
               place_name(*in.trace, p) == place_name(*in.trace, place);
    };
    const bool several = place.step >= 0 && std::ranges::any_of(in.path, same);
    return place_name(*in.trace, place) + (several ? ", step " + str(place.step + 1) : "");
}

std::string patch_name(const Trace& trace, const Patch& patch) {
    std::string name = plain(slot_symbol(trace, patch.slot, patch.step));
    // On chip a softmax lesson has one element at a time, and its symbol says which: d′₃, o′₃[1].
    if (trace.lesson().chapter == ChapterId::softmax && !info(patch.slot).hbm) {
        const bool wide = patch.slot == Slot::Oi || patch.slot == Slot::Vj;
        if (!wide || trace.problem().d() == 1) return name;
        return name + "[" + range_text(patch.cells.col, patch.cells.col + patch.cells.cols - 1) + "]";
    }
    return name + index_text(trace, patch.slot, patch.cells, patch.step);
}

std::string made_text(int step) { return step < 0 ? "given" : "step " + str(step + 1); }

std::vector<LinkMark> link_marks(const AppState& state, Slot slot, const Value& tile) {
    std::vector<LinkMark> out;
    if (!inspecting(state) || state.inspection->trace != state.trace || hidden(state)) return out;
    const Inspection& in = *state.inspection;
    const auto add = [&](Link link, const Patch& patch) {
        const Region &a = patch.cells, &b = tile.region;
        const int top = std::max(a.row, b.row), left = std::max(a.col, b.col),
                  bottom = std::min(a.row + a.rows, b.row + b.rows),
                  right = std::min(a.col + a.cols, b.col + b.cols);
        if (patch.slot != slot || top >= bottom || left >= right) return;
        if (tile_with(*in.trace, {{slot, top, left}, patch.step}) != &tile) return;
        out.push_back({link, {top, left, bottom - top, right - left}});
    };
    for (const Patch& patch : in.from) add(Link::source, patch);
    for (const Patch& patch : in.feeds) add(Link::fed, patch);
    for (const Patch& patch : patches({in.at()})) add(Link::inspected, patch);
    return out;
}

bool answer_inspection_key(AppState& state, const KeyPress& press) {
    if (state.edit || hidden(state) || press.ctrl || press.alt) return false;
    if (!inspecting(state)) {
        if (press.key != Key::enter || press.shift || keyboard_focus_visible()) return false;
        inspect(state, chosen_cell(state));
        return true;
    }
    Inspection* in = inspection_of(state);
    if (!in) return false;
    switch (press.key) {
    case Key::up:
    case Key::down:
        if (press.shift) return false;  // the column of the formula
        choose_entry(*in, press.key == Key::up ? -1 : 1);
        return true;
    case Key::enter:
        if (keyboard_focus_visible()) return false;
        press.shift ? go_to_origin(state) : use_entry(state, in->chosen);
        return true;
    case Key::backspace: go_back_to(state, static_cast<int>(in->path.size()) - 2); return true;
    case Key::escape: state.inspection.reset(); return true;
    default: return false;
    }
}

std::vector<int> shown_crumbs(const std::vector<float>& widths, float gap, float room, int lines) {
    const int count = static_cast<int>(widths.size());
    const auto fits = [&](const std::vector<int>& shown) {
        float x = 0;
        int used = 1;
        for (int n : shown) {
            const float w = n < 0 ? gap : widths[static_cast<std::size_t>(n)] + gap;
            if (x > 0 && x + w > room) x = 0, ++used;
            x += w;
        }
        return used <= lines;
    };
    for (int skipped = 0; skipped < std::max(1, count - 1); ++skipped) {
        std::vector<int> shown;
        for (int n = 0; n < count; ++n) {
            if (skipped > 0 && n == 1) shown.push_back(-1);
            if (n == 0 || n > skipped) shown.push_back(n);
        }
        if (fits(shown)) return shown;
    }
    return {count - 1};
}

}  // namespace tilewalk::ui
