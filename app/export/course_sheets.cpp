// Sheets of questions for paper, and the teacher's key.
#include "app/export/course.h"

#include "app/export/parts.h"
#include "core/base/words.h"

#include <algorithm>
#include <ostream>

namespace tilewalk {
namespace {

std::string escaped(const std::string& text) { return markdown_text(text, "\\`*_{}[]<>#|~&$"); }
std::string heading(const Course& course) { return course.title + ": questions"; }

// Boxes to tick, and a line for each of several numbers.
void put_blanks(std::ostream& out, const Question& q) {
    for (const std::string& choice : q.choices) out << "   - [ ] " << escaped(choice) << '\n';
    for (const Question& gap : q.gaps) out << "   - " << escaped(gap.target) << " =\n";
}

// Causes in the order in which they first come up; the key names them by letters.
std::vector<std::string> causes_of(const AskedOfAll& asked) {
    std::vector<std::string> out;
    for (const Variant& variant : asked.variants)
        for (const Question& part : variant.question.parts())
            for (const WrongAnswer& wrong : part.wrong)
                if (std::ranges::count(out, wrong.cause) == 0) out.push_back(wrong.cause);
    return out;
}

std::string letter_of(std::size_t n) {
    return n < 26 ? std::string(1, static_cast<char>('a' + n)) : "a" + letter_of(n - 26);
}

// "2.1 (a), 0.5 (c)"
std::string wrong_answers(const Question& q, const std::vector<std::string>& causes) {
    std::vector<std::string> out;
    for (const WrongAnswer& wrong : q.wrong)
        out.push_back(
            typed_number(wrong.value) + " (" +
            letter_of(static_cast<std::size_t>(std::ranges::find(causes, wrong.cause) - causes.begin())) +
            ")");
    return joined(out);
}

void put_answers(std::ostream& out, const AskedOfAll& asked, const std::vector<std::string>& causes) {
    const Question& first = asked.variants[0].question;
    const bool number = !first.is_choice(), gaps = !first.gaps.empty();
    out << "| variant |" << (gaps ? " number |" : "") << " answer |" << (number ? " ± |" : "")
        << (causes.empty() ? "" : " likely wrong |") << "\n|--:|" << (gaps ? ":--|" : "") << ":--|"
        << (number ? "--:|" : "") << (causes.empty() ? "" : ":--|") << '\n';
    for (std::size_t n = 0; n < asked.variants.size(); ++n)
        for (const Question& q : asked.variants[n].question.parts()) {
            out << "| " << (asked.same_for_all() ? "all" : str(n + 1)) << " |";
            if (gaps) out << ' ' << escaped(q.target) << " |";
            out << ' ' << escaped(number ? typed_number(q.expected) : answer_text(q)) << " |";
            if (number) out << ' ' << (q.exact ? "0" : typed_tolerance(q)) << " |";
            if (!causes.empty()) out << ' ' << wrong_answers(q, causes) << " |";
            out << '\n';
        }
    out << '\n';
}

void put_key(std::ostream& out, const AskedOfAll& asked, std::size_t number) {
    const std::vector<std::string> causes = causes_of(asked);
    const Question& q = asked.variants[0].question;
    out << "## " << number << ". " << escaped(asked.title) << step_text(asked, true) << "\n\n";
    out << (asked.same_for_all() ? "" : "Variant 1: ") << escaped(q.text) << "\n\n";
    for (const Question& part : q.parts())
        for (const Line* line : std::initializer_list<const Line*>{
                 &part.explanation.formula, &part.explanation.numbers, &part.explanation.result})
            if (!line->empty() && (line != &part.explanation.formula || &part == &q.parts()[0]))
                out << "    " << plain(*line) << '\n';
    out << (q.explanation.formula.empty() ? "" : "\n") << escaped(q.explanation.why) << "\n\n";
    put_answers(out, asked, causes);
    for (std::size_t n = 0; n < causes.size(); ++n)
        out << "- (" << letter_of(n) << ") " << escaped(causes[n]) << '\n';
    if (!causes.empty()) out << '\n';
}

const char* const tex_begin = R"(\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb}
\usepackage[margin=22mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{5pt}
)";

void put_tex_question(std::ostream& out, const Question& q, std::size_t number) {
    out << "\\textbf{" << number << ".} " << latex_text(q.text) << "\\par\n";
    for (const std::string& choice : q.choices)
        out << "\\hspace*{1.5em}$\\square$ " << latex_text(choice) << "\\par\n";
    int column = 0;
    for (const Question& gap : q.numbers()) {
        const bool starts_row = column++ % q.across == 0;
        out << (starts_row ? "\\vspace{16mm}\\hfill " : "\\quad ") << latex_text(gap.target)
            << " $=$ \\underline{\\hspace{" << (q.gaps.empty() ? 30 : 18) << "mm}}"
            << (column % q.across == 0 ? "\\par" : "") << '\n';
    }
    out << '\n';
}

}  // namespace

std::string course_facts(const Lesson& lesson, const Problem& shape) {
    const bool divided = shape.options.parts == PartForm::normalised;
    return problem_facts(shape) + (!lesson.uses(chooses_part_form) ? ""
                                   : divided                       ? "; parts keep O divided by ℓ, and L"
                                                                   : "; parts keep O not divided, m and ℓ");
}

void write_course_markdown(std::ostream& out, const Course& course) {
    out << "# " << escaped(heading(course)) << "\n\n" << escaped(course.facts) << ".\n\n";
    for (int v = 0; v < course.variants; ++v) {
        out << "## Variant " << v + 1 << "\n\n";
        for (std::size_t n = 0; n < course.questions.size(); ++n) {
            const Question& q = question_of(course.questions[n], v);
            out << n + 1 << ". " << escaped(q.text) << '\n';
            put_blanks(out, q);
        }
        out << '\n';
    }
}

void write_course_tex(std::ostream& out, const Course& course) {
    out << tex_begin << latex_definition << "\\begin{document}\n";
    for (int v = 0; v < course.variants && out; ++v) {
        out << (v ? "\\clearpage\n" : "") << "\\section*{" << latex_text(heading(course)) << "}\n"
            << "Variant " << v + 1 << "\\hfill Name: \\underline{\\hspace{60mm}}\\par\n"
            << latex_text(course.facts) << ".\\par\n\n";
        for (std::size_t n = 0; n < course.questions.size(); ++n)
            put_tex_question(out, question_of(course.questions[n], v), n + 1);
    }
    out << "\\end{document}\n";
}

void write_course_key(std::ostream& out, const Course& course) {
    out << "# Key: " << escaped(heading(course)) << "\n\n"
        << "`" << course.command << "`\n\n"
        << "An answer is right if it is no further off than ±. The letters behind a wrong answer say what "
           "was "
           "probably done.\n\n";
    for (std::size_t n = 0; n < course.questions.size(); ++n) put_key(out, course.questions[n], n + 1);
}

}  // namespace tilewalk
