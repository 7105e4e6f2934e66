#include "app/io/matrix_file.h"
#include "core/base/matrix_text.h"

#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/folder.h"
#include "tests/good.h"

#include <cstring>

using namespace tilewalk::test;

namespace {

Matrix matrix_of(const std::string& text, char separator = ',') {
    return good(matrix_from_csv(text, separator, "q.csv"));
}

Matrix two_by_two() { return Matrix{{1, 2}, {3, 4}}; }

}  // namespace

TEST_CASE("csv: the usual shapes of a good file") {
    for (const char* text : {"1,2\n3,4\n", "1,2\n3,4", "1,2\r\n3,4\r\n", "1,2\r3,4",
                             "\xEF\xBB\xBF\x31,2\n3,4\n", " 1 ,\t2\n3 ,4 \n", "# Q of head 0\n1,2\n\n3,4\n\n",
                             "+1,2.0\n3e0,.4e+1\n", "1.,2\n0.3E1,4\n", "  # indented\n1,2\n3,4\n"}) {
        CAPTURE(text);
        CHECK(matrix_of(text) == two_by_two());
    }
    CHECK(matrix_of("1\t2\n3\t4\n", '\t') == two_by_two());
    CHECK(matrix_of("1;2\n3;4\n", csv_separator("1;2\n3;4\n")) == two_by_two());
    CHECK(csv_separator("# a;b\n1,2\n") == ',');
    CHECK(csv_separator("# a,b\n1;2\n") == ';');
    CHECK(csv_separator("1\n2\n") == ',');
}

TEST_CASE("csv: a matrix that was copied is read back bit by bit") {
    Random random(5);
    for (const auto& [rows, cols] : {std::pair{1, 1}, {4, 4}, {7, 3}, {40, 17}}) {
        Matrix A = any_doubles(random, rows, cols);
        A(0, 0) = -0.0;
        const Matrix back = matrix_of(matrix_as_csv(A));
        REQUIRE(back.rows() == rows);
        REQUIRE(back.cols() == cols);
        CHECK(std::memcmp(back.data(), A.data(), static_cast<std::size_t>(A.size()) * sizeof(double)) == 0);
    }
}

TEST_CASE("csv: minus may be typeset") {
    CHECK(matrix_of("\u22121.5,-2\n1e\u22123,-0\n") == Matrix{{-1.5, -2}, {1e-3, 0}});
}

