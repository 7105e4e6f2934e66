#include "app/export/export_formats.h"

#include "app/export/parts.h"
#include "app/ui/state/trace_look.h"

#include <ostream>

namespace tilewalk {
namespace {

void put(std::ostream& out, const Block& block, const char* indent) {
    for (const std::string& line : block) out << (line.empty() ? "" : indent) << line << '\n';
}

void put_problem(std::ostream& out, const Trace& trace) {
    const Problem& problem = trace.problem();
    put(out, wrap(headline(trace), text_width), "");
    put(out, wrap(problem_facts(trace), text_width), "");
    // What there is to watch is told of tiles.
    if (trace.tells_what_to_watch()) put(out, wrap("Watch: " + problem.watch, text_width), "");
    out << '\n';
    put(out, problem_matrices(trace), "  ");
    out << '\n';
    put(out, table(legend(trace)), "  ");
}

// In one line where it has room; otherwise formula, numbers and result each in its own.
void put_aside(std::ostream& out, const Aside& aside) {
    const std::string formula = plain(aside.formula), result = "→  " + plain(aside.result),
                      numbers = aside.numbers.empty() ? "" : "=  " + plain(aside.numbers);
    std::string line = aside.label + ": " + formula;
    for (const std::string& part : {numbers, result})
        if (!part.empty()) line += "  " + part;
    if (ui::letter_count(line) <= text_width - 4) return put(out, {line}, "    ");
    put(out, {aside.label + ": " + formula}, "    ");
    if (!numbers.empty()) put(out, {numbers}, "      ");
    put(out, {result}, "      ");
}

void put_step(std::ostream& out, const Trace& trace, int k) {
    const Explanation e = explain(trace, k);
    out << "\n" << step_number(trace, k) << " · " << e.title << " · " << e.place << '\n';
    out << "  " << plain(e.formula) << '\n';
    put(out, number_lines(trace, k), "    ");
    for (const Aside& aside : e.asides) put_aside(out, aside);
    for (const std::string& why : why_sentences(trace, k)) put(out, wrap(why, text_width - 2), "  ");
    put(out, state_lines(trace, k), "    ");
    out << "  " << traffic_line(trace, k) << '\n';
}

void put_result(std::ostream& out, const Trace& trace) {
    out << "\nResult\n";
    put(out, result_matrices(trace), "  ");
    out << '\n';
    for (const std::string& sentence : comparison(trace)) put(out, wrap(sentence, text_width), "");
}

}  // namespace

void write_trace_text(std::ostream& out, const Trace& trace) {
    put_problem(out, trace);
    for (int k = 0; k < trace.size() && out; ++k) put_step(out, trace, k);
    put_result(out, trace);
}

}  // namespace tilewalk
