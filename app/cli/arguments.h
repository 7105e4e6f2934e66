// The words of the command line, sorted into commands and options. Their meaning is looked at later.
#pragma once

#include "core/result.h"

#include <optional>
#include <string>

namespace tilewalk {

enum class Command { window, trace, render, examples, lessons, devices };

/// What was typed after an option, or nothing.
using Word = std::optional<std::string>;

/// Where the problem comes from (one of four sources) and what to change in it.
struct ProblemWords {
    Word example, load, q, k, v, d_o, random, seed;
    Word br, bc, window, scale, element_bytes, row;
    bool causal = false;

    bool names_source() const { return example || load || q || k || v || d_o || random; }
    bool empty() const {
        return !names_source() && !seed && !br && !bc && !window && !scale && !element_bytes && !row &&
               !causal;
    }
};

struct Arguments {
    Command command = Command::window;
    std::string print;  ///< help or version: to be printed instead of anything else
    ProblemWords problem;
    Word lesson, step, theme, format, output, size, pixel_ratio;
    Word frames, screenshot;  ///< window, for tests
    bool presenter = false, timing = false;
};

/// Refused with a sentence: unknown commands and options, options without their value or given twice.
Result<Arguments> parse_arguments(int argc, const char* const* argv);

}  // namespace tilewalk
