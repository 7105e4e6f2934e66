// The stop of a tour over the page that it speaks of: a ring round the place, and a card with the text. In
// presenter mode the card is a band along the top or the bottom.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/state/tour.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Look {
    float text, heading, line, pad, control;
};
constexpr Look normal{15, 16, 1.5f, 16, 32}, low{14, 16, 1.42f, 16, 32}, large{27, 30, 1.36f, 24, 44};
constexpr float low_window = 700;  // height: the card is made smaller rather than the page hidden
const Look& look_of(const AppState& state) { return state.presenter ? large : normal; }
const Look& strip_look(float H) { return H < low_window ? low : normal; }

// Formulas that follow each other stand closer than paragraphs.
float gap_below(const Line& paragraph, const Look& look) {
    const float below_words = &look == &large ? .25f : .4f;
    return look.text * (is_formula(paragraph) ? .1f : below_words);
}
float paragraphs_height(const Canvas& c, std::span<const Line> text, const Look& look, float w) {
    float h = 0;
    for (const Line& paragraph : text)
        h += rich_paragraph_height(c, w, paragraph, look.text, 0, look.line) + gap_below(paragraph, look);
    return h;
}
float text_height(const Canvas& c, const Tour& tour, const Look& look, float w) {
    return paragraphs_height(c, tour.text, look, w);
}

// "What is wrong? This is." parted behind its sentences.
std::vector<Line> sentences_of(const Line& paragraph) {
    std::vector<Line> out(1);
    for (const Span& span : paragraph) {
        std::string rest = span.text;
        for (std::size_t end; span.face != Span::Face::number &&
                              (end = std::min(rest.find(". "), rest.find("? "))) != std::string::npos;) {
            Span head = span;
            head.text = rest.substr(0, end + 2);
            out.back().push_back(std::move(head));
            out.emplace_back();
            rest = rest.substr(end + 2);
        }
        Span tail = span;
        tail.text = rest;
        if (!rest.empty()) out.back().push_back(std::move(tail));
    }
    if (out.back().empty()) out.pop_back();
    return out;
}

// What a stage shows of a stop, for a room that listens: two lines, the formula one of them. The rest is for
// who speaks, in the speaker's view; Shift U brings it on stage, and what is taken along has it.
constexpr int lines_on_stage = 2;

std::vector<Line> brief_text(const Canvas& c, const std::vector<Line>& text, float w) {
    const auto formula = std::ranges::find_if(text, [](const Line& one) { return is_formula(one); });
    const int most = lines_on_stage - (formula != text.end());
    const auto fits = [&](const Line& line, int lines) {
        return rich_paragraph_height(c, w, line, large.text, 0, large.line) <
               (px(lines) + .5f) * large.text * large.line;
    };
    std::vector<Line> out;
    Line words;
    if (!text.empty() && formula != text.begin())
        for (const Line& sentence : sentences_of(text.front())) {
            const Line more = pieces(words, sentence);
            if (!fits(more, most)) break;
            words = more;
        }
    // A long first sentence has a line more, or heading and formula must do.
    if (words.empty() && formula != text.begin() && !text.empty())
        if (const Line first = sentences_of(text.front()).front(); fits(first, most + 1)) words = first;
    if (!words.empty()) out.push_back(words);
    if (formula != text.end()) out.push_back(*formula);
    return out;
}

std::vector<Line> text_on_stage(const Canvas& c, const AppState& state, float w) {
    const Tour& tour = *state.tour;
    if (!at_stop(state) && !tour.arriving)
        return {pieces("The walk has left this stop: Backspace leads back to it.")};
    return state.to_take_along || tour.in_full ? tour.text : brief_text(c, tour.text, w);
}

// The numbers of a stop are those of its own step, wherever the walk stands meanwhile.
void refresh_text(AppState& state) {
    Tour& tour = *state.tour;
    const TourStop& stop = tour.stop();
    if (tour.text_of == tour.at && tour.style == number_style()) return;
    if (state.lesson != stop.lesson || state.problem != stop.problem) return;
    tour.text = filled_text(stop, *state.trace);
    tour.text_of = tour.at;
    tour.style = number_style();
}

