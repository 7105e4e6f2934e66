// The whole tour without a window: each stop loads, points at something that is there, and fits.
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/io/settings.h"
#include "app/io/tour_file.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/class/spoken.h"
#include "core/compare/kernel_compare.h"
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"
#include "tests/app/ui/layout_check.h"
#include "tests/core/steps.h"
#include "tests/good.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace tilewalk::test;

namespace {

float overlap(const Rect& a, const Rect& b) {
    const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x),
                h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
    return w > 0 && h > 0 ? w * h : 0;
}

bool inside(const Rect& a, float W, float H) {
    return a.x >= -1 && a.y >= -1 && a.right() <= W + 1 && a.bottom() <= H + 1 && a.w > 2 && a.h > 2;
}

// As a picture is made: what the page asks of the machine is there.
void settle(Program& p) {
    settle_at_stop(p.state, p.state.tour->at);
    p.frame_unlisted();
    p.frame(2);
}

Rect place_in(const Program&, const ImVec2& min, const ImVec2& max) {
    const float s = font_scale();
    return {min.x / s, min.y / s, (max.x - min.x) / s, (max.y - min.y) / s};
}

// Panels that the card leaves alone; on stage the formula.
bool is_kept(const Program& p, const std::string& name) {
    if (name == "Explanation") return true;
    if (p.state.presenter) return false;
    return name == "Break it" || name == "Cell" || (name == "Map" && p.screen.width > 1024) ||
           (name == "HBM" && p.screen.width == 1024 && p.state.tour->stop().place.name == "Map");
}

// What the stop speaks of, the ring round it and the explanation of its step stay in sight.
void check_sight(const Program& p) {
    const Tour& tour = *p.state.tour;
    const float of_ring = p.state.presenter ? 0 : 7;
    const Rect& at = *tour.place;
    CHECK(overlap({at.x - of_ring, at.y - of_ring, at.w + 2 * of_ring, at.h + 2 * of_ring}, tour.card) == 0);
    for (const NamedPlace& shown : tour.places) {
        if (shown.kind != ItemKind::panel || !is_kept(p, shown.name)) continue;
        INFO(shown.name);
        CHECK(overlap(place_in(p, shown.min, shown.max), tour.card) == 0);
    }
}

bool has_number(const Program& p, const NamedPlace& cell) {
    return std::ranges::any_of(p.items(), [&](const Item& item) {
        const ImVec2 at = middle(item);
        return item.kind == ItemKind::text && item.visible && at.x > cell.min.x && at.x < cell.max.x &&
               at.y > cell.min.y && at.y < cell.max.y;
    });
}

// A cell whose number the card prints stays in sight in one of its places; where the ring goes round a matrix
// on chip or one of its cells, the number can be read there.
void check_numbers_in_sight(const Program& p) {
    const Tour& tour = *p.state.tour;
    if (p.state.page != Page::walk || p.state.presenter) return;
    const TourPlace& place = tour.stop().place;
    const std::string on_chip =
        std::string("sram ") + info(place.cell.slot == Slot::count ? Slot::Q : place.cell.slot).name;
    const bool ring_on_chip =
        (place.kind == TourPlace::Kind::matrix || place.kind == TourPlace::Kind::cell) &&
        std::ranges::any_of(tour.places, [&](const NamedPlace& at) { return at.name == on_chip; });
    for (const CellRef& cell : cells_named(tour.stop(), *p.state.trace)) {
        int there = 0, free = 0, read = 0;
        for (const NamedPlace& at : tour.places) {
            if (at.kind != ItemKind::cell || at.name != cell_name(cell)) continue;
            const bool covered = overlap(place_in(p, at.min, at.max), tour.card) > 0;
            ++there, free += !covered, read += !covered && has_number(p, at);
        }
        INFO(cell_name(cell));
        CHECK((there == 0 || free > 0));
        if (ring_on_chip && cell.slot == place.cell.slot) CHECK((there == 0 || read > 0));
    }
}

// On stage a stop has its heading and two lines; the step keeps its formula and its sentence.
void check_stage(const Program& p) {
    if (!p.state.presenter || p.state.page != Page::walk) return;
    const Tour& tour = *p.state.tour;
    CHECK(tour.card.h < 200);
    const bool drawn_alone = tour.stop().place.name == "Timeline";
    if (drawn_alone || speaks_of_the_foot(tour)) return;
    CHECK(p.look_for("step " + str(tour.stop().step + 1) + " of " + str(p.state.trace->size())));
    if (p.state.lesson->picture != Picture::softmax || p.state.softmax.tab == SoftmaxPage::values)
        CHECK(p.look_for("Explanation"));
    const std::string sentence =
        p.state.problem->broken() ? "" : spoken(*p.state.trace, p.state.cursor.step, p.state.explanation);
    CHECK(p.shows(sentence.substr(0, sentence.find(' '))));
}

// Its line runs through no letters where it goes round a matrix or a panel.
void check_ring(const Program& p) {
    const Tour& tour = *p.state.tour;
    if (p.state.presenter || tour.stop().place.kind == TourPlace::Kind::cell) return;
    const float s = font_scale(), half = 1.5f;
    const Rect& r = tour.ring;
    const Rect sides[] = {{r.x - half, r.y, 2 * half, r.h},
                          {r.right() - half, r.y, 2 * half, r.h},
                          {r.x, r.y - half, r.w, 2 * half},
                          {r.x, r.bottom() - half, r.w, 2 * half}};
    for (const Item& item : p.items()) {
        const bool other = item.kind == ItemKind::text && item.visible && item.panel != "Ring" &&
                           !item.panel.starts_with("Tour");
        if (!other) continue;
        INFO(item.panel, " / ", item.text);
        // A line of text is higher than its letters.
        const float h = (item.max.y - item.min.y) / s, spare = .14f * h;
        const Rect letters{item.min.x / s, item.min.y / s + spare, (item.max.x - item.min.x) / s,
                           h - 2 * spare};
        for (const Rect& side : sides) CHECK(overlap(letters, side) == 0);
    }
}

