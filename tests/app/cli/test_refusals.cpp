// What the command line refuses: always with one sentence, exit code 2, and nothing on stdout.
#include "tests/app/cli/run.h"

#include "app/io/text.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

TEST_CASE("refusals: words that are no commands and options") {
    check_refused({
        {{"trce"}, "did you mean trace?"},
        {{"help", "trce"}, "did you mean trace?"},
        {{"help", "nonsense"}, "There is no command \"nonsense\""},
        {{"--version", "more"}, "\"more\" is a word too many"},
        {{"trace", "\u2014br", "2"}, "begins with a long dash; options begin with two short ones: --."},
        {{"--"}, "\"--\" has no meaning here"},
        {{"trace", "--", "--format", "json"}, "\"--\" has no meaning here"},
        {{"trace", "--version"}, "'tilewalk --version' prints it."},
        {{"trace", "-o=x"}, "-o is \"=x\"; say -o FILE or --output=FILE."},
        {{"trace", "--load", "-"}, "expected a file; the standard input is /dev/stdin."},
        {{"bench", "--load", "-"}, "the standard input is /dev/stdin."},
        {{"render", "--tour", "-", "-o", "x.png"}, "the standard input is /dev/stdin."},
        {{"model", "--seqlen", "1,,2"}, "--seqlen is \"1,,2\", expected numbers with a comma between them."},
        {{"trace", "--lesson", "merge", "--splits", "3,"}, "--splits is \"3,\", expected numbers with"},
        {{"TRACE"}, "did you mean trace?"},
        {{"zzzzzz"}, "There is no command \"zzzzzz\""},
        {{"tilewalk:example=worked-4x4"}, "is a link; --link opens it."},
        {{"--lesson", "flash-forward", "/dev/../etc/host.conf"},
         "is a file; one that is opened stands alone"},
        {{"q.csv"}, "is one matrix; name Q, K and V"},
        {{"data/Q.NPY"}, "is one matrix; name Q, K and V"},
        {{"problem.json"}, "problem.json"},  // a file alone is opened
        {{"tour.md"}, "tour.md"},
        {{"problem.json", "tour.md"}, "There is no command \"problem.json\""},
        {{""}, "no command"},
        {{"-"}, "no command"},
        {{"---"}, "has no option"},
        {{"-x"}, "has no option \"-x\"; 'tilewalk --help' lists them."},
        {{"trace", "--frames", "2"}, "has no option \"--frames\"; 'tilewalk trace --help'"},
        {{"--exmaple", "worked-4x4"}, "did you mean --example?"},
        {{"trace", "--formt", "json"}, "did you mean --form"},
        {{"trace", "--formt=json"}, "did you mean --form"},
        {{"trace", "--theme", "dark"},
         "has no option \"--theme\"; it belongs to the window, 'render', 'export' and 'film'."},
        {{"trace", "--step=3"},
         "has no option \"--step\"; it belongs to the window, 'render', 'link', 'questions' and 'inside'."},
        {{"trace", "--size", "1600x900"},
         "has no option \"--size\"; it belongs to 'render', 'export' and 'film'."},
        {{"-o", "x"},
         "'tilewalk' has no option \"-o\"; it belongs to 'trace', 'render', 'export', 'film', 'link', "
         "'questions', 'compare', 'inside', "
         "'model', 'bench' and 'manual'."},
        {{"trace", "render"}, "too many"},
        {{"trace", "trace"}, "too many"},
        {{"trace", "extra", "--example", "ties"}, "\"extra\" is a word too many"},
        {{"examples", "--example", "ties"}, "has no option"},
        {{"--example", "ties", "trace"}, "options come after the command"},
        {{"compare", "--br", "2"}, "'tilewalk compare' has no option \"--br\""},
        {{"trace", "\n\x1b[31m"}, "too many"},
        {{"trace", std::string(100000, 'a')}, "too many"},
        {{std::string(100000, '-')}, "has no option"},
        {{"\xff\xfe"}, "no command"},
    });
}

