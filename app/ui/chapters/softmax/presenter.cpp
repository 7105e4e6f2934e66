// Presenter mode of the softmax lessons: the row large, the pass under way, and what it carries along.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage_frame.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr float head_h = 36, least_lens_h = 170;
constexpr float least_cards_h = 186;  // of four below each other

void element(const Canvas& c, const AppState& state, const SoftmaxWalk& walk, Slot slot, int j,
             const Rect& a) {
    auto [ref, value, look] = softmax_element(state, walk, slot, j);
    look.size = size::far_number;
    // With the decimals that all numbers of the row have; very long ones as they fit.
    std::string text = format_short(value, 3);
    if (text_width(Face::mono, size::far_number, text) > a.w - 6) text.clear();
    const SlotLook& all = state.look[slot];
    for (const int digits : digit_choices())
        if (px(all.letters_with(digits)) * size::mono * size::far_number <= a.w - 6) {
            text = all.digits.text(value, digits);
            break;
        }
    look.text = text;
    const Slot on_chip = slot == Slot::x ? Slot::S : Slot::Vj;
    const float light = look.dim ? light_of(state, false, false) : light_on(state, on_chip);
    const Theme& t = *c.theme;
    cell(c.faded(readable_light(light, t.t3, cell_fill(t, look), presenter_page(t))), a.x, a.y, a.w, a.h,
         look);
}

constexpr float names_w = 96, reads_w = 250, element_w = 128, least_element_w = 108;

// A short row leaves the right half of the page to the drawing.
bool short_row(const SoftmaxWalk& walk, const Rect& a) {
    return names_w + px(walk.N()) * least_element_w <= a.w * .44f;
}

// Which pass, and what was read so far; in one line beside a short row, else in two.
void draw_reads(const Canvas& c, const SoftmaxWalk& walk, const Rect& a, float y1, float y2) {
    const std::string pass = "pass " + str(walk.step().phase + 1) + " of " + str(walk.passes);
    const Line brief{strong(str(walk.reads())), word(" of "), strong(str(walk.passes * walk.N())),
                     word(" reads")},
        of_x = pieces(brief, " of ", symbol("x", Role::S));
    constexpr float apart = 28, word_w = 150;  // that of the drawing, at the left of one line
    const float one_line = text_width(Face::medium, size::far_text, pass) + apart + word_w,
                room = y2 == y1 ? a.w - one_line : a.w;
    const Line& reads = rich_width(c, of_x, size::far_text) <= room ? of_x : brief;
    const float before = y2 == y1 ? rich_width(c, reads, size::far_text) + apart : 0;
    c.text(a.right() - before, y1, pass, size::far_text, c.theme->t1, Face::medium, Align::right);
    c.rich(a.right(), y2, reads, size::far_text, Align::right);
}

// Of V and of the output one column is shown: "[·,0]".
std::string one_column_of(const AppState& state) {
    return state.problem->d() > 1 ? "[·," + str(state.softmax.component) + "]" : "";
}

// x and V, the current element lit.
void draw_row(const Canvas& c, const AppState& state, const SoftmaxWalk& walk, const Rect& a, bool alone) {
    const float gap = 6, ch = (a.h - head_h - gap) / 2, left = a.x + names_w,
                room = a.w - names_w - (alone ? 0 : reads_w + 20);
    const bool reads_v = static_cast<bool>(walk.trace.live(Slot::Vj, walk.k));
    const ElementWindow view = window_around(walk.element(), walk.N(), static_cast<int>(room / 98));
    const float cw = std::min(element_w, room / px(view.count)), y1 = a.y + head_h, y2 = y1 + ch + gap;
    c.rich(left - 14, y1 + ch / 2, {symbol("x", Role::S)}, size::far_symbol, Align::right);
    c.rich(left - 10, y2 + ch / 2, pieces(symbol("V", Role::V), one_column_of(state)), size::far_text,
           Align::right);
    for (int n = 0; n < view.count; ++n) {
        const int j = view.first + n;
        const float x = left + px(n) * cw;
        const bool now = walk.element() == j + 1;
        if (now) c.rect(x, a.y - 2, cw, reads_v ? a.h + 8 : y2 - a.y, c.theme->raised, radius::panel);
        const std::string said = walk.trace.problem().key_token(j), both = str(j) + " " + said;
        const bool fits = !said.empty() && text_width(Face::semibold, size::far, both) <= cw - 6;
        c.text(x + cw / 2, a.y + head_h / 2, fits ? both : str(j), size::far, now ? c.theme->t1 : c.theme->t2,
               now ? Face::semibold : Face::regular, Align::center);
        element(c, state, walk, Slot::x, j, {x + 3, y1, cw - 6, ch});
        element(c, state, walk, Slot::V, j, {x + 3, y2, cw - 6, ch});
    }
    // The row goes on there.
    const float head = a.y + head_h / 2;
    if (view.first > 0) c.text(left - 8, head, "…", size::far, c.theme->t1, Align::right);
    if (view.first + view.count < walk.N())
        c.text(left + cw * px(view.count) + 6, head, "…", size::far, c.theme->t1);
    if (!alone) draw_reads(c, walk, {a.right() - reads_w, a.y, reads_w, a.h}, y1 + ch / 2, y2 + ch / 2);
}