// A window that lacks the panel has the ring round the cell.
bool shown_instead(const Tour& tour) {
    return std::ranges::none_of(tour.places, [&](const NamedPlace& shown) {
        return shown.kind == ItemKind::panel && shown.name == tour.stop().place.name;
    });
}

// Which chapter it is, in the same words everywhere, but in short on a stage where a long heading leaves no
// more room. The first stop of a chapter has them in a bar, before the heading or above it. That they lie
// over nothing is looked at by the rules for all texts.
void check_chapter(const Program& p) {
    const Tour& tour = *p.state.tour;
    const auto place = chapter_place(tour.script, tour.at);
    const Item* words = p.look_for(chapter_words(*place), "Tour");
    if (!words && p.state.presenter && place->stop > 1)
        words = p.look_for(chapter_words_in_short(*place), "Tour");
    const Item* heading = p.look_for(tour.stop().heading, "Tour");
    REQUIRE(heading);
    CHECK(words);
    if (!words) return;
    const bool before = words->max.x < heading->min.x, above = words->max.y < heading->max.y - 8;
    if (p.state.presenter)
        CHECK(before == (place->stop == 1));
    else
        CHECK(above);
}

// On stage the head of a page stands clear of the frame round what the stop speaks of, and of its rim.
void check_head(const Program& p) {
    if (!p.state.presenter) return;
    const float s = font_scale(), rim = 3.5f, below_titles = 72;
    const Rect& r = p.state.tour->ring;
    const Rect top{r.x - rim, r.y - rim, r.w + 2 * rim, 2 * rim};
    for (const Item& item : p.items()) {
        if (item.kind != ItemKind::text || !item.visible || item.panel.starts_with("Tour")) continue;
        if (item.max.y / s > below_titles) continue;
        INFO(item.panel, " / ", item.text);
        CHECK(overlap(place_in(p, item.min, item.max), top) == 0);
    }
}

// Nor does the frame run through the formula below it, whose letters may have a tilde, or the map above it.
void check_neighbours(const Program& p) {
    const Tour& tour = *p.state.tour;
    if (!p.state.presenter || tour.stop().place.kind != TourPlace::Kind::panel) return;
    const float s = font_scale(), half = 1.5f;
    const Rect& r = tour.ring;
    const Rect top{r.x - half, r.y - half, r.w + 2 * half, 2 * half},
        bottom{r.x - half, r.bottom() - half, r.w + 2 * half, 2 * half};
    for (const Item& item : p.items()) {
        const bool below = item.kind == ItemKind::text && item.visible && middle(item).y / s > r.bottom();
        const bool map = item.panel == "Head map" || item.text == "Head map";
        if ((!below && !map) || item.panel.starts_with("Tour")) continue;
        INFO(item.panel, " / ", item.text);
        Rect place = place_in(p, item.min, item.max);
        const float tilde = map ? 0 : .05f * place.h;
        place.y -= tilde, place.h += tilde;
        CHECK(overlap(place, map ? top : bottom) == 0);
    }
}

void check_stop(const Program& p) {
    const Tour& tour = *p.state.tour;
    INFO("stop ", tour.at + 1, " \"", tour.stop().heading, "\", ", p.where());
    check_chapter(p);
    CHECK(at_stop(p.state));
    const float s = font_scale(), W = static_cast<float>(p.screen.width) / s,
                H = static_cast<float>(p.screen.height) / s;
    CHECK(inside(tour.card, W, H));
    REQUIRE(tour.place);
    CHECK(inside(*tour.place, W, H));
    check_sight(p);
    check_numbers_in_sight(p);
    check_stage(p);
    check_ring(p);
    check_head(p);
    check_neighbours(p);
    // The colours of a map are told by the scale below it.
    for (const NamedPlace& shown : tour.places)
        if (shown.name == "Colours") CHECK(overlap(place_in(p, shown.min, shown.max), tour.card) == 0);
    for (const Rect& dimmed : tour.dimmed) {
        CHECK(overlap(dimmed, tour.card) > 0);
        CHECK_FALSE(dimmed.contains({tour.place->x + tour.place->w / 2, tour.place->middle()}));
    }
    // The ring's number stands at the place's edge, where it covers nothing; of a panel always.
    const Item* number = p.look_for(std::to_string(tour.at + 1), "Ring");
    const bool panel = tour.stop().place.kind == TourPlace::Kind::panel;
    if (p.state.presenter) CHECK_FALSE(number);
    if (!number) {
        CHECK((p.state.presenter || !panel || shown_instead(tour)));
        return;
    }
    const auto of = [s](const ImVec2& min, const ImVec2& max) {
        return Rect{min.x / s, min.y / s, (max.x - min.x) / s, (max.y - min.y) / s};
    };
    for (const Item& item : p.items()) {
        if (item.kind != ItemKind::text || item.panel == "Ring" || item.panel.starts_with("Tour")) continue;
        INFO(item.panel, " / ", item.text);
        CHECK(overlap(of(item.min, item.max), of(number->min, number->max)) == 0);
    }
    const float x = (number->min.x + number->max.x) / 2 / s, y = (number->min.y + number->max.y) / 2 / s,
                near = 30;
    const Rect& at = *tour.place;
    CHECK(x > at.x - near);
    CHECK(x < at.right() + near);
    CHECK(y > at.y - near);
    CHECK(y < at.bottom() + near);
    for (const Finding& f : broken_rules(p)) {
        const bool of_tour = f.where == "Tour" || f.where.empty();
        if (of_tour) FAIL_CHECK(f.rule, ": ", f.where, " / ", f.text, " ", f.amount);
    }
    for (const std::string& text : shortened_texts(p)) CHECK_FALSE(text.starts_with("Tour"));
}

