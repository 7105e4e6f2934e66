// Text, styled pieces of formulas, and paragraphs.
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/vector_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace tilewalk::ui {
namespace {

constexpr std::string_view combining_tilde = "\u0303", small_tilde = "\u02DC", ellipsis = "…";
// An index is so much smaller than its text (more than this in small text), and hangs so far below it.
constexpr float index_share = .72f, least_index_share = 10.0f / size::small, index_drop = .2f,
                raised_by = .36f;
constexpr float cap_middle = .364f;  // the baseline lies this many em below the middle of the capitals

bool is_capital(std::string_view letter) {
    const unsigned c = next_code_point(letter);
    return (c >= 'A' && c <= 'Z') || (c >= 0x391 && c <= 0x3A9);
}

/// One run in one face, placed by its baseline.
struct Pen {
    const Canvas& canvas;
    Face face;
    float em;  ///< baked, logical px
    ImU32 colour;
    bool index = false;
    float width(std::string_view text) const { return text_width(face, em, text, index); }
};

ImVec2 on_pixels(const Canvas& c, float x, float y) {
    const ImVec2 at = c.device(x, y);
    return {std::floor(at.x + .5f), std::floor(at.y + .5f)};
}

void draw_run(const Pen& pen, float x, float baseline, std::string_view text) {
    if (text.empty()) return;
    ImFont* face = font(pen.face, pen.em, pen.index);
    const ImVec2 at = on_pixels(pen.canvas, x, baseline);
    const ImVec2 top = {at.x, at.y - ascent(face)};
    pen.canvas.dl->AddText(face, line_height(face), top, pen.colour, text.data(), text.data() + text.size());
}

/// Where a tilde over the letter that spans [x, x + w] begins. There is no shaping, so it is placed by hand.
Point tilde_place(const Pen& pen, float x, float w, float baseline, std::string_view letter) {
    const bool italic = pen.face == Face::semibold_italic || pen.face == Face::italic;
    const float rise = pen.em * (is_capital(letter) ? .20f : .03f), lean = italic ? pen.em * .08f : 0;
    const float middle = x + w / 2 + lean;
    return {middle - pen.width(small_tilde) / 2, baseline - rise};
}

void draw_tilde(const Pen& pen, float x, float w, float baseline, std::string_view letter) {
    const Point at = tilde_place(pen, x, w, baseline, letter);
    draw_run(pen, at.x, at.y, small_tilde);
}

std::string_view last_letter(std::string_view text) {
    std::size_t at = text.size();
    while (at > 0 && continues_character(text[--at])) {
    }
    return text.substr(at);
}

/// Draws text in which combining tildes may occur; returns its width.
float draw_text(const Pen& pen, float x, float baseline, std::string_view text) {
    float pen_x = x;
    while (true) {
        const std::size_t mark = text.find(combining_tilde);
        const std::string_view run = text.substr(0, mark);
        draw_run(pen, pen_x, baseline, run);
        pen_x += pen.width(run);
        if (mark == std::string_view::npos) return pen_x - x;
        if (!run.empty()) {
            const std::string_view letter = last_letter(run);
            const float w = pen.width(letter);
            draw_tilde(pen, pen_x - w, w, baseline, letter);
        }
        text.remove_prefix(mark + combining_tilde.size());
    }
}

// ---- Into the vector picture

void add_run(std::vector<VectorRun>& runs, const Pen& pen, Point at, std::string_view text) {
    VectorRun run = {on_pixels(pen.canvas, at.x, at.y),
                     pen.width(text) * pen.canvas.s,
                     std::string(text),
                     pen.face,
                     pen.em * pen.canvas.s,
                     pen.colour};
    VectorRun* last = runs.empty() ? nullptr : &runs.back();
    const bool joins = last && last->face == run.face && last->em == run.em && last->colour == run.colour &&
                       last->at.y == run.at.y;
    if (!joins) return runs.push_back(std::move(run));
    last->text += run.text;
    last->width += run.width;
}

/// Text as readers of the picture compose it; but typefaces know no place for a tilde over most capitals.
void add_runs(std::vector<VectorRun>& runs, const Pen& pen, float x, float baseline, std::string_view text) {
    std::size_t mark = text.find(combining_tilde);
    while (mark != std::string_view::npos && (mark == 0 || !is_capital(last_letter(text.substr(0, mark)))))
        mark = text.find(combining_tilde, mark + combining_tilde.size());
    const std::string_view run = text.substr(0, mark);
    if (!run.empty()) add_run(runs, pen, {x, baseline}, run);
    if (mark == std::string_view::npos) return;
    const std::string_view letter = last_letter(run);
    const float end = x + pen.width(run), w = pen.width(letter);
    add_run(runs, pen, tilde_place(pen, end - w, w, baseline, letter), small_tilde);
    add_runs(runs, pen, end, baseline, text.substr(mark + combining_tilde.size()));
}

void record_text(const Canvas& c, std::vector<VectorRun> runs, Align align = Align::left) {
    if (runs.empty()) return;
    const float anchor = align == Align::left ? 0 : align == Align::center ? .5f : 1;
    record(*c.dl, {.kind = VectorShape::Kind::text, .runs = std::move(runs), .anchor = anchor});
}

void note_text(const Canvas& c, float x, float y, float width, float em, std::string_view text,
               ImU32 colour) {
    if (!item_registry) return;
    note_item(ItemKind::text, c.device(x, y - em / 2), c.device(x + width, y + em / 2), text, 0,
              em * type_growth(), colour);
}

// ---- Styled pieces

struct Style {
    Face face;
    float em, rise;  ///< rise of the baseline
    ImU32 colour;
    bool index;
    Pen pen(const Canvas& c) const { return {c, face, em, c.tint(colour), index}; }
};

bool is_letter(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

Face face_of(const Span& span) {
    if (span.face == Span::Face::number) return span.strong ? Face::mono_bold : Face::mono;
    if (span.face == Span::Face::text) return span.strong ? Face::semibold : Face::regular;
    // Indices that are numbers, and the T of a transpose, stand upright.
    if (span.script != Span::Script::base && !is_letter(span.text)) return Face::semibold;
    return Face::semibold_italic;
}

ImU32 colour_of(const Canvas& c, const Span& span, ImU32 plain_colour) {
    if (span.face == Span::Face::number && span.strong) return c.theme->t1;
    if (span.role != Role::none) return hue(*c.theme, span.role);
    if (plain_colour) return plain_colour;
    return span.face == Span::Face::text && !span.strong ? c.theme->t2 : c.theme->t1;
}

Style style_of(const Canvas& c, const Span& span, float size, ImU32 plain_colour) {
    const bool script = span.script != Span::Script::base;
    const Face face = face_of(span);
    const float wanted =
        script ? std::max(index_share * size, least_index_share * std::min(size, c.min_text)) : size;
    const float rise = !script ? 0 : (span.script == Span::Script::sub ? -index_drop : raised_by) * size;
    return {face, baked_em(face, wanted, script), rise, colour_of(c, span, plain_colour), script};
}

std::string joined(const Line& line) {
    std::string text;
    for (const Span& span : line) {
        text += span.text;
        if (span.tilde) text += combining_tilde;
    }
    return text;
}

void note_rich(const Canvas& c, float x, float y, float width, const Line& line, float size,
               ImU32 plain_colour) {
    if (!item_registry || line.empty()) return;
    // The whole line is one entry: with its smallest letters and its palest colour. An index is as large as
    // the text that it would be the least one of.
    float em = 1e9f;
    ImU32 palest = 0;
    for (const Span& span : line) {
        const Style style = style_of(c, span, size, plain_colour);
        em = std::min(em, style.index ? style.em / least_index_share : style.em);
        const bool paler =
            !palest || contrast(style.colour, c.theme->panel) < contrast(palest, c.theme->panel);
        if (paler) palest = style.colour;
    }
    note_item(ItemKind::text, c.device(x, y - size / 2), c.device(x + width, y + size / 2), joined(line), 0,
              em * type_growth(), c.tint(palest));
}

void draw_rich(const Canvas& c, float x, float y, const Line& line, float size, ImU32 plain_colour) {
    const float baseline = y + cap_middle * size;
    std::vector<VectorRun> runs;
    for (const Span& span : line) {
        const Style style = style_of(c, span, size, plain_colour);
        const Pen pen = style.pen(c);
        const float w = draw_text(pen, x, baseline - style.rise, span.text);
        if (span.tilde && !span.text.empty()) draw_tilde(pen, x, w, baseline - style.rise, span.text);
        if (vector_picture)
            add_runs(runs, pen, x, baseline - style.rise,
                     span.text + std::string(span.tilde ? combining_tilde : ""));
        x += w;
    }
    if (vector_picture) record_text(c, std::move(runs));
}

// ---- Breaking lines

/// The longest beginning of `text` that is at most `room` wide, in whole characters.
std::string_view beginning_within(std::string_view text, float room, Face face, float em) {
    std::string_view rest = text;
    float width = 0;
    while (!rest.empty()) {
        std::string_view after = rest;
        next_code_point(after);
        width += text_width(face, em, rest.substr(0, rest.size() - after.size()));
        if (width > room) break;
        rest = after;
    }
    return text.substr(0, text.size() - rest.size());
}

std::string shortened(std::string_view text, float room, Face face, float em) {
    if (text_width(face, em, text) <= room) return std::string(text);
    std::string_view kept = beginning_within(text, room - text_width(face, em, ellipsis), face, em);
    while (!kept.empty() && kept.back() == ' ') kept.remove_suffix(1);
    return std::string(kept) + std::string(ellipsis);
}

constexpr std::string_view signs[] = {"×", "=", "+", "−", "÷", "≤", "≥", "<", ">", "≈", "⊙"};
constexpr std::string_view units[] = {"B",   "kB",    "MB",   "GB",   "KiB",   "MiB",
                                      "GiB", "bytes", "rows", "keys", "heads", "%"};

constexpr std::string_view numbered[] = {"key",     "query", "row",     "column", "step", "tile", "keys",
                                         "queries", "rows",  "columns", "block",  "head", "max",  "value"};

std::string_view word_at(std::string_view text, std::size_t begin) {
    return text.substr(begin, text.find(' ', begin) - begin);
}

/// What stands around this space is read as one: "2 × 4", "1 MiB", "key 0".
bool holds_together(std::string_view text, std::size_t space) {
    const std::size_t before = space == 0 ? std::string_view::npos : text.rfind(' ', space - 1);
    const std::string_view left = word_at(text, before == std::string_view::npos ? 0 : before + 1);
    std::string_view right = word_at(text, space + 1);
    const auto is_sign = [](std::string_view w) { return std::ranges::find(signs, w) != std::end(signs); };
    if (is_sign(left) || is_sign(right)) return true;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!right.empty() && is_digit(right[0]) && std::ranges::find(numbered, left) != std::end(numbered))
        return true;
    while (!right.empty() && std::string_view(".,;:").find(right.back()) != std::string_view::npos)
        right.remove_suffix(1);
    const bool counted = !left.empty() && is_digit(left.back());
    return counted && std::ranges::find(units, right) != std::end(units);
}

/// Where the line ends, at or before `most`: at a space that parts two words, if the line stays long.
std::size_t line_end(std::string_view paragraph, std::size_t most) {
    const std::size_t last = paragraph.rfind(' ', most);
    if (last == std::string_view::npos || last == 0) return most;
    for (std::size_t space = last; space != std::string_view::npos && space * 2 > most;
         space = paragraph.rfind(' ', space - 1))
        if (!holds_together(paragraph, space)) return space;
    return last;
}

/// One line off the front of `rest`: as many words as fit, at least one character.
std::string_view take_line(std::string_view& rest, float room, Face face, float em) {
    const std::string_view paragraph = rest.substr(0, rest.find('\n'));
    std::string_view fit = beginning_within(paragraph, room, face, em);
    if (fit.size() < paragraph.size()) fit = paragraph.substr(0, line_end(paragraph, fit.size()));
    if (fit.empty() && !paragraph.empty()) {
        std::string_view after = paragraph;
        next_code_point(after);
        fit = paragraph.substr(0, paragraph.size() - after.size());
    }
    rest.remove_prefix(fit.size());
    if (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n')) rest.remove_prefix(1);
    return fit;
}

std::vector<std::string> broken(std::string_view text, float room, Face face, float em, int max_lines) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const bool last = max_lines > 0 && static_cast<int>(lines.size()) + 1 == max_lines;
        const std::string_view before = text;
        const std::string_view line = take_line(text, room, face, em);
        if (last && !text.empty()) {
            lines.push_back(shortened(before.substr(0, before.find('\n')), room, face, em));
            break;
        }
        lines.emplace_back(line);
        if (last) break;
    }
    return lines;
}

/// "=" or another sign, between spaces.
bool only_sign(const Line& atom) {
    std::string text = joined(atom);
    std::erase(text, ' ');
    return std::ranges::find(signs, text) != std::end(signs);
}

/// "Pⱼ D": a space between two letters is a product.
bool multiplies(const Line& line, std::size_t n) {
    const auto is_symbol = [](const Span& span) {
        return span.face == Span::Face::symbol || span.script != Span::Script::base;
    };
    return line[n].text == " " && n > 0 && n + 1 < line.size() && is_symbol(line[n - 1]) &&
           is_symbol(line[n + 1]);
}

/// Styled pieces cut behind each space; what is not parted by a space stays together, and a sign with what
/// follows it, and a product.
std::vector<Line> atoms_of(const Line& line) {
    std::vector<Line> atoms(1);
    for (std::size_t n = 0; n < line.size(); ++n) {
        const Span& span = line[n];
        if (multiplies(line, n)) {
            atoms.back().push_back(span);
            continue;
        }
        std::string_view rest = span.text;
        while (!rest.empty()) {
            const std::size_t space = rest.find(' ');
            Span piece = span;
            piece.text = rest.substr(0, space == std::string_view::npos ? space : space + 1);
            rest.remove_prefix(piece.text.size());
            piece.tilde = span.tilde && rest.empty();
            atoms.back().push_back(piece);
            if (space != std::string_view::npos && !only_sign(atoms.back())) atoms.emplace_back();
        }
    }
    return atoms;
}

float trimmed_width(const Canvas& c, Line line, float size) {
    while (!line.empty() && !line.back().text.empty() && line.back().text.back() == ' ') {
        line.back().text.pop_back();
        if (line.back().text.empty()) line.pop_back();
    }
    return rich_width(c, line, size);
}

// Arithmetic breaks between its terms; where a term alone is too long for a line, at the signs and commas in
// its brackets; at last, and in what is no arithmetic, at any space.
enum class Breaks { between_terms, in_brackets, anywhere };

bool is_arithmetic(const Line& line) {
    return std::ranges::any_of(line, [](const Span& span) { return span.face == Span::Face::number; });
}

std::vector<Line> parts_of(const Line& line, Breaks at) {
    std::vector<Line> atoms = atoms_of(line);
    if (at == Breaks::anywhere) return atoms;
    std::vector<Line> parts;
    std::ptrdiff_t open = 0;
    for (const Line& atom : atoms) {
        const std::string text = joined(atom);
        const auto begins = [&](const char* sign) { return text.starts_with(sign); };
        const bool factor = std::ranges::any_of(std::array{"×", "÷", "⊙", "·"}, begins);
        if (parts.empty() || !(factor || (at == Breaks::between_terms && open > 0))) parts.emplace_back();
        parts.back().insert(parts.back().end(), atom.begin(), atom.end());
        open += std::ranges::count(text, '(') - std::ranges::count(text, ')');
    }
    return parts;
}

struct Breaking {
    const Canvas& c;
    float room, size;
    std::size_t most;  ///< lines
    std::vector<Line> lines = std::vector<Line>(1);

    // False when all lines are full.
    bool put(const Line& line, Breaks at) {
        for (const Line& part : parts_of(line, at)) {
            Line longer = lines.back();
            longer.insert(longer.end(), part.begin(), part.end());
            if (trimmed_width(c, longer, size) <= room) {
                lines.back() = longer;
            } else if (at != Breaks::anywhere && trimmed_width(c, part, size) > room) {
                if (!put(part, static_cast<Breaks>(static_cast<int>(at) + 1))) return false;
            } else if (lines.back().empty()) {
                lines.back() = part;
            } else if (lines.size() == most) {
                lines.back().push_back(word(std::string(ellipsis)));
                return false;
            } else {
                end_line();
                lines.push_back(part);
            }
        }
        return true;
    }
    // The space at which it was broken belongs to neither line.
    void end_line() {
        if (!lines.back().empty() && lines.back().back().text.ends_with(' '))
            lines.back().back().text.pop_back();
    }
};

std::vector<Line> broken(const Canvas& c, const Line& line, float room, float size, int max_lines) {
    const std::size_t most = max_lines > 0 ? static_cast<std::size_t>(max_lines) : line.max_size();
    Breaking out{c, room, size, most};
    out.put(line, is_arithmetic(line) ? Breaks::between_terms : Breaks::anywhere);
    return out.lines;
}

}  // namespace

