// The walk through a kernel's record: what is looked up of a real run holds against the numbers of the
// problem and against the arithmetic of the products.
#include "core/base/float16.h"
#include "core/inside/accesses.h"
#include "core/inside/faults.h"
#include "core/inside/line_times.h"
#include "core/inside/meeting.h"
#include "core/inside/shared_map.h"
#include "core/inside/source.h"
#include "core/inside/uses.h"
#include "core/inside/words.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"

#include <doctest/doctest.h>

#include <bit>
#include <map>
#include <set>

namespace tilewalk::inside {

using test::contains;

namespace {

struct Walked {
    Problem problem;
    Record record;
    const Launch* launch = nullptr;
    const BlockRecord* block = nullptr;
    std::unique_ptr<Steps> steps;
    std::unique_ptr<Origins> origins;

    explicit Walked(const std::string& kernel, DType type = DType::bf16, int N = 128, int d = 64)
        : problem(*random_problem(N, d, 1)) {
        auto run = gpu::record_kernel({.kernel = kernel, .dtype = type, .problem = problem, .blocks = {0}});
        REQUIRE_MESSAGE(run, run.error);
        record = std::move(*run);
        // The last one; of gradients, which sum up behind it, the one with most steps
        launch = kernel == "b4-hopper" ? &*std::ranges::max_element(record.launches, {}, &Launch::steps)
                                       : &record.launches.back();
        block = &launch->blocks.front();
        steps = std::make_unique<Steps>(record, *launch, *block);
        origins = std::make_unique<Origins>(record, *block, *steps);
    }
    const Event& event(int warp, int k) const { return block->events[steps->event(warp, k)]; }
};

/// Calls f(warp, step) for each product.
template <class F> void each_product(const Walked& w, F&& f) {
    for (int warp = 0; warp < w.steps->warps(); ++warp)
        for (int k = 0; k < w.steps->count(warp); ++k)
            if (w.event(warp, k).op == Op::multiply_add) f(warp, k);
}

float rounded(double x) {
    return gpu::emulator::to_float(gpu::emulator::from_float<gpu::emulator::bf16>(float(x)));
}

}  // namespace

TEST_SUITE("inside") {
    TEST_CASE("a product is the sum of what the fragments say") {
        for (const DType type : {DType::bf16, DType::f16}) {
            const Walked w("f5-flash2", type);
            int seen = 0;
            each_product(w, [&](int warp, int k) {
                if (++seen % 7 != 0) return;
                const Product p(w.block->words_of(w.event(warp, k)), w.record.dtype);
                for (int row = 0; row < 16; ++row)
                    for (int column = 0; column < 8; ++column) {
                        double sum = p.before(row, column), size = std::fabs(sum);
                        for (int e = 0; e < 16; ++e) {
                            const double term = double(p.a(row, e)) * p.b(e, column);
                            sum += term, size += std::fabs(term);
                        }
                        CHECK(std::fabs(p.after(row, column) - sum) <= 1e-5 * size);
                    }
            });
            CHECK(seen == 4 * 2 * (4 * 8 * 2 + 4 * 8 * 2));
        }
    }

    TEST_CASE("a register leads back to the element of Q, K or V that it holds") {
        const Walked w("f5-flash2");
        std::set<Matter> found;
        each_product(w, [&](int warp, int k) {
            const Product p(w.block->words_of(w.event(warp, k)), w.record.dtype);
            for (const Part part : {Part::A, Part::B}) {
                const Matter matter = w.origins->matter_of_part(warp, k, part);
                found.insert(matter);
                if (matter == Matter::P) {
                    // Packed, and of an exponential, whose rounding it is
                    const auto way = w.origins->trace(warp, k, part, 3, 5);
                    REQUIRE(way.size() == 2);
                    const Event& last = w.block->events[way[1].event];
                    CHECK(last.op == Op::exp2);
                    const auto words =
                        w.block->words_of(last).subspan(static_cast<std::size_t>(way[1].lane) * last.words);
                    CHECK(rounded(std::bit_cast<float>(words[1])) == p.a(3, 5));
                    continue;
                }
                for (const auto& [row, column] : {std::pair{0, 0}, {3, 5}, {15, 7}}) {
                    const auto way = w.origins->trace(warp, k, part, row, column);
                    REQUIRE(way.size() == 3);
                    CHECK(w.block->events[way[2].event].op == Op::copy_issued);
                    const auto element = element_of(w.record, way[2].address);
                    REQUIRE(element);
                    const Matrix& input = matter == Matter::Q   ? w.problem.Q
                                          : matter == Matter::K ? w.problem.K
                                                                : w.problem.V;
                    const float held = part == Part::A ? p.a(row, column) : p.b(row, column);
                    CHECK(held == rounded(input(element->row, element->column)));
                }
            }
        });
        CHECK(found == std::set{Matter::Q, Matter::K, Matter::V, Matter::P});
    }

    TEST_CASE("products of Q and K are scores, those of P and V the output, and C goes on from product to "
              "product") {
        const Walked w("f5-flash2");
        int scores = 0, outputs = 0, first = 0;
        each_product(w, [&](int warp, int k) {
            const Matter C = w.origins->matter_of_part(warp, k, Part::C);
            scores += C == Matter::S, outputs += C == Matter::O;
            const int before = w.origins->summed_by(warp, k);
            if (before < 0) return void(++first);
            const Product then(w.block->words_of(w.event(warp, before)), w.record.dtype),
                now(w.block->words_of(w.event(warp, k)), w.record.dtype);
            CHECK(then.after(5, 3) == now.before(5, 3));
        });
        CHECK(scores == outputs);
        CHECK(scores > 0);
        CHECK(first > 0);
    }

    TEST_CASE("a barrier protects what would race without it: copies that are read, buffers that are written "
              "over") {
        const Walked w("f5-flash2");
        std::vector<Meeting> all;
        for (int k = 0; k < w.steps->count(0); ++k)
            if (auto meeting = meeting_at(*w.block, *w.steps, *w.origins, 0, k)) all.push_back(*meeting);
        REQUIRE(all.size() == 4);
        CHECK(all.size() == w.steps->barriers().size());
        const auto find = [](const Meeting& m, Matter of, bool writes, bool then_writes) {
            for (const Protected& p : m.orders)
                if (p.first == of && p.first_writes == writes && p.second_writes == then_writes)
                    return p.bytes;
            return std::int64_t(0);
        };
        constexpr std::int64_t tile = 64 * 64 * 2;
        CHECK(find(all[0], Matter::K, true, false) == tile);
        CHECK(find(all[0], Matter::Q, true, false) == 2 * tile);
        CHECK(find(all[1], Matter::V, true, false) == tile);
        CHECK(find(all[1], Matter::K, false, true) == tile);
        CHECK(find(all[2], Matter::K, true, false) == tile);
        CHECK(find(all[2], Matter::V, false, true) == tile);
        // Behind the last one no tile is copied any more
        CHECK(find(all[3], Matter::K, false, true) == 0);
        CHECK(find(all[3], Matter::V, true, false) == tile);
        for (const Meeting& m : all) CHECK(m.together());
    }

    TEST_CASE("each barrier that protects something is one whose absence races, and the other way round") {
        for (const char* kernel : {"f2-tiled-fp32", "f5-flash2"}) {
            CAPTURE(kernel);
            const DType type = std::string(kernel) == "f2-tiled-fp32" ? DType::f32 : DType::bf16;
            const Walked w(kernel, type);
            std::map<int, bool> protects;
            for (int k = 0; k < w.steps->count(0); ++k)
                if (const auto meeting = meeting_at(*w.block, *w.steps, *w.origins, 0, k))
                    protects[w.record.places[w.event(0, k).place].line] |= !meeting->orders.empty();
            for (const Fault& fault : faults_of(w.record)) {
                if (fault.kind != FaultKind::barrier) continue;
                gpu::RecordRequest without{
                    .kernel = kernel, .dtype = type, .problem = w.problem, .blocks = {0}};
                without.fault = fault;
                const auto broken = gpu::record_kernel(without);
                REQUIRE_MESSAGE(broken, broken.error);
                CAPTURE(fault.line);
                CHECK(protects.at(fault.line) == (broken->races() > 0));
            }
        }
    }

    TEST_CASE("of a tile that is filled in part every row is named, the last as well") {
        for (const int N : {4, 5, 6, 30}) {
            const Walked w("f5-flash2", DType::bf16, N);
            const SharedMap map(*w.block, *w.steps, *w.origins);
            for (const SharedArea& area : map.areas()) {
                const SharedContent at_end =
                    content_of(w.record, *w.block, *w.steps, *w.origins, map, area, w.steps->slots());
                CAPTURE(N);
                CHECK(at_end.rows.first == 0);
                CHECK(at_end.rows.last == N - 1);
            }
        }
    }

    TEST_CASE("shared memory of f5 is Q, K and V, and its chunks lie where the kernel's rule has them") {
        const Walked w("f5-flash2");
        const SharedMap map(*w.block, *w.steps, *w.origins);
        REQUIRE(map.areas().size() == 3);
        const Matter order[] = {Matter::Q, Matter::K, Matter::V};
        const std::int64_t bytes[] = {16384, 8192, 8192};
        for (std::size_t n = 0; n < 3; ++n) {
            CHECK(map.areas()[n].matters == 1u << static_cast<int>(order[n]));
            CHECK(map.areas()[n].bytes() == bytes[n]);
            CHECK_FALSE(content_of(w.record, *w.block, *w.steps, *w.origins, map, map.areas()[n], 0).any);
            const SharedContent at_end =
                content_of(w.record, *w.block, *w.steps, *w.origins, map, map.areas()[n], w.steps->slots());
            CHECK(at_end.matter == order[n]);
            CHECK(at_end.rows.first == (n == 0 ? 0 : 64));
            CHECK(at_end.rows.last == 127);
            CHECK(at_end.count(Piece::there) == bytes[n] / 16);
        }
        int seen = 0;
        for (int k = 0; k < w.steps->count(1); ++k) {
            const Op op = w.event(1, k).op;
            if (op != Op::load_matrices && op != Op::load_transposed && op != Op::copy_issued) continue;
            for (const int lane : {0, 13, 31}) {
                const auto rule = swizzle_of(w.record, *w.block, *w.origins, map, w.steps->event(1, k), lane);
                REQUIRE(rule);
                CHECK(rule->place == (rule->chunk ^ rule->row % 8));
                CHECK(rule->first_bank == 4 * rule->place);
                ++seen;
            }
        }
        CHECK(seen > 100);
        // Without the swizzle the rule does not hold.
        gpu::RecordRequest without{.problem = w.problem, .blocks = {0}};
        without.fault = Fault{FaultKind::swizzle, "", 0};
        const auto record = gpu::record_kernel(without);
        REQUIRE(record);
        const BlockRecord& block = record->launches.back().blocks.front();
        const Steps steps(*record, record->launches.back(), block);
        const Origins origins(*record, block, steps);
        const SharedMap straight(block, steps, origins);
        for (int k = 0; k < steps.count(0); ++k)
            if (block.events[steps.event(0, k)].op == Op::load_matrices)
                CHECK_FALSE(swizzle_of(*record, block, origins, straight, steps.event(0, k), 13));
    }

    TEST_CASE(
        "pieces of shared memory are empty, on their way or there as their copies were issued and came") {
        for (const char* kernel : {"f5-flash2", "f4b-copies-ahead"}) {
            const Walked w(kernel);
            const SharedMap map(*w.block, *w.steps, *w.origins);
            // Of each piece the slots of its copies: issued, arrived
            std::map<std::uint32_t, std::vector<std::pair<int, int>>> copies;
            for (int warp = 0; warp < w.steps->warps(); ++warp)
                for (int k = 0; k < w.steps->count(warp); ++k) {
                    const auto words = w.block->words_of(w.event(warp, k));
                    if (w.event(warp, k).op == Op::copy_issued)
                        for (std::size_t at = 0; at < words.size(); at += w.event(warp, k).words)
                            copies[words[at]].push_back({w.steps->slot(warp, k), -1});
                    for (const std::uint32_t n : w.steps->arrivals(warp, k))
                        for (std::size_t at = 0; at < w.block->words_of(w.block->events[n]).size();
                             at += w.block->events[n].words)
                            for (auto& [issued, arrived] : copies[w.block->words_of(w.block->events[n])[at]])
                                if (arrived < 0) arrived = w.steps->slot(warp, k);
                }
            std::set<Piece> seen;
            for (int slot = 0; slot < w.steps->slots(); slot += slot < 40 ? 1 : 23)
                for (const SharedArea& area : map.areas()) {
                    const SharedContent content =
                        content_of(w.record, *w.block, *w.steps, *w.origins, map, area, slot);
                    for (std::size_t n = 0; n < content.pieces.size(); ++n) {
                        const auto at = copies.find(area.begin + static_cast<std::uint32_t>(n) * chunk_bytes);
                        Piece expected = at == copies.end() ? Piece::unused : Piece::empty;
                        if (at != copies.end())
                            for (const auto& [issued, arrived] : at->second)
                                if (issued <= slot)
                                    expected =
                                        arrived >= 0 && arrived <= slot ? Piece::there : Piece::on_its_way;
                        if (content.pieces[n] != expected)
                            FAIL(kernel, ", slot ", slot, ", piece ", n, " from ", area.begin);
                        seen.insert(expected);
                    }
                }
            CHECK(seen.contains(Piece::empty));
            CHECK(seen.contains(Piece::on_its_way));
            CHECK(seen.contains(Piece::there));
            // V begins to come behind the first barrier: until then its place is empty.
            if (std::string(kernel) != "f5-flash2") continue;
            const int first = w.steps->barriers().front();
            const auto content = [&](int slot) {
                return content_of(w.record, *w.block, *w.steps, *w.origins, map, map.areas()[2], slot);
            };
            CHECK(content(first).count(Piece::empty) == 512);
            CHECK(content(first + 1).count(Piece::on_its_way) == 128);  // four warps, a chunk of each lane
            CHECK(content(first + 1).issued == first + 1);
            CHECK_FALSE(content(first + 1).any);
        }
    }

    TEST_CASE("what f2 stores is there word by word") {
        const Walked w("f2-tiled-fp32", DType::f32);
        const SharedMap map(*w.block, *w.steps, *w.origins);
        const SharedArea& Q = map.areas().front();
        int before = -1;
        for (int slot = 0; slot <= w.steps->barriers().front(); slot += 9) {
            const SharedContent content = content_of(w.record, *w.block, *w.steps, *w.origins, map, Q, slot);
            CHECK(content.count(Piece::on_its_way) == 0);
            // Each pair of a load and a store brings 128 numbers.
            const int stored = 128 * ((slot + 1) / 2);
            CHECK(4 * content.count(Piece::there) <=
                  stored + stored / 64);  // a row has a word that nobody writes
            CHECK(4 * (content.count(Piece::there) + content.count(Piece::partly)) >= stored - stored / 64);
            CHECK(content.count(Piece::there) > before);
            before = content.count(Piece::there);
        }
    }

    TEST_CASE("f2: what is computed is no element that has its bits by chance, and areas stay whole") {
        const Walked w("f2-tiled-fp32", DType::f32, 256, 128);
        const SharedMap map(*w.block, *w.steps, *w.origins);
        REQUIRE(map.areas().size() == 4);  // Q, K or V, S or P̃, α
        const auto bit = [](Matter m) { return 1u << static_cast<int>(m); };
        CHECK(map.areas()[0].matters == bit(Matter::Q));
        CHECK(map.areas()[1].matters == (bit(Matter::K) | bit(Matter::V)));
        CHECK(map.areas()[2].matters == (bit(Matter::S) | bit(Matter::P)));
        CHECK(map.areas()[2].begin == 0x10200);
        CHECK(map.areas()[2].row_bytes == 4 * 66);
        const PlaceInArea place = place_in(map.areas()[2], 0x10200 + 4 * (19 * 66 + 21), 4);
        CHECK(place.row == 19);
        CHECK(place.column == 21);
    }

    TEST_CASE("b4: of L and D, a row in each word, all rows of a block are told") {
        const Walked w("b4-hopper", DType::bf16, 128, 64);
        const SharedMap map(*w.block, *w.steps, *w.origins);
        int seen = 0;
        for (const SharedArea& area : map.areas()) {
            if (area.bytes() != 256) continue;
            const SharedContent at_end =
                content_of(w.record, *w.block, *w.steps, *w.origins, map, area, w.steps->slots());
            CHECK(at_end.rows.first % 64 == 0);
            CHECK(at_end.rows.last == at_end.rows.first + 63);
            ++seen;
        }
        CHECK(seen >= 2);
    }

    TEST_CASE("a row that a lane names for ldmatrix goes to the lanes that its words name") {
        const Walked w("f5-flash2");
        int seen = 0;
        for (int k = 0; k < w.steps->count(0) && seen < 40; ++k) {
            const Event& e = w.event(0, k);
            if (e.op != Op::load_matrices && e.op != Op::load_transposed) continue;
            const bool transposed = e.op == Op::load_transposed;
            if (transposed != (seen >= 20)) continue;
            ++seen;
            const auto words = w.block->words_of(e);
            for (int lane = 0; lane < 32; ++lane) {
                const auto told = lane_words(w.record, *w.block, e, lane);
                REQUIRE(told.size() == 3);
                CHECK(told[0].name ==
                      "row " + std::to_string(lane % 8) + " of matrix " + std::to_string(lane / 8));
                const int row = lane % 8;
                CHECK(told[1].value == (transposed
                                            ? std::to_string(row / 2) + ", " + std::to_string(row / 2 + 4) +
                                                  ", …, " + std::to_string(row / 2 + 28)
                                            : std::to_string(4 * row) + "–" + std::to_string(4 * row + 3)));
                // The numbers of the row, from the problem, in the registers of those lanes
                const auto from = w.origins->global_source(words[static_cast<std::size_t>(lane * e.words)],
                                                           w.steps->event(0, k));
                const auto element = from ? element_of(w.record, *from) : std::nullopt;
                REQUIRE(element);
                const Matter matter = w.origins->matter(w.steps->event(0, k));
                const Matrix& input = matter == Matter::Q   ? w.problem.Q
                                      : matter == Matter::K ? w.problem.K
                                                            : w.problem.V;
                for (int column = 0; column < 8; ++column) {
                    const int receiver = transposed ? 4 * column + row / 2 : 4 * row + column / 2;
                    const std::uint32_t word =
                        words[static_cast<std::size_t>(receiver * e.words + 1 + lane / 8)];
                    CHECK(number16(word, transposed ? row % 2 : column % 2, w.record.dtype) ==
                          rounded(input(element->row, element->column + column)));
                }
            }
        }
        CHECK(seen == 40);
    }

    TEST_CASE("a packing is named by what it is for: weights, or O on its way out") {
        const Walked w("f5-flash2");
        int weights = 0, results = 0;
        for (int k = 0; k < w.steps->count(0); ++k) {
            if (w.event(0, k).op != Op::pack) continue;
            const Matter matter = w.origins->matter(w.steps->event(0, k));
            const StepWords words = words_of_step(w.record, *w.block, w.event(0, k), matter);
            const bool stored = w.event(0, k + 1).op == Op::store;
            CHECK(matter == (stored ? Matter::O : Matter::P));
            CHECK(contains(words.why, "weights") == !stored);
            CHECK(contains(words.why, "of a row of O, divided by ℓ") == stored);
            ++(stored ? results : weights);
            const Uses uses = uses_of(*w.block, *w.steps, *w.origins, 0, k, 13);
            REQUIRE_FALSE(uses.steps.empty());
            CHECK((w.block->events[uses.steps[0].event].op == Op::store) == stored);
        }
        CHECK(weights == 2 * 2 * 4 * 4);
        CHECK(results == 2 * 2 * 8);
    }

    TEST_CASE("a packing of the backward pass is stored in shared memory, and its words say so") {
        for (const std::string kernel : {"b2-tensor-core", "b3-deterministic"}) {
            CAPTURE(kernel);
            auto run =
                gpu::record_kernel({.kernel = kernel, .problem = *random_problem(128, 64, 1), .blocks = {0}});
            REQUIRE_MESSAGE(run, run.error);
            int shared = 0;
            for (const Launch& launch : run->launches) {
                if (launch.blocks.empty()) continue;
                const BlockRecord& block = launch.blocks.front();
                const Steps steps(*run, launch, block);
                const Origins origins(*run, block, steps);
                for (int k = 0; k + 1 < steps.count(0); ++k) {
                    const Event &event = block.events[steps.event(0, k)],
                                &next = block.events[steps.event(0, k + 1)];
                    if (event.op != Op::pack) continue;
                    const bool stored = next.op == Op::store;
                    const bool to_shared = stored && is_shared(block.words_of(next)[0]);
                    const Matter matter = origins.matter(steps.event(0, k));
                    const std::string why = words_of_step(*run, block, event, matter).why;
                    CHECK(contains(why, "to shared memory") == to_shared);
                    CHECK(contains(why, "without leaving the registers") == !stored);
                    shared += to_shared;
                }
            }
            CHECK(shared > 0);
        }
    }

    TEST_CASE("the sum of a score has d / 16 parts, and one of O as many as a tile has 16 keys") {
        const Walked w("f5-flash2");
        std::map<std::pair<Matter, int>, int> parts;
        int seen = 0;
        each_product(w, [&](int warp, int k) {
            if (++seen % 5 != 0) return;
            const Origins::Chain chain = w.origins->chain(warp, k);
            CHECK(chain.parts == 4);
            ++parts[{w.origins->matter(w.steps->event(warp, k)), chain.part}];
        });
        CHECK(parts.size() == 8);
    }

    TEST_CASE("without its swizzle every matrix that f5 reads has eight ways of conflict") {
        const Walked w("f5-flash2");
        int seen = 0;
        for (int warp = 0; warp < w.steps->warps(); ++warp)
            for (int k = 0; k < w.steps->count(warp); ++k) {
                const Event& event = w.event(warp, k);
                if (event.op != Op::load_matrices && event.op != Op::load_transposed) continue;
                const auto access = accesses_of(event, w.block->words_of(event)).front();
                const auto straight = w.origins->straight_rows(w.steps->event(warp, k), access.addresses);
                REQUIRE(straight.size() == 32);
                CHECK(bank_turns(straight, 0xFFFFFFFF, 16).turns == 32);
                CHECK(bank_turns(access.addresses, 0xFFFFFFFF, 16).turns == 4);
                ++seen;
            }
        CHECK(seen > 100);
    }

    TEST_CASE("a kernel that stores what it loaded is followed as well") {
        const Walked w("f4-tensor-core");
        std::set<Matter> found;
        each_product(w, [&](int warp, int k) {
            for (const Part part : {Part::A, Part::B}) found.insert(w.origins->matter_of_part(warp, k, part));
        });
        CHECK(found == std::set{Matter::Q, Matter::K, Matter::V, Matter::P});
    }

    TEST_CASE("each step has a slot, a barrier comes behind all warps, and a seek finds the step again") {
        const Walked w("f5-flash2");
        const Steps& s = *w.steps;
        CHECK(s.barriers().size() == 4);
        CHECK(s.tiles() == 2);
        std::size_t all = 0;
        for (int warp = 0; warp < s.warps(); ++warp) {
            all += static_cast<std::size_t>(s.count(warp));
            for (int k = 0; k < s.count(warp); ++k) {
                CHECK(s.at_slot(warp, s.slot(warp, k)) == k);
                all += s.arrivals(warp, k).size();
                if (!s.arrivals(warp, k).empty()) CHECK(w.event(warp, k).op == Op::wait_copies);
                if (w.event(warp, k).op != Op::sync_block || k + 1 == s.count(warp)) continue;
                const auto meeting = std::ranges::lower_bound(s.barriers(), s.slot(warp, k));
                REQUIRE(meeting != s.barriers().end());
                CHECK(s.slot(warp, k + 1) == *meeting + 1);
            }
        }
        CHECK(all == w.block->events.size());
        // Q and K first, then V and K and V; Q, K, V in bytes
        REQUIRE(s.flights().size() == 5);
        for (const Flight& flight : s.flights()) {
            CHECK(flight.bytes ==
                  (matter_of(w.record, flight.from) == Matter::Q ? 2 * 128 * 64 : 2 * 64 * 64));
            CHECK(flight.issued < flight.committed);
            CHECK(flight.committed < flight.arrived);
        }
    }

    TEST_CASE("a step is looked for by its number, or by what it does; there is none before the first") {
        const Walked w("f5-flash2");
        const Steps& s = *w.steps;
        CHECK(s.find(*w.block, {.op = {}, .n = 1, .warp = 2}) == 0);
        CHECK(s.find(*w.block, {.op = {}, .n = s.count(2), .warp = 2}) == s.count(2) - 1);
        CHECK(s.find(*w.block, {.op = {}, .n = s.count(2) + 1, .warp = 2}) == -1);
        CHECK(s.find(*w.block, {.op = {}, .n = 1, .warp = s.warps()}) == -1);
        CHECK(s.find(*w.block, {.op = {}, .n = 1, .warp = -1}) == -1);
        int seen = 0;
        for (int k = 0; k < s.count(1); ++k)
            if (w.event(1, k).op == Op::multiply_add)
                CHECK(s.find(*w.block, {.op = Op::multiply_add, .n = ++seen, .warp = 1}) == k);
        CHECK(seen > 50);
        CHECK(s.find(*w.block, {.op = Op::fetch_tile, .n = 1, .warp = 1}) == -1);
        // Who goes on from a step finds the same as who looks from the beginning.
        for (int k = 0; k < s.count(0); k += 13)
            for (int slot = s.slot(0, k); slot < std::min(s.slot(0, k) + 40, s.slots()); slot += 3)
                CHECK(s.at_slot(0, slot, k) == std::max(k, s.at_slot(0, slot)));
    }

    TEST_CASE(
        "of two events the one that is held back, and all behind it, stand behind the slot of the other") {
        const Walked w("f2-tiled-fp32", DType::f32, 64, 32);
        const Steps& s = *w.steps;
        // A step of warp 1 after the last of warp 0 between the same barriers
        const int k = s.count(1) / 2, last = s.at_slot(0, s.slot(1, k) + 30);
        const HeldBack held{s.event(0, last), s.event(1, k)};
        const Steps other(w.record, *w.launch, *w.block, held);
        CHECK(other.slot(0, last) == s.slot(0, last));
        CHECK(other.slot(1, k) > other.slot(0, last));
        for (int n = 0; n < k; ++n) CHECK(other.slot(1, n) == s.slot(1, n));
        for (int n = k + 1; n < s.count(1); ++n) CHECK(other.slot(1, n) > other.slot(1, n - 1));
        CHECK(other.count(1) == s.count(1));
    }

    TEST_CASE("going by line, barrier and tile, there and back") {
        const Walked w("f5-flash2");
        const Steps& s = *w.steps;
        for (const Stride stride : {Stride::instruction, Stride::line, Stride::barrier, Stride::tile}) {
            int k = 0, steps = 0;
            std::vector<int> stops;
            while (k < s.count(1) - 1) {
                stops.push_back(k);
                const int next = s.go(1, k, stride, 1);
                REQUIRE(next > k);
                if (stride == Stride::line) CHECK(s.line(1, next) != s.line(1, k));
                if (stride == Stride::barrier && next < s.count(1) - 1)
                    CHECK(w.event(1, next).op == Op::sync_block);
                if (stride == Stride::tile && next < s.count(1) - 1)
                    CHECK(s.tile(1, next) == s.tile(1, next - 1) + 1);
                k = next, ++steps;
            }
            for (auto stop = stops.rbegin(); stop != stops.rend(); ++stop) {
                k = s.go(1, k, stride, -1);
                if (stride != Stride::line) CHECK(k == *stop);
            }
            CHECK(k == 0);
        }
        CHECK(s.go(1, 0, Stride::tile, 1) < s.count(1) / 4);
    }

    TEST_CASE("how often a line was run comes to what the counts say") {
        const Walked w("f5-flash2");
        const LineTimes times(w.record, *w.block, *w.steps);
        std::int64_t all = 0;
        const Place& place = w.record.places[w.event(0, 0).place];
        for (int warp = 0; warp < w.steps->warps(); ++warp)
            for (const LineTimes::OfOp& of : times.at(warp, w.steps->count(warp) - 1, place.file, place.line))
                all += of.times.all;
        std::int64_t counted = 0;
        for (const Counts& c : w.launch->counts)
            if (w.record.places[c.place].file == place.file && w.record.places[c.place].line == place.line &&
                c.op != Op::copy_arrived)
                counted += c.warps;
        CHECK(all == counted);
        const auto first = times.at(0, 0, place.file, place.line);
        CHECK(std::ranges::count(first, 1, [](const LineTimes::OfOp& of) { return of.times.now; }) == 1);
        CHECK(w.steps->next_in_line(0, 0, place.file, place.line) > 0);
        CHECK(w.steps->next_in_line(0, 0, "no file", 1) == -1);
    }

    TEST_CASE("a line that loads and stores is counted as both, each by itself") {
        const Walked w("f2-tiled-fp32", DType::f32);
        const LineTimes times(w.record, *w.block, *w.steps);
        const Place& place = w.record.places[w.event(0, 0).place];
        const int last = w.steps->count(0) - 1;
        const auto kinds = times.at(0, last, place.file, place.line);
        REQUIRE(kinds.size() == 2);
        CHECK(kinds[0].op == Op::load);
        CHECK(kinds[1].op == Op::store);
        // 64 × 64 numbers by 128 threads, of Q, and of K and V for both tiles
        for (const LineTimes::OfOp& of : kinds) CHECK(of.times.all == 64 * 64 / 128 * 5);
        int steps_here = 0;
        for (int k = 0; k <= last; ++k) {
            const Place& of_step = w.record.places[w.event(0, k).place];
            steps_here += of_step.file == place.file && of_step.line == place.line;
        }
        CHECK(kinds[0].times.all + kinds[1].times.all == steps_here);
        const auto early = times.at(0, 2, place.file, place.line);
        CHECK(early[0].times.now == 2);
        CHECK(early[1].times.now == 1);
        CHECK(times_text(early[0].times.now, Op::load) == "2 loads");
        CHECK(times_text(early[1].times.now, Op::store) == "1 store");
        CHECK(times.at(0, 0, "no file", 1).empty());
    }

    TEST_CASE("every kernel of the ladder can be walked through, and each step has its words") {
        for (const auto& kernel : gpu::traceable_kernels()) {
            CAPTURE(kernel.name);
            auto run = gpu::record_kernel({.kernel = kernel.name,
                                           .dtype = kernel.types.front(),
                                           .problem = *random_problem(64, 64, 1),
                                           .blocks = {0}});
            REQUIRE_MESSAGE(run, run.error);
            for (const Launch& launch : run->launches) {
                if (launch.blocks.empty()) continue;
                const BlockRecord& block = launch.blocks.front();
                const Steps steps(*run, launch, block);
                const Origins origins(*run, block, steps);
                for (int warp = 0; warp < steps.warps(); ++warp)
                    for (int k = 0; k < steps.count(warp); k += 17) {
                        const Event& event = block.events[steps.event(warp, k)];
                        const StepWords words = words_of_step(*run, block, event);
                        CHECK(!words.title.empty());
                        CHECK(!words.why.empty());
                        CHECK(!contains(words.note, "nan"));
                        CHECK(origins.step_number(steps.event(warp, k)) == k);
                    }
            }
        }
    }

    TEST_CASE("the kernels' text is there, and has the lines of the record") {
        const Walked w("f5-flash2");
        for (const Counts& c : w.launch->counts) {
            const Place& place = w.record.places[c.place];
            const auto file = std::ranges::find_if(gpu::kernel_sources(), [&](const EmbeddedFile& one) {
                return place.file == std::string("cuda/kernels/") + one.name;
            });
            REQUIRE_MESSAGE(file != gpu::kernel_sources().end(), place.file);
            const SourceText source = source_text(place.file, file->text);
            CHECK(place.line <= source.count());
            const std::string line(source.line(place.line));
            if (c.op == Op::multiply_add) CHECK(contains(line, "multiply_add"));
            if (c.op == Op::sync_block) CHECK(contains(line, "sync_block"));
            CHECK(!function_of(source, place.line).empty());
        }
    }

    TEST_CASE("a run that is no longer wanted ends soon") {
        std::stop_source stop;
        stop.request_stop();
        const auto run = gpu::record_kernel(
            {.problem = *random_problem(128, 64, 1), .blocks = {0}, .stop = stop.get_token()});
        CHECK(!run);
        CHECK(contains(run.error, "Cancelled"));
    }
}

}  // namespace tilewalk::inside
