// tilewalk inside --source: a kernel of the user's own is compiled, run in a process of its own and recorded;
// what goes wrong with it gets a sentence, and nothing stays behind.
#include "app/cli/child.h"
#include "app/cli/own_kernel.h"
#include "tests/app/cli/run.h"
#include "tests/good.h"
#include "tests/part.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <memory>
#include <stop_token>

using namespace tilewalk;
using namespace tilewalk::test;
using nlohmann::json;

namespace {

/// Kernels are run by the program itself, with a folder of their own for what is temporary.
struct OwnKernels {
    Folder sources, temporary;
    Variable folder{"TMPDIR", temporary.path.string()};
    OwnKernels() { this_program() = TILEWALK_BINARY; }
    ~OwnKernels() { CHECK(temporary.count() == 0); }

    std::string file(const std::string& text) const { return sources.file("my.cu", text); }
    Ran inside(const std::string& text, const std::vector<std::string>& more = {}) const {
        return run(with({"inside", "--source", file(text), "--random", "40x32"}, more));
    }
};

/// A kernel of one block with this body.
std::string kernel(const std::string& body, int threads = 64, int shared_bytes = 1024) {
    return "KERNEL void THREADS(64) mine(const Arguments a) {\n"
           "    [[maybe_unused]] float* K = static_cast<float*>(a.K.data);\n"
           "    [[maybe_unused]] float* shared = shared_memory<float>();\n" +
           body + "\n}\nvoid run(const Arguments& a, Stream& stream) { launch(stream, {1, 1, 1, " +
           std::to_string(threads) + ", " + std::to_string(shared_bytes) + "}, mine, a); }\n";
}

/// Checks that a kernel with this body ends with those words, and is not called free of races.
auto refuses(const OwnKernels& own) {
    // The compiler takes a second for each.
    return [&own, part = Part("TILEWALK_KERNELS", 2)](const std::string& before, const std::string& body,
                                                      const std::string& words) mutable {
        if (!part.takes()) return;
        const Ran ran = own.inside(before + kernel(body));
        CAPTURE(body);
        CHECK(ran.code != 0);
        check_contains(ran.err, {words});
        CHECK_FALSE(contains(ran.out, "No two accesses race"));
    };
}

std::string example_of_the_document() {
    const std::string text = contents(TILEWALK_SOURCE_DIR "/docs/inside.md"), begin = "```cuda\n";
    const std::size_t from = text.find(begin) + begin.size();
    return text.substr(from, text.find("```\n", from) - from);
}

}  // namespace

TEST_CASE("own kernel: the example of docs/inside.md runs as it stands there") {
    const OwnKernels own;
    const std::string text = example_of_the_document();
    const Ran ran = own.inside(text);
    CHECK(ran.code == 0);
    check_contains(ran.out, {"my.cu: your own kernel (f32)", "40 × 1 × 1 blocks of 32 threads", "my.cu:7",
                             "No two accesses race."});
    const json all = json::parse(own.inside(text, {"--format", "json"}).out);
    std::map<std::string, std::int64_t> warps;
    for (const json& line : all["launches"][0]["lines"]) {
        CHECK(line["file"] == "my.cu");
        warps[line["op"]] += line["warps"].get<std::int64_t>();
    }
    // 40 queries; 40 keys take two rounds of 32 lanes, each with 32 columns of Q and of K
    CHECK(warps["shuffle"] == 40 * 5);
    CHECK(warps["load"] == 40 * 2 * 32 * 2);
    CHECK(warps["store"] == 40);
    check_contains(own.inside(text, {"--format", "html"}).out,
                   {"Inside my.cu", "largest_score", "No two accesses race."});
}

TEST_CASE("own kernel: a race ends with 1, and names both lines") {
    const OwnKernels own;
    const Ran ran =
        own.inside(kernel("    shared[thread()] = 1;\n    a.L[thread() % 32] = shared[thread() ^ 32];"));
    CHECK(ran.code == 1);
    check_contains(ran.out, {"RACE at shared memory", "store at my.cu:4", "load at my.cu:5"});
    CHECK(contains(ran.err, "my.cu: two accesses to one address race."));
    CHECK(own.inside(
                 kernel("    shared[thread()] = 1;\n    sync_block();\n    float x = shared[thread() ^ 32];\n"
                        "    if (thread() < 32) a.L[thread()] = x;"))
              .code == 0);
}

