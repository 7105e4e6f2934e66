// What presenter pages tell beside their numbers: factors, names, signs at the end of a lane, what is read,
// what overflowed.
#include "app/io/examples.h"
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/stage_terms.h"
#include "app/ui/state/state.h"
#include "core/problem/mask.h"
#include "core/walk/formula.h"
#include "core/walk/printed_table.h"
#include "tests/app/ui/layout_check.h"
#include "tests/part.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <set>

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
    int seen = 0, on_others = 0;
    for (const char* problem : {"window-12", "causal-8", "six-words"})
        for (const char* lesson : {"flash-forward", "flash-backward", "attention", "split-kv", "ring"})
            for (const Screen size :
                 {stage_size, Screen{1600, 900}, Screen{1920, 1080}, Screen{2560, 1440}}) {
                const bool usual = size.width == 1280 || size.width == 1920;
                Program program(example(problem), size, true);
                program.show_lesson(lesson);
                const std::string factor = "× " + format_short(program.state.problem->softmax_scale());
                for (const int k : steps_of(*program.state.trace, Op::scores)) {
                    program.go_to_step(k, 2);
                    INFO(program.where());
                    for (const Item* text : texts(program, "Lens")) {
                        const bool total = contains(text->text, "≈") || contains(text->text, "=  ");
                        if (!total || text->text == "≈") continue;  // that of the products
                        ++(usual ? seen : on_others);
                        CHECK_MESSAGE(contains(text->text, factor), text->text);
                    }
                }
            }
    CHECK(seen > 15);
    CHECK(on_others > 15);
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

namespace {

using Row = std::vector<const Item*>;

// The numbers in the lens at that height, from left to right.
Row numbers_at(const Program& program, float x, float y) {
    Row out;
    for (const Item* text : texts(program, "Lens")) {
        const bool number =
            !text->text.empty() && text->text.find_first_not_of("0123456789.−") == std::string::npos;
        if (number && std::abs(middle(*text).y - y) < 4 && middle(*text).x > x) out.push_back(text);
    }
    std::ranges::sort(out, {}, [](const Item* text) { return middle(*text).x; });
    return out;
}

// "≈" of "D[0] ≈ 34.816"; none without a number behind it.
std::string last_sign(const std::string& text) {
    const std::size_t is = text.rfind("= "), near = text.rfind("≈ ");
    if (is == std::string::npos && near == std::string::npos) return "";
    return near == std::string::npos || (is != std::string::npos && is > near) ? "=" : "≈";
}

// "=" of "Σ = 1.2", or of "Σ × 0.5 = 1.2", where the products that stand there come to just that. Whether
// there is one.
bool check_total(const std::vector<const Item*>& all, const Row& products) {
    const auto total = std::ranges::find_if(all, [](const Item* text) { return contains(text->text, "Σ"); });
    if (total == all.end() || last_sign((*total)->text).empty()) return false;
    const std::string& line = (*total)->text;
    const std::size_t number = line.find_last_of(' ') + 1, by = line.find("× ");
    double sum = 0;
    for (const Item* product : products) sum += read_shown(product->text).value;
    if (by != line.npos) sum *= std::stod(line.substr(by + std::string_view("× ").size()));
    const bool holds = std::abs(sum - read_shown(line.substr(number)).value) < 1e-9;
    CHECK_MESSAGE((last_sign(line) == "=") == holds, line, ", ", sum);
    return true;
}

struct Products {
    int columns = 0, totals = 0;  // that were held against what stands beside them
};

// Each column of a table of products, whose signs stand at its left: "×", below it "=".
void check_products(const Program& program, Products& looked) {
    const std::vector<const Item*> all = texts(program, "Lens");
    const auto times = std::ranges::find(all, "×", &Item::text);
    if (times == all.end()) return;
    const ImVec2 sign = middle(**times);
    const auto equals = std::ranges::find_if(all, [&](const Item* text) {
        const ImVec2 at = middle(*text);
        return (text->text == "=" || text->text == "≈") && std::abs(at.x - sign.x) < 6 && at.y > sign.y;
    });
    if (equals == all.end()) return;
    const float pitch = middle(**equals).y - sign.y;
    const Row a = numbers_at(program, sign.x, sign.y - pitch), b = numbers_at(program, sign.x, sign.y),
              c = numbers_at(program, sign.x, sign.y + pitch);
    int checked = 0;
    bool exact = true;
    for (std::size_t n = 0; n < std::min({a.size(), b.size(), c.size()}); ++n) {
        if (std::abs(middle(*a[n]).x - middle(*c[n]).x) > 3) continue;
        const double product = read_shown(a[n]->text).value * read_shown(b[n]->text).value;
        CHECK_MESSAGE(comes_to(product, c[n]->text), a[n]->text, " × ", b[n]->text, " = ", c[n]->text);
        exact = exact && std::abs(product - read_shown(c[n]->text).value) < 1e-9;
        ++checked;
    }
    CHECK_MESSAGE(((*equals)->text == "=") == exact, (*equals)->text);
    looked.columns += checked;
    if (exact && checked > 0 && c.size() == a.size()) looked.totals += check_total(all, c);
}

// Each cell of dS and those that it is made from. Returns how many.
int check_gradients(const Program& program, int k) {
    const std::vector<StageTerm> terms = stage_terms(*program.state.trace, k);
    if (terms.size() != 4) return 0;
    const Region& tile = terms[3].value->region;
    int checked = 0;
    for (int n = 0; n < tile.rows * tile.cols; ++n) {
        const int row = tile.row + n / tile.cols, col = tile.col + n % tile.cols;
        const auto text = [&](std::size_t term) {
            return number_in(program, {terms[term].slot, row, term == 2 ? 0 : col}, "Presenter");
        };
        const Item *const P = text(0), *const dP = text(1), *const D = text(2), *const dS = text(3);
        if (!P || !dP || !D || !dS) continue;
        const double shown =
            read_shown(P->text).value * (read_shown(dP->text).value - read_shown(D->text).value);
        CHECK_MESSAGE(comes_to(shown, dS->text), P->text, " × (", dP->text, " − ", D->text, ") = ", dS->text);
        ++checked;
    }
    return checked;
}

}  // namespace

