#include "app/ui/chapters.h"

#include "app/ui/state.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

std::span<const Chapter> chapters() {
    static constexpr ChapterLesson attention[] = {{"attention", "Attention"}};
    static constexpr ChapterLesson softmax[] = {
        {"softmax-3pass", "3 passes"}, {"softmax-2pass", "2"}, {"softmax-1pass", "1"}};
    static constexpr ChapterLesson forward[] = {{"flash-forward", "FA2"}, {"flash-forward-v1", "FA1"}};
    static constexpr ChapterLesson backward[] = {{"backward", "dense"}, {"flash-backward", "flash"}};
    static constexpr ChapterLesson training[] = {{"training-step", "Training step"}};
    static const Chapter table[] = {
        {"chapter attention", "Attention", "Standard attention, every multiplication", attention},
        {"chapter softmax", "Online softmax", "Safe softmax in three passes, two and one", softmax},
        {"chapter forward", "Flash forward", "The tiled forward pass, in the order of FlashAttention-2 or -1",
         forward},
        {"chapter backward", "Backward", "Gradients by dense matrices, and tile by tile with recomputation",
         backward},
        {"chapter training", "Training step", "Gradients of the weights, an update, and the loss after it",
         training},
        {"chapter memory", "Memory", "What N × N matrices cost, and what moves through HBM", {}},
    };
    return table;
}

const Chapter& current_chapter(const AppState& state) {
    const auto all = chapters();
    if (state.show_memory) return all.back();
    for (const Chapter& chapter : all)
        for (const ChapterLesson& entry : chapter.lessons)
            if (entry.lesson == std::string_view(state.lesson->id)) return chapter;
    return all.front();
}

void open_chapter(AppState& state, const Chapter& chapter) {
    state.player.playing = false;
    state.show_memory = chapter.lessons.empty();
    if (state.show_memory || &current_chapter(state) == &chapter) return;
    const std::string& left = state.chapter_lessons[chapter.id];
    set_lesson(state, *find_lesson(left.empty() ? chapter.lessons.front().lesson : left));
}

void next_lesson(AppState& state, int by) {
    std::vector<std::string_view> order;
    for (const Chapter& chapter : chapters())
        for (const ChapterLesson& entry : chapter.lessons) order.emplace_back(entry.lesson);
    const int count = static_cast<int>(order.size()) + 1;  // and the page about memory
    const auto now = std::find(order.begin(), order.end(), std::string_view(state.lesson->id));
    const int at = state.show_memory ? count - 1 : static_cast<int>(now - order.begin());
    const int next = (at + by + count) % count;
    state.show_memory = next == count - 1;
    if (!state.show_memory) set_lesson(state, *find_lesson(order[static_cast<std::size_t>(next)]));
}

}  // namespace tilewalk::ui
