#include "app/io/text.h"

#include "tests/contains.h"

using namespace tilewalk::test;

TEST_CASE("text: characters that would act on the terminal or the window are replaced") {
    CHECK(without_controls("a\nb\tc\x1b[31m\x7f") == "a b c [31m ");
    CHECK(without_controls("C1 \u0085\u009b, bidi \u202e\u2066\u2069\u200f\u061c, line \u2028") ==
          "C1   , bidi      , line  ");
    CHECK(without_controls("a\nb", '?') == "a?b");
    const std::string kept = "\u00a0 é α − Q₀ → ✓ \u200b \U0001F600";
    CHECK(without_controls(kept) == kept);
    CHECK(without_controls("broken \xe2\x80 end \xff") == "broken \xe2\x80 end \xff");
    CHECK(in_quotes("\u202ex\U0001F600\xff") == "\"?x\U0001F600?\"");
}

TEST_CASE("text: what was meant is told where one name alone is near, and no other model of a chip") {
    const std::vector<std::string> cards = {"h100", "h200", "rtx-4090", "a100"};
    CHECK(nearest("h20", cards).empty());  // a card that is sold, and not a word that is not finished
    CHECK(nearest("h300", cards).empty());
    CHECK(nearest("rtx", cards) == "rtx-4090");
    CHECK(nearest("rtx-409", cards).empty());
    CHECK(nearest("H100", cards) == "h100");
    const std::vector<std::string> names = {"flash-forward", "f5-flash2", "step", "-x", "12"};
    CHECK(nearest("step", names) == "step");
    CHECK(nearest("f5", names) == "f5-flash2");
    CHECK(nearest("flash-foward", names) == "flash-forward");
    CHECK(nearest("1", names).empty());
    CHECK(nearest("--", names).empty());
    CHECK(nearest("12.5", names).empty());
    CHECK(nearest(std::string(65, 's'), names).empty());
}

TEST_CASE("text: long paths keep their beginning and their end") {
    const std::string usual(200, 'x');
    CHECK(short_path(usual) == usual);
    const std::string path = "/beg" + repeated("/é", 2000);
    const std::string shown = short_path(path + "/end.json5");
    CHECK(shown.size() <= 210);
    CHECK(shown.starts_with("/beg/é"));
    CHECK(shown.ends_with("/é/end.json5"));
    CHECK(contains(shown, "…"));
    // No character is cut in two.
    const std::size_t gap = shown.find("…");
    CHECK((shown.substr(0, gap).ends_with("é") || shown.substr(0, gap).ends_with("/")));
    CHECK((shown.substr(gap + 3).starts_with("é") || shown.substr(gap + 3).starts_with("/")));
    CHECK(failure_at(path, "no").sentence.size() < 220);
}