void walk_through(Screen screen, bool presenter, ThemeId theme = ThemeId::dark) {
    Program p(example("worked-4x4"), screen, presenter, theme);
    p.press(Key::u);
    REQUIRE(p.state.tour);
    const int stops = p.state.tour->stops();
    CHECK(stops >= 25);
    for (int n = 0; n < stops; ++n) {
        REQUIRE(p.state.tour);
        REQUIRE(p.state.tour->at == n);
        settle(p);
        check_stop(p);
        p.state.keys.push_back({Key::page_down});
        p.frame_unlisted();
    }
    CHECK_FALSE(p.state.tour);
}

// The sanitizers walk through two of the four.
void walk_through_in_full(Screen screen, bool presenter, ThemeId theme = ThemeId::dark) {
    if (!in_full) return skip("too long for the sanitizers");
    walk_through(screen, presenter, theme);
}

Tour read(const std::string& text) {
    Tour tour;
    tour.script = good(parse_tour(text, "test.md", tour_names()));
    return tour;
}

}  // namespace

TEST_CASE("every stop loads, points at something, and fits: 1024 × 640") { walk_through({1024, 640}, false); }

TEST_CASE("every stop loads, points at something, and fits: 1280 × 720") {
    walk_through_in_full({1280, 720}, false);
}

TEST_CASE("every stop loads, points at something, and fits: 1600 × 900") {
    walk_through_in_full({1600, 900}, false);
}

TEST_CASE("every stop loads, points at something, and fits: 3840 × 2160") {
    walk_through_in_full({3840, 2160}, false);
}

TEST_CASE("every stop loads, points at something, and fits: 1920 × 1080, light") {
    walk_through_in_full({1920, 1080}, false, ThemeId::light);
}

TEST_CASE("every stop loads, points at something, and fits: presenter") {
    walk_through({1280, 720}, true, ThemeId::contrast);
}

TEST_CASE("every stop loads, points at something, and fits: presenter at 1920 × 1080") {
    walk_through_in_full({1920, 1080}, true);
}

TEST_CASE("the tour goes through every lesson and page") {
    const TourScript script = good(load_tour(default_tour, tour_names()));
    std::set<std::string> seen;
    for (const TourStop& stop : script.stops) seen.insert(stop.page.empty() ? stop.lesson->id : stop.page);
    for (const Lesson& lesson : lessons()) CHECK_MESSAGE(seen.contains(lesson.id), lesson.id);
    for (const char* page : {"memory", "scale", "inside", "compare"})
        CHECK_MESSAGE(seen.contains(page), page);
}

TEST_CASE("the tour has chapters, none of them empty, and none longer than a break") {
    const TourScript script = good(load_tour(default_tour, tour_names()));
    REQUIRE(script.chapters.size() > 5);
    CHECK(script.chapters.front().first == 0);
    for (int n = 0; n < static_cast<int>(script.stops.size()); ++n) {
        const auto place = chapter_place(script, n);
        REQUIRE(place);
        CHECK(place->stops >= 2);
        CHECK(place->stops <= 10);
    }
}

TEST_CASE("the program's own tour goes on where it was left, and anew after its end; another file's begins") {
    Program p;
    p.press("u pagedown pagedown u");
    CHECK_FALSE(p.state.tour);
    CHECK(p.state.settings.tour_stop == 3);
    p.press("home");
    open_start(p.state);
    p.frame(2);
    p.check_shows(
        {"Go on at stop 3", "left at: " + good(load_tour(default_tour, tour_names())).stops[2].heading});
    p.press("u");
    REQUIRE(p.state.tour);
    CHECK(p.state.tour->at == 2);
    go_to_stop(p.state, p.state.tour->stops());
    CHECK(p.state.settings.tour_stop == 0);
    p.press("u");
    CHECK(p.state.tour->at == 0);
    p.press("pagedown u");
    start_tour(p.state, read("# T\n## A\n- problem: ties\n\nx\n## B\n\nx\n"));
    CHECK(p.state.tour->at == 0);
    CHECK(p.state.settings.tour_stop == 2);
    // A tour that has become shorter since
    leave_tour(p.state);
    p.state.settings.tour_stop = 200;
    p.press("u");
    CHECK(p.state.tour->at == p.state.tour->stops() - 1);
}

TEST_CASE("Shift PgDn and Shift PgUp go from chapter to chapter, and a sentence says where there is none") {
    Program p;
    p.press("u");
    REQUIRE(p.state.tour);
    const TourScript& script = p.state.tour->script;
    for (const TourChapter& chapter : script.chapters) {
        CHECK(p.state.tour->at == chapter.first);
        p.press("shift+pagedown");
    }
    CHECK(p.state.tour->at == script.chapters.back().first);
    CHECK(contains(p.state.notice, "last chapter"));
    p.press("pagedown shift+pageup");
    CHECK(p.state.tour->at == script.chapters.back().first);
    p.press("shift+pageup");
    CHECK(p.state.tour->at == script.chapters[script.chapters.size() - 2].first);
    go_to_stop(p.state, 0);
    p.press("shift+pageup");
    CHECK(p.state.tour->at == 0);
    CHECK(contains(p.state.notice, "begins"));
    start_tour(p.state, read("# T\n## A\n- problem: ties\n\nx\n## B\n\nx\n"));
    p.press("shift+pagedown");
    CHECK(p.state.tour->at == 0);
    CHECK(contains(p.state.notice, "no chapters"));
}

