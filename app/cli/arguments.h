// The words of the command line, sorted into commands and options. Their meaning is looked at later.
#pragma once

#include "core/base/result.h"

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

struct OptionGroup;
struct Outcome;

/// What was typed after an option, or nothing.
using Word = std::optional<std::string>;

/// Where the problem comes from (one of four sources) and what to change in it.
struct ProblemWords {
    Word example, load, q, k, v, d_o, random, seed;
    Word x, w_q, w_k, w_v;
    Word br, bc, window, scale, softcap, alibi, sink, element_bytes;
    Word heads, kv_heads, head, kv_loads;
    Word tokens, row, queries, notation, form, order, learning_rate, splits, merge, parts, workers, ranks,
        shards, prefix, sequences, pages, page_table, faults, precision, lazy_rescale, exp2;
    bool causal = false;

    bool names_source() const {
        return example || load || q || k || v || d_o || x || w_q || w_k || w_v || random;
    }
    bool empty() const {
        for (const Word* word :
             {&seed,          &br,     &bc,       &window,        &scale,    &softcap,    &alibi,  &sink,
              &element_bytes, &heads,  &kv_heads, &head,          &kv_loads, &tokens,     &row,    &queries,
              &notation,      &form,   &order,    &learning_rate, &splits,   &merge,      &parts,  &workers,
              &ranks,         &shards, &prefix,   &sequences,     &pages,    &page_table, &faults, &precision,
              &lazy_rescale,  &exp2})
            if (*word) return false;
        return !names_source() && !causal;
    }
};

/// What `tilewalk model` asks about.
struct ModelWords {
    Word seqlen, head_dim, dtype, heads, batch, br, bc, tiles, hardware;
    Word ranks, link, rate, kv_heads, direction;  ///< of a ring
    bool causal = false;
};

/// What `tilewalk bench` runs, or shows again.
struct BenchWords {
    Word device, kernels, direction, seqlen, seqlen_q, head_dim, heads, kv_heads, batch, window, dtype,
        memory_limit, threads, seed, load, against;
    Word shards, accident, patience;  ///< of a ring
    bool causal = false, distributed = false;
};

/// What `tilewalk compare` runs, or shows again.
struct CompareWords {
    Word device, kernel, dtype, fault, load_bundle, save;
};

/// Where a link leads on the page Inside, beside kernel and type.
struct InsideWords {
    Word size, block, launch, warp, instruction, lane, without;
};

struct Arguments;

/// A command of the program: a row of the table in arguments.cpp.
struct Command {
    const char *name, *help;
    Outcome (*run)(const Arguments& arguments, std::ostream& out);
    void (*add_options)(const OptionGroup& options, Arguments& arguments);
};

struct Arguments {
    const Command* command = nullptr;  ///< none: the window
    std::string repeated;              ///< the command line again, without what only says where results go
    std::string print;                 ///< help or version: to be printed instead of anything else
    ProblemWords problem;
    ModelWords model;
    BenchWords bench;
    CompareWords compare;
    InsideWords inside;
    Word lesson, step, keys, theme, palette, speaker, format, output, size, pixel_ratio;
    Word steps;                            ///< export: which become slides
    Word tour, stop;                       ///< window and render; export and film have a tour alone
    Word link;                             ///< whatever names a walk
    Word at;                               ///< link and inside: the cell
    Word page;                             ///< link: what is shown instead of the walk
    Word against, place;                   ///< inside: another kernel; a step of a lane
    Word source;                           ///< inside: the user's own kernel
    Word leave_out;                        ///< inside: what the run goes without
    Word seconds;                          ///< inside: of the user's own kernel, which is then stopped
    Word frames, screenshot;               ///< window, for tests
    Word variants, key, gaps;              ///< questions
    Word from, to, fps, seconds_per_step;  ///< film
    bool presenter = false, timing = false;
    bool fragment = false;      ///< export: the body of the document alone
    bool no_subtitles = false;  ///< film
};

/// The command line as its help tells it, for the manual page and for shells that complete words.
struct ToldOption {
    std::string names;  ///< "-o,--output"
    std::string type;   ///< "FILE", "text|json"; empty: a switch
    std::string help, heading;
};
struct ToldCommand {
    std::string name, help;  ///< the window has no name
    std::vector<ToldOption> options;
    std::string footer;
};
std::vector<ToldCommand> told_commands();  ///< the window first

/// Refused with a sentence: unknown commands and options, options without their value or given twice.
Result<Arguments> parse_arguments(int argc, const char* const* argv);

}  // namespace tilewalk
