#include "app/io/settings.h"
#include "core/base/words.h"
#include "tests/contains.h"
#include "tests/folder.h"

#include <unistd.h>

using namespace tilewalk::test;

namespace {

std::string settings_in(const Folder& folder) { return folder.file("deep/settings.json"); }

LoadedSettings load_text(const Folder& folder, const std::string& text) {
    return load_settings(folder.file("deep/settings.json", text));
}

}  // namespace

TEST_SUITE("settings") {
    TEST_CASE("what a killed process left half written goes with the next save, and nothing else") {
        Folder folder;
        const std::string own = ".tilewalk-" + str(::getpid()) + "-0-0.tmp";
        for (const std::string& name :
             {std::string(".tilewalk-999999999-0-0.tmp"), std::string(".tilewalk-999999998-0-1.tmp"), own,
              std::string(".tilewalk-notes.tmp"), std::string("notes.txt")})
            folder.file("deep/" + name, "{");
        REQUIRE(save_settings(settings_in(folder), {}));
        for (const std::string& name : {std::string("settings.json"), own, std::string(".tilewalk-notes.tmp"),
                                        std::string("notes.txt")})
            CHECK(std::filesystem::exists(folder.path / "deep" / name));
        CHECK_FALSE(std::filesystem::exists(folder.path / "deep/.tilewalk-999999999-0-0.tmp"));
        CHECK_FALSE(std::filesystem::exists(folder.path / "deep/.tilewalk-999999998-0-1.tmp"));
    }

    TEST_CASE("the folder is looked through at the start and once a minute, not at every save") {
        using std::chrono::seconds;
        const auto start = std::chrono::steady_clock::now();
        CHECK(leftovers_are_due("/a", start));
        CHECK_FALSE(leftovers_are_due("/a", start));
        CHECK_FALSE(leftovers_are_due("/a", start + seconds(59)));
        CHECK(leftovers_are_due("/b", start + seconds(59)));
        CHECK(leftovers_are_due("/a", start + seconds(60)));
        CHECK_FALSE(leftovers_are_due("/a", start + seconds(119)));

        Folder folder;
        REQUIRE(save_settings(settings_in(folder), {}));
        folder.file("deep/.tilewalk-999999999-0-0.tmp", "{");
        REQUIRE(save_settings(settings_in(folder), {}));
        CHECK(std::filesystem::exists(folder.path / "deep/.tilewalk-999999999-0-0.tmp"));
    }

    TEST_CASE("what is saved comes back, in a folder that did not exist") {
        Folder folder;
        ui::Settings saved;
        saved.theme = ui::ThemeId::contrast;
        saved.zoom = 1.25f;
        saved.motion = false;
        saved.speed = 2.5;
        saved.palette = ui::Palette::safe;
        saved.letters = ui::Letters::delta_omega;
        saved.digits = 6;
        saved.decimal_comma = true;
        saved.spotlight = false;
        saved.subtitles = true;
        saved.pseudocode = true;
        saved.question_each = true;
        saved.tour_offered = true;
        saved.tour_stop = 12;
        saved.start_page = false;
        saved.page = "memory";
        saved.lesson = "backward";
        saved.step = 7;
        saved.row = 2;
        saved.speaker = ui::SpeakerShown::panel;
        saved.notes_size = 28;
        saved.window_width = 1280;
        saved.window_height = 720;
        saved.example = "";
        saved.problem_json = "{\"q\": [[1, 2]]}";
        REQUIRE(save_settings(settings_in(folder), saved));

        const LoadedSettings loaded = load_settings(settings_in(folder));
        CHECK(loaded.notice == "");
        CHECK(loaded.found);
        CHECK_FALSE(loaded.settings.start_page);
        CHECK(loaded.settings.page == "memory");
        CHECK(loaded.settings.lesson == "backward");
        CHECK((loaded.settings.step == 7 && loaded.settings.row == 2));
        CHECK(loaded.settings.theme == saved.theme);
        CHECK(loaded.settings.palette == saved.palette);
        CHECK(loaded.settings.letters == saved.letters);
        CHECK(loaded.settings.digits == 6);
        CHECK(loaded.settings.decimal_comma);
        CHECK_FALSE(loaded.settings.spotlight);
        CHECK(loaded.settings.subtitles);
        CHECK(loaded.settings.pseudocode);
        CHECK(loaded.settings.question_each);
        CHECK(loaded.settings.tour_offered);
        CHECK(loaded.settings.tour_stop == 12);
        CHECK(loaded.settings.zoom == saved.zoom);
        CHECK(loaded.settings.motion == saved.motion);
        CHECK(loaded.settings.speed == saved.speed);
        CHECK(loaded.settings.speaker == saved.speaker);
        CHECK(loaded.settings.notes_size == saved.notes_size);
        CHECK(loaded.settings.window_width == saved.window_width);
        CHECK(loaded.settings.window_height == saved.window_height);
        CHECK(loaded.settings.example == saved.example);
        CHECK(loaded.settings.problem_json == saved.problem_json);
    }

    TEST_CASE("nothing there is no trouble") {
        Folder folder;
        CHECK(load_settings(settings_in(folder)).notice == "");
        CHECK(load_settings("").notice == "");
        CHECK_FALSE(load_settings(settings_in(folder)).found);
        CHECK(save_settings("", {}));
    }

    TEST_CASE("a file that cannot be used gives the defaults and says why") {
        Folder folder;
        for (const char* text : {"",
                                 "{",
                                 "[]",
                                 "\xff\xfe",
                                 "{\"theme\": \"pink\"}",
                                 "{\"theme\": 3}",
                                 "{\"zoom\": \"big\"}",
                                 "{\"motion\": 1}",
                                 "{\"speed\": null}",
                                 "{\"palette\": \"pink\"}",
                                 "{\"palette\": true}",
                                 "{\"letters\": \"abc\"}",
                                 "{\"letters\": 1}",
                                 "{\"digits\": \"4\"}",
                                 "{\"digits\": true}",
                                 "{\"decimal_comma\": \"yes\"}",
                                 "{\"spotlight\": 0}",
                                 "{\"subtitles\": null}",
                                 "{\"question_each\": []}",
                                 "{\"tour_offered\": 1}",
                                 "{\"example\": []}",
                                 "{\"window_width\": true, \"zoom\": 2}"}) {
            CAPTURE(text);
            const LoadedSettings loaded = load_text(folder, text);
            CHECK(contains(loaded.notice, settings_in(folder)));
            CHECK(loaded.settings.zoom == 1.0f);
            CHECK(loaded.settings.example == "worked-4x4");
        }
        CHECK(contains(load_settings(folder.path.string()).notice, "folder"));
        CHECK(load_text(folder, std::string(1000000, '[')).notice != "");
    }

    TEST_CASE("a key that is missing or unknown is no trouble") {
        Folder folder;
        const LoadedSettings loaded = load_text(folder, "{\"zoom\": 2, \"colour of the future\": 7}");
        CHECK(loaded.notice == "");
        CHECK(loaded.settings.zoom == 2.0f);
        CHECK(loaded.settings.window_width == 1600);
    }

    TEST_CASE("numbers are brought into their ranges") {
        Folder folder;
        ui::Settings s =
            load_text(folder, "{\"zoom\": 1e300, \"speed\": -4, \"window_width\": 1e18}").settings;
        CHECK(s.zoom == 3.0f);
        CHECK(s.speed == 0.1);
        CHECK(s.window_width == 16384);
        CHECK(load_text(folder, "{\"digits\": 40}").settings.digits == 6);
        CHECK(load_text(folder, "{\"digits\": -1e99}").settings.digits == 3);
        CHECK(load_text(folder, "{\"digits\": 5.9}").settings.digits == 5);
        s = load_text(folder, "{\"zoom\": 0, \"speed\": 1e9, \"window_height\": -1}").settings;
        CHECK(s.zoom == 0.5f);
        CHECK(s.speed == 60.0);
        CHECK(s.window_height == 640);
    }

    TEST_CASE("text that is not UTF-8 is saved all the same") {
        Folder folder;
        ui::Settings settings;
        settings.example = "caf\xe9";
        CHECK(save_settings(settings_in(folder), settings));
        CHECK(load_settings(settings_in(folder)).notice == "");
    }

    TEST_CASE("a folder that cannot be made is a sentence") {
        Folder folder;
        folder.file("deep", "a file in the way");
        const auto saved = save_settings(settings_in(folder), {});
        CHECK_FALSE(saved);
        CHECK(contains(saved.error, settings_in(folder)));
    }

    TEST_CASE("the path follows the environment") {
        Variable home("HOME", "/home/ada");
        Variable config("XDG_CONFIG_HOME", "/conf");
        CHECK(settings_path() == "/conf/tilewalk/settings.json");
        Variable relative("XDG_CONFIG_HOME", "conf");
        CHECK(settings_path() == "/home/ada/.config/tilewalk/settings.json");
        Variable nowhere("HOME", "");
        CHECK(settings_path() == "");
    }
}
