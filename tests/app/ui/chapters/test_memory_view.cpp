// The page about memory: its numbers are those of the study, its keys and fields work, its layout holds.
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/shell/frame.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

struct MemoryPage : Program {
    explicit MemoryPage(Screen size = {}) : Program(example("worked-4x4"), size) {
        state.page = Page::memory;
        frame(2);
    }
    MemoryForm& form() { return state.memory; }
    Study now() { return study(memory_input(form())); }
};

}  // namespace

TEST_CASE("memory: the page shows the numbers of the study") {
    MemoryPage page;
    for (std::int64_t N : {512, 16384, 25000, 131072}) {
        page.form().N = N;
        page.frame(2);
        const Study s = page.now();
        for (Algorithm a : algorithms)
            CHECK(page.shows(format_large_size(static_cast<double>(s.of(a).traffic.total()))));
        for (const ScoreRow& row : s.rows) {
            page.check_shows({format_count(row.N), format_large_size(row.all)});
        }
        page.check_shows({"25\u2009906", compared(s, Algorithm::flash2), "312 TFLOP/s"});
    }
}

TEST_CASE("memory: texts have their place at every size, with every hardware and extreme sizes") {
    for (const Screen& screen : screens_and_fine) {
        MemoryPage page(screen);
        for (int hardware = 0; hardware <= static_cast<int>(hardware_list().size()); ++hardware) {
            page.form() = {};
            page.form().hardware = hardware;
            check_new_frame(page, "hardware " + std::to_string(hardware));
        }
        for (const auto& [N, d, bytes, heads, tile] : {std::array<int, 5>{1, 128, 1, 1, 0},
                                                       {64, 128, 2, 1, 0},
                                                       {512, 32, 4, 16, 1},
                                                       {8388608, 128, 4, 1024, 2},
                                                       {16777216, 128, 4, 1024, 4},
                                                       {5000, 64, 1, 12, 3},
                                                       {131072, 32, 2, 16, 4}})
            for (int trips : {0, 1, 3}) {
                page.form() = {};
                page.form().N = N, page.form().d = d, page.form().element_bytes = bytes;
                page.form().heads = page.form().batch = heads;
                page.form().rule = tile == 3   ? TileRule::square
                                   : tile == 4 ? TileRule::paper
                                               : TileRule::given;
                page.form().Br = page.form().Bc = tile == 0 ? 2 : 64 * tile;
                page.form().plot = static_cast<MemoryPlot>(std::min(trips, 2));
                page.form().trips = trips;
                check_new_frame(page, "N = " + std::to_string(N));
            }
    }
}

TEST_CASE("memory: at first nothing is cut off at 1280 × 720 and more") {
    for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}}) {
        MemoryPage page(screen);
        for (const MemoryPlot plot : {MemoryPlot::roofline, MemoryPlot::tile_height, MemoryPlot::kv_cache}) {
            page.form().plot = plot;
            page.frame(2);
            for (const std::string& text : shortened_texts(page)) FAIL_CHECK(page.where(), ": ", text);
        }
    }
}

TEST_CASE("memory: the presenter page holds at 27 px and more") {
    for (const Screen& screen : {Screen{1280, 720}, Screen{1920, 1080}}) {
        MemoryPage page(screen);
        page.state.presenter = true;
        for (int hardware = 0; hardware <= static_cast<int>(hardware_list().size()); ++hardware)
            for (std::int64_t N : {1, 512, 5000, 16384, 131072, 16777216}) {
                page.form() = {};
                page.form().hardware = hardware, page.form().N = N;
                page.form().heads = page.form().batch = N > 1000000 ? 1024 : 1;
                check_new_frame(page, "N = " + std::to_string(N));
                CHECK(page.shows(format_count(N)));
            }
        page.form() = {};
        page.press(Key::right);
        CHECK(page.form().N == 32768);
        page.press("pageup left");
        CHECK(page.form().N == 8192);
    }
}

TEST_CASE("memory: what is too thin for its name in a bar is named beside it") {
    for (const bool presenter : {false, true}) {
        MemoryPage page(presenter ? Screen{1280, 720} : Screen{1600, 900});
        page.state.presenter = presenter;
        page.frame(2);
        INFO(presenter);
        CHECK(page.shows("of which Q, O"));         // FlashAttention-2 reads Q, too
        CHECK(page.shows("of which K, V, zeros"));  // and the first version K and V, and O once as zeros
    }
}

