// tilewalk model: text, JSON and refusals.
#include "core/base/numbers.h"
#include "core/study/memory_study.h"
#include "tests/app/cli/run.h"
#include "tests/core/hardware.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <tuple>

using namespace tilewalk::test;
using nlohmann::json;

namespace {

json model(const std::vector<std::string>& words) {
    return json::parse(output_of(with({"model", "--format", "json"}, words)));
}

}  // namespace

TEST_CASE("cli: the model as text has the tables, with the numbers of the study") {
    const std::string text = output_of({"model"});
    check_contains(text, {"A100 40 GB", "131\u2009072", "does not fit", "25\u2009906", "read Q, K, write S",
                          "FlashAttention-2 moves", "512 KiB", "32 GiB", "1 TiB"});
    StudyInput in;
    in.N = 131072;
    const Study s = study(in);
    for (Algorithm a : algorithms)
        CHECK(contains(text, format_large_size(static_cast<double>(s.of(a).traffic.total()))));
    const std::string sentence = verdict(s);
    CHECK(contains(text, sentence.substr(0, sentence.find(','))));
}

TEST_CASE("cli: the model as JSON is the study, length by length") {
    const json all = model({"--seqlen", "1000,70001", "--head-dim", "128", "--dtype", "bf16", "--heads", "3",
                            "--batch", "2", "--br", "64", "--bc", "32", "--hardware", "h100"});
    CHECK(all["schema"] == "tilewalk-model-1");
    CHECK(all["hardware"]["id"] == "h100");
    CHECK(all["hardware"]["host_bytes_per_s"].is_null());
    CHECK(all["hardware"]["capacity_bytes"]["value"] == 85520809984);
    CHECK_FALSE(all["hardware"]["capacity_bytes"]["source"].get<std::string>().empty());
    CHECK(all["parameters"]["tile"] == json{{"br", 64}, {"bc", 32}});
    REQUIRE(all["lengths"].size() == 2);
    for (std::size_t n = 0; n < 2; ++n) {
        StudyInput in;
        in.N = n == 0 ? 1000 : 70001;
        in.d = 128, in.heads = 3, in.batch = 2, in.tile = {64, 32};
        in.hardware = hardware("h100");
        in.lengths = {in.N};
        const Study s = study(in);
        const json& one = all["lengths"][n];
        CHECK(one["seqlen"] == in.N);
        CHECK(one["scores_bytes_one_head"] == 2 * in.N * in.N);
        CHECK(one["scores_and_probabilities_bytes"] == 4 * in.N * in.N * 6);
        CHECK(one["flash_lse_bytes"] == 4 * in.N * 6);
        // 3 query heads: 3 key heads, or 1; two matrices, two sequences, 2 bytes
        CHECK(one["kv_cache"] == json{{{"key_heads", 3}, {"bytes", 2 * 3 * in.N * 128 * 2 * 2}},
                                      {{"key_heads", 1}, {"bytes", 2 * 1 * in.N * 128 * 2 * 2}}});
        CHECK(one["fits"] == (in.N < all["first_seqlen_too_large"].get<std::int64_t>()));
        for (std::size_t a = 0; a < 3; ++a) {
            const json& algorithm = one["algorithms"][a];
            const AlgorithmStudy& mine = s.of(algorithms[a]);
            CHECK(algorithm["algorithm"] == algorithm_id(algorithms[a]));
            CHECK(algorithm["hbm_read"] == mine.traffic.hbm_read);
            CHECK(algorithm["hbm_write"] == mine.traffic.hbm_write);
            std::int64_t read = 0, write = 0;
            for (const json& share : algorithm["shares"])
                read += share["read"].get<std::int64_t>(), write += share["write"].get<std::int64_t>();
            CHECK(read == mine.traffic.hbm_read);
            CHECK(write == mine.traffic.hbm_write);
            CHECK(algorithm["all_heads"]["bytes"] == 6 * mine.traffic.total());
            CHECK(algorithm["all_heads"]["seconds"].get<double>() ==
                  std::max(algorithm["all_heads"]["memory_s"].get<double>(),
                           algorithm["all_heads"]["compute_s"].get<double>()));
        }
        CHECK(one["standard_trips"].size() == 3);
        CHECK(one["verdict"] == verdict(s));
    }
}

TEST_CASE("cli: the model without words is the tutorial's range of lengths") {
    const json all = model({});
    REQUIRE(all["lengths"].size() == 9);
    CHECK(all["lengths"][0]["seqlen"] == 512);
    CHECK(all["lengths"][8]["seqlen"] == 131072);
    CHECK(all["hardware"]["id"] == "a100-40");
    CHECK(all["first_seqlen_too_large"] == 25906);
    for (const char* rule : {"square", "paper"}) {
        const json chosen = model({"--tiles", rule});
        CHECK(chosen["parameters"]["tile"] == chosen["parameters"][std::string(rule) + "_tile"]);
        CHECK(chosen["parameters"]["tile_rule"] == rule);
    }
    CHECK(model({"--dtype", "f32"})["parameters"]["element_bytes"] == 4);
    CHECK(model({"--dtype", "f8"})["parameters"]["element_bytes"] == 1);
}

TEST_CASE("cli: the largest model is finite") {
    const json all = model({"--seqlen", "8388608,16777216", "--head-dim", "1024", "--heads", "65536",
                            "--batch", "65536", "--br", "1", "--bc", "1", "--dtype", "f32"});
    for (const json& one : all["lengths"])
        for (const json& algorithm : one["algorithms"]) {
            CHECK(algorithm["hbm_read"].get<std::int64_t>() > 0);
            CHECK(algorithm["all_heads"]["seconds"].is_number());
        }
    output_of({"model", "--seqlen", "16777216", "--heads", "65536", "--batch", "65536"});
}

