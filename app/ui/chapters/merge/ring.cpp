// The ring: who has whose keys at this tick and what is on its way; the rounds of all ranks; how busy they
// are with a causal mask, for each way to deal the sequence out; below, what the rank at hand has on chip.
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/lessons/ring/clock.h"
#include "core/lessons/ring/ring.h"

#include <algorithm>
#include <numeric>

namespace tilewalk::ui {

namespace {

constexpr int most_ranks = 16;

// The ring at the tick of the current step.
struct RingNow {
    explicit RingNow(const AppState& state)
        : held(state.trace), trace(*held), k(state.cursor.step), ring(trace.problem()),
          clock(ring, backward ? RingPass::backward : RingPass::forward), rank(trace.step(k).when.worker),
          tick(trace.step(k).when.start), round(round_at(k)) {}
    RingNow(const RingNow&) = delete;  // the clock looks at its ring
    RingNow& operator=(const RingNow&) = delete;

    std::shared_ptr<const Trace> held;  ///< a button may replace that of the state
    const Trace& trace;
    bool backward = &trace.lesson() == &ring_backward;
    int k;
    Ring ring;
    RingClock clock;
    int rank, tick;
    int round;  ///< of the rank at hand; as many as there are ranks: it has come to its end

    /// The gradient of the sink, which goes from rank to rank when all rounds are over.
    bool of_sink(int step) const {
        const Step& s = trace.step(step);
        return s.op == Op::sink_gradient || (s.op == Op::exchange_gradients && s.j < 0);
    }
    /// The round that a step belongs to. A message is that of the round in which it travels.
    int round_at(int step) const {
        const Step& s = trace.step(step);
        if (of_sink(step)) return ring.ranks;
        if (s.op == Op::load_q || (backward && s.j < 0 && s.op != Op::store)) return 0;
        if (s.j < 0) return ring.ranks;
        const bool home = s.op == Op::exchange_gradients && s.j == s.when.worker;
        return home ? ring.ranks : ring.round_of(s.when.worker, s.j) - (s.op == Op::exchange ? 1 : 0);
    }
    /// In which round a rank is at this tick; behind the last one backward, while gradients go home.
    int clock_round_of(int other) const {
        if (other == rank) return std::min(round, clock.rounds() - 1);
        int t = 0;
        while (t + 1 < clock.rounds() && clock.begin(other, t + 1) <= tick) ++t;
        return t;
    }
    int round_of(int other) const { return std::min(clock_round_of(other), ring.ranks - 1); }
    /// A message from this rank to the next is on its way.
    bool sends(int other) const {
        const int t = clock_round_of(other);
        return clock.keys(other, t).contains(tick) || clock.gradients(other, t).contains(tick);
    }
    /// Whose dK and dV a rank has at this tick, or when the message arrives that the step is about; −1: none
    /// yet.
    int gradients_at(int other) const {
        const int t = clock_round_of(other);
        if (!backward || t == 0) return -1;
        const Step& step = trace.step(k);
        const int until = step.op == Op::exchange_gradients ? step.when.end : tick;
        const bool came = clock.gradients(ring.before(other), t).end <= until;
        return ring.owner(other, came ? t : t - 1);
    }
    /// Bytes of the messages that have arrived when the step is through; when the last one is, all are.
    std::int64_t arrived() const {
        const int until = k + 1 == trace.size() ? trace.ticks() : trace.step(k).when.end;
        std::int64_t bytes = 0, before = 0;
        for (int step = 0; step < trace.size(); ++step) {
            const std::int64_t sent = trace.step(step).traffic.sent;
            if (trace.step(step).when.end <= until) bytes += sent - before;
            before = sent;
        }
        return bytes;
    }
    /// The first step of this rank, and of its round.
    int first_of_rank() const {
        int first = k;
        while (first > 0 && trace.step(first - 1).phase == trace.step(k).phase) --first;
        return first;
    }
    int first_of_round() const {
        int first = k;
        while (first > 0 && trace.step(first - 1).phase == trace.step(k).phase &&
               round_at(first - 1) == round)
            --first;
        return first;
    }
    /// Of the time until all are through, the part in which this rank computes.
    double busy(int other) const {
        int ticks = 0;
        for (int step = 0; step < trace.size(); ++step) {
            const When& when = trace.step(step).when;
            if (when.worker == other && !when.beneath) ticks += when.end - when.start;
        }
        return static_cast<double>(ticks) / trace.ticks();
    }
};

Line shard_symbol(Slot slot, int rank) { return slot_symbol(slot, rank); }

std::string percent(double part) { return format_fixed(100 * part, 0) + " %"; }

void choose_ring(AppState& state, int ranks, ShardKind shards) {
    Problem changed = latest_problem(state);
    Options options = changed.options;
    options.ranks = ranks, options.shards = shards;
    changed.options = options;
    if (!validate(changed)) choose_merge(state, options);
}

int most_ranks_of(const Problem& p) {
    const int rows = std::min(p.N(), p.N_kv()), each = p.options.shards == ShardKind::zigzag ? 2 : 1;
    return std::clamp(rows / each, 1, most_ranks);
}

// ---- The ring: boxes in a circle, arrows between them

struct Boxes {
    Rect a;
    int ranks;
    int above = (ranks + 1) / 2, below = ranks - above;
    float gap = ranks > 8 ? 14.0f : 26.0f;
    float w = (a.w - gap * px(above - 1)) / px(above);
    float h = std::min(64.0f, below > 0 ? (a.h - 24) / 2 : a.h);