float Canvas::text(float x, float y, std::string_view words, float size, ImU32 colour, Face face,
                   Align align) const {
    const float em = baked_em(face, size), width = text_width(face, em, words);
    const float left = aligned(x, width, align);
    const ImU32 ink = tint(colour ? colour : theme->t1);
    const Pen pen = {*this, face, em, ink};
    draw_text(pen, left, y + cap_middle * em, words);
    if (vector_picture) {
        std::vector<VectorRun> runs;
        add_runs(runs, pen, left, y + cap_middle * em, words);
        record_text(*this, std::move(runs), align);
    }
    note_text(*this, left, y, width, em, words, ink);
    return width;
}

float Canvas::text_within(float x, float y, float room, std::string_view words, float size, ImU32 colour,
                          Face face, Align align) const {
    return text(x, y, shortened(words, room, face, baked_em(face, size)), size, colour, face, align);
}

float Canvas::rich(float x, float y, const Line& line, float size, Align align, ImU32 colour) const {
    const float width = rich_width(*this, line, size), left = aligned(x, width, align);
    draw_rich(*this, left, y, line, size, colour);
    note_rich(*this, left, y, width, line, size, colour);
    return width;
}

float Canvas::paragraph(float x, float y, float w, std::string_view words, float size, ImU32 colour,
                        int max_lines, Face face, float spacing) const {
    const float em = baked_em(face, size), step = em * spacing;
    const auto lines = broken(words, w, face, em, max_lines);
    for (std::size_t k = 0; k < lines.size(); ++k)
        text(x, y + step * (px(k) + .5f), lines[k], em, colour, face);
    return step * px(lines.size());
}

