// What the lenses of the tiled lessons read of a step, and how they begin.
#include "app/ui/chapters/forward/connectors.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/areas.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tilewalk::ui {

Around::Around(const AppState& of, int row_of, int col_of) : state(of), row(row_of), col(col_of) {}

const Value& Around::read(Slot slot, int nth) const {
    const Value* read = value_in(trace, trace.reads(k), slot, nth);
    return read ? *read : *trace.live(slot, k).value;
}

std::string Around::name(const char* letter, int n) const {
    const Slot of = *letter == 'q' ? Slot::Qi : Slot::Kj;
    return index_label(trace.problem(), letter, indices(trace, of, {n, 0, 1, 1}, k).rows.front());
}

const MatrixDigits* digits_of(const Trace& trace, int k, const Value& value) {
    for (const auto& list : {trace.reads(k), trace.writes(k)})
        for (const Access& a : list)
            if (&trace.value(a.value) == &value) return &trace.digits(a.slot);
    return nullptr;
}

const MatrixDigits* Around::digits(const Value& value) const { return digits_of(trace, k, value); }

std::string index_label(const Problem& p, const char* letter, int n) {
    const std::string said = *letter == 'q' ? p.query_token(n) : p.key_token(n);
    return said.empty() ? letter + str(n) : said;
}

Dot dot_of(const Value& A, int r, const Value& B, int c) {
    Dot out;
    for (int x = 0; x < A.region.cols; ++x) {
        out.q.push_back(Around::at(A, r, x));
        out.k.push_back(Around::at(B, c, x));
    }
    return out;
}

Dot dot_of(const CellSum& s) {
    Dot out;
    out.q = s.a.values, out.k = s.b.values, out.scale = s.scale, out.total = s.total;
    out.q_role = info(s.a.slot).role, out.k_role = info(s.b.slot).role, out.product_role = info(s.slot).role;
    out.name = slot_symbol(s.slot);
    return out;
}

std::optional<Dot> single_product(const Around& a, const CellSum& sum) {
    const std::vector<double> terms = sum.terms();
    if (sum.before != 0 || sum.divisor != 1 || terms.size() > 8 ||
        std::ranges::count(terms, 0.0) + 1 < std::ssize(terms))
        return {};
    Dot out = dot_of(sum);
    out.formula = &a.state.explanation;
    out.q_digits = &a.trace.digits(sum.a.slot), out.k_digits = &a.trace.digits(sum.b.slot);
    out.total_digits = &a.trace.digits(sum.slot);
    out.q_name = slot_symbol(sum.a.slot), out.k_name = slot_symbol(sum.b.slot);
    if (!far_type()) return out;
    const auto line = [](const CellSum::Factor& f, int at) {
        return (f.column ? ", column " : ", row ") + str(at);
    };
    const Indices told = indices(a.trace, sum.slot, {a.row, a.col, 1, 1}, a.k);
    out.q_name = pieces(out.q_name, line(sum.a, told.rows.front()));
    out.k_name = pieces(out.k_name, line(sum.b, told.cols.front()));
    return out;
}

Dot product_dot(const Around& a) {
    const CellSum sum = *cell_sum(a.trace, a.k, a.row, a.col);
    Dot out = dot_of(sum);
    out.formula = &a.state.explanation;
    out.q_digits = &a.trace.digits(sum.a.slot), out.k_digits = &a.trace.digits(sum.b.slot);
    out.total_digits = &a.trace.digits(sum.slot);
    const bool scores = a.op() == Op::scores;
    const Indices told = indices(a.trace, sum.slot, {a.row, a.col, 1, 1}, a.k);
    const auto named = [](std::string words) { return Line{word(std::move(words))}; };
    // On stage no row has its name at the left of the table, where it would read as a factor.
    const std::string whose = far_type() ? ", row " + str(told.rows.front()) : "";
    out.q_name = named(scores ? a.name("q", a.row) : "dO" + whose);
    out.k_name = named(a.op() == Op::preprocess ? "O" + whose : a.name(scores ? "k" : "v", a.col));
    return out;
}

Stack stack_of(const CellSum& s) {
    const Line a = slot_symbol(s.a.slot);
    Stack out{.symbol = s.slot,
              .total = s.total,
              .added = pieces(s.a.column ? transposed(a) : a, slot_symbol(s.b.slot))};
    const Role role = info(s.slot).role;
    if (s.grows) out.parts.push_back({s.before * s.shrinks / s.divisor, role, s.shrinks == 1});
    for (const double term : s.terms()) out.parts.push_back({term / s.divisor, role});
    return out;
}

Stack division_stack(const Problem& p, double old, double l, double total) {
    const bool divides = l != 0 && !fault_caption(p, Op::normalize);
    Stack out{.symbol = Slot::Oi, .has_old = true, .old = old, .alpha = divides ? 1 / l : 1};
    out.divisor = divides ? l : 0, out.total = total;
    out.parts.push_back({total, Role::O});
    return out;
}

namespace {

/// Its place in the whole of what it belongs to.
int position_of(const Around& a, Slot of, int k, int n) {
    return indices(a.trace, of, {n, 0, 1, 1}, k).rows.front();
}

std::vector<Area> areas_of_row(const Around& a) {
    std::vector<Area> list(static_cast<std::size_t>(a.trace.problem().N_kv()), {0, 0, 0, Area::When::after});
    for (int k = 0; k < a.trace.size(); ++k) {
        if (a.trace.step(k).op != Op::ds || a.trace.step(k).i != a.trace.step(a.k).i) continue;
        const auto value = [&](Slot slot) -> const Value& { return *a.trace.live(slot, k).value; };
        const Region& tile = value(Slot::dS).region;
        const int r = a.row - tile.row;
        for (int n = 0; n < tile.cols; ++n)
            list[static_cast<std::size_t>(position_of(a, Slot::Kj, k, tile.col + n))] = {
                value(Slot::Prob).data(r, n), value(Slot::dP).data(r, n) - value(Slot::Di).data(r, 0),
                value(Slot::dS).data(r, n),
                k < a.k    ? Area::When::before
                : k == a.k ? Area::When::now
                           : Area::When::after};
    }
    return list;
}

}  // namespace

