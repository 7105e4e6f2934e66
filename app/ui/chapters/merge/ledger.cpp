#include "app/ui/chapters/merge/ledger.h"

#include "core/walk/traffic.h"

#include <algorithm>
#include <initializer_list>

namespace tilewalk::ui {

namespace {

// Bytes of this slot that have moved when step k has ended.
std::int64_t moved(const Trace& trace, int k, Slot slot) {
    std::int64_t out = 0;
    const int each = info(slot).counts_elements ? trace.problem().element_bytes : 4;
    for (int step = 0; step < trace.size(); ++step) {
        if (!is_done_with(trace, step, k)) continue;
        for (const Access& a : trace.reads(step))
            if (a.slot == slot) out += trace.value(a.value).data.size() * each;
        for (const Access& a : trace.writes(step))
            if (a.slot == slot) out += trace.value(a.value).data.size() * each;
    }
    return out;
}

}  // namespace

Ledger ledger_of(const Trace& trace, int k) {
    Ledger out;
    const auto add = [&](const char* name, Role role, std::initializer_list<Slot> slots) {
        std::int64_t all = 0, now = 0;
        for (const Slot slot : slots)
            all += moved(trace, trace.size() - 1, slot), now += moved(trace, k, slot);
        out.add(name, role, all, now);
    };
    add("Q", Role::Q, {Slot::Q});
    add("K", Role::K, {Slot::K});
    add("V", Role::V, {Slot::V});
    if (trace.problem().logits.sink) add("sink", info(Slot::sink).role, {Slot::sink});
    add("parts", Role::alpha, {Slot::O_parts, Slot::L_parts});
    add("O", Role::O, {Slot::O, Slot::L});
    return out;
}

void ledger_bar(const Canvas& c, const Rect& a, const Ledger& ledger, std::int64_t most) {
    const Theme& t = *c.theme;
    float x = a.x;
    for (const LedgerSegment& one : ledger.segments) {
        const float w = a.w * static_cast<float>(one.bytes) / static_cast<float>(most),
                    done = a.w * static_cast<float>(one.so_far) / static_cast<float>(most);
        if (w < .5f) continue;
        const ImU32 ink = hue(t, one.role);
        if (done > 0) c.rect(x + .5f, a.y, std::max(1.0f, done - 1), a.h, mix(t.panel, ink, .45f), 2);
        if (one.name == "parts" && done > 0) c.hatch(x + .5f, a.y, done - 1, a.h, with_alpha(ink, .7f), 5);
        if (done < w - .5f)
            c.to_come(x + .5f, a.y, w - 1, a.h);
        else
            c.frame(x + 1, a.y + .5f, std::max(1.0f, w - 2), a.h - 1, ink, 1, 2);
        x += w;
    }
}

}  // namespace tilewalk::ui
