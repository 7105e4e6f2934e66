// What the lenses of the tiled lessons read of a step, and how they begin.
#include "app/ui/chapters/forward/connectors.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"

#include <algorithm>

namespace tilewalk::ui {

Around::Around(const AppState& of, int row_of, int col_of) : state(of), row(row_of), col(col_of) {}

const Value& Around::read(Slot slot, int nth) const {
    const Value* read = value_in(trace, trace.reads(k), slot, nth);
    return read ? *read : *trace.live(slot, k).value;
}

std::string index_label(const Problem& p, const char* letter, int n) {
    const std::string said = *letter == 'q' ? p.query_token(n) : p.key_token(n);
    return said.empty() ? plain({word(letter), sub(str(n))}) : said;
}

Dot dot_of(const Value& A, int r, const Value& B, int c) {
    Dot out;
    for (int x = 0; x < A.region.cols; ++x) {
        out.q.push_back(Around::at(A, r, x));
        out.k.push_back(Around::at(B, c, x));
    }
    return out;
}

std::vector<Bar> row_bars(const Around& a, const Value& tile) {
    std::vector<Bar> out;
    for (int c = 0; c < tile.region.cols; ++c)
        out.push_back({index_label(*a.state.problem, "k", tile.region.col + c),
                       tile.data(a.row - tile.region.row, c), Role::S});
    return out;
}

std::vector<CurvePoint> row_points(const Around& a, const Value& S, const Value& P, double base) {
    std::vector<CurvePoint> out;
    const CellRef now = a.state.explanation.target;
    for (const Bar& score : row_bars(a, S)) {
        const int c = static_cast<int>(out.size());
        out.push_back({score.value - base, score.label, Role::S, P.data(a.row - P.region.row, c)});
        out.back().chosen = now.row == a.row && now.col == P.region.col + c;
    }
    return out;
}

bool off_the_curve(const std::vector<CurvePoint>& points) {
    return std::ranges::any_of(points, [](const CurvePoint& p) { return p.x > 0; });
}

LensRows lens_rows(const AppState& state, const Rect& area, float least_h) {
    const Region tile = step_region(*state.trace, state.cursor.step);
    const CellRef chosen = state.explanation.target;
    LensRows out{.two = tile.rows == 2 && area.w >= 700 && area.h >= least_h};
    for (int n = 0; n < (out.two ? std::min(2, state.cursor.done) : 1); ++n)
        out.rows.emplace_back(state, out.two ? tile.row + n : chosen.row, chosen.col);
    return out;
}

void draw_lens_rows(const Canvas& c, const LensRows& all, const Rect& inner, const char* letter,
                    const std::function<void(const Around&, const Rect&)>& draw) {
    const float half = inner.w / (all.two ? 2 : 1);
    for (std::size_t n = 0; n < all.rows.size(); ++n) {
        // On stage as little as it takes.
        const float letters = px(str(all.rows[n].row).size() - 1);
        const Problem& p = *all.rows[n].state.problem;
        const bool said =
            !(*letter == 'q' ? p.query_token(all.rows[n].row) : p.key_token(all.rows[n].row)).empty();
        const float name = far_type() ? (said ? 46 : 26 + 9 * letters) : 40, right = far_type() ? 6 : 20;
        const Rect pane{inner.x + px(n) * half + name, inner.y, half - name - right, inner.h};
        row_name(c, p, pane.x - name + 4, pane.y + pane.h * .45f, letter, all.rows[n].row, c.theme->t2);
        draw(all.rows[n], pane);
    }
}

bool about_bytes(Op op) { return is_load(op) || is_store(op) || op == Op::skip; }

const char* bytes_caption(Op op) {
    return is_load(op)    ? "bytes that this load moves, against the whole run"
           : is_store(op) ? "bytes that this store moves, against the whole run"
                          : "a masked tile moves nothing";
}

Rect lens_title(const Canvas& c, const Rect& a, std::string_view words, std::string_view title,
                float reserved) {
    // On stage the step has its title above.
    if (far_type()) return {a.inner_x(), a.y + 10, a.inner_w(), a.h - 20};
    const float y = a.y + (a.h < from::lens ? 16 : 22), room = a.inner_w() - reserved;
    const float w = c.text_within(a.inner_x(), y, room, title, size::body, 0, Face::semibold);
    if (text_width(Face::regular, size::body, words) <= room - w - 10)
        c.text(a.x + 26 + w, y, words, size::body, c.theme->t3);
    return {a.inner_x(), y + 16, a.inner_w(), a.bottom() - y - 24};
}

}  // namespace tilewalk::ui
