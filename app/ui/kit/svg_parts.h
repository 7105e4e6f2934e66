// Pieces of SVG files: numbers without a locale, attributes, colours, letters that mean something to XML.
#pragma once

#include "app/ui/kit/fonts.h"
#include "core/base/words.h"

#include <imgui.h>
#include <string>
#include <string_view>

namespace tilewalk::ui::svg {

/// 12.34: at most two decimals, whatever the locale says.
std::string number(float value);
/// ` name="value"`; the value is written as it is.
std::string attribute(std::string_view name, std::string_view value);
std::string attribute(std::string_view name, float value);
/// Text with &, <, > and " spelled out and control characters left out.
std::string escaped(std::string_view text);
/// "#0e1217", without its opacity.
std::string hex(ImU32 colour);
/// A paint and, if it is not opaque, its opacity: ` fill="#…" fill-opacity="…"`.
std::string paint(std::string_view name, ImU32 colour);
/// 400, 500, 600 or 700.
int weight(Face face);
bool is_mono(Face face);
bool is_italic(Face face);

/// Typefaces in which the program measures its text, then what stands in for them.
constexpr std::string_view sans_family = "Inter, 'DejaVu Sans', sans-serif",
                           mono_family = "'DejaVu Sans Mono', 'JetBrains Mono', monospace";

}  // namespace tilewalk::ui::svg
