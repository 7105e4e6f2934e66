#include "tests/app/cli/run.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace tilewalk::test {

std::string output_of(const std::vector<std::string>& words) {
    const Ran ran = run(words);
    CHECK_MESSAGE(ran.code == 0, ran.err);
    CHECK(ran.err == "");
    return ran.out;
}

WindowRunner looking(const std::function<void(ui::AppState&)>& look) {
    return [look](ui::AppState& state, const WindowOptions&) {
        look(state);
        return 0;
    };
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

namespace {

bool is_one_sentence(const std::string& err) {
    if (!err.starts_with("tilewalk: ") || err.back() != '\n') return false;
    const std::string text = err.substr(0, err.size() - 1);
    const bool one_line =
        std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    const bool ends = text.ends_with('.') || text.ends_with('?') || text.ends_with("…");
    return one_line && text.size() > 20 && ends;
}

}  // namespace

void check_refused(const std::vector<Refused>& cases, const std::vector<std::string>& before) {
    for (const auto& [words, part] : cases) {
        std::string shown;
        for (const std::string& word : words) shown += " " + word.substr(0, 60);
        CAPTURE(shown);
        const Ran ran = run(with(before, words));
        CAPTURE(ran.err);
        CHECK(ran.code == 2);
        CHECK(ran.out.empty());
        CHECK(is_one_sentence(ran.err));
        CHECK(contains(ran.err, part));
    }
}

}  // namespace tilewalk::test
