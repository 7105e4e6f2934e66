#include "app/cli/cli.h"

#include "app/cli/commands.h"
#include "app/cli/own_kernel.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/export/export_formats.h"
#include "app/io/text.h"

#include <array>
#include <csignal>
#include <exception>

namespace tilewalk {
namespace {

Outcome run(int argc, char** argv, std::ostream& out, const WindowRunner& open_window) {
    WindowOptions options;  // its clock starts here
    const auto a = parse_arguments(argc, argv);
    if (!a) return is_ring_command(argc, argv) ? refuse_on_all_ranks(a.error) : bad_input(a.error);
    if (!a->print.empty()) return put(std::nullopt, out, a->print);
    if (const auto refused = refuse_same_files(*a)) return bad_input(*refused);
    return a->command ? a->command->run(*a, out) : run_window_command(*a, options, open_window);
}

// A full disk, a limit and a reader that goes away (tilewalk trace | head) are failed writes, reported as
// such.
void prepare_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    remove_temporaries_on_signals();
    end_in_order_without_memory();
}

}  // namespace

Outcome run_trace(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json", "md"});
    if (!format) return bad_input(format.error);
    const auto walk = named_walk(a);
    if (!walk) return bad_input(walk.error);
    const auto trace = build_trace(*walk->lesson, walk->problem);
    if (!trace) return bad_input(trace.error);
    const auto write = std::array{write_trace_text, write_trace_json,
                                  write_trace_markdown}[static_cast<std::size_t>(*format)];
    return put(a.output, out, [&](std::ostream& stream) { write(stream, **trace); });
}

int run_cli(int argc, char** argv, const WindowRunner& open_window, std::ostream& out, std::ostream& err) {
    run_as_own_kernel(argc, argv);
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

}  // namespace tilewalk
