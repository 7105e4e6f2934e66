// The full record of one point.
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Line {
    std::string name, value;
};

void times(std::vector<Line>& out, const Record& r) {
    out.push_back({"median", format_time(r.median) + " of " + counted(r.seconds.size(), "run")});
    out.push_back({"20 %, 80 %", format_time(r.p20) + ", " + format_time(r.p80)});
    if (r.first > 0) out.push_back({"first run", format_time(r.first) + ", with its memory"});
    if (r.flop_rate() > 0) out.push_back({"rate", format_number(r.flop_rate() / 1e9, 4) + " GFLOP/s"});
    const std::string peak = format_number(r.peak / 1e9, 4) + " GFLOP/s";
    if (const double share = r.of_peak(); share > 0)
        out.push_back({"of the peak", share_text(share) + " of " + peak});
}

// Where the yardstick ran beside it.
void of_the_yardstick(std::vector<Line>& out, const BenchReport& report, const Record& r) {
    const double share = of_reading(report, r);
    if (share <= 0) return;
    out.push_back({"K and V", format_number(r.kv_rate() / 1e9, 3) + " GB/s, " +
                                  format_number(100 * share, 3) + " % of reading them"});
}

void memory(std::vector<Line>& out, const Record& r) {
    const bool ran = r.state == Record::State::measured;
    std::string text = ran ? format_size(r.workspace_bytes) + " counted" : "";
    if (r.model_bytes > 0) text += (ran ? ", " : "") + format_size(r.model_bytes) + " by formula";
    if (!text.empty()) out.push_back({"extra memory", text});
    if (r.peak_rss_bytes > 0) out.push_back({"peak RSS", format_size(r.peak_rss_bytes) + ", whole process"});
}

void origin(std::vector<Line>& out, const ShownReport& shown, const Record& r) {
    const BenchReport& report = shown.report;
    std::string device = r.device == "cuda" ? report.machine.gpu : report.machine.cpu;
    if (r.device != "cuda" && report.machine.threads > 0)
        device += ", " + counted(report.machine.threads, "thread");
    if (r.device != "cuda" && !report.machine.instructions.empty())
        device += ", " + report.machine.instructions;
    out.push_back({"shape", shape_text(r.workload)});
    out.push_back({"device", device});
    std::string when = report.date;
    if (!report.build.commit.empty()) when += (when.empty() ? "commit " : ", commit ") + report.build.commit;
    if (!when.empty()) out.push_back({"made", when});
    if (shown.recorded) out.push_back({"recorded", report.source});
}

std::vector<Line> lines_of(const ShownReport& shown, const Record& r) {
    std::vector<Line> out;
    if (r.state == Record::State::measured) times(out, r), of_the_yardstick(out, shown.report, r);
    if (r.error_limit > 0)
        out.push_back({"error", format_number(r.max_error, 3) + ", " +
                                    format_number(r.max_error / r.error_limit, 2) + " of the limit"});
    memory(out, r);
    origin(out, shown, r);
    return out;
}

// Where the mark of a record stands in the plots.
const SceneMark* mark_of(const ScalePage& page, int number) {
    for (const ChartScene* scene : {&page.time.scene, &page.memory.scene})
        for (const SceneMark& mark : scene->marks)
            if (mark.record == number) return &mark;
    return nullptr;
}

void draw(const Canvas& main, const ShownReport& shown, const Record& r, Point at, float W, float H) {
    const std::vector<Line> lines = lines_of(shown, r);
    const std::string title =
        r.kernel + ", N = " + format_count(r.workload.N_kv) +
        (r.state == Record::State::measured ? "" : std::string(": ") + name_of(r.state));
    constexpr float step = 20, names = 104;
    float value = 0;
    for (const Line& line : lines)
        value = std::max(value, text_width(Face::regular, size::small, line.value));
    const float w =
        std::min(W - 24, std::max({names + value + 32, text_width(Face::semibold, size::lead, title) + 32,
                                   r.reason.empty() ? 0.0f : 360.0f}));
    const float reason = r.reason.empty() ? 0 : paragraph_height(w - 28, r.reason, size::small, 4) + 6;
    const float h = 40 + reason + step * px(lines.size()) + 10;
    float x = at.x + 18 + w < W - 8 ? at.x + 18 : at.x - 18 - w;
    x = std::clamp(x, 8.0f, std::max(8.0f, W - w - 8));
    const float y = std::clamp(at.y - h / 2, 8.0f, std::max(8.0f, H - h - 8));
    Canvas c = main;
    c.dl = ImGui::GetForegroundDrawList();
    const Theme& t = *c.theme;
    c.rect(x, y, w, h, t.raised, 8);
    c.frame(x + .5f, y + .5f, w - 1, h - 1, t.line2, 1, 8);
    c.text_within(x + 14, y + 22, w - 28, title, size::lead, t.t1, Face::semibold);
    if (reason > 0) c.paragraph(x + 14, y + 38, w - 28, r.reason, size::small, t.t1, 4);
    float Y = y + 40 + reason + step / 2;
    for (const Line& line : lines) {
        c.text(x + 14, Y, line.name, size::small, t.t2);
        c.text_within(x + 14 + names, Y, w - 28 - names, line.value, size::small, t.t1);
        Y += step;
    }
}

}  // namespace

void scale_card(const Canvas& c, AppState& state, float W, float H) {
    const ScalePage& page = scale_page(state);
    const ShownReport* shown = nullptr;
    if (page.hovered >= 0) {
        if (const Record* record = record_of(page, page.hovered, &shown))
            draw(c, *shown, *record, page.hovered_at, W, H);
        return;
    }
    shown = chosen_report(state);
    if (!state.scale.card || !shown || state.show_help) return;
    const Record* record = shown->find(state.scale.kernel, chosen_length(state));
    if (!record) return;
    const SceneMark* mark = mark_of(page, number_of(page, *record));
    draw(c, *shown, *record, mark ? Point{mark->x, mark->y} : Point{W / 2, H / 2}, W, H);
}

}  // namespace tilewalk::ui
