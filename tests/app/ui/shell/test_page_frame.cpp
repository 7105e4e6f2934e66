// From page to page nothing of the frame moves: the margins, the title, the column at the right, what stands
// at the foot.
#include "app/ui/kit/measures.h"
#include "app/ui/kit/page_frame.h"
#include "tests/app/ui/layout_check.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>

using namespace tilewalk::test;

namespace {

constexpr Screen sizes[] = {{1280, 720}, {1600, 900}, {1920, 1080}};
constexpr Page all_pages[] = {Page::walk,    Page::memory, Page::scale,
                              Page::compare, Page::start,  Page::inside};

void open_page(Program& program, Page page) {
    program.state.page = page;
    program.wait(2);
    program.frame(2);
}

bool is_below_header(const Item& item) { return item.min.y > header_height && item.panel != "Header"; }

// Round all panels of a page.
Rect panels_of(const Program& program) {
    float left = 1e6f, top = 1e6f, right = 0, bottom = 0;
    for (const Item& item : program.items())
        if (item.kind == ItemKind::panel && is_below_header(item)) {
            left = std::min(left, item.min.x), top = std::min(top, item.min.y);
            right = std::max(right, item.max.x), bottom = std::max(bottom, item.max.y);
        }
    return {left, top, right - left, bottom - top};
}

// The uppermost text at the left edge.
Item title_of(const Program& program) {
    Item first;
    first.min.y = 1e6f;
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text && is_below_header(item) && item.min.x < 60 &&
            item.min.y < first.min.y)
            first = item;
    return first;
}

// "28, 86": where a thing begins and its middle.
std::string place_of(const Item& item) {
    return std::to_string(std::lround(item.min.x)) + ", " +
           std::to_string(std::lround((item.min.y + item.max.y) / 2));
}
std::string area_of(const Item& item) {
    return place_of(item) + ", " + std::to_string(std::lround(item.max.x - item.min.x)) + " × " +
           std::to_string(std::lround(item.max.y - item.min.y));
}

}  // namespace

TEST_CASE("the frame: margins and title are those of every page") {
    for (const Screen screen : sizes) {
        const PageFrame frame = page_frame(px(screen.width), px(screen.height), Foot::none);
        for (const Page page : all_pages) {
            Program program(example("worked-4x4"), screen);
            open_page(program, page);
            CAPTURE(screen.width);
            CAPTURE(page_names[static_cast<std::size_t>(page)]);
            const Rect all = panels_of(program);
            CHECK(all.x == doctest::Approx(frame.body.x).epsilon(.001));
            CHECK(all.y == doctest::Approx(frame.body.y).epsilon(.001));
            CHECK(all.right() == doctest::Approx(frame.body.right()).epsilon(.001));
            CHECK(all.bottom() == doctest::Approx(frame.body.bottom()).epsilon(.001));
            const Item title = title_of(program);
            CAPTURE(title.text);
            CHECK(place_of(title) == "28, 86");
            CHECK(title.font_px == doctest::Approx(size::lead));
        }
    }
}

TEST_CASE("the frame: bars at the foot and the buttons in them, lines of choices and columns are the same") {
    for (const Screen screen : sizes) {
        std::map<Page, std::unique_ptr<Program>> pages;
        for (const Page page : all_pages) {
            pages[page] = std::make_unique<Program>(example("worked-4x4"), screen);
            open_page(*pages[page], page);
        }
        const auto area = [&](Page page, const char* name, const char* panel = "") {
            return area_of(pages[page]->find(name, panel));
        };
        CAPTURE(screen.width);
        CHECK(area(Page::memory, "Sizes") == area(Page::scale, "Run"));
        CHECK(area(Page::compare, "Run") == area(Page::scale, "Run"));
        CHECK(area(Page::compare, "compare run") == area(Page::scale, "scale-run"));
        CHECK(area(Page::compare, "compare cancel") == area(Page::scale, "scale-cancel"));
        CHECK(area(Page::compare, "Choices") == area(Page::scale, "Devices"));
        const auto left = [&](Page page, const char* name) { return pages[page]->find(name).min.x; };
        CHECK(left(Page::start, "New here") == left(Page::walk, "Explanation"));
        CHECK(pages[Page::start]->find("Moments").min.y == pages[Page::inside]->find("Warps").min.y);
    }
}

TEST_CASE("the frame: what stands in the place of results is said in one way on every page") {
    // The words, from the panel that they stand in: 16 px to the right, the same way down, and the button
    // below
    const auto check = [](const Program& program, const char* panel, const char* words, const char* button) {
        const Item area = program.find(panel), press = program.find(button, panel);
        const Item* first = nullptr;
        for (const Item& item : program.items())
            if (item.kind == ItemKind::text && item.panel == panel && item.text.starts_with(words))
                first = &item;
        CAPTURE(panel);
        REQUIRE(first);
        CHECK(first->min.x - area.min.x == doctest::Approx(space::pad).epsilon(.05));
        CHECK(std::lround(first->min.y - area.min.y) == 53);
        CHECK(first->font_px == doctest::Approx(size::lead));
        CHECK(press.min.x - area.min.x == doctest::Approx(space::pad).epsilon(.05));
        CHECK(press.max.y - press.min.y == doctest::Approx(36));
    };
    for (const Screen screen : sizes) {
        Program start(example("worked-4x4"), screen);
        open_page(start, Page::start);
        check(start, "Continue", "Nothing yet", "first walk");
        Program scale(example("worked-4x4"), screen);
        scale.state.hooks.recorded_results = nullptr;
        open_page(scale, Page::scale);
        check(scale, "Time", "Run on CPU measures", "scale-start");
        Problem large = *random_problem(900, 64, 1);
        large.Br = large.Bc = 64;
        Program compare(large, screen);
        compare.settle();
        open_page(compare, Page::compare);
        check(compare, "Verdict", "Run sets what the kernel", "first comparison");
    }
}
