#include "app/cli/slides.h"

#include "app/cli/session.h"
#include "app/export/parts.h"
#include "app/export/pdf.h"
#include "app/export/slide_pages.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "app/io/text.h"
#include "app/render/offscreen.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/letters.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/inside/words.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <set>

namespace tilewalk {
namespace {

/// Which pages there are, and the interface that draws them, step by step or stop by stop.
class Slides {
public:
    Slides(std::string path, ui::AppState state, const SlideLook& look, std::vector<int> steps,
           TitlePage title)
        : path_(std::move(path)), state_(std::move(state)), look_(look), steps_(std::move(steps)),
          title_(std::move(title)),
          pdf_(look.size.width, look.size.height,
               title_.title + (title_.subtitle.empty() ? "" : " · " + title_.subtitle)) {
        state_.settings.theme = look.theme;
        state_.settings.palette = look.palette;
        state_.to_take_along = state_.presenter = true;
        apart_.pause();
    }

    /// The title, the slides, the pages of notes.
    int pages() const { return 1 + slides() + static_cast<int>(with_notes().size()); }

    /// A bit of a page; true: that was the last one of it.
    Result<bool> draw(int page) {
        const PlainNumbers as_in_every_file;
        apart_.resume();
        const bool added = add(page);
        apart_.pause();
        if (!added || page + 1 < pages()) return added;
        const auto bytes = pdf_.finish();
        if (!bytes) return Failure{bytes.error};
        if (auto written = write_file_atomic(path_, *bytes); !written) return Failure{written.error};
        return true;
    }

private:
    struct Notes {
        NotesPage page;
        ui::VectorPicture slide;
    };

    int slides() const { return state_.tour ? state_.tour->stops() : static_cast<int>(steps_.size()); }
    const TourStop& stop(int n) const { return state_.tour->script.stops[static_cast<std::size_t>(n)]; }
    std::vector<int> with_notes() const {
        std::vector<int> stops;
        for (int n = 0; state_.tour && n < state_.tour->stops(); ++n)
            if (!stop(n).notes.empty()) stops.push_back(n);
        return stops;
    }

    bool add(int page) {
        const bool notes = page > slides();
        if (page == 0 || notes) {
            if (ui::load_letters(scale(), !notes, {}, ui::letters_seconds) == ui::Typefaces::standing_in)
                return false;
            notes ? add_notes(notes_[static_cast<std::size_t>(page - slides() - 1)]) : add_title();
            return true;
        }
        if (!std::exchange(placed_, true)) {
            go_to(page - 1);
            return false;
        }
        if (!settling_.bit(state_, look_.size.width, look_.size.height)) return false;
        placed_ = false;
        state_.tour ? add_stop(page - 1) : add_step(steps_[static_cast<std::size_t>(page - 1)]);
        return true;
    }

    void go_to(int n) {
        if (state_.tour) return settle_at_stop(state_, n);
        const int k = steps_[static_cast<std::size_t>(n)];
        if (state_.page == ui::Page::inside)
            state_.inside.step = k;
        else
            ui::go_to(state_, at_step(*state_.trace, k));
    }

    ui::VectorPicture picture() { return vectors_of_frame(state_, look_.size.width, look_.size.height, 1); }

    // Each line of a kernel where the warp first comes there.
    void add_instruction() {
        const ui::InsidePlace at = ui::place_inside(state_);
        const std::string& file = at.place().file;
        pdf_.add_page({{picture()}},
                      "Line " + str(at.place().line) + ": " +
                          inside::words_of_step(at.record(), at.block(), *at.event).title,
                      file.substr(file.find_last_of('/') + 1));
    }

    void add_step(int k) {
        if (state_.page == ui::Page::inside) return add_instruction();
        const Trace& trace = *state_.trace;
        pdf_.add_page({{picture()}}, "Step " + str(k + 1) + ": " + state_.explanation.title,
                      trace.lesson().lane(trace.problem(), trace.step(k).phase));
    }

    void add_stop(int n) {
        ui::VectorPicture slide = picture();
        const std::string heading = str(n + 1) + " · " + stop(n).heading;
        if (!stop(n).notes.empty())
            notes_.push_back({{heading, place(), filled_notes(stop(n), *state_.trace)}, slide});
        const auto chapter = chapter_place(state_.tour->script, n);
        pdf_.add_page({{std::move(slide)}}, heading, chapter ? chapter_words(*chapter) : "");
    }

    std::string place() const {
        if (state_.page != ui::Page::walk) return "";
        const std::string number = step_number(*state_.trace, state_.cursor.step);
        return headline(*state_.trace) + " · " + number;
    }

    // Title and notes are laid out for one size, whatever the others are laid out for.
    ui::VectorPicture page_of(bool large, const std::function<void(const ui::Canvas&)>& draw) {
        const auto [width, height] = look_.size;
        return vectors_of(width, height, scale(), large, ui::theme(look_.theme, look_.palette), draw);
    }
    float scale() const {
        const auto [width, height] = look_.size;
        return std::min(static_cast<float>(width) / slide_width, static_cast<float>(height) / slide_height);
    }

    void add_title() {
        pdf_.add_page({{page_of(true, [&](const ui::Canvas& c) { draw_title_page(c, title_); })}},
                      title_.title);
    }

