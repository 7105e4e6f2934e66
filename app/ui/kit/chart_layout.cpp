// From what a plot shows to lines, marks and texts.
#include "app/ui/kit/chart_labels.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr float line_of_text = 1.35f;

class Maker {
public:
    Maker(const Chart& what, const Rect& where, const ChartLook& how, const Theme& theme,
          const TextWidth& measure)
        : chart(what), area(where), look(how), t(theme), width(measure), u(how.text / 13),
          pad(how.panel ? 16 * u : 0) {
        scene.panels = {area};
    }

    ChartScene make() {
        heading();
        find_axes();
        find_plot();
        grid();
        areas();
        limits();
        // The faded ones below the others.
        for (const ChartSeries& series : chart.series)
            if (series.opacity < 1) draw(series);
        for (const ChartSeries& series : chart.series)
            if (series.opacity >= 1) draw(series);
        labels();
        return std::move(scene);
    }

private:
    float text(float x, float y, const std::string& words, float size, ImU32 colour,
               Face face = Face::regular, Align align = Align::left) {
        SceneText out{x, y, words, size, colour, face, align, width(face, size, words)};
        scene.texts.push_back(out);
        return out.width;
    }
    float wide(const std::string& words, Face face = Face::regular) const {
        return width(face, look.text, words);
    }
    Point at(const ChartPoint& p) const { return {scene.X(p.x), scene.Y(p.y)}; }

    // ---- Title, axes, room for both

    void heading() {
        top = area.y + (look.panel ? 12 * u : 0);
        if (chart.title.empty()) return;
        const float y = area.y + std::max(22.0f, look.title * .75f + 10), x = area.x + pad;
        const float room = std::min(look.title_room, area.w - 2 * pad);
        const float w = text(x, y, chart.title, look.title, t.t1, Face::semibold);
        if (!chart.subtitle.empty() && w + 10 + width(Face::regular, look.subtitle, chart.subtitle) <= room)
            text(x + w + 10, y + .5f, chart.subtitle, look.subtitle, t.t3);
        top = y + look.title + 6 * u;
    }

    void find_axes() {
        std::vector<double> xs, ys;
        for (const ChartSeries& series : chart.series)
            for (const ChartPoint& p : series.points) {
                xs.push_back(p.x), ys.push_back(p.y);
                if (p.lo < p.hi) ys.push_back(p.lo), ys.push_back(p.hi);
            }
        // With room above it for its label.
        for (const ChartLimit& limit : chart.limits)
            ys.push_back(chart.y.logarithmic ? 2 * limit.y : 1.1 * limit.y);
        scene.x = fitted(chart.x, xs), scene.y = fitted(chart.y, ys);
    }

    // The end of a series stands at the right edge when none goes further.
    bool ends_at_the_right(const ChartSeries& series) const {
        const ChartPoint* end = last_joined(series);
        if (!end || series.label.empty()) return false;
        for (const ChartSeries& other : chart.series)
            for (const ChartPoint& p : other.points)
                if (p.x > end->x) return false;
        return true;
    }
    static const ChartPoint* last_joined(const ChartSeries& series) {
        const ChartPoint* last = nullptr;
        for (const ChartPoint& p : series.points)
            if (!p.does_not_fit && (!last || p.x >= last->x)) last = &p;
        return last;
    }

    void find_plot() {
        float left = 0, right = 12 * u;
        for (double tick : ticks_of(scene.y, 8)) left = std::max(left, wide(tick_text(scene.y, tick)));
        for (const ChartSeries& series : chart.series)
            if (ends_at_the_right(series))
                right = std::max(right, width(Face::medium, look.label, series.label) + 16 * u - pad);
        right = std::min(right, area.w * .4f);
        const bool x_title = !chart.x.title.empty() && look.x_title;
        float above = top + 8 * u;
        if (!chart.y.title.empty()) {
            text(area.x + pad, top + 6 * u, chart.y.title, look.text, t.t3);
            above += look.text * line_of_text;
        }
        const float x = area.x + pad + left + 8 * u,
                    bottom = area.bottom() - (look.panel ? 10 * u : 0) - look.text * line_of_text -
                             (x_title ? look.text * line_of_text : 0) - 4 * u;
        scene.plot = {x, above, std::max(20.0f, area.right() - pad - right - x),
                      std::max(20.0f, bottom - above)};
        if (x_title)
            text(x + scene.plot.w / 2, area.bottom() - (look.panel ? 8 * u : 0) - look.text * .7f,
                 chart.x.title, look.text, t.t3, Face::regular, Align::center);
    }

