#include "app/ui/cards/commands.h"

#include "app/ui/cards/cards.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/words.h"
#include "core/class/glossary.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"
#include "core/problem/savings.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Greek letters are found by their names, too.
std::string named_in_full(std::string_view text) {
    std::string out(text);
    for (const auto& [letter, name] : {std::pair{"α", " alpha"}, {"ℓ", " ell"}, {"τ", " tau"}, {"Σ", " sum"}})
        if (text.find(letter) != text.npos) out += name;
    return out;
}

// To where the keys of a group mean what its lines say.
void go_where(AppState& state, std::string_view group) {
    if (group == "Start page") return open_start(state);
    for (const Chapter& chapter : chapters())
        if (chapter.page != Page::walk && group == chapter.title) return open_chapter(state, chapter);
    if (group == "Walk" || group == "Numbers") state.page = Page::walk;
}

// As if the key had been pressed there; answered with the keys of the next frame.
std::function<void(AppState&)> pressing(const char* group, KeyPress press) {
    return [group, press](AppState& state) {
        go_where(state, group);
        state.keys.push_back(press);
    };
}

void add_keys(std::vector<Command>& out) {
    for (const Shortcut& s : shortcuts()) {
        if (std::string_view(s.group) == "Moments") continue;
        Command command{capitalised(s.action), "Key", s.keys, std::string("action key ") + s.group,
                        pressing(s.group, s.presses[0])};
        const bool two =
            s.presses.size() >= 2 && std::string_view(s.action).find(',') != std::string_view::npos;
        if (two) command.other = pressing(s.group, s.presses[1]);
        out.push_back(std::move(command));
    }
}

void add_moments(std::vector<Command>& out) {
    for (const Moment& moment : moments())
        out.push_back({moment.title, "Moment", moment.keys,
                       std::string(moment.action) + " " + named_in_full(moment.title),
                       [&moment](AppState& state) { go_to_moment(state, moment); }});
}

void add_chapters(std::vector<Command>& out) {
    std::size_t n = 0;
    for (const Chapter& chapter : chapters())
        out.push_back({chapter.title, "Chapter", str(++n),
                       std::string(chapter.tooltip) + " page " + chapter.brief,
                       [&chapter](AppState& state) { open_chapter(state, chapter); }});
}

void open_lesson(AppState& state, const Lesson& lesson) {
    state.page = Page::walk;
    set_lesson(state, lesson);
}

void add_lessons(std::vector<Command>& out) {
    for (const Lesson& lesson : lessons())
        out.push_back({lesson.title, "Lesson", "",
                       std::string(lesson.summary) + " " + lesson.tab + " " + lesson.id,
                       [&lesson](AppState& state) { open_lesson(state, lesson); }});
}

void add_examples(std::vector<Command>& out, const AppState& state) {
    for (std::size_t n = 0; n < state.examples.size(); ++n) {
        const Problem& p = state.examples[n];
        out.push_back({p.title, "Example", "", p.name + " " + p.watch,
                       [n](AppState& s) { open_example(s, static_cast<int>(n)); }});
    }
}

bool knows(const Lesson& lesson, const Fault& fault) {
    return std::ranges::any_of(lesson.faults(), [&](const Fault& one) { return one.on == fault.on; });
}

// On, or off again, in a lesson that has it.
void toggle_fault(AppState& state, const Lesson& lesson, const Fault& fault) {
    state.page = Page::walk;
    if (!knows(*state.lesson, fault)) set_lesson(state, lesson);
    Problem problem = latest_problem(state);
    problem.switches.*fault.on = !(problem.switches.*fault.on);
    set_problem(state, std::move(problem));
}

void add_faults(std::vector<Command>& out) {
    std::vector<bool Switches::*> seen;
    const auto add = [&](const Lesson& lesson) {
        for (const Fault& fault : lesson.faults()) {
            if (std::ranges::find(seen, fault.on) != seen.end()) continue;
            seen.push_back(fault.on);
            out.push_back({fault.title, "Fault", "",
                           named_in_full(fault.what) + " break broken " + fault.name,
                           [&lesson, &fault](AppState& state) { toggle_fault(state, lesson, fault); }});
        }
    };
    add(default_lesson());
    for (const Lesson& lesson : lessons()) add(lesson);
}

