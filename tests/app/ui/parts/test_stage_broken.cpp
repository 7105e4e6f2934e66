// Broken on stage: the list of faults, true beside broken at every step, and what is printed there.
#include "app/ui/chapters/start/moments.h"
#include "app/ui/state/broken_stage.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/walk/compare.h"
#include "tests/app/ui/layout_check.h"
#include "tests/part.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

const StageFault& fault_called(const std::vector<StageFault>& all, std::string_view title) {
    const auto found = std::ranges::find(all, title, &StageFault::title);
    REQUIRE(found != all.end());
    return *found;
}

// At a step, where one is said.
void break_it(Program& program, std::string_view title, std::optional<int> step = {}) {
    choose_fault(program.state, fault_called(stage_faults(*program.state.lesson), title));
    program.settle();
    if (step) program.go_to_step(*step, 2);
}

// What stands in a pane, one text after the other.
std::string texts_of(const Program& program, std::string_view panel) {
    std::string out;
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text && item.panel == panel) out += item.text + "|";
    return out;
}

// Every fault and every rounding of every lesson, in a problem where it shows.
template <class Look>
void every_fault(Program& program, Look look, const Problem& problem = example("worked-4x4")) {
    static Part part("TILEWALK_LAYOUT", 3);  // goes on, so that every call has other steps
    for (const Lesson& lesson : lessons())
        for (const StageFault& fault : stage_faults(lesson)) {
            program.show(fault.switches.wrong_mask_edge ? causal(problem) : problem);
            program.show_lesson(lesson.id);
            choose_fault(program.state, fault);
            program.settle();
            for (int k = 0; k < program.state.trace->size(); ++k) {
                if (!part.takes()) continue;
                program.go_to_step(k);
                look(fault);
            }
        }
}

// O of standard attention, without tiles.
Matrix dense_output(const Problem& p) {
    const Matrix S = p.Q * p.K.transpose() * p.softmax_scale();
    Matrix O(p.N(), p.V.cols());
    for (int r = 0; r < p.N(); ++r) {
        const double top = S.row(r).maxCoeff();
        double sum = 0;
        O.row(r).setZero();
        for (int k = 0; k < p.N_kv(); ++k) {
            const double w = std::exp(S(r, k) - top);
            sum += w;
            O.row(r) += w * p.V.row(k);
        }
        O.row(r) /= sum;
    }
    return O;
}

}  // namespace

TEST_CASE("X lists the faults on stage, a digit breaks, X repairs and breaks again; presenter mode stays") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show(example("worked-4x4"));
    program.go_to_step(16);
    AppState& s = program.state;
    program.press(Key::x);
    REQUIRE(s.lists.faults);
    program.frame(2);
    for (const Fault& fault : s.lesson->faults()) program.check_shows({fault.title});
    program.check_shows({"Not broken: the formats of a kernel", "bf16 kernel"});
    program.press(Key::three);
    CHECK_FALSE(s.lists.faults);
    CHECK(s.problem->switches.no_correction);
    CHECK(program.step() == 16);
    program.frame(2);
    program.check_shows({"Fault: correction left out", "True", "Broken", "2.503", "1.639", "repairs"});
    program.press(Key::x);
    CHECK_FALSE(s.problem->broken());
    CHECK_FALSE(s.lists.faults);
    program.press("x x");  // opens the list, breaks again
    CHECK(s.problem->switches.no_correction);
    program.press("shift+2");
    CHECK(s.problem->switches.stale_max);
    CHECK_FALSE(s.problem->switches.no_correction);
    program.press("shift+2");
    CHECK_FALSE(s.problem->broken());
    program.press("ctrl+z");
    CHECK(s.problem->switches.stale_max);
    program.press("ctrl+z ctrl+z ctrl+z ctrl+z ctrl+z");
    CHECK_FALSE(s.problem->broken());
    program.press("x escape");
    CHECK_FALSE(s.lists.faults);
    program.press("shift+x down down enter");
    CHECK(s.problem->switches.no_correction);
    program.press("x shift+x c");
    CHECK(s.problem->precision.weights == Format::bf16);
    program.press("shift+x");
    program.frame(2);
    program.click("Leave the division out", "Faults");
    CHECK(s.problem->switches.no_division);
    CHECK_FALSE(s.problem->precision.any());
    CHECK(s.presenter);
    CHECK(s.page == Page::walk);
    CHECK_FALSE(s.show_break);
    program.press(Key::escape);
    CHECK_FALSE(s.presenter);
}

