// Questions for a course: what Moodle would make of the GIFT file, told by a reader of the format as Moodle's
// documentation publishes it ("GIFT format", docs.moodle.org), and the sheets and the key beside it.
#include "app/export/course.h"
#include "app/export/parts.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "core/lessons/table.h"
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"
#include "tests/core/class/question_reference.h"
#include "tests/core/steps.h"
#include "tests/skip.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

// ---- A reader of GIFT

struct GiftAnswer {
    double share = 0;  ///< in hundredths of the mark
    std::string text, feedback;
    bool any = false;  ///< "~" of a number: whatever else is typed
};

struct GiftQuestion {
    std::string category, title, format, text, general;
    bool numerical = false, single = true;
    std::vector<GiftAnswer> answers;
};

constexpr std::string_view control = "~=#{}:";

// A character that a backslash took the meaning from becomes one that nothing looks for.
std::string without_escapes(const std::string& text) {
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        if (text[n] != '\\') {
            out += text[n];
            continue;
        }
        REQUIRE_MESSAGE(n + 1 < text.size(), text);
        const char next = text[++n];
        REQUIRE_MESSAGE((control.find(next) != std::string_view::npos || next == '\\'), text);
        out += next == '\\' ? '\x08' : static_cast<char>('\x01' + control.find(next));
    }
    return out;
}

std::string plain_again(std::string text) {
    for (char& c : text)
        c = c == '\x08' ? '\\' : c >= '\x01' && c <= '\x06' ? control[static_cast<std::size_t>(c - 1)] : c;
    return text;
}

