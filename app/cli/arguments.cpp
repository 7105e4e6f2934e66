#include "app/cli/arguments.h"

#include "app/cli/commands.h"
#include "app/io/matrix_file.h"
#include "app/io/text.h"
#include "app/settings/pages.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace tilewalk {

// The options of a command below one heading of its help; without a heading they are not shown.
struct OptionGroup {
    CLI::App& app;
    const char* heading;

    OptionGroup under(const char* other) const { return {app, other}; }
    void word(const std::string& names, Word& target, const char* type, const std::string& help) const {
        const auto keep = [&target](const std::string& text) { target = text; };
        // What stands there twice is refused by check_values, in our own words.
        app.add_option_function<std::string>(names, keep, help)->type_name(type)->group(heading)->take_last();
    }
    void flag(const char* name, bool& target, const char* help) const {
        const auto set = [&target] { target = true; };
        app.add_flag_callback(name, set, help)->group(heading);
    }
};

namespace {

constexpr const char* about = "Walk through FlashAttention, tile by tile.";
constexpr const char* changes = "Changes to the problem";

void add_mask(const OptionGroup& options, bool& causal, Word& window) {
    options.flag("--causal", causal, "hide the keys that come after a query");
    options.word("--window", window, "W", "hide the keys more than W positions away");
}

// `fallback` is the example that is taken without a source, as the help shows it.
void add_source(const OptionGroup& options, ProblemWords& p, const std::string& fallback) {
    const OptionGroup source = options.under("Problem (one source)"), change = options.under(changes);
    source.word("--example", p.example, "NAME", "one of 'tilewalk examples'" + fallback);
    source.word("--load", p.load, "FILE", "problem or recorded walk (.json)");
    source.word("--q", p.q, "FILE", "Q as .csv, .tsv or .npy; needs --k and --v");
    source.word("--k", p.k, "FILE", "K");
    source.word("--v", p.v, "FILE", "V");
    source.word("--do", p.d_o, "FILE", "dO, the gradient that arrives from the loss");
    source.word("--x", p.x, "FILE", "input X; with --w-q, --w-k, --w-v: Q = X W_Q and so on");
    source.word("--w-q", p.w_q, "FILE", "W_Q");
    source.word("--w-k", p.w_k, "FILE", "W_K");
    source.word("--w-v", p.w_v, "FILE", "W_V");
    source.word("--random", p.random, "NxD", "random numbers, N rows and D columns");
    source.word("--seed", p.seed, "S", "which random numbers [1]");
    add_mask(change, p.causal, p.window);
    change.word("--scale", p.scale, "none|sqrt|NUMBER", "factor of the scores");
}

// `faults`: below which heading what is broken or rounded on purpose stands in the help.
constexpr const char* choices = "Choices of single lessons";
void add_faults(const OptionGroup& faults, ProblemWords& p) {
    faults.word("--break", p.faults, "NAME,...",
                "switch parts off: " + joined(names_of(all_faults(), &Fault::name)));
    faults.word(
        "--precision", p.precision, "FORMAT|STAGE=FORMAT,...",
        "fp64, fp32, tf32, fp16, bf16, e4m3; for all stages, or for inputs, scores, softmax, weights, "
        "accumulator, output");
    faults.word("--lazy-rescale", p.lazy_rescale, "TAU|none",
                "flash-forward: rescale O only where the maximum rises by more than 2^TAU");
    faults.word("--exp2", p.exp2, "exact|cubic", "flash-forward: exp, or the published cubic for 2^x");
}

void add_unbroken_problem(const OptionGroup& options, Arguments& a, const std::string& fallback) {
    const OptionGroup change = options.under(changes), choice = options.under(choices);
    ProblemWords& p = a.problem;
    add_source(options, p, fallback);
    change.word("--softcap", p.softcap, "CAP|none", "scores become CAP tanh(S / CAP)");
    change.word("--alibi", p.alibi, "SLOPE|none", "scores lose SLOPE for each position of distance");
    change.word("--sink", p.sink, "LOGIT|none", "one more logit for every query, without a value");
    change.word("--heads", p.heads, "H", "query heads; the walk is that of one of them");
    change.word("--kv-heads", p.kv_heads, "G", "key heads that they share, a divisor of H [H]");
    change.word("--head", p.head, "h", "the head that is shown, from 0 [0]");
    change.word("--kv-loads", p.kv_loads, "again|once",
                "K and V of a group: for each of its heads or once [again]");
    change.word("--br", p.br, "N", "query rows per tile");
    change.word("--bc", p.bc, "N", "key rows per tile");
    change.word("--element-bytes", p.element_bytes, "1|2|4|8", "bytes per element in HBM");
    change.word("--tokens", p.tokens, "WORDS", "words of the positions, separated by spaces");
    choice.word("--row", p.row, "R", "softmax: the query row [0]");
    choice.word("--queries", p.queries, "N",
                lessons_with(chooses_queries) + ": decoded together, from --row on [1]");
    choice.word("--notation", p.notation, "l_O|d_o|delta_omega",
                "softmax: m, ℓ, O or m, d′, o′ or m, δ, ω [l_O]");
    choice.word("--form", p.form, "normalised|deferred",
                lessons_with(chooses_form) + ": divide at every element or once at the end [normalised]");
    choice.word("--order", p.order, "key_outer|query_outer",
                lessons_with(chooses_order) + ": the outer loop [key_outer]");
    choice.word("--learning-rate", p.learning_rate, "NUMBER", lessons_with(chooses_learning_rate) + " [0.1]");
    choice.word("--splits", p.splits, "N|N,N,...",
                lessons_with(chooses_splits) + ": so many parts, or the keys of each: 3,1");
    choice.word("--merge", p.merge, "chain|pairs|at_once",
                lessons_with(chooses_merge_order) + ": in which order [chain]");
    choice.word("--parts", p.parts, "sums|normalised",
                lessons_with(chooses_part_form) + ": O with ℓ, or O divided by it with L [sums]");
    choice.word("--workers", p.workers, "N", lessons_with(chooses_workers) + ": side by side [4]");
    choice.word("--ranks", p.ranks, "N", lessons_with(chooses_ranks) + ": so many hold a shard each [2]");
    choice.word("--shards", p.shards, "contiguous|zigzag|striped",
                lessons_with(chooses_ranks) + ": which positions a rank holds [contiguous]");
    const std::string shared = lessons_with(chooses_sequences);
    choice.word("--prefix", p.prefix, "N", shared + ": keys that all sequences share [half of them]");
    choice.word("--sequences", p.sequences, "N", shared + ": so many share the prefix [2]");
    choice.word("--pages", p.pages, "N", shared + ": keys of a page, 0 for none [0]");
    choice.word("--page-table", p.page_table, "N,N,...", shared + ": where each page lies [scattered]");
    options.word("--lesson", a.lesson, "NAME", "one of 'tilewalk lessons' [flash-forward]");
}

void add_problem(const OptionGroup& options, Arguments& a, const std::string& fallback) {
    add_unbroken_problem(options, a, fallback);
    add_faults(options.under(choices), a.problem);
    options.word("--link", a.link, "'tilewalk:...'",
                 "what a link leads to (Ctrl L or 'tilewalk link' makes one)");
}

void add_look(const OptionGroup& options, Arguments& a) {
    options.word("--theme", a.theme, "dark|light|contrast", "colours");
    options.word("--palette", a.palette, "usual|safe", "safe: without red against green");
    options.flag("--presenter", a.presenter, "large type for a projector");
    options.word(
        "--speaker", a.speaker, "auto|window|panel",
        "notes, next step and time for the speaker (Shift P); auto: a window if there are two screens");
}

void add_tour(const OptionGroup& options, Arguments& a, const char* stop) {
    options.word("--tour", a.tour, "FILE|NAME", "guided tour (.md); flash-attention is built in");
    options.word("--stop", a.stop, stop, "stop of the tour to begin with, from 1 [1]");
}

void add_output(const OptionGroup& options, Arguments& a, const char* formats,
                const char* otherwise = "[text]") {
    options.word("--format", a.format, formats, otherwise);
    options.word("-o,--output", a.output, "FILE", "instead of stdout");
}

void add_trace(const OptionGroup& options, Arguments& a) {
    add_problem(options, a, " [worked-4x4]");
    add_output(options, a, "text|json|md");
}

void add_render(const OptionGroup& options, Arguments& a) {
    add_problem(options, a, " [worked-4x4]");
    add_look(options, a);
    add_tour(options, a, "N|all");
    options.word("--source", a.source, "FILE",
                 "your own kernel (.cu) on the page Inside: it is compiled and run");
    options.word("--step", a.step, "K|all", "step to draw, from 1, or every step [1]");
    options.word("--keys", a.keys, "'KEY ...'", "keys pressed before: 'down w', 'shift+n', 'k a l p h a'");
    options.word("--size", a.size, "WxH", "pixels, 1024x640 to 7680x4320 [1600x900]");
    options.word("--pixel-ratio", a.pixel_ratio, "R", "pixels per unit of layout, 1 to 4 [1]");
    options.word("--format", a.format, "png|svg", "[by the ending of the file; png]");
    options.word("-o,--output", a.output, "FILE|FOLDER", "required; a folder for --step all");
}

void add_listing(const OptionGroup& options, Arguments& a) {
    options.word("--format", a.format, "text|json", "[text]");
}

void add_model(const OptionGroup& options, Arguments& a) {
    ModelWords& m = a.model;
    options.word("--seqlen", m.seqlen, "N,N,...", "sequence lengths [512 to 131072]");
    options.word("--head-dim", m.head_dim, "d", "[64]");
    options.word("--dtype", m.dtype, "f32|f16|bf16|f8", "of Q, K, V, O, S and P [f16]");
    options.word("--heads", m.heads, "H", "[16]");
    options.word("--batch", m.batch, "B", "[1]");
    options.word("--br", m.br, "N", "query rows per tile [128]");
    options.word("--bc", m.bc, "N", "key rows per tile [128]");
    options.word("--tiles", m.tiles, "given|square|paper",
                 "--br and --bc, the largest square tile, or FlashAttention's rule [given]");
    options.word("--hardware", m.hardware, "a100-40|a100-80|h100|h200|rtx-4090", "[a100-40]");
    const OptionGroup ring = options.under("A ring of many such devices");
    ring.word("--ranks", m.ranks, "R,R,...", "so many: computing against sending, round by round");
    ring.word("--link", m.link, "BYTES", "per second from each rank to the next [25e9]");
    ring.word("--rate", m.rate, "FLOP/s", "that a rank computes [the peak of the hardware]");
    ring.word("--kv-heads", m.kv_heads, "G", "heads of K and V, a divisor of H [H]");
    ring.word("--direction", m.direction, "forward|backward", "[forward]");
    ring.flag("--causal", m.causal, "hide the keys that come after a query");
    add_output(options, a, "text|json");
}

void add_bench(const OptionGroup& options, Arguments& a) {
    BenchWords& b = a.bench;
    options.word("--device", b.device, "cpu|cuda", "[cpu]");
    options.word("--kernels", b.kernels, "NAME,...|all", "of 'tilewalk kernels' [all]");
    options.word("--direction", b.direction, "forward|backward", "[forward]");
    options.word("--seqlen", b.seqlen, "N,N,...", "sequence lengths [512,1024,2048,4096,8192]");
    options.word("--seqlen-q", b.seqlen_q, "N",
                 "queries, as when decoding; N of --seqlen are keys then [as many as keys]");
    options.word("--head-dim", b.head_dim, "d", "[64]");
    options.word("--heads", b.heads, "H", "[8]");
    options.word("--kv-heads", b.kv_heads, "G", "heads of K and V, a divisor of H [H]");
    options.word("--batch", b.batch, "B", "[1]");
    add_mask(options, b.causal, b.window);
    options.word("--dtype", b.dtype, "f32|f16|bf16", "[f32; bf16 with cuda]");
    options.word("--memory-limit", b.memory_limit, "BYTES",
                 "what needs more is not run; 8G, 512MiB [what is free]");
    options.word("--threads", b.threads, "T", "of the CPU [all]");
    options.word("--seed", b.seed, "S", "of the inputs [1]");
    options.word("--against", b.against, "torch",
                 "time PyTorch's attention before and after the kernels of each length");
    options.word("--load", b.load, "FILE,...", "show recorded results instead of running");
    options.flag("--distributed", b.distributed, "one ring over all ranks; started by mpirun -np R");
    options.word("--shards", b.shards, "zigzag|contiguous|striped",
                 "distributed: how the sequence is dealt out [zigzag]");
    const OptionGroup hidden = options.under("");
    hidden.word("--accident", b.accident, "die|cut|stall|stop@RANK,ROUND", "");
    hidden.word("--patience", b.patience, "SECONDS", "");
    add_output(options, a, "text|csv|json|md");
}

void add_compare(const OptionGroup& options, Arguments& a) {
    add_source(options, a.problem, " [worked-4x4]");
    CompareWords& c = a.compare;
    options.word("--device", c.device, "cuda|emulator", "[cuda, emulator without a GPU]");
    options.word("--kernel", c.kernel, "NAME", "of the CUDA ladder [f5-flash2]");
    options.word("--dtype", c.dtype, "f32|f16|bf16", "[bf16; f32 where the kernel has no other]");
    options.word("--fault", c.fault, "QUANTITY@i,j[,row[,column]][=AMOUNT]",
                 "make S, m, alpha, P, l or O of a tile wrong by a factor of 1 + AMOUNT [0.001]");
    options.word("--load-bundle", c.load_bundle, "FILE", "show a saved run instead of running");
    options.word("--save", c.save, "FILE", "keep the run, to be opened without a GPU");
    add_output(options, a, "text|json");
}

void add_inside(const OptionGroup& options, Arguments& a) {
    add_source(options, a.problem, " [worked-4x4]");
    options.word("--kernel", a.compare.kernel, "NAME",
                 "of the CUDA ladder: f0- to b4- of 'tilewalk kernels' [f5-flash2]");
    options.word("--source", a.source, "FILE",
                 "your own kernel (.cu): compiled and run here, as your own program");
    options.word("--dtype", a.compare.dtype, "f32|f16|bf16",
                 "[bf16; f32 where the kernel has no other, and for --source]");
    options.word("--heads", a.problem.heads, "H", "query heads, up to 8: blocks of all of them run [1]");
    options.word("--kv-heads", a.problem.kv_heads, "G", "key heads that they share, a divisor of H [H]");
    options.word("--link", a.link, "'tilewalk:...'",
                 "the run that a link leads to (Ctrl L on the page Inside), or the problem of a walk");
    options.word("--seconds", a.seconds, "S",
                 "with --source: of computing, after which it is stopped, 1 to 3600 [10]");
    options.word("--against", a.against, "NAME", "beside another kernel on the same problem: what it saves");
    options.word("--step", a.step, "K",
                 "which lane does what this step of flash-forward does, and where; from 1");
    options.word("--at", a.at, "ROW[.COLUMN]",
                 "with --step: the cell, as the screen counts [the step's own]");
    options.word("--br", a.problem.br, "N", "with --step and --place: query rows of the walk's tiles");
    options.word("--bc", a.problem.bc, "N", "and keys");
    options.word("--place", a.place, "WARP.INSTRUCTION.LANE",
                 "the way back: the step of flash-forward; the instruction from 1");
    options.word("--break", a.leave_out, "NAME|list",
                 "run it without a barrier, a wait, the swizzle …; list: which there are");
    add_output(options, a, "text|json|html");
    options.app.footer(
        "Up to N = 256, d = 128. Of each line of the source: how often warps and lanes came there;\n"
        "turns that the banks of shared memory took, what they would take without conflicts, and the ways "
        "of\n"
        "the worst one; sectors of 32 bytes of HBM that were touched, and those that the bytes needed.\n"
        "Exit codes: 0 done, 1 two accesses race, a number is wrong with --break, or the kernel failed,\n"
        "2 wrong arguments or input, 4 output not written.\n"
        "An example: tilewalk inside --kernel f5-flash2 --random 128x64");
}

void add_export(const OptionGroup& options, Arguments& a) {
    add_problem(options, a, " [worked-4x4]");
    options.word("--format", a.format, "html|pdf|md|tex", "[by the ending of -o]");
    options.word("--theme", a.theme, "dark|light|contrast",
                 "colours of slides [light]; that a page begins with [the reader's]");
    options.word("--size", a.size, "WxH",
                 "of the pictures of a page or slide, 1024x640 to 3840x2160 [1280x720]");
    options.word("--steps", a.steps, "K-L,...", "pdf, md, tex: these steps alone, as in 11-20 [all]");
    options.word("--tour", a.tour, "FILE|NAME", "pdf: the stops of a tour in place of steps, and its notes");
    options.flag("--fragment", a.fragment, "tex: the body alone, for \\input");
    options.word("-o,--output", a.output, "FILE", "required for a page and slides; md and tex: stdout");
}

void add_film(const OptionGroup& options, Arguments& a) {
    add_problem(options, a, " [worked-4x4]");
    options.word("--tour", a.tour, "FILE|NAME", "the stops of a tour in place of steps, each with its card");
    options.word("--from", a.from, "K", "first step or stop, from 1 [1]");
    options.word("--to", a.to, "K", "last step or stop [the last there is]");
    options.word("--size", a.size, "WxH", "pixels, 640x360 to 3840x2160 [1920x1080]");
    options.word("--fps", a.fps, "N", "frames per second, 1 to 60 [30]");
    options.word("--seconds-per-step", a.seconds_per_step, "S",
                 "for each step or stop, 1 to 60 [as long as its motion and its words take]");
    options.flag("--no-subtitles", a.no_subtitles, "without the sentence of each step");
    options.word("--theme", a.theme, "dark|light|contrast", "colours");
    options.word("--palette", a.palette, "usual|safe", "safe: without red against green");
    options.word("-o,--output", a.output, "FILE|FOLDER", "required: .mp4, .webm or .gif; a folder of frames");
}

void add_questions(const OptionGroup& options, Arguments& a) {
    add_unbroken_problem(options, a, " [worked-4x4]; its shape counts, not its numbers");
    add_faults(options.under(""), a.problem);  // refused in a sentence of its own
    options.word("--step", a.step, "K", "ask about this step alone, from 1 [a selection over the walk]");
    options.word("--variants", a.variants, "N", "how many sets of numbers, 1 to 1000 [30]");
    options.word("--gaps", a.gaps, "one|few|row|tile", "numbers of a step that a question asks for [one]");
    add_output(options, a, "gift|md|tex", "[by the ending of -o; gift, which Moodle reads]");
    options.word("--key", a.key, "FILE", "the teacher's answers [NAME-key.md beside -o]");
    const OptionGroup run = options.under("With --lesson inside: about a kernel's run");
    run.word("--kernel", a.compare.kernel, "NAME", "of the CUDA ladder [f5-flash2]");
    run.word("--dtype", a.compare.dtype, "f32|f16|bf16", "[bf16; f32 where the kernel has no other]");
}

void add_link(const OptionGroup& options, Arguments& a) {
    static const std::string page_forms = joined({ui::page_names.begin(), ui::page_names.end()}, "|");
    add_problem(options, a, " [worked-4x4]");
    options.word("--step", a.step, "K", "the step, from 1 [1]");
    options.word("--at", a.at, "ROW[.COLUMN]",
                 "the cell of what the step writes, as the screen counts [the step's own]");
    options.word("--page", a.page, page_forms.c_str(), "what is shown [walk]");
    options.flag("--presenter", a.presenter, "in presenter mode");
    options.word("-o,--output", a.output, "FILE", "instead of stdout");
    const OptionGroup run = options.under("With --page inside");
    run.word("--kernel", a.compare.kernel, "NAME", "of the CUDA ladder [f5-flash2]");
    run.word("--dtype", a.compare.dtype, "f32|f16|bf16", "[bf16; f32 where the kernel has no other]");
    run.word("--size", a.inside.size, "NxD", "a random problem of this size: 128x64, 256x64, 256x128");
    run.word("--block", a.inside.block, "N", "of the grid, from 0 [0]");
    run.word("--launch", a.inside.launch, "N", "of the kernel, from 1 [the one that does the main work]");
    run.word("--warp", a.inside.warp, "N", "from 0 [0]");
    run.word("--instruction", a.inside.instruction, "N", "of the warp, from 1 [1]");
    run.word("--lane", a.inside.lane, "N", "0 to 31 [13]");
    run.word("--without", a.inside.without, "NAME", "what its run goes without ('inside --break list')");
}

void add_manual(const OptionGroup& options, Arguments& a) { add_output(options, a, "man|bash|zsh", "[man]"); }

const Command commands[] = {
    {"trace", "Write the whole walk as text, JSON or Markdown", run_trace, add_trace},
    {"render", "Draw one step or every step as PNG or SVG, without a display", run_render, add_render},
    {"export", "Write the walk as a hand-out: a page, slides, notes or a document", run_export, add_export},
    {"film", "Film the steps: tiles slide, products light up, sums grow", run_film, add_film},
    {"link", "Print the line that leads to a lesson, problem and step", run_link, add_link},
    {"questions", "Write questions with other numbers for every student, and their key", run_questions,
     add_questions},
    {"compare", "Set what a CUDA kernel writes down of itself beside the CPU's walk", run_compare,
     add_compare},
    {"inside", "Count what a CUDA kernel does, line by line, and look for races", run_inside, add_inside},
    {"model", "Memory, traffic and time of attention, from closed forms", run_model, add_model},
    {"bench", "Run the kernels on large problems: verified, then timed, memory counted", run_bench_command,
     add_bench},
    {"examples", "List the problems that the program brings along", list_examples, add_listing},
    {"lessons", "List what can be walked through", list_lessons, add_listing},
    {"kernels", "List the kernels that 'bench' runs", list_kernels, add_listing},
    {"devices", "Say which processors are there", list_devices, add_listing},
    {"manual", "Print the manual page, or what a shell completes words with", run_manual, add_manual}};

void add_commands(CLI::App& app, Arguments& a) {
    for (const Command& command : commands) {
        CLI::App& sub = *app.add_subcommand(command.name, command.help);
        sub.callback([&a, &command] { a.command = &command; });
        command.add_options({sub, "Options"}, a);
    }
}

void add_window(const OptionGroup& options, Arguments& a) {
    add_problem(options, a, "");
    add_look(options, a);
    add_tour(options, a, "N");
    options.word("--source", a.source, "FILE",
                 "your own kernel (.cu) on the page Inside: it is compiled and run");
    options.word("--step", a.step, "K", "step to begin with, from 1 [1]");
    const OptionGroup hidden = options.under("");
    hidden.word("--frames", a.frames, "N", "");
    hidden.word("--screenshot", a.screenshot, "FILE", "");
    hidden.flag("--timing", a.timing, "");
}

std::string full_name(const CLI::App& app) {
    return app.get_parent() ? "tilewalk " + app.get_name() : "tilewalk";
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty()) names.push_back(option->get_name());
    return names;
}

