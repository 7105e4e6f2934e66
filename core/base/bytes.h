// Values as bytes and back, for another process or a worker of this program on the same machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilewalk {

template <class T>
concept PlainBytes = std::is_trivially_copyable_v<T>;

/// Writes into a Sink: a stream, or BytesOfString. What is neither plain, nor a text, nor a list has a
/// function fields(way, x) beside it.
template <class Sink> struct BytesOut {
    Sink& to;

    template <PlainBytes T> void take(const T& x) {
        to.write(reinterpret_cast<const char*>(&x), static_cast<std::ptrdiff_t>(sizeof x));
    }
    void take(const std::string& text) {
        take(static_cast<std::uint64_t>(text.size()));
        to.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
    }
    template <class T> void take(const std::vector<T>& all) {
        take(static_cast<std::uint64_t>(all.size()));
        if constexpr (PlainBytes<T>)
            to.write(reinterpret_cast<const char*>(all.data()),
                     static_cast<std::ptrdiff_t>(all.size() * sizeof(T)));
        else
            for (const T& one : all)
                if constexpr (requires { take(one); })
                    take(one);
                else
                    fields(*this, one);
    }
};

struct BytesOfString {
    std::string all;
    void write(const char* from, std::ptrdiff_t count) { all.append(from, static_cast<std::size_t>(count)); }
};

/// Takes what it finds as long as there is enough of it.
struct BytesIn {
    std::string_view left;
    bool whole = true;

    void bytes(void* to, std::uint64_t count) {
        whole = whole && count <= left.size();
        if (!whole || count == 0) return;
        std::memcpy(to, left.data(), static_cast<std::size_t>(count));
        left.remove_prefix(static_cast<std::size_t>(count));
    }
    std::size_t size(std::size_t of_each) {
        std::uint64_t n = 0;
        take(n);
        whole = whole && n <= left.size() / of_each;
        return whole ? static_cast<std::size_t>(n) : 0;
    }
    template <PlainBytes T> void take(T& x) { bytes(&x, sizeof x); }
    void take(bool& x) {
        std::uint8_t byte = 0;
        take(byte);
        x = byte != 0;
    }
    void take(std::string& text) {
        text.resize(size(1));
        bytes(text.data(), text.size());
    }
    template <class T> void take(std::vector<T>& all) {
        all.resize(size(PlainBytes<T> ? sizeof(T) : 1));
        if constexpr (PlainBytes<T>)
            bytes(all.data(), all.size() * sizeof(T));
        else
            for (T& one : all)
                if constexpr (requires { take(one); })
                    take(one);
                else
                    fields(*this, one);
    }
};

template <class Way, class... Fields> void take_all(Way& way, Fields&... all) { (way.take(all), ...); }

}  // namespace tilewalk
