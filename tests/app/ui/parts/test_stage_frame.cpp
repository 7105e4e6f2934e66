// The frame of the stage: before, operation and after at every step of every lesson, each where it belongs.
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/parts/stage_frame.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"
#include "tests/app/ui/covered.h"
#include "tests/app/ui/layout_check.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <tuple>

using namespace tilewalk::test;

namespace {

// Texts of just these words, in the size of captions: not within a sentence.
std::vector<Item> words_on_stage(const Program& program, const std::string& words) {
    std::vector<Item> out;
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text && item.text == words && item.panel != "Lens") out.push_back(item);
    return out;
}

// A table has both in one: "before → after".
bool told_in_one(const Program& program) {
    const Picture picture = program.state.lesson->picture;
    const Op op = op_now(program.state);
    const bool parts =
        picture == Picture::merge || picture == Picture::split_kv || picture == Picture::cascade;
    return picture == Picture::softmax || (parts && !words_on_stage(program, words_of_table(op)).empty());
}

bool overlap(const Item& a, const Item& b) {
    return a.min.x < b.max.x - 1 && b.min.x < a.max.x - 1 && a.min.y < b.max.y - 1 && b.min.y < a.max.y - 1;
}

// Each form of each op once.
std::vector<int> forms_of(const Trace& trace) {
    std::set<std::tuple<Op, std::size_t>> seen;
    std::vector<int> out;
    for (int k = 0; k < trace.size(); ++k)
        if (seen.insert({trace.step(k).op, trace.reads(k).size()}).second) out.push_back(k);
    return out;
}

void check_words(const Program& program) {
    const FrameWords& frame = frame_words(op_now(program.state));
    INFO(program.where());
    const auto operations = words_on_stage(program, frame.operation);
    if (op_now(program.state) == Op::skip) {
        CHECK(operations.size() == 1);
        return;
    }
    if (told_in_one(program)) {
        const bool softmax = program.state.lesson->picture == Picture::softmax;
        CHECK(words_on_stage(program, words_of_table(frame.op)).size() == 1);
        CHECK(words_on_stage(program, softmax ? word_of_drawing(frame.op) : frame.operation).size() == 1);
        return;
    }
    const bool exchange = frame.op == Op::exchange || frame.op == Op::exchange_gradients;
    if (exchange) {
        CHECK(program.shows(std::string(frame.before) + " → " + frame.operation));
        CHECK(words_on_stage(program, frame.after).size() == 1);
        return;
    }
    const bool starts =
        info(frame.op).kind == OpKind::start && program.state.trace->reads(program.step()).empty();
    const auto before = words_on_stage(program, frame.before + std::string(starts ? ": nothing" : "")),
               after = words_on_stage(program, frame.after);
    CHECK(operations.size() == 1);
    CHECK(before.size() == 1);
    CHECK(after.size() == 1);
    if (operations.size() + before.size() + after.size() != 3) return;
    // From left to right or from top to bottom; HBM, where a store goes to, may stand on either side.
    if (!is_store(frame.op))
        CHECK((before.front().min.x < after.front().min.x || before.front().max.y <= after.front().min.y));
    for (const Item* word : {&before.front(), &operations.front(), &after.front()})
        for (const Item& other : program.items()) {
            if (other.kind != ItemKind::text || other.text == word->text) continue;
            INFO(word->text, " over ", other.text);
            CHECK_FALSE(overlap(*word, other));
        }
}

}  // namespace

TEST_CASE("stage frame: every step of every lesson is told as before, operation and after") {
    for (const Problem& problem :
         {example("worked-4x4"), example("causal-8"), random_with_tiles(64, 64, 16, 16)}) {
        Program program(problem, {1280, 720}, true);
        for (const Lesson& lesson : lessons()) {
            if (!build_trace(lesson, problem)) continue;
            program.show_lesson(lesson.id);
            for (const int k : forms_of(*program.state.trace)) {
                program.go_to_step(k, 2);
                check_words(program);
            }
        }
    }
}