TEST_CASE("while a number is typed, Shift PgDn and Shift PgUp leave it and the chapter as they are") {
    Program p;
    const std::string stop = "## Stop\n- problem: worked-4x4\n\nx\n";
    start_tour(p.state, read("# T\n# A\n" + stop + "# B\n" + stop + "# C\n" + stop));
    p.press("shift+pagedown");
    REQUIRE(p.state.tour->at == 1);
    settle(p);
    for (const char* key : {"shift+pagedown", "shift+pageup"}) {
        begin_edit(p.state, {Slot::Q, 1, 2}, "HBM");
        p.press(key);  // before the field has the caret, which keeps such keys
        CHECK(p.state.edit);
        REQUIRE(p.state.tour->at == 1);
        p.press(Key::escape);
    }
}

TEST_CASE("a tour without chapters has its heading where it was, alone") {
    const char* stop = "## A\n- problem: ties\n\nx\n";
    for (const bool presenter : {false, true}) {
        Program p(example("worked-4x4"), {1280, 720}, presenter);
        start_tour(p.state, read(std::string("# T\n") + stop));
        settle(p);
        CHECK_FALSE(p.look_for("Chapter", "Tour"));
        start_tour(p.state, read(std::string("# T\n# C\n") + stop));
        settle(p);
        CHECK(p.look_for("Chapter 1 of 1 · C", "Tour"));
        const Item heading = p.find("A", "Tour"), chapter = p.find("Chapter 1 of 1 · C", "Tour");
        CHECK((presenter ? chapter.max.x < heading.min.x : chapter.max.y < heading.max.y - 8));
    }
}

TEST_CASE("the verdict is on a kernel whose α counts: two tiles, and a wrong α is found") {
    const TourScript script = good(load_tour(default_tour, tour_names()));
    const auto on_page = std::ranges::find(script.stops, "compare", &TourStop::page);
    REQUIRE(on_page != script.stops.end());
    const auto compare = [](gpu::TraceRequest request) {
        auto trace = gpu::trace_kernel(gpu::Where::emulator, request, {});
        REQUIRE(trace);
        CHECK(trace->tiles.size() == 2);
        return good(compare_kernel(std::make_shared<const KernelTrace>(std::move(*trace))));
    };
    gpu::TraceRequest request;
    request.problem = *on_page->problem;
    const KernelComparison right = compare(request);
    CHECK(right.passed());
    const int worst = right.outputs.front().worst.row;
    request.fault = {KernelFault::Quantity::alpha, 0, 1, 0, -1, .001};
    CHECK_FALSE(compare(request).passed());
    const auto walk = walk_of("flash-forward", [&] {
        Problem p = *on_page->problem;
        p.Br = 128, p.Bc = 64;
        return p;
    }());
    const Value& alpha = *walk->live(Slot::alpha, nth_step(*walk, Op::correction, 1)).value;
    CHECK((alpha.data.array() > 0).all());
    CHECK((alpha.data.array() < 1).count() > 10);
    CHECK(alpha.data(worst, 0) < .9);
    // "This kernel is at 0.24 ×"
    CHECK(format_fixed(right.outputs.front().ratio(), 2) == "0.24");
    // "2 · 0.00996 + 0.00813 = 0.02805 … two roundings of the largest output … at most a 256th"
    const OutputVerdict& output = right.outputs.front();
    const double largest = output_values(right, Slot::O).exact.cwiseAbs().maxCoeff();
    CHECK(three_digits(output.standard) == "0.00996");
    CHECK(three_digits(output.floor) == "0.00813");
    CHECK(limit_text(output) == "0.02805");
    CHECK(output.factor == 2);
    CHECK(output.floor == doctest::Approx(2 * largest / 256));
    CHECK(format_fixed(largest, 3) == "1.041");
    // "Now it is at 4.26 ×, beyond the rule. A limit of 5 × would let this fault pass": O alone is wrong
    const auto broken_stop = std::ranges::find_if(script.stops, [](const TourStop& stop) {
        return stop.kernel_fault.quantity != KernelFault::Quantity::none;
    });
    REQUIRE(broken_stop != script.stops.end());
    request.fault = broken_stop->kernel_fault;
    CHECK(request.fault.row == worst);
    CHECK(request.fault.amount == .05);
    const KernelComparison broken = compare(request);
    const OutputVerdict& verdict = broken.outputs.front();
    CHECK(format_fixed(verdict.ratio(), 2) == "4.26");
    CHECK_FALSE(verdict.passed());
    CHECK(verdict.error < 5 * verdict.standard);
    // "3 × would pass 4 % too large", which the rule finds
    gpu::TraceRequest smaller = request;
    smaller.fault.amount = .04;
    const KernelComparison less = compare(smaller);
    const OutputVerdict& fewer = less.outputs.front();
    CHECK_FALSE(fewer.passed());
    CHECK(fewer.error < 3 * fewer.standard + fewer.floor);
    CHECK(format_fixed(.04 * std::abs(verdict.worst.exact), 3) == "0.032");
    CHECK(format_fixed(3 * fewer.standard + fewer.floor, 3) == "0.038");
    // "5 % too large, then rounded to bf16": within a rounding, and not 5.0 % as drawn
    const double larger = verdict.worst.kernel / verdict.worst.exact - 1;
    CHECK(std::abs(larger - .05) < 1.0 / 256);
    CHECK(format_fixed(100 * larger, 1) != "5.0");
    CHECK(broken.outputs.back().passed());
    // "a right kernel was off by 1.15 ×; 1 × and its roundings allow 1.12 ×"
    gpu::TraceRequest other;
    other.kernel = "f2-tiled-fp32", other.dtype = DType::f32;
    other.problem = good(random_problem(200, 64, 3));
    auto trace = gpu::trace_kernel(gpu::Where::emulator, other, {});
    REQUIRE(trace);
    const auto further = good(compare_kernel(std::make_shared<const KernelTrace>(std::move(*trace))));
    CHECK(further.passed());
    const OutputVerdict& fp32 = further.outputs.front();
    CHECK(format_fixed(fp32.ratio(), 2) == "1.15");
    CHECK(format_fixed(1 + fp32.floor / fp32.standard, 2) == "1.12");
    CHECK(fp32.error > fp32.standard + fp32.floor);
}

