// Notes in Markdown. The trace's own Markdown keeps to fenced text, which reads the same everywhere; here
// matrices are tables and formulas are set, as GitHub and most viewers render them.
#include "app/export/export_formats.h"

#include "app/export/parts.h"
#include "app/ui/parts/pseudocode.h"
#include "core/base/matrix_text.h"

#include <ostream>

namespace tilewalk {
namespace {

constexpr int most_rows = 16, most_cols = 16;

// Titles of files must not become headings, links, formulas or HTML.
std::string escaped(const std::string& text) { return markdown_text(text, "\\`*_{}[]<>#|~&$"); }

std::string math(const Line& line) { return "$" + latex_math(line) + "$"; }

void put_row(std::ostream& out, const std::string& head, const std::vector<int>& cols, auto cell) {
    out << "| " << head << " |";
    for (const int c : cols) out << ' ' << cell(c) << " |";
    out << '\n';
}

// Rows and columns are numbered as in the whole matrix.
void put_matrix(std::ostream& out, const Value& value) {
    const Region& at = value.region;
    const std::vector<int> rows = elided(at.rows, most_rows, most_rows - 2),
                           cols = elided(at.cols, most_cols, most_cols - 2);
    put_row(out, "", cols, [&](int c) { return c < 0 ? "…" : str(at.col + c); });
    put_row(out, "--:", cols, [](int) { return "--:"; });
    const MatrixDigits all = matrix_digits(value.data);
    for (const int r : rows)
        put_row(out, r < 0 ? "…" : "**" + str(at.row + r) + "**", cols,
                [&](int c) { return r < 0 || c < 0 ? std::string("…") : all.text(value.data(r, c)); });
    out << '\n';
}

void put_whole(std::ostream& out, const std::vector<WholeMatrix>& matrices) {
    for (const WholeMatrix& matrix : matrices) {
        out << math(slot_symbol(matrix.slot)) << " (" << info(matrix.slot).what << ", "
            << matrix.value.region.rows << " × " << matrix.value.region.cols << ")\n\n";
        put_matrix(out, matrix.value);
    }
}

void put_problem(std::ostream& out, const Trace& trace) {
    const Problem& problem = trace.problem();
    out << "# " << escaped(headline(trace)) << "\n\n"
        << trace.lesson().summary << "\n\n"
        << escaped(problem_facts(trace)) << ".\n\n";
    if (trace.tells_what_to_watch()) out << "**Watch:** " << escaped(problem.watch) << "\n\n";
    out << "```text\n";
    for (const ui::ShownCode& line : ui::shown_code(trace.lesson(), trace.problem()))
        out << std::string(static_cast<std::size_t>(4 * line.indent), ' ') << line.text << '\n';
    out << "```\n\n## Given\n\n";
    put_whole(out, given_matrices(trace));
}

void put_formula(std::ostream& out, const Explanation& e) {
    if (!e.formula.empty()) out << "- " << math(e.formula) << '\n';
    if (!e.numbers.empty()) out << "- " << math(e.numbers) << '\n';
    if (!e.result.empty()) out << "- " << math(e.result) << '\n';
    for (const Aside& aside : e.asides)
        out << "- " << escaped(aside.label) << ": " << math(aside.formula) << ", " << math(aside.result)
            << '\n';
    out << '\n';
}

void put_step(std::ostream& out, const Trace& trace, int k) {
    const Explanation e = explain(trace, k);
    out << "### " << step_number(trace, k) << ": " << e.title << ", " << e.place << "\n\n";
    put_formula(out, e);
    for (const std::string& why : why_sentences(trace, k)) out << escaped(why) << "\n\n";
    for (const StepMatrix& matrix : step_matrices(trace, k)) {
        out << (matrix.written ? "**writes** " : "reads ") << math(matrix.symbol);
        if (!matrix.note.empty()) out << ' ' << matrix.note;
        out << "\n\n";
        put_matrix(out, *matrix.value);
    }
    out << '*' << traffic_line(trace, k) << "*\n\n";
}

void put_head(std::ostream& out, const Trace& trace, const std::vector<int>& steps) {
    put_problem(out, trace);
    if (static_cast<int>(steps.size()) != trace.size()) out << which_steps(steps, trace.size()) << ".\n\n";
}

void put_nth(std::ostream& out, const Trace& trace, const std::vector<int>& steps, std::size_t n) {
    if (const std::string lane = lane_at(trace, steps, n); !lane.empty())
        out << "## " << escaped(lane) << "\n\n";
    put_step(out, trace, steps[n]);
}

void put_end(std::ostream& out, const Trace& trace) {
    out << "## Result\n\n";
    put_whole(out, result_matrices_of(trace));
    for (const std::string& sentence : comparison(trace)) out << escaped(sentence) << '\n';
}

}  // namespace

const HandOutText markdown_notes{put_head, put_nth, put_end};

void HandOutText::write(std::ostream& out, const Trace& trace, const std::vector<int>& steps) const {
    head(out, trace, steps);
    for (std::size_t n = 0; n < steps.size() && out; ++n) step(out, trace, steps, n);
    end(out, trace);
}

}  // namespace tilewalk
