// The page "At scale": it shows what reports hold and nothing else, its keys and buttons work, its layout
// holds.
#include "app/ui/state/tour.h"
#include "core/bench/findings.h"
#include "tests/app/ui/chapters/at_scale.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tilewalk::test;

namespace {

MadeUp long_run() { return {.lengths = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}}; }

void make_failed(BenchReport& report, const std::string& kernel) {
    for (tilewalk::Point& p : report.points) {
        if (p.kernel != kernel) continue;
        p.state = tilewalk::Point::State::failed;
        p.reason = "O is 3.9 times further off than the rule allows, in head 2, row 17.";
        p.seconds.clear();
        summarise(p);
    }
}

// Fills the page in all the ways that it can look.
void for_each_look(AtScale& page, const std::function<void(const std::string&)>& look) {
    look("empty");
    page.form().preset = static_cast<int>(length_presets.size());
    look("own list");
    page.form().preset = 1;
    BenchReport partial = made_up_report();
    partial.points.resize(4);
    page.show(partial);
    page.page().running = true;
    page.page().progress = {"flash, N = 16\u2009384: run 3 of 21", 4, 15, .3, 412.0};
    look("running");
    page.page().cancelling = true;
    look("cancelling");
    page.page().running = page.page().cancelling = false;
    BenchReport broken = made_up_report(long_run());
    make_failed(broken, "flash-eigen");
    page.show(broken);
    look("failed");
    page.record(long_run(), "/data/a-rather-long-name-of-a-machine-2026-11-21.json");
    look("two reports");
    MadeUp causal = long_run();
    causal.lengths.insert(causal.lengths.begin(), 256);
    causal.causal = true, causal.direction = Direction::backward, causal.d = 128, causal.speed = 20;
    page.record(causal, "other.json");
    page.form().decode = true;
    look("decoding, empty");
    BenchReport few =
        made_up_report({.lengths = {4096, 65536, 1048576},
                        .kernels = {"standard", "flash-eigen", "flash", reading_kv, "split-kv"}});
    for (tilewalk::Point& p : few.points) p.workload.N_q = 1;
    page.show(few);
    for (page.form().measure = 0; page.form().measure < 3; ++page.form().measure) look("decoding");
    page.form().decode = false;
    for (int measure = 0; measure < 3; ++measure)
        for (bool linear : {false, true}) {
            page.form().measure = measure;
            page.form().linear = {linear, linear, linear};
            page.form().linear_memory = linear;
            page.form().report = measure;
            look("measure " + std::to_string(measure) + (linear ? ", linear" : ""));
        }
}

}  // namespace

TEST_CASE("scale: the times of a column have one unit, that of the shortest unless the longest has no room") {
    const auto told = [](const std::vector<double>& times) {
        std::string text;
        for (const double time : times) text += time_text(time, unit_of_times(times)) + "; ";
        return text;
    };
    CHECK(told({1.06, .830, .689}) == "1060 ms; 830 ms; 689 ms; ");
    CHECK(told({.00424, .00349}) == "4.24 ms; 3.49 ms; ");
    CHECK(told({12e-6, 1.5}) == "0.012 ms; 1500 ms; ");
    CHECK(told({.02, 25}) == "0.020 s; 25 s; ");
    CHECK(told({2.5, 4}) == "2.50 s; 4 s; ");
    CHECK(told({}) == "");
}

TEST_CASE("scale: the page shows the numbers of the report") {
    AtScale page;
    const BenchReport report = made_up_report();
    page.show(report);
    for (const tilewalk::Point& p : report.points) CHECK(page.shows(format_time(p.median)));
    page.check_shows({finding(report).substr(0, 40), "1.5×", "0.60 × rule", "forward, f32, d = 64, 8 heads",
                      "this run", "standard"});
}

TEST_CASE("scale: before a run nothing is shown that would have to be measured") {
    AtScale page;
    CHECK(page.page().time.scene.marks.empty());
    CHECK(page.page().memory.scene.marks.empty());
    CHECK(page.shows("Nothing measured yet"));
    CHECK(page.look_for("scale-start"));
    CHECK(page.shows(page.page().devices->why_no_gpu));
    CHECK_FALSE(page.shows("× rule"));
    // The closed forms of the kernels, as lines without points.
    int dashed = 0;
    for (const ScenePath& path : page.page().memory.scene.paths)
        dashed += path.dash.on > 0 && path.points.size() == chosen_lengths(page.form()).size();
    CHECK(dashed ==
          static_cast<int>(chosen_kernels(bench_request(page.form()), scale_engine(page.state)).size()));
}