// "-o" rather than "--output": what the documents and all other sentences say.
std::string short_name(const CLI::Option& option) {
    return option.get_snames().empty() ? option.get_name() : "-" + option.get_snames().front();
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

// "--causal=no": CLI11 would take such a value, or stumble over it.
std::optional<std::string> check_switches(const CLI::App& app, const std::vector<std::string>& words) {
    for (const CLI::Option* option : app.get_options())
        for (const std::string& word : words)
            if (!takes_value(*option) && word.starts_with(option->get_name() + "="))
                return option->get_name() + " takes no value, but " + in_quotes(word) + " gives it one.";
    return std::nullopt;
}

std::optional<std::string> check_values(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        if (option->count() == 0 || !takes_value(*option)) continue;
        const std::string text = option->results().empty() ? "" : option->results().front(),
                          name = short_name(*option);
        if (option->count() > 1) return name + " is there more than once.";
        if (text.empty()) return name + " needs a value.";
        if (text.starts_with("--")) return name + " needs a value, but " + in_quotes(text) + " follows.";
    }
    return std::nullopt;
}

// The options of the window stand for themselves; those of a command come after it.
std::optional<std::string> check_order(const CLI::App& app, const CLI::App& command) {
    if (&app == &command) return std::nullopt;
    for (const CLI::Option* option : app.get_options())
        if (option->count() > 0)
            return option->get_name() + " stands before the command " + command.get_name() +
                   "; options come after the command.";
    return std::nullopt;
}

