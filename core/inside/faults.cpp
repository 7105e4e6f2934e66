#include "core/inside/faults.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace tilewalk::inside {

namespace {

std::optional<FaultKind> kind_at(Op op) {
    if (op == Op::sync_block || op == Op::sync_warp || op == Op::sync_named) return FaultKind::barrier;
    if (op == Op::wait_copies || op == Op::wait_for || op == Op::wait_products) return FaultKind::wait;
    return std::nullopt;
}

bool multiplies(const Record& record) {
    return std::ranges::any_of(record.launches, [](const Launch& launch) {
        return std::ranges::find(launch.counts, Op::multiply_add, &Counts::op) != launch.counts.end();
    });
}

bool writes_gradients(const Record& record) {
    return std::ranges::find(record.outputs, "dQ", &Output::name) != record.outputs.end();
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

constexpr FaultKind everywhere[] = {FaultKind::swizzle, FaultKind::guard, FaultKind::swapped_A,
                                    FaultKind::swapped_B};

}  // namespace

std::string schedule_text(const Schedule& s) {
    return std::string(s.early ? "copies arrive at once" : "copies arrive when they are waited for") +
           (s.stalls ? ", single warps stand still for a while (order " + std::to_string(s.seed) + ")"
                     : ", warps take turns");
}

const FaultInfo& info(FaultKind kind) {
    static constexpr FaultInfo table[] = {
        {"", "Barrier off", "Warps go on without meeting.",
         "What one warp writes and another one reads races.", true, true, false},
        {"", "Wait off", "Nobody waits for what is under way: copies, tiles, products, a free buffer.",
         "What comes meanwhile and a warp reads races; a sum that is not there yet is no number.", true, true,
         false},
        {"swizzle", "Swizzle off", "The chunks of each row lie in shared memory in their order.",
         "Every number stays; lanes that read a fragment meet in the same banks.", false, false, true},
        {"guard", "Guard of the edge off",
         "The last tile of keys counts as full: the zeros behind K and V in memory are read as keys.",
         "Nothing races; keys that are none get a weight.", false, true, false},
        {"swap-a", "Registers of A swapped",
         "a[1] and a[2] change places in each product: rows 8–15 for columns 8–15.",
         "Nothing races; products pair numbers that do not belong together.", false, true, false},
        {"swap-b", "Registers of B swapped",
         "b0 and b1 change places in each product: rows 0–7 for rows 8–15.",
         "Nothing races; products pair numbers that do not belong together.", false, true, false},
    };
    static_assert(std::size(table) == static_cast<std::size_t>(FaultKind::count));
    return table[static_cast<std::size_t>(kind)];
}

std::string fault_lacks(const Record& sound, FaultKind kind) {
    switch (kind) {
    case FaultKind::swizzle: return sound.swizzles ? "" : sound.kernel + " has no swizzle.";
    case FaultKind::guard:
        if (sound.open_keys == 0) return "Every tile of keys is full here: nothing lies beyond the edge.";
        return writes_gradients(sound) ? "Keys of zeros add nothing to the gradients of the others." : "";
    case FaultKind::swapped_A:
    case FaultKind::swapped_B:
        return multiplies(sound) ? "" : sound.kernel + " multiplies without fragments.";
    default: return "";
    }
}

std::vector<Fault> faults_of(const Record& sound) {
    std::vector<Fault> all;
    for (const Launch& launch : sound.launches)
        for (const Counts& c : launch.counts)
            if (const auto kind = kind_at(c.op)) {
                const Place& at = sound.places[c.place];
                if (const Fault fault{*kind, at.file, at.line}; std::ranges::find(all, fault) == all.end())
                    all.push_back(fault);
            }
    std::ranges::sort(all, {}, [](const Fault& f) { return std::tie(f.file, f.line); });
    for (const FaultKind kind : everywhere)
        if (fault_lacks(sound, kind).empty()) all.push_back({kind});
    return all;
}

std::vector<KnownFault> known_faults(const Record& sound, const Record& larger) {
    const std::vector<Fault> here = faults_of(sound);
    std::vector<Fault> faults = faults_of(larger);
    for (const Fault& fault : here)
        if (std::ranges::find(faults, fault) == faults.end()) faults.push_back(fault);
    std::ranges::sort(faults, {},
                      [](const Fault& f) { return std::tuple(f.line == 0, f.file, f.line, f.kind); });
    std::vector<KnownFault> all;
    for (const Fault& fault : faults) {
        const bool shown = std::ranges::find(here, fault) != here.end();
        all.push_back({fault, shown            ? ""
                              : fault.line > 0 ? "No warp comes to line " + std::to_string(fault.line) +
                                                     " on this problem."
                                               : fault_lacks(sound, fault.kind)});
    }
    return all;
}

std::string name_of(const Fault& fault) {
    const std::string id = info(fault.kind).id;
    return id.empty() ? file_name(fault.file) + ":" + std::to_string(fault.line) : id;
}

std::string title_of(const Fault& fault) {
    if (fault.line == 0) return info(fault.kind).title;
    return std::string(fault.kind == FaultKind::wait ? "Wait" : "Barrier") + " of line " +
           std::to_string(fault.line) + " off";
}

Result<Fault> fault_named(const Record& sound, const std::string& name) {
    const std::vector<Fault> all = faults_of(sound);
    if (const auto found = std::ranges::find(all, name, name_of); found != all.end()) return *found;
    for (const FaultKind kind : everywhere)
        if (info(kind).id == name) return Failure{fault_lacks(sound, kind)};
    std::string names;
    for (const Fault& fault : all) names += (names.empty() ? "" : ", ") + name_of(fault);
    if (names.empty()) return Failure{"There is nothing in " + sound.kernel + " that can be left out."};
    return Failure{"\"" + name + "\" is nothing that " + sound.kernel +
                   " can be run without; its faults are " + names + "."};
}

}  // namespace tilewalk::inside
