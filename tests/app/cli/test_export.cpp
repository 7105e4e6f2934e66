// Hand-outs: every lesson in every format, with the numbers of its trace and nothing from elsewhere.
#include "tests/app/cli/run.h"
#include "tests/app/ui/harness.h"

#include "app/cli/export.h"
#include "app/cli/export_formats.h"
#include "app/cli/export_math.h"
#include "app/cli/export_parts.h"
#include "app/cli/export_picture.h"
#include "app/io/examples.h"
#include "core/lessons/lesson.h"
#include "core/numbers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>

using namespace tilewalk;
using namespace tilewalk::test;

TEST_SUITE_BEGIN("export");

namespace {

std::shared_ptr<const Trace> walk(const Lesson& lesson, Problem problem) {
    const auto trace = build_trace(lesson, problem);
    REQUIRE_MESSAGE(trace, trace.error);
    return *trace;
}

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

std::string page_of(const Trace& trace) {
    std::ostringstream out;
    write_export_html(out, trace, blank_pictures(trace.size()), "", false);
    return out.str();
}
std::string markdown_of(const Trace& trace) {
    std::ostringstream out;
    write_export_markdown(out, trace);
    return out.str();
}
std::string tex_of(const Trace& trace, bool fragment = false) {
    std::ostringstream out;
    write_export_tex(out, trace, fragment);
    return out.str();
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

void append(std::vector<double>& numbers, const Value& value) {
    for (Eigen::Index n = 0; n < value.data.size(); ++n) numbers.push_back(value.data.data()[n]);
}

// All numbers in the order in which the page has them: what was given, every step, the results.
std::vector<double> numbers_of(const Trace& trace) {
    std::vector<double> numbers;
    for (const WholeMatrix& matrix : given_matrices(trace)) append(numbers, matrix.value);
    for (int k = 0; k < trace.size(); ++k) {
        for (const Access& read : trace.reads(k))
            if (std::ranges::none_of(trace.writes(k), [&](const Access& w) { return w.value == read.value; }))
                append(numbers, trace.value(read.value));
        for (const Access& write : trace.writes(k)) append(numbers, trace.value(write.value));
    }
    for (const WholeMatrix& matrix : result_matrices_of(trace)) append(numbers, matrix.value);
    return numbers;
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
        const auto trace = walk(lesson, *find_example("worked-4x4"));
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
        const std::string page = page_of(*walk(default_lesson(), problem));
        CHECK(unbalanced(page) == "");
        for (const char* foreign :
             {"http:", "https:", "//www", " src=", "@import", "url(h", "xlink", "<link", "<iframe"})
            CHECK_MESSAGE(!contains(page, foreign), std::string(foreign));
        for (const std::string& link : values_of(page, "href")) CHECK(link.starts_with("#"));
        CHECK(contains(page, "default-src 'none'"));
    }
}

TEST_CASE("every lesson: a Markdown table has as many cells in every row") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(std::string(lesson.id));
        std::istringstream text(markdown_of(*walk(lesson, *find_example("ragged-7x5"))));
        std::ptrdiff_t cells = 0;
        for (std::string line; std::getline(text, line);) {
            const std::ptrdiff_t now = line.starts_with("|") ? std::count(line.begin(), line.end(), '|') : 0;
            CHECK((cells == 0 || now == 0 || now == cells));
            cells = now;
            CHECK(std::count(line.begin(), line.end(), '$') % 2 == 0);
        }
    }
}

TEST_CASE("every lesson: LaTeX is balanced, and its math is ASCII") {
    for (const Lesson& lesson : lessons())
        for (const char* name : {"worked-4x4", "six-words", "fully-masked-row"}) {
            CAPTURE(std::string(lesson.id));
            CAPTURE(std::string(name));
            const auto trace = walk(lesson, *find_example(name));
            const std::string tex = tex_of(*trace);
            CHECK(tex_fault(tex) == "");
            for (int k = 0; k < trace->size(); ++k) {
                const Explanation e = explain(*trace, k);
                for (const Line* line : {&e.formula, &e.numbers, &e.result})
                    for (const char c : latex_math(*line)) CHECK(static_cast<unsigned char>(c) < 0x80);
            }
            const std::string fragment = tex_of(*trace, true);
            CHECK(!contains(fragment, "\\documentclass"));
            CHECK(!contains(fragment, "\\end{document}"));
            CHECK(contains(tex, fragment));
        }
}