    // ---- Behind the data

    void grid() {
        const Rect& p = scene.plot;
        const float label =
            std::max(wide(tick_text(scene.x, scene.x.hi)), wide(tick_text(scene.x, scene.x.lo)));
        const int across = std::max(2, static_cast<int>(p.w / (label + 18 * u))),
                  up = std::clamp(static_cast<int>(p.h / (27 * u)) + 1, 2, scene.y.logarithmic ? 14 : 9);
        for (double tick : ticks_of(scene.x, across)) {
            const float x = scene.X(tick);
            scene.paths.push_back({{{x, p.y}, {x, p.bottom()}}, t.line, look.line});
            const std::string words = tick_text(scene.x, tick);
            const float half = wide(words) / 2;
            if (x - half >= area.x + 2 && x + half <= area.right() - 2)
                text(x, p.bottom() + look.text * .7f + 5 * u, words, look.text, t.t3, Face::regular,
                     Align::center);
        }
        for (double tick : ticks_of(scene.y, up)) {
            const float y = scene.Y(tick);
            scene.paths.push_back({{{p.x, y}, {p.right(), y}}, t.line, look.line});
            text(p.x - 8 * u, y, tick_text(scene.y, tick), look.text, t.t3, Face::regular, Align::right);
        }
        scene.paths.push_back({{{p.x, p.y}, {p.x, p.bottom()}, {p.right(), p.bottom()}}, t.line2, look.line});
    }

    void fill(const std::vector<Point>& corners, ImU32 colour) {
        scene.paths.push_back({corners, colour, 0, {0, 0}, true});
    }

    void areas() {
        for (const ChartArea& shape : chart.areas) {
            std::vector<Point> corners;
            for (const ChartPoint& corner : shape.corners) corners.push_back(at(corner));
            fill(corners, shape.colour);
        }
    }

    // What lies above the line is out of reach.
    void limits() {
        const Rect& p = scene.plot;
        for (const ChartLimit& limit : chart.limits) {
            const float y = scene.Y(limit.y);
            fill({{p.x, p.y}, {p.right(), p.y}, {p.right(), y}, {p.x, y}}, with_alpha(t.t3, .09f));
            scene.paths.push_back({{{p.x, y}, {p.right(), y}}, t.t1, 1.5f * look.line, {6 * u, 4 * u}});
        }
    }

    // ---- The data

    void draw(const ChartSeries& series) {
        const ImU32 colour = series.opacity < 1 ? with_alpha(series.colour, series.opacity) : series.colour;
        ScenePath line{{}, colour, series.width * look.line, {series.dash.on * u, series.dash.off * u}};
        for (const ChartPoint& p : series.points) {
            if (p.does_not_fit || !visible(p)) continue;
            line.points.push_back(at(p));
            error_bar(p, colour);
        }
        if (line.points.size() > 1) scene.paths.push_back(line);
        for (const ChartPoint& p : series.points)
            if (visible(p) && (p.does_not_fit || series.marker != Marker::none))
                scene.marks.push_back({p.does_not_fit ? Marker::cross : series.marker, at(p).x, at(p).y,
                                       look.marker, colour, p.record});
    }
    bool visible(const ChartPoint& p) const {
        const bool finite = std::isfinite(p.x) && std::isfinite(p.y);
        return finite && (!scene.x.logarithmic || p.x > 0) && (!scene.y.logarithmic || p.y > 0);
    }

