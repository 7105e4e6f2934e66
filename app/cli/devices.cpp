#include "app/cli/devices.h"

#include "core/base/numbers.h"
#include "core/bench/machine.h"
#include "cuda/host/gpu.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* emulator = "runs the CUDA kernels on the CPU, for checking; never timed";

unsigned thread_count() { return std::max(1u, std::thread::hardware_concurrency()); }

std::string capability(const gpu::GpuInfo& device) {
    return std::to_string(device.major) + "." + std::to_string(device.minor);
}

std::string device_line(const gpu::GpuInfo& device) {
    return device.name + ", compute capability " + capability(device) + ", " +
           std::to_string(device.multiprocessors) + " multiprocessors, " + format_size(device.memory_total) +
           " (" + format_size(device.memory_free) + " free)";
}

std::string versions(const gpu::Probe& found) {
    std::string text;
    if (!found.driver_version.empty()) text += "driver " + found.driver_version;
    if (!found.runtime_version.empty())
        text += (text.empty() ? "runtime " : ", runtime ") + found.runtime_version;
    return text;
}

Json device_json(const gpu::GpuInfo& device) {
    return {{"name", device.name},
            {"compute_capability", capability(device)},
            {"multiprocessors", device.multiprocessors},
            {"memory_total", device.memory_total},
            {"memory_free", device.memory_free}};
}

}  // namespace

std::string devices_text() {
    const unsigned threads = thread_count();
    std::string text = "CPU   " + this_machine().cpu + ", " + std::to_string(threads) +
                       (threads == 1 ? " thread\n" : " threads\n");
    const gpu::Probe found = gpu::probe();
    const std::string with = versions(found);
    for (const gpu::GpuInfo& device : found.devices) text += "CUDA  " + device_line(device) + "\n";
    if (found.devices.empty()) text += "CUDA  none: " + found.why_none + "\n";
    if (!with.empty()) text += "      " + with + "\n";
    return text + "EMU   " + emulator + "\n";
}

std::string devices_json() {
    const gpu::Probe found = gpu::probe();
    Json devices = Json::array();
    for (const gpu::GpuInfo& device : found.devices) devices.push_back(device_json(device));
    Json cuda{{"devices", devices},
              {"why_none", nullptr},
              {"driver_version", found.driver_version},
              {"runtime_version", found.runtime_version}};
    if (found.devices.empty()) cuda["why_none"] = found.why_none;
    const Json cpu{{"model", this_machine().cpu}, {"threads", thread_count()}};
    const Json all{
        {"schema", "tilewalk-devices-1"}, {"cpu", cpu}, {"cuda", cuda}, {"emulator", {{"what", emulator}}}};
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewalk
