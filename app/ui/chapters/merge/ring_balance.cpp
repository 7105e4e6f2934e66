// How busy the ranks of a ring are with a causal mask, for each way to deal the sequence out.
#include "app/ui/chapters/merge/ring.h"

#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <numeric>

namespace tilewalk::ui {

namespace {

struct Dealt {
    ShardKind kind;
    const char* name;
    bool chosen = false;
    std::vector<std::vector<double>> scores;  // of each rank and round
    double sum = 0, end = 0, busy = 0;

    // "36 of 4 × 15 scores: 60 % busy"
    std::string told() const {
        const auto count = [](double n) { return format_count(static_cast<std::int64_t>(n)); };
        return count(sum) + " of " + str(scores.size()) + " × " + count(end) + " scores: " + percent(busy) +
               " busy";
    }
};
struct Deals {
    std::vector<Dealt> list{};
    double longest = 1;
};

Deals all_deals(const RingNow& now) {
    const Problem& p = now.trace.problem();
    const int R = now.ring.ranks;
    Deals out;
    for (const auto& [kind, name] :
         {std::pair(ShardKind::contiguous, "contiguous"), std::pair(ShardKind::zigzag, "zig-zag"),
          std::pair(ShardKind::striped, "striped")}) {
        const auto shards = static_cast<ring::Shards>(kind);
        if (ring::refuse(shards, std::min(p.N(), p.N_kv()), R)) continue;
        Dealt one{kind, name, kind == p.options.shards, {}};
        for (int rank = 0; rank < R; ++rank) {
            one.scores.emplace_back();
            for (int round = 0; round < R; ++round)
                one.scores.back().push_back(
                    static_cast<double>(ring::scores_of(shards, p.N_kv(), R, rank, round, true)));
            one.sum += std::accumulate(one.scores.back().begin(), one.scores.back().end(), 0.0);
        }
        const auto computing = [&](int rank, int round) {
            return one.scores[static_cast<std::size_t>(rank)][static_cast<std::size_t>(round)];
        };
        one.end = ring::schedule(R, R, computing, [](int, int) { return 0.0; }).end();
        one.busy = one.sum / (one.end * R);
        out.longest = std::max(out.longest, one.end);
        out.list.push_back(std::move(one));
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
        if (end - x > 3) c.crossed(x, y, end - x - 1, h, t.line2, 8);
    }
    const float end = a.x + static_cast<float>(one.end) * scale;
    c.line({end, a.y - 1}, {end, a.y + a.h}, t.t2, 1.4f);
}

}  // namespace

void balance_panel(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    const Panel panel(c, "Balance", a, "With a causal mask",
                      a.w > 430 ? "a bar is a rank, crossed: it waits" : "scores alone");
    const Theme& t = *c.theme;
    const Deals deals = all_deals(now);
    const float top = a.y + 44, each = (a.bottom() - 10 - top) / 3;
    float y = top;
    for (const Dealt& one : deals.list) {
        const float button_w = button_width(one.name, size::small), label_h = 24;
        if (button(c, std::string("##shards ") + one.name, a.inner_x(), y, button_w, label_h, one.name,
                   {.active = one.chosen, .quiet = !one.chosen, .size = size::small}))
            choose_ring(state, now.ring.ranks, one.kind);
        const std::string busy = percent(one.busy) + " busy", full = one.told();
        const float room = a.inner_w() - button_w - 10;
        c.text(a.inner_right(), y + label_h / 2,
               text_width(Face::regular, size::small, full) <= room ? full : busy, size::small,
               one.chosen ? t.t1 : t.t2, Align::right);
        const float bars = each - label_h - 8;
        if (bars >= px(now.ring.ranks) * 2)
            deal_bars(c, one, {a.inner_x(), y + label_h + 3, a.inner_w(), bars}, deals.longest);
        y += each;
    }
    if (std::ssize(deals.list) < 3 && a.h > 150)
        c.text_within(a.inner_x(), y + 12, a.inner_w(), "zig-zag: from two rows a rank", size::small, t.t3);
}

// The plain way and the one that is chosen, or its rival: three are too many for one glance.
void draw_deals(const Canvas& c, const RingNow& now, const Rect& a) {
    Deals deals = all_deals(now);
    const bool plain = !deals.list.empty() && deals.list.front().chosen;
    std::erase_if(deals.list, [&](const Dealt& one) {
        return one.kind != ShardKind::contiguous && !(plain ? one.kind == ShardKind::zigzag : one.chosen);
    });
    const float each = a.h / px(std::max<std::size_t>(1, deals.list.size()));
    float y = a.y;
    const bool causal = now.trace.problem().causal;
    for (const Dealt& one : deals.list) {
        const float name_w = c.text(a.x, y + 9, one.name, size::small, one.chosen ? c.theme->t1 : c.theme->t2,
                                    one.chosen ? Face::semibold : Face::regular),
                    busy_w = c.text(a.right(), y + 9, one.told() + (causal ? "" : ", if causal"), size::small,
                                    c.theme->t2, Align::right);
        constexpr const char* key = "a line is a rank, from 0 down";
        if (&one == &deals.list.front() &&
            text_width(Face::regular, size::small, key) + 24 <= a.w - name_w - busy_w)
            c.text(a.x + name_w + 12, y + 9, key, size::small, c.theme->t3);
        if (each > 30) deal_bars(c, one, {a.x, y + 22, a.w, each - 28}, deals.longest);
        y += each;
    }
}

}  // namespace tilewalk::ui
