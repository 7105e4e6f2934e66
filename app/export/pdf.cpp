#include "app/export/pdf.h"

#include "app/ui/kit/fonts.h"
#include "core/base/version.h"
#include "core/base/words.h"

#include <algorithm>
#include <map>
#include <numbers>

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <ft2build.h>
#include FT_ADVANCES_H
#include FT_FREETYPE_H

namespace tilewalk {
namespace {

using ui::Face;
using ui::VectorRun;
using ui::VectorShape;
using Kind = VectorShape::Kind;

constexpr double page_width = 960;  // pt: a page of most programs for slides

// ---- Typefaces

// The library that draws pages keeps what it knows of a typeface, so these live as long as the program.
struct Typeface {
    FT_Face metrics = nullptr;
    cairo_font_face_t* letters = nullptr;

    unsigned glyph(unsigned code_point) const { return metrics ? FT_Get_Char_Index(metrics, code_point) : 0; }
    double advance(unsigned glyph, double em) const {
        FT_Fixed units = 0;
        if (!metrics || FT_Get_Advance(metrics, glyph, FT_LOAD_NO_SCALE, &units) != 0) return em / 2;
        return em * static_cast<double>(units) / metrics->units_per_EM;
    }
};

Typeface open_typeface(std::string_view file) {
    static FT_Library library = nullptr;
    Typeface face;
    if (file.empty() || (!library && FT_Init_FreeType(&library) != 0)) return face;
    const auto* bytes = reinterpret_cast<const FT_Byte*>(file.data());
    if (FT_New_Memory_Face(library, bytes, static_cast<FT_Long>(file.size()), 0, &face.metrics) != 0)
        return {};
    face.letters = cairo_ft_font_face_create_for_ft_face(face.metrics, FT_LOAD_NO_HINTING);
    return face;
}

const Typeface& typeface(std::string_view file) {
    static std::map<const char*, Typeface> opened;
    const auto [place, fresh] = opened.try_emplace(file.data());
    if (fresh) place->second = open_typeface(file);
    return place->second;
}

// ---- Text

constexpr unsigned combining_tilde = 0x0303, small_tilde = 0x02DC;

/// A character of a run with its glyphs: one, or two where a tilde stands over it.
struct Letter {
    const Typeface* face = nullptr;
    std::vector<cairo_glyph_t> glyphs;
    std::string bytes;
    double advance = 0;
};

/// The face itself where it has the character, else what fills its gaps, else the face's question mark.
Letter letter_of(const ui::FontFiles& files, unsigned code_point, std::string_view bytes, double em) {
    const Typeface &own = typeface(files.own), &gaps = typeface(files.gaps);
    Letter letter{&own, {}, std::string(bytes), 0};
    unsigned glyph = own.glyph(code_point);
    if (glyph == 0) {
        if (const unsigned other = gaps.glyph(code_point))
            glyph = other, letter.face = &gaps;
        else
            glyph = own.glyph('?');
    }
    letter.glyphs.push_back({glyph, 0, 0});
    letter.advance = letter.face->advance(glyph, em);
    return letter;
}

// Over a small letter, as the canvas places it.
void put_tilde_over(Letter& letter, Face face, std::string_view bytes, double em) {
    const unsigned tilde = letter.face->glyph(small_tilde);
    const double lean = face == Face::italic || face == Face::semibold_italic ? .08 * em : 0;
    const double x = (letter.advance - letter.face->advance(tilde, em)) / 2 + lean;
    letter.glyphs.push_back({tilde, x, -.03 * em});
    letter.bytes += bytes;
}

std::vector<Letter> letters_of(const VectorRun& run) {
    const ui::FontFiles files = ui::font_files(run.face);
    const double em = static_cast<double>(run.em);
    std::vector<Letter> letters;
    for (std::string_view rest = run.text; !rest.empty();) {
        const std::string_view before = rest;
        const unsigned code_point = ui::next_code_point(rest);
        const std::string_view bytes = before.substr(0, before.size() - rest.size());
        if (code_point == combining_tilde && !letters.empty())
            put_tilde_over(letters.back(), run.face, bytes, em);
        else
            letters.push_back(letter_of(files, code_point, bytes, em));
    }
    // The tilde over a capital is a run of its own; for readers it belongs to that letter.
    if (letters.size() == 1 && run.text == "\u02DC") letters.front().bytes = "\u0303";
    return letters;
}

/// Letters [begin, end) of one typeface, in one call.
void show_letters(cairo_t* page, const Letter* begin, const Letter* end, double em) {
    std::string text;
    std::vector<cairo_glyph_t> glyphs;
    std::vector<cairo_text_cluster_t> clusters;
    for (const Letter* letter = begin; letter != end; ++letter) {
        text += letter->bytes;
        glyphs.insert(glyphs.end(), letter->glyphs.begin(), letter->glyphs.end());
        clusters.push_back({static_cast<int>(letter->bytes.size()), static_cast<int>(letter->glyphs.size())});
    }
    cairo_set_font_face(page, begin->face->letters);
    cairo_set_font_size(page, em);
    cairo_show_text_glyphs(page, text.data(), static_cast<int>(text.size()), glyphs.data(),
                           static_cast<int>(glyphs.size()), clusters.data(),
                           static_cast<int>(clusters.size()), static_cast<cairo_text_cluster_flags_t>(0));
}

void set_colour(cairo_t* page, ImU32 colour) {
    const auto part = [colour](int shift) { return static_cast<double>((colour >> shift) & 255u) / 255; };
    cairo_set_source_rgba(page, part(IM_COL32_R_SHIFT), part(IM_COL32_G_SHIFT), part(IM_COL32_B_SHIFT),
                          part(IM_COL32_A_SHIFT));
}

/// The run is as wide as on the screen: what its letters miss or have too much of lies between them.
void show_run(cairo_t* page, const VectorRun& run) {
    std::vector<Letter> letters = letters_of(run);
    std::erase_if(letters, [](const Letter& letter) { return !letter.face->letters; });
    double natural = 0;
    for (const Letter& letter : letters) natural += letter.advance;
    const double stretch =
        letters.size() > 1 && natural > 0 && run.width > 0 ? static_cast<double>(run.width) / natural : 1;
    double x = static_cast<double>(run.at.x);
    for (Letter& letter : letters) {
        for (cairo_glyph_t& glyph : letter.glyphs) glyph.x += x, glyph.y += static_cast<double>(run.at.y);
        x += letter.advance * stretch;
    }
    set_colour(page, run.colour);
    const Letter* const end = letters.data() + letters.size();
    for (const Letter* first = letters.data(); first != end;) {
        const Letter* last = std::find_if(first, end, [&](const Letter& l) { return l.face != first->face; });
        show_letters(page, first, last, static_cast<double>(run.em));
        first = last;
    }
}

// ---- Shapes

struct Corner {
    double x, y;
};
Corner corner(ImVec2 p) { return {static_cast<double>(p.x), static_cast<double>(p.y)}; }

struct Box {
    double x, y, w, h;
    double shorter() const { return std::min(w, h); }
};
Box box_of(const VectorShape& shape) {
    const auto [x, y] = corner(shape.points[0]);
    const auto [right, bottom] = corner(shape.points[1]);
    return {x, y, right - x, bottom - y};
}

bool is_opaque(const VectorShape& shape) { return (shape.colour >> IM_COL32_A_SHIFT & 255u) == 255u; }

// Curves take most of the letters of a page. Nobody sees the corners of a frame so small: its line's joins
// are round.
constexpr double smallest_with_corners = 12;  // px
bool is_small_frame(const VectorShape& shape) {
    return shape.kind == Kind::frame && box_of(shape).shorter() < smallest_with_corners;
}

void trace_rectangle(cairo_t* page, const VectorShape& shape) {
    const auto [x, y, w, h] = box_of(shape);
    const double r = std::min({static_cast<double>(shape.radius), w / 2, h / 2});
    if (r <= 0 || is_small_frame(shape)) return cairo_rectangle(page, x, y, w, h);
    const double right = x + w, bottom = y + h;
    constexpr double quarter = std::numbers::pi / 2;
    cairo_new_sub_path(page);
    cairo_arc(page, right - r, y + r, r, -quarter, 0);
    cairo_arc(page, right - r, bottom - r, r, 0, quarter);
    cairo_arc(page, x + r, bottom - r, r, quarter, 2 * quarter);
    cairo_arc(page, x + r, y + r, r, 2 * quarter, 3 * quarter);
    cairo_close_path(page);
}

void trace_circle(cairo_t* page, const VectorShape& shape) {
    const auto [x, y] = corner(shape.points[0]);
    cairo_new_sub_path(page);
    cairo_arc(page, x, y, static_cast<double>(shape.radius), 0, 2 * std::numbers::pi);
    cairo_close_path(page);
}

void trace_points(cairo_t* page, const VectorShape& shape) {
    for (std::size_t k = 0; k < shape.points.size(); ++k) {
        const auto [x, y] = corner(shape.points[k]);
        const bool begins = k == 0 || (shape.kind == Kind::lines && k % 2 == 0);
        begins ? cairo_move_to(page, x, y) : cairo_line_to(page, x, y);
    }
    if (shape.closed || shape.kind == Kind::polygon) cairo_close_path(page);
}

void trace_bezier(cairo_t* page, const VectorShape& shape) {
    const Corner a = corner(shape.points[0]), b = corner(shape.points[1]), c = corner(shape.points[2]),
                 d = corner(shape.points[3]);
    cairo_move_to(page, a.x, a.y);
    cairo_curve_to(page, b.x, b.y, c.x, c.y, d.x, d.y);
}

void trace(cairo_t* page, const VectorShape& shape) {
    switch (shape.kind) {
    case Kind::rect:
    case Kind::frame: return trace_rectangle(page, shape);
    case Kind::disc:
    case Kind::ring: return trace_circle(page, shape);
    case Kind::polygon:
    case Kind::polyline:
    case Kind::lines: return trace_points(page, shape);
    case Kind::bezier: return trace_bezier(page, shape);
    case Kind::text: break;
    }
}

bool is_filled(const VectorShape& shape) {
    return shape.kind == Kind::rect || shape.kind == Kind::polygon || shape.kind == Kind::disc;
}

// A plate with round corners is a smaller rectangle and a line round it with round joins: without curves.
bool is_plate(const VectorShape& shape) {
    return shape.kind == Kind::rect && shape.radius > 0 && is_opaque(shape) &&
           box_of(shape).shorter() > 2 * static_cast<double>(shape.radius) + .1;
}

void fill_plate(cairo_t* page, const VectorShape& shape) {
    const auto [x, y, w, h] = box_of(shape);
    const double r = static_cast<double>(shape.radius);
    cairo_rectangle(page, x + r, y + r, w - 2 * r, h - 2 * r);
    cairo_set_line_width(page, 2 * r);
    cairo_set_line_join(page, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(page, nullptr, 0, 0);
    cairo_fill_preserve(page);
    cairo_stroke(page);
}

void stroke(cairo_t* page, const VectorShape& shape) {
    cairo_set_line_join(page, is_small_frame(shape) ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
    cairo_set_line_width(page, static_cast<double>(shape.width));
    const double dashes[] = {static_cast<double>(shape.dash_on), static_cast<double>(shape.dash_off)};
    cairo_set_dash(page, dashes, shape.dash_on > 0 ? 2 : 0, 0);
    cairo_stroke(page);
}

/// Neighbours of one colour are one shape: between two of them no reader draws a seam.
bool is_tile(const VectorShape& shape) {
    return shape.kind == Kind::rect && shape.radius <= 0 && is_opaque(shape);
}

bool is_clipped(const VectorShape& shape) { return shape.clip_max.x > shape.clip_min.x; }
bool same_clip(const VectorShape& a, const VectorShape& b) {
    return a.clip_min.x == b.clip_min.x && a.clip_min.y == b.clip_min.y && a.clip_max.x == b.clip_max.x &&
           a.clip_max.y == b.clip_max.y;
}

/// Draws shape k and those behind it that belong to it; k moves behind them.
void draw_next(cairo_t* page, const std::vector<VectorShape>& shapes, std::size_t& k) {
    const VectorShape& first = shapes[k++];
    if (first.kind == Kind::text) {
        for (const VectorRun& run : first.runs) show_run(page, run);
        return;
    }
    set_colour(page, first.colour);
    if (is_plate(first)) return fill_plate(page, first);
    trace(page, first);
    const auto joins = [&](const VectorShape& next) {
        return is_tile(first) && is_tile(next) && next.colour == first.colour && same_clip(first, next);
    };
    while (k < shapes.size() && joins(shapes[k])) trace(page, shapes[k++]);
    is_filled(first) ? cairo_fill(page) : stroke(page, first);
}

void draw(cairo_t* page, const ui::VectorPicture& picture) {
    const std::vector<VectorShape>& shapes = picture.shapes;
    cairo_set_miter_limit(page, 4);
    for (std::size_t k = 0; k < shapes.size();) {
        const VectorShape& first = shapes[k];
        cairo_save(page);
        if (is_clipped(first)) {
            const auto [x, y] = corner(first.clip_min);
            const auto [right, bottom] = corner(first.clip_max);
            cairo_rectangle(page, x, y, right - x, bottom - y);
            cairo_clip(page);
        }
        while (k < shapes.size() && same_clip(first, shapes[k])) draw_next(page, shapes, k);
        cairo_restore(page);
    }
}

cairo_status_t append_bytes(void* out, const unsigned char* bytes, unsigned count) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
}

}  // namespace

// ---- The file

struct Pdf::File {
    std::string bytes;
    cairo_surface_t* surface = nullptr;
    cairo_t* page = nullptr;
    int pages = 0;
    std::string chapter;
    int chapter_entry = CAIRO_PDF_OUTLINE_ROOT;
};

Pdf::Pdf(int width, int height, const std::string& title) : file_(std::make_unique<File>()) {
    const double scale = page_width / width;
    cairo_surface_t*& surface = file_->surface;
    surface = cairo_pdf_surface_create_for_stream(append_bytes, &file_->bytes, page_width, height * scale);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title.c_str());
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR,
                                   (std::string("Tilewalk ") + version).c_str());
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");  // none
    file_->page = cairo_create(surface);
    cairo_scale(file_->page, scale, scale);
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(file_->page, options);
    cairo_font_options_destroy(options);
}

