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
};

std::span<const Chapter> chapters();
const Chapter& current_chapter(const AppState& state);
/// Opens it at the lesson that was shown there last.
void open_chapter(AppState& state, const Chapter& chapter);
/// The previous (−1) or next (+1) lesson or page in the order of the tabs.
void next_lesson(AppState& state, int by);

}  // namespace tilewalk::ui