bool shows_option(const CLI::App& app, const std::string& name) {
    const CLI::Option* option = app.get_option_no_throw(name);
    return option && !option->get_group().empty();
}

// --link of 'model' is a speed, that of all others what begins with tilewalk: the one form in quotes. --size
// of 'link' is that of a problem, that of all others of a picture.
bool means_the_same(const CLI::Option& a, const CLI::Option& b) {
    const auto form = [](const CLI::Option& option) {
        const std::string type = option.get_type_name();
        return type.starts_with("'") ? 1 : type == "NxD" ? 2 : 0;
    };
    return form(a) == form(b);
}

// "the window and 'render'": whoever has the option; empty when nobody has.
std::string owners(const CLI::App& app, const std::string& option) {
    std::vector<std::string> names;
    const CLI::Option* first = nullptr;
    const auto look = [&](const CLI::App& command, const std::string& name) {
        if (!shows_option(command, option)) return;
        const CLI::Option& own = *command.get_option(option);
        if (!first) first = &own;
        if (means_the_same(own, *first)) names.push_back(name);
    };
    look(app, "the window");
    for (const CLI::App* command : app.get_subcommands(nullptr))
        look(*command, "'" + command->get_name() + "'");
    return listed(names, "and");
}

std::string unknown_option(const CLI::App& app, const CLI::App& command, const std::string& word) {
    const std::string option = word.substr(0, word.find('='));
    const std::string owner = owners(app, option);
    const std::string missing = "'" + full_name(command) + "' has no option " + in_quotes(option);
    if (option == "--version") return missing + "; 'tilewalk --version' prints it.";
    if (!owner.empty()) return missing + "; it belongs to " + owner + ".";
    return missing +
           did_you_mean(option, option_names(command), "; '" + full_name(command) + " --help' lists them.");
}

