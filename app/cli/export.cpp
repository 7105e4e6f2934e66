// tilewalk export
#include "app/cli/commands.h"
#include "app/cli/hand_out.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/cli/slides.h"
#include "app/export/export_formats.h"
#include "app/export/picture.h"
#include "app/io/text.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk {
namespace {

constexpr Size smallest{1024, 640}, largest{3840, 2160};
constexpr const char* expected_size = "WxH from 1024x640 to 3840x2160";

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

Result<Writer> page_writer(const Lesson& lesson, const Problem& problem, const PageLook& look) {
    Result<ui::AppState> state = make_state(&lesson, problem, ui::Settings{});
    if (!state) return Failure{state.error};
    if (auto sentence = refuse_page(*state->trace)) return Failure{*sentence};
    return Writer([trace = state->trace, book = draw_pictures(*state, look), look](std::ostream& stream) {
        ExportPage(*trace, book).write(stream, look.theme, look.contrast);
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
        const HandOutText& text = format == HandOut::md ? markdown_notes
                                  : fragment            ? tex_fragment
                                                        : tex_article;
        text.write(stream, *trace, steps);
    });
}

FileWork begin_slides(const Arguments& a, const PageLook& page) {
    SlideLook look{page.size};
    if (a.theme)
        look.theme = page.contrast          ? ui::ThemeId::contrast
                     : page.theme == "dark" ? ui::ThemeId::dark
                                            : ui::ThemeId::light;
    if (a.tour) {
        const auto tour = read_tour(*a.tour);
        return tour ? slides_of_tour(*a.output, tour->script, look) : FileWork(Failure{tour.error});
    }
    const auto walk = named_walk(a);
    if (!walk) return Failure{walk.error};
    Result<ui::AppState> state = make_state(walk->lesson, walk->problem, ui::Settings{});
    if (!state) return Failure{state.error};
    return slides_of_walk(*a.output, std::move(*state), a.steps, look);
}

Outcome write_slides(const Arguments& a, const PageLook& look) {
    const FileWork begun = begin_slides(a, look);
    if (!begun) return bad_input(begun.error);
    return written(finish(begun));
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

}  // namespace tilewalk
