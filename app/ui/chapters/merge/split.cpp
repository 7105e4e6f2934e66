// Split keys: what lies in HBM and what it costs; the workers side by side, beside flash-forward on one of
// them; below, the split at hand in SRAM or, in the second kernel, the merge of all splits.
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/chapters/merge/ledger.h"
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/lessons/merge/split_kv.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// ---- HBM: bytes of both ways, and the partial results

// The same in one go: the queries once, K and V, O and L.
Ledger flash_ledger(const Ledger& split, int splits) {
    Ledger out;
    for (const LedgerSegment& one : split.segments)
        if (one.name != "parts") {
            const std::int64_t bytes = one.name == "Q" ? one.bytes / splits : one.bytes;
            out.add(one.name.c_str(), one.role, bytes, bytes);
        }
    return out;
}

void part_rows(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const int d = state.problem->d();
    // As many columns as have room for numbers
    const float room = a.w - 30 - 56;
    const int fewest = state.look[Slot::O_parts].letters_with(fewest_digits);
    const float least = px(fewest) * size::mono * size::small + 4;
    const int cols = std::clamp(static_cast<int>(room / least), 1, d);
    const float cw = std::min(room / px(cols), 46.0f), row = 30;
    const int rows = std::clamp(static_cast<int>((a.h - 26) / row), 1, static_cast<int>(now.parts.size()));
    const int first =
        std::clamp(std::max(0, now.part) - rows / 2, 0, static_cast<int>(now.parts.size()) - rows);
    c.rich(a.x + 26, a.y + 4, part_symbol(Slot::O_parts, ""), size::symbol);
    c.rich(a.right() - 44, a.y + 4, part_symbol(Slot::L_parts, ""), size::symbol);
    for (int n = 0; n < rows; ++n) {
        const int tile = first + n;
        const float y = a.y + 24 + px(n) * row;
        c.text(a.x + 14, y + 12, part_letter(tile), size::small, tile == now.part ? c.theme->t1 : c.theme->t2,
               Face::medium, Align::right);
        const auto draw = [&](Slot slot, float x, int across, float w) {
            const Held held = now.trace.live(slot, tile, now.k);
            MatrixLook look;
            look.slot = slot, look.value = held.value, look.x = x, look.y = y, look.cw = w, look.ch = 24;
            look.region = {tile, 0, 1, across};
            look.size = size::small, look.measured = true;
            look.digits = digits_in(state, slot, w, look.size);
            look.dim = !held || held.step != now.k;
            look.state = !held                ? CellState::pending
                         : held.step == now.k ? CellState::written
                                              : CellState::idle;
            if (held && (across < held.value->region.cols || held.value->region.rows > 1))
                look.window = Region{held.value->region.row + now.row, 0, 1, across};
            const std::string widget = "hbm " + str(tile);
            matrix(c, state, look, widget.c_str());
        };
        draw(Slot::O_parts, a.x + 26, cols, cw);
        draw(Slot::L_parts, a.right() - 48, 1, 46);
    }
    std::string shown = cols == d ? "" : cols == 1 ? "column 0" : "columns 0–" + str(cols - 1);
    if (rows < static_cast<int>(now.parts.size()))
        shown += (shown.empty() ? "" : ", ") + ("of " + counted(now.parts.size(), "split"));
    if (now.trace.problem().options.queries > 1) {
        const std::string query = "query " + str(now.query()), both = query + ", " + shown;
        shown = shown.empty() || text_width(Face::regular, size::small, both) > a.w - 26 ? query : both;
    }
    c.text(a.x + 26, a.y + 24 + px(rows) * row + 8, shown, size::small, c.theme->t3);
}

// Keys and values, below the partial results where those leave room: which block is read, which were.
void keys_and_values(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const Problem& p = *state.problem;
    constexpr float head = 34, gap = 18;
    const float cw = std::min(46.0f, (a.w - gap) / 2 / px(p.d())),
                ch = std::min(32.0f, (a.h - head) / px(p.N_kv()));
    if (px(p.N_kv()) * ch < 60) return;
    const Step& step = step_now(state);
    const int current = step.j >= 0 ? step.j : now.node >= 0 ? p.Tc() : -1;
    thumb(c, state, {Slot::K, true, p.N_kv(), p.d(), p.Bc, a.x, a.y + head, cw, ch, current});
    thumb(c, state,
          {Slot::V, true, p.N_kv(), p.d(), p.Bc, a.x + cw * px(p.d()) + gap, a.y + head, cw, ch, current});
}

