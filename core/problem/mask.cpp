#include "core/problem/mask.h"

#include <algorithm>

namespace tilewalk {

namespace {

// The key that stands at query r's own position.
std::int64_t diagonal_of(const Problem& p, int r) {
    const int rows = p.rows_of_head();
    return std::int64_t{r % rows} + p.N_kv() - rows;
}

// The key just right of the last one that query r may see; −1 where the mask has no edge on that side.
std::int64_t beyond_edge(const Problem& p, int r) {
    const std::int64_t diagonal = diagonal_of(p, r);
    if (p.causal) return diagonal + 1;
    return p.window ? diagonal + *p.window + 1 : -1;
}

}  // namespace

bool visible(const Problem& p, int r, int c) {
    const KeyRange seen = visible_keys(p, r);
    return seen.first <= c && c <= seen.last;
}

KeyRange visible_keys(const Problem& p, int r) {
    const std::int64_t diagonal = diagonal_of(p, r);
    std::int64_t first = 0, last = p.N_kv() - 1;
    if (p.causal) last = std::min(last, diagonal);
    if (p.window) first = std::max(first, diagonal - *p.window);
    if (p.window && !p.causal) last = std::min(last, diagonal + *p.window);
    if (first > last) return {0, -1};
    return {static_cast<int>(first), static_cast<int>(last)};
}

Region query_rows(const Problem& p, int i) { return {i * p.Br, 0, std::min(p.Br, p.N() - i * p.Br), p.d()}; }
Region key_rows(const Problem& p, int j) { return {j * p.Bc, 0, std::min(p.Bc, p.N_kv() - j * p.Bc), p.d()}; }

TileCover tile_cover(const Problem& p, int i, int j) { return cover_of(p, query_rows(p, i), key_rows(p, j)); }

TileCover cover_of(const Problem& p, const Region& q, const Region& k) {
    bool any = false, every = true;
    for (int r = q.row; r < q.row + q.rows; ++r) {
        const KeyRange seen = visible_keys(p, r);
        any |= std::max(seen.first, k.row) <= std::min(seen.last, k.row + k.rows - 1);
        every &= seen.first <= k.row && seen.last >= k.row + k.rows - 1;
    }
    return every ? TileCover::full : any ? TileCover::partial : TileCover::none;
}

int key_blocks_seen(const Problem& p, int i, int from) {
    int out = 0;
    for (int j = from; j < p.Tc(); ++j) out += tile_cover(p, i, j) != TileCover::none;
    return out;
}

int query_blocks_looking(const Problem& p, int j) {
    int out = 0;
    for (int i = 0; i < p.Tr(); ++i) out += tile_cover(p, i, j) != TileCover::none;
    return out;
}

bool passes_mask(const Problem& p, int r, int c) {
    return visible(p, r, c) || (p.switches.wrong_mask_edge && c == beyond_edge(p, r));
}

bool sees_some_key(const Problem& p, int r, int last) {
    const KeyRange keys = visible_keys(p, r);
    if (keys.first <= std::min(keys.last, last)) return true;
    const std::int64_t extra = beyond_edge(p, r);
    if (!p.switches.wrong_mask_edge || extra < 0 || extra > last) return false;
    return tile_cover(p, r / p.Br, static_cast<int>(extra) / p.Bc) == TileCover::partial;
}

}  // namespace tilewalk