TEST_CASE("scale: plots hold the measured points, and crosses where standard does not fit") {
    AtScale page;
    BenchReport report = made_up_report(long_run());
    make_failed(report, "flash-eigen");
    page.show(report);
    int timed = 0, crosses = 0;
    for (const SceneMark& mark : page.page().time.scene.marks) {
        const Record* record = record_of(page.page(), mark.record);
        REQUIRE(record);
        CHECK(record->state == Record::State::measured);
        CHECK(mark.y == doctest::Approx(page.page().time.scene.Y(record->median)));
        ++timed;
    }
    CHECK(timed == 5 + 8);  // standard to 8192, flash; the kernel that is wrong has no time
    for (const SceneMark& mark : page.page().memory.scene.marks) {
        crosses += mark.marker == Marker::cross;
        CHECK(record_of(page.page(), mark.record)->kernel != "flash-eigen");
    }
    CHECK(crosses == 3);
    page.check_shows({"standard does not fit", "no memory from N = 16\u2009384",
                      "4 GiB allowed on this machine", "O is 3.9 times further off"});
}

TEST_CASE("scale: texts have their place at every size, in every look") {
    for (const Screen& screen : screens_and_fine) {
        AtScale page(screen);
        for_each_look(page, [&](const std::string& what) { check_new_frame(page, what); });
    }
}

TEST_CASE("scale: the presenter page holds at 27 px and more") {
    for (const Screen& screen : {Screen{1280, 720}, Screen{1920, 1080}}) {
        AtScale page(screen);
        page.state.presenter = true;
        for_each_look(page, [&](const std::string& what) {
            for (ScaleSlide slide : {ScaleSlide::one_length, ScaleSlide::time, ScaleSlide::memory}) {
                page.form().slide = slide;
                check_new_frame(page, what);
            }
        });
        page.form().slide = ScaleSlide::one_length;
        page.press(Key::left);
        CHECK(page.form().slide == ScaleSlide::one_length);
        page.press(Key::right);
        CHECK(page.form().slide == ScaleSlide::time);
        CHECK(page.shows("N, sequence length"));
        page.press(Key::right);
        CHECK(page.form().slide == ScaleSlide::memory);
        page.press(Key::right);
        CHECK(page.form().slide == ScaleSlide::memory);
        CHECK(page.shows("Extra memory"));
    }
}

TEST_CASE("scale: on stage the machine is named, and kernels as a newcomer would") {
    AtScale page({1280, 720});
    page.state.presenter = true;
    page.show(made_up_report());
    page.check_shows({"CPU: Test CPU 9000, 2 threads", "flash, simple"});
    CHECK_FALSE(page.shows("flash-eigen"));
    // On the desk the line of every kernel says how many times as fast it is at the longest length.
    page.state.presenter = false;
    page.frame(2);
    CHECK(page.shows("flash, simple"));
    CHECK_FALSE(page.shows("flash-eigen"));
    const ShownReport& shown = page.page().reports.front();
    const double times = times_as_fast(shown, "flash", shown.lengths().back());
    REQUIRE(times > 0);
    page.check_shows({"flash " + format_number(times, 2) + "×"});
}

TEST_CASE("scale: the machine is named beside the card of a tour, too") {
    Program program(example("worked-4x4"), {1280, 720}, true);
    toggle_tour(program.state);
    REQUIRE(program.state.tour);
    for (int n = 0; program.state.tour && program.state.page != Page::scale; ++n)
        go_to_stop(program.state, n);
    REQUIRE(program.state.tour);
    program.frame(2);
    const ShownReport* const shown = chosen_report(program.state);
    REQUIRE(shown);
    REQUIRE_FALSE(machine_text(shown->report).empty());
    program.check_shows({machine_text(shown->report)});
    // "at best four times the speed, here 1.5 times"
    program.check_shows({"1.5×"});
    CHECK(format_number(times_as_fast(*shown, "flash", 8192), 2) == "1.5");
}