TEST_CASE("refusals: options without a value, with a wrong value, or twice") {
    check_refused({
        {{"trace", "--example"}, "--example needs a value"},
        {{"trace", "--example", ""}, "--example needs a value"},
        {{"trace", "--example="}, "--example needs a value"},
        {{"trace", "-o"}, "-o needs a value."},
        {{"trace", "--output"}, "-o needs a value."},
        {{"trace", "--output="}, "-o needs a value."},
        {{"trace", "-o", "a", "-o", "b"}, "-o is there more than once."},
        {{"trace", "--example", "--causal"}, "needs a value, but \"--causal\" follows"},
        {{"trace", "--br", "2", "--br", "3"}, "--br is there more than once"},
        {{"trace", "--causal=yes"}, "--causal takes no value"},
        {{"trace", "--causal=maybe"}, "--causal takes no value"},
        {{"--presenter=no"}, "--presenter takes no value"},
        {{"trace", "--br", "0"}, "expected a whole number from 1"},
        {{"trace", "--br", "-2"}, "--br is \"-2\""},
        {{"trace", "--br", "2.5"}, "--br is \"2.5\""},
        {{"trace", "--br", "two"}, "--br is \"two\""},
        {{"trace", "--br", "2x"}, "--br is \"2x\""},
        {{"trace", "--br", "99999999999999999999"}, "whole number"},
        {{"trace", "--bc", "0x2"}, "--bc is \"0x2\""},
        {{"trace", "--bc", " 2"}, "--bc"},
        {{"trace", "--window", "-1"}, "--window is \"-1\""},
        {{"trace", "--scale", "cube"}, "none, sqrt or a number"},
        {{"trace", "--scale", "nan"}, "none, sqrt or a number"},
        {{"trace", "--scale", "inf"}, "none, sqrt or a number"},
        {{"trace", "--scale", "1e999"}, "none, sqrt or a number"},
        {{"trace", "--scale", "1e308", "--example", "large-logits"}, "overflow"},
        {{"trace", "--softcap", "0"}, "The softcap is 0; it must be a finite number above 0"},
        {{"trace", "--softcap", "-2"}, "The softcap is −2"},
        {{"trace", "--softcap", "inf"}, "--softcap is \"inf\", expected a number or none"},
        {{"trace", "--alibi", "-0.5"}, "The ALiBi slope is −0.5; it must be a finite number of 0 or more"},
        {{"trace", "--sink", "nan"}, "--sink is \"nan\", expected a number or none"},
        {{"trace", "--sink", "1e305"}, "The sink is"},
        {{"trace", "--sink", "1", "--lesson", "softmax-1pass"}, "has no sink"},
        {{"trace", "--heads", "0"}, "--heads is \"0\""},
        {{"trace", "--heads", "4", "--kv-heads", "3"}, "--kv-heads is 3 and --heads is 4"},
        {{"trace", "--kv-heads", "2"}, "--kv-heads is 2 and --heads is 1"},
        {{"trace", "--heads", "4", "--head", "4"}, "--head is \"4\", expected a whole number from 0 to 3"},
        {{"trace", "--heads", "4", "--kv-loads", "twice"}, "expected again or once"},
        {{"trace", "--element-bytes", "3"}, "expected 1, 2, 4 or 8."},
        {{"trace", "--element-bytes", "16"}, "expected 1, 2, 4 or 8."},
        {{"trace", "--format", "xml"}, "expected text, json or md"},
        {{"trace", "--format", "jsn"}, "did you mean json?"},
        {{"examples", "--format", "md"}, "expected text or json"},
        {{"--theme", "drak"}, "did you mean dark?"},
        {{"--frames", "0"}, "--frames"},
        {{"trace", "--row", "4"}, "--row is \"4\", expected a whole number from 0 to 3"},
        {{"trace", "--row", "-1"}, "expected a whole number from 0 to 3"},
        {{"trace", "--notation", "x"}, "--notation is \"x\", expected l_O, d_o or delta_omega"},
        {{"trace", "--form", "x"}, "--form is \"x\""},
        {{"trace", "--order", "i"}, "--order is \"i\""},
        {{"trace", "--learning-rate", "nan"}, "--learning-rate is \"nan\""},
        {{"trace", "--lesson", "training-step", "--learning-rate", "1e9"}, "The learning rate is"},
        {{"trace", "--splits", "5"}, "There are 4 keys for 5 parts"},
        {{"trace", "--splits", "0"}, "at least one part"},
        {{"trace", "--lesson", "merge", "--splits", "3,2"}, "have 5 keys together, but K has 4"},
        {{"trace", "--splits", "5,-1"}, "--splits is"},
        {{"trace", "--merge", "tree"}, "--merge is \"tree\""},
        {{"trace", "--parts", "sum"}, "did you mean sums?"},
        {{"trace", "--workers", "0"}, "--workers is \"0\""},
        {{"trace", "--workers", "2"}, "The lesson flash-forward does not read --workers; leave it out"},
        {{"trace", "--splits", "2"}, "choose one of merge, split-kv"},
        {{"trace", "--prefix", "2"}, "does not read --prefix; leave it out, or choose one of cascade."},
        {{"trace", "--lesson", "cascade", "--prefix", "5"}, "--prefix is \"5\""},
        {{"trace", "--lesson", "cascade", "--sequences", "5"}, "--sequences is \"5\""},
        {{"trace", "--lesson", "cascade", "--pages", "x"}, "--pages is \"x\""},
        {{"trace", "--lesson", "cascade", "--page-table", "0,1"}, "the keys lie in no pages"},
        {{"trace", "--lesson", "cascade", "--pages", "1", "--page-table", "0,1,2"}, "names 3 places"},
        {{"trace", "--lesson", "cascade", "--pages", "1", "--page-table", "0,1,2,4"},
         "at place 4, which is outside"},
        {{"trace", "--lesson", "cascade", "--pages", "1", "--page-table", "0,1,2,1"},
         "pages 1 and 3 at the same place"},
        {{"trace", "--lesson", "split-kv", "--queries", "9"},
         "--queries is \"9\", expected a whole number from 1 to 8"},
        {{"trace", "--lesson", "split-kv", "--queries", "5"}, "From row 0 on Q has 4 rows"},
        {{"trace", "--lesson", "split-kv", "--row", "3", "--queries", "2"}, "From row 3 on Q has 1 row"},
        {{"trace", "--queries", "2"}, "choose one of split-kv"},
        {{"trace", "--merge", "pairs"}, "does not read --merge"},
        {{"trace", "--lesson", "split-kv", "--parts", "sums"}, "split-kv does not read --parts"},
        {{"link", "--row", "1"}, "does not read --row"},
        {{"trace", "--sink", "1e308"}, "; it must be a number between −10³⁰⁰ and 10³⁰⁰."},
        {{"trace", "--alibi", "1e308"}, "; times the 8 queries and keys it must stay below 10³⁰⁰."},
        {{"trace", "--lesson", "ring-backward", "--break", "no_max"},
         "does not know the fault no_max; it knows no_lse, wrong_mask_edge and no_share"},
        {{"trace", "--tokens", "a b c"}, "--tokens has 3 words, expected 4"},
        {{"trace", "--break", "no_mx"}, "did you mean no_max?"},
        {{"trace", "--break", "no_max,,"}, "--break is \"\""},
        {{"trace", "--break", "no_lse"}, "flash-forward does not know the fault no_lse; it knows no_max, "},
        {{"trace", "--lesson", "merge", "--break", "stale_max"},
         "The lesson merge does not know the fault stale_max"},
        {{"trace", "--lesson", "softmax-1pass", "--break", "no_max"},
         "The lesson softmax-1pass knows no faults"},
        {{"link", "--lesson", "attention", "--precision", "fp16"}, "leave out --precision"},
        {{"trace", "--lazy-rescale", "much"}, "--lazy-rescale is \"much\""},
        {{"trace", "--lazy-rescale", "-1"}, "expected 0 to 100 powers of two"},
        {{"trace", "--exp2", "cubik"}, "did you mean cubic?"},
        {{"trace", "--lesson", "flash-backward", "--exp2", "cubic"}, "does not read --exp2"},
        {{"trace", "--precision", "fp12"}, "--precision is \"fp12\""},
        {{"trace", "--precision", "score=fp16"}, "did you mean scores?"},
        {{"trace", "--x", "x.csv"}, "--x is there without --w-q"},
        {{"trace", "--w-q", "x.csv"}, "A weight is there without --x"},
        {{"trace", "--lesson", "flsh-forward"}, "did you mean flash-forward?"},
        {{"trace", "--lesson", "backwards"}, "did you mean backward?"},
        {{"trace", "--lesson", "\n"}, "There is no lesson"},
        {{"--step", "0"}, "--step is \"0\", expected a whole number from 1 to 40"},
        {{"--step", "41"}, "from 1 to 40"},
        {{"--step", "all"}, "from 1 to 40"},
    });
}