std::string trim(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// Entities and tags of the few that are used.
std::string from_html(std::string text) {
    for (const auto& [from, to] : {std::pair{"<p>", ""}, {"</p>", ""}, {"<br>", "\n"}}) {
        for (std::size_t at; (at = text.find(from)) != std::string::npos;)
            text.replace(at, std::string_view(from).size(), to);
    }
    REQUIRE_MESSAGE(text.find('<') == std::string::npos, text);
    REQUIRE_MESSAGE(text.find('>') == std::string::npos, text);
    for (const auto& [from, to] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
            text.replace(at, std::string_view(from).size(), to);
    }
    return text;
}

std::string shown(const std::string& text) { return from_html(trim(plain_again(text))); }

// "%33.33333%", "=", "~": the share of the mark that an answer begins with.
double take_share(std::string& answer, double otherwise) {
    if (!answer.starts_with("%")) return otherwise;
    const std::size_t end = answer.find('%', 1);
    REQUIRE_MESSAGE(end != std::string::npos, answer);
    const double share = std::atof(answer.substr(1, end - 1).c_str());
    // Moodle refuses shares that are not in its list.
    const std::set<double> known = {0, 100, 50, 33.33333, 25, 20};
    REQUIRE_MESSAGE(known.contains(std::abs(share)), answer);
    answer = answer.substr(end + 1);
    return share;
}

void read_answers(std::string body, GiftQuestion& q) {
    if (const std::size_t general = body.rfind("####"); general != std::string::npos) {
        q.general = shown(body.substr(general + 4));
        body = body.substr(0, general);
    }
    body = trim(body);
    q.numerical = body.starts_with("#");
    if (q.numerical) body = body.substr(1);
    q.single = q.numerical || body.find('=') != std::string::npos;
    for (std::size_t at = body.find_first_of("=~"); at != std::string::npos;) {
        const std::size_t next = body.find_first_of("=~", at + 1);
        std::string text = body.substr(at + 1, next == std::string::npos ? next : next - at - 1);
        GiftAnswer answer;
        answer.any = q.numerical && body[at] == '~';
        answer.share = take_share(text, body[at] == '=' ? 100 : 0);
        const std::size_t feedback = text.find('#');
        answer.text = shown(text.substr(0, feedback));
        if (feedback != std::string::npos) answer.feedback = shown(text.substr(feedback + 1));
        q.answers.push_back(answer);
        at = next;
    }
}

GiftQuestion read_question(const std::string& block, const std::string& category) {
    std::string text = without_escapes(block);
    GiftQuestion q;
    q.category = category;
    REQUIRE_MESSAGE(text.starts_with("::"), block);
    const std::size_t title = text.find("::", 2);
    REQUIRE_MESSAGE(title != std::string::npos, block);
    q.title = plain_again(text.substr(2, title - 2));
    text = trim(text.substr(title + 2));
    REQUIRE_MESSAGE(text.starts_with("["), block);
    q.format = text.substr(1, text.find(']') - 1);
    text = text.substr(text.find(']') + 1);
    const std::size_t open = text.find('{'), close = text.find('}');
    REQUIRE_MESSAGE(close != std::string::npos, block);
    REQUIRE_MESSAGE(open < close, block);
    // One pair of braces, and nothing behind it: else Moodle makes a gap in the sentence.
    REQUIRE_MESSAGE(trim(text.substr(close)) == "}", block);
    REQUIRE_MESSAGE(text.find('{', open + 1) == std::string::npos, block);
    q.text = shown(text.substr(0, open));
    read_answers(text.substr(open + 1, close - open - 1), q);
    return q;
}

// Comments go, blank lines part the rest.
std::vector<GiftQuestion> read_gift(const std::string& file) {
    std::vector<GiftQuestion> out;
    std::istringstream lines(file);
    std::string block, category;
    const auto end_block = [&] {
        block = trim(block);
        if (block.starts_with("$CATEGORY:"))
            category = trim(block.substr(10));
        else if (!block.empty())
            out.push_back(read_question(block, category));
        block.clear();
    };
    for (std::string line; std::getline(lines, line);) {
        if (trim(line).starts_with("//")) continue;
        if (trim(line).empty())
            end_block();
        else
            block += line + "\n";
    }
    end_block();
    return out;
}

// ---- What it is held against

Course course_of(const Lesson& lesson, Problem shape, int count, Gaps gaps = Gaps::one) {
    if (lesson.uses(chooses_sequences)) shape.causal = false;
    auto made = make_variants({&lesson, shape, {}, count, 3, gaps});
    REQUIRE_MESSAGE(made, made.error);
    return {lesson.title, course_facts(lesson, shape), std::move(*made), count, "tilewalk questions"};
}

template <class Write> std::string text_of(Write write, const Course& course) {
    std::ostringstream out;
    write(out, course);
    return out.str();
}

// The mark in hundredths for a number, as Moodle gives it: the first answer that it lies within.
const GiftAnswer& marked(const GiftQuestion& q, double typed) {
    for (const GiftAnswer& answer : q.answers) {
        if (answer.any) return answer;
        const std::size_t colon = answer.text.find(':');
        REQUIRE_MESSAGE(colon != std::string::npos, answer.text);
        char* end = nullptr;
        const double value = std::strtod(answer.text.c_str(), &end);
        REQUIRE_MESSAGE(end == answer.text.c_str() + colon, answer.text);
        const double within = std::strtod(answer.text.c_str() + colon + 1, &end);
        REQUIRE_MESSAGE(*end == 0, answer.text);
        if (std::abs(typed - value) <= within * (1 + 1e-12)) return answer;
    }
    FAIL("no answer takes everything else: ", q.text);
    return q.answers.front();
}

void check_number(const GiftQuestion& read, const Question& q, const Trace& trace) {
    CHECK(read.numerical);
    CHECK(marked(read, q.expected).share == 100);
    const bool counted = q.exact;
    const double reference =
        counted ? worked_out_from(q.text)
                : static_cast<double>(
                      QuestionReference(trace.problem()).value(trace, q.step, q.explanation.target));
    CHECK(marked(read, reference).share == 100);
    CHECK(contains(marked(read, reference).feedback, q.target));
    if (!counted) CHECK(marked(read, three_digits(worked_out_from_given(trace, q))).share == 100);
    for (const double off : {0.98, 1.02, -1.0})
        if (std::abs(reference) > 1e-9) CHECK(marked(read, reference * off).share == 0);
    CHECK(marked(read, reference + 1).share == 0);
    for (const WrongAnswer& wrong : q.wrong) {
        CHECK(marked(read, wrong.value).share == 0);
        CHECK(marked(read, wrong.value).feedback ==
              wrong.cause + (wrong.working.empty() ? "" : " " + wrong.working));
    }
    CHECK(marked(read, 123456.0).any);
    CHECK(!marked(read, 123456.0).feedback.empty());
}

void check_choices(const GiftQuestion& read, const Question& q) {
    CHECK(!read.numerical);
    CHECK(read.single == !q.several);
    REQUIRE(read.answers.size() == q.choices.size());
    double all = 0, right = 0;
    for (std::size_t n = 0; n < q.choices.size(); ++n) {
        const bool is_right = std::ranges::count(q.right, static_cast<int>(n)) > 0;
        CHECK(read.answers[n].text == q.choices[n]);
        CHECK((read.answers[n].share > 0) == is_right);
        all += read.answers[n].share;
        if (is_right) right += read.answers[n].share;
    }
    CHECK(right == doctest::Approx(100));
    if (q.several) CHECK(all < 1e-3);  // who ticks everything has guessed
}

void check_gift(const Lesson& lesson, const Course& course) {
    const std::vector<GiftQuestion> read = read_gift(text_of(write_course_gift, course));
    std::set<std::string> titles, categories;
    std::size_t n = 0;
    std::size_t parts = 0;
    for (const AskedOfAll& asked : course.questions)
        for (std::size_t part = 0; part < asked.variants[0].question.parts().size(); ++part, ++parts)
            for (const Variant& variant : asked.variants) {
                REQUIRE(n < read.size());
                const GiftQuestion& got = read[n++];
                const Question& q = variant.question.parts()[part];
                CAPTURE(got.title);
                CHECK(got.format == "html");
                CHECK(contains(got.text, variant.question.text));
                if (!variant.question.gaps.empty()) CHECK(contains(got.text, "Give " + q.target + "."));
                CHECK(contains(got.text, lesson.title));
                CHECK(contains(got.general, plain(q.explanation.numbers)));
                CHECK(contains(got.general, q.explanation.why));
                CHECK(titles.insert(got.title).second);
                CHECK(got.category.starts_with("Tilewalk/"));
                CHECK(got.category.find_first_of(std::string(control) + "\\") == std::string::npos);
                categories.insert(got.category);
                q.is_choice() ? check_choices(got, q)
                              : check_number(got, q, *walk_of(lesson, variant.problem));
            }
    CHECK(n == read.size());
    CHECK(categories.size() == parts);
}

Problem masked_six() {
    Problem p = with_other_numbers(*find_example("worked-4x4"), 1);
    p.Q = p.K = p.V = Matrix::Ones(6, 3);
    p.dO.reset();
    p.causal = true;
    p.Br = 2;
    p.Bc = 2;
    p.scale.kind = Scale::Kind::sqrt;
    p.element_bytes = 2;
    return p;
}

Course course_of_all(const Lesson& lesson, Gaps gaps = Gaps::one) {
    return course_of(lesson, masked_six(), 3, gaps);
}

}  // namespace