// What a document makes of two hyphens
bool begins_with_long_dash(const std::string& word) {
    return word.starts_with("\u2013") || word.starts_with("\u2014") || word.starts_with("\u2212");
}

bool is_there(const std::string& file) {
    std::error_code refused;
    return std::filesystem::exists(file, refused);
}

std::string unknown_word(const CLI::App& app, const CLI::App& command, const std::string& word) {
    if (begins_with_long_dash(word))
        return in_quotes(word) + " begins with a long dash; options begin with two short ones: --.";
    if (word.size() > 1 && word[0] == '-') return unknown_option(app, command, word);
    if (&app != &command) return in_quotes(word) + " is a word too many for '" + full_name(command) + "'.";
    if (is_matrix_path(word))
        return in_quotes(word) + " is one matrix; name Q, K and V: --q FILE --k FILE --v FILE.";
    if (word.starts_with("tilewalk:")) return in_quotes(word) + " is a link; --link opens it.";
    if (word.find('.') != std::string::npos && is_there(word))
        return in_quotes(word) +
               " is a file; one that is opened stands alone, beside options it needs --load.";
    return "There is no command " + in_quotes(word) +
           did_you_mean(word, names_of(commands, &Command::name), "; 'tilewalk --help' lists them.");
}

// "-" would be a file of that name.
std::optional<std::string> check_files(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_name();
        const bool file = option->get_type_name().starts_with("FILE") && name != "--output";
        if (!file || option->count() == 0 || option->results().front() != "-") continue;
        const bool written = name == "--key" || name == "--save" || name == "--screenshot";
        return name + " is \"-\", expected a file" + (written ? "." : "; the standard input is /dev/stdin.");
    }
    return std::nullopt;
}

