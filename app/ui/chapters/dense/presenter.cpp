// Presenter mode of the dense lessons: the step as one line, from what is read to what comes of it.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Block {
    Slot slot;
    bool transposed = false, written = false;
    Bed bed{};
    int digits = 0;
    int rows() const { return bed.rows; }
};

// As the formula has it: Q Kᵀ, Pᵀ dO, dO Vᵀ, dSᵀ Q, Xᵀ dQ
bool stands_transposed(Op op, Slot slot) {
    return (op == Op::scores && slot == Slot::K) || (op == Op::dv && slot == Slot::P_hbm) ||
           (op == Op::dp && slot == Slot::V) || (op == Op::dk && slot == Slot::dS_hbm) ||
           (op == Op::weight_gradient && (slot == Slot::X || slot == Slot::X_kv));
}

std::vector<Block> blocks(const AppState& state) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    std::vector<Block> out;
    const auto add = [&](Slot slot, bool written) {
        Block block{slot, !written && stands_transposed(trace.step(k).op, slot), written};
        const Region shape = dense_shape(*state.problem, slot);
        block.bed.rows = block.transposed ? shape.cols : shape.rows;
        block.bed.cols = block.transposed ? shape.rows : shape.cols;
        out.push_back(block);
    };
    const Op op = trace.step(k).op;
    if (op != Op::store)
        for (const Access& a : trace.reads(k)) add(a.slot, false);
    if (op == Op::load) return out;  // what comes on chip is what was read
    for (const Access& a : trace.writes(k)) {
        // Changed in place (scale, mask, update): shown once, as written.
        std::erase_if(out, [&](const Block& b) { return b.slot == a.slot; });
        add(a.slot, true);
    }
    return out;
}

float colour_width(const Block& b) { return std::clamp(180.0f / px(b.bed.cols), 1.5f, 34.0f); }

float total(const std::vector<Block>& list, float gap) {
    float w = gap * px(list.size() - 1);
    for (const Block& b : list) w += b.bed.width();
    return w;
}

// What `remarks` writes at the right of the line
float remarks_width(const AppState& state) {
    const Op op = op_now(state);
    if (op == Op::loss) return state.explanation.asides.size() == 2 ? 330 : 0;
    return op == Op::load || op == Op::store ? 190 : 0;
}

// Numbers for all, with as many digits as fit; false if not even two do.
bool widen_all(const AppState& state, std::vector<Block>& list, float room, float gap) {
    if (std::ranges::any_of(list, [](const Block& b) { return b.bed.cols > 10; })) return false;
    for (int digits : digit_choices(2)) {
        for (Block& b : list) {
            b.bed.cw = far_cell(state.look[b.slot].letters_with(digits));
            b.bed.numbers = true;
            b.digits = digits;
        }
        if (total(list, gap) + remarks_width(state) <= room) return true;
    }
    return false;
}

// Numbers for some of the matrices, one after another as far as the line is wide enough.
void widen(const AppState& state, std::vector<Block>& list, float room, float gap, bool written,
           bool columns) {
    for (int digits : digit_choices(2))
        for (Block& b : list) {
            const bool meant = b.written == written && (b.bed.cols == 1) == columns;
            if (!meant || b.bed.numbers || b.bed.cols > 10) continue;
            const float before = b.bed.cw;
            b.bed.cw = far_cell(state.look[b.slot].letters_with(digits));
            b.bed.numbers = total(list, gap) + remarks_width(state) <= room;
            if (b.bed.numbers)
                b.digits = digits;
            else
                b.bed.cw = before;
        }
}

// Numbers for what is written first, then for what is read, as far as the line is wide enough.
void place(const AppState& state, std::vector<Block>& list, const Rect& a) {
    const float gap = list.size() > 3 ? 46 : 64;
    int rows = 1;
    for (const Block& b : list) rows = std::max(rows, b.bed.rows);
    const float top = 58, ch = std::min(62.0f, (a.h - top - 8) / px(rows));
    for (Block& b : list) b.bed.ch = ch, b.bed.cw = colour_width(b);
    if (ch >= from::far_row && !widen_all(state, list, a.w, gap)) {
        for (Block& b : list) b.bed.cw = colour_width(b), b.bed.numbers = false;
        for (const auto& [written, columns] :
             {std::pair{true, true}, {true, false}, {false, true}, {false, false}})
            widen(state, list, a.w, gap, written, columns);
    }
    const float margin = remarks_width(state);
    float x = a.x + std::max(0.0f, (a.w - margin - total(list, gap)) / 2);
    for (Block& b : list) {
        b.bed.x = x;
        b.bed.y = a.y + top + (a.h - top - 8 - ch * px(b.bed.rows)) / 2;
        x = b.bed.right() + gap;
    }
}

// A load or a store says where from or where to; the last loss says what the gradient had promised.
void remarks(const Canvas& c, const AppState& state, const Block& last, const Rect& a) {
    const float x = last.bed.right() + 40, y = a.y + 58 + (a.h - 66) / 2;
    const Op op = op_now(state);
    if (op == Op::load || op == Op::store) {
        const Traffic now = step_now(state).traffic;
        const std::string words[] = {op == Op::load ? "from HBM" : "→ HBM",
                                     format_traffic(now.hbm_read + now.hbm_write) + " so far"};
        float w = 0;
        for (int n = 0; n < 2; ++n)
            w = std::max(w, c.text(x, y - 20 + 40 * px(n), words[n], size::far_text, c.theme->t2));
        note_part(c, {x - 12, y - 44, w + 44, 88}, "Meters");
    }
    if (state.explanation.asides.size() != 2 || op != Op::loss) return;
    const char* const labels[] = {"promised", "really"};
    for (int n = 0; n < 2; ++n) {
        const Line& result = state.explanation.asides[static_cast<std::size_t>(n)].result;
        const float Y = y - 26 + 52 * px(n);
        c.text(x, Y, labels[n], size::far_text, c.theme->t2);
        c.text(x + 156, Y, result.back().text, size::far_text, 0, Face::mono_bold);
    }
}

const char* sign_between(Op op, const Block& left, const Block& right) {
    if (right.written) return "→";
    switch (op) {
    case Op::load:
    case Op::exponentials:
    case Op::divide:
    case Op::update: return "";
    case Op::row_dot:
    case Op::loss: return "⊙";
    case Op::ds: return left.slot == Slot::P_hbm ? "⊙" : "−";
    default: return "·";
    }
}

}  // namespace

void dense_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& a) {
    const Op op = op_now(state);
    std::vector<Block> list = blocks(state);
    place(state, list, a);
    for (std::size_t n = 0; n < list.size(); ++n) {
        const Block& b = list[n];
        MatrixLook look = dense_look(state, b.slot);
        look.transposed = b.transposed;
        look.least_digits = 2;
        if (look.state == CellState::written) beam(c, state, b.bed.area());
        far_matrix(c, state, look, b.bed, std::max(b.digits, 2));
        const Line symbol = slot_symbol(b.slot);
        c.rich(b.bed.center(), b.bed.y - 32, b.transposed ? transposed(symbol) : symbol, size::far_symbol,
               Align::center);
        if (n + 1 < list.size())
            c.text((b.bed.right() + list[n + 1].bed.x) / 2, a.y + 58 + (a.h - 66) / 2,
                   sign_between(op, b, list[n + 1]), size::far_sign, c.theme->t2, Align::center);
    }
    if (!list.empty()) remarks(c, state, list.back(), a);
}

}  // namespace tilewalk::ui
