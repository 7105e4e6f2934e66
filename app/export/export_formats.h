// The hand-outs of a walk: a page that steps, notes in Markdown, a document in LaTeX.
#pragma once

#include "core/base/result.h"
#include "core/walk/trace.h"

#include <iosfwd>
#include <string>

namespace tilewalk {

class PictureBook;

/// Headings, matrices as tables, formulas as $…$.
void write_export_markdown(std::ostream& out, const Trace& trace);

/// An article for pdfLaTeX, XeLaTeX and LuaLaTeX; `fragment`: what stands between \begin and \end{document}.
void write_export_tex(std::ostream& out, const Trace& trace, bool fragment);

/// Why the walk is too large for a page that a browser opens in one piece; nothing if it is not.
std::optional<std::string> refuse_page(const Trace& trace);
/// One self-contained page. `pictures` has one picture per step. `theme`: "dark" or "light" to begin with;
/// empty: whatever the reader's system says. `contrast`: the dark page has the colours of high contrast.
void write_export_html(std::ostream& out, const Trace& trace, const PictureBook& pictures,
                       const std::string& theme, bool contrast);

}  // namespace tilewalk
