// The page about memory for the back row: four rows of the N² table, the traffic as three bars, one verdict.
// Nothing under 27 px on a page of 1280 × 720. The arrow keys change N.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// The length before, this one, and the next two.
std::vector<std::int64_t> four_lengths(std::int64_t N) {
    std::int64_t power = 1;
    while (power * 2 <= N) power *= 2;
    std::vector<std::int64_t> out;
    if (power > 1) out.push_back(N == power ? power / 2 : power);
    out.push_back(N);
    for (std::int64_t next = power * 2; out.size() < 4 && next <= largest_N; next *= 2) out.push_back(next);
    return out;
}

// The tile in the corner once more, so many times as large that it is seen from the back row: two
// lines lead from the one to the other.
void magnified(const Canvas& c, const Rect& a, const Rect& tile, ImU32 surface, ImU32 ink) {
    float times = 1;
    while (times * std::min(tile.w, tile.h) < 28 && times < 1e6f) times *= 2;
    for (const Point end : {Point{a.right(), a.y}, Point{a.x, a.bottom()}})
        c.line({tile.x + tile.w / 2, tile.y + tile.h / 2}, end, with_alpha(ink, .6f), 1.4f);
    c.rect(a.x, a.y, a.w, a.h, mix(c.theme->panel, surface, .5f));
    c.rect(a.x, a.y, std::min(times * tile.w, a.w), std::min(times * tile.h, a.h), c.theme->focus);
    c.frame(a.x, a.y, a.w, a.h, ink, 2, 0);
    c.text(a.right() + 10, a.middle(), "× " + format_count(static_cast<std::int64_t>(times)), size::far, ink);
}

// All of S, true to area, and one tile in its corner; a tile that no pixel can show is drawn as a dot, and
// says so.
void square(const Canvas& c, const Study& s, float x, float y, float side) {
    const Theme& t = *c.theme;
    const ImU32 colour = hue(t, Role::S);
    c.rect(x, y, side, side, mix(t.panel, colour, .22f));
    c.frame(x, y, side, side, colour, 2, 0);
    const double N = static_cast<double>(s.shape.N);
    const float w = side * px(std::min(1.0, static_cast<double>(s.shape.Bc) / N)),
                h = side * px(std::min(1.0, static_cast<double>(s.shape.Br) / N));
    const bool seen = std::min(w, h) * c.s >= 1;
    const ImU32 surface = mix(t.panel, colour, w < 60 ? .22f : .4f), ink = ink_on(t, surface);
    if (!seen) c.disc(x + 3, y + 3, 5, t.focus);
    if (seen && w < 60) c.rect(x, y, w, h, t.focus);
    if (seen && std::max(w, h) < 8) c.ring(x + w / 2, y + h / 2, 9, t.focus, 2);  // or nobody would find it
    if (w >= 60) {
        c.rect(x, y, w, h, surface);
        c.frame(x, y, w, h, t.focus, 3, 0);
    }
    const std::string sizes = format_count(s.shape.Br) + " × " + format_count(s.shape.Bc);
    const bool tiny = w < 8 && h < 8 && side > 190;
    constexpr float lens = 72, lens_at = 18;
    const float room = side - 24, middle = tiny ? y + (lens_at + lens + side) / 2 + 1 : y + side / 2;
    if (tiny) magnified(c, {x + lens_at, y + lens_at, lens, lens}, {x, y, w, h}, surface, ink);
    c.text(x + side / 2, middle - 34, "S: N × N", size::far, ink, Face::medium, Align::center);
    c.text_within(x + side / 2, middle, room, "tile " + sizes, size::far, ink, Face::regular, Align::center);
    c.text(x + side / 2, middle + 34, seen ? "to scale" : "dot: enlarged", size::far, ink, Face::regular,
           Align::center);
}

