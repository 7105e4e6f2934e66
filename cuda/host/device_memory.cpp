#include "cuda/host/device_memory.h"

#include "core/base/float16.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::gpu {

namespace {

using emulator::bf16;
using emulator::f16;

std::vector<std::uint16_t> narrow(const std::vector<float>& wide, DType type) {
    std::vector<std::uint16_t> bits(wide.size());
    const auto as_f16 = [](float x) { return emulator::from_float<f16>(x).bits; };
    const auto as_bf16 = [](float x) { return emulator::from_float<bf16>(x).bits; };
    if (type == DType::f16) std::transform(wide.begin(), wide.end(), bits.begin(), as_f16);
    if (type == DType::bf16) std::transform(wide.begin(), wide.end(), bits.begin(), as_bf16);
    return bits;
}

}  // namespace

void DeviceMemory::GiveBack::operator()(void* memory) const noexcept {
    from->device->release(memory);
    from->held -= bytes;
}

DeviceMemory::Piece DeviceMemory::take(std::int64_t bytes) {
    if (bytes == 0) return {};
    void* const memory = device->allocate(bytes);
    expect_well(*device);
    if (!memory)
        throw NoMemory("The device had no " + format_size(bytes) + " left in one piece; " +
                       format_size(device->free_bytes()) + " are free.");
    Piece piece(memory, {this, bytes});
    held += bytes;
    most = std::max(most, held);
    device->fill(memory, 0xFF, bytes);
    return piece;
}

void expect_well(Device& device) {
    const std::string sentence = device.failure();
    if (sentence.empty()) return;
    if (device.recover()) throw KernelFailed(sentence);
    throw EngineFailed(sentence);
}

void upload(Device& device, void* to, const std::vector<float>& from, DType type) {
    const auto bytes = static_cast<std::int64_t>(from.size()) * bytes_of(type);
    if (type == DType::f32)
        device.upload(to, from.data(), bytes);
    else
        device.upload(to, narrow(from, type).data(), bytes);
}

std::vector<float> download(Device& device, const void* from, std::int64_t size, DType type) {
    std::vector<float> wide(static_cast<std::size_t>(size));
    if (type == DType::f32) {
        device.download(wide.data(), from, 4 * size);
        return wide;
    }
    std::vector<std::uint16_t> bits(wide.size());
    device.download(bits.data(), from, 2 * size);
    std::transform(bits.begin(), bits.end(), wide.begin(), [type](std::uint16_t x) {
        return type == DType::f16 ? to_float(f16{x}) : to_float(bf16{x});
    });
    return wide;
}

}  // namespace tilewalk::gpu
