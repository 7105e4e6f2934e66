// How matrices of a rank are drawn below the ring: a shard may have more rows than there is room for.
#pragma once

#include "app/ui/chapters/merge/ring.h"

namespace tilewalk::ui {

/// So many of a row or a column as have room, the chosen one among them.
struct ShownPart {
    int first, count;
    ShownPart(int all, int chosen, int most);
};

struct OnChip {
    const Canvas& c;
    AppState& state;
    const RingNow& now;
    bool on_stage = false;  ///< of a large shard as much as can be read, in place of all of it
    int first_rank = now.first_of_rank(), first_round = now.first_of_round();

    float least_h() const { return on_stage ? 15.0f : 2.0f; }
    int n() const { return now.ring.queries_of(now.rank).rows(); }
    int d() const { return now.trace.problem().d(); }
    int owner() const;
    // The row of the shard, the key and the component that the formula is about
    int chosen_query() const;
    int chosen_key() const;
    int chosen_component() const;

    /// What the slot holds, if it was put there since: these of its rows and columns.
    void draw(Slot slot, int tile, int since, const ShownPart& rows, const ShownPart& cols, float x, float y,
              float cw, float ch, const std::string& widget, int digits = 0);
    /// The first of these words that has room
    void label(const Line& symbol, const std::vector<std::string>& words, float x, float y, float room) const;
    /// "columns 4–7 of 0–15" where not all are shown
    std::vector<std::string> columns_text(const ShownPart& shown, const std::string& all) const;

    /// The queries over the keys, the scores beside them, the values at the right; returns the width.
    float products(const Rect& area);
    /// Backward: L, D and dQ of the queries, and what they add to the gradients of the shard.
    void gradients(const Rect& area);
    /// m, w, ℓ and O of what was found before, in this round, and in all.
    void found(const Rect& area);
    /// What the step reads and what it makes, beside each other; below are the values where it is about keys
    /// and values alike, or the result where there are too many columns for one line.
    void operands(const Rect& area);
    /// What has arrived, and will lie in HBM until its round: K over V, a piece of a shard alone where it is
    /// dealt out in several. So with dK and dV.
    void arriving(const Rect& area);
};

/// "4–6", or "4–6 of 4–7" where not all are shown
std::string part_of(const std::vector<int>& positions, const ShownPart& shown);
std::string shown_of(const std::vector<int>& positions, const ShownPart& shown);

}  // namespace tilewalk::ui
