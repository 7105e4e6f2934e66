// Where the texts of a plot stand: near what they name, on nothing else.
#pragma once

#include "app/ui/kit/chart.h"

namespace tilewalk::ui {

/// What is taken in a plot. Texts and marks may not be covered; lines rather not.
class LabelPlaces {
public:
    explicit LabelPlaces(Rect bounds) : inside(bounds) {}
    void take(const Rect& box) { taken.push_back(box); }
    void avoid_line(const std::vector<Point>& points);

    /// The top left corner for a text of w × h that belongs to `anchor`, and takes it; none where there is no
    /// room. Above the anchor first, or below it.
    struct Found {
        bool there = false;
        float x = 0, y = 0;
    };
    Found find(Point anchor, float w, float h, bool below = false);
    /// The first of some places that is free.
    Found first_free(const std::vector<Point>& corners, float w, float h);

private:
    bool is_free(const Rect& box) const;
    int lines_crossed(const Rect& box) const;

    Rect inside;
    std::vector<Rect> taken;
    std::vector<std::pair<Point, Point>> lines;
};

/// Moves places apart, as little as it takes, so that neighbours are at least `gap` apart within lo … hi.
/// Keeps their order. There must be room for all.
std::vector<float> spread(std::vector<float> wanted, float gap, float lo, float hi);

}  // namespace tilewalk::ui
