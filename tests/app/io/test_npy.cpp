#include "app/io/matrix_file.h"

#include "tests/contains.h"
#include "tests/good.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

using namespace tilewalk::test;

namespace {

/// A .npy file from its parts.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(version);
    bytes += '\0';
    for (int k = 0; k < (version == 1 ? 2 : 4); ++k)
        bytes += static_cast<char>(header.size() >> (8 * k) & 255);
    return bytes + header + data;
}

std::string header_of(const std::string& descr, bool fortran, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
           ", 'shape': " + shape + ", }          \n";
}

template <class T> std::string stored(std::initializer_list<T> values, bool big = false) {
    std::string bytes;
    for (const T value : values) {
        char raw[sizeof(T)];
        std::memcpy(raw, &value, sizeof value);
        const bool swap = big == (std::endian::native == std::endian::little);
        for (std::size_t k = 0; k < sizeof(T); ++k) bytes += raw[swap ? sizeof(T) - 1 - k : k];
    }
    return bytes;
}

Matrix matrix_of(const std::string& bytes) { return good(matrix_from_npy(bytes, "q.npy")); }
std::string error_of(const std::string& bytes) { return matrix_from_npy(bytes, "q.npy").error; }

const std::string six_doubles = stored<double>({1, -2, 3, 4, 5, 6});
const Matrix expected{{1, -2, 3}, {4, 5, 6}};

template <class T> void check_dtype(const std::string& code) {
    CAPTURE(code);
    CHECK(matrix_of(npy(header_of("<" + code, false, "(2, 3)"), stored<T>({1, T(-2), 3, 4, 5, 6})))(0, 1) ==
          T(-2));
    CHECK(matrix_of(npy(header_of(">" + code, false, "(2, 3)"), stored<T>({1, 0, 3, 4, 5, T(-6)}, true)))(
              1, 2) == T(-6));
    const bool little = std::endian::native == std::endian::little;
    for (const char* order : {"=", "|", ""})
        CHECK(matrix_of(npy(header_of(order + code, true, "(2, 3)"),
                            stored<T>({1, 4, 2, 5, 3, 6}, !little))) == Matrix{{1, 2, 3}, {4, 5, 6}});
}

}  // namespace

TEST_CASE("npy: every dtype, byte order, and element order") {
    check_dtype<double>("f8");
    check_dtype<float>("f4");
    check_dtype<std::int8_t>("i1");
    check_dtype<std::int16_t>("i2");
    check_dtype<std::int32_t>("i4");
    check_dtype<std::int64_t>("i8");
    check_dtype<std::uint8_t>("u1");
    check_dtype<std::uint16_t>("u2");
    check_dtype<std::uint32_t>("u4");
    check_dtype<std::uint64_t>("u8");
}

TEST_CASE("npy: half precision, all kinds of numbers") {
    // Bit patterns and values from the definition of binary16.
    const std::pair<std::uint16_t, double> known[] = {
        {0x3C00, 1},       {0xC000, -2},      {0x3555, 0.333251953125},
        {0x7BFF, 65504},   {0x0001, 0x1p-24}, {0x03FF, 1023 * 0x1p-24},
        {0x0400, 0x1p-14}, {0x8000, -0.0}};
    for (const auto& [bits, value] : known)
        for (const bool big : {false, true}) {
            const Matrix read =
                matrix_of(npy(header_of(big ? ">f2" : "<f2", false, "(1, 1)"), stored({bits}, big)));
            CHECK(read(0, 0) == value);
            CHECK(std::signbit(read(0, 0)) == std::signbit(value));
        }
    for (const std::uint16_t bits : {0x7C00, 0xFC00, 0x7E00})
        CHECK(!matrix_from_npy(npy(header_of("<f2", false, "(1, 1)"), stored({bits})), "q"));
}

TEST_CASE("npy: versions 1 to 3, and headers that are spaced and ordered otherwise") {
    for (int version = 1; version <= 3; ++version)
        CHECK(matrix_of(npy(header_of("<f8", false, "(2, 3)"), six_doubles, version)) == expected);
    for (const char* header :
         {"{'descr':'<f8','fortran_order':False,'shape':(2,3)}",
          "{ \"shape\" : ( 2 , 3 , ) , \"fortran_order\" : False , \"descr\" : \"<f8\" , }\n",
          "\n {'shape': (2,\n 3), 'descr': '<f8',\n 'fortran_order': False}\t \n"})
        CHECK(matrix_of(npy(header, six_doubles)) == expected);
}