TEST_CASE("scale: every text stands out in every theme") {
    AtScale page;
    for_each_look(page, [&](const std::string& what) {
        for (ThemeId id : all_themes) {
            page.state.settings.theme = id;
            page.form().kernel = "flash";
            page.form().card = true;
            check_new_frame(page, what, {.geometry = false});
        }
    });
}

TEST_CASE("scale: arrows choose length and kernel, and open the record") {
    AtScale page;
    page.show(made_up_report());
    CHECK(chosen_length(page.state) == 8192);
    page.press(Key::left);
    CHECK(page.form().kernel == "flash");
    page.check_shows({"flash, N = 4096", "GFLOP/s", "commit 1a2b3c4", "of 7 runs"});
    for (const auto& [keys, N] : {std::pair{"up", 4096}, {"home", 512}, {"left", 512}, {"end", 8192}}) {
        page.press(keys);
        CHECK_MESSAGE(chosen_length(page.state) == N, keys);
        CHECK(page.form().kernel == "flash-eigen");
    }
    page.press(Key::escape);
    CHECK_FALSE(page.form().card);
    CHECK_FALSE(page.shows("commit 1a2b3c4"));
}

TEST_CASE("scale: the point under the mouse shows its record, in plot and table") {
    AtScale page;
    page.show(made_up_report(long_run()));
    for (const SceneMark& mark : page.page().memory.scene.marks) {
        if (mark.marker != Marker::cross) continue;
        page.mouse_to(mark.x, mark.y);
        page.frame(2);
        CHECK(page.page().hovered >= 0);
        page.check_shows({"does not fit", "Needs more than there is."});
    }
    page.hover("cell flash 2048");
    CHECK(page.shows("flash, N = 2048"));
    page.click("cell flash-eigen 1024");
    CHECK(page.form().kernel == "flash-eigen");
    CHECK(chosen_length(page.state) == 1024);
    page.mouse_away();
    CHECK(page.page().hovered < 0);
}

TEST_CASE("scale: recorded results are labelled, compared and closed") {
    AtScale page;
    page.show(made_up_report());
    page.record({.speed = 2}, "/data/epyc.json");
    page.check_shows({"flash, recorded", "recorded: epyc.json"});
    page.record({.speed = 2}, "/data/h200.json");
    page.check_shows({"flash A", "flash B", "A, B: recorded"});
    CHECK(page.page().time.scene.marks.size() == 3 * 3 * 5);
    page.click("report 2");
    CHECK(page.form().report == 2);
    CHECK(page.shows(format_time(page.page().reports[2].report.points[0].median)));
    page.press(Key::down);
    CHECK(page.shows("/data/h200.json"));
    page.press(Key::escape);
    page.click("close report 1");
    CHECK(page.page().reports.size() == 2);
    CHECK(page.form().report == 1);
    CHECK(page.shows("flash, recorded"));
    // A new run takes the place of the old one, not of what was opened.
    page.show(made_up_report());
    CHECK(page.page().reports.size() == 2);
    CHECK_FALSE(page.page().reports[0].recorded);
}

TEST_CASE("scale: results of other heads, and of rings, are not drawn beside the chosen ones") {
    AtScale page;
    page.record({}, "/data/eight.json");
    const std::size_t marks = page.page().time.scene.marks.size();
    BenchReport one_head = made_up_report({.speed = 2});
    for (tilewalk::Point& p : one_head.points) p.workload.heads = p.workload.kv_heads = 1;
    one_head.source = "/data/one.json";
    add_reports(page.state, {one_head});
    page.frame(2);
    CHECK(page.page().reports.size() == 2);
    CHECK(page.form().report == 1);
    CHECK(page.page().time.scene.marks.size() == marks);
    page.check_shows({"flash, recorded"});
    // Opened once more it is still there once; under another name it is somebody else's.
    add_reports(page.state, {one_head});
    CHECK(page.page().reports.size() == 2);
    one_head.source = "/elsewhere/two.json";
    add_reports(page.state, {one_head});
    CHECK(page.page().reports.size() == 3);
}

