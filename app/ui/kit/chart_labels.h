// Where the texts of a plot stand: near what they name, on nothing else.
#pragma once

#include "app/ui/kit/chart.h"

namespace tilewalk::ui {

/// What is taken in a plot. Texts and marks may not be covered; lines rather not.
class LabelPlaces {
public:
    explicit LabelPlaces(Rect bounds) : inside(bounds) {}
    void take(const Rect& box) { taken.push_back(box); }
    /// `faint`: a dashed one, through which a text can be read.
    void avoid_line(const std::vector<Point>& points, bool faint = false);

    /// The top left corner for a text of w × h that belongs to `anchor`, and takes it; none where there is no
    /// room. Above the anchor first, or below it.
    struct Found {
        bool there = false;
        float x = 0, y = 0;
    };
    Found find(Point anchor, float w, float h, bool below = false);
    /// The first of some places that is free.
    Found first_free(const std::vector<Point>& corners, float w, float h);

    /// The place for the label of a single mark: near it, rather nearer than any other mark, on few lines.
    /// Takes nothing. `cost` grows with what is wrong with it, `away` is how far it is from the mark.
    struct Beside : Found {
        float cost = 0, away = 0;
    };
    Beside beside(Point mark, const std::vector<Point>& others, float w, float h) const;

private:
    bool is_free(const Rect& box) const;
    int lines_crossed(const Rect& box) const;
    float weight_crossed(const Rect& box) const;

    Rect inside;
    std::vector<Rect> taken;
    std::vector<std::pair<Point, Point>> lines;
    std::vector<bool> faint_lines;  ///< for each of them
};

/// Moves places apart, as little as it takes, so that neighbours are at least `gap` apart within lo … hi.
/// Keeps their order. There must be room for all.
std::vector<float> spread(std::vector<float> wanted, float gap, float lo, float hi);

}  // namespace tilewalk::ui
