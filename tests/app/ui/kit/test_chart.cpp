// Plots: round ticks, every point inside, no label on another one; the same in the window and in SVG.
#include "app/cli/hooks.h"
#include "app/ui/kit/chart_labels.h"
#include "tests/app/ui/harness.h"
#include "tests/app/ui/kit/xml_check.h"
#include "tests/folder.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace tilewalk::test;

namespace {

// Letters of one width: no fonts are needed.
float plain_width(Face, float size, std::string_view text) {
    return .6f * size * static_cast<float>(text.size());
}

ChartScene scene_of(const Chart& chart, Rect area = {100, 50, 480, 320}, const ChartLook& look = {}) {
    return lay_out(chart, area, look, theme(ThemeId::dark), plain_width);
}

// Time that grows with N², from 10 µs on, for kernels that differ by a factor.
Chart times(int kernels, double factor = 2, int lengths = 8) {
    Chart chart;
    chart.title = "Time";
    chart.x = {"N", Unit::length};
    chart.y.unit = Unit::seconds;
    for (int k = 0; k < kernels; ++k) {
        ChartSeries series;
        series.label = "kernel " + std::to_string(k);
        series.marker = static_cast<Marker>(1 + k % 5);
        series.colour = theme(ThemeId::dark).t1;
        for (int n = 0; n < lengths; ++n) {
            const double N = 512 * std::exp2(n), y = 1e-5 * std::pow(4, n) / std::pow(factor, k);
            series.points.push_back({N, y, .9 * y, 1.3 * y, false, 100 * k + n});
        }
        chart.series.push_back(series);
    }
    return chart;
}

bool on(double value, std::initializer_list<double> factors, double base) {
    for (double factor : factors) {
        const double power = std::log(value / factor) / std::log(base);
        if (std::abs(power - std::round(power)) < 1e-9) return true;
    }
    return false;
}

void check_no_overlap(const ChartScene& scene, const std::string& where) {
    for (std::size_t a = 0; a < scene.texts.size(); ++a)
        for (std::size_t b = a + 1; b < scene.texts.size(); ++b) {
            const SceneText &one = scene.texts[a], &other = scene.texts[b];
            const float across = std::min(one.left() + one.width, other.left() + other.width) -
                                 std::max(one.left(), other.left()),
                        down = std::min(one.y + one.size / 2, other.y + other.size / 2) -
                               std::max(one.y - one.size / 2, other.y - other.size / 2);
            if (across > .5f && down > .5f)
                FAIL_CHECK(where, ": '", one.text, "' lies on '", other.text, "'");
        }
}

void check_inside(const ChartScene& scene, const std::string& where) {
    const Rect all = bounds(scene);
    for (const SceneText& text : scene.texts) {
        CHECK_MESSAGE(text.left() >= all.x, where, ": ", text.text);
        CHECK_MESSAGE(text.left() + text.width <= all.right(), where, ": ", text.text);
        CHECK_MESSAGE(text.y - text.size / 2 >= all.y, where, ": ", text.text);
        CHECK_MESSAGE(text.y + text.size / 2 <= all.bottom(), where, ": ", text.text);
    }
    const Rect& p = scene.plot;
    for (const SceneMark& mark : scene.marks) {
        CHECK_MESSAGE(mark.x - mark.radius > p.x, where);
        CHECK_MESSAGE(mark.x + mark.radius < p.right(), where);
        CHECK_MESSAGE(mark.y - mark.radius > p.y, where);
        // On a linear axis the small ones stand on it.
        CHECK_MESSAGE(mark.y + (scene.y.logarithmic ? mark.radius : -.1f) < p.bottom(), where);
    }
}

}  // namespace

