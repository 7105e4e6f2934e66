// The recording back end as a device: the emulator, with a record of what its kernels do.
#pragma once

#include "core/inside/model_time.h"
#include "core/inside/record.h"
#include "core/inside/reported.h"
#include "cuda/host/backend.h"

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>

namespace tilewalk::gpu {

/// What is kept beside counts and races, which are of all blocks.
struct RecordOptions {
    std::vector<int> blocks{};              ///< of each launch, by number: events of these are kept
    std::int64_t most_bytes = 64 << 20;     ///< of kept events
    std::int64_t most_steps = 400'000'000;  ///< of threads; a kernel that does more is stopped
    inside::Schedule schedule{};
    std::stop_token stop{};
    std::shared_ptr<std::atomic<int>> blocks_done{};
    /// Of a kernel that nobody has tested: what stops it is told here, and does not return.
    std::function<void(const std::string&)> stopped{};
    std::optional<inside::Fault> fault{};
    const inside::Costs* timed = nullptr;  ///< every block has its time by these (Launch::clocks)
    inside::Reported reported{};           ///< how far behind the pointer that the compiler reports it goes
};

class RecordingDevice : public Device {
public:
    /// From here on launches are recorded; before they only run.
    virtual void begin() = 0;
    /// Gives a name to memory that was allocated here.
    virtual void name(const char* region, const void* begin, std::int64_t bytes, std::int64_t row_bytes,
                      std::int64_t element_bytes, int head = -1) = 0;
    virtual const inside::Record& record() const = 0;
};
std::unique_ptr<RecordingDevice> open_recorder(const RecordOptions& options = {}, const Chip& chip = {});

}  // namespace tilewalk::gpu
