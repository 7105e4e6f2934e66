#include "tests/app/ui/covered.h"

#include "app/ui/state/trace_look.h"

#include <algorithm>
#include <imgui.h>

namespace tilewalk::test {

namespace {

struct Letter {
    ImVec2 at;  // its middle
    bool covered = false;
};

struct Triangle {
    ImDrawVert a, b, c;

    ImVec2 low() const {
        return {std::min({a.pos.x, b.pos.x, c.pos.x}), std::min({a.pos.y, b.pos.y, c.pos.y})};
    }
    ImVec2 high() const {
        return {std::max({a.pos.x, b.pos.x, c.pos.x}), std::max({a.pos.y, b.pos.y, c.pos.y})};
    }
    bool is_plain(ImVec2 white) const {
        return std::ranges::all_of(std::initializer_list{a, b, c}, [&](const ImDrawVert& v) {
            return v.uv.x == white.x && v.uv.y == white.y;
        });
    }
    bool is_opaque() const {
        return std::ranges::all_of(std::initializer_list{a, b, c}, [](const ImDrawVert& v) {
            return ((v.col >> IM_COL32_A_SHIFT) & 0xFF) > 200;
        });
    }
    bool contains(ImVec2 p) const {
        const auto side = [&](const ImDrawVert& from, const ImDrawVert& to) {
            return (to.pos.x - from.pos.x) * (p.y - from.pos.y) -
                   (to.pos.y - from.pos.y) * (p.x - from.pos.x);
        };
        const float ab = side(a, b), bc = side(b, c), ca = side(c, a);
        return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
    }
};

bool inside(ImVec2 p, ImVec2 low, ImVec2 high) {
    return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y;
}

// Letters are quads of the font's picture; what lies on them is plain.
void read_list(const ImDrawList& list, std::vector<Letter>& letters) {
    const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
    const std::size_t first = letters.size();
    for (const ImDrawCmd& command : list.CmdBuffer)
        for (unsigned n = 0; n + 2 < command.ElemCount; n += 3) {
            const auto vertex = [&](unsigned k) {
                const unsigned at = list.IdxBuffer[static_cast<int>(command.IdxOffset + n + k)];
                return list.VtxBuffer[static_cast<int>(command.VtxOffset + at)];
            };
            const Triangle t{vertex(0), vertex(1), vertex(2)};
            const ImVec2 low = t.low(), high = t.high();
            if (!t.is_plain(white)) {
                if (t.is_opaque()) letters.push_back({{(low.x + high.x) / 2, (low.y + high.y) / 2}});
                continue;
            }
            if (high.x - low.x < 4 || high.y - low.y < 4 || !t.is_opaque()) continue;
            const ImVec4& clip = command.ClipRect;
            for (std::size_t k = first; k < letters.size(); ++k) {
                const ImVec2 at = letters[k].at;
                if (inside(at, low, high) && inside(at, {clip.x, clip.y}, {clip.z, clip.w}) && t.contains(at))
                    letters[k].covered = true;
            }
        }
}

}  // namespace

CoveredTexts covered_texts(const Program& program) {
    const ImDrawData* const data = ImGui::GetDrawData();
    std::vector<Letter> letters;
    for (int n = 0; data && n < data->CmdListsCount; ++n) read_list(*data->CmdLists[n], letters);
    CoveredTexts out;
    for (const Item& item : program.items()) {
        if (item.kind != ItemKind::text) continue;
        const auto spaces = std::ranges::count(item.text, ' ');
        const long wanted = 2 * (letter_count(item.text) - spaces);  // triangles
        long all = 0, seen = 0;
        for (const Letter& letter : letters)
            if (inside(letter.at, item.min, item.max)) ++all, seen += !letter.covered;
        if (wanted <= 0 || all * 4 < wanted * 3) continue;
        ++out.looked_at;
        if (seen * 4 < wanted * 3) out.texts.push_back(&item);
    }
    return out;
}

}  // namespace tilewalk::test