TEST_CASE("scale: results of one type are shown at a time, each with its type") {
    AtScale page;
    page.show(made_up_report());
    CHECK(time_chart(theme(ThemeId::dark), page.state).corner == "f32");
    page.click("scale-type/bf16");
    CHECK(page.page().reports.empty());
    page.show(made_up_report({.dtype = DType::bf16, .speed = 2}));
    REQUIRE(page.page().reports.size() == 1);
    page.check_shows({"forward, bf16, d = 64, 8 heads"});
    CHECK(time_chart(theme(ThemeId::dark), page.state).corner == "bf16");
    CHECK(memory_chart(theme(ThemeId::dark), page.state).corner == "bf16");
    CHECK(page.page().time.scene.marks.size() == 3 * 5);
    CHECK(contains(scale_as_text(page.state), "forward, bf16, d = 64"));
    // What was measured before is still there.
    page.click("scale-type/f32");
    REQUIRE(page.page().reports.size() == 1);
    CHECK(page.page().reports[0].shape().dtype == DType::f32);
    // A file of another type changes the form.
    page.record({.dtype = DType::f16}, "halves.json");
    CHECK(page.form().type() == DType::f16);
    REQUIRE(page.page().reports.size() == 1);
    CHECK(page.page().reports[0].recorded);
    CHECK(page.page().kept.size() == 3);
}

TEST_CASE("scale: of a file with several shapes the one that the form asks for is shown") {
    AtScale page;
    BenchReport both = made_up_report();
    for (const tilewalk::Point& p : made_up_report({.direction = Direction::backward}).points)
        both.points.push_back(p);
    both.source = "both.json";
    add_reports(page.state, {both});
    page.frame(2);
    REQUIRE(page.page().reports.size() == 1);
    CHECK(page.page().reports[0].shape().direction == Direction::forward);
    CHECK(page.page().reports[0].report.points.size() == 15);
    page.form().backward = true;
    page.frame(2);
    REQUIRE(page.page().reports.size() == 1);
    CHECK(page.page().reports[0].shape().direction == Direction::backward);
    page.form().d = 128;
    page.frame(2);
    CHECK(page.page().reports.empty());
    page.form().d = 64;
    page.frame(2);
    CHECK(page.page().reports.size() == 1);
}

TEST_CASE("scale: results that the form does not ask for change the form when they are opened") {
    AtScale page;
    page.record({.direction = Direction::backward}, "backward.json");
    CHECK(page.form().backward);
    REQUIRE(page.page().reports.size() == 1);
    CHECK(page.page().reports[0].recorded);
}

TEST_CASE("scale: results that the program brings along are there from the beginning, as recorded") {
    Program program(example("worked-4x4"));
    program.state.hooks.recorded_results = [] {
        return std::vector{made_up_report({.source = "assets/bench/somewhere.json"})};
    };
    program.state.page = ui::Page::scale;
    ui::wait_for_devices(program.state);
    program.frame(2);
    REQUIRE(ui::scale_page(program.state).reports.size() == 1);
    CHECK(ui::scale_page(program.state).reports[0].recorded);
    CHECK(program.shows("flash, recorded"));
}

TEST_CASE("scale: measures and axes") {
    AtScale page;
    page.show(made_up_report());
    page.click("scale-measure/GFLOP/s");
    CHECK(page.form().measure == 1);
    CHECK_FALSE(page.page().time.scene.y.logarithmic);
    const Record* record = record_of(page.page(), page.page().time.scene.marks[0].record);
    CHECK(page.page().time.scene.marks[0].y ==
          doctest::Approx(page.page().time.scene.Y(flops(record->workload) / record->median / 1e9)));
    page.click("scale-measure/% of peak");
    CHECK(page.shows("80 %"));
    page.click("scale-log-time");
    CHECK(page.page().time.scene.y.logarithmic);
    page.click("scale-log-memory");
    CHECK_FALSE(page.page().memory.scene.y.logarithmic);
    // On a linear axis only the first cross is shown: the others would press all the rest together.
    page.show(made_up_report(long_run()));
    const auto& marks = page.page().memory.scene.marks;
    CHECK(std::count_if(marks.begin(), marks.end(),
                        [](const SceneMark& mark) { return mark.marker == Marker::cross; }) == 1);
    BenchReport no_peak = made_up_report(long_run());
    for (tilewalk::Point& point : no_peak.points) point.peak = 0;
    page.show(no_peak);
    CHECK(page.page().time.scene.marks.empty());
}

