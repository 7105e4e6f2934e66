#include "app/ui/kit/layout.h"

#include <algorithm>

namespace tilewalk::ui {

Layout layout_for(float W, float H) {
    constexpr float margin = space::margin, gap = space::margin, header = 52;
    Layout out;
    out.W = W;
    out.H = H;
    out.tight = W < 1440 || H < 800;
    const float bottom = H < 700 ? 140 : H < 800 ? 148 : H < 1000 ? 184 : 204;
    const float hbm = std::clamp((W < 1200 ? 0.17f : 0.1825f) * W, W < 1200 ? 188.0f : 236.0f, 340.0f);
    const float side = std::clamp((W < 1200 ? 0.26f : 0.2425f) * W, W < 1200 ? 272.0f : 332.0f, 460.0f);
    const float top = header + margin, body = H - top - gap - bottom - margin;
    out.header = {0, 0, W, header};
    out.hbm = {margin, top, hbm, body};
    out.side = {W - margin - side, top, side, body};
    out.sram = {out.hbm.right() + gap, top, out.side.x - gap - out.hbm.right() - gap, body};
    out.main = {out.hbm.x, top, out.sram.right() - out.hbm.x, body};
    out.timeline = {margin, H - margin - bottom, out.sram.right() - margin, bottom};
    out.meters = {out.side.x, out.timeline.y, side, bottom};
    return out;
}

}  // namespace tilewalk::ui
