// From the steps of flash-forward to the lane that does them and back: the number there is the step's, and it
// lies where the record alone says that this row and column lie.
#include "core/base/numbers.h"
#include "core/compare/kernel_compare.h"
#include "core/inside/lesson_step.h"
#include "core/inside/origin.h"
#include "core/inside/sums.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <set>

namespace tilewalk::inside {

using test::contains;

namespace {

struct Bridged {
    std::string kernel;
    DType type;
    Problem problem;
    std::shared_ptr<const Trace> walk;
    std::unique_ptr<gpu::BridgedRecord> run;
    std::vector<std::unique_ptr<Steps>> steps;
    std::vector<std::unique_ptr<Origins>> origins;

    /// Walked in the kernel's tiles, rounded where it rounds.
    Bridged(std::string name, DType of, Problem given, int block = 0)
        : kernel(std::move(name)), type(of), problem(std::move(given)) {
        auto made =
            gpu::record_bridged({.kernel = kernel, .dtype = type, .problem = problem, .blocks = {block}});
        REQUIRE_MESSAGE(made, made.error);
        run = std::make_unique<gpu::BridgedRecord>(std::move(*made));
        problem.Br = run->record.Br, problem.Bc = run->record.Bc;
        problem.precision = kernel_precision(type);
        walk = (*find_lesson("flash-forward"))(problem);
        for (const Launch& launch : run->record.launches) {
            steps.push_back(std::make_unique<Steps>(run->record, launch, launch.blocks.front()));
            origins.push_back(std::make_unique<Origins>(run->record, launch.blocks.front(), *steps.back()));
        }
    }
    const BlockRecord& block(const HeldAt& held) const {
        return run->record.launches[std::size_t(held.launch)].blocks.front();
    }
    const Event& event(const HeldAt& held) const {
        return block(held).events[steps[std::size_t(held.launch)]->event(held.warp, held.step)];
    }
    std::span<const std::uint32_t> words(const HeldAt& held) const {
        const Event& e = event(held);
        const auto rank = std::size_t(std::popcount(e.lanes & ((1u << held.lane) - 1)));
        return block(held).words_of(e).subspan(rank * e.words, e.words);
    }
    std::optional<HeldAt> find(const KernelNumber& number) const {
        if (number.number) return run->bridge.find(*number.number);
        for (std::size_t n = 0; n < steps.size(); ++n) {
            auto held = find_element(run->record, run->record.launches[n].blocks.front(), *steps[n],
                                     number.region, number.row, number.column, number.writes);
            if (held) return held->launch = int(n), held;
        }
        return std::nullopt;
    }
};

/// Numbers of the type's rounding: what a sum of so many products of rounded numbers may be off.
double tolerance(DType type, double value) {
    const double unit = type == DType::f32 ? 2e-6 : type == DType::f16 ? 1e-3 : 8e-3;
    return unit * (1 + std::fabs(value));
}

std::vector<CellRef> cells_of(const Trace& walk, int k) {
    const tilewalk::Region region = step_region(walk, k);
    std::vector<CellRef> out;
    for (int row = region.row; row < region.row + region.rows; row += 3)
        for (const int column : {0, region.cols / 2, region.cols - 1}) {
            CellRef cell = cell_of_row(walk, k, row, column);
            out.push_back(cell);
            if (cell.slot == Slot::Kj) cell.slot = Slot::Vj, out.push_back(cell);
            if (cell.slot == Slot::O) out.push_back({Slot::L, cell.row, 0});
        }
    return out;
}

/// The sums that a wait has brought, by the tiles that their products read.
void check_sums(const Bridged& b, const Number& number, const HeldAt& held) {
    const std::size_t launch = std::size_t(held.launch);
    const BlockRecord& block = b.run->record.launches[launch].blocks.front();
    const NamedSums named =
        named_sums(b.run->record, block, *b.steps[launch], *b.origins[launch], held.warp, held.step);
    const FragmentCell cell = TileSums::cell(held.lane, held.word - TileSums::first_sum);
    CHECK(named.C == (number.quantity == Quantity::S ? Matter::S : Matter::O));
    CHECK(named.row + cell.row == number.row);
    CHECK(named.column + cell.column == number.column);
    CHECK(b.words(held)[std::size_t(held.word)] == std::bit_cast<std::uint32_t>(held.value));
}

/// What the record says of this place without the twin: a product's own row and column, an exponential of
/// that bit, a maximum that came together there.
void check_place(const Bridged& b, const Number& number, const HeldAt& held) {
    const Event& e = b.event(held);
    const auto words = b.words(held);
    CHECK((e.lanes >> held.lane & 1) == 1);
    if (held.how == HeldAt::How::stored) CHECK(words[1] == std::bit_cast<std::uint32_t>(held.value));
    if (held.how != HeldAt::How::given) return;
    if (e.op == Op::wait_products) return check_sums(b, number, held);
    switch (number.quantity) {
    case Quantity::S: {
        REQUIRE(e.op == Op::multiply_add);
        const Origins& origins = *b.origins[std::size_t(held.launch)];
        const FragmentCell cell = cell_of_register(held.lane, held.word - 10);
        const auto q = origins.trace(held.warp, held.step, Part::A, cell.row, 0);
        const auto k = origins.trace(held.warp, held.step, Part::B, 0, cell.column);
        REQUIRE(!q.empty());
        REQUIRE(!k.empty());
        CHECK(element_of(b.run->record, q.back().address)->row == number.row);
        CHECK(element_of(b.run->record, k.back().address)->row == number.column);
        CHECK(words[std::size_t(held.word)] == std::bit_cast<std::uint32_t>(held.value));
        break;
    }
    case Quantity::O: {
        REQUIRE(e.op == Op::multiply_add);
        const Origins& origins = *b.origins[std::size_t(held.launch)];
        const FragmentCell cell = cell_of_register(held.lane, held.word - 10);
        const auto v = origins.trace(held.warp, held.step, Part::B, 0, cell.column);
        REQUIRE(!v.empty());
        // Behind the last key a tile is filled up with zeros from nowhere.
        const auto element = element_of(b.run->record, v.back().address);
        CHECK((element || b.problem.N_kv() % b.run->record.Bc != 0));
        if (element) CHECK(element->column == number.column);
        CHECK(words[std::size_t(held.word)] == std::bit_cast<std::uint32_t>(held.value));
        break;
    }
    case Quantity::m: {
        REQUIRE(e.op == Op::shuffle);
        CHECK(std::fmax(std::bit_cast<float>(words[0]), std::bit_cast<float>(words[2])) == held.value);
        CHECK((held.lanes >> words[1] & 1) == 1);
        break;
    }
    case Quantity::alpha:
    case Quantity::P:
        CHECK((e.op == Op::exp2 || e.op == Op::exp));
        CHECK(std::fabs(std::bit_cast<float>(words[1]) - held.value) <= tolerance(b.type, held.value));
        break;
    default: CHECK(e.op == Op::shuffle); break;
    }
}

void check_way_back(const Bridged& b, int k, const CellRef& cell, const Number& number) {
    const LessonCell back = lesson_cell(*b.walk, number, b.run->record);
    const tilewalk::Op op = b.walk->step(k).op;
    if (op == tilewalk::Op::tile_max) return;               // the kernel takes m̃ and m together: m's step
    if (op != tilewalk::Op::scores) CHECK(back.step == k);  // where a mask cuts S, its step has the last word
    CHECK(back.cell == cell);
    const auto held = b.run->bridge.find(number);
    const auto here = b.run->bridge.at(held->launch, held->warp, held->step, held->lane, held->word);
    CHECK(std::ranges::any_of(here, [&](const Bridge::Entry& e) { return e.number == number; }));
}

/// Every step of the walk that this block computes. Returns the kinds that were found.
std::set<std::string> check_walk(const Bridged& b, int block) {
    std::set<std::string> kinds;
    for (int k = 0; k < b.walk->size(); ++k)
        for (const CellRef& cell : cells_of(*b.walk, k)) {
            const auto number = kernel_number(*b.walk, k, cell, b.run->record);
            if (!number) continue;
            if (b.run->bridge.block_of(number->beside) != block) continue;
            CAPTURE(b.kernel);
            CAPTURE(k);
            CAPTURE(info(cell.slot).name);
            CAPTURE(cell.row);
            CAPTURE(cell.col);
            const auto held = b.find(*number);
            REQUIRE(held);
            kinds.insert(number->number ? info(b.walk->step(k).op).name
                                        : number->region + (number->writes ? " out" : " in"));
            if (number->number) check_place(b, *number->number, *held);
            if (!number->same || std::isnan(held->value)) continue;  // of a tile that comes by itself
            // m̃ of a later tile is no more than m; a score that is masked is a product until the mask.
            const tilewalk::Op op = b.walk->step(k).op;
            if (op == tilewalk::Op::tile_max && number->value < scaled(*number, *held)) continue;
            if (op == tilewalk::Op::scores && std::isinf(held->value)) continue;
            const double there = scaled(*number, *held);
            if (std::isinf(number->value))
                CHECK(there == number->value);
            else
                CHECK(std::fabs(there - number->value) <= tolerance(b.type, number->value));
            if (number->number) check_way_back(b, k, cell, *number->number);
        }
    return kinds;
}

}  // namespace

TEST_SUITE("inside") {
    TEST_CASE("the number at the bridge's place is the step's, for every kind of step and every rung") {
        struct Case {
            const char* kernel;
            DType type;
        };
        for (const Case& c : {Case{"f2-tiled-fp32", DType::f32},
                              {"f3-warp-rows", DType::f32},
                              {"f4-tensor-core", DType::bf16},
                              {"f4b-copies-ahead", DType::f16},
                              {"f5-flash2", DType::bf16},
                              {"f5-flash2", DType::f16},
                              {"f6-split", DType::bf16},
                              {"f7-hopper", DType::bf16}}) {
            for (const bool causal : {false, true}) {
                Problem p = *random_problem(140, 64, 3);
                p.causal = causal;
                const Bridged b(c.kernel, c.type, p);
                const auto kinds = check_walk(b, 0);
                for (const char* kind : {"Q in", "K in", "V in", "scores", "tile_max", "new_max",
                                         "correction", "exponentials", "row_sum", "output", "O out", "L out"})
                    CHECK_MESSAGE(kinds.contains(kind), c.kernel, ": ", kind);
                CHECK(kinds.contains("mask") == causal);
            }
        }
    }

    TEST_CASE("a row of a later block is found where that block is kept") {
        const Problem p = *random_problem(140, 64, 3);
        const Bridged first("f5-flash2", DType::bf16, p);
        const Number row{Quantity::alpha, 130, 0, 1};
        CHECK_FALSE(first.run->bridge.find(row));
        REQUIRE(first.run->bridge.block_of(row) == 1);
        const Bridged second("f5-flash2", DType::bf16, p, 1);
        CHECK(second.run->bridge.find(row));
        CHECK(check_walk(second, 1).contains("correction"));
    }

    TEST_CASE("keys of a mask's removed tile lead nowhere") {
        Problem p = *random_problem(140, 64, 3);
        p.causal = true;
        const Bridged b("f5-flash2", DType::bf16, p);
        CHECK(b.run->bridge.block_of({Quantity::m, 0, 0, 2}) == -1);
        CHECK_FALSE(b.run->bridge.find({Quantity::S, 0, 139, 2}));
    }

    TEST_CASE("fragments: who shares m, who has a part of the sum, and which register a score is in") {
        const Bridged b("f5-flash2", DType::bf16, *random_problem(128, 64, 1));
        const auto m = b.run->bridge.find({Quantity::m, 3, 0, 0}),
                   l = b.run->bridge.find({Quantity::l, 3, 0, 0});
        const auto alpha = b.run->bridge.find({Quantity::alpha, 3, 0, 1});
        REQUIRE(m);
        REQUIRE(l);
        REQUIRE(alpha);
        CHECK(m->lane == 12);  // row 3 of a fragment lies in lanes 12 to 15
        CHECK(m->lanes == 0xF000u);
        CHECK(alpha->lanes == 0xF000u);
        CHECK(l->how == HeldAt::How::parts);
        CHECK(l->lanes == 0xF000u);
        const auto score = b.run->bridge.find({Quantity::S, 3, 5, 0});
        REQUIRE(score);
        CHECK(score->lane == 14);
        CHECK(score->word == 10 + 1);
        // The twin writes m, α and ℓ down in lane 12; the others that have them find them as well.
        for (int lane = 12; lane < 16; ++lane)
            for (const auto& [held, the_quantity] :
                 {std::pair{*m, Quantity::m}, {*alpha, Quantity::alpha}, {*l, Quantity::l}}) {
                const auto& quantity = the_quantity;
                const auto here = b.run->bridge.at(0, held.warp, held.step, lane);
                const auto own = std::ranges::find_if(here, [&](const Bridge::Entry& e) {
                    return e.number.quantity == quantity && e.number.row == 3;
                });
                REQUIRE(own != here.end());
                CHECK(own->held.lane == lane);
                CHECK(own->held.value == held.value);
            }
        const auto other = b.run->bridge.at(0, alpha->warp, alpha->step, 16);
        CHECK(std::ranges::none_of(other, [](const Bridge::Entry& e) { return e.number.row == 3; }));
    }

    TEST_CASE("f7: a score, and O, are given by the wait that brings them, and lead to their register") {
        const Bridged b("f7-hopper", DType::bf16, *random_problem(128, 64, 1));
        const auto score = b.run->bridge.find({Quantity::S, 67, 21, 0});
        REQUIRE(score);
        CHECK(score->how == HeldAt::How::given);
        const FragmentCell cell = TileSums::cell(score->lane, score->word - TileSums::first_sum);
        CHECK(cell == FragmentCell{3, 21});
        const auto output = b.run->bridge.find({Quantity::O, 67, 5, 1});
        REQUIRE(output);
        CHECK(output->how == HeldAt::How::given);
        CHECK(TileSums::cell(output->lane, output->word - TileSums::first_sum) == FragmentCell{3, 5});
    }

    TEST_CASE("a part of ℓ is held where the lane's last key that the row sees is added, not where 0 is") {
        for (const char* kernel : {"f4-tensor-core", "f5-flash2"}) {
            Problem ragged = *random_problem(37, 64, 1), causal = *random_problem(64, 64, 1);
            causal.causal = true;
            for (const Problem& problem : {ragged, causal}) {
                const Bridged b(kernel, DType::bf16, problem);
                int seen = 0;
                for (const Bridge::Entry& entry : b.run->bridge.all()) {
                    if (entry.number.quantity != Quantity::l || entry.held.how != HeldAt::How::parts)
                        continue;
                    const Event& e = b.event(entry.held);
                    if (e.op != Op::exp2) continue;
                    ++seen;
                    CHECK(std::bit_cast<float>(b.words(entry.held)[1]) > 0);
                }
                CHECK(seen >= 30);
            }
        }
    }

    TEST_CASE("what stands behind a step of f7 is the mask's, or plain arithmetic, and never a product's") {
        const Bridged b("f7-hopper", DType::bf16, *random_problem(100, 64, 1));
        int masked = 0;
        for (const Bridge::Entry& entry : b.run->bridge.all()) {
            const bool of_product =
                entry.number.quantity == Quantity::S || entry.number.quantity == Quantity::O;
            if (entry.held.how != HeldAt::How::behind || !of_product) continue;
            masked += std::isinf(entry.held.value);
            CHECK(std::isinf(entry.held.value));
        }
        Problem causal = *random_problem(64, 64, 1);
        causal.causal = true;
        const Bridged cut("f7-hopper", DType::bf16, causal);
        for (const Bridge::Entry& entry : cut.run->bridge.all())
            if (entry.number.quantity == Quantity::S && entry.number.column > entry.number.row) {
                ++masked;
                CHECK(held_text(entry.held) ==
                      "the mask makes it −∞ behind this step, in a register of the lane");
            }
        CHECK(masked > 0);
        HeldAt plain;
        plain.how = HeldAt::How::behind, plain.value = 1;
        CHECK(held_text(plain) == "plain arithmetic makes it behind this step, in a register of the lane");
    }

    TEST_CASE("a small problem: what differs is said") {
        Problem p = *random_problem(8, 4, 1);
        p.Br = p.Bc = 2;
        const auto run = gpu::record_bridged({.problem = p, .blocks = {0}});
        REQUIRE_MESSAGE(run, run.error);
        const auto walk = (*find_lesson("flash-forward"))(p);
        int same = 0, other = 0;
        for (int k = 0; k < walk->size(); ++k) {
            const CellRef cell = cell_of_row(*walk, k, step_region(*walk, k).row);
            const auto number = kernel_number(*walk, k, cell, run->record);
            if (!number || !number->number) continue;
            ++(number->same ? same : other);
            CHECK(other_keys_text(*walk, k, *number, run->record).empty() == number->same);
            CHECK(run->bridge.find(*number->number));
        }
        CHECK(same > 0);
        CHECK(other > 0);
    }

    TEST_CASE("an element of Q, K, V, O or L leads to the step that loads or stores it, and back to itself") {
        Problem p = *random_problem(140, 64, 3);
        p.causal = true;
        const Bridged b("f5-flash2", DType::bf16, p);
        for (const auto& [the_region, op] : {std::pair("Q", tilewalk::Op::load_q),
                                             {"K", tilewalk::Op::load_kv},
                                             {"V", tilewalk::Op::load_kv},
                                             {"O", tilewalk::Op::store},
                                             {"L", tilewalk::Op::store}}) {
            const std::string region = the_region;
            CAPTURE(region);
            for (const int row : {0, 63, 64, 127, 128, 139}) {
                const int column = region == "L" ? 0 : 37;
                const LessonCell cell = lesson_cell(*b.walk, region, row, column, row);
                REQUIRE(cell.step >= 0);
                CHECK(b.walk->step(cell.step).op == op);
                const auto number = kernel_number(*b.walk, cell.step, cell.cell, b.run->record);
                REQUIRE(number);
                CHECK(number->region == region);
                CHECK(number->row == row);
                CHECK(number->column == column);
                CHECK(number->writes == (op == tilewalk::Op::store));
                const Matrix& given = region == "Q" ? p.Q : region == "K" ? p.K : p.V;
                if (op != tilewalk::Op::store)
                    CHECK(number->value == round_to(format_of(DType::bf16), given(row, column)));
            }
        }
        // A query of the first block does not see the last keys, and P̃ lies in no memory of the device.
        CHECK(lesson_cell(*b.walk, "K", 139, 0, 0).step == -1);
        CHECK(lesson_cell(*b.walk, "P", 0, 0, 0).step == -1);
        // Before the first tile m is plain code.
        int plain = 0;
        for (int k = 0; k < b.walk->size(); ++k)
            if (b.walk->step(k).op == tilewalk::Op::skip || b.walk->step(k).op == tilewalk::Op::init) {
                const auto none = kernel_number(*b.walk, k, {Slot::m, 0, 0}, b.run->record);
                CHECK_FALSE(none);
                CHECK(contains(none.error, b.walk->step(k).op == tilewalk::Op::skip
                                               ? "The mask removes this tile"
                                               : "plain code of registers"));
                ++plain;
            }
        CHECK(plain >= 3);
    }

    TEST_CASE("the next number of a lane is the first one from that step on, else its last") {
        const Bridged b("f5-flash2", DType::bf16, *random_problem(128, 64, 1));
        std::map<std::pair<int, int>, std::vector<int>> steps;  // of each warp's lane
        for (const Bridge::Entry& e : b.run->bridge.all())
            if (e.held.launch == 0) steps[{e.held.warp, e.held.lane}].push_back(e.held.step);
        REQUIRE(steps.size() > 20);
        for (auto& [who, all] : steps) {
            std::ranges::sort(all);
            const auto [warp, lane] = who;
            for (const int from : {0, all.front() + 1, all[all.size() / 2], all.back(), all.back() + 1}) {
                const auto next = b.run->bridge.next(0, warp, from, lane);
                REQUIRE(next);
                const auto own = std::ranges::lower_bound(all, from);
                // What the lane shares with others may come earlier.
                if (own != all.end())
                    CHECK((next->held.step >= from && next->held.step <= *own));
                else
                    CHECK(next->held.step >= all.back());
            }
        }
        CHECK_FALSE(b.run->bridge.next(0, 99, 0, 0));
        CHECK(number_text({Quantity::alpha, 3, 0, 1}) ==
              std::string(info(Quantity::alpha).name) + " of row 3");
        CHECK(number_text({Quantity::S, 3, 5, 0}) ==
              std::string(info(Quantity::S).name) + " of row 3, column 5");
    }

    TEST_CASE("an element of O was written by the block of its rows, and of Q by none") {
        const auto run = gpu::record_kernel(
            {.kernel = "f5-flash2", .problem = *random_problem(256, 64, 1), .blocks = {0}});
        REQUIRE_MESSAGE(run, run.error);
        for (const int row : {0, 127, 128, 255}) CHECK(block_of_element(*run, "O", row, 7) == row / run->Br);
        CHECK(block_of_element(*run, "Q", 0, 0) == -1);
        CHECK(block_of_element(*run, "no matrix", 0, 0) == -1);
    }

    TEST_CASE("how a number is held is said, and what it comes to with the scale") {
        Problem p = *random_problem(64, 64, 1);
        p.scale = {Scale::Kind::number, -0.5};
        const Bridged b("f5-flash2", DType::bf16, p);
        std::set<std::string> ways;
        for (int k = 0; k < b.walk->size(); ++k)
            for (const CellRef& cell : cells_of(*b.walk, k)) {
                const auto number = kernel_number(*b.walk, k, cell, b.run->record);
                const auto held = number ? b.find(*number) : std::nullopt;
                if (!held) continue;
                CAPTURE(k);
                CHECK(lane_text(*held) ==
                      "warp " + std::to_string(held->warp) + ", lane " + std::to_string(held->lane));
                const std::string how = held_text(*held);
                ways.insert(how.substr(0, how.find(" lane")));
                const std::string there = there_text(*number, *held, "there");
                if (number->factor == 1) {
                    CHECK(there == "there " + format_number(held->value));
                    continue;
                }
                // Kernels keep S and m unscaled; a negative scale is a negative Q.
                const bool Q = number->region == "Q";
                CHECK(number->factor == (Q ? -1 : 0.5));
                CHECK(there == "there " + format_number(held->value) + ", times " +
                                   format_number(number->factor) + " " +
                                   format_number(scaled(*number, *held)));
                if (Q) CHECK(scaled(*number, *held) == number->value);
            }
        CHECK(ways.contains("the step reads it from HBM"));
        CHECK(ways.contains("the step writes it to HBM"));
        CHECK(ways.contains("the step gives it"));
        HeldAt stored;
        stored.how = HeldAt::How::stored;
        CHECK(held_text(stored) == "plain arithmetic made it, and the step stores it to shared memory");
        HeldAt unknown;
        unknown.value = unknown_value;
        CHECK(there_text({}, unknown, "there") == "what comes is not written down");
    }
}

}  // namespace tilewalk::inside