std::optional<std::string> check(const CLI::App& app, const std::vector<std::string>& words) {
    const auto chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    if (auto sentence = check_switches(command, words)) return sentence;
    if (auto sentence = check_order(app, command)) return sentence;
    if (auto sentence = check_values(command)) return sentence;
    if (auto sentence = check_files(command)) return sentence;
    const std::vector<std::string> left = app.remaining(true);
    if (!left.empty()) return unknown_word(app, command, left.front());
    return std::nullopt;
}

// Elsewhere "-" stands for the standard output; here it would be a file of that name.
std::optional<std::string> check_output(const Arguments& a) {
    if (a.output && a.output->starts_with("="))
        return "-o is " + in_quotes(*a.output) + "; say -o FILE or --output=FILE.";
    if (a.output != "-") return std::nullopt;
    if (a.command->run != run_render && a.command->run != run_film)
        return "-o is \"-\"; leave -o out to write to standard output.";
    return "-o is \"-\", expected a file or folder; pictures and films do not go to standard output.";
}

// What stands behind a command that was understood, without what only says where its results go.
std::string repeated(const CLI::App& command) {
    std::string text = full_name(command);
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_name();
        if (option->count() == 0 || name == "--format" || name == "--output" || name == "--save" ||
            name == "--key")
            continue;
        text += " " + name + (takes_value(*option) ? " " + option->results().front() : "");
    }
    return text;
}