float Canvas::rich_paragraph(float x, float y, float w, const Line& line, float size, int max_lines,
                             ImU32 colour, float spacing) const {
    const auto lines = broken(*this, line, w, size, max_lines);
    for (std::size_t k = 0; k < lines.size(); ++k)
        rich(x, y + size * spacing * (px(k) + .5f), lines[k], size, Align::left, colour);
    return size * spacing * px(lines.size());
}

float rich_width(const Canvas& canvas, const Line& line, float size) {
    float width = 0;
    for (const Span& span : line) {
        const Style style = style_of(canvas, span, size, 0);
        width += text_width(style.face, style.em, span.text, style.index);
    }
    return width;
}

float fitting_size(const Canvas& canvas, const Line& line, float w, std::initializer_list<float> sizes) {
    for (float size : sizes)
        if (rich_width(canvas, line, size) <= w) return size;
    return *(sizes.end() - 1);
}

float paragraph_height(float w, std::string_view text, float size, int max_lines, Face face,
                       float line_height) {
    const float em = baked_em(face, size);
    return em * line_height * px(broken(text, w, face, em, max_lines).size());
}

float even_width(float w, std::string_view text, float size, int max_lines, Face face) {
    const float em = baked_em(face, size);
    const auto lines = broken(text, w, face, em, max_lines);
    float least = w / 2, most = w;
    while (lines.size() > 1 && most - least > 8) {
        const float middle = (least + most) / 2;
        const auto now = broken(text, middle, face, em, max_lines);
        const bool all = now.size() == lines.size() && !now.back().ends_with(ellipsis);
        (all ? most : least) = middle;
    }
    return most;
}

float rich_paragraph_height(const Canvas& canvas, float w, const Line& line, float size, int max_lines,
                            float line_height) {
    return size * line_height * px(broken(canvas, line, w, size, max_lines).size());
}

Span word(std::string text, Role role) { return {.text = std::move(text), .role = role}; }
Span strong(std::string text, Role role) { return {.text = std::move(text), .role = role, .strong = true}; }
Span symbol(std::string letter, Role role, bool tilde) {
    return {.text = std::move(letter), .role = role, .face = Span::Face::symbol, .tilde = tilde};
}
Span number(std::string text, Role role, bool result) {
    return {.text = std::move(text), .role = role, .face = Span::Face::number, .strong = result};
}
Span sub(std::string text, Role role) {
    const auto face = role == Role::none ? Span::Face::text : Span::Face::symbol;
    return {.text = std::move(text), .role = role, .face = face, .script = Span::Script::sub};
}
Span super(std::string text, Role role) {
    const auto face = role == Role::none ? Span::Face::text : Span::Face::symbol;
    return {.text = std::move(text), .role = role, .face = face, .script = Span::Script::super};
}

}  // namespace tilewalk::ui