// The same queries with flash-forward, on one worker
int ticks_of_flash(const Trace& trace);

void hbm_panel(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const Panel panel(c, "HBM", a, "HBM", hbm_subtitle(state, a));
    sink_in_title(c, state, a);
    const Theme& t = *c.theme;
    const Ledger split = ledger_of(now.trace, now.k);
    const Ledger flash = flash_ledger(split, static_cast<int>(now.parts.size()));
    const float below = 146, x = a.inner_x(), w = a.inner_w();
    // Workers are told one after the other, though they run side by side.
    const float title = c.text(x, a.y + 50, "Partial results", size::body, 0, Face::semibold);
    if (title + 108 < w) c.text(x + title + 10, a.y + 50, "up to this step", size::small, t.t3);
    const float room_of_parts = a.h - 68 - below - 12, parts_h = 56 + 30 * px(now.parts.size()),
                left = room_of_parts - parts_h;
    const bool keys = left >= 100;
    part_rows(c, state, now, {x, a.y + 68, w, keys ? parts_h : room_of_parts});
    if (keys) keys_and_values(c, state, now, {x + 2, a.y + 68 + parts_h, w - 4, left});
    float y = a.bottom() - below;
    rule(c, a, y - 4);
    c.text(x, y + 14, "HBM bytes, " + queries_in_words(now.trace.problem()), size::body, 0, Face::semibold);
    const std::int64_t most = std::max(split.bytes, flash.bytes);
    const auto line = [&](const char* name, const std::string& bytes, const Ledger& ledger) {
        c.text(x, y + 36, name, size::small, t.t2);
        c.text(a.inner_right(), y + 36, bytes, size::small, t.t1, Face::mono, Align::right);
        ledger_bar(c, {x, y + 46, w, 13}, ledger, most);
        y += 42;
    };
    line(a.w > 250 ? "FlashAttention-2" : "One worker", format_size(flash.bytes), flash);
    const char* const name = a.w > 250 ? "Split keys" : "Split";
    const std::string done = format_size(split.so_far), of_all = done + " of " + format_size(split.bytes);
    const float room = w - text_width(Face::regular, size::small, name) - 8;
    line(name, text_width(Face::mono, size::small, of_all) <= room ? of_all : done, split);
    const double times = static_cast<double>(split.bytes) / static_cast<double>(flash.bytes);
    const std::string more = format_short(times, 3) + " × the bytes", gain = more + ": time is the gain";
    const bool tell =
        now.trace.ticks() < ticks_of_flash(now.trace) && text_width(Face::regular, size::small, gain) <= w;
    c.text(x, y + 36, tell ? gain : more, size::small, t.t2);
}

// ---- Workers side by side

// Steps of one worker that belong together: the beginning, a key block, the end, the combining kernel.
struct Run {
    int row, first, last;  // the row is a worker
    int start, end;
    std::string name;
    bool combine;
};
std::vector<Run> runs_of(const Trace& trace) {
    std::vector<Run> out;
    const int workers = busy_workers(trace.problem());
    for (int k = 0; k < trace.size(); ++k) {
        const Step& s = trace.step(k);
        const bool combine = s.phase >= workers;
        const bool same = !out.empty() && trace.step(k - 1).phase == s.phase && trace.step(k - 1).j == s.j &&
                          (combine || s.j >= 0 || s.op != Op::load_q) && s.op != Op::normalize;
        if (!same) out.push_back({s.when.worker, k, k, s.when.start, s.when.end, "", combine});
        Run& run = out.back();
        run.last = k, run.end = s.when.end;
        run.name = combine ? "merge" : s.j >= 0 ? "K" + str(s.j) : s.op == Op::store ? "÷ℓ" : "q";
    }
    return out;
}

struct Axis {
    float x, w;
    int ticks;
    float at(int tick) const { return x + w * px(tick) / px(ticks); }
};

