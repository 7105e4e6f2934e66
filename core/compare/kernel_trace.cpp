#include "core/compare/kernel_trace.h"

#include "core/base/words.h"

#include <algorithm>

namespace tilewalk {

namespace {

constexpr KernelQuantityInfo table[] = {
    {"none", "nothing", Slot::count, Op::count},      {"S", "scores", Slot::S, Op::scores},
    {"m", "running maximum", Slot::m, Op::new_max},   {"alpha", "correction", Slot::alpha, Op::correction},
    {"P", "exponentials", Slot::P, Op::exponentials}, {"l", "running sum", Slot::l, Op::row_sum},
    {"O", "accumulator", Slot::Oi, Op::output},
};

using Sentence = std::optional<std::string>;

Sentence check_size(const std::string& what, std::size_t has, int rows, int columns, bool may_be_empty) {
    const std::size_t wanted = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    if (has == wanted || (has == 0 && may_be_empty)) return {};
    return what + " has " + counted(has, "number") + "; expected " + str(wanted) + ".";
}

Sentence check_tile(const KernelTrace& trace, const KernelTile& tile) {
    using Q = KernelFault::Quantity;
    for (Q quantity : kernel_quantities()) {
        const bool may_be_empty = !tile.visited || quantity == Q::S || quantity == Q::P || quantity == Q::O;
        const std::string what = std::string(info(quantity).name) + " of " + tile_text(tile.i, tile.j);
        const int rows = tile_rows(trace.problem, tile.i), columns = quantity_width(trace, quantity, tile.j);
        if (auto s = check_size(what, values_of(tile, quantity).size(), rows, columns, may_be_empty))
            return s;
    }
    return {};
}

}  // namespace

const KernelQuantityInfo& info(KernelFault::Quantity quantity) { return table[static_cast<int>(quantity)]; }

std::span<const KernelFault::Quantity> kernel_quantities() {
    using Q = KernelFault::Quantity;
    static constexpr Q all[] = {Q::S, Q::m, Q::alpha, Q::P, Q::l, Q::O};
    return all;
}

std::optional<KernelFault::Quantity> find_quantity(std::string_view name) {
    for (KernelFault::Quantity quantity : kernel_quantities())
        if (name == info(quantity).name) return quantity;
    return {};
}

const std::vector<float>& values_of(const KernelTile& tile, KernelFault::Quantity quantity) {
    static const std::vector<float> none;
    switch (quantity) {
    case KernelFault::Quantity::S: return tile.S;
    case KernelFault::Quantity::m: return tile.m;
    case KernelFault::Quantity::alpha: return tile.alpha;
    case KernelFault::Quantity::P: return tile.P;
    case KernelFault::Quantity::l: return tile.l;
    case KernelFault::Quantity::O: return tile.O;
    case KernelFault::Quantity::none: break;
    }
    return none;
}

int tile_rows(const Problem& p, int i) { return std::min(p.Br, p.N() - i * p.Br); }
int tile_columns(const Problem& p, int j) { return std::min(p.Bc, p.N_kv() - j * p.Bc); }

int quantity_width(const KernelTrace& trace, KernelFault::Quantity quantity, int j) {
    using Q = KernelFault::Quantity;
    if (quantity == Q::S || quantity == Q::P) return tile_columns(trace.problem, j);
    return quantity == Q::O ? trace.problem.d() : 1;
}

bool in_later_split(const KernelTrace& trace, int j) {
    return trace.split_blocks > 0 && j >= trace.split_blocks;
}

const KernelTile* find_tile(const KernelTrace& trace, int i, int j) {
    const int Tc = trace.problem.Tc();
    if (trace.tiles.empty() || i < 0 || j < 0 || i >= trace.problem.Tr() || j >= Tc) return nullptr;
    return &trace.tiles[static_cast<std::size_t>(i) * static_cast<std::size_t>(Tc) +
                        static_cast<std::size_t>(j)];
}

std::optional<std::string> refuse(const KernelTrace& trace) {
    const Problem& p = trace.problem;
    if (auto s = validate(p)) return s;
    if (trace.backward)
        if (auto s = validate_gradients(p)) return s;
    if (trace.P_from_L && !trace.backward)
        return "P_from_L is true of a forward kernel; only a backward kernel takes P from L.";
    if (trace.split_blocks < 0)
        return "A split has " + str(trace.split_blocks) + " key blocks; expected 0 or more.";
    const std::int64_t tiles = std::int64_t{p.Tr()} * p.Tc();
    if (!trace.tiles.empty() && static_cast<std::int64_t>(trace.tiles.size()) != tiles)
        return (trace.tiles.size() == 1 ? "There is 1 tile"
                                        : "There are " + str(trace.tiles.size()) + " tiles") +
               "; expected " + str(tiles) + ".";
    for (std::size_t n = 0; n < trace.tiles.size(); ++n) {
        const KernelTile& tile = trace.tiles[n];
        const int at = static_cast<int>(n);
        if (tile.i != at / p.Tc() || tile.j != at % p.Tc())
            return "Where " + tile_text(at / p.Tc(), at % p.Tc()) + " should stand is " +
                   tile_text(tile.i, tile.j) + ".";
        if (auto s = check_tile(trace, tile)) return s;
    }
    if (auto s = check_size("O", trace.O.size(), p.N(), p.d(), trace.backward)) return s;
    if (auto s = check_size("L", trace.L.size(), p.N(), 1, trace.backward)) return s;
    if (!trace.backward) return {};
    if (auto s = check_size("dQ", trace.dQ.size(), p.N(), p.d(), false)) return s;
    if (auto s = check_size("dK", trace.dK.size(), p.N_kv(), p.d(), false)) return s;
    return check_size("dV", trace.dV.size(), p.N_kv(), p.d(), false);
}

}  // namespace tilewalk