TEST_CASE("npy: every broken header is refused in a sentence") {
    struct Case {
        std::string header;
        const char* words;
    };
    const Case cases[] = {
        {"", "does not begin with '{'"},
        {"garbage", "does not begin with '{'"},
        {"{", "quoted keys"},
        {"{}", "no key \"descr\""},
        {"{'descr': '<f8', 'fortran_order': False}", "no key \"shape\""},
        {"{'descr': '<f8', 'shape': (2, 3)}", "no key \"fortran_order\""},
        {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "twice"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "unknown key \"x\""},
        {"{'descr' '<f8'}", "no ':' after"},
        {"{'descr': '<f8' 'fortran_order': False}", "no ',' or '}'"},
        {"{'descr': '<f8", "not a string"},
        {"{'descr", "quoted keys"},
        {"{'descr': 8, 'fortran_order': False, 'shape': (2, 3)}", "not a string"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3)}", "structured dtype"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 3)}", "not True or False"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 6}", "not a tuple"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, x)}", "no usable integer"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3)}", "not closed"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3", "not closed"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} or else", "goes on"},
        {header_of("<f8", false, "()"), "0 dimensions"},
        {header_of("<f8", false, "(6,)"), "1 dimension, expected 2"},
        {header_of("<f8", false, "(1, 2, 3)"), "3 dimensions"},
        {header_of("<f8", false, "(" + std::string(200, '1') + ", 2)"), "no usable integer"},
        {header_of("<f8", false, "(99999999999999999999, 2)"), "no usable integer"},
        {header_of("<f8", false, "(4294967296, 4294967296)"), "4294967296 rows and 4294967296 columns"},
        {header_of("<f8", false, "(9223372036854775807, 2)"), "at most 4096 rows"},
        {header_of("<f8", false, "(4097, 3)"), "4097 rows"},
        {header_of("<f8", false, "(2, 1025)"), "1025 columns"},
        {header_of("<f8", false, "(-2, -3)"), "negative extent -2"},
        {header_of("<f8", false, "(0, 3)"), "expected at least one"},
        {header_of("<f8", false, "(2, 0)"), "expected at least one"},
        {header_of("|O", false, "(2, 3)"), "pickled"},
        {header_of("<c16", false, "(2, 3)"), "dtype is \"<c16\""},
        {header_of("<U4", false, "(2, 3)"), "dtype is \"<U4\""},
        {header_of("|S8", false, "(2, 3)"), "dtype is \"|S8\""},
        {header_of("|b1", false, "(2, 3)"), "dtype is \"|b1\""},
        {header_of("<f16", false, "(2, 3)"), "dtype is \"<f16\""},
        {header_of("<M8[ns]", false, "(2, 3)"), "dtype is"},
        {header_of("", false, "(2, 3)"), "dtype is \"\""},
        {header_of("<", false, "(2, 3)"), "dtype is \"<\""},
        {header_of("<f8", false, "(" + std::string(300, '1').replace(1, 299, std::string(299, ',')) + ")"),
         ""},
    };
    for (const Case& bad : cases) {
        CAPTURE(bad.header);
        const std::string error = error_of(npy(bad.header, six_doubles));
        CAPTURE(error);
        CHECK(error.starts_with("q.npy: "));
        CHECK(contains(error, bad.words));
    }
}

TEST_CASE("npy: every prefix and every overlong file is refused") {
    const std::string whole = npy(header_of("<f8", false, "(2, 3)"), six_doubles);
    for (std::size_t n = 0; n < whole.size(); ++n) CHECK(!error_of(whole.substr(0, n)).empty());
    CHECK(error_of(whole + "x") == "q.npy: the file has 49 bytes of elements, its shape needs 48.");
    std::string magic = whole;
    magic[0] = '\x92';
    CHECK(contains(error_of(magic), "does not begin as a NumPy"));
    for (const int version : {0, 4, 255})
        CHECK(contains(error_of(npy(header_of("<f8", false, "(2, 3)"), six_doubles, version)),
                       "expected 1.0, 2.0 or 3.0"));
    std::string huge_header = npy(header_of("<f8", false, "(2, 3)"), six_doubles, 2);
    for (int k = 8; k < 12; ++k) huge_header[static_cast<std::size_t>(k)] = '\xFF';
    CHECK(contains(error_of(huge_header), "ends within its header"));
}

TEST_CASE("npy: a value that is not finite is named with its cell") {
    CHECK(error_of(npy(header_of("<f8", false, "(2, 3)"), stored<double>({1, 2, 3, 4, 5, NAN}))) ==
          "q.npy: the element [1, 2] is nan, expected a finite number.");
    CHECK(error_of(npy(header_of("<f8", true, "(2, 3)"), stored<double>({1, 2, -INFINITY, 4, 5, 6}))) ==
          "q.npy: the element [0, 1] is -inf, expected a finite number.");
}

TEST_CASE("npy: random bytes in a good file never do worse than a sentence") {
    std::mt19937_64 generator(3);
    const std::string whole = npy(header_of("<f4", false, "(2, 3)"), stored<float>({1, 2, 3, 4, 5, 6}));
    for (int trial = 0; trial < 20'000; ++trial) {
        std::string broken = whole;
        for (int k = 0; k < 3; ++k) broken[generator() % broken.size()] = static_cast<char>(generator());
        const Result<Matrix> matrix = matrix_from_npy(broken, "q");
        CHECK(bool(matrix) == matrix.error.empty());
    }
}