TEST_CASE("a stop breaks the kernel, and leaving mends it or has the user's own fault back") {
    Program p(good(random_problem(104, 64, 1)));
    const KernelFault own{KernelFault::Quantity::m, 0, 0, 3, -1, .01};
    p.state.compare.fault = own;
    start_tour(p.state, read("# T\n## One\n- problem: random 104x64\n- lesson: compare\n"
                             "- kernel_fault: O j=1 row=7 amount=0.05\n\nx\n## Two\n\nx\n"));
    settle(p);
    CHECK(p.shows("Beyond the rule"));
    CHECK(at_stop(p.state));
    p.press(Key::page_down);
    CHECK(p.state.compare.fault == KernelFault{});
    p.press(Key::escape);
    CHECK(p.state.compare.fault == own);
}

TEST_CASE("on stage both stops about the verdict have one yardstick, the one of the rule") {
    Program p(example("worked-4x4"), {1280, 720}, true);
    p.press(Key::u);
    const auto& stops = p.state.tour->script.stops;
    int seen = 0;
    for (int n = 0; n < p.state.tour->stops(); ++n) {
        if (stops[static_cast<std::size_t>(n)].page != "compare") continue;
        settle_at_stop(p.state, n);
        p.frame(3);
        CHECK(p.shows(" is from fp64"));
        CHECK_FALSE(p.shows(" is from the CPU's"));
        // Nobody has told what f5 is.
        CHECK(p.look_for("FlashAttention-2, bf16"));
        CHECK_FALSE(p.shows("f5-flash2"));
        ++seen;
    }
    CHECK(seen == 2);
}

TEST_CASE("on stage the query block that stays is named where key blocks come, and nowhere else") {
    const auto stays = [](const std::string& lesson, const std::string& step) {
        Program p(example("worked-4x4"), {1280, 720}, true);
        start_tour(p.state, read("# T\n## One\n- problem: worked-4x4\n- lesson: " + lesson +
                                 "\n- step: " + step + "\n\nx\n"));
        settle(p);
        return std::ranges::any_of(p.items(), [](const Item& item) { return item.text.ends_with("stays"); });
    };
    CHECK(stays("flash-forward", "load_kv i=0 j=0"));
    CHECK(stays("flash-forward", "load_kv i=1 j=1"));
    CHECK_FALSE(stays("flash-forward", "1"));
    CHECK_FALSE(stays("flash-forward-v1", "load_kv n=1"));
}

TEST_CASE("\"done in half the time\": as the stop's page says") {
    Program p(example("worked-4x4"), {1280, 720}, false);
    p.press(Key::u);
    const auto& stops = p.state.tour->script.stops;
    const auto found = std::ranges::find(stops, "One query keeps one worker busy", &TourStop::heading);
    REQUIRE(found != stops.end());
    settle_at_stop(p.state, static_cast<int>(found - stops.begin()));
    p.frame(3);
    CHECK(p.shows("18 ticks earlier: 36 → 18"));
}

TEST_CASE("keys: next, back, away and back again; Escape leaves") {
    Program p;
    p.press("u pagedown pagedown pagedown enter");
    CHECK(p.state.tour->at == 4);
    p.press(Key::page_up);
    CHECK(p.state.tour->at == 3);
    const int step = p.step();
    CHECK(p.state.tour->place);
    CHECK_FALSE(p.look_for("to the stop", "Tour"));
    p.press(Key::right);
    CHECK(p.step() == step + 1);
    CHECK_FALSE(at_stop(p.state));
    CHECK_FALSE(p.state.tour->place);
    CHECK(p.look_for("to the stop", "Tour"));
    p.press(Key::backspace);
    CHECK(p.step() == step);
    CHECK(at_stop(p.state));
    p.press(Key::escape);
    CHECK_FALSE(p.state.tour);
    CHECK(place_list == nullptr);
}

TEST_CASE("who changes to a walk that is shorter than the stop's step keeps the card, without its cells") {
    Program p;
    p.press(Key::u);
    const std::vector<TourStop>& stops = p.state.tour->script.stops;
    const auto late = std::ranges::find_if(stops, [&](const TourStop& stop) {
        return stop.page.empty() && stop.step > 12 &&
               !cells_named(stop, *good(build_trace(*stop.lesson, *stop.problem))).empty();
    });
    REQUIRE(late != stops.end());
    settle_at_stop(p.state, static_cast<int>(late - stops.begin()));
    set_lesson(p.state, *find_lesson("attention"));
    p.frame(2);
    REQUIRE(p.state.tour);
    REQUIRE(p.state.trace->size() <= late->step);
    CHECK(cells_named(*late, *p.state.trace).empty());
    CHECK_FALSE(fill_placeholder(*p.state.trace, late->step, "step"));
    CHECK(filled_text(*late, *p.state.trace).size() == late->text.size());
}

