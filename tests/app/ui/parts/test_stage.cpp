// The stage of presenter mode: what stands there at each step of each lesson.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/parts/stage_transfer.h"
#include "app/ui/parts/stage_words.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/parts.h"
#include "core/walk/printed_sum.h"
#include "core/walk/telling_row.h"
#include "tests/app/ui/covered.h"
#include "tests/app/ui/layout_check.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <set>
#include <tuple>

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

// Beyond what the stage shows whole: tiles of 16 rows, rows of 64 numbers.
Problem large() { return random_with_tiles(64, 64, 16, 16); }
// No tile is full but the first.
Problem ragged() { return causal(random_with_tiles(37, 11, 16, 10)); }

// Of a long walk: the first, the middle and the last step of each op.
std::vector<int> sample(const Trace& trace) {
    std::set<int> out;
    for (int n = 0; n < static_cast<int>(Op::count); ++n) {
        const std::vector<int> steps = steps_of(trace, static_cast<Op>(n));
        if (steps.empty()) continue;
        for (const int k : {steps.front(), steps[steps.size() / 2], steps.back()}) out.insert(k);
    }
    return {out.begin(), out.end()};
}

bool within(const Item& text, const Item& cell) {
    const ImVec2 at = middle(text);
    return at.x > cell.min.x && at.x < cell.max.x && at.y > cell.min.y && at.y < cell.max.y;
}

// How many cells of the line that the step is about stand there, and how many of them without a number.
struct Shown {
    int cells = 0, empty = 0;
};
Shown shown(const Program& program, const StageTerm& term) {
    const TermLine line = term_line(term, program.state.explanation);
    Shown out;
    for (const Item& cell : program.items()) {
        if (cell.kind != ItemKind::cell) continue;
        for (int n = 0; n < line.length(); ++n) {
            const Region at = line.part(n, 1);
            if (cell.text != cell_name({term.slot, at.row, at.col})) continue;
            ++out.cells;
            out.empty += std::ranges::none_of(program.items(), [&](const Item& text) {
                return text.kind == ItemKind::text && within(text, cell);
            });
        }
    }
    return out;
}

}  // namespace

// Parts of a row that are merged stand in a table of their own.
static bool has_table(const Trace& trace, int k) {
    return trace.lesson().uses(chooses_sequences) && is_merge(trace.step(k).op);
}

TEST_CASE("stage: a computing step shows all that it reads, what it writes, and what was there before") {
    Problem with_logits = example("causal-8");
    with_logits.name = "with softcap, slope and sink";
    with_logits.logits = {2, 0.5, 1};
    for (const Problem& problem :
         {example("worked-4x4"), example("ragged-7x5"), example("causal-8"), with_logits})
        for (const Lesson& lesson : lessons()) {
            if (lesson.one_row) continue;  // with a stage of its own
            const std::string& name = problem.name;
            const auto trace = build_trace(lesson, problem);
            if (!trace) continue;
            for (int k = 0; k < (*trace)->size(); ++k) {
                const Trace& t = **trace;
                if (info(t.step(k).op).kind != OpKind::compute || has_table(t, k)) continue;
                const std::vector<StageTerm> terms = stage_terms(t, k);
                INFO(std::string(lesson.id), " ", name, " step ", k + 1, ":", line_of(terms));
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

TEST_CASE("stage: the factor of the scores stands in the equation wherever the formula has it") {
    for (const Lesson& lesson : lessons()) {
        const auto trace = build_trace(lesson, example("window-12"));
        if (!trace || lesson.one_row) continue;
        for (int k = 0; k < (*trace)->size(); ++k) {
            const OpKind kind = info((*trace)->step(k).op).kind;
            if (kind != OpKind::compute || has_table(**trace, k)) continue;
            const std::string formula = plain(explain(**trace, k).formula),
                              line = line_of(stage_terms(**trace, k));
            INFO(std::string(lesson.id), " step ", k + 1, ": ", formula, "; ", line);
            CHECK(contains(line, "scale") == contains(formula, "scale"));
        }
    }
}

// Where a table of products has no room for the decimals with which it can be worked out, one row of it
// stands there.
static bool tells_one_row(const Program& program) {
    const auto terms = stage_terms(*program.state.trace, program.step());
    return op_now(program.state) == Op::ds && terms.front().slot == Slot::P_hbm;
}

TEST_CASE("stage: of matrices as small as these no column and no row is left out") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    at_every_step(program, example("worked-4x4"), [&] {
        const Trace& trace = *program.state.trace;
        const Picture picture = program.state.lesson->picture;
        const bool table = picture == Picture::merge || picture == Picture::split_kv;
        if (program.state.lesson->one_row || table || has_table(trace, program.step())) return;
        if (tells_one_row(program)) return;
        for (const StageTerm& term : stage_terms(trace, program.step(), program.state.explanation)) {
            if (term.old || (is_store(trace.step(program.step()).op) && !term.result)) continue;
            const Region at = term.value->region;
            INFO(program.where(), ": ", info(term.slot).name);
            for (int r = at.row; r < at.row + at.rows; ++r)
                for (int c = at.col; c < at.col + at.cols; ++c)
                    CHECK(program.look_for(cell_name({term.slot, r, c})));
        }
    });
}

TEST_CASE("stage: the title of a load has the letters of its formula") {
    for (const ShardKind shards : {ShardKind::contiguous, ShardKind::zigzag, ShardKind::striped})
        for (const char* lesson : {"ring", "ring-backward"}) {
            Problem p = random_with_tiles(16, 4, 2, 2);
            p.options.ranks = 4, p.options.shards = shards;
            const auto trace = build_trace(*find_lesson(lesson), p);
            REQUIRE(trace);
            for (int k = 0; k < (*trace)->size(); ++k) {
                const Op op = (*trace)->step(k).op;
                if (op != Op::load_q && op != Op::load_kv) continue;
                const std::string formula = plain(explain(**trace, k).formula),
                                  title = plain(moved_symbols(**trace, k));
                INFO(lesson, " step ", k + 1, ": ", title, "; ", formula);
                CHECK(formula.starts_with(title));
            }
        }
}

TEST_CASE("stage: before a step, nothing that it makes is told") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.go_to_step(17, 2);
    CHECK(program.shows("11.804"));
    program.press("b");
    program.frame(2);
    CHECK_FALSE(program.shows("11.80"));
    CHECK(program.shows("before it"));
    CHECK(program.shows("2.839"));  // what is scaled is there
    program.press("b");
    program.frame(2);
    CHECK(program.shows("11.804"));
}

TEST_CASE("stage: the answer to a question fits its cell, and the title is that of the step it is about") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.go_to_step(16, 2);
    program.press("q right 1 enter enter");
    program.frame(2);
    REQUIRE(program.shows("16.72"));
    CHECK(program.look_for("Output", "Presenter"));
    CHECK(program.look_for("O[0,3]"));
    for (const Item& text : program.items())
        for (const Item& cell : program.items()) {
            if (text.kind != ItemKind::text || cell.kind != ItemKind::cell || !within(text, cell)) continue;
            INFO(text.text, " in ", cell.text);
            CHECK(text.min.x >= cell.min.x - .5f);
            CHECK(text.max.x <= cell.max.x + .5f);
        }
}