TEST_CASE("GIFT: every question, answer, tolerance and escape is read back") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(std::string(lesson.id));
        check_gift(lesson, course_of(lesson, *find_example("worked-4x4"), 20));
        check_gift(lesson, course_of_all(lesson));
        check_gift(lesson, course_of_all(lesson, Gaps::row));
        check_gift(lesson, course_of(lesson, *find_example("worked-4x4"), 5, Gaps::tile));
    }
}

TEST_CASE("GIFT: several right choices share the mark") {
    const Course course = course_of_all(default_lesson());
    const bool several = std::ranges::any_of(
        course.questions, [](const AskedOfAll& asked) { return asked.variants[0].question.several; });
    CHECK(several);
}

TEST_CASE("GIFT: what the format takes for marks is text and nothing else") {
    Course course = course_of(default_lesson(), *find_example("worked-4x4"), 1);
    course.questions.resize(1);
    AskedOfAll& asked = course.questions[0];
    Question& q = asked.variants[0].question;
    const std::string hostile = "a{b}c~d=e#f:g\\h\\n ####%50% //x <b>&amp; -> ::[markdown]$CATEGORY: y";
    asked.title = hostile;
    q.text = hostile + "\n\n::two::{=a ~b}\n// gone";
    q.target = q.explanation.why = hostile;
    q.wrong = {{q.expected * 3, hostile, ""}};
    q.explanation.numbers = Line{Span{hostile}};
    const auto read = read_gift(text_of(write_course_gift, course));
    REQUIRE(read.size() == 1);
    CHECK(contains(read[0].title, hostile));
    CHECK(contains(read[0].text, hostile + "  ::two::{=a ~b} // gone"));
    CHECK(contains(read[0].general, hostile));
    CHECK(marked(read[0], q.expected * 3).feedback == hostile);
    CHECK(contains(marked(read[0], q.expected).feedback, hostile));
}

