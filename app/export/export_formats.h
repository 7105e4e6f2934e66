// A whole walk as text for the terminal, as JSON for programs, as Markdown; and as hand-outs: a page that
// steps, notes in Markdown, a document in LaTeX. They need no more memory than one step takes.
#pragma once

#include "core/base/result.h"
#include "core/walk/trace.h"

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
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

/// What one is written with, in this order: the head, step by step (`n`: its place among `steps`), the end.
struct HandOutText {
    void (*head)(std::ostream& out, const Trace& trace, const std::vector<int>& steps);
    void (*step)(std::ostream& out, const Trace& trace, const std::vector<int>& steps, std::size_t n);
    void (*end)(std::ostream& out, const Trace& trace);

    void write(std::ostream& out, const Trace& trace, const std::vector<int>& steps) const;
};
/// Headings, matrices as tables, formulas as $…$.
extern const HandOutText markdown_notes;
/// An article for pdfLaTeX, XeLaTeX and LuaLaTeX, and what stands between its \begin and \end{document}.
extern const HandOutText tex_article, tex_fragment;

/// Why the walk is too large for a page that a browser opens in one piece; nothing if it is not.
std::optional<std::string> refuse_page(const Trace& trace);
/// One self-contained page. `pictures` has one picture per step, and both outlive it.
class ExportPage {
public:
    ExportPage(const Trace& trace, const PictureBook& pictures);
    ~ExportPage();
    ExportPage(const ExportPage&) = delete;
    ExportPage& operator=(const ExportPage&) = delete;

    void put_step(std::ostream& out, int k) const;
    /// `theme`: "dark" or "light" to begin with; empty: whatever the reader's system says. `contrast`: the
    /// dark page has the colours of high contrast. `steps` puts all of them, in their order.
    void write(std::ostream& out, const std::string& theme, bool contrast,
               const std::function<void()>& steps) const;
    void write(std::ostream& out, const std::string& theme, bool contrast) const;

private:
    struct Looks;
    const Trace& trace_;
    const PictureBook& pictures_;
    std::unique_ptr<Looks> looks_;
};

}  // namespace tilewalk
