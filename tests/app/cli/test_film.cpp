// tilewalk film: what it refuses, the frames, and films read back by ffprobe.
#include "app/cli/ffmpeg.h"
#include "tests/app/cli/run.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <sys/wait.h>

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

// Two stops at one step, the second with four times the words; then a page.
std::string own_tour(const Folder& folder) {
    return folder.file("tour.md",
                       "# A tour; with = and #\n\n# Sums\n\n## The sum\n- problem: worked-4x4\n"
                       "- lesson: flash-forward\n- step: row_sum i=0 j=1\n- highlight: matrix l\n\n"
                       "one two three four five six seven eight nine ten\n\n"
                       "## Again; = #\n- highlight: matrix l\n\n"
                       "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 "
                       "30 31 32 33 34 35 36 37 38 39 40\n\n"
                       "# Pages\n\n## Memory\n- lesson: memory\n- highlight: panel Scores\n\nIt grows.\n");
}
std::vector<std::string> film_of_tour(const Folder& folder, const std::string& output,
                                      const std::vector<std::string>& more = {}) {
    return with({"film", "--tour", own_tour(folder), "--size", "640x360", "--fps", "4", "-o", output}, more);
}
int frames_said(const std::string& sentence) {
    const std::size_t at = sentence.find(" frames lie");
    return at == std::string::npos ? 0 : std::atoi(sentence.c_str() + sentence.rfind(' ', at - 1));
}

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
             "The film would last 40 minutes, expected at most 30 minutes; choose steps"},
            {{"-o", "w.mp4", "--tour", "flash-attention", "--seconds-per-step", "60"}, "; choose stops with"},
            {{"-o", "w.mp4", "--tour", "flash-attention", "--from", "400"},
             "--from is \"400\", expected a whole number from 1 to "},
            {{"-o", "w.mp4", "--tour", "flash-attention", "--no-subtitles"}, "leave out --no-subtitles"},
            {{"-o", "w.mp4", "--tour", "flash-attention", "--lesson", "attention"},
             "A tour has its own problems, lessons and steps"},
            {{"-o", "w.mp4", "--tour", "nope"},
             "nope: there is no such file, and no such tour; the program's own is flash-attention."},
            {{"-o", "/proc/w.mp4", "--tour", "flash-atention"}, "did you mean flash-attention?"},
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

TEST_CASE("film: of a tour, stop after stop, each for as long as its card takes to be read") {
    const Folder folder;
    const auto frames = [&](const char* from, const char* to) {
        const Ran ran = run(film_of_tour(folder, folder.file("frames"), {"--from", from, "--to", to}));
        CHECK(ran.code == 0);
        return frames_said(ran.err);
    };
    const int first = frames("1", "1");
    CHECK(frame(folder, 1) != frame(folder, first));  // its step moves
    // "The sum" and ten words, three a second, and half a second; 40 words more or less say 10 seconds.
    CHECK(first == 18);
    const int both = frames("1", "2");
    CHECK(both - first == (3 + 40) * 4 / 3 + 2);
    CHECK(frame(folder, first + 1) == frame(folder, both));  // what was just seen does not move again
    CHECK(frame(folder, first) != frame(folder, both));
    CHECK(frames("3", "3") > 0);
    CHECK(frame(folder, 1) == frame(folder, 2));
}

TEST_CASE("film: the stops of a tour are its chapters") {
    need_ffmpeg();
    const Folder folder;
    for (const char* ending : {".mp4", ".webm"}) {
        const std::string film = folder.file(std::string("tour") + ending), said = folder.file("said");
        CHECK(output_of(film_of_tour(folder, film, {"--seconds-per-step", "2"})).empty());
        const std::string probe =
            "ffprobe -v error -show_chapters -show_entries chapter=start_time,end_time:chapter_tags=title "
            "-of csv=p=0 '" +
            film + "' >'" + said + "'";
        REQUIRE(std::system(probe.c_str()) == 0);
        CHECK(contents(said) == "0.000000,2.000000,Chapter 1 of 2 · Sums: 1 · The sum\n"
                                "2.000000,4.000000,2 · Again; = #\n"
                                "4.000000,6.000000,Chapter 2 of 2 · Pages: 3 · Memory\n");
    }
    CHECK(output_of(film_of_tour(folder, folder.file("tour.gif"), {"--to", "1", "--seconds-per-step", "1"}))
              .empty());
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
        const std::string command = "exec timeout --preserve-status --signal=INT 1 " TILEWALK_BINARY
                                    " film -o '" +
                                    folder.file(name) + "' 2>/dev/null";
        const int status = std::system(command.c_str());
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 128 + SIGINT);
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
