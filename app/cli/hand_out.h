// Hand-outs and pictures of what a window shows, made a bit at a time so that its frames go on; and the pages
// that the command line writes in one go.
#pragma once

#include "app/cli/values.h"
#include "app/ui/state/hooks.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

class PictureBook;
using FileWork = Result<std::shared_ptr<ui::Piecework>>;

enum class HandOut { html, pdf, md, tex };
std::optional<HandOut> format_of_ending(const std::string& path);

/// What a page or slides look like; notes and documents have no pictures.
struct PageLook {
    Size size{1280, 720};
    std::string theme;      ///< "dark", "light"; empty: as the reader's system has it
    bool contrast = false;  ///< the dark page in the colours of high contrast
};
/// The pictures of all steps of a walk.
PictureBook draw_pictures(ui::AppState& state, const PageLook& look);

/// The whole walk that is shown, or the run of the kernel: .html, .md or .tex.
FileWork begin_hand_out(const std::string& path, const ui::AppState& state);
/// The view, without notices and the card that asks for it: .png or .svg.
FileWork begin_picture(const std::string& path, const ui::AppState& state, int width, int height);
/// All of it at once.
Result<void> finish(const FileWork& work);

}  // namespace tilewalk
