// The machine broken on purpose, one way at a time: what it is tested with must notice each.
#pragma once

#include <array>

namespace tilewalk::ptx {

enum class Fault {
    none,
    rows_of_C,
    halves_of_A,
    columns_of_B,
    forgets_C,
    no_transposition,
    order_of_matrices,
    copy_never_arrives,
    wait_one_short,
    copy_without_zeros,
    shuffle_by_one_more,
    shuffle_keeps_own,
    barrier_open,
    halves_of_pair,
    rounds_to_zero,
    coarse_exponential,
    maximum_forgets,
    fused_rounds_twice,
    branch_for_all,
    select_upside_down,
    vector_reversed,
    atomic_overwrites,
    count
};

struct FaultInfo {
    Fault fault;
    const char *name, *what;
};
constexpr std::array<FaultInfo, static_cast<std::size_t>(Fault::count) - 1> all_faults{{
    {Fault::rows_of_C, "rows-of-C", "mma: the rows g and g + 8 of C change places"},
    {Fault::halves_of_A, "halves-of-A", "mma: the second and third register of A change places"},
    {Fault::columns_of_B, "columns-of-B", "mma: B is read as if the lanes held its rows"},
    {Fault::forgets_C, "forgets-C", "mma: D = A B, without C"},
    {Fault::no_transposition, "no-transposition", "ldmatrix: .trans is ignored"},
    {Fault::order_of_matrices, "order-of-matrices", "ldmatrix: the second and third matrix change places"},
    {Fault::copy_never_arrives, "copy-never-arrives", "cp.async: nothing is copied"},
    {Fault::wait_one_short, "wait-one-short", "cp.async.wait_group: one group more is left under way"},
    {Fault::copy_without_zeros, "copy-without-zeros", "cp.async: bytes beyond the source stay as they were"},
    {Fault::shuffle_by_one_more, "shuffle-by-one-more", "shfl: the lane after the one that was meant"},
    {Fault::shuffle_keeps_own, "shuffle-keeps-own", "shfl.bfly: each lane keeps its own"},
    {Fault::barrier_open, "barrier-open", "bar.sync: nobody waits"},
    {Fault::halves_of_pair, "halves-of-pair", "cvt to two halves: they change places"},
    {Fault::rounds_to_zero, "rounds-to-zero", "cvt to 16 bits: rounds toward zero"},
    {Fault::coarse_exponential, "coarse-exponential", "ex2.approx: wrong from the 11th bit on"},
    {Fault::maximum_forgets, "maximum-forgets", "max: always the second operand"},
    {Fault::fused_rounds_twice, "fused-rounds-twice", "fma: the product is rounded first"},
    {Fault::branch_for_all, "branch-for-all", "bra: where some lanes branch, all do"},
    {Fault::select_upside_down, "select-upside-down", "selp: the other of the two"},
    {Fault::vector_reversed, "vector-reversed", "ld.v2 and ld.v4: the last element first"},
    {Fault::atomic_overwrites, "atomic-overwrites", "atom.add: stores instead of adding"},
}};

}  // namespace tilewalk::ptx
