// Matrices from and to files of other programs: comma- or tab-separated text, and NumPy's .npy.
#pragma once

#include "core/base/matrix.h"
#include "core/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace tilewalk {

constexpr int max_matrix_rows = 4096;
constexpr int max_matrix_cols = 1024;

/// A sentence when a matrix of this size is not taken: empty, or above the limits.
std::optional<std::string> check_matrix_size(long long rows, long long cols);

/// A name that load_matrix takes, by its ending.
bool is_matrix_path(const std::string& path);
/// Reads by the extension, .csv .tsv .npy in any case. Every element of the matrix is finite; anything else
/// is refused with a sentence that begins with the path and names the place.
Result<Matrix> load_matrix(const std::string& path);

/// Text with one row per line. Empty lines and lines that begin with '#' are skipped; all other lines have as
/// many numbers as the first. `where` begins every sentence.
Result<Matrix> matrix_from_csv(std::string_view text, char separator, const std::string& where);
/// The separator of a .csv file: a comma, or a semicolon when no line has a comma.
char csv_separator(std::string_view text);

/// NumPy format 1 to 3, two dimensions, integers of 1 to 8 bytes or floats of 2, 4, 8, either byte order, C
/// or Fortran order.
Result<Matrix> matrix_from_npy(std::string_view bytes, const std::string& where);

}  // namespace tilewalk