void run_cell(const Canvas& c, const AppState& state, const Axis& axis, const Run& run, float y, float h) {
    const Theme& t = *c.theme;
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const float x = axis.at(run.start) + .5f, w = std::max(1.5f, axis.at(run.end) - axis.at(run.start) - 1);
    const bool current = k >= run.first && k <= run.last, done = k > run.last;
    if (current) c.rect(x - 2, y - 2, w + 4, h + 4, with_alpha(t.focus, .2f), 5);
    if (current || done)
        c.rect(x, y, w, h, current ? t.t1 : t.raised, std::min(4.0f, w / 4));
    else
        c.frame(x + .5f, y + .5f, w - 1, h - 1, t.line2, 1, std::min(4.0f, w / 4));
    if (run.first > k && trace.step(run.last).when.over_before(trace.step(k).when))
        c.meanwhile(x, y, w, h, std::min(4.0f, w / 4));
    if (text_width(Face::medium, size::small, run.name) <= w - 4)
        c.text(x + w / 2, y + h / 2, run.name, size::small,
               current ? t.inv
               : done  ? t.t1
                       : t.t2,
               Face::medium, Align::center);
}

void idle_cell(const Canvas& c, const Axis& axis, int from, int to, float y, float h) {
    if (to <= from) return;
    c.crossed(axis.at(from) + 1, y + 1, axis.at(to) - axis.at(from) - 2, h - 2, c.theme->line2);
}

// Flash-forward for the same queries: the steps of all key blocks one after another, on one worker.
std::vector<Run> flash_runs(const std::vector<Run>& split) {
    std::vector<Run> out;
    int free = 0;
    const auto add = [&](const Run& run) {
        const int ticks = run.end - run.start;
        out.push_back({0, -1, -1, free, free + ticks, run.name, false});
        free += ticks;
    };
    std::vector<Run> blocks;
    for (const Run& run : split)
        if (run.name.starts_with("K")) blocks.push_back(run);
    std::ranges::sort(blocks, {}, [](const Run& run) { return std::stoi(run.name.substr(1)); });
    add(split.front());
    for (const Run& run : blocks) add(run);
    for (const Run& run : split)
        if (run.name == "÷ℓ") return add(run), out;
    return out;
}

int ticks_of_flash(const Trace& trace) { return flash_runs(runs_of(trace)).back().end; }

int choose_splits(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const Problem& p = now.trace.problem();
    Options options = latest_problem(state).options;
    float right = a.right() - space::control_edge;
    int workers = p.options.workers, splits = static_cast<int>(now.parts.size());
    const float w = a.w > 620 ? 122 : 56;  // with or without buttons
    right -= w;
    if (stepper(c, "##workers", right, a.y + space::control_top, w, workers, 1, 64)) {
        options.workers = workers;
        choose_merge(state, options);
    }
    right -= c.text(right - 6, a.y + 22, "workers", size::body, c.theme->t2, Align::right) + 16;
    right -= w;
    if (stepper(c, "##splits", right, a.y + space::control_top, w, splits, 1, std::min(64, p.Tc()))) {
        // Whole key blocks, as even as they can be
        options.splits.clear();
        int left = p.N_kv();
        const std::vector<int> sizes = *even_parts(p.Tc(), splits);
        for (const int blocks : sizes) {
            options.splits.push_back(std::min(left, blocks * p.Bc));
            left -= options.splits.back();
        }
        choose_merge(state, options);
    }
    right -= c.text(right - 6, a.y + 22, "splits", size::body, c.theme->t2, Align::right) + 16;
    int queries = p.options.queries;
    right -= w;
    if (stepper(c, "##queries", right, a.y + space::control_top, w, queries, 1,
                std::min(most_queries, p.N() - p.options.row))) {
        options.queries = queries;
        choose_merge(state, options);
    }
    right -= c.text(right - 6, a.y + 22, "queries", size::body, c.theme->t2, Align::right) + 10;
    return static_cast<int>(right);
}

// One method's workers, a lane each, from the left edge on
struct WorkerLanes {
    const Canvas& c;
    AppState& state;
    const Axis& axis;
    float x = 0, row = 0;  // left edge of the names, height of a lane with its gap

    float height() const { return row - (row < 22 ? 3 : 4); }

    // What was not walked, in grey
    void planned(const Run& run, float y) const {
        const float from = axis.at(run.start), to = axis.at(run.end);
        c.rect(from + .5f, y, to - from - 1, height(), c.theme->raised, 4);
        if (text_width(Face::medium, size::small, run.name) < to - from - 5)
            c.text((from + to) / 2, y + height() / 2, run.name, size::small, c.theme->t2, Face::medium,
                   Align::center);
    }

