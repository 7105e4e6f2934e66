#include "app/io/matrix_file.h"
#include "app/io/text.h"
#include "core/base/matrix_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace tilewalk {
namespace {

// ---- the header: a Python dictionary literal with exactly three keys

struct Header {
    std::string descr;
    bool fortran_order = false;
    std::vector<long long> shape;
    std::set<std::string> keys;
};

constexpr const char* header_keys[] = {"descr", "fortran_order", "shape"};

/// What is left to read. Every take_ function returns whether it found what it wants, and then moved past it.
struct Literal {
    std::string_view rest;

    void skip_space() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size())); }
    bool take(std::string_view word) {
        skip_space();
        const bool found = rest.starts_with(word);
        if (found) rest.remove_prefix(word.size());
        return found;
    }
    bool take_string(std::string& text) {
        skip_space();
        if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) return false;
        const std::size_t end = rest.find(rest[0], 1);
        if (end == std::string_view::npos) return false;
        text = rest.substr(1, end - 1);
        rest.remove_prefix(end + 1);
        return true;
    }
    bool take_integer(long long& value) {
        skip_space();
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc{}) return false;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return true;
    }
};

/// Empty when all is well; otherwise what is wrong. A one-element tuple carries a comma: (4,).
std::string take_shape(Literal& literal, std::vector<long long>& shape) {
    if (!literal.take("(")) return "the header's shape is not a tuple";
    while (!literal.take(")")) {
        long long extent = 0;
        if (!literal.take_integer(extent))
            return "the header's shape has an extent that is no usable integer";
        if (extent < 0) return "the header's shape has the negative extent " + str(extent);
        shape.push_back(extent);
        if (shape.size() > 32) return "the header's shape has more than 32 dimensions";
        if (literal.take(",")) continue;
        if (!literal.take(")")) return "the header's shape is not closed by ')'";
        break;
    }
    return "";
}

std::string take_descr(Literal& literal, std::string& descr) {
    if (literal.take_string(descr)) return "";
    if (literal.take("[")) return "the array has a structured dtype, expected plain numbers";
    return "the header's descr is not a string";
}

std::string take_order(Literal& literal, bool& fortran_order) {
    fortran_order = literal.take("True");
    return fortran_order || literal.take("False") ? "" : "the header's fortran_order is not True or False";
}

std::string take_entry(Literal& literal, Header& header) {
    std::string key;
    if (!literal.take_string(key)) return "the header is not a dictionary with quoted keys";
    if (!literal.take(":")) return "the header has no ':' after " + in_quotes(key);
    if (std::ranges::find(header_keys, key) == std::end(header_keys))
        return "the header has the unknown key " + in_quotes(key);
    if (!header.keys.insert(key).second) return "the header has the key " + in_quotes(key) + " twice";
    if (key == "descr") return take_descr(literal, header.descr);
    if (key == "fortran_order") return take_order(literal, header.fortran_order);
    return take_shape(literal, header.shape);
}

Result<Header> parse_header(std::string_view text) {
    Literal literal{text};
    Header header;
    if (!literal.take("{")) return Failure{"the header does not begin with '{'"};
    while (!literal.take("}")) {
        if (std::string problem = take_entry(literal, header); !problem.empty()) return Failure{problem};
        if (literal.take(",")) continue;
        if (!literal.take("}")) return Failure{"the header has no ',' or '}' after an entry"};
        break;
    }
    literal.skip_space();
    if (!literal.rest.empty()) return Failure{"the header goes on after its '}'"};
    for (const char* key : header_keys)
        if (!header.keys.contains(key)) return Failure{"the header has no key " + in_quotes(key)};
    return header;
}

// ---- the elements

