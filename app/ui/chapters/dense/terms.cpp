#include "app/ui/chapters/dense/dense.h"
#include "app/ui/parts/slot_view.h"

namespace tilewalk::ui {

namespace {

// Which line of the matrix goes into the product, and which coordinate of the cell chooses it.
enum class Take { row, column };
enum class By { row, column };

struct Operand {
    const Value* value;
    Slot slot;
    Take take;
    By by;
};

struct Factors {
    Operand a, b;
};

Operand operand(const AppState& state, std::initializer_list<Slot> slots, Take take, By by) {
    for (Slot slot : slots)
        if (const Value* value = value_read(state, slot)) return {value, slot, take, by};
    return {nullptr, Slot::count, take, by};
}

Factors factors(const AppState& state) {
    const auto row = [&](std::initializer_list<Slot> s, By by) { return operand(state, s, Take::row, by); };
    const auto column = [&](std::initializer_list<Slot> s, By by) {
        return operand(state, s, Take::column, by);
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
    default: return {{nullptr, Slot::count, Take::row, By::row}, {nullptr, Slot::count, Take::row, By::row}};
    }
}

bool scaled(const AppState& state) {
    const Op op = op_now(state);
    return op == Op::dq || op == Op::dk || (op == Op::scores && state.explanation.target.slot == Slot::S_hbm);
}

}  // namespace

const Value* value_read(const AppState& state, Slot slot) {
    for (const Access& a : state.trace->reads(state.cursor.step))
        if (a.slot == slot) return &state.trace->value(a.value);
    return nullptr;
}

const Value* value_written(const AppState& state) {
    for (const Access& a : state.trace->writes(state.cursor.step))
        if (a.slot == state.explanation.target.slot) return &state.trace->value(a.value);
    return nullptr;
}

std::optional<DenseTerms> dense_terms(const AppState& state) {
    const Factors f = factors(state);
    const Value* result = value_written(state);
    if (!f.a.value || !f.b.value || !result) return {};
    const CellRef cell = state.explanation.target;
    DenseTerms out;
    const auto fill = [&](const Operand& o, std::vector<double>& values, std::string& name, Role& role) {
        const int at = o.by == By::row ? cell.row : cell.col;
        const Matrix& A = o.value->data;
        const auto line = o.take == Take::row ? Matrix(A.row(at)) : Matrix(A.col(at).transpose());
        values.assign(line.data(), line.data() + line.size());
        name =
            plain(slot_symbol(o.slot)) + (o.take == Take::row ? ", row " : ", column ") + std::to_string(at);
        role = info(o.slot).role;
    };
    fill(f.a, out.a, out.a_name, out.a_role);
    fill(f.b, out.b, out.b_name, out.b_role);
    out.role = info(cell.slot).role;
    out.scale = scaled(state) ? state.problem->softmax_scale() : 1;
    out.total = result->data(cell.row, cell.col);
    return out;
}

}  // namespace tilewalk::ui