TEST_CASE("refusals: sources of the problem") {
    const Folder folder;
    const std::string good = folder.file("q.csv", "1,0\n0,1\n");
    const std::string bad = folder.file("bad.csv", "1,0\n0,x\n");
    const std::string wide = folder.file("wide.csv", "1,0,2\n0,1,2\n");
    const std::string broken = folder.file("broken.json", "{\"q\":[[1,2]");
    const std::string foreign = folder.file("foreign.json", "{\"schema\":\"other\"}");
    check_refused({
        {{"trace", "--example", "wroked-4x4"}, "did you mean worked-4x4?"},
        {{"trace", "--example", "ragged"}, "did you mean ragged-7x5?"},
        {{"trace", "--example", "nothing-like-it"}, "'tilewalk examples' lists them"},
        {{"trace", "--example", "ties", "--random", "4x4"}, "--example and --random both"},
        {{"trace", "--load", "x.json", "--q", good}, "--load and --q both"},
        {{"trace", "--q", good}, "--q is there without --k"},
        {{"trace", "--q", good, "--k", good}, "--q is there without --v"},
        {{"trace", "--v", good}, "--v is there without --q"},
        {{"trace", "--do", good}, "--do is there without --q"},
        {{"trace", "--seed", "3"}, "--seed belongs to --random"},
        {{"trace", "--random", "4"}, "--random is \"4\""},
        {{"trace", "--random", "4x"}, "NxD"},
        {{"trace", "--random", "x4"}, "NxD"},
        {{"trace", "--random", "0x4"}, "NxD"},
        {{"trace", "--random", "-4x4"}, "NxD"},
        {{"trace", "--random", "5000x4"}, "1 to 4096"},
        {{"trace", "--random", "4x4", "--seed", "-1"}, "--seed is \"-1\""},
        {{"trace", "--random", "4096x1024", "--br", "1", "--bc", "1"}, "the limit is"},
        {{"trace", "--load", folder.file("absent.json")}, "absent.json"},
        {{"trace", "--load", folder.path.string()}, "folder"},
        {{"trace", "--load", broken}, "line 1"},
        {{"trace", "--load", foreign}, "schema"},
        {{"trace", "--q", bad, "--k", good, "--v", good}, "bad.csv"},
        {{"trace", "--q", good, "--k", good, "--v", folder.file("v.txt", "1")},
         "expected .csv, .tsv or .npy"},
        {{"trace", "--q", folder.path.string(), "--k", good, "--v", good},
         "it is a folder, expected a file in .csv, .tsv or .npy"},
        {{"trace", "--q", good, "--k", good, "--v", folder.file("v", "1")}, "the name has no ending"},
        {{"trace", "--q", wide, "--k", good, "--v", good}, "same number of columns"},
        {{"trace", "--q", good, "--k", good, "--v", good, "--do", wide}, "dO"},
        {{"trace", "--load", "a\nb.json"}, "a?b.json"},
    });
}

