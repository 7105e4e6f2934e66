// A value, or one sentence that says why there is none. User mistakes travel this way; bugs assert.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tilewalk {

/// The sentence of a user mistake: what is wrong, where, and what was expected.
struct Failure {
    std::string sentence;
};

template <class T> struct Result {
    std::optional<T> value;
    std::string error;  ///< empty when there is a value

    Result(T v) : value(std::move(v)) {}
    Result(Failure f) : error(std::move(f.sentence)) {}

    explicit operator bool() const { return value.has_value(); }
    T& operator*() { return *value; }
    const T& operator*() const { return *value; }
    T* operator->() { return &*value; }
    const T* operator->() const { return &*value; }
};

/// Of what only has to be done.
template <> struct Result<void> {
    bool done = true;
    std::string error;  ///< empty when it is done

    Result() = default;
    Result(Failure f) : done(false), error(std::move(f.sentence)) {}

    explicit operator bool() const { return done; }
};

}  // namespace tilewalk