TEST_CASE("stage: whoever works out a table of products or a tile of dS comes to just what is shown") {
    Products products;
    int gradients = 0;
    Part part("TILEWALK_LAYOUT", 3);
    for (const char* problem : {"worked-4x4", "gradients-4x4"})
        for (const char* lesson : {"attention", "backward", "training-step", "flash-forward",
                                   "flash-backward", "ring", "ring-backward", "split-kv"})
            for (const Screen size : {stage_size, Screen{1600, 900}, Screen{1920, 1080}}) {
                Program program(example(problem), size, true);
                program.show_lesson(lesson);
                for (int k = 0; k < program.state.trace->size(); ++k) {
                    if (info(program.state.trace->step(k).op).kind != OpKind::compute) continue;
                    if (!part.takes()) continue;
                    program.go_to_step(k, 2);
                    INFO(program.where());
                    check_products(program, products);
                    if (program.state.trace->step(k).op == Op::ds) gradients += check_gradients(program, k);
                }
            }
    CHECK(products.columns > (part.whole() ? 500 : 120));
    CHECK(products.totals > (part.whole() ? 100 : 25));
    CHECK(gradients > (part.whole() ? 50 : 10));
}

TEST_CASE("stage: a division has the digits of its formula, and its number does not lie on the hatching") {
    Program program(example("worked-4x4"), stage_size, true);
    program.show_lesson("merge");
    program.go_to_step(6, 2);
    program.check_shows({"11.8039", "÷ 1.6386", "7.204"});
}

TEST_CASE("stage: terms that run back and ahead have their signs, and one of 0 its lane") {
    Program program(example("gradients-4x4"), stage_size, true);
    program.show_lesson("ring-backward");
    program.go_to_step(19, 2);
    for (const char* term : {"old −1.393", "+1.096", "+0"})
        CHECK_MESSAGE(program.look_for(term, "Lens"), term);
}

