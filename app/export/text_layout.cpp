#include "app/export/text_layout.h"

#include "app/ui/state/trace_look.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace tilewalk {
namespace {

using Cells = std::vector<std::vector<std::string>>;

constexpr int most_shown = 8;

int width_of(const Block& block) {
    int width = 0;
    for (const std::string& line : block) width = std::max(width, ui::letter_count(line));
    return width;
}

std::string spaces(int n) { return std::string(static_cast<std::size_t>(std::max(0, n)), ' '); }

// Decimals with which format_number would write the value.
int natural_decimals(double value) {
    const std::string text = format_number(value);
    const std::size_t point = text.find('.');
    if (point == std::string::npos || text.find("×") != std::string::npos) return 0;
    return static_cast<int>(text.size() - point) - 1;
}

// Numbers of one matrix share their decimals, so that points stand below each other.
Cells number_cells(const Matrix& A) {
    const auto shown = [](Eigen::Index count) {
        return elided(static_cast<int>(count), most_shown, most_shown - 1);
    };
    const std::vector<int> rows = shown(A.rows()), cols = shown(A.cols());
    int decimals = 0;
    for (int r : rows)
        for (int c : cols)
            if (r >= 0 && c >= 0) decimals = std::max(decimals, natural_decimals(A(r, c)));
    Cells cells;
    for (int r : rows) {
        auto& row = cells.emplace_back();
        for (int c : cols) row.push_back(r < 0 || c < 0 ? "…" : format_fixed(A(r, c), decimals));
    }
    return cells;
}

// Of each column, in letters.
std::vector<int> widths_of(const Cells& rows) {
    std::vector<int> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c)
            widths[c] = std::max(widths[c], ui::letter_count(row[c]));
    }
    return widths;
}

void append_rows(Block& block, const Cells& cells, const char* between) {
    const std::vector<int> widths = widths_of(cells);
    for (const auto& row : cells) {
        std::string line = "│ ";
        for (std::size_t c = 0; c < row.size(); ++c)
            line += (c == 0 ? "" : between) + pad_left(row[c], widths[c]);
        block.push_back(line + " │");
    }
}

// One band of blocks: as high as its highest.
void append_band(Block& out, const std::vector<const Block*>& band) {
    std::size_t height = 0;
    for (const Block* block : band) height = std::max(height, block->size());
    for (std::size_t n = 0; n < height; ++n) {
        std::string line;
        for (const Block* block : band) {
            const std::string& text = n < block->size() ? (*block)[n] : std::string();
            line += pad_right(text, width_of(*block)) + "   ";
        }
        out.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    }
}

}  // namespace

std::string pad_right(const std::string& text, int width) {
    return text + spaces(width - ui::letter_count(text));
}

std::string pad_left(const std::string& text, int width) {
    return spaces(width - ui::letter_count(text)) + text;
}

std::vector<int> elided(int count, int most, int first) {
    std::vector<int> shown(static_cast<std::size_t>(count <= most ? count : first));
    std::iota(shown.begin(), shown.end(), 0);
    if (count > most) shown.insert(shown.end(), {gap_index, count - 1});
    return shown;
}

Block wrap(const std::string& text, int width) {
    Block lines;
    std::istringstream words(text);
    words.exceptions(std::ios::badbit);  // no word is left out in silence when memory runs out
    for (std::string word; words >> word;) {
        const bool fits =
            !lines.empty() && ui::letter_count(lines.back()) + 1 + ui::letter_count(word) <= width;
        if (fits)
            lines.back() += " " + word;
        else
            lines.push_back(word);
    }
    return lines;
}

Block matrix_block(const std::string& heading, const Matrix& matrix) {
    Block block{heading};
    append_rows(block, number_cells(matrix), "  ");
    return block;
}

Block change_block(const std::string& heading, const Matrix& before, const Matrix& after) {
    Matrix both(before.rows(), 2);
    both << before, after;
    Block block{heading};
    append_rows(block, number_cells(both), " → ");
    return block;
}

Block side_by_side(const std::vector<Block>& blocks, int width) {
    Block out;
    std::vector<const Block*> band;
    int used = 0;
    for (const Block& block : blocks) {
        const int needed = width_of(block) + 3;
        if (!band.empty() && used + needed - 3 > width) {
            append_band(out, band);
            out.emplace_back();
            band.clear();
            used = 0;
        }
        band.push_back(&block);
        used += needed;
    }
    append_band(out, band);
    return out;
}

Block table(const std::vector<std::vector<std::string>>& rows) {
    const std::vector<int> widths = widths_of(rows);
    Block out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c)
            line += c + 1 < row.size() ? pad_right(row[c], widths[c]) + "  " : row[c];
        out.push_back(std::move(line));
    }
    return out;
}

std::string lines_of(const Block& block, const std::string& indent) {
    std::string text;
    for (const std::string& line : block) text += indent + line + "\n";
    return text;
}

std::string number_table(std::vector<std::vector<std::string>> rows,
                         std::initializer_list<std::size_t> left) {
    const std::vector<int> widths = widths_of(rows);
    for (auto& row : rows)
        for (std::size_t c = 0; c + 1 < row.size(); ++c)
            if (std::ranges::find(left, c) == left.end()) row[c] = pad_left(row[c], widths[c]);
    return lines_of(table(rows), "  ");
}

}  // namespace tilewalk
