// The page as a whole, and small parts that its panels share.
#include "app/ui/chapters/inside/inside.h"

#include "app/ui/kit/empty.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/page_frame.h"
#include "app/ui/state/tour.h"
#include "core/class/glossary.h"
#include "core/inside/reasons.h"
#include "core/inside/words.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilewalk::ui {

using inside::Matter;
using inside::Op;
using inside::Part;

inside::FragmentCell cell_inside(const AppState& state) {
    return inside::cell_of_register(state.inside.lane, state.inside.cell % inside::info(Part::C).registers);
}

NamedProduct named_product(const InsidePlace& at) {
    const inside::Origins& origins = at.origins();
    const auto matter = [&](Part part) { return origins.matter_of_part(at.warp, at.k, part); };
    const auto region = [&](Part part) { return origins.region_of_part(at.warp, at.k, part); };
    NamedProduct out{matter(Part::A), matter(Part::B), matter(Part::C)};
    const auto b = region(Part::B);
    if (out.C == Matter::S) {
        const auto a = region(Part::A);
        if (a && b) out.row = a->row, out.column = b->row, out.k = a->column;
        return out;
    }
    if (out.C != Matter::O) return out;
    if (b) out.column = b->column, out.k = b->row;
    // The row of P̃ is that of the exponential that was packed, as the kernel's twin names it.
    for (int row = 0; at.bridge && row < inside::info(Part::A).rows && out.row < 0; ++row) {
        const auto way = origins.trace(at.warp, at.k, Part::A, row, 0);
        if (way.size() < 2) continue;
        const int step = origins.step_number(way.back().event);
        for (const auto& entry : at.bridge->at(at.launch_number(), at.warp, step, way.back().lane, 1))
            if (entry.number.quantity == inside::Quantity::P) out.row = entry.number.row - row;
    }
    return out;
}

bool knows_place_inside(const InsidePlace& at) { return named_product(at).known(); }

inside::FragmentCell index_inside(const InsidePlace& at, inside::FragmentCell cell) {
    const NamedProduct named = named_product(at);
    if (!named.known()) return cell;
    return {named.row + cell.row, named.column + cell.column};
}

ImU32 hue_of(const Theme& t, Matter matter) {
    const Role role = role_of(matter);
    return role == Role::none ? t.t3 : hue(t, role);
}

Line matter_line(Matter matter, const char* otherwise) {
    const std::string text = inside::symbol_of(matter);
    if (text.empty()) return pieces(symbol(otherwise, Role::none));
    if (text.size() == 1) return pieces(symbol(text, role_of(matter), matter == Matter::P));
    return pieces(symbol(text, role_of(matter)));
}

void tip_of_term(const Canvas& c, AppState& state, const std::string& id, const Rect& a, const char* card) {
    const GlossaryCard* const of = find_card(card);
    const Hot hot = hot_area(c, id, a.x, a.y, a.w, a.h);
    if (!of) return;
    if (hot.hovered) tooltip(c, of->text);
    if (!hot.clicked) return;
    state.glossary = std::make_shared<Glossary>();
    state.glossary->card = of->id;
}

const char* card_of_step(const AppState& state) {
    const InsidePlace at = place_inside(state);
    if (!at) return "warp";
    switch (at.event->op) {
    case Op::copy_issued:
    case Op::copy_arrived:
    case Op::fetch_tile: return "copy-in-background";
    case Op::copies_committed:
    case Op::wait_copies: return "copy-group";
    case Op::multiply_add:
    case Op::multiply_async:
    case Op::commit_products:
    case Op::wait_products: return "tensor-core";
    case Op::sync_block:
    case Op::init_barrier:
    case Op::arrive_at:
    case Op::expect_bytes:
    case Op::wait_for:
    case Op::arrive_named:
    case Op::sync_named:
    case Op::left_out: return "barrier";
    default: break;
    }
    const auto accesses = inside::accesses_of(*at.event, at.words);
    if (accesses.empty()) return "warp";
    return accesses.front().shared ? "sram" : "hbm";
}

bool inside_shows_memory(const AppState& state) {
    if (state.inside.memory_of == state.inside.step) return state.inside.memory;
    const InsidePlace at = place_inside(state);
    return at && !inside::accesses_of(*at.event, at.words).empty();
}

