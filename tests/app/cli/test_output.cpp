// Outputs that cannot be written: exit code 4, one sentence, nothing left behind.
#include "tests/app/cli/run.h"

#include "tests/app/ui/kit/xml_check.h"
#include "tests/app/ui/png_reader.h"
#include "tests/good.h"

#include <algorithm>

#include <sys/wait.h>

using namespace tilewalk::test;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> every_step = {"render", "--random", "1x1",      "--step",
                                             "all",    "--size",   "1024x640", "-o"};

std::ptrdiff_t count_of(const std::string& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_CASE("output: a file holds exactly what stdout would") {
    const Folder folder;
    const std::string path = folder.file("walk.txt");
    CHECK(output_of({"trace", "-o", path}) == "");
    CHECK(contents(path) == output_of({"trace"}));
    CHECK(folder.count() == 1);
}

TEST_CASE("output: a folder that is not there, a folder in the file's place, a full device") {
    const Folder folder;
    for (const std::string& path : {folder.file("no/such/folder"), folder.path.string(),
                                    std::string("/dev/full"), folder.file(std::string(300, 'n'))}) {
        for (const char* format : {"text", "json", "md"}) {
            const Ran ran = run({"trace", "--format", format, "-o", path});
            CAPTURE(ran.err);
            CHECK(ran.code == 4);
            CHECK(ran.out.empty());
            CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
        }
        CHECK(run({"render", "-o", path}).code == 4);
        CHECK(run({"bench", "--seqlen", "16", "-o", path}).code == 4);
    }
    CHECK(folder.count() == 0);
}

TEST_CASE("output: a picture waits for what its keys begin, so it is the same each time") {
    const Folder folder;
    const auto drawn = [&](const char* name) {
        output_of({"render", "--step", "17", "--keys", "9", "-o", folder.file(name)});
        return contents(folder.file(name));
    };
    const std::string picture = drawn("first.svg");
    CHECK(contains(picture, "Rounding explains"));
    CHECK(drawn("second.svg") == picture);
}

TEST_CASE("output: bad input leaves the old file alone") {
    const Folder folder;
    const std::string path = folder.file("walk.json", "precious");
    CHECK(run({"trace", "--example", "nothing", "-o", path}).code == 2);
    CHECK(run({"render", "--step", "99", "-o", path}).code == 2);
    CHECK(contents(path) == "precious");
    CHECK(folder.count() == 1);
}

TEST_CASE("output: \"-\" is no file") {
    fs::remove("-");
    check_refused({{{"trace", "-o", "-"}, "leave -o out to write to standard output"},
                   {{"render", "--output=-"}, "-"}});
    CHECK(!fs::exists("-"));
}

TEST_CASE("output: a path through a file, and a very long one, have sentences of our own") {
    const Folder folder;
    const std::string file = folder.file("file", "old");
    for (const std::vector<std::string>& words : {std::vector<std::string>{"trace", "-o", file + "/x"},
                                                  {"render", "-o", file + "/x"},
                                                  {"render", "--step", "all", "-o", file + "/x"}}) {
        const Ran ran = run(words);
        CHECK(ran.code == 4);
        CHECK(contains(ran.err, "a part of the path is a file, not a folder"));
    }
    CHECK(contains(run({"render", "--step", "all", "-o", file}).err, "there is a file of that name"));
    CHECK(contains(run({"trace", "-o", folder.file("no/x")}).err, "its folder does not exist."));
    CHECK(contains(run({"trace", "-o", "/proc/x.txt"}).err,
                   "/proc/x.txt: cannot write the file: its folder takes no files."));
    CHECK(contains(run({"render", "--step", "all", "-o", "/proc/x"}).err,
                   "/proc/x: cannot make the folder: the folder around it takes none."));
    CHECK(contains(run({"render", "--step", "all", "-o", folder.file("no/x")}).err,
                   "the folder around it does not exist."));
    const std::string deep = folder.path.string() + repeated("/folder", 500);
    const Ran ran = run({"trace", "-o", deep});
    CHECK(ran.code == 4);
    CHECK(ran.err.size() < 300);
    CHECK(run({"trace", "--load", deep}).err.size() < 300);
}

TEST_CASE("output: a limit on the size of files is a failure like others") {
    const Folder folder;
    const std::string path = folder.file("walk.txt", "precious");
    const std::string command =
        "ulimit -f 8; exec " TILEWALK_BINARY " trace -o " + path + " 2>" + path + ".err";
    const int status = std::system(("sh -c '" + command + "'").c_str());
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 4);
    CHECK(contains(contents(path + ".err"), "the file would be larger than allowed"));
    CHECK(contents(path) == "precious");
    CHECK(folder.count() == 2);
}

TEST_CASE("output: a reader that goes away is no news") {
    const Folder folder;
    const std::string err = folder.file("err");
    // More than a pipe holds, so that the reader is gone before the end.
    const std::string command = "{ " TILEWALK_BINARY " trace --random 64x16 2>" + err + "; echo $? >" +
                                folder.file("code") + "; } | head -1 >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
    CHECK(contents(folder.file("code")) == "4\n");
    CHECK(contents(err).empty());
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
        CHECK(run_cli(static_cast<int>(argv.size()), argv.data(), no_window, full, err) == 4);
    }
    CHECK(contains(err.str(), "The standard output could not be written"));
}

