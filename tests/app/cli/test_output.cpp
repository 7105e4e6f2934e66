// Outputs that cannot be written: exit code 4, one sentence, nothing left behind.
#include "tests/app/cli/run.h"

#include "app/cli/output.h"
#include "app/render/png.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <ostream>

using namespace tilewalk;
using namespace tilewalk::test;
namespace fs = std::filesystem;

TEST_CASE("output: a file holds exactly what stdout would") {
    const Folder folder;
    const std::string path = folder.file("walk.txt");
    const Ran ran = run({"trace", "-o", path});
    CHECK(ran.code == 0);
    CHECK(ran.out.empty());
    CHECK(ran.err.empty());
    CHECK(contents(path) == run({"trace"}).out);
    CHECK(folder.count() == 1);
}

TEST_CASE("output: a folder that is not there, a folder in the file's place, a full device") {
    const Folder folder;
    for (const std::string& path : {folder.file("no/such/folder.txt"), folder.path.string(),
                                    std::string("/dev/full"), folder.file(std::string(300, 'n'))}) {
        for (const char* format : {"text", "json", "md"}) {
            const Ran ran = run({"trace", "--format", format, "-o", path});
            CAPTURE(ran.err);
            CHECK(ran.code == 4);
            CHECK(ran.out.empty());
            CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
        }
        CHECK(run({"render", "-o", path}).code == 4);
    }
    CHECK(folder.count() == 0);
}

TEST_CASE("output: bad input leaves the old file alone") {
    const Folder folder;
    const std::string path = folder.file("walk.json", "precious");
    CHECK(run({"trace", "--example", "nothing", "-o", path}).code == 2);
    CHECK(run({"render", "--step", "99", "-o", path}).code == 2);
    CHECK(contents(path) == "precious");
    CHECK(folder.count() == 1);
}

TEST_CASE("output: a writer that fails half way leaves the old file alone") {
    const Folder folder;
    const std::string path = folder.file("old", "precious");
    const auto failing = [](std::ostream& out) {
        out << "half";
        out.setstate(std::ios::badbit);
    };
    CHECK(write_to_file(path, failing).has_value());
    CHECK(contents(path) == "precious");
    CHECK(write_to_file(folder.file("new"), failing).has_value());
    CHECK(folder.count() == 1);
}

TEST_CASE("output: a link stays a link and permissions stay") {
    const Folder folder;
    const std::string target = folder.file("target", "old"), link = folder.file("link");
    fs::create_symlink(target, link);
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
    CHECK(!write_to_file(link, [](std::ostream& out) { out << "new"; }));
    CHECK(fs::is_symlink(link));
    CHECK(contents(target) == "new");
    CHECK(fs::status(target).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("output: a stream that takes nothing") {
    std::ostringstream err;
    std::ofstream full("/dev/full");
    for (std::vector<std::string> words : {std::vector<std::string>{"trace"},
                                           {"examples"},
                                           {"lessons"},
                                           {"devices"},
                                           {"--help"},
                                           {"--version"}}) {
        words.insert(words.begin(), "tilewalk");
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        full.clear();
        CHECK(run_cli(static_cast<int>(argv.size()), argv.data(), full, err, no_window) == 4);
    }
    CHECK(contains(err.str(), "The standard output could not be written"));
}

TEST_CASE("render: one step, with size, theme and pixel ratio") {
    const Folder folder;
    const std::string dark = folder.file("dark.png"), light = folder.file("light.png");
    CHECK(run({"render", "--step", "17", "--size", "1024x640", "-o", dark}).code == 0);
    CHECK(run({"render", "--step", "17", "--pixel-ratio", "1.5", "--theme", "light", "-o", light}).code == 0);
    const auto picture = decode_png(contents(dark)), other = decode_png(contents(light));
    REQUIRE(picture);
    REQUIRE(other);
    CHECK(picture->width == 1024);
    CHECK(picture->height == 640);
    CHECK(other->width == 2400);
    CHECK(other->rgba[other->rgba.size() - 4] > picture->rgba[picture->rgba.size() - 4]);
    CHECK(folder.count() == 2);
}

TEST_CASE("render: every step into a folder") {
    const Folder folder;
    const std::string all = folder.file("steps");
    const Ran ran = run({"render", "--random", "1x1", "--step", "all", "--size", "1024x640", "-o", all});
    CHECK(ran.code == 0);
    CHECK(ran.out.empty());
    CHECK(fs::exists(all + "/step-001.png"));
    CHECK(fs::exists(all + "/step-012.png"));
    CHECK(std::distance(fs::directory_iterator(all), fs::directory_iterator()) == 12);
    CHECK(contents(all + "/step-001.png") != contents(all + "/step-012.png"));
}

TEST_CASE("render: a failure half way takes the new pictures back") {
    const Folder folder;
    const std::string all = folder.file("steps");
    fs::create_directories(all + "/step-003.png");
    std::ofstream(all + "/step-001.png") << "old";
    const Ran ran = run({"render", "--random", "1x1", "--step", "all", "--size", "1024x640", "-o", all});
    CHECK(ran.code == 4);
    CHECK(fs::exists(all + "/step-001.png"));
    CHECK(!fs::exists(all + "/step-002.png"));
    CHECK(run({"render", "--step", "all", "-o", folder.file("plain", "file")}).code == 4);
    CHECK(run({"render", "--step", "all", "-o", folder.file("no/such")}).code == 4);
}
