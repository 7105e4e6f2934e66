// A document in LaTeX: formulas in math mode, matrices as TikZ grids in the light theme's hues.
#include "app/export/export_formats.h"

#include "app/export/parts.h"
#include "app/ui/kit/theme.h"
#include "app/ui/parts/pseudocode.h"
#include "app/ui/state/app_state.h"
#include "core/base/matrix_text.h"

#include <cstdio>
#include <ostream>

namespace tilewalk {
namespace {

constexpr int most_rows = 12, most_cols = 8;
constexpr int most_blocks = 16;  // of the map of tiles, in each direction

const char* const preamble = R"(\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage{booktabs}
\usepackage{xcolor}
\usepackage{tikz}
\usepackage[margin=22mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{5pt}
\begin{document}
)";

const char* const definitions = R"(% Needs amsmath, booktabs, xcolor and tikz.
% One cell: column, row, fill, number; a number in a heading: column, row, text.
\providecommand{\tilewalkcell}[4]{\fill[#3] (#1,#2) rectangle +(1,1);\draw[black!25] (#1,#2) rectangle +(1,1);
  \node[font=\footnotesize] at (#1+.5,#2+.5) {$#4$};}
\providecommand{\tilewalkhead}[3]{\node[font=\tiny,black!55] at (#1,#2) {#3};}
)";

const char* colour_name(Role role) {
    static constexpr const char* names[] = {"twNone", "twQ", "twK",     "twV", "twS",
                                            "twM",    "twL", "twAlpha", "twO", "twD"};
    return names[static_cast<std::size_t>(role)];
}

void put_colours(std::ostream& out) {
    const ui::Theme& light = ui::theme(ui::ThemeId::light);
    for (std::size_t n = 0; n < light.roles.size(); ++n) {
        const unsigned c = light.roles[n];
        char hex[8];
        std::snprintf(hex, sizeof hex, "%02X%02X%02X", (c >> IM_COL32_R_SHIFT) & 255u,
                      (c >> IM_COL32_G_SHIFT) & 255u, (c >> IM_COL32_B_SHIFT) & 255u);
        out << "\\providecolor{" << colour_name(static_cast<Role>(n)) << "}{HTML}{" << hex << "}\n";
    }
}

std::string math(const Line& line) { return "$" + latex_math(line) + "$"; }

// A grid of cells; rows and columns are numbered as in the whole matrix. What was written has a thick frame,
// what was read a dashed one.
void put_grid(std::ostream& out, Slot slot, const Value& value, bool written) {
    const Region& at = value.region;
    const std::vector<int> rows = elided(at.rows, most_rows, most_rows - 2),
                           cols = elided(at.cols, most_cols, most_cols - 2);
    const char* const colour = colour_name(info(slot).role);
    const MatrixDigits all = matrix_digits(value.data);
    out << "\\begin{tikzpicture}[x=11.5mm,y=-5mm,baseline=(current bounding box.north)]\n";
    for (std::size_t c = 0; c < cols.size(); ++c)
        out << "\\tilewalkhead{" << c << ".5}{-.4}{" << (cols[c] < 0 ? "\\dots" : str(at.col + cols[c]))
            << "}";
    for (std::size_t r = 0; r < rows.size(); ++r) {
        out << "\n\\tilewalkhead{-.2}{" << r << ".5}{" << (rows[r] < 0 ? "$\\vdots$" : str(at.row + rows[r]))
            << "}";
        for (std::size_t c = 0; c < cols.size(); ++c) {
            const bool gap = rows[r] < 0 || cols[c] < 0;
            out << "\\tilewalkcell{" << c << "}{" << r << "}{" << colour << (written ? "!22" : "!8") << "}{"
                << (gap ? "\\cdot" : latex_number(all.text(value.data(rows[r], cols[c])))) << "}";
        }
    }
    out << "\n\\draw[" << colour << (written ? ",line width=1.2pt" : ",dashed,line width=.8pt")
        << "] (0,0) rectangle (" << cols.size() << "," << rows.size() << ");\n\\end{tikzpicture}";
}

void put_whole(std::ostream& out, const std::vector<WholeMatrix>& matrices) {
    for (const WholeMatrix& matrix : matrices) {
        out << "\\parbox[t]{\\linewidth}{" << math(slot_symbol(matrix.slot)) << ": "
            << latex_text(info(matrix.slot).what) << ", $" << matrix.value.region.rows << " \\times "
            << matrix.value.region.cols << "$\\\\[2pt]\n";
        put_grid(out, matrix.slot, matrix.value, false);
        out << "}\n\n";
    }
}

// All tiles of Q Kᵀ, with the one of this step.
void put_map(std::ostream& out, const Trace& trace, int k) {
    const Problem& p = trace.problem();
    const Step& step = trace.step(k);
    const bool tiled = trace.lesson().rival.standard || !trace.lesson().faults().empty();
    if (!tiled || step.i < 0 || step.j < 0 || p.Tr() > most_blocks || p.Tc() > most_blocks) return;
    out << "\\hfill\\begin{tikzpicture}[x=3.4mm,y=-3.4mm,baseline=(current bounding box.center)]\n"
        << "\\fill[twS!55] (" << step.j << "," << step.i << ") rectangle +(1,1);\n"
        << "\\foreach \\c in {0,...," << p.Tc() << "} \\draw[black!45] (\\c,0) -- (\\c," << p.Tr() << ");\n"
        << "\\foreach \\r in {0,...," << p.Tr() << "} \\draw[black!45] (0,\\r) -- (" << p.Tc() << ",\\r);\n"
        << "\\draw[line width=1.2pt] (" << step.j << "," << step.i << ") rectangle +(1,1);\n"
        << "\\end{tikzpicture}";
}

void put_code(std::ostream& out, const Trace& trace) {
    out << "\\begin{tabular}{@{}l@{}}\n\\toprule\n";
    for (const ui::ShownCode& line : ui::shown_code(trace.lesson(), trace.problem()))
        out << "\\hspace*{" << 1.5 * line.indent << "em}" << latex_text(line.text) << " \\\\\n";
    out << "\\bottomrule\n\\end{tabular}\n\n";
}

void put_problem(std::ostream& out, const Trace& trace) {
    const Problem& problem = trace.problem();
    out << "\\section*{" << latex_text(headline(trace)) << "}\n"
        << latex_text(trace.lesson().summary) << "\n\n"
        << latex_text(problem_facts(trace)) << ".\n\n";
    if (trace.tells_what_to_watch()) out << "\\textbf{Watch:} " << latex_text(problem.watch) << "\n\n";
    put_code(out, trace);
    out << "\\subsection*{Given}\n";
    put_whole(out, given_matrices(trace));
}

void put_formula(std::ostream& out, const Explanation& e) {
    for (const Line* line : std::initializer_list<const Line*>{&e.formula, &e.numbers, &e.result})
        if (!line->empty()) out << math(*line) << "\\par\n";
    for (const Aside& aside : e.asides)
        out << latex_text(aside.label) << ": " << math(aside.formula) << ", " << math(aside.result)
            << "\\par\n";
}

void put_step(std::ostream& out, const Trace& trace, int k) {
    const Explanation e = explain(trace, k);
    out << "\\subsubsection*{" << step_number(trace, k) << ": " << latex_text(e.title + ", " + e.place);
    put_map(out, trace, k);
    out << "}\n{\\raggedright\n";
    put_formula(out, e);
    for (const std::string& why : why_sentences(trace, k)) out << latex_text(why) << "\\par\n";
    for (const StepMatrix& matrix : step_matrices(trace, k)) {
        out << "\\begin{tabular}[t]{@{}l@{}}" << (matrix.written ? "\\textbf{writes} " : "reads ")
            << math(matrix.symbol);
        if (!matrix.note.empty()) out << ' ' << matrix.note;
        out << "\\\\\n";
        put_grid(out, matrix.slot, *matrix.value, matrix.written);
        out << "\\end{tabular}\\quad\n";
    }
    out << "\\par\\textit{" << latex_text(traffic_line(trace, k)) << "}\\par}\n\n";
}

void put_head_of_fragment(std::ostream& out, const Trace& trace, const std::vector<int>& steps) {
    out << latex_definition << definitions;
    put_colours(out);
    put_problem(out, trace);
    if (static_cast<int>(steps.size()) != trace.size())
        out << latex_text(which_steps(steps, trace.size())) << ".\n\n";
}

void put_head_of_article(std::ostream& out, const Trace& trace, const std::vector<int>& steps) {
    out << preamble;
    put_head_of_fragment(out, trace, steps);
}

void put_nth_step(std::ostream& out, const Trace& trace, const std::vector<int>& steps, std::size_t n) {
    if (const std::string lane = lane_at(trace, steps, n); !lane.empty())
        out << "\\subsection*{" << latex_text(lane) << "}\n";
    put_step(out, trace, steps[n]);
}

void put_end_of_fragment(std::ostream& out, const Trace& trace) {
    out << "\\subsection*{Result}\n";
    put_whole(out, result_matrices_of(trace));
    for (const std::string& sentence : comparison(trace)) out << latex_text(sentence) << '\n';
}

void put_end_of_article(std::ostream& out, const Trace& trace) {
    put_end_of_fragment(out, trace);
    out << "\\end{document}\n";
}

}  // namespace

const HandOutText tex_article{put_head_of_article, put_nth_step, put_end_of_article};
const HandOutText tex_fragment{put_head_of_fragment, put_nth_step, put_end_of_fragment};

}  // namespace tilewalk