void draw_areas(const Canvas& c, const Rect& pane, const Around& a) {
    if (!a.state.lens) a.state.lens = std::make_shared<LensKept>();
    const std::vector<Area>& list = a.state.lens->areas[static_cast<std::size_t>(a.row % 2)].of(
        {a.state.trace, a.k, a.row}, [&] { return areas_of_row(a); });
    const CellRef target = a.state.explanation.target;
    const double D = Around::at(*a.trace.live(Slot::Di, a.k).value, a.row, 0);
    areas(c, a.trace.problem(), pane, list,
          target.row == a.row ? position_of(a, Slot::Kj, a.k, target.col) : -1,
          position_of(a, Slot::Qi, a.k, a.row),
          formula_text(a.state.explanation, Role::D, D, text_alone(a.trace.digits(Slot::Di), D)));
}

std::vector<Bar> row_bars(const Around& a, const Value& tile) {
    std::vector<Bar> out;
    for (int c = 0; c < tile.region.cols; ++c) {
        out.push_back({a.name("k", tile.region.col + c), tile.data(a.row - tile.region.row, c), Role::S});
        out.back().digits = a.digits(tile);
    }
    return out;
}

std::vector<Bar> changed_bars(const Around& a) {
    std::vector<Bar> out = row_bars(a, *value_in(a.trace, a.trace.writes(a.k), Slot::S));
    const Value& before = a.read(Slot::S);
    for (std::size_t n = 0; n < out.size(); ++n)
        out[n].before = before.data(a.row - before.region.row, static_cast<int>(n));
    return out;
}

std::vector<CurvePoint> row_points(const Around& a, const Value& S, const Value& P, double base) {
    std::vector<CurvePoint> out;
    const CellRef now = a.state.explanation.target;
    for (const Bar& score : row_bars(a, S)) {
        const int c = static_cast<int>(out.size());
        out.push_back({score.value - base, score.label, Role::S, P.data(a.row - P.region.row, c)});
        out.back().chosen = now.row == a.row && now.col == P.region.col + c;
        out.back().digits = a.digits(P);
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
        const bool named = *letter != '\0';
        const float name = !named        ? 0
                           : !far_type() ? 40
                           : said        ? 46
                                         : 26 + 9 * letters,
                    right = far_type() ? 6 : 20;
        const Rect pane{inner.x + px(n) * half + name, inner.y, half - name - right, inner.h};
        if (named)
            row_name(c, p, pane.x - name + 4, pane.y + pane.h * .45f, letter, all.rows[n].row, c.theme->t2);
        draw(all.rows[n], pane);
    }
}

// A maximum without any key, or that of a sink; a sum; an output; a gradient and where it grows.
static const char* meaning_of_start(const Problem& p, Slot slot, double value) {
    const Role role = info(slot).role;
    const bool gradient = std::string_view(info(slot).symbol).starts_with("d");
    if (gradient) return info(slot).hbm ? "grows in HBM" : "grows on chip";
    if (role == Role::m)
        return std::isinf(value)              ? "any score is larger"
               : value == 0 && !p.logits.sink ? "and it stays 0"
                                              : "the sink, before any key";
    if (role == Role::l) return value == 0 ? "no weight yet" : "the sink's weight";
    return "nothing collected";
}

void draw_start_values(const Canvas& c, const AppState& state, const Rect& pane) {
    std::vector<Access> starts;
    for (const Access& a : state.trace->writes(state.cursor.step))
        if (std::ranges::find(starts, a.slot, &Access::slot) == starts.end()) starts.push_back(a);
    const float between = 16,
                w = (pane.w - between * px(starts.size() - 1)) / px(std::max<std::size_t>(starts.size(), 1)),
                mid = far_type() ? pane.middle() - 13 : pane.y + pane.h * .36f;
    float x = pane.x + w / 2;
    for (const Access& a : starts) {
        const double value = state.trace->value(a.value).data(0, 0);
        const Line start = pieces(slot_symbol(a.slot), "  =  ", number(format_short(value)));
        // Smaller where the pane is narrow
        const float type = std::min(18.0f, 18 * w / rich_width(c, start, 18));
        c.rich(x, mid, start, type, Align::center);
        const char* const words = meaning_of_start(*state.problem, a.slot, value);
        if (text_width(Face::regular, size::body, words) <= w)
            c.text(x, mid + 28, words, size::body, c.theme->t2, Align::center);
        x += w + between;
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
    if (far_type()) {
        const float pad = a.h < 84 ? 7.0f : 10.0f;
        return {a.inner_x(), a.y + pad, a.inner_w(), a.h - 2 * pad};
    }
    const float y = a.y + (a.h < from::lens ? 16 : 22), room = a.inner_w() - reserved;
    const float w = c.text_within(a.inner_x(), y, room, title, size::body, 0, Face::semibold);
    if (text_width(Face::regular, size::body, words) <= room - w - 10)
        c.text(a.x + 26 + w, y, words, size::body, c.theme->t3);
    return {a.inner_x(), y + 16, a.inner_w(), a.bottom() - y - 24};
}

}  // namespace tilewalk::ui
