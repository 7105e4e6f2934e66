// The page "At scale": its form, a run, files, keys.
#include "app/ui/shell/frame.h"
#include "core/bench/findings.h"
#include "cuda/host/gpu.h"
#include "tests/app/ui/chapters/at_scale.h"
#include "tests/core/bench/fake_engine.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

// As in a browser
struct Float32Alone : FakeEngine {
    std::optional<std::string> why_not(const KernelInfo& kernel, const Workload& w) const override {
        if (w.dtype != DType::f32) return "it knows float32 alone";
        return FakeEngine::why_not(kernel, w);
    }
};

}  // namespace

TEST_CASE("scale: the form makes the request") {
    AtScale page;
    page.click("scale-direction/backward");
    page.click("scale-d/128");
    page.click("scale-heads/more");
    page.click("scale-causal");
    page.click("scale-type/bf16");
    page.click("scale-lengths");
    page.click("to 65536");
    BenchRequest request = bench_request(page.form());
    CHECK(request.workload.direction == Direction::backward);
    CHECK(request.workload.d == 128);
    CHECK(request.workload.heads == 9);
    CHECK(request.workload.kv_heads == 9);
    CHECK(request.workload.causal);
    CHECK(request.workload.dtype == DType::bf16);
    CHECK(request.lengths == std::vector<std::int64_t>{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536});
    page.form().preset = static_cast<int>(length_presets.size());
    page.frame(2);
    page.click("scale-own-lengths");
    page.retype("300, 20 300");
    CHECK(bench_request(page.form()).lengths == std::vector<std::int64_t>{20, 300});
    page.press(Key::escape);  // the field would bring its own text back
    for (const char* text : {"", "0", "x", "12x", "-3", "1.5", "99999999999999999999", "1048577", "3;4"}) {
        page.use_lengths(text);
        CHECK(bench_request(page.form()).lengths.empty());
        page.frame();
    }
    start_bench(page.state);
    CHECK_FALSE(page.page().running);
    CHECK(contains(page.state.notice, "no list of lengths"));
}

TEST_CASE("scale: decoding has a number of queries, and K and V as many heads as divide the others") {
    AtScale page;
    CHECK_FALSE(page.shows("queries"));
    page.click("scale-direction/decode");
    page.click("scale-queries/more");
    BenchRequest request = bench_request(page.form());
    CHECK(request.workload.direction == Direction::forward);
    CHECK(request.queries == 2);
    page.check_shows({"Split K and V, then combine", "Read K and V once", "queries"});
    page.click("scale-kv-heads/less");  // 8 → 7, which is no divisor
    CHECK(kv_heads_of(page.form()) == 4);
    page.click("scale-kv-heads/less");
    CHECK(kv_heads_of(page.form()) == 2);
    page.click("scale-kv-heads/more");
    page.click("scale-kv-heads/more");
    CHECK(kv_heads_of(page.form()) == 8);
    CHECK(page.form().kv_heads == 0);
    page.click("scale-lengths");
    page.click("to 1048576");
    CHECK(bench_request(page.form()).lengths.back() == 1 << 20);
    // Nobody waits for as many queries.
    page.click("scale-direction/forward");
    request = bench_request(page.form());
    CHECK(request.lengths.back() == 65536);
    CHECK_FALSE(request.queries);
    CHECK_FALSE(page.shows("Split K and V"));
}

TEST_CASE("scale: a run of decoding is shown with the rate of reading") {
    AtScale page;
    page.use_lengths("8, 20");
    page.form().d = 8, page.form().heads = 2, page.form().decode = true;
    page.press(Key::space);
    page.let_run();
    REQUIRE(page.page().reports.size() == 1);
    CHECK(page.page().reports[0].report.points.size() == 2 * 5);
    for (const Record& r : page.page().reports[0].report.points)
        CHECK_MESSAGE(r.state == Record::State::measured, r.reason);
    page.check_shows({"1 query", "GB/s", "% of reading"});
    // So few keys are read in less than a microsecond: either may be the faster
    const std::string found = finding(page.page().reports[0].report);
    CHECK_MESSAGE((contains(found, "% of reading speed.") || contains(found, "than reading K and V alone.")),
                  found);
    page.click("scale-measure/GB/s");
    page.form().measure = 2;
    page.frame(2);
    for (const SceneMark& mark : page.page().time.scene.marks) {
        const Record& record = *record_of(page.page(), mark.record);
        CHECK(mark.y == doctest::Approx(page.page().time.scene.Y(
                            100 * of_reading(page.page().reports[0].report, record))));
    }
    page.form().kernel = "split-kv", page.form().card = true;
    page.frame(2);
    CHECK(page.shows("% of reading them"));
    // What the form does not ask for is not shown.
    page.form().queries = 2;
    page.frame(2);
    CHECK(page.page().reports.empty());
}

