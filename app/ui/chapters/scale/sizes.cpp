// What the next run measures: direction, sizes, lengths, threads.
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/items.h"

#include <algorithm>
#include <thread>

namespace tilewalk::ui {

namespace {

constexpr int most_d = 256, most_heads = 256, most_queries = 16;

int cores(const AppState& state) {
    if (state.bench && state.bench->devices && state.bench->devices->machine.cores > 0)
        return state.bench->devices->machine.cores;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// One line of the form: a name, and room for what it names.
struct Form {
    const Canvas& c;
    float x, y, right, pitch, label;

    void name(const char* words) const { c.text_within(x, y, label - 8, words, size::body, c.theme->t2); }
    float field() const { return x + label; }
    float room() const { return right - field(); }
};

const std::vector<std::string>& directions() {
    static const std::vector<std::string> all = {"forward", "backward", "decode"};
    return all;
}

void choose_direction(ScaleForm& form, int n) { form.decode = n == 2, form.backward = n == 1; }

// Side by side, with the mask beside them; as a list where there is no room for that
void direction_line(const Form& f, ScaleForm& form) {
    constexpr float list_w = 118, mask_w = 80;
    int chosen = form.decode ? 2 : form.backward ? 1 : 0;
    float x = f.x + segmented_width(directions()) + 14;
    const float y = f.y - space::control / 2;
    if (f.right - x > mask_w) {
        if (segmented(f.c, "##scale-direction", f.x, y, directions(), chosen)) choose_direction(form, chosen);
    } else {
        x = f.x + list_w + 14;
        const std::string& label = directions()[static_cast<std::size_t>(chosen)];
        if (const Dropdown list{f.c, "##scale-direction", {f.x, y, list_w, space::control}, label})
            for (std::size_t n = 0; n < directions().size(); ++n)
                if (dropdown_item(f.c, directions()[n], directions()[n], chosen == int(n)))
                    choose_direction(form, static_cast<int>(n));
    }
    checkbox(f.c, "##scale-causal", x, f.y, "causal", form.causal);
}

void d_line(const Form& f, ScaleForm& form) {
    f.name("d");
    int chosen = form.d == 64 ? 0 : form.d == 128 ? 1 : -1;
    if (segmented(f.c, "##scale-d", f.field(), f.y - space::control / 2, {"64", "128"}, chosen))
        form.d = chosen == 0 ? 64 : 128;
    const float x = f.field() + segmented_width({"64", "128"}) + 8;
    stepper(f.c, "##scale-own-d", x, f.y - space::control / 2, std::min(f.right - x, 120.0f), form.d, 1,
            most_d);
}

void device_line(const Form& f, ScaleForm& form) {
    f.name("device");
    int gpu = form.gpu ? 1 : 0;
    if (segmented(f.c, "##scale-device", f.field(), f.y - space::control / 2, {"CPU", "GPU"}, gpu))
        form.gpu = gpu == 1;
}

void heads_line(const Form& f, ScaleForm& form, float w) {
    f.name("heads");
    stepper(f.c, "##scale-heads", f.field(), f.y - space::control / 2, w, form.heads, 1, most_heads);
}

// Steps go from one divisor of the heads to the next.
void kv_heads_line(const Form& f, ScaleForm& form, float w) {
    f.name("of K, V");
    const int before = kv_heads_of(form);
    int n = before;
    if (!stepper(f.c, "##scale-kv-heads", f.field(), f.y - space::control / 2, w, n, 1, form.heads)) return;
    while (n > before && form.heads % n != 0) ++n;
    form.kv_heads = n == form.heads ? 0 : n;
}

void queries_line(const Form& f, ScaleForm& form, float w) {
    f.name("queries");
    stepper(f.c, "##scale-queries", f.field(), f.y - space::control / 2, w, form.queries, 1, most_queries);
}

void threads_line(const Form& f, ScaleForm& form, int most, float w) {
    f.name("threads");
    int n = form.threads == 0 ? most : form.threads;
    if (stepper(f.c, "##scale-threads", f.field(), f.y - space::control / 2, w, n, 1, most))
        form.threads = n == most ? 0 : n;
}

// Those that the kernels take, and that of results which were opened; why there are no more stands beside
// them.
void type_line(const Form& f, ScaleForm& form, const ScaleTypes& types) {
    f.name("type");
    std::vector<DType> offered = types.taken;
    if (std::ranges::find(offered, form.type()) == offered.end()) offered.push_back(form.type());
    std::vector<std::string> names;
    for (const DType type : offered) names.emplace_back(name_of(type));
    auto chosen = static_cast<int>(std::ranges::find(offered, form.type()) - offered.begin());
    if (segmented(f.c, "##scale-type", f.field(), f.y - space::control / 2, names, chosen))
        form.type() = offered[static_cast<std::size_t>(chosen)];
    if (types.why_no_more.empty()) return;
    const float x = f.field() + segmented_width(names) + 10, w = f.right - x,
                h = paragraph_height(w, types.why_no_more, size::small, 2);
    f.c.paragraph(x, f.y - h / 2, w, types.why_no_more, size::small, f.c.theme->t3, 2);
}

// Two numbers in one line: how wide they are, and where each stands.
struct Halves {
    float w;
    Form first, second;
};
Halves halves(const Form& f) {
    const auto label = [](const char* words) { return text_width(Face::regular, size::body, words) + 8; };
    Halves two{0, f, f};
    two.first.label = label("of K, V"), two.second.label = label("threads");
    two.w = std::min((f.right - f.x - two.first.label - two.second.label - 6) / 2, 116.0f);
    two.second.x = two.first.field() + two.w + 6;
    return two;
}

void lengths_line(const Form& f, ScaleForm& form) {
    const auto own = static_cast<int>(length_presets.size());
    const bool typed = form.preset >= own;
    const std::vector<std::int64_t> all = chosen_lengths(form);
    const std::string label = typed ? "own list" : "to " + str(all.back());
    // The user's own list needs the room of the name.
    const float x = typed && f.room() < 240 ? f.x : f.field(), w = typed ? 98 : std::min(f.room(), 160.0f);
    if (x > f.x) f.name("N");
    if (const Dropdown list{
            f.c, "##scale-lengths", {x, f.y - space::control / 2, w, space::control}, label}) {
        for (int n = 0; n < own; ++n) {
            if (!form.decode && length_presets[static_cast<std::size_t>(n)].last > longest_square) continue;
            const std::string last = length_presets[static_cast<std::size_t>(n)].name;
            if (dropdown_item(f.c, last, "512 " + last, form.preset == n)) form.preset = n;
        }
        if (dropdown_item(f.c, "own list", "own list", typed)) form.preset = own;
    }
    if (!typed) return;
    FieldLook look{.hint = "512, 1024, …", .size = size::body};
    look.invalid = chosen_lengths(form).empty();
    text_field(f.c, "##scale-own-lengths", x + w + 6, f.y - space::control / 2, f.right - x - w - 6,
               space::control, form.lengths, sizeof form.lengths, look);
}

}  // namespace

void scale_sizes(const Canvas& c, AppState& state, const Rect& a) {
    ScaleForm& form = state.scale;
    const bool with_gpu = state.bench && state.bench->devices && !state.bench->devices->gpu.empty();
    const Panel panel(c, "Sizes", a, "What to run", "batch 1");
    const float lines = with_gpu ? 7 : 6, pitch = (a.h - 48) / lines;
    Form f{c, a.inner_x(), a.y + 40 + pitch / 2, a.inner_right(), pitch, a.w > 330 ? 68.0f : 52.0f};
    if (with_gpu) {
        device_line(f, form);
        f.y += pitch;
    }
    direction_line(f, form);
    f.y += pitch;
    type_line(f, form, scale_types(state));
    f.y += pitch;
    d_line(f, form);
    f.y += pitch;
    heads_line(halves(f).first, form, halves(f).w);
    if (!form.gpu) threads_line(halves(f).second, form, cores(state), halves(f).w);
    f.y += pitch;
    kv_heads_line(halves(f).first, form, halves(f).w);
    if (form.decode) queries_line(halves(f).second, form, halves(f).w);
    f.y += pitch;
    lengths_line(f, form);
}

}  // namespace tilewalk::ui
