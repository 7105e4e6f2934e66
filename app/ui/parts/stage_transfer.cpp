#include "app/ui/parts/stage_transfer.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage_frame.h"
#include "app/ui/parts/stage_motion.h"
#include "app/ui/state/marks_kept.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/parts.h"
#include "core/walk/traffic.h"

#include <algorithm>

namespace tilewalk::ui {

std::string bytes_text(std::int64_t bytes) {
    return bytes < 100'000 ? format_count(bytes) + " B" : format_size(bytes);
}

namespace {

constexpr float to_strip = 24;  // from the stage back to the edge of the strip
constexpr float hbm_w = 112, usual_lanes = 204, narrow_lanes = 164, chip_title_h = 42, bytes_h = 76,
                reason_h = 34, most_lane_h = 46;

// Statistics are float32 in HBM, and so are gradients while they grow there (Recorder::count_as_fp32).
std::int64_t size_of(const Trace& trace, const Access& access, bool growing) {
    const bool elements = info(access.slot).counts_elements && !growing;
    return trace.value(access.value).data.size() * (elements ? trace.problem().element_bytes : 4);
}

std::span<const Access> moved(const Trace& trace, int k) {
    return is_load(trace.step(k).op) ? trace.reads(k) : trace.writes(k);
}

// What moves, with its block. Parts have letters; where keys lie at scattered places, or several tiles are
// the shard of a rank, the lesson knows what a tile is called.
Line name_of(const Trace& trace, int k, const Access& access) {
    const bool ranks = trace.lesson().uses(chooses_ranks),
               of_keys = info(access.slot).role == Role::K || info(access.slot).role == Role::V;
    if (ranks && !of_keys && !is_of_parts(access.slot))
        return slot_symbol(access.slot, is_load(trace.step(k).op) ? trace.step(k).when.worker : -1);
    if (trace.lesson().uses(chooses_workers) && info(access.slot).role == Role::Q)  // a row of it, on chip Q₀
        return slot_symbol(Slot::Qi, trace.step(k).i);
    if (is_of_parts(access.slot) || trace.lesson().uses(chooses_sequences) || ranks)
        return slot_symbol(trace, access.slot, k, access.tile);
    return block_symbol(trace, access.slot, k, access.tile);
}

// What goes under one name goes as one, though it be to several places: a prefix, for each sequence its rows.
struct Goods {
    Line name;
    std::vector<Access> all;
    std::int64_t bytes = 0;
    Role role() const { return info(all.front().slot).role; }
};
std::vector<Goods> goods(const Trace& trace, int k) {
    std::vector<Goods> out;
    for (const Access& access : moved(trace, k)) {
        const Line name = name_of(trace, k, access);
        auto same = std::ranges::find_if(out, [&](const Goods& g) { return plain(g.name) == plain(name); });
        if (same == out.end()) same = out.insert(out.end(), {name, {}});
        same->all.push_back(access), same->bytes += moved_bytes(trace, k, access);
    }
    return out;
}

// "K₁ 32 B", or what of it has room.
Line label_of_lane(const Canvas& c, const Goods& what, float room) {
    const Line& name = what.name;
    const std::int64_t bytes = what.bytes;
    if (bytes > 0)
        for (const char* space : {"  ", " "})
            if (Line both = pieces(name, space, number(bytes_text(bytes)));
                rich_width(c, both, size::far) <= room)
                return both;
    return name;
}

enum class Way { in, out, both };

void draw_lane_of(const Canvas& c, const Rect& a, const Line& label, ImU32 colour, Way way) {
    const float head = a.h * .6f, mid = a.middle(), in = way == Way::out ? 0 : head - 1,
                out = way == Way::in ? 0 : head - 1;
    const Rect shaft{a.x + out, a.y + 3, a.w - in - out, a.h - 6};
    c.rect(shaft.x, shaft.y, shaft.w, shaft.h, c.theme->well, radius::bar);
    c.frame(shaft.x, shaft.y, shaft.w, shaft.h, colour, 2.4f, radius::bar);
    if (in > 0)
        c.polygon({{a.right() - head, a.y - 4}, {a.right(), mid}, {a.right() - head, a.bottom() + 4}},
                  colour);
    if (out > 0) c.polygon({{a.x + head, a.y - 4}, {a.x, mid}, {a.x + head, a.bottom() + 4}}, colour);
    c.rich(shaft.x + shaft.w / 2, mid, label, size::far, Align::center);
}

// The arrows, one below the other beside the tiles.
std::vector<Rect> lanes_of(const AppState& state, const TransferPlan& plan) {
    const float count = px(goods(*state.trace, state.cursor.step).size()), gap = 14, room = plan.chip.h - 16;
    const float h = std::min(most_lane_h, (room + gap) / count - gap), all = count * (h + gap) - gap;
    const float lowest = std::max(plan.chip.y + 8, plan.chip.bottom() - 8 - all);
    float y = std::clamp(plan.tiles.middle() - all / 2, plan.chip.y + 8, lowest);
    std::vector<Rect> out;
    for (; px(out.size()) < count; y += h + gap) out.push_back({plan.lanes.x, y, plan.lanes.w, h});
    return out;
}

void draw_arrows(const Canvas& c, const AppState& state, const TransferPlan& plan) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const std::vector<Rect> lanes = lanes_of(state, plan);
    auto lane = lanes.begin();
    for (const Goods& what : goods(trace, k)) {
        const float room = lane->w - .6f * lane->h - 6;
        const Line label = lane->h >= 30 ? label_of_lane(c, what, room) : Line{};
        draw_lane_of(c, *lane++, label, hue(*c.theme, what.role()),
                     is_load(trace.step(k).op) ? Way::in : Way::out);
    }
}

Rect block_in_hbm(const TransferPlan& plan, const Rect& lane) {
    return {plan.hbm.x + 18, lane.y + 4, plan.hbm.w - 36, lane.h - 8};
}

// What moves, in a box of HBM that stands for all of it.
void draw_blocks(const Canvas& c, const AppState& state, const TransferPlan& plan) {
    const Theme& t = *c.theme;
    const bool arrived = is_load(op_now(state)) || !on_its_way(state);
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const std::vector<Rect> lanes = lanes_of(state, plan);
    auto lane = lanes.begin();
    for (const Goods& what : goods(trace, k)) {
        const Rect a = block_in_hbm(plan, *lane++);
        const ImU32 colour = hue(t, what.role()), fill = arrived ? mix(t.panel, colour, .3f) : t.well;
        c.rect(a.x, a.y, a.w, a.h, fill, radius::cell);
        c.frame(a.x - 2, a.y - 2, a.w + 4, a.h + 4, mix(t.panel, colour, .75f), 2.5f, radius::card);
        Line name = what.name;
        for (Span& span : name) span.role = Role::none;
        const bool below_title = a.y >= plan.hbm.y + chip_title_h - 2;
        if (below_title && a.h >= size::far && rich_width(c, name, size::far) <= a.w - 4)
            c.rich(a.x + a.w / 2, a.middle(), name, size::far, Align::center, ink_on(t, fill));
    }
}

void draw_memory(const Canvas& c, const Rect& a, const char* name, const char* words) {
    c.rect(a.x, a.y, a.w, a.h, c.theme->panel, radius::panel);
    c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, c.theme->line2, 1, radius::panel);
    const float w = c.text(a.x + space::far_pad, a.y + 24, name, size::far, 0, Face::semibold);
    const float left = a.x + space::far_pad + w + 12;
    if (text_width(Face::regular, size::far, words) <= a.right() - 12 - left)
        c.text(left, a.y + 24, words, size::far, c.theme->t3);
}

