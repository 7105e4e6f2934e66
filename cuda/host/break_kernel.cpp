// Records a kernel with a fault, in one order after the other, until a number is wrong that is no NaN.
#include "cuda/host/gpu.h"

#include <optional>

namespace tilewalk::gpu {

namespace {

/// What a GPU may do, the likeliest to show something first. Copies that arrive at once put numbers in each
/// other's place; those that come late leave NaN.
std::vector<inside::Schedule> orders_of(inside::FaultKind kind) {
    if (kind != inside::FaultKind::barrier && kind != inside::FaultKind::wait) return {{}};
    std::vector<inside::Schedule> all{{.early = true}, {}};
    for (const std::uint64_t seed : {1, 2, 3, 4}) all.push_back({true, true, seed});
    for (const std::uint64_t seed : {1, 2}) all.push_back({false, true, seed});
    return all;
}

int shows(const inside::Damage& damage) { return damage.finite() ? 2 : damage.wrong > 0 ? 1 : 0; }

}  // namespace

Result<BrokenRun> break_kernel(const RecordRequest& request, const inside::Record& sound, TraceFailed* how) {
    std::optional<BrokenRun> best;
    std::string failure;
    int tried = 0;
    for (const inside::Schedule& order : orders_of(request.fault->kind)) {
        RecordRequest in_order = request;
        in_order.schedule = order;
        auto record = record_kernel(in_order, how);
        ++tried;
        if (request.stop.stop_requested()) return Failure{"Cancelled."};
        if (!record) {
            if (failure.empty()) failure = record.error;
            continue;
        }
        const inside::Damage damage = inside::damage_of(sound, *record);
        if (!best || shows(damage) > shows(best->damage)) best = BrokenRun{std::move(*record), damage, 0};
        if (damage.finite()) break;
    }
    if (!best) return Failure{failure};
    best->tried = tried;
    return std::move(*best);
}

}  // namespace tilewalk::gpu
