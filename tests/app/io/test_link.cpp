#include "app/io/link.h"

#include "app/io/examples.h"
#include "app/io/problem_json.h"
#include "core/lessons/table.h"
#include "tests/contains.h"
#include "tests/core/lessons/broken.h"
#include "tests/core/lessons/dense_checks.h"
#include "tests/good.h"

#include <cstdio>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

// Four digits behind everything else, folded from FNV-1a with 32 bits.
std::string with_sum(const std::string& text) {
    unsigned long long sum = 0x811c9dc5;
    for (const char c : text) {
        sum ^= static_cast<unsigned char>(c);
        sum = sum * 0x01000193 % 0x100000000;
    }
    char digits[8];
    std::snprintf(digits, sizeof digits, "%04llx", (sum / 0x10000) ^ (sum % 0x10000));
    return text + "&sum=" + digits;
}

std::string problem_text(const Problem& p) {
    return p.name + "\n" + problem_to_json(p) + (p.dO ? "dO" : "") + (p.projection ? "X" : "");
}

void check_same(const LinkedPlace& a, const LinkedPlace& b) {
    CHECK(problem_text(a.problem) == problem_text(b.problem));
    CHECK(a.lesson == b.lesson);
    CHECK(a.step == b.step);
    CHECK(a.row == b.row);
    CHECK(a.col == b.col);
    CHECK(a.page == b.page);
    CHECK(a.panel == b.panel);
    CHECK(a.presenter == b.presenter);
    const auto inside = [](const LinkedPlace& p) {
        return std::tuple(p.kernel, p.type, p.block, p.launch, p.warp, p.instruction, p.lane, p.without,
                          p.own, p.size);
    };
    CHECK(inside(a) == inside(b));
}

std::string one_of(Random& random, const std::vector<std::string>& names) {
    return names[static_cast<std::size_t>(pick(random, 0, static_cast<int>(names.size()) - 1))];
}

// An example as it is or with changes, a random problem, or one that nobody has seen before.
Problem any_linked(Random& random) {
    const auto& all = examples();
    Problem p = all[static_cast<std::size_t>(pick(random, 0, static_cast<int>(all.size()) - 1))];
    const int kind = pick(random, 0, 5);
    if (kind == 1) p = *random_problem(pick(random, 1, 40), pick(random, 1, 20), random());
    if (kind == 2) p = any_problem(random, 4);
    if (kind == 3) p = projected_problem(random, 3);
    if (kind == 0) return p;
    if (pick(random, 0, 2) == 0) p.logits = any_logits(random);
    if (pick(random, 0, 1)) mark_changed(p);
    if (pick(random, 0, 1)) p.Br = pick(random, 1, 9);
    if (pick(random, 0, 1)) p.causal = !p.causal;
    if (pick(random, 0, 3) == 0) p.window = pick(random, 0, 3);
    if (pick(random, 0, 3) == 0) p.scale = {Scale::Kind::number, choose(random, {0.1, -2, 1e-3})};
    if (pick(random, 0, 3) == 0) p.dO.reset();
    if (pick(random, 0, 3) == 0) p.title = "100 % \"own\" & others = α, ℓ";
    if (pick(random, 0, 3) == 0) p.options.notation = Notation::delta_omega;
    if (pick(random, 0, 3) == 0) p.options.order = BackwardOrder::query_outer;
    if (pick(random, 0, 3) == 0) p.options.learning_rate = choose(random, {0.3, 1e-5});
    if (pick(random, 0, 3) == 0)
        p.tokens.assign(static_cast<std::size_t>(std::max(p.N(), p.N_kv())), "a,b:c none %");
    if (!p.projection && pick(random, 0, 1))
        p.Q(pick(random, 0, p.N() - 1), pick(random, 0, p.d() - 1)) = choose(random, {0.1, 1.0 / 3, -1e-7});
    if (pick(random, 0, 3) == 0) p.savings.lazy = choose(random, {0, 8, 0.3, 1.0 / 3});
    if (pick(random, 0, 3) == 0) p.savings.cubic = true;
    return pick(random, 0, 2) ? p : random_faults(random, random_precision(random, p));
}