Pdf::~Pdf() {
    cairo_destroy(file_->page);
    cairo_surface_destroy(file_->surface);
}

void Pdf::add_page(const std::vector<PlacedPicture>& pictures, const std::string& name,
                   const std::string& chapter) {
    File& file = *file_;
    for (const PlacedPicture& placed : pictures) {
        cairo_save(file.page);
        cairo_translate(file.page, static_cast<double>(placed.x), static_cast<double>(placed.y));
        cairo_scale(file.page, static_cast<double>(placed.scale), static_cast<double>(placed.scale));
        draw(file.page, placed.picture);
        cairo_restore(file.page);
    }
    cairo_show_page(file.page);
    const std::string place = "page=" + str(++file.pages);
    const auto entry = [&](int parent, const std::string& words) {
        return cairo_pdf_surface_add_outline(file.surface, parent, words.c_str(), place.c_str(),
                                             static_cast<cairo_pdf_outline_flags_t>(0));
    };
    if (chapter.empty())
        file.chapter_entry = CAIRO_PDF_OUTLINE_ROOT;
    else if (chapter != file.chapter)
        file.chapter_entry = entry(CAIRO_PDF_OUTLINE_ROOT, chapter);
    file.chapter = chapter;
    entry(file.chapter_entry, name);
}

Result<std::string> Pdf::finish() {
    const cairo_status_t drawn = cairo_status(file_->page);
    cairo_surface_finish(file_->surface);
    const cairo_status_t status =
        drawn != CAIRO_STATUS_SUCCESS ? drawn : cairo_surface_status(file_->surface);
    if (status != CAIRO_STATUS_SUCCESS)
        return Failure{std::string("The slides cannot be drawn: ") + cairo_status_to_string(status) + "."};
    return std::move(file_->bytes);
}

}  // namespace tilewalk