    // The upper row from left to right, the lower one back.
    Rect box(int rank) const {
        if (rank < above) return {a.x + px(rank) * (w + gap), a.y, w, h};
        const int place = above - 1 - (rank - above);
        return {a.x + px(place) * (w + gap), a.bottom() - h, w, h};
    }
    // From the middle of one side to that of the other
    std::pair<Point, Point> way(int from, int to) const {
        const Rect p = box(from), q = box(to);
        if (from < above && to < above && ranks > 1)
            return {{p.right() + 3, p.middle()}, {q.x - 3, q.middle()}};
        if (from >= above && to >= above) return {{p.x - 3, p.middle()}, {q.right() + 3, q.middle()}};
        const float x = from < above ? p.x + w * .6f : p.x + w * .4f;
        return from < above ? std::pair<Point, Point>{{x, p.bottom() + 3}, {x, q.y - 3}}
                            : std::pair<Point, Point>{{x, p.y - 3}, {x, q.bottom() + 3}};
    }
};

// What a rank has of others: backward also the gradients that have come to it.
Line with_gradients(const RingNow& now, int rank, const Line& keys) {
    const int owner = now.gradients_at(rank);
    if (owner < 0) return keys;
    return pieces(keys, "  ", shard_symbol(Slot::dK, owner), " ", shard_symbol(Slot::dV, owner));
}

void rank_box(const Canvas& c, const RingNow& now, int rank, const Rect& a) {
    const Theme& t = *c.theme;
    const bool own = rank == now.rank;
    c.rect(a.x, a.y, a.w, a.h, t.well, radius::card);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, own ? t.focus : t.line2, own ? 2.0f : 1.0f, radius::card);
    const int owner = now.ring.owner(rank, now.round_of(rank));
    const Line both = pieces(shard_symbol(Slot::K, owner), " ", shard_symbol(Slot::V, owner)),
               all = with_gradients(now, rank, both);
    // Below each other, beside each other, or the name alone
    const bool high = a.h >= 50;
    const ImU32 ink = own ? t.t1 : t.t2;
    std::string name = "rank " + str(rank);
    const auto name_w = [&] { return text_width(Face::semibold, size::small, name); };
    const auto fits = [&](const Line& line) {
        return rich_width(c, line, size::formula) <= (high ? a.w - 8 : a.w - name_w() - 26);
    };
    const Line one = shard_symbol(Slot::K, owner);
    if (name_w() > a.w - 10 || (!high && !fits(one))) name = str(rank);
    const Line shown = fits(all) ? all : fits(both) ? both : one;
    const float shown_w = rich_width(c, shown, size::formula);
    const bool beside = !high && fits(shown);
    if (beside) {
        c.text(a.x + 10, a.middle(), name, size::small, ink, Face::semibold);
        c.rich(a.right() - 10, a.middle(), shown, size::formula, Align::right);
        return;
    }
    c.text(a.x + a.w / 2, high ? a.y + 14 : a.middle(), name, size::small, ink, Face::semibold,
           Align::center);
    if (high && shown_w <= a.w - 4)
        c.rich(a.x + a.w / 2, a.y + a.h - 17, shown, size::formula, Align::center);
}

void draw_ring(const Canvas& c, const RingNow& now, const Rect& a) {
    const int R = now.ring.ranks;
    const Boxes boxes{a, R};
    for (int r = 0; r < R; ++r) rank_box(c, now, r, boxes.box(r));
    for (int r = 0; r < R && R > 1; ++r) {
        const auto [from, to] = boxes.way(r, (r + 1) % R);
        const bool on_its_way = now.sends(r);
        // Keys and values together have no hue of their own.
        c.arrow({from, to}, on_its_way ? ArrowStyle::active : ArrowStyle::idle);
    }
}

// Bytes that have gone from rank to rank, of all that will
void draw_sent(const Canvas& c, const RingNow& now, const Rect& a) {
    const std::int64_t all = now.trace.lesson().model(now.trace.problem()).sent, sent = now.arrived();
    const std::string bytes = format_traffic(sent) + " of " + format_traffic(all);
    const float room = a.w - text_width(Face::mono, size::small, bytes) - 10;
    for (const char* words : {"Between ranks", "sent"})
        if (text_width(Face::regular, size::small, words) <= room) {
            c.text(a.x, a.y + 8, words, size::small, c.theme->t2);
            break;
        }
    c.text(a.right(), a.y + 8, bytes, size::small, c.theme->t1, Face::mono, Align::right);
    c.progress(a.x, a.y + 22, a.w, 8, all > 0 ? static_cast<float>(sent) / static_cast<float>(all) : 0,
               c.theme->t1);
}

void ring_panel(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    const Panel panel(c, "Ring", a);
    const int R = now.ring.ranks;
    int ranks = R;
    const float stepper_w = 122, right = a.right() - space::control_edge - stepper_w;
    if (stepper(c, "##ranks", right, a.y + space::control_top, stepper_w, ranks, 1,
                most_ranks_of(*state.problem)))
        choose_ring(state, ranks, state.problem->options.shards);
    const float words = c.text_within(a.inner_x(), a.title_y(), right - 8 - a.inner_x(), "Ranks", size::lead,
                                      0, Face::semibold);
    const std::string at = "tick " + str(now.tick);
    if (text_width(Face::regular, size::body, at) < right - a.inner_x() - words - 28)
        c.text(a.inner_x() + words + 12, a.title_y(), at, size::body, c.theme->t3);

    const float foot = 46;
    draw_ring(c, now, {a.inner_x(), a.y + 46, a.inner_w(), a.h - 46 - foot - 6});
    draw_sent(c, now, {a.inner_x(), a.bottom() - foot, a.inner_w(), foot});
}

// ---- Who has whose keys in which round

void round_cell(const Canvas& c, const RingNow& now, int rank, int round, const Rect& a) {
    const Theme& t = *c.theme;
    const int at = now.round_of(rank);
    const bool current = round == at && rank == now.rank && now.round < now.ring.ranks,
               empty = now.ring.scores(rank, round) == 0;
    if (round > at)
        c.dashed_frame(a.x + 1, a.y + 1, a.w - 2, a.h - 2, t.line2, 1, {4, 3});
    else
        c.rect(a.x + 1, a.y + 1, a.w - 2, a.h - 2, current ? t.t1 : t.raised, radius::cell);
    if (round == at && !current) c.frame(a.x + 1.5f, a.y + 1.5f, a.w - 3, a.h - 3, t.line2, 1, radius::cell);
    if (empty && !current) c.hatch(a.x + 3, a.y + 3, a.w - 6, a.h - 6, t.line2, 6);
    if (a.w < 15 || a.h < 15 || (empty && !current)) return;
    c.text(a.x + a.w / 2, a.middle(), str(round), size::small,
           current      ? t.inv
           : round > at ? t.t2
                        : t.t1,
           current ? Face::semibold : Face::regular, Align::center);
}

// Returns the height that it took.
float draw_rounds(const Canvas& c, const RingNow& now, const Rect& a, bool with_idle) {
    const Theme& t = *c.theme;
    const int R = now.ring.ranks;
    const float names = 52, idle_w = with_idle ? 64.0f : 0.0f, head = 22;
    const float cell =
        std::clamp(std::min((a.w - names - idle_w) / px(R), (a.h - head) / px(R)), 8.0f, 40.0f);
    const float x = a.x + names;
    for (int owner = 0; owner < R && cell >= 22; ++owner)
        c.rich(x + (px(owner) + .5f) * cell, a.y + 8, shard_symbol(Slot::K, owner), size::formula,
               Align::center);
    if (with_idle) c.text(a.right(), a.y + 8, "waits", size::small, t.t3, Align::right);
    for (int rank = 0; rank < R; ++rank) {
        const float y = a.y + head + px(rank) * cell;
        if (y + cell > a.bottom() + 1) break;
        const bool own = rank == now.rank, text = cell >= 15;
        if (text)
            c.text(a.x, y + cell / 2, "rank " + str(rank), size::small, own ? t.t1 : t.t2,
                   own ? Face::semibold : Face::regular);
        for (int round = 0; round < R; ++round)
            round_cell(c, now, rank, round, {x + px(now.ring.owner(rank, round)) * cell, y, cell, cell});
        if (with_idle && text)
            c.text(a.right(), y + cell / 2, percent(1 - now.busy(rank)), size::small, own ? t.t1 : t.t2,
                   Face::mono, Align::right);
    }
    return head + px(R) * cell;
}

void rounds_panel(const Canvas& c, const RingNow& now, const Rect& a) {
    const Panel panel(c, "Rounds", a, "Rounds", a.w > 270 ? "whose keys, when" : "");
    draw_rounds(c, now, {a.inner_x(), a.y + 42, a.inner_w(), a.h - 42 - 12}, true);
}

// ---- How busy the ranks are with a causal mask, for each way to deal out the sequence

struct Dealt {
    ShardKind kind;
    const char* name;
    std::vector<std::vector<double>> scores;  // of each rank and round
    double end = 0, busy = 0;
};

std::vector<Dealt> all_deals(const Problem& p, int R) {
    std::vector<Dealt> out;
    for (const auto& [kind, name] :
         {std::pair(ShardKind::contiguous, "contiguous"), std::pair(ShardKind::zigzag, "zig-zag"),
          std::pair(ShardKind::striped, "striped")}) {
        const auto shards = static_cast<ring::Shards>(kind);
        if (ring::refuse(shards, std::min(p.N(), p.N_kv()), R)) continue;
        Dealt one{kind, name, {}};
        double sum = 0;
        for (int rank = 0; rank < R; ++rank) {
            one.scores.emplace_back();
            for (int round = 0; round < R; ++round)
                one.scores.back().push_back(
                    static_cast<double>(ring::scores_of(shards, p.N_kv(), R, rank, round, true)));
            sum += std::accumulate(one.scores.back().begin(), one.scores.back().end(), 0.0);
        }
        const auto computing = [&](int rank, int round) {
            return one.scores[static_cast<std::size_t>(rank)][static_cast<std::size_t>(round)];
        };
        one.end = ring::schedule(R, R, computing, [](int, int) { return 0.0; }).end();
        one.busy = sum / (one.end * R);
        out.push_back(std::move(one));
    }
    return out;
}

void deal_bars(const Canvas& c, const Dealt& one, const Rect& a, double longest) {
    const Theme& t = *c.theme;
    const float each = a.h / px(one.scores.size()), scale = a.w / static_cast<float>(longest);
    const float h = std::max(2.0f, each - (each > 5 ? 2.0f : 1.0f));
    for (std::size_t rank = 0; rank < one.scores.size(); ++rank) {
        float x = a.x;
        const float y = a.y + px(rank) * each;
        for (const double scores : one.scores[rank]) {
            const float w = static_cast<float>(scores) * scale;
            if (w > 1) c.rect(x, y, w - 1, h, mix(t.panel, hue(t, Role::S), .55f), 2);
            x += w;
        }
        const float end = a.x + static_cast<float>(one.end) * scale;
        if (end - x > 3) c.hatch(x, y, end - x - 1, h, t.line2, 5);
    }
    const float end = a.x + static_cast<float>(one.end) * scale;
    c.line({end, a.y - 1}, {end, a.y + a.h}, t.t2, 1.4f);
}

void balance_panel(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    const Panel panel(c, "Balance", a, "With a causal mask",
                      a.w > 430 ? "a bar is a rank, hatched: it waits" : "");
    const Theme& t = *c.theme;
    const Problem& p = now.trace.problem();
    const std::vector<Dealt> deals = all_deals(p, now.ring.ranks);
    double longest = 1;
    for (const Dealt& one : deals) longest = std::max(longest, one.end);
    const float top = a.y + 44, each = (a.bottom() - 10 - top) / 3;
    float y = top;
    for (const Dealt& one : deals) {
        const bool chosen = one.kind == p.options.shards;
        const float button_w = button_width(one.name, size::small), label_h = 24;
        if (button(c, std::string("##shards ") + one.name, a.inner_x(), y, button_w, label_h, one.name,
                   {.active = chosen, .quiet = !chosen, .size = size::small}))
            choose_ring(state, now.ring.ranks, one.kind);
        const std::string busy = percent(one.busy) + " busy",
                          full = format_count(static_cast<std::int64_t>(one.end)) + " scores long, " + busy;
        const float room = a.inner_w() - button_w - 10;
        c.text(a.inner_right(), y + label_h / 2,
               text_width(Face::regular, size::small, full) <= room ? full : busy, size::small,
               chosen ? t.t1 : t.t2, Align::right);
        const float bars = each - label_h - 8;
        if (bars >= px(now.ring.ranks) * 2)
            deal_bars(c, one, {a.inner_x(), y + label_h + 3, a.inner_w(), bars}, longest);
        y += each;
    }
    if (std::ssize(deals) < 3 && a.h > 150)
        c.text_within(a.inner_x(), y + 12, a.inner_w(), "zig-zag needs two rows a rank and more", size::small,
                      t.t3);
}

// The same on stage, where nothing is pressed
void draw_deals(const Canvas& c, const RingNow& now, const Rect& a) {
    const Problem& p = now.trace.problem();
    const std::vector<Dealt> deals = all_deals(p, now.ring.ranks);
    double longest = 1;
    for (const Dealt& one : deals) longest = std::max(longest, one.end);
    const float each = a.h / px(std::max<std::size_t>(1, deals.size()));
    float y = a.y;
    for (const Dealt& one : deals) {
        const bool chosen = one.kind == p.options.shards;
        c.text(a.x, y + 9, one.name, size::small, chosen ? c.theme->t1 : c.theme->t2,
               chosen ? Face::semibold : Face::regular);
        c.text(a.right(), y + 9, percent(one.busy) + " busy, if causal", size::small, c.theme->t2,
               Align::right);
        if (each > 30) deal_bars(c, one, {a.x, y + 22, a.w, each - 28}, longest);
        y += each;
    }
}

// ---- What the rank has on chip

// So many of a row or a column as have room, the chosen one among them.
struct Shown {
    int first, count;
    Shown(int all, int chosen, int most) : first(0), count(std::clamp(most, 1, all)) {
        first = std::clamp(chosen - count / 2, 0, all - count);
    }
};

struct OnChip {
    const Canvas& c;
    AppState& state;
    const RingNow& now;
    bool all_numbers = false;  ///< on stage: of a large shard as much as can be read, in place of all of it
    int first_rank = now.first_of_rank(), first_round = now.first_of_round();
    float least_h = all_numbers ? 15.0f : 2.0f;