TEST_CASE("chart: ticks are round numbers between the ends, and not more than asked for") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> exponent(-9, 12), span(.05, 8);
    for (int trial = 0; trial < 400; ++trial) {
        const double lo = std::pow(10, exponent(random)), hi = lo * std::pow(10, span(random));
        for (Unit unit : {Unit::number, Unit::length, Unit::seconds, Unit::bytes, Unit::percent})
            for (bool logarithmic : {true, false})
                for (int most : {1, 3, 7}) {
                    const ChartAxis axis{"", unit, logarithmic, lo, hi};
                    const std::vector<double> ticks = ticks_of(axis, most);
                    CHECK(static_cast<int>(ticks.size()) <= most);
                    const bool binary = unit == Unit::length || unit == Unit::bytes;
                    for (std::size_t n = 0; n < ticks.size(); ++n) {
                        CHECK(ticks[n] >= lo * (1 - 1e-9));
                        CHECK(ticks[n] <= hi * (1 + 1e-9));
                        if (n > 0) CHECK(ticks[n] > ticks[n - 1]);
                        if (logarithmic)
                            CHECK(binary ? on(ticks[n], {1}, 2) : on(ticks[n], {1, 2, 5}, 10));
                        else if (n > 0 && unit == Unit::bytes)
                            CHECK(on(ticks[n] - ticks[n - 1], {1, 3, 5, 7}, 2));
                    }
                }
    }
}

TEST_CASE("chart: ticks that people know") {
    CHECK(ticks_of({"", Unit::length, true, 400, 10000}, 9) ==
          std::vector<double>{512, 1024, 2048, 4096, 8192});
    CHECK(ticks_of({"", Unit::number, true, 1.5, 60}, 9) == std::vector<double>{2, 5, 10, 20, 50});
    CHECK(ticks_of({"", Unit::number, false, 0, 110}, 6) == std::vector<double>{0, 20, 40, 60, 80, 100});
    CHECK(ticks_of({"", Unit::bytes, false, 0, 5e9}, 6).at(1) == std::exp2(30));
    CHECK(tick_text({"", Unit::bytes}, 65536) == "64 KiB");
    CHECK(tick_text({"", Unit::bytes}, std::exp2(40)) == "1 TiB");
    CHECK(tick_text({"", Unit::seconds}, 1e-3) == "1 ms");
    CHECK(tick_text({"", Unit::length}, 16384) == "16\u2009384");
    CHECK(tick_text({"", Unit::percent}, 80) == "80 %");
}

TEST_CASE("chart: places and ends stay finite whatever is asked") {
    for (double v : {0.0, -1.0, std::nan(""), 1e300, HUGE_VAL}) {
        CHECK(std::isfinite(place_on({"", Unit::number, true, 1, 100}, v)));
        CHECK(std::isfinite(place_on({"", Unit::number, true, v, v}, 3)));
        CHECK(ticks_of({"", Unit::number, true, v, v}, 5).empty());
        for (bool logarithmic : {true, false}) {
            const ChartAxis axis = fitted({"", Unit::number, logarithmic}, {v, v});
            CHECK(axis.lo < axis.hi);
        }
    }
    CHECK(place_on({"", Unit::number, true, 1, 100}, 10) == doctest::Approx(.5));
    CHECK(ticks_of({"", Unit::number, true, 1e-200, 1e200}, 6).size() <= 6);
}

TEST_CASE("chart: every point lies inside, no text on another one, at all sizes and numbers of series") {
    for (const Rect& area : {Rect{0, 0, 330, 200}, Rect{100, 50, 480, 320}, Rect{7, 9, 900, 700}})
        for (int kernels : {1, 3, 9})
            for (double factor : {1.0, 1.1, 3.0})
                for (bool linear : {false, true}) {
                    Chart chart = times(kernels, factor);
                    chart.y.logarithmic = !linear;
                    const std::string where = std::to_string(kernels) + " kernels, factor " +
                                              std::to_string(factor) + (linear ? ", linear" : "");
                    const ChartScene scene = scene_of(chart, area);
                    CHECK(scene.marks.size() == static_cast<std::size_t>(8 * kernels));
                    check_inside(scene, where);
                    check_no_overlap(scene, where);
                }
}

TEST_CASE("chart: the places of points follow the axes") {
    const ChartScene scene = scene_of(times(1));
    for (std::size_t n = 1; n < scene.marks.size(); ++n) {
        CHECK(scene.marks[n].x - scene.marks[n - 1].x ==
              doctest::Approx(scene.marks[1].x - scene.marks[0].x).epsilon(.001));
        CHECK(scene.marks[n].y < scene.marks[n - 1].y);
    }
    Chart straight = times(1);
    straight.y.logarithmic = false;
    const ChartScene linear = scene_of(straight);
    CHECK(linear.Y(0) == doctest::Approx(linear.plot.bottom()));
    CHECK(linear.Y(2e-3) - linear.Y(4e-3) == doctest::Approx(linear.Y(0) - linear.Y(2e-3)).epsilon(.001));
}

