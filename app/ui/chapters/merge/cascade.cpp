// A shared prefix: who sees which keys, where their blocks lie in HBM, and the bytes of both ways; beside it
// the pass at hand in SRAM or, at its end, both parts of a row and their merge.
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/chapters/merge/ledger.h"
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/lessons/cascade/cascade.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// The pass at hand, and which blocks of keys have been read by now.
struct CascadeNow {
    explicit CascadeNow(const AppState& state)
        : kept(state.trace), trace(*kept), k(state.cursor.step), all(trace.problem()),
          sequence(sequence_of(trace, k)), block(trace.step(k).j) {
        for (int step = 0; step <= k; ++step)
            if (trace.step(step).op == Op::load_kv) read = std::max(read, trace.step(step).j + 1);
    }

    std::shared_ptr<const Trace> kept;  ///< a button may replace the walk while it is drawn
    const Trace& trace;
    int k;
    SharedPrefix all;
    int sequence;  ///< −1: all of them, at the prefix
    int block;     ///< of keys, that the step is about; −1: none
    int read = 0;  ///< blocks that have been read: they come in order

    /// The parts of a row are made or merged, not a block taken in.
    bool of_parts() const {
        const Op op = trace.step(k).op;
        return op == Op::normalize || op == Op::load || op == Op::store || is_merge(op);
    }
    /// Both parts lie on chip: on stage their table says more than the step alone.
    bool merges() const { return is_merge(trace.step(k).op); }
    /// The sequence that a block belongs to; −1: the prefix.
    // It lies outside the window of all queries that it might be read for.
    bool skips(int number) const { return all.is_skipped(owner(number), number); }
    int owner(int number) const { return all.sequence_of_key(all.block(number).first); }
};

std::string pass_name(const CascadeNow& now) {
    return now.sequence < 0 ? std::string("prefix, all queries") : "sequence " + str(now.sequence);
}

// K with the number of its block, in the ink that is read on this fill; 0: in its hue.
void block_name(const Canvas& c, int number, float x, float y, ImU32 fill) {
    Line name = slot_symbol(Slot::K, number);
    const bool legible = fill == 0 || contrast(hue(*c.theme, Role::K), fill) >= c.theme->text_contrast;
    for (Span& span : name)
        if (!legible) span.role = Role::none;
    c.rich(x, y, name, size::body, Align::center, legible ? 0 : ink_on(*c.theme, fill));
}

// ---- Who sees which keys: rows are queries, columns keys

struct SeesMap {
    const Canvas& c;
    const CascadeNow& now;
    Rect a;
    const Problem& p = now.trace.problem();
    float names = 50, head = 20;
    float cw = std::min(46.0f, (a.w - names) / px(p.N_kv())), ch = std::min(40.0f, (a.h - head) / px(p.N()));

    float x(int key) const { return a.x + names + px(key) * cw; }
    float y(int query) const { return a.y + head + px(query) * ch; }
    float height() const { return head + px(p.N()) * ch; }

    // Rows of the queries that see it
    std::pair<int, int> rows_of(int number) const {
        const int owner = now.owner(number);
        if (owner < 0) return {0, p.N()};
        return {now.all.of(owner).first_query, now.all.of(owner).queries};
    }

    void block(int number) const {
        const Theme& t = *c.theme;
        const KeyBlock& keys = now.all.block(number);
        const auto [first, count] = rows_of(number);
        const Rect at{x(keys.first) + 1, y(first) + 1, px(keys.keys) * cw - 2, px(count) * ch - 2};
        const ImU32 ink = hue(t, Role::K);
        const bool current = number == now.block, done = number < now.read && !now.skips(number);
        const ImU32 fill = current && now.skips(number) ? t.panel : mix(t.panel, ink, current ? .26f : .14f);
        // No line between rows runs through its name.
        c.rect(at.x, at.y, at.w, at.h, current || done ? fill : c.theme->panel, radius::bar);
        if (current)
            c.frame(at.x, at.y, at.w, at.h, t.focus, 2, radius::bar);
        else if (done)
            c.frame(at.x + .5f, at.y + .5f, at.w - 1, at.h - 1, ink, 1, radius::bar);
        else
            c.to_come(at.x, at.y, at.w, at.h);
        hide(keys, first, count);
        const Line name = slot_symbol(Slot::K, number);
        if (rich_width(c, name, size::body) + 4 > at.w || at.h < 20) return;
        block_name(c, number, at.x + at.w / 2, at.middle(), current || done ? fill : 0);
    }

    // Keys of the block that the mask hides from a query
    void hide(const KeyBlock& keys, int first, int count) const {
        for (int query = first; query < first + count; ++query)
            for (int key = keys.first; key < keys.first + keys.keys; ++key)
                if (!now.all.visible(query, key))
                    c.crossed(x(key) + 2, y(query) + 2, cw - 4, ch - 4, c.theme->line2);
    }