    void error_bar(const ChartPoint& p, ImU32 colour) {
        if (!(p.lo < p.hi)) return;
        const float x = at(p).x, lo = scene.Y(p.lo), hi = scene.Y(p.hi), cap = look.marker;
        if (lo - hi <= 2 * look.marker) return;  // hidden by its mark
        for (const auto& [a, b] : {std::pair<Point, Point>{{x, lo}, {x, hi}},
                                   {{x - cap, lo}, {x + cap, lo}},
                                   {{x - cap, hi}, {x + cap, hi}}})
            scene.paths.push_back({{a, b}, colour, 1.2f * look.line});
    }

    // ---- Texts among the data

    void labels() {
        const Rect& p = scene.plot;
        const bool beside =
            std::ranges::any_of(chart.series, [&](const auto& s) { return ends_at_the_right(s); });
        const float right = beside ? area.right() - 6 * u : p.right();
        LabelPlaces places({p.x + 4 * u, p.y - 4 * u, right - p.x - 4 * u, p.h + 2 * u});
        const float r = look.marker + 2;
        for (const SceneMark& mark : scene.marks) places.take({mark.x - r, mark.y - r, 2 * r, 2 * r});
        for (const ChartSeries& series : chart.series) avoid(places, series);
        for (const ChartLimit& limit : chart.limits)
            places.avoid_line({{p.x, scene.Y(limit.y)}, {p.right(), scene.Y(limit.y)}});
        for (const ChartLimit& limit : chart.limits) label(places, limit);
        labels_at_the_right(places);
        for (const ChartSeries& series : chart.series)
            if (!series.label.empty() && !ends_at_the_right(series))
                series.points.size() == 1 ? label_mark(places, series) : label(places, series);
        for (const ChartNote& note : chart.notes) label(places, note);
        in_a_corner(places);
        in_the_middle();
    }

    void avoid(LabelPlaces& places, const ChartSeries& series) const {
        std::vector<Point> line;
        for (const ChartPoint& p : series.points)
            if (!p.does_not_fit && visible(p)) line.push_back(at(p));
        places.avoid_line(line, series.dash.on > 0);
    }

    void put(const LabelPlaces::Found& found, float h, const std::string& words, ImU32 colour, Face face) {
        if (found.there) text(found.x, found.y + h / 2, words, look.label, colour, face);
    }

    void label(LabelPlaces& places, const ChartLimit& limit) {
        const float h = look.label * 1.2f, y = scene.Y(limit.y);
        const Rect& p = scene.plot;
        for (const std::string& words : {limit.label, limit.brief}) {
            const float w = width(Face::medium, look.label, words);
            std::vector<Point> corners;
            for (float over : {y - h - 3 * u, y + 3 * u})
                for (float x : {p.x + 8 * u, p.x + p.w / 2 - w / 2, p.right() - w - 6 * u})
                    corners.push_back({x, over});
            const LabelPlaces::Found found = places.first_free(corners, w, h);
            put(found, h, words, t.t1, Face::medium);
            if (found.there) return;
        }
    }

    // One under the other beside the ends of their lines, with a thin line where they had to move. Where
    // there is no room for all, the first ones stay.
    void labels_at_the_right(LabelPlaces& places) {
        const Rect& p = scene.plot;
        const float gap = look.label * 1.25f;
        std::vector<const ChartSeries*> shown;
        for (const ChartSeries& series : chart.series)
            if (ends_at_the_right(series)) shown.push_back(&series);
        const auto most = static_cast<std::size_t>(std::max(0.0f, p.h / gap));
        if (shown.size() > most) shown.resize(most);
        std::vector<float> wanted;
        for (const ChartSeries* series : shown) wanted.push_back(at(*last_joined(*series)).y);
        const std::vector<float> ys = spread(wanted, gap, p.y + gap / 2, p.bottom() - gap / 2);
        float end = 0;
        for (const ChartSeries* series : shown) end = std::max(end, at(*last_joined(*series)).x);
        const float x = std::max(end + look.marker + 7 * u, p.right() + 5 * u),
                    room = area.right() - 4 * u - x;
        for (std::size_t n = 0; n < shown.size(); ++n) {
            const std::string words = shortened(shown[n]->label, room);
            const float w = width(Face::medium, look.label, words);
            if (std::abs(ys[n] - wanted[n]) > gap / 2)
                scene.paths.push_back(
                    {{{end + look.marker + 2 * u, wanted[n]}, {x - 2 * u, ys[n]}}, t.line2, look.line});
            text(x, ys[n], words, look.label, shown[n]->opacity < 1 ? t.t2 : t.t1, Face::medium);
            places.take({x, ys[n] - gap / 2, w, gap});
        }
    }
    // Without what stands behind a comma rather than cut off.
    std::string shortened(std::string words, float room) const {
        if (width(Face::medium, look.label, words) <= room) return words;
        if (std::string name = words.substr(0, words.rfind(", "));
            width(Face::medium, look.label, name) <= room)
            return name;
        while (!words.empty() && width(Face::medium, look.label, words + "…") > room)
            drop_last_character(words);
        return words + "…";
    }