// From where, to where: HBM stands at the left, in its strip or beside it.
void draw_frame(const Canvas& c, const AppState& state, const TransferPlan& plan) {
    constexpr float strip_w = 240;
    const FrameWords& words = frame_words(op_now(state));
    const bool comes = is_load(words.op);
    const Rect& chip = plan.chip;
    const Rect hbm = plan.hbm.w > 0 ? plan.hbm : Rect{plan.lanes.x - strip_w, chip.y, strip_w, chip.h};
    draw_frame_word_over(c, hbm, comes ? words.before : words.after);
    draw_frame_word_over(c, plan.lanes, words.operation);
    draw_frame_word_over(c, chip, comes ? words.after : words.before);
}

// While key blocks pass, the query block that they pass stays on chip.
void draw_what_stays(const Canvas& c, const AppState& state, const TransferPlan& plan) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step, i = trace.step(k).i;
    if (trace.step(k).op != Op::load_kv || i < 0 || trace.tiles(Slot::Qi) == 0) return;
    const int tile = std::min(i, trace.tiles(Slot::Qi) - 1);
    if (!trace.live(Slot::Qi, tile, k)) return;
    const Theme& t = *c.theme;
    const ImU32 colour = hue(t, Role::Q), fill = mix(t.panel, colour, .3f);
    Line words = pieces(block_symbol(trace, Slot::Qi, k, tile), " stays");
    for (Span& span : words) span.role = Role::none;
    const float w = rich_width(c, words, size::far) + 20;
    if (w + 200 > plan.chip.w) return;
    const Rect a{plan.chip.right() - w - 8, plan.chip.y + 7, w, chip_title_h - 8};
    c.rect(a.x, a.y, a.w, a.h, fill, radius::cell);
    c.frame(a.x, a.y, a.w, a.h, mix(t.panel, colour, .75f), 2, radius::cell);
    c.rich(a.x + 10, a.middle(), words, size::far, Align::left, ink_on(t, fill));
}