TEST_CASE("own kernel: what cannot be compiled is refused, with the first error and its line") {
    const OwnKernels own;
    const auto refused = [&](const std::string& text, std::initializer_list<std::string_view> parts) {
        const Ran ran = own.inside(text);
        CAPTURE(ran.err);
        CHECK(ran.code == 2);
        CHECK(ran.out == "");
        check_contains(ran.err, parts);
    };
    refused("void run(const Arguments& a, Stream& s) {}\n// KERNEL, and \"KERNEL\"\n",
            {"my.cu has no KERNEL"});
    refused("KERNEL void mine(Arguments a) {}\n/* run( */\n", {"my.cu has no function run("});
    refused(kernel("    a.L[0] = unknown;"), {"my.cu does not compile: my.cu:4:", "error: ", "unknown"});
    refused("#include \"not_there.h\"\n" + kernel(""), {"my.cu:1:", "not_there.h"});
    // Before it is said that it will run
    const std::string none = own.sources.file("no.cu"), empty = own.sources.file("empty.cu", "");
    check_refused({{{"inside", "--source", none}, "no.cu"},
                   {{"--source", none}, "no.cu"},
                   {{"render", "--source", none, "-o", own.sources.file("a.png")}, "no.cu"},
                   {{"inside", "--source", empty}, "empty.cu has no KERNEL"}});
    CHECK(run({"inside", "--source", "x.cu", "--kernel", "f5-flash2"}).code == 2);
    CHECK(run({"--source", "x.cu", "--lesson", "flash-forward"}).code == 2);
}

TEST_CASE("own kernel: structs in memory are refused: what their members do cannot be seen") {
    const OwnKernels own;
    auto refused = refuses(own);
    const std::string pair = "struct Pair { float x, y; };\n",
                      vector = "struct alignas(16) Four { float a[4]; };\n",
                      named = "typedef struct { float x; } One;\nusing Ones = One*;\n";
    refused(pair, "    Pair* s = shared_memory<Pair>();\n    s[thread()].x = 1;", "through the struct Pair");
    refused(pair, "    auto s = shared_memory<Pair>();\n    s[thread()].x = 1;", "through the struct Pair");
    refused(vector, "    const Four v = reinterpret_cast<const Four*>(shared)[0];\n    K[0] = v.a[1];",
            "through the struct Four");
    refused(named, "    auto s = reinterpret_cast<Ones>(shared);\n    s[thread()].x = 1;",
            "a member of a struct");
    refused("#include <cstring>\n", "    float one;\n    memcpy(&one, K, 4);\n    K[1] = one;",
            "calls memcpy");
    // In registers, and as a parameter of templates, they are no trouble.
    CHECK(own.inside("struct Sizes { static constexpr int rows = 2; };\n" + pair +
                     kernel("    Pair p{1, 2};\n    if (thread() == 0) K[0] = p.x + Sizes::rows;"))
              .code == 0);
}

TEST_CASE("own kernel: a read at a constant index is one of its own address") {
    const OwnKernels own;
    const auto races = [&](const std::string& body) {
        const Ran ran = own.inside(kernel(body));
        CAPTURE(body);
        CAPTURE(ran.err);
        REQUIRE((ran.code == 0 || contains(ran.err, "race")));
        CHECK(contains(ran.out, "No two accesses race.") == (ran.code == 0));
        return ran.code == 1;
    };
    const std::string alone = "    float x = shared[63];\n    if (thread() == 0) a.L[0] = x;";
    CHECK_FALSE(races("    if (thread() == 40) shared[0] = 1;\n" + alone));
    CHECK(races("    if (thread() == 40) shared[63] = 1;\n" + alone));
    CHECK(races("    if (thread() == 0) shared[63] = 1;\n" + alone));
    CHECK(races("    if (thread() == 0) shared[63] = 1;\n    float x;\n    x = *(shared + 63);\n"
                "    if (thread() == 0) a.L[0] = x;"));
    CHECK_FALSE(races("    if (thread() == 0) shared[63] = 1;\n    sync_block();\n" + alone));
}

