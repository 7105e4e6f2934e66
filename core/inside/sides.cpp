#include "core/inside/sides.h"

#include "core/base/register_file.h"
#include "core/inside/tiles.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace tilewalk::inside {

namespace {

bool is_one(Op op, std::initializer_list<Op> of) { return std::ranges::find(of, op) != of.end(); }

/// What a step of this kind orders: which steps before it, which behind, and what ends the search for either.
struct Kind {
    Op op;
    std::initializer_list<Op> before, until, behind, end;
};
// What writes registers that a product in the background takes: its factors, and sums that were waited for
constexpr std::initializer_list<Op> write_registers = {
    Op::multiply_add, Op::shuffle, Op::exp2, Op::exp, Op::from_float, Op::pack, Op::wait_products};
const Kind kinds[] = {
    {Op::fence_products,
     write_registers,
     {Op::fence_products, Op::wait_products},
     {Op::multiply_async},
     {Op::fence_products, Op::commit_products}},
    // Behind it stands the wait for its group (wait_for_group).
    {Op::commit_products, {Op::multiply_async}, {Op::commit_products}, {}, {}},
    {Op::sync_warp,
     {Op::store, Op::load, Op::load_matrices, Op::load_transposed},
     {Op::sync_warp, Op::sync_block},
     {Op::store, Op::load, Op::load_matrices, Op::load_transposed, Op::arrive_at},
     {Op::sync_warp, Op::sync_block}},
    {Op::publish_barriers,
     {Op::init_barrier},
     {},
     {Op::fetch_tile, Op::expect_bytes, Op::arrive_at, Op::wait_for},
     {}},
};

void add(std::vector<Told>& to, Op op) {
    const auto known = std::ranges::find(to, op, &Told::op);
    known == to.end() ? to.push_back({op, 1}) : void(++known->times);
}

/// The first wait behind step k that ends this group of products; a wait may leave younger groups running,
/// and so may the next one. −1: nobody waits for it.
int wait_for_group(const BlockRecord& block, const Steps& steps, int warp, int k) {
    const std::uint32_t group = block.words_of(block.events[steps.event(warp, k)])[0];
    for (int n = k + 1; n < steps.count(warp); ++n) {
        const Event& event = block.events[steps.event(warp, n)];
        if (event.op == Op::wait_products && TileSums(event, block.words_of(event)).groups() > group)
            return n;
    }
    return -1;
}

}  // namespace

std::optional<Sides> sides_at(const BlockRecord& block, const Steps& steps, int warp, int k) {
    const auto op_of = [&](int w, int n) { return block.events[steps.event(w, n)].op; };
    const auto kind = std::ranges::find(kinds, op_of(warp, k), &Kind::op);
    if (kind == std::end(kinds)) return std::nullopt;
    Sides sides;
    for (int n = k - 1; n >= 0; --n) {
        const Op op = op_of(warp, n);
        if (is_one(op, kind->before)) add(sides.before, op);
        if (is_one(op, kind->until)) break;
    }
    std::ranges::reverse(sides.before);
    if (kind->op == Op::commit_products) {
        if (wait_for_group(block, steps, warp, k) >= 0) add(sides.behind, Op::wait_products);
        return sides;
    }
    // Barriers are shown to whoever copies by itself, and to all warps.
    const bool for_all = kind->op == Op::publish_barriers;
    for (int w = for_all ? 0 : warp; w < (for_all ? steps.warps() : warp + 1); ++w)
        for (int n = for_all ? 0 : k + 1; n < steps.count(w); ++n) {
            const Op op = op_of(w, n);
            if (is_one(op, kind->behind)) add(sides.behind, op);
            if (is_one(op, kind->end)) break;
        }
    return sides;
}

int RegisterShares::all_now() const { return 32 * std::accumulate(now.begin(), now.end(), 0); }

std::optional<RegisterShares> registers_at(const Launch& launch, const BlockRecord& block, const Steps& steps,
                                           int warp, int k) {
    const auto changes = [&](int w, int n) {
        return is_one(block.events[steps.event(w, n)].op, {Op::shrink_registers, Op::grow_registers});
    };
    if (!changes(warp, k)) return std::nullopt;
    RegisterShares shares;
    shares.begin.assign(static_cast<std::size_t>(steps.warps()), registers_at_begin(launch.threads));
    shares.before = shares.now = shares.begin;
    // Warps change them together: each as far as this one's step, before and behind it.
    for (int w = 0; w < steps.warps(); ++w)
        for (int n = 0; n < steps.count(w) && steps.slot(w, n) <= steps.slot(warp, k); ++n) {
            if (!changes(w, n)) continue;
            const auto registers = static_cast<int>(block.words_of(block.events[steps.event(w, n)])[0]);
            shares.now[static_cast<std::size_t>(w)] = registers;
            if (steps.slot(w, n) < steps.slot(warp, k))
                shares.before[static_cast<std::size_t>(w)] = registers;
        }
    return shares;
}

}  // namespace tilewalk::inside
