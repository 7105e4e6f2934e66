// The record of a kernel's run: what is written down, what races, what it costs the banks and HBM. Kernels of
// a few lines with one known thing each; the rungs against closed forms and over the case matrix.
#include "core/inside/accesses.h"
#include "core/inside/model_time.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"
#include "tests/cuda/inside_kernels.h"
#include "tests/cuda/kernel_cases.h"
#include "tests/part.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

namespace tilewalk::inside {

using test::contains;

namespace {

Record record_of(const std::string& kernel) {
    std::string wrong;
    Record record = test::record_small(kernel, wrong);
    CHECK(wrong.empty());
    return record;
}
const std::vector<Race> races_of(const std::string& kernel) { return record_of(kernel).launches[0].races; }

/// The counts of an op, all places together.
Counts total(const Record& record, Op op, std::size_t launch = 0) {
    Counts all;
    for (const Counts& c : record.launches[launch].counts) {
        if (c.op != op) continue;
        all.warps += c.warps, all.lanes += c.lanes;
        all.shared_turns += c.shared_turns, all.shared_least += c.shared_least;
        all.worst_ways = std::max(all.worst_ways, c.worst_ways);
        all.global_bytes += c.global_bytes, all.shared_bytes += c.shared_bytes;
        all.sectors += c.sectors, all.sectors_least += c.sectors_least;
    }
    return all;
}

Record record_rung(const std::string& kernel, int N, int d, std::vector<int> blocks = {0},
                   bool causal = false) {
    gpu::RecordRequest request;
    request.kernel = kernel, request.problem = *random_problem(N, d, 1), request.blocks = std::move(blocks);
    request.problem.causal = causal;
    for (const auto& known : gpu::traceable_kernels())
        if (known.name == kernel) request.dtype = known.types.front();
    auto record = gpu::record_kernel(request);
    REQUIRE_MESSAGE(record, record.error);
    return std::move(*record);
}

float number(std::uint32_t word) { return std::bit_cast<float>(word); }

void check_races(const Record& record) {
    for (const Launch& launch : record.launches)
        for (const Race& race : launch.races)
            FAIL_CHECK(place_text(record, race.first.place)
                       << " and " << place_text(record, race.second.place) << " race at "
                       << address_text(record, race.address));
}

/// How many places use shared memory. None asks a bank twice but f4's stores where its rows are not a
/// multiple of 128 bytes: eight lanes then end in a row that begins anew.
int check_banks(const Record& record, std::int64_t d) {
    int places = 0;
    for (const Launch& launch : record.launches)
        for (const Counts& at : launch.counts) {
            const bool of_f4 = at.op == Op::store && d % 64 != 0 &&
                               contains(record.places[at.place].file, "f4_tensor_core.cu");
            CAPTURE(place_text(record, at.place));
            CHECK(at.worst_ways <= (of_f4 ? 2 : 1));
            if (!of_f4) CHECK(at.shared_turns == at.shared_least);
            places += at.shared_turns > 0;
        }
    return places;
}

}  // namespace

TEST_SUITE("inside") {
    TEST_CASE("what is ordered does not race, and what is not does") {
        for (const char* kernel : {"has barrier", "has sync_warp", "copies in order", "blocks add",
                                   "adds, meets and reads", "stride 8"}) {
            CAPTURE(kernel);
            CHECK(races_of(kernel).empty());
        }
        for (const char* kernel :
             {"misses barrier", "misses second barrier", "misses sync_warp", "shuffles instead",
              "lanes write one place", "copies without wait", "copies without barrier",
              "copies one group short", "own copy without wait", "copies too early", "blocks write",
              "blocks add and read", "first lane adds and reads", "last lane adds and reads",
              "last warp adds and reads"}) {
            CAPTURE(kernel);
            CHECK(!races_of(kernel).empty());
        }
    }

    TEST_CASE("a race is told with both places, the lanes and the address") {
        const Record record = record_of("misses barrier");
        REQUIRE(record.launches[0].races.size() == 2);  // either warp may come first
        const Race& race = record.launches[0].races[0];
        const RaceAccess &write = race.first.op == Op::store ? race.first : race.second,
                         &read = race.first.op == Op::store ? race.second : race.first;
        CHECK(record.places[write.place].file == "cuda/inside_kernels.cpp");
        CHECK(record.places[read.place].line == record.places[write.place].line + 1);
        CHECK(read.op == Op::load);
        CHECK(write.warp != read.warp);
        // Of the lanes of both events those that touch this address
        CHECK(lanes_text(write.lanes) == "lane " + std::to_string(race.address / 4 % 32));
        CHECK(read.lanes == write.lanes);
        CHECK(race.times == 32);  // a lane each
        // 31 lanes come after another one, however many bytes each writes.
        CHECK(races_of("lanes write one place")[0].times == 31);
        CHECK(contains(address_text(record, race.address), "shared memory, byte 0x"));
        const std::string text = race_text(record, race);
        CHECK(text.starts_with(address_text(record, race.address) + "\n    "));
        for (const RaceAccess* access : {&write, &read})
            CHECK(contains(text, std::string(info(access->op).name) + " at " +
                                     place_text(record, access->place) + ", block 0, warp " +
                                     std::to_string(access->warp) + ", " + lanes_text(access->lanes) + "\n"));
        CHECK(text.ends_with("nothing orders them; accesses that race so: 32"));
        Race turn = race;
        turn.address = numbered_base + 2;
        CHECK(race_text(record, turn)
                  .ends_with("the turn is given twice, and nobody takes it between; so often: 32"));
    }

    TEST_CASE("the lanes of a race are those that touch its address") {
        const Record turned = record_of("turns lanes round");
        REQUIRE(turned.launches[0].races.size() == 1);
        const Race& race = turned.launches[0].races[0];
        CHECK(race.first.lanes == 1u << race.address / 4);
        CHECK(race.second.lanes == 1u << (31 - race.address / 4));
        CHECK(race.times == 32);
    }

    TEST_CASE("a copy races until its own lane has waited and all have met") {
        for (const char* kernel : {"copies without wait", "own copy without wait"}) {
            const auto races = races_of(kernel);
            REQUIRE(!races.empty());
            CHECK(races[0].first.op == Op::copy_issued);
            CHECK(races[0].second.op == Op::load);
        }
        CHECK(races_of("copies too early")[0].second.op == Op::copy_issued);
    }

    TEST_CASE("ways of conflict, as they are known") {
        const auto loads = [](const char* kernel) {
            const Record record = record_of(kernel);
            for (const Counts& c : record.launches[0].counts)
                if (c.op == Op::load && c.shared_turns > 0) return c;
            return Counts{};
        };
        CHECK(loads("stride 1").worst_ways == 1);
        CHECK(loads("stride 8").worst_ways == 8);
        CHECK(loads("stride 9").worst_ways == 1);
        CHECK(loads("stride 0").worst_ways == 1);  // one word for all lanes
        const Counts plain = total(record_of("rows of 128 bytes"), Op::load_matrices);
        CHECK(plain.worst_ways == 8);
        CHECK(plain.shared_turns == 32);
        CHECK(plain.shared_least == 4);
        const Counts padded = total(record_of("rows of 144 bytes"), Op::load_matrices);
        CHECK(padded.worst_ways == 1);
        CHECK(padded.shared_turns == 4);
    }

    TEST_CASE("sectors, as they are known") {
        const auto loads = [](const char* kernel) { return total(record_of(kernel), Op::load); };
        CHECK(loads("global stride 1").sectors == 4);
        CHECK(loads("global stride 1").sectors_least == 4);
        CHECK(loads("global stride 2").sectors == 8);
        CHECK(loads("global stride 8").sectors == 32);
        CHECK(loads("global stride 8").sectors_least == 4);
        CHECK(loads("global float4").sectors == 16);
        CHECK(loads("global float4").global_bytes == 512);
    }

    TEST_CASE("events have their places, lanes, addresses and values") {
        const Record record = record_of("has barrier");
        const BlockRecord& block = record.launches[0].blocks[0];
        REQUIRE(block.events.size() == 8);  // store, barrier, load, store of each of two warps
        for (const Event& event : block.events) {
            CHECK(event.lanes == 0xFFFFFFFF);
            CHECK(record.places[event.place].file == "cuda/inside_kernels.cpp");
            const auto words = block.words_of(event);
            for (std::uint32_t l = 0; event.op == Op::store && is_shared(words[0]) && l < 32; ++l) {
                CHECK(words[2 * l] == 4 * (32 * event.warp + l));
                CHECK(number(words[2 * l + 1]) == static_cast<float>(32 * event.warp + l));
            }
            for (std::uint32_t l = 0; event.op == Op::load && l < 32; ++l)
                CHECK(number(words[2 * l + 1]) == static_cast<float>((32 * event.warp + l + 32) % 64));
        }
    }

    TEST_CASE("lanes that part come together again") {
        const Record record = record_of("lanes part");
        std::string order;
        for (const Event& event : record.launches[0].blocks[0].events)
            order += event.lanes == 0xAAAAAAAA ? "half " : event.lanes == 0xFFFFFFFF ? "all " : "other ";
        CHECK(order == "half all half all ");
    }

    // The host's compiler must not make one of them.
    TEST_CASE("accesses are counted as often as the source has them, of one address from one place, too") {
        CHECK(total(record_of("reads one address"), Op::load).warps == 8);
        CHECK(total(record_of("scales by rows"), Op::load).warps == 4 * 2);
        CHECK(total(record_of("scales by rows"), Op::store).warps == 4);
        CHECK(total(record_of("adds in place"), Op::load).warps == 4);
        CHECK(total(record_of("adds in place"), Op::store).warps == 4);
    }

    TEST_CASE("copies are issued, committed and arrive") {
        const Record record = record_of("copies in order");
        CHECK(total(record, Op::copy_issued).warps == 2);
        CHECK(total(record, Op::copies_committed).warps == 2);
        CHECK(total(record, Op::copy_arrived).warps == 2);
        CHECK(total(record, Op::copy_issued).sectors == 32);
        CHECK(total(record, Op::copy_issued).shared_turns == 8);
    }

    TEST_CASE(
        "what lies beyond a buffer is neither read nor written, and told with all that is known of it") {
        const auto sentence = [](const char* kernel) {
            std::string wrong;
            test::record_small(kernel, wrong);
            return wrong;
        };
        const auto told = [&](const char* kernel, const char* what) {
            const std::string wrong = sentence(kernel);
            CAPTURE(kernel);
            CAPTURE(wrong);
            CHECK(wrong.starts_with(std::string(kernel) + ": cuda/inside_kernels.cpp:"));
            CHECK(contains(wrong, std::string(": warp 1, lane 5 of block 0 ") + what));
        };
        const std::string of = " of memory, which has 2048 of 4 bytes";
        for (const char* kernel : {"writes the last", "copies nothing from beyond"})
            CHECK(sentence(kernel).empty());
        told("writes the next", ("writes 4 bytes at index 2048" + of).c_str());
        told("writes 1000 behind", ("writes 4 bytes at index 3048" + of).c_str());
        told("writes a million behind", ("writes 4 bytes at index 1002048" + of).c_str());
        told("writes the one before", ("writes 4 bytes at index -1" + of).c_str());
        told("reads the next", ("reads 4 bytes at index 2048" + of).c_str());
        told("reads 4 at the end", ("reads 16 bytes at index 2048" + of).c_str());
        told("writes shared beyond", "writes 4 bytes at byte 16384 of shared memory, which has 16384");
        CHECK(contains(sentence("copies beyond"),
                       "warp 1, lane 4 of block 0 reads 16 bytes at index 2048" + of));
    }

    TEST_CASE("a kernel that never ends is stopped, and one that is recorded at length refused") {
        std::string wrong;
        test::record_small("never ends", wrong, {.most_steps = 100'000});
        CHECK(wrong == "The kernel was stopped after 100000 steps of its threads.");
        test::record_small("has barrier", wrong, {.blocks = {0}, .most_bytes = 1000});
        CHECK(contains(wrong, "The events of one block take more than "));
        CHECK(contains(wrong, ", and no more are kept; the last one was at cuda/inside_kernels.cpp:"));
        CHECK(contains(wrong, "the loop may never end; if it does, give the kernel a smaller problem"));
        CHECK_FALSE(contains(wrong, "fewer blocks"));
        test::record_small("has barrier", wrong, {.blocks = {0, 1}, .most_bytes = 1000});
        CHECK(contains(wrong, "The events of these 2 blocks take more than "));
        CHECK(contains(wrong, "ask for fewer blocks"));
    }

    TEST_CASE("f5 in closed form: bytes from HBM, products, exponentials") {
        const int N = 256, d = 64, Br = 128, Bc = 128, tiles = N / Br * (N / Bc), warps = 4;
        const Record record = record_rung("f5-flash2", N, d, {0, 1});
        CHECK(record.races() == 0);
        // Q once, K and V once for each block of queries, 2 bytes an element, every sector used
        const Counts copies = total(record, Op::copy_issued);
        CHECK(copies.global_bytes == 2 * (N * d + 2 * tiles * Bc * d));
        CHECK(copies.sectors == copies.global_bytes / 32);
        CHECK(copies.sectors_least == copies.sectors);
        // S = Q Kᵀ and P V, 2048 multiply-adds each time
        CHECK(total(record, Op::multiply_add).warps * 2048 == std::int64_t(tiles) * 2 * Br * Bc * d);
        // Each element of P̃; α once for each row by the four lanes that share it
        CHECK(total(record, Op::exp2).lanes == tiles * (Br * Bc + 4 * Br));
        // The swizzle: no bank is asked twice
        for (Op op : {Op::load_matrices, Op::load_transposed, Op::copy_issued}) {
            CHECK(total(record, op).worst_ways == 1);
            CHECK(total(record, op).shared_turns == total(record, op).shared_least);
        }
        // Two barriers and two waits for each tile
        CHECK(total(record, Op::sync_block).warps == 2 * tiles * warps);
        CHECK(total(record, Op::wait_copies).warps == 2 * tiles * warps);
        CHECK(total(record, Op::store).global_bytes == 2 * N * d + 4 * N);
    }

    TEST_CASE("f4 in closed form") {
        const int N = 128, d = 64, Br = 64, Bc = 64, tiles = N / Br * (N / Bc);
        const Record record = record_rung("f4-tensor-core", N, d);
        CHECK(total(record, Op::load).global_bytes == 2 * (N * d + 2 * tiles * Bc * d));
        CHECK(total(record, Op::multiply_add).warps * 2048 == std::int64_t(tiles) * 2 * Br * Bc * d);
        CHECK(total(record, Op::exp2).lanes == tiles * (Br * Bc + 4 * Br));
        CHECK(total(record, Op::load_matrices).worst_ways == 1);
    }

    TEST_CASE("f2 and f3 in closed form") {
        const int N = 128, d = 64;
        const Record f2 = record_rung("f2-tiled-fp32", N, d);
        const int f2_tiles = 2 * 2;  // of 64 × 64
        CHECK(total(f2, Op::load).global_bytes == 4 * (N * d + 2 * f2_tiles * 64 * d));
        CHECK(total(f2, Op::exp).lanes == f2_tiles * (64 * 64 + 2 * 64));  // two threads have a row
        CHECK(total(f2, Op::sync_block).warps == 4 * (4 * f2_tiles + 2 * 2));
        const Record f3 = record_rung("f3-warp-rows", N, d);
        const int f3_tiles = 1 * 4;  // of 128 × 32
        CHECK(total(f3, Op::load).global_bytes == 4 * (N * d + 2 * f3_tiles * 32 * d));
        CHECK(total(f3, Op::exp2).lanes == f3_tiles * (128 * 32 + 4 * 128));
    }

    TEST_CASE("what a copy brings is what the product takes") {
        const Record record = record_rung("f5-flash2", 128, 64);
        const BlockRecord& block = record.launches[0].blocks[0];
        const auto first = std::ranges::find(block.events, Op::multiply_add, &Event::op);
        REQUIRE(first != block.events.end());
        const auto words = block.words_of(*first);
        for (std::size_t l = 0; l < 32; ++l)
            for (std::size_t n = 0; n < 4; ++n) CHECK(number(words[14 * l + 6 + n]) == 0);
    }

    TEST_CASE("the model: the longest path grows with the tiles, and waits for what is late") {
        const auto end_of = [](int N) {
            const Record record = record_rung("f5-flash2", N, 64);
            const ModelTime time =
                model_time(record.launches[0].blocks[0], record.launches[0].warps(), costs_of(80));
            for (std::size_t n = 0; n < time.events.size(); ++n)
                CHECK(time.events[n].end >= time.events[n].begin);
            return time.end;
        };
        const std::int64_t two = end_of(128), four = end_of(256);
        CHECK(four > two);
        CHECK(four < 2 * two + 100);
        Costs slow = costs_of(80);
        slow.sector = 1000;
        const Record record = record_rung("f5-flash2", 128, 64);
        CHECK(model_time(record.launches[0].blocks[0], 4, slow).end >
              1000 * total(record, Op::copy_issued).sectors);
    }

    TEST_CASE("the model: warps that load at once share the rate of HBM") {
        const Costs costs{0, "", 100, 1, 1, 1, 3, 20, 500};  // mma, …, turn, sector, latency
        for (const int warps : {1, 2, 4}) {
            CAPTURE(warps);
            const Record record =
                record_of("loads once, " + std::to_string(warps) + (warps == 1 ? " warp" : " warps"));
            const BlockRecord& block = record.launches[0].blocks[0];
            REQUIRE(block.events.size() == static_cast<std::size_t>(warps));
            const ModelTime time = model_time(block, warps, costs);
            CHECK(time.end == warps * 4 * costs.sector + costs.latency);  // 4 sectors each
            std::vector<std::int64_t> ends;
            for (const Span& span : time.events) ends.push_back(span.end);
            std::ranges::sort(ends);
            for (int n = 0; n < warps; ++n)
                CHECK(ends[static_cast<std::size_t>(n)] == (n + 1) * 4 * costs.sector + costs.latency);
        }
    }

    TEST_CASE("the model: a copy beside products takes the longer of both, a load before them the sum") {
        const Record copies = record_of("copies beside products"), loads = record_of("loads before products");
        for (const auto& [the_mma, sector] : {std::pair(5, 20), {100, 20}, {10, 0}}) {
            const auto& mma = the_mma;
            CAPTURE(mma);
            const Costs costs{0, "", mma, 1, 1, 1, 3, sector, 50};
            // 512 bytes: 16 sectors, 4 turns of the banks
            const int brought = 16 * sector + costs.latency, turns = 4 * costs.turn, products = 8 * mma;
            CHECK(model_time(loads.launches[0].blocks[0], 1, costs).end == brought + turns + products);
            // Issued and committed within a clock each, and waited for within one
            CHECK(model_time(copies.launches[0].blocks[0], 1, costs).end ==
                  std::max(1 + brought + turns, 2 + products + 1));
        }
    }

    TEST_CASE("the model: copies that run ahead of the products are not slower than loads between them") {
        for (const auto& [the_N, the_d] : {std::pair(128, 64), {256, 64}, {256, 128}}) {
            const auto& N = the_N;
            const auto& d = the_d;
            CAPTURE(N);
            CAPTURE(d);
            const Record loads = record_rung("f4-tensor-core", N, d),
                         ahead = record_rung("f4b-copies-ahead", N, d);
            for (const int capability : {80, 86, 89, 90}) {
                CAPTURE(capability);
                const Costs& costs = costs_of(capability);
                const auto end = [&](const Record& record) {
                    return model_time(record.launches[0].blocks[0], record.launches[0].warps(), costs).end;
                };
                MESSAGE("f4 " << end(loads) << ", f4b " << end(ahead));
                CHECK(end(ahead) < end(loads));
            }
        }
    }

    TEST_CASE("the model's rates are those of the data sheets") {
        // FLOP/s with float sums, bytes of HBM a second, multiprocessors, boost clock: T4, A100 80 GB, RTX
        // 3090, RTX 4090, H100 SXM, as NVIDIA's data sheets and whitepapers print them
        const struct {
            int capability;
            double flops, bytes, multiprocessors, clock;
        } sheets[] = {{75, 65e12, 320e9, 40, 1.59e9},
                      {80, 312e12, 2039e9, 108, 1.41e9},
                      {86, 71e12, 936e9, 82, 1.695e9},
                      {89, 165.2e12, 1008e9, 128, 2.52e9},
                      {90, 989.4e12, 3350e9, 132, 1.83e9}};
        for (const auto& chip : sheets) {
            const Costs& costs = costs_of(chip.capability);
            const double clocks = chip.multiprocessors * chip.clock, mma = 16 * 8 * 16;
            CAPTURE(costs.chip);
            CHECK(costs.mma == std::lround(4 * mma * 2 * clocks / chip.flops));
            CHECK(costs.sector == std::lround(32 * clocks / chip.bytes));
            CHECK(costs.latency == 0);  // of which none of them says anything
            // Lanes of a multiprocessor each clock, a quarter of them for a warp
            CHECK(costs.special == 4 * 32 / 16);
            CHECK(costs.convert == 4 * 32 / 64);
            CHECK(costs.shuffle == 4 * 32 / 32);
        }
    }

    // tilewalk_bench takes the time.
    TEST_CASE("small: f5 at N = 256 with tiles of 128 × 64, both blocks, in 64 MiB") {
        const Record record = record_rung("f5-flash2", 256, 128, {0, 1});
        CHECK(record.Br == 128);
        CHECK(record.Bc == 64);
        MESSAGE("f5 at N = 256, d = 128: " << record.bytes() << " bytes");
        CHECK(record.bytes() <= 64 << 20);
        CHECK(record.bytes() > 1 << 20);
    }

    TEST_CASE("no rung races over the case matrix, none asks a bank twice, and the record changes no bit") {
        int shared_places = 0;
        test::Part part("TILEWALK_KERNELS", 4);
        for (const auto& [kernel, type] : kernels_and_types())
            for (KernelCase c : case_matrix(kernel, type, test::in_full ? 128 * 128 : 1000, 1)) {
                if (!part.takes()) continue;
                CAPTURE(c);
                c.w.batch = 1, c.w.heads = 2, c.w.kv_heads = std::min<std::int64_t>(c.w.kv_heads, 2);
                const Tensors in = inputs_of(c);
                std::string wrong, wrong_recorded;
                const auto device = gpu::open_recorder();
                device->begin();
                const Tensors out = run_case_on(*device, true, c, in, wrong_recorded),
                              plain = run_case(c, in, wrong);
                CHECK(wrong == wrong_recorded);
                CHECK(out.O == plain.O);
                CHECK(out.dK == plain.dK);
                CHECK(out.dV == plain.dV);
                const Record& record = device->record();
                check_races(record);
                shared_places += check_banks(record, c.w.d);
            }
        CHECK(shared_places > (part.whole() ? 100 : 25));
    }

    TEST_CASE(
        "nor do the twins that record what they hold: of the lanes that share a row one writes it down") {
        for (const auto& each : kernels_and_types()) {
            const std::string& kernel = each.first;
            const DType type = each.second;
            if (kernel < "f2" || kernel > "f8") continue;  // they have twins
            CAPTURE(kernel);
            for (const int keys : {70, 150}) {  // f5 takes 64 keys at once, or 128
                CAPTURE(keys);
                const KernelCase c{
                    kernel, {.dtype = type, .heads = 2, .kv_heads = 1, .N_q = 20, .N_kv = keys, .d = 64}};
                const auto device = gpu::open_recorder();
                float* m = nullptr;
                const auto record_all = [&](gpu::Arguments& a, const gpu::Rung& rung) {
                    const gpu::Tile tile = rung.tile(a, type, device->chip);
                    gpu::TraceWindow& w = a.trace;
                    w.heads = 2, w.Br = tile.Br, w.Bc = tile.Bc, w.d = a.d;
                    w.tiles_i = (a.N_q + tile.Br - 1) / tile.Br, w.tiles_j = (a.N_kv + tile.Bc - 1) / tile.Bc;
                    const std::int64_t rows = std::int64_t(w.heads) * w.tiles_i * w.tiles_j * w.Br;
                    const auto room = [&](int width) {
                        return static_cast<float*>(device->allocate(4 * rows * width));
                    };
                    m = w.m = room(1), w.l = room(1), w.alpha = room(1);
                    w.S = room(w.Bc), w.P = room(w.Bc), w.O = room(w.d);
                    m[0] = NAN;
                    device->begin();
                };
                std::string wrong;
                run_case_on(*device, true, c, inputs_of(c), wrong, record_all);
                CHECK(wrong.empty());
                CHECK(!std::isnan(m[0]));  // it was the twin
                check_races(device->record());
            }
        }
    }
}

}  // namespace tilewalk::inside