template <class T> T as(const unsigned char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

/// IEEE half precision: 1 sign bit, 5 exponent bits, 10 bits of mantissa.
double half(const unsigned char* bytes) {
    const auto bits = as<std::uint16_t>(bytes);
    const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    double value = std::ldexp(mantissa, -24);
    if (exponent == 31)
        value = mantissa ? NAN : INFINITY;
    else if (exponent > 0)
        value = std::ldexp(1024 + mantissa, exponent - 25);
    return bits >> 15 ? -value : value;
}

template <class T> double number(const unsigned char* bytes) { return static_cast<double>(as<T>(bytes)); }

struct Dtype {
    std::string_view code;
    std::size_t bytes;
    double (*read)(const unsigned char* bytes);
    bool swapped = false;  ///< the other byte order than this machine's
};
constexpr Dtype dtypes[] = {{"f2", 2, half},
                            {"f4", 4, number<float>},
                            {"f8", 8, number<double>},
                            {"i1", 1, number<std::int8_t>},
                            {"i2", 2, number<std::int16_t>},
                            {"i4", 4, number<std::int32_t>},
                            {"i8", 8, number<std::int64_t>},
                            {"u1", 1, number<std::uint8_t>},
                            {"u2", 2, number<std::uint16_t>},
                            {"u4", 4, number<std::uint32_t>},
                            {"u8", 8, number<std::uint64_t>}};

Result<Dtype> parse_dtype(const std::string& descr) {
    if (descr.find('O') != std::string::npos)
        return Failure{"the array holds pickled Python objects (dtype " + in_quotes(descr) +
                       "), expected numbers"};
    const bool ordered = descr.find_first_of("<>=|") == 0;
    const auto known = std::ranges::find(dtypes, std::string_view(descr).substr(ordered), &Dtype::code);
    if (known == std::end(dtypes))
        return Failure{"the dtype is " + in_quotes(descr) +
                       ", expected f2, f4, f8 or an integer of 1, 2, 4 or 8 bytes"};
    Dtype dtype = *known;
    dtype.swapped = descr[0] == (std::endian::native == std::endian::little ? '>' : '<');
    return dtype;
}

double element(const Dtype& dtype, const unsigned char* stored) {
    unsigned char bytes[8];
    std::copy_n(stored, dtype.bytes, bytes);
    if (dtype.swapped) std::reverse(bytes, bytes + dtype.bytes);
    return dtype.read(bytes);
}

Result<Matrix> parse_elements(std::string_view data, const Dtype& dtype, int rows, int cols,
                              bool fortran_order) {
    Matrix matrix(rows, cols);
    const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
            const std::size_t at = fortran_order ? std::size_t(c) * std::size_t(rows) + std::size_t(r)
                                                 : std::size_t(r) * std::size_t(cols) + std::size_t(c);
            matrix(r, c) = element(dtype, bytes + at * dtype.bytes);
            if (!std::isfinite(matrix(r, c)))
                return Failure{"the element [" + str(r) + ", " + str(c) + "] is " + exact_text(matrix(r, c)) +
                               ", expected a finite number"};
        }
    return matrix;
}

// ---- the file: magic, version, header length, header, elements

/// Splits off the header; `bytes` is left at the elements.
Result<Header> take_header(std::string_view& bytes) {
    if (bytes.substr(0, 6) != "\x93NUMPY") return Failure{"the file does not begin as a NumPy .npy file"};
    if (bytes.size() < 8) return Failure{"the file ends within its header"};
    const int version = static_cast<unsigned char>(bytes[6]);
    if (version < 1 || version > 3 || bytes[7] != 0)
        return Failure{"the .npy version is " + str(version) + "." +
                       str(static_cast<unsigned char>(bytes[7])) + ", expected 1.0, 2.0 or 3.0"};
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    bytes.remove_prefix(8);
    if (bytes.size() < length_bytes) return Failure{"the file ends within its header"};
    std::size_t length = 0;
    for (std::size_t k = 0; k < length_bytes; ++k)
        length |= std::size_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
    bytes.remove_prefix(length_bytes);
    if (bytes.size() < length) return Failure{"the file ends within its header"};
    const std::string_view text = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return parse_header(text);
}

std::string check_shape(const std::vector<long long>& shape) {
    if (shape.size() == 2) return check_matrix_size(shape[0], shape[1]).value_or("");
    return "the array has " + counted(shape.size(), "dimension") + ", expected 2";
}

Result<Matrix> parse_npy(std::string_view bytes) {
    const Result<Header> header = take_header(bytes);
    if (!header) return Failure{header.error};
    const Result<Dtype> dtype = parse_dtype(header->descr);
    if (!dtype) return Failure{dtype.error};
    if (std::string problem = check_shape(header->shape); !problem.empty()) return Failure{problem};

    const int rows = static_cast<int>(header->shape[0]), cols = static_cast<int>(header->shape[1]);
    const std::size_t expected = std::size_t(rows) * std::size_t(cols) * dtype->bytes;
    if (bytes.size() != expected)
        return Failure{"the file has " + counted(bytes.size(), "byte") + " of elements, its shape needs " +
                       str(expected)};
    return parse_elements(bytes, *dtype, rows, cols, header->fortran_order);
}

}  // namespace

Result<Matrix> matrix_from_npy(std::string_view bytes, const std::string& where) {
    Result<Matrix> matrix = parse_npy(bytes);
    if (!matrix) return failure_at(where, matrix.error);
    return matrix;
}

}  // namespace tilewalk
