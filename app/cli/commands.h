// What the commands do with their words; arguments.cpp has the table of them. Results go to -o, or else to
// `out`.
#pragma once

#include "app/cli/arguments.h"
#include "app/io/exit.h"
#include "app/io/file.h"
#include "app/window/window.h"
#include "core/compare/kernel_trace.h"

#include <iosfwd>
#include <vector>

namespace tilewalk {

struct BenchReport;
struct BenchRequest;
struct KernelComparison;
struct Study;
namespace gpu {
struct TraceableKernel;
}
namespace inside {
struct Record;
}

/// `sentence` goes to stderr when there is one.
struct Outcome {
    Exit exit = Exit::done;
    std::string sentence;
};

inline Outcome bad_input(std::string sentence) { return {Exit::bad_input, std::move(sentence)}; }
inline Outcome written(const Result<void>& result) {
    return result ? Outcome{} : Outcome{Exit::not_written, result.error};
}

/// Writes the whole of it into the file, or else to `out`. There the sentence of a failure is empty when the
/// reader went away (tilewalk trace | head): that is no news to anybody.
Outcome put(const std::optional<std::string>& file, std::ostream& out, const Writer& write);
Outcome put(const std::optional<std::string>& file, std::ostream& out, const std::string& text);

/// They lead to one file, by whatever way: "a", "./a", a link.
bool name_same_file(const std::string& a, const std::string& b);
/// A sentence where a file that the command writes would take the place of another one that it was given.
std::optional<std::string> refuse_same_files(const Arguments& arguments);

// ---- The commands

/// The whole walk as text, JSON or Markdown.
Outcome run_trace(const Arguments& arguments, std::ostream& out);
/// Draws one step into a PNG or SVG file, or every step into the files step-001.png … of a folder, which is
/// made if need be. Each picture is there whole or not at all; after a failure the new ones of this call are
/// removed.
Outcome run_render(const Arguments& arguments, std::ostream& out);
/// The walk as a hand-out: one self-contained page (html), slides (pdf), notes (md) or a document (tex), by
/// --format or the ending of -o.
Outcome run_export(const Arguments& arguments, std::ostream& out);
/// The steps, or the stops of a tour, as a film by ffmpeg (.mp4, .webm, .gif), or as the pictures
/// frame-00001.png … of a folder.
Outcome run_film(const Arguments& arguments, std::ostream& out);
/// The line that leads to the lesson, problem, step and cell that the words name (app/io/link.h).
Outcome run_link(const Arguments& arguments, std::ostream& out);
/// The same questions with other numbers for every student, and their key beside them or where --key says.
Outcome run_questions(const Arguments& arguments, std::ostream& out);
/// What a kernel wrote down of itself beside the CPU's walk of the same tiles. Ends with Exit::failed if an
/// output is beyond the rule or a number beyond rounding.
Outcome run_compare(const Arguments& arguments, std::ostream& out);
/// What a kernel does, counted by lines of its source, and whether two of its accesses race: then it ends
/// with Exit::failed.
Outcome run_inside(const Arguments& arguments, std::ostream& out);
/// What attention costs in memory, traffic and time, from closed forms.
Outcome run_model(const Arguments& arguments, std::ostream& out);
/// Runs the kernels on large problems, or shows recorded results again. Ends with Exit::failed if a kernel
/// was wrong, with Exit::interrupted after Ctrl-C: what was measured until then is written all the same.
Outcome run_bench_command(const Arguments& arguments, std::ostream& out);
/// One ring over all ranks that mpirun started; every rank calls this, rank 0 writes. Whoever fails, all end
/// with an exit code that is not 0, and rank 0 says why.
Outcome run_ring_command(const Arguments& arguments, std::ostream& out);
/// Are these the words of a rank of it? What this rank would refuse, all ranks refuse.
bool is_ring_command(int argc, char** argv);
Outcome refuse_on_all_ranks(const std::string& sentence);
/// The same for a ring of ranks: `model --ranks`.
Outcome run_ring_model(const Arguments& arguments, std::ostream& out);
/// What there is. `devices` ends well without a GPU too: it says why there is none.
Outcome list_examples(const Arguments& arguments, std::ostream& out);
Outcome list_lessons(const Arguments& arguments, std::ostream& out);
Outcome list_kernels(const Arguments& arguments, std::ostream& out);
Outcome list_devices(const Arguments& arguments, std::ostream& out);
/// What the help says as a manual page (roff), or as the words that bash or zsh completes.
Outcome run_manual(const Arguments& arguments, std::ostream& out);

/// Without a command: the window with the problem that the words name, else with that of the last time.
/// Settings are kept when the window closes; with --frames or --screenshot they are neither read nor kept, so
/// that pictures do not depend on them. Where `open_window` fails it has said why itself, and the sentence is
/// empty.
Outcome run_window_command(const Arguments& arguments, WindowOptions options,
                           const WindowRunner& open_window);

// ---- Parts of them

/// What the words of bench ask for. `threads` takes the number of CPU threads, 0 for all.
Result<BenchRequest> make_request(const BenchWords& words, int& threads);
/// Writes them as bench does: 0 text, 1 CSV, 2 JSON, 3 Markdown.
Outcome put_results(const Arguments& arguments, int format, const std::vector<BenchReport>& reports,
                    std::ostream& out);
/// What to say, and how to end, where none of the points was measured; nothing else.
Outcome unless_measured(const Arguments& arguments, const BenchReport& report);
/// The CUDA kernel of that name, and the type that the word asks for, or else the first that it takes.
Result<gpu::TraceableKernel> find_kernel(const std::string& name);
Result<DType> find_type(const gpu::TraceableKernel& kernel, const Word& word);
/// "P@0,1,3,5=0.01": quantity, tile i, j, row [0], column [the whole row], amount [0.001].
Result<KernelFault> read_fault(const std::string& text);

std::string bench_text(const BenchReport& report);
/// Counts by lines, races and the model, as text.
std::string inside_text(const inside::Record& record, const std::string& more = "");
std::string compare_text(const KernelComparison& comparison, const std::string& why_this_device);
std::string compare_json(const KernelComparison& comparison);
std::string model_text(const std::vector<Study>& studies);
std::string model_json(const std::vector<Study>& studies);

}  // namespace tilewalk
