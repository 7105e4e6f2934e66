#include "tests/app/cli/run.h"

#include "app/cli/arguments.h"
#include "app/io/examples.h"
#include "app/ui/state/state.h"
#include "core/base/version.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <sstream>

#include <nlohmann/json.hpp>

using namespace tilewalk::test;
using nlohmann::json;

TEST_CASE("cli: the version is that of the build") {
    CHECK(output_of({"--version"}) == std::string("tilewalk ") + version + "\n");
    const std::string build = contents(TILEWALK_SOURCE_DIR "/CMakeLists.txt");
    CHECK(contains(build, std::string("project(tilewalk VERSION ") + version + " "));
}

TEST_CASE("cli: what stands behind an option in the help begins in one column") {
    for (const char* command : {"render", "trace", "film", "export"}) {
        std::istringstream help(output_of({command, "--help"}));
        // The parser fills up by bytes: letters of several would shift the rest of the line.
        for (std::string line; std::getline(help, line);)
            if (line.starts_with("  -"))
                CHECK_MESSAGE(std::ranges::all_of(line.substr(0, 38), [](char c) { return c > 0; }), line);
    }
}

TEST_CASE("cli: help as a word is the help, of a command too") {
    CHECK(output_of({"help"}) == output_of({"--help"}));
    CHECK(output_of({"help", "trace"}) == output_of({"trace", "--help"}));
}

TEST_CASE("cli: help names what there is and nothing that is not there") {
    const std::string help = output_of({"--help"});
    check_contains(help, {"trace",           "render",  "compare",   "bench",    "kernels",  "examples",
                          "lessons",         "devices", "--example", "--load",   "--random", "--causal",
                          "--theme",         "model",   "--row",     "--tokens", "--break",  "--precision",
                          "--learning-rate", "--order", "--notation"});
    for (const char* not_there : {"gif", "--frames"})
        CHECK_MESSAGE(!contains(help, not_there), std::string(not_there));
    for (const char* command : {"trace", "render", "export", "compare", "model", "bench", "examples",
                                "lessons", "kernels", "devices", "manual"})
        CHECK(contains(output_of({command, "--help"}), std::string("tilewalk ") + command));
}

TEST_CASE("cli: examples as table and as JSON") {
    const std::string text = output_of({"examples"});
    const json parsed = json::parse(output_of({"examples", "--format", "json"}));
    REQUIRE(parsed["examples"].size() == examples().size());
    for (std::size_t n = 0; n < examples().size(); ++n) {
        check_contains(text, {examples()[n].name, examples()[n].title});
        CHECK(parsed["examples"][n]["name"] == examples()[n].name);
        CHECK(parsed["examples"][n]["n_kv"] == examples()[n].N_kv());
    }
}

TEST_CASE("cli: lessons as text and as JSON") {
    const json parsed = json::parse(output_of({"lessons", "--format", "json"}));
    REQUIRE(parsed["lessons"].size() == lessons().size());
    for (std::size_t n = 0; n < lessons().size(); ++n) {
        CHECK(parsed["lessons"][n]["id"] == lessons()[n].get().id);
        CHECK(contains(output_of({"lessons"}), lessons()[n].get().title));
    }
}

TEST_CASE("cli: devices, with or without a GPU") {
    check_contains(output_of({"devices"}), {"CPU   ", "CUDA  ", "for checking; never timed"});
    const json parsed = json::parse(output_of({"devices", "--format", "json"}));
    CHECK(parsed["schema"] == "tilewalk-devices-1");
    CHECK(parsed["cpu"]["threads"] >= 1);
    CHECK(parsed["cuda"]["devices"].empty() == parsed["cuda"]["why_none"].is_string());
}

namespace {

const auto quiet = looking([](ui::AppState&) {});

}  // namespace

TEST_CASE("cli: every option of the problem is one that names a problem or changes it") {
    int looked_at = 0;
    for (const ToldOption& option : told_commands()[1].options) {
        if (option.heading == "Options") continue;
        const std::string name = option.names.substr(option.names.find("--"));
        std::vector<const char*> words{"tilewalk", "trace", name.c_str()};
        if (!option.type.empty()) words.push_back("1");
        const auto read = parse_arguments(static_cast<int>(words.size()), words.data());
        CAPTURE(name);
        REQUIRE_MESSAGE(read, read.error);
        CHECK_FALSE(read->problem.empty());
        ++looked_at;
    }
    CHECK(looked_at > 40);
}

