#include "app/ui/kit/chart_labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk::ui {

namespace {

bool meet(const Rect& a, const Rect& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

// Whether a line goes through a box: cut it to the box, edge by edge (Liang and Barsky).
bool crosses(const std::pair<Point, Point>& line, const Rect& box) {
    const float dx = line.second.x - line.first.x, dy = line.second.y - line.first.y;
    float from = 0, to = 1;
    const auto cut = [&](float speed, float distance) {
        if (speed == 0) return distance >= 0;
        const float t = distance / speed;
        if (speed < 0)
            from = std::max(from, t);
        else
            to = std::min(to, t);
        return from <= to;
    };
    return cut(-dx, line.first.x - box.x) && cut(dx, box.right() - line.first.x) &&
           cut(-dy, line.first.y - box.y) && cut(dy, box.bottom() - line.first.y);
}

// Left, in the middle and right, at growing distances above and below.
std::vector<Point> places_round(Point anchor, float w, float h, bool below) {
    std::vector<Point> out;
    for (float step = 0; step < 6; ++step) {
        const float away = 8 + 8 * step, over = anchor.y - away - h, under = anchor.y + away;
        for (float y : {below ? under : over, below ? over : under}) {
            if (below) out.push_back({anchor.x + 8, y});
            out.push_back({anchor.x - w - 4, y});
            out.push_back({anchor.x - w / 2, y});
            if (!below) out.push_back({anchor.x + 8, y});
        }
        if (step == 0) {
            out.push_back({anchor.x + 12, anchor.y - h / 2});
            out.push_back({anchor.x - w - 12, anchor.y - h / 2});
        }
    }
    return out;
}

}  // namespace

void LabelPlaces::avoid_line(const std::vector<Point>& points, bool faint) {
    for (std::size_t n = 1; n < points.size(); ++n) {
        lines.emplace_back(points[n - 1], points[n]);
        faint_lines.push_back(faint);
    }
}

bool LabelPlaces::is_free(const Rect& box) const {
    const bool within = box.x >= inside.x && box.right() <= inside.right() && box.y >= inside.y &&
                        box.bottom() <= inside.bottom();
    return within && std::ranges::none_of(taken, [&](const Rect& o) { return meet(box, o); });
}

int LabelPlaces::lines_crossed(const Rect& box) const {
    return static_cast<int>(
        std::ranges::count_if(lines, [&](const auto& line) { return crosses(line, box); }));
}

float LabelPlaces::weight_crossed(const Rect& box) const {
    float weight = 0;
    for (std::size_t n = 0; n < lines.size(); ++n)
        if (crosses(lines[n], box)) weight += faint_lines[n] ? .4f : 1.0f;
    return weight;
}

LabelPlaces::Found LabelPlaces::first_free(const std::vector<Point>& corners, float w, float h) {
    constexpr int most_crossed = 3;  // a text under more lines than that cannot be read
    Found best;
    int fewest = most_crossed + 1;
    for (const Point& corner : corners) {
        const Rect box{corner.x, corner.y, w, h};
        if (!is_free(box)) continue;
        const int crossed = lines_crossed(box);
        if (crossed < fewest) fewest = crossed, best = {true, corner.x, corner.y};
        if (crossed == 0) break;
    }
    if (best.there) take({best.x, best.y, w, h});
    return best;
}

LabelPlaces::Found LabelPlaces::find(Point anchor, float w, float h, bool below) {
    return first_free(places_round(anchor, w, h, below), w, h);
}

namespace {

float distance(Point p, const Rect& box) {
    const float dx = std::max({box.x - p.x, p.x - box.right(), 0.0f}),
                dy = std::max({box.y - p.y, p.y - box.bottom(), 0.0f});
    return std::sqrt(dx * dx + dy * dy);
}

}  // namespace

LabelPlaces::Beside LabelPlaces::beside(Point mark, const std::vector<Point>& others, float w,
                                        float h) const {
    constexpr float of_line = 60, of_other = 60;  // px that it may rather be further away
    Beside best;
    for (const bool below : {false, true})
        for (const Point& corner : places_round(mark, w, h, below)) {
            const Rect box{corner.x, corner.y, w, h};
            if (!is_free(box)) continue;
            const float away = distance(mark, box);
            float cost = away + of_line * weight_crossed(box);
            for (const Point& other : others) {
                const float apart = distance(other, box);
                // Level with another mark it reads as the name of that one.
                const bool level = other.y > box.y - 3 && other.y < box.bottom() + 3 && apart < 80;
                cost += apart < away + 6 ? of_other : level ? of_other / 2 : 0;
            }
            if (!best.there || cost < best.cost) best = {{true, corner.x, corner.y}, cost, away};
        }
    return best;
}

std::vector<float> spread(std::vector<float> wanted, float gap, float lo, float hi) {
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    // Neighbours that are too close become one group, which stands in the middle of what its members want.
    struct Group {
        float sum = 0, count = 0;  // sum of the places that its first member should have
        float first(float gap, float lo, float hi) const {
            return std::clamp(sum / count, lo, std::max(lo, hi - gap * (count - 1)));
        }
    };
    std::vector<Group> groups;
    for (std::size_t n : order) {
        groups.push_back({wanted[n], 1});
        while (groups.size() > 1) {
            const Group &last = groups.back(), &before = groups[groups.size() - 2];
            if (before.first(gap, lo, hi) + gap * before.count <= last.first(gap, lo, hi)) break;
            const Group both{before.sum + last.sum - gap * before.count * last.count,
                             before.count + last.count};
            groups.pop_back();
            groups.back() = both;
        }
    }
    std::size_t at = 0;
    for (const Group& group : groups)
        for (float k = 0; k < group.count; ++k) wanted[order[at++]] = group.first(gap, lo, hi) + gap * k;
    return wanted;
}

}  // namespace tilewalk::ui
