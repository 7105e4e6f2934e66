// What moves through HBM for one head: standard attention's three kernels one after another, and flash's one.
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

double real(std::int64_t n) { return static_cast<double>(n); }
std::string moved(std::int64_t bytes) { return format_large_size(real(bytes)); }

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
        const float w = px(real(piece.bytes) * scale);
        const int kernel = n++ / 2;
        const bool done = kernel < trips,
                   newest = kernel == trips - 1 && (trips < 3 || state.memory.trip_age < 1);
        if (w >= 1) {
            const ImU32 colour = hue(t, piece.role),
                        fill = ramp(t, piece.role, newest || trips == 3 ? 1.0f : .6f);
            const float part = newest ? progress : 1;
            if (done) c.rect(x, y, std::max((w - 1) * part, 1.0f), h, fill, w > 8 ? 3.0f : 0.0f);
            if (w > 8 && done) c.frame(x + .5f, y + .5f, w - 2, h - 1, colour, 1.2f, radius::bar);
            if (w > 8 && !done) c.to_come(x, y, w - 1, h);
            if (w > text_width(Face::medium, size::body, piece.label) + 12)
                c.text(x + w / 2, y + h / 2, piece.label, size::body, done ? ink_on(t, fill) : t.t3,
                       Face::medium, Align::center);
        }
        x += w;
    }
}

// Where the bars lie and how long a byte is.
struct BarRows {
    bool wide, high;
    float x, y, bar, under, pitch, right;  // `under`: room for the captions of the first bar
    int notes;
    double scale;
};

// "4.19 MB in, 537 MB out"; the larger of both alone where there is no room for more.
std::string in_and_out(const Trip& trip, float room) {
    std::string in = moved(trip.read) + " in", out = moved(trip.write) + " out", both = in + ", " + out;
    if (text_width(Face::regular, size::small, both) <= room) return both;
    return trip.read > trip.write ? in : out;
}

// Under the bar, each kernel where its part begins: what it fetches and leaves.
void trip_captions(const Canvas& c, const AppState& state, const Study& s, const BarRows& r) {
    const Theme& t = *c.theme;
    std::array<float, 4> at{};
    at[0] = r.x, at[3] = r.right;
    for (std::size_t n = 0; n < 2; ++n)
        at[n + 1] = at[n] + px(real(s.trips[n].read + s.trips[n].write) * r.scale);
    const auto words = [&](std::size_t n, bool full) {
        const Trip& trip = s.trips[n];
        return str(n + 1) + "  " + (full ? "read " : "") + trip.reads + (full ? " → write " : " → ") +
               trip.writes;
    };
    constexpr float gap = 14;
    const auto width = [&](std::size_t n, bool full) {
        return text_width(Face::medium, size::small, words(n, full)) + gap;
    };
    const auto all_fit = [&](bool full) {
        for (std::size_t n = 0; n < 3; ++n)
            if (width(n, full) > at[n + 1] - at[n]) return false;
        return true;
    };
    const bool full = all_fit(true);
    // Below a small part there is no room for its caption: the next one makes some, or all stand side by
    // side.
    for (std::size_t n = 1; n < 3 && !full; ++n) at[n] = std::max(at[n], at[n - 1] + width(n - 1, false));
    if (!full && !all_fit(false))
        for (std::size_t n = 1; n < 3; ++n) at[n] = r.x + (r.right - r.x) * px(n) / 3;
    const float y = r.y + r.bar + 13;
    for (std::size_t n = 0; n < 3; ++n) {
        const Trip& trip = s.trips[n];
        const int kernel = static_cast<int>(n);
        const bool current = kernel == state.memory.trips - 1, done = kernel < state.memory.trips;
        const float room = at[n + 1] - at[n] - gap + 4;
        c.text_within(at[n], y, room, words(n, full), size::small, done ? t.t1 : t.t3,
                      current ? Face::medium : Face::regular);
        if (r.high) c.text_within(at[n], y + 18, room, in_and_out(trip, room), size::small, t.t3);
    }
}

