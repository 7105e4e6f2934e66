// Hand-outs: every lesson in every format, with the numbers of its trace and nothing from elsewhere.
#include "tests/app/cli/run.h"
#include "tests/app/ui/harness.h"

#include "app/cli/hand_out.h"
#include "app/cli/hooks.h"
#include "app/export/export_formats.h"
#include "app/export/parts.h"
#include "app/export/picture.h"
#include "app/io/examples.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "tests/core/expression.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>

using namespace tilewalk::test;

namespace {

// Stands for the pictures, which take long to draw.
PictureBook blank_pictures(int steps) {
    PictureBook book;
    for (int k = 0; k < steps; ++k) {
        const std::string text = "<text x=\"1\" y=\"2\">" + std::to_string(k) + "</text>\n</svg>\n";
        const std::string open = "<svg viewBox=\"0 0 9 9\">\n";
        book.add(open + "<rect fill=\"#000000\"/>\n" + text, open + "<rect fill=\"#ffffff\"/>\n" + text);
    }
    book.bind();
    return book;
}

template <class Write> std::string written(const Write& write) {
    std::ostringstream out;
    write(out);
    return out.str();
}
std::string page_of(const Trace& trace) {
    return written([&](auto& out) {
        const PictureBook pictures = blank_pictures(trace.size());
        ExportPage(trace, pictures).write(out, "", false);
    });
}
std::vector<int> all_steps(const Trace& trace) {
    std::vector<int> steps(static_cast<std::size_t>(trace.size()));
    std::iota(steps.begin(), steps.end(), 0);
    return steps;
}
std::string markdown_of(const Trace& trace) {
    return written([&](auto& out) { markdown_notes.write(out, trace, all_steps(trace)); });
}
std::string tex_of(const Trace& trace, bool fragment = false) {
    return written(
        [&](auto& out) { (fragment ? tex_fragment : tex_article).write(out, trace, all_steps(trace)); });
}

// The names of the elements that are open at the end, or the first that is closed out of turn.
std::string unbalanced(const std::string& html) {
    const std::set<std::string> alone{"meta", "input", "!DOCTYPE"};
    std::vector<std::string> open;
    for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos;) {
        std::size_t end = at + 1;
        for (bool quoted = false; end < html.size() && (quoted || html[end] != '>'); ++end)
            if (html[end] == '"') quoted = !quoted;
        const std::string tag = html.substr(at + 1, end - at - 1);
        const std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" \n/", 1) - (tag[0] == '/'));
        if (tag[0] == '/') {
            if (open.empty() || open.back() != name) return "</" + name + "> at " + std::to_string(at);
            open.pop_back();
        } else if (tag.back() != '/' && !alone.contains(name)) {
            open.push_back(name);
        }
        at = end;
        if (tag == "style" || tag == "script") at = html.find("</" + name, at);
    }
    return open.empty() ? "" : "<" + open.back() + "> is open";
}

std::vector<std::string> values_of(const std::string& html, const std::string& attribute) {
    std::vector<std::string> values;
    const std::string begin = " " + attribute + "=\"";
    for (std::size_t at = 0; (at = html.find(begin, at)) != std::string::npos;) {
        at += begin.size();
        values.push_back(html.substr(at, html.find('"', at) - at));
    }
    return values;
}

bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