    int n() const { return now.ring.queries_of(now.rank).rows(); }
    int d() const { return now.trace.problem().d(); }
    int owner() const {
        const int j = now.trace.step(now.k).j;
        if (now.backward && j >= 0 && now.trace.step(now.k).op != Op::exchange) return j;
        return now.ring.owner(now.rank, std::min(now.round, now.ring.ranks - 1));
    }

    // How many columns fit: all of them with fewer digits, or some of them with all digits
    int columns_in(float w, int all, const std::vector<Slot>& slots) const {
        if (!all_numbers) return static_cast<int>(w / 2);
        const auto least = [&](int digits) {
            int letters = 1;
            for (const Slot slot : slots) letters = std::max(letters, state.look[slot].letters_with(digits));
            return px(letters) * size::mono * size::small + 10;
        };
        return w / least(2) >= px(all) ? all : static_cast<int>(w / least(4));
    }

    static bool is_of_keys(Slot slot) {
        return slot < Slot::count && (info(slot).role == Role::K || info(slot).role == Role::V);
    }
    static bool is_of_scores(Slot slot) { return slot < Slot::count && info(slot).role == Role::S; }
    // The row of the shard, the key and the component that the formula is about
    int chosen_query() const {
        const CellRef cell = state.explanation.target;
        if (is_of_keys(cell.slot) || cell.slot == Slot::count) return 0;
        if (info(cell.slot).hbm) {
            const std::vector<int>& all = now.ring.queries_of(now.rank).positions;
            const auto at = std::ranges::find(all, cell.row);
            return at == all.end() ? 0 : static_cast<int>(at - all.begin());
        }
        const Held held = holding(now.trace, cell, now.k);
        return held ? cell.row - held.value->region.row : 0;
    }
    int chosen_key() const {
        const CellRef cell = state.explanation.target;
        if (!is_of_keys(cell.slot)) return is_of_scores(cell.slot) ? cell.col : 0;
        if (!info(cell.slot).hbm) return cell.row;
        const std::vector<int>& all = now.ring.keys_of(owner()).positions;
        const auto at = std::ranges::find(all, cell.row % now.trace.problem().N_kv());
        return at == all.end() ? 0 : static_cast<int>(at - all.begin());
    }
    int chosen_component() const {
        const CellRef cell = state.explanation.target;
        return is_of_scores(cell.slot) || cell.slot == Slot::count || one_column(cell.slot) ? 0 : cell.col;
    }

