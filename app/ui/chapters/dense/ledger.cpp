// The ledger of standard attention: how often its N × N matrices go through HBM.
#include "app/ui/chapters/dense/dense.h"
#include "core/base/numbers.h"

namespace tilewalk::ui {

namespace {

constexpr Slot pairs[] = {Slot::S_hbm, Slot::P_hbm, Slot::dP_hbm, Slot::dS_hbm};

struct Entry {
    Slot slot;
    bool in_use = false;             // in this lesson at all
    std::int64_t out = 0, back = 0;  // bytes
};
struct Ledger {
    std::array<Entry, 4> entries;
    int trips = 0, all_trips = 0;
};

// In a step of a dense lesson either every operand in HBM is fetched, or none because the kernel has it.
bool fetches(const Trace& trace, int k) {
    return trace.step(k).traffic.hbm_read > (k > 0 ? trace.step(k - 1).traffic.hbm_read : 0);
}

Ledger ledger(const AppState& state) {
    const Trace& trace = *state.trace;
    Ledger out;
    for (std::size_t n = 0; n < 4; ++n) out.entries[n].slot = pairs[n];
    for (Entry& e : out.entries)
        for (int k = 0; k < trace.size(); ++k) {
            const bool past = k <= state.cursor.step;
            const auto add = [&](std::int64_t Entry::*sum, const Access& a) {
                if (a.slot != e.slot) return;
                e.in_use = true, ++out.all_trips;
                if (!past) return;
                e.*sum += trace.value(a.value).data.size() * state.problem->element_bytes, ++out.trips;
            };
            for (const Access& a : trace.writes(k)) add(&Entry::out, a);
            if (fetches(trace, k))
                for (const Access& a : trace.reads(k)) add(&Entry::back, a);
        }
    return out;
}

Line entry_line(const Entry& e, bool words) {
    if (e.out + e.back == 0) return pieces(slot_symbol(e.slot), " –");
    if (!words) return pieces(slot_symbol(e.slot), " " + format_traffic(e.out + e.back));
    std::string text = e.out > 0 ? " " + format_traffic(e.out) + " out" : "";
    if (e.back > 0) text += (e.out > 0 ? ", " : " ") + format_traffic(e.back) + " back";
    return pieces(slot_symbol(e.slot), text);
}

Line ledger_line(const Ledger& l, int form) {
    Line line{word(form == 0 ? "N × N through HBM:" : "N × N:")};
    for (const Entry& e : l.entries)
        if (e.in_use && form < 3) line = pieces(line, "   ", entry_line(e, form < 2));
    return pieces(line, "   " + std::to_string(l.trips) + " of " + std::to_string(l.all_trips) + " times");
}

}  // namespace

void dense_ledger(const Canvas& c, const AppState& state, float right, float y, float room) {
    const Ledger l = ledger(state);
    for (int form = 0; form < 4; ++form) {
        const Line line = ledger_line(l, form);
        const float w = rich_width(c, line, size::body) + 24;
        if (w > room) continue;
        c.rect(right - w, y - 14, w, 28, c.theme->well, 14);
        c.frame(right - w + .5f, y - 13.5f, w - 1, 27, c.theme->line, 1, 14);
        c.rich(right - 12, y, line, size::body, Align::right);
        return;
    }
}

}  // namespace tilewalk::ui
