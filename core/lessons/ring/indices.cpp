#include "core/lessons/ring/indices.h"

#include "core/lessons/ring/ranks.h"
#include "core/lessons/shared/parts.h"

#include <algorithm>

namespace tilewalk {

namespace {

bool rows_are_keys(Slot slot) { return info(slot).role == Role::K || info(slot).role == Role::V; }
bool columns_are_keys(Slot slot) { return info(slot).role == Role::S && !one_column(slot); }

// Rows of a shard by their positions; as they are where they are none of it.
void to_positions(std::vector<int>& rows, const RingRows& shard) {
    const auto inside = [&](int row) { return row >= 0 && row < shard.rows(); };
    if (!std::ranges::all_of(rows, inside)) return;
    for (int& row : rows) row = shard.positions[static_cast<std::size_t>(row)];
}

// The row of the table of all parts at which the part begins that the step wrote.
int first_row_of_part(const Trace& trace, Slot slot, const Region& cells, int made) {
    for (const Access& a : trace.writes(made)) {
        const Region& at = trace.value(a.value).region;
        if (a.slot == slot && at.contains(cells.row, cells.col)) return at.row;
    }
    return 0;
}

}  // namespace

Indices ring_indices(const Trace& trace, Slot slot, const Region& cells, int made) {
    Indices out = own_indices(trace, slot, cells, made);
    const Problem& p = trace.problem();
    if (slot == Slot::dK_part || slot == Slot::dV_part)
        for (int& row : out.rows) row %= p.N_kv();
    if (info(slot).hbm || made < 0) return out;

    const Step& step = trace.step(made);
    const Ring ring(p);
    if (is_of_parts(slot)) {
        const int first = first_row_of_part(trace, slot, cells, made);
        for (int& row : out.rows) row -= first;
    }
    const int owner = step.j, rank = step.when.worker;
    if (!rows_are_keys(slot))
        to_positions(out.rows, ring.queries_of(rank));
    else if (owner >= 0)
        to_positions(out.rows, ring.keys_of(owner));
    if (columns_are_keys(slot) && owner >= 0) to_positions(out.cols, ring.keys_of(owner));
    return out;
}

}  // namespace tilewalk