TEST_CASE("stage: the number of a part that is too long stands beside the whole of it") {
    Problem broken = example("worked-4x4");
    broken.switches.no_correction = true;
    Program program(broken, stage_size, true);
    program.go_to_step(16, 2);
    const Item* const number = program.look_for("= 1.368");
    REQUIRE(number);
    const Item* const name = program.look_for("true 1.639");
    REQUIRE(name);
    CHECK(number->min.x >= name->min.x - 2);
}

TEST_CASE(
    "stage: rows in drawings are numbered as large as other words, and an index below a letter is a block") {
    int named = 0;
    for (const char* lesson : {"attention", "backward", "flash-forward", "flash-backward", "split-kv", "ring",
                               "ring-backward", "softmax-1pass", "merge"}) {
        Program program(example("gradients-4x4"), stage_size, true);
        program.show_lesson(lesson);
        for (int k = 0; k < program.state.trace->size(); ++k) {
            program.go_to_step(k, 2);
            INFO(program.where());
            for (const Item* text : texts(program, "Lens")) {
                const bool small =
                    std::ranges::any_of(std::array{"₀", "₁", "₂", "₃"},
                                        [&](const char* index) { return contains(text->text, index); });
                CHECK_MESSAGE(!small, text->text);
                named += text->text == "k0" || text->text == "q0";
            }
        }
    }
    CHECK(named > 20);
}

TEST_CASE("stage: the mark of a maximum that rose lies on no word") {
    int seen = 0;
    for (const Problem& problem : {random_with_tiles(64, 16, 8, 8), example("worked-4x4")}) {
        Program program(problem, stage_size, true);
        for (const int k : steps_of(*program.state.trace, Op::new_max)) {
            if (k > 80) break;
            for (const int at : {k - 1, k, k + 1}) {
                program.go_to_step(at, 2);
                INFO(program.where());
                for (const Item& mark : program.items()) {
                    if (mark.text != "max rose") continue;
                    ++seen;
                    for (const Item* text : texts(program)) {
                        const bool apart = text->max.x <= mark.min.x || text->min.x >= mark.max.x ||
                                           text->max.y <= mark.min.y || text->min.y >= mark.max.y;
                        CHECK_MESSAGE(apart, text->text);
                    }
                }
            }
        }
    }
    CHECK(seen > 40);
}

TEST_CASE("stage: the head says whose keys a rank has, round after round, in numbers that are read") {
    Problem problem = random_with_tiles(16, 8, 2, 2);
    problem.options.ranks = 4;
    Program program(problem, stage_size, true);
    program.show_lesson("ring");
    const auto head = [&] {
        std::string out;
        for (const Item* text : texts(program))
            if (text->min.y < 60 && text->min.x > 900 && text->max.x < 1160) out += text->text;
        return out;
    };
    const int second_round = nth_step(*program.state.trace, Op::scores, 1);
    program.go_to_step(second_round, 2);
    CHECK_MESSAGE(contains(head(), "0321"), head());
}

TEST_CASE("stage: a shrink of an average says by how much it is drawn, not α alone") {
    Program program(example("worked-4x4"), stage_size, true);
    program.show_lesson("softmax-1pass");
    const Trace& trace = *program.state.trace;
    program.go_to_step(trace.size() - 1, 2);
    const std::vector<int> sums = steps_of(trace, Op::row_sum);
    for (std::size_t n = 1; n < sums.size(); ++n) {
        const auto at = [&](Slot slot, int k) { return trace.live(slot, k).value->data(0, 0); };
        const double shrink = at(Slot::alpha, sums[n]) * at(Slot::l, sums[n] - 1) / at(Slot::l, sums[n]);
        program.check_shows({"× " + format_short(shrink)});
    }
    CHECK_FALSE(program.shows("× 0.368"));
}

TEST_CASE("stage: the equation of an entry stands well apart from that of the matrices, or below it") {
    int beside = 0;
    for (const auto& [lesson, size] : {std::pair{"backward", stage_size},
                                       {"training-step", stage_size},
                                       {"flash-forward", stage_size},
                                       {"flash-forward", Screen{1920, 1080}}}) {
        Program program(example("worked-4x4"), size, true);
        program.show_lesson(lesson);
        for (int k = 0; k < program.state.trace->size(); ++k) {
            program.go_to_step(k, 2);
            for (const Item* line : texts(program)) {
                const std::size_t arrow = line->text.find("  ←  "), name = line->text.rfind("]  =  ");
                if (arrow == std::string::npos || name == std::string::npos || name < arrow) continue;
                ++beside;
                CHECK_MESSAGE(contains(line->text, ";        "), program.where(), ": ", line->text);
            }
        }
    }
    CHECK(beside > 10);
}