SoftmaxCard card_of_write(const AppState& state, const SoftmaxWalk& walk, const Access& made, int k) {
    SoftmaxCard card;
    card.role = info(made.slot).role;
    card.symbol = slot_symbol(walk.trace, made.slot, k);
    const double value = walk.trace.value(made.value).data(0, 0);
    card.text =
        formula_text(state.explanation, card.role, value, text_alone(walk.trace.digits(made.slot), value));
    card.brief = format_short(value, 3);
    card.written = k == walk.k;
    if (card.written && walk.live)
        card.fade = std::min(transition(state), over(phase(state), during::arrival));
    return card;
}

// What was last made of the element at hand beside what the loop carries along: x₃, α₃, p₃ or a₃; of several
// that the step reads, all.
std::vector<SoftmaxCard> cards_of_element(const AppState& state, const SoftmaxWalk& walk) {
    const Trace& trace = walk.trace;
    std::vector<SoftmaxCard> out;
    for (int k = walk.k; k >= 0 && trace.step(k).phase == walk.step().phase; --k)
        for (const Access& made : trace.writes(k)) {
            constexpr Slot of_element[] = {Slot::S, Slot::alpha, Slot::P, Slot::Prob};
            if (std::ranges::find(of_element, made.slot) == std::end(of_element)) continue;
            const bool read = std::ranges::any_of(trace.reads(walk.k), [&](const Access& a) {
                return a.slot == made.slot && a.value == made.value;
            });
            if (out.empty() || (read && !out.front().written))
                out.insert(out.begin(), card_of_write(state, walk, made, k));
        }
    if (!out.empty()) return out;
    SoftmaxCard card;
    card.role = Role::S;
    card.symbol = softmax_score("");
    card.note = "not read yet";
    return {card};
}

// What it was before the step, where that changes it or reads both.
std::string old_text(const AppState& state, const SoftmaxWalk& walk, Slot slot, bool written) {
    const Value* old = nullptr;
    if (written) {
        old = walk.k > 0 ? walk.trace.live(slot, walk.k - 1).value : nullptr;
    } else {
        const auto reads = walk.trace.reads(walk.k);
        const Value* const now = walk.trace.live(slot, walk.k).value;
        for (int n = 0; n < 2; ++n)
            if (const Value* one = value_in(walk.trace, reads, slot, n); one && one != now) old = one;
    }
    if (!old) return {};
    const int col = slot == Slot::Oi ? std::min(state.softmax.component, old->region.cols - 1) : 0;
    const double value = old->data(0, col);
    return formula_text(state.explanation, info(slot).role, value,
                        text_alone(walk.trace.digits(slot), value));
}

void draw_lit_card(const Canvas& c, const SoftmaxCard& card, const Rect& area, float light) {
    const Theme& t = *c.theme;
    const bool bare = card.text.empty();
    const ImU32 fill = card_fill(t, card), page = presenter_page(t), hue_of = hue(t, card.role);
    const ImU32 palest = bare && contrast(hue_of, page) < contrast(t.t3, page) ? hue_of : t.t3;
    light = readable_light(light, bare ? palest : ink_on(t, fill), bare ? page : fill, page);
    draw_card(c.faded(light), area, card, area.h < 60 ? 30 : 36);
}

