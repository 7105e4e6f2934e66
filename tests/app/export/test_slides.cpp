// Slides, read back by poppler's programs: what is on every page, in which typefaces, and what it looks like.
#include "app/cli/slides.h"
#include "app/export/pdf.h"
#include "app/io/tour_file.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/state/state.h"
#include "tests/app/cli/run.h"
#include "tests/app/ui/harness.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

using namespace tilewalk::test;

namespace {

void need_poppler() {
    if (std::system("command -v pdftotext pdfinfo pdffonts pdftoppm >/dev/null") != 0)
        skip("there is no poppler to read PDF with (package poppler-utils)");
}

std::string export_as(const std::string& path, const std::vector<std::string>& words) {
    CHECK(output_of(with({"export", "-o", path}, words)).empty());
    return path;
}

std::string said_by(const Folder& folder, const std::string& command) {
    const std::string out = folder.file("said");
    REQUIRE(std::system((command + " >'" + out + "'").c_str()) == 0);
    return contents(out);
}

// The text of every page as it is read; line ends are spaces.
std::vector<std::string> pages_of(const Folder& folder, const std::string& pdf) {
    std::string text = said_by(folder, "pdftotext -layout '" + pdf + "' -");
    std::vector<std::string> pages;
    for (std::size_t end; (end = text.find('\f')) != std::string::npos; text.erase(0, end + 1)) {
        std::istringstream words(text.substr(0, end));
        std::string page;
        for (std::string word; words >> word;) page += word + " ";
        pages.push_back(page);
    }
    return pages;
}

int times(const std::string& page, const std::string& number) {
    std::istringstream words(page);
    return static_cast<int>(
        std::count(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>(), number));
}

// The result of a step as a slide says it whose matrices have room for so many digits.
std::string result_with(const Trace& trace, int k, int digits) {
    const NumberStyle before = number_style();
    set_number_style({digits, before.comma});
    const std::string result = explain(trace, k).result.back().text;
    set_number_style(before);
    return result;
}

TourScript own_tour() { return good(load_tour(default_tour, ui::tour_names())); }

// 16 × 16 pixels averaged: letters are smoothed differently everywhere.
std::vector<double> squares(const std::uint8_t* pixels, int width, int height, int channels) {
    constexpr int side = 16;
    std::vector<double> out;
    for (int y = 0; y + side <= height; y += side)
        for (int x = 0; x + side <= width; x += side)
            for (int channel = 0; channel < 3; ++channel) {
                double sum = 0;
                for (int v = y; v < y + side; ++v)
                    for (int u = x; u < x + side; ++u) sum += pixels[(v * width + u) * channels + channel];
                out.push_back(sum / (side * side));
            }
    return out;
}

// The largest and the mean difference of two pictures, of 255.
struct Apart {
    double worst = 0, mean = 0;
};
Apart apart(const Image& image, const std::string& ppm) {
    const std::size_t size =
        static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3;
    REQUIRE(ppm.size() > size);
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(ppm.data() + ppm.size() - size);
    const auto a = squares(image.rgba.data(), image.width, image.height, 4),
               b = squares(pixels, image.width, image.height, 3);
    Apart out;
    for (std::size_t n = 0; n < a.size(); ++n) {
        out.worst = std::max(out.worst, std::abs(a[n] - b[n]));
        out.mean += std::abs(a[n] - b[n]) / static_cast<double>(a.size());
    }
    return out;
}

}  // namespace

