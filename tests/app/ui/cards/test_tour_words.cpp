// The words of the program's own tour: each term is explained no later than it is used, and the numbers that
// are written in them stand in the picture of their stop.
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/io/tour_file.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/class/tour.h"
#include "tests/app/ui/layout_check.h"
#include "tests/core/steps.h"
#include "tests/good.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

// A term, and in which words the tour says what it is.
struct Term {
    const char *term, *told;
};
constexpr Term terms[] = {
    {"query", "its query, what it looks for"},
    {"key", "in K, its key, what it offers"},
    {"value", "in V (at stop 7), its value, what it passes on"},
    {"d", "has a row of d = 4 numbers"},
    {"HBM", "from the memory of the GPU, called HBM"},
    {"SRAM", "has fast SRAM"},
    {"tile", "one tile of S at a time"},
    {"fp16", "fp16: floating point, 16 bits"},
    {"fp32", "4 (fp32)"},
    {"kernel", "A kernel, one program on the GPU"},
    {"score", "add up: their score"},
    {"scores", "add up: their score"},
    {"zeros", "an O full of zeros"},
    {"scale", "New, too: scale. Scores sum d products"},
    {"FlashAttention-2", "FlashAttention-2 in one kernel"},
    {"heads", "heads (attentions side by side)"},
    {"NaN", "no number (NaN)"},
    {"α", "α = exp("},
    {"causal", "A causal mask lets a query see only itself and what came before"},
    {"roofline", "A roofline, an upper bound"},
    {"FLOP", "operations (FLOP: × or +)"},
    {"TFLOP", "TFLOP: 10¹²"},
    {"loss", "the loss (one number: how wrong the model is)"},
    {"gradient", "A gradient, with a d in front"},
    {"dO", "dO comes from what O goes into"},
    {"dP", "dP[0,2] = 7 is V[2] times dO[0], number by number"},
    {"D", "times D, the mean of dP, weighted with P"},
    {"compete", "the weights compete"},
    {"W", "What a model learns are matrices W"},
    {"X", "of the words' rows X"},
    {"η", "η = 0.1, the learning rate"},
    {"downhill", "takes a step downhill, against its gradient"},
    {"bf16", "bf16 (2 bytes, 2 or 3 digits)"},
    {"verdict", "The verdict: 0.00236 ÷ standard's"},
    {"emulator", "emulated: the CPU plays the GPU"},
    {"fp64", "from fp64 (8-byte numbers)"},
    {"ULP", "ULP: one unit in a number's last place"},
    {"row 7", "Row 7, made 5 % too large"},
    {"5 %", "Row 7, made 5 % too large"},
    {"lanes", "lanes (threads)"},
    {"warp", "run as one warp"},
    {"block of warps", "Four warps are a block"},
    {"slot", "a slot one instruction"},
    {"barrier", "they wait at a barrier"},
    {"tensor core", "A tensor core multiplies"},
    {"mma", "in one instruction, mma"},
    {"registers", "registers for what it computes"},
    {"fragment", "a few in each, its fragment"},
    {"cp.async", "copies from HBM (cp.async)"},
    {"shared memory", "shared memory, the block's SRAM"},
    {"issued", "A bar goes from issued, by the lanes"},
    {"committed", "committed as a group"},
    {"banks", "32 banks, each hands out a word"},
    {"ldmatrix", "The load, ldmatrix: each lane names a chunk"},
    {"swizzle", "the swizzle moves the chunks"},
    {"chunks", "the chunks (16 bytes) of each row"},
    {"XOR", "XOR is 1 in each bit in which two numbers differ"},
    {"race", "read key 44 (ldmatrix): a race"},
    {"w", "by an α each, here called w"},
    {"chain", "keys merged one after the other (chain)"},
    {"decoding", "A model that writes (decoding)"},
    {"SMs", "each processor (SM)"},
    {"SM", "each processor (SM)"},
    {"batch", "the batch, the number of texts that it computes at once"},
    {"system prompt", "begin with the same keys, a system prompt"},
    {"prefix", "that prefix is read once for all"},
    {"ranks", "ranks (machines)"},
    {"zig-zag", "zig-zag pairs an early with a late row"},
    {"KV cache", "the KV cache"},
    {"grouped", "grouped heads share"},
    {"tokens", "tokens, words or parts of them"},
    {"sink", "A sink is one more score that every query sees"},
};

bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || (static_cast<unsigned char>(c) & 0x80) != 0;
}

// As a whole word: "SM" is not in "softmax"; of what a number or a sign ends, its end.
bool has_word(const std::string& text, const std::string& word) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || !is_letter(text[at - 1]),
                   ends = end == text.size() || !is_letter(text[end]) || !is_letter(word.back());
        if (begins && ends) return true;
    }
    return false;
}

std::string plain_spaces(std::string text) {
    for (std::size_t at; (at = text.find("\u00A0")) != std::string::npos;)
        text.replace(at, std::string_view("\u00A0").size(), " ");
    return text;
}

// What a stop says, with its numbers, and with its heading.
std::string words_of(const TourStop& stop) {
    std::string words = stop.heading;
    for (const Line& line : filled_text(stop, *walk_of(*stop.lesson, *stop.problem)))
        words += "\n" + plain(line);
    return plain_spaces(words);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "1.368", "7.204": those with decimals.
void add_decimals(std::set<std::string>& out, const std::string& text) {
    for (std::size_t n = 0; n < text.size();) {
        if (!is_digit(text[n])) {
            ++n;
            continue;
        }
        std::size_t end = n;
        while (end < text.size() && (is_digit(text[end]) ||
                                     (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1]))))
            ++end;
        const std::string number = text.substr(n, end - n);
        if (number.find('.') != std::string::npos) out.insert(number);
        n = end;
    }
}

// What a frame shows beside the card of the tour.
std::set<std::string> decimals_beside_card(const Program& p) {
    std::set<std::string> out;
    for (const Item& item : p.items())
        if (item.kind == ItemKind::text && !item.panel.starts_with("Tour")) add_decimals(out, item.text);
    return out;
}

// Numbers that a stop speaks of and that are not in its picture, with the reason;
// tests/app/io/test_tour_file.cpp and test_tour.cpp hold them against what they are said to be.
struct Elsewhere {
    const char *heading, *number, *why;
};
constexpr Elsewhere elsewhere[] = {
    {"ℓ, and the weights", "0.610", "a weight, one step later"},
    {"ℓ and O, not yet divided", "0.368", "0.3679 there"},
    {"ℓ and O, not yet divided", "1.368", "ℓ, one step before"},
    {"Step 17: 0.368 of the old sum stays", "2.718", "exp(1)"},
    {"Step 17: 0.368 of the old sum stays", "2.839", "O, seven steps before"},
    {"Step 17: 0.368 of the old sum stays", "11.804", "O, one step later"},
    {"Why any split gives the same", "2.839", "the old O, before its α"},
    {"Why any split gives the same", "10.759", "what the second tile adds"},
    {"D: what the row gives up", "4.27", "a weight times its dP"},
    {"D: what the row gives up", "0.91", "a weight times its dP"},
    {"A mask skips whole tiles", "0.5", "the scale, with which the scores were made"},
    {"And O is wrong without a warning", "11.804", "of the walk without the fault"},
    {"The height of a tile decides", "0.67", "of version 1 and of the small example"},
    {"Backward: what comes in", "0.1", "a change that is not made"},
    {"Backward: what comes in", "0.7", "what it would do"},
    {"Version 1: loops swapped", "2.839", "O at stop 15, not yet divided"},
    {"The others pay: weights compete", "0.1", "of the rule that is held against what happened"},
    {"The others pay: weights compete", "0.014", "by that rule"},
    {"The others pay: weights compete", "0.017", "by that rule"},
    {"Why up to twice as far?", "1.041", "the largest output"},
    {"Why up to twice as far?", "0.032", "4 % of the cell"},
    {"Why up to twice as far?", "0.038", "what 3 × would allow"},
    {"Why up to twice as far?", "1.15", "of a right kernel on other numbers"},
    {"Why up to twice as far?", "1.12", "what one time standard's error and the roundings allow there"},
    {"The same, but for the last digits", "9.875", "9.87500 there, with digits set apart"},
    {"The same, but for the last digits", "9.9375", "9.93750 there, with digits set apart"},
    {"The same, but for the last digits", "9.882", "9.88236618 there"},
    {"A prompt that all share", "1.94", "bytes of the whole walk"},
    {"A prompt that all share", "2.19", "bytes of the lesson that it is held against"},
    {"A sink: attention to nothing", "0.076", "a share of the sum"},
    {"A sink: attention to nothing", "0.135", "a part of the sum"},
    {"A sink: attention to nothing", "1.639", "the rest of the sum"},
};

}  // namespace

