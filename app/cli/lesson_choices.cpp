// The words of the command line that choose something within a lesson.
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/text.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/parts.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"

namespace tilewalk {
namespace {

// "The cat sat": one word for each position.
Result<std::vector<std::string>> read_tokens(const std::string& text, const Problem& p) {
    const std::vector<std::string> words = words_of(without_controls(text));
    const std::size_t positions = static_cast<std::size_t>(std::max(p.N(), p.N_kv()));
    if (words.size() == positions) return words;
    return Failure{"--tokens has " + counted(words.size(), "word") + ", expected " + str(positions) +
                   ", one for each position."};
}

Result<Switches> read_faults(const std::string& text, Switches switches) {
    const auto names = names_of(all_faults(), &Fault::name);
    for (const std::string& name : split(text, ",")) {
        const auto index = choice("--break", name, names);
        if (!index) return Failure{index.error};
        switches.*find_fault(name)->on = true;
    }
    return switches;
}

Result<Precision> read_precision(const std::string& text, Precision precision) {
    const auto names = names_of(formats(), [](Format format) { return name(format); });
    for (const std::string& part : split(text, ",")) {
        const std::size_t equals = part.find('=');
        const auto format = choice("--precision", part.substr(equals + 1), names);
        if (!format) return Failure{format.error};
        const Format chosen = formats()[static_cast<std::size_t>(*format)];
        if (equals == std::string::npos) {
            for (const Stage& stage : stages()) precision.*stage.format = chosen;
            continue;
        }
        const auto stage = choice("--precision", part.substr(0, equals), names_of(stages(), &Stage::name));
        if (!stage) return Failure{stage.error};
        precision.*stages()[static_cast<std::size_t>(*stage)].format = chosen;
    }
    return precision;
}

Result<std::optional<double>> read_threshold(const std::string& text) {
    if (text == "none") return std::optional<double>();
    const auto number = finite_number("--lazy-rescale", text, "a number of powers of two, or none");
    if (!number) return Failure{number.error};
    return std::optional(*number);
}

Result<std::vector<int>> read_numbers(const char* option, const std::string& text) {
    const auto numbers = whole_numbers(option, text, 0, 1000000000, text.size() + 1);
    if (!numbers) return Failure{numbers.error};
    return std::vector<int>(numbers->begin(), numbers->end());
}

// "4": so many parts, as equal as they can be; "3,1,0": the keys of each part.
Result<std::vector<int>> read_splits(const std::string& text, const Problem& p) {
    auto out = read_numbers("--splits", text);
    if (!out || out->size() != 1) return out;
    if (out->front() == 0) return Failure{"--splits is 0; the keys make at least one part."};
    return even_parts(p.N_kv(), out->front());
}

// Options that only some lessons read.
struct ChoiceWord {
    const char* option;
    Word ProblemWords::*word;
    Choices choice;
};
constexpr ChoiceWord choice_words[] = {
    {"--row", &ProblemWords::row, chooses_row},
    {"--queries", &ProblemWords::queries, chooses_queries},
    {"--notation", &ProblemWords::notation, chooses_notation},
    {"--form", &ProblemWords::form, chooses_form},
    {"--order", &ProblemWords::order, chooses_order},
    {"--learning-rate", &ProblemWords::learning_rate, chooses_learning_rate},
    {"--splits", &ProblemWords::splits, chooses_splits},
    {"--merge", &ProblemWords::merge, chooses_merge_order},
    {"--parts", &ProblemWords::parts, chooses_part_form},
    {"--workers", &ProblemWords::workers, chooses_workers},
    {"--ranks", &ProblemWords::ranks, chooses_ranks},
    {"--shards", &ProblemWords::shards, chooses_ranks},
    {"--prefix", &ProblemWords::prefix, chooses_sequences},
    {"--sequences", &ProblemWords::sequences, chooses_sequences},
    {"--pages", &ProblemWords::pages, chooses_sequences},
    {"--page-table", &ProblemWords::page_table, chooses_sequences},
    {"--lazy-rescale", &ProblemWords::lazy_rescale, takes_savings},
    {"--exp2", &ProblemWords::exp2, takes_savings},
};

std::optional<std::string> refuse_faults(const Lesson& lesson, const ProblemWords& words) {
    const auto known = names_of(lesson.faults(), &Fault::name);
    const std::string id = lesson.id;
    if (known.empty() && (words.faults || words.precision))
        return "The lesson " + id + " knows no faults and no number formats; leave out " +
               (words.faults ? "--break" : "--precision") + ", or choose another lesson.";
    for (const std::string& name : split(words.faults.value_or(""), ","))
        if (words.faults && std::ranges::count(known, name) == 0)
            return "The lesson " + id + " does not know the fault " + name + "; it knows " +
                   listed(known, "and") + ".";
    return {};
}

}  // namespace

std::optional<std::string> refuse_choices(const Lesson& lesson, const ProblemWords& words) {
    for (const auto& [option, word, choice] : choice_words)
        if (words.*word && !lesson.uses(choice))
            return "The lesson " + std::string(lesson.id) + " does not read " + option +
                   "; leave it out, or choose one of " + lessons_with(choice) + ".";
    return refuse_faults(lesson, words);
}

void read_lesson_choices(WordReader& read, const ProblemWords& words, Problem& p) {
    // An option more does not compile until it is named here; whoever names it reads its word below.
    auto& [row, queries, notation, normalised, order, learning_rate, splits, merge, parts, workers, ranks,
           shards, prefix, sequences, pages, page_table] = p.options;
    read.take(words.tokens, p.tokens, [&](const std::string& text) { return read_tokens(text, p); });
    read.count("--row", words.row, 0, p.N() - 1, row);
    if (words.row) choose_row(p.options, row, p.N());
    read.count("--queries", words.queries, 1, most_queries, queries);
    read.choose("--notation", words.notation, {"l_O", "d_o", "delta_omega"}, notation);
    int deferred = !normalised;
    read.choose("--form", words.form, {"normalised", "deferred"}, deferred);
    normalised = !deferred;
    read.choose("--order", words.order, {"key_outer", "query_outer"}, order);
    read.take(words.learning_rate, learning_rate,
              [](const std::string& text) { return finite_number("--learning-rate", text, "a number"); });
    read.take(words.splits, splits, [&](const std::string& text) { return read_splits(text, p); });
    read.choose("--merge", words.merge, {"chain", "pairs", "at_once"}, merge);
    read.choose("--parts", words.parts, {"sums", "normalised"}, parts);
    read.count("--workers", words.workers, 1, 64, workers);
    read.count("--ranks", words.ranks, 1, 16, ranks);
    read.choose("--shards", words.shards, {"contiguous", "zigzag", "striped"}, shards);
    read.count("--prefix", words.prefix, 0, p.N_kv(), prefix);
    read.count("--sequences", words.sequences, 1, p.N(), sequences);
    read.count("--pages", words.pages, 0, 1000000000, pages);
    read.take(words.page_table, page_table,
              [](const std::string& text) { return read_numbers("--page-table", text); });
    read.take(words.faults, p.switches,
              [&](const std::string& text) { return read_faults(text, p.switches); });
    read.take(words.precision, p.precision,
              [&](const std::string& text) { return read_precision(text, p.precision); });
    auto& [lazy, cubic] = p.savings;
    read.take(words.lazy_rescale, lazy, read_threshold);
    read.choose("--exp2", words.exp2, {"exact", "cubic"}, cubic);
}

}  // namespace tilewalk
