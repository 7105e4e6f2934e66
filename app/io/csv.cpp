#include "app/io/matrix_file.h"
#include "app/io/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace tilewalk {
namespace {

/// Calls visit(line, number) for every line that carries data, numbered from 1 as editors do, until visit
/// returns false. Lines end with LF, CR LF or CR.
template <class Visit> void for_each_line(std::string_view text, Visit visit) {
    text = without_bom(text);
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end);
        if (!text.empty()) text.remove_prefix(text.substr(0, 2) == "\r\n" ? 2 : 1);
        const std::string_view content = trimmed(line);
        if (content.empty() || content[0] == '#') continue;
        if (!visit(line, number)) return;
    }
}

/// The failure continues a sentence that begins with the place.
Result<double> parse_number(std::string_view field) {
    if (field.empty()) return Failure{"is empty, expected a number"};
    // Typeset text, our own included, writes minus as U+2212.
    const std::string text = replaced(std::string(field), "\u2212", "-");
    const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    double value = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + (plus ? 1 : 0), last, value);
    if (end != last || error == std::errc::invalid_argument) {
        // A semicolon separates only where the file has no comma (csv_separator).
        const bool semicolon = field.find(';') != std::string_view::npos;
        return Failure{"is " + in_quotes(field) + ", expected a number" +
                       (semicolon
                            ? "; a semicolon separates numbers only where the file has no comma, so write "
                              "decimals with a point"
                            : "")};
    }
    if (error != std::errc{}) return Failure{"is " + in_quotes(field) + ", beyond the range of a double"};
    if (!std::isfinite(value)) return Failure{"is " + in_quotes(field) + ", expected a finite number"};
    return value;
}

std::string place(int line, int column) { return "line " + str(line) + ", column " + str(column); }

struct Table {
    std::vector<double> values;
    int rows = 0, cols = 0, first_line = 0;
};

/// Appends one line to the table; returns the sentence of what is wrong with it.
std::optional<std::string> append_row(Table& table, std::string_view line, char separator, int number) {
    int cols = 0;
    for (bool more = true; more;) {
        const std::size_t end = std::min(line.find(separator), line.size());
        const Result<double> value = parse_number(trimmed(line.substr(0, end)));
        if (!value) return place(number, cols + 1) + " " + value.error;
        table.values.push_back(*value);
        more = end < line.size();
        line.remove_prefix(more ? end + 1 : end);
        // Too wide already: what is left is only counted.
        if (++cols > max_matrix_cols && more) {
            cols += 1 + static_cast<int>(std::count(line.begin(), line.end(), separator));
            more = false;
        }
    }
    if (table.rows == 0) table.cols = cols, table.first_line = number;
    ++table.rows;
    if (cols == table.cols) return std::nullopt;
    return "line " + str(number) + " has " + counted(cols, "value") + ", line " + str(table.first_line) +
           " has " + str(table.cols);
}

}  // namespace

char csv_separator(std::string_view text) {
    bool semicolon = false, comma = false;
    for_each_line(text, [&](std::string_view line, int) {
        semicolon = semicolon || line.find(';') != std::string_view::npos;
        comma = line.find(',') != std::string_view::npos;
        return !comma;
    });
    return semicolon && !comma ? ';' : ',';
}

Result<Matrix> matrix_from_csv(std::string_view text, char separator, const std::string& where) {
    if (text.find('\0') != std::string_view::npos)
        return failure_at(where, "the file has NUL bytes, expected UTF-8 text with one row per line");
    long long rows = 0;
    for_each_line(text, [&](std::string_view, int) { return ++rows > 0; });
    if (rows == 0) return failure_at(where, "the file has no numbers, expected one row per line");

    // A file with too many rows is only counted: its first row tells the columns, and the sentence both.
    Table table;
    std::string problem;
    for_each_line(text, [&](std::string_view line, int number) {
        problem = append_row(table, line, separator, number).value_or("");
        return problem.empty() && rows <= max_matrix_rows && table.cols <= max_matrix_cols;
    });
    if (problem.empty()) problem = check_matrix_size(rows, table.cols).value_or("");
    if (!problem.empty()) return failure_at(where, problem);
    return Matrix(Eigen::Map<const Matrix>(table.values.data(), table.rows, table.cols));
}

}  // namespace tilewalk
