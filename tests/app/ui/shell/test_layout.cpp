// No text leaves its panel or lies on another one, at any supported size. TILEWALK_LAYOUT=all looks at every
// step instead of a choice of them; TILEWALK_LAYOUT_REPORT=FILE writes what was found as a list.
#include "app/ui/kit/theme.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/layout_check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <map>

using namespace tilewalk::test;

namespace {

struct Named {
    std::string name;
    Problem problem;
};

std::vector<Named> problems() {
    std::vector<Named> out;
    for (const char* name : {"worked-4x4", "causal-8", "fully-masked-row", "large-logits", "max-first",
                             "max-rises-late", "ragged-7x5", "six-by-two-blocks", "ties", "window-12"})
        out.push_back({name, example(name)});
    out.push_back({"random 16×8", random_with_tiles(16, 8, 4, 4)});
    if (in_full) out.push_back({"random 64×64", random_with_tiles(64, 64, 8, 8)});
    out.push_back({"random 40×3, Br 16", random_with_tiles(40, 3, 16, 8)});
    out.push_back({"random 3×1", random_with_tiles(3, 1, 2, 2)});
    out.push_back({"random 1×1", random_with_tiles(1, 1, 1, 1)});
    out.push_back({"random 5×12", random_with_tiles(5, 12, 2, 2)});
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

std::string name_of(const Case& c) {
    char text[64];
    std::snprintf(text, sizeof text, "%d×%d%s%s", c.screen.width, c.screen.height,
                  c.screen.scale > 1 ? " at scale 2" : "", c.presenter ? " presenter" : "");
    return text;
}

bool every_step() {
    const char* wish = std::getenv("TILEWALK_LAYOUT");
    return wish && std::string(wish) == "all";
}

// Steps that look different from each other: each kind of step where it first occurs, in the middle and last.
std::vector<int> steps_to_look_at(const Trace& trace) {
    std::vector<int> out;
    std::map<Op, std::vector<int>> by_op;
    for (int k = 0; k < trace.size(); ++k) by_op[trace.step(k).op].push_back(k);
    if (every_step() && trace.size() <= 200)
        for (int k = 0; k < trace.size(); ++k) out.push_back(k);
    for (const auto& [op, steps] : by_op) {
        if (trace.size() > 200 && op != Op::output && op != Op::scores && !every_step()) continue;
        out.push_back(steps.front());
        if (in_full && trace.size() <= 200) out.push_back(steps[steps.size() / 2]);
        if (in_full) out.push_back(steps.back());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
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
    void add(const std::string& where, const Program& program, LayoutRules rules = {}) {
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

std::string at_step_of(const Case& c, const Named& named, int k) {
    return name_of(c) + ", " + named.name + ", step " + std::to_string(k + 1);
}

void look_at_steps(Program& program, const Case& c, const Named& named, Report& report) {
    program.show(named.problem);
    for (int k : steps_to_look_at(*program.state.trace)) {
        program.go_to_step(k);
        report.add(at_step_of(c, named, k), program);
    }
}

}  // namespace

TEST_CASE("every text has its place at every size, step and problem") {
    Report report;
    for (const Case& c : cases()) {
        Program program(example("worked-4x4"), c.screen);
        program.state.presenter = c.presenter;
        for (const Named& named : problems()) look_at_steps(program, c, named, report);
    }
    report.write();
}

TEST_CASE("every text stands out from what lies below it in every theme") {
    Report report;
    for (const Case& c : {all_cases[2], all_cases[0], all_cases[6]}) {
        Program program(example("worked-4x4"), c.screen);
        program.state.presenter = c.presenter;
        for (ThemeId id : {ThemeId::dark, ThemeId::light, ThemeId::contrast}) {
            program.state.settings.theme = id;
            const std::string theme_name = std::string(theme(id).name) + " ";
            for (const char* name : {"worked-4x4", "causal-8", "large-logits", "ragged-7x5"}) {
                program.show(example(name));
                for (int k : steps_to_look_at(*program.state.trace)) {
                    program.go_to_step(k);
                    report.add(theme_name + at_step_of(c, {name, {}}, k), program, {false, true});
                }
            }
        }
    }
    report.write();
}

TEST_CASE("what opens over the panels has its place too") {
    Report report;
    for (const Case& c : cases()) {
        Program program(example("worked-4x4"), c.screen);
        AppState& state = program.state;
        const auto look = [&](const char* what) {
            program.frame_unlisted();
            program.frame();
            report.add(name_of(c) + ", " + what, program);
        };
        state.presenter = c.presenter;
        state.show_help = true;
        look("help");
        state.show_help = false;
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
        state.show_code = true;
        look("pseudocode");
        state.show_code = false;
        if (c.presenter) continue;
        state.show_problem = true;
        for (const Named& named : problems())
            for (const bool numbers : {false, true}) {
                program.show(named.problem);
                state.form.numbers_tab = numbers;
                look((std::string(numbers ? "numbers of " : "settings of ") + named.name).c_str());
            }
        state.form.numbers_tab = false;
        Problem numbered = example("window-12");
        numbered.scale = {Scale::Kind::number, 0.12345678901};
        program.show(numbered);
        look("problem panel, window and number");
    }
    report.write();
}

TEST_CASE("the value under the mouse is shown inside the window") {
    Report report;
    for (const Case& c : {all_cases[0], all_cases[2], all_cases[6]}) {
        Program program(example("worked-4x4"), c.screen);
        program.state.presenter = c.presenter;
        for (int k : {0, 16, 17, 39}) {
            program.mouse_away();
            program.go_to_step(k);
            std::vector<Item> cells;
            for (const Item& item : program.items())
                if (item.kind == ItemKind::cell && item.visible) cells.push_back(item);
            for (std::size_t n = 0; n < cells.size(); n += 5) {
                const Item& cell = cells[n];
                program.mouse_to((cell.min.x + cell.max.x) / 2, (cell.min.y + cell.max.y) / 2);
                program.frame(2);
                report.add(name_of(c) + ", over " + cell.text + ", step " + std::to_string(k + 1), program);
            }
        }
    }
    report.write();
}
