// One line that leads somebody else to this very place: lesson, problem, step, cell, switches and view.
//   tilewalk:example=worked-4x4&break=no_correction&lesson=flash-forward&step=17&at=1.2
#pragma once

#include "core/problem/problem.h"

#include <string>
#include <string_view>

namespace tilewalk {

/// What a link leads to. Where a walk stands is counted as people see it: steps from 1, rows and columns from
/// 0.
struct LinkedPlace {
    Problem problem;
    std::string lesson = "flash-forward";
    int step = 1;
    int row = 0, col = -1;              ///< the chosen cell of what the step writes; −1: the step's own
    std::string page = "walk";          ///< "walk", "memory", "scale", "inside", "compare" …
    std::string panel = "explanation";  ///< "explanation", "problem" or "break"
    bool presenter = false;

    // Of the page "inside"
    std::string kernel = "f5-flash2", type = "bf16";
    int block = 0, launch = 1, warp = 0, instruction = 1, lane = 13;  ///< launch and instruction from 1
    std::string without{};  ///< the fault of the run: "f5_flash2.cu:71"; empty: none
    bool own = false;       ///< the walk's problem is run although one tile holds it
    std::string size{};     ///< of a random problem in its place: "256x64"; empty: none was chosen
};

constexpr std::size_t most_link_letters = 2000;

/// At most most_link_letters letters of ASCII. The problem is the nearest example or random problem and what
/// differs from it, or its own numbers as the shortest decimals that read back exactly. Refused with a
/// sentence if it takes more.
Result<std::string> link_to(const LinkedPlace& place);

/// Refused with a sentence: what is no link, broken escapes, keys that are unknown or there twice, values
/// that mean nothing, problems that cannot be walked through.
Result<LinkedPlace> place_of_link(std::string_view link);

}  // namespace tilewalk
