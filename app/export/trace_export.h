// A whole walk as text for the terminal, as JSON for programs, as Markdown for notes. They need no more
// memory than one step takes.
#pragma once

#include "core/walk/trace.h"

#include <iosfwd>

namespace tilewalk {

/// Problem, legend, every step with its numbers and its reason, result, bytes.
void write_trace_text(std::ostream& out, const Trace& trace);

/// Schema tilewalk-trace-1, see docs/trace-format.md. `problem_from_json` reads the problem back exactly.
void write_trace_json(std::ostream& out, const Trace& trace);

/// The same content as the text, with headings and fenced blocks as GitHub shows them.
void write_trace_markdown(std::ostream& out, const Trace& trace);

}  // namespace tilewalk