TEST_CASE("refusals: pictures") {
    const Folder folder;
    const std::string out = folder.file("x.png");
    check_refused({
        {{"render"}, "needs -o"},
        {{"render", "-o", out, "--palette", "red"}, "expected usual or safe"},
        {{"render", "-o", out, "--format", "gif"}, "expected png or svg"},
        {{"render", "-o", "a.jpg"},
         "-o is \"a.jpg\", expected a name that ends in .png or .svg; or say --format."},
        {{"render", "--step", "3", "-o", "b.d/walk.png.bak"}, "ends in .png or .svg"},
        {{"render", "--step", "all", "-o", out},
         "expected the name of a folder: each step is a picture of its own."},
        {{"render", "-o", out, "--size", "800x600"}, "from 1024x640 to 7680x4320"},
        {{"render", "-o", out, "--size", "8000x4320"}, "from 1024x640 to 7680x4320"},
        {{"render", "-o", out, "--size", "1600"}, "WxH"},
        {{"render", "-o", out, "--size", "1600x900x2"}, "WxH"},
        {{"render", "-o", out, "--size", "1600x99999999999"}, "WxH"},
        {{"render", "-o", out, "--pixel-ratio", "0.5"}, "from 1 to 4"},
        {{"render", "-o", out, "--pixel-ratio", "nan"}, "from 1 to 4"},
        {{"render", "-o", out, "--pixel-ratio", "2", "--size", "1600x900"}, "from 2048x1280"},
        {{"render", "-o", out, "--step", "41"}, "from 1 to 40"},
        {{"render", "-o", out, "--step", "ALL"}, "from 1 to 40"},
        {{"render", "-o", out, "--theme", "pink"}, "expected dark, light or contrast"},
    });
    CHECK(folder.count() == 0);
}

