#include "app/cli/lesson_choices.h"

#include "app/cli/values.h"
#include "app/io/suggest.h"
#include "app/io/text.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/precision.h"

#include <sstream>
#include <vector>

namespace tilewalk {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        if (!part.empty() || separator != ' ') parts.push_back(part);
    return parts;
}

template <class Enum>
std::string set_choice(const char* option, const Word& word, const std::vector<std::string>& names,
                       Enum& target) {
    if (!word) return {};
    const auto index = choice(option, *word, names);
    if (index) target = static_cast<Enum>(*index);
    return index.error;
}

std::string set_row(const Word& word, const Problem& p, int& row) {
    if (!word) return {};
    const auto number = whole_number("--row", *word, 0, p.N() - 1);
    if (number) row = static_cast<int>(*number);
    return number.error;
}

std::string set_learning_rate(const Word& word, double& rate) {
    if (!word) return {};
    const auto number = finite_number("--learning-rate", *word, "a number");
    if (number) rate = *number;
    return number.error;
}

// "The cat sat": one word for each position.
std::string set_tokens(const Word& word, Problem& p) {
    if (!word) return {};
    const std::vector<std::string> words = split(without_controls(*word), ' ');
    const std::size_t positions = static_cast<std::size_t>(std::max(p.N(), p.N_kv()));
    if (words.size() != positions)
        return "--tokens has " + counted(static_cast<long long>(words.size()), "word") + ", expected " +
               std::to_string(positions) + ", one for each position.";
    p.tokens = words;
    return {};
}

std::string set_faults(const Word& word, Switches& switches) {
    if (!word) return {};
    std::vector<std::string> names;
    for (const Fault& fault : all_faults()) names.emplace_back(fault.name);
    for (const std::string& name : split(*word, ',')) {
        const auto index = choice("--break", name, names);
        if (!index) return index.error;
        switches.*find_fault(name)->on = true;
    }
    return {};
}

std::string set_precision(const Word& word, Precision& precision) {
    if (!word) return {};
    std::vector<std::string> names;
    for (const Format format : formats()) names.emplace_back(name(format));
    const std::vector<std::string> stages{"inputs", "scores", "softmax", "weights", "accumulator", "output"};
    Format* const targets[] = {&precision.inputs,  &precision.scores,      &precision.softmax,
                               &precision.weights, &precision.accumulator, &precision.output};
    for (const std::string& part : split(*word, ',')) {
        const std::size_t equals = part.find('=');
        const auto format =
            choice("--precision", part.substr(equals == std::string::npos ? 0 : equals + 1), names);
        if (!format) return format.error;
        const Format chosen = formats()[static_cast<std::size_t>(*format)];
        if (equals == std::string::npos) {
            for (Format* target : targets) *target = chosen;
            continue;
        }
        const auto stage = choice("--precision", part.substr(0, equals), stages);
        if (!stage) return stage.error;
        *targets[*stage] = chosen;
    }
    return {};
}

}  // namespace

std::string apply_lesson_choices(const ProblemWords& words, Problem& p) {
    Options& o = p.options;
    std::string error = set_tokens(words.tokens, p);
    if (error.empty()) error = set_row(words.row, p, o.row);
    if (error.empty())
        error = set_choice("--notation", words.notation, {"l_O", "d_o", "delta_omega"}, o.notation);
    int deferred = !o.normalised;
    if (error.empty()) error = set_choice("--form", words.form, {"normalised", "deferred"}, deferred);
    o.normalised = !deferred;
    if (error.empty()) error = set_choice("--order", words.order, {"key_outer", "query_outer"}, o.order);
    if (error.empty()) error = set_learning_rate(words.learning_rate, o.learning_rate);
    if (error.empty()) error = set_faults(words.faults, p.switches);
    if (error.empty()) error = set_precision(words.precision, p.precision);
    return error;
}

}  // namespace tilewalk
