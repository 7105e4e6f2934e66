// Pictures of the program that are made while its window draws a frame.
#pragma once

#include "app/render/offscreen.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/vector_picture.h"

#include <string>

namespace tilewalk {

/// A context and fonts of its own; what is drawn in it appears in no list. The frame under way goes on.
class DrawingApart {
public:
    DrawingApart();
    ~DrawingApart();
    DrawingApart(const DrawingApart&) = delete;
    DrawingApart& operator=(const DrawingApart&) = delete;

private:
    ui::FontsAside fonts_;
    HeadlessContext context_;
    ui::ItemRegistry* items_;
    decltype(ui::place_list) places_;
    ui::VectorPicture* vectors_;
};

/// PNG or SVG, as whole files: what the state shows, without notices and the card that asks for it.
std::string picture_of_view(const ui::AppState& state, int width, int height, bool vectors);

}  // namespace tilewalk
