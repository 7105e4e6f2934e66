// The words of the command line that choose something within a lesson.
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/text.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/precision.h"

#include <sstream>
#include <vector>

namespace tilewalk {
namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ' ');)
        if (!word.empty()) words.push_back(word);
    return words;
}

// "The cat sat": one word for each position.
Result<std::vector<std::string>> read_tokens(const std::string& text, const Problem& p) {
    const std::vector<std::string> words = words_of(without_controls(text));
    const std::size_t positions = static_cast<std::size_t>(std::max(p.N(), p.N_kv()));
    if (words.size() == positions) return words;
    return Failure{"--tokens has " + counted(static_cast<long long>(words.size()), "word") + ", expected " +
                   std::to_string(positions) + ", one for each position."};
}

Result<Switches> read_faults(const std::string& text, Switches switches) {
    std::vector<std::string> names;
    for (const Fault& fault : all_faults()) names.emplace_back(fault.name);
    for (const std::string& name : split_at_commas(text)) {
        const auto index = choice("--break", name, names);
        if (!index) return Failure{index.error};
        switches.*find_fault(name)->on = true;
    }
    return switches;
}

Result<Precision> read_precision(const std::string& text, Precision precision) {
    std::vector<std::string> names;
    for (const Format format : formats()) names.emplace_back(name(format));
    const std::vector<std::string> stages{"inputs", "scores", "softmax", "weights", "accumulator", "output"};
    Format* const targets[] = {&precision.inputs,  &precision.scores,      &precision.softmax,
                               &precision.weights, &precision.accumulator, &precision.output};
    for (const std::string& part : split_at_commas(text)) {
        const std::size_t equals = part.find('=');
        const auto format =
            choice("--precision", part.substr(equals == std::string::npos ? 0 : equals + 1), names);
        if (!format) return Failure{format.error};
        const Format chosen = formats()[static_cast<std::size_t>(*format)];
        if (equals == std::string::npos) {
            for (Format* target : targets) *target = chosen;
            continue;
        }
        const auto stage = choice("--precision", part.substr(0, equals), stages);
        if (!stage) return Failure{stage.error};
        *targets[*stage] = chosen;
    }
    return precision;
}

}  // namespace

void read_lesson_choices(WordReader& read, const ProblemWords& words, Problem& p) {
    Options& o = p.options;
    read.take(words.tokens, p.tokens, [&](const std::string& text) { return read_tokens(text, p); });
    read.count("--row", words.row, 0, p.N() - 1, o.row);
    read.choose("--notation", words.notation, {"l_O", "d_o", "delta_omega"}, o.notation);
    int deferred = !o.normalised;
    read.choose("--form", words.form, {"normalised", "deferred"}, deferred);
    o.normalised = !deferred;
    read.choose("--order", words.order, {"key_outer", "query_outer"}, o.order);
    read.take(words.learning_rate, o.learning_rate,
              [](const std::string& text) { return finite_number("--learning-rate", text, "a number"); });
    read.take(words.faults, p.switches,
              [&](const std::string& text) { return read_faults(text, p.switches); });
    read.take(words.precision, p.precision,
              [&](const std::string& text) { return read_precision(text, p.precision); });
}

}  // namespace tilewalk
