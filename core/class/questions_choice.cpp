// Questions with a choice: which tiles are skipped, where the maximum rises, what is read from HBM, what
// comes next.
#include "core/class/questions_parts.h"
#include "core/problem/mask.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tilewalk::quiz {

namespace {

constexpr int most_choices = 5;  // keys 1 to 5

struct Tile {
    int i, j;
    bool skipped;
};

// The tiles of the block that begins with this step; none if it begins no block.
std::vector<Tile> tiles_ahead(const Asked& a) {
    const bool queries = a.step.op == Op::load_q && a.step.i >= 0 && a.step.j < 0;
    const bool keys = a.step.op == Op::load_kv && a.step.j >= 0 && a.step.i < 0;
    std::vector<Tile> out;
    const int n = queries ? a.problem.Tc() : keys ? a.problem.Tr() : 0;
    for (int t = 0; t < n; ++t) {
        const int i = queries ? a.step.i : t, j = queries ? t : a.step.j;
        out.push_back({i, j, tile_cover(a.problem, i, j) == TileCover::none});
    }
    return out;
}

// Up to four, those beside an edge of the mask first.
std::vector<Tile> nearest_edge(const std::vector<Tile>& all) {
    std::vector<Tile> out;
    const auto at_edge = [&](std::size_t n) {
        return (n > 0 && all[n - 1].skipped != all[n].skipped) ||
               (n + 1 < all.size() && all[n + 1].skipped != all[n].skipped);
    };
    for (const bool edge : {true, false})
        for (std::size_t n = 0; n < all.size() && out.size() + 1 < most_choices; ++n)
            if (at_edge(n) == edge) out.push_back(all[n]);
    std::ranges::sort(out, {}, [](const Tile& t) { return std::pair(t.i, t.j); });
    return out;
}

// The step of this block in which the tile is passed over.
std::optional<Explanation> skip_explanation(const Asked& a, const Tile& tile) {
    for (int k = a.k; k < a.trace.size() && a.trace.step(k).phase == a.step.phase; ++k)
        if (a.trace.step(k).op == Op::skip && a.trace.step(k).i == tile.i && a.trace.step(k).j == tile.j)
            return explain(a.trace, k);
    return {};
}

void ask_skipped(const Asked& a, std::vector<Question>& out) {
    // Within sequences nothing is skipped: the last query of each sees all of its keys.
    if (a.trace.lesson().uses(chooses_sequences)) return;
    if (!a.problem.causal && !a.problem.window) return;
    const std::vector<Tile> tiles = nearest_edge(tiles_ahead(a));
    if (tiles.size() < 2) return;
    const std::string block = a.step.i >= 0 ? "query block " + str(a.step.i) : "key block " + str(a.step.j);
    Question q = a.question(Question::Kind::skipped_tiles,
                            "Next comes " + block + ". Which of these tiles does the mask skip?");
    q.several = true;
    q.explanation = {};
    q.explanation.title = "Skip tile";
    q.explanation.why = "In each of these tiles some query may look at some key, so none is skipped.";
    for (const Tile& tile : tiles) {
        if (tile.skipped && q.right.empty())
            if (const auto skip = skip_explanation(a, tile)) q.explanation = *skip;
        if (tile.skipped) q.right.push_back(static_cast<int>(q.choices.size()));
        q.choices.push_back(tile_text(tile.i, tile.j));
    }
    if (q.right.empty()) q.right.push_back(static_cast<int>(q.choices.size()));
    q.choices.push_back("none of these");
    out.push_back(std::move(q));
}

// m, and what it is held against, must be numbers or −∞.
void ask_rises(const Asked& a, std::vector<Question>& out) {
    if (a.step.op != Op::new_max || breaks(a.trace.lesson(), a.problem)) return;
    const auto reads = a.trace.reads(a.k);
    const Value &old = a.trace.value(reads[0].value), &tile = a.trace.value(reads[1].value);
    const Value& now = a.trace.value(a.trace.writes(a.k).back().value);
    const int local = a.any(now.region.rows, 30), row = now.region.row + local;
    const double from = old.data(local, 0), with = tile.data(local, 0);
    const bool rises = now.data(local, 0) > from, single = a.trace.lesson().chapter == ChapterId::softmax;
    const std::string where = single ? "" : "[" + str(row) + "]";
    Question q =
        a.question(Question::Kind::maximum_rises,
                   a.next() + " m" + where + " is " + format_apart(from, with).first + ", and " +
                       letter(a.trace, reads[1].slot) + where + " is " + format_apart(from, with).second +
                       "; does the maximum rise" + (single ? "?" : " in row " + str(row) + "?"));
    q.choices = {"it rises", "it stays"};
    q.right = {rises ? 0 : 1};
    q.explanation = explain(a.trace, a.k, CellRef{Slot::m, row, 0});
    out.push_back(std::move(q));
}

// The numbers of the step are for those who have taken it.
void leave_numbers_out(Question& q) {
    q.explanation.numbers.clear();
    q.explanation.result.clear();
}

// "Just done: Row sum, tile (0, 1)." On paper nothing else says where in the walk this is.
std::string just_done(const Asked& a) {
    return "Just done: " + step_words(a.trace, a.k - 1, explain(a.trace, a.k - 1)) + ".";
}

// Symbols of HBM: those that the step reads, and others that hold something by then.
void ask_hbm(const Asked& a, std::vector<Question>& out) {
    // What lies in HBM but was fetched before costs nothing; such a step is not asked about.
    const auto reads = a.trace.reads(a.k);
    const std::int64_t bytes = a.step.traffic.hbm_read - a.before.hbm_read;
    if (bytes == 0 || bytes_in_hbm(a, reads) != bytes) return;
    std::vector<Slot> read, other;
    for (int n = 0; n < slot_count; ++n) {
        const Slot slot = static_cast<Slot>(n);
        if (!info(slot).hbm) continue;
        if (std::ranges::any_of(reads, [&](const Access& r) { return r.slot == slot; }))
            read.push_back(slot);
        else if (a.trace.tiles(slot) > 0 && a.trace.live(slot, 0, a.k))
            other.push_back(slot);
    }
    if (read.empty() || other.empty() || read.size() + other.size() < 3) return;
    while (!other.empty() && read.size() + other.size() > most_choices)
        other.erase(other.begin() + a.any(static_cast<int>(other.size()), 40 + other.size()));
    if (other.empty() || read.size() + other.size() > most_choices) return;
    Question q = a.question(Question::Kind::read_from_hbm,
                            just_done(a) + " Which of these does the next step read from HBM?");
    q.several = true;
    for (int n = 0; n < slot_count; ++n) {
        const Slot slot = static_cast<Slot>(n);
        const bool is_read = std::ranges::count(read, slot) > 0;
        if (!is_read && std::ranges::count(other, slot) == 0) continue;
        const std::string name = letter(a.trace, slot);
        if (std::ranges::count(q.choices, name) > 0) return;  // two slots of one letter could both be meant
        if (is_read) q.right.push_back(static_cast<int>(q.choices.size()));
        q.choices.push_back(name);
    }
    leave_numbers_out(q);
    out.push_back(std::move(q));
}

constexpr int within_reach = 12;  // steps; what is further away nobody takes for the next one

bool touches(std::span<const Access> some, std::span<const Access> others) {
    return std::ranges::any_of(some, [&](const Access& one) {
        return std::ranges::any_of(others, [&](const Access& other) { return one.slot == other.slot; });
    });
}

// Nothing from step k on has to come before step n: its numbers are there, and nobody needs those that it
// replaces. Whoever calls it the next one is not wrong.
bool could_come_now(const Trace& trace, int k, int n) {
    if (trace.step(n).op == Op::skip) return false;  // the loops decide when its turn is
    for (int between = k; between < n; ++between) {
        const auto reads = trace.reads(between), writes = trace.writes(between);
        if (touches(writes, trace.reads(n)) || touches(writes, trace.writes(n)) ||
            touches(reads, trace.writes(n)))
            return false;
    }
    return true;
}

struct Alternative {
    int step;                   // where the operation stands
    bool follows_here = false;  // elsewhere it follows what this step follows
};

bool comes_again_and_could_now(const Asked& a, Op op) {
    for (int n = a.k + 1; n < a.trace.size(); ++n)
        if (a.trace.step(n).op == op) return could_come_now(a.trace, a.k, n);
    return false;
}

// What could be mistaken for the next step: operations close by, and what comes elsewhere at such a place.
// The step that was just taken is none.
std::vector<Alternative> alternatives(const Asked& a) {
    std::vector<Alternative> out;
    const Op just_taken = a.trace.step(a.k - 1).op;
    const auto offer = [&](int n) {
        const Op op = a.trace.step(n).op;
        if (op == a.step.op || op == just_taken || info(op).kind == OpKind::start) return;
        auto at =
            std::ranges::find(out, op, [&](const Alternative& one) { return a.trace.step(one.step).op; });
        if (at == out.end()) at = out.insert(out.end(), {n});
        at->follows_here |= n > 0 && a.trace.step(n - 1).op == just_taken;
    };
    for (int n = a.k + 1; n < std::min(a.trace.size(), a.k + within_reach); ++n) offer(n);
    for (int n = a.k - 1; n > std::max(0, a.k - within_reach); --n) offer(n);
    std::erase_if(
        out, [&](const Alternative& one) { return comes_again_and_could_now(a, a.trace.step(one.step).op); });
    std::ranges::stable_sort(out, {}, [&](const Alternative& one) {
        return std::pair(!one.follows_here, std::abs(one.step - a.k));
    });
    return out;
}

// Four titles, one of them the next step's: those that are mistaken for it most easily.
void ask_next(const Asked& a, std::vector<Question>& out) {
    const std::string own = step_title(a.trace, a.k, a.e);
    std::vector<std::string> others;
    for (const Alternative& one : alternatives(a)) {
        const std::string title = step_title(a.trace, one.step, explain(a.trace, one.step));
        if (others.size() < 3 && title != own && std::ranges::count(others, title) == 0)
            others.push_back(title);
    }
    if (others.size() < 2) return;
    const int at = a.any(static_cast<int>(others.size()) + 1, 60);
    others.insert(others.begin() + at, own);
    Question q = a.question(Question::Kind::next_op, just_done(a) + " What is the next step?");
    q.choices = std::move(others);
    q.right = {at};
    leave_numbers_out(q);
    out.push_back(std::move(q));
}

}  // namespace

void ask_choices(const Asked& a, std::vector<Question>& out) {
    ask_skipped(a, out);
    ask_rises(a, out);
    ask_hbm(a, out);
    ask_next(a, out);
}

}  // namespace tilewalk::quiz