// Every kernel that the page Inside can walk through.
void add_kernels(std::vector<Command>& out, AppState& state) {
    for (const gpu::TraceableKernel& kernel : inside_page(state).kernels)
        out.push_back({kernel.name, "Rung", "", "kernel inside cuda " + kernel.title,
                       [name = kernel.name](AppState& s) {
                           s.page = Page::inside;
                           s.inside.ladder = false;
                           choose_inside_kernel(s, name);
                       }});
}

// What it runs them on.
void add_recorded_sizes(std::vector<Command>& out) {
    int n = 0;
    for (const RecordedSize& size : inside_sizes()) {
        out.push_back({"Inside on " + str(size.N) + " × " + str(size.d) + ", random", "Problem", "",
                       "kernel inside size tiles " + std::string(size.name) + " " + size.shows,
                       [n](AppState& s) {
                           s.page = Page::inside;
                           choose_inside_size(s, n);
                       }});
        ++n;
    }
}

// Of the kernel that the page Inside has recorded; without a record the list of them.
void add_kernel_faults(std::vector<Command>& out, const AppState& state) {
    out.push_back(
        {"Break the kernel", "Fault", "", "inside barrier wait swizzle guard race break X", [](AppState& s) {
             s.page = Page::inside;
             s.lists.faults = true;
             s.lists.fault_at = 0;
         }});
    for (const InsideFault& fault : inside_faults(state))
        if (fault.offered)
            out.push_back({state.inside.kernel + ": " + fault.title, "Fault", "",
                           fault.name + " inside race break " + fault.words,
                           [name = fault.name](AppState& s) {
                               s.page = Page::inside;
                               choose_inside_fault(s, name);
                           }});
}

// On, or off again, in the lesson that knows it.
void toggle_saving(AppState& state, void (*change)(Savings&)) {
    state.page = Page::walk;
    if (!state.lesson->uses(takes_savings)) set_lesson(state, default_lesson());
    Problem problem = latest_problem(state);
    change(problem.savings);
    set_problem(state, std::move(problem));
}

void add_savings(std::vector<Command>& out) {
    out.push_back({"Lazy rescaling", "Saving", "", "rescale threshold tau Blackwell FlashAttention-4 break",
                   [](AppState& state) {
                       toggle_saving(state, [](Savings& saved) {
                           saved.lazy = saved.lazy ? std::nullopt : std::optional(published_lazy);
                       });
                   }});
    out.push_back(
        {"Cubic exp2", "Saving", "", "exponential polynomial Cody Waite Blackwell FlashAttention-4 break",
         [](AppState& state) { toggle_saving(state, [](Savings& saved) { saved.cubic = !saved.cubic; }); }});
}

// Rounded as a kernel rounds, in any lesson.
void round_as(AppState& state, const Precision& precision) {
    state.page = Page::walk;
    Problem problem = latest_problem(state);
    problem.precision = precision;
    set_problem(state, std::move(problem));
}

void add_formats(std::vector<Command>& out) {
    for (const Preset& preset : presets())
        out.push_back({std::string("Number formats: ") + preset.name, "Format", "",
                       "rounding precision break",
                       [&preset](AppState& state) { round_as(state, preset.precision); }});
}

// "Softmax", but fp16 as everywhere.
std::string term_title(const GlossaryCard& card) {
    const bool format = find_format(card.term).has_value();
    return format ? std::string(card.term) : capitalised(card.term);
}

void add_terms(std::vector<Command>& out) {
    for (const GlossaryCard& card : glossary())
        out.push_back({term_title(card), "Term", "", std::string(card.words) + " " + card.id + " symbol",
                       [&card](AppState& state) {
                           state.glossary = std::make_shared<Glossary>();
                           state.glossary->card = card.id;
                       }});
}

