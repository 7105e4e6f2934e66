// tilewalk questions
#include "app/cli/commands.h"
#include "app/cli/inside.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/export/course.h"
#include "app/io/text.h"
#include "app/ui/chapters/inside/page.h"
#include "core/class/variants_inside.h"

#include <array>
#include <filesystem>
#include <limits>
#include <memory>

namespace tilewalk {
namespace {

enum class Format { gift, md, tex };

Result<Format> choose_format(const Arguments& a) {
    const std::string ending =
        a.output ? lower_case(std::filesystem::path(*a.output).extension().string()) : "";
    const bool known =
        a.format || !a.output || ending == ".gift" || ending == ".txt" || ending == ".md" || ending == ".tex";
    if (!known)
        return Failure{"-o is " + in_quotes(*a.output) +
                       ", expected a name that ends in .gift, .txt, .md or .tex; or say --format."};
    const auto format = choice("--format",
                               a.format.value_or(ending == ".md"    ? "md"
                                                 : ending == ".tex" ? "tex"
                                                                    : "gift"),
                               {"gift", "md", "tex"});
    if (!format) return Failure{format.error};
    return static_cast<Format>(*format);
}

// "week3-key.md" beside "week3.gift"; none beside a device, or where nothing goes into a file.
Word key_file(const Arguments& a) {
    if (a.key || !a.output) return a.key;
    const std::filesystem::path path(*a.output);
    std::error_code none;
    if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none)) return {};
    return (path.parent_path() / (path.stem().string() + "-key.md")).string();
}

Result<VariantsWanted> read_wanted(const Arguments& a) {
    VariantsWanted wanted;
    ProblemWords words = a.problem;
    WordReader read;
    read.count("--variants", a.variants, 1, most_variants, wanted.variants);
    read.count("--seed", words.seed, 0, std::numeric_limits<std::int64_t>::max(), wanted.seed);
    read.choose("--gaps", a.gaps, {std::begin(gaps_names), std::end(gaps_names)}, wanted.gaps);
    std::optional<int> step;
    read.count("--step", a.step, 1, std::numeric_limits<int>::max(), step);
    if (step) wanted.step = *step - 1;
    if (!read.error.empty()) return Failure{read.error};
    Arguments of_problem = a;
    of_problem.problem.seed.reset();  // it chooses the variants' numbers; the problem's own are not used
    auto walk = named_walk(of_problem);
    if (!walk) return Failure{walk.error};
    if (auto sentence = refuse(*walk->lesson, walk->problem)) return Failure{*sentence};
    wanted.lesson = walk->lesson;
    wanted.shape = std::move(walk->problem);
    return wanted;
}

Outcome put_files(const Arguments& a, const Word& key, std::ostream& out, const Writer& write,
                  const Writer& write_key) {
    StagedFiles files;
    if (a.output)
        if (const auto added = files.add(*a.output, write); !added) return written(added);
    if (key)
        if (const auto added = files.add(*key, write_key); !added) return written(added);
    if (!a.output)
        if (Outcome outcome = put(std::nullopt, out, write); outcome.exit != Exit::done) return outcome;
    return written(files.put_in_place());
}

Outcome course_of_lesson(const Arguments& a, Course& course) {
    if (a.compare.kernel || a.compare.dtype)
        return bad_input("--kernel and --dtype are of a kernel's run; say --lesson inside.");
    const auto wanted = read_wanted(a);
    if (!wanted) return bad_input(wanted.error);
    auto questions = make_variants(*wanted);
    if (!questions) return bad_input(questions.error);
    course = {wanted->lesson->title,
              course_facts(*wanted->lesson, wanted->shape),
              std::move(*questions),
              wanted->variants,
              {}};
    return {};
}

// ---- Of a kernel's run

/// Launches with all that is looked up in them.
struct WalkedRun {
    explicit WalkedRun(const inside::Record& of_record, const inside::Launch& launch)
        : record(of_record), block(launch.blocks.front()), steps(record, launch, block),
          origins(record, block, steps) {}
    InsideRun run() const { return {record, block, steps, origins}; }

    const inside::Record& record;
    const inside::BlockRecord& block;
    inside::Steps steps;
    inside::Origins origins;
};

std::vector<AskedOfAll> questions_of_run(const inside::Record& record, int variants, std::uint64_t seed) {
    std::vector<std::unique_ptr<WalkedRun>> walked;
    std::vector<InsideRun> runs;
    for (const inside::Launch& launch : record.launches) {
        if (launch.blocks.empty()) continue;
        walked.push_back(std::make_unique<WalkedRun>(record, launch));
        runs.push_back(walked.back()->run());
    }
    return make_inside_variants(runs, variants, seed);
}

// Its numbers decide nothing of what is asked, so that where nothing is said the problem is the page's own.
Arguments with_problem_of_page(Arguments a) {
    a.problem.seed.reset();
    a.lesson.reset();
    if (a.problem.empty()) a.problem.random = ui::inside_sizes().front().name;
    return a;
}

Outcome course_of_kernel(const Arguments& a, Course& course) {
    if (a.step || a.gaps)
        return bad_input("--step and --gaps are of a walk; leave them out with --lesson inside.");
    if (a.problem.faults || a.problem.precision)
        return bad_input("--break and --precision are of a walk; leave them out with --lesson inside.");
    course.variants = VariantsWanted().variants;
    std::uint64_t seed = VariantsWanted().seed;
    WordReader read;
    read.count("--variants", a.variants, 1, most_variants, course.variants);
    read.count("--seed", a.problem.seed, 0, std::numeric_limits<std::int64_t>::max(), seed);
    if (!read.error.empty()) return bad_input(read.error);
    const auto request = make_record_request(with_problem_of_page(a), a.compare.kernel);
    if (!request) return bad_input(request.error);
    gpu::TraceFailed how{};
    const auto record = gpu::record_kernel(*request, &how);
    if (!record) return not_recorded(how, record.error);
    course.title = "Inside " + record->kernel;
    const Problem& p = request->problem;
    course.facts = record->title + ", " + name_of(record->dtype) + ": N = " + str(p.N()) +
                   (p.N_kv() == p.N() ? "" : ", N_kv = " + str(p.N_kv())) + ", d = " + str(p.d()) +
                   (record->tiles > 0 ? ", tiles of " + str(record->Br) + " × " + str(record->Bc) : "");
    course.questions = questions_of_run(*record, course.variants, seed);
    if (course.questions.empty())
        return bad_input("There is no question about a run of " + record->kernel +
                         ": it has no fragments, no access of a whole warp and no barrier to ask about.");
    return {};
}

}  // namespace

Outcome run_questions(const Arguments& a, std::ostream& out) {
    const auto format = choose_format(a);
    if (!format) return bad_input(format.error);
    if (a.key == "-") return bad_input("--key is \"-\", expected a file; the key has one of its own.");
    const Word key = key_file(a);
    if (key && a.output && name_same_file(*key, *a.output))
        return bad_input("--key and -o name the same file; the students' questions and the answers are two.");
    Course course;
    const Outcome made = (a.lesson == "inside" ? course_of_kernel : course_of_lesson)(a, course);
    if (made.exit != Exit::done) return made;
    course.command = without_controls(a.repeated);
    const auto write = std::array{write_course_gift, write_course_markdown,
                                  write_course_tex}[static_cast<std::size_t>(*format)];
    return put_files(
        a, key, out, [&](std::ostream& stream) { write(stream, course); },
        [&](std::ostream& stream) { write_course_key(stream, course); });
}

}  // namespace tilewalk