    void sequence(int n) const {
        const Sequence& s = now.all.of(n);
        const bool own = n == now.sequence;
        const float middle = (y(s.first_query) + y(s.first_query + s.queries)) / 2;
        const auto called = [](int one) { return "seq. " + str(one); };
        // All in one way
        const bool room =
            std::max(text_width(Face::medium, size::small, called(0)),
                     text_width(Face::medium, size::small, called(now.all.count() - 1))) <= names - 6;
        if (px(s.queries) * ch >= 14)
            c.text(a.x + names - 6, middle, room ? called(n) : str(n), size::small,
                   own || now.sequence < 0 ? c.theme->t1 : c.theme->t3, Face::medium, Align::right);
        if (n == 0) return;
        const float line = y(s.first_query);
        c.line({a.x, line}, {x(p.N_kv()), line}, c.theme->line);
    }

    void heads() const {
        const auto label = [&](int first, int end, std::initializer_list<const char*> choices) {
            const float w = x(end) - x(first) + 4;
            for (const char* words : choices)
                if (text_width(Face::regular, size::small, words) <= w)
                    return void(c.text((x(first) + x(end)) / 2, a.y + head / 2 - 2, words, size::small,
                                       c.theme->t2, Align::center));
        };
        label(0, now.all.prefix, {now.all.count() > 1 ? "prefix, for all" : "prefix", "prefix"});
        label(now.all.prefix, p.N_kv(), {"own keys", "own"});
        if (now.all.prefix == 0 || now.all.prefix == p.N_kv()) return;
        const float at = x(now.all.prefix);
        c.dashed_line({at, a.y + head - 4}, {at, y(p.N())}, c.theme->t3, 1.2f);
    }

    float draw() const {
        heads();
        for (int n = 0; n < now.all.count(); ++n) sequence(n);
        for (int number = 0; number < std::ssize(now.all.blocks); ++number) block(number);
        return height();
    }
};

// ---- Where the blocks lie

constexpr float numbers_h = 16;  // of the places, above their boxes

// A box for each place, with the block that lies there; of pages with the number that the tables call it by.
float draw_places(const Canvas& c, const CascadeNow& now, const Rect& a, bool numbered) {
    const Theme& t = *c.theme;
    const int count = static_cast<int>(now.all.blocks.size());
    const float w = std::min(44.0f, a.w / px(std::max(1, count)));
    const bool room = text_width(Face::mono, size::small, str(count - 1)) <= w - 4;
    const float top = numbered && room ? numbers_h : 0, h = std::min(30.0f, a.h - top);
    for (int place = 0; place < count; ++place) {
        const int number = now.all.block_at(place);
        const Rect at{a.x + px(place) * w + 1, a.y + top, w - 2, h};
        if (top > 0)
            c.text(at.x + at.w / 2, a.y + top / 2 - 1, str(place), size::small,
                   number == now.block ? t.t1 : t.t3, Face::mono, Align::center);
        const bool current = number == now.block, done = number < now.read && !now.skips(number);
        const ImU32 ink = hue(t, Role::K);
        const ImU32 fill = current && now.skips(number) ? t.panel : mix(t.panel, ink, current ? .26f : .14f);
        // No line between rows runs through its name.
        c.rect(at.x, at.y, at.w, at.h, current || done ? fill : c.theme->panel, radius::bar);
        c.frame(at.x + .5f, at.y + .5f, at.w - 1, at.h - 1,
                current ? t.focus
                : done  ? ink
                        : t.line2,
                current ? 2.0f : 1.0f, radius::bar);
        const Line name = slot_symbol(Slot::K, number);
        if (rich_width(c, name, size::body) + 2 <= at.w && h >= 20)
            block_name(c, number, at.x + at.w / 2, at.middle(), current || done ? fill : 0);
    }
    return top + h;
}

// "0: 3 0 | 4": the places of the prefix, which all share, and those of its own.
std::string table_of(const CascadeNow& now, int sequence) {
    const auto places = [&](int of) {
        std::string out;
        const SharedPrefix::Range range = now.all.blocks_of(of);
        for (int number = range.first; number < range.end(); ++number)
            out += " " + str(now.all.place(number));
        return out.empty() ? " –" : out;
    };
    return "seq. " + str(sequence) + ":" + places(-1) + "  |" + places(sequence);
}

