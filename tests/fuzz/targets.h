// What takes a stranger's bytes, for the fuzzer (./fuzz.sh) and for the test that replays what it found.
#pragma once

#include "app/io/text.h"
#include "core/base/result.h"

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

// What is refused is refused with a sentence on one line, in letters that a terminal can show.
template <class T> bool taken(const Result<T>& result) {
    if (result) return true;
    expect(!result.error.empty(), "a refusal has a sentence");
    expect(result.error.find('\n') == std::string::npos, "a sentence is one line");
    expect(is_utf8(result.error), "a sentence is UTF-8");
    return false;
}

struct Target {
    const char* name;
    const char* what;                      ///< that takes the bytes, and what must hold
    void (*take)(std::string_view bytes);  ///< throws if something does not hold
    const char* files;               ///< examples of the repository to begin with: "assets/examples/*.json"
    std::size_t longest;             ///< bytes of an input that are worth trying
    std::vector<const char*> words;  ///< its language, for the fuzzer's dictionary
};
std::span<const Target>
reader_targets();  ///< readers.cpp: a program without the interface, which is fed faster
std::span<const Target> program_targets();  ///< what needs the interface
std::vector<Target> targets();              ///< all of them

/// Keys and mouse on the whole interface, two bytes an event (interface.cpp).
void take_events(std::string_view bytes);

/// Inputs that are kept, one on each line of corpus/NAME.txt: what does not print is \n, \\ or \xHH.
std::vector<std::string> inputs_of(const std::string& file);

}  // namespace tilewalk::fuzz
