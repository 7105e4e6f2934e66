// No text leaves its panel or lies on another one, at any supported size. TILEWALK_LAYOUT=all looks at every
// step instead of a choice of them; TILEWALK_LAYOUT_REPORT=FILE writes what was found as a list.
#include "app/ui/chapters/compare/page.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/problem/heads.h"
#include "tests/app/ui/layout_check.h"
#include "tests/contains.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

std::vector<Problem> problems() {
    std::vector<Problem> out;
    for (const char* name : {"worked-4x4", "causal-8", "fully-masked-row", "large-logits", "max-first",
                             "max-rises-late", "ragged-7x5", "six-by-two-blocks", "ties", "window-12"})
        out.push_back(example(name));
    out.push_back(random_with_tiles(16, 8, 4, 4));
    if (in_full) out.push_back(random_with_tiles(64, 64, 8, 8));
    out.push_back(random_with_tiles(40, 3, 16, 8));
    out.push_back(random_with_tiles(3, 1, 2, 2));
    out.push_back(random_with_tiles(1, 1, 1, 1));
    out.push_back(random_with_tiles(5, 12, 2, 2));
    return out;
}

struct Case {
    Screen screen;
    bool presenter;
};
const Case all_cases[] = {{{1024, 640}, false},  {{1280, 720}, false},     {{1600, 900}, false},
                          {{1920, 1080}, false}, {{1920, 1080, 2}, false}, {{2560, 1440}, false},
                          {{1280, 720}, true},   {{1920, 1080}, true}};

std::vector<Case> cases() {
    if (in_full) return {std::begin(all_cases), std::end(all_cases)};
    return {all_cases[0], all_cases[4], all_cases[6]};
}

// Steps that look different from each other: each kind of step where it first occurs, in the middle and last.
std::vector<int> steps_to_look_at(const Trace& trace) {
    std::set<int> out;
    const bool small = trace.size() <= 200;
    for (int n = 0; n < static_cast<int>(Op::count); ++n) {
        const Op op = static_cast<Op>(n);
        const std::vector<int> steps = steps_of(trace, op);
        if (steps.empty() || (!small && op != Op::output && op != Op::scores && !looks_at_everything()))
            continue;
        if (small && looks_at_everything()) out.insert(steps.begin(), steps.end());
        out.insert(steps.front());
        if (in_full && small) out.insert(steps[steps.size() / 2]);
        if (in_full) out.insert(steps.back());
    }
    return {out.begin(), out.end()};
}

// One line per mistake, however many steps and problems show it: digits do not count.
struct Report {
    struct Entry {
        std::string first;
        int times = 0;
    };
    std::map<std::string, Entry> entries;

    static std::string without_digits(std::string text) {
        for (char& c : text)
            if (c >= '0' && c <= '9') c = '0';
        text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == '0' && b == '0'; }),
                   text.end());
        return text;
    }

    void add(const std::string& where, const Finding& f) {
        // Pale letters are pale whatever they say.
        const std::string text = f.rule == "is too pale" ? "" : without_digits(f.text);
        Entry& entry = entries[f.where + f.rule + text + where.substr(0, where.find(','))];
        char amount[32];
        std::snprintf(amount, sizeof amount, "%.1f", static_cast<double>(f.amount));
        if (entry.times++ == 0)
            entry.first = f.where + ": '" + f.text + "' " + f.rule + " (" + amount + "), " + where;
    }
    void add(const Program& program, const std::string& what = {}, LayoutRules rules = {}) {
        const std::string where = program.where() + ", " + what;
        for (const Finding& f : broken_rules(program, rules)) add(where, f);
        if (!std::getenv("TILEWALK_LAYOUT_REPORT")) return;
        for (const std::string& text : shortened_texts(program)) {
            Entry& entry = entries["zz shortened " + without_digits(text)];
            if (entry.times++ == 0) entry.first = "(shortened, not wrong in itself) " + text + ", " + where;
        }
    }
    void write() const {
        if (const char* path = std::getenv("TILEWALK_LAYOUT_REPORT")) {
            std::ofstream out(path, std::ios::app);
            for (const auto& [key, entry] : entries) out << entry.first << "  ×" << entry.times << '\n';
        }
        for (const auto& [key, entry] : entries)
            if (!key.starts_with("zz")) FAIL_CHECK(entry.first, "  ×", entry.times);
    }
};

