// tilewalk film: what it refuses, the frames, and films read back by ffprobe.
#include "app/cli/ffmpeg.h"
#include "tests/app/cli/run.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>

using namespace tilewalk::test;

namespace {

// Small and short, so that a test takes no minute.
std::vector<std::string> film_of(const std::string& output, const std::vector<std::string>& more = {}) {
    return with({"film", "--size", "640x360", "--fps", "5", "--from", "16", "--to", "17",
                 "--seconds-per-step", "2", "-o", output},
                more);
}
constexpr int film_frames = 20;

void need_ffmpeg() {
    if (std::system("command -v ffmpeg ffprobe >/dev/null") != 0) skip("there is no ffmpeg (package ffmpeg)");
}

// A program of that name which does this, in a folder of its own.
struct OwnProgram {
    Folder folder;
    Variable path;
    explicit OwnProgram(const std::string& script) : path("PATH", folder.path.string() + ":/usr/bin:/bin") {
        const std::string file = folder.file("ffmpeg", "#!/bin/sh\n" + script + "\n");
        ::chmod(file.c_str(), 0755);
    }
};

std::string frame(const Folder& folder, int n) {
    const std::string number = std::to_string(n);
    return contents(folder.file("frames/frame-" + std::string(5 - number.size(), '0') + number + ".png"));
}

}  // namespace

TEST_CASE("film: what is asked wrongly") {
    check_refused(
        {
            {{}, "needs -o"},
            {{"-o", "-"}, "do not go to standard output"},
            {{"-o", "walk.avi"}, "-o is \"walk.avi\", expected a name that ends in .mp4, .webm or .gif"},
            {{"-o", "w.mp4", "--from", "0"}, "--from is \"0\", expected a whole number from 1 to 40"},
            {{"-o", "w.mp4", "--to", "41"}, "--to is \"41\", expected a whole number from 1 to 40"},
            {{"-o", "w.mp4", "--from", "20", "--to", "11"}, "--from is 20, which comes after --to 11"},
            {{"-o", "w.mp4", "--fps", "0"}, "--fps is \"0\", expected a whole number from 1 to 60"},
            {{"-o", "w.mp4", "--size", "100x100"},
             "--size is \"100x100\", expected WxH from 640x360 to 3840x2160"},
            {{"-o", "w.mp4", "--size", "641x361"}, "--size is \"641x361\", expected even numbers for .mp4"},
            {{"-o", "w.webm", "--size", "big"}, "--size is \"big\", expected WxH"},
            {{"-o", "w.gif", "--seconds-per-step", "0.5"}, "expected a number from 1 to 60"},
            {{"-o", "w.mp4", "--theme", "blue"}, "--theme is \"blue\""},
            {{"-o", "w.mp4", "--lesson", "memory"}, "The page memory is no walk"},
            {{"-o", "w.mp4", "--example", "nothing"}, "nothing"},
            {{"-o", "w.mp4", "--seconds-per-step", "60"},
             "The film would last 40 minutes, expected at most 30"},
        },
        {"film"});
    CHECK(contains(output_of({"film", "--help"}), "--seconds-per-step"));
}

TEST_CASE("film: the same frames each time, the last of every step its picture") {
    const Folder one, two;
    for (const Folder* folder : {&one, &two}) {
        const Ran ran = run(film_of(folder->file("frames")));
        CHECK(ran.code == 0);
        CHECK(contains(ran.err, "The 20 frames lie in the folder"));
        CHECK(contains(ran.err, "ffmpeg -framerate 5"));
        CHECK(folder->count() == 1);
    }
    for (int n = 1; n <= film_frames; ++n) CHECK(frame(one, n) == frame(two, n));
    CHECK(frame(one, film_frames + 1).empty());
    CHECK(frame(one, 11) != frame(one, 13));  // it moves
    CHECK(frame(one, 13) != frame(one, 20));
    CHECK(frame(one, 10) != frame(one, 20));
    CHECK(frame(one, 19) == frame(one, 20));  // and rests
    const Ran silent = run(film_of(two.file("silent"), {"--no-subtitles"}));
    CHECK(contents(two.file("silent/frame-00020.png")) != frame(one, 20));
}

TEST_CASE("film: a folder holds the frames of one film") {
    const Folder folder;
    const std::string frames = folder.file("frames");
    run(film_of(frames));
    CHECK_FALSE(frame(folder, film_frames).empty());
    run({"film", "--size", "640x360", "--fps", "5", "--from", "17", "--to", "17", "--seconds-per-step", "2",
         "-o", frames});
    CHECK_FALSE(frame(folder, 10).empty());
    CHECK(frame(folder, 11).empty());
}

TEST_CASE("film: without ffmpeg its frames lie in a folder, and a sentence says so") {
    const Folder folder, empty;
    const Variable path("PATH", empty.path.string());
    const Ran ran = run(film_of(folder.file("walk.mp4")));
    CHECK(ran.code == 0);
    CHECK(contains(ran.err, "There is no ffmpeg here to make the film: its 20 frames lie in the folder"));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(folder.count() == 1);
    CHECK(!contents(folder.file("walk/frame-00020.png")).empty());
}

TEST_CASE("film: what ffmpeg says when it fails, and nothing is left behind") {
    const Folder folder;
    const std::string film = folder.file("walk.mp4", "precious");
    for (const char* script :
         {"cat >/dev/null; echo 'no such codec.' >&2; exit 1", "echo 'no such codec' >&2; exit 3"}) {
        const OwnProgram ffmpeg(script);
        const Ran ran = run(film_of(film));
        CHECK(ran.code == 4);
        CHECK(contains(ran.err, "ffmpeg could not make the film: no such codec."));
        CHECK(contents(film) == "precious");
        CHECK(folder.count() == 1);
    }
    const OwnProgram ffmpeg("cat >/dev/null; printf film >&3");
    CHECK(output_of(film_of(film)).empty());
    CHECK(contents(film) == "film");
    for (const std::string& path : {folder.file("no/such/walk.mp4"), std::string("/dev/full/x.mp4")}) {
        const Ran ran = run(film_of(path));
        CHECK(ran.code == 4);
        CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    }
    CHECK(folder.count() == 1);
}

TEST_CASE("film: Ctrl-C leaves nothing behind") {
    const Folder folder;
    for (const char* name : {"walk.mp4", "frames"}) {
        const std::string command =
            "timeout --signal=INT 1 " TILEWALK_BINARY " film -o '" + folder.file(name) + "' 2>/dev/null";
        CHECK(std::system(command.c_str()) != 0);
        CHECK(folder.count() == 0);
    }
}

TEST_CASE("film: as long, as large and as fast as asked, in every format") {
    need_ffmpeg();
    const Folder folder;
    for (const auto& [ending, codec] : {std::pair{".mp4", "h264"}, {".webm", "vp9"}, {".gif", "gif"}}) {
        const std::string film = folder.file(std::string("walk") + ending), said = folder.file("said");
        CHECK(output_of(film_of(film)).empty());
        const std::string probe = "ffprobe -v error -count_frames -show_entries "
                                  "stream=codec_name,width,height,nb_read_frames,r_frame_rate -of csv=p=0 '" +
                                  film + "' >'" + said + "'";
        REQUIRE(std::system(probe.c_str()) == 0);
        CHECK(contents(said) == std::string(codec) + ",640,360,5/1,20\n");
        const std::string first = contents(film);
        CHECK(output_of(film_of(film)).empty());
        CHECK(contents(film) == first);
    }
}
