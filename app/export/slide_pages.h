// The pages of slides that are no picture of the program: the title, and the notes below a small slide.
#pragma once

#include "app/ui/kit/canvas.h"
#include "core/class/tour.h"

#include <string>
#include <vector>

namespace tilewalk {

/// Both are drawn for 1280 × 720, as presenter mode is.
constexpr float slide_width = 1280, slide_height = 720;

struct TitlePage {
    std::string title;               ///< "Flash forward"
    std::string subtitle;            ///< "4 × 4 worked example"
    std::vector<std::string> facts;  ///< sentences, each a paragraph
    std::string foot;                ///< "Steps 11–20 of 40"
};
void draw_title_page(const ui::Canvas& canvas, const TitlePage& page);

struct NotesPage {
    std::string heading;  ///< "4 · The output, and the bill"
    std::string place;    ///< "Dense attention, step 9 of 9"
    Line notes;
};
/// Where the small slide lies on a page of notes.
constexpr ui::Rect small_slide{40, 112, 720, 405};
void draw_notes_page(const ui::Canvas& canvas, const NotesPage& page);

}  // namespace tilewalk
