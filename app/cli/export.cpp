// tilewalk export
#include "app/cli/commands.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/cli/slides.h"
#include "app/export/export_formats.h"
#include "app/export/inside_html.h"
#include "app/export/picture.h"
#include "app/io/text.h"
#include "app/render/offscreen.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk {
namespace {

enum class HandOut { html, pdf, md, tex };

constexpr Size default_size{1280, 720}, smallest{1024, 640}, largest{3840, 2160};
constexpr const char* expected_size = "WxH from 1024x640 to 3840x2160";

// What a page or slides look like; notes and documents have no pictures.
struct PageLook {
    Size size = default_size;
    std::string theme;      ///< "dark", "light"; empty: as the reader's system has it
    bool contrast = false;  ///< the dark page in the colours of high contrast
};

std::optional<HandOut> format_of_ending(const std::string& path) {
    const std::string ending = lower_case(path.substr(std::min(path.rfind('.'), path.size())));
    if (ending == ".html" || ending == ".htm") return HandOut::html;
    if (ending == ".pdf") return HandOut::pdf;
    if (ending == ".md" || ending == ".markdown") return HandOut::md;
    if (ending == ".tex") return HandOut::tex;
    return std::nullopt;
}

Result<HandOut> choose_format(const Arguments& a) {
    if (a.format) {
        const auto index = choice("--format", *a.format, {"html", "pdf", "md", "tex"});
        if (!index) return Failure{index.error};
        return static_cast<HandOut>(*index);
    }
    if (!a.output) return HandOut::html;
    if (const auto format = format_of_ending(*a.output)) return *format;
    return Failure{"-o is " + in_quotes(*a.output) +
                   ", expected a name that ends in .html, .pdf, .md or .tex; or say --format."};
}

Result<PageLook> read_look(const Arguments& a) {
    PageLook look;
    ui::Settings settings;
    WordReader read;
    read_theme(read, a.theme, settings);
    if (!read.error.empty()) return Failure{read.error};
    look.contrast = settings.theme == ui::ThemeId::contrast;
    if (a.theme) look.theme = settings.theme == ui::ThemeId::light ? "light" : "dark";
    if (!a.size) return look;
    const auto size = size_pair("--size", *a.size, expected_size);
    if (!size || size->width < smallest.width || size->height < smallest.height ||
        size->width > largest.width || size->height > largest.height)
        return Failure{"--size is " + in_quotes(*a.size) + ", expected " + expected_size + "."};
    look.size = *size;
    return look;
}

// An option that would change nothing is a mistake.
std::optional<std::string> check_options(const Arguments& a, HandOut format) {
    const bool pictures = format == HandOut::html || format == HandOut::pdf;
    if (pictures && !a.output)
        return std::string("'tilewalk export' needs -o with the ") +
               (format == HandOut::html ? "page" : "slides") +
               " to write; --format md and tex also go to standard output.";
    if (!pictures && (a.theme || a.size))
        return std::string(a.theme ? "--theme" : "--size") +
               " is about the pictures of a page or of slides; md and tex have none.";
    if (format != HandOut::pdf && a.tour) return "--tour is about --format pdf.";
    if (format == HandOut::html && a.steps)
        return "--steps is about pdf, md and tex; a page steps through the whole walk, and walk.html#step-17 "
               "leads to a step of it.";
    if (a.steps && a.tour) return "Every stop of a tour becomes a slide; leave out --steps.";
    if (a.tour)
        if (auto sentence = refuse_beside_tour(a)) return sentence;
    if (format != HandOut::tex && a.fragment) return "--fragment is about --format tex.";
    return std::nullopt;
}

// Every step in presenter mode, whose letters stay legible in a column of a page, in both themes.
PictureBook draw_pictures(ui::AppState& state, const PageLook& look) {
    const DrawingApart apart;
    const int steps = state.trace->size();
    std::vector<std::string> drawn[2];
    state.presenter = state.to_take_along = true;
    for (const bool dark : {true, false}) {
        state.settings.theme = !dark           ? ui::ThemeId::light
                               : look.contrast ? ui::ThemeId::contrast
                                               : ui::ThemeId::dark;
        for (int k = 0; k < steps; ++k) {
            ui::go_to(state, at_step(*state.trace, k));
            drawn[dark ? 0 : 1].push_back(svg_of_frame(state, look.size.width, look.size.height));
        }
    }
    PictureBook book;
    for (std::size_t k = 0; k < drawn[0].size(); ++k) book.add(drawn[0][k], drawn[1][k]);
    book.bind();
    return book;
}

Result<Writer> page_writer(const Lesson& lesson, const Problem& problem, const PageLook& look) {
    Result<ui::AppState> state = make_state(&lesson, problem, ui::Settings{});
    if (!state) return Failure{state.error};
    if (auto sentence = refuse_page(*state->trace)) return Failure{*sentence};
    return Writer([trace = state->trace, book = draw_pictures(*state, look), look](std::ostream& stream) {
        write_export_html(stream, *trace, book, look.theme, look.contrast);
    });
}

// What of the walk goes into the file, as the words say.
struct Extent {
    std::optional<std::string> steps;
    bool fragment = false;
};

Result<Writer> make_writer(const Lesson& lesson, const Problem& problem, HandOut format, const PageLook& look,
                           const Extent& extent) {
    if (format == HandOut::html) return page_writer(lesson, problem, look);
    const auto trace = build_trace(lesson, problem);
    if (!trace) return Failure{trace.error};
    const auto steps = step_list("--steps", extent.steps, (*trace)->size(), (*trace)->size());
    if (!steps) return Failure{steps.error};
    if (static_cast<int>(steps->size()) > (*trace)->size()) return Failure{"--steps names some steps twice."};
    return Writer([trace = *trace, format, steps = *steps, fragment = extent.fragment](std::ostream& stream) {
        if (format == HandOut::md) return write_export_markdown(stream, *trace, steps);
        write_export_tex(stream, *trace, steps, fragment);
    });
}

SlideWork begin_slides(const Arguments& a, const PageLook& page) {
    SlideLook look{page.size};
    if (a.theme)
        look.theme = page.contrast          ? ui::ThemeId::contrast
                     : page.theme == "dark" ? ui::ThemeId::dark
                                            : ui::ThemeId::light;
    if (a.tour) {
        const auto tour = read_tour(*a.tour);
        return tour ? slides_of_tour(*a.output, tour->script, look) : SlideWork(Failure{tour.error});
    }
    const auto walk = named_walk(a);
    if (!walk) return Failure{walk.error};
    Result<ui::AppState> state = make_state(walk->lesson, walk->problem, ui::Settings{});
    if (!state) return Failure{state.error};
    return slides_of_walk(*a.output, std::move(*state), a.steps, look);
}

Outcome write_slides(const Arguments& a, const PageLook& look) {
    const SlideWork begun = begin_slides(a, look);
    if (!begun) return bad_input(begun.error);
    ui::Piecework& work = **begun;
    while (work.done < work.all)
        if (const auto drawn = work.next(); !drawn) return written(drawn);
    return {};
}

Result<void> export_inside(const std::string& path, HandOut format, const ui::AppState& state) {
    const ui::InsidePage& page = *state.kernel_walk;
    const auto& walk = page.shown;
    std::optional<BrokenWords> broken;
    if (page.broken && page.sound && !page.broken->own)
        broken = words_of_broken(page.sound->record, walk->record, page.broken->damage, page.broken->tried);
    if (format == HandOut::tex) return Failure{"A kernel's run is written as HTML, PDF or Markdown."};
    if (format == HandOut::md)
        return write_file_atomic(path, "# Inside " + walk->record.kernel + "\n\n```text\n" +
                                           inside_text(walk->record, broken ? broken_head(*broken) : "") +
                                           (broken ? broken_end(*broken) : "") + "```\n");
    std::vector<inside::SourceText> sources = state.kernel_walk->sources;
    if (walk->own_source.count() > 0) sources.push_back(walk->own_source);
    return write_file_atomic(path, [&](std::ostream& out) {
        write_inside_html(out, walk->record, walk->problem, sources, broken ? &*broken : nullptr);
    });
}

}  // namespace