TEST_CASE("numbers of a form: six digits, ASCII, no exponent where it can be helped") {
    CHECK(typed_number(1.36787944117) == "1.36788");
    CHECK(typed_number(-0.25) == "-0.25");
    CHECK(typed_number(-0.0) == "0");
    CHECK(typed_number(1234567) == "1234567");
    Question q;
    q.expected = 1.368;
    CHECK(typed_tolerance(q) == "0.0085");
    q.expected = 0.011;
    CHECK(typed_tolerance(q) == "0.000078");
    q.expected = 0;
    CHECK(typed_tolerance(q) == "0.0005");
}

TEST_CASE("sheets have the questions of their variant, and no answers") {
    for (const Lesson& lesson : lessons()) {
        const Course course = course_of_all(lesson, Gaps::few);
        const std::string md = text_of(write_course_markdown, course);
        CHECK(!contains(md, "likely"));
        for (const AskedOfAll& asked : course.questions)
            for (int v = 0; v < 3; ++v) {
                const std::size_t from = md.find("## Variant " + std::to_string(v + 1)),
                                  to = md.find("## Variant " + std::to_string(v + 2));
                REQUIRE(from != std::string::npos);
                CHECK(contains(md.substr(from, to - from),
                               markdown_text(question_of(asked, v).text, "\\`*_{}[]<>#|~&$")));
                for (const Question& gap : question_of(asked, v).gaps)
                    CHECK(contains(md, "   - " + markdown_text(gap.target, "\\`*_{}[]<>#|~&$") + " =\n"));
            }
    }
}

TEST_CASE("the key has every answer with its tolerance, and every cause") {
    for (const Lesson& lesson : lessons()) {
        const Course course = course_of_all(lesson, Gaps::row);
        const std::string key = text_of(write_course_key, course);
        for (const AskedOfAll& asked : course.questions)
            for (std::size_t v = 0; v < asked.variants.size(); ++v) {
                for (const Question& q : asked.variants[v].question.parts()) {
                    const bool gap = &q != &asked.variants[v].question;
                    const std::string who = asked.same_for_all() ? "all" : std::to_string(v + 1);
                    CHECK(contains(key, "| " + who + " | " +
                                            (gap ? markdown_text(q.target, "\\`*_{}[]<>#|~&$") + " | " : "") +
                                            (q.is_choice() ? answer_text(q) : typed_number(q.expected)) +
                                            " |" +
                                            (q.is_choice() ? ""
                                             : q.exact     ? " 0 |"
                                                           : " " + typed_tolerance(q) + " |")));
                    for (const WrongAnswer& wrong : q.wrong) {
                        CHECK(contains(key, typed_number(wrong.value) + " ("));
                        CHECK(contains(key, ") " + markdown_text(wrong.cause, "\\`*_{}[]<>#|~&$")));
                    }
                }
            }
    }
}

