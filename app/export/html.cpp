// A page of a walk that needs nothing but itself: assets/export is its frame, filled in here.
#include "app/export/export_formats.h"

#include "app/export/page_parts.h"
#include "app/export/parts.h"
#include "app/export/picture.h"
#include "app/ui/kit/svg_parts.h"
#include "app/ui/kit/theme.h"
#include "app/ui/parts/pseudocode.h"
#include "app/ui/state/app_state.h"
#include "core/base/numbers.h"
#include "core/base/version.h"

#include <cmath>
#include <cstdio>
#include <ostream>

namespace tilewalk {
namespace {

constexpr int most_steps = 600;
constexpr std::int64_t most_numbers = 40'000;

using page::asset;
using page::escaped;

// ---- Formulas

std::string role_class(Role role) { return "r" + str(static_cast<int>(role)); }

std::string html(const Span& span) {
    std::string text = escaped(span.text);
    if (span.face == Span::Face::number) {
        text = "<span class=\"number " + role_class(span.role) + "\">" + text + "</span>";
        return span.strong ? "<b>" + text + "</b>" : text;
    }
    // Typefaces place a combining tilde badly; the page draws its own, and what is read or copied has this
    // one.
    if (span.tilde) text += "<span class=\"unseen\">\u0303</span>";
    const std::string hue = span.role == Role::none && !span.tilde
                                ? ""
                                : " class=\"" + role_class(span.role) + (span.tilde ? " over" : "") + "\"";
    if (span.script == Span::Script::sub) return "<sub" + hue + ">" + text + "</sub>";
    if (span.script == Span::Script::super) return "<sup" + hue + ">" + text + "</sup>";
    return span.face == Span::Face::symbol ? "<i" + hue + ">" + text + "</i>" : text;
}

std::string html(const Line& line) {
    std::string out;
    for (const Span& span : line) out += html(span);
    return out;
}

void put_formula(std::ostream& out, const Explanation& e) {
    const auto row = [&](const char* name, const char* kind, const Line& line) {
        if (!line.empty())
            out << "<dt>" << name << "</dt><dd class=\"" << kind << "\">" << html(line) << "</dd>\n";
    };
    out << "<dl class=\"formula\">\n";
    row("Symbols", "symbols", e.formula);
    row("Numbers", "numbers", e.numbers);
    row("Result", "result", e.result);
    for (const Aside& aside : e.asides) {
        out << "<dt>Also</dt><dd>" << escaped(aside.label) << "</dd>\n";
        row("", "", aside.formula);
        row("", "", aside.numbers);
        row("", "", aside.result);
    }
    out << "</dl>\n";
}

// ---- Matrices

std::string full_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

// `shade`: the place on the colour ramp, 0 … 1.
void put_cell(std::ostream& out, double value, const MatrixDigits& all, float shade) {
    const std::string full = full_number(value), shown = all.text(value);
    out << "<td data-value=\"" << full << '"';
    if (full != shown) out << " title=\"" << full << '"';
    if (std::isnan(value) || value == std::numeric_limits<double>::infinity()) out << " class=\"lost\"";
    if (const long v = std::lround(100 * std::abs(shade)); v > 0)
        out << " style=\"--v:" << (v < 10 ? ".0" : v < 100 ? "." : "") << (v < 100 ? v : 1) << '"';
    out << '>' << shown << "</td>";
}

// Rows and columns are numbered as in the whole matrix.
void put_table(std::ostream& out, const Value& value, const ui::SlotLook& look) {
    const Region& at = value.region;
    out << "<div class=\"scroll\"><table class=\"grid\"><thead><tr><th></th>";
    for (int c = 0; c < at.cols; ++c) out << "<th scope=\"col\">" << at.col + c << "</th>";
    out << "</tr></thead><tbody>\n";
    for (int r = 0; r < at.rows; ++r) {
        out << "<tr><th scope=\"row\">" << at.row + r << "</th>";
        for (int c = 0; c < at.cols; ++c)
            put_cell(out, value.data(r, c), look.digits, look.place(value.data(r, c)));
        out << "</tr>\n";
    }
    out << "</tbody></table></div>\n";
}

// `made`: the step that made the value, 0 if it was given.
void put_figure(std::ostream& out, const char* kind, Slot slot, const Value& value, int made,
                const std::string& caption, const ui::TraceLook& look) {
    const Region& at = value.region;
    const int role = static_cast<int>(info(slot).role);
    out << "<figure class=\"" << kind << "\" style=\"--hue:var(--" << (role == 0 ? "t2" : "r" + str(role))
        << ")\" data-slot=\"" << info(slot).name << "\" data-row=\"" << at.row << "\" data-col=\"" << at.col
        << "\" data-made=\"" << made << "\"><figcaption>" << caption << at.rows << " × " << at.cols
        << "</small></figcaption>\n";
    put_table(out, value, look[slot]);
    out << "</figure>\n";
}

void put_matrix(std::ostream& out, const StepMatrix& matrix, const ui::TraceLook& look) {
    const std::string caption = (matrix.written ? "<b>writes</b> " : "reads ") + html(matrix.symbol) +
                                " <small>" + matrix.note + (matrix.note.empty() ? "" : ", ");
    put_figure(out, matrix.written ? "written" : "read", matrix.slot, *matrix.value, matrix.made, caption,
               look);
}

void put_whole(std::ostream& out, const std::vector<WholeMatrix>& matrices, const ui::TraceLook& look) {
    out << "<div class=\"matrices\">\n";
    for (const auto& [slot, value] : matrices)
        put_figure(out, "given", slot, value, 0,
                   html(slot_symbol(slot)) + " <small>" + info(slot).what + ", ", look);
    out << "</div>\n";
}

// ---- The page

std::string step_name(const Explanation& e) { return escaped(e.title + ", " + e.place); }

void put_list(std::ostream& out, const Trace& trace) {
    std::string heading;
    for (int k = 0; k < trace.size(); ++k) {
        const Explanation e = explain(trace, k);
        if (const std::string lane = lane_at(trace, k); !lane.empty()) {
            out << (k > 0 ? "</ol>\n" : "") << "<h2>" << escaped(lane) << "</h2>\n<ol>\n";
            heading = lane;
        }
        // "Query block 0" above the list says what "query block 0" beside a step would.
        const bool repeated = lower_case(heading) == lower_case(e.place);
        out << "<li><a href=\"#step-" << k + 1 << "\"><span>" << k + 1 << "</span>" << escaped(e.title)
            << "<i>" << (repeated ? "" : escaped(e.place)) << "</i></a></li>\n";
    }
    out << "</ol>\n";
}

void put_about(std::ostream& out, const Trace& trace, const ui::TraceLook& look) {
    const Problem& problem = trace.problem();
    out << "<div>\n<p>" << escaped(trace.lesson().summary) << "</p>\n";
    if (trace.tells_what_to_watch()) out << "<p><b>Watch:</b> " << escaped(problem.watch) << "</p>\n";
    out << "<dl class=\"legend\">\n";
    for (const auto& row : legend(trace))
        out << "<dt>" << escaped(row[0]) << "</dt><dd>" << escaped(row[1]) << "</dd>\n";
    out << "</dl>\n";
    put_whole(out, given_matrices(trace), look);
    out << "</div>\n";
}

void put_code(std::ostream& out, const Trace& trace, int current) {
    out << "<ol class=\"code\">\n";
    for (const ui::ShownCode& line : ui::shown_code(trace.lesson(), trace.problem())) {
        out << "<li";
        if (line.indent > 0) out << " style=\"--in:" << line.indent << '"';
        if (line.line == current) out << " aria-current=\"step\"";
        out << "><code>" << escaped(line.text) << "</code></li>\n";
    }
    out << "</ol>\n";
}

void put_rows(std::ostream& out, const Trace& trace, int k) {
    const Block rows = number_lines(trace, k);
    if (rows.size() < 2) return;
    out << "<details class=\"rows\"><summary>Row by row</summary><pre>";
    for (const std::string& row : rows) out << ui::svg::escaped(row) << '\n';
    out << "</pre></details>\n";
}

// Steps that belong to one tile have the same number; PgUp and PgDn go by it.
std::vector<int> tile_numbers(const Trace& trace) {
    std::vector<int> numbers(static_cast<std::size_t>(trace.size()), 0);
    for (int k = 1; k < trace.size(); ++k) {
        const Step &a = trace.step(k - 1), &b = trace.step(k);
        const bool same = a.i == b.i && a.j == b.j && a.phase == b.phase;
        numbers[static_cast<std::size_t>(k)] = numbers[static_cast<std::size_t>(k - 1)] + !same;
    }
    return numbers;
}

struct StepParts {
    const Trace& trace;
    const PictureBook& pictures;
    const ui::TraceLook& look;
};

void put_article(std::ostream& out, const StepParts& parts, int k, int tile) {
    const Trace& trace = parts.trace;
    const Explanation e = explain(trace, k);
    const std::string id = "step-" + str(k + 1);
    out << "<article class=\"step\" id=\"" << id << "\" data-tile=\"" << tile << "\" data-name=\""
        << step_name(e) << "\" aria-labelledby=\"" << id << "-title\">\n<h2 id=\"" << id << "-title\">"
        << escaped(e.title) << " <small>" << escaped(e.place) << "</small> <small>" << step_number(trace, k)
        << "</small></h2>\n<figure class=\"picture\">";
    parts.pictures.write(out, static_cast<std::size_t>(k),
                         "Picture of step " + str(k + 1) + ": " + step_name(e) + ". " +
                             escaped(plain(e.formula)));
    out << "</figure>\n<div class=\"cards\">\n<section class=\"card\"><h3>What happens</h3>\n";
    put_formula(out, e);
    for (const std::string& why : why_sentences(trace, k))
        out << "<p class=\"why\">" << escaped(why) << "</p>\n";
    put_rows(out, trace, k);
    out << "</section>\n<section class=\"card\"><h3>Where the algorithm is</h3>\n";
    put_code(out, trace, e.code_line);
    out << "</section>\n<section class=\"card wide\"><h3>Read and written</h3>\n<div class=\"matrices\">\n";
    for (const StepMatrix& matrix : step_matrices(trace, k)) put_matrix(out, matrix, parts.look);
    out << "</div>\n<p class=\"traffic\">" << escaped(traffic_line(trace, k))
        << "</p></section>\n</div>\n</article>\n";
}

// "--bg:#0e1217;…": the tokens of the theme and the colours of the pictures.
std::string colours(const ui::Theme& t, const PictureBook& pictures, bool dark) {
    std::string out = page::theme_colours(t);
    out += dark ? "--in-dark:inline;--in-light:none;" : "--in-dark:none;--in-light:inline;";
    return out + pictures.colours(dark);
}

std::int64_t numbers_in(const Trace& trace) {
    std::int64_t numbers = 0;
    for (int k = 0; k < trace.size() && numbers <= most_numbers; ++k)
        for (const StepMatrix& matrix : step_matrices(trace, k)) numbers += matrix.value->data.size();
    return numbers;
}

}  // namespace

std::optional<std::string> refuse_page(const Trace& trace) {
    const std::string otherwise = " Choose a smaller problem or larger tiles, or --format md or tex.";
    if (trace.size() > most_steps)
        return "This walk has " + format_count(trace.size()) + " steps; a page holds " + str(most_steps) +
               " at most." + otherwise;
    if (numbers_in(trace) > most_numbers)
        return "The matrices of all steps of this walk have more than " + format_count(most_numbers) +
               " numbers, which is too much for one page." + otherwise;
    return std::nullopt;
}

struct ExportPage::Looks {
    ui::TraceLook look;
    std::vector<int> tiles;
};

ExportPage::ExportPage(const Trace& trace, const PictureBook& pictures)
    : trace_(trace), pictures_(pictures),
      looks_(std::make_unique<Looks>(Looks{ui::look_of(trace), tile_numbers(trace)})) {}
ExportPage::~ExportPage() = default;

void ExportPage::put_step(std::ostream& out, int k) const {
    put_article(out, {trace_, pictures_, looks_->look}, k, looks_->tiles[static_cast<std::size_t>(k)]);
}

void ExportPage::write(std::ostream& out, const std::string& theme, bool contrast) const {
    write(out, theme, contrast, [&] {
        for (int k = 0; k < trace_.size() && out; ++k) put_step(out, k);
    });
}

void ExportPage::write(std::ostream& out, const std::string& theme, bool contrast,
                       const std::function<void()>& steps) const {
    const Trace& trace = trace_;
    const PictureBook& pictures = pictures_;
    const ui::TraceLook& look = looks_->look;
    const std::string title = trace.problem().title;
    const page::Parts style{
        {"light", [&] { out << colours(ui::theme(ui::ThemeId::light), pictures, false); }},
        {"dark", [&] {
             out << colours(ui::theme(contrast ? ui::ThemeId::contrast : ui::ThemeId::dark), pictures, true);
         }}};
    const auto put_result = [&] {
        put_whole(out, result_matrices_of(trace), look);
        for (const std::string& sentence : comparison(trace)) out << "<p>" << escaped(sentence) << "</p>\n";
    };
    page::fill_in(out, asset("page.html"),
                  {{"theme", [&] { out << (theme.empty() ? "" : " data-theme=\"" + theme + "\""); }},
                   {"version", [&] { out << version; }},
                   {"title", [&] { out << escaped(headline(trace)); }},
                   {"style", [&] { page::fill_in(out, asset("page.css"), style); }},
                   {"shared", [&] { pictures.write_shared(out); }},
                   {"lesson", [&] { out << escaped(trace.lesson().title); }},
                   {"problem", [&] { out << escaped(title); }},
                   {"list", [&] { put_list(out, trace); }},
                   {"facts", [&] { out << escaped(problem_facts(trace)); }},
                   {"about", [&] { put_about(out, trace, look); }},
                   {"steps", steps},
                   {"result", put_result},
                   {"count", [&] { out << trace.size(); }},
                   {"script", [&] { out << asset("page.js"); }}});
}

}  // namespace tilewalk