TEST_CASE("scale: a run that is cancelled early takes nothing away") {
    AtScale page;
    page.show(made_up_report());
    BenchReport again = made_up_report();
    again.points.resize(1);
    again.points[0].state = Record::State::cancelled, again.points[0].seconds.clear();
    again.complete = false;
    page.show(again);
    REQUIRE(page.page().reports.size() == 1);
    CHECK(page.page().reports[0].report.points.size() == made_up_report().points.size());
    for (const Record& r : page.page().reports[0].report.points) CHECK(r.state == Record::State::measured);
    // A run with other threads is no part of it.
    again = made_up_report();
    again.machine.threads = 1;
    again.points.resize(3);
    page.show(again);
    CHECK(page.page().reports[0].report.points.size() == 3);
}

TEST_CASE("scale: a plot is laid out anew only where something changed") {
    AtScale page;
    page.show(made_up_report());
    const ScenePath* before = page.page().time.scene.paths.data();
    page.frame(3);
    CHECK(page.page().time.scene.paths.data() == before);
    page.press(Key::t);
    CHECK(page.page().time.made_for.starts_with("light"));
}

TEST_CASE("scale: kernels stand in the order of the ladder, whatever ran first") {
    AtScale page;
    BenchReport report = made_up_report();
    std::reverse(report.points.begin(), report.points.end());
    page.show(report);
    std::vector<std::string> ladder;
    for (const KernelInfo& one : scale_engine(page.state).kernels())
        if (one.most_queries == 0) ladder.push_back(one.name);
    CHECK(page.page().reports[0].kernels() == ladder);
    CHECK(page.page().reports[0].report.points.front().workload.N_q == 512);
}

TEST_CASE("scale: a report of rings is drawn over its ranks, at the chosen length") {
    AtScale page;
    BenchReport report = made_up_report();
    report.points.clear();
    for (const std::int64_t N : {4096, 8192})
        for (const int ranks : {1, 2, 4})
            for (const char* shards : {"zigzag", "contiguous"}) {
                tilewalk::Point p;
                p.device = "cpu", p.kernel = "ring-" + std::to_string(ranks) + "-" + shards;
                p.workload.N_q = p.workload.N_kv = N, p.workload.causal = page.form().causal;
                p.workload.d = page.form().d;
                p.state = tilewalk::Point::State::measured, p.verified = true;
                p.seconds = {1.0 / ranks * double(N) / 4096}, p.max_error = 1, p.error_limit = 2;
                p.ring =
                    RingFigures{.ranks = ranks, .shards = shards, .bytes_between = (ranks - 1) * N * 1024};
                for (int rank = 0; rank < ranks; ++rank)
                    p.ring->of_rank.push_back(
                        {.computing = .1, .waiting = .01, .memory_bytes = N * 4096 / ranks});
                summarise(p);
                report.points.push_back(p);
            }
    page.show(report);
    page.form().N = 4096;
    page.frame(2);
    const Theme& look = theme(ThemeId::dark);
    const Chart time = time_chart(look, page.state), memory = memory_chart(look, page.state);
    CHECK(time.title == "Time over ranks");
    REQUIRE(time.series.size() == 4);  // zig-zag and contiguous: time, waiting
    REQUIRE(time.series[0].points.size() == 3);
    for (std::size_t k = 0; k < 3; ++k) {
        CHECK(time.series[0].points[k].x == 1 << k);
        CHECK(time.series[0].points[k].y == doctest::Approx(1.0 / (1 << k)));
        CHECK(memory.series[0].points[k].y == 4096 * 4096 / (1 << k));
    }
    CHECK(memory.series[0].label == "per rank");
    REQUIRE(memory.series[1].points.size() == 2);  // one rank sends nothing
    CHECK(memory.series[1].points[1].y == 3 * 4096 * 1024);
    page.form().N = 8192;
    CHECK(time_chart(look, page.state).series[0].points[0].y == doctest::Approx(2));
}