TEST_CASE("memory: in presenter mode each part says of how many heads it tells") {
    MemoryPage page({1280, 720});
    page.state.presenter = true;
    page.form().heads = 8, page.form().batch = 2;
    page.frame(2);
    page.check_shows({"the N × N matrices of 16 heads", "Bytes through HBM, of one head"});
    page.form().heads = page.form().batch = 1;
    page.frame(2);
    CHECK(page.shows("the N × N matrices of one head"));
}

TEST_CASE("memory: every text stands out in every theme") {
    MemoryPage page;
    for (const bool presenter : {false, true})
        for (ThemeId id : all_themes) {
            page.state.presenter = presenter;
            page.state.settings.theme = id;
            page.frame_unlisted();
            check_new_frame(page, {}, {.geometry = false});
        }
}

TEST_CASE("memory: standard attention's kernels run one after another, once") {
    MemoryPage page;
    page.press(Key::left);
    CHECK(page.form().trips == 2);
    const Study s = page.now();
    CHECK(page.shows("of " +
                     format_large_size(static_cast<double>(s.of(Algorithm::standard).traffic.total()))));
    for (int n = 0; n < 5; ++n) page.press(Key::left);
    CHECK(page.form().trips == 0);
    page.press(Key::right);
    CHECK(page.form().trips == 1);
    CHECK(page.shows(format_large_size(static_cast<double>(s.trips[0].read + s.trips[0].write))));

    page.press(Key::space);
    CHECK(page.form().playing);
    CHECK(idle_seconds(page.state) < 2);
    page.frame(40, 0.1f);
    CHECK(page.form().trips == 3);
    CHECK_FALSE(page.form().playing);
    page.frame(40, 0.1f);
    CHECK(page.form().trips == 3);  // no loop
    CHECK(idle_seconds(page.state) > 1e6);
    page.press(Key::space);
    CHECK(page.form().trips < 3);
    page.press(Key::space);
    CHECK_FALSE(page.form().playing);
    for (int n = 0; n < 3; ++n) page.click("trip-forward");
    CHECK(page.form().trips == 3);
    page.click("trip-back");
    CHECK(page.form().trips == 2);
}

TEST_CASE("memory: without motion the bytes are there at once") {
    MemoryPage page;
    page.state.settings.motion = false;
    page.press("left right");
    CHECK(trip_progress(page.state) == 1);
    page.state.settings.motion = true;
    page.press(Key::left);
    step_trip(page.form(), 1);
    CHECK(trip_progress(page.state) < 1);
}

TEST_CASE("memory: N by key, by field and by slider") {
    MemoryPage page;
    for (const auto& [keys, N] :
         {std::pair{"up", 32768}, {"down down", 8192}, {"end", 131072}, {"home", 512}, {"down", 512}}) {
        page.press(keys);
        CHECK_MESSAGE(page.form().N == N, keys);
    }

    page.click("memory-N");
    page.retype("25001");
    CHECK(page.form().N == 25001);
    CHECK(page.shows("does not fit"));
    page.retype("0");
    CHECK(page.form().N == 25001);  // refused; the last good one stays
    page.retype("16777217");
    CHECK(page.form().N == 1677721);  // up to the last digit that is one too many
    page.press(Key::escape);
    page.click("memory-slider");
    CHECK(page.form().N == 8192);  // the middle of 512 … 131 072
}

TEST_CASE("memory: sizes, heads and hardware change what is computed") {
    MemoryPage page;
    page.click("memory-d/128");
    CHECK(page.form().d == 128);
    page.click("memory-type/fp32");
    CHECK(page.form().element_bytes == 4);
    CHECK(page.shows("19.50 TFLOP/s"));
    page.click("memory-Br");
    page.click("paper");
    CHECK(page.now().shape.Br == page.now().paper.Br);
    page.click("memory-Bc");
    page.click("square");
    CHECK(page.now().shape.Br == page.now().square.Br);
    page.click("memory-Br");
    page.click("memory-Br/2");
    page.click("memory-Bc");
    page.click("memory-Bc/4");
    CHECK(page.now().shape.Br == 2);
    CHECK(page.now().shape.Bc == 4);
    page.click("memory-heads/more");
    CHECK(page.form().heads == 17);
    page.click("hardware");
    page.click("h100");
    CHECK(chosen_hardware(page.form()).id == "h100");
    CHECK(page.shows("H100 data sheet"));
}

