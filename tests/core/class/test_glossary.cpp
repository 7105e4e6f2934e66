// Every symbol that is shown has a card, and every card says what, in words, and where it is defined.
#include "core/class/glossary.h"
#include "core/lessons/softmax/softmax.h"
#include "core/lessons/table.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <algorithm>
#include <cctype>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

// The worked sizes with everything that adds symbols: words, masks, weights, every choice of letters.
std::vector<Problem> problems() {
    std::vector<Problem> out;
    for (const Notation letters : {Notation::d_o, Notation::delta_omega, Notation::l_O})
        for (const bool normalised : {true, false}) {
            Problem p = *random_problem(4, 2, 5);
            p.options.notation = letters;
            p.options.normalised = normalised;
            p.causal = normalised;
            p.scale.kind = Scale::Kind::sqrt;
            p.options.order = normalised ? BackwardOrder::key_outer : BackwardOrder::query_outer;
            out.push_back(p);
        }
    return out;
}

template <class Use> void each_walk(const Use& use) {
    for (const Problem& problem : problems())
        for (const Lesson& lesson : lessons())
            if (!refuse(lesson, problem)) use(*walk_of(lesson, problem));
}

// The letters of a line, without indices: "m", "P̃", "dV".
void collect_symbols(const Line& line, std::set<std::string>& out) {
    for (const Span& span : line)
        if (span.face == Span::Face::symbol && span.script == Span::Script::base)
            out.insert(span.text + (span.tilde ? "\u0303" : ""));
}

bool has_card(const std::string& letter) {
    return std::ranges::any_of(glossary(), [&](const GlossaryCard& card) {
        std::set<std::string> base;
        collect_symbols(symbol_of(card), base);
        return base.contains(letter);
    });
}

std::string first_of(std::string_view word) {
    const auto found = search_glossary(word);
    return found.empty() ? "" : found.front()->id;
}

}  // namespace