TEST_CASE("what newer kernels save has letters behind the formats, and is not called broken") {
    Program program(worked_example());
    AppState& s = program.state;
    program.press("p shift+x f");
    CHECK(s.problem->savings.lazy == 8.0);
    program.go_to_step(13);
    program.check_shows({"Exact", "Saving", "Saving: lazy τ = 8", "m[0] is 1 instead of 2"});
    program.press("shift+x g");
    CHECK((s.problem->savings.cubic && !s.problem->savings.lazy));
    program.press("shift+x h");
    CHECK((s.problem->savings.lazy == 12.0 && s.problem->precision.weights == Format::e4m3));
    program.press("x");
    CHECK_FALSE(s.problem->broken());
    program.press("x x");  // again, what was on last
    CHECK(s.problem->savings.lazy == 12.0);
    program.press("shift+3");
    CHECK((s.problem->switches.no_correction && !s.problem->savings.any()));
}

TEST_CASE("from the start of the program: two presses to the correction, one more breaks it, on stage") {
    Program program;
    AppState& s = program.state;
    program.press(moments().front().press);
    program.press(Key::p);
    CHECK(s.presenter);
    CHECK((program.step() >= 14 && program.step() <= 17));
    const std::vector<StageFault> all = stage_faults(*s.lesson);
    const StageFault& correction = fault_called(all, "Leave the correction out");
    int presses = 0;
    for (const KeyPress press : {KeyPress{Key::x}, KeyPress{correction.key}}) program.press(press), ++presses;
    CHECK(presses <= 2);
    program.frame(2);
    CHECK((s.presenter && s.problem->switches.no_correction));
    program.check_shows({"True", "Broken", "Fault: correction left out", "−25 %"});
    program.press(Key::x);  // repaired; the direct key takes one press
    CHECK_FALSE(s.problem->broken());
    program.press(KeyPress{correction.key, true});
    program.frame(2);
    CHECK(program.look_for("Broken", "Broken"));
}

TEST_CASE("the mouse opens the list of faults on stage") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.mouse_to(650, 300);
    program.mouse_to(700, 300);
    program.frame();
    program.click("break");
    program.frame(2);
    CHECK(program.state.lists.faults);
    program.click("close faults");
    CHECK_FALSE(program.state.lists.faults);
}

TEST_CASE("a lesson without faults says so on stage") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("softmax-1pass");
    program.press(Key::x);
    program.frame(2);
    CHECK(program.shows("Nothing in this lesson can be left out."));
    program.press("1 shift+2 x");
    CHECK(program.state.lesson->id == std::string_view("softmax-1pass"));
    CHECK_FALSE(program.state.problem->broken());
}

TEST_CASE("I shows the problem on stage: example, tiles, mask; Escape comes back, undo works") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show(example("worked-4x4"));
    AppState& s = program.state;
    program.press(Key::i);
    REQUIRE(s.lists.problem);
    program.press("down right");
    CHECK(s.problem->Br == 3);
    program.press("down left");
    CHECK(s.problem->Bc == 1);
    program.press("down enter");
    CHECK(s.problem->causal);
    program.press("down right");
    CHECK(s.problem->scale.kind == Scale::Kind::sqrt);
    program.press("ctrl+z ctrl+z");
    CHECK_FALSE(s.problem->causal);
    program.press("up up up up right");
    CHECK(s.problem->name != "worked-4x4");
    program.frame(2);
    program.click("Causal mask more");
    CHECK(s.problem->causal);
    program.press(Key::escape);
    CHECK_FALSE(s.lists.problem);
    CHECK(s.presenter);
    CHECK_FALSE(s.show_problem);
}

TEST_CASE("stage broken: the lists fit at every size, in every lesson and theme") {
    in_every_look([](Program& program) {
        for (const char* lesson : {"flash-forward", "flash-backward", "attention"}) {
            program.show_lesson(lesson);
            program.press("shift+x");
            program.frame(2);
            check_card(program, "Faults", lesson);
            program.press(Key::escape);
        }
        program.press("shift+i");
        program.frame(2);
        check_card(program, "Problem on stage");
    });
}

