#include "app/export/export_formats.h"

#include "app/export/parts.h"

#include <ostream>

namespace tilewalk {
namespace {

// Titles of files must not become headings, links or HTML.
std::string escaped(const std::string& text) { return markdown_text(text, "\\`*_{}[]<>#|~&"); }

void fence(std::ostream& out, const Block& block) {
    if (block.empty()) return;
    out << "```text\n";
    for (const std::string& line : block) out << line << '\n';
    out << "```\n\n";
}

void put_problem(std::ostream& out, const Trace& trace) {
    const Problem& problem = trace.problem();
    out << "# " << escaped(headline(trace)) << "\n\n" << escaped(problem_facts(trace)) << ".\n\n";
    // What there is to watch is told of tiles.
    if (trace.tells_what_to_watch()) out << "**Watch:** " << escaped(problem.watch) << "\n\n";
    fence(out, problem_matrices(trace));
    out << "| symbol | meaning |\n|---|---|\n";
    for (const auto& row : legend(trace)) out << "| " << row[0] << " | " << row[1] << " |\n";
    out << '\n';
}

void put_step(std::ostream& out, const Trace& trace, int k) {
    const Explanation e = explain(trace, k);
    out << "### " << step_number(trace, k) << ": " << e.title << ", " << e.place << "\n\n";
    Block arithmetic{plain(e.formula)};
    for (const std::string& line : number_lines(trace, k)) arithmetic.push_back("  " + line);
    fence(out, arithmetic);
    for (const std::string& why : why_sentences(trace, k)) out << escaped(why) << "\n\n";
    fence(out, state_lines(trace, k));
    out << '*' << traffic_line(trace, k) << "*\n\n";
}

}  // namespace

void write_trace_markdown(std::ostream& out, const Trace& trace) {
    put_problem(out, trace);
    for (int k = 0; k < trace.size() && out; ++k) {
        if (const std::string lane = lane_at(trace, k); !lane.empty())
            out << "## " << escaped(lane) << "\n\n";
        put_step(out, trace, k);
    }
    out << "## Result\n\n";
    fence(out, result_matrices(trace));
    for (const std::string& sentence : comparison(trace)) out << sentence << '\n';
}

}  // namespace tilewalk
