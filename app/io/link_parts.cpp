#include "app/io/link_parts.h"

#include "app/io/text.h"

#include <charconv>
#include <cmath>

namespace tilewalk::linked {

// ---- Letters

namespace {

bool is_plain(char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    // A comma parts the items of a list, and must not stand in one.
    return letter || std::string_view("-._:").find(c) != std::string_view::npos;
}

}  // namespace

std::string escaped(std::string_view text) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const unsigned byte = static_cast<unsigned char>(c);
        if (is_plain(c))
            out += c;
        else
            out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return out;
}

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        if (text[n] != '%') {
            out += text[n];
            continue;
        }
        const int high = n + 2 < text.size() ? hex_digit(text[n + 1]) : -1,
                  low = n + 2 < text.size() ? hex_digit(text[n + 2]) : -1;
        if (high < 0 || low < 0) return {};
        out += static_cast<char>(high * 16 + low);
        n += 2;
    }
    const bool text_only = is_utf8(out) && without_controls(out, '\0').find('\0') == std::string::npos;
    return text_only ? std::optional(out) : std::nullopt;
}

// ---- Numbers and matrices

std::string shortest(double v) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, v == 0 ? 0.0 : v).ptr};
}

std::optional<double> finite(std::string_view text) {
    const auto value = number_in<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string written(const Matrix& A) {
    std::string out = str(A.rows()) + "x" + str(A.cols()) + ":";
    for (Eigen::Index r = 0; r < A.rows(); ++r)
        for (Eigen::Index c = 0; c < A.cols(); ++c) out += (r + c ? "," : "") + shortest(A(r, c));
    return out;
}

std::optional<Matrix> read_matrix(const std::string& text) {
    const std::size_t x = text.find('x'), colon = text.find(':');
    if (x == text.npos || colon == text.npos || colon < x) return {};
    const auto rows = number_in<int>(text.substr(0, x)),
               cols = number_in<int>(text.substr(x + 1, colon - x - 1));
    const std::vector<std::string> numbers = split(text.substr(colon + 1), ",");
    if (!rows || !cols || *rows < 1 || *cols < 1 || *rows > most_elements || *cols > most_elements) return {};
    if (static_cast<int>(numbers.size()) != *rows * *cols) return {};
    Matrix A(*rows, *cols);
    for (int n = 0; n < *rows * *cols; ++n) {
        const auto value = finite(numbers[static_cast<std::size_t>(n)]);
        if (!value) return {};
        A(n / *cols, n % *cols) = *value;
    }
    return A;
}

bool same_shape(const Matrix* a, const Matrix* b) {
    return a && b && a->rows() == b->rows() && a->cols() == b->cols();
}

namespace {

Matrix* factor(Problem& p, Matrix Projection::*part) {
    return p.projection ? &((*p.projection).*part) : nullptr;
}
constexpr Given matrices[] = {{"q", [](Problem& p) { return p.projection ? nullptr : &p.Q; }},
                              {"k", [](Problem& p) { return p.projection ? nullptr : &p.K; }},
                              {"v", [](Problem& p) { return p.projection ? nullptr : &p.V; }},
                              {"do", [](Problem& p) { return p.dO ? &*p.dO : nullptr; }},
                              {"x", [](Problem& p) { return factor(p, &Projection::X); }},
                              {"wq", [](Problem& p) { return factor(p, &Projection::W_Q); }},
                              {"wk", [](Problem& p) { return factor(p, &Projection::W_K); }},
                              {"wv", [](Problem& p) { return factor(p, &Projection::W_V); }}};

}  // namespace

std::span<const Given> given() { return matrices; }

const Matrix* matrix(const Given& one, const Problem& p) { return one.of(const_cast<Problem&>(p)); }

Matrix* make(const Given& one, Problem& p) {
    const std::string name = one.name;
    if (name == "do" && !p.dO) p.dO.emplace();
    if ((name == "x" || name.starts_with('w')) && !p.projection) p.projection.emplace();
    if (name == "q" || name == "k" || name == "v") p.projection.reset();
    return one.of(p);
}

std::string changed_elements(const Problem& p, const Problem& base) {
    std::string out;
    for (const Given& one : matrices) {
        const Matrix *now = matrix(one, p), *before = matrix(one, base);
        if (!same_shape(now, before)) continue;
        for (Eigen::Index r = 0; r < now->rows(); ++r)
            for (Eigen::Index c = 0; c < now->cols(); ++c)
                if ((*now)(r, c) != (*before)(r, c))
                    out += (out.empty() ? "" : ",") + std::string(one.name) + "." + str(r) + "." + str(c) +
                           ":" + shortest((*now)(r, c));
    }
    return out;
}

bool set_element(Problem& p, const std::string& text) {
    const std::vector<std::string> parts = split(text.substr(0, text.find(':')), ".");
    const auto value = text.find(':') == text.npos ? std::nullopt : finite(text.substr(text.find(':') + 1));
    if (parts.size() != 3 || !value) return false;
    const auto row = number_in<int>(parts[1]), col = number_in<int>(parts[2]);
    for (const Given& one : matrices) {
        Matrix* A = parts[0] == one.name ? one.of(p) : nullptr;
        if (!A || !row || !col || *row < 0 || *col < 0 || *row >= A->rows() || *col >= A->cols()) continue;
        (*A)(*row, *col) = *value;
        return true;
    }
    return false;
}

}  // namespace tilewalk::linked