    void label(LabelPlaces& places, const ChartSeries& series) {
        const ChartPoint* end = last_joined(series);
        if (!end || !visible(*end)) return;
        const float w = width(Face::semibold, look.label, series.label), h = look.label * 1.25f,
                    note = series.note.empty() ? 0 : 8 * u + width(Face::regular, look.text, series.note);
        const bool below = !series.note.empty();
        LabelPlaces::Found found;
        if (note > 0) found = places.find(at(*end), w + note, h, below);
        const bool with_note = found.there;
        if (!found.there) found = places.find(at(*end), w, h, below);
        put(found, h, series.label, t.t1, Face::semibold);
        if (with_note) text(found.x + w + 8 * u, found.y + h / 2, series.note, look.text, t.t2);
    }

    // Of a single mark: with its note where that leaves it as near; a thin line leads there from further
    // away.
    void label_mark(LabelPlaces& places, const ChartSeries& series) {
        const ChartPoint& point = series.points.front();
        if (!visible(point)) return;
        const Point mark = at(point);
        std::vector<Point> others;
        for (const SceneMark& other : scene.marks)
            if (std::abs(other.x - mark.x) + std::abs(other.y - mark.y) > 1)
                others.push_back({other.x, other.y});
        const float h = look.label * 1.25f, name = width(Face::semibold, look.label, series.label),
                    note = series.note.empty() ? 0 : 8 * u + width(Face::regular, look.text, series.note);
        LabelPlaces::Beside found = places.beside(mark, others, name + note, h);
        const LabelPlaces::Beside brief = places.beside(mark, others, name, h);
        constexpr float worth = 30;  // px that the note is worth
        const bool with_note = note > 0 && found.there && found.cost <= brief.cost + worth * u;
        if (!with_note) found = brief;
        if (!found.there) return;
        const Rect box{found.x, found.y, name + (with_note ? note : 0), h};
        places.take(box);
        plate(box.x, box.y, box.w, box.h);
        put(found, h, series.label, t.t1, Face::semibold);
        if (with_note) text(found.x + name + 8 * u, found.y + h / 2, series.note, look.text, t.t2);
        if (found.away < look.marker + 10 * u) return;
        const std::vector<Point> lead = {
            mark, {std::clamp(mark.x, box.x + 4, box.right() - 4), mark.y < box.y ? box.y : box.bottom()}};
        scene.paths.push_back({lead, t.t3, look.line});
        places.avoid_line(lead);
    }

    void label(LabelPlaces& places, const ChartNote& note) {
        const Face face = note.strong ? Face::medium : Face::regular;
        const float w = width(face, look.label, note.text), h = look.label * 1.25f;
        const LabelPlaces::Found at = places.find({scene.X(note.x), scene.Y(note.y)}, w, h);
        if (at.there) plate(at.x, at.y, w, h);
        put(at, h, note.text, note.strong ? t.t1 : t.t2, face);
    }
    // No line of the grid runs through what stands there.
    void plate(float x, float y, float w, float h) {
        const float edge = 3 * u;
        fill({{x - edge, y}, {x + w + edge, y}, {x + w + edge, y + h}, {x - edge, y + h}}, t.panel);
    }

