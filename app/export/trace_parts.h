// What the text and the Markdown of a walk have in common: the pieces, each as lines.
#pragma once

#include "app/export/text_layout.h"
#include "core/walk/trace.h"

namespace tilewalk {

constexpr int text_width = 100;    ///< letters per line of prose and of matrices side by side
constexpr int number_width = 114;  ///< letters per line of arithmetic, without what it is indented by

/// "Flash forward · 4 × 4 worked example".
std::string headline(const Trace& trace);
/// Sizes, tiles, mask, scale and element size of the problem.
std::string problem_facts(const Problem& problem);
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

}  // namespace tilewalk