LinkedPlace any_place(Random& random) {
    const std::size_t at = static_cast<std::size_t>(pick(random, 0, static_cast<int>(lessons().size()) - 1));
    const Lesson& lesson = lessons()[at];
    return {.problem = any_linked(random),
            .lesson = lesson.id,
            .step = pick(random, 1, 99),
            .row = pick(random, 0, 7),
            .col = pick(random, -1, 5),
            .page = one_of(random, {"walk", "memory", "scale", "inside", "compare", "start"}),
            .panel = one_of(random, {"explanation", "problem", "break"}),
            .presenter = pick(random, 0, 1) == 1,
            .kernel = one_of(random, {"f5-flash2", "b2-tensor-core"}),
            .type = one_of(random, {"bf16", "f16", "f32"}),
            .block = pick(random, 0, 3),
            .launch = pick(random, 1, 2),
            .warp = pick(random, 0, 3),
            .instruction = pick(random, 1, 999),
            .lane = pick(random, 0, 31),
            .without = one_of(random, {"", "swizzle", "f5_flash2.cu:78"}),
            .own = pick(random, 0, 1) == 1,
            .size = pick(random, 0, 1) == 1 ? "256x64" : ""};
}

}  // namespace

TEST_CASE("links: two thousand places lead back to where they came from") {
    Random random(3);
    int linked = 0, refused = 0;
    std::size_t longest = 0;
    for (int round = 0; round < 2000; ++round) {
        const LinkedPlace place = any_place(random);
        if (validate(place.problem)) continue;
        const auto link = link_to(place);
        if (!link) {
            ++refused;
            CHECK(contains(link.error, "save it as a file"));
            continue;
        }
        ++linked;
        CAPTURE(*link);
        longest = std::max(longest, link->size());
        for (const char c : *link) CHECK((c > ' ' && c < 0x7f && c != '\'' && c != '"'));
        const auto back = place_of_link(*link);
        REQUIRE_MESSAGE(back, back.error);
        check_same(*back, place);
    }
    MESSAGE(linked, " links, the longest with ", longest, " letters; ", refused, " refused");
    CHECK(linked > 1500);
    CHECK(longest <= 2000);
}

TEST_CASE("links: every example is short, also changed, in every lesson") {
    for (const Problem& example : examples())
        for (const Lesson& lesson : lessons()) {
            LinkedPlace place{.problem = example, .lesson = lesson.id, .step = 17, .row = 1, .col = 2};
            const auto link = link_to(place);
            REQUIRE_MESSAGE(link, link.error);
            CHECK(link->size() < 200);
            CHECK(contains(*link, example.name));
            place.problem.causal = !example.causal;
            place.problem.switches.no_correction = true;
            place.problem.Q(0, 0) += 0.1;
            place.problem.projection.reset();
            mark_changed(place.problem);
            const auto changed = link_to(place);
            if (!changed && example.projection) continue;  // all three matrices are written out
            REQUIRE_MESSAGE(changed, changed.error);
            CHECK(changed->size() <= 2000);
            check_same(*place_of_link(*changed), place);
        }
}

TEST_CASE("links: one that stands in the documents") {
    const auto place = place_of_link(with_sum(
        "tilewalk:example=worked-4x4&changed=yes&break=no_correction&lesson=flash-forward&step=17&at=1.2"));
    REQUIRE_MESSAGE(place, place.error);
    CHECK(place->problem.switches.no_correction);
    CHECK(place->problem.title == find_example("worked-4x4")->title + " (changed)");
    CHECK(place->step == 17);
    CHECK(place->row == 1);
    CHECK(place->col == 2);
    const auto own = place_of_link(with_sum("tilewalk:q=2x1:1,2&k=2x1:0.5,-1e-3&v=2x1:3,4"));
    REQUIRE_MESSAGE(own, own.error);
    CHECK(own->problem.K(1, 0) == -1e-3);
    CHECK(place_of_link(" " + with_sum("tilewalk:example=worked-4x4") + "\n"));
}

TEST_CASE("links: what is cut off, changed or mixed up leads nowhere") {
    Random random(4);
    const std::string link = *link_to(any_place(random));
    for (std::size_t length = 0; length < link.size(); ++length) {
        const auto cut = place_of_link(link.substr(0, length));
        CHECK(!cut);
        CHECK(!cut.error.empty());
    }
    for (std::size_t at = 0; at < link.size(); ++at) {
        std::string other = link;
        other[at] = other[at] == '1' ? '2' : '1';
        CHECK(!place_of_link(other));
    }
}