TEST_CASE("own kernel: an access of which only its row is known ends the run") {
    const OwnKernels own;
    auto refused = refuses(own);
    const std::string row = "only where its row of an array begins";
    const std::string rows = "    auto* rows = reinterpret_cast<float(*)[16]>(shared);\n";
    refused("", rows + "    rows[1][thread() % 16] = 1;", "my.cu:5: of this access");
    refused("", rows + "    K[0] = rows[thread() % 2][3];", row);
    // Rows in registers are no trouble, nor is a reference to them.
    CHECK(own.inside("float last(const float (&row)[4]) { return row[3]; }\n" +
                     kernel("    float two[2][4] = {};\n    two[thread() % 2][1] = 1;\n"
                            "    const auto add = [&](int n) { two[1][n] += 1; };\n    add(3);\n"
                            "    if (thread() == 0) K[0] = last(two[1]);"))
              .code == 0);
    const std::string bytes = "through single bytes (";
    refused("", "    bool* s = shared_memory<bool>();\n    s[0] = true;", bytes + "bool)");
    refused("", "    auto s = shared_memory<unsigned char>();\n    s[0] = 1;", bytes + "char)");
    refused("using Flag = signed char;\n", "    auto s = reinterpret_cast<Flag*>(shared);\n    s[0] = 1;",
            bytes + "Flag)");
    refused("typedef bool Flag;\n", "    Flag& s = reinterpret_cast<Flag&>(shared[0]);\n    s = 1;",
            bytes + "Flag)");
    CHECK(own.inside(kernel("    const bool first = thread() == 0;\n"
                            "    if (static_cast<bool>(first)) K[0] = 1;"))
              .code == 0);
}

TEST_CASE("own kernel: without a compiler that is said") {
    const OwnKernels own;
    const Variable nothing("PATH", own.sources.path.string()), unnamed("CXX", "");
    const Ran ran = own.inside(kernel(""));
    CHECK(ran.code == 1);
    CHECK(contains(ran.err, "my.cu must be compiled, and no compiler for C++ is installed here"));
    const Variable named("CXX", "my-compiler --fast");
    CHECK(contains(own.inside(kernel("")).err, "there is no my-compiler"));
}

TEST_CASE("own kernel: headers beside the source, and those of the ladder") {
    const OwnKernels own;
    own.sources.file("mine.h", "constexpr int seven = 7;\n");
    CHECK(own.inside("#include \"mine.h\"\n#include \"cuda/kernels/fragments.h\"\n" +
                     kernel("    if (thread() == 0) a.L[0] = seven;"))
              .code == 0);
}

// What the program itself has of a name is found when the kernel is loaded, or not at all.
TEST_CASE("own kernel: the names of additions, vectors, fragments and barriers in memory") {
    const OwnKernels own;
    for (const char* body :
         {"    atomic_add(a.L, 1.0f);",
          "    if (thread() == 0) store4(static_cast<float*>(a.O.data), load4(K));",
          "    bf16* s = shared_memory<bf16>();\n    std::uint32_t r[4];\n    float c[4] = {};\n"
          "    load_matrices(r, s + lane() * 8);\n    load_transposed(r, s + lane() * 8);\n"
          "    multiply_add<bf16>(c, r, r[0], r[1]);",
          "    MBarrier* met = shared_memory<MBarrier>();\n    if (thread() == 0) init_barrier(met, 64);\n"
          "    publish_barriers();\n    sync_block();\n    arrive_at(met);\n    wait_for(met, 0);",
          "    copy_async(shared + 4 * thread(), K + 4 * thread(), true);\n    commit_copies();\n"
          "    wait_copies<0>();",
          "    shared[thread()] = sum_of_warp(shuffle_xor(exp2_of(1.0f), 1));"}) {
        CAPTURE(body);
        const Ran ran = own.inside(kernel(body));
        CAPTURE(ran.err);
        CHECK(ran.code == 0);
    }
}

TEST_CASE(
    "own kernel: one that reads or writes outside, waits forever or throws is stopped with a sentence") {
    const OwnKernels own;
    Part part("TILEWALK_KERNELS", 3);
    const auto stopped = [&](const std::string& text, std::initializer_list<std::string_view> parts) {
        if (!part.takes()) return;
        const Ran ran = own.inside(text);
        CAPTURE(ran.err);
        CHECK(ran.code == 1);
        CHECK(ran.out == "");
        check_contains(ran.err, parts);
    };
    stopped(
        kernel("    if (thread() == 3) a.L[0] = K[40 * 32 + thread()];"),
        {"my.cu:4: warp 0, lane 3 of block 0 reads 4 bytes at index 1283 of K, which has 1280 of 4 bytes."});
    stopped(
        kernel("    if (thread() == 35) a.L[a.N_q + 1000] = 1;"),
        {"my.cu:4: warp 1, lane 3 of block 0 writes 4 bytes at index 1040 of L, which has 40 of 4 bytes."});
    stopped(kernel("    if (thread() == 0) K[-1] = 1;"), {"writes 4 bytes at index -1 of K, which has 1280"});
    stopped(kernel("    if (thread() == 0) K[-1 - 2000000] = 1;"), {"my.cu:4", "writes 4 bytes at index"});
    stopped(kernel("    shared[256] = 1;"),
            {"writes 4 bytes at byte 1024 of shared memory, which has 1024 bytes."});
    stopped(kernel("    if (thread() == 0) a.L[0] = *static_cast<float*>(a.dO.data);"),
            {"my.cu was ended by the system: it read or wrote where there is no memory."});
    stopped(kernel("    if (warp() == 0) sync_block();"),
            {"Deadlock in block 0, 0, 0", "warp 1 has ended", "Last seen: warp 0 at my.cu:"});
    stopped(kernel("    while (true) a.L[0] += 1;"), {"my.cu:4", "does not come to an end or a barrier"});
    stopped("#include <stdexcept>\nKERNEL void mine(Arguments) {}\n"
            "void run(const Arguments&, Stream&) { throw std::runtime_error(\"no grid\"); }\n",
            {"no grid"});
    stopped(
        "KERNEL void mine(Arguments) {}\nvoid helper();\nvoid run(const Arguments&, Stream&) { helper(); }\n",
        {"my.cu cannot be loaded", "helper"});
}

