// The page for the back row: one step, large. Nothing under 27 px on a page of 1280 × 720.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/inside/source.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/empty.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>
#include <set>

namespace tilewalk::ui {

namespace {

using inside::Matter;
using inside::Op;
using inside::Part;

// The row and the column that one score needs, the lanes that hold them, and the sum.
void far_product(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    const InsideLook look{size::far, size::far, 1.5f, true};
    const inside::FragmentCell cell = cell_inside(state);
    const inside::Product p(at.words, at.record().dtype);
    draw_product(c, state, {a.x, a.y, a.w, a.h - 120}, at, look);
    const NamedProduct names = named_product(at);
    const Role role = role_of(names.C);
    inside::FragmentCell named = index_inside(at, cell);
    if (names.turned()) std::swap(named.row, named.column);
    const auto& chain = inside_ways(state, at).chain;
    const Line sum =
        pieces(*inside::symbol_of(names.C) ? matter_line(names.C, "C") : pieces(symbol("C", role)),
               word("[" + str(named.row) + "," + str(named.column) + "] = "),
               number(format_short(p.before(cell.row, cell.column)), role), word(" + 16 products = "),
               number(format_short(p.after(cell.row, cell.column)), Role::none, true),
               word(chain.parts > 1 ? ", part " + str(chain.part) + " of " + str(chain.parts) : ""));
    c.rich(a.x + a.w / 2, a.bottom() - 86, sum, size::far_sign, Align::center);
    const auto letter = [](Matter m, const char* otherwise) {
        return std::string(*inside::symbol_of(m) ? inside::symbol_of(m) : otherwise);
    };
    const int quad = at.lane / 4 * 4, column = cell.column * 4;
    c.text_within(a.x + a.w / 2, a.bottom() - 34, a.w,
                  "Lane " + str(at.lane) + " owns it; its row of " + letter(names.A, "A") +
                      " lies in lanes " + str(quad) + "–" + str(quad + 3) + ", its column of " +
                      letter(names.B, "B") + (names.by_rows() ? "ᵀ" : "") + " in lanes " + str(column) + "–" +
                      str(column + 3) + ".",
                  size::far, t.t1, Align::center);
}

// Sums of products in the background: all of the warp's, and the chosen one.
void far_sums(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    draw_sums(c, state, {a.x, a.y, a.w, a.h - 100}, at, {size::far, size::far * .8f, 1.5f, true});
    c.rich(a.x + a.w / 2, a.bottom() - 74, sum_formula(state, at), size::far_sign, Align::center);
    c.text_within(a.x + a.w / 2, a.bottom() - 28, a.w, capitalised(sums_sentence(state, at)) + ".", size::far,
                  c.theme->t1, Align::center);
}

// Two pieces of C become one fragment of A: each lane packs its own.
void far_packing(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    draw_packing(c, state, {a.x, a.y, a.w, a.h - 52}, at, {size::far, size::far * .8f, 1.5f, true});
    c.text_within(a.x + a.w / 2, a.bottom() - 28, a.w,
                  "Lane " + str(at.lane) +
                      " keeps its numbers; nothing goes to another lane, nothing to memory.",
                  size::far, c.theme->t1, Align::center);
}

// The four lanes of a quad, which share the rows of a fragment, with the numbers that the step gives them.
void far_quad(const Canvas& c, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    constexpr int quad = 4;
    constexpr float gap = 16;
    const float w = (a.w - gap * (quad - 1)) / quad, row = size::far * 1.35f;
    const int first = at.lane / quad * quad;
    for (int n = 0; n < quad; ++n) {
        const int lane = first + n;
        const auto words =
            inside::lane_words(at.record(), at.block(), *at.event, lane, at.origins().matter(at.n));
        const float h = row * px(words.size() + 1) + 12;
        if (words.empty() || h > a.h) continue;
        const Rect box{a.x + px(n) * (w + gap), a.y, w, h};
        c.rect(box.x, box.y, box.w, box.h, mix(t.panel, hue_of(t, at.origins().matter(at.n)), .22f),
               radius::panel);
        if (lane == at.lane) c.frame(box.x, box.y, box.w, box.h, t.focus, 3, radius::panel);
        float y = box.y + row * .5f + 6;
        c.text_within(box.x + 14, y, w - 28, "lane " + str(lane), size::far, t.t1, Face::semibold);
        for (const inside::LaneWord& word : words) {
            y += row;
            const float value = text_width(Face::mono, size::far, word.value);
            if (text_width(Face::regular, size::far, word.name) + value + 40 <= w)
                c.text(box.x + 14, y, word.name, size::far, t.t2);
            // A power of ten is narrower in the letters of words.
            const Face face = value <= w - 28 ? Face::mono : Face::regular;
            c.text_within(box.right() - 14, y, w - 28, word.value, size::far, t.t1, face, Align::right);
        }
    }
}

// All lanes of the block, a row for each warp: the warp that is at this step bright, its quad framed.
void far_block(const Canvas& c, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    constexpr int lanes = 32, quad = 4;
    constexpr float names = 120, head = 36, least_row = 27;
    const int warps = at.launch->launch->warps();
    const float pitch = std::min(40.0f, (a.h - head) / px(warps)), w = (a.w - names) / px(lanes);
    if (pitch < least_row) return;
    const ImU32 colour = hue_of(t, at.origins().matter(at.n));
    const int first = at.lane / quad * quad;
    const float left = a.x + names, top = a.y + head;
    c.text(a.x, a.y + head / 2, "lane", size::far, t.t2);
    for (int lane = 0; lane < lanes; lane += quad)
        c.text(left + (px(lane) + .5f) * w, a.y + head / 2, str(lane), size::far, t.t2, Align::center);
    for (int warp = 0; warp < warps; ++warp) {
        const float y = top + px(warp) * pitch;
        const bool here = warp == at.warp;
        c.text(a.x, y + pitch / 2, "warp " + str(warp), size::far, here ? t.t1 : t.t2,
               here ? Face::semibold : Face::regular);
        for (int lane = 0; lane < lanes; ++lane)
            c.rect(left + px(lane) * w + 1.5f, y + 3, w - 3, pitch - 6,
                   mix(t.panel, colour, here ? .6f : .2f), radius::cell);
        if (here) c.frame(left + px(first) * w - 1, y, px(quad) * w + 2, pitch, t.focus, 3, radius::cell);
    }
}

// What a step is for, and its numbers; of α whose it is. Where there is room, the lanes of the block besides.
void far_step(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
              const std::string& words, bool block) {
    float y = a.y + 14;
    y += c.paragraph(a.x, y, a.w, words, size::far_text, c.theme->t1, 4) + 18;
    const float quad_h = 124, h = block ? quad_h : a.bottom() - y;
    far_quad(c, {a.x, y, a.w, h}, at);
    if (block) return far_block(c, {a.x, y + h + 6, a.w, a.bottom() - y - h - 10}, at);
    // Below the quad whose number it is
    const std::string whose = exponent_sentence(state, at);
    const float below = y + 3 * size::far * 1.35f + 12 + size::far;
    if (!whose.empty() && below + paragraph_height(a.w, whose, size::far, 2) <= a.bottom())
        c.paragraph(a.x, below, a.w, whose, size::far, c.theme->t1, 2);
}

// "Lane 13 reads K[53, 12]: 0.344."; of a lane that takes no part the first that does.
std::string access_sentence(const AppState& state, const InsidePlace& at) {
    if (shows_dealing(at)) return dealing_sentence(at);
    const inside::Event& event = *at.event;
    if (event.lanes == 0) return "";
    const int lane = event.has(at.lane) ? at.lane : elected_lane(event);
    const auto words = at.block().words_of(event, lane);
    const std::string who = "Lane " + str(lane);
    const auto place = [&](std::uint32_t address) { return inside::short_address(at.record(), address); };
    if (event.op == Op::copy_issued)
        return words[2] == 0 ? who + " sends zeros to " + place(words[0]) + "."
                             : who + " sends " + str(int(event.bytes)) + " bytes from " + place(words[1]) +
                                   " on to " + place(words[0]) + ".";
    const bool stores = event.op == Op::store;
    if (!stores && event.op != Op::load) return "";
    const std::string element =
        name_in_shared(state, at, at.n + stores, words[0], std::min<int>(event.bytes, 4));
    const auto told = inside::lane_words(at.record(), at.block(), event, lane, at.origins().matter(at.n));
    return who + (stores ? " puts " : " reads ") + (element.empty() ? place(words[0]) : element) +
           (told.empty() ? "" : ": " + told.back().value) + ".";
}

// Where in its matrix the elements lie that the lanes ask for.
void far_matrix(const Canvas& c, const Rect& a, const InsidePlace& at, const inside::Access& access) {
    const auto first = inside::element_of(at.record(), access.addresses.front());
    if (!first) return;
    const Theme& t = *c.theme;
    const inside::Region& region = at.record().regions[static_cast<std::size_t>(first->region)];
    const int rows = static_cast<int>(region.bytes / region.row_bytes),
              columns = region.row_bytes / region.element_bytes;
    constexpr float head = 36;
    c.text_within(a.x, a.y + head / 2 - 4, a.w, region.name + ", " + str(rows) + " × " + str(columns),
                  size::far, t.t2);
    const float cell = std::min((a.h - head) / px(rows), a.w / px(columns));
    const Rect box{a.x, a.y + head, cell * px(columns), cell * px(rows)};
    const ImU32 hue = hue_of(t, inside::matter_of(at.record(), access.addresses.front()));
    c.rect(box.x, box.y, box.w, box.h, mix(t.panel, hue, .16f), 2);
    std::size_t next = 0;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(access.lanes >> lane & 1)) continue;
        const auto at_lane = inside::element_of(at.record(), access.addresses[next++]);
        if (!at_lane || at_lane->region != first->region) continue;
        const float w = cell * px(at.event->bytes) / px(region.element_bytes), h = std::max(cell, 3.0f);
        const float x = box.x + cell * px(at_lane->column),
                    y = std::min(box.y + cell * px(at_lane->row), box.bottom() - h);
        c.rect(x, y, std::max(w, 1.5f), h, hue, 0);
        if (lane == at.lane) c.frame(x - 3, y - 3, std::max(w, 3.0f) + 6, h + 6, t.focus, 2, 2);
    }
    c.frame(box.x, box.y, box.w, box.h, hue, 1.5f, 2);
}

