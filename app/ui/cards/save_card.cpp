#include "app/ui/cards/cards.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/card.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace tilewalk::ui {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 6> endings = {".png", ".svg", ".html", ".pdf", ".md", ".tex"};
const std::vector<std::string> format_names = {"PNG", "SVG", "HTML", "PDF", "Markdown", "LaTeX"},
                               size_names = {"As on screen", "1920 × 1080", "3840 × 2160"};

bool whole_walk(const SaveCard& card) { return card.format >= static_cast<int>(SaveFormat::html); }
bool is_slides(const SaveCard& card) { return card.format == static_cast<int>(SaveFormat::pdf); }
const char* ending_of(int format) { return endings[static_cast<std::size_t>(format)]; }

// "tilewalk-flash-forward-step-12.svg"; the whole walk has no step.
std::string usual_name(const AppState& state, const SaveCard& card) {
    const bool walk = state.page == Page::walk;
    std::string name = std::string("tilewalk-") +
                       (walk ? state.lesson->id : page_names[static_cast<std::size_t>(state.page)]);
    if (walk && !whole_walk(card)) name += "-step-" + str(state.cursor.step + 1);
    if (state.page == Page::inside) name += "-" + fs::path(inside_kernel_name(state)).stem().string();
    if (is_slides(card) && state.tour) name = "tilewalk-tour";
    return name + ending_of(card.format);
}

void set_path(SaveCard& card, const std::string& path) {
    std::snprintf(card.path, sizeof card.path, "%s", path.c_str());
}

/// The format that the ending of the name stands for; −1: none.
int format_of(const std::string& path) {
    const std::string ending = fs::path(path).extension().string();
    const auto found = std::ranges::find(endings, ending);
    return found == endings.end() ? -1 : static_cast<int>(found - endings.begin());
}

// The name follows: the usual one as a whole, one of the user's own by its ending.
void set_format(const AppState& state, SaveCard& card, int format) {
    const bool usual = card.path == usual_name(state, card);
    const std::string path = card.path;
    card.format = format;
    if (usual)
        set_path(card, usual_name(state, card));
    else if (format_of(path) >= 0)
        set_path(card, fs::path(path).replace_extension(ending_of(format)).string());
    card.message.clear();
}

/// Why this format cannot be written; empty if it can.
std::string refusal(const AppState& state, const SaveCard& card) {
    if (!whole_walk(card)) return state.hooks.begin_picture ? "" : "Pictures cannot be written here.";
    if (is_slides(card) && !state.hooks.begin_slides) return "Slides cannot be written here.";
    if (is_slides(card) && state.tour) return "";
    if (state.page == Page::inside) {
        if (card.format == static_cast<int>(SaveFormat::latex))
            return "A kernel's run is written as HTML, PDF or Markdown.";
        if (!place_inside(state)) return "There is no run of a kernel to be saved yet.";
    } else if (state.page != Page::walk) {
        return "A hand-out is of a whole walk, and this page has none.";
    }
    return state.hooks.begin_hand_out ? "" : "Hand-outs cannot be written here.";
}

struct Pixels {
    int width, height;
};
Pixels pixels_of(const SaveCard& card) {
    if (card.size == SaveCard::full_hd) return {1920, 1080};
    if (card.size == SaveCard::ultra_hd) return {3840, 2160};
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    return {static_cast<int>(screen.x), static_cast<int>(screen.y)};
}

std::string full_path(const SaveCard& card) {
    std::string path = card.path;
    if (format_of(path) != card.format) path += ending_of(card.format);
    return path;
}

void fail(AppState& state, SaveCard& card, const std::string& sentence) {
    card.work.reset();
    card.message = sentence;
    notify(state, sentence);
}

void finish(AppState& state, const std::string& path, const std::string& what) {
    notify(state, "Saved " + path + " (" + what + ").");
    state.saving.reset();
}

// As much as a frame has time for.
void go_on(AppState& state, SaveCard& card) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds(6);
    const std::shared_ptr<Piecework> work = card.work;
    do
        if (const auto done = work->next(); !done) return fail(state, card, done.error);
    while (work->done < work->all && !work->waits && Clock::now() < until);
    if (work->done == work->all) finish(state, full_path(card), card.work_of);
}

