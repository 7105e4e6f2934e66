#include "app/ui/parts/stage_broken.h"

#include "app/ui/kit/items.h"
#include "app/ui/kit/key_cap.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/stage_broken_pane.h"
#include "core/base/words.h"
#include "core/walk/compare.h"

#include <algorithm>

namespace tilewalk::ui {

using namespace panes;

namespace {

constexpr float between = 16;  // the panes
constexpr float top_h = 112;   // title and cause
constexpr float title_mark = 34, line_mark = 28;

Bars bars_of(const BrokenStep& s, float y, float h) {
    Bars bars{0, 0, y, h};
    for (const double v : {s.truth.value, s.broken.value}) {
        if (!std::isfinite(v)) continue;
        bars.up = std::max(bars.up, v), bars.down = std::max(bars.down, -v);
    }
    return bars;
}

void draw_title(const Pane& p) {
    const char* const title = p.broken ? p.kind : p.rounded ? "Exact" : "True";
    float x = p.x();
    if (p.faulty()) fault_mark(p.c, x, p.a.y + 36, title_mark), x += title_mark + 12;
    p.c.text(x, p.a.y + 36, title, 36, p.alarm(), Face::semibold);
    const Line& cause = p.side.cause;
    const float room = p.end_x() - 12 - p.x();
    const float size = fitting_size(p.c, cause, room, {30, size::far});
    if (cause.empty() || rich_width(p.c, cause, size) > room) return;
    // A formula that is another one altogether.
    if (p.broken && !p.rounded && !p.step.cause && plain(cause) != plain(p.step.truth.cause)) {
        Line wrong = cause;
        for (Span& span : wrong) span.role = Role::none;
        p.c.rich(p.x(), p.a.y + 82, wrong, size, Align::left, p.alarm());
        return;
    }
    draw_alarming(p, p.x(), p.a.y + 82, cause, size, p.broken);
}

void draw_foot(const Pane& p) {
    const Canvas& c = p.c;
    const float y = p.a.bottom() - foot_h / 2 - 3;
    c.line({p.a.x + 12, p.foot_y()}, {p.a.right() - 12, p.foot_y()}, p.theme().line2, 1);
    const Line title = part_title(p.step);
    const Line own = title.empty() ? named(*p.side.trace, p.step.cell, p.step.step) : title;
    float name = c.rich(p.x(), y, own, size::far_symbol);
    // Above it stands what the same element comes to in the end.
    const bool on_its_way = p.step.on_its_way();
    if (on_its_way) name += c.text(p.x() + name, y, " so far", size::far, p.theme().t2, Face::regular);
    name += 22;
    const double truth = p.step.truth.value, broken = p.step.broken.value;
    const bool same = same_number(truth, broken);
    const Shown number = shown(p, truth, broken);
    const float used = name + draw_shown(c, p.x() + name, y, number,
                                         {value_size, same ? p.theme().t1 : p.alarm(), Align::left,
                                          p.rounded ? 200.0f : end_w, p.broken});
    // Where a tour's ring goes
    if (p.broken)
        note_item(ItemKind::cell, c.device(p.x() - 8, y - 26), c.device(p.x() + used + 8, y + 26),
                  cell_name(p.step.cell));
    if (!p.broken || !std::isfinite(truth) || !std::isfinite(broken)) return;
    const float room = p.right() - p.x() - used - 24;
    // Above it stands how far the same element is off in the end, maybe the other way.
    const Line delta = pieces("Δ", slot_symbol(p.step.cell.slot), " ");
    const std::vector<Line> leads =
        on_its_way ? std::vector<Line>{Line{}} : std::vector<Line>{delta, pieces("Δ "), Line{}};
    for (const Line& lead : leads)
        for (const bool percent : {true, false}) {
            const std::string text = on_its_way ? difference_words(truth, broken, p.rounded, percent)
                                                : difference_text(truth, broken, percent);
            for (const float size : {30.0f, size::far}) {
                const float w = text_width(Face::regular, size, text);
                if (w + rich_width(c, lead, size) > room) continue;
                c.rich(p.right() - w, y, lead, size, Align::right);
                c.text(p.right(), y, text, size, same ? p.theme().t1 : p.alarm(), Align::right);
                return;
            }
        }
}

void draw_pane(const Pane& p) {
    const Theme& t = p.theme();
    p.c.rect(p.a.x, p.a.y, p.a.w, p.a.h, t.panel, radius::panel);
    p.c.frame(p.a.x + 1, p.a.y + 1, p.a.w - 2, p.a.h - 2, p.faulty() ? p.alarm() : t.line2,
              p.faulty() ? 4.0f : 1.5f, radius::panel);
    draw_value(p);
    draw_title(p);
    draw_end(p);
    draw_map(p);
    draw_foot(p);
}

// Which step differs next, from this one on; −1: none.
int acts_next(const AppState& state) { return next_difference(*state.comparison, state.cursor.step - 1); }
bool acts_now(const AppState& state) { return acts_next(state) == state.cursor.step; }
// A fault at work, and neither one that changes nothing here nor a rounding.
bool alarms(const AppState& state, bool harmless) {
    return acts_now(state) && !harmless && !only_rounded(*state.problem);
}

// Several as their names where those have room, or else how many they are.
std::string fault_words(const AppState& state, float room) {
    const std::string named = named_fault(state);
    return text_width(Face::medium, size::far, named) <= room || !named.starts_with("Faults")
               ? named
               : fault_title(*state.lesson, *state.problem);
}

}  // namespace

void broken_stage(const Canvas& c, const AppState& state, const BrokenStep& s, const Rect& a) {
    const bool rounded = only_rounded(*state.problem);
    const bool moves = info(state.trace->step(state.cursor.step).op).kind != OpKind::compute;
    const float w = (a.w - between) / 2;
    const Bars bars = bars_of(s, a.y + top_h, a.h - top_h - foot_h - 2);
    const auto pane = [&](const StageSide& side, bool broken, float x) {
        const PanelPart part(c, broken ? "Broken" : "True", {x, a.y, w, a.h});
        draw_pane({c, s, side, broken, rounded, moves, {x, a.y, w, a.h}, bars, kind_of_walk(state)});
    };
    pane(s.truth, false, a.x);
    pane(s.broken, true, a.x + w + between);
    // The true height is one line across both.
    const Pane left{c, s, s.truth, false, rounded, moves, {a.x, a.y, w, a.h}, bars, ""};
    if (left.has_line())
        c.line({left.a.right(), left.line_y()}, {left.a.right() + between, left.line_y()}, c.theme->t1, 2);
}

void fault_name(const Canvas& c, const AppState& state, float x, float y, float room, bool harmless) {
    // Quietly where it does nothing yet.
    const bool acts = acts_now(state);
    const bool alarm = alarms(state, harmless);  // a plate with its mark, whatever its colour looks like
    const float pad = alarm ? 32 + line_mark : 32;
    const ImU32 ink = alarm ? c.theme->inv : acts ? c.theme->t1 : c.theme->t2;
    std::string words = fault_words(state, room - pad);
    if (const int next = acts_next(state); !acts && next >= 0) {
        // "Fault from step 7: …"; "again" where it has been at work before
        const bool before = next_difference(*state.comparison, -1) < state.cursor.step;
        std::string from = words;
        from.insert(std::min(from.find(':'), from.size()),
                    (before ? " again" : "") + (" from step " + str(next + 1)));
        if (text_width(Face::medium, size::far, from) + pad <= room) words = from;
    }
    const float wanted = text_width(Face::medium, size::far, words) + pad, w = std::min(wanted, room);
    if (w < 120) return;
    if (alarm) {
        c.rect(x, y - 23, w, 46, c.theme->danger, radius::control);
        c.cross(x + 12 + line_mark / 2, y, line_mark * .3f, ink, 4);
    } else {
        c.frame(x, y - 23, w, 46, acts ? ink : c.theme->line2, acts ? 2.0f : 1.5f, radius::control);
    }
    c.text_within(x + pad - 16, y, w - pad + 2, words, size::far, ink, Face::medium);
    if (state.to_take_along) return;
    const float key = x + w + 16, rest = room - w - 16;
    const char* const then = only_rounded(*state.problem) ? "exact again" : "repairs";
    if (rest < 44 + 10 + text_width(Face::regular, size::far, then)) return;
    const float cap = draw_key_cap(c, key, y, "X", size::far);
    c.text(key + cap + 12, y, then, size::far, c.theme->t2);
}

// Left of the words: the edge, and the mark of a fault at work.
static float line_edge(bool alarm) { return alarm ? 22 + line_mark + 14 : 22; }

float broken_line_height(const AppState& state, const std::string& sentence, float w, bool harmless) {
    const float room = w - line_edge(alarms(state, harmless)) - 18;
    return paragraph_height(room, sentence, size::far_number, 2, Face::regular, 1.25f) + 16;
}

void broken_line(const Canvas& c, const AppState& state, const std::string& sentence, const Rect& a,
                 bool harmless) {
    c.rect(a.x, a.y, a.w, a.h, c.theme->panel, radius::card);
    const bool alarm = alarms(state, harmless);
    c.rect(a.x, a.y, 5, a.h, alarm ? c.theme->danger : c.theme->t1, 2);
    if (alarm) fault_mark(c, a.x + 22, a.y + 8 + size::far_number * .625f, line_mark);
    const float edge = line_edge(alarm), w = caption_width(a.w - edge - 18, sentence, size::far_number, 2);
    c.paragraph(a.x + edge, a.y + 8, w, sentence, size::far_number, c.theme->t1, 2, Face::regular, 1.25f);
}

}  // namespace tilewalk::ui