    void lane(int worker, float y, const std::vector<Run>& runs, int end, bool walked) const {
        int free = 0;
        for (const Run& run : runs) {
            if (run.row != worker) continue;
            idle_cell(c, axis, free, run.start, y, height());
            if (walked)
                run_cell(c, state, axis, run, y, height());
            else
                planned(run, y);
            free = run.end;
        }
        idle_cell(c, axis, free, end, y, height());
    }

    // What a worker does that this walk has nothing for.
    void why_idle(float y) const {
        const Problem& p = state.trace->problem();
        const int queries = p.options.queries, others = std::min(tiles_of_work(p), p.options.workers) - 1;
        const std::string words = others > 0     ? "busy with other heads, a walk each like this one"
                                  : queries == 1 ? "idle: one query is one row of work"
                                                 : "idle: " + str(queries) + " queries are one tile of rows";
        const float middle = y + height() / 2;
        c.rect(axis.x + 14, middle - 9, text_width(Face::regular, size::small, words) + 12, 18,
               c.theme->panel, 4);
        c.text(axis.x + 20, middle, words, size::small, c.theme->t2);
    }

    // The lanes below the method's name; returns where they end.
    float draw(const char* method, float y, int count, const std::vector<Run>& runs, int end,
               bool walked) const {
        c.text(x, y + 8, method, size::small, 0, Face::semibold);
        const float first = y + 18;
        for (int w = 0; w < count; ++w) {
            const float at = first + px(w) * row;
            const bool rest = !walked && w == 1 && state.problem->options.workers > 2;
            const Problem& p = state.trace->problem();
            const int splits = walked ? static_cast<int>(split_blocks(p).size()) : 1;
            const bool other_heads =
                w >= (walked ? busy_workers(p) : 1) && tiles_of_work(p) * splits > w && tiles_of_work(p) > 1;
            c.text(x, at + height() / 2, rest ? "the others" : "worker " + str(w), size::small, c.theme->t2);
            if (other_heads)
                c.rect(axis.at(0) + .5f, at, axis.at(end) - axis.at(0) - 1, height(), c.theme->raised, 4);
            else
                lane(w, at, runs, end, walked);
            if (!walked && w == 1 && end > 4) why_idle(at);
        }
        return first + px(count) * row;
    }
};

// What the splits gained, at the end of the line opposite the playhead
std::string gain_words(const Problem& p, int flash_end, int split_end) {
    const std::string ends = std::string(tiles_of_work(p) > 1 ? ", of this head" : "") + ": " +
                             str(flash_end) + " → " + str(split_end);
    if (split_end < flash_end) return counted(flash_end - split_end, "tick") + " earlier" + ends;
    if (split_end > flash_end) return counted(split_end - flash_end, "tick") + " later" + ends;
    return "as long: " + counted(split_end, "tick");
}

// On stage nothing is chosen, and its head says the rest.
void workers_head(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    if (state.presenter) return;
    const float right = px(choose_splits(c, state, now, a));
    const std::string who = counted(now.trace.problem().options.workers, "worker"),
                      both = who + ", " + queries_in_words(now.trace.problem());
    const bool whole = text_width(Face::semibold, size::lead, both) <= right - a.inner_x();
    const float w = c.text_within(a.inner_x(), a.title_y(), right - a.inner_x(), whole ? both : who,
                                  size::lead, 0, Face::semibold);
    if (right - a.inner_x() - w > 230)
        c.text(a.inner_x() + w + 12, a.title_y(), "time to the right, one tick a step", size::body,
               c.theme->t3);
}