TEST_CASE("questions as LaTeX: brackets close, and it compiles where there is pdfLaTeX") {
    const Folder folder;
    const bool compiles = std::system("pdflatex --version > /dev/null 2>&1") == 0;
    for (const Lesson& lesson : lessons()) {
        const std::string tex = text_of(write_course_tex, course_of_all(lesson, Gaps::tile));
        int depth = 0, environments = 0, dollars = 0;
        for (std::size_t n = 0; n < tex.size(); ++n) {
            environments += tex.compare(n, 7, "\\begin{") == 0;
            environments -= tex.compare(n, 5, "\\end{") == 0;
            if (tex[n] == '\\') {
                ++n;
                continue;
            }
            depth += tex[n] == '{';
            depth -= tex[n] == '}';
            dollars += tex[n] == '$';
            CHECK(depth >= 0);
        }
        CHECK(depth == 0);
        CHECK(environments == 0);
        CHECK(dollars % 2 == 0);
        if (!compiles) continue;
        CHECK(write_file_atomic(folder.file("sheet.tex"), tex));
        const std::string command =
            "cd \"" + folder.path.string() +
            "\" && pdflatex -interaction=nonstopmode -halt-on-error sheet.tex > log.txt";
        CHECK(std::system(command.c_str()) == 0);
    }
    if (!compiles) skip("there is no pdfLaTeX");
}

TEST_CASE("tilewalk questions: files, formats and their key") {
    const Folder folder;
    const auto at = [&](const char* name) { return folder.file(name); };
    const std::vector<std::string> base = {"questions", "--lesson", "flash-forward", "--variants", "3",
                                           "--seed",    "7"};
    const std::string gift = output_of(base);
    CHECK(gift.starts_with("// tilewalk questions"));
    CHECK(read_gift(gift).size() > 20);
    CHECK(output_of(with(base, {"-o", at("week.gift")})) == "");
    CHECK(*read_file(at("week.gift")) == gift);
    CHECK(contains(*read_file(at("week-key.md")), "# Key: "));
    CHECK(output_of(with(base, {"-o", at("sheet.md"), "--key", at("mine.md")})) == "");
    CHECK(contains(*read_file(at("sheet.md")), "## Variant 3"));
    CHECK(!read_file(at("sheet-key.md")));
    CHECK(*read_file(at("mine.md")) == *read_file(at("week-key.md")));
    CHECK(output_of(with(base, {"--format", "tex", "--key", at("other.md")})).starts_with("\\documentclass"));
    CHECK(*read_file(at("other.md")) == *read_file(at("mine.md")));
    output_of(with(base, {"--format", "gift", "-o", "/dev/null"}));
    CHECK(!read_file("/dev/null-key.md"));
    const auto one = read_gift(output_of({"questions", "--random", "6x3", "--causal", "--step", "9"}));
    CHECK(one.size() == 30);
}

