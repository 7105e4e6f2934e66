// Formulas and sentences as LaTeX: for documents, and for Markdown that renders $…$.
#pragma once

#include "core/walk/explain.h"

#include <string>

namespace tilewalk {

/// A styled line in math mode, without the dollars: "\ell \leftarrow \alpha \odot \ell + \mathrm{rowsum}(…)".
/// ASCII only; nothing in it is a mark of Markdown.
std::string latex_math(const Line& line);

/// Prose from anywhere, titles of files among it, as text of a document. What pdfLaTeX has no letter for is
/// handed to \tilewalkother{code point}{letter}.
std::string latex_text(const std::string& text);

}  // namespace tilewalk