void workers_panel(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const Panel panel(c, "Workers", a);
    const Theme& t = *c.theme;
    const int workers = now.trace.problem().options.workers;
    const bool far = state.presenter;
    workers_head(c, state, now, a);

    const std::vector<Run> split = runs_of(now.trace), flash = flash_runs(split);
    const int flash_end = flash.back().end, split_end = now.trace.ticks();
    const float names = 72, names_h = 2 * 18 + 4;
    const Axis axis{a.inner_x() + names, a.inner_w() - names - 8, std::max(flash_end, split_end)};
    const float top = a.y + (far ? 4 : 44), bottom = a.bottom() - 30;
    // Beside the one that flash-forward keeps busy, the others all look alike.
    const int lanes_room = std::max(2, static_cast<int>((bottom - top - names_h) / (far ? 15 : 18))),
              idle = std::min(workers, 2), shown = std::clamp(lanes_room - idle, 1, workers);
    const float row = std::min(28.0f, (bottom - top - names_h) / px(idle + shown));
    const WorkerLanes lanes{c, state, axis, a.inner_x(), row};
    const float second = lanes.draw("FlashAttention-2", top, idle, flash, flash_end, false) + 4;
    const float end = lanes.draw("Split keys", second, shown, split, split_end, true);

    // One playhead through both
    const int tick = now.trace.step(now.k).when.start;
    const float x = axis.at(tick) + axis.w / px(axis.ticks) / 2;
    const float lane = top + 18 + row;  // says why the others wait: no line through that
    const auto playhead = [&](float from, float to) {
        c.line({x, from}, {x, to}, with_alpha(t.focus, .6f), 1.4f);
    };
    if (idle > 1) playhead(top + 16, lane - 2);
    playhead(idle > 1 ? lane + row : top + 16, end + 2);
    c.pill(x, end + 12, "tick " + str(tick), size::small, t.t1, t.inv, Align::center);
    const std::string words = gain_words(now.trace.problem(), flash_end, split_end);
    const bool left = x > a.inner_right() - text_width(Face::medium, size::small, words) - 60;
    c.text(left ? axis.x : a.inner_right(), end + 12, words, size::small, t.t1, Face::medium,
           left ? Align::left : Align::right);
    if (shown < workers)
        c.text(a.inner_x(), end + 12, "+" + str(workers - shown) + " more", size::small, t.t3);
}

// ---- The split at hand: the query over its keys, weights beside the values, the sums below

struct Chip {
    const Canvas& c;
    AppState& state;
    Rect a;

    void draw(Slot slot, float x, float y, float cw, float ch, bool transposed = false) {
        MatrixLook look = slot_look(state, slot);
        look.transposed = transposed;
        look.x = x, look.y = y, look.cw = cw, look.ch = ch;
        // Large, unless that costs digits that the formula has.
        const bool no_loss =
            digits_in(state, slot, cw, size::lead) >= digits_in(state, slot, cw, size::small);
        look.size = cw >= 44 && no_loss ? size::lead : size::small;
        look.least_digits = 2;
        look.numbers = ch >= 16;
        const Problem& p = *state.problem;
        const int d = p.d(), keys = std::min(p.Bc, p.N_kv()), n = p.options.queries;
        const bool row = slot == Slot::Qi || slot == Slot::Oi;
        look.region = row                                    ? Region{0, 0, n, d}
                      : slot == Slot::Kj || slot == Slot::Vj ? Region{0, 0, keys, d}
                      : slot == Slot::S || slot == Slot::P   ? Region{0, 0, n, keys}
                                                             : Region{0, 0, n, 1};
        matrix(c, state, look, "sram");
    }
    void label(const Line& symbol, const char* word, float x, float y, float room) {
        const float w = c.rich(x, y, symbol, size::symbol);
        if (text_width(Face::regular, size::small, word) < room - w - 8)
            c.text(x + w + 6, y, word, size::small, c.theme->t3);
    }
};

