#include "app/export/trace_export.h"

#include "app/export/trace_parts.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <ostream>
#include <sstream>

namespace tilewalk {
namespace {

// Titles come from files; they must not become headings, links or HTML.
std::string escaped(const std::string& text) {
    std::string out;
    for (char c : text) {
        if (std::string("\\`*_{}[]<>#|~&").find(c) != std::string::npos) out += '\\';
        out += c == '\n' || c == '\r' ? ' ' : c;
    }
    return out;
}

void fence(std::ostream& out, const Block& block) {
    if (block.empty()) return;
    out << "```text\n";
    for (const std::string& line : block) out << line << '\n';
    out << "```\n\n";
}

void put_problem(std::ostream& out, const Trace& trace) {
    const Problem& problem = trace.problem();
    out << "# " << escaped(headline(trace)) << "\n\n" << escaped(problem_facts(problem)) << ".\n\n";
    // What there is to watch is told of tiles.
    if (!problem.watch.empty() && !trace.lesson().faults().empty())
        out << "**Watch:** " << escaped(problem.watch) << "\n\n";
    fence(out, problem_matrices(trace));
    out << "| symbol | meaning |\n|---|---|\n";
    for (const auto& row : legend(trace)) out << "| " << row[0] << " | " << row[1] << " |\n";
    out << '\n';
}

void put_step(std::ostream& out, const Trace& trace, int k) {
    const Explanation e = explain(trace, k);
    out << "### Step " << k + 1 << " of " << trace.size() << ": " << e.title << ", " << e.place << "\n\n";
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
        const int phase = trace.step(k).phase;
        if (k == 0 || trace.step(k - 1).phase != phase)
            out << "## " << escaped(trace.lesson().lane(trace.problem(), phase)) << "\n\n";
        put_step(out, trace, k);
    }
    out << "## Result\n\n";
    fence(out, result_matrices(trace));
    for (const std::string& sentence : comparison(trace)) out << sentence << '\n';
}

std::string trace_markdown(const Trace& trace) {
    std::ostringstream out;
    write_trace_markdown(out, trace);
    return std::move(out).str();
}

}  // namespace tilewalk