// The place of each page, and the page tables; without pages the blocks lie in order.
void draw_pages(const Canvas& c, const CascadeNow& now, const Rect& a) {
    note_part(c, a, "Pages");
    const bool paged = now.trace.problem().options.pages > 0;
    const float title = c.text(a.x, a.y + 8, paged ? "Pages" : "Blocks", size::body, 0, Face::semibold);
    const char* words = paged ? "where each lies" : "lie in order";
    if (title + 10 + text_width(Face::regular, size::small, words) <= a.w)
        c.text(a.x + title + 10, a.y + 8, words, size::small, c.theme->t3);
    if (a.h < 44) return;
    float y = a.y + 20;
    const float places_h = paged ? 30 + numbers_h : 30;
    y += draw_places(c, now, {a.x, y, a.w, std::min(places_h, a.bottom() - y)}, paged) + 12;
    if (!paged) return;
    for (int n = 0; n < now.all.count() && y + 8 <= a.bottom(); ++n, y += 18) {
        const bool more = n + 1 < now.all.count() && y + 18 + 8 > a.bottom();
        c.text_within(a.x, y, a.w, more ? "… of " + str(now.all.count()) + " tables" : table_of(now, n),
                      size::small, n == now.sequence ? c.theme->t1 : c.theme->t2, Face::mono);
    }
}

// ---- Bytes of both ways

// Each sequence alone reads the prefix, too; and nothing is left for a second kernel.
Ledger plain_ledger(const Ledger& shared, const CascadeNow& now) {
    Ledger out;
    const std::int64_t read_again = saved_by_sharing(now.trace.problem()) / 2;  // of K, and of V
    for (const LedgerSegment& one : shared.segments) {
        if (one.name == "parts") continue;
        const bool of_keys = one.role == Role::K || one.role == Role::V;
        const std::int64_t bytes = of_keys              ? one.bytes + read_again
                                   : one.name == "Q"    ? one.bytes / 2
                                   : one.name == "sink" ? one.bytes * now.all.count()
                                                        : one.bytes;
        out.add(one.name.c_str(), one.role, bytes, bytes);
    }
    return out;
}

std::string verdict_of(const CascadeNow& now) {
    const Problem& p = now.trace.problem();
    const std::int64_t pays = prefix_that_pays(p);
    if (now.all.count() == 1) return "one sequence: nothing is shared";
    if (p.window)
        return cascade.model(p).total() < each_sequence_alone(p).total()
                   ? "fewer: what they share is read once"
                   : "the window leaves little to share";
    return now.all.prefix >= pays ? "fewer: prefix read once"
                                  : "pays from a prefix of " + counted(pays, "key");
}

constexpr float bytes_h = 132;

void draw_bytes(const Canvas& c, const CascadeNow& now, const Rect& a) {
    const Ledger shared = ledger_of(now.trace, now.k), plain = plain_ledger(shared, now);
    const std::int64_t most = std::max(shared.bytes, plain.bytes);
    float y = a.y;
    c.text(a.x, y + 10, "HBM bytes", size::body, 0, Face::semibold);
    const auto line = [&](const char* name, const std::string& bytes, const Ledger& ledger) {
        c.text_within(a.x, y + 32, a.w - text_width(Face::mono, size::small, bytes) - 8, name, size::small,
                      c.theme->t2);
        c.text(a.right(), y + 32, bytes, size::small, c.theme->t1, Face::mono, Align::right);
        ledger_bar(c, {a.x, y + 42, a.w, 13}, ledger, most);
        y += 40;
    };
    line(a.w > 210 ? "Each alone" : "Alone", format_size(plain.bytes), plain);
    const std::string done = format_size(shared.so_far), of_all = done + " of " + format_size(shared.bytes);
    const float room = a.w - text_width(Face::regular, size::small, "Shared") - 8;
    line("Shared", text_width(Face::mono, size::small, of_all) <= room ? of_all : done, shared);
    std::string verdict = verdict_of(now);
    if (text_width(Face::regular, size::small, verdict) > a.w)
        verdict = replaced(verdict, "from a prefix of", "from");
    c.text_within(a.x, y + 32, a.w, verdict, size::small, c.theme->t2);
}

// ---- The choices

void choose(AppState& state, const Options& options) {
    Problem changed = latest_problem(state);
    changed.options = options;
    if (!validate(changed)) choose_merge(state, options);
}

