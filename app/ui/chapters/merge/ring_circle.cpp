// The ranks of a ring in a circle, with what each of them has and what is on its way.
#include "app/ui/chapters/merge/ring.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr int most_ranks = 16;

int most_ranks_of(const Problem& p) {
    const int rows = std::min(p.N(), p.N_kv()), each = p.options.shards == ShardKind::zigzag ? 2 : 1;
    return std::clamp(rows / each, 1, most_ranks);
}

std::string all_ranks(int ranks) {
    return ranks == 1 ? "the only rank" : ranks == 2 ? "both ranks" : "all " + str(ranks) + " ranks";
}

struct Boxes {
    Rect a;
    int ranks;
    int above = (ranks + 1) / 2, below = ranks - above;
    float gap = ranks > 8 ? 14.0f : 26.0f;
    float w = (a.w - gap * px(above - 1)) / px(above);
    float h = std::min(64.0f, below > 0 ? (a.h - 28) / 2 : a.h);

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
        const float x = from < above ? p.x + w * .55f : p.x + w * .45f;
        return from < above ? std::pair<Point, Point>{{x, p.bottom() + 3}, {x, q.y - 3}}
                            : std::pair<Point, Point>{{x, p.y - 3}, {x, q.bottom() + 3}};
    }
};

// Backward, the gradients that have come to a rank.
Line gradients_of(const RingNow& now, int rank) {
    const int owner = now.gradients_at(rank);
    if (owner < 0) return {};
    return pieces(slot_symbol(Slot::dK, owner), " ", slot_symbol(Slot::dV, owner));
}

void rank_box(const Canvas& c, const RingNow& now, int rank, const Rect& a) {
    const Theme& t = *c.theme;
    const bool own = rank == now.rank;
    c.rect(a.x, a.y, a.w, a.h, t.well, radius::card);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, own ? t.focus : t.line2, own ? 2.0f : 1.0f, radius::card);
    const int owner = now.ring.owner(rank, now.round_of(rank));
    const Line keys = pieces(slot_symbol(Slot::K, owner), " ", slot_symbol(Slot::V, owner)),
               gradients = gradients_of(now, rank),
               all = gradients.empty() ? keys : pieces(keys, "  ", gradients);
    // Where one of them has room, it is what the step hands on.
    const bool of_gradients = now.step().op == Op::exchange_gradients && !gradients.empty();
    const Line& both = of_gradients ? gradients : keys;
    // Below each other, beside each other, or the name alone
    const bool high = a.h >= 50;
    const ImU32 ink = own ? t.t1 : t.t2;
    std::string name = "rank " + str(rank);
    const auto name_w = [&] { return text_width(Face::semibold, size::small, name); };
    const auto fits = [&](const Line& line) {
        return rich_width(c, line, size::formula) <= (high ? a.w - 8 : a.w - name_w() - 26);
    };
    const Line one =
        of_gradients ? slot_symbol(Slot::dK, now.gradients_at(rank)) : slot_symbol(Slot::K, owner);
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

// What is on its way stands outside of an upright arrow, of a level one between the two rows of boxes.
void message(const Canvas& c, const RingNow& now, int rank, const Boxes& boxes,
             const std::pair<Point, Point>& way) {
    const auto& [from, to] = way;
    const Line what = now.message_from(rank);
    const float w = rich_width(c, what, size::formula), length = std::abs(to.y - from.y);
    if (!what.empty() && from.y == to.y) {
        const bool upper = rank < boxes.above;
        const Rect a = boxes.box(rank);
        const float apart = upper ? boxes.a.bottom() - boxes.h - a.bottom() : a.y - boxes.a.y - boxes.h;
        // Its neighbours' names stand at the middle of this strip.
        if (boxes.below > 0 && apart >= 58 && w <= boxes.w)
            c.rich((from.x + to.x) / 2, upper ? a.bottom() + 12 : a.y - 12, what, size::formula,
                   Align::center);
        return;
    }
    if (what.empty() || from.x != to.x || length < 20) return;
    const bool down = to.y > from.y;
    if (w + 10 > (down ? boxes.box(rank).right() - from.x : from.x - boxes.box(rank).x)) return;
    c.rich(from.x + (down ? 10.0f : -10.0f), (from.y + to.y) / 2, what, size::formula,
           down ? Align::left : Align::right);
}

}  // namespace

void draw_ring(const Canvas& c, const RingNow& now, const Rect& a) {
    const int R = now.ring.ranks;
    const Boxes boxes{a, R};
    for (int r = 0; r < R; ++r) rank_box(c, now, r, boxes.box(r));
    for (int r = 0; r < R && R > 1; ++r) {
        const auto [from, to] = boxes.way(r, (r + 1) % R);
        const bool on_its_way = now.sends(r);
        // Keys and values together have no hue of their own.
        c.arrow({from, to}, on_its_way ? ArrowStyle::active : ArrowStyle::idle);
        message(c, now, r, boxes, {from, to});
    }
}

void draw_sent(const Canvas& c, const RingNow& now, const Rect& a) {
    const std::int64_t all = now.trace.lesson().model(now.trace.problem()).sent,
                       sent = now.step().traffic.sent, own = now.received();
    const Theme& t = *c.theme;
    const std::string ranks = all_ranks(now.ring.ranks);
    const bool two_lines = a.h >= sent_h && own > 0;
    const auto write = [&](float y, std::initializer_list<Line> choices) {
        const auto fits = [&](const Line& line) { return rich_width(c, line, size::small) <= a.w; };
        const auto found = std::ranges::find_if(choices, fits);
        if (found != choices.end()) c.rich(a.x, y, *found, size::small, Align::left, t.t2);
    };
    const Line so_far = pieces(strong(format_size(sent)), " of " + format_size(all));
    write(a.y + 8, {pieces("sent by " + ranks + "  ", so_far), pieces(ranks + "  ", so_far), so_far});
    const Line message{strong(format_size(own))};
    if (two_lines)
        write(a.y + 44, {pieces("this rank, in this step  ", message), pieces("this rank  ", message)});
    // Of all that has come by now, the message of the step is bright.
    const float unit = all > 0 ? a.w / px(all) : 0, x = a.x + px(sent - own) * unit;
    c.rect(a.x, a.y + 22, a.w, 8, t.well, radius::bar);
    c.rect(a.x, a.y + 22, px(sent - own) * unit, 8, t.t3, radius::bar);
    if (own > 0) c.rect(x + 1, a.y + 21, std::max(2.0f, px(own) * unit - 1), 10, t.t1, radius::bar);
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
    // A step that takes several has them all.
    const int last = now.step().when.end - 1;
    const std::string at =
        last > now.tick ? "ticks " + str(now.tick) + "–" + str(last) : "tick " + str(now.tick);
    if (text_width(Face::regular, size::body, at) < right - a.inner_x() - words - 28)
        c.text(a.inner_x() + words + 12, a.title_y(), at, size::body, c.theme->t3);

    const float foot = 46;
    draw_ring(c, now, {a.inner_x(), a.y + 46, a.inner_w(), a.h - 46 - foot - 6});
    draw_sent(c, now, {a.inner_x(), a.bottom() - foot, a.inner_w(), foot});
}

}  // namespace tilewalk::ui