float draw_chip(const Canvas& c, AppState& state, const Rect& a) {
    Chip chip{c, state, a};
    const Problem& p = *state.problem;
    const int d = p.d(), keys = std::min(p.Bc, p.N_kv()), n = p.options.queries;
    // What a query has one number of stands in a column of its own, beside the keys and below the query.
    const float gap = 18, label_h = 30, cw_n = n == 1 ? 50.0f : std::clamp(a.w * .17f / px(n), 12.0f, 50.0f),
                single = cw_n * px(n);
    // Width by what the numbers need: O has more digits than keys mostly have.
    const auto need = [&](Slot one, Slot other) {
        return px(std::max(state.look[one].letters_with(fewest_digits),
                           state.look[other].letters_with(fewest_digits))) +
               1;
    };
    const float need_K = need(Slot::Qi, Slot::Kj), need_V = need(Slot::Vj, Slot::Oi);
    const float each = (a.w - 2 * single - 4 * gap) / (px(d) * (need_K + need_V));
    const float cw_K = std::clamp(each * need_K, 1.5f, 54.0f), cw_V = std::clamp(each * need_V, 1.5f, 54.0f);
    // Rows of one number need the height of it, those of many keys share what is left.
    const float even = (a.h - 3 * label_h) / px(keys + 2 * n);
    const float one = std::clamp(even, n == 1 ? 22.0f : 2.0f, 44.0f), tile_h = one * px(n);
    const float ch = std::clamp((a.h - 3 * label_h - 2 * tile_h) / px(keys), 1.5f, one);
    const float x_K = a.x + 6, x_S = x_K + cw_K * px(d) + gap, x_P = x_S + single + gap,
                x_V = x_P + single + gap;
    const float y_q = a.y + 22, y_K = y_q + tile_h + label_h + 2, y_O = y_K + ch * px(keys) + label_h + 2;
    const Step& step = step_now(state);
    chip.label({slot_symbol(Slot::Qi).front()}, n == 1 ? "the query" : "queries", x_K, y_q - 16,
               cw_K * px(d));
    chip.label(slot_symbol(Slot::Kj, step.j), "keys", x_K, y_K - 16, cw_K * px(d));
    chip.label({slot_symbol(Slot::S)}, "score", x_S, y_K - 16, single + gap);
    chip.label({slot_symbol(Slot::P)}, "weight", x_P, y_K - 16, single + gap);
    chip.label(slot_symbol(Slot::Vj, step.j), "values", x_V, y_K - 16, cw_V * px(d));
    chip.draw(Slot::Qi, x_K, y_q, cw_K, one);
    chip.draw(Slot::Kj, x_K, y_K, cw_K, ch);
    chip.draw(Slot::S, x_S, y_K, cw_n, ch, true);
    chip.draw(Slot::P, x_P, y_K, cw_n, ch, true);
    chip.draw(Slot::Vj, x_V, y_K, cw_V, ch);
    const float above = y_q - 16;
    chip.label({slot_symbol(Slot::m_tile)}, "block", x_S, above, single + gap);
    chip.draw(Slot::m_tile, x_S, y_q, cw_n, one, true);
    chip.label({slot_symbol(Slot::alpha)}, "corr.", x_P, above, single + gap);
    chip.draw(Slot::alpha, x_P, y_q, cw_n, one, true);
    chip.label({slot_symbol(Slot::m)}, "max", x_S, y_O - 16, single + gap);
    chip.draw(Slot::m, x_S, y_O, cw_n, one, true);
    chip.label({slot_symbol(Slot::l)}, "sum", x_P, y_O - 16, single + gap);
    chip.draw(Slot::l, x_P, y_O, cw_n, one, true);
    chip.label({slot_symbol(Slot::Oi).front()}, "of this split", x_V, y_O - 16, cw_V * px(d));
    chip.draw(Slot::Oi, x_V, y_O, cw_V, one);
    return x_V + cw_V * px(d) + 8 - a.x;
}

std::vector<Bar> maxima(const Around& at, int row) {
    std::vector<Bar> out{{"m so far", at.read(Slot::m).data(row, 0), Role::m},
                         {"m̃ of block", at.read(Slot::m_tile).data(row, 0), Role::m}};
    for (Bar& bar : out) bar.digits = &at.trace.digits(Slot::m);
    return out;
}