// Begins the file, whose last piece closes the card, or says why not.
void save(AppState& state) {
    const std::shared_ptr<SaveCard> card = state.saving;
    card->message = refusal(state, *card);
    if (card->message.empty() && card->path[0] == 0) card->message = "The file needs a name.";
    if (!card->message.empty()) return;
    const std::string path = full_path(*card);
    std::error_code ignored;
    if (fs::exists(path, ignored) && std::exchange(card->asked, path) != path) {
        card->message = fs::path(path).filename().string() + " is there already. Save again to replace it.";
        return;
    }
    const auto [width, height] = pixels_of(*card);
    auto begun = is_slides(*card)    ? state.hooks.begin_slides(path, state)
                 : whole_walk(*card) ? state.hooks.begin_hand_out(path, state)
                                     : state.hooks.begin_picture(path, state, width, height);
    if (!begun) return fail(state, *card, begun.error);
    card->work = std::move(*begun);
    card->work_of = is_slides(*card)             ? counted(card->work->all, "page")
                    : !whole_walk(*card)         ? str(width) + " × " + str(height)
                    : state.page == Page::inside ? std::string("counts of every line")
                                                 : "all " + counted(state.trace->size(), "step");
}

// ---- The card

struct Look {
    float text, small, u;  ///< sizes of letters, factor of lengths
};

void name_row(const Canvas& c, AppState& state, SaveCard& card, const Rect& a, const Look& look) {
    const FieldResult typed = text_field(c, "##file", a.x, a.y, a.w, 36 * look.u, card.path, sizeof card.path,
                                         {.size = look.text, .flags = ImGuiInputTextFlags_AutoSelectAll});
    if (typed.changed) {
        card.message.clear();
        card.asked.clear();
        if (const int format = format_of(card.path); format >= 0) card.format = format;
    }
    if (typed.entered) save(state);
    std::error_code ignored;
    const std::string folder = fs::path(card.path).is_absolute() ? "" : fs::current_path(ignored).string();
    if (!folder.empty()) c.text_within(a.x, a.y + 51 * look.u, a.w, "in " + folder, look.small, c.theme->t3);
}

/// From the middle of a switch to its top.
float half_switch(const Look& look) { return std::max(32.0f, look.text + 18) / 2; }

std::string what_is_saved(const AppState& state, const SaveCard& card) {
    if (is_slides(card) && state.tour)
        return "the tour: " + counted(state.tour->stops(), "stop") + ", and pages of notes";
    if (state.page == Page::inside && card.format == static_cast<int>(SaveFormat::latex)) return "";
    if (state.page == Page::inside)
        return is_slides(card) ? "each line of the source where the warp first comes there"
                               : "what every line of the source did, races and totals";
    if (state.page != Page::walk) return "";
    const StepRange range = state.timeline.loop;
    if (is_slides(card) && range.set())
        return "steps " + str(range.first + 1) + " to " + str(range.last + 1) + ", the marked range";
    return "all " + str(state.trace->size()) + " steps, in one file";
}

void size_row(const Canvas& c, const AppState& state, SaveCard& card, float x, float y, const Look& look) {
    if (!whole_walk(card)) {
        segmented(c, "##picture size", x, y - half_switch(look), size_names, card.size, look.text);
        return;
    }
    c.text(x, y, what_is_saved(state, card), look.text, c.theme->t2);
}

// What went wrong, or else which keys there are.
void message_row(const Canvas& c, const AppState& state, const SaveCard& card, const Rect& a,
                 const Look& look) {
    const std::string refused = refusal(state, card);
    const std::string& words = !card.message.empty() ? card.message : refused;
    if (!words.empty()) {
        c.paragraph(a.x, a.y, a.w, words, look.text, c.theme->danger, 2, Face::medium);
        return;
    }
    c.text_within(a.x, a.y + 19 * look.u, a.w, "← → format   ↑ ↓ size   Enter saves   Tab: to the name",
                  look.small, c.theme->t3);
}

