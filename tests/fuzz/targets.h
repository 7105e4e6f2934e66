// What takes a stranger's bytes, for the fuzzer (./fuzz.sh) and for the test that replays what it found.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::fuzz {

/// A promise was broken; anything else that is thrown, or a sanitizer's word, is a finding as well.
struct Broken : std::logic_error {
    using std::logic_error::logic_error;
};
inline void expect(bool holds, const char* promise) {
    if (!holds) throw Broken(promise);
}

struct Target {
    const char* name;
    const char* what;                      ///< that takes the bytes, and what must hold
    void (*take)(std::string_view bytes);  ///< throws if something does not hold
    const char* files;               ///< examples of the repository to begin with: "assets/examples/*.json"
    std::size_t longest;             ///< bytes of an input that are worth trying
    std::vector<const char*> words;  ///< its language, for the fuzzer's dictionary
};
std::span<const Target> targets();

/// Keys and mouse on the whole interface, two bytes an event (interface.cpp).
void take_events(std::string_view bytes);

/// Inputs that are kept, one on each line of corpus/NAME.txt: what does not print is \n, \\ or \xHH.
std::vector<std::string> inputs_of(const std::string& file);

}  // namespace tilewalk::fuzz
