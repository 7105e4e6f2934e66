#include "app/io/matrix_file.h"

#include "app/io/file.h"
#include "app/io/file_parts.h"
#include "app/io/text.h"

#include <algorithm>

namespace tilewalk {
namespace {

/// ".npy" of "data/Q.NPY"; empty when the name has no dot.
std::string lower_extension(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    return lower_case(name.substr(std::min(name.rfind('.'), name.size())));
}

}  // namespace

std::optional<std::string> check_matrix_size(long long rows, long long cols) {
    const std::string size = counted(rows, "row") + " and " + counted(cols, "column");
    if (rows < 1 || cols < 1) return "the matrix has " + size + ", expected at least one of each";
    if (rows <= max_matrix_rows && cols <= max_matrix_cols) return std::nullopt;
    return "the matrix has " + size + ", at most " + counted(max_matrix_rows, "row") + " and " +
           counted(max_matrix_cols, "column") + " can be walked through";
}

bool is_matrix_path(const std::string& path) {
    const std::string extension = lower_extension(path);
    return extension == ".csv" || extension == ".tsv" || extension == ".npy";
}

Result<Matrix> load_matrix(const std::string& path) {
    const std::string extension = lower_extension(path);
    if (is_folder(path)) return failure_at(path, "it is a folder, expected a file in .csv, .tsv or .npy");
    if (!is_matrix_path(path))
        return failure_at(path, (extension.empty() ? "the name has no ending"
                                                   : "the name ends in " + in_quotes(extension)) +
                                    std::string(", expected .csv, .tsv or .npy"));
    const Result<std::string> bytes = read_file(path);
    if (!bytes) return Failure{bytes.error};
    if (extension == ".npy") return matrix_from_npy(*bytes, path);
    return matrix_from_csv(*bytes, extension == ".tsv" ? '\t' : csv_separator(*bytes), path);
}

}  // namespace tilewalk
