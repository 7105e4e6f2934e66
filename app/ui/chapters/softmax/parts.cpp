#include "app/ui/chapters/softmax/parts.h"

#include "app/ui/parts/matrix.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/state.h"
#include "core/base/beside_matrix.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::ui {

int SoftmaxWalk::reads() const {
    int n = 0;
    for (int s = 0; s <= k; ++s) n += trace.step(s).op == Op::load_x;
    return n;
}

double SoftmaxWalk::number(Slot slot, int at) const { return trace.live(slot, at).value->data(0, 0); }

int linked_step(const Trace& here, int k, const Trace& there) {
    int reads = 0;
    for (int s = 0; s <= k; ++s) reads += here.step(s).op == Op::load_x;
    if (reads == 0) return 0;
    int at = 0;
    for (; at < there.size() && reads > 0; ++at) reads -= there.step(at).op == Op::load_x;
    if (reads > 0) return there.size() - 1;  // it is through
    --at;                                    // the load of that element
    const Step &load = there.step(at), &step = here.step(k);
    const bool element_done =
        k + 1 == here.size() || here.step(k + 1).j != step.j || here.step(k + 1).phase != step.phase;
    while (at + 1 < there.size() && there.step(at + 1).j == load.j &&
           there.step(at + 1).phase == load.phase && (element_done || there.step(at + 1).op <= step.op))
        ++at;
    return at;
}

namespace {

// The walk of this lesson through the problem on screen, built when it is asked for the first time.
const Trace& walk_of(AppState& state, SoftmaxForm form) {
    SoftmaxPage& page = state.softmax;
    if (page.problem != state.problem) {
        page.problem = state.problem;
        page.traces = {};
        page.component = std::clamp(page.component, 0, state.problem->d() - 1);
    }
    page.traces[static_cast<std::size_t>(softmax_form(*state.trace))] = state.trace;
    auto& trace = page.traces[static_cast<std::size_t>(form)];
    if (!trace) trace = softmax_lesson(form).build(*state.problem);
    return *trace;
}

}  // namespace

SoftmaxWalk softmax_walk(AppState& state, SoftmaxForm form) {
    const Trace& trace = walk_of(state, form);
    const bool live = &trace == state.trace.get();
    return {trace, form, live ? state.cursor.step : linked_step(*state.trace, state.cursor.step, trace),
            live};
}

SoftmaxWalk softmax_walk(AppState& state) { return softmax_walk(state, softmax_form(*state.trace)); }

SoftmaxCard softmax_card(const AppState& state, const SoftmaxWalk& walk, int which) {
    static constexpr Slot slots[] = {Slot::m, Slot::l, Slot::Oi};
    const Held held = walk.trace.live(slots[which], walk.k);
    SoftmaxCard card;
    card.role = info(slots[which]).role;
    const auto symbol = [&](const std::string& index) {
        return which == 0   ? softmax_max(index)
               : which == 1 ? softmax_sum(walk.letters, index)
                            : softmax_out(walk.letters, index);
    };
    card.symbol = symbol("");
    if (!held) {
        const bool textbook = walk.form == SoftmaxForm::dense;
        const int pass = which == 2 ? walk.passes : std::min(which + 1 - textbook, walk.passes - 1);
        card.note = which == 0 && textbook ? "left out" : "pass " + str(pass);
        return card;
    }
    const Step& made = walk.trace.step(held.step);
    card.symbol = made.op == Op::normalize ? softmax_final(walk.letters, str(walk.N() - 1))
                                           : symbol(made.j < 0 ? "" : str(made.j));
    const int col = which == 2 ? state.softmax.component : 0;
    const double value = held.value->data(0, std::min<int>(col, held.value->region.cols - 1));
    card.text = text_alone(walk.trace.digits(slots[which]), value);
    if (walk.live) card.text = formula_text(state.explanation, card.role, value, card.text);
    card.brief = format_short(value, 3);
    card.written = held.step == walk.k;
    if (card.written && walk.live)
        card.fade = std::min(transition(state), over(phase(state), during::arrival));
    return card;
}

ImU32 card_fill(const Theme& t, const SoftmaxCard& card) {
    if (card.text == format_number(std::numeric_limits<double>::quiet_NaN())) return t.danger;
    return mix(t.panel, hue(t, card.role), t.light ? .2f : .24f);
}

