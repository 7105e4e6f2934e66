#include "core/inside/sums.h"

#include "core/base/shared_tiles.h"

#include <algorithm>

namespace tilewalk::inside {

std::optional<TileFetch> fetch_to(const BlockRecord& block, std::uint32_t address, std::uint32_t before) {
    for (std::uint32_t n = before; n-- > 0;) {
        const Event& event = block.events[n];
        if (event.op != Op::fetch_tile) continue;
        const TileFetch tile(block.words_of(event));
        if (tile.holds(address)) return tile;
    }
    return std::nullopt;
}

std::optional<Element> fetched_element(const Record& record, const BlockRecord& block, std::uint32_t address,
                                       std::uint32_t before) {
    const auto tile = fetch_to(block, address, before);
    const std::uint32_t from = tile ? tile->source(address) : 0;
    return from == 0 ? std::nullopt : element_of(record, from);
}

namespace {

constexpr int reach = 1024;  ///< steps of the warp

/// The rows of a warp in its block of A: those of the last product that took A from shared memory.
std::optional<Element> rows_of(const Record& record, const BlockRecord& block, const Steps& steps, int warp,
                               int k) {
    for (int before = k; before >= std::max(0, k - reach); --before) {
        const std::uint32_t n = steps.event(warp, before);
        const Event& event = block.events[n];
        if (event.op != Op::multiply_async) continue;
        const TileProduct product(block.words_of(event));
        if (!product.A_in_registers)
            return fetched_element(record, block, product.chunks_of_A(warp).front(), n);
    }
    return std::nullopt;
}

Matter matter_of_element(const Record& record, const std::optional<Element>& element) {
    if (!element) return Matter::none;
    return matter_of(record, record.regions[static_cast<std::size_t>(element->region)].begin);
}

}  // namespace

int brings_sums(const BlockRecord& block, const Steps& steps, int warp, int k) {
    const Event& event = block.events[steps.event(warp, k)];
    if (event.op == Op::wait_products) return k;
    if (event.op != Op::multiply_async) return -1;
    const TileProduct product(block.words_of(event));
    for (int later = k + 1; later < std::min(steps.count(warp), k + reach); ++later) {
        const Event& e = block.events[steps.event(warp, later)];
        if (e.op != Op::wait_products) continue;
        const TileSums sums(e, block.words_of(e));
        if (sums.groups() > product.group) return sums.sums() == product.sums ? later : -1;
    }
    return -1;
}

NamedSums named_sums(const Record& record, const BlockRecord& block, const Steps& steps,
                     const Origins& origins, int warp, int k) {
    NamedSums out;
    const Event& wait = block.events[steps.event(warp, k)];
    if (wait.op != Op::wait_products) return out;
    const TileSums sums(wait, block.words_of(wait));
    std::optional<std::uint32_t> group;
    for (int before = k - 1; before >= std::max(0, k - reach); --before) {
        const Event& event = block.events[steps.event(warp, before)];
        if (event.op != Op::multiply_async) continue;
        const TileProduct product(block.words_of(event));
        if (product.sums != sums.sums() || product.group >= sums.groups()) continue;
        if (group.value_or(product.group) != product.group) break;
        group = product.group;
        if (out.last < 0) out.last = before;
        out.first = before, out.begins_anew = !product.adds, ++out.products;
    }
    if (out.first < 0) return out;
    // What the first product reads says which cells the sums are: rows of A, rows of B as columns; or, with P̃
    // in registers, the columns of B.
    const std::uint32_t n = steps.event(warp, out.first);
    const TileProduct product(block.words_of(block.events[n]));
    const auto b = fetched_element(record, block, product.chunks_of_B().front(), n);
    const auto a = rows_of(record, block, steps, warp, out.first);
    out.of_registers = product.A_in_registers;
    out.C = origins.matter(n), out.B = matter_of_element(record, b);
    out.A = product.A_in_registers ? (out.C == Matter::O ? Matter::P : Matter::none)
                                   : matter_of_element(record, a);
    if (a) out.row = a->row;
    if (b) out.column = product.A_in_registers ? b->column : b->row;
    return out;
}

}  // namespace tilewalk::inside