// Of the tour that runs; without one of the program's own, which any of them begins.
void add_stops(std::vector<Command>& out, AppState& state) {
    const StartPage& page = start_page(state);
    std::vector<std::string> stops;
    if (state.tour)
        for (const TourStop& stop : state.tour->script.stops) stops.push_back(stop.heading);
    else
        stops = page.stops;
    const std::vector<TourChapter>& chapters = state.tour ? state.tour->script.chapters : page.tour_chapters;
    for (std::size_t n = 0; n < chapters.size(); ++n)
        out.push_back({"Tour: chapter " + str(n + 1) + ", " + chapters[n].name, "Tour", "",
                       "guided stops part " + str(n + 1),
                       [first = chapters[n].first](AppState& s) { begin_tour_at(s, first); }});
    for (std::size_t n = 0; n < stops.size(); ++n)
        out.push_back({stops[n], "Tour stop", "", "tour " + str(n + 1) + " " + named_in_full(stops[n]),
                       [n](AppState& s) { begin_tour_at(s, static_cast<int>(n)); }});
}

void flip(AppState& state, const SettingName& setting) {
    bool& on = state.settings.*setting.on;
    on = !on;
    notify(state, std::string(setting.name) + (on ? ": on." : ": off."));
}

void add_settings(std::vector<Command>& out) {
    for (const SettingName& setting : setting_names())
        out.push_back(
            {setting.name, "Setting", "", std::string(setting.note) + " settings",
             [setting](AppState& state) { setting.on ? flip(state, setting) : settings_card.open(state); }});
}

bool begins_word(const std::string& text, const std::string& part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        const char before = at == 0 ? ' ' : text[at - 1];
        if (std::string_view(" -(,×/").find(before) != std::string_view::npos) return true;
    }
    return false;
}

bool letters_in_order(const std::string& text, const std::string& part) {
    std::size_t at = 0;
    for (const char c : text)
        if (at < part.size() && c == part[at]) ++at;
    return at == part.size() && part.size() >= 3;
}

constexpr int letters_only = 9;

// How well one word fits, 0 best; nothing if it does not.
std::optional<int> fit(const Command& command, const std::string& word) {
    const std::string title = lower_case(command.title),
                      more = lower_case(std::string(command.kind) + " " + command.keys + " " + command.words);
    if (title.starts_with(word)) return 0;
    if (begins_word(title, word)) return 1;
    if (title.find(word) != std::string::npos) return 3;
    if (begins_word(more, word)) return 5;
    if (more.find(word) != std::string::npos) return 7;
    if (letters_in_order(title, word)) return letters_only;
    return std::nullopt;
}

}  // namespace

std::vector<Command> commands(AppState& state) {
    std::vector<Command> out;
    add_chapters(out);
    add_moments(out);
    add_lessons(out);
    add_keys(out);
    add_examples(out, state);
    add_faults(out);
    add_kernels(out, state);
    add_recorded_sizes(out);
    add_kernel_faults(out, state);
    add_formats(out);
    add_savings(out);
    add_stops(out, state);
    add_terms(out);
    add_settings(out);
    return out;
}

std::vector<Command> find_commands(std::vector<Command> all, std::string_view text) {
    const std::vector<std::string> words = words_of(lower_case(std::string(text)));
    if (words.empty()) return all;
    const std::string whole = joined(words, " ");
    std::vector<std::pair<int, Command>> found;
    for (Command& command : all) {
        int far = lower_case(command.title) == whole             ? -20
                  : lower_case(command.kind) == whole            ? -10  // "example": all of them
                  : lower_case(command.title).starts_with(whole) ? -2
                                                                 : 0;
        bool fits = true;
        for (const std::string& word : words) {
            const std::optional<int> one = fit(command, word);
            fits = fits && one.has_value();
            far += one.value_or(0);
        }
        // A chapter comes before its lessons.
        if (fits && far <= 1 && command.kind == std::string_view("Chapter")) far = std::min(far, 0) - 3;
        if (fits) found.emplace_back(far, std::move(command));
    }
    std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
    // Letters in their order help where nothing better is found.
    if (!found.empty() && found.front().first < letters_only)
        std::erase_if(found, [](const auto& one) { return one.first >= letters_only; });
    std::vector<Command> out;
    for (auto& [far, command] : found) out.push_back(std::move(command));
    return out;
}

}  // namespace tilewalk::ui