// As draw_sectors has them: the number, and a row for each line of memory.
float far_sectors_height(const inside::Access& access, std::uint32_t bytes) {
    constexpr std::uint32_t line_bytes = 128;
    std::set<std::uint32_t> lines;
    for (const std::uint32_t address : access.addresses)
        for (std::uint32_t b = 0; b < bytes; b += 2) lines.insert((address + b) / line_bytes);
    return 66 + px(lines.size()) * size::far * 1.9f;
}

// Below few sectors: the matrix that they are of, and the line that asks. False: there is no room.
bool far_below_sectors(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
                       const inside::Access& access) {
    constexpr float least = 150, matrix_w = 190;
    if (a.h < least) return false;
    const bool known = inside::element_of(at.record(), access.addresses.front()).has_value();
    if (known) far_matrix(c, {a.x, a.y, matrix_w, a.h}, at, access);
    const float left = known ? matrix_w + 30 : 0;
    draw_far_code(c, state, {a.x + left, a.y, a.w - left, a.h}, at);
    return true;
}

void far_access(const Canvas& c, AppState& state, const Rect& all, const InsidePlace& at) {
    const InsideLook look{size::far, size::far, 1.5f, true};
    Rect a = all;
    if (const std::string words = access_sentence(state, at); !words.empty()) {
        a.h -= size::far * 1.7f;
        c.text_within(a.x + a.w / 2, all.bottom() - size::far * .7f, a.w, words, size::far, c.theme->t1,
                      Align::center);
    }
    auto accesses = inside::accesses_of(*at.event, at.words);
    std::ranges::reverse(accesses);  // from HBM to shared memory
    const bool both = accesses.size() > 1;
    if (!both && !accesses.front().shared) {
        const float h = far_sectors_height(accesses.front(), at.event->bytes);
        if (far_below_sectors(c, state, {a.x, a.y + h + 20, a.w, a.h - h - 20}, at, accesses.front()))
            a.h = h;
    }
    const float w = both ? (a.w - 50) / 2 : a.w;
    float x = a.x;
    for (const inside::Access& access : accesses) {
        const Rect part{x, a.y, w, a.h};
        access.shared ? draw_banks(c, state, part, at, *at.event, look)
                      : draw_sectors(c, state, part, at, *at.event, look);
        x += w + 50;
    }
}