TEST_CASE("stage: of a sum of many terms the subtotal stands there, with and without the drawing") {
    Program program(random_with_tiles(64, 64, 8, 8), {1280, 720}, true);
    const Trace& trace = *program.state.trace;
    const int sum = steps_of(trace, Op::row_sum)[1], output = steps_of(trace, Op::output)[1];
    const auto row = [&](Slot slot, int k) { return trace.live(slot, k).value->data.row(0); };
    program.go_to_step(sum, 2);
    const std::string subtotal = "8 new: " + format_short(row(Slot::P, sum).sum());
    CHECK(program.shows(subtotal));
    program.go_to_step(output, 2);
    const double added = row(Slot::P, output) * trace.live(Slot::Vj, output).value->data.col(0);
    CHECK(program.shows(format_short(added)));
    // What was there is what the slot held, not what is missing from a sum without its factor.
    program.show_lesson("flash-backward");
    const Trace& backward = *program.state.trace;
    const int grows = steps_of(backward, Op::dk)[1];
    program.go_to_step(grows, 2);
    CHECK(program.shows(format_short(backward.live(Slot::dKj, grows - 1).value->data(0, 0))));
}

TEST_CASE("stage: no file's name of a slot on the strip of steps") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    for (const Lesson& lesson : lessons()) {
        program.show_lesson(lesson.id);
        for (int k = 0; k < program.state.trace->size(); ++k) {
            program.go_to_step(k);
            for (const Item& item : program.items())
                if (item.kind == ItemKind::text) {
                    INFO(program.where(), ": ", item.text);
                    CHECK(item.text.find('_') == std::string::npos);
                }
        }
    }
}

TEST_CASE("stage: a kernel's load shows all that comes, in no row") {
    Program program(example("six-words"), {1280, 720}, true);
    program.show_lesson("attention");
    const std::vector<int> loads = steps_of(*program.state.trace, Op::load);
    CHECK(line_of(stage_terms(*program.state.trace, loads.back())) == " → P → V");
    for (const int k : loads) {
        program.go_to_step(k, 2);
        INFO(program.where());
        CHECK_FALSE(program.look_for("row 0", "Presenter"));
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
                                                  {19, " Oi→ HBM m + ln l → L"}};
    for (const auto& [k, line] : wanted) CHECK(line_of(stage_terms(**trace, k)) == line);
}

TEST_CASE("stage: what a row is made from, of matrices too large to be shown whole") {
    const auto trace = build_trace(*find_lesson("flash-forward"), large());
    REQUIRE(trace);
    const auto line = [&](Op op, Slot slot, CellRef cell) {
        const int k = steps_of(**trace, op)[6];  // tile (1, 2)
        const Explanation e = explain(**trace, k, cell);
        for (const StageTerm& t : stage_terms(**trace, k))
            if (t.slot == slot) return term_line(t, e);
        FAIL("no such term");
        return TermLine{};
    };
    // S[30, 35] is row 30 of Q times row 35 of K; O[30, 5] is row 30 of P̃ times column 5 of V.
    const TermLine q = line(Op::scores, Slot::Qi, {Slot::S, 30, 35}),
                   k = line(Op::scores, Slot::Kj, {Slot::S, 30, 35});
    CHECK(q.cells == Region{30, 0, 1, 64});
    CHECK(k.cells == Region{35, 0, 1, 64});
    CHECK(q.chosen == -1);
    const TermLine v = line(Op::output, Slot::Vj, {Slot::Oi, 30, 5}),
                   o = line(Op::output, Slot::Oi, {Slot::Oi, 30, 5});
    CHECK(v.cells == Region{32, 5, 16, 1});
    CHECK(v.column);
    CHECK(v.part(2, 3) == Region{34, 5, 3, 1});
    CHECK(o.cells == Region{30, 0, 1, 64});
    CHECK(o.chosen == 5);
}

TEST_CASE("stage: below each other, what the result replaces stands right above it") {
    const auto line = [](const char* lesson, Op op) {
        const auto trace = build_trace(*find_lesson(lesson), large());
        REQUIRE(trace);
        return line_of(zoom_order(stage_terms(**trace, steps_of(**trace, op)[6])));
    };
    CHECK(line("flash-forward", Op::output) == " P · Vj + alpha ⊙ Oi old → Oi");
    CHECK(line("flash-forward-v1", Op::output) == " ( P · Vj + alpha ⊙ l old ⊙ Oi old) ⊘ l → Oi");
    CHECK(line("flash-backward", Op::dv) == " Pᵀ · dOi + dVj old → dVj");
    CHECK(line("flash-backward", Op::dk) == " scale · dSᵀ · Qi + dKj old → dKj");
    CHECK(line("flash-forward", Op::row_sum) == " alpha ⊙ l old + rowsum( P) → l");
}