TEST_CASE("memory: the user's own numbers") {
    MemoryPage page;
    page.form().hardware = static_cast<int>(hardware_list().size());
    page.frame(2);
    page.click("own-capacity");
    page.retype("1.5");
    CHECK(chosen_hardware(page.form()).capacity.value == 1.5 * gib);
    page.retype("x");
    CHECK_FALSE(readable(page.form().own.capacity));
    CHECK(chosen_hardware(page.form()).capacity.value == 40 * gib);  // the A100's stands in
    for (const char* text : {"", "0", "-1", "1e12", "1e400", "nan", "inf", "4x", "1,5"}) {
        CHECK_FALSE(readable(text));
        fill_in(page.form().own.bandwidth, text);
        CHECK_FALSE(refuse(memory_input(page.form())));
        page.frame();
    }
    for (const char* text : {"1e-300", "999999999999", "0.001"}) {
        CHECK(readable(text));
        auto& own = page.form().own;
        for (auto* field : {&own.capacity, &own.bandwidth, &own.sms, &own.shared, &own.peak})
            fill_in(*field, text);
        page.frame(2);
    }
}

TEST_CASE("memory: the keys of a walk do nothing, the others what they do everywhere") {
    MemoryPage page;
    check_no_walk(page, "g i c m b x enter pagedown e z");
    for (const char* key : {"left", "right", "up", "down", "home", "end"})
        for (const char* modifiers : {"shift+", "ctrl+", "alt+", "ctrl+shift+", "ctrl+alt+", "shift+alt+"})
            page.press(std::string(modifiers) + key);
    CHECK(page.step() == 0);
    page.press("ctrl+c");
    CHECK(std::string(ImGui::GetClipboardText()) == verdict(page.now()));
    check_common_keys(page);
}

TEST_CASE("memory: the panel of tile heights shows what each height moves, and where flash begins to pay") {
    for (const Screen& screen : {Screen{1024, 640}, Screen{1600, 900}}) {
        MemoryPage page(screen);
        page.click("memory-plot/tile height");
        for (const auto& [N, d] : {std::pair{16384, 64}, {512, 128}, {2, 64}}) {
            page.form().N = N, page.form().d = d;
            check_new_frame(page, "N = " + std::to_string(N));
            for (const TileRow& row : tile_rows(page.now().shape))
                if (screen.height > 640) page.check_shows({saving_text(row.saving)});
        }
        page.form().N = 16384;
        page.frame(2);
        // d ÷ 2, for long texts; in fewer words where all would be cut
        CHECK(page.shows(screen.height > 640 ? "From Br = 32 rows on"
                                             : "From Br = 32 on (dashed): no more than"));
        for (const std::string& text : shortened_texts(page)) CHECK_FALSE(text.starts_with("Tile height"));
        if (screen.height > 640) CHECK(page.shows("crossed: not on chip"));  // 256 rows and more
        page.form().d = 8;
        page.frame(2);
        const bool all_fit = std::ranges::all_of(tile_rows(page.now().shape), [&](const TileRow& row) {
            Shape shape = page.now().shape;
            shape.Br = row.Br;
            return tile_fit(shape, page.now().input.hardware) != TileFit::none;
        });
        CHECK((screen.height == 640 || page.shows("crossed: not on chip") != all_fit));
    }
}

TEST_CASE("memory: the KV cache against key heads, and how long a token takes to read it") {
    for (const Screen& screen : {Screen{1024, 640}, Screen{1600, 900}}) {
        MemoryPage page(screen);
        page.click("memory-plot/KV cache");
        for (const int heads : {1, 12, 16}) {
            page.form().heads = heads;
            check_new_frame(page, counted(heads, "head"));
        }
        // 2 · 16384 tokens · 64 · 2 bytes in each of 16, 8, …, 1 heads; all of it at 1.555 TB/s
        page.check_shows({"64 MiB", "32 MiB", "4 MiB", "multi-query", "43.2 µs", "2.70 µs"});
    }
}

TEST_CASE("memory: in presenter mode bars are true to length, and a tile too small to be seen says so") {
    MemoryPage page(Screen{1280, 720});
    page.state.presenter = true;
    page.frame(2);
    CHECK(page.shows("to scale"));
    page.check_shows({"the N × N matrices of 16 heads", "× 32"});  // a tile of 1.6 px, so many times as large
    page.form().N = 131072;
    page.frame(2);
    CHECK(page.shows("dot: enlarged"));
}

TEST_CASE("memory: on stage four times the bytes are four times as long, the longest too") {
    MemoryPage page(Screen{1280, 720});
    page.state.presenter = true;
    page.frame(2);
    const auto length = [&](const char* bar) {
        const Item item = page.find(bar);
        return item.max.x - item.min.x;
    };
    CHECK(length("bar of 64 GiB") == doctest::Approx(4 * length("bar of 16 GiB")).epsilon(.02));
    CHECK(length("bar of 256 GiB") == doctest::Approx(4 * length("bar of 64 GiB")).epsilon(.02));
}
