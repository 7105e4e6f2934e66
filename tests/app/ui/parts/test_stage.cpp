// The stage of presenter mode: what stands there at each step of each lesson.
#include "app/ui/parts/stage.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

std::string line_of(const std::vector<StageTerm>& terms) {
    std::string out;
    for (const StageTerm& t : terms) {
        out += t.result ? std::string(" → ") : std::string(*t.before ? " " : "") + t.before + " ";
        out += info(t.slot).name + std::string(t.transposed ? "ᵀ" : "") + (t.old ? " old" : "") + t.after;
    }
    return out;
}

}  // namespace

TEST_CASE("stage: a computing step shows all that it reads, what it writes, and what was there before") {
    for (const char* name : {"worked-4x4", "ragged-7x5", "causal-8"})
        for (const Lesson& lesson : lessons()) {
            if (lesson.picture == Picture::softmax) continue;  // one row, with a stage of its own
            const auto trace = build_trace(lesson, example(name));
            if (!trace) continue;
            for (int k = 0; k < (*trace)->size(); ++k) {
                const Trace& t = **trace;
                if (info(t.step(k).op).kind != OpKind::compute) continue;
                const std::vector<StageTerm> terms = stage_terms(t, k);
                INFO(std::string(lesson.id), " ", std::string(name), " step ", k + 1, ":", line_of(terms));
                // Each value that was read stands there once: no form of an op is missing.
                std::vector<const Value*> read, shown;
                for (const Access& a : t.reads(k)) read.push_back(&t.value(a.value));
                for (const StageTerm& term : terms)
                    if (!term.result) shown.push_back(term.value);
                std::ranges::sort(read);
                std::ranges::sort(shown);
                CHECK(read == shown);
                const auto results = std::ranges::count_if(terms, &StageTerm::result);
                CHECK(results >= 1);
                // Operands before results; what is replaced is called old, and nothing else is.
                CHECK(std::ranges::is_sorted(terms, {}, &StageTerm::result));
                for (const StageTerm& term : terms) {
                    const Held now = t.live(term.slot, k);
                    if (term.result || t.tiles(term.slot) > 1) continue;
                    CHECK(term.old == (now.value != term.value));
                }
            }
        }
}

TEST_CASE("stage: the equations of the tiled forward pass") {
    const auto trace = build_trace(*find_lesson("flash-forward"), example("worked-4x4"));
    REQUIRE(trace);
    const std::pair<int, const char*> wanted[] = {{11, " Qi · Kjᵀ → S"},
                                                  {13, " max( m old , m_tile) → m"},
                                                  {14, " exp( m old − m) → alpha"},
                                                  {16, " alpha ⊙ l old + rowsum( P) → l"},
                                                  {17, " alpha ⊙ Oi old + P · Vj → Oi"},
                                                  {18, " Oi old ⊘ l → Oi"},
                                                  {19, " Oi , m + ln l → L"}};
    for (const auto& [k, line] : wanted) CHECK(line_of(stage_terms(**trace, k)) == line);
}