TEST_CASE("stage: every number that a step is about is there to be read, however large the matrices are") {
    for (const Problem& problem : {example("worked-4x4"), example("causal-8"), large(), ragged()}) {
        Program program(problem, {1280, 720}, true);
        in_every_lesson(program, problem, sample, [&] {
            if (program.state.lesson->one_row) return;
            if (has_table(*program.state.trace, program.step())) return;
            for (const StageTerm& term :
                 stage_terms(*program.state.trace, program.step(), program.state.explanation)) {
                if (term.old) continue;
                // The rows of a rank count from 0: what its formula does not name has no row of its own.
                const bool named = term.result || std::ranges::count(program.state.explanation.sources,
                                                                     term.slot, &CellRef::slot) > 0;
                if (program.state.lesson->uses(chooses_ranks) && !named) continue;
                const Shown now = shown(program, term);
                INFO(program.where(), ": ", std::string(info(term.slot).name));
                CHECK(now.cells >= 1);
                CHECK(now.empty == 0);
            }
        });
    }
}

TEST_CASE("stage: nothing is clipped, lies on something else or is too pale, at every step and size") {
    for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1920, 1080}, Screen{3840, 2160}})
        for (const ThemeId id : {ThemeId::dark, ThemeId::light}) {
            Program program(example("worked-4x4"), screen, true, id);
            const auto look = [&] { check_frame(program); };
            at_every_step(program, example("worked-4x4"), look);
            std::vector<Problem> others = {large(), ragged()};
            // Other examples have other widths of numbers, words, masks; each in one size and theme.
            if (screen.width == 1280 && id == ThemeId::dark)
                for (const char* name :
                     {"six-words", "causal-8", "ragged-7x5", "gradients-4x4", "large-logits"})
                    others.push_back(example(name));
            for (const Problem& problem : others)
                if (looks_at_everything())
                    at_every_step(program, problem, look);
                else
                    in_every_lesson(program, problem, sample, look);
        }
}

TEST_CASE("stage: where nothing moves any more, no text lies under a bar or a bed") {
    for (const char* name : {"worked-4x4", "causal-8"}) {
        const Problem problem = example(name);
        Program program(problem, {1280, 720}, true);
        int frames = 0;
        at_every_step(program, problem, [&] {
            ++frames;
            program.frame(2, 20);
            const CoveredTexts covered = covered_texts(program);
            INFO(program.where());
            REQUIRE(covered.looked_at > 10);
            for (const Item* text : covered.texts) FAIL_CHECK("'", text->text, "' lies under something");
        });
        CHECK(frames > 100);
    }
}

TEST_CASE("stage: a bar that is drawn over a text is found") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.frame(2, 20);
    const CoveredTexts before = covered_texts(program);
    REQUIRE(before.looked_at > 10);
    REQUIRE(before.texts.empty());
    const auto text = std::ranges::find_if(program.items(), [](const Item& item) {
        return item.kind == ItemKind::text && item.text.size() > 8;
    });
    REQUIRE(text != program.items().end());
    ImDrawData* const data = ImGui::GetDrawData();
    for (int n = 0; n < data->CmdListsCount; ++n) {
        data->CmdLists[n]->PushClipRectFullScreen();
        data->CmdLists[n]->AddRectFilled(text->min, text->max, IM_COL32_WHITE);
        data->CmdLists[n]->PopClipRect();
    }
    const CoveredTexts after = covered_texts(program);
    CHECK(after.looked_at == before.looked_at);
    CHECK(std::ranges::count(after.texts, &*text) == 1);
}

TEST_CASE("stage: what closes an operand has room at the end of the first of two lines") {
    Problem p = random_with_tiles(16, 4, 1, 8);
    p.logits.softcap = 2;
    Program program(p, {1280, 720}, true);
    program.go_to_step(steps_of(*program.state.trace, Op::softcap).front(), 2);
    CHECK(program.shows("÷ cap)"));
    check_frame(program);
}

TEST_CASE("stage: between two numbers of a matrix there is a third of their size") {
    for (const char* name : {"worked-4x4", "fully-masked-row", "max-rises-late"}) {
        Program program(example(name), {1280, 720}, true);
        in_every_lesson(program, example(name), sample, [&] {
            if (program.state.lesson->one_row) return;
            std::vector<Item> numbers, cells;
            for (const Item& item : program.items())
                if (item.kind == ItemKind::cell) cells.push_back(item);
            for (const Item& item : program.items()) {
                const auto holds = [&](const Item& cell) { return within(item, cell); };
                if (item.kind == ItemKind::text && std::ranges::any_of(cells, holds)) numbers.push_back(item);
            }
            for (const Item& a : numbers)
                for (const Item& b : numbers) {
                    if (std::abs(middle(a).y - middle(b).y) > 2 || middle(a).x >= middle(b).x) continue;
                    INFO(program.where(), ": ", a.text, " ", b.text);
                    CHECK(b.min.x - a.max.x >= .33f * (a.max.y - a.min.y));
                }
        });
    }
}

TEST_CASE("stage: where there is room, cells and drawing have a number with the digits of the formula") {
    for (const char* name : {"worked-4x4", "max-rises-late"}) {
        Program program(example(name), {1280, 720}, true);
        for (const Op op : {Op::row_sum, Op::normalize})
            for (const int k : steps_of(*program.state.trace, op)) {
                program.go_to_step(k, 2);
                INFO(program.where());
                for (const Span& span : program.state.explanation.numbers) {
                    // In the formula, in its cell and in the drawing; what ends with 0 may be shorter there.
                    const bool rounded =
                        span.face == Span::Face::number && span.text.find('.') != std::string::npos &&
                        !span.text.ends_with('0') && span.text.find("×") == std::string::npos;
                    if (!rounded || span.role == Role::S) continue;
                    const auto same = [&](const Item& item) {
                        return item.kind == ItemKind::text && item.text.find(span.text) != std::string::npos;
                    };
                    CHECK_MESSAGE(std::ranges::count_if(program.items(), same) >= 3, span.text);
                }
            }
    }
}

