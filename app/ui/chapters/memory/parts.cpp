// Words and bars that several panels of the page about memory share.
#include "app/ui/chapters/memory/memory.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

std::string held_text(double bytes) {
    double value = bytes;
    while (value >= 1024) value /= 1024;
    std::string text = format_large_size(bytes);
    const std::size_t point = text.find('.');
    // 16 MiB exactly needs no ".0".
    if (value == std::floor(value) && point != std::string::npos) text.erase(point, text.find(' ') - point);
    return text;
}

std::string rate_text(double rate) {
    if (rate >= 1e12) return format_short(rate / 1e12) + " TB/s";
    return format_short(rate / 1e9) + " GB/s";
}

std::string capacity_text(double bytes) {
    if (bytes >= 1e15 || bytes < 1e9) return format_large_traffic(bytes);
    return format_short(bytes / 1e9) + " GB";
}

float log_part(double value, double lo, double hi) {
    if (!(value > 0) || !(lo > 0) || !(hi > lo)) return 0;
    return px(std::clamp(std::log(value / lo) / std::log(hi / lo), 0.0, 1.0));
}

float share_bar(const Canvas& c, const AlgorithmStudy& a, float x, float y, float h, double px_per_byte,
                float size) {
    const Theme& t = *c.theme;
    const float start = x;
    for (const Share& share : a.shares) {
        const float w = px(static_cast<double>(share.total()) * px_per_byte);
        if (w >= 1) {
            const ImU32 colour = hue(t, share.role), fill = ramp(t, share.role, 1);
            c.rect(x, y, std::max(w - 1, 1.0f), h, fill, w > 8 ? 3.0f : 0.0f);
            if (w > 8) c.frame(x + .5f, y + .5f, w - 2, h - 1, colour, 1.2f, radius::bar);
            if (w > text_width(Face::semibold_italic, size, share.name) + 14)
                c.text(x + w / 2, y + h / 2, share.name, size, ink_on(t, fill), Face::semibold_italic,
                       Align::center);
        }
        x += w;
    }
    return x - start;
}

std::string compared(const Study& s, Algorithm a) {
    const double ratio = s.saving(a);
    if ((ratio > 0.995 && ratio < 1.005) || ratio <= 0) return "about as many";
    const double times = std::max(ratio, 1 / ratio);
    return format_number(times, times < 1.095 ? 3 : 2) + (ratio > 1 ? "× fewer" : "× more");
}

}  // namespace tilewalk::ui