TEST_CASE("on stage Shift U brings all words of a stop; who walks on is told that the stop was left") {
    Program p(example("worked-4x4"), {1280, 720}, true);
    p.press(Key::u);
    p.frame(3);
    const float brief = p.state.tour->card.h;
    p.press("shift+u");
    p.frame(2);
    CHECK(p.state.tour->card.h > brief + 40);
    CHECK(p.shows("what it offers"));
    p.press("shift+u right");
    p.frame(2);
    CHECK(p.shows("has left this stop"));
    CHECK_FALSE(p.shows("what it offers"));
    p.press(Key::backspace);
    p.frame(2);
    CHECK_FALSE(p.shows("has left this stop"));
}

TEST_CASE("the card's buttons do what the keys do") {
    Program p;
    p.press(Key::u);
    p.frame(3);
    p.click("next stop", "Tour");
    CHECK(p.state.tour->at == 1);
    p.click("previous stop", "Tour");
    CHECK(p.state.tour->at == 0);
    p.press(Key::right);
    p.click("to the stop", "Tour");
    CHECK(at_stop(p.state));
    p.click("leave tour", "Tour");
    CHECK_FALSE(p.state.tour);
}

TEST_CASE("a card to take along has no buttons") {
    Program p;
    p.state.presenter = true;
    p.press(Key::u);
    p.frame(2);
    REQUIRE(p.look_for("next stop"));
    p.state.to_take_along = true;
    p.frame(2);
    for (const char* name : {"next stop", "previous stop", "leave tour"}) CHECK_FALSE(p.look_for(name));
    CHECK(p.look_for("1 / " + str(p.state.tour->stops())));
}

TEST_CASE("panels of a page that the card cuts step back, but not in a walk") {
    Program p(example("worked-4x4"), {1600, 900});
    p.press(Key::u);
    const auto goes_to = [&](std::string_view heading) {
        for (int n = 0; n < p.state.tour->stops(); ++n)
            if (p.state.tour->script.stops[n].heading == heading) go_to_stop(p.state, n);
        REQUIRE(p.state.tour->stop().heading == heading);
        settle(p);
        p.frame(2);
    };
    goes_to("The height of a tile decides");
    CHECK(p.state.tour->dimmed.size() >= 1);
    goes_to("ℓ and O, not yet divided");
    CHECK(p.state.tour->dimmed.empty());
}

TEST_CASE("leaving leads back to where one was") {
    Program p(random_with_tiles(6, 4, 2, 2));
    set_lesson(p.state, *find_lesson("flash-backward"));
    set_problem(p.state, causal(*p.state.problem));
    p.settle();
    p.go_to_step(7);
    choose_row(p.state, 1);
    p.state.show_problem = true;
    p.state.timeline.zoom = 2;
    p.frame();
    const ProblemPtr problem = p.state.problem;
    const auto undo = p.state.undo;
    const auto left_at = p.state.left_at;
    const int stops = [&] {
        p.press(Key::u);
        return p.state.tour->stops();
    }();
    for (int n = 0; n < stops - 1; ++n) {
        p.state.keys.push_back({Key::page_down});
        p.frame_unlisted();
    }
    for (int n = 0; n < 3; ++n) p.press(Key::page_up);
    p.press(Key::escape);
    CHECK(p.state.problem == problem);
    CHECK(std::string(p.state.lesson->id) == "flash-backward");
    CHECK(p.state.trace->lesson().id == std::string("flash-backward"));
    CHECK(p.step() == 7);
    CHECK(p.state.row == 1);
    CHECK(p.state.show_problem);
    CHECK(p.state.page == Page::walk);
    CHECK(p.state.timeline.zoom == 2);
    CHECK(p.state.undo == undo);
    CHECK(p.state.redo.empty());
    CHECK(p.state.left_at == left_at);
}

TEST_CASE("what is changed on the way can be had back") {
    Program p;
    p.press(Key::u);
    set_problem(p.state, causal(*p.state.problem));
    p.frame();
    CHECK_FALSE(at_stop(p.state));
    p.press(Key::escape);
    CHECK_FALSE(p.state.problem->causal);
    CHECK(p.shows("Ctrl Z"));
    undo(p.state);
    CHECK(p.state.problem->causal);
}