TEST_CASE("own kernel: one that only computes, forever, is stopped after its seconds") {
    const OwnKernels own;
    gpu::RecordRequest request;
    request.kernel = own.file(kernel("    volatile int n = 0;\n    while (true) n = n + 1;"));
    request.dtype = DType::f32;
    request.problem = good(random_problem(8, 4, 1));
    OwnKernelBudget budget;
    budget.computing = 1;
    gpu::TraceFailed how{};
    const auto record = record_own_source(request, &how, budget);
    REQUIRE_FALSE(record);
    CHECK(how == gpu::TraceFailed::device);
    const std::string sentence = "my.cu did not come to its end: it was stopped after 1 second of computing. "
                                 "'tilewalk inside --source' "
                                 "gives it more with --seconds.";
    CHECK(record.error == sentence);
    const Ran ran = run({"inside", "--source", request.kernel, "--random", "8x4", "--seconds", "1"});
    CHECK(ran.code == 1);
    check_contains(ran.err, {sentence});
    check_refused({{{"--source", request.kernel, "--seconds", "0"}, "--seconds"},
                   {{"--seconds", "5"}, "--seconds is of your own kernel"}},
                  {"inside"});
    request.kernel = own.file("#include <unistd.h>\n" + kernel("    ::pause();"));
    budget.computing = 60, budget.running = 2;
    CHECK(record_own_source(request, &how, budget).error ==
          "my.cu did not come to its end: it was stopped after 2 seconds.");
    std::stop_source stop;
    request.stop = stop.get_token();
    stop.request_stop();
    CHECK(record_own_source(request).error == "Cancelled.");
}

TEST_CASE("own kernel: it says how far it is, and can be stopped while it is compiled and while it runs") {
    const OwnKernels own;
    gpu::RecordRequest request;
    request.dtype = DType::f32, request.blocks = {0}, request.problem = *random_problem(40, 32, 1);
    request.blocks_done = std::make_shared<std::atomic<int>>(7);
    request.kernel = own.file(example_of_the_document());
    int least = 7;
    const auto record =
        record_own_source(request, nullptr, {}, [&] { least = std::min<int>(least, *request.blocks_done); });
    REQUIRE(record);
    CHECK(least == -1);
    CHECK(*request.blocks_done == 40);
    request.kernel = own.file(kernel("    volatile float x = 1;\n    for (;;) x = x + 1;"));
    for (const int when : {-1, 0}) {
        std::stop_source stop;
        request.stop = stop.get_token(), *request.blocks_done = 7;
        const auto stopped = record_own_source(request, nullptr, {}, [&] {
            if (*request.blocks_done == when) stop.request_stop();
        });
        CHECK_FALSE(stopped);
        CHECK(stopped.error == "Cancelled.");
    }
}

TEST_CASE("own kernel: it opens in the window, with its text, and says beforehand that it runs") {
    const OwnKernels own;
    const OwnSettings settings;
    const Ran ran =
        run({"--source", own.file(example_of_the_document()), "--frames", "1"}, looking([](ui::AppState& s) {
                CHECK(s.page == ui::Page::inside);
                CHECK(s.inside.agreed);
                CHECK(s.inside.source.ends_with("/my.cu"));
                REQUIRE(s.hooks.record_source);
                gpu::RecordRequest request;
                request.kernel = s.inside.source, request.dtype = DType::f32;
                request.problem = *s.problem;
                request.blocks = {0};
                std::string text;
                const auto record = good(s.hooks.record_source(request, text));
                CHECK(record.kernel == "my.cu");
                CHECK(contains(text, "largest_score"));
            }));
    CHECK(ran.code == 0);
    CHECK(contains(own_code_warning("/x/my.cu"), "my.cu is compiled and runs on this machine"));
}
