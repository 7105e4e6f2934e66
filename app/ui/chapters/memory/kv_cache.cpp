// What a decoder keeps of all tokens, and reads again for every new one, against the number of key heads.
#include "core/study/kv_cache.h"

#include "app/ui/chapters/memory/memory.h"
#include "app/ui/state/tour.h"
#include "core/base/numbers.h"
#include "core/base/words.h"

namespace tilewalk::ui {

namespace {

std::string kind_of(std::int64_t key_heads, std::int64_t heads) {
    if (key_heads == heads) return "multi-head";
    return key_heads == 1 ? "multi-query" : str(heads / key_heads) + " share one";
}

}  // namespace

std::string cache_sentence(const Study& s, bool brief) {
    const auto read = [&](std::int64_t key_heads) {
        return format_time(kv_cache(s.input, s.shape.N, key_heads) / s.input.hardware.bandwidth.value);
    };
    const std::string times = read(s.input.heads) + " to " + read(1) + ".";
    if (brief) return "Read for each token: at best " + times;
    return "One layer. Every new token reads all of it once, at best in " + times;
}

void kv_cache_rows(const Canvas& c, const Study& s, const Rect& a, const RowsLook& look) {
    const Theme& t = *c.theme;
    const StudyInput& in = s.input;
    const std::vector<std::int64_t> choices = key_head_choices(in.heads);
    const double most = kv_cache(in, s.shape.N, in.heads);
    const float em = look.text, heads_x = a.x + 4.8f * em, kind_x = heads_x + em,
                bytes_x = kind_x + 12.2f * em, bars = bytes_x + em, head = a.y + look.head / 2;
    c.text(heads_x, head, "key heads", em, t.t2, Face::medium, Align::right);
    c.text(bytes_x, head, "K and V", em, t.t2, Face::medium, Align::right);
    c.text_within(bars, head, a.right() - bars, format_count(s.shape.N) + " tokens", em, t.t2, Face::medium);
    const float pitch = std::min(look.most_pitch, (a.h - look.head) / px(choices.size()));
    for (std::size_t n = 0; n < choices.size(); ++n) {
        const double bytes = kv_cache(in, s.shape.N, choices[n]);
        const float y = a.y + look.head + (px(n) + .5f) * pitch, h = std::min(look.bar, pitch - 5),
                    w = std::max((a.right() - bars) * px(bytes / most), 1.5f);
        c.text(heads_x, y, format_count(choices[n]), em, t.t1, Face::semibold, Align::right);
        c.text(kind_x, y, kind_of(choices[n], in.heads), em, t.t2);
        c.text(bytes_x, y, format_large_size(bytes), em, t.t1, Face::regular, Align::right);
        // Half of it is K, the other half V.
        constexpr float strength = .75f;
        c.rect(bars, y - h / 2, w, h, mix(t.panel, hue(t, Role::V), strength), radius::bar);
        c.rect(bars, y - h / 2, w / 2, h, mix(t.panel, hue(t, Role::K), strength), radius::bar);
    }
}

void memory_kv_cache(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    const bool high = a.h > 300;
    const Panel panel(c, "KV cache", a, "KV cache", a.w > 560 ? "while decoding" : "");
    choose_memory_plot(c, state, a);
    const float note = high ? 44 : 24, top = a.y + 46;
    kv_cache_rows(c, s, {a.inner_x(), top, a.inner_w(), a.bottom() - top - note - 6},
                  {.text = size::small, .head = 20, .bar = 12, .most_pitch = 30});
    c.paragraph(a.inner_x(), a.bottom() - note - 4, a.inner_w(), cache_sentence(s, !high), size::small,
                c.theme->t2, high ? 2 : 1);
}

}  // namespace tilewalk::ui
