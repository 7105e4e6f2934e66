// What was made for a key last: frame after frame asks for the same, and it is made anew only for another
// key.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace tilewalk {

/// As a key: which object it is. It does not keep the object, and none that comes later is taken for it.
template <class T> class WhichOne {
public:
    WhichOne(const std::shared_ptr<T>& object) : object_(object) {}
    friend bool operator==(const WhichOne& a, const WhichOne& b) {
        return !a.object_.owner_before(b.object_) && !b.object_.owner_before(a.object_);
    }

private:
    std::weak_ptr<T> object_;
};

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