TEST_CASE("stage: where matrices have no room for all digits, the formula has as many as its cell") {
    for (const char* lesson : {"backward", "attention"}) {
        Program program(example("gradients-4x4"), {1280, 720}, true);
        program.show_lesson(lesson);
        const Trace& trace = *program.state.trace;
        for (int k = 0; k < trace.size(); ++k) {
            program.go_to_step(k, 2);
            const NumberStyle all = number_style();
            bool same = explain(trace, k).result.empty() || info(trace.step(k).op).kind != OpKind::compute;
            for (int digits = all.digits; digits >= fewest_digits && !same; --digits) {
                set_number_style({digits, all.comma});
                const std::string result = explain(trace, k).result.back().text;
                const auto has_it = [&](const Item& item) {
                    return item.kind == ItemKind::text && item.text.ends_with(result);
                };
                same = std::ranges::count_if(program.items(), has_it) >= 2;
            }
            set_number_style(all);
            INFO(program.where());
            CHECK(same);
        }
    }
}

TEST_CASE("stage: the correction is the way from one curve to the other, an old score an arrow") {
    for (const char* lesson : {"flash-forward", "softmax-1pass"}) {
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.show_lesson(lesson);
        for (const int k : steps_of(*program.state.trace, Op::correction)) {
            program.go_to_step(k, 2);
            const auto m = program.state.trace->reads(k);
            const double before = program.state.trace->value(m[0].value).data(0, 0),
                         now = program.state.trace->value(m[1].value).data(0, 0);
            INFO(program.where());
            CHECK(program.shows("exp(x − " + format_short(now)));
            const std::string factor = "× " + format_short(std::exp(before - now));
            CHECK((program.look_for(factor, "Lens") != nullptr) == (std::isfinite(before) && before < now));
            CHECK((program.look_for("no key before", "Lens") != nullptr) == !std::isfinite(before));
            CHECK(program.shows("old = −∞") == !std::isfinite(before));
            CHECK((program.look_for("the maximum stayed", "Lens") != nullptr) == (before == now));
        }
    }
}

TEST_CASE("stage: E leads through the derivation of the softmax lessons and back to the running values") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("softmax-1pass");
    program.go_to_step(15);
    CHECK_FALSE(program.shows("1 of 6"));
    for (const char* place : {"1 of 6", "2 of 6", "3 of 6", "4 of 6", "5 of 6", "6 of 6"}) {
        program.press(Key::e);
        program.frame();
        CHECK(program.look_for(place, "Lens"));
        check_frame(program, place);
    }
    program.press(Key::e);
    program.frame();
    CHECK_FALSE(program.shows("6 of 6"));
    program.press("shift+e");
    program.frame();
    CHECK(program.look_for("6 of 6", "Lens"));
}

TEST_CASE("stage: a value of the softmax lessons that changes stands beside what it was") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("softmax-1pass");
    const int k = steps_of(*program.state.trace, Op::row_sum)[1];
    program.go_to_step(k, 2);
    const auto sum = [&](int at) {
        return format_short(program.state.trace->live(Slot::l, at).value->data(0, 0));
    };
    CHECK(sum(k) != sum(k - 1));
    CHECK(program.look_for(sum(k)));
    CHECK(program.look_for(sum(k - 1)));
}

TEST_CASE("stage: while a pass loads its elements, what the pass is for is drawn") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("softmax-3pass");
    const char* const drawn[] = {"running max", "running sum", "running output"};
    for (const int k : steps_of(*program.state.trace, Op::load_x)) {
        program.go_to_step(k);
        program.frame();
        CAPTURE(k);
        CHECK(program.shows(drawn[program.state.trace->step(k).phase]));
    }
}

TEST_CASE("stage: the strip of HBM has what the lesson keeps there") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    for (const auto& [lesson, there, not_there] :
         {std::tuple{"flash-forward-v1", "ℓ", "L"}, std::tuple{"flash-forward", "L", "ℓ"}}) {
        program.show_lesson(lesson);
        program.go_to_step(steps_of(*program.state.trace, Op::load_kv)[0], 2);
        CHECK(program.look_for(there, "HBM"));
        CHECK_FALSE(program.look_for(not_there, "HBM"));
    }
}

TEST_CASE("stage: the strip of the backward pass has what its first step reads and writes") {
    Program program(example("gradients-4x4"), {1280, 720}, true);
    program.show_lesson("flash-backward");
    program.go_to_step(0, 2);
    for (const char* symbol : {"O", "dO", "D", "L", "dQ"}) CHECK(program.look_for(symbol, "HBM"));
}

TEST_CASE("stage: of a sum of which a part is shown, what the part, all and the result come to") {
    Program program(random_with_tiles(64, 64, 8, 8), {1280, 720}, true);
    program.go_to_step(steps_of(*program.state.trace, Op::scores)[5], 2);
    const Trace& trace = *program.state.trace;
    const auto reads = trace.reads(program.state.cursor.step);
    const Value &Q = trace.value(reads[0].value), &K = trace.value(reads[1].value);
    CHECK(program.shows(", 8 of 64 terms"));
    CHECK(program.shows("8 shown "));
    CHECK(program.shows(", 56 "));
    const CellRef cell = program.state.explanation.target;
    CHECK(program.shows(
        format_short(Q.data.row(cell.row - Q.region.row).dot(K.data.row(cell.col - K.region.row)))));
}

TEST_CASE("stage: a sum too long to be written out is written with its products as one number") {
    Program program(random_with_tiles(64, 64, 16, 16), {1280, 720}, true);
    const Trace& trace = *program.state.trace;
    const int k = 61;  // the old output shrinks
    REQUIRE(trace.step(k).op == Op::output);
    program.go_to_step(k, 2);
    const CellRef cell = program.state.explanation.target;
    const auto sum = cell_sum(trace, k, cell.row, cell.col);
    REQUIRE(sum);
    CHECK(sum->shrinks < 1);
    const NumberLine told = brief_numbers(trace, *sum);
    CHECK(plain(told) == "0.3737 × (−0.8358) + (−1.8946)");
    CHECK(*told.comes_to == doctest::Approx(sum->total).epsilon(.01));
    program.settle();
    CHECK(program.shows(format_short(sum->products())));
    // Where nothing was there before, the sum is the result.
    const int first = steps_of(trace, Op::output).front();
    CHECK(brief_numbers(trace, *cell_sum(trace, first, 0, 0)).empty());
    // A scale stands before it.
    const int scores = steps_of(trace, Op::scores).front();
    CHECK(plain(brief_numbers(trace, *cell_sum(trace, scores, 0, 0))).starts_with("0.125 × "));
}

