// tilewalk questions
#include "app/cli/commands.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/export/course.h"
#include "app/io/text.h"

#include <array>
#include <filesystem>
#include <limits>

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

}  // namespace

Outcome run_questions(const Arguments& a, std::ostream& out) {
    const auto format = choose_format(a);
    if (!format) return bad_input(format.error);
    if (a.key == "-") return bad_input("--key is \"-\", expected a file; the key has one of its own.");
    const Word key = key_file(a);
    if (key && a.output && *key == *a.output)
        return bad_input("--key and -o name the same file; the students' questions and the answers are two.");
    const auto wanted = read_wanted(a);
    if (!wanted) return bad_input(wanted.error);
    auto questions = make_variants(*wanted);
    if (!questions) return bad_input(questions.error);
    const Course course{wanted->lesson, wanted->shape, std::move(*questions), wanted->variants,
                        without_controls(a.repeated)};
    const auto write = std::array{write_course_gift, write_course_markdown,
                                  write_course_tex}[static_cast<std::size_t>(*format)];
    return put_files(
        a, key, out, [&](std::ostream& stream) { write(stream, course); },
        [&](std::ostream& stream) { write_course_key(stream, course); });
}

}  // namespace tilewalk