// What the loop carries along: what this step changes with the value before. Above them what it is made of.
void draw_cards(const Canvas& c, const AppState& state, const SoftmaxWalk& walk, const Rect& a) {
    constexpr Slot slots[] = {Slot::m, Slot::l, Slot::Oi};
    const float gap = a.h < 220 ? 6.0f : 10.0f;
    const bool room = a.h >= least_cards_h;
    const float count = room ? 4 : 3, h = (a.h - (count - 1) * gap) / count,
                first = room ? a.y + h + gap : a.y;
    if (room) {
        const std::vector<SoftmaxCard> made = cards_of_element(state, walk);
        const float w = (a.w - gap * px(made.size() - 1)) / px(made.size());
        for (std::size_t n = 0; n < made.size(); ++n)
            draw_lit_card(c, made[n], {a.x + px(n) * (w + gap), a.y, w, h}, light_of(state, true, true));
    }
    for (int which = 0; which < 3; ++which) {
        const Rect area{a.x, first + px(which) * (h + gap), a.w, h};
        SoftmaxCard card = softmax_card(state, walk, which);
        card.old = old_text(state, walk, slots[which], card.written);
        if (which == 2 && state.problem->d() > 1)
            card.symbol = pieces(card.symbol, "[" + str(state.softmax.component) + "]");
        draw_lit_card(c, card, area, light_on(state, slots[which]));
    }
}

// The value that the pass under way is for: m, then the sum, in the last one the output.
int value_of_pass(const SoftmaxWalk& walk) {
    const int pass = walk.step().phase;
    if (pass > 0 && pass == walk.passes - 1) return 2;
    return pass > 0 || walk.form == SoftmaxForm::dense ? 1 : 0;
}

// Where a step writes one of the running values: which.
int running_value(const SoftmaxWalk& walk) {
    switch (walk.step().op) {
    case Op::row_sum: return 1;
    case Op::exponentials: return std::max(1, value_of_pass(walk));
    case Op::output:
    case Op::divide:
    case Op::normalize:
    case Op::store: return 2;
    default: return value_of_pass(walk);
    }
}

// α as the way from one curve to the other: the scores before are the arrows.
bool draw_correction(const Canvas& c, const SoftmaxWalk& walk, const Rect& a, float phase) {
    if (walk.step().op != Op::correction) return false;
    const auto reads = walk.trace.reads(walk.k);
    const auto m = [&](int nth) { return value_in(walk.trace, reads, Slot::m, nth); };
    if (!m(0) || !m(1)) return false;
    Correction out{m(0)->data(0, 0), m(1)->data(0, 0), walk.number(Slot::alpha, walk.k)};
    out.digits = &walk.trace.digits(Slot::alpha);
    for (int j = 0; j < walk.step().j; ++j)
        out.scores.push_back(walk.trace.live(Slot::x, j, walk.k).value->data(0, 0));
    return correction_curves(c, a, out, phase);
}

// p as a point on the curve, with those of the pass that are measured from the same maximum.
bool draw_weight(const Canvas& c, const AppState& state, const SoftmaxWalk& walk, const Rect& a,
                 float phase) {
    const Step& step = walk.step();
    const bool broken = state.problem->switches != Switches{} || state.problem->precision.any();
    if (step.op != Op::exponentials || broken || !drawable(state)) return false;
    const Value* m = value_in(walk.trace, walk.trace.reads(walk.k), Slot::m);
    const double base = m ? m->data(0, 0) : 0;
    if (!m || !std::isfinite(base)) return false;
    std::vector<CurvePoint> points;
    for (int k = 0; k <= walk.k; ++k) {
        const Step& other = walk.trace.step(k);
        if (other.op != Op::exponentials || other.phase != step.phase) continue;
        const Value* from = value_in(walk.trace, walk.trace.reads(k), Slot::m);
        if (!from || from->data(0, 0) != base) continue;
        const double x = walk.trace.live(Slot::x, other.j, k).value->data(0, 0);
        points.push_back({x - base, "i = " + str(other.j), Role::S});
        points.back().chosen = k == walk.k;
        points.back().digits = &walk.trace.digits(Slot::P);
    }
    constexpr std::size_t most = 4;  // have their names beside them in a low pane, too
    if (points.size() > most) points.erase(points.begin(), points.end() - 1);
    curve(c, {a.x, a.y + 6, a.w, a.h - 6}, points, phase);
    return true;
}

