// A kernel of the user's own on the page Inside: nothing runs before that was agreed to; what went wrong is
// said; hand-outs of a run.
#include "app/ui/chapters/inside/inside.h"
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace tilewalk::test;

namespace {

/// What compiles and runs is played here by a kernel of the ladder that goes by another name.
struct OwnPage : Program {
    int runs = 0;
    std::string refusal;

    explicit OwnPage(Screen size = {}) : Program(example("worked-4x4"), size) {
        state.hooks.record_source = [this](const tilewalk::gpu::RecordRequest& request,
                                           std::string& text) -> tilewalk::Result<inside::Record> {
            ++runs;
            if (!refusal.empty()) return tilewalk::Failure{refusal};
            text = "// A kernel of mine.\nKERNEL void mine() {}\n";
            tilewalk::gpu::RecordRequest other = request;
            other.kernel = "f2-tiled-fp32";
            auto record = tilewalk::gpu::record_kernel(other);
            if (record)
                record->kernel = "my.cu", record->places.front().file = "my.cu",
                record->places.front().line = 2;
            return record;
        };
    }
    void drop(const std::string& path) {
        state.dropped = {path};
        frame(3);
    }
    void settle_run() {
        wait_for_inside(state);
        frame(2);
    }
};

}  // namespace

TEST_CASE("own kernel: a file that is dropped runs only after that was agreed to") {
    for (const Screen size : {Screen{1024, 640}, Screen{1920, 1080}}) {
        OwnPage page(size);
        page.drop("/somewhere/my.cu");
        CHECK(page.state.page == Page::inside);
        page.frame(3);
        CHECK(page.runs == 0);
        page.check_shows({"Your own kernel", "my.cu will be compiled and run on this machine",
                          "Open only what you trust."});
        check_frame(page, "asking");
        page.press(Key::enter);
        page.settle_run();
        CHECK(page.runs == 1);
        REQUIRE(place_inside(page.state));
        CHECK(place_inside(page.state).record().kernel == "my.cu");
        CHECK(source_of(page.state, "my.cu"));
        CHECK(page.shows("my.cu"));
        check_frame(page, "a kernel of one's own");
        page.press(Key::r);
        page.settle_run();
        CHECK(page.runs == 2);
        // Another kernel takes its place.
        choose_inside_kernel(page.state, "f3-warp-rows");
        page.settle_run();
        CHECK(page.runs == 2);
        CHECK(place_inside(page.state).record().kernel == "f3-warp-rows");
    }
}

TEST_CASE("own kernel: what it loads does not say what it computes") {
    OwnPage page;
    page.drop("my.cu");
    page.press(Key::enter);
    page.settle_run();
    const auto named = [&] { return page.shows("S = Q") || page.shows("O += "); };
    CHECK_FALSE(named());
    choose_inside_kernel(page.state, "f2-tiled-fp32");
    page.settle_run();
    CHECK(named());
}

TEST_CASE("own kernel: by mouse, and left again") {
    OwnPage page;
    page.drop("my.cu");
    page.click("leave own kernel");
    page.settle_run();
    CHECK(page.runs == 0);
    CHECK(place_inside(page.state).record().kernel == "f5-flash2");
    page.drop("my.cu");
    page.press(Key::escape);
    CHECK(page.state.inside.source.empty());
    page.drop("my.cu");
    page.click("run own kernel");
    page.settle_run();
    CHECK(page.runs == 1);
}

TEST_CASE(
    "own kernel: how far it is stands on the page, and it can be cancelled while it is compiled or runs") {
    for (const bool by_key : {true, false}) {
        OwnPage page({1280, 720});
        page.state.page = Page::inside;
        page.frame();
        page.settle_run();
        std::atomic<int> done = -1, told = -2;
        page.state.hooks.record_source = [&](const tilewalk::gpu::RecordRequest& request,
                                             std::string&) -> tilewalk::Result<inside::Record> {
            while (!request.stop.stop_requested()) {
                *request.blocks_done = done.load(), told = done.load();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            return tilewalk::Failure{"Cancelled."};
        };
        const auto wait_until_told = [&](int blocks) {
            for (done = blocks; told != blocks;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            page.frame(2);
        };
        page.drop("my.cu");
        page.press(Key::enter);
        page.frame(2);
        wait_until_told(-1);
        page.check_shows({"Your kernel is compiled", "my.cu is compiled, "});
        CHECK_FALSE(page.shows("f5_flash2.cu"));
        check_frame(page, "compiled");
        wait_until_told(3);
        page.check_shows({"Your kernel runs", "my.cu runs: 3 blocks done, "});
        check_frame(page, "runs");
        by_key ? page.press(Key::escape) : page.click("cancel run");
        page.frame(3);
        CHECK_FALSE(inside_page(page.state).run);
        CHECK(page.state.inside.source.empty());
        REQUIRE(place_inside(page.state));
        CHECK(place_inside(page.state).record().kernel == "f5-flash2");
        CHECK(page.shows("f5_flash2.cu"));
    }
}

TEST_CASE("own kernel: what went wrong stands on the page") {
    OwnPage page({1024, 640});
    page.refusal = "my.cu does not compile: my.cu:4:5: error: 'x' was not declared in this scope";
    page.drop("my.cu");
    page.press(Key::enter);
    page.settle_run();
    CHECK_FALSE(place_inside(page.state));
    CHECK(page.shows("my.cu:4:5: error"));
    page.refusal.clear();
    page.press(Key::r);
    page.settle_run();
    CHECK(place_inside(page.state));
}

TEST_CASE("a link carries no kernel of one's own") {
    OwnPage page;
    page.drop("my.cu");
    page.press({Key::l, false, true});
    CHECK(page.shows("A link cannot carry a kernel of your own"));
}

TEST_CASE("a kernel's run is saved as pages, Markdown and slides, not as LaTeX") {
    const Folder folder;
    Program page(example("worked-4x4"));
    page.press(Key::eight);
    wait_for_inside(page.state);
    page.frame(2);
    const auto save = [&](const char* format, const std::string& name) {
        page.press({Key::s, false, true});
        REQUIRE(page.state.saving);
        page.click(std::string("format/") + format);
        fill_in(page.state.saving->path, folder.file(name));
        page.frame(2);
        page.press(Key::enter);
        for (int n = 0; n < 4000 && page.state.saving && page.state.saving->work; ++n) page.frame(1);
    };
    save("HTML", "run.html");
    CHECK(contains(contents(folder.file("run.html")), "<h1>Inside f5-flash2</h1>"));
    save("Markdown", "run.md");
    CHECK(contains(contents(folder.file("run.md")), "# Inside f5-flash2"));
    save("PDF", "run.pdf");
    CHECK(contents(folder.file("run.pdf")).starts_with("%PDF"));
    save("PNG", "run.png");
    CHECK(contents(folder.file("run.png")).size() > 10'000);
    save("LaTeX", "run.tex");
    CHECK(page.shows("A kernel's run is written as HTML, PDF or Markdown."));
    CHECK(folder.count() == 4);
}