TEST_CASE("scale: the ladder of decoding has all its kernels in the smallest window") {
    AtScale page({1024, 640});
    page.form().decode = true;
    page.frame(2);
    for (const KernelInfo& kernel : scale_engine(page.state).kernels())
        CHECK_MESSAGE(page.look_for("rung " + kernel.name), kernel.name);
}

TEST_CASE("scale: a run in 16 bits is told and kept as such") {
    AtScale page;
    page.use_lengths("8, 20");
    page.form().d = 8, page.form().heads = 2;
    for (const char* const type : {"f32", "bf16", "f16"}) {
        page.click(std::string("scale-type/") + type);
        page.press(Key::space);
        page.let_run();
        REQUIRE(page.page().reports.size() == 1);
        const BenchReport& report = page.page().reports[0].report;
        CHECK(report.points.size() == 2 * 3);
        for (const Record& r : report.points) {
            CHECK_MESSAGE(r.state == Record::State::measured, r.reason);
            CHECK(std::string(name_of(r.workload.dtype)) == type);
        }
        CHECK(page.shows(std::string("forward, ") + type + ", d = 8"));
    }
    CHECK(page.page().kept.size() == 3);
}

TEST_CASE("scale: where kernels take float32 alone there is no other type, and the reason") {
    AtScale page;
    CHECK(page.look_for("scale-type/bf16"));
    page.page().make_engine = [](int) { return std::make_unique<Float32Alone>(); };
    page.page().engine.reset();
    page.frame(2);
    CHECK(page.shows("it knows float32 alone"));
    CHECK(page.look_for("scale-type/f32"));
    CHECK_FALSE(page.look_for("scale-type/bf16"));
    // Opened results of another type are shown, and there is a way back.
    page.record({.dtype = DType::bf16}, "halves.json");
    CHECK(page.page().reports.size() == 1);
    CHECK(page.look_for("scale-type/bf16"));
    page.click("scale-type/f32");
    CHECK(page.page().reports.empty());
    CHECK_FALSE(page.look_for("scale-type/bf16"));
}

TEST_CASE("scale: files go through the hooks, and buttons without one say why") {
    AtScale page;
    page.state.hooks.load_results = nullptr;
    page.state.hooks.save_results = nullptr;
    CHECK(contains(std::string(why_no_export(page.state, "csv")), "cannot be written"));
    std::vector<std::string> wrote;
    page.state.hooks.save_results = [&](const std::string& path, const std::vector<BenchReport>& reports,
                                        const std::string& kind) -> Result<void> {
        wrote.push_back(kind + " " + path + " " + std::to_string(reports.size()));
        return {};
    };
    page.state.hooks.save_plot = [&](const std::string& path, const ChartScene& scene, const Theme&,
                                     const std::string& kind) -> Result<void> {
        wrote.push_back(kind + " " + path + " " + std::to_string(scene.panels.size()));
        return Failure{"The disk is full."};
    };
    page.state.hooks.load_results =
        [](const std::vector<std::string>& paths) -> Result<std::vector<BenchReport>> {
        if (paths[0] == "bad.json") return Failure{"bad.json is no results file."};
        return std::vector<BenchReport>{made_up_report({.source = paths[0]})};
    };
    CHECK(why_no_export(page.state, "csv"));  // nothing to write yet
    page.show(made_up_report());
    fill_in(page.form().path, "here/run.json");
    for (const char* kind : {"csv", "json", "report", "svg", "png"})
        page.click(std::string("export ") + kind);
    CHECK(wrote == std::vector<std::string>{"csv here/run.csv 1", "json here/run.json 1",
                                            "report here/run.md 1", "svg here/run.svg 2",
                                            "png here/run.png 2"});
    CHECK(page.state.notice == "The disk is full.");
    page.click("scale-open");
    CHECK(page.page().reports.size() == 2);
    CHECK(page.form().report == 1);
    page.state.dropped = {"bad.json"};
    page.frame(2);
    CHECK(page.state.notice == "bad.json is no results file.");
    CHECK(page.page().reports.size() == 2);
    page.state.dropped = {"good.json"};
    page.frame(2);
    CHECK(page.page().reports.size() == 3);
}

