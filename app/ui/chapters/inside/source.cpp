// What is run, and its source: the line at hand between its neighbours, and how often the warp came there.
#include "app/ui/chapters/inside/source.h"

#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

using inside::SourceText;

constexpr float code_row = 17, numbers_w = 36, times_w = 58;

// A line of the source in as many rows as it takes; what goes on stands further in.
struct CodeRow {
    int line = 0;
    bool first = true;
    std::string text;
};

int spaces_before(std::string_view text) {
    const std::size_t at = text.find_first_not_of(' ');
    return at == text.npos ? 0 : static_cast<int>(at);
}

// Half of the indent is enough in a narrow panel.
void add_rows(std::vector<CodeRow>& out, int line, std::string_view text, int dedent, int columns) {
    const int indent = std::min(std::max(0, spaces_before(text) - dedent) / 2, columns / 2);
    std::string rest(text.substr(static_cast<std::size_t>(spaces_before(text))));
    bool first = true;
    do {
        const int before = first ? indent : indent + 2;
        const auto room = static_cast<std::size_t>(std::max(8, columns - before));
        std::size_t cut = rest.size();
        if (rest.size() > room) {
            cut = rest.rfind(' ', room);
            const std::size_t behind = rest.find_last_of("(,", room - 1);
            if ((cut == rest.npos || cut < room / 3) && behind != rest.npos && behind > room / 3)
                cut = behind + 1;
            else if (cut == rest.npos || cut < room / 3)
                cut = room;
            while (cut > 0 && cut < rest.size() && continues_character(rest[cut])) --cut;
        }
        out.push_back(
            {line, first, std::string(static_cast<std::size_t>(before), ' ') + rest.substr(0, cut)});
        rest.erase(0, cut);
        rest.erase(0, std::min(rest.find_first_not_of(' '), rest.size()));
        first = false;
    } while (!rest.empty());
}

// What stands above it is whole.
bool begins_statement(const SourceText& source, int line) {
    if (line <= 1) return true;
    std::string_view above = source.line(line - 1);
    const std::size_t begin = above.find_first_not_of(' ');
    if (begin == above.npos || above.substr(begin).starts_with("//")) return true;
    above = above.substr(0, above.find("  //"));
    const char last = above[above.find_last_not_of(' ')];
    return last == ';' || last == '{' || last == '}' || last == ':';
}

// The rows that fit, round the current line; the beginning of its function, where that is near.
std::vector<CodeRow> code_rows(const SourceText& source, int current, int columns, int fit) {
    std::vector<CodeRow> all;
    int dedent = 100;
    const int from = std::max(1, current - fit), to = std::min(source.count(), current + fit);
    for (int n = from; n <= to; ++n)
        if (!source.line(n).empty()) dedent = std::min(dedent, spaces_before(source.line(n)));
    for (int n = from; n <= to; ++n) add_rows(all, n, source.line(n), dedent, columns);
    const auto at = std::ranges::find(all, current, &CodeRow::line) - all.begin();
    auto first =
        std::clamp<std::ptrdiff_t>(at - fit * 2 / 5, 0, std::max<std::ptrdiff_t>(0, std::ssize(all) - fit));
    // From a statement's beginning on, where that is near
    for (std::ptrdiff_t n = first; n <= std::min<std::ptrdiff_t>(at, first + fit / 4); ++n)
        if (const CodeRow& row = all[static_cast<std::size_t>(n)];
            row.first && begins_statement(source, row.line)) {
            first = n;
            break;
        }
    const auto last = std::min<std::ptrdiff_t>(first + fit, std::ssize(all));
    return {all.begin() + first, all.begin() + last};
}

// "63 st": of a line that does several things each has its row, as many as the line has.
void draw_times(const Canvas& c, const inside::LineTimes::OfOp& of, float right, float y, bool current) {
    const Theme& t = *c.theme;
    const inside::LineTimes::Times& times = of.times;
    if (times.all == 0) return;
    const ImU32 ink = current ? t.inv : t.t2;
    const float kind = text_width(Face::regular, size::small, "mma") + 4;  // the widest
    c.text(right, y - 1, inside::mnemonic(of.op), size::small, ink, Align::right);
    c.text(right - kind, y - 1, format_count(times.now), size::small, ink, Face::mono, Align::right);
    const float w = 22, x = right - kind - w;
    c.rect(x, y + 7, w, 1.5f, with_alpha(ink, .3f));
    c.rect(x, y + 7, w * px(times.now) / px(times.all), 1.5f, ink);
}

// "Warp 0 does here: 64 loads, 63 of them up to now; …"
std::string times_tip(const std::vector<inside::LineTimes::OfOp>& all, int warp) {
    std::string text = "Warp " + str(warp) + " does here";
    for (const inside::LineTimes::OfOp& of : all)
        text += (&of == all.data() ? ": " : "; ") + inside::times_text(of.times.all, of.op) + ", " +
                format_count(of.times.now) + " up to now";
    return text + ". Click: the next time.";
}

