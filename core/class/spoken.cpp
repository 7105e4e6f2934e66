#include "core/class/spoken.h"

#include "core/walk/lesson.h"

#include <algorithm>

namespace tilewalk {

namespace {

// The first sentence; a point between digits ends none.
std::string first_sentence(const std::string& text) {
    const std::size_t end = text.find(". ");
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

int letters(const std::string& text) {
    return static_cast<int>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string spoken(const Trace& trace, int k, const Explanation& e) {
    // A broken walk is told in the explanation's own words.
    const bool own_words = breaks(trace.lesson(), trace.problem()) || e.result.empty();
    std::string out = own_words ? "" : trace.lesson().say(trace, k, e);
    if (out.empty()) out = first_sentence(e.why);
    if (letters(out) > spoken_letters) out = e.title + ": " + plain(e.result) + ".";
    return out;
}

}  // namespace tilewalk