// What the pass has made so far: shares, which together are 1, or terms that no maximum was taken from.
bool draw_so_far(const Canvas& c, const AppState& state, const SoftmaxWalk& walk, const Rect& a,
                 float phase) {
    const Step& step = walk.step();
    const bool shares = step.op == Op::divide;
    if ((!shares && step.op != Op::exponentials) || !drawable(state)) return false;
    // The places of those to come are kept, so that nothing jumps, nor does the scale.
    constexpr int most = 16;
    const int places = walk.N() <= most ? walk.N() : step.j + 1;
    const float slot = a.w / px(places),
                widest = text_width(Face::regular, size::small, "i = " + str(places - 1));
    const std::string letter = widest + 4 <= slot ? "i = " : "";
    std::vector<Bar> list;
    double largest = 1;
    for (int k = 0; k < walk.trace.size(); ++k) {
        const Step& other = walk.trace.step(k);
        if (other.op != step.op || other.phase != step.phase) continue;
        const Access made = walk.trace.writes(k).front();
        const double value = walk.trace.value(made.value).data(0, 0);
        if (!std::isfinite(value)) return false;
        if (!shares) largest = std::max(largest, value);
        if (k > walk.k) continue;
        list.push_back({letter + str(other.j), value, Role::S});
        list.back().digits = &walk.trace.digits(made.slot);
    }
    for (int n = static_cast<int>(list.size()); n < places; ++n)
        list.push_back({letter + str(n), 0, Role::S, {}, true});
    c.text(a.x, a.y + 11.5f, shares ? "shares so far" : "terms so far", size::body, c.theme->t2);
    bars(c, {a.x, a.y + 22, a.w, a.h - 22}, list, false, {0, largest}, phase);
    return true;
}

// The step to scale; or, with E, the line of the derivation.
void draw_lens(const Canvas& c, AppState& state, const SoftmaxWalk& walk, const Rect& a) {
    c.well(a.x, a.y, a.w, a.h);
    const PanelPart part(c, "Lens", a);
    const Enlarged large(c, {a.x, a.y}, size::far_growth);
    const Rect inner{8, 5, a.w / size::far_growth - 16, a.h / size::far_growth - 10};
    const float now = phase(state);
    if (!draw_correction(large.c, walk, inner, now) && !draw_weight(large.c, state, walk, inner, now) &&
        !draw_so_far(large.c, state, walk, inner, now))
        softmax_running(large.c, state, running_value(walk), inner);
}

void draw_argument(const Canvas& c, AppState& state, const Rect& a) {
    const PanelPart part(c, "Lens", a);
    const Enlarged large(c, {a.x, a.y}, size::far_growth);
    softmax_arguments(large.c, state, {0, 0, a.w / size::far_growth, a.h / size::far_growth});
}

}  // namespace

void softmax_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& body) {
    follow_component(state);
    // A line of the derivation is no step: it has no words above it. Above the card of a tour these stand
    // clear of the ring, which goes round them, too.
    const bool words_above = state.softmax.tab == SoftmaxPage::values && !quiz_waits(state);
    const float closer = body.h < 350 ? 7 : 0,
                up = (state.softmax.tab == SoftmaxPage::values ? 0 : frame_up) - closer;
    const Rect a{body.x, body.y - up, body.w, body.h + up};
    const SoftmaxWalk walk = softmax_walk(state);
    // With the words of the frame above it, or a tour's ring would run through them
    const float words = words_above ? frame_up + 10 + .6f * closer : 8, foot = closer > 0 ? 5 : 8;
    note_part(c, {a.x - 8, a.y - words, a.w + 16, a.h + words + foot}, form_title(walk.form));
    const float row_h = std::min(132.0f, a.h * .33f),
                y = a.y + row_h +
                    (a.h >= 400 ? 22.0f
                     : up > 0   ? 14.0f
                                : 20.0f),
                h = a.bottom() - y;
    const bool asked = quiz_waits(state);  // a question asks what the drawing would tell
    const bool values = asked || state.softmax.tab == SoftmaxPage::values;
    const Op op = walk.step().op;
    if (values && !asked && h >= least_lens_h && short_row(walk, a)) {
        const float w = names_w + px(walk.N()) * least_element_w, x = a.x + w + 28, top = a.y - frame_up;
        draw_row(c, state, walk, {a.x, a.y, w, row_h}, true);
        draw_frame_word_over(c, a, words_of_table(op));  // over the column that is lit
        draw_cards(c, state, walk, {a.x, y, w, h});
        draw_frame_word(c, x, top, word_of_drawing(op));
        draw_reads(c, walk, {x, a.y, a.right() - x, head_h}, top, top);
        return draw_lens(c, state, walk, {x, a.y + 10, a.right() - x, a.h - 10});
    }
    draw_row(c, state, walk, {a.x, a.y, a.w, row_h}, false);
    if (values && !asked) draw_frame_word_over(c, a, words_of_table(op));
    if (!values) return draw_argument(c, state, {a.x, y, a.w, h});
    const float w = asked || h < least_lens_h ? a.w : std::min(440.0f, a.w * .36f);
    draw_cards(c, state, walk, {a.x, y, w, h});
    if (w == a.w) return;
    const Rect lens{a.x + w + 24, y, a.w - w - 24, h};
    draw_lens(c, state, walk, lens);
    draw_frame_word_in_border(c, lens, word_of_drawing(op));
}

}  // namespace tilewalk::ui
