#include "app/export/slide_pages.h"

#include "core/base/version.h"

namespace tilewalk {
namespace {

using ui::Canvas;
using ui::Face;

const std::string made_by = std::string("Made with Tilewalk ") + version;

void page_ground(const Canvas& c) { c.rect(0, 0, slide_width, slide_height, ui::presenter_page(*c.theme)); }

// The hues of what every lesson is about, in the order in which they come up.
void draw_hues(const Canvas& c, float x, float y) {
    for (const Role role : {Role::Q, Role::K, Role::S, Role::m, Role::l, Role::alpha, Role::V, Role::O}) {
        c.rect(x, y, 44, 12, ui::hue(*c.theme, role), ui::radius::bar);
        x += 52;
    }
}

}  // namespace

void draw_title_page(const Canvas& c, const TitlePage& page) {
    constexpr float x = 96, w = slide_width - 2 * x;
    page_ground(c);
    draw_hues(c, x, 120);
    float y = 168;
    y += c.paragraph(x, y, w, page.title, ui::size::far_title, 0, 2, Face::semibold, 1.25f);
    if (!page.subtitle.empty())
        y += 4 + c.paragraph(x, y + 4, w, page.subtitle, ui::size::far_text, c.theme->t2, 2);
    y += 24;
    for (const std::string& fact : page.facts)
        y += 10 + c.paragraph(x, y, w, fact, ui::size::far, c.theme->t2, 4);
    c.line({x, 604}, {x + w, 604}, c.theme->line2);
    c.text_within(x, 640, w * .6f, page.foot, ui::size::far, c.theme->t2);
    c.text(x + w, 640, made_by, ui::size::far, c.theme->t3, Face::regular, ui::Align::right);
}

void draw_notes_page(const Canvas& c, const NotesPage& page) {
    constexpr ui::Rect a = small_slide;
    constexpr float x = a.x, right = slide_width - x, column = x + a.w + 36;
    page_ground(c);
    c.text_within(x, 48, right - x, page.heading, 22, 0, Face::semibold);
    c.text_within(x, 82, right - x, page.place, 16, c.theme->t3);
    c.frame(a.x - .5f, a.y - .5f, a.w + 1, a.h + 1, c.theme->line2);
    c.rich_paragraph(column, a.y, right - column, page.notes, 20, 0, c.theme->t1, 1.5f);
    c.text(right, slide_height - 36, made_by, 16, c.theme->t3, Face::regular, ui::Align::right);
}

}  // namespace tilewalk