namespace {

// What the bars of the step's drawing stand for: what is left of the old value, then what is added.
std::vector<double> parts_drawn(const AppState& state) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const CellRef cell = state.explanation.target;
    std::vector<double> out;
    if (trace.step(k).op == Op::row_sum) {
        const auto in_row = [&](int nth) {
            const Value& v = trace.value(trace.reads(k)[static_cast<std::size_t>(nth)].value);
            return Matrix(v.data.row(cell.row - v.region.row));
        };
        if (trace.reads(k).size() == 3) out.push_back(in_row(0)(0, 0) * in_row(1)(0, 0));
        const Matrix P = in_row(trace.reads(k).size() == 3 ? 2 : 0);
        out.insert(out.end(), P.data(), P.data() + P.size());
    } else if (const auto sum = cell_sum(trace, k, cell.row, cell.col)) {
        if (sum->grows) out.push_back(sum->before * sum->shrinks);
        for (const double term : sum->terms()) out.push_back(term);
    }
    std::erase(out, 0.0);
    return out;
}

bool lens_says(const Program& program, const std::string& number) {
    return std::ranges::any_of(program.items(), [&](const Item& item) {
        return item.kind == ItemKind::text && item.panel == "Lens" && contains(item.text, number);
    });
}

}  // namespace

TEST_CASE("stage: every bar of a short sum has its number, and what was there before is called old") {
    int bars = 0;
    for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1920, 1080}})
        for (const char* name : {"worked-4x4", "max-rises-late", "gradients-4x4"}) {
            Program program(example(name), screen, true);
            for (const char* lesson : {"flash-forward", "flash-backward"}) {
                program.show_lesson(lesson);
                const Trace& trace = *program.state.trace;
                for (const Op op : {Op::row_sum, Op::output, Op::dv, Op::dq, Op::dk})
                    for (const int k : steps_of(trace, op)) {
                        program.go_to_step(k, 2);
                        const std::vector<double> parts = parts_drawn(program.state);
                        if (!program.look_for("Lens") || parts.size() < 2 || parts.size() > 3) continue;
                        if (exchanges(program.state)) continue;  // its bytes are drawn
                        INFO(program.where());
                        const bool whole =
                            std::ranges::all_of(parts, [](double v) { return v == std::round(v); });
                        for (const double part : parts) {
                            const int least = whole ? 0 : number_style().digits - 1;
                            const std::string number = format_fixed(part, least);
                            // With more decimals where the sum, or the formula, has them.
                            bool said = false;
                            for (int more = 0; more <= 3; ++more)
                                said |= lens_says(program, format_fixed(part, least + more));
                            CHECK_MESSAGE(said, number);
                            ++bars;
                        }
                    }
            }
        }
    CHECK(bars > 100);
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("flash-backward");
    program.go_to_step(steps_of(*program.state.trace, Op::dk)[1], 2);
    for (const char* number : {"−5.57", "−7.42"}) CHECK_MESSAGE(lens_says(program, number), number);
}

TEST_CASE("stage: every step that computes has its drawing") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}}) {
        Program program(example("worked-4x4"), screen, true);
        at_every_step(program, example("worked-4x4"), [&] {
            const Op op = op_now(program.state);
            // Start values and what the mask leaves out are made of nothing.
            if (info(op).kind != OpKind::compute || op == Op::init || op == Op::skip) return;
            if (program.state.lesson->uses(chooses_ranks)) return;  // a table of rounds stands beside
            if (tells_one_row(program)) return;
            // Beside HBM two lines of numbers with all their decimals leave it no room.
            if (op == Op::preprocess && program.state.lesson == find_lesson("flash-backward")) return;
            CHECK_MESSAGE(program.look_for("Lens"), program.where());
        });
    }
}

TEST_CASE("stage: what grows in HBM goes both ways, with its bytes") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("flash-backward");
    program.go_to_step(steps_of(*program.state.trace, Op::dq)[1], 2);
    CHECK(program.shows("32 B"));
    CHECK(program.shows(" back"));
    CHECK(exchanges(program.state));
    program.go_to_step(steps_of(*program.state.trace, Op::dk)[1], 2);
    CHECK_FALSE(exchanges(program.state));
}

TEST_CASE("stage: a slide that stores has one precision") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.go_to_step(steps_of(*program.state.trace, Op::store).front(), 2);
    for (const char* number : {"10.204", "1.639", "2.494"}) CHECK(program.shows(number));
    program.show_lesson("flash-backward");
    program.go_to_step(steps_of(*program.state.trace, Op::store).front(), 2);
    CHECK(program.shows("0.59"));
    CHECK_FALSE(program.shows("0.590"));
    CHECK(program.shows("−12.99"));
}

TEST_CASE("stage: a drawn sum says where its printed terms miss the printed total") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.go_to_step(16, 2);  // 0.503 + 1.000 + 0.135 and 1.639
    CHECK(program.shows("≈ 1.639"));
    program.go_to_step(8, 2);  // 1.000 + 0.368
    CHECK(program.shows("new ℓ  1.368"));
    // One sign for the drawing and the formula.
    program.go_to_step(17, 2);
    CHECK(program.shows("≈ 11.804"));
    CHECK_FALSE(program.shows("= 11.804"));
    program.show_lesson("merge");
    program.go_to_step(4, 2);
    CHECK(program.shows("0.5032 + 1.1353"));
    CHECK(*sign_before_total({"1.288", "−0.939"}, "0.348") != '=');
    CHECK(*sign_before_total({"1.288", "−0.939"}, "0.349") == '=');
    CHECK(*sign_before_total({"2", "3"}, "5") == '=');
}

