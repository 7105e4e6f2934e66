// Memory of a device: counted, and given back by itself. And copies of tensors, which are float on the host
// and of the workload's type on the device.
#pragma once

#include "core/engine/engine.h"
#include "cuda/host/backend.h"

namespace tilewalk::gpu {

/// Must outlive its pieces.
class DeviceMemory {
    struct GiveBack {
        DeviceMemory* from = nullptr;
        std::int64_t bytes = 0;
        void operator()(void* memory) const noexcept;
    };

public:
    using Piece = std::unique_ptr<void, GiveBack>;

    explicit DeviceMemory(std::shared_ptr<Device> of) : device(std::move(of)) {}
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    /// All bits 1, which is NaN in every type: what a kernel forgets to write is seen. Null for 0 bytes.
    /// Throws NoMemory, or EngineFailed if the device has failed.
    Piece take(std::int64_t bytes);
    std::int64_t peak() const { return most; }

private:
    std::shared_ptr<Device> device;
    std::int64_t held = 0, most = 0;
};

/// Throws KernelFailed or EngineFailed if something failed, whether the device gets over it or not.
void expect_well(Device& device);
void upload(Device& device, void* to, const std::vector<float>& from, DType type);
std::vector<float> download(Device& device, const void* from, std::int64_t size, DType type);

}  // namespace tilewalk::gpu
