// Plain text in columns for the terminal and for fenced blocks: widths count letters, not bytes.
#pragma once

#include "core/base/matrix.h"
#include "core/base/words.h"

#include <string>
#include <vector>

namespace tilewalk {

/// Lines of text that belong together, first line first.
using Block = std::vector<std::string>;

/// Filled up with spaces to `width` letters; longer text stays as it is.
std::string pad_right(const std::string& text, int width);
std::string pad_left(const std::string& text, int width);

/// Rows (or columns) of a matrix to show: all if they are at most `most`, else the first, `gap_index` and the
/// last.
constexpr int gap_index = -1;
std::vector<int> elided(int count, int most, int first);

/// Broken at spaces into lines of at most `width` letters; a longer word gets a line of its own.
Block wrap(const std::string& text, int width);

/// A heading above a matrix of any size, numbers aligned: at most 8 rows and columns and the gap between
/// them.
Block matrix_block(const std::string& heading, const Matrix& matrix);
/// One column before and after (both n × 1): "1.000 → 2.000".
Block change_block(const std::string& heading, const Matrix& before, const Matrix& after);

/// Blocks beside each other, tops aligned; what does not fit into `width` begins below, after an empty line.
Block side_by_side(const std::vector<Block>& blocks, int width);

/// Rows of cells with a heading row, columns padded to their widest cell; the last column is not padded.
Block table(const std::vector<std::vector<std::string>>& rows);
/// The lines of a block as one text.
std::string lines_of(const Block& block, const std::string& indent = "");
/// A table as one indented text whose columns end at the same place, as numbers should; the last column and
/// those of `left` begin there instead.
std::string number_table(std::vector<std::vector<std::string>> rows,
                         std::initializer_list<std::size_t> left = {});

}  // namespace tilewalk
