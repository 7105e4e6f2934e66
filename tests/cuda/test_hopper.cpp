// The models of what Hopper has: tiles, barriers that count, products in the background. Each against its
// definition; what must not be done is refused or races; f7 and b4 against closed forms.
#include "core/base/float16.h"
#include "core/inside/model_time.h"
#include "core/inside/steps.h"
#include "core/inside/sums.h"
#include "cuda/device/device.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"
#include "tests/cuda/hopper_kernels.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace tilewalk;
using namespace tilewalk::gpu;
using namespace tilewalk::gpu::on_emulator;
using test::contains;

namespace {

constexpr int rows = 64, tile_bytes = rows * 128;
using Copies = emulator::Options::Copies;

/// A matrix of N × d numbers, no two of a row alike, and the map of its boxes.
struct Source {
    int N, d;
    std::vector<bf16> numbers;
    Source(int of_rows, int of_columns)
        : N(of_rows), d(of_columns), numbers(static_cast<std::size_t>(N) * static_cast<std::size_t>(d)) {
        for (int n = 0; n < N * d; ++n)
            numbers[static_cast<std::size_t>(n)] = from_float<bf16>(static_cast<float>(n * 37 % 101 - 50));
    }
    float at(int row, int column) const {
        return to_float(numbers[static_cast<std::size_t>(row * d + column)]);
    }
    TensorMap map(EmulatedStream& stream) {
        return tensor_map<bf16>(stream, {numbers.data(), N * d, N * d, d}, d, N, 1, 1, rows);
    }
};

template <class... A> std::string failure_of(void (*kernel)(A...), const Grid& grid, Copies copies, A... a) {
    EmulatedStream stream;
    stream.options.copies = copies;
    launch(stream, grid, kernel, a...);
    return stream.failure;
}
std::string failure_of(void (*kernel)()) {
    return failure_of(kernel, Grid{1, 1, 1, 128, 3 * tile_bytes}, Copies::late);
}

// ---- Kernels

MBarrier* barrier_behind_tiles() {
    return reinterpret_cast<MBarrier*>(shared_tiles<unsigned char>() + 2 * tile_bytes);
}
void begin_barrier(int arrivals) {
    if (thread() == 0) init_barrier(barrier_behind_tiles(), arrivals);
    sync_block();
}

/// Both tiles of shared memory as they lie there, fetched from (column, row).
void fetches(const TensorMap map, unsigned char* out, int column, int row) {
    unsigned char* const tile = shared_tiles<unsigned char>();
    begin_barrier(1);
    if (thread() == 0) {
        expect_bytes(barrier_behind_tiles(), tile_bytes);
        fetch_tile(tile, map, barrier_behind_tiles(), column, row, 0, 0);
    }
    wait_for(barrier_behind_tiles(), 0);
    for (int n = thread(); n < tile_bytes; n += threads()) out[n] = tile[n];
}

std::uint64_t described(const unsigned char* tile, int next_columns) {
    return std::uint64_t(shared_address(tile) >> 4) | std::uint64_t(next_columns >> 4) << 16 |
           std::uint64_t(1024 >> 4) << 32 | std::uint64_t(1) << 62;
}
/// C (64 × 64) = X Yᵀ of 64 columns, and then C + P Y with P of ones in registers; both from tiles.
void multiplies(const TensorMap X, const TensorMap Y, float* out, bool adds_ones, float* too_early) {
    unsigned char* const tile = shared_tiles<unsigned char>();
    begin_barrier(1);
    if (thread() == 0) {
        expect_bytes(barrier_behind_tiles(), 2 * tile_bytes);
        fetch_tile(tile, X, barrier_behind_tiles(), 0, 0, 0, 0);
        fetch_tile(tile + tile_bytes, Y, barrier_behind_tiles(), 0, 0, 0, 0);
    }
    wait_for(barrier_behind_tiles(), 0);
    float C[8][4];
    const std::uint32_t one = pack<bf16>(1, 1), ones[4] = {one, one, one, one};
    fence_products();
    for (int k = 0; k < 4; ++k)
        multiply_async<bf16>(C, described(tile + 32 * k, 16), described(tile + tile_bytes + 32 * k, 16),
                             k > 0);
    for (int k = 0; adds_ones && k < 4; ++k)
        multiply_async<bf16>(C, ones, described(tile + tile_bytes + 2048 * k, tile_bytes));
    commit_products();
    if (thread() == 0) *too_early = C[0][0];
    wait_products<0>(C);
    for (int n = 0; n < 8; ++n)
        for (int e = 0; e < 4; ++e) {
            const int row = 16 * warp() + lane() / 4 + 8 * (e / 2), column = 8 * n + lane() % 4 * 2 + e % 2;
            out[row * 64 + column] = C[n][e];
        }
}

void arrives_too_often() {
    begin_barrier(1);
    if (thread() == 0) expect_bytes(barrier_behind_tiles(), 64), arrive_at(barrier_behind_tiles());
}
void waits_where_nothing_is() { wait_for(barrier_behind_tiles(), 0); }
void waits_for_bytes() {
    begin_barrier(1);
    if (thread() == 0) expect_bytes(barrier_behind_tiles(), 64);
    wait_for(barrier_behind_tiles(), 0);
}
void takes_too_many() { grow_registers<256>(); }
void takes_before_others_give() {
    if (thread() < 64)
        grow_registers<248>();
    else
        shrink_registers<240>();
}
void gives_more() { shrink_registers<256>(); }
void numbers_differ() {
    if (warp() < 2) sync_named(1, warp() == 0 ? 64 : 96);
}
template <bool fences, bool waits, bool swizzles> void issues() {
    float C[8][4];
    const std::uint64_t tile =
        described(shared_tiles<unsigned char>(), 16) & ~(std::uint64_t(swizzles ? 0 : 3) << 62);
    if (fences) fence_products();
    multiply_async<bf16>(C, tile, tile, false);
    commit_products();
    if (waits) wait_products<0>(C);
}
void issues_apart() {
    float C[8][4];
    const std::uint64_t tile = described(shared_tiles<unsigned char>() + 1024 * (warp() % 2), 16);
    fence_products();
    multiply_async<bf16>(C, tile, tile, false);
    commit_products();
    wait_products<0>(C);
}

// ---- Records

std::int64_t races_of(const char* kernel) {
    std::string wrong;
    const inside::Record record = test::record_hopper(kernel, wrong);
    CHECK(wrong == "");
    return record.races();
}

inside::Record record_of(const char* kernel, int N, int d) {
    RecordRequest request;
    request.kernel = kernel, request.problem = *random_problem(N, d, 1), request.dtype = DType::bf16,
    request.blocks = {0};
    auto record = record_kernel(request);
    REQUIRE_MESSAGE(record, record.error);
    return std::move(*record);
}

inside::Record record_f7(int N, int d) { return record_of("f7-hopper", N, d); }

/// The counts of an op in a launch, all places together.
inside::Counts total(const inside::Record& record, inside::Op op, std::size_t launch = 0) {
    inside::Counts all;
    for (const inside::Counts& c : record.launches[launch].counts) {
        if (c.op != op) continue;
        all.warps += c.warps, all.lanes += c.lanes;
        all.global_bytes += c.global_bytes, all.sectors += c.sectors;
    }
    return all;
}

}  // namespace