// How far the file is, and the way out.
void draw_work(const Canvas& c, AppState& state, SaveCard& card, const Rect& a, const Look& look) {
    const float u = look.u, x = a.x + 20 * u, w = a.w - 40 * u;
    const Piecework& work = *card.work;
    c.text_within(x, a.y + 82 * u, w, fs::path(full_path(card)).filename().string(), look.text);
    c.progress(x, a.y + 112 * u, w, 8 * u, px(work.done) / px(work.all));
    const std::string place = (is_slides(card) ? "page " : "part ") + str(std::min(work.done + 1, work.all)) +
                              " of " + str(work.all);
    c.text(x, a.y + 148 * u, place, look.text, c.theme->t2);
    const float button_w = std::max(110.0f * u, button_width("Cancel", look.text));
    if (button(c, "##cancel save", a.right() - 20 * u - button_w, a.bottom() - 56 * u, button_w, 38 * u,
               "Cancel", {.size = look.text}))
        card.work.reset();
    else
        go_on(state, card);
}

void draw(const Canvas& c, AppState& state, SaveCard& card, const Rect& a, const Look& look) {
    const float u = look.u, x = a.x + 20 * u, w = a.w - 40 * u, label = 76 * u;
    c.text(x, a.y + 32 * u, "Save", look.u > 1 ? 34 : 22, 0, Face::semibold);
    if (card.work) return draw_work(c, state, card, a, look);
    if (icon_button(c, "##close save", a.right() - 20 * u - 32, a.y + 16 * u, 32, 32, Icon::close))
        state.saving.reset();
    const auto name = [&](float y, const char* words) { c.text(x, y, words, look.text, c.theme->t2); };
    name(a.y + 82 * u, "File");
    name_row(c, state, card, {x + label, a.y + 64 * u, w - label, 0}, look);
    name(a.y + 148 * u, "Format");
    int format = card.format;
    if (segmented(c, "##format", x + label, a.y + 148 * u - half_switch(look), format_names, format,
                  look.text))
        set_format(state, card, format);
    name(a.y + 196 * u, !whole_walk(card)               ? "Size"
                        : is_slides(card) && state.tour ? "Tour"
                        : state.page == Page::inside    ? "Run"
                                                        : "Walk");
    size_row(c, state, card, x + label, a.y + 196 * u, look);

    const bool again = !card.asked.empty() && card.asked == full_path(card);
    const char* words = again ? "Replace" : "Save file";
    const float button_w = std::max(110.0f * u, button_width(words, look.text));
    message_row(c, state, card, {x, a.bottom() - 56 * u, w - button_w - 20, 0}, look);
    if (button(c, "##save file", a.right() - 20 * u - button_w, a.bottom() - 56 * u, button_w, 38 * u, words,
               {.primary = true, .enabled = refusal(state, card).empty(), .size = look.text}))
        save(state);
}

bool answer_key(AppState& state, const KeyPress& press) {
    SaveCard& card = *state.saving;
    if (card.work) {
        if (press.key == Key::escape) card.work.reset();
        return true;
    }
    constexpr int formats = static_cast<int>(endings.size()), sizes = SaveCard::ultra_hd + 1;
    switch (press.key) {
    case Key::escape: state.saving.reset(); break;
    case Key::left: set_format(state, card, (card.format + formats - 1) % formats); break;
    case Key::right: set_format(state, card, (card.format + 1) % formats); break;
    case Key::up: card.size = (card.size + sizes - 1) % sizes; break;
    case Key::down: card.size = (card.size + 1) % sizes; break;
    case Key::enter: save(state); break;
    default: break;
    }
    return true;
}

void draw(const Canvas& main, AppState& state, float W, float H) {
    const std::shared_ptr<SaveCard> card = state.saving;  // it may be closed while it is drawn
    const Look look = state.presenter ? Look{size::far, size::far, 1.9f} : Look{size::body, size::small, 1};
    const Rect a =
        centred(std::min(W - 2 * space::window, (state.presenter ? 620 : 600) * look.u), 304 * look.u, W, H);
    const auto inside = [&](const Canvas& c) {
        c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, c.theme->line2, 1, radius::panel);
        draw(c, state, *card, a, look);
    };
    show_card(main, "Save", a, inside, Below::dimmed);
}

}  // namespace

const Card save_card{.name = "Save",
                     .keys_shown = "Ctrl S",
                     .action = "save picture or hand-out",
                     .shortcut = {.key = Key::s, .ctrl = true},
                     .modal = true,
                     .is_open = [](const AppState& s) { return s.saving != nullptr; },
                     .open = open_save_card,
                     .answer_key = answer_key,
                     .draw = draw};

void open_save_card(AppState& state) {
    state.saving = std::make_shared<SaveCard>();
    set_path(*state.saving, usual_name(state, *state.saving));
}

}  // namespace tilewalk::ui
