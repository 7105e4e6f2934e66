#include "core/walk/playback.h"

#include "core/walk/lesson.h"

#include <algorithm>

namespace tilewalk {

namespace {

// The last step of each tile group is where the level `tile` stops: start, every key block, finish.
bool ends_tile(const Trace& trace, int k) {
    if (k + 1 == trace.size()) return true;
    const Step &a = trace.step(k), &b = trace.step(k + 1);
    return a.i != b.i || a.j != b.j || a.phase != b.phase;
}

bool ends_block(const Trace& trace, int k) {
    return k + 1 == trace.size() || trace.step(k).phase != trace.step(k + 1).phase;
}

bool ends(const Trace& trace, int k, Level level) {
    return level == Level::tile ? ends_tile(trace, k) : level == Level::block ? ends_block(trace, k) : true;
}

}  // namespace

int step_units(const Trace& trace, int k) {
    if (info(trace.step(k).op).kind != OpKind::compute) return 1;
    const Region& region = trace.value(trace.writes(k).back().value).region;
    return trace.lesson().by_cell ? region.rows * region.cols : region.rows;
}

Cursor at_step(const Trace& trace, int k) {
    k = std::clamp(k, 0, trace.size() - 1);
    return {k, step_units(trace, k)};
}

Cursor first(const Trace& trace) { return at_step(trace, 0); }
Cursor last(const Trace& trace) { return at_step(trace, trace.size() - 1); }
bool at_end(const Trace& trace, Cursor cursor) { return cursor == last(trace); }

Cursor forward(const Trace& trace, Cursor cursor, Level level) {
    const bool whole = cursor.done >= step_units(trace, cursor.step);
    if (level == Level::micro && !whole) return {cursor.step, cursor.done + 1};
    if (level == Level::micro) return cursor.step + 1 < trace.size() ? Cursor{cursor.step + 1, 1} : cursor;
    if (!whole && ends(trace, cursor.step, level)) return at_step(trace, cursor.step);
    int k = cursor.step + 1;
    while (k < trace.size() && !ends(trace, k, level)) ++k;
    return at_step(trace, k);
}

Cursor backward(const Trace& trace, Cursor cursor, Level level) {
    if (level == Level::micro && cursor.done > 1) return {cursor.step, cursor.done - 1};
    if (level == Level::micro && cursor.step == 0) return cursor;
    int k = cursor.step - 1;
    while (k > 0 && !ends(trace, k, level)) --k;
    return at_step(trace, k);
}

bool maximum_rises(const Trace& trace, int k) {
    if (trace.step(k).op != Op::new_max) return false;
    return trace.live(Slot::m, k - 1).value->data != trace.live(Slot::m, k).value->data;
}

Cursor advance(Player& player, const Trace& trace, Cursor cursor, double dt, const StepRange& loop) {
    if (!player.playing) return cursor;
    player.elapsed += dt;
    const double period = 1.0 / player.steps_per_second;
    // A loop never ends by itself: a clock that jumped, or no period at all, must not keep it busy.
    if (loop.set() && !(player.elapsed < 1000 * period)) {
        player.elapsed = 0;
        return cursor;
    }
    while (player.playing && player.elapsed >= period) {
        player.elapsed -= period;
        const Cursor next = forward(trace, cursor, player.level);
        const bool leaves = next == cursor || !loop.holds(next.step);
        if (loop.set() && leaves)
            cursor = player.level == Level::micro ? Cursor{loop.first, 1} : at_step(trace, loop.first);
        else
            cursor = next;
        if (at_end(trace, cursor) && !loop.set()) player.playing = false;
    }
    if (!player.playing) player.elapsed = 0;
    return cursor;
}

}  // namespace tilewalk