TEST_CASE("stage: maxima far from zero are told apart by their bars") {
    Program program(example("large-logits"), stage_size, true);
    program.go_to_step(steps_of(*program.state.trace, Op::new_max).at(1), 2);
    const Item *low = nullptr, *high = nullptr;
    for (const Item* text : texts(program)) {
        if (text->text == "1001.0" && text->panel == "Lens") low = text;
        if (text->text == "max 1003.0") high = text;
    }
    REQUIRE(low);
    REQUIRE(high);
    CHECK(middle(*low).y > middle(*high).y + 40);
}

namespace {

bool ends_with_number_of(const Item& one, const Item& other) {
    const auto number = [](const std::string& text) { return text.substr(text.rfind(' ') + 1); };
    return number(one.text) == number(other.text);
}

}  // namespace

TEST_CASE("stage: a sum has one sign before it, in the formula and in the drawing") {
    int seen = 0;
    for (const char* lesson : {"backward", "training-step", "attention", "flash-forward", "flash-backward"})
        for (const char* problem : {"worked-4x4", "gradients-4x4"}) {
            Program program(example(problem), stage_size, true);
            program.show_lesson(lesson);
            for (int k = 0; k < program.state.trace->size(); ++k) {
                program.go_to_step(k, 2);
                // Numbers that the formula tells come to its result by themselves.
                if (!program.state.explanation.numbers.empty() &&
                    program.shows(plain(program.state.explanation.numbers)))
                    continue;
                const auto drawn = std::ranges::find_if(
                    program.items(), [](const Item& item) { return item.text.starts_with("Σ"); });
                if (drawn == program.items().end()) continue;
                for (const Item* line : texts(program)) {
                    const bool formula = line->panel != "Lens" && contains(line->text, "←") &&
                                         ends_with_number_of(*line, *drawn);
                    if (!formula) continue;
                    ++seen;
                    CHECK_MESSAGE(last_sign(line->text) == last_sign(drawn->text), program.where(), ": ",
                                  line->text, " | ", drawn->text);
                }
            }
        }
    CHECK(seen > 10);
}

TEST_CASE("stage: what a mask makes of a score is not rounded: it is −∞") {
    int seen = 0;
    for (const char* lesson : {"flash-forward", "flash-backward", "attention"}) {
        Program program(example("causal-8"), stage_size, true);
        program.show_lesson(lesson);
        for (const int k : steps_of(*program.state.trace, Op::mask)) {
            program.go_to_step(k, 2);
            INFO(program.where());
            CHECK_FALSE(program.shows("≈ −∞"));
            seen += program.shows("= −∞");
        }
    }
    CHECK(seen > 4);
}

TEST_CASE(
    "stage: a loss is said to be just that where the numbers in its cells come to it, else about that") {
    Program program(example("worked-4x4"), stage_size, true);
    program.show_lesson("training-step");
    std::set<std::string> signs;
    for (const int k : steps_of(*program.state.trace, Op::loss)) {
        program.go_to_step(k, 2);
        const std::vector<StageTerm> terms = stage_terms(*program.state.trace, k);
        REQUIRE(terms.size() == 3);
        const Region& at = terms[0].value->region;
        double sum = 0;
        for (int n = 0; n < at.rows * at.cols; ++n) {
            const auto shown = [&](std::size_t term) {
                const Item* const cell =
                    number_in(program, {terms[term].slot, n / at.cols, n % at.cols}, "Presenter");
                REQUIRE(cell);
                return read_shown(cell->text).value;
            };
            sum += shown(0) * shown(1);
        }
        const std::string loss = format_fixed(terms[2].value->data(0, 0), 3);
        const std::string sign = std::abs(sum - read_shown(loss).value) < 1e-9 ? "=" : "≈";
        CHECK(program.shows("loss " + sign + " " + loss));
        signs.insert(sign);
    }
    CHECK(signs.size() == 2);
}

