// Questions in GIFT (docs.moodle.org, "GIFT format").
#include "app/export/course.h"

#include "core/base/words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace tilewalk {
namespace {

// Without what GIFT takes for its own marks.
std::string gift_name(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view("\\#=~{}:").find(c) != std::string_view::npos) out += '\\';
        out += c == '\n' || c == '\r' ? ' ' : c;
    }
    return out;
}

// The same of text that is shown as HTML.
std::string gift_text(const std::string& text) {
    return gift_name(replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;"));
}

// Marks in the name of a category would stay escaped, and a slash begins one below it.
std::string category_name(std::string text) {
    for (char& c : text)
        if (std::string_view("\\#=~{}:/$").find(c) != std::string_view::npos) c = ' ';
    return text;
}

// Lines of the working below each other.
std::string working(const Explanation& e) {
    std::string out;
    for (const Line* line : std::initializer_list<const Line*>{&e.formula, &e.numbers, &e.result})
        if (!line->empty()) out += (out.empty() ? "" : "<br>") + gift_text(plain(*line));
    if (!e.why.empty()) out += (out.empty() ? "" : "<br>") + gift_text(e.why);
    return out;
}

// Moodle takes only certain shares of a mark: a half, a third with five decimals, a quarter …
std::string share(std::size_t of) {
    static constexpr const char* shares[] = {"100", "50", "33.33333", "25", "20"};
    return shares[std::min<std::size_t>(of, 5) - 1];
}

void put_number(std::ostream& out, const Question& q) {
    const std::string within = q.exact ? "0" : typed_tolerance(q);
    out << "{#\n\t=%100%" << typed_number(q.expected) << ':' << within << "#"
        << gift_text("Right: " + q.target) << " \\= " << gift_text(answer_text(q)) << ".\n";
    for (const WrongAnswer& wrong : q.wrong) {
        Question other = q;
        other.expected = wrong.value;
        out << "\t=%0%" << typed_number(wrong.value) << ':' << (q.exact ? "0" : typed_tolerance(other)) << '#'
            << gift_text(wrong.cause + (wrong.working.empty() ? "" : " " + wrong.working)) << '\n';
    }
    out << "\t~#" << gift_text("Not this; set your working beside the formula.") << '\n';
}

void put_choices(std::ostream& out, const Question& q) {
    out << "{\n";
    const std::size_t wrong = q.choices.size() - q.right.size();
    for (std::size_t n = 0; n < q.choices.size(); ++n) {
        const bool right = std::ranges::count(q.right, static_cast<int>(n)) > 0;
        // Who ticks everything shall not have everything right.
        const std::string weight = !q.several ? (right ? "=" : "~")
                                   : right    ? "~%" + share(q.right.size()) + "%"
                                              : "~%-" + share(wrong) + "%";
        out << '\t' << weight << gift_text(q.choices[n]) << '\n';
    }
}

// A question of GIFT has one answer, so that one with several gaps becomes as many, each in its own category.
void put_question(std::ostream& out, const Course& course, const AskedOfAll& asked, std::size_t n,
                  std::size_t part) {
    const Question &whole = asked.variants[n].question, &q = whole.parts()[part];
    const std::string gap = whole.gaps.empty() ? "" : ": " + q.target;
    const std::string name =
        asked.title + gap + step_text(asked, false) + (asked.same_for_all() ? "" : ", variant " + str(n + 1));
    out << "::" << gift_name(name) << "::[html]<p>"
        << gift_text(course.title + step_text(asked, true) + ". " + whole.text);
    if (!gap.empty()) out << ' ' << gift_text("Give " + q.target + ".");
    if (!q.is_choice() && !q.exact) out << ' ' << gift_text("Three significant digits will do.");
    out << "</p> ";
    q.is_choice() ? put_choices(out, q) : put_number(out, q);
    if (const std::string text = working(q.explanation); !text.empty())
        out << "\t####<p>" << text << "</p>\n";
    out << "}\n\n";
}

}  // namespace

std::string step_text(const AskedOfAll& asked, bool of_all) {
    if (asked.steps == 0) return {};
    return ", step " + str(asked.step + 1) + (of_all ? " of " + str(asked.steps) : "");
}

std::string typed_number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, std::abs(value) < 1e15 && value == std::round(value) ? "%.0f" : "%.6g",
                  value == 0 ? 0.0 : value);
    return text;
}

std::string typed_tolerance(const Question& question) {
    const double within = std::max(tolerance(question), question.noise);
    const int power = static_cast<int>(std::floor(std::log10(within))) - 1;
    const double unit = std::pow(10, power);
    char text[40];
    std::snprintf(text, sizeof text, "%.*f", std::max(0, -power), std::ceil(within / unit - 1e-6) * unit);
    std::string out = text;
    if (out.find('.') != std::string::npos) out.resize(out.find_last_not_of('0') + 1);
    return out;
}

const Question& question_of(const AskedOfAll& asked, int variant) {
    return asked.variants[asked.same_for_all() ? 0 : static_cast<std::size_t>(variant)].question;
}

void write_course_gift(std::ostream& out, const Course& course) {
    out << "// " << course.command
        << "\n// Questions > Import > GIFT format; then add \"a random question\" of each "
           "category to a test.\n\n";
    for (const AskedOfAll& asked : course.questions) {
        const Question& first = asked.variants[0].question;
        for (std::size_t part = 0; part < first.parts().size(); ++part) {
            const std::string gap = first.gaps.empty() ? "" : ", " + first.gaps[part].target;
            const std::string at = asked.steps > 0 ? "Step " + str(asked.step + 1) + " " : "";
            out << "$CATEGORY: Tilewalk/" << category_name(course.title) << "/"
                << category_name(at + asked.title + gap) << "\n\n";
            for (std::size_t n = 0; n < asked.variants.size(); ++n) put_question(out, course, asked, n, part);
        }
    }
}

}  // namespace tilewalk
