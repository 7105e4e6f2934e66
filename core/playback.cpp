#include "core/playback.h"

#include <algorithm>

namespace tilewalk {

namespace {

// The last step of each tile group is where the level `tile` stops: start, every key block, finish.
bool ends_tile(const Trace& trace, int k) {
    if (k + 1 == trace.size()) return true;
    const Step &a = trace.step(k), &b = trace.step(k + 1);
    return a.i != b.i || a.j != b.j;
}

bool ends_block(const Trace& trace, int k) {
    return k + 1 == trace.size() || trace.step(k).i != trace.step(k + 1).i;
}

bool ends(const Trace& trace, int k, Level level) {
    return level == Level::tile ? ends_tile(trace, k) : level == Level::block ? ends_block(trace, k) : true;
}

}  // namespace

int step_rows(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    if (step.op == Op::load_q || step.op == Op::load_kv || step.op == Op::init || step.op == Op::store ||
        step.op == Op::skip)
        return 1;
    return trace.value(trace.writes(k).front().value).region.rows;
}

Cursor at_step(const Trace& trace, int k) {
    k = std::clamp(k, 0, trace.size() - 1);
    return {k, step_rows(trace, k)};
}

Cursor first(const Trace& trace) { return at_step(trace, 0); }
Cursor last(const Trace& trace) { return at_step(trace, trace.size() - 1); }
bool at_end(const Trace& trace, Cursor cursor) { return cursor == last(trace); }

Cursor forward(const Trace& trace, Cursor cursor, Level level) {
    const bool whole = cursor.rows_done >= step_rows(trace, cursor.step);
    if (level == Level::micro && !whole) return {cursor.step, cursor.rows_done + 1};
    if (level == Level::micro) return cursor.step + 1 < trace.size() ? Cursor{cursor.step + 1, 1} : cursor;
    if (!whole && ends(trace, cursor.step, level)) return at_step(trace, cursor.step);
    int k = cursor.step + 1;
    while (k < trace.size() && !ends(trace, k, level)) ++k;
    return at_step(trace, k);
}

Cursor backward(const Trace& trace, Cursor cursor, Level level) {
    if (level == Level::micro && cursor.rows_done > 1) return {cursor.step, cursor.rows_done - 1};
    if (level == Level::micro && cursor.step == 0) return cursor;
    int k = cursor.step - 1;
    while (k > 0 && !ends(trace, k, level)) --k;
    return at_step(trace, k);
}

bool maximum_rises(const Trace& trace, int k) {
    if (trace.step(k).op != Op::new_max) return false;
    return trace.live(Slot::m, k - 1).value->data != trace.live(Slot::m, k).value->data;
}

Cursor advance(Player& player, const Trace& trace, Cursor cursor, double dt) {
    if (!player.playing) return cursor;
    player.elapsed += dt;
    const double period = 1.0 / player.steps_per_second;
    while (player.playing && player.elapsed >= period) {
        player.elapsed -= period;
        cursor = forward(trace, cursor, player.level);
        if (at_end(trace, cursor)) player.playing = false;
    }
    if (!player.playing) player.elapsed = 0;
    return cursor;
}

}  // namespace tilewalk
