// The problem that the command line names.
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/examples.h"
#include "app/io/matrix_file.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"
#include "core/problem/heads.h"

#include <limits>
#include <tuple>

namespace tilewalk {
namespace {

constexpr const char* default_example = "worked-4x4";
constexpr int largest_count = 1000000000;

Result<Problem> from_example(const std::string& name) {
    if (const Problem* problem = find_example(name)) return *problem;
    return Failure{
        "There is no example " + in_quotes(name) +
        did_you_mean(name, names_of(examples(), &Problem::name), "; 'tilewalk examples' lists them.")};
}

void load(WordReader& read, const Word& path, auto& target) { read.take(path, target, load_matrix); }

Result<Problem> from_matrices(const ProblemWords& words) {
    Problem problem;
    problem.title = "Q, K, V from files";
    WordReader read;
    load(read, words.q, problem.Q);
    load(read, words.k, problem.K);
    load(read, words.v, problem.V);
    load(read, words.d_o, problem.dO);
    if (!read.error.empty()) return Failure{read.error};
    return problem;
}

Result<Problem> from_projection(const ProblemWords& words) {
    Problem problem;
    problem.title = "X and weights from files";
    Projection& w = problem.projection.emplace();
    WordReader read;
    load(read, words.x, w.X);
    for (const auto& [name, path, W] :
         {std::tuple("W_Q", &words.w_q, &w.W_Q), {"W_K", &words.w_k, &w.W_K}, {"W_V", &words.w_v, &w.W_V}}) {
        load(read, *path, *W);
        read.refuse(W->rows() != w.X.cols(), std::string(name) + " has " + str(W->rows()) +
                                                 " rows, but X has " + str(w.X.cols()) +
                                                 " columns; they must be equal.");
    }
    if (read.error.empty()) project(problem);
    load(read, words.d_o, problem.dO);
    if (!read.error.empty()) return Failure{read.error};
    return problem;
}

Result<Problem> from_random(const std::string& text, const Word& seed_text) {
    const auto size = size_pair("--random", text, "NxD with N from 1 to 4096 and D from 1 to 1024");
    if (!size) return Failure{size.error};
    std::uint64_t seed = 1;
    WordReader read;
    read.count("--seed", seed_text, 0, std::numeric_limits<std::int64_t>::max(), seed);
    if (!read.error.empty()) return Failure{read.error};
    return random_problem(size->width, size->height, seed);
}

bool any_projection(const ProblemWords& words) { return words.x || words.w_q || words.w_k || words.w_v; }
bool any_matrix(const ProblemWords& words) {
    return words.q || words.k || words.v || (words.d_o && !any_projection(words));
}

// The first of these options that is not there; null if all are.
using OptionWord = std::pair<const char*, const Word*>;
const char* missing(const std::vector<OptionWord>& options) {
    const auto found =
        std::ranges::find_if(options, [](const OptionWord& option) { return !*option.second; });
    return found == options.end() ? nullptr : found->first;
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
    const char* const matrix = missing({{"--q", &words.q}, {"--k", &words.k}, {"--v", &words.v}});
    if (any_matrix(words) && matrix)
        return named[0] + " is there without " + matrix + "; a problem from files needs --q, --k and --v.";
    const char* const factor =
        missing({{"--x", &words.x}, {"--w-q", &words.w_q}, {"--w-k", &words.w_k}, {"--w-v", &words.w_v}});
    if (any_projection(words) && factor)
        return std::string(words.x ? "--x" : "A weight") + " is there without " + factor +
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

void read_logit(WordReader& read, const char* option, const Word& word, std::optional<double>& target) {
    read.take(word, target, [&](const std::string& text) -> Result<std::optional<double>> {
        if (text == "none") return std::optional<double>();
        const auto number = finite_number(option, text, "a number or none");
        if (!number) return Failure{number.error};
        return std::optional(*number);
    });
}

// How many heads, and which of them is shown; the numbers of the others are made from the problem's own.
void read_heads(WordReader& read, const ProblemWords& words, Problem& problem) {
    int H = query_heads(problem), H_kv = key_heads(problem), shown = shown_head(problem);
    read.count("--heads", words.heads, 1, most_heads, H);
    if (words.heads) H_kv = H;
    read.count("--kv-heads", words.kv_heads, 1, most_heads, H_kv);
    read.refuse(words.head && *words.head != "0" && H == 1,
                "--head is " + in_quotes(words.head.value_or("")) +
                    ", but there is one head; --heads gives the problem more.");
    read.count("--head", words.head, 0, H - 1, shown);
    std::optional<int> once;
    read.choose("--kv-loads", words.kv_loads, {"again", "once"}, once);
    read.refuse(H % H_kv != 0, "--kv-heads is " + str(H_kv) + " and --heads is " + str(H) +
                                   "; key heads are shared evenly, so the one must divide the other.");
    if (!read.error.empty()) return;
    if (words.heads || words.kv_heads) give_heads(problem, H, H_kv);
    show_head(problem, shown);
    read.refuse(
        once && !problem.heads,
        "--kv-loads belongs to several heads: --heads says how many, --kv-heads how many share keys.");
    if (once && problem.heads) problem.heads->once = *once == 1;
}

// What there is to see in a walk, apart from the matrices. Bytes per element only change the counting.
auto looks(const Problem& p) {
    return std::tuple(p.Br, p.Bc, p.causal, p.window, p.softmax_scale(), p.logits.softcap, p.logits.alibi,
                      p.logits.sink, query_heads(p), key_heads(p));
}

void apply_changes(WordReader& read, const ProblemWords& words, Problem& problem) {
    if (words.causal) problem.causal = true;
    read.count("--br", words.br, 1, largest_count, problem.Br);
    read.count("--bc", words.bc, 1, largest_count, problem.Bc);
    read.count("--window", words.window, 0, largest_count, problem.window);
    read.take(words.scale, problem.scale, read_scale);
    read_heads(read, words, problem);
    read_logit(read, "--softcap", words.softcap, problem.logits.softcap);
    read_logit(read, "--alibi", words.alibi, problem.logits.alibi);
    read_logit(read, "--sink", words.sink, problem.logits.sink);
    std::optional<int> power;
    read.choose("--element-bytes", words.element_bytes, {"1", "2", "4", "8"}, power);
    if (power) problem.element_bytes = 1 << *power;
    read_lesson_choices(read, words, problem);
}

}  // namespace

Result<Problem> make_problem(const ProblemWords& words, SavedView* view) {
    Result<Problem> problem = from_source(words, view);
    if (!problem) return problem;
    const auto before = looks(*problem);
    WordReader read;
    apply_changes(read, words, *problem);
    if (!read.error.empty()) return Failure{read.error};
    // What the source says of itself holds no longer.
    if (looks(*problem) != before) mark_changed(*problem);
    return problem;
}

}  // namespace tilewalk