TEST_CASE("stage broken: every fault of every lesson at every step: nothing clipped, pale or on each other") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1920, 1080}, Screen{1024, 640}})
        for (const ThemeId id : {ThemeId::dark, ThemeId::light}) {
            Program program(example("worked-4x4"), screen, true, id);
            std::set<std::string> said;
            const auto check_layout = [&](const StageFault& fault) {
                program.frame();
                for (const Finding& f : broken_rules(program))
                    if (said.insert(f.rule + f.where + f.text).second)
                        FAIL_CHECK(program.where(), ", ", std::string(fault.title), ": ", f.where, ": ",
                                   f.rule, " '", f.text, "' ", f.amount);
            };
            every_fault(program, check_layout);
            // Where one size of the page holds, longer numbers are what is left to go wrong.
            if (in_full && screen.height == 720 && id == ThemeId::dark)
                for (const char* name : {"ragged-7x5", "max-rises-late"})
                    every_fault(program, check_layout, example(name));
        }
}

TEST_CASE("stage broken: both values are printed as the two walks have them, at every step that differs") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    int panes = 0, plain = 0;
    const auto check_values = [&](const StageFault& fault) {
        program.frame();
        const AppState& s = program.state;
        const int k = program.step();
        const bool differs = s.comparison->largest[static_cast<std::size_t>(k)] > 0;
        const auto step = broken_step(s);
        INFO(program.where(), " ", std::string(fault.title));
        REQUIRE(step.has_value() == differs);
        CHECK((program.shows(fault.savings.any() ? "Saving" : fault.rounds() ? "Rounded" : "Fault")));
        const std::string is = texts_of(program, "Broken"), should = texts_of(program, "True");
        CHECK(is.empty() != differs);
        if (!differs) {
            ++plain;
            CHECK((program.shows("same") || program.shows("nothing") || program.shows("Every number")));
            return;
        }
        ++panes;
        // The walk itself, computed anew, is the witness.
        const auto truth = s.lesson->build(without_faults(*s.problem));
        double t = 0, b = 0;
        bool found = false;
        for (std::size_t n = 0; n < truth->writes(k).size(); ++n) {
            const Access& a = truth->writes(k)[n];
            const Value &x = truth->value(a.value), &y = s.trace->value(s.trace->writes(k)[n].value);
            if (a.slot != step->cell.slot || !x.region.contains(step->cell.row, step->cell.col)) continue;
            t = value_at(x, step->cell), b = value_at(y, step->cell);
            found = true;
        }
        REQUIRE(found);
        CHECK(distance(t, b) > 0);
        const NineDigits nine = nine_digits(t, b);
        const auto printed = [](const std::string& all, const std::string& text) {
            return all.find("|" + text + "|") != std::string::npos;
        };
        const auto [apart_b, apart_t] = format_apart(b, t);
        const auto tail = [&](const std::string& all) { return all.substr(std::min(nine.same, all.size())); };
        const bool both_plain = printed(should, apart_t) && printed(is, apart_b);
        const bool marked = printed(should, tail(nine.truth)) && printed(is, tail(nine.broken));
        const bool beyond =
            nine.truth == nine.broken && printed(should, nine.truth) && printed(is, nine.broken);
        const bool last_bits = same_number(t, b) && printed(should, format_short(t));
        const bool short_ones = printed(should, format_short(t)) && printed(is, format_short(b));
        CHECK_MESSAGE((both_plain || marked || beyond || last_bits || (short_ones && !std::isfinite(b - t))),
                      should, " / ", is);
        if (fault.rounds()) CHECK(program.look_for("Broken", "Broken") == nullptr);
    };
    every_fault(program, check_values);
    CHECK(panes > (looks_at_everything() ? 300 : 80));
    CHECK(plain > (looks_at_everything() ? 100 : 25));
    // Negative numbers, ragged tiles, three key blocks, α far below 1
    if (!in_full) return skip("too long for the sanitizers");
    for (const char* name : {"ragged-7x5", "max-rises-late", "causal-8"})
        every_fault(program, check_values, example(name));
}