// Where it moves less, standard attention has a mark in the bar, bright with a dark edge on any part of it.
void draw_standard_mark(const Canvas& c, float x, float y, float h) {
    c.line({x, y - 7}, {x, y + h + 9}, presenter_page(*c.theme), 7);
    c.line({x, y - 6}, {x, y + h + 8}, c.theme->t1, 3);
}

// The whole walk is as long as what it moves; standard attention, where it moves more, reaches further.
void draw_bytes(const Canvas& c, const AppState& state, const Rect& a) {
    const PanelPart part(c, "Lens", a);
    note_part(c, a, "Meters");
    const Theme& t = *c.theme;
    const int k = state.cursor.step;
    const std::int64_t own = moved_by(*state.trace, k), now = moved_when_done(*state.trace, k).total(),
                       before = moved_before(*state.trace, k),
                       whole = state.lesson->model(*state.problem).total();
    const Rival& rival = state.lesson->rival;
    const std::int64_t standard = rival.standard ? rival.model(*state.problem).total() : 0;
    const float h = 24, unit = a.w / px(std::max<std::int64_t>({whole, standard, now, 1}));
    const auto x_of = [&](std::int64_t bytes) { return a.x + px(bytes) * unit; };
    if (standard > 0) {
        c.rect(a.x, a.y, px(standard) * unit, h, mix(t.well, t.line2, .35f), radius::bar);
        c.frame(a.x + .5f, a.y + .5f, px(standard) * unit - 1, h - 1, t.line2, 1, radius::bar);
    }
    c.rect(a.x, a.y, px(whole) * unit, h, t.panel, radius::bar);
    c.frame(a.x + .5f, a.y + .5f, px(whole) * unit - 1, h - 1, t.t3, 1.4f, radius::bar);
    // Bar and words are of one moment: before the step its bytes are still to come.
    const bool comes = shows_before(state);
    const std::int64_t base = comes ? before : now - own;  // of other workers' bytes some have come meanwhile
    c.rect(a.x, a.y, px(base) * unit, h, t.line2, radius::bar);
    const float there = over(phase(state), is_load(op_now(state)) ? during::loading : during::storing);
    c.rect(x_of(base), a.y - 2, std::max(px(own) * unit * there, 3.0f), h + 4, t.t1, 2);
    const bool passed = standard > 0 && standard < whole;
    if (passed) draw_standard_mark(c, x_of(standard), a.y, h);

    const Line step = pieces(comes ? "this step will move " : "this step ", strong(bytes_text(own))),
               far_so = pieces(whose_bytes(state) + " ", strong(bytes_text(comes ? before : now)),
                               " of " + bytes_text(whole));
    const Line both = comes ? pieces(far_so, ",   ", step) : pieces(step, ",   ", far_so);
    const Line brief = standard > 0 ? pieces("standard ", strong(bytes_text(standard))) : Line{};
    const float y = a.y + h + 27;
    const auto fit = [&](const Line& left, const Line& right) {
        return rich_width(c, left, size::far) + rich_width(c, right, size::far) + 40 <= a.w;
    };
    // That standard attention moves less here is a surprise, and its reason worth more than this step.
    const Problem& p = state.trace->problem();
    const bool larger_tiles = p.Br < p.N() || p.Bc < p.N_kv();
    const Line why =
        passed ? pieces(brief, larger_tiles ? ": less, with tiles this small" : ": less, with so few keys")
               : brief;
    const Line& other = passed && fit(far_so, why) ? why : brief;
    const Line& told = fit(both, other) ? both : far_so;
    const float other_w = other.empty() ? 0 : rich_width(c, other, size::far);
    c.rich(a.x, y, told, size::far);
    // Below its mark, if that is free.
    const float free = a.x + rich_width(c, told, size::far) + 40, last = a.right() - other_w;
    const float under = passed ? std::clamp(x_of(standard) - other_w / 2, std::min(free, last), last) : last;
    if (other_w > 0 && free <= last) c.rich(under, y, other, size::far);
}

}  // namespace

bool pictures_transfer(const AppState& state) {
    const Op op = op_now(state);
    return (is_load(op) || is_store(op)) && !quiz_waits(state) && !points_at(state, "Lens");
}

