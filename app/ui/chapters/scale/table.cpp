// The times as numbers, the reports that are shown, and what the chosen one comes to.
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/empty.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr float finding_size = 15, finding_lines = 2;

struct Columns {
    float name = 0, first = 0, pitch = 0, right = 0;
    std::vector<std::int64_t> lengths;
};

// The widest number of a column.
float widest(const ShownReport& shown) {
    float w = 0;
    for (const Record& r : shown.report.points) {
        w = std::max(w, text_width(Face::regular, size::small, format_count(r.workload.N_kv)));
        if (r.state == Record::State::measured)
            w = std::max(
                w, text_width(Face::mono_bold, size::small, cell_text(&r, unit_at(shown, r.workload.N_kv))));
    }
    return w;
}

// As many lengths as fit; where not all do, those round the chosen one.
Columns columns_of(const AppState& state, const ShownReport& shown, const Rect& a) {
    Columns k;
    float names = 0;
    for (const std::string& kernel : shown.kernels())
        names = std::max(names, text_width(Face::medium, size::body, kernel_words(kernel)));
    k.name = a.x + 42;
    k.first = k.name + names + 8;
    k.right = a.inner_right();
    const float room = k.right - text_width(Face::regular, size::small, "largest error") - 12 - k.first;
    k.lengths = shown.lengths();
    const auto most = static_cast<std::ptrdiff_t>(std::max(1.0f, room / (widest(shown) + 12)));
    if (std::ssize(k.lengths) > most) {
        const auto at = std::ranges::find(k.lengths, chosen_length(state));
        const auto from =
            std::clamp<std::ptrdiff_t>(at - k.lengths.begin() - most / 2, 0, std::ssize(k.lengths) - most);
        k.lengths = {k.lengths.begin() + from, k.lengths.begin() + from + most};
    }
    k.pitch = std::min(132.0f, room / px(std::max<std::size_t>(k.lengths.size(), 1)));
    return k;
}

void cell(const Canvas& c, AppState& state, const ShownReport& shown, const std::string& kernel,
          std::int64_t N, const Rect& a, bool fastest) {
    const Theme& t = *c.theme;
    const Record* record = shown.find(kernel, N);
    if (!record) return;
    const std::string id = "##cell " + kernel + " " + str(N);
    const Hot hot = hot_area(c, id, a.x, a.y, a.w, a.h, ItemKind::cell);
    const bool chosen = kernel == state.scale.kernel && N == chosen_length(state);
    if (hot.hovered || chosen)
        c.frame(a.x + 1, a.y + 1, a.w - 2, a.h - 2, chosen ? t.focus : t.t2, chosen ? 2.0f : 1.5f,
                radius::card);
    ScalePage& page = *state.bench;
    if (hot.hovered) page.hovered = number_of(page, *record), page.hovered_at = {a.x + a.w, a.y + a.h / 2};
    if (hot.clicked) choose_record(state, number_of(page, *record));
    std::string text = cell_text(record, unit_at(shown, N));
    const bool timed = record->state == Record::State::measured;
    const Face face = !timed ? Face::regular : fastest ? Face::mono_bold : Face::mono;
    if (!timed && text_width(face, size::small, text) > a.w - 8) text = "×";
    const ImU32 ink = record->state == Record::State::failed ? t.danger : timed ? t.t1 : t.t3;
    c.text(a.right() - 7, a.middle(), text, size::small, ink, face, Align::right);
}

void heads(const Canvas& c, const AppState& state, const Columns& k, float y, float bottom) {
    const Theme& t = *c.theme;
    for (std::size_t n = 0; n < k.lengths.size(); ++n) {
        const float x = k.first + k.pitch * px(n);
        const bool chosen = k.lengths[n] == chosen_length(state);
        if (chosen) c.rect(x, y - 11, k.pitch, bottom - y + 11, t.well, radius::card);
        c.text(x + k.pitch - 7, y, format_count(k.lengths[n]), size::small, chosen ? t.t1 : t.t3,
               chosen ? Face::medium : Face::regular, Align::right);
    }
    c.text(k.right, y, "largest error", size::small, t.t3, Align::right);
}

const std::string* fastest_at(const ShownReport& shown, const std::vector<std::string>& kernels,
                              std::int64_t N) {
    const std::string* best = nullptr;
    double least = INFINITY;
    for (const std::string& kernel : kernels)
        if (const Record* r = shown.find(kernel, N); r && r->median > 0 && r->median < least)
            least = r->median, best = &kernel;
    return best;
}

