// Compiled as the kernels of the recording back end are.
#include "tests/cuda/inside_kernels.h"

#include "cuda/device/device.h"

#include <stdexcept>

namespace tilewalk::test {

namespace {

using namespace gpu;
using namespace gpu::on_recorder;

int other_warp() { return (thread() + 32) % threads(); }

// ---- Order

void misses_barrier(float* memory) {
    float* const shared = shared_memory<float>();
    shared[thread()] = 1;
    memory[thread()] = shared[other_warp()];
}
void has_barrier(float* memory) {
    float* const shared = shared_memory<float>();
    shared[thread()] = static_cast<float>(thread());
    sync_block();
    memory[thread()] = shared[other_warp()];
}
void misses_second_barrier(float* memory) {
    float* const shared = shared_memory<float>();
    for (int n = 0; n < 2; ++n) {
        shared[thread()] = 1;
        sync_block();
        memory[thread()] = shared[other_warp()];
    }
}
void misses_sync_warp(float* memory) {
    float* const shared = shared_memory<float>();
    shared[lane()] = 1;
    memory[lane()] = shared[lane() ^ 1];
}
void has_sync_warp(float* memory) {
    float* const shared = shared_memory<float>();
    shared[lane()] = 1;
    sync_warp();
    memory[lane()] = shared[lane() ^ 1];
}
// A shuffle keeps lanes together and orders nothing.
void shuffles_instead(float* memory) {
    float* const shared = shared_memory<float>();
    shared[lane()] = 1;
    const float x = shuffle_xor(1.0f, 1);
    memory[lane()] = x + shared[lane() ^ 1];
}
void turns_lanes_round(float* memory) {
    float* const shared = shared_memory<float>();
    shared[lane()] = 1;
    memory[lane()] = shared[31 - lane()];
}
void lanes_write_one_place(float* memory) { memory[0] = static_cast<float>(lane()); }

// ---- Copies in the background

template <int groups, bool waits, bool meets> void copies(float* memory) {
    float* const shared = shared_memory<float>();
    for (int n = 0; n < groups; ++n) {
        copy_async(shared + 4 * thread() + 4 * n * threads(), memory + 4 * thread(), true);
        commit_copies();
    }
    if (waits) wait_copies<groups - 1>();
    if (meets) sync_block();
    const int last = 4 * (groups - 1) * threads();
    memory[1024 + thread()] = shared[last + 4 * other_warp()];
    wait_copies<0>();
}
void own_copy_without_wait(float* memory) {
    float* const shared = shared_memory<float>();
    copy_async(shared + 4 * thread(), memory + 4 * thread(), true);
    commit_copies();
    memory[1024 + thread()] = shared[4 * thread()];
    wait_copies<0>();
}
void copies_too_early(float* memory) {
    float* const shared = shared_memory<float>();
    shared[4 * thread()] = 1;
    sync_block();
    const float x = shared[4 * other_warp()];
    copy_async(shared + 4 * thread(), memory + 4 * thread(), true);
    commit_copies();
    wait_copies<0>();
    memory[1024 + thread()] = x;
}

// ---- Blocks

void blocks_write(float* memory) {
    if (thread() == 0) memory[0] = 1;
}
void blocks_add(float* memory) { atomic_add(memory, 1); }
void blocks_add_and_read(float* memory) {
    atomic_add(memory, 1);
    if (block_x() == 1 && thread() == 0) memory[1] = memory[static_cast<std::size_t>(block_y())];
}
// Whoever reads comes after the addition of one lane, and not after those of the others.
template <int reader> void lanes_add_and_read(float* memory) {
    atomic_add(memory, 1);
    if (lane() == reader) memory[1] = memory[0];
}
void warps_add_and_read(float* memory) {
    atomic_add(memory, 1);
    if (thread() == threads() - 1) memory[1] = memory[0];
}
void add_meet_and_read(float* memory) {
    atomic_add(memory, 1);
    sync_block();
    if (thread() == 5) memory[1] = memory[0];
}

// ---- Banks and sectors

template <int stride> void reads_shared(float* memory) {
    float* const shared = shared_memory<float>();
    shared[lane()] = 1;
    sync_block();
    memory[lane()] = shared[stride * lane()];
}
template <int row_bytes> void reads_rows(float* memory) {
    std::uint32_t r[4];
    load_matrices(r, shared_memory<unsigned char>() + lane() * row_bytes);
    memory[lane()] = static_cast<float>(r[0] & 1);
}
template <int stride> void reads_global(float* memory) {
    const float x = memory[stride * lane()];
    shared_memory<float>()[lane()] = x;
}
void reads_float4(float* memory) { store4(shared_memory<float>() + 4 * lane(), load4(memory + 4 * lane())); }

// ---- What the model of time makes of them

void loads_once(float* memory) {
    if (memory[thread()] == 1) sync_warp();  // it is 0
}
void multiplies_8_times() {
    float c[4] = {};
    const std::uint32_t a[4] = {};
    for (int n = 0; n < 8; ++n) multiply_add<f16>(c, a, 0, 0);
}
void copies_beside_products(float* memory) {
    copy_async(shared_memory<float>() + 4 * lane(), memory + 4 * lane(), true);
    commit_copies();
    multiplies_8_times();
    wait_copies<0>();
}
void loads_before_products(float* memory) {
    store4(shared_memory<float>() + 4 * lane(), load4(memory + 4 * lane()));
    multiplies_8_times();
}

// ---- Beyond the memory that they were given

template <int index> void writes_at(float* memory) {
    if (thread() == 37) memory[index] = 1;
}
template <int index> void reads_at(float* memory) {
    const float x = thread() == 37 ? memory[index - 37 + thread()] : 0;  // no constant: docs/inside.md
    shared_memory<float>()[thread()] = x;
}
void reads_4_at_the_end(float* memory) {
    if (thread() == 37) store4(shared_memory<float>(), load4(memory + 2048));
}
void copies_beyond(float* memory) {
    if (thread() == 36) copy_async(shared_memory<float>(), memory + 2048, true);
    commit_copies();
    wait_copies<0>();
}
void copies_nothing_from_beyond(float* memory) {
    copy_async(shared_memory<float>() + 4 * thread(), memory + 4 * thread() + 1904, thread() < 36);
    commit_copies();
    wait_copies<0>();
}
void writes_shared_beyond(float* memory) {
    if (thread() == 37) shared_memory<float>()[4096] = memory[0];
}

// ---- One address again and again, from one place

void reads_one_address(float* memory) {
    float sum = 0;
    for (int n = 0; n < 8; ++n) sum += memory[thread()];
    shared_memory<float>()[thread()] = sum;
}
void scales_by_rows(float* memory) {
    float sums[4][2] = {};
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 2; ++c) sums[r][c] += memory[4 * thread() + r];
    for (int r = 0; r < 4; ++r) shared_memory<float>()[4 * thread() + r] = sums[r][0] + sums[r][1];
}
void adds_in_place(float* memory) {
    for (int n = 0; n < 4; ++n) memory[thread()] = memory[thread()] + 1;
}

// ---- Lanes that part, and one that never ends

void lanes_part(float* memory) {
    float* const shared = shared_memory<float>();
    for (int n = 0; n < 2; ++n) {
        if (lane() % 2 == 1) shared[lane()] = 1;
        memory[lane()] = static_cast<float>(n);
    }
}
void never_ends(float* memory) {
    while (memory[thread()] != 1) memory[thread()] = 2;
}

template <void (*kernel)(float*), int threads, int blocks = 1>
void start(const Arguments& a, DType, Stream& stream) {
    launch(stream, Grid{blocks, 1, 1, threads, 16384}, kernel, static_cast<float*>(a.workspace));
}

struct Small {
    const char* name;
    void (*start)(const Arguments& a, DType type, Stream& stream);
};
const Small all[] = {
    {"misses barrier", start<misses_barrier, 64>},
    {"has barrier", start<has_barrier, 64>},
    {"misses second barrier", start<misses_second_barrier, 64>},
    {"misses sync_warp", start<misses_sync_warp, 32>},
    {"has sync_warp", start<has_sync_warp, 32>},
    {"shuffles instead", start<shuffles_instead, 32>},
    {"lanes write one place", start<lanes_write_one_place, 32>},
    {"copies in order", start<copies<1, true, true>, 64>},
    {"copies without wait", start<copies<1, false, true>, 64>},
    {"copies without barrier", start<copies<1, true, false>, 64>},
    {"copies one group short", start<copies<2, true, true>, 64>},
    {"own copy without wait", start<own_copy_without_wait, 64>},
    {"copies too early", start<copies_too_early, 64>},
    {"blocks write", start<blocks_write, 32, 2>},
    {"blocks add", start<blocks_add, 32, 2>},
    {"blocks add and read", start<blocks_add_and_read, 32, 2>},
    {"turns lanes round", start<turns_lanes_round, 32>},
    {"first lane adds and reads", start<lanes_add_and_read<0>, 32>},
    {"last lane adds and reads", start<lanes_add_and_read<31>, 32>},
    {"last warp adds and reads", start<warps_add_and_read, 64>},
    {"adds, meets and reads", start<add_meet_and_read, 64>},
    {"stride 1", start<reads_shared<1>, 32>},
    {"stride 8", start<reads_shared<8>, 32>},
    {"stride 9", start<reads_shared<9>, 32>},
    {"stride 0", start<reads_shared<0>, 32>},
    {"rows of 128 bytes", start<reads_rows<128>, 32>},
    {"rows of 144 bytes", start<reads_rows<144>, 32>},
    {"global stride 1", start<reads_global<1>, 32>},
    {"global stride 2", start<reads_global<2>, 32>},
    {"global stride 8", start<reads_global<8>, 32>},
    {"global float4", start<reads_float4, 32>},
    {"loads once, 1 warp", start<loads_once, 32>},
    {"loads once, 2 warps", start<loads_once, 64>},
    {"loads once, 4 warps", start<loads_once, 128>},
    {"copies beside products", start<copies_beside_products, 32>},
    {"loads before products", start<loads_before_products, 32>},
    {"writes the last", start<writes_at<2047>, 64>},
    {"writes the next", start<writes_at<2048>, 64>},
    {"writes 1000 behind", start<writes_at<2048 + 1000>, 64>},
    {"writes a million behind", start<writes_at<2048 + 1000000>, 64>},
    {"writes the one before", start<writes_at<-1>, 64>},
    {"reads the next", start<reads_at<2048>, 64>},
    {"reads 4 at the end", start<reads_4_at_the_end, 64>},
    {"copies beyond", start<copies_beyond, 64>},
    {"copies nothing from beyond", start<copies_nothing_from_beyond, 64>},
    {"writes shared beyond", start<writes_shared_beyond, 64>},
    {"reads one address", start<reads_one_address, 32>},
    {"scales by rows", start<scales_by_rows, 32>},
    {"adds in place", start<adds_in_place, 32>},
    {"lanes part", start<lanes_part, 32>},
    {"never ends", start<never_ends, 32>},
};

}  // namespace

inside::Record record_small(const std::string& kernel, std::string& wrong, const RecordOptions& options) {
    for (const Small& small : all) {
        if (small.name != kernel) continue;
        Rung rung{};
        rung.name = small.name, rung.launch = small.start;
        const auto device = open_recorder(options);
        Arguments a;
        a.workspace = device->allocate(8192);
        void* const other = device->allocate(8192);  // behind which nothing else must be taken for it
        device->fill(a.workspace, 0, 8192);
        device->name("memory", a.workspace, 8192, 8192, 4);
        device->begin();
        device->run(rung, a, DType::f32);
        wrong = device->failure();
        device->release(other);
        device->release(a.workspace);
        return device->record();
    }
    throw std::runtime_error("no small kernel " + kernel);
}

}  // namespace tilewalk::test
