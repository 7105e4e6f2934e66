#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/matrix_menu.h"
#include "app/ui/state/state.h"
#include "core/base/matrix_text.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Entry {
    const char* format;
    bool whole;  ///< all tiles of the slot, otherwise the one
    std::string (*text)(const Matrix&);
};

std::string as_latex(const Matrix& matrix) { return matrix_as_latex(matrix); }

constexpr Entry entries[] = {{"CSV", false, matrix_as_csv},    {"NumPy", false, matrix_as_numpy},
                             {"LaTeX", false, as_latex},       {"CSV", true, matrix_as_csv},
                             {"NumPy", true, matrix_as_numpy}, {"LaTeX", true, as_latex}};
constexpr int per_matrix = 3;

// A slot of one tile is whole already.
int entry_count(const AppState& state, const MatrixMenu& menu) {
    return state.trace->tiles(menu.slot) > 1 ? 2 * per_matrix : per_matrix;
}

std::string size_text(Eigen::Index rows, Eigen::Index cols) { return str(rows) + " × " + str(cols); }

std::string tile_name(const AppState& state, const MatrixMenu& menu) {
    const Held held = state.trace->live(menu.slot, menu.tile, state.cursor.step);
    return plain(slot_symbol(*state.trace, menu.slot, held.step, menu.tile));
}

void copy(AppState& state, const MatrixMenu& menu, const Entry& entry) {
    const Held held = state.trace->live(menu.slot, menu.tile, state.cursor.step);
    const Matrix matrix = entry.whole ? slot_matrix(*state.trace, menu.slot, state.cursor.step)
                          : held      ? held.value->data
                                      : Matrix();
    ImGui::SetClipboardText(entry.text(matrix).c_str());
    const std::string name = entry.whole ? plain(slot_symbol(menu.slot)) : tile_name(state, menu);
    notify(state,
           "Copied " + name + " (" + size_text(matrix.rows(), matrix.cols()) + ") as " + entry.format + ".");
    state.matrix_menu.reset();
}

// ---- Drawing

struct Look {
    float size, small, row, w;
};

// Its heading under the mouse, which then rests on no cell, but within the window; without a mouse centred.
void place(const Canvas& main, MatrixMenu& menu, float w, float h, float W, float H) {
    if (menu.placed) return;
    menu.placed = true;
    const Point mouse = main.mouse();
    menu.corner = menu.at_mouse ? Point{mouse.x - 24, mouse.y - 16} : Point{(W - w) / 2, (H - h) / 2};
    menu.corner.x = std::clamp(menu.corner.x, 8.0f, std::max(8.0f, W - w - 8));
    menu.corner.y = std::clamp(menu.corner.y, 8.0f, std::max(8.0f, H - h - 8));
}

void heading(const Canvas& c, const std::string& name, const std::string& note, const Look& look, float x,
             float y) {
    const float used = c.text(x + 18, y + look.row / 2, "Copy " + name, look.size, 0, Face::semibold);
    c.text_within(x + 18 + used + 10, y + look.row / 2, look.w - used - 44, note, look.small, c.theme->t3);
}

// One of the formats; true if it was chosen.
bool entry_row(const Canvas& c, MatrixMenu& menu, int n, const Look& look, float x, float y) {
    const Entry& entry = entries[n];
    const std::string id = std::string("##copy ") + (entry.whole ? "all " : "tile ") + entry.format;
    const Hot hot = hot_area(c, id, x + 6, y, look.w - 12, look.row);
    if (hot.hovered) menu.at = n;
    if (menu.at == n) c.rect(x + 6, y + 1, look.w - 12, look.row - 2, c.theme->raised, 7);
    c.text(x + 30, y + look.row / 2, std::string("as ") + entry.format, look.size);
    if (menu.at == n)
        c.text(x + look.w - 18, y + look.row / 2, "Enter", look.small, c.theme->t3, Align::right);
    return hot.clicked;
}

void draw_list(const Canvas& c, AppState& state, const std::shared_ptr<MatrixMenu>& menu, const Look& look) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const float x = menu->corner.x;
    float y = menu->corner.y + 8;
    for (int n = 0; n < entry_count(state, *menu); ++n, y += look.row) {
        if (n % per_matrix == 0) {
            const Held held = trace.live(menu->slot, menu->tile, k);
            const Matrix all = n == 0 ? Matrix() : slot_matrix(trace, menu->slot, k);
            const std::string size = n > 0  ? size_text(all.rows(), all.cols())
                                     : held ? size_text(held.value->region.rows, held.value->region.cols)
                                            : "";
            const std::string name =
                n > 0 ? "all of " + plain(slot_symbol(menu->slot)) : tile_name(state, *menu);
            heading(c, name, size, look, x, y);
            y += look.row;
        }
        if (entry_row(c, *menu, n, look, x, y)) return copy(state, *menu, entries[n]);
    }
}

bool answer_key(AppState& state, const KeyPress& press) {
    MatrixMenu& menu = *state.matrix_menu;
    const int count = entry_count(state, menu);
    switch (press.key) {
    case Key::up: menu.at = (menu.at + count - 1) % count; break;
    case Key::tab:
    case Key::down: menu.at = (menu.at + (press.shift ? count - 1 : 1)) % count; break;
    case Key::home: menu.at = 0; break;
    case Key::end: menu.at = count - 1; break;
    case Key::enter:
    case Key::space: copy(state, menu, entries[menu.at]); break;
    default: state.matrix_menu.reset(); break;
    }
    return true;
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const std::shared_ptr<MatrixMenu> menu = state.matrix_menu;  // it may be closed while it is drawn
    const Look look =
        state.presenter ? Look{size::far, size::far, 50, 460} : Look{size::body, size::small, 32, 252};
    const int count = entry_count(state, *menu);
    const float h = look.row * px(count + count / per_matrix) + 16;
    place(main, *menu, look.w, h, W, H);
    const Rect area{menu->corner.x, menu->corner.y, look.w, h};
    show_card(main, "Copy matrix", area, [&](const Canvas& c) {
        c.frame(area.x + .5f, area.y + .5f, area.w - 1, area.h - 1, c.theme->t3, 1, radius::panel);
        draw_list(c, state, menu, look);
        if (clicked_beside()) state.matrix_menu.reset();
    });
}

}  // namespace

const Card matrix_menu_card{
    .name = "Copy matrix",
    .keys_shown = "Ctrl Shift C",
    .action = "copy a matrix",
    .shortcut = {Key::c, true, true},
    .of_walk = true,
    .is_open = [](const AppState& s) { return s.matrix_menu != nullptr; },
    .open = [](AppState& s) { open_matrix_menu(s, chosen_cell(s).slot, chosen_tile(s)); },
    .answer_key = answer_key,
    .draw = draw};

}  // namespace tilewalk::ui