// Braces and environments of LaTeX are closed in turn, dollars come in pairs within a line.
std::string tex_fault(const std::string& tex) {
    std::vector<std::string> open;
    int line = 1, dollars = 0;
    for (std::size_t at = 0; at < tex.size(); ++at) {
        const char c = tex[at];
        const std::string where = " in line " + std::to_string(line);
        if (c == '\\') {
            for (const auto& [word, closes] : {std::pair{"\\begin{", false}, {"\\end{", true}}) {
                if (tex.compare(at, std::string(word).size(), word) != 0) continue;
                const std::size_t name = at + std::string(word).size();
                const std::string environment = tex.substr(name, tex.find('}', name) - name);
                if (closes && (open.empty() || open.back() != environment))
                    return "\\end{" + environment + "}" + where;
                if (closes)
                    open.pop_back();
                else
                    open.push_back(environment);
            }
            ++at;
        } else if (c == '%') {
            at = tex.find('\n', at) - 1;
        } else if (c == '{') {
            open.emplace_back("{");
        } else if (c == '}') {
            if (open.empty() || open.back() != "{") return "}" + where;
            open.pop_back();
        } else if (c == '$') {
            ++dollars;
        } else if (c == '\n') {
            if (dollars % 2 != 0) return "$" + where;
            ++line;
        } else if (c == '&' || c == '#' || c == '_' || c == '^') {
            const bool definition = c == '#' && line < 30;  // parameters of the macros
            if (dollars % 2 == 0 && !definition && c != '&') {
                const std::string before = tex.substr(at < 60 ? 0 : at - 60, at < 60 ? at : 60);
                if (!contains(before, "\\ensuremath{") && !contains(before, "\\tilewalkcell{"))
                    return std::string(1, c) + where;
            }
        }
    }
    return open.empty() ? "" : open.back() + " is open";
}

// A table of a hand-out as it is read back: the headings and the cells, and where it stood.
struct Table {
    int step = -1;       ///< −1: what was given; the number of steps: the results
    std::string before;  ///< the text between the last table and this one
    std::vector<std::string> cols, rows;
    std::vector<std::vector<std::string>> cells;
};

// The words between the bars of "| a | b |".
std::vector<std::string> bars(const std::string& line) {
    std::vector<std::string> words;
    for (std::size_t at = line.find('|'), end; (end = line.find('|', at + 1)) != std::string::npos;
         at = end) {
        const std::string word = line.substr(at + 1, end - at - 1);
        const std::size_t first = word.find_first_not_of(' ');
        words.push_back(
            first == std::string::npos ? "" : word.substr(first, word.find_last_not_of(' ') - first + 1));
    }
    return words;
}

std::vector<Table> markdown_tables(const std::string& text, int steps) {
    std::vector<Table> tables;
    std::istringstream in(text);
    Table now;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("### Step ")) now.step = std::atoi(line.c_str() + 9) - 1, now.before.clear();
        if (line == "## Result") now.step = steps;
        CHECK(std::ranges::count(line, '$') % 2 == 0);
        if (!line.starts_with("|")) {
            now.before += line + "\n";
            continue;
        }
        const auto head = bars(line);
        now.cols.assign(head.begin() + 1, head.end());
        std::getline(in, line);
        CHECK(std::ranges::count(bars(line), "--:") == static_cast<std::ptrdiff_t>(head.size()));
        while (std::getline(in, line) && line.starts_with("|")) {
            auto words = bars(line);
            std::erase(words[0], '*');
            now.rows.push_back(words[0]);
            now.cells.emplace_back(words.begin() + 1, words.end());
        }
        tables.push_back(now);
        now = Table{now.step, "", {}, {}, {}};
    }
    return tables;
}

// What stands in the braces that open at `at`, which moves behind them.
std::string braced(const std::string& tex, std::size_t& at) {
    const std::size_t begin = at + 1;
    int open = 0;
    do open += tex[at] == '{' ? 1 : tex[at] == '}' ? -1 : 0;
    while (++at < tex.size() && open > 0);
    return tex.substr(begin, at - begin - 1);
}

// Every cell must lie in the next place of the grid, every heading beside its row or above its column.
std::vector<Table> tex_tables(const std::string& tex, int steps) {
    const std::string step = "\\subsubsection*{Step ", result = "\\subsection*{Result}",
                      grid = "\\begin{tikzpicture}[x=11.5mm", head = "\\tilewalkhead{",
                      cell = "\\tilewalkcell{", end = "\\end{tikzpicture}";
    std::vector<Table> tables;
    Table now;
    bool inside = false;
    for (std::size_t at = tex.find("\\subsection*{Given}"); at < tex.size();) {
        const auto is = [&](const std::string& word) { return tex.compare(at, word.size(), word) == 0; };
        if (is(step)) now.step = std::atoi(tex.c_str() + at + step.size()) - 1, now.before.clear();
        if (is(result)) now.step = steps;
        if (is(grid)) inside = true;
        if (is(end) && inside) {
            tables.push_back(now);
            now = Table{now.step, "", {}, {}, {}};
            inside = false;
        }
        if (inside && is(head)) {
            at += head.size() - 1;
            const std::string x = braced(tex, at), y = braced(tex, at);
            auto& list = y == "-.4" ? now.cols : now.rows;
            CHECK((y == "-.4" ? x : y) == std::to_string(list.size()) + ".5");
            list.push_back(braced(tex, at));
            if (y != "-.4") now.cells.emplace_back();
        } else if (inside && is(cell)) {
            at += cell.size() - 1;
            CHECK(braced(tex, at) == std::to_string(now.cells.back().size()));
            CHECK(braced(tex, at) == std::to_string(now.cells.size() - 1));
            braced(tex, at);
            now.cells.back().push_back(braced(tex, at));
        } else {
            if (!inside) now.before += tex[at];
            ++at;
        }
    }
    return tables;
}

