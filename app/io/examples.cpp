#include "app/io/examples.h"

#include "app/io/embedded.h"
#include "app/io/problem_json.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace tilewalk {
namespace {

// First the example of the tutorial and more of the same; then what the maximum may do; then masks and tails.
constexpr std::string_view teaching_order[] = {
    "worked-4x4",   "gradients-4x4",    "six-by-two-blocks", "max-rises-late", "max-first", "ties",
    "large-logits", "fully-masked-row", "ragged-7x5",        "causal-8",       "window-12", "six-words"};

/// Position in the lesson plan; files that it does not know come last.
std::ptrdiff_t rank(const Problem& problem) {
    return std::ranges::find(teaching_order, problem.name) - std::begin(teaching_order);
}

std::vector<Problem> parse_embedded() {
    std::vector<Problem> problems;
    for (const EmbeddedFile& file : embedded_examples()) {
        Result<Problem> problem = problem_from_json(file.text, file.name);
        if (!problem) std::fprintf(stderr, "%s\n", problem.error.c_str());
        assert(problem && "an embedded example cannot be read");
        if (!problem) continue;
        problem->name = file.name;
        problems.push_back(std::move(*problem));
    }
    std::ranges::stable_sort(problems, {}, rank);
    return problems;
}

}  // namespace

const std::vector<Problem>& examples() {
    static const std::vector<Problem> parsed = parse_embedded();
    return parsed;
}

const Problem* find_example(std::string_view name) {
    const auto found = std::ranges::find(examples(), name, &Problem::name);
    return found == examples().end() ? nullptr : &*found;
}

}  // namespace tilewalk
