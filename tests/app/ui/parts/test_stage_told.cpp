// What presenter pages tell beside their numbers: factors, names, signs at the end of a lane, what is read,
// what overflowed.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/state.h"
#include "core/problem/mask.h"
#include "tests/app/ui/layout_check.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

constexpr Screen stage_size{1280, 720};

std::vector<const Item*> texts(const Program& program, const char* panel = nullptr) {
    std::vector<const Item*> out;
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text && (!panel || item.panel == panel)) out.push_back(&item);
    return out;
}

const Item* number_in(const Program& program, const CellRef& ref, const char* panel) {
    const Item* const cell = program.look_for(cell_name(ref), panel);
    if (!cell) return nullptr;
    for (const Item* text : texts(program)) {
        const ImVec2 at = middle(*text);
        if (at.x > cell->min.x && at.x < cell->max.x && at.y > cell->min.y && at.y < cell->max.y) return text;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("stage: beside products stands the factor without which they do not come to the sum") {
    int seen = 0;
    for (const char* problem : {"window-12", "causal-8", "six-words"})
        for (const char* lesson : {"flash-forward", "flash-backward", "attention", "split-kv", "ring"})
            for (const Screen size : {stage_size, Screen{1920, 1080}}) {
                Program program(example(problem), size, true);
                program.show_lesson(lesson);
                const std::string factor = "× " + format_short(program.state.problem->softmax_scale());
                for (const int k : steps_of(*program.state.trace, Op::scores)) {
                    program.go_to_step(k, 2);
                    INFO(program.where());
                    for (const Item* text : texts(program, "Lens")) {
                        const bool total = contains(text->text, "≈") || contains(text->text, "=  ");
                        if (!total) continue;
                        ++seen;
                        CHECK_MESSAGE(contains(text->text, factor), text->text);
                    }
                }
            }
    CHECK(seen > 15);
}

TEST_CASE("stage: numbers of areas stand on their side of the mean, which is called as an entry") {
    int below = 0;
    for (const char* lesson : {"backward", "flash-backward", "training-step", "ring-backward"})
        for (const Screen size : {stage_size, Screen{1920, 1080}}) {
            Program program(example("gradients-4x4"), size, true);
            program.show_lesson(lesson);
            for (const int k : steps_of(*program.state.trace, Op::ds)) {
                program.go_to_step(k, 2);
                INFO(program.where());
                const auto list = texts(program, "Lens");
                const auto mean =
                    std::ranges::find_if(list, [](const Item* t) { return t->text.starts_with("D["); });
                if (mean == list.end()) continue;  // a row of which nothing pulls
                const Explanation& e = program.state.explanation;
                const std::string entry = plain(e.result);
                CHECK_MESSAGE(contains(entry, (*mean)->text.substr(1, (*mean)->text.find(']') - 1) + ","),
                              entry);
                for (const Item* text : list) {
                    const bool hangs = contains(text->text, "−") && !contains(text->text, "dP");
                    below += hangs;
                    if (hangs) CHECK_MESSAGE(middle(*text).y > middle(**mean).y, text->text);
                }
            }
        }
    CHECK(below > 10);
}

TEST_CASE("stage: a lane says at both ends whether it goes on, and where the walk ends") {
    Program program(example("worked-4x4"), stage_size, true);
    const auto ends = [&](const char* name) {
        std::vector<float> out;
        for (const Item& item : program.items())
            if (item.text == name) out.push_back(middle(item).x);
        return out;
    };
    program.go_to_step(0, 2);
    const int last = program.state.trace->size() - 1;
    CHECK(ends("walk ends").size() == 1);  // where it begins
    CHECK(ends("lane ends").size() + ends("lane goes on").size() == 1);
    program.go_to_step(last, 2);
    REQUIRE(ends("walk ends").size() == 1);
    CHECK(ends("walk ends").front() > 1000);
    // A lane that is too long for the page goes on.
    program.show(random_with_tiles(64, 16, 16, 4));
    program.go_to_step(60, 2);
    CHECK(ends("lane goes on").size() == 2);
}

TEST_CASE("stage: a tile that is skipped says so in its lane, and why") {
    for (const char* lesson : {"flash-forward", "flash-backward", "flash-forward-v1"}) {
        Program program(example("causal-8"), stage_size, true);
        program.show_lesson(lesson);
        for (const int k : steps_of(*program.state.trace, Op::skip)) {
            program.go_to_step(k, 2);
            INFO(program.where());
            CHECK(std::ranges::any_of(texts(program), [](const Item* text) {
                return text->min.y > 560 && contains(text->text, "skipped") && contains(text->text, "mask");
            }));
        }
    }
}

TEST_CASE("stage: marked as read is what the step reads, of x and of V") {
    for (const char* lesson : {"softmax-1pass", "softmax-2pass", "softmax-3pass", "softmax-dense"}) {
        Program program(example("worked-4x4"), stage_size, true);
        program.show_lesson(lesson);
        for (int k = 0; k < program.state.trace->size(); ++k) {
            program.go_to_step(k, 2);
            const SoftmaxWalk walk = softmax_walk(program.state);
            if (walk.element() < 1) continue;
            INFO(program.where());
            for (const Slot slot : {Slot::x, Slot::V}) {
                const Slot on_chip = slot == Slot::x ? Slot::S : Slot::Vj;
                const bool reads = std::ranges::any_of(walk.trace.reads(k), [&](const Access& a) {
                    return a.slot == slot || a.slot == on_chip;
                });
                const auto look = softmax_element(program.state, walk, slot, walk.element() - 1).look;
                CHECK((look.state == CellState::read) == reads);
            }
        }
    }
}

TEST_CASE("what overflows its format is told from what the mask hides") {
    Problem p = causal(example("worked-4x4"));
    p.Q.row(2) *= -60000, p.K *= 60000, p.scale = {Scale::Kind::none, 1};
    p.precision.scores = Format::fp16;
    Program program(p, {1920, 1080});  // on stage such a step is told by two panes
    int masked = 0, lost = 0;
    for (const int k : steps_of(*program.state.trace, Op::mask)) {
        program.go_to_step(k, 2);
        const Value& S = program.state.trace->value(program.state.trace->writes(k).front().value);
        for (int r = 0; r < S.region.rows; ++r)
            for (int c = 0; c < S.region.cols; ++c) {
                if (S.data(r, c) != -INFINITY) continue;
                const CellRef ref{Slot::S, S.region.row + r, S.region.col + c};
                const Item* const text = number_in(program, ref, "SRAM");
                if (!text) continue;
                const bool seen = visible(*program.state.problem, ref.row, ref.col);
                INFO(program.where(), " ", cell_name(ref));
                CHECK((text->bg == theme(ThemeId::dark).danger) == seen);
                ++(seen ? lost : masked);
            }
    }
    CHECK(masked > 0);
    CHECK(lost > 0);
    // In a row of softmax, too.
    program.show_lesson("softmax-1pass");
    program.frame(2);
    const SoftmaxWalk walk = softmax_walk(program.state);
    CHECK(overflowed(walk, 0, INFINITY));
    CHECK(overflowed(walk, 0, -INFINITY) == visible(p, walk.row(), 0));
    CHECK_FALSE(overflowed(walk, 3, -INFINITY));  // row 0 of a causal mask
}

TEST_CASE("stage: the strip of a worker calls what comes before and behind its blocks as others do") {
    Program program(example("worked-4x4"), stage_size, true);
    program.show_lesson("split-kv");
    program.go_to_step(1, 2);
    const auto below = [&](const char* name) {
        return std::ranges::any_of(texts(program),
                                   [&](const Item* text) { return text->min.y > 640 && text->text == name; });
    };
    CHECK(below("start"));
    CHECK(below("key block 0"));
    CHECK_FALSE(below("split A"));
    program.check_shows({"Worker 0", ", split A"});
}
