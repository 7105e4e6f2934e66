// The card that saves what is on the screen.
#include "app/io/problem_json.h"
#include "app/ui/cards/cards.h"
#include "app/ui/shell/frame.h"
#include "tests/app/cli/run.h"
#include "tests/app/ui/kit/xml_check.h"
#include "tests/app/ui/layout_check.h"
#include "tests/app/ui/png_reader.h"

#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <thread>

using namespace tilewalk::test;

namespace {

void name_file(Program& program, const std::string& path) {
    fill_in(program.state.saving->path, path);
    program.frame(2);
}

void open(Program& program) { program.press({Key::s, false, true}); }

// Frames until the file is there or was refused.
int wait_for_file(Program& program) {
    int frames = 0;
    while (program.state.saving && program.state.saving->work) {
        REQUIRE(++frames < 5000);
        if (program.state.saving->work->waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        program.frame();
    }
    return frames;
}

}  // namespace

TEST_SUITE("save card") {

    TEST_CASE("it comes with a name for this step, and goes with Escape") {
        Program program;
        program.go_to_step(11);
        open(program);
        REQUIRE(program.state.saving);
        CHECK(std::string(program.state.saving->path) == "tilewalk-flash-forward-step-12.svg");
        CHECK(program.shows("Save"));
        program.press(Key::escape);
        CHECK_FALSE(program.state.saving);
        program.state.page = Page::memory;
        open(program);
        REQUIRE(program.state.saving);
        CHECK(std::string(program.state.saving->path) == "tilewalk-memory.svg");
    }

    TEST_CASE("keys choose format and size, and go nowhere else") {
        Program program;
        open(program);
        const SaveCard& card = *program.state.saving;
        program.press(Key::right);
        CHECK(std::string(card.path) == "tilewalk-flash-forward.html");
        CHECK(program.shows("all 40 steps"));
        program.press("left left");
        CHECK(std::string(card.path) == "tilewalk-flash-forward-step-1.png");
        program.press(Key::down);
        CHECK(card.size == SaveCard::full_hd);
        CHECK(program.step() == 0);
        name_file(program, "my.notes.svg");
        CHECK(card.format == static_cast<int>(SaveFormat::png));  // only typing changes it
        program.click("format/Markdown");
        CHECK(std::string(card.path) == "my.notes.md");
    }

    TEST_CASE("the ending that is typed chooses the format") {
        Program program;
        open(program);
        program.click("file");
        program.retype("a.png");
        CHECK(program.state.saving->format == static_cast<int>(SaveFormat::png));
        CHECK(std::string(program.state.saving->path) == "a.png");
    }

    TEST_CASE("a picture is of the view without the card, and the frame goes on") {
        const Folder folder;
        Program program;
        program.go_to_step(16);
        const Image before = program.picture();
        open(program);
        name_file(program, folder.file("view"));
        program.click("save file");
        wait_for_file(program);
        CHECK_FALSE(program.state.saving);
        CHECK(program.shows("Saved"));
        const std::string svg = contents(folder.file("view.svg"));
        CHECK(read_xml(svg).error.empty());
        CHECK(contains(svg, "width=\"1600\" height=\"900\""));
        CHECK_FALSE(contains(svg, ">Save file</text>"));
        CHECK(contains(svg, ">Row sum</text>"));
        program.state.notice.clear();
        program.frame();
        CHECK(program.picture().rgba == before.rgba);

        open(program);
        name_file(program, folder.file("large.png"));
        program.state.saving->format = static_cast<int>(SaveFormat::png);
        program.state.saving->size = SaveCard::full_hd;
        program.press(Key::enter);
        CHECK(wait_for_file(program) > 5);
        const Image picture = good(decode_png(contents(folder.file("large.png"))));
        CHECK(picture.width == 1920);
        CHECK(picture.height == 1080);
        CHECK(program.picture().width == 1600);
        CHECK(folder.count() == 2);
    }

    TEST_CASE("a file that is there is replaced only when asked twice") {
        const Folder folder;
        Program program;
        open(program);
        const std::string path = folder.file("old.svg", "precious");
        name_file(program, path);
        program.press(Key::enter);
        REQUIRE(program.state.saving);
        program.check_shows({"old.svg is there already", "Replace"});
        CHECK(contents(path) == "precious");
        program.press(Key::enter);
        wait_for_file(program);
        CHECK_FALSE(program.state.saving);
        CHECK(contents(path).starts_with("<svg"));
    }

    TEST_CASE("what cannot be written is said, and the card stays") {
        const Folder folder;
        Program program;
        open(program);
        name_file(program, folder.file("no/such/folder.svg"));
        program.press(Key::enter);
        wait_for_file(program);
        REQUIRE(program.state.saving);
        CHECK_FALSE(program.state.saving->message.empty());
        name_file(program, "");
        program.press(Key::enter);
        CHECK(program.shows("The file needs a name."));
        program.state.hooks.begin_hand_out = nullptr;
        program.press("right enter");
        REQUIRE(program.state.saving);
        CHECK(program.shows("Hand-outs cannot be written here."));
        program.state.page = Page::memory;
        program.press(Key::left), program.press(Key::right);
        CHECK(program.shows("this page has none"));
        CHECK(folder.count() == 0);
    }

    TEST_CASE("the walk goes to the hook with the ending that was chosen") {
        Program program;
        std::string written;
        program.state.hooks.begin_hand_out = [&](const std::string& path, const AppState&) {
            written = path;
            auto work = std::make_shared<Piecework>(Piecework{0, 1, {}});
            work->next = [done = &work->done] { return ++*done, Result<void>(); };
            return Result<std::shared_ptr<Piecework>>(work);
        };
        open(program);
        program.click("format/LaTeX");
        program.press(Key::enter);
        CHECK(written == "tilewalk-flash-forward.tex");
        wait_for_file(program);
        CHECK(program.shows("all 40 steps"));
    }

    TEST_CASE("slides are drawn while the window goes on, and can be stopped") {
        const Folder folder;
        Program program;
        const std::string path = folder.file("walk.pdf");
        open(program);
        program.click("format/PDF");
        CHECK(std::string(program.state.saving->path) == "tilewalk-flash-forward.pdf");
        CHECK(program.shows("all 40 steps"));
        name_file(program, path);
        const int step = program.step();
        const Image before = program.picture();
        program.press(Key::enter);
        REQUIRE(program.state.saving);
        REQUIRE(program.state.saving->work);
        CHECK(program.shows("of 41"));
        CHECK(idle_seconds(program.state) == 0);
        program.press(Key::escape);
        REQUIRE(program.state.saving);
        CHECK_FALSE(program.state.saving->work);
        CHECK(folder.count() == 0);
        program.frame(2);
        CHECK(program.picture().rgba == before.rgba);

        program.press(Key::enter);
        for (int frame = 0; frame < 1000 && program.state.saving; ++frame) program.frame();
        CHECK_FALSE(program.state.saving);
        CHECK(program.shows("(41 pages)"));
        CHECK(contents(path).starts_with("%PDF-"));
        CHECK(program.step() == step);
        const std::string whole = contents(path);
        CHECK(run({"export", "-o", folder.file("same.pdf")}).code == 0);
        CHECK(contents(folder.file("same.pdf")) == whole);
    }

    TEST_CASE("hand-outs and pictures, too: each file is that of the command line, and stopped it is none") {
        const Folder folder;
        Program program(random_with_tiles(4, 2, 2, 2));
        program.go_to_step(5);
        const Image before = program.picture();
        for (const char* name : {"walk.html", "walk.md", "walk.tex", "view.png", "view.svg"}) {
            CAPTURE(name);
            const std::string path = folder.file(name);
            open(program);
            name_file(program, path);
            program.state.saving->format =
                static_cast<int>(std::string_view(name).ends_with("html")  ? SaveFormat::html
                                 : std::string_view(name).ends_with("md")  ? SaveFormat::markdown
                                 : std::string_view(name).ends_with("tex") ? SaveFormat::latex
                                 : std::string_view(name).ends_with("png") ? SaveFormat::png
                                                                           : SaveFormat::svg);
            program.press(Key::enter);
            // A short text is there within the frame.
            if (const bool text = !contains(name, "html") && !contains(name, "view"); !text) {
                REQUIRE(program.state.saving);
                REQUIRE(program.state.saving->work);
                CHECK(program.shows("part 1 of"));
                program.press(Key::escape);
                REQUIRE(program.state.saving);
                CHECK_FALSE(program.state.saving->work);
                CHECK_FALSE(std::filesystem::exists(path));
                program.press(Key::enter);
                CHECK(wait_for_file(program) > 1);
            }
            CHECK_FALSE(program.state.saving);
            CHECK(contents(path).size() > 1000);
        }
        CHECK(program.step() == 5);
        program.state.notice.clear();
        program.frame();
        CHECK(program.picture().rgba == before.rgba);
        const std::string problem = folder.file("problem.json");
        REQUIRE(save_problem_file(problem, *program.state.problem, {}));
        for (const char* name : {"walk.html", "walk.md", "walk.tex"}) {
            CAPTURE(name);
            const std::string same = folder.file(std::string("same-") + name);
            CHECK(run({"export", "--load", problem, "-o", same}).code == 0);
            CHECK(contents(same) == contents(folder.file(name)));
        }
        const Image picture = good(decode_png(contents(folder.file("view.png"))));
        CHECK(picture.rgba == before.rgba);
        CHECK(folder.count() == 9);
    }

    TEST_CASE("the window is closed in the midst of a file: there is none, and nothing is left over") {
        const Folder folder;
        for (const char* name : {"walk.html", "view.png", "walk.pdf"})
            for (const int frames : {1, 3, 20}) {
                const ImGuiContext* const outside = ImGui::GetCurrentContext();
                {
                    Program program(example("worked-4x4"));
                    open(program);
                    name_file(program, folder.file(name));
                    program.state.saving->format =
                        static_cast<int>(std::string_view(name).ends_with("html")  ? SaveFormat::html
                                         : std::string_view(name).ends_with("png") ? SaveFormat::png
                                                                                   : SaveFormat::pdf);
                    program.press(Key::enter);
                    for (int n = 0; n < frames && program.state.saving; ++n) program.frame();
                    if (!program.state.saving) std::filesystem::remove(folder.file(name));  // a fast machine
                }
                CHECK(ImGui::GetCurrentContext() == outside);
            }
        CHECK(folder.count() == 0);
    }

    TEST_CASE("slides are of the marked range, or of the tour") {
        Program program;
        std::string path;
        program.state.hooks.begin_slides = [&](const std::string& name, const AppState&) {
            path = name;
            auto work =
                std::make_shared<Piecework>(Piecework{0, 2, [] { return Failure{"The disk is full."}; }});
            return Result<std::shared_ptr<Piecework>>(work);
        };
        program.state.timeline.loop = {10, 19};
        open(program);
        program.click("format/PDF");
        CHECK(program.shows("steps 11 to 20, the marked range"));
        program.press("enter");
        program.frame();
        REQUIRE(program.state.saving);
        CHECK_FALSE(program.state.saving->work);
        CHECK(program.state.saving->message == "The disk is full.");
        program.press("escape u");
        open(program);
        program.click("format/PDF");
        CHECK(std::string(program.state.saving->path) == "tilewalk-tour.pdf");
        CHECK(program.shows("pages of notes"));
    }

    TEST_CASE("nothing of it is cut or overlaps") {
        for (const bool presenter : {false, true})
            for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1920, 1080}}) {
                Program program(example("worked-4x4"), screen, presenter);
                open(program);
                for (const bool failed : {false, true}) {
                    if (failed) {
                        program.state.saving->message =
                            "/home/somebody/pictures/of/the/walk.svg: this folder may not be written to.";
                        program.frame(2);
                    }
                    check_frame(program, {}, {.panel = "Save"});
                }
                program.state.saving->work =
                    std::make_shared<Piecework>(Piecework{11, 1000, [] { return Result<void>(); }});
                program.frame();
                CHECK(program.shows("of 1000"));
                check_frame(program, {}, {.panel = "Save"});
            }
    }

}  // TEST_SUITE