// The number that a text says, in LaTeX as well.
Printed number_in(std::string text) {
    const std::size_t power = text.find("\\times 10^{");
    const int exponent = power < text.size() ? std::atoi(text.c_str() + power + 11) : 0;
    text = text.substr(0, power);
    for (const auto& [from, to] :
         {std::pair{"\\mathrm{NaN}", "NaN"}, {"\\infty", "∞"}, {"-", "−"}, {"\u2009", ""}})
        for (std::size_t at; (at = text.find(from)) != std::string::npos;)
            text.replace(at, std::string(from).size(), to);
    auto printed = read_number(text);
    REQUIRE_MESSAGE(printed, text);
    for (long double* part : {&printed->value, &printed->unit}) *part *= std::pow(10.0L, exponent);
    return *printed;
}

// The text is the value at as many digits as hand-outs have: 4, below a thousand three decimals.
bool says(const std::string& text, double value) {
    const Printed printed = number_in(text);
    const double read = static_cast<double>(printed.value), unit = static_cast<double>(printed.unit);
    if (!std::isfinite(value)) return same(read, value);
    const bool fine = read == value || unit <= 1e-3 || unit <= std::abs(value) / 100;
    return fine && std::abs(read - value) <= .5 * unit * (1 + 1e-9) + 1e-12 * std::abs(value);
}

// Of more than `most` rows or columns all but two of the first and the last; −1 stands for what is left out.
std::vector<int> kept(int count, int most) {
    std::vector<int> out;
    for (int n = 0; n < std::min(count, count > most ? most - 2 : most); ++n) out.push_back(n);
    if (count > most) out.push_back(-1), out.push_back(count - 1);
    return out;
}

struct Cut {
    int rows, cols;
    const char *gap_in_head, *gap_in_rows, *gap_in_cells;
};
constexpr Cut markdown_cut{16, 16, "…", "…", "…"}, tex_cut{12, 8, "\\dots", "$\\vdots$", "\\cdot"};

// Cells that do not say the value's numbers, and headings that do not say its rows and columns.
int wrong_in(const Table& table, const Value& value, const Cut& cut) {
    const std::vector<int> rows = kept(value.region.rows, cut.rows), cols = kept(value.region.cols, cut.cols);
    if (table.rows.size() != rows.size() || table.cols.size() != cols.size()) return 1000;
    int wrong = 0;
    for (std::size_t c = 0; c < cols.size(); ++c)
        wrong +=
            table.cols[c] != (cols[c] < 0 ? cut.gap_in_head : std::to_string(value.region.col + cols[c]));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        wrong +=
            table.rows[r] != (rows[r] < 0 ? cut.gap_in_rows : std::to_string(value.region.row + rows[r]));
        if (table.cells[r].size() != cols.size()) return 1000;
        for (std::size_t c = 0; c < cols.size(); ++c) {
            const std::string& text = table.cells[r][c];
            if (rows[r] < 0 || cols[c] < 0)
                wrong += text != cut.gap_in_cells;
            else
                wrong += !says(text, value.data(rows[r], cols[c]));
        }
    }
    return wrong;
}