// The parser gives up when the last word is an option that wants another word behind it.
std::string without_value(const CLI::App& app, const std::vector<std::string>& words) {
    const std::string word = words.back().substr(0, words.back().find('='));
    std::vector<const CLI::App*> all = app.get_subcommands(nullptr);
    all.push_back(&app);
    for (const CLI::App* one : all)
        if (const CLI::Option* option = one->get_option_no_throw(word))
            return short_name(*option) + " needs a value.";
    return word + " needs a value.";
}

void describe(CLI::App& app) {
    app.set_help_flag("-h,--help", "Print this help");
    app.set_version_flag("--version", std::string("tilewalk ") + version, "Print the version");
    app.allow_extras();
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(38);
}

// A file alone, as a file manager hands it over: a problem, or a tour.
void name_file_alone(std::vector<std::string>& words) {
    if (words.size() != 1 || words[0].starts_with("-")) return;
    if (words[0].ends_with(".json")) words.insert(words.begin(), "--load");
    if (words[0].ends_with(".md")) words.insert(words.begin(), "--tour");
}

// "help", "help trace": as many other programs have it
void ask_for_help(std::vector<std::string>& words) {
    if (words.empty() || words[0] != "help") return;
    words.erase(words.begin());
    words.emplace_back("--help");
}

