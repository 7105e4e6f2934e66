// Loops that would take minutes: the ordinary run takes a part of their rounds, tests/nightly.sh all of them.
#pragma once

#include <cstdlib>
#include <random>
#include <string_view>

namespace tilewalk::test {

/// Of every `of` rounds in a row one is taken, which TILEWALK_SEED draws (1 where it is not set); all of them
/// where the switch is "all": TILEWALK_KERNELS for runs of kernels, TILEWALK_LAYOUT for looks at pages,
/// TILEWALK_FAULTS for faults that are injected, TILEWALK_QUESTIONS for questions.
class Part {
public:
    Part(const char* name_of_switch, unsigned of) : of_(of) {
        const char *const wish = std::getenv(name_of_switch), *const seed = std::getenv("TILEWALK_SEED");
        if (wish && std::string_view(wish) == "all") of_ = 1;
        random_.seed(seed ? std::strtoull(seed, nullptr, 10) : 1);
    }
    bool whole() const { return of_ == 1; }
    /// Whether the round that begins now is one of the part.
    bool takes() {
        if (round_ == 0) drawn_ = static_cast<unsigned>(random_() % of_);
        const bool taken = round_ == drawn_;
        round_ = (round_ + 1) % of_;
        return taken;
    }

private:
    unsigned of_, round_ = 0, drawn_ = 0;
    std::mt19937_64 random_;
};

}  // namespace tilewalk::test