TEST_SUITE("glossary") {
    TEST_CASE("every card is complete and says things once") {
        std::set<std::string> ids, terms;
        CHECK(glossary().size() >= 80);
        for (const GlossaryCard& card : glossary()) {
            CAPTURE(card.id);
            CHECK(ids.insert(card.id).second);
            CHECK(terms.insert(card.term).second);
            const std::string text = card.text, source = card.from.source;
            CHECK(text.size() > 40);
            CHECK(text.size() < 260);
            CHECK(text.back() == '.');
            CHECK(std::string(card.from.place).size() > 2);
            // A year, so that the source can be looked for; the manuals of a maker have none.
            const bool dated =
                std::any_of(source.begin(), source.end(), [](unsigned char c) { return std::isdigit(c); });
            CHECK((dated || source.find("NVIDIA") == 0));
        }
    }

    TEST_CASE("related cards exist, and none is its own relation") {
        for (const GlossaryCard& card : glossary()) {
            CAPTURE(card.id);
            CHECK_FALSE(card.related.empty());
            std::set<std::string> once;
            for (const char* id : card.related) {
                CAPTURE(id);
                CHECK(find_card(id));
                CHECK(std::string(id) != card.id);
                CHECK(once.insert(id).second);
            }
        }
    }

    TEST_CASE("every slot has one card") {
        for (int n = 0; n < slot_count; ++n) {
            const auto slot = static_cast<Slot>(n);
            CAPTURE(info(slot).name);
            int cards = 0;
            for (const GlossaryCard& card : glossary())
                cards += static_cast<int>(std::count(card.slots.begin(), card.slots.end(), slot));
            CHECK(cards == 1);
            const GlossaryCard* card = card_of(slot);
            REQUIRE(card);
            CHECK(plain(symbol_of(*card)).rfind(info(slot).symbol, 0) == 0);
        }
        CHECK_FALSE(find_card("no such card"));
    }

    TEST_CASE("every symbol of every explanation has a card") {
        std::set<std::string> shown;
        each_walk([&](const Trace& trace) {
            for (int k = 0; k < trace.size(); ++k) {
                const Explanation e = explain(trace, k);
                for (const Line* line : std::initializer_list<const Line*>{&e.formula, &e.numbers, &e.result})
                    collect_symbols(*line, shown);
                for (const Aside& aside : e.asides) collect_symbols(aside.formula, shown);
                collect_symbols(step_symbol(trace.step(k).op), shown);
            }
        });
        CHECK(shown.size() > 25);
        for (const std::string& letter : shown) CHECK_MESSAGE(has_card(letter), letter);
    }

    TEST_CASE("every step leads to the card of what it is about") {
        each_walk([](const Trace& trace) {
            for (int k = 0; k < trace.size(); ++k) {
                const GlossaryCard* card = card_of_step(trace, k);
                CAPTURE(trace.lesson().id);
                CAPTURE(name(trace.step(k).op));
                REQUIRE(card);
                if (card_of(trace.step(k).op) || trace.lesson().one_row) continue;
                const Slot about = explain(trace, k).target.slot;
                CHECK(std::count(card->slots.begin(), card->slots.end(), about) == 1);
            }
        });
        const auto trace = walk_of(default_lesson(), problems().front());
        const auto step_of = [&](Op op) {
            return std::string(card_of_step(*trace, nth_step(*trace, op))->id);
        };
        CHECK(step_of(Op::correction) == "correction");
        CHECK(step_of(Op::row_sum) == "running-sum");
        CHECK(step_of(Op::mask) == "mask");
        CHECK(step_of(Op::skip) == "skipped-tile");
    }

    TEST_CASE("the softmax lessons lead to the letters that they write") {
        for (const Problem& problem : problems())
            for (const char* id : {"softmax-dense", "softmax-3pass", "softmax-2pass", "softmax-1pass"}) {
                const auto trace = walk_of(id, problem);
                const SoftmaxLetters letters = softmax_letters(problem, softmax_form(*trace));
                const std::string out = letters.out + std::string(letters.tilde ? "\u0303" : "");
                for (const auto& [op, expected] :
                     {std::pair{Op::row_sum, std::string(letters.sum)}, {Op::output, out}})
                    for (const int k : steps_of(*trace, op)) {
                        std::set<std::string> letter;
                        collect_symbols(symbol_of(*card_of_step(*trace, k)), letter);
                        CAPTURE(id);
                        CHECK(letter == std::set<std::string>{expected});
                    }
            }
    }

    TEST_CASE("the terms that are asked for are found") {
        const std::pair<const char*, const char*> wanted[] = {{"alpha", "correction"},
                                                              {"α", "correction"},
                                                              {"LSE", "log-sum-exp"},
                                                              {"D", "row-dot"},
                                                              {"dS", "score-gradient"},
                                                              {"ℓ", "running-sum"},
                                                              {"m", "running-max"},
                                                              {"m\u0303", "tile-max"},
                                                              {"P\u0303", "unnormalised-weights"},
                                                              {"P", "weights"},
                                                              {"GQA", "kv-heads"},
                                                              {"Br", "block-rows"},
                                                              {"Bc", "block-columns"},
                                                              {"Tr", "query-blocks"},
                                                              {"Tc", "key-blocks"},
                                                              {"N", "sequence-length"},
                                                              {"HBM", "hbm"},
                                                              {"sram", "sram"},
                                                              {"ULP", "ulp"},
                                                              {"half", "fp16"},
                                                              {"bf16", "bf16"},
                                                              {"tf32", "tf32"},
                                                              {"e4m3", "e4m3"},
                                                              {"roofline", "roofline"},
                                                              {"FLOPs", "flops"},
                                                              {"arith", "arithmetic-intensity"},
                                                              {"safe", "safe-softmax"},
                                                              {"online", "online-softmax"},
                                                              {"recomp", "recomputation"},
                                                              {"rescaling", "rescaling"},
                                                              {"causal", "causal-mask"},
                                                              {"window", "window"},
                                                              {"warp", "warp"},
                                                              {"split", "split-kv"},
                                                              {"tensor core", "tensor-core"},
                                                              {"d′", "sum-d-prime"},
                                                              {"o′", "output-o-prime"},
                                                              {"δ", "sum-delta"},
                                                              {"ω", "output-omega"},
                                                              {"W_Q", "query-projection"},
                                                              {"scale", "scale"},
                                                              {"tile", "tile"},
                                                              {"η", "learning-rate"}};
        for (const auto& want : wanted)
            CHECK_MESSAGE(first_of(want.first) == want.second, want.first, " gives ", first_of(want.first));
        CHECK(search_glossary("").size() == glossary().size());
        CHECK(search_glossary("zzz").empty());
        CHECK(search_glossary("Milakov").size() >= 4);
    }
}