    // "4–7", or "4–6 of 4–7" where not all are shown
    static std::string shown_of(const std::vector<int>& positions, const Shown& shown) {
        const std::string all = positions_text(positions);
        return shown.count == std::ssize(positions) ? all : part_of(positions, shown) + " of " + all;
    }
    static std::string part_of(const std::vector<int>& positions, const Shown& shown) {
        const auto from = positions.begin() + shown.first;
        return positions_text({from, from + shown.count});
    }
    // Where not all are shown, which ones
    std::vector<std::string> columns_text(const Shown& shown, const std::string& all) const {
        if (shown.count == d()) return {all};
        std::vector<int> columns(static_cast<std::size_t>(d()));
        std::iota(columns.begin(), columns.end(), 0);
        return {"columns " + shown_of(columns, shown), shown_of(columns, shown)};
    }

    // What the slot holds, if it was put there since: these of its rows and columns.
    void draw(Slot slot, int tile, int since, const Shown& rows, const Shown& cols, float x, float y,
              float cw, float ch, const std::string& widget, int digits = 0) {
        const Trace& trace = now.trace;
        Held held = trace.live(slot, tile, now.k);
        if (held && held.step < since) held = {};
        MatrixLook look;
        look.slot = slot, look.value = held.value, look.region = {tile, 0, rows.count, cols.count};
        if (held && (rows.count < held.value->region.rows || cols.count < held.value->region.cols))
            look.window = Region{held.value->region.row + rows.first, held.value->region.col + cols.first,
                                 rows.count, cols.count};
        look.x = x, look.y = y, look.cw = cw, look.ch = ch;
        look.size = cw >= 56 && ch >= 26 ? size::lead : size::small;
        look.least_digits = 2, look.boxes = true, look.numbers = ch >= (all_numbers ? least_h : 16);
        if (digits > 0) look.size = size::small, look.digits = digits, look.measured = true;
        const auto touched = [&](std::span<const Access> accesses) {
            return std::ranges::any_of(accesses,
                                       [&](const Access& a) { return a.slot == slot && a.tile == tile; });
        };
        const bool read = touched(trace.reads(now.k)), written = held && held.step == now.k;
        look.state = !held     ? CellState::pending
                     : written ? CellState::written
                     : read    ? CellState::read
                               : CellState::idle;
        if (written) look.fade = transition(state);
        if (written && step_units(trace, now.k) > 1 && tile == trace.writes(now.k).back().tile)
            look.rows_done = state.cursor.done;
        look.dim = !read && !written;
        look.only_changed = trace.step(now.k).op == Op::mask;
        matrix(c, state, look, widget.c_str());
    }

    // The first of these words that has room
    void label(const Line& symbol, const std::vector<std::string>& words, float x, float y,
               float room) const {
        const float w = c.rich(x, y, symbol, size::symbol);
        const auto fits = [&](const std::string& text) {
            return text_width(Face::regular, size::small, text) <= room - w - 8;
        };
        const auto text = std::ranges::find_if(words, fits);
        if (text != words.end()) c.text(x + w + 6, y, *text, size::small, c.theme->t3);
    }