// Prefix, sequences, keys of a page: typed where there is no room for buttons.
void choices(const Canvas& c, AppState& state, const CascadeNow& now, float x, float y, float w) {
    Options options = latest_problem(state).options;
    const Problem& p = now.trace.problem();
    const float each = (w - 16) / 3;
    const struct {
        const char *id, *name;
        int value, least, most;
    } all[] = {{"##prefix", "prefix", now.all.prefix, 0, p.N_kv()},
               {"##sequences", "seq.", now.all.count(), 1, std::min(64, p.N())},
               {"##pages", "page", p.options.pages, 0, p.N_kv()}};
    for (std::size_t n = 0; n < std::size(all); ++n) {
        int value = all[n].value;
        const float at = x + px(static_cast<int>(n)) * (each + 8);
        c.text_within(at, y + 6, each, all[n].name, size::small, c.theme->t2);
        if (!stepper(c, all[n].id, at, y + 16, each, value, all[n].least, all[n].most)) continue;
        options.page_table.clear();  // another number of pages
        if (n == 0) options.prefix = value;
        if (n == 1) options.sequences = value;
        if (n == 2) options.pages = value;
        choose(state, options);
    }
}

void left_panel(const Canvas& c, AppState& state, const CascadeNow& now, const Rect& a) {
    const Panel panel(c, "HBM", a, "HBM", hbm_subtitle(state, a));
    sink_in_title(c, state, a);
    const float x = a.inner_x(), w = a.inner_w(), top = a.y + 44;
    choices(c, state, now, x, top, w);
    const float map_top = top + 60, foot = a.bottom() - bytes_h, room = foot - map_top;
    const bool paged = now.trace.problem().options.pages > 0;
    const float tables = paged ? numbers_h + 18 * px(std::min(3, now.all.count())) : 0,
                pages_h = std::min(66 + tables, room * .45f);
    const Rect map{x, map_top, w, room - pages_h - 12};
    note_part(c, map, "Prefix");
    const float drawn = SeesMap{c, now, map}.draw();
    draw_pages(c, now, {x, std::min(map.y + drawn + 14, map.bottom() + 12), w, pages_h});
    rule(c, a, foot - 2);
    draw_bytes(c, now, {x, foot + 4, w, bytes_h});
}

// ---- The pass at hand

// Both parts and what they come to; the lens beside them on stage, below them elsewhere.
void parts_and_lens(const Canvas& c, AppState& state, const Rect& a) {
    const MergeNow merge(state);
    const float table_h = std::min(a.h * .55f, 230.0f);
    draw_parts(c, state, merge, {a.x, a.y, a.w, table_h});
    if (!quiz_waits(state))
        draw_merge_lens(c, state, merge, {a.x, a.y + table_h + 12, a.w, a.h - table_h - 12});
}

std::string row_at_hand(const AppState& state, const CascadeNow& now) {
    const MergeNow merge(state);
    const int first = now.sequence < 0 ? 0 : now.all.of(now.sequence).first_query;
    return "query " + str(first + merge.row);
}

void parts_panel(const Canvas& c, AppState& state, const CascadeNow& now, const Rect& a) {
    const Panel panel(c, "SRAM", a, "SRAM", pass_name(now) + ": " + row_at_hand(state, now));
    parts_and_lens(c, state, {a.inner_x(), a.y + 46, a.inner_w(), a.h - 46 - space::foot});
}

}  // namespace

void cascade_main(const Canvas& c, AppState& state, const Layout& layout) {
    const CascadeNow now(state);
    left_panel(c, state, now, layout.hbm);
    if (now.of_parts()) return parts_panel(c, state, now, layout.sram);
    sram_view(c, state, layout.sram, layout.tight);
}

// A part that is made now: what it is divided by, as in the table of parts.
static void cascade_lens(const Canvas& c, AppState& state, const Rect& a) {
    if (op_now(state) == Op::normalize) return draw_merge_lens(c, state, MergeNow(state), a);
    lens_view(c, state, a);
}

void cascade_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& a) {
    const CascadeNow now(state);
    const auto large_map = [&](const Rect& at) {
        note_part(c, at, "Prefix");
        const Enlarged large(c, {at.x, at.y}, size::far_growth);
        SeesMap{large.c, now, {0, 0, at.w / size::far_growth, at.h / size::far_growth}}.draw();
    };
    if (points_at(state, "Prefix")) return large_map(a);
    if (now.merges()) {
        note_part(c, a, "SRAM");
        parts_presenter(c, state, MergeNow(state), a);
        return;
    }
    // What is loaded now has its place among all keys beside it.
    const Op op = op_now(state);
    const bool beside = op == Op::load_q || op == Op::init || op == Op::load_kv;
    const float map_w = beside && a.w > 1000 ? 380.0f : 0;
    if (map_w > 0) large_map({a.x, a.y, map_w - 40, a.h});
    const Rect rest{a.x + map_w, a.y, a.w - map_w, a.h};
    note_part(c, rest, "SRAM");
    stage(c, state, rest, {slot_look, cascade_lens, false});
}

bool cascade_has_all_digits(const AppState& state, float w, float h) {
    return CascadeNow(state).merges() ? parts_have_all_digits(state, w) : stage_has_all_digits(state, w, h);
}

}  // namespace tilewalk::ui
