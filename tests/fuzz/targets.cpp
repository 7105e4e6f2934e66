#include "tests/fuzz/targets.h"

#include "app/io/bench_json.h"
#include "app/io/kernel_bundle.h"
#include "app/io/link.h"
#include "app/io/matrix_file.h"
#include "app/io/problem_json.h"
#include "app/io/settings.h"
#include "app/io/text.h"
#include "app/io/tour_file.h"
#include "app/ui/shell/lesson_view.h"
#include "core/lessons/table.h"
#include "core/walk/condition.h"
#include "core/walk/explain.h"
#include "tests/command_line.h"
#include "tests/folder.h"

#include <algorithm>

namespace tilewalk::fuzz {

namespace {

// What is refused is refused with a sentence on one line, in letters that a terminal can show.
template <class T> bool taken(const Result<T>& result) {
    if (result) return true;
    expect(!result.error.empty(), "a refusal has a sentence");
    expect(result.error.find('\n') == std::string::npos, "a sentence is one line");
    expect(is_utf8(result.error), "a sentence is UTF-8");
    return false;
}

// The walk of one lesson, and every step of it explained
void walk(const Lesson& lesson, const Problem& problem) {
    if (problem.Q.size() * problem.K.rows() > 512) return;
    const auto trace = build_trace(lesson, problem);
    if (!taken(trace)) return;
    for (int k = 0; k < (*trace)->size(); ++k)
        expect(!explain(**trace, k).title.empty(), "every step is explained");
}

void take_problem(std::string_view bytes) {
    SavedView view, again;
    const Result<Problem> problem = problem_from_json(bytes, "file.json", &view);
    if (!taken(problem)) return;
    const std::string saved = problem_to_json(*problem, view);
    const Result<Problem> read = problem_from_json(saved, "saved.json", &again);
    expect(bool(read), "what was saved can be read");
    expect(problem_to_json(*read, again) == saved, "what was saved is what is read");
    walk(lessons()[bytes.size() % lessons().size()], *problem);
}

void take_bench(std::string_view bytes) {
    const Result<BenchReport> report = bench_from_json(bytes, "file.json");
    if (!taken(report)) return;
    const std::string saved = bench_to_json(*report);
    const Result<BenchReport> read = bench_from_json(saved, "saved.json");
    expect(bool(read), "what was saved can be read");
    expect(bench_to_json(*read) == saved, "what was saved is what is read");
    bench_to_csv(std::span(&*report, 1));
    bench_to_markdown(std::span(&*report, 1));
}

void take_bundle(std::string_view bytes) {
    const Result<KernelTrace> trace = bundle_from_json(bytes, "file.json");
    if (!taken(trace)) return;
    const std::string saved = bundle_to_json(*trace);
    const Result<KernelTrace> read = bundle_from_json(saved, "saved.json");
    expect(bool(read), "what was saved can be read");
    expect(bundle_to_json(*read) == saved, "what was saved is what is read");
}

void take_csv(std::string_view bytes) {
    const Result<Matrix> matrix = matrix_from_csv(bytes, csv_separator(bytes), "file.csv");
    if (taken(matrix)) expect(matrix->allFinite(), "every element is finite");
}
void take_npy(std::string_view bytes) {
    const Result<Matrix> matrix = matrix_from_npy(bytes, "file.npy");
    if (taken(matrix)) expect(matrix->allFinite(), "every element is finite");
}

void take_link(std::string_view bytes) {
    const Result<LinkedPlace> place = place_of_link(bytes);
    if (!taken(place)) return;
    const Result<std::string> link = link_to(*place);
    if (!taken(link)) return;  // too long
    expect(link->size() <= most_link_letters, "a link is short");
    const Result<LinkedPlace> read = place_of_link(*link);
    expect(bool(read), "a link that was made leads somewhere");
    const Result<std::string> again = link_to(*read);
    expect(again && *again == *link, "a link leads to the place that it was made of");
}

void take_tour(std::string_view bytes) { taken(parse_tour(bytes, "tour.md", ui::tour_names())); }

void take_condition(std::string_view bytes) {
    static const auto trace = default_lesson()(*random_problem(4, 4, 1));
    const Result<Condition> condition = parse_condition(bytes);
    if (!taken(condition)) return;
    for (int k = 0; k < trace->size(); ++k) (void)condition->holds(*trace, k);
    expect(bool(parse_condition(condition->text())), "the text of a condition is one");
}

void take_settings(std::string_view bytes) {
    static const test::Folder folder;
    const std::string path = folder.file("settings.json", std::string(bytes)),
                      saved = folder.file("saved.json");
    const LoadedSettings loaded = load_settings(path);
    expect(loaded.found || !loaded.notice.empty() || bytes.empty(), "damaged settings are told of");
    expect(bool(save_settings(saved, loaded.settings)), "settings can be saved");
    const std::string first = test::contents(saved);
    expect(bool(save_settings(saved, load_settings(saved).settings)), "settings can be saved again");
    expect(test::contents(saved) == first, "saved settings are what is read");
}

// One word on a line, behind one of the commands that only read and print. Words that would write a file, or
// ask for more than a moment's work, are left out.
void take_command_line(std::string_view bytes) {
    static const std::vector<std::string> commands = {"trace",     "link",    "model",
                                                      "questions", "lessons", "examples"};
    std::vector<std::string> words;
    for (const std::string& word : split(bytes.substr(0, 400), "\n")) {
        const bool long_number = word.find_first_of("0123456789") != std::string::npos && word.size() > 24;
        if (word.find('/') != std::string::npos || word.starts_with("-o") || word.starts_with("--o") ||
            word.find('\0') != std::string::npos || long_number)
            continue;
        words.push_back(word);
    }
    if (words.empty() || std::find(commands.begin(), commands.end(), words[0]) == commands.end()) return;
    const test::Ran ran = test::run(words);
    expect(ran.code == 0 || ran.code == 2, "a command ends with 0 or 2");
    expect(ran.code == 0 || !ran.err.empty(), "a refusal has a sentence");
    expect(ran.code == 0 || ran.out.empty(), "what is refused prints nothing");
    expect(is_utf8(ran.err), "a sentence is UTF-8");
}

}  // namespace

std::span<const Target> targets() {
    static const std::vector<Target> all = {
        {"problem",
         "a problem as JSON, saved and read again, and one lesson's walk",
         take_problem,
         "assets/examples/*.json",
         4000,
         {"\"tilewalk-problem-1\"",
          "\"q\":",
          "\"k\":",
          "\"v\":",
          "\"do\":",
          "\"x\":",
          "\"w_q\":",
          "\"br\":",
          "\"bc\":",
          "\"causal\":",
          "\"window\":",
          "\"scale\":",
          "\"sqrt\"",
          "\"heads\":",
          "\"sink\":",
          "\"softcap\":",
          "\"alibi\":",
          "\"break\":",
          "\"precision\":",
          "\"bf16\"",
          "\"tokens\":",
          "\"view\":",
          "\"options\":",
          "\"splits\":",
          "\"ranks\":",
          "\"shards\":",
          "\"page_table\":",
          "\"breakpoints\":",
          "\"savings\":",
          "[[",
          "]]",
          "1e308",
          "-0",
          "1e-320",
          "null",
          "true"}},
        {"bench",
         "results of the benchmark as JSON",
         take_bench,
         "assets/bench/*.json",
         6000,
         {"\"results\"", "\"median_s\"", "\"machine\"", "\"kernel\"", "1e400", "-1", "null", "[]", "{}"}},
        {"bundle",
         "a kernel's run as JSON",
         take_bundle,
         "",
         6000,
         {"\"schema\"", "\"kernel\"", "\"tiles\"", "\"problem\"", "\"m\"", "\"O\"", "null", "[]", "1e400",
          "\"nan\""}},
        {"csv",
         "a matrix as text",
         take_csv,
         "",
         2000,
         {",", ";", "\t", "#", "nan", "inf", "1e309", "\"", "\xEF\xBB\xBF", "\r\n", "-0"}},
        {"npy",
         "a matrix of NumPy",
         take_npy,
         "",
         600,
         {"\x93NUMPY", "'descr': '<f8'", "'fortran_order': True", "'shape': (2, 2)", "<f2", ">i4", "|u1"}},
        {"link",
         "a link, and the link to where it leads",
         take_link,
         "",
         2100,
         {"tilewalk:", "example=", "lesson=", "step=", "at=", "break=", "random=", "%20",
          "view=", "page=", "kernel=", "Q=", "K=", "V=", "causal", "scale=", "heads=", "presenter"}},
        {"tour",
         "a tour as Markdown",
         take_tour,
         "assets/tour/*.md",
         4000,
         {"# ", "## ", "- example: ", "- lesson: ", "- step: ", "- cell: ", "- ring: ", "notes:", "- page: ",
          "{", "}", "- question: ", "- presenter: ", "`", "**"}},
        {"condition",
         "a condition of a breakpoint",
         take_condition,
         "",
         200,
         {"alpha", "m", "isnan(", "isinf(", "&&", "||", "!", "==", "<=", "op", "step", "inf", "(", ")",
          "P\xCC\x83"}},
        {"settings",
         "the file of settings, read, saved and read again",
         take_settings,
         "",
         2000,
         {"\"theme\"", "\"digits\"", "\"window\"", "\"speed\"", "null", "-1", "1e99", "\"dark\"", "{}", "[]",
          "true"}},
        {"command-line",
         "words behind commands that print",
         take_command_line,
         "",
         400,
         {"trace", "link", "model", "questions", "--lesson", "--example", "--random", "--break",
          "--precision", "--step", "--format", "json", "--causal", "--heads", "--splits", "--link", "--seed",
          "--help"}},
        {"interface", "keys and mouse on the whole window", take_events, "", 120, {}},
    };
    return all;
}

std::vector<std::string> inputs_of(const std::string& file) {
    std::vector<std::string> inputs;
    std::string text = test::contents(file);
    if (text.ends_with('\n')) text.pop_back();
    for (const std::string& line : text.empty() ? std::vector<std::string>{} : split(text, "\n")) {
        std::string& bytes = inputs.emplace_back();
        for (std::size_t at = 0; at < line.size(); ++at) {
            if (line[at] != '\\' || at + 1 == line.size()) {
                bytes += line[at];
                continue;
            }
            const char kind = line[++at];
            if (kind == 'x' && at + 2 < line.size())
                bytes += static_cast<char>(std::stoi(line.substr(at + 1, 2), nullptr, 16)), at += 2;
            else
                bytes += kind == 'n' ? '\n' : kind;
        }
    }
    return inputs;
}

}  // namespace tilewalk::fuzz