void table(const Canvas& c, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    const float side = std::min(a.h - 8, 230.0f), right = a.right() - side - 28;
    const float n_x = a.x + 160, all_x = a.x + 370, bar_x = all_x + 24, verdict_x = right,
                bar_end = verdict_x - 220;
    c.text(n_x, a.y + 20, "N", size::far, t.t2, Face::medium, Align::right);
    c.text(all_x, a.y + 20, "S and P", size::far, t.t2, Face::medium, Align::right);
    // Lengths are true, of the longest, too: that twice N takes four times as much is what they show.
    const double capacity = s.input.hardware.capacity.value;
    double most = 1.2 * capacity;
    for (const ScoreRow& row : s.rows) most = std::max(most, row.all);
    const auto length = [&](double bytes) { return (bar_end - bar_x) * px(bytes / most); };
    const float limit = bar_x + length(capacity);
    const std::string there = memory_name(s.input.hardware) + ": " + format_large_size(capacity);
    // It begins at its line, or ends there.
    const bool behind = limit + text_width(Face::medium, size::far, there) > bar_end;
    c.text(behind ? limit + 1 : limit - 1, a.y + 20, there, size::far, t.t1, Face::medium,
           behind ? Align::right : Align::left);
    note_part(c, {a.x - 16, a.y, a.w + 32, a.h + 4}, "Scores");
    const float pitch = (a.h - 40) / 4;
    for (std::size_t n = 0; n < s.rows.size(); ++n) {
        const ScoreRow& row = s.rows[n];
        const float y = a.y + 40 + (px(n) + .5f) * pitch;
        const bool current = row.N == s.shape.N;
        if (current) c.rect(a.x - 8, y - pitch / 2 + 2, right - a.x + 16, pitch - 4, t.raised, 9);
        const Face face = current ? Face::semibold : Face::regular;
        c.text(n_x, y, format_count(row.N), size::far_text, t.t1, face, Align::right);
        c.text(all_x, y, format_large_size(row.all), size::far_text, t.t1, face, Align::right);
        size_bar(c, bar_x, y - 11, length(row.all), bar_end - bar_x, 22, row.fits, current);
        note_part(c, {bar_x, y - 11, length(row.all), 22}, "bar of " + format_large_size(row.all));
        c.text(verdict_x, y, row.fits ? "fits" : "does not fit", size::far_number, row.fits ? t.t2 : t.t1,
               row.fits ? Face::regular : Face::semibold, Align::right);
    }
    c.dashed_line({limit, a.y + 42}, {limit, a.y + 40 + pitch * px(s.rows.size())}, t.t1, 2.5f, {8, 6});
    square(c, s, a.right() - side, a.y + 14, side - 14);
}

void tile_height(const Canvas& c, const Study& s, const Rect& a) {
    note_part(c, a, "Tile height");
    const float note = 84;
    tile_height_rows(c, s, {a.x, a.y, a.w, a.h - note},
                     {.text = 27, .head = 36, .bar = 22, .most_pitch = 44});
    const std::string hatched = why_not_on_chip(s);
    const std::string words = height_that_pays(s, !hatched.empty()) + (hatched.empty() ? "" : " " + hatched);
    c.paragraph(a.x, a.bottom() - note + 4, a.w, words, size::far, c.theme->t1, 2);
}

void cache(const Canvas& c, const Study& s, const Rect& a) {
    note_part(c, {a.x - 16, a.y - 8, a.w + 32, a.h + 12}, "KV cache");
    const float note = 84;
    kv_cache_rows(c, s, {a.x, a.y, a.w, a.h - note},
                  {.text = size::far, .head = 40, .bar = 26, .most_pitch = 62});
    c.paragraph(a.x, a.bottom() - note + 4, a.w, cache_sentence(s), size::far, c.theme->t1, 2);
}

void bars(const Canvas& c, const Study& s, const Rect& a, const char* title) {
    const Theme& t = *c.theme;
    note_part(c, {a.x - 16, a.y, a.w + 32, a.h}, "Traffic");
    const float head = *title ? 36 : 0, x = a.x + 280, pitch = (a.h - head) / 3,
                h = std::min(44.0f, pitch - 12), room = a.w - 280 - 530;
    c.text(a.x, a.y + 18, title, size::far, t.t2, Face::medium);
    std::int64_t most = 1;
    for (const AlgorithmStudy& one : s.by_algorithm) most = std::max(most, one.traffic.total());
    for (std::size_t n = 0; n < s.by_algorithm.size(); ++n) {
        const AlgorithmStudy& one = s.by_algorithm[n];
        const float y = a.y + head + (px(n) + .5f) * pitch;
        c.text(x - 20, y, algorithm_name(one.algorithm), size::far_text, t.t1, Face::semibold, Align::right);
        const double scale = static_cast<double>(room) / static_cast<double>(most);
        const float w = share_bar(c, one, x, y - h / 2, h, scale, 28);
        const float number =
            c.text(x + w + 16, y, format_large_size(static_cast<double>(one.traffic.total())), size::far_text,
                   t.t1, Face::semibold);
        float end = x + w + 32 + number;
        if (one.algorithm != Algorithm::standard)
            end += c.text(end, y, compared(s, one.algorithm), size::far_number, t.t2) + 20;
        draw_nameless(c, nameless_shares(one, scale, 28), end, a.right(), y, size::far);
    }
}

// Below what a stop speaks of, what its bytes cost in time.
constexpr float times_h = 44;

void times(const Canvas& c, const Study& s, const Rect& a) {
    const std::string all = best_times(s, false);
    const bool fits = text_width(Face::regular, size::far, all) <= a.w;
    c.text_within(a.x, a.middle(), a.w, fits ? all : best_times(s, true), size::far, c.theme->t1);
}