TEST_CASE("links: twenty thousand mutations get a place or a sentence") {
    Random random(5);
    int opened = 0;
    constexpr std::string_view pieces("&=%:,.-x0123456789eE+ \"\\\0\n\x7fqkvANf\xff", 34);
    for (int round = 0; round < 20000; ++round) {
        const auto made = link_to(any_place(random));
        if (!made) continue;
        std::string text = made->substr(0, made->rfind("&sum="));
        for (int n = pick(random, 1, 4); n > 0; --n) {
            const std::size_t at = static_cast<std::size_t>(pick(random, 9, static_cast<int>(text.size())));
            const char piece =
                pieces[static_cast<std::size_t>(pick(random, 0, static_cast<int>(pieces.size()) - 1))];
            switch (pick(random, 0, 3)) {
            case 0: text.insert(at, 1, piece); break;
            case 1: text.erase(at, static_cast<std::size_t>(pick(random, 1, 5))); break;
            case 2: text.insert(at, text.substr(at / 2, 12)); break;
            default:
                if (at < text.size()) text[at] = piece;
            }
        }
        const auto place = place_of_link(with_sum(text));
        if (place) {
            ++opened;
            CHECK(!validate(place->problem));
            CHECK(place->step >= 1);
        } else {
            CHECK(!place.error.empty());
            CHECK(place.error.size() < 400);
        }
    }
    CHECK(opened > 500);
}

TEST_CASE("links: hostile ones get a sentence that says what is wrong") {
    const auto refused = [](const std::string& link, const char* part) {
        const auto place = place_of_link(link);
        CAPTURE(link.substr(0, 100));
        CHECK(!place);
        CHECK_MESSAGE(contains(place.error, part), place.error);
    };
    refused("", "begins with \"tilewalk:\"");
    refused("https://example.org", "begins with \"tilewalk:\"");
    refused("tilewalk:", "cut off");
    refused("tilewalk:example=worked-4x4", "no check at its end");
    refused("tilewalk:" + std::string(8'000'000, 'x'), "8000009 letters");
    refused(std::string(8'000'000, '%'), "begins with");
    refused("tilewalk:example=worked-4x4&sum=0000", "cut off");
    const auto said = [&](const std::string& text, const char* part) {
        refused(with_sum("tilewalk:" + text), part);
    };
    said("example", "expected KEY=VALUE");
    said("example=worked-4x4&&step=2", "expected KEY=VALUE");
    said("example=nobody", "which this program does not have");
    said("example=worked-4x4&steps=3", "\"steps\", which is unknown");
    said("example=worked-4x4&step=3&step=4", "step twice");
    said("example=worked-4x4&title=%zz", "The value of title in the link is broken");
    said("example=worked-4x4&title=%4", "broken");
    said("example=worked-4x4&title=a%", "broken");
    said("example=worked-4x4&title=%00", "broken");
    said("example=worked-4x4&title=%ff", "broken");
    said("example=worked-4x4&title=%1B[2J", "broken");
    said("example=worked-4x4&step=0", "step=\"0\", expected a whole number from 1");
    said("example=worked-4x4&step=1e9", "step=");
    said("example=worked-4x4&step=99999999999999999999", "step=");
    said("example=worked-4x4&at=1.2.3", "at=");
    said("example=worked-4x4&at=-1", "at=");
    said("example=worked-4x4&set=q.4.0:1", "set=");
    said("example=worked-4x4&set=q.0.0:nan", "set=");
    said("example=worked-4x4&set=q.0.0:1e999", "set=");
    said("example=worked-4x4&set=x.0.0:1", "set=");
    said("example=worked-4x4&lesson=flash", "lesson=");
    said("example=worked-4x4&page=..%2F..", "page=");
    said("example=worked-4x4&break=everything", "break=");
    said("example=worked-4x4&precision=scores:fp3", "precision=");
    said("example=worked-4x4&causal=maybe", "causal=");
    said("example=worked-4x4&lesson=ring&ranks=0", "ranks=\"0\", expected a whole number from 1, or none");
    said("example=worked-4x4&page=inside&lane=32", "lane=\"32\", expected a whole number from 0 to 31");
    said("example=worked-4x4&element-bytes=3", "The link does not work");
    said("example=worked-4x4&row=9", "The link does not work");
    said("example=worked-4x4&random=2x2.1", "an example and a random problem");
    for (const char* of : {"4096x4096.1", "2x2", "0x2.1", "2x0.1", "2.1x2", "22.1", "2x2.", "x2.1"})
        said(std::string("random=") + of, "random=");
    for (const char* row : {"q.-1.0:1", "q.0.-1:1", "q.x.0:1", "q.0.x:1", "q.0.4:1", "q.0:1", "q.0.0"})
        said(std::string("example=worked-4x4&set=") + row, "set=");
    for (const char* cell : {"x", "1.x", "0.-1"}) said(std::string("example=worked-4x4&at=") + cell, "at=");
    said("example=worked-4x4&window=-1", "window=\"-1\", expected a whole number from 0, or none");
    said("example=worked-4x4&window=x", "window=");
    said("example=worked-4x4&sink=inf", "sink=\"inf\", expected a number or none");
    said("example=worked-4x4&scale=half", "scale=\"half\", expected none, sqrt or a number");
    said("example=worked-4x4&learning-rate=fast", "learning-rate=");
    said("example=worked-4x4&lesson=ring&ranks=x", "ranks=");
    said("example=worked-4x4&lesson=ring&ranks=2000000000", "ranks=");
    said("example=worked-4x4&splits=2,x", "splits=\"2,x\", expected whole numbers, or none");
    said("example=worked-4x4&splits=2,-1", "splits=");
    said("example=worked-4x4&precision=scores", "precision=");
    said("example=worked-4x4&precision=score:fp16", "precision=");
    said("example=worked-4x4&tokens=a,b", "tokens=\"a,b\", expected words with a colon before each");
    for (const char* heads : {"4.2.1", "4.2.1.ever", "x.2.1.once", "4.x.1.once", "4.2.x.once", "0.1.0.once",
                              "4.0.0.once", "999.1.0.once", "4.999.0.once"})
        said(std::string("example=worked-4x4&heads=") + heads, "expected H.H_KV.SHOWN.again or once");
    said("example=worked-4x4&heads-q=1x1:1", "heads-q=");
    said("example=worked-4x4&heads=1.1.0.once&heads-q=1x1", "heads-q=");
    said("q=2x2:1,2,3", "q=");
    said("q=999999x999999:1", "q=");
    for (const char* q : {"-1x-1:1", "1x-1:1", "0x1:1", "1x0:1", "x1:1", "1x:1", "1x1", "11:1", "1:x1",
                          "1x999999:1", "1x1:one"})
        said(std::string("q=") + q, "q=");
    said("q=2x1:1,2", "The link does not work");
    said("wq=1x1:2", "do not fit its input X");
    for (const char* weights : {"wq=2x2:1,2,3,4&wk=1x1:1&wv=1x1:1", "wq=1x1:1&wk=2x2:1,2,3,4&wv=1x1:1",
                                "wq=1x1:1&wk=1x1:1&wv=2x2:1,2,3,4"})
        said(std::string("x=1x1:1&") + weights, "do not fit its input X");
    said("x=2x2:1,2,3,4&wq=1x1:2&wk=1x1:1&wv=1x1:1", "do not fit its input X");
    said("x=1x1:1&wq=1x2:1,2&wk=1x1:1&wv=1x1:1", "The link does not work");
}

