// How colours look to people without one kind of cone, and how far apart two colours look.
#pragma once

#include <array>
#include <imgui.h>

namespace tilewalk::ui {

enum class Vision { full, protan, deutan, tritan };
inline constexpr std::array all_visions = {Vision::full, Vision::protan, Vision::deutan, Vision::tritan};
const char* name(Vision vision);

/// The colour as someone with that vision sees it, as far as a screen can show it: the matrices of Machado,
/// Oliveira and Fernandes 2009 for a cone that is missing altogether, applied to linear light. Alpha stays.
ImU32 seen_by(Vision vision, ImU32 colour);

/// CIE L*a*b* of an sRGB colour under D65.
struct Lab {
    double L = 0, a = 0, b = 0;
};
Lab lab_of(ImU32 colour);
/// CIEDE2000, with all weights 1 (Sharma, Wu and Dalal 2005).
double colour_difference(const Lab& one, const Lab& other);
/// The same for two colours as someone sees them.
double colour_difference(ImU32 one, ImU32 other, Vision vision = Vision::full);

}  // namespace tilewalk::ui