TEST_CASE("stage: exp has one shape in one place") {
    Program program(example("worked-4x4"), stage_size, true);
    const Trace& trace = *program.state.trace;
    int seen = 0;
    std::optional<Item> first;
    for (int k = 0; k < trace.size(); ++k) {
        if (trace.step(k).op != Op::correction && trace.step(k).op != Op::exponentials) continue;
        program.go_to_step(k, 2);
        const Item* const plot = program.look_for("exp plot");
        REQUIRE_MESSAGE(plot, program.where());
        if (!first) first = *plot;
        const auto size_of = [](const Item& item) {
            return ImVec2{item.max.x - item.min.x, item.max.y - item.min.y};
        };
        const ImVec2 one = size_of(*first), now = size_of(*plot);
        CHECK(std::abs(plot->min.y - first->min.y) < 2);
        CHECK(std::abs(now.y - one.y) < 2);
        CHECK(std::abs(now.x - one.x) < .12f * one.x);
        ++seen;
    }
    CHECK(seen == 8);
}

TEST_CASE("stage: the axis of exp goes on to the lowest exponent that is drawn on it") {
    Program program(random_with_tiles(64, 32, 8, 8), stage_size, true);
    const Trace& trace = *program.state.trace;
    int longer = 0;
    for (const int k : steps_of(trace, Op::exponentials)) {
        if (k > 100) break;
        program.go_to_step(k, 2);
        const double m =
            value_at(*trace.live(Slot::m, k).value, {Slot::m, program.state.explanation.target.row, 0});
        const Value& S = *trace.live(Slot::S, k).value;
        const double lowest = S.data.row(program.state.explanation.target.row - S.region.row).minCoeff() - m;
        if (lowest >= -4 || lowest < -8) continue;
        CHECK_MESSAGE(program.look_for(format_short(std::floor(lowest))), lowest);
        ++longer;
    }
    CHECK(longer > 0);
}

TEST_CASE("stage: a row below a term of several matrices has its own name") {
    Program program(example("worked-4x4"), stage_size, true);
    program.show_lesson("backward");
    program.go_to_step(3, 2);  // P ⊙ (dP − D)
    const auto right_names = [&] {
        return std::ranges::count_if(program.items(), [](const Item& item) {
            return item.kind == ItemKind::text && item.text == "dP" && item.min.x > 640 && item.max.y < 300;
        });
    };
    CHECK(right_names() == 1);
}

TEST_CASE("stage: start values say what they mean") {
    int seen = 0;
    for (const char* lesson :
         {"flash-forward", "flash-forward-v1", "flash-backward", "split-kv", "cascade", "ring-backward"}) {
        Program program(example("worked-4x4"), stage_size, true);
        program.show_lesson(lesson);
        for (const int k : steps_of(*program.state.trace, Op::init)) {
            program.go_to_step(k, 2);
            INFO(program.where());
            CHECK((program.shows("no weight yet") || program.shows("grows on chip") ||
                   program.shows("grows in HBM")));
            ++seen;
        }
    }
    CHECK(seen > 8);
}

TEST_CASE("stage: a division is drawn to a scale that is shown, that of the whole row") {
    Program program(example("causal-8"), stage_size, true);
    int small = 0;
    for (const int k : steps_of(*program.state.trace, Op::normalize)) {
        program.go_to_step(k, 2);
        INFO(program.where());
        std::vector<double> ticks;
        for (const Item* text : texts(program, "Lens"))
            if (const double v = read_shown(text->text).value;
                text->text.find_first_not_of("0123456789.−") == std::string::npos &&
                std::abs(v * 4 - std::round(v * 4)) < 1e-9)
                ticks.push_back(v);
        CHECK(std::ranges::count(ticks, 0) >= 1);
        small += ticks.size() > 1;
    }
    CHECK(small > 2);
}