TEST_CASE("links: what an example has can be taken back, each by its own word") {
    const auto from = [](const std::string& text) {
        return good(place_of_link(with_sum("tilewalk:example=worked-4x4&" + text))).problem;
    };
    CHECK(from("scale=sqrt").scale.kind == Scale::Kind::sqrt);
    CHECK(from("scale=0.25").scale == Scale{Scale::Kind::number, 0.25});
    CHECK(from("window=none&sink=none&splits=none&break=none&tokens=none").options.splits.empty());
    CHECK(from("ranks=none").options.ranks == 0);
    Problem scaled = *find_example("worked-4x4");
    for (const Scale& scale : {Scale{Scale::Kind::sqrt, 1}, Scale{Scale::Kind::number, 0.25},
                               Scale{Scale::Kind::number, 0.5}, Scale{}}) {
        scaled.scale = scale;
        CHECK(good(place_of_link(good(link_to({.problem = scaled})))).problem.scale == scale);
    }
}

TEST_CASE("links: a problem that is too large is to be saved as a file") {
    Problem p = *random_problem(64, 32, 1);
    CHECK(link_to({.problem = p})->size() < 200);
    p.seed.reset();
    CHECK(contains(link_to({.problem = p}).error, "save it as a file"));
    // Few enough numbers to be written down, and too many letters
    Problem wide = *random_problem(16, 8, 1);
    wide.seed.reset();
    CHECK(contains(link_to({.problem = wide}).error, "save it as a file"));
    // A seed whose problem nobody can draw again, for it has other sizes
    Problem cut = *random_problem(4, 4, 1);
    cut.seed = 1, cut.K = cut.K.topRows(2).eval(), cut.V = cut.V.topRows(2).eval();
    check_same(good(place_of_link(good(link_to({.problem = cut})))), {.problem = cut});
}
