#include "app/ui/kit/layout.h"

#include "app/ui/kit/page_frame.h"

#include <algorithm>

namespace tilewalk::ui {

Layout layout_for(float W, float H) {
    constexpr float gap = space::margin;
    const PageFrame frame = page_frame(W, H, Foot::timeline);
    Layout out;
    out.W = W;
    out.H = H;
    out.tight = W < 1440 || H < 800;
    const float hbm = std::clamp((W < 1200 ? 0.17f : 0.1825f) * W, W < 1200 ? 188.0f : 236.0f, 340.0f);
    out.header = frame.header;
    out.side = frame.side;
    out.main = frame.main;
    out.hbm = {frame.main.x, frame.main.y, hbm, frame.main.h};
    out.sram = {out.hbm.right() + gap, frame.main.y, frame.main.right() - out.hbm.right() - gap,
                frame.main.h};
    out.timeline = {frame.main.x, frame.foot.y, frame.main.w, frame.foot.h};
    out.meters = {frame.side.x, frame.foot.y, frame.side.w, frame.foot.h};
    return out;
}

}  // namespace tilewalk::ui