TEST_CASE("refusals: no program name at all") {
    std::ostringstream out, err;
    char* none[] = {nullptr};
    CHECK(run_cli(0, none, no_window, out, err) == 3);
}

TEST_CASE("suggest: the nearest name, if it is near") {
    const std::vector<std::string> names{"worked-4x4", "ties", "causal-8"};
    CHECK(nearest("worked-4x5", names) == "worked-4x4");
    CHECK(nearest("wor", names) == "worked-4x4");
    CHECK(nearest("tie", names) == "ties");
    CHECK(nearest("casual-8", names) == "causal-8");
    CHECK(nearest("TIES", names) == "ties");
    // What was begun comes before what is misspelt, of that the shortest.
    CHECK(nearest("--head", {"--read", "--head-dim", "--heads"}) == "--heads");
    CHECK(nearest("f4", {"f4b-copies", "f4-tensor-core"}) == "f4-tensor-core");
    CHECK(nearest("f4", {"f4b-copies"}).empty());
    CHECK(nearest("--formt", {"--form", "--format"}) == "--format");
    // Another number is another card, or another format.
    const std::vector<std::string> cards{"a100-40", "h100", "h200", "rtx-4090", "bf16"};
    for (const char* other : {"b200", "b100", "gb200", "rtx-5090", "l200", "bf8", "h20", "h10"})
        CHECK_MESSAGE(nearest(other, cards) == "", other);
    CHECK(nearest("H200", cards) == "h200");
    CHECK(nearest("a100", cards) == "a100-40");
    CHECK(nearest("rxt-4090", cards) == "rtx-4090");
    CHECK(nearest("", names).empty());
    CHECK(nearest("42", {"41", "4x2", "--42"}).empty());
    CHECK(nearest("-x", {"-y", "x", "xy"}).empty());
    CHECK(nearest("something else", names).empty());
    CHECK(nearest(std::string(100000, 'w'), names).empty());
}

TEST_CASE("refusals: a file that would take the place of another one that the command was given") {
    const Folder folder;
    const std::string kept = folder.file("kept.json", "mine"), link = folder.file("link.json");
    std::filesystem::create_symlink(kept, link);
    for (const std::string& other : {kept, link, (folder.path / "." / "kept.json").string()})
        check_refused({{{"trace", "--load", kept, "-o", other}, "-o name the same file"},
                       {{"compare", "--load-bundle", other, "-o", kept}, "-o name the same file"},
                       {{"compare", "--random", "16x64", "--save", other, "-o", kept}, "one would replace"},
                       {{"questions", "--key", other, "-o", kept}, "the same file"}});
    CHECK(contents(kept) == "mine");
    // Before they are there, too
    check_refused(
        {{{"questions", "--key", folder.file("new.md"), "-o", (folder.path / "." / "new.md").string()},
          "the same file"}});
}
