#include "app/cli/problem_source.h"

#include "app/cli/lesson_choices.h"
#include "app/cli/values.h"
#include "app/io/examples.h"
#include "app/io/matrix_file.h"
#include "app/io/problem_json.h"
#include "app/io/suggest.h"
#include "app/io/text.h"

#include <limits>
#include <tuple>

namespace tilewalk {
namespace {

constexpr const char* default_example = "worked-4x4";
constexpr int largest_count = 1000000000;

Result<Problem> from_example(const std::string& name) {
    if (const Problem* problem = find_example(name)) return *problem;
    std::vector<std::string> names;
    for (const Problem& problem : examples()) names.push_back(problem.name);
    return Failure{"There is no example " + in_quotes(name) +
                   did_you_mean(name, names, "; 'tilewalk examples' lists them.")};
}

Result<Problem> from_matrices(const ProblemWords& words) {
    Problem problem;
    problem.title = "Q, K, V from files";
    const auto load = [](const Word& path, Matrix& target) -> std::string {
        Result<Matrix> matrix = load_matrix(*path);
        if (matrix) target = std::move(*matrix);
        return matrix.error;
    };
    std::string error = load(words.q, problem.Q);
    if (error.empty()) error = load(words.k, problem.K);
    if (error.empty()) error = load(words.v, problem.V);
    if (error.empty() && words.d_o) error = load(words.d_o, problem.dO.emplace());
    if (!error.empty()) return Failure{error};
    return problem;
}

Result<Problem> from_projection(const ProblemWords& words) {
    Problem problem;
    problem.title = "X and weights from files";
    Projection& w = problem.projection.emplace();
    for (const auto& [path, target] :
         {std::pair(&words.x, &w.X), {&words.w_q, &w.W_Q}, {&words.w_k, &w.W_K}, {&words.w_v, &w.W_V}}) {
        Result<Matrix> matrix = load_matrix(**path);
        if (!matrix) return Failure{matrix.error};
        *target = std::move(*matrix);
    }
    for (const auto& [name, W] : {std::pair("W_Q", &w.W_Q), {"W_K", &w.W_K}, {"W_V", &w.W_V}})
        if (W->rows() != w.X.cols())
            return Failure{std::string(name) + " has " + std::to_string(W->rows()) + " rows, but X has " +
                           std::to_string(w.X.cols()) + " columns; they must be equal."};
    project(problem);
    if (words.d_o) {
        Result<Matrix> dO = load_matrix(*words.d_o);
        if (!dO) return Failure{dO.error};
        problem.dO = std::move(*dO);
    }
    return problem;
}

Result<Problem> from_random(const std::string& text, const Word& seed_text) {
    const auto size = size_pair("--random", text, "NxD with N from 1 to 4096 and D from 1 to 1024");
    if (!size) return Failure{size.error};
    Result<std::int64_t> seed = std::int64_t{1};
    if (seed_text) seed = whole_number("--seed", *seed_text, 0, std::numeric_limits<std::int64_t>::max());
    if (!seed) return Failure{seed.error};
    return random_problem(size->width, size->height, static_cast<std::uint64_t>(*seed));
}

bool any_projection(const ProblemWords& words) { return words.x || words.w_q || words.w_k || words.w_v; }
bool any_matrix(const ProblemWords& words) {
    return words.q || words.k || words.v || (words.d_o && !any_projection(words));
}

// One sentence if the words name two sources or half of one.
std::optional<std::string> check_source(const ProblemWords& words) {
    std::vector<std::string> named;
    if (words.example) named.push_back("--example");
    if (words.load) named.push_back("--load");
    if (words.random) named.push_back("--random");
    if (any_matrix(words)) named.push_back(words.q ? "--q" : words.k ? "--k" : words.v ? "--v" : "--do");
    if (any_projection(words)) named.push_back(words.x ? "--x" : "--w-q");
    if (named.size() > 1)
        return named[0] + " and " + named[1] + " both say where the problem comes from; give one of them.";
    if (any_matrix(words) && !(words.q && words.k && words.v))
        return named[0] + " is there without " +
               (!words.q   ? "--q"
                : !words.k ? "--k"
                           : "--v") +
               "; a problem from files needs --q, --k and --v.";
    if (any_projection(words) && !(words.x && words.w_q && words.w_k && words.w_v))
        return std::string(words.x ? "--x" : "A weight") + " is there without " +
               (!words.x     ? "--x"
                : !words.w_q ? "--w-q"
                : !words.w_k ? "--w-k"
                             : "--w-v") +
               "; a problem from an input needs --x, --w-q, --w-k and --w-v.";
    if (words.seed && !words.random) return "--seed belongs to --random, which is not there.";
    return std::nullopt;
}

Result<Problem> from_source(const ProblemWords& words, SavedView* view) {
    if (auto sentence = check_source(words)) return Failure{*sentence};
    if (words.load) return load_problem_file(*words.load, view);
    if (words.random) return from_random(*words.random, words.seed);
    if (words.x) return from_projection(words);
    if (words.q) return from_matrices(words);
    return from_example(words.example.value_or(default_example));
}

Result<Scale> read_scale(const std::string& text) {
    if (text == "none") return Scale{};
    if (text == "sqrt") return Scale{Scale::Kind::sqrt, 1.0};
    const auto number = finite_number("--scale", text, "none, sqrt or a number");
    if (!number) return Failure{number.error};
    return Scale{*number == 1.0 ? Scale::Kind::none : Scale::Kind::number, *number};
}

std::string set_count(const char* option, const Word& word, int low, int& target) {
    if (!word) return {};
    const auto count = whole_number(option, *word, low, largest_count);
    if (count) target = static_cast<int>(*count);
    return count.error;
}

std::string set_window(const Word& word, std::optional<int>& window) {
    if (!word) return {};
    int positions = 0;
    const std::string error = set_count("--window", word, 0, positions);
    if (error.empty()) window = positions;
    return error;
}

std::string set_scale(const Word& word, Scale& scale) {
    if (!word) return {};
    const auto read = read_scale(*word);
    if (read) scale = *read;
    return read.error;
}

std::string set_element_bytes(const Word& word, int& bytes) {
    if (!word) return {};
    const auto index = choice("--element-bytes", *word, {"1", "2", "4", "8"});
    if (index) bytes = 1 << *index;
    return index.error;
}

// What there is to see in a walk, apart from the matrices. Bytes per element only change the counting.
auto looks(const Problem& p) { return std::tuple(p.Br, p.Bc, p.causal, p.window, p.softmax_scale()); }

// The first error, or nothing.
std::string apply_changes(const ProblemWords& words, Problem& problem) {
    if (words.causal) problem.causal = true;
    std::string error = set_count("--br", words.br, 1, problem.Br);
    if (error.empty()) error = set_count("--bc", words.bc, 1, problem.Bc);
    if (error.empty()) error = set_window(words.window, problem.window);
    if (error.empty()) error = set_scale(words.scale, problem.scale);
    if (error.empty()) error = set_element_bytes(words.element_bytes, problem.element_bytes);
    if (error.empty()) error = apply_lesson_choices(words, problem);
    return error;
}

}  // namespace

Result<Problem> make_problem(const ProblemWords& words, SavedView* view) {
    Result<Problem> problem = from_source(words, view);
    if (!problem) return problem;
    const auto before = looks(*problem);
    const std::string error = apply_changes(words, *problem);
    if (!error.empty()) return Failure{error};
    // What the source says of itself holds no longer.
    if (looks(*problem) != before) mark_changed(*problem);
    return problem;
}

}  // namespace tilewalk
