// Compiled as the kernels of the recording back end are.
#include "tests/cuda/hopper_kernels.h"

#include "cuda/device/device.h"

#include <stdexcept>

namespace tilewalk::test {

namespace {

using namespace gpu;
using namespace gpu::on_recorder;

constexpr int rows = 64, tile_bytes = rows * 128;
/// Shared memory of each of them: two tiles and some barriers.
struct Room {
    unsigned char* const tiles = shared_tiles<unsigned char>();
    MBarrier* barrier(int n) const { return reinterpret_cast<MBarrier*>(tiles + 2 * tile_bytes) + n; }
    unsigned char* tile(int n) const { return tiles + n * tile_bytes; }
    float* numbers(int n) const { return reinterpret_cast<float*>(tile(n)); }

    void make(int barriers, int arrivals) const {
        if (thread() != 0) return;
        for (int n = 0; n < barriers; ++n) init_barrier(barrier(n), arrivals);
        publish_barriers();
    }
    void fetch(const TensorMap& map, int n, int to_barrier) const {
        expect_bytes(barrier(to_barrier), tile_bytes);
        fetch_tile(tile(n), map, barrier(to_barrier), 0, 0, 0, 0);
    }
};

// ---- Tiles

template <bool waits> void tile(const TensorMap map, float* out) {
    const Room room;
    room.make(1, 1);
    sync_block();
    if (thread() == 0) room.fetch(map, 0, 0);
    if (waits) wait_for(room.barrier(0), 0);
    out[thread()] = room.numbers(0)[thread()];
    if (!waits) wait_for(room.barrier(0), 0);
}
/// A shuffle brings the lanes behind the first one, which makes the barrier, and orders nothing.
void unmet(const TensorMap map, float* out) {
    const Room room;
    room.make(1, 1);
    out[lane()] = shuffle_xor(1.0f, 1);
    if (thread() == 0) room.fetch(map, 0, 0);
    wait_for(room.barrier(0), 0);
}
/// One buffer, two tiles: the second is fetched when warp 1 has said that it is done with the first, or at
/// once.
template <bool waits, bool arrives_late> void ring(const TensorMap map, float* out) {
    const Room room;
    room.make(2, 1);
    sync_block();
    for (int n = 0; n < 2; ++n) {
        if (thread() == 0) {
            if (waits) wait_for(room.barrier(1), n % 2 ^ 1);
            room.fetch(map, 0, 0);
            if (!waits) wait_for(room.barrier(0), n % 2);
        }
        if (warp() == 0) continue;
        wait_for(room.barrier(0), n % 2);
        if (!arrives_late && lane() == 0) arrive_at(room.barrier(1));
        out[thread()] = room.numbers(0)[lane()];
        sync_warp();
        if (arrives_late && lane() == 0) arrive_at(room.barrier(1));
    }
}

// ---- Who arrives for whom

/// Warp 0 stores, its first lane arrives, warp 1 waits and reads.
template <bool meets> void lane_arrives(const TensorMap, float* out) {
    const Room room;
    room.make(1, 1);
    sync_block();
    if (warp() == 0) {
        room.numbers(0)[lane()] = 1;
        if (meets) sync_warp();
        if (lane() == 0) arrive_at(room.barrier(0));
        return;
    }
    wait_for(room.barrier(0), 0);
    out[lane()] = room.numbers(0)[lane()];
}
/// Only one lane waits, and the others read.
template <bool meets> void lane_waits(const TensorMap map, float* out) {
    const Room room;
    room.make(1, 1);
    sync_block();
    if (thread() == 0) room.fetch(map, 0, 0);
    if (lane() == 0) wait_for(room.barrier(0), 0);
    if (meets) sync_warp();
    out[thread()] = room.numbers(0)[thread()];
}
template <bool writer_waits> void by_number(const TensorMap, float* out) {
    const Room room;
    const bool writes = warp() == 0;
    if (writes) room.numbers(0)[lane()] = 1;
    if (writes == writer_waits)
        sync_named(1, 64);
    else
        arrive_named(1, 64);
    if (!writes) out[lane()] = room.numbers(0)[lane()];
}

// ---- Products

std::uint64_t described(const unsigned char* tile) {
    return std::uint64_t(shared_address(tile) >> 4) | std::uint64_t(1) << 16 | std::uint64_t(64) << 32 |
           std::uint64_t(1) << 62;
}
/// A tile is multiplied with itself, and another one is fetched over it.
template <bool waits> void multiplies(const TensorMap map, float* out) {
    const Room room;
    room.make(1, 1);
    sync_block();
    if (thread() == 0) room.fetch(map, 0, 0);
    wait_for(room.barrier(0), 0);
    float C[8][4];
    fence_products();
    multiply_async<bf16>(C, described(room.tile(0)), described(room.tile(0)), false);
    commit_products();
    if (waits) wait_products<0>(C);
    sync_block();
    if (thread() == 0) room.fetch(map, 0, 0);
    wait_for(room.barrier(0), 1);
    wait_products<0>(C);
    out[thread()] = C[0][0];
}

template <void (*kernel)(TensorMap, float*), int threads>
void start(const Arguments& a, DType, Stream& stream) {
    const TensorMap map = tensor_map<bf16>(stream, a.Q, 64, rows, 1, 1, rows);
    launch(stream, Grid{1, 1, 1, threads, 2 * tile_bytes + 64}, kernel, map, a.L);
}

struct Small {
    const char* name;
    void (*start)(const Arguments& a, DType type, Stream& stream);
};
const Small all[] = {
    {"tile in order", start<tile<true>, 64>},
    {"tile without wait", start<tile<false>, 64>},
    {"barrier without meeting", start<unmet, 32>},
    {"ring in order", start<ring<true, true>, 64>},
    {"ring without wait", start<ring<false, true>, 64>},
    {"ring with an early arrival", start<ring<true, false>, 64>},
    {"lane arrives for its warp", start<lane_arrives<true>, 64>},
    {"lane arrives for itself", start<lane_arrives<false>, 64>},
    {"lane waits for its warp", start<lane_waits<true>, 64>},
    {"lane waits for itself", start<lane_waits<false>, 64>},
    {"reader waits by number", start<by_number<false>, 64>},
    {"writer waits by number", start<by_number<true>, 64>},
    {"product in order", start<multiplies<true>, 128>},
    {"product without wait", start<multiplies<false>, 128>},
};

}  // namespace

inside::Record record_hopper(const std::string& kernel, std::string& wrong) {
    for (const Small& small : all) {
        if (small.name != kernel) continue;
        Rung rung{};
        rung.launch = small.start;
        const auto device = open_recorder({.blocks = {0}});
        Arguments a;
        a.Q = {device->allocate(tile_bytes), 0, 0, 64};
        a.L = static_cast<float*>(device->allocate(512));
        device->fill(a.Q.data, 0, tile_bytes);
        device->name("Q", a.Q.data, tile_bytes, 128, 2);
        device->begin();
        device->run(rung, a, DType::bf16);
        wrong = device->failure();
        return device->record();
    }
    throw std::runtime_error("no small kernel " + kernel);
}

}  // namespace tilewalk::test