TEST_SUITE("slides") {

    TEST_CASE("every step is a page with its name, its place in the walk and its number") {
        need_poppler();
        const Folder folder;
        for (const char* lesson : {"flash-forward", "flash-backward", "softmax-1pass", "attention"}) {
            const auto pages = pages_of(folder, export_as(folder.file("a.pdf"), {"--lesson", lesson}));
            const auto trace = good(build_trace(*find_lesson(lesson), example("worked-4x4")));
            std::vector<int> rounder;
            REQUIRE(pages.size() == static_cast<std::size_t>(trace->size()) + 1);
            CHECK(contains(pages[0], trace->lesson().title));
            CHECK(contains(pages[0], "4 × 4 worked example"));
            CHECK(contains(pages[0], "Made with Tilewalk"));
            for (int k = 0; k < trace->size(); ++k) {
                const std::string& page = pages[static_cast<std::size_t>(k) + 1];
                CAPTURE(lesson);
                CAPTURE(k);
                CAPTURE(page);
                const Explanation said = explain(*trace, k);
                // The head of a load or a store says which block, by its symbol: "Load Q0 query block 0".
                const std::string verb = said.title.substr(0, said.title.find(' ') + 1);
                const bool moves = info(trace->step(k).op).kind != OpKind::compute && verb.size() > 1;
                CHECK((contains(page, said.title) ||
                       (moves && page.starts_with(verb) && contains(page, "HBM"))));
                CHECK(contains(page, str(k + 1) + " / " + str(trace->size())));
                if (said.numbers.empty() || said.result.empty() || contains(page, said.result.back().text))
                    continue;
                rounder.push_back(k);
                const std::string result = result_with(*trace, k, number_style().digits - 1);
                CHECK(times(page, result) >= 2);  // in the matrix and in the formula
            }
            CHECK(rounder.empty());
        }
    }

    TEST_CASE("the title says what is broken, and which steps there are") {
        need_poppler();
        const Folder folder;
        const auto title = [&](const std::vector<std::string>& words) {
            return pages_of(folder, export_as(folder.file("a.pdf"), words)).front();
        };
        CHECK(contains(title({"--break", "no_correction", "--steps", "11-20"}),
                       "Broken on purpose: Leave the correction out. Steps 11–20 of 40"));
        CHECK(contains(title({"--steps", "12"}), "Step 12 of 40"));
        CHECK(contains(title({"--steps", "1,5,11-12"}), "4 of 40 steps"));
        CHECK(contains(title({}), "All 40 steps"));
        CHECK(contains(said_by(folder, "pdfinfo '" + folder.file("a.pdf") + "'"), "Tilewalk"));
    }

    TEST_CASE("nothing on a slide asks to be pressed") {
        need_poppler();
        const Folder folder;
        const auto page = [&](const std::vector<std::string>& words) {
            return pages_of(folder, export_as(folder.file("a.pdf"), words)).at(1);
        };
        const std::string broken = page({"--break", "no_correction", "--steps", "17"});
        CHECK(contains(broken, "Fault: correction left out"));
        CHECK_FALSE(contains(broken, "repairs"));
        CHECK_FALSE(contains(page({"--precision", "fp16", "--steps", "17"}), "exact again"));
    }

    TEST_CASE("a page takes a few thousand letters, also where the walk has thousands of steps") {
        const Folder folder;
        const auto bytes = [&](const std::vector<std::string>& words) {
            return std::filesystem::file_size(export_as(folder.file("a.pdf"), words));
        };
        const std::vector<std::string> large{"--random", "64x8", "--br", "4", "--bc", "4", "--steps"};
        CHECK((bytes(with(large, {"101-140"})) - bytes(with(large, {"101-120"}))) / 20 < 10000);
        CHECK((bytes({"--steps", "1-40"}) - bytes({"--steps", "1-20"})) / 20 < 7000);
    }

    TEST_CASE("typefaces are embedded, no text lies outside, and signs are what they are") {
        need_poppler();
        const Folder folder;
        const std::string path =
            export_as(folder.file("a.pdf"), {"--example", "causal-8", "--steps", "1-40"});
        std::istringstream fonts(said_by(folder, "pdffonts '" + path + "' | tail -n +3"));
        int count = 0;
        for (std::string line; std::getline(fonts, line); ++count) {
            CAPTURE(line);
            CHECK(contains(line, " yes yes yes "));  // embedded, a part of the typeface, with its Unicode
            CHECK_FALSE(contains(line, "Type 3"));
        }
        CHECK(count >= 4);
        std::istringstream boxes(said_by(folder, "pdftotext -bbox '" + path + "' -"));
        int words = 0;
        for (std::string line; std::getline(boxes, line);) {
            double x = 0, y = 0, right = 0, bottom = 0;
            if (std::sscanf(line.c_str(), " <word xMin=\"%lf\" yMin=\"%lf\" xMax=\"%lf\" yMax=\"%lf\"", &x,
                            &y, &right, &bottom) != 4)
                continue;
            ++words;
            CAPTURE(line);
            CHECK((x >= 0 && y >= 0 && right <= 960 && bottom <= 540));
        }
        CHECK(words > 1000);
        const std::string text = said_by(folder, "pdftotext '" + path + "' -");
        for (const char* sign : {"α", "ℓ", "∞", "−", "⊙", "←", "×", "m\u0303", "P\u0303"}) {
            CAPTURE(sign);
            CHECK(contains(text, sign));
        }
    }

    TEST_CASE("a tour has a page for each stop and its notes, and letters stay single") {
        need_poppler();
        const Folder folder;
        const std::string tour =
            folder.file("t.md", "# Office files\n\n## A fifth office\n- problem: worked-4x4\n"
                                "- step: row_sum i=0 j=1\n- notes: The first sum: {l[0]}.\n\n"
                                "Q Kᵀ affluent {l[0]}.\n\n## B\n- lesson: memory\n\nNo notes.\n");
        const std::string path = export_as(folder.file("a.pdf"), {"--tour", tour});
        const auto pages = pages_of(folder, path);
        REQUIRE(pages.size() == 4);
        CHECK(contains(pages[0], "Office files"));
        CHECK(contains(pages[0], "2 stops"));
        CHECK(contains(pages[1], "A fifth office"));
        CHECK(contains(pages[1], "Q Kᵀ affluent 1.639."));
        CHECK_FALSE(contains(pages[1], "The first sum"));
        CHECK(contains(pages[2], "No notes."));
        CHECK(contains(pages[3], "The first sum: 1.639."));
        CHECK(contains(pages[3], "Step 17 of 40"));

        // The list of contents has the stops below their chapters.
        const std::string chaptered = export_as(
            folder.file("c.pdf"), {"--tour", folder.file("c.md", "# T\n# First\n## A\n- problem: ties\n\nx\n"
                                                                 "## B\n\nx\n# Second\n## C\n\nx\n")});
        const std::string xml = folder.file("c.xml");
        REQUIRE(std::system(("pdftohtml -q -i -xml -stdout '" + chaptered + "' >'" + xml + "'").c_str()) ==
                0);
        std::string listed;
        const std::string outline = contents(xml);
        for (std::size_t at = outline.find("<outline>"); at < outline.size(); ++at) {
            if (outline[at] == '<')
                listed += outline.compare(at, 9, "</outline") == 0  ? ")"
                          : outline.compare(at, 8, "<outline") == 0 ? "("
                                                                    : "",
                    at = outline.find('>', at);
            else if (outline[at] != '\n')
                listed += outline[at];
        }
        CAPTURE(listed);
        CHECK(contains(listed, "Chapter 1 of 2 · First(1 · A2 · B)Chapter 2 of 2 · Second(3 · C)"));
        CHECK(contains(pages_of(folder, chaptered)[0], "3 stops in 2 chapters"));

        const TourScript own = own_tour();
        const auto notes =
            std::ranges::count_if(own.stops, [](const TourStop& s) { return !s.notes.empty(); });
        const auto own_pages = pages_of(folder, export_as(folder.file("b.pdf"), {"--tour", default_tour}));
        REQUIRE(own_pages.size() == 1 + own.stops.size() + static_cast<std::size_t>(notes));
        CHECK(notes == static_cast<std::ptrdiff_t>(own.stops.size()));
        for (std::size_t n = 0; n < own.stops.size(); ++n) {
            CAPTURE(own.stops[n].heading);
            CHECK(contains(own_pages[n + 1], own.stops[n].heading));
            CHECK(contains(own_pages[n + 1 + own.stops.size()], own.stops[n].heading));
        }
    }

    TEST_CASE("a page looks like the picture of its step") {
        need_poppler();
        const Folder folder;
        for (const ThemeId theme : {ThemeId::light, ThemeId::dark})
            for (const char* lesson : {"flash-forward", "flash-backward", "softmax-2pass"}) {
                const char* name = theme == ThemeId::light ? "light" : "dark";
                const std::string pdf = export_as(
                    folder.file("a.pdf"), {"--lesson", lesson, "--steps", "2,17,26", "--theme", name});
                Program program(example("worked-4x4"), {1280, 720}, true, theme);
                program.show_lesson(lesson);
                int page = 1;
                for (const int step : {2, 17, 26}) {
                    program.go_to_step(step - 1);
                    ++page;
                    const std::string ppm = said_by(folder, "pdftoppm -r 96 -f " + str(page) + " -l " +
                                                                str(page) + " '" + pdf + "'");
                    const Image shown = render_frame(program.state, 1280, 720);
                    const Apart difference = apart(shown, ppm);
                    CAPTURE(lesson);
                    CAPTURE(step);
                    CHECK(difference.mean < .6);
                    CHECK(difference.worst < 20);
                }
            }
    }

    TEST_CASE("clips, dashes and translucent colours are kept") {
        need_poppler();
        using Kind = VectorShape::Kind;
        const ImU32 red = IM_COL32(255, 0, 0, 255), half = IM_COL32(0, 0, 0, 128);
        VectorPicture picture;
        picture.shapes = {
            {.kind = Kind::disc, .points = {{100, 90}}, .colour = red, .radius = 60, .clip_max = {100, 180}},
            {.kind = Kind::lines,
             .points = {{200, 20}, {300, 20}},
             .colour = red,
             .width = 4,
             .dash_on = 10,
             .dash_off = 10},
            {.kind = Kind::rect, .points = {{200, 60}, {300, 160}}, .colour = half}};
        Pdf pdf(320, 180, "shapes");
        pdf.add_page({{picture}}, "page");
        const Folder folder;
        const std::string path = folder.file("a.pdf", good(pdf.finish()));
        const std::string ppm = said_by(folder, "pdftoppm -r 24 '" + path + "'");
        REQUIRE(ppm.size() > 320 * 180 * 3);
        const auto green = [&](int x, int y) {
            const std::size_t at = static_cast<std::size_t>((y * 320 + x) * 3 + 1);
            return static_cast<int>(static_cast<unsigned char>(ppm[ppm.size() - 320 * 180 * 3 + at]));
        };
        CHECK(green(80, 90) == 0);
        CHECK(green(120, 90) == 255);
        CHECK(green(205, 20) == 0);
        CHECK(green(215, 20) == 255);
        CHECK(std::abs(green(250, 110) - 127) <= 2);
    }

    TEST_CASE("the same words, the same bytes, and few of them") {
        const Folder folder;
        const std::string first = contents(export_as(folder.file("a.pdf"), {}));
        CHECK(first.starts_with("%PDF-"));
        CHECK(first == contents(export_as(folder.file("b.pdf"), {})));
        CHECK_FALSE(contains(first, "CreationDate"));
        CHECK(first.size() < 1'000'000);
        CHECK(first != contents(export_as(folder.file("b.pdf"), {"--theme", "dark"})));
        CHECK(first.size() > contents(export_as(folder.file("b.pdf"), {"--steps", "11-20"})).size());
    }

    TEST_CASE("what is asked wrongly is said, and nothing is written") {
        const Folder folder;
        const std::string path = folder.file("a.pdf");
        const std::string steps = "expected steps from 1 to 40, as in 11-20 or 1,5,11-20.";
        check_refused(
            {{{"--steps", "0-3"}, steps.c_str()},
             {{"--steps", "20-11"}, steps.c_str()},
             {{"--steps", "11-41"}, steps.c_str()},
             {{"--steps", "1,,2"}, steps.c_str()},
             {{"--steps", "a"}, steps.c_str()},
             {{"--steps", "99999999999999999999"}, steps.c_str()},
             {{"--tour", "flash-attention", "--steps", "1"}, "Every stop of a tour becomes a slide"},
             {{"--tour", "flash-attention", "--lesson", "attention"}, "A tour has its own problems"},
             {{"--tour", "no-such-tour"}, "no-such-tour"},
             {{"--fragment"}, "--fragment is about --format tex."},
             {{"--size", "99x99"}, "--size is"},
             {{"--lesson", "memory"}, "is no walk"}},
            {"export", "-o", path});
        check_refused({{{"export", "--format", "pdf"}, "needs -o with the slides"},
                       {{"export", "-o", folder.file("a.html"), "--steps", "1"},
                        "--steps is about pdf, md and tex; a page steps through the whole walk"},
                       {{"export", "--format", "md", "--steps", "1-40,1"}, "--steps names some steps twice."},
                       {{"export", "--format", "tex", "--steps", "41"}, steps.c_str()},
                       {{"export", "--format", "md", "--tour", "x"}, "--tour is about --format pdf."}});
        CHECK(folder.count() == 0);
        CHECK(run({"export", "-o", folder.file("no/such/a.pdf")}).code == 4);
    }
}