TEST_CASE("stage: every weight of a row of eight is told beside the curve") {
    Program program(random_with_tiles(64, 64, 8, 8), {1280, 720}, true);
    program.go_to_step(steps_of(*program.state.trace, Op::exponentials)[4], 2);
    CHECK(program.shows("k32: "));
    CHECK(program.shows("k39: "));
    CHECK_FALSE(program.shows(" more"));
}

TEST_CASE("stage: what is dimmed can still be read") {
    for (const ThemeId id : {ThemeId::dark, ThemeId::light, ThemeId::contrast}) {
        const Theme& t = theme(id);
        for (const ImU32 text : {t.t2, t.t3, hue(t, Role::Q), hue(t, Role::K), hue(t, Role::O)}) {
            const float light = readable_light(.5f, text, t.panel, t.panel);
            INFO(static_cast<int>(id));
            CHECK(contrast(mix(t.panel, text, light), t.panel) >= std::min(4.5f, contrast(text, t.panel)));
        }
    }
}

TEST_CASE("stage: in every lesson rows and columns bear the words of queries and keys") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1920, 1080}}) {
        Program program(example("six-words"), screen, true);
        const Problem& p = example("six-words");
        at_every_step(program, p, [&] {
            const AppState& state = program.state;
            const Lesson& lesson = *state.lesson;
            const Op op = op_now(state);
            // Partial results of three rows, and dQ with its way to HBM, stand in two lines without room for
            // words.
            if (lesson.uses(chooses_sequences) || op == Op::skip || op == Op::loss || op == Op::part) return;
            if (exchanges(state)) return;
            const auto says = [&](const std::string& word) {
                return std::ranges::any_of(program.items(), [&](const Item& item) {
                    if (item.kind != ItemKind::text || item.panel == "Timeline") return false;
                    if (item.text == word || item.text.ends_with(" " + word)) return true;
                    for (std::size_t at = item.text.find('('); at != std::string::npos;
                         at = item.text.find('(', at + 1)) {
                        const std::string inside =
                            " " + item.text.substr(at + 1, item.text.find(')', at) - at - 1) + " ";
                        if (contains(inside, " " + word + " ")) return true;
                    }
                    return false;
                });
            };
            INFO(program.where());
            if (lesson.one_row) {
                if (lesson.picture == Picture::softmax)
                    for (int j = 0; j < p.N_kv(); ++j) CHECK_MESSAGE(says(p.key_token(j)), p.key_token(j));
                return;
            }
            if (info(op).kind != OpKind::compute) return;
            // The row that the step is about; the keys along it, where there is a matrix of scores.
            for (const StageTerm& term : stage_terms(*state.trace, program.step(), state.explanation)) {
                const TermWords words = term_words(state, term);
                const TermLine line = term_line(term, state.explanation);
                const std::vector<std::string>& along = line.column ? words.rows : words.columns;
                const bool scores = info(term.slot).role == Role::S;
                if (!scores || along.empty() || line.column) continue;
                for (const std::string& word : along)
                    CHECK_MESSAGE(says(word), info(term.slot).name, ": ", word);
            }
        });
    }
}

TEST_CASE("stage: a title has beside it where the step is, not the title again") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("attention");
    program.go_to_step(steps_of(*program.state.trace, Op::scores)[0], 2);
    CHECK(program.look_for("row 0"));
}

TEST_CASE("an old value of another quantity has the decimals of that quantity") {
    Program program;
    program.show_lesson("flash-backward");
    const int k = steps_of(*program.state.trace, Op::recompute)[0];
    program.go_to_step(k, 2);
    // S = 1 stands below P = 0.225, both in one cell
    const Item cell = program.find(cell_name({Slot::Prob, 0, 0}));
    std::vector<std::string> texts;
    for (const Item& text : program.items())
        if (text.kind == ItemKind::text && within(text, cell)) texts.push_back(text.text);
    CHECK(std::ranges::count(texts, "1") == 1);
    CHECK(std::ranges::count(texts, "1.000") == 0);
}

TEST_CASE("stage: where no gradient arrives all products are 0, and their bars have no scale") {
    Program program(example("ragged-7x5"), {1280, 720}, true);
    program.show_lesson("flash-backward");
    for (int k = 0; k < program.state.trace->size(); ++k) {
        program.go_to_step(k);
        program.frame();
        for (const Finding& f : broken_rules(program))
            FAIL_CHECK(program.where(), ": ", f.where, ": ", f.rule, " '", f.text, "' ", f.amount);
    }
}

TEST_CASE("stage: the bytes of what moves are those that the walk counts, whatever an element takes") {
    for (const Lesson& lesson : lessons())
        for (const int bytes : {1, 2, 8}) {
            Problem p = example("worked-4x4");
            p.element_bytes = bytes;
            const auto trace = lesson.build(p);
            for (int k = 0; k < trace->size(); ++k) {
                const Op op = trace->step(k).op;
                if (!is_load(op) && !is_store(op)) continue;
                std::int64_t all = 0;
                for (const Access& access : is_load(op) ? trace->reads(k) : trace->writes(k))
                    all += moved_bytes(*trace, k, access);
                const Traffic now = trace->step(k).traffic,
                              before = k ? trace->step(k - 1).traffic : Traffic{};
                CAPTURE(lesson.id);
                CAPTURE(k);
                CHECK(all == now.hbm_read + now.hbm_write - before.hbm_read - before.hbm_write);
            }
        }
}

