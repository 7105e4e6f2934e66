// The frame in which presenter mode tells every step: what is there before, what is done, what is there
// after.
#pragma once

#include "app/ui/kit/canvas.h"
#include "core/walk/trace.h"

namespace tilewalk::ui {

/// What stands over the three parts of a step. What only moves has no before: it comes from somewhere.
struct FrameWords {
    Op op;
    const char *before, *operation, *after;
};
const FrameWords& frame_words(Op op);

/// From the middle of these words down to what they stand over, and what they take of a page.
constexpr float frame_up = 16, frame_h = 26;
/// From what stands above a drawing down to it, with a low line for its word between; up to the word's
/// middle.
constexpr float word_over_drawing = 30, word_up = 15;

/// Their left edge there, their middle at that height. Returns the width.
float draw_frame_word(const Canvas& canvas, float x, float middle, const std::string& word);
/// Over something, at its left edge.
float draw_frame_word_over(const Canvas& canvas, const Rect& area, const std::string& word);
/// Of the drawing beside a table: a load changes nothing of it.
const char* word_of_drawing(Op op);
/// Where something else lies above a drawing: in its upper border.
void draw_frame_word_in_border(const Canvas& canvas, const Rect& area, const std::string& word);

/// A table in which both stand: "before → after"; of what moves, between which memories.
std::string words_of_table(Op op);

}  // namespace tilewalk::ui