TEST_CASE("chart: a series that ends early has its label beside its end, the others at the right") {
    Chart chart = times(2, 1.4);
    chart.series[0].points.resize(5);
    const ChartScene scene = scene_of(chart, {0, 0, 600, 400});
    const SceneMark& end = scene.marks[4];
    bool found = false;
    for (const SceneText& text : scene.texts) {
        if (text.text == "kernel 0") {
            found = true;
            CHECK(std::abs(text.y - end.y) < 60);
            CHECK(std::abs(text.left() + text.width / 2 - end.x) < 120);
        }
        if (text.text == "kernel 1") CHECK(text.left() > scene.plot.right());
    }
    CHECK(found);
}

TEST_CASE("chart: the label of a single mark is nearer to it than to any other, or a line leads to it") {
    for (const float w : {330.0f, 440.0f, 700.0f, 1100.0f})
        for (const float h : {150.0f, 240.0f, 360.0f}) {
            Chart chart;
            chart.x = {"FLOP per byte"};
            chart.x.logarithmic = chart.y.logarithmic = true;
            chart.x.lo = 8, chart.x.hi = 2000, chart.y.lo = 12, chart.y.hi = 750;
            ChartSeries roof;
            roof.points = {{8, 12.4}, {201, 312}, {2000, 312}};
            chart.series = {roof};
            for (const double intensity : {127.0, 81.3, 31.9}) {
                ChartSeries one;
                one.label = "kernel " + std::to_string(static_cast<int>(intensity));
                one.note = "so many FLOP/B";
                one.marker = Marker::square;
                one.points = {{intensity, intensity * 1.555}};
                chart.series.push_back(one);
            }
            const ChartScene scene = scene_of(chart, {0, 0, w, h});
            INFO(w, " x ", h);
            check_no_overlap(scene, "roofline");
            REQUIRE(scene.marks.size() == 3);
            for (const SceneText& text : scene.texts) {
                if (!text.text.starts_with("kernel")) continue;
                CHECK(text.left() >= scene.plot.x);
                CHECK(text.left() + text.width <= scene.plot.right());
                // With its note, where it has one.
                float right = text.left() + text.width;
                for (const SceneText& note : scene.texts)
                    if (note.text == "so many FLOP/B" && note.y == text.y &&
                        std::abs(note.left() - right - 8) < 1)
                        right = note.left() + note.width;
                const auto away = [&](const SceneMark& mark) {
                    const float dx = std::max({text.left() - mark.x, mark.x - right, 0.0f});
                    return std::hypot(dx, std::max(0.0f, std::abs(text.y - mark.y) - text.size / 2));
                };
                const SceneMark* own = nullptr;
                for (std::size_t n = 0; n < 3; ++n)
                    if (text.text == chart.series[n + 1].label) own = &scene.marks[n];
                REQUIRE(own);
                const bool led = std::ranges::any_of(scene.paths, [&](const ScenePath& path) {
                    return path.points.size() == 2 && path.points[0].x == own->x &&
                           path.points[0].y == own->y;
                });
                const bool nearest = std::ranges::all_of(
                    scene.marks, [&](const SceneMark& mark) { return away(*own) <= away(mark); });
                CHECK_MESSAGE((led || nearest), text.text);
            }
        }
}

TEST_CASE("chart: what does not fit is a cross that no line leads to, and a limit is a line across") {
    Chart chart = times(1);
    chart.series[0].points[6].does_not_fit = chart.series[0].points[7].does_not_fit = true;
    chart.limits.push_back({.05, "limit"});
    const ChartScene scene = scene_of(chart);
    int crosses = 0;
    for (const SceneMark& mark : scene.marks) crosses += mark.marker == Marker::cross;
    CHECK(crosses == 2);
    bool across = false;
    for (const ScenePath& path : scene.paths) {
        if (path.width == 2) CHECK(path.points.size() == 6);  // the line of the series
        across |= path.dash.on > 0 && path.points.front().x == scene.plot.x &&
                  path.points.back().x == scene.plot.right();
    }
    CHECK(across);
    CHECK(std::any_of(scene.texts.begin(), scene.texts.end(),
                      [](const SceneText& text) { return text.text == "limit"; }));
    check_no_overlap(scene, "limit");
}

