// Files and lines that are read: what can be fed without the interface.
#include "tests/fuzz/targets.h"

#include "app/io/bench_json.h"
#include "app/io/kernel_bundle.h"
#include "app/io/link.h"
#include "app/io/matrix_file.h"
#include "app/io/problem_json.h"
#include "app/io/settings.h"
#include "app/io/text.h"
#include "core/lessons/table.h"
#include "core/walk/condition.h"
#include "core/walk/explain.h"
#include "tests/folder.h"

namespace tilewalk::fuzz {

namespace {

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

void take_condition(std::string_view bytes) {
    static const auto trace = default_lesson()(*random_problem(4, 4, 1));
    const Result<Condition> condition = parse_condition(bytes);
    if (!taken(condition)) return;
    for (int k = 0; k < trace->size(); ++k) (void)condition->holds(*trace, k);
    expect(bool(parse_condition(condition->text())), "the text of a condition is one");
}

void take_settings(std::string_view bytes) {
    const LoadedSettings loaded = settings_from_text(bytes, "settings.json");
    expect(loaded.found || !loaded.notice.empty(), "damaged settings are told of");
    if (!loaded.found) return;  // the defaults
    const std::string first = settings_text(loaded.settings);
    const LoadedSettings again = settings_from_text(first, "saved.json");
    expect(again.found, "saved settings can be read");
    expect(settings_text(again.settings) == first, "saved settings are what is read");
}

}  // namespace

std::span<const Target> reader_targets() {
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