namespace {

int decimals_of_text(const std::string& text) {
    const std::size_t point = text.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

// Every number of a matrix on stage has the decimals of the others, and what up to three decimals show
// exactly is shown exactly. Returns how many numbers were seen.
int check_decimals(const Program& program) {
    const std::vector<StageTerm> terms =
        stage_terms(*program.state.trace, program.step(), program.state.explanation);
    int seen = 0;
    for (const StageTerm& term : terms) {
        // Old and new, and parts of a whole, have cells of one name.
        const auto role = [](const StageTerm& t) { return info(t.slot).role; };
        if (std::ranges::count(terms, role(term), role) > 1) continue;
        const Region& at = term.value->region;
        std::set<int> decimals;
        std::string all;
        for (int n = 0; n < at.rows * at.cols; ++n) {
            const int r = n / at.cols, c = n % at.cols;
            const Item* const text = number_in(program, {term.slot, at.row + r, at.col + c}, "Presenter");
            if (!text || text->text.find_first_not_of("0123456789.−") != std::string::npos) continue;
            if (contains(text->text, "×") || contains(text->text, "∞")) continue;
            const double v = term.value->data(r, c);
            decimals.insert(decimals_of_text(text->text));
            all += " " + text->text;
            const bool exact = std::abs(v * 1000 - std::round(v * 1000)) < 1e-9;
            if (exact && std::abs(read_shown(text->text).value - v) > 1e-9)
                FAIL_CHECK(std::string(info(term.slot).name), ": ", text->text, " for ", v);
            ++seen;
        }
        CHECK_MESSAGE(decimals.size() <= 1, std::string(info(term.slot).name), ":", all);
    }
    return seen;
}

}  // namespace

TEST_CASE("stage: one matrix has one set of decimals, and an exact number is not rounded") {
    int seen = 0;
    Part part("TILEWALK_LAYOUT", 3);
    for (const Screen size : {stage_size, Screen{1920, 1080}})
        for (const Problem& problem : tilewalk::examples()) {
            Program program(problem, size, true);
            for (const Lesson& lesson : lessons()) {
                const auto trace = build_trace(lesson, problem);
                if (!trace || lesson.one_row || lesson.uses(chooses_sequences)) continue;
                program.show_lesson(lesson.id);
                std::set<Op> told;
                for (int k = 0; k < program.state.trace->size(); ++k) {
                    const Op op = program.state.trace->step(k).op;
                    if (info(op).kind != OpKind::compute || !told.insert(op).second) continue;
                    if (!part.takes()) continue;
                    program.go_to_step(k, 2);
                    INFO(problem.name, ", ", program.where());
                    seen += check_decimals(program);
                }
            }
        }
    CHECK(seen > (part.whole() ? 5000 : 1200));
}

TEST_CASE("stage: of a sum over a tile of four rows one row has its drawing, beside the map of the whole") {
    for (const Problem& problem :
         {random_with_tiles(12, 12, 4, 4), random_with_tiles(32, 16, 4, 4), random_with_tiles(18, 8, 4, 4)})
        for (const Screen size : {stage_size, Screen{1920, 1080}}) {
            Program program(problem, size, true);
            for (const int k : steps_of(*program.state.trace, Op::row_sum)) {
                program.go_to_step(k, 2);
                INFO(problem.name, ", ", program.where());
                const Item* const lens = program.look_for("Lens");
                REQUIRE(lens);
                CHECK(lens->max.y - lens->min.y > 180);
                CHECK(program.shows("whole "));
                if (k > 40) break;
            }
        }
}

TEST_CASE("stage: what a running output is made from stands there: α and the sum before") {
    Program program(example("worked-4x4"), stage_size, true);
    program.show_lesson("softmax-1pass");
    const Trace& trace = *program.state.trace;
    const std::vector<int> steps = steps_of(trace, Op::output);
    const int k = steps.at(2);
    program.go_to_step(k, 2);
    const auto stands = [&](Slot slot, int at) {
        const std::string number = format_fixed(trace.live(slot, at).value->data(0, 0), 4);
        return std::ranges::any_of(program.items(), [&](const Item& item) {
            return item.kind == ItemKind::text && item.text == number;
        });
    };
    CHECK(stands(Slot::alpha, k));
    CHECK(stands(Slot::l, steps.at(1)));
    CHECK(stands(Slot::l, k));
}

TEST_CASE("stage: a load or a store of words names them, and so does a part of a merge") {
    Program program(example("six-words"), stage_size, true);
    std::set<OpKind> kinds;
    for (const char* lesson : {"attention", "flash-forward", "flash-backward", "ring", "ring-backward"}) {
        program.show_lesson(lesson);
        for (int k = 0; k < program.state.trace->size(); ++k) {
            const OpKind kind = info(program.state.trace->step(k).op).kind;
            if (kind != OpKind::load && kind != OpKind::store) continue;
            program.go_to_step(k, 2);
            INFO(program.where());
            // Beside the rows or, where that has no room, beside the title.
            const std::vector<std::string>& words = program.state.problem->tokens;
            CHECK(std::ranges::any_of(texts(program), [&](const Item* text) {
                return std::ranges::any_of(words, [&](const std::string& word) {
                    return text->text == word || contains(text->text, "(" + word + " ");
                });
            }));
            kinds.insert(kind);
        }
    }
    CHECK(kinds.size() == 2);
    program.show_lesson("merge");
    program.go_to_step(0, 2);
    CHECK(program.shows("(The cat sat)"));
    program.go_to_step(4, 2);
    CHECK(program.shows("query 0 (The)"));
}

TEST_CASE("stage: printed parts that miss the printed sum say so, and a sum in brief has its numbers") {
    Program program(random_with_tiles(64, 64, 8, 8), stage_size, true);
    program.go_to_step(64, 2);
    const Item* line = nullptr;
    for (const Item* text : texts(program))
        if (contains(text->text, "ℓ[0]") && contains(text->text, "←")) line = text;
    REQUIRE(line);
    CHECK(contains(line->text, "×"));
    // The sign is that of what the printed numbers come to; here they miss the printed sum.
    const std::string& said = line->text;
    const std::size_t total_at = said.find_last_of("0123456789");
    const std::size_t sign_at = std::max(said.rfind("≈"), said.rfind("="));
    REQUIRE(sign_at != std::string::npos);
    REQUIRE(sign_at < total_at);
    CHECK(said.substr(sign_at).starts_with("≈"));
    CHECK(std::ranges::none_of(texts(program), [](const Item* text) {
        return text->panel == "Lens" && text->text.find("= ") != std::string::npos;
    }));
    const double old = program.state.trace->value(program.state.trace->reads(64)[1].value).data(0, 0);
    // The same in the formula, the cell and the drawing.
    std::set<std::string> written;
    for (const Item* text : texts(program))
        if (contains(text->text, format_fixed(old, 4)))
            written.insert("4");
        else if (contains(text->text, format_fixed(old, 3)))
            written.insert("3");
    CHECK(written.size() == 1);
}

TEST_CASE(
    "stage: a tile has the numbers of its queries and keys, where they cost nothing; captions have none") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.show_lesson("flash-forward");
    const auto stands = [&](const char* name) {
        return std::ranges::any_of(program.items(), [&](const Item& item) {
            return item.kind == ItemKind::text && item.panel != "Lens" && item.text == name;
        });
    };
    const Trace& trace = *program.state.trace;
    program.go_to_step(nth_step(trace, Op::exponentials, 1), 2);  // tile (0, 1)
    CHECK(stands("k2"));
    CHECK(stands("k3"));
    CHECK_FALSE(stands("k0"));
    program.go_to_step(nth_step(trace, Op::scores, 2), 2);  // tile (1, 0)
    CHECK(stands("q2"));
    CHECK(stands("q3"));
    program.show_lesson("attention");  // whole matrices begin at 0
    program.go_to_step(nth_step(*program.state.trace, Op::exponentials, 0), 2);
    CHECK_FALSE(stands("k0"));
    // The result of a sum stays in its line.
    program.show_lesson("flash-backward");
    program.go_to_step(7, 2);
    CHECK(program.shows("dV"));
    Problem p = *random_problem(16, 8, 1);
    p.Br = p.Bc = 4, p.causal = true;
    Program large(p, {1600, 900}, true);
    for (int k = 0; k < 40; ++k) {
        large.go_to_step(k, 1);
        CHECK_FALSE(large.shows("(q"));
        CHECK_FALSE(large.shows("(k"));
    }
}