namespace {

/// "S[21,13]": the numbers behind a name.
std::pair<int, int> cell_behind(const std::string& text, const std::string& name) {
    const std::size_t at = text.rfind(name + "[");
    REQUIRE_MESSAGE(at != std::string::npos, text);
    return {std::stoi(text.substr(at + name.size() + 1)), std::stoi(text.substr(text.find(',', at) + 1))};
}

/// The bytes that a question about banks lists.
std::vector<int> bytes_in(const std::string& text) {
    std::vector<int> out;
    for (std::size_t at = text.find("at bytes ") + 9; at < text.find(" of a stretch");
         at = text.find_first_not_of(", ", text.find_first_not_of("0123456789", at)))
        out.push_back(std::stoi(text.substr(at)));
    return out;
}

/// As PTX deals out C of mma.m16n8k16: groups of four lanes have rows g and g + 8, each lane two columns.
int lane_of(int row, int column) { return row % 16 % 8 * 4 + column % 8 / 2; }

/// What eight lanes with 16 bytes each ask of the bank that is asked most.
int ways_of(const std::vector<int>& bytes) {
    std::map<int, std::set<int>> words;
    for (const int byte : bytes)
        for (int n = 0; n < 4; ++n) words[(byte / 4 + n) % 32].insert(byte / 4 + n);
    std::size_t most = 0;
    for (const auto& [bank, of_bank] : words) most = std::max(most, of_bank.size());
    return static_cast<int>(most);
}

}  // namespace

TEST_CASE("tilewalk questions: of a kernel's run, each answer follows from the text") {
    std::set<std::string> titles;
    std::set<double> ways;
    for (const char* kernel : {"f2-tiled-fp32", "f4-tensor-core", "f5-flash2"}) {
        const std::string gift =
            output_of({"questions", "--lesson", "inside", "--kernel", kernel, "--variants", "40"});
        CHECK(output_of({"questions", "--lesson", "inside", "--kernel", kernel, "--variants", "40"}) == gift);
        for (const GiftQuestion& q : read_gift(gift)) {
            CAPTURE(q.text);
            titles.insert(q.title.substr(0, q.title.find(',')));
            CHECK(q.text.starts_with("Inside " + std::string(kernel) + ". "));
            CHECK(q.general.size() > 20);
            if (contains(q.title, "Which lane holds")) {
                const bool of_S = contains(q.text, "These are S of the queries");
                const auto [row, column] = cell_behind(q.text, of_S ? "S" : "C");
                CHECK(marked(q, lane_of(row, column)).share == 100);
                CHECK(marked(q, 32).share == 0);
            } else if (contains(q.title, "Ways of conflict")) {
                REQUIRE(bytes_in(q.text).size() == 8);
                CHECK(marked(q, ways_of(bytes_in(q.text))).share == 100);
                ways.insert(ways_of(bytes_in(q.text)));
            } else if (!contains(q.title, "Sectors")) {
                CHECK(std::ranges::count(q.answers, 100.0, &GiftAnswer::share) == 1);
                CHECK(q.answers.size() >= 3);
            }
        }
    }
    CHECK(titles.size() == 5);
    CHECK(ways.size() >= 2);  // with a swizzle or a gap, and as if there were none
}