TEST_CASE("formulas in LaTeX") {
    const auto trace = walk(default_lesson(), *find_example("worked-4x4"));
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
    const auto trace = walk(default_lesson(), hostile());
    const std::string page = page_of(*trace);
    CHECK(unbalanced(page) == "");
    CHECK(!contains(page, "<script src"));
    CHECK(!contains(page, "<img"));
    CHECK(contains(page, "&lt;/title&gt;"));
    CHECK(contains(page, "{{steps}}"));
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
    CHECK(contains(shared.str(), std::string(200, 'M')));
    CHECK(contains(shared.str(), "<clipPath id=\"k0\"><rect x=\"1\"/></clipPath>"));
    CHECK(!contains(shared.str(), "k1"));
    CHECK(!contains(third.str(), "MMM"));
    CHECK(contains(third.str(), "<use href=\"#a"));
    CHECK(contains(third.str(), "<g clip-path=\"url(#k0)\">"));
    CHECK(contains(third.str(), "<text fill=\"var(--c0)\">#123456 3</text>"));
    CHECK(contains(shared.str() + third.str(), "<g class=\"in-dark\"><rect fill-opacity=\"0.1\"/></g>"));
    CHECK(book.colours(true) == "--c0:#000001;");
    CHECK(book.colours(false) == "--c0:#fffffe;");
}

TEST_CASE("the command: formats by ending and by name, drawn pictures, exit codes") {
    const Folder folder;
    const std::string page = folder.file("walk.html");
    const std::vector<std::string> small{"export", "--random", "2x2", "--br", "2", "--bc", "2", "-o"};
    const auto with = [&](const std::string& path) {
        std::vector<std::string> words = small;
        words.push_back(path);
        return run(words);
    };
    Ran ran = with(page);
    CHECK_MESSAGE(ran.code == 0, ran.err);
    const std::string html = contents(page);
    CHECK(unbalanced(html) == "");
    CHECK(contains(html, "<text"));
    CHECK(contains(html, "<use href"));
    CHECK(!contains(html, "xmlns"));
    CHECK(with(folder.file("walk.MD")).code == 0);
    CHECK(contents(folder.file("walk.MD")).starts_with("# Flash forward"));
    CHECK(with(folder.file("walk.tex")).code == 0);
    CHECK(tex_fault(contents(folder.file("walk.tex"))) == "");
    CHECK(run({"export", "--format", "md"}).out ==
          markdown_of(*walk(default_lesson(), *find_example("worked-4x4"))));
    CHECK(!contains(run({"export", "--format", "tex", "--fragment"}).out, "\\begin{document}"));
    CHECK(with(folder.file("no/such/walk.html")).code == 4);

    const std::vector<std::pair<std::vector<std::string>, std::string>> refused{
        {{"export"}, "needs -o with the page"},
        {{"export", "-o", "walk.pdf"}, "expected a name that ends in .html, .md or .tex"},
        {{"export", "--format", "pdf"}, "expected html, md or tex"},
        {{"export", "--format", "md", "--size", "1280x720"}, "--size is about the pictures of a page"},
        {{"export", "--format", "md", "--fragment"}, "--fragment is about --format tex"},
        {{"export", "-o", page, "--size", "12x8"}, "expected WxH from 1024x640"},
        {{"export", "-o", page, "--theme", "blue"}, "--theme"},
        {{"export", "-o", page, "--lesson", "flash-foward"}, "did you mean flash-forward"},
        {{"export", "-o", page, "--lesson", "memory"}, "is no walk"},
        {{"export", "-o", page, "--random", "64x4", "--br", "1", "--bc", "1"}, "a page holds 600 at most"},
        {{"export", "-o", page, "--random", "128x64", "--br", "16", "--bc", "16"}, "too much for one page"}};
    for (const auto& [words, sentence] : refused) {
        ran = run(words);
        CHECK(ran.code == 2);
        CHECK_MESSAGE(contains(ran.err, sentence), ran.err);
        CHECK(ran.out.empty());
    }
    CHECK(contents(page) == html);
}

TEST_CASE("from the window: its walk in the usual numbers, and the window goes on undisturbed") {
    const Folder folder;
    Program program(random_with_tiles(2, 2, 2, 2));
    program.frame(3);
    const Image before = program.picture();
    const NumberStyle comma{3, true};
    set_number_style(comma);
    CHECK(!export_walk(folder.file("walk.html"), program.state));
    CHECK(!export_walk(folder.file("walk.md"), program.state));
    CHECK(number_style() == comma);
    set_number_style({});
    CHECK(contents(folder.file("walk.html")) == [&] {
        const std::string again = folder.file("again.html");
        CHECK(!export_walk(again, program.state));
        return contents(again);
    }());
    program.frame();
    CHECK(program.picture() == before);
    const auto refused = export_walk(folder.file("walk.pdf"), program.state);
    REQUIRE(refused);
    CHECK(contains(*refused, ".html, .md and .tex"));
}

TEST_SUITE_END();