void add_everything(CLI::App& app, Arguments& arguments) {
    describe(app);
    add_window({app, "Options"}, arguments);
    add_commands(app, arguments);
    app.footer("Without a command a window opens: without PROBLEM, --lesson and --step with the start page,\n"
               "which leads back to what was left the last time. A FILE alone, .json or .md, is opened: a "
               "problem, a tour.\n"
               "'tilewalk COMMAND --help' lists the options of a command.\n"
               "Exit codes: 0 done, 1 a kernel is wrong, 2 wrong arguments or input, 3 no such device or\n"
               "display, 4 output not written, 130 interrupted, 143 ended by SIGTERM.");
}

ToldCommand told(const CLI::App& app) {
    ToldCommand command{app.get_parent() ? app.get_name() : "", app.get_description(), {}, app.get_footer()};
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty())
            command.options.push_back({option->get_name(false, true),
                                       takes_value(*option) ? option->get_type_name() : "",
                                       option->get_description(), option->get_group()});
    return command;
}

}  // namespace

std::vector<ToldCommand> told_commands() {
    Arguments arguments;
    CLI::App app(about, "tilewalk");
    add_everything(app, arguments);
    std::vector<ToldCommand> all{told(app)};
    for (const CLI::App* command : app.get_subcommands(nullptr)) all.push_back(told(*command));
    return all;
}