TransferPlan transfer_plan(const Rect& a, bool strip, bool bytes, Lanes lanes) {
    TransferPlan p;
    const bool narrow = lanes == Lanes::narrow;
    const float lanes_w = narrow ? narrow_lanes : usual_lanes, pad = narrow ? 13 : 16, gap = narrow ? 6 : 12;
    const float below = bytes ? bytes_h + 14 : 0;
    float x = strip ? a.x - to_strip : a.x;
    if (!strip) p.hbm = {x, a.y, hbm_w, a.h - below}, x += hbm_w + 12;
    p.lanes = {x, a.y, lanes_w, a.h - below};
    p.chip = {x + lanes_w + gap, a.y, a.right() - x - lanes_w - gap, a.h - below};
    p.tiles = {p.chip.x + pad, p.chip.y + chip_title_h, p.chip.w - 2 * pad, p.chip.h - chip_title_h - 10};
    if (bytes) p.bytes = {a.x, a.bottom() - bytes_h, a.w, bytes_h};
    return p;
}

std::vector<StripPlace> places_in_hbm(const AppState& state, const TransferPlan& plan) {
    std::vector<StripPlace> out;
    const std::vector<Rect> lanes = lanes_of(state, plan);
    auto lane = lanes.begin();
    for (const Goods& what : goods(*state.trace, state.cursor.step)) {
        const Rect area = block_in_hbm(plan, *lane++);
        for (const Access& access : what.all) out.push_back({access.slot, access.tile, area});
    }
    return out;
}

void draw_transfer(const Canvas& c, AppState& state, const TransferPlan& plan) {
    // What a dense kernel keeps where is left to it.
    const bool told = state.lesson->model(*state.problem).sram_peak > 0;
    // Beside the strip, whose title calls HBM slow; a narrow HBM has no room for that.
    const char* const how = !told ? "on chip" : plan.hbm.w > 0 ? "" : "fast";
    draw_memory(c, plan.chip, told ? "SRAM" : "kernel", how);
    if (plan.hbm.w > 0) {
        draw_memory(c, plan.hbm, "HBM", "");
        draw_blocks(c, state, plan);
    }
    draw_frame(c, state, plan);
    draw_what_stays(c, state, plan);
    draw_arrows(c, state, plan);
    if (plan.bytes.h > 0) draw_bytes(c, state, plan.bytes);
}

bool exchanges(const AppState& state) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    return info(trace.step(k).op).kind == OpKind::compute && !quiz_waits(state) &&
           std::ranges::any_of(trace.writes(k), [&](const Access& a) {
               return info(a.slot).hbm && value_in(trace, trace.reads(k), a.slot);
           });
}

void draw_exchange(const Canvas& c, const AppState& state, const Rect& a) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const auto grown = std::ranges::find_if(
        trace.writes(k), [&](const Access& one) { return value_in(trace, trace.reads(k), one.slot); });
    const Line bytes{number(bytes_text(size_of(trace, *grown, true)))};
    const Line label =
        pieces(block_symbol(trace, grown->slot, k, grown->tile), "  ", bytes, " in, ", bytes, " back");
    const float room = a.h - bytes_h - 18, h = std::min(most_lane_h, room), x = a.x - to_strip;
    const float w = std::min(a.right() - x - 8, rich_width(c, label, size::far) + 1.2f * h + 32);
    draw_lane_of(c, {x, a.y + 4 + (room - h) / 2, w, h}, label, hue(*c.theme, info(grown->slot).role),
                 Way::both);
    draw_bytes(c, state, {a.x, a.bottom() - bytes_h, a.w, bytes_h});
}

std::string all_workers(const AppState& state) {
    const int busy = state.trace->workers();
    if (busy < 2) return "";
    const bool ranks = state.lesson->uses(chooses_ranks);
    const int all = ranks ? busy : state.problem->options.workers;
    return std::string(all == 2 ? "both " : "all ") + (ranks ? "ranks" : "workers");
}

std::string whose_bytes(const AppState& state) {
    const std::string all = all_workers(state);
    return all.empty() ? "so far" : all + " by now";
}

Line moved_symbols(const Trace& trace, int k) {
    Line out;
    std::vector<std::string> known;
    for (const Access& access : moved(trace, k)) {
        const Line name = name_of(trace, k, access);
        if (std::ranges::find(known, plain(name)) != known.end()) continue;
        known.push_back(plain(name));
        if (!out.empty()) append(out, word(", "));
        append(out, name);
    }
    return known.size() <= 4 ? out : Line{};
}

std::int64_t moved_bytes(const Trace& trace, int k, const Access& access) {
    const std::int64_t counted = moved_by(trace, k);
    for (const bool growing : {false, true}) {
        std::int64_t all = 0;
        for (const Access& one : moved(trace, k)) all += size_of(trace, one, growing);
        if (all == counted) return size_of(trace, access, growing);
    }
    return 0;
}

}  // namespace tilewalk::ui
