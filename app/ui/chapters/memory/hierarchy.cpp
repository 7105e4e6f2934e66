// The memories of the chosen GPU, the faster the smaller, and where its figures come from.
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Level {
    std::string name, size, rate, note, source;
    float width;  ///< of the widest box
    float pipe;   ///< width of the pipe below
};

std::string slower(double fast, double slow, const char* than) {
    return format_number(fast / slow, 2) + "× slower than " + than;
}

std::vector<Level> levels(const Hardware& h) {
    const double on_chip = h.sms.value * h.sram.value;
    const std::string sms =
        format_count(static_cast<std::int64_t>(h.sms.value)) + " SMs × " + format_large_size(h.sram.value);
    Level sram{"SRAM",
               format_large_size(on_chip),
               sms,
               "shared and L1, all SMs",
               h.sms.source + "; " + h.sram.source,
               .50f,
               74};
    if (h.on_chip.given()) {
        sram.rate = rate_text(h.on_chip.value);
        sram.note = sms;
        sram.source += "; " + h.on_chip.source;
    }
    Level hbm{memory_name(h),
              format_large_size(h.capacity.value),
              rate_text(h.bandwidth.value),
              h.memory,
              h.capacity.source + "; " + h.bandwidth.source,
              .76f,
              30};
    if (h.on_chip.given()) hbm.note = slower(h.on_chip.value, h.bandwidth.value, "SRAM");
    std::vector<Level> out{sram, hbm};
    if (h.host.given())
        out.push_back({"Host DRAM", "over 1 TB", rate_text(h.host.value),
                       slower(h.bandwidth.value, h.host.value, "HBM"), h.host.source, 1, 0});
    return out;
}

// Short names of the sources; the tooltips have the full ones.
std::string shortened(std::string source) {
    for (const char* const what :
         {"NVIDIA ", " Tensor Core GPU", " Architecture", " C++", " (nvidia-smi, memory.total)",
          ", technical specifications per compute capability"})
        source = replaced(std::move(source), what, "");
    return replaced(source.substr(0, source.find(" (arXiv")), "Programming Guide", "guide");
}

// Each source once, in the order of the figures.
std::string sources(const Hardware& h, int element_bytes, bool full) {
    const Figure& peak = element_bytes == 4 ? h.fp32 : element_bytes == 1 && h.fp8.given() ? h.fp8 : h.fp16;
    std::vector<std::string> seen;
    bool half = false;
    for (const Figure* f :
         {&h.capacity, &h.bandwidth, &peak, &h.sms, &h.sram, &h.on_chip, &h.host, &h.shared}) {
        std::string source = full ? f->source : shortened(f->source);
        const std::size_t note = full ? std::string::npos : source.find(": half");
        half |= note != std::string::npos;
        source = source.substr(0, note);
        if (f->given() && std::ranges::find(seen, source) == seen.end()) seen.push_back(source);
    }
    return "Figures: " + joined(seen, "; ") + (half ? "; FLOP/s are half of those with sparsity." : ".");
}

bool mouse_over(const Canvas& c, const Rect& a) { return a.contains(c.mouse()) && ImGui::IsWindowHovered(); }

// What lies where: a tile of S on chip, as it is computed, all of S in HBM, as it is stored.
void residents(const Canvas& c, const Study& s, float x, float y_sram, float y_hbm, float h, float to_sram,
               float to_hbm) {
    const Theme& t = *c.theme;
    const ImU32 colour = hue(t, Role::S), full = mix(t.panel, colour, .42f), pale = mix(t.panel, colour, .2f);
    const double tile = 4.0 * static_cast<double>(std::min(s.shape.Br, s.shape.N)) *
                        static_cast<double>(std::min(s.shape.Bc, s.shape.N));
    const auto box = [&](float y, ImU32 fill, const char* what, double bytes, int element_bytes) {
        c.rect(x, y, 112, h, fill, 7);
        c.frame(x + .5f, y + .5f, 111, h - 1, colour, 1.6f, 7);
        const Line line{word(what), symbol("S", Role::none)};
        c.rich(x + 56, y + h / 2 - 10, line, size::body, Align::center, ink_on(t, fill));
        c.text(x + 56, y + h / 2 + 9, format_large_size(bytes) + ", " + format_name(element_bytes),
               size::small, ink_on(t, fill), Face::medium, Align::center);
    };
    box(y_sram, full, "tile of ", tile, 4);
    box(y_hbm, pale, "all of ",
        static_cast<double>(s.shape.N) * static_cast<double>(s.shape.N) * s.shape.element_bytes,
        s.shape.element_bytes);
    c.arrow({{x + 116, y_sram + h / 2}, {to_sram - 3, y_sram + h / 2}}, ArrowStyle::active, colour);
    c.arrow({{x + 116, y_hbm + h / 2}, {to_hbm - 3, y_hbm + h / 2}}, ArrowStyle::active, colour);
}

void choose_hardware(const Canvas& c, MemoryForm& form, const Rect& a) {
    const float w = 176;
    const auto list = hardware_list();
    const int own = static_cast<int>(list.size());
    const char* const own_name = "Your own numbers";
    const std::string label =
        form.hardware < own ? list[static_cast<std::size_t>(form.hardware)].name : own_name;
    const Dropdown choice(c, "##hardware",
                          {a.right() - space::control_edge - w, a.y + space::control_top, w, space::control},
                          label);
    if (!choice) return;
    for (int n = 0; n < own; ++n) {
        const Hardware& h = list[static_cast<std::size_t>(n)];
        if (dropdown_item(c, h.id, h.name, n == form.hardware, rate_text(h.bandwidth.value)))
            form.hardware = n;
    }
    if (dropdown_item(c, "own", own_name, form.hardware == own)) form.hardware = own;
}