std::int64_t moved_so_far(const Study& s, int trips) {
    std::int64_t bytes = 0;
    for (int n = 0; n < trips; ++n)
        bytes += s.trips[static_cast<std::size_t>(n)].read + s.trips[static_cast<std::size_t>(n)].write;
    return bytes;
}

void trip_buttons(const Canvas& c, MemoryForm& form, const Rect& a) {
    const float x = a.right() - space::control_edge - 3 * 34;
    IconRow icon{c, x, a.y + 7, space::icon, 4};
    if (icon("##trip-back", Icon::back, {.tooltip = "One kernel less (←)"})) step_trip(form, -1);
    if (icon("##trip-play", form.playing ? Icon::pause : Icon::play,
             {.tooltip = "One kernel after another (Space)"}))
        play_trips(form);
    if (icon("##trip-forward", Icon::forward, {.tooltip = "Next kernel (→)"})) step_trip(form, 1);
    const std::string where =
        form.trips == 3 && !form.playing ? "3 kernels" : "kernel " + str(form.trips) + " of 3";
    c.text(x - 8, a.title_y(), where, size::small, c.theme->t2, Face::medium, Align::right);
}

std::string caption(const Study& s, Algorithm algorithm, bool wide) {
    const bool first = algorithm == Algorithm::flash1;
    const std::int64_t count = first ? s.shape.Tc() : s.shape.Tr();
    const std::string block = first ? "key block" : "query block", what = first ? "Q and O" : "K and V";
    const std::string begin = wide ? "one kernel, " + block + "s outside: " : "";
    if (count == 1) return begin + what + " are fetched once, for the only " + block;
    return begin + what + (wide ? " come back" : " again") + " for each of " + format_count(count) + " " +
           block + "s";
}

std::string tile(const Tile& t) { return format_count(t.Br) + " × " + format_count(t.Bc); }

// What the bars come to, the most important first.
std::vector<std::string> remarks(const Study& s) {
    const char* const where = s.fit == TileFit::shared      ? "they fit into SRAM"
                              : s.fit == TileFit::registers ? "they fit on chip if registers hold S, P and O"
                                                            : "they do not fit on chip";
    const Growth& g = s.growth;
    // How they grow; as numbers they would not be those of the bars, which know the factor.
    std::string growth = "With N words of d numbers standard grows as N d + N², flash as N² d² ÷ M, M = " +
                         format_count(static_cast<std::int64_t>(g.M)) + " numbers (" +
                         format_large_size(s.input.hardware.shared.value) + " of an SM's SRAM)";
    if (!g.stated) growth += " (stated for d ≤ M ≤ N d)";
    return {traffic_verdict(s),
            "S and P cross HBM four times in all. Q, K, V and O are in every bar, however thin.",
            "Tiles of " + tile({s.shape.Br, s.shape.Bc}) + " take " +
                format_large_size(real(s.need.total())) + ": " + where + "; all in SRAM: at most " +
                tile(s.square) + ".",
            growth + "."};
}

// As many as there is room for; of those below the first what would be cut off is left out.
std::vector<std::string> remarks_within(const Study& s, float room, std::size_t most) {
    std::vector<std::string> out;
    for (std::string& remark : remarks(s))
        if (out.empty() || (out.size() < most && text_width(Face::regular, size::small, remark) <= room))
            out.push_back(std::move(remark));
    return out;
}

// Four remarks if the bars stay as far apart as they must; what room is left goes between the bars.
BarRows bar_rows(const Study& s, const Rect& a) {
    BarRows r{};
    r.wide = a.w > 760, r.high = a.h > 300;
    r.x = a.inner_x() + (r.wide ? 148 : 128), r.right = a.inner_right();
    r.y = a.y + (r.high ? 54 : 46), r.bar = r.high ? 36 : 26, r.under = r.high ? 58 : 26;
    const float least = r.high ? 66 : 54, left = a.bottom() - 2 - (r.y + r.bar + r.under + 2 * least);
    r.notes = std::clamp(static_cast<int>(left / 19), 1, 4);
    r.pitch = least + std::clamp((left - 19 * px(r.notes)) / 2 - 4, 0.0f, 34.0f);
    std::int64_t most = 1;
    for (const AlgorithmStudy& one : s.by_algorithm) most = std::max(most, one.traffic.total());
    r.scale = static_cast<double>(r.right - (r.wide ? 214 : 150) - r.x) / real(most);
    return r;
}

