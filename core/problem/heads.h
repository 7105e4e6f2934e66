// Several heads: H query heads, and H_kv key heads that H / H_kv neighbouring query heads share each
// (multi-head attention with H_kv = H, multi-query with 1, grouped-query between them). A walk is that of the
// shown head; the others differ in their numbers, not in their steps.
#pragma once

#include "core/problem/problem.h"

#include <optional>
#include <string>

namespace tilewalk {

int query_heads(const Problem& problem);  ///< H; 1 where the problem has no heads
int key_heads(const Problem& problem);    ///< H_kv
int heads_of_group(const Problem& problem);
int shown_head(const Problem& problem);
/// The key head that query head h attends to: ⌊h ÷ (H ÷ H_kv)⌋.
int key_head(const Problem& problem, int h);

/// The shown head's group as one attention: the queries of its heads (and their dO) below each other, the
/// keys and values once. As kernels with grouped heads do (PackGQA); what K and V get back is then the sum
/// over the heads. Nothing where the shown head shares its K and V with none.
std::optional<Problem> packed_group(const Problem& problem);
/// The head that row r of Q belongs to, where heads are packed: " of head 2"; else nothing.
std::string of_head(const Problem& problem, int r);
int head_of_row(const Problem& problem, int r);

/// Query head h alone, as a problem of one head.
Problem head_alone(const Problem& problem, int h);
/// Shows another head; what was changed in the one that was shown stays with it.
void show_head(Problem& problem, int h);

/// Gives the problem H query heads and H_kv key heads, of which the first are its own Q, K, V, dO. In the
/// others the columns of Q, dO and V are turned by the number of their head, and the rows of K: other queries
/// meet other keys, and a key another row of V. (K and V turned alike would leave O as it is.) One of each:
/// no heads any more.
void give_heads(Problem& problem, int H, int H_kv);
constexpr int most_heads = 64;

/// A sentence for heads that do not fit.
std::optional<std::string> check_heads(const Problem& problem);

}  // namespace tilewalk