// The step of a split to scale: that of its one row.
void chip_lens(const Canvas& c, AppState& state, const Rect& a) {
    c.well(a.x, a.y, a.w, a.h);
    const PanelPart part(c, "Lens", a);
    const Rect inner = lens_title(c, a, "");
    if (op_now(state) == Op::init) return draw_start_values(c, state, inner);
    if (!drawable(state)) return no_scale(c, inner);
    const MergeNow now(state);
    const int k = state.cursor.step, row = now.query(), col = merge_column(state);
    const Around at(state, row, col);
    const float come = phase(state);
    switch (at.op()) {
    case Op::scores: {
        const Value &Q = at.read(Slot::Qi), &K = at.read(Slot::Kj);
        const int key =
            std::clamp(state.explanation.target.col, K.region.row, K.region.row + K.region.rows - 1);
        Dot one = dot_of(Q, row, K, key);
        one.q_name = {word("q")}, one.k_name = {word("k" + str(key))};
        one.q_digits = &now.trace.digits(Slot::Qi), one.k_digits = &now.trace.digits(Slot::Kj);
        one.total_digits = &now.trace.digits(Slot::S), one.formula = &state.explanation;
        one.scale = now.trace.problem().softmax_scale();
        one.total = Around::at(*now.trace.live(Slot::S, k).value, row, key);
        return dot(c, inner, one, come);
    }
    case Op::tile_max:
    case Op::mask:
        return bars(c, inner, row_bars(at, *now.trace.live(Slot::S, k).value), at.op() == Op::tile_max,
                    extent(row_bars(at, *now.trace.live(Slot::S, k).value)), come);
    case Op::new_max: return bars(c, inner, maxima(at, now.row), true, extent(maxima(at, now.row)), come);
    case Op::correction: {
        const double from = at.read(Slot::m, 0).data(now.row, 0), to = at.read(Slot::m, 1).data(now.row, 0),
                     alpha = at.written().data(now.row, 0);
        if (correction_curves(c, inner, {from, to, alpha}, come)) return;
        return curve(c, inner, {{from - (std::isinf(to) ? 0 : to), "α", Role::alpha, alpha}}, come);
    }
    case Op::exponentials: {
        const Value &S = at.read(Slot::S), &m = at.read(Slot::m);
        const double base = m.data(now.row, 0) == minus_infinity ? 0 : m.data(now.row, 0);
        return curve(c, inner, row_points(at, S, at.written(), base), come);
    }
    case Op::row_sum:
    case Op::output:
    case Op::normalize: {
        if (at.op() == Op::normalize && at.read(Slot::l).data(now.row, 0) == 0) return no_scale(c, inner);
        const Stack out = at.op() == Op::row_sum  ? row_sum_stack(at)
                          : at.op() == Op::output ? output_stack(at)
                                                  : normalize_stack(at);
        const Extent row_of =
            at.op() == Op::normalize ? extent_of_rows(at.read(Slot::Oi), at.written(), now.row) : Extent{};
        return stack(c, inner, out, join(row_of, extent(out)), come);
    }
    default: return traffic_bars(c, state, inner);
    }
}

std::string words_of_table(const MergeNow& now) {
    if (now.trace.problem().options.queries == 1) return "kernel 2, on worker 0: one row is one split";
    return "kernel 2, on worker 0: query " + str(now.query()) + ", one row is one split";
}

void work_panel(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const bool combine = now.node >= 0;
    const Panel panel(c, "SRAM", a,
                      combine ? "Combine" : "SRAM of worker " + str(step_now(state).when.worker),
                      combine ? words_of_table(now) : "split " + part_letter(now.part) + ", kernel 1");
    const Rect inner{a.inner_x(), a.y + 42, a.inner_w(), a.h - 52};
    const bool wide = inner.w > 560;
    const float room = wide ? inner.w * (combine ? .6f : .66f) : inner.w;
    const float taken = combine ? draw_parts(c, state, now, {inner.x, inner.y, room, inner.h})
                                : draw_chip(c, state, {inner.x, inner.y, room, inner.h});
    const float x = inner.x + std::max(taken + 16, wide ? room * .8f : 0.0f);
    const Rect lens{x, inner.y - 6, a.right() - 12 - x, inner.h};
    if (lens.w < 170) return;
    combine ? draw_merge_lens(c, state, now, lens) : chip_lens(c, state, lens);
}

}  // namespace

void split_main(const Canvas& c, AppState& state, const Layout& layout) {
    const MergeNow now(state);
    hbm_panel(c, state, now, layout.hbm);
    const Rect& a = layout.sram;
    const float gap = a.h < 450 ? 8.0f : 12.0f, top = std::clamp(a.h * .46f, 190.0f, 330.0f);
    workers_panel(c, state, now, {a.x, a.y, a.w, top});
    work_panel(c, state, now, {a.x, a.y + top + gap, a.w, a.h - top - gap});
}

void split_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& a) {
    const MergeNow now(state);
    if (points_at(state, "Workers")) {
        const Enlarged large(c, {a.x, a.y}, size::far_growth);
        return workers_panel(large.c, state, now, {0, 0, a.w / size::far_growth, a.h / size::far_growth});
    }
    note_part(c, a, "SRAM");
    // A split is flash-forward's walk: before → operation → after.
    if (now.node < 0) return stage(c, state, a, {slot_look, chip_lens, false});
    parts_presenter(c, state, now, a);
}

bool split_has_all_digits(const AppState& state, float w, float h) {
    return MergeNow(state).node < 0 ? stage_has_all_digits(state, w, h) : parts_have_all_digits(state, w);
}

}  // namespace tilewalk::ui