// Of the user's own hardware.
void own_hardware_fields(const Canvas& c, AppState& state, const Rect& a) {
    OwnHardware& own = state.memory.own;
    const std::string peak = std::string("Peak of ") + format_name(state.memory.element_bytes);
    struct Row {
        std::string label;
        const char *id, *unit;
        char* text;
    };
    const Row rows[] = {{"Capacity", "##own-capacity", "GiB", own.capacity},
                        {"HBM bandwidth", "##own-bandwidth", "GB/s", own.bandwidth},
                        {"SMs", "##own-sms", "", own.sms},
                        {"Shared memory / SM", "##own-shared", "KiB", own.shared},
                        {peak, "##own-peak", "TFLOP/s", own.peak}};
    const float pitch = std::min(44.0f, a.h / 5), h = std::min(32.0f, pitch - 4),
                x = a.x + std::min(200.0f, a.w * .47f);
    for (std::size_t n = 0; n < std::size(rows); ++n) {
        const float y = a.y + (px(n) + .5f) * pitch;
        c.text_within(a.x, y, x - a.x - 8, rows[n].label, size::body, c.theme->t2);
        FieldLook look{.face = Face::mono, .size = size::lead};
        look.invalid = !readable(rows[n].text);
        text_field(c, rows[n].id, x, y - h / 2, 110, h, rows[n].text, sizeof own.peak, look);
        c.text(x + 120, y, rows[n].unit, size::body, c.theme->t3);
    }
}

}  // namespace

void memory_levels(const Canvas& c, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    std::vector<Level> all = levels(s.input.hardware);
    const bool wide = a.w > 440;
    if (a.h < 175 && all.size() > 2) all.pop_back();
    const float n = px(all.size()), pipe = a.h / n < 78 ? 24.0f : 36.0f,
                h = std::min(72.0f, (a.h - (n - 1) * pipe) / n);
    const float most = wide ? std::clamp(a.w - 296, 150.0f, 290.0f) : 150.0f,
                middle = wide ? a.x + 124 + most / 2 : a.x + most / 2,
                text_x = middle + most / 2 + (wide ? 22 : 14), room = a.right() - text_x;
    const float top = a.y + (a.h - n * h - (n - 1) * pipe) / 2;
    const auto y_of = [&](std::size_t k) { return top + px(k) * (h + pipe); };
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Level& level = all[k];
        const float w = most * level.width * (k == 0 && !wide ? 1.4f : 1.0f), y = y_of(k), x = middle - w / 2;
        if (k + 1 < all.size()) {
            c.rect(middle - level.pipe / 2, y + h, level.pipe, pipe,
                   mix(t.panel, t.t2, k == 0 ? .42f : .30f));
            c.head({middle, y + h + 3}, {0, -1}, t.t1, 9);
            c.head({middle, y + h + pipe - 3}, {0, 1}, t.t1, 9);
        }
        c.rect(x, y, w, h, k < 2 ? t.raised : t.well, 9);
        c.frame(x + .5f, y + .5f, w - 1, h - 1, k < 2 ? t.line2 : t.line, 1.2f, 9);
        c.text(middle, y + h / 2 - 10, level.name, size::formula, t.t1, Face::semibold, Align::center);
        c.text(middle, y + h / 2 + 12, level.size, size::body, t.t2, Face::medium, Align::center);
        c.text_within(text_x, y + h / 2 - 11, room, level.rate, size::formula, t.t1, Face::semibold);
        c.text_within(text_x, y + h / 2 + 11, room, level.note, size::small, t.t3);
        if (mouse_over(c, {text_x, y, room, h}) || mouse_over(c, {x, y, w, h})) tooltip(c, level.source);
    }
    if (wide)
        residents(c, s, a.x, y_of(0) + 4, y_of(1) + 4, h - 8, middle - most * all[0].width / 2,
                  middle - most * all[1].width / 2);
}

void memory_hierarchy(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    const Panel panel(c, "Hierarchy", a, "Memory hierarchy", a.w > 500 ? "the faster, the smaller" : "");
    choose_hardware(c, state.memory, a);
    // A second line for the sources where one would cut them.
    const float wanted =
        paragraph_height(a.inner_w(), sources(s.input.hardware, s.input.element_bytes, false), size::small);
    const float notes = a.h > 320 || (a.h > 220 && wanted > 1.6f * size::small) ? 2 : 1;
    const Rect body{a.inner_x(), a.y + 52, a.inner_w(), a.h - 52 - 16 - 19 * notes - 8};
    const bool own = state.memory.hardware >= static_cast<int>(hardware_list().size());
    if (own)
        own_hardware_fields(c, state, body);
    else
        memory_levels(c, s, body);
    const auto text = [&](bool full) {
        return own ? "The other figures are those of the A100."
                   : sources(s.input.hardware, s.input.element_bytes, full);
    };
    const float y = a.bottom() - 12 - 19 * notes;
    c.paragraph(a.inner_x(), y, a.inner_w(), text(false), size::small, c.theme->t3, static_cast<int>(notes));
    if (mouse_over(c, {a.inner_x(), y, a.inner_w(), 19 * notes})) tooltip(c, text(true));
}

}  // namespace tilewalk::ui
