// Questions about a kernel's run, of runs that are written down by hand: each answer follows from the numbers
// alone.
#include "core/class/questions_inside.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace tilewalk::asked_inside {

using inside::Op;
using inside::test::MadeRun;

namespace {

std::vector<Question> asked(const MadeRun& run, int warp, int k) {
    const inside::Steps steps(run.record, run.launch(), run.block());
    const inside::Origins origins(run.record, run.block(), steps);
    return questions_inside({run.record, run.block(), steps, origins}, warp, k);
}

const Question* of_kind(const std::vector<Question>& all, Question::Kind kind) {
    const auto found = std::ranges::find(all, kind, &Question::kind);
    return found == all.end() ? nullptr : &*found;
}

/// The numbers behind "C[" and ",": row and column.
std::pair<int, int> cell_in(const std::string& text) {
    const std::size_t at = text.find("C[");
    REQUIRE(at != std::string::npos);
    return {std::stoi(text.substr(at + 2)), std::stoi(text.substr(text.find(',', at) + 1))};
}

}  // namespace

TEST_CASE("questions inside: the lane of a cell, and what the likely mistakes come to") {
    MadeRun run(1, 40);
    for (int line = 1; line <= 40; ++line)
        run.whole(Op::multiply_add, 0, line, std::vector<std::uint32_t>(14));
    int lower = 0;
    for (int k = 0; k < 40; ++k) {
        const auto all = asked(run, 0, k);
        const Question* q = of_kind(all, Question::Kind::lane_of_cell);
        REQUIRE(q);
        const auto [row, column] = cell_in(q->text);
        CHECK(row > 0);
        CHECK(row < 16);
        CHECK(column < 8);
        CHECK(q->expected == row % 8 * 4 + column / 2);
        lower += row > 8;
        const auto has = [&](double value, const std::string& cause) {
            return value == q->expected || std::ranges::any_of(q->wrong, [&](const auto& one) {
                       return one.value == value && one.cause.find(cause) != std::string::npos;
                   });
        };
        if (row > 7) CHECK(has(4 * row + column / 2, "row " + std::to_string(row % 8) + "."));
        CHECK(q->explanation.why.find("of rows " + std::to_string(row % 8) + " and " +
                                      std::to_string(row % 8 + 8)) != std::string::npos);
    }
    CHECK(lower > 5);
}

namespace {

constexpr std::uint32_t device = inside::global_base;

// What eight lanes with 16 bytes each ask of the bank that is asked most: different words, counted one by
// one.
int most_of_a_bank(const std::vector<std::uint32_t>& addresses) {
    int most = 0;
    for (std::uint32_t bank = 0; bank < 32; ++bank) {
        std::set<std::uint32_t> words;
        for (const std::uint32_t address : addresses)
            for (std::uint32_t word = address / 4; word < address / 4 + 4; ++word)
                if (word % 32 == bank) words.insert(word);
        most = std::max(most, static_cast<int>(words.size()));
    }
    return most;
}

std::vector<std::vector<std::uint32_t>> lanes_with(const std::vector<std::uint32_t>& addresses,
                                                   std::size_t words) {
    std::vector<std::vector<std::uint32_t>> out;
    for (const std::uint32_t address : addresses) {
        out.emplace_back(words);
        out.back()[0] = address;
    }
    return out;
}

}  // namespace

TEST_CASE("questions inside: ways of a conflict are the words that one bank is asked for") {
    std::set<double> seen;
    for (const std::uint32_t stride : {16u, 32u, 48u, 64u, 128u, 144u, 272u}) {
        MadeRun run(1, 1);
        std::vector<std::uint32_t> all;
        for (std::uint32_t lane = 0; lane < 32; ++lane) all.push_back(1024 + lane * stride);
        run.add(Op::load_matrices, 0, 1, 16, lanes_with(all, 5));
        const auto questions = asked(run, 0, 0);
        const Question* q = of_kind(questions, Question::Kind::bank_ways);
        REQUIRE(q);
        const std::vector<std::uint32_t> first(all.begin(), all.begin() + 8);
        CHECK(q->expected == most_of_a_bank(first));
        CHECK(q->text.find("bytes 0, " + std::to_string(stride) + ", ") != std::string::npos);
        for (const WrongAnswer& wrong : q->wrong) CHECK(wrong.value != q->expected);
        seen.insert(q->expected);
    }
    CHECK(seen == std::set<double>{1, 2, 4, 8});
    // Half a warp is not asked about.
    MadeRun half(1, 1);
    half.add(Op::load_matrices, 0, 1, 16, lanes_with(std::vector<std::uint32_t>(16), 5));
    CHECK_FALSE(of_kind(asked(half, 0, 0), Question::Kind::bank_ways));
}