TEST_CASE("chart: error bars reach from the lower to the higher end") {
    Chart chart = times(1, 2, 2);
    chart.series[0].points[0].lo = 2e-6, chart.series[0].points[0].hi = 9e-5;
    const ChartScene scene = scene_of(chart);
    const float lo = scene.Y(2e-6), hi = scene.Y(9e-5), x = scene.X(512);
    CHECK(std::any_of(scene.paths.begin(), scene.paths.end(), [&](const ScenePath& path) {
        return path.points.size() == 2 && path.points[0].x == x && path.points[1].x == x &&
               path.points[0].y == lo && path.points[1].y == hi;
    }));
}

TEST_CASE("chart: the nearest mark within reach is found, and carries its record") {
    const ChartScene scene = scene_of(times(3));
    for (const SceneMark& mark : scene.marks) {
        const SceneMark* near = mark_near(scene, {mark.x + 1, mark.y - 1});
        REQUIRE(near);
        CHECK(near->record == mark.record);
    }
    CHECK_FALSE(mark_near(scene, {scene.plot.right() - 3, scene.plot.bottom() - 3}));
}

TEST_CASE("chart: labels are moved apart as little as it takes, in their order") {
    CHECK(spread({10, 50, 90}, 17, 0, 100) == std::vector<float>{10, 50, 90});
    CHECK(spread({50, 50}, 20, 0, 100) == std::vector<float>{40, 60});
    CHECK(spread({98, 99}, 20, 0, 100) == std::vector<float>{80, 100});
    CHECK(spread({60, 50, 55}, 10, 0, 100) == std::vector<float>{65, 45, 55});
    std::mt19937 random(5);
    std::uniform_real_distribution<float> place(0, 100);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<float> wanted(6);
        for (float& y : wanted) y = place(random);
        const std::vector<float> got = spread(wanted, 17, 0, 100);
        for (std::size_t a = 0; a < 6; ++a) {
            CHECK(got[a] >= -.01f);
            CHECK(got[a] <= 100.01f);
            for (std::size_t b = 0; b < 6; ++b)
                if (wanted[a] < wanted[b]) CHECK(got[b] - got[a] >= 16.9f);
        }
    }
}

TEST_CASE("chart: the SVG has every text and mark of the scene, at the same places") {
    const Program program;
    const Folder folder;
    Chart chart = times(2);
    chart.title = "a < b & \"c\"";
    for (ChartSeries& series : chart.series) series.marker = Marker::disc;
    const ChartScene scene = lay_out(chart, {100, 50, 480, 320}, {}, theme(ThemeId::dark));
    REQUIRE(save_plot(folder.file("plot.svg"), scene, theme(ThemeId::dark), "svg"));
    const Xml xml = read_xml(contents(folder.file("plot.svg")));
    REQUIRE_MESSAGE(xml.error.empty(), xml.error);
    CHECK(xml.elements[0].attributes.at("viewBox") == "0 0 480 320");
    const auto count = [&](const auto& is) { return std::ranges::count_if(xml.elements, is); };
    for (const SceneText& text : scene.texts)
        CHECK_MESSAGE(count([&](const XmlElement& e) { return e.text == text.text; }) >= 1, text.text);
    for (const SceneMark& mark : scene.marks)
        CHECK(count([&](const XmlElement& e) {
                  return e.name == "circle" && std::abs(e.number("cx") - (mark.x - 100)) < .01f &&
                         std::abs(e.number("cy") - (mark.y - 50)) < .01f;
              }) == 2);  // with its rim
}

TEST_CASE("chart: the canvas shows what the scene holds") {
    Program program;
    Chart chart = times(3);
    const ChartScene scene = lay_out(chart, {20, 20, 500, 340}, {}, theme(ThemeId::dark));
    run_frame(600, 400, 1.0f / 60,
              [&] { paint(canvas_on(ImGui::GetForegroundDrawList(), ThemeId::dark, font_scale()), scene); });
    for (const SceneText& text : scene.texts) CHECK(program.shows(text.text));
    check_no_overlap(scene, "real fonts");
    check_inside(scene, "real fonts");
}
