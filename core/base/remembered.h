// What was made for a key last: frame after frame asks for the same, and it is made anew only for another
// key.
#pragma once

#include <optional>
#include <utility>

namespace tilewalk {

/// A copy of it begins empty: what it holds belongs to whoever asks.
template <class Key, class T> class Remembered {
public:
    Remembered() = default;
    Remembered(const Remembered&) {}
    Remembered& operator=(const Remembered&) { return kept.reset(), *this; }
    ~Remembered() = default;

    template <class Make> const T& of(const Key& key, Make&& make) {
        if (!kept || !(kept->first == key)) kept.emplace(key, make());
        return kept->second;
    }

private:
    std::optional<std::pair<Key, T>> kept;
};

}  // namespace tilewalk
