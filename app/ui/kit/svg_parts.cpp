#include "app/ui/kit/svg_parts.h"

#include <charconv>
#include <cstdio>

namespace tilewalk::ui::svg {

std::string number(float value) {
    char text[48];
    const auto end =
        std::to_chars(text, text + sizeof text, static_cast<double>(value), std::chars_format::fixed, 2).ptr;
    std::string out(text, end);
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
    return out == "-0" ? "0" : out;
}

std::string attribute(std::string_view name, std::string_view value) {
    std::string out(" ");
    out += name;
    out += "=\"";
    out += value;
    return out += '"';
}
std::string attribute(std::string_view name, float value) { return attribute(name, number(value)); }

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (static_cast<unsigned char>(c) >= ' ' || c == '\t' || c == '\n')
            out += c;
    }
    return out;
}

std::string hex(ImU32 colour) {
    char text[8];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", (colour >> IM_COL32_R_SHIFT) & 255u,
                  (colour >> IM_COL32_G_SHIFT) & 255u, (colour >> IM_COL32_B_SHIFT) & 255u);
    return text;
}

std::string paint(std::string_view name, ImU32 colour) {
    const unsigned alpha = (colour >> IM_COL32_A_SHIFT) & 255u;
    std::string out = attribute(name, hex(colour));
    if (alpha < 255) out += attribute(std::string(name) + "-opacity", static_cast<float>(alpha) / 255);
    return out;
}

int weight(Face face) {
    switch (face) {
    case Face::medium: return 500;
    case Face::semibold:
    case Face::semibold_italic: return 600;
    case Face::mono_bold: return 700;
    default: return 400;
    }
}

bool is_mono(Face face) { return face == Face::mono || face == Face::mono_bold; }
bool is_italic(Face face) { return face == Face::italic || face == Face::semibold_italic; }

}  // namespace tilewalk::ui::svg
