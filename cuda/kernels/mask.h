// Which keys a query sees, and which tiles a mask cuts.
#pragma once

#include "cuda/device/device.h"
#include "cuda/launch/arguments.h"

namespace tilewalk::gpu::BACKEND {

/// Query i sees the keys first(i) … last(i), none when last < first. Bottom-right aligned: the last query
/// stands at the last key.
struct Mask {
    int N_kv, shift, before, after;

    DEVICE explicit Mask(const Arguments& a)
        : N_kv(a.N_kv), shift(a.N_kv - a.N_q), before(a.before), after(a.after) {}
    DEVICE int first(int i) const { return at_least(i + shift - before, 0); }
    DEVICE int last(int i) const { return at_most(i + shift + after, N_kv - 1); }
    DEVICE bool sees(int i, int key) const { return key >= first(i) && key <= last(i); }

    /// Key blocks that some query of i0 … i1 sees: first_block … last_block, none when last < first.
    DEVICE int first_block(int i0, int Bc) const { return first(i0) / Bc; }
    DEVICE int last_block(int i1, int Bc) const { return last(i1) < 0 ? -1 : last(i1) / Bc; }
    /// Every query of i0 … i1 sees every key of j0 … j1: nothing to cut.
    DEVICE bool covers(int i0, int i1, int j0, int j1) const { return j0 >= first(i1) && j1 <= last(i0); }

    /// The queries that see key j: first_query … last_query, none when last < first.
    DEVICE int first_query(int j) const { return at_least(j - shift - after, 0); }
    DEVICE int last_query(int j, int N_q) const { return at_most(j - shift + before, N_q - 1); }

private:
    DEVICE static int at_least(int x, int least) { return x < least ? least : x; }
    DEVICE static int at_most(int x, int most) { return x > most ? most : x; }
};

}  // namespace tilewalk::gpu::BACKEND
