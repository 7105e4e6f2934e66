// How matrices too large for numbers are told (zoom.cpp): which part of each is shown, in which lines, how
// large.
#pragma once

#include "app/ui/parts/stage_terms.h"
#include "app/ui/state/app_state.h"

#include <string>
#include <vector>

namespace tilewalk::ui::zooming {

constexpr float head_h = 52, old_h = 50, locator_h = 20, word_h = 34, band_gap = 8;
constexpr float good_row = 46, highest_row = 56;
constexpr int most_across = 8;

/// What is shown of a term.
struct Strip : StageTerm {
    TermLine line;
    int first = 0, count = 0;  // along the line, as far as it is shown
    int rows = 1;              // of a matrix that is moved: several
    int digits = 4;
    float cw = 0;
    std::vector<std::string> words{};  // of the tokens along the line
    bool single() const { return line.length() == 1 && rows == 1; }
    bool cut() const { return count < line.length(); }
    Region shown() const {
        Region out = line.part(first, count);
        if (rows > 1) out.rows = rows;
        return out;
    }
};

/// A line of the equation: its head, below it cells.
struct Piece {
    const char* sign = "";
    int strip = -1;
};
struct Band {
    std::vector<Piece> head;
    int strip = -1, old = -1;  // the cells below the head, and those that they replace above them
    float h = 0;
};

struct Zoom {
    std::vector<Strip> strips;
    std::vector<Band> bands;
    int across = most_across;
    float row = good_row, lens = 0;
    bool locators = true, words = true;

    Strip& at(int n) { return strips[static_cast<std::size_t>(n)]; }
    const Strip& at(int n) const { return strips[static_cast<std::size_t>(n)]; }
    int size() const { return static_cast<int>(strips.size()); }
};

Zoom zoom_of(const AppState& state);
/// It stands there with its numbers; a long sum is told by its result.
bool formula_is_short(const AppState& state);
/// What the step loads or stores it shows as it is.
bool is_moved(Op op);
/// The width of a cell for so many letters.
float cell_w(int letters);
double weight_at(const Strip& strip, int n);
/// As many cells side by side as all lines have room for; of those that do not fit, how many.
void choose_across(const AppState& state, Zoom& zoom, float w);
/// The largest rows that fit, with the lens if it has room. A row is one line: two would look like a matrix.
bool choose_rows(Zoom& zoom, float h, bool lens);
/// Which part of each line is shown.
void choose_parts(Zoom& zoom);
float band_h(const Zoom& zoom, const Band& band);
float total_h(const Zoom& zoom);

}  // namespace tilewalk::ui::zooming