TEST_SUITE("hopper") {
    TEST_CASE("a tile lies as the swizzle says, with zeros where the matrix ends") {
        for (const Copies copies : {Copies::late, Copies::early})
            for (const auto& [column, row] : {std::pair{0, 0}, {64, 0}, {0, 50}, {64, 70}, {128, 0}}) {
                Source source(70, 96);
                EmulatedStream stream;
                std::vector<unsigned char> tile(tile_bytes);
                CHECK(failure_of(fetches, Grid{1, 1, 1, 128, 3 * tile_bytes}, copies, source.map(stream),
                                 tile.data(), column, row) == "");
                CHECK(stream.failure == "");
                int wrong = 0;
                for (int r = 0; r < rows; ++r)
                    for (int c = 0; c < 64; ++c) {
                        // CUDA driver API, CU_TENSOR_MAP_SWIZZLE_128B: of each eight rows of 128 bytes the
                        // 16-byte chunk c of row r lies at chunk c XOR r
                        const int chunk = c / 8 ^ r % 8, at = r * 128 + chunk * 16 + c % 8 * 2;
                        bf16 number;
                        std::memcpy(&number, &tile[static_cast<std::size_t>(at)], 2);
                        const bool inside = row + r < source.N && column + c < source.d;
                        wrong += to_float(number) != (inside ? source.at(row + r, column + c) : 0);
                    }
                CHECK(wrong == 0);
            }
    }

    TEST_CASE("products of tiles, of either layout, are the sums that they stand for") {
        for (const Copies copies : {Copies::late, Copies::early})
            for (const bool adds_ones : {false, true}) {
                Source X(64, 64), Y(64, 64);
                Y.numbers[5] = from_float<bf16>(3);
                EmulatedStream stream;
                std::vector<float> C(64 * 64);
                float early = 0;
                CHECK(failure_of(multiplies, Grid{1, 1, 1, 128, 3 * tile_bytes}, copies, X.map(stream),
                                 Y.map(stream), C.data(), adds_ones, &early) == "");
                CHECK(std::isnan(early) == (copies == Copies::late));
                int wrong = 0;
                for (int i = 0; i < 64; ++i)
                    for (int j = 0; j < 64; ++j) {
                        double sum = 0;
                        for (int k = 0; k < 64; ++k)
                            sum += X.at(i, k) * Y.at(j, k) + (adds_ones ? Y.at(k, j) : 0);
                        wrong += C[static_cast<std::size_t>(i * 64 + j)] != sum;  // whole numbers
                    }
                CHECK(wrong == 0);
            }
    }

    TEST_CASE("what Hopper forbids is refused") {
        CHECK(contains(failure_of(arrives_too_often), "all had arrived, and whose bytes had not"));
        CHECK(contains(failure_of(waits_where_nothing_is), "a barrier that nobody had made"));
        CHECK(contains(failure_of(waits_for_bytes), "Deadlock"));
        CHECK(contains(failure_of(waits_for_bytes), "waits at wait_for"));
        CHECK(contains(failure_of(gives_more), "shrink_registers<256>, and has"));
        CHECK(contains(failure_of(numbers_differ), "where others wait for"));
        CHECK(failure_of(issues<true, true, true>) == "");
        CHECK(contains(failure_of(issues<false, true, true>), "without fence_products"));
        CHECK(contains(failure_of(issues<true, false, true>), "had not been waited for"));
        CHECK(contains(failure_of(issues<true, true, false>), "tiles that are not swizzled"));
        CHECK(contains(failure_of(issues_apart), "another product than the other warps of its four"));
    }

    TEST_CASE("registers are taken when others have given them back") {
        CHECK(contains(failure_of(takes_too_many), "waits at grow_registers"));
        CHECK(contains(failure_of(takes_before_others_give), "not as many registers as others of its four"));
    }

    TEST_CASE("a tensor map that the driver would refuse") {
        for (const auto& [row, height, sentence] :
             {std::tuple{64, 64, ""}, {60, 64, "strides of 120 bytes"}, {64, 257, "boxes of 257 rows"}}) {
            EmulatedStream stream;
            tensor_map<bf16>(stream, {nullptr, 0, 0, row}, 64, 10, 1, 1, height);
            CHECK(contains(stream.failure, sentence));
            CHECK(stream.failure.empty() == std::string(sentence).empty());
        }
    }

    TEST_CASE("what barriers, phases and waits order does not race, and the rest does") {
        for (const char* kernel : {"tile in order", "ring in order", "lane arrives for its warp",
                                   "lane waits for its warp", "reader waits by number", "product in order"}) {
            CAPTURE(kernel);
            CHECK(races_of(kernel) == 0);
        }
        for (const char* kernel :
             {"tile without wait", "barrier without meeting", "ring without wait",
              "ring with an early arrival", "lane arrives for itself", "lane waits for itself",
              "writer waits by number", "product without wait"}) {
            CAPTURE(kernel);
            CHECK(races_of(kernel) > 0);
        }
    }

    TEST_CASE("f7 in closed form: bytes from HBM, products, exponentials, arrivals") {
        const int N = 256, d = 64, Br = 128, Bc = 64, blocks = N / Br, tiles = blocks * (N / Bc);
        const inside::Record record = record_f7(N, d);
        CHECK(record.races() == 0);
        const inside::Counts fetches = total(record, inside::Op::fetch_tile);
        CHECK(fetches.global_bytes == 2 * (N * d + 2 * tiles * Bc * d));
        CHECK(fetches.sectors == fetches.global_bytes / 32);
        CHECK(fetches.lanes == fetches.warps);  // one thread asks
        CHECK(fetches.warps == blocks + 2 * tiles);
        CHECK(total(record, inside::Op::tile_arrived).warps == fetches.warps);
        // S = Q Kᵀ and P V: 16 rows × 64 columns × 16 for each warp and instruction
        CHECK(total(record, inside::Op::multiply_async).warps * 16 * 64 * 16 ==
              std::int64_t(tiles) * 2 * Br * Bc * d);
        CHECK(total(record, inside::Op::exp2).lanes == tiles * (Br * Bc + 4 * Br));
        // Each of the eight warps frees each tile of K, and of V all but the last
        CHECK(total(record, inside::Op::arrive_at).lanes == 8 * (2 * tiles - blocks));
        // A turn for each tile but the first, and the one that is taken back
        CHECK(total(record, inside::Op::arrive_named).warps == 8 * (tiles - blocks) + 4 * blocks);
        CHECK(total(record, inside::Op::sync_named).warps == 8 * (tiles - blocks) + 4 * blocks);
        CHECK(total(record, inside::Op::store).global_bytes == 2 * N * d + 4 * N);
    }

    TEST_CASE("f7: what a wait has brought is S of the rows and keys that it says, and O of the last tile") {
        const int N = 256, d = 64;
        const Problem p = *random_problem(N, d, 1);
        const inside::Record record = record_f7(N, d);
        const inside::Launch& launch = record.launches[0];
        const inside::BlockRecord& block = launch.blocks[0];
        const inside::Steps steps(record, launch, block);
        const inside::Origins origins(record, block, steps);
        const auto rounded = [](double x) {
            return double(emulator::to_float(emulator::from_float<emulator::bf16>(static_cast<float>(x))));
        };
        std::map<inside::Matter, int> waits;
        for (int w = 0; w < steps.warps(); ++w)
            for (int k = 0; k < steps.count(w); ++k) {
                const inside::Event& event = block.events[steps.event(w, k)];
                if (event.op == inside::Op::multiply_async) {
                    const int wait = brings_sums(block, steps, w, k);
                    REQUIRE(wait > k);
                    CHECK(origins.matter(steps.event(w, wait)) == origins.matter(steps.event(w, k)));
                }
                if (event.op != inside::Op::wait_products) continue;
                const auto named = named_sums(record, block, steps, origins, w, k);
                const inside::TileSums sums(event, block.words_of(event));
                ++waits[named.C];
                CHECK(sums.columns() == 64);
                CHECK(named.products == 4);
                CHECK(named.row == 16 * (w - 4));
                CHECK(brings_sums(block, steps, w, k) == k);
                if (named.C != inside::Matter::S) {
                    CHECK((named.A == inside::Matter::P && named.B == inside::Matter::V));
                    CHECK(named.column == 0);
                    continue;
                }
                CHECK((named.A == inside::Matter::Q && named.B == inside::Matter::K && named.begins_anew));
                for (const auto& [row, column] : {std::pair{0, 0}, {3, 2}, {15, 63}, {8, 17}}) {
                    double score = 0;
                    for (int c = 0; c < d; ++c)
                        score += rounded(p.Q(named.row + row, c)) * rounded(p.K(named.column + column, c));
                    CHECK(std::fabs(sums.value(row, column) - score) < 1e-3);
                    const inside::Holder h = inside::TileSums::holder(row, column);
                    CHECK(inside::TileSums::cell(h.lane, h.reg) == inside::FragmentCell{row, column});
                    CHECK(sums.at(h.lane, h.reg) == sums.value(row, column));
                }
            }
        CHECK(waits[inside::Matter::S] == 8 * 4);
        CHECK(waits[inside::Matter::O] == 8 * 4);
        CHECK(waits.size() == 2);
    }

    TEST_CASE("b4 in closed form: bytes from HBM, seven products, exponentials, arrivals") {
        const int N = 256, d = 64, stays = 128, passes = 64, blocks = N / stays,
                  tiles = blocks * (N / passes);
        const inside::Record record = record_of("b4-hopper", N, d);
        CHECK(record.races() == 0);
        REQUIRE(record.launches.size() == 3);  // D; dK and dV; dQ
        for (const auto& [the_launch, products, outputs, of_query] :
             {std::tuple{1u, 4, 2, true}, {2u, 3, 1, false}}) {
            const auto& launch = the_launch;
            CAPTURE(launch);
            const inside::Counts fetches = total(record, inside::Op::fetch_tile, launch);
            CHECK(fetches.global_bytes == 2 * 2 * (N * d + tiles * passes * d));
            CHECK(fetches.lanes == fetches.warps);  // one thread asks
            CHECK(fetches.warps == 2 * (blocks + tiles));
            CHECK(total(record, inside::Op::multiply_async, launch).warps * 16 * 64 * 16 ==
                  std::int64_t(tiles) * products * stays * passes * d);
            CHECK(total(record, inside::Op::exp2, launch).lanes == tiles * stays * passes);
            // Each of the eight warps frees U and W; where queries pass by, their L and D are said to be
            // there
            CHECK(total(record, inside::Op::arrive_at, launch).lanes == (2 * 8 + of_query) * tiles);
            // L and D: once for each tile that passes by, or by the four lanes of each row that stays
            CHECK(total(record, inside::Op::load, launch).global_bytes ==
                  (of_query ? tiles * passes : 4 * N) * 2 * 4);
            CHECK(total(record, inside::Op::store, launch).global_bytes == 2 * outputs * N * d);
        }
    }

    TEST_CASE("b4: exponentials and dS are computed while products are under way") {
        const inside::Record record = record_of("b4-hopper", 256, 64);
        for (const std::size_t launch : {1u, 2u}) {
            CAPTURE(launch);
            const inside::BlockRecord& block = record.launches[launch].blocks[0];
            CHECK(inside::Steps(record, record.launches[launch], block).tiles() == 4);
            std::map<inside::Op, int> beside, alone;
            std::uint32_t committed = 0, ended = 0;
            for (const inside::Event& event : block.events) {
                if (event.warp != 4) continue;
                if (event.op == inside::Op::commit_products) ++committed;
                if (event.op == inside::Op::wait_products) ended = block.words_of(event)[1];
                ++(committed > ended ? beside : alone)[event.op];
            }
            CHECK(beside[inside::Op::exp2] == 4 * 32);
            CHECK(alone[inside::Op::exp2] == 0);
            // To 16 bits: P beside dP, dS beside dV. Without dV nothing of this group runs beside dS.
            CHECK(beside[inside::Op::pack] == (launch == 1 ? 4 * 2 * 16 : 0));
        }
    }

    TEST_CASE("f7: the groups take turns, and softmax runs beside the other group's products") {
        const inside::Record record = record_f7(256, 64);
        const inside::Launch& launch = record.launches[0];
        const inside::BlockRecord& block = launch.blocks[0];
        const inside::Steps steps(record, launch, block);
        CHECK(steps.tiles() == 4);
        CHECK(steps.products().size() == 8 * 2 * 4);
        // When each group had its turns: from sync_named to arrive_named, in the model's clocks
        const inside::ModelTime time = inside::model_time(block, launch.warps(), inside::costs_of(90));
        std::map<int, std::vector<inside::Span>> turns;
        for (const int warp : {4, 8}) {
            std::int64_t begin = -1;
            for (int k = 0; k < steps.count(warp); ++k) {
                const std::uint32_t n = steps.event(warp, k);
                if (block.events[n].op == inside::Op::sync_named) begin = time.events[n].end;
                if (block.events[n].op != inside::Op::arrive_named || begin < 0) continue;
                turns[warp].push_back({begin, time.events[n].end});
                begin = -1;
            }
        }
        REQUIRE(turns[4].size() == 3);
        REQUIRE(turns[8].size() == 3);
        for (std::size_t n = 0; n < 3; ++n) {
            CHECK(turns[4][n].end <= turns[8][n].begin);
            if (n > 0) CHECK(turns[8][n - 1].end <= turns[4][n].begin);
        }
        // Tiles come while others are multiplied
        std::set<std::uint32_t> phases;
        for (const inside::Flight& flight : steps.flights()) {
            CHECK(flight.arrived >= flight.issued);
            phases.insert(flight.group);
        }
        CHECK(phases == std::set<std::uint32_t>{0, 1});
        CHECK(steps.flights().size() == 1 + 2 * 4);
    }
}