void look_at_steps(Program& program, const Problem& problem, Report& report, LayoutRules rules = {}) {
    program.show(problem);
    for (int k : steps_to_look_at(*program.state.trace)) {
        program.go_to_step(k);
        report.add(program, {}, rules);
    }
}

}  // namespace

TEST_CASE("every text has its place at every size, step and problem") {
    Report report;
    for (const Case& c : cases()) {
        Program program(example("worked-4x4"), c.screen, c.presenter);
        for (const Problem& problem : problems()) look_at_steps(program, problem, report);
    }
    report.write();
}

TEST_CASE("every text stands out from what lies below it in every theme") {
    Report report;
    for (const Case& c : {all_cases[2], all_cases[0], all_cases[6]}) {
        Program program(example("worked-4x4"), c.screen, c.presenter);
        for (ThemeId id : all_themes) {
            program.state.settings.theme = id;
            for (const char* name : {"worked-4x4", "causal-8", "large-logits", "ragged-7x5"})
                look_at_steps(program, example(name), report, {.geometry = false});
        }
    }
    report.write();
}

TEST_CASE("what opens over the panels has its place too") {
    Report report;
    for (const Case& c : cases()) {
        Program program(example("worked-4x4"), c.screen, c.presenter);
        AppState& state = program.state;
        const auto look = [&](const std::string& what) {
            program.frame_unlisted();
            program.frame();
            report.add(program, what);
        };
        state.show_help = true;
        look("help");
        state.show_help = false;
        Problem grouped = example("causal-8");
        give_heads(grouped, 8, 2);
        show_head(grouped, 5);
        const Problem before = *state.problem;
        program.show(grouped);
        state.heads.open = true;
        look("heads");
        state.heads.open = false;
        program.show(before);
        state.show_goto = true;
        look("go to step");
        state.show_goto = false;
        notify(state, "There is no step \"4711\"; the walk has steps 1 to 40.");
        look("a notice");
        notify(
            state,
            "In problem.json, row 3 of Q has 5 numbers where 4 were expected, as in its first row, because "
            "every row of a matrix has as many numbers as there are columns; a very long sentence.");
        look("a long notice");
        state.notice.clear();
        state.settings.pseudocode = true;
        look("pseudocode");
        state.settings.pseudocode = false;
        if (c.presenter) continue;
        state.show_problem = true;
        for (const Problem& problem : problems())
            for (const auto tab : {ProblemForm::settings, ProblemForm::scores, ProblemForm::numbers}) {
                program.show(problem);
                state.form.tab = tab;
                look(tab == ProblemForm::numbers  ? "numbers"
                     : tab == ProblemForm::scores ? "scores"
                                                  : "settings");
            }
        state.form.tab = ProblemForm::settings;
        Problem numbered = example("window-12");
        numbered.scale = {Scale::Kind::number, 0.12345678901};
        numbered.logits = {12.345678901, 0.0625, -1.5};
        program.show(numbered);
        state.form.tab = ProblemForm::scores;
        look("problem panel, softcap and slope");
        state.form.tab = ProblemForm::settings;
        look("problem panel, window and number");
    }
    report.write();
}

TEST_CASE("the value under the mouse is shown inside the window") {
    Report report;
    for (const Case& c : {all_cases[0], all_cases[2], all_cases[6]}) {
        Program program(example("worked-4x4"), c.screen, c.presenter);
        for (int k : {0, 16, 17, 39}) {
            program.mouse_away();
            program.go_to_step(k);
            std::vector<Item> cells;
            for (const Item& item : program.items())
                if (item.kind == ItemKind::cell && item.visible) cells.push_back(item);
            for (std::size_t n = 0; n < cells.size(); n += 5) {
                program.mouse_to(cells[n]);
                program.frame(2);
                report.add(program, "over " + cells[n].text);
            }
        }
    }
    report.write();
}

