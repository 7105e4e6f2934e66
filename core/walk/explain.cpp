#include "core/walk/explain.h"

#include "core/problem/heads.h"
#include "core/problem/mask.h"
#include "core/walk/explain_view.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <tuple>

namespace tilewalk {

namespace {

// Digits have subscript characters; a word stands behind an underscore: m_old.
std::string subscript(const std::string& text) {
    if (text.find_first_not_of("0123456789") != std::string::npos) return "_" + text;
    static const char* const digits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    std::string out;
    for (char c : text) out += digits[c - '0'];
    return out;
}

std::string superscript(const std::string& text) { return text == "T" ? "ᵀ" : text; }

// The slot that a step's numbers are about: L for `store` (O is only carried over), the first written of
// loads and starts, else the last result on chip (dQ is loaded, increased and stored in one step).
Access principal(const Trace& trace, int k) {
    const auto writes = trace.writes(k);
    const OpKind kind = info(trace.step(k).op).kind;
    if (kind == OpKind::store) return writes.back();
    if (kind == OpKind::compute)
        for (auto at = writes.rbegin(); at != writes.rend(); ++at)
            if (!info(at->slot).hbm) return *at;
    return writes.front();
}

bool wrote(const Trace& trace, int k, const CellRef& cell) {
    return std::ranges::any_of(trace.writes(k), [&](const Access& a) {
        return a.slot == cell.slot && trace.value(a.value).region.contains(cell.row, cell.col);
    });
}

// The first key that the mask removed from the row; where a broken mask lets one through, that one.
int first_masked(const Trace& trace, const Value& S, int local_row) {
    const Problem& p = trace.walked();
    const int row = S.region.row + local_row;
    const bool own_rows = trace.lesson().uses(parts_of_rows);  // then they are not those of the mask
    for (int c = 0; p.switches.wrong_mask_edge && !own_rows && c < S.region.cols; ++c)
        if (S.data(local_row, c) != minus_infinity && !visible(p, row, S.region.col + c)) return c;
    for (int c = 0; c < S.region.cols; ++c)
        if (S.data(local_row, c) == minus_infinity) return c;
    return -1;
}

CellRef default_cell(const Trace& trace, int k) {
    if (trace.writes(k).empty()) return {};
    const Value& value = trace.value(principal(trace, k).value);
    int row = 0;  // a mask step speaks of its first masked cell
    if (trace.step(k).op == Op::mask)
        while (row + 1 < value.region.rows && first_masked(trace, value, row) < 0) ++row;
    return cell_of_row(trace, k, value.region.row + row);
}

}  // namespace

std::string plain(const Line& line) {
    std::string out;
    for (const Span& span : line) {
        out += span.script == Span::Script::sub     ? subscript(span.text)
               : span.script == Span::Script::super ? superscript(span.text)
                                                    : span.text;
        if (span.tilde) out += "\u0303";
    }
    return out;
}

Line slot_symbol(Slot slot, int block) {
    Line line{symbol(slot)};
    if (*info(slot).sub)
        line.push_back({info(slot).sub, info(slot).role, Span::Face::symbol, Span::Script::sub});
    if (block >= 0) {
        Span index{str(block), info(slot).role, Span::Face::symbol, Span::Script::sub};
        line.push_back(index);
    }
    return line;
}

Line slot_symbol(const Trace& trace, Slot slot, int step, int tile) {
    return slot == Slot::dS ? score_gradient(trace, step) : trace.lesson().symbol(trace, slot, step, tile);
}

Line score_gradient(const Trace& trace, int step) {
    Line line = slot_symbol(Slot::dS);
    const bool capped = trace.problem().logits.softcap && step >= 0 && trace.step(step).op == Op::ds;
    if (capped) line.push_back({"cap", Role::S, Span::Face::symbol, Span::Script::sub});
    return line;
}

Line block_symbol(const Trace& trace, Slot slot, int step, int tile) {
    if (info(slot).hbm) return slot_symbol(slot, trace.tiles(slot) > 1 ? tile : -1);
    if (step < 0) return slot_symbol(slot);
    switch (slot) {
    case Slot::Qi:
    case Slot::Oi:
    case Slot::dOi:
    case Slot::Li:
    case Slot::Di:
    case Slot::dQi: return slot_symbol(slot, trace.step(step).i);
    case Slot::Kj:
    case Slot::Vj:
    case Slot::dKj:
    case Slot::dVj: return slot_symbol(slot, trace.step(step).j);
    default: return slot_symbol(slot);
    }
}

Line step_symbol(Op op) {
    const OpInfo& about = info(op);
    Line out;
    if (*about.word) out.push_back(word(about.word));
    for (const Slot slot : about.slots) {
        if (slot == Slot::count) continue;
        if (slot == about.slots[1]) out.push_back(word(" "));
        out.push_back(symbol(slot));
    }
    return out;
}

Line step_symbol(const Trace& trace, int k) { return trace.lesson().step_symbol(trace, k); }

// What is loaded by itself are partial results, which were stored as O and L.
Line op_symbol(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    return step_symbol(op == Op::load ? Op::store : op);
}

// What a lesson takes for its `indices` that has nothing of its own to say (lesson.h)
Indices own_indices(const Trace&, Slot, const Region& cells, int) {
    Indices out;
    for (int row = cells.row; row < cells.row + cells.rows; ++row) out.rows.push_back(row);
    for (int col = cells.col; col < cells.col + cells.cols; ++col) out.cols.push_back(col);
    return out;
}

Indices indices(const Trace& trace, Slot slot, const Region& cells, int made) {
    if (slot == Slot::count) return own_indices(trace, slot, cells, made);  // of a step that writes nothing
    return trace.lesson().indices(trace, slot, cells, made);
}

// "2…5"; "0…1 6…7" of a zig-zag shard; "0 4 … 28" of a striped one
static std::string numbers_text(const std::vector<int>& all) {
    std::vector<std::string> runs;
    for (std::size_t n = 0; n < all.size();) {
        std::size_t end = n + 1;
        while (end < all.size() && all[end] == all[end - 1] + 1) ++end;
        runs.push_back(range_text(all[n], all[end - 1]));
        n = end;
    }
    constexpr std::size_t most = 4;
    const std::string space = "\u00A0";
    if (runs.size() > most) return runs[0] + space + runs[1] + space + "…" + space + runs.back();
    return joined(runs, space);
}

std::string index_text(const Trace& trace, Slot slot, const Region& cells, int made) {
    const Indices all = indices(trace, slot, cells, made);
    return "[" + numbers_text(all.rows) + (one_column(slot) ? "" : "," + numbers_text(all.cols)) + "]";
}

std::string cell_text(const Trace& trace, const CellRef& cell, int k) {
    return plain(slot_symbol(cell.slot)) +
           index_text(trace, cell.slot, {cell.row, cell.col, 1, 1}, holding(trace, cell, k).step);
}

std::optional<CellRef> cell_called(const Trace& trace, Slot slot, int row, int col, int k) {
    std::optional<CellRef> best;
    std::tuple<bool, bool, int> rank;
    const auto touches = [&](std::span<const Access> accesses, int tile) {
        return std::ranges::any_of(accesses,
                                   [&](const Access& a) { return a.slot == slot && a.tile == tile; });
    };
    for (int tile = 0; tile < trace.tiles(slot); ++tile) {
        const Held held = trace.live(slot, tile, k);
        if (!held) continue;
        const Region& at = held.value->region;
        const Indices all = indices(trace, slot, at, held.step);
        const auto r = std::ranges::find(all.rows, row), c = std::ranges::find(all.cols, col);
        if (r == all.rows.end() || c == all.cols.end()) continue;
        const std::tuple now{touches(trace.writes(k), tile), touches(trace.reads(k), tile), held.step};
        if (best && now <= rank) continue;
        best = {slot, at.row + static_cast<int>(r - all.rows.begin()),
                at.col + static_cast<int>(c - all.cols.begin())};
        rank = now;
    }
    return best;
}

std::vector<Slot> slots_called(std::string_view name) {
    std::vector<Slot> out;
    for (int s = 0; s < slot_count; ++s) {
        const auto slot = static_cast<Slot>(s);
        const SlotInfo& about = info(slot);
        const std::string letters = std::string(about.symbol) + (about.tilde ? "\u0303" : "") + about.sub;
        if (name == about.name || name == letters) out.push_back(slot);
    }
    return out;
}

CellRef cell_of_row(const Trace& trace, int k, int row, int col) {
    if (trace.writes(k).empty()) return {};
    const Access access = principal(trace, k);
    const Value& value = trace.value(access.value);
    const int local = std::clamp(row - value.region.row, 0, value.region.rows - 1);
    if (col < 0 && trace.step(k).op == Op::mask) col = first_masked(trace, value, local);
    return {access.slot, value.region.row + local,
            value.region.col + std::clamp(col, 0, value.region.cols - 1)};
}

Region step_region(const Trace& trace, int k) {
    return trace.writes(k).empty() ? Region{} : trace.value(principal(trace, k).value).region;
}

Held holding(const Trace& trace, const CellRef& cell, int k) {
    for (int tile = 0; tile < trace.tiles(cell.slot); ++tile) {
        const Held held = trace.live(cell.slot, tile, k);
        if (held && held.value->region.contains(cell.row, cell.col)) return held;
    }
    return {};
}

double value_at(const Value& tile, const CellRef& cell) {
    return tile.data(cell.row - tile.region.row, cell.col - tile.region.col);
}

// Where the heads of a group are walked through together: what only they make of a step.
static void tell_packed(const View& v) {
    const std::string size = count(v.problem.packed, "head");
    const bool first =
        v.step.phase == 0 && std::ranges::count(v.trace.writes(v.k), Slot::Q, &Access::slot) > 0;
    if (first)
        v.out.why += " The queries of the " + size + " that share K and V stand below each other.";
    else if (v.step.op == Op::dv || v.step.op == Op::dk)
        v.out.why +=
            " The rows are those of all " + size + ", so that the sum over rows is the sum over heads.";
    else if (v.step.op == Op::loss)
        v.out.why += " It is the loss of the " + size +
                     " together: the weights that make K and V are theirs in "
                     "common, and that of one head alone may rise.";
}

// What a load of K and V, or their gradient, is to the other heads of the group.
static void tell_heads(const View& v) {
    const Problem& p = v.problem;
    const int size = heads_of_group(p);
    if (size < 2) return;
    if (p.packed > 1) return tell_packed(v);
    const bool finished = v.step.op == Op::store || (v.step.op == Op::dk && v.trace.lesson().by_cell);
    if (finished && std::ranges::count(v.trace.writes(v.k), Slot::dK, &Access::slot) > 0)
        v.out.why += " It is the share of head " + str(shown_head(p)) + ": the " + str(size) +
                     " heads of its group are added up.";
    const bool keys =
        std::ranges::any_of(v.trace.reads(v.k), [](const Access& a) { return a.slot == Slot::K; });
    if (!is_load(v.step.op) || !keys) return;
    v.out.why += " " + count(size, "head") + " share them: " +
                 (p.heads->once ? "this kernel loads them once for all of them."
                                : "each loads them again, as its block runs apart.");
}

Explanation explain(const Trace& trace, int k, std::optional<CellRef> cell) {
    const Step& step = trace.step(k);
    Explanation out;
    out.title = title(step.op);
    out.place = step.j >= 0 ? tile_text(step.i, step.j) : "query block " + str(step.i);
    out.target = cell && wrote(trace, k, *cell) ? *cell : default_cell(trace, k);
    out.code_line = code_line(trace, k);
    const View view{trace, k, out};
    if (!trace.writes(k).empty()) set_result(view);
    trace.lesson().explain(view);
    if (trace.problem().heads) tell_heads(view);
    set_sign(out.numbers, out.result);
    for (Aside& aside : out.asides) set_sign(aside.numbers, aside.result);
    return out;
}

}  // namespace tilewalk