    // The queries over the keys, the scores beside them, the values at the right; returns the width. On stage
    // there are the scores or the values, whichever the step is about.
    float products(const Rect& a) {
        const float head = all_numbers ? 24 : 28, gap = 22, between = all_numbers ? 34 : 38;
        const bool loads = is_load(op_now(state)), scored = !all_numbers || !loads,
                   with_values = !all_numbers || loads;
        const int sides = with_values ? 2 : 1, all_keys = now.ring.keys_of(owner()).rows();
        const float room = a.w - (scored && with_values ? 2 : 1) * gap;
        std::vector<Slot> slots = {Slot::Qi, Slot::Kj};
        if (with_values) slots.push_back(Slot::Vj);
        if (scored) slots.push_back(Slot::S);
        const int columns = columns_in(room, sides * d() + (scored ? all_keys : 0), slots),
                  lines = static_cast<int>((a.h - head - between) / least_h);
        const Shown key_columns(all_keys, chosen_key(), std::max(columns / 3, columns - sides * d()));
        const int across = scored ? key_columns.count : 0;
        const Shown components(d(), chosen_component(), (columns - across) / sides),
            rows(n(), chosen_query(), lines / 2), keys(all_keys, chosen_key(), lines - rows.count);
        const float cw = std::clamp(room / px(sides * components.count + across), 2.0f, 58.0f);
        const float ch = std::clamp((a.h - head - between) / px(rows.count + keys.count), 2.0f, 46.0f);
        const float wide = cw * px(components.count);
        const float y_Q = a.y + head, y_K = y_Q + ch * px(rows.count) + between;
        const float x_S = a.x + wide + gap, x_V = scored ? x_S + cw * px(across) + gap : x_S;
        const std::string own = shown_of(now.ring.queries_of(now.rank).positions, rows),
                          theirs = shown_of(now.ring.keys_of(owner()).positions, keys);
        const float y_label = y_K - (all_numbers ? 19 : 21);
        label(slot_symbol(Slot::Qi, now.rank), {own + " stay", own}, a.x, a.y + 8, wide + gap);
        label(slot_symbol(Slot::Kj, owner()), {theirs + " go round", theirs}, a.x, y_label, wide + gap);
        const Slot square = square_now();
        if (scored) {
            const std::string which =
                across < all_keys ? "keys " + shown_of(now.ring.keys_of(owner()).positions, key_columns) : "";
            label(slot_symbol(square), {which}, x_S, a.y + 8, cw * px(across) + gap);
            draw(square, 0, first_round, rows, key_columns, x_S, y_Q, cw, ch, "chip");
        }
        draw(Slot::Qi, 0, first_rank, rows, components, a.x, y_Q, cw, ch, "chip");
        draw(Slot::Kj, 0, first_round, keys, components, a.x, y_K, cw, ch, "chip");
        if (now.backward) {
            label(slot_symbol(Slot::dOi, now.rank), {"stays, too", "stays"}, x_V, a.y + 8, wide);
            draw(Slot::dOi, 0, first_rank, rows, components, x_V, y_Q, cw, ch, "chip");
        }
        if (!with_values) return x_S + cw * px(across) - a.x;
        label(slot_symbol(Slot::Vj, owner()), columns_text(components, "go with them"), x_V, y_label, wide);
        draw(Slot::Vj, 0, first_round, keys, components, x_V, y_K, cw, ch, "chip");
        return x_V + wide - a.x;
    }

    // Of S, P, dP and dS the one that the step has made, or needs.
    Slot square_now() const {
        const Op op = now.trace.step(now.k).op;
        if (!now.backward || op < Op::recompute) return Slot::S;
        return op <= Op::dv ? Slot::Prob : op == Op::dp ? Slot::dP : Slot::dS;
    }

    // Backward: L, D and dQ of the queries, and what they add to the gradients of the shard
    void gradients(const Rect& a) {
        const float head = 28, gap = 15, between = 38;
        const int all_keys = now.ring.keys_of(owner()).rows(),
                  lines = static_cast<int>((a.h - head - between) / least_h);
        const Shown components(d(), chosen_component(), static_cast<int>(a.w / 4)),
            rows(n(), chosen_query(), lines / 2), keys(all_keys, chosen_key(), lines - rows.count),
            one(1, 0, 1);
        const float cw = std::clamp(
            std::min((a.w - 2 * gap) / px(2 + components.count), (a.w - 22) / px(2 * components.count)), 2.0f,
            58.0f);
        const float ch = std::clamp((a.h - head - between) / px(rows.count + keys.count), 2.0f, 46.0f);
        const float wide = cw * px(components.count), x_D = a.x + cw + gap, x_dQ = x_D + cw + gap,
                    x_dV = a.x + wide + 22, y = a.y + head, y_share = y + ch * px(rows.count) + between;
        label(slot_symbol(Slot::Li, now.rank), {}, a.x, a.y + 8, cw + gap);
        label(slot_symbol(Slot::Di, now.rank), {}, x_D, a.y + 8, cw + gap);
        label(slot_symbol(Slot::dQi, now.rank), {"grows here"}, x_dQ, a.y + 8, wide);
        label(slot_symbol(Slot::dK_part, owner()), {"this rank's share", "share"}, a.x, y_share - 21,
              wide + 22);
        label(slot_symbol(Slot::dV_part, owner()), {"share"}, x_dV, y_share - 21, wide);
        draw(Slot::Li, 0, first_rank, rows, one, a.x, y, cw, ch, "sums");
        draw(Slot::Di, 0, first_rank, rows, one, x_D, y, cw, ch, "sums");
        draw(Slot::dQi, 0, first_rank, rows, components, x_dQ, y, cw, ch, "sums");
        draw(Slot::dKj, 0, first_round, keys, components, a.x, y_share, cw, ch, "shares");
        draw(Slot::dVj, 0, first_round, keys, components, x_dV, y_share, cw, ch, "shares");
    }