TEST_CASE("stage: a load or a store is pictured from HBM to the chip, with the bytes of each matrix") {
    for (const auto& [lesson, chip] : {std::pair{"flash-forward", "SRAM"},
                                       {"flash-forward-v1", "SRAM"},
                                       {"flash-backward", "SRAM"},
                                       {"attention", "kernel"}}) {
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.show_lesson(lesson);
        const Trace& trace = *program.state.trace;
        for (int k = 0; k < trace.size(); ++k) {
            const Op op = trace.step(k).op;
            if (!is_load(op) && !is_store(op)) continue;
            program.go_to_step(k, 2);
            INFO(program.where());
            CHECK(program.look_for("HBM"));
            CHECK(program.look_for(chip));
            // What the arrows say adds up to what the walk counts.
            std::int64_t all = 0;
            for (const Access& access : is_load(op) ? trace.reads(k) : trace.writes(k)) {
                const std::int64_t bytes = moved_bytes(trace, k, access);
                std::string label;
                for (const Span& span : block_symbol(trace, access.slot, k, access.tile)) label += span.text;
                const std::string amount = format_size(bytes);
                CHECK((program.look_for(label + " " + amount) || program.look_for(label + "  " + amount)));
                all += bytes;
            }
            const Traffic now = trace.step(k).traffic, before = k ? trace.step(k - 1).traffic : Traffic{};
            CHECK(all == now.hbm_read + now.hbm_write - before.hbm_read - before.hbm_write);
            // The title says what.
            CHECK_FALSE(moved_symbols(trace, k).empty());
            CHECK(program.shows(is_load(op) ? "Load " : "Store "));
        }
    }
}

TEST_CASE("stage: a question about a load is not answered by its arrows") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    CHECK(pictures_transfer(program.state));
    program.press("q");
    program.frame(2);
    while (program.state.quiz && !quiz_waits(program.state) &&
           program.step() + 1 < program.state.trace->size())
        program.press("right"), program.frame(2);
    REQUIRE(quiz_waits(program.state));
    CHECK_FALSE(pictures_transfer(program.state));
}

TEST_CASE("stage: matrices of a small problem stand whole, if need be in two lines") {
    int whole = 0, one_row = 0;
    for (const Lesson& lesson : lessons()) {
        if (lesson.one_row) continue;
        for (const Screen size : {Screen{1024, 640}, Screen{1280, 720}}) {
            Program program(example("worked-4x4"), size, true);
            program.show_lesson(lesson.id);
            for (int k = 0; k < program.state.trace->size(); ++k) {
                program.go_to_step(k, 2);
                INFO(program.where());
                // "whole S, 4 × 4": the map beside strips
                const bool map = program.shows(", 4 × 4");
                CHECK((!map || tells_one_row(program)));
                ++(map ? one_row : whole);
            }
        }
    }
    CHECK(whole > 500);
    CHECK(one_row > 0);  // the words that are looked for do stand somewhere
}

TEST_CASE("stage: no index of a symbol lies in the glow round a result") {
    int pairs = 0;
    for (const char* lesson : {"flash-forward", "flash-backward", "attention"}) {
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.show_lesson(lesson);
        for (int k = 0; k < program.state.trace->size(); ++k) {
            program.go_to_step(k, 2);
            if (stage_zooms(program.state, 964, 330)) continue;  // symbols stand in lines of their own
            constexpr float glow = 9, index = 21, between = 5;   // how far they reach from the middle
            for (const Item& text : program.items()) {
                const bool symbol =
                    text.text.size() <= 4 && !number_in<double>(replaced(text.text, "−", "-"));
                if (text.kind != ItemKind::text || !symbol || text.text == "−∞") continue;
                for (const Item& cell : program.items()) {
                    if (cell.kind != ItemKind::cell || middle(text).y > cell.min.y) continue;
                    if (text.max.x < cell.min.x || text.min.x > cell.max.x) continue;
                    if (cell.min.y - middle(text).y > 45) continue;  // of a row further down
                    INFO(program.where(), ": ", text.text);
                    CHECK(cell.min.y - middle(text).y >= glow + between + index);
                    ++pairs;
                }
            }
        }
    }
    CHECK(pairs > 100);
}

TEST_CASE("stage: the strip names all that a step loads or stores") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.go_to_step(5, 2);
    const auto in_strip = [&](std::string_view letter) {
        return std::ranges::count_if(program.items(), [&](const Item& item) {
            return item.kind == ItemKind::text && replaced(item.text, " ", "") == letter && item.min.y > 630;
        });
    };
    CHECK(in_strip("KV") == 2);
    CHECK(in_strip("OL") == 1);
}

TEST_CASE("stage: V is in the dark in a pass that does not read it") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("softmax-3pass");
    for (int k = 0; k < program.state.trace->size(); ++k) {
        program.go_to_step(k, 2);
        const SoftmaxWalk walk = softmax_walk(program.state);
        if (walk.element() < 1) continue;
        const SoftmaxElement V = softmax_element(program.state, walk, Slot::V, walk.element() - 1);
        INFO(program.where());
        if (walk.step().phase < 2) CHECK(V.look.dim);
        if (walk.step().op == Op::output) CHECK_FALSE(V.look.dim);
    }
}

TEST_CASE("stage: of a large problem the row is told whose maximum rises, until another one is chosen") {
    Program program(random_with_tiles(64, 16, 16, 16), {1280, 720}, true);
    const std::vector<int> rising = steps_of(*program.state.trace, Op::correction);
    int told = 0;
    for (std::size_t n = 1; n < 4; ++n) {
        program.go_to_step(rising[n], 2);
        const Value& alpha = program.state.trace->value(program.state.trace->writes(rising[n])[0].value);
        const int row = program.state.explanation.target.row - alpha.region.row;
        INFO(program.where());
        CHECK(alpha.data(row, 0) == alpha.data.minCoeff());
        told += row > 0;
    }
    CHECK(told > 0);
    choose_row(program.state, 5);
    program.go_to_step(rising[5], 2);
    CHECK(program.state.row == 5);
    // A row that was chosen stays, though the step would have told it anyway.
    const int told_anyway = telling_row(*program.state.trace, rising[1]);
    REQUIRE(told_anyway != telling_row(*program.state.trace, rising[2]));
    program.go_to_step(rising[1], 2);
    choose_row(program.state, told_anyway);
    program.go_to_step(rising[2], 2);
    CHECK(program.state.row == told_anyway);
    leave_cell(program.state);
    CHECK(program.state.row == telling_row(*program.state.trace, rising[2]));
}

