// Where the matrices of one head lie, and how the work on a workload is cut into tasks.
#pragma once

#include "core/engine/engine.h"

#include <algorithm>

namespace tilewalk::cpu {

/// The key head that query head `head` of all batches reads; counted over all batches as well.
inline std::int64_t kv_head_of(const Workload& w, std::int64_t head) { return head / (w.heads / w.kv_heads); }
/// The first of the heads / kv_heads query heads that read key head `kv_head`.
inline std::int64_t first_head_of(const Workload& w, std::int64_t kv_head) {
    return kv_head * (w.heads / w.kv_heads);
}

/// The query heads that read one key head as rows of one matrix: query after query, the heads of each side by
/// side. So rows that lie together see nearly the same keys, and all of them meet a key block at once.
struct GroupRows {
    explicit GroupRows(const Workload& w) : group(w.heads / w.kv_heads), N_q(w.N_q) {}
    std::int64_t count() const { return group * N_q; }
    std::int64_t query(std::int64_t row) const { return row / group; }
    /// Where it lies in memory, counted in rows from the first of the group's first head.
    std::int64_t place(std::int64_t row) const { return row % group * N_q + row / group; }

private:
    std::int64_t group, N_q;
};

/// ⌈a / b⌉ for positive integers.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

/// `heads` heads of N rows, cut into blocks of up to `block` rows: one task each.
struct RowBlocks {
    std::int64_t heads, N, block;

    struct Rows {
        std::int64_t head, first, count;
    };
    std::int64_t per_head() const { return ceil_div(N, block); }
    std::int64_t count() const { return heads * per_head(); }
    Rows operator[](std::int64_t task) const {
        const std::int64_t first = task % per_head() * block;
        return {task / per_head(), first, std::min(block, N - first)};
    }
};

}  // namespace tilewalk::cpu