    // Backward on stage: what the step reads and what it makes, beside each other. Below are the values where
    // it is about keys and values alike, or the result where there are too many columns for one line; where
    // only one line has room it is that of the formula. Of a shard in several pieces one is shown.
    void operands(const Rect& a) {
        const Step& step = now.trace.step(now.k);
        const bool pairs = step.op == Op::store || step.op == Op::add_share || step.op == Op::load_kv;
        std::vector<Access> reads, writes, above, below;
        const auto take = [](std::vector<Access>& line, const Access& access) {
            if (std::ranges::count(line, access.slot, &Access::slot) == 0) line.push_back(access);
        };
        for (const Access& access : now.trace.reads(now.k))
            if (!is_load(step.op)) take(reads, access);
        for (const Access& access : now.trace.writes(now.k)) take(writes, access);
        std::vector<Access> all = reads;
        for (const Access& access : writes) take(all, access);
        const bool fits = columns_of(all) <= columns_for(a.w, all);
        for (const Access& access : all) {
            const bool low = pairs ? info(access.slot).role == Role::V
                                   : !fits && std::ranges::count(writes, access.slot, &Access::slot) > 0;
            (low ? below : above).push_back(access);
        }
        const float gap = 14, half = (a.h - gap) / 2;
        if (below.empty() || above.empty()) return operand_line(a, all);
        if (half < 28 + least_h) {
            const Slot meant = state.explanation.target.slot;
            const bool low = std::ranges::count(below, meant, &Access::slot) > 0;
            return operand_line(a, pairs ? (low ? below : above) : all);
        }
        operand_line({a.x, a.y, a.w, half}, above);
        operand_line({a.x, a.y + half + gap, a.w, half}, below);
    }

    static constexpr float between_operands = 22;
    const Region& region_of(const Access& access) const { return now.trace.value(access.value).region; }
    int columns_of(const std::vector<Access>& line) const {
        return std::accumulate(line.begin(), line.end(), 0,
                               [&](int sum, const Access& access) { return sum + region_of(access).cols; });
    }
    static float room_for(float w, const std::vector<Access>& line) {
        return w - between_operands * px(line.size() - 1) - 6;
    }
    int columns_for(float w, const std::vector<Access>& line) const {
        std::vector<Slot> slots;
        for (const Access& access : line) slots.push_back(access.slot);
        return columns_in(room_for(w, line), columns_of(line), slots);
    }

    // Where there is not room for all columns, each has as many as the others, and what a narrow one leaves.
    std::vector<int> shares_of(float w, const std::vector<Access>& line) const {
        std::vector<int> out(line.size(), 1);
        int left = columns_for(w, line) - static_cast<int>(line.size());
        for (bool given = true; given && left > 0;) {
            given = false;
            for (std::size_t n = 0; n < line.size() && left > 0; ++n)
                if (out[n] < region_of(line[n]).cols) ++out[n], --left, given = true;
        }
        return out;
    }

    void operand_line(const Rect& a, const std::vector<Access>& line) {
        const float head = 28;
        int longest = 1;
        for (const Access& access : line) longest = std::max(longest, region_of(access).rows);
        const std::vector<int> shares = shares_of(a.w, line);
        const int most = std::max(1, static_cast<int>((a.h - head) / least_h));
        const float cw =
                        std::clamp(room_for(a.w, line) / px(std::accumulate(shares.begin(), shares.end(), 0)),
                                   2.0f, 64.0f),
                    ch = std::clamp((a.h - head) / px(std::min(longest, most)), 2.0f, 46.0f);
        float x = a.x;
        for (std::size_t n = 0; n < line.size(); ++n) {
            const Access& access = line[n];
            const Region& at = region_of(access);
            const CellRef meant = cell_in(access.slot, at);
            const Shown rows(at.rows, meant.row - at.row, most), cols(at.cols, meant.col - at.col, shares[n]);
            const bool hbm = info(access.slot).hbm;
            label(slot_symbol(now.trace, access.slot, now.k, hbm ? access.tile : -1),
                  hbm ? std::vector<std::string>{"in HBM"} : std::vector<std::string>{}, x, a.y + 8,
                  cw * px(shares[n]) + between_operands - 4);
            draw(access.slot, access.tile, -1, rows, cols, x, a.y + head, cw, ch, "operand",
                 digits_in(state, access.slot, cw - 7, size::small));
            x += cw * px(shares[n]) + between_operands;
        }
    }
    // The cell of an operand that the formula is about, or one that it uses.
    CellRef cell_in(Slot slot, const Region& at) const {
        const auto there = [&](const CellRef& cell) {
            return cell.slot == slot && at.contains(cell.row, cell.col);
        };
        const CellRef target = state.explanation.target;
        const auto source = std::ranges::find_if(state.explanation.sources, there);
        if (!there(target) && source != state.explanation.sources.end()) return *source;
        return {slot, std::clamp(target.row, at.row, at.row + at.rows - 1),
                std::clamp(target.col, at.col, at.col + at.cols - 1)};
    }

    // What has arrived, and will lie in HBM until its round: K over V, a piece of a shard alone where it is
    // dealt out in several. So with dK and dV.
    void arriving(const Rect& a) {
        const auto writes = now.trace.writes(now.k);
        const Slot above = writes.front().slot, below = writes.back().slot;
        const int owner = now.trace.step(now.k).j, tile = now.ring.keys_of(owner).first_tile;
        const ring::Run& piece = now.ring.keys_of(owner).pieces.front();
        const int all = static_cast<int>(piece.count),
                  chosen = state.explanation.target.row - static_cast<int>(piece.first);
        const float head = 29, between = 40;
        const Shown components(d(), chosen_component(), columns_in(a.w, d(), {above, below})),
            rows(all, chosen, static_cast<int>((a.h - head - between) / 2 / least_h));
        const float cw = std::min(58.0f, a.w / px(components.count)),
                    ch = std::min(46.0f, (a.h - head - between) / px(2 * rows.count));
        const float y_V = a.y + head + ch * px(rows.count) + between;
        const bool home = above == Slot::dK;
        // Inputs have few digits; sums have as many as there is room for.
        const int digits = above == Slot::K_in ? 0
                                               : std::min(digits_in(state, above, cw - 7, size::small),
                                                          digits_in(state, below, cw - 7, size::small));
        std::vector<std::string> which = columns_text(components, home ? "comes home" : "arrives");
        if (rows.count < all) which = {"rows " + shown_of(now.ring.keys_of(owner).positions, rows)};
        label(slot_symbol(above, owner), which, a.x, a.y + 8, a.w);
        label(slot_symbol(below, owner), {}, a.x, y_V - 21, a.w);
        draw(above, tile, now.k, rows, components, a.x, a.y + head, cw, ch, "hbm", digits);
        draw(below, tile, now.k, rows, components, a.x, y_V, cw, ch, "hbm", digits);
    }