// A tile that comes by itself, and who asks for it.
void far_fetched(const Canvas& c, const Rect& a, const InsidePlace& at) {
    draw_fetched(c, {a.x, a.y + 6, a.w, a.h - 84}, at, {size::far, size::far, 1.5f, true});
    c.text_within(a.x + a.w / 2, a.bottom() - 28, a.w, fetch_sentence(at), size::far, c.theme->t1,
                  Align::center);
}

// A barrier: who waits, and what is protected, with shared memory as a space at the left.
void far_meeting(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const auto& meeting = inside_ways(state, at).meeting;
    if (!meeting) return;
    const InsideLook look{size::far, size::far, 1.5f, true};
    const float left = a.w > 900 ? 330.0f : 0.0f;
    if (left > 0) draw_space(c, state, {a.x, a.y + 8, left - 40, a.h - 16}, at, nullptr, look);
    const Rect in{a.x + left, a.y, a.w - left, a.h};
    const Theme& t = *c.theme;
    float y = in.y + 4;
    const auto say = [&](const std::string& text, ImU32 ink) {
        const int fit = static_cast<int>((in.bottom() - y) / (size::far_text * size::lines));
        if (fit > 0) y += c.paragraph(in.x, y, in.w, text, size::far_text, ink, std::min(fit, 3)) + 14;
    };
    say(meeting_sentence(*meeting), t.t1);
    if (meeting->orders.empty()) return say("It protects nothing in this run.", t.t2);
    for (std::size_t n = 0; n < std::min<std::size_t>(3, meeting->orders.size()); ++n)
        say(capitalised(protected_sentence(state, at, meeting->orders[n])), t.t2);
}

