// One step of the timeline: its symbol, and what it loads, stores, skips or raises.
#include "app/ui/kit/items.h"
#include "app/ui/shell/timeline_parts.h"
#include "app/ui/state/quiz.h"
#include "core/walk/formula.h"
#include "core/walk/traffic.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

namespace tilewalk::ui {

namespace {

bool grows_in_hbm(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (k == 0 || trace.lesson().by_cell || (op != Op::dq && op != Op::dk && op != Op::dv)) return false;
    const Traffic now = trace.step(k).traffic, before = trace.step(k - 1).traffic;
    return now.hbm_read > before.hbm_read && now.hbm_write > before.hbm_write;
}

// Zeros that a sum in HBM begins with go there, too.
bool goes_to_hbm(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    return is_store(op) || (op == Op::init && moved_by(trace, k) > 0);
}

enum class Rose { no, yes, unknown };

// Whether the maximum rose for any row at a new_max step; unknown until the walk has been there.
Rose max_rose(const AppState& state, int k) {
    if (state.trace->step(k).op != Op::new_max) return Rose::no;
    if (k > state.cursor.step) return Rose::unknown;
    return maximum_rises(*state.trace, k) ? Rose::yes : Rose::no;
}

// From rank to rank: an arrow each way, the one above the other, or two heads where that is too high.
void exchange_mark(const Canvas& c, Point at, float s, ImU32 ink, bool low) {
    for (const float way : {-1.0f, 1.0f}) {
        const float y = at.y - (low ? 0 : way * .65f * s), base = at.x + (low ? way * .6f * s : 0),
                    half = low ? .8f * s : .65f * s;
        c.polygon({{base + way * s, y}, {base, y - half}, {base, y + half}}, ink);
        if (!low) c.line({base - way * s, y}, {base, y}, ink, 1.4f);
    }
}

// An arrow head down, of what comes, or up.
void way_mark(const Canvas& c, Point at, float s, bool down, float reach, ImU32 ink) {
    const float tip = down ? reach : -reach;
    c.polygon({{at.x - s, at.y - tip}, {at.x + s, at.y - tip}, {at.x, at.y + tip}}, ink);
}

// What comes or goes, beside the symbol; where that takes all the room, small above it.
void transfer_mark(const Canvas& c, Op op, float x, float y, float w, float h, ImU32 ink, bool above) {
    // In a low lane no mark reaches into the next one.
    const float s = std::min(above    ? 2.4f
                             : w < 40 ? 3.0f
                                      : 3.5f,
                             .5f * h),
                mid_x = above ? x + w / 2 : x + (w < 40 ? 2 : 5) + s,
                mid = above ? y + (h < 18 ? 1.2f : 2.2f) : y + h / 2;
    if (op == Op::exchange || op == Op::exchange_gradients)
        return exchange_mark(c, {mid_x, mid}, s, ink, above || h < 12);
    way_mark(c, {mid_x, mid}, s, is_load(op), above ? .8f * s : s, ink);
}

constexpr float mark_over = 3.2f;  // half of a mark over a cell; its middle is as far above that, and a bit

// On stage all marks stand over the cells, whatever room is in these. True if there is one.
bool transfer_over(const Canvas& c, const Trace& trace, int k, float x, float y, float w, ImU32 ink) {
    const Op op = trace.step(k).op;
    constexpr float s = mark_over, aside = 1.3f * s;
    const Point at{x + w / 2, y - s - 1};
    if (op == Op::exchange || op == Op::exchange_gradients)
        exchange_mark(c, at, s, ink, true);
    else if (is_load(op) || goes_to_hbm(trace, k))
        way_mark(c, at, s, is_load(op), .8f * s, ink);
    else if (grows_in_hbm(trace, k)) {
        way_mark(c, {at.x - aside, at.y}, s, true, .8f * s, ink);
        way_mark(c, {at.x + aside, at.y}, s, false, .8f * s, ink);
    } else
        return false;
    note_part(c, {at.x - 2 * s, at.y - s, 4 * s, 2 * s}, "way mark");
    return true;
}

void marks(const Canvas& c, const AppState& state, int k, float x, float y, float w, float h, ImU32 ink,
           bool current, bool large, bool above, bool over) {
    if (over && transfer_over(c, *state.trace, k, x, y, w, ink)) return;
    const Op op = state.trace->step(k).op;
    const float tx = x + (w < 40 ? 2 : 5), s3 = w < 40 ? 3.0f : 3.5f;
    if (!large && (is_load(op) || goes_to_hbm(*state.trace, k))) transfer_mark(c, op, x, y, w, h, ink, above);
    // A sum that grows in HBM is read and written in one step: both marks, above each other.
    if (!large && w >= 34 && grows_in_hbm(*state.trace, k)) {
        const float mid = y + h / 2;
        c.polygon({{tx, mid - 1.5f}, {tx + s3, mid - 1.5f - 2 * s3}, {tx + 2 * s3, mid - 1.5f}}, ink);
        c.polygon({{tx, mid + 1.5f}, {tx + 2 * s3, mid + 1.5f}, {tx + s3, mid + 1.5f + 2 * s3}}, ink);
    }
    const Rose rose = max_rose(state, k);
    if (rose == Rose::no || w < 14) return;
    const bool roomy = w >= 34;  // otherwise the mark keeps to the corner, clear of the symbol
    const float s = large ? 7.0f : over ? mark_over : roomy ? 4.0f : 3.0f, in = roomy ? 6.0f : 3.8f;
    const float X = large || over ? x + w / 2 : x + w - in, Y = large ? y + h / 2 : over ? y - s - 1 : y + in;
    note_part(c, {X - s, Y - s, 2 * s, 2 * s}, "max rose");
    const Point diamond[] = {{X, Y - s}, {X + s, Y}, {X, Y + s}, {X - s, Y}};
    if (rose == Rose::yes)
        c.polygon(diamond, current && !over ? c.theme->inv : hue(*c.theme, Role::m));
    else
        c.polyline(diamond, c.theme->t3, 1.2f, true);
}

constexpr float symbol_size = 14, small_symbol = 12, tiny_symbol = 11;

// Without spaces, and a sign in place of a word.
Line narrow_symbol(Line symbol, Op op) {
    std::erase_if(symbol, [](const Span& s) { return s.text == " "; });
    for (Span& s : symbol)
        if (s.text == "÷ ") s.text = "÷";
    if (op == Op::init) symbol = {word("∅")};
    if (op == Op::mask) symbol = {word("−∞")};
    if (op == Op::softcap) symbol = {word("c")};  // of "cap"
    if (op == Op::cap_gradient) symbol = {word("c′")};
    if (op == Op::bias) symbol = {word("−")};
    if (op == Op::loss) symbol = {word("Σ")};
    return symbol;
}

// Ink, not hue: this is chrome. Letters stand together in wide cells, too: "KV" is one mark at every size.
Line plain_symbol(const Trace& trace, int k) {
    Line symbol = step_symbol(trace, k);
    std::erase_if(symbol, [](const Span& s) { return s.text == " "; });
    for (Span& s : symbol) s.role = Role::none;
    return symbol;
}

// The op's symbol with all its letters: with words, else with signs, else smaller, else nothing.
std::pair<Line, float> whole_symbol(const Canvas& c, const Trace& trace, int k, float room) {
    const Line symbol = plain_symbol(trace, k), narrow = narrow_symbol(symbol, trace.step(k).op);
    constexpr float air = 4;  // words do not touch the border of their cell
    if (rich_width(c, symbol, symbol_size) + air <= room) return {symbol, symbol_size};
    for (const float size : {symbol_size, small_symbol})
        if (rich_width(c, narrow, size) <= room) return {narrow, size};
    return {};
}

// The index of "dW" tells it from its neighbours: the letters are as narrow as those of the pseudocode.
Line narrow_with_index(const Line& symbol) {
    if (symbol.size() < 2 || symbol[1].script != Span::Script::sub) return {};
    Line out = symbol;
    for (Span& span : out) span.face = Span::Face::number;
    return out;
}

// The same; rather than nothing, some of its letters.
std::pair<Line, float> fitting_symbol(const Canvas& c, const Trace& trace, int k, float room) {
    if (auto whole = whole_symbol(c, trace, k, room); !whole.first.empty()) return whole;
    Line symbol = narrow_symbol(plain_symbol(trace, k), trace.step(k).op);
    const auto fits = [&](float size) { return rich_width(c, symbol, size) <= room; };
    if (const Line indexed = narrow_with_index(symbol); !indexed.empty()) {
        if (fits(tiny_symbol)) return {symbol, tiny_symbol};
        for (const float size : {symbol_size, small_symbol, tiny_symbol})
            if (rich_width(c, indexed, size) <= room + 1.5f) return {indexed, size};
    }
    // "WQ" for W with its index below, up to the edges
    const auto flat_fits = [&](const Line& line) { return rich_width(c, line, tiny_symbol) <= room + 2; };
    std::string letters;
    for (const Span& s : symbol) letters += s.text;
    Span slanted = word(letters);
    slanted.face = Span::Face::symbol;
    if (rich_width(c, {slanted}, small_symbol) <= room + 2) return {{slanted}, small_symbol};
    if (const Line flat = {word(letters)}; flat_fits(flat))
        return {flat, rich_width(c, flat, small_symbol) <= room + 2 ? small_symbol : tiny_symbol};
    // "dW" for what its place in the lane tells apart; of what is loaded or stored together, the first stands
    // for all.
    symbol.erase(symbol.begin() + 1, symbol.end());
    for (float size : {symbol_size, small_symbol, tiny_symbol})
        if (fits(size)) return {symbol, size};
    // The letters of the pseudocode are the narrowest.
    for (const Line& flat : {Line{word(symbol.front().text)}, Line{number(symbol.front().text)}})
        if (flat_fits(flat)) return {flat, tiny_symbol};
    return {};
}

}  // namespace

float least_cell(const Canvas& c, const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (op == Op::skip) return 0;
    // The mark of a transfer may stand above its letters.
    return rich_width(c, narrow_symbol(step_symbol(trace, k), op), symbol_size) + 4;
}

namespace {

// On a plate over the hatching, as many as have room.
void skipped_words(const Canvas& c, const Rect& a, ImU32 plate, ImU32 ink) {
    for (const char* words :
         {"skipped: the mask hides every pair of this tile", "masked, skipped", "skipped"}) {
        const float said = text_width(Face::regular, size::small, words);
        if (a.h < 16 || said + 20 > a.w) continue;
        c.rect(a.x + (a.w - said) / 2 - 5, a.y + 1, said + 10, a.h - 2, plate, radius::bar);
        return void(c.text(a.x + a.w / 2, a.middle(), words, size::small, ink, Align::center));
    }
}

}  // namespace

// Nothing was computed: no surface, an empty place, crossed.
void skipped_cell(const Canvas& c, float x, float y, float w, float h, ImU32 colour) {
    c.to_come(x, y, w, h);
    c.crossed(x + 2, y + 2, w - 4, h - 4, colour, w < 14 ? 6.0f : 10.0f);
    skipped_words(c, {x, y, w, h}, c.theme->bg, c.theme->t2);
}

// Of the matrices of this step some have numbers below zero, whose cells are grey.
static bool shows_negative(const AppState& state) {
    const Trace& trace = *state.trace;
    const auto negative = [&](const Access& access) {
        const Matrix& data = trace.value(access.value).data;
        constexpr Eigen::Index most = 1 << 14;  // looked at in every frame
        return data.size() <= most && (data.array() < 0 && data.array() > minus_infinity).any();
    };
    const int k = state.cursor.step;
    // A question asks what is written.
    return std::ranges::any_of(trace.reads(k), negative) ||
           (!quiz_waits(state) && std::ranges::any_of(trace.writes(k), negative));
}

void legend_of_marks(const Canvas& c, const AppState& state, const TimelineGrid& grid, const LaneWindow& v,
                     const Rect& a) {
    const Trace& trace = *state.trace;
    struct Mark {
        const char *words, *brief;
        bool seen;
        std::function<void(Point)> draw;
    };
    enum { negative, from_hbm, to_hbm, between_ranks, may_rise, rises };
    const ImU32 ink = c.theme->t2;
    constexpr float s = mark_over;
    const auto diamond = [](Point at) {
        return std::array<Point, 4>{{{at.x, at.y - s}, {at.x + s, at.y}, {at.x, at.y + s}, {at.x - s, at.y}}};
    };
    const auto square = [&](Point at) {
        c.rect(at.x - s, at.y - s, 2 * s, 2 * s, signed_ramp(*c.theme, Role::S, -1), 2);
    };
    Mark marks[] = {
        {"negative", "below 0", shows_negative(state), square},
        {"from HBM", "load", false, [&](Point at) { way_mark(c, at, s, true, .8f * s, ink); }},
        {"to HBM", "store", false, [&](Point at) { way_mark(c, at, s, false, .8f * s, ink); }},
        {"between ranks", "send", false, [&](Point at) { exchange_mark(c, at, s, ink, true); }},
        {"maximum may rise", "may rise", false,
         [&](Point at) { c.polyline(diamond(at), c.theme->t3, 1.2f, true); }},
        {"maximum rises", "rises", false, [&](Point at) { c.polygon(diamond(at), hue(*c.theme, Role::m)); }}};
    for (int k = 0; k < trace.size(); ++k) {
        if (cell_of(grid, v, k).w <= 0 || (hides_what_comes(state) && k > state.cursor.step)) continue;
        const Op op = trace.step(k).op;
        const bool message = op == Op::exchange || op == Op::exchange_gradients,
                   grows = grows_in_hbm(trace, k);
        marks[from_hbm].seen |= (is_load(op) && !message) || grows;
        marks[to_hbm].seen |= goes_to_hbm(trace, k) || grows;
        marks[between_ranks].seen |= message;
        marks[may_rise].seen |= max_rose(state, k) == Rose::unknown;
        marks[rises].seen |= max_rose(state, k) == Rose::yes;
    }
    if (marks[may_rise].seen) marks[rises].words = state.lesson->one_row ? "rises" : "rises in some row";
    constexpr float to_words = 8, apart = 20;
    // All of them, however short, rather than some
    float wanted = -apart;
    for (const Mark& mark : marks)
        if (mark.seen)
            wanted += text_width(Face::regular, size::small, mark.words) + to_words + 2 * s + apart;
    const bool brief = wanted > a.w;
    float x = a.right();
    for (auto mark = std::rbegin(marks); mark != std::rend(marks); ++mark) {
        const char* const words = brief ? mark->brief : mark->words;
        const float w = text_width(Face::regular, size::small, words);
        if (!mark->seen || x - w - to_words - 2 * s < a.x) continue;
        c.text(x, a.middle(), words, size::small, c.theme->t3, Align::right);
        x -= w + to_words + s;
        mark->draw({x, a.middle()});
        x -= s + apart;
    }
}

void waiting_cell(const Canvas& c, float x, float y, float w, float h) {
    c.frame(x + .5f, y + .5f, w - 1, h - 1, c.theme->line, 1,
            std::min({5.0f, w / 4, std::max(1.0f, h / 2 - .5f)}));
}

void step_cell(const Canvas& c, const AppState& state, int k, float x, float y, float w, float h,
               const LaneStyle& style) {
    const Theme& t = *c.theme;
    const bool done = k < state.cursor.step, current = k == state.cursor.step,
               skip = state.trace->step(k).op == Op::skip;
    const bool meanwhile =
        !done && !current && state.trace->step(k).when.over_before(state.trace->step(state.cursor.step).when);
    const float r = std::min({5.0f, w / 4, std::max(1.0f, h / 2 - .5f)});
    if (current) c.rect(x - 3, y - 3, w + 6, h + 6, with_alpha(t.focus, .2f), 7);
    if (skip && !current) return skipped_cell(c, x, y, w, h, done ? t.t3 : t.line2);
    if (current || done)
        c.rect(x, y, w, h, current ? t.t1 : style.symbols ? t.raised : mix(t.raised, t.line2, .6f), r);
    else
        waiting_cell(c, x, y, w, h);
    if (meanwhile) c.meanwhile(x, y, w, h, r);
    if (skip) c.crossed(x + 3, y + 3, w - 6, h - 6, t.inv, 10), skipped_words(c, {x, y, w, h}, t.t1, t.inv);
    if (w < 14 || skip) return;
    const Op op = state.trace->step(k).op;
    const bool transfer =
        is_load(op) || goes_to_hbm(*state.trace, k) || (w >= 34 && grows_in_hbm(*state.trace, k));
    const ImU32 ink = current ? t.inv : done ? t.t1 : t.t2;
    bool marked = true, above = false;
    const bool outside = style.stage;
    if (style.symbols && h >= least_with_symbol) {
        float mark = transfer && !outside ? (w < 40 ? 8.0f : 13.0f) : 0.0f;
        above = !outside && (is_load(op) || goes_to_hbm(*state.trace, k)) &&
                whole_symbol(c, *state.trace, k, w - mark - 2).first.empty() &&
                !whole_symbol(c, *state.trace, k, w - 2).first.empty();
        if (above) mark = 0;
        const float air = outside && w >= 40 ? 8 : 2;  // from the back row letters at an edge touch it
        auto [symbol, size] = fitting_symbol(c, *state.trace, k, w - mark - air);
        // What is moved says more than that it is moved.
        marked = mark == 0 || above || !symbol.empty();
        if (!marked) std::tie(symbol, size) = fitting_symbol(c, *state.trace, k, w - 2), mark = 0;
        marked |= symbol.empty();
        if (above && h < 18) size = std::min(size, small_symbol);
        // An index hangs below its letter: both together stand in the middle.
        const bool hangs =
            std::ranges::any_of(symbol, [](const Span& s) { return s.script == Span::Script::sub; });
        const float lower = hangs ? (outside ? -.06f : -.1f) * size : !above ? .5f : h < 18 ? 1.8f : 2;
        const bool rose = max_rose(state, k) != Rose::no && w >= 14 && w < 34 && !outside;
        const float aside = rose ? -2.5f : 0;  // of its mark
        c.rich(x + (w + mark) / 2 + aside, y + h / 2 + lower, symbol, size, Align::center, ink);
    }
    if (!marked || (outside && current && style.title)) return;  // its name stands there
    const ImU32 quiet = done ? t.t2 : t.t3, own = outside ? t.t1 : t.inv;
    marks(c, state, k, x, y, w, h, current ? own : quiet, current, !style.symbols, above, outside);
}

}  // namespace tilewalk::ui