TEST_CASE("in a small window the header has short names of problems, not the beginnings of long ones") {
    Program program(example("worked-4x4"), {1024, 640});
    const auto header = [&](const Problem& p) {
        program.show(p);
        std::string all;
        for (const Item& item : program.items())
            if (item.panel == "Header") all += item.text + "\n";
        return all;
    };
    CHECK(contains(header(example("worked-4x4")), "worked-4x4"));
    const std::string causal =
        header(example("causal-8"));  // what comes before the comma, or the file's name
    CHECK((contains(causal, "Causal mask\n") || contains(causal, "causal-8\n")));
    CHECK(contains(header(random_with_tiles(12, 4, 2, 2)), "12 × 4"));
}

TEST_CASE("the legend of the map has words that fit beside it") {
    for (const int height : {800, 900}) {
        Program program(example("worked-4x4"), {1280, height});
        program.go_to_step(16, 2);
        INFO(program.where());
        program.check_shows({"used", "in SRAM", "to come"});
        CHECK_FALSE(program.shows("not reach"));
    }
    Program program(example("worked-4x4"), {1600, 900});
    program.go_to_step(16, 2);
    program.check_shows({"in SRAM now", "not reached"});
}

TEST_CASE("texts that lie on each other are found, whichever begins further left, but not under a card") {
    Program program(example("worked-4x4"));
    program.frame(2);
    REQUIRE(broken_rules(program).empty());
    const Item text = program.find("slow, big", "HBM");
    for (const float by : {-6.0f, 0.0f, 6.0f, 4000.0f}) {
        Item other = text;
        other.text = "other", other.min.x += by, other.max.x += by;
        program.list.items.push_back(other);
        const auto over = [](const Finding& f) { return f.rule == "overlaps"; };
        const std::vector<Finding> found = broken_rules(program);
        CHECK(std::ranges::count_if(found, over) == (by < 1000 ? 1 : 0));
        program.list.items.back().panel = "Help";
        CHECK(std::ranges::count_if(broken_rules(program), over) == 0);
        program.list.items.pop_back();
    }
}

// What has no room there has shorter words instead.
TEST_CASE("in the smallest window no title, name, label or status is cut off") {
    const auto look = [](const Program& program, const std::string& title) {
        for (const std::string& text : shortened_texts(program)) {
            const std::size_t panel = text.find(": ");
            const std::string words =
                text.substr(panel + 2, text.size() - panel - 2 - std::string("…").size());
            for (const char* whole : {"Timeline", "HBM", "Time", "Memory", "Run", "Verdict"})
                CHECK_MESSAGE(!text.starts_with(std::string(whole) + ": "), program.where(), ": ", text);
            if (!words.empty()) CHECK_MESSAGE(!title.starts_with(words), program.where(), ": ", text);
        }
    };
    for (const char* name : {"worked-4x4", "causal-8"}) {
        Program program(example(name), {1024, 640});
        for (const Lesson& lesson : lessons()) {
            if (!build_trace(lesson, example(name))) continue;
            program.show_lesson(lesson.id);
            for (const int k : steps_to_look_at(*program.state.trace)) {
                program.go_to_step(k);
                look(program, program.state.explanation.title);
            }
        }
    }
    Program tour(example("worked-4x4"), {1024, 640});
    tour.press(Key::u);
    REQUIRE(tour.state.tour);
    for (int n = 0; n < tour.state.tour->stops(); ++n) {
        go_to_stop(tour.state, n);
        tour.frame(3);
        for (int wait = 0; wait < 600 && tour.state.comparing && tour.state.comparing->run; ++wait)
            tour.wait();
        tour.frame(2);
        look(tour, tour.state.explanation.title);
    }
}