TEST_CASE("tour words: no term is used before it is explained") {
    const TourScript tour = good(load_tour(default_tour, tour_names()));
    std::vector<std::string> words;
    for (const TourStop& stop : tour.stops) words.push_back(words_of(stop));
    const auto first_with = [&](const auto& has) { return std::ranges::find_if(words, has) - words.begin(); };
    for (const Term& one : terms) {
        const auto told = first_with([&](const std::string& text) { return contains(text, one.told); });
        const auto used = first_with([&](const std::string& text) { return has_word(text, one.term); });
        CAPTURE(std::string(one.term));
        CHECK_MESSAGE(told < std::ssize(words), (std::string("nowhere: ") + one.told));
        CHECK_MESSAGE(told <= used, "used in stop ", used + 1, ", explained in stop ", told + 1);
    }
    CHECK(has_word("an SM,", "SM"));
    CHECK_FALSE(has_word("SMs and softmax", "SM"));
}

TEST_CASE("tour words: every number with decimals stands on stage at its stop, or is told why not") {
    Program p(example("worked-4x4"), {1280, 720}, true);
    p.press(Key::u);
    std::set<std::pair<std::string, std::string>> missing;
    for (int n = 0; n < p.state.tour->stops(); ++n) {
        settle_at_stop(p.state, n);
        p.frame(3);
        const TourStop& stop = p.state.tour->stop();
        std::set<std::string> said;
        add_decimals(said, words_of(stop));
        const std::set<std::string> shown = decimals_beside_card(p);
        const auto told_why = [](const std::string& heading, const std::string& number) {
            return std::ranges::any_of(elsewhere, [&](const Elsewhere& one) {
                return one.heading == heading && one.number == number;
            });
        };
        // A formula, and what follows it, may have it with more decimals.
        const auto finer = [&](const std::string& number) {
            return std::ranges::any_of(shown, [&](const std::string& one) {
                const ShownNumber a = read_shown(number), b = read_shown(one);
                return b.unit < .11 * a.unit && std::abs(a.value - b.value) <= .5001 * a.unit;
            });
        };
        for (const std::string& number : said)
            if (!shown.contains(number) && (told_why(stop.heading, number) || !finer(number)))
                missing.emplace(stop.heading, number);
    }
    for (const auto& [heading, number] : missing) {
        const bool known = std::ranges::any_of(
            elsewhere, [&](const Elsewhere& one) { return one.heading == heading && one.number == number; });
        CHECK_MESSAGE(known, (heading + ": " + number));
    }
    for (const Elsewhere& one : elsewhere)
        CHECK_MESSAGE(missing.contains({one.heading, one.number}),
                      (std::string("is there: ") + one.heading + ": " + one.number));
}

TEST_CASE("tour words: no two stops have the same picture on stage") {
    Program p(example("worked-4x4"), {1280, 720}, true);
    p.press(Key::u);
    std::map<std::vector<std::string>, std::string> seen;  // what is shown beside the card: at which stop
    for (int n = 0; n < p.state.tour->stops(); ++n) {
        settle_at_stop(p.state, n);
        p.frame(3);
        std::vector<std::string> shown;
        for (const Item& item : p.items())
            if (item.kind == ItemKind::text && !item.panel.starts_with("Tour")) shown.push_back(item.text);
        const std::string& heading = p.state.tour->stop().heading;
        const auto [there, fresh] = seen.emplace(std::move(shown), heading);
        CHECK_MESSAGE(fresh, (heading + " shows what is shown at " + there->second));
    }
}
