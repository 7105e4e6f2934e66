// The breadcrumb for the back row: the way, the value, and the cell that Enter follows. Nothing under 27 px.
#include "app/ui/kit/items.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/inspection.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

std::string chosen_text(const Inspection& in) {
    if (in.entries.empty()) return in.at().step < 0 ? "given" : "a start value";
    const LinkEntry& entry = in.entries[static_cast<std::size_t>(in.chosen)];
    const Region& cells = entry.patch.cells;
    const char* words = entry.link == Link::source ? "from "
                        : entry.link == Link::fed  ? "feeds "
                                                   : "in the end from ";
    std::string out = words + patch_name(*in.trace, entry.patch);
    if (cells.rows * cells.cols == 1)
        out += " = " + format_short(
                           value_of(*in.trace, {{entry.patch.slot, cells.row, cells.col}, entry.patch.step}));
    return out + ", " + made_text(entry.patch.step) + "   (" + std::to_string(in.chosen + 1) + " of " +
           std::to_string(in.entries.size()) + ")";
}

void way(const Canvas& c, const Inspection& in, float x, float y, float room) {
    constexpr float gap = 44;
    std::vector<float> widths;
    for (int n = 0; n < static_cast<int>(in.path.size()); ++n)
        widths.push_back(text_width(Face::semibold, size::far, crumb_name(in, n)));
    for (int n : shown_crumbs(widths, gap, room, 1)) {
        if (n != 0) {
            const bool back = n < 0 || in.path[static_cast<std::size_t>(n)].step <=
                                           in.path[static_cast<std::size_t>(n) - 1].step;
            c.text(x + gap / 2, y, n < 0 ? "…" : back ? "←" : "→", size::far, c.theme->t3, Align::center);
            x += gap;
        }
        if (n < 0) continue;
        const bool last = n + 1 == static_cast<int>(in.path.size());
        x += c.text(x, y, crumb_name(in, n), size::far, last ? c.theme->t1 : c.theme->t2,
                    last ? Face::semibold : Face::medium);
    }
}

}  // namespace

void inspect_presenter(const Canvas& c, AppState& state, const Rect& a) {
    const Inspection* in = inspection_of(state);
    if (!in) return;
    way(c, *in, a.x, a.bottom() - 98, a.w);
    const std::string value = format_full(value_of(*in->trace, in->at()));
    const Line short_line = pieces(place_name(*in->trace, in->at()) + " = ", number(value, Role::none, true));
    // Of a step that only moves numbers the formula counts bytes.
    const bool about_it = in->at().step >= 0 && in->told.target == in->at().cell && !in->told.numbers.empty();
    const Line line = about_it ? pieces(short_line, "  =  ", in->told.numbers) : short_line;
    c.rich(a.x, a.bottom() - 57, rich_width(c, line, size::far) <= a.w ? line : short_line, size::far,
           Align::left, c.theme->t1);
    c.text_within(a.x, a.bottom() - 16, a.w, chosen_text(*in), size::far, c.theme->t2);
}

}  // namespace tilewalk::ui