TEST_CASE("stage broken: the difference of O is that against standard attention without tiles") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    const Matrix O = dense_output(*program.state.problem);
    for (const char* title : {"Leave the correction out", "Leave the division out"}) {
        program.show(example("worked-4x4"));
        break_it(program, title);
        const bool division = program.state.problem->switches.no_division;
        int shown = 0;
        for (int k = 0; k < program.state.trace->size(); ++k) {
            program.go_to_step(k, 2);
            const auto step = broken_step(program.state);
            if (!step) continue;
            const CellRef end = step->end;
            REQUIRE(end.slot == Slot::O);
            CHECK(step->truth.end == doctest::Approx(O(end.row, end.col)));
            if (division) {  // each row is ℓ times too large
                const Matrix S = program.state.problem->Q * program.state.problem->K.transpose();
                double l = 0;
                for (int c = 0; c < S.cols(); ++c) l += std::exp(S(end.row, c) - S.row(end.row).maxCoeff());
                CHECK(step->broken.end == doctest::Approx(l * O(end.row, end.col)));
            }
            const double far = step->broken.end - O(end.row, end.col);
            if (same_number(step->truth.end, step->broken.end)) continue;
            // In words where the same number so far stands beside it
            const std::string text = (far > 0 ? "+" : "") + format_short(far),
                              words = format_short(std::abs(far)) + (far > 0 ? " too high" : " too low");
            CHECK_MESSAGE((program.shows(text) || program.shows(words)), k, ": ", text, " in ",
                          texts_of(program, "Broken"));
            ++shown;
            // The rows that are wrong, counted against the dense result
            const Matrix B = program.state.trace->result(Slot::O);
            int wrong = 0;
            for (int r = 0; r < B.rows(); ++r) wrong += !(B.row(r) - O.row(r)).isZero(1e-9);
            CHECK(step->wrong_count() == wrong);
            CHECK(program.shows(std::to_string(wrong) + " of 4 rows wrong"));
        }
        CHECK(shown > 2);
    }
}

TEST_CASE("stage broken: before the first difference the stage says where it is, and D goes there") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Leave the correction out");
    program.frame(2);
    CHECK(program.shows("The same so far. The first difference: step 7, Correction (key D)."));
    CHECK(program.shows("Fault from step 7: correction left out"));
    program.press(Key::d);
    CHECK(program.step() == 6);
    program.frame(2);
    CHECK(program.look_for("Broken", "Broken"));
    program.press(Key::end);
    while (program.state.comparison->largest[static_cast<std::size_t>(program.step())] > 0)
        program.press(Key::left);
    program.go_to_step(program.state.trace->size() - 1);
    program.press(Key::d);
    CHECK(program.step() == 6);  // round again
    // Between two that differ
    program.go_to_step(23);
    program.frame(2);
    CHECK(program.shows("Fault again from step 27: correction left out"));

    program.show(example("max-first"));
    break_it(program, "Mask edge off by one");
    program.frame(2);
    CHECK(program.shows("there is no edge to get wrong"));
}

TEST_CASE("stage broken: row sum without the correction: the quotient, the excess and the percent") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Leave the correction out", 16);
    const auto step = broken_step(program.state);
    REQUIRE(step);
    CHECK(step->chosen);
    CHECK(step->cell == CellRef{Slot::l, 0, 0});
    REQUIRE(step->truth.parts.size() == 2);
    const double e = std::exp(-1), fresh = 1 + std::exp(-2);
    CHECK(step->truth.parts[0].value == doctest::Approx(e * (1 + e)));
    CHECK(step->broken.parts[0].value == doctest::Approx(1 + e));
    CHECK(step->truth.parts[1].value == doctest::Approx(fresh));
    CHECK(step->broken.parts[1].value == doctest::Approx(fresh));
    CHECK(plain(step->truth.cause) == "α = 0.368");
    CHECK(plain(step->truth.quotient).find("÷") != std::string::npos);
    CHECK(difference_text(7.204, 5.433) == "−1.771 (−25 %)");
    CHECK(difference_text(2, std::nan("")) == "no number");
    CHECK(difference_text(2, 2 + 1e-15) == "the same");
    CHECK_FALSE(same_number(-infinity, -.5));
    CHECK(same_number(-infinity, -infinity));
    program.check_shows({"at the end", "2 of 4 rows wrong", "−25 %", "true ", "what it should be"});
}

TEST_CASE(
    "stage broken: what a fault has made has its mark, not its colour alone; what is rounded has none") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    const auto marks_in = [&](std::string_view panel) {
        return std::ranges::count_if(program.items(), [&](const Item& item) {
            return item.text == "Fault mark" && item.panel.find(panel) != std::string::npos;
        });
    };
    break_it(program, "Leave the correction out", 16);
    CHECK(marks_in("Broken") == 2);  // its title, and the result
    CHECK(marks_in("True") == 0);
    CHECK(marks_in("Presenter") == 1);  // the sentence
    break_it(program, "bf16 kernel", 16);
    CHECK(marks_in("") == 0);
}