ShownAccess shown_access(const InsidePlace& at, const inside::FragmentCell& cell) {
    if (at.event->op == Op::fetch_tile || !inside::accesses_of(*at.event, at.words).empty())
        return {at.event, 0, at.lane};
    if (at.event->op != Op::multiply_add) return {};
    // Tensor cores read registers only: the load that filled them is the nearest to memory that there is. It
    // may have filled registers of other products as well: eight lanes name the rows of each.
    for (const Part part : {Part::B, Part::A}) {
        const inside::Origins::Filled first = at.origins().filled(at.warp, at.k, part, 0);
        if (first.step < 0) continue;
        const inside::Event& event = at.block().events[at.steps().event(at.warp, first.step)];
        if (inside::accesses_of(event, at.block().words_of(event)).empty()) continue;
        ShownAccess out{&event, at.k - first.step, at.lane, 0, part};
        for (int reg = 0; reg < inside::info(part).registers; ++reg)
            if (const auto filled = at.origins().filled(at.warp, at.k, part, reg); filled.step == first.step)
                out.fed |= 0xFFu << (8 * filled.reg);
        const inside::Holder holds =
            part == Part::B ? inside::holder(part, 0, cell.column) : inside::holder(part, cell.row, 0);
        const inside::Origins::Filled of = at.origins().filled(at.warp, at.k, part, holds.reg);
        out.lane =
            inside::source_of_register(holds.lane, of.reg, holds.half, event.op == Op::load_transposed).lane;
        return out;
    }
    return {};
}

// The launch behind those that multiply: it has what all splits have computed.
static bool combines_splits(const InsidePlace& at) {
    return at.record().split_blocks > 0 &&
           std::ranges::find(at.launch->launch->counts, Op::multiply_add, &inside::Counts::op) ==
               at.launch->launch->counts.end();
}

// α is a power of two as P̃ is, and what is packed may be weights or results.
inside::StepWords step_words(const InsidePlace& at) {
    inside::StepWords words =
        inside::words_of_step(at.record(), at.block(), *at.event, at.origins().matter(at.n));
    if (const auto barrier = at.launch->barriers.at(at.block(), at.steps(), at.warp, at.k))
        words.why = barrier_sentence(*barrier, at.event->op);
    // Without its twin a forward kernel does not tell α from a weight.
    const bool exponential = at.event->op == Op::exp2 || at.event->op == Op::exp;
    if (const std::string reason = inside::reason_of_step(at.record(), at.block(), at.steps(), at.origins(),
                                                          at.warp, at.k, at.walk->own_text.empty());
        !reason.empty() && (!exponential || at.bridge || at.origins().is_backward()))
        words.why = reason;
    if (!exponential) return words;
    if (combines_splits(at))
        words.why =
            "The weight of a split: exp((m of the split − m of the row) · scale). Its ℓ and O are multiplied "
            "by "
            "it before those of all splits are added up. The unit for special functions knows powers of two "
            "only: log₂ e is a factor of x.";
    if (makes_alpha(at))
        words.why = "α = exp((m before − m) · scale), for each row: what ℓ and O have summed up is "
                    "multiplied by it, as if the "
                    "new maximum had been known. Where nothing was summed yet, m was −∞, and α is 0.";
    return words;
}

bool makes_alpha(const InsidePlace& at) {
    if (!at.bridge || at.event->lanes == 0) return false;
    const auto made = at.bridge->at(at.launch_number(), at.warp, at.k, std::countr_zero(at.event->lanes), 1);
    return std::ranges::any_of(made, [&](const inside::Bridge::Entry& e) {
        return e.number.quantity == inside::Quantity::alpha && e.held.how == inside::HeldAt::How::given;
    });
}