TEST_CASE("scale: frames come while a run is under way, and not otherwise") {
    AtScale page;
    page.show(made_up_report());
    page.state.notice.clear();
    page.frame(30, .1f);
    CHECK(scale_idle_seconds(page.state) > 1e6);
    CHECK(idle_seconds(page.state) > 1e6);
    page.page().running = true;
    CHECK(idle_seconds(page.state) == doctest::Approx(.1));
    page.page().running = false;
}

TEST_CASE("scale: a run fills the page while it goes on, and ends") {
    AtScale page;
    page.use_lengths("8, 20");
    page.form().d = 8, page.form().heads = 2;
    page.press(Key::space);
    CHECK(page.page().running);
    CHECK(page.shows("The first point is on its way."));
    page.press(Key::space);  // no second one
    page.let_run();
    CHECK_FALSE(page.page().running);
    REQUIRE(page.page().reports.size() == 1);
    const BenchReport& report = page.page().reports[0].report;
    CHECK(report.complete);
    CHECK(report.points.size() ==
          2 * chosen_kernels(bench_request(page.form()), scale_engine(page.state)).size());
    for (const Record& r : report.points) CHECK_MESSAGE(r.state == Record::State::measured, r.reason);
    CHECK(page.page().time.scene.marks.size() == report.points.size());
    CHECK(page.shows(finding(report).substr(0, 20)));
    page.press(Key::enter);  // again
    page.let_run();
    CHECK(page.page().reports.size() == 1);
}

TEST_CASE("scale: Escape cancels at once and what was measured stays") {
    AtScale page;
    page.use_lengths("8, 2048");
    page.press(Key::space);
    for (int tries = 0; tries < 2000 && page.page().reports.empty(); ++tries) page.wait();
    page.press(Key::escape);
    CHECK(page.page().bench->cancelled());
    page.let_run();
    CHECK_FALSE(page.page().cancelling);
    REQUIRE(page.page().reports.size() == 1);
    CHECK_FALSE(page.page().reports[0].report.complete);
    CHECK(page.shows("Cancelled"));
    CHECK(page.state.page == Page::scale);
}

TEST_CASE("scale: the keys of a walk do nothing, the others what they do everywhere") {
    AtScale page;
    page.show(made_up_report());
    check_no_walk(page, "g i c m b x d e z");
    page.press(Key::s);
    page.press("ctrl+s");
    CHECK(page.state.saving);
    page.press(Key::escape);
    CHECK_FALSE(page.state.saving);
    page.press("ctrl+c");
    const std::string copied = ImGui::GetClipboardText();
    CHECK(copied.starts_with(finding(made_up_report())));
    CHECK(contains(copied, "standard\t"));
    check_common_keys(page);
    page.press("shift+ctrl+tab");
    CHECK(page.state.page == Page::memory);
}

TEST_CASE("scale: where there is a GPU the form chooses between it and the CPU") {
    AtScale page;
    CHECK_FALSE(page.shows("device"));
    page.page().devices->gpu = "Test GPU";
    page.page().make_gpu_engine = [] { return gpu::make_engine(gpu::Where::emulator); };
    page.frame(2);
    page.check_shows({"Test GPU", "device"});
    CHECK_FALSE(page.shows("f5-flash2"));
    page.click("scale-device/GPU");
    const BenchRequest request = bench_request(page.form());
    CHECK(request.workload.dtype == DType::bf16);
    CHECK(request.least_runs == 30);
    CHECK(scale_engine(page.state).device() == "emulator");
    CHECK(page.shows("Run on GPU"));
    CHECK_FALSE(page.shows("Run on CPU"));
    page.click("scale-type/f32");
    CHECK(bench_request(page.form()).workload.dtype == DType::f32);
    // Of the ladder those of one direction
    std::size_t forward = 0;
    for (const KernelInfo& kernel : scale_engine(page.state).kernels())
        forward += kernel.direction == Direction::forward && kernel.most_queries == 0;
    CHECK(page.shows(std::to_string(5 * forward) + " points: " + std::to_string(forward) + " kernels at N"));
    page.click("scale-device/CPU");
    CHECK(bench_request(page.form()).workload.dtype == DType::f32);
    CHECK(bench_request(page.form()).warm_up == 0);
    CHECK(scale_engine(page.state).device() == "cpu");
}

TEST_CASE("scale: a GPU that cannot be used says why") {
    AtScale page;
    page.form().gpu = true;
    page.page().make_gpu_engine = [] { return gpu::make_engine(gpu::Where::cuda); };
    if (!gpu::probe().devices.empty()) return skip("there is a GPU");
    start_bench(page.state);
    CHECK_FALSE(page.page().running);
    CHECK(page.state.notice.starts_with("There is no GPU to run on: "));
}
