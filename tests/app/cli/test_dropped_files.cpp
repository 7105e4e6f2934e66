#include "tests/app/cli/run.h"

#include "app/cli/hooks.h"
#include "app/io/examples.h"
#include "tests/good.h"

using namespace tilewalk::test;

TEST_CASE("dropped files: the name says which matrix it is") {
    const Folder folder;
    const Problem& current = *find_example("worked-4x4");
    const std::string keys = folder.file("my_keys.csv", "1,2,3,4\n5,6,7,8\n9,9,9,9\n0,0,0,0\n");
    const std::string v = folder.file("V.tsv", "1\t1\t1\t1\n2\t2\t2\t2\n3\t3\t3\t3\n4\t4\t4\t4\n");
    const Problem both = good(load_dropped_files({keys, v}, current, Slot::Q));
    CHECK(both.K(1, 2) == 7);
    CHECK(both.V(2, 0) == 3);
    CHECK(both.Q == current.Q);
    CHECK(both.name.empty());
    CHECK(both.dO);

    const std::string other = folder.file("data.csv", "1,2,3,4\n");
    const Problem single = good(load_dropped_files({other}, current, Slot::Q));
    CHECK(single.Q.rows() == 1);
    CHECK(!single.dO);
    CHECK(contains(load_dropped_files({other, v}, current, Slot::Q).error, "data.csv"));
    CHECK(!load_dropped_files({}, current, Slot::Q));
    CHECK(!load_dropped_files({folder.file("p.json", "{}"), v}, current, Slot::Q));
    CHECK(!load_dropped_files({folder.file("absent.csv")}, current, Slot::Q));
}

TEST_CASE("dropped files: three names in one field; one matrix of another size says that it takes three") {
    const Folder folder;
    const Problem& current = *find_example("worked-4x4");
    const std::string q = folder.file("q.csv", "1,2\n3,4\n5,6\n"), k = folder.file("k.csv", "1,0\n0,1\n"),
                      v = folder.file("v.csv", "1\n2\n"), spaced = folder.file("my k.csv", "1,1,1,1\n");
    for (const std::string& between : {std::string(" "), std::string(", "), std::string("  ")}) {
        const Problem own = good(load_dropped_files({q + between + k + between + v}, current, Slot::Q));
        CHECK(own.Q(2, 1) == 6);
        CHECK(own.K.rows() == 2);
        CHECK(own.V(1, 0) == 2);
    }
    const std::string alone = load_dropped_files({q}, current, Slot::Q).error;
    CHECK(contains(alone, "Q is 3 × 2, K 4 × 4 and V 4 × 4"));
    CHECK(contains(alone, "name or drop Q, K and V together"));
    CHECK(contains(load_dropped_files({q + " " + folder.file("absent.csv")}, current, Slot::Q).error,
                   "absent"));
    // A name with a space in it is one name.
    CHECK(contains(load_dropped_files({spaced}, current, Slot::K).error, "K 1 × 4"));
}

TEST_CASE("a pasted table takes the place of one matrix, whatever stands between its numbers") {
    const Problem& current = *find_example("worked-4x4");
    for (const char* table : {"1\t2\t3\t4\n5\t6\t7\t8.5\n", "1,2,3,4\r\n5,6,7,8.5\r\n",
                              "1 2 3  4\n5 6  7 8.5", "1;2;3;4\n5;6;7;8.5"}) {
        CAPTURE(table);
        const Problem own = good(take_table(table, current, Slot::Q));
        CHECK(own.Q.rows() == 2);
        CHECK(own.Q(1, 3) == 8.5);
        CHECK(own.K == current.K);
        CHECK(!own.dO);
        CHECK(own.title == "From the clipboard");
    }
    CHECK(contains(take_table("1\t2\n3\t4\n", current, Slot::K).error, "K 2 × 2 and V 4 × 4"));
    CHECK(contains(take_table("1\t2\nx\t4\n", current, Slot::Q).error, "The clipboard"));
    CHECK(contains(take_table("hello", current, Slot::Q).error, "The clipboard"));
}

TEST_CASE("dropped files: a problem, or the problem of a recorded walk") {
    const Folder folder;
    const std::string walk =
        folder.file("walk.json", output_of({"trace", "--example", "ties", "--format", "json"}));
    const Problem problem = good(load_dropped_files({walk}, Problem{}, Slot::Q));
    CHECK(problem.Q == find_example("ties")->Q);
    CHECK(problem.scale == find_example("ties")->scale);
}

TEST_CASE("a link where a file is named opens its place, as it is or behind the address of a page") {
    const auto line = [](std::vector<std::string> words) {
        const std::string out = output_of(words);
        return out.substr(0, out.find('\n'));
    };
    const std::string link = line({"link", "--example", "ties", "--step", "7"});
    for (const std::string& text : {link, "https://there.example/index.html#" + link}) {
        SavedView view;
        const Problem problem = good(load_dropped_files({text}, Problem{}, Slot::Q, &view));
        CHECK(problem.Q == find_example("ties")->Q);
        CHECK(view.lesson == "flash-forward");
        CHECK(view.step == 7);
    }
    const std::string page = line({"link", "--page", "memory"});
    CHECK(contains(load_dropped_files({page}, Problem{}, Slot::Q, nullptr).error, "to the page memory"));
    CHECK(contains(load_dropped_files({link.substr(0, 20)}, Problem{}, Slot::Q, nullptr).error, "link"));
}