    // One line of the table: what was found before, in this round, and what both come to.
    struct Found {
        std::string name;
        int tile;
        bool whole;
        int since;
        bool weighted;
    };
    std::vector<Found> lines() const {
        const std::vector<int> rounds = now.ring.rounds_of(now.rank);
        const int last = static_cast<int>(rounds.size()) - 1;
        if (now.round >= now.ring.ranks) return {{"all", 0, true, first_rank, false}};
        const auto at = std::ranges::find(rounds, now.round);
        const int nth = static_cast<int>(at - rounds.begin());
        const std::string name = "round " + str(now.round);
        if (at == rounds.end()) {
            const int before =
                static_cast<int>(std::ranges::lower_bound(rounds, now.round) - rounds.begin()) - 1;
            if (before < 0) return {{"before", 0, true, now.k + 1, false}};
            return {{"before", before % 2 == 1 ? 2 : 0, before == last, first_rank, false}};
        }
        if (nth == 0) return {{name, 0, last == 0, first_round, false}};
        const int old = nth % 2 == 1 ? 0 : 2;
        return {{"before", old, false, first_rank, true},
                {name, fresh_part, false, first_round, true},
                {"now", 2 - old, nth == last, first_round, false}};
    }

    // m, w, ℓ and O of each line; returns the width.
    float found(const Rect& a) {
        const std::vector<Found> all = lines();
        const float head = 28, names = 62, gap = 9, between = 10, columns_w = a.w - names - 3 * gap;
        const bool stores = op_now(state) == Op::store;
        const int singles = 3;
        // Beside other drawings the table keeps its place, however many lines there are by now.
        const float groups = all_numbers ? px(all.size()) : 3, room = a.h - head - (groups - 1) * between;
        const Shown components(
            d(), chosen_component(),
            columns_in(columns_w, singles + d(), {Slot::m_part, Slot::l_part, Slot::O_part, Slot::Oi}) -
                singles),
            rows(n(), chosen_query(), static_cast<int>(room / groups / least_h)), one(1, 0, 1);
        const float cw = std::clamp(columns_w / px(singles + components.count), 4.0f, 64.0f);
        const float ch = std::clamp(room / (groups * px(rows.count)), 2.0f, 46.0f);
        const float x_m = a.x + names, x_w = x_m + cw + gap, x_l = x_w + cw + gap, x_O = x_l + cw + gap;
        label({slot_symbol(Slot::m).front()}, {"max"}, x_m, a.y + 8, cw + gap);
        if (all.size() > 1) label({slot_symbol(Slot::w_part).front()}, {}, x_w, a.y + 8, cw + gap);
        label({slot_symbol(Slot::l).front()}, {"sum"}, x_l, a.y + 8, cw + gap);
        const bool divided = op_now(state) >= Op::normalize && now.round >= now.ring.ranks;
        label({slot_symbol(Slot::Oi).front()},
              columns_text(components, divided ? "divided by ℓ" : "not yet divided"), x_O, a.y + 8,
              cw * px(components.count));
        hidden_rows(a.x + names - 12, a.y, rows);
        float y = a.y + head;
        for (const Found& line : all) {
            const float h = ch * px(rows.count);
            name_of(line, a.x + names - 12, y + h / 2, all.size() > 1 && h >= 30);
            const auto part = [&](Slot slot, Slot whole, const Shown& cols, float x) {
                draw(line.whole ? whole : slot, line.whole ? 0 : line.tile, line.since, rows, cols, x, y, cw,
                     ch, "found " + line.name);
            };
            part(Slot::m_part, Slot::m, one, x_m);
            if (line.weighted)
                draw(Slot::w_part, line.tile, first_round, rows, one, x_w, y, cw, ch, "weight " + line.name);
            part(Slot::l_part, Slot::l, one, x_l);
            part(Slot::O_part, Slot::Oi, components, x_O);
            if (stores) left_behind(x_w, y, cw, ch, rows.count);
            y += h + between;
        }
        return x_O + cw * px(components.count) - a.x;
    }

    // Beside its name the letter that it has in the formula
    void name_of(const Found& line, float right, float y, bool room) const {
        const bool lettered = room && is_merge(now.trace.step(now.k).op);
        c.text(right, lettered ? y - 9 : y, line.name, size::small, c.theme->t2, Face::medium, Align::right);
        if (!lettered) return;
        const Line letter =
            line.whole ? slot_symbol(Slot::m) : slot_symbol(now.trace, Slot::m_part, now.k, line.tile);
        c.rich(right, y + 9, letter, size::formula, Align::right);
    }

    // Which queries are shown, where there is not room for all
    void hidden_rows(float right, float y, const Shown& rows) const {
        const std::vector<int>& all = now.ring.queries_of(now.rank).positions;
        if (rows.count == std::ssize(all)) return;
        c.text(right, y + 5, "rows " + part_of(all, rows), size::small, c.theme->t3, Align::right);
        c.text(right, y + 18, "of " + positions_text(all), size::small, c.theme->t3, Align::right);
    }

    // L as it lies in HBM, in the place of the weights: of a shard in several pieces the last one
    void left_behind(float x, float y, float cw, float ch, int most) {
        label({slot_symbol(Slot::L).front()}, {}, x, y - 20, cw);
        const Access& last = now.trace.writes(now.k).back();
        const Region& at = now.trace.value(last.value).region;
        const Shown rows(at.rows, state.explanation.target.row - at.row, most), one(1, 0, 1);
        draw(Slot::L, last.tile, now.k, rows, one, x, y, cw, ch, "hbm");
    }
};

std::string words_of_step(const RingNow& now) {
    const int shard = now.trace.step(now.k).j;
    if (now.of_sink(now.k)) return "the gradient of the sink, a sum over all ranks";
    if (now.trace.step(now.k).op == Op::exchange_gradients || now.trace.step(now.k).op == Op::add_share)
        return "gradients of rank " + str(shard) + (shard == now.rank ? " come home" : " on their way");
    if (now.round >= now.ring.ranks) return "all rounds are over";
    const int owner = now.ring.owner(now.rank, now.round);
    return "round " + str(now.round) + ": " +
           (owner == now.rank ? "its own keys" : "keys of rank " + str(owner));
}

void chip_panel(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    const Op op = op_now(state);
    const bool in_hbm = op == Op::exchange_gradients || op == Op::add_share, sink = now.of_sink(now.k);
    const Panel panel(c, "SRAM", a, (in_hbm ? "HBM of rank " : "SRAM of rank ") + str(now.rank),
                      words_of_step(now));
    OnChip chip{c, state, now};
    const Rect inner{a.inner_x(), a.y + 42, a.inner_w(), a.h - 42 - 16};
    if (op == Op::add_share || sink) return chip.operands(inner);
    if (op == Op::exchange_gradients) return chip.arriving(inner);
    const float left = inner.w * (now.backward ? .52f : .44f);
    const float taken = chip.products({inner.x, inner.y, left, inner.h});
    const float x = inner.x + std::max(taken + 26, std::min(left, taken + 60));
    const Rect rest{x, inner.y, inner.right() - x, inner.h};
    now.backward ? chip.gradients(rest) : void(chip.found(rest));
}

}  // namespace