void roofline(const Canvas& c, const Study& s, const Rect& a) {
    note_part(c, a, "Roofline");
    const ChartLook look{.text = 27, .label = 28, .marker = 10, .line = 3, .panel = false};
    times(c, s, {a.x + 16, a.bottom() - times_h - 4, a.w - 32, times_h});
    const Rect inner{a.x, a.y + 10, a.w, a.h - 16 - times_h};  // the ring of a tour goes round its edge
    paint(c, lay_out(roofline_chart(*c.theme, s, a.w - 300), inner, look, *c.theme));
}

std::string short_verdict(const Study& s) {
    const std::int64_t heads = s.input.heads * s.input.batch;
    const double saving = s.saving(Algorithm::flash2), L = 4.0 * static_cast<double>(s.shape.N);
    std::string text = std::string("S and P") +
                       (heads > 1 ? " of " + format_count(heads) + " heads" : std::string()) +
                       (s.shape.N < s.first_N_too_large ? " still fit; " : " no longer fit; ");
    if (heads > 1) text += "for each head ";
    if (saving >= 1.005)
        text += "FlashAttention-2 moves " + format_number(saving, 2) + "× fewer bytes through HBM";
    else if (saving > 0.995)
        text += "FlashAttention-2 moves about as many bytes";
    else
        text += "standard moves fewer bytes at these sizes";
    return text + " and keeps " + (saving > 0.995 ? "" : "S and P; FlashAttention-2 keeps ") +
           format_large_size(L) + " of L instead.";
}

}  // namespace

void memory_presenter(const Canvas& canvas, AppState& state, float W, float H) {
    StudyInput in = memory_input(state.memory);
    in.lengths = four_lengths(in.N);
    const Study s = study(in);
    PresenterPage page(canvas, state, W, H, "Memory and traffic", W / 2 - 99);
    page.back = "Shorter (←)", page.forward = "Longer (→)";
    page.move = [&](int by) { step_N(state.memory, by); };
    page.subject(s.input.hardware.name + ", " + format_name(s.input.element_bytes) +
                 ", d = " + str(s.shape.d));
    const Canvas& c = page.c;
    const float x = space::far_side, w = W - 2 * x;
    if (H < from::presenter_page && points_at(state, "Roofline"))
        return roofline(c, s, {x, 72, w, H - 72 - 16});
    if (points_at(state, "Hierarchy")) {
        const Rect room{x, 72, w, H - 72 - 16};
        note_part(c, room, "Hierarchy");
        const Enlarged large(c, {room.x, room.y}, size::far / size::small);
        const float factor = size::far / size::small;
        return memory_levels(large.c, s, {0, 0, room.w / factor, room.h / factor});
    }
    if (points_at(state, "Tile height")) return tile_height(c, s, {x, 72, w, H - 72 - 16});
    if (points_at(state, "KV cache")) return cache(c, s, {x + 16, 80, w - 32, H - 80 - 20});
    const Line title{symbol("N", Role::none), word(" = "), strong(format_count(s.shape.N))};
    const float right = x + c.rich(x, 102, title, size::far_lead, Align::left, c.theme->t1) + 24;
    const bool brief = H < from::presenter_page;  // the card of a tour has the rest: what it speaks of stays
    const bool traffic = brief && points_at(state, "Traffic");
    const std::int64_t heads = s.input.heads * s.input.batch;
    const std::string matrices =
        "the N × N matrices of " + (heads == 1 ? std::string("one head") : format_count(heads) + " heads");
    c.text_within(right, 104, x + w - right,
                  traffic ? std::string("bytes through HBM, of one head") : matrices, size::far_text,
                  c.theme->t2);
    if (brief) {
        // Its frame is wider by 16 and stays as far from the edge as the others.
        constexpr float frame = 12;
        const float height = H - 138 - 20;
        if (traffic) return bars(c, s, {x + frame, 138, w - 2 * frame, std::min(300.0f, height)}, "");
        const Rect room{x + frame, 138, w - 2 * frame, std::min(300.0f, height - times_h)};
        times(c, s, {room.x, room.bottom() + 8, room.w, times_h});
        return table(c, s, room);
    }
    table(c, s, {x, 138, w, 226});
    c.line({x, 378.5f}, {W - x, 378.5f}, c.theme->line);
    bars(c, s, {x, 384, w, 204}, "Bytes through HBM, of one head");
    const std::string verdict = short_verdict(s);
    c.paragraph(x, 604, caption_width(w, verdict, size::far_text, 2), verdict, size::far_text, c.theme->t1, 2,
                Face::regular, size::lines);
}

}  // namespace tilewalk::ui
