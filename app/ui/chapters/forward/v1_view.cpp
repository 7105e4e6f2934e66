#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/quiz.h"
#include "core/base/numbers.h"
#include "core/walk/traffic.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// A tile is done when its keys are in O. Skipped tiles do not count: the two walks meet them at other times.
bool ends_tile(const Trace& trace, int k) { return trace.step(k).op == Op::output; }

// FlashAttention-2 on the problem of this walk, made once.
void make_beside(AppState& state) {
    FlashBeside& b = state.beside;
    if (b.first == state.trace) return;
    b.first = state.trace;
    b.second = state.lesson->beside->build(state.trace->problem());
    b.largest_difference = (b.first->result(Slot::O) - b.second->result(Slot::O)).cwiseAbs().maxCoeff();
}

std::int64_t standard_bytes(const AppState& state) {
    return state.lesson->rival.model(*state.problem).total();
}

struct Ledger {
    const char *name, *brief;
    const char* order;
    const Trace& trace;
    int k;
    Traffic now() const { return traffic_until(trace, k); }
    Traffic end() const { return trace.step(trace.size() - 1).traffic; }
};

void mark(const Canvas& c, float x, float y, float h) {
    c.line({x, y - h / 2}, {x, y + h / 2}, hue(*c.theme, info(Slot::S).role), 3);
}

// What the bars reach to: the end of the longest walk; and where standard attention ends.
struct Scale {
    std::int64_t most = 1, standard = 0;
};

// The bytes so far on a bar, with the mark of standard attention.
void ledger_bar(const Canvas& c, const Ledger& l, const Rect& a, const Scale& scale) {
    const auto part = [&](std::int64_t bytes) {
        return px(static_cast<double>(bytes) / static_cast<double>(scale.most)) * a.w;
    };
    const float done = part(l.now().total()), end = part(l.end().total());
    c.rect(a.x, a.y, a.w, a.h, c.theme->panel, radius::bar);
    c.rect(a.x, a.y, done, a.h, c.theme->t1, radius::bar);
    if (end > done) c.to_come(a.x + done, a.y, end - done, a.h);
    mark(c, a.x + part(scale.standard), a.middle(), a.h + 8);
}

// In one line, for low windows: name, bar, bytes so far.
void ledger_line(const Canvas& c, const Ledger& l, const Rect& a, const Scale& scale) {
    const float name = 124, number = 72;
    c.text_within(a.x, a.middle(), name - 4, l.name, size::body, c.theme->t1, Face::medium);
    ledger_bar(c, l, {a.x + name, a.middle() - 5, a.w - name - number, 10}, scale);
    c.text_within(a.right(), a.middle(), number - 8, format_size(l.now().total()), size::body, 0,
                  Face::semibold, Align::right);
}

// How far one walk has come: its name, the bar, and below it in words what it comes to.
void ledger_row(const Canvas& c, const Ledger& l, const Rect& a, const Scale& scale, bool strong_name) {
    const Theme& t = *c.theme;
    c.text(a.x, a.y + 8, l.name, size::body, t.t1, strong_name ? Face::semibold : Face::medium);
    const Line sofar{strong(format_size(l.now().hbm_read)), word(" read, "),
                     strong(format_size(l.now().hbm_write)), word(" written")};
    const Line brief{strong(format_size(l.now().total()))};
    const float name_w = text_width(Face::semibold, size::body, l.name);
    const bool fits = name_w + rich_width(c, sofar, size::body) + 16 <= a.w;
    c.rich(a.right(), a.y + 8, fits ? sofar : brief, size::body, Align::right);
    ledger_bar(c, l, {a.x, a.y + 20, a.w, 10}, scale);
    if (a.h < 50) return;
    const std::string words =
        format_size(l.end().hbm_read) + " read, " + format_size(l.end().hbm_write) + " written when done";
    c.text_within(a.x, a.y + 41, a.w, words, size::small, t.t3);
}

void verdict(const Canvas& c, const AppState& state, const Rect& a) {
    const FlashBeside& b = state.beside;
    const double scale = std::max(1e-300, b.second->result(Slot::O).cwiseAbs().maxCoeff());
    const bool same = b.largest_difference <= 1e-9 * scale;
    const std::string words =
        same ? "The same O: largest difference " + format_short(b.largest_difference, 3) + "."
             : "O differs by up to " + format_short(b.largest_difference, 3) + ".";
    c.text_within(a.x, a.y, a.w, words, size::body, same ? c.theme->t2 : c.theme->danger);
}

void ghost_beside(const Canvas& c, const Ledger& l, const Rect& a, bool hide_skips) {
    const bool words = a.h >= 60;
    const Problem& p = l.trace.problem();
    const float side = a.h - (words ? 20.0f : 0.0f);
    const float cell = std::min({a.w / px(p.N_kv()), side / px(p.N()), 30.0f});
    const float w = cell * px(p.N_kv()), h = cell * px(p.N());
    ghost(c, l.trace, l.k, a.x + (a.w - w) / 2, a.y + (side - h) / 2, w, h, hide_skips);
    if (words)
        c.text_within(a.x + a.w / 2, a.bottom() - 6, a.w + 20, a.h >= 90 ? l.order : l.brief, size::small,
                      c.theme->t2, Align::center);
}

