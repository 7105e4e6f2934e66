// What the window shows below its header: a lesson with its walk, or a page without one. Settings, links, the
// command line and the interface call them by these names.
#pragma once

#include <array>

namespace tilewalk::ui {

enum class Page { walk, memory, scale, compare, start, inside };
inline constexpr std::array page_names = {"walk", "memory", "scale", "compare", "start", "inside"};

}  // namespace tilewalk::ui
