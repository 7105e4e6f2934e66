#include "app/ui/kit/page_frame.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

float foot_height(Foot foot, float H) {
    switch (foot) {
    case Foot::none: return 0;
    case Foot::bar: return H < 753 ? 58 : 72;
    case Foot::timeline: return H < 700 ? 140 : H < 800 ? 148 : H < 1000 ? 184 : 204;
    case Foot::band: return H < 673 ? 158 : H < 753 ? 184 : H < 1000 ? 226 : 250;
    }
    return 0;
}

}  // namespace

PageFrame page_frame(float W, float H, Foot foot, bool strip, float more) {
    constexpr float margin = space::margin, gap = space::margin, strip_h = 2 * space::title;
    const bool narrow = W < 1200;
    const float side = std::clamp((narrow ? 0.26f : 0.2425f) * W, narrow ? 272.0f : 332.0f, 460.0f),
                bottom = foot == Foot::none ? 0 : foot_height(foot, H) + more;
    PageFrame out;
    out.header = {0, 0, W, header_height};
    float top = header_height + margin;
    out.strip = {margin, top, W - 2 * margin, strip ? strip_h : 0};
    if (strip) top += strip_h + gap;
    out.foot = {margin, H - margin - bottom, W - 2 * margin, bottom};
    out.body = {margin, top, W - 2 * margin, out.foot.y - (bottom > 0 ? gap : 0) - top};
    out.side = {W - margin - side, top, side, out.body.h};
    out.main = {margin, top, out.side.x - gap - margin, out.body.h};
    return out;
}

PageFrame page_frame_below(const Rect& a, Foot foot, bool strip, float more) {
    return page_frame(a.w, a.bottom(), foot, strip, more);
}

}  // namespace tilewalk::ui