Outcome run_export(const Arguments& a, std::ostream& out) {
    const auto format = choose_format(a);
    if (!format) return bad_input(format.error);
    if (auto sentence = check_options(a, *format)) return bad_input(*sentence);
    const auto look = read_look(a);
    if (!look) return bad_input(look.error);
    if (*format == HandOut::pdf) return write_slides(a, *look);
    const auto walk = named_walk(a);
    if (!walk) return bad_input(walk.error);
    const auto write = make_writer(*walk->lesson, walk->problem, *format, *look, {a.steps, a.fragment});
    if (!write) return bad_input(write.error);
    return put(a.output, out, *write);
}

Result<void> export_walk(const std::string& path, const ui::AppState& state) {
    const auto format = format_of_ending(path);
    if (!format || *format == HandOut::pdf)
        return Failure{"The name " + in_quotes(path) + " ends in none of .html, .md and .tex."};
    const PlainNumbers as_in_every_file;
    if (state.page == ui::Page::inside) return export_inside(path, *format, state);
    PageLook look;
    look.contrast = state.settings.theme == ui::ThemeId::contrast;
    const auto write = make_writer(*state.lesson, *state.problem, *format, look, {});
    if (!write) return Failure{write.error};
    return write_file_atomic(path, *write);
}

}  // namespace tilewalk