// What a hand-out must show, in its order, straight from the trace.
struct Shown {
    int step;
    bool written;
    Value value;
};
std::vector<Shown> shown_by(const Trace& trace) {
    std::vector<Shown> all;
    for (const WholeMatrix& matrix : given_matrices(trace)) all.push_back({-1, false, matrix.value});
    for (int k = 0; k < trace.size(); ++k) {
        for (const Access& read : trace.reads(k))
            if (std::ranges::none_of(trace.writes(k), [&](const Access& w) { return w.value == read.value; }))
                all.push_back({k, false, trace.value(read.value)});
        for (const Access& write : trace.writes(k)) all.push_back({k, true, trace.value(write.value)});
    }
    for (const WholeMatrix& matrix : result_matrices_of(trace))
        all.push_back({trace.size(), false, matrix.value});
    return all;
}

// All numbers in the order in which the page has them.
std::vector<double> numbers_of(const Trace& trace) {
    std::vector<double> numbers;
    for (const Shown& shown : shown_by(trace)) {
        const auto all = shown.value.data.reshaped<Eigen::RowMajor>();
        numbers.insert(numbers.end(), all.begin(), all.end());
    }
    return numbers;
}

void check_tables(const Trace& trace, const std::vector<Table>& tables, const Cut& cut) {
    const std::vector<Shown> shown = shown_by(trace);
    REQUIRE(tables.size() == shown.size());
    for (std::size_t n = 0; n < shown.size(); ++n) {
        CAPTURE(shown[n].step);
        CAPTURE(tables[n].before);
        CHECK(tables[n].step == shown[n].step);
        CHECK(wrong_in(tables[n], shown[n].value, cut) == 0);
        const bool of_step = shown[n].step >= 0 && shown[n].step < trace.size();
        CHECK(contains(tables[n].before, "writes") == (of_step && shown[n].written));
    }
}

void check_hand_outs(const Trace& trace) {
    check_tables(trace, markdown_tables(markdown_of(trace), trace.size()), markdown_cut);
    check_tables(trace, tex_tables(tex_of(trace), trace.size()), tex_cut);
}

Problem causal_ragged() { return causal(random_with_tiles(7, 5, 3, 2, 11)); }

Problem hostile() {
    Problem problem = *find_example("worked-4x4");
    problem.name.clear();
    problem.title =
        "</title><script src=\"x\">alert(1)</script> & {{steps}} $x_1$ \\input{x} % # ~ ^ \"q\" 中文 é\x01";
    problem.watch = "<img src=x onerror=alert(1)> `code` *bold* _i_ \\end{document}";
    return problem;
}

}  // namespace

TEST_CASE("every lesson: the page's numbers are those of the trace, bit by bit") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(std::string(lesson.id));
        const auto trace = walk_of(lesson, *find_example("worked-4x4"));
        const std::string page = page_of(*trace);
        const std::vector<std::string> shown = values_of(page, "data-value");
        const std::vector<double> expected = numbers_of(*trace);
        REQUIRE(shown.size() == expected.size());
        std::size_t wrong = 0;
        for (std::size_t n = 0; n < shown.size(); ++n)
            wrong += !same(std::strtod(shown[n].c_str(), nullptr), expected[n]);
        CHECK(wrong == 0);
        const std::vector<std::string> ids = values_of(page, "id");
        CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
    }
}

TEST_CASE("every example: pages are well formed and ask nobody for anything") {
    for (const Problem& problem : examples()) {
        CAPTURE(problem.name);
        const std::string page = page_of(*walk_of(default_lesson(), problem));
        CHECK(unbalanced(page) == "");
        for (const char* foreign :
             {"http:", "https:", "//www", " src=", "@import", "url(h", "xlink", "<link", "<iframe"})
            CHECK_MESSAGE(!contains(page, foreign), std::string(foreign));
        for (const std::string& link : values_of(page, "href")) CHECK(link.starts_with("#"));
        CHECK(contains(page, "default-src 'none'"));
    }
}

TEST_CASE("every lesson: Markdown tables and LaTeX grids have the numbers of the trace at the shown digits") {
    for (const Lesson& lesson : lessons())
        for (const Problem& problem : {*find_example("worked-4x4"), causal_ragged()}) {
            CAPTURE(std::string(lesson.id));
            CAPTURE(problem.title);
            if (refuse(lesson, problem)) continue;
            const auto trace = walk_of(lesson, problem);
            check_hand_outs(*trace);
        }
}

