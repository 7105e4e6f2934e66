// The small pictures of the start page: one for each door and each moment. Letters and numbers appear where
// they have room; `big`: on stage, 27 px and more.
#pragma once

#include "app/ui/chapters/start/page.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

namespace tilewalk::ui {

/// What stands on the canvas of a picture.
struct Sheet {
    const Canvas& c;
    const StartPage& page;
    Rect area;
    bool big = false;
    float text() const { return big ? size::far : size::small; }
    float letter() const { return big ? size::far_number : size::symbol; }
};

// Doors
void attention_picture(const Sheet& sheet);
void softmax_picture(const Sheet& sheet);
void forward_picture(const Sheet& sheet);
void backward_picture(const Sheet& sheet);
void training_picture(const Sheet& sheet);
void memory_picture(const Sheet& sheet);
void kernels_picture(const Sheet& sheet);
void inside_picture(const Sheet& sheet);
void gpu_picture(const Sheet& sheet);
void merge_picture(const Sheet& sheet);

/// The row of S whose softmax the softmax door shows, in the picture of the forward pass.
Rect chosen_row(const Sheet& forward);

// Moments
void correction_picture(const Sheet& sheet);
void broken_picture(const Sheet& sheet);
void length_picture(const Sheet& sheet);
void workspace_picture(const Sheet& sheet);
void digits_picture(const Sheet& sheet);

/// What slot held after step k.
const Value& held(const Trace& trace, Slot slot, int k);
/// The colour of a kernel: standard attention, or the n-th of `count` on the ladder.
ImU32 ladder_colour(const Theme& theme, std::size_t n, std::size_t count);

}  // namespace tilewalk::ui
