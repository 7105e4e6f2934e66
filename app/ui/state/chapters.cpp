#include "app/ui/state/chapters.h"

#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

std::vector<const Lesson*> lessons_of(ChapterId chapter) {
    std::vector<const Lesson*> out;
    for (const Lesson& lesson : lessons())
        if (lesson.chapter == chapter) out.push_back(&lesson);
    return out;
}

}  // namespace

std::span<const Chapter> chapters() {
    static const Chapter table[] = {
        {"chapter attention", "Attention", "Attention", "Standard attention, every multiplication",
         Page::walk, lessons_of(ChapterId::attention)},
        {"chapter softmax", "Online softmax", "Softmax", "Safe softmax in three passes, two and one",
         Page::walk, lessons_of(ChapterId::softmax)},
        {"chapter forward", "Flash forward", "Forward",
         "The tiled forward pass, in the order of FlashAttention-2 or -1", Page::walk,
         lessons_of(ChapterId::forward)},
        {"chapter backward", "Backward", "Backward",
         "Gradients by dense matrices, and tile by tile with recomputation", Page::walk,
         lessons_of(ChapterId::backward), "gradients-4x4"},
        {"chapter training", "Training step", "Training",
         "Gradients of the weights, an update, and the loss after it", Page::walk,
         lessons_of(ChapterId::training), "gradients-4x4"},
        {"chapter memory", "Memory", "Memory", "What N × N matrices cost, and what moves through HBM",
         Page::memory},
        {"chapter scale", "At scale", "Scale", "Real kernels on large problems: measured time and memory",
         Page::scale},
        {"chapter inside", "Inside", "Inside", "A kernel's run, warp by warp, lane by lane", Page::inside},
        {"chapter compare", "Kernel and CPU", "Kernel",
         "A kernel's own numbers beside the CPU's walk of the same tiles", Page::compare},
        {"chapter merge", "Merge", "Merge",
         "Partial results of one query become one: split keys, shared prefixes", Page::walk,
         lessons_of(ChapterId::merge)},
    };
    return table;
}

const Chapter& current_chapter(const AppState& state) {
    const auto all = chapters();
    for (const Chapter& chapter : all)
        if (state.page != Page::walk && chapter.page == state.page) return chapter;
    for (const Chapter& chapter : all)
        if (std::ranges::find(chapter.lessons, state.lesson) != chapter.lessons.end()) return chapter;
    return all.front();
}

// As it came with the program.
static bool is_untouched_example(const Problem& problem) {
    return problem.name == worked_example && !problem.broken() && !problem.savings.any();
}

// `from`: what was on screen before.
static void show_lesson(AppState& state, const Chapter& chapter, const Lesson& lesson, const WalkView& from) {
    const Problem* own = chapter.example[0] ? find_example(state, chapter.example) : nullptr;
    if (!own || !is_untouched_example(latest_problem(state))) return set_lesson(state, lesson);
    Problem problem = *own;
    problem.options.notation = latest_problem(state).options.notation;
    const auto shown = std::make_shared<const Problem>(std::move(problem));
    if (!show_walk(state, lesson, shown)) return;
    remember_departure(state, from, shown);
    if (!state.presenter)
        notify(state, "This chapter begins with “" + shown->title + "”; Ctrl Z leads back.");
}

void open_chapter(AppState& state, const Chapter& chapter) {
    const WalkView from = state;
    state.player.playing = false;
    state.page = chapter.page;
    if (state.page != Page::walk || &current_chapter(state) == &chapter) return;
    const std::string& left = state.chapter_lessons[chapter.id];
    show_lesson(state, chapter, left.empty() ? *chapter.lessons.front() : *find_lesson(left), from);
}

void next_lesson(AppState& state, int by) {
    struct Stop {
        Page page;
        const Lesson* lesson;  ///< of a walk
        const Chapter* chapter;
    };
    std::vector<Stop> order;
    for (const Chapter& chapter : chapters()) {
        for (const Lesson* lesson : chapter.lessons) order.push_back({Page::walk, lesson, &chapter});
        if (chapter.page != Page::walk) order.push_back({chapter.page, nullptr, &chapter});
    }
    const auto now = std::ranges::find_if(order, [&](const Stop& stop) {
        return stop.page == state.page && (stop.page != Page::walk || stop.lesson == state.lesson);
    });
    const auto count = static_cast<int>(order.size());
    // The start page comes before the first and after the last.
    const auto at = now != order.end() ? static_cast<int>(now - order.begin()) : by > 0 ? -1 : 0;
    const Stop& next = order[static_cast<std::size_t>((at + by + count) % count)];
    const bool there = state.page == Page::walk && next.chapter == &current_chapter(state);
    const WalkView from = state;
    state.page = next.page;
    if (state.page != Page::walk) return;
    there ? set_lesson(state, *next.lesson) : show_lesson(state, *next.chapter, *next.lesson, from);
}

}  // namespace tilewalk::ui