    void in_a_corner(LabelPlaces& places) {
        const Rect& p = scene.plot;
        const float w = width(Face::regular, look.label, chart.corner), h = look.label * 1.25f,
                    right = p.right() - w - 8 * u, left = p.x + 8 * u, low = p.bottom() - h - 4 * u;
        if (chart.corner.empty()) return;
        const LabelPlaces::Found at =
            places.first_free({{right, low}, {left, p.y + 4 * u}, {left, low}, {right, p.y + 4 * u}}, w, h);
        if (at.there) plate(at.x, at.y, w, h);
        put(at, h, chart.corner, t.t3, Face::regular);
    }

    // Where there is nothing to show yet: words, broken into lines, on a surface of their own.
    void in_the_middle() {
        if (chart.empty.empty()) return;
        std::vector<std::string> lines(1);
        for (const std::string& word : words_of(chart.empty)) {
            const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
            if (width(Face::regular, look.label, longer) <= scene.plot.w - 16 * u || lines.back().empty())
                lines.back() = longer;
            else
                lines.push_back(word);
        }
        const float step = look.label * 1.5f, y = scene.plot.middle() - step * (px(lines.size()) - 1) / 2;
        const float left = scene.plot.x + 6 * u, right = scene.plot.right() - 6 * u, above = y - step * .8f,
                    below = y + step * (px(lines.size()) - .2f);
        fill({{left, above}, {right, above}, {right, below}, {left, below}},
             look.panel ? t.panel : presenter_page(t));
        for (std::size_t n = 0; n < lines.size(); ++n)
            text(scene.plot.x + scene.plot.w / 2, y + step * px(n), lines[n], look.label, t.t2, Face::regular,
                 Align::center);
    }

    const Chart& chart;
    const Rect area;
    const ChartLook& look;
    const Theme& t;
    const TextWidth& width;
    const float u, pad;  // lengths grow with the letters
    float top = 0;       // of what is left below the title
    ChartScene scene;
};

}  // namespace

float ChartScene::X(double value) const { return plot.x + plot.w * place_on(x, value); }
float ChartScene::Y(double value) const { return plot.bottom() - plot.h * place_on(y, value); }

ChartScene lay_out(const Chart& chart, const Rect& area, const ChartLook& look, const Theme& theme,
                   const TextWidth& width) {
    return Maker(chart, area, look, theme, width).make();
}

ChartScene lay_out(const Chart& chart, const Rect& area, const ChartLook& look, const Theme& theme) {
    return lay_out(chart, area, look, theme, [](Face face, float size, std::string_view words) {
        return text_width(face, baked_em(face, size), words);
    });
}

ChartScene together(const std::vector<const ChartScene*>& scenes) {
    ChartScene all;
    for (const ChartScene* one : scenes) {
        all.panels.insert(all.panels.end(), one->panels.begin(), one->panels.end());
        all.paths.insert(all.paths.end(), one->paths.begin(), one->paths.end());
        all.marks.insert(all.marks.end(), one->marks.begin(), one->marks.end());
        all.texts.insert(all.texts.end(), one->texts.begin(), one->texts.end());
    }
    return all;
}

Rect bounds(const ChartScene& scene) {
    if (scene.panels.empty()) return {};
    Rect all = scene.panels.front();
    for (const Rect& panel : scene.panels) {
        const float right = std::max(all.right(), panel.right()),
                    bottom = std::max(all.bottom(), panel.bottom());
        all.x = std::min(all.x, panel.x), all.y = std::min(all.y, panel.y);
        all.w = right - all.x, all.h = bottom - all.y;
    }
    return all;
}

const SceneMark* mark_near(const ChartScene& scene, Point place, float reach) {
    const SceneMark* best = nullptr;
    float nearest = reach;
    for (const SceneMark& mark : scene.marks) {
        const float away = std::hypot(mark.x - place.x, mark.y - place.y);
        if (mark.record >= 0 && away <= nearest) nearest = away, best = &mark;
    }
    return best;
}

}  // namespace tilewalk::ui
