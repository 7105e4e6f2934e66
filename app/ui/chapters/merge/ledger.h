// Bytes through HBM, matrix by matrix: what a walk moves in all, and what it has moved so far.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

struct LedgerSegment {
    std::string name;
    Role role;
    std::int64_t bytes, so_far;
};

struct Ledger {
    std::vector<LedgerSegment> segments;
    std::int64_t bytes = 0, so_far = 0;
    void add(const char* name, Role role, std::int64_t all, std::int64_t now) {
        segments.push_back({name, role, all, now});
        bytes += all, so_far += now;
    }
};

/// Q, K, V, partial results, and O with L.
Ledger ledger_of(const Trace& trace, int k);
/// Its segments side by side, `most` bytes as wide as the area.
void ledger_bar(const Canvas& canvas, const Rect& area, const Ledger& ledger, std::int64_t most);

}  // namespace tilewalk::ui
