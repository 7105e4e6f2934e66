// What the emulator must notice: threads that wait forever, lanes that part, writes beyond shared memory,
// copies that nobody waited for.
#include "cuda/device/device.h"

#include "tests/contains.h"

using namespace tilewalk::gpu;
using namespace tilewalk::gpu::on_emulator;
using tilewalk::test::contains;

namespace {

std::string failure_of(void (*kernel)(float*), const Grid& grid, float* out = nullptr,
                       emu::Options::Copies copies = emu::Options::Copies::late) {
    EmulatedStream stream;
    stream.options.copies = copies;
    launch(stream, grid, kernel, out);
    return stream.failure;
}

void half_waits(float*) {
    if (warp() == 0) sync_block();
}
void lanes_part(float*) {
    if (lane() < 16)
        shuffle_xor(1.0f, 1);
    else
        sync_warp();
}
void lanes_end(float*) {
    if (lane() < 16) return;
    sync_warp();
}
void writes_beyond(float*) {
    if (thread() == 0) shared_memory<float>()[64] = 1;
}
void reads_first(float* out) {
    float* const shared = shared_memory<float>();
    out[thread()] = shared[thread()];
}
// Each thread reads what the next warp wrote, without a barrier between them
void forgets_barrier(float* out) {
    float* const shared = shared_memory<float>();
    shared[thread()] = 1;
    sync_warp();
    out[thread()] = shared[(thread() + 32) % threads()];
}
float source[128];
void forgets_wait(float* out) {
    float* const shared = shared_memory<float>();
    copy_async(shared + 4 * thread(), source + 4 * thread(), true);
    commit_copies();
    sync_block();
    out[thread()] = shared[4 * thread()];
}
// The copy may come before the reader has read
void overwrites_early(float* out) {
    float* const shared = shared_memory<float>();
    shared[4 * thread()] = 7;
    sync_warp();
    copy_async(shared + 4 * thread(), source + 4 * thread(), true);
    commit_copies();
    out[thread()] = shared[4 * thread()];
    wait_copies<0>();
}

}  // namespace

TEST_SUITE("emulator") {
    TEST_CASE("a deadlock is reported, warp by warp") {
        const std::string text = failure_of(half_waits, {1, 1, 1, 64, 0});
        CHECK(text == "Deadlock in block 0, 0, 0: warp 0 waits at sync_block; warp 1 has ended.");
        CHECK(contains(failure_of(lanes_end, {2, 1, 1, 32, 0}),
                       "waits at sync_warp, 16 of its lanes have ended"));
    }

    TEST_CASE("lanes of a warp at different instructions are reported") {
        // Which of the two comes first is chance.
        const std::string text = failure_of(lanes_part, {1, 1, 1, 32, 0});
        CHECK((contains(text, "came to sync_warp while others of its warp are at shuffle_xor") ||
               contains(text, "came to shuffle_xor while others of its warp are at sync_warp")));
    }

    TEST_CASE("shared memory has exactly the size that was asked for, and begins as NaN") {
        CHECK(contains(failure_of(writes_beyond, {1, 1, 1, 32, 256}), "outside of its 256 bytes"));
        CHECK(failure_of(writes_beyond, {1, 1, 1, 32, 260}) == "");
        float out[32] = {};
        CHECK(failure_of(reads_first, {1, 1, 1, 32, 128}, out) == "");
        for (float x : out) CHECK(std::isnan(x));
        CHECK(
            contains(failure_of(reads_first, {1, 1, 1, 32, 1 << 20}, out), "1048576 bytes of shared memory"));
    }

    TEST_CASE("a missing barrier shows") {
        float out[128] = {};
        CHECK(failure_of(forgets_barrier, {1, 1, 1, 128, 512}, out) == "");
        CHECK(std::any_of(out, out + 128, [](float x) { return std::isnan(x); }));
    }

    TEST_CASE("a missing wait shows, and a copy that comes too early") {
        std::fill(source, source + 128, 3.0f);
        float out[32] = {};
        using Copies = emu::Options::Copies;
        failure_of(forgets_wait, {1, 1, 1, 32, 512}, out, Copies::late);
        CHECK(std::isnan(out[0]));
        failure_of(forgets_wait, {1, 1, 1, 32, 512}, out, Copies::early);
        CHECK(out[0] == 3);
        failure_of(overwrites_early, {1, 1, 1, 32, 512}, out, Copies::early);
        CHECK(out[0] == 3);
    }

    TEST_CASE("conversions to 16 bits: every bit pattern comes back, ties go to even") {
        for (int bits = 0; bits < 1 << 16; ++bits) {
            const auto half = f16{static_cast<std::uint16_t>(bits)};
            const auto brain = bf16{static_cast<std::uint16_t>(bits)};
            if (!std::isnan(to_float(half))) CHECK(from_float<f16>(to_float(half)).bits == bits);
            if (!std::isnan(to_float(brain))) CHECK(from_float<bf16>(to_float(brain)).bits == bits);
        }
        CHECK(from_float<f16>(1 + 0x1p-11f).bits == from_float<f16>(1).bits);
        CHECK(from_float<f16>(1 + 3 * 0x1p-11f).bits == from_float<f16>(1 + 0x1p-9f).bits);
        CHECK(from_float<bf16>(1 + 0x1p-8f).bits == from_float<bf16>(1).bits);
        CHECK(to_float(from_float<f16>(65519)) == 65504);
        CHECK(std::isinf(to_float(from_float<f16>(65520))));
        CHECK(std::isnan(to_float(from_float<f16>(NAN))));
    }
}
