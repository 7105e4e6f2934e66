#include "app/ui/state/inputs.h"

#include "core/problem/heads.h"

namespace tilewalk::ui {

namespace {

Matrix* weight_of(Projection& w, Slot slot) {
    switch (slot) {
    case Slot::X: return &w.X;
    case Slot::W_Q: return &w.W_Q;
    case Slot::W_K: return &w.W_K;
    case Slot::W_V: return &w.W_V;
    default: return nullptr;
    }
}

// Without an input X the weights are Q, K and V themselves.
Slot behind(Slot weight) {
    return weight == Slot::W_Q   ? Slot::Q
           : weight == Slot::W_K ? Slot::K
           : weight == Slot::W_V ? Slot::V
                                 : weight;
}

Matrix matrix_of(const Problem& p, Slot slot) {
    switch (p.projection ? slot : behind(slot)) {
    case Slot::Q: return p.Q;
    case Slot::K: return p.K;
    case Slot::V: return p.V;
    case Slot::dO: return output_gradient(p);
    case Slot::X: return p.projection ? p.projection->X : Matrix(Matrix::Identity(p.N(), p.N()));
    case Slot::W_Q: return p.projection->W_Q;
    case Slot::W_K: return p.projection->W_K;
    case Slot::W_V: return p.projection->W_V;
    default: return {};
    }
}

Result<void> set_element(Problem& p, CellRef cell, double value) {
    const Slot slot = p.projection ? cell.slot : behind(cell.slot);
    if (slot == Slot::X && p.heads)
        return Failure{"With several heads X is the identity, and the weights are Q, K and V; change those."};
    if (slot == Slot::X && !p.projection) {
        if (p.N() != p.N_kv())
            return Failure{
                "Here queries and keys are different tokens, so that there is no common X to change; "
                "change Q, K or V."};
        p.projection = Projection{Matrix::Identity(p.N(), p.N()), p.Q, p.K, p.V};
    }
    if (p.projection)
        if (Matrix* W = weight_of(*p.projection, slot)) {
            (*W)(cell.row, cell.col) = value;
            project(p);
            return {};
        }
    if (slot == Slot::dO) {
        if (!p.dO && p.heads) p.heads->dO.assign(p.heads->Q.size(), output_gradient(p));
        p.dO = output_gradient(p);
        (*p.dO)(cell.row, cell.col) = value;
        return {};
    }
    const char* const name = info(slot).name;
    if (p.projection)
        return Failure{std::string(name) + " is X times W_" + name + " in this problem; change X or W_" +
                       name + "."};
    Matrix& A = slot == Slot::Q ? p.Q : slot == Slot::K ? p.K : p.V;
    A(cell.row, cell.col) = value;
    return {};
}

std::optional<Problem> packed_in(const Lesson& lesson, const Problem& p) {
    return lesson.uses(packs_heads) ? packed_group(p) : std::nullopt;
}

}  // namespace

std::optional<Slot> input_of(Slot slot) {
    switch (slot) {
    case Slot::Q:
    case Slot::Qi: return Slot::Q;
    case Slot::K:
    case Slot::Kj: return Slot::K;
    case Slot::V:
    case Slot::Vj: return Slot::V;
    case Slot::dO:
    case Slot::dOi: return Slot::dO;
    case Slot::X:
    case Slot::W_Q:
    case Slot::W_K:
    case Slot::W_V: return slot;
    default: return std::nullopt;
    }
}

std::vector<Slot> inputs_of(const Problem& p) {
    if (p.projection) return {Slot::X, Slot::W_Q, Slot::W_K, Slot::W_V, Slot::dO};
    return {Slot::Q, Slot::K, Slot::V, Slot::dO};
}

Matrix input(const Lesson& lesson, const Problem& p, Slot slot) {
    const std::optional<Problem> packed = packed_in(lesson, p);
    return matrix_of(packed ? *packed : p, slot);
}

Result<void> set_input(const Lesson& lesson, Problem& p, CellRef cell, double value) {
    const std::optional<Problem> packed = packed_in(lesson, p);
    const bool of_queries = behind(cell.slot) == Slot::Q || cell.slot == Slot::dO;
    if (!packed || !of_queries) return set_element(p, cell, value);
    const int shown = shown_head(p);
    show_head(p, head_of_row(*packed, cell.row));
    cell.row %= packed->rows_of_head();
    Result<void> set = set_element(p, cell, value);
    show_head(p, shown);
    return set;
}

}  // namespace tilewalk::ui