void ring_main(const Canvas& c, AppState& state, const Layout& layout) {
    const RingNow now(state);
    const Rect& a = layout.main;
    const float gap = a.h < 450 ? 8.0f : 12.0f, top = std::clamp(a.h * .47f, 190.0f, 330.0f);
    const float w = a.w - 2 * gap, ring_w = w * .38f, rounds_w = w * .29f;
    ring_panel(c, state, now, {a.x, a.y, ring_w, top});
    rounds_panel(c, now, {a.x + ring_w + gap, a.y, rounds_w, top});
    balance_panel(c, state, now, {a.x + ring_w + rounds_w + 2 * gap, a.y, w - ring_w - rounds_w, top});
    chip_panel(c, state, now, {a.x, a.y + top + gap, a.w, a.h - top - gap});
}

namespace {

// What a message, a load or the end of a rank is about is the whole ring; what a rank computes has the stage.
bool shows_ring(const AppState& state) {
    if (points_at(state, "Rounds") || points_at(state, "Balance") || points_at(state, "Ring")) return true;
    const Op op = op_now(state);
    return !quiz_waits(state) && info(op).kind != OpKind::compute && op != Op::init;
}

// The rounds of all ranks at the left; returns what they leave.
Rect draw_rounds_beside(const Canvas& c, const RingNow& now, const Rect& a) {
    const float cell = std::clamp(118 / px(now.ring.ranks), 15.0f, 40.0f), w = 52 + cell * px(now.ring.ranks),
                h = a.h / size::far_growth;
    note_part(c, {a.x, a.y, w * size::far_growth, a.h}, "Rounds");
    const Enlarged large(c, {a.x, a.y}, size::far_growth);
    const float grid_h = draw_rounds(large.c, now, {0, 0, w, h}, false);
    if (grid_h + 22 <= h) large.c.text(0, grid_h + 14, "a number is a round", size::small, c.theme->t3);
    const float taken = std::max(w, 134.0f) * size::far_growth + 40;
    return {a.x + taken, a.y, a.w - taken, a.h};
}

// Who hands on what to whom, and what has arrived.
void draw_message(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    // High boxes have below their names what they hold, and need less width.
    const float ring_w = a.w * (a.h >= 174 ? .34f : .4f);
    draw_ring(c, now, {a.x, a.y + 4, ring_w, a.h - 50});
    draw_sent(c, now, {a.x, a.bottom() - 36, ring_w, 36});
    OnChip{c, state, now, true}.arriving({a.x + ring_w + 24, a.y, a.w - ring_w - 24, a.h});
}

// What the step does besides, where the equation is one of several alike.
Line likewise(const AppState& state) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    if (stage_terms(trace, k).size() == stage_terms(trace, k, state.explanation).size()) return {};
    const Role meant = info(state.explanation.target.slot).role;
    const Op op = op_now(state);
    const bool values = meant == Role::V;
    if (!values && meant != Role::K) return {word("its other rows in the same way")};
    const int shard = step_now(state).j;
    const Line d = shard_symbol(values ? Slot::dK : Slot::dV, shard),
               share = shard_symbol(values ? Slot::dK_part : Slot::dV_part, shard);
    return op == Op::add_share ? pieces("in the same way  ", d, "  +  ", share, "  →  ", d)
                               : pieces(share, " goes with it");
}

}  // namespace

float ring_map(const Canvas& c, const AppState& state, float right) {
    if (shows_ring(state)) return 0;
    const RingNow now(state);
    const int R = now.ring.ranks;
    constexpr float side = 52, top = 14;
    const float cell = side / px(R), x = right - side;
    for (int rank = 0; rank < R; ++rank)
        for (int round = 0; round < R; ++round) {
            const Rect at{x + px(now.ring.owner(rank, round)) * cell, top + px(rank) * cell, cell, cell};
            const bool current = rank == now.rank && round == now.round_of(rank) && now.round < R;
            if (current)
                c.rect(at.x + 1, at.y + 1, cell - 2, cell - 2, c.theme->t1, radius::bar);
            else if (round <= now.round_of(rank))
                c.rect(at.x + 1, at.y + 1, cell - 2, cell - 2, c.theme->line2, radius::bar);
            else
                c.frame(at.x + 1.5f, at.y + 1.5f, cell - 3, cell - 3, c.theme->line2, 1, radius::bar);
        }
    note_part(c, {x, top, side, side}, "Rounds");
    const float name_w = c.rich(x - 12, 40, {symbol("K", Role::K)}, size::far_number, Align::right);
    return side + 12 + name_w + 20;
}

void ring_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& a) {
    const RingNow now(state);
    const Op op = op_now(state);
    const bool message = (op == Op::exchange || op == Op::exchange_gradients) && !now.of_sink(now.k);
    const Rect rest = shows_ring(state) ? draw_rounds_beside(c, now, a) : a;
    const bool deals = points_at(state, "Balance");
    // The frames of cells reach beyond them, by less than this.
    constexpr float edge = 6, far_edge = edge * size::far_growth;
    note_part(c, {rest.x - far_edge, rest.y, rest.w + far_edge, rest.h},
              deals     ? "Balance"
              : message ? "Ring"
                        : "SRAM");
    if (deals || (message && shows_ring(state))) {
        const Enlarged large(c, {rest.x, rest.y}, size::far_growth);
        const Rect inner{0, 0, rest.w / size::far_growth - edge, rest.h / size::far_growth - edge};
        return deals ? draw_deals(large.c, now, {0, 4, inner.w, inner.h - 4})
                     : draw_message(large.c, state, now, inner);
    }
    const Line more = quiz_waits(state) ? Line{} : likewise(state);
    const float foot = more.empty() ? 0 : 34;
    c.rich(rest.x, rest.bottom() - 16, more, size::far, Align::left, c.theme->t2);
    const Rect body{rest.x, rest.y, rest.w, rest.h - foot};
    stage(c, state, body, {slot_look, has_ring_lens(op) ? ring_lens : nullptr, false});
}

}  // namespace tilewalk::ui