TEST_CASE("tables that are cut: the first rows and columns, a gap, the last") {
    for (const auto& [N, d] : {std::pair{17, 9}, {16, 8}, {20, 17}, {12, 16}, {13, 18}}) {
        CAPTURE(N);
        CAPTURE(d);
        const auto trace = walk_of(default_lesson(), random_with_tiles(N, d, N, N, 5));
        check_hand_outs(*trace);
    }
}

// Parts have letters: B is 1.
bool is_letter(const std::string& text) { return text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z'; }
std::optional<int> place_in_row(const std::string& text) {
    if (is_letter(text)) return text[0] - 'A';
    const auto number = number_in<int>(text);
    return number ? std::optional<int>(*number) : std::nullopt;
}

// Of "L₀ … L₃" what the dots stand for: L₁ and L₂.
std::vector<std::string> between(const Line& formula) {
    std::vector<std::string> out;
    for (std::size_t n = 3; n + 1 < formula.size(); ++n) {
        const bool dots = formula[n - 1].text == " … " && formula[n - 3].text == formula[n].text;
        const auto first = place_in_row(formula[n - 2].text), last = place_in_row(formula[n + 1].text);
        if (!dots || !first || !last) continue;
        for (int between = *first + 1; between < *last; ++between) {
            Line symbol{formula[n], formula[n + 1]};
            symbol[1].text =
                is_letter(symbol[1].text) ? std::string(1, static_cast<char>('A' + between)) : str(between);
            out.push_back(plain(symbol));
        }
    }
    return out;
}

// The symbols of a step's formulas with what stands below them, and their letters alone.
struct Symbols {
    std::set<std::string> whole, letters;
};
Symbols symbols_of_step(const Trace& trace, int k) {
    std::vector<Explanation> explanations{explain(trace, k)};
    for (const Access& write : trace.writes(k)) {
        const Region& at = trace.value(write.value).region;
        explanations.push_back(explain(trace, k, CellRef{write.slot, at.row, at.col}));
    }
    Symbols out;
    for (const Explanation& e : explanations)
        for (std::size_t n = 0; n < e.formula.size(); ++n) {
            Line symbol{e.formula[n]};
            out.letters.insert(plain(symbol));
            if (e.formula[n].face == Span::Face::text)  // "loss  ←  sum("
                out.whole.insert(e.formula[n].text.substr(0, e.formula[n].text.find(' ')));
            const Span* next = n + 1 < e.formula.size() ? &e.formula[n + 1] : nullptr;
            if (next && next->script == Span::Script::sub && next->text != "old") symbol.push_back(*next);
            out.whole.insert(plain(symbol));
        }
    for (const Explanation& e : explanations)
        for (const std::string& symbol : between(e.formula)) out.whole.insert(symbol);
    return out;
}

TEST_CASE("every lesson: what a step reads and writes is called as in its formula") {
    Problem late = causal_ragged(), other = causal_ragged();
    late.options.normalised = false;
    late.options.notation = Notation::delta_omega;
    other.options.order = BackwardOrder::query_outer;
    other.options.notation = Notation::l_O;
    for (const Lesson& lesson : lessons())
        for (const Problem& problem : {*find_example("worked-4x4"), causal_ragged(), late, other}) {
            if (refuse(lesson, problem)) continue;
            const auto trace = walk_of(lesson, problem);
            for (int k = 0; k < trace->size(); ++k) {
                const Symbols formula = symbols_of_step(*trace, k);
                for (const StepMatrix& matrix : step_matrices(*trace, k)) {
                    const std::string symbol = plain(matrix.symbol);
                    const std::string where = lesson.id + (" " + std::to_string(k)) + ": " + symbol;
                    // A formula names a matrix in HBM as a whole; the caption says which tile of it.
                    const bool tile =
                        info(matrix.slot).hbm && formula.letters.contains(plain({matrix.symbol.front()}));
                    CHECK_MESSAGE((formula.whole.contains(symbol) || tile), where);
                }
            }
        }
}

TEST_CASE("a document compiles, where there is pdfLaTeX") {
    if (std::system("pdflatex --version > /dev/null 2>&1") != 0) return skip("there is no pdfLaTeX");
    const Folder folder;
    const std::string path = folder.file("walk.tex");
    output_of({"export", "-o", path});
    const std::string command = "cd \"" + path.substr(0, path.rfind('/')) +
                                "\" && pdflatex -interaction=nonstopmode -halt-on-error walk.tex > log.txt";
    CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("every lesson: LaTeX is balanced, and its math is ASCII") {
    for (const Lesson& lesson : lessons())
        for (const char* name : {"worked-4x4", "six-words", "fully-masked-row"}) {
            CAPTURE(std::string(lesson.id));
            CAPTURE(std::string(name));
            if (refuse(lesson, *find_example(name))) continue;
            const auto trace = walk_of(lesson, *find_example(name));
            const std::string tex = tex_of(*trace);
            CHECK(tex_fault(tex) == "");
            for (int k = 0; k < trace->size(); ++k) {
                const Explanation e = explain(*trace, k);
                for (const Line* line : std::initializer_list<const Line*>{&e.formula, &e.numbers, &e.result})
                    for (const char c : latex_math(*line)) CHECK(static_cast<unsigned char>(c) < 0x80);
            }
            const std::string fragment = tex_of(*trace, true);
            CHECK(!contains(fragment, "\\documentclass"));
            CHECK(!contains(fragment, "\\end{document}"));
            CHECK(contains(tex, fragment));
        }
}

TEST_CASE("formulas in LaTeX") {
    const auto trace = walk_of(default_lesson(), *find_example("worked-4x4"));
    const auto math_of = [&](int k) { return latex_math(explain(*trace, k).formula); };
    CHECK(math_of(0) == "Q_{0} \\leftarrow \\text{rows 0-1 of }Q");
    CHECK(math_of(3) == "S \\leftarrow Q_{0} K_{0}^{\\top}");
    CHECK(math_of(7) == "\\tilde P \\leftarrow \\exp(S - m)");
    CHECK(latex_text("50% of a_b & {c} ~ ^ \\") ==
          "50\\% of a\\_b \\& \\{c\\} \\~{} \\^{} \\textbackslash{}");
    CHECK(latex_text("ℓ and P̃") == "\\ensuremath{\\ell} and \\ensuremath{\\tilde P}");
    CHECK(latex_text("中") == "\\tilewalkother{4E2D}{中}");
}

TEST_CASE("titles from files are text and nothing else") {
    const auto trace = walk_of(default_lesson(), hostile());
    const std::string page = page_of(*trace);
    CHECK(unbalanced(page) == "");
    CHECK(!contains(page, "<script src"));
    CHECK(!contains(page, "<img"));
    check_contains(page, {"&lt;/title&gt;", "{{steps}}"});
    CHECK(!contains(page, "\x01"));
    CHECK(tex_fault(tex_of(*trace)) == "");
    CHECK(!contains(tex_of(*trace), "\\input{x}"));
    CHECK(contains(markdown_of(*trace), "\\</title\\>\\<script src"));
}

TEST_CASE("pictures: what several steps share is there once, and both themes have their colours") {
    PictureBook book;
    const std::string long_line = "<path d=\"" + std::string(200, 'M') + "\" fill=\"";
    for (int k = 0; k < 5; ++k) {
        const auto picture = [&](const char* colour, const char* opacity) {
            return "<svg viewBox=\"0 0 9 9\">\n<defs>\n<clipPath id=\"clip" + std::to_string(k) +
                   "\"><rect x=\"1\"/></clipPath>\n</defs>\n" + long_line + colour +
                   "\"/>\n<g clip-path=\"url(#clip" + std::to_string(k) + ")\">\n<text fill=\"" + colour +
                   "\">#123456 " + std::to_string(k) + "</text>\n</g>\n<rect fill-opacity=\"" + opacity +
                   "\"/>\n</svg>\n";
        };
        book.add(picture("#000001", "0.1"), picture("#fffffe", "0.2"));
    }
    book.bind();
    std::ostringstream shared, third;
    book.write_shared(shared);
    book.write(third, 3, "name");
    check_contains(shared.str(), {std::string(200, 'M'), "<clipPath id=\"k0\"><rect x=\"1\"/></clipPath>"});
    CHECK(!contains(shared.str(), "k1"));
    CHECK(!contains(third.str(), "MMM"));
    check_contains(third.str(), {"<use href=\"#a", "<g clip-path=\"url(#k0)\">",
                                 "<text fill=\"var(--c0)\">#123456 3</text>"});
    CHECK(contains(shared.str() + third.str(), "<g class=\"in-dark\"><rect fill-opacity=\"0.1\"/></g>"));
    CHECK(book.colours(true) == "--c0:#000001;");
    CHECK(book.colours(false) == "--c0:#fffffe;");
}

TEST_CASE("the command: formats by ending and by name, drawn pictures, exit codes") {
    const Folder folder;
    const std::string page = folder.file("walk.html");
    const std::vector<std::string> small{"export", "--random", "2x2", "--br", "2", "--bc", "2", "-o"};
    output_of(with(small, {page}));
    const std::string html = contents(page);
    CHECK(unbalanced(html) == "");
    check_contains(html, {"<text", "<use href"});
    CHECK(!contains(html, "xmlns"));
    output_of(with(small, {folder.file("walk.MD")}));
    CHECK(contents(folder.file("walk.MD")).starts_with("# FlashAttention-2"));
    output_of(with(small, {folder.file("walk.tex")}));
    CHECK(tex_fault(contents(folder.file("walk.tex"))) == "");
    for (const char* format : {"md", "tex"}) {
        const std::string some = run({"export", "--format", format, "--steps", "3,11-12"}).out;
        check_contains(some, {"3 of 40 steps.", "Step 3 of 40", "Step 11 of 40", "Step 12 of 40"});
        CHECK(!contains(some, "Step 4 of 40"));
    }
    CHECK(run({"export", "--format", "md", "--steps", "1-40"}).out == run({"export", "--format", "md"}).out);
    CHECK(run({"export", "--format", "md"}).out ==
          markdown_of(*walk_of(default_lesson(), *find_example("worked-4x4"))));
    CHECK(!contains(run({"export", "--format", "tex", "--fragment"}).out, "\\begin{document}"));
    CHECK(run(with(small, {folder.file("no/such/walk.html")})).code == 4);

    check_refused(
        {{{"export"}, "needs -o with the page"},
         {{"export", "-o", "walk.doc"}, "expected a name that ends in .html, .pdf, .md or .tex"},
         {{"export", "--format", "doc"}, "expected html, pdf, md or tex"},
         {{"export", "--format", "md", "--size", "1280x720"}, "--size is about the pictures of a page"},
         {{"export", "--format", "md", "--fragment"}, "--fragment is about --format tex"},
         {{"export", "-o", page, "--size", "12x8"}, "expected WxH from 1024x640"},
         {{"export", "-o", page, "--theme", "blue"}, "--theme"},
         {{"export", "-o", page, "--lesson", "flash-foward"}, "did you mean flash-forward"},
         {{"export", "-o", page, "--lesson", "memory"}, "is no walk"},
         {{"export", "-o", page, "--random", "64x4", "--br", "1", "--bc", "1"}, "a page holds 600 at most"},
         {{"export", "-o", page, "--random", "128x64", "--br", "16", "--bc", "16"},
          "too much for one page"}});
    CHECK(contents(page) == html);
}

TEST_CASE("from the window: its walk in the usual numbers, and the window goes on undisturbed") {
    const Folder folder;
    Program program(random_with_tiles(2, 2, 2, 2));
    program.frame(3);
    const Image before = program.picture();
    const NumberStyle comma{3, true};
    set_number_style(comma);
    CHECK(finish(begin_hand_out(folder.file("walk.html"), program.state)));
    CHECK(finish(begin_hand_out(folder.file("walk.md"), program.state)));
    CHECK(number_style() == comma);
    set_number_style({});
    CHECK(contents(folder.file("walk.html")) == [&] {
        const std::string again = folder.file("again.html");
        CHECK(finish(begin_hand_out(again, program.state)));
        return contents(again);
    }());
    program.frame();
    CHECK(program.picture() == before);
    const auto refused = begin_hand_out(folder.file("walk.pdf"), program.state);
    CHECK_FALSE(refused);
    CHECK(contains(refused.error, ".html, .md and .tex"));
}
