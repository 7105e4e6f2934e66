// Fragments, banks and comments by themselves, without a kernel.
#include "core/inside/accesses.h"
#include "core/inside/fragments.h"
#include "core/inside/meeting.h"
#include "core/inside/source.h"

#include <doctest/doctest.h>

#include <set>

namespace tilewalk::inside {

TEST_CASE("inside: every cell of a fragment has one holder, and a lane's cells are those that it holds") {
    for (const Part part : {Part::A, Part::B, Part::C}) {
        const PartInfo& of = info(part);
        std::set<std::tuple<int, int, int>> holders;
        for (int row = 0; row < of.rows; ++row)
            for (int column = 0; column < of.columns; ++column) {
                const Holder h = holder(part, row, column);
                CHECK(h.lane >= 0);
                CHECK(h.lane < 32);
                CHECK(h.reg < of.registers);
                holders.insert({h.lane, h.reg, h.half});
                const auto cells = cells_of_lane(part, h.lane);
                const int at = part == Part::C ? h.reg : 2 * h.reg + h.half;
                CHECK(cells[static_cast<std::size_t>(at)] == FragmentCell{row, column});
            }
        CHECK(holders.size() == static_cast<std::size_t>(of.rows * of.columns));
    }
    // As the PTX ISA draws them: lane 13 has row 3 and columns 2, 3 of A and C, column 3 of B.
    CHECK(holder(Part::A, 3, 2) == Holder{13, 0, 0});
    CHECK(holder(Part::A, 11, 11) == Holder{13, 3, 1});
    CHECK(holder(Part::B, 10, 3) == Holder{13, 1, 0});
    CHECK(holder(Part::C, 11, 3) == Holder{13, 3, 0});
}

TEST_CASE("inside: lanes of a conflict get their words in turns, as many as bank_turns counts") {
    for (const int stride : {0, 4, 8, 32, 36, 128, 144})
        for (const int bytes : {4, 8, 16}) {
            std::vector<std::uint32_t> addresses;
            for (std::uint32_t lane = 0; lane < 32; ++lane)
                addresses.push_back(lane * static_cast<std::uint32_t>(stride) / 4 * 4);
            const auto hits = bank_hits(addresses, 0xFFFFFFFF, bytes);
            const BankTurns turns = bank_turns(addresses, 0xFFFFFFFF, bytes);
            std::vector<int> of_phase(4);
            for (const BankHit& hit : hits) {
                CHECK(hit.bank == static_cast<int>(hit.word % banks));
                of_phase[static_cast<std::size_t>(hit.phase)] =
                    std::max(of_phase[static_cast<std::size_t>(hit.phase)], hit.turn + 1);
            }
            int all = 0;
            for (const int n : of_phase) all += n;
            CHECK(all == turns.turns);
            CHECK(hits.size() == static_cast<std::size_t>(32 * bytes / 4));
        }
}

TEST_CASE("inside: the comment on a line is the nearest one above it in its block") {
    const SourceText source = source_text("x.cu", "// f9: a kernel.\n"
                                                  "//\n"
                                                  "// What changed: all.\n"
                                                  "#include <x>\n"
                                                  "\n"
                                                  "/// Adds one.          (16 × Bc)\n"
                                                  "DEVICE int more(int x) {\n"
                                                  "    // First this\n"
                                                  "    // and that\n"
                                                  "    go();\n"
                                                  "    if (x) {\n"
                                                  "        // inner\n"
                                                  "        go();\n"
                                                  "    }\n"
                                                  "    return x + 1;\n"
                                                  "}\n");
    CHECK(idea_of(source) == "What changed: all.");
    CHECK(comment_on(source, 10) == "First this and that");
    CHECK(comment_on(source, 13) == "inner");
    CHECK(comment_on(source, 15) == "First this and that");
    CHECK(comment_on(source, 7) == "Adds one.");
    CHECK(function_of(source, 13) == "more");
    CHECK(function_of(source, 4).empty());
    CHECK(source.line(99).empty());
}

TEST_CASE(
    "inside: a function's name is what its parameters stand behind, not a macro or attribute before it") {
    const auto name = [](const char* head) { return function_of(source_text("x.cu", head), 1); };
    CHECK(name("KERNEL void THREADS(32 * warps) tensor_core(const Arguments a) {\n") == "tensor_core");
    CHECK(name("KERNEL void THREADS_ALONE(Size::threads)  // of one block\n"
               "    forward(const GRID_CONSTANT TensorMap Q, float (&S)[4]) {\n") == "forward");
    CHECK(name("KERNEL void __launch_bounds__(128, f(2)) mine(const Arguments a) {\n") == "mine");
    CHECK(name("    DEVICE typename Size::Queries Q() const { return {base(1)}; }\n") == "Q");
    CHECK(name("    DEVICE explicit Turn(int n) : stage(n % stages), parity(n / stages % 2) {}\n") == "Turn");
    CHECK(name("    DEVICE void release(MBarrier* free) noexcept(true);\n") == "release");
    CHECK(name("KERNEL_COUNT = 3\n").empty());
}

TEST_CASE("inside: a remark is the comment behind the code or right above its paragraph, or none") {
    const SourceText source = source_text("x.h", "#include <x>\n"
                                                 "\n"
                                                 "/// Walks.\n"
                                                 "DEVICE void walk() {\n"
                                                 "    // the first tile, alone\n"
                                                 "    wait();\n"
                                                 "\n"
                                                 "    for (;;) {\n"
                                                 "        const Turn now;\n"
                                                 "        wait();\n"
                                                 "        sync();  // all are done\n"
                                                 "\n"
                                                 "        // here it is\n"
                                                 "        wait();\n"
                                                 "        sync();\n"
                                                 "    }\n"
                                                 "}\n");
    CHECK(remark_on(source, 6) == "the first tile, alone");
    CHECK(remark_on(source, 10).empty());
    CHECK(remark_on(source, 11) == "all are done");
    CHECK(remark_on(source, 14) == "here it is");
    CHECK(remark_on(source, 15) == "here it is");
    CHECK(comment_on_function(source, 10) == "Walks.");
}

TEST_CASE("inside: the product of what a line reads is found by the names of its factors") {
    const SourceText source =
        source_text("x.cu", "DEVICE void multiply() {\n"
                            "    for (int n = 0; n < keys; ++n) k[n] = Kj[(n + 1) * d + c];\n"
                            "    for (int r = 0; r < rows; ++r) {\n"
                            "        const float q = Qi[r * d + c];\n"
                            "        for (int n = 0; n < keys; ++n) sum[r][n] += q * k[n];\n"
                            "    }\n"
                            "}\n"
                            "DEVICE void other() {\n"
                            "    float x = y[0];\n"
                            "}\n");
    for (const int line : {2, 4}) {
        const auto product = plain_product(source, line);
        REQUIRE(product);
        CHECK(product->line == 5);
        CHECK(product->left == "q");
        CHECK(product->left_line == 4);
        CHECK(product->right == "k");
        CHECK(product->right_line == 2);
    }
    CHECK_FALSE(plain_product(source, 9));
    CHECK(stored_name("        S[row * Z::S_stride + key] = s;") == "S");
    CHECK(stored_name("if (owner) factor[own_row] = alpha;") == "factor");
    CHECK(stored_name("alpha = x;").empty());
}

}  // namespace tilewalk::inside