TEST_CASE("on stage a drawing that a stop speaks of has the room of the page") {
    const auto at = [](const std::string& stop, auto check) {
        Program p(example("worked-4x4"), {1280, 720}, true);
        start_tour(p.state, read("# T\n## One\n- problem: worked-4x4\n" + stop + "\n\nx\n"));
        settle(p);
        CHECK(p.state.tour->place);
        check(p);
    };
    at("- lesson: merge\n- step: merge_output\n- highlight: panel Trees", [](const Program& p) {
        CHECK(p.look_for("key 3", "Trees"));  // from four parts on the trees differ
        CHECK_FALSE(p.shows("Same result?"));
    });
    at("- lesson: merge\n- step: merge_output\n- highlight: panel Same result?", [](const Program& p) {
        CHECK(p.shows("bf16"));
        CHECK_FALSE(p.shows("key 3"));
    });
    at("- with: splits=1,1,1,1 bc=1\n- lesson: split-kv\n- highlight: panel Workers", [](const Program& p) {
        CHECK(p.look_for("worker 3", "Workers"));
        CHECK_FALSE(p.shows("Partial results"));
    });
    // What does not fit, and why: S and P, O, and four numbers for each row, in fp32, with Bc = 128 and d =
    // 64
    at("- lesson: memory\n- highlight: panel Tile height", [](const Program& p) {
        const int kib = 4 * (2 * 256 * 128 + 256 * 64 + 4 * 256) / 1024;
        CHECK(p.shows("O\u00A0(256\u00A0·\u00A064)"));
        CHECK(p.shows("m, ℓ, m̃, α need " + str(kib) + " KiB, an SM's registers have 256 KiB"));
    });
    // The drawing alone, where formula and sentence have their room as well.
    at("- lesson: backward\n- step: ds\n- cell: dS[0,2]\n- highlight: panel Lens", [](const Program& p) {
        CHECK_FALSE(p.look_for("dS[0,2]"));
        CHECK(p.look_for("Explanation"));
    });
}

TEST_CASE("on stage the areas of dS, drawn alone, have their heights below the names of the keys") {
    const auto heights_at = [](const std::string& place) {
        Program p(example("gradients-4x4"), {1280, 720}, true);
        start_tour(p.state, read("# T\n## One\n- problem: gradients-4x4\n- lesson: backward\n- step: ds\n"
                                 "- cell: dS[0,2]\n- highlight: " +
                                 place + "\n\nx\n"));
        settle(p);
        return std::ranges::count_if(p.items(), [](const Item& item) {
            return item.text == "−6.20" || item.text == "−2.20" || item.text == "1.80" || item.text == "5.80";
        });
    };
    CHECK(heights_at("panel Lens") == 4);
    CHECK(heights_at("matrix dS") == 0);
}

TEST_CASE("on stage × α stands right of its arrow, below the new curve: over neither of both") {
    Program p(example("worked-4x4"), {1280, 720}, true);
    start_tour(p.state, read("# T\n## One\n- problem: worked-4x4\n- step: correction i=0 j=1\n\nx\n"));
    settle(p);
    const Item plot = p.find("exp plot"), factor = p.find("× 0.368");
    // From m − 4 to m, and the old maximum is m − 1.
    const float arrow = plot.max.x - (plot.max.x - plot.min.x) / 4;
    const auto new_curve = [&](float x) {
        const double score = 4 * (x - plot.max.x) / (plot.max.x - plot.min.x);
        return plot.max.y - static_cast<float>(std::exp(score)) * (plot.max.y - plot.min.y);
    };
    CHECK(factor.min.x > arrow);
    CHECK(factor.max.x < plot.max.x);
    CHECK(factor.max.y <= plot.max.y + 1);
    const float letters_top = factor.min.y + .2f * (factor.max.y - factor.min.y);
    CHECK(letters_top > new_curve(factor.min.x));
}

TEST_CASE("the proof that any split gives the same has the row's own numbers, on stage and on the desk") {
    const auto at_step = [](const std::string& problem, const std::string& step, Screen screen,
                            bool presenter, auto check) {
        Program p(example("worked-4x4"), screen, presenter);
        start_tour(p.state, read("# T\n## One\n- problem: " + problem + "\n- step: " + step +
                                 "\n- cell: O[0,0]\n- highlight: panel Proof\n\nx\n"));
        settle(p);
        check(p);
    };
    for (const bool presenter : {false, true})
        at_step("worked-4x4", "normalize i=0", {1280, 720}, presenter, [&](const Program& p) {
            CHECK(p.look_for("Proof"));
            CHECK_FALSE(p.look_for("Lens"));
            // Keys 0 and 1 from m = 1, 1 and 0.368; times α, and at once from m = 2, as many of each.
            const auto count = [&](const std::string& text) {
                return std::ranges::count_if(p.items(), [&](const Item& item) {
                    return item.panel == "Proof" && item.kind == ItemKind::text && item.text == text;
                });
            };
            CHECK(count("1.000") == 3);
            CHECK(count("0.135") == 4);
            CHECK(count("1.368") == 1);
            CHECK(count("1.639") == 2);
            if (!presenter) return;
            for (const char* made_of : {"exp(1 − 1)", "exp(0 − 1)", "1.000 · 0.368", "0.368 · 0.368"})
                CHECK_MESSAGE(count(made_of) == 1, std::string(made_of));
            for (const char* made_of : {"exp(2 − 2)"}) CHECK(count(made_of) == 2);
            CHECK(count("exp(1 − 2)") == 1);
        });
    // Of a row whose maximum never rose, or that is not through, there is nothing to prove.
    for (const char* step : {"output i=0 j=0", "normalize i=1"})
        at_step("worked-4x4", step, {1280, 720}, true,
                [](const Program& p) { CHECK_FALSE(p.look_for("Proof")); });
}

TEST_CASE("a tour points at the number, not at the place where it will lie") {
    Program p(example("gradients-4x4"));
    start_tour(p.state, read("# T\n## One\n- problem: gradients-4x4\n- lesson: flash-backward\n"
                             "- step: preprocess i=0\n- highlight: cell D[0]\n\nx\n"));
    settle(p);
    const auto at = p.state.tour->place;
    REQUIRE(at);
    const Item* hbm = p.look_for("HBM", "HBM");
    const Item* sram = p.look_for("SRAM", "SRAM");
    REQUIRE(hbm);
    REQUIRE(sram);
    CHECK(at->right() < sram->min.x);
    CHECK(p.look_for("5.204", "HBM"));
    CHECK(p.look_for("−14.882", "HBM"));
}