void badge(const Canvas& c, const std::string& number, const Rect& a, float size) {
    c.rect(a.x - 2, a.y - 2, a.w + 4, a.h + 4, c.theme->bg, a.h / 2 + 2);
    c.rect(a.x, a.y, a.w, a.h, c.theme->t1, a.h / 2);
    c.text(a.x + a.w / 2, a.middle(), number, size, c.theme->inv, Face::semibold, Align::center);
}

Rect place_of(const Canvas& c, const NamedPlace& at) {
    return {(at.min.x - c.x0) / c.s, (at.min.y - c.y0) / c.s, (at.max.x - at.min.x) / c.s,
            (at.max.y - at.min.y) / c.s};
}

bool overlap(const Rect& a, const Rect& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

// Where the number stands: at the corner of a panel, or beside a cell where no other is. A matrix has its
// name and those of its rows round it, and on stage all is close: there the ring is enough.
std::optional<Rect> badge_place(const Canvas& c, const Tour& tour, const Rect& at, const Rect& ring,
                                const Point& size, float W) {
    const Rect inner{at.x + at.w / 4, at.y + at.h / 4, at.w / 2, at.h / 2};
    bool cell = false;
    std::vector<Rect> others;
    for (const NamedPlace& place : tour.places)
        if (const Rect r = place_of(c, place); place.kind == ItemKind::cell) {
            const bool same = overlap(r, inner);
            if (!same) others.push_back(r);
            cell |= same && r.w > .8f * at.w && r.h > .8f * at.h;
        }
    const bool panel = tour.stop().place.kind == TourPlace::Kind::panel;
    if (!cell && panel) return Rect{ring.x - size.x / 2, ring.y - size.y / 2, size.x, size.y};
    if (!cell) return {};
    for (const float x : {ring.right(), ring.x - size.x}) {
        const Rect r{x, ring.middle() - size.y / 2, size.x, size.y};
        const bool covers = std::ranges::any_of(others, [&](const Rect& other) { return overlap(r, other); });
        if (!covers && r.x >= 2 && r.right() <= W - 2) return r;
    }
    return {};
}

struct RingLook {
    float out = 5, below = 5;
    float rim = 7;  // the darker line below the light one
    float aside = out;
};
constexpr RingLook beside_a_page{5, 5, 7, 16};  // on stage a page has its edge free
// The head with its map above it, the formula with its tildes below it.
constexpr RingLook between_head_and_formula{1.5f, 1.5f, 3};
constexpr RingLook with_its_word{32, 4, 3, 4};
constexpr RingLook close_to_numbers{2, 2, 5};

// Its words stand over the drawing, which lies beside a table.
bool has_words_above(const TourStop& stop, const TourPlace& place) {
    const Picture picture = stop.lesson ? stop.lesson->picture : Picture::count;
    const bool merges = picture == Picture::merge || picture == Picture::split_kv;
    return (merges && place.name == "Lens") || (picture == Picture::ring && place.name == "Ring");
}

RingLook ring_on_stage(const TourStop& stop, const TourPlace& place) {
    if (!stop.page.empty()) return beside_a_page;
    if (has_words_above(stop, place)) return with_its_word;
    return place.kind == TourPlace::Kind::panel ? between_head_and_formula : close_to_numbers;
}

// Among the matrices of a dense lesson their names, and those of rows and keys, stand so close that only the
// frame of the matrix is left for the line; the frame of a lens has matrices above it, a cell numbers beside
// it and a low one numbers above and below.
RingLook ring_look(const Canvas& c, const TourPlace& place, const Rect& at) {
    if (at.h < 22) return {1, 1, 4};
    if (place.kind == TourPlace::Kind::cell) return {2, 2, 4};
    if (place.kind == TourPlace::Kind::matrix && tour_place(c, {TourPlace::Kind::panel, "Matrices", {}, {}}))
        return {4.5f, 3.5f, 5};
    if (place.kind == TourPlace::Kind::panel && place.name == "Lens") return {1.5f, 1.5f, 5};
    return {};
}

RingLook look_of_ring(const Canvas& c, const TourStop& stop, const TourPlace& place, const Rect& at,
                      bool far) {
    return far ? ring_on_stage(stop, place) : ring_look(c, place, at);
}

// Two lines, so that one of them stands out from what lies below; the number says which card it is of.
Rect ring_line(const Canvas& c, const Rect& at, const RingLook& line, float W, float H) {
    const float x = std::max(at.x - line.aside, 3.0f), y = std::max(at.y - line.out, 3.0f);
    const float w = std::min(at.right() + line.aside, W - 3) - x,
                h = std::min(at.bottom() + line.below, H - 3) - y;
    c.frame(x, y, w, h, c.theme->bg, line.rim, 9);
    c.frame(x, y, w, h, c.theme->t1, 3, 9);
    return {x, y, w, h};
}

// Those of the other places that a stop names, whether its first one is shown or not.
void other_rings(const Canvas& c, const TourStop& stop, bool far, float W, float H) {
    const PanelPart part(c, "Ring", {0, 0, W, H});
    for (const TourPlace& place : stop.also)
        if (const auto at = tour_place(c, place))
            ring_line(c, *at, look_of_ring(c, stop, place, *at, far), W, H);
}

void ring(const Canvas& c, Tour& tour, const Rect& at, const Look& look, float W, float H) {
    const bool far = &look == &large;
    const PanelPart part(c, "Ring", {0, 0, W, H});
    const TourStop& stop = tour.stop();
    const Rect drawn = tour.ring = ring_line(c, at, look_of_ring(c, stop, stop.place, at, far), W, H);
    if (far) return;
    const std::string number = str(tour.at + 1);
    const float side = size::small * 1.7f,
                bw = std::max(side, text_width(Face::semibold, size::small, number) + size::small * .9f);
    if (const auto a = badge_place(c, tour, at, drawn, {bw, side}, W))
        badge(c, number, {std::clamp(a->x, 2.0f, W - bw - 2), std::clamp(a->y, 2.0f, H - side - 2), bw, side},
              size::small);
}

constexpr float of_ring = 16;      // what belongs to a ring round a panel
constexpr float of_ring_edge = 5;  // as much of it lies over the next panel

// What the card must not hide: the place with its ring and number, the cell, and why the step is there.
std::vector<Rect> kept_free(const Canvas& c, const AppState& state) {
    const TourStop& stop = state.tour->stop();
    std::vector<Rect> out;
    const auto keep = [&](const TourPlace& place, float around) {
        if (const auto at = tour_place(c, place))
            out.push_back({at->x - around, at->y - around, at->w + 2 * around, at->h + 2 * around});
    };
    keep(stop.place, of_ring);
    for (const TourPlace& place : stop.also) keep(place, of_ring);
    if (stop.cell) keep({TourPlace::Kind::cell, {}, *stop.cell, {}}, 0);
    for (const char* panel : {"Explanation", "Problem", "Break it", "Cell"})
        keep({TourPlace::Kind::panel, panel, {}, {}}, 0);
    return out;
}

// Presenter mode and small windows lack some panels: there the ring goes round the cell.
std::optional<Rect> shown_place(const Canvas& c, const AppState& state) {
    const TourStop& stop = state.tour->stop();
    const auto place = tour_place(c, stop.place);
    if (place || !stop.cell) return place;
    return tour_place(c, {TourPlace::Kind::cell, {}, *stop.cell, {}});
}

// A strip has its heading and buttons in one line and long texts in two columns; its paragraphs below.
bool is_strip(const Rect& a) { return a.w > 500; }
constexpr float strip_head = 52, strip_foot = 8, strip_gap = 36;
float column_width(const Tour& tour, float w) {
    const float inner = w - 2 * normal.pad;
    return w > 860 && tour.text.size() > 1 ? (inner - strip_gap) / 2 : inner;
}
// The higher of the two columns, if the first has n paragraphs.
float columns_height(const Canvas& c, const Tour& tour, const Look& look, float column, std::size_t n) {
    const std::span<const Line> text(tour.text);
    return std::max(paragraphs_height(c, text.first(n), look, column),
                    paragraphs_height(c, text.subspan(n), look, column));
}
// How many paragraphs stand in the first column
std::size_t first_column(const Canvas& c, const Tour& tour, const Look& look, float w) {
    const float column = column_width(tour, w);
    std::size_t best = tour.text.size();
    if (column >= w - 2 * normal.pad) return best;
    // A formula stays with the words before it.
    for (std::size_t n = best; n-- > 1;)
        if (!is_formula(tour.text[n]) &&
            columns_height(c, tour, look, column, n) <= columns_height(c, tour, look, column, best))
            best = n;
    return best;
}

Rect strip(const Canvas& c, const Tour& tour, const Look& look, float x, float w) {
    const float h = columns_height(c, tour, look, column_width(tour, w), first_column(c, tour, look, w));
    return {x, 0, w, strip_head + h + strip_foot};
}

// The matrices and cells that the step or the card is about, with the names above them: a card that says
// "V[0,0] = 1" leaves V in sight.
std::vector<Rect> spoken_of(const Canvas& c, const AppState& state) {
    std::vector<Rect> out;
    if (state.page != Page::walk || !place_list) return out;
    constexpr float name = 22;
    const TourStop& stop = state.tour->stop();
    for (const CellRef& cell : cells_named(stop, *state.trace)) {
        if (const auto at = tour_place(c, {TourPlace::Kind::cell, {}, cell, {}})) out.push_back(*at);
        if (const auto at = tour_place(c, {TourPlace::Kind::matrix, {}, cell, {}}))
            out.push_back({at->x, at->y - name, at->w, at->h + name});
    }
    const int k = state.cursor.step;
    for (const auto& accesses : {state.trace->reads(k), state.trace->writes(k)})
        for (const Access& access : accesses)
            if (const auto at = tour_place(c, {TourPlace::Kind::matrix, {}, {access.slot, 0, 0}, {}}))
                out.push_back({at->x, at->y - name, at->w, at->h + name});
    return out;
}

std::vector<Rect> panels_called(const Canvas& c, const char* name) {
    const auto at = tour_place(c, {TourPlace::Kind::panel, name, {}, {}});
    return at ? std::vector{*at} : std::vector<Rect>{};
}

// "sram S", "hbm K": of a walk all of them, and the square of its tiles; of a comparison the map with its
// scale.
std::vector<Rect> matrices_and_map(const Canvas& c) {
    std::vector<Rect> out = panels_called(c, "Map");
    for (const Rect& map : panels_called(c, "Colours")) out.push_back(map);
    if (!place_list) return out;
    for (const NamedPlace& place : *place_list)
        if (place.kind == ItemKind::panel &&
            (place.name.starts_with("sram ") || place.name.starts_with("hbm ")))
            out.push_back(place_of(c, place));
    return out;
}

// A drawing that the card would cut in two, and that the stop is not about.
std::optional<Rect> cut_drawing(const Canvas& c, const AppState& state, const Rect& card) {
    if (state.page != Page::walk || points_at(state, "Lens") || points_at(state, "Proof")) return {};
    const auto lens = tour_place(c, {TourPlace::Kind::panel, "Lens", {}, {}});
    constexpr float edge = 8;  // of it nobody misses
    const bool cut = lens && std::min(lens->bottom(), card.bottom()) - std::max(lens->y, card.y) > edge &&
                     overlap(*lens, card);
    return cut ? lens : std::nullopt;
}

// The first place that hides nothing of what the stop is about: a strip over the timeline, or over the foot
// of a page, then over the foot of the matrices, or their head where the drawing below them is spoken of;
// else the corner that hides least.
Rect desk_area(const Canvas& c, const AppState& state, float W, float H) {
    const Tour& tour = *state.tour;
    const std::vector<Rect> keep = kept_free(c, state);
    const Layout layout = layout_for(W, H);
    const bool walk = state.page == Page::walk;
    const float foot = H - space::margin, margin = space::margin;
    const std::vector<Rect> spoken = spoken_of(c, state);
    // Where two hide as little of that, the matrices and the square of tiles stay in sight, then the drawing
    // to scale.
    const std::vector<Rect> rest = matrices_and_map(c), lens = panels_called(c, "Lens");
    const auto hidden = [&](const Rect& a) {
        return std::tuple(hidden_by(a, keep), hidden_by(a, spoken), hidden_by(a, rest), hidden_by(a, lens));
    };
    const Look& look = strip_look(H);
    const auto bottom_at = [&](Rect a, float bottom) { return Rect{a.x, bottom - a.h, a.w, a.h}; };
    std::vector<Rect> places;
    const float narrow = layout.timeline.w - of_ring_edge, wide = W - 2 * margin;
    for (const float w : {walk ? narrow : wide, walk ? wide : narrow}) {
        Rect a = strip(c, tour, look, margin, w);
        // The buttons of the timeline stay in sight where they can; else all of it gives way, not half a
        // lane.
        constexpr float buttons = 56;
        if (const float lanes = foot - buttons - layout.timeline.y; walk && a.h <= lanes)
            places.push_back({a.x, layout.timeline.y, a.w, std::max(a.h, lanes - 10)});
        if (walk) a.h = std::max(a.h, foot - layout.timeline.y - of_ring_edge);
        places.push_back(bottom_at(a, foot));
    }
    const auto card_h = [&](float w) {
        return normal.pad + 34 + text_height(c, tour, normal, w - 2 * normal.pad) + normal.control +
               normal.pad + 8;
    };
    // HBM is spoken of with all its names: the matrices of SRAM give way, rather than the names of both.
    const bool of_hbm = tour.stop().place.name == "Map" || tour.stop().place.name == "HBM";
    const Rect over_sram{layout.sram.x + of_ring, layout.sram.y + of_ring_edge, layout.sram.w - of_ring - 4,
                         card_h(layout.sram.w - of_ring - 4)};
    if (walk && of_hbm && !is_strip(over_sram) && over_sram.bottom() <= layout.sram.bottom())
        places.push_back(over_sram);
    const Rect over_main = strip(c, tour, look, margin, layout.main.w);
    places.push_back(bottom_at(over_main, layout.main.bottom() - margin));
    if (walk) places.push_back({over_main.x, layout.main.y, over_main.w, over_main.h});
    const float w = W < 1100 ? 364.0f : W < 1440 ? 388.0f : 420.0f;
    for (const Rect& corner : card_places(w, card_h(w), W, H)) places.push_back(corner);
    return *std::ranges::min_element(places, {}, hidden);
}

bool contains(const Rect& outer, const Rect& inner) {
    return outer.x <= inner.x && outer.y <= inner.y && inner.right() <= outer.right() &&
           inner.bottom() <= outer.bottom();
}

// A panel of a page that the card cuts, and that the stop is not about, steps back: no half words in full
// light.
std::vector<Rect> dim_what_is_cut(const Canvas& c, const AppState& state, const Rect& card) {
    const Theme& t = *c.theme;
    const std::vector<Rect> keep = kept_free(c, state);
    std::vector<Rect> dimmed;
    if (!place_list) return dimmed;
    for (const NamedPlace& place : *place_list) {
        const Rect at = place_of(c, place);
        const auto spoken_of = [&](const Rect& kept) {
            return contains(kept, at) || at.contains({kept.x + kept.w / 2, kept.middle()});
        };
        const auto within = [&](const Rect& other) { return contains(other, at); };
        if (place.kind != ItemKind::panel || !overlap(at, card) || contains(card, at)) continue;
        if (std::ranges::any_of(keep, spoken_of) || std::ranges::any_of(dimmed, within)) continue;
        c.rect(at.x + 1, at.y + 1, at.w - 2, at.h - 2, with_alpha(t.bg, .72f), radius::panel);
        dimmed.push_back(at);
    }
    return dimmed;
}

Rect area_of(const Canvas& c, const AppState& state, float W, float H) {
    return state.presenter ? tour_band(c, state, W, H) : desk_area(c, state, W, H);
}

// Of a stop that the walk has left, quietly: what is seen is something else by now.
void paragraphs(const Canvas& c, const AppState& state, std::span<const Line> text, const Look& look, float x,
                float y, float w) {
    const bool here = at_stop(state) || state.tour->arriving;
    for (const Line& paragraph : text)
        y += c.rich_paragraph(x, y, w, here ? paragraph : Line{word(plain(paragraph))}, look.text, 0,
                              here ? c.theme->t1 : c.theme->t3, look.line) +
             gap_below(paragraph, look);
}

std::string step_number(const AppState& state) {
    return "step " + str(state.cursor.step + 1) + " of " + str(state.trace->size());
}

std::string counter(const Tour& tour) { return str(tour.at + 1) + " / " + str(tour.stops()); }

bool begins_chapter(const Tour& tour) {
    const auto place = chapter_place(tour.script, tour.at);
    return place && place->stop == 1;
}

// Where it has room, in short if need be; where a chapter begins, whatever the heading has left then.
std::string chapter_within(const Tour& tour, float text, float room) {
    const auto place = chapter_place(tour.script, tour.at);
    if (!place) return "";
    for (const std::string& words : {chapter_words(*place), chapter_words_in_short(*place)})
        if (begins_chapter(tour) || text_width(Face::medium, text, words) <= room) return words;
    return "";
}

// In a bar where it begins. Returns its width.
float draw_chapter(const Canvas& c, const Tour& tour, const std::string& words, float x, float middle,
                   float text) {
    if (!begins_chapter(tour)) return c.text(x, middle, words, text, c.theme->t2, Face::medium);
    const float w = text_width(Face::semibold, text, words), pad = text * .45f, h = text * 1.42f;
    c.rect(x, middle - h / 2 - 1, w + 2 * pad, h, c.theme->t1, radius::bar);
    c.text(x + pad, middle, words, text, c.theme->inv, Face::semibold);
    return w + 2 * pad;
}

// The heading with the chapter above it, about `middle`; returns how wide the heading is.
float heading_of_stop(const Canvas& c, const Tour& tour, const Look& look, float x, float middle,
                      float room) {
    const std::string chapter = chapter_within(tour, size::small, room);
    if (!chapter.empty()) draw_chapter(c, tour, chapter, x, middle - 11, size::small);
    return c.text_within(x, middle + (chapter.empty() ? 0 : 9), room, tour.stop().heading, look.heading, 0,
                         Face::semibold);
}

struct Pressed {
    bool back = false, next = false, close = false, here = false, words = false;
};

// Not "Next" alone: the walk has buttons for its steps, and what goes on here are stops.
const char* words_of_next(const Tour& tour) { return tour.at + 1 == tour.stops() ? "Finish" : "Next stop"; }

// Heading and way out above, back and next below.
Pressed draw_card(const Canvas& c, const AppState& state, const Rect& a) {
    const Tour& tour = *state.tour;
    const Look& look = look_of(state);
    Pressed pressed;
    heading_of_stop(c, tour, look, a.x + look.pad, a.y + 28, a.w - 2 * look.pad - 36);
    pressed.close = icon_button(c, "##leave tour", a.right() - 44, a.y + 12, 32, 32, Icon::close,
                                {.quiet = true, .tooltip = "Leave the tour (Esc)"});
    paragraphs(c, state, tour.text, look, a.x + look.pad, a.y + look.pad + 34, a.w - 2 * look.pad);
    const float y = a.bottom() - look.pad - look.control;
    const bool last = tour.at + 1 == tour.stops();
    const char* const next = words_of_next(tour);
    const float next_w = button_width(next, look.text) + 20;
    pressed.back = icon_button(c, "##previous stop", a.x + look.pad, y, look.control, look.control,
                               Icon::back, {.enabled = tour.at > 0, .tooltip = "Previous stop (PgUp)"});
    pressed.next = button(c, "##next stop", a.right() - look.pad - next_w, y, next_w, look.control, next,
                          {.primary = true, .tooltip = last ? "End the tour (PgDn)" : "Next stop (PgDn)"});
    const float from = a.x + look.pad + look.control, to = a.right() - look.pad - next_w;
    if (at_stop(state)) {
        c.text((from + to) / 2, y + look.control / 2, counter(tour), size::body, c.theme->t2, Face::medium,
               Align::center);
        return pressed;
    }
    constexpr const char* words = "Back to the stop";
    const float w = button_width(words);
    pressed.here = button(c, "##to the stop", (from + to - w) / 2, y, w, look.control, words,
                          {.tooltip = "The walk has gone on from where this stop speaks (Backspace)"});
    return pressed;
}

// The same in a strip: one line of heading and controls, the text below it.
Pressed draw_strip(const Canvas& c, const AppState& state, const Rect& a, float H) {
    const Tour& tour = *state.tour;
    const Look& look = strip_look(H);
    Pressed pressed;
    const float y = a.y + 10, middle = y + look.control / 2;
    float right = a.right() - 12 - look.control;
    pressed.close = icon_button(c, "##leave tour", right, y, look.control, look.control, Icon::close,
                                {.quiet = true, .tooltip = "Leave the tour (Esc)"});
    const bool last = tour.at + 1 == tour.stops();
    const char* const next = words_of_next(tour);
    right -= 8 + button_width(next, look.text) + 12;
    pressed.next = button(c, "##next stop", right, y, button_width(next, look.text) + 12, look.control, next,
                          {.primary = true, .tooltip = last ? "End the tour (PgDn)" : "Next stop (PgDn)"});
    right -= 10;
    right -= 10 + c.text(right, middle, counter(tour), size::body, c.theme->t2, Face::medium, Align::right);
    right -= look.control;
    pressed.back = icon_button(c, "##previous stop", right, y, look.control, look.control, Icon::back,
                               {.enabled = tour.at > 0, .tooltip = "Previous stop (PgUp)"});
    if (!at_stop(state)) {
        constexpr const char* words = "Back to the stop";
        right -= button_width(words) + 10;
        pressed.here = button(c, "##to the stop", right, y, button_width(words), look.control, words,
                              {.tooltip = "The walk has gone on from where this stop speaks (Backspace)"});
    }
    const float x = a.x + look.pad, column = column_width(tour, a.w);
    const float after = x + 14 + heading_of_stop(c, tour, look, x, middle, right - x - 16);
    // The strip lies on the timeline, which says it otherwise.
    if (const std::string step = step_number(state);
        state.page == Page::walk && text_width(Face::regular, size::body, step) < right - 16 - after)
        c.text(after, middle + (tour.script.chapters.empty() ? 0 : 9), step, size::body, c.theme->t2);
    const std::span<const Line> text(tour.text);
    const std::size_t first = first_column(c, tour, look, a.w);
    paragraphs(c, state, text.first(first), look, x, a.y + strip_head - 4, column);
    paragraphs(c, state, text.subspan(first), look, x + column + strip_gap, a.y + strip_head - 4, column);
    return pressed;
}

// The same for the back row: one line of heading and controls, the text below it.
Pressed draw_band(const Canvas& c, const AppState& state, const Rect& a) {
    const Tour& tour = *state.tour;
    const Look& look = large;
    Pressed pressed;
    const float y = a.y + 14, middle = y + look.control / 2;
    float right = a.right() - look.pad + 14;
    const auto icon = [&](const char* id, Icon which, bool enabled, const char* tip) {
        if (state.to_take_along) return false;
        right -= look.control + 6;
        return icon_button(c, id, right, y, look.control, look.control, which,
                           {.enabled = enabled, .quiet = true, .tooltip = tip});
    };
    pressed.close = icon("##leave tour", Icon::close, true, "Leave the tour (Esc)");
    pressed.next = icon("##next stop", Icon::forward, true, "Next stop (PgDn)");
    pressed.back = icon("##previous stop", Icon::back, tour.at > 0, "Previous stop (PgUp)");
    pressed.words = icon("##all words", tour.in_full ? Icon::minus : Icon::plus, true,
                         tour.in_full ? "Fewer words (Shift U)" : "All of its words (Shift U)");
    right -= 6;
    right -=
        10 + c.text(right - 10, middle, counter(tour), look.text, c.theme->t2, Face::medium, Align::right);
    if (!at_stop(state)) {
        constexpr const char* words = "To the stop";
        const float w = button_width(words, look.text);
        right -= w + 16;
        pressed.here = button(c, "##to the stop", right, y, w, look.control, words, {.size = look.text});
    }
    float x = a.x + look.pad;
    if (begins_chapter(tour))
        x += 20 + draw_chapter(c, tour, chapter_within(tour, look.text, 0), x, middle, look.text);
    const float after =
        x + 24 +
        c.text_within(x, middle, right - x - 16, tour.stop().heading, look.heading, 0, Face::semibold);
    if (const std::string chapter = chapter_within(tour, look.text, right - 16 - after);
        !begins_chapter(tour) && !chapter.empty())
        draw_chapter(c, tour, chapter, after, middle + 1, look.text);
    const float w = a.w - 2 * look.pad;
    paragraphs(c, state, text_on_stage(c, state, w), look, a.x + look.pad, y + look.control + 6, w);
    return pressed;
}

void answer(AppState& state, const Pressed& pressed) {
    if (pressed.close)
        state.keys.push_back({Key::escape});  // answered with the keys of the next frame
    else if (pressed.next)
        state.keys.push_back({Key::page_down});
    else if (pressed.back)
        state.keys.push_back({Key::page_up});
    else if (pressed.here)
        state.keys.push_back({Key::backspace});
    else if (pressed.words)
        state.keys.push_back({Key::u, true});
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    settle_tour(state);
    refresh_text(state);
    Tour& tour = *state.tour;
    tour.place = at_stop(state) ? shown_place(main, state) : std::nullopt;
    const Rect area = tour.card = area_of(main, state, W, H);
    tour.dimmed.clear();
    if (at_stop(state) && !state.presenter && state.page != Page::walk)
        tour.dimmed = dim_what_is_cut(main, state, area);
    if (at_stop(state) && !state.presenter)
        if (const auto cut = cut_drawing(main, state, area)) {
            const ImU32 panel = main.theme->panel;
            main.rect(cut->x - 1, cut->y - 1, cut->w + 2, cut->h + 2, panel);
            tour.dimmed.push_back(*cut);
        }
    if (at_stop(state)) other_rings(main, tour.stop(), state.presenter, W, H);
    if (tour.place) ring(main, tour, *tour.place, look_of(state), W, H);
    show_card(main, "Tour", area, [&](const Canvas& c) {
        c.rect(area.x, area.y, area.w, area.h, c.theme->raised, radius::panel);
        c.frame(area.x + 1, area.y + 1, area.w - 2, area.h - 2, c.theme->t1, 1.6f, radius::panel);
        answer(state, state.presenter  ? draw_band(c, state, area)
                      : is_strip(area) ? draw_strip(c, state, area, H)
                                       : draw_card(c, state, area));
    });
}

bool answer_key(AppState& state, const KeyPress& press) {
    if (press.key == Key::u && press.shift && state.presenter)
        return state.tour->in_full = !state.tour->in_full, true;
    if (state.edit) return false;
    const bool page_key = press.key == Key::page_down || press.key == Key::page_up;
    if (page_key && press.shift && !press.ctrl && !press.alt)
        return go_to_chapter(state, press.key == Key::page_down ? 1 : -1), true;
    if (press.ctrl || press.alt || press.shift) return false;
    if (press.key == Key::enter && keyboard_focus_visible()) return false;
    switch (press.key) {
    case Key::page_down:
    case Key::enter: go_to_stop(state, state.tour->at + 1); return true;
    case Key::page_up: go_to_stop(state, state.tour->at - 1); return true;
    case Key::backspace: go_to_stop(state, state.tour->at); return true;
    case Key::escape: leave_tour(state); return true;
    default: return false;
    }
}

}  // namespace

const Card tour_card{.name = "Tour",
                     .keys_shown = "U",
                     .action = "guided tour",
                     .shortcut = {Key::u},
                     .is_open = [](const AppState& s) { return s.tour != nullptr; },
                     .open = toggle_tour,
                     .answer_key = answer_key,
                     .draw = draw};

Rect tour_band(const Canvas& c, const AppState& state, float W, float H) {
    if (!state.tour) return {};
    constexpr float margin = 16;
    const float w = W - 2 * margin;
    const float inner = w - 2 * large.pad;
    const std::vector<Line> text = text_on_stage(c, state, inner);
    // What hangs below the last line is clear of the edge.
    const auto hangs = [](const Span& span) { return span.script == Span::Script::sub; };
    const float foot = !text.empty() && std::ranges::any_of(text.back(), hangs) ? 16 : 12;
    const float h = 14 + large.control + 6 + paragraphs_height(c, text, large, inner) + foot;
    return {margin, speaks_of_the_foot(*state.tour) ? margin : H - margin - h, w, h};
}

}  // namespace tilewalk::ui