/// Lines that are shown round one of them: where the step stands, or where its function was called.
struct ShownLines {
    std::string file;
    std::vector<int> lines;  ///< one of which it is; where the step stands: one
    bool called = false;
    bool has(int line) const { return std::ranges::find(lines, line) != lines.end(); }
};

void draw_code(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
               const ShownLines& shown) {
    const Theme& t = *c.theme;
    const SourceText* source = source_of(state, shown.file);
    if (!source) return void(c.text(a.x, a.y + 12, shown.file, size::small, t.t3));
    // Longer walks have counts of four digits.
    const float digit = text_width(Face::mono_bold, size::small, "0"),
                counts_w = times_w + (at.steps().count(at.warp) > 999 ? digit : 0);
    const int columns = static_cast<int>((a.w - numbers_w - counts_w) / digit);
    const int fit = std::max(1, static_cast<int>(a.h / code_row));
    float y = a.y;
    std::vector<inside::LineTimes::OfOp> kinds;
    std::size_t kind = 0;
    for (const CodeRow& row : code_rows(*source, shown.lines.front(), columns, fit)) {
        const bool told = shown.has(row.line), current = told && !shown.called;
        // Of a row that goes on with its line the next kind
        if (row.first) kinds = at.launch->times.at(at.warp, at.k, shown.file, row.line), kind = 0;
        const float middle = y + code_row / 2;
        if (told) c.rect(a.x - 6, y, a.w + 12, code_row, current ? t.t1 : t.raised);
        if (told && shown.called && row.first)
            c.polygon({{a.x - 4, middle - 4}, {a.x + 1, middle}, {a.x - 4, middle + 4}}, t.t1);
        const bool comment = row.text.find_first_not_of(' ') == row.text.find("//");
        const ImU32 ink = current ? t.inv : comment ? t.t3 : told || !kinds.empty() ? t.t1 : t.t2;
        if (row.first)
            c.text(a.x + 26, middle, str(row.line), size::small, current ? t.inv : t.t3, Face::mono,
                   Align::right);
        c.text_within(a.x + numbers_w, middle, a.w - numbers_w - counts_w, row.text, size::small, ink,
                      current ? Face::mono_bold : Face::mono);
        if (kind < kinds.size()) draw_times(c, kinds[kind++], a.right(), middle, current);
        if (row.first && !kinds.empty()) {
            const Hot hot =
                hot_area(c, (shown.called ? "##call " : "##code ") + str(row.line), a.x, y, a.w, code_row);
            if (hot.hovered) tooltip(c, times_tip(kinds, at.warp));
            if (hot.clicked)
                go_inside(state, at.warp, at.steps().next_in_line(at.warp, at.k, shown.file, row.line));
        }
        y += code_row;
    }
}

// ---- What is run

void choose_kernel_inside(const Canvas& c, AppState& state, const Rect& a) {
    const ButtonLook look{.tooltip = "The kernel that is walked through"};
    if (const Dropdown list{c, "##inside kernel", a, inside_kernel_name(state), look})
        for (const gpu::TraceableKernel& kernel : state.kernel_walk->kernels) {
            const char* note = kernel.direction == Direction::backward ? "backward" : "";
            if (dropdown_item(c, kernel.name, kernel.name, kernel.name == inside_kernel_name(state), note))
                choose_inside_kernel(state, kernel.name);
        }
}

void choose_type_inside(const Canvas& c, AppState& state, const Rect& a) {
    const gpu::TraceableKernel* kernel = inside_kernel(state);
    const std::vector<DType> types =
        kernel ? kernel->types : std::vector{DType::f32, DType::f16, DType::bf16};
    const ButtonLook look{.tooltip = "The type of its numbers"};
    if (const Dropdown list{c, "##inside type", a, name_of(state.inside.dtype), look})
        for (const DType type : types)
            if (dropdown_item(c, name_of(type), name_of(type), type == state.inside.dtype))
                state.inside.dtype = type;
}

// The problem that it runs on: the walk's, or a random one that fills more tiles.
void choose_size_inside(const Canvas& c, AppState& state, const Rect& a) {
    const int now = inside_size(state);
    const auto name = [](int rows, int columns) { return str(rows) + " × " + str(columns); };
    const Problem& p = recorded_problem(state);
    const ButtonLook look{.size = size::small, .tooltip = "The problem that it runs on (S: the next one)"};
    const Dropdown list{c, "##inside size", a, str(p.N()) + "×" + str(p.d()), look};
    if (!list) return;
    const Problem& own = *state.problem;
    if (dropdown_item(c, "walk's problem", name(own.N(), own.d()) + ", the walk's", now < 0))
        choose_inside_size(state, -1);
    int n = 0;
    for (const RecordedSize& size : inside_sizes()) {
        if (dropdown_item(c, size.name, name(size.N, size.d) + ", random", n == now, size.shows))
            choose_inside_size(state, n);
        ++n;
    }
}

constexpr float choices_top = 38;