TEST_CASE("questions inside: sectors are what the bytes lie in, counted one by one") {
    int asked_about = 0;
    for (const std::uint32_t begin : {0u, 4u, 16u, 28u})
        for (const std::uint32_t stride : {4u, 8u, 64u, 128u})
            for (const std::uint32_t lanes : {1u, 4u, 32u})
                for (const int bytes : {4, 16}) {
                    MadeRun run(1, 1);
                    std::vector<std::uint32_t> all;
                    std::set<std::uint32_t> sectors, bytes_asked;
                    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
                        all.push_back(device + begin + lane * stride);
                        for (std::uint32_t n = 0; n < static_cast<std::uint32_t>(bytes); ++n)
                            sectors.insert((all.back() + n) / 32), bytes_asked.insert(all.back() + n);
                    }
                    run.add(Op::load, 0, 1, bytes, lanes_with(all, 1 + static_cast<std::size_t>(bytes) / 4));
                    const auto questions = asked(run, 0, 0);
                    const Question* q = of_kind(questions, Question::Kind::sectors);
                    if (!q) continue;
                    ++asked_about;
                    CHECK(q->expected == static_cast<double>(sectors.size()));
                    CHECK(q->explanation.why ==
                          "HBM sends whole sectors: " + std::to_string(bytes_asked.size()) +
                              " bytes were asked for, " + std::to_string(32 * sectors.size()) + " come.");
                    CHECK(q->text.starts_with("Next: "));
                }
    CHECK(asked_about > 40);
}

TEST_CASE("questions inside: who waits for a copy is the wait that leaves fewer groups under way") {
    MadeRun run(1, 9);
    const auto copy = [&](std::uint32_t group) {
        run.add(Op::copy_issued, 0, 2, 16, {{256, device, 16, group}});
        run.whole(Op::copies_committed, 0, 3, {group});
    };
    copy(0), copy(1);
    run.whole(Op::wait_copies, 0, 4, {1, 1});
    run.whole(Op::wait_copies, 0, 5, {0, 2});
    run.whole(Op::sync_block, 0, 6);
    run.add(Op::load_matrices, 0, 7, 16, lanes_with(std::vector<std::uint32_t>(32), 5));
    for (const int group : {0, 1}) {
        const auto questions = asked(run, 0, 2 * group);
        const Question* q = of_kind(questions, Question::Kind::waits_for_copy);
        REQUIRE(q);
        REQUIRE(q->right.size() == 1);
        const std::size_t right = static_cast<std::size_t>(q->right[0]);
        CHECK(q->choices[right] == (group == 0 ? "line 4: wait_copies" : "line 5: wait_copies"));
        CHECK(q->causes[right].empty());
        CHECK(q->choices.size() >= 3);
        CHECK(q->choices.size() <= 4);
        for (std::size_t n = 0; n < q->choices.size(); ++n) {
            CHECK(q->causes[n].empty() == (n == right));
            if (q->choices[n] == "line 3: copies_committed" || q->choices[n] == "line 3: commit_copies")
                CHECK(q->causes[n] == "This closes the group of copies; nobody waits there.");
            if (group == 1 && q->choices[n] == "line 4: wait_copies")
                CHECK(q->causes[n].starts_with("It lets so many groups be under way"));
            if (group == 0 && q->choices[n] == "line 5: wait_copies")
                CHECK(q->causes[n].starts_with("It waits for a later group"));
        }
        CHECK(q->explanation.why.find("This copy is in group " + std::to_string(group)) == 0);
    }
    // A wait alone is no choice.
    MadeRun alone(1, 9);
    alone.add(Op::copy_issued, 0, 2, 16, {{256, device, 16, 0}});
    alone.whole(Op::wait_copies, 0, 4, {0, 1});
    CHECK_FALSE(of_kind(asked(alone, 0, 0), Question::Kind::waits_for_copy));
}

}  // namespace tilewalk::asked_inside