namespace {

struct InsideLayout {
    Rect source, registers, memory, step, warps;
    bool both;  ///< registers and memory have room below each other
};

// `rows`: of copies that are on their way at once, beside many warps.
InsideLayout inside_layout(const Rect& a, float card = 0, int rows = 0) {
    constexpr float margin = space::margin, usual_rows = 2, of_row = 15;
    const float more = of_row * std::max(0.0f, px(rows) - usual_rows);
    const PageFrame usual = page_frame_below(a, Foot::band, false, more),
                    frame =
                        card > 0 ? page_frame_below(a, Foot::band, false, card - usual.foot.h + more) : usual;
    const float top = frame.body.y, body = frame.body.h;
    const float left = std::clamp(std::floor(a.w * .235f), 308.0f, 440.0f),
                right = std::clamp(std::floor(a.w * .215f), 268.0f, 400.0f);
    const float x = 2 * margin + left, w = a.w - left - right - 4 * margin;
    InsideLayout out;
    out.source = {margin, top, left, body};
    out.step = {a.w - margin - right, top, right, body};
    out.both = body >= 560;
    const float upper = out.both ? std::floor((body - margin) * .58f) : body;
    out.registers = {x, top, w, upper};
    out.memory = out.both ? Rect{x, top + upper + margin, w, body - margin - upper} : out.registers;
    out.warps = frame.foot;
    return out;
}

// Which of both has the place, where there is room for one.
void choose_panel(const Canvas& c, AppState& state, const Rect& a) {
    const std::vector<std::string> names{"Registers", "Memory"};
    int current = inside_shows_memory(state) ? 1 : 0;
    const float w = segmented_width(names);
    if (segmented(c, "##inside panel", a.right() - space::control_edge - w, a.y + space::control_top, names,
                  current))
        state.inside.memory = current == 1, state.inside.memory_of = state.inside.step;
}

// A kernel of the user's own runs with all rights of its user: that is said, and asked, before.
void draw_asking(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Registers", a, "Your own kernel");
    const EmptyAnswer answer =
        empty_state(c, a,
                    {.words = inside_kernel_name(state) +
                              " will be compiled and run on this machine, as a program of your own would: it "
                              "may do whatever you may. Open only what you trust.",
                     .first = {"##run own kernel", "Compile and run it (Enter)"},
                     .second = {"##leave own kernel", "Leave it (Esc)", nullptr, false}});
    if (answer.first || answer.second) agree_to_run(state, answer.first);
}

std::string words_of_run(const AppState& state) {
    const InsidePage& page = *state.kernel_walk;
    if (!page.run) return page.failure.empty() ? "Nothing recorded yet." : page.failure;
    if (state.inside.source.empty())
        return "The kernel runs on the CPU, and each step of its warps is written down.";
    return *page.run->blocks_done < 0
               ? "Your kernel is compiled. Then it runs on the CPU, and each step of its warps is written "
                 "down."
               : "Your kernel runs on the CPU, and each step of its warps is written down.";
}

// Nothing recorded yet: why, or how far it is.
void draw_empty(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Registers", a, "Inside a kernel");
    const InsidePage& page = *state.kernel_walk;
    EmptyState empty{.words = words_of_run(state)};
    if (page.run) {
        const int done = *page.run->blocks_done;
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - page.run->started;
        empty.progress =
            state.inside.source.empty()
                ? counted(done, "block") + " done"
                : inside::own_run_words(inside_kernel_name(state), done, static_cast<int>(passed.count()));
        empty.first = {"##cancel run", "Cancel (Esc)", "Stop", false};
    }
    if (empty_state(c, a, empty).first) cancel_record(state);
}

}  // namespace

// The card of a tour that lies over the foot of the page and tells of something else than the warps: it takes
// their place as a whole, and the panels above have what room it leaves. Its height; 0: there is none.
static float card_over_warps(const AppState& state, const Rect& a) {
    if (!state.tour || !at_stop(state) || points_at(state, "Warps")) return 0;
    const Rect& card = state.tour->card;
    const bool at_foot = card.w > a.w * .8f && card.y > a.middle() && card.h > 0;
    constexpr float of_ring = 10;
    return at_foot ? card.h + of_ring : 0;
}

// Where many warps have a low lane each, the copies need room besides.
static int rows_of_flights(const AppState& state) {
    const InsidePlace at = place_inside(state);
    return at && at.steps().warps() > most_high_lanes
               ? std::min(most_flight_rows, at.steps().flights_at_once())
               : 0;
}

Rect inside_step_area(const AppState& state, const Rect& area) {
    return inside_layout(area, 0, rows_of_flights(state)).step;
}

void inside_view(const Canvas& c, AppState& state, const Rect& a) {
    inside_page(state);
    if (state.inside.ladder) return inside_ladder(c, state, a);
    const float card = card_over_warps(state, a);
    const InsideLayout layout = inside_layout(a, card, rows_of_flights(state));
    inside_source(c, state, layout.source);
    const InsidePlace at = place_inside(state);
    if (!at || awaits_own_kernel(state)) {
        const Rect middle{layout.registers.x, layout.registers.y, layout.step.right() - layout.registers.x,
                          layout.source.h};
        asks_to_run(state) ? draw_asking(c, state, middle) : draw_empty(c, state, middle);
        if (card == 0) inside_warps(c, state, layout.warps);
        return;
    }
    if (tells_fault(state)) {
        inside_broken(c, state, {layout.registers.x, layout.registers.y, layout.registers.w, layout.source.h},
                      at);
        inside_fault(c, state, layout.step);
        if (card == 0) inside_warps(c, state, layout.warps);
        return;
    }
    const bool memory = inside_shows_memory(state);
    if (layout.both || !memory) inside_registers(c, state, layout.registers, at);
    if (layout.both || memory) inside_memory(c, state, layout.memory, at);
    if (!layout.both) choose_panel(c, state, layout.registers);
    inside_step(c, state, layout.step);
    if (card == 0) inside_warps(c, state, layout.warps);
}

}  // namespace tilewalk::ui