TEST_CASE("a dropped tour begins, a broken one says where") {
    Program p;
    p.state.hooks.read_tour = [](const std::string& path) -> Result<Tour> {
        if (path == "bad.md") return Failure{"bad.md, line 3: there is no lesson \"x\"."};
        return read("# T\n## One\n- problem: ties\n- highlight: button play\n\nm\n");
    };
    p.state.dropped = {"bad.md"};
    p.frame(2);
    CHECK_FALSE(p.state.tour);
    CHECK(p.shows("bad.md, line 3"));
    p.state.dropped = {"good.md"};
    p.frame(3);
    REQUIRE(p.state.tour);
    CHECK(p.state.problem->name == "ties");
    REQUIRE(p.state.tour->place);
}

TEST_CASE("a walk that is built in the background is waited for") {
    Program p;
    Tour tour = read("# T\n## One\n- problem: ties\n- step: 9\n\nm is {m[0]}\n");
    const auto large = std::make_shared<const Problem>(random_with_tiles(96, 32, 4, 4));
    tour.script.stops[0].problem = large;
    start_tour(p.state, std::move(tour));
    REQUIRE(p.state.pending);
    p.frame();
    p.settle();
    p.frame(2);
    CHECK(p.state.problem == large);
    CHECK(p.step() == 8);
    CHECK(at_stop(p.state));
}

TEST_CASE("what a tour may point at is there, in every lesson and on every page") {
    std::set<std::string> shown;
    const auto collect = [&shown](Program& p) {
        p.frame(2);
        for (const Item& item : p.items())
            if (item.kind != ItemKind::text) shown.insert(item.text);
    };
    const TourNames names = tour_names();
    Program p;
    std::set<std::string> everywhere;
    for (const auto& [where, panels] : names.panels) {
        CAPTURE(where);
        start_tour(p.state, read("# T\n## One\n- problem: worked-4x4\n- lesson: " + where + "\n\nx\n"));
        settle(p);
        shown.clear();
        collect(p);
        if (p.state.page == Page::memory)
            for (const MemoryPlot plot : {MemoryPlot::tile_height, MemoryPlot::kv_cache})
                p.state.memory.plot = plot, collect(p);
        if (p.state.page == Page::walk)
            for (const Key key : {Key::i, Key::x}) p.press(key), collect(p);
        if (std::ranges::find(panels, "Proof") != panels.end() && where == "flash-forward") {
            start_tour(p.state, read("# T\n## One\n- problem: worked-4x4\n- lesson: flash-forward\n"
                                     "- step: normalize i=0\n- highlight: panel Proof\n\nx\n"));
            settle(p), collect(p);
        }
        if (p.state.page == Page::inside) {
            p.state.inside.fault = "f5_flash2.cu:78";
            wait_for_inside(p.state), collect(p);
        }
        for (const std::string& name : panels) CHECK_MESSAGE(shown.contains(name), name);
        everywhere.insert(shown.begin(), shown.end());
    }
    CHECK(names.panels.size() == lessons().size() + names.pages.size());
    for (const std::string& name : names.buttons) CHECK_MESSAGE(everywhere.contains(name), name);
}

TEST_CASE("numbers in the text follow the settings at once") {
    Program p;
    start_tour(p.state, read("# T\n## One\n- problem: worked-4x4\n- lesson: flash-forward\n"
                             "- step: row_sum i=0 j=1\n\nsum {l[0]}\n"));
    p.frame(2);
    CHECK(p.shows("sum 1.639"));
    p.state.settings.decimal_comma = true;
    p.frame(2);
    CHECK(p.shows("sum 1,639"));
    p.state.settings.decimal_comma = false;
    p.frame();
}

TEST_CASE("the command line begins a tour, or says what is wrong with it") {
    const OwnSettings own;
    const std::string bad =
        own.folder.file("bad.md", "# T\n## A\n- problem: worked-4x4\n- lesson: flash-foward\n\nx\n");
    const std::string png = own.folder.file("a.png");
    check_refused(
        {{{"render", "--tour", bad, "-o", png},
          "bad.md, line 4: there is no lesson \"flash-foward\"; did you mean"},
         {{"--tour", bad}, "bad.md, line 4"},
         {{"render", "--stop", "99", "-o", png}, "99"},
         {{"render", "--stop", "3", "--lesson", "backward", "-o", png}, "leave out options for these"},
         {{"--stop", "all"}, "all"}});
    output_of({"render", "--stop", "3", "--size", "1024x640", "-o", png});
    CHECK(std::filesystem::exists(png));
    const auto window = [](AppState& state, const WindowOptions&) {
        CHECK(state.tour);
        CHECK(state.tour->at == 2);
        CHECK(state.tour->back.problem->name == "ties");
        return 3;
    };
    Settings settings;
    settings.example = "ties";
    const std::string home = own.folder.file("tilewalk/settings.json");
    CHECK(save_settings(home, settings));
    CHECK(run({"--stop", "3"}, window).code == 3);
    std::string notice;
    const auto first = looking([&notice](AppState& state) { notice = state.notice; });
    std::filesystem::remove(home);
    // The start page says it anyway; who begins elsewhere is told once.
    CHECK(run({}, first).code == 0);
    CHECK_FALSE(contains(notice, "guided tour"));
    CHECK(run({"--step", "2"}, first).code == 0);
    CHECK(contains(notice, "guided tour"));
    CHECK(run({"--step", "2"}, first).code == 0);
    CHECK_FALSE(contains(notice, "guided tour"));
}