TEST_CASE("cli: the window opens with what was asked for") {
    const OwnSettings own;
    ui::AppState seen;
    WindowOptions options;
    const auto window = [&](ui::AppState& state, const WindowOptions& given) {
        seen = state;
        options = given;
        return 0;
    };
    Ran ran = run({}, window);
    CHECK(ran.code == 0);
    CHECK(ran.out.empty());
    REQUIRE(seen.trace);
    CHECK(seen.problem->name == "worked-4x4");
    CHECK(std::string(seen.lesson->id) == "flash-forward");
    CHECK(seen.cursor.step == 0);
    CHECK(seen.examples.size() == examples().size());
    CHECK(seen.hooks.load_files);
    CHECK(seen.hooks.save_problem);
    CHECK(options.frames == 0);

    ran = run({"--example", "causal-8", "--step", "5", "--theme", "light", "--presenter", "--frames", "7",
               "--screenshot", "x.png", "--timing"},
              window);
    CHECK(ran.code == 0);
    CHECK(seen.problem->name == "causal-8");
    CHECK(seen.cursor == at_step(*seen.trace, 4));
    CHECK(seen.step_age > 1000);
    CHECK(seen.settings.theme == ui::ThemeId::light);
    CHECK(seen.presenter);
    CHECK(options.frames == 7);
    CHECK(options.screenshot == "x.png");
    CHECK(options.timing);
}

TEST_CASE("cli: an example that was changed no longer says what holds for the example") {
    const OwnSettings own;
    const Problem& example = *find_example("ties");
    Problem seen;
    const auto window = looking([&](ui::AppState& state) { seen = *state.problem; });
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--br", "1"},
                                                  {"--bc", "3"},
                                                  {"--causal"},
                                                  {"--window", "1"},
                                                  {"--scale", "sqrt"}}) {
        CAPTURE(words.front());
        run(with({"--example", "ties"}, words), window);
        CHECK(seen.name.empty());
        CHECK(seen.watch.empty());
        CHECK(seen.title == example.title + " (changed)");
    }
    // Neither what is as it was nor the bytes that are counted make it another problem.
    run({"--example", "ties", "--br", std::to_string(example.Br), "--element-bytes", "2"}, window);
    CHECK(seen.name == "ties");
    CHECK(seen.watch == example.watch);
    CHECK(!contains(run({"trace", "--example", "ties", "--br", "1"}).out, "Watch:"));
}

TEST_CASE("cli: the window's exit code is the program's") {
    const OwnSettings own;
    CHECK(run({}).code == 3);
    CHECK(run({"--example", "ties"}).code == 3);
}

TEST_CASE("cli: a bare start reopens the problem of the last time") {
    const OwnSettings own;
    std::string title;
    const auto edit = looking([](ui::AppState& state) {
        Problem changed = *state.problem;
        changed.Q(0, 0) = 0.1;
        changed.name.clear();
        changed.title = "Mine";
        ui::set_problem(state, changed);
        state.settings.theme = ui::ThemeId::contrast;
    });
    const auto look = looking([&](ui::AppState& state) {
        title = state.problem->title + (state.problem->Q(0, 0) == 0.1 ? " 0.1" : "");
    });
    const auto settings = [&] { return json::parse(contents(own.folder.file("tilewalk/settings.json"))); };
    run({}, edit);
    CHECK(settings()["example"] == "");
    CHECK(contains(settings()["problem_json"].get<std::string>(), "Mine"));
    run({}, look);
    CHECK(title == "Mine 0.1");
    run({"--frames", "1"}, look);
    CHECK(title == "4 × 4 worked example");
    // An example as it is comes back by its name, so that a later version may tell it better.
    run({"--example", "ties"}, quiet);
    CHECK(settings()["example"] == "ties");
    CHECK(settings()["problem_json"] == "");
    run({}, look);
    CHECK(title == "Ties");
    ui::ThemeId theme{};
    run({}, looking([&](ui::AppState& state) { theme = state.settings.theme; }));
    CHECK(theme == ui::ThemeId::contrast);
}

TEST_CASE("settings that cannot be read are announced, and kept beside the new ones") {
    const OwnSettings own;
    run({}, quiet);
    const std::string path = own.folder.file("tilewalk/settings.json", "{\"theme\": light");
    std::string notice;
    run({}, looking([&](ui::AppState& state) { notice = state.notice; }));
    CHECK(contains(notice, "are not used"));
    CHECK(contents(path + ".unread") == "{\"theme\": light");
    CHECK(json::accept(contents(path)));
}