void draw_choices(const Canvas& c, AppState& state, const Rect& a) {
    const float y = a.y + choices_top, gap = 4, type_w = 74, size_w = 92;
    const float kernel_w = a.inner_w() - type_w - size_w - 2 * gap;
    float x = a.inner_x();
    choose_kernel_inside(c, state, {x, y, kernel_w, space::control});
    x += kernel_w + gap;
    choose_type_inside(c, state, {x, y, type_w, space::control});
    x += type_w + gap;
    choose_size_inside(c, state, {x, y, size_w, space::control});
}

// What the comments say of the line, else of the kernel.
std::string remark(const AppState& state, const InsidePlace& at) {
    const SourceText* source = source_of(state, at.place().file);
    std::string near = source ? inside::comment_on(*source, at.place().line) : "";
    std::erase(near, '`');  // names of parameters
    if (!near.empty()) return near;
    const std::string idea = source ? inside::idea_of(*source) : "";
    return idea.empty() ? at.record().title : idea;
}

// Those that have room; of one that is too long, as much as fits.
std::string whole_sentences(const std::string& text, float w, int lines) {
    const float room = paragraph_height(w, "x", size::small, 1) * px(lines) + 1;
    std::string fits = text;
    while (paragraph_height(w, fits, size::small, 100) > room) {
        const std::size_t end = fits.size() < 2 ? fits.npos : fits.rfind(". ", fits.size() - 2);
        if (end == fits.npos) return text;
        fits.resize(end + 1);
    }
    return fits;
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

void draw_head(const Canvas& c, const AppState& state, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    const float y = a.title_y();
    const SourceText* source = source_of(state, at.place().file);
    const std::string function = source ? inside::function_of(*source, at.place().line) : "";
    const float w = c.text(a.inner_x(), y, file_name(at.place().file), size::lead, t.t1, Face::semibold);
    // Rather none of it than its beginning: the lines below have it.
    if (text_width(Face::mono, size::small, function) <= a.inner_w() - w - 80)
        c.text(a.inner_x() + w + 8, y, function, size::small, t.t2, Face::mono);
    c.text(a.inner_right(), y, "times run", size::small, t.t3, Align::right);
}

// Of a helper the kernel's own lines above it, where it was called, if there is room for both. Returns how
// high they are.
float draw_caller(const Canvas& c, AppState& state, const Rect& a, float y, float room,
                  const InsidePlace& at) {
    constexpr int rows = 6, least = 22;
    const auto& called = inside_ways(state, at).called;
    if (called.empty() || room < least * code_row) return 0;
    const inside::Call& call = called.back();
    const Theme& t = *c.theme;
    const float w = c.text(a.inner_x(), y + 10, file_name(call.file), size::small, t.t1, Face::semibold);
    c.text_within(a.inner_x() + w + 8, y + 10, a.inner_w() - w - 8, call.function, size::small, t.t2,
                  Face::mono);
    draw_code(c, state, {a.inner_x(), y + 22, a.inner_w(), rows * code_row}, at,
              {call.file, call.lines, true});
    const float h = 22 + rows * code_row + 14;
    rule(c, a, y + h - 8);
    return h;
}

}  // namespace

void draw_far_code(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const float factor = size::far / size::small;
    const Enlarged large(c, {a.x, a.y}, factor);
    const inside::Place& place = at.place();
    const float w = a.w / factor, head = 20;
    std::string from = file_name(place.file);
    const auto& called = inside_ways(state, at).called;
    if (!called.empty() && called.back().lines.size() == 1)
        from += ", called at " + file_name(called.back().file) + ":" + str(called.back().lines.front());
    large.c.text_within(6, head / 2 - 2, w - 6, from, size::small, c.theme->t2);
    draw_code(large.c, state, {6, head, w - 12, a.h / factor - head}, at, {place.file, {place.line}});
}

void inside_source(const Canvas& c, AppState& state, const Rect& a) {
    const InsidePlace at = place_inside(state);
    const bool known = at && !awaits_own_kernel(state);
    const Panel panel(c, "Source", a, known ? "" : "Source");
    draw_choices(c, state, a);
    if (!known) return;
    const Theme& t = *c.theme;
    draw_head(c, state, a, at);
    const int lines = a.h > 460 ? 4 : 3;
    const std::string words = whole_sentences(remark(state, at), a.inner_w(), lines);
    const float h = paragraph_height(a.inner_w(), words, size::small, lines);
    const float foot = a.bottom() - space::foot - h;
    rule(c, a, foot - 10);
    c.paragraph(a.inner_x(), foot - 1, a.inner_w(), words, size::small, t.t2, lines);
    const inside::Place& place = at.place();
    const float head = a.y + choices_top + space::control;
    float top = head + 6 + inside_called(c, state, a.inner_x(), head + 12, a.inner_w(), at);
    top += draw_caller(c, state, a, top, foot - 14 - top, at);
    draw_code(c, state, {a.inner_x(), top, a.inner_w(), foot - 14 - top}, at, {place.file, {place.line}});
}

}  // namespace tilewalk::ui