void draw_beside(const Canvas& c, AppState& state, const Rect& a) {
    const Trace &first = *state.beside.first, &second = *state.beside.second;
    const int k = state.cursor.step;
    const Ledger one{"FlashAttention-1", "FA-1", "columns first", first, k},
        two{"FlashAttention-2", "FA-2", "rows first", second, step_beside(first, k, second)};
    const float side = std::min(a.h, 150.0f), gap = 28;
    const bool hide_skips = hides_what_comes(state);
    ghost_beside(c, one, {a.x, a.y, side, a.h}, hide_skips);
    ghost_beside(c, two, {a.x + side + gap, a.y, side, a.h}, hide_skips);
    const float x = a.x + 2 * (side + gap) + 4;
    const std::int64_t standard = standard_bytes(state);
    const Scale scale{std::max({std::int64_t{1}, one.end().total(), two.end().total(), standard}), standard};
    const float w = a.right() - x;
    if (a.h < 72) {
        ledger_line(c, one, {x, a.y, w, a.h / 2}, scale);
        return ledger_line(c, two, {x, a.y + a.h / 2, w, a.h / 2}, scale);
    }
    const bool low = a.h < 96;  // no room for the verdict
    const float row = low ? a.h / 2 : (a.h - 22) / 2;
    ledger_row(c, one, {x, a.y, w, row}, scale, true);
    ledger_row(c, two, {x, a.y + row, w, row}, scale, false);
    if (!low) verdict(c, state, {x, a.bottom() - 8, w, 16});
}

// "2 of 4 tiles done by both", and what the mark on the bars is, if there is room for it.
void what_bars_say(const Canvas& c, const AppState& state, float x, float y, float room, int done, int all) {
    const std::string count = str(done) + " of " + counted(all, "tile"),
                      standard = "standard " + format_size(standard_bytes(state));
    const float standard_w = 30 + text_width(Face::regular, size::body, standard);
    for (const std::string& text : {count + " done by both", count}) {
        const float w = text_width(Face::regular, size::body, text);
        if (w + standard_w > room) continue;
        c.text(x, y, text, size::body, c.theme->t3);
        mark(c, x + w + 20, y, 14);
        c.text(x + w + 28, y, standard, size::body, c.theme->t2);
        return;
    }
    c.text_within(x, y, room, count + " done by both", size::body, c.theme->t3);
}

// "Beside it: FlashAttention-2" or the step, one switch for both.
void v1_lens(const Canvas& c, AppState& state, const Rect& a) {
    make_beside(state);
    int shown = state.beside.shown ? 1 : 0;
    const bool narrow = a.w < 620;
    const std::vector<std::string> names = {narrow ? "Step" : "This step",
                                            narrow ? "FlashAttention-2" : "Beside FlashAttention-2"};
    const float w = segmented_width(names, size::small), y = a.y + (a.h < from::lens ? 0.0f : 6.0f);
    if (state.beside.shown) {
        const PanelPart part(c, "Beside", a);
        c.well(a.x, a.y, a.w, a.h);
        const float title_y = a.y + (a.h < from::lens ? 16.0f : 22.0f), room = a.w - w - 44;
        const int done = tiles_done(*state.trace, state.cursor.step),
                  all = tiles_done(*state.trace, state.trace->size() - 1);
        const float tw = text_width(Face::semibold, size::body, "Tile by tile");
        c.text_within(a.inner_x(), title_y, room, "Tile by tile", size::body, 0, Face::semibold);
        if (room > tw + 60) what_bars_say(c, state, a.x + 26 + tw, title_y, room - tw - 10, done, all);
        draw_beside(c, state, {a.inner_x(), title_y + 18, a.inner_w(), a.bottom() - title_y - 28});
    } else {
        lens_view(c, state, a, w + 8);
    }
    if (segmented(c, "##beside", a.right() - w - 8, y, names, shown, size::small))
        state.beside.shown = shown == 1;
}

}  // namespace

int tiles_done(const Trace& trace, int k) {
    int done = 0;
    for (int n = 0; n <= k && n < trace.size(); ++n) done += ends_tile(trace, n);
    return done;
}

int step_beside(const Trace& first, int k, const Trace& second) {
    const Step& now = first.step(k);
    const int done = tiles_done(first, k), all = tiles_done(first, first.size() - 1);
    if (done == all && (all > 0 || k + 1 == first.size())) return second.size() - 1;
    const bool in_tile = now.i >= 0 && now.j >= 0 && now.op < Op::output;
    int best = -1, seen = 0;
    for (int n = 0; n < second.size(); ++n) {
        const Step& step = second.step(n);
        if (seen == done && !in_tile) break;
        // Within the tile under way: no further than the same op.
        const bool tile = step.i >= 0 && step.j >= 0 && step.op != Op::skip;
        if (seen == done && tile && step.op > std::max(now.op, Op::load_kv)) break;
        best = n;
        seen += ends_tile(second, n);
    }
    return best;
}

void v1_main(const Canvas& c, AppState& state, const Layout& layout) {
    hbm_view(c, state, layout.hbm);
    sram_view(c, state, layout.sram, layout.tight, v1_lens);
}

}  // namespace tilewalk::ui
