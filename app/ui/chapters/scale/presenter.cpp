// The page for the back row: time and extra memory of every kernel at one length as bars to scale, then the
// time, then the memory over all lengths, and what it comes to. Nothing under 27 px on a page of 1280 × 720.
// The arrow keys go from one to the next.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/scale/scale.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

namespace tilewalk::ui {

namespace {

std::string subject(const ShownReport& shown) {
    const std::string what = shape_text(shown.shape());
    return shown.recorded ? what + ", " + shown.name() : what;
}

// "CPU: AMD EPYC, 2 threads"; empty where the report does not say.
std::string ran_on(const ShownReport& shown) {
    const std::string machine = machine_text(shown.report);
    const bool gpu = !shown.report.points.empty() && shown.report.points.front().device == "cuda";
    return machine.empty() ? "" : (gpu ? "GPU: " : "CPU: ") + machine;
}

// One column of bars, linear and from zero, so that lengths can be compared by eye.
struct BarColumn {
    const char* note;  ///< the part of the page that a tour points at
    std::string title;
    float x, w;
    double (*value)(const Record&);
    std::function<std::string(double)> text;
    std::string (*beside)(const ShownReport&, const Record&);  ///< behind the number
};

double time_of(const Record& r) { return r.state == Record::State::measured ? r.median : 0; }
double memory_of(const Record& r) {
    if (r.ring && r.state == Record::State::measured) return static_cast<double>(r.ring->most_memory());
    return static_cast<double>(r.workspace_bytes > 0 ? r.workspace_bytes : r.model_bytes);
}

// What stands behind a bar of time: how many times as fast, or why there is none.
std::string beside_time(const ShownReport& shown, const Record& r) {
    if (time_of(r) <= 0) return r.state == Record::State::no_memory ? "does not fit" : name_of(r.state);
    const double times = times_as_fast(shown, r.kernel, r.workload.N_kv);
    return is_standard(r.kernel) || times == 0 ? "" : format_number(times, 2) + "× as fast";
}

// Between a bar, its number and what stands behind that.
constexpr float to_number = 16, to_beside = 14;

// The length of a value of 1, so that every bar and what stands behind it ends within the column.
double length_of_one(const BarColumn& column, const std::vector<const Record*>& rows,
                     const ShownReport& shown) {
    double out = std::numeric_limits<double>::infinity();
    for (const Record* const r : rows) {
        const double value = column.value(*r);
        if (!(value > 0)) continue;
        const std::string beside = column.beside(shown, *r);
        float taken = to_number + text_width(Face::semibold, size::far_number, column.text(value));
        if (!beside.empty()) taken += to_beside + text_width(Face::regular, size::far_number, beside);
        out = std::min(out, static_cast<double>(std::max(column.w - taken, 3.0f)) / value);
    }
    return out;
}

void bar(const Canvas& c, const AppState& state, const BarColumn& column, const Record& r, double one,
         float y, float h, const std::string& beside) {
    const Theme& t = *c.theme;
    const double value = column.value(r);
    const float w = value > 0 ? static_cast<float>(one * value) : 0;
    const ImU32 colour = kernel_look(t, state, r.kernel).colour;
    if (value > 0) c.rect(column.x, y - h / 2, std::max(w, 3.0f), h, colour, radius::cell);
    if (value > 0 && r.state == Record::State::no_memory)
        c.crossed(column.x, y - h / 2, std::max(w, 3.0f), h, t.bg, 16, 3);
    float x = column.x + std::max(w, 3.0f) + to_number;
    if (value > 0) x += c.text(x, y, column.text(value), size::far_number, t.t1, Face::semibold) + to_beside;
    c.text(x, y, beside, size::far_number, t.t2);
}

// Time and extra memory at one length side by side: where the time is near, the memory is not.
void bars_at_one_length(const Canvas& c, const AppState& state, const ShownReport& shown,
                        const std::string& time_title, const Rect& a) {
    const Theme& t = *c.theme;
    const std::int64_t N = chosen_length(state);
    std::vector<const Record*> rows;
    for (const std::string& kernel : shown.kernels())
        if (const Record* const r = shown.find(kernel, N)) rows.push_back(r);
    float names = 0;
    for (const Record* const r : rows)
        names = std::max(names, text_width(Face::semibold, size::far_number, kernel_words(r->kernel)));
    const float gap = 28, half = (a.w - names - 2 * gap) / 2, first = a.x + names + gap;
    const TimeUnit unit = unit_at(shown, N);
    const std::array<BarColumn, 2> columns = {
        {{"Time", time_title, first, half, time_of, [unit](double s) { return time_text(s, unit); },
          beside_time},
         {"Memory", has_ring(&shown) ? "Memory of a rank" : "Extra memory", first + half + gap, half,
          memory_of, [](double bytes) { return format_size(static_cast<std::int64_t>(bytes)); },
          [](const ShownReport&, const Record&) { return std::string(); }}}};
    const float head = 64, most_rows = std::max(0.0f, std::floor((a.h - head) / 38));
    if (px(rows.size()) > most_rows) rows.resize(static_cast<std::size_t>(most_rows));
    const float pitch = std::min((a.h - head) / px(std::max<std::size_t>(rows.size(), 1)), 132.0f),
                h = std::min(80.0f, pitch - 12);
    const auto y_of = [&](std::size_t n) { return a.y + head + (px(n) + .5f) * pitch; };
    for (std::size_t n = 0; n < rows.size(); ++n)
        c.text(first - gap, y_of(n), kernel_words(rows[n]->kernel), size::far_number, t.t1, Face::semibold,
               Align::right);
    for (const BarColumn& column : columns) {
        c.text_within(column.x, a.y + 24, column.w, column.title, size::far_text, t.t2, Face::medium);
        // The names of the kernels stand before the first column and belong to it.
        const float left = &column == &columns.front() ? a.x : column.x + 2;
        note_part(c, {left, a.y, column.x + column.w - left - 2, head + px(rows.size()) * pitch},
                  column.note);
        const double one = length_of_one(column, rows, shown);
        for (std::size_t n = 0; n < rows.size(); ++n)
            bar(c, state, column, *rows[n], one, y_of(n), h, column.beside(shown, *rows[n]));
    }
}

// From zero: on a logarithmic axis the lines of kernels lie nearly on each other.
Chart far_time_chart(const Theme& t, AppState& state) {
    bool& linear = state.scale.linear[static_cast<std::size_t>(state.scale.measure)];
    const bool kept = std::exchange(linear, true);
    Chart chart = time_chart(t, state);
    linear = kept;
    return chart;
}

void plot(const Canvas& c, const AppState& state, Chart chart, const Rect& a) {
    chart.title = chart.subtitle = "";
    const ChartLook look{
        .text = size::far, .label = size::far_number, .marker = 9, .line = 2, .panel = false};
    note_part(c, a, state.scale.slide == ScaleSlide::memory ? "Memory" : "Time");
    paint(c, lay_out(chart, a, look, *c.theme));
}

}  // namespace

ScaleSlide slide_beside(ScaleSlide slide, int by) {
    return static_cast<ScaleSlide>(
        std::clamp(static_cast<int>(slide) + by, 0, static_cast<int>(ScaleSlide::count) - 1));
}

void scale_presenter(const Canvas& canvas, AppState& state, float W, float H) {
    scale_engine(state);
    PresenterPage page(canvas, state, W, H, "At scale", 220);
    const ScaleSlide slide = state.scale.slide;
    page.back = slide == ScaleSlide::memory ? "Time over all lengths (←)" : "At one length (←)";
    page.forward =
        slide == ScaleSlide::one_length ? "Time over all lengths (→)" : "Memory over all lengths (→)";
    page.move = [&](int by) { state.scale.slide = slide_beside(state.scale.slide, by); };
    const Canvas& c = page.c;
    const ShownReport* shown = chosen_report(state);
    const float x = space::far_side, w = W - 2 * x;
    const bool bars = shown && slide == ScaleSlide::one_length;
    const bool brief = H < from::presenter_page;  // the card of a tour has the rest
    const std::string on = shown && brief ? ran_on(*shown) : "";
    if (shown)
        page.subject(on.empty() ? subject(*shown) : on + (shown->recorded ? ", " + shown->name() : ""), 300);
    const float top = brief ? 72 : 136;
    const Rect area{x, top, w, H - top - (brief ? 12 : 132)};
    const Chart chart =
        slide == ScaleSlide::memory ? memory_chart(*c.theme, state) : far_time_chart(*c.theme, state);
    if (bars)
        bars_at_one_length(c, state, *shown,
                           chart.title + (brief ? ", N = " + format_count(chosen_length(state)) : ""), area);
    else
        plot(c, state, chart, area);
    if (brief) return;
    // What it was measured on
    const float title_w = c.text(x, 104, bars ? "At N = " + format_count(chosen_length(state)) : chart.title,
                                 size::far_lead, c.theme->t1, Face::semibold);
    if (shown)
        c.text_within(x + w, 106, w - title_w - 40, ran_on(*shown), size::far, c.theme->t2, Align::right);
    const std::string found = finding(shown ? shown->report : BenchReport{});
    const bool fits = paragraph_height(w, found, size::far_text, 0, Face::regular, size::lines) <=
                      2.1f * size::far_text * size::lines;
    c.paragraph(x, H - 116, w, found, fits ? size::far_text : size::far, c.theme->t1, 2, Face::regular,
                size::lines);
}

}  // namespace tilewalk::ui