TEST_CASE("stage broken: a pane of one value says it once") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Leave the correction out", 14);
    const auto times = [&](std::string_view text, std::string_view panel) {
        return std::ranges::count_if(program.items(),
                                     [&](const Item& i) { return i.text == text && i.panel == panel; });
    };
    CHECK(times("0.368", "True") == 1);
    break_it(program, "Leave the correction out");
    break_it(program, "Leave the division out", 18);
    CHECK(times("÷", "True") <= 1);
    CHECK(times("7.204", "True") <= 2);  // of the step, and at the end
}

TEST_CASE("stage broken: what is called the cause has an effect: α of empty sums has none") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Leave the maximum out");
    program.go_to_step(9);  // O is made of P̃ V alone
    program.frame();
    CHECK(plain(broken_step(program.state)->broken.cause) == "P̃ = 2.718");
    CHECK(broken_sentence(program.state, broken_step(program.state)).find("because P̃[0,0] is 2.718") !=
          std::string::npos);
    break_it(program, "Leave the correction out", 16);
    CHECK(plain(broken_step(program.state)->broken.cause) == "α = 1.000");
}

TEST_CASE("stage broken: where several operands differ the cause is what they come from") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Leave the maximum out", 16);  // ℓ: α, the old ℓ and P̃ all differ
    CHECK(plain(broken_step(program.state)->broken.cause) == "m = 0");
    CHECK(broken_sentence(program.state, broken_step(program.state))
              .find("because m[0] is 0 and not 2 since") != std::string::npos);
}

TEST_CASE("stage broken: rounded numbers have nine digits, and those that differ are marked") {
    const NineDigits nine = nine_digits(1.63855000764, 1.63867188);
    CHECK(nine.truth == "1.63855001");
    CHECK(nine.broken == "1.63867188");
    CHECK(nine.same == std::string("1.638").size());
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "all fp16", 16);
    program.check_shows({"Rounded: all fp16", "Exact", "1.63", "rows differ"});
    CHECK_FALSE(program.shows("Fault"));
    CHECK(program.look_for("Rounded", "Broken"));
}

TEST_CASE(
    "stage broken: an element on its way is not called what it is at the end, both differences have names") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.go_to_step(17);
    break_it(program, "Leave the correction out", 17);
    program.frame(2);
    // Too large so far, too small once it is divided by an ℓ that is too large by more: in words, not in
    // signs.
    program.check_shows({"O[0,0] at the end", " so far", "1.795 too high", "1.771 too low"});
    for (const char* alone : {"+1.795", "−1.771"}) CHECK_FALSE(program.shows(alone));
    CHECK_FALSE(program.shows("ΔO"));
    program.go_to_step(16, 2);
    CHECK_FALSE(program.shows("so far"));
    program.check_shows({"Δℓ", "ΔO"});
    program.go_to_step(18, 2);  // divided: it is what it will be
    CHECK_FALSE(program.shows("so far"));
}

TEST_CASE("stage broken: a number that is lost has no bar but its name, and a sentence why") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Use the old maximum", 7);
    program.check_shows({"∞", "Fault: before its first keys", "no number"});
    CHECK(program.look_for("NaN", "Broken"));  // O at the end
}

TEST_CASE("stage broken: small outputs are wrong by their own size") {
    Problem small = example("worked-4x4");
    small.V *= 1e-13;
    Program program(small, {1280, 720}, true);
    break_it(program, "Leave the correction out", 18);
    CHECK(broken_step(program.state)->wrong_count() == 2);
    program.check_shows({"2 of 4 rows wrong", "25 % too small"});
    small.V *= -1;
    program.show(small);
    break_it(program, "Leave the correction out");
    program.go_to_step(18);
    program.frame();
    program.check_shows({"25 % too close to 0"});
}

TEST_CASE("stage broken: it is said of which number what it should be") {
    Program program(example("causal-8"), {1280, 720}, true);
    break_it(program, "Use the old maximum");
    int told = 0;
    for (int k = 0; k < program.state.trace->size(); ++k) {
        program.go_to_step(k);
        const auto step = broken_step(program.state);
        if (!step || std::isfinite(step->broken.value) || !std::isfinite(step->truth.value)) continue;
        const std::string words = broken_sentence(program.state, step);
        INFO("step ", k + 1, ": ", words);
        CHECK(words.find("It should be") == std::string::npos);
        if (words.find("should be") == std::string::npos) continue;
        CHECK(words.find(" should be " + format_short(step->truth.value)) != std::string::npos);
        ++told;
    }
    CHECK(told > 0);
}

