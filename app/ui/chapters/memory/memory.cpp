#include "app/ui/chapters/memory/memory.h"

#include "app/ui/kit/items.h"
#include "app/ui/kit/page_frame.h"
#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

// ---- Words and bars that several panels share

std::string rate_text(double rate) {
    if (rate >= 1e12) return format_short(rate / 1e12) + " TB/s";
    return format_short(rate / 1e9) + " GB/s";
}

void size_bar(const Canvas& c, float x, float y, float w, float room, float h, bool fits, bool current) {
    const Theme& t = *c.theme;
    const ImU32 colour = hue(t, Role::S);
    if (fits)
        return c.rect(x, y, std::max(w, 1.0f), h, mix(t.panel, colour, current ? .85f : .5f), radius::bar);
    const bool cut = w > room;
    if (cut) w = room - .7f * h - 6;  // the head of its arrow lies within the room
    c.rect(x, y, w, h, mix(t.panel, colour, .22f), radius::bar);
    c.crossed(x + 1, y + 1, w - 2, h - 2, mix(t.panel, colour, .7f), h > 16 ? 14.0f : 9.0f,
              h > 16 ? 2.0f : 1.2f);
    if (cut) c.polygon({{x + w + 3, y}, {x + w + 3 + h * .7f, y + h / 2}, {x + w + 3, y + h}}, colour);
    c.frame(x + .5f, y + .5f, w - 1, h - 1, colour, 1.2f, radius::bar);
}

// A share has its name in the bar if it is wide enough for it.
static bool has_name(const Share& share, double px_per_byte, float size) {
    const float w = px(static_cast<double>(share.total()) * px_per_byte);
    return w > text_width(Face::semibold_italic, size, share.name) + 14;
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
            if (has_name(share, px_per_byte, size))
                c.text(x + w / 2, y + h / 2, share.name, size, ink_on(t, fill), Face::semibold_italic,
                       Align::center);
        }
        x += w;
    }
    return x - start;
}

std::vector<std::string> nameless_shares(const AlgorithmStudy& a, double px_per_byte, float size) {
    std::vector<std::string> names;
    double bytes = 0;
    for (const Share& share : a.shares) {
        if (share.total() == 0 || has_name(share, px_per_byte, size)) continue;
        names.emplace_back(share.name), bytes += static_cast<double>(share.total());
    }
    if (names.empty()) return {};
    const std::string which = "of which " + joined(names), much = which + " " + format_large_size(bytes);
    return {much + ", too thin for their names", much, which};
}

void draw_nameless(const Canvas& c, const std::vector<std::string>& words, float x, float right, float y,
                   float size) {
    for (const std::string& text : words)
        if (text_width(Face::regular, size, text) <= right - x)
            return void(c.text(x, y, text, size, c.theme->t3));
}

std::string compared(const Study& s, Algorithm a) {
    const double ratio = s.saving(a);
    if ((ratio > 0.995 && ratio < 1.005) || ratio <= 0) return "about as many";
    const double times = std::max(ratio, 1 / ratio);
    return format_number(times, times < 1.095 ? 3 : 2) + (ratio > 1 ? "× fewer" : "× more");
}

// ---- The sizes, and the page as a whole