TEST_CASE("cli: the model refuses what is out of range") {
    check_refused({{{"--seqlen", "0"}, "--seqlen is \"0\", expected a whole number from 1 to 16777216"},
                   {{"--seqlen", "512,"}, "--seqlen is \"512,\", expected numbers with a comma between them"},
                   {{"--seqlen", "512,x"}, "--seqlen is \"x\""},
                   {{"--seqlen", "99999999999999999999"}, "--seqlen is"},
                   {{"--head-dim", "2000"}, "--head-dim is \"2000\", expected a whole number from 1 to 1024"},
                   {{"--heads", "0"}, "--heads is \"0\""},
                   {{"--batch", "-1"}, "--batch is \"-1\""},
                   {{"--br", "0"}, "--br is \"0\""},
                   {{"--bc", "1.5"}, "--bc is \"1.5\""},
                   {{"--dtype", "f64"}, "--dtype is \"f64\", expected f32, f16, bf16 or f8"},
                   {{"--hardware", "h100x"}, "did you mean h100?"},
                   {{"--hardware", "h20"}, "expected a100-40, a100-80, h100, h200 or rtx-4090."},
                   {{"--hardware", "b200"}, "h200 or rtx-4090."},
                   {{"--tiles", "paper", "--br", "64"}, "--tiles paper chooses the tile itself"},
                   {{"--format", "md"}, "--format is \"md\", expected text or json"},
                   {{"--seqlen", "1" + repeated(",2", 64)}, "at most 64"},
                   {{"-o", "-"}, "leave -o out"}},
                  {"model"});
}

TEST_CASE("cli: the model goes into a file") {
    const Folder folder;
    CHECK(output_of({"model", "--format", "json", "-o", folder.file("m.json")}) == "");
    CHECK(json::parse(contents(folder.file("m.json")))["schema"] == "tilewalk-model-1");
}

TEST_CASE("cli: scale and memory are pages, not walks") {
    const Folder folder;
    const std::string walk = folder.file("walk.png"), picture = folder.file("page.png");
    output_of({"render", "-o", walk});
    std::optional<ui::Page> shown;
    const auto window = looking([&](ui::AppState& state) { shown = state.page; });
    for (const auto& [name, command, page] : {std::tuple("scale", "tilewalk bench", ui::Page::scale),
                                              {"memory", "tilewalk model", ui::Page::memory}}) {
        CAPTURE(name);
        check_refused({{{"trace", "--lesson", name}, command},
                       {{"render", "--lesson", name, "--step", "3", "-o", picture}, "no steps"},
                       {{"render", "--lesson", name, "--step", "all", "-o", picture}, "no steps"}});
        CHECK(folder.count() == 1);
        output_of({"render", "--lesson", name, "-o", picture});
        CHECK(contents(picture) != contents(walk));
        std::filesystem::remove(picture);
        CHECK(run({"--lesson", name, "--frames", "1"}, window).code == 0);
        CHECK(shown == page);
    }
    CHECK(run({"--lesson", "flash-forward", "--frames", "1"}, window).code == 0);
    CHECK(shown == ui::Page::walk);
}

TEST_CASE(
    "cli: the model of a ring says what a round computes and sends, and from which N sending is hidden") {
    const json all = model({"--ranks", "1,8", "--link", "25e9", "--rate", "1e14", "--seqlen", "4096,1048576",
                            "--head-dim", "128", "--causal", "--heads", "16", "--kv-heads", "4"});
    CHECK(all["schema"] == "tilewalk-ring-model-1");
    REQUIRE(all["rows"].size() == 4);
    const json &one = all["rows"][0], &small = all["rows"][2], &large = all["rows"][3];
    CHECK(one["bytes_between"] == 0);
    CHECK(one["hidden"] == true);
    CHECK(small["ranks"] == 8);
    CHECK(small["bytes_between"] == 7 * 2 * 4096 * 4 * 128 * 2);
    CHECK(small["hidden"] == false);
    CHECK(large["hidden"] == true);
    const auto from = small["hidden_from_N"].get<std::int64_t>();
    CHECK(from > 4096);
    CHECK(from < 1048576);
    CHECK(large["simulated"]["zigzag"]["busy"] > .99);
    CHECK(large["simulated"]["contiguous"]["busy"] == doctest::Approx(4 / 7.5).epsilon(.02));
    const std::string text = output_of({"model", "--ranks", "64", "--causal"});
    CHECK(text.starts_with("A100 40 GB, each at "));
    // A measured rate is that of no machine in the list.
    CHECK(all["hardware"].is_null());
    CHECK(output_of({"model", "--ranks", "4", "--rate", "60e9"}).starts_with("Each rank at 0.060 TFLOP/s;"));
    CHECK(output_of({"model", "--ranks", "4", "--rate", "60e9", "--hardware", "h100"}).starts_with("H100"));
    check_contains(text, {"hidden from N =", "zigzag", "contiguous", "A round"});
    check_refused(
        {{{"--ranks", "0"}, "--ranks"},
         {{"--ranks", "64", "--seqlen", "100"}, "64 ranks with zigzag shards need 128 positions"},
         {{"--ranks", "8", "--link", "0"}, "--link is 0, expected a rate above 0"},
         {{"--ranks", "8", "--link", "fast"}, "--link"},
         {{"--ranks", "8", "--kv-heads", "3"}, "--kv-heads is 3, expected a divisor of --heads (16)."},
         {{"--ranks", "8", "--br", "64"}, "leave out --br"},
         {{"--link", "25e9"}, "belong to --ranks"},
         {{"--causal"}, "belong to --ranks"}},
        {"model"});
}