TEST_CASE("stage broken: of the old and the new maximum none is blamed for α") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Leave the maximum out", 6);
    const std::string words = broken_sentence(program.state, broken_step(program.state));
    CHECK(words.find("α[0] is 1 instead of 0") != std::string::npos);
    CHECK(words.find("because") == std::string::npos);
}

TEST_CASE("stage broken: a wrong number that cancels before the end is said to do no harm") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    break_it(program, "Leave the maximum out", 16);
    const auto said = [&] { return broken_sentence(program.state, broken_step(program.state)); };
    CHECK(said().ends_with("O comes out right all the same."));
    program.go_to_step(18, 2);
    CHECK(said().starts_with("Numerator and ℓ are both 7.389 times as large: it cancels, and O["));
    break_it(program, "Leave the maximum out");  // repaired
    break_it(program, "Leave the correction out", 16);
    CHECK(said().find("comes out right") == std::string::npos);
}

TEST_CASE("stage broken: a partial result that is loaded has its letter, not its bytes") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("cascade");
    break_it(program, "Leave ln ℓ out of L");
    int told = 0;
    for (int k = 0; k < program.state.trace->size(); ++k) {
        if (program.state.trace->step(k).op != Op::load) continue;
        program.go_to_step(k);
        const auto step = broken_step(program.state);
        if (!step) continue;
        ++told;
        const std::string words = broken_sentence(program.state, step);
        CHECK_MESSAGE(words.find("bytes") == std::string::npos, words);
        CHECK_MESSAGE(words.starts_with("L_shared"), words);
    }
    CHECK(told > 0);
}

TEST_CASE("stage broken: a merge without weights is told as it adds, and its bars are the parts") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("merge");
    break_it(program, "Merge without weights");
    for (const int k : steps_of(*program.state.trace, Op::merge_output)) {
        program.go_to_step(k, 2);
        const auto step = broken_step(program.state);
        REQUIRE(step);
        CHECK(plain(step->truth.cause).find("w") != std::string::npos);
        CHECK(plain(step->broken.cause).find("w") == std::string::npos);
        for (const StageSide* side : {&step->truth, &step->broken}) {
            REQUIRE(side->parts.size() == 2);
            CHECK(side->parts[0].value + side->parts[1].value == doctest::Approx(side->value));
        }
        // In the bar, or where it is too low beside it.
        for (const BarPart& part : step->truth.parts)
            CHECK(texts_of(program, "True").find(format_short(part.value)) != std::string::npos);
    }
}

TEST_CASE(
    "stage broken: a tour's stop has both walks side by side where it points at the cell of the step alone") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    open_tour(program.state, "");
    Tour& tour = *program.state.tour;
    const auto stop = std::ranges::find(tour.script.stops, "Forgotten: α", &TourStop::heading);
    REQUIRE(stop != tour.script.stops.end());
    go_to_stop(program.state, static_cast<int>(stop - tour.script.stops.begin()));
    program.settle();
    const auto side_by_side = [&] {
        program.settle();
        program.frame(2);
        check_frame(program, "a broken stop");
        return !texts_of(program, "True").empty() && !texts_of(program, "Broken").empty();
    };
    const TourPlace own = stop->place;
    CHECK(side_by_side());
    CHECK(tour.place);
    for (const TourPlace& place : {TourPlace{TourPlace::Kind::cell, "", {Slot::P, 0, 2}, ""},
                                   {TourPlace::Kind::cell, "", {Slot::l, 1, 0}, ""},
                                   {TourPlace::Kind::matrix, "", {Slot::P, 0, 0}, ""},
                                   {TourPlace::Kind::panel, "Explanation", {}, ""}}) {
        stop->place = place;
        CHECK_FALSE(side_by_side());
        CHECK(tour.place);
    }
    stop->place = own;
    stop->also = {{TourPlace::Kind::matrix, "", {Slot::P, 0, 0}, ""}};
    CHECK_FALSE(side_by_side());
    stop->also.clear();
    CHECK(side_by_side());
}