// A barrier that counts: what the step does there, and the phase that it is about.
void far_barrier(const Canvas& c, const Rect& a, const inside::BarrierState& barrier,
                 const std::string& words) {
    const float y = a.y + 4 + c.paragraph(a.x, a.y + 4, a.w, words, size::far_text, c.theme->t1, 3) + 18;
    draw_barrier(c, {a.x + 12, y, a.w - 24, a.bottom() - y}, barrier, {size::far, size::far, 1.5f, true});
}

// What a fence stands between, or who has how many registers.
void far_told(const Canvas& c, const Rect& a, const InsideWays& ways, const InsidePlace& at,
              const std::string& words) {
    const float y = a.y + 4 + c.paragraph(a.x, a.y + 4, a.w, words, size::far_text, c.theme->t1, 3) + 18;
    const Rect in{a.x, y, a.w, a.bottom() - y};
    const InsideLook look{size::far, size::far, 1.5f, true};
    ways.sides ? draw_sides(c, in, *ways.sides, at, look) : draw_shares(c, in, *ways.registers, at, look);
}

// Where a tour speaks of them: all of the page.
void far_warps(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    note_part(c, a, "Warps");
    constexpr float legend = 92;
    draw_warps(c, state, {a.x, a.y, a.w, a.h - legend}, at, {size::far, size::far, 1.5f, true});
    draw_far_legend(c, state, at, {a.x, a.bottom() - legend, a.w, legend - 8});
}

void far_crossing(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    note_part(c, a, "Crossing");
    draw_crossing(c, state, a, crossing_place(state, at), *state.kernel_walk->broken,
                  {size::far, size::far, 1.5f, true, true});
}

// What the step is about, and nothing else. `arrival`: what the bridge has led to.
void far_body(const Canvas& c, AppState& state, const Rect& body, const InsidePlace& at,
              const std::string& why, const std::string& arrival) {
    const bool memory = !inside::accesses_of(*at.event, at.words).empty();
    const InsideWays& ways = inside_ways(state, at);
    note_part(c, body, memory ? "Memory" : "Registers");
    if (at.event->op == Op::multiply_add)
        far_product(c, state, body, at);
    else if (shows_packing(at))
        far_packing(c, state, body, at);
    else if (ways.sums_step >= 0)
        far_sums(c, state, body, at);
    else if (at.event->op == Op::fetch_tile)
        far_fetched(c, body, at);
    else if (ways.barrier)
        far_barrier(c, body, *ways.barrier, why);
    else if (ways.sides || ways.registers)
        far_told(c, body, ways, at, why);
    else if (memory)
        far_access(c, state, body, at);
    else if (at.event->op == Op::sync_block && arrival.empty())
        far_meeting(c, state, body, at);
    else
        far_step(c, state, body, at, arrival.empty() ? why : arrival, points_at(state, "Registers"));
}