void rows(const Canvas& c, AppState& state, const ShownReport& shown, const Rect& a) {
    const Theme& t = *c.theme;
    const std::vector<std::string> kernels = shown.kernels();
    const Columns k = columns_of(state, shown, a);
    const float head = 24, pitch = std::min(32.0f, (a.h - head) / px(kernels.size()));
    const auto fit =
        std::min(kernels.size(), static_cast<std::size_t>((a.h - head) / std::max(17.0f, pitch)));
    heads(c, state, k, a.y + 11, a.y + head + pitch * px(fit));
    for (std::size_t n = 0; n < fit; ++n) {
        const std::string& kernel = kernels[n];
        const float y = a.y + head + pitch * px(n);
        const KernelLook look = kernel_look(t, state, kernel);
        paint_marker(c, look.marker, a.x + 26, y + pitch / 2, look.colour);
        c.text(k.name, y + pitch / 2, kernel_words(kernel), size::body, t.t1, Face::medium);
        for (std::size_t i = 0; i < k.lengths.size(); ++i) {
            const std::int64_t N = k.lengths[i];
            const std::string* fastest = fastest_at(shown, kernels, N);
            cell(c, state, shown, kernel, N, {k.first + k.pitch * px(i), y, k.pitch, pitch},
                 fastest && *fastest == kernel);
        }
        const double error = largest_error(shown, kernel);
        if (error > 0)
            c.text(k.right, y + pitch / 2, format_fixed(error, error < 9.95 ? 2 : 0) + " × rule", size::small,
                   error > 1 ? t.danger : t.t2, Align::right);
    }
}

// "recorded A: results.json"; of a file with several shapes, "recorded: 8 heads, 2 of K and V"
std::string tab_label(const ScalePage& page, const ShownReport& one) {
    if (!one.recorded) return one.name();
    const auto of_file = std::ranges::count_if(
        page.reports, [&](const ShownReport& other) { return other.report.source == one.report.source; });
    const Workload w = one.shape();
    const std::string heads =
        counted(w.heads, "head") + (w.kv_heads == w.heads ? "" : ", " + str(w.kv_heads) + " of K and V");
    return one.name() + ": " + (of_file > 1 ? heads : file_name(one.report.source));
}

// The reports as tabs; those of files can be closed.
void tabs(const Canvas& c, AppState& state, float x, float y, float right) {
    ScalePage& page = *state.bench;
    const auto count = px(page.reports.size());
    const float most = std::max(60.0f, (right - x) / std::max(count, 1.0f) - 6);
    std::optional<std::size_t> closed;
    for (std::size_t n = 0; n < page.reports.size(); ++n) {
        const ShownReport& one = page.reports[n];
        const std::string label = tab_label(page, one);
        const float cross = one.recorded ? 26 : 0, w = std::min(most, button_width(label) + cross);
        if (x + w > right + 1) break;
        const std::string origin = origin_text(one) + "; " + shape_text(one.shape());
        ButtonLook look{
            .active = &one == chosen_report(state), .size = size::small, .tooltip = origin.c_str()};
        const std::string id = "##report " + str(n);
        if (button(c, id, x, y - 14, w - cross, 28, label, look)) state.scale.report = static_cast<int>(n);
        const ButtonLook close{.quiet = true, .tooltip = "Close these results"};
        if (one.recorded &&
            icon_button(c, "##close report " + str(n), x + w - cross, y - 14, 26, 28, Icon::close, close))
            closed = n;
        x += w + 6;
    }
    if (closed) close_report(state, *closed);
}

}  // namespace

float scale_table_height(const AppState& state, float room) {
    const ShownReport* shown = chosen_report(state);
    const float rows_shown = shown ? px(std::max<std::size_t>(shown->kernels().size(), 1)) : 3;
    const float wanted = 44 + 24 + rows_shown * (room > 560 ? 32 : 24) + 12 + finding_lines * 22 + 12;
    return std::floor(std::min(wanted, room * .5f));
}

void scale_table(const Canvas& c, AppState& state, const Rect& a) {
    const Theme& t = *c.theme;
    const Panel panel(c, "Times", a);
    const float finding_y = a.bottom() - 10 - finding_lines * finding_size * 1.4f;
    float x = a.inner_x();
    x += c.text(x, a.title_y(), "Times", size::lead, t.t1, Face::semibold) + 14;
    const ShownReport* shown = chosen_report(state);
    if (!shown) {
        c.text_within(x, a.title_y(), a.inner_right() - x,
                      "median of the runs; each kernel is verified first", size::body, t.t3);
        empty_state(c, a,
                    {.words = "A run verifies every kernel against fp64, then times them in turns, the "
                              "shortest N first. Partial results stay when it is cancelled. Results of "
                              "other machines can be opened beside it."});
        return;
    }
    const std::string shape = shape_text(shown->shape());
    const float shape_w = std::min(text_width(Face::regular, size::small, shape), a.w * .34f);
    c.text_within(a.inner_right(), a.title_y(), shape_w + 1, shape, size::small, t.t3, Align::right);
    rows(c, state, *shown, {a.x, a.y + 44, a.w, finding_y - 8 - a.y - 44});
    c.line({a.inner_x(), finding_y - 5.5f}, {a.inner_right(), finding_y - 5.5f}, t.line);
    c.paragraph(a.inner_x(), finding_y, a.inner_w(), finding(shown->report), finding_size, t.t1, 2,
                Face::medium, size::lines);
    tabs(c, state, x, a.title_y(), a.inner_right() - shape_w - 12);  // last: it may close what is shown
}

}  // namespace tilewalk::ui