namespace {

// The exact N, as typed: digits, with or without spaces.
std::optional<std::int64_t> read_N(const char* text) {
    std::string digits = text;
    std::erase_if(digits, [](char ch) { return ch == ' ' || ch == ','; });
    const auto N = number_in<std::int64_t>(digits);
    return N && *N >= 1 && *N <= largest_N ? N : std::nullopt;
}

void N_field(const Canvas& c, MemoryForm& form, float x, float y, float w) {
    if (!form.N_typed) std::snprintf(form.N_text, sizeof form.N_text, "%lld", static_cast<long long>(form.N));
    FieldLook look{.face = Face::mono, .size = size::lead};
    look.invalid = form.N_typed && !read_N(form.N_text);
    const FieldResult field = text_field(c, "##memory-N", x, y - space::control / 2, w, space::control,
                                         form.N_text, sizeof form.N_text, look);
    form.N_typed = field.active;
    if (!field.changed && !field.entered) return;
    if (const auto N = read_N(form.N_text)) form.N = *N;
}

// What a letter stands for, where the mouse is over it.
void tell_letter(const Canvas& c, float x, float y, const char* words) {
    const Rect letter{x - 4, y - space::control / 2, 24, space::control};
    if (letter.contains(c.mouse()) && ImGui::IsWindowHovered()) tooltip(c, words);
}

// Snaps to powers of two; the field beside it takes any N.
void N_slider(const Canvas& c, MemoryForm& form, float x, float y, float w, bool ticks) {
    float log2 = std::clamp(px(std::log2(static_cast<double>(form.N))), 9.0f, 17.0f);
    const float rail = ticks ? y - 7 : y;
    if (slider(c, "##memory-slider", x, rail, w, log2, 9, 17))
        form.N = std::int64_t{1} << static_cast<int>(std::lround(log2));
    for (int k = 9; ticks && k <= 17; ++k) {
        const float X = x + w * px(k - 9) / 8;
        const bool current = form.N == std::int64_t{1} << k;
        c.line({X, y + 1}, {X, y + 6}, current ? c.theme->t1 : c.theme->line2);
        c.text(X, y + 16, format_count(std::int64_t{1} << k), size::small,
               current ? c.theme->t1 : c.theme->t3, current ? Face::medium : Face::regular, Align::center);
    }
}

struct Choice {
    const char *label, *id;
    std::vector<std::string> options;
};
float choice_width(const Choice& choice, bool named) {
    return (named ? text_width(Face::regular, size::body, choice.label) + 10 : 0) +
           segmented_width(choice.options);
}
bool choose(const Canvas& c, const Choice& choice, float& x, float y, bool named, int& current) {
    if (named) x += c.text(x, y, choice.label, size::body, c.theme->t3) + 10;
    const bool changed = segmented(c, choice.id, x, y - space::control / 2, choice.options, current);
    x += segmented_width(choice.options);
    return changed;
}

int index_of(int value, std::initializer_list<int> values) {
    const auto at = std::ranges::find(values, value);
    return at == values.end() ? 0 : static_cast<int>(at - values.begin());
}

// Height and width of the tiles, or the rule that they follow from.
constexpr float tile_label = 28, tile_field = 104, tile_gap = 12,
                tile_fields_width = 2 * (tile_label + tile_field) + tile_gap;

void tile_fields(const Canvas& c, MemoryForm& form, float x, float y) {
    const Shape shape = study(memory_input(form)).shape;
    const bool given = form.rule == TileRule::given;
    const std::string rule = given ? "" : form.rule == TileRule::square ? "square " : "paper ";
    const auto field = [&](const char* id, const char* index, std::int64_t value, int MemoryForm::*side) {
        c.rich(x, y, {symbol("B", Role::none), sub(index, Role::none)}, size::lead, Align::left, c.theme->t1);
        tell_letter(c, x, y, index[0] == 'r' ? "Br: rows of Q in a tile" : "Bc: rows of K and V in a tile");
        const Rect area{x + tile_label, y - space::control / 2, tile_field, space::control};
        x += tile_label + tile_field + tile_gap;
        const Dropdown list(c, id, area, rule + str(value));
        if (!list) return;
        for (int n = 2; n <= 1024; n *= 2)
            if (dropdown_item(c, std::string(id) + "/" + str(n), str(n), given && value == n)) {
                form.Br = static_cast<int>(shape.Br), form.Bc = static_cast<int>(shape.Bc);
                form.*side = n, form.rule = TileRule::given;
            }
        if (dropdown_item(c, "square", "square", form.rule == TileRule::square)) form.rule = TileRule::square;
        if (dropdown_item(c, "paper", "paper", form.rule == TileRule::paper)) form.rule = TileRule::paper;
    };
    field("##memory-Br", "r", shape.Br, &MemoryForm::Br);
    field("##memory-Bc", "c", shape.Bc, &MemoryForm::Bc);
}

void controls(const Canvas& c, MemoryForm& form, const Rect& a) {
    const Panel panel(c, "Sizes", a);
    const Choice d{"d", "##memory-d", {"32", "64", "128"}},
        type{"Precision", "##memory-type", {"fp32", "fp16", "fp8"}};
    const float gap = a.w < from::wide_page ? 14 : 26, y = a.middle();
    bool named = true;
    const auto width = [&] {
        return choice_width(d, true) + choice_width(type, named) + tile_fields_width + 3 * gap;
    };
    if (a.inner_w() - width() < 420) named = false;
    c.text(a.inner_x(), y, "N", size::symbol, c.theme->t1, Face::semibold_italic);
    tell_letter(c, a.inner_x(), y, "N: the words of the text, rows of Q, K and V");
    N_field(c, form, a.x + 38, y, 104);
    const float from = a.x + 38 + 104 + 34, to = a.inner_right() - width() - 16;
    N_slider(c, form, from, y, std::max(60.0f, to - from), to - from > 470);

    float x = a.inner_right() - width() + gap;
    int chosen = index_of(form.d, {32, 64, 128});
    tell_letter(c, x, y, "d: numbers in a row of Q, K and V");
    if (choose(c, d, x, y, true, chosen)) form.d = std::array{32, 64, 128}[static_cast<std::size_t>(chosen)];
    x += gap;
    chosen = index_of(form.element_bytes, {4, 2, 1});
    if (choose(c, type, x, y, named, chosen))
        form.element_bytes = std::array{4, 2, 1}[static_cast<std::size_t>(chosen)];
    x += gap;
    tile_fields(c, form, x, y);
}

}  // namespace

void memory_view(const Canvas& c, AppState& state, const Rect& a) {
    const Study s = study(memory_input(state.memory));
    constexpr float gap = space::margin;
    const PageFrame frame = page_frame_below(a, Foot::bar);
    const Rect& body = frame.body;
    const float rows = body.h - gap, top = std::floor(rows * .503f), w = body.w;
    const float left = std::floor(w * (a.w < from::wide_page ? .355f : .3933f)),
                wide = std::floor(w * (a.w < from::wide_page ? .615f : .6218f));
    const float x = body.x, y = body.y, y2 = y + top + gap;
    memory_hierarchy(c, state, s, {x, y, left, top});
    memory_table(c, state, s, {x + left + gap, y, w - left - gap, top});
    memory_traffic(c, state, s, {x, y2, wide, rows - top});
    memory_plots(c, state, s, {x + wide + gap, y2, w - wide - gap, rows - top});
    controls(c, state.memory, frame.foot);
}

}  // namespace tilewalk::ui