Result<Arguments> parse_arguments(int argc, const char* const* argv) {
    std::vector<std::string> words;
    for (int n = 1; n < argc; ++n) words.emplace_back(argv[n]);
    name_file_alone(words);
    ask_for_help(words);
    if (std::ranges::find(words, "--") != words.end())
        return Failure{"\"--\" has no meaning here; leave it out."};

    Arguments arguments;
    CLI::App app(about, "tilewalk");
    add_everything(app, arguments);
    if (auto sentence = check_switches(app, words)) return Failure{*sentence};
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
        if (auto sentence = check(app, words)) return Failure{*sentence};
        if (auto sentence = check_output(arguments)) return Failure{*sentence};
        const auto chosen = app.get_subcommands();
        if (!chosen.empty()) arguments.repeated = repeated(*chosen.front());
    } catch (const CLI::CallForHelp&) {
        if (const auto left = app.remaining(true); !left.empty() && left.front()[0] != '-')
            return Failure{unknown_word(app, app, left.front())};
        arguments.print = app.help();
    } catch (const CLI::CallForVersion&) {
        if (const auto left = app.remaining(true); !left.empty())
            return Failure{in_quotes(left.front()) + " is a word too many for 'tilewalk --version'."};
        arguments.print = std::string("tilewalk ") + version + "\n";
    } catch (const CLI::ArgumentMismatch&) {
        return Failure{without_value(app, words)};
    } catch (const std::exception& error) {
        return Failure{std::string("The arguments are not understood: ") + error.what() + "."};
    }
    return arguments;
}

}  // namespace tilewalk
