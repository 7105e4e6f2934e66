// The lens of the dense lessons: the cell that the explanation is about, drawn to scale.
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/areas.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/lessons/dense/steps.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewalk::ui {

namespace {

// ---- A cell of a matrix product as its terms, taken from the values that the step read

// The row (or column) of one matrix and of the other that meet in the cell which the explanation is about.
struct DenseTerms {
    Line a_name, b_name;  // "P row 0", "V column 2"
    std::vector<double> a, b;
    Role a_role = Role::none, b_role = Role::none, role = Role::none;
    const MatrixDigits *a_digits = nullptr, *b_digits = nullptr;
    double scale = 1, total = 0;
};

// The value that the current step read from this slot; null if it did not.
const Value* value_read(const AppState& state, Slot slot) {
    return value_in(*state.trace, state.trace->reads(state.cursor.step), slot);
}

// The value that holds the explanation's cell; null for steps that write nothing.
const Value* value_written(const AppState& state) {
    const Trace& trace = *state.trace;
    return value_in(trace, trace.writes(state.cursor.step), state.explanation.target.slot);
}

// Which line of the matrix goes into the product, and which coordinate of the cell chooses it.
enum class By { row, column };

struct Operand {
    const Value* value = nullptr;
    Slot slot = Slot::count;
    By take = By::row, by = By::row;
};

struct Factors {
    Operand a, b;
};

Operand operand(const AppState& state, std::initializer_list<Slot> slots, By take, By by) {
    for (Slot slot : slots)
        if (const Value* value = value_read(state, slot)) return {value, slot, take, by};
    return {};
}

Factors factors(const AppState& state) {
    const auto row = [&](std::initializer_list<Slot> s, By by) { return operand(state, s, By::row, by); };
    const auto column = [&](std::initializer_list<Slot> s, By by) {
        return operand(state, s, By::column, by);
    };
    switch (op_now(state)) {
    case Op::project:
        return {row({Slot::X, Slot::X_kv}, By::row), column({Slot::W_Q, Slot::W_K, Slot::W_V}, By::column)};
    case Op::scores: return {row({Slot::Q}, By::row), row({Slot::K}, By::column)};
    case Op::output: return {row({Slot::Prob, Slot::P_hbm}, By::row), column({Slot::V}, By::column)};
    case Op::dv: return {column({Slot::P_hbm}, By::row), column({Slot::dO}, By::column)};
    case Op::dp: return {row({Slot::dO}, By::row), row({Slot::V}, By::column)};
    case Op::row_dot: return {row({Slot::P_hbm}, By::row), row({Slot::dP_hbm}, By::row)};
    case Op::dq: return {row({Slot::dS_hbm}, By::row), column({Slot::K}, By::column)};
    case Op::dk: return {column({Slot::dS_hbm}, By::row), column({Slot::Q}, By::column)};
    case Op::weight_gradient:
        return {column({Slot::X, Slot::X_kv}, By::row), column({Slot::dQ, Slot::dK, Slot::dV}, By::column)};
    default: return {};
    }
}

bool scaled(const AppState& state) {
    const Op op = op_now(state);
    return op == Op::dq || op == Op::dk || (op == Op::scores && !scales_apart(*state.trace));
}

// Nothing if the step is no sum of products (loads, softmax, updates) or sums over everything (the loss).
std::optional<DenseTerms> dense_terms(const AppState& state) {
    const Factors f = factors(state);
    const Value* result = value_written(state);
    if (!f.a.value || !f.b.value || !result) return {};
    const CellRef cell = state.explanation.target;
    DenseTerms out;
    const auto fill = [&](const Operand& o, std::vector<double>& values, Line& name, Role& role) {
        const int at = o.by == By::row ? cell.row : cell.col;
        const Matrix& A = o.value->data;
        const auto line = o.take == By::row ? Matrix(A.row(at)) : Matrix(A.col(at).transpose());
        values.assign(line.data(), line.data() + line.size());
        name = pieces(slot_symbol(o.slot), (o.take == By::row ? ", row " : ", column ") + str(at));
        role = info(o.slot).role;
    };
    fill(f.a, out.a, out.a_name, out.a_role);
    fill(f.b, out.b, out.b_name, out.b_role);
    out.a_digits = &state.trace->digits(f.a.slot), out.b_digits = &state.trace->digits(f.b.slot);
    out.role = info(cell.slot).role;
    out.scale = scaled(state) ? state.trace->walked().softmax_scale() : 1;
    out.total = result->data(cell.row, cell.col);
    return out;
}

// ---- The drawings

std::vector<double> row_of(const Value& A, int r) {
    return {A.data.row(r).data(), A.data.row(r).data() + A.data.cols()};
}

std::string key_label(const AppState& state, int key) {
    const std::string word = state.trace->walked().key_token(key);
    return word.empty() ? "k" + str(key) : word;
}

std::vector<Bar> row_bars(const AppState& state, const Value& A, Role role) {
    std::vector<Bar> out;
    const std::vector<double> row = row_of(A, state.explanation.target.row);
    for (std::size_t n = 0; n < row.size(); ++n) {
        out.push_back({key_label(state, static_cast<int>(n)), row[n], role});
        out.back().digits = digits_of(*state.trace, state.cursor.step, A);
    }
    return out;
}

// Lengths are floats: neither too long nor too short for them.
bool to_scale(Extent e) { return e.hi - e.lo > 1e-30 && e.hi - e.lo < 1e30; }

void draw_bars(const Canvas& c, const AppState& state, const Rect& pane, const std::vector<Bar>& list,
               bool mark) {
    const Extent scale = extent(list);
    if (scale.hi - scale.lo >= 1e30) return no_scale(c, pane);
    bars(c, pane, list, mark, to_scale(scale) ? scale : Extent{0, 1}, phase(state));  // all 0: nothing rises
}

// Terms laid end to end, in the hue that they have as products: how the sum comes about.
Stack stack_of(const AppState& state, const DenseTerms& t) {
    Stack out{.symbol = state.explanation.target.slot, .total = t.total};
    for (std::size_t n = 0; n < t.a.size(); ++n)
        if (const double v = t.scale * t.a[n] * t.b[n]; v != 0) out.parts.push_back({v, t.role});
    return out;
}

// Term by term on the left; where there is room, the same to scale on the right.
void draw_terms(const Canvas& c, const AppState& state, const DenseTerms& t, const Rect& pane) {
    Dot table{.q_name = t.a_name, .k_name = t.b_name, .q = t.a, .k = t.b, .scale = t.scale, .total = t.total};
    table.total_digits = &state.trace->digits(state.explanation.target.slot);
    table.q_role = t.a_role, table.k_role = t.b_role, table.product_role = t.role;
    table.q_digits = t.a_digits, table.k_digits = t.b_digits, table.formula = &state.explanation;
    const Stack parts = stack_of(state, t);
    if (parts.parts.empty() && t.a.size() > 12) {
        c.text(pane.x, pane.y + pane.h * .4f, "All " + str(t.a.size()) + " products are 0.", size::lead,
               c.theme->t2);
        return;
    }
    if (!parts.parts.empty() && !to_scale(extent(parts)) && t.a.size() > 12) return no_scale(c, pane);
    const float wanted = width_of(table);
    const bool both = pane.w >= 640 && pane.h >= 90 && parts.parts.size() > 1 && to_scale(extent(parts)) &&
                      pane.w - wanted > 260;
    if (!both) return dot(c, pane, table, phase(state));
    const float left = std::clamp(wanted + 30, 300.0f, pane.w - 260);
    dot(c, {pane.x, pane.y, left - 20, pane.h}, table, phase(state));
    c.line({pane.x + left, pane.y + 4}, {pane.x + left, pane.bottom() - 4}, c.theme->line);
    const Rect right{pane.x + left + 24, pane.y, pane.w - left - 44, pane.h};
    stack(c, right, parts, extent(parts), phase(state));
}

void draw_row_sum(const Canvas& c, const AppState& state, const Rect& pane) {
    const Value* E = value_read(state, Slot::E);
    Stack out{.symbol = Slot::l,
              .formula = &state.explanation,
              .total = value_written(state)->data(state.explanation.target.row, 0)};
    for (double v : row_of(*E, state.explanation.target.row)) out.parts.push_back({v, Role::S});
    if (const Value* sink = value_read(state, Slot::sink)) {
        const double m = value_read(state, Slot::m)->data(state.explanation.target.row, 0);
        out.parts.push_back({std::exp(sink->data(0, 0) - m), Role::m});
    }
    if (to_scale(extent(out))) return stack(c, pane, out, extent(out), phase(state));
    c.paragraph(pane.x, pane.y + pane.h * .3f, pane.w, "No key has a weight: the sum is 0.", size::lead,
                c.theme->t2, 3);
}

void draw_exponentials(const Canvas& c, const AppState& state, const Rect& pane) {
    const Value* S = value_read(state, Slot::S);
    if (!S) S = value_read(state, Slot::S_hbm);
    const int row = state.explanation.target.row;
    const double most = value_read(state, Slot::m)->data(row, 0), base = std::isinf(most) ? 0 : most;
    std::vector<CurvePoint> points;
    const std::vector<double> scores = row_of(*S, row);
    for (std::size_t n = 0; n < scores.size(); ++n)
        points.push_back({.x = scores[n] - base,
                          .label = key_label(state, static_cast<int>(n)),
                          .role = Role::S,
                          .chosen = state.explanation.target.col == static_cast<int>(n),
                          .digits = &state.trace->digits(state.explanation.target.slot)});
    curve(c, pane, points, phase(state));
}

void draw_update(const Canvas& c, const AppState& state, const Rect& pane) {
    const CellRef at = state.explanation.target;
    const double now = value_written(state)->data(at.row, at.col);
    const double before = value_read(state, at.slot)->data(at.row, at.col);
    std::vector<Bar> list{{"before", before, info(at.slot).role},
                          {"− η dW", now - before, info(at.slot).role},
                          {"after", now, info(at.slot).role}};
    for (Bar& bar : list) bar.digits = &state.trace->digits(at.slot);
    draw_bars(c, state, pane, list, false);
}

// The loss before and after as bars from 0; from the end of the first, as arrows, how far it went and how far
// the gradient said that it would go.
void draw_loss_change(const Canvas& c, const Rect& pane, double before, double now, double promised) {
    const Theme& t = *c.theme;
    const struct {
        const char* name;
        double from, to;
        bool bar;
    } rows[] = {{"before", 0, before, true},
                {"after", 0, now, true},
                {"change", before, now, false},
                {"by gradient", before, before + promised, false}};
    Extent scale;
    for (const auto& row : rows) scale = join(scale, {row.to, row.to});
    if (!to_scale(scale)) return no_scale(c, pane);
    const auto number_of = [](const auto& row) { return format_short(row.to - row.from); };
    float names = 0, numbers = 0;
    for (const auto& row : rows) {
        names = std::max(names, text_width(Face::regular, size::small, row.name));
        numbers = std::max(numbers, text_width(Face::mono_bold, size::small, number_of(row)));
    }
    const float pitch = std::min(34.0f, pane.h / 4), h = std::min(24.0f, pitch - 3),
                left = pane.x + names + 12, unit = (pane.w - names - numbers - 30) / px(scale.hi - scale.lo),
                top = pane.y + (pane.h - 4 * pitch) / 2;
    const auto x_of = [&](double v) { return left + px(v - scale.lo) * unit; };
    for (int n = 0; n < 4; ++n) {
        const auto& row = rows[n];
        const float mid = top + (px(n) + .5f) * pitch, x = x_of(row.from), end = x_of(row.to);
        const Rect bar{std::min(x, end), mid - h / 2, std::max(std::abs(end - x), 1.0f), h};
        c.text(left - 12, mid, row.name, size::small, t.t2, Align::right);
        if (row.bar) {
            c.rect(bar.x, bar.y, bar.w, bar.h, mix(t.well, hue(t, Role::none), .34f), radius::bar);
            c.frame(bar.x, bar.y, bar.w, bar.h, hue(t, Role::none), 1.4f, radius::bar);
        } else {
            const ImU32 colour = n == 2 ? t.t1 : t.t2;
            const float way = end < x ? -1 : 1;
            c.line({x, mid}, {end - way * 7, mid}, colour, 2.4f);
            c.head({end, mid}, {way, 0}, colour, 9);
        }
        c.text(bar.right() + 8, mid, number_of(row), size::small, 0, row.bar ? Face::mono : Face::mono_bold);
    }
}

// The part of each query in the loss; after the update what was promised and what came.
void draw_loss(const Canvas& c, const AppState& state, const Rect& pane) {
    if (state.explanation.asides.size() == 2) {
        const Trace& trace = *state.trace;
        const int k = state.cursor.step;
        const double now = trace.live(Slot::loss, k).value->data(0, 0),
                     before = trace.live(Slot::loss, k - 1).value->data(0, 0);
        double squares = 0;
        for (Slot slot : {Slot::dW_Q, Slot::dW_K, Slot::dW_V})
            squares += trace.live(slot, k).value->data.squaredNorm();
        if (const Held sink = trace.live(Slot::dsink, k)) squares += sink.value->data.squaredNorm();
        return draw_loss_change(c, pane, before, now, -trace.walked().options.learning_rate * squares);
    }
    std::vector<Bar> list;
    const Matrix parts =
        value_read(state, Slot::dO)->data.cwiseProduct(value_read(state, Slot::O)->data).rowwise().sum();
    for (int r = 0; r < parts.rows(); ++r)
        list.push_back({query_label(state.trace->walked(), r, "query "), parts(r, 0), Role::O});
    draw_bars(c, state, pane, list, false);
}

// What each query adds to the gradient of the sink.
void draw_sink_gradient(const Canvas& c, const AppState& state, const Rect& pane) {
    const double sink = value_read(state, Slot::sink)->data(0, 0);
    const Matrix weight = (sink - value_read(state, Slot::L)->data.array()).exp();
    const Matrix parts = -weight.cwiseProduct(value_read(state, Slot::Di)->data);
    std::vector<Bar> list;
    for (int r = 0; r < parts.rows(); ++r)
        list.push_back({query_label(state.trace->walked(), r, "query "), parts(r, 0), Role::S});
    draw_bars(c, state, pane, list, false);
}

// In this lesson all of the row is known at once.
void draw_score_gradient(const Canvas& c, const AppState& state, const Rect& whole) {
    const Rect pane = below_axes_of_areas(c, whole);
    const CellRef target = state.explanation.target;
    const std::vector<double> P = row_of(*value_read(state, Slot::P_hbm), target.row),
                              dP = row_of(*value_read(state, Slot::dP_hbm), target.row),
                              dS = row_of(*value_written(state), target.row);
    const double D = value_read(state, Slot::Di)->data(target.row, 0);
    std::vector<Area> list;
    Extent heights;
    for (std::size_t n = 0; n < P.size(); ++n) {
        list.push_back({P[n], dP[n] - D, dS[n]});
        if (P[n] != 0) heights = join(heights, {dP[n] - D, dP[n] - D});
    }
    if (heights.hi == heights.lo) {
        c.paragraph(pane.x, pane.middle() - 20, pane.w,
                    "Every dP with a weight equals the mean: nothing pulls.", size::body, c.theme->t2);
        return;
    }
    if (!to_scale(heights)) return no_scale(c, pane);
    areas(c, state.trace->walked(), {pane.x + 60, pane.y, std::min(pane.w - 120, 820.0f), pane.h}, list,
          target.col, target.row,
          formula_text(state.explanation, Role::D, D, text_alone(state.trace->digits(Slot::D), D)));
}

const char* caption(const AppState& state) {
    const Op op = op_now(state);
    if (about_bytes(op)) return bytes_caption(op);
    switch (op) {
    case Op::scale:
    case Op::softcap:
    case Op::bias:
    case Op::mask: return "what becomes of this row's scores";
    case Op::row_max: return "the largest score of the row";
    case Op::exponentials: return "distance to the maximum, on the curve exp(x)";
    case Op::row_sum: return "all weights of the row, end to end";
    case Op::divide: return "what each key gets of the whole";
    case Op::sink_gradient: return "what each query adds: −exp(sink − L) D";
    case Op::ds:
        return state.trace->walked().logits.sink
                   ? "width P × height dP − D = area dS"
                   : "width P × height dP − D = area dS; over the row the areas cancel";
    case Op::cap_gradient: return "what the slope of the softcap leaves of each gradient";
    case Op::update: return "the weight before, its step, and after";
    case Op::loss:
        return state.explanation.asides.size() == 2 ? "what the gradient promised, and what came"
                                                    : "the part of each query";
    case Op::output: return "the values, each by its weight";
    default: return "multiply pair by pair, then add up";
    }
}

void draw(const Canvas& c, const AppState& state, const Rect& pane) {
    if (const auto terms = dense_terms(state)) return draw_terms(c, state, *terms, pane);
    switch (op_now(state)) {
    case Op::scale:
    case Op::softcap:
    case Op::bias:
    case Op::mask:
    case Op::cap_gradient:
    case Op::divide:  // the row of weights, all together 1
        return draw_bars(c, state, pane, row_bars(state, *value_written(state), Role::S), false);
    case Op::row_max: {
        const Value* S = value_read(state, Slot::S);
        return draw_bars(c, state, pane, row_bars(state, S ? *S : *value_read(state, Slot::S_hbm), Role::S),
                         true);
    }
    case Op::exponentials: return draw_exponentials(c, state, pane);
    case Op::row_sum: return draw_row_sum(c, state, pane);
    case Op::sink_gradient: return draw_sink_gradient(c, state, pane);
    case Op::ds: return draw_score_gradient(c, state, pane);
    case Op::update: return draw_update(c, state, pane);
    case Op::loss: return draw_loss(c, state, pane);
    default: return traffic_bars(c, state, pane);
    }
}

}  // namespace

void dense_lens(const Canvas& c, AppState& state, const Rect& a) {
    const PanelPart part(c, "Lens", a);
    c.well(a.x, a.y, a.w, a.h);
    const Rect inner = lens_title(c, a, caption(state));
    draw(c, state, {inner.x + 14, inner.y, inner.w - 28, inner.h});
}

}  // namespace tilewalk::ui