    void add_notes(Notes& notes) {
        const float width = static_cast<float>(look_.size.width), unit = width / slide_width;
        ui::VectorPicture page = page_of(false, [&](const ui::Canvas& c) { draw_notes_page(c, notes.page); });
        pdf_.add_page({{std::move(page)},
                       {std::move(notes.slide), small_slide.x * unit, small_slide.y * unit,
                        small_slide.w / slide_width}},
                      notes.page.heading, "Notes");
    }

    std::string path_;
    ui::AppState state_;
    SlideLook look_;
    std::vector<int> steps_;
    TitlePage title_;
    std::vector<Notes> notes_;
    Pdf pdf_;
    bool placed_ = false;
    Settling settling_;
    DrawingApart apart_;
};

std::shared_ptr<ui::Piecework> work_of(std::shared_ptr<Slides> slides) {
    auto work = std::make_shared<ui::Piecework>();
    work->all = slides->pages();
    // Both live in the work.
    work->next = [slides = std::move(slides), done = &work->done]() -> Result<void> {
        const auto drawn = slides->draw(*done);
        if (!drawn) return Failure{drawn.error};
        *done += *drawn;
        return {};
    };
    return work;
}

TitlePage title_of(const Trace& trace) {
    const Lesson& lesson = trace.lesson();
    const Problem& problem = trace.problem();
    TitlePage title{lesson.title, problem.title, {lesson.summary, problem_facts(trace) + "."}, ""};
    std::vector<std::string> faults;
    for (const Fault& fault : lesson.faults())
        if (problem.switches.*fault.on) faults.emplace_back(fault.title);
    if (!faults.empty()) title.facts.push_back("Broken on purpose: " + joined(faults) + ".");
    return title;
}

// A page for each line of the source, in the order in which this warp first comes there.
FileWork slides_of_inside(const std::string& path, const ui::AppState& shown, const SlideLook& look) {
    const ui::InsidePlace at = ui::place_inside(shown);
    if (!at) return Failure{"There is no run of a kernel to be saved yet."};
    Result<ui::AppState> state = make_state(&default_lesson(), examples().front(), ui::Settings{});
    if (!state) return Failure{state.error};
    static_cast<ui::WalkView&>(*state) = shown;
    state->inside = shown.inside, state->kernel_walk = shown.kernel_walk;
    state->inside.playing = false;
    std::vector<int> steps;
    std::set<int> lines;
    for (int k = 0; k < at.steps().count(at.warp); ++k)
        if (lines.insert(at.steps().line(at.warp, k)).second) steps.push_back(k);
    TitlePage title{"Inside " + at.record().kernel,
                    at.record().title,
                    {"Block " + str(at.walk->block) + ", warp " + str(at.warp) + ", of " + at.walk->problem +
                     ", " + name_of(at.record().dtype) + "."},
                    "each line where the warp first comes there"};
    return work_of(
        std::make_shared<Slides>(path, std::move(*state), look, std::move(steps), std::move(title)));
}

}  // namespace

FileWork slides_of_walk(const std::string& path, ui::AppState state, const std::optional<std::string>& words,
                        const SlideLook& look) {
    const int count = state.trace->size();
    const auto steps = step_list("--steps", words, count, most_slides);
    if (!steps) return Failure{steps.error};
    if (steps->size() > static_cast<std::size_t>(most_slides))
        return Failure{"Slides hold " + str(most_slides) + " steps at most; choose some with --steps 1-" +
                       str(most_slides) + ", or larger tiles."};
    TitlePage title = title_of(*state.trace);
    title.foot = which_steps(*steps, count);
    return work_of(std::make_shared<Slides>(path, std::move(state), look, *steps, std::move(title)));
}

FileWork slides_of_tour(const std::string& path, const TourScript& script, const SlideLook& look) {
    Result<ui::AppState> state = state_in_tour(script, ui::Settings{});
    if (!state) return Failure{state.error};
    TitlePage title{script.title, "A guided tour", {}, counted(state->tour->stops(), "stop")};
    if (!script.chapters.empty())
        title.foot += " in " + counted(static_cast<int>(script.chapters.size()), "chapter");
    if (state->tour->stops() > 1)
        title.facts = {"From “" + script.stops.front().heading + "” to “" + script.stops.back().heading +
                       "”."};
    return work_of(
        std::make_shared<Slides>(path, std::move(*state), look, std::vector<int>{}, std::move(title)));
}

FileWork slides_of_view(const std::string& path, const ui::AppState& shown) {
    SlideLook look;
    look.palette = shown.settings.palette;
    if (shown.tour) return slides_of_tour(path, shown.tour->script, look);
    if (shown.page == ui::Page::inside) return slides_of_inside(path, shown, look);
    // The walk is there already; all else is as on the command line.
    Result<ui::AppState> state = make_state(&default_lesson(), examples().front(), ui::Settings{});
    if (!state) return Failure{state.error};
    static_cast<ui::WalkView&>(*state) = shown;
    state->inspection.reset();
    state->page = ui::Page::walk;
    state->row = 0, state->col = -1;
    const StepRange range = shown.timeline.loop;
    const auto words =
        range.set() ? std::optional(str(range.first + 1) + "-" + str(range.last + 1)) : std::nullopt;
    return slides_of_walk(path, std::move(*state), words, look);
}

}  // namespace tilewalk