TEST_CASE("csv: every mistake is named with its place") {
    struct Case {
        const char* text;
        const char* sentence;
    };
    for (const Case& bad : {
             Case{"1,2,3,4\n\n1,2,3,4,5\n", "q.csv: line 3 has 5 values, line 1 has 4."},
             {"1,2\n3\n", "q.csv: line 2 has 1 value, line 1 has 2."},
             {"1,2\r\n\r\n3\r\n", "q.csv: line 3 has 1 value, line 1 has 2."},
             {"", "q.csv: the file has no numbers, expected one row per line."},
             {"\xEF\xBB\xBF", "q.csv: the file has no numbers, expected one row per line."},
             {" \n# only talk\n\r\n", "q.csv: the file has no numbers, expected one row per line."},
             {"a,b\n1,2\n", "q.csv: line 1, column 1 is \"a\", expected a number."},
             {"1,2\n3,x\n", "q.csv: line 2, column 2 is \"x\", expected a number."},
             {"0,1;2\n", "q.csv: line 1, column 2 is \"1;2\", expected a number; a semicolon separates "
                         "numbers only where "
                         "the file has no comma, so write decimals with a point."},
             {"1,,3\n", "q.csv: line 1, column 2 is empty, expected a number."},
             {"1,2,\n", "q.csv: line 1, column 3 is empty, expected a number."},
             {",\n", "q.csv: line 1, column 1 is empty, expected a number."},
             {"1,nan\n", "q.csv: line 1, column 2 is \"nan\", expected a finite number."},
             {"1,-inf\n", "q.csv: line 1, column 2 is \"-inf\", expected a finite number."},
             {"+Infinity\n", "q.csv: line 1, column 1 is \"+Infinity\", expected a finite number."},
             {"\u2212nan\n", "q.csv: line 1, column 1 is \"\u2212nan\", expected a finite number."},
             {"1e999\n", "q.csv: line 1, column 1 is \"1e999\", beyond the range of a double."},
             {"0x10\n", "q.csv: line 1, column 1 is \"0x10\", expected a number."},
             {"1 2\n", "q.csv: line 1, column 1 is \"1 2\", expected a number."},
             {"+-1\n", "q.csv: line 1, column 1 is \"+-1\", expected a number."},
             {"++1\n", "q.csv: line 1, column 1 is \"++1\", expected a number."},
             {"--1\n", "q.csv: line 1, column 1 is \"--1\", expected a number."},
             {"+\n", "q.csv: line 1, column 1 is \"+\", expected a number."},
             {"-\n", "q.csv: line 1, column 1 is \"-\", expected a number."},
             {".\n", "q.csv: line 1, column 1 is \".\", expected a number."},
             {"e5\n", "q.csv: line 1, column 1 is \"e5\", expected a number."},
             {"1e\n", "q.csv: line 1, column 1 is \"1e\", expected a number."},
             {"1.2.3\n", "q.csv: line 1, column 1 is \"1.2.3\", expected a number."},
             {"\"1\"\n", "q.csv: line 1, column 1 is \"\"1\"\", expected a number."},
             {"1;2\n", "q.csv: line 1, column 1 is \"1;2\", expected a number; a semicolon separates numbers "
                       "only where "
                       "the file has no comma, so write decimals with a point."},
             {"\x1b[31m\x80\n", "q.csv: line 1, column 1 is \"?[31m?\", expected a number."},
         }) {
        CAPTURE(bad.text);
        const Result<Matrix> matrix = matrix_from_csv(bad.text, ',', "q.csv");
        CHECK(!matrix);
        CHECK(matrix.error == bad.sentence);
    }
    CHECK(contains(matrix_from_csv(std::string_view("1\0,2", 4), ',', "q").error, "NUL"));
}

TEST_CASE("csv: limits are told with both numbers") {
    const std::string tall = repeated("1,2\n", 4096), wide = "1" + repeated(",1", 1023);
    CHECK(matrix_of(tall).rows() == 4096);
    CHECK(matrix_from_csv(tall + "1,2\n", ',', "q").error ==
          "q: the matrix has 4097 rows and 2 columns, at most 4096 rows and 1024 columns can be walked "
          "through.");
    CHECK(matrix_of(wide).cols() == 1024);
    CHECK(contains(matrix_from_csv(wide + ",1", ',', "q").error, "1 row and 1025 columns"));
    // What lies beyond the limit is counted, not read.
    CHECK(contains(matrix_from_csv(wide + ",1,2,x", ',', "q").error, "1 row and 1027 columns"));
    CHECK(!matrix_from_csv(std::string(1 << 20, ','), ',', "q"));
    CHECK(!matrix_from_csv(std::string(1 << 20, '1'), ',', "q"));
    CHECK(contains(matrix_from_csv(std::string(1 << 20, '\n'), ',', "q").error, "no numbers"));
}

TEST_CASE("load_matrix goes by the extension, in any case") {
    const test::Folder scratch;
    const std::string header = "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2), }\n";
    std::string npy("\x93NUMPY\x01\x00", 8);
    for (const char c : {static_cast<char>(header.size()), '\0'}) npy += c;
    npy += header;
    npy += "\1\2\3\4";
    const std::pair<const char*, std::string> files[] = {
        {"a.csv", "1,2\n3,4"}, {"b.CSV", "1;2\n3;4"}, {"c.Tsv", "1\t2\n3\t4"}, {"d.v1.npy", npy}};
    for (const auto& file : files) {
        CAPTURE(file.first);
        CHECK(good(load_matrix(scratch.file(file.first, file.second))) == two_by_two());
    }
    for (const char* name : {"q", "q.txt", "q.npz", "folder.csv/q", ""}) {
        CAPTURE(name);
        CHECK(contains(load_matrix(name).error, "expected .csv, .tsv or .npy"));
    }
    CHECK(contains(load_matrix(".").error, "it is a folder, expected a file in .csv, .tsv or .npy"));
    CHECK(contains(load_matrix(scratch.file("none.csv")).error, "no such file"));
}
