#include "app/cli/cli.h"

#include "app/cli/arguments.h"
#include "app/cli/bench.h"
#include "app/cli/compare.h"
#include "app/cli/export.h"
#include "app/cli/listings.h"
#include "app/cli/model.h"
#include "app/cli/outcome.h"
#include "app/cli/output.h"
#include "app/cli/problem_source.h"
#include "app/cli/render.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/cli/window_command.h"
#include "app/export/trace_export.h"
#include "app/io/text.h"

#include <csignal>
#include <exception>
#include <iostream>

namespace tilewalk {
namespace {

Outcome run_trace(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json", "md"});
    if (!format) return bad_input(format.error);
    const auto walk = named_walk(a);
    if (!walk) return bad_input(walk.error);
    const auto trace = build_trace(*walk->lesson, walk->problem);
    if (!trace) return bad_input(trace.error);

    const Writer write = [&](std::ostream& stream) {
        if (*format == 0) write_trace_text(stream, **trace);
        if (*format == 1) write_trace_json(stream, **trace);
        if (*format == 2) write_trace_markdown(stream, **trace);
    };
    return written(a.output ? write_file_atomic(*a.output, write) : write_to_stream(out, write));
}

Outcome run(int argc, char** argv, std::ostream& out, const WindowRunner& open_window) {
    WindowOptions options;  // its clock starts here
    const auto a = parse_arguments(argc, argv);
    if (!a) return bad_input(a.error);
    if (!a->print.empty())
        return written(write_to_stream(out, [&](std::ostream& stream) { stream << a->print; }));
    switch (a->command) {
    case Command::window: return run_window_command(*a, options, open_window);
    case Command::trace: return run_trace(*a, out);
    case Command::render: return run_render(*a);
    case Command::export_walk: return run_export(*a, out);
    case Command::compare: return run_compare(*a, out);
    case Command::model: return run_model(*a, out);
    case Command::bench: return run_bench_command(*a, out);
    case Command::examples:
    case Command::lessons:
    case Command::kernels:
    case Command::devices: return run_listing(*a, out);
    }
    return {};
}

// A full disk, a limit and a reader that goes away (tilewalk trace | head) are failed writes, reported as
// such.
void prepare_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    remove_temporaries_on_signals();
}

}  // namespace

int run_cli(int argc, char** argv, std::ostream& out, std::ostream& err, const WindowRunner& open_window) {
    prepare_signals();
    Outcome outcome;
    try {
        outcome = run(argc, argv, out, open_window);
    } catch (const std::bad_alloc&) {
        outcome = bad_input("There is not enough memory for this problem; choose a smaller one.");
    } catch (const std::exception& error) {
        outcome = bad_input(std::string("Something unforeseen happened: ") + error.what() + ".");
    }
    // Sentences may carry foreign text, such as file names; it must not break the line or reach the terminal.
    if (!outcome.sentence.empty())
        err << "tilewalk: " << without_controls(outcome.sentence, '?') << std::endl;
    return static_cast<int>(outcome.exit);
}

int run_cli(int argc, char** argv, const WindowRunner& open_window) {
    return run_cli(argc, argv, std::cout, std::cerr, open_window);
}

}  // namespace tilewalk