TEST_CASE(
    "stage: the scale of large matrices stands before the result, not over the factors, which lack it") {
    Problem p = random_with_tiles(64, 16, 16, 16);
    p.scale = {Scale::Kind::sqrt, 1.0};
    Program program(p, {1280, 720}, true);
    for (const char* lesson : {"flash-forward", "flash-backward"}) {
        program.show_lesson(lesson);
        for (const Op op : {Op::scores, Op::dq, Op::dk}) {
            const auto steps = steps_of(*program.state.trace, op);
            if (steps.empty()) continue;
            program.go_to_step(steps.back(), 2);
            INFO(program.where());
            float lowest_factor = 0, scale = -1;
            for (const Item& item : program.items())
                if (item.kind == ItemKind::text && item.text == "scale" && scale < 0) scale = middle(item).y;
            for (const StageTerm& t : stage_terms(*program.state.trace, program.state.cursor.step)) {
                if (t.result || t.old) continue;
                const std::string name = plain(stage_symbol(*program.state.trace, t));
                for (const Item& item : program.items())
                    if (item.kind == ItemKind::text && item.text == name && item.font_px > 34)
                        lowest_factor = std::max(lowest_factor, middle(item).y);
            }
            REQUIRE(scale > 0);
            CHECK(scale > lowest_factor);
        }
    }
}

TEST_CASE("stage: what the mask hides is told beside the map") {
    for (const bool masks : {true, false}) {
        Problem p = random_with_tiles(64, 16, 16, 16);
        p.causal = masks;
        Program program(p, {1920, 1080}, true);
        program.go_to_step(steps_of(*program.state.trace, Op::exponentials).front(), 2);
        CHECK(static_cast<bool>(program.look_for("masked")) == masks);
    }
}

// Of the map of the scores, in device px; without width where there is none.
static Rect map_cells(const Program& program) {
    const Item* map = program.look_for("Map");
    if (!map) return {};
    const float s = font_scale();
    return {map->min.x + 8 * s, map->min.y + 40 * s, map->max.x - map->min.x - 16 * s,
            map->max.y - map->min.y - 80 * s};
}

TEST_CASE("stage: a score that overflows to −∞ is not drawn as masked on the map") {
    Problem p = causal(random_with_tiles(64, 16, 16, 16));
    p.Q.row(5).setZero();
    p.Q(5, 0) = 700, p.K(2, 0) = -1000;
    p.precision.scores = Format::fp16;
    Program program(p, {1920, 1080}, true);
    const Matrix& S =
        program.state.trace->live(Slot::S, steps_of(*program.state.trace, Op::mask).front()).value->data;
    REQUIRE(S(5, 2) == minus_infinity);
    REQUIRE(S(5, 9) == minus_infinity);
    program.go_to_step(steps_of(*program.state.trace, Op::skip).front(), 2);
    const Rect map = map_cells(program);
    REQUIRE(map.w > 0);
    const Image image = program.picture();
    const auto colour = [&](int row, int col) {
        const auto x = static_cast<std::size_t>(map.x + (px(col) + .5f) / 64 * map.w),
                   y = static_cast<std::size_t>(map.y + (px(row) + .5f) / 64 * map.h);
        const std::uint8_t* at = &image.rgba[4 * (y * static_cast<std::size_t>(image.width) + x)];
        return IM_COL32(at[0], at[1], at[2], 255);
    };
    const ImU32 masked = colour(5, 9);
    CHECK(colour(3, 9) == masked);
    CHECK(colour(5, 4) != masked);
    CHECK(colour(5, 2) != masked);
}

TEST_CASE("stage: what is not reached yet is no tile that the mask skips") {
    Program program(causal(random_with_tiles(64, 16, 16, 16)), {1280, 720}, true);
    int found = 0;
    for (int k = 0; k < program.state.trace->size(); ++k) {
        program.go_to_step(k, 2);
        const Item* words = program.look_for("not reached yet");
        if (!words) words = program.look_for("to come");
        if (!words) continue;
        const Rect map = map_cells(program);
        if (map.w == 0) continue;
        ++found;
        INFO(program.where());
        for (int i = 0; i < 4; ++i) {
            const bool beside = middle(*words).y > map.y + px(i) * map.h / 4 &&
                                middle(*words).y < map.y + px(i + 1) * map.h / 4;
            if (beside) CHECK(words->max.x <= map.x + px(i + 1) * map.w / 4 + 8);
        }
    }
    CHECK(found > 0);
}

// Where the names over the matrices of the step stand.
static std::set<float> heights_of_names(const Program& program) {
    std::set<float> out;
    for (const StageTerm& t : stage_terms(*program.state.trace, program.state.cursor.step)) {
        const std::string name = plain(stage_symbol(*program.state.trace, t));
        for (const Item& item : program.items())
            if (item.kind == ItemKind::text && item.text == name && item.font_px > 34)
                out.insert(std::round(item.min.y));
    }
    return out;
}

TEST_CASE("stage: names keep their height from step to step, of ragged tiles too") {
    for (const char* name : {"worked-4x4", "ragged-7x5"}) {
        Program program(example(name), {1280, 720}, true);
        std::set<float> beside;
        for (int k = 0; k < program.state.trace->size(); ++k) {
            const Op op = program.state.trace->step(k).op;
            if (op != Op::scores && op != Op::tile_max && op != Op::new_max && op != Op::exponentials)
                continue;
            program.go_to_step(k);
            const std::set<float> now = heights_of_names(program);
            CHECK_FALSE(now.empty());
            beside.insert(now.begin(), now.end());
        }
        CHECK_MESSAGE(beside.size() == 1, name);
    }
}

static long arrows_on_stage(const Program& program) {
    return std::ranges::count(program.items(), "arrow to the result", &Item::text);
}

TEST_CASE("stage: start values come from nothing: the drawing says what they mean, no arrow leads to them") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.go_to_step(1);
    REQUIRE(op_now(program.state) == Op::init);
    program.check_shows({"any score is larger", "no weight yet", "nothing collected"});
    CHECK(arrows_on_stage(program) == 0);
    program.go_to_step(3);
    CHECK(arrows_on_stage(program) > 0);
    CHECK(std::ranges::any_of(program.items(), [](const Item& item) { return item.text == "Lens"; }));
    CHECK(program.shows("S  =  "));
}