TEST_CASE("render: one step, with size, theme and pixel ratio") {
    const Folder folder;
    const std::string dark = folder.file("dark.png"), light = folder.file("light.png");
    output_of({"render", "--step", "17", "--size", "1024x640", "-o", dark});
    output_of({"render", "--step", "17", "--pixel-ratio", "1.5", "--theme", "light", "-o", light});
    const Image picture = good(decode_png(contents(dark))), other = good(decode_png(contents(light)));
    CHECK(picture.width == 1024);
    CHECK(picture.height == 640);
    CHECK(other.width == 2400);
    CHECK(other.rgba[other.rgba.size() - 4] > picture.rgba[picture.rgba.size() - 4]);
    CHECK(folder.count() == 2);
}

TEST_CASE("render: keys are pressed before the picture, and typed where a field has the caret") {
    const Folder folder;
    const std::string path = folder.file("keys.svg");
    const auto drawn = [&](const char* step, const char* keys) {
        output_of({"render", "--step", step, "--keys", keys, "-o", path});
        return contents(path);
    };
    CHECK(contains(drawn("18", "shift+down w"), "13.44246454707514"));
    CHECK(contains(drawn("1", "k m a s k"), "causal mask"));
    CHECK(contains(drawn("15", "right ctrl+right shift+n"), "The maximum rises"));
    check_refused({{{"--keys", "down foo"}, "--keys has \"foo\", expected keys"},
                   {{"--keys", "w", "--step", "all"}, "leave out 'all'"}},
                  {"render", "-o", path});
}

TEST_CASE("render: the speaker's view, alone and beside the stage, and its keys") {
    const Folder folder;
    const std::string path = folder.file("view.svg");
    const auto drawn = [&](const char* where, const char* keys) {
        output_of(
            {"render", "--step", "15", "--speaker", where, "--keys", keys, "--size", "1280x720", "-o", path});
        return contents(path);
    };
    const std::string window = drawn("window", "right"), panel = drawn("panel", "right");
    for (const std::string& view : {window, panel}) {
        CHECK(contains(view, "Why this step is there"));
        CHECK(contains(view, "10:15"));
        CHECK(contains(view, "Step 17: Row sum"));
    }
    CHECK(contains(window, "16/40"));
    CHECK(contains(panel, "16 / 40"));
    CHECK(drawn("auto", "right") == panel);
    CHECK(drawn("window", "right") == window);  // its clock stands still
    check_refused({{{"--speaker", "screen"}, "expected auto, window or panel"}}, {"render", "-o", path});
}

TEST_CASE("render: every step into a folder") {
    const Folder folder;
    const std::string all = folder.file("steps");
    CHECK(output_of(with(every_step, {all})) == "");
    CHECK(fs::exists(all + "/step-001.png"));
    CHECK(fs::exists(all + "/step-012.png"));
    CHECK(count_of(all) == 12);
    CHECK(contents(all + "/step-001.png") != contents(all + "/step-012.png"));
}

TEST_CASE("render: a failure half way takes the new pictures back") {
    const Folder folder;
    const std::string all = folder.file("steps");
    fs::create_directories(all + "/step-003.png");
    folder.file("steps/step-001.png", "old");
    CHECK(run(with(every_step, {all})).code == 4);
    CHECK(contents(all + "/step-001.png") == "old");
    CHECK(!fs::exists(all + "/step-002.png"));
    CHECK(count_of(all) == 2);
    CHECK(run({"render", "--step", "all", "-o", folder.file("plain", "file")}).code == 4);
    CHECK(run({"render", "--step", "all", "-o", folder.file("no/such")}).code == 4);
}

TEST_CASE("render: SVG by the ending or by --format, one step or all of them") {
    const Folder folder;
    const std::string by_ending = folder.file("step.SVG"), by_name = folder.file("step.picture"),
                      png = folder.file("png.svg"), all = folder.file("steps");
    output_of({"render", "--step", "17", "--size", "1280x720", "-o", by_ending});
    output_of({"render", "--step", "17", "--size", "1280x720", "--format", "svg", "-o", by_name});
    CHECK(contents(by_ending) == contents(by_name));
    const Xml xml = read_xml(contents(by_ending));
    REQUIRE_MESSAGE(xml.error.empty(), xml.error);
    CHECK(xml.elements[0].name == "svg");
    CHECK(xml.elements[0].attributes.at("viewBox") == "0 0 1280 720");
    const auto shows = [&](const char* words) {
        return std::any_of(xml.elements.begin(), xml.elements.end(),
                           [&](const XmlElement& e) { return e.name == "text" && e.text == words; });
    };
    CHECK(shows("Row sum"));
    CHECK(contains(contents(by_ending), "1.639"));
    output_of({"render", "--format", "png", "-o", png});
    CHECK(decode_png(contents(png)));

    output_of(with(every_step, {all, "--format", "svg"}));
    CHECK(count_of(all) == 12);
    CHECK(read_xml(contents(all + "/step-012.svg")).error.empty());
    CHECK(run({"render", "-o", folder.file("no/such.svg")}).code == 4);
}
