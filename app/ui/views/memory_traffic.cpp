// What moves through HBM for one head: standard attention's three kernels one after another, and flash's one.
#include "app/ui/items.h"
#include "app/ui/views/memory.h"
#include "core/numbers.h"

#include <algorithm>
#include <vector>

namespace tilewalk::ui {

namespace {

double real(std::int64_t n) { return static_cast<double>(n); }
std::string moved(std::int64_t bytes) { return format_large_traffic(real(bytes)); }

// A read or a write of a kernel, in the order of time.
struct Piece {
    const char* label;
    Role role;
    std::int64_t bytes;
};
std::array<Piece, 6> pieces(const Study& s) {
    const auto& [first, second, third] = s.trips;
    return {{{"▼ Q K", Role::Q, first.read},
             {"▲ S", Role::S, first.write},
             {"▼ S", Role::S, second.read},
             {"▲ P", Role::S, second.write},
             {"▼ P V", Role::S, third.read},
             {"▲ O", Role::O, third.write}}};
}

// The bar of standard attention: what has moved is filled, what will is dashed.
void trip_bar(const Canvas& c, const AppState& state, const Study& s, float x, float y, float h,
              double scale) {
    const Theme& t = *c.theme;
    const int trips = state.memory.trips;
    const float progress = trip_progress(state);
    int n = 0;
    for (const Piece& piece : pieces(s)) {
        const float w = static_cast<float>(real(piece.bytes) * scale);
        const int kernel = n++ / 2;
        const bool done = kernel < trips,
                   newest = kernel == trips - 1 && (trips < 3 || state.memory.trip_age < 1);
        if (w >= 1) {
            const ImU32 colour = hue(t, piece.role),
                        fill = ramp(t, piece.role, newest || trips == 3 ? 1.0f : .6f);
            const float part = newest ? progress : 1;
            if (done) c.rect(x, y, std::max((w - 1) * part, 1.0f), h, fill, w > 8 ? 3.0f : 0.0f);
            if (w > 8 && done) c.frame(x + .5f, y + .5f, w - 2, h - 1, colour, 1.2f, 3);
            if (w > 8 && !done) c.dashed_frame(x + .5f, y + .5f, w - 2, h - 1, t.t3, 1, {4, 3});
            if (w > text_width(Face::medium, 14, piece.label) + 12)
                c.text(x + w / 2, y + h / 2, piece.label, 14, done ? ink_on(t, fill) : t.t3, Face::medium,
                       Align::center);
        }
        x += w;
    }
}

// Under the bar: what each kernel fetches and leaves.
void trip_captions(const Canvas& c, const AppState& state, const Study& s, float x, float y, float w,
                   bool two) {
    const Theme& t = *c.theme;
    const float column = w / 3;
    for (int n = 0; n < 3; ++n) {
        const Trip& trip = s.trips[static_cast<std::size_t>(n)];
        const bool current = n == state.memory.trips - 1, done = n < state.memory.trips;
        const float X = x + column * static_cast<float>(n);
        const std::string what = std::to_string(n + 1) + "  " + (column > 190 ? "read " : "") + trip.reads +
                                 (column > 190 ? " → write " : " → ") + trip.writes;
        c.text_within(X, y, column - 10, what, 13, done ? t.t1 : t.t3,
                      current ? Face::medium : Face::regular);
        if (two)
            c.text_within(X, y + 18, column - 10, moved(trip.read) + " in, " + moved(trip.write) + " out", 13,
                          t.t3);
    }
}

std::int64_t moved_so_far(const Study& s, int trips) {
    std::int64_t bytes = 0;
    for (int n = 0; n < trips; ++n)
        bytes += s.trips[static_cast<std::size_t>(n)].read + s.trips[static_cast<std::size_t>(n)].write;
    return bytes;
}

void trip_buttons(const Canvas& c, MemoryForm& form, const Rect& a) {
    float x = a.right() - 12 - 3 * 34;
    const auto icon = [&](const char* id, Icon which, const char* tip) {
        const bool clicked = icon_button(c, id, x, a.y + 7, 30, 30, which, {.tooltip = tip});
        x += 34;
        return clicked;
    };
    if (icon("##trip-back", Icon::back, "One kernel less (←)")) step_trip(form, -1);
    if (icon("##trip-play", form.playing ? Icon::pause : Icon::play, "One kernel after another (Space)"))
        play_trips(form);
    if (icon("##trip-forward", Icon::forward, "Next kernel (→)")) step_trip(form, 1);
    const std::string where =
        form.trips == 3 && !form.playing ? "3 kernels" : "kernel " + std::to_string(form.trips) + " of 3";
    c.text(a.right() - 12 - 3 * 34 - 8, a.y + 22, where, 13, c.theme->t2, Face::medium, Align::right);
}

std::string caption(const Study& s, Algorithm algorithm, bool wide) {
    const bool first = algorithm == Algorithm::flash1;
    const std::string times = format_count(first ? s.shape.Tc() : s.shape.Tr());
    if (!wide)
        return first ? "Q and O again for each of " + times + " key blocks"
                     : "K and V again for each of " + times + " query blocks";
    return first
               ? "one kernel, key blocks outside: Q and O come back for each of " + times + " key blocks"
               : "one kernel, query blocks outside: K and V come back for each of " + times + " query blocks";
}

std::string tile(const Tile& t) { return format_count(t.Br) + " × " + format_count(t.Bc); }

// What the bars come to, the most important first; as many as there is room for.
std::vector<std::string> remarks(const Study& s) {
    const char* const where = s.fit == TileFit::shared      ? " fit into the shared memory of one SM"
                              : s.fit == TileFit::registers ? " fit into one SM with S, P and O in registers"
                                                            : " do not fit into one SM";
    const Growth& g = s.growth;
    std::string theta = "Theorem 2 of FlashAttention: Θ(N d + N²) = " + format_number(g.standard, 3) +
                        " elements against Θ(N² d² / M) = " + format_number(g.flash, 3) +
                        ", M = " + format_count(static_cast<std::int64_t>(g.M));
    if (!g.stated) theta += " (stated for d ≤ M ≤ N d)";
    return {
        traffic_verdict(s),
        "Tiles of " + tile({s.shape.Br, s.shape.Bc}) + " take " + format_large_size(real(s.need.total())) +
            " and" + where + "; all of it in shared memory: at most " + tile(s.square) + ".",
        theta + ".", "Q, K, V and O are in every bar; where no colour shows, they are thinner than a pixel."};
}

}  // namespace

void memory_traffic(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    const bool wide = a.w > 760, high = a.h > 300;
    const std::string sizes = "N = " + format_count(s.shape.N) + ", d = " + std::to_string(s.shape.d) + ", " +
                              format_name(s.shape.element_bytes);
    const std::string title = "HBM traffic of one head", legend = "; reads ▼ and writes ▲, no cache";
    const float rest = a.w - 220 - text_width(Face::semibold, 15, title) - 44;
    const auto fits = [&](const std::string& text) { return text_width(Face::regular, 14, text) <= rest; };
    begin_panel(c, "Traffic", a.x, a.y, a.w, a.h, title,
                fits(sizes + legend) ? sizes + legend
                : fits(sizes)        ? sizes
                                     : "");
    trip_buttons(c, state.memory, a);

    const float label_w = wide ? 104 : 78, x = a.x + 16 + label_w, right = wide ? 214 : 150;
    const float bar = high ? 36 : 26, y0 = a.y + (high ? 54 : 46), under = high ? 58 : 26;
    const float pitch = high ? 66 : 54, bars_end = y0 + bar + under + 2 * pitch - 8;
    const int notes = std::clamp(static_cast<int>((a.bottom() - 10 - bars_end) / 19), 1, 4);
    const float room = a.right() - 16 - right - x;
    std::int64_t most = 1;
    for (const AlgorithmStudy& one : s.by_algorithm) most = std::max(most, one.traffic.total());
    const double scale = static_cast<double>(room) / real(most);
    const float size = wide ? 18 : 16, name = wide ? 16 : 14;

    float y = y0;
    c.text(a.x + 16, y + bar / 2, "Standard", name, t.t1, Face::semibold);
    trip_bar(c, state, s, x, y, bar, scale);
    const std::int64_t total = s.of(Algorithm::standard).traffic.total(),
                       so_far = moved_so_far(s, state.memory.trips);
    const float end = x + static_cast<float>(real(total) * scale) + 12;
    const float number = c.text(end, y + bar / 2, moved(so_far), size, t.t1, Face::semibold);
    if (state.memory.trips < 3)
        c.text_within(end + number + 8, y + bar / 2, a.right() - 16 - end - number - 8, "of " + moved(total),
                      14, t.t2);
    trip_captions(c, state, s, x, y + bar + 13, a.right() - 16 - x, high);

    y += bar + under;
    for (Algorithm algorithm : {Algorithm::flash1, Algorithm::flash2}) {
        const AlgorithmStudy& one = s.of(algorithm);
        c.text(a.x + 16, y + bar / 2, algorithm_name(algorithm), name, t.t1, Face::semibold);
        const float w = share_bar(c, one, x, y, bar, scale, 16);
        const float n =
            c.text(x + w + 12, y + bar / 2, moved(one.traffic.total()), size, t.t1, Face::semibold);
        const bool more = s.saving(algorithm) <= 0.995;
        c.text(x + w + 22 + n, y + bar / 2, compared(s, algorithm), 14, more ? t.t1 : t.t2,
               more ? Face::medium : Face::regular);
        c.text_within(x, y + bar + 13, a.right() - 16 - x, caption(s, algorithm, wide), 13, t.t3);
        y += pitch;
    }
    c.line({x - 8.5f, y0 - 8}, {x - 8.5f, y0 + bar + under + pitch + bar + 4}, t.line2);
    const std::vector<std::string> words = remarks(s);
    for (int n = 0; n < notes; ++n)
        c.text_within(a.x + 16, a.bottom() - 15 - 19 * static_cast<float>(notes - 1 - n), a.w - 32,
                      words[static_cast<std::size_t>(n)], 13,
                      n == 0  ? t.t1
                      : n < 3 ? t.t2
                              : t.t3);
    end_panel(c);
}

}  // namespace tilewalk::ui