TEST_CASE("tilewalk questions: which barrier stands between two accesses of f2 is what its comments say") {
    const std::string gift =
        output_of({"questions", "--lesson", "inside", "--kernel", "f2-tiled-fp32", "--variants", "40"});
    std::string source;
    for (const EmbeddedFile& file : gpu::kernel_sources())
        if (std::string(file.name) == "f2_tiled_fp32.cu") source = file.text;
    const auto line_of = [&](const char* text) {
        const std::size_t at = source.find(text);
        REQUIRE(at != std::string::npos);
        return std::to_string(
            std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
    };
    const std::string store = "store at f2_tiled_fp32.cu:" + line_of("to[row * (d + 1) + c] ="),
                      load_K = "load at f2_tiled_fp32.cu:" + line_of("k[n] = Kj["),
                      load_V = "load at f2_tiled_fp32.cu:" + line_of("v[c] = KV["),
                      done_with_K = "f2_tiled_fp32.cu:" + line_of("sync_block();  // S is there"),
                      done_with_V = "f2_tiled_fp32.cu:" + line_of("sync_block();  // all are done with V");
    std::set<std::string> seen;
    for (const GiftQuestion& q : read_gift(gift)) {
        if (!contains(q.title, "stands between")) continue;
        const auto right = std::ranges::find(q.answers, 100.0, &GiftAnswer::share);
        REQUIRE(right != q.answers.end());
        const auto expect = [&](const std::string& first, const std::string& second,
                                const std::string& line) {
            const std::size_t at = q.text.find(first);
            if (at == std::string::npos || q.text.find(second, at + first.size()) == std::string::npos)
                return;
            seen.insert(line);
            CHECK_MESSAGE(right->text.starts_with(line + ":"), q.text);
        };
        expect(load_K, store, done_with_K);
        expect(load_V, store, done_with_V);
    }
    CHECK(seen.size() == 2);
}

TEST_CASE("tilewalk questions: of a kernel's run, files, sheets, and what is refused") {
    const Folder folder;
    const std::vector<std::string> base{"questions", "--lesson", "inside", "--variants", "3"};
    CHECK(output_of(with(base, {"-o", folder.file("week.gift")})) == "");
    CHECK(contains(*read_file(folder.file("week-key.md")), "# Key: Inside f5-flash2: questions"));
    const std::string sheet = output_of(with(base, {"--format", "md"}));
    CHECK(contains(sheet, "## Variant 3"));
    CHECK(contains(sheet, "bf16: N = 128, d = 64, tiles of 128 × 64"));
    CHECK(output_of(with(base, {"--format", "tex"})).starts_with("\\documentclass"));
    CHECK(output_of(with(base, {"--seed", "2"})) != output_of(with(base, {"--seed", "3"})));
    CHECK(contains(output_of(with(base, {"--random", "64x64", "--format", "md"})), "N = 64, d = 64"));
    check_refused({{{"--lesson", "inside", "--step", "3"}, "leave them out with --lesson inside"},
                   {{"--lesson", "inside", "--gaps", "row"}, "leave them out with --lesson inside"},
                   {{"--lesson", "inside", "--break", "no_max"}, "leave them out with --lesson inside"},
                   {{"--lesson", "inside", "--variants", "0"}, "--variants"},
                   {{"--lesson", "inside", "--kernel", "f5"}, "There is no CUDA kernel"},
                   {{"--lesson", "inside", "--random", "300x64"}, "too large to be recorded"},
                   {{"--kernel", "f5-flash2"}, "say --lesson inside"}},
                  {"questions"});
}

TEST_CASE("tilewalk questions: mistakes are told in a sentence") {
    check_refused({{{"--format", "moodle"}, "--format is \"moodle\", expected gift, md or tex"},
                   {{"--variants", "0"}, "--variants is \"0\", expected a whole number from 1 to 1000"},
                   {{"--variants", "1e9"}, "--variants"},
                   {{"--gaps", "all"}, "--gaps is \"all\", expected one, few, row or tile"},
                   {{"--seed", "-1"}, "--seed is \"-1\""},
                   {{"--step", "0"}, "--step is \"0\""},
                   {{"--step", "41"}, "from 1 to 40"},
                   {{"--step", "1"}, "There is no question about step 1"},
                   {{"--step", "99999999999"}, "--step"},
                   {{"--lesson", "flash"}, "There is no lesson"},
                   {{"--lesson", "memory"}, "is no walk"},
                   {{"--random", "200x64"}, "at most 16 rows"},
                   {{"--random", "0x4"}, "--random"},
                   {{"--break", "no_max"}, "leave out --break"},
                   {{"--precision", "bf16"}, "--precision"},
                   {{"-o", "week.doc"}, "expected a name that ends in"},
                   {{"-o", "-"}, "leave -o out"},
                   {{"--key", "-"}, "--key is \"-\""},
                   {{"-o", "a.md", "--key", "a.md"}, "the same file"},
                   {{"-o", "a.md", "--key", "./a.md"}, "the same file"},
                   {{"--theme", "dark"}, "--theme"},
                   {{"more"}, "a word too many"}},
                  {"questions"});
    const Ran lost = run({"questions", "-o", "/nowhere/a.gift"});
    CHECK(lost.code == 4);
    CHECK(contains(lost.err, "/nowhere"));
}