void draw_card(const Canvas& c, const Rect& a, const SoftmaxCard& card, float size) {
    const Theme& t = *c.theme;
    const bool slim = a.w < 5 * size;
    const float pad = slim ? 6 : size * .7f, mid = a.middle();
    if (card.text.empty()) {
        c.to_come(a.x, a.y, a.w, a.h);
        const float w = c.rich(a.x + pad, mid, card.symbol, size), note = std::max(c.min_text, size * .85f);
        if (text_width(Face::regular, note, card.note) <= a.w - 2 * pad - w - 6)
            c.text(a.right() - pad, mid, card.note, note, t.t3, Align::right);
        return;
    }
    const ImU32 fill = card_fill(t, card);
    c.rect(a.x, a.y, a.w, a.h, fill, radius::card);
    if (card.written) {
        c.frame(a.x, a.y, a.w, a.h, t.focus, focus_width(), radius::card);
    } else {
        c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, mix(t.panel, hue(t, card.role), .5f), 1,
                radius::card);
    }
    const ImU32 ink = ink_on(t, fill);
    Line symbol = card.symbol;
    for (Span& span : symbol) span.role = Role::none;
    if (slim) std::erase_if(symbol, [](const Span& span) { return span.script == Span::Script::sub; });
    // An index hangs below its letter: both together stand in the middle.
    const bool hangs =
        std::ranges::any_of(symbol, [](const Span& s) { return s.script == Span::Script::sub; });
    const float w = c.rich(a.x + pad, mid - (hangs ? .07f * size : 0), symbol, size, Align::left, ink);
    // As many digits, and as large, as there is room for.
    const Face face = card.written ? Face::mono_bold : Face::mono;
    const float room = a.w - 2 * pad - w - 3;
    float number = size * .94f;
    while (number > c.min_text && text_width(face, number, card.text) > room) number -= 1;
    number = std::max(number, c.min_text);
    const std::string& text = text_width(face, number, card.text) <= room ? card.text : card.brief;
    c.faded(card.fade).text_within(a.right() - pad, mid, room + 2, text, number, ink, face, Align::right);
    if (card.old.empty()) return;
    const float left = a.right() - pad - text_width(face, number, text);
    if (left - 52 - text_width(Face::mono, size::far, card.old) < a.x + pad + w + 8) return;
    c.arrow({{left - 44, mid}, {left - 8, mid}}, ArrowStyle::link, ink);
    c.text(left - 52, mid, card.old, size::far, ink, Face::mono, Align::right);
}

Line reads_of_x(int count) {
    return {strong(str(count)), word(count == 1 ? " read of " : " reads of "), symbol("x", Role::S)};
}

void step_argument(AppState& state, int by) {
    if (state.trace->lesson().picture != Picture::softmax) return;
    SoftmaxPage& page = state.softmax;
    if (page.tab == SoftmaxPage::values) {
        page.tab = SoftmaxPage::derivation;
        page.line = by > 0 ? 0 : 5;
        return;
    }
    const int lines = page.tab == SoftmaxPage::proof ? 8 : 6;
    // On stage, where no tab leads back, the running values come behind the last line.
    if (state.presenter && (page.line + by < 0 || page.line + by >= lines)) {
        page.tab = SoftmaxPage::values;
        return;
    }
    page.line = (page.line + by + lines) % lines;
}

void move_cut(AppState& state, int by) {
    if (state.trace->lesson().uses(chooses_splits)) return move_split(state, by);
    if (state.trace->lesson().picture != Picture::softmax) return;
    SoftmaxPage& page = state.softmax;
    const int N = state.problem->N_kv();
    if (page.split < 0 || page.split > N) page.split = N / 2;
    if (page.tab == SoftmaxPage::proof) page.split = std::clamp(page.split + by, 0, N);
    page.tab = SoftmaxPage::proof;
}

void follow_component(AppState& state) {
    const CellRef target = state.explanation.target;
    state.softmax.component = std::clamp(state.softmax.component, 0, state.problem->d() - 1);
    if (target.slot != Slot::Oi && target.slot != Slot::O) return;
    if (state.col >= 0) {
        state.softmax.component = target.col;
    } else if (target.col != state.softmax.component) {
        state.col = state.softmax.component;
        refresh_explanation(state);
    }
}

bool overflowed(const SoftmaxWalk& walk, int j, double score) {
    return std::isnan(score) ||
           (std::isinf(score) && (score > 0 || visible(walk.trace.problem(), walk.row(), j)));
}

SoftmaxElement softmax_element(const AppState& state, const SoftmaxWalk& walk, Slot slot, int j) {
    const bool of_x = slot == Slot::x, now = walk.element() == j + 1;
    const CellRef ref = of_x ? CellRef{slot, walk.row(), j} : CellRef{slot, j, state.softmax.component};
    const double value = value_at(*holding(walk.trace, ref, walk.k).value, ref);
    const SlotLook& range = state.look[of_x ? Slot::S : Slot::V];
    CellLook look;
    look.role = info(slot).role;
    // A pass that does not load V leaves it in the dark; marked as read is what this step reads.
    const bool there = now && (of_x || walk.trace.live(Slot::Vj, walk.k));
    const bool read = std::ranges::any_of(walk.trace.reads(walk.k), [&](const Access& a) {
        return a.slot == slot || a.slot == (of_x ? Slot::S : Slot::Vj);
    });
    look.state = there && read ? CellState::read : CellState::idle;
    look.t = range.place(value);
    look.with_sign = range.with_sign();
    look.dim = !there;
    look.nan = of_x ? overflowed(walk, j, value) : !std::isfinite(value);
    look.masked = std::isinf(value) && !look.nan;
    return {ref, value, look};
}

ElementWindow window_around(int element, int N, int most) {
    const int count = std::clamp(most, 1, N);
    return {std::clamp(element - 1 - count / 2, 0, N - count), count};
}

void set_options(AppState& state, const Options& options) {
    Problem changed = latest_problem(state);
    if (changed.options == options) return;
    changed.options = options;
    set_problem(state, std::move(changed));
}

}  // namespace tilewalk::ui
