// Fragments, banks and comments by themselves, without a kernel.
#include "core/inside/accesses.h"
#include "core/inside/fragments.h"
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

}  // namespace tilewalk::inside
