// A whole walk as text for the terminal, as JSON for programs, as Markdown; and as hand-outs: a page that
// steps, notes in Markdown, a document in LaTeX. They need no more memory than one step takes.
#pragma once

#include "core/base/result.h"
#include "core/walk/trace.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace tilewalk {

class PictureBook;

/// Problem, legend, every step with its numbers and its reason, result, bytes.
void write_trace_text(std::ostream& out, const Trace& trace);

/// Schema tilewalk-trace-1, see docs/trace-format.md. `problem_from_json` reads the problem back exactly.
void write_trace_json(std::ostream& out, const Trace& trace);

/// The same content as the text, with headings and fenced blocks as GitHub shows them.
void write_trace_markdown(std::ostream& out, const Trace& trace);

/// Headings, matrices as tables, formulas as $…$; of these steps, in this order.
void write_export_markdown(std::ostream& out, const Trace& trace, const std::vector<int>& steps);

/// An article for pdfLaTeX, XeLaTeX and LuaLaTeX; `fragment`: what stands between \begin and \end{document}.
void write_export_tex(std::ostream& out, const Trace& trace, const std::vector<int>& steps, bool fragment);

/// Why the walk is too large for a page that a browser opens in one piece; nothing if it is not.
std::optional<std::string> refuse_page(const Trace& trace);
/// One self-contained page. `pictures` has one picture per step. `theme`: "dark" or "light" to begin with;
/// empty: whatever the reader's system says. `contrast`: the dark page has the colours of high contrast.
void write_export_html(std::ostream& out, const Trace& trace, const PictureBook& pictures,
                       const std::string& theme, bool contrast);

}  // namespace tilewalk
