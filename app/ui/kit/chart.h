// Plots: what is to be shown, laid out once into lines, marks and texts (ChartScene), which the canvas draws:
// that of the window, or of a file, which so shows what the screen showed.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

#include <functional>
#include <string>
#include <vector>

namespace tilewalk::ui {

// ---- What is to be shown

/// How the numbers of an axis are written, and which are round: lengths and bytes are by powers of two.
enum class Unit { number, length, seconds, bytes, percent };

struct ChartAxis {
    std::string title;
    Unit unit = Unit::number;
    bool logarithmic = true;
    double lo = 0, hi = 0;  ///< lo < hi: these ends; otherwise they are found from what is shown
};

enum class Marker { none, square, triangle, ring, diamond, disc, cross };

struct ChartPoint {
    double x = 0, y = 0;
    double lo = 0, hi = 0;      ///< of the error bar; lo < hi draws it
    bool does_not_fit = false;  ///< a cross, not joined to the others
    int record = -1;            ///< the caller's own, to be found again under the mouse
};

/// Points joined in their order. With Marker::none only the line.
struct ChartSeries {
    std::string label;  ///< at its end; empty: none
    std::string note;   ///< behind the label in quieter letters, where there is room
    ImU32 colour = 0;
    Marker marker = Marker::none;
    float width = 2;
    Dash dash{0, 0};  ///< on = 0: drawn through
    float opacity = 1;
    std::vector<ChartPoint> points;
};

/// A horizontal line across the plot.
struct ChartLimit {
    double y = 0;
    std::string label;
    std::string brief = {};  ///< where there is no room for the label
};
/// A text at a place of the plot: beside it where it finds room.
struct ChartNote {
    double x = 0, y = 0;
    std::string text;
    bool strong = false;
};
/// A filled shape, convex.
struct ChartArea {
    std::vector<ChartPoint> corners;
    ImU32 colour = 0;
};

struct Chart {
    std::string title, subtitle;
    ChartAxis x, y;
    std::vector<ChartSeries> series;
    std::vector<ChartLimit> limits;
    std::vector<ChartNote> notes;
    std::vector<ChartArea> areas;
    std::string empty;   ///< in the middle, where there is no point yet
    std::string corner;  ///< quietly in a corner, wherever it is free
};

/// Sizes in logical px.
struct ChartLook {
    float text = size::small, label = size::small, title = size::lead, subtitle = size::body;
    float marker = 4.5f, line = 1;  ///< radius; factor of all widths
    float title_room = 1e9f;        ///< of title and subtitle together
    bool x_title = true;            ///< the title of the x axis is written
    bool panel = true;              ///< the area is a panel of its own, with a padding of 16
};

// ---- Laid out

struct ScenePath {
    std::vector<Point> points;
    ImU32 colour = 0;
    float width = 1;
    Dash dash{0, 0};
    bool filled = false;  ///< a convex shape instead of a line
};
struct SceneText {
    float x = 0, y = 0;  ///< y is the optical middle
    std::string text;
    float size = size::small;
    ImU32 colour = 0;
    Face face = Face::regular;
    Align align = Align::left;
    float width = 0;
    float left() const { return aligned(x, width, align); }
};
struct SceneMark {
    Marker marker = Marker::none;
    float x = 0, y = 0, radius = 4.5f;
    ImU32 colour = 0;
    int record = -1;
};

/// In the coordinates of the area it was laid out for. Painted in this order.
struct ChartScene {
    std::vector<Rect> panels;  ///< the surfaces below
    Rect plot;                 ///< between the axes
    ChartAxis x, y;            ///< with the ends that were found
    std::vector<ScenePath> paths;
    std::vector<SceneMark> marks;
    std::vector<SceneText> texts;

    float X(double value) const;
    float Y(double value) const;
};

using TextWidth = std::function<float(Face, float size, std::string_view)>;

ChartScene lay_out(const Chart& chart, const Rect& area, const ChartLook& look, const Theme& theme,
                   const TextWidth& width);
/// With the fonts that are loaded.
ChartScene lay_out(const Chart& chart, const Rect& area, const ChartLook& look, const Theme& theme);
/// Several as one, each where it stands.
ChartScene together(const std::vector<const ChartScene*>& scenes);

/// The mark nearest to a place, at most `reach` px away; null if there is none.
const SceneMark* mark_near(const ChartScene& scene, Point place, float reach = 14);

// ---- Drawing

/// All but the panels, which the caller has drawn.
void paint(const Canvas& canvas, const ChartScene& scene);
void paint_marker(const Canvas& canvas, Marker marker, float x, float y, ImU32 colour, float radius = 4.5f);
/// The rectangle round all panels.
Rect bounds(const ChartScene& scene);

// ---- Axes (chart_axis.cpp)

/// Place of a value between the ends, 0 … 1; outside it is the nearer end.
float place_on(const ChartAxis& axis, double value);
/// Round values from lo to hi, at most `most`, ascending.
std::vector<double> ticks_of(const ChartAxis& axis, int most);
std::string tick_text(const ChartAxis& axis, double value);
/// The axis with ends that leave every value inside. What has no place on it is left out.
ChartAxis fitted(ChartAxis axis, const std::vector<double>& values);

}  // namespace tilewalk::ui
