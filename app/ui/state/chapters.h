// The chapters of the program: what the tabs at the top lead to. A chapter holds one lesson or a few that
// belong together; Memory and At scale are pages of their own, without a walk.
#pragma once

#include "app/ui/state/app_state.h"

#include <span>
#include <vector>

namespace tilewalk::ui {

struct Chapter {
    const char* id;
    const char* title;
    const char* brief;  ///< for narrow windows
    const char* tooltip;
    Page page;
    std::vector<const Lesson*> lessons = {};  ///< none on a page without a walk
    /// What its lessons show in place of the worked example; empty: the worked example does.
    const char* example = "";
};

std::span<const Chapter> chapters();
const Chapter& current_chapter(const AppState& state);
/// The example that the program begins with.
inline constexpr const char* worked_example = "worked-4x4";
/// Opens it at the lesson that was shown there last. Who comes with the untouched worked example gets the
/// chapter's own: its dO has rows of zeros, and half of what a backward pass computes would be 0.
void open_chapter(AppState& state, const Chapter& chapter);
/// The previous (−1) or next (+1) lesson or page in the order of the tabs.
void next_lesson(AppState& state, int by);

}  // namespace tilewalk::ui
