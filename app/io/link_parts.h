// What links are made of: letters, numbers, matrices, and the table of keys. Only link.cpp puts them
// together.
#pragma once

#include "app/io/link.h"
#include "core/base/matrix.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::linked {

constexpr int most_elements = 1024;  // of matrices that are written out

// ---- Letters

/// Letters and digits stay; all else becomes %XX.
std::string escaped(std::string_view text);
/// Nothing if it is broken, no UTF-8, or has control characters.
std::optional<std::string> unescaped(std::string_view text);

// ---- Numbers and matrices

/// The shortest decimal that reads back exactly.
std::string shortest(double v);
std::optional<double> finite(std::string_view text);
/// "4x3:1,0,-0.5,…"
std::string written(const Matrix& A);
std::optional<Matrix> read_matrix(const std::string& text);
bool same_shape(const Matrix* a, const Matrix* b);

/// The matrices that a problem is given by, by their names in files; null where it has none.
struct Given {
    const char* name;
    Matrix* (*of)(Problem&);
};
std::span<const Given> given();
const Matrix* matrix(const Given& one, const Problem& p);
/// Makes room for a matrix that is written out.
Matrix* make(const Given& one, Problem& p);

/// "q.0.2:1.5": elements that differ from those of the example.
std::string changed_elements(const Problem& p, const Problem& base);
/// False if there is no such element.
bool set_element(Problem& p, const std::string& text);

// ---- Keys

/// A key of a link: what it says of a place (nothing where that is what its base has), and how it is read. A
/// value that is read wrongly leaves false.
struct Key {
    const char* name;
    const char* expected;
    std::function<std::optional<std::string>(const LinkedPlace& of, const LinkedPlace& base)> write;
    std::function<bool(LinkedPlace& into, const std::string& value)> read;
};
/// In the order in which they are written and read; the base of the problem, "example" or "random", comes
/// first.
const std::vector<Key>& keys();

}  // namespace tilewalk::linked