// Behind the title what the machine calls it; at the right the step, as in a lesson, before it the colours.
void draw_far_head(const PresenterPage& page, const InsidePlace& at, const std::string& subject, float W) {
    constexpr float apart = 30;
    const std::string number = format_count(at.k + 1) + " / " + format_count(at.steps().count(at.warp));
    const float right = W - space::far_edge, left = 72 + page.title_width() + 20,
                counted = text_width(Face::medium, size::far, number) + apart;
    page.subject(number, 240);
    const float room = right - counted - left, w = text_width(Face::regular, size::far_text, subject);
    const bool beside = w <= room;
    if (beside) page.c.text(left, 38, subject, size::far_text, page.c.theme->t2);
    draw_far_hues(page.c, at, left + (beside ? w + apart : 0), right - counted, 36);
}

// The drawing of the step takes all the room that there is.
bool fills_stage(AppState& state, const InsidePlace& at) {
    return at.event->op == Op::multiply_add || at.event->op == Op::fetch_tile || shows_packing(at) ||
           inside_ways(state, at).sums_step >= 0 || !inside::accesses_of(*at.event, at.words).empty();
}

}  // namespace

void inside_presenter(const Canvas& canvas, AppState& state, float W, float H) {
    inside_page(state);
    if (state.inside.ladder) return inside_ladder_presenter(canvas, state, W, H);
    const InsidePlace at = place_inside(state);
    const bool tells = at && tells_fault(state);
    const std::string title = tells ? title_of_outcome(*state.kernel_walk->broken, at.record())
                              : at  ? inside::words_of_step(at.record(), at.block(), *at.event).title
                                    : std::string("Inside a kernel");
    PresenterPage page(canvas, state, W, H, title.c_str(), 420);
    page.back = "Back (←)", page.forward = "Forward (→)";
    page.move = [&](int by) { go_inside_by(state, inside_stride(state), by); };
    const Canvas& c = page.c;
    const float left = space::far_side, w = W - 2 * left;
    if (!at || awaits_own_kernel(state)) {
        const InsidePage& held = *state.kernel_walk;
        return far_empty_state(c, W, held.failure.empty() ? "The kernel runs on the CPU." : held.failure);
    }
    if (tells) {
        page.subject(title_of_fault(*state.kernel_walk->broken), 240);
        // Beside the card of a tour there is room for what it speaks of.
        const BrokenWalk& told = *state.kernel_walk->broken;
        if (H < from::presenter_page && points_at(state, "Crossing") && told.crossing)
            return far_crossing(c, state, {left, 92, w, H - 92 - 24}, at);
        const PanelPart part(c, "Fault", {left - 4, 92, w + 8, H - 108});  // frames lie on its edge
        if (told.fault.kind == inside::FaultKind::swizzle) note_part(c, {left, 92, w, H - 108}, "Memory");
        return far_fault(c, state, {left, 92, w, H - 92 - 24}, at);
    }
    const inside::StepWords words = step_words(at);
    const ArrivalWords arrival = arrival_words(state, at);
    const std::string subject =
        arrival.symbol.empty() ? words.instruction : arrival.symbol + " · lane " + str(at.lane);
    const bool brief = H < from::presenter_page;  // the card of a tour has the rest
    brief ? page.subject(subject, 240) : draw_far_head(page, at, subject, W);
    // What is told in words leaves more room to the warps.
    const float warps = brief                    ? 0
                        : fills_stage(state, at) ? (at.steps().flights_at_once() > 1 ? 188 : 170)
                                                 : 246,
                top = 92, foot = H - 16 - warps;
    const Rect body{left, top, w, foot - 14 - top};
    if (brief && points_at(state, "Warps")) return far_warps(c, state, body, at);
    // A tour shows what is made of it at the stop before, and here how.
    if (brief && points_at(state, "Memory") && far_places(c, state, body, at))
        note_part(c, body, "Memory");
    else
        far_body(c, state, body, at, words.why, arrival.sentence);
    if (brief) return;
    const Rect free = draw_warps(c, state, {left, foot, w, warps}, at, {size::far, size::far, 1.5f, true});
    if (!at.steps().flights().empty()) draw_far_marks(c, state, free);
}

}  // namespace tilewalk::ui
