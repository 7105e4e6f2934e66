// What a rank has found in its rounds: a line for what was there, one for this round, one for both.
#include "app/ui/chapters/merge/ring_chip.h"

#include "app/ui/parts/slot_view.h"
#include "core/lessons/shared/parts.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Found {
    std::string name;
    int tile;
    bool whole;
    int since;
    bool weighted;
};

std::vector<Found> found_lines(const OnChip& chip) {
    const RingNow& now = chip.now;
    const std::vector<int> rounds = now.ring.rounds_of(now.rank);
    const int last = static_cast<int>(rounds.size()) - 1;
    if (now.over()) return {{"all", 0, true, chip.first_rank, false}};
    const auto at = std::ranges::find(rounds, now.round);
    const int nth = static_cast<int>(at - rounds.begin());
    const std::string name = "round " + str(now.round);
    if (at == rounds.end()) {
        const int before = static_cast<int>(std::ranges::lower_bound(rounds, now.round) - rounds.begin()) - 1;
        if (before < 0) return {{"before", 0, true, now.k + 1, false}};
        return {{"before", before % 2 == 1 ? 2 : 0, before == last, chip.first_rank, false}};
    }
    if (nth == 0) return {{name, 0, last == 0, chip.first_round, false}};
    const int old = nth % 2 == 1 ? 0 : 2;
    return {{"before", old, false, chip.first_rank, true},
            {name, fresh_part, false, chip.first_round, true},
            {"now", 2 - old, nth == last, chip.first_round, false}};
}

// Beside its name the letter that it has in the formula
void draw_name(const OnChip& chip, const Found& line, float right, float y, bool room) {
    const Canvas& c = chip.c;
    const bool lettered = room && is_merge(chip.now.step().op);
    c.text(right, lettered ? y - 9 : y, line.name, size::small, c.theme->t2, Face::medium, Align::right);
    if (!lettered) return;
    const Line letter =
        line.whole ? slot_symbol(Slot::m) : slot_symbol(chip.now.trace, Slot::m_part, chip.now.k, line.tile);
    c.rich(right, y + 9, letter, size::formula, Align::right);
}

// Which queries are shown, where there is not room for all
void draw_hidden_rows(const OnChip& chip, float right, float y, const ShownPart& rows) {
    const std::vector<int>& all = chip.now.ring.queries_of(chip.now.rank).positions;
    if (rows.count == std::ssize(all)) return;
    const Canvas& c = chip.c;
    c.text(right, y + 5, "rows " + part_of(all, rows), size::small, c.theme->t3, Align::right);
    c.text(right, y + 18, "of " + positions_text(all), size::small, c.theme->t3, Align::right);
}

// L as it lies in HBM, in the place of the weights: of a shard in several pieces the last one
void draw_left_behind(OnChip& chip, float x, float y, float cw, float ch, int most) {
    chip.label({slot_symbol(Slot::L).front()}, {}, x, y - 20, cw);
    const Access& last = chip.now.trace.writes(chip.now.k).back();
    const Region& at = chip.now.trace.value(last.value).region;
    const ShownPart rows(at.rows, chip.state.explanation.target.row - at.row, most), one(1, 0, 1);
    chip.draw(Slot::L, last.tile, chip.now.k, rows, one, x, y, cw, ch, "hbm");
}

}  // namespace

void OnChip::found(const Rect& a) {
    const std::vector<Found> all = found_lines(*this);
    const Op op = now.step().op;
    // The table keeps its place, however many lines there are by now.
    const float groups = 3, singles = 3, head = 28, names = 62, gap = 9, between = 10;
    const float columns_w = a.w - names - 3 * gap, room = a.h - head - (groups - 1) * between;
    const ShownPart components(d(), chosen_component(), static_cast<int>(columns_w / 2 - singles)),
        rows(n(), chosen_query(), static_cast<int>(room / groups / least_h())), one(1, 0, 1);
    const float cw = std::clamp(columns_w / (singles + px(components.count)), 4.0f, 64.0f);
    const float ch = std::clamp(room / (groups * px(rows.count)), 2.0f, 46.0f);
    const float x_m = a.x + names, x_w = x_m + cw + gap, x_l = x_w + cw + gap, x_O = x_l + cw + gap;
    label({slot_symbol(Slot::m).front()}, {"max"}, x_m, a.y + 8, cw + gap);
    if (all.size() > 1) label({slot_symbol(Slot::w_part).front()}, {}, x_w, a.y + 8, cw + gap);
    label({slot_symbol(Slot::l).front()}, {"sum"}, x_l, a.y + 8, cw + gap);
    const bool divided = op >= Op::normalize && now.over();
    label({slot_symbol(Slot::Oi).front()},
          columns_text(components, divided ? "divided by ℓ" : "not yet divided"), x_O, a.y + 8,
          cw * px(components.count));
    draw_hidden_rows(*this, a.x + names - 12, a.y, rows);
    float y = a.y + head;
    for (const Found& line : all) {
        const float h = ch * px(rows.count);
        draw_name(*this, line, a.x + names - 12, y + h / 2, all.size() > 1 && h >= 30);
        const auto part = [&](Slot slot, Slot whole, const ShownPart& cols, float x) {
            draw(line.whole ? whole : slot, line.whole ? 0 : line.tile, line.since, rows, cols, x, y, cw, ch,
                 "found " + line.name);
        };
        part(Slot::m_part, Slot::m, one, x_m);
        if (line.weighted)
            draw(Slot::w_part, line.tile, first_round, rows, one, x_w, y, cw, ch, "weight " + line.name);
        part(Slot::l_part, Slot::l, one, x_l);
        part(Slot::O_part, Slot::Oi, components, x_O);
        if (op == Op::store) draw_left_behind(*this, x_w, y, cw, ch, rows.count);
        y += h + between;
    }
}

}  // namespace tilewalk::ui
