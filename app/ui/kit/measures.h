// The measures that recur, in logical px: text sizes, and what lies between and round things. A number that
// stands in one place only stays there.
#pragma once

namespace tilewalk::ui {

/// Of text.
namespace size {

constexpr float small = 13;    ///< the least in the normal view: captions, notes, labels, crowded numbers
constexpr float body = 14;     ///< lines of text, buttons, subtitles
constexpr float lead = 15;     ///< titles of panels, paragraphs, numbers in cells
constexpr float formula = 16;  ///< formulas, and the letters of small matrices
constexpr float symbol = 17;   ///< the letter of a matrix

// On a page of 1280 × 720 for the back row
constexpr float far = 27;           ///< the least there: heads, captions
constexpr float far_number = 28;    ///< numbers in cells
constexpr float far_text = 30;      ///< sentences and names
constexpr float far_sign = 34;      ///< words and signs between matrices
constexpr float far_operator = 44;  ///< the thin ones of them: · + −
constexpr float far_symbol = 35;    ///< the letter of a matrix
constexpr float far_title = 44;     ///< what the step does
constexpr float far_lead = 36;      ///< what a page without a walk finds
/// What is drawn for the normal view is so many times as large there: its smallest text is the least of the
/// page.
constexpr float far_growth = far / small;

constexpr float lines = 1.4f;  ///< height of a line of a paragraph, as a part of the text size
constexpr float mono = .602f;  ///< width of a letter of the mono face, as a part of the text size

}  // namespace size

/// Between and round things.
namespace space {

constexpr float margin = 12;        ///< round the panels of a page, and between them
constexpr float pad = 16;           ///< from the edge of a panel to what it holds
constexpr float foot = 14;          ///< from what it holds to its lower edge
constexpr float title = 22;         ///< from the top of a panel to the middle of its title
constexpr float control = 32;       ///< height of a button, a field, a choice
constexpr float bar = 36;           ///< the same in the bar at the foot of a page
constexpr float control_top = 6;    ///< from the top of a panel to a control beside its title
constexpr float control_edge = 12;  ///< from such a control to the right edge of the panel
constexpr float window = 16;    ///< at least, from a card that lies over the page to the edge of the window
constexpr float icon = 30;      ///< a square button in the title of a panel
constexpr float far_icon = 44;  ///< the same on presenter pages
constexpr float far_pad = 20;   ///< from the edge of the strip of presenter pages to what it holds
constexpr float far_edge = 28;  ///< from the edge of a presenter page to its head
constexpr float far_side = 40;  ///< from the edge of a presenter page without a walk to what it holds

}  // namespace space

/// Sizes from which there is room for more.
namespace from {

constexpr float lens = 110;            ///< height: a lower lens has its title nearer to its edge
constexpr float sram = 470;            ///< height of the panel of the tiles on chip: larger gaps
constexpr float high_sram = 600;       ///< and a larger lens
constexpr float large_sram = 740;      ///< and larger cells
constexpr float wide_sram = 1000;      ///< width: larger numbers
constexpr float high_hbm = 560;        ///< height of the panel of HBM: larger gaps
constexpr float high_page = 700;       ///< height of pages without a walk: higher bars
constexpr float wide_page = 1200;      ///< width: wider panels at the left
constexpr float presenter_page = 700;  ///< height: below it the card of a tour covers the rest of the page
constexpr float far_row = 34;          ///< height of a cell: numbers on presenter pages

}  // namespace from

/// Of corners.
namespace radius {

constexpr float bar = 3;      ///< bars and boxes of a drawing
constexpr float cell = 4;     ///< cells of matrices
constexpr float card = 6;     ///< cards and marked lines within a panel
constexpr float control = 8;  ///< buttons, fields, notes
constexpr float panel = 10;   ///< panels, wells and cards over the page

}  // namespace radius

}  // namespace tilewalk::ui
