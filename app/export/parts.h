// What all writings of a walk have in common: the matrices of a step and the pieces of text, as lines.
#pragma once

#include "app/export/text_layout.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"
#include "core/walk/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// A matrix that a step read or wrote, as a hand-out shows it.
struct StepMatrix {
    Slot slot = Slot::count;
    const Value* value = nullptr;
    Line symbol;       ///< "Q₀", "m"
    std::string note;  ///< "in HBM", "before", "after"; mostly empty
    bool written = false;
    int made = 0;  ///< the step that made the value, from 1; 0: given
};

/// The symbol of what step k read or wrote there, as that step's formula has it.
Line symbol_of(const Trace& trace, int k, const Access& access);
/// Step k writes this value, be it that it loads it from elsewhere.
bool writes_value(const Trace& trace, int k, std::int32_t value);
/// First what step k read, then what it wrote; without what a load passes on unchanged.
std::vector<StepMatrix> step_matrices(const Trace& trace, int k);
/// What lies in HBM before the first step, and the results after the last. The matrices are put together of
/// their tiles and live as long as this.
struct WholeMatrix {
    Slot slot;
    Value value;
};
std::vector<WholeMatrix> given_matrices(const Trace& trace);
std::vector<WholeMatrix> result_matrices_of(const Trace& trace);

/// The lane that begins with step k ("Query block 0"); empty if it goes on.
std::string lane_at(const Trace& trace, int k);
/// The lane of the nth of these steps; empty if it was that of the one before.
std::string lane_at(const Trace& trace, const std::vector<int>& steps, std::size_t n);
/// "Steps 11–20 of 40", "All 40 steps", "5 of 40 steps"
std::string which_steps(const std::vector<int>& steps, int count);
/// "Step 12 of 40".
std::string step_number(const Trace& trace, int k);
constexpr int text_width = 100;    ///< letters per line of prose and of matrices side by side
constexpr int number_width = 114;  ///< letters per line of arithmetic, without what it is indented by

/// "Flash forward · 4 × 4 worked example".
std::string headline(const Trace& trace);
/// Sizes, tiles, mask, scale and element size of the problem.
std::string problem_facts(const Problem& problem);
/// The same, and what the walk saves.
std::string problem_facts(const Trace& trace);
/// What lies in HBM before the first step, side by side.
Block problem_matrices(const Trace& trace);
/// Symbols of this walk with their meaning, first cell the symbol.
std::vector<std::vector<std::string>> legend(const Trace& trace);

/// The arithmetic of step k: one line per row or per cell, elided where there are many.
Block number_lines(const Trace& trace, int k);
/// Why step k is there: a sentence for every different thing that happens to its rows, each told of the first
/// row that it happens to.
Block why_sentences(const Trace& trace, int k);
/// What step k read and wrote, side by side.
Block state_lines(const Trace& trace, int k);
/// Bytes and operations up to and including step k.
std::string traffic_line(const Trace& trace, int k);

/// The results of the lesson, side by side.
Block result_matrices(const Trace& trace);
/// Bytes of this walk, beside those of standard attention where the lesson is not standard attention itself,
/// one sentence per element. Whoever moves less is named.
std::vector<std::string> comparison(const Trace& trace);

/// A styled line in math mode, without the dollars: "\ell \leftarrow \alpha \odot \ell + \mathrm{rowsum}(…)".
/// ASCII only; nothing in it is a mark of Markdown.
std::string latex_math(const Line& line);

/// Prose from anywhere, titles of files among it, as text of a document. What pdfLaTeX has no letter for is
/// handed to \tilewalkother{code point}{letter}.
std::string latex_text(const std::string& text);
/// Defines \tilewalkother: letters that pdfTeX cannot set are named by their code point; other engines set
/// them.
constexpr const char* latex_definition = R"(\makeatletter
\providecommand{\tilewalkother}[2]{\@ifundefined{pdftexversion}{#2}{\texttt{U+#1}}}
\makeatother
)";

/// Titles come from files; none of these marks of Markdown may take effect in them.
std::string markdown_text(const std::string& text, std::string_view marks);

}  // namespace tilewalk