float total_size(const BarRows& r) { return r.wide ? 18 : 16; }

void row_name(const Canvas& c, const BarRows& r, float x, float y, Algorithm algorithm) {
    c.text(x, y, algorithm_name(algorithm), r.wide ? 16 : 14, 0, Face::semibold);
}

void standard_row(const Canvas& c, const AppState& state, const Study& s, const BarRows& r) {
    trip_bar(c, state, s, r.x, r.y, r.bar, r.scale);
    const std::int64_t total = s.of(Algorithm::standard).traffic.total(),
                       so_far = moved_so_far(s, state.memory.trips);
    const float end = r.x + px(real(total) * r.scale) + 12, y = r.y + r.bar / 2;
    const float number = c.text(end, y, moved(so_far), total_size(r), 0, Face::semibold) + 8;
    if (so_far < total)
        c.text_within(end + number, y, r.right - end - number, "of " + moved(total), size::body, c.theme->t2);
    trip_captions(c, state, s, r);
}

void flash_row(const Canvas& c, const Study& s, const BarRows& r, float top, Algorithm algorithm) {
    const Theme& t = *c.theme;
    const AlgorithmStudy& one = s.of(algorithm);
    const float x = r.x + share_bar(c, one, r.x, top, r.bar, r.scale, 16) + 12, y = top + r.bar / 2;
    const float number = c.text(x, y, moved(one.traffic.total()), total_size(r), 0, Face::semibold);
    const bool more = s.saving(algorithm) <= 0.995;
    const float fewer = c.text(x + number + 10, y, compared(s, algorithm), size::body, more ? t.t1 : t.t2,
                               more ? Face::medium : Face::regular);
    draw_nameless(c, nameless_shares(one, r.scale, 16), x + number + fewer + 28, r.right, y, size::body);
    c.text_within(r.x, top + r.bar + 13, r.right - r.x, caption(s, algorithm, r.wide), size::small, t.t3);
}

// The sizes, and with them the legend, as far as there is room beside the title.
std::string subtitle(const Study& s, float room) {
    const std::string legend = "; reads ▼ and writes ▲, no cache";
    const std::string N = "N = " + format_count(s.shape.N), d = "d = " + str(s.shape.d),
                      of = std::string(", ") + format_name(s.shape.element_bytes),
                      named = N + " words of " + d + " numbers" + of, sizes = N + ", " + d + of;
    for (const std::string& text : {named + legend, sizes + legend, named, sizes})
        if (text_width(Face::regular, size::body, text) <= room) return text;
    return "";
}

}  // namespace

void memory_traffic(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    const char* title = "HBM traffic of one head";
    const float room = a.w - 264 - text_width(Face::semibold, size::lead, title);
    const Panel panel(c, "Traffic", a, title, subtitle(s, room));
    trip_buttons(c, state.memory, a);
    const BarRows r = bar_rows(s, a);
    const float first = r.y + r.bar + r.under, second = first + r.pitch;
    row_name(c, r, a.inner_x(), r.y + r.bar / 2, Algorithm::standard);
    row_name(c, r, a.inner_x(), first + r.bar / 2, Algorithm::flash1);
    row_name(c, r, a.inner_x(), second + r.bar / 2, Algorithm::flash2);
    standard_row(c, state, s, r);
    flash_row(c, s, r, first, Algorithm::flash1);
    flash_row(c, s, r, second, Algorithm::flash2);
    c.line({r.x - 8.5f, r.y - 8}, {r.x - 8.5f, second + r.bar + 4}, t.line2);
    const std::vector<std::string> words = remarks_within(s, a.inner_w(), static_cast<std::size_t>(r.notes));
    for (std::size_t n = 0; n < words.size(); ++n)
        c.text_within(a.inner_x(), a.bottom() - 15 - 19 * (px(r.notes - 1) - px(n)), a.inner_w(), words[n],
                      size::small, n == 0 ? t.t1 : t.t2);
}

}  // namespace tilewalk::ui
